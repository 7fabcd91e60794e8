"""Planted faults: one function for each kind, from entries of a list to their replacement; and renamed fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

from arbitre.engine.columns.fields import get_field, put_field, without
from arbitre.paths import STAR, pointer, values_at
from arbitre.values import ABSENT, equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.paths import Path
    from arbitre.values import Json


# Recognition errors in texts, and random values.


SHARE: Final = 0.1
"""Share of the letters and digits of a noisy text that are replaced; at least one is."""

LOOK_ALIKES: Final = {
    **dict(zip("aceghilmnorstuvBDEGIOSZ", ("o", "e", "c", "q", "b", "l", "1", "rn", "u", "c", "n", "5", "f", "n", "y",
                                            "8", "O", "F", "C", "l", "0", "5", "2"), strict=True)),
    **dict(zip("0123456789", "OlZBASG1Bg", strict=True)),
}  # fmt: skip
"""Characters that text recognition may read in place of a letter or a digit."""


def add_noise(text: str, rng: np.random.Generator) -> str:
    """Replace one letter or digit in ten, at least one, by one that looks alike, or else by a random letter."""
    characters = list(text)
    places = [at for at, char in enumerate(text) if char.isalnum()]
    for at in rng.permutation(places)[: max(1, round(SHARE * len(places)))].tolist() if places else ():
        char = characters[at]
        characters[at] = LOOK_ALIKES.get(char) or _other(char, ascii_lowercase, rng)
    return "".join(characters)


def invent(value: Json, rng: np.random.Generator) -> Json:
    """Return a random value of the same shape: other letters, other digits, as many items, the same keys."""
    if isinstance(value, dict):
        return {key: invent(inner, rng) for key, inner in value.items()}
    if isinstance(value, list):
        return [invent(item, rng) for item in value]
    if isinstance(value, str):
        return "".join(_like(char, rng) for char in value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        size = len(str(abs(value)))
        return int(rng.integers(10 ** (size - 1), 10**size)) if size <= 18 else value + 1  # noqa: PLR2004  (int64)
    return value * float(rng.uniform(0.1, 10.0))


def _like(char: str, rng: np.random.Generator) -> str:
    """Return a random letter of the same case for a letter, a random digit for a digit, else the character."""
    if char.isdecimal():
        return _other(char, digits, rng)
    letter = _other(char.lower(), ascii_lowercase, rng)
    return char if not char.isalpha() else letter.upper() if char.isupper() else letter


def _other(char: str, letters: str, rng: np.random.Generator) -> str:
    others = letters.replace(char, "")
    return others[int(rng.integers(len(others)))]


# Renamed fields: every value of a field gets another key, or another place in its entry.


WRAPPER: Final = "details"
"""Key of the object that a field may be moved into."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """A field with another key or place.

    Attributes:
        source: Wildcard path of the field in gold.
        target: Wildcard path of the field in the copy; it begins with the path of the same entry.
        entry: Number of tokens of the path of the entry.
    """

    source: Path
    target: Path
    entry: int

    def apply(self, document: Json) -> Json:
        """Return a copy of a document with the field renamed in every entry."""
        return self._in(document, 0)

    def occurs(self, document: Json) -> bool:
        """Return whether a document has the field."""
        return next(values_at(document, self.source), None) is not None

    def place(self, tokens: Tokens) -> Tokens:
        """Return the place of a value in the copy, by its place before."""
        size = len(self.source)
        if len(tokens) < size or not all(map(_fits, tokens, self.source)):
            return tokens
        inner = tuple(token for token in self.target[self.entry :] if isinstance(token, str))
        return (*tokens[: self.entry], *inner, *tokens[size:])

    def _in(self, value: Any, depth: int) -> Json:  # noqa: ANN401  (indexed)
        if depth == self.entry:
            return self._entry(value) if isinstance(value, dict) else value
        token = self.source[depth]
        if token is STAR:
            return [self._in(item, depth + 1) for item in value] if isinstance(value, list) else value
        if isinstance(value, dict) and token in value:
            return value | {token: self._in(value[token], depth + 1)}
        return value

    def _entry(self, entry: dict[str, Json]) -> Json:
        source, target = ([str(token) for token in path[self.entry :]] for path in (self.source, self.target))
        found = get_field(entry, source)
        return entry if found is ABSENT else put_field(without(entry, source, prune=True), target, found)


def renamings(documents: Sequence[Json], rate: float, at: Path | None, seed: int) -> list[Renaming]:
    """Choose the fields to rename in all documents of a corpus.

    A field can be renamed if all its values are scalars or lists of scalars. The choice for a field depends on its path
    and the seed alone. A third of the fields get another key, a third are moved into an object of their own, and a
    third are moved up into the entry; fields that already are in the entry get another key.

    Args:
        documents: The gold documents.
        rate: Share of the fields to rename, in [0, 1].
        at: Wildcard path of the list of entries; None for all fields.
        seed: Random seed.
    """
    keys: dict[Path, set[str]] = {}
    plain: dict[Path, bool] = {}
    for document in documents if rate > 0.0 else ():
        for path, scalar in _fields(document, (), keys):
            plain[path] = scalar and plain.get(path, True)
    chosen = []
    for path, scalar in plain.items():
        if not scalar or (at is not None and path[: len(at) + 1] != (*at, STAR)):
            continue
        rng = np.random.default_rng([seed, crc32(pointer(path).encode("utf-8", "surrogatepass")), 2])
        if rng.random() >= rate:
            continue
        entry = max((depth for depth, token in enumerate(path, 1) if token is STAR), default=0)
        parent, name = path[:-1], str(path[-1])
        taken = keys[path[:entry]]
        target: Path = (*parent, _free(f"{name}_value", keys[parent]))
        form = int(rng.integers(3))
        if form == 1:
            target = (*parent, _free(WRAPPER, keys[parent]), name)
        elif form == 2 and len(parent) > entry:  # noqa: PLR2004  (the third of three)
            target = (*path[:entry], _free(name, taken))
        keys[target[:-1]] = keys.get(target[:-1], set()) | {str(target[-1])}
        chosen.append(Renaming(path, target, entry))
    return chosen


def _fields(value: Json, path: Path, keys: dict[Path, set[str]]) -> Iterator[tuple[Path, bool]]:
    """Yield each field's wildcard path, and whether its value is a scalar or a list of scalars; collect all keys."""
    if isinstance(value, list):
        for item in value:
            yield from _fields(item, (*path, STAR), keys)
    elif isinstance(value, dict):
        keys.setdefault(path, set()).update(value)
        for key, inner in value.items():
            items = inner if isinstance(inner, list) else [inner]
            yield (*path, key), not any(isinstance(item, (list, dict)) for item in items)
            yield from _fields(inner, (*path, key), keys)


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with underscores if it is taken."""
    while name in taken:
        name += "_"
    return name


def _fits(token: object, pattern: object) -> bool:
    return isinstance(token, int) if pattern is STAR else token == pattern


# Kinds of planted faults, and the record of one fault.


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
    """A fault that was planted in a copy of a document.

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


Tokens = tuple[str | int, ...]

EMPTY: Final[tuple[Json, ...]] = (None, "", [])
"""Values of a field into which another value may be moved."""


@dataclass(slots=True)
class Replacement:
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


def drop(_entries: Sequence[Json], _: np.random.Generator) -> Replacement:
    """Drop an entry."""
    return Replacement(([],), [(0, ())])


def duplicate(entries: Sequence[Json], _: np.random.Generator) -> Replacement | None:
    """Repeat an entry."""
    return Replacement(([entries[0], entries[0]],), [(0, ())], [(0, 0, ()), (0, 1, ())])


def add(entries: Sequence[Json], rng: np.random.Generator) -> Replacement | None:
    """Add an entry with the keys of this one and random values after it."""
    return Replacement(([entries[0], invent(entries[0], rng)],), [], [(0, 1, ())])


def split(entries: Sequence[Json], rng: np.random.Generator) -> Replacement | None:
    """Split an entry into two or three. Each gets part of the lists, and all other values of the entry."""
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
    return Replacement((pieces,), [(0, ())], [(0, part, ()) for part in range(parts)])


def merge(entries: Sequence[Json], _: np.random.Generator) -> Replacement | None:
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
    return Replacement(([first | joined], []), [(0, ()), (1, ())], [(0, 0, ())])


def swap(entries: Sequence[Json], rng: np.random.Generator) -> Replacement | None:
    """Swap a field of two entries that has different values."""
    if len(entries) < 2:  # noqa: PLR2004
        return None
    left, right = (dict(values_of(entry)) for entry in entries)
    differing = [
        place
        for place, value in left.items()
        if place in right and value not in EMPTY and right[place] not in EMPTY and not equal(value, right[place])
    ]
    if not differing:
        return None
    place = differing[int(rng.integers(len(differing)))]
    first, second = (put(entries[0], place, right[place]), put(entries[1], place, left[place]))
    return Replacement(([first], [second]), [(0, place), (1, place)], [(1, 0, place), (0, 0, place)])


def move(entries: Sequence[Json], rng: np.random.Generator) -> Replacement | None:
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
    return Replacement(tuple([item] for item in edited), [(0, source)], [(number, 0, place)])


def _moves(entries: Sequence[Json]) -> Iterator[tuple[Tokens, int, Tokens]]:
    """Yield each possible move: a value of the first entry, the number of the target's entry, and the target."""
    places = [dict(values_of(entry)) for entry in entries]
    for source, value in places[0].items():
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for position, item in items:
            if item in EMPTY or isinstance(item, (bool, dict, list)):
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


def noise(entries: Sequence[Json], rng: np.random.Generator) -> Replacement | None:
    """Misread characters of all texts of an entry."""
    entry = entries[0]
    places = [place for place, text in _texts(entry) if any(char.isalnum() for char in text)]
    for place in places:
        text = at(entry, place)
        entry = put(entry, place, add_noise(text, rng)) if isinstance(text, str) else entry
    return (
        Replacement(([entry],), [(0, place) for place in places], [(0, 0, place) for place in places])
        if places
        else None
    )


FAULTS: Final[Mapping[FaultKind, tuple[int, Callable[[Sequence[Json], np.random.Generator], Replacement | None]]]] = {
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
