"""Strict parsing gives the same values and errors with and without its fast path."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitre.errors import DataError
from arbitre.parsing import fast_json, strict_json
from arbitre.values import ABSENT, check

TEXTS = st.text() | st.text('"\\/\x00\x7f\u2028é😀,:')
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(SCALARS, lambda below: st.lists(below) | st.dictionaries(TEXTS, below), max_leaves=8)


def outcome(data):
    try:
        return repr(strict_json.parse(data))
    except DataError as error:
        return str(error)


@st.composite
def texts(draw):
    """JSON with or without escapes and blanks; often with a piece copied, replaced or removed."""
    text = json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    for _ in range(draw(st.integers(0, 2))):
        begin, end = sorted(draw(st.integers(0, len(text))) for _ in range(2))
        other = draw(
            st.sampled_from(["", text[begin:end] * 2, '"', "\\", ",", '{"a":1,"a":1}', "1e999", "\\ud800", "\t"])
        )
        text = text[:begin] + other + text[end:]
    return text.encode("utf-8", "surrogatepass")


@given(texts())
@example(b'{"a": 1, "a": 2}')
@example(b'[{"\\u0061": 1, "a": 2}]')
@example(b'{"a\\\\": 1, "b\\"": "\\u0022\\u005c", "c": "\\\\\\""}')
@example(b"[123456789012345678901234567890, -0, -0.0, 1E5, 1e-400, 9007199254740993.0, 2.2250738585072011e-308]")
@example(b'["\\ud83d\\ude00", "\\ud83d"]')
@example(b"\xef\xbb\xbf[1]")
@example(b'["\xed\xa0\x80"]')
@example(b"[" * 600 + b"]" * 600)
@example(b"[NaN, Infinity, 1e400]")
@example(b"1" * 5000)
def test_values_and_errors_do_not_depend_on_the_fast_path(data):
    fast = outcome(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "parse_strictly", lambda _: ABSENT)
        assert fast == outcome(data)


@given(VALUES)
def test_what_was_parsed_once_is_parsed_alike_again(value):
    data = json.dumps(value).encode()
    assert repr(fast_json.parse_again(data)) == repr(json.loads(data))


def test_a_duplicate_key_is_left_to_the_strict_parser():
    assert fast_json.parse_strictly(b'{"a": 1, "b": {"c": 2}}') == {"a": 1, "b": {"c": 2}}
    for text in (b'{"a": 1, "a": 1}', b'[{"b": {"c": 2, "\\u0063": "x"}}]', b'{"\\"": [], "\\u0022": {}}'):
        assert fast_json.parse_strictly(text) is ABSENT


OBJECTS = st.recursive(
    SCALARS | st.binary() | st.decimals() | st.dates() | st.just(ABSENT),
    lambda below: st.lists(below) | st.tuples(below) | st.dictionaries(TEXTS | st.integers(), below),
    max_leaves=8,
)


@given(OBJECTS)
@example({"a": [{1: "b"}]})
@example([float("nan")])
@example({"\ud800": 1})
def test_the_fast_check_accepts_only_json(value):
    if fast_json.is_json(value):
        check(value)
