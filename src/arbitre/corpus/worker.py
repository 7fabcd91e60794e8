"""Compares the documents of a work unit within one process, and collects their results."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import (
    FIELD_WIDTH,
    by_path,
    field_counts,
    leaves,
    of_nodes,
    pair_qualities,
    root_qualities,
)
from arbitre.engine import compare_to_levels, release
from arbitre.errors import DataError, FunctionError, SolverError
from arbitre.inputs.records import Failure, Pair
from arbitre.parsing.fast_json import encode
from arbitre.paths import wildcard
from arbitre.tables.row_file import EncodedRows
from arbitre.tally import OUTCOMES
from arbitre.values import ABSENT, NotJsonError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Mask
    from arbitre.comparison.levels import Level
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Observers = Mapping[str, Callable[[Sequence[Pair], Sequence[Level]], list[Json] | EncodedRows]]
    """Functions by name that are called with compared pairs and their levels, and return JSON values to keep, or the
    encoded rows of a table."""

TALLY_WIDTH: Final = 5
"""Number of columns of a tally: gold, predicted, matched, quality and quality_sq."""

PATH_WIDTH: Final = TALLY_WIDTH + len(OUTCOMES)
"""Number of columns of a path: its tally, then its outcomes."""


@dataclass(eq=False, slots=True)
class DocumentResults:
    """Results of some documents, in order.

    Attributes:
        ids: Ids of the documents.
        runs: Runs of the documents.
        tallies: Tallies of the entries, shape (documents, 5).
        leaves: Tallies of the leaves, shape (documents, 5).
        qualities: Qualities of the roots, shape (documents,), in [0, 1]; 0 for failed documents.
        failed: Which documents failed, shape (documents,).
        paths: Tallies and outcomes of each wildcard path, each of shape (documents, 12).
        fields: How often objects and their fields are present, each of shape (documents, 3); see `field_counts`.
        steps: Qualities of matched entries and their masses, each of shape (pairs,).
        failures: Documents that could not be compared.
        seen: JSON values from observers, by their names.
        tables: Rows of tables from observers, by their names.
    """

    ids: list[str] = field(default_factory=list)
    runs: list[str | None] = field(default_factory=list)
    tallies: Floats = field(default_factory=lambda: np.empty((0, TALLY_WIDTH)))
    leaves: Floats = field(default_factory=lambda: np.empty((0, TALLY_WIDTH)))
    qualities: Floats = field(default_factory=lambda: np.empty(0))
    failed: Mask = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    paths: dict[str, Floats] = field(default_factory=dict)
    fields: dict[str, Floats] = field(default_factory=dict)
    steps: tuple[Floats, Floats] = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    failures: list[Failure] = field(default_factory=list)
    seen: dict[str, list[Json]] = field(default_factory=dict)
    tables: dict[str, EncodedRows] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, plan: Plan, pairs: Sequence[Pair], levels: Sequence[Level], observers: Observers) -> DocumentResults:
        """Collect the results of pairs that were compared together."""
        size, entries = len(pairs), wildcard(plan.entries)
        failed = np.array([pair.failure is not None for pair in pairs], dtype=np.bool_)
        steps, weights, documents = pair_qualities(levels, entries)
        order = documents.argsort(kind="stable")  # input order, independent of the batch size
        observed = {name: observer(pairs, levels) for name, observer in observers.items()}
        return cls(
            [pair.id for pair in pairs],
            [pair.run for pair in pairs],
            of_nodes(levels, entries, size),
            leaves(levels, size),
            np.where(failed, 0.0, root_qualities(levels, size)),
            failed,
            by_path(levels, size, plan.close),
            field_counts(levels, size),
            (steps[order], weights[order]),
            [],
            {name: values for name, values in observed.items() if not isinstance(values, EncodedRows)},
            {name: rows for name, rows in observed.items() if isinstance(rows, EncodedRows)},
        )

    @classmethod
    def joined(cls, parts: Iterable[DocumentResults]) -> DocumentResults:
        """Concatenate the results of consecutive batches of documents."""
        batches = list(parts)
        if len(batches) < 2:  # noqa: PLR2004
            return batches[0] if batches else cls()
        observed = dict.fromkeys(name for part in batches for name in part.seen)
        tables = dict.fromkeys(name for part in batches for name in part.tables)
        return cls(
            [identity for part in batches for identity in part.ids],
            [run for part in batches for run in part.runs],
            np.concatenate([part.tallies for part in batches]),
            np.concatenate([part.leaves for part in batches]),
            np.concatenate([part.qualities for part in batches]),
            np.concatenate([part.failed for part in batches]),
            _padded([(len(part), part.paths) for part in batches], PATH_WIDTH),
            _padded([(len(part), part.fields) for part in batches], FIELD_WIDTH),
            (np.concatenate([part.steps[0] for part in batches]), np.concatenate([part.steps[1] for part in batches])),
            [failure for part in batches for failure in part.failures],
            {name: [value for part in batches for value in part.seen.get(name, [])] for name in observed},
            {name: _joined_rows([part.tables[name] for part in batches if name in part.tables]) for name in tables},
        )

    def lines(self) -> Iterator[bytes]:
        """Yield one JSON object per document, then one for all documents together, each as a line.

        Of tables, only the name and the number of rows are included.
        """
        tables = {"paths": self.paths, "fields": self.fields}
        by_path: dict[str, list[tuple[str, Any, Any]]] = {
            name: [(path, rows.any(axis=1).tolist(), rows.tolist()) for path, rows in table.items()]
            for name, table in tables.items()
        }
        columns = (self.failed, self.qualities, self.tallies, self.leaves)
        rows = zip(self.ids, self.runs, *(column.tolist() for column in columns), strict=True)
        for at, (identity, run, failed, quality, entries, values) in enumerate(rows):
            yield _line(
                {
                    "id": identity,
                    "run": run,
                    "failed": failed,
                    "quality": quality,
                    "entries": entries,
                    "leaves": values,
                    **{
                        name: {path: found[at] for path, occurs, found in table if occurs[at]}
                        for name, table in by_path.items()
                    },
                }
            )
        steps = {"qualities": self.steps[0].tolist(), "masses": self.steps[1].tolist()}
        failures = [asdict(failure) for failure in self.failures]
        yield _line(
            {
                "steps": steps,
                "failures": failures,
                "seen": self.seen,
                "tables": {name: rows.number for name, rows in self.tables.items()},
            }
        )

    @classmethod
    def read(cls, lines: Iterable[str]) -> DocumentResults:
        """Read results that were written by `lines`, without the rows of their tables.

        Raises ValueError or KeyError if they are damaged.
        """
        *rows, rest = (json.loads(line) for line in lines)
        return cls(
            [row["id"] for row in rows],
            [row["run"] for row in rows],
            _table([row["entries"] for row in rows]),
            _table([row["leaves"] for row in rows]),
            np.array([row["quality"] for row in rows], dtype=np.float64),
            np.array([row["failed"] for row in rows], dtype=np.bool_),
            _by_path([row["paths"] for row in rows], PATH_WIDTH),
            _by_path([row["fields"] for row in rows], FIELD_WIDTH),
            (_floats(rest["steps"]["qualities"]), _floats(rest["steps"]["masses"])),
            [Failure(**failure) for failure in rest["failures"]],
            rest["seen"],
            {name: EncodedRows(b"", number) for name, number in rest["tables"].items()},
        )


def _joined_rows(parts: Sequence[EncodedRows]) -> EncodedRows:
    return EncodedRows(b"".join(rows.text for rows in parts), sum(rows.number for rows in parts))


def _padded(parts: Sequence[tuple[int, Mapping[str, Floats]]], width: int) -> dict[str, Floats]:
    """Join tables by path of consecutive parts, each with its number of documents; missing tables are zeros."""
    paths = dict.fromkeys(path for _, table in parts for path in table)
    return {path: np.concatenate([table.get(path, np.zeros((size, width))) for size, table in parts]) for path in paths}


def _by_path(rows: Sequence[Mapping[str, list[float]]], width: int) -> dict[str, Floats]:
    """Return tables by path of documents, given their rows by path; missing rows are zeros."""
    tables = {path: np.zeros((len(rows), width)) for path in dict.fromkeys(path for row in rows for path in row)}
    for at, row in enumerate(rows):
        for path, numbers in row.items():
            tables[path][at] = numbers
    return tables


def _table(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, TALLY_WIDTH)


def _floats(values: list[float]) -> Floats:
    return np.array(values, dtype=np.float64)


def _line(value: Any) -> bytes:  # noqa: ANN401  (any JSON value)
    try:
        return encode(value) + b"\n"  # 4 times as fast as `json`
    except (ValueError, OverflowError):  # lone surrogates, long integers
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass") + b"\n"


COUNTED: Final = 8
"""Number of documents whose values are counted to choose the size of the first batch."""

NODES_PER_BATCH: Final = 1 << 16
"""Target number of nodes per batch, which determines the number of documents."""


@dataclass(slots=True)
class Worker:
    """Compares work units. The results of a work unit and its batches do not depend on other work units.

    Attributes:
        plan: The compiled schema.
        observers: Collect additional values about documents.
        size: Number of documents in the first batch of a work unit; None to choose it from their number of values.
        nodes: Target number of nodes per batch.
    """

    plan: Plan
    observers: Observers = field(default_factory=dict)
    size: int | None = None
    nodes: int = NODES_PER_BATCH

    def __call__(self, part: Iterable[Pair]) -> DocumentResults:
        """Return the results of a work unit. Raises DataError if a document changed on disk."""
        return DocumentResults.joined(self._outcomes(iter(part)))

    def _outcomes(self, pairs: Iterator[Pair]) -> Iterator[DocumentResults]:
        size = self.size
        if size is None:
            counted = list(islice(pairs, COUNTED))
            values = sum(max(_values(pair.gold, self.nodes), _values(pair.predicted, self.nodes)) for pair in counted)
            size, pairs = max(1, self.nodes * len(counted) // max(1, values)), chain(counted, pairs)
        while chunk := list(islice(pairs, size)):
            records = 1
            for members, levels, lost in compare_pairs(self.plan, chunk):
                records += sum(map(len, levels))
                outcomes = DocumentResults.of(self.plan, members, levels, self.observers)
                outcomes.failures += lost
                release(levels)
                yield outcomes
            size = max(1, self.nodes * len(chunk) // records)


def _values(document: Json, most: int) -> int:
    """Count the values in a document, containers included, up to `most`. Return `most` if it is not JSON."""
    pending, count = [document], 0
    while pending and count < most:
        value = pending.pop()
        count += 1
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif not isinstance(value, (str, int, float, NoneType)) and value is not ABSENT:
            return most
    return count


def compare_pairs(plan: Plan, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Sequence[Level], list[Failure]]]:
    """Compare pairs together, or one by one if any of them cannot be compared or matched.

    Python objects in documents are converted to JSON. Plain JSON is not searched for them, which would cost 2%.

    Yields:
        Pairs, their levels, and failures.
    """
    try:
        try:
            levels = _levels(plan, pairs)
        except NotJsonError:
            pairs = [pair.as_json() for pair in pairs]
            levels = _levels(plan, pairs)
        yield pairs, levels, []
    except FunctionError as error:
        raise (error if error.document is None else _of_document(error, pairs[error.document])) from error.__cause__
    except (DataError, SolverError) as error:
        if not _concerns_document(error):
            raise
        for pair in pairs:
            try:
                yield _compare_alone(plan, pair.as_json())
            except FunctionError as error:
                raise _of_document(error, pair) from error.__cause__


def _concerns_document(error: DataError | SolverError) -> bool:
    """Return whether an error is about one document. Solver errors without a pointer are not."""
    return isinstance(error, DataError) or (error.pointer is not None and not isinstance(error, FunctionError))


def _of_document(error: FunctionError, pair: Pair) -> FunctionError:
    """Return an error of a custom function with the id, the file and the line of its gold document."""
    file, line = pair.origins[0]
    return error.placed(f", in document {pair.key!r}", file=file, line=line)


def _levels(plan: Plan, pairs: Sequence[Pair]) -> Sequence[Level]:
    """Return the levels of pairs. Raises DataError or SolverError if a document cannot be compared."""
    for pair in pairs:
        plan.check_pair(pair.gold, pair.predicted)
    return compare_to_levels(plan, [pair.gold for pair in pairs], [pair.predicted for pair in pairs], ask=True)


def _compare_alone(plan: Plan, pair: Pair) -> tuple[Sequence[Pair], Sequence[Level], list[Failure]]:
    """Compare one pair. A prediction that cannot be compared becomes ABSENT; if gold cannot, the pair is skipped.

    If a list cannot be matched, the failure is that of gold if gold cannot be matched with itself either.
    """
    try:
        return [pair], _levels(plan, [pair]), []
    except (DataError, SolverError) as refused:
        if not _concerns_document(refused):
            raise
        alone = replace(pair, predicted=ABSENT)
        try:
            if isinstance(refused, SolverError):
                _levels(plan, [replace(pair, predicted=pair.gold)])
            levels = _levels(plan, [alone])
        except (DataError, SolverError) as error:
            if not _concerns_document(error):
                raise
            reason, pointer = error.message, error.pointer
            return [], (), [Failure("gold", pair.id, pair.run, *pair.origins[0], pointer=pointer, reason=reason)]
        reason, pointer = refused.message, refused.pointer
        failure = Failure("predicted", pair.id, pair.run, *pair.origins[1], pointer=pointer, reason=reason)
        return [replace(alone, failure=failure)], levels, [failure]
