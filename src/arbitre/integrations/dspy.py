"""Metric for DSPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbitre.comparator.grader import Grader
from arbitre.errors import MissingLibraryError, OptionError, did_you_mean, optional_library
from arbitre.values import ABSENT

with optional_library("dspy", None, __name__, MissingLibraryError):
    import dspy

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.comparator import Comparator
    from arbitre.schema import SchemaSource


def metric(
    schema: SchemaSource | Comparator,
    field: str = "output",
    score: str = "quality",
    threshold: float = 0.9,
    *,
    reveal: bool = True,
    binary: bool = False,
) -> Callable[..., float | bool | dspy.Prediction]:
    """Return a metric that compares a field of the prediction with the same field of the example.

    It returns the score; to an optimiser that reads feedback (GEPA), the score with the feedback; and to one that
    collects demonstrations (`trace` is given), whether the score reaches the threshold.

    Args:
        schema: Schema of the documents, or a comparator.
        field: Name of the field.
        score: The score, see `arbitre.Grader`.
        threshold: Minimum score of a demonstration, in [0, 1].
        reveal: Whether feedback may show values of gold; see `Grade.feedback`.
        binary: Whether the metric returns True or False (score at or above `threshold`) even without `trace`. Use it
            with `BootstrapFinetune`, which otherwise trains on every answer with a score above 0. Feedback for GEPA
            still contains the score.

    Raises:
        OptionError: The score is unknown; or, when the metric is called, the example does not have the field.
    """
    grader = Grader(schema, score)

    def arbitre_metric(
        example: Any,  # noqa: ANN401
        prediction: Any,  # noqa: ANN401
        trace: Any = None,  # noqa: ANN401
        pred_name: str | None = None,
        pred_trace: Any = None,  # noqa: ANN401
    ) -> float | bool | dspy.Prediction:
        if field not in example:
            raise OptionError.of(
                f"Expected `field` to name a field of the example, got {field!r}",
                hint=did_you_mean(field, example.keys()),
            )
        grade = grader(prediction.get(field, ABSENT), example[field])
        if pred_name is not None or pred_trace is not None:
            return dspy.Prediction(score=grade.score, feedback=grade.feedback(reveal=reveal))
        return grade.score >= threshold if binary or trace is not None else grade.score

    return arbitre_metric
