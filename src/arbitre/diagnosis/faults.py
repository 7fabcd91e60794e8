"""The faults of a batch of documents, and the gain of repairing them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from arbitre.comparison.diagnosis import Diagnosis, Fault
from arbitre.comparison.levels import NONE
from arbitre.comparison.patch import Patch, PatchOperation, patch_path, patch_tokens
from arbitre.diagnosis.joins import JoinResults
from arbitre.diagnosis.list_pairs import orders
from arbitre.diagnosis.moved import MovedResults
from arbitre.diagnosis.renamed import renamed_fields
from arbitre.diagnosis.repair import find_patch, rematched_gains
from arbitre.diagnosis.repair_gain import RepairChanges, f1q_gain, repair_changes
from arbitre.diagnosis.taxonomy import (
    FAULTS,
    MERGED,
    MOVED,
    RENAMED,
    SPLIT,
    VERDICTS,
    Links,
    Taxonomy,
    classify,
    verdict_counts,
)
from arbitre.engine import compare_to_levels, new_ids, with_gold_ids
from arbitre.paths import escape, order, wildcard
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.diagnosis import DoubtfulAlignment
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.joins import JoinedItems
    from arbitre.diagnosis.moved import MovedNodes
    from arbitre.diagnosis.moved_chance import UsualValues
    from arbitre.diagnosis.taxonomy import Codes
    from arbitre.engine.references.renaming import NewIds
    from arbitre.schema.plan import Plan


@dataclass(frozen=True, eq=False, slots=True)
class FaultNodes:
    """The faults of documents that were compared together, one row each. All arrays have shape (faults,).

    Attributes:
        verdict: Code of the class of each fault.
        gold: Gold node, or NONE.
        predicted: Predicted node, or NONE.
        node: The node that determines the path and the entry.
        lost: Contribution to the denominator of f1q minus twice the quality mass; divided by the denominator, the cost.
    """

    verdict: Codes
    gold: Indices
    predicted: Indices
    node: Indices
    lost: Floats

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> FaultNodes:
        """Return the faults, in no particular order. The loss of a node in several links is divided among them."""
        links, nodes = taxonomy.links, len(taxonomy.fault)
        linked = np.zeros(nodes, dtype=np.intp)
        shown = np.zeros(len(links.verdict), dtype=np.bool_)
        for end in (links.gold, links.predicted):
            linked += np.bincount(end, minlength=nodes)
            shown |= taxonomy.fault[end]
        share = taxonomy.lost / np.maximum(linked, 1)
        alone = (taxonomy.fault & (linked == 0)).nonzero()[0]
        gold, predicted = (np.full(nodes, NONE, dtype=np.intp) for _ in range(2))
        for level in taxonomy.levels:
            ids = np.arange(level.first, level.first + len(level))
            for side, rows in ((gold, level.left), (predicted, level.right)):
                side[ids] = np.where(rows >= 0, ids, NONE)
        ends = links.gold[shown], links.predicted[shown]
        anchor = np.where(links.verdict[shown] == SPLIT, ends[1], ends[0])
        return cls(
            np.concatenate([taxonomy.verdict[alone], links.verdict[shown]]),
            np.concatenate([gold[alone], ends[0]]),
            np.concatenate([predicted[alone], ends[1]]),
            np.concatenate([alone, anchor]),
            np.concatenate([share[alone], share[ends[0]] + share[ends[1]]]),
        )


class FaultRows:
    """Faults as columns, by document: in gold order, then those that gold does not have.

    Attributes:
        documents: Document of each fault.
        entries: JSON Pointer of the entry; in the prediction if gold has no such entry. None outside the entries.
        gold_pointers: JSON Pointers in gold, or None.
        predicted_pointers: JSON Pointers in the prediction, or None.
        paths: Wildcard paths.
        faults: Classes.
        gold: Values in gold, or ABSENT.
        predicted: Predicted values, or ABSENT.
        lost: Losses (see `FaultNodes`).
        costs: Costs in f1q of the document; 0 for faults outside the entries.
        nodes: Nodes in gold and in the prediction, or NONE; shape (faults, 2).
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        faults = FaultNodes.of(taxonomy)
        entry = taxonomy.entry[faults.node]
        names = [
            Pointers(taxonomy.levels, np.concatenate([nodes, entry]), gold=gold)
            for nodes, gold in ((faults.gold, True), (faults.predicted, False))
        ]
        pointers = [side.of(nodes) for side, nodes in zip(names, (faults.gold, faults.predicted), strict=True)]
        around = [side.of(entry) for side in names]
        documents = taxonomy.document[faults.node]
        unnamed = np.array([pointer is None for pointer in pointers[0]], dtype=np.bool_)
        ranks = [side.ranks(nodes) for side, nodes in zip(names, (faults.gold, faults.predicted), strict=True)]
        at = np.lexsort((faults.verdict, ranks[1], ranks[0], unnamed, documents))
        ranked: list[int] = at.tolist()
        size = taxonomy.size[documents]
        self.documents: list[int] = documents[at].tolist()
        self.entries = [around[1][row] if around[0][row] is None else around[0][row] for row in ranked]
        self.gold_pointers, self.predicted_pointers = ([side[row] for row in ranked] for side in pointers)
        self.paths = [taxonomy.paths[path] for path in taxonomy.path[faults.node[at]].tolist()]
        self.faults = [VERDICTS[code] for code in faults.verdict[at].tolist()]
        self.gold = _values(taxonomy.levels, faults.gold[at], gold=True)
        self.predicted = _values(taxonomy.levels, faults.predicted[at], gold=False)
        self.nodes = np.stack([faults.gold[at], faults.predicted[at]], axis=1)
        self.lost: list[float] = faults.lost[at].tolist()
        self.costs: list[float] = (faults.lost / np.where(size > 0.0, size, 1.0))[at].tolist()

    def __len__(self) -> int:
        return len(self.documents)


class Pointers:
    """JSON Pointers of some nodes on one side."""

    def __init__(self, levels: Sequence[Level], nodes: Indices, *, gold: bool) -> None:
        """Compute the pointers of the nodes, and of those above them."""
        size = sum(map(len, levels))
        wanted = np.zeros(size + 1, dtype=np.bool_)  # the last element is for nodes without a parent
        wanted[nodes] = True
        for level in reversed(levels):
            here = wanted[level.nodes]
            wanted[level.parent[here]] = True
        texts: list[str | None] = [None] * (size + 1)
        self._texts = texts
        self._steps: list[_Step] = []
        for level in levels:
            rows = level.rows(gold=gold)
            at = (wanted[level.nodes] & (rows >= 0)).nonzero()[0]
            if not len(at):
                continue
            ids, parents = level.first + at, level.parent[at]
            pointers = [texts[parent] or "" for parent in parents.tolist()]
            if parents[0] != NONE:
                tokens = None if level.inner else level.source.tokens_of(rows[at])
                self._steps.append((ids, parents, tokens))
                pointers = pointers if tokens is None else _extended(pointers, tokens)
            for node, text in zip(ids.tolist(), pointers, strict=True):
                texts[node] = text

    def of(self, nodes: Indices) -> list[str | None]:
        """Return the pointers of some of the nodes; None where the side has none."""
        return [self._texts[node] for node in nodes.tolist()]

    def ranks(self, nodes: Indices) -> Indices:
        """Return the ranks of nodes in document order: positions by number, then names. Nodes of one pointer are equal.

        A node comes before those below it. Nodes that the side does not have are equal to the root.

        The ranks are the places of the pointers in their tree, which is built depth by depth: this takes a third of the
        time of sorting pointers as tuples of tokens.
        """
        size = len(self._texts)  # the last element is for NONE
        depth, code = (np.zeros(size, dtype=np.intp) for _ in range(2))
        above, same = np.full(size, NONE, dtype=np.intp), np.arange(size, dtype=np.intp)
        codes = _codes({token for *_, tokens in self._steps for token in tokens or ()})
        for ids, parents, tokens in self._steps:
            if tokens is None:
                same[ids] = same[parents]
                continue
            above[ids] = same[parents]
            depth[ids] = depth[above[ids]] + 1
            code[ids] = [codes[token] for token in tokens]
        by_depth = np.split(depth.argsort(kind="stable"), np.cumsum(np.bincount(depth))[:-1])[1:]
        return _tree_ranks(above, code, by_depth)[same[nodes]]


if TYPE_CHECKING:
    _Step = tuple[Indices, Indices, list[int | str] | None]
    """Some nodes, their parents, and the tokens below these; None if the nodes have the pointers of their parents."""


def _extended(pointers: Sequence[str], tokens: Sequence[int | str]) -> list[str]:
    """Return pointers with one more token each. Each different token is escaped once."""
    escaped = {token: escape(token) for token in set(tokens)}
    return [f"{pointer}/{escaped[token]}" for pointer, token in zip(pointers, tokens, strict=True)]


def _codes(tokens: set[int | str]) -> dict[int | str, int]:
    """Return numbers of tokens in their order: positions by number, then names."""
    positions = {token: token for token in tokens if isinstance(token, int)}
    names = sorted(token for token in tokens if isinstance(token, str))
    return positions | dict(zip(names, count(max(positions.values(), default=-1) + 1), strict=False))


def _tree_ranks(parents: Indices, codes: Indices, by_depth: Sequence[Indices]) -> Indices:
    """Return the places of nodes in preorder, where nodes with the same parent and code are one. The root has place 0.

    Args:
        parents: The parent of each node; -1 for children of the root, and for itself.
        codes: Number of each node that orders it among the children of its parent.
        by_depth: The nodes of each depth below the root.
    """
    width = int(codes.max(initial=0)) + 1
    number = np.zeros(len(parents), dtype=np.intp)  # of the node among the different nodes of its depth
    above: list[Indices] = []  # the numbers of the parents of these
    for at in by_depth:
        keys, number[at] = np.unique(number[parents[at]] * width + codes[at], return_inverse=True)
        above.append(keys // width)
    ranks = np.zeros(len(parents), dtype=np.intp)
    for at, places in zip(by_depth, _preorder(above), strict=True):
        ranks[at] = places[number[at]]
    return ranks


def _preorder(parents: Sequence[Indices]) -> list[Indices]:
    """Return the places in preorder of the nodes of a tree, for each depth below the root, whose place is 0.

    Args:
        parents: For each depth, the numbers of the parents of its nodes among the nodes of the depth before, in
            increasing order.
    """
    sizes = [np.ones(len(own), dtype=np.intp) for own in parents]  # of subtrees
    for below, above in pairwise(range(len(parents) - 1, -1, -1)):
        np.add.at(sizes[above], parents[below], sizes[below])
    places = [np.zeros(1, dtype=np.intp)]
    for own, size in zip(parents, sizes, strict=True):
        before = np.cumsum(size) - size
        places.append(places[-1][own] + 1 + before - before[own.searchsorted(own)])
    return places[1:]


def _values(levels: Sequence[Level], nodes: Indices, *, gold: bool) -> list[Json]:
    """Return the values of nodes on one side; ABSENT for NONE."""
    values: list[Json] = [ABSENT] * len(nodes)
    firsts = np.array([level.first for level in levels], dtype=np.intp)
    numbers = np.where(nodes == NONE, NONE, firsts.searchsorted(nodes, side="right") - 1)
    for number in np.unique(numbers[numbers != NONE]).tolist():
        level, at = levels[number], (numbers == number).nonzero()[0]
        rows = level.rows(gold=gold)[nodes[at] - level.first]
        for place, value in zip(at.tolist(), level.source.values_of(rows), strict=True):
            values[place] = value
    return values


# The nodes of moved values, renamed fields, splits and merges.


def find_links(
    levels: Sequence[Level],
    joins: Sequence[Sequence[JoinedItems]],
    moved: Sequence[Sequence[MovedNodes]],
    renamed: Sequence[Sequence[MovedNodes]] = (),
) -> Links:
    """Return the links of documents that were compared together.

    Args:
        levels: The compared nodes.
        joins: Splits and merges of each document.
        moved: Nodes of the moved values of each document.
        renamed: Nodes of the renamed fields of each document; they did not move.
    """
    links = [(RENAMED, *nodes) for several in renamed for nodes in several]
    taken = {gold for _, gold, _ in links}
    links += [(MOVED, *nodes) for several in moved for nodes in several if nodes.gold not in taken]
    links += _of_joins(levels, joins)
    verdicts, gold, predicted = zip(*links, strict=True) if links else ((), (), ())
    return Links(np.array(verdicts, dtype=np.int8), np.array(gold, dtype=np.intp), np.array(predicted, dtype=np.intp))


def joined_nodes(levels: Sequence[Level], joins: Sequence[Sequence[JoinedItems]]) -> Indices:
    """Return the nodes of the items that were split or merged."""
    return np.array([node for _, *nodes in _of_joins(levels, joins) for node in nodes], dtype=np.intp)


def _of_joins(levels: Sequence[Level], joins: Sequence[Sequence[JoinedItems]]) -> Iterator[tuple[int, int, int]]:
    every = [join for several in joins for join in several]
    if not every:
        return
    gold_items, predicted_items = _items(levels, {join.node for join in every})
    for join in every:
        gold = [gold_items[join.node, position] for position in join.gold]
        predicted = [predicted_items[join.node, position] for position in join.predicted]
        if join.merge:
            whole = predicted[0]
            yield from ((MERGED, part, whole) for part in gold if part != whole)
        else:
            whole = gold[0]
            yield from ((SPLIT, whole, part) for part in predicted if part != whole)


def _items(levels: Sequence[Level], lists: set[int]) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return the nodes of the items of lists, by the node of the list and the position, for gold and predicted."""
    parents = np.array(sorted(lists), dtype=np.intp)
    sides: tuple[dict[tuple[int, int], int], ...] = {}, {}
    for level in levels:
        if not level.item or level.inner:
            continue
        at = np.isin(level.parent, parents).nonzero()[0]
        for items, rows in zip(sides, (level.left[at], level.right[at]), strict=True):
            present = at[rows >= 0]
            tokens = level.source.tokens_of(rows[rows >= 0])
            for place, parent, token in zip(present.tolist(), level.parent[present].tolist(), tokens, strict=True):
                items.setdefault((parent, int(token)), level.first + place)
    return sides[0], sides[1]


@dataclass(frozen=True, eq=False, slots=True)
class FaultResults:
    """The faults of documents that were compared together.

    Attributes:
        taxonomy: The verdicts of all nodes.
        rows: The faults.
        changes: Changes of the tallies if faults were repaired.
        gains: Increases in f1q for each class, shape (documents, classes), and for each path, (documents, paths).
        counts: Numbers of values (see `Taxonomy.counts`).
        doubtful: The doubtful alignments of each document, if they are recorded.
    """

    taxonomy: Taxonomy
    rows: FaultRows
    changes: RepairChanges
    gains: tuple[Floats, Floats]
    counts: Floats
    doubtful: Sequence[Sequence[DoubtfulAlignment]] = ()

    @classmethod
    def of(
        cls, plan: Plan, gold: Sequence[Json], levels: Sequence[Level], links: Links, *, rematch: bool = False
    ) -> FaultResults:
        """Return the faults of documents.

        Args:
            plan: The compiled schema.
            gold: The gold documents; ABSENT for a missing document.
            levels: The levels of the documents, compared together.
            links: Pairs of nodes with one fault.
            rematch: Whether to compute the gains by comparing repaired documents again.

        Raises:
            DataError: `rematch` is set, and items are matched by transport.
        """
        taxonomy = classify(levels, len(gold), wildcard(plan.entries), plan.close, links)
        changes = repair_changes(taxonomy)
        if rematch:
            gains = rematched_gains(plan, gold, taxonomy)
        else:
            gains = f1q_gain(taxonomy.tallies, changes.classes), f1q_gain(taxonomy.tallies, changes.paths)
        return cls(taxonomy, FaultRows(taxonomy), changes, gains, taxonomy.counts())

    def parts_of(self, document: int) -> dict[str, Any]:
        """Return the fields of `Diagnosis` on faults and repairs, for one document."""
        rows = self.rows
        here = range(bisect_left(rows.documents, document), bisect_left(rows.documents, document + 1))
        faulty = sorted({rows.paths[at] for at in here}, key=order)
        classes, paths = (gains[document].tolist() for gains in self.gains)
        by_path = dict(zip(self.taxonomy.paths, paths, strict=True))
        return {
            "verdicts": verdict_counts(self.taxonomy.paths, self.counts[document]),
            "repair_gain": dict(zip(FAULTS, classes, strict=True)),
            "repair_gain_by_path": {path: by_path[path] for path in faulty},
            "faults": tuple(
                Fault(
                    rows.entries[at],
                    rows.gold_pointers[at],
                    rows.predicted_pointers[at],
                    rows.paths[at],
                    rows.faults[at],
                    rows.gold[at],
                    rows.predicted[at],
                    rows.costs[at],
                )
                for at in here
            ),
        }


# Diagnose the comparisons of a batch of documents.


def diagnose(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
    *,
    rematch: bool = False,
) -> list[Diagnosis]:
    """Return the diagnosis of each pair of documents.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        predicted: The predicted documents, as many as `gold`; ABSENT for a missing document.
        levels: The levels of the documents, compared together.
        rematch: Whether to compute repair gains by comparing repaired documents again.

    Raises:
        DataError: `rematch` is set, and items are matched by transport.
    """
    from arbitre.diagnosis.solidarity import LeafSums, solidarity_by_chance  # noqa: PLC0415  (corpora do not need it)

    predicted, levels = _with_gold_ids(plan, gold, predicted, levels)
    sums = LeafSums.of(levels, len(gold), plan.close)
    joins, moved, links = _search(plan, gold, predicted, levels)
    parts = (sums, joins, moved, FaultResults.of(plan, gold, levels, links, rematch=rematch))
    order = orders(levels, plan.entries, len(gold))
    compared = (levels, sums) if len(gold) == 1 else ()
    return [
        Diagnosis(
            **{name: value for part in parts for name, value in part.parts_of(document).items()}
            | solidarity_by_chance(plan, [gold[document]], [predicted[document]], *compared),
            order=order[document],
        )
        for document in range(len(gold))
    ]


def _search(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
    usual: UsualValues | None = None,
) -> tuple[JoinResults, MovedResults, Links]:
    """Return the splits and merges, the moved values, and the links of both and of renamed fields."""
    joins = JoinResults.of(plan, gold, predicted, levels)
    moved = MovedResults.of(plan, levels, len(gold), usual, joined_nodes(levels, joins.joins))
    renamed = renamed_fields(plan, levels, len(gold), usual)
    return joins, moved, find_links(levels, joins.joins, moved.nodes, renamed)


def _with_gold_ids(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], levels: Sequence[Level]
) -> tuple[Sequence[Json], Sequence[Level]]:
    """Return predictions whose ids are those of gold, and their levels; the same ones if the schema has no ids."""
    if not plan.facts.has_ids:
        return predicted, levels
    renamed = with_gold_ids(plan, gold, predicted)
    return renamed, compare_to_levels(plan, gold, renamed)


def make_patch(plan: Plan, gold: Json, predicted: Json, levels: Sequence[Level], *, gains: bool | None = None) -> Patch:
    """Return the operations that turn one prediction into gold; see `find_patch` for the arguments."""
    names = new_ids(plan, [gold], [predicted]).get(0)
    if names is not None:
        predicted = names.renamed(predicted)
        levels = compare_to_levels(plan, [gold], [predicted])
    _, _, links = _search(plan, [gold], [predicted], levels)
    taxonomy = classify(levels, 1, wildcard(plan.entries), plan.close, links)
    patch = find_patch(plan, gold, predicted, taxonomy, gains=gains)
    return patch if names is None else Patch(_renamed(operation, names.back()) for operation in patch)


def _renamed(operation: PatchOperation, names: NewIds) -> PatchOperation:
    """Return an operation with new ids, in its path and in its value."""
    tokens, site = names.pointed(patch_tokens(operation.path))
    value = operation.value if operation.value is ABSENT or site is None else names.renamed(operation.value, site)
    return replace(operation, path=patch_path(tokens), value=value)


def find_faults(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
    usual: UsualValues | None = None,
) -> FaultResults:
    """Return the faults of each pair of documents; see `diagnose` and `MovedResults.of` for the arguments."""
    predicted, levels = _with_gold_ids(plan, gold, predicted, levels)
    _, moved, links = _search(plan, gold, predicted, levels, usual)
    return replace(FaultResults.of(plan, gold, levels, links), doubtful=moved.doubtful)
