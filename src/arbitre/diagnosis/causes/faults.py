"""The faults of a batch of documents, and what their repair would gain."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arbitre.comparison.diagnosis import Fault
from arbitre.diagnosis.causes.fault_rows import FaultRows
from arbitre.diagnosis.causes.links import find_links
from arbitre.diagnosis.causes.rematch import rematched_gains
from arbitre.diagnosis.causes.repair_gain import RepairChanges, f1q_gain, repair_changes
from arbitre.diagnosis.causes.taxonomy import FAULTS, Taxonomy, classify, verdict_counts
from arbitre.paths import order, wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats
    from arbitre.comparison.diagnosis import DoubtfulAlignment
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.causes.joins import JoinedItems
    from arbitre.diagnosis.moves.moved import MovedNodes
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


@dataclass(frozen=True, eq=False, slots=True)
class FaultResults:
    """The faults of documents that were compared together.

    Attributes:
        taxonomy: The verdicts of all nodes.
        rows: The faults.
        changes: Changes of the tallies if faults were repaired.
        gains: Increases in f1q for each class, shape (documents, classes), and for each path, (documents, paths).
        counts: Numbers of values (see `Taxonomy.counts`).
        doubtful: The doubtful alignments of each document, if they are recorded.
    """

    taxonomy: Taxonomy
    rows: FaultRows
    changes: RepairChanges
    gains: tuple[Floats, Floats]
    counts: Floats
    doubtful: Sequence[Sequence[DoubtfulAlignment]] = ()

    @classmethod
    def of(
        cls,
        plan: Plan,
        gold: Sequence[Json],
        levels: Sequence[Level],
        joins: Sequence[Sequence[JoinedItems]] = (),
        moved: Sequence[Sequence[MovedNodes]] = (),
        *,
        rematch: bool = False,
    ) -> FaultResults:
        """Return the faults of documents.

        Args:
            plan: The compiled schema.
            gold: The gold documents; ABSENT for a missing document.
            levels: The levels of the documents, compared together.
            joins: Splits and merges of each document.
            moved: Nodes of the moved values of each document.
            rematch: Whether to compute the gains by comparing repaired documents again.

        Raises:
            DataError: `rematch` is set, and items are matched by transport.
        """
        links = find_links(levels, joins, moved)
        taxonomy = classify(levels, len(gold), wildcard(plan.entries), plan.close, links)
        changes = repair_changes(taxonomy)
        if rematch:
            gains = rematched_gains(plan, gold, taxonomy)
        else:
            gains = f1q_gain(taxonomy.tallies, changes.classes), f1q_gain(taxonomy.tallies, changes.paths)
        return cls(taxonomy, FaultRows(taxonomy), changes, gains, taxonomy.counts())

    def parts_of(self, document: int) -> dict[str, Any]:
        """Return the fields of `Diagnosis` on faults and repairs, for one document."""
        rows = self.rows
        here = range(bisect_left(rows.documents, document), bisect_left(rows.documents, document + 1))
        faulty = sorted({rows.paths[at] for at in here}, key=order)
        classes, paths = (gains[document].tolist() for gains in self.gains)
        by_path = dict(zip(self.taxonomy.paths, paths, strict=True))
        return {
            "verdicts": verdict_counts(self.taxonomy.paths, self.counts[document]),
            "repair_gain": dict(zip(FAULTS, classes, strict=True)),
            "repair_gain_by_path": {path: by_path[path] for path in faulty},
            "faults": tuple(
                Fault(
                    rows.entries[at],
                    rows.gold_pointers[at],
                    rows.predicted_pointers[at],
                    rows.paths[at],
                    rows.faults[at],
                    rows.gold[at],
                    rows.predicted[at],
                    rows.costs[at],
                )
                for at in here
            ),
        }
