"""JSON values: equality, canonical keys, kinds, nesting depth, and absent values."""

from __future__ import annotations

import enum
from collections import OrderedDict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitre.errors import DataError
from arbitre.values import ABSENT, MAX_DEPTH, Absence, Kind, canonical, check_depth, depth, equal, kind_of


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1.0, True),
        (0.0, -0.0, True),
        (True, 1, False),
        (False, 0, False),
        (None, False, False),
        ("1", 1, False),
        ("", None, False),
        ([], {}, False),
        ([], None, False),
        (2**53 + 1, float(2**53), False),
        (10**400, 10**400, True),
        ([1, [2]], [1.0, [2.0]], True),
        ([1, 2], [2, 1], False),
        ([[], []], [[[]]], False),
        ([[1], 2], [[1, 2]], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": None}, {}, False),
        ({"a": {"b": 1}}, {"a": {}, "b": 1}, False),
        (["a", "b"], {"a": "b"}, False),
        ("é", "e\u0301", False),
        ("\ud800", "\ud800", True),
        (Colour.RED, "red", True),
        (OrderedDict(a=1), {"a": 1}, True),
    ],
)
def test_equality_distinguishes_kinds_but_not_number_types(left, right, expected):
    assert equal(left, right) is equal(right, left) is expected
    assert (hash(canonical(left)) == hash(canonical(right))) >= expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_refused(value):
    for inside in (value, [value], {"a": [value]}):
        with pytest.raises(DataError, match="Expected a finite number"):
            canonical(inside)


@pytest.mark.parametrize("value", [(1,), {1}, b"x", object(), 1j, ABSENT])
def test_other_types_are_refused(value):
    for inside in (value, [value], {"a": value}):
        with pytest.raises(DataError, match="Expected a JSON value"):
            canonical(inside)


def test_keys_that_are_not_text_are_refused():
    with pytest.raises(DataError, match="Expected every key to be text, got 1"):
        canonical({1: 2})


@pytest.mark.parametrize(
    ("value", "kind", "scalar"),
    [
        (None, Kind.NULL, True),
        (True, Kind.BOOLEAN, True),
        (1, Kind.NUMBER, True),
        (1.5, Kind.NUMBER, True),
        ("", Kind.STRING, True),
        (Colour.RED, Kind.STRING, True),
        ([], Kind.ARRAY, False),
        (OrderedDict(), Kind.OBJECT, False),
    ],
)
def test_every_value_has_its_kind(value, kind, scalar):
    assert kind_of(value) is kind
    assert kind.scalar is scalar


def test_an_error_names_the_pointer_of_the_value():
    with pytest.raises(DataError, match="got tuple at /a/0"):
        kind_of((), at=["a", 0])


@pytest.mark.parametrize(
    ("value", "expected"), [(1, 0), ([], 1), ({}, 1), ([1, [2]], 2), ({"a": [], "b": {"c": [[]]}}, 4)]
)
def test_depth_counts_nested_containers(value, expected):
    assert depth(value) == expected


def nested(levels, leaf=1):
    for level in range(levels):
        leaf = [leaf] if level % 2 else {"a": leaf, "c": 1}
    return leaf


def cyclic():
    lists, objects = [1], {"a": 1}
    lists += [lists, lists]
    objects["b"] = [objects, {"c": objects}]
    return [lists, objects, [2, objects]]


def test_values_of_the_maximum_depth_are_accepted():
    assert depth(nested(MAX_DEPTH)) == MAX_DEPTH
    check_depth(nested(MAX_DEPTH))
    check_depth(ABSENT)
    assert depth(nested(20_000)) == 20_000
    assert canonical(nested(MAX_DEPTH)) == canonical(nested(MAX_DEPTH))


@pytest.mark.parametrize("refuse", [canonical, check_depth])
@pytest.mark.parametrize("value", [nested(MAX_DEPTH + 1), nested(MAX_DEPTH, []), nested(20_000), *cyclic()])
def test_deeper_values_and_values_that_contain_themselves_are_refused(refuse, value):
    with pytest.raises(DataError, match="Expected at most 512 nested lists and objects in the value, got more"):
        refuse(value)


@pytest.mark.parametrize(
    "values", [[], [None], [""], [[]], [{}], [None, "", [], {}]], ids=["none", "null", "text", "list", "object", "all"]
)
def test_a_policy_covers_exactly_its_values(values):
    policy = Absence.of(values)
    assert list(policy.values) == values
    assert [value for value in (None, "", [], {}) if policy.covers(value)] == values
    assert not any(policy.covers(value) for value in (0, False, 0.0, " ", [None], {"a": None}))


def test_null_alone_is_absent_by_default():
    assert Absence().values == (None,)


def test_absent_is_falsy_and_has_a_readable_repr():
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"


SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, -0.0, 1.0, 0.5]) | st.sampled_from(["", "1"])
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.lists(st.lists(SCALARS, max_size=1), max_size=2)


@given(VALUES, VALUES)
@example([1], [True])
@example(["1", 1], ["1", 1.0])
@example([[]], [0])
@example([], "")
def test_values_are_equal_exactly_if_their_canonical_keys_are(left, right):
    assert equal(left, right) is (canonical(left) == canonical(right))
