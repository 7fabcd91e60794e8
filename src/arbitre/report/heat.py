"""The qualities of all pairs of entries of a document, matched or not: what its matching was chosen from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.diagnosis import metricity
from arbitre.engine import run
from arbitre.paths import STAR
from arbitre.report.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.comparison.levels import Floats
    from arbitre.schema.nodes import Plan
    from arbitre.values import Json

CELLS: Final = 3_600
"""The matrix of a document is computed up to so many pairs of entries."""

TOTAL: Final = 24_000
"""The matrices of a report have no more pairs than this together, the worst documents first."""

POOL: Final = 60
"""Up to so many entries of both sides their distances among themselves are computed too, for the metricity."""

_DIGITS: Final = 4
_SAME: Final = 1e-9


@dataclass(eq=False, slots=True)
class Heat:
    """Makes the matrices of the documents of a report, as long as these are small."""

    plan: Plan
    left: int = TOTAL
    entries: Entries = field(init=False)

    def __post_init__(self) -> None:
        self.entries = Entries.of(self.plan)

    def of(self, rows: Sequence[Mapping[str, Any]], values: Sequence[Mapping[str, Json]]) -> dict[str, Any] | None:
        """Qualities of gold (rows) against predicted (columns), rounded, and how near their distances are to a metric.

        Rows and columns go as the entries do in `rows`; `values` are these entries as they were read. None where they
        are no list of their own, are too many, or are compared otherwise where they stand alone. A pair that may not be
        matched has null.
        """
        gold, predicted = ([one[side] for one in values if side in one] for side in ("gold", "predicted"))
        cells = len(gold) * len(predicted)
        named = all(isinstance(token, str) for token in self.entries.path)
        if not self.entries.listed or not named or not cells or cells > min(CELLS, self.left):
            return None
        pool = [*gold, *predicted]
        two_faced = any(site.object.aliases for site in self.plan.sites)  # a prediction is read otherwise than gold
        pooled = len(pool) <= POOL and len(pool) ** 2 <= self.left and not two_faced
        self.left -= len(pool) ** 2 if pooled else cells
        whole = self._qualities(pool, pool) if pooled else self._qualities(gold, predicted)
        block = whole[: len(gold), len(gold) :] if pooled else whole
        if not _agrees(block, rows):
            return None
        known = not np.isnan(whole).any()
        return {
            "quality": [[None if np.isnan(one) else round(one, _DIGITS) for one in row] for row in block.tolist()],
            "metricity": metricity(1.0 - whole, pool=pooled).to_dict() if known else None,
        }

    def _qualities(self, gold: Sequence[Json], predicted: Sequence[Json]) -> Floats:
        """The quality of every pair of entries, each in a document of its own; nan where it is not made."""
        left = [self._alone(one) for one in gold for _ in predicted]
        right = [self._alone(one) for _ in gold for one in predicted]
        found = np.full(len(left), np.nan)
        for level in run(self.plan, left, right):
            if level.item and not level.inner and level.path == (*self.entries.path, STAR):
                found[level.document[level.paired]] = level.quality[level.paired]
        return found.reshape(len(gold), len(predicted))

    def _alone(self, entry: Json) -> Json:
        made: Json = [entry]
        for token in reversed(self.entries.path):
            made = {token: made}
        return made


def _agrees(block: Floats, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the pairs that were matched have the qualities that they have in the document."""
    gold = predicted = 0
    for row in rows:
        matched = row["status"] == "matched"
        if matched and not abs(block[gold, predicted] - row["entry"]["quality"]) <= _SAME:
            return False
        gold, predicted = gold + (row["status"] != "spurious"), predicted + (row["status"] != "missing")
    return True
