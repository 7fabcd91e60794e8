"""Evidence from the fields of two objects that they stand for the same thing, estimated from a sample of pairs.

`Sample` draws lists and pairs of lists. `Evidence` contains the weight of each field, after Fellegi and Sunter (1969).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.batch_comparison import CHUNK_CELLS, pair_qualities
from arbitre.engine.columns.column import LeafColumn, ListColumn
from arbitre.engine.columns.ragged import cross_slices, rank_among_equal, starts_of
from arbitre.engine.columns.row_keys import mix_bits
from arbitre.engine.references.graph import content_hashes
from arbitre.matching.assignment import hungarian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import Link, ObjectColumn
    from arbitre.engine.columns.row_keys import Digests

LEAST_PAIRS: Final = 20
"""Minimum number of pairs of different items for an estimate of their similarity."""

MOST_PAIRS: Final = 5_000
"""Number of pairs of different items, and of pairs of items of two annotators, at which no further lists are drawn.
Each list, or pair of lists, is used in full."""

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


class Sample:
    """Pairs of items that are different, and pairs of items of two annotators that may be the same.

    Two items in one list of one annotator are different, unless they are equal. All pairs of the drawn lists are used,
    because a small sample would not show how rarely different items agree. The sample reaches the minima of
    `Identity.of_lists` if all documents together do.

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
        lengths, starts, hashes = column.lengths, column.starts[:-1], content_hashes(column)
        number = _different(column, codes)
        within = number.nonzero()[0]
        within = within[_drawn(hashes[within], (number[within], MOST_PAIRS))]
        owner, rows, columns = cross_slices(lengths[within], lengths[within])
        left, right = starts[within][owner] + rows, starts[within][owner] + columns
        places = ((rows < columns) & (codes[left] != codes[right])).nonzero()[0]
        self.different = column.rows(np.array([left[places], right[places]]))
        pairs = np.concatenate([lists[:, pair] for pair in combinations(range(lists.shape[1]), 2)])
        lengths = np.append(column.lengths, 0)[pairs]
        pairs = pairs[lengths.min(axis=1) > 0]
        # The sample must not depend on the order of the annotators.
        pairs = np.take_along_axis(pairs, hashes[pairs].argsort(axis=1, kind="stable"), axis=1)
        sizes = column.lengths[pairs]
        enough = (sizes.prod(axis=1), MOST_PAIRS), (sizes.min(axis=1), LEAST_PAIRS)
        pairs = pairs[_drawn(hashes[pairs[:, 0]] + mix_bits(hashes[pairs[:, 1]]), *enough)]
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


def _different(column: ListColumn, codes: Indices) -> Indices:
    """Return the number of pairs of different items in each list of a column; for `codes`, see `Sample`."""
    owner = np.arange(column.size, dtype=np.intp).repeat(column.lengths)
    _, first, equal = np.unique(owner * (codes.max(initial=0) + 1) + codes, return_index=True, return_counts=True)
    # Each item forms a pair with every different item, which counts each pair twice.
    different = np.bincount(owner[first], equal * (column.lengths[owner[first]] - equal), column.size) // 2
    return different.astype(np.intp)


def _drawn(hashes: Digests, *minima: tuple[Indices, int]) -> Indices:
    """Draw lists, or pairs of lists, until the sum of each kind of size reaches its minimum, or all are drawn.

    The order is pseudo-random but depends only on the contents. The ids of documents do not matter.

    Args:
        hashes: Hash of the contents; shape (lists,).
        minima: Sizes of each kind, of shape (lists,), and the minimum of their sum.

    Returns:
        Positions in the order in which they are drawn.
    """
    order = hashes.argsort(kind="stable")
    copies = rank_among_equal(hashes[order]).astype(np.uint64)
    order = order[mix_bits(hashes[order] + mix_bits(copies)).argsort(kind="stable")]  # separates equal lists
    return order[np.any([sizes[order].cumsum() - sizes[order] < least for sizes, least in minima], axis=0)]


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
        fields: The compared fields: first single values, which are cheaper, then objects and lists.
        weights: Weight of each level of each field; shape (fields, levels + 1). The last is 0.
        share: Share of the items of the shorter of two lists that the other one has.
    """

    fields: tuple[Link, ...]
    weights: Floats
    share: float

    @classmethod
    def estimate(cls, items: ObjectColumn, sample: Sample, same: Floats) -> Evidence | None:
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
        """Return the log odds of pairs of items; for log odds of at most -`SURE`, any value of at most -`SURE`.

        A field is compared only if the remaining fields could raise the log odds above -`SURE`. Therefore, few of the
        lists nested in long lists are compared.
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
