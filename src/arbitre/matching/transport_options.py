"""Options of optimal transport: the solver with its settings, and the masses of items."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class MassScheme(enum.StrEnum):
    """Mass of an item if no field gives it."""

    UNIFORM = "uniform"
    """All items have the same mass."""
    SIZE = "size"
    """The mass of an item is its number of leaves."""


class MarginalPenalty(enum.StrEnum):
    """Penalty for deviations from the marginals in unbalanced transport."""

    KL = "kl"
    """Kullback-Leibler divergence."""
    TV = "tv"
    """Total variation."""


@dataclass(frozen=True, slots=True)
class ExactSolver:
    """Balanced transport with the least cost: all mass moves (Kantorovich, 1942)."""

    max_iterations: int = 1_000_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class SinkhornSolver:
    """Balanced transport regularised by `epsilon` times the entropy (Cuturi, 2013).

    With `debiased`, its cost is the Sinkhorn divergence, which is 0 for equal lists (Feydy et al., 2019).
    """

    epsilon: float = 0.05
    debiased: bool = False
    max_iterations: int = 1_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class PartialSolver:
    """Transport of the mass `mass` * min(n, m) with the least cost (Figalli, 2010; Chapel, Alaya and Gasso, 2020)."""

    mass: float = 1.0
    max_iterations: int = 1_000_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class UnbalancedSolver:
    """Transport in which deviations from the masses cost `reg_m` times a divergence (Chizat et al., 2018).

    With `MarginalPenalty.TV`, this is `DummySolver` with `lambda_` = `reg_m` (Piccoli and Rossi, 2014). With
    `MarginalPenalty.KL`, a duality gap proves that the objective exceeds its optimum by at most `tolerance` times the
    cost of moving nothing.
    """

    penalty: MarginalPenalty = MarginalPenalty.KL
    reg_m: float = 0.5
    max_iterations: int = 100_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class DummySolver:
    """Transport in which leaving out an item costs `lambda_`: only pairs that cost less than twice this are matched."""

    lambda_: float = 0.5
    max_iterations: int = 1_000_000
    tolerance: float = 1e-9


SolverOptions = ExactSolver | SinkhornSolver | PartialSolver | UnbalancedSolver | DummySolver


SOLVERS: Final[Mapping[str, type[SolverOptions]]] = {
    "exact": ExactSolver,
    "sinkhorn": SinkhornSolver,
    "partial": PartialSolver,
    "unbalanced": UnbalancedSolver,
    "dummy": DummySolver,
}
"""Solvers by name; their fields are their options."""


@dataclass(frozen=True, slots=True)
class TransportOptions:
    """Options of a transport. `masses` is a scheme, or the tokens of the field below an item that holds its mass."""

    solver: SolverOptions = ExactSolver()
    masses: MassScheme | tuple[str, ...] = MassScheme.UNIFORM

    @property
    def balanced(self) -> bool:
        """Whether all mass on both sides moves."""
        return isinstance(self.solver, ExactSolver | SinkhornSolver)

    @property
    def debiased(self) -> bool:
        """Whether qualities between the items of one side are needed."""
        return isinstance(self.solver, SinkhornSolver) and self.solver.debiased
