"""Causes in the fields of objects: values in another field or row, and numbers that differ by a constant."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import replacement, site_at
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p, repeat_chance, same_value
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.paths import STAR, escape, parse, pointer, value_at
from arbitre.values import ABSENT, Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.causes.changes import Places
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MIN_SHARE: Final = 0.1
"""Minimum share of the wrong values of a field that are in another field."""

MIN_SHIFTED: Final = 0.5
"""Minimum share of the wrong values of a field in a list that are those of the next or previous item."""

MIN_OFFSET: Final = 0.5
"""Minimum share of the wrong numbers of a path that differ from gold by the same constant."""


def _single(value: Json) -> Json:
    """Return a single value; ABSENT for null, a list and an object."""
    return ABSENT if value is None or isinstance(value, (dict, list)) else value


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
        return _single((self.gold if gold else self.predicted).get(key))

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
    if not same_value(gold, predicted):
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
                owner = sample.matched.get(owner, (NO_DOCUMENT, ""))
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


NO_DOCUMENT: Final = -1
"""Position of an object without a partner."""


def other_fields(sample: Sample) -> Iterator[Proposal]:
    """Propose to exchange two fields, or to move values from one field to another."""
    for place, rows in _rows(sample).items():
        tests = _tests(rows, _declared(sample.plan, place))
        hits = {
            fields: [row for row, value, found in tested if canonical(value) == canonical(found)]
            for fields, tested in tests.items()
        }
        significance = {}
        for fields, tested in tests.items():
            if hits[fields] and len(hits[fields]) >= MIN_SHARE * len(tested):
                found = Counter(canonical(value) for *_, value in tested)
                chances = [repeat_chance(found, value) for *_, value in tested]
                significance[fields] = min(1.0, len(tests) * excess_p(len(hits[fields]), chances))
        for fields, p in significance.items():
            pair, reverse = FieldPair(sample, place, *fields, rows), fields[::-1]
            both = len(set(hits[fields]) & set(hits.get(reverse, ())))
            if 2 * both < max(len(hits[fields]), len(hits.get(reverse, ()))):
                yield pair.moved(p)
            elif fields < reverse:
                yield pair.exchanged(min(p, significance.get(reverse, 1.0)))


def _declared(plan: Plan, path: str) -> frozenset[str]:
    """Return the keys that the schema declares for the objects at a wildcard path."""
    site = site_at(plan, path)
    return frozenset() if site is None else frozenset(one.name for one in site.object.fields)


def _tests(rows: Sequence[Row], declared: frozenset[str]) -> Mapping[tuple[str, str], Sequence[tuple[Row, Json, Json]]]:
    """Return the rows where a field of gold and another predicted field are wrong, by these fields, with both values.

    Keys that are neither declared nor occur together in gold are other names of a field, not other fields.
    """
    tests: defaultdict[tuple[str, str], list[tuple[Row, Json, Json]]] = defaultdict(list)
    for row in rows:
        wrong = list(row.wrong_values(gold=False))
        for key, value in row.wrong_values(gold=True):
            for other, found in wrong:
                if other != key:
                    tests[key, other].append((row, value, found))
    return {
        fields: tested
        for fields, tested in tests.items()
        if declared.issuperset(fields) or any(row.gold.keys() >= {*fields} for row in rows)
    }


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
        advice = f"Describe {names} in the prompt: predictions exchange their values."
        return self._proposal("columns-swapped", explained, places, p, advice)

    def _also_exchanged(self, document: int, better: int) -> tuple[list[Row], dict[str, dict[str, Json]]]:
        """Return the matched objects for which it does not matter, and those without a partner, if most are exchanged.

        Args:
            document: Position of the document.
            better: Number of its objects in which more values are correct after the exchange.
        """
        rows = [row for row in self.rows if row.document == document]
        every = dict(_objects_at(self.sample.pairs[document].predicted, parse(self.place)))
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
            kept = same_value(gold, _single(own)) or same_value(row.value(self.second, gold=True), found)
            if same_value(gold, found) and not kept:
                explained.append(row)
                here = row.pointers[1]
                places[row.document][f"{here}/{escape(self.first)}"] = own, found
                places[row.document][f"{here}/{escape(self.second)}"] = found, None if own is None else ABSENT
        names = f'"{self.first}" and "{self.second}" of {self.place or "the document"}'
        advice = f'Describe {names} in the prompt: predictions write the values of "{self.first}" to "{self.second}".'
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


def _objects_at(value: Json, path: Path, at: str = "") -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the objects at a wildcard path of a document, with their JSON Pointers."""
    if not path:
        if isinstance(value, dict):
            yield at, value
    elif path[0] is STAR:
        children = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        for token, child in children:
            yield from _objects_at(child, path[1:], f"{at}/{escape(token)}")
    elif isinstance(value, dict) and path[0] in value:
        yield from _objects_at(value[str(path[0])], path[1:], f"{at}/{escape(path[0])}")


# Columns that are shifted by a row.


class Column(NamedTuple):
    """A field of the items of a matched pair of lists.

    Attributes:
        document: Position of the document in the sample.
        pointers: JSON Pointers of the lists in gold and in the prediction.
        gold: Values of the gold items.
        predicted: Values of the predicted items.
        partners: Position of the gold item of each predicted item; None without one.
    """

    document: int
    pointers: tuple[str, str]
    gold: Sequence[Json]
    predicted: Sequence[Json]
    partners: Sequence[int | None]

    def wrong(self) -> list[int]:
        """Return the predicted items with a value that their gold items do not have."""
        return [
            at
            for at, (value, partner) in enumerate(zip(self.predicted, self.partners, strict=True))
            if partner is not None
            and _single(value) is not ABSENT
            and not same_value(value, _single(self.gold[partner]))
        ]

    def neighbours(self, at: int, step: int) -> set[int]:
        """Return the gold items before (step 1) or after (step -1) that of a predicted item, in the order of each side.

        Args:
            at: Position of the predicted item.
            step: 1 or -1.
        """
        own = self.partners[at]
        found = {None if own is None else own - step}
        if 0 <= at - step < len(self.partners):
            found.add(self.partners[at - step])
        return {other for other in found if other is not None and 0 <= other < len(self.gold) and other != own}

    def hits(self, step: int) -> list[int]:
        """Return the predicted items with a wrong value that is the one of the item before or after."""
        return [
            at
            for at in self.wrong()
            if any(same_value(self.predicted[at], _single(self.gold[other])) for other in self.neighbours(at, step))
        ]

    def expected(self, step: int) -> float:
        """Return the number of wrong values that would be those of the item before or after if rows were random."""
        counts = Counter(canonical(value) for value in self.gold if _single(value) is not ABSENT)
        others = max(1, len(self.gold) - 1)
        return sum(
            min(1.0, len(self.neighbours(at, step)) * max(counts[canonical(value)] / others, base_chance(value)))
            for at in self.wrong()
            for value in (self.predicted[at],)
        )

    def is_shifted(self, step: int) -> bool:
        """Return whether most of the wrong values are those of the item before or after."""
        hits = len(self.hits(step))
        return hits > 0 and hits >= MIN_SHIFTED * len(self.wrong())

    def by_position(self) -> Column:
        """Return the column with items of equally long lists compared by position, as a shift can change matches."""
        same = len(self.gold) == len(self.predicted)
        return self._replace(partners=range(len(self.predicted)) if same else [None] * len(self.predicted))

    def shifted_back(self, step: int) -> list[Json]:
        """Return the values in their own rows. A value that the shift pushed out of the list is taken from gold."""
        size = len(self.predicted)
        outside = [None if partner is None else self.gold[partner] for partner in self.partners]
        return [self.predicted[at + step] if 0 <= at + step < size else outside[at] for at in range(size)]


def _shifted(sample: Sample, path: str, columns: Sequence[Column], tried: int) -> tuple[int, Proposal] | None:
    """Return the number of values of another row, and the proposal to shift them back; None if there are none."""
    totals = {step: sum(len(column.hits(step)) for column in columns) for step in (1, -1)}
    step = max(totals, key=totals.__getitem__)
    several = ((column, column.by_position()) for column in columns)
    shifted = [next((one for one in forms if one.is_shifted(step)), None) for forms in several]
    if not totals[step] or not any(shifted):
        return None
    expected = max(sum(column.expected(step) for column in columns), float(totals[-step]))
    p = min(1.0, 2.0 * tried * excess_p(totals[step], [expected]))
    return totals[step], _shift(sample, path, step, [column for column in shifted if column is not None], p)


def _columns(sample: Sample) -> dict[str, list[Column]]:
    """Return the columns with faults, by wildcard path."""
    partners = {gold: predicted for predicted, gold in sample.matched.items()}
    rows: dict[tuple[int, str], list[int | None]] = {}
    columns: defaultdict[str, dict[tuple[int, str], Column]] = defaultdict(dict)
    for path, faults in sample.faults_by_path.items():
        tokens = parse(path)
        if STAR not in tokens or tokens[-1] is STAR:
            continue
        depth = _depth(tokens)
        for fault in faults:
            end = fault.predicted_pointer if fault.gold_pointer is None else fault.gold_pointer
            owner = fault.document, "/".join((end or "").split("/")[:depth])
            owner = sample.matched.get(owner, (NO_DOCUMENT, "")) if fault.gold_pointer is None else owner
            if owner in columns[path] or owner not in partners:
                continue
            ends, pair = (owner[1], partners[owner][1]), sample.pairs[owner[0]]
            lists = value_at(pair.gold, ends[0]), value_at(pair.predicted, ends[1])
            if all(isinstance(items, list) for items in lists):
                if owner not in rows:
                    rows[owner] = _partners(sample, owner[0], ends, len(lists[1]))
                gold, predicted = ([_value_in(item, tokens[depth:]) for item in items] for items in lists)
                columns[path][owner] = Column(owner[0], ends, gold, predicted, rows[owner])
    return {path: list(members.values()) for path, members in columns.items() if members}


def _depth(tokens: Path) -> int:
    """Return the number of tokens up to the last wildcard."""
    return len(tokens) - tokens[::-1].index(STAR)


def _partners(sample: Sample, document: int, lists: tuple[str, str], size: int) -> list[int | None]:
    """Return the position of the gold item of each item of a predicted list; None without one."""
    partners: list[int | None] = []
    for at in range(size):
        _, found = sample.matched.get((document, f"{lists[1]}/{at}"), (NO_DOCUMENT, ""))
        above, _, position = found.rpartition("/")
        partners.append(int(position) if above == lists[0] and position.isdecimal() else None)
    return partners


def _value_in(item: Json, tokens: Path) -> Json:
    """Return a value in an item of a list; ABSENT if there is none."""
    for token in tokens:
        item = item.get(str(token), ABSENT) if isinstance(item, dict) else ABSENT
    return item


def _shift(sample: Sample, path: str, step: int, columns: Sequence[Column], p: float) -> Proposal:
    """Propose to shift some columns back."""
    tokens = parse(path)
    inner = pointer(tokens[_depth(tokens) :])
    places: Places = defaultdict(dict)
    numbers: dict[int, None] = {}
    for column in columns:
        gold_list, predicted_list = column.pointers
        for at, (old, new) in enumerate(zip(column.predicted, column.shifted_back(step), strict=True)):
            place, partner = f"{predicted_list}/{at}{inner}", f"{gold_list}/{column.partners[at]}{inner}"
            places[column.document][place] = old, new
            for end, gold in ((partner, True), (place, False)):
                numbers.update(dict.fromkeys(sample.fault_ends.get((column.document, gold, end), ())))
    neighbour = "previous" if step == 1 else "next"
    advice = f"Check the input of {path}: predictions have the values of the {neighbour} item."
    return Proposal("column-shifted", "prediction", (path,), tuple(numbers), replacement(places), p, advice=advice)


# Numbers that differ by a constant.


class NumberPair(NamedTuple):
    """A wrong number beside that of gold.

    Attributes:
        document: Position of the document in the sample.
        pointers: JSON Pointers in gold and in the prediction.
        gold: The number in gold.
        predicted: The predicted number.
        listed: Whether they are items of lists of numbers.
    """

    document: int
    pointers: tuple[str, str]
    gold: float
    predicted: float
    listed: bool

    @property
    def difference(self) -> float:
        """Predicted minus gold, without rounding errors."""
        difference = self.predicted - self.gold
        return round(difference, 9) if isinstance(difference, float) else difference


def _with_offset(sample: Sample, path: str) -> tuple[int, Proposal] | None:
    """Return how many numbers differ by the same constant, and the proposal to subtract it; None if there are few."""
    single, lists = _numbers_at(sample, path)
    pairs = [pair for pair in (*single, *(pair for one in lists for pair in one.ranked())) if pair.difference]
    differences = Counter(pair.difference for pair in pairs)
    offset, number = differences.most_common(1)[0] if differences else (0, 0)
    if not number or number < MIN_OFFSET * len(pairs):
        return None
    p = min(1.0, len(differences) * _offset_p(pairs, offset))
    places: Places = defaultdict(dict)
    numbers: dict[int, None] = {}
    for pair in (*single, *(pair for one in lists for pair in one.shifted(offset))):
        if pair.difference == offset:
            places[pair.document][pair.pointers[1]] = pair.predicted, pair.predicted - offset
            for place, gold in zip(pair.pointers, (True, False), strict=True):
                whole = place.rpartition("/")[0] if pair.listed else place
                ends = (sample.fault_ends.get((pair.document, gold, end)) for end in (place, whole))
                numbers.update(dict.fromkeys(next(filter(None, ends), ())))
    words = f"{abs(offset)} too {'large' if offset > 0 else 'small'}"
    advice = f"State in the prompt where the numbers at {path} start: predictions are {words}."
    change, detail = replacement(places), {"offset": offset}
    proposal = Proposal("ids-offset", "prediction", (path,), tuple(numbers), change, p, advice=advice, detail=detail)
    return number, proposal


def _offset_p(pairs: Sequence[NumberPair], offset: float) -> float:
    """Return the probability that as many pairs, and as many values of gold, have this difference by chance."""
    predicted = Counter(pair.predicted for pair in pairs)
    chances = {
        pair.gold: max(predicted[pair.gold + offset] / len(pairs), base_chance(pair.gold + offset)) for pair in pairs
    }
    by_value: defaultdict[float, list[bool]] = defaultdict(list)
    for pair in pairs:
        by_value[pair.gold].append(pair.difference == offset)
    values = sum(2 * sum(same) > len(same) for same in by_value.values())
    return max(
        excess_p(sum(pair.difference == offset for pair in pairs), [chances[pair.gold] for pair in pairs]),
        excess_p(values, list(chances.values())),
    )


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
        ends = f"{self.pointers[0]}/{gold}", f"{self.pointers[1]}/{predicted}"
        return NumberPair(self.document, ends, self.gold[gold], self.predicted[predicted], listed=True)

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
    """Return the matched numbers at a path that differ, and the matched lists of numbers that differ."""
    pairs: list[NumberPair] = []
    lists: dict[tuple[int, tuple[str, str]], NumberLists] = {}
    for leaf in sample.leaves.get(path, ()):
        if leaf.pointer is None or leaf.predicted_pointer is None:
            continue
        ends = leaf.pointer, leaf.predicted_pointer
        if path.endswith("/*"):
            ends = ends[0].rpartition("/")[0], ends[1].rpartition("/")[0]
        if path.endswith("/*") or isinstance(leaf.gold, list):
            if (leaf.document, ends) not in lists:
                pair = sample.pairs[leaf.document]
                sides = value_at(pair.gold, ends[0]), value_at(pair.predicted, ends[1])
                lists[leaf.document, ends] = NumberLists(leaf.document, ends, *sides)
        elif _are_numbers([leaf.gold, leaf.predicted]) and leaf.gold != leaf.predicted:
            pairs.append(NumberPair(leaf.document, ends, leaf.gold, leaf.predicted, listed=False))
    differ = (one for one in lists.values() if one.gold != one.predicted)
    return pairs, [one for one in differ if _are_numbers(one.gold) and _are_numbers(one.predicted)]


def _are_numbers(values: Json) -> bool:
    """Return whether a value is a list of numbers of which differences are meaningful."""
    return isinstance(values, list) and all(
        kind_of(value) is Kind.NUMBER and abs(value) < MAX_NUMBER for value in values
    )


MAX_NUMBER: Final = 10**12
"""Smallest number that is too large for an offset."""


def shifts(sample: Sample) -> Iterator[Proposal]:
    """Propose to shift columns back, or to subtract a constant from numbers, whichever explains more values.

    Consecutive numbers of the next row are also larger by 1.
    """
    columns = _columns(sample)
    for path in sample.faults_by_path:
        found = [_shifted(sample, path, columns.get(path, ()), len(columns)), _with_offset(sample, path)]
        likely = [one for one in found if one is not None and one[1].p <= MAX_P]
        if likely:
            yield max(likely, key=lambda one: one[0])[1]


MAX_P: Final = 0.01
"""Maximum p-value of a shift or an offset."""

DETECTORS: Final[tuple[Detector, ...]] = (other_fields, shifts)
"""The detectors of this module."""
