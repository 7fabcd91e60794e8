"""Who is matched to whom, and with how much mass: one problem, or many end to end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices, Mask


NEGLIGIBLE: Final = 1e-12
"""Masses below this share of a plan are dropped."""
QUALITY_TOLERANCE: Final = 1e-12
"""A quality may leave [0, 1] by so much."""
EXTREME: Final = 1e12
"""Largest ratio between two masses of a list: smaller shares are lost to rounding."""


@dataclass(frozen=True, eq=False, slots=True)
class Coupling:
    """The pairs made between a gold list of n items and a predicted list of m items.

    `gold` and `predicted`, both of shape (k,), hold the positions of the partners, by increasing gold position, then
    predicted position; `mass` (k,) how much of them is coupled. One to one, each position occurs at most once on its
    side and every mass is 1; in a transport plan an item may be split over several partners. `masses` are the masses
    of the gold items (n,) and of the predicted items (m,) themselves; None says that each has mass 1.

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
        """The coupling of these pairs, put in order; without `mass`, each pair has mass 1."""
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
        """The gold positions that no mass reaches."""
        return np.setdiff1d(np.arange(self.shape[0], dtype=np.intp), self.gold)

    @property
    def spurious(self) -> Indices:
        """The predicted positions that no mass reaches."""
        return np.setdiff1d(np.arange(self.shape[1], dtype=np.intp), self.predicted)

    @property
    def unmatched_gold(self) -> Floats:
        """The mass of each gold item, shape (n,), that is coupled to nothing; at least 0."""
        return np.maximum(self._own(0) - self._coupled(0), 0.0)

    @property
    def unmatched_predicted(self) -> Floats:
        """The mass of each predicted item, shape (m,), that is coupled to nothing; at least 0."""
        return np.maximum(self._own(1) - self._coupled(1), 0.0)

    @property
    def matrix(self) -> Floats:
        """The masses as a dense table, shape (n, m); 0 where nothing is coupled."""
        table = np.zeros(self.shape)
        np.add.at(table, (self.gold, self.predicted), self.mass)
        return table

    @property
    def row_shares(self) -> Floats:
        """How each gold item is spread over its partners, shape (n, m): rows sum to 1, or to 0 without a partner."""
        return _shares(self.matrix, axis=1)

    @property
    def column_shares(self) -> Floats:
        """What each predicted item is made of, shape (n, m): columns sum to 1, or to 0 without a partner."""
        return _shares(self.matrix, axis=0)

    @property
    def partners(self) -> tuple[Floats, Floats]:
        """Effective number of partners of every gold item (n,) and predicted item (m,).

        The exponential of the entropy of the shares (Hill, 1973): k for k equal shares, 0 without a partner.
        """
        gold = np.exp(scipy.special.entr(self.row_shares).sum(axis=1))
        predicted = np.exp(scipy.special.entr(self.column_shares).sum(axis=0))
        return gold * (self._coupled(0) > 0.0), predicted * (self._coupled(1) > 0.0)

    def _own(self, side: int) -> Floats:
        return np.ones(self.shape[side]) if self.masses is None else self.masses[side]

    def _coupled(self, side: int) -> Floats:
        found = np.bincount((self.gold, self.predicted)[side], self.mass, minlength=self.shape[side])
        return found.astype(np.float64)  # of nothing it counts whole numbers


@dataclass(frozen=True, eq=False, slots=True)
class BatchPlans:
    """The plans of many problems, in the scale of the tally.

    Pair t couples `mass[t]` at the cell `cells[t]` (increasing) of problem `problems[t]`; all of shape (pairs,). Of
    shape (problems,): `total` is the quality mass S, `matched` the mass coupled, `excess` the mass taken off because
    it exceeded what an item has.
    """

    cells: Indices
    problems: Indices
    mass: Floats
    total: Floats
    matched: Floats
    excess: Floats

    @property
    def cost(self) -> Floats:
        """What a unit of coupled mass costs, 1 - total / matched, shape (problems,); NaN where nothing is coupled.

        The Wasserstein distance W1 of an exact plan, the Sinkhorn divergence of a debiased one; in [0, 1], 0 is equal.
        """
        worth = np.full(len(self.total), np.nan)
        np.divide(self.total, self.matched, out=worth, where=self.matched > 0.0)
        return 1.0 - worth


def costs_of(quality: Floats, sizes: Indices, name: Callable[[int], str | None]) -> Floats:
    """1 - quality, (cells,), for qualities that lie end to end, so many for each problem.

    Raises SolverError where one is not in [0, 1], NaN among them; `name` gives the pointer of a problem.
    """
    if quality.shape != (sizes.sum(),):
        raise SolverError.of(f"Expected {sizes.sum()} qualities, end to end, got an array of shape {quality.shape}")
    wrong = np.flatnonzero(~((quality >= -QUALITY_TOLERANCE) & (quality <= 1.0 + QUALITY_TOLERANCE)))  # or NaN
    if len(wrong):
        raise SolverError.of(
            f"Expected the quality of a pair to be in [0, 1], got {quality[wrong[0]]}",
            pointer=name(int(problem_of_cells(sizes, wrong)[0])),
            hint="Look at the distance of its items.",
        )
    return np.clip(1.0 - quality, 0.0, 1.0)


def problem_of_cells(sizes: Indices, cells: Indices) -> Indices:
    """The problem of each of these cells, where each problem has so many."""
    return np.searchsorted(np.cumsum(sizes), cells, side="right")


def normalise_masses(masses: Floats, counts: Indices, name: Callable[[int], str | None]) -> Floats:
    """The masses, so many for each problem, rescaled to sum to the number of its items; equal ones become exactly 1.

    `masses` (sum of counts,) lie end to end, problem after problem; `name` gives the pointer of one for errors. Raises
    SolverError where a mass is not a positive finite number, or two masses of one side differ by a factor above 10^12.
    """
    if masses.shape != (counts.sum(),):
        raise SolverError.of(f"Expected {counts.sum()} masses, one for each item, got an array of shape {masses.shape}")
    owners = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    wrong = np.flatnonzero(~(np.isfinite(masses) & (masses > 0.0)))
    if len(wrong):
        raise SolverError.of(
            f"Expected the mass of an item to be a positive number, got {masses[wrong[0]]}",
            pointer=name(int(owners[wrong[0]])),
            hint="Weigh the items by a field that is positive in every one of them.",
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
            hint="Smaller shares are lost to rounding. Weigh the items by another field.",
        )
    shares = masses / largest[owners]
    return shares * counts[owners] / np.bincount(owners, shares, minlength=len(counts))[owners]


def single_row_or_column(mass: Floats, sides: tuple[Indices, Indices], masses: tuple[Floats, Floats]) -> Mask:
    """The problems with one row or one column; their only balanced plan is put into `mass`."""
    (heights, widths), (gold, predicted) = sides, masses
    flat: Mask = (heights == 1) & (widths > 0)
    tall: Mask = (heights > 1) & (widths == 1)
    mass[np.repeat(flat, heights * widths)] = (predicted / np.repeat(widths, widths))[np.repeat(flat, widths)]
    mass[np.repeat(tall, heights * widths)] = gold[np.repeat(tall, heights)]
    return flat | tall


def nowhere(_: int) -> None:
    """The pointer of a problem that stands in no document."""


def transport_1d(
    gold_values: Floats, predicted_values: Floats, gold_masses: Floats, predicted_masses: Floats
) -> Coupling:
    """The exact balanced plan between numbers, (n,) and (m,), that cost |a - b| / scale, by sorting them.

    Optimal where no gap exceeds the scale, for a cost capped at 1 is not convex (Villani, 2003). The masses are those
    of `transport_all`: rows sum to n times their share. Raises SolverError where a number or a mass is not finite.

    >>> transport_1d(np.array([1.0, 5.0]), np.array([6.0, 2.0]), np.ones(2), np.ones(2)).predicted
    array([1, 0])
    """
    if not (np.isfinite(gold_values).all() and np.isfinite(predicted_values).all()):
        raise SolverError.of("Expected the values on a line to be finite numbers, got some that are not")
    shape = n, m = len(gold_values), len(predicted_values)
    gold, predicted = (
        normalise_masses(side, np.array([len(side)]), nowhere) for side in (gold_masses, predicted_masses)
    )
    rows, columns = np.argsort(gold_values, kind="stable"), np.argsort(predicted_values, kind="stable")
    ends, others = np.cumsum(gold[rows] * m), np.cumsum(predicted[columns] * n)
    stops = np.sort(np.concatenate([ends, others]))
    lengths = np.diff(stops, prepend=0.0)
    kept = lengths > NEGLIGIBLE * n * m
    middles = (stops - lengths / 2.0)[kept]
    left, right = rows[np.searchsorted(ends, middles)], columns[np.searchsorted(others, middles)]
    return Coupling.of(left, right, shape, lengths[kept] / max(m, 1), (gold, predicted * (n / max(m, 1))))


def _shares(table: Floats, axis: int) -> Floats:
    total = table.sum(axis=axis, keepdims=True)
    shares = np.zeros_like(table)
    np.divide(table, total, out=shares, where=total > 0.0)
    return shares
