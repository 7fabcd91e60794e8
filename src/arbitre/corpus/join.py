"""Records become pairs: a prediction is judged against the gold document of the same id, wherever either stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from arbitre.corpus.index import FAILED, Index, digests
from arbitre.corpus.labels import SHOWN, listed
from arbitre.corpus.located import Located, Rows
from arbitre.corpus.parts import Part
from arbitre.corpus.read import NO_PREDICTION
from arbitre.corpus.records import Failure, Pair, Record, Repair, Side, key
from arbitre.corpus.spool import Spool
from arbitre.corpus.texts import NONE
from arbitre.errors import DataError, Problem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from arbitre.corpus.index import Entry
    from arbitre.corpus.parts import Locator
    from arbitre.corpus.read import Row

__all__ = ["Join", "Pair", "join", "paired"]

DUPLICATE: Final = "duplicate id"
DUPLICATE_RUN: Final = "duplicate id and run"
DUPLICATE_ROW: Final = "duplicate id and run: a `run` tells rows of one id apart"

_AT_ONCE: Final = 1 << 16
"""So many ids are looked up at once."""


@dataclass(frozen=True, slots=True)
class Join:
    """The pairs to be scored, in gold order; every failure, of pairs and others; the predictions nobody asked for.

    The documents of `pairs` are read each time they are asked for, where `join` or `paired` found them. `repaired`
    lists the predictions that were no JSON and read all the same; `factors` are the other columns of a manifest, a
    value for each pair.
    """

    pairs: Sequence[Pair]
    failures: tuple[Failure, ...] = ()
    without_gold: tuple[str, ...] = ()
    repaired: tuple[Repair, ...] = ()
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def keys(self) -> Iterator[str]:
        """What names each pair in results; no document is read."""
        return (key(item.id, item.run) for item in self._items())

    def _items(self) -> Iterator[Locator | Pair]:
        return self.pairs.locators() if isinstance(self.pairs, Located) else iter(self.pairs)

    def parts(self, size: int = 64) -> Iterator[Part]:
        """The pairs in order, as units of work of `size` pairs that other processes of this machine read themselves.

        They can be read as long as the join is there.
        """
        items = self._items()
        for start in range(0, len(self), size):
            yield Part(start, tuple(islice(items, size)))


def join(
    gold: Iterable[Record | Failure], predicted: Iterable[Record | Failure], *, only: Collection[str] = ()
) -> Join:
    """Every gold document with each of its predictions, by id; `only` these ids, where any are given.

    Several predictions of one document are runs, in the order they are read; those without a run of their own are
    numbered "1", "2", ... A gold document without prediction, or with a damaged one, is a pair all the same, its
    prediction ABSENT. Of equal gold ids, and of equal ids and runs, the first is kept and the others are failures.
    One document on either side, neither with an id of its own, is one pair.

    Documents pass by and are not kept: those of plain files are read again in their place, all others wait in a
    temporary file as long as the join is there. What is kept of one is stated with `Index`.

    Raises DataError where nothing joins, or where `only` names an id that gold does not have.

    >>> pages = [Record("a", None, 1, "gold.jsonl"), Record("b", None, 2, "gold.jsonl")]
    >>> joined = join(pages, [Record("b", None, 3, "predicted.jsonl")])
    >>> [(pair.key, pair.gold, pair.predicted) for pair in joined]
    [('a', 1, ABSENT), ('b', 2, 3)]
    >>> joined.failures[0].reason
    'no prediction'
    """
    spool, wanted = Spool(), frozenset(only)
    left, right = Index.of(gold, spool), Index.of(predicted, spool)
    documents, failures = _documents(left)
    _check_only(wanted, "Expected `only` to name gold documents", left, documents, failures)
    positions = _positions(left, documents, right)
    without_gold: list[tuple[str, str | None]] = []
    for entry in right.entries(np.flatnonzero(positions < 0)):
        if isinstance(entry.place, Failure):
            failures.append(entry.place)
        if entry.id is not None:
            without_gold.append((entry.id, entry.run))
    if len(without_gold) + sum(one.id is None for one in right.failures) == len(right):
        names = (str(entry.id) for entry in left.entries(documents))
        raise _nothing(names, [identity for identity, _ in without_gold], failures)

    chosen = np.isin(left.digests, digests(wanted)) if wanted else None
    left.settle()
    rows, repeated = _answered(documents, positions, right)
    right.settle(ids=False)
    if chosen is not None:
        rows = rows[:, chosen[rows[0]]]
    refused = _refused(left, right, rows)
    return Join(
        Located(left, right, rows, refused),
        (*(one for one in (*failures, *repeated) if _among(wanted, one.id)), *refused.values()),
        tuple(key(identity, run) for identity, run in without_gold if _among(wanted, identity)),
        tuple(one for one in right.repairs if _among(wanted, one.id)),
    )


def paired(rows: Iterable[Row], *, factors: Sequence[str] = (), only: Collection[str] = ()) -> Join:
    """The pairs of records that hold both sides, in their order; `factors` name what the rows have besides.

    A record without gold is a failure, and so is one whose id and run were there before; failures are in the order
    of the records. Raises DataError where `only` names an id that is not there.
    """
    spool, wanted = Spool(), frozenset(only)
    left, right = Index(spool), Index(spool)
    values: dict[str, str] = {}
    columns: list[list[str]] = [[] for _ in factors]
    for row in rows:
        left.add(row.gold)
        right.add(row.predicted or row.gold)
        for column, value in zip(columns, row.factors, strict=True):
            column.append(values.setdefault(value, value))
    spool.flush()

    ids = np.unique(left.digests, return_inverse=True)[1]
    first = _first(left, ids * (len(left.runs()) + 1) + left.table["run"])
    _check_only(wanted, "Expected --only to name documents", left, first, left.failures)
    if wanted:
        first = first[np.isin(left.digests[first], digests(wanted))]
    left.settle()
    right.settle(ids=False)
    chosen = np.stack([first, first, right.table["run"][first]]).astype(np.int32)
    refused = _refused(left, right, chosen)
    listing: dict[int, Failure] = {int(first[at]): failure for at, failure in refused.items()}
    dropped = _others(left, first)
    for at, entry in zip(dropped.tolist(), left.entries(dropped), strict=True):
        if _among(wanted, entry.id):
            listing[at] = _repeated("gold", entry, DUPLICATE_ROW)
    return Join(
        Located(left, right, chosen, refused),
        tuple(failure for _, failure in sorted(listing.items())),
        repaired=tuple(one for one in right.repairs if _among(wanted, one.id)),
        factors={
            name: tuple(column[at] for at in first.tolist()) for name, column in zip(factors, columns, strict=True)
        },
    )


def _first(index: Index, keys: npt.NDArray[Any]) -> Rows:
    """The rows (n,) of documents that are the first of their key, in order."""
    order = np.argsort(keys, kind="stable").astype(np.int32)
    order = order[index.table["source"][order] != FAILED]
    ranked = keys[order]  # equal keys follow each other, the first of them first
    return np.sort(order[np.append(True, ranked[1:] != ranked[:-1])[: len(order)]])


def _others(index: Index, rows: Rows) -> Rows:
    mask = np.ones(len(index), dtype=np.bool_)
    mask[rows] = False
    return np.flatnonzero(mask)


def _documents(gold: Index) -> tuple[Rows, list[Failure]]:
    """The rows of the gold documents; those that cannot be had or come twice, as failures."""
    documents = _first(gold, gold.digests)
    return documents, [_repeated("gold", entry, DUPLICATE) for entry in gold.entries(_others(gold, documents))]


def _positions(gold: Index, documents: Rows, predicted: Index) -> Rows:
    """For every prediction (n,) the position of its document in `documents`, or NONE.

    One alone belongs to a gold document alone, where neither has an id of its own.
    """
    if len(documents) == len(predicted) == 1 and gold.table["alone"][documents[0]] and predicted.table["alone"][0]:
        return np.zeros(1, dtype=np.intp)
    if not len(documents):
        return np.full(len(predicted), NONE)
    known = gold.digests[documents]
    order = np.argsort(known).astype(np.int32)
    positions = np.empty(len(predicted), dtype=np.int32)
    for start in range(0, len(predicted), _AT_ONCE):
        span = slice(start, start + _AT_ONCE)
        asked = predicted.digests[span]
        places = order[np.minimum(np.searchsorted(known, asked, sorter=order), len(known) - 1)]
        positions[span] = np.where((known[places] == asked) & predicted.table["known"][span], places, NONE)
    return positions


def _answered(documents: Rows, positions: Rows, predicted: Index) -> tuple[Rows, list[Failure]]:
    """For every pair (3, n) the rows of both sides and the number of its run; predictions whose run came before.

    The row of a prediction that is not there is NONE.
    """
    answers = np.flatnonzero(positions >= 0)
    answers = answers[np.argsort(positions[answers], kind="stable")]
    counts = np.bincount(positions[answers], minlength=len(documents))
    rows = np.full((3, int(np.maximum(counts, 1).sum())), NONE, dtype=np.int32)
    rows[0] = np.repeat(documents, np.maximum(counts, 1))
    there = np.repeat(counts > 0, np.maximum(counts, 1))
    rows[1, there] = answers
    rows[2, there] = predicted.table["run"][answers]
    repeated: list[Failure] = []
    starts = np.cumsum(np.maximum(counts, 1)) - counts
    for start, size in zip(starts[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True):
        span = slice(start, start + size)
        runs = _runs([entry.run for entry in predicted.entries(rows[1, span])])
        rows[2, span] = [NONE if run is None else predicted.run(run) for run in runs]
        first = dict(zip(reversed(runs), reversed(range(size)), strict=True))
        again = start + np.flatnonzero([first[run] != at for at, run in enumerate(runs)])
        repeated += [_repeated("predicted", entry, DUPLICATE_RUN) for entry in predicted.entries(rows[1, again])]
        there[again] = False
    return rows[:, there | (rows[1] == NONE)], repeated


def _runs(given: list[str | None]) -> list[str | None]:
    """The runs of the predictions of one document: several without a name are numbered, names passed over."""
    names = set(given)
    numbers = (str(number) for number in count(1) if str(number) not in names)
    return [next(numbers) if run is None else run for run in given] if given.count(None) > 1 else given


def _refused(gold: Index, predicted: Index, rows: Rows) -> dict[int, Failure]:
    """Why there is no prediction, by the position of the pair (3, n)."""
    missing = rows[1] == NONE
    failed = ~missing & (predicted.table["source"][rows[1]] == FAILED) if len(predicted) else ~missing
    runs = predicted.runs()
    refused = {
        at: Failure("predicted", entry.id, reason=NO_PREDICTION)
        for at, entry in zip(np.flatnonzero(missing).tolist(), gold.entries(rows[0, missing]), strict=True)
    }
    for at, entry in zip(np.flatnonzero(failed).tolist(), predicted.entries(rows[1, failed]), strict=True):
        if isinstance(entry.place, Failure):
            refused[at] = replace(entry.place, run=runs[rows[2, at]])
    return dict(sorted(refused.items()))


def _repeated(side: Side, entry: Entry, reason: str) -> Failure:
    """The failure of a document that comes again, or the one that it is."""
    if isinstance(entry.place, Failure) and side == "gold":
        return entry.place
    return Failure(side, entry.id, entry.run, *entry.origin, reason=reason)


def _check_only(
    wanted: frozenset[str], expected: str, gold: Index, documents: Rows, failures: Iterable[Failure]
) -> None:
    if wanted:
        known = {str(entry.id) for entry in gold.entries(documents)}
        missing = sorted(wanted - known - {failure.id for failure in failures})
        if missing:
            raise DataError.of(f"{expected}, got {listed(missing)}", hint=did_you_mean(missing[0], known))


def _among(wanted: frozenset[str], identity: str | None) -> bool:
    return not wanted or identity is None or identity in wanted


def _nothing(gold: Iterable[str], predicted: Iterable[str], failures: list[Failure]) -> DataError:
    return DataError(
        Problem(
            f"Expected gold and predicted to share ids, got {listed(gold)} and {listed(predicted)}",
            hint="Say which key holds the id with --id-key, or which part of a file name with --id-pattern.",
        ),
        *(Problem(failure.reason, failure.file, failure.line, failure.pointer) for failure in failures[:SHOWN]),
    )
