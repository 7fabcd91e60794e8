"""Sequences that are kept in columns, their values made when they are asked for."""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from arbitre.corpus.column import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T_co = TypeVar("T_co", covariant=True)

AT_ONCE: Final = 1024
"""So many values are made at once."""

NONE: Final = -1
"""The number of no name."""

_PACK: Final = struct.Struct("<q").pack


class Lazy(Sequence[T_co]):
    """A sequence that makes its values from columns. Equal to every sequence of equal values."""

    __slots__ = ()

    @abstractmethod
    def at(self, rows: npt.ArrayLike) -> Iterator[T_co]:
        """The values in these rows, numbers from 0 (n,)."""

    def __iter__(self) -> Iterator[T_co]:
        for begin in range(0, len(self), AT_ONCE):
            yield from self.at(np.arange(begin, min(begin + AT_ONCE, len(self))))

    @overload
    def __getitem__(self, at: int) -> T_co: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, at: int | slice) -> T_co | tuple[T_co, ...]:
        chosen = range(len(self))[at]
        if isinstance(chosen, range):
            return tuple(self.at(chosen))
        return next(self.at([chosen]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"


class Texts(Lazy[str]):
    """Texts one after the other, in UTF-8: each takes 8 bytes beside its own.

    >>> texts = Texts.of(["page_02", "é"])
    >>> texts[1], list(texts), len(texts)
    ('é', ['page_02', 'é'], 2)
    """

    __slots__ = ("_bytes", "_ends")

    def __init__(self) -> None:
        self._bytes, self._ends = Column(np.uint8), Column("<i8")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """These texts."""
        made = cls()
        made.extend(texts)
        return made

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self._bytes.write(encoded(text))
        self._ends.write(_PACK(len(self._bytes)))

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts at the end."""
        for text in texts:
            self.append(text)

    def at(self, rows: npt.ArrayLike) -> Iterator[str]:
        """The texts in these rows (n,)."""
        numbers, ends, data = np.asarray(rows, dtype=np.intp), self._ends.view(), self._bytes.view().data
        starts = np.where(numbers > 0, ends[numbers - 1], 0) if len(numbers) else numbers
        for start, end in zip(starts.tolist(), ends[numbers].tolist(), strict=True):
            yield str(data[start:end], errors="surrogatepass")


class Named(Lazy[str | None]):
    """Values that repeat, by their numbers (n,) among `names`; NONE is None.

    >>> list(Named(np.array([0, NONE, 0]), ["raw"]))
    ['raw', None, 'raw']
    """

    __slots__ = ("_names", "_numbers")

    def __init__(self, numbers: npt.NDArray[np.signedinteger[Any]], names: Iterable[str]) -> None:
        self._numbers, self._names = numbers, (*names, None)

    def __len__(self) -> int:
        return len(self._numbers)

    def at(self, rows: npt.ArrayLike) -> Iterator[str | None]:
        """The values in these rows (n,)."""
        return map(self._names.__getitem__, self._numbers[np.asarray(rows, dtype=np.intp)].tolist())


def encoded(text: str) -> bytes:
    """A text in UTF-8, lone surrogates included."""
    return text.encode(errors="surrogatepass")
