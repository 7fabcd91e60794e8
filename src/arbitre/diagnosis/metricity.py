"""How near a matrix of distances is to that of a metric, and what is wrong with it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy

from arbitre.diagnosis.inequalities import draw_tuples, quadruples, repair, repair_table, snowflake, survey, triples
from arbitre.diagnosis.matrix_checks import check_matrix
from arbitre.errors import ArbitreError, DataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from arbitre.arrays import Floats, Mask
    from arbitre.diagnosis.inequalities import InequalityViolations

EXACT_UP_TO: Final = 500**3
"""So many inequalities are all looked at: those of a pool of 500 points, or of a table of 105 by 105."""
SAMPLES: Final = 1_000_000
MAX_REPAIRED: Final = 2000
"""A matrix of which a sample is looked at is repaired whole up to so many points, else in a part of that size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metricity:
    """What keeps a matrix from being that of a pseudo-metric; None is undefined, 0 a defect that is absent.

    D is the matrix, S = (D + Dᵀ)/2 with zero diagonal. `metricity` is (1 - symmetry_defect)(1 - identity_defect)
    (1 - repair_mass), in [0, 1], 1 exactly where D is a pseudo-metric; the middle factor is at least 0. It is None for
    a table (`pool` False), which tells nothing of symmetry and identity; quadrangles take the place of triangles there.

    - `symmetry_defect` = sum |D - Dᵀ| / sum (D + Dᵀ), `symmetry_max` = max |D - Dᵀ|.
    - `identity_defect`: mean of the diagonal. `separation_defect`: share of the pairs of different values at S = 0.
    - `triangle_rate`: share of the ordered triples of points with S_ik > S_ij + S_jk, `triangle_interval` its
      Clopper-Pearson interval where it was estimated; `triangle_max` and `triangle_mean`: largest and mean excess, the
      mean over all triples.
    - `relaxed_triangle`: the least c with S_ik <= c (S_ij + S_jk); at most 1 where no triple is broken, else more, inf
      where values at 0 from each other differ towards a third. `snowflake`: the largest x <= 1 such that S^x obeys the
      triangle inequality, 0 if none does.
    - `repair_mass`: share of the sum of S that the greatest pseudo-metric below S takes away; `repaired`: how many
      pairs it changes. Both are of `repair_size` of the points, drawn with `seed` where these are not all.
    - `witness`: the points (i, j, k) of the triple broken most; of a table the rows and columns (i, k, j, h) with
      C_ij > C_ih + C_kh + C_kj. None where none is broken.
    - `exact`: whether all inequalities were looked at; else `samples` of them, drawn with `seed`, and the largest
      excess, the constant, the power and the witness are of those alone. `size`: the points, n + m of a table.
    """

    pool: bool
    size: int
    metricity: float | None = None
    symmetry_defect: float | None = None
    symmetry_max: float | None = None
    identity_defect: float | None = None
    separation_defect: float | None = None
    triangle_rate: float | None = None
    triangle_interval: tuple[float, float] | None = None
    triangle_max: float | None = None
    triangle_mean: float | None = None
    relaxed_triangle: float | None = None
    snowflake: float | None = None
    quadrangle_rate: float | None = None
    quadrangle_interval: tuple[float, float] | None = None
    quadrangle_max: float | None = None
    quadrangle_mean: float | None = None
    relaxed_quadrangle: float | None = None
    repair_mass: float
    repaired: int
    repair_size: int
    witness: tuple[int, ...] | None
    exact: bool
    seed: int
    samples: int | None
    level: float
    tolerance: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: undefined is null, infinite the text "Infinity", a tuple a list."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, tuple):
        return list(value)
    return "Infinity" if value == math.inf else value


def metricity(
    matrix: npt.ArrayLike,
    pool: bool = True,  # noqa: FBT001, FBT002
    *,
    seed: int = 0,
    exact_up_to: int = EXACT_UP_TO,
    samples: int = SAMPLES,
    level: float = 0.95,
    tolerance: float = 1e-9,
    same: npt.ArrayLike | None = None,
) -> Metricity:
    """How near a matrix of distances is to that of a pseudo-metric, and what is wrong with it.

    A `pool` is square, shape (N, N), and holds the distances between all points as they were computed: gold with gold,
    gold with predicted, and back. Without it the matrix, shape (n, m), holds gold against predicted alone; it is part
    of some pseudo-metric exactly where no quadrangle is broken. Whether a prediction is good plays no part in either:
    `distortion` tells that.

    Up to `exact_up_to` triples or quadruples (a pool of 500, a table of 105 by 105) all are looked at; of more,
    `samples` drawn with `seed`, and the rate has an interval of confidence `level` (Clopper and Pearson, 1934).
    Defects of at most `tolerance` times the largest entry count as rounding. `same`, a mask of shape (N, N), says which
    points are the same value; without it `separation_defect` is None, as a pool holds equal values wherever a
    prediction is right. O(N³), O(n² m²).

    Raises DataError for a matrix that is empty, not square where it should be, or has an entry that is negative or not
    finite, and ArbitreError for an option out of range.

    >>> found = metricity([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> found.triangle_rate, found.relaxed_triangle, found.snowflake, found.witness
    (0.3333333333333333, 2.0, 0.5, (0, 1, 2))
    >>> metricity([[0.125, 1.0], [0.125, 0.25]], pool=False).relaxed_quadrangle
    2.0
    """
    options = _Options(seed, exact_up_to, samples, level, tolerance)
    table = check_matrix("matrix", matrix)
    if not pool:
        if same is not None:
            raise DataError.of("Expected `same` to come with a pool, got `pool` False", hint="Leave `same` out.")
        return _of_table(table, options)
    rows, columns = table.shape
    if rows != columns:
        raise DataError.of(
            f"Expected `matrix` to be square, got shape {table.shape}",
            hint="Give the distances between all points of gold and predicted together, or pass pool=False.",
        )
    mask = None if same is None else np.asarray(same)
    if mask is not None and (mask.dtype != np.bool_ or mask.shape != table.shape):
        raise DataError.of(
            f"Expected `same` to be a mask of shape {table.shape}, got shape {mask.shape} of {mask.dtype}",
            hint="True where two points are the same value.",
        )
    return _of_pool(table, mask, options)


@dataclass(frozen=True, slots=True)
class _Options:
    """What to look at, and what to overlook."""

    seed: int
    exact_up_to: int
    samples: int
    level: float
    tolerance: float

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("exact_up_to", 0), ("samples", 1)):
            if (value := getattr(self, name)) < least:
                raise ArbitreError.of(f"Expected `{name}` to be at least {least}, got {value}")
        if not 0.0 < self.level < 1.0:
            raise ArbitreError.of(f"Expected `level` to be between 0 and 1, got {self.level}", hint="As in level=0.95.")
        if not 0.0 <= self.tolerance < 1.0:
            raise ArbitreError.of(
                f"Expected `tolerance` to be in [0, 1), got {self.tolerance}",
                hint="It is a share of the largest entry, as in tolerance=1e-9.",
            )


def _of_pool(table: Floats, same: Mask | None, options: _Options) -> Metricity:
    size, slack = len(table), options.tolerance
    scale, unit = _scaled(table)
    asymmetry, diagonal = np.abs(unit - unit.T), unit.diagonal()
    lengths = (unit + unit.T) / 2.0
    np.fill_diagonal(lengths, 0.0)

    number = size * (size - 1) * (size - 2)
    exact = number <= options.exact_up_to
    rng = np.random.default_rng(options.seed)
    chosen = None if exact else draw_tuples(rng, size, 3, options.samples)
    found = survey(triples(lengths, chosen), slack)
    rates = _Rates.of(found, number, scale, None if exact else options)
    part = lengths
    if not exact and size > MAX_REPAIRED:
        points = rng.permutation(size)[:MAX_REPAIRED]
        part = lengths[np.ix_(points, points)]
    # as long as no triple is broken there is nothing to repair
    lowered = _lowered(part, part if exact and not found.count else repair(part), slack)

    symmetry = _share(asymmetry[asymmetry > slack], unit + unit.T)
    identity = float(diagonal[diagonal > slack].sum() / size) * scale
    mass = _share(lowered, part)
    return Metricity(
        pool=True,
        size=size,
        metricity=(1.0 - symmetry) * max(0.0, 1.0 - identity) * (1.0 - mass),
        symmetry_defect=symmetry,
        symmetry_max=float(asymmetry.max()) * scale,
        identity_defect=identity,
        separation_defect=_separation(lengths, same, slack),
        triangle_rate=rates.rate,
        triangle_interval=rates.interval,
        triangle_max=rates.largest,
        triangle_mean=rates.mean,
        relaxed_triangle=found.relaxed,
        snowflake=snowflake(lengths, slack, chosen) if found.count else 1.0,
        repair_mass=mass,
        repaired=int(np.count_nonzero(lowered)) // 2,
        repair_size=len(part),
        witness=found.witness,
        exact=exact,
        seed=options.seed,
        samples=None if exact else options.samples,
        level=options.level,
        tolerance=slack,
    )


def _of_table(table: Floats, options: _Options) -> Metricity:
    (rows, columns), slack = table.shape, options.tolerance
    scale, unit = _scaled(table)
    number = rows * (rows - 1) * columns * (columns - 1)
    exact = number <= options.exact_up_to
    rng = np.random.default_rng(options.seed)
    chosen = None
    if not exact:
        chosen = np.vstack([draw_tuples(rng, size, 2, options.samples) for size in table.shape])
    found = survey(quadruples(unit, chosen), slack)
    rates = _Rates.of(found, number, scale, None if exact else options)
    part = unit
    if not exact and rows + columns > MAX_REPAIRED:
        kept = (rng.permutation(size)[: max(1, size * MAX_REPAIRED // (rows + columns))] for size in table.shape)
        part = unit[np.ix_(*kept)]
    lowered = _lowered(part, part if exact and not found.count else repair_table(part), slack)
    return Metricity(
        pool=False,
        size=rows + columns,
        quadrangle_rate=rates.rate,
        quadrangle_interval=rates.interval,
        quadrangle_max=rates.largest,
        quadrangle_mean=rates.mean,
        relaxed_quadrangle=found.relaxed,
        repair_mass=_share(lowered, part),
        repaired=int(np.count_nonzero(lowered)),
        repair_size=sum(part.shape),
        witness=found.witness,
        exact=exact,
        seed=options.seed,
        samples=None if exact else options.samples,
        level=options.level,
        tolerance=slack,
    )


def _separation(lengths: Floats, same: Mask | None, slack: float) -> float | None:
    """The share of the pairs of different values that are at 0 from each other."""
    if same is None:
        return None
    different = lengths[np.triu(~same, 1)]
    return float((different <= slack).mean()) if different.size else None


@dataclass(frozen=True, slots=True)
class _Rates:
    """What violations come to, in the unit of the matrix."""

    rate: float | None
    interval: tuple[float, float] | None
    largest: float | None
    mean: float | None

    @classmethod
    def of(cls, found: InequalityViolations, number: int, scale: float, sampled: _Options | None) -> _Rates:
        """Of `number` inequalities, of which some were drawn where options are given."""
        if not number:
            return cls(None, None, None, None)
        interval = None
        if sampled is not None:
            number = sampled.samples
            bounds = scipy.stats.binomtest(found.count, number).proportion_ci(sampled.level, method="exact")
            interval = (float(bounds.low), float(bounds.high))
        return cls(found.count / number, interval, found.largest * scale, found.total / number * scale)


def _scaled(table: Floats) -> tuple[float, Floats]:
    """The largest entry, and the table in units of it: what is a share of it does not change, and sums stay finite."""
    scale = float(table.max()) or 1.0
    return scale, table / scale


def _lowered(lengths: Floats, repaired: Floats, slack: float) -> Floats:
    """What a repair takes away, but for rounding."""
    lowered = lengths - repaired
    lowered[lowered <= slack] = 0.0
    return lowered


def _share(part: Floats, whole: Floats) -> float:
    """The sum of a part by the sum of the whole; 0 where there is nothing, as nothing is wrong with it."""
    return float(part.sum() / (whole.sum() or 1.0))
