"""`compact` writes what the standard library writes, whichever encoder it uses."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.report.text_files import compact

TEXTS = st.text() | st.text('"\\/\x00\x1f\x7f\u2028é😀,:[1.5e7null')
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda below: st.lists(below) | st.dictionaries(TEXTS, below))


def standard(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@given(VALUES)
def test_the_bytes_are_those_of_the_standard_library(value):
    assert compact(value) == standard(value)


@pytest.mark.parametrize(
    "value",
    [-0.0, [-0.0], 2**64, [-(2**63) - 1], {"a": 10**400}, [1e16], [1e-7], ["\ud800"], "\ud800", ["null"], [None]],
)
def test_numbers_and_texts_at_the_limits_of_the_fast_encoder_are_alike(value):
    assert compact(value) == standard(value)


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"a": [-math.inf]}])
def test_numbers_that_are_not_json_are_refused(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        compact(value)
