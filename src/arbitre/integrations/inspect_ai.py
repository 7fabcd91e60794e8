"""Scorer for Inspect."""

from __future__ import annotations

import json
import math
from dataclasses import astuple
from typing import TYPE_CHECKING

from arbitre.comparator.grader import Grader
from arbitre.errors import MissingLibraryError, optional_library
from arbitre.tally import Tally
from arbitre.values import ABSENT

with optional_library("inspect-ai", None, __name__, MissingLibraryError):
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.solver import TaskState

    from arbitre.comparator import Comparator
    from arbitre.schema import SchemaSource


@metric
def micro_f1q() -> Metric:
    """Return a metric: the pooled f1q of the entries of all samples."""

    def pooled(scores: list[SampleScore]) -> float:
        tallies = [Tally(*each.score.metadata["tally"]) for each in scores if each.score.metadata]
        f1q = Tally.sum(tallies).scores.f1q
        return math.nan if f1q is None else f1q

    return pooled


@scorer(metrics=[{"*": [mean(), stderr()]}, micro_f1q()])
def arbitre_scorer(
    schema: SchemaSource | Comparator, paths: str | Sequence[str] = (), score: str = "quality"
) -> Scorer:
    """Return a scorer that compares the completion with the JSON document in the target.

    Args:
        schema: Schema of the documents, or a comparator.
        paths: Wildcard paths whose f1q is also a score. Samples without a value there are unscored.
        score: The score, see `arbitre.Grader`.
    """
    grader = Grader(schema, score)
    paths = grader.check_paths(paths)

    async def graded(state: TaskState, target: Target) -> Score:
        grade = grader(state.output.completion, target.text)
        fields = {path: grade.fields.get(path) for path in paths}
        return Score(
            value={score: grade.score} | {path: math.nan if f1q is None else f1q for path, f1q in fields.items()},
            answer=None if grade.predicted is ABSENT else json.dumps(grade.predicted, ensure_ascii=False),
            explanation=grade.reason,
            reason=None if grade.failure is None else "invalid_response_format",
            metadata={"tally": list(astuple(grade.tally))},
        )

    return graded
