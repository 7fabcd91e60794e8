"""The kernel exp(-cost / epsilon), whose positive semi-definiteness makes the Sinkhorn divergence non-negative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices

_ROUNDING: Final = 1e-9
"""Tolerance for the eigenvalues of the kernel and for the symmetry of the costs."""


def require_positive(  # noqa: PLR0917  (in the order in which everything is laid out)
    quality: Floats,
    within: tuple[Floats, Floats],
    heights: Indices,
    widths: Indices,
    epsilon: float,
    name: Callable[[int], str | None],
) -> None:
    """Check that the Sinkhorn divergence between lists is a divergence (Feydy et al., 2019).

    Where the kernel exp(-cost / epsilon) over the items of both lists has a negative eigenvalue, the divergence can be
    negative, or 0 between different lists.

    Args:
        quality: Qualities of the pairs of all problems, end to end, as `transport_all` takes them.
        within: Qualities among the gold items, and among the predicted items, laid out likewise.
        heights: Number of gold items of each problem.
        widths: Number of predicted items of each problem.
        epsilon: Weight of the entropy.
        name: Gives the JSON Pointer of a problem, for the error.

    Raises:
        SolverError: The costs are not symmetric, or the kernel is not positive semi-definite.
    """
    cells = heights * widths
    sizes = cells, heights**2, widths**2
    starts = [np.cumsum(size) - size for size in sizes]
    for p in np.flatnonzero(cells).tolist():
        tables = (
            1.0 - part[at[p] : at[p] + size[p]]
            for part, at, size in zip((quality, *within), starts, sizes, strict=True)
        )
        n, m = int(heights[p]), int(widths[p])
        cost, gold, predicted = (
            table.reshape(shape) for table, shape in zip(tables, ((n, m), (n, n), (m, m)), strict=True)
        )
        _check(cost, gold, predicted, epsilon, name(p))


def _check(cost: Floats, gold: Floats, predicted: Floats, epsilon: float, pointer: str | None) -> None:
    if any(np.abs(side - side.T).max() > _ROUNDING for side in (gold, predicted)):
        raise SolverError.of(
            "Expected the distance of the items to be symmetric for a debiased transport, got one that is not",
            pointer=pointer,
            hint="Leave out `debiased`, or take a distance that is symmetric.",
        )
    kernel = np.exp(-np.block([[gold, cost], [cost.T, predicted]]) / epsilon)
    kernel[np.diag_indices_from(kernel)] += _ROUNDING * len(kernel)
    try:
        np.linalg.cholesky(kernel)
    except np.linalg.LinAlgError as error:
        raise SolverError.of(
            f"Expected the kernel exp(-cost / {epsilon:g}) of a debiased transport to be positive semi-definite, got "
            "one that is not: different lists could be at distance 0",
            pointer=pointer,
            hint="Lower `epsilon`, leave out `debiased`, or take the exact solver.",
        ) from error
