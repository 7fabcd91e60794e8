"""Matchings and transport plans: pairs of items with their masses, for one problem or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.errors import OptionError, SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask


NEGLIGIBLE: Final = 1e-12
"""Share of a plan's mass below which a mass is dropped."""
QUALITY_TOLERANCE: Final = 1e-12
"""Amount by which a quality may be outside of [0, 1]."""
EXTREME: Final = 1e12
"""Maximum ratio between two masses of a list; beyond it, the smaller mass is lost to rounding."""


@dataclass(frozen=True, eq=False, slots=True)
class Coupling:
    """A matching or transport plan between a gold list of n items and a predicted list of m items.

    In a one-to-one matching, each position occurs at most once on its side, and every mass is 1. In a transport plan,
    an item may be split among several partners.

    Attributes:
        gold: Positions of the gold items of the pairs; shape (pairs,). Pairs are sorted by `gold`, then `predicted`.
        predicted: Positions of the predicted items of the pairs; shape (pairs,).
        shape: Number of gold and of predicted items, (n, m).
        mass: Mass of each pair; shape (pairs,).
        masses: Masses of the gold items, shape (n,), and of the predicted items, shape (m,). None if all are 1.

    >>> merged = Coupling.of([0, 1], [0, 0], (2, 2), mass=np.array([0.25, 0.75]))
    >>> merged.matrix
    array([[0.25, 0.  ],
           [0.75, 0.  ]])
    >>> merged.unmatched_gold, merged.spurious
    (array([0.75, 0.25]), array([1]))
    """

    gold: Indices
    predicted: Indices
    shape: tuple[int, int]
    mass: Floats
    masses: tuple[Floats, Floats] | None = None

    @classmethod
    def of(
        cls,
        gold: Sequence[int] | Indices,
        predicted: Sequence[int] | Indices,
        shape: tuple[int, int],
        mass: Floats | None = None,
        masses: tuple[Floats, Floats] | None = None,
    ) -> Coupling:
        """Sort the pairs and return their coupling; without `mass`, each pair has mass 1."""
        rows = np.asarray(gold, dtype=np.intp)
        columns = np.asarray(predicted, dtype=np.intp)
        weights = np.ones(len(rows)) if mass is None else np.asarray(mass, dtype=np.float64)
        cells = rows * shape[1] + columns
        if len(rows) > 1 and (cells[1:] < cells[:-1]).any():
            order = np.argsort(cells, kind="stable")
            rows, columns, weights = rows[order], columns[order], weights[order]
        return cls(rows, columns, shape, weights, masses)

    @property
    def missing(self) -> Indices:
        """Positions of the gold items without a partner."""
        return np.setdiff1d(np.arange(self.shape[0], dtype=np.intp), self.gold)

    @property
    def spurious(self) -> Indices:
        """Positions of the predicted items without a partner."""
        return np.setdiff1d(np.arange(self.shape[1], dtype=np.intp), self.predicted)

    @property
    def unmatched_gold(self) -> Floats:
        """Mass of each gold item that is in no pair, at least 0; shape (n,)."""
        return np.maximum(self._item_masses(0) - self._matched_masses(0), 0.0)

    @property
    def unmatched_predicted(self) -> Floats:
        """Mass of each predicted item that is in no pair, at least 0; shape (m,)."""
        return np.maximum(self._item_masses(1) - self._matched_masses(1), 0.0)

    @property
    def matrix(self) -> Floats:
        """Mass of every pair as a dense table; shape (n, m)."""
        table = np.zeros(self.shape)
        np.add.at(table, (self.gold, self.predicted), self.mass)
        return table

    @property
    def row_shares(self) -> Floats:
        """Share of each partner in a gold item's mass; shape (n, m). Rows sum to 1, or 0 without a partner."""
        return _shares(self.matrix, axis=1)

    @property
    def column_shares(self) -> Floats:
        """Share of each partner in a predicted item's mass; shape (n, m). Columns sum to 1, or 0 without a partner."""
        return _shares(self.matrix, axis=0)

    @property
    def partners(self) -> tuple[Floats, Floats]:
        """Effective number of partners of each gold item, shape (n,), and of each predicted item, shape (m,).

        It is the exponential of the entropy of the shares (Hill, 1973): k for k equal shares, 0 without a partner.
        """
        gold = np.exp(scipy.special.entr(self.row_shares).sum(axis=1))
        predicted = np.exp(scipy.special.entr(self.column_shares).sum(axis=0))
        return gold * (self._matched_masses(0) > 0.0), predicted * (self._matched_masses(1) > 0.0)

    def _item_masses(self, side: int) -> Floats:
        return np.ones(self.shape[side]) if self.masses is None else self.masses[side]

    def _matched_masses(self, side: int) -> Floats:
        masses = np.bincount((self.gold, self.predicted)[side], self.mass, minlength=self.shape[side])
        return masses.astype(np.float64)  # without pairs, bincount returns integers


@dataclass(frozen=True, eq=False, slots=True)
class BatchPlans:
    """Transport plans of many problems, with masses in the units of a tally.

    Attributes:
        cells: Cell of each pair, counted through all problems, increasing; shape (pairs,).
        problems: Problem of each pair; shape (pairs,).
        mass: Mass of each pair; shape (pairs,).
        total: Quality mass of each problem; shape (problems,).
        matched: Matched mass of each problem; shape (problems,).
        excess: Mass removed from each problem because it exceeded the mass of an item; shape (problems,).
    """

    cells: Indices
    problems: Indices
    mass: Floats
    total: Floats
    matched: Floats
    excess: Floats

    @property
    def cost(self) -> Floats:
        """Cost per unit of matched mass, 1 - total / matched, in [0, 1]; shape (problems,). NaN without matched mass.

        For exact plans, this is the Wasserstein distance W1; for debiased plans, the Sinkhorn divergence.
        """
        mean_quality = np.full(len(self.total), np.nan)
        np.divide(self.total, self.matched, out=mean_quality, where=self.matched > 0.0)
        return 1.0 - mean_quality


def costs_of(quality: Floats, sizes: Indices, name: Callable[[int], str | None]) -> Floats:
    """Return the costs 1 - quality; shape (cells,).

    Args:
        quality: Qualities of all problems, concatenated; shape (cells,).
        sizes: Number of cells of each problem; shape (problems,).
        name: Returns the JSON Pointer of a problem, for errors.

    Raises:
        SolverError: A quality is NaN or not in [0, 1].
    """
    if quality.shape != (sizes.sum(),):
        raise SolverError.of(f"Expected an array of {sizes.sum()} qualities, got shape {quality.shape}")
    wrong = np.flatnonzero(~((quality >= -QUALITY_TOLERANCE) & (quality <= 1.0 + QUALITY_TOLERANCE)))  # or NaN
    if len(wrong):
        raise SolverError.of(
            f"Expected the quality of a pair to be in [0, 1], got {quality[wrong[0]]}",
            pointer=name(int(problem_of_cells(sizes, wrong)[0])),
            hint="Check the distance of its items.",
        )
    return np.clip(1.0 - quality, 0.0, 1.0)


def problem_of_cells(sizes: Indices, cells: Indices) -> Indices:
    """Return the problem of each cell, given the number of cells of each problem."""
    return np.searchsorted(np.cumsum(sizes), cells, side="right")


def finite_array(values: npt.ArrayLike, name: str) -> Floats:
    """Return finite numbers as an array. Raises OptionError."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError.of(f"Expected `{name}` to be an array of numbers, got {type(values).__name__}") from error
    if not np.isfinite(array).all():
        raise OptionError.of(f"Expected `{name}` to have finite numbers only")
    return array


def normalise_masses(masses: Floats, counts: Indices, name: Callable[[int], str | None]) -> Floats:
    """Scale the masses of each problem so that they sum to the number of its items; equal masses become exactly 1.

    Args:
        masses: Masses of the items of all problems, concatenated; shape (items,).
        counts: Number of items of each problem; shape (problems,).
        name: Returns the JSON Pointer of a problem, for errors.

    Raises:
        SolverError: A mass is not positive and finite, or two masses of one problem differ by a factor above 10^12.
    """
    if masses.shape != (counts.sum(),):
        raise SolverError.of(f"Expected {counts.sum()} masses, one for each item, got an array of shape {masses.shape}")
    owners = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    wrong = np.flatnonzero(~(np.isfinite(masses) & (masses > 0.0)))
    if len(wrong):
        raise SolverError.of(
            f"Expected the mass of an item to be a positive number, got {masses[wrong[0]]}",
            pointer=name(int(owners[wrong[0]])),
            hint="Use a field that is positive in every item.",
        )
    largest = np.zeros(len(counts))
    np.maximum.at(largest, owners, masses)
    smallest = np.full(len(counts), np.inf)
    np.minimum.at(smallest, owners, masses)
    extreme = np.flatnonzero(largest / EXTREME > smallest)
    if len(extreme):
        least, most = smallest[extreme[0]], largest[extreme[0]]
        raise SolverError.of(
            f"Expected the masses of the items of a list to differ by a factor of at most {EXTREME:g}, got {least:g} "
            f"and {most:g}",
            pointer=name(int(extreme[0])),
            hint="Smaller masses are lost to rounding. Use another field for the masses.",
        )
    shares = masses / largest[owners]
    return shares * counts[owners] / np.bincount(owners, shares, minlength=len(counts))[owners]


def single_row_or_column(mass: Floats, sides: tuple[Indices, Indices], masses: tuple[Floats, Floats]) -> Mask:
    """Solve the problems with one row or column, which have only one balanced plan, and write their plans to `mass`.

    Args:
        mass: Masses of the plans of all problems, modified in place; shape (cells,).
        sides: Number of gold and of predicted items of each problem; shapes (problems,).
        masses: Masses of the gold and of the predicted items, concatenated.

    Returns:
        Mask of the solved problems; shape (problems,).
    """
    (heights, widths), (gold, predicted) = sides, masses
    flat: Mask = (heights == 1) & (widths > 0)
    tall: Mask = (heights > 1) & (widths == 1)
    mass[np.repeat(flat, heights * widths)] = (predicted / np.repeat(widths, widths))[np.repeat(flat, widths)]
    mass[np.repeat(tall, heights * widths)] = gold[np.repeat(tall, heights)]
    return flat | tall


def nowhere(_: int) -> None:
    """Return no pointer, for a problem that is not part of a document."""


def transport_1d(
    gold_values: Floats, predicted_values: Floats, gold_masses: Floats, predicted_masses: Floats
) -> Coupling:
    """Return the exact balanced transport plan between numbers for the cost |a - b| / scale, by sorting.

    The plan is optimal if no difference exceeds the scale; beyond it, the cost is capped at 1 and not convex
    (Villani, 2003). Masses are normalised as in `transport_all`.

    Args:
        gold_values: Gold numbers; shape (n,).
        predicted_values: Predicted numbers; shape (m,).
        gold_masses: Masses of the gold numbers; shape (n,).
        predicted_masses: Masses of the predicted numbers; shape (m,).

    Raises:
        SolverError: A number or a mass is not finite.

    >>> transport_1d(np.array([1.0, 5.0]), np.array([6.0, 2.0]), np.ones(2), np.ones(2)).predicted
    array([1, 0])
    """
    if not (np.isfinite(gold_values).all() and np.isfinite(predicted_values).all()):
        raise SolverError.of("Expected all values to be finite numbers")
    shape = n, m = len(gold_values), len(predicted_values)
    gold, predicted = (
        normalise_masses(side, np.array([len(side)]), nowhere) for side in (gold_masses, predicted_masses)
    )
    rows, columns = np.argsort(gold_values, kind="stable"), np.argsort(predicted_values, kind="stable")
    ends, others = np.cumsum(gold[rows] * m), np.cumsum(predicted[columns] * n)
    stops = np.sort(np.concatenate([ends, others]))
    lengths = np.diff(stops, prepend=0.0)
    positive = lengths > NEGLIGIBLE * n * m
    middles = (stops - lengths / 2.0)[positive]
    left, right = rows[np.searchsorted(ends, middles)], columns[np.searchsorted(others, middles)]
    return Coupling.of(left, right, shape, lengths[positive] / max(m, 1), (gold, predicted * (n / max(m, 1))))


def _shares(table: Floats, axis: int) -> Floats:
    total = table.sum(axis=axis, keepdims=True)
    shares = np.zeros_like(table)
    np.divide(table, total, out=shares, where=total > 0.0)
    return shares
