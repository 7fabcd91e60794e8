"""Distances between segmentations of one text.

A segmentation is one of:

* a list of spans, `[start, end]` or `{"start": ..., "end": ...}`, in the order of the text
* a list of the positions where segments end, increasing; the last is the end of the text
* a text of 0 and 1 with one character for each position between two units of the text: 1 is a boundary

Positions count units, such as characters, words or sentences, from 0. If two segmentations end at different positions,
the shorter has no boundary after its end. Any other value has distance 0 to an equal value and 1 to every other value.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.distances.base import BroadcastPool, Distance, Facts, check_distances, value_codes
from arbitre.errors import DataError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json

    Measure = Callable[["Segmentation", "Segmentation"], float]
    Weigh = Callable[[Indices, Indices], Mask]

_KINDS: Final = frozenset({Kind.ARRAY, Kind.STRING})
MAX_INTEGER: Final = 2**53
"""Maximum position in a segmentation."""
MAX_CELLS: Final = 1 << 22
"""Maximum number of pairs of boundaries that `generalized-hamming` compares."""

_SAME: Final = ([[0, 1]], [1], [1, 2], [1, 2, 3])
"""Two notations of the same segmentation; the last three violate the triangle inequality."""


class Segmentation(NamedTuple):
    """The boundaries of a text.

    Attributes:
        ends: Positions of the boundaries, increasing, from 1.
        length: Number of units of the text.
    """

    ends: tuple[int, ...]
    length: int

    def inside(self, length: int) -> Indices:
        """Return the boundaries before a position, increasing."""
        ends = np.array(self.ends, dtype=np.intp)
        return ends[ends < length]


def read_segmentation(value: Json) -> Segmentation | None:
    """Return the boundaries that a value contains; None if it is not a segmentation.

    >>> read_segmentation([[0, 3], [3, 7]]) == read_segmentation([3, 7]) == read_segmentation("001000")
    True
    """
    if isinstance(value, str):
        if value.strip("01"):
            return None
        ends = [position + 1 for position, mark in enumerate(value) if mark == "1"]
        return Segmentation((*ends, len(value) + 1), len(value) + 1)
    if not isinstance(value, list) or not value:
        return None
    spans = [_span(item) for item in value]
    if None not in spans:
        flat = [position for span in spans if span is not None for position in span]
        if sorted(flat) != flat or any(span is not None and span[0] >= span[1] for span in spans):
            return None
        ends = sorted({*flat} - {0})
    elif all(_is_position(item) for item in value) and all(a < b for a, b in pairwise(value)):
        ends = [int(item) for item in value]
    else:
        return None
    return Segmentation(tuple(ends), ends[-1]) if ends and ends[0] > 0 and ends[-1] <= MAX_INTEGER else None


def _span(item: Json) -> tuple[int, int] | None:
    bounds = [item.get("start"), item.get("end")] if isinstance(item, dict) else item
    if isinstance(bounds, list) and len(bounds) == 2 and all(map(_is_position, bounds)):  # noqa: PLR2004  (two ends)
        return int(bounds[0]), int(bounds[1])
    return None


def _is_position(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def half_segment(gold: Segmentation) -> int:
    """Return half of the mean length of the segments of gold, rounded, at least 2: the usual size of a window.

    With windows of one position, a boundary that is off by one would cost as much as a missing and a spurious boundary.
    """
    segments = len([end for end in gold.ends if end < gold.length]) + 1
    return max(2, int(gold.length / segments / 2 + 0.5))


def count_windows(weigh: Weigh, k: int | None, gold: Segmentation, predicted: Segmentation) -> tuple[float, float]:
    """Return the number of windows of two segmentations that differ, and the number of windows.

    Args:
        weigh: Returns whether windows differ, given the numbers of boundaries in them on both sides.
        k: Number of positions between units in a window; None for half of the mean segment of gold.
        gold: Segmentation of gold.
        predicted: Segmentation of the prediction.
    """
    length = max(gold.length, predicted.length)
    if length == 1:
        return 0.0, 0.0
    size = min(half_segment(gold) if k is None else k, length - 1)
    sides = gold.inside(length), predicted.inside(length)
    # windows start at 1 to `last`; their numbers of boundaries change only where one enters or leaves
    last = length - size
    changes = np.concatenate([[1], *(ends + 1 for ends in sides), *(ends - size + 1 for ends in sides)])
    starts = np.unique(changes[(changes >= 1) & (changes <= last)])
    widths = np.diff(np.append(starts, last + 1))
    counts = [np.searchsorted(ends, starts + size) - np.searchsorted(ends, starts) for ends in sides]
    return float(widths[weigh(*counts)].sum()), float(last)


def share_of_windows(weigh: Weigh, k: int | None, gold: Segmentation, predicted: Segmentation) -> float:
    """Return the share of windows of two segmentations that differ; 0 if there are none."""
    different, windows = count_windows(weigh, k, gold, predicted)
    return different / windows if windows else 0.0


def counts_differ(gold: Indices, predicted: Indices) -> Mask:
    """Return which windows have different numbers of boundaries."""
    differ: Mask = gold != predicted
    return differ


def one_side_only(gold: Indices, predicted: Indices) -> Mask:
    """Return which windows have a boundary on one side only."""
    differ: Mask = (gold > 0) != (predicted > 0)
    return differ


def costs(
    insertion: float, deletion: float, shift: float, gold: Segmentation, predicted: Segmentation
) -> tuple[float, float]:
    """Return the cost of changing the predicted boundaries into those of gold, and the cost of replacing them all."""
    length = max(gold.length, predicted.length)
    sides = gold.inside(length).tolist(), predicted.inside(length).tolist()
    return (
        cost_of_changes(*sides, insertion, deletion, shift),
        insertion * len(sides[0]) + deletion * len(sides[1]),
    )


def share_of_cost(
    insertion: float, deletion: float, shift: float, gold: Segmentation, predicted: Segmentation
) -> float:
    """Return the cost of changing the predicted boundaries into those of gold, divided by the cost of replacing all."""
    cost, most = costs(insertion, deletion, shift, gold, predicted)
    return min(1.0, cost / most) if most else 0.0


def cost_of_changes(
    gold: Sequence[int], predicted: Sequence[int], insertion: float, deletion: float, shift: float
) -> float:
    """Return the least cost of changing predicted boundaries into those of gold (Bookstein et al., 2002).

    Args:
        gold: Positions of the gold boundaries, increasing.
        predicted: Positions of the predicted boundaries, increasing.
        insertion: Cost of a boundary that is inserted.
        deletion: Cost of a boundary that is deleted.
        shift: Cost of moving a boundary by one position.

    Raises:
        DataError: There are too many boundaries.
    """
    if len(gold) * len(predicted) > MAX_CELLS:
        raise DataError.of(
            f"Expected fewer boundaries for `generalized-hamming`, got {len(gold)} and {len(predicted)}",
            hint=f"The product of both numbers is limited to {MAX_CELLS}. Use `window-diff` or `pk`.",
        )
    above = [insertion * number for number in range(len(gold) + 1)]
    for row, at in enumerate(predicted, 1):
        here = [deletion * row]
        for column, target in enumerate(gold):
            if at == target:
                changed = above[column]
            else:  # the later of the two boundaries is deleted or inserted; the other order is never cheaper
                changed = deletion + above[column + 1] if at > target else insertion + here[column]
            here.append(min(changed, shift * abs(at - target) + above[column]))
        above = here
    return above[-1]


def _pool(measure: Measure, values: Sequence[Json]) -> BroadcastPool:
    """Prepare segmentations: equal values have distance 0, values that are none have distance 1 from others."""
    segmentations, codes = [read_segmentation(value) for value in values], value_codes(values)

    def distances(left: Indices, right: Indices) -> Floats:
        measured = np.zeros(left.size)
        for pair, (gold, predicted) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            sides = segmentations[gold], segmentations[predicted]
            if codes[gold] != codes[predicted]:
                measured[pair] = 1.0 if sides[0] is None or sides[1] is None else measure(sides[0], sides[1])
        return check_distances(measured, left.shape, "arbitre")

    return BroadcastPool(distances)


def window_diff(k: int | None = None) -> Distance:
    """Return WindowDiff: the share of windows in which the two sides have different numbers of boundaries; in [0, 1].

    Source: Pevzner and Hearst, 2002.

    Args:
        k: Number of positions of a window; by default half of the mean length of the gold segments, at least 2.

    >>> window_diff(k=3)("000100000010", "000010000100")
    0.3
    """
    return _windowed("window-diff", counts_differ, k)


def pk(k: int | None = None) -> Distance:
    """Return Pk: the share of windows that have a boundary on one side only; in [0, 1]. Source: Beeferman et al., 1999.

    Arguments as for `window_diff`.
    """
    return _windowed("pk", one_side_only, k)


def _windowed(name: str, weigh: Weigh, k: int | None) -> Distance:
    facts = Facts(symmetric=k is not None, separating=False, triangle=False, witness=([1], [5]) if k is None else _SAME)
    return Distance(name, _KINDS, facts, partial(_pool, partial(share_of_windows, weigh, k)), {"k": k})


def generalized_hamming(insertion: float = 2.0, deletion: float = 2.0, shift: float = 1.0) -> Distance:
    """Return the generalised Hamming distance, divided by its largest possible value.

    It is the least cost of changing the predicted boundaries into those of gold. The largest possible value is the cost
    of deleting all predicted boundaries and inserting all gold ones. Source: Bookstein et al., 2002.

    Args:
        insertion: Cost of a boundary that is inserted.
        deletion: Cost of a boundary that is deleted.
        shift: Cost of moving a boundary by one position.
    """
    alike = insertion == deletion
    facts = Facts(symmetric=alike, separating=False, triangle=False, witness=_SAME if alike else ([1], [1, 2, 3]))
    options = {"insertion": insertion, "deletion": deletion, "shift": shift}
    return Distance(
        "generalized-hamming",
        _KINDS,
        facts,
        partial(_pool, partial(share_of_cost, insertion, deletion, shift)),
        options,
    )
