"""A corpus evaluated: every document compared, every tally kept, every score a function of their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.joining.join import Join, Pair
from arbitre.corpus.joining.work_units import WorkUnit
from arbitre.corpus.reading.records import Failure, key
from arbitre.corpus.results.chance import Chance, Reservoir, estimate_chance, sample_pairs
from arbitre.corpus.running.accumulator import Accumulator
from arbitre.corpus.running.executors import run_in_process
from arbitre.corpus.running.worker import Worker
from arbitre.corpus.storage.database import Database
from arbitre.corpus.storage.string_array import encoded
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.checkpoints import Checkpoints
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.corpus.running.executors import Executor
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

PART_SIZE: Final = 256
"""So many documents are a part: given out, written down and resumed as one."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a corpus is evaluated; the results are the same however it is.

    `observers` note what else is wanted of documents, `on_results` is called with the outcomes of every part, in order;
    `executor` says who compares; `checkpoints` keep the outcomes on disk, and may hold some already.
    """

    observers: Observers = field(default_factory=dict)
    on_results: Callable[[DocumentResults], None] = lambda _: None
    executor: Executor = run_in_process
    checkpoints: Checkpoints | None = None


def evaluate(
    plan: Plan,
    pairs: Iterable[Pair | tuple[Any, Json, Json]],
    options: RunOptions | None = None,
) -> Evaluation:
    """Evaluate a corpus: pairs as `join` makes them, or (id, gold, predicted) triples.

    A prediction that is ABSENT is a failure. So is one that is not JSON (NaN, for instance); a gold document that is
    not is listed among the failures and not scored. Several triples with one id are kept apart as runs.
    """
    options, totals = options or RunOptions(), Accumulator()
    failures = list(pairs.failures) if isinstance(pairs, Join) else []
    drawn = Reservoir()
    parts = pairs.parts(PART_SIZE) if isinstance(pairs, Join) else _parts(pairs, failures, drawn)
    for outcomes in _outcomes(Worker(plan, options.observers), parts, options):
        totals.add(outcomes)
        options.on_results(outcomes)

    def chance_factory() -> Chance:
        some = sample_pairs(pairs.pairs) if isinstance(pairs, Join) else drawn()
        return estimate_chance(plan, some, len(totals))

    return totals.evaluation(plan, failures, pairs.without_gold if isinstance(pairs, Join) else (), chance_factory)


def _outcomes(worker: Worker, parts: Iterable[WorkUnit], options: RunOptions) -> Iterator[DocumentResults]:
    """The outcomes of all parts in order: read where they are known, else compared and written down."""
    if options.checkpoints is None:
        return options.executor(worker, parts)
    return options.checkpoints.completed(parts, lambda rest: options.executor(worker, rest))


def _parts(
    pairs: Iterable[Pair | tuple[Any, Json, Json]], failures: list[Failure], drawn: Reservoir
) -> Iterator[WorkUnit]:
    stream, start = _paired(pairs, failures), 0
    while some := tuple(islice(stream, PART_SIZE)):
        for pair in some:
            drawn.add(pair)
        yield WorkUnit(start, some)
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
        failure = Failure("predicted", name, run, reason="no prediction") if predicted is ABSENT else None
        failures += [failure] if failure is not None else []
        yield Pair(name, run, gold, predicted, failure)
