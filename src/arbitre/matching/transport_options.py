"""The options of transport: which solver, with which settings, and what an item weighs."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class MassScheme(enum.StrEnum):
    """What an item weighs, where no field says so."""

    UNIFORM = "uniform"
    SIZE = "size"


class MarginalPenalty(enum.StrEnum):
    """How a marginal that is not met is punished: by the Kullback-Leibler divergence, or by the total variation."""

    KL = "kl"
    TV = "tv"


@dataclass(frozen=True, slots=True)
class ExactSolver:
    """Balanced transport of least cost (Kantorovich, 1942): all mass moves."""

    max_iterations: int = 1_000_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class SinkhornSolver:
    """Balanced transport smoothed by `epsilon` times its entropy (Cuturi, 2013).

    `debiased` scores it by the Sinkhorn divergence, which is 0 between equal lists (Feydy et al., 2019).
    """

    epsilon: float = 0.05
    debiased: bool = False
    max_iterations: int = 1_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class PartialSolver:
    """The share `mass` of min(n, m) moves, where it costs least (Figalli, 2010; Chapel, Alaya and Gasso, 2020)."""

    mass: float = 1.0
    max_iterations: int = 1_000_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class UnbalancedSolver:
    """What is left over, or used too often, costs `reg_m` times a divergence (Chizat et al., 2018).

    Under `MarginalPenalty.TV` this is `DummySolver` at the price `reg_m` (Piccoli and Rossi, 2014). Under
    `MarginalPenalty.KL` a duality gap proves that the objective is above its optimum by at most the share `tolerance`
    of what moving nothing costs.
    """

    penalty: MarginalPenalty = MarginalPenalty.KL
    reg_m: float = 0.5
    max_iterations: int = 100_000
    tolerance: float = 1e-9


@dataclass(frozen=True, slots=True)
class DummySolver:
    """Leaving an item out costs `lambda_`, on either side: a pair is made only where it costs less than twice that."""

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
"""The solvers by name; their fields are their options."""


@dataclass(frozen=True, slots=True)
class TransportOptions:
    """A transport with its options settled; `masses` may be the tokens of the field, below an item, that weighs it."""

    solver: SolverOptions = ExactSolver()
    masses: MassScheme | tuple[str, ...] = MassScheme.UNIFORM

    @property
    def balanced(self) -> bool:
        """Whether all mass of both sides moves."""
        return isinstance(self.solver, ExactSolver | SinkhornSolver)

    @property
    def debiased(self) -> bool:
        """Whether the qualities within either side are needed."""
        return isinstance(self.solver, SinkhornSolver) and self.solver.debiased
