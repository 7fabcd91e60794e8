"""Causes in numbers and dates that differ from gold by a constant.

The constant factors of numbers are in `transformed_values`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import declared_normalizers, replacement, site_at
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p, single_value
from arbitre.engine.columns.fields import get_field
from arbitre.normalizers import normalize
from arbitre.paths import STAR, pointer, value_at, values_at, wildcard
from arbitre.schema.describe import walk
from arbitre.values import ABSENT, Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.causes.changes import Places
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample
    from arbitre.paths import Path
    from arbitre.values import Json

MIN_VALUES: Final = 3
"""Minimum number of values that have a shift or an offset."""

MIN_OFFSET: Final = 0.5
"""Minimum share of the wrong numbers of a path that differ from gold by the same constant."""

MAX_DIGITS: Final = 12
"""Maximum number of digits of numbers that have an offset."""

YEAR: Final = re.compile(r"(?<!\d)\d{4}(?!\d)")
"""The year of a date, in any notation."""


class NumberPair(NamedTuple):
    """A predicted number, text of digits or date, with the gold value.

    Attributes:
        document: Position of the document in the sample.
        pointers: JSON Pointers in gold and in the prediction.
        gold: The number in gold.
        predicted: The predicted number.
        written: The predicted number as it is in the prediction.
        listed: Whether they are items of lists of numbers.
        date: The gold date, if the numbers are years or days (counted from the year 1) of dates; otherwise None.
    """

    document: int
    pointers: tuple[str, str]
    gold: float
    predicted: float
    written: Json
    listed: bool = False
    date: str | None = None

    @classmethod
    def of(cls, document: int, pointers: tuple[str, str], gold: Json, predicted: Json) -> NumberPair | None:
        """Return the pair of two values; None if they are not both numbers or texts of digits."""
        numbers = _number(gold), _number(predicted)
        if numbers[0] is None or numbers[1] is None or isinstance(gold, str) != isinstance(predicted, str):
            return None
        return cls(document, pointers, numbers[0], numbers[1], predicted)

    @property
    def difference(self) -> float:
        """Predicted minus gold, without rounding errors."""
        return _rounded(self.predicted - self.gold)

    def less(self, offset: float) -> Json:
        """Return the predicted value minus an offset; for a date, return the gold date."""
        if self.date is not None:
            return self.date
        if isinstance(self.written, str):
            return str(self.predicted - offset).zfill(len(self.written))
        return _rounded(self.predicted - offset)


def _rounded(difference: float) -> float:
    """Return a difference without rounding errors."""
    return round(difference, 9) if isinstance(difference, float) else difference


def _number(value: Json) -> float | None:
    """Return a number of which differences are meaningful; None for other values and for ABSENT."""
    if value is ABSENT:
        return None
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS else None
    return value if kind_of(value) is Kind.NUMBER and abs(value) < 10**MAX_DIGITS else None


class NumberLists(NamedTuple):
    """A matched pair of lists of numbers.

    Attributes:
        document: Position of the document in the sample.
        pointers: JSON Pointers in gold and in the prediction.
        gold: The numbers in gold.
        predicted: The predicted numbers.
    """

    document: int
    pointers: tuple[str, str]
    gold: Sequence[float]
    predicted: Sequence[float]

    def _pair(self, gold: int, predicted: int) -> NumberPair:
        ends, number = (f"{self.pointers[0]}/{gold}", f"{self.pointers[1]}/{predicted}"), self.predicted[predicted]
        return NumberPair(self.document, ends, self.gold[gold], number, number, listed=True)

    def ranked(self) -> Iterator[NumberPair]:
        """Yield the numbers of equally long lists in ascending order."""
        if len(self.gold) == len(self.predicted):
            ranks = (sorted(range(len(side)), key=side.__getitem__) for side in (self.gold, self.predicted))
            yield from (self._pair(*places) for places in zip(*ranks, strict=True))

    def shifted(self, offset: float) -> Iterator[NumberPair]:
        """Yield the predicted numbers that differ from those of gold by an offset, so that most numbers have a partner.

        Each number can be equal to a number of gold, or differ by the offset. In the order in which the offset is
        added, the first possible partner is the best.
        """
        free: defaultdict[float, list[int]] = defaultdict(list)
        for at, value in enumerate(self.gold):
            free[value].append(at)
        for at in sorted(range(len(self.predicted)), key=self.predicted.__getitem__, reverse=offset < 0):
            value = self.predicted[at]
            if partners := free.get(value - offset):
                yield self._pair(partners.pop(), at)
            elif partners := free.get(value):
                partners.pop()


def _numbers_at(sample: Sample, path: str) -> tuple[list[NumberPair], list[NumberLists]]:
    """Return the matched numbers and the matched lists of numbers at a path that differ."""
    pairs: list[NumberPair] = []
    lists: dict[tuple[int, tuple[str, str]], NumberLists] = {}
    for leaf in sample.leaves.get(path, ()):
        if leaf.pointer is None or leaf.predicted_pointer is None or leaf.quality >= 1.0:
            continue
        ends = leaf.pointer, leaf.predicted_pointer
        if path.endswith("/*"):
            ends = ends[0].rpartition("/")[0], ends[1].rpartition("/")[0]
        if path.endswith("/*") or isinstance(leaf.gold, list):
            if (leaf.document, ends) not in lists:
                pair = sample.pairs[leaf.document]
                sides = value_at(pair.gold, ends[0]), value_at(pair.predicted, ends[1])
                lists[leaf.document, ends] = NumberLists(leaf.document, ends, *sides)
        elif (found := NumberPair.of(leaf.document, ends, leaf.gold, leaf.predicted)) is not None:
            pairs.append(found)
    differ = (one for one in lists.values() if one.gold != one.predicted)
    return pairs, [one for one in differ if _are_numbers(one.gold) and _are_numbers(one.predicted)]


def _are_numbers(values: Json) -> bool:
    return isinstance(values, list) and all(not isinstance(one, str) and _number(one) is not None for one in values)


def with_offset(sample: Sample, path: str) -> tuple[int, Proposal] | None:
    """Return how many numbers differ by the same constant, and the proposal to subtract it; None if there are few."""
    single, lists = _numbers_at(sample, path)
    offset = _offset([*single, *(pair for one in lists for pair in one.ranked())])
    if offset is None:
        return None
    shifted = [*single, *(pair for one in lists for pair in one.shifted(offset.value))]
    return offset.number, _subtraction(sample, path, shifted, offset)


def _dates_at(sample: Sample, path: str) -> Mapping[str, Sequence[NumberPair]]:
    """Return the matched dates at a path that differ, as numbers, by unit: "year" and, for ISO 8601 dates, "day".

    Dates are read after the normalisers of the path. If two dates differ in more than the year, the predicted year is
    NaN, so their difference in years is undefined.
    """
    pairs: defaultdict[str, list[NumberPair]] = defaultdict(list)
    site = site_at(sample.plan, path)
    declared = () if site is None else declared_normalizers(site)
    for leaf in sample.leaves.get(path, ()):
        if leaf.pointer is None or leaf.predicted_pointer is None or leaf.quality >= 1.0:
            continue
        if not isinstance(leaf.gold, str) or not isinstance(leaf.predicted, str):
            continue
        texts = [str(normalize(declared, side)) for side in (leaf.gold, leaf.predicted)]
        years = [YEAR.findall(text) for text in texts]
        if any(len(found) != 1 or text.isdecimal() for text, found in zip(texts, years, strict=True)):
            continue
        ends, same = (leaf.pointer, leaf.predicted_pointer), len({YEAR.sub("", text) for text in texts}) == 1
        numbers = {"year": (int(years[0][0]), int(years[1][0]) if same else math.nan)}
        with suppress(ValueError):
            numbers["day"] = (date.fromisoformat(texts[0]).toordinal(), date.fromisoformat(texts[1]).toordinal())
        for unit, both in numbers.items():
            pairs[unit].append(NumberPair(leaf.document, ends, *both, leaf.predicted, date=leaf.gold))
    return pairs


def with_date_offsets(sample: Sample, path: str) -> Iterator[tuple[int, Proposal]]:
    """Yield how many dates differ by the same number of years or days, and the proposal to correct them."""
    for unit, pairs in _dates_at(sample, path).items():
        if (offset := _offset(pairs)) is not None:
            number = abs(offset.value)
            words = f"{number} {unit}{'s' * (number != 1)} {'too late' if offset.value > 0 else 'too early'}"
            advice = f"Check how the dates at {path} are read or converted: most of the wrong predictions are {words}."
            found = _subtraction(sample, path, pairs, offset)
            detail = {"offset": offset.value, "unit": unit}
            yield offset.number, replace(found, kind="date-offset", advice=advice, detail=detail)


class Offset(NamedTuple):
    """A difference between numbers and those of gold.

    Attributes:
        value: Predicted minus gold.
        number: Number of pairs with this difference.
        p: Probability of as many by chance.
    """

    value: float
    number: int
    p: float


def _offset(pairs: Sequence[NumberPair]) -> Offset | None:
    """Return the most frequent difference; None if less than half of the wrong numbers have it."""
    wrong = [pair for pair in pairs if pair.difference]
    differences = Counter(pair.difference for pair in wrong)
    value, count = differences.most_common(1)[0] if differences else (0, 0)
    if count < max(MIN_VALUES, MIN_OFFSET * len(wrong)):
        return None
    return Offset(value, count, min(1.0, len(differences) * _offset_p(wrong, value)))


def _offset_p(pairs: Sequence[NumberPair], offset: float) -> float:
    """Return the probability that as many pairs, and as many values of gold, have this difference by chance."""
    predicted = Counter(pair.predicted for pair in pairs)
    chances = {pair.gold: predicted[pair.predicted] / len(pairs) for pair in pairs if pair.difference == offset}
    chances |= {pair.gold: predicted[pair.gold + offset] / len(pairs) for pair in pairs if pair.gold not in chances}
    by_value: defaultdict[float, list[bool]] = defaultdict(list)
    for pair in pairs:
        by_value[pair.gold].append(pair.difference == offset)
    values = sum(2 * sum(same) > len(same) for same in by_value.values())
    return max(
        excess_p(sum(pair.difference == offset for pair in pairs), [chances[pair.gold] for pair in pairs]),
        excess_p(values, list(chances.values())),
    )


def _subtraction(
    sample: Sample, path: str, pairs: Sequence[NumberPair], offset: Offset, faults: Sequence[int] = ()
) -> Proposal:
    """Return the proposal to subtract an offset from the numbers that have it.

    Args:
        sample: The sample.
        path: Wildcard path of the numbers.
        pairs: The numbers, also those without the offset.
        offset: The offset.
        faults: Numbers of further faults that the offset explains.
    """
    places: Places = defaultdict(dict)
    numbers: dict[int, None] = {}
    for pair in pairs:
        if pair.difference == offset.value:
            places[pair.document][pair.pointers[1]] = pair.written, pair.less(offset.value)
            for place, gold in zip(pair.pointers, (True, False), strict=True):
                whole = place.rpartition("/")[0] if pair.listed else place
                ends = (sample.fault_ends.get((pair.document, gold, end)) for end in (place, whole))
                numbers.update(dict.fromkeys(next(filter(None, ends), ())))
    numbers |= dict.fromkeys(faults)
    words = f"{abs(offset.value)} too {'large' if offset.value > 0 else 'small'}"
    advice = f"State in the prompt where the numbers at {path} start: most of the wrong predictions are {words}."
    change, detail = replacement(places), {"offset": offset.value}
    return Proposal("ids-offset", "prediction", (path,), tuple(numbers), change, offset.p, advice=advice, detail=detail)


def key_offsets(sample: Sample) -> Iterator[Proposal]:
    """Propose to subtract a constant from the keys by which items are matched. All other fields then seem wrong."""
    for step in walk(sample.plan.sites):
        items = (*step.path, STAR)
        for key in sample.plan.sites[step.site].list.matcher.key:
            below = wildcard(items)
            faults = [fault for fault in sample.faults if f"{fault.path}/".startswith(f"{below}/")]
            documents = sorted({fault.document for fault in faults})
            pairs = [pair for document in documents for pair in _same_items(sample, document, step.path, key)]
            if (offset := _offset(pairs)) is not None:
                touched = {pair.document for pair in pairs if pair.difference == offset.value}
                explained = [fault.number for fault in faults if fault.document in touched]
                yield _subtraction(sample, wildcard((*items, *key)), pairs, offset, explained)


def _same_items(sample: Sample, document: int, path: Path, key: tuple[str, ...]) -> Iterator[NumberPair]:
    """Yield the keys of the items in a document of which at least half of the other single values are equal.

    An item that shares as many values with several others is left out.
    """
    for at, values in values_at(sample.pairs[document].predicted, path):
        _, gold = sample.matched.get((document, at), (document, None))
        if gold is None or not isinstance(values, list):
            continue
        known = value_at(sample.pairs[document].gold, gold)
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        for number, item in enumerate(known if isinstance(known, list) else ()):
            for field_value in _single_values(item, key):
                places[field_value].append(number)
        for number, item in enumerate(values):
            own = _single_values(item, key)
            shared = Counter(other for field_value in own for other in places.get(field_value, ())).most_common(2)
            if shared and 2 * shared[0][1] >= len(own) and shared[0][1] > (shared[1][1] if len(shared) > 1 else 0):
                other, inner = shared[0][0], pointer(key)
                ends = f"{gold}/{other}{inner}", f"{at}/{number}{inner}"
                pair = NumberPair.of(document, ends, get_field(known[other], key), get_field(item, key))
                if pair is not None:
                    yield pair


def _single_values(item: Json, key: tuple[str, ...]) -> list[Hashable]:
    """Return the fields of an object with single values, without the one that is or contains the key."""
    fields = item.items() if isinstance(item, dict) else ()
    return [(name, canonical(value)) for name, value in fields if name != key[0] and single_value(value) is not ABSENT]


DETECTORS: Final[tuple[Detector, ...]] = (key_offsets,)
"""The detectors of this module."""
