"""Cluster labels from the gold documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arbitre.errors import DataError
from arbitre.paths import parse
from arbitre.report.text_files import compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.reading.records import Pair
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class PointerLabels:
    """Observer that returns the value at a pointer in each gold document, as its cluster label."""

    pointer: str

    def __call__(self, pairs: Sequence[Pair], _levels: Sequence[Level]) -> list[Json]:
        """Return a label per document. Raises DataError if a document has no value at the pointer."""
        return [self._label(pair) for pair in pairs]

    def _label(self, pair: Pair) -> str:
        value = pair.gold
        try:
            for token in parse(self.pointer):
                value = value[int(str(token))] if isinstance(value, list) else value[token]
        except (KeyError, IndexError, TypeError, ValueError):
            raise DataError.of(
                f"Gold document {pair.key!r} has no value to cluster by",
                pointer=self.pointer,
                hint="Choose a --cluster-by pointer that exists in all gold documents.",
            ) from None
        return value if isinstance(value, str) else compact(value)
