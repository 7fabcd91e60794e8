"""Work units: consecutive pairs whose documents are read by the process that compares them."""

from __future__ import annotations

import json
import weakref
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, Self

from arbitre.errors import DataError
from arbitre.inputs.records import ByteRange, Failure, Origin, Pair
from arbitre.parsing.fast_json import parse_again
from arbitre.storage.temporary import TemporaryFolder, temporary_space
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.values import Json


SPOOL: Final = ".spool"
"""Suffix of the temporary files."""


class Spool:
    """Temporary file of JSON texts, created when the first text is written.

    It stores documents that were decompressed, projected, repaired, or read from a table or standard input, so that
    any process on this machine can read them.
    """

    def __init__(self, file: Path | None = None) -> None:
        """Create the object.

        Args:
            file: The file, without its suffix, to which texts are appended. None: a file in a new temporary folder,
                which is deleted with this object.
        """
        self._folder: TemporaryFolder | None = None
        self._file: BinaryIO | None = None
        self._name, self._size = "" if file is None else f"{file}{SPOOL}", 0

    def keep(self, value: Json) -> ByteRange:
        """Write a document and return its place. Raises DataError if the disk is full."""
        text = json.dumps(value).encode()
        with temporary_space():
            if self._file is None:
                if not self._name:
                    self._folder = TemporaryFolder()
                    self._name = str(self._folder.path / f"documents{SPOOL}")
                self._file = Path(self._name).open("ab")  # noqa: SIM115
                self._size = self._file.tell()
                weakref.finalize(self, self._file.close)
            self._file.write(text)
        self._size += len(text)
        return ByteRange(self._name, self._size - len(text), len(text))

    @property
    def is_empty(self) -> bool:
        """Whether no document was written."""
        return self._file is None

    def close(self) -> None:
        """Close the file. The next text opens it again."""
        if self._file is not None:
            with temporary_space():
                self._file.close()
            self._file = None

    def flush(self) -> None:
        """Flush the file, so that other processes can read it."""
        if self._file is not None:
            with temporary_space():
                self._file.flush()


MAX_OPEN_FILES: Final = 8
"""Maximum number of open files while a work unit is read."""


class PairLocation(NamedTuple):
    """Places of the documents of a pair; `predicted` is a Failure if there is no prediction."""

    id: str
    run: str | None
    gold: ByteRange
    predicted: ByteRange | Failure
    origins: tuple[Origin, Origin]


class Checkpoint(NamedTuple):
    """File for the results of a work unit.

    Attributes:
        file: The file.
        settings: The settings that affect the results, besides the documents, as JSON.
        folder: The current folder of the main process, to which names of input files are relative.
        texts: Files of the source texts of the documents that the results depend on; None if a document has none.
    """

    file: Path
    settings: bytes
    folder: str
    texts: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkUnit:
    """Consecutive pairs of a join, starting at position `start`. Small enough to send to another process.

    Iterating reads the documents, one pair after the other. Raises DataError if a file has changed.
    """

    start: int
    items: Sequence[PairLocation | Pair]
    checkpoint: Checkpoint | None = None
    temporary: bool = True
    """Whether documents may be in temporary files."""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Pair]:
        return read_pairs(self.items)

    def as_json(self) -> WorkUnit:
        """Return a copy in which the Python objects of documents are converted to JSON, where that is possible."""
        items = [item.as_json() if isinstance(item, Pair) else item for item in self.items]
        return replace(self, items=items)

    def for_other_machines(self, readable: Callable[[str], bool]) -> WorkUnit:
        """Return a copy that contains the documents of temporary files, except those that all machines can read."""
        if not self.temporary:
            return self
        items = [
            item if all(map(readable, _temporary_files(item))) else next(read_pairs([item])) for item in self.items
        ]
        return replace(self, items=items)


def is_temporary(item: PairLocation | Pair) -> bool:
    """Return whether a document of a pair is in a temporary file."""
    return any(_temporary_files(item))


def _temporary_files(item: PairLocation | Pair) -> Iterator[str]:
    places = () if isinstance(item, Pair) else (item.gold, item.predicted)
    return (place.file for place in places if isinstance(place, ByteRange) and place.file.endswith(SPOOL))


class DocumentFiles:
    """Reads the texts of documents, and keeps a few files open.

    Args:
        folder: The folder to which names of files are relative.
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self, place: ByteRange) -> bytes:
        """Return the text at a place. Raises OSError."""
        if place.file not in self._files:
            if len(self._files) >= MAX_OPEN_FILES:
                self._stack.close()
                self._files.clear()
            opened = Path(self._folder, place.file).open("rb")  # noqa: SIM115
            self._files[place.file] = self._stack.enter_context(opened)
        self._files[place.file].seek(place.offset)
        return self._files[place.file].read(place.length)


def read_pairs(items: Iterable[PairLocation | Pair]) -> Iterator[Pair]:
    """Read the documents of pairs. Raises DataError if a file has changed."""
    with DocumentFiles() as files:
        for item in items:
            if isinstance(item, Pair):
                yield item
                continue
            gold = _value(item.gold, item.id, files)
            if isinstance(item.predicted, Failure):
                yield Pair(item.id, item.run, gold, ABSENT, item.predicted, item.origins)
            else:
                predicted = _value(item.predicted, item.id, files)
                yield Pair(item.id, item.run, gold, predicted, origins=item.origins)


def _value(place: ByteRange, identity: str, files: DocumentFiles) -> Json:
    """Read the document at a place. It has already been parsed strictly once."""
    try:
        value = parse_again(files.read(place))
        if place.without and str(value[place.without[0]]) != identity:
            raise _changed(place, identity)
        if place.member is not None:
            return value[place.member]
        return {key: item for key, item in value.items() if key not in place.without} if place.without else value
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _changed(place, identity) from error


def _changed(place: ByteRange, identity: str) -> DataError:
    return DataError.of(
        f"The document {identity!r} changed on disk during the run",
        file=place.file,
        hint="Start again, and do not change the files during the run.",
    )
