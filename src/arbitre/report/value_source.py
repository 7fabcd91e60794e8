"""The values at one path of a corpus, which is compared again to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from arbitre.comparison.leaf_pairs import LeafPair, leaf_pairs
from arbitre.corpus.joining.join import Join
from arbitre.corpus.running.evaluate import ExecutionOptions, evaluate
from arbitre.paths import wildcard
from arbitre.schema.describe import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.comparison.value_classes import Row
    from arbitre.corpus.reading.records import Pair
    from arbitre.corpus.running.evaluate import Triple
    from arbitre.schema import Plan
    from arbitre.values import Json

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ValueSource:
    """Compares the documents of a corpus again and returns the values at a path."""

    plan: Plan
    joined: Join | Iterable[Triple]

    @property
    def picklable(self) -> bool:
        """Whether the documents are in memory."""
        pairs = self.joined.pairs if isinstance(self.joined, Join) else self.joined
        return isinstance(pairs, (list, tuple))

    def rows(self, path: str) -> list[Row]:
        """Return the single values at a path, each with the value that it is matched with."""
        from arbitre.comparison.value_classes import value_rows  # noqa: PLC0415  (only used here)

        return self._collected(lambda _, levels: value_rows(levels, path))

    def leaf_pairs(self, path: str) -> list[LeafPair]:
        """Return the pairs of leaves at a wildcard path, document by document.

        The gold value of a leaf with accepted readings in a sibling field is the list of all readings.
        """
        steps = [step for step in walk(self.plan.sites) if wildcard(step.path) == path]
        keys = [self.plan.sites[step.site].alternatives for step in steps]
        key = next((key for key in keys if isinstance(key, str)), None)

        def read(pairs: Sequence[Pair], levels: Sequence[Level]) -> list[LeafPair]:
            leaves = sorted((leaf for _, leaf in leaf_pairs(levels, path)), key=lambda leaf: leaf.document)
            return [leaf if key is None else leaf.with_readings(pairs[leaf.document].gold, key) for leaf in leaves]

        return self._collected(read)

    def _collected(self, read: Callable[[Sequence[Pair], Sequence[Level]], list[_Value]]) -> list[_Value]:
        values: list[_Value] = []

        def collect(pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
            values.extend(read(pairs, levels))
            return []

        evaluate(self.plan, self.joined, ExecutionOptions({"values": collect}, chance=False))
        return values
