"""Solidarity: the share of the leaf quality of flat matchings that values reach within their own entries."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from arbitre.comparison.flat import FlatComparison
from arbitre.comparison.levels import sum_by_index
from arbitre.engine import compare_to_levels
from arbitre.engine.columns.column import Column, LeafColumn, ListColumn, ObjectColumn, below_transport
from arbitre.engine.columns.fields import apply_aliases
from arbitre.engine.columns.ragged import counts_of, rank_among_equal, starts_of
from arbitre.engine.solve.solver import QualitySolver
from arbitre.errors import DataError, SolverError
from arbitre.matching import Candidates, catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.distances.base import Distance
    from arbitre.inputs.records import Pair
    from arbitre.schema.nodes import Leaf, Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Places = dict[tuple[int | str, ...], Json]
    """Values of a document by the tokens of their places."""

MAX_CELLS: Final = 1 << 14
"""Maximum number of pairs of different values of one document and path for an optimal matching."""

SHUFFLES: Final = 10
"""Maximum number of times that the values of a document are shuffled for the solidarity by chance."""

COMPARISONS: Final = 32
"""Maximum number of compared copies of documents, if values are shuffled more than once."""

MAX_NODES: Final = 1 << 15
"""Maximum number of nodes of these copies, if values are shuffled more than once."""

MAX_WORK: Final = 1 << 24
"""Maximum number of pairs of values compared in these copies (see `_work`), if values are shuffled more than once."""

MAX_WORK_ONCE: Final = 1 << 26
"""Maximum number of pairs of values compared if values are shuffled once; above this number, they are not shuffled."""

PRODUCT: Final = 1 << 10
"""Product of the lengths of two texts whose comparison takes about twice as long as that of two numbers."""


# The best flat matching: values of a path over whole documents, regardless of the objects and lists that contain them.


@dataclass(frozen=True, eq=False, slots=True)
class FlatMatching:
    """The best flat matching of each document. All arrays have shape (documents,)."""

    gold: Floats
    """Number of gold values."""
    predicted: Floats
    """Number of predicted values."""
    matched: Floats
    """Number of pairs."""
    quality: Floats
    """Sum of the qualities of the pairs."""
    exact: Mask
    """Whether the sum is the largest possible one, up to rounding; otherwise, it is a lower bound."""

    @classmethod
    def of_equal(cls, gold: Indices, predicted: Indices) -> FlatMatching:
        """Return the matching of values that are all equal, given their numbers in each document."""
        pairs = np.minimum(gold, predicted).astype(np.float64)
        exact = np.ones(len(gold), dtype=np.bool_)
        return cls(gold.astype(np.float64), predicted.astype(np.float64), pairs, pairs, exact)


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """Some values of one side: their rows in a column, and the document of each. Shapes (values,)."""

    rows: Indices
    documents: Indices

    def where(self, selected: Mask | Indices) -> Values:
        """Return the selected values, in this order."""
        return Values(self.rows[selected], self.documents[selected])


@dataclass(frozen=True, eq=False, slots=True)
class KnownPairs:
    """Pairs of values of which the quality is known. Shapes (pairs,); a value occurs at most once."""

    gold: Indices
    predicted: Indices
    documents: Indices
    quality: Floats


def match_flat(column: LeafColumn, gold: Values, predicted: Values, documents: int, known: KnownPairs) -> FlatMatching:
    """Return the matching of greatest quality of the gold and the predicted values of each document.

    Values of different kinds are not matched. Equal values are matched first where the distance is a pseudo-metric,
    which keeps the matching optimal. If a document has more than `MAX_CELLS` pairs, equal values are matched first in
    any case. If more pairs remain, the known pairs are kept and the other values are assigned; if there are still more,
    these are sorted and assigned in blocks. A custom distance is not called: the known pairs are kept, and equal values
    are matched among the others.

    Args:
        column: The column of the values.
        gold: The gold values.
        predicted: The predicted values.
        documents: Number of documents.
        known: Good pairs, such as those in the same entry.
    """
    counts = [np.bincount(side.documents, minlength=documents).astype(np.float64) for side in (gold, predicted)]
    matched, quality, exact = np.zeros(documents), np.zeros(documents), np.ones(documents, dtype=np.bool_)
    for members in _comparable(column):
        problems = _Problems.of(column, members, (gold, predicted), documents)
        matched += np.minimum(*problems.counts)
        mass, optimal = (problems.solve_without_calls if problems.distance.custom else problems.solve)(known)
        quality += mass
        exact &= optimal
    return FlatMatching(counts[0], counts[1], matched, quality, exact)


def _comparable(column: LeafColumn) -> list[Mask]:
    """Return masks of the codes that are compared with each other: those of one slot."""
    if column.forms is not None:
        return [np.ones(len(column.values), dtype=np.bool_)]
    return [column.slots == slot for slot in np.unique(column.slots)]


@dataclass(frozen=True, eq=False, slots=True)
class _Problems:
    """One matching problem for each document; the values are sorted by document, then by code."""

    column: LeafColumn
    distance: Distance
    gold: Values
    predicted: Values
    documents: int

    @classmethod
    def of(cls, column: LeafColumn, members: Mask, sides: tuple[Values, Values], documents: int) -> _Problems:
        """Return the problems of the values with these codes."""
        distance = column.leaves[column.slots[members.argmax()]].distance
        ordered = []
        for side in sides:
            own = side.where(members[column.codes[side.rows]])
            ordered.append(own.where(np.lexsort((column.codes[own.rows], own.documents))))
        return cls(column, distance, ordered[0], ordered[1], documents)

    @property
    def counts(self) -> tuple[Indices, Indices]:
        """Number of gold and of predicted values of each document; shapes (documents,)."""
        gold, predicted = (
            np.bincount(side.documents, minlength=self.documents) for side in (self.gold, self.predicted)
        )
        return gold, predicted

    @property
    def large(self) -> Mask:
        """Mask of the documents with more than `MAX_CELLS` pairs."""
        gold, predicted = self.counts
        return gold * predicted > MAX_CELLS

    def solve(self, known: KnownPairs) -> tuple[Floats, Mask]:
        """Return the greatest sum of qualities of each document, and a mask of the exact ones."""
        optimal_first = self.distance.facts.pseudometric and self.column.forms is None
        equal_first = np.ones(self.documents, dtype=np.bool_) if optimal_first else self.large
        quality, rest = self.match_equal(equal_first)
        exact = np.full(self.documents, optimal_first) | ~equal_first
        if self.distance.name == "exact" and optimal_first:
            return quality, exact
        large = rest.large
        if large.any():
            kept, rest = rest.keep(known, large)
            quality += kept
        return quality + rest.assign(), exact & ~large

    def solve_without_calls(self, known: KnownPairs) -> tuple[Floats, Mask]:
        """Return the sum of the qualities of known pairs and equal values, and a mask of the sums that are optimal."""
        every = np.ones(self.documents, dtype=np.bool_)
        quality, rest = self.keep(known, every)
        quality += rest.match_equal(every)[0]
        return quality, quality == np.minimum(*self.counts)

    def keep(self, known: KnownPairs, selected: Mask) -> tuple[Floats, _Problems]:
        """Match the known pairs of the selected documents; return their quality and the problems that remain."""
        own = np.isin(known.gold, self.gold.rows) & np.isin(known.predicted, self.predicted.rows)
        own &= selected[known.documents]
        gold = self.gold.where(~np.isin(self.gold.rows, known.gold[own]))
        predicted = self.predicted.where(~np.isin(self.predicted.rows, known.predicted[own]))
        quality = np.bincount(known.documents[own], weights=known.quality[own], minlength=self.documents)
        return quality.astype(np.float64, copy=False), replace(self, gold=gold, predicted=predicted)

    def match_equal(self, selected: Mask) -> tuple[Floats, _Problems]:
        """Match equal values of the selected documents; return their number and the problems that remain."""
        sides = self.gold, self.predicted
        free = [~selected[side.documents] for side in sides]
        keys = [side.documents * len(self.column.values) + self.column.codes[side.rows] for side in sides]
        ranks = [rank_among_equal(key) for key in keys]  # the keys are increasing
        codes = np.unique(np.concatenate(keys), return_inverse=True)[1]
        width = 1 + max(int(rank.max(initial=0)) for rank in ranks)
        gold, predicted = np.split(codes * width + np.concatenate(ranks), [len(keys[0])])
        free[0] |= ~np.isin(gold, predicted, assume_unique=True)
        free[1] |= ~np.isin(predicted, gold, assume_unique=True)
        quality = np.bincount(self.gold.documents[~free[0]], minlength=self.documents).astype(np.float64)
        return quality, replace(self, gold=self.gold.where(free[0]), predicted=self.predicted.where(free[1]))

    def assign(self) -> Floats:
        """Return the sum of the qualities of the best assignment of each document, or of its blocks."""
        blocks = np.maximum(1, -(-self.counts[0] * self.counts[1] // MAX_CELLS))
        first = starts_of(blocks)
        size = int(first[-1])
        rows, counts = [], []
        for side, totals in zip((self.gold, self.predicted), self.counts, strict=True):
            position = np.arange(len(side.rows), dtype=np.intp) - starts_of(totals)[side.documents]
            block = first[side.documents] + position * blocks[side.documents] // totals[side.documents]
            rows.append(side.rows)
            counts.append(np.bincount(block, minlength=size))
        lists = _lists(self.column, np.concatenate(rows), starts_of(np.concatenate(counts)))
        both = ((counts[0] > 0) & (counts[1] > 0)).nonzero()[0]
        batch = QualitySolver().evaluate(lists, both, both + size)
        documents = np.arange(self.documents, dtype=np.intp).repeat(blocks)[both]
        masses = np.bincount(documents, weights=batch.mass, minlength=self.documents)
        return masses.astype(np.float64, copy=False)


def _lists(items: LeafColumn, rows: Indices, starts: Indices) -> ListColumn:
    """Return lists that are matched by assignment; list r holds the rows `rows[starts[r]:starts[r + 1]]` of `items`."""
    lengths = counts_of(starts)
    lists = ListColumn(
        number=-1,
        path=items.path,
        size=len(lengths),
        parent=None,
        origin=np.arange(len(lengths), dtype=np.intp),
        site=items.site,
        matcher=catalogue.build("hungarian"),
        items=items,
        starts=starts,
        index=rows,
        lengths=lengths,
    )
    lists.sizes = lengths.astype(np.float64)
    lists.expensive_above = min(leaf.distance.expensive_above for leaf in items.leaves)
    return lists


# Sums of documents, and solidarity by chance.


@dataclass(eq=False, slots=True)
class LeafSums:
    """Leaf quality in the entries and in the best flat matching, of documents that were compared together.

    Attributes:
        exact: Mask of the documents whose flat matchings are all optimal; shape (documents,).
        reached: Sum of the qualities of the leaves in their own entries, by wildcard path; shapes (documents,).
        flat: Sums of the flat matching by wildcard path: gold, predicted, matched, quality; shapes (4, documents).
        transported: Paths whose leaves are matched by transport.
    """

    exact: Mask
    reached: dict[str, Floats] = field(default_factory=dict)
    flat: dict[str, Floats] = field(default_factory=dict)
    transported: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, levels: Sequence[Level], documents: int, close: float) -> LeafSums:
        """Return the sums of documents.

        Args:
            levels: The levels of the documents.
            documents: Number of documents.
            close: Minimum quality of pairs in the same entry that an approximate matching keeps.
        """
        sums = cls(np.ones(documents, dtype=np.bool_))
        columns: dict[int, list[Level]] = {}
        for level in levels:
            columns.setdefault(id(level.source), []).append(level)
        for group in columns.values():
            sums._add(group, close)
        return sums

    def _add(self, levels: Sequence[Level], close: float) -> None:
        """Add the leaves of a column, given its levels."""
        paths: dict[str, int] = {}
        size = len(self.exact)
        sides: tuple[list[tuple[Indices, Indices]], list[tuple[Indices, Indices]]] = [], []
        reached: list[tuple[Indices, Floats]] = []
        for level in levels:
            gold, predicted, matched = level.leaf_masks()
            if not (gold.any() or predicted.any()):
                continue
            problems = _path_numbers(level, paths) * size + level.document
            for side, rows, mask in zip(sides, (level.left, level.right), (gold, predicted), strict=True):
                side.append((rows[mask], problems[mask]))
            reached.append((problems, level.masses_of(gold, predicted, matched)[3]))
        if not paths:
            return
        shape, source = (len(paths), size), levels[0].source
        if isinstance(source, Column) and below_transport(source):
            self.transported |= paths.keys()
        leaves = [_distinct(side) for side in sides]
        if isinstance(source, LeafColumn):
            flat = match_flat(source, leaves[0], leaves[1], len(paths) * size, _known(levels, paths, size, close))
        else:
            counts = [np.bincount(side.documents, minlength=len(paths) * size) for side in leaves]
            flat = FlatMatching.of_equal(counts[0], counts[1])
        problems, qualities = (np.concatenate(arrays) for arrays in zip(*reached, strict=True))
        own = sum_by_index(problems, qualities, len(paths) * size).reshape(shape)
        judged = isinstance(source, LeafColumn) and any(leaf.distance.judge is not None for leaf in source.leaves)
        trusted = flat.exact & (not judged)  # a judge is asked about matched values only
        quality = np.where(trusted, flat.quality, np.maximum(flat.quality, own.ravel()))
        self.exact &= flat.exact.reshape(shape).all(axis=0)
        sums = np.stack([flat.gold, flat.predicted, flat.matched, quality]).reshape(4, *shape)
        for path, number in paths.items():
            self.flat[path] = self.flat.get(path, np.zeros((4, size))) + sums[:, number]
            self.reached[path] = self.reached.get(path, np.zeros(size)) + own[number]

    def sums_of(self, document: int) -> dict[str, list[float]]:
        """Return the sums of a document by path, as `FlatComparison.of` takes them, except paths without leaves."""
        sums = {
            path: [float(self.reached[path][document]), *masses[:, document].tolist()]
            for path, masses in self.flat.items()
        }
        return {path: masses for path, masses in sums.items() if masses[1] or masses[2]}

    def comparison(self, document: int) -> FlatComparison:
        """Return the flat comparison of a document."""
        exact = bool(self.exact[document])
        return FlatComparison.of(self.sums_of(document), transported=self.transported, exact=exact)

    def parts_of(self, document: int) -> dict[str, Any]:
        """Return the fields of `Diagnosis` on the flat comparison of a document."""
        comparison = self.comparison(document)
        return {part.name: getattr(comparison, part.name) for part in fields(FlatComparison)}


@dataclass(frozen=True, slots=True)
class FlatObserver:
    """Corpus observer that records the sums of the flat comparison of each document."""

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return the sums of each document, as `FlatTotals.add` takes them."""
        sums = LeafSums.of(levels, len(pairs), self.plan.close)
        return [
            {
                "sums": own,
                "transported": sorted(sums.transported & own.keys()),
                "exact": bool(sums.exact[document]),
            }
            for document in range(len(pairs))
            for own in [sums.sums_of(document)]
        ]


def solidarity_by_chance(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level] | None = None,
    observed: LeafSums | None = None,
) -> dict[str, Any]:
    """Return the fields of `FlatComparison` on the solidarity by chance, pooled over documents.

    The predicted values of each path of a document are shuffled, which keeps the flat matching, and the documents are
    compared again. There is no chance value with custom distances, which are not called again, nor for documents that
    would take too long to compare.

    Args:
        plan: The compiled schema.
        gold: The gold documents.
        predicted: The predicted documents.
        levels: The levels of these documents, if they have been compared together.
        observed: The sums of these levels, if they are known.
    """
    if any(leaf is not None and leaf.distance.custom for site in plan.sites for leaf in _leaves(site)):
        return {}
    try:
        if levels is None:
            levels = compare_to_levels(plan, gold, predicted)
        places, nodes = _value_places(levels), sum(map(len, levels))
        times = max(1, min(SHUFFLES, COMPARISONS // max(1, len(gold)), MAX_NODES // max(1, nodes)))
        if all(len(own) == 1 for _, own in places):  # there is nothing to shuffle
            sums, same = LeafSums.of(levels, len(gold), plan.close) if observed is None else observed, times
        else:
            work = _work(levels)
            if work > MAX_WORK_ONCE:
                return {}
            times = max(1, min(times, int(MAX_WORK / max(1.0, work))))
            generator, read = np.random.default_rng(0), _with_aliases(predicted, levels)
            shuffled = [document for _ in range(times) for document in _shuffled(read, places, generator)]
            compared = compare_to_levels(plan, [*gold] * times, shuffled)
            sums, same = LeafSums.of(compared, len(shuffled), plan.close), 1
    except (DataError, SolverError):  # a document cannot be compared, or values are not valid in their new place
        return {}
    pooled = {
        path: [math.fsum(values.tolist() * same) for values in (sums.reached[path], *masses)]
        for path, masses in sums.flat.items()
    }
    chance = FlatComparison.of(pooled, transported=sums.transported)
    return {"solidarity_chance": chance.solidarity, "solidarity_chance_by_path": chance.solidarity_by_path}


def _work(levels: Sequence[Level]) -> float:
    """Return an estimate of the number of pairs of values that are compared once the values are shuffled.

    After the shuffle, few items are equal. Therefore, in lists whose matcher can match any two items, each gold value
    of a path is assumed to be compared with each predicted value. Elsewhere, only the flat matching compares values, so
    the number is limited to the number of values plus `MAX_CELLS`. A pair of texts counts more, in proportion to the
    product of their mean lengths.
    """
    total = 0.0
    for level in levels:
        column = level.source
        if not (level.leaf and isinstance(column, LeafColumn)):
            continue
        exact = all(leaf.distance.name == "exact" for leaf in column.leaves)
        everywhere = _matches_any(column, exact=exact)
        for _, start, stop in level.runs():
            documents, own = np.unique(level.document[start:stop], return_inverse=True)
            counts, lengths = [], []
            for side in (level.left, level.right):
                here = side[start:stop] >= 0
                rows = side[start:stop][here].tolist()
                texts = [0 if exact or not isinstance(value := column.raw[row], str) else len(value) for row in rows]
                counts.append(np.bincount(own[here], minlength=len(documents)))
                lengths.append(np.bincount(own[here], weights=texts, minlength=len(documents)))
            pairs = counts[0].astype(np.float64) * counts[1]
            compared = pairs if everywhere else np.minimum(pairs, counts[0] + counts[1] + MAX_CELLS)
            product = lengths[0] * lengths[1] / np.maximum(1.0, pairs)
            total += float((compared * (1.0 + product / PRODUCT)).sum())
    return total


def _matches_any(column: Column, *, exact: bool) -> bool:
    """Return whether the values of a column are inside a list whose matcher can match any two items.

    If the values are compared exactly, a list that contains them directly does not count, because its equal items are
    found without comparing pairs.
    """
    if exact and isinstance(column.parent, ListColumn):
        column = column.parent
    while column.parent is not None:
        above = column.parent
        if isinstance(above, ListColumn) and above.items is column and above.matcher.candidates is Candidates.ALL:
            return True
        column = above
    return False


def _leaves(site: Site) -> Iterator[Leaf | None]:
    """Yield every way in which single values at a position of the schema are compared."""
    yield from (site.leaf, site.other)
    yield from (branch.leaf for branches in site.scalars.values() for branch in branches)


def _with_aliases(predicted: Sequence[Json], levels: Sequence[Level]) -> list[Json]:
    """Return copies of the predicted documents, with the values of aliases under the names of their fields."""
    roots = [[_copy(document)] for document in predicted]
    for level in levels:
        column = level.source
        if isinstance(column, ObjectColumn) and (aliases := column.site.object.aliases):
            here = level.right >= 0
            for row, document in zip(level.right[here].tolist(), level.document[here].tolist(), strict=True):
                *above, last = 0, *column.address(row)
                holder = reduce(getitem, above, cast("Any", roots[document]))
                holder[last] = apply_aliases(holder[last], aliases)
    return [root[0] for root in roots]


def _copy(document: Json) -> Json:
    """Return a copy of a document of any depth; `copy.deepcopy` is recursive."""
    root: list[Any] = [document]
    unread: list[Any] = [root]
    while unread:
        holder = unread.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            if isinstance(holder[key], dict | list):
                holder[key] = holder[key].copy()
                unread.append(holder[key])
    copied: Json = root[0]
    return copied


def _value_places(levels: Sequence[Level]) -> list[tuple[int, Places]]:
    """Return the document and the places of the predicted single values of each path and document."""
    places: defaultdict[tuple[int, str], Places] = defaultdict(dict)
    for level in levels:
        if level.leaf and isinstance(level.source, Column):
            for text, start, stop in level.runs():
                rows, documents = level.right[start:stop], level.document[start:stop].tolist()
                for row, document in zip(rows.tolist(), documents, strict=True):
                    if row >= 0 and (address := level.source.address(row)):
                        places[document, text][address] = level.source.raw[row]
    return [
        (key[0], {address: places[key][address] for address in sorted(places[key], key=str)}) for key in sorted(places)
    ]


def _shuffled(
    documents: Sequence[Json], places: Sequence[tuple[int, Places]], generator: np.random.Generator
) -> list[Json]:
    """Return copies of documents with the values of each path shuffled.

    A missing key that counts as null is shuffled as null.
    """
    copies = [_copy(document) for document in documents]
    for document, own in places:
        values = list(own.values())
        for address, place in zip(own, generator.permutation(len(values)), strict=True):
            holder = reduce(getitem, address[:-1], cast("Any", copies[document]))
            holder[address[-1]] = values[place]
    return copies


def _path_numbers(level: Level, paths: dict[str, int]) -> Indices:
    """Return the number of the path of each node; new paths are added to `paths`."""
    numbers = np.zeros(len(level), dtype=np.intp)
    for text, start, stop in level.runs():
        numbers[start:stop] = paths.setdefault(text, len(paths))
    return numbers


def _known(levels: Sequence[Level], paths: dict[str, int], size: int, close: float) -> KnownPairs:
    """Return the matched pairs that are at least close."""
    parts = []
    for level in levels:
        at = (level.leaf_masks()[2] & (level.quality >= close)).nonzero()[0]
        if len(at):
            problems = _path_numbers(level, paths) * size + level.document
            parts.append((level.left[at], level.right[at], problems[at], level.quality[at]))
    if not parts:
        empty = np.empty(0, dtype=np.intp)
        return KnownPairs(empty, empty, empty, np.empty(0))
    return KnownPairs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _distinct(parts: Sequence[tuple[Indices, Indices]]) -> Values:
    """Join rows and their documents; a row that transport divides among several nodes counts once."""
    rows, documents = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    distinct, first = np.unique(rows, return_index=True)
    return Values(distinct, documents[first])
