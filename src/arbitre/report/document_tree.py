"""Documents as the report shows them: aligned trees, entry by entry, of all entries or only the worst."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.comparison.levels import NONE, pair_qualities, single_paths
from arbitre.comparison.node_tree import NodeTree, Verdict
from arbitre.corpus.worker import compare_pairs
from arbitre.parsing.fast_json import compact
from arbitre.paths import order, wildcard
from arbitre.report.entry_rows import EntryLayout, class_of_pair, index_of, sum_by_class, tokens_of, values_of
from arbitre.report.quality_matrix import MatrixInput, plan_of
from arbitre.values import ABSENT, SIDES, Json, depth, equal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.comparison.references import ReferredItem
    from arbitre.inputs.work_units import WorkUnit
    from arbitre.paths import Path
    from arbitre.report.entry_links import EntryLink
    from arbitre.schema.plan import Plan


MAX_DEPTH: Final = 12
"""Maximum depth below an entry; deeper values are shown as one text."""

MAX_EXACT_INTEGER: Final = 1 << 53
"""Smallest absolute value of integers that are passed as JSON text, because JavaScript numbers are not exact there."""

_VERDICTS: Final = tuple(Verdict)
_TEXTS: Final = tuple(verdict.text for verdict in Verdict)

Plain = dict[str, Any]


FAINT_SHARE: Final = 0.01
"""Minimum share of an entry's mass for a partial match to be shown; its largest partial match is always shown."""


@dataclass(frozen=True, slots=True)
class AlignedDocument:
    """Alignment of one document as JSON.

    Attributes:
        rows: Matched pairs and unmatched entries. With optimal transport an entry can be in several rows, the largest
            mass first: `mass` is the mass of the row, `masses` the total masses of its entries.
        rest: The document around the entries, if any.
        rest_faults: Wildcard paths of the nodes of `rest` that are not correct.
        values: Gold and predicted entry of each row; ABSENT if unmatched.
    """

    rows: list[Plain]
    rest: Plain | None
    rest_faults: list[str]
    values: list[tuple[Json, Json]]

    def strong(self) -> list[int]:
        """Return the indices of the rows to show, at least one per entry."""
        found: set[int] = set()
        heaviest: dict[tuple[str, str | None], int] = {}
        for at, row in enumerate(self.rows):
            for side, own in zip(("gold_index", "predicted_index"), row["masses"], strict=True):
                if own is None:
                    continue
                if row["mass"] >= FAINT_SHARE * own:
                    found.add(at)
                first = heaviest.setdefault((side, row[side]), at)
                if row["mass"] > self.rows[first]["mass"]:
                    heaviest[side, row[side]] = at
        return sorted(found | set(heaviest.values()))


class _TreeNode(NamedTuple):
    level: Level
    quality: float
    verdict: Verdict
    values: tuple[Json, Json]
    tokens: tuple[int | str, int | str]
    share: float
    scale: float
    reading: Json
    refers: Sequence[ReferredItem | None]


def align_documents(plan: Plan, levels: Sequence[Level], documents: Sequence[int]) -> dict[int, AlignedDocument]:
    """Align some of the documents of `levels`, given by number."""
    walk = _TreeWalk.over(plan, levels, documents)
    return {number: walk.document(roots) for number, roots in walk.roots.items()}


@dataclass(frozen=True, eq=False, slots=True)
class _TreeWalk:
    entries: EntryLayout
    close: float
    nodes: dict[int, _TreeNode]
    below: dict[int, list[int]]
    roots: dict[int, list[int]]
    ordered: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def over(cls, plan: Plan, levels: Sequence[Level], documents: Sequence[int]) -> _TreeWalk:
        verdicts = NodeTree.of(levels).verdicts(plan.close).tolist()
        made = cls(EntryLayout.of(plan), plan.close, {}, {}, {number: [] for number in documents})
        for level in single_paths(levels):
            at = np.flatnonzero(np.isin(level.document, documents))
            columns = (
                level.first + at,
                level.parent[at],
                level.document[at],
                level.quality[at],
                np.ones(len(at)) if level.share is None else level.share[at],
                level.weight * (np.ones(len(at)) if level.scale is None else level.scale[at]),
            )
            sides = (zip(*pair, strict=True) for pair in (values_of(level, at), tokens_of(level, at)))
            forms = level.source.accepted_forms(level.left[at], level.right[at])
            refers = zip(*(level.source.referred(rows[at]) for rows in (level.left, level.right)), strict=True)
            nodes = zip(*(column.tolist() for column in columns), *sides, forms, refers, strict=True)
            for node_id, parent, document, quality, share, scale, values, tokens, form, referred in nodes:
                verdict = _VERDICTS[verdicts[node_id]]
                made.nodes[node_id] = _TreeNode(level, quality, verdict, values, tokens, share, scale, form, referred)
                siblings = made.below.setdefault(parent, []) if parent != NONE else made.roots[document]
                siblings.append(node_id)
        return made

    def document(self, roots: Sequence[int]) -> AlignedDocument:
        found = _EntryRows(self.entries.path)
        rest = None
        for root in roots:
            if not self.entries.listed:
                for unit in self.units(root):
                    found.add(self, unit, (), ())
            else:
                rest = self.around(root, ((), ()), found)
        rows, values = found.all()
        return AlignedDocument(rows, rest, sorted(found.outside, key=order), values)

    def around(self, node_id: int, tokens: tuple[tuple[int | str, ...], ...], found: _EntryRows) -> Plain | None:
        """Return the document around the entries, or None if there is nothing; add the entries to `found`."""
        node, held = self.nodes[node_id], self.held(node_id)
        path = node.level.path
        if path == self.entries.path:
            for child in held:
                if self.nodes[child].level.item:
                    found.add(self, child, *tokens)
            return None
        if len(path) >= len(self.entries.path) or path != self.entries.path[: len(path)]:
            found.outside |= self.faults(node_id)
            return self.plain(node_id)
        parts = []
        for child in held:
            added = zip(tokens, self.nodes[child].tokens, strict=True)
            part = self.around(child, tuple((*above, token) for above, token in added), found)
            if part is not None:
                parts.append(part)
        return self.head(node_id) | {"below": parts} if parts else None

    def units(self, root: int) -> list[int]:
        """Return the nodes that the entry scores count if the root is the only entry: its fields, or itself."""
        node = self.nodes[root]
        return [root] if node.level.leaf or node.level.kind_mismatch else self.held(root) or [root]

    def held(self, node_id: int) -> list[int]:
        """Return the child nodes in document order, including both sides of pairs of different kinds."""
        if node_id not in self.ordered:
            children: list[int] = []
            for child in self.below.get(node_id, ()):
                children += self.held(child) if self.nodes[child].level.inner else [child]
            items = any(self.nodes[child].level.item for child in children)
            self.ordered[node_id] = sorted(children, key=self.place if items else None)  # half the time for fields
        return self.ordered[node_id]

    def place(self, node_id: int) -> tuple[bool, bool, tuple[tuple[int, int, str], ...]]:
        """Return a sort key: fields in schema order; items in gold order, then spurious items."""
        node = self.nodes[node_id]
        lone, item = node.values[0] is ABSENT, node.level.item
        return item and lone, item, order(f"/{node.tokens[lone]}") if item else ((0, node_id, ""),)

    def head(self, node_id: int) -> Plain:
        node = self.nodes[node_id]
        gold, predicted = node.tokens
        lone = node.values[0] is ABSENT
        made: Plain = {"name": predicted if lone else gold}
        if gold != predicted and not lone and node.values[1] is not ABSENT:
            made["to"] = predicted
        if node.level.item:
            made["item"] = True
        made["verdict"] = _TEXTS[node.verdict]
        made["quality"] = node.quality
        refers = dict(zip(SIDES, node.refers, strict=True))
        if any(refers.values()):
            made["refers"] = {side: self.link(one) for side, one in refers.items() if one is not None}
        return made

    def link(self, referred: ReferredItem) -> Plain:
        """Convert the item that a reference points to: its title, and its index if it is in the list of entries."""
        if referred.path is None:
            return {"dangling": True}
        made: Plain = {"title": shown(referred.title)}
        if self.entries.listed and referred.path[:-1] == self.entries.path:
            made["index"] = index_of(referred.path, referred.tokens)
        return made

    def plain(self, node_id: int, deep: int = 0) -> Plain:
        """Convert a node: its values if it is a leaf, one-sided, of two kinds or correct; otherwise its children."""
        node, made = self.nodes[node_id], self.head(node_id)
        gold, predicted = node.values
        if node.verdict is Verdict.CORRECT and equal(gold, predicted):
            return made | {"gold": shown(gold)}
        lone = gold is ABSENT or predicted is ABSENT
        if lone or node.level.leaf or node.level.kind_mismatch or deep >= MAX_DEPTH:
            values = {"gold": gold, "predicted": predicted}
            if node.reading is not ABSENT and not equal(node.reading, gold):
                values["reading"] = node.reading
            if not lone and node.level.path in self.entries.chosen:
                made["chosen"] = True
            return made | {side: shown(value) for side, value in values.items() if value is not ABSENT}
        return made | {"below": [self.part(child, deep + 1) for child in self.held(node_id)]}

    def part(self, node_id: int, deep: int) -> Plain:
        """Convert a child node, with its share if it is matched in part."""
        made, share = self.plain(node_id, deep), self.nodes[node_id].share
        return made if share == 1.0 else made | {"mass": share}

    def faults(self, node_id: int) -> set[str]:
        """Return the wildcard paths of the nodes below that are not correct; one-sided nodes are not expanded."""
        node = self.nodes[node_id]
        if node.verdict is Verdict.CORRECT:
            return set()
        inner = self.held(node_id) if ABSENT not in node.values and not node.level.kind_mismatch else []
        return {node.level.text} if not inner else set().union(*(self.faults(child) for child in inner))


@dataclass(eq=False, slots=True)
class _EntryRows:
    """Rows of the entries of one document, and the wildcard paths of the faults `outside` them."""

    path: Path
    rows: list[tuple[object, Plain, tuple[Json, Json]]] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)

    def add(self, walk: _TreeWalk, node_id: int, *above: tuple[int | str, ...]) -> None:
        node = walk.nodes[node_id]
        path = node.level.path
        indices: list[str | None] = [
            None
            if not path or value is ABSENT
            else index_of(path, (*tokens, token))
            if walk.entries.listed
            else str(token)
            for tokens, token, value in zip(above, node.tokens, node.values, strict=True)
        ]
        gold, predicted = (value is not ABSENT for value in node.values)
        status = "matched" if gold and predicted else "missing" if gold else "spurious"
        row = {
            "gold_index": indices[0],
            "predicted_index": indices[1],
            "status": status,
            "class": class_of_pair(node.quality, walk.close) if status == "matched" else status,
            "wrong_field": status == "matched" and not node.level.leaf and node.verdict > Verdict.CLOSE,
            "mass": node.scale,
            "masses": [None, None],
            "faults": sorted(walk.faults(node_id), key=order),
            "entry": walk.plain(node_id),
        }
        lone = not (gold and predicted)
        place = order(f"/{indices[not gold] or ''}") if walk.entries.listed else ()  # fields stay in schema order
        self.rows.append(((not gold, place, lone, -node.scale), row, node.values))

    def all(self) -> tuple[list[Plain], list[tuple[Json, Json]]]:
        """Return the sorted rows with the total masses of their entries, and the values of the entries."""
        self.rows.sort(key=lambda row: row[0])  # type: ignore[arg-type, return-value]
        rows = [row for _, row, _ in self.rows]
        for side, name in enumerate(("gold_index", "predicted_index")):
            here = [row for row, (_, _, values) in zip(rows, self.rows, strict=True) if values[side] is not ABSENT]
            parts: dict[str | None, list[float]] = {}
            for row in here:
                parts.setdefault(row[name], []).append(row["mass"])
            for row in here:
                row["masses"][side] = fsum(parts[row[name]])
        return rows, [values for _, _, values in self.rows]


def shown(value: Json) -> Json:
    """Convert a value for a browser: large integers and deeply nested values become JSON text (see `as_literal`)."""
    if isinstance(value, (list, dict)) and depth(value) > MAX_DEPTH:
        return as_literal(value)
    return _shallow(value)


def _shallow(value: Json) -> Json:
    if isinstance(value, str):
        return as_literal(value) if value.startswith(LITERAL) else value
    if isinstance(value, list):
        return [_shallow(item) for item in value]
    if isinstance(value, dict):
        return {key: _shallow(item) for key, item in value.items()}
    large = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= MAX_EXACT_INTEGER
    return as_literal(value) if large else value


_WITH_VALUES: Final = frozenset(("enum", "const", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"))


def shown_schema(schema: Json) -> Json:
    """Convert a schema of `value_schemas` for a browser: large integers become JSON text (see `as_literal`)."""
    if isinstance(schema, list):
        return [shown_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: shown_schema(inner) for name, inner in part.items()}
        if key == "properties"
        else _shallow(part)
        if key in _WITH_VALUES
        else shown_schema(part)
        for key, part in schema.items()
    }


class ShownDocument(NamedTuple):
    """JSON of a document for the report (`plain`), its size, and the entries and transport plan for its matrix."""

    plain: dict[str, Any]
    size: int
    values: list[dict[str, Json]]
    plan: dict[str, Any] | None

    @property
    def matrix_input(self) -> MatrixInput:
        """Input for the quality matrix of the document."""
        return MatrixInput(self.plain["rows"], self.values, self.plan)

    def reduced(self, links: Iterable[EntryLink], most: int) -> ShownDocument:
        """Return the document with the linked entries and the worst of the others.

        Keeps at most `most` entries, unless more are linked.
        """
        rows = self.plain["rows"]
        linked = {at for link in links for at, row in enumerate(rows) if link.leads_to(row)}
        worst = sorted(range(len(rows)), key=lambda at: (at not in linked, rows[at]["entry"]["quality"], at))
        needed = len(linked)
        places = sorted(worst[: max(most, needed, 1)])
        plain = self.plain | {"rows": [rows[at] for at in places]}
        size = len(compact(plain).encode("utf-8", "surrogatepass"))
        plan = self.plan if len(places) == len(rows) else None
        return ShownDocument(plain, size, [self.values[at] for at in places], plan)


class DocumentsToShow(NamedTuple):
    """Documents to read and compare again, with the first fields of the JSON and the linked entries of each."""

    unit: WorkUnit
    heads: Sequence[dict[str, Any]]
    linked: Sequence[Collection[EntryLink]]


def show_documents(plan: Plan, most: int, documents: DocumentsToShow) -> list[ShownDocument]:
    """Compare documents and return each with at most `most` entries: the linked ones (even if more), then the worst."""
    heads = zip(documents.heads, documents.linked, strict=True)
    return [
        _whole(EntryLayout.of(plan), head | classes, aligned).reduced(linked, most)
        for (head, linked), (aligned, classes) in zip(heads, _aligned(plan, documents), strict=True)
    ]


def _aligned(plan: Plan, documents: DocumentsToShow) -> Iterator[tuple[AlignedDocument, dict[str, Json]]]:
    """Yield the alignment of each document, and the masses of its entries by class."""
    scores = (head["scores"] for head in documents.heads)
    for members, levels, _ in compare_pairs(plan, list(documents.unit)):
        aligned = align_documents(plan, levels, range(len(members)))
        qualities, masses, places = pair_qualities(levels, wildcard(plan.entries))
        for at in range(len(members)):
            own = places == at
            pairs = zip(qualities[own].tolist(), masses[own].tolist(), strict=True)
            yield aligned[at], {"classes": sum_by_class(pairs, next(scores), plan.close)}


def _whole(layout: EntryLayout, head: Mapping[str, Json], aligned: AlignedDocument) -> ShownDocument:
    """Return a document with all entries except negligible partial matches. Its size is 0; `reduced` computes it."""
    strong = aligned.strong()
    rows = [aligned.rows[at] for at in strong]
    pairs = [zip(SIDES, aligned.values[at], strict=True) for at in strong]
    plain = {
        **head,
        "entries": len(strong),
        "wrong_fields": sum(row["wrong_field"] for row in rows),
        "faint": len(aligned.rows) - len(strong),
        "rows": rows,
        "rest": aligned.rest,
        "rest_faults": aligned.rest_faults,
    }
    values = [{side: value for side, value in pair if value is not ABSENT} for pair in pairs]
    planned = layout.moved and layout.single
    return ShownDocument(plain, 0, values, plan_of(aligned.rows) if planned else None)


# Values as text. Different values never look equal.


LITERAL: Final = "\ue000"
"""First character of a string that contains JSON text instead of a string (see `as_literal`)."""


def as_literal(value: Json) -> str:
    """Return a value as a string that `spelled` shows as JSON text."""
    return LITERAL + compact(value)


def spelled(value: Json) -> str:
    """Return the text of a value. A string is in quotes only if it would otherwise look like another value.

    >>> spelled("Ada"), spelled(403), spelled("403"), spelled(as_literal(2**60))
    ('Ada', '403', '"403"', '1152921504606846976')
    """
    if not isinstance(value, str):
        return compact(value)
    if value.startswith(LITERAL):
        return value[1:]
    try:
        json.loads(value)
    except ValueError:
        return value
    except RecursionError:
        pass  # deeply nested JSON
    return compact(value)


def first_text(value: Json) -> str | None:
    """Return the first text in an object or in the objects directly inside it, as a label; None if there is none.

    >>> first_text({"pages": [3], "person": {"name": "Ada"}})
    'Ada'
    """
    held = list(value.values()) if isinstance(value, dict) else []
    inner = (text for one in held if isinstance(one, dict) for text in one.values())
    return next((text for text in (*held, *inner) if isinstance(text, str)), None)
