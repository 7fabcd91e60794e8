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
from arbitre.distances.pool_helpers import DeferredPool, check_distances
from arbitre.distances.text.edit import INDEL
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices


BOUND_MARGIN: Final = 1e-15
"""Amount subtracted from bounds; greater than the rounding error of either formula."""


@dataclass(frozen=True, slots=True)
class _MatchingBlocksPool(DeferredPool):
    """The bound is `indel`: matching blocks form a common subsequence, so they are at most as long as the longest."""

    autojunk: bool

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


def _pool(autojunk: bool, values: Sequence[str]) -> _MatchingBlocksPool:  # noqa: FBT001
    return _MatchingBlocksPool(tuple(values), INDEL.pool(values), BOUND_MARGIN, autojunk)


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
