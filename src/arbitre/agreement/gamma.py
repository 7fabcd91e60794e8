"""Agreement gamma on units that annotators located themselves (Mathet, Widlöcher and Métivier, 2015)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from arbitre.agreement.alignment import align
from arbitre.agreement.coefficient import Coefficient
from arbitre.errors import DataError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats
    from arbitre.values import Json

    Continuum = Mapping[str, Sequence[Any]]

Expected: TypeAlias = Literal["local", "global"]
"""Where random annotations are drawn from: the annotations of the same document, or of all documents."""

SAMPLES: Final = 30
"""Minimum number of random annotations for each document."""

PRECISION: Final = 0.02
"""Default for the relative error of the expected disorder, at 95 % confidence."""

_NORMAL: Final = 1.96
"""Quantile of the normal distribution for 95 %."""


class Unit(NamedTuple):
    """A span of a document with a category."""

    start: float
    end: float
    label: Json


@dataclass(frozen=True, slots=True)
class _Dissimilarity:
    """Weighted sum of the positional and the categorical dissimilarity of two units."""

    alpha: float
    beta: float
    unmatched: float
    categories: Callable[[Json, Json], float] | None

    def table(self, first: Sequence[Unit], second: Sequence[Unit]) -> Floats:
        """Return the dissimilarity of each pair of units; shape (len(first), len(second))."""
        if not (first and second):
            return np.empty((len(first), len(second)))
        spans = (np.array([unit[:2] for unit in units]) for units in (first, second))
        (starts, ends), (other_starts, other_ends) = (table.T for table in spans)
        apart = np.abs(np.subtract.outer(starts, other_starts)) + np.abs(np.subtract.outer(ends, other_ends))
        position = (apart / np.add.outer(ends - starts, other_ends - other_starts)) ** 2
        category = np.array([[self._category(a.label, b.label) for b in second] for a in first])
        table: Floats = (self.alpha * position + self.beta * category) * self.unmatched
        return table

    def _category(self, first: Json, second: Json) -> float:
        return float(first != second) if self.categories is None else self.categories(first, second)

    def disorder(self, annotations: Sequence[Sequence[Unit]]) -> float:
        """Return the disorder of the best alignment, per unit; 0 without units."""
        tables = {
            (i, j): self.table(annotations[i], annotations[j]) for i, j in combinations(range(len(annotations)), 2)
        }
        sizes = [len(units) for units in annotations]
        return align(tables, sizes, self.unmatched).disorder * len(sizes) / sum(sizes) if any(sizes) else 0.0


def gamma(
    continuum: Continuum | Sequence[Continuum],
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    unmatched: float = 1.0,
    categories: Callable[[Json, Json], float] | None = None,
    expected: Expected = "local",
    precision: float = PRECISION,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Coefficient:
    """Compute gamma: 1 minus the ratio of the observed disorder to that of random annotations.

    Units are aligned across annotators, with their positions and categories, at the least disorder. Random annotations
    shift the annotations of random annotators along the document, cyclically. The number of random annotations grows
    until the expected disorder is known to `precision`.

    Args:
        continuum: Units of each annotator, in one document or in several. A unit is an object with `start`, `end` and
            `label`, or such a triple.
        alpha: Weight of the positional dissimilarity, ((|start difference| + |end difference|) / sum of lengths)².
        beta: Weight of the categorical dissimilarity.
        unmatched: Dissimilarity of a missing unit, above 0. It scales all dissimilarities, so gamma does not depend
            on it.
        categories: Dissimilarity of two labels, in [0, 1]; by default 0 for equal labels, else 1.
        expected: "local" draws random annotations from the same document, "global" from all documents. Local values
            are lower if the documents differ in their categories or density.
        precision: Relative error of the expected disorder at 95 % confidence, above 0.
        samples: Minimum number of random annotations per document.
        seed: Random seed.

    Returns:
        The coefficient. `observed` and `expected` are 1 minus the disorders, which may be negative. The value is None
        without units.

    Raises:
        DataError: There are fewer than two annotators, documents have different annotators, or a unit is not valid.
        OptionError: An option is out of range.

    >>> page = {"ada": [(0, 4, "name"), (6, 9, "date")], "bob": [(0, 4, "name"), (6, 9, "date")]}
    >>> gamma(page).value
    1.0
    """
    for name, value in (("unmatched", unmatched), ("precision", precision), ("samples", samples)):
        if not value > 0.0:
            raise OptionError.of(f"Expected `{name}` to be above 0, got {value}")
    documents = [continuum] if isinstance(continuum, Mapping) else list(continuum)
    names = sorted({name for document in documents for name in document})
    if len(names) < 2:  # noqa: PLR2004
        raise DataError.of(f"Expected at least two annotators, got {len(names)}")
    units = [[_units(document, name) for name in names] for document in documents]
    dissimilarity = _Dissimilarity(alpha, beta, unmatched, categories)
    weights = np.array([sum(map(len, document)) for document in units], dtype=np.float64)
    observed = by_chance = None
    if weights.sum() > 0.0:
        disorders = np.array([dissimilarity.disorder(document) for document in units])
        random = np.random.default_rng(seed)
        sources = [[document] if expected == "local" else units for document in units]
        chance = [
            _expected(dissimilarity, document, source, random, precision=precision, samples=samples)
            if any(document)
            else 0.0
            for document, source in zip(units, sources, strict=True)
        ]
        observed, by_chance = (
            1.0 - float(np.average(each, weights=weights) / unmatched) for each in (disorders, chance)
        )
    return Coefficient.corrected(
        observed,
        by_chance,
        name=f"gamma_{expected}",
        chance_model=f"annotations of {'the same document' if expected == 'local' else 'all documents'}, shifted",
        items=int(weights.sum()),
        annotators=len(names),
    )


def _units(document: Continuum, name: str) -> list[Unit]:
    units = []
    for value in document.get(name, ()):
        try:
            unit = Unit(value["start"], value["end"], value["label"]) if isinstance(value, dict) else Unit(*value)
        except (KeyError, TypeError) as error:
            raise DataError.of(f"Expected `start`, `end` and `label`, got {value!r}") from error
        if not (isfinite(unit.start) and isfinite(unit.end) and unit.start < unit.end):
            raise DataError.of(f"Expected a unit that ends after it starts, got {value!r} by {name!r}")
        units.append(unit)
    return units


def _expected(
    dissimilarity: _Dissimilarity,
    document: Sequence[Sequence[Unit]],
    sources: Sequence[Sequence[Sequence[Unit]]],
    random: np.random.Generator,
    *,
    precision: float,
    samples: int,
) -> float:
    """Return the mean disorder of random annotations of a document."""
    bounds = _bounds(document)
    disorders: list[float] = []
    needed = samples
    while len(disorders) < needed:
        count = needed - len(disorders)
        disorders += [dissimilarity.disorder(_shifted(sources, bounds, len(document), random)) for _ in range(count)]
        mean = float(np.mean(disorders))
        if mean > 0.0:
            needed = max(samples, ceil((float(np.std(disorders)) / mean * _NORMAL / precision) ** 2))
    return float(np.mean(disorders))


def _bounds(document: Sequence[Sequence[Unit]]) -> tuple[float, float]:
    units = [unit for row in document for unit in row]
    return min(unit.start for unit in units), max(unit.end for unit in units)


def _shifted(
    sources: Sequence[Sequence[Sequence[Unit]]],
    bounds: tuple[float, float],
    annotators: int,
    random: np.random.Generator,
) -> list[list[Unit]]:
    """Return random annotations: for each annotator, those of a random one, shifted cyclically within the bounds.

    The shifts differ by at least half the mean length of a unit where that is possible.
    """
    low, high = bounds
    rows = [row for document in sources for row in document]
    lengths = [unit.end - unit.start for row in rows for unit in row]
    shifts = _distant(high - low, float(np.mean(lengths)) / 2.0, annotators, random)
    annotations = []
    for shift in shifts:
        units = rows[int(random.integers(len(rows)))]
        moved = []
        for unit in units:
            start = low + (unit.start - low + shift) % (high - low)
            moved.append(Unit(start, start + unit.end - unit.start, unit.label))
        annotations.append(moved)
    return annotations if any(annotations) else _shifted(sources, bounds, annotators, random)


def _distant(length: float, least: float, count: int, random: np.random.Generator, tries: int = 100) -> list[float]:
    """Return random positions in [0, length), at least `least` apart unless that fails several times."""
    shifts: list[float] = []
    while len(shifts) < count:
        for _ in range(tries):
            shift = float(random.uniform(0.0, length))
            if all(abs(shift - other) >= least for other in shifts):
                break
        shifts.append(shift)
    return shifts
