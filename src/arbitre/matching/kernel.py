"""The kernel exp(-cost / epsilon), whose positive semi-definiteness makes the Sinkhorn divergence non-negative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.errors import SolverError
from arbitre.matching.closed_forms import cut_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices

_ROUNDING: Final = 1e-9
"""Tolerance for the eigenvalues of the kernel and for the symmetry of the costs."""


def require_positive(  # noqa: PLR0917  (the order of `transport_all`)
    quality: Floats,
    within: tuple[Floats, Floats],
    heights: Indices,
    widths: Indices,
    epsilon: float,
    name: Callable[[int], str | None],
) -> None:
    """Check that the Sinkhorn divergence is non-negative, and 0 for equal lists only (Feydy et al., 2019).

    This is not guaranteed if the kernel exp(-cost / epsilon) over the items of both lists has a negative eigenvalue.

    Args:
        quality: Qualities of the pairs of all problems, concatenated as for `transport_all`.
        within: Qualities among the gold items and among the predicted items, in the same layout.
        heights: Number of gold items of each problem; shape (problems,).
        widths: Number of predicted items of each problem; shape (problems,).
        epsilon: Weight of the entropy.
        name: Returns the JSON Pointer of a problem, for errors.

    Raises:
        SolverError: The costs are not symmetric, or the kernel is not positive semi-definite.
    """
    cells = heights * widths
    tables = [cut_problems(*part) for part in ((quality, cells), (within[0], heights**2), (within[1], widths**2))]
    for p in np.flatnonzero(cells).tolist():
        n, m = int(heights[p]), int(widths[p])
        cost, gold, predicted = (
            (1.0 - table(p)).reshape(shape) for table, shape in zip(tables, ((n, m), (n, n), (m, m)), strict=True)
        )
        _check_kernel(cost, gold, predicted, epsilon, name(p))


def _check_kernel(cost: Floats, gold: Floats, predicted: Floats, epsilon: float, pointer: str | None) -> None:
    if any(np.abs(side - side.T).max() > _ROUNDING for side in (gold, predicted)):
        raise SolverError.of(
            "Debiased transport requires a symmetric distance between items",
            pointer=pointer,
            hint="Remove `debiased`, or use a symmetric distance.",
        )
    kernel = np.exp(-np.block([[gold, cost], [cost.T, predicted]]) / epsilon)
    kernel[np.diag_indices_from(kernel)] += _ROUNDING * len(kernel)
    try:
        np.linalg.cholesky(kernel)
    except np.linalg.LinAlgError as error:
        raise SolverError.of(
            f"Debiased transport requires a positive semi-definite kernel exp(-cost / {epsilon:g}): otherwise "
            "different lists could have distance 0",
            pointer=pointer,
            hint="Lower `epsilon`, remove `debiased`, or use the exact solver.",
        ) from error
