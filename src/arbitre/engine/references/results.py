"""The references of a document as results: the pairs of ids, what is wrong, and which items could be exchanged."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from arbitre.comparison.references import ScopeReferences, UnpairedIds, counts_of
from arbitre.engine.columns.build import build_with_references
from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.references.graph import DocumentGraphs
from arbitre.engine.references.refinement import exchangeable
from arbitre.engine.solve.solver import QualitySolver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.comparison.references import Id
    from arbitre.engine.references.matching import Correspondence
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Groups: TypeAlias = tuple[tuple[Id, ...], ...]


class CoreferenceObserver:
    """Corpus observer that records the coreference counts of each document, by scope."""

    def __call__(self, pairs: Sequence[object], levels: Sequence[Level]) -> list[dict[str, list[list[float]]]]:
        """Return the counts of each document, as `CoreferenceCounts.from_list` takes them."""
        return [
            {scope: counts_of(several).to_list() for scope, several in sorted(_mentions(levels, document).items())}
            for document in range(len(pairs))
        ]


def references_of(
    plan: Plan, found: Correspondence, number: int, levels: Sequence[Level], document: int
) -> dict[str, ScopeReferences]:
    """Return the references of a pair of documents by scope.

    Args:
        plan: The compiled schema.
        found: The correspondence of several pairs of documents.
        number: Position of the pair.
        levels: Levels of the same documents.
        document: Index of the pair in the levels.
    """
    index = found.index
    gold, predicted = (index.items_of(int(rows[number])) for rows in (found.left, found.right))
    by_code = {int(found.codes[item]): item for item in predicted}
    repeated = {item for item in index.repeated if int(index.roots[item]) == int(found.right[number])}
    mentions = _mentions(levels, document)
    ambiguous = cache(partial(_ambiguous, plan, index.columns[0].raw[int(found.left[number])]))
    scopes = {}
    for scope in sorted({index.scopes[item] for item in [*gold, *predicted]} | set(mentions)):
        own = [item for item in gold if index.scopes[item] == scope]
        others = [item for item in predicted if index.scopes[item] == scope]
        pairs = [(item, by_code[int(found.codes[item])]) for item in own if int(found.codes[item]) in by_code]
        paired = {item for pair in pairs for item in pair}
        missing, spurious = (tuple(index.keys[item] for item in side if item not in paired) for side in (own, others))
        scopes[scope] = ScopeReferences(
            pairs=tuple((index.keys[item], index.keys[other]) for item, other in pairs),
            unpaired=UnpairedIds(missing, spurious),
            dangling=tuple(
                key for root, name, key in index.dangling if (root, name) == (int(found.right[number]), scope)
            ),
            repeated=tuple(dict.fromkeys(index.key_at(item) for item in others if item in repeated)),
            objective=float(found.objective[number]),
            bound=float(found.bound[number]),
            proven=bool(found.proven[number]),
            mentions=mentions.get(scope, ()),
            find_ambiguous=partial(_of_scope, ambiguous, scope),
        )
    return scopes


def _of_scope(find: Callable[[], Mapping[str, Groups]], scope: str) -> Groups:
    return find().get(scope, ())


def _mentions(levels: Sequence[Level], document: int) -> dict[str, list[tuple[int | None, int | None]]]:
    """Return the entities of the references of a document by scope, as the numbers of the items."""
    mentions: defaultdict[str, list[tuple[int | None, int | None]]] = defaultdict(list)
    for level in levels:
        column = level.source
        if not isinstance(column, LeafColumn) or column.references is None or level.inner:
            continue
        scope, targets = column.references.scope_of(column), column.references.targets_of(column)
        at = (level.document == document).nonzero()[0]
        for gold, predicted in zip(level.left[at].tolist(), level.right[at].tolist(), strict=True):
            entities = tuple(None if row < 0 or targets[row] < 0 else int(targets[row]) for row in (gold, predicted))
            if entities != (None, None):
                mentions[scope].append((entities[0], entities[1]))
    return dict(mentions)


def _ambiguous(plan: Plan, gold: Json) -> dict[str, Groups]:
    """Return the groups of ids of a gold document that could be exchanged, by scope."""
    columns, index = build_with_references(plan, [gold], [gold])
    if index is None:
        return {}
    rows = np.array([0, 1], dtype=np.intp)
    batch = QualitySolver().evaluate(columns[0], rows[:1], rows[1:])
    (graph,) = DocumentGraphs(index, columns, batch).graphs(rows[:1], rows[1:])
    groups: defaultdict[str, list[tuple[Id, ...]]] = defaultdict(list)
    for group in exchangeable(graph):
        items = graph.gold[list(group)].tolist()
        keys = [key for item in items if (key := index.keys[item]) is not None]
        if len(keys) > 1:
            groups[index.scopes[items[0]]].append(tuple(keys))
    return {scope: tuple(several) for scope, several in groups.items()}
