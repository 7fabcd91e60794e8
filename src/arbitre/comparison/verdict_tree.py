"""A comparison as a tree of verdicts; correct nodes are collapsed."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import set_cell_size
from rich.console import Console, Group
from rich.text import Text
from rich.tree import Tree

from arbitre.comparison.node_tree import MASS_TOLERANCE, NodeTree, Verdict
from arbitre.language import ENGLISH
from arbitre.parsing.fast_json import compact
from arbitre.paths import order, wildcard
from arbitre.tables.table import count
from arbitre.tables.terminal import escape_hidden
from arbitre.values import ABSENT, Json, Kind, equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.levels import Level
    from arbitre.language import Translator

STYLES: Final = {
    Verdict.CORRECT: "green",
    Verdict.CLOSE: "cyan",
    Verdict.WRONG: "yellow",
    Verdict.WRONG_TYPE: "magenta",
    Verdict.MISSING: "red",
    Verdict.SPURIOUS: "red",
}
WIDTH: Final = 100
"""Width of the plain text, in characters."""
MAX_DEPTH: Final = 12
"""Maximum depth of expanded nodes."""

_INDENT: Final = 4
_LEAST: Final = 16
_TITLE: Final = 32
_SPARED: Final = 3
"""Minimum number of characters to replace with an ellipsis."""


def verdict_text(levels: Sequence[Level], entries: str, close: float) -> str:
    """Return the verdict tree as plain text; arguments as for `verdict_tree`."""
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(verdict_tree(levels, entries, close, WIDTH))
    return captured.get().rstrip()


def verdict_tree(levels: Sequence[Level], entries: str, close: float, width: int, say: Translator = ENGLISH) -> Group:
    """Return the nodes of a comparison with their verdicts and a legend; correct nodes are collapsed.

    Args:
        levels: The levels of the comparison.
        entries: Wildcard path of the entries.
        close: Minimum quality of the verdict "close".
        width: Line width, in characters.
        say: Translator of the language.
    """
    legend = (
        f"Close: quality {close:g} or more. An object or list has the worst verdict of its contents (at worst, wrong)."
    )
    return Group(_TreeBuilder.of(levels, entries, close, width, say).build(), Text(say.text(legend), style="dim"))


def distinct(quality: float, close: float) -> str:
    """Return a quality with four decimals, or as many as it needs to stay below 1 and below the threshold.

    >>> distinct(0.9, 0.9), distinct(0.89999, 0.9), distinct(0.999999, 0.9)
    ('0.9000', '0.89999', '0.999999')
    """
    digits = 4
    while any(quality < limit <= round(quality, digits) for limit in (close, 1.0)):
        digits += 1
    return f"{quality:.{digits}f}"


@dataclass(frozen=True, eq=False, slots=True)
class _TreeBuilder:
    node_tree: NodeTree
    verdicts: Sequence[int]
    below: dict[int, list[int]]
    entries: str
    close: float
    width: int
    say: Translator

    @classmethod
    def of(cls, levels: Sequence[Level], entries: str, close: float, width: int, say: Translator) -> _TreeBuilder:
        node_tree = NodeTree.of(levels)
        below: dict[int, list[int]] = {}
        for level in levels:
            for at, parent in enumerate(level.parent.tolist()):
                below.setdefault(parent, []).append(level.first + at)
        return cls(node_tree, node_tree.verdicts(close).tolist(), below, entries, close, width, say)

    def build(self) -> Tree:
        root = Tree("", hide_root=True, guide_style="dim")
        for node_id in self.below.get(-1, []):
            self.add(root, node_id, 0)
        return root

    def add(self, tree: Tree, node_id: int, depth: int) -> None:
        """Add a node, and its children unless it is correct."""
        branch = tree.add(self.line(node_id, depth))
        verdict = self.verdicts[node_id]
        if verdict == Verdict.CORRECT or not self.opened(node_id):
            return
        if depth >= MAX_DEPTH:
            deeper = self.say.text("... deeper nodes are omitted; --format json has all of them")
            branch.add(Text(deeper, style="dim"))
            return
        correct = []
        for child in sorted(self.below.get(node_id, ()), key=self.place):
            if self.verdicts[child] == Verdict.CORRECT and not self.entry(child):
                correct.append(self.label(child) + self.accepted_form(child))
            else:
                self.add(branch, child, depth + 1)
        if correct:
            branch.add(
                Text.assemble(
                    (self.say.verdict("correct"), STYLES[Verdict.CORRECT]), f" {', '.join(correct)}", style="dim"
                )
            )

    def opened(self, node_id: int) -> bool:
        """Whether both sides are objects, or both are lists."""
        level, at = self.node_tree.place(node_id)
        return not level.leaf and level.gold_kind[at] == level.predicted_kind[at]

    def entry(self, node_id: int) -> bool:
        level, _ = self.node_tree.place(node_id)
        return level.item and wildcard(level.path[:-1]) == self.entries

    def place(self, node_id: int) -> tuple[bool, bool, object]:
        """Sort key: fields in schema order, items in gold order, spurious nodes last."""
        level, at = self.node_tree.place(node_id)
        gold = self.node_tree.pointer(node_id, gold=True)
        pointer = gold if gold is not None else self.node_tree.pointer(node_id, gold=False)
        return gold is None, not level.item, order(pointer or "") if level.item else level.first + at

    def label(self, node_id: int) -> str:
        level, at = self.node_tree.place(node_id)
        gold, predicted = (self.node_tree.tokens(node_id, gold=side) for side in (True, False))
        if not level.path:
            return self.say.text("document")
        if not level.item:
            return escape_hidden(str((gold or predicted or ("",))[-1]))
        items = " = ".join(dict.fromkeys(f"[{tokens[-1]}]" for tokens in (gold, predicted) if tokens))
        share = 1.0 if level.share is None else float(level.share[at])
        return items if share == 1.0 else f"{items} x {self.say.text(f'{share:.4f}')}"

    def accepted_form(self, node_id: int) -> str:
        """Return the accepted form that was used in place of the gold value, in parentheses."""
        form = self.node_tree.accepted_form(node_id)
        plain = form is ABSENT or equal(form, self.node_tree.value(node_id, gold=True))
        return "" if plain else f" ({self.say.text('accepted form')} {_cut(_json(form), _TITLE)})"

    def line(self, node_id: int, depth: int) -> Text:
        level, at = self.node_tree.place(node_id)
        verdict = Verdict(self.verdicts[node_id])
        gold, predicted = (self.node_tree.value(node_id, gold=side) for side in (True, False))
        parts: list[str | tuple[str, str]] = [(self.label(node_id), "bold" if self.entry(node_id) else "")]
        title = _title(gold if gold is not ABSENT else predicted) if level.item and self.opened(node_id) else ""
        said = self.say.verdict(verdict.text), STYLES[verdict]
        parts += [f" {title}", "  ", said] if title else ["  ", said]
        if verdict not in (Verdict.CORRECT, Verdict.MISSING, Verdict.SPURIOUS):
            parts.append(f" {self.say.text(distinct(float(level.quality[at]), self.close))}")
        if verdict != Verdict.CORRECT and not self.opened(node_id):
            room = (
                self.width
                - _INDENT * (depth + 1)
                - sum(len(part if isinstance(part, str) else part[0]) for part in parts)
            )
            form, note = self.accepted_form(node_id), self.node_tree.note(node_id)
            form += f"  {self.say.text(escape_hidden(note.text))}" if note is not None else ""
            parts.append(("  " + _values(gold, predicted, room - 2 - len(form)) + form, "dim"))
        elif self.opened(node_id) and level.gold_kind[at] == Kind.ARRAY:
            paired = float(level.matched[at])
            missing, spurious = float(level.gold[at]) - paired, float(level.predicted[at]) - paired
            counts = {"matched": paired, "missing": missing, "spurious": spurious}
            nonzero = (self.say.text(f"{count(size)} {name}") for name, size in counts.items() if size > MASS_TOLERANCE)
            parts.append(("  " + ", ".join(nonzero), "dim"))
        return Text.assemble(*parts)


def _title(value: Json) -> str:
    """Return the title of an item: its first text value."""
    texts = value.values() if isinstance(value, dict) else ()
    return next((_cut(_json(text), _TITLE) for text in texts if isinstance(text, str)), "")


def _values(gold: Json, predicted: Json, room: int) -> str:
    """Return the values of both sides in about `room` cells; long texts are cut to the first difference."""
    sides = [_json(side) for side in (gold, predicted) if side is not ABSENT]
    if len(sides) == 1:
        return _cut(sides[0], max(room, _LEAST))
    each = max((room - 4) // 2, _LEAST)
    shared = next((place for place, pair in enumerate(zip(*sides, strict=False)) if len(set(pair)) > 1), 0)
    start = shared - each // 2 if shared > each // 2 + _SPARED and max(map(len, sides)) > each else 0
    return " -> ".join(_cut("…" + side[start:] if start else side, each) for side in sides)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…"


def _json(value: Json) -> str:
    return escape_hidden(compact(value))
