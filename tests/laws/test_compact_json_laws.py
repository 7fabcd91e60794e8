"""`compact` writes the same JSON as the standard library, and the report escapes it."""

import json
import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitre.errors import HIDDEN
from arbitre.parsing.fast_json import compact, compact_lists
from arbitre.report.standalone import embedded

TEXTS = st.text() | st.text('"\\/\x00\x1f\x7f\u2028é😀,:[1.5e7null') | st.text("<>&-\ud83d\ude00\u200b0.e")
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda below: st.lists(below) | st.dictionaries(TEXTS, below))


def standard(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


SURROUNDINGS = st.sampled_from([None, "", "3e-2, 0.0000", ["\\", 1e-9, ',1e5\\",1.2.3e4:-0.00001'], "é" * 5_000])
"""Neighbours with texts that look like numbers."""


@given(VALUES, SURROUNDINGS)
@example([1e16, -1e-7, 5e-324, 1e22, 0.00001, -0.00001234], "é" * 5_000)
@example({"a": 1e-7}, "")
@example([[-1e300], -0.0, 2**64, -(2**63) - 1], "é" * 5_000)
def test_the_bytes_are_those_of_the_standard_library(value, around):
    assert compact(value) == standard(value)
    assert compact([around, value, around]) == standard([around, value, around])


@given(st.lists(st.lists(st.integers() | VALUES)) | st.lists(st.lists(st.integers())))
@example([[], []])
@example([[1, -2], [], [3]])
@example([[1, [2]], [3]])
@example([["],["], [1]])
@example([[2**70], [1]])
@example([[1], [{}], [True], [1e16]])
def test_lists_written_together_are_those_written_one_by_one(lists):
    assert compact_lists(lists) == [standard(value) for value in lists]


@given(st.dictionaries(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False), SCALARS))
@example({1e16: 1, -1e-7: 2, True: 3, None: 4, 2**70: 5})
def test_keys_that_are_not_text_are_written_as_by_the_standard_library(value):
    try:
        expected = standard(value)
    except ValueError:  # infinity
        with pytest.raises(ValueError, match="JSON compliant"):
            compact(value)
    else:
        assert compact(value) == expected


@given(VALUES, SURROUNDINGS)
def test_markup_and_invisible_characters_are_escaped_in_pages(value, around):
    text = standard([value, around])
    assert embedded([value, around]) == re.sub("[<>&]|" + HIDDEN.pattern, lambda match: escapes(match[0]), text)


def escapes(character):
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


@pytest.mark.parametrize(
    "value",
    [-0.0, [-0.0], 2**64, [-(2**63) - 1], {"a": 10**400}, [1e16], [1e-7], ["\ud800"], "\ud800", ["null"], [None]],
)
def test_numbers_and_texts_at_the_limits_are_written_as_by_the_standard_library(value):
    assert compact(value) == standard(value)


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"a": [-math.inf]}, [None, math.nan], {math.nan: 1}])
def test_numbers_that_are_not_json_are_refused(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        compact(value)
