"""Checks of the claims about custom distances, on the values of documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.distances.base import PROPERTIES, Facts
from arbitre.distances.custom import MemoPool
from arbitre.engine.batch_comparison import inner_pools
from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.column import leaf_columns
from arbitre.errors import check_integer
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MAX_VALUES: Final = 30
"""Default maximum number of distinct values of a path that are compared with each other."""

ROUNDING: Final = 1e-12
"""Tolerance for rounding errors."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The result of checking one claim about a custom distance on the values at one path.

    Attributes:
        path: Wildcard path.
        distance: Name of the distance.
        claim: `identity`, `symmetric`, `separating` or `triangle`.
        values: Number of distinct values that were compared with each other.
        checked: Number of values, pairs or triples that were checked.
        violations: Number of those that violate the claim.
        largest: Largest violation; 0 if there is none.
        witness: The values of the largest violation; None if there is none.
    """

    path: str
    distance: str
    claim: str
    values: int
    checked: int
    violations: int
    largest: float
    witness: tuple[Json, ...] | None

    @property
    def holds(self) -> bool:
        """Whether no checked values violate the claim."""
        return self.violations == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"witness": None if self.witness is None else list(self.witness)}


def check_claims(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, sample: int = MAX_VALUES, seed: int = 0
) -> tuple[ClaimCheck, ...]:
    """Check the claims about custom distances, on the normalised values of documents.

    Each function is called for all ordered pairs of at most `sample` distinct values of each path.

    Args:
        plan: The compiled schema.
        gold: Gold documents.
        predicted: Predictions.
        sample: Maximum number of values of a path; more are sampled at random.
        seed: Random seed of the sample.

    Returns:
        One check for each path and claim; () without claims.

    Raises:
        OptionError: `sample` or `seed` is not an integer or is out of range.
        DataError: A value is not JSON.
        FunctionError: A custom function fails.
    """
    check_integer("sample", sample, least=1)
    check_integer("seed", seed)
    return tuple(
        check
        for column in leaf_columns(build_columns(plan, gold, predicted))
        for pool in inner_pools(column)
        if isinstance(pool, MemoPool) and not pool.function.context
        for check in _checks(wildcard(column.path), pool, sample, seed)
    )


def _checks(path: str, pool: MemoPool, sample: int, seed: int) -> Iterator[ClaimCheck]:
    facts, values = pool.function.facts, pool.values
    claims = [name for name in PROPERTIES if getattr(facts, name)]
    if not claims:
        return
    if len(values) > sample:
        chosen = np.sort(np.random.default_rng(seed).choice(len(values), sample, replace=False))
        values = [values[index] for index in chosen.tolist()]
    # with the claimed facts, calls to be checked would be skipped
    asked = replace(pool.function, facts=replace(Facts.only(), range=facts.range))
    size = len(values)
    gold, predicted = np.divmod(np.arange(size * size), size)
    pairs = ([values[index] for index in side.tolist()] for side in (gold, predicted))
    table = asked.distances(*pairs).reshape(size, size)
    for claim in claims:
        excess, checked = _excess(claim, table)
        violated = excess > ROUNDING
        worst = int(excess.argmax())
        at = np.unravel_index(worst, excess.shape)
        count = int(np.count_nonzero(violated))
        yield ClaimCheck(
            path,
            pool.function.name,
            claim,
            values=size,
            checked=checked,
            violations=count,
            largest=float(excess.flat[worst]) if count else 0.0,
            witness=tuple(values[int(index)] for index in at) if count else None,
        )


def _excess(claim: str, table: Floats) -> tuple[Floats, int]:
    """Return by how much each value, pair (x, y) or triple (x, y, z) violates a claim, and the number of checks."""
    size = len(table)
    if claim == "identity":
        return table.diagonal(), size
    if claim == "symmetric":
        return np.triu(np.abs(table - table.T), 1), size * (size - 1) // 2
    if claim == "separating":  # different values at distance 0 are a violation of 1
        return np.triu((np.minimum(table, table.T) == 0.0).astype(np.float64), 1), size * (size - 1) // 2
    excess: Floats = table[:, None, :] - table[:, :, None] - table[None, :, :]
    apart = ~np.eye(size, dtype=np.bool_)
    return np.where(apart[:, :, None] & apart[None, :, :] & apart[:, None, :], excess, 0.0), size * (size - 1) * (
        size - 2
    )
