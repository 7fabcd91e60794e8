"""Who is matched to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Coupling:
    """The pairs made between a gold list of n items and a predicted list of m items.

    `gold` and `predicted`, both of shape (k,), hold the positions of the partners, by increasing gold position; each
    position occurs at most once on its side.
    """

    gold: Indices
    predicted: Indices
    shape: tuple[int, int]

    @classmethod
    def of(cls, gold: Sequence[int] | Indices, predicted: Sequence[int] | Indices, shape: tuple[int, int]) -> Coupling:
        """The coupling of these pairs, put in order of the gold positions."""
        rows = np.asarray(gold, dtype=np.intp)
        columns = np.asarray(predicted, dtype=np.intp)
        if len(rows) > 1 and (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            rows, columns = rows[order], columns[order]
        return cls(rows, columns, shape)

    @property
    def missing(self) -> Indices:
        """The gold positions without a partner."""
        return np.setdiff1d(np.arange(self.shape[0], dtype=np.intp), self.gold)

    @property
    def spurious(self) -> Indices:
        """The predicted positions without a partner."""
        return np.setdiff1d(np.arange(self.shape[1], dtype=np.intp), self.predicted)
