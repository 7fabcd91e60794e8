"""Evaluates a corpus: compares every document and collects the results."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from arbitre.corpus.joining.join import Join, Pair
from arbitre.corpus.joining.work_units import WorkUnit
from arbitre.corpus.reading.options import NO_PREDICTION
from arbitre.corpus.reading.records import Failure, key
from arbitre.corpus.reading.strict_json import check_value
from arbitre.corpus.results.chance import Chance, Reservoir, estimate_chance, sample_pairs
from arbitre.corpus.running.accumulator import Accumulator
from arbitre.corpus.running.executors import processes_of, run_in_process
from arbitre.corpus.running.worker import NODES_PER_BATCH, Worker
from arbitre.corpus.storage.database import Database
from arbitre.corpus.storage.string_array import encoded
from arbitre.errors import DataError
from arbitre.values import ABSENT, check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.corpus.reading.records import Side
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.checkpoints import Checkpoints
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.corpus.running.executors import Executor
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Triple: TypeAlias = tuple[Any, Json, Json]
    """(id, gold, predicted)"""

PART_SIZE: Final = 256
"""Number of documents per work unit, which is distributed, checkpointed and resumed as a whole."""


TRIPLE: Final = 3
"""Length of (id, gold, predicted)."""


@dataclass(frozen=True, slots=True)
class ExecutionOptions:
    """Options for running an evaluation. They do not change the scores.

    Attributes:
        observers: Collect additional values about documents.
        on_results: Called with the results of each work unit, in order.
        executor: Distributes the work units.
        checkpoints: Stores results on disk and may already contain some.
        unit_size: Number of documents per work unit.
        first_batch: Number of documents in the first batch of a work unit; None to derive it from their size.
        batch_nodes: Target number of nodes per batch.
        chance: Whether to compute the chance scores when they are first used.
    """

    observers: Observers = field(default_factory=dict)
    on_results: Callable[[DocumentResults], None] = lambda _: None
    executor: Executor = run_in_process
    checkpoints: Checkpoints | None = None
    unit_size: int = PART_SIZE
    first_batch: int | None = None
    batch_nodes: int = NODES_PER_BATCH
    chance: bool = True


def evaluate(
    plan: Plan,
    pairs: Iterable[Pair | Triple],
    options: ExecutionOptions | None = None,
) -> Evaluation:
    """Evaluate a corpus.

    A prediction is a failure if it is ABSENT, not JSON (for example NaN), a text although the schema expects an object
    or a list, or null although the schema does not allow it. A gold document that is not JSON, or such a text, is
    listed among the failures and not scored. Several triples with the same id are treated as runs.

    Args:
        plan: The compiled schema.
        pairs: A `Join`, pairs, or (id, gold, predicted) triples.
        options: Options for running the evaluation.

    Raises:
        DataError: One of the `pairs` is not a pair or a triple.
    """
    options, totals = options or ExecutionOptions(), Accumulator()
    failures = list(pairs.failures) if isinstance(pairs, Join) else []
    reservoir, size = Reservoir(), options.unit_size
    parts = pairs.parts(size) if isinstance(pairs, Join) else _parts(pairs, size, failures, reservoir)
    worker = Worker(plan, options.observers, options.first_batch, options.batch_nodes)
    for outcomes in _outcomes(worker, parts, options):
        totals.add(outcomes)
        options.on_results(outcomes)

    def chance_factory() -> Chance:
        sample = sample_pairs(pairs.pairs) if isinstance(pairs, Join) else reservoir()
        estimate = partial(estimate_chance, plan, sample, len(totals), totals.cells)
        processes = processes_of(options.executor, len(totals) / size)
        return estimate() if processes is None else processes.run(estimate)  # saves importing scipy: 0.25 s

    without_gold = pairs.without_gold if isinstance(pairs, Join) else ()
    return totals.evaluation(plan, failures, without_gold, chance_factory if options.chance else None)


def pair_up(triples: Iterable[Pair | Triple]) -> Join:
    """Return (id, gold, predicted) triples as a join, as `evaluate` pairs them."""
    failures: list[Failure] = []
    return Join(tuple(_paired(triples, failures)), tuple(failures))


def _outcomes(worker: Worker, parts: Iterable[WorkUnit], options: ExecutionOptions) -> Iterator[DocumentResults]:
    """Yield the results of all work units in order, from checkpoints or by comparing."""
    if options.checkpoints is None:
        return options.executor(worker, parts)
    return options.checkpoints.completed(parts, lambda rest: options.executor(worker, rest))


def _parts(
    pairs: Iterable[Pair | Triple], size: int, failures: list[Failure], reservoir: Reservoir
) -> Iterator[WorkUnit]:
    stream, start = _paired(pairs, failures), 0
    while chunk := tuple(islice(stream, size)):
        for pair in chunk:
            reservoir.add(pair)
        yield WorkUnit(start, chunk)
        start += len(chunk)


def _paired(pairs: Iterable[Pair | Triple], failures: list[Failure]) -> Iterator[Pair]:
    """Convert triples to pairs with unique keys. Absent predictions are failures; repeated ids get a run."""
    runs: dict[str, int] = {}  # next run number of each repeated id
    keys = Database("CREATE TABLE seen (key BLOB PRIMARY KEY) WITHOUT ROWID")
    for entry in pairs:
        if isinstance(entry, Pair):
            failures += [entry.failure] if entry.failure is not None else []
            yield entry
            continue
        name, gold, predicted = _triple(entry)
        check_text(name, what="an id")
        for number in count(runs.get(name, 1)):
            run = None if number == 1 else str(number)
            if keys.execute("INSERT OR IGNORE INTO seen VALUES (?)", encoded(key(name, run))):
                break
        if number > 1:
            runs[name] = number + 1
        failure = _refused("gold", gold, name, run)
        if failure is not None:
            failures.append(failure)
            continue
        failure = _refused("predicted", predicted, name, run)
        if failure is None and predicted is ABSENT:
            failure = Failure("predicted", name, run, reason=NO_PREDICTION)
        if failure is not None:
            failures.append(failure)
            predicted = ABSENT
        yield Pair(name, run, gold, predicted, failure)


def _refused(side: Side, document: Json, name: str, run: str | None) -> Failure | None:
    """Return the failure of a document in memory that no file could contain; None for other documents."""
    try:
        check_value(document, f"{side} document")
    except DataError as error:
        return Failure(side, name, run, pointer=error.pointer, reason=error.message)
    return None


def _triple(entry: object) -> tuple[str, Json, Json]:
    """Return an (id, gold, predicted) triple with the id as text. Raises DataError if it is not a triple."""
    if isinstance(entry, (tuple, list)) and len(entry) == TRIPLE:
        return str(entry[0]), entry[1], entry[2]
    length = f" of length {len(entry)}" if isinstance(entry, (tuple, list)) else ""
    raise DataError.of(
        f"Expected (id, gold, predicted) triples, got a {type(entry).__name__}{length}",
        hint="Pass arbitre.ABSENT as the prediction of a document that has none.",
    )
