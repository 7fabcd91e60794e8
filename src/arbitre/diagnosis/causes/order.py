"""Kendall's tau of the matched items of lists: whether the prediction keeps the order of gold.

The matchings `ordered` and `sequence` only make pairs that keep the order. For lists that use them, the items are
therefore matched again regardless of their order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arbitre.diagnosis.causes.list_pairs import list_pairs
from arbitre.engine.columns.column import ListColumn
from arbitre.engine.columns.row_hashes import row_hashes
from arbitre.engine.solve.solver import QualitySolver
from arbitre.matching import catalogue
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.causes.list_pairs import ListPairs
    from arbitre.engine.columns.row_hashes import Digests
    from arbitre.paths import Path


def orders(levels: Sequence[Level], entries: Path, documents: int) -> list[dict[str, float | None]]:
    """Return Kendall's tau of the matched items by JSON Pointer of the gold list, for each document.

    These are the lists with the matching `ordered` or `sequence`, and the lists of entries. Pairs of quality 0 do not
    count. The tau of a list with fewer than two pairs is None.

    Args:
        levels: The levels of the documents, compared together.
        entries: Wildcard path of the list of entries.
        documents: Number of documents.
    """
    result: list[dict[str, float | None]] = [{} for _ in range(documents)]
    for level in levels:
        column = level.source
        if not isinstance(column, ListColumn) or not (column.matcher.in_order or level.text == wildcard(entries)):
            continue
        if column.items is None:  # all lists are empty
            for node in level.paired.nonzero()[0].tolist():
                result[int(level.document[node])][column.pointer(int(level.left[node]))] = None
        pairs = list_pairs(levels, level, np.ones(len(level), dtype=np.bool_))
        if pairs is None:
            continue
        hashes = row_hashes(pairs.items)
        partners = np.where(pairs.quality > 0.0, pairs.partner, -1)
        if column.matcher.in_order:
            partners = _unordered_partners(pairs)
        for number, node in enumerate(pairs.lists.tolist()):
            gold = pairs.rows_of(number, gold=True)
            gold = gold[partners[gold] >= 0]
            predicted = _sorted_among_equal(partners[gold], hashes[gold])
            predicted = _sorted_among_equal(predicted, hashes[predicted])
            result[int(level.document[node])][column.pointer(int(level.left[node]))] = kendall_tau(predicted.tolist())
    return result


def kendall_tau(positions: Sequence[int]) -> float | None:
    """Return Kendall's tau between these distinct numbers and their order in the sequence; None for fewer than two.

    Without ties, this is `scipy.stats.kendalltau`, which takes 0.4 s to import.

    >>> kendall_tau([1, 2, 4, 3])
    0.6666666666666667
    """
    size = len(positions)
    if size < 2:  # noqa: PLR2004
        return None
    before: list[int] = []
    discordant = 0
    for position in positions:
        discordant += len(before) - bisect_right(before, position)
        insort(before, position)
    return 1.0 - 4.0 * discordant / (size * (size - 1))


def _unordered_partners(pairs: ListPairs) -> Indices:
    """Return the partner of each item, or -1, if the items are matched regardless of their order.

    Equal items are matched first, so that long lists that are mostly correct do not need a table of all pairs.
    """
    column = replace(pairs.column, matcher=catalogue.build("hungarian"), match_equal_first=True)
    left, right = pairs.level.left[pairs.lists], pairs.level.right[pairs.lists]
    partners = np.full(pairs.items.size, -1, dtype=np.intp)
    for match in QualitySolver().evaluate(column, left, right).matches:
        alike = match.at[match.batch.quality[match.at] > 0.0]
        partners[match.batch.left[alike]] = match.batch.right[alike]
    return partners


def _sorted_among_equal(rows: Indices, keys: Digests) -> Indices:
    """Return the rows, those with equal keys in increasing order: equal items may be exchanged."""
    result = np.empty_like(rows)
    result[keys.argsort(kind="stable")] = rows[np.lexsort((rows, keys))]
    return result
