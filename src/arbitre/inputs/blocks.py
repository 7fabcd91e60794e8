"""Blocks of documents that worker processes read and parse: lines, rows of a Parquet file, files of a folder.

Workers return rows of the database of documents instead of documents. Documents that cannot be
read again from a plain file are written to temporary files.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.inputs.document_index import index_row
from arbitre.inputs.open_files import (
    BLOCK_SIZE,
    LARGE_FILE,
    STDIN,
    LineBlock,
    is_compressed,
    open_source,
    read_lines,
    source_names,
    split_lines,
)
from arbitre.inputs.reader import LINES, TABLE
from arbitre.inputs.records import Failure, Record
from arbitre.inputs.work_units import Spool
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.inputs.document_index import IndexRow
    from arbitre.inputs.open_files import Workers
    from arbitre.inputs.reader import Reader

FILES: Final = 256
"""Number of files of a folder in a block."""


class RowBlock(NamedTuple):
    """Consecutive row groups of a Parquet file, and the number of their first row, from 1."""

    file: str
    groups: range
    row: int


class FileBlock(NamedTuple):
    """Files of a folder."""

    folder: str
    names: tuple[str, ...]


def read_by_workers(
    reader: Reader, sources: str | Path | Iterable[str | Path], workers: Workers, spool: Path
) -> Iterator[Record | Failure | IndexRow]:
    """Yield the documents of one side, source by source. Workers read the blocks of large sources.

    Args:
        reader: The reader of the side.
        sources: The sources; see `Reader.records`.
        workers: The workers.
        spool: Folder for temporary files of documents. It must exist until all documents have been read.

    Raises:
        DataError: A source cannot be read.
    """
    given = source_names(sources)
    for name, matched in given:
        blocks = split(reader, name)
        if blocks is None:
            yield from reader.source(name, alone=len(given) == 1, matched=matched)
        else:
            workers.prepare()
            read = BlockReader(reader, str(Path.cwd()), str(spool))
            yield from chain.from_iterable(workers.map(read, blocks, wait=False))


def split(reader: Reader, name: str) -> Iterable[LineBlock | RowBlock | FileBlock] | None:
    """Return the blocks of a source in order; None if it is small or must be read as a whole.

    Raises:
        DataError: The source cannot be read.
    """
    path = Path(name)
    if name == STDIN or is_compressed(path):
        return None
    if path.is_dir():
        names = reader.document_names(path)
        few = len(names) <= FILES
        return None if few else [FileBlock(name, names[at : at + FILES]) for at in range(0, len(names), FILES)]
    if not path.is_file() or path.stat().st_size <= LARGE_FILE:
        return None
    if path.suffix.lower() in LINES:
        return split_lines(name)
    if path.suffix.lower() == TABLE:
        return [RowBlock(name, groups, row) for groups, row in reader.table_blocks(path, BLOCK_SIZE)]
    return None


@dataclass(frozen=True, slots=True)
class BlockReader:
    """Reads blocks, in any process.

    Attributes:
        reader: The reader of the side.
        home: Working directory of the main process; relative names of files refer to it.
        spool: Folder for temporary files of documents. A worker that cannot access it returns the documents themselves.
    """

    reader: Reader
    home: str
    spool: str

    def __call__(self, block: LineBlock | RowBlock | FileBlock) -> list[Record | Failure | IndexRow]:
        """Return the documents of a block. Documents that can be read again are returned as rows of the database."""
        if isinstance(block, LineBlock):
            return self._encoded(self._lines(block))
        if isinstance(block, RowBlock):
            rows = self.reader.table(self._path(block.file), block.groups, block.row)
            return self._encoded(self._named(rows, block.file))
        return self._encoded(chain.from_iterable(self._files(block)))

    def _lines(self, block: LineBlock) -> Iterator[Record | Failure]:
        with open_source(self._path(block.file)) as file:
            file.seek(block.offset)
            lines = _within(read_lines(file, self.reader.max_bytes), block.length)
            yield from self.reader.lines(lines, block.file, plain=True, start=block.line, offset=block.offset)

    def _files(self, block: FileBlock) -> Iterator[Iterator[Record | Failure]]:
        folder = self._path(block.folder)
        for name in block.names:
            yield self._named([self.reader.document(folder / name)], str(Path(block.folder, name)))

    def _path(self, name: str) -> Path:
        """Return the path of a file. Names are kept if possible, because failures contain them."""
        return Path(name) if str(Path.cwd()) == self.home else Path(self.home, name)

    def _named(self, items: Iterable[Record | Failure], name: str) -> Iterator[Record | Failure]:
        """Yield documents with the name of their file in the main process."""
        for item in items:
            if item.file == name:
                yield item
            elif isinstance(item, Record):
                place = item.place and item.place._replace(file=name)
                yield replace(item, file=name, place=place)
            else:
                yield replace(item, file=name)

    def _encoded(self, items: Iterable[Record | Failure]) -> list[Record | Failure | IndexRow]:
        name = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
        spool = Spool(Path(self.spool, name)) if Path(self.spool).is_dir() else None
        found: list[Record | Failure | IndexRow] = []
        for item in items:
            place = item.place if isinstance(item, Record) else None
            if isinstance(item, Record) and place is None and spool is not None:
                place = spool.keep(item.value)
            if isinstance(item, Failure) or place is None:
                found.append(item)
            elif item.repair is None:
                found.append(index_row(item, place, self.home))
            else:
                value = item.value if isinstance(item.value, str) else ABSENT
                found.append(replace(item, value=value, place=place))
        if spool is not None:
            spool.close()
        return found


def _within(lines: Iterable[tuple[bytes, int]], length: int) -> Iterator[tuple[bytes, int]]:
    """Yield the lines in the first `length` bytes of a file."""
    for line, size in lines:
        yield line, size
        length -= size
        if length <= 0:
            return
