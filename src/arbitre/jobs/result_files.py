"""The files of an evaluation: `evaluation.json`, its CSV tables, and further tables in other formats.

The same corpus always gives identical bytes.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from arbitre.corpus.archive import RESULTS, without_file_folders, without_folders, write_archive
from arbitre.corpus.documents import SIGNATURE, document_frames, path_frame
from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.evaluation import EVALUATION
from arbitre.diagnosis.corpus_diagnosis import notes_of
from arbitre.diagnosis.evidence import evidence_of, shares_in_source
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.language import Language
from arbitre.parsing.fast_json import compact, json_text
from arbitre.paths import value_at
from arbitre.report.entry_rows import EntryLayout
from arbitre.schema.validate import find_violations
from arbitre.storage.files import atomic_file, atomic_text_file
from arbitre.tables import arrow
from arbitre.tables.csv_text import (
    STANDARD,
    CsvDialect,
    cell,
    csv_text,
    format_cells,
    format_numbers,
    read_cells,
    write_frame,
    write_frames,
)
from arbitre.tables.row_file import FORMS, EncodedRows, Form, RowFile, read_column
from arbitre.tables.table import Table
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.levels import Level
    from arbitre.corpus.evaluate import Triple
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.tables import ExportTable
    from arbitre.corpus.worker import DocumentResults
    from arbitre.diagnosis.faults import FaultResults, FaultRows
    from arbitre.diagnosis.moved_chance import ValueFrequencies
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.records import Pair
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.report.entry_rows import EntryColumns, EntryFields
    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.schema.plan import Plan
    from arbitre.tables.arrow import Frame, Values


E = TypeVar("E", bound="Evaluation")

DOCUMENTS: Final = "documents.csv"
PATHS: Final = "paths.csv"
MATCHES: Final = "matches"
"""Name of the table of entries; its file is CSV or Parquet (see `RowFile`)."""
FAILURES: Final = "failures.csv"
FAILURE_LINES: Final = "failures.jsonl"
FAULTS: Final = "faults"
"""Name of the table of faults; its file is CSV or Parquet."""
VIOLATIONS: Final = "violations.csv"
REPAIRED: Final = "repaired.csv"
ROW_TABLES: Final = (MATCHES, FAULTS)
ROW_FILES: Final = tuple(f"{name}.{form}" for form in FORMS for name in ROW_TABLES)
FILES: Final = (*(EVALUATION, DOCUMENTS, PATHS, *ROW_FILES, RESULTS, FAILURES, FAILURE_LINES, REPAIRED, VIOLATIONS),)

_FAILURE: Final = ("side", "id", "run", "file", "line", "pointer", "reason")
VIOLATION_COLUMNS: Final = ("id", "run", "pointer", "keyword", "message")


def evaluate_into(
    folder: Path,
    plan: Plan,
    pairs: Iterable[Pair | Triple] | JoinedCorpus,
    *,
    how: ExecutionOptions | None = None,
    then: Callable[[Evaluation], E] = lambda found: found,  # type: ignore[assignment,return-value]
    dialect: CsvDialect = STANDARD,
    forms: Mapping[str, Form] | None = None,
    matches: bool = True,
) -> tuple[E, tuple[str, ...]]:
    """Evaluate a corpus and write its results to a folder.

    Writes `evaluation.json`, `documents.csv` (one row per document), `paths.csv` (one row per path), the tables of
    entries and, if they are observed, of faults (see `RowFile`), and, if there are failures, `failures.csv` and
    `failures.jsonl`.

    Args:
        folder: Folder of the results (see `output_folder`).
        plan: Compiled schema.
        pairs: Pairs to compare.
        how: Executor, observers and other options.
        then: Completes the evaluation before it is written.
        dialect: Notation of the CSV files.
        forms: Formats of the tables of entries and of faults, by name; by default, their size decides.
        matches: Whether to write the table of entries.

    Returns:
        The evaluation and the names of the files.

    Raises:
        DataError: If a file cannot be read or written.
    """
    how, forms = how or ExecutionOptions(), forms or {}
    observers: dict[str, Any] = {**how.observers}
    tables: dict[str, Sequence[str]] = {}
    if matches:
        observers[MATCHES] = MatchTableObserver(EntryLayout.of(plan), plan.signature.short, dialect)
        tables[MATCHES] = observers[MATCHES].columns
    if FAULTS in observers:
        tables[FAULTS] = COLUMNS
    with ExitStack() as stack:
        files = {name: stack.enter_context(atomic_text_file(folder / name)) for name in (EVALUATION, DOCUMENTS, PATHS)}
        rows = {
            name: stack.enter_context(RowFile(folder / name, columns, dialect, forms.get(name)))
            for name, columns in tables.items()
        }

        def taken(outcomes: DocumentResults) -> None:
            if matches:
                rows[MATCHES].write(outcomes.tables.pop(MATCHES, EncodedRows(b"", 0)))
            notes: Sequence[Any] = outcomes.seen.get(FAULTS, ())
            for note in notes:
                rows[FAULTS].write(EncodedRows(note["rows"].encode(), note["row_count"]))
            how.on_results(outcomes)

        evaluation = then(evaluate(plan, pairs, replace(how, observers=observers, on_results=taken)))
        plain = without_folders(evaluation)
        files[EVALUATION].write(json_text(plain))
        documents = document_frames(evaluation.document_table, evaluation.signature)
        write_frames(files[DOCUMENTS], documents, dialect)
        write_frame(files[PATHS], path_frame(evaluation.by_path, evaluation.signature), dialect)
        write_archive(stack.enter_context(atomic_file(folder / RESULTS)), evaluation, plain)
        first = [*files]
        if failures := without_file_folders(evaluation.failures):
            files[FAILURES] = stack.enter_context(atomic_text_file(folder / FAILURES))
            write_frame(files[FAILURES], columns_of(failures, _FAILURE), dialect)
            files[FAILURE_LINES] = stack.enter_context(atomic_text_file(folder / FAILURE_LINES))
            files[FAILURE_LINES].writelines(f"{compact(failure)}\n" for failure in failures)
    names = [*first, *(table.name for table in rows.values()), *files, RESULTS]
    return evaluation, tuple(dict.fromkeys(names))


def holds(folder: Path, evaluation: Evaluation) -> bool:
    """Return whether the results in a folder are those of an evaluation."""
    try:
        written = (folder / EVALUATION).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    plain = without_folders(evaluation)
    if written == json_text(plain):
        return True
    return plain.pop("violations", None) is not None and written == json_text(plain)  # of an earlier version


def joined_frames(frames: Sequence[Frame], columns: Iterable[str]) -> Frame:
    """Return consecutive parts of a table with these columns as one."""
    return {name: _joined([frame[name] for frame in frames], name) for name in columns}


def _joined(parts: list[Any], name: str) -> Values:
    if not parts:
        return read_column(name, ())
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [*chain.from_iterable(parts)]


def columns_of(rows: Sequence[Mapping[str, Json]], names: Sequence[str]) -> Frame:
    """Return these columns of rows."""
    return {name: [row[name] for row in rows] for name in names}


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


@dataclass(frozen=True, slots=True)
class PointerLabels:
    """Observer that returns the value at a pointer in each gold document, as its cluster label."""

    pointer: str

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """Return a label per document. Raises DataError if a document has no value at the pointer."""
        return [self._label(pair) for pair in pairs]

    def _label(self, pair: Pair) -> str:
        try:
            value: Json = value_at(pair.gold, self.pointer)
        except (LookupError, TypeError, ValueError):
            raise DataError.of(
                f"Gold document {pair.key!r} has no value to cluster by",
                pointer=self.pointer,
                hint="Choose a --cluster-by pointer that exists in all gold documents.",
            ) from None
        return value if isinstance(value, str) else compact(value)


# The table of faults.

COLUMNS: Final = (
    *("id", "run", "entry", "gold_pointer", "predicted_pointer"),
    *("path", "fault", "gold", "predicted", "cost", "in_source", "signature"),
)


@dataclass(frozen=True, slots=True)
class FaultTableObserver:
    """Corpus observer that records the faults: their rows as CSV, and sums for the diagnosis of the corpus.

    Attributes:
        plan: The compiled schema.
        dialect: Notation of the table.
        table: Whether to record the rows.
        texts: The texts that were given to the model, if they are to be searched.
        usual: How often the gold of the corpus has each value.
        halvings: Which documents are searched for values of their neighbours (see `is_searched`).
    """

    plan: Plan
    dialect: CsvDialect = STANDARD
    table: bool = True
    texts: SourceTexts | None = None
    usual: ValueFrequencies | None = None
    halvings: int = 0

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return one note for all documents: the rows as one text, and sums."""
        results, shares, sources = self._found(pairs, levels)
        note: dict[str, Json] = notes_of(pairs, results) | evidence_of(pairs, results, self.halvings) | sources
        if self.table:
            note["rows"] = csv_text(self._cells(pairs, results.rows, shares), self.dialect)
            note["row_count"] = len(results.rows)
        return [note]

    def frames(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Frame]:
        """Return the rows of the documents as columns by name, as `read_rows` reads them."""
        results, shares, _ = self._found(pairs, levels)
        rows = results.rows
        numbers: dict[str, Sequence[float | None]] = {"cost": rows.costs, "in_source": shares}
        texts = zip(COLUMNS, self._cells(pairs, rows, shares), strict=True)
        return [{name: _numbers(numbers[name]) if name in numbers else read_cells(cells) for name, cells in texts}]

    def _found(
        self, pairs: Sequence[Pair], levels: Sequence[Level]
    ) -> tuple[FaultResults, list[float | None], dict[str, Json]]:
        """Return the faults, the shares of their values in the source texts, and the sums of these shares."""
        from arbitre.diagnosis.faults import find_faults  # noqa: PLC0415  (only `--diagnose` needs it)

        gold, predicted = [pair.gold for pair in pairs], [pair.predicted for pair in pairs]
        usual = None if self.usual is None else self.usual.for_documents([pair.id for pair in pairs])
        results = find_faults(self.plan, gold, predicted, levels, usual)
        return (results, *shares_in_source(pairs, results.rows, self.texts))

    def _cells(self, pairs: Sequence[Pair], rows: FaultRows, shares: Sequence[float | None]) -> list[Sequence[str]]:
        """Return the columns of the documents as cells."""
        dialect, count = self.dialect, len(rows)
        ids, runs = [cell(pair.id, dialect) for pair in pairs], [cell(pair.run, dialect) for pair in pairs]
        places = (rows.entries, rows.gold_pointers, rows.predicted_pointers, rows.paths)
        return [
            [ids[document] for document in rows.documents],
            [runs[document] for document in rows.documents],
            *(format_cells(texts, dialect) for texts in places),
            rows.faults,
            *(format_cells(values, dialect) for values in (rows.gold, rows.predicted)),
            format_numbers(np.array(rows.costs, dtype=np.float64), dialect),
            format_cells(shares, dialect),
            [self.plan.signature.short] * count,
        ]


def _numbers(values: Sequence[float | None]) -> Floats:
    """Return numbers as an array, with NaN for None."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


# The table of entries. Written by columns instead of entry by entry, it takes a tenth of the time
# (10,000 documents of 20 entries).

VALUE: Final = "value"
"""Column for entries that are not objects."""

MASS: Final = "mass"
"""Column of the mass of an entry: 1, unless lists are matched by transport."""

PARTS: Final = ("gold", "predicted", "distance", "quality")
"""Columns of every field."""


@dataclass(frozen=True, slots=True)
class MatchTableObserver:
    """Corpus observer that returns the rows of the table of entries as encoded CSV.

    Attributes:
        entries: Location and structure of the entries.
        signature: Last cell of every row.
        dialect: Notation of the table.
    """

    entries: EntryLayout
    signature: str
    dialect: CsvDialect = STANDARD

    @property
    def columns(self) -> list[str]:
        """Column names."""
        fields = [f"{name}.{part}" for name in self._fields for part in self._parts(name)]
        first, last = ("id", "run", "gold_index", "predicted_index", "status"), ("undeclared", "distance", "quality")
        return [*first, MASS, *fields, *last, SIGNATURE]

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> EncodedRows:
        """Return the rows of the documents. Raises UnicodeEncodeError if a text has a lone surrogate."""
        columns = self._cells(pairs, levels)
        cells = [
            format_numbers(column, self.dialect, masses=name == MASS) if isinstance(column, np.ndarray) else column
            for name, column in zip(self.columns, columns, strict=True)
        ]
        return EncodedRows(csv_text(cells, self.dialect).encode(), len(cells[0]))

    def frames(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Frame]:
        """Return the rows of the documents as columns by name, as `read_rows` reads them."""
        columns = zip(self.columns, self._cells(pairs, levels), strict=True)
        return [{name: column if isinstance(column, np.ndarray) else read_cells(column) for name, column in columns}]

    def _cells(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Sequence[str] | Floats]:
        """Return the columns of the documents: numbers, or cells of text."""
        entries = self.entries.columns(levels)
        documents, count = entries.documents.tolist(), len(entries.documents)
        keys = ([pair.id for pair in pairs], [pair.run for pair in pairs])
        labels = [format_cells(texts, self.dialect) for texts in keys]
        columns: list[Sequence[str] | Floats] = [[texts[document] for document in documents] for texts in labels]
        columns += [*(format_cells(texts, self.dialect) for texts in entries.indices), entries.statuses, entries.masses]
        for name in self._fields:
            columns += _filled(self._selected(entries, name), self._parts(name), count, self.dialect)
        quality = entries.whole.quality
        return [*columns, self._undeclared(entries), 1.0 - quality, quality, [self.signature] * count]

    @property
    def _fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.entries.names, *[VALUE] * self.entries.scalar)))

    def _parts(self, name: str) -> tuple[str, ...]:
        """Return the columns of a field, with the form that was used if gold may accept several."""
        listed = name in self.entries.names and name in self.entries.forms
        whole = name == VALUE and name not in self.entries.names and "" in self.entries.forms
        return (*PARTS, "reading") if listed or whole else PARTS

    def _selected(self, entries: EntryColumns, name: str) -> Iterator[tuple[EntryFields, Indices]]:
        """Yield the cells of a column: fields and which of them; an entry that is no object is in `value`."""
        if name not in self.entries.names:
            sides = zip(entries.whole.gold, entries.whole.predicted, strict=True)
            plain = [any(side is not ABSENT and not isinstance(side, dict) for side in pair) for pair in sides]
            yield entries.whole, np.flatnonzero(plain)
            return
        for part in entries.parts:
            yield part, np.flatnonzero([other == name for other in part.names])

    def _undeclared(self, entries: EntryColumns) -> list[str]:
        """Return the values without a column, by side."""
        names = frozenset(self.entries.names)
        more: dict[int, dict[str, tuple[Json, Json]]] = {}
        for part in entries.parts:
            if not names.issuperset(part.names):
                for at, name, *pair in zip(part.entries.tolist(), part.names, part.gold, part.predicted, strict=True):
                    if name not in names:
                        more.setdefault(at, {})[name] = (pair[0], pair[1])
        texts = [""] * len(entries.documents)
        for at, wholes in enumerate(zip(entries.whole.gold, entries.whole.predicted, strict=True)):
            if at in more or not all(side is ABSENT or isinstance(side, dict) for side in wholes):
                texts[at] = cell(self._others(wholes, more.get(at, {})))
        return texts

    def _others(self, wholes: tuple[Json, Json], more: Mapping[str, tuple[Json, Json]]) -> Json:
        found: dict[str, Json] = {}
        for at, (side, whole) in enumerate(zip(("gold", "predicted"), wholes, strict=True)):
            if isinstance(whole, dict):
                others = {name: pair[at] for name, pair in more.items() if pair[at] is not ABSENT}
                found |= {side: others} if others else {}
            elif whole is not ABSENT and not self.entries.scalar:
                found[side] = whole
        return found or None


def _filled(
    selected: Iterable[tuple[EntryFields, Indices]], parts: Sequence[str], count: int, dialect: CsvDialect
) -> list[Sequence[str] | Floats]:
    """Return the columns of a field, with "" or NaN where an entry does not have it."""
    texts = [np.full(count, "", dtype=np.object_) for _ in parts[2:]]
    quality = np.full(count, np.nan)
    for fields, chosen in selected:
        at = fields.entries[chosen]
        quality[at] = fields.quality[chosen]
        sides = (fields.gold, fields.predicted, fields.forms)  # most fields have no forms
        for column, values in zip(texts, sides, strict=False):
            column[at] = format_cells(_chosen(values, chosen), dialect)
    gold, predicted, *forms = (column.tolist() for column in texts)
    return [gold, predicted, 1.0 - quality, quality, *forms]


def _chosen(values: list[Json], chosen: Indices) -> list[Json]:
    return values if len(chosen) == len(values) else [values[place] for place in chosen.tolist()]


# Further tables. A name such as `paths.tex` selects the rows and the format.

CSV: Final = "csv"
PARQUET: Final = "parquet"
_TYPESET: Final = {"md": Table.markdown, "tex": Table.latex}
EXPORT_FORMS: Final = (*_TYPESET, CSV, PARQUET)


class Export(NamedTuple):
    """A table file: its rows, and its format (the file extension)."""

    rows: str
    form: str

    @property
    def name(self) -> str:
        """File name."""
        return f"{self.rows}.{self.form}"

    @property
    def by_row(self) -> bool:
        """Whether this is the format of a table that is written during the evaluation."""
        return self.rows in ROW_TABLES and self.form in FORMS


def parse_exports(names: Iterable[str] | None, rows: Collection[str], out: Path | None = Path()) -> tuple[Export, ...]:
    """Parse file names, without duplicates.

    Args:
        names: The file names.
        rows: The rows that a table may have.
        out: Folder of the tables.

    Raises:
        OptionError: There are names, but no folder, or the rows or the format of a table are unknown.
    """
    if names and out is None:
        raise OptionError.of("`table` requires `out`: the folder for the tables.")
    found = []
    for name in dict.fromkeys(names or ()):
        stem, _, form = name.rpartition(".")
        if stem not in rows or form not in EXPORT_FORMS:
            similar = "" if stem in rows else f"{did_you_mean(stem or name, rows)} "
            raise OptionError.of(
                f"Expected the name of a table, got {name!r}", hint=f"{similar}Extensions: .{', .'.join(EXPORT_FORMS)}."
            )
        if stem == MATCHES and form not in FORMS:
            raise OptionError.of(f"Expected matches.csv or matches.parquet, got {name!r}")
        if form == PARQUET:
            arrow.import_pyarrow(Path(name))
        found.append(Export(stem, form))
    return tuple(found)


def write_exports(
    folder: Path,
    exports: Iterable[Export],
    sheets: Mapping[str, ExportTable],
    dialect: CsvDialect = STANDARD,
    lang: Language = Language.EN,
) -> tuple[str, ...]:
    """Write files atomically and return their names. Raises DataError if one cannot be written.

    `lang` is the language of Markdown and LaTeX.
    """
    names = []
    for one in exports:
        sheet, path = sheets[one.rows], folder / one.name
        if one.form == PARQUET:
            write_parquet(path, arrow.to_arrow_table(sheet.frame()))
        else:
            with atomic_text_file(path) as file:
                if one.form == CSV:
                    write_frame(file, sheet.frame(), dialect)
                else:
                    file.write(_TYPESET[one.form](sheet.table(), lang=lang))
        names.append(one.name)
    return tuple(names)


def write_parquet(path: Path, table: Any) -> None:  # noqa: ANN401
    """Write a `pyarrow.Table` to a Parquet file, atomically. Raises DataError if the file cannot be written."""
    pa = arrow.import_pyarrow(path)
    with atomic_file(path) as part:
        pa.parquet.write_table(table, part)
