"""The laws of distances: each holds the facts it declares, and breaks those it denies, on adversarial values."""

import itertools
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.distances import Distance, catalogue
from arbitre.values import Kind, equal

ROUNDING = 1e-12

WORDS = ["".join(word) for n in range(5) for word in itertools.product("ab", repeat=n)]
TEXTS = [
    *WORDS,
    *("abc", "bca", "cab", "CA", "AC", "ABC", "tide", "diet", "aaba", "baaa", "a b", "b a", " a  b ", "jean dupont"),
    *("larcher (gérard)", "gérard larcher", "\ud800", "\U0001f600", "é", "é", "a" * 63, "a" * 64, "a" * 64 + "b"),
    *("ab" * 100, "b" + "ab" * 100, "ba" * 100),
]
NUMBERS = [
    *(0, -0.0, 1, -1, 2, 3, 0.5, -2.5, 0.1, 0.3, 0.1 + 0.2, 100, 9000),
    *(2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**64 + 1, 10**17, 10**400, 10**400 + 1, -(10**400)),
    *(1e308, -1e308, sys.float_info.max, 5e-324, -5e-324, 1e-300, int(1e308), int(1e308) + 1),
]
DATES = [
    *("1931", "1931-01", "1931-03", "1931-12", "1932", "1931-01-01", "1931-03-01", "1931-03-31", "1931-12-31"),
    *("1932-02-29", "1931-02-29", "0001-01-01", "9999-12-31", "1931-03-01T00:00:00", "1931-03-01T12:00:00Z"),
    *("1931-03-01T13:00:00+01:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "spring", "", "1931-13"),
]
SETS = [list(part) for n in range(4) for part in itertools.product([1, "1", True], repeat=n)] + [
    [None],
    [[1], [2]],
    [[2], [1]],
    [{"a": 1}],
    [1, 2],
    [2, 1],
]
ORDER = ["low", "medium", "high", 4, True]
SCALARS = [None, False, True, 0, 1, 1.0, 2**53, 2**53 + 1, "", "1", "low", "medium", "high", 4, "other"]
ANYTHING = [*SCALARS, [], [1], [1.0], [True], [[]], {}, {"a": 1}, {"a": True}, {"a": None}, {"b": 1}, [1, 2], [2, 1]]


@dataclass(frozen=True)
class Law:
    """What one choice of a distance is to declare, values to hold it against, witnesses beyond the declared one."""

    choice: object
    values: list
    symmetric: bool = True
    separating: bool = True
    triangle: bool = True
    witnesses: dict = field(default_factory=dict)

    @property
    def name(self):
        return self.choice if isinstance(self.choice, str) else next(iter(self.choice))

    @property
    def distance(self) -> Distance:
        return catalogue.build(self.choice)


RATCLIFF = {"symmetric": ("aaba", "baaa"), "triangle": ("a", "ab", "b")}

LAWS = [
    Law("exact", ANYTHING),
    Law("levenshtein", TEXTS, triangle=False),
    Law("yujian-bo", TEXTS),
    Law("indel", TEXTS, triangle=False),
    Law("jaro-winkler", TEXTS, triangle=False),
    Law("ratcliff-obershelp", TEXTS, symmetric=False, triangle=False, witnesses=RATCLIFF),
    Law({"ratcliff-obershelp": {"autojunk": True}}, TEXTS, symmetric=False, triangle=False, witnesses=RATCLIFF),
    Law("token-sort", TEXTS, separating=False),
    Law({"absolute": {"scale": 10}}, NUMBERS),
    Law({"absolute": {"scale": 0.1}}, NUMBERS),
    Law({"absolute": {"scale": sys.float_info.max}}, NUMBERS),
    Law({"absolute": {"scale": 5e-324}}, NUMBERS),
    Law("relative", NUMBERS),
    Law("date", DATES, separating=False, witnesses={"separating": ("1931-03-01T12:00Z", "1931-03-01T13:00+01:00")}),
    Law({"date": {"scale": 1e-9}}, DATES, separating=False),
    Law("jaccard", SETS, separating=False, witnesses={"separating": ([1], [1, 1])}),
    Law({"ordinal": {"order": ORDER}}, SCALARS),
    Law({"ordinal": {"order": ["low"]}}, SCALARS),
]
each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.choice))


def table(distance, values):
    everything = np.arange(len(values))
    return distance.pool(values).crossed(everything, everything)


def unequal(values):
    return np.array([[not equal(x, y) for y in values] for x in values])


def test_every_distance_of_the_catalogue_has_a_law():
    assert {law.name for law in LAWS} == set(catalogue.names)


@each_law
def test_the_declared_facts_are_those_of_the_table(law):
    facts = law.distance.facts
    assert (facts.symmetric, facts.separating, facts.triangle) == (law.symmetric, law.separating, law.triangle)
    assert (facts.witness is None) == facts.metric


@each_law
def test_distances_are_finite_within_0_and_1_and_0_on_equal_values(law):
    distances = table(law.distance, law.values)
    assert distances.dtype == np.float64
    assert distances.shape == (len(law.values), len(law.values))
    assert np.all((distances >= 0) & (distances <= 1))
    assert np.all(distances[~unequal(law.values)] == 0)


@each_law
def test_symmetry_holds_where_declared(law):
    distances = table(law.distance, law.values)
    assert np.array_equal(distances, distances.T) == law.symmetric


@each_law
def test_separation_holds_where_declared(law):
    distances = table(law.distance, law.values)
    assert bool(np.all(distances[unequal(law.values)] > 0)) == law.separating


@each_law
def test_the_triangle_inequality_holds_where_declared(law):
    distances = table(law.distance, law.values)
    detour = np.min(distances[:, :, None] + distances[None, :, :], axis=1)
    assert bool(np.all(distances <= detour + ROUNDING)) == law.triangle


def violates(distance, fact, witness):
    if fact == "symmetric":
        x, y = witness
        return abs(distance(x, y) - distance(y, x)) > ROUNDING
    if fact == "separating":
        x, y = witness
        return not equal(x, y) and distance(x, y) == 0
    x, y, z = witness
    return distance(x, z) > distance(x, y) + distance(y, z) + ROUNDING


@each_law
def test_the_witness_of_the_first_fact_denied_still_violates_it(law):
    facts = law.distance.facts
    denied = [fact for fact in ("symmetric", "separating", "triangle") if not getattr(facts, fact)]
    if denied:
        assert violates(law.distance, denied[0], facts.witness)
    for fact, witness in law.witnesses.items():
        assert fact in denied
        assert violates(law.distance, fact, witness)


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12) | st.text("ab é", max_size=70)
ANY_NUMBER = (
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(2**53 - 2, 2**53 + 2)
    | st.integers(-(10**320), 10**320)
)
ANY_DATE = (
    st.dates().map(str)
    | st.dates().map(lambda day: str(day)[:7])
    | st.dates().map(lambda day: str(day)[:4])
    | st.datetimes(timezones=st.none() | st.timezones()).map(lambda moment: moment.isoformat())
    | ANY_TEXT
)
ANY_SCALAR = st.none() | st.booleans() | ANY_NUMBER | ANY_TEXT
ANY_ARRAY = st.lists(ANY_SCALAR | st.integers(0, 3), max_size=6)


def values_for(distance):
    if distance.name == "date":
        return ANY_DATE
    by_kind = {
        Kind.NULL: st.none(),
        Kind.BOOLEAN: st.booleans(),
        Kind.NUMBER: ANY_NUMBER,
        Kind.STRING: ANY_TEXT | st.sampled_from(["low", "medium", "high"]),
        Kind.ARRAY: ANY_ARRAY,
        Kind.OBJECT: st.dictionaries(ANY_TEXT, ANY_SCALAR, max_size=3),
    }
    return st.one_of(by_kind[kind] for kind in sorted(distance.kinds))


@each_law
@given(data=st.data())
def test_pairs_and_tables_agree_to_the_last_bit(law, data):
    values = data.draw(st.lists(values_for(law.distance), max_size=6))
    pool = law.distance.pool(values)
    everything = np.arange(len(values))
    rows, columns = np.repeat(everything, len(values)), np.tile(everything, len(values))
    distances = pool.crossed(everything, everything)
    assert distances.dtype == np.float64
    assert distances.shape == (len(values), len(values))
    assert np.all((distances >= 0) & (distances <= 1))
    assert np.array_equal(pool.paired(rows, columns), distances.ravel())


@each_law
@given(data=st.data())
def test_a_distance_depends_on_its_two_values_alone(law, data):
    values = data.draw(st.lists(values_for(law.distance), min_size=1, max_size=6))
    order = np.array(data.draw(st.permutations(range(len(values)))))
    distances = table(law.distance, values)
    shuffled = table(law.distance, [values[index] for index in order])
    assert np.array_equal(shuffled, distances[np.ix_(order, order)])
    i = data.draw(st.integers(0, len(values) - 1))
    j = data.draw(st.integers(0, len(values) - 1))
    assert law.distance(values[i], values[j]) == distances[i, j]
    assert law.distance(values[i], values[i]) == 0
