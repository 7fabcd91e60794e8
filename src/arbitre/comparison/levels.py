"""The result of comparing as records in columns: one level for every path, one record for every node compared there.

A record is a matched pair of nodes, or a node of one side that has no partner. Records know the record above them, so
the levels are the explanation tree of all the documents that were compared together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from arbitre.paths import wildcard
from arbitre.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.paths import Path
    from arbitre.values import Json

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.int8]
Masses = tuple[Floats, Floats, Floats, Floats, Floats]
"""What records add to the parts of a tally: gold, predicted, matched, quality, quality_sq."""


class Traced(Protocol):
    """What was compared, from which the levels are worked out when they are asked for."""

    def levels(self, down_to: Path | None = None) -> tuple[Level, ...]:
        """The levels; only those on the way to `down_to`, and directly below it, where that is given."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Stored:
    """Levels that are known already."""

    known: tuple[Level, ...]

    def levels(self, down_to: Path | None = None) -> tuple[Level, ...]:  # noqa: ARG002  (more than asked for is fine)
        return self.known


class Source(Protocol):
    """Where the nodes of a level come from: looked up only when somebody asks what stood there."""

    def tokens_of(self, rows: Indices) -> list[int | str]:
        """The key or position of each row in what holds it; rows are never negative. Empty texts at the root."""
        ...

    def values_of(self, rows: Indices) -> list[Json]:
        """The value of each row, as it was read; rows are never negative."""
        ...

    def kinds_at(self, rows: Indices) -> Kinds:
        """The kind of each row; NONE for a negative row."""
        ...


NONE = -1
"""In `Level.gold_kind` and `predicted_kind`: no node on this side. In `Level.parent`: no record above."""


_text = lru_cache(maxsize=1024)(wildcard)


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """The records of one path; all arrays have shape (records,).

    * `first`: the number of the first record; they are numbered through all levels.
    * `parent`: the number of the record above; `weight`: what the node weighs in it.
    * `leaf`: the nodes are compared as one value each; `item`: they are items of a list.
    * `clash`: the records pair nodes of different kinds, each described by an inner record below for either side.
    * `inner`: the record describes the same node as its parent, one side of a pair of different kinds.
    * `left`, `right`: the rows of `source` on the gold and on the predicted side, or -1.
    * `quality`: of the pair, 0 where there is none.
    * `gold`, `predicted`, `matched`, `mass`: the tally of an object or a list (zero for leaves).
    * `share`: how much of the node the record speaks of, where mass is moved between lists; `scale`: how much of it
      counts, which is its share of what counts above. None where that is 1 for all.
    * `document`: which of the documents compared together.
    """

    path: Path
    leaf: bool
    item: bool
    clash: bool
    inner: bool
    weight: float
    first: int
    parent: Indices
    document: Indices
    source: Source
    left: Indices
    right: Indices
    quality: Floats
    gold: Floats
    predicted: Floats
    matched: Floats
    mass: Floats
    share: Floats | None = None
    scale: Floats | None = None

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def text(self) -> str:
        """The wildcard path as text."""
        return _text(self.path)

    @property
    def gold_kind(self) -> Kinds:
        """The kind of each record's node on the gold side, or NONE."""
        return self.source.kinds_at(self.left)

    @property
    def predicted_kind(self) -> Kinds:
        """The kind of each record's node on the predicted side, or NONE."""
        return self.source.kinds_at(self.right)

    @property
    def paired(self) -> Mask:
        both: Mask = (self.left >= 0) & (self.right >= 0)
        return both

    def leaf_masses(self) -> Masses:
        """What each record adds to the tally of leaves: gold, predicted, matched, quality, quality_sq.

        A leaf is a value compared as one, or an object or list that is present but empty. Leaves of different kinds
        are not matched.
        """
        gold, predicted = self.left >= 0, self.right >= 0
        if self.leaf:
            matched = gold & predicted & (self.gold_kind == self.predicted_kind)
        else:
            gold = gold & (self.gold == 0.0) & (not self.clash)
            predicted = predicted & (self.predicted == 0.0) & (not self.clash)
            matched = gold & predicted
        return self._counted(gold, predicted, matched)

    def node_masses(self) -> Masses:
        """What each record adds to the tally of its path's nodes: gold, predicted, matched, quality, quality_sq."""
        gold, predicted = self.left >= 0, self.right >= 0
        return self._counted(gold, predicted, gold & predicted)

    def _counted(self, gold: Mask, predicted: Mask, matched: Mask) -> Masses:
        quality = np.where(matched, self.quality, 0.0)
        ones = gold.astype(np.float64), predicted.astype(np.float64), matched.astype(np.float64)
        return self.scaled((*ones, quality, quality * quality))

    def counts(self, records: Mask) -> Floats:
        """How much of these records counts; shape (records that are true,)."""
        return np.ones(int(np.count_nonzero(records))) if self.scale is None else self.scale[records]

    def scaled(self, masses: Masses) -> Masses:
        """What masses of the records count for."""
        scale = self.scale
        if scale is None:
            return masses
        gold, predicted, matched, quality, squares = (mass * scale for mass in masses)
        return gold, predicted, matched, quality, squares


def joined(parts: Sequence[Level]) -> Iterator[Level]:
    """The levels of one path with those that follow each other and differ in their records alone made one."""
    if len(parts) == 1:
        yield parts[0]
        return
    for _, alike in groupby(parts, key=lambda level: (level.weight, level.leaf, level.clash, level.inner)):
        levels = list(alike)
        first = levels[0]
        if len(levels) > 1:
            first = replace(
                first,
                parent=np.concatenate([level.parent for level in levels]),
                document=np.concatenate([level.document for level in levels]),
                left=np.concatenate([level.left for level in levels]),
                right=np.concatenate([level.right for level in levels]),
                quality=np.concatenate([level.quality for level in levels]),
                gold=np.concatenate([level.gold for level in levels]),
                predicted=np.concatenate([level.predicted for level in levels]),
                matched=np.concatenate([level.matched for level in levels]),
                mass=np.concatenate([level.mass for level in levels]),
                share=_joined_shares(levels),
            )
        yield first


def _joined_shares(levels: Sequence[Level]) -> Floats | None:
    if all(level.share is None for level in levels):
        return None
    return np.concatenate([np.ones(len(level)) if level.share is None else level.share for level in levels])


def with_scales(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The levels, parents before children, with the scale that follows from the shares."""
    if all(level.share is None for level in levels):
        return tuple(levels)
    scales = np.ones(sum(map(len, levels)) + 1)  # the last one stands for no record
    found = []
    for level in levels:
        scale = scales[level.parent] if level.share is None else scales[level.parent] * level.share
        scales[level.first : level.first + len(level)] = scale
        found.append(replace(level, scale=scale))
    return tuple(found)


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """Tallies of several documents: each array has shape (documents,)."""

    gold: Floats
    predicted: Floats
    matched: Floats
    quality: Floats
    quality_sq: Floats

    def tally(self, document: int) -> Tally:
        return Tally(
            float(self.gold[document]),
            float(self.predicted[document]),
            float(self.matched[document]),
            float(self.quality[document]),
            float(self.quality_sq[document]),
        )

    def tallies(self) -> list[Tally]:
        """The tally of every document."""
        masses = (self.gold, self.predicted, self.matched, self.quality, self.quality_sq)
        return [Tally(*row) for row in zip(*(mass.tolist() for mass in masses), strict=True)]


def _summed(parts: Sequence[tuple[Indices, Masses]], documents: int) -> Sums:
    """The sums per document of records, added one by one: how levels divide them does not show in the last digit."""
    if len(parts) == 1:
        document, masses = parts[0]
        return Sums(*(_added(document, mass, documents) for mass in masses))
    document = np.concatenate([np.empty(0, dtype=np.intp), *(document for document, _ in parts)])
    columns = (np.concatenate([np.empty(0), *(masses[number] for _, masses in parts)]) for number in range(5))
    return Sums(*(_added(document, column, documents) for column in columns))


def _added(index: Indices, masses: Floats, size: int) -> Floats:
    return np.bincount(index, weights=masses, minlength=size).astype(np.float64, copy=False)


def by_path(levels: Sequence[Level], documents: int) -> dict[str, Sums]:
    """The tallies of every path with leaves, and of the items of every list, per document; in document order.

    Items that are leaves are counted once, as items.
    """
    parts: dict[str, list[tuple[Indices, Masses]]] = {}
    for level in _in_order(levels):
        if level.item and level.inner:
            continue  # one side of items counted already
        masses = level.node_masses() if level.item else level.leaf_masses()
        if masses[0].any() or masses[1].any():
            parts.setdefault(level.text, []).append((level.document, masses))
    return {path: _summed(found, documents) for path, found in parts.items()}


def leaves(levels: Sequence[Level], documents: int) -> Sums:
    """The tally of all leaves, per document."""
    return _summed([(level.document, level.leaf_masses()) for level in _in_order(levels)], documents)


def of_nodes(levels: Sequence[Level], path: str, documents: int) -> Sums:
    """The sum of the tallies of the objects and lists at one path, per document.

    A leaf there counts as an object of one field would: itself.
    """
    squares = squared_masses(levels)
    parts: list[tuple[Indices, Masses]] = []
    for level in _in_order(levels):
        if level.text == path and level.leaf:
            parts.append((level.document, level.leaf_masses()))
        elif level.text == path:
            square = squares[level.first : level.first + len(level)]
            masses = level.scaled((level.gold, level.predicted, level.matched, level.mass, square))
            parts.append((level.document, masses))
    return _summed(parts, documents)


def root_qualities(levels: Sequence[Level], documents: int) -> Floats:
    """The quality of the root of every document, 1 where there is nothing on either side; shape (documents,)."""
    qualities = np.ones(documents)
    for level in levels:
        roots = (level.parent == NONE) & (not level.inner)
        qualities[level.document[roots]] = level.quality[roots]
    return qualities


def pair_qualities(levels: Sequence[Level], path: str) -> tuple[Floats, Floats, Indices]:
    """The pairs directly below the nodes at a path: quality, what it weighs, document; each of shape (pairs,).

    A leaf at the path is its own pair, as in `of_nodes`: the qualities times the weights add up to its tally.
    """
    above = [np.arange(level.first, level.first + len(level)) for level in levels if level.text == path]
    wanted = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last one stands for no record
    for numbers in above:
        wanted[numbers] = True
    qualities, weights, documents = [np.empty(0)], [np.empty(0)], [np.empty(0, dtype=np.intp)]
    for level in _in_order(levels):
        if level.leaf and level.text == path:
            matched = level.leaf_masses()[2] > 0.0
            qualities.append(level.quality[matched])
            weights.append(level.counts(matched))
            documents.append(level.document[matched])
        here = level.paired & wanted[level.parent]
        if not level.inner and here.any():
            qualities.append(level.quality[here])
            weights.append(level.weight * level.counts(here))
            documents.append(level.document[here])
    return np.concatenate(qualities), np.concatenate(weights), np.concatenate(documents)


def squared_masses(levels: Sequence[Level]) -> Floats:
    """For every record, the sum over the pairs directly below of weight x quality²; shape (all records,)."""
    parents, squares = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for level in levels:
        if not level.inner:
            below = level.parent != NONE
            parents.append(level.parent[below])
            share = 1.0 if level.share is None else level.share
            squares.append((level.weight * share * level.quality * level.quality)[below])
    return _added(np.concatenate(parents), np.concatenate(squares), sum(map(len, levels)))


def _in_order(levels: Sequence[Level]) -> Iterator[Level]:
    """The levels in an order that depends on the paths alone, so that sums come out the same in any batch."""
    return iter(sorted(levels, key=lambda level: (level.text, level.inner, level.leaf, level.first)))
