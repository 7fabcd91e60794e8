"""Faults of single entries of a list: one function for each kind, from the entries to their replacement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from arbitre.diagnosis.perturbation.noise import add_noise, invent
from arbitre.diagnosis.perturbation.planted_fault import FaultKind
from arbitre.values import equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

    from arbitre.values import Json

Tokens = tuple[str | int, ...]

ABSENT: Final[tuple[Json, ...]] = (None, "", [])
"""Values of a field into which another value may be moved."""


@dataclass(slots=True)
class Edit:
    """The replacement of one or two entries of a list.

    Attributes:
        items: For each of the entries, the items that replace it.
        gold: Affected values: the number of the entry, 0 or 1, and the tokens in it.
        predicted: What became of them: the number of the entry, the number of the item that replaces it, and the tokens
            in that item.
    """

    items: tuple[list[Json], ...]
    gold: list[tuple[int, Tokens]] = field(default_factory=list)
    predicted: list[tuple[int, int, Tokens]] = field(default_factory=list)


def drop(_entries: Sequence[Json], _: np.random.Generator) -> Edit:
    """Drop an entry."""
    return Edit(([],), [(0, ())])


def duplicate(entries: Sequence[Json], _: np.random.Generator) -> Edit | None:
    """Repeat an entry."""
    return Edit(([entries[0], entries[0]],), [(0, ())], [(0, 0, ()), (0, 1, ())])


def add(entries: Sequence[Json], rng: np.random.Generator) -> Edit | None:
    """Add an entry with the keys of this one and random values after it."""
    return Edit(([entries[0], invent(entries[0], rng)],), [], [(0, 1, ())])


def split(entries: Sequence[Json], rng: np.random.Generator) -> Edit | None:
    """Split an entry into two or three: each gets part of its lists, and all of its other values."""
    entry = entries[0]
    lists = _lists(entry)
    longest = max(map(len, lists.values()), default=0)
    if not isinstance(entry, dict) or longest < 2:  # noqa: PLR2004  (a part each)
        return None
    parts = int(rng.integers(2, min(3, longest) + 1))
    pieces: list[Json] = [
        entry
        | {key: items[len(items) * part // parts : len(items) * (part + 1) // parts] for key, items in lists.items()}
        for part in range(parts)
    ]
    return Edit((pieces,), [(0, ())], [(0, part, ()) for part in range(parts)])


def merge(entries: Sequence[Json], _: np.random.Generator) -> Edit | None:
    """Merge two entries that have items in the same list: join the lists, keep the other values of the first."""
    first, *others = entries
    if not others or not isinstance(first, dict) or not isinstance(others[0], dict):
        return None
    second = others[0]
    kept, added = _lists(first), _lists(second)
    if not any(kept[key] and added.get(key) for key in kept):
        return None
    joined = {
        key: [*kept.get(key, []), *items] for key, items in added.items() if first.get(key) is None or key in kept
    }
    return Edit(([first | joined], []), [(0, ()), (1, ())], [(0, 0, ())])


def swap(entries: Sequence[Json], rng: np.random.Generator) -> Edit | None:
    """Swap a field of two entries that has different values."""
    if len(entries) < 2:  # noqa: PLR2004
        return None
    left, right = (dict(values_of(entry)) for entry in entries)
    differing = [
        place
        for place, value in left.items()
        if place in right and value not in ABSENT and right[place] not in ABSENT and not equal(value, right[place])
    ]
    if not differing:
        return None
    place = differing[int(rng.integers(len(differing)))]
    first, second = (put(entries[0], place, right[place]), put(entries[1], place, left[place]))
    return Edit(([first], [second]), [(0, place), (1, place)], [(1, 0, place), (0, 0, place)])


def move(entries: Sequence[Json], rng: np.random.Generator) -> Edit | None:
    """Move a value to another entry, or to another field of the same entry.

    List items are moved to the end of another list that does not contain them, other values into a field that is empty.
    """
    moves = list(_moves(entries))
    if not moves:
        return None
    source, number, target = moves[int(rng.integers(len(moves)))]
    edited = list(entries)
    value = at(edited[0], source)
    edited[0] = without(edited[0], source)
    container = at(edited[number], target) if isinstance(source[-1], int) else None
    place = (*target, len(container)) if isinstance(container, list) else target
    edited[number] = put(edited[number], place, value)
    return Edit(tuple([item] for item in edited), [(0, source)], [(number, 0, place)])


def _moves(entries: Sequence[Json]) -> Iterator[tuple[Tokens, int, Tokens]]:
    """Yield each possible move: a value of the first entry, the number of the target's entry, and the target."""
    places = [dict(values_of(entry)) for entry in entries]
    for source, value in places[0].items():
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for position, item in items:
            if item in ABSENT or isinstance(item, (bool, dict, list)):
                continue
            for number, targets in enumerate(places):
                for target, present in targets.items():
                    if (target == source) == (number == 0):  # another field of this entry, or the same of another
                        continue
                    if position is None and present in (None, ""):
                        yield source, number, target
                    elif position is not None and isinstance(present, list) and _takes(present, item):
                        yield (*source, position), number, target


def _takes(items: Sequence[Json], item: Json) -> bool:
    """Return whether a list has items, all of them of the kind of `item` but none equal to it."""
    return bool(items) and all(type(other) is type(item) and not equal(other, item) for other in items)


def noise(entries: Sequence[Json], rng: np.random.Generator) -> Edit | None:
    """Misread characters of all texts of an entry."""
    entry = entries[0]
    places = [place for place, text in _texts(entry) if any(char.isalnum() for char in text)]
    for place in places:
        text = at(entry, place)
        entry = put(entry, place, add_noise(text, rng)) if isinstance(text, str) else entry
    return Edit(([entry],), [(0, place) for place in places], [(0, 0, place) for place in places]) if places else None


FAULTS: Final[Mapping[FaultKind, tuple[int, Callable[[Sequence[Json], np.random.Generator], Edit | None]]]] = {
    FaultKind.SPLIT: (1, split),
    FaultKind.MERGE: (2, merge),
    FaultKind.MOVE: (2, move),
    FaultKind.SWAP: (2, swap),
    FaultKind.DUPLICATE: (1, duplicate),
    FaultKind.DROP: (1, drop),
    FaultKind.INVENT: (1, add),
    FaultKind.NOISE: (1, noise),
}
"""For each kind, the number of affected entries, and the function, which returns None if the fault is impossible."""


def values_of(value: Json, above: Tokens = ()) -> Iterator[tuple[Tokens, Json]]:
    """Yield the place and value of every field of an object and of nested objects; a list is one value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from values_of(inner, (*above, key))
    elif above:
        yield above, value


def _lists(entry: Json) -> dict[str, list[Json]]:
    return {key: value for key, value in entry.items() if isinstance(value, list)} if isinstance(entry, dict) else {}


def _texts(value: Json, above: Tokens = ()) -> Iterator[tuple[Tokens, str]]:
    if isinstance(value, str):
        yield above, value
    elif isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*above, key))


def at(value: Any, place: Tokens) -> Json:  # noqa: ANN401  (indexed)
    """Return the value at a place."""
    for token in place:
        value = value[token]
    return value


def put(value: Any, place: Tokens, new: Json) -> Json:  # noqa: ANN401  (indexed)
    """Return a copy with another value at a place; the position after the last item of a list appends."""
    if not place:
        return new
    token, *rest = place
    copy = value.copy()
    if isinstance(copy, list) and token == len(copy):
        copy.append(new)
    else:
        copy[token] = put(copy[token] if rest else None, tuple(rest), new)
    return copy


def without(value: Any, place: Tokens) -> Json:  # noqa: ANN401  (indexed)
    """Return a copy without the value at a place."""
    token, *rest = place
    copy = value.copy()
    if rest:
        copy[token] = without(copy[token], tuple(rest))
    else:
        del copy[token]
    return copy
