"""The confusion matrix of the gold and predicted values at a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.classification import Classification
from arbitre.comparison.levels import single_paths
from arbitre.errors import DataError, did_you_mean
from arbitre.values import canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.values import Json

    Row = tuple[Json, Json, float, bool]
    """Gold value, predicted value, mass of the pair, and whether the two count as equal. None stands for no value."""


def value_rows(levels: Sequence[Level], path: str) -> list[Row]:
    """Return the single values at a wildcard path, each with the value that it is matched with."""
    at_path = (level for level in single_paths(levels) if level.leaf and level.text == path)
    return [row for level in at_path for row in _rows(level)]


def classify(
    rows: Sequence[Row],
    path: str,
    known: Iterable[str],
    labels: Sequence[Json] | None = None,
    matched_by: str | None = None,
) -> Classification:
    """Return the confusion matrix of the values at a path.

    Spellings that are matched with quality 1, for example after `casefold`, are replaced with the one that occurs first
    in gold.

    Args:
        rows: The result of `value_rows`.
        path: The path, for errors.
        known: The paths of the comparison, for errors.
        labels: The labels to report, in order; by default, all that occur, sorted.
        matched_by: See `Classification`.

    Raises:
        DataError: There are no rows.
    """
    if not rows:
        raise DataError.of(
            f"Expected the path of single values, got {path!r}",
            hint=did_you_mean(path, known, "Write * for positions in lists, such as /people/*/role."),
        )
    spelling: dict[Hashable, Json] = {}
    for gold, predicted, _, equal in rows:
        if equal:
            name = spelling.setdefault(canonical(gold), spelling.get(canonical(predicted), gold))
            spelling.setdefault(canonical(predicted), name)
    pairs = (
        (spelling.get(canonical(gold), gold), spelling.get(canonical(predicted), predicted), mass)
        for gold, predicted, mass, _ in rows
    )
    return Classification.of(pairs, labels, matched_by)


def _rows(level: Level) -> Iterator[Row]:
    """Yield the gold value, the predicted value and the mass of each node, and whether the two are equal."""
    masses = [1.0] * len(level) if level.scale is None else level.scale.tolist()
    sides = _values(level, level.left), _values(level, level.right)
    for gold, predicted, mass, quality in zip(*sides, masses, level.quality.tolist(), strict=True):
        if gold is not None or predicted is not None:
            yield gold, predicted, mass, quality >= 1.0 and gold is not None and predicted is not None


def _values(level: Level, rows: Indices) -> list[Json]:
    """Return the single value of each row; None for a list, an object, and a negative row."""
    values: list[Json] = [None] * len(rows)
    present = (rows >= 0).nonzero()[0]
    for at, value in zip(present.tolist(), level.source.values_of(rows[present]), strict=True):
        values[at] = value if kind_of(value).scalar else None
    return values
