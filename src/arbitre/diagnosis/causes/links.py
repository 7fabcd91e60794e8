"""Find the nodes of moved values, splits and merges among the nodes of compared documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.diagnosis.causes.taxonomy import MERGED, MOVED, SPLIT, Links

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.causes.joins import JoinedItems
    from arbitre.diagnosis.moves.moved import MovedNodes


def find_links(
    levels: Sequence[Level], joins: Sequence[Sequence[JoinedItems]], moved: Sequence[Sequence[MovedNodes]]
) -> Links:
    """Return the links of documents that were compared together.

    Args:
        levels: The compared nodes.
        joins: Splits and merges of each document.
        moved: Nodes of the moved values of each document.
    """
    links = [(MOVED, *nodes) for several in moved for nodes in several]
    links += _of_joins(levels, joins)
    verdicts, gold, predicted = zip(*links, strict=True) if links else ((), (), ())
    return Links(np.array(verdicts, dtype=np.int8), np.array(gold, dtype=np.intp), np.array(predicted, dtype=np.intp))


def _of_joins(levels: Sequence[Level], joins: Sequence[Sequence[JoinedItems]]) -> Iterator[tuple[int, int, int]]:
    every = [join for several in joins for join in several]
    if not every:
        return
    gold_items, predicted_items = _items(levels, {join.node for join in every})
    for join in every:
        gold = [gold_items[join.node, position] for position in join.gold]
        predicted = [predicted_items[join.node, position] for position in join.predicted]
        if join.merge:
            whole = predicted[0]
            yield from ((MERGED, part, whole) for part in gold if part != whole)
        else:
            whole = gold[0]
            yield from ((SPLIT, whole, part) for part in predicted if part != whole)


def _items(levels: Sequence[Level], lists: set[int]) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return the nodes of the items of lists, by the node of the list and the position, for gold and predicted."""
    parents = np.array(sorted(lists), dtype=np.intp)
    sides: tuple[dict[tuple[int, int], int], ...] = {}, {}
    for level in levels:
        if not level.item or level.inner:
            continue
        at = np.isin(level.parent, parents).nonzero()[0]
        for items, rows in zip(sides, (level.left[at], level.right[at]), strict=True):
            present = at[rows >= 0]
            tokens = level.source.tokens_of(rows[rows >= 0])
            for place, parent, token in zip(present.tolist(), level.parent[present].tolist(), tokens, strict=True):
                items.setdefault((parent, int(token)), level.first + place)
    return sides[0], sides[1]
