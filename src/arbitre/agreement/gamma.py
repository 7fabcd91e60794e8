"""Agreement gamma on units that annotators located themselves (Mathet, Widlöcher and Métivier, 2015).

A unit is a span of a document with a category. `Continua` encodes the units of all documents. The observed disorder is
that of the best alignment of the units of each document (`Dissimilarity`, `alignment.align`), and the expected one that
of random annotations (`_Source`): gamma is 1 minus their ratio.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from arbitre.agreement.alignment import NONE, align
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.ratings import MOST_EXCHANGED, label
from arbitre.arrays import exact_dot
from arbitre.errors import DataError, OptionError, check_integer, did_you_mean
from arbitre.normalizers import nfc
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from arbitre.agreement.alignment import UnitAlignment
    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json

    Continuum = Mapping[str, Sequence[Any]]
    """Units of each annotator of one document."""

Expected: TypeAlias = Literal["local", "global"]
"""Source of the random annotations: the annotations of the same document, or of all documents."""

CHANCE_MODELS: Final[Mapping[Expected, str]] = {
    "local": "annotations of the same document, shifted",
    "global": "annotations of all documents, shifted",
}
"""Chance model of each source."""

SAMPLES: Final = 30
"""Minimum number of random annotations for each document."""

PRECISION: Final = 0.02
"""Default for the relative error of the expected disorder, at 95% confidence."""

MAX_TRIES: Final = 100
"""Maximum number of attempts to draw a shift that differs enough from the others."""

NORMAL: Final = 1.96
"""Half the width of an interval at 95% confidence, in standard errors (normal distribution)."""


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

    Units are aligned across annotators so that the disorder, which depends on their positions and categories, is least.
    Random annotations shift the annotations of randomly chosen annotators along the document, cyclically. Their number
    grows until the expected disorder is known to `precision`.

    Args:
        continuum: Units of each annotator, in one document or in several. A unit is an object with `start`, `end` and
            `label`, or a tuple (start, end, label). Positions count from 0. An annotator who annotated a document
            without finding a unit has an empty list; one who did not annotate it is left out. Labels are compared in
            Unicode normal form NFC.
        alpha: Weight of the positional dissimilarity, ((|start difference| + |end difference|) / sum of lengths)².
        beta: Weight of the categorical dissimilarity.
        unmatched: Dissimilarity of a missing unit, above 0. It scales all dissimilarities, so gamma does not depend
            on it.
        categories: Dissimilarity of two labels, in [0, 1]; by default 0 for equal labels and 1 for different ones.
        expected: "local" draws random annotations from the same document, "global" from all documents. Local values
            are lower if the documents differ in their categories or in their number of units.
        precision: Relative error of the expected disorder at 95% confidence, above 0.
        samples: Minimum number of random annotations per document.
        seed: Random seed.

    Returns:
        The coefficient. `observed` and `expected` are 1 minus the disorders, which may be negative; `standard_error`
        is that of `expected`. The value is None if there are no units.

    Raises:
        DataError: There are fewer than two annotators, no document has two, or a unit is invalid.
        OptionError: An option is out of range.

    >>> page = {"ada": [(0, 4, "name"), (6, 9, "date")], "bob": [(0, 4, "name"), (6, 9, "date")]}
    >>> gamma(page).value
    1.0
    """
    if expected not in get_args(Expected):
        hint = did_you_mean(expected, get_args(Expected))
        raise OptionError.of(f"Expected `expected` to be a known name, got {expected!r}", hint=hint)
    check_options(alpha=alpha, beta=beta, unmatched=unmatched, precision=precision, samples=samples, seed=seed)
    documents = [continuum] if isinstance(continuum, Mapping) else list(continuum)
    continua = Continua.of(documents, alpha, beta, unmatched, categories)
    return gamma_of(continua, continua.alignments(), expected, precision=precision, samples=samples, seed=seed)


def check_options(*, alpha: float, beta: float, unmatched: float, precision: float, samples: int, seed: int) -> None:
    """Raise OptionError if an option of gamma is out of range."""
    check_integer("samples", samples, least=1)
    check_integer("seed", seed)
    for name, value in (("unmatched", unmatched), ("precision", precision)):
        if not value > 0.0:
            raise OptionError.of(f"Expected `{name}` to be above 0, got {value}")
    if not (alpha >= 0.0 and beta >= 0.0 and alpha + beta > 0.0):
        raise OptionError.of(f"Expected `alpha` and `beta` to be at least 0, and one above 0, got {alpha} and {beta}")


def gamma_of(
    continua: Continua,
    alignments: Sequence[UnitAlignment],
    expected: Expected,
    *,
    precision: float,
    samples: int,
    seed: int,
) -> Coefficient:
    """Compute gamma from the alignments of the documents; see `gamma` for the other arguments."""
    counts, disorder = continua.counts(), continua.observed_disorder(alignments)
    _, exchanged = continua.exchanged(alignments)
    shares = [(row / row.sum()).tolist() if row.any() else [None] * len(row) for row in counts]
    facts: dict[str, Any] = {
        "name": f"gamma_{expected}",
        "chance_model": CHANCE_MODELS[expected],
        "items": int(counts.sum()),
        "annotators": len(continua.annotators),
        "margins": dict(zip(map(label, continua.labels), zip(*shares, strict=True), strict=True)),
        "exchanged": tuple((*labels, count) for labels, count in islice(exchanged.items(), MOST_EXCHANGED)),
    }
    if disorder is None:
        reason = "No annotator marked a span."
        return Coefficient(value=None, observed=None, expected=None, reason=reason, **facts)
    mean, error = continua.expected_disorder(
        everywhere=expected == "global", precision=precision, samples=samples, seed=seed
    )
    unmatched = continua.dissimilarity.unmatched
    return Coefficient.corrected(
        1.0 - disorder / unmatched, 1.0 - mean / unmatched, standard_error=error / unmatched, **facts
    )


class Unit(NamedTuple):
    """A span of a document with a category."""

    start: float
    end: float
    label: Json


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """The units of one annotator in one document.

    Attributes:
        starts: Start of each unit; shape (n,).
        ends: End of each unit, above its start; shape (n,).
        labels: Code of the label of each unit; shape (n,).
    """

    starts: Floats
    ends: Floats
    labels: Indices

    def __len__(self) -> int:
        return len(self.starts)

    def shifted(self, shift: float, low: float, length: float) -> Units:
        """Return the units moved by `shift`, cyclically within [low, low + length)."""
        starts = low + (self.starts - low + shift) % length
        return Units(starts, starts + (self.ends - self.starts), self.labels)


@dataclass(frozen=True, eq=False, slots=True)
class Dissimilarity:
    """Weighted sum of the positional and the categorical dissimilarity of two units.

    Attributes:
        alpha: Weight of the positional dissimilarity.
        beta: Weight of the categorical dissimilarity.
        unmatched: Dissimilarity of a missing unit.
        categories: Dissimilarity of two labels, by code; shape (labels, labels).
    """

    alpha: float
    beta: float
    unmatched: float
    categories: Floats

    def table(self, first: Units, second: Units) -> Floats:
        """Return the dissimilarity of each pair of units; shape (len(first), len(second))."""
        # Every array here has the shape (len(first), len(second)).
        apart = np.abs(np.subtract.outer(first.starts, second.starts)) + np.abs(
            np.subtract.outer(first.ends, second.ends)
        )
        position = (apart / np.add.outer(first.ends - first.starts, second.ends - second.starts)) ** 2
        category = self.categories[np.ix_(first.labels, second.labels)]
        table: Floats = (self.alpha * position + self.beta * category) * self.unmatched
        return table

    def alignment(self, annotations: Sequence[Units]) -> UnitAlignment:
        """Return the alignment with the least disorder."""
        pairs = combinations(range(len(annotations)), 2)
        tables = {(i, j): self.table(annotations[i], annotations[j]) for i, j in pairs}
        return align(tables, list(map(len, annotations)), self.unmatched)

    def disorder(self, annotations: Sequence[Units]) -> float:
        """Return the disorder of the best alignment, per unit of one annotator; 0 without units."""
        size = sum(map(len, annotations))
        return self.alignment(annotations).disorder * len(annotations) / size if size else 0.0


@dataclass(frozen=True, eq=False, slots=True)
class Continua:
    """The units of several annotators in several documents.

    Attributes:
        annotators: Names of all annotators, sorted.
        present: Positions in `annotators` of the annotators of each document.
        documents: Units of these annotators in each document.
        labels: The labels, by code.
        dissimilarity: Dissimilarity of two units.
        left_out: Number of documents with a single annotator, which are not in `documents`.
    """

    annotators: tuple[str, ...]
    present: tuple[tuple[int, ...], ...]
    documents: tuple[tuple[Units, ...], ...]
    labels: tuple[Json, ...]
    dissimilarity: Dissimilarity
    left_out: int

    @classmethod
    def of(
        cls,
        documents: Sequence[Continuum],
        alpha: float,
        beta: float,
        unmatched: float,
        categories: Callable[[Json, Json], float] | None = None,
    ) -> Continua:
        """Check and encode units.

        Raises:
            DataError: There are fewer than two annotators, no document has two, or a unit is invalid.
        """
        names = sorted({name for document in documents for name in document})
        if len(names) < 2:  # noqa: PLR2004
            raise DataError.of(f"Expected at least two annotators, got {len(names)}")
        shared = [document for document in documents if len(document) > 1]
        if not shared:
            raise DataError.of("No document was annotated by two annotators", hint="Documents are joined by their ids.")
        known: dict[Any, tuple[int, Json]] = {}
        present = tuple(tuple(at for at, name in enumerate(names) if name in document) for document in shared)
        units = tuple(
            tuple(_encoded(document[names[at]], names[at], known) for at in places)
            for document, places in zip(shared, present, strict=True)
        )
        labels = tuple(label for _, label in known.values())
        table = np.ones((len(labels), len(labels))) - np.eye(len(labels))
        if categories is not None:
            table = np.array([[float(categories(a, b)) for b in labels] for a in labels]).reshape(table.shape)
        dissimilarity = Dissimilarity(alpha, beta, unmatched, table)
        return cls(tuple(names), present, units, labels, dissimilarity, len(documents) - len(shared))

    @property
    def weights(self) -> Floats:
        """Number of units in each document; shape (documents,)."""
        return np.array([sum(map(len, document)) for document in self.documents], dtype=np.float64)

    def counts(self) -> Indices:
        """Return the number of units with each label of each annotator; shape (annotators, labels)."""
        counts = np.zeros((len(self.annotators), len(self.labels)), dtype=np.intp)
        for places, document in zip(self.present, self.documents, strict=True):
            for at, units in zip(places, document, strict=True):
                counts[at] += np.bincount(units.labels, minlength=len(self.labels))
        return counts

    def alignments(self) -> list[UnitAlignment]:
        """Return the alignment with the least disorder of each document."""
        return list(map(self.dissimilarity.alignment, self.documents))

    def observed_disorder(self, alignments: Sequence[UnitAlignment]) -> float | None:
        """Return the mean disorder of alignments of the documents per unit of one annotator; None without units."""
        units = self.weights.sum()
        # The disorder of an alignment is a sum over unitary alignments. Per unit of one annotator, it is this sum
        # divided by the mean number of units of an annotator.
        sums = [each.disorder * len(document) for each, document in zip(alignments, self.documents, strict=True)]
        return float(math.fsum(sums) / units) if units else None

    def exchanged(self, alignments: Sequence[UnitAlignment]) -> tuple[int, dict[tuple[str, str], int]]:
        """Return the number of aligned pairs of units, and of those with each pair of different labels, sorted."""
        pairs, exchanged = 0, Counter[tuple[str, str]]()
        for document, alignment in zip(self.documents, alignments, strict=True):
            for i, j in combinations(range(len(document)), 2):
                units = alignment.unitary[(alignment.unitary[:, [i, j]] != NONE).all(axis=1)]
                pairs += len(units)
                codes = document[i].labels[units[:, i]].tolist(), document[j].labels[units[:, j]].tolist()
                for both in zip(*codes, strict=True):
                    first, second = sorted(label(self.labels[code]) for code in both)
                    exchanged[first, second] += first != second
        return pairs, dict(sorted((+exchanged).items(), key=lambda item: (-item[1], item[0])))

    def expected_disorder(self, *, everywhere: bool, precision: float, samples: int, seed: int) -> tuple[float, float]:
        """Return the mean disorder of random annotations, weighted by the units of the documents, and its error.

        Random annotations shift the annotations of randomly chosen annotators along the document, cyclically.

        Args:
            everywhere: Whether to draw from all documents, or only from the same one.
            precision: Relative error of the mean at 95% confidence.
            samples: Minimum number of random annotations of each document.
            seed: Random seed.

        Returns:
            The mean disorder per unit of one annotator, and its standard error.
        """
        random = np.random.default_rng(seed)
        weights = self.weights / self.weights.sum()  # of the documents
        every = _Source.of([units for document in self.documents for units in document])
        drawn = [
            (every if everywhere else _Source.of(document), _bounds(document), len(document))
            for document in self.documents
        ]
        disorders: list[list[float]] = [[] for _ in drawn]
        needed = [samples if weight else 0 for weight in weights]
        while True:
            for (source, bounds, annotators), values, count in zip(drawn, disorders, needed, strict=True):
                while len(values) < count:
                    values.append(self.dissimilarity.disorder(source.draw(bounds, annotators, random)))
            # Of each document; a document without units has no random annotations.
            means = np.array([np.mean(values) if values else 0.0 for values in disorders])
            errors = np.array([np.std(values) / len(values) ** 0.5 if values else 0.0 for values in disorders])
            mean, error = exact_dot(weights, means), math.sqrt(exact_dot(weights**2, errors**2))
            if NORMAL * error <= precision * mean:
                return mean, error
            # The error falls with the square root of the number of random annotations.
            growth = (NORMAL * error / (precision * mean)) ** 2
            needed = [ceil(len(values) * growth) for values in disorders]


def _encoded(values: Iterable[Any], name: str, known: dict[Any, tuple[int, Json]]) -> Units:
    """Return the units of an annotator as arrays; adds new labels to `known`. Raises DataError for an invalid unit."""
    units = [_unit(value, name) for value in values]
    starts, ends = (np.array([unit[side] for unit in units], dtype=np.float64) for side in (0, 1))
    codes = [known.setdefault(canonical(unit.label), (len(known), unit.label))[0] for unit in units]
    return Units(starts, ends, np.array(codes, dtype=np.intp))


def _unit(value: Any, name: str) -> Unit:  # noqa: ANN401  (a mapping or a tuple)
    """Return a unit of the annotator `name`, with its label in NFC. Raises DataError if it is invalid."""
    try:
        unit = Unit(value["start"], value["end"], value["label"]) if isinstance(value, Mapping) else Unit(*value)
        unit = unit._replace(label=nfc(unit.label))
        valid = isfinite(unit.start) and isfinite(unit.end) and unit.start < unit.end
    except (KeyError, TypeError) as error:
        raise DataError.of(f"Expected numbers `start` and `end`, and a `label`, got {value!r} from {name!r}") from error
    if not valid:
        raise DataError.of(f"Expected a unit that ends after it starts, got {value!r} from {name!r}")
    return unit


def _bounds(document: Sequence[Units]) -> tuple[float, float]:
    """Return the first and the last position of a document; it begins at 0, unless a unit begins before.

    Args:
        document: Units of each annotator of the document.
    """
    starts, ends = (np.concatenate([getattr(units, side) for units in document]) for side in ("starts", "ends"))
    return min(0.0, float(starts.min(initial=0.0))), float(ends.max(initial=0.0))


@dataclass(frozen=True, eq=False, slots=True)
class _Source:
    """Annotations that random annotations are drawn from.

    Attributes:
        rows: Units of each annotator in each document; at least one row has units.
        apart: Minimum difference of two shifts: half the mean length of a unit.
    """

    rows: Sequence[Units]
    apart: float

    @classmethod
    def of(cls, rows: Sequence[Units]) -> _Source:
        """Return the source that draws from these annotations: the units of each annotator in each document."""
        lengths = np.concatenate([units.ends - units.starts for units in rows])
        return cls(rows, float(lengths.mean()) / 2.0 if len(lengths) else 0.0)

    def draw(self, bounds: tuple[float, float], annotators: int, random: np.random.Generator) -> list[Units]:
        """Return random annotations: for each annotator, a random row, shifted cyclically within the bounds.

        The shifts differ by at least `apart` where that is possible. There is at least one unit.
        """
        low, high = bounds
        while True:
            shifts = _distant(high - low, self.apart, annotators, random)
            chosen = [self.rows[int(random.integers(len(self.rows)))] for _ in shifts]
            if any(map(len, chosen)):
                return [units.shifted(shift, low, high - low) for units, shift in zip(chosen, shifts, strict=True)]


def _distant(length: float, least: float, count: int, random: np.random.Generator) -> list[float]:
    """Return random positions in [0, length), at least `least` apart unless this fails repeatedly."""
    shifts: list[float] = []
    while len(shifts) < count:
        for _ in range(MAX_TRIES):
            shift = float(random.uniform(0.0, length))
            if all(abs(shift - other) >= least for other in shifts):
                break
        shifts.append(shift)
    return shifts
