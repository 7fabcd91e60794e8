"""Build schemas from parts, each with example documents and the expected certificate.

A part is `METRIC`, `PSEUDO` (different values may be at distance 0) or `NEITHER`, by what the textbooks say of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import strategies as st

from arbitre import Comparator
from arbitre.comparison.levels import root_qualities
from arbitre.engine import compare_to_levels
from arbitre.errors import SchemaError
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

PEOPLE = Comparator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "x-arbitre": {"distance": "exact"}},
                "age": {"type": "integer"},
            },
        },
    }
)


def crossed(pool, left, right):
    """The distance of each value of the pool in `left` from each in `right`; shape (len(left), len(right))."""
    return pool.distances(np.repeat(left, len(right)), np.tile(right, len(left))).reshape(len(left), len(right))


METRIC, PSEUDO, NEITHER = range(3)
VERDICTS = ("metric", "pseudo-metric", "not a metric")

TEXTS = ["", "a", "b", "ab", "ba", "aba", "bab", "abc", "CA", "AC", "ABC", "a b", "b a", "aaba", "baaa"]
NUMBERS = [-2, 0, 0.25, 0.5, 1, 2, 3, 10]
DAYS = ["2020-01-01", "2020-01-02", "2020-03-01", "2021-01-01"]
GRADES = ["low", "middle", "high"]
SETS = [[], ["a"], ["b"], ["a", "b"], ["b", "a"], ["a", "a"]]
KEPT = ("id", "kind")  # these fields are in every object that declares them
COSTS = [[0, 0.5, 0.9], [0.5, 0, 0.4], [0.9, 0.4, 0]]
SKEWED = [[0, 0.1, 0.9], [0.1, 0, 0.1], [0.9, 0.1, 0]]
PARENTS = {"low": "middle", "high": "middle"}


def leaf(kind, values, **distance):
    """A leaf: of this type, with these values, measured by the distance of this name."""
    return {"type": kind} | ({"x-arbitre": distance} if distance else {}), values


LEAVES = [
    (METRIC, *leaf("string", TEXTS)),
    (METRIC, *leaf("number", NUMBERS)),
    (METRIC, *leaf("integer", [0, 1, 2, 3])),
    (METRIC, *leaf("boolean", [False, True])),
    (METRIC, *leaf("string", TEXTS, distance="lcs", normalize=["lower"])),
    (METRIC, *leaf("string", TEXTS, distance="indel-yujian-bo", normalize=["strip"])),
    (METRIC, *leaf("string", TEXTS, distance="exact")),
    (METRIC, *leaf("number", NUMBERS, distance={"absolute": {"scale": 2}})),
    (METRIC, *leaf("number", NUMBERS, distance={"log": {"scale": 1}})),
    (METRIC, *leaf("string", DAYS, distance={"date": {"scale": 60}})),
    (METRIC, *leaf("string", GRADES, distance={"ordinal": {"order": GRADES}})),
    (METRIC, *leaf("string", GRADES, distance={"table": {"values": GRADES, "costs": COSTS}})),
    (METRIC, *leaf("string", GRADES, distance={"taxonomy": {"parents": PARENTS}})),
    (PSEUDO, *leaf("string", TEXTS, distance="token-sort")),
    (PSEUDO, *leaf("string", TEXTS, distance="jaccard-ngrams")),
    (PSEUDO, *leaf("number", NUMBERS, distance={"rounded": {"grid": 2}})),
    (PSEUDO, *leaf("integer", [0, 1, 6, 11, 12], distance={"cycle": {"period": 12}})),
    (PSEUDO, *leaf("string", ["PT1H", "PT60M", "P1D", "soon"], distance="duration")),
    (PSEUDO, *leaf("string", ["12:00", "12:00Z", "18:30", "noon"], distance="time")),
    (PSEUDO, *leaf("array", SETS, distance="jaccard")),
    (NEITHER, *leaf("string", TEXTS, distance="levenshtein")),
    (NEITHER, *leaf("string", TEXTS, distance="indel")),
    (NEITHER, *leaf("string", TEXTS, distance="osa")),
    (NEITHER, *leaf("string", TEXTS, distance="damerau-levenshtein")),
    (NEITHER, *leaf("string", TEXTS, distance="jaro")),
    (NEITHER, *leaf("string", TEXTS, distance="jaro-winkler")),
    (NEITHER, *leaf("string", TEXTS, distance="ratcliff-obershelp")),
    (NEITHER, *leaf("string", TEXTS, distance="token-set")),
    (NEITHER, *leaf("string", TEXTS, distance="rouge-1")),
    (NEITHER, *leaf("number", NUMBERS, distance={"tolerance": {"within": 1}})),
    (NEITHER, *leaf("array", SETS, distance="dice")),
    (NEITHER, *leaf("string", GRADES, distance={"table": {"values": GRADES, "costs": SKEWED}})),
]
MATCHES = [
    (METRIC, None),
    (METRIC, "hungarian"),
    (METRIC, {"hungarian": {"gate": 0}}),
    (METRIC, "ordered"),
    (METRIC, "set"),
    (METRIC, {"keyed": {"key": "id"}}),
    (PSEUDO, {"transport": {}}),
    (PSEUDO, {"transport": {"masses": "size"}}),
    (NEITHER, {"hungarian": {"gate": 0.5}}),
    (NEITHER, "greedy"),
    (NEITHER, "sequence"),
    (NEITHER, {"transport": {"solver": "sinkhorn", "epsilon": 0.2}}),
    (NEITHER, {"transport": {"solver": "partial", "mass": 0.5}}),
    (NEITHER, {"transport": {"solver": "unbalanced"}}),
    (NEITHER, {"transport": {"solver": "dummy"}}),
]
POLICIES = [(), (None,), (None, ""), (None, [], {}), ("", []), (None, "", [], {})]
NAMES = {"integer": "number"}
NORMALIZERS = {"lower": str.lower, "strip": str.strip}


@dataclass(frozen=True)
class Part:
    """A subschema and what is below it: `fields` by name, `values` of a map, `items` after a `head`, `branches`."""

    schema: Mapping[str, Any] = field(default_factory=dict)
    verdict: int = METRIC
    documents: st.SearchStrategy = field(default_factory=st.nothing, repr=False)
    fields: Mapping[str, Part] = field(default_factory=dict, repr=False)
    values: Part | None = field(default=None, repr=False)
    head: Part | None = field(default=None, repr=False)
    items: Part | None = field(default=None, repr=False)
    branches: tuple[Part, ...] = field(default=(), repr=False)

    @property
    def kind(self) -> str | None:
        return self.schema.get("type")

    @property
    def options(self) -> Mapping[str, Any]:
        return self.schema.get("x-arbitre", {})

    def below(self, name: str) -> Part:
        """What compares the value under a key."""
        return self.fields.get(name) or self.values or ANYTHING

    def saying(self, **options: Any) -> Part:
        """This part, annotated so."""
        return replace(self, schema={**self.schema, "x-arbitre": {**self.options, **options}})

    def branch(self, value: Any) -> Part:
        """The branch of a union that a value takes: by its `kind`, where it has one, else by its type."""
        types = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}
        tag = value.get("kind") if isinstance(value, dict) else None
        for one in self.branches:
            if (
                one.fields["kind"].schema["const"] == tag
                if tag
                else types[type(value)] in (one.kind, NAMES.get(one.kind))
            ):
                return one
        return self


ANYTHING = Part()


def canonical(part: Part, value: Any, absent: Sequence[Any] = (None,)) -> Hashable | None:
    """Equal for values that the comparison may not tell apart; None for what counts as absent."""
    absent = part.options.get("absent", absent)
    if part.branches and value is not None:
        part = part.branch(value)
    if isinstance(value, dict):
        inside = ((name, canonical(part.below(name), inner, absent)) for name, inner in value.items())
        found = frozenset((name, one) for name, one in inside if one is not None)
        return None if not found and {} in absent else ("object", found)
    if isinstance(value, list):
        head = canonical(part.head, value[0], absent) if part.head and value else None
        rest = [canonical(part.items or ANYTHING, item, absent) for item in value[1 if part.head else 0 :]]
        items = [one for one in rest if one is not None]
        order = {"set": frozenset, "ordered": tuple}.get(str(part.options.get("match")), _counted)
        return None if not items and head is None and [] in absent else ("array", head, order(items))
    if isinstance(value, str):
        for name in part.options.get("normalize", ()):
            value = NORMALIZERS[name](value)
    if value in ("", None):
        return None if value in absent else (value,)
    return type(value).__name__ if isinstance(value, bool) else "scalar", value


def _counted(items: Sequence[Hashable]) -> Hashable:
    return frozenset(Counter(items).items())


@st.composite
def parts(draw, *, worst=METRIC, depth=3, root=True):
    """A part, at most `depth` containers deep, none of it worse than `worst`."""
    kinds = ["leaf"] * (not root) + (["object", "array"] * 3 + ["map", "union", "branches"] if depth else [])
    part = draw({
        "leaf": leaves,
        "object": objects,
        "array": arrays,
        "map": maps,
        "union": unions,
        "branches": branched,
    }[draw(st.sampled_from(kinds))](worst, depth - 1))  # fmt: skip
    if draw(st.integers(1, 6)) == 1:
        part = part.saying(absent=list(draw(st.sampled_from(POLICIES))))
    if part.kind and draw(st.integers(1, 6)) == 1:
        part = replace(part, schema={**part.schema, "type": [part.kind, "null"]}, documents=part.documents | st.none())
    return part


@st.composite
def leaves(draw, worst, _depth=0):
    verdict, schema, values = draw(st.sampled_from([one for one in LEAVES if one[0] <= worst]))
    return Part(schema, verdict, st.sampled_from(values))


@st.composite
def objects(draw, worst, depth, names="abc"):
    fields = {name: draw(parts(worst=worst, depth=depth, root=False)) for name in names[: draw(st.integers(1, 3))]}
    weights = {name: draw(st.sampled_from([0.5, 3])) for name in fields if draw(st.integers(1, 3)) == 1}
    return _object(fields | {name: fields[name].saying(weight=weight) for name, weight in weights.items()})


def _unequal(schema):
    """Whether a list in here may be at a distance from itself."""
    text = str(schema)
    return "greedy" in text or any(solver in text for solver in ("sinkhorn", "partial", "unbalanced", "dummy"))


def _object(fields):
    schema = {"type": "object", "properties": {name: part.schema for name, part in fields.items()}}
    whole = {name: part.documents for name, part in fields.items()}
    some = {name: whole[name] for name in fields if name not in KEPT}
    fixed = {name: whole[name] for name in KEPT if name in fields}
    documents = st.fixed_dictionaries(whole) | st.fixed_dictionaries(fixed, optional=some)
    return Part(schema, max(part.verdict for part in fields.values()), documents, fields)


@st.composite
def arrays(draw, worst, depth):
    verdict, match = draw(st.sampled_from([one for one in MATCHES if one[0] <= worst]))
    if match == "set":  # equal items only are compared: whatever they are, as long as equal ones are at 0
        items = draw(parts(worst=NEITHER, depth=depth, root=False).filter(lambda part: not _unequal(part.schema)))
        items = replace(items, verdict=METRIC)
    else:
        items = draw(parts(worst=worst, depth=depth, root=False))
    if "keyed" in str(match):  # the items are objects that all have the key
        key = Part({"type": "integer"}, METRIC, st.integers(0, 2))
        items = _object({**draw(objects(worst, depth)).fields, "id": key})
    schema = {"type": "array", "items": items.schema} | ({"x-arbitre": {"match": match}} if match else {})
    documents = st.lists(items.documents, min_size=2, max_size=3) | st.lists(items.documents, max_size=3)
    if "transport" in str(match) or draw(st.integers(1, 4)) > 1:
        return Part(schema, max(verdict, items.verdict), documents, items=items)
    head = draw(parts(worst=worst, depth=0, root=False))
    whole = st.just([]) | st.builds(lambda first, rest: [first, *rest], head.documents, documents)
    worse = max(verdict, items.verdict, head.verdict)
    return Part({**schema, "prefixItems": [head.schema]}, worse, whole, head=head, items=items)


@st.composite
def maps(draw, worst, depth):
    values = draw(parts(worst=worst, depth=depth, root=False))
    documents = st.dictionaries(st.sampled_from("pqr"), values.documents, min_size=1, max_size=3) | st.just({})
    return Part({"type": "object", "additionalProperties": values.schema}, values.verdict, documents, values=values)


@st.composite
def unions(draw, worst, depth):
    """Of a leaf, an object and an array."""
    one = draw(leaves(worst).filter(lambda part: part.kind != "array"))
    return _union((one, draw(objects(worst, depth)), draw(arrays(worst, depth))))


@st.composite
def branched(draw, worst, depth):
    """Of two objects that a constant tells apart; they share a field, which means another thing in each."""
    branches = []
    for tag, names in (("p", "abc"), ("q", "def")):
        told = {
            "kind": Part({"const": tag}, METRIC, st.just(tag)),
            "shared": draw(leaves(worst).filter(lambda part: part.kind != "array")),
        }
        branches.append(_object(draw(objects(worst, depth, names)).fields | told))
    return _union(tuple(branches))


def _union(branches):
    schema = {"anyOf": [branch.schema for branch in branches]}
    documents = st.one_of(*(branch.documents for branch in branches))
    return Part(schema, max(branch.verdict for branch in branches), documents, branches=branches)


@st.composite
def edited(draw, part, value):
    """The value after a few edits; what tells its branch or is its key stays."""
    if draw(st.integers(1, 8)) == 1:
        return draw(part.documents)
    if part.branches and value is not None:
        part = part.branch(value)
    if isinstance(value, dict):
        found = {}
        for name, inner in value.items():
            if name in KEPT or draw(st.integers(1, 6)) > 1:
                found[name] = draw(edited(part.below(name), inner)) if draw(st.booleans()) else inner
        return found
    if isinstance(value, list) and part.items:
        head = [draw(edited(part.head, one)) for one in value[:1]] if part.head else []
        items = [draw(edited(part.items, one)) if draw(st.booleans()) else one for one in value[len(head) :]]
        if items and draw(st.integers(1, 3)) == 1:
            items.pop(draw(st.integers(0, len(items) - 1)))
        if items and draw(st.integers(1, 3)) == 1:
            items.append(draw(st.sampled_from(items)))
        return head + (draw(st.permutations(items)) if draw(st.integers(1, 3)) == 1 else items)
    return value if part is ANYTHING else draw(part.documents)


def distances(plan, documents):
    """The distance of every document to every one; shape (documents, documents)."""
    pairs = list(product(documents, repeat=2))
    levels = compare_to_levels(plan, [gold for gold, _ in pairs], [predicted for _, predicted in pairs])
    return 1.0 - root_qualities(levels, len(pairs)).reshape(len(documents), len(documents))


def refused(schema, **options):
    """The problems for which a schema is refused."""
    with pytest.raises(SchemaError) as caught:
        Comparator(schema, **options)
    return caught.value.problems


def read_records(source, side, **options):
    """The documents of one side in a source."""
    return Reader.of(side, ReadOptions(**options)).records([source])
