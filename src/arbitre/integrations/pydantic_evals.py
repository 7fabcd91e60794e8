"""Evaluator for pydantic-evals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arbitre.comparator.grader import Grader
from arbitre.errors import MissingLibraryError, optional_library
from arbitre.values import as_tuple

with optional_library("pydantic-evals", None, __name__, MissingLibraryError):
    from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext


@dataclass
class ArbitreEvaluator(Evaluator[Any, Any, Any]):
    """Compares the output of a task with the expected output. Either may be an instance of a model.

    Attributes:
        schema: Schema of the documents, or a comparator.
        score: The score, see `arbitre.Grader`.
        paths: Wildcard paths whose f1q is also reported. Cases without a value there are left out.
    """

    schema: Any
    score: str = "quality"
    paths: str | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._grader = Grader(self.schema, self.score)
        self._grader.check_paths(self.paths)

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason | float]:
        """Return the score with its reason, and the f1q of each path."""
        grade = self._grader(ctx.output, ctx.expected_output)
        fields = {path: f1q for path in as_tuple(self.paths) if (f1q := grade.fields.get(path)) is not None}
        return {self.score: EvaluationReason(grade.score, grade.reason), **fields}
