"""Plants faults in a copy of a document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from arbitre.errors import ArbitreError, OptionError, check_integer, did_you_mean
from arbitre.gold.entry_faults import FAULTS, FaultKind, PlantedFault, Renaming, Tokens, renamings
from arbitre.paths import STAR, parse, pointer, wildcard
from arbitre.values import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.gold.entry_faults import Replacement
    from arbitre.paths import Path
    from arbitre.values import Json


RATES: Final[Mapping[str, float]] = {kind: 0.05 for kind in FaultKind if kind is not FaultKind.RENAME}
"""Default rates."""

_DOCUMENT_FAULTS: Final[tuple[FaultKind, ...]] = (FaultKind.MOVE, FaultKind.NOISE)
"""Faults that a document without entries can have as a whole."""


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A copy of a document with planted faults.

    Attributes:
        document: The copy. It may share unchanged parts with the original.
        faults: The planted faults, in document order of the original; renamed fields come last.
    """

    document: Json
    faults: tuple[PlantedFault, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of planted faults by kind; kinds without a fault are left out."""
        counts = Counter(fault.kind for fault in self.faults)
        return {kind.value: counts[kind] for kind in FaultKind if counts[kind]}


def perturb(
    document: Json, rates: Mapping[str, float] = RATES, *, at: str | None = None, seed: int = 0, key: str = ""
) -> Perturbed:
    """Plant faults in a copy of a document.

    Faults are planted in the items of every list of objects, at any depth, and of every outermost list. If the document
    has no list of objects, the whole document is also an entry. An entry has at most one fault, and no faults are
    planted inside an entry that has one. Two calls that differ only in the kind of fault affect the same entries where
    possible.

    The kinds are:

    - "split": two or three entries replace one; each has part of the lists of that entry, and all its other values
    - "merge": an entry is merged with the next; the lists are joined, other values of the second are lost
    - "move": a value is moved to the same field of the next free entry, or to an empty or similar field of its entry
    - "swap": two entries exchange the values of a field
    - "duplicate": an entry is repeated
    - "drop": an entry is removed
    - "invent": an entry with random values is added
    - "noise": in every text of an entry, one letter or digit in ten, and at least one, is misread
    - "rename": a field gets another name or place in all entries

    Args:
        document: The gold document. It is not modified.
        rates: For each kind, the expected share of the entries of a list that receive this fault, in [0, 1]; for
            "rename", the share of the fields. Default: 0.05 for every kind except "rename". Fewer faults are planted if
            there are not enough entries, or if a fault is impossible.
        at: Wildcard path of the only list to plant faults in.
        seed: Random seed.
        key: Id of the document. Documents with different ids receive different faults. To rename the same fields in all
            documents, use `perturb_gold`.

    Returns:
        The copy and its faults.

    Raises:
        OptionError: A kind is unknown, a rate is out of range, the seed is negative, or the document has no list at
            `at`.
        ArbitreError: `at` is not a wildcard path.
        DataError: The document is not JSON.

    >>> perturbed = perturb([{"name": "Ada"}, {"name": "Bob"}], {"drop": 0.5})
    >>> perturbed.document, perturbed.faults[0].kind.value, perturbed.faults[0].gold
    ([{'name': 'Bob'}], 'drop', ('/0',))
    """
    (perturbed,) = perturb_all([(key, document)], rates, at=at, seed=seed)
    return perturbed


def perturb_all(
    documents: Sequence[tuple[str, Json]], rates: Mapping[str, float] = RATES, *, at: str | None = None, seed: int = 0
) -> list[Perturbed]:
    """Plant faults in copies of (id, document) pairs as `perturb` does, and rename the same fields in all of them."""
    check_integer("seed", seed)
    for _, document in documents:
        check(document, "gold document")
    entry_rates, path = _checked(rates), None if at is None else _path(at, [document for _, document in documents])
    renamed = renamings([document for _, document in documents], rates.get(FaultKind.RENAME, 0.0), path, seed)
    copies = []
    for key, document in documents:
        planter = _Planter(entry_rates, path, seed, key)
        if at is None and isinstance(document, dict) and not any(_lists_of_objects(document)):
            perturbed, faults = planter.whole(document)
        else:
            perturbed, faults = planter.value(document, (), inside=False)
        copies.append(_renamed(perturbed, faults, [one for one in renamed if one.occurs(document)]))
    return copies


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault in a value, with the tokens of the affected values from this value on."""

    kind: FaultKind
    gold: tuple[Tokens, ...]
    predicted: tuple[Tokens, ...]

    def below(self, gold: str | int, predicted: str | int) -> _Fault:
        """Return the fault as seen from the enclosing list or object, by the tokens of the value."""
        return replace(
            self,
            gold=tuple((gold, *tokens) for tokens in self.gold),
            predicted=tuple((predicted, *tokens) for tokens in self.predicted),
        )


class _Planter:
    """Plants the faults of one document, except for renamed fields."""

    def __init__(self, rates: Mapping[FaultKind, float], at: Path | None, seed: int, key: str) -> None:
        self.rates, self.at = rates, at
        entropy = (seed, crc32(key.encode("utf-8", "surrogatepass")))
        self.places, self.values = np.random.default_rng([*entropy, 0]), np.random.default_rng([*entropy, 1])

    def whole(self, document: Json) -> tuple[Json, list[_Fault]]:
        """Plant faults in a document without lists of objects."""
        kinds = {kind: rate for kind, rate in self.rates.items() if kind in _DOCUMENT_FAULTS}
        (document, *_), faults, untouched = self._planted([document], kinds)
        if not untouched:
            return document, [
                replace(fault, gold=_inside(fault.gold), predicted=_inside(fault.predicted)) for fault in faults
            ]
        return self.value(document, (), inside=False)

    def value(self, value: Json, path: Path, *, inside: bool) -> tuple[Json, list[_Fault]]:
        """Plant faults in a value; `inside` states whether it is inside a list."""
        if isinstance(value, dict):
            inner = {key: self.value(field, (*path, key), inside=inside) for key, field in value.items()}
            faults = [fault.below(key, key) for key, (_, below) in inner.items() for fault in below]
            return {key: field for key, (field, _) in inner.items()}, faults
        if isinstance(value, list):
            return self._list(value, path, outermost=not inside)
        return value, []

    def _list(self, items: list[Json], path: Path, *, outermost: bool) -> tuple[list[Json], list[_Fault]]:
        entries = outermost or any(isinstance(item, dict) for item in items)
        wanted = entries if self.at is None else path == self.at
        predicted, faults, untouched = self._planted(items, self.rates if wanted else {})
        for position, place in untouched.items():
            predicted[place], below = self.value(items[position], (*path, STAR), inside=True)
            faults += [fault.below(position, place) for fault in below]
        return predicted, sorted(faults, key=_first)

    def _planted(
        self, items: Sequence[Json], rates: Mapping[FaultKind, float]
    ) -> tuple[list[Json], list[_Fault], dict[int, int]]:
        """Plant faults in the items of a list.

        Returns:
            The predicted items, the faults, and the new position of each item that has none.
        """
        order = self.places.permutation(len(items)).tolist() if rates else []
        free = _FreePositions(len(items))
        edits: list[tuple[FaultKind, list[int], Replacement]] = []
        for kind, rate in rates.items():
            count = int(rate * len(items) + self.places.random())  # rounded at random, so that the mean is the rate
            for position in order:
                if count <= 0:
                    break
                if position in free and (edit := self._edit(kind, items, position, free)) is not None:
                    edits.append((kind, *edit))
                    count -= 1
        replaced = {position: edit.items[n] for _, at, edit in edits for n, position in enumerate(at)}
        predicted: list[Json] = []
        start: list[int] = []
        for position, item in enumerate(items):
            start.append(len(predicted))
            predicted += replaced.get(position, [item])
        faults = [
            _Fault(
                kind,
                tuple((at[n], *tokens) for n, tokens in edit.gold),
                tuple((start[at[n]] + number, *tokens) for n, number, tokens in edit.predicted),
            )
            for kind, at, edit in edits
        ]
        return predicted, faults, {position: start[position] for position in free}

    def _edit(
        self, kind: FaultKind, items: Sequence[Json], position: int, free: _FreePositions
    ) -> tuple[list[int], Replacement] | None:
        """Return a fault of an entry, or of an entry and the next free one, and their positions; None if impossible."""
        size, fault = FAULTS[kind]
        following = free.first(position + 1) if size > 1 else None
        at = [position]
        if following is not None and (kind is not FaultKind.MERGE or following == position + 1):
            at.append(following)
        edit = fault([items[place] for place in at], self.values)
        if edit is None:
            return None
        for place in at:
            free.take(place)
        return at, edit


class _FreePositions:
    """The positions of a list that have no fault yet."""

    def __init__(self, size: int) -> None:
        self._next = list(range(size + 1))  # for each position: itself if it is free, otherwise a later one

    def __contains__(self, position: int) -> bool:
        return self._next[position] == position

    def __iter__(self) -> Iterator[int]:
        return (position for position in range(len(self._next) - 1) if position in self)

    def first(self, position: int) -> int | None:
        """Return the first free position from this one on."""
        while position not in self:
            self._next[position] = position = self._next[self._next[position]]
        return position if position < len(self._next) - 1 else None

    def take(self, position: int) -> None:
        """Mark a free position as used."""
        self._next[position] = position + 1


def _first(fault: _Fault) -> tuple[int, ...]:
    """Return a sort key: the first position in gold, or in the copy for an added item."""
    return tuple(token for token in (fault.gold or fault.predicted)[0] if isinstance(token, int))


def _inside(places: Sequence[Tokens]) -> tuple[Tokens, ...]:
    return tuple(tokens[1:] for tokens in places)


def _renamed(document: Json, faults: Sequence[_Fault], renamed: Sequence[Renaming]) -> Perturbed:
    """Rename fields of a copy, and the pointers of its faults."""
    for renaming in renamed:
        document = renaming.apply(document)
    planted = []
    for fault in faults:
        predicted = fault.predicted
        for renaming in renamed:
            predicted = tuple(map(renaming.place, predicted))
        planted.append(PlantedFault(fault.kind, tuple(map(pointer, fault.gold)), tuple(map(pointer, predicted))))
    return Perturbed(
        document,
        (
            *planted,
            *(
                PlantedFault(FaultKind.RENAME, (pointer(renaming.source),), (pointer(renaming.target),))
                for renaming in renamed
            ),
        ),
    )


def _lists_of_objects(value: Json) -> Iterator[list[Json]]:
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists_of_objects(inner)


def _checked(rates: Mapping[str, float]) -> dict[FaultKind, float]:
    """Return the rates of the faults of entries, in the order in which they are planted."""
    known = [kind.value for kind in FaultKind]
    for name, rate in rates.items():
        if name not in known:
            raise OptionError.of(f'Expected a kind of fault, got "{name}"', hint=did_you_mean(name, known))
        if not 0.0 <= rate <= 1.0:
            raise OptionError.of(f'Expected a rate from 0 to 1 for "{name}", got {rate}')
    return {kind: rates[kind] for kind in FAULTS if rates.get(kind, 0.0) > 0.0}


def _path(text: str, documents: Sequence[Json]) -> Path:
    """Return the tokens of the wildcard path of a list. Raises OptionError if no document has one there."""
    try:
        path = parse(text)
    except ValueError as error:
        raise ArbitreError.of(str(error), hint='Write "/people" or "/pages/*/people".') from error
    lists = {found for document in documents for found in _list_paths(document, ())}
    if documents and path not in lists:
        hint = did_you_mean(text, sorted(map(wildcard, lists)))
        raise OptionError.of(f'Expected `at` to be the path of a list in gold, got "{text}"', hint=hint)
    return path


def _list_paths(value: Json, path: Path) -> Iterator[Path]:
    """Yield the wildcard path of each list in a value."""
    if isinstance(value, list):
        yield path
        for item in value:
            yield from _list_paths(item, (*path, STAR))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _list_paths(inner, (*path, key))
