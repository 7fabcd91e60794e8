"""Replaces the qualities of matched texts by those of a judge, after the matching is decided.

See `arbitre.distances.judge`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from arbitre.distances.base import FlooredPool
from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.solve.solver import settle
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.arrays import Indices
    from arbitre.distances.base import Pool
    from arbitre.distances.judges import Judge, TextPair
    from arbitre.engine.solve.batches import Batch

    Answers = Mapping[TextPair, float]


def judge_matched(root: Batch, *, ask: bool) -> None:
    """Set the qualities of matched texts to the answers of their judges, and those of everything above accordingly.

    Args:
        root: A closed batch.
        ask: Whether to ask the judges about new pairs. If not, only answers that are known count.

    Raises:
        FunctionError: A judge fails.
    """
    reached = _reached(root)
    texts: defaultdict[Judge, list[TextPair]] = defaultdict(list)
    for _, judge, pairs in _judged_pairs(reached):
        texts[judge] += pairs
    answers: dict[Judge, Answers] = {
        judge: judge.answers(pairs) if ask else judge.known_answers(pairs) for judge, pairs in texts.items()
    }
    for batch, at in reversed(reached):  # children first
        if isinstance(batch.column, LeafColumn):
            for slot, judge, chosen, pairs in _judged(batch, batch.column, at):
                _set_qualities(batch, batch.column.pools[slot], chosen, pairs, answers[judge])
        else:
            _sum_transported(batch)
            settle(batch)


def judged_pairs(root: Batch) -> list[tuple[str, Judge, list[TextPair]]]:
    """Return the matched texts of a closed batch that are judged: their path, their judge and their pairs."""
    return _judged_pairs(_reached(root))


def _judged_pairs(reached: Sequence[tuple[Batch, Indices]]) -> list[tuple[str, Judge, list[TextPair]]]:
    return [
        (wildcard(batch.column.path), judge, pairs)
        for batch, at in reached
        if isinstance(batch.column, LeafColumn)
        for _, judge, _, pairs in _judged(batch, batch.column, at)
    ]


def _reached(root: Batch) -> list[tuple[Batch, Indices]]:
    """Return the batches below a closed batch, parents first, with the pairs that are part of the matching."""
    positions: dict[int, list[Indices]] = {id(root): [np.arange(len(root), dtype=np.intp)]}
    pending = [root]
    for batch in pending:  # grows during iteration; a batch is visited again when more of its pairs are reached
        at = np.unique(np.concatenate(positions[id(batch)]))
        for below, chosen in _below(batch, at):
            if len(chosen):
                positions.setdefault(id(below), []).append(chosen)
                pending.append(below)
    batches = sorted({id(batch): batch for batch in pending}.values(), key=lambda batch: batch.column.number)
    return [(batch, np.unique(np.concatenate(positions[id(batch)]))) for batch in batches]


def _below(batch: Batch, at: Indices) -> Iterator[tuple[Batch, Indices]]:
    """Yield the batches right below some pairs of a batch, with the pairs that belong to them."""
    selected = np.zeros(len(batch), dtype=np.bool_)
    selected[at] = True
    for fields in batch.fields:
        chosen = selected if fields.owner is None else selected[fields.owner]
        yield fields.batch, chosen.nonzero()[0]
    for match in batch.matches:
        yield match.batch, match.at[selected[match.owner]]
    for transport in batch.transports:
        yield transport.batch, transport.at[selected[transport.owner]]


def _judged(batch: Batch, column: LeafColumn, at: Indices) -> Iterator[tuple[int, Judge, Indices, list[TextPair]]]:
    """Yield each judge of a column with its slot, the positions of the pairs that it judges, and their texts."""
    for slot, leaf in enumerate(column.leaves):
        judge = leaf.distance.judge
        if judge is None:
            continue
        gold, predicted = column.codes[batch.left[at]], column.codes[batch.right[at]]
        own = (column.slots[gold] == slot) & (column.slots[predicted] == slot)
        codes = zip(gold[own].tolist(), predicted[own].tolist(), strict=True)
        yield slot, judge, at[own], [(str(column.values[one]), str(column.values[other])) for one, other in codes]


def _set_qualities(batch: Batch, pool: Pool, at: Indices, pairs: Sequence[TextPair], answers: Answers) -> None:
    """Set the qualities of pairs of texts that have an answer; a floor applies to them as well."""
    known = np.array([pair in answers for pair in pairs], dtype=np.bool_)
    distances = np.array([1.0 - answers[pair] for pair in pairs if pair in answers], dtype=np.float64)
    if isinstance(pool, FlooredPool):
        distances = pool.cut(distances)
    batch.quality = batch.quality.copy()
    batch.quality[at[known]] = 1.0 - distances


def _sum_transported(batch: Batch) -> None:
    """Compute the quality mass of transported items again."""
    for transport in batch.transports:
        lists = np.searchsorted(transport.which, transport.owner)
        masses = transport.mass * transport.batch.quality[transport.at]
        transport.total = np.bincount(lists, weights=masses, minlength=len(transport.which)).astype(np.float64)
