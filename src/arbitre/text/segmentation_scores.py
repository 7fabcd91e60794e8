"""Differences between two segmentations of one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.distances.text import segmentations
from arbitre.errors import DataError, OptionError, shown

if TYPE_CHECKING:
    from arbitre.distances.text.segmentations import Segmentation
    from arbitre.values import Json


def window_diff(gold: Json, predicted: Json, k: int | None = None) -> float:
    """Return WindowDiff: the share of windows in which the two sides have different numbers of boundaries.

    In [0, 1]; 0 for equal segmentations. Source: Pevzner and Hearst, 2002.

    Args:
        gold: A list of spans, `[start, end]` or `{"start": ..., "end": ...}`; a list of the positions where segments
            end; or a text of 0 and 1, with 1 for a boundary between two units.
        predicted: The same for the prediction.
        k: Number of positions of a window; by default half of the mean length of the gold segments, at least 2.

    Raises:
        DataError: A value is not a segmentation.
        OptionError: `k` is less than 1.

    >>> window_diff("000100000010", "000010000100", k=3)
    0.3
    """
    _check(k)
    return segmentations.share_of_windows(segmentations.counts_differ, k, *_both(gold, predicted))


def pk(gold: Json, predicted: Json, k: int | None = None) -> float:
    """Return Pk: the share of windows with a boundary on one side only. Source: Beeferman et al., 1999.

    Arguments and errors as for `window_diff`.
    """
    _check(k)
    return segmentations.share_of_windows(segmentations.one_side_only, k, *_both(gold, predicted))


def generalized_hamming(
    gold: Json, predicted: Json, insertion: float = 2.0, deletion: float = 2.0, shift: float = 1.0
) -> float:
    """Return the least cost of changing the predicted boundaries into those of gold. Source: Bookstein et al., 2002.

    The distance `generalized-hamming` is this cost divided by the cost of deleting and inserting all boundaries.

    Args:
        gold: As for `window_diff`.
        predicted: As for `window_diff`.
        insertion: Cost of a boundary that is inserted.
        deletion: Cost of a boundary that is deleted.
        shift: Cost of moving a boundary by one position.

    Raises:
        DataError: A value is not a segmentation, or there are too many boundaries.

    >>> generalized_hamming("1100100000", "1100010000", insertion=1, deletion=1, shift=0.5)
    0.5
    """
    sides = _both(gold, predicted)
    return segmentations.costs(insertion, deletion, shift, *sides)[0]


def _check(k: int | None) -> None:
    if k is not None and k < 1:
        raise OptionError.of(f"Expected `k` to be at least 1, got {k}")


def _both(gold: Json, predicted: Json) -> tuple[Segmentation, Segmentation]:
    return _read("gold", gold), _read("the prediction", predicted)


def _read(side: str, value: Json) -> Segmentation:
    segmentation = segmentations.read_segmentation(value)
    if segmentation is None:
        hint = "Pass spans in the order of the text, increasing positions where segments end, or a text of 0 and 1."
        raise DataError.of(f"Expected {side} to be a segmentation, got {shown(value)}", hint=hint)
    return segmentation
