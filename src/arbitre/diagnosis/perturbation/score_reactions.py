"""Scores of documents with planted faults, to test which score reacts to which fault under a matching."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from arbitre.comparison.levels import of_nodes
from arbitre.diagnosis.perturbation.perturb import perturb
from arbitre.diagnosis.perturbation.planted_fault import FaultKind
from arbitre.engine import compare_to_levels
from arbitre.errors import ArbitreError
from arbitre.paths import wildcard
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.schema import Plan
    from arbitre.values import Json

KINDS: Final = (FaultKind.DROP, FaultKind.DUPLICATE, FaultKind.MERGE, FaultKind.SWAP, FaultKind.NOISE)
"""The kinds of faults that are planted in the entries, one at a time."""

NONE: Final = "none"
"""Name of the documents without faults."""

MAX_SHARE: Final = 0.5
"""Maximum share of affected entries: a merge and a swap affect two."""


def plant_each(
    documents: Mapping[str, Json], *, at: str, share: float = 0.2, seed: int = 0
) -> dict[str, dict[str, Json]]:
    """Plant each kind of fault in copies of documents, in the same entries where possible.

    Args:
        documents: Gold documents by id.
        at: Wildcard path of the list of entries.
        share: Expected share of affected entries, in (0, 0.5].
        seed: Random seed.

    Returns:
        The documents with faults, by kind of fault and id; the original documents under "none".

    Raises:
        ArbitreError: `share` is out of range.
    """
    if not 0.0 < share <= MAX_SHARE:
        raise ArbitreError.of(f"Expected `share` to be above 0 and at most {MAX_SHARE}, got {share}")
    planted = {
        kind.value: {
            key: perturb(document, {kind: share}, at=at, seed=seed, key=key).document
            for key, document in documents.items()
        }
        for kind in KINDS
    }
    return {NONE: dict(documents)} | planted


def score_faults(plan: Plan, gold: Mapping[str, Json], faulty: Mapping[str, Mapping[str, Json]]) -> dict[str, Scores]:
    """Return the pooled scores of the entries by kind of fault. Raises DataError and SolverError.

    Args:
        plan: The compiled schema.
        gold: Gold documents by id.
        faulty: For each kind of fault, the documents by the same ids, as `plant_each` returns them.
    """
    predicted = [documents[key] for documents in faulty.values() for key in gold]
    levels = compare_to_levels(plan, [*gold.values()] * len(faulty), predicted)
    tallies = map(Tally.of, of_nodes(levels, wildcard(plan.entries), len(predicted)))
    return {kind: Scores(Tally.sum(islice(tallies, len(gold)))) for kind in faulty}
