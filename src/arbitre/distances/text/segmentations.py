"""Distances between segmentations of one text, computed by nltk (extra `text`).

A segmentation is one of:

* a list of spans, `[start, end]` or `{"start": ..., "end": ...}`, in the order of the text
* a list of the positions where segments end, increasing; the last is the end of the text
* a text of 0 and 1 with one character for each position between two units of the text: 1 is a boundary

Positions count units, such as characters, words or sentences, from 0. If two segmentations end at different positions,
the shorter has no boundary after its end. A value of another form has distance 0 from an equal value, else 1.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import BroadcastPool, check_distances, value_codes
from arbitre.distances.text import nltk_measures
from arbitre.distances.text.nltk_measures import require_nltk
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json

    Measure = Callable[["Segmentation", "Segmentation"], float]

_KINDS: Final = frozenset({Kind.ARRAY, Kind.STRING})
MAX_LENGTH: Final = 1 << 22
"""Maximum position in a segmentation."""


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

    def marks(self, length: int) -> str:
        """Return the positions between the units of a text of this length: 1 for a boundary, else 0."""
        marks = ["0"] * (length - 1)
        for end in self.ends:
            if end < length:
                marks[end - 1] = "1"
        return "".join(marks)


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
    return Segmentation(tuple(ends), ends[-1]) if ends and ends[0] > 0 and ends[-1] <= MAX_LENGTH else None


def _span(item: Json) -> tuple[int, int] | None:
    bounds = [item.get("start"), item.get("end")] if isinstance(item, dict) else item
    if isinstance(bounds, list) and len(bounds) == 2 and all(map(_is_position, bounds)):  # noqa: PLR2004  (two ends)
        return int(bounds[0]), int(bounds[1])
    return None


def _is_position(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def half_segment(gold: Segmentation) -> int:
    """Return half of the mean length of the segments of gold, rounded, at least 1: the usual size of a window."""
    segments = len([end for end in gold.ends if end < gold.length]) + 1
    return max(1, int(gold.length / segments / 2 + 0.5))


def share_of_windows(
    measure: Callable[[str, str, int], float], k: int | None, gold: Segmentation, predicted: Segmentation
) -> float:
    """Return WindowDiff or Pk of two segmentations; `k` is None for half of the mean segment of gold."""
    length = max(gold.length, predicted.length)
    if length == 1:
        return 0.0
    size = min(half_segment(gold) if k is None else k, length - 1)
    return measure(gold.marks(length), predicted.marks(length), size)


def share_of_cost(
    insertion: float, deletion: float, shift: float, gold: Segmentation, predicted: Segmentation
) -> float:
    """Return the cost of the changes, divided by the cost of deleting and inserting all boundaries."""
    length = max(gold.length, predicted.length)
    marks = gold.marks(length), predicted.marks(length)
    most = insertion * marks[0].count("1") + deletion * marks[1].count("1")
    if not most:
        return 0.0
    return min(1.0, nltk_measures.generalized_hamming(*marks, insertion, deletion, shift) / most)


def _pool(measure: Measure, values: Sequence[Json]) -> BroadcastPool:
    segmentations, codes = [read_segmentation(value) for value in values], value_codes(values)

    def distances(left: Indices, right: Indices) -> Floats:
        measured = np.zeros(left.size)
        for pair, (gold, predicted) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            sides = segmentations[gold], segmentations[predicted]
            if codes[gold] != codes[predicted]:
                measured[pair] = 1.0 if sides[0] is None or sides[1] is None else measure(sides[0], sides[1])
        return check_distances(measured, left.shape, "nltk")

    return BroadcastPool(distances)


def window_diff(k: int | None = None) -> Distance:
    """Return WindowDiff: the share of windows in which the two sides have different numbers of boundaries; in [0, 1].

    Source: Pevzner and Hearst, 2002.

    Args:
        k: Number of positions of a window; by default half of the mean length of the gold segments.

    Raises:
        SchemaError: nltk is not installed.

    >>> window_diff(k=3)("000100000010", "000010000100")  # doctest: +SKIP
    0.3
    """
    require_nltk("The distance `window-diff`")
    return _windowed("window-diff", nltk_measures.window_diff, k)


def pk(k: int | None = None) -> Distance:
    """Return Pk: the share of windows that have a boundary on one side only; in [0, 1]. Source: Beeferman et al., 1999.

    Arguments and errors as for `window_diff`.
    """
    require_nltk("The distance `pk`")
    return _windowed("pk", nltk_measures.pk, k)


def _windowed(name: str, measure: Callable[[str, str, int], float], k: int | None) -> Distance:
    facts = Facts(symmetric=k is not None, separating=False, triangle=False, witness=([1], [3]) if k is None else _SAME)
    return Distance(name, _KINDS, facts, partial(_pool, partial(share_of_windows, measure, k)), {"k": k})


def generalized_hamming(insertion: float = 2.0, deletion: float = 2.0, shift: float = 1.0) -> Distance:
    """Return the generalised Hamming distance, divided by the cost of deleting and inserting all boundaries.

    It is the least cost of changing the predicted boundaries into those of gold. Source: Bookstein et al., 2002.

    Args:
        insertion: Cost of a boundary that is inserted.
        deletion: Cost of a boundary that is deleted.
        shift: Cost of moving a boundary by one position.

    Raises:
        SchemaError: nltk is not installed.
    """
    require_nltk("The distance `generalized-hamming`")
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
