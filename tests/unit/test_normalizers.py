"""The built-in normalisers, on values with known results."""

import itertools
import pickle
import random
import sys
from copy import deepcopy
from datetime import datetime
from fractions import Fraction
from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre import Comparator
from arbitre.errors import SchemaError
from arbitre.normalizers import catalogue
from arbitre.values import canonical

NAMES = (
    *(
        "base-letters",
        "casefold",
        "concat",
        "date",
        "decimal",
        "dehyphenate",
        "digits",
        "fraction",
        "lower",
        "nfc",
        "nfkc",
        "number",
        "numbers",
        "roman",
        "squash-space",
        "strip",
    ),
    *("strip-invisible", "strip-markup", "strip-punctuation", "text", "unaccent", "upper"),
)

ENGLISH = {"number": {"decimal": ".", "group": ","}}
FRENCH = {"number": {"decimal": ",", "group": ". "}}
AMOUNT = {"number": {"decimal": ".", "group": ", ", "currency": True, "percent": True, "accounting": True}}
SPELLED = {"date": {"languages": ["fr", "en"]}}
POUNDS = {"mixed-units": {"units": {"£": 1, "l": 1, "livres": 1, "s": 20, "sous": 20, "d": 240}}}
FRANCS = {"mixed-units": {"units": {"fr.": 1, "francs": 1, "c": 100, "centimes": 100}}}


def test_the_catalogue_lists_every_normalizer():
    assert catalogue.names == tuple(sorted({"amount", "as-written", "authority", "mixed-units", *NAMES}))


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
        ("base-letters", "Œdipe, CŒUR, Łódź, Æthelred", "Oedipe, COEUR, Lódź, Aethelred"),
        ("base-letters", "é, ß, ﬁ", "é, ß, ﬁ"),
        ("unaccent", "한", "한"),
        ("strip-markup", '<hi rend="italic">Nana</hi>,<br/>par **_Zola_**', "Nana, par Zola"),
        ("strip-markup", "&lt;b&gt;Thiers&lt;/b&gt; &amp;amp; C&#xED;e", "Thiers & Cíe"),
        ("strip-markup", "## [Nana](https://example.org/nana) ~~1879~~ `1880`", "Nana 1879 1880"),
        (
            "strip-markup",
            "<renvoi d'index>, a_b_c, 2 * 3 * 4, 1*, [1](v), a < b > c, R&D;",
            "<renvoi d'index>, a_b_c, 2 * 3 * 4, 1*, [1](v), a < b > c, R&D;",
        ),
        ("squash-space", "  a \t\n b\u00a0\u202fc ", "a b c"),
        ("strip-punctuation", "«M. Dupont», 3 € + 4%…", "M Dupont 3   4"),
        ({"strip-punctuation": {"by": " "}}, "Condé-sur-l'Escaut.", "Condé sur l Escaut "),
        ("strip-invisible", "\ufeffA\u200cd\u200da\u200e, Lo\u00adve\u200b\u2060lace\u200f", "Ada, Lovelace"),
        ("strip-invisible", "❤\ufe0f می\u200cخواهم\U000e0041", "❤ میخواهم"),
        ("strip-invisible", "a\u00a0b\n\tc e\u0301", "a\u00a0b\n\tc e\u0301"),
        ("dehyphenate", "the exam-\n  ple, exam\u00adple and exam¬ ple", "the example, example and example"),
        ("dehyphenate", "Saint-Denis, 12-\n15 - a", "Saint-Denis, 12-\n15 - a"),
        ("roman", "XIV", 14),
        ("roman", " mcmxviii ", 1918),
        ("roman", "Ⅻ", 12),
        ("roman", "MDCCCCX", 1910),
        ("roman", "IIII", 4),
        ("roman", "IL", "IL"),
        ("roman", "", ""),
        ("roman", "14", "14"),
        ("roman", 14, 14),
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
        ("number", "1 234'567", "1 234'567"),
        ("number", "0 123", "0 123"),
        ("number", "5 €", "5 €"),
        ("number", "5 %", "5 %"),
        ("number", "(5)", "(5)"),
        (ENGLISH, "1,234.50", 1234.5),
        (ENGLISH, "1,234", 1234),
        (ENGLISH, "1,234,567", 1234567),
        (ENGLISH, "1 234", "1 234"),
        (ENGLISH, "1,23,4", "1,23,4"),
        (ENGLISH, "12,34,567", "12,34,567"),
        (ENGLISH, "0,123", "0,123"),
        (ENGLISH, "1234,567", "1234,567"),
        (ENGLISH, "1,234.567,8", "1,234.567,8"),
        (FRENCH, "1.234", 1234),
        (FRENCH, "1.234,50", 1234.5),
        (FRENCH, "1 234,50", 1234.5),
        (FRENCH, "1\u202f234\u00a0567,5", 1234567.5),
        (FRENCH, "1 234.567", "1 234.567"),
        (FRENCH, "1.23", "1.23"),
        ({"number": {"decimal": ".", "group": ""}}, "1 234", "1 234"),
        ({"number": {"decimal": ".", "group": ""}}, "1234.5", 1234.5),
        (AMOUNT, "(1,234.50)", -1234.5),
        (AMOUNT, "($1,234.50)", -1234.5),
        (AMOUNT, "$(5.25)", -5.25),
        (AMOUNT, "(5) €", -5),
        (AMOUNT, "€ 5", 5),
        (AMOUNT, "-€5", -5),
        (AMOUNT, "€−5", -5),
        (AMOUNT, "12.5\u00a0€", 12.5),
        (AMOUNT, "EUR 12", 12),
        (AMOUNT, "12 FRF", 12),
        (AMOUNT, "$12.50 USD", 12.5),
        (AMOUNT, "12 %", 12),
        (AMOUNT, "12.5%", 12.5),
        (AMOUNT, "(-5)", "(-5)"),
        (AMOUNT, "-(5)", "-(5)"),
        (AMOUNT, "-5-", "-5-"),
        (AMOUNT, "(5", "(5"),
        (AMOUNT, "5)", "5)"),
        (AMOUNT, "12 % €", "12 % €"),
        (AMOUNT, "$12€", "$12€"),
        (AMOUNT, "EUR 12 USD", "EUR 12 USD"),
        (AMOUNT, "12 KGM", "12 KGM"),
        (AMOUNT, "12 eur", "12 eur"),
        (AMOUNT, "€", "€"),
        (AMOUNT, "EUR", "EUR"),
        (AMOUNT, "()", "()"),
        (AMOUNT, "1,23,4 €", "1,23,4 €"),
        ("amount", "1.234,50 €", 1234.5),
        ("amount", "1,234.50", 1234.5),
        ("amount", "(1,234.50)", -1234.5),
        ("amount", "1 234,50", 1234.5),
        ("amount", "1\u202f234\u00a0567 €", 1234567),
        ("amount", "1'234.50 CHF", 1234.5),
        ("amount", "1.234.567", 1234567),
        ("amount", "1,234,567", 1234567),
        ("amount", "12,5", 12.5),
        ("amount", "0,123", 0.123),
        ("amount", "1234,567", 1234.567),
        ("amount", "-€5", -5),
        ("amount", "1.234", 1.234),
        ("amount", "1,234", "1,234"),
        ({"amount": {"decimal": ","}}, "1.234", 1234),
        ({"amount": {"decimal": ","}}, "1,234", 1.234),
        ({"amount": {"decimal": ","}}, "1234.50", 1234.5),
        ({"amount": {"decimal": "."}}, "1,234", 1234),
        ("amount", "1E+3", 1000.0),
        ("amount", "1,23,4 €", "1,23,4 €"),
        ("amount", "5 apples", "5 apples"),
        ({"amount": {"units": ["g", "kg", "p."]}}, ["12,5 kg", "3g", "p. 7", "-2", "5 m"], [12.5, 3, 7, -2, "5 m"]),
        ("amount", "12 or 13", "12 or 13"),
        ("amount", "1.2.3", "1.2.3"),
        ("amount", "1,2.3,4", "1,2.3,4"),
        ("amount", "€", "€"),
        ("amount", 12.5, 12.5),
        ("as-written", "e\u0301", "e\u0301"),
        ("fraction", ["3 1/2", "3½", "3 ½", "½", "1/2", "10\u00a03⁄4"], [3.5, 3.5, 3.5, 0.5, 0.5, 10.75]),
        ("fraction", ["-3 1/2", "− ½", "7/12", "⅓"], [-3.5, -0.5, 7 / 12, 1 / 3]),
        *(
            ("fraction", text, text)
            for text in (
                "3",
                "3.5",
                "31/2",
                "31⁄2",
                "4/2",
                "2/2",
                "0/2",
                "1/2/3",
                "3 1/2 1/2",
                "½½",
                "1848/49",
                "1/1848",
                "3-1/2",
            )
        ),
        (POUNDS, ["£3 5s. 6d.", "£3. 5s. 6d.", "3 l. 5 s. 6 d.", "3l5s6d", "3 livres, 5 sous"], [3.275] * 4 + [3.25]),
        (
            POUNDS,
            ["£1,234 10s", "1\u202f234 l. 10 s.", "£3 6d", "5 s. 6 d.", "-£3 5s"],
            [1234.5, 1234.5, 3.025, 0.275, -3.25],
        ),
        (POUNDS, ["£3 0s. 0d.", "3 l.", "£3 5s. 1½d.", "£3 ½s"], [3, 3, 3.25625, 3.025]),
        *(
            (POUNDS, text, text)
            for text in (
                "5 s.",
                "6d",
                "½ s.",
                "3",
                "£3 5 6",
                "3 l. 20 s.",
                "5 s. 12 d.",
                "6 d. 5 s.",
                "3 l. 3 l.",
                "3 l. 5½ s. 6 d.",
                "½ l. ½ s.",
                "£3 5/2s",
                "£1,234",
                "3.5 l. 2 s.",
                "3 lb. 5 s.",
                "3 l. 5 sols",
                "5 s. l. 3",
            )
        ),
        (FRANCS, ["12 fr. 34 c.", "12 francs 5 centimes", "1 234 fr. 05 c."], [12.34, 12.05, 1234.05]),
        (
            FRANCS,
            ["12 fr. 34", "12 fr. 134 c.", "34 c.", "1.234 fr. 5 c."],
            ["12 fr. 34", "12 fr. 134 c.", "34 c.", "1.234 fr. 5 c."],
        ),
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
        *(
            ({"date": {"formats": ["%d.%Om.%Y", "%Y/%Om"]}}, written, read)
            for written, read in (
                ("3.VII.1851", "1851-07-03"),
                ("03.vii.1851", "1851-07-03"),
                ("29.II.1852", "1852-02-29"),
                *(
                    (text, text)
                    for text in ("29.II.1851", "3.7.1851", "3.IIII.1851", "3.XIII.1851", "3/VII/1851", "III.VII.1851")
                ),
                ("1851/XII", "1851-12"),
            )
        ),
        (SPELLED, "3 novembre 1918", "1918-11-03"),
        (SPELLED, "1er août 1914", "1914-08-01"),
        (SPELLED, "dimanche 3 novembre 1918", "1918-11-03"),
        (SPELLED, "NOVEMBRE 1918", "1918-11"),
        (SPELLED, "November 3rd, 1918", "1918-11-03"),
        (SPELLED, "3rd of May 1918", "1918-05-03"),
        (SPELLED, "Feb 29 1916", "1916-02-29"),
        (SPELLED, "Feb 29 1917", "Feb 29 1917"),
        (SPELLED, "1918-11-03", "1918-11-03"),
        (SPELLED, "hier", "hier"),
        (SPELLED, "yesterday", "yesterday"),
        (SPELLED, "now 1918", "now 1918"),
        (SPELLED, "3 novembre", "3 novembre"),
        (SPELLED, "3 nov 18", "3 nov 18"),
        (SPELLED, "mardi 1918", "mardi 1918"),
        (SPELLED, "mardi 12 1918", "mardi 12 1918"),
        (SPELLED, "12 1918", "12 1918"),
        (SPELLED, "3/11/1918", "3/11/1918"),
        (SPELLED, "Mar 4 1918", "Mar 4 1918"),
        (SPELLED, "about 3 November 1918", "about 3 November 1918"),
        (SPELLED, "environ novembre 1918", "environ novembre 1918"),
        (SPELLED, "May 1918 (?)", "May 1918 (?)"),
        ({"date": {"languages": ["de"]}}, "um Mai 1918", "um Mai 1918"),
        ({"date": {"languages": ["it"]}}, "e maggio 1918", "e maggio 1918"),
        ({"date": {"languages": ["ca"]}}, "3 d'abril de 1918", "1918-04-03"),
        ({"date": {"languages": ["nl"]}}, "en mei 1918", "en mei 1918"),
        ({"date": {"languages": ["pl"]}}, "3 maja 1918 r.", "1918-05-03"),
        (SPELLED, "by May 1918", "by May 1918"),
        (SPELLED, "and 3 May 1918", "and 3 May 1918"),
        (SPELLED, "et mai 1918", "et mai 1918"),
        (SPELLED, "mai 1918 à", "mai 1918 à"),
        (SPELLED, "n.d. May 1918", "n.d. May 1918"),
        (SPELLED, "May 1918/", "May 1918/"),
        (SPELLED, "May 1918-", "May 1918-"),
        (SPELLED, "May 1918...", "May 1918..."),
        (SPELLED, "on the 3rd of May, 1918.", "1918-05-03"),
        (SPELLED, "le 3 mai 1918", "1918-05-03"),
        (SPELLED, "3-May-1918", "1918-05-03"),
        (SPELLED, "1 mai 1920 - 3 mai 1920", "1 mai 1920 - 3 mai 1920"),
        (SPELLED, "3 November 1918 10:00", "3 November 1918 10:00"),
        (SPELLED, "mai" + " " * 90 + "1918", "mai" + " " * 90 + "1918"),
        (SPELLED, "3 de noviembre de 1918", "3 de noviembre de 1918"),
        ({"date": {"languages": ["es"]}}, "3 de noviembre de 1918", "1918-11-03"),
        ({"date": {"languages": ["fr"]}}, "November 3rd, 1918", "November 3rd, 1918"),
        ({"date": {"languages": ["fr"], "formats": ["%d/%m/%Y"]}}, "3/11/1918", "1918-11-03"),
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
def test_each_normalizer_has_its_known_result(choice, value, expected):
    result = catalogue.build(choice)(value)
    assert result == expected
    assert canonical(result) == canonical(expected)


def test_integers_of_up_to_4300_digits_are_exact():
    digits = "1" + "0" * 4299
    assert catalogue.build("number")(digits) == 10**4299
    assert catalogue.build("number")(f"{digits}0") == f"{digits}0"
    assert catalogue.build("text")(10**5000) == "1" + "0" * 5000


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
@pytest.mark.parametrize("name", [*NAMES, POUNDS])
@given(value=JSON)
def test_a_normalizer_accepts_any_value_and_does_not_change_it(name, value):
    before = deepcopy(value)
    result = catalogue.build(name)(value)
    canonical(result)
    assert canonical(value) == canonical(before)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"concat"}))
@given(value=JSON)
def test_normalizers_are_idempotent(name, value):
    normalizer = catalogue.build(name)
    once = normalizer(value)
    assert canonical(normalizer(once)) == canonical(once)


@pytest.mark.parametrize("name", NAMES)
@given(number=st.integers(-(2**60), 2**60).map(float))
def test_equal_numbers_become_equal_values(name, number):
    normalizer = catalogue.build(name)
    assert canonical(normalizer([number])) == canonical(normalizer([int(number)]))


@pytest.mark.parametrize("name", NAMES)
def test_each_normalizer_declares_what_it_identifies_and_can_be_pickled(name):
    normalizer = catalogue.build(name)
    assert normalizer.name == name
    assert normalizer.identifies
    copy = pickle.loads(pickle.dumps(normalizer))  # noqa: S301
    assert copy == normalizer
    assert copy(" A 1 ") == normalizer(" A 1 ")


def test_options_include_defaults():
    assert catalogue.build("number").options == {"decimal": "."}
    assert catalogue.build("date").options == {"formats": []}
    assert catalogue.build({"concat": {"separator": " "}}).options == {"separator": " "}
    assert catalogue.build("strip").options == {}


@pytest.mark.parametrize("form", ["%Q/%Y", "%d/%m", "100%", "%d/%m/%Y%"])
def test_a_format_that_strptime_cannot_read_is_refused(form):
    with pytest.raises(SchemaError) as caught:
        catalogue.build({"date": {"formats": [form]}}, pointer="/n/0")
    assert caught.value.pointer == "/n/0/date/formats/0"


@pytest.mark.parametrize("choice", [ENGLISH, FRENCH, AMOUNT, SPELLED], ids=str)
def test_a_normalizer_with_options_travels_between_processes(choice):
    normalizer = catalogue.build(choice)
    copy = pickle.loads(pickle.dumps(normalizer))  # noqa: S301
    texts = ["1.234", "5 €", "3 mai 1918"]
    assert copy(texts) == normalizer(texts)


@pytest.mark.parametrize(
    ("options", "pointer", "message"),
    [
        ({"currency": True}, "/n/0/number", "`number` requires `decimal` with `currency`"),
        ({"group": ",", "percent": True}, "/n/0/number", "`number` requires `decimal` with `group` and `percent`"),
        ({"decimal": ",", "group": ","}, "/n/0/number/group", 'Expected `group` to differ from `decimal`, got ","'),
        ({"decimal": ".", "group": "-"}, "/n/0/number/group", "Expected `group` to be a text that matches"),
    ],
)
def test_an_ambiguous_notation_is_refused(options, pointer, message):
    with pytest.raises(SchemaError) as caught:
        catalogue.build({"number": options}, pointer="/n/0")
    assert caught.value.pointer == pointer
    assert caught.value.message.startswith(message)


def test_fractions_and_mixed_units_are_exact():
    read, fraction = catalogue.build(POUNDS), catalogue.build("fraction")
    draw = random.Random(3)  # noqa: S311
    for _ in range(500):
        pounds, shillings, pence = draw.randrange(10**5), draw.randrange(20), draw.randrange(12)
        exact = pounds + Fraction(shillings, 20) + Fraction(pence, 240)
        assert read(f"£{pounds:,} {shillings}s. {pence}d.") == float(exact)
        assert read(f"{pounds} l. {shillings} s. {pence} 3/4 d.") == float(exact + Fraction(3, 4 * 240))
        lower, upper = sorted(draw.sample(range(1, 100), 2))
        assert fraction(f"{pounds} {lower}/{upper}") == float(pounds + Fraction(lower, upper))


@pytest.mark.parametrize("unit", ["5s", "l s", ""])
def test_a_unit_with_digits_or_white_space_is_refused(unit):
    with pytest.raises(SchemaError, match="to be words without digits or white space") as caught:
        catalogue.build({"mixed-units": {"units": {unit: 1, "d": 240}}})
    assert caught.value.pointer == "/mixed-units/units"


def test_amounts_in_different_currencies_are_identified_in_words():
    assert catalogue.build(AMOUNT).identifies.endswith("whatever its currency or percent sign")
    assert "currency" not in catalogue.build(ENGLISH).identifies


def test_a_spelled_date_does_not_depend_on_the_present_day(monkeypatch):
    import dateparser.parser
    import dateparser.utils

    texts = ["novembre 1918", "3 novembre", "février 1917", "31 novembre 1918", "mardi 1918", "nov. 29"]
    expected = ["1918-11", "3 novembre", "1917-02", "31 novembre 1918", "mardi 1918", "nov. 29"]

    class Now(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2031, 1, 31, tzinfo=tz)

        utcnow = now

    assert catalogue.build(SPELLED)(texts) == expected
    monkeypatch.setattr(dateparser.parser, "datetime", Now)
    monkeypatch.setattr(dateparser.utils, "datetime", Now)
    assert dateparser.parse("3 novembre", languages=["fr"]).year in {2030, 2031}  # the patch works
    assert catalogue.build(SPELLED)(texts) == expected


def test_an_unknown_language_is_refused():
    with pytest.raises(SchemaError, match='got "frr"') as caught:
        catalogue.build({"date": {"languages": ["en", "frr"]}}, pointer="/n/0")
    assert caught.value.pointer == "/n/0/date/languages/1"
    assert caught.value.hint.startswith('Did you mean "fr"')


def test_spelled_dates_name_the_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dateparser.data.languages_info", None)
    with pytest.raises(SchemaError, match="needs dateparser") as caught:
        catalogue.build(SPELLED, pointer="/n/0")
    assert caught.value.hint == "Install it: pip install 'arbitre[dates]'"
    assert catalogue.build("date")("1918-11-03T10:00") == "1918-11-03"


def test_the_version_of_dateparser_is_in_the_signature():
    assert catalogue.build(SPELLED).options["dateparser"] == version("dateparser")


def test_an_unknown_normalizer_is_refused_with_a_hint():
    with pytest.raises(SchemaError, match='Did you mean "casefold"') as caught:
        catalogue.build("case-fold", pointer="/properties/nom/x-arbitre/normalize/0")
    assert caught.value.message == 'Expected `normalize` to be a known name, got "case-fold"'
    assert caught.value.pointer == "/properties/nom/x-arbitre/normalize/0"


def test_the_explanation_names_the_distance_after_the_type_has_changed():
    options = {"normalize": [{"number": {"decimal": ","}}], "distance": "relative"}
    (row,) = Comparator({"type": "string", "x-arbitre": options}).explain()
    assert row.distance == "relative, yujian-bo"  # the second for texts that are not numbers


COMPOSED, DECOMPOSED = "Gérard é", "Ge\u0301rard e\u0301"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {},
        {"enum": [DECOMPOSED, "x"]},
        {"type": "string", "x-arbitre": {"normalize": ["casefold"]}},
        {"type": "string", "x-arbitre": {"distance": {"ordinal": {"order": [DECOMPOSED, "x"]}}}},
        {"type": "array", "x-arbitre": {"match": "set"}},
        {"type": "array", "x-arbitre": {"distance": "jaccard"}},
        {"type": ["string", "integer"]},
        {"anyOf": [{"const": DECOMPOSED, "x-arbitre": {"distance": "exact"}}, {"type": "string"}]},
    ],
)
def test_texts_that_differ_only_in_their_unicode_normal_form_are_equal(schema):
    listed = schema.get("type") == "array"
    gold, predicted = ([text] if listed else text for text in (COMPOSED, DECOMPOSED))
    assert Comparator(schema).compare(gold=gold, predicted=predicted).quality == 1.0
    several = {"type": "object", "additionalProperties": schema}
    wrong = Comparator(several).compare(gold={"a": gold, "b": gold}, predicted={"a": predicted, "b": gold[:-1]})
    assert 0.5 <= wrong.quality < 1.0


def test_a_branch_is_chosen_by_a_constant_in_any_normal_form():
    def branch(name, kind):
        return {"type": "object", "properties": {"is": {"const": name}, "x": {"type": kind}}}

    schema = {"anyOf": [branch("other", "string"), branch(DECOMPOSED, "string")]}
    comparison = Comparator(schema).compare(gold={"is": COMPOSED, "x": "a"}, predicted={"is": DECOMPOSED, "x": "a"})
    assert comparison.quality == 1.0


def test_as_written_distinguishes_unicode_normal_forms_and_is_in_the_signature():
    schema = {"type": "string", "x-arbitre": {"normalize": ["as-written"]}}
    comparator = Comparator(schema)
    assert comparator.compare(gold=COMPOSED, predicted=DECOMPOSED).quality < 1.0
    assert dict(Comparator({"type": "string"}).signature.entries)["unicode"] == "nfc"
    assert "unicode:nfc" in Comparator({"type": "string"}).signature.long
    assert dict(comparator.signature.entries)["/"] == "yujian-bo; normalize as-written"


WORDS = ["", "null", "None", "n/a", None]


@pytest.mark.parametrize(
    ("schema", "absent", "present"),
    [
        ({"type": "string"}, "n/a", "n"),
        ({"type": "integer"}, "null", 3),
        ({"type": "string", "x-arbitre": {"normalize": ["strip", "casefold"]}}, " NONE ", "no"),
        ({"type": "string", "x-arbitre": {"normalize": ["numbers"]}}, "n/a", "-"),
        ({"type": "string", "x-arbitre": {"normalize": ["number"]}}, "n/a", "1"),
        ({"type": "array", "items": {"type": "string"}}, "None", ["None"]),
        ({"type": "object", "properties": {"b": {"type": "string"}}}, "null", {"b": "c"}),
    ],
)
def test_placeholder_words_count_as_absent_at_any_depth(schema, absent, present):
    outer = {"type": "object", "x-arbitre": {"absent": WORDS}, "properties": {"a": schema, "z": {"type": "string"}}}
    comparator = Comparator(outer)
    assert comparator.compare(gold={"z": "z"}, predicted={"a": absent, "z": "z"}).quality == 1.0
    assert comparator.compare(gold={"z": "z"}, predicted={"a": present, "z": "z"}).quality == 0.5


def test_placeholder_words_in_a_list_are_not_items():
    schema = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"absent": WORDS}}
    comparison = Comparator(schema).compare(gold=["a"], predicted=["null", "a", "n/a", None])
    assert comparison.quality == 1.0
    assert comparison.scores.predicted == 1.0


E_ACUTE, E_AND_ACUTE = "\u00e9", "e\u0301"


@pytest.mark.parametrize("forms", list(itertools.product([E_ACUTE, E_AND_ACUTE], repeat=2)))
@pytest.mark.parametrize("nfc", [True, False])
@pytest.mark.parametrize(
    ("settings", "gold", "predicted"),
    [
        (lambda e: {"distance": {"taxonomy": {"parents": {e: "b", "c": "b", "b": "a"}}}}, "{}", "b"),
        (lambda e: {"distance": {"ordinal": {"order": [e, "b", "c"]}}}, "{}", "b"),
        (lambda e: {"normalize": [{"amount": {"units": [f"{e}cus"]}}]}, "5 {}cus", 5),
        (lambda e: {"normalize": [{"mixed-units": {"units": {f"{e}cus": 1, "s": 60}}}]}, "5 {}cus 30 s", 5.5),
        (lambda e: {"normalize": [{"date": {"formats": [f"%d {e} %m %Y"]}}]}, "03 {} 11 1918", "1918-11-03"),
        (lambda e: {"normalize": [{"authority": {"names": {"x": [e]}}}]}, "{}", "x"),
    ],
)
def test_options_are_in_nfc_unless_values_are_as_written(settings, gold, predicted, nfc, forms):
    written, read = forms
    chosen = {"distance": "exact"} | settings(written)
    chosen["normalize"] = chosen.get("normalize", []) + ([] if nfc else ["as-written"])
    comparator = Comparator({"type": ["string", "number"], "x-arbitre": chosen})
    quality = comparator.compare(gold=gold.format(read), predicted=predicted).quality
    assert (quality > 0) == (nfc or written == read)
