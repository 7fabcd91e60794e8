"""Scorer for `mlflow.genai.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbitre.comparator.grader import Grader
from arbitre.integrations import framework
from arbitre.values import ABSENT

with framework("mlflow", __name__):
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
        paths: Wildcard paths whose f1q is also a feedback. MLflow allows no `*` in names: `/people/*/name` is called
            `people/item/name`.
        expected: Key of the gold document in the expectations.
    """
    grader = Grader(schema, score)
    paths = grader.check_paths(paths)

    @scorer(name="arbitre")
    def arbitre(outputs: Any, expectations: dict[str, Any], trace: Any = None) -> list[Feedback]:  # noqa: ANN401
        failed = outputs is None and trace is not None and trace.info.state == "ERROR"
        grade = grader(ABSENT if failed else outputs, expectations[expected])
        named = {path.removeprefix("/").replace("*", "item"): grade.fields.get(path) for path in paths}
        return [
            Feedback(name=score, value=grade.score, rationale=grade.reason),
            *(Feedback(name=name, value=f1q) for name, f1q in named.items() if f1q is not None),
        ]

    return arbitre
