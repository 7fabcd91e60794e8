"""Suggests aliases for fields that predictions store under other keys."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple, dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from arbitre.comparison.node_tree import NodeTree
from arbitre.diagnosis.renamed_fields.field_values import Field, FieldValues, field_values
from arbitre.diagnosis.renamed_fields.value_evidence import Bag, Bags, Evidence, evidence_of
from arbitre.engine import compare_batch
from arbitre.paths import order, wildcard
from arbitre.schema.describe import walk

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.paths import Path
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

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
    """A suggested alias of a field, with its evidence.

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
    """Suggested aliases. None of them is applied.

    Attributes:
        suggestions: The suggestions, by path.
        documents: Number of pairs of documents that were read.
        overlay: The suggested aliases as an overlay, together with the aliases that these fields already have.
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


def suggest_aliases(plan: Plan, pairs: Sequence[tuple[Hashable, Json, Json]]) -> AliasSuggestions:
    """Suggest aliases for fields whose values predictions store under keys that the schema does not declare.

    Values decide, not names. For each field that predictions lack and each unknown key of the same list item or
    document, the equal values within matched objects are counted and compared with the number expected by chance: the
    same count with the gold values of other objects. `value_evidence` states the minimum evidence.

    Args:
        plan: The compiled schema.
        pairs: (id, gold, predicted) triples, with the same id for several predictions of a gold document.

    Returns:
        The suggestions, and an overlay with all of them.
    """
    values = _Values.of(plan, pairs)
    declared = {step.path: step.site for step in walk(plan.sites)}
    chosen: dict[Field, list[AliasSuggestion]] = defaultdict(list)
    for unknown in values.unknown:
        candidates = [
            (evidence, _likeness(field, unknown), field, depth)
            for field in values.missing[unknown.owner]
            if unknown.keys[: len(field.keys)] != field.keys and _is_free(field, unknown, declared)
            for depth, evidence in values.evidence(field, unknown)
        ]
        if candidates:
            evidence, _, field, depth = max(candidates, key=lambda candidate: (candidate[0].deviations, candidate[1]))
            chosen[field].append(
                AliasSuggestion(
                    wildcard(field.path),
                    "/".join(map(_escape, _relative(field, unknown))),
                    wildcard(field.owners[depth]),
                    *(round(number, DIGITS) for number in astuple(evidence)),
                )
            )
    overlay: dict[str, Json] = {}
    for field in sorted(chosen, key=lambda field: order(wildcard(field.path))):
        aliases = [*_present(plan, field, declared), *(suggestion.alias for suggestion in chosen[field])]
        overlay[wildcard(field.path)] = {"aliases": list(dict.fromkeys(aliases))}
    by_path = {suggestions[0].path: suggestions for suggestions in chosen.values()}
    return AliasSuggestions(tuple(suggestion for path in overlay for suggestion in by_path[path]), len(pairs), overlay)


class _Values:
    """The gold values that predictions lack, and the predicted values under unknown keys.

    Attributes:
        groups: The gold document of each pair.
        gold: For each field and depth, the missing gold values by scope. Depth 0 is the document.
        present: The same for the predicted values of declared fields.
        other: The same for the predicted values under unknown keys.
        missing: The fields of each owner of which values are missing.
        unknown: The unknown keys.
    """

    def __init__(self, pairs: Sequence[tuple[Hashable, Json, Json]]) -> None:
        self.groups = dict(enumerate(identity for identity, _, _ in pairs))
        self.gold, self.present, self.other = _bags(), _bags(), _bags()
        self.missing: dict[Path, list[Field]] = defaultdict(list)
        self.unknown: list[Field] = []

    @classmethod
    def of(cls, plan: Plan, pairs: Sequence[tuple[Hashable, Json, Json]]) -> _Values:
        """Read the fields of all pairs, each within the objects that the comparison matches."""
        values, in_gold = cls(pairs), set[Field]()
        for start in range(0, len(pairs), BATCH):
            batch = pairs[start : start + BATCH]
            scopes = _scopes(plan, batch, start)
            same = {scope: scope for scope in scopes.values()}
            for number, (_, gold, predicted) in enumerate(batch, start):
                for of_field in field_values(plan, gold, predicted=False):
                    _add(values.gold, of_field, number, same)
                    if not of_field.declared:
                        in_gold.add(of_field.field)
                for of_field in field_values(plan, predicted, predicted=True):
                    _add(values.present if of_field.declared else values.other, of_field, number, scopes)
        values.unknown = [field for field in values.other if field not in in_gold]
        for field, by_depth in values.gold.items():
            for depth, bags in by_depth.items():
                for scope, present in values.present[field][depth].items():
                    _subtract(bags.get(scope, {}), present)
            if field not in in_gold and any(bag for bags in by_depth.values() for bag in bags.values()):
                values.missing[field.owner].append(field)
        return values

    def evidence(self, field: Field, unknown: Field) -> Iterator[tuple[int, Evidence]]:
        """Yield the depths at which there is sufficient evidence that two fields have the same values."""
        for depth, bags in self.other[unknown].items():
            evidence = evidence_of(self.gold[field][depth], bags, self.groups)
            if evidence is not None and evidence.sufficient:
                yield depth, evidence


def _bags() -> dict[Field, dict[int, Bags]]:
    return defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))


def _add(
    bags: dict[Field, dict[int, Bags]],
    of_field: FieldValues,
    number: int,
    scopes: Mapping[tuple[int, str], tuple[int, str]],
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


def _scopes(
    plan: Plan, pairs: Sequence[tuple[Hashable, Json, Json]], first: int
) -> dict[tuple[int, str], tuple[int, str]]:
    """Return the matched objects and lists of some pairs: the number of the pair and the pointers of both sides."""
    levels = compare_batch(plan, [gold for _, gold, _ in pairs], [predicted for _, _, predicted in pairs]).levels()
    tree = NodeTree.of(levels)
    sides = zip(tree.pointers(gold=True), tree.pointers(gold=False), strict=True)
    numbers = (number for level in levels for number in level.document.tolist())
    return {
        (first + number, predicted): (first + number, gold)
        for number, (gold, predicted) in zip(numbers, sides, strict=True)
        if gold is not None and predicted is not None
    }


def _relative(field: Field, unknown: Field) -> tuple[str, ...]:
    """Return the keys of an alias: from the object that has the field, or else from the owner."""
    parent = field.keys[:-1]
    return unknown.keys[len(parent) :] if unknown.keys[: len(parent)] == parent else unknown.keys


def _is_free(field: Field, unknown: Field, declared: Mapping[Path, int]) -> bool:
    """Return whether the schema accepts the alias: it names no other declared field, from either object."""
    keys = _relative(field, unknown)
    return declared.keys().isdisjoint({(*field.owner, *keys), (*field.path[:-1], *keys)} - {field.path})


def _likeness(field: Field, unknown: Field) -> float:
    """Return the similarity of two names, which decides only if two fields have the same values."""
    return SequenceMatcher(None, "/".join(field.keys), "/".join(unknown.keys), autojunk=False).ratio()


def _present(plan: Plan, field: Field, declared: Mapping[Path, int]) -> Iterator[str]:
    """Yield the aliases that the schema already has for a field; an overlay replaces them."""
    for alias in plan.sites[declared[field.owner]].object.aliases:
        if alias.target == field.keys:
            yield from ("/".join(map(_escape, _relative(field, Field(field.owner, keys)))) for keys in alias.sources)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
