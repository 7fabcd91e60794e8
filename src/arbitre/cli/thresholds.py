"""Thresholds on scores, as in `--fail-under f1q=0.9`: read, held against results, reported."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, Self

import typer

from arbitre.comparison import Comparison
from arbitre.corpus.evaluation import Evaluation
from arbitre.corpus.scoring import HIGHER
from arbitre.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from arbitre.corpus.evaluation import Document
    from arbitre.tally import Scores

SCOPES: Final = ("micro", "macro", "leaves")
TOLERANCE: Final = 1e-9

_GRADED: Final = re.compile(r"fq\((.+)\)")


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least value that a score may have.

    `scope` is micro (the entries), macro, leaves, or a wildcard path; `beta` is that of `fq(beta)`.

    >>> Threshold.parse("/entries/*/name:irq=0.8")
    Threshold(scope='/entries/*/name', score='irq', beta=None, least=0.8)
    """

    scope: str
    score: str
    beta: float | None
    least: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """The threshold that is written so. Raises typer.BadParameter."""
        measure, equals, value = text.rpartition("=")
        if not equals:
            raise typer.BadParameter(f"Expected SCORE=VALUE, as in f1q=0.9, got {text!r}.")
        if measure.startswith("/"):
            scope, _, score = measure.rpartition(":")
            if not scope:
                raise typer.BadParameter(f"Expected PATH:SCORE=VALUE, as in /entries/*/name:irq=0.8, got {text!r}.")
        else:
            scope, dot, score = measure.partition(".")
            if not dot or scope.startswith("fq("):
                scope, score = "micro", measure
            elif scope not in SCOPES:
                raise _unknown("scope", scope, SCOPES)
        beta = _beta(score, text)
        if beta is None and score not in HIGHER:
            raise _unknown("score", score, (*HIGHER, "fq(2)"))
        return cls(scope, score, beta, _least(value, text))

    def __str__(self) -> str:
        return f"{self.scope}{':' if self.scope.startswith('/') else ' '}{self.score}"

    def of(self, scores: Scores) -> float | None:
        """The score of one tally; None where it has none."""
        found: float | None = scores.fq(self.beta) if self.beta is not None else getattr(scores, self.score)
        return found

    def mean(self, documents: Iterable[Document]) -> float | None:
        """The mean of the documents' scores: 0 for a failed one, vacuous and undefined ones left out."""
        kept = (one for one in documents if one.failed or not one.scores.vacuous)
        values = (0.0 if one.failed else self.of(one.scores) for one in kept)
        known = [value for value in values if value is not None]
        return fmean(known) if known else None


def shortfalls(
    thresholds: Iterable[Threshold], result: Comparison | Evaluation, declared: Collection[str]
) -> Iterator[str]:
    """What to say of every threshold that is not met; `declared` are the paths of the schema.

    A score without a value (nothing to count) meets no threshold. Raises DataError for a path that is neither in the
    results nor in the schema, and for a mean over one document.
    """
    for threshold in thresholds:
        value = _value(threshold, result, declared)
        if value is None:
            yield f"{threshold} has no value (nothing to count), not {threshold.least:g}"
        elif value < threshold.least - TOLERANCE:
            yield f"{threshold} is {value:.4f}, {threshold.least - value:.4f} below {threshold.least:g}"


def _value(threshold: Threshold, result: Comparison | Evaluation, declared: Collection[str]) -> float | None:
    if isinstance(result, Comparison):
        micro, paths = result.scores, result.by_path()
    else:
        micro, paths = result.micro, result.by_path
    if threshold.scope == "micro":
        return threshold.of(micro)
    if threshold.scope == "leaves":
        return threshold.of(result.leaves)
    if threshold.scope == "macro":
        if isinstance(result, Evaluation):
            return threshold.mean(result.documents)
        raise DataError.of(
            f"Expected --fail-under to name a score of one comparison, got {str(threshold)!r}",
            hint="`arbitre evaluate` has means over documents.",
        )
    if threshold.scope in paths:
        return threshold.of(paths[threshold.scope])
    if threshold.scope in declared:
        return None
    raise DataError.of(
        f"Expected --fail-under to name a path with scores, got {threshold.scope!r}",
        hint=did_you_mean(threshold.scope, paths) or f"There are: {', '.join(paths)}.",
    )


def _beta(score: str, text: str) -> float | None:
    """The beta of `fq(beta)`; None for a score of another name."""
    graded = _GRADED.fullmatch(score)
    if graded is None:
        return None
    beta = _number(graded[1])
    if not 0.0 < beta < math.inf:
        raise typer.BadParameter(f"Expected the beta of fq to be a positive number, got {graded[1]!r} in {text!r}.")
    return beta


def _least(value: str, text: str) -> float:
    least = _number(value)
    if not 0.0 <= least <= 1.0:
        raise typer.BadParameter(f"Expected the value to be a number from 0 to 1, got {value!r} in {text!r}.")
    return least


def _number(text: str) -> float:
    """The number that is written so, or NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _unknown(what: str, word: str, known: tuple[str, ...]) -> typer.BadParameter:
    hint = did_you_mean(word, known) or f"There are: {', '.join(known)}."
    return typer.BadParameter(f"Expected a {what}, got {word!r}. {hint}")
