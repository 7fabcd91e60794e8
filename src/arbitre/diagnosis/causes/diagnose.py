"""Diagnose the comparisons of a batch of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.comparison.diagnosis import Diagnosis
from arbitre.diagnosis.causes.joins import JoinResults
from arbitre.diagnosis.causes.order import orders
from arbitre.diagnosis.causes.solidarity import LeafSums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.levels import Level
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


def diagnose(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
) -> list[Diagnosis]:
    """Return the diagnosis of each pair of documents.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        predicted: The predicted documents, as many as `gold`; ABSENT for a missing document.
        levels: The levels of the documents, compared together.
    """
    sums = LeafSums.of(levels, len(gold), plan.max_calls)
    joins = JoinResults.of(plan, gold, predicted, levels)
    order = orders(levels, plan.entries, len(gold))
    return [
        Diagnosis(**sums.parts_of(document), **joins.parts_of(document), order=order[document])
        for document in range(len(gold))
    ]
