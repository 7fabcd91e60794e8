"""Sums over the values at each path, per document: their tally, and how many have each outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.levels import in_order, sum_by_index, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level

_CELLS: Final = 8
"""Number of cells per document. A cell holds the values of one outcome: exact, close, wrong, missing, spurious, then
those of a wrong type: pairs, gold values only, predicted values only."""
_MISSING, _SPURIOUS, _TYPE_OF_BOTH, _TYPE_OF_GOLD, _TYPE_OF_PREDICTED = range(3, _CELLS)


def by_path(levels: Sequence[Level], documents: int, close: float) -> dict[str, Floats]:
    """Return the sums over each path with leaves or items of lists, per document.

    Items that are leaves count once, as items.

    Args:
        levels: The levels of documents that were compared together.
        documents: Number of documents.
        close: Minimum quality of the outcome "close", in [0, 1].

    Returns:
        The five sums of the tally, then the number of values with each of `OUTCOMES`; shapes (documents, 12).
    """
    masses_by_path: dict[str, list[tuple[Indices, Floats]]] = {}
    cells_by_path: dict[str, list[tuple[Indices, Floats]]] = {}
    inside = _inside_mismatches(levels)
    for level in in_order(levels):
        if level.item and level.inner:
            continue  # its items are already counted
        gold, predicted, matched = level.node_masks() if level.item else level.leaf_masks()
        counted = gold | predicted
        if counted.any():
            masses_by_path.setdefault(level.text, []).append(
                (level.document, level.masses_of(gold, predicted, matched))
            )
            cells = level.document * _CELLS + _cells(level, gold, predicted, close, inside)
            cells_by_path.setdefault(level.text, []).append((cells[counted], level.counts(counted)))
    return {
        path: np.hstack([summed(parts, documents), _outcomes(cells_by_path[path], documents)])
        for path, parts in masses_by_path.items()
    }


def _cells(level: Level, gold: Mask, predicted: Mask, close: float, inside: Mask | None) -> Indices:
    """Return the cell of each node of a level, given which nodes are a gold and a predicted value."""
    cell = (level.quality < 1.0).astype(np.intp) + (level.quality < close)
    if level.leaf or level.kind_mismatch:
        cell[level.kinds_differ] = _TYPE_OF_BOTH
    alone = gold != predicted
    if alone.any():
        mismatched = False if inside is None else inside[level.first : level.first + len(level)]
        side = np.where(gold, _MISSING, _SPURIOUS)
        side = np.where(mismatched, np.where(gold, _TYPE_OF_GOLD, _TYPE_OF_PREDICTED), side)
        cell[alone] = side[alone]
    return cell


def _inside_mismatches(levels: Sequence[Level]) -> Mask | None:
    """Return which nodes lie in a value whose counterpart is of another kind; None if there is no such node."""
    if not any(level.kind_mismatch for level in levels):
        return None
    inside = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
    for level in levels:
        differ = level.kinds_differ if level.kind_mismatch else False
        inside[level.first : level.first + len(level)] = inside[level.parent] | differ
    return inside


def _outcomes(parts: Sequence[tuple[Indices, Floats]], documents: int) -> Floats:
    """Return the sums of the weights of the nodes in each cell as numbers by outcome; shape (documents, 7)."""
    cells, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    exact, close, wrong, missing, spurious, both, gold, predicted = (
        sum_by_index(cells, weights, documents * _CELLS).reshape(documents, _CELLS).T
    )
    return np.stack([exact, close, wrong, both + gold, both + predicted, missing, spurious], axis=1)
