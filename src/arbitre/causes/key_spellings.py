"""Other spellings of keys: those that aliases can read, and those that gold or the schema has itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes.changes import Correction, OverlayChange
from arbitre.causes.proposal import Proposal
from arbitre.causes.sample import excess_p, value_chance
from arbitre.diagnosis.renamed import fold, letters, mostly_equal
from arbitre.paths import escape, parse, value_at, values_at, wildcard
from arbitre.schema.describe import walk
from arbitre.schema.nodes import first_of_pattern
from arbitre.suggestions.aliases import declared_aliases, relative_pointer
from arbitre.values import ABSENT, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.cause import Side
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

MIN_SHARE: Final = 0.5
"""Minimum share of the objects with an unknown key in which the field that it stands for is missing, and of values that
are equal where the spelling does not suffice."""

MAX_IN_GOLD: Final = 0.05
"""Maximum number of gold objects with the other spelling of a key, as a share of those with the key."""

MAX_INSIDE: Final = 32
"""Maximum number of values in which other spellings of keys are looked for."""

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


def respellings(sample: Sample, declared: DeclaredKeys, differences: Sequence[KeyDifference]) -> Iterator[Proposal]:
    """Yield the proposals for keys that are only spelt differently: one for all aliases, and one for each other side.

    Args:
        sample: The documents.
        declared: The declared keys.
        differences: The keys that only one side of an object has.
    """
    found: defaultdict[Respelling, list[KeyDifference]] = defaultdict(list)
    for difference in differences:
        for gold, predicted in _alike(difference.gold, difference.predicted):
            found[Respelling(difference.path, gold, predicted)].append(difference)
    accepted = {one: objects for one, objects in found.items() if _is_respelling(sample, declared, one, objects)}
    aliases = {one: objects for one, objects in accepted.items() if can_be_alias(sample, declared, one)}
    if aliases:
        yield _of_aliases(sample, declared, aliases)
    yield from _of_renamings(sample, declared, {one: accepted[one] for one in accepted if one not in aliases})


def spelt_alike(sample: Sample) -> bool:
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
    return sum(mostly_equal(*values_of(sample, one, difference)) for difference in objects) >= MIN_SHARE * len(objects)


def can_be_alias(sample: Sample, declared: DeclaredKeys, one: Respelling) -> bool:
    """Return whether an overlay can read the key: the schema does not declare it, and gold does not use it."""
    if not declared.can_alias(one):
        return False
    named, other = numbers_in_gold(sample, one)
    return other <= MAX_IN_GOLD * named


def numbers_in_gold(sample: Sample, one: Respelling) -> tuple[int, int]:
    """Return the number of gold objects with each of two keys."""
    tokens = parse(one.path)
    values = (value for pair in sample.pairs for _, value in values_at(pair.gold, tokens))
    objects = [value for value in values if isinstance(value, dict)]
    return sum(one.gold in value for value in objects), sum(one.predicted in value for value in objects)


def values_of(sample: Sample, one: Respelling, difference: KeyDifference) -> tuple[Json, Json]:
    """Return the value of a key in gold and in the prediction."""
    pair, (gold, predicted) = sample.pairs[difference.document], difference.pointers
    return value_at(pair.gold, gold)[one.gold], value_at(pair.predicted, predicted)[one.predicted]


def is_at(fault: SampleFault, path: str, value: Json) -> bool:
    """Return whether a fault is at a path or below it, or is an object with this field; `value` is that of one side."""
    above, _, key = path.rpartition("/")
    return _is_below(fault.path, path) or (
        fault.path == above and isinstance(value, dict) and parse(f"/{key}")[0] in value
    )


def _is_below(path: str, base: str) -> bool:
    """Return whether a path is another, or below it."""
    return f"{path}/".startswith(f"{base}/")


def _of_aliases(
    sample: Sample, declared: DeclaredKeys, found: Mapping[Respelling, Sequence[KeyDifference]]
) -> Proposal:
    """Return the proposal to read all other spellings of keys, with those inside the objects and lists under them."""
    every = dict.fromkeys(found)
    for one, objects in found.items():
        pairs = [values_of(sample, one, difference) for difference in objects[:MAX_INSIDE]]
        every |= dict.fromkeys(_inside(declared, one.field, *zip(*pairs, strict=True)))
    aliases: dict[str, list[Json]] = {}
    for one in every:
        known = aliases.setdefault(one.field, [*declared_aliases(sample.plan, one.field)])
        known.append(relative_pointer([one.predicted]))
    change = OverlayChange({path: {"aliases": several} for path, several in aliases.items()})
    advice = f"Add the aliases, or ask for the keys as gold spells them: {_list_of(every)}."
    return Proposal("key-spelling", "prediction", tuple(aliases), fault_numbers(found), change, 0.0, advice=advice)


def _inside(declared: DeclaredKeys, path: str, gold: Iterable[Json], predicted: Iterable[Json]) -> Iterator[Respelling]:
    """Yield the other spellings of keys inside values, which are not compared as their own key is unknown."""
    pending: list[tuple[str, list[Json], list[Json]]] = [(path, [*gold], [*predicted])]
    while pending:
        here, *sides = pending.pop()
        items = [[item for value in side if isinstance(value, list) for item in value] for side in sides]
        if all(items):
            pending.append((f"{here}/*", items[0], items[1]))
        objects = [[value for value in side if isinstance(value, dict)] for side in sides]
        names = [dict.fromkeys(key for value in side for key in value) for side in objects]
        known = {key: key for key in names[0] if key in names[1]}
        for one, other in _alike(*([key for key in side if key not in known] for side in names)):
            if declared.can_alias(Respelling(here, one, other)):
                yield Respelling(here, one, other)
                known[one] = other
        for one, other in known.items():
            inner = [value[one] for value in objects[0] if one in value]
            pending.append((f"{here}/{escape(one)}", inner, [value[other] for value in objects[1] if other in value]))


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
        in_gold, fields = numbers_in_gold(sample, one), declared.of(one.path)
        deviates = one.predicted in fields and one.gold not in fields
        both = min(in_gold) > MAX_IN_GOLD * max(in_gold)
        side: Side = "gold" if both or deviates else "schema" if declared.has_both(one) else "prediction"
        sides[side][one] = objects
    for side, group in sides.items():
        renamings: defaultdict[int, list[tuple[str, str, str]]] = defaultdict(list)
        equal, chances = 0, list[float]()
        for one, objects in group.items():
            values = [values_of(sample, one, difference) for difference in objects]
            counts = Counter(canonical(gold) for gold, _ in values)
            equal += sum(mostly_equal(*both) for both in values)
            chances += [value_chance(counts, canonical(gold), gold) for gold, _ in values]
            for document, place in _places(sample, one, objects):
                renamings[document].append((place, one.predicted, one.gold))
        yield Proposal(
            "key-spelling",
            side,
            tuple(dict.fromkeys(one.field for one in group)),
            fault_numbers(group),
            _renaming(renamings),
            excess_p(equal, chances) if any(map(declared.has_both, group)) else 0.0,
            advice=f"{_RENAME[side]}: {_list_of(group)}.",
        )


def _places(sample: Sample, one: Respelling, objects: Sequence[KeyDifference]) -> set[tuple[int, str]]:
    """Return the document and the pointer of the predicted objects in which a key is renamed.

    In a document whose gold spells the key in one way, these are all objects at the path, matched or not.
    """
    tokens = parse(one.path)
    places = {(difference.document, difference.pointers[1]) for difference in objects}
    for document in {difference.document for difference in objects}:
        pair = sample.pairs[document]
        if not any(isinstance(value, dict) and one.predicted in value for _, value in values_at(pair.gold, tokens)):
            places |= {
                (document, at)
                for at, value in values_at(pair.predicted, tokens)
                if isinstance(value, dict) and one.predicted in value and one.gold not in value
            }
    return places


def _renaming(renamings: Mapping[int, Sequence[tuple[str, str, str]]]) -> Correction:
    """Return the correction that renames keys, given by document: pointer of the object, old name and new name."""

    def correct(at: int, predicted: Json) -> Json:
        for place, old, new in sorted(renamings.get(at, ()), key=lambda one: -one[0].count("/")):
            predicted = replaced(predicted, parse(place), _renamer(old, new))
        return predicted

    return Correction(correct, frozenset(renamings))


def _renamer(old: str, new: str) -> Callable[[Json], Json]:
    return lambda value: {new if key == old else key: inner for key, inner in value.items()}


def replaced(document: Json, tokens: Path, change: Callable[[Json], Json]) -> Json:
    """Return a copy of a document with one part replaced by its change."""
    if not tokens:
        return change(document)
    head, rest = tokens[0], tokens[1:]
    if isinstance(document, list):
        at = int(str(head))
        return [*document[:at], replaced(document[at], rest, change), *document[at + 1 :]]
    return {key: replaced(inner, rest, change) if key == head else inner for key, inner in document.items()}


def fault_numbers(found: Mapping[Respelling, Sequence[KeyDifference]]) -> tuple[int, ...]:
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
    return in_words(
        [f"{quoted([gold])} (predicted: {quoted(dict.fromkeys(several))})" for gold, several in spellings.items()]
    )


def quoted(keys: Iterable[str]) -> str:
    """Return keys in quotation marks."""
    return ", ".join(f'"{key}"' for key in keys)


def in_words(several: Sequence[str]) -> str:
    """Return the first of several names, and the number of the others."""
    more = len(several) - MAX_NAMED
    return ", ".join(several[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
