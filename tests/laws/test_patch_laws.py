"""Properties of patches: what all operations, and each alone, do to a prediction; applied by the letter of RFC 6902."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle.strategies import SMOOTH, SOLVERS, alternatives, cases, floored, transports

from arbitre import ABSENT, Comparator

NEAR = 1e-9
slow = settings(deadline=None, suppress_health_check=list(HealthCheck))


def copied(value):
    """A copy in which no list or object occurs twice."""
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def patched(document, operations):
    """The document after the operations; each target must exist as RFC 6902 demands."""
    document = copied(document)
    for operation in operations:
        assert operation.keys() >= {"op", "path"}
        assert ("value" in operation) == (operation["op"] != "remove")
        value = copied(operation.get("value", ABSENT))
        path = operation["path"]
        if path == "":
            assert operation["op"] == "add" or document is not ABSENT
            document = value
            continue
        assert path.startswith("/")
        *above, last = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
        target = document
        for token in above:
            target = target[position(token)] if isinstance(target, list) else target[token]
        if isinstance(target, list):
            end = len(target)
            at = end if last == "-" else position(last)
            assert at <= end if operation["op"] == "add" else at < end and last != "-"
            target[at : at + (operation["op"] != "add")] = [] if value is ABSENT else [value]
        else:
            assert isinstance(target, dict)
            assert operation["op"] == "add" or last in target
            if value is ABSENT:
                del target[last]
            else:
                target[last] = value
    return document


def position(token):
    assert token == str(int(token))
    return int(token)


def f1q_of(comparison):
    return comparison.scores.f1q


def lawful(comparator, gold, predicted):
    """Apply the patch of a prediction, and each operation with those it needs, and compare again."""
    comparison = comparator.compare(gold=gold, predicted=predicted)
    patch = comparison.patch()
    plain = patch.to_json_patch()
    result = patched(predicted, plain)
    after = comparator.compare(gold=gold, predicted=result)
    ideal = comparator.compare(gold=gold, predicted=gold).quality
    assert after.quality >= ideal - NEAR
    assert after.quality <= 1.0
    assert patch.apply(predicted) == result
    assert patched(predicted, patch.to_list()) == result
    assert [operation.to_json_patch() for operation in comparison.patch(gains=False)] == plain
    before = f1q_of(comparison)
    for number, operation in enumerate(patch):
        assert all(needed < number for needed in operation.needs)
        alone = patched(predicted, [plain[needed] for needed in operation.needs] + [plain[number]])
        again = comparator.compare(gold=gold, predicted=alone)
        one = f1q_of(again)
        assert operation.gain == pytest.approx(0.0 if before is None else (1.0 if one is None else one) - before)
        assert operation.quality_gain == pytest.approx(again.quality - comparison.quality)
    return patch, result, ideal


@st.composite
def floored_cases(draw):
    schema, gold, predicted = draw(cases())
    return draw(floored(schema)), gold, predicted


@slow
@given(
    case=cases() | cases(ties=False) | floored_cases() | transports(solvers=SOLVERS + SMOOTH) | alternatives(),
)
def test_all_operations_together_make_gold_and_each_gains_what_it_says(case):
    schema, gold, predicted = case
    lawful(Comparator(schema), gold, predicted)


KEYS = ["a", "b/c", "d~e", "*", "0", "-"]
NORMAL = {"type": "string", "x-arbitre": {"normalize": ["strip", "casefold"]}}
BRANCHES = {
    "anyOf": [
        {"properties": {"kind": {"const": "A"}, "a": NORMAL, "b/c": {"type": "string"}}},
        {"properties": {"kind": {"const": "B"}, "a": {"type": "number"}, "*": {"type": "array"}}},
        {"properties": {"kind": {"enum": ["c", "C"]}, "a": {"type": "string"}, "d~e": NORMAL}},
    ]
}
SCALARS = st.sampled_from([None, "", "A", "a", " a", "B", "bb", 1, 2, 2.5, True])
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from(KEYS), part, max_size=4)
)


@st.composite
def unusual_schemas(draw, depth=3):
    """A schema with aliases, ignored fields, maps, unions, sets, positions and absent values of all kinds."""
    absent = draw(st.sampled_from([{}, {}, {"absent": [None, "", [], {}]}, {"absent": []}]))
    kind = draw(st.sampled_from(["leaf", "leaf", "object", "array", "map", "union"] if depth else ["leaf"]))
    if kind == "leaf":
        return draw(st.sampled_from([{}, {"type": "string"}, {"type": "number"}, NORMAL]))
    if kind == "union":
        return BRANCHES
    if kind == "map":
        return {"type": "object", "additionalProperties": draw(unusual_schemas(depth - 1)), "x-arbitre": absent}
    if kind == "array":
        match = st.sampled_from(["hungarian", "greedy", "ordered", "sequence", {"hungarian": {"gate": 0.3}}])
        items = draw(unusual_schemas(depth - 1))
        flat = "properties" not in items and "items" not in items
        chosen = "set" if flat and draw(st.booleans()) else draw(match)
        head = [draw(unusual_schemas(depth - 1)) for _ in range(draw(st.integers(0, 2)))]
        schema = {"type": "array", "items": items, "x-arbitre": absent | {"match": chosen}}
        return schema | ({"prefixItems": head} if head and chosen != "set" else {})
    parts = {}
    for name in draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True)):
        part = draw(unusual_schemas(depth - 1))
        more = draw(st.sampled_from([{}, {}, {"aliases": [f"{len(parts)}s", "meta/x"]}, {"ignore": True}]))
        parts[name] = part if "anyOf" in part else part | {"x-arbitre": part.get("x-arbitre", {}) | more}
    undeclared = draw(st.sampled_from([{}, {"undeclared": "ignore"}]))
    inner = {"properties": {"deep": {"type": "string", "x-arbitre": {"aliases": ["flat"]}}, "other": {}}}
    parts |= draw(st.sampled_from([{}, {"inner": {"type": "object"} | inner}]))
    return {"type": "object", "properties": parts, "x-arbitre": absent | undeclared}


@st.composite
def unusual_values(draw, schema):
    """A value of such a schema, now and then of another kind."""
    if draw(st.integers(0, 12)) == 0:
        return draw(VALUES)
    if "anyOf" in schema:
        kinds = st.sampled_from(["A", "a", "B", "C", "c"])
        return draw(st.dictionaries(st.sampled_from(KEYS), SCALARS, max_size=3)) | {"kind": draw(kinds)}
    if "additionalProperties" in schema:
        return draw(st.dictionaries(st.sampled_from(KEYS), unusual_values(schema["additionalProperties"]), max_size=3))
    if "items" in schema:
        head = [draw(unusual_values(part)) for part in schema.get("prefixItems", [])]
        rest = draw(st.lists(unusual_values(schema["items"]), max_size=4))
        return (head + rest)[: draw(st.integers(0, 6))]
    if "properties" in schema:
        names = [*schema["properties"]]
        chosen = [name for name in names if draw(st.integers(0, 3))]
        value = {name: draw(unusual_values(schema["properties"][name])) for name in chosen}
        strays = st.sampled_from([{"stray": 1}, {"flat": "a"}, {"0s": None}, {"meta": 2}, {"meta": {"z": 3}}])
        return value | (draw(strays) if draw(st.integers(0, 5)) == 0 else {})
    return draw(SCALARS)


@st.composite
def edited(draw, value):
    """A value with parts changed, dropped, repeated, reordered, or under another key."""
    if draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    if isinstance(value, list):
        items = [draw(edited(item)) for item in value if draw(st.integers(0, 4))]
        items += draw(st.lists(st.sampled_from(items), max_size=2)) if items else []
        return draw(st.permutations(items))
    if isinstance(value, dict):
        parts = {key: draw(edited(part)) for key, part in value.items() if draw(st.integers(0, 4))}
        if isinstance(parts.get("inner"), dict) and draw(st.booleans()):
            inner = parts.pop("inner")
            parts |= {"flat": inner.pop("deep", None), **({"inner": inner} if inner else {})}
        for number, key in enumerate([*parts]):
            move = draw(st.integers(0, 5))
            if move == 0:
                parts[f"{number}s"] = parts.pop(key)
            elif move == 1 and "meta" not in parts:
                parts["meta"] = {"x": parts.pop(key)}
        return parts
    return draw(SCALARS) if draw(st.booleans()) else value


@st.composite
def unusual_cases(draw):
    schema = draw(unusual_schemas())
    gold = draw(unusual_values(schema))
    sides = gold, draw(edited(gold) | unusual_values(schema))
    if any(isinstance(side, str) for side in sides):
        schema, sides = {"type": "array", "items": schema}, tuple([side] for side in sides)
    return schema, *(side if draw(st.integers(0, 20)) else ABSENT for side in sides)


@slow
@given(case=unusual_cases())
def test_aliases_unions_maps_and_absent_values_are_patched_as_well(case):
    schema, gold, predicted = case
    lawful(Comparator(schema), gold, predicted)
