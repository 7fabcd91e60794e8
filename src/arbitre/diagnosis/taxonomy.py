"""Classify the nodes of compared documents: one verdict per leaf and item, and the faults with their costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.levels import NONE, of_nodes
from arbitre.comparison.node_tree import Verdict
from arbitre.paths import order
from arbitre.values import SIDES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level

    Codes = npt.NDArray[np.int8]

MOVED: Final = 6
RENAMED: Final = 7
SPLIT: Final = 8
MERGED: Final = 9
MATCHED: Final = 10
VERDICTS: Final = (*(verdict.text for verdict in Verdict), "moved", "renamed", "split", "merged", "matched")
"""Names of the verdicts by code. An object or a list in a list is "matched" if it has a partner."""
FAULTS: Final = VERDICTS[Verdict.CLOSE : MATCHED]
"""Names of the classes of faults, in the order of the codes 1 to 9."""


@dataclass(frozen=True, eq=False, slots=True)
class Links:
    """Faults that involve a gold node and another predicted node. All arrays have shape (links,).

    Attributes:
        verdict: MOVED, RENAMED, SPLIT or MERGED.
        gold: Node of the value that belongs elsewhere, of the missing field, of the gold item that was split, or of a
            gold item that was merged into the partner of another.
        predicted: Node of the value in the wrong place, of the field under another key, of one part of the split item,
            or of the merged item.
    """

    verdict: Codes
    gold: Indices
    predicted: Indices

    @classmethod
    def none(cls) -> Links:
        """Return no links."""
        empty = np.empty(0, dtype=np.intp)
        return cls(np.empty(0, dtype=np.int8), empty, empty)

    def by_node(self, nodes: int) -> Codes:
        """Return the verdict of each node, 0 without links. Splits and merges have priority."""
        verdicts = np.zeros(nodes, dtype=np.int8)
        for code in (MOVED, RENAMED, SPLIT, MERGED):
            for ends in (self.gold, self.predicted):
                verdicts[ends[self.verdict == code]] = code
        return verdicts


@dataclass(frozen=True, eq=False, slots=True)
class Taxonomy:
    """Verdicts and faults of documents that were compared together.

    A fault is a leaf, an item or a value of the wrong type with a verdict other than correct or matched, unless it lies
    inside another fault. Arrays of nodes have shape (nodes,).

    Attributes:
        levels: The compared nodes.
        links: Values that moved, renamed fields, and items that were split or merged.
        verdict: Code of each node's verdict, an index of `VERDICTS`; meaningful for the nodes that `counts` counts.
        path: Position of each node's path in `paths`.
        paths: Wildcard paths.
        fault: Whether each node is a fault.
        owner: The fault that each node is or lies inside; NONE for other nodes.
        entry: The node of the entry around each node; NONE outside the entries.
        lost: Contribution of each fault to `size` - 2 x quality mass of its document; 0 for other nodes.
        entries: Wildcard path of the list of entries.
        tallies: Tally of the entries of each document; shape (documents, 5).
    """

    levels: Sequence[Level]
    links: Links
    verdict: Codes
    path: Indices
    paths: tuple[str, ...]
    fault: Mask
    owner: Indices
    entry: Indices
    lost: Floats
    entries: str
    tallies: Floats

    @property
    def document(self) -> Indices:
        """Document of each node."""
        return np.concatenate([np.empty(0, dtype=np.intp), *(level.document for level in self.levels)])

    @property
    def repaired_path(self) -> Indices:
        """Position in `paths` of the path at which each node is repaired: that of the fault it belongs to."""
        path, links = self.path.copy(), self.links
        ends = ~np.isin(links.predicted, links.gold)
        path[links.predicted[ends]] = self.path[links.gold[ends]]
        return path

    @property
    def size(self) -> Floats:
        """Number of gold and predicted entries of each document, the denominator of f1q; shape (documents,)."""
        return self.tallies[:, 0] + self.tallies[:, 1]

    def counts(self) -> Floats:
        """Return the number of values with each verdict, by side.

        Leaves and items of lists count, as in the tallies by path. The gold values of a path add up to `gold` of its
        tally, the predicted values to `predicted`.

        Returns:
            Shape (documents, paths, 2, verdicts): first gold, then predicted.
        """
        documents = len(self.tallies)
        shape = (documents, len(self.paths), len(SIDES), len(VERDICTS))
        counts = np.zeros(documents * len(self.paths) * len(SIDES) * len(VERDICTS))
        for level in self.levels:
            if level.item and level.inner:
                continue
            here = level.nodes
            sides = (level.node_masks() if level.item else level.leaf_masks())[:2]
            cell = (level.document * len(self.paths) + self.path[here]) * len(SIDES)
            for side, mask in enumerate(sides):
                at = mask.nonzero()[0]
                cells = (cell[at] + side) * len(VERDICTS) + self.verdict[here][at]
                counts += np.bincount(cells, weights=level.counts(mask), minlength=len(counts))
        return counts.reshape(shape)


def classify(
    levels: Sequence[Level], documents: int, entries: str, close: float, links: Links | None = None
) -> Taxonomy:
    """Classify the nodes of documents that were compared together.

    Args:
        levels: The compared nodes.
        documents: Number of documents.
        entries: Wildcard path of the list of entries; "" is the root.
        close: Minimum quality of the verdict "close", in [0, 1].
        links: Values that moved, renamed fields, and items that were split or merged.
    """
    nodes, links = sum(map(len, levels)), links or Links.none()
    state = _Walk(nodes, entries, close, links.by_node(nodes))
    for level in levels:
        state.visit(level)
    return Taxonomy(
        levels,
        links,
        state.verdict[:nodes],
        state.path,
        tuple(state.numbers),
        state.fault,
        state.owner[:nodes],
        state.entry[:nodes],
        state.lost,
        entries,
        of_nodes(levels, entries, documents),
    )


class _Walk:
    """Passes the levels once, parents before children. The last element of an array is for nodes without a parent."""

    def __init__(self, nodes: int, entries: str, close: float, linked: Codes) -> None:
        self.entries, self.depth, self.close, self.linked = entries, entries.count("/"), close, linked
        self.numbers: dict[str, int] = {}
        self.verdict = np.zeros(nodes + 1, dtype=np.int8)
        self.path = np.zeros(nodes, dtype=np.intp)
        self.fault = np.zeros(nodes, dtype=np.bool_)
        self.owner = np.full(nodes + 1, NONE, dtype=np.intp)
        self.entry = np.full(nodes + 1, NONE, dtype=np.intp)
        self.lost = np.zeros(nodes)
        self._reach = np.zeros(nodes + 1)
        """Maximum contribution of each node to the loss of its document."""
        self._union = np.ones(nodes + 1)
        self._mismatched = np.zeros(nodes + 1, dtype=np.bool_)
        self._around = np.zeros(nodes + 1, dtype=np.int8)
        """MOVED or RENAMED for such objects and lists, and for everything in them; 0 for other nodes."""
        self._counting = np.zeros(nodes + 1, dtype=np.bool_)
        """The objects and lists at the path of the entries."""

    def visit(self, level: Level) -> None:
        """Classify the nodes of a level."""
        here, ids = level.nodes, np.arange(level.first, level.first + len(level))
        for text, start, stop in level.runs():
            self.path[level.first + start : level.first + stop] = self.numbers.setdefault(text, len(self.numbers))
        gold, predicted, both = level.node_masks()
        verdict = self._leaves(level, gold, predicted) if level.leaf else self._containers(level, gold, predicted)
        mismatched = self._mismatched[level.parent] | level.kind_mismatch
        verdict = np.where(mismatched, np.int8(Verdict.WRONG_TYPE), verdict)
        self._mismatched[here] = mismatched
        linked = self.linked[here]
        around = self._around[level.parent]
        verdict = np.where((around > 0) & (verdict != Verdict.CORRECT) & (verdict != MATCHED), around, verdict)
        whole = not level.leaf and not level.item
        own = ((linked == MOVED) | (linked == RENAMED)) & (not level.leaf)
        self._around[here] = np.where((around == 0) & own, linked, around)
        verdict = np.where((linked > 0) & ((verdict != Verdict.CORRECT) | whole), linked, verdict)
        self.verdict[here] = verdict
        if level.leaf or level.item or level.kind_mismatch:
            faulty = (verdict != Verdict.CORRECT) & (verdict != MATCHED)
        else:
            faulty = (linked > 0) | (~both & (level.gold + level.predicted == 0.0))
        above = self.owner[level.parent]
        self.fault[here] = faulty & (above == NONE)
        self.owner[here] = np.where(self.fault[here], ids, above)
        self._losses(level, ids, both)

    def _leaves(self, level: Level, gold: Mask, predicted: Mask) -> Codes:
        verdict = (level.quality < 1.0).astype(np.int8) + (level.quality < self.close)
        verdict[level.kinds_differ] = Verdict.WRONG_TYPE
        verdict[~predicted], verdict[~gold] = Verdict.MISSING, Verdict.SPURIOUS
        return verdict

    def _containers(self, level: Level, gold: Mask, predicted: Mask) -> Codes:
        """Return the verdicts of objects and lists: missing, spurious, or else matched (items) and correct (others)."""
        verdict = np.full(len(level), MATCHED if level.item else Verdict.CORRECT, dtype=np.int8)
        if not level.item and not level.kind_mismatch:  # an empty object or list counts as a leaf
            gold, predicted, _ = level.leaf_masks()
        verdict[gold & ~predicted], verdict[predicted & ~gold] = Verdict.MISSING, Verdict.SPURIOUS
        return verdict

    def _losses(self, level: Level, ids: Indices, both: Mask) -> None:
        """Divide the loss of each node among its children, as the quality is divided."""
        here = level.nodes
        scale = 1.0 if level.scale is None else level.scale
        counting = not level.named and level.text == self.entries
        if counting and level.leaf:
            top, reach = np.ones(len(level), dtype=np.bool_), (1.0 + both) * scale
            self.entry[here] = ids
        elif len(level.path) > self.depth and not level.inner:
            top, weight = self._counting[level.parent], level.weight * (1.0 if level.share is None else level.share)
            inner = self._reach[level.parent] * weight / self._union[level.parent]
            reach = np.where(top, (1.0 + both) * level.weight * scale, inner)
            entries = ids if level.item else level.parent
            self.entry[here] = np.where(top, entries, self.entry[level.parent])
        else:
            self._counting[here] = counting
            self.entry[here] = self.entry[level.parent]
            return
        if not level.leaf:
            union = level.gold + level.predicted - level.matched
            self._union[here] = np.where(union > 0.0, union, 1.0)
        self._reach[here] = reach
        lost = reach * (1.0 - level.quality)
        owned = self.fault[here]
        self.lost[here] = np.where(owned, lost, 0.0)
        covered = (top & ~owned & (self.owner[here] != NONE)).nonzero()[0]
        if len(covered):  # a fault at the entries or above covers them
            np.add.at(self.lost, self.owner[here][covered], lost[covered])


def verdict_counts(paths: Sequence[str], counts: Floats) -> dict[str, Mapping[str, Mapping[str, float]]]:
    """Return the numbers of values by path, side and verdict, without zeros.

    Args:
        paths: Wildcard paths.
        counts: Numbers; shape (paths, 2, verdicts).
    """
    by_path = dict(zip(paths, counts.tolist(), strict=True))
    return {
        path: {
            side: {name: number for name, number in zip(VERDICTS, numbers, strict=True) if number}
            for side, numbers in zip(SIDES, by_path[path], strict=True)
        }
        for path in sorted(by_path, key=order)
        if any(map(any, by_path[path]))
    }
