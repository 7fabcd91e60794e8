"""What is kept of a corpus while its outcomes go by: columns, one row a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.corpus.evaluation import Columns, Evaluation
from arbitre.corpus.outcomes import Outcomes
from arbitre.curve import Steps
from arbitre.paths import order, wildcard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.corpus.chance import Chance
    from arbitre.corpus.records import Failure
    from arbitre.schema.nodes import Plan


class Totals:
    """Gathers outcomes in order.

    Of a document are kept its labels and 89 bytes, and 40 for every path that occurs in its part of the corpus.
    """

    def __init__(self) -> None:
        self._parts: list[Outcomes] = []
        self._steps = Steps()
        self._failures: list[Failure] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, outcomes: Outcomes) -> None:
        """Take in the outcomes of the next part, all but what observers noted."""
        self._steps.add(*outcomes.steps)
        self._failures += outcomes.failures
        self._parts.append(
            Outcomes(
                outcomes.ids,
                outcomes.runs,
                outcomes.tallies,
                outcomes.leaves,
                outcomes.qualities,
                outcomes.failed,
                outcomes.paths,
            )
        )

    def evaluation(
        self, plan: Plan, failures: Sequence[Failure], without_gold: tuple[str, ...], told: Callable[[], Chance]
    ) -> Evaluation:
        """What came of it all; `failures` are those that were known before anything was compared."""
        whole = Outcomes.joined(self._parts)
        paths = {path: whole.paths[path] for path in sorted(whole.paths, key=order)}
        columns = Columns(
            tuple(whole.ids), tuple(whole.runs), whole.tallies, whole.leaves, whole.qualities, whole.failed, paths
        )
        entries = columns.tally
        return Evaluation(
            signature=plan.signature,
            entries=wildcard(plan.entries),
            columns=columns,
            curve=self._steps.curve(entries.gold, entries.predicted),
            failures=(*failures, *self._failures),
            without_gold=without_gold,
            declared=tuple(row.path for row in plan.rows),
            told=told,
        )
