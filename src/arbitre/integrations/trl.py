"""Reward function for TRL, for `GRPOTrainer` and other trainers with `reward_funcs`. TRL itself is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbitre.comparator.grader import Grader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.comparator import Comparator
    from arbitre.comparator.grader import Grade
    from arbitre.schema import SchemaSource


def reward(
    schema: SchemaSource | Comparator, gold: str = "gold", score: str = "quality", unreadable: float = 0.0
) -> Callable[..., list[float]]:
    """Return a reward function that compares each completion with its gold document.

    It logs the share of unreadable completions as `arbitre/unreadable`.

    Args:
        schema: Schema of the documents, or a comparator.
        gold: Column of the data set with the gold documents: JSON texts or JSON values.
        score: The score, see `arbitre.Grader`. Its name is part of the name of the reward.
        unreadable: Reward of a completion that cannot be read or compared.
    """
    grader = Grader(schema, score)

    def function(
        completions: Sequence[Any],
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,  # noqa: ANN401  (the columns of the data set)
    ) -> list[float]:
        known: dict[tuple[str, str], Grade] = {}  # many completions of a group are equal
        grades = []
        for completion, document in zip(completions, columns[gold], strict=True):
            text = completion if isinstance(completion, str) else completion[-1]["content"]
            key = text, repr(document)
            if key not in known:
                known[key] = grader(text, document)
            grades.append(known[key])
        if log_metric is not None:
            log_metric("arbitre/unreadable", sum(grade.failure is not None for grade in grades) / len(grades))
        return [unreadable if grade.failure is not None else grade.score for grade in grades]

    function.__name__ = f"arbitre_{score}"
    return function
