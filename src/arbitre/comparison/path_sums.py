"""Sums over the values at each path, per document: their tally, and how many have each outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.levels import runs_in_order, sum_by_index, summed

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
    inside = _inside_mismatches(levels)
    counted, masses, cells, weights, owner = [], [], [], [], []
    for level in levels:
        gold, predicted, matched = level.node_masks() if level.item else level.leaf_masks()
        counted.append((gold | predicted) & (not (level.item and level.inner)))  # items of `inner` count already
        masses.append(level.masses_of(gold, predicted, matched))
        cells.append(_cells(level, gold, predicted, close, inside))
        weights.append(np.ones(len(level)) if level.scale is None else level.scale)
        owner.append(level.document)
    if not levels:
        return {}
    runs = [(text, np.arange(start, stop)) for text, start, stop in runs_in_order(levels)]
    every, numbers = np.concatenate(counted), dict[str, int]()
    runs = [(text, nodes[every[nodes]]) for text, nodes in runs]
    path = np.repeat(
        [numbers.setdefault(text, len(numbers)) for text, nodes in runs if len(nodes)],
        [len(nodes) for _, nodes in runs if len(nodes)],
    )
    nodes = np.concatenate([nodes for _, nodes in runs])
    row, size = path * documents + np.concatenate(owner)[nodes], len(numbers) * documents
    sums = summed([(row, np.concatenate(masses, axis=1)[:, nodes])], size)
    outcomes = _outcomes(row * _CELLS + np.concatenate(cells)[nodes], np.concatenate(weights)[nodes], size)
    by_number = np.hstack([sums, outcomes]).reshape(len(numbers), documents, -1)
    return dict(zip(numbers, by_number, strict=True))


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


def _outcomes(cells: Indices, weights: Floats, documents: int) -> Floats:
    """Return the sums of the weights of the nodes in each cell as numbers by outcome; shape (documents, 7)."""
    exact, close, wrong, missing, spurious, both, gold, predicted = (
        sum_by_index(cells, weights, documents * _CELLS).reshape(documents, _CELLS).T
    )
    return np.stack([exact, close, wrong, both + gold, both + predicted, missing, spurious], axis=1)
