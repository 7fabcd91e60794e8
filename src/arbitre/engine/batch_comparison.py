"""Compare many pairs of documents at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.call_budget import call_upper_bounds, limit_calls
from arbitre.engine.solve.limits import DEFAULT_LIMITS
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.trace import Tracer
from arbitre.errors import FunctionError
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.engine.columns.column import Column
    from arbitre.engine.solve.batches import Batch
    from arbitre.engine.solve.limits import CellLimits
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan

T = TypeVar("T")


@dataclass(frozen=True, eq=False, slots=True)
class BatchResult:
    """Result of comparing a batch of documents; `levels` builds the levels of the result."""

    columns: Sequence[Column]
    """The columns of all documents; the first is the root's."""
    documents: Indices
    """Position of the document pair of each root row; shape (root rows,)."""
    batch: Batch | None
    """The pairs whose documents are present on both sides; None if there are no documents."""
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
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    exhaustive: bool = False,
    limits: CellLimits = DEFAULT_LIMITS,
) -> BatchResult:
    """Compare each gold document with the predicted document at the same position.

    The result for a pair depends on the plan and that pair only.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        predicted: The predicted documents, as many as `gold`; ABSENT for a missing document.
        exhaustive: Whether to compute every candidate pair of every matching. The results are the same; for diagnosis
            and tests.
        limits: Sizes at which the solver changes its method. The results are the same.

    Raises:
        DataError: A value is not JSON.
        SolverError: A matching cannot be computed.
        FunctionError: A custom distance or normaliser fails.
    """
    gold_positions, predicted_positions = (
        [position for position, value in enumerate(side) if value is not ABSENT] for side in (gold, predicted)
    )
    documents, gold_count = np.array(gold_positions + predicted_positions, dtype=np.intp), len(gold_positions)
    if len(documents) == 0:
        return BatchResult((), documents, None, documents, documents)
    columns = _at_document(
        documents,
        lambda: build_columns(
            plan,
            [gold[position] for position in gold_positions],
            [predicted[position] for position in predicted_positions],
        ),
    )
    if plan.max_calls is not None:
        limit_calls(columns, documents, gold_count, plan.max_calls)
    root = columns[0]
    present = np.arange(root.size, dtype=np.intp) if root.present is None else root.present.nonzero()[0]
    middle = int(present.searchsorted(gold_count))
    left, right = np.full((2, len(gold)), -1, dtype=np.intp)
    left[documents[present[:middle]]], right[documents[present[middle:]]] = present[:middle], present[middle:]
    both = (left >= 0) & (right >= 0)
    solver = QualitySolver(exhaustive, limits)
    batch = _at_document(documents, lambda: solver.evaluate(root, left[both], right[both]))
    return BatchResult(columns, documents, batch, left[(left >= 0) & ~both], right[(right >= 0) & ~both])


def _at_document(documents: Indices, compute: Callable[[], T]) -> T:
    """Return the result; replace the root row in a FunctionError by the position of the document pair."""
    try:
        return compute()
    except FunctionError as error:
        error.document = None if error.document is None else int(documents[error.document])
        raise


def count_calls(plan: Plan, gold: Json, predicted: Json) -> dict[str, int]:
    """Return the maximum number of calls to custom distances for two documents, by path.

    Raises:
        DataError: A value is not JSON.
    """
    columns = build_columns(plan, [gold], [predicted])
    return {path: bound for _, path, bound in call_upper_bounds(columns, np.zeros(2, dtype=np.intp), 1)}


def compare_to_levels(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    exhaustive: bool = False,
    limits: CellLimits = DEFAULT_LIMITS,
) -> tuple[Level, ...]:
    """Return the levels of `compare_batch`."""
    return compare_batch(plan, gold, predicted, exhaustive=exhaustive, limits=limits).levels()
