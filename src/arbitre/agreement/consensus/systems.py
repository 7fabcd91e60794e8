"""Scores systems on unanimous and on contested values separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arbitre.agreement.consensus.disagreement import PartScores, SystemScores
from arbitre.comparison.leaf_pairs import leaf_pairs
from arbitre.corpus.reading.records import Record
from arbitre.engine.batch_comparison import compare_batch
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.agreement.consensus.assemble import Draft
    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.reading.options import ReadOptions
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

BATCH: Final = 256
"""Number of documents that are compared at once."""


def read_predictions(sources: Paths, options: ReadOptions) -> list[tuple[str, Json]]:
    """Read the predictions of a system with their ids. Predictions that cannot be read are left out.

    Raises:
        DataError: A whole source cannot be read.
    """
    return [(item.id, item.value) for item in options.records(sources, "predicted") if isinstance(item, Record)]


def by_document(predictions: Iterable[tuple[str, Json]]) -> dict[str, list[Json]]:
    """Return the predictions of each document, by its id."""
    answers: dict[str, list[Json]] = {}
    for name, predicted in predictions:
        answers.setdefault(name, []).append(predicted)
    return answers


def score_apart(plan: Plan, draft: Draft, predictions: Iterable[tuple[str, Json]]) -> SystemScores:
    """Score a system on unanimous and on contested values separately.

    Args:
        plan: The compiled schema.
        draft: The gold documents.
        predictions: The predictions of the system with the ids of their documents. A document may have several; a
            document without any counts as an empty prediction.
    """
    answers = by_document(predictions)
    pairs = [(name, predicted) for name in draft.documents for predicted in answers.get(name, [ABSENT])]
    parts: dict[bool, list[float]] = {True: [], False: []}
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        levels = compare_batch(plan, [draft.documents[name] for name, _ in batch], [each for _, each in batch]).levels()
        for _, pair in leaf_pairs(levels):
            if pair.pointer is not None:
                contested = _is_below(pair.pointer, draft.origins.get(batch[pair.document][0], {}))
                parts[contested].append(pair.quality)
    return SystemScores(PartScores.of(parts[False]), PartScores.of(parts[True]))


def _is_below(pointer: str, places: Mapping[str, object]) -> bool:
    """Return whether a pointer is one of these places, or lies in one."""
    while pointer not in places:
        if not pointer:
            return False
        pointer = pointer.rpartition("/")[0]
    return True
