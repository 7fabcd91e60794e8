"""Causes in the keys of objects: other spellings, other names, and ids as keys."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import Correction, OverlayChange
from arbitre.causes.key_spellings import (
    DeclaredKeys,
    Respelling,
    can_be_alias,
    fault_numbers,
    in_words,
    is_at,
    key_differences,
    numbers_in_gold,
    quoted,
    replaced,
    respellings,
    spelt_alike,
    values_of,
)
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p, value_chance
from arbitre.diagnosis.renamed import fold, mostly_equal
from arbitre.paths import escape, parse, wildcard
from arbitre.suggestions.aliases import aliases_of_documents, declared_aliases, relative_pointer
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from arbitre.causes.key_spellings import KeyDifference
    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.paths import Path
    from arbitre.suggestions.aliases import AliasSuggestion
    from arbitre.values import Json

MIN_DOCUMENTS: Final = 3
"""Minimum number of documents for comparing values with those of other documents."""

CERTAIN: Final = 1e-4
"""Maximum probability of equal values under another key by chance, if no further test is made."""

MAX_PAIRS: Final = 200
"""Maximum number of documents in which the values under unknown keys are compared."""

MIN_CHANCE: Final = 0.05
"""Minimum expected number of values that agree by chance; `aliases_of_documents` can round this number to 0."""

MIN_KNOWN: Final = 0.5
"""Minimum share of the keys of objects under ids that are keys of gold items."""

MIN_EQUAL: Final = 0.8
"""Minimum share of equal values of a field with few different values under another key."""

MIN_VALUES: Final = 5
"""Minimum number of such values."""


def other_keys(sample: Sample) -> Iterator[Proposal]:
    """Propose aliases for fields that are under keys with another spelling or another name."""
    declared = DeclaredKeys(sample.plan)
    unknown = [
        fault
        for fault in sample.faults
        if fault.predicted is not ABSENT and (fault.fault == "renamed" or declared.misses(fault))
    ]
    if not unknown and not spelt_alike(sample):
        return
    differences = key_differences(sample)
    proposals = list(respellings(sample, declared, differences))
    known = {path for one in proposals for path in one.paths}
    for one in _by_renamed_faults(sample, differences, known):
        if one.p <= CERTAIN:
            proposals.append(one)
            known.update(one.paths)
    explained = {number for one in proposals for number in one.faults}
    unknown = [fault for fault in unknown if fault.number not in explained]
    if unknown and len(sample) >= MIN_DOCUMENTS:
        proposals += _renamed(sample, unknown, known)
        proposals += _exclusive(sample, declared, differences, known.union(*(one.paths for one in proposals)))
    yield from proposals


# Other names.


class Renaming(NamedTuple):
    """A field whose values predictions have under other keys.

    Attributes:
        field: Wildcard path of the field.
        aliases: The other keys, as in `aliases`.
        equal: Number of equal values.
        chance: Number of values that are equal by chance.
    """

    field: str
    aliases: tuple[str, ...]
    equal: float
    chance: float

    @property
    def p(self) -> float:
        """Probability of as many equal values by chance."""
        return excess_p(int(self.equal), [max(self.chance, MIN_CHANCE)])


def _renamed(sample: Sample, unknown: Sequence[SampleFault], known: Container[str]) -> Iterator[Proposal]:
    """Yield proposals for fields whose values are under other names, given the faults at unknown keys.

    Fields in `known` are left out: an overlay replaces the aliases of a field, so that their next aliases are proposed
    after those are accepted.
    """
    every = sorted({fault.document for fault in unknown})
    number = {document: at for at, document in enumerate(every[:: -(-len(every) // MAX_PAIRS)])}
    matched = {
        (number[document], predicted): (number[document], gold)
        for (document, predicted), (_, gold) in sample.matched.items()
        if document in number
    }
    pairs = [(sample.pairs[at].id, sample.pairs[at].gold, sample.pairs[at].predicted) for at in number]
    missing = {fault.path for fault in sample.faults if fault.predicted is ABSENT}
    tries = max(1, len({fault.path for fault in unknown}) * len(missing))
    suggestions = aliases_of_documents(sample.plan, pairs, matched).suggestions
    levels: defaultdict[tuple[str, str], list[Renaming]] = defaultdict(list)
    renamings = _grouped(suggestions)
    renamings += _on_another_level(sample, unknown, {one.field for one in renamings})
    for one in renamings:
        if one.field in known:
            continue
        object_path, _, key = one.field.rpartition("/")
        tokens = sample.schema_path(one.field)
        places = {place for alias in one.aliases for place in _places_of(tokens, alias)} - {one.field}
        found = [place for place in places if any(is_at(fault, place, fault.predicted) for fault in unknown)]
        outer = found[0].rpartition("/")[0] if len(found) == 1 else object_path
        if outer != object_path and found[0].endswith(f"/{key}"):
            levels[object_path, outer].append(one)
        else:
            numbers = _faults_at(sample, unknown, one.field, found)
            yield _of_names(sample, one.field, one.aliases, numbers, tries * one.p)
    for (object_path, outer), fields in levels.items():
        yield _of_level(sample, unknown, (object_path, outer), fields, tries)


def _on_another_level(sample: Sample, unknown: Sequence[SampleFault], known: Container[str]) -> Iterator[Renaming]:
    """Yield the fields whose values are under the same key in another object of the same item.

    As the key is the same, fields with few different values are found as well. Fields in `known` are left out.
    """
    lacking: defaultdict[tuple[Path, str], defaultdict[str, dict[tuple[int, str], SampleFault]]]
    lacking = defaultdict(lambda: defaultdict(dict))
    for fault in sample.faults:
        if fault.gold_pointer and fault.predicted is ABSENT and fault.path not in known and "**" not in fault.path:
            owner, key, at = _place_in_owner(sample, fault.path, fault.gold_pointer)
            lacking[owner, key][fault.path][fault.document, at] = fault
    there: defaultdict[tuple[str, str], list[tuple[SampleFault, SampleFault | None]]] = defaultdict(list)
    for fault in unknown:
        if fault.predicted_pointer and fault.gold is ABSENT and "**" not in fault.path:
            owner, key, at = _place_in_owner(sample, fault.path, fault.predicted_pointer)
            gold = sample.matched.get((fault.document, at))
            for path, places in lacking.get((owner, key), {}).items():
                there[path, fault.path].append((fault, None if gold is None else places.get(gold)))
    for (path, place), several in there.items():
        equal = sum(one is not None and mostly_equal(one.gold, fault.predicted) for fault, one in several)
        if path != place and equal >= max(MIN_VALUES, MIN_EQUAL * len(several)):
            field, other = sample.schema_path(path), sample.schema_path(place)
            start = len(field) - 1 if other[: len(field) - 1] == field[:-1] else _owner_depth(field)
            yield Renaming(path, (relative_pointer(map(str, other[start:])),), equal, 0.0)


def _place_in_owner(sample: Sample, path: str, at: str) -> tuple[Path, str, str]:
    """Return the wildcard path of the item around a value, the key of the value, and the pointer of the item."""
    tokens = sample.schema_path(path)
    depth = _owner_depth(tokens)
    return tokens[:depth], path.rpartition("/")[2], "/".join(at.split("/")[: depth + 1])


def _owner_depth(tokens: Path) -> int:
    """Return the number of tokens of the list item or the map value around a field."""
    return max((depth for depth, token in enumerate(tokens, 1) if not isinstance(token, str)), default=0)


def _faults_at(sample: Sample, unknown: Sequence[SampleFault], path: str, places: Sequence[str]) -> list[int]:
    """Return the numbers of the faults at a field and at the places where its values are."""
    found = [fault for fault in unknown if any(is_at(fault, place, fault.predicted) for place in places)]
    around = {(fault.document, fault.entry) for fault in found}
    lacking = [
        fault
        for fault in sample.faults
        if is_at(fault, path, fault.gold)
        and (fault.fault == "renamed" or (fault.predicted is ABSENT and (fault.document, fault.entry) in around))
    ]
    return list(dict.fromkeys(fault.number for fault in (*lacking, *found)))


def _of_level(
    sample: Sample, unknown: Sequence[SampleFault], places: tuple[str, str], fields: Sequence[Renaming], tries: int
) -> Proposal:
    """Return the proposal for fields of an object that are in another object, under the same keys.

    The values of some fields decide. The other fields of the object that are there as well have moved with them.

    Args:
        sample: The documents.
        unknown: The faults at unknown keys.
        places: Wildcard path of the object, and of the object that has its fields in predictions.
        fields: The fields whose values decide.
        tries: Number of explanations that were tried.
    """
    inner, outer = places
    above = fields[0].aliases[0].rpartition("/")[0]
    there = {fault.path for fault in unknown}
    keys = [one.field.rpartition("/")[2] for one in fields]
    declared = map(escape, sorted(DeclaredKeys(sample.plan).of(inner)))
    keys += [key for key in declared if f"{outer}/{key}" in there and key not in keys]
    overlay: dict[str, Json] = {}
    numbers: dict[int, None] = {}
    for key in keys:
        path, alias = f"{inner}/{key}", f"{above}/{key}" if above else key
        overlay[path] = {"aliases": [*declared_aliases(sample.plan, path), alias]}
        numbers |= dict.fromkeys(_faults_at(sample, unknown, path, [f"{outer}/{key}"]))
    kind = "promoted" if outer.count("/") < inner.count("/") else "demoted"
    names = in_words([quoted([key]) for key in keys])
    them = "it" if len(keys) == 1 else "them"
    advice = f"Ask for {names} in {_object(inner)}; predictions have {them} in {_object(outer)}."
    p = tries * min(one.p for one in fields)
    return Proposal(kind, "prediction", tuple(overlay), tuple(numbers), OverlayChange(overlay), p, advice=advice)


def _object(path: str) -> str:
    """Return the name of the objects at a wildcard path."""
    return f'"{path}"' if path else "the document"


def _by_renamed_faults(
    sample: Sample, differences: Sequence[KeyDifference], known: Container[str]
) -> Iterator[Proposal]:
    """Yield proposals for fields that are renamed in single objects; all objects with both keys are tested.

    Fields in `known` are left out.
    """
    together = _together(differences)
    for one, objects in together.items():
        links = ({*one_object.gold[one.gold]} & {*one_object.predicted[one.predicted]} for one_object in objects)
        if one.field in known or not any(links):
            continue
        values = [values_of(sample, one, difference) for difference in objects]
        scalars = [gold for gold, _ in values if not isinstance(gold, (list, dict))]
        counts = Counter(map(canonical, scalars if len(sample) >= MIN_DOCUMENTS else ()))
        chances = [value_chance(counts, canonical(gold), gold) for gold, _ in values]
        p = len(together) * excess_p(sum(mostly_equal(*both) for both in values), chances)
        yield _of_names(sample, one.field, [relative_pointer([one.predicted])], fault_numbers({one: objects}), p)


def _together(differences: Sequence[KeyDifference]) -> dict[Respelling, list[KeyDifference]]:
    """Return the objects in which a key is missing and another is spurious, for each pair of such keys."""
    together: defaultdict[Respelling, list[KeyDifference]] = defaultdict(list)
    for difference in differences:
        for gold, predicted in product(difference.gold, difference.predicted):
            together[Respelling(difference.path, gold, predicted)].append(difference)
    return together


def _of_names(sample: Sample, path: str, aliases: Sequence[str], numbers: Sequence[int], p: float) -> Proposal:
    """Return the proposal to read a field under other keys."""
    tokens = parse(path)
    spelling = all(fold(alias) == fold(str(tokens[-1])) for alias in aliases)
    change = OverlayChange({path: {"aliases": [*declared_aliases(sample.plan, path), *aliases]}})
    advice = f'Add the alias, or ask for the key "{tokens[-1]}": predictions have {quoted(aliases)}.'
    kind = "key-spelling" if spelling else "renamed-key"
    return Proposal(kind, "prediction", (path,), tuple(numbers), change, p, advice=advice)


def _exclusive(
    sample: Sample, declared: DeclaredKeys, differences: Sequence[KeyDifference], known: Container[str]
) -> Iterator[Proposal]:
    """Yield proposals for fields with few different values that are missing just where an unknown key is present.

    Their values may agree by chance. Fisher's exact test decides whether the absence of the field and the presence of
    the key are independent. If all objects have the key and none the field, the length of the values decides.

    Args:
        sample: The documents.
        declared: The declared keys.
        differences: The keys that only one side of an object has.
        known: The fields for which there are proposals.
    """
    together = _together(differences)
    for one, objects in together.items():
        if one.field in known or not can_be_alias(sample, declared, one):
            continue
        values = [values_of(sample, one, difference) for difference in objects]
        equal = sum(mostly_equal(*both) and not isinstance(both[0], (list, dict)) for both in values)
        if equal < max(MIN_VALUES, MIN_EQUAL * len(objects)):
            continue
        there = {number for difference in objects for number in difference.predicted[one.predicted]}
        missing = sum(_lacks(fault) for fault in sample.faults_by_path.get(one.field, ()))
        others = sample.faults_by_path.get(f"{one.path}/{escape(one.predicted)}", ())
        unknown = len(objects) + sum(fault.number not in there for fault in others)
        total = max(numbers_in_gold(sample, one)[0], missing, unknown)
        from scipy.stats import hypergeom  # noqa: PLC0415  (loads slowly)

        p = float(hypergeom.sf(len(objects) - 1, total, missing, unknown))
        if missing == unknown == total:
            p = prod({canonical(gold): value_chance(Counter(), None, gold) for gold, _ in values}.values())
        numbers = fault_numbers({one: objects})
        yield _of_names(sample, one.field, [relative_pointer([one.predicted])], numbers, len(together) * p)


def _grouped(suggestions: Sequence[AliasSuggestion]) -> list[Renaming]:
    """Return one renaming for each field, or for an object of which several fields are in another object."""
    objects: defaultdict[tuple[str, str], list[AliasSuggestion]] = defaultdict(list)
    for one in suggestions:
        outer, _, key = one.path.rpartition("/")
        other, _, alias = one.alias.rpartition("/")
        if other and alias == key and outer and not outer.endswith("/*"):
            objects[outer, other].append(one)
    whole = {one: place for place, several in objects.items() if len(several) > 1 for one in several}
    groups: defaultdict[str, list[tuple[str, AliasSuggestion]]] = defaultdict(list)
    for one in suggestions:
        path, alias = whole.get(one, (one.path, one.alias))
        groups[path].append((alias, one))
    return [
        Renaming(
            path,
            tuple(dict.fromkeys(alias for alias, _ in several)),
            sum(one.equal for _, one in several),
            sum(one.chance for _, one in several),
        )
        for path, several in groups.items()
    ]


def _lacks(fault: SampleFault) -> bool:
    """Return whether a field is missing in its place."""
    return fault.predicted is ABSENT or fault.fault == "renamed"


def _places_of(tokens: Path, alias: str) -> Iterator[str]:
    """Yield the wildcard paths that an alias can have: from the object of the field, or from its owner."""
    for depth in {len(tokens) - 1, _owner_depth(tokens)}:
        yield wildcard((*tokens[:depth], *parse(f"/{alias}")))


# Ids as keys.


def ids_as_keys(sample: Sample) -> Iterator[Proposal]:
    """Propose to turn objects with ids as keys into lists, and the reverse."""
    for path, faults in sample.faults_by_path.items():
        lists = [one for one in faults if isinstance(one.gold, list) and isinstance(one.predicted, dict)]
        maps = [one for one in faults if isinstance(one.gold, dict) and isinstance(one.predicted, list)]
        if lists:
            yield from _keyed_objects(path, lists)
        if maps:
            yield from _listed_objects(path, maps)


def _keyed_objects(path: str, faults: Sequence[SampleFault]) -> Iterator[Proposal]:
    """Yield the proposal to turn objects with ids as keys into lists of objects."""
    items = [item for fault in faults for item in fault.gold if isinstance(item, dict)]
    fields = Counter(key for item in items for key in item)
    found = [
        fault
        for fault in faults
        if fault.predicted
        and all(isinstance(inner, dict) and inner for inner in fault.predicted.values())
        and not fields.keys() & fault.predicted.keys()
        and sum(key in fields for inner in fault.predicted.values() for key in inner)
        >= MIN_KNOWN * sum(map(len, fault.predicted.values()))
    ]
    if not found:
        return
    values: defaultdict[str, dict[str, Json]] = defaultdict(dict)
    for item in items:
        for key, inner in item.items():
            if isinstance(inner, (str, int, float)) and not isinstance(inner, bool):
                values[key][str(inner)] = inner
    keys = [key for fault in found for key in fault.predicted]
    inside = Counter(key for fault in found for inner in fault.predicted.values() for key in inner)
    equal = {name: sum(key in known for key in keys) for name, known in values.items() if inside[name] < len(keys)}
    name = max(equal, key=lambda one: (equal[one], -inside[one]), default=None)
    if name is not None and equal[name] == 0:
        name = None
    numeric = name is not None and all(not isinstance(value, str) for value in values[name].values())

    def listed(value: Json) -> Json:
        return [
            inner if name is None else {name: _id(key, values[name], numeric=numeric)} | inner
            for key, inner in value.items()
        ]

    place = _object(path)
    what = "ids" if name is None else f'the values of "{name}"'
    advice = f"Ask for {place} as a list of objects, not as an object with {what} as keys."
    yield from _converted(path, found, listed, 0.0, advice)


def _id(key: str, known: Mapping[str, Json], *, numeric: bool) -> Json:
    """Return a key as it would be in a list."""
    return known[key] if key in known else int(key) if numeric and key.isdecimal() else key


def _listed_objects(path: str, faults: Sequence[SampleFault]) -> Iterator[Proposal]:
    """Yield the proposal to turn lists of objects with ids into objects with these ids as keys."""
    fields: Counter[str] = Counter()
    for fault in faults:
        for item in fault.predicted:
            if isinstance(item, dict):
                fields.update(key for key, inner in item.items() if str(inner) in fault.gold)
    if not fields:
        return
    name, equal = fields.most_common(1)[0]
    found = [fault for fault in faults if _has_ids(fault.predicted, name)]
    ids = [str(item[name]) for fault in found for item in fault.predicted]
    inner = [value for fault in found for value in fault.gold.values()]
    kept = any(isinstance(value, dict) and name in value for value in inner)
    objects = any(isinstance(value, dict) for value in inner)

    def keyed(value: Json) -> Json:
        result = {}
        for item in value:
            rest = item if kept else {key: inner for key, inner in item.items() if key != name}
            result[str(item[name])] = next(iter(rest.values())) if len(rest) == 1 and not objects else rest
        return result

    place = _object(path)
    advice = f'Ask for {place} as an object with the values of "{name}" as keys, not as a list.'
    chances = [value_chance(Counter(), one, one) for one in ids]
    yield from _converted(path, found, keyed, len(fields) * excess_p(equal, chances), advice)


def _has_ids(items: Sequence[Json], name: str) -> bool:
    """Return whether all items are objects with different ids."""
    if not items or not all(isinstance(item, dict) and isinstance(item.get(name), (str, int)) for item in items):
        return False
    return len({str(item[name]) for item in items}) == len(items)


def _converted(
    path: str, faults: Sequence[SampleFault], change: Callable[[Json], Json], p: float, advice: str
) -> Iterator[Proposal]:
    """Yield the proposal to convert the predicted values of faults, if there are any."""
    places: defaultdict[int, list[str]] = defaultdict(list)
    for fault in faults:
        places[fault.document].append(fault.predicted_pointer or "")

    def correct(at: int, predicted: Json) -> Json:
        for place in places.get(at, ()):
            predicted = replaced(predicted, parse(place), change)
        return predicted

    numbers = tuple(fault.number for fault in faults)
    if numbers:
        correction = Correction(correct, frozenset(places))
        yield Proposal("ids-as-keys", "prediction", (path,), numbers, correction, p, advice=advice)


DETECTORS: Final[tuple[Detector, ...]] = (other_keys, ids_as_keys)
"""The detectors of this module."""
