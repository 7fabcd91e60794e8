"""Causes in the fields of objects: values in another field, and fields of which the values are exchanged."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import replacement, site_at
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import NO_PARTNER, excess_p, nearly_equal, repeat_chance, single_value
from arbitre.paths import escape, parse, value_at, values_at
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.causes.changes import Places
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MIN_MOVED: Final = 3
"""Minimum number of values in another field, if its values are not in the first one."""

MIN_SHARE: Final = 0.1
"""Minimum share of the wrong values of a field that are in another field."""


# Values in another field of their object.


@dataclass(eq=False, slots=True)
class Row:
    """A matched pair of objects with faults in its fields.

    Attributes:
        document: Position of the document in the sample.
        pointers: JSON Pointers of the object in gold and in the prediction.
        gold: The object in gold.
        predicted: The object in the prediction.
        wrong: The fields of gold and those of the prediction that are or contain one end of a fault.
    """

    document: int
    pointers: tuple[str, str]
    gold: dict[str, Json]
    predicted: dict[str, Json]
    wrong: tuple[dict[str, None], dict[str, None]] = field(default_factory=lambda: ({}, {}))

    def value(self, key: str, *, gold: bool) -> Json:
        """Return the single value of a field; ABSENT if there is none, or if it is null."""
        return single_value((self.gold if gold else self.predicted).get(key))

    def wrong_values(self, *, gold: bool) -> Iterator[tuple[str, Json]]:
        """Yield the wrong single values of one side, with their keys."""
        for key in self.wrong[not gold]:
            if (value := self.value(key, gold=gold)) is not ABSENT:
                yield key, value

    def exchange_gain(self, first: str, second: str) -> float:
        """Return how many more values are correct after the two predicted fields are exchanged; near ones are half."""
        gain = 0.0
        for key, other in ((first, second), (second, first)):
            gold = self.value(key, gold=True)
            gain += _agreement(gold, self.value(other, gold=False)) - _agreement(gold, self.value(key, gold=False))
        return gain


def _agreement(gold: Json, predicted: Json) -> float:
    """Return 1 for equal values, 0.5 for nearly equal ones, and 0 for others."""
    if not nearly_equal(gold, predicted):
        return 0.0
    return 1.0 if canonical(gold) == canonical(predicted) else 0.5


def _rows(sample: Sample) -> dict[str, list[Row]]:
    """Return the matched objects with a fault in a field, by wildcard path."""
    partners = {gold: predicted for predicted, gold in sample.matched.items()}
    rows: defaultdict[str, dict[tuple[int, str], Row]] = defaultdict(dict)
    for fault in sample.faults:
        place, _, last = fault.path.rpartition("/")
        for end, side in ((fault.gold_pointer, 0), (fault.predicted_pointer, 1)):
            above, _, token = (end or "").rpartition("/")
            owner = fault.document, above
            if side:
                owner = sample.matched.get(owner, NO_PARTNER)
            if not end or last == "*" or owner not in partners:
                continue
            if owner not in rows[place]:
                ends, pair = (owner[1], partners[owner][1]), sample.pairs[owner[0]]
                gold, predicted = value_at(pair.gold, ends[0]), value_at(pair.predicted, ends[1])
                if not (isinstance(gold, dict) and isinstance(predicted, dict)):
                    continue
                rows[place][owner] = Row(owner[0], ends, gold, predicted)
            rows[place][owner].wrong[side][str(parse(f"/{token}")[0])] = None
    return {place: list(members.values()) for place, members in rows.items()}


def other_fields(sample: Sample) -> Iterator[Proposal]:
    """Propose to exchange two fields, or to move values from one field to another."""
    for place, rows in _rows(sample).items():
        tests, number = _tests(rows, _declared(sample.plan, place))
        hits = {
            fields: [row for row, value, found in tested if canonical(value) == canonical(found)]
            for fields, tested in tests.items()
        }
        significance = {}
        for fields, tested in tests.items():
            if len(hits[fields]) >= MIN_SHARE * len(tested):
                found = Counter(canonical(value) for *_, value in tested)
                chances = [repeat_chance(found, value) for *_, value in tested]
                significance[fields] = min(1.0, number * excess_p(len(hits[fields]), chances))
        for fields, p in significance.items():
            pair, reverse = FieldPair(sample, place, *fields, rows), fields[::-1]
            both = len(set(hits[fields]) & set(hits.get(reverse, ())))
            if 2 * both < max(len(hits[fields]), len(hits.get(reverse, ()))):
                if len(hits[fields]) >= MIN_MOVED:
                    yield pair.moved(p)
            elif fields < reverse:
                yield pair.exchanged(min(p, significance.get(reverse, 1.0)))


def _declared(plan: Plan, path: str) -> frozenset[str]:
    """Return the keys that the schema declares for the objects at a wildcard path."""
    site = site_at(plan, path)
    return frozenset() if site is None else frozenset(one.name for one in site.object.fields)


def _tests(
    rows: Sequence[Row], declared: frozenset[str]
) -> tuple[Mapping[tuple[str, str], Sequence[tuple[Row, Json, Json]]], int]:
    """Return the rows where a field of gold and another predicted field are wrong, by these fields, with both values.

    Keys that are neither declared nor occur together in gold are other names of a field, not other fields.

    Returns:
        The rows of each pair of fields whose values are equal in at least one row, and the total number of pairs.
    """
    wrong = [(row, dict(row.wrong_values(gold=True)), dict(row.wrong_values(gold=False))) for row in rows]
    others: defaultdict[str, set[str]] = defaultdict(set)
    equal: defaultdict[str, set[str]] = defaultdict(set)
    for _, gold, predicted in wrong:
        keys: defaultdict[Hashable, list[str]] = defaultdict(list)
        for other, found in predicted.items():
            keys[canonical(found)].append(other)
        for key, value in gold.items():
            others[key].update(predicted)
            equal[key].update(keys.get(canonical(value), ()))
    for key, own in others.items():
        own.discard(key)
        fields = declared if key in declared else frozenset()
        if not own <= fields:
            own.intersection_update(fields.union(*(row.gold for row in rows if key in row.gold)))
        equal[key] &= own
    tests: defaultdict[tuple[str, str], list[tuple[Row, Json, Json]]] = defaultdict(list)
    for row, gold, predicted in wrong:
        place = {other: number for number, other in enumerate(predicted)}
        for key, value in gold.items():
            for other in sorted(equal[key] & place.keys(), key=place.__getitem__):
                tests[key, other].append((row, value, predicted[other]))
    return tests, sum(map(len, others.values()))


class FieldPair(NamedTuple):
    """Two fields of the objects at a path, of which the values of the first are in the second.

    Attributes:
        sample: The sample.
        place: Wildcard path of the objects.
        first: Key of the first field.
        second: Key of the second field.
        rows: The matched objects with faults.
    """

    sample: Sample
    place: str
    first: str
    second: str
    rows: Sequence[Row]

    def exchanged(self, p: float) -> Proposal:
        """Return the proposal to exchange the fields: in all objects of a document if most are exchanged there."""
        better: defaultdict[int, list[Row]] = defaultdict(list)
        for row in self.rows:
            if row.exchange_gain(self.first, self.second) > 0:
                better[row.document].append(row)
        places: Places = defaultdict(dict)
        explained: list[Row] = []
        for document, members in better.items():
            also, unmatched = self._also_exchanged(document, len(members))
            explained += [*members, *also]
            objects = {row.pointers[1]: row.predicted for row in (*members, *also)} | unmatched
            for at, value in objects.items():
                for key, other in ((self.first, self.second), (self.second, self.first)):
                    places[document][f"{at}/{escape(key)}"] = value.get(key, ABSENT), value.get(other, ABSENT)
        names = f'"{self.first}" and "{self.second}" of {self.place or "the document"}'
        advice = f"Describe {names} in the prompt: predictions swap their values."
        return self._proposal("columns-swapped", explained, places, p, advice)

    def _also_exchanged(self, document: int, better: int) -> tuple[list[Row], dict[str, dict[str, Json]]]:
        """Return the matched objects for which it does not matter, and those without a partner, if most are exchanged.

        Args:
            document: Position of the document.
            better: Number of its objects in which more values are correct after the exchange.
        """
        rows = [row for row in self.rows if row.document == document]
        found = values_at(self.sample.pairs[document].predicted, parse(self.place))
        every = {at: value for at, value in found if isinstance(value, dict)}
        unmatched = {at: value for at, value in every.items() if (document, at) not in self.sample.matched}
        same = [row for row in rows if row.exchange_gain(self.first, self.second) == 0]
        worse = len(every) - len(unmatched) - len(same) - better
        return (same, unmatched) if better > worse else ([], {})

    def moved(self, p: float) -> Proposal:
        """Return the proposal to move the values of the first field back from the second one."""
        places: Places = defaultdict(dict)
        explained = []
        for row in self.rows:
            gold, own = row.value(self.first, gold=True), row.predicted.get(self.first, ABSENT)
            found = row.value(self.second, gold=False)
            kept = nearly_equal(gold, single_value(own)) or nearly_equal(row.value(self.second, gold=True), found)
            if nearly_equal(gold, found) and not kept:
                explained.append(row)
                here = row.pointers[1]
                places[row.document][f"{here}/{escape(self.first)}"] = own, found
                places[row.document][f"{here}/{escape(self.second)}"] = found, None if own is None else ABSENT
        names = f'"{self.first}" and "{self.second}" of {self.place or "the document"}'
        advice = f'Describe {names} in the prompt: predictions have the values of "{self.first}" in "{self.second}".'
        return self._proposal("other-field", explained, places, p, advice)

    def _proposal(self, kind: str, rows: Sequence[Row], places: Places, p: float, advice: str) -> Proposal:
        keys = escape(self.first), escape(self.second)
        numbers: dict[int, None] = {}
        for row in rows:
            for key in keys:
                for owner, gold in zip(row.pointers, (True, False), strict=True):
                    numbers.update(
                        dict.fromkeys(self.sample.fault_ends.get((row.document, gold, f"{owner}/{key}"), ()))
                    )
        paths = tuple(f"{self.place}/{key}" for key in keys)
        return Proposal(kind, "prediction", paths, tuple(numbers), replacement(places), p, advice=advice)


DETECTORS: Final[tuple[Detector, ...]] = (other_fields,)
"""The detectors of this module."""
