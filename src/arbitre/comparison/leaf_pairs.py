"""The pairs of leaves at a wildcard path, and the confusion matrix of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from arbitre.comparison.levels import single_paths
from arbitre.comparison.node_tree import NodeTree
from arbitre.errors import DataError, did_you_mean
from arbitre.paths import parse
from arbitre.values import ABSENT, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from arbitre.classification import Classification
    from arbitre.comparison.levels import Level
    from arbitre.values import Json


class LeafPair(NamedTuple):
    """A gold leaf and the predicted leaf that it is compared with.

    Attributes:
        gold: Value in gold, or a list of accepted forms; ABSENT for a spurious leaf.
        predicted: Predicted value; ABSENT for a missing leaf.
        quality: Quality of the pair, in [0, 1].
        document: Index of the document among those compared together.
        pointer: JSON Pointer in gold; None for a spurious leaf.
        predicted_pointer: JSON Pointer in the prediction, with aliased fields in their place in the schema; None for a
            missing leaf.
    """

    gold: Json
    predicted: Json
    quality: float
    document: int
    pointer: str | None
    predicted_pointer: str | None

    def with_forms(self, document: Json, key: str) -> LeafPair:
        """Return the pair with all accepted forms of gold as a list.

        Args:
            document: The gold document.
            key: Key of the sibling field that contains one further form or a list of forms.
        """
        if self.pointer is None:
            return self
        parent = document
        for token in parse(self.pointer)[:-1]:
            parent = parent[int(str(token)) if isinstance(parent, list) else str(token)]
        more = parent.get(key, [])
        return self._replace(gold=[self.gold, *(more if isinstance(more, list) else [more])])


def leaf_pairs(
    levels: Sequence[Level], path: str | None = None, first: int = 0, *, normalized: bool = False
) -> Iterator[tuple[str, LeafPair]]:
    """Yield the path and the pair of every leaf, level by level.

    Args:
        levels: The compared nodes of several documents.
        path: Wildcard path of the leaves; None for all leaves.
        first: Index of the first of these documents.
        normalized: Whether to return the normalised values, with all accepted forms, instead of the original ones.
    """
    node_tree = NodeTree.of(levels)
    pointers = node_tree.pointers(gold=True), node_tree.pointers(gold=False)
    for level in levels:
        gold, predicted, *_ = level.leaf_masses()
        texts = level.texts()
        at = ((gold > 0.0) | (predicted > 0.0)).nonzero()[0]
        chosen = [place for place in at.tolist() if path is None or texts[place] == path]
        if not chosen:
            continue
        columns = (
            *(level.values(gold=side, normalized=normalized) for side in (True, False)),
            level.quality.tolist(),
            (first + level.document).tolist(),
            *(side[level.nodes] for side in pointers),
        )
        for place in chosen:
            yield texts[place], LeafPair(*[column[place] for column in columns])


# The confusion matrix.


if TYPE_CHECKING:
    Row = tuple[Json, Json, float, bool]
    """Gold value, predicted value, mass of the pair, and whether the two count as equal. None means no value."""


def value_rows(levels: Sequence[Level], path: str) -> list[Row]:
    """Return the single values at a wildcard path, each with the value that it is matched with."""
    at_path = (level for level in single_paths(levels) if level.leaf and level.text == path)
    return [row for level in at_path for row in rows_of(level)]


def classify(
    rows: Sequence[Row],
    path: str,
    known: Iterable[str],
    labels: Json | Sequence[Json] = None,
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
    from arbitre.classification import Classification  # noqa: PLC0415  (few evaluations need it)

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


def rows_of(level: Level) -> Iterator[Row]:
    """Yield the gold value, the predicted value and the mass of each node, and whether the two are equal."""
    masses = [1.0] * len(level) if level.scale is None else level.scale.tolist()
    sides = (
        [None if value is ABSENT or not kind_of(value).scalar else value for value in level.values(gold=gold)]
        for gold in (True, False)
    )
    for gold, predicted, mass, quality in zip(*sides, masses, level.quality.tolist(), strict=True):
        if gold is not None or predicted is not None:
            yield gold, predicted, mass, quality >= 1.0 and gold is not None and predicted is not None
