"""Transport problems whose plan needs no solver: one row or column, or a permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.matching.batch_assignment import assign_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices, Mask


def cut_problems(values: Floats, counts: Indices) -> Callable[[int], Floats]:
    """What each problem has of the values, which lie end to end."""
    ends = np.cumsum(counts)
    return lambda problem: values[ends[problem] - counts[problem] : ends[problem]]


def permutation_plans(
    mass: Floats, quality: Floats, sides: tuple[Indices, Indices], masses: tuple[Floats, Floats]
) -> Mask:
    """The problems with as many equal masses on either side; their plans, which are matchings, are put into `mass`.

    A square table with uniform marginals has an optimal plan that is a permutation (Birkhoff, 1946).
    """
    heights, widths = sides
    square = np.equal(heights, widths) & (heights > 0)
    for counts, own in zip(sides, masses, strict=True):
        owners = np.repeat(np.arange(len(counts)), counts)
        square &= np.bincount(owners, own != 1.0, minlength=len(counts)) == 0
    inside = np.flatnonzero(np.repeat(square, heights * widths))
    mass[inside[assign_all(quality[inside], heights[square], widths[square])[0]]] = 1.0
    return square
