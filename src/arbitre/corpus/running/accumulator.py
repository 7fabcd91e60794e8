"""Collects the results of a corpus in columns, with one row per document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arbitre.arrays import exact_parts, exact_sum
from arbitre.corpus.results.documents import DocumentTable
from arbitre.corpus.results.evaluation import Evaluation
from arbitre.corpus.running.document_results import PATH_WIDTH, TALLY_WIDTH
from arbitre.corpus.storage.compact_table import CompactTable, GrowingArray
from arbitre.corpus.storage.string_array import StringArray
from arbitre.curve import CurveAccumulator
from arbitre.paths import order, wildcard
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.corpus.reading.records import Failure
    from arbitre.corpus.results.chance import Chance
    from arbitre.corpus.running.document_results import DocumentResults
    from arbitre.schema.plan import Plan


class Accumulator:
    """Collects the results of work units, in order.

    Each document takes 65 bytes, the bytes of its id, and 26 bytes for each path that occurs in the corpus; more if
    masses are fractions, or above 255.
    """

    def __init__(self) -> None:
        self._ids, self._runs, self._names = StringArray(), list[str | None](), dict[str | None, str | None]()
        self._tallies = GrowingArray(np.float64, TALLY_WIDTH)
        self._qualities, self._failed = GrowingArray(np.float64), GrowingArray(np.bool_)
        self._paths: dict[str, CompactTable] = {}
        self._leaves: list[list[float]] = [[]] * TALLY_WIDTH
        self._steps = CurveAccumulator()
        self._failures: list[Failure] = []

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def cells(self) -> float:
        """Number of pairs of a gold entry and a predicted entry, summed over the documents."""
        tallies = self._tallies.view()
        return exact_sum(tallies[:, 0] * tallies[:, 1])

    def add(self, outcomes: DocumentResults) -> None:
        """Add the results of the next work unit, except the values from observers."""
        for path, rows in outcomes.paths.items():
            column = self._paths.setdefault(path, CompactTable(PATH_WIDTH))
            column.pad(len(self))
            column.extend(rows)
        self._ids.extend(outcomes.ids)
        self._runs += [self._names.setdefault(run, run) for run in outcomes.runs]  # equal names share one object
        self._tallies.extend(outcomes.tallies)
        self._qualities.extend(outcomes.qualities)
        self._failed.extend(outcomes.failed)
        self._leaves = [
            exact_parts([*parts, *column.tolist()])
            for parts, column in zip(self._leaves, outcomes.leaves.T, strict=True)
        ]
        self._steps.add(*outcomes.steps)
        self._failures += outcomes.failures

    def document_table(self) -> DocumentTable:
        """Return the results of all documents."""
        for column in self._paths.values():
            column.pad(len(self))
        return DocumentTable(
            self._ids,
            self._runs,
            self._tallies.view(),
            self._qualities.view(),
            self._failed.view(),
            {path: self._paths[path] for path in sorted(self._paths, key=order)},
        )

    def evaluation(
        self,
        plan: Plan,
        failures: Sequence[Failure],
        without_gold: tuple[str, ...],
        chance_factory: Callable[[], Chance] | None,
    ) -> Evaluation:
        """Return the evaluation.

        Args:
            plan: The compiled schema.
            failures: Failures from before the comparison.
            without_gold: Keys of predictions without a gold document.
            chance_factory: Computes the chance scores on first access; None if they are not wanted.
        """
        columns = self.document_table()
        entries = columns.tally
        return Evaluation(
            signature=plan.signature,
            entries=wildcard(plan.entries),
            document_table=columns,
            leaves=Scores(Tally(*map(math.fsum, self._leaves))),
            curve=self._steps.curve(entries.gold, entries.predicted),
            failures=(*failures, *self._failures),
            without_gold=without_gold,
            declared=tuple(row.path for row in plan.rows),
            chance_factory=chance_factory,
        )
