"""Reward function for TRL, for `GRPOTrainer` and other trainers with `reward_funcs`. TRL itself is not needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arbitre.comparator.grader import Grader
from arbitre.errors import OptionError, did_you_mean
from arbitre.parsing.json_form import json_form
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

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
        unreadable: Reward of a completion that has no text, or that cannot be read or compared.

    Raises:
        OptionError: The score is unknown; or, when the function is called, the data set has no column `gold`.
    """
    grader = Grader(schema, score)

    def function(
        completions: Sequence[Any],
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,  # noqa: ANN401  (the columns of the data set)
    ) -> list[float]:
        if gold not in columns:
            raise OptionError.of(
                f"Expected `gold` to name a column of the data set, got {gold!r}", hint=did_you_mean(gold, columns)
            )
        known: dict[tuple[str | None, Hashable], Grade] = {}  # many completions of a group are equal
        grades = []
        for completion, document in zip(completions, columns[gold], strict=True):
            text = _text_of(completion)
            key = text, document if isinstance(document, (str, bytes)) else canonical(json_form(document))
            if key not in known:
                known[key] = grader(ABSENT if text is None else text, document)
            grades.append(known[key])
        if log_metric is not None and grades:
            log_metric("arbitre/unreadable", sum(grade.failure is not None for grade in grades) / len(grades))
        return [unreadable if grade.failure is not None else grade.score for grade in grades]

    function.__name__ = f"arbitre_{score}"
    return function


def _text_of(completion: str | Sequence[Mapping[str, Any]]) -> str | None:
    """Return the text of a completion, or of the parts of its last message; None without text."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else None
    if content is None or isinstance(content, str):
        return content
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    return "".join(text for text in texts if isinstance(text, str)) or None
