"""Metric for DeepEval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbitre.comparator.grader import Grader
from arbitre.errors import MissingLibraryError, optional_library
from arbitre.values import ABSENT

with optional_library("deepeval", None, __name__, MissingLibraryError):
    from deepeval.errors import MissingTestCaseParamsError
    from deepeval.metrics import BaseMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepeval.test_case import LLMTestCase

    from arbitre.comparator import Comparator
    from arbitre.schema import SchemaSource


class ArbitreMetric(BaseMetric):
    """Compares the actual output of a test case with the JSON document in its expected output.

    Args:
        schema: Schema of the documents, or a comparator.
        threshold: Minimum score of a test case that passes, in [0, 1].
        score_name: The score, see `score` of `arbitre.Grader`; `score` is the attribute with its value.
        paths: Wildcard paths whose f1q is in `score_breakdown`. A path without a value is left out.
    """

    def __init__(
        self,
        schema: SchemaSource | Comparator,
        threshold: float = 0.9,
        score_name: str = "quality",
        paths: str | Sequence[str] = (),
    ) -> None:
        self.threshold, self.score_name = threshold, score_name
        self._grader = Grader(schema, score_name)
        self.paths = self._grader.check_paths(paths)
        self.schema = self._grader.comparator  # DeepEval copies a metric with the attributes named as its parameters

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:  # noqa: ANN401  (options of the display)
        """Score a test case.

        Raises:
            MissingTestCaseParamsError: The test case has no expected output.
            DataError: The expected output cannot be read or compared.
        """
        if test_case.expected_output is None:
            raise MissingTestCaseParamsError(f"Expected `expected_output` for {self.__name__}, got None")
        actual = ABSENT if test_case.actual_output is None else test_case.actual_output
        grade = self._grader(actual, test_case.expected_output)
        self.score, self.reason = grade.score, grade.reason
        self.score_breakdown = {path: f1q for path in self.paths if (f1q := grade.fields.get(path)) is not None}
        self.is_successful()
        return grade.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:  # noqa: ANN401
        """Score a test case."""
        return self.measure(test_case)

    @property
    def __name__(self) -> str:
        """Name of the metric in results."""
        return f"arbitre {self.score_name}"
