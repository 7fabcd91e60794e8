"""Units of work: pairs by the places of their documents, read by whoever compares them."""

from __future__ import annotations

import json
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from arbitre.corpus.records import Failure, Origin, Pair, Place
from arbitre.corpus.spool import SPOOL
from arbitre.errors import DataError
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.values import Json

OPEN: Final = 8
"""So many files stay open at once while a part is read."""


class Locator(NamedTuple):
    """One pair without its documents: a prediction that failed is why it did."""

    id: str
    run: str | None
    gold: Place
    predicted: Place | Failure
    origins: tuple[Origin, Origin]


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive pairs of a join, from position `start` on: small to send, and any process can iterate over it.

    Iterating reads the documents, one pair after the other. Raises DataError where a file is gone or has changed.
    """

    start: int
    items: Sequence[Locator | Pair]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Pair]:
        return read(self.items)

    def portable(self) -> Part:
        """The part with those documents in it that stand in a temporary file, which other machines do not see."""
        return Part(self.start, [next(read([item])) if _temporary(item) else item for item in self.items])


def _temporary(item: Locator | Pair) -> bool:
    places = () if isinstance(item, Pair) else (item.gold, item.predicted)
    return any(isinstance(place, Place) and place.file.endswith(SPOOL) for place in places)


def read(items: Iterable[Locator | Pair]) -> Iterator[Pair]:
    """The pairs, their documents read from where they stand. Raises DataError where they do not stand there."""
    with closing(_Texts()) as texts:
        for item in items:
            yield item if isinstance(item, Pair) else _read(item, texts)


def _read(item: Locator, texts: _Texts) -> Pair:
    gold = texts.value(item.gold, item.id)
    if isinstance(item.predicted, Failure):
        return Pair(item.id, item.run, gold, ABSENT, item.predicted, item.origins)
    return Pair(item.id, item.run, gold, texts.value(item.predicted, item.id), origins=item.origins)


class _Texts:
    """Documents read where they stand: they were read strictly before."""

    def __init__(self) -> None:
        self._files: dict[str, BinaryIO] = {}
        self._stack = ExitStack()

    def close(self) -> None:
        self._stack.close()
        self._files.clear()

    def value(self, place: Place, identity: str) -> Json:
        try:
            value = json.loads(self._text(place))
            if place.without and str(value[place.without[0]]) != identity:
                raise _changed(place, identity)
            if place.member is not None:
                return value[place.member]
            return {key: item for key, item in value.items() if key not in place.without} if place.without else value
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise _changed(place, identity) from error

    def _text(self, place: Place) -> bytes:
        file = self._files.get(place.file)
        if file is None:
            if len(self._files) == OPEN:
                self.close()
            file = self._files[place.file] = self._stack.enter_context(Path(place.file).open("rb"))  # noqa: SIM115
        file.seek(place.offset)
        return file.read(place.length)


def _changed(place: Place, identity: str) -> DataError:
    return DataError.of(
        f"Expected the document {identity!r} to stand where it stood, got another file",
        file=place.file,
        hint="Leave the files as they are while they are compared, and start again.",
    )
