"""Evaluates a corpus: compares every document and collects the results."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, groupby, islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import numpy as np

from arbitre.arrays import exact_parts, exact_sum
from arbitre.comparison.levels import FIELD_WIDTH
from arbitre.corpus.chance import Chance, Reservoir, estimate_chance, sample_pairs
from arbitre.corpus.documents import DocumentTable
from arbitre.corpus.evaluation import Evaluation
from arbitre.corpus.executors import run_in_process, workers_of
from arbitre.corpus.worker import NODES_PER_BATCH, PATH_WIDTH, TALLY_WIDTH, Worker
from arbitre.curve import CurveAccumulator
from arbitre.distances.judges import ask_judges
from arbitre.engine import judged_texts
from arbitre.errors import DataError, SolverError
from arbitre.inputs.join import LARGE_UNIT_SIZE, UNIT_SIZE, JoinedCorpus
from arbitre.inputs.records import NO_PREDICTION, Failure, Pair, key
from arbitre.inputs.work_units import WorkUnit
from arbitre.interpreter import collecting_rarely
from arbitre.parsing.strict_json import check_value
from arbitre.paths import order, wildcard
from arbitre.storage.columns import CompactColumn, CompactTable, GrowingArray, RepeatedTexts, StringArray, encoded
from arbitre.storage.temporary import Database
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT, are_small, check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.corpus.checkpoints import Checkpoints
    from arbitre.corpus.executors import Executor
    from arbitre.corpus.worker import DocumentResults, Observers
    from arbitre.distances.judges import Judge, TextPair
    from arbitre.inputs.records import Side
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


# Collects the results of a corpus in columns, with one row per document.


class Accumulator:
    """Collects the results of work units, in order.

    Each document takes about 30 bytes, the bytes of its id, and up to 26 bytes for each path that occurs in the corpus
    (see `CompactColumn`); more if masses are fractions, or above 255.
    """

    def __init__(self) -> None:
        self._ids, self._runs = StringArray(), RepeatedTexts()
        self._entries = CompactTable(TALLY_WIDTH)
        self._qualities, self._failed = GrowingArray(np.float64), CompactColumn()
        self._paths: dict[str, CompactTable] = {}
        self._fields: dict[str, CompactTable] = {}
        self._leaves: list[list[float]] = [[]] * TALLY_WIDTH
        self._steps = CurveAccumulator()
        self._failures: list[Failure] = []

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def cells(self) -> float:
        """Number of pairs of a gold entry and a predicted entry, summed over the documents."""
        gold, predicted = self._entries.columns()[:2]
        return exact_sum(np.multiply(gold, predicted, dtype=np.float64))

    def add(self, outcomes: DocumentResults) -> None:
        """Add the results of the next work unit, except the values from observers."""
        for tables, found, width in (
            (self._paths, outcomes.paths, PATH_WIDTH),
            (self._fields, outcomes.fields, FIELD_WIDTH),
        ):
            for path, rows in found.items():
                column = tables.setdefault(path, CompactTable(width))
                column.pad(len(self))
                column.extend(rows)
        self._ids.extend(outcomes.ids)
        self._runs.extend(outcomes.runs)
        self._entries.extend(outcomes.tallies)
        self._qualities.extend(outcomes.qualities)
        self._failed.extend(outcomes.failed)
        self._leaves = [
            exact_parts([*parts, *column.tolist()])
            for parts, column in zip(self._leaves, outcomes.leaves.T, strict=True)
        ]
        self._steps.add(*outcomes.steps)
        self._failures += outcomes.failures

    def document_table(self) -> DocumentTable:
        """Return the results of all documents."""
        for column in (*self._paths.values(), *self._fields.values()):
            column.pad(len(self))
        return DocumentTable(
            self._ids,
            self._runs,
            self._entries,
            self._qualities.view(),
            self._failed.view().view(np.bool_),
            {path: self._paths[path] for path in sorted(self._paths, key=order)},
            {path: self._fields[path] for path in sorted(self._fields, key=order)},
        )

    def evaluation(
        self,
        plan: Plan,
        failures: Sequence[Failure],
        without_gold: tuple[str, ...],
        chance_factory: Callable[[], Chance] | None,
    ) -> Evaluation:
        """Return the evaluation.

        Args:
            plan: The compiled schema.
            failures: Failures from before the comparison.
            without_gold: Keys of predictions without a gold document.
            chance_factory: Computes the chance scores on first access; None if they are not wanted.
        """
        columns = self.document_table()
        entries = columns.tally
        return Evaluation(
            signature=plan.signature,
            entries=wildcard(plan.entries),
            document_table=columns,
            leaves=Scores(Tally(*map(math.fsum, self._leaves))),
            curve=self._steps.curve(entries.gold, entries.predicted),
            failures=(*failures, *self._failures),
            without_gold=without_gold,
            declared=tuple(row.path for row in plan.rows),
            chance_factory=chance_factory,
        )


if TYPE_CHECKING:
    Triple: TypeAlias = tuple[Any, Json, Json]
    """(id, gold, predicted)"""

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
        unit_size: Number of documents per work unit, which is distributed, checkpointed and resumed as a whole; None to
            choose it by the number, size and source of the documents.
        first_batch: Number of documents in the first batch of a work unit; None to derive it from their size.
        batch_nodes: Target number of nodes per batch.
        chance: Whether to compute the chance scores when they are first used.
    """

    observers: Observers = field(default_factory=dict)
    on_results: Callable[[DocumentResults], None] = lambda _: None
    executor: Executor = run_in_process
    checkpoints: Checkpoints | None = None
    unit_size: int | None = None
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
        pairs: A `JoinedCorpus`, pairs, or (id, gold, predicted) triples.
        options: Options for running the evaluation.

    Raises:
        DataError: One of the `pairs` is not a pair or a triple.
    """
    options, totals, reservoir = options or ExecutionOptions(), Accumulator(), Reservoir()
    by_corpus = bool(plan.corpus_scopes) and plan.corpus_ids is None
    if (plan.has_judges or by_corpus) and not isinstance(pairs, JoinedCorpus):
        pairs = pair_up(pairs)  # they are read twice
    failures = list(pairs.failures) if isinstance(pairs, JoinedCorpus) else []
    size = options.unit_size or _unit_size(pairs, options)
    parts = pairs.parts(size) if isinstance(pairs, JoinedCorpus) else _parts(pairs, size, failures, reservoir)
    if isinstance(pairs, JoinedCorpus):
        if plan.has_judges:
            judge_corpus(plan, pairs)
        if by_corpus:
            plan = with_corpus_ids(plan, pairs)
    worker = Worker(plan, options.observers, options.first_batch, options.batch_nodes)
    with collecting_rarely():
        for outcomes in _outcomes(worker, parts, options):
            totals.add(outcomes)
            options.on_results(outcomes)

    def chance_factory() -> Chance:
        sample = sample_pairs(pairs.pairs) if isinstance(pairs, JoinedCorpus) else reservoir()
        estimate = partial(estimate_chance, plan, sample, len(totals), totals.cells)
        workers = workers_of(options.executor, len(totals) / size)
        return estimate() if workers is None else workers.run(estimate)  # saves importing scipy: 0.25 s

    without_gold = pairs.without_gold if isinstance(pairs, JoinedCorpus) else ()
    return totals.evaluation(plan, failures, without_gold, chance_factory if options.chance else None)


def with_corpus_ids(plan: Plan, corpus: JoinedCorpus) -> Plan:
    """Return the plan with the gold id of each predicted id that all documents of a corpus share.

    The documents are read once, before they are compared. Those that cannot be compared give no evidence.
    """
    from arbitre.engine.references.corpus_ids import IdEvidence  # noqa: PLC0415  (only some schemas need it)

    evidence = IdEvidence(plan)
    for unit in corpus.parts():
        pairs = [pair for pair in unit if pair.gold is not ABSENT and pair.predicted is not ABSENT]
        try:
            evidence.add([pair.gold for pair in pairs], [pair.predicted for pair in pairs])
        except (DataError, SolverError):
            for pair in pairs:
                with suppress(DataError, SolverError):  # the evaluation reports them
                    evidence.add([pair.gold], [pair.predicted])
    found: Plan = replace(plan, corpus_ids=evidence.names())
    return found


def judge_corpus(plan: Plan, corpus: JoinedCorpus) -> None:
    """Ask the judges about all matched texts of a corpus, so that the number of calls is known before the first one.

    Raises:
        FunctionError: There would be more calls than the limit, or a judge fails.
    """
    pairs: dict[Judge, dict[TextPair, None]] = {}
    for unit in corpus.parts():
        for pair in unit:
            with suppress(DataError, SolverError):  # of a document that cannot be compared; the evaluation reports it
                for _, judge, texts in judged_texts(plan, [pair.gold], [pair.predicted]):
                    pairs.setdefault(judge, {}).update(dict.fromkeys(texts))
    ask_judges(pairs)


def pair_up(triples: Iterable[Pair | Triple]) -> JoinedCorpus:
    """Return (id, gold, predicted) triples as a join, as `evaluate` pairs them."""
    failures: list[Failure] = []
    return JoinedCorpus(tuple(_paired(triples, failures)), tuple(failures))


def _outcomes(worker: Worker, parts: Iterable[WorkUnit], options: ExecutionOptions) -> Iterator[DocumentResults]:
    """Yield the results of all work units in order, from checkpoints or by comparing."""
    if options.checkpoints is None:
        return options.executor(worker, parts)
    return options.checkpoints.completed(parts, lambda rest: options.executor(worker, rest))


def _unit_size(pairs: Iterable[Pair | Triple], options: ExecutionOptions) -> int:
    """Return the number of documents per work unit.

    Units are large if the documents are in memory and no unit has to be distributed or resumed: this takes 6 to 8% less
    time.
    """
    if isinstance(pairs, JoinedCorpus):
        return pairs.unit_size
    alone = options.executor is run_in_process and options.checkpoints is None
    return LARGE_UNIT_SIZE if alone and isinstance(pairs, (list, tuple)) else UNIT_SIZE


def _parts(
    pairs: Iterable[Pair | Triple], size: int, failures: list[Failure], reservoir: Reservoir
) -> Iterator[WorkUnit]:
    stream, start = _paired(pairs, failures), 0
    while chunk := tuple(islice(stream, size)):
        for pair in chunk:
            reservoir.add(pair)
        yield WorkUnit(start, chunk)
        start += len(chunk)


CHECKED_AT_ONCE: Final = 256
"""Number of triples that are checked at once. Checking them one by one takes three times as long."""


def _paired(pairs: Iterable[Pair | Triple], failures: list[Failure]) -> Iterator[Pair]:
    """Convert triples to pairs with unique keys. Absent predictions are failures; repeated ids get a run."""
    runs = RunNumbers()
    for are_pairs, entries in groupby(pairs, lambda entry: isinstance(entry, Pair)):
        if are_pairs:
            for pair in cast("Iterator[Pair]", entries):
                failures += [pair.failure] if pair.failure is not None else []
                yield pair
            continue
        while triples := list(map(_triple, islice(entries, CHECKED_AT_ONCE))):
            documents = [document for _, *both in triples for document in both if document is not ABSENT]
            is_small = are_small(documents)
            for run, triple in zip(runs.of([name for name, _, _ in triples]), triples, strict=True):
                yield from _pair(*triple, run, failures, is_small=is_small)


def _pair(
    name: str, gold: Json, predicted: Json, run: str | None, failures: list[Failure], *, is_small: bool
) -> Iterator[Pair]:
    """Yield a pair, unless its gold is refused; `is_small` as in `check_value`."""
    failure = _refused("gold", gold, name, run, is_small=is_small)
    if failure is not None:
        failures.append(failure)
        return
    failure = _refused("predicted", predicted, name, run, is_small=is_small)
    if failure is None and predicted is ABSENT:
        failure = Failure("predicted", name, run, reason=NO_PREDICTION)
    if failure is not None:
        failures.append(failure)
        predicted = ABSENT
    yield Pair(name, run, gold, predicted, failure)


class RunNumbers:
    """Assigns runs so that keys are unique: a document whose id is already a key gets the first free run from 2."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}  # next run number of each repeated id
        self._seen = Database("CREATE TABLE seen (key BLOB PRIMARY KEY) WITHOUT ROWID")

    def of(self, ids: Sequence[str]) -> list[str | None]:
        """Return the run of each of the next documents, in order; None if its id is not yet a key."""
        keys = [encoded(key(one, None)) for one in ids]
        places = ", ".join("?" * len(keys))
        query = f"SELECT 1 FROM seen WHERE key IN ({places}) LIMIT 1"  # noqa: S608  (only placeholders)
        if len(set(keys)) == len(keys) and not list(self._seen.rows(query, *keys)):
            self._seen.insert("INSERT INTO seen VALUES (?)", zip(keys, strict=True))
            return [None] * len(ids)
        return list(map(self._run, ids))

    def _run(self, identity: str) -> str | None:
        for number in count(self._next.get(identity, 1)):
            run = None if number == 1 else str(number)
            if self._seen.execute("INSERT OR IGNORE INTO seen VALUES (?)", encoded(key(identity, run))):
                break
        if number > 1:
            self._next[identity] = number + 1
        return run


def _refused(side: Side, document: Json, name: str, run: str | None, *, is_small: bool) -> Failure | None:
    """Return the failure of a document in memory that no file could contain; None for other documents."""
    try:
        check_value(document, f"{side} document", is_small=is_small)
    except DataError as error:
        return Failure(side, name, run, pointer=error.pointer, reason=error.message)
    return None


def _triple(entry: object) -> tuple[str, Json, Json]:
    """Return an (id, gold, predicted) triple with the id as text. Raises DataError if it is not a triple."""
    if isinstance(entry, (tuple, list)) and len(entry) == TRIPLE:
        name = str(entry[0])
        check_text(name, what="an id")
        return name, entry[1], entry[2]
    length = f" of length {len(entry)}" if isinstance(entry, (tuple, list)) else ""
    raise DataError.of(
        f"Expected (id, gold, predicted) triples, got a {type(entry).__name__}{length}",
        hint="Pass arbitre.ABSENT as the prediction of a document that has none.",
    )


# The phases of an evaluation, for displays of its progress.


Phase: TypeAlias = Literal["reading", "comparing", "computing intervals", "diagnosing", "writing"]

OnProgress: TypeAlias = "Callable[[Phase, int, int | None], None]"
"""Called with the phase, the number of documents done in it, and their total number; None if it is unknown."""


def ignore_progress(_phase: Phase, _done: int, _total: int | None) -> None:
    """Show nothing."""
