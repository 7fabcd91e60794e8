"""Columnar results of a comparison: one level per path, except for many undeclared keys, which share a level.

A node is a matched pair of values, or a value without a partner. It points to its parent node, so the levels hold the
result trees of all documents that were compared together. Arrays of tallies have the five components of `Tally`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from arbitre.paths import DEPTH, STAR, escape, wildcard
from arbitre.tally import PathScores, ScoresByPath
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.references import ReferenceNote, ReferredItem
    from arbitre.paths import Path
    from arbitre.values import Json


Kinds = npt.NDArray[np.int8]


class NodeSource(Protocol):
    """Lookup of the nodes of a level. Rows are non-negative unless stated otherwise."""

    def tokens_of(self, rows: Indices) -> list[int | str]:
        """Return the key or list position of each row in its parent; "" for the root."""
        ...

    def values_of(self, rows: Indices) -> list[Json]:
        """Return the original value of each row."""
        ...

    def normalized_values_of(self, rows: Indices) -> list[Json]:
        """Return the normalised value of each row, or a list if it has several accepted forms."""
        ...

    def kinds_of(self, left: Indices, right: Indices) -> tuple[Kinds, Kinds]:
        """Return the `Kind` of the gold and of the predicted row of each pair; NONE for a negative row."""
        ...

    def accepted_forms(self, left: Indices, right: Indices) -> list[Json]:
        """Return the accepted form that each pair of rows was compared with; ABSENT if gold has only one.

        Negative rows have none.
        """
        ...

    def referred(self, rows: Indices) -> list[ReferredItem | None]:
        """Return the item that each row refers to; None for rows that are no references."""
        ...

    def reference_notes(self, left: Indices, right: Indices) -> list[ReferenceNote | None]:
        """Return a note on each pair of rows that are references and are not right; None for all others."""
        ...


NONE = -1
"""In `Level.gold_kind` and `predicted_kind`: no node on this side. In `Level.parent`: no parent."""

_text = lru_cache(maxsize=1024)(wildcard)


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """The nodes of one path. All arrays have shape (nodes,).

    Attributes:
        path: Wildcard path of the nodes.
        leaf: Whether the nodes are compared as single values.
        item: Whether the nodes are items of lists.
        kind_mismatch: Whether the nodes pair nodes of different kinds; each side has an `inner` child node.
        inner: Whether the nodes are one side of a parent with `kind_mismatch`, not nodes of their own.
        weight: Weight of the nodes in their parent objects.
        first: Number of the first node; nodes are numbered consecutively over all levels.
        parent: Number of the parent node, or NONE.
        document: Index of the document among those compared together.
        source: Lookup of the nodes.
        left: Row of the gold node in `source`, or -1.
        right: Row of the predicted node in `source`, or -1.
        quality: Quality of the pair, in [0, 1]; 0 for a node without a partner.
        gold: Tally of an object or a list, together with `predicted`, `matched` and `mass` (of quality); 0 for leaves.
        share: Share of the full node that this node represents, if lists are matched by transport; None if all are 1.
        scale: Weight of the node in tallies: `share` times the scale of the parent; None if all are 1.
        named: Whether the path of each node ends with its own key, not with the `*` of `path`. The nodes are then
            ordered by key.
    """

    path: Path
    leaf: bool
    item: bool
    kind_mismatch: bool
    inner: bool
    weight: float
    first: int
    parent: Indices
    document: Indices
    source: NodeSource
    left: Indices
    right: Indices
    quality: Floats
    gold: Floats
    predicted: Floats
    matched: Floats
    mass: Floats
    share: Floats | None = None
    scale: Floats | None = None
    named: bool = False

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def nodes(self) -> slice:
        """The numbers of the nodes."""
        return slice(self.first, self.first + len(self))

    def rows(self, *, gold: bool) -> Indices:
        """Return the row in `source` of each node on one side, or -1."""
        return self.left if gold else self.right

    def values(self, *, gold: bool, normalized: bool = False) -> list[Json]:
        """Return the original or normalised value of each node on one side; ABSENT where there is none."""
        rows = self.rows(gold=gold)
        values: list[Json] = [ABSENT] * len(self)
        present = (rows >= 0).nonzero()[0]
        values_of = self.source.normalized_values_of if normalized else self.source.values_of
        for at, value in zip(present.tolist(), values_of(rows[present]), strict=True):
            values[at] = value
        return values

    @property
    def text(self) -> str:
        """Wildcard path as text."""
        return _text(self.path)

    def texts(self) -> list[str]:
        """Return the wildcard path of each node as text."""
        if not self.named or len(self.path) > DEPTH:
            return [self.text] * len(self)
        above = _text(self.path[:-1])
        return [f"{above}/{escape(key)}" for key in self.source.tokens_of(np.maximum(self.left, self.right))]

    def runs(self) -> Iterator[tuple[str, int, int]]:
        """Yield the wildcard paths as text, with the start and the end of their nodes."""
        if not self.named:
            yield self.text, 0, len(self)
            return
        start = 0
        for text, nodes in groupby(self.texts()):
            stop = start + sum(1 for _ in nodes)
            yield text, start, stop
            start = stop

    def ordered(self, order: Indices) -> Level:
        """Return the level with these of its nodes, in this order, without their scales."""
        share = None if self.share is None else self.share[order]
        return replace(self, **{name: getattr(self, name)[order] for name in _PER_RECORD}, share=share, scale=None)

    @property
    def kinds(self) -> tuple[Kinds, Kinds]:
        """`Kind` of each gold node and of each predicted node, or NONE."""
        return self.source.kinds_of(self.left, self.right)

    @property
    def gold_kind(self) -> Kinds:
        """`Kind` of each gold node, or NONE."""
        return self.kinds[0]

    @property
    def predicted_kind(self) -> Kinds:
        """`Kind` of each predicted node, or NONE."""
        return self.kinds[1]

    @property
    def kinds_differ(self) -> Mask:
        """Whether the two sides of each node have different kinds; true for a node without a partner."""
        gold, predicted = self.kinds
        differ: Mask = gold != predicted
        return differ

    @property
    def paired(self) -> Mask:
        """Whether each node is a pair."""
        return self.node_masks()[2]

    def node_masks(self) -> tuple[Mask, Mask, Mask]:
        """Return which nodes have a gold value, a predicted value, and both."""
        gold, predicted = self.left >= 0, self.right >= 0
        return gold, predicted, gold & predicted

    def leaf_masks(self) -> tuple[Mask, Mask, Mask]:
        """Return which nodes are a leaf of gold, a leaf of the prediction, and a matched pair of leaves.

        A leaf is a single value, or an empty object or list. Leaves of different kinds are not matched.
        """
        gold, predicted, both = self.node_masks()
        if self.leaf:
            return gold, predicted, both & ~self.kinds_differ
        gold = gold & (self.gold == 0.0) & (not self.kind_mismatch)
        predicted = predicted & (self.predicted == 0.0) & (not self.kind_mismatch)
        return gold, predicted, gold & predicted

    def leaf_masses(self) -> Floats:
        """Return the contribution of each node to the tally of leaves; shape (5, nodes)."""
        return self.masses_of(*self.leaf_masks())

    def masses_of(self, gold: Mask, predicted: Mask, matched: Mask) -> Floats:
        """Return the contribution of each node to a tally that counts the nodes in these masks; shape (5, nodes)."""
        quality = np.where(matched, self.quality, 0.0)
        return self.scaled(gold, predicted, matched, quality, quality * quality)

    def counts(self, selected: Mask) -> Floats:
        """Return the scale of the nodes selected by a mask; shape (selected nodes,)."""
        return np.ones(int(np.count_nonzero(selected))) if self.scale is None else self.scale[selected]

    def scaled(self, *masses: Floats | Mask) -> Floats:
        """Return masses of the nodes, each of shape (nodes,), multiplied by the scale; shape (masses, nodes)."""
        rows = np.array(masses, dtype=np.float64)
        return rows if self.scale is None else rows * self.scale


_PER_RECORD = ("parent", "document", "left", "right", "quality", "gold", "predicted", "matched", "mass")


def concatenated(parts: Sequence[Level]) -> Iterator[Level]:
    """Yield the levels of one path, joining adjacent levels that differ only in their nodes."""
    if len(parts) == 1:
        yield parts[0]
        return
    for _, alike in groupby(parts, key=lambda level: (level.weight, level.leaf, level.kind_mismatch, level.inner)):
        levels = list(alike)
        first = levels[0]
        if len(levels) > 1:
            arrays: dict[str, Any] = {
                name: np.concatenate([getattr(level, name) for level in levels]) for name in _PER_RECORD
            }
            first = replace(first, **arrays, share=_joined_shares(levels))
        yield first


def _joined_shares(levels: Sequence[Level]) -> Floats | None:
    if all(level.share is None for level in levels):
        return None
    return np.concatenate([np.ones(len(level)) if level.share is None else level.share for level in levels])


def with_scales(levels: Sequence[Level]) -> tuple[Level, ...]:
    """Return the levels with scales computed from the shares. Parents must come first."""
    if all(level.share is None for level in levels):
        return tuple(levels)
    scales = np.ones(sum(map(len, levels)) + 1)  # the last element is for nodes without a parent
    scaled = []
    for level in levels:
        scale = scales[level.parent] if level.share is None else scales[level.parent] * level.share
        scales[level.nodes] = scale
        scaled.append(replace(level, scale=scale))
    return tuple(scaled)


def summed(parts: Sequence[tuple[Indices, Floats]], documents: int) -> Floats:
    """Return the sums per document, added in node order, so that the split into levels does not affect rounding."""
    document = np.concatenate([np.empty(0, dtype=np.intp), *(document for document, _ in parts)])
    rows = np.concatenate([np.empty((5, 0)), *(masses for _, masses in parts)], axis=1)
    return np.stack([sum_by_index(document, row, documents) for row in rows], axis=1)


def sum_by_index(index: Indices, masses: Floats, size: int) -> Floats:
    """Return the sum of the masses with each index; shape (size,)."""
    return np.bincount(index, weights=masses, minlength=size).astype(np.float64, copy=False)


def leaves(levels: Sequence[Level], documents: int) -> Floats:
    """Return the tally of all leaves, per document; shape (documents, 5)."""
    if not levels:
        return summed([], documents)
    nodes = in_order(levels)
    document = np.concatenate([level.document for level in levels])
    masses = np.concatenate([level.leaf_masses() for level in levels], axis=1)
    return summed([(document[nodes], masses[:, nodes])], documents)


def of_nodes(levels: Sequence[Level], path: str, documents: int) -> Floats:
    """Return the summed tallies of the objects and lists at a path, per document; shape (documents, 5).

    A leaf counts as an object with one field, itself.
    """
    squares = squared_masses(levels)
    parts: list[tuple[Indices, Floats]] = []
    for level in sorted(at_path(levels, path), key=lambda level: (level.inner, level.leaf, level.first)):
        if level.leaf:
            parts.append((level.document, level.leaf_masses()))
        else:
            square = squares[level.nodes]
            masses = level.scaled(level.gold, level.predicted, level.matched, level.mass, square)
            parts.append((level.document, masses))
    return summed(parts, documents)


def at_path(levels: Sequence[Level], path: str) -> list[Level]:
    """Return the levels at a wildcard path, which is not that of an undeclared key."""
    return [level for level in levels if not level.named and level.text == path]


def root_qualities(levels: Sequence[Level], documents: int) -> Floats:
    """Return the quality of the root of each document, 1 where both sides are absent; shape (documents,)."""
    qualities = np.ones(documents)
    for level in levels:
        roots = (level.parent == NONE) & (not level.inner)
        qualities[level.document[roots]] = level.quality[roots]
    return qualities


def pair_qualities(levels: Sequence[Level], path: str) -> tuple[Floats, Floats, Indices]:
    """Return quality, weight and document index of the pairs directly below the nodes at a path; shapes (pairs,).

    A leaf at the path counts as its own pair, as in `of_nodes`. The weighted sum of the qualities equals the tally.
    """
    is_parent = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
    for level in at_path(levels, path):
        is_parent[level.nodes] = True
    if not levels:
        return np.empty(0), np.empty(0), np.empty(0, dtype=np.intp)
    counted, weights = [], []
    for level in levels:
        own = level.leaf & (level.leaf_masses()[2] > 0.0) & is_parent[level.nodes]
        counted.append(own | (level.paired & is_parent[level.parent] & (not level.inner)))
        weights.append(np.where(own, 1.0, level.weight) * (1.0 if level.scale is None else level.scale))
    nodes = in_order(levels)
    nodes = nodes[np.concatenate(counted)[nodes]]
    qualities, documents = (
        np.concatenate([getattr(level, name) for level in levels]) for name in ("quality", "document")
    )
    return qualities[nodes], np.concatenate(weights)[nodes], documents[nodes]


def squared_masses(levels: Sequence[Level]) -> Floats:
    """Return, for each node of all levels, the sum of weight x quality² over its child pairs; shape (nodes,)."""
    parents, squares = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for level in levels:
        if not level.inner:
            below = level.parent != NONE
            parents.append(level.parent[below])
            share = 1.0 if level.share is None else level.share
            squares.append((level.weight * share * level.quality * level.quality)[below])
    return sum_by_index(np.concatenate(parents), np.concatenate(squares), sum(map(len, levels)))


def in_order(levels: Sequence[Level]) -> Indices:
    """Return all nodes in an order that depends only on the paths, so that sums do not depend on the batch."""
    nodes = (np.arange(start, stop) for _, start, stop in runs_in_order(levels))
    return np.concatenate([np.empty(0, dtype=np.intp), *nodes])


def runs_in_order(levels: Sequence[Level]) -> list[tuple[str, int, int]]:
    """Return the paths as text with the start and the end of their nodes, in the order of `in_order`."""
    runs = [
        (text, level.inner, level.leaf, level.first + start, level.first + stop)
        for level in levels
        for text, start, stop in level.runs()
    ]
    return [(text, start, stop) for text, _, _, start, stop in sorted(runs)]


def single_paths(levels: Sequence[Level]) -> Iterator[Level]:
    """Yield the levels with one level for each path."""
    for level in levels:
        if not level.named:
            yield level
            continue
        keys = level.source.tokens_of(np.maximum(level.left, level.right))
        for _, start, stop in level.runs():
            nodes = np.arange(start, stop)
            scale = None if level.scale is None else level.scale[nodes]
            path = (*level.path[:-1], keys[start])
            yield replace(level.ordered(nodes), path=path, first=level.first + start, scale=scale, named=False)


# Sums over the values at each path, by document: their tally, and how many have each outcome.


_CELLS: Final = 8
"""Number of cells per document. A cell holds the values of one outcome: exact, close, wrong, missing, spurious, then
those of a wrong type: pairs, gold values only, predicted values only."""
_MISSING, _SPURIOUS, _TYPE_OF_BOTH, _TYPE_OF_GOLD, _TYPE_OF_PREDICTED = range(3, _CELLS)


def by_path(levels: Sequence[Level], documents: int, close: float) -> dict[str, Floats]:
    """Return the sums over each path with leaves or items of lists, per document.

    Items that are leaves count once, as items.

    Args:
        levels: The levels of documents that were compared together.
        documents: Number of documents.
        close: Minimum quality of the outcome "close", in [0, 1].

    Returns:
        The five sums of the tally, then the number of values with each of `OUTCOMES`; shapes (documents, 12).
    """
    inside = _inside_mismatches(levels)
    counted, masses, cells, weights, owner = [], [], [], [], []
    for level in levels:
        gold, predicted, matched = level.node_masks() if level.item else level.leaf_masks()
        counted.append((gold | predicted) & (not (level.item and level.inner)))  # items of `inner` count already
        masses.append(level.masses_of(gold, predicted, matched))
        cells.append(_cells(level, gold, predicted, close, inside))
        weights.append(np.ones(len(level)) if level.scale is None else level.scale)
        owner.append(level.document)
    if not levels:
        return {}
    runs = [(text, np.arange(start, stop)) for text, start, stop in runs_in_order(levels)]
    every, numbers = np.concatenate(counted), dict[str, int]()
    runs = [(text, nodes[every[nodes]]) for text, nodes in runs]
    path = np.repeat(
        [numbers.setdefault(text, len(numbers)) for text, nodes in runs if len(nodes)],
        [len(nodes) for _, nodes in runs if len(nodes)],
    )
    nodes = np.concatenate([nodes for _, nodes in runs])
    row, size = path * documents + np.concatenate(owner)[nodes], len(numbers) * documents
    sums = summed([(row, np.concatenate(masses, axis=1)[:, nodes])], size)
    outcomes = _outcomes(row * _CELLS + np.concatenate(cells)[nodes], np.concatenate(weights)[nodes], size)
    by_number = np.hstack([sums, outcomes]).reshape(len(numbers), documents, -1)
    return dict(zip(numbers, by_number, strict=True))


FIELD_WIDTH: Final = 3
"""Number of columns of `field_counts`."""


def field_counts(levels: Sequence[Level], documents: int) -> dict[str, Floats]:
    """Return how often the fields of matched objects are present, per document.

    Args:
        levels: The levels of documents that were compared together.
        documents: Number of documents.

    Returns:
        By path, in columns: the number of matched pairs of objects at this path; of the pairs of objects that hold this
        field, the number of those in which gold has it, and of those in which only the prediction has it; shapes
        (documents, 3). Paths with zeros only are left out.
    """
    objects = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
    for level in levels:
        if not (level.leaf or level.kind_mismatch):
            objects[level.nodes] = level.paired & (level.gold_kind == Kind.OBJECT)
    masks, weights, owner = [], [], []
    for level in levels:
        gold, predicted, _ = level.node_masks()
        of_map = level.path[-1:] == (STAR,) and not level.named
        held = objects[level.parent] & (not (level.inner or of_map))
        counted = np.stack([objects[level.nodes], gold & held, predicted & ~gold & held])
        masks.append(counted & (len(level.path) <= DEPTH))  # deeper levels share a path
        weights.append(np.ones(len(level)) if level.scale is None else level.scale)
        owner.append(level.document)
    if not levels:
        return {}
    counts, documents_of = np.concatenate(masks, axis=1) * np.concatenate(weights), np.concatenate(owner)
    found: dict[str, Floats] = {}
    for text, start, stop in runs_in_order(levels):
        own = counts[:, start:stop]
        if own.any():
            sums = np.stack([sum_by_index(documents_of[start:stop], row, documents) for row in own], axis=1)
            found[text] = found[text] + sums if text in found else sums
    return found


def scores_by_path(sums: Mapping[str, Sequence[float]], fields: Mapping[str, Sequence[float]]) -> ScoresByPath:
    """Return the scores and outcomes of each path in `sums`.

    For fields, they include the number of matched objects in which gold lacks the field, and the number of these in
    which the prediction lacks it too.

    Args:
        sums: Sums of the columns of `by_path`, by path.
        fields: Sums of the columns of `field_counts`, by path.
    """
    absent: dict[str, tuple[float, float]] = {}
    for path, (_, gold, predicted) in fields.items():
        above, _, key = path.rpartition("/")
        if path and key != "*" and above in fields:
            lacking = max(0.0, fields[above][0] - gold)
            absent[path] = lacking, max(0.0, lacking - predicted)
    return ScoresByPath((path, PathScores.of(counts, *absent.get(path, ()))) for path, counts in sums.items())


def _cells(level: Level, gold: Mask, predicted: Mask, close: float, inside: Mask | None) -> Indices:
    """Return the cell of each node of a level, given which nodes are a gold and a predicted value."""
    cell = (level.quality < 1.0).astype(np.intp) + (level.quality < close)
    if level.leaf or level.kind_mismatch:
        cell[level.kinds_differ] = _TYPE_OF_BOTH
    alone = gold != predicted
    if alone.any():
        mismatched = False if inside is None else inside[level.nodes]
        side = np.where(gold, _MISSING, _SPURIOUS)
        side = np.where(mismatched, np.where(gold, _TYPE_OF_GOLD, _TYPE_OF_PREDICTED), side)
        cell[alone] = side[alone]
    return cell


def _inside_mismatches(levels: Sequence[Level]) -> Mask | None:
    """Return which nodes lie in a value whose counterpart is of another kind; None if there is no such node."""
    if not any(level.kind_mismatch for level in levels):
        return None
    inside = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
    for level in levels:
        differ = level.kinds_differ if level.kind_mismatch else False
        inside[level.nodes] = inside[level.parent] | differ
    return inside


def _outcomes(cells: Indices, weights: Floats, documents: int) -> Floats:
    """Return the sums of the weights of the nodes in each cell as numbers by outcome; shape (documents, 7)."""
    exact, close, wrong, missing, spurious, both, gold, predicted = (
        sum_by_index(cells, weights, documents * _CELLS).reshape(documents, _CELLS).T
    )
    return np.stack([exact, close, wrong, both + gold, both + predicted, missing, spurious], axis=1)
