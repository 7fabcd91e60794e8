"""Repair the faults of predictions: the operations that replace faults by gold, and the gain of applying them.

A repaired node equals gold: a pair gets the value in gold, a missing value is added, a spurious value is removed. A
missing object or list around an added value is added with it; a spurious one is removed with its last value. What is
not compared, such as ignored fields, stays as it is.

Operations are addressed in the prediction as it was. Values are written and added first. Then items of lists are
removed, and inserted where their order matters, from the end.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, Self, cast

import numpy as np

from arbitre.comparison.levels import NONE, of_nodes, root_qualities
from arbitre.comparison.node_tree import MASS_TOLERANCE, NodeTree
from arbitre.comparison.patch import END, Patch, PatchOperation, applied, patch_path
from arbitre.diagnosis.repair_gain import f1q_gain
from arbitre.diagnosis.taxonomy import FAULTS, VERDICTS, classify
from arbitre.engine import compare_batch
from arbitre.engine.columns.column import Column, LeafColumn, ListColumn
from arbitre.engine.columns.fields import move_aliased
from arbitre.engine.columns.row_keys import row_codes
from arbitre.errors import DataError
from arbitre.matching import Candidates
from arbitre.paths import pointer, wildcard
from arbitre.values import ABSENT, Json, Kind, equal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.taxonomy import Taxonomy
    from arbitre.engine.columns.fields import AliasMove
    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan

    _Tokens = tuple[int | str, ...]

BATCH_VALUES: Final = 1 << 14
"""Approximate number of values of the repaired predictions that are compared together. Larger batches are slower."""

MAX_WORK: Final = 60_000_000
"""Maximum work for the gains of a patch if they are not asked for; a unit takes about 1 µs (see `_work`)."""

_CELLS: Final = 8
"""Number of pairs of items that take as long to match as one value takes to compare."""

_TOLERANCE: Final = 1e-9
"""Difference in quality that counts as a rounding error."""


def repaired_prediction(node_tree: NodeTree, faults: Iterable[int]) -> Json:
    """Return the prediction of one document with some of its faults repaired.

    ABSENT, or null if it counts as absent, if nothing is left of it.
    """
    repair = _Repair.of(node_tree, frozenset(faults))
    return applied(repair.predicted, repair.patch())


# The places of values in a prediction whose fields were moved from their aliases before it was compared.


@dataclass(slots=True)
class _Places:
    """The places of the predicted nodes of one document. Parents must be visited before their children."""

    tree: NodeTree
    document: Json = ABSENT
    """The predicted document."""
    _tokens: dict[int, _Tokens] = field(default_factory=lambda: {NONE: ()})
    """The tokens of each node after all fields were moved from their aliases."""
    _moves: dict[int, tuple[tuple[int, list[AliasMove]], ...]] = field(default_factory=lambda: {NONE: ()})
    """The moves in the objects around each node, from the outside in: number of tokens of the object, and its moves."""

    def visit(self, node: int) -> None:
        """Compute the place of a node."""
        level, at = self.tree.place(node)
        parent = int(level.parent[at])
        if level.right[at] < 0 or parent not in self._tokens:
            return
        tokens, moves = self._tokens[parent], self._moves[parent]
        if parent != NONE and not level.inner:
            tokens = (*tokens, level.source.tokens_of(level.right[at : at + 1])[0])
        value = self.tree.value(node, gold=False)
        aliases = _site(level).object.aliases
        if aliases and isinstance(value, dict):
            moves = (*moves, (len(tokens), move_aliased(value, aliases)[1]))
        self._tokens[node], self._moves[node] = tokens, moves

    def below(self, node: int, *more: int | str) -> _Tokens:
        """Return the tokens of a node, or of a value below it, in the prediction."""
        return self._found(node, *more)[0]

    def _found(self, node: int, *more: int | str) -> tuple[_Tokens, int | None]:
        """Return the tokens, and for a field under an alias, the number of tokens of the object around both places."""
        tokens, around = (*self._tokens[node], *more), None
        for start, moves in reversed(self._moves[node]):
            for target, source in reversed(moves):
                if tokens[start:] == target:
                    same = takewhile(lambda pair: pair[0] == pair[1], zip(target, source, strict=False))
                    around = start + len([*same])
                elif tokens[start : start + len(target)] == target and around is not None:
                    around += len(source) - len(target)
                if tokens[start : start + len(target)] == target:
                    tokens = (*tokens[:start], *source, *tokens[start + len(target) :])
        return tokens, around

    def value(self, tokens: _Tokens) -> Json:
        """Return the value at some tokens in the prediction; ABSENT if there is none."""
        value = self.document
        for token in tokens:
            if isinstance(value, dict):
                value = value.get(cast("str", token), ABSENT)
            elif isinstance(value, list) and isinstance(token, int) and token < len(value):
                value = value[token]
            else:
                return ABSENT
        return value

    def parts(self, node: int) -> list[_Tokens]:
        """Return what to remove in order to remove a node: its value, or the aliases from which its fields were moved.

        An object around an alias that becomes empty is removed with it.
        """
        if self.value(self.below(node)) is not ABSENT:
            return [self._emptied(node)]
        found: list[_Tokens] = []
        for start, moves in self._moves[node]:
            inside = self._tokens[node][start:]
            fields = [target[len(inside) :] for target, _ in moves if target[: len(inside)] == inside]
            found += [self._emptied(node, *tokens) for tokens in fields]
        return [one for one in found if not any(one != other and one[: len(other)] == other for other in found)]

    def _emptied(self, node: int, *more: str) -> _Tokens:
        tokens, around = self._found(node, *more)
        if around is not None:
            while len(tokens) > around + 1 and len(self.value(tokens[:-1])) == 1:
                tokens = tokens[:-1]
        return tokens


def written_pointers(levels: Sequence[Level]) -> dict[str, str]:
    """Return the pointers of the predicted nodes of one document in the prediction as it is written.

    Args:
        levels: The compared nodes of the document.

    Returns:
        The pointer of each node, by its pointer after all fields were moved from their aliases.
    """
    tree = NodeTree.of(levels)
    places = _Places(tree)
    found = {}
    for node, moved in enumerate(tree.pointers(gold=False)):
        if moved is not None:
            places.visit(node)
            found[moved] = pointer(places.below(node))
    return found


def _site(level: Level) -> Site:
    return cast("Column", level.source).site


# The operations.


class _Step(NamedTuple):
    """One operation, and when it is applied."""

    place: tuple[tuple[int, int, str], ...]
    """The path as a sort key."""
    rank: int
    """Order of the operations at one place: the position in gold of an added item; removals come last."""
    shifts: bool
    """Whether other items of the list move. Such operations are applied last, from the end."""
    operation: PatchOperation
    after: tuple[int, ...]
    """The steps that this one needs, by their numbers."""
    node: int
    """The node that is repaired."""


_REMOVAL: Final = 1 << 60
_END_KEY: Final = (2, 0, "")
"""The token `END` in a sort key."""


class _Repair:
    """The operations that repair some nodes of one document.

    Nodes are visited in the order of their numbers, parents before children.

    Args:
        tree: The compared nodes.
        repaired: The nodes to repair.
        taxonomy: Names the class of each fault.
    """

    def __init__(self, tree: NodeTree, repaired: frozenset[int], taxonomy: Taxonomy | None = None) -> None:
        self._tree, self._repaired, self._taxonomy = tree, repaired, taxonomy
        known, pending, root = {*repaired}, [*repaired], NONE
        while pending:
            node = pending.pop()
            parent = _parent(self._tree, node)
            root = node if parent == NONE else root
            if parent != NONE and parent not in known:
                known.add(parent)
                pending.append(parent)
        self._nodes = sorted(known)
        self.predicted = ABSENT if root == NONE else tree.value(root, gold=False)
        self._places = _Places(tree, self.predicted)
        self._children: defaultdict[int, list[int]] = defaultdict(list)
        for node in self._nodes:
            self._children[_parent(self._tree, node)].append(node)
        self._forms = self._forms_inside(known)
        self._whole: set[int] = set()
        """The nodes of one side of which everything is added or removed."""
        self._added: dict[int, Json] = {}
        """The value to add for each missing node."""
        self._steps: list[_Step] = []
        self._created: dict[_Tokens, int] = {}
        """The steps that add objects around several fields, by path."""
        self._last: dict[int, dict[int, tuple[Json, int]]] = {}
        """The items to add at the end of each list, by position in gold, with their nodes."""
        self._pairs: dict[int, list[tuple[int, ...]]] = {}
        """The positions of the matched items of lists whose order matters."""
        self._codes: dict[int, Indices] = {}
        """The codes of the items of lists that are matched as sets."""

    @classmethod
    def of(cls, tree: NodeTree, repaired: frozenset[int], taxonomy: Taxonomy | None = None) -> Self:
        """Return the repair of some nodes, and of the objects around them if their operations contradict each other.

        Operations do so if an object holds an alias and has to be replaced by gold as well.
        """
        while True:
            repair = cls(tree, repaired, taxonomy)
            repair._add_steps()
            around = repair._contradictions()
            if not around:
                return repair
            repaired |= around

    def _add_steps(self) -> None:
        for node in reversed(self._nodes):
            self._one_sided(node)
        done: set[int] = set()
        for node in self._nodes:
            self._places.visit(node)
            if _parent(self._tree, node) in done or self._operated(node):
                done.add(node)
        for parent, items in self._last.items():
            self._append(parent, items)

    def _contradictions(self) -> frozenset[int]:
        """Return the pairs of objects or lists around the steps that write to a place which another step writes."""
        single = [step for step in self._steps if step.place[-1:] != (_END_KEY,)]
        written = Counter(step.place for step in single if not step.shifts)
        removed = {step.place for step in single if step.shifts and step.operation.op == "remove"}
        found = set()
        for step in self._steps:
            above = (step.place[:length] for length in range(len(step.place)))
            if (not step.shifts and written[step.place] > 1) or any(
                place in written or place in removed for place in above
            ):
                found.add(_container_of(self._tree, _parent(self._tree, step.node), self._repaired))
        return frozenset(found - {NONE})

    def patch(self) -> Patch:
        """Return the operations in the order in which they are applied."""
        numbers = sorted(range(len(self._steps)), key=lambda number: self._steps[number][:2])
        written = [number for number in numbers if not self._steps[number].shifts]
        ordered = written + [number for number in reversed(numbers) if self._steps[number].shifts]
        position = {number: at for at, number in enumerate(ordered)}
        steps = (self._steps[number] for number in ordered)
        return Patch(
            replace(step.operation, needs=tuple(sorted(position[number] for number in step.after))) for step in steps
        )

    def _one_sided(self, node: int) -> None:
        """Compute what is added or removed of a node of one side, whose children are known."""
        level, at = self._tree.place(node)
        gold, predicted = level.left[at] >= 0, level.right[at] >= 0
        if gold and predicted:
            return
        children = self._children[node]
        weight = math.fsum(self._tree.place(child)[0].weight for child in children if child in self._whole)
        size = (level.gold if gold else level.predicted)[at]
        if node in self._repaired or weight >= size - MASS_TOLERANCE:
            self._whole.add(node)
        if node in self._whole and gold:
            self._added[node] = self._gold(node)
        elif gold:
            parts = {self._token(child, gold=True): self._added[child] for child in children}
            listed = level.gold_kind[at] == Kind.ARRAY
            self._added[node] = [parts[token] for token in sorted(parts)] if listed else parts

    def _operated(self, node: int) -> bool:
        """Add the steps of a node, unless they are those of its children. Return whether it is repaired."""
        level, at = self._tree.place(node)
        parent = _parent(self._tree, node)
        if level.right[at] < 0:
            self._add(node, parent)
        elif level.left[at] < 0:
            if node not in self._whole:
                return False
            self._remove(node, parent)
        elif node in self._repaired:
            self._replace(node)
        elif isinstance(level.source, ListColumn) and level.source.matcher.transport is not None:
            if not equal(self._tree.value(node, gold=True), self._tree.value(node, gold=False)):
                self._replace(node)
        else:
            return False
        return True

    def _add(self, node: int, parent: int) -> None:
        value = self._added[node]
        if parent == NONE:
            self._step("add" if self.predicted is ABSENT else "replace", (), value, node)
        elif isinstance(self._places.value(self._places.below(parent)), list):
            self._add_item(node, parent, value)
        else:
            self._write(self._places.below(parent, self._token(node, gold=True)), value, node)

    def _write(self, tokens: _Tokens, value: Json, node: int) -> None:
        """Add a field, with the objects around it that the prediction does not have, or replace its value."""
        old = self._places.value(tokens)
        if old is not ABSENT:
            self._step("replace", tokens, self._kept(node, old, value), node)
            return
        start = len(tokens) - 1
        while self._places.value(tokens[:start]) is ABSENT:
            start -= 1
        here, inside = tokens[: start + 1], tokens[start + 1 :]
        around = self._steps[self._created[here]].operation.value if here in self._created else {}
        holder = around
        for token in inside[:-1]:
            holder = holder.setdefault(token, {})
        if here in self._created:
            holder[inside[-1]] = value
        elif inside:
            holder[inside[-1]] = value
            self._created[here] = self._step("add", here, around, node)
        else:
            self._step("add", here, value, node)

    def _add_item(self, node: int, parent: int, value: Json) -> None:
        """Add an item to a list: at the end, unless order matters."""
        level, _ = self._tree.place(node)
        here, position = self._places.below(parent), int(self._token(node, gold=True))
        size, settings = len(self._places.value(here)), _site(self._tree.place(parent)[0]).list
        following = self._following(parent, position) if level.item and settings.matcher.in_order else None
        if not level.item and position < size:  # an absent value at a position of `prefixItems`
            self._step("replace", (*here, position), value, node)
        elif following is not None:
            self._step("add", (*here, following), value, node, rank=position, shifts=True)
        else:
            self._last.setdefault(parent, {})[position] = value, node

    def _append(self, parent: int, items: dict[int, tuple[Json, int]]) -> None:
        """Add items at the end of a list, by their position in gold.

        If the first positions have a meaning (`prefixItems`), values of gold that count as absent are added as well.
        """
        here, after = self._places.below(parent), tuple[int, ...]()
        length, prefix = len(self._places.value(here)), len(_site(self._tree.place(parent)[0]).list.prefix)
        gold, node = self._tree.value(parent, gold=True), next(iter(items.values()))[1]
        for position in range(length, min(prefix, max(items))):
            items.setdefault(position, (gold[position], node))
        for position in sorted(items):
            step = self._step("add", (*here, END), *items[position], rank=position, after=after)
            after = (step,) if prefix else ()

    def _following(self, parent: int, position: int) -> int | None:
        """Return the position of the partner of the next gold item that has one; None if there is none."""
        if parent not in self._pairs:
            pairs = self._pairs[parent] = []
            for level in self._tree.levels:
                if level.item and not level.inner:
                    at = ((level.parent == parent) & level.paired).nonzero()[0]
                    sides = (level.source.tokens_of(rows[at]) for rows in (level.left, level.right))
                    pairs += (tuple(map(int, pair)) for pair in zip(*sides, strict=True))
            pairs.sort()
        after = bisect_right(self._pairs[parent], (position, _REMOVAL))
        return self._pairs[parent][after][1] if after < len(self._pairs[parent]) else None

    def _remove(self, node: int, parent: int) -> None:
        level, at = self._tree.place(node)
        if parent == NONE:
            if _site(level).absent.null:
                self._step("replace", (), None, node)
            else:
                self._step("remove", (), ABSENT, node)
            return
        gold = self._tree.value(parent, gold=True)
        here, token = self._places.below(node), self._token(node, gold=False)
        if isinstance(token, int):
            if not level.item and isinstance(gold, list) and token < len(gold):
                self._step("replace", here, gold[token], node)  # a value that counts as absent, before others
                return
            after = tuple(
                self._step("remove", (*here[:-1], same), ABSENT, node, rank=_REMOVAL, shifts=True)
                for same in self._duplicates(level, at)
            )
            self._step("remove", here, ABSENT, node, rank=_REMOVAL, shifts=True, after=after)
            return
        parts = self._places.parts(node)
        if isinstance(gold, dict) and token in gold and parts == [self._places.below(parent, token)]:
            self._step("replace", here, gold[token], node)  # a value that counts as absent
            return
        for part in parts:
            self._step("remove", part, ABSENT, node)

    def _duplicates(self, level: Level, at: int) -> list[int]:
        """Return the positions of the items of a list matched as a set that are equal to one of its items."""
        column = self._tree.place(int(level.parent[at]))[0].source
        if not isinstance(column, ListColumn) or column.matcher.candidates is not Candidates.SAME_VALUE:
            return []
        items, row = cast("Column", column.items), int(level.right[at])
        if level.source is not items:  # one kind of items of several kinds
            row = int(cast("Column", level.source).origin[row])
        if items.number not in self._codes:
            self._codes[items.number] = row_codes(items)
        codes = self._codes[items.number]
        same = ((items.origin == items.origin[row]) & (codes == codes[row])).nonzero()[0]
        return [int(token) for token in items.tokens_of(same[same != row])]

    def _replace(self, node: int) -> None:
        """Replace a value by that of gold. An object without a place of its own consists of aliased fields."""
        here, value = self._places.below(node), self._gold(node)
        old = self._places.value(here)
        if old is not ABSENT:
            self._step("replace", here, self._kept(node, old, value), node)
            return
        for part in self._places.parts(node):
            self._step("remove", part, ABSENT, node)
        self._write(here, value, node)

    def _kept(self, node: int, old: Json, value: Json) -> Json:
        """Return an object of gold with the fields of the predicted object that are not compared."""
        if not (isinstance(old, dict) and isinstance(value, dict)):
            return value
        settings = _site(self._tree.place(node)[0]).object
        declared = {each.name for each in settings.fields}
        closed = settings.closed and not settings.patterns
        ignored = {key for key in old.keys() | value if key in settings.ignored or (closed and key not in declared)}
        kept = {key: part for key, part in old.items() if key in ignored}
        return kept | {key: part for key, part in value.items() if key not in ignored}

    def _gold(self, node: int) -> Json:
        """Return the value of a node in gold; one form of values of which gold accepts several."""
        return applied(self._tree.value(node, gold=True), self._forms.get(node, ()))

    def _forms_inside(self, known: set[int]) -> dict[int, list[PatchOperation]]:
        """Return, for each known node, the operations that leave one form of the values in it."""
        inside: defaultdict[int, list[PatchOperation]] = defaultdict(list)
        for level in self._tree.levels:
            column = level.source
            if not isinstance(column, LeafColumn) or column.forms is None or _site(level).alternatives is not True:
                continue  # with a sibling field, the value itself is the first form
            for at in (level.left >= 0).nonzero()[0].tolist():
                row = int(level.left[at])
                if not isinstance(column.raw[row], list):
                    continue
                form = column.forms.raw[column.forms.of(row)[0]]
                if isinstance(form, list):  # not a list of forms itself
                    form = [form]
                node, tokens = level.first + at, tuple[int | str, ...]()
                while node != NONE:
                    if node in known:
                        inside[node].append(PatchOperation("replace", patch_path(tokens), form))
                    above, place = self._tree.place(node)
                    if not above.inner:
                        tokens = (self._token(node, gold=True), *tokens)
                    node = int(above.parent[place])
        return inside

    def _token(self, node: int, *, gold: bool) -> int | str:
        level, at = self._tree.place(node)
        return level.source.tokens_of(level.rows(gold=gold)[at : at + 1])[0]

    def _step(
        self,
        op: str,
        tokens: _Tokens,
        value: Json,
        node: int,
        *,
        rank: int = 0,
        shifts: bool = False,
        after: tuple[int, ...] = (),
    ) -> int:
        """Add a step and return its number."""
        place = tuple(
            (0, token, "") if isinstance(token, int) else _END_KEY if token is END else (1, 0, token)
            for token in tokens
        )
        operation = PatchOperation(op, patch_path(tokens), value, fault=self._fault(node))
        self._steps.append(_Step(place, rank, shifts, operation, after, node))
        return len(self._steps) - 1

    def _fault(self, node: int) -> str:
        """Return the class of the fault that a node is or lies inside."""
        level, at = self._tree.place(node)
        if self._taxonomy is not None and (owner := self._taxonomy.owner[node]) != NONE:
            return VERDICTS[int(self._taxonomy.verdict[owner])]
        return "missing" if level.right[at] < 0 else "spurious" if level.left[at] < 0 else "wrong"


# The patch of a prediction, and its gains.


def find_patch(plan: Plan, gold: Json, predicted: Json, taxonomy: Taxonomy, *, gains: bool | None = None) -> Patch:
    """Return the operations that turn a prediction into gold.

    After all of them, the quality is 1, or that of gold compared with itself if this is lower. A repair can have side
    effects, such as another branch of a union. The objects and lists in which faults are left are then replaced as a
    whole.

    Args:
        plan: The compiled schema.
        gold: The gold document; ABSENT if there is none.
        predicted: The prediction; ABSENT if there is none.
        taxonomy: The faults of the prediction, with the links that name them.
        gains: Whether to compute the gain of each operation; by default, unless this takes more than about a minute or
            calls a custom distance.
    """
    levels, close = taxonomy.levels, plan.close
    tree = NodeTree.of(levels)
    faults = frozenset(classify(levels, 1, taxonomy.entries, close).fault.nonzero()[0].tolist())
    whole: frozenset[int] = frozenset()
    while True:
        patch = _Repair.of(tree, faults | whole, taxonomy).patch()
        after = compare_batch(plan, [gold], [patch.apply(predicted)]).levels()
        if _quality(after) >= 1.0 - _TOLERANCE:
            break
        ideal = compare_batch(plan, [gold], [gold]).levels()
        if _quality(after) >= _quality(ideal) - _TOLERANCE:
            break
        left = classify(after, 1, taxonomy.entries, close).fault.nonzero()[0].tolist()
        more = _containers_of(tree, NodeTree.of(after), left, whole)
        if not more:
            break
        whole |= more
    if gains is None:
        gains = not plan.has_custom_distances and len(patch) * _work(levels) <= MAX_WORK
    return _with_gains(plan, gold, predicted, patch, levels) if gains else patch


def _work(levels: Sequence[Level]) -> float:
    """Return how long it takes to compare one document, in about microseconds: its values, and pairs to match."""
    tree, cells = NodeTree.of(levels), 0
    items: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for level in levels:
        if level.item and not level.inner:
            at = (level.quality < 1.0).nonzero()[0]
            for side, rows in enumerate((level.left, level.right)):
                for parent, count in zip(*np.unique(level.parent[at[rows[at] >= 0]], return_counts=True), strict=True):
                    items[int(parent)][side] += int(count)
    for parent, (gold, predicted) in items.items():
        source = tree.place(parent)[0].source
        if not (isinstance(source, ListColumn) and source.is_multiset):
            cells += gold * predicted
    return len(tree) + cells / _CELLS


def _quality(levels: Sequence[Level]) -> float:
    return float(root_qualities(levels, 1)[0])


def _containers_of(tree: NodeTree, after: NodeTree, faults: Iterable[int], whole: frozenset[int]) -> frozenset[int]:
    """Return the pairs of objects or lists around faults that are left after a repair, without those in `whole`."""
    number: dict[str | None, int] = {}
    for node, place in enumerate(tree.pointers(gold=True)):
        number.setdefault(place, node)
    places = after.pointers(gold=True)
    found = set()
    for fault in faults:
        node = fault
        while places[node] is None and node != NONE:
            node = _parent(after, node)
        found.add(NONE if node == NONE else _container_of(tree, number.get(places[node], NONE), whole))
    return frozenset(found - {NONE})


def _container_of(tree: NodeTree, node: int, without: frozenset[int]) -> int:
    """Return the nearest pair of objects or lists that a node is or lies in, except some nodes; NONE without one."""
    while node != NONE:
        level, at = tree.place(node)
        if node not in without and not level.leaf and not level.inner and level.paired[at]:
            break
        node = int(level.parent[at])
    return node


def _parent(tree: NodeTree, node: int) -> int:
    level, at = tree.place(node)
    return int(level.parent[at])


def _with_gains(plan: Plan, gold: Json, predicted: Json, patch: Patch, levels: Sequence[Level]) -> Patch:
    """Return the patch with the gains of its operations: each is applied alone, with those that it needs."""
    entries = wildcard(plan.entries)
    before, quality = of_nodes(levels, entries, 1)[0], _quality(levels)
    batch = max(1, BATCH_VALUES // (sum(map(len, levels)) + 1))
    operations = list[PatchOperation]()
    for start in range(0, len(patch), batch):
        part = patch[start : start + batch]
        needed = ([*(patch[number] for number in operation.needs), operation] for operation in part)
        documents = [applied(predicted, several) for several in needed]
        result = compare_batch(plan, [gold] * len(part), documents).levels(plan.entries)
        tallies = of_nodes(result, entries, len(part))
        changes = tallies - before
        gains = f1q_gain(before, np.stack([changes[:, 0] + changes[:, 1], changes[:, 3]], axis=1))
        qualities = root_qualities(result, len(part)) - quality
        operations += (
            replace(operation, gain=gain, quality_gain=change)
            for operation, gain, change in zip(part, gains.tolist(), qualities.tolist(), strict=True)
        )
    return Patch(operations)


def rematched_gains(plan: Plan, gold: Sequence[Json], taxonomy: Taxonomy) -> tuple[Floats, Floats]:
    """Return the increases in f1q of the entries if predictions are repaired and compared again.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        taxonomy: The faults of the predictions.

    Returns:
        The gains for each class of faults, shape (documents, classes), and for each path, shape (documents, paths).

    Raises:
        DataError: Items are matched by transport, so that no single repaired document exists.
    """
    if any(level.share is not None for level in taxonomy.levels):
        raise DataError.of(
            "Repaired documents cannot be compared again: items are matched by transport",
            hint="Omit `rematch`, or choose a one-to-one matching.",
        )
    document = taxonomy.document
    faults = taxonomy.fault.nonzero()[0]
    sets: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for node, number, verdict, path in zip(
        faults.tolist(),
        document[faults].tolist(),
        taxonomy.verdict[faults].tolist(),
        taxonomy.repaired_path[faults].tolist(),
        strict=True,
    ):
        sets[number, verdict - 1].append(node)
        sets[number, len(FAULTS) + path].append(node)
    node_tree = NodeTree.of(taxonomy.levels)
    repaired = [repaired_prediction(node_tree, nodes) for nodes in sets.values()]
    levels = compare_batch(plan, [gold[number] for number, _ in sets], repaired).levels(plan.entries)
    changes = np.zeros((len(taxonomy.tallies), len(FAULTS) + len(taxonomy.paths), 2))
    tallies = of_nodes(levels, wildcard(plan.entries), len(repaired))
    for (number, repair), tally in zip(sets, tallies, strict=True):
        changed = tally - taxonomy.tallies[number]
        changes[number, repair] = changed[0] + changed[1], changed[3]
    gains = f1q_gain(taxonomy.tallies, changes)
    return gains[:, : len(FAULTS)], gains[:, len(FAULTS) :]
