"""The order of kept items and keys: the order that most annotators use."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MAX_RANKED: Final = 2_000
"""Maximum number of elements whose pairs are compared; more are sorted by their median relative position."""


def in_order(positions: Sequence[Mapping[int, Any]], lengths: Mapping[int, int]) -> list[int]:
    """Return the elements in the order that most annotators use.

    An element precedes another if more annotators place it before the other than after it. Elements are sorted by the
    number of elements that they precede, minus the number of those that precede them (Copeland, 1951), then by their
    median relative position.

    Args:
        positions: Position of each element in the list of each annotator who has it.
        lengths: Length of the list of each annotator.

    >>> in_order([{0: 0, 1: 1}, {0: 1, 1: 2}, {1: 0}], {0: 2, 1: 3})
    [2, 0, 1]
    """
    middles = [median((at + 0.5) / lengths[annotator] for annotator, at in own.items()) for own in positions]
    ranked = sorted(range(len(positions)), key=middles.__getitem__)
    if len(positions) > MAX_RANKED or all(
        _increasing([positions[at][annotator] for at in ranked if annotator in positions[at]]) for annotator in lengths
    ):
        return ranked  # saves the table of pairs
    before = np.zeros((len(positions), len(positions)), dtype=np.int64)
    for annotator in lengths:
        places = np.array([own.get(annotator, np.nan) for own in positions])
        before += (places[:, None] < places).astype(np.int64) - (places[:, None] > places)
    wins = np.sign(before).sum(axis=1)
    return sorted(ranked, key=lambda at: -wins[at])


def _increasing(numbers: Sequence[int]) -> bool:
    return all(first < second for first, second in pairwise(numbers))
