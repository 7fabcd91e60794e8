"""Files become records: one document each, under the id that joins gold and predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.corpus.reading import repaired_json, strict_json
from arbitre.corpus.reading.document_ids import MAX_NAMES, FileNamePattern, quote_names
from arbitre.corpus.reading.reader import TABLE, Reader
from arbitre.corpus.reading.records import Failure, Record, Side
from arbitre.corpus.reading.sources import STDIN, expand_globs, split_name
from arbitre.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.reading.projection import Projection
    from arbitre.schema import Plan

__all__ = ["MAX_NAMES", "STDIN", "Failure", "ReadOptions", "Record", "RecordPair", "Side", "quote_names", "records"]


NO_PREDICTION: Final = "no prediction"


class RecordPair(NamedTuple):
    """Both sides of one pair, as one record of a source holds or names them; no `predicted` for a record that failed.

    `factors` are the other columns of a manifest.
    """

    gold: Record | Failure
    predicted: Record | Failure | None
    factors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How documents are read.

    `id_key` names the key (or Parquet column) with the id of a record, `gold_key` and `predicted_key` those with
    either side where one record holds both, and the columns of a Parquet table; `id_pattern` finds the id in the name
    of a file. `lenient` reads predictions that are not quite JSON; `projection` builds what is compared.
    """

    id_key: str = "id"
    id_pattern: str | None = None
    max_depth: int = strict_json.MAX_DEPTH
    gold_key: str = "gold"
    predicted_key: str = "predicted"
    lenient: bool = False
    projection: Projection | None = None

    def records(self, sources: str | Path | Iterable[str | Path], side: Side) -> Iterator[Record | Failure]:
        """The documents of one side, source after source; see the function `records`. Raises DataError."""
        reader, names = self.reader(side), list(expand_globs(sources))
        for name in names:
            yield from reader.source(name, alone=len(names) == 1)

    def rows(self, sources: str | Path | Iterable[str | Path]) -> Iterator[RecordPair]:
        """The records of sources that hold both sides: `{"id": ..., "gold": ..., "predicted": ...}`.

        Raises DataError where a source as a whole cannot be read.
        """
        whole = replace(self, lenient=False, projection=None).reader("gold")
        gold, predicted = self.reader("gold"), self.reader("predicted")
        names = list(expand_globs(sources))
        for name in names:
            if split_name(Path(name))[1] == TABLE:
                yield from _table_rows(Path(name), gold, predicted)
            else:
                items = whole.source(name, alone=len(names) == 1)
                yield from (_row(item, gold, predicted) for item in items)

    def reader(self, side: Side) -> Reader:
        """The reader of one side. Raises DataError for an `id_pattern` that is none or a missing extra."""
        if self.lenient:
            repaired_json.version()
        return Reader(
            side,
            self.id_key,
            column=self.gold_key if side == "gold" else self.predicted_key,
            names=FileNamePattern.of(self.id_pattern),
            max_depth=self.max_depth,
            expression=getattr(self.projection, side, None),
            lenient=self.lenient and side == "predicted",
        )

    def signed(self, plan: Plan) -> Plan:
        """The plan whose signature says how documents were read too, as far as it moves numbers."""
        entries = dict(plan.signature.entries)
        if self.lenient:
            entries["lenient"] = f"json-repair {repaired_json.version()}"
        if self.projection is not None:
            entries |= self.projection.signature
        return replace(plan, signature=Signature.of(entries, plan.signature.version))


def records(
    source: str | Path,
    side: Side,
    *,
    id_key: str = "id",
    id_pattern: str | None = None,
    max_depth: int = strict_json.MAX_DEPTH,
) -> Iterator[Record | Failure]:
    """The documents of a source, one by one, in a stable order: files by name, lines and items as they stand.

    * a folder: every `<id>.json` directly in it, each a document as it is; `id_pattern` (a regular expression, searched
      in the file name without `.json`) takes the id from a longer name: its group `id`, else its first group, else
      all of it; the run is its group `run`, else the whole name where that is not the id;
    * `.jsonl`, `.ndjson`: a record a line; `.json` with an array: a record an item. The key `id_key` (a text or an
      integer) holds the id, `run` the run where there is one; neither is part of the value;
    * `.json` with anything else: one document as it is, its id under `id_key`, else from the file name;
    * `.parquet`: a record a row, the document in the column named like the side;
    * `-`: standard input, JSON or JSON lines; a glob: the files it finds. `.gz` and `.zst` are unpacked.

    Lines and rows are read one by one; an array is held in memory. What is wrong with one document is a Failure.
    Raises DataError where the source as a whole cannot be read.
    """
    yield from ReadOptions(id_key, id_pattern, max_depth).records(source, side)


def _row(item: Record | Failure, gold: Reader, predicted: Reader) -> RecordPair:
    """A record that holds both sides, taken apart."""
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


def _table_rows(path: Path, gold: Reader, predicted: Reader) -> Iterator[RecordPair]:
    """The rows of a Parquet table with a column for either side."""
    from arbitre.corpus.reading.parquet import ParquetTable  # noqa: PLC0415  (an extra)

    for row in ParquetTable(path).rows(gold.id_key, [gold.column, predicted.column]):
        labels = gold.labels(row.id, row.run, str(path), row.number)
        if isinstance(labels, Failure):
            yield RecordPair(labels, None)
            continue
        item = Record(*labels, None, str(path), row.number)
        sides = [
            one.cell(text, labels, path, row.number) for one, text in zip((gold, predicted), row.texts, strict=True)
        ]
        yield RecordPair(sides[0] or _no_gold(item, gold, predicted), sides[1] or _no_prediction(item))


def _no_gold(item: Record, gold: Reader, predicted: Reader) -> Failure:
    reason = f"Expected a record to hold {gold.column!r} and {predicted.column!r}, got no {gold.column!r}"
    return Failure("gold", item.id, item.run, item.file, item.line, reason=reason)


def _no_prediction(item: Record) -> Failure:
    return Failure("predicted", item.id, item.run, item.file, item.line, reason=NO_PREDICTION)
