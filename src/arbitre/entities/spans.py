"""Checks of spans: objects with `start`, `end` and `label`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

Span = Mapping[str, Any]
"""An entity: the position of its first token or character (`start`), the position after the last one (`end`), and its
`label`. Other keys are ignored."""

Unit = Literal["token", "character"]


def check_spans(spans: object, length: int | None = None, unit: Unit = "token") -> None:
    """Check the spans of one sentence.

    Args:
        spans: The spans.
        length: Number of tokens or characters of the sentence; None if unknown.
        unit: What the positions count.

    Raises:
        DataError: A span is invalid; with its pointer.
    """
    if not isinstance(spans, (list, tuple)):
        raise DataError.of(f"Expected a list of spans, got {type(spans).__name__}", hint=_HINT)
    for number, span in enumerate(spans):
        problem = _problem(span, length, unit)
        if problem:
            raise DataError.of(problem, pointer=f"/{number}", hint=_HINT)


_HINT = 'A span looks like {"start": 0, "end": 2, "label": "person"}; `end` is the position after the last one.'


def _problem(span: object, length: int | None, unit: Unit) -> str | None:
    if not isinstance(span, Mapping):
        return f"Expected a span, got {type(span).__name__}"
    start, end, label = span.get("start"), span.get("end"), span.get("label")
    if type(start) is not int or type(end) is not int:
        return f"Expected `start` and `end` to be integers, got {start!r} and {end!r}"
    if not 0 <= start < end:
        return f"Expected `start` to be at least 0 and below `end`, got {start} and {end}"
    if length is not None and end > length:
        return f"Expected a span within {length} {unit}s, got one that ends at {end}"
    if not isinstance(label, str) or not label:
        return f"Expected `label` to be a text, got {label!r}"
    return None


def first_overlap(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """Return the first two spans that overlap, by position; None if there are none."""
    ordered = sorted(spans, key=lambda span: (span["start"], span["end"]))
    for before, after in pairwise(ordered):
        if after["start"] < before["end"]:
            return before, after
    return None
