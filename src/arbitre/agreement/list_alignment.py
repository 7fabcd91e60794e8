"""Alignments of the items of many lists, in bounded memory; long lists compare only the items that matter.

`align_lists` compares the items and passes their distances to `alignment.align`. Some items must not be aligned: those
that the matching of the schema keeps apart (`_Gate`), and, for a consensus, those that stand for different things
(`Identity`). Their distances are raised until they cost less alone. `Identity` decides by the evidence of the fields of
the items (`Evidence`), which it estimates from a sample of pairs (`_Sample`). `_aligned` compares all items of short
lists, and `_LongLists` few of those of long ones. If the evidence decides, all items of long lists are compared too.

A *table* contains the distances between the items of two annotators i < j in one unit; shape (items of i, items of j).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.alignment import NONE, UnitAlignment, align
from arbitre.engine.batch_comparison import CHUNK_CELLS, pair_qualities
from arbitre.engine.columns.column import LeafColumn, ListColumn, ObjectColumn
from arbitre.engine.columns.ragged import chunks, cross_slices, starts_of
from arbitre.engine.columns.row_keys import row_codes
from arbitre.engine.solve.batches import DEFAULT_LIMITS
from arbitre.engine.solve.lazy_matching import MatchingProblems, solve_lazily
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.solve.transport_matching import leaf_counts
from arbitre.matching import Candidates
from arbitre.matching.assignment import hungarian, sequence

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Column, Link
    from arbitre.engine.solve.batches import CellLimits
    from arbitre.matching.builtin_matchers import CouplingFunction, Matcher

    Pair = tuple[int, int]
    """Positions of two annotators i < j."""

    Tables = Mapping[Pair, Floats]
    """Distances between the items of each pair of annotators; each of shape (items of i, items of j)."""

UNMATCHED: Final = 0.5
"""Distance assigned to a missing item. With two annotators, the disorder of a list is then 1 - f1q."""

BLOCK_CELLS: Final = 1 << 22
"""Maximum number of pairs of single values in the lists that are compared at a time; limits memory."""

LAZY_BLOCK_CELLS: Final = 1 << 26
"""Maximum number of pairs of single values in long lists, of which only few are compared."""

_MARGIN: Final = 1e-6
"""Difference of distances that is added or left out so that a comparison does not depend on rounding."""

LEAST_PAIRS: Final = 20
"""Minimum number of pairs of different items for an estimate of their similarity."""

MOST_PAIRS: Final = 5_000
"""Approximate maximum number of pairs of different items that are compared, and of pairs of items of two annotators. At
least one list, or one pair of lists, is always used in full."""

SAME: Final = 0.4
"""Position of the minimum quality of items that count as the same, between the mean quality of different items (0) and
the median quality of matched items (1)."""

USUAL_QUALITY: Final = 0.5
"""Minimum quality of items that count as the same, if there are too few pairs for an estimate."""

FIELD_LEVELS: Final = (1e-9, 0.5, 0.8, 1.0 - 1e-9)
"""Minimum quality of each level except the lowest. The levels of a field are counted separately as evidence."""

SURE: Final = 6.0
"""Maximum absolute log odds of two items. It limits how much the evidence from one pair of annotators can outweigh that
from the others."""

UNSEEN: Final = 0.2
"""Number of observations that are added to each level, because rare levels may not occur in the sample."""

MOST_SHARED: Final = 0.99
"""Maximum share of the items of a list that another list is expected to have; the estimate may exceed 1."""

MAX_STEPS: Final = 50
"""Maximum number of steps of expectation maximisation."""

CONVERGED: Final = 1e-3
"""Change of the weights below which expectation maximisation ends."""

MAX_KNOWN_CELLS: Final = 256
"""Maximum number of distances of lists whose alignment is kept for lists with the same distances."""


def align_lists(
    column: ListColumn,
    lists: Indices,
    *,
    search: bool = True,
    identify: bool = False,
    complete: bool = False,
    limits: CellLimits = DEFAULT_LIMITS,
) -> list[UnitAlignment]:
    """Align the items of lists.

    The matching of the schema is honoured: items with the same key, at the same position or with the same value are
    aligned, and only these, if the list is matched by a key, by position or as a set; items below the gate of the list
    stay apart unless an item of another annotator is similar to both. Other matchings are used as they are, except
    transport, which may split items: it is replaced with the optimal alignment.

    For a consensus (`identify`), only items that stand for the same thing are aligned: those with the same key if the
    schema matches items by a key, or else items whose quality is high enough, on average over the pairs of annotators
    (see `Identity`). Equal items always stand for the same thing, even if the schema gives them a lower quality,
    such as lists whose items lack their key. If the schema matches items by position, those at the same position stand
    for the same thing. If the schema keeps the order of the items (`sequence`), so does the alignment.

    If the matching keeps the order of the items (see `keeps_order`), the unitary alignments are in this order.

    Args:
        column: The column of the lists.
        lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
        search: See `align`.
        identify: Whether to align only items that stand for the same thing.
        complete: Whether to align items at distance 1 too; by default, they stay alone.
        limits: Sizes at which the method changes.

    Returns:
        The alignment of the items of each unit.
    """
    if column.items is None:
        return []
    pairs = list(combinations(range(lists.shape[1]), 2))
    lengths, values = (np.append(each, 0)[lists] for each in (column.lengths, leaf_counts(column)))
    cells = np.sum([values[:, i] * values[:, j] for i, j in pairs], axis=0)
    matcher = column.matcher
    gated: _Gate | Identity | None
    if identify and matcher.candidates is not Candidates.DIAGONAL:
        gated = Identity.of_lists(column, column.items, lists)
    else:
        gated = _Gate.of_matching(column, lists, complete=complete)
    lazy = np.max([lengths[:, i] * lengths[:, j] for i, j in pairs], axis=0) >= limits.lazy
    if isinstance(gated, Identity) and gated.evidence is not None:
        lazy[:] = False  # lazy matching would need lower bounds of the distances by evidence
    couple: CouplingFunction = hungarian
    own = matcher.candidates is Candidates.ALL and not (matcher.full_matching or matcher.gate or matcher.transport)
    if own and not identify:
        couple, lazy = matcher.couple, np.zeros_like(lazy)
    elif matcher.couple is sequence:
        couple = sequence
    known: dict[tuple[Hashable, ...], UnitAlignment] = {}
    alignments: list[UnitAlignment | None] = [None] * len(lists)
    for which, limit in (((~lazy).nonzero()[0], BLOCK_CELLS), (lazy.nonzero()[0], LAZY_BLOCK_CELLS)):
        for block in chunks(cells[which].astype(np.intp), limit):
            units = which[block]
            if limit == BLOCK_CELLS:
                aligned = _aligned(
                    column, column.items, lists[units], known, gated and gated.of(units), search=search, couple=couple
                )
            else:
                aligned = _LongLists(column, column.items, lists[units], gated and gated.of(units)).aligned(
                    search=search, couple=couple
                )
            for unit, alignment in zip(units.tolist(), aligned, strict=True):
                alignments[unit] = _by_position(alignment) if matcher.candidates is Candidates.DIAGONAL else alignment
    return [alignment for alignment in alignments if alignment is not None]


def _by_position(alignment: UnitAlignment) -> UnitAlignment:
    """Return an alignment of items at the same position with its unitary alignments sorted by position."""
    return replace(alignment, unitary=alignment.unitary[alignment.unitary.max(axis=1).argsort()])


def keeps_order(matcher: Matcher) -> bool:
    """Return whether the alignments of a matching keep the order of the items."""
    return matcher.candidates is Candidates.DIAGONAL or matcher.couple is sequence


def item_codes(column: ListColumn, items: Column) -> Indices:
    """Return a code for each item of the lists of a column, the same for equal items; see `row_codes`."""
    return row_codes(items)[column.rows(np.arange(column.starts[-1], dtype=np.intp))]


@dataclass(frozen=True, eq=False, slots=True)
class _Gate:
    """Raises the distances of items that must not be aligned, so that leaving them unaligned costs less.

    Attributes:
        column: The column of the lists.
        lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
        least: Minimum quality of items that may be aligned.
        keys: Code of the key or the position of each item of the column; -1 for an item without key. None if all items
            may be aligned.
        largest: Factor of the distances; below 1, items at distance 1 may be aligned.
    """

    column: ListColumn
    lists: Indices
    least: float
    keys: Indices | None
    largest: float = 1.0

    @classmethod
    def of_matching(cls, column: ListColumn, lists: Indices, *, complete: bool) -> _Gate | None:
        """Return the gate of a list, or None if only the distances decide; see `align_lists`."""
        least, keys = column.matcher.gate or 0.0, column.match_keys
        if column.matcher.candidates is Candidates.DIAGONAL:
            keys = np.arange(column.starts[-1], dtype=np.intp) - column.starts[:-1].repeat(column.lengths)
        elif column.matcher.candidates is Candidates.ALL and not (column.matcher.gate or complete):
            return None
        return cls(column, lists, least, keys, largest=1.0 - _MARGIN if complete else 1.0)

    def of(self, units: Indices) -> _Gate:
        """Return the gate of some of the units."""
        return replace(self, lists=self.lists[units])

    def applied(self, unit: int, tables: Tables) -> Tables:
        """Return the distances of the items of a unit, raised for items that must not be aligned.

        Lower bounds stay lower bounds.

        Args:
            unit: Position of the unit in `lists`.
            tables: Distances of its items.
        """
        # So distant that a unitary alignment with such a pair costs more than its items alone.
        apart = (len(tables) + 1) * UNMATCHED + _MARGIN
        rows = self.lists[unit].tolist()
        keys = [_of_items(self.column, self.keys, row) for row in rows]
        gated = {}
        for (i, j), table in tables.items():
            near = np.where(1.0 - table < self.least, apart, table * self.largest)
            gated[i, j] = _by_key(keys[i], keys[j], near if self.keys is None else apart, table / 2.0, apart)
        return gated


def _of_items(column: ListColumn, codes: Indices | None, row: int) -> Indices:
    """Return the code of each item of a list; -1 for all if there are no codes."""
    if row == NONE:
        return np.empty(0, dtype=np.intp)
    start, stop = column.starts[row], column.starts[row + 1]
    return np.full(stop - start, -1, dtype=np.intp) if codes is None else codes[start:stop]


def _by_key(own: Indices, other: Indices, unkeyed: Floats | float, same: Floats, apart: float) -> Floats:
    """Return the distances of the items of two lists by their keys; shape (own items, other items).

    Args:
        own: Code of the key of each item of the first list; -1 for an item without key.
        other: The same for the second list.
        unkeyed: Distances of two items without key.
        same: Distances of items with the same key.
        apart: Distance of all others.
    """
    neither = (own < 0)[:, None] & (other < 0)
    return np.where(neither, unkeyed, np.where(own[:, None] == other, same, apart))


class _Sample:
    """Pairs of items that are different, and pairs of items of two annotators that may be the same.

    Two items in one list of one annotator are different, unless they are equal. All pairs of the selected lists are
    used, because a small sample would not show how rarely different items agree.

    Attributes:
        different: Rows of the items of the first pairs; shape (2, pairs).
        crossed: Rows of the items of the others: all pairs of items of some pairs of lists; shape (2, pairs).
        sizes: Lengths of these lists; shape (pairs of lists, 2).
    """

    def __init__(self, column: ListColumn, lists: Indices, codes: Indices) -> None:
        """Choose the pairs.

        Args:
            column: The column of the lists.
            lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
            codes: Code of each item of the column, the same for equal items.
        """
        lengths, starts = column.lengths, column.starts[:-1]
        within = _thinned((lengths > 1).nonzero()[0], max(1, int(2 * MOST_PAIRS / max(1.0, _mean_square(lengths)))))
        owner, rows, columns = cross_slices(lengths[within], lengths[within])
        left, right = starts[within][owner] + rows, starts[within][owner] + columns
        places = ((rows < columns) & (codes[left] != codes[right])).nonzero()[0]
        self.different = column.rows(np.array([left[places], right[places]]))
        pairs = np.concatenate([lists[:, pair] for pair in combinations(range(lists.shape[1]), 2)])
        lengths = np.append(column.lengths, 0)[pairs]
        pairs = pairs[lengths.min(axis=1) > 0]
        pairs = _thinned(pairs, max(1, int(MOST_PAIRS * len(pairs) / max(1, lengths.prod(axis=1).sum()))))
        self.sizes, starts = column.lengths[pairs], column.starts[pairs]
        self.owner, rows, columns = cross_slices(self.sizes[:, 0], self.sizes[:, 1])
        self.crossed = column.rows(np.array([starts[self.owner, 0] + rows, starts[self.owner, 1] + columns]))

    def matched(self, qualities: Floats) -> Mask:
        """Return which of the crossed pairs are matched, if only two annotators are compared at a time.

        Args:
            qualities: Quality of each crossed pair; shape (pairs,).
        """
        found = np.zeros(len(qualities), dtype=np.bool_)
        for shape, start in zip(self.sizes.tolist(), starts_of(self.sizes.prod(axis=1)).tolist(), strict=False):
            matching = hungarian(qualities[start : start + shape[0] * shape[1]].reshape(shape))
            found[start + matching.gold * shape[1] + matching.predicted] = True
        return found


def _mean_square(lengths: Indices) -> float:
    """Return the mean square of the lengths of lists of several items; 0 for none."""
    several = lengths[lengths > 1]
    return float((several * several).mean()) if len(several) else 0.0


def _thinned(rows: Indices, most: int) -> Indices:
    """Return at most this number of rows, evenly spaced."""
    return rows[:: max(1, -(-len(rows) // most))]


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """Weights of the fields as evidence that two objects are the same (Fellegi and Sunter, 1969).

    The quality of a field has one of five levels. Each level has a weight: the logarithm of the ratio of its frequency
    among items that stand for the same thing to its frequency among different items. The weights of the fields are
    added to the prior log odds that two items are the same. A field that one of the items lacks has the weight 0, and
    so have two empty lists.

    The frequencies among different items are counted on items in one list. Those among items that are the same, and the
    share of items that two annotators have in common, are estimated from the items of every two annotators (expectation
    maximisation).

    Attributes:
        fields: The fields that are compared; single values, which are cheaper, before objects and lists.
        weights: Weight of each level of each field; shape (fields, levels + 1). The last is 0.
        share: Share of the items of the shorter of two lists that the other one has.
    """

    fields: tuple[Link, ...]
    weights: Floats
    share: float

    @classmethod
    def estimate(cls, items: ObjectColumn, sample: _Sample, same: Floats) -> Evidence | None:
        """Estimate the weights; None if there are no fields that every item may have.

        Args:
            items: The column of the items.
            sample: Pairs of items.
            same: Initial estimate: probability that the items of each crossed pair are the same; shape (pairs,).
        """
        links = (link for link in items.links if link.weight)
        fields = tuple(sorted(links, key=lambda link: not isinstance(link.column, LeafColumn)))
        if not fields or items.maps:
            return None
        frequencies = _frequencies([_levels(link, *sample.different) for link in fields])
        levels = [_levels(link, *sample.crossed) for link in fields]
        # Length of the longer list of each crossed pair; and how many of these pairs can be the same at most.
        longest, most = sample.sizes.max(axis=1)[sample.owner], int(sample.sizes.min(axis=1).sum())
        # Long lists have millions of pairs, but few different ones.
        group, first = _groups(levels, longest)
        number = np.bincount(group)
        same = np.bincount(group, same, len(first)).astype(np.float64)
        levels, longest = [own[first] for own in levels], longest[first]
        evidence = cls(fields, np.zeros((len(fields), len(FIELD_LEVELS) + 2)), 0.0)
        for _ in range(MAX_STEPS):
            ratios = np.log(_frequencies(levels, same) / frequencies)
            share = min((float(same.sum()) + 0.5) / (most + 1.0), MOST_SHARED)
            before, evidence = evidence, cls(fields, np.pad(ratios, ((0, 0), (0, 1))), share)
            if np.abs(evidence.weights - before.weights).max() < CONVERGED:
                break
            same = number / (1.0 + np.exp(-evidence._odds(levels, longest)))
        return evidence

    def distances(self, left: Indices, right: Indices, longest: Indices) -> Floats:
        """Return the distance of pairs of items: 0 for the same thing, 1/2 for even odds, and 1 for different things.

        Args:
            left: Rows of the items of one annotator.
            right: Rows of the items of another one.
            longest: Length of the longer of the two lists.
        """
        odds = np.empty(len(left))
        for begin in range(0, len(left), CHUNK_CELLS):
            chunk = slice(begin, begin + CHUNK_CELLS)
            odds[chunk] = self._bounded_odds(left[chunk], right[chunk], longest[chunk])
        return (1.0 - np.clip(odds / SURE, -1.0, 1.0)) / 2.0

    def _bounded_odds(self, left: Indices, right: Indices, longest: Indices) -> Floats:
        """Return the log odds of pairs of items, or another value of at most -`SURE` if they are at most that.

        A field is compared only if the remaining fields could raise the log odds above -`SURE`. Therefore, few nested
        lists of long lists are compared.
        """
        odds = self._prior(longest)
        places = np.arange(len(left), dtype=np.intp)
        for at, (field, weights) in enumerate(zip(self.fields, self.weights, strict=True)):
            odds[places] += weights[_levels(field, left[places], right[places])]
            places = places[odds[places] + self.weights[at + 1 :].max(axis=1).sum() > -SURE]
        return odds

    def _odds(self, levels: Sequence[Indices], longest: Indices) -> Floats:
        """Return the logarithm of the odds that the items of pairs stand for the same thing; shape (pairs,).

        Args:
            levels: Level of each field for each pair, -1 if it says nothing; one array of shape (pairs,) per field.
            longest: Length of the longer of the two lists of each pair; shape (pairs,).
        """
        odds = self._prior(longest)
        for own, weights in zip(levels, self.weights, strict=True):
            odds += weights[own]
        return odds

    def _prior(self, longest: Indices) -> Floats:
        """Return the log odds of pairs of items whose fields are not known; shape (pairs,)."""
        expected = self.share / longest
        odds: Floats = np.log(expected) - np.log1p(-expected)
        return odds


def _levels(field: Link, left: Indices, right: Indices) -> Indices:
    """Return the level of the quality of a field for pairs of objects; -1 if it says nothing.

    Args:
        field: The field.
        left: Rows of the first object of each pair; shape (pairs,).
        right: Rows of the second one.

    Returns:
        Levels from 0 to the number of `FIELD_LEVELS`; shape (pairs,).
    """
    column, own, other = field.column, field.rows(left), field.rows(right)
    both = (own >= 0) & (other >= 0)
    if column.present is not None:
        both &= column.present[own] & column.present[other]
    if isinstance(column, ListColumn):
        both &= (column.lengths[own] > 0) | (column.lengths[other] > 0)
    levels = np.full(len(left), -1, dtype=np.intp)
    if both.any():
        levels[both] = np.digitize(pair_qualities(column, own[both], other[both]), FIELD_LEVELS)
    return levels


def _groups(levels: Sequence[Indices], longest: Indices) -> tuple[Indices, Indices]:
    """Return the group of each pair, equal for pairs with equal levels and equal `longest`, and a pair of each group.

    Args:
        levels: Level of each field for each pair, -1 if it says nothing; one array of shape (pairs,) per field.
        longest: Length of the longer of the two lists of each pair; shape (pairs,).
    """
    group = longest
    for own in levels:
        code = group * (len(FIELD_LEVELS) + 2) + own + 1
        group = ((np.bincount(code) > 0).cumsum() - 1)[code]
    first = np.empty(group.max(initial=-1) + 1, dtype=np.intp)
    first[group] = np.arange(len(group))
    return group, first


def _frequencies(levels: Sequence[Indices], weights: Floats | None = None) -> Floats:
    """Return the frequency of each level of each field, with `UNSEEN` observations of each; shape (fields, levels).

    Args:
        levels: Level of each field for each pair, -1 if it says nothing; one array of shape (pairs,) per field.
        weights: Weight of each pair; None if all are 1.
    """
    size = len(FIELD_LEVELS) + 1
    counts = np.array(
        [np.bincount(own[own >= 0], None if weights is None else weights[own >= 0], size) + UNSEEN for own in levels]
    )
    frequencies: Floats = counts / counts.sum(axis=1, keepdims=True)
    return frequencies


@dataclass(frozen=True, eq=False, slots=True)
class Identity:
    """Which items of the lists of several annotators may stand for the same thing.

    If the schema gives the list a gate, items with at least this quality may. Otherwise, the evidence of their fields
    decides; see `Evidence`. If the items are not objects, or have undeclared keys, their quality decides: it must reach
    a threshold between the mean quality of different items and the median quality of matched items, at `SAME`. With few
    pairs, the threshold is `USUAL_QUALITY`.

    Attributes:
        column: The column of the lists.
        lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
        limit: Distance from which two items stand for different things.
        codes: Code of each item of the column, the same for equal items; see `item_codes`.
        evidence: The evidence of the fields, which replaces the quality of the items; None without evidence.
    """

    column: ListColumn
    lists: Indices
    limit: float
    codes: Indices
    evidence: Evidence | None = None

    @classmethod
    def of_lists(cls, column: ListColumn, items: Column, lists: Indices) -> Identity:
        """Return the identity of the items of a column."""
        codes, gate = item_codes(column, items), column.matcher.gate
        if gate:
            return cls(column, lists, 1.0 - gate + _MARGIN, codes)
        sample = _Sample(column, lists, codes)
        if sample.different.shape[1] < LEAST_PAIRS or sample.sizes.min(axis=1).sum() < LEAST_PAIRS:
            return cls(column, lists, 1.0 - USUAL_QUALITY + _MARGIN, codes)
        quality = pair_qualities(items, *sample.crossed)
        matched = sample.matched(quality)
        different = float(pair_qualities(items, *sample.different).mean())
        least = different + SAME * max(float(np.median(quality[matched])) - different, 0.0)
        if isinstance(items, ObjectColumn):
            evidence = Evidence.estimate(items, sample, (matched & (quality >= least)).astype(np.float64))
            if evidence is not None:
                return cls(column, lists, 0.5, codes, evidence)
        return cls(column, lists, 1.0 - least, codes)

    def of(self, units: Indices) -> Identity:
        """Return the identity of the items of some of the units."""
        return replace(self, lists=self.lists[units])

    def applied(self, unit: int, tables: Tables) -> Tables:
        """Return the distances of the items of a unit: 0 for equal items, raised for items with different keys.

        Lower bounds stay lower bounds.

        Args:
            unit: Position of the unit in `lists`.
            tables: Distances of its items.
        """
        # So distant that a unitary alignment with such a pair costs more than its items alone.
        apart = (len(tables) + 1) * self.limit
        rows = self.lists[unit].tolist()
        keys = [_of_items(self.column, self.column.match_keys, row) for row in rows]
        codes = [_of_items(self.column, self.codes, row) for row in rows]
        found = {}
        for (i, j), distances in tables.items():
            table = np.where(codes[i][:, None] == codes[j], 0.0, distances)
            found[i, j] = _by_key(keys[i], keys[j], table, table * self.limit / 2.0, apart)
        return found


def _costs(gate: _Gate | Identity | None) -> tuple[float, float]:
    """Return the distance of a missing item, and that of two annotators who both miss an item."""
    return (gate.limit / 2.0, 0.0) if isinstance(gate, Identity) else (UNMATCHED, UNMATCHED)


def _aligned(
    column: ListColumn,
    items: Column,
    lists: Indices,
    known: dict[tuple[Hashable, ...], UnitAlignment],
    gate: _Gate | Identity | None,
    *,
    search: bool,
    couple: CouplingFunction,
) -> list[UnitAlignment]:
    """Align lists: compare all pairs of items. Equal tables are aligned once, which saves half of the time.

    Args:
        column: The column of the lists.
        items: The column of their items.
        lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
        known: Alignments of earlier lists, by the numbers of items and the distances; new ones are added.
        gate: Which items may be aligned; None for all.
        search: See `alignment.align`.
        couple: See `alignment.align`.
    """
    lengths = np.append(column.lengths, 0)[lists]
    starts = np.append(column.starts[:-1], 0)[lists]
    tables: dict[Pair, Sequence[Floats]] = {}
    evidence = gate.evidence if isinstance(gate, Identity) else None
    for i, j in combinations(range(lists.shape[1]), 2):
        owner, rows, columns = cross_slices(lengths[:, i], lengths[:, j])
        left, right = column.rows(starts[owner, i] + rows), column.rows(starts[owner, j] + columns)
        if evidence is None:
            distances = 1.0 - QualitySolver().evaluate(items, left, right).quality
        else:
            distances = evidence.distances(left, right, lengths[:, (i, j)].max(axis=1)[owner])
        tables[i, j] = np.split(distances, starts_of(lengths[:, i] * lengths[:, j])[1:-1])
    aligned = []
    for unit, sizes in enumerate(lengths.tolist()):
        own = {(i, j): each[unit].reshape(sizes[i], sizes[j]) for (i, j), each in tables.items()}
        cut: Tables = own if gate is None else gate.applied(unit, own)
        key = (*sizes, *(table.tobytes() for table in cut.values()))
        alignment = known.get(key)
        if alignment is None:
            alignment = align(cut, sizes, *_costs(gate), search=search, couple=couple)
            if sum(table.size for table in cut.values()) <= MAX_KNOWN_CELLS:
                known[key] = alignment
        aligned.append(alignment)
    return aligned if gate is None else _ungated(column, items, lists, aligned)


def _ungated(
    column: ListColumn, items: Column, lists: Indices, aligned: Sequence[UnitAlignment]
) -> list[UnitAlignment]:
    """Return alignments with their disorder for the distances of the schema, without the gate.

    Args:
        column: The column of the lists.
        items: The column of their items.
        lists: Row of the list of each annotator, or `NONE`; shape (units, annotators).
        aligned: The alignment of each unit.
    """
    counts = np.array([len(alignment.unitary) for alignment in aligned], dtype=np.intp)
    unitary = np.concatenate([alignment.unitary for alignment in aligned])
    starts = np.append(column.starts[:-1], 0)[lists].repeat(counts, axis=0)
    costs = []
    for pair in combinations(range(lists.shape[1]), 2):
        cost = np.full(len(unitary), UNMATCHED)
        both = (unitary[:, pair] != NONE).all(axis=1)
        places = (starts[:, pair] + unitary[:, pair])[both]
        if both.any():
            cost[both] = 1.0 - pair_qualities(items, column.rows(places[:, 0]), column.rows(places[:, 1]))
        costs.append(cost)
    disorders = np.split(reduce(np.add, costs) / len(costs), starts_of(counts)[1:-1])
    return [replace(alignment, disorder=float(own.sum())) for alignment, own in zip(aligned, disorders, strict=True)]


class _LongLists:
    """Lists whose items are compared only as far as the alignments depend on them.

    First, the items of each pair of annotators are matched lazily (see `solve_lazily`). Then, the lists are aligned on
    the distances, which are lower bounds where items were not compared. Items that are aligned by a bound are compared,
    and the lists are aligned again, until there are none: the disorder of other alignments is at least that on the
    bounds. This takes a third of the time of comparing all items, for nested lists of 20 entries.
    """

    def __init__(self, column: ListColumn, items: Column, lists: Indices, gate: _Gate | Identity | None) -> None:
        """Match the items of each pair of annotators; for the arguments, see `_aligned`."""
        # By pair of annotators: the lists that both have, with the qualities of their items; and the position of each
        # unit among these lists.
        self._column, self._items, self._lists, self._gate = column, items, lists, gate
        self._lengths = np.append(column.lengths, 0)[lists]
        self._problems: dict[Pair, MatchingProblems] = {}
        self._places: dict[Pair, Indices] = {}
        for i, j in combinations(range(lists.shape[1]), 2):
            both = (lists[:, i] != NONE) & (lists[:, j] != NONE)
            problems = MatchingProblems(column, items, lists[both, i], lists[both, j], DEFAULT_LIMITS)
            problems.bound()
            solve_lazily(problems, hungarian, QualitySolver().evaluate, tighten=column.has_informative_lists)
            self._problems[i, j], self._places[i, j] = problems, np.where(both, both.cumsum() - 1, NONE)

    def aligned(self, *, search: bool, couple: CouplingFunction) -> list[UnitAlignment]:
        """Return the alignment of each unit.

        The exact search begins when no item is aligned by a bound without it, which saves a fifth of the time.
        """
        aligned: dict[int, UnitAlignment] = {}
        for exactly in (False, True) if search else (False,):
            active = np.array(
                [unit for unit in range(len(self._lengths)) if unit not in aligned or not aligned[unit].exact]
            )
            while len(active):
                for unit in active.tolist():
                    aligned[unit] = align(
                        self._tables(unit),
                        self._lengths[unit].tolist(),
                        *_costs(self._gate),
                        search=exactly,
                        couple=couple,
                    )
                active = self._compare(active, aligned)
        found = [aligned[unit] for unit in range(len(self._lengths))]
        return found if self._gate is None else _ungated(self._column, self._items, self._lists, found)

    def _tables(self, unit: int) -> Tables:
        """Return the distances of the items of a unit, or lower bounds of them, with the gate."""
        lengths = self._lengths[unit]
        tables = {
            (i, j): np.empty((lengths[i], lengths[j]))
            if self._places[i, j][unit] == NONE
            else 1.0 - problems.table(int(self._places[i, j][unit]))
            for (i, j), problems in self._problems.items()
        }
        return tables if self._gate is None else self._gate.applied(unit, tables)

    def _compare(self, units: Indices, aligned: Mapping[int, UnitAlignment]) -> Indices:
        """Compare aligned items of these units; return the units with items that are more distant than their bounds."""
        changed = [units[:0]]
        for (i, j), problems in self._problems.items():
            place = self._places[i, j][units]
            shared = units[place != NONE].tolist()
            tall = [aligned[unit].unitary for unit in shared]
            rows = np.concatenate([np.empty((0, self._lengths.shape[1]), dtype=np.intp), *tall])
            # Problem, unit and, where both annotators have an item, cell of the problem of each unitary alignment.
            problem = place[place != NONE].repeat([len(unitary) for unitary in tall])
            owner = np.array(shared, dtype=np.intp).repeat([len(unitary) for unitary in tall])
            both = (rows[:, i] != NONE) & (rows[:, j] != NONE)
            cells = (problems.starts[problem] + rows[:, i] * problems.widths[problem] + rows[:, j])[both]
            owner = owner[both][~problems.known[cells]]
            cells = cells[~problems.known[cells]]
            if len(cells):
                bounds = problems.quality[cells]
                problems.compute(cells, QualitySolver().evaluate)
                changed.append(owner[problems.quality[cells] < bounds])
        return np.unique(np.concatenate(changed))
