"""Distance between texts by matching blocks, as in difflib, computed by cydifflib.

>>> ratcliff_obershelp()("tide", "diet"), ratcliff_obershelp()("diet", "tide")
(0.75, 0.5)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from cydifflib import SequenceMatcher

from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import check_distances
from arbitre.distances.text.edit import INDEL
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks, Pool


@dataclass(frozen=True, slots=True)
class _MatchingBlocksPool:
    texts: Sequence[str]
    autojunk: bool
    subsequences: Pool

    @property
    def exactly_bounded(self) -> Mask:
        return np.zeros(len(self.texts), dtype=np.bool_)

    def distances(self, left: Indices, right: Indices) -> Floats:
        distances = np.zeros(left.size)
        matcher = SequenceMatcher(None, "", "", autojunk=self.autojunk)
        for pair in np.argsort(right, kind="stable"):  # SequenceMatcher indexes each distinct second text only once
            gold, predicted = self.texts[left[pair]], self.texts[right[pair]]
            if gold != predicted:
                matcher.set_seq2(predicted)
                matcher.set_seq1(gold)
                distances[pair] = 1 - matcher.ratio()
        return check_distances(distances, left.shape, "cydifflib")

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        """Return `indel` as a bound; it is exact for equal texts and for texts without common characters."""
        distances = self.subsequences.distances(left, right)
        exact = (distances == 0.0) | (distances == 1.0)
        return np.where(exact, distances, np.maximum(distances - BOUND_MARGIN, 0.0)), exact

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return `indel` as a bound.

        The matching blocks form a common subsequence, so their total length is at most that of the longest one.
        """
        return np.maximum(self.subsequences.lower_bounds_blockwise(blocks, left, right) - BOUND_MARGIN, 0.0)


BOUND_MARGIN: Final = 1e-15
"""Amount subtracted from bounds; greater than the rounding error of either formula."""


def _pool(autojunk: bool, values: Sequence[str]) -> _MatchingBlocksPool:  # noqa: FBT001
    return _MatchingBlocksPool(tuple(values), autojunk, INDEL.pool(values))


def ratcliff_obershelp(*, autojunk: bool = False) -> Distance:
    """Return the distance 1 - SequenceMatcher(None, gold, predicted, autojunk).ratio(), in [0, 1].

    Two empty texts have distance 0. Not symmetric, not a metric. Source: Ratcliff and Metzener, 1988.

    Args:
        autojunk: Whether to ignore characters that make up more than 1 % of the predicted text when searching for
            blocks. Applies to predicted texts of 200 or more characters.
    """
    facts = Facts(symmetric=False, triangle=False, witness=("tide", "diet"))
    return Distance(
        "ratcliff-obershelp",
        frozenset({Kind.STRING}),
        facts,
        partial(_pool, autojunk),
        {"autojunk": autojunk},
        expensive_above=1,
    )
