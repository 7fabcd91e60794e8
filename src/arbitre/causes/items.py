"""Causes in the items of lists: repeated items, and truncated lists."""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from arbitre.causes.changes import Correction
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p
from arbitre.diagnosis.moved_chance import base_chance
from arbitre.diagnosis.moved_objects import MAX_WEIGHT, value_form
from arbitre.paths import STAR, parse, values_at
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.paths import Path
    from arbitre.values import Json

    _List = tuple[int, str, list[Json], dict[int, SampleFault]]
    """A document, the JSON Pointer of a gold list, its items, and those that are missing."""

Leaves: TypeAlias = "Counter[tuple[str, Hashable]]"
"""The values of an item, with their paths in the item."""

SAME_SHARE: Final = 0.8
"""Minimum share of the content that two items share of which one repeats the other."""

MIN_VALUES: Final = 2
"""Minimum number of values of an item that nearly repeats another one."""

MAX_CHANCE: Final = 0.05
"""Maximum p-value of an explanation that is proposed."""

MAX_TRIED: Final = 20
"""Number of items of a path that are compared first; if none nearly repeats another one, only copies are looked for."""

MAX_COMPARED: Final = 1 << 13
"""Maximum number of pairs of items of a list that are compared, to find items that are nearly equal."""


# Values in documents, and the content of items.


def tokens_of(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a JSON Pointer."""
    return tuple("*" if token is STAR else token for token in parse(pointer))


def holder_of(predicted: Json, tokens: Sequence[str], value: Json) -> tuple[Sequence[str], int | str] | None:
    """Return the tokens of the object or the list around a value, and its key there; None if it is not there."""
    holder = part_at(predicted, tokens[:-1])
    if isinstance(holder, dict) and tokens and holder.get(tokens[-1], ABSENT) == value:
        return tokens[:-1], tokens[-1]
    if isinstance(holder, list) and tokens:
        at = int(tokens[-1])
        if at < len(holder) and holder[at] == value:
            return tokens[:-1], at
    return None


def part_at(value: Any, tokens: Sequence[str]) -> Any:  # noqa: ANN401  (JSON)
    """Return the part of a JSON value at some tokens; ABSENT if there is none."""
    for token in tokens:
        if isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        elif isinstance(value, dict) and token in value:
            value = value[token]
        else:
            return ABSENT
    return value


def leaves_of(item: Json) -> Leaves:
    """Return the values of an item. Null is no value."""
    found: Leaves = Counter()
    pending = [("", item)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            pending += [(f"{path}/{key}", inner) for key, inner in value.items()]
        elif isinstance(value, list):
            pending += [(f"{path}/*", inner) for inner in value]
        elif value is not None:
            found[path, value_form(value)] += 1
    return found


def _whole(leaves: Leaves) -> Hashable:
    return frozenset(leaves.items())


def _nearly(leaves: Leaves, other: Leaves) -> bool:
    """Return whether two items share most of their content, but not only one value.

    If both have lists, the lists share most values too: the parts of a split item have different ones.
    """
    if len(leaves) < MIN_VALUES or common_share(leaves, other) < SAME_SHARE:
        return False
    listed = [Counter({value: number for value, number in own.items() if "*" in value[0]}) for own in (leaves, other)]
    return not all(listed) or common_share(*listed) >= SAME_SHARE


def common_share(leaves: Leaves, other: Leaves) -> float:
    """Return the share of the content of two items that is the same."""
    largest = max(_weight(leaves), _weight(other))
    return _weight(leaves & other) / largest if largest else 0.0


def _weight(leaves: Leaves) -> float:
    return math.fsum(number * _information(str(form)) for (_, form), number in leaves.items())


@cache
def _information(form: str) -> float:
    return min(MAX_WEIGHT, -math.log(base_chance(form)))


# Repeated items.


def repeated(sample: Sample) -> Iterator[Proposal]:
    """Propose that items without a partner, or with a weak one, repeat another item of their list."""
    runs = Counter(pair.id for pair in sample.pairs)
    paths = dict.fromkeys(path for path, faults in sample.faults_by_path.items() for path in _lists_around(path))
    for path in paths:
        lists = [
            (document, pointer, items, positions)
            for (document, pointer), positions in _unmatched(sample, path).items()
            if isinstance(items := part_at(sample.pairs[document].predicted, tokens_of(pointer)), list)
        ]
        if not _may_repeat(lists):
            continue
        repeats, observed, usual = _Repeats.of(sample, path), 0.0, list[float]()
        some: list[tuple[int, str, Json]] = []
        for document, pointer, items, positions in lists:
            share = 1.0 / runs[sample.pairs[document].id]  # runs of one document are not independent
            own, chance = repeats.among(items, positions, document)
            usual += [chance * share] * len(positions)
            observed += len(own) * share
            some += [(document, f"{pointer}/{at}", items[at]) for at in own]
        p = min(1.0, len(paths) * excess_p(int(observed), usual))
        if not some or p > MAX_CHANCE:
            continue
        places = _with_copies(sample, path, some)
        drops: defaultdict[int, list[tuple[Sequence[str], Json]]] = defaultdict(list)
        for document, pointer, item in places:
            drops[document].append((tokens_of(pointer), item))
        yield Proposal(
            "duplicated",
            "prediction",
            (path,),
            _below(sample, [(document, pointer) for document, pointer, _ in places]),
            Correction(_Without(drops).correct, frozenset(drops)),
            p,
            advice=f"Ask for each item of {path.removesuffix('/*') or 'the list'} once, or remove duplicates.",
        )


def _may_repeat(lists: Sequence[tuple[int, str, list[Json], Sequence[int]]]) -> bool:
    """Return whether an item equals another one of its list, or nearly equals it (see `MAX_TRIED`)."""
    for _, _, items, positions in lists:
        copies = Counter(map(repr, items))
        if len(copies) < len(items) and any(copies[repr(items[at])] > 1 for at in positions if at < len(items)):
            return True
    every = [(items, at) for _, _, items, positions in lists for at in positions if at < len(items)]
    chosen = every[:: max(1, len(every) // MAX_TRIED)]
    return any(
        _nearly(leaves, leaves_of(other))
        for items, at in chosen
        if isinstance(items[at], dict | list) and len(leaves := leaves_of(items[at])) >= MIN_VALUES
        for place, other in enumerate(items[:MAX_COMPARED])
        if place != at and isinstance(other, type(items[at]))
    )


def _with_copies(sample: Sample, path: str, some: Sequence[tuple[int, str, Json]]) -> Sequence[tuple[int, str, Json]]:
    """Return repeated items, and all other exact copies, unless gold has copies as well."""
    tokens = parse(path)[:-1]
    if any(len({*forms}) < len(forms) for pair in sample.pairs for _, forms in _forms(pair.gold, tokens)):
        return some
    known = {(document, pointer): item for document, pointer, item in some}
    for document, pair in enumerate(sample.pairs):
        for pointer, forms in _forms(pair.predicted, tokens):
            if len({*forms}) < len(forms):
                items = part_at(pair.predicted, tokens_of(pointer))
                places = [(document, f"{pointer}/{at}") for at in range(len(items))]
                kept = {form for place, form in zip(places, forms, strict=True) if place not in known}
                first: set[Hashable] = set()
                for place, form, item in zip(places, forms, items, strict=True):
                    if form in first or (form in kept and place in known):
                        known[place] = item
                    else:
                        first.add(form)
    return [(*place, item) for place, item in known.items()]


def _forms(root: Json, path: Path) -> Iterator[tuple[str, list[Hashable]]]:
    """Yield the lists at a wildcard path: their JSON Pointers, and the content of their items."""
    for pointer, value in values_at(root, path):
        if isinstance(value, list):
            yield pointer, [_whole(leaves_of(item)) for item in value]


def _lists_around(path: str) -> Iterator[str]:
    """Yield the paths of the items around a value, from the inside out."""
    while path:
        if path.endswith("/*"):
            yield path
        path = path.rpartition("/")[0]


def _unmatched(sample: Sample, path: str) -> Mapping[tuple[int, str], list[int]]:
    """Return the positions of predicted items without a partner, or with a weak one, by document and list."""
    places = [
        (fault.document, fault.predicted_pointer)
        for fault in sample.faults_by_path.get(path, ())
        if fault.fault == "spurious" and fault.predicted_pointer is not None
    ]
    places += [(document, pointer) for document, _, pointer in sample.weak_pairs(path)]
    lists: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for document, pointer in places:
        around, _, token = pointer.rpartition("/")
        if token.isdecimal():
            lists[document, around].append(int(token))
    return lists


def _below(sample: Sample, places: Iterable[tuple[int, str]]) -> tuple[int, ...]:
    """Return the numbers of the faults of predicted values at some places, or inside them; one fault for each first."""
    first, others = dict[tuple[int, bool, str], int](), list[int]()
    for number, place in sample.faults_inside({(document, False, pointer) for document, pointer in places}):
        if first.setdefault(place, number) != number:
            others.append(number)
    return (*first.values(), *others)


@dataclass(frozen=True, eq=False, slots=True)
class _Repeats:
    """Finds the items of a list that repeat another one.

    Attributes:
        sides: The items of gold, and those of the predictions.
    """

    sides: Sequence[_Items]

    @classmethod
    def of(cls, sample: Sample, path: str) -> _Repeats:
        """Count the items of a path."""
        tokens = parse(path)
        gold = _Items.of(_items_at(pair.gold, tokens) for pair in sample.pairs)
        return cls((gold, _Items.of(_items_at(pair.predicted, tokens) for pair in sample.pairs)))

    def among(self, items: Sequence[Json], positions: Sequence[int], document: int) -> tuple[list[int], float]:
        """Return which of some items repeat another one of the list, and the probability of one by chance."""
        tried = sorted({at for at in positions if at < len(items)})
        others = [leaves_of(item) for at, item in enumerate(items) if at not in tried]
        distinct = {_whole(leaves): leaves for leaves in others if leaves}
        near = len(tried) * len(distinct) <= MAX_COMPARED
        found = []
        for at in tried:
            leaves = leaves_of(items[at])
            if leaves and (
                _whole(leaves) in distinct or (near and any(_nearly(leaves, one) for one in distinct.values()))
            ):
                found.append(at)
        chance = math.fsum(self._chance(whole, leaves, document) for whole, leaves in distinct.items())
        return found, min(1.0, chance)

    def _chance(self, whole: Hashable, leaves: Leaves, document: int) -> float:
        """Return the probability that an unrelated item nearly equals an item: from other documents, and its values."""
        share = max(side.share(whole, document) for side in self.sides)
        if len(leaves) == 1:
            ((_, form),) = leaves
            return max(share, base_chance(str(form)))
        chances = sorted((self._value_chance(*value), _information(str(value[1]))) for value in leaves)
        spare, product = (1.0 - SAME_SHARE) * math.fsum(weight for _, weight in chances), 1.0
        for chance, weight in chances:  # some values may differ: of these, the most improbable ones
            if weight <= spare:
                spare -= weight
            else:
                product *= chance
        return max(share, product)

    def _value_chance(self, place: str, form: Hashable) -> float:
        """Return the probability of a value at a path of the items."""
        known = [side.values[place] for side in self.sides if place in side.values]
        return max([base_chance(str(form)), *(counts[form] / counts.total() for counts in known)])


@dataclass(frozen=True, eq=False, slots=True)
class _Items:
    """The items of a path on one side.

    Attributes:
        documents: How often each item occurs, by document.
        total: How often it occurs in all documents.
        values: How often each value occurs at each path of the items.
    """

    documents: Sequence[Counter[Hashable]]
    total: Counter[Hashable]
    values: Mapping[str, Counter[Hashable]]

    @classmethod
    def of(cls, items: Iterable[Iterable[Json]]) -> _Items:
        """Count the items of each document."""
        documents: list[Counter[Hashable]] = []
        total: Counter[Hashable] = Counter()
        values: defaultdict[str, Counter[Hashable]] = defaultdict(Counter)
        for several in items:
            own = [leaves_of(item) for item in several]
            documents.append(Counter(map(_whole, own)))
            total += documents[-1]
            for leaves in own:
                for (place, form), number in leaves.items():
                    values[place][form] += number
        return cls(documents, total, values)

    def share(self, whole: Hashable, document: int) -> float:
        """Return the share of an item in the other documents."""
        own = self.documents[document]
        rest = self.total.total() - own.total()
        return (self.total[whole] - own[whole]) / rest if rest else 0.0


def _items_at(root: Json, path: Path) -> list[Json]:
    return [item for _, item in values_at(root, path)]


@dataclass(frozen=True, eq=False, slots=True)
class _Without:
    """Drops items of lists.

    Attributes:
        drops: For each document, the tokens of the items, and the items.
    """

    drops: Mapping[int, Sequence[tuple[Sequence[str], Json]]]

    def correct(self, at: int, predicted: Json) -> Json:
        """Return the corrected prediction of a document."""
        places = [
            found
            for tokens, value in self.drops.get(at, ())
            if (found := holder_of(predicted, tokens, value)) is not None
        ]
        if not places:
            return predicted
        root = copy.deepcopy(predicted)
        holders = [(part_at(root, holder), key) for holder, key in places]
        for holder, key in sorted(holders, key=lambda one: one[1], reverse=True):
            del holder[key]
        return root


# Truncated lists.


def truncated(sample: Sample) -> Iterator[Proposal]:
    """Propose that lists lack their last items.

    For each list of n items of which k are missing, the number of missing items among the last k has a hypergeometric
    distribution if items are missing at random; the sum over all lists is tested. Lists with weak pairs are left out of
    the test, because any of their items could be missing.
    """
    for path in sample.faults_by_path:
        lists = _tails(sample, path)
        if lists is None:
            continue
        tails, p = lists
        added: defaultdict[int, list[tuple[Sequence[str], Json]]] = defaultdict(list)
        for document, holder, items in _as_good(sample, path, tails):
            added[document] += [(holder, item) for item in items]
        yield Proposal(
            "truncated",
            "prediction",
            (path,),
            tuple(fault.number for tail in tails for fault in tail.faults),
            Correction(_With(added).correct, frozenset(added)),
            min(1.0, len(sample.faults_by_path) * p),
            advice="Raise the output limit of the model, or split the input: the last items of "
            f"{path.removesuffix('/*') or 'the list'} are missing.",
        )


class _Tail(NamedTuple):
    """The last items of a gold list, which are missing.

    Attributes:
        document: The document.
        holder: Tokens of the predicted list.
        items: The items.
        faults: The faults of those that have no partner.
    """

    document: int
    holder: Sequence[str]
    items: Sequence[Json]
    faults: Sequence[SampleFault]


def _tails(sample: Sample, path: str) -> tuple[list[_Tail], float] | None:
    """Return the missing last items of the lists of a path, and the probability of as many by chance."""
    missing = [fault for fault in sample.faults_by_path[path] if fault.fault == "missing" and fault.gold_pointer]
    if not path.endswith("/*") or not missing:
        return None
    weak: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
    for document, gold, _ in sample.weak_pairs(path):
        around, _, token = gold.rpartition("/")
        weak[document, around].add(int(token) if token.isdecimal() else -1)
    lists = [
        (document, pointer, items, positions)
        for (document, pointer), positions in _by_list(missing).items()
        if isinstance(items := part_at(sample.pairs[document].gold, tokens_of(pointer)), list)
        and len(positions) < len(items)
    ]
    if _at_end(sample, lists, weak) > MAX_CHANCE:
        return None
    spurious = _spurious(sample, path)
    lists = [one for one in lists if not _is_elsewhere(one[2], one[3], spurious[one[0]])]
    tails = []
    for document, pointer, items, positions in lists:
        start, others = len(items), weak.get((document, pointer), set[int]())
        while start - 1 in positions or start - 1 in others:
            start -= 1
        faults = [positions[at] for at in range(start, len(items)) if at in positions]
        holder = sample.place(faults[0])[-2][1] if faults and start > 0 else None
        if holder is not None:
            tails.append(_Tail(document, tokens_of(holder), items[start:], faults))
    return (tails, _at_end(sample, lists, weak)) if tails else None


def _at_end(sample: Sample, lists: Sequence[_List], weak: Mapping[tuple[int, str], set[int]]) -> float:
    """Return the probability that so many missing items are at the ends of the lists by chance.

    Lists with weak pairs are left out, and so are further runs of the same document.
    """
    observed, expected, known = 0, np.ones(1), set[tuple[str, str]]()
    for document, pointer, items, positions in lists:
        place = sample.pairs[document].id, pointer
        if (document, pointer) not in weak and place not in known:
            known.add(place)
            observed += sum(at >= len(items) - len(positions) for at in positions)
            expected = np.convolve(expected, _among_last(len(items), len(positions)))
    return float(expected[observed:].sum())


def _is_elsewhere(items: Sequence[Json], positions: Iterable[int], spurious: Sequence[Leaves]) -> bool:
    """Return whether one of the missing items is spurious elsewhere in the document."""
    if not spurious:
        return False
    missing = [leaves_of(items[at]) for at in positions]
    if len(missing) * len(spurious) > MAX_COMPARED:
        return False
    return any(_nearly(leaves, other) for leaves in missing for other in spurious)


def _by_list(faults: Sequence[SampleFault]) -> Mapping[tuple[int, str], dict[int, SampleFault]]:
    """Return gold items by the document and the pointer of their list, and by their position."""
    lists: defaultdict[tuple[int, str], dict[int, SampleFault]] = defaultdict(dict)
    for fault in faults:
        around, _, token = (fault.gold_pointer or "").rpartition("/")
        if token.isdecimal():
            lists[fault.document, around][int(token)] = fault
    return lists


def _spurious(sample: Sample, path: str) -> Mapping[int, Sequence[Leaves]]:
    """Return the spurious items of a path, by document."""
    items: defaultdict[int, list[Leaves]] = defaultdict(list)
    for fault in sample.faults_by_path.get(path, ()):
        if fault.fault == "spurious":
            items[fault.document].append(leaves_of(fault.predicted))
    return items


def _as_good(sample: Sample, path: str, tails: Sequence[_Tail]) -> Iterator[tuple[int, Sequence[str], list[Json]]]:
    """Yield so many of the last items that the lists are as good with them as without them in gold.

    Each is a document, the tokens of the predicted list, and the items to add.
    """
    gold, predicted, quality = sample.item_masses(path)
    size = sum(len(tail.items) for tail in tails)
    f1q = 2.0 * quality / max(1.0, gold - size + predicted)
    number = round((f1q * (gold + predicted) - 2.0 * quality) / (2.0 - f1q))
    first = 0
    for tail in tails:
        chosen = [
            at for at in range(len(tail.items)) if (first + at + 1) * number // size > (first + at) * number // size
        ]
        yield tail.document, tail.holder, [tail.items[at] for at in chosen]
        first += len(tail.items)


@cache
def _among_last(size: int, number: int) -> Floats:
    """Return the probabilities of 0, 1, ... of the last `number` items among `number` random ones of `size`.

    This is the hypergeometric distribution. Importing `scipy.stats` for it would take 0.4 s.
    """
    last = (math.comb(number, found) * math.comb(size - number, number - found) for found in range(number + 1))
    return np.array([ways / math.comb(size, number) for ways in last])


@dataclass(frozen=True, eq=False, slots=True)
class _With:
    """Adds missing items of gold to the ends of lists: what the score would be if they were there.

    Attributes:
        added: For each document, the tokens of the predicted lists, and the items.
    """

    added: Mapping[int, Sequence[tuple[Sequence[str], Json]]]

    def correct(self, at: int, predicted: Json) -> Json:
        """Return the corrected prediction of a document."""
        root = copy.deepcopy(predicted)
        for tokens, item in self.added.get(at, ()):
            items = part_at(root, tokens)
            if isinstance(items, list):
                items.append(copy.deepcopy(item))
        return root


DETECTORS: Final[tuple[Detector, ...]] = (repeated,)
"""The detector of repeated items. That of truncated lists runs last, because its gain depends on the other items."""
