"""What is read: documents and failures, and where each of them stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from arbitre.values import Json

Side = Literal["gold", "predicted"]


class ByteRange(NamedTuple):
    """Where the JSON text of a document stands, for whoever reads it later, in whatever process.

    A `length` of -1 reaches to the end of the file. Of the value that is decoded there, the document is the `member`,
    where one is named, and else all but the keys `without` (the id first).
    """

    file: str
    offset: int = 0
    length: int = -1
    without: tuple[str, ...] = ()
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One document; `named` is false where its id is just the name of a file that holds nothing else.

    `place` is known where a plain file holds the document as it is compared; `repair` says what was done to a text
    that was not JSON.
    """

    id: str
    run: str | None
    value: Json
    file: str
    line: int | None = None
    named: bool = True
    place: ByteRange | None = field(default=None, compare=False, repr=False)
    repair: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that cannot be had, as far as is known which one, where, and why."""

    side: Side
    id: str | None = None
    run: str | None = None
    file: str | None = None
    line: int | None = None
    pointer: str | None = None
    reason: str = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Repair:
    """A prediction that was read although it was not JSON, and how."""

    id: str
    run: str | None
    file: str
    line: int | None
    how: str


class Origin(NamedTuple):
    """The file that a document was read from, and its line there."""

    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold document and one prediction of it; ABSENT where there is none, with the failure that says why.

    `origins` are those of gold and of the prediction, as far as they are known.
    """

    id: str
    run: str | None
    gold: Json
    predicted: Json
    failure: Failure | None = None
    origins: tuple[Origin, Origin] = field(default=(Origin(), Origin()), compare=False, repr=False)

    @property
    def key(self) -> str:
        """What names the pair in results: the id, and the run where there is one."""
        return key(self.id, self.run)


def key(identity: str, run: str | None) -> str:
    """What names a document in results.

    >>> key("page_02", "raw")
    'page_02/raw'
    """
    return identity if run is None else f"{identity}/{run}"
