"""Reads the documents of one side (gold or predicted) from every kind of source."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from arbitre.errors import DataError, OptionError
from arbitre.inputs.csv_table import TEXT_TABLES, WORKBOOK, CsvTable, typed_value
from arbitre.inputs.document_ids import RUN, FileNamePattern, label, normalized_id, quote_names, recover_label
from arbitre.inputs.open_files import (
    SIDECAR,
    STDIN,
    STDIN_NAME,
    ZSTD,
    check_is_unicode,
    is_compressed,
    is_dangling,
    open_source,
    read_lines,
    require_decompressor,
    source_names,
    split_name,
    unknown_format,
)
from arbitre.inputs.records import IN_TEXT, ByteRange, Failure, Record, Side
from arbitre.parsing import damaged_json, repaired_json, strict_json
from arbitre.parsing.fast_json import encode
from arbitre.paths import pointer
from arbitre.values import MAX_BYTES, MAX_VALUES, SIDES, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.inputs.options import ReadOptions
    from arbitre.inputs.projection import Expression
    from arbitre.paths import Path as Tokens
    from arbitre.values import Json

LINES: Final = frozenset({".jsonl", ".ndjson"})
TABLE: Final = ".parquet"
DOCUMENT: Final = ".json"
CELLS: Final = TEXT_TABLES | {WORKBOOK}
RAW: Final = frozenset({".txt", ".md"})
"""Suffixes of files that are also read as documents if reading is lenient."""

MAX_HEAD: Final = 1 << 20
"""Size of the part of a damaged line that is searched for its id, in bytes."""

_HEAD: Final = 4096
"""Number of bytes in which the first bracket of a file is searched."""

_BLANK: Final = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of the documents of one side.

    Attributes:
        side: "gold" or "predicted".
        options: How to read.
        names: Pattern for ids in file names.
        wrapped: Whether a record may contain the document under `column`; see `unwrapped`. If not, each record is a
            document.
        max_bytes: Maximum size of the JSON text of a document, in bytes.
        max_values: Maximum number of values of a document.
    """

    side: Side
    options: ReadOptions
    names: FileNamePattern
    wrapped: bool = True
    max_bytes: int = MAX_BYTES
    max_values: int = MAX_VALUES

    @classmethod
    def of(cls, side: Side, options: ReadOptions, *, wrapped: bool = True) -> Self:
        """Create a reader.

        Raises:
            DataError: An extra is not installed.
            OptionError: `id_pattern` is invalid, or `repair_structure` is set without `lenient`.
        """
        if options.repair_structure and not options.lenient:
            raise OptionError.of("`repair_structure` requires `lenient`", hint="Set `lenient`, or leave it out.")
        if options.lenient:
            damaged_json.version()
        return cls(side, options, FileNamePattern.of(options.id_pattern), wrapped)

    @property
    def column(self) -> str:
        """Key or column of the document in a record."""
        return self.options.gold_key if self.side == "gold" else self.options.predicted_key

    @property
    def lenient(self) -> bool:
        """Whether to repair invalid JSON."""
        return self.options.lenient and self.side == "predicted"

    @property
    def expression(self) -> Expression | None:
        """Applied to each document, if any."""
        return getattr(self.options.project, self.side, None)

    def records(self, sources: str | Path | Iterable[str | Path]) -> Iterator[Record | Failure]:
        """Yield the documents, source by source: files by name, lines and items in their order.

        A source is one of:

        * a folder: each `<id>.json` file directly in it is one document. `id_pattern` is searched in the file name
          without `.json`. The id is its group `id`, else its first group, else the whole match. The run is its group
          `run`, if any;
        * `.jsonl`, `.ndjson`: one record per line;
        * `.json` with an array: one record per item;
        * `.json` with any other value: one document. Its id is the value of `id_key`, else the file name;
        * `.parquet`: one record per row, with the document in the column named after the side;
        * `.csv`, `.tsv`: one record per row, with a column for each field;
        * `-`: standard input, as JSON or JSON lines;
        * a glob: all files that match.

        A record has its id (a string or an integer) under `id_key` and optionally its run under `run`; neither is part
        of the value. `.gz` and `.zst` files are decompressed. Lines and rows are read one by one; an array is read into
        memory. An invalid document is yielded as a Failure.

        Args:
            sources: The sources: paths, globs or "-".

        Raises:
            DataError: A whole source cannot be read.
        """
        given = source_names(sources)
        for name, matched in given:
            yield from self.source(name, alone=len(given) == 1, matched=matched)

    def source(self, name: str, *, alone: bool, matched: bool = False) -> Iterator[Record | Failure]:
        """Yield the documents of one source.

        Args:
            name: Path of the source, or "-" for standard input.
            alone: Whether this is the only source. If so, a `.json` file that cannot be read raises DataError;
                otherwise it is a Failure.
            matched: Whether the name matches a glob. If so, a `.json` file is a document as in a folder, unless it is a
                list of records.
        """
        path = Path(name)
        stem, suffix = split_name(path)
        if name == STDIN:
            yield from self.stream()
        elif path.is_dir():
            yield from self.folder(path)
        elif suffix in LINES:
            yield from self.line_file(path, name)
        elif suffix == TABLE:
            yield from self.table(path)
        elif suffix in CELLS:
            yield from self.cells(path)
        elif suffix == DOCUMENT:
            yield from self.json_file(path, name, alone=alone, matched=matched)
        elif self.lenient and suffix in RAW:
            yield self.file(path, stem)
        else:
            raise unknown_format(name)

    def json_file(self, path: Path, name: str, *, alone: bool, matched: bool) -> Iterator[Record | Failure]:
        """Yield the documents of a `.json` file; see `source`."""
        stem = split_name(path)[0]
        if matched and not self.lists_records(path):
            yield self.file(path, stem)
            return
        try:
            value, repair, excess = self.load(path)
            place = None if is_compressed(path) else ByteRange(name)
            yield from self.whole(value, repair, name, stem, place, excess=excess)
        except DataError as error:
            if alone:
                raise
            yield self.failure(error.located(file=name), *self.guessed(stem))

    def folder(self, folder: Path) -> Iterator[Record | Failure]:
        """Yield the documents of a folder, ordered by file name."""
        return (self.document(folder / name) for name in self.document_names(folder))

    def document_names(self, folder: Path) -> tuple[str, ...]:
        """Return the names of the files in a folder that are documents, sorted. Sidecars are not documents.

        A link to a missing file is a document that cannot be read.

        Raises:
            DataError: There are no such files, or the name of one is not Unicode.
        """
        suffixes = {DOCUMENT} | (RAW if self.lenient else set())
        with os.scandir(folder) as entries:
            files = sorted(
                entry.name
                for entry in entries
                if split_name(Path(entry.name))[1] in suffixes
                and not entry.name.endswith(SIDECAR)
                and (entry.is_file() or is_dangling(entry))
            )
        if not files:
            raise DataError.of(
                "Expected a folder of <id>.json files, got none", file=str(folder), hint="Check the name of the folder."
            )
        for name in files:
            check_is_unicode(folder / name)
        return tuple(files)

    def document(self, path: Path) -> Record | Failure:
        """Read a file of a folder."""
        return self.file(path, split_name(path)[0])

    def file(self, path: Path, stem: str, labels: tuple[str, str | None] | None = None) -> Record | Failure:
        """Read a file that contains a single document. Its id and run are `labels`, or taken from the file name."""
        identity, run = labels or (None, None)
        if path.suffix.lower() == ZSTD:
            require_decompressor(path)
        try:
            identity, run = labels or self.names.labels(stem)
            with open_source(path) as file:
                value, repair = self.parse(file.read(self.max_bytes + 1), str(path))
        except DataError as error:
            return self.failure(error.located(file=str(path)), identity, run)
        place = None if is_compressed(path) else ByteRange(str(path))
        record = Record(identity, run, value, str(path), place=place, repair=repair)
        if labels is not None and self.column not in SIDES:  # the name of a column of the manifest
            plain = replace(self.options, gold_key="gold", predicted_key="predicted")
            return replace(self, options=plain).unwrapped(record)
        return self.unwrapped(record)

    def lists_records(self, path: Path) -> bool:
        """Return whether a file contains a list of records."""
        try:
            with open_source(path) as file:
                if not _is_list(file.read(_HEAD)):
                    return False
            value = self.load(path)[0]
        except DataError:
            return False
        return isinstance(value, list) and bool(value) and self.labelled(value[0])

    def line_file(self, path: Path, name: str) -> Iterator[Record | Failure]:
        """Yield one record per line of a file; see `source`."""
        with open_source(path) as lines:
            yield from self.lines(read_lines(lines, self.max_bytes), name, plain=not is_compressed(path))

    def lines(
        self, lines: Iterable[tuple[bytes, int]], file: str, *, plain: bool = False, start: int = 1, offset: int = 0
    ) -> Iterator[Record | Failure]:
        """Yield one record per line. For a `plain` (uncompressed) file, records have a byte range.

        Args:
            lines: The lines and their lengths, see `read_lines`.
            file: Name of their file.
            plain: Whether the file is not compressed.
            start: Number of the first line.
            offset: Position of the first line in the file, in bytes.
        """
        labels = self.options.id_key, RUN
        for number, (raw, length) in enumerate(lines, start):
            if raw.strip():
                try:
                    value, repair = self.parse(raw.rstrip(b"\r\n"), file, number)
                except DataError as error:
                    text = raw[:MAX_HEAD].decode(errors="replace")
                    yield self.failure(error, recover_label(text, self.options.id_key), recover_label(text, RUN))
                else:
                    place = ByteRange(file, offset, length, labels) if plain else None
                    yield self.record(value, file, number, place=place, repair=repair)
            offset += length

    def table_blocks(self, path: Path, size: int) -> Iterator[tuple[range, int]]:
        """Yield blocks of row groups of a Parquet table, each with the number of its first row; see `ParquetTable`."""
        from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

        return ParquetTable(path).blocks(self.options.id_key, [self.column], size)

    def table(self, path: Path, groups: Sequence[int] | None = None, first: int = 1) -> Iterator[Record | Failure]:
        """Yield one record per row of a Parquet table, or of row groups whose first row has this number."""
        from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

        for row in ParquetTable(path, self.options.drop_nulls).rows(self.options.id_key, [self.column], groups, first):
            labels = self.labels(row.id, row.run, str(path), row.number)
            if isinstance(labels, Failure):
                yield labels
            else:
                yield self.cell(row.texts[0], labels, path, row.number) or Failure(
                    self.side,
                    *labels,
                    str(path),
                    row.number,
                    reason=f"Expected a document in {self.column!r}, got null",
                )

    def cells(self, path: Path) -> Iterator[Record | Failure]:
        """Yield one record per row of a CSV file. The columns are the fields; an empty cell is an absent field."""
        key = self.options.id_key
        sheet = self.options.gold_sheet if self.side == "gold" else self.options.predicted_sheet
        table = CsvTable(path, [key], "Set the column of the id with --id-key.", sheet)
        for line, row in table.rows():
            if isinstance(row, str) or not row[key]:
                reason = row if isinstance(row, str) else f"Expected an id in {key!r}, got an empty cell"
                yield self.failure(DataError.of(reason, file=str(path), line=line))
                continue
            if row.get(""):
                raise DataError.of(
                    f"Expected a name for the column {table.columns.index('') + 1}, got none",
                    file=str(path),
                    line=1,
                    hint="Name the column in the first line, or remove it.",
                )
            labels = row[key], row.get(RUN) or None
            try:
                self.check_size("".join(row.values()), str(path), line)
            except DataError as error:
                yield self.failure(error, *labels)
                continue
            value = {
                name: typed_value(text, self.options.field_kinds.get(name, ()), self.options.max_depth)
                for name, text in row.items()
                if text and name not in {key, RUN}
            }
            yield self.unwrapped(Record(*labels, value, str(path), line), cells=True)

    def whole(
        self,
        value: Json,
        repair: str | None,
        file: str,
        stem: str,
        place: ByteRange | None = None,
        *,
        excess: DataError | None = None,
    ) -> Iterator[Record | Failure]:
        """Yield the documents of a JSON value: the value itself, or the records of a list.

        If the text is too large for one document, `excess` states why, and each record is checked on its own.
        """
        records = isinstance(value, list) and (len(value) != 1 or self.labelled(value[0]))
        if excess is not None and not records:
            raise excess
        if not isinstance(value, list):
            yield self.single(value, file, stem, place, repair)
        elif not records:
            yield self.single(value[0], file, stem, None, repair)
        else:
            for position, item in enumerate(value):
                if not self.labelled(item):
                    raise self.unlabelled(item, (position,)).located(file=file)
                record = self.record(item, file, at=(position,), repair=repair)
                if excess is not None and isinstance(record, Record):
                    record = self.sized(record)
                yield record

    def stream(self) -> Iterator[Record | Failure]:
        """Yield the documents of standard input.

        If the first line is a complete record and more lines follow, lines are read one by one. Otherwise the input is
        read as a whole: as one JSON value or, if that fails and at least one line is a record, as JSON lines. Input
        that starts with "[" is never read as JSON lines.
        """
        with open_source(Path(STDIN)) as data:
            head = list(_through_text(data))
            if head and self.opens(head[-1]):
                more = list(_through_text(data))
                if more and more[-1].strip(_BLANK):
                    lines = chain(((line, len(line)) for line in head + more), read_lines(data))
                    yield from self.lines(lines, STDIN_NAME)
                    return
                head += more
            text = b"".join([*head, data.read()])
        reader = replace(self, names=FileNamePattern())
        try:
            value = strict_json.parse(text, file=STDIN_NAME, max_depth=self.options.max_depth)
        except DataError:
            found = tuple(self.lines(read_lines(io.BytesIO(text)), STDIN_NAME))
            if _is_list(text) or not any(isinstance(item, Record) for item in found):
                value, repair, excess = self.parse_whole(text, STDIN_NAME)
                yield from reader.whole(value, repair, STDIN_NAME, "stdin", excess=excess)
            else:
                yield from found
        else:
            yield from reader.whole(value, None, STDIN_NAME, "stdin", excess=self.excess(text, STDIN_NAME))

    def opens(self, line: bytes) -> bool:
        """Return whether a line is a complete record."""
        try:
            return self.labelled(strict_json.parse(line, max_depth=self.options.max_depth))
        except DataError:
            return False

    def record(
        self,
        value: Json,
        file: str,
        line: int | None = None,
        *,
        at: Tokens = (),
        place: ByteRange | None = None,
        repair: str | None = None,
    ) -> Record | Failure:
        """Convert an object with an id to a record. The id and the run are not part of the compared value."""
        if not self.labelled(value):
            return self.failure(self.unlabelled(value, at).located(file=file, line=line))
        key = self.options.id_key
        labels = self.labels(value[key], value.get(RUN), file, line, at)
        if isinstance(labels, Failure):
            return labels
        rest = {name: item for name, item in value.items() if name not in {key, RUN}}
        return self.unwrapped(Record(*labels, rest, file, line, place=place, repair=repair))

    def single(
        self, value: Json, file: str, stem: str, place: ByteRange | None, repair: str | None
    ) -> Record | Failure:
        """Convert the only document of a file to a record. The id stays part of the compared value."""
        key = self.options.id_key
        try:
            own = self.labelled(value)
            identity, run = (label(value[key], (key,)), None) if own else self.names.labels(stem)
        except DataError as error:
            return self.failure(error.located(file=file))
        known = own or self.names.pattern is not None
        return self.unwrapped(Record(identity, run, value, file, named=known, place=place, repair=repair))

    def cell(
        self, text: str | DataError | None, labels: tuple[str, str | None], path: Path, row: int
    ) -> Record | Failure | None:
        """Read the document in a table cell; None if the cell is null. The text may state why there is no document."""
        if text is None:
            return None
        if isinstance(text, DataError):
            return self.failure(text.located(file=str(path), line=row), *labels)
        try:
            value, repair = self.parse(text, str(path), row)
        except DataError as error:
            return self.failure(error, *labels)
        return self.finished(Record(*labels, value, str(path), row, repair=repair))

    def unwrapped(self, record: Record, *, cells: bool = False) -> Record | Failure:
        """Return the record as it will be compared, with the document that it contains under the key of the side.

        A record contains its document under "gold" or "predicted" if it has no other keys than labels and these two,
        and the schema does not declare the key. Under another key, which the user has set, it always does.

        Args:
            record: The record.
            cells: Whether the value consists of the cells of a CSV file, where the document is a JSON text.
        """
        key, value = self.column, record.value
        given = key not in SIDES
        if (
            not self.wrapped
            or not isinstance(value, dict)
            or (not given and (self.expression or key in self.options.field_kinds))
        ):
            return self.finished(record)
        if key in value and (given or not value.keys() - {self.options.id_key, RUN, *SIDES}):
            if cells:
                found = self.cell(value[key], (record.id, record.run), Path(record.file), record.line or 0)
                return found or self.finished(record)
            place = record.place and record.place._replace(member=key)
            return self.finished(replace(record, value=value[key], place=place))
        if given:
            error = DataError.of(f"Expected a record with the key {key!r}, got the keys {quote_names(value)}")
            return self.failure(error.located(file=record.file, line=record.line), record.id, record.run)
        return self.finished(record)

    def finished(self, record: Record) -> Record | Failure:
        """Return the record as it will be compared: apply the expression and, if lenient, read the JSON in texts."""
        if self.options.normalize_ids and (identity := normalized_id(record.id)) != record.id:
            record = replace(record, id=identity, place=None)  # a byte range finds the id in the file
        expression = self.expression
        try:
            if expression is None or not self.options.texts:
                record = self.opened(record)
            else:  # the schema allows texts, but the expression applies to the JSON in the answer
                with suppress(DataError):
                    record = replace(self, options=replace(self.options, texts=False)).opened(record)
            if expression is not None:
                value = expression.apply(record.value)
                strict_json.check_value(value)  # an expression may repeat parts of its document
                record = self.opened(replace(record, value=value, place=None))
        except DataError as error:
            return self.failure(error.located(file=record.file, line=record.line), record.id, record.run)
        return record if record.repair is None else replace(record, place=None)

    def opened(self, record: Record) -> Record:
        """Return the record with the JSON in its text, if reading is lenient. Raises DataError if there is none."""
        while isinstance(record.value, str) and self.lenient and not self.options.texts:
            value, repair = self.parse(record.value, record.file, record.line)
            record = replace(record, value=value, repair=repair or record.repair or IN_TEXT)
        return record

    def open_text(self, record: Record) -> Record | Failure:
        """Return the record with the JSON in its text, or its failure if there is none; see `opened`."""
        try:
            return self.opened(record)
        except DataError as error:
            return self.failure(error.located(file=record.file, line=record.line), record.id, record.run)

    def sized(self, record: Record) -> Record | Failure:
        """Return the record, or its failure if the document is too large."""
        try:
            self.check_size(encode(record.value), record.file, record.line)
        except DataError as error:
            return self.failure(error, record.id, record.run)
        return record

    def load(self, path: Path) -> tuple[Json, str | None, DataError | None]:
        """Read a file of one document or a list of records; see `parse_whole`."""
        with open_source(path) as file:
            text = file.read(self.max_bytes + 1)
            if _is_list(text):
                text += file.read()
        return self.parse_whole(text, str(path))

    def parse_whole(self, text: bytes, file: str) -> tuple[Json, str | None, DataError | None]:
        """Parse the text of one document or of a list of records.

        Returns its value, the kind of repair, and why the text of a list is too large for one document, if it is.
        Raises DataError.
        """
        listed = _is_list(text)
        return *self.parse(text, file, sized=not listed), self.excess(text, file) if listed else None

    def excess(self, text: bytes, file: str) -> DataError | None:
        """Return why a text is too large for one document, if it is."""
        try:
            self.check_size(text, file)
        except DataError as error:
            return error
        return None

    def check_size(self, text: str | bytes, file: str, line: int | None = None) -> None:
        """Raise DataError if the text of a document is too large."""
        strict_json.check_size(text, file=file, line=line, max_bytes=self.max_bytes, max_values=self.max_values)

    def parse(
        self, text: str | bytes, file: str, line: int | None = None, *, sized: bool = True
    ) -> tuple[Json, str | None]:
        """Parse a text, which is refused if it is `sized` and too large.

        Returns its value and the kind of repair, if any. Raises DataError.
        """
        if sized:
            self.check_size(text, file, line)
        if self.lenient:
            return repaired_json.parse(
                text,
                file=file,
                line=line,
                max_depth=self.options.max_depth,
                strictness="structural" if self.options.repair_structure else "lenient",
            )
        return strict_json.parse(text, file=file, line=line, max_depth=self.options.max_depth), None

    def labels(
        self, identity: Json, run: Json, file: str, line: int | None, at: Tokens = ()
    ) -> tuple[str, str | None] | Failure:
        """Return the id and the run of a record as text, or a Failure if either is invalid."""
        found = None
        try:
            found = label(identity, (*at, self.options.id_key))
            return found, None if run is None else label(run, (*at, RUN))
        except DataError as error:
            return self.failure(error.located(file=file, line=line), found)

    def guessed(self, stem: str) -> tuple[str | None, str | None]:
        """Return the id and the run in a file name, or (None, None) if the pattern does not match."""
        try:
            return self.names.labels(stem)
        except DataError:
            return None, None

    def labelled(self, value: Json) -> bool:
        """Return whether a value is an object with an id."""
        return isinstance(value, dict) and self.options.id_key in value

    def unlabelled(self, value: Json, at: Tokens) -> DataError:
        """Return the error for a record without id."""
        found = f"the keys {quote_names(value)}" if isinstance(value, dict) else kind_of(value).json_type
        return DataError.of(
            f"Expected a record to be an object with its id under {self.options.id_key!r}, got {found}",
            pointer=pointer(at),
            hint="Set the key of the id with --id-key, or write one file per document, <id>.json, into a folder.",
        )

    def failure(self, error: DataError, identity: str | None = None, run: str | None = None) -> Failure:
        """Convert an error to a failure."""
        if self.options.normalize_ids and identity is not None:
            identity = normalized_id(identity)
        return Failure(self.side, identity, run, error.file, error.line, error.pointer, reason=error.message)


def _is_list(text: bytes) -> bool:
    return text.lstrip(_BLANK).startswith(b"[")


def _through_text(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines up to and including the first that is not blank."""
    for line in lines:
        yield line
        if line.strip(_BLANK):
            return
