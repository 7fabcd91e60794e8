"""Metrics for the training of token classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.entities.evaluation import evaluate
from arbitre.entities.tags import AUTO
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from arbitre.options import Scheme

IGNORED: Final = -100
"""Label id of tokens that do not count: special tokens, and parts of words after the first."""

_LOGITS: Final = 3
"""Number of dimensions of logits: sentences, tokens, tags."""


def trainer_metrics(
    id2label: Mapping[int, str], *, scheme: Scheme = "strict", tags: str = AUTO
) -> Callable[[Any], dict[str, float]]:
    """Return a function for the argument `compute_metrics` of a trainer, such as that of transformers.

    The function takes the predictions and the label ids, as a pair or as an object with the attributes `predictions`
    and `label_ids`. Predictions are logits of shape (sentences, tokens, tags) or tag ids of shape (sentences, tokens).
    Tokens with the label id -100 do not count.

    It returns `precision`, `recall` and `f1` of all entities; `f1_macro`, the mean F1 of the labels; `exact_match`, the
    share of sentences whose entities are all correct; `accuracy` and `accuracy_always_o` of the tags; and
    `precision_LABEL`, `recall_LABEL` and `f1_LABEL` of each label in `id2label`. A trainer compares numbers, so a score
    without denominator is 0 here.

    Args:
        id2label: Tags by id.
        scheme: When an entity is correct, as in `evaluate`.
        tags: Notation of the tags, as in `evaluate`.

    >>> metrics = trainer_metrics({0: "O", 1: "B-city", 2: "I-city"})
    >>> scores = metrics((np.array([[1, 2, 0], [1, 0, 0]]), np.array([[1, 2, -100], [0, 1, 0]])))
    >>> scores["f1_macro"], scores["exact_match"], scores["accuracy_always_o"]
    (0.5, 0.5, 0.4)
    """
    names = {int(number): str(tag) for number, tag in id2label.items()}
    labels = sorted({tag.partition("-")[2] for tag in names.values() if "-" in tag})

    def compute_metrics(output: Any) -> dict[str, float]:  # noqa: ANN401  (of the trainer)
        predictions, ids = (
            (output.predictions, output.label_ids) if hasattr(output, "predictions") else (output[0], output[1])
        )
        predicted = np.asarray(predictions[0] if isinstance(predictions, tuple) else predictions)
        gold = np.asarray(ids)
        if predicted.ndim == _LOGITS:
            predicted = predicted.argmax(axis=-1)
        if predicted.shape != gold.shape:
            raise DataError.of(
                f"Expected a prediction for each label id (shape {gold.shape}), got the shape {predicted.shape}"
            )
        counted = gold != IGNORED
        left, right = (
            [_tags(row[mask], names) for row, mask in zip(rows, counted, strict=True)] for rows in (gold, predicted)
        )
        evaluation = evaluate(left, right, scheme=scheme, tags=tags, lenient=True)
        scores: dict[str, float | None] = {
            "precision": evaluation.precision,
            "recall": evaluation.recall,
            "f1": evaluation.f1,
            "f1_macro": evaluation.classes.macro.f1,
            "exact_match": evaluation.exact_match.rate,
        }
        if evaluation.token_accuracy is not None:
            scores |= {
                "accuracy": evaluation.token_accuracy.accuracy,
                "accuracy_always_o": evaluation.token_accuracy.baseline,
            }
        for label in labels:
            of_label = evaluation.per_class.get(label)
            scores |= {f"{name}_{label}": getattr(of_label, name, None) for name in ("precision", "recall", "f1")}
        return {name: 0.0 if score is None else float(score) for name, score in scores.items()}

    return compute_metrics


def _tags(ids: Any, names: Mapping[int, str]) -> list[str]:  # noqa: ANN401  (an array)
    unknown = next((number for number in ids.tolist() if number not in names), None)
    if unknown is not None:
        raise DataError.of(f"Expected ids of `id2label`, got {unknown}", hint="Ids are -100 or keys of `id2label`.")
    return [names[number] for number in ids.tolist()]
