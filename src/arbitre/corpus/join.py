"""Records become pairs: a prediction is judged against the gold document of the same id, wherever either stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final

from arbitre.corpus.read import SHOWN, Failure, Record, listed, records
from arbitre.corpus.strict import MAX_DEPTH
from arbitre.errors import DataError, Problem, did_you_mean
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from arbitre.corpus.read import Side
    from arbitre.values import Json

NO_PREDICTION: Final = "no prediction"
DUPLICATE: Final = "duplicate id"
DUPLICATE_RUN: Final = "duplicate id and run"


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold document and one prediction of it; ABSENT where there is none, with the failure that says why."""

    id: str
    run: str | None
    gold: Json
    predicted: Json
    failure: Failure | None = None

    @property
    def key(self) -> str:
        """What names the pair in results: the id, and the run where there is one."""
        return _key(self.id, self.run)


@dataclass(frozen=True, slots=True)
class Join:
    """The pairs to be scored, in gold order; every failure, of pairs and others; the predictions nobody asked for."""

    pairs: tuple[Pair, ...]
    failures: tuple[Failure, ...] = ()
    without_gold: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)


def join(
    gold: Iterable[Record | Failure], predicted: Iterable[Record | Failure], *, only: Collection[str] = ()
) -> Join:
    """Every gold document with each of its predictions, by id; `only` these ids, where any are given.

    Several predictions of one document are runs, in the order they are read; those without a run of their own are
    numbered "1", "2", ... A gold document without prediction, or with a damaged one, is a pair all the same, its
    prediction ABSENT. Of equal gold ids, and of equal ids and runs, the first is kept and the others are failures.
    One document on either side, neither with an id of its own, is one pair.

    Raises DataError where nothing joins, or where `only` names an id that gold does not have.

    >>> pages = [Record("a", None, 1, "gold.jsonl"), Record("b", None, 2, "gold.jsonl")]
    >>> joined = join(pages, [Record("b", None, 3, "predicted.jsonl")])
    >>> [(pair.key, pair.gold, pair.predicted) for pair in joined]
    [('a', 1, ABSENT), ('b', 2, 3)]
    >>> joined.failures[0].reason
    'no prediction'
    """

    def wanted(identity: str | None) -> bool:
        return not only or identity is None or identity in only

    documents, failures = _documents(gold)
    missing = sorted(set(only) - documents.keys() - {failure.id for failure in failures})
    if missing:
        raise DataError.of(
            f"Expected `only` to name gold documents, got {listed(missing)}", hint=did_you_mean(missing[0], documents)
        )
    answers: dict[str, list[Record | Failure]] = {identity: [] for identity in documents}
    without_gold: list[tuple[str, str | None]] = []
    for item in _matched(tuple(predicted), documents):
        if item.id in answers:
            answers[item.id].append(item)
            continue
        if isinstance(item, Failure):
            failures.append(item)
        if item.id is not None:
            without_gold.append((item.id, item.run))
    if not any(answers.values()):
        raise _nothing(documents, [identity for identity, _ in without_gold], failures)

    pairs: list[Pair] = []
    for identity, items in answers.items():
        runs, repeated = _runs(items)
        failures += repeated
        pairs += [_pair(documents[identity], run, item) for run, item in runs.items()]
    pairs = [pair for pair in pairs if wanted(pair.id)]
    failures = [failure for failure in failures if wanted(failure.id)]
    return Join(
        tuple(pairs),
        (*failures, *(pair.failure for pair in pairs if pair.failure is not None)),
        tuple(_key(identity, run) for identity, run in without_gold if wanted(identity)),
    )


def combined(
    source: str | Path, *, id_key: str = "id", id_pattern: str | None = None, max_depth: int = MAX_DEPTH
) -> Iterator[Pair | Failure]:
    """The pairs of a source whose records hold both sides: `{"id": ..., "gold": ..., "predicted": ...}`.

    Sources, ids and runs are those of `records`; a record without "predicted" has an absent prediction. Raises
    DataError where the source as a whole cannot be read.
    """
    seen: set[tuple[str, str | None]] = set()
    for item in records(source, "gold", id_key=id_key, id_pattern=id_pattern, max_depth=max_depth):
        if isinstance(item, Failure):
            yield item
        elif not isinstance(item.value, dict) or "gold" not in item.value:
            yield _failure("gold", item, "Expected a record to hold 'gold' and 'predicted', got no 'gold'")
        elif (item.id, item.run) in seen:
            yield _failure("gold", item, DUPLICATE_RUN)
        else:
            seen.add((item.id, item.run))
            predicted = item.value.get("predicted", ABSENT)
            failure = _failure("predicted", item, NO_PREDICTION) if predicted is ABSENT else None
            yield Pair(item.id, item.run, item.value["gold"], predicted, failure)


def _documents(gold: Iterable[Record | Failure]) -> tuple[dict[str, Record], list[Failure]]:
    """The gold documents by id, and those that cannot be had or come twice."""
    documents: dict[str, Record] = {}
    failures: list[Failure] = []
    for item in gold:
        if isinstance(item, Failure):
            failures.append(item)
        elif item.id in documents:
            failures.append(_failure("gold", item, DUPLICATE))
        else:
            documents[item.id] = item
    return documents, failures


def _matched(predicted: tuple[Record | Failure, ...], documents: dict[str, Record]) -> tuple[Record | Failure, ...]:
    """The predictions; one alone takes the id of a gold document alone, where neither has an id of its own."""
    if len(predicted) == len(documents) == 1:
        (document,), (item,) = documents.values(), predicted
        if isinstance(item, Record) and not item.named and not document.named:
            return (replace(item, id=document.id),)
    return predicted


def _runs(items: list[Record | Failure]) -> tuple[dict[str | None, Record | Failure | None], list[Failure]]:
    """The predictions of one document by run (None alone: there is none), and those whose run was there before."""
    given = {item.run for item in items}
    numbers = (str(number) for number in count(1) if str(number) not in given)
    several = sum(item.run is None for item in items) > 1
    runs: dict[str | None, Record | Failure | None] = {}
    repeated = []
    for item in items:
        run = next(numbers) if several and item.run is None else item.run
        if run in runs:
            repeated.append(_failure("predicted", item, DUPLICATE_RUN))
        else:
            runs[run] = item
    return runs or {None: None}, repeated


def _pair(document: Record, run: str | None, item: Record | Failure | None) -> Pair:
    if isinstance(item, Record):
        return Pair(document.id, run, document.value, item.value)
    failure = replace(item, run=run) if item else Failure("predicted", document.id, reason=NO_PREDICTION)
    return Pair(document.id, run, document.value, ABSENT, failure)


def _failure(side: Side, item: Record | Failure, reason: str) -> Failure:
    return Failure(side, item.id, item.run, item.file, item.line, reason=reason)


def _key(identity: str, run: str | None) -> str:
    return identity if run is None else f"{identity}/{run}"


def _nothing(gold: Iterable[str], predicted: Iterable[str], failures: list[Failure]) -> DataError:
    return DataError(
        Problem(
            f"Expected gold and predicted to share ids, got {listed(gold)} and {listed(predicted)}",
            hint="Say which key holds the id with --id-key, or which part of a file name with --id-pattern.",
        ),
        *(Problem(failure.reason, failure.file, failure.line, failure.pointer) for failure in failures[:SHOWN]),
    )
