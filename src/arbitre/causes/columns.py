"""Causes that affect columns: shifted rows and ditto marks.

A column is one field in all items of a list.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from arbitre.causes.changes import replacement
from arbitre.causes.offsets import MIN_VALUES, with_date_offsets, with_offset
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import NO_PARTNER, excess_p, nearly_equal, share_p, single_value
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.errors import shown
from arbitre.paths import STAR, parse, pointer, value_at
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.causes.changes import Places
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample
    from arbitre.paths import Path
    from arbitre.values import Json

MIN_SHIFTED: Final = 0.5
"""Minimum share of the wrong values of a field in a list that are those of the next or previous item."""

MIN_SHARE: Final = 0.1
"""Minimum share of the wrong values of a field that are those of the next or previous item."""

MAX_P: Final = 0.01
"""Maximum p-value of a shift, a ditto mark or an offset."""

MAX_MARK: Final = 10
"""Maximum number of characters of a ditto mark."""

MIN_CONFIRMED: Final = 0.75
"""Minimum share of ditto marks whose gold value equals the predicted value of the previous item."""

MAX_SHARE_OF_ONE_VALUE: Final = 0.75
"""Maximum share of ditto marks that stand for the same value. Above it, the text is another name for this value."""


# Columns that are shifted by a row.


@dataclass(frozen=True, eq=False)
class Column:
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

    @cached_property
    def wrong(self) -> Sequence[int]:
        """The predicted items with a value that their gold items do not have."""
        return [
            at
            for at, (value, partner) in enumerate(zip(self.predicted, self.partners, strict=True))
            if partner is not None
            and single_value(value) is not ABSENT
            and not nearly_equal(value, single_value(self.gold[partner]))
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

    @cached_property
    def hits(self) -> Mapping[int, int]:
        """The number of wrong values that are those of the item before (step 1) or after (step -1)."""
        keys = [None if single_value(value) is ABSENT else canonical(value) for value in self.gold]
        wrong = [(at, canonical(self.predicted[at])) for at in self.wrong]
        return {
            step: sum(any(keys[other] == value for other in self.neighbours(at, step)) for at, value in wrong)
            for step in (1, -1)
        }

    def expected(self, step: int) -> float:
        """Return the number of wrong values that would be those of the item before or after if rows were random."""
        counts = Counter(canonical(value) for value in self.gold if single_value(value) is not ABSENT)
        others = max(1, len(self.gold) - 1)
        return sum(
            min(1.0, len(self.neighbours(at, step)) * max(counts[canonical(value)] / others, base_chance(value)))
            for at in self.wrong
            for value in (self.predicted[at],)
        )

    def is_shifted(self, step: int) -> bool:
        """Return whether most of the wrong values are those of the item before or after."""
        return self.hits[step] > 0 and self.hits[step] >= MIN_SHIFTED * len(self.wrong)

    def by_position(self) -> Column:
        """Return the column with items of equally long lists compared by position, as a shift can change matches."""
        same = len(self.gold) == len(self.predicted)
        return replace(self, partners=range(len(self.predicted)) if same else [None] * len(self.predicted))

    def shifted_back(self, step: int) -> list[Json]:
        """Return the values in their own rows. A value that the shift pushed out of the list is taken from gold."""
        size = len(self.predicted)
        outside = [None if partner is None else self.gold[partner] for partner in self.partners]
        return [self.predicted[at + step] if 0 <= at + step < size else outside[at] for at in range(size)]


def _shifted(sample: Sample, path: str, columns: Sequence[Column], tried: int) -> tuple[int, Proposal] | None:
    """Return the number of values of another row, and the proposal to shift them back; None if there are none."""
    totals = {step: sum(column.hits[step] for column in columns) for step in (1, -1)}
    step = max(totals, key=totals.__getitem__)
    if totals[step] < max(MIN_VALUES, MIN_SHARE * sum(len(column.wrong) for column in columns)):
        return None
    several = ((column, column.by_position()) for column in columns)
    shifted = [one for forms in several if (one := next((form for form in forms if form.is_shifted(step)), None))]
    if not shifted:
        return None
    expected = max(sum(column.expected(step) for column in columns), float(totals[-step]))
    p = min(1.0, 2.0 * tried * excess_p(totals[step], [expected]))
    return totals[step], _shift(sample, path, step, shifted, p)


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
            owner = sample.matched.get(owner, NO_PARTNER) if fault.gold_pointer is None else owner
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
        _, found = sample.matched.get((document, f"{lists[1]}/{at}"), NO_PARTNER)
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
    advice = f"Check the input for {path}: predictions have the values of the {neighbour} item."
    return Proposal("column-shifted", "prediction", (path,), tuple(numbers), replacement(places), p, advice=advice)


# Ditto marks.


def _ditto_marks(sample: Sample, columns: Mapping[str, Sequence[Column]]) -> Iterator[Proposal]:
    """Propose to replace ditto marks, and missing values used in the same way, with the value of the previous item."""
    for path, several in columns.items():
        known = {_comparable(value) for column in several for value in column.gold}
        texts = Counter(value for column in several for value in column.predicted if isinstance(value, str))
        marks = [
            value
            for value, number in texts.items()
            if number >= MIN_VALUES and 0 < len(value) <= MAX_MARK and _comparable(value) not in known
        ]
        for mark in (None, *marks):
            proposal = _ditto(sample, path, mark, several)
            if proposal is not None and (p := len(columns) * (1 + len(marks)) * proposal.p) <= MAX_P:
                yield replace(proposal, p=p)


def _comparable(value: Json) -> Hashable | None:
    """Return the comparable form of a value; None if it is not a single value."""
    return None if single_value(value) is ABSENT else canonical(value)


def _ditto(sample: Sample, path: str, mark: str | None, columns: Sequence[Column]) -> Proposal | None:
    """Return the proposal to replace a ditto mark; None if gold does not usually equal the predicted value before it.

    Args:
        sample: The sample.
        path: Wildcard path of the field.
        mark: The mark; None for missing values where gold has a value.
        columns: The columns at the path.
    """
    tokens = parse(path)
    inner = pointer(tokens[_depth(tokens) :])
    places: Places = defaultdict(dict)
    numbers: dict[int, None] = {}
    confirmed: Counter[Hashable] = Counter()
    with_partner = 0
    for column in columns:
        before: Json = ABSENT
        for at, (value, partner) in enumerate(zip(column.predicted, column.partners, strict=True)):
            gold = ABSENT if partner is None else single_value(column.gold[partner])
            if (None if value is ABSENT else value) != mark:
                before = single_value(value)
            elif mark is not None or gold is not ABSENT:
                ends = f"{column.pointers[0]}/{partner}{inner}", f"{column.pointers[1]}/{at}{inner}"
                with_partner += partner is not None
                if _comparable(before) == _comparable(gold) is not None:
                    confirmed[_comparable(gold)] += 1
                if before is not ABSENT:
                    places[column.document][ends[1]] = value, before
                for end, side in zip(ends, (True, False), strict=True):
                    numbers.update(dict.fromkeys(sample.fault_ends.get((column.document, side, end), ())))
    number = confirmed.total()
    if not number or number < MIN_CONFIRMED * with_partner or max(confirmed.values()) > MAX_SHARE_OF_ONE_VALUE * number:
        return None
    pairs = [pair for column in columns for pair in pairwise(map(_comparable, column.gold)) if pair[1] is not None]
    repeat_rate = sum(first == second for first, second in pairs) / max(1, len(pairs))
    have = "leave it out" if mark is None else f"have {shown(mark)}"
    return Proposal(
        "ditto",
        "prediction",
        (path,),
        tuple(numbers),
        replacement(places),
        share_p(number, [repeat_rate] * with_partner),
        advice=f"Ask for the value of {path} in every item: predictions {have} where it repeats the value of "
        "the previous item.",
        detail={"mark": mark},
    )


def shifts(sample: Sample) -> Iterator[Proposal]:
    """Propose to shift columns back, or to subtract a constant from numbers or dates, whichever explains more values.

    Both can explain consecutive numbers: those of the next row are larger by 1. Also propose to replace ditto marks.
    """
    columns = _columns(sample)
    for path in sample.faults_by_path:
        found = [_shifted(sample, path, columns.get(path, ()), len(columns)), with_offset(sample, path)]
        found += with_date_offsets(sample, path)
        likely = [one for one in found if one is not None and one[1].p <= MAX_P]
        if likely:
            yield max(likely, key=lambda one: one[0])[1]
    yield from _ditto_marks(sample, columns)


DETECTORS: Final[tuple[Detector, ...]] = (shifts,)
"""The detectors of this module."""
