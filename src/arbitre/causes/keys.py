"""Causes in the keys of objects: other spellings, other names, and ids as keys."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import Correction, OverlayChange
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p, value_chance
from arbitre.diagnosis.renamed import fold, letters, same_value
from arbitre.gold.aliases import declared_aliases, suggest_aliases
from arbitre.paths import STAR, escape, parse, value_at, wildcard
from arbitre.schema.describe import walk
from arbitre.schema.nodes import first_of_pattern
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from arbitre.causes.proposal import Detector
    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.cause import Side
    from arbitre.gold.aliases import AliasSuggestion
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MIN_DOCUMENTS: Final = 3
"""Minimum number of documents for comparing values with those of other documents."""

MIN_SHARE: Final = 0.5
"""Minimum share of the objects with an unknown key in which the field that it stands for is missing, and of values that
are equal where the spelling does not suffice."""

MAX_IN_GOLD: Final = 0.05
"""Maximum number of gold objects with the other spelling of a key, as a share of those with the key."""

MAX_PAIRS: Final = 200
"""Maximum number of documents in which the values under unknown keys are compared."""

MIN_CHANCE: Final = 0.05
"""Minimum number of values that agree by chance, because the numbers of `suggest_aliases` are rounded."""

MIN_EQUAL: Final = 0.8
"""Minimum share of equal values of a field with few different values under another key."""

MIN_VALUES: Final = 5
"""Minimum number of such values."""

MAX_NAMED: Final = 3
"""Number of keys that an advice names."""


# Keys that only one side of a matched object has.


@dataclass(eq=False, slots=True)
class KeyDifference:
    """The keys of a matched object that only one side has.

    Attributes:
        document: Position of the document in the sample.
        path: Wildcard path of the object.
        pointers: JSON Pointers of the object in gold and in the prediction.
        gold: The keys that only gold has, with the numbers of their faults.
        predicted: The keys that only the prediction has, with the numbers of their faults.
    """

    document: int
    path: str
    pointers: tuple[str, str]
    gold: dict[str, list[int]] = field(default_factory=dict)
    predicted: dict[str, list[int]] = field(default_factory=dict)


def key_differences(sample: Sample) -> list[KeyDifference]:
    """Return the matched objects with a missing and a spurious key. Those at very deep paths are left out."""
    partners = {gold: predicted for predicted, gold in sample.matched.items()}, sample.matched
    objects: dict[tuple[int, bool, str], Json] = {}
    found: dict[tuple[int, str], KeyDifference] = {}
    for fault in sample.faults:
        path = fault.path.split("/")
        for end, is_predicted in ((fault.gold_pointer, False), (fault.predicted_pointer, True)):
            owner, key = _owner(partners[is_predicted], fault.document, end)
            if key is None:
                continue
            _, other = partners[is_predicted][fault.document, owner]
            place = fault.document, not is_predicted, other
            if place not in objects:
                pair = sample.pairs[fault.document]
                objects[place] = value_at(pair.gold if is_predicted else pair.predicted, other)
            if not isinstance(objects[place], dict) or key in objects[place]:
                continue
            pointers = (other, owner) if is_predicted else (owner, other)
            known = found.get((fault.document, pointers[1]))
            if known is None and not (is_predicted and fault.gold_pointer) and "**" not in path:
                known = KeyDifference(fault.document, "/".join(path[: owner.count("/") + 1]), pointers)
                found[fault.document, pointers[1]] = known
            if known is not None:
                (known.predicted if is_predicted else known.gold).setdefault(key, []).append(fault.number)
    complete = [difference for difference in found.values() if difference.gold and difference.predicted]
    return complete + list(_of_unmatched(sample))


def _of_unmatched(sample: Sample) -> Iterator[KeyDifference]:
    """Yield the keys of the missing and of the spurious objects of each document and path.

    A list that is matched by a key has no pairs if predictions spell the key differently.
    """
    for path, faults in sample.faults_by_path.items():
        alone = [fault for fault in faults if (fault.gold is ABSENT) != (fault.predicted is ABSENT)]
        sides: defaultdict[int, tuple[list[SampleFault], list[SampleFault]]] = defaultdict(lambda: ([], []))
        for fault in alone:
            value, side = (fault.gold, 0) if fault.predicted is ABSENT else (fault.predicted, 1)
            if isinstance(value, dict):
                sides[fault.document][side].append(fault)
        for document, (missing, spurious) in sides.items():
            if missing and spurious:
                pointers = missing[0].gold_pointer or "", spurious[0].predicted_pointer or ""
                keys = [
                    {key: [fault.number for fault in one] for key in side}
                    for one, side in ((missing, missing[0].gold), (spurious, spurious[0].predicted))
                ]
                only = [{key: keys[at][key] for key in keys[at] if key not in keys[1 - at]} for at in range(2)]
                if all(only):
                    yield KeyDifference(document, path, pointers, *only)


def _owner(
    partners: Mapping[tuple[int, str], tuple[int, str]], document: int, end: str | None
) -> tuple[str, str | None]:
    """Return the pointer of the innermost matched object or list around a value, and the token in it."""
    owner = end or ""
    while owner:
        owner, _, token = owner.rpartition("/")
        if (document, owner) in partners:
            return owner, str(parse(f"/{token}")[0])
    return "", None


class DeclaredKeys:
    """The keys that the schema declares in the objects of each wildcard path."""

    def __init__(self, plan: Plan) -> None:
        self._sites = {wildcard(step.path): step.site for step in walk(plan.sites)}
        self._plan = plan

    def of(self, path: str) -> frozenset[str]:
        """Return the fields of the objects at a path."""
        site = self._sites.get(path)
        return frozenset() if site is None else frozenset(one.name for one in self._plan.sites[site].object.fields)

    def has_both(self, one: Respelling) -> bool:
        """Return whether the schema declares both spellings."""
        return {one.gold, one.predicted} <= self.of(one.path)

    def can_alias(self, one: Respelling) -> bool:
        """Return whether the key in gold is a field, and the schema says nothing about the predicted key."""
        site = self._sites.get(one.path)
        if site is None or one.gold not in self.of(one.path) or one.predicted in self.of(one.path):
            return False
        node = self._plan.sites[site].object
        return not (
            node.declared_map
            or one.predicted in node.ignored
            or first_of_pattern(node.patterns, one.predicted) is not None
        )

    def misses(self, fault: SampleFault) -> bool:
        """Return whether a predicted value may be below an undeclared key, or is an object with such a key."""
        parts = fault.path.split("/")
        if any("/".join(parts[:depth]) not in self._sites for depth in range(2, len(parts) + 1)):
            return True
        return isinstance(fault.predicted, dict) and not fault.predicted.keys() <= self.of(fault.path)


# Other spellings.


class Respelling(NamedTuple):
    """A key that predictions spell differently.

    Attributes:
        path: Wildcard path of the objects.
        gold: The key in gold.
        predicted: The key in predictions.
    """

    path: str
    gold: str
    predicted: str

    @property
    def field(self) -> str:
        """Wildcard path of the field."""
        return f"{self.path}/{escape(self.gold)}"


def other_keys(sample: Sample) -> Iterator[Proposal]:
    """Propose aliases for fields that are under keys with another spelling or another name."""
    declared = DeclaredKeys(sample.plan)
    unknown = [
        fault
        for fault in sample.faults
        if fault.predicted is not ABSENT and (fault.fault == "renamed" or declared.misses(fault))
    ]
    if not unknown and not _spelt_alike(sample):
        return
    found: defaultdict[Respelling, list[KeyDifference]] = defaultdict(list)
    differences = key_differences(sample)
    for difference in differences:
        for gold, predicted in _alike(difference.gold, difference.predicted):
            found[Respelling(difference.path, gold, predicted)].append(difference)
    accepted = {one: objects for one, objects in found.items() if _is_respelling(sample, declared, one, objects)}
    aliases = {one: objects for one, objects in accepted.items() if _can_be_alias(sample, declared, one)}
    if aliases:
        yield _of_aliases(sample, aliases)
    yield from _of_renamings(sample, declared, {one: accepted[one] for one in accepted if one not in aliases})
    if unknown and len(sample) < MIN_DOCUMENTS:
        yield from _in_few_documents(sample, {one.field for one in accepted})
    elif unknown:
        named = list(_renamed(sample, unknown, {(one.field, _relative(one.predicted)) for one in aliases}))
        yield from named
        known = {one.field for one in accepted}.union(*(one.paths for one in named))
        yield from _exclusive(sample, declared, differences, known)


def _spelt_alike(sample: Sample) -> bool:
    """Return whether the paths of faults have two spellings of one key."""
    spellings: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in sample.faults_by_path:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            spellings["/".join(parts[:depth]), fold(parts[depth])].add(parts[depth])
    return any(len(several) > 1 for (_, folded), several in spellings.items() if folded)


def _alike(gold: Iterable[str], predicted: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of different spellings of a key; each key occurs once."""
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for key in predicted:
        spellings[fold(key)].append(key)
    for key in gold:
        if fold(key) and spellings[fold(key)]:
            yield key, spellings[fold(key)].pop(0)


def _is_respelling(sample: Sample, declared: DeclaredKeys, one: Respelling, objects: Sequence[KeyDifference]) -> bool:
    """Return whether a key is another spelling of a field, and not a key of its own.

    If the schema declares both keys, or if they are singular and plural, most values must also be equal.
    """
    numbers = {number for difference in objects for number in difference.predicted[one.predicted]}
    alone = sum(
        fault.gold is ABSENT and fault.number not in numbers
        for path, faults in sample.faults_by_path.items()
        if _is_below(path, f"{one.path}/{escape(one.predicted)}")
        for fault in faults
    )
    if len(numbers) < MIN_SHARE * (len(numbers) + alone):
        return False
    if letters(one.gold) == letters(one.predicted) and not declared.has_both(one):
        return True
    return sum(same_value(*_values(sample, one, difference)) for difference in objects) >= MIN_SHARE * len(objects)


def _can_be_alias(sample: Sample, declared: DeclaredKeys, one: Respelling) -> bool:
    """Return whether an overlay can read the key: the schema does not declare it, and gold does not use it."""
    if not declared.can_alias(one):
        return False
    named, other = _in_gold(sample, one)
    return other <= MAX_IN_GOLD * named


def _in_gold(sample: Sample, one: Respelling) -> tuple[int, int]:
    """Return the number of gold objects with each of two keys."""
    tokens = parse(one.path)
    objects = [value for pair in sample.pairs for value in _values_at(pair.gold, tokens) if isinstance(value, dict)]
    return sum(one.gold in value for value in objects), sum(one.predicted in value for value in objects)


def _values_at(value: Json, tokens: Path) -> Iterator[Json]:
    """Yield the values at a wildcard path."""
    for depth, token in enumerate(tokens):
        if token is STAR:
            for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
                yield from _values_at(inner, tokens[depth + 1 :])
            return
        if not isinstance(value, dict) or token not in value:
            return
        value = value[token]
    yield value


def _values(sample: Sample, one: Respelling, difference: KeyDifference) -> tuple[Json, Json]:
    """Return the value of a key in gold and in the prediction."""
    pair, (gold, predicted) = sample.pairs[difference.document], difference.pointers
    return value_at(pair.gold, gold)[one.gold], value_at(pair.predicted, predicted)[one.predicted]


def _is_at(fault: SampleFault, path: str, value: Json) -> bool:
    """Return whether a fault is at a path or below it, or is an object with this field; `value` is that of one side."""
    above, _, key = path.rpartition("/")
    return _is_below(fault.path, path) or (
        fault.path == above and isinstance(value, dict) and parse(f"/{key}")[0] in value
    )


def _is_below(path: str, base: str) -> bool:
    """Return whether a path is another, or below it."""
    return f"{path}/".startswith(f"{base}/")


def _of_aliases(sample: Sample, found: Mapping[Respelling, Sequence[KeyDifference]]) -> Proposal:
    """Return the proposal to read all other spellings of keys."""
    aliases: dict[str, list[Json]] = {}
    for one in found:
        known = aliases.setdefault(one.field, [*declared_aliases(sample.plan, parse(one.field))])
        known.append(_relative(one.predicted))
    change = OverlayChange({path: {"aliases": several} for path, several in aliases.items()})
    advice = f"Add the aliases, or ask for the keys as gold spells them: {_list_of(found)}."
    return Proposal("key-spelling", "prediction", tuple(aliases), _numbers(found), change, 0.0, advice=advice)


_RENAME: Final[Mapping[Side, str]] = {
    "gold": "Use one spelling of each key in gold",
    "schema": "Declare one spelling of each key in the schema",
    "prediction": "Ask for the keys as gold spells them",
}
"""What to do about spellings that no alias can read, by side."""


def _of_renamings(
    sample: Sample, declared: DeclaredKeys, found: Mapping[Respelling, Sequence[KeyDifference]]
) -> Iterator[Proposal]:
    """Yield proposals for spellings that no alias can read: gold or the schema has both of them."""
    sides: defaultdict[Side, dict[Respelling, Sequence[KeyDifference]]] = defaultdict(dict)
    for one, objects in found.items():
        in_gold, fields = _in_gold(sample, one), declared.of(one.path)
        deviates = one.predicted in fields and one.gold not in fields
        both = min(in_gold) > MAX_IN_GOLD * max(in_gold)
        side: Side = "gold" if both or deviates else "schema" if declared.has_both(one) else "prediction"
        sides[side][one] = objects
    for side, group in sides.items():
        renamings: defaultdict[int, list[tuple[str, str, str]]] = defaultdict(list)
        equal, chances = 0, list[float]()
        for one, objects in group.items():
            values = [_values(sample, one, difference) for difference in objects]
            counts = Counter(canonical(gold) for gold, _ in values)
            equal += sum(same_value(*both) for both in values)
            chances += [value_chance(counts, canonical(gold), gold) for gold, _ in values]
            for difference in objects:
                renamings[difference.document].append((difference.pointers[1], one.predicted, one.gold))
        yield Proposal(
            "key-spelling",
            side,
            tuple(dict.fromkeys(one.field for one in group)),
            _numbers(group),
            _renaming(renamings),
            excess_p(equal, chances) if any(map(declared.has_both, group)) else 0.0,
            advice=f"{_RENAME[side]}: {_list_of(group)}.",
        )


def _renaming(renamings: Mapping[int, Sequence[tuple[str, str, str]]]) -> Correction:
    """Return the correction that renames keys, given by document: pointer of the object, old name and new name."""

    def correct(at: int, predicted: Json) -> Json:
        for place, old, new in sorted(renamings.get(at, ()), key=lambda one: -one[0].count("/")):
            predicted = _replaced(predicted, parse(place), _renamer(old, new))
        return predicted

    return Correction(correct, frozenset(renamings))


def _renamer(old: str, new: str) -> Callable[[Json], Json]:
    return lambda value: {new if key == old else key: inner for key, inner in value.items()}


def _replaced(document: Json, tokens: Path, change: Callable[[Json], Json]) -> Json:
    """Return a copy of a document with one part replaced by its change."""
    if not tokens:
        return change(document)
    head, rest = tokens[0], tokens[1:]
    if isinstance(document, list):
        at = int(str(head))
        return [*document[:at], _replaced(document[at], rest, change), *document[at + 1 :]]
    return {key: _replaced(inner, rest, change) if key == head else inner for key, inner in document.items()}


def _numbers(found: Mapping[Respelling, Sequence[KeyDifference]]) -> tuple[int, ...]:
    """Return the numbers of the faults at the keys."""
    return tuple(
        dict.fromkeys(
            number
            for one, objects in found.items()
            for difference in objects
            for number in (*difference.gold[one.gold], *difference.predicted[one.predicted])
        )
    )


def _list_of(found: Iterable[Respelling]) -> str:
    """Return the keys with their other spellings in words."""
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for one in found:
        spellings[one.gold].append(one.predicted)
    return _in_words(
        [f"{_quoted([gold])} (predicted: {_quoted(dict.fromkeys(several))})" for gold, several in spellings.items()]
    )


def _quoted(keys: Iterable[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _in_words(several: Sequence[str]) -> str:
    more = len(several) - MAX_NAMED
    return ", ".join(several[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _relative(key: str) -> str:
    """Return a key as a relative JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


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


def _renamed(sample: Sample, unknown: Sequence[SampleFault], known: set[tuple[str, str]]) -> Iterator[Proposal]:
    """Yield proposals for fields whose values are under other names.

    Args:
        sample: The documents.
        unknown: The faults below undeclared keys.
        known: Field and alias of the keys that are only spelt differently.
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
    suggestions = suggest_aliases(sample.plan, pairs, matched).suggestions
    for one in _grouped([one for one in suggestions if (one.path, one.alias) not in known]):
        tokens = parse(one.field)
        places = [place for alias in one.aliases for place in _places_of(tokens, alias)]
        found = [fault for fault in unknown if any(_is_at(fault, place, fault.predicted) for place in places)]
        around = {(fault.document, fault.entry) for fault in found}
        lacking = [
            fault
            for fault in sample.faults
            if _is_at(fault, one.field, fault.gold)
            and (fault.fault == "renamed" or (fault.predicted is ABSENT and (fault.document, fault.entry) in around))
        ]
        numbers = list(dict.fromkeys(fault.number for fault in (*lacking, *found)))
        p = tries * excess_p(int(one.equal), [max(one.chance, MIN_CHANCE)])
        yield _of_names(sample, one.field, one.aliases, numbers, p)


def _in_few_documents(sample: Sample, known: Container[str]) -> Iterator[Proposal]:
    """Yield proposals for the fields that are renamed in one or two documents, except those that are known."""
    groups: defaultdict[tuple[str, str], list[SampleFault]] = defaultdict(list)
    for fault in sample.faults:
        if fault.fault == "renamed" and fault.path not in known:
            groups[fault.path, (fault.predicted_pointer or "").rpartition("/")[2]].append(fault)
    for (path, alias), faults in groups.items():
        p = prod(value_chance(Counter(), None, fault.gold) for fault in faults)
        yield _of_names(sample, path, [alias], [fault.number for fault in faults], p)


def _of_names(sample: Sample, path: str, aliases: Sequence[str], numbers: Sequence[int], p: float) -> Proposal:
    """Return the proposal to read a field under other keys."""
    tokens = parse(path)
    spelling = all(fold(alias) == fold(str(tokens[-1])) for alias in aliases)
    change = OverlayChange({path: {"aliases": [*declared_aliases(sample.plan, tokens), *aliases]}})
    advice = f'Add the alias, or ask for the key "{tokens[-1]}": predictions have {_quoted(aliases)}.'
    kind = "key-spelling" if spelling else "renamed-key"
    return Proposal(kind, "prediction", (path,), tuple(numbers), change, p, advice=advice)


def _exclusive(
    sample: Sample, declared: DeclaredKeys, differences: Sequence[KeyDifference], known: Container[str]
) -> Iterator[Proposal]:
    """Yield proposals for fields with few different values that are missing just where an unknown key is present.

    Their values may agree by chance. Fisher's exact test decides whether the absence of the field and the presence of
    the key are independent.

    Args:
        sample: The documents.
        declared: The declared keys.
        differences: The keys that only one side of an object has.
        known: The fields for which there are proposals.
    """
    together: defaultdict[Respelling, list[KeyDifference]] = defaultdict(list)
    for difference in differences:
        for gold, predicted in product(difference.gold, difference.predicted):
            together[Respelling(difference.path, gold, predicted)].append(difference)
    for one, objects in together.items():
        if one.field in known or not _can_be_alias(sample, declared, one):
            continue
        values = [_values(sample, one, difference) for difference in objects]
        equal = sum(same_value(*both) and not isinstance(both[0], (list, dict)) for both in values)
        if equal < max(MIN_VALUES, MIN_EQUAL * len(objects)):
            continue
        numbers = {number for difference in objects for number in difference.predicted[one.predicted]}
        missing = sum(_lacks(fault) for fault in sample.faults_by_path.get(one.field, ()))
        others = sample.faults_by_path.get(f"{one.path}/{escape(one.predicted)}", ())
        unknown = len(objects) + sum(fault.number not in numbers for fault in others)
        total = max(_in_gold(sample, one)[0], missing, unknown)
        from scipy.stats import hypergeom  # noqa: PLC0415  (loads slowly)

        p = len(together) * float(hypergeom.sf(len(objects) - 1, total, missing, unknown))
        yield _of_names(sample, one.field, [_relative(one.predicted)], _numbers({one: objects}), p)


def _grouped(suggestions: Sequence[AliasSuggestion]) -> list[Renaming]:
    """Return one renaming for each field, or for an object of which several fields are in another object."""
    objects: defaultdict[tuple[str, str], list[AliasSuggestion]] = defaultdict(list)
    for one in suggestions:
        outer, _, key = one.path.rpartition("/")
        other, _, alias = one.alias.rpartition("/")
        if other and alias == key and not outer.endswith("/*"):
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
    start = max((depth for depth, token in enumerate(tokens, 1) if not isinstance(token, str)), default=0)
    for depth in {len(tokens) - 1, start}:
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
        >= MIN_SHARE * sum(map(len, fault.predicted.values()))
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

    place = f'"{path}"' if path else "the document"
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

    place = f'"{path}"' if path else "the document"
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
            predicted = _replaced(predicted, parse(place), change)
        return predicted

    numbers = tuple(fault.number for fault in faults)
    if numbers:
        correction = Correction(correct, frozenset(places))
        yield Proposal("ids-as-keys", "prediction", (path,), numbers, correction, p, advice=advice)


DETECTORS: Final[tuple[Detector, ...]] = (other_keys, ids_as_keys)
"""The detectors of this module."""
