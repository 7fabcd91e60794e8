"""The pairs of leaves at one wildcard path."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from arbitre.comparison.node_tree import NodeTree
from arbitre.paths import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.values import Json


class LeafPair(NamedTuple):
    """A gold leaf and the predicted leaf it is compared with.

    Attributes:
        gold: Value in gold, or a list of accepted readings; ABSENT for a spurious leaf.
        predicted: Predicted value; ABSENT for a missing leaf.
        quality: Quality of the pair, in [0, 1].
        document: Index of the document among those compared together.
        pointer: JSON Pointer in gold; None for a spurious leaf.
        predicted_pointer: JSON Pointer in the prediction; None for a missing leaf.
    """

    gold: Json
    predicted: Json
    quality: float
    document: int
    pointer: str | None
    predicted_pointer: str | None

    def with_readings(self, document: Json, key: str) -> LeafPair:
        """Return the pair with all accepted readings of gold as a list.

        Args:
            document: The gold document.
            key: Key of the sibling field that contains one further reading or a list of readings.
        """
        if self.pointer is None:
            return self
        parent = document
        for token in parse(self.pointer)[:-1]:
            parent = parent[int(str(token)) if isinstance(parent, list) else str(token)]
        more = parent.get(key, [])
        return self._replace(gold=[self.gold, *(more if isinstance(more, list) else [more])])


def leaf_pairs(levels: Sequence[Level], path: str | None = None) -> Iterator[tuple[str, LeafPair]]:
    """Yield the path and the pair of every leaf, level by level.

    Args:
        levels: The compared nodes of several documents.
        path: Wildcard path of the leaves; None for all leaves.
    """
    node_tree = NodeTree.of(levels)
    pointers = node_tree.pointers(gold=True), node_tree.pointers(gold=False)
    for level in levels:
        gold, predicted, *_ = level.leaf_masses()
        texts = level.texts()
        chosen = [
            at for at in ((gold > 0.0) | (predicted > 0.0)).nonzero()[0].tolist() if path is None or texts[at] == path
        ]
        if not chosen:
            continue
        values = node_tree.values(level, gold=True), node_tree.values(level, gold=False)
        for at in chosen:
            place = tuple(side[level.first + at] for side in pointers)
            sides = values[0][at], values[1][at]
            yield texts[at], LeafPair(*sides, float(level.quality[at]), int(level.document[at]), *place)
