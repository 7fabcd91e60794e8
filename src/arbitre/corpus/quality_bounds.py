"""Quality bounds: bounds on scores that make a command fail, such as `--fail-under f1q=0.9`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, runtime_checkable

import numpy as np

from arbitre.corpus.documents import DocumentQuality
from arbitre.errors import DataError, OptionError, Problem, QualityBoundError, did_you_mean
from arbitre.refused_coefficients import check_not_agreement
from arbitre.statistics.sample import HIGHER_IS_BETTER
from arbitre.tally import Scores, scores_from_counts
from arbitre.values import as_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from arbitre.comparison import Comparison
    from arbitre.corpus.documents import DocumentResult, DocumentTable
    from arbitre.tally import PathScores

    Bounds = Iterable[str | "QualityBound"] | Mapping[str, float]
    """Bounds on scores: `{"f1q": 0.9}` or `["f1q=0.9"]`."""
    Column = Scores | Mapping[str, float | None]
    Measure = Callable[["QualityBound"], float | None]

QUALITY: Final = "document_quality"
SCOPES: Final = ("micro", "macro", "leaves", QUALITY)
"""Names of the scores of a whole corpus."""
FAILED: Final = "failed"
VARIANCE: Final = "variance"
EXACT: Final = "exact_match_rate"
TOLERANCE: Final = 1e-9
"""Amount by which a score may miss its bound and still pass."""

_CALLED: Final = re.compile(r"(fq|at_least)\((.+)\)")


@dataclass(frozen=True, slots=True)
class QualityBound:
    """A minimum or maximum for one score.

    Attributes:
        scope: micro (the entries), macro, leaves, document_quality, failed, or a wildcard path.
        score: Name of the score.
        argument: Argument of `fq(beta)` or `at_least(q)`; None for other scores.
        bound: Minimum or, if `over`, maximum value of the score.
        over: Whether the bound is a maximum.

    >>> QualityBound.parse("/entries/*/name:irq=0.8")
    QualityBound(scope='/entries/*/name', score='irq', argument=None, bound=0.8, over=False)
    """

    scope: str
    score: str
    argument: float | None
    bound: float
    over: bool = False

    @classmethod
    def parse(cls, text: str, *, over: bool = False) -> Self:
        """Parse a bound written as `MEASURE=VALUE`. Raises OptionError."""
        measure, equals, value = text.rpartition("=")
        if not equals:
            raise OptionError.of(f"Expected SCORE=VALUE, as in f1q=0.9, got {text!r}")
        return cls.of(measure, value, over=over)

    @classmethod
    def of(cls, measure: str, value: float | str, *, over: bool = False) -> Self:
        """Create a bound on a measure, such as `leaves.f1q`, `document_quality` or `/date:f1q`. Raises OptionError."""
        text = f"{measure}={value}"
        if measure == FAILED:
            return cls._of_failed(value, text, over=over)
        scope, score, argument = parse_measure(measure, text, over=over)
        bound = _number(value)
        if not 0.0 <= bound <= 1.0:
            raise OptionError.of(f"Expected the value to be a number from 0 to 1, got {value!r} in {text!r}")
        return cls(scope, score, argument, bound, over)

    @classmethod
    def _of_failed(cls, value: float | str, text: str, *, over: bool) -> Self:
        bound = _number(value)
        if not over:
            raise OptionError.of(
                f"Expected a score, got {text!r}",
                hint=f"The number of failed documents has an upper bound: {FAILED}=0.",
            )
        if not (bound >= 0.0 and bound.is_integer()):
            raise OptionError.of(f"Expected a number of documents, got {value!r} in {text!r}")
        return cls(FAILED, FAILED, None, bound, over)

    def __str__(self) -> str:
        if self.scope == FAILED:
            return FAILED
        if self.scope == QUALITY:
            return QUALITY if self.score == "mean" else f"{QUALITY}.{self.score}"
        return f"{self.scope}{':' if self.scope.startswith('/') else ' '}{self.score}"

    @property
    def option(self) -> str:
        """The command-line option of this kind of bound."""
        return "--fail-over" if self.over else "--fail-under"


@runtime_checkable
class CorpusScores(Protocol):
    """The scores of a corpus that can have bounds: an `Evaluation`."""

    @property
    def document_table(self) -> DocumentTable: ...
    @property
    def micro(self) -> Scores: ...
    @property
    def leaves(self) -> Scores: ...
    @property
    def by_path(self) -> Mapping[str, PathScores]: ...
    @property
    def document_quality(self) -> DocumentQuality: ...
    @property
    def declared(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class MissedBound:
    """A bound that a result does not meet.

    Attributes:
        quality_bound: The bound.
        value: The measured value; None if there is nothing to count.
        system: Name of the system; None if there is only one.
    """

    quality_bound: QualityBound
    value: float | None
    system: str | None = None

    @property
    def gate(self) -> QualityBound:
        """The bound: the former name of `quality_bound`."""
        return self.quality_bound

    def __str__(self) -> str:
        required, value = self.quality_bound, self.value
        name = f"{self.system}: {required}" if self.system is not None else str(required)
        if value is None:
            return f"{name} has no value (nothing to count), not {required.bound:g}"
        if required.scope == FAILED:
            return f"{name} is {value:g}, {value - required.bound:g} above {required.bound:g}"
        side = "above" if required.over else "below"
        return f"{name} is {value:.4f}, {abs(value - required.bound):.4f} {side} {required.bound:g}"


def check_bounds(
    result: Comparison | CorpusScores | Mapping[str, CorpusScores],
    *,
    fail_under: Bounds = (),
    fail_over: Bounds = (),
    declared: str | Collection[str] = (),
) -> tuple[MissedBound, ...]:
    """Check results against lower and upper bounds, as `--fail-under` and `--fail-over` do.

    Args:
        result: A comparison, an evaluation, or a dictionary that maps system names to evaluations.
        fail_under: Lower bounds: `{"document_quality": 0.9}` or `["document_quality=0.9"]`.
        fail_over: Upper bounds, such as `{"failed": 0}`.
        declared: Paths that the schema declares. If no document has such a path, a bound on it is missed instead of
            raising an error. Evaluations already contain these paths.

    Returns:
        The bounds that are not met, in order; `str()` of each states by how much. An undefined score (nothing to count)
        meets no bound.

    Raises:
        OptionError: A bound names an unknown score, or its value is out of range.
        DataError: A bound names a path that is neither in the results nor in the schema.

    >>> import arbitre
    >>> comparator = arbitre.Comparator({"type": "string"})
    >>> evaluation = comparator.evaluate([("a", "yes", "yes"), ("b", "yes", arbitre.ABSENT)])
    >>> missed = check_bounds(evaluation, fail_under={"document_quality": 0.9}, fail_over=["failed=0"])
    >>> [str(each) for each in missed]
    ['document_quality is 0.5000, 0.4000 below 0.9', 'failed is 1, 1 above 0']
    """
    bounds, declared = parse_bounds(fail_under, fail_over), as_tuple(declared)
    if not bounds:
        return ()
    if isinstance(result, Mapping):
        return tuple(
            missed
            for name, evaluation in result.items()
            for missed in _missed_bounds(bounds, BoundedResult.of(evaluation, declared), name)
        )
    return tuple(_missed_bounds(bounds, BoundedResult.of(result, declared)))


def parse_bounds(fail_under: Bounds = (), fail_over: Bounds = ()) -> tuple[QualityBound, ...]:
    """Return the lower and upper bounds. Raises OptionError if one is invalid."""
    return (*_bounds(fail_under, over=False), *_bounds(fail_over, over=True))


def with_paths(
    scores: Mapping[str, float], paths: Mapping[str, float | Mapping[str, float]] | None
) -> dict[str, float]:
    """Return minimum scores by measure, with those of paths: minimum f1q by path, or minimum scores by path."""
    bounds = dict(scores)
    for path, least in (paths or {}).items():
        by_score = least if isinstance(least, Mapping) else {"f1q": least}
        bounds |= {f"{path}:{score}": value for score, value in by_score.items()}
    return bounds


def require(missed: Iterable[MissedBound]) -> None:
    """Raise QualityBoundError with one problem for each bound that is missed, if there are any."""
    if problems := [Problem(str(each)) for each in missed]:
        raise QualityBoundError(*problems)


def check_plain(plain: Mapping[str, Any], bounds: Iterable[QualityBound]) -> tuple[MissedBound, ...]:
    """Check the contents of `evaluation.json` against bounds. Raises DataError."""
    return tuple(_missed_bounds(bounds, BoundedResult.read(plain)))


@dataclass(frozen=True, slots=True)
class BoundedResult:
    """The values of a result that can have bounds.

    Attributes:
        measures: For every scope and path, a function that returns the bounded value; None if there is
            nothing to count.
        declared: Paths that the schema declares.
    """

    measures: Mapping[str, Measure]
    declared: Collection[str]

    @classmethod
    def of(cls, result: Comparison | CorpusScores, declared: Collection[str]) -> Self:
        """Collect the values from a comparison or an evaluation."""
        if isinstance(result, CorpusScores):
            scores = {"micro": result.micro, "leaves": result.leaves, **result.by_path}
            failed, macro = float(result.document_table.failed.sum()), partial(_mean, result.document_table)
            quality = partial(_summary, result.document_quality)
            return cls(_measures(lambda _: failed, macro, quality, scores), (*declared, *result.declared))
        scores = {"micro": result.scores, "leaves": result.leaves, **result.by_path}
        quality = partial(_summary, DocumentQuality(np.array([result.quality])))
        return cls(_measures(_refuse_single, _refuse_single, quality, scores), declared)

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Self:
        """Collect the values from `evaluation.json`. Bounds on measures that need the documents raise DataError."""
        quality = plain[QUALITY] | {each["quality"]: each["share"] for each in plain[QUALITY]["at_least"]}
        scores = {"micro": plain["micro"], "leaves": plain["leaves"], **plain["by_path"]}
        failed, macro = float(plain["failed"]), partial(_in_file, plain["macro"])
        measures = _measures(lambda _: failed, macro, partial(_in_file, quality), scores)
        return cls(measures, plain["trust"]["coverage"]["never"])

    def value(self, required: QualityBound) -> float | None:
        """Return the bounded value; None if there is nothing to count. Raises DataError."""
        if required.scope in self.measures:
            return self.measures[required.scope](required)
        if required.scope in self.declared:
            return None
        paths = [scope for scope in self.measures if scope not in {*SCOPES, FAILED}]
        raise DataError.of(
            f"Expected {required.option} to name a path with scores, got {required.scope!r}",
            hint=did_you_mean(required.scope, paths),
        )


def _bounds(given: Bounds, *, over: bool) -> Iterator[QualityBound]:
    if isinstance(given, str):
        given = (given,)
    if isinstance(given, Mapping):
        yield from (QualityBound.of(measure, value, over=over) for measure, value in given.items())
    else:
        yield from (each if isinstance(each, QualityBound) else QualityBound.parse(each, over=over) for each in given)


def _missed_bounds(
    bounds: Iterable[QualityBound], result: BoundedResult, system: str | None = None
) -> Iterator[MissedBound]:
    for required in bounds:
        value = result.value(required)
        beyond = value is None or (value - required.bound if required.over else required.bound - value) > TOLERANCE
        if beyond:
            yield MissedBound(required, value, system)


def _measures(failed: Measure, macro: Measure, quality: Measure, scores: Mapping[str, Column]) -> dict[str, Measure]:
    by_scope = {scope: partial(score_of, column) for scope, column in scores.items()}
    return {FAILED: failed, "macro": macro, QUALITY: quality, **by_scope}


def score_of(scores: Column, required: QualityBound) -> float | None:
    """Return the bounded score of one tally; None if it is undefined."""
    if isinstance(scores, Mapping):
        if required.score in {VARIANCE, EXACT}:
            return scores[required.score]
        scores = scores_from_counts(scores)  # as in the tables and tests of `arbitre diff`
    bounded: float | None = (
        getattr(scores, required.score) if required.argument is None else scores.fq(required.argument)
    )
    return bounded


def _mean(documents: Iterable[DocumentResult], required: QualityBound) -> float | None:
    """Return the mean of the bounded score over documents."""
    scored = (each for each in documents if each.failed or not each.scores.vacuous)
    values = (0.0 if each.failed else score_of(each.scores, required) for each in scored)
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _summary(quality: DocumentQuality, required: QualityBound) -> float | None:
    """Return the bounded summary of document qualities."""
    if required.argument is not None:
        return quality.at_least(required.argument)
    value: float | None = getattr(quality, required.score)
    return value


def _refuse_single(required: QualityBound) -> float | None:
    raise DataError.of(
        f"Expected {required.option} to name a score of a single comparison, got {str(required)!r}",
        hint="Use `arbitre evaluate` for several documents.",
    )


def _in_file(values: Mapping[Any, float | None], required: QualityBound) -> float | None:
    """Return the bounded value of `evaluation.json`; values are by name, or by the quality of `at_least`."""
    key = required.score if required.argument is None else required.argument
    if key not in values:
        raise DataError.of(
            f"Expected {required.option} to name a value in evaluation.json, got {str(required)!r}",
            hint="Pass this option to `arbitre evaluate` instead.",
        )
    return values[key]


def parse_measure(measure: str, text: str | None = None, *, over: bool = False) -> tuple[str, str, float | None]:
    """Return the scope, the score and the argument of a measure, as in `QualityBound`.

    Args:
        measure: A measure, such as `f1q`, `leaves.f1q`, `document_quality` or `/date:f1q`.
        text: Text that contains the measure, for errors.
        over: Whether a score where lower is better is also a measure.

    Raises:
        OptionError: There is no such measure.
    """
    text = text or measure
    scope, score = _scope(measure, text)
    if (called := _CALLED.fullmatch(score)) and called[1] == ("at_least" if scope == QUALITY else "fq"):
        return scope, score, _argument(called[1], called[2], text)
    if scope == QUALITY:
        _known("measure", score, ("mean", "median", EXACT, "at_least(0.9)"))
    elif score == EXACT and not scope.startswith("/"):
        raise OptionError.of(
            f"Expected {EXACT} of a path or of whole documents, got {text!r}",
            hint=f"Write /PATH:{EXACT} or {QUALITY}.{EXACT}.",
        )
    elif not (over and score == VARIANCE) and score != EXACT:
        if ":" in score:
            raise OptionError.of(
                f"Expected a path to start with a slash, got {text!r}", hint=f'Did you mean "/{text}"?'
            )
        _known("score", score, (*HIGHER_IS_BETTER, "fq(2)"))
    return scope, score, None


def _scope(measure: str, text: str) -> tuple[str, str]:
    """Split a measure into scope and score. Raises OptionError."""
    if measure.startswith("/"):
        scope, _, score = measure.rpartition(":")
        if not scope:
            raise OptionError.of(f"Expected PATH:SCORE, as in /entries/*/name:irq, got {text!r}")
        return scope, score
    if measure == QUALITY:
        return QUALITY, "mean"
    scope, dot, score = measure.partition(".")
    if not dot or scope.startswith("fq("):
        return "micro", measure
    _known("scope", scope, SCOPES)
    return scope, score


def _argument(name: str, value: str, text: str) -> float:
    number = _number(value)
    if name == "fq" and not 0.0 < number < math.inf:
        raise OptionError.of(f"Expected the beta of fq to be a positive number, got {value!r} in {text!r}")
    if name == "at_least" and not 0.0 <= number <= 1.0:
        raise OptionError.of(f"Expected the quality of at_least to be a number from 0 to 1, got {value!r} in {text!r}")
    return number


def _number(value: float | str) -> float:
    """Convert a value to a number; NaN if it is not one."""
    try:
        return float(value)
    except ValueError:
        return math.nan


def _known(what: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        check_not_agreement(word, OptionError)
        raise OptionError.of(f"Expected a {what}, got {word!r}", hint=did_you_mean(word, known))


Gate, Missed, gate = QualityBound, MissedBound, check_bounds
"""Former names."""
