"""The sources of the documents of a corpus, and how they are joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from arbitre.corpus.joining.join import join, paired
from arbitre.corpus.joining.join_notes import swapped_names
from arbitre.corpus.joining.provenance import GoldProvenance
from arbitre.corpus.reading.data_frames import DataFrame
from arbitre.corpus.reading.manifest import Manifest
from arbitre.corpus.reading.options import STDIN, ReadOptions
from arbitre.corpus.reading.sources import expand_globs
from arbitre.errors import DataError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.sources import Processes

    Paths: TypeAlias = str | Path | Sequence[str | Path]

_Read = TypeVar("_Read")


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Sources of a corpus: `gold` and `predicted`, or `pairs`, or a `manifest`.

    Attributes:
        gold: Sources of gold documents: folders, files, globs, or "-" for standard input; see `read_records`.
        predicted: Sources of predictions.
        pairs: Sources of records that contain both documents, or a data frame with a column for each.
        manifest: CSV file with the columns id, gold and predicted.
        only: Ids of the documents to keep; if empty, all.

    Raises:
        OptionError: None or several of the three are given, or several sources are standard input.
    """

    gold: Paths = ()
    predicted: Paths = ()
    pairs: Paths | DataFrame = ()
    manifest: str | Path | None = None
    only: Collection[str] = ()

    def __post_init__(self) -> None:
        in_pairs = isinstance(self.pairs, DataFrame) or bool(self.pairs)
        given = bool(self.gold and self.predicted), in_pairs, self.manifest is not None
        if sum(given) != 1 or bool(self.gold) != bool(self.predicted):
            raise OptionError.of("Expected `gold` and `predicted`, or `pairs` alone, or `manifest` alone.")
        if [*_each(self.gold), *_each(self.predicted), *_each(self.pairs)].count(STDIN) > 1:
            raise OptionError.of("Expected at most one source to be standard input (-), got several.")

    def joined(
        self,
        reading: ReadOptions | None = None,
        on_read: Callable[[int], None] = lambda _: None,
        processes: Processes | None = None,
    ) -> Join:
        """Read the documents and return the joined pairs, with the provenance of the gold.

        The provenance is read from the sidecars of `gold`, `pairs` or `manifest`.

        Args:
            reading: Options for reading.
            on_read: Called with the number of records read so far, after each record.
            processes: Parse large JSON lines files.

        Raises:
            DataError: A source cannot be read, or a sidecar is invalid.
        """
        provenance = GoldProvenance.read(expand_globs(self.manifest or self.gold or _each(self.pairs)))
        return replace(self._joined(reading, on_read, processes), provenance=provenance)

    def _joined(self, reading: ReadOptions | None, on_read: Callable[[int], None], processes: Processes | None) -> Join:
        reading, numbers = reading or ReadOptions(), count(1)

        def counted(records: Iterable[_Read]) -> Iterator[_Read]:
            for record in records:
                on_read(next(numbers))
                yield record

        if self.manifest is not None:
            table = Manifest(self.manifest, reading)
            return paired(counted(table.rows()), factors=table.factors, only=self.only)
        if isinstance(self.pairs, DataFrame):
            return paired(counted(reading.rows(self.pairs)), only=self.only)
        if self.pairs:
            try:
                joined = paired(counted(reading.rows(self.pairs)), only=self.only)
            except DataError as error:
                raise error.located(file=", ".join(_each(self.pairs))) from None
            if joined.failures and not len(joined):
                first = joined.failures[0]
                raise DataError.of(
                    f"No record contains both documents: {first.reason}",
                    file=first.file,
                    line=first.line,
                    hint="Set the keys with --gold-key and --predicted-key, or use --gold and --predicted.",
                )
            return joined
        gold = reading.records(self.gold, "gold", processes)
        predicted = reading.records(self.predicted, "predicted", processes)
        joined = join(counted(gold), counted(predicted), only=self.only)
        note = swapped_names(_each(self.gold), _each(self.predicted), "exchange --gold and --predicted")
        return joined if note is None else replace(joined, notes=(*joined.notes, note))


def _each(sources: Paths | DataFrame) -> list[str]:
    if isinstance(sources, DataFrame):
        return []
    return [str(sources)] if isinstance(sources, (str, Path)) else list(map(str, sources))
