"""Many pairs of documents compared at once: the plan and the documents in, the levels of the result out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.engine.shred import shred
from arbitre.engine.solve import Solver
from arbitre.engine.trace import Tracer
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.levels import Level
    from arbitre.schema.nodes import Plan


def run(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, exhaustive: bool = False) -> tuple[Level, ...]:
    """Compare `gold[d]` with `predicted[d]` for every document d; either may be ABSENT.

    The levels hold the records of all documents; what is said of one depends on the plan and that document alone.
    `exhaustive` computes every pair that a matching could make: the same results, for diagnosis and tests.
    Raises DataError for values that are not JSON, and SolverError.
    """
    present = [
        (side, number, value) for side, values in enumerate((gold, predicted)) for number, value in enumerate(values)
    ]
    present = [entry for entry in present if entry[2] is not ABSENT]
    if not present:
        return ()
    documents = np.array([number for _, number, _ in present], dtype=np.intp)
    first = sum(side == 0 for side, _, _ in present)
    values = [value for _, _, value in present]
    columns = shred(plan, values[:first], values[first:])
    root = columns[0]
    rows = np.full((2, len(gold)), -1, dtype=np.intp)
    alive = np.arange(root.size, dtype=np.intp) if root.alive is None else np.flatnonzero(root.alive)
    rows[(alive >= first).astype(np.intp), documents[alive]] = alive
    both = (rows[0] >= 0) & (rows[1] >= 0)
    batch = Solver(exhaustive=exhaustive).evaluate(root, rows[0][both], rows[1][both])
    missing, spurious = rows[0][(rows[0] >= 0) & ~both], rows[1][(rows[1] >= 0) & ~both]
    return Tracer(columns, documents).trace(batch, missing, spurious)
