"""Distances between arrays as sets of items.

>>> JACCARD([1, 23], [23, 12, 1, 1])
0.3333333333333333
>>> DICE([1, 23], [23, 12, 1, 1])
0.2
>>> JACCARD([], [])
0.0
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.distances.bags import build_bags, dice, jaccard
from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import value_codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances.bags import BagPool, Formula
    from arbitre.values import Json

_ARRAY = frozenset({Kind.ARRAY})


def _pool(formula: Formula, values: Sequence[list[Json]]) -> BagPool:
    owner = np.repeat(np.arange(len(values)), [len(value) for value in values])
    return build_bags(len(values), owner, value_codes(item for value in values for item in value), formula)


JACCARD: Final = Distance("jaccard", _ARRAY, Facts(separating=False, witness=([1, 2], [2, 1])), partial(_pool, jaccard))
"""1 - |A ∩ B| / |A ∪ B| for the sets A and B of items of two arrays; 0 for two empty arrays.

Items are equal if they are equal as JSON. A metric on sets and a pseudo-metric on arrays, because order and repetition
are ignored. Source: Jaccard, 1901.
"""

DICE: Final = Distance(
    "dice", _ARRAY, Facts(separating=False, triangle=False, witness=([1, 2], [2, 1])), partial(_pool, dice)
)
"""1 - 2 |A ∩ B| / (|A| + |B|), which is 1 - F1, for the sets A and B of items of two arrays; 0 for two empty arrays.

Items are equal if they are equal as JSON. Not a metric: [a] and [b] have distance 1, but each has distance 1/3 to
[a, b]. Source: Dice, 1945.
"""
