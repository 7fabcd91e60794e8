"""The probability that a wrong value equals a given gold value by chance."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.ragged import find_sorted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json

LETTER: Final = 0.25
"""Probability that a character of a text agrees: about 2 bits of information (Shannon, 1951, finds 1 to 2)."""
DIGIT: Final = 0.1
"""Probability that a digit of a number agrees."""
OTHER: Final = 0.5
"""Probability that a Boolean or another short value agrees."""
NEAR: Final = 0.5
"""Share of the characters of a text that carry evidence if two texts are only nearly equal."""


def base_chance(value: Json, *, near: bool = False) -> float:
    """Return the probability that an unrelated value equals this one, or is nearly equal, from its length.

    >>> base_chance("Jean"), base_chance("Marie"), base_chance(True), base_chance(1e16)
    (0.00390625, 0.0009765625, 0.5, 0.1)
    """
    if isinstance(value, bool) or value is None:
        return OTHER
    if isinstance(value, (int, float)):
        digits = "".join(map(str, Decimal(str(value)).as_tuple().digits)).strip("0")
        return float(DIGIT ** len(digits))
    return float(LETTER ** (len(value if isinstance(value, str) else str(value)) * (NEAR if near else 1.0)))


class ValueCounts:
    """How often each value occurs among the gold values of a path, by document."""

    __slots__ = ("counts", "keys", "single", "totals", "width")

    def __init__(self, codes: Indices, documents: Indices, width: int, size: int) -> None:
        self.width = width
        self.keys, self.counts = np.unique(documents * width + codes, return_counts=True)
        self.totals = np.bincount(documents, minlength=size)
        self.single = np.bincount(self.keys[self.counts == 1] // width, minlength=size)

    def of(self, codes: Indices, documents: Indices) -> Indices:
        """Return the number of gold values with each of these codes."""
        if len(self.keys) == 0:
            return np.zeros(len(codes), dtype=np.intp)
        place = find_sorted(self.keys, documents * self.width + codes)
        return np.where(place >= 0, self.counts[place], 0)

    def chance(self, counts: Indices, documents: Indices) -> Floats:
        """Return the probability that a random value of a path is one of `counts` gold values.

        Counts are discounted by the share of values that occur once, because most wrong values of a path whose values
        are all different are new ones (Good, 1953).
        """
        totals = np.maximum(self.totals[documents], 1)
        return np.maximum(counts - self.single[documents] / totals, 0.0) / totals


def coincidence(counts: Sequence[ValueCounts], wrong: Sequence[tuple[Indices, Indices]]) -> Floats:
    """Return an estimate of the probability that unrelated values of a path are equal, for each document.

    It is the share of equal pairs among all pairs of a gold value and a predicted value, without values in the right
    place, multiplied on each side by the share of the values that are wrong and that no wrong value of the other side
    equals. It is high for unrelated documents with a closed vocabulary, and 0 if all wrong values may have moved.

    Args:
        counts: All gold values, and all predicted values.
        wrong: Codes and documents of the wrong gold values, and of the wrong predicted values.
    """
    gold = counts[0]
    totals = [np.maximum(side.totals, 1) for side in counts]
    codes, documents = wrong[1]
    equal = np.bincount(documents, weights=gold.of(codes, documents), minlength=len(gold.totals))
    chance: Floats = equal / totals[0] / totals[1]
    keys = [documents * gold.width + codes for codes, documents in wrong]
    for (_, documents), own, other, total in zip(wrong, keys, keys[::-1], totals, strict=True):
        chance = chance * np.bincount(documents, weights=~np.isin(own, other), minlength=len(total)) / total
    return chance
