"""The index of one side of a corpus: what is kept of each document, in columns, while the documents go by."""

from __future__ import annotations

import os
import struct
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from arbitre.corpus.records import Failure, Origin, Place, Record, Repair

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.spool import Spool

ROW: Final = np.dtype(
    [
        ("text", "<i8"),  # where its id, and the name of its file, end in the texts
        ("offset", "<i8"),  # in its file; of a failure: its number
        ("length", "<i4"),
        ("name", "<i2"),  # the length of the name of its file, where that holds nothing else
        ("known", "?"),  # whether there is an id
        ("alone", "?"),  # whether that is just the name of the file
        ("file", "<i4"),  # FAILED of a failure
        ("origin", "<i4"),
        ("line", "<i4"),  # 0 without a line
        ("run", "<i4"),  # NONE without a run
    ]
)
"""What is kept of a document beside its digest and the text of its id."""

DIGEST: Final = "S16"
FAILED: Final = -1
NONE: Final = -1

_PACK: Final = struct.Struct("<qqih??iiii").pack


class Entry(NamedTuple):
    """A document as the index knows it: its place, or why it cannot be had."""

    id: str | None
    run: str | None
    place: Place | Failure
    origin: Origin


class Index:
    """The documents of one side: 40 bytes each, the text of the id, and until `settle` 16 more.

    Failures and repairs are kept as they are, in the order they came in.
    """

    def __init__(self, spool: Spool) -> None:
        self.failures: list[Failure] = []
        self.repairs: list[Repair] = []
        self._spool, self._folder = spool, str(Path.cwd())
        self._rows, self._texts, self._digests = bytearray(), bytearray(), bytearray()
        self._files: dict[tuple[str, tuple[str, ...], str | None], int] = {}
        self._origins: dict[str, int] = {}
        self._runs: dict[str, int] = {}

    @classmethod
    def of(cls, items: Iterable[Record | Failure], spool: Spool) -> Self:
        """The index of what is read; no document stays in memory."""
        index = cls(spool)
        for item in items:
            index.add(item)
        spool.flush()
        return index

    def add(self, item: Record | Failure) -> None:
        """Take in one document. One without a place is written into the spool."""
        identity = b"" if item.id is None else _encoded(item.id)
        name, origin, line, alone = "", NONE, item.line or 0, False
        if isinstance(item, Failure):
            file, offset, length = FAILED, len(self.failures), 0
            self.failures.append(item)
        else:
            place = item.place or self._spool.keep(item.value)
            head, name = (item.file, "") if item.line else os.path.split(item.file)
            within = os.path.split(place.file)[0] if place.length < 0 else place.file
            file = self._files.setdefault((within, place.without, place.member), len(self._files))
            origin = self._origins.setdefault(head, len(self._origins))
            offset, length, alone = place.offset, place.length, not item.named
            if item.repair is not None:
                self.repairs.append(Repair(item.id, item.run, item.file, item.line, item.repair))
        run = NONE if item.run is None else self.run(item.run)
        self._texts += identity + (named := _encoded(name))
        self._digests += _digest(identity)
        known = item.id is not None
        self._rows += _PACK(len(self._texts), offset, length, len(named), known, alone, file, origin, line, run)

    def __len__(self) -> int:
        return len(self._rows) // ROW.itemsize

    @property
    def table(self) -> npt.NDArray[np.void]:
        """The rows (n,), in the order the documents came in. Nothing can be added while it is held."""
        return np.frombuffer(self._rows, ROW)

    @property
    def digests(self) -> npt.NDArray[np.bytes_]:
        """The digests of the ids (n,); of documents without one, that of the empty text."""
        return np.frombuffer(self._digests, DIGEST)

    def settle(self) -> None:
        """Forget the digests: everything is joined."""
        self._digests = bytearray()

    def run(self, name: str) -> int:
        """The number of a run, which may be new."""
        return self._runs.setdefault(name, len(self._runs))

    def runs(self) -> list[str | None]:
        """The runs by their numbers; the last is None, so that NONE finds it."""
        return [*self._runs, None]

    def entries(self, rows: npt.ArrayLike) -> Iterator[Entry]:
        """The documents in these rows."""
        numbers, table = np.asarray(rows, dtype=np.intp), self.table
        starts = np.where(numbers > 0, table["text"][numbers - 1], 0).tolist() if len(table) else []
        files = [(_joined(self._folder, within), without, member) for within, without, member in self._files]
        origins, runs = list(self._origins), self.runs()
        for start, row in zip(starts, table[numbers].tolist(), strict=True):
            end, offset, length, size, known, _, file, origin, line, run = row
            text = self._texts[start:end]
            identity = text[: len(text) - size].decode(errors="surrogatepass") if known else None
            if file == FAILED:
                failure = self.failures[offset]
                yield Entry(identity, runs[run], failure, Origin(failure.file, failure.line))
                continue
            name = text[len(text) - size :].decode(errors="surrogatepass")
            within, without, member = files[file]
            place = Place(_joined(within, name) if length < 0 else within, offset, length, without, member)
            yield Entry(identity, runs[run], place, Origin(_joined(origins[origin], name), line or None))


def _joined(folder: str, name: str) -> str:
    return os.path.join(folder, name) if name else folder  # noqa: PTH118  (a Path costs ten times as much)


def digests(ids: Iterable[str]) -> npt.NDArray[np.bytes_]:
    """16 bytes for each of the ids (n,), as an index has them."""
    return np.array([_digest(_encoded(identity)) for identity in ids], DIGEST)


def _digest(identity: bytes) -> bytes:
    return blake2b(identity, digest_size=16).digest()


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
