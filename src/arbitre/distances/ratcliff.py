"""The distance of texts by matching blocks, with the semantics of difflib, through cydifflib.

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
from arbitre.distances.columns import trusted
from arbitre.distances.strings import INDEL
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks, Pool


@dataclass(frozen=True, slots=True)
class _Texts:
    texts: Sequence[str]
    autojunk: bool
    subsequences: Pool

    @property
    def plain(self) -> Mask:
        return np.zeros(len(self.texts), dtype=np.bool_)

    def paired(self, left: Indices, right: Indices) -> Floats:
        distances = np.zeros(left.size)
        matcher = SequenceMatcher(None, "", "", autojunk=self.autojunk)
        for pair in np.argsort(right, kind="stable"):  # each second text is indexed once, for all that meet it
            gold, predicted = self.texts[left[pair]], self.texts[right[pair]]
            if gold != predicted:
                matcher.set_seq2(predicted)
                matcher.set_seq1(gold)
                distances[pair] = 1 - matcher.ratio()
        return trusted(distances, left.shape, "cydifflib")

    def glimpsed(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        """`indel`, as in `bounded`: it is exact for equal texts, and for texts without a character in common."""
        distances = self.subsequences.paired(left, right)
        exact = (distances == 0.0) | (distances == 1.0)
        return np.where(exact, distances, np.maximum(distances - BOUND_MARGIN, 0.0)), exact

    def bounded(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """`indel`: the matching blocks are a common subsequence, so they are at most as long as the longest one."""
        return np.maximum(self.subsequences.bounded(blocks, left, right) - BOUND_MARGIN, 0.0)


BOUND_MARGIN: Final = 1e-15
"""More than the rounding of either formula: keeps the bound below the distance to the last bit."""


def _pool(autojunk: bool, values: Sequence[str]) -> _Texts:  # noqa: FBT001
    return _Texts(tuple(values), autojunk, INDEL.pool(values))


def ratcliff_obershelp(*, autojunk: bool = False) -> Distance:
    """1 - SequenceMatcher(None, gold, predicted, autojunk).ratio(); in [0, 1], two empty texts are at 0.

    Not symmetric, not a metric. With `autojunk` every character that makes more than 1 % of a predicted text of 200
    characters or more is ignored when blocks are sought. Source: Ratcliff and Metzener, 1988.
    """
    facts = Facts(symmetric=False, triangle=False, witness=("tide", "diet"))
    return Distance(
        "ratcliff-obershelp",
        frozenset({Kind.STRING}),
        facts,
        partial(_pool, autojunk),
        {"autojunk": autojunk},
        dear=1,
    )
