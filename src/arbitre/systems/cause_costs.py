"""What each cause costs each system, which causes separate two systems, and values that all systems agree on."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Self

from arbitre.comparison.cause import CauseExample
from arbitre.language import Translator
from arbitre.tables.table import SCORE, Table, TableColumn, columns
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from arbitre.comparison.cause import CauseAnalysis


@dataclass(frozen=True, slots=True)
class CauseCost:
    """How much a cause lowers the pooled f1q of each system.

    Attributes:
        kind: Kind of the cause.
        path: First wildcard path of a systematic cause; None for faults that only look alike.
        costs: Decrease in pooled f1q by system; 0 for systems without this cause.
    """

    kind: str
    path: str | None
    costs: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CauseDifference:
    """How much each cause contributes to the difference between two systems.

    Attributes:
        better: Name of the system with the higher pooled f1q in the documents that were examined.
        worse: Name of the other system.
        difference: Difference of their pooled f1q.
        shares: The part of the difference that each cause explains, by its name, largest first. The parts add up to the
            difference; negative parts are causes that cost the better system more.
    """

    better: str
    worse: str
    difference: float
    shares: Mapping[str, float]

    def __str__(self) -> str:
        leading = [(name, share) for name, share in self.shares.items() if share > 0.0][:LEADING]
        reasons = ", ".join(f"{name} {share:+z.2f}" for name, share in leading)
        return f"{self.better} - {self.worse}: {self.difference:+z.2f}, of which {reasons}"


LEADING: Final = 2
"""Number of causes that are named for a difference."""

LEAST: Final = 5e-4
"""Minimum cost of a cause, in one of the systems, to be shown."""


@dataclass(frozen=True, slots=True)
class CauseCosts:
    """The cost of each cause for several systems, side by side.

    Attributes:
        f1q: Pooled f1q of each system in the documents that were examined.
        rows: The causes, the most costly first.
        differences: What separates each system from the one before it, in the order of f1q.
        notes: What limits the analysis.
        agreed: The values that all systems give, and gold does not have; None for a single system.
    """

    f1q: Mapping[str, float]
    rows: tuple[CauseCost, ...]
    differences: tuple[CauseDifference, ...]
    notes: tuple[str, ...] = ()
    agreed: AgreedValues | None = None

    @classmethod
    def of(cls, analyses: Mapping[str, CauseAnalysis]) -> CauseCosts:
        """Collect the costs of the causes of several systems.

        Args:
            analyses: The causes of each system, by its name.
        """
        costs: dict[tuple[str, str | None], dict[str, float]] = {}
        for name, analysis in analyses.items():
            for cause in analysis.causes:
                key = cause.kind, cause.paths[0] if cause.systematic and cause.paths else None
                row = costs.setdefault(key, dict.fromkeys(analyses, 0.0))
                row[name] += cause.cost
        ordered = sorted(costs.items(), key=lambda item: (-max(item[1].values()), item[0][0], item[0][1] or ""))
        rows = tuple(CauseCost(*key, row) for key, row in ordered)
        f1q = {name: 1.0 if one.f1q is None else one.f1q for name, one in analyses.items()}
        notes = tuple(dict.fromkeys(note for one in analyses.values() for note in one.notes))
        return cls(f1q, rows, tuple(_differences(f1q, rows)), notes, AgreedValues.of(analyses))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        plain = {
            "f1q": dict(self.f1q),
            "rows": [asdict(row) for row in self.rows],
            "differences": [asdict(one) for one in self.differences],
            "notes": list(self.notes),
        }
        return plain | ({} if self.agreed is None else {"agreed": self.agreed.to_dict()})

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CauseCosts:
        """Create the costs from the result of `to_dict`."""
        rows = tuple(CauseCost(**row) for row in plain["rows"])
        differences = tuple(CauseDifference(**one) for one in plain["differences"])
        agreed = AgreedValues.from_dict(plain["agreed"]) if "agreed" in plain else None
        return cls(plain["f1q"], rows, differences, tuple(plain["notes"]), agreed)

    def table(self) -> Table:
        """Return the costs of the causes as a table, one column for each system."""
        head = (
            *(TableColumn("cause", said=Translator.cause), TableColumn("path", kind="path")),
            *columns(*self.f1q, written=SCORE, named=True),
        )
        rows: list[tuple[str | float | None, ...]] = [
            (row.kind, row.path, *row.costs.values()) for row in self.rows if max(row.costs.values()) >= LEAST
        ]
        said = tuple(f"{difference}." for difference in self.differences if difference.shares)
        said += (f"{self.agreed}.",) if self.agreed is not None and self.agreed.count else ()
        note = "Cost in pooled f1q; the costs of a system add up to 1 - f1q."
        table = Table.of("Cost of each cause", head, rows, notes=(*said, *self.notes, note))
        return table if any(row.path is not None for row in self.rows) else table.without("path")


def _differences(f1q: Mapping[str, float], rows: tuple[CauseCost, ...]) -> Iterator[CauseDifference]:
    ranked = sorted(f1q, key=lambda name: -f1q[name])
    for better, worse in pairwise(ranked):
        parts: dict[str, list[float]] = {}
        for row in rows:
            parts.setdefault(row.kind, []).append(row.costs[worse] - row.costs[better])
        shares = {kind: math.fsum(part) for kind, part in parts.items()}
        largest = sorted((item for item in shares.items() if item[1]), key=lambda item: -item[1])
        if f1q[better] > f1q[worse]:
            yield CauseDifference(better, worse, f1q[better] - f1q[worse], dict(largest))


# Values that all systems give where gold has another one or none: gold may be wrong there.


EXAMPLES: Final = 20
"""Maximum number of examples."""


@dataclass(frozen=True, slots=True)
class AgreedValues:
    """The values that all systems predict but gold does not contain.

    Values are the same if they are equal as JSON. Faults with a systematic cause, such as a different date notation, do
    not count. Values that all systems omit do not count either, because the source may be hard to read there. Several
    runs of one document count once.

    Attributes:
        systems: Names of the systems.
        count: Number of values.
        documents: Number of documents with such a value.
        paths: Number of values by wildcard path, most frequent first.
        examples: Up to 20 of the values as faults of the first system, from different documents if possible.
    """

    systems: tuple[str, ...]
    count: int
    documents: int
    paths: Mapping[str, int]
    examples: tuple[CauseExample, ...]

    @classmethod
    def of(cls, analyses: Mapping[str, CauseAnalysis]) -> Self | None:
        """Collect the values that the faults of all systems share; None for one system, or if its faults are unknown.

        Args:
            analyses: The causes of each system, by its name.
        """
        known = [one.faults for one in analyses.values() if one.faults is not None]
        if not 1 < len(known) == len(analyses):
            return None
        first, *others = ({_claim(fault): fault for fault in faults} for faults in known)
        shared = {claim: fault for claim, fault in first.items() if all(claim in one for one in others)}
        faults = list({(fault.id, *claim[2:]): fault for claim, fault in shared.items()}.values())
        seen: Counter[str] = Counter()
        turns = list[tuple[int, int, CauseExample]]()
        for fault in faults:
            turns.append((seen[fault.id], len(turns), fault))
            seen[fault.id] += 1
        turns.sort(key=lambda turn: turn[:2])
        paths = Counter(fault.path for fault in faults)
        examples = tuple(fault for _, _, fault in turns[:EXAMPLES])
        return cls(tuple(analyses), len(faults), len(seen), dict(paths.most_common()), examples)

    def __str__(self) -> str:
        one = self.count == 1
        values, documents = "value" if one else "values", "document" if self.documents == 1 else "documents"
        return (
            f"{self.count} {values} in {self.documents} {documents}: all systems agree, but gold differs. "
            f"Check gold there first"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. `from_dict` is the inverse."""
        return {
            "systems": list(self.systems),
            "count": self.count,
            "documents": self.documents,
            "paths": dict(self.paths),
            "examples": [example.to_dict() for example in self.examples],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Create the values from the result of `to_dict`."""
        rows = {"systems": tuple(plain["systems"]), "examples": tuple(map(CauseExample.from_dict, plain["examples"]))}
        return cls(**(dict(plain) | rows))


def _claim(fault: CauseExample) -> tuple[Hashable, ...]:
    """Return what a fault says about gold: the document, the place and the value."""
    return fault.id, fault.run, fault.place, canonical(fault.predicted)
