"""Causes in the notation of values: the same text, number, date or name in another form.

For each path, the detector takes the simplest notation that explains most of the wrong values; see
`arbitre.causes.same_value`. It refuses notations that make different gold values equal, unless predictions show that
these are forms of one value.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from arbitre.causes.changes import OverlayChange, normalizers_before, with_normalizers
from arbitre.causes.items import part_at
from arbitre.causes.proposal import Proposal
from arbitre.causes.same_value import (
    DECIMALS,
    SPECIFIC,
    Notation,
    Observation,
    Reader,
    are_one_unit,
    date_notation,
    of_units,
    unit_of,
    units_of,
)
from arbitre.causes.sample import NO_PARTNER, excess_p, value_chance
from arbitre.normalizers import AS_WRITTEN, NFC
from arbitre.parsing.dates import format_name
from arbitre.paths import STAR, parse, wildcard
from arbitre.schema.describe import walk
from arbitre.schema.nodes import leaves_of
from arbitre.values import ABSENT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.cause import Side
    from arbitre.normalizers import Normalizer
    from arbitre.schema.nodes import Site
    from arbitre.values import Json

TYPO: Final = 0.01
"""Minimum probability that a wrong value differs from gold only in notation, as typing errors can."""

MERGED: Final = 0.1
"""Maximum share of the gold values of a path that a notation may make equal to another gold value."""

ONE_FORM: Final = 0.95
"""Minimum share of the most frequent form in predictions, if gold has several forms of a value."""

MORE: Final = 1.1
"""Minimum ratio of the values that a more complex notation explains to those that a simpler one explains."""

TOGETHER: Final = 0.3
"""Minimum share of values that differ in all respects of a notation, among those that it explains."""

PATH_P: Final = 0.05
"""Maximum p-value of a notation at each of its paths."""

CANDIDATES: Final = 12
"""Maximum number of notations that are tried at a path."""

UNITS: Final = 4
"""Maximum number of units of a notation."""

COMPARED: Final = frozenset({"close", "wrong", "wrong type", "missing", "spurious"})
"""Classes of faults whose values can differ only in notation."""

Pool = dict[int, "Hashable"]
"""Keys of values, by the number of the fault that contains the value."""


@dataclass(eq=False, slots=True)
class PathValues:
    """The values of a path, by their keys; see `Reader.key`.

    Attributes:
        path: The wildcard path.
        present: The normalisers of the schema.
        dates: Whether the schema declares dates.
        closed: Whether texts are labels, which are equal or different.
        matched_by: Whether items are matched by these values, so that no distance applies.
        observations: Wrong values with the gold values that they may stand for.
        tested: Number of gold values that each wrong predicted value was compared with.
        gold: All gold values with their number.
        predicted: All predicted values with their number.
    """

    path: str
    present: Sequence[Json] = ()
    dates: bool = False
    closed: bool = False
    matched_by: bool = False
    observations: list[Observation] = field(default_factory=list)
    tested: list[tuple[Hashable, int]] = field(default_factory=list)
    gold: Counter[Hashable] = field(default_factory=Counter)
    predicted: Counter[Hashable] = field(default_factory=Counter)

    def observed(self, reader: Reader, pools: Iterable[tuple[Pool, Pool]]) -> PathValues:
        """Return the values with the observations of some pools; all values are shared."""
        made = replace(self, observations=[], tested=[])
        for gold, predicted in pools:
            made.tested += [(key, len(gold)) for key in predicted.values() if gold]
            made.observations += _observed(reader, gold, predicted)
        return made


def _paths(sample: Sample, reader: Reader) -> Iterator[tuple[PathValues, PathValues]]:
    """Yield the values of each path with faults, first as gold and prediction are matched, then by document.

    Entries are matched wrongly if the notation of all their fields differs.
    """
    sites = declared_sites(sample)
    keys = list(_wrong_keys(sample))
    key_paths = {one.path for one in keys}
    by_path: defaultdict[str, list[Compared]] = defaultdict(list)
    for one in chain(_wrong_values(sample), keys):
        by_path[one.path].append(one)
    for path, compared in by_path.items():
        if path not in sites:
            continue
        declared = normalizers_at(sites[path])
        pools = _pools(compared, partial(reader.key, declared))
        by_document: defaultdict[int, tuple[Pool, Pool]] = defaultdict(lambda: ({}, {}))
        for (document, *_), sides in pools.items():
            for whole, side in zip(by_document[document], sides, strict=True):
                whole.update(side)
        present = cast("list[Json]", with_normalizers(sample.plan, path, [])["normalize"])
        distances = {leaf.distance.name for leaf in leaves_of(sites[path], {Kind.STRING})}
        values = PathValues(path, present, "date" in distances, "exact" in distances, path in key_paths)
        values = values.observed(reader, pools.values())
        pooled = values.observed(reader, by_document.values())
        if values.observations or pooled.observations:
            for leaf in sample.leaves.get(path, ()):
                for count, value in ((values.gold, leaf.gold), (values.predicted, leaf.predicted)):
                    if value is not ABSENT:
                        count[reader.key(declared, value)] += 1
            yield values, pooled


def normalizers_at(site: Site) -> tuple[Normalizer, ...]:
    """Return all normalisers of a site that apply before further ones."""
    declared = normalizers_before(site)
    return declared if any(one.name == AS_WRITTEN for one in declared) else (NFC, *declared)


class Compared(NamedTuple):
    """A value of a fault, or the key of a missing or spurious item.

    Attributes:
        path: Wildcard path of the value.
        place: The document, and what distinguishes the places whose values are compared with each other.
        number: Number of the fault.
        sides: Value in gold and predicted value, or ABSENT.
    """

    path: str
    place: tuple[int, str | int | None]
    number: int
    sides: tuple[Json, Json]


def _wrong_values(sample: Sample) -> Iterator[Compared]:
    """Yield the values of faults.

    The items of a list of single values are compared with all others of their entry, because the matching of a list
    can pair the wrong items if their notation differs.
    """
    for fault in sample.faults:
        if fault.fault in COMPARED and not isinstance(fault.gold, dict) and not isinstance(fault.predicted, dict):
            place = fault.document, fault.entry if _is_item(fault) else fault.number
            yield Compared(fault.path, place, fault.number, (fault.gold, fault.predicted))


def _wrong_keys(sample: Sample) -> Iterator[Compared]:
    """Yield the keys of missing and spurious items of lists that are matched by key.

    They are compared with all others of their list, because items whose keys differ in notation are not matched.
    """
    for step in walk(sample.plan.sites):
        items = wildcard((*step.path, STAR))
        for key in sample.plan.sites[step.site].list.matcher.key:
            path = wildcard((*step.path, STAR, *key))
            for fault in sample.faults_by_path.get(items, ()):
                sides = part_at(fault.gold, key), part_at(fault.predicted, key)
                if fault.fault in {"missing", "spurious"} and not any(isinstance(side, dict) for side in sides):
                    yield Compared(path, (fault.document, _gold_list(sample, fault)), fault.number, sides)


def _gold_list(sample: Sample, fault: SampleFault) -> str:
    """Return the JSON Pointer, in gold, of the list around a missing or spurious item; "" if gold has none."""
    around = (fault.gold_pointer or fault.predicted_pointer or "").rpartition("/")[0]
    if fault.gold_pointer is None:
        around = sample.matched.get((fault.document, around), NO_PARTNER)[1]
    return around


def _pools(
    compared: Iterable[Compared], key: Callable[[Json], Hashable]
) -> Mapping[tuple[int, str | int | None], tuple[Pool, Pool]]:
    """Return the gold values and the predicted values that are compared with each other, by document and place."""
    pools: defaultdict[tuple[int, str | int | None], tuple[Pool, Pool]] = defaultdict(lambda: ({}, {}))
    for one in compared:
        for side, value in zip(pools[one.place], one.sides, strict=True):
            if value is not ABSENT:
                side[one.number] = key(value)
    return pools


def declared_sites(sample: Sample) -> dict[str, Site]:
    """Return the declared sites by wildcard path."""
    sites: dict[str, Site] = {}
    for step in walk(sample.plan.sites):
        sites.setdefault(wildcard(step.path), sample.plan.sites[step.site])
    return sites


def _is_item(fault: SampleFault) -> bool:
    """Return whether a fault is at an item of a list of single values."""
    pointer = fault.gold_pointer or fault.predicted_pointer or ""
    return fault.path.endswith("/*") and pointer.rpartition("/")[2].isdigit()


def _observed(reader: Reader, gold: Pool, predicted: Pool) -> Iterator[Observation]:
    """Yield the pairs of values that have a sign in common; each value occurs once."""
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number, key in gold.items():
        for sign in reader.signs(key):
            places[sign].append(number)
    used: set[int] = set()
    for number, key in predicted.items():
        free = (at for sign in reader.signs(key) for at in places.get(sign, ()) if at not in used)
        found = next(free, None)
        if len(gold) == len(predicted) == 1 and isinstance(reader.values[key], list):
            found = next(iter(gold))
        if found is not None and gold[found] != key:
            used.add(found)
            yield Observation(gold[found], key, tuple(dict.fromkeys((found, number))))


# The notation of a path.


class Explained(NamedTuple):
    """The values of a path that a notation explains.

    Attributes:
        notation: The notation.
        values: The values of the path.
        covered: The observations that it explains.
        evidence: Number of these that no confusion of gold values explains.
        expected: Number of agreements by chance.
        tried: Number of notations that were tried at the path.
        side: Where the fault probably lies.
    """

    notation: Notation
    values: PathValues
    covered: Sequence[Observation]
    evidence: int
    expected: float
    tried: int
    side: Side

    def p(self) -> float:
        """Return the probability of as many agreements by chance."""
        return min(1.0, self.tried * excess_p(self.evidence, [self.expected]))


@dataclass(frozen=True, eq=False, slots=True)
class PathSearch:
    """Looks for the notation of each path of a sample."""

    sample: Sample
    reader: Reader

    def best(self, values: PathValues) -> Explained | None:
        """Return the simplest notation that explains most of the wrong values of a path; None if there is none."""
        best: Explained | None = None
        candidates = self._candidates(values)
        for notation in candidates:
            settings = tuple(spec for spec in notation.specs if json.loads(spec) not in values.present)
            if (not settings and notation.distance is None) or (values.matched_by and notation.distance is not None):
                continue
            covered = [one for one in values.observations if self._equal(settings, notation, one)]
            if best is not None and len(covered) < MORE * len(best.covered) + 1:
                continue
            if len(notation.kinds) > 1 and not self._together(notation, covered):
                continue
            found = self._tested(values, notation, settings, covered, len(candidates))
            if found is not None and found.p() <= PATH_P:
                best = found
        return best

    def _candidates(self, values: PathValues) -> list[Notation]:
        """Return the most frequent notations of the wrong values of a path, the simplest first."""
        counts = Counter(chain.from_iterable(map(self.reader.reasons, values.observations)))
        if not are_one_unit([unit for key in values.gold if (unit := unit_of(self.reader.values[key])) is not None]):
            for notation in [notation for notation in counts if len([*units_of(notation)]) > 1]:
                del counts[notation]  # it removes units, so different quantities would become equal
        units = Counter({unit: count for notation, count in counts.items() for unit in units_of(notation)})
        found = [notation for notation, _ in counts.most_common(CANDIDATES)]
        if len(units) > 1:
            found += [of_units([unit for unit, _ in units.most_common(UNITS)], decimal) for decimal in DECIMALS]
        date = date_notation(self.reader, values.observations)
        return sorted([*found, date] if date else found, key=lambda one: one.complexity)

    def _equal(self, specs: tuple[str, ...], notation: Notation, pair: Observation) -> bool:
        return self._form(specs, notation, pair.gold) == self._form(specs, notation, pair.predicted)

    def _form(self, specs: tuple[str, ...], notation: Notation, key: Hashable) -> Hashable:
        return self.reader.form(specs, notation.distance, key)

    def _together(self, notation: Notation, covered: Sequence[Observation]) -> bool:
        """Return whether the differences of a notation occur together, rather than each in other values."""
        exact = sum(notation in self.reader.reasons(one) for one in covered)
        return exact >= TOGETHER * len(covered)

    def _tested(
        self,
        values: PathValues,
        notation: Notation,
        specs: tuple[str, ...],
        covered: Sequence[Observation],
        tried: int,
    ) -> Explained | None:
        """Return what a notation explains, with its chance; None if it makes different gold values equal."""
        least = TYPO * len(
            values.tested
        )  # agreements by chance; few notations pass, which saves two thirds of the time
        if not covered or tried * excess_p(len(covered), [least]) > PATH_P:
            return None
        counts: Counter[Hashable] = Counter()
        forms: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        for key, count in values.gold.items():
            form = self._form(specs, notation, key)
            counts[form] += count
            forms[form].add(key)
        merged = sum(len(keys) for keys in forms.values() if len(keys) > 1)
        clean = [one for one in covered if one.predicted not in values.gold]
        side: Side = "prediction"
        if merged > MERGED * len(values.gold) or 2 * len(clean) < len(covered):
            several = {form: keys for form, keys in forms.items() if len(keys) > 1}
            if values.closed or not self._one_form(values, notation, specs, several):
                return None
            clean, side = list(covered), "gold"
        elif self._undeclared(values, notation, covered):
            side = "schema"
        expected = math.fsum(
            min(
                1.0,
                max(TYPO, compared * value_chance(counts, self._form(specs, notation, key), self.reader.values[key])),
            )
            for key, compared in values.tested
        )
        return Explained(notation, values, covered, len(clean), expected, tried, side)

    def _one_form(
        self, values: PathValues, notation: Notation, specs: tuple[str, ...], several: Mapping[Hashable, set[Hashable]]
    ) -> bool:
        """Return whether predictions have only one form of each value of which gold has several forms."""
        forms: defaultdict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for key, count in values.predicted.items():
            form = self._form(specs, notation, key)
            if form in several:
                forms[form][key] += count
        total = sum(count.total() for count in forms.values())
        return bool(total) and sum(max(count.values()) for count in forms.values()) >= ONE_FORM * total

    def _undeclared(self, values: PathValues, notation: Notation, covered: Sequence[Observation]) -> bool:
        """Return whether the schema compares numbers or dates as plain texts."""
        if notation.kinds[0] in SPECIFIC:
            return False
        if notation.kinds[0] != "date-format":
            return all(isinstance(self.reader.values[one.gold], str) for one in covered)
        return not values.dates


# Proposals.


def notations(sample: Sample) -> Iterator[Proposal]:
    """Yield a proposal for each notation, with all paths at which it explains wrong values."""
    reader = Reader()
    search = PathSearch(sample, reader)
    groups: defaultdict[tuple[tuple[str, ...], str | None], list[Explained]] = defaultdict(list)
    for values, pooled in _paths(sample, reader):
        found = search.best(values)
        if found is None or 2 * len(found.covered) < len(values.tested):
            whole = search.best(pooled)
            if found is None or (whole is not None and len(whole.covered) > 2 * len(found.covered)):
                found = whole
        if found is not None:
            groups[found.notation.specs, found.notation.distance].append(found)
    for members in groups.values():
        yield _proposal(sample, reader, members)


def _proposal(sample: Sample, reader: Reader, members: Sequence[Explained]) -> Proposal:
    notation = members[0].notation
    pairs = [pair for member in members for pair in member.covered]
    kind = _kind(reader, notation, pairs)
    sides = Counter({member.side: 0 for member in members})
    for member in members:
        sides[member.side] += len(member.covered)
    specs: list[Json] = list(map(json.loads, notation.specs))
    overlay: dict[str, Json] = {}
    for member in members:
        settings = with_normalizers(sample.plan, member.values.path, specs) if specs else {}
        overlay[member.values.path] = settings | ({"distance": notation.distance} if notation.distance else {})
    evidence = sum(member.evidence for member in members)
    p = excess_p(evidence, [member.expected for member in members]) * max(member.tried for member in members)
    return Proposal(
        kind,
        sides.most_common(1)[0][0],
        tuple(overlay),
        tuple(dict.fromkeys(number for pair in pairs for number in pair.faults)),
        OverlayChange(overlay),
        min(1.0, p),
        advice=_advice(kind, notation, reader, *_example(sample, members[0])),
    )


def _example(sample: Sample, member: Explained) -> tuple[Json, Json]:
    """Return the first pair of values that a notation explains, as they are in gold and in the prediction."""
    gold, predicted = (sample.faults[member.covered[0].faults[at]] for at in (0, -1))
    below = [str(token) for token in parse(member.values.path)[len(parse(gold.path)) :]]  # a key of the items
    return part_at(gold.gold, below), part_at(predicted.predicted, below)


ONLY_NUMERAL: Final = re.compile(r"[-+−]?[\d.,'’\s]*")


def _kind(reader: Reader, notation: Notation, pairs: Sequence[Observation]) -> str:
    """Return the kind of the difference that most pairs have."""
    kind = notation.kinds[0]
    if kind == "amount":
        texts = [text for pair in pairs for key in pair[:2] if isinstance(text := reader.values[key], str)]
        plain = sum(bool(ONLY_NUMERAL.fullmatch(text)) for text in texts)
        return "number-format" if 2 * plain > len(texts) else kind
    if kind not in SPECIFIC:
        return kind
    reasons = [next((one for one in reader.reasons(pair) if one.kinds[0] in SPECIFIC), None) for pair in pairs]
    counts = Counter(kind for reason in reasons if reason is not None for kind in reason.kinds)
    kind = max(notation.kinds, key=lambda one: (counts[one], -SPECIFIC.index(one)))
    if kind in NARROWER:
        narrower, form = NARROWER[kind]
        same = sum(len({form(str(reader.values[key])) for key in pair[:2]}) == 1 for pair in pairs)
        return narrower if 2 * same > len(pairs) else kind
    return kind


QUOTES: Final = str.maketrans("", "", "\"'`´«»‹›‘’‚‛“”„‟′″")


def _unquoted(text: str) -> str:
    return " ".join(text.translate(QUOTES).split()).casefold()


def _expanded(text: str) -> str:
    """Return a text with lowercase letters case-folded, such as ß to ss and ς to σ, and runs of whitespace reduced."""
    small = "".join(letter.casefold().lower() if letter.islower() else letter for letter in text)
    return " ".join(small.split())


NARROWER: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "punctuation": ("quotes", _unquoted),
    "case": ("unicode", _expanded),
}
"""For a kind of difference: a narrower kind that the same normaliser also removes, and a function whose results are
equal for two texts that differ only in the narrower kind."""


LONGEST_EXAMPLE: Final = 60
"""Maximum length of an example in advice."""

TODO: Final = {
    "case": "Ignore case with {normalizers}, or ask for the capitalisation of gold",
    "accents": "Ignore accents with {normalizers}, or ask for the accents of gold",
    "unicode": "Ignore these differences in characters with {normalizers}, or ask for the characters of gold",
    "spaces": "Reduce white space to single spaces with {normalizers}, or ask for single spaces",
    "punctuation": "Ignore punctuation with {normalizers}, or ask for the punctuation of gold",
    "quotes": "Ignore quotation marks with {normalizers}, or ask for those of gold",
    "markup": "Remove markup with {normalizers}, or ask for texts without it",
    "hyphenation": "Join broken words with {normalizers}, or ask for words without line breaks",
    "name-order": "Ignore the order of words with {normalizers}, or ask for the order of gold",
    "number-format": "Read texts as numbers with {normalizers}, or ask for the notation of gold",
    "amount": "Read amounts as numbers with {normalizers}, or ask for the notation of gold",
    "units": "Read quantities as numbers with {normalizers}, or ask for the notation of gold",
    "roman-numerals": "Read Roman numerals as numbers with {normalizers}, or ask for the notation of gold",
}


def _advice(kind: str, notation: Notation, reader: Reader, gold: Json, predicted: Json) -> str:
    """Return what to do, with an example if it is short."""
    if kind == "date-format":
        asked, written = (_date_form(notation, side, reader) for side in (gold, predicted))
        return f"Ask for dates as {asked}; predictions have {written}."
    names = [next(iter(spec)) if isinstance(spec, dict) else str(spec) for spec in map(json.loads, notation.specs)]
    names += [notation.distance] if notation.distance else []
    shown = " and ".join(f"`{name}`" for name in names)
    example = f"predictions have {_quoted(predicted)} for {_quoted(gold)}"
    todo = TODO[kind].format(normalizers=shown)
    return f"{todo}: {example}." if len(example) <= LONGEST_EXAMPLE else f"{todo}."


def _quoted(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _date_form(notation: Notation, text: Json, reader: Reader) -> str:
    """Return the form of a date for readers, such as DD/MM/YYYY."""
    options = json.loads(notation.specs[0])
    formats = options["date"].get("formats", ()) if isinstance(options, dict) else ()
    known = [form for form, _ in reader.dates(text) if form in {"", *formats}]
    if not known:
        return f"words, such as {_quoted(text)}"
    if not known[0]:
        return "YYYY-MM-DD" if len(str(text).strip()) == len("1918-11-03") else _quoted(text)
    return format_name(known[0])


DETECTORS: Final[tuple[Detector, ...]] = (notations,)
"""The detectors of this module."""
