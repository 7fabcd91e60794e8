"""Memory-compact sequences whose values are created on access."""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from arbitre.corpus.storage.compact_table import GrowingArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T_co = TypeVar("T_co", covariant=True)

CHUNK_ROWS: Final = 1024
"""Number of values created at once while iterating."""

_PACK: Final = struct.Struct("<q").pack


class LazySequence(Sequence[T_co]):
    """A sequence that creates its values on access. It equals any sequence of equal values."""

    __slots__ = ()

    @abstractmethod
    def at(self, rows: npt.ArrayLike) -> Iterator[T_co]:
        """Yield the values at these row indices (from 0), shape (n,)."""

    def __iter__(self) -> Iterator[T_co]:
        for begin in range(0, len(self), CHUNK_ROWS):
            yield from self.at(np.arange(begin, min(begin + CHUNK_ROWS, len(self))))

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
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"


class StringArray(LazySequence[str]):
    """Strings stored as concatenated UTF-8. Each takes 8 bytes in addition to its text.

    >>> texts = StringArray.of(["page_02", "é"])
    >>> texts[1], list(texts), len(texts)
    ('é', ['page_02', 'é'], 2)
    """

    __slots__ = ("_bytes", "_ends")

    def __init__(self) -> None:
        self._bytes, self._ends = GrowingArray(np.uint8), GrowingArray("<i8")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Create an array of these strings."""
        array = cls()
        array.extend(texts)
        return array

    def __len__(self) -> int:
        return len(self._ends)

    def extend(self, texts: Iterable[str]) -> None:
        """Append strings."""
        for text in texts:
            self._bytes.write(encoded(text))
            self._ends.write(_PACK(len(self._bytes)))

    def at(self, rows: npt.ArrayLike) -> Iterator[str]:
        """Yield the strings at these row indices, shape (n,)."""
        numbers, ends, data = np.asarray(rows, dtype=np.intp), self._ends.view(), self._bytes.view().data
        starts = np.where(numbers > 0, ends[numbers - 1], 0) if len(numbers) else numbers
        for start, end in zip(starts.tolist(), ends[numbers].tolist(), strict=True):
            yield str(data[start:end], errors="surrogatepass")


def encoded(text: str) -> bytes:
    """Encode a string as UTF-8, including lone surrogates."""
    return text.encode(errors="surrogatepass")
