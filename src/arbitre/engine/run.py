"""Many pairs of documents compared at once: the plan and the documents in, the optimum and what it says out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.calls import limit_calls, most_calls
from arbitre.engine.shred import shred
from arbitre.engine.solve import Solver
from arbitre.engine.trace import Tracer
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.engine.batches import Batch
    from arbitre.engine.columns import Column
    from arbitre.paths import Path
    from arbitre.schema.nodes import Plan


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """What came of comparing documents: the optimum, from which the levels are traced when they are asked for."""

    columns: Sequence[Column]
    documents: Indices
    batch: Batch | None
    missing: Indices
    spurious: Indices

    def levels(self, down_to: Path | None = None) -> tuple[Level, ...]:
        """The levels; only those on the way to `down_to`, and directly below it, where that is given."""
        if self.batch is None:
            return ()
        return Tracer(self.columns, self.documents, down_to).trace(self.batch, self.missing, self.spurious)


def outcome(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, exhaustive: bool = False) -> Outcome:
    """Compare `gold[d]` with `predicted[d]` for every document d; either may be ABSENT.

    The outcome holds all documents; what is said of one depends on the plan and that document alone. `exhaustive`
    computes every pair that a matching could make: the same results, for diagnosis and tests.
    Raises DataError for values that are not JSON, and SolverError.
    """
    ours, theirs = ([at for at, value in enumerate(side) if value is not ABSENT] for side in (gold, predicted))
    documents, first = np.array(ours + theirs, dtype=np.intp), len(ours)
    if len(documents) == 0:
        return Outcome((), documents, None, documents, documents)
    columns = shred(plan, [gold[at] for at in ours], [predicted[at] for at in theirs])
    if plan.max_calls is not None:
        limit_calls(columns, documents, first, plan.max_calls)
    root = columns[0]
    alive = np.arange(root.size, dtype=np.intp) if root.alive is None else root.alive.nonzero()[0]
    middle = int(alive.searchsorted(first))
    left, right = np.full((2, len(gold)), -1, dtype=np.intp)
    left[documents[alive[:middle]]], right[documents[alive[middle:]]] = alive[:middle], alive[middle:]
    both = (left >= 0) & (right >= 0)
    batch = Solver(exhaustive=exhaustive).evaluate(root, left[both], right[both])
    return Outcome(columns, documents, batch, left[(left >= 0) & ~both], right[(right >= 0) & ~both])


def calls(plan: Plan, gold: Json, predicted: Json) -> dict[str, int]:
    """How often users' functions may be called to compare two documents, by path. Raises DataError."""
    columns = shred(plan, [gold], [predicted])
    return {path: most for _, path, most in most_calls(columns, np.zeros(2, dtype=np.intp), 1)}


def run(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, exhaustive: bool = False) -> tuple[Level, ...]:
    """The levels of `outcome`."""
    return outcome(plan, gold, predicted, exhaustive=exhaustive).levels()
