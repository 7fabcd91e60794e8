"""The kinds of the faults that no change repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arbitre.distances import catalogue
from arbitre.paths import parse
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.values import Json

NEAR: Final = 0.7
"""Minimum similarity of two texts that are nearly equal: 1 - edits / length of the longer text."""

_LEVENSHTEIN: Final = catalogue.build("levenshtein")

MIN_PART: Final = 3
"""Minimum number of characters of a text that is part of another."""


def remaining_kind(_sample: Sample, fault: SampleFault) -> str:
    """Return the kind of a fault."""
    if fault.fault in {"split", "merged"}:
        return fault.fault
    if fault.fault == "moved":
        return _moved(fault)
    if fault.gold is ABSENT:
        return "hallucination"
    if fault.predicted is ABSENT:
        return "omission"
    return _wrong(fault.gold, fault.predicted)


def _moved(fault: SampleFault) -> str:
    """Return what moved: an object, or a value to another entry or to another field."""
    if isinstance(fault.gold, dict):
        return "moved-object"
    gold, predicted = parse(fault.gold_pointer or ""), parse(fault.predicted_pointer or "")
    return "moved-value" if [*map(str, gold)][-1:] == [*map(str, predicted)][-1:] or not gold else "other-field"


def _wrong(gold: Json, predicted: Json) -> str:
    """Return how a wrong value resembles gold."""
    if isinstance(gold, str) and isinstance(predicted, str):
        if min(len(gold), len(predicted)) >= MIN_PART and (gold in predicted or predicted in gold):
            return "part-of"
        if 1.0 - _LEVENSHTEIN(gold, predicted) >= NEAR:
            return "near"
    return "unrelated"
