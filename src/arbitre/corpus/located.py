"""Pairs that are known by the places of their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from arbitre.corpus.parts import Locator, read
from arbitre.corpus.records import Failure, Origin, Pair
from arbitre.corpus.texts import AT_ONCE, NONE, Lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arbitre.corpus.index import Entry, Index
    from arbitre.corpus.records import Place

Rows: TypeAlias = npt.NDArray[np.signedinteger[Any]]


class Located(Lazy[Pair]):
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

    def at(self, rows: npt.ArrayLike) -> Iterator[Pair]:
        """The pairs at these positions (n,)."""
        return read(self._located(np.asarray(rows, dtype=np.intp)))

    def locators(self) -> Iterator[Locator]:
        """Where the documents of the pairs stand, in order."""
        for begin in range(0, len(self), AT_ONCE):
            yield from self._located(np.arange(begin, min(begin + AT_ONCE, len(self))))

    def _located(self, positions: npt.NDArray[np.intp]) -> Iterator[Locator]:
        runs = self._predicted.runs()
        gold, predicted, numbers = self._rows[:, positions]
        answers = self._predicted.entries(predicted[predicted != NONE])
        sides = zip(positions.tolist(), self._gold.entries(gold), predicted.tolist(), numbers.tolist(), strict=True)
        for at, document, row, run in sides:
            answer = None if row == NONE else next(answers)
            place = self._failures.get(at) or cast("Entry", answer).place
            origins = document.origin, answer.origin if answer else Origin()
            yield Locator(str(document.id), runs[run], cast("Place", document.place), place, origins)
