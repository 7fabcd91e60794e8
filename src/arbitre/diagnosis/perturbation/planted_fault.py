"""Kinds of planted faults, and the record of one fault."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arbitre.values import Json


class FaultKind(StrEnum):
    """Kinds of faults, in the order in which they are planted in a list."""

    SPLIT = "split"
    MERGE = "merge"
    MOVE = "move"
    SWAP = "swap"
    DUPLICATE = "duplicate"
    DROP = "drop"
    INVENT = "invent"
    NOISE = "noise"
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One planted fault.

    Attributes:
        kind: Kind of the fault.
        gold: JSON Pointers of the affected values in the gold document; empty for an added entry. For a renamed
            field, its wildcard path.
        predicted: JSON Pointers of what became of them in the copy; empty for a dropped entry. For "move", "swap" and
            "noise", the n-th value of `gold` is at the n-th pointer of `predicted`.
    """

    kind: FaultKind
    gold: tuple[str, ...]
    predicted: tuple[str, ...]

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {"kind": self.kind.value, "gold": list(self.gold), "predicted": list(self.predicted)}
