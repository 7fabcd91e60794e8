"""The diagnosis of a corpus: its faults by path and class, and what they cost."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.arrays import exact_parts
from arbitre.comparison.diagnosis import DoubtfulAlignment
from arbitre.diagnosis.evidence import EvidenceTotals, MissingGroup, NeighbourCounts, SourceEvidence
from arbitre.diagnosis.repair_gain import f1q_gain
from arbitre.diagnosis.taxonomy import FAULTS, VERDICTS, verdict_counts
from arbitre.inputs import records
from arbitre.paths import order
from arbitre.values import SIDES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.diagnosis.faults import FaultResults
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.records import Pair
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """The faults of one class at one path.

    Attributes:
        path: Wildcard path.
        fault: Class of the faults.
        count: Number of faults.
        cost: Decrease in pooled f1q due to the faults; the costs of all faults add up to 1 - f1q.
        share: Share of the cost of all faults; None if they cost nothing.
    """

    path: str
    fault: str
    count: int
    cost: float
    share: float | None


@dataclass(frozen=True, slots=True)
class DocumentAlignment(DoubtfulAlignment):
    """A doubtful alignment, with the document that it occurs in.

    Attributes:
        id: Id of the document.
        run: Run of the prediction; None if it has none.
    """

    id: str
    run: str | None

    @property
    def key(self) -> str:
        """Id and run of the document as one text."""
        return records.key(self.id, self.run)


MAX_DOUBTFUL: Final = 100
"""Maximum number of doubtful alignments that are listed."""


@dataclass(frozen=True, slots=True)
class CorpusDiagnosis:
    """Explains how the predictions of a corpus differ from gold.

    Attributes:
        faults: The faults by path and class, the most costly first.
        repair_gain: Increase in pooled f1q if all faults of a class were repaired, by class.
        repair_gain_by_path: Increase in pooled f1q if all faults at a path were repaired, by wildcard path.
        verdicts: Number of values by wildcard path, side ("gold" or "predicted") and verdict.
        missing_groups: Gold values and missing values by kind of value and by position in the list.
        neighbours: Spurious values that the gold of a neighbouring document has, by path; empty for a single document.
        source: Missing and spurious values that occur in the texts given to the model; None without texts.
        doubtful: The first 100 doubtful alignments.
        doubtful_count: Number of all doubtful alignments.
    """

    faults: tuple[FaultGroup, ...]
    repair_gain: Mapping[str, float]
    repair_gain_by_path: Mapping[str, float]
    verdicts: Mapping[str, Mapping[str, Mapping[str, float]]]
    missing_groups: tuple[MissingGroup, ...] = ()
    neighbours: tuple[NeighbourCounts, ...] = ()
    source: SourceEvidence | None = None
    doubtful: tuple[DocumentAlignment, ...] = ()
    doubtful_count: int = 0

    @property
    def gathering(self) -> tuple[MissingGroup, ...]:
        """Former name of `missing_groups`, and its key in files."""
        return self.missing_groups

    @property
    def notes(self) -> tuple[str, ...]:
        """What to check before the figures are used: where the matching is doubtful."""
        if not self.doubtful:
            return ()
        first, number = self.doubtful[0], self.doubtful_count
        pair = "has no partner" if first.predicted is None else f"is matched with {first.predicted}"
        reason = f" because of {', '.join(first.decided_by)}" if first.decided_by else ""
        text = (
            f"{'1 alignment is' if number == 1 else f'{number} alignments are'} doubtful. In {first.key}, gold item "
            f"{first.gold} {pair}{reason}, but {first.alternative} of the prediction has its text "
            f"({', '.join(first.texts)}). Give fields that may be wrong, such as counts, a lower weight, or match by "
            "another key."
        )
        return (text,)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. `from_dict` is the inverse."""
        rows = {name: [asdict(row) for row in getattr(self, name)] for name in _ROWS}
        rows["doubtful"] = [row.to_dict() for row in self.doubtful]
        return {_KEYS.get(name, name): value for name, value in (asdict(self) | rows).items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CorpusDiagnosis:
        """Create a diagnosis from the result of `to_dict`."""
        data = {_NAMES.get(key, key): value for key, value in data.items()}
        rows = {name: tuple(kind(**row) for row in data[name]) for name, kind in _ROWS.items()}
        source = data.get("source")
        rows["doubtful"] = tuple(map(DocumentAlignment.from_dict, data.get("doubtful", ())))
        return cls(**{**data, **rows, "source": None if source is None else SourceEvidence.from_dict(source)})


_KEYS: Final[Mapping[str, str]] = {"missing_groups": "gathering"}
"""Keys in files that differ from the names of the attributes."""
_NAMES: Final = {key: name for name, key in _KEYS.items()}
_ROWS: Final[Mapping[str, type[Any]]] = {
    "faults": FaultGroup,
    "missing_groups": MissingGroup,
    "neighbours": NeighbourCounts,
}


@dataclass(slots=True)
class DiagnosisTotals:
    """Sums over documents, from which the diagnosis of a corpus follows. Their order matters only for `doubtful`."""

    _sums: defaultdict[tuple[str, ...], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Terms of each sum, by what they count; compressed without changing the sum."""
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _evidence: EvidenceTotals = field(default_factory=EvidenceTotals)
    _doubtful: list[DocumentAlignment] = field(default_factory=list)
    _doubts: int = 0

    def add(self, note: Mapping[str, Any]) -> None:
        """Add the summands of some documents (see `notes_of`, `evidence_of` and `shares_in_source`)."""
        self._evidence.add(note)
        for key, parts in note["sums"]:
            self._sums[tuple(key)] = exact_parts([*self._sums[tuple(key)], *parts])
        for path, fault, count in note["counts"]:
            self._counts[path, fault] += count
        self._doubts += note["doubts"]
        room = MAX_DOUBTFUL - len(self._doubtful)
        self._doubtful += map(DocumentAlignment.from_dict, note["doubtful"][:room])

    def _sum(self, *key: str) -> float:
        return math.fsum(self._sums.get(key, ()))

    def diagnosis(self, documents: JoinedCorpus, *, sourced: bool) -> CorpusDiagnosis:
        """Return the diagnosis.

        Args:
            documents: All documents of the corpus, to look for spurious values in the gold of others.
            sourced: Whether the source texts were searched.
        """
        size, mass = self._sum("size"), self._sum("mass")
        tally = np.array([size, 0.0, 0.0, mass, 0.0])
        paths = sorted({path for path, _ in self._counts}, key=order)
        gains = {
            kind: dict(zip(names, self._gains(kind, names, tally), strict=True))
            for kind, names in (("class", FAULTS), ("path", paths))
        }
        costs = {key: self._sum("lost", *key) / size if size else 0.0 for key in self._counts}
        total = math.fsum(costs.values())
        faults = [
            FaultGroup(*key, count, costs[key], costs[key] / total if total else None)
            for key, count in self._counts.items()
        ]
        faults.sort(key=lambda group: (-group.cost, -group.count, order(group.path), FAULTS.index(group.fault)))
        return CorpusDiagnosis(
            tuple(faults),
            gains["class"],
            gains["path"],
            self._verdicts(),
            self._evidence.missing_groups(),
            self._evidence.neighbours(documents),
            self._evidence.source() if sourced else None,
            tuple(self._doubtful),
            self._doubts,
        )

    def _gains(self, kind: str, names: Sequence[str], tally: np.ndarray[Any, Any]) -> list[float]:
        changes = [[self._sum(kind, name, part) for part in _CHANGES] for name in names]
        gains: list[float] = f1q_gain(tally, np.array(changes).reshape(-1, len(_CHANGES))).tolist()
        return gains

    def _verdicts(self) -> dict[str, Mapping[str, Mapping[str, float]]]:
        keys = [key[1:] for key in self._sums if key[0] == "verdict"]
        paths = sorted({path for path, _, _ in keys}, key=order)
        counts = np.zeros((len(paths), len(SIDES), len(VERDICTS)))
        numbers = {path: number for number, path in enumerate(paths)}
        for path, side, verdict in keys:
            place = numbers[path], SIDES.index(side), VERDICTS.index(verdict)
            counts[place] = self._sum("verdict", path, side, verdict)
        return verdict_counts(paths, counts)


_CHANGES = ("predicted", "quality")


def notes_of(pairs: Sequence[Pair], results: FaultResults) -> dict[str, Json]:
    """Return the partial sums of documents for `DiagnosisTotals`, as JSON; sums are exact (see `exact_parts`)."""
    taxonomy, rows = results.taxonomy, results.rows
    lost: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for path, fault, loss in zip(rows.paths, rows.faults, rows.lost, strict=True):
        lost[path, fault].append(loss)
    columns: dict[tuple[str, ...], list[float]] = {("lost", *key): losses for key, losses in lost.items()}
    columns |= {("size",): taxonomy.size.tolist(), ("mass",): taxonomy.tallies[:, 3].tolist()}
    for kind, names, changes in zip(("class", "path"), (FAULTS, taxonomy.paths), results.changes, strict=True):
        for repair, part in np.argwhere(changes.any(axis=0)).tolist():
            columns[kind, names[repair], _CHANGES[part]] = changes[:, repair, part].tolist()
    for path, side, verdict in np.argwhere(results.counts.any(axis=0)).tolist():
        key = "verdict", taxonomy.paths[path], SIDES[side], VERDICTS[verdict]
        columns[key] = results.counts[:, path, side, verdict].tolist()
    doubtful = [
        alignment.to_dict() | {"id": pair.id, "run": pair.run}
        for pair, alignments in zip(pairs, results.doubtful, strict=True)
        for alignment in alignments
    ]
    return {
        "sums": [[[*key], [*exact_parts(values)]] for key, values in columns.items()],
        "counts": [[*key, len(losses)] for key, losses in lost.items()],
        "doubts": len(doubtful),
        "doubtful": [*doubtful[:MAX_DOUBTFUL]],
    }
