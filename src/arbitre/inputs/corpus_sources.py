"""Sources of a corpus, including manifests, and the joining of their documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeGuard, TypeVar

from arbitre.errors import DataError, OptionError
from arbitre.inputs.blocks import read_by_workers
from arbitre.inputs.csv_table import WORKBOOK, CsvTable, sheet_note
from arbitre.inputs.data_frames import CONVERT_FRAME, DataFrame, FrameTable
from arbitre.inputs.document_ids import RUN, label
from arbitre.inputs.document_sources import split_pair
from arbitre.inputs.join import join, paired, swapped_names
from arbitre.inputs.open_files import STDIN, expand_globs, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.provenance import GoldProvenance
from arbitre.inputs.reader import CELLS, TABLE, Reader
from arbitre.inputs.records import NO_PREDICTION, Failure, Record, RecordPair
from arbitre.parsing.fast_json import is_json
from arbitre.parsing.json_form import json_form
from arbitre.parsing.strict_json import check_value
from arbitre.storage.output_folder import paths_among
from arbitre.storage.temporary import TemporaryFolder
from arbitre.values import ABSENT, as_tuple, check

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from arbitre.inputs.data_frames import ParquetTable
    from arbitre.inputs.document_index import IndexRow
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.open_files import Workers
    from arbitre.inputs.records import Side
    from arbitre.values import Json


# Manifests: CSV files that list the gold file, the predicted file and the factors of every pair.


class Manifest:
    """A CSV file with the columns id, gold and predicted, and optionally run. All other columns are factors.

    The column names are set by the read options. The gold and predicted columns contain paths relative to the folder
    of the manifest. Each path is a JSON file with one document; the file may be compressed and have any suffix. An
    empty `predicted` cell means that there is no prediction.

    Raises:
        DataError: The file cannot be read or lacks a column.
    """

    def __init__(self, path: str | Path, reading: ReadOptions) -> None:
        self.path = Path(path)
        self._reading = reading
        self._known = (reading.id_key, reading.gold_key, reading.predicted_key)
        self._table = CsvTable(self.path, self._known, "Set the columns with --id-key, --gold-key and --predicted-key.")
        self.factors = tuple(name for name in self._table.columns if name not in {*self._known, RUN})

    def rows(self) -> Iterator[RecordPair]:
        """Yield the pairs in the order of the lines. An invalid document is a Failure. Raises DataError."""
        readers = [Reader.of("gold", self._reading), Reader.of("predicted", self._reading)]
        for line, row in self._table.rows():
            if isinstance(row, str):
                yield self._broken(line, row)
                continue
            identity, *files = (row[name] for name in self._known)
            if not identity:
                yield self._broken(line, "Expected an id, got an empty cell")
                continue
            labels = identity, row.get(RUN) or None
            gold, predicted = (
                self._missing(reader.side, labels, line)
                if not file
                else reader.file(self.path.parent / file, split_name(Path(file))[0], labels)
                for reader, file in zip(readers, files, strict=True)
            )
            yield RecordPair(gold, predicted, tuple(row[name] for name in self.factors))

    def files(self) -> Iterator[Path]:
        """Yield the manifest and the files that it names."""
        yield self.path
        for _, row in self._table.rows():
            if not isinstance(row, str):
                yield from (self.path.parent / row[name] for name in self._known[1:] if row[name])

    def _missing(self, side: Side, labels: tuple[str, str | None], line: int) -> Record | Failure:
        reason = NO_PREDICTION if side == "predicted" else "Expected a file in the gold column, got an empty cell"
        return Failure(side, *labels, str(self.path), line, reason=reason)

    def _broken(self, line: int, reason: str) -> RecordPair:
        return RecordPair(
            Failure("gold", file=str(self.path), line=line, reason=reason), None, ("",) * len(self.factors)
        )


if TYPE_CHECKING:
    Paths: TypeAlias = str | Path | Sequence[str | Path]
    Documents: TypeAlias = Mapping[str, Json] | Sequence[Json | tuple[str | int, Json]]
    """Documents in memory: by id, (id, document) pairs, or records."""

_Read = TypeVar("_Read")


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Sources of a corpus: `gold` and `predicted`, or `pairs`, or a `manifest`.

    `gold` and `predicted` are folders, files, globs, or "-" for standard input (see `Reader.records`), or the
    documents themselves: by id, or a list of records with ids or of (id, document) pairs. Documents in two lists may
    all lack ids: then they are joined by position, and their ids are "0", "1" and so on. `pairs` are sources of records
    that contain both documents, or a data frame with a column for each. An empty list or dictionary is a side without
    documents, unless `pairs` or a `manifest` is given.

    Raises:
        OptionError: None or several of the three are given, or several sources are standard input.
    """

    # from arbitre.options: Sources
    gold: Paths | Documents | None = None
    """Gold documents: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input."""
    predicted: Paths | Documents | None = None
    """Predictions: a folder, a .json, .jsonl, .csv or .parquet file, a glob, or - for standard input."""
    pairs: Paths | DataFrame = ()
    """Records with the keys id, gold and predicted, instead of `gold` and `predicted`."""
    manifest: str | Path | None = None
    """CSV table with the id, the gold file and the predicted file of each document (columns id, gold and predicted),
    instead of separate sources."""
    only: str | int | Collection[str | int] = ()
    """Evaluate only the documents with these ids."""
    # end of the options

    def __post_init__(self) -> None:
        for name in ("gold", "predicted"):
            object.__setattr__(self, name, listed(name, getattr(self, name)))
        others = isinstance(self.pairs, DataFrame) or bool(self.pairs), self.manifest is not None
        sides = [bool(side) or (side is not None and not any(others)) for side in (self.gold, self.predicted)]
        if all(sides) + sum(others) != 1 or any(sides) != all(sides):
            raise OptionError.of("Expected `gold` and `predicted`, or `pairs` alone, or `manifest` alone.")
        if [*paths_in(self.gold), *paths_in(self.predicted), *paths_in(self.pairs)].count(STDIN) > 1:
            raise OptionError.of("Expected at most one source to be standard input (-), got several.")

    def joined(
        self,
        reading: ReadOptions | None = None,
        on_read: Callable[[int], None] = lambda _: None,
        workers: Workers | None = None,
    ) -> JoinedCorpus:
        """Read the documents and return the joined pairs, with the provenance of the gold.

        The provenance is read from the sidecars of `gold`, `pairs` or `manifest`.

        Args:
            reading: Options for reading.
            on_read: Called with the number of records read so far, after each record.
            workers: Parse large JSON lines files.

        Raises:
            DataError: A source cannot be read, or a sidecar is invalid.
        """
        paths = [str(self.manifest)] if self.manifest is not None else [*paths_in(self.gold), *paths_in(self.pairs)]
        provenance = GoldProvenance.read(expand_globs(paths))
        joined = self._joined(reading, on_read, workers)
        notes = (*joined.notes, *self._sheet_notes(reading or ReadOptions()))
        return replace(joined, notes=notes, provenance=provenance)

    def files(self, reading: ReadOptions) -> list[str | Path]:
        """Return the files and folders that are read, also for projections. Raises DataError if a glob matches none."""
        project = [] if reading.project is None else paths_among(reading.project.file)
        if self.manifest is not None:
            return [*Manifest(self.manifest, reading).files(), *project]
        return [*expand_globs([*paths_in(self.gold), *paths_in(self.predicted), *paths_in(self.pairs)]), *project]

    def _sheet_notes(self, reading: ReadOptions) -> Iterator[str]:
        """Yield a note for each workbook of which only the first of several sheets is read."""
        sides = (
            (self.gold, reading.gold_sheet, "--gold-sheet"),
            (self.predicted, reading.predicted_sheet, "--predicted-sheet"),
        )
        for sources, sheet, option in sides:
            for name in expand_globs(paths_in(sources) if sheet is None else []):
                if Path(name).suffix.lower() == WORKBOOK and (
                    note := sheet_note(Path(name), f"Set another with {option}.")
                ):
                    yield note
        if self.manifest is not None and Path(self.manifest).suffix.lower() == WORKBOOK:
            remedy = "Save another sheet as a file of its own."
            yield from filter(None, [sheet_note(Path(self.manifest), remedy)])

    def _joined(
        self, reading: ReadOptions | None, on_read: Callable[[int], None], workers: Workers | None
    ) -> JoinedCorpus:
        reading, numbers = reading or ReadOptions(), count(1)
        only, open_text = reading.ids(as_tuple(self.only)), None
        if reading.lenient and reading.untyped:  # gold decides whether a prediction is a text
            open_text, reading = Reader.of("predicted", reading).open_text, replace(reading, texts=True)

        def counted(records: Iterable[_Read]) -> Iterator[_Read]:
            for record in records:
                on_read(next(numbers))
                yield record

        if self.manifest is not None:
            table = Manifest(self.manifest, reading)
            return paired(counted(table.rows()), factors=table.factors, only=only, open_text=open_text)
        if isinstance(self.pairs, DataFrame):
            return paired(counted(read_pairs(self.pairs, reading)), only=only, open_text=open_text)
        if self.pairs:
            try:
                joined = paired(counted(read_pairs(self.pairs, reading)), only=only, open_text=open_text)
            except DataError as error:
                raise error.located(file=", ".join(paths_in(self.pairs))) from None
            if joined.failures and not len(joined):
                first = joined.failures[0]
                raise DataError.of(
                    f"No record contains both documents: {first.reason}",
                    file=first.file,
                    line=first.line,
                    hint="Set the keys with --gold-key and --predicted-key, or use --gold and --predicted."
                    if first.reason == no_gold(reading.gold_key, reading.predicted_key)
                    else None,
                )
            return joined
        spool = None if workers is None else TemporaryFolder()
        gold, predicted = self._records(reading, workers, spool)
        joined = join(counted(gold), counted(predicted), only=only, spool=spool, open_text=open_text)
        note = swapped_names(paths_in(self.gold), paths_in(self.predicted), "exchange --gold and --predicted")
        return joined if note is None else replace(joined, notes=(*joined.notes, note))

    def _records(
        self, reading: ReadOptions, workers: Workers | None, spool: TemporaryFolder | None
    ) -> list[Iterator[Record | Failure | IndexRow]]:
        """Return the records of both sides. Raises DataError."""
        found: list[Iterator[Record | Failure | IndexRow]] = []
        sides: tuple[Side, Side] = ("gold", "predicted")
        given = taken_from_memory([(side, getattr(self, side)) for side in sides], reading.id_key)
        for side, documents in zip(sides, given, strict=True):
            reader = Reader.of(side, reading)
            if documents is not None:
                found.append(documents.records(reader, side))
            elif workers is None or spool is None:
                found.append(reader.records(getattr(self, side)))
            else:
                found.append(read_by_workers(reader, getattr(self, side), workers, spool.path))
        return found


# Records that contain both documents.


def read_pairs(sources: str | Path | Iterable[str | Path] | DataFrame, reading: ReadOptions) -> Iterator[RecordPair]:
    """Yield records that contain both sides: `{"id": ..., "gold": ..., "predicted": ...}`.

    A data frame has a column for each side.

    Raises:
        DataError: A whole source cannot be read.
    """
    gold, predicted = Reader.of("gold", reading), Reader.of("predicted", reading)
    whole = replace(gold, options=replace(reading, project=None), wrapped=False)
    if isinstance(sources, DataFrame):
        yield from _table_rows(FrameTable(sources), gold, predicted)
        return
    names = list(expand_globs(sources))
    for name in names:
        if split_name(Path(name))[1] in CELLS:
            raise DataError.of(
                "Expected records that contain both documents, got a CSV file",
                file=name,
                hint="For a table of file names, use --manifest. For tables of documents, use --gold and --predicted.",
            )
        if split_name(Path(name))[1] == TABLE:
            from arbitre.inputs.data_frames import ParquetTable  # noqa: PLC0415  (an extra)

            yield from _table_rows(ParquetTable(Path(name)), gold, predicted)
        else:
            items = whole.source(name, alone=len(names) == 1)
            yield from (_row(item, gold, predicted) for item in items)


def _row(item: Record | Failure, gold: Reader, predicted: Reader) -> RecordPair:
    """Split a record that contains both sides."""
    if isinstance(item, Failure):
        return RecordPair(item, None)
    sides: list[Record | Failure | None] = []
    for reader in (gold, predicted):
        if isinstance(item.value, dict) and reader.column in item.value:
            place = item.place and item.place._replace(member=reader.column)
            sides.append(reader.finished(replace(item, value=item.value[reader.column], place=place)))
        else:
            sides.append(None)
    return RecordPair(sides[0] or _no_gold(item, gold, predicted), sides[1] or _no_prediction(item))


def _table_rows(table: ParquetTable | FrameTable, gold: Reader, predicted: Reader) -> Iterator[RecordPair]:
    """Yield the rows of a table that has a column for each side."""
    path = table.path
    for row in table.rows(gold.options.id_key, [gold.column, predicted.column]):
        labels = gold.labels(row.id, row.run, str(path), row.number)
        if isinstance(labels, Failure):
            yield RecordPair(labels, None)
            continue
        item = Record(*labels, None, str(path), row.number)
        sides = [
            reader.cell(text, labels, path, row.number)
            for reader, text in zip((gold, predicted), row.texts, strict=True)
        ]
        yield RecordPair(sides[0] or _no_gold(item, gold, predicted), sides[1] or _no_prediction(item))


def no_gold(gold_key: str, predicted_key: str) -> str:
    """Return the reason of the failure if a record contains no gold document."""
    return f"Expected a record to contain {gold_key!r} and {predicted_key!r}, got no {gold_key!r}"


def _no_gold(item: Record, gold: Reader, predicted: Reader) -> Failure:
    reason = no_gold(gold.column, predicted.column)
    return Failure("gold", item.id, item.run, item.file, item.line, reason=reason)


def _no_prediction(item: Record) -> Failure:
    return Failure("predicted", item.id, item.run, item.file, item.line, reason=NO_PREDICTION)


# Documents in memory, for the sides of a corpus, the annotators and the systems.


def listed(name: str, sources: object) -> Any:  # noqa: ANN401  (paths or documents)
    """Return paths or documents of one side, as a list if they are in another iterable. Raises OptionError."""
    if sources is None or isinstance(sources, (str, Path, Mapping, list, tuple)):
        return sources
    if isinstance(sources, DataFrame):
        raise OptionError.of(
            f"Expected `{name}` to be paths or documents, got a data frame.",
            hint="Pass a data frame with a column for each side as `pairs`."
            if name in {"gold", "predicted"}
            else CONVERT_FRAME,
        )
    if isinstance(sources, Iterable) and not hasattr(type(sources), "__pydantic_serializer__"):  # models are iterable
        return list(sources)
    raise OptionError.of(
        f"Expected `{name}` to be paths, a list of documents or a dictionary of documents by id, got "
        f"{type(sources).__name__}.",
        hint="Put a single document in a list.",
    )


def paths_in(sources: Paths | Documents | DataFrame | None) -> list[str]:
    """Return the paths of one side; none for documents in memory."""
    if sources is None or isinstance(sources, DataFrame) or are_documents(sources):
        return []
    return [str(sources)] if isinstance(sources, (str, Path)) else list(map(str, sources))


def are_documents(sources: Paths | Documents | DataFrame | None) -> TypeGuard[Documents]:
    """Return whether sources are documents in memory. Texts in a list are paths."""
    if isinstance(sources, (list, tuple)):
        return not sources or any(not isinstance(item, (str, Path)) for item in sources)
    return isinstance(sources, Mapping)


class InMemory(NamedTuple):
    """Documents in memory as JSON, each with its id or ABSENT; a DataError for each that is not JSON."""

    documents: list[tuple[Any, Json | DataError]]

    @classmethod
    def of(cls, documents: Documents) -> Self:
        """Convert documents to JSON. Raises DataError if a tuple is not an (id, document) pair."""
        given = documents.items() if isinstance(documents, Mapping) else map(split_pair, documents)
        return cls([(identity, _as_json(document)) for identity, document in given])

    def numbered(self) -> InMemory:
        """Return the documents with their positions as ids."""
        return InMemory([(number, document) for number, (_, document) in enumerate(self.documents)])

    def have_ids(self, key: str) -> bool:
        """Return whether a document has an id, which may be under this key."""
        return any(
            identity is not ABSENT or (isinstance(document, dict) and key in document)
            for identity, document in self.documents
        )

    def records(self, reader: Reader, name: str) -> Iterator[Record | Failure]:
        """Yield the documents as records. If no id was passed for a document, it is read from the document.

        Args:
            reader: Reads the records.
            name: Whose documents these are, for errors.
        """
        file = f"<{name}>"
        for line, (given, value) in enumerate(self.documents, 1):
            identity = None
            try:
                if given is not ABSENT:
                    identity = label(given, (reader.options.id_key,))
                if isinstance(value, DataError):
                    raise value
            except DataError as error:
                yield reader.failure(error.located(file=file, line=line), identity)
                continue
            if identity is None:
                yield reader.record(value, file, line)
            else:
                yield reader.finished(Record(identity, None, value, file, line))


def taken_from_memory(sides: Sequence[tuple[str, Paths | Documents]], id_key: str) -> list[InMemory | None]:
    """Return the documents in memory of each side, joined by position if all are in memory and none has an id.

    Args:
        sides: The name of each side, and its sources. The result is None for paths.
        id_key: Key of the id of a record.

    Raises:
        DataError: A tuple is not an (id, document) pair, or sides without ids do not have the same length.
    """
    found = [InMemory.of(sources) if are_documents(sources) else None for _, sources in sides]
    taken = [side for side in found if side is not None]
    if len(taken) < len(found) or any(side.have_ids(id_key) for side in taken):
        return found
    for (name, _), side in zip(sides, taken, strict=True):
        if len(side.documents) != len(taken[0].documents):
            raise DataError.of(
                f"Expected as many documents without ids in `{name}` as in `{sides[0][0]}`, got {len(side.documents)} "
                f"and {len(taken[0].documents)}",
                hint=f"Give each document its id, under {id_key!r} or as the key of a dictionary.",
            )
    return [side.numbered() for side in taken]


def _as_json(document: Any) -> Json | DataError:  # noqa: ANN401  (any object)
    try:
        value = json_form(document)
        check_value(value)
        if not is_json(value):  # raises an error with the reason
            check(value, "document")
    except DataError as error:
        return error
    return value
