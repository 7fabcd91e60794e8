"""Upper bounds of the qualities of items, kept to match the same lists again after a few items have changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.schema.nodes import Site
    from arbitre.values import Json


@dataclass(frozen=True, eq=False, slots=True)
class KnownBounds:
    """Upper bounds of the quality of each gold item with each predicted item of some pairs of lists.

    Attributes:
        site: The position of the items in the schema.
        gold: The gold items of all pairs of lists.
        predicted: The predicted items of all pairs of lists.
        gold_starts: First gold item of each pair of lists, then the number of gold items.
        predicted_starts: First predicted item of each pair of lists, then the number of predicted items.
        starts: First bound of each pair of lists, then the number of bounds.
        quality: The bounds, row by row.
    """

    site: Site
    gold: Sequence[Json]
    predicted: Sequence[Json]
    gold_starts: Indices
    predicted_starts: Indices
    starts: Indices
    quality: Floats

    def positions(self, values: Sequence[Json], *, gold: bool) -> Indices:
        """Return the position of each of these values among the items, or -1. Only identical objects are the same."""
        known = {id(value): at for at, value in enumerate(self.gold if gold else self.predicted)}
        return np.array([known.get(id(value), -1) for value in values], dtype=np.intp)

    def table(self, rows: Indices, columns: Indices) -> Floats:
        """Return the bound of each gold item with each predicted item, given by position; infinite where unknown."""
        above, beside = (
            starts.searchsorted(positions, side="right") - 1
            for starts, positions in ((self.gold_starts, rows), (self.predicted_starts, columns))
        )
        width = self.predicted_starts[above + 1] - self.predicted_starts[above]
        lines = self.starts[above] + (rows - self.gold_starts[above]) * width
        cells = lines[:, None] + (columns - self.predicted_starts[beside])
        known = (rows >= 0)[:, None] & (above[:, None] == beside)
        return np.where(known, self.quality[np.where(known, cells, 0)], np.inf)
