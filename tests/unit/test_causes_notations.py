"""Causes in the notation of values: each kind is found with its change, and confusions of labels are not."""

from __future__ import annotations

import random
import re

import pytest

import arbitre
from arbitre.causes.same_value import MIXED
from arbitre.causes.search import find_causes
from arbitre.inputs.records import Pair

pytestmark = pytest.mark.slow

NAMES = ["Élise Barthou", "Paul Lefèvre", "Anne-Marie Sérot", "Noé Fiffre", "Zoé Waltz", "Guy de Lémery", "René Coty"]
TITLES = [
    "Notes on l'élevage, 1789",
    'Finances: a "study"',
    "Flax and fishing",
    "Grain trade in Nîmes",
    "Sea-side towns",
]
DATES = ["1918-11-03", "1919-01-25", "1920-12-31", "1921-02-04", "1922-07-14", "1923-10-30"]
AMOUNTS = [1234.5, 88.25, 10500.75, 3200.5, 512.1, 7.5]
YEARS = [1914, 1789, 1848, 1871, 1905, 1931]
HALVES = [3.5, 12.5, 7.5, 1.5, 20.5]
WEIGHTS = [f"{number} kg" for number in range(3, 90, 4)]
TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}
DAY = {"type": "string", "format": "date"}


def comparator(schema):
    items = {"type": "object", "properties": {"id": INTEGER, "value": schema}}
    rows = {"type": "array", "items": items, "x-arbitre": {"entries": True}}
    return arbitre.Comparator({"type": "object", "properties": {"rows": rows}})


def causes(schema, pairs, documents=12):
    """The systematic causes in documents of five rows, with gold and predicted values in this order."""
    pairs = iter(pairs)
    rows = [[(number, *next(pairs)) for number in range(5)] for _ in range(documents)]

    def document(side):
        return [{"rows": [{"id": row[0], "value": row[side]} for row in one]} for one in rows]

    made = [Pair(str(at), None, *both) for at, both in enumerate(zip(document(1), document(2), strict=True))]
    analysis = find_causes(comparator(schema).plan, made)
    assert sum(cause.cost for cause in analysis.causes) == pytest.approx(1 - analysis.f1q)
    return [cause for cause in analysis.causes if cause.systematic]


def changed(values, change, seed=0):
    """Random gold values; 80 % of the predictions are changed, and 5 % are other values."""
    draw = random.Random(seed)  # noqa: S311
    while True:
        gold = draw.choice(values)
        roll = draw.random()
        yield gold, change(gold) if roll < 0.8 else draw.choice(values) if roll < 0.85 else gold


def iso_as(form):
    return lambda day: form.format(*day.split("-"))


def roman(number):
    letters = {
        1000: "M",
        900: "CM",
        500: "D",
        400: "CD",
        100: "C",
        90: "XC",
        50: "L",
        40: "XL",
        10: "X",
        9: "IX",
        5: "V",
    }
    text = ""
    for size, letter in ({**letters, 4: "IV", 1: "I"}).items():
        text, number = text + letter * (number // size), number % size
    return text


def grouped(number, marks="., "):
    return f"{number:,.2f}".translate(str.maketrans({",": marks[2], ".": marks[1]}))


def roman_month(form):
    """Write a date with the month as a Roman numeral."""
    return lambda day: form.format(int(day[8:]), roman(int(day[5:7])), day[:4])


KINDS = [
    ("case", TEXT, NAMES, str.upper, ["casefold"]),
    ("case", TEXT, ["Straße", "Weiß", "Großmann"], str.upper, ["casefold"]),
    ("unicode", TEXT, ["Straße", "Weiß", "Großmann"], lambda text: text.replace("ß", "ss"), ["casefold"]),
    ("unicode", TEXT, ["Große Straße", "Fuß weiß"], lambda text: f" {text}".replace("ß", "ss"), ["casefold", "squash-space"]),
    ("unicode", TEXT, ["λόγος", "νόμος", "δῆμος"], lambda text: text.replace("ς", "σ"), ["casefold"]),
    ("accents", TEXT, NAMES, lambda text: re.sub("[éè]", "e", text), ["unaccent"]),
    ("unicode", TEXT, TITLES, lambda text: text.replace("fi", "ﬁ").replace("s", "ſ"), ["nfkc"]),
    ("unicode", TEXT, ["Bœuf", "Cœuret", "Nœtinger", "Lœwenbrück"], lambda text: text.replace("œ", "oe"), ["base-letters"]),
    *(("unicode", TEXT, NAMES, lambda text, sign=sign: f"{text[:2]}{sign}{text[2:]}{sign}", ["strip-invisible"])
      for sign in "\u00ad\u200c\u200d\u200e\u200f\u2060\ufeff"),
    ("spaces", TEXT, TITLES, lambda text: f" {text}".replace(" ", " \n"), ["squash-space"]),
    ("punctuation", TEXT, TITLES, lambda text: f"[{text}].", ["strip-punctuation"]),
    ("punctuation", TEXT, ["Aix-les-Bains", "Le Mont-Dore", "Bourg-la-Reine"], lambda text: text.replace("-", " "),
     [{"strip-punctuation": {"by": " "}}]),
    ("quotes", TEXT, TITLES, lambda text: text.replace("'", "’").replace('"', "”"), ["strip-punctuation"]),
    ("hyphenation", TEXT, TITLES, lambda text: text.replace("in", "i-\nn").replace("es", "e-\ns"), ["dehyphenate"]),
    ("markup", TEXT, TITLES, "<i>{}</i>".format, ["strip-markup"]),
    ("markup", TEXT, NAMES, "**{}**".format, ["strip-markup"]),
    ("markup", TEXT, NAMES, lambda name: name.replace("e", "&#101;"), ["strip-markup"]),
    ("amount", NUMBER, AMOUNTS, lambda number: f"{grouped(number, ' ,.')} €", ["amount"]),
    ("amount", NUMBER, AMOUNTS, lambda number: f"{grouped(number)} francs", [{"amount": {"units": ["francs"]}}]),
    ("number-format", NUMBER, AMOUNTS, str, ["number"]),
    ("number-format", INTEGER, [1234, 9820, 10200, 4001], lambda number: f"{number:,}",
     [{"number": {"decimal": ".", "group": ", '"}}]),
    ("number-format", TEXT, ["1,234.50", "9,820.75", "3,200.25"], lambda text: text.replace(",", " "),
     [{"number": {"decimal": ".", "group": ", '"}}]),
    ("number-format", NUMBER, HALVES, lambda number: f"{int(number)} 1/2", ["fraction"]),
    ("number-format", TEXT, [f"{int(number)} 1/2" for number in HALVES], lambda text: text.replace(" 1/2", "½"), ["fraction"]),
    ("number-format", NUMBER, [*HALVES, 4, 18], lambda number: f"{int(number)}½" if number % 1 else str(number),
     ["fraction", "number"]),
    ("amount", NUMBER, AMOUNTS, lambda number: f"{int(number)} fr. {round(number % 1 * 100)} c.", [MIXED[0]]),
    ("amount", TEXT, ["12 fr. 34 c.", "7 fr. 5 c.", "1 234 fr. 50 c."],
     {"12 fr. 34 c.": 12.34, "7 fr. 5 c.": 7.05, "1 234 fr. 50 c.": 1234.5}.get, [MIXED[0]]),
    ("amount", NUMBER, AMOUNTS, lambda number: f"£{int(number)} {round(number % 1 * 100) // 5}s. {round(number % 1 * 100) % 5 * 12 // 5}d."
     if round(number % 1 * 100) % 5 == 0 else number, [MIXED[1]]),
    ("number-format", NUMBER, AMOUNTS, "{} %".format, [{"number": {"decimal": ".", "percent": True}}]),
    ("units", NUMBER, AMOUNTS, lambda number: f"{number} kg".replace(".", ","), [{"amount": {"units": ["kg"]}}]),
    ("units", TEXT, WEIGHTS, lambda weight: f"{weight[:-2]}kilogrammes", [{"amount": {"units": ["kg", "kilogrammes"]}}]),
    ("roman-numerals", INTEGER, YEARS, lambda year: roman(year).lower(), ["roman"]),
    ("date-format", DAY, DATES, iso_as("{2}/{1}/{0}"), [{"date": {"formats": ["%d/%m/%Y"]}}]),
    ("date-format", TEXT, DATES, iso_as("{1}/{2}/{0}"), [{"date": {"formats": ["%m/%d/%Y"]}}]),
    ("date-format", DAY, DATES, roman_month("{}.{}.{}"), [{"date": {"formats": ["%d.%Om.%Y"]}}]),
    ("date-format", TEXT, DATES, roman_month("{}/{}/{}"), [{"date": {"formats": ["%d/%Om/%Y"]}}]),
    ("date-format", TEXT, DATES, roman_month("{}. {}. {}"), [{"date": {"formats": ["%d. %Om. %Y"]}}]),
    ("date-format", TEXT, DATES, iso_as("{0}{1}{2}"), [{"date": {"formats": ["%Y%m%d"]}}]),
    ("date-format", DAY, DATES, iso_as("{0}-{1}-{2}T00:00:00"), None),
    ("date-format", TEXT, DATES, iso_as("{0}-{1}-{2}T00:00:00"), ["date"]),
    ("name-order", TEXT, NAMES, lambda name: ", ".join(reversed(name.split(" ", 1))), ["strip-punctuation"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "schema", "values", "change", "normalizers"), KINDS)
def test_a_notation_is_one_cause_with_its_change(kind, schema, values, change, normalizers):
    found = causes(schema, changed(values, change))
    if normalizers is None:  # the distance of dates reads times
        assert found == []
        return
    assert [(cause.kind, cause.paths) for cause in found] == [(kind, ("/rows/*/value",))]
    assert set(map(str, found[0].change["/rows/*/value"]["normalize"])) == set(map(str, normalizers))
    assert found[0].change["/rows/*/value"].get("distance") == ("token-sort" if kind == "name-order" else None)
    assert found[0].gain > 0
    side = "schema" if schema == TEXT and kind in {"date-format", "number-format", "amount", "units"} else "prediction"
    assert found[0].side == side


@pytest.mark.parametrize(
    ("values", "spelt"),
    [
        (WEIGHTS, {"kg": "lb"}),
        ([*WEIGHTS, *(f"{weight[:-2]}g" for weight in WEIGHTS)], {"kg": "kilogrammes", "g": "grammes"}),
    ],
)
def test_other_units_and_gold_with_several_units_are_not_read_without_their_unit(values, spelt):
    def change(weight):
        number, unit = weight.split()
        return f"{number} {spelt[unit]}"

    assert not any(cause.kind == "units" for cause in causes(TEXT, changed(values, change)))


@pytest.mark.parametrize(
    ("schema", "values", "change"),
    [
        (NUMBER, [0.25, 0.5, 0.75, 0.35, 0.6], lambda number: f"{round(number * 20)} s."),  # also seconds
        (NUMBER, [3.5, 7.5, 12.5, 20.5], lambda number: f"{int(number)}1/2"),  # also 31/2 = 15.5
        (DAY, DATES, lambda _: "3 1/2"),
        (DAY, ["1918-02-01", "1919-03-02", "1920-05-04"], lambda day: f"{int(day[8:])}/{int(day[5:7])}"),
    ],
)
def test_ambiguous_amounts_and_fractions_are_no_notation(schema, values, change):
    assert not {"amount", "number-format", "date-format"} & {
        cause.kind for cause in causes(schema, changed(values, change))
    }


@pytest.mark.parametrize("form", ["{}.{}/{}", "{}.{}. {}", "{}{}{}"])
def test_a_roman_month_between_different_marks_is_no_date(form):
    assert not any(cause.kind == "date-format" for cause in causes(DAY, changed(DATES, roman_month(form))))


def test_advice_names_the_notations_found():
    spoken = [cause.advice for cause in causes(DAY, changed(DATES, iso_as("{2}.{1}.{0}")))]
    assert spoken == ["Ask for dates as YYYY-MM-DD; predictions have DD.MM.YYYY."]
    spoken = [cause.advice for cause in causes(DAY, changed(DATES, roman_month("{}.{}.{}")))]
    assert spoken == ["Ask for dates as YYYY-MM-DD; predictions have DD.I–XII.YYYY."]
    (timed,) = causes(TEXT, changed(DATES, iso_as("{0}-{1}-{2}T00:00:00")))
    assert re.fullmatch(r'Ask for dates as YYYY-MM-DD; predictions have "[-0-9]{10}T00:00:00"\.', timed.advice)
    (case,) = causes(TEXT, changed(["Nantes", "Lyon", "Paris"], str.upper))
    assert re.fullmatch(r'Ignore case with `casefold`, .*: predictions have "([A-Z]+)" for "(?i:\1)"\.', case.advice)


def test_dates_in_words_are_read_in_their_language():
    pytest.importorskip("dateparser")
    months = ["janvier", "février", "", "", "", "", "juillet", "", "", "octobre", "novembre", "décembre"]
    spelled = changed(DATES, lambda day: f"{int(day[8:])} {months[int(day[5:7]) - 1]} {day[:4]}")
    (cause,) = causes(DAY, spelled)
    assert cause.change == {"/rows/*/value": {"normalize": [{"date": {"languages": ["fr"]}}]}}
    assert cause.kind == "date-format"


def test_the_items_of_lists_are_compared_with_all_items_of_their_list():
    draw = random.Random(3)  # noqa: S311
    words = ["finance", "navy", "posts", "health", "press", "justice", "fisheries"]
    rows = [draw.sample(words, 3) for _ in range(60)]
    found = causes({"type": "array", "items": TEXT}, [(row, [word.upper() for word in reversed(row)]) for row in rows])
    assert [(cause.kind, cause.paths) for cause in found] == [("case", ("/rows/*/value/*",))]
    assert found[0].gain == pytest.approx(1 / 3)


def test_differences_that_occur_together_are_one_cause():
    both = changed(NAMES, lambda name: f"  {name.upper()}")
    (cause,) = causes(TEXT, both)
    assert cause.change == {"/rows/*/value": {"normalize": ["casefold", "squash-space"]}}
    either = changed(NAMES, lambda name: name.upper() if len(name) % 2 else name.replace(" ", "  "))
    assert {cause.kind for cause in causes(TEXT, either)} == {"case", "spaces"}


def test_entries_that_are_matched_wrongly_because_of_their_notation_are_compared_with_all_others():
    draw = random.Random(9)  # noqa: S311
    days = [f"{1880 + number // 28}-{1 + number % 12:02}-{1 + number % 28:02}" for number in range(1200)]
    plan = arbitre.Comparator({"type": "array", "items": {"type": "object", "properties": {"day": DAY}}}).plan
    pairs = []
    for at in range(0, 1200, 100):
        predicted = [{"day": iso_as("{2}/{1}/{0}")(day)} for day in draw.sample(days[at : at + 100], 100)]
        pairs.append(Pair(str(at), None, [{"day": day} for day in days[at : at + 100]], predicted))
    found = find_causes(plan, pairs)
    assert (found.f1q, found.f1q_after) == (0.0, 1.0)
    assert [(cause.kind, cause.count) for cause in found.causes] == [("date-format", 1200)]


def test_other_normalizers_of_the_schema_are_kept():
    schema = TEXT | {"x-arbitre": {"normalize": ["squash-space"]}}
    (cause,) = causes(schema, changed(NAMES, str.upper))
    assert cause.change == {"/rows/*/value": {"normalize": ["squash-space", "casefold"]}}
    pages = {
        "type": "array",
        "items": INTEGER,
        "x-arbitre": {"normalize": ["concat", "digits"], "distance": "levenshtein"},
    }
    (cause,) = causes(pages, changed([[12, 140], [7], [1789, 2]], lambda value: list(map(roman, value))))
    assert cause.change == {"/rows/*/value": {"normalize": ["roman", {"concat": {"separator": ""}}, "digits"]}}


def test_gold_with_two_forms_of_a_value_is_the_side_of_the_cause():
    draw = random.Random(5)  # noqa: S311
    places = ["Saint-Denis", "Besançon", "Orléans", "Nîmes"]
    gold = [draw.choice([str.upper, str])(draw.choice(places)) for _ in range(60)]
    (cause,) = causes(
        TEXT, [(value, next(place for place in places if place.upper() == value.upper())) for value in gold]
    )
    assert (cause.kind, cause.side) == ("case", "gold")
    declared = TEXT | {"enum": [*places, *map(str.upper, places)]}
    assert causes(declared, [(value, value.title()) for value in gold]) == []


@pytest.mark.parametrize(
    ("schema", "labels"),
    [
        (TEXT, ["male", "Male", "female", "Female"]),
        (TEXT, ["résumé", "resume", "letter"]),
        (TEXT, ["1", "2", "I", "II"]),
        (TEXT, ["NE", "N-E", "S", "W"]),
        (NUMBER, [1, 2, 4, 8, 10, 20, 40]),
    ],
)
def test_confusions_of_labels_are_not_another_notation(schema, labels):
    draw = random.Random(7)  # noqa: S311
    favourite = dict(zip(labels, [*labels[1:], labels[0]], strict=True))
    for rate in (0.1, 0.3, 0.5):
        gold = [draw.choice(labels) for _ in range(60)]
        wrong = [draw.choice([favourite[one], draw.choice(labels)]) if draw.random() < rate else one for one in gold]
        assert causes(schema, zip(gold, wrong, strict=True)) == []


def test_typing_errors_are_not_another_notation():
    draw = random.Random(11)  # noqa: S311

    def typed(text):
        at = draw.randrange(len(text))
        return text[:at] + draw.choice("abcdefghijklmnop ,.-ABCDE") + text[at + 1 :]

    assert causes(TEXT, changed(TITLES + NAMES, typed)) == []


def keyed(key, change, documents=20, key_of=lambda draw, at: f"{draw.choice('ABC')}{at}{draw.randint(100, 999)}"):
    """The systematic causes, and f1q, of documents with a list matched by `key`, of which `change` alters each item."""
    draw = random.Random(0)  # noqa: S311
    gold = [
        [
            {"sku": key_of(draw, at), "part": {"code": draw.randint(1, 9)}, "quantity": draw.randint(1, 300)}
            for at in range(size)
        ]
        for size in (draw.randint(2, 6) for _ in range(documents))
    ]
    predicted = [[change(draw, item) for item in items] for items in gold]
    part = {"type": "object", "properties": {"code": INTEGER}}
    items = {"type": "object", "properties": {"sku": TEXT, "part": part, "quantity": INTEGER}}
    lines = {"type": "array", "items": items, "x-arbitre": {"match": {"keyed": {"key": key}}}}
    plan = arbitre.Comparator({"type": "object", "properties": {"lines": lines}}).plan
    sides = zip(*([{"lines": items} for items in side] for side in (gold, predicted)), strict=True)
    analysis = find_causes(plan, [Pair(str(at), None, *both) for at, both in enumerate(sides)])
    assert sum(cause.cost for cause in analysis.causes) == pytest.approx(1 - analysis.f1q)
    return [cause for cause in analysis.causes if cause.systematic], analysis.f1q


@pytest.mark.parametrize("key", ["sku", ["sku", "/part/code"]])
@pytest.mark.parametrize(
    ("kind", "change", "normalizers"),
    [
        ("case", str.lower, ["casefold"]),
        ("punctuation", lambda text: f"{text[0]}-{text[1:]}", ["strip-punctuation"]),
    ],
)
def test_the_keys_of_items_without_a_partner_are_compared(key, kind, change, normalizers):
    (cause,), f1q = keyed(key, lambda _, item: item | {"sku": change(item["sku"])})
    assert (cause.kind, cause.paths, cause.change) == (
        kind,
        ("/lines/*/sku",),
        {"/lines/*/sku": {"normalize": normalizers}},
    )
    assert (f1q, cause.gain) == (0.0, pytest.approx(1.0))
    assert {example.path for example in cause.examples} == {"/lines/*"}
    assert re.search(r'predictions have "\w-?\d+" for "[A-C]\d+"', cause.advice)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_wrong_keys_are_not_another_notation(share):
    def wrong(draw, item):
        return item | {"sku": draw.choice("abcABC") + str(draw.randint(1000, 9999))} if draw.random() < share else item

    assert not keyed("sku", wrong, documents=60)[0]


def test_the_order_of_words_in_keys_has_no_cause_because_distances_do_not_apply_to_keys():
    def reverse(_, item):
        return item | {"sku": " ".join(reversed(item["sku"].split()))}

    assert not keyed("sku", reverse, key_of=lambda draw, at: f"{NAMES[at]} {draw.randint(1, 99)}")[0]
