"""Write result files. The same corpus always gives identical bytes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from arbitre.corpus.results import dataframe
from arbitre.corpus.running.evaluate import ExecutionOptions, evaluate
from arbitre.report.documents.entry_rows import EntryLayout
from arbitre.report.tables.match_table import MatchTableObserver
from arbitre.report.text_files import atomic_text_file, cell, compact, csv_writer, json_text, write_frame
from arbitre.schema.validation.validate import find_violations
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Join, Pair
    from arbitre.corpus.reading.records import Failure, Repair
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.schema.loading.references import Subschema
    from arbitre.schema.plan import Plan

EVALUATION: Final = "evaluation.json"
DOCUMENTS: Final = "documents.csv"
PATHS: Final = "paths.csv"
MATCHES: Final = "matches.csv"
FAILURES: Final = "failures.csv"
FAILURE_LINES: Final = "failures.jsonl"
VIOLATIONS: Final = "violations.csv"


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
    pairs: Iterable[Pair] | Join,
    *,
    how: ExecutionOptions | None = None,
    then: Callable[[Evaluation], Evaluation] = lambda found: found,
) -> tuple[Evaluation, tuple[str, ...]]:
    """Evaluate a corpus and write its results to a folder.

    Writes `evaluation.json`, `documents.csv` (one row per document), `paths.csv` (one row per path), `matches.csv` (one
    row per entry) and, if there are failures, `failures.csv` and `failures.jsonl`. Existing files are replaced at the
    end, all or none.

    Args:
        folder: Folder of the results.
        plan: Compiled schema.
        pairs: Pairs to compare.
        how: Executor, observers and other options.
        then: Completes the evaluation before it is written.

    Returns:
        The evaluation and the names of the files.

    Raises:
        DataError: If a file cannot be read or written.
    """
    how, matches = how or ExecutionOptions(), MatchTableObserver(EntryLayout.of(plan), plan.signature.short)
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(atomic_text_file(folder / name))
            for name in (EVALUATION, DOCUMENTS, PATHS, MATCHES)
        }
        csv_writer(files[MATCHES]).writerow([*matches.head, dataframe.SIGNATURE])

        def taken(outcomes: DocumentResults) -> None:
            files[MATCHES].writelines(map(str, outcomes.seen.pop(MATCHES, ())))
            how.on_results(outcomes)

        observers: Observers = {**how.observers, MATCHES: matches}
        evaluation = then(evaluate(plan, pairs, replace(how, observers=observers, on_results=taken)))
        files[EVALUATION].write(json_text(without_folders(evaluation)))
        write_frame(files[DOCUMENTS], dataframe.document_frame(evaluation.document_table, evaluation.signature))
        write_frame(files[PATHS], dataframe.path_frame(evaluation.by_path, evaluation.signature))
        if failures := without_file_folders(evaluation.failures):
            files[FAILURES] = stack.enter_context(atomic_text_file(folder / FAILURES))
            write_rows(files[FAILURES], _FAILURE, failures)
            files[FAILURE_LINES] = stack.enter_context(atomic_text_file(folder / FAILURE_LINES))
            files[FAILURE_LINES].writelines(f"{compact(failure)}\n" for failure in failures)
    for name in {FAILURES, FAILURE_LINES, VIOLATIONS} - files.keys():  # of an earlier evaluation
        (folder / name).unlink(missing_ok=True)
    return evaluation, tuple(files)


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Json]]) -> None:
    """Write one line per row, with these columns."""
    table = csv_writer(file)
    table.writerow(columns)
    table.writerows([cell(row[name]) for name in columns] for row in rows)


@dataclass(frozen=True, slots=True)
class ViolationObserver:
    """Corpus observer that records schema violations of predictions."""

    schema: Subschema

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """Return all violations as JSON."""
        return [
            {"id": pair.id, "run": pair.run, **asdict(violation)}
            for pair in pairs
            if pair.predicted is not ABSENT
            for violation in find_violations(self.schema, pair.predicted)
        ]
