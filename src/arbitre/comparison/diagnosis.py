"""Why a prediction is wrong: the diagnosis of a comparison, and its conversion to and from plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from arbitre.comparison.flat import FlatComparison, flat_fields
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Join:
    """Several items on one side (gold or predicted) that together correspond to a single item on the other.

    A merge combines two or more gold items into one predicted item; a split divides one gold item among two or more
    predicted items.

    Attributes:
        list: JSON Pointer of the list in the gold document.
        gold: Positions of the gold items.
        predicted: Positions of the predicted items.
        gain: Increase in quality when the items are joined.
    """

    list: str
    gold: tuple[int, ...]
    predicted: tuple[int, ...]
    gain: float


@dataclass(frozen=True, slots=True)
class Moved:
    """A value, object or list that is in a different place in the prediction than in gold.

    Attributes:
        path: Wildcard path of the value in gold.
        value: The value in gold.
        source: JSON Pointer of the value in the gold document.
        target: JSON Pointer of the value in the predicted document.
    """

    path: str
    value: Json
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class DoubtfulAlignment:
    """A gold item that is not matched with the predicted item that has the same text.

    Attributes:
        path: Wildcard path of the item.
        gold: JSON Pointer of the item in the gold document.
        predicted: JSON Pointer of the predicted item that it was matched with; None if it has no partner.
        alternative: JSON Pointer of the predicted item that has the same text.
        decided_by: Wildcard paths of the values that agree in the pair; empty if the item has no partner.
        texts: Wildcard paths of the texts that agree with the alternative.
    """

    path: str
    gold: str
    predicted: str | None
    alternative: str
    decided_by: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create an alignment from plain JSON."""
        lists = {"decided_by": tuple(data["decided_by"]), "texts": tuple(data["texts"])}
        return cls(**(dict(data) | lists))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. `from_dict` is the inverse."""
        return _plain(self) | {"decided_by": list(self.decided_by), "texts": list(self.texts)}


@dataclass(frozen=True, slots=True)
class Fault:
    """One leaf or list item that is not correct.

    Attributes:
        entry: JSON Pointer of the entry; in the prediction if gold has no such entry. None outside the entries.
        gold_pointer: JSON Pointer in the gold document; None if gold has no such value.
        predicted_pointer: JSON Pointer in the predicted document, with aliased fields in their place in the schema;
            None if the prediction has no such value.
        path: Wildcard path.
        fault: Class of the fault: close, wrong, wrong type, missing, spurious, moved, renamed, split or merged.
        gold: Value in gold; ABSENT if there is none.
        predicted: Predicted value; ABSENT if there is none.
        cost: The part of 1 - f1q of the entries that is due to the fault; the costs of a document add up to 1 - f1q. 0
            outside the entries.
    """

    entry: str | None
    gold_pointer: str | None
    predicted_pointer: str | None
    path: str
    fault: str
    gold: Json
    predicted: Json
    cost: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON, without absent values."""
        return {name: value for name, value in _plain(self).items() if value is not ABSENT}


@dataclass(frozen=True, slots=True)
class Diagnosis(FlatComparison):
    """Explains how a prediction differs from gold. Includes the flat comparison.

    Attributes:
        merges: Groups of gold items that the prediction merges into one item.
        splits: Gold items that the prediction splits into several.
        moved: Values, objects and lists in the wrong place.
        doubtful: Items that were not matched with the item that has their text, because less distinctive values
            prevailed.
        f1q_after_joins: f1q of the entries after the items of `merges` and `splits` are joined; None if undefined.
        repair_gain: Increase in the f1q of the entries if all faults of a class were repaired, by class.
        repair_gain_by_path: Increase in the f1q of the entries if all faults at a path were repaired, by wildcard path
            of the faults.
        order: Kendall's tau of the matched pairs, by JSON Pointer of the list in gold, for lists whose order matters;
            None for fewer than two pairs.
        verdicts: Number of values by wildcard path, side ("gold" or "predicted") and verdict.
        faults: The leaves and items that are not correct.
    """

    merges: tuple[Join, ...] = ()
    splits: tuple[Join, ...] = ()
    moved: tuple[Moved, ...] = ()
    doubtful: tuple[DoubtfulAlignment, ...] = ()
    f1q_after_joins: float | None = None
    repair_gain: Mapping[str, float] = field(default_factory=dict)
    repair_gain_by_path: Mapping[str, float] = field(default_factory=dict)
    order: Mapping[str, float | None] = field(default_factory=dict)
    verdicts: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. `from_dict` is the inverse."""
        return FlatComparison.to_dict(self) | {
            "merges": [_join(join) for join in self.merges],
            "splits": [_join(join) for join in self.splits],
            "moved": list(map(_plain, self.moved)),
            "doubtful": [alignment.to_dict() for alignment in self.doubtful],
            "f1q_after_joins": self.f1q_after_joins,
            "repair_gain": dict(self.repair_gain),
            "repair_gain_by_path": dict(self.repair_gain_by_path),
            "order": dict(self.order),
            "verdicts": {
                path: {side: dict(counts) for side, counts in sides.items()} for path, sides in self.verdicts.items()
            },
            "faults": [fault.to_dict() for fault in self.faults],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Diagnosis:
        """Create a diagnosis from the result of `to_dict`."""
        absent = {"gold": ABSENT, "predicted": ABSENT}
        parts: dict[str, Any] = {
            **flat_fields(data),
            "merges": tuple(_read_join(join) for join in data["merges"]),
            "splits": tuple(_read_join(join) for join in data["splits"]),
            "moved": tuple(Moved(**moved) for moved in data["moved"]),
            "doubtful": tuple(map(DoubtfulAlignment.from_dict, data["doubtful"])),
            "faults": tuple(Fault(**(absent | fault)) for fault in data["faults"]),
        }
        return cls(**(dict(data) | parts))


def _plain(record: Join | Moved | DoubtfulAlignment | Fault) -> dict[str, Any]:
    """Return the fields of a record by name; values are not copied."""
    return {entry.name: getattr(record, entry.name) for entry in fields(record)}


def _join(join: Join) -> dict[str, Any]:
    return _plain(join) | {"gold": list(join.gold), "predicted": list(join.predicted)}


def _read_join(data: Mapping[str, Any]) -> Join:
    return Join(data["list"], tuple(data["gold"]), tuple(data["predicted"]), data["gain"])
