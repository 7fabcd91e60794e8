"""Metricity: how close a matrix of distances is to a pseudo-metric, and which properties it violates.

First the violations of triangle and quadrangle inequalities and the metric repair of a table, then `metricity`, and
`distortion`: how far a cost matrix under a matching deviates from the distances within gold.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from arbitre.errors import ArbitreError, DataError, OptionError, check_integer, check_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask


# Triangle and quadrangle inequalities of a table of distances: their violations and metric repair.
#
# Tables hold finite numbers, scaled to [0, 1]. An excess of at most `slack` counts as a rounding error.


RESOLUTION: Final = 1e-12
"""Minimum slack for comparing powers of distances."""


class InequalityBlock(NamedTuple):
    """A block of inequalities direct <= detour.

    Attributes:
        direct: Left sides.
        detour: Right sides, same shape as `direct`; infinite if a point occurs twice, which excludes the inequality.
        points: Indices of the points of each inequality, broadcastable to the same shape.
    """

    direct: Floats
    detour: Floats
    points: tuple[Indices | int, ...]


def draw_tuples(rng: np.random.Generator, size: int, number: int, samples: int) -> Indices:
    """Draw `samples` uniform tuples of `number` distinct points out of `size`; shape (number, samples), dtype intp."""
    points = np.empty((0, samples), dtype=np.intp)
    for drawn in range(number):
        fresh = rng.integers(size - drawn, size=samples, dtype=np.intp)
        for earlier in np.sort(points, axis=0):
            fresh += fresh >= earlier
        points = np.vstack([points, fresh])
    return points


def triples(lengths: Floats, chosen: Indices | None = None) -> Iterator[InequalityBlock]:
    """Yield the triangle inequalities S[i, k] <= S[i, j] + S[j, k].

    Args:
        lengths: The symmetric matrix S; shape (n, n).
        chosen: Triples (i, j, k); shape (3, t). None for all, one block per middle point j.
    """
    if chosen is not None:
        i, j, k = chosen
        yield InequalityBlock(lengths[i, k], lengths[i, j] + lengths[j, k], (i, j, k))
        return
    every = np.arange(len(lengths), dtype=np.intp)
    reach = lengths.copy()
    np.fill_diagonal(reach, np.inf)
    for j in range(len(lengths)):
        yield InequalityBlock(lengths, reach[:, j, None] + reach[j], (every[:, None], j, every))


def quadruples(costs: Floats, chosen: Indices | None = None) -> Iterator[InequalityBlock]:
    """Yield the quadrangle inequalities C[i, j] <= C[i, h] + C[k, h] + C[k, j].

    Args:
        costs: The matrix C; shape (n, m).
        chosen: Quadruples (i, k, j, h); shape (4, t). None for all.
    """
    if chosen is not None:
        i, k, j, h = chosen
        yield InequalityBlock(costs[i, j], costs[i, h] + costs[k, h] + costs[k, j], (i, k, j, h))
        return
    rows, columns = (np.arange(size, dtype=np.intp) for size in costs.shape)
    for k in range(len(rows)):
        back = np.tile(costs[k], (len(columns), 1))
        np.fill_diagonal(back, np.inf)
        for h in range(len(columns)):
            there = costs[:, h] + costs[k, h]
            there[k] = np.inf
            yield InequalityBlock(costs, there[:, None] + back[h], (rows[:, None], k, columns, h))


@dataclass(frozen=True, slots=True)
class InequalityViolations:
    """Statistics of violated inequalities direct <= detour.

    Attributes:
        count: Number of violated inequalities.
        total: Sum of the excesses direct - detour.
        largest: Largest excess.
        relaxed: Largest direct / detour: at most 1 without violations, inf for a detour of length 0, None if all
            inequalities are 0 <= 0.
        witness: Points of the inequality with the largest excess; None without violations.
    """

    count: int
    total: float
    largest: float
    relaxed: float | None
    witness: tuple[int, ...] | None


def survey(blocks: Iterable[InequalityBlock], slack: float) -> InequalityViolations:
    """Collect the violations of all blocks. Holds one block in memory at a time."""
    count, total, largest, relaxed = 0, 0.0, 0.0, 0.0
    witness = None
    for direct, detour, points in blocks:
        excess = direct - detour
        position = int(excess.argmax())
        worst = float(excess.flat[position])
        if worst > slack:
            broken = excess > slack
            count += int(np.count_nonzero(broken))
            total += float(excess[broken].sum())
            relaxed = max(relaxed, _ratio(direct[broken], detour[broken]))
            if worst > largest:
                largest = worst
                witness = tuple(int(np.broadcast_to(point, excess.shape).flat[position]) for point in points)
        elif relaxed <= 1.0:
            relaxed = max(relaxed, min(1.0, _ratio(direct, detour)))
    return InequalityViolations(count, total, largest, relaxed or None, witness)


def _ratio(direct: Floats, detour: Floats) -> float:
    """Return the largest direct / detour, ignoring 0 / 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.fmax.reduce(direct / detour, axis=None, initial=0.0))


def snowflake(lengths: Floats, slack: float, chosen: Indices | None = None) -> float:
    """Return the largest x in (0, 1] such that lengths^x satisfies the triangle inequality; 0 if there is none.

    Each iteration solves a^x + b^x = c^x for the triple with the largest excess at the current power. Every smaller
    power y satisfies the inequality too, as t -> t^(y/x) is concave for y <= x.
    """
    exponent, slack = 1.0, max(slack, RESOLUTION)
    while (worst := survey(triples(lengths**exponent, chosen), slack).witness) is not None:
        i, j, k = worst
        sides = lengths[[i, j], [j, k]] / lengths[i, k]
        if sides.min() <= slack:
            return 0.0
        exponent = float(
            scipy.optimize.brentq(lambda power, sides: (sides**power).sum() - 1.0, 0.0, exponent, (sides,), xtol=1e-15)
        )
    return exponent


def repair(lengths: Floats) -> Floats:
    """Return the largest pseudo-metric that is at most `lengths`: the shortest paths between all points.

    This is decrease-only metric repair (Brickell, Dhillon, Sra and Tropp, 2008) in O(n³), with n vectorised steps
    (Floyd, 1962). `scipy.sparse.csgraph.floyd_warshall` is not used because it treats lengths close to 0 as missing
    edges.

    Args:
        lengths: Symmetric matrix with a zero diagonal, inf for unknown lengths; shape (n, n).

    >>> repair(np.array([[0.0, 0.25, 1.0], [0.25, 0.0, 0.25], [1.0, 0.25, 0.0]]))[0]
    array([0.  , 0.25, 0.5 ])
    """
    paths = lengths.copy()
    detour = np.empty_like(paths)
    for middle in range(len(paths)):
        np.add(paths[:, middle, None], paths[middle], out=detour)
        np.minimum(paths, detour, out=paths)
    return paths


def repair_table(costs: Floats) -> Floats:
    """Repair a matrix of costs between two sets of points, as `repair`; shape (n, m)."""
    size, rows = sum(costs.shape), len(costs)
    lengths = np.full((size, size), np.inf)
    np.fill_diagonal(lengths, 0.0)
    lengths[:rows, rows:] = costs
    lengths[rows:, :rows] = costs.T
    return repair(lengths)[:rows, rows:]


# Validation of matrices of distances.


def check_matrix(name: str, matrix: npt.ArrayLike) -> Floats:
    """Return the matrix as float64.

    Raises:
        DataError: The value is not a matrix, or has entries that are negative or not finite.
    """
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise DataError.of(
            f"Expected `{name}` to have rows of equal length, got rows of different lengths", hint=str(error)
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "buif" or not array.size:  # noqa: PLR2004
        raise DataError.of(
            f"Expected `{name}` to be a table of numbers, got {array.dtype} of shape {array.shape}",
            hint="Pass one row per gold value and one column per predicted value, at least one of each.",
        )
    values = array.astype(np.float64)
    wrong = np.argwhere(~(np.isfinite(values) & (values >= 0.0)))
    if len(wrong):
        row, column = wrong[0]
        raise DataError.of(
            f"Expected every entry of `{name}` to be a finite number, at least 0, got {values[row, column]:g}",
            pointer=f"/{row}/{column}",
            hint="Pass distances, with 0 for equal values. Convert a similarity s in [0, 1] to 1 - s.",
        )
    return values


EXACT_UP_TO: Final = 500**3
"""Maximum number of inequalities for an exhaustive check, as in a pool of 501 points or a table of 105 by 105."""
SAMPLES: Final = 1_000_000
"""Number of inequalities drawn if there are too many for an exhaustive check."""
REPAIR_UP_TO: Final = 2000
"""Maximum number of points to repair if inequalities are sampled; larger matrices are repaired in part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metricity:
    """How close a distance matrix is to a pseudo-metric. A value of 0 means no defect; None means undefined.

    D is the matrix, and S = (D + Dᵀ)/2 with zero diagonal. `metricity` is (1 - symmetry_defect) *
    max(0, 1 - identity_defect) * (1 - repair_mass), in [0, 1]; it is 1 exactly if D is a pseudo-metric. For a table
    (`pool` False), symmetry and identity are undefined, so `metricity` is None, and quadrangles replace triangles.

    - `symmetry_defect`: sum |D - Dᵀ| / sum (D + Dᵀ). `symmetry_max`: max |D - Dᵀ|.
    - `identity_defect`: mean of the diagonal. `separation_defect`: share of pairs of different values with S = 0.
    - `triangle_rate`: share of ordered triples with S_ik > S_ij + S_jk. `triangle_interval`: its Clopper-Pearson
      interval if the rate was estimated. `triangle_max`, `triangle_mean`: largest and mean excess over all triples.
    - `relaxed_triangle`: the smallest c with S_ik <= c (S_ij + S_jk). It is at most 1 without violations, and inf if
      two points with distance 0 have different distances to a third. `snowflake`: the largest x <= 1 such that S^x
      satisfies the triangle inequality; 0 if there is none.
    - `quadrangle_rate`, `quadrangle_interval`, `quadrangle_max`, `quadrangle_mean`, `relaxed_quadrangle`: the same for
      C_ij > C_ih + C_kh + C_kj in a table.
    - `repair_mass`: share of the sum of S that is removed by the largest pseudo-metric below S. `repaired`: number of
      pairs that it changes. Both use `repair_size` points, drawn with `seed` if these are not all.
    - `witness`: points (i, j, k) of the triple with the largest excess; for a table, rows and columns (i, k, j, h) with
      C_ij > C_ih + C_kh + C_kj. None without violations.
    - `exact`: whether all inequalities were checked. Otherwise `samples` of them were drawn with `seed`, and `witness`
      refers to the sample. The largest excess and `relaxed_triangle` (or `relaxed_quadrangle`) are then lower bounds,
      and `snowflake` is an upper bound. `size`: number of points (n + m for a table).
    - `level`: confidence level of the intervals. `tolerance`: share of the largest entry up to which a defect counts as
      a rounding error.
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
        """Return plain JSON: undefined values are null, infinity is the text "Infinity", and tuples are lists."""
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
    repair_up_to: int = REPAIR_UP_TO,
    level: float = 0.95,
    tolerance: float = 1e-9,
    same: npt.ArrayLike | None = None,
) -> Metricity:
    """Measure how close a distance matrix is to a pseudo-metric.

    A pool contains the distances between all points, gold and predicted. A table contains only those
    from gold to predicted; it can be extended to a pseudo-metric exactly if no quadrangle is violated. The result does
    not depend on whether predictions are good; see `distortion`. Takes O(N³) or O(n² m²) time.

    Args:
        matrix: Distances, finite and at least 0; shape (N, N) for a pool, (n, m) for a table.
        pool: Whether the matrix is a pool.
        seed: Random seed of the samples.
        exact_up_to: Maximum number of triples or quadruples for an exhaustive check (the default suffices for a pool of
            501 points or a table of 105 by 105).
        samples: Number of triples or quadruples drawn if there are more.
        repair_up_to: Maximum number of points that are repaired if not all inequalities are checked; if there are more,
            a random subset is repaired.
        level: Confidence level of the interval of a sampled rate (Clopper and Pearson, 1934).
        tolerance: Share of the largest entry up to which a defect counts as a rounding error.
        same: Mask of pairs of points with the same value; shape (N, N). Without it, `separation_defect` is None, as a
            pool contains equal values for correct predictions.

    Returns:
        The metricity and the defects.

    Raises:
        DataError: The matrix is empty, a pool is not square, an entry is negative or not finite, or `same` does not
            fit.
        ArbitreError: An option is out of range.

    >>> found = metricity([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> found.triangle_rate, found.relaxed_triangle, found.snowflake, found.witness
    (0.3333333333333333, 2.0, 0.5, (0, 1, 2))
    >>> metricity([[0.125, 1.0], [0.125, 0.25]], pool=False).relaxed_quadrangle
    2.0
    """
    options = _Options(seed, exact_up_to, samples, repair_up_to, level, tolerance)
    table = check_matrix("matrix", matrix)
    if not pool:
        if same is not None:
            raise OptionError.of("Expected `same` only with a pool, got pool=False", hint="Leave `same` out.")
        scale, unit = _scale_to_unit(table)
        return Metricity(**_inequalities(unit, scale, options, pool=False)[2])
    rows, columns = table.shape
    if rows != columns:
        raise DataError.of(
            f"Expected `matrix` to be square, got shape {table.shape}",
            hint="Pass the distances between all gold and predicted points together, or set pool=False.",
        )
    mask = None if same is None else np.asarray(same)
    if mask is not None and (mask.dtype != np.bool_ or mask.shape != table.shape):
        raise DataError.of(
            f"Expected `same` to be a mask of shape {table.shape}, got shape {mask.shape} of {mask.dtype}",
            hint="Set it to True for each pair of points with the same value.",
        )
    return _of_pool(table, mask, options)


@dataclass(frozen=True, slots=True)
class _Options:
    """Validated options of `metricity`."""

    seed: int
    exact_up_to: int
    samples: int
    repair_up_to: int
    level: float
    tolerance: float

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("exact_up_to", 0), ("samples", 1), ("repair_up_to", 1)):
            check_integer(name, getattr(self, name), least=least)
        check_level(self.level)
        if not 0.0 <= self.tolerance < 1.0:
            raise ArbitreError.of(
                f"Expected `tolerance` to be in [0, 1), got {self.tolerance}",
                hint="It is a share of the largest entry, for example tolerance=1e-9.",
            )


def _of_pool(table: Floats, same: Mask | None, options: _Options) -> Metricity:
    slack = options.tolerance
    scale, unit = _scale_to_unit(table)
    asymmetry, diagonal = np.abs(unit - unit.T), unit.diagonal()
    lengths = (unit + unit.T) / 2.0
    np.fill_diagonal(lengths, 0.0)
    violations, chosen, fields = _inequalities(lengths, scale, options, pool=True)
    symmetry = _share(asymmetry[asymmetry > slack], unit + unit.T)
    identity = float(diagonal[diagonal > slack].sum() / len(table)) * scale
    return Metricity(
        **fields,
        metricity=(1.0 - symmetry) * max(0.0, 1.0 - identity) * (1.0 - fields["repair_mass"]),
        symmetry_defect=symmetry,
        symmetry_max=float(asymmetry.max()) * scale,
        identity_defect=identity,
        separation_defect=_separation(lengths, same, slack),
        snowflake=snowflake(lengths, slack, chosen) if violations.count else 1.0,
    )


def _inequalities(
    lengths: Floats, scale: float, options: _Options, *, pool: bool
) -> tuple[InequalityViolations, Indices | None, dict[str, Any]]:
    """Check the triangle inequalities of a pool or the quadrangle inequalities of a table, and repair its lengths.

    Args:
        lengths: Lengths of at most 1, with those of a pool symmetric.
        scale: Unit of the lengths.
        options: Options of `metricity`.
        pool: Whether the matrix is a pool.

    Returns:
        The violations, the sampled tuples of points (None for all), and the fields of `Metricity` that follow.
    """
    (rows, columns), slack = lengths.shape, options.tolerance
    sides, points, size = ((rows,), 3, rows) if pool else ((rows, columns), 2, rows + columns)
    number = math.prod(math.perm(side, points) for side in sides)
    exact = number <= options.exact_up_to
    rng = np.random.default_rng(options.seed)
    chosen = None if exact else np.vstack([draw_tuples(rng, side, points, options.samples) for side in sides])
    violations = survey((triples if pool else quadruples)(lengths, chosen), slack)
    part = lengths
    if not exact and size > options.repair_up_to:
        kept = [rng.permutation(side)[: max(1, side * options.repair_up_to // size)] for side in sides]
        part = lengths[np.ix_(kept[0], kept[-1])]
    # without violations there is nothing to repair
    repaired = part if exact and not violations.count else (repair if pool else repair_table)(part)
    lowered = part - repaired
    lowered[lowered <= slack] = 0.0
    name = "triangle" if pool else "quadrangle"
    return (
        violations,
        chosen,
        {
            **{
                f"{name}_{figure}": value
                for figure, value in _rates(violations, number, scale, options, exact=exact).items()
            },
            f"relaxed_{name}": violations.relaxed,
            "pool": pool,
            "size": size,
            "repair_mass": _share(lowered, part),
            "repaired": int(np.count_nonzero(lowered)) // (2 if pool else 1),
            "repair_size": len(part) if pool else sum(part.shape),
            "witness": violations.witness,
            "exact": exact,
            "seed": options.seed,
            "samples": None if exact else options.samples,
            "level": options.level,
            "tolerance": slack,
        },
    )


def _rates(
    violations: InequalityViolations, number: int, scale: float, options: _Options, *, exact: bool
) -> dict[str, Any]:
    """Return the rate and size of violations, in the unit of the matrix, for `number` inequalities."""
    if not number:
        return {}
    interval = None
    if not exact:
        number = options.samples
        bounds = scipy.stats.binomtest(violations.count, number).proportion_ci(options.level, method="exact")
        interval = (float(bounds.low), float(bounds.high))
    return {
        "rate": violations.count / number,
        "interval": interval,
        "max": violations.largest * scale,
        "mean": violations.total / number * scale,
    }


def _separation(lengths: Floats, same: Mask | None, slack: float) -> float | None:
    """Return the share of pairs of different values with distance 0."""
    if same is None:
        return None
    different = lengths[np.triu(~same, 1)]
    return float((different <= slack).mean()) if different.size else None


def _scale_to_unit(table: Floats) -> tuple[float, Floats]:
    """Return the largest entry and the table divided by it, so that sums stay finite."""
    scale = float(table.max()) or 1.0
    return scale, table / scale


def _share(part: Floats, total: Floats) -> float:
    """Return the sum of a part divided by the sum of the whole; 0 if the whole is 0."""
    return float(part.sum() / (total.sum() or 1.0))


# Distortion: the deviation of a cost matrix under a matching from the distances within gold.


@dataclass(frozen=True, slots=True)
class Distortion:
    """Maximum and mean difference between costs of predicted items and distances of their gold partners.

    The difference is |C[i, p(j)] - D[i, j]|, for each gold item i and each gold item j with a predicted partner p(j). C
    contains the costs between gold and predicted items, and D the distances between gold items.

    `max` and `mean` are 0 for a perfect prediction, and None if there are no pairs.
    """

    max: float | None
    mean: float | None


def distortion(
    matrix: npt.ArrayLike, gold_matrix: npt.ArrayLike, pairs: Sequence[tuple[int, int]] | Indices
) -> Distortion:
    """Compute how far a cost matrix deviates from the distances between the gold items.

    Each matched pair (j, p(j)) is compared in all gold rows i. If the distance is a metric, `max` equals the largest
    matched cost; a larger value shows that the distance is not a metric.

    Args:
        matrix: Costs C of gold against predicted, at least 0; shape (n, m).
        gold_matrix: Distances D within gold, at least 0; shape (n, n).
        pairs: Positions (j, p(j)) of the matched pairs; shape (k, 2), dtype integer.

    Returns:
        The maximum and the mean deviation over all rows and pairs.

    Raises:
        DataError: A matrix is not valid, the shapes do not fit, or a pair is out of range.

    >>> distortion([[0.25, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], [(0, 0), (1, 1)])
    Distortion(max=0.25, mean=0.0625)
    """
    costs, within = check_matrix("matrix", matrix), check_matrix("gold_matrix", gold_matrix)
    rows = len(costs)
    if within.shape != (rows, rows):
        raise DataError.of(
            f"Expected `gold_matrix` to have shape {(rows, rows)}, got {within.shape}",
            hint="Its rows and columns are the rows of `matrix`, in the same order.",
        )
    if not len(pairs):
        return Distortion(None, None)
    try:
        matched = np.asarray(pairs)
    except ValueError:  # pairs of different lengths
        matched = np.empty(0)
    if matched.shape[1:] != (2,) or matched.dtype.kind not in "ui" or ((matched < 0) | (matched >= costs.shape)).any():
        raise DataError.of(
            f"Expected `pairs` to be positions (gold, predicted) in a matrix of shape {costs.shape}, got others",
            hint="For example [(0, 1), (1, 0)].",
        )
    gold, predicted = matched.T
    apart = np.abs(costs[:, predicted] - within[:, gold])
    return Distortion(float(apart.max()), float(apart.mean()))
