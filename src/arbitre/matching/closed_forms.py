"""Transport problems that need no solver, because their plan is a permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.matching.batch_assignment import assign_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices, Mask


def cut_problems(values: Floats, counts: Indices) -> Callable[[int], Floats]:
    """Return a function that returns the values of a problem; the values of all problems are concatenated."""
    ends = np.cumsum(counts)
    return lambda problem: values[ends[problem] - counts[problem] : ends[problem]]


def permutation_plans(
    mass: Floats, quality: Floats, sides: tuple[Indices, Indices], masses: tuple[Floats, Floats]
) -> Mask:
    """Solve the problems with equally many items on both sides, all of mass 1, and write their plans to `mass`.

    A square table with uniform marginals has an optimal plan that is a permutation (Birkhoff, 1946).

    Args:
        mass: Masses of the plans of all problems, modified in place; shape (cells,).
        quality: Qualities of all pairs; shape (cells,).
        sides: Number of gold and of predicted items of each problem; shapes (problems,).
        masses: Masses of the gold and of the predicted items, concatenated.

    Returns:
        Mask of the solved problems; shape (problems,).
    """
    heights, widths = sides
    square = np.equal(heights, widths) & (heights > 0)
    for counts, side_masses in zip(sides, masses, strict=True):
        owners = np.repeat(np.arange(len(counts)), counts)
        square &= np.bincount(owners, side_masses != 1.0, minlength=len(counts)) == 0
    inside = np.flatnonzero(np.repeat(square, heights * widths))
    mass[inside[assign_all(quality[inside], heights[square], widths[square])[0]]] = 1.0
    return square
