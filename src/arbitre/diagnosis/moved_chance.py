"""The probability that a wrong value equals a given gold value by chance."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.column import leaf_columns
from arbitre.engine.columns.ragged import find_sorted
from arbitre.errors import DataError
from arbitre.paths import wildcard
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

LETTER: Final = 0.25
"""Probability that a character of a text agrees: about 2 bits of information (Shannon, 1951, finds 1 to 2)."""
DIGIT: Final = 0.1
"""Probability that a digit of a number agrees."""
OTHER: Final = 0.5
"""Probability that a Boolean or another short value agrees."""
LEAST: Final = sys.float_info.min
"""Probability that a text of any length agrees, at least, so that its logarithm is finite."""
NEAR: Final = 0.5
"""Share of the characters of a text that carry evidence if two texts are only nearly equal."""


def base_chance(value: Json, *, near: bool = False) -> float:
    """Return the probability that an unrelated value equals this one, or is nearly equal, from its length.

    >>> base_chance("Jean"), base_chance("Marie"), base_chance(True), base_chance(1e16)
    (0.00390625, 0.0009765625, 0.5, 0.1)
    """
    if isinstance(value, bool) or value is None:
        return OTHER
    if isinstance(value, (int, float)):
        digits = str(abs(value)) if isinstance(value, int) else "".join(map(str, Decimal(str(value)).as_tuple().digits))
        return float(DIGIT ** len(digits.strip("0")))
    characters = len(value if isinstance(value, str) else str(value)) * (NEAR if near else 1.0)
    return max(LEAST, float(LETTER**characters))


class ValueCounts:
    """How often each value occurs among the gold values of a path, by document."""

    __slots__ = ("counts", "keys", "single", "totals", "width")

    def __init__(self, codes: Indices, documents: Indices, width: int, size: int) -> None:
        self.width = width
        self.keys, self.counts = np.unique(documents * width + codes, return_counts=True)
        self.totals = np.bincount(documents, minlength=size)
        self.single = np.bincount(self.keys[self.counts == 1] // width, minlength=size)

    def of(self, codes: Indices, documents: Indices) -> Indices:
        """Return the number of gold values that have each of these codes."""
        if len(self.keys) == 0:
            return np.zeros(len(codes), dtype=np.intp)
        place = find_sorted(self.keys, documents * self.width + codes)
        return np.where(place >= 0, self.counts[place], 0)

    def within(self, document: int) -> Iterator[tuple[int, int]]:
        """Return the codes of the values of a document, with their numbers."""
        here = slice(*self.keys.searchsorted([document * self.width, (document + 1) * self.width]))
        return zip((self.keys[here] - document * self.width).tolist(), self.counts[here].tolist(), strict=True)

    def chance(self, counts: Indices, documents: Indices) -> Floats:
        """Return the probability that a random value of a path is one of `counts` gold values.

        Counts are discounted by the share of values that occur once, because most wrong values of a path whose values
        are all different are new ones (Good, 1953).
        """
        totals = np.maximum(self.totals[documents], 1)
        return np.maximum(counts - self.single[documents] / totals, 0.0) / totals


def coincidence(counts: Sequence[ValueCounts], wrong: Sequence[tuple[Indices, Indices]]) -> Floats:
    """Return an estimate of the probability that unrelated values of a path are equal, for each document.

    It is the share of equal pairs among all pairs of a gold value and a predicted value, without values in the right
    place, multiplied, for each side, by the share of the wrong values that equal no wrong value of the other side. It
    is high for unrelated documents with a closed vocabulary, and 0 if all wrong values may have moved.

    Args:
        counts: All gold values, and all predicted values.
        wrong: Codes and documents of the wrong gold values, and of the wrong predicted values.
    """
    gold = counts[0]
    totals = [np.maximum(side.totals, 1) for side in counts]
    codes, documents = wrong[1]
    equal = np.bincount(documents, weights=gold.of(codes, documents), minlength=len(gold.totals))
    chance: Floats = equal / totals[0] / totals[1]
    keys = [documents * gold.width + codes for codes, documents in wrong]
    for (_, documents), own, other, total in zip(wrong, keys, keys[::-1], totals, strict=True):
        chance = chance * np.bincount(documents, weights=~np.isin(own, other), minlength=len(total)) / total
    return chance


@dataclass(frozen=True, slots=True)
class PathFrequencies:
    """How often each value occurs at a path in the gold of a corpus.

    Attributes:
        total: Number of values.
        unseen: Expected number of occurrences, among as many values of other documents, of a value that occurs in at
            most one document (Good, 1953; Chao, 1987): 2 x values that two documents have / values that one has, at
            most 1. It is 0 if no document shares a value with another.
        shared: Number of occurrences of each value that occurs in at least two documents.
    """

    total: int
    unseen: float
    shared: Mapping[Hashable, int]


@dataclass(frozen=True, slots=True)
class ValueFrequencies:
    """How often values occur in the gold of a corpus. A document is compared with the others only.

    Attributes:
        ids: Ids of the documents that were counted.
        paths: Frequencies by wildcard path.
    """

    ids: frozenset[str] = frozenset()
    paths: Mapping[str, PathFrequencies] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, gold: Mapping[str, Json]) -> ValueFrequencies:
        """Count the values of gold documents, given by id. Documents that cannot be read are left out."""
        totals: Counter[str] = Counter()
        counts: defaultdict[str, Counter[Hashable]] = defaultdict(Counter)
        documents: defaultdict[str, Counter[Hashable]] = defaultdict(Counter)
        for path, values in _leaf_values(plan, list(gold.values())):
            totals[path] += len(values)
            counts[path].update(values)
            documents[path].update(set(values))
        paths = {}
        for path, numbers in documents.items():
            spread = Counter(numbers.values())
            unseen = min(1.0, 2 * spread[2] / max(1, spread[1])) if spread[1] < len(numbers) else 0.0
            shared = {value: counts[path][value] for value, number in numbers.items() if number > 1}
            paths[path] = PathFrequencies(totals[path], unseen, shared)
        return cls(frozenset(gold), paths)

    def for_documents(self, ids: Sequence[str]) -> UsualValues:
        """Return the frequencies for documents with these ids."""
        return UsualValues(self, np.array([identity in self.ids for identity in ids], dtype=np.bool_))

    def digest(self) -> str:
        """Return a digest of the frequencies."""
        paths = sorted(
            (path, own.total, own.unseen, sorted(map(repr, own.shared.items()))) for path, own in self.paths.items()
        )
        return sha256(repr((sorted(self.ids), paths)).encode(errors="surrogatepass")).hexdigest()

    def chance(self, path: str, values: Sequence[Json], own: Indices, totals: Indices, counted: Mask) -> Floats:
        """Return the probability that a value of another document equals each of these values of a path.

        Args:
            path: Wildcard path.
            values: The normalised values.
            own: How often the gold of its own document has each value.
            totals: Number of values of the path in the gold of its own document.
            counted: Whether the own document was counted.
        """
        found = self.paths.get(path)
        if found is None:
            return np.zeros(len(values))
        seen = np.array([found.shared.get(canonical(value), 0) for value in values], dtype=np.float64)
        others = np.where(counted, seen - own, seen)
        rest = np.maximum(np.where(counted, found.total - totals, found.total), 1)
        return np.minimum(1.0, np.where(others > 1, others, found.unseen) / rest)


class UsualValues(NamedTuple):
    """How often values occur in the gold of a corpus, and which documents are among those counted."""

    frequencies: ValueFrequencies
    counted: Mask


def _leaf_values(plan: Plan, gold: Sequence[Json]) -> Iterator[tuple[str, list[Hashable]]]:
    """Yield the values of each path of each document, and nothing for documents that cannot be read."""
    try:
        columns = build_columns(plan, gold, ()) if gold else ()
    except DataError:
        if len(gold) > 1:
            for document in gold:
                yield from _leaf_values(plan, [document])
        return
    for column in leaf_columns(columns):
        if column.key_ranks is None:
            rows = (column.codes >= 0).nonzero()[0]
            documents, codes = column.root_rows(rows), column.codes[rows].tolist()
            keys = list(map(canonical, column.values))
            path = wildcard(column.path)
            order = documents.argsort(kind="stable")
            for start, stop in _runs(documents[order]):
                yield path, [keys[codes[at]] for at in order[start:stop].tolist()]


def _runs(numbers: Indices) -> Iterable[tuple[int, int]]:
    """Return the start and the end of each run of equal numbers."""
    edges = [0, *(np.diff(numbers).nonzero()[0] + 1).tolist(), len(numbers)] if len(numbers) else [0]
    return pairwise(edges)
