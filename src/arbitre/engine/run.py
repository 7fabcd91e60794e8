"""Compare many pairs of documents at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.call_budget import limit_calls, most_calls
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.trace import Tracer
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.engine.columns.column import Column
    from arbitre.engine.solve.batches import Batch
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan


@dataclass(frozen=True, eq=False, slots=True)
class BatchResult:
    """The optimum for some pairs of documents, from which the levels of the result are built on request."""

    columns: Sequence[Column]
    """The columns of all documents; the first is the root's."""
    documents: Indices
    """Position of the pair that each root row belongs to; shape (root rows,)."""
    batch: Batch | None
    """The pairs of documents that are present on both sides; None where there are no documents at all."""
    missing: Indices
    """Root rows of gold documents without a prediction."""
    spurious: Indices
    """Root rows of predictions without a gold document."""

    def levels(self, down_to: Path | None = None) -> tuple[Level, ...]:
        """Return the levels; with `down_to`, only those around that path and directly below it."""
        if self.batch is None:
            return ()
        return Tracer(self.columns, self.documents, down_to).trace(self.batch, self.missing, self.spurious)


def compare_batch(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, exhaustive: bool = False
) -> BatchResult:
    """Compare each gold document with the predicted document at the same position.

    The result for a pair depends on the plan and that pair only.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT where there is none.
        predicted: As many predicted documents, likewise.
        exhaustive: Whether to compute every pair that a matching could make: the same results, for diagnosis and tests.

    Raises:
        DataError: A value is not JSON.
        SolverError: A matching cannot be computed, or a custom distance fails.
    """
    ours, theirs = ([at for at, value in enumerate(side) if value is not ABSENT] for side in (gold, predicted))
    documents, first = np.array(ours + theirs, dtype=np.intp), len(ours)
    if len(documents) == 0:
        return BatchResult((), documents, None, documents, documents)
    columns = build_columns(plan, [gold[at] for at in ours], [predicted[at] for at in theirs])
    if plan.max_calls is not None:
        limit_calls(columns, documents, first, plan.max_calls)
    root = columns[0]
    alive = np.arange(root.size, dtype=np.intp) if root.present is None else root.present.nonzero()[0]
    middle = int(alive.searchsorted(first))
    left, right = np.full((2, len(gold)), -1, dtype=np.intp)
    left[documents[alive[:middle]]], right[documents[alive[middle:]]] = alive[:middle], alive[middle:]
    both = (left >= 0) & (right >= 0)
    batch = QualitySolver(exhaustive=exhaustive).evaluate(root, left[both], right[both])
    return BatchResult(columns, documents, batch, left[(left >= 0) & ~both], right[(right >= 0) & ~both])


def count_calls(plan: Plan, gold: Json, predicted: Json) -> dict[str, int]:
    """Return the greatest number of calls of custom distances for two documents, by path. Raises DataError."""
    columns = build_columns(plan, [gold], [predicted])
    return {path: most for _, path, most in most_calls(columns, np.zeros(2, dtype=np.intp), 1)}


def compare_to_levels(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, exhaustive: bool = False
) -> tuple[Level, ...]:
    """Return the levels of `compare_batch`."""
    return compare_batch(plan, gold, predicted, exhaustive=exhaustive).levels()
