"""Collects the outcomes of a corpus in columns, one row per document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.corpus.column import Column
from arbitre.corpus.evaluation import Columns, Evaluation
from arbitre.corpus.outcomes import PARTS
from arbitre.corpus.sums import Sums
from arbitre.corpus.texts import Texts
from arbitre.curve import Steps
from arbitre.paths import order, wildcard
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.corpus.chance import Chance
    from arbitre.corpus.outcomes import Outcomes
    from arbitre.corpus.records import Failure
    from arbitre.schema.nodes import Plan


class Totals:
    """Collects outcomes in order.

    Each document takes 65 bytes, the bytes of its id, and 40 for each path that occurs in the corpus.
    """

    def __init__(self) -> None:
        self._ids, self._runs, self._names = Texts(), list[str | None](), dict[str | None, str | None]()
        self._tallies, self._qualities, self._failed = _tallies(), Column(np.float64), Column(np.bool_)
        self._paths: dict[str, Column] = {}
        self._leaves, self._steps = Sums(PARTS), Steps()
        self._failures: list[Failure] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, outcomes: Outcomes) -> None:
        """Add the outcomes of the next part, except what observers noted."""
        for path, rows in outcomes.paths.items():
            column = self._paths.setdefault(path, _tallies())
            column.pad(len(self))
            column.extend(rows)
        self._ids.extend(outcomes.ids)
        self._runs += [self._names.setdefault(run, run) for run in outcomes.runs]  # equal names are one object
        self._tallies.extend(outcomes.tallies)
        self._qualities.extend(outcomes.qualities)
        self._failed.extend(outcomes.failed)
        self._leaves.add(outcomes.leaves)
        self._steps.add(*outcomes.steps)
        self._failures += outcomes.failures

    def evaluation(
        self, plan: Plan, failures: Sequence[Failure], without_gold: tuple[str, ...], told: Callable[[], Chance]
    ) -> Evaluation:
        """Return the evaluation.

        Args:
            plan: The compiled schema.
            failures: The failures that were known before any document was compared.
            without_gold: The keys of predictions without a gold document.
            told: Computes the chance scores when they are asked for.
        """
        for column in self._paths.values():
            column.pad(len(self))
        columns = Columns(
            self._ids,
            self._runs,
            self._tallies.view(),
            self._qualities.view(),
            self._failed.view(),
            {path: self._paths[path].view() for path in sorted(self._paths, key=order)},
        )
        entries = columns.tally
        return Evaluation(
            signature=plan.signature,
            entries=wildcard(plan.entries),
            columns=columns,
            leaves=Scores(Tally(*self._leaves())),
            curve=self._steps.curve(entries.gold, entries.predicted),
            failures=(*failures, *self._failures),
            without_gold=without_gold,
            declared=tuple(row.path for row in plan.rows),
            told=told,
        )


def _tallies() -> Column:
    return Column(np.float64, PARTS)
