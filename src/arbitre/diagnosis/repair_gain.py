"""Computes the scores that predictions would reach if faults were repaired, with the existing matching.

A repaired node equals gold: a pair has quality 1, a missing value is added, a spurious value is dropped. The qualities
of the nodes above follow. A missing object or list around an added value is added with it; a spurious one is dropped
with its last value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.comparison.levels import NONE, sum_by_index
from arbitre.comparison.node_tree import MASS_TOLERANCE
from arbitre.diagnosis.taxonomy import FAULTS

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.taxonomy import Taxonomy


PREDICTED: Final = 0
QUALITY: Final = 1
"""Positions in the last axis of the changes of tallies."""


class RepairChanges(NamedTuple):
    """Changes of the entry tallies if faults are repaired: of `predicted` and of the quality mass.

    Attributes:
        classes: If all faults of a class are repaired; shape (documents, fault classes, 2).
        paths: If all faults at a path are repaired; shape (documents, paths, 2).
    """

    classes: Floats
    paths: Floats


def f1q_gain(tallies: Floats, changes: Floats) -> Floats:
    """Return the increase in f1q; the f1q is 1 if nothing is left to compare.

    Args:
        tallies: Tallies of the entries; shape (..., 5).
        changes: Changes of these tallies; shape (..., repairs, 2).

    Returns:
        Shape (..., repairs); 0 without entries.
    """
    size = (tallies[..., 0] + tallies[..., 1])[..., None]
    quality = tallies[..., 3][..., None]
    repaired = size + changes[..., PREDICTED]
    empty = repaired <= MASS_TOLERANCE
    after = np.where(empty, 1.0, 2.0 * (quality + changes[..., QUALITY]) / np.where(empty, 1.0, repaired))
    gain: Floats = np.where(size > 0.0, after - 2.0 * quality / np.where(size > 0.0, size, 1.0), 0.0)
    return gain


def repair_changes(taxonomy: Taxonomy) -> RepairChanges:
    """Return the changes of the tallies for the repair of each class of faults and of each path."""
    labels = taxonomy.verdict.astype(np.intp) - 1, len(FAULTS) + taxonomy.repaired_path
    totals = _Repairs(taxonomy, labels, len(FAULTS) + len(taxonomy.paths)).totals()
    return RepairChanges(totals[:, : len(FAULTS)], totals[:, len(FAULTS) :])


def group_changes(taxonomy: Taxonomy, groups: Indices, number: int) -> Floats:
    """Return the changes of the tallies for the repair of each group of faults; shape (documents, groups, 2).

    Args:
        taxonomy: The faults.
        groups: Group of each node, from 0; meaningful for faults only. Shape (nodes,).
        number: Number of groups.
    """
    return _Repairs(taxonomy, (groups,), number).totals()


class _Changes(NamedTuple):
    """Changes of the tallies of nodes. All arrays have shape (changes,)."""

    node: Indices
    repair: Indices
    predicted: Floats
    matched: Floats
    quality: Floats

    @classmethod
    def joined(cls, parts: list[_Changes]) -> _Changes:
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.node for part in parts]),
            np.concatenate([part.repair for part in parts]),
            np.concatenate([part.predicted for part in parts]),
            np.concatenate([part.matched for part in parts]),
            np.concatenate([part.quality for part in parts]),
        )

    def taken(self, at: Indices) -> _Changes:
        return _Changes(self.node[at], self.repair[at], self.predicted[at], self.matched[at], self.quality[at])

    def summed(self, first: int, repairs: int) -> _Changes:
        """Return the sums for each node and repair; nodes count from `first`."""
        keys, inverse = np.unique((self.node - first) * repairs + self.repair, return_inverse=True)
        predicted, matched, quality = (
            sum_by_index(inverse, column, len(keys)) for column in (self.predicted, self.matched, self.quality)
        )
        return _Changes(keys // repairs, keys % repairs, predicted, matched, quality)


@dataclass(slots=True)
class _Repairs:
    """Passes the levels once, children before parents.

    Attributes:
        taxonomy: The faults.
        labels: Numbers of the repairs of each node; each array has shape (nodes,).
        repairs: Number of repairs.
    """

    taxonomy: Taxonomy
    labels: tuple[Indices, ...]
    repairs: int
    _waiting: dict[int, list[_Changes]] = field(default_factory=dict)
    """Changes of nodes, by the position of their level."""

    def totals(self) -> Floats:
        """Return the changes of the tallies; shape (documents, repairs, 2)."""
        taxonomy, repairs = self.taxonomy, self.repairs
        totals = np.zeros((len(taxonomy.tallies), repairs, 2))
        levels = taxonomy.levels
        entries = self._entries_levels()
        depth = max((len(levels[at].path) for at in entries), default=0)
        firsts = np.array([level.first for level in levels], dtype=np.intp)
        for number in reversed(range(len(levels))):
            level = levels[number]
            if number in entries:
                self._count(level, self._waiting.pop(number, []), totals)
            elif len(level.path) > depth:
                changes = [*self._faults(level), *self._above(level, self._waiting.pop(number, []), repairs)]
                for change in changes:
                    self._wait(firsts, change)
        return totals

    def _entries_levels(self) -> set[int]:
        path = self.taxonomy.entries
        return {number for number, level in enumerate(self.taxonomy.levels) if not level.named and level.text == path}

    def _wait(self, firsts: Indices, changes: _Changes) -> None:
        below = changes.node != NONE
        if not below.all():
            changes = changes.taken(below.nonzero()[0])
        if not len(changes.node):
            return
        numbers = firsts.searchsorted(changes.node, side="right") - 1
        if numbers.min() == numbers.max():
            self._waiting.setdefault(int(numbers[0]), []).append(changes)
            return
        for number in np.unique(numbers).tolist():
            self._waiting.setdefault(number, []).append(changes.taken((numbers == number).nonzero()[0]))

    def _with_repairs(self, nodes: Indices) -> tuple[Indices, Indices]:
        """Return the faults once for each of their repairs, with the numbers of the repairs."""
        return np.tile(nodes, len(self.labels)), np.concatenate([label[nodes] for label in self.labels])

    def _faults(self, level: Level) -> list[_Changes]:
        """Return the changes of the parents of the repaired faults of a level."""
        here = level.nodes
        at = (self.taxonomy.fault[here] & (self.taxonomy.entry[here] != NONE)).nonzero()[0]
        if not len(at):
            return []
        nodes, repairs = self._with_repairs(level.first + at)
        at = nodes - level.first
        gold, predicted, both = (mask[at] for mask in level.node_masks())
        weight = _weights(level, at)
        added, dropped = gold & ~both, predicted & ~both
        change = weight * np.where(both, 1.0 - level.quality[at], added)
        return [_Changes(level.parent[at], repairs, weight * (added * 1.0 - dropped), weight * added, change)]

    def _above(self, level: Level, waiting: list[_Changes], repairs: int) -> list[_Changes]:
        """Return the changes of the parents of the nodes whose children change."""
        if not waiting:
            return []
        changes = _Changes.joined(waiting).summed(level.first, repairs)
        at = changes.node
        weight = _weights(level, at)
        gold, predicted, both = (mask[at] for mask in level.node_masks())
        held = level.predicted[at] + changes.predicted
        union = level.gold[at] + held - level.matched[at] - changes.matched
        full = union > MASS_TOLERANCE
        quality = np.where(full, (level.mass[at] + changes.quality) / np.where(full, union, 1.0), 1.0)
        added = gold & ~both
        emptied = predicted & ~both & (held <= MASS_TOLERANCE)
        change = weight * np.where(both, quality - level.quality[at], np.where(added, quality, 0.0))
        return [_Changes(level.parent[at], changes.repair, weight * (added * 1.0 - emptied), weight * added, change)]

    def _count(self, level: Level, waiting: list[_Changes], totals: Floats) -> None:
        """Add the changes of the entries at a level to the totals."""
        taxonomy = self.taxonomy
        scale = np.ones(len(level)) if level.scale is None else level.scale
        if waiting:
            changes = _Changes.joined(waiting)
            at = changes.node - level.first
            cells = (level.document[at], changes.repair)
            np.add.at(totals[..., PREDICTED], cells, changes.predicted * scale[at])
            np.add.at(totals[..., QUALITY], cells, changes.quality * scale[at])
        owner = taxonomy.owner[level.nodes]
        at = (owner != NONE).nonzero()[0]
        if len(at):
            _, repairs = self._with_repairs(owner[at])
            gold, predicted, mass = _tallies(level)
            at = np.tile(at, len(self.labels))
            cells = (level.document[at], repairs)
            np.add.at(totals[..., PREDICTED], cells, ((gold - predicted) * scale)[at])
            np.add.at(totals[..., QUALITY], cells, ((gold - mass) * scale)[at])


def _tallies(level: Level) -> tuple[Floats, Floats, Floats]:
    """Return `gold`, `predicted` and the quality mass of the nodes of a level; a leaf counts as itself."""
    if not level.leaf:
        return level.gold, level.predicted, level.mass
    gold, predicted, matched = (mask.astype(np.float64) for mask in level.leaf_masks())
    return gold, predicted, matched * level.quality


def _weights(level: Level, at: Indices) -> Floats:
    """Return the weights of nodes in their parents."""
    share = 1.0 if level.share is None else level.share[at]
    weights: Floats = np.full(len(at), level.weight) * share
    return weights
