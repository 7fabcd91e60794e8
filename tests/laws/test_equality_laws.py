"""Two values are equal if and only if their canonical keys are."""

from hypothesis import example, given
from hypothesis import strategies as st

from arbitre.values import canonical, equal

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
