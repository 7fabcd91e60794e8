"""Replaces the qualities of matched texts by those of a judge, after the matching is decided.

See `arbitre.distances.judge`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arbitre.distances.base import FlooredPool
from arbitre.distances.judges import ask_judges
from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.solve.reached import reached_pairs, settle_reached
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    reached = reached_pairs(root)
    judged = _judged(reached)
    texts: defaultdict[Judge, list[TextPair]] = defaultdict(list)
    for one in judged:
        texts[one.judge] += one.pairs
    answers = ask_judges(texts) if ask else {judge: judge.known_answers(pairs) for judge, pairs in texts.items()}
    for one in judged:
        _set_qualities(one, answers[one.judge])
    settle_reached(reached)


def judged_pairs(root: Batch) -> list[tuple[str, Judge, list[TextPair]]]:
    """Return the matched texts of a closed batch that are judged: their path, their judge and their pairs."""
    return [(wildcard(one.batch.column.path), one.judge, one.pairs) for one in _judged(reached_pairs(root))]


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
