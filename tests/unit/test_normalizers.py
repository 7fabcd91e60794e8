import pickle
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.errors import SchemaError
from arbitre.normalizers import catalogue
from arbitre.values import canonical

NAMES = (
    *("casefold", "concat", "date", "digits", "lower", "nfc", "nfkc", "number", "numbers", "squash-space", "strip"),
    *("strip-punctuation", "text", "unaccent", "upper"),
)


def test_the_names():
    assert catalogue.names == ("authority", *NAMES)


@pytest.mark.parametrize(
    ("choice", "value", "expected"),
    [
        ("strip", " a b\u00a0\n", "a b"),
        ("casefold", "Straße", "strasse"),
        ("lower", "ÉTÉ", "été"),
        ("upper", "été", "ÉTÉ"),
        ("nfc", "e\u0301", "é"),
        ("nfkc", "ﬁ²", "fi2"),
        ("nfc", "ﬁ", "ﬁ"),
        ("unaccent", "Élève à Œuvre, ñ", "Eleve a Œuvre, n"),
        ("unaccent", "e\u0301\u0327", "e"),
        ("unaccent", "한", "한"),
        ("squash-space", "  a \t\n b\u00a0\u202fc ", "a b c"),
        ("strip-punctuation", "«M. Dupont», 3 € + 4%…", "M Dupont 3   4"),
        ("digits", "p. 12-13bis", "1213"),
        ("digits", "none", ""),
        ("digits", "٣12", "12"),
        ("digits", -12.5, "125"),
        ("digits", 2.0, "2"),
        ("digits", 1e22, "1" + "0" * 22),
        ("digits", 1e-07, "00000001"),
        ("digits", ["p. 12", 13, None, True, ["n° 4"]], ["12", "13", None, True, ["4"]]),
        ("number", "12", 12),
        ("number", "1.0", 1.0),
        ("number", " +12.50 ", 12.5),
        ("number", "-3", -3),
        ("number", "−3", -3),
        ("number", "1 234", 1234),
        ("number", "1\u202f234\u00a0567.25", 1234567.25),
        ("number", "1'234", 1234),
        ("number", "12 34", "12 34"),
        ("number", "1 2345", "1 2345"),
        ("number", "1,234", "1,234"),
        ("number", "twelve", "twelve"),
        ("number", "", ""),
        ("number", "-", "-"),
        ("number", "1.", "1."),
        ("number", "1e5", "1e5"),
        ("number", "٣", "٣"),
        ("number", "9007199254740993", 9007199254740993),
        ("number", "1" + "0" * 400 + ".5", "1" + "0" * 400 + ".5"),
        ("number", ["1", ["2", "x"], None, {"a": "1"}], [1, [2, "x"], None, {"a": "1"}]),
        ({"number": {"decimal": ","}}, "1 234,5", 1234.5),
        ({"number": {"decimal": ","}}, "1.5", "1.5"),
        ("numbers", "pp. 12-15, 17 and 19.5", [12, 15, 17, 19.5]),
        ("numbers", "-5 °C (−3)", [-5, -3]),
        ("numbers", "none", []),
        ("numbers", "1,23", [1, 23]),
        ("numbers", [1, "2-3", None, True, ["4", 5.5], {"a": 6}], [1, 2, 3, 4, 5.5]),
        ("numbers", 7, [7]),
        ("numbers", True, True),
        ("numbers", None, None),
        ("numbers", {"a": "1"}, {"a": "1"}),
        ("date", "1931-03-01", "1931-03-01"),
        ("date", "1931-03-01T23:30:00-05:00", "1931-03-01"),
        ("date", "1931-03-01 10:00", "1931-03-01"),
        ("date", "1931-03", "1931-03"),
        ("date", "1931", "1931"),
        ("date", "1931-02-29", "1931-02-29"),
        ("date", "1931-03-01 evening", "1931-03-01 evening"),
        ("date", "1931-03-01T24:00", "1931-03-01T24:00"),
        ("date", "01/03/1931", "01/03/1931"),
        ({"date": {"formats": ["%m-%d-%Y", "%d/%m/%Y"]}}, "1/3/1931", "1931-03-01"),
        ({"date": {"formats": ["%d/%m/%Y"]}}, "31/02/1931", "31/02/1931"),
        ({"date": {"formats": ["%y%m"]}}, "1931", "1931"),
        ({"date": {"formats": ["%m/%Y"]}}, "03/1931", "1931-03"),
        ({"date": {"formats": ["year %Y"]}}, "year 1931", "1931"),
        ({"date": {"formats": ["%d in %Y"]}}, "5 in 1931", "1931"),
        ({"date": {"formats": ["%Y.%j"]}}, "1931.060", "1931-03-01"),
        ("concat", [1, 23], "123"),
        ("concat", ["a", ["b", [2.0, 0.5]], True, False, None, {"c": 1}], "ab20.5truefalse"),
        ({"concat": {"separator": ", "}}, ["a", ["b"], None, "c"], "a, b, c"),
        ("concat", [], ""),
        ("concat", "as it is", "as it is"),
        ("concat", 3, 3),
        ("text", 2.0, "2"),
        ("text", 2, "2"),
        ("text", -0.0, "0"),
        ("text", 0.1, "0.1"),
        ("text", True, "true"),
        ("text", None, None),
        ("text", [1, "a"], ["1", "a"]),
    ],
)
def test_normalizer(choice, value, expected):
    result = catalogue.build(choice)(value)
    assert result == expected
    assert canonical(result) == canonical(expected)


def test_integers_of_any_length_are_exact():
    digits = "1" + "0" * 5000
    assert catalogue.build("number")(digits) == 10**5000
    assert catalogue.build("text")(10**5000) == digits


def test_the_number_of_a_text_is_an_integer_where_it_has_no_decimals():
    number = catalogue.build("number")
    assert type(number("12")) is int
    assert type(number("1.0")) is float


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"concat", "numbers"}))
def test_lists_are_mapped_and_everything_else_but_objects_stays(name):
    value = [" Été. 1 ", ["x", None], {"a": " Été. "}]
    before = deepcopy(value)
    normalizer = catalogue.build(name)
    assert normalizer(value) == [normalizer(" Été. 1 "), [normalizer("x"), None], {"a": " Été. "}]
    assert value == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(value=JSON)
def test_a_normalizer_takes_any_value_and_leaves_it_as_it_was(name, value):
    before = deepcopy(value)
    result = catalogue.build(name)(value)
    canonical(result)
    assert canonical(value) == canonical(before)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"concat"}))
@given(value=JSON)
def test_a_normalizer_applied_twice_is_applied_once(name, value):
    normalizer = catalogue.build(name)
    once = normalizer(value)
    assert canonical(normalizer(once)) == canonical(once)


@pytest.mark.parametrize("name", NAMES)
@given(number=st.integers(-(2**60), 2**60).map(float))
def test_equal_numbers_become_equal_values(name, number):
    normalizer = catalogue.build(name)
    assert canonical(normalizer([number])) == canonical(normalizer([int(number)]))


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_identifies_and_travels_between_processes(name):
    normalizer = catalogue.build(name)
    assert normalizer.name == name
    assert normalizer.identifies
    copy = pickle.loads(pickle.dumps(normalizer))  # noqa: S301
    assert copy == normalizer
    assert copy(" A 1 ") == normalizer(" A 1 ")


def test_options_hold_the_defaults():
    assert catalogue.build("number").options == {"decimal": "."}
    assert catalogue.build("date").options == {"formats": []}
    assert catalogue.build({"concat": {"separator": " "}}).options == {"separator": " "}
    assert catalogue.build("strip").options == {}


@pytest.mark.parametrize("form", ["%Q/%Y", "%d/%m", "100%", "%d/%m/%Y%"])
def test_a_format_that_strptime_cannot_read_is_refused(form):
    with pytest.raises(SchemaError) as caught:
        catalogue.build({"date": {"formats": [form]}}, pointer="/n/0")
    assert caught.value.pointer == "/n/0/date/formats/0"


def test_an_unknown_normalizer():
    with pytest.raises(SchemaError, match='Did you mean "casefold"') as caught:
        catalogue.build("case-fold", pointer="/properties/nom/x-arbitre/normalize/0")
    assert caught.value.message == f'Expected `normalize` to be one of {", ".join(catalogue.names)}, got "case-fold"'
    assert caught.value.pointer == "/properties/nom/x-arbitre/normalize/0"
