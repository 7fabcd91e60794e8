"""Replaces the qualities of matched texts by those of a judge, after the matching is decided.

See `arbitre.distances.judge`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

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


class _JudgedTexts(NamedTuple):
    """Matched texts of a batch that have the same judge.

    Attributes:
        batch: The batch.
        pool: The pool that decided the matching.
        judge: The judge.
        at: Positions of the pairs in the batch; shape (pairs,).
        pairs: The gold and the predicted text of each pair.
    """

    batch: Batch
    pool: Pool
    judge: Judge
    at: Indices
    pairs: list[TextPair]


def judge_matched(root: Batch, *, ask: bool) -> None:
    """Set the qualities of matched texts to the answers of their judges, and those of everything above accordingly.

    Args:
        root: A closed batch.
        ask: Whether to ask the judges about new pairs. If not, only answers that are known count.

    Raises:
        FunctionError: A judge fails.
    """
    reached = _reached(root)
    judged = _judged(reached)
    texts: defaultdict[Judge, list[TextPair]] = defaultdict(list)
    for one in judged:
        texts[one.judge] += one.pairs
    answers = {judge: judge.answers(pairs) if ask else judge.known_answers(pairs) for judge, pairs in texts.items()}
    for one in judged:
        _set_qualities(one, answers[one.judge])
    for batch, _ in reversed(reached):  # children first
        if not isinstance(batch.column, LeafColumn):
            _sum_transported(batch)
            settle(batch)


def judged_pairs(root: Batch) -> list[tuple[str, Judge, list[TextPair]]]:
    """Return the matched texts of a closed batch that are judged: their path, their judge and their pairs."""
    return [(wildcard(one.batch.column.path), one.judge, one.pairs) for one in _judged(_reached(root))]


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


def _judged(reached: Sequence[tuple[Batch, Indices]]) -> list[_JudgedTexts]:
    """Return the matched texts that are judged, by batch and judge."""
    found = []
    for batch, at in reached:
        column = batch.column
        if not isinstance(column, LeafColumn):
            continue
        for slot, leaf in enumerate(column.leaves):
            judge = leaf.distance.judge
            if judge is None:
                continue
            gold, predicted = column.codes[batch.left[at]], column.codes[batch.right[at]]
            own = (column.slots[gold] == slot) & (column.slots[predicted] == slot)
            codes = zip(gold[own].tolist(), predicted[own].tolist(), strict=True)
            pairs = [(str(column.values[one]), str(column.values[other])) for one, other in codes]
            found.append(_JudgedTexts(batch, column.pools[slot], judge, at[own], pairs))
    return found


def _set_qualities(judged: _JudgedTexts, answers: Answers) -> None:
    """Set the qualities of pairs of texts that have an answer; a floor applies to them as well."""
    known = np.array([pair in answers for pair in judged.pairs], dtype=np.bool_)
    distances = np.array([1.0 - answers[pair] for pair in judged.pairs if pair in answers], dtype=np.float64)
    if isinstance(judged.pool, FlooredPool):
        distances = judged.pool.cut(distances)
    judged.batch.quality = judged.batch.quality.copy()
    judged.batch.quality[judged.at[known]] = 1.0 - distances


def _sum_transported(batch: Batch) -> None:
    """Compute the quality mass of transported items again."""
    for transport in batch.transports:
        lists = np.searchsorted(transport.which, transport.owner)
        masses = transport.mass * transport.batch.quality[transport.at]
        transport.total = np.bincount(lists, weights=masses, minlength=len(transport.which)).astype(np.float64)
