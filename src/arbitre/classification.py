"""Classification: the confusion matrix of a field, with the scores of each class and their averages.

A confusion matrix has a row for each gold label and a column for each predicted label. Its last row and column count
values without a partner: spurious values have no gold label, missing values no predicted label.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arbitre.errors import DataError
from arbitre.tables.table import SCORE, Table, TableColumn, columns, count
from arbitre.values import Kind, as_tuple, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.language import Translator
    from arbitre.tables.table import Emphasis
    from arbitre.values import Json

AVERAGES: Final = ("micro", "macro", "weighted")
"""Names of the averages over the classes."""

HIGH: Final = 0.8
"""Default minimum precision or recall that counts as high."""


@dataclass(frozen=True, slots=True)
class ClassScores:
    """The scores of one class, computed from its counts. A score whose denominator is zero is None, never 0.

    Attributes:
        tp: True positives: values of the class that are predicted as this class.
        fp: False positives: values predicted as this class that are not of this class.
        fn: False negatives: values of the class that are missing or predicted as another class.
    """

    tp: float
    fp: float
    fn: float

    @property
    def support(self) -> float:
        """Number of gold values of the class."""
        return self.tp + self.fn

    @property
    def predicted(self) -> float:
        """Number of values predicted as this class."""
        return self.tp + self.fp

    @property
    def precision(self) -> float | None:
        """Return tp / (tp + fp); None if the class is never predicted."""
        return self.tp / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """Return tp / (tp + fn); None if the class does not occur in gold."""
        return self.tp / self.support if self.support else None

    @property
    def f1(self) -> float | None:
        """Return 2 tp / (2 tp + fp + fn); None if the class neither occurs nor is predicted."""
        total = self.support + self.predicted
        return 2 * self.tp / total if total else None

    def to_dict(self) -> dict[str, float | None]:
        """Return the counts and the scores."""
        return {name: getattr(self, name) for name in ("tp", "fp", "fn", "support", "precision", "recall", "f1")}


@dataclass(frozen=True, slots=True)
class AverageScores:
    """Averages of a score over several classes. Classes whose score is None are left out; None if all are."""

    precision: float | None
    recall: float | None
    f1: float | None

    @classmethod
    def of(cls, scores: Sequence[ClassScores], weights: Sequence[float]) -> AverageScores:
        """Return the averages with a weight for each class."""
        return cls(*(_average([getattr(class_scores, name) for class_scores in scores], weights) for name in SCORES))

    def to_dict(self) -> dict[str, float | None]:
        """Return the averages."""
        return {name: getattr(self, name) for name in SCORES}


SCORES: Final = ("precision", "recall", "f1")
_COUNTS: Final = ("tp", "fp", "fn", "support")

NO_VALUE: Final = "(none)"
"""Label of the row and the column of no value."""


@dataclass(frozen=True, eq=False, slots=True)
class Confusion:
    """A confusion matrix: rows are gold labels, columns are predicted labels.

    Attributes:
        labels: The labels of the rows and columns. The last one is None, for no value: its row counts spurious values,
            its column counts missing values.
        matrix: Number of values with each gold and predicted label; shape (labels, labels).
    """

    labels: tuple[Json, ...]
    matrix: npt.NDArray[Any]

    def to_dict(self) -> dict[str, Json]:
        """Return the matrix with the meaning of its axes."""
        return {
            "rows": "gold; the last row counts spurious values",
            "columns": "predicted; the last column counts missing values",
            "labels": list(self.labels),
            "matrix": self.matrix.tolist(),
        }


class ClassAverages(ABC):
    """Scores of some classes, with their averages."""

    @property
    @abstractmethod
    def per_class(self) -> Mapping[Any, ClassScores]:
        """Scores of each class, by label."""

    @property
    def micro(self) -> ClassScores:
        """Scores of the summed counts of all classes."""
        return ClassScores(
            *(sum(getattr(scores, name) for scores in self.per_class.values()) for name in ("tp", "fp", "fn"))
        )

    @property
    def macro(self) -> AverageScores:
        """Unweighted means of the scores of the classes."""
        return AverageScores.of([*self.per_class.values()], [1.0] * len(self.per_class))

    @property
    def weighted(self) -> AverageScores:
        """Means of the scores of the classes, weighted by support."""
        return AverageScores.of([*self.per_class.values()], [scores.support for scores in self.per_class.values()])

    @property
    def support(self) -> float:
        """Number of gold values of the classes."""
        return self.micro.support

    def readings(self, high: float = HIGH) -> tuple[str, ...]:
        """Return one sentence for each class that interprets its precision and recall.

        Args:
            high: Minimum precision or recall that counts as high, in [0, 1].
        """
        return tuple(_reading(label_text(label), scores, high) for label, scores in self.per_class.items())


@dataclass(frozen=True, eq=False)
class Classification(ClassAverages):
    """The confusion matrix of the values at one path, with the scores of each class.

    Attributes:
        confusion: The confusion matrix of all values.
        reported: The labels with scores, in order.
        matched_by: What the items of lists that contain the values were matched by: "key", "position", "other fields"
            than the values, "all fields" or "these values". With the last two, the values decided which items were
            matched, and the figures are upper bounds. None if no list contains the values.
    """

    confusion: Confusion
    reported: tuple[Json, ...]
    matched_by: str | None = None

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[Json, Json, float]],
        labels: Json | Sequence[Json] = None,
        matched_by: str | None = None,
    ) -> Classification:
        """Create a classification.

        Args:
            pairs: Gold label, predicted label and number of values. None means no value; a pair of two None is
                ignored.
            labels: The labels to report, in order; by default, all that occur, sorted.
            matched_by: See `Classification`.

        Raises:
            DataError: A label is not a single JSON value, or two labels are equal in Python but not as JSON.
        """
        listed = [pair for pair in pairs if pair[0] is not None or pair[1] is not None]
        reported = _distinct(as_tuple(labels))
        occurring = _distinct([*reported, *(label for pair in listed for label in pair[:2] if label is not None)])
        others = sorted(occurring[len(reported) :], key=lambda label: (kind_of(label), label))
        place = {label: at for at, label in enumerate([*reported, *others, None])}
        matrix = np.zeros((len(place), len(place)))
        at = [[place[pair[side]] for pair in listed] for side in (0, 1)]
        np.add.at(matrix, tuple(at), [pair[2] for pair in listed])
        if (matrix == matrix.round()).all():
            matrix = matrix.astype(np.int64)
        return cls(Confusion(tuple(place), matrix), tuple(others if labels is None else reported), matched_by)

    @cached_property
    def per_class(self) -> dict[Json, ClassScores]:
        """Scores of each class, by label."""
        matrix, place = self.confusion.matrix, {label: at for at, label in enumerate(self.confusion.labels)}
        rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
        scores = {}
        for label in self.reported:
            at = place[label]
            right = matrix[at, at]
            scores[label] = ClassScores(*(count.item() for count in (right, columns[at] - right, rows[at] - right)))
        return scores

    @property
    def accuracy(self) -> float | None:
        """Share of all values, missing and spurious ones included, with the right label; None without values."""
        total = self.confusion.matrix.sum().item()
        return self.confusion.matrix.trace().item() / total if total else None

    def to_dict(self) -> dict[str, Any]:
        """Return the confusion matrix and the scores as JSON. Keys of `per_class` are texts: `true` for True."""
        return {
            "confusion": self.confusion.to_dict(),
            "per_class": {label_text(label): scores.to_dict() for label, scores in self.per_class.items()},
            **{name: getattr(self, name).to_dict() for name in AVERAGES},
            "accuracy": self.accuracy,
            "support": self.support,
            "readings": list(self.readings()),
            "matched_by": self.matched_by,
        }

    def __repr__(self) -> str:
        accuracy = "none" if self.accuracy is None else f"{self.accuracy:.4f}"
        return f"Classification({len(self.reported)} classes, accuracy={accuracy})"


def report(gold: Iterable[Json], predicted: Iterable[Json], labels: Json | Sequence[Json] = None) -> Classification:
    """Compare predicted labels with gold labels at the same positions.

    Args:
        gold: The gold labels; None for a position without a gold value.
        predicted: The predicted labels; None for a position without a predicted value. A position where both are None
            is ignored.
        labels: The labels to report, in order. Other labels only appear in the confusion matrix. By default, all
            labels that occur, sorted.

    Returns:
        The confusion matrix, the scores of each class and their averages.

    Raises:
        DataError: The sequences have different lengths, or a label is not a single JSON value.

    >>> classes = report(["city", "city", "person"], ["city", "person", "person"])
    >>> classes.per_class["city"].recall, classes.accuracy, classes.confusion.matrix.tolist()
    (0.5, 0.6666666666666666, [[1, 1, 0], [0, 1, 0], [0, 0, 0]])
    """
    left, right = _listed(gold), _listed(predicted)
    if len(left) != len(right):
        raise DataError.of(
            f"Expected as many predicted labels as gold labels ({len(left)}), got {len(right)}",
            hint="Pass None for a position without a value.",
        )
    return Classification.of(((*pair, 1.0) for pair in zip(left, right, strict=True)), labels)


def class_table(classes: ClassAverages, title: str, name: str = "class", average: str | None = None) -> Table:
    """Return the counts and scores of each class, and one average over the classes, or all."""
    counts = (*columns(*_COUNTS[:3], written=count, drop=1), TableColumn("support", count, drop=2))
    heads = (TableColumn(name, said=_row_name), *counts, *columns(*SCORES, written=SCORE))
    rows = [
        (label_text(label), *(getattr(scores, one) for one in (*_COUNTS, *SCORES)))
        for label, scores in classes.per_class.items()
    ]
    averages = AVERAGES if average is None else (average,)
    emphasis: dict[int | tuple[int, int], Emphasis] = {
        at: "weak" for at, one in enumerate(averages, len(rows)) if one != "micro"
    }
    sections = (len(rows),)
    for one in averages:
        scores = getattr(classes, one)
        cells = (getattr(scores, each, "") for each in (*_COUNTS, *SCORES))
        rows.append((f"{one} average", *cells))
    return Table.of(title, heads, rows, emphasis=emphasis, sections=sections)


def _row_name(say: Translator, label: str) -> str:
    """Return the label of a row in a language; the names of classes stay."""
    return say.word(label) if label == NO_VALUE or label.endswith(" average") else label


def confusion_table(confusion: Confusion) -> Table:
    """Return the confusion matrix as a table."""
    labels = confusion.labels
    names = [*map(label_text, labels[:-1]), NO_VALUE]
    rows = [(name, *row) for name, row in zip(names, confusion.matrix.tolist(), strict=True)]
    emphasis: dict[int | tuple[int, int], Emphasis] = {
        (at, other + 1): "strong" if at == other and label is not None else "" if row[other + 1] else "weak"
        for at, (label, row) in enumerate(zip(labels, rows, strict=True))
        for other in range(len(labels))
    }
    classes = columns(*names[:-1], written=count, named=True)
    heads = (TableColumn("gold \\ predicted", said=_row_name), *classes, *columns(NO_VALUE, written=count))
    notes = (f"Row {NO_VALUE}: spurious. Column {NO_VALUE}: missing.",)
    return Table.of(
        "Confusion matrix: rows are gold, columns are predicted", heads, rows, notes=notes, emphasis=emphasis
    )


def label_text(label: Json) -> str:
    """Return a label as text: a text as it is, any other value as JSON."""
    return label if isinstance(label, str) else json.dumps(label)


def _listed(labels: Iterable[Json]) -> list[Json]:
    """Return labels as a list; values of NumPy arrays and pandas series as Python values."""
    plain = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    return [label.item() if isinstance(label, np.generic) else label for label in plain]


def _distinct(labels: Iterable[Json]) -> list[Json]:
    """Return the distinct labels in order. Raises DataError if one is invalid."""
    distinct: dict[Any, Json] = {}
    for label in labels:
        if not (isinstance(label, str) or kind_of(label).scalar):
            kind = "a list" if kind_of(label) is Kind.ARRAY else "an object"
            raise DataError.of(f"Expected a single value as a label, got {kind}")
        distinct.setdefault(canonical(label), label)
    if len(set(distinct.values())) < len(distinct):
        raise DataError.of(
            "Expected labels that differ in Python, got a boolean and an equal number",
            hint="Convert the labels to texts.",
        )
    return list(distinct.values())


def _average(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    weighted = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for _, weight in weighted)
    return math.fsum(value * weight for value, weight in weighted) / total if total else None


def _reading(label: str, scores: ClassScores, high: float) -> str:
    precision, recall = scores.precision, scores.recall
    if recall is None:
        reading = "does not occur in gold" if precision is None else "does not occur in gold: every prediction is wrong"
    elif precision is None:
        reading = "is never predicted"
    else:
        reading = _READINGS[recall >= high, precision >= high]
    return f"{label}: {reading}."


_READINGS: Final = {
    (True, True): "most of its values are found, and most predictions of it are right",
    (
        False,
        True,
    ): "predictions of it are mostly right, but many of its values are missed or predicted as another class",
    (True, False): "most of its values are found, but many other values are predicted as this class",
    (False, False): "many of its values are missed, and many predictions of it are wrong",
}
"""Meaning of a class's scores, by whether recall and precision are high."""
