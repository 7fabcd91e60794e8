"""The values at a path of all documents, for the confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.comparison.value_classes import value_rows
from arbitre.corpus.running.evaluate import ExecutionOptions, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.comparison.value_classes import Row
    from arbitre.corpus.reading.records import Pair
    from arbitre.corpus.running.evaluate import Triple
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


def corpus_value_rows(plan: Plan, pairs: Iterable[Pair | Triple], path: str) -> list[Row]:
    """Compare documents and return the single values at a wildcard path; see `value_rows`."""
    rows: list[Row] = []

    def collect(_: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        rows.extend(value_rows(levels, path))
        return []

    evaluate(plan, pairs, ExecutionOptions({"values": collect}, chance=False))
    return rows
