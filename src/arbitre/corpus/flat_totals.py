"""The flat comparison of a corpus, from the sums of its documents."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arbitre.arrays import exact_parts
from arbitre.comparison.flat import FlatComparison

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.inputs.records import Pair
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class FlatObserver:
    """Corpus observer that records the sums of the flat comparison of each document."""

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return the sums of each document, as `FlatTotals.add` takes them."""
        from arbitre.diagnosis.solidarity import LeafSums  # noqa: PLC0415  (only some evaluations need it)

        sums = LeafSums.of(levels, len(pairs), self.plan.close)
        return [
            {
                "sums": own,
                "transported": sorted(sums.transported & own.keys()),
                "exact": bool(sums.exact[document]),
            }
            for document in range(len(pairs))
            for own in [sums.sums_of(document)]
        ]


@dataclass(slots=True)
class FlatTotals:
    """Sums over documents; the order of the documents does not matter."""

    _sums: defaultdict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Summands by path and component, compressed without changing their sum."""
    _transported: set[str] = field(default_factory=set)
    _exact: bool = True

    def add(self, documents: Iterable[Any]) -> None:
        """Add what `FlatObserver` has recorded."""
        touched = set()
        for document in documents:
            self._transported.update(document["transported"])
            self._exact &= document["exact"]
            for path, masses in document["sums"].items():
                for component, mass in enumerate(masses):
                    self._sums[path, component].append(mass)
                    touched.add((path, component))
        for key in touched:
            self._sums[key] = exact_parts(self._sums[key])

    def comparison(self) -> FlatComparison:
        """Return the flat comparison of all documents."""
        components = 1 + max((component for _, component in self._sums), default=0)
        sums = {
            path: [math.fsum(self._sums[path, component]) for component in range(components)]
            for path in {path for path, _ in self._sums}
        }
        return FlatComparison.of(sums, transported=self._transported, exact=self._exact)
