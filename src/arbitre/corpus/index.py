"""The index of one side of a corpus: what is kept of each document, in columns, while the documents go by."""

from __future__ import annotations

import os
import struct
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from arbitre.corpus.column import Column
from arbitre.corpus.records import Failure, Origin, Place, Record, Repair
from arbitre.corpus.texts import NONE, Texts, encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.spool import Spool

ROW: Final = np.dtype(
    [
        ("offset", "<i8"),  # in its file; of a failure: its number
        ("length", "<i4"),
        ("line", "<i4"),  # 0 without a line
        ("source", "<i4"),  # FAILED of a failure
        ("name", "<i4"),  # the number of the name of its file, where that holds nothing else
        ("run", "<i4"),  # NONE without a run
        ("known", "?"),  # whether there is an id
        ("alone", "?"),  # whether that is just the name of the file
    ]
)
"""What is kept of a document beside its digest and its id."""

DIGEST: Final = "S16"
FAILED: Final = -1

_PACK: Final = struct.Struct("<qiiiii??").pack


class Entry(NamedTuple):
    """A document as the index knows it: its place, or why it cannot be had."""

    id: str | None
    run: str | None
    place: Place | Failure
    origin: Origin


class _Source(NamedTuple):
    """What documents have in common that stand in one place: see Place; `head` is that of the file they are from."""

    within: str
    without: tuple[str, ...]
    member: str | None
    head: str


class Index:
    """The documents of one side: 30 bytes each, the id and the name of a file of its own (8 and their text).

    Until `settle` 16 more. Failures and repairs are kept as they are, in the order they came in.
    """

    def __init__(self, spool: Spool) -> None:
        self.failures: list[Failure] = []
        self.repairs: list[Repair] = []
        self._spool, self._folder = spool, str(Path.cwd())
        self._rows, self._digests = Column(ROW), Column(DIGEST)
        self._ids, self._names = Texts(), Texts()
        self._sources: dict[_Source, int] = {}
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
        line, name, alone = item.line or 0, NONE, False
        if isinstance(item, Failure):
            source, offset, length = FAILED, len(self.failures), 0
            self.failures.append(item)
        else:
            place = item.place or self._spool.keep(item.value)
            head, own = (item.file, "") if item.line else os.path.split(item.file)
            within = os.path.split(place.file)[0] if place.length < 0 else place.file
            source = self._sources.setdefault(_Source(within, place.without, place.member, head), len(self._sources))
            offset, length, alone = place.offset, place.length, not item.named
            if own:
                name = len(self._names)
                self._names.append(own)
            if item.repair is not None:
                self.repairs.append(Repair(item.id, item.run, item.file, item.line, item.repair))
        run = NONE if item.run is None else self.run(item.run)
        self._ids.append(item.id or "")
        self._digests.write(digest(item.id or ""))
        self._rows.write(_PACK(offset, length, line, source, name, run, item.id is not None, alone))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def table(self) -> npt.NDArray[np.void]:
        """The rows (n,), in the order the documents came in. Nothing can be added while it is held."""
        return self._rows.view()

    @property
    def digests(self) -> npt.NDArray[np.bytes_]:
        """The digests of the ids (n,); of documents without one, that of the empty text."""
        return self._digests.view()

    def settle(self, *, ids: bool = True) -> None:
        """Forget the digests: everything is joined; and the ids (there is none in entries then) unless `ids`."""
        self._digests = Column(DIGEST)
        if not ids:
            self._ids = Texts()

    def run(self, name: str) -> int:
        """The number of a run, which may be new."""
        return self._runs.setdefault(name, len(self._runs))

    def runs(self) -> list[str | None]:
        """The runs by their numbers; the last is None, so that NONE finds it."""
        return [*self._runs, None]

    def entries(self, rows: npt.ArrayLike) -> Iterator[Entry]:
        """The documents in these rows."""
        numbers, runs = np.asarray(rows, dtype=np.intp), self.runs()
        found = self.table[numbers]
        named = found["name"] != NONE
        ids = self._ids.at(numbers) if len(self._ids) else repeat("", len(numbers))
        names = self._names.at(found["name"][named])
        sources = [(_joined(self._folder, one.within), one) for one in self._sources]
        for identity, own, row in zip(ids, named.tolist(), found.tolist(), strict=True):
            offset, length, line, number, _, run, known, _ = row
            name, known = next(names) if own else "", known and len(self._ids) > 0
            if number == FAILED:
                failure = self.failures[offset]
                place, origin = failure, Origin(failure.file, failure.line)
            else:
                within, source = sources[number]
                file = _joined(within, name) if length < 0 else within
                place = Place(file, offset, length, source.without, source.member)
                origin = Origin(_joined(source.head, name), line or None)
            yield Entry(identity if known else None, runs[run], place, origin)


def _joined(folder: str, name: str) -> str:
    return os.path.join(folder, name) if name else folder  # noqa: PTH118  (a Path costs ten times as much)


def digests(ids: Iterable[str]) -> npt.NDArray[np.bytes_]:
    """16 bytes for each of the ids (n,), as an index has them."""
    return np.array([digest(identity) for identity in ids], DIGEST)


def digest(identity: str) -> bytes:
    """16 bytes for an id."""
    return blake2b(encoded(identity), digest_size=16).digest()
