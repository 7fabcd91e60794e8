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
    from arbitre.engine.independent_matching import IndependentLevels
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

    def rows(self, path: str) -> tuple[list[Row], str | None]:
        """Return the single values at a path, each with the value it is matched with, and what items are matched by.

        Items of lists are matched without looking at the values of the path; see `Comparison.classification`. Whether
        other fields identify the items depends on all documents.
        """
        from arbitre.comparison.value_classes import value_rows  # noqa: PLC0415  (only used here)
        from arbitre.engine.independent_matching import independent_levels, matched_by  # noqa: PLC0415

        def read(_: Sequence[Pair], levels: Sequence[Level]) -> list[tuple[IndependentLevels, list[Row], list[Row]]]:
            independent = independent_levels(tuple(levels), path)
            rows = value_rows(levels, path)
            return [(independent, rows, value_rows(independent.levels, path) if independent.again else rows)]

        parts = self._collected(read)
        found = [independent.identification for independent, _, _ in parts if independent.identification.in_list]
        if not found:
            return [row for _, rows, _ in parts for row in rows], None
        items, twins = sum(each.items for each in found), sum(each.twins for each in found)
        how = matched_by(found[0].fixed, items, twins)
        return [row for _, rows, again in parts for row in (again if how == "other fields" else rows)], how

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
