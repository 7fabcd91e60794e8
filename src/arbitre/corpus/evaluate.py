"""A corpus evaluated: every document compared, every tally kept, every score a function of their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.chance import Chance, Drawn, chance, drawn_from
from arbitre.corpus.database import Database
from arbitre.corpus.engines import here
from arbitre.corpus.join import Join, Pair
from arbitre.corpus.parts import Part
from arbitre.corpus.records import Failure, key
from arbitre.corpus.texts import encoded
from arbitre.corpus.totals import Totals
from arbitre.corpus.work import Worker
from arbitre.errors import DataError
from arbitre.values import ABSENT, check_depth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.corpus.engines import Engine
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.outcomes import Observers, Outcomes
    from arbitre.corpus.shards import Shards
    from arbitre.schema.nodes import Plan
    from arbitre.values import Json

PART: Final = 256
"""So many documents are a part: given out, written down and resumed as one."""


@dataclass(frozen=True, slots=True)
class Running:
    """How a corpus is evaluated; the results are the same however it is.

    `observers` note what else is wanted of documents, `taken` is called with the outcomes of every part, in order;
    `engine` says who compares; `shards` keep the outcomes on disk, and may hold some already.
    """

    observers: Observers = field(default_factory=dict)
    taken: Callable[[Outcomes], None] = lambda _: None
    engine: Engine = here
    shards: Shards | None = None


def evaluate(
    plan: Plan,
    pairs: Iterable[Pair | tuple[Any, Json, Json]],
    how: Running | None = None,
) -> Evaluation:
    """Evaluate a corpus: pairs as `join` makes them, or (id, gold, predicted) triples.

    A prediction that is ABSENT is a failure. So is one that is not JSON (NaN, for instance); a gold document that is
    not is listed among the failures and not scored. Several triples with one id are kept apart as runs.
    """
    how, totals = how or Running(), Totals()
    failures = list(pairs.failures) if isinstance(pairs, Join) else []
    drawn = Drawn()
    parts = pairs.parts(PART) if isinstance(pairs, Join) else _parts(pairs, failures, drawn)
    for outcomes in _outcomes(Worker(plan, how.observers), parts, how):
        totals.add(outcomes)
        how.taken(outcomes)

    def told() -> Chance:
        some = drawn_from(pairs.pairs) if isinstance(pairs, Join) else drawn()
        return chance(plan, some, len(totals))

    return totals.evaluation(plan, failures, pairs.without_gold if isinstance(pairs, Join) else (), told)


def _outcomes(worker: Worker, parts: Iterable[Part], how: Running) -> Iterator[Outcomes]:
    """The outcomes of all parts in order: read where they are known, else compared and written down."""
    if how.shards is None:
        return how.engine(worker, parts)
    return how.shards.completed(parts, lambda rest: how.engine(worker, rest))


def _parts(pairs: Iterable[Pair | tuple[Any, Json, Json]], failures: list[Failure], drawn: Drawn) -> Iterator[Part]:
    stream, start = _paired(pairs, failures), 0
    while some := tuple(islice(stream, PART)):
        for pair in some:
            drawn.add(pair)
        yield Part(start, some)
        start += len(some)


def _paired(pairs: Iterable[Pair | tuple[Any, Json, Json]], failures: list[Failure]) -> Iterator[Pair]:
    """Triples as pairs; an absent prediction is a failure, a repeated id gets a run; no two have one key."""
    runs: dict[str, int] = {}  # the next one of an id that comes again
    keys = Database("CREATE TABLE seen (key BLOB PRIMARY KEY) WITHOUT ROWID")
    for entry in pairs:
        if isinstance(entry, Pair):
            failures += [entry.failure] if entry.failure is not None else []
            yield entry
            continue
        name, (gold, predicted) = str(entry[0]), entry[1:]
        for number in count(runs.get(name, 1)):
            run = None if number == 1 else str(number)
            if keys.execute("INSERT OR IGNORE INTO seen VALUES (?)", encoded(key(name, run))):
                break
        if number > 1:
            runs[name] = number + 1
        try:
            check_depth(gold, "gold document")
        except DataError as error:
            failures.append(Failure("gold", name, run, reason=error.message))
            continue
        failure = Failure("predicted", name, run, reason="no prediction") if predicted is ABSENT else None
        try:
            check_depth(predicted, "predicted document")
        except DataError as error:
            predicted, failure = ABSENT, Failure("predicted", name, run, reason=error.message)
        failures += [failure] if failure is not None else []
        yield Pair(name, run, gold, predicted, failure)
