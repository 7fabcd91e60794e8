"""Values that all systems give where gold has another one or none: gold may be wrong there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from arbitre.comparison.cause import CauseExample
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from arbitre.comparison.cause import CauseAnalysis

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
