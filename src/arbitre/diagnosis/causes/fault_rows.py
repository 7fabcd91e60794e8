"""List the faults of compared documents as rows, with pointers, values and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.diagnosis.causes.taxonomy import SPLIT, VERDICTS
from arbitre.paths import escape
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.causes.taxonomy import Codes, Taxonomy

    _Key = tuple[int, int, str]
    """Sort key of a key or a position."""


@dataclass(frozen=True, eq=False, slots=True)
class FaultNodes:
    """The faults of documents that were compared together, one row each. All arrays have shape (faults,).

    Attributes:
        verdict: Code of the class of each fault.
        gold: Gold node, or NONE.
        predicted: Predicted node, or NONE.
        node: The node from which the path and the entry follow.
        lost: Contribution to the denominator of f1q minus twice the quality mass; divided by the denominator, the cost.
    """

    verdict: Codes
    gold: Indices
    predicted: Indices
    node: Indices
    lost: Floats

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> FaultNodes:
        """Return the faults, in no particular order. The loss of a node in several links is divided among them."""
        links, nodes = taxonomy.links, len(taxonomy.fault)
        linked = np.zeros(nodes, dtype=np.intp)
        shown = np.zeros(len(links.verdict), dtype=np.bool_)
        for end in (links.gold, links.predicted):
            linked += np.bincount(end, minlength=nodes)
            shown |= taxonomy.fault[end]
        share = taxonomy.lost / np.maximum(linked, 1)
        alone = (taxonomy.fault & (linked == 0)).nonzero()[0]
        gold, predicted = (np.full(nodes, NONE, dtype=np.intp) for _ in range(2))
        for level in taxonomy.levels:
            ids = np.arange(level.first, level.first + len(level))
            for side, rows in ((gold, level.left), (predicted, level.right)):
                side[ids] = np.where(rows >= 0, ids, NONE)
        ends = links.gold[shown], links.predicted[shown]
        anchor = np.where(links.verdict[shown] == SPLIT, ends[1], ends[0])
        return cls(
            np.concatenate([taxonomy.verdict[alone], links.verdict[shown]]),
            np.concatenate([gold[alone], ends[0]]),
            np.concatenate([predicted[alone], ends[1]]),
            np.concatenate([alone, anchor]),
            np.concatenate([share[alone], share[ends[0]] + share[ends[1]]]),
        )


class FaultRows:
    """Faults as columns, by document: in gold order, then those that gold does not have.

    Attributes:
        documents: Document of each fault.
        entries: JSON Pointer of the entry; in the prediction if gold has no such entry. None outside the entries.
        gold_pointers: JSON Pointers in gold, or None.
        predicted_pointers: JSON Pointers in the prediction, or None.
        paths: Wildcard paths.
        faults: Classes.
        gold: Values in gold, or ABSENT.
        predicted: Predicted values, or ABSENT.
        lost: Losses (see `FaultNodes`).
        costs: Costs in f1q of the document; 0 for faults outside the entries.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        faults = FaultNodes.of(taxonomy)
        entry = taxonomy.entry[faults.node]
        names = [
            Pointers(taxonomy.levels, np.concatenate([nodes, entry]), gold=gold)
            for nodes, gold in ((faults.gold, True), (faults.predicted, False))
        ]
        pointers = [side.of(nodes) for side, nodes in zip(names, (faults.gold, faults.predicted), strict=True)]
        around = [side.of(entry) for side in names]
        documents = taxonomy.document[faults.node]
        keys = list(
            zip(
                documents.tolist(),
                (pointer is None for pointer in pointers[0]),
                *(side.keys(nodes) for side, nodes in zip(names, (faults.gold, faults.predicted), strict=True)),
                faults.verdict.tolist(),
                strict=True,
            )
        )
        ranked = sorted(range(len(keys)), key=keys.__getitem__)
        at = np.array(ranked, dtype=np.intp)
        size = taxonomy.size[documents]
        self.documents: list[int] = documents[at].tolist()
        self.entries = [around[1][row] if around[0][row] is None else around[0][row] for row in ranked]
        self.gold_pointers, self.predicted_pointers = ([side[row] for row in ranked] for side in pointers)
        self.paths = [taxonomy.paths[path] for path in taxonomy.path[faults.node[at]].tolist()]
        self.faults = [VERDICTS[code] for code in faults.verdict[at].tolist()]
        self.gold = _values(taxonomy.levels, faults.gold[at], gold=True)
        self.predicted = _values(taxonomy.levels, faults.predicted[at], gold=False)
        self.lost: list[float] = faults.lost[at].tolist()
        self.costs: list[float] = (faults.lost / np.where(size > 0.0, size, 1.0))[at].tolist()

    def __len__(self) -> int:
        return len(self.documents)


class Pointers:
    """JSON Pointers of some nodes on one side."""

    def __init__(self, levels: Sequence[Level], nodes: Indices, *, gold: bool) -> None:
        """Compute the pointers of the nodes, and of those above them."""
        wanted = np.zeros(sum(map(len, levels)) + 1, dtype=np.bool_)  # the last element is for nodes without a parent
        wanted[nodes] = True
        for level in reversed(levels):
            here = wanted[level.first : level.first + len(level)]
            wanted[level.parent[here]] = True
        self._texts: dict[int, str] = {}
        self._keys: dict[int, tuple[_Key, ...]] = {}
        for level in levels:
            rows = level.left if gold else level.right
            at = (wanted[level.first : level.first + len(level)] & (rows >= 0)).nonzero()[0]
            tokens = level.source.tokens_of(rows[at])
            for node, token, parent in zip((level.first + at).tolist(), tokens, level.parent[at].tolist(), strict=True):
                text, key = self._texts.get(parent, ""), self._keys.get(parent, ())
                if parent != NONE and not level.inner:
                    text += f"/{token if type(token) is int else escape(token)}"
                    key = (*key, (1, token, "") if type(token) is int else (2, 0, str(token)))
                self._texts[node], self._keys[node] = text, key

    def of(self, nodes: Indices) -> list[str | None]:
        """Return the pointers of some of the nodes; None where the side has none."""
        return [self._texts.get(node) for node in nodes.tolist()]

    def keys(self, nodes: Indices) -> list[tuple[_Key, ...]]:
        """Return the sort keys of nodes in document order: positions by number, then names."""
        return [self._keys.get(node, ()) for node in nodes.tolist()]


def _values(levels: Sequence[Level], nodes: Indices, *, gold: bool) -> list[Json]:
    """Return the values of nodes on one side; ABSENT for NONE."""
    values: list[Json] = [ABSENT] * len(nodes)
    firsts = np.array([level.first for level in levels], dtype=np.intp)
    numbers = np.where(nodes == NONE, NONE, firsts.searchsorted(nodes, side="right") - 1)
    for number in np.unique(numbers[numbers != NONE]).tolist():
        level, at = levels[number], (numbers == number).nonzero()[0]
        rows = (level.left if gold else level.right)[nodes[at] - level.first]
        for place, value in zip(at.tolist(), level.source.values_of(rows), strict=True):
            values[place] = value
    return values
