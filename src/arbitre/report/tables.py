"""The files that results are kept in: the same corpus gives the same bytes, wherever and whenever it is evaluated."""

from __future__ import annotations

import csv
import json
import math
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

import numpy as np

from arbitre.corpus import frames
from arbitre.corpus.evaluate import Running, evaluate
from arbitre.corpus.files import atomic_file
from arbitre.report.entries import Cell, Entries, Entry
from arbitre.schema.validate import violations
from arbitre.tally import COUNTS
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from arbitre.comparison.levels import Level
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.frames import Frame
    from arbitre.corpus.join import Join, Pair
    from arbitre.corpus.outcomes import Observers, Outcomes
    from arbitre.corpus.read import Failure
    from arbitre.schema.load import Located
    from arbitre.schema.nodes import Plan

EVALUATION: Final = "evaluation.json"
DOCUMENTS: Final = "documents.csv"
PATHS: Final = "paths.csv"
MATCHES: Final = "matches.csv"
FAILURES: Final = "failures.csv"
FAILURE_LINES: Final = "failures.jsonl"
VIOLATIONS: Final = "violations.csv"

AT_ONCE: Final = 4096
"""So many rows of a frame are in memory as texts."""

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Spreadsheets may take text that begins so for a formula; the last four are full-width signs."""
_FAILURE: Final = ("side", "id", "run", "file", "line", "pointer", "reason")
_VIOLATION: Final = ("id", "run", "pointer", "keyword", "message")


@contextmanager
def fresh(path: Path) -> Iterator[TextIO]:
    """A text file that takes the place of `path` once it is whole; nothing of it stays where the block raises.

    Raises DataError where it cannot be written.
    """
    with atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


class _Lines(NamedTuple):
    r"""A file whose lines end with "\n", for a writer that ends them with "\r\n": some quote no other line breaks."""

    file: TextIO

    def write(self, line: str) -> int:
        return self.file.write(line.removesuffix("\r\n") + "\n")


def csv_writer(file: TextIO) -> Any:  # noqa: ANN401  (`csv` has no public type for it)
    r"""What writes rows of CSV; every cell is read back as it was, with any line break in it.

    >>> import io
    >>> file = io.StringIO()
    >>> _ = csv_writer(file).writerow(["a\rb", "c"])
    >>> file.getvalue()
    '"a\rb",c\n'
    """
    return csv.writer(_Lines(file))


def json_text(value: Json) -> str:
    r"""A JSON document as it is written and printed, ending in a line break.

    >>> json_text({"page": "XII, é"})
    '{\n  "page": "XII, é"\n}\n'
    """
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def cell(value: Json) -> str:
    """A value in one cell: text as it is, nothing where there is none, all else as compact JSON.

    Text that a spreadsheet would run as a formula is preceded by an apostrophe.

    >>> [cell(value) for value in ("Ada", None, True, 0.5, {"pages": [1, 2]}, "=1+1")]
    ['Ada', '', 'true', '0.5', '{"pages":[1,2]}', "'=1+1"]
    """
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None or value is ABSENT else compact(value)


def compact(value: Json) -> str:
    """A value as JSON without blanks."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):  # most cells: encoders take their time
        return repr(value)
    return _COMPACT.encode(value)


def portable(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as plain JSON, its failures naming files without their folders."""
    return evaluation.to_dict() | {"failures": [asdict(one) for one in _unplaced(evaluation.failures)]}


def _unplaced(failures: Iterable[Failure]) -> list[Failure]:
    """Failures that name files without their folders: results do not tell where they were made."""
    return [replace(one, file=one.file and Path(one.file).name) for one in failures]


def evaluate_into(
    folder: Path,
    plan: Plan,
    pairs: Iterable[Pair] | Join,
    *,
    how: Running | None = None,
    then: Callable[[Evaluation], Evaluation] = lambda found: found,
) -> tuple[Evaluation, tuple[str, ...]]:
    """Evaluate a corpus, leaving its results in a folder; the evaluation, and the names of the files.

    `evaluation.json`; `documents.csv`, a row a document; `paths.csv`, a row a path; `matches.csv`, a row for every
    entry, written as the documents go by; `failures.csv` and `failures.jsonl` where there are any. Files of these
    names are replaced, all at the end: nothing is where an observer, or reading, raises. `how` says who compares, and
    what else is noted; `then` completes the evaluation before it is written. Raises DataError.
    """
    how, matches = how or Running(), Matches(Entries.of(plan))
    with ExitStack() as stack:
        files = {name: stack.enter_context(fresh(folder / name)) for name in (EVALUATION, DOCUMENTS, PATHS, MATCHES)}
        rows, signature = csv_writer(files[MATCHES]), plan.signature.short
        rows.writerow([*matches.head, frames.SIGNATURE])

        def taken(outcomes: Outcomes) -> None:
            rows.writerows([*row, signature] for row in outcomes.seen.pop(MATCHES, ()))
            how.taken(outcomes)

        observers: Observers = {**how.observers, MATCHES: matches}
        evaluation = then(evaluate(plan, pairs, replace(how, observers=observers, taken=taken)))
        files[EVALUATION].write(json_text(portable(evaluation)))
        write_frame(files[DOCUMENTS], frames.documents(evaluation))
        write_frame(files[PATHS], frames.paths(evaluation))
        if failures := _unplaced(evaluation.failures):
            files[FAILURES] = stack.enter_context(fresh(folder / FAILURES))
            write_failures(files[FAILURES], failures)
            files[FAILURE_LINES] = stack.enter_context(fresh(folder / FAILURE_LINES))
            files[FAILURE_LINES].writelines(f"{compact(asdict(one))}\n" for one in failures)
    for name in {FAILURES, FAILURE_LINES, VIOLATIONS} - files.keys():  # of an earlier evaluation
        (folder / name).unlink(missing_ok=True)
    return evaluation, tuple(files)


def write_frame(file: TextIO, frame: Frame) -> None:
    """Columns as CSV: numbers as short as they read back exactly, nothing where there is none."""
    rows = csv_writer(file)
    rows.writerow(map(cell, frame))
    length = len(next(iter(frame.values())))
    for begin in range(0, length, AT_ONCE):
        rows.writerows(zip(*(_cells(name, part[begin : begin + AT_ONCE]) for name, part in frame.items()), strict=True))


def write_failures(file: TextIO, failures: Iterable[Failure]) -> None:
    """One row a failure: what failed, where, and why."""
    rows = csv_writer(file)
    rows.writerow(_FAILURE)
    rows.writerows([cell(getattr(failure, name)) for name in _FAILURE] for failure in failures)


def write_violations(file: TextIO, violations: Iterable[Mapping[str, Json]]) -> None:
    """One row for everything that a prediction violates of the schema, as `Violating` notes it."""
    rows = csv_writer(file)
    rows.writerow(_VIOLATION)
    rows.writerows([cell(row[name]) for name in _VIOLATION] for row in violations)


@dataclass(frozen=True, slots=True)
class Violating:
    """Notes what predictions violate of the schema: an observer of `arbitre.corpus`."""

    schema: Located

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """Everything that is violated, as plain JSON."""
        return [
            {"id": pair.id, "run": pair.run, "pointer": one.pointer, "keyword": one.keyword, "message": one.message}
            for pair in pairs
            if pair.predicted is not ABSENT
            for one in violations(self.schema, pair.predicted)
        ]


def _cells(name: str, values: Sequence[Json] | npt.NDArray[Any]) -> Iterator[str]:
    """A part of a column; masses that are whole are written as counts."""
    for value in values.tolist() if isinstance(values, np.ndarray) else values:
        if not isinstance(value, float):
            yield cell(value)
        elif math.isnan(value):
            yield ""
        else:
            yield cell(int(value) if name in COUNTS and value.is_integer() else value)


@dataclass(frozen=True, slots=True)
class Matches:
    """The table of entries, field by field: an observer of `arbitre.corpus` that notes its rows."""

    entries: Entries

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        parts = ("gold", "predicted", "distance", "quality")
        fields = [cell(f"{name}.{part}") for name in self._columns for part in parts]
        return ["id", "run", "gold_index", "predicted_index", "status", *fields, "undeclared", "distance", "quality"]

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """A row for every entry of documents compared together."""
        rows: list[Json] = []
        columns = self._columns
        for entry in self.entries.rows(pairs, levels):
            indices = (entry.pair.id, entry.pair.run, entry.gold_index, entry.predicted_index, entry.status)
            fields = [text for name in columns for text in _four(self._cell(entry, name))]
            rows.append([*map(cell, indices), *fields, cell(self._undeclared(entry)), *_four(entry.whole)[2:]])
        return rows

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.entries.names, *[VALUE] * self.entries.scalar)))

    def _cell(self, entry: Entry, name: str) -> Cell | None:
        """A column's cell; an entry that is no object stands under `value` as a whole."""
        if name in self.entries.names:
            return entry.fields.get(name)
        sides = (entry.whole.gold, entry.whole.predicted)
        return entry.whole if any(side is not ABSENT and not isinstance(side, dict) for side in sides) else None

    def _undeclared(self, entry: Entry) -> Json:
        """By side, what no column holds."""
        found: dict[str, Json] = {}
        more = {name: one for name, one in entry.fields.items() if name not in self.entries.names}
        for side in ("gold", "predicted"):
            whole = getattr(entry.whole, side)
            if isinstance(whole, dict):
                others = {name: getattr(one, side) for name, one in more.items() if name in whole}
                found |= {side: others} if others else {}
            elif whole is not ABSENT and not self.entries.scalar:
                found[side] = whole
        return found or None


VALUE: Final = "value"
"""The column of entries that are no objects."""


def _four(found: Cell | None) -> list[str]:
    if found is None:
        return [""] * 4
    return [cell(found.gold), cell(found.predicted), cell(1.0 - found.quality), cell(found.quality)]
