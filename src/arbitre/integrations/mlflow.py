"""Scorer for `mlflow.genai.evaluate`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from arbitre.comparator.grader import Grader
from arbitre.errors import MissingLibraryError, OptionError, did_you_mean, optional_library
from arbitre.values import ABSENT

with optional_library("mlflow", None, __name__, MissingLibraryError):
    from mlflow.entities import Feedback
    from mlflow.genai.scorers import Scorer, scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparator import Comparator
    from arbitre.schema import SchemaSource


def arbitre_scorer(
    schema: SchemaSource | Comparator,
    score: str = "quality",
    paths: str | Sequence[str] = (),
    expected: str = "expected",
) -> Scorer:
    """Return a scorer that compares the outputs with the document in the expectations.

    Args:
        schema: Schema of the documents, or a comparator.
        score: The score, see `arbitre.Grader`.
        paths: Wildcard paths whose f1q is also a feedback. Characters that MLflow does not allow in names are replaced:
            `/people/*/name` becomes `people/item/name`, and `fq(2)` becomes `fq_2_`.
        expected: Key of the gold document in the expectations.

    Raises:
        OptionError: The score or a path is unknown, or two of them have the same name in MLflow; or, when the scorer is
            called, the expectations of the record do not have the key `expected`.
    """
    grader = Grader(schema, score)
    paths = grader.check_paths(paths)
    names: dict[str, str] = {}
    for each in (score, *paths):
        if (other := names.setdefault(_metric_name(each), each)) != each:
            raise OptionError.of(
                f"The scores {other!r} and {each!r} would have the same name in MLflow",
                hint="Omit one of them from `paths`.",
            )

    @scorer(name="arbitre")
    def arbitre(outputs: Any, expectations: dict[str, Any], trace: Any = None) -> list[Feedback]:  # noqa: ANN401
        if expected not in expectations:
            raise OptionError.of(
                f"Expected `expected` to name an expectation of the record, got {expected!r}",
                hint=did_you_mean(expected, expectations) or "The record has no expectations.",
            )
        # None is a valid output, unless the prediction function failed
        failed = outputs is None and trace is not None and trace.info.state == "ERROR"
        grade = grader(ABSENT if failed else outputs, expectations[expected])
        named = {_metric_name(path): grade.fields.get(path) for path in paths}
        return [
            Feedback(name=_metric_name(score), value=grade.score, rationale=grade.reason),
            *(Feedback(name=name, value=f1q) for name, f1q in named.items() if f1q is not None),
        ]

    return arbitre


def _metric_name(score: str) -> str:
    """Return the name of a score or path in MLflow, with only characters that MLflow allows on every operating system.

    >>> _metric_name("/people/*/name:irq"), _metric_name("fq(2)")
    ('people/item/name_irq', 'fq_2_')
    """
    return re.sub(r"[^\w.\- /]", "_", score.removeprefix("/").replace("*", "item"))
