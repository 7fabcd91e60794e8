"""Records, failures and pairs, with their places in the source files."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from arbitre.errors import DataError
from arbitre.parsing.json_form import json_form

if TYPE_CHECKING:
    from arbitre.values import Json

Side = Literal["gold", "predicted"]

NO_PREDICTION: Final = "no prediction"
"""Reason of the failure if a gold document has no prediction."""

IN_TEXT: Final = "JSON in a text"
"""Kind of repair of a prediction that is valid JSON within a text."""


class ByteRange(NamedTuple):
    """Place of a document's JSON text in a file, from which any process can read it again.

    Attributes:
        file: Path of the file.
        offset: First byte of the text.
        length: Number of bytes; -1 for the rest of the file.
        without: Keys of the decoded value that are not part of the document; the id key comes first.
        member: Key of the decoded value that contains the document; None if the whole value is the document.
    """

    file: str
    offset: int = 0
    length: int = -1
    without: tuple[str, ...] = ()
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One document as it was read.

    Attributes:
        id: Id of the document.
        run: Run, if any.
        value: The document.
        file: File that it was read from.
        line: Line or row in that file, from 1, if it contains several records.
        named: False if the id is only the name of the file.
        place: Byte range of the document; None unless a plain file contains the document exactly as it is compared.
        repair: Kind of repair, "JSON in a text", or None for valid JSON.
    """

    id: str
    run: str | None
    value: Json
    file: str
    line: int | None = None
    named: bool = True
    place: ByteRange | None = field(default=None, compare=False, repr=False)
    repair: str | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[type[Record], tuple[object, ...]]:
        """Pickle the fields as a tuple, which takes half the time of the default for dataclasses with slots."""
        return Record, (self.id, self.run, self.value, self.file, self.line, self.named, self.place, self.repair)


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that cannot be used, with its location and the reason.

    Attributes:
        side: "gold" or "predicted".
        id: Id of the document.
        run: Run of the prediction.
        file: File of the document.
        line: Line in that file, from 1.
        pointer: JSON Pointer of the value that causes the failure.
        reason: Why the document cannot be used.
    """

    side: Side
    id: str | None = None
    run: str | None = None
    file: str | None = None
    line: int | None = None
    pointer: str | None = None
    reason: str = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class RepairedPrediction:
    """A prediction that was repaired because it was not valid JSON, or that is a text containing JSON.

    Attributes:
        id: Id of the document.
        run: Run of the prediction; None if there is only one.
        file: File of the prediction.
        line: Line in that file, from 1.
        how: The kind of repair.
    """

    id: str
    run: str | None
    file: str
    line: int | None
    how: str

    @property
    def in_text(self) -> bool:
        """Whether the prediction is valid JSON in a text: nothing was repaired."""
        return self.how == IN_TEXT


class Origin(NamedTuple):
    """File and line that a document was read from."""

    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold document and one prediction of it.

    Attributes:
        id: Id of the gold document.
        run: Run of the prediction, if any.
        gold: The gold document.
        predicted: The prediction; ABSENT if there is none.
        failure: Why there is no prediction.
        origins: Origins of the gold document and of the prediction.
    """

    id: str
    run: str | None
    gold: Json
    predicted: Json
    failure: Failure | None = None
    origins: tuple[Origin, Origin] = field(default=(Origin(), Origin()), compare=False, repr=False)

    @property
    def key(self) -> str:
        """Name of the pair in results: its id, followed by the run if there is one."""
        return key(self.id, self.run)

    def as_json(self) -> Pair:
        """Return the pair with the Python objects in its documents converted to JSON, where that is possible."""
        gold, predicted = self.gold, self.predicted
        with suppress(DataError):  # reported when the documents are compared
            gold = json_form(gold)
        with suppress(DataError):
            predicted = json_form(predicted)
        return replace(self, gold=gold, predicted=predicted)


def readable(item: Record | Failure) -> Record:
    """Return a document. Raises DataError if it could not be read."""
    if isinstance(item, Record):
        return item
    raise DataError.of(item.reason, file=item.file, line=item.line, pointer=item.pointer)


def key(identity: str, run: str | None) -> str:
    """Return the name of a document in results: its id, followed by the run if there is one.

    >>> key("page_02", "raw")
    'page_02/raw'
    """
    return identity if run is None else f"{identity}/{run}"


class RecordPair(NamedTuple):
    """Gold and prediction that come from one record of a source.

    Attributes:
        gold: The gold document, or the failure of the record.
        predicted: The prediction; None if the record failed.
        factors: Values of the other columns of a manifest.
    """

    gold: Record | Failure
    predicted: Record | Failure | None
    factors: tuple[str, ...] = ()
