"""Find the nodes of moved values, splits and merges among the nodes of compared documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.diagnosis.causes.fault_rows import Pointers
from arbitre.diagnosis.causes.taxonomy import MERGED, MOVED, SPLIT, Links
from arbitre.paths import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.comparison.diagnosis import Moved
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.causes.joins import JoinedItems

    _Places = dict[tuple[int, str], int]
    """Node of each document and pointer."""


def find_links(
    levels: Sequence[Level], joins: Sequence[Sequence[JoinedItems]], moved: Sequence[Sequence[Moved]]
) -> Links:
    """Return the links of documents that were compared together.

    Args:
        levels: The compared nodes.
        joins: Splits and merges of each document.
        moved: Moved values of each document.
    """
    links = [*_of_moved(levels, moved), *_of_joins(levels, joins)]
    verdicts, gold, predicted = zip(*links, strict=True) if links else ((), (), ())
    return Links(np.array(verdicts, dtype=np.int8), np.array(gold, dtype=np.intp), np.array(predicted, dtype=np.intp))


def _of_moved(levels: Sequence[Level], moved: Sequence[Sequence[Moved]]) -> Iterator[tuple[int, int, int]]:
    values = [(document, value) for document, several in enumerate(moved) for value in several]
    sources = _places(levels, [(document, value.source) for document, value in values], gold=True)
    targets = _places(levels, [(document, value.target) for document, value in values], gold=False)
    for document, value in values:
        yield MOVED, sources[document, value.source], targets[document, value.target]


def _of_joins(levels: Sequence[Level], joins: Sequence[Sequence[JoinedItems]]) -> Iterator[tuple[int, int, int]]:
    every = [join for several in joins for join in several]
    if not every:
        return
    lists = _places(levels, [(join.document, pointer(join.gold_list)) for join in every], gold=True)
    gold_items, predicted_items = _items(levels, set(lists.values()))
    for join in every:
        parent = lists[join.document, pointer(join.gold_list)]
        gold = [gold_items[parent, position] for position in join.gold]
        predicted = [predicted_items[parent, position] for position in join.predicted]
        if join.merge:
            whole = predicted[0]
            yield from ((MERGED, part, whole) for part in gold if part != whole)
        else:
            whole = gold[0]
            yield from ((SPLIT, whole, part) for part in predicted if part != whole)


def _places(levels: Sequence[Level], wanted: Sequence[tuple[int, str]], *, gold: bool) -> _Places:
    """Return the nodes at pointers of one side of documents; under transport, the first of several."""
    places: _Places = {}
    depths = {text.count("/") for _, text in wanted}
    documents = np.array(sorted({document for document, _ in wanted}), dtype=np.intp)
    near = [level for level in levels if len(level.path) in depths and not level.inner]
    nodes = np.concatenate(
        [
            np.empty(0, dtype=np.intp),
            *(level.first + np.isin(level.document, documents).nonzero()[0] for level in near),
        ]
    )
    if not len(nodes):
        return places
    document = np.concatenate([level.document[np.isin(level.document, documents)] for level in near])
    texts = Pointers(levels, nodes, gold=gold).of(nodes)
    for node, number, text in zip(nodes.tolist(), document.tolist(), texts, strict=True):
        if text is not None:
            places.setdefault((number, text), node)
    return places


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
