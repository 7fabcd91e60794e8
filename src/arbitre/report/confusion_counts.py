"""Counts of gold and predicted values of fields with few values: the confusion matrices of a report.

They are collected while the documents are compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.leaf_pairs import classify, rows_of
from arbitre.comparison.levels import single_paths
from arbitre.parsing.fast_json import compact
from arbitre.paths import order
from arbitre.schema.value_schema import value_schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.inputs.records import Pair
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MAX_VALUES: Final = 30
"""Maximum number of different values of a field on either side."""

FEW_VALUES: Final = 12
"""Maximum number of different gold values of a field whose schema lists none."""

MIN_REPEATS: Final = 5
"""Minimum number of occurrences of a gold value of such a field, on average."""

MAX_LABELS: Final = 12
"""Maximum number of labels of a matrix; the least confused values are counted together as `OTHER`."""

OTHER: Final = {"other": True}
"""Label of all values without a label of their own."""

PROBED: Final = 64
"""Number of values of a level that are looked at first; most fields have too many different ones among them."""

MAX_MATRICES: Final = 20
"""Maximum number of matrices; those with the most confusions are kept."""


@dataclass(frozen=True, slots=True)
class ConfusionObserver:
    """Observer that counts the pairs of values at each path with few values."""

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:  # noqa: ARG002
        """Return a single note for all pairs: by path, the rows to count; None for a path with too many values."""
        found: dict[str, list[Json] | None] = {}
        for level in single_paths(levels):
            if not level.leaf or level.inner or found.get(level.text, ()) is None:
                continue
            counts = _counts(level)
            if counts is None:
                found[level.text] = None
            elif counts:
                found.setdefault(level.text, []).extend(counts)  # type: ignore[union-attr]
        return [found]


def _counts(level: Level) -> list[Json] | None:
    """Return gold value, predicted value, equality and number of the pairs of a level; None with too many values."""
    for side in (level.left, level.right):
        present = side[side >= 0]
        for some in (present[:PROBED], present):
            if len({value for value in level.source.values_of(some) if type(value) not in {list, dict}}) > MAX_VALUES:
                return None
    counted: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    for gold, predicted, mass, equal in rows_of(level):
        counted[type(gold), gold, type(predicted), predicted, equal] += mass  # True is not 1
    return [[gold, predicted, equal, mass] for (_, gold, _, predicted, equal), mass in counted.items()]


def _text(value: Json) -> Json:
    """Return the JSON text of a value, as 1 and true are equal in Python; None for no value."""
    return None if value is None else compact(value)


@dataclass(slots=True)
class ConfusionCounts:
    """Sums the notes of `ConfusionObserver` over a corpus.

    Attributes:
        found: By path, the number of pairs with each gold value, predicted value, and whether they are equal; None for
            a path with too many values.
    """

    found: dict[str, defaultdict[tuple[Any, ...], float] | None] = field(default_factory=dict)

    def take(self, notes: Iterable[Mapping[str, Sequence[Any] | None]]) -> None:
        """Add the notes of some documents."""
        for note in notes:
            for path, rows in note.items():
                counted = self.found.setdefault(path, defaultdict(float))
                if counted is None:
                    continue
                if rows is not None:
                    for gold, predicted, equal, mass in rows:
                        counted[type(gold), gold, type(predicted), predicted, equal] += mass
                sides = ({key[at : at + 2] for key in counted} for at in (0, 2))
                if rows is None or max(map(len, sides)) > MAX_VALUES:
                    self.found[path] = None

    def matrices(self, plan: Plan) -> list[dict[str, Any]]:
        """Return the confusion matrices of the paths with confusions, most confusions first.

        A matrix has the `path`, the `labels` by number of confusions, and `counts`, with a row for each gold label and
        a column for each predicted one. The last label is None: its row counts spurious values, and its column missing
        ones.
        """
        counted = {path: counts for path, counts in self.found.items() if counts}
        declared = value_schemas(plan.root, counted)
        ranked = []
        for path, counts in counted.items():
            made = _matrix(path, counts, _is_listed(declared.get(path)))
            if made is not None:
                ranked.append((-made[1], order(path), made[0]))
        return [one for *_, one in sorted(ranked, key=lambda item: item[:2])[:MAX_MATRICES]]


def _is_listed(schema: Json) -> bool:
    """Return whether a schema lists the values that it accepts."""
    return isinstance(schema, dict) and ("enum" in schema or schema.get("type") == "boolean")


def _matrix(path: str, counts: Mapping[tuple[Any, ...], float], listed: bool) -> tuple[dict[str, Any], float] | None:  # noqa: FBT001
    """Return the matrix of a path and its number of confusions; None without any, or if values are hardly repeated."""
    rows = [(_text(gold), _text(predicted), mass, equal) for (_, gold, _, predicted, equal), mass in counts.items()]
    confusion = classify(rows, path, ()).confusion
    matrix, labels = confusion.matrix, [None if one is None else json.loads(one) for one in confusion.labels]
    gold = matrix[:-1].sum(axis=1)
    if not listed and (np.count_nonzero(gold) > FEW_VALUES or gold.sum() < MIN_REPEATS * np.count_nonzero(gold)):
        return None
    wrong = matrix - np.diag(np.diag(matrix))
    number = float(wrong[:-1, :-1].sum())
    if not number:
        return None
    confused = wrong.sum(axis=0) + wrong.sum(axis=1)
    ranked = sorted(range(len(labels) - 1), key=lambda at: (-confused[at], -matrix[at].sum(), at))
    kept, rest = ranked[:MAX_LABELS], ranked[MAX_LABELS:]
    groups = [[at] for at in kept] + ([rest] if rest else []) + [[len(labels) - 1]]
    names = [labels[at] for at in kept] + ([OTHER] if rest else []) + [None]
    cells = [[matrix[np.ix_(one, other)].sum().item() for other in groups] for one in groups]
    return {"path": path, "labels": names, "counts": cells}, number
