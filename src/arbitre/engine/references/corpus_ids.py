"""Finds the correspondence of ids that all documents of a corpus share, such as those of an authority file.

Each document gives evidence that a gold id and a predicted id are the same: how alike their items are, and the
references to them at matched places. The evidence is summed over the corpus, for the pairs of ids that occur together
only, and the correspondence with the most evidence is an assignment.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from arbitre.engine.columns.build import build_with_references
from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.columns.references import shares
from arbitre.engine.references.graph import DocumentGraphs
from arbitre.engine.solve.reached import reached_pairs
from arbitre.engine.solve.solver import QualitySolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.references import Id
    from arbitre.engine.columns.references import ReferenceIndex
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

Place = tuple[str, "Id"]
"""A scope and an id."""


class IdEvidence:
    """Sums the evidence that gold ids and predicted ids are the same.

    Args:
        plan: The compiled schema.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sums: defaultdict[tuple[Place, Place], float] = defaultdict(float)

    def add(self, gold: Sequence[Json], predicted: Sequence[Json]) -> None:
        """Add the evidence of pairs of documents.

        Raises:
            DataError: A value is not JSON, or a gold document has a wrong id or reference.
        """
        columns, index = build_with_references(self._plan, gold, predicted)
        if index is None or not gold:
            return
        left = np.arange(len(gold), dtype=np.intp)
        right = left + len(gold)
        batch = QualitySolver().evaluate(columns[0], left, right)
        graphs = DocumentGraphs(index, columns, batch)
        unlike = index.recoded(np.arange(index.size, dtype=np.intp), paired=False)
        golds, predictions = graphs.items_of(left), graphs.items_of(right)
        for own, others, worth in zip(golds, predictions, graphs.worths(unlike, golds, predictions), strict=True):
            table = worth * np.minimum.outer(graphs.item_weight[own], graphs.item_weight[others])
            rows, at = table.nonzero()
            self._add_pairs(index, own[rows], others[at], table[rows, at])
        weights = shares(columns)
        for part, pairs in reached_pairs(batch):
            column = part.column
            if isinstance(column, LeafColumn) and column.site.reference is not None:
                targets, weight = index.targets[column.number], weights[column.number]
                rows, other_rows = part.left[pairs], part.right[pairs]
                both = np.minimum(weight[rows], weight[other_rows])
                self._add_pairs(index, targets[rows], targets[other_rows], both)

    def _add_pairs(self, index: ReferenceIndex, gold: Indices, predicted: Indices, evidence: Floats) -> None:
        for one, other, value in zip(gold.tolist(), predicted.tolist(), evidence.tolist(), strict=True):
            places = index.place_of(one), index.place_of(other)
            if places[0] is not None and places[1] is not None and places[0][0] == places[1][0]:
                self._sums[places[0], places[1]] += value

    def names(self) -> dict[Place, Id]:
        """Return the gold id of each predicted id, for the scopes that the documents of a corpus share.

        Ids that never occur together are not compared, so each group of connected ids is an assignment of its own.
        """
        pairs = {pair: value for pair, value in self._sums.items() if pair[0][0] in self._plan.corpus_scopes}
        golds, predictions = (sorted({pair[side] for pair in pairs}, key=repr) for side in (0, 1))
        rows, columns = ({place: at for at, place in enumerate(side)} for side in (golds, predictions))
        at = np.array([(rows[one], columns[other]) for one, other in pairs], dtype=np.intp).reshape(-1, 2)
        values = np.fromiter(pairs.values(), dtype=np.float64, count=len(pairs))
        size = len(golds) + len(predictions)
        links = csr_array((np.ones(len(at)), (at[:, 0], at[:, 1] + len(golds))), shape=(size, size))
        _, group = connected_components(links, directed=False)
        found: dict[Place, Id] = {}
        for number in np.unique(group[at[:, 0]]).tolist():
            own = (group[at[:, 0]] == number).nonzero()[0]
            used = [np.unique(at[own, side], return_inverse=True) for side in (0, 1)]
            table = np.zeros((len(used[0][0]), len(used[1][0])))
            table[used[0][1], used[1][1]] = values[own]
            for row, column in zip(*linear_sum_assignment(table, maximize=True), strict=True):
                if table[row, column] > 0.0:
                    found[predictions[used[1][0][column]]] = golds[used[0][0][row]][1]
        return found
