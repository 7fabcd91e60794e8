"""Finds predicted fields under unknown keys by their values, and proposes aliases for them.

`field_values` reads the fields of documents, `evidence_of` measures whether two fields have the same values, and
`aliases_of_documents` chooses the aliases.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import astuple, dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Final

from arbitre.comparison.node_tree import NodeTree
from arbitre.engine import compare_batch
from arbitre.engine.columns.fields import apply_aliases
from arbitre.errors import DataError
from arbitre.paths import STAR, escape, order, wildcard
from arbitre.schema.describe import schema_path, steps_to, walk
from arbitre.values import ABSENT, canonical, single_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.records import Pair
    from arbitre.paths import Path, Token
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


# Reads the values of a document by field.


_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class FieldLocation:
    """A location of values: the keys that lead to it from its owner.

    The owner is the innermost list item or map value around it, or the root.

    Attributes:
        owner: Wildcard path of the owner.
        keys: The keys from the owner to the value; the last value is a scalar or a list.
    """

    owner: Path
    keys: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Wildcard path of the field."""
        return (*self.owner, *self.keys)

    @property
    def owners(self) -> list[Path]:
        """Wildcard paths of the owner and of the owners around it, from the root inwards."""
        ends = [depth for depth, token in enumerate(self.owner, 1) if not isinstance(token, str)]
        return [self.owner[:depth] for depth in (0, *ends)]


@dataclass(frozen=True, slots=True)
class FieldValues:
    """The values of a field in one owner.

    Attributes:
        field: The field.
        declared: Whether the schema declares it.
        owners: Pointers of the owner and of the owners around it, from the root ("") inwards.
        parts: The scalars of the value, with their number. A text of n words counts as 1/n for each of its words, so
            that similar texts are partly equal. Case, punctuation, null and empty texts are left out.
        objects: Whether the value is an object or a list with objects.
    """

    field: FieldLocation
    declared: bool
    owners: tuple[str, ...]
    parts: Mapping[Hashable, float]
    objects: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """A value to be read; `site` is None below an undeclared key."""

    value: Json
    site: int | None
    owner: Path
    keys: tuple[str, ...]
    owners: tuple[str, ...]
    pointer: str

    def field(self, key: str, value: Json, site: int | None) -> _Place:
        return _Place(value, site, self.owner, (*self.keys, key), self.owners, f"{self.pointer}/{escape(key)}")

    def owned(self, token: str | int, value: Json, site: int, step: Token = STAR) -> _Place:
        """Return the place of a list item or a map value, which is an owner; `step` is its token in wildcard paths."""
        pointer = f"{self.pointer}/{escape(token)}"
        return _Place(value, site, (*self.owner, *self.keys, step), (), (*self.owners, pointer), pointer)


def field_values(plan: Plan, document: Json, *, predicted: bool) -> Iterator[FieldValues]:
    """Yield the values of every field of a document, for each owner.

    Args:
        plan: The compiled schema.
        document: The document.
        predicted: Whether it is a prediction, in which the aliases of the schema are read.
    """
    pending = [_Place(document, 0, (), (), ("",), "")]
    while pending:
        place = pending.pop()
        value, site = place.value, None if place.site is None else plan.sites[place.site]
        if site is None and isinstance(value, dict):
            pending += [place.field(key, inner, None) for key, inner in value.items()]
        elif site is not None and isinstance(value, dict) and not site.atomic:
            node = site.object
            for key, inner in (apply_aliases(value, node.aliases) if predicted else value).items():
                if key in node.field_sites:
                    pending.append(place.field(key, inner, node.field_sites[key]))
                elif (child := node.declared(key)) is not None:
                    pending.append(place.owned(key, inner, child))
                elif key not in node.ignored:
                    pending.append(place.field(key, inner, None))
        else:
            if place.keys and (parts := _parts(value)):
                field = FieldLocation(place.owner, place.keys)
                yield FieldValues(field, site is not None, place.owners, parts, _has_objects(value))
            if site is not None and isinstance(value, list) and not site.atomic:
                fixed = len(site.list.prefix)
                pending += [
                    place.owned(at, item, site.list.child(at), at if at < fixed else STAR)
                    for at, item in enumerate(value)
                ]


def _has_objects(value: Json) -> bool:
    return any(isinstance(item, dict) for item in (value if isinstance(value, list) else (value,)))


def _parts(value: Json) -> dict[Hashable, float]:
    """Return the scalars of a value, nested ones included, with their number; a text is divided into its words."""
    parts: dict[Hashable, float] = {}
    for inner in single_values(value):
        if inner is not None:
            keys = _words(inner) if isinstance(inner, str) else [canonical(inner)]
            for key in keys:
                parts[key] = parts.get(key, 0.0) + 1.0 / len(keys)
    return parts


def _words(text: str) -> list[str]:
    folded = text.casefold()
    return _WORD.findall(folded) or folded.split()


# Measures whether the predicted values of one field are the gold values of another.


MIN_VALUES: Final = 3
"""Minimum number of equal values beyond chance."""

MIN_DEVIATIONS: Final = 3.0
"""Minimum number of equal values beyond chance, in standard deviations of their number by chance (Poisson)."""

MIN_AGREEMENT: Final = 0.5
"""Minimum share of the values that are equal, after correction for chance."""

Scope = tuple[int, str]
"""Number of a pair of documents, and the pointer of the owner in gold."""

Bag = dict["Hashable", float]
"""Values with their number; the words of a text are fractions of a value."""

Bags = dict[Scope, Bag]
"""The values of a field in each scope."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How many predicted values are equal to a missing gold value of their own scope.

    Attributes:
        equal: Number of equal values.
        chance: Expected number if each prediction were compared with the gold values of the other scopes.
        missing: Number of missing gold values.
        unknown: Number of predicted values.
    """

    equal: float
    chance: float
    missing: float
    unknown: float

    @property
    def beyond_chance(self) -> float:
        """Number of equal values beyond chance."""
        return self.equal - self.chance

    @property
    def deviations(self) -> float:
        """Number of equal values beyond chance, in standard deviations of at least one value each."""
        return self.beyond_chance / math.sqrt(max(1.0, self.chance))

    @property
    def agreement(self) -> float:
        """Share of the values that are equal, corrected for chance: 1 if all are, 0 for chance."""
        most = (self.missing + self.unknown) / 2.0
        return self.beyond_chance / (most - self.chance) if most > self.chance else 0.0

    @property
    def sufficient(self) -> bool:
        """Whether all three minimum conditions hold."""
        return (
            self.beyond_chance >= MIN_VALUES and self.deviations >= MIN_DEVIATIONS and self.agreement >= MIN_AGREEMENT
        )


def evidence_of(missing: Bags, unknown: Bags, groups: Mapping[int, Hashable]) -> Evidence | None:
    """Compare the missing gold values and the unknown predicted values of each scope.

    Args:
        missing: The missing gold values of the field.
        unknown: The predicted values under an unknown key.
        groups: The gold document of each pair of documents; scopes of one gold value are not compared by chance.

    Returns:
        The evidence; None if there is no other scope to compare with.
    """
    everywhere: dict[Hashable, Counter[float]] = defaultdict(Counter)
    in_group: dict[Hashable, dict[Hashable, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    sizes: Counter[Hashable] = Counter()
    for (pair, pointer), bag in missing.items():
        group = groups[pair], pointer
        sizes[group] += 1
        for value, count in bag.items():
            everywhere[value][count] += 1
            in_group[group][value][count] += 1
    equal, chance = 0.0, 0.0
    for scope, bag in unknown.items():
        group = groups[scope[0]], scope[1]
        others = len(missing) - sizes[group]
        if not others:
            return None
        own = missing.get(scope, {})
        equal += math.fsum(min(own[value], count) for value, count in bag.items() if value in own)
        chance += (_overlap(everywhere, bag) - _overlap(in_group.get(group, {}), bag)) / others
    return Evidence(equal, chance, _size(missing), _size(unknown))


def _overlap(scopes: Mapping[Hashable, Counter[float]], bag: Bag) -> float:
    """Return the number of equal values of a scope and of each of the others, which are grouped by value."""
    return math.fsum(
        min(other, count) * number for value, count in bag.items() for other, number in scopes.get(value, {}).items()
    )


def _size(bags: Bags) -> float:
    return math.fsum(count for bag in bags.values() for count in bag.values())


# Suggests aliases for fields that predictions store under other keys.


MAX_PAIRS: Final = 200
"""Maximum number of pairs of documents to read."""

BATCH: Final = 32
"""Number of pairs of documents compared at once."""

DIGITS: Final = 1
"""Number of decimals of the numbers of values."""

ROUNDING: Final = 1e-9
"""Number of values up to which a remainder counts as a rounding error."""


@dataclass(frozen=True, slots=True)
class AliasSuggestion:
    """A suggested alias for a field, with the evidence for it.

    Attributes:
        path: Wildcard path of the field.
        alias: The alias, as in `aliases`.
        scope: Wildcard path of the objects within which values were compared; "" for the whole document.
        equal: Number of predicted values under the alias that are equal to a missing value of the field in the same
            object.
        chance: Expected number of equal values if each object were compared with the gold values of the others.
        missing: Number of gold values of the field that predictions do not have in its place.
        unknown: Number of predicted values under the alias.
    """

    path: str
    alias: str
    scope: str
    equal: float
    chance: float
    missing: float
    unknown: float

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class AliasSuggestions:
    """Suggested aliases, with the overlay that would apply them.

    Attributes:
        suggestions: The suggestions, by path.
        documents: Number of pairs of documents that were read.
        overlay: The suggested aliases, with those that these fields already have, added to the settings of the overlay
            that was given.
    """

    suggestions: tuple[AliasSuggestion, ...]
    documents: int
    overlay: dict[str, Json]

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {
            "documents": self.documents,
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
            "overlay": self.overlay,
        }


def aliases_of_documents(
    plan: Plan, pairs: Sequence[tuple[Hashable, Json, Json]], matched: Mapping[Scope, Scope] | None = None
) -> AliasSuggestions:
    """Suggest aliases for fields whose values predictions store under keys that the schema does not declare.

    Values decide, not names. For each field that predictions lack and each unknown key of the same list item or
    document, the equal values within matched objects are counted and compared with the number expected by chance: the
    same count with the gold values of other objects. `Evidence.sufficient` states the minimum evidence.

    Args:
        plan: The compiled schema.
        pairs: (id, gold, predicted) triples, with the same id for several predictions of a gold document.
        matched: The matched objects and lists: the number of the pair and the pointer in the prediction, and the same
            with the pointer in gold. By default, the documents are compared.

    Returns:
        The suggestions, and an overlay with all of them.
    """
    values = _Values.of(plan, pairs, matched)
    declared = {step.path: step.site for step in walk(plan.sites)}
    chosen: dict[FieldLocation, list[AliasSuggestion]] = defaultdict(list)
    for unknown in values.unknown:
        candidates = [
            (evidence, _likeness(field, unknown), field, depth)
            for field in values.missing[unknown.owner]
            if unknown.keys[: len(field.keys)] != field.keys
            and _is_free(field, unknown, declared)
            and (unknown in values.objects or field not in values.objects)
            for depth, evidence in values.evidence(field, unknown)
        ]
        if candidates:
            evidence, _, field, depth = max(candidates, key=lambda candidate: (candidate[0].deviations, candidate[1]))
            chosen[field].append(
                AliasSuggestion(
                    wildcard(field.path),
                    relative_pointer(_relative(field, unknown)),
                    wildcard(field.owners[depth]),
                    *(round(number, DIGITS) for number in astuple(evidence)),
                )
            )
    aliases: dict[str, Json] = {}
    for field in sorted(chosen, key=lambda field: order(wildcard(field.path))):
        several = [*_present(plan, field), *(suggestion.alias for suggestion in chosen[field])]
        aliases[wildcard(field.path)] = {"aliases": list(dict.fromkeys(several))}
    by_path = {suggestions[0].path: suggestions for suggestions in chosen.values()}
    found = tuple(suggestion for path in aliases for suggestion in by_path[path])
    return AliasSuggestions(found, len(pairs), plan.overlay_with(aliases))


class _Values:
    """The gold values that predictions lack, and the predicted values under unknown keys.

    Attributes:
        groups: The gold document of each pair.
        gold: For each field and depth, the missing gold values by scope. Depth 0 is the document.
        present: The same for the predicted values of declared fields.
        other: The same for the predicted values under unknown keys.
        missing: The fields of each owner of which values are missing.
        unknown: The unknown keys.
        objects: The fields and unknown keys with objects as values; single values cannot stand for objects.
    """

    def __init__(self, pairs: Sequence[tuple[Hashable, Json, Json]]) -> None:
        self.groups = dict(enumerate(identity for identity, _, _ in pairs))
        self.gold, self.present, self.other = _bags(), _bags(), _bags()
        self.missing: dict[Path, list[FieldLocation]] = defaultdict(list)
        self.unknown: list[FieldLocation] = []
        self.objects: set[FieldLocation] = set()

    @classmethod
    def of(
        cls, plan: Plan, pairs: Sequence[tuple[Hashable, Json, Json]], matched: Mapping[Scope, Scope] | None = None
    ) -> _Values:
        """Read the fields of all pairs, each within the objects that the comparison matches."""
        values, in_gold = cls(pairs), set[FieldLocation]()
        scopes = _matched(plan, pairs) if matched is None else matched
        same = {scope: scope for scope in scopes.values()}
        for number, (_, gold, predicted) in enumerate(pairs):
            for of_field in field_values(plan, gold, predicted=False):
                _add(values.gold, of_field, number, same)
                values.objects.update([of_field.field] if of_field.objects else ())
                if not of_field.declared:
                    in_gold.add(of_field.field)
            for of_field in field_values(plan, predicted, predicted=True):
                _add(values.present if of_field.declared else values.other, of_field, number, scopes)
                values.objects.update([of_field.field] if of_field.objects and not of_field.declared else ())
        values.unknown = [field for field in values.other if field not in in_gold]
        for field, by_depth in values.gold.items():
            for depth, bags in by_depth.items():
                for scope, present in values.present[field][depth].items():
                    _subtract(bags.get(scope, {}), present)
            if field not in in_gold and any(bag for bags in by_depth.values() for bag in bags.values()):
                values.missing[field.owner].append(field)
        return values

    def evidence(self, field: FieldLocation, unknown: FieldLocation) -> Iterator[tuple[int, Evidence]]:
        """Yield the depths at which there is sufficient evidence that two fields have the same values."""
        for depth, bags in self.other[unknown].items():
            evidence = evidence_of(self.gold[field][depth], bags, self.groups)
            if evidence is not None and evidence.sufficient:
                yield depth, evidence


def _bags() -> dict[FieldLocation, dict[int, Bags]]:
    return defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))


def _add(
    bags: dict[FieldLocation, dict[int, Bags]],
    of_field: FieldValues,
    number: int,
    scopes: Mapping[Scope, Scope],
) -> None:
    """Add values to each matched scope that they are in."""
    for depth, owner in enumerate(of_field.owners):
        if (scope := scopes.get((number, owner))) is not None:
            bag = bags[of_field.field][depth][scope]
            for value, count in of_field.parts.items():
                bag[value] = bag.get(value, 0.0) + count


def _subtract(bag: Bag, present: Bag) -> None:
    """Remove values from a bag, as often as they are present."""
    for value, count in present.items():
        if value in bag and (left := bag.pop(value) - count) > ROUNDING:
            bag[value] = left


def _matched(plan: Plan, pairs: Sequence[tuple[Hashable, Json, Json]]) -> dict[Scope, Scope]:
    """Compare the documents, and return the matched objects and lists; see `aliases_of_documents`."""
    matched: dict[Scope, Scope] = {}
    for first in range(0, len(pairs), BATCH):
        batch = pairs[first : first + BATCH]
        levels = compare_batch(plan, [gold for _, gold, _ in batch], [predicted for _, _, predicted in batch]).levels()
        tree = NodeTree.of(levels)
        sides = zip(tree.pointers(gold=True), tree.pointers(gold=False), strict=True)
        numbers = (number for level in levels for number in level.document.tolist())
        for number, (gold, predicted) in zip(numbers, sides, strict=True):
            if gold is not None and predicted is not None:
                matched[first + number, predicted] = first + number, gold
    return matched


def _relative(field: FieldLocation, unknown: FieldLocation) -> tuple[str, ...]:
    """Return the keys of an alias: from the object that has the field, or else from the owner."""
    parent = field.keys[:-1]
    return unknown.keys[len(parent) :] if unknown.keys[: len(parent)] == parent else unknown.keys


def _is_free(field: FieldLocation, unknown: FieldLocation, declared: Mapping[Path, int]) -> bool:
    """Return whether the schema accepts the alias: it names no other declared field, from either object."""
    keys = _relative(field, unknown)
    return declared.keys().isdisjoint({(*field.owner, *keys), (*field.path[:-1], *keys)} - {field.path})


def _likeness(field: FieldLocation, unknown: FieldLocation) -> float:
    """Return the similarity of two names, which decides only if two fields have the same values."""
    return SequenceMatcher(None, "/".join(field.keys), "/".join(unknown.keys), autojunk=False).ratio()


def declared_aliases(plan: Plan, text: str) -> list[str]:
    """Return the aliases that the schema has for the field at a wildcard path."""
    path = schema_path(plan.sites, text)
    start = max((depth for depth, token in enumerate(path, 1) if not isinstance(token, str)), default=0)
    return list(_present(plan, FieldLocation(path[:start], tuple(map(str, path[start:])))))


def _present(plan: Plan, field: FieldLocation) -> Iterator[str]:
    """Yield the aliases that the schema already has for a field; an overlay replaces them."""
    *_, owner = steps_to(plan.sites, field.owner)
    for alias in plan.sites[owner.site].object.aliases if owner.path == field.owner else ():
        if alias.target == field.keys:
            yield from (relative_pointer(_relative(field, FieldLocation(field.owner, keys))) for keys in alias.sources)


def relative_pointer(keys: Iterable[str]) -> str:
    """Return keys as a relative JSON Pointer, as in `aliases`."""
    return "/".join(key.replace("~", "~0").replace("/", "~1") for key in keys)


# Suggests aliases from the documents of a corpus.


def suggest_corpus_aliases(plan: Plan, pairs: JoinedCorpus | Sequence[Pair]) -> AliasSuggestions:
    """Suggest aliases from pairs of documents; see `arbitre.Comparator.suggest_aliases`.

    If there are more than `MAX_PAIRS` pairs, only every n-th pair is read. Pairs that cannot be compared are left out.
    """
    step = -(-len(pairs) // MAX_PAIRS) or 1
    read = [(pair.id, pair.gold, pair.predicted) for pair in islice(pairs, 0, None, step) if _comparable(plan, pair)]
    return aliases_of_documents(plan, read)


def _comparable(plan: Plan, pair: Pair) -> bool:
    if ABSENT in (pair.gold, pair.predicted):
        return False
    try:
        plan.check_pair(pair.gold, pair.predicted)
    except DataError:
        return False
    return True
