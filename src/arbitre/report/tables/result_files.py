"""Write result files. The same corpus always gives identical bytes."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

import numpy as np

from arbitre.corpus.results import dataframe
from arbitre.corpus.results.archive import RESULTS, write_archive
from arbitre.corpus.running.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.storage.files import atomic_file, unreadable
from arbitre.parsing.csv_rows import csv_reader
from arbitre.parsing.fast_json import compact
from arbitre.report.documents.entry_rows import EntryLayout
from arbitre.report.documents.worst_documents import ALIGNMENTS
from arbitre.report.tables import fault_table
from arbitre.report.tables.match_table import MatchTableObserver
from arbitre.report.text_files import atomic_text_file, json_text
from arbitre.schema.validation.validate import find_violations
from arbitre.tables.csv_text import STANDARD, CsvDialect, cell, csv_writer, read_cells, unescaped, write_frame
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Join, Pair
    from arbitre.corpus.reading.records import Failure, Repair
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.corpus.running.evaluate import Triple
    from arbitre.schema.loading.references import Subschema
    from arbitre.schema.plan import Plan
    from arbitre.tables.arrow import Frame, Values

E = TypeVar("E", bound="Evaluation")

EVALUATION: Final = "evaluation.json"
DOCUMENTS: Final = "documents.csv"
PATHS: Final = "paths.csv"
MATCHES: Final = "matches.csv"
FAILURES: Final = "failures.csv"
FAILURE_LINES: Final = "failures.jsonl"
FAULTS: Final = "faults.csv"
VIOLATIONS: Final = "violations.csv"
REPAIRED: Final = "repaired.csv"
REPORT: Final = "report.html"
REPORT_FILES: Final = (ALIGNMENTS, REPORT)
"""Files of the report of an evaluation."""
FILES: Final = (EVALUATION, DOCUMENTS, PATHS, MATCHES, FAULTS, RESULTS, FAILURES, FAILURE_LINES, REPAIRED, VIOLATIONS)

_FAILURE: Final = ("side", "id", "run", "file", "line", "pointer", "reason")
VIOLATION_COLUMNS: Final = ("id", "run", "pointer", "keyword", "message")


def without_folders(evaluation: Evaluation) -> dict[str, Any]:
    """Convert an evaluation to JSON, with the folders of failed files removed."""
    return evaluation.to_dict() | {"failures": without_file_folders(evaluation.failures)}


def without_file_folders(items: Iterable[Failure | Repair]) -> list[dict[str, Any]]:
    """Convert failures or repairs to JSON without the folders of their files: results name no local folders."""
    return [asdict(item) | {"file": item.file and Path(item.file).name} for item in items]


def evaluate_into(
    folder: Path,
    plan: Plan,
    pairs: Iterable[Pair | Triple] | Join,
    *,
    how: ExecutionOptions | None = None,
    then: Callable[[Evaluation], E] = lambda found: found,  # type: ignore[assignment,return-value]
    dialect: CsvDialect = STANDARD,
) -> tuple[E, tuple[str, ...]]:
    """Evaluate a corpus and write its results to a folder.

    Writes `evaluation.json`, `documents.csv` (one row per document), `paths.csv` (one row per path), `matches.csv` (one
    row per entry), `faults.csv` (one row per fault) if the faults are observed, and, if there are failures,
    `failures.csv` and `failures.jsonl`.

    Args:
        folder: Folder of the results (see `output_folder`).
        plan: Compiled schema.
        pairs: Pairs to compare.
        how: Executor, observers and other options.
        then: Completes the evaluation before it is written.
        dialect: Notation of the CSV files.

    Returns:
        The evaluation and the names of the files.

    Raises:
        DataError: If a file cannot be read or written.
    """
    how, matches = how or ExecutionOptions(), MatchTableObserver(EntryLayout.of(plan), plan.signature.short, dialect)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(atomic_text_file(folder / name))
            for name in (EVALUATION, DOCUMENTS, PATHS, MATCHES, *[FAULTS] * (FAULTS in how.observers))
        }
        csv_writer(files[MATCHES], dialect).writerow(map(cell, matches.columns))
        files[MATCHES].flush()  # the rows are written to its buffer
        if FAULTS in files:
            csv_writer(files[FAULTS], dialect).writerow(fault_table.COLUMNS)

        def taken(outcomes: DocumentResults) -> None:
            files[MATCHES].buffer.write(outcomes.tables.pop(MATCHES, b""))
            notes: Sequence[Any] = outcomes.seen.get(FAULTS, ())
            for note in notes:
                files[FAULTS].write(note["rows"])
            how.on_results(outcomes)

        observers: Observers = {**how.observers, MATCHES: matches}
        evaluation = then(evaluate(plan, pairs, replace(how, observers=observers, on_results=taken)))
        files[EVALUATION].write(json_text(without_folders(evaluation)))
        documents = dataframe.document_frame(evaluation.document_table, evaluation.signature)
        write_frame(files[DOCUMENTS], documents, dialect)
        write_frame(files[PATHS], dataframe.path_frame(evaluation.by_path, evaluation.signature), dialect)
        write_archive(stack.enter_context(atomic_file(folder / RESULTS)), evaluation)
        if failures := without_file_folders(evaluation.failures):
            files[FAILURES] = stack.enter_context(atomic_text_file(folder / FAILURES))
            write_rows(files[FAILURES], _FAILURE, failures, dialect)
            files[FAILURE_LINES] = stack.enter_context(atomic_text_file(folder / FAILURE_LINES))
            files[FAILURE_LINES].writelines(f"{compact(failure)}\n" for failure in failures)
    return evaluation, (*files, RESULTS)


def holds(folder: Path, evaluation: Evaluation) -> bool:
    """Return whether the results in a folder are those of an evaluation."""
    try:
        return (folder / EVALUATION).read_text(encoding="utf-8") == json_text(without_folders(evaluation))
    except (OSError, UnicodeDecodeError):
        return False


def read_table(path: Path) -> Frame:
    """Read `matches.csv` or `faults.csv` as columns: measures and costs are numbers, all else is text.

    Raises:
        DataError: The file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            dialect = CsvDialect.of(file.readline())
            file.seek(0)
            head, *rows = csv_reader(file, dialect.delimiter)
        columns = zip(*rows, strict=True) if rows else ([] for _ in head)
        return {unescaped(name): _read_column(name, cells, dialect) for name, cells in zip(head, columns, strict=True)}
    except (OSError, ValueError, csv.Error) as error:
        raise unreadable(path, error) from error


_NUMBERS: Final = frozenset({"distance", "quality", "cost", "in_source"})


def _read_column(name: str, cells: Sequence[str], dialect: CsvDialect) -> Values:
    if name.rpartition(".")[2] in _NUMBERS:
        return np.array([cell.replace(dialect.decimal, ".") or "nan" for cell in cells], dtype=np.float64)
    return read_cells(cells)


def joined_frames(frames: Sequence[Frame], columns: Iterable[str]) -> Frame:
    """Return consecutive parts of a table with these columns as one."""
    return {name: _joined([frame[name] for frame in frames], name) for name in columns}


def _joined(parts: list[Any], name: str) -> Values:
    if not parts:
        return _read_column(name, (), STANDARD)
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [*chain.from_iterable(parts)]


def write_rows(
    file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Json]], dialect: CsvDialect = STANDARD
) -> None:
    """Write one line per row, with these columns."""
    table = csv_writer(file, dialect)
    table.writerow(columns)
    table.writerows([cell(row[name], dialect) for name in columns] for row in rows)


@dataclass(frozen=True, slots=True)
class ViolationObserver:
    """Corpus observer that records schema violations of predictions."""

    schema: Subschema
    format_assertion: bool = False

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """Return all violations as JSON."""
        return [
            {"id": pair.id, "run": pair.run, **asdict(violation)}
            for pair in pairs
            if pair.predicted is not ABSENT
            for violation in find_violations(self.schema, pair.predicted, format_assertion=self.format_assertion)
        ]
