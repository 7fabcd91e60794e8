"""Pairs that are known by the places of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt

from arbitre.corpus.parts import Locator, read
from arbitre.corpus.records import Failure, Origin, Pair
from arbitre.corpus.texts import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arbitre.corpus.index import Entry, Index
    from arbitre.corpus.records import Place

Rows: TypeAlias = npt.NDArray[np.signedinteger[Any]]

_AT_ONCE = 1024
"""So many locators are made at once."""


class Located(Sequence[Pair]):
    """Pairs in columns: 12 bytes each beside the indices. Their documents are read each time they are asked for."""

    def __init__(self, gold: Index, predicted: Index, rows: Rows, failures: Mapping[int, Failure]) -> None:
        """`rows` (3, n): the row of gold, that of the prediction or NONE, the number of the run or NONE.

        `failures` say, by the position of the pair, why there is no prediction.
        """
        self._gold, self._predicted, self._rows, self._failures = gold, predicted, rows, failures

    def __len__(self) -> int:
        return len(self._rows[0])

    def __iter__(self) -> Iterator[Pair]:
        return read(self.locators())

    @overload
    def __getitem__(self, at: int) -> Pair: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, at: int | slice) -> Pair | tuple[Pair, ...]:
        chosen = range(len(self))[at]
        if isinstance(chosen, range):
            return tuple(self[one] for one in chosen)
        return next(read(self.locators(chosen, chosen + 1)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Pair.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def locators(self, start: int = 0, stop: int | None = None) -> Iterator[Locator]:
        """Where the documents of the pairs stand, from position `start` to `stop`."""
        stop = len(self) if stop is None else stop
        runs = self._predicted.runs()
        for begin in range(start, stop, _AT_ONCE):
            gold, predicted, numbers = self._rows[:, begin : min(begin + _AT_ONCE, stop)]
            answers = self._predicted.entries(predicted[predicted != NONE])
            sides = zip(self._gold.entries(gold), predicted.tolist(), numbers.tolist(), strict=True)
            for at, (document, row, run) in enumerate(sides, start=begin):
                answer = None if row == NONE else next(answers)
                place = self._failures.get(at) or cast("Entry", answer).place
                origins = document.origin, answer.origin if answer else Origin()
                yield Locator(str(document.id), runs[run], cast("Place", document.place), place, origins)
