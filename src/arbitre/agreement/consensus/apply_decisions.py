"""Applies decisions to consensus documents."""

from __future__ import annotations

import copy
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.agreement.consensus.decisions import same
from arbitre.paths import order, parse, pointer
from arbitre.values import ABSENT, Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.agreement.consensus.decisions import Decision
    from arbitre.agreement.consensus.disagreement import Disagreement


class Place(NamedTuple):
    """A disagreement and the decision on it, if there is one."""

    disagreement: Disagreement
    decision: Decision | None

    @property
    def value(self) -> Json:
        """The value for the gold; ABSENT if it is left out."""
        return self.disagreement.proposal if self.decision is None else self.decision.value

    @property
    def changed(self) -> bool:
        """Whether the decision differs from the proposal."""
        return self.decision is not None and not same(self.decision.value, self.disagreement.proposal)


@dataclass(slots=True)
class Applied:
    """A document with the decisions on its disagreements.

    Attributes:
        document: The document.
        pointers: The pointer in the document of each disagreement that has a value there, by its id.
        settled: For each disagreement inside a value that another decision replaced or left out, the id of the
            disagreement of that value.
        ineffective: Ids of the decisions that have no effect, as the value that contains their place was left out or
            replaced by one that does not have the place.
    """

    document: Json
    pointers: dict[str, str] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
    ineffective: list[str] = field(default_factory=list)


def apply_decisions(
    document: Json, disagreements: Iterable[Disagreement], decisions: Mapping[str, Decision]
) -> Applied:
    """Apply decisions to a document, outer values first.

    A decision inside a value that was replaced by another decision applies to the new value. It has no effect if the
    new value does not contain its place: the value was left out, is of another kind, or contains another list on the
    way, so that positions no longer name the same items.

    Args:
        document: The consensus document, or ABSENT. It is not changed.
        disagreements: The disagreements in the document.
        decisions: Decisions by the id of their disagreement. An undecided disagreement keeps its proposal.
    """
    root = [GAP if document is ABSENT else copy.deepcopy(document)]
    applied = Applied(ABSENT)
    places = {each.pointer: Place(each, decisions.get(each.id)) for each in disagreements}
    for own, decision in sorted(places.values(), key=lambda place: order(place.disagreement.pointer)):
        above = _nearest_decided(own.pointer, places)
        blocked = above is not None and above.disagreement.id in applied.ineffective
        if above is not None and (blocked or above.changed):
            applied.settled[own.id] = applied.settled[above.disagreement.id] if blocked else above.disagreement.id
            blocked = blocked or not _contains(above, own.pointer)
        if decision is not None and (blocked or not _put(root, _tokens(own.pointer), decision.value)):
            applied.ineffective.append(own.id)
    for own, decision in places.values():
        if own.id not in applied.settled or (decision is not None and own.id not in applied.ineffective):
            final = _final_pointer(root, _tokens(own.pointer))
            if final is not None:
                applied.pointers[own.id] = final
    applied.document = next(iter(_without_gaps(root)), ABSENT)
    return applied


class _Gap(enum.Enum):
    GAP = "gap"


GAP: Final = _Gap.GAP
"""Stands for a list item that is left out until all decisions are applied, so that positions stay as they were."""


def _tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a pointer into a document, preceded by that of the document in its root."""
    return ("0", *map(str, parse(text)))


def _nearest_decided(text: str, places: Mapping[str, Place]) -> Place | None:
    """Return the innermost decided place that contains the value at a pointer."""
    while text:
        text = text.rpartition("/")[0]
        place = places.get(text)
        if place is not None and place.decision is not None:
            return place
    return None


def _contains(above: Place, text: str) -> bool:
    """Return whether the decided value contains the place at a pointer, as the proposal does."""
    pairs = above.disagreement.proposal, above.value
    for token in parse(text[len(above.disagreement.pointer) :]):
        old, new = pairs
        if isinstance(old, list) and isinstance(new, list):
            if not same(old, new):
                return False
            pairs = (old[int(str(token))],) * 2 if int(str(token)) < len(old) else (ABSENT, ABSENT)
        elif isinstance(old, dict) and isinstance(new, dict):
            pairs = old.get(token, ABSENT), new.get(token, ABSENT)
        else:
            return False
    return True


def _put(container: Json, tokens: Sequence[str], value: Json) -> bool:
    """Set or remove the value at a place. Return False if the document does not have the place."""
    for token in tokens[:-1]:
        container = _child(container, token)
    last = tokens[-1]
    if isinstance(container, dict):
        if value is ABSENT:
            container.pop(last, None)
        else:
            container[last] = copy.deepcopy(value)
    elif isinstance(container, list) and last.isdecimal():
        position = int(last)
        container.extend([GAP] * (position + 1 - len(container)))
        container[position] = GAP if value is ABSENT else copy.deepcopy(value)
    else:
        return False
    return True


def _child(container: Json, token: str) -> Json:
    if isinstance(container, dict):
        return container.get(token, ABSENT)
    if isinstance(container, list) and token.isdecimal() and int(token) < len(container):
        return container[int(token)]
    return ABSENT


def _final_pointer(container: Json, tokens: Sequence[str]) -> str | None:
    """Return the pointer of a place when the gaps are closed; None if it has no value."""
    final: list[str | int] = []
    for token in tokens:
        child = _child(container, token)
        if child is ABSENT or child is GAP:
            return None
        listed = isinstance(container, list)
        final.append(sum(item is not GAP for item in container[: int(token)]) if listed else token)
        container = child
    return pointer(final[1:])


def _without_gaps(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_gaps(item) for item in value if item is not GAP]
    return {key: _without_gaps(item) for key, item in value.items()} if isinstance(value, dict) else value
