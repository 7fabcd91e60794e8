"""Comparing a part of a corpus: what one process does, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from arbitre.corpus.outcomes import Outcomes
from arbitre.corpus.records import Failure, Pair
from arbitre.engine import run
from arbitre.errors import DataError
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.outcomes import Observers
    from arbitre.schema.nodes import Plan

CHUNK: Final = 8
"""So many documents are compared at once to begin with."""

RECORDS: Final = 1 << 16
"""Later so many that this many nodes are: short documents go together by the hundred, long ones alone."""


@dataclass(slots=True)
class Worker:
    """Compares parts of a corpus, one after the other; what comes of a part depends on that part alone."""

    plan: Plan
    observers: Observers = field(default_factory=dict)
    size: int = field(default_factory=lambda: CHUNK)

    def __call__(self, part: Iterable[Pair]) -> Outcomes:
        """The outcomes of a part. Raises DataError where a document is no longer where it was."""
        return Outcomes.joined(self._outcomes(iter(part)))

    def _outcomes(self, pairs: Iterator[Pair]) -> Iterator[Outcomes]:
        while chunk := list(islice(pairs, self.size)):
            records = 1
            for members, levels, lost in compared(self.plan, chunk):
                records += sum(map(len, levels))
                outcomes = Outcomes.of(self.plan, members, levels, self.observers)
                outcomes.failures += lost
                yield outcomes
            self.size = max(1, RECORDS * len(chunk) // records)


def compared(plan: Plan, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Sequence[Level], list[Failure]]]:
    """The levels of pairs compared together, and what could not be; document by document where something cannot."""
    try:
        yield pairs, run(plan, [pair.gold for pair in pairs], [pair.predicted for pair in pairs]), []
    except DataError:
        for pair in pairs:
            yield _alone(plan, pair)


def _alone(plan: Plan, pair: Pair) -> tuple[Sequence[Pair], Sequence[Level], list[Failure]]:
    """One document: without its prediction where that is no JSON, not at all where its gold is not."""
    try:
        return [pair], run(plan, [pair.gold], [pair.predicted]), []
    except DataError as refused:
        try:
            levels = run(plan, [pair.gold], [ABSENT])
        except DataError as error:
            reason, pointer = error.message, error.pointer
            return [], (), [Failure("gold", pair.id, pair.run, *pair.origins[0], pointer=pointer, reason=reason)]
        reason, pointer = refused.message, refused.pointer
        failure = Failure("predicted", pair.id, pair.run, *pair.origins[1], pointer=pointer, reason=reason)
        return [Pair(pair.id, pair.run, pair.gold, ABSENT, failure, pair.origins)], levels, [failure]
