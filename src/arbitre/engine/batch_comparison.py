"""Compare many pairs of documents at once, and limit the calls to custom distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from arbitre.distances.base import base_pool
from arbitre.distances.custom import CHEAPER, MemoPool
from arbitre.engine.columns.build import build_columns, build_with_references
from arbitre.engine.columns.column import Column, LeafColumn, ListColumn, descendants, leaf_columns
from arbitre.engine.columns.row_keys import row_codes
from arbitre.engine.judging import judge_matched, judged_pairs
from arbitre.engine.solve.batches import DEFAULT_LIMITS
from arbitre.engine.solve.solver import QualitySolver
from arbitre.engine.trace import Tracer
from arbitre.errors import FunctionError, Problem, SolverError
from arbitre.matching.assignment import margins
from arbitre.paths import wildcard
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.comparison.references import ScopeReferences
    from arbitre.distances.base import Pool
    from arbitre.distances.judges import Judge, TextPair
    from arbitre.engine.columns.column import KnownBounds
    from arbitre.engine.references.matching import Correspondence
    from arbitre.engine.references.renaming import NewIds
    from arbitre.engine.solve.batches import Batch, CellLimits
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan


CHUNK_CELLS: Final = 1 << 18
"""Maximum number of pairs of rows that `pairwise_qualities` and `pair_qualities` compute at once."""

T = TypeVar("T")

Annotations = Mapping[str, Mapping[str, Json]]
"""Documents of each annotator, by id."""


@dataclass(frozen=True, eq=False, slots=True)
class BatchResult:
    """Result of comparing a batch of documents; `levels` builds the levels of the result."""

    columns: Sequence[Column]
    """The columns of all documents; the first is the root's."""
    documents: Indices
    """Position of the document pair of each root row; shape (root rows,)."""
    batch: Batch | None
    """The pairs whose documents are present on both sides; None if there are no documents."""
    missing: Indices
    """Root rows of gold documents without a prediction."""
    spurious: Indices
    """Root rows of predictions without a gold document."""
    correspondence: Correspondence | None = None
    """Which entries with ids are partners; None if the schema has no ids."""

    def levels(self, down_to: Path | None = None) -> tuple[Level, ...]:
        """Return the levels; with `down_to`, only those around that path and directly below it."""
        if self.batch is None:
            return ()
        return Tracer(self.columns, self.documents, down_to).trace(self.batch, self.missing, self.spurious)


def compare_batch(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    exhaustive: bool = False,
    limits: CellLimits = DEFAULT_LIMITS,
    known: KnownBounds | None = None,
    ask: bool = False,
    lenient: bool = False,
) -> BatchResult:
    """Compare each gold document with the predicted document at the same position.

    The result for a pair depends on the plan and that pair only.

    Args:
        plan: The compiled schema.
        gold: The gold documents; ABSENT for a missing document.
        predicted: The predicted documents, as many as `gold`; ABSENT for a missing document.
        exhaustive: Whether to compute every candidate pair of every matching. The results are the same; for diagnosis
            and tests.
        limits: Sizes at which the solver changes its method. The results are the same.
        known: Upper bounds from a comparison of documents that share items with these (see `ListColumn.known_bounds`).
            The results are the same.
        ask: Whether judges are asked about matched texts; if not, only their answers so far count.
        lenient: Whether gold may have two items with the same id, of which the first counts, and references to an id
            that no item has, which are wrong.

    Raises:
        DataError: A value is not JSON, or a gold document has a wrong id or reference.
        SolverError: A matching cannot be computed.
        FunctionError: A custom distance, normaliser, matching or judge fails.
    """
    if plan.corpus_ids:
        from arbitre.engine.references.renaming import NewIds  # noqa: PLC0415  (only documents with ids need it)

        names = NewIds(plan, dict(plan.corpus_ids))
        predicted = [value if value is ABSENT else names.renamed(value) for value in predicted]
    gold_positions, predicted_positions = (
        [position for position, value in enumerate(side) if value is not ABSENT] for side in (gold, predicted)
    )
    documents, gold_count = np.array(gold_positions + predicted_positions, dtype=np.intp), len(gold_positions)
    if len(documents) == 0:
        return BatchResult((), documents, None, documents, documents)
    columns: Sequence[Column]
    columns, index = _at_document(
        documents,
        lambda: build_with_references(
            plan,
            [gold[position] for position in gold_positions],
            [predicted[position] for position in predicted_positions],
            many_keys=limits.keys,
            lenient=lenient,
        ),
    )
    if plan.max_calls is not None:
        limit_calls(columns, documents, gold_count, plan.max_calls)
    root = columns[0]
    present = np.arange(root.size, dtype=np.intp) if root.present is None else root.present.nonzero()[0]
    middle = int(present.searchsorted(gold_count))
    left, right = np.full((2, len(gold)), -1, dtype=np.intp)
    left[documents[present[:middle]]], right[documents[present[middle:]]] = present[:middle], present[middle:]
    both = (left >= 0) & (right >= 0)
    correspondence = None
    if index is None:
        solver = QualitySolver(exhaustive, limits, known=known)
        batch = _at_document(documents, lambda: solver.evaluate(root, left[both], right[both]))
    else:
        from arbitre.engine.references.matching import match_items  # noqa: PLC0415  (only documents with ids need it)

        # bounds of earlier comparisons had another correspondence
        solver = QualitySolver(exhaustive, limits)
        columns, batch, correspondence = _at_document(
            documents, lambda: match_items(plan, index, columns, left[both], right[both], solver)
        )
    if plan.has_judges:
        judge_matched(batch, ask=ask)
    missing, spurious = left[(left >= 0) & ~both], right[(right >= 0) & ~both]
    return BatchResult(columns, documents, batch, missing, spurious, correspondence)


def pairwise_qualities(column: Column, left: Indices, right: Indices, chunk_cells: int = CHUNK_CELLS) -> Floats:
    """Return the quality of each gold row with each predicted row of a column; shape (len(left), len(right)).

    Chunks of `chunk_cells` pairs save memory.
    """
    table = np.empty((len(left), len(right)))
    height = max(1, chunk_cells // max(1, len(right)))
    for begin in range(0, len(left), height):
        part = left[begin : begin + height]
        batch = QualitySolver().evaluate(column, np.repeat(part, len(right)), np.tile(right, len(part)))
        table[begin : begin + height] = batch.quality.reshape(len(part), len(right))
    return table


def pair_qualities(column: Column, left: Indices, right: Indices) -> Floats:
    """Return the quality of pairs of a gold row and a predicted row of a column; shape (pairs,)."""
    chunks = [slice(begin, begin + CHUNK_CELLS) for begin in range(0, len(left), CHUNK_CELLS)]
    return np.concatenate([QualitySolver().evaluate(column, left[chunk], right[chunk]).quality for chunk in chunks])


def qualities_at(
    plan: Plan,
    column: Column,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    pairs: tuple[Indices, Indices],
    tags: Indices | None = None,
) -> Floats:
    """Return the quality of pairs of new values, compared as values of a column.

    Args:
        plan: The compiled schema.
        column: A column that was built from this plan.
        gold: Gold values.
        predicted: Predicted values.
        pairs: Positions in `gold` and in `predicted` of each pair; shapes (pairs,).
        tags: Branch of each gold value, then of each predicted value (see `Column.tags`).

    Raises:
        FunctionError: A custom distance or normaliser fails.
    """
    root = build_columns(plan, gold, predicted, site=column.site, tags=tags)[0]
    return QualitySolver().evaluate(root, pairs[0], pairs[1] + len(gold)).quality


def item_costs(level: Level, at: int, shape: tuple[int, int]) -> Floats:
    """Return the distance of each gold item from each predicted item of a pair of lists, whatever their matching.

    Args:
        level: A level that `BatchResult.levels` built.
        at: Position of the pair in the level.
        shape: Number of items in the gold list and in the predicted list.

    Returns:
        Distances in [0, 1] by position in the lists; NaN for items that cannot be compared: those that count as absent,
        repeated items of lists matched with `set`, and items at different positions of `prefixItems`.
    """
    costs, column = np.full(shape, np.nan), level.source
    left, right = level.left[at : at + 1], level.right[at : at + 1]
    if isinstance(column, ListColumn) and level.paired[at]:
        below = [(link.column, link.rows(left), link.rows(right)) for link in column.links]
        below += [(items.column, items.below(left)[1], items.below(right)[1]) for items in column.slices]
        for items, gold, predicted in below:
            if (gold >= 0).all() and (predicted >= 0).all():
                cells = np.ix_(*(np.array(items.tokens_of(rows), dtype=np.intp) for rows in (gold, predicted)))
                costs[cells] = 1.0 - pairwise_qualities(items, gold, predicted)
    return costs


def item_margins(level: Level, at: int, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
    """Return how much quality the matching of a pair of lists loses if each pair of items is forbidden.

    Args:
        level: A level that `BatchResult.levels` built.
        at: Position of the pair of lists in the level.
        pairs: Positions of the matched items in the gold list and in the predicted list.

    Returns:
        The margins, see `arbitre.matching.assignment.margins`; None for items at positions of `prefixItems`, and for
        all pairs if the matching is not optimal.
    """
    column = level.source
    if not isinstance(column, ListColumn) or column.items is None or not column.matched_optimally:
        return [None] * len(pairs)
    left, right = (column.slices[0].below(rows[at : at + 1])[1] for rows in (level.left, level.right))
    places = [{int(token): place for place, token in enumerate(column.items.tokens_of(rows))} for rows in (left, right)]
    found = [(places[0].get(gold), places[1].get(predicted)) for gold, predicted in pairs]
    matched = [number for number, pair in enumerate(found) if None not in pair]
    codes, chosen = row_codes(column.items), np.array([found[number] for number in matched], dtype=np.intp)
    lost = margins(
        pairwise_qualities(column.items, left, right),
        *chosen.reshape(-1, 2).T,
        classes=(codes[left], codes[right]),
        gate=column.matcher.gate,
    )
    by_number = dict(zip(matched, lost.tolist(), strict=True))
    return [by_number.get(number) for number in range(len(pairs))]


def _at_document(documents: Indices, compute: Callable[[], T]) -> T:
    """Return the result; replace the root row in a FunctionError by the position of the document pair."""
    try:
        return compute()
    except FunctionError as error:
        error.document = None if error.document is None else int(documents[error.document])
        raise


def compare_to_levels(
    plan: Plan,
    gold: Sequence[Json],
    predicted: Sequence[Json],
    *,
    exhaustive: bool = False,
    limits: CellLimits = DEFAULT_LIMITS,
    ask: bool = False,
) -> tuple[Level, ...]:
    """Return the levels of `compare_batch`."""
    return compare_batch(plan, gold, predicted, exhaustive=exhaustive, limits=limits, ask=ask).levels()


def with_gold_ids(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]) -> list[Json]:
    """Return the predictions with the ids of gold, see `NewIds.of_gold`; the same ones if the schema has no ids.

    A prediction stays as it is if its document is missing on one side, or if the values of ids are compared.

    Raises:
        DataError: A value is not JSON.
    """
    renamed = list(predicted)
    for at, names in new_ids(plan, gold, predicted).items():
        renamed[at] = names.renamed(predicted[at])
    return renamed


def with_common_ids(plan: Plan, annotations: Annotations) -> Annotations:
    """Return documents of annotators in which the same id stands for the same item; as they are without ids.

    All annotators of a document get the ids of the one with the most items. Items that this one lacks keep ids of their
    own.

    Args:
        plan: The compiled schema.
        annotations: Documents of each annotator, by id.

    Raises:
        DataError: A value is not JSON.
    """
    if not plan.facts.has_ids:
        return annotations
    from arbitre.engine.references.renaming import compares_ids, ids_in  # noqa: PLC0415  (only documents with ids need it)

    if compares_ids(plan):
        return annotations
    renamed = {name: dict(documents) for name, documents in annotations.items()}
    for document in sorted({each for documents in annotations.values() for each in documents}):
        names = [name for name in sorted(annotations) if annotations[name].get(document, ABSENT) is not ABSENT]
        own = [annotations[name][document] for name in names]
        sizes = [sum(map(len, ids_in(plan, one).values())) for one in own]
        first = own[sizes.index(max(sizes))]
        found = new_ids(plan, [first] * len(own), own, lenient=True)
        for at, name in enumerate(names):
            if own[at] is not first and at in found:
                renamed[name][document] = found[at].renamed(own[at])
    return renamed


def new_ids(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json], *, lenient: bool = False) -> dict[int, NewIds]:
    """Return the ids of gold for each prediction whose ids are renamed, by its position; see `with_gold_ids`."""
    if not plan.facts.has_ids:
        return {}
    from arbitre.engine.references.renaming import NewIds, compares_ids  # noqa: PLC0415  (only documents with ids need it)

    if compares_ids(plan):
        return {}
    result = compare_batch(plan, gold, predicted, lenient=lenient)
    found = result.correspondence
    if found is None:
        return {}
    positions = enumerate(result.documents[found.left].tolist())
    return {at: NewIds.of_gold(plan, found, number) for number, at in positions}


def reference_problems(plan: Plan, gold: Json) -> list[Problem]:
    """Return the ids that a gold document has twice, and its references without an entry."""
    if not plan.facts.has_ids:
        return []
    _, index = build_with_references(plan, [gold], [], lenient=True)
    return [] if index is None else index.problems


def references_at(plan: Plan, result: BatchResult, document: int) -> dict[str, ScopeReferences]:
    """Return the references of a pair of documents by scope; none if a document is missing or the schema has no ids.

    Args:
        plan: The compiled schema.
        result: A comparison of documents.
        document: Position of the pair.
    """
    found = result.correspondence
    positions = [] if found is None else result.documents[found.left].tolist()
    if found is None or document not in positions:
        return {}
    from arbitre.engine.references.results import references_of  # noqa: PLC0415  (only documents with ids need it)

    return references_of(plan, found, positions.index(document), result.levels(), document)


def release(levels: Sequence[Level]) -> None:
    """Free the columns and the documents of levels that are no longer used.

    Without this, they wait for the garbage collector, because columns and their parents refer to each other. Saves 5%
    of the time of `arbitre evaluate` (nested lists of 20 entries).
    """
    column = levels[0].source if levels else None
    if isinstance(column, Column):
        while column.parent is not None:
            column = column.parent
        for below in descendants(column):
            below.parent = None


# Upper bounds on the number of calls to custom distances, computed before any call.


def count_calls(plan: Plan, gold: Json, predicted: Json) -> dict[str, int]:
    """Return the maximum number of calls to custom distances for two documents, by path; none if one is ABSENT.

    Raises:
        DataError: A value is not JSON.
    """
    if gold is ABSENT or predicted is ABSENT:
        return {}
    columns = build_columns(plan, [gold], [predicted])
    found = {path: bound for _, path, bound in call_upper_bounds(columns, np.zeros(2, dtype=np.intp), 1)}
    for path, judge, pairs in judged_texts(plan, [gold], [predicted]):
        found[path] = found.get(path, 0) + len(set(pairs) - judge.known_answers(pairs).keys())
    return found


def judged_texts(
    plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]
) -> list[tuple[str, Judge, list[TextPair]]]:
    """Return the matched texts of documents that are judged: their path, their judge and their pairs. Asks nothing."""
    batch = compare_batch(plan, gold, predicted).batch if plan.has_judges else None
    return [] if batch is None else judged_pairs(batch)


def call_upper_bounds(columns: Sequence[Column], documents: Indices, first: int) -> Iterator[tuple[MemoPool, str, int]]:
    """Compute an upper bound on the number of calls that one document can need.

    Each distinct pair of a gold and a predicted value of the document needs at most one call; a function that prepares
    all values at once needs one.

    Args:
        columns: The columns of the documents.
        documents: Document of each row of the root column; shape (rows,).
        first: Number of gold rows of the root column, which come first.

    Yields:
        Each pool of a custom distance, its wildcard path, and the upper bound on the calls of one document.
    """
    for column in leaf_columns(columns):
        rows, codes, slots = _values(column)
        for slot, pool in enumerate(inner_pools(column)):
            if isinstance(pool, MemoPool):
                in_slot = ((codes >= 0) & (slots[codes] == slot)).nonzero()[0]
                root = column.root_rows(rows[in_slot])
                most = _most_pairs(documents[root], root >= first, codes[in_slot])
                yield pool, wildcard(column.path), most if pool.function.prepare is None else min(most, 1)


def inner_pools(column: LeafColumn) -> tuple[Pool, ...]:
    """Return the pools of the single values of a column, or of their forms, without floors."""
    pools = column.pools if column.forms is None else column.forms.pool.pools
    return tuple(map(base_pool, pools))


def _values(column: LeafColumn) -> tuple[Indices, Indices, npt.NDArray[np.int16]]:
    """Return the row and the code of each value or form, and the slot of each code."""
    forms, rows = column.forms, np.arange(column.size, dtype=np.intp)
    if forms is None:
        return rows, column.codes, column.slots
    return rows.repeat(np.diff(forms.starts)), forms.codes, forms.pool.slots


def _most_pairs(documents: Indices, predicted: Mask, codes: Indices) -> int:
    """Return the maximum number of distinct pairs of a gold and a predicted value in one document."""
    if len(documents) == 0:
        return 0
    distinct = np.unique(np.stack([documents, predicted, codes]), axis=1)
    size = int(documents.max()) + 1
    gold, others = (np.bincount(distinct[0][distinct[1] == side], minlength=size) for side in (0, 1))
    return int((gold * others).max())


def limit_calls(columns: Sequence[Column], documents: Indices, first: int, limit: int) -> None:
    """Check that no document can need more than `limit` calls, and set the limit of each pool.

    More calls are accepted if a custom bound or another field of the items can show which pairs matter.

    Raises:
        SolverError: A document may need more calls.
    """
    for pool, path, bound in call_upper_bounds(columns, documents, first):
        pool.limit = limit * max(1, len(np.unique(documents)))
        if bound > limit and pool.has_no_bound and _is_only_information(columns, pool):
            raise SolverError.of(
                f"Expected at most {limit} calls to `{pool.function.name}` for a document, got up to {bound} at {path}",
                hint=CHEAPER,
            )


def _is_only_information(columns: Sequence[Column], pool: MemoPool) -> bool:
    """Return whether only calls can distinguish the items of the list that contains the values of a pool."""
    holder: Column | None = next(
        column for column in leaf_columns(columns) if any(candidate is pool for candidate in inner_pools(column))
    )
    while holder is not None and not holder.item:
        holder = holder.parent
    if holder is None:
        return True
    pools = (item_pool for column in leaf_columns(descendants(holder)) for item_pool in inner_pools(column))
    return all(isinstance(item_pool, MemoPool) and item_pool.has_no_bound for item_pool in pools)
