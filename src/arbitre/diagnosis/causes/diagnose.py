"""Diagnose the comparisons of a batch of documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from arbitre.comparison.diagnosis import Diagnosis
from arbitre.diagnosis.causes.faults import FaultResults
from arbitre.diagnosis.causes.joins import JoinResults
from arbitre.diagnosis.causes.order import orders
from arbitre.diagnosis.causes.solidarity import LeafSums, solidarity_by_chance
from arbitre.diagnosis.moves.moved import MovedResults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.moves.chance import UsualValues
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


def diagnose(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
    *,
    rematch: bool = False,
) -> list[Diagnosis]:
    """Return the diagnosis of each pair of documents.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        predicted: The predicted documents, as many as `gold`; ABSENT for a missing document.
        levels: The levels of the documents, compared together.
        rematch: Whether to compute repair gains by comparing repaired documents again.

    Raises:
        DataError: `rematch` is set, and items are matched by transport.
    """
    sums = LeafSums.of(levels, len(gold), plan.close)
    joins = JoinResults.of(plan, gold, predicted, levels)
    moved = MovedResults.of(plan, levels, len(gold))
    faults = FaultResults.of(plan, gold, levels, joins.joins, moved.nodes, rematch=rematch)
    parts = (sums, joins, moved, faults)
    order = orders(levels, plan.entries, len(gold))
    return [
        Diagnosis(
            **{name: value for part in parts for name, value in part.parts_of(document).items()}
            | solidarity_by_chance(plan, [gold[document]], [predicted[document]]),
            order=order[document],
        )
        for document in range(len(gold))
    ]


def find_faults(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    levels: Sequence[Level],
    usual: UsualValues | None = None,
) -> FaultResults:
    """Return the faults of each pair of documents; see `diagnose` and `MovedResults.of` for the arguments."""
    joins = JoinResults.of(plan, gold, predicted, levels)
    moved = MovedResults.of(plan, levels, len(gold), usual)
    return replace(FaultResults.of(plan, gold, levels, joins.joins, moved.nodes), doubtful=moved.doubtful)
