"""The references of a comparison: which ids of gold and of the prediction are the same items, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from arbitre.comparison.coreference import CoreferenceCounts, CoreferenceScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.paths import Path

Id = str | int | tuple[str | int, ...]
"""An id: a text or an integer, or several for a composite id."""


class ReferenceNote(NamedTuple):
    """A note on a wrong, missing or spurious reference.

    Attributes:
        to: Title of the predicted item, or the id if no item has it; None if the reference is missing.
        dangling: Whether no item of the prediction has the id.
        expected: Title of the gold item; None if the reference is spurious.
    """

    to: str | None
    dangling: bool
    expected: str | None

    @property
    def text(self) -> str:
        """The note in words.

        >>> ReferenceNote("Bob", False, "Ada").text
        'points to Bob, should point to Ada'
        """
        to = None if self.to is None else f"points to {self.to}{' (no item has this id)' * self.dangling}"
        expected = None if self.expected is None else f"should point to {self.expected}"
        return ", ".join(filter(None, (to, expected)))


class ReferredItem(NamedTuple):
    """The item that a reference points to.

    Attributes:
        title: Its title, or its id.
        path: Wildcard path of the item; None if no item has the id.
        tokens: Tokens of the item in its document; () if no item has the id.
    """

    title: str
    path: Path | None
    tokens: tuple[int | str, ...]


class UnpairedIds(NamedTuple):
    """Ids of the items without a partner; None means an item without an id."""

    gold: tuple[Id | None, ...]
    predicted: tuple[Id | None, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ScopeReferences:
    """The pairing of gold ids with predicted ids in one scope, and the references to these ids.

    Attributes:
        pairs: Gold id and predicted id of each pair of partners, in the order of gold; None for an item without an id.
        unpaired: Ids of the items without a partner.
        dangling: Ids that predicted references use but no predicted item has.
        repeated: Ids that more than one predicted item has; only the first item keeps the id.
        objective: Quality of the document with this correspondence, before references are graded.
        bound: Upper bound of that quality over all correspondences.
        proven: Whether the correspondence is proven to be the best.
        mentions: Entity of each reference, in gold and in the prediction; None where it is missing. References are
            paired as the comparison matches them.
        find_ambiguous: Finds `ambiguous`; None if it is known.
        known_ambiguous: The groups of `ambiguous` if they are known.
    """

    pairs: tuple[tuple[Id | None, Id | None], ...]
    unpaired: UnpairedIds
    dangling: tuple[Id, ...]
    repeated: tuple[Id, ...]
    objective: float
    bound: float
    proven: bool
    mentions: Sequence[tuple[int | None, int | None]] = field(default=(), repr=False)
    find_ambiguous: Callable[[], tuple[tuple[Id, ...], ...]] | None = field(default=None, repr=False)
    known_ambiguous: tuple[tuple[Id, ...], ...] = field(default=(), repr=False)

    @property
    def ambiguous(self) -> tuple[tuple[Id, ...], ...]:
        """Groups of interchangeable gold ids, computed on access.

        A symmetry of gold maps any id of a group to any other, possibly together with further items. Their pairing is
        arbitrary and does not change a score.
        """
        return self.known_ambiguous if self.find_ambiguous is None else self.find_ambiguous()

    @property
    def coreference_counts(self) -> CoreferenceCounts:
        """The counts from which `coreference` is computed; those of several documents can be added."""
        return counts_of(self.mentions)

    @property
    def coreference(self) -> CoreferenceScores:
        """The coreference scores, if the references to an item are the mentions of an entity."""
        return self.coreference_counts.scores

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON; `from_dict` is the inverse."""
        return {
            "pairs": [list(map(_plain, pair)) for pair in self.pairs],
            "unpaired": {side: list(map(_plain, ids)) for side, ids in self.unpaired._asdict().items()},
            "dangling": list(map(_plain, self.dangling)),
            "repeated": list(map(_plain, self.repeated)),
            "ambiguous": [list(map(_plain, group)) for group in self.ambiguous],
            "objective": self.objective,
            "bound": self.bound,
            "proven": self.proven,
            "mentions": [list(entities) for entities in self.mentions],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ScopeReferences:
        """Create the references of a scope from the result of `to_dict`."""
        pairs = tuple((_id(gold), _id(predicted)) for gold, predicted in data["pairs"])
        unpaired = UnpairedIds(*(tuple(map(_id, data["unpaired"][side])) for side in UnpairedIds._fields))
        return cls(
            pairs,
            unpaired,
            tuple(map(_id, data["dangling"])),
            tuple(map(_id, data["repeated"])),
            data["objective"],
            data["bound"],
            data["proven"],
            [(gold, predicted) for gold, predicted in data["mentions"]],
            known_ambiguous=tuple(tuple(map(_id, group)) for group in data["ambiguous"]),
        )


def counts_of(mentions: Sequence[tuple[int | None, int | None]]) -> CoreferenceCounts:
    """Return the coreference counts of mentions, given by their entity in gold and in the prediction, or None."""
    sides: list[dict[int, list[int]]] = [{}, {}]
    for number, entities in enumerate(mentions):
        for side, entity in zip(sides, entities, strict=True):
            if entity is not None:
                side.setdefault(entity, []).append(number)
    return CoreferenceCounts.of(*(list(side.values()) for side in sides))


def _plain(key: Id | None) -> Any:  # noqa: ANN401
    return list(key) if isinstance(key, tuple) else key


def _id(value: Any) -> Any:  # noqa: ANN401
    return tuple(value) if isinstance(value, list) else value
