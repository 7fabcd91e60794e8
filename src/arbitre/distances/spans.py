"""Distances between spans: objects with the keys `start` and `end`, the second exclusive.

>>> span()({"start": 0, "end": 4}, {"start": 1, "end": 5})
0.4
>>> span(label="type")({"start": 0, "end": 4, "type": "city"}, {"start": 0, "end": 4, "type": "person"})
1.0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, TypeGuard

import numpy as np

from arbitre.distances.base import BroadcastPool, Distance, Facts, partial_pool, value_codes
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Blocks
    from arbitre.values import Json

Overlap = Literal["iou", "half", "any", "equal"]

_LARGEST: Final = 2**53
_LONG_LISTS: Final = 300
"""Minimum mean number of cells of a block for comparing only the spans that overlap."""
_PLACE: Final[dict[str, Json]] = {"start": 0, "end": 1}


def span(overlap: Overlap = "iou", label: str | None = None) -> Distance:
    """Return a distance between spans.

    A span is an object whose `start` and `end` are numbers, `start` below `end`. Any other value has distance 0 to an
    equal value and 1 to every other value.

    Args:
        overlap: "iou" for 1 - intersection / union of the spans, "half" for half of this if they overlap, "any" for 0
            if they overlap, "equal" for 0 if they have the same boundaries; else 1.
        label: Key whose values must be equal, else the distance is 1. None compares no other key.
    """
    other: dict[str, Json] = {"other": 1} if label is None else {f"{label}.": 1}
    facts = Facts(separating=False, triangle=overlap in {"iou", "equal"}, witness=(_PLACE, _PLACE | other))
    options = {"overlap": overlap} | ({} if label is None else {"label": label})
    return Distance("span", frozenset({Kind.OBJECT}), facts, partial(_pool, overlap, label), options)


def _pool(overlap: Overlap, label: str | None, values: Sequence[dict[str, Json]]) -> BroadcastPool:
    """Prepare spans: spans with different labels have distance 1, others are compared by their positions."""
    is_span = np.array([_is_span(value) for value in values], dtype=np.bool_)
    start, end = (
        np.array([float(value[key]) if here else 0.0 for value, here in zip(values, is_span, strict=True)])
        for key in ("start", "end")
    )
    labels = value_codes([None if label is None else value.get(label) for value in values])

    def graded(left: Indices, right: Indices) -> Floats:
        if overlap == "equal":
            apart = ((start[left] != start[right]) | (end[left] != end[right])).astype(np.float64)
        else:
            common = np.minimum(end[left], end[right]) - np.maximum(start[left], start[right])
            common = np.maximum(common, 0.0)
            union = (end - start)[left] + (end - start)[right] - common
            apart = 1.0 * (common <= 0.0)
            if overlap != "any":
                iou = (union - common) / np.where(union > 0.0, union, 1.0)
                apart = iou if overlap == "iou" else np.where(common > 0.0, iou / 2.0, 1.0)
        return np.where(labels[left] == labels[right], apart, 1.0)

    if is_span.all():
        return _SpanPool(graded, start, end)
    return partial_pool(value_codes(values), is_span, graded)


@dataclass(frozen=True, slots=True)
class _SpanPool(BroadcastPool):
    """Spans. In long lists, only overlapping spans are compared; the distance of all others is 1.

    Attributes:
        start: Start of each span; shape (spans,).
        end: End of each span; shape (spans,).
    """

    start: Floats
    end: Floats

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        if blocks.starts[-1] < _LONG_LISTS * len(blocks):
            return self.distances(left[blocks.rows], right[blocks.columns])
        bounds = np.ones(blocks.starts[-1])
        for rows, columns, cells in blocks:
            gold, predicted = left[rows], right[columns]
            by_start = self.start[predicted].argsort(kind="stable")
            furthest = np.maximum.accumulate(self.end[predicted][by_start])  # of the spans up to each one
            first = furthest.searchsorted(self.start[gold], side="right")
            after = self.start[predicted][by_start].searchsorted(self.end[gold], side="left")
            number = np.maximum(after - first, 0)  # candidates for each gold span: slices of `by_start`
            row = np.arange(len(gold)).repeat(number)
            within = np.arange(len(row)) - (number.cumsum() - number).repeat(number)
            column = by_start[first.repeat(number) + within]
            bounds[cells][row * len(predicted) + column] = self.distances(gold[row], predicted[column])
        return bounds


def _is_span(value: dict[str, Json]) -> TypeGuard[dict[str, float]]:
    start, end = value.get("start"), value.get("end")
    if isinstance(start, bool) or isinstance(end, bool):
        return False
    if not isinstance(start, (int, float)) or not isinstance(end, (int, float)):
        return False
    return -_LARGEST <= start < end <= _LARGEST
