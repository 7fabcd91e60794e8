"""Causes in columns: values of another row, and numbers that differ by a constant."""

import random
from datetime import date, timedelta

import pytest
from tests.letters import INTEGER, LETTERS, NAMES, TEXT, analysed, corpus, only
from tests.unit.test_causes_notations import DAY, causes, changed

pytestmark = pytest.mark.slow

# Values of another row.


def values(entries, key):
    return [one[key] for one in entries]


def shifted(key, step):
    """Each value is that of the entry before (step 1) or after (step -1)."""

    def change(entries, rng):
        if rng.random() < 0.8:
            rows = [one["place"] if key == "town" else one for one in entries]
            old = values(rows, key)
            for at, row in enumerate(rows):
                row[key] = old[at - step] if 0 <= at - step < len(old) else None

    return change


@pytest.mark.parametrize(("step", "word"), [(1, "previous"), (-1, "next")])
@pytest.mark.parametrize("key", ["sender", "year", "town", "number"])
def test_values_of_the_next_or_previous_entry_are_shifted_back(key, step, word):
    cause, f1q = only(shifted(key, step))
    path = "/*/place/town" if key == "town" else f"/*/{key}"
    assert (cause.kind, cause.paths) == ("column-shifted", (path,))
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert cause.advice == f"Check the input for {path}: predictions have the values of the {word} item."


def test_values_of_random_entries_are_not_shifted():
    def change(entries, rng):
        old = values(entries, "sender")
        rng.shuffle(old)
        for one, value in zip(entries, old, strict=True):
            one["sender"] = value

    assert not analysed(*corpus(change, documents=30))[0]


# Ditto marks.


def in_runs(mark, key="sender"):
    """Gold in which every value is that of two or three letters, and predictions with a mark in all but the first."""
    gold, predicted = corpus(lambda entries, _: entries, entries=7)
    for sides in zip(gold, predicted, strict=True):
        for at in range(7):
            if at not in {0, 3, 5}:
                sides[0][at][key] = sides[0][at - 1][key]
                sides[1][at][key] = mark
    return gold, predicted


@pytest.mark.parametrize(
    ("mark", "words"), [("id.", 'have "id."'), ("〃", 'have "〃"'), ('"', r'have "\""'), (None, "leave it out")]
)
def test_ditto_marks_are_replaced_with_the_value_of_the_previous_entry(mark, words):
    gold, predicted = in_runs(mark)
    (cause,), f1q = analysed(gold, predicted)
    assert (cause.kind, cause.paths, cause.count, cause.detail) == ("ditto", ("/*/sender",), 48, {"mark": mark})
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert cause.advice == (
        f"Ask for the value of /*/sender in every item: predictions {words} where it repeats the value of the previous "
        "item."
    )


@pytest.mark.parametrize("mark", ["id.", None])
def test_a_mark_beside_other_values_than_the_previous_one_is_no_ditto_mark(mark):
    gold, predicted = in_runs(mark)
    for entries in gold:
        entries[1] |= {"sender": "Auriol"}
        del entries[6]["sender"]
    assert "ditto" not in [cause.kind for cause in analysed(gold, predicted)[0]]


def test_a_missing_value_that_resembles_the_previous_one_is_no_ditto_mark():
    gold, predicted = corpus(lambda entries, _: entries, entries=7)
    for number, sides in enumerate(zip(gold, predicted, strict=True)):
        for at in range(7):
            sides[0][at]["note"] = sides[1][at]["note"] = f"Letter of 1918-0{at + 1}-{10 + number}"
        sides[1][3]["note"] = None
    assert "ditto" not in [cause.kind for cause in analysed(gold, predicted)[0]]


def test_another_name_of_one_value_is_no_ditto_mark():
    gold, predicted = in_runs("M.")
    for entries in gold:
        for one in entries:
            one["sender"] = "Mistral"
    assert "ditto" not in [cause.kind for cause in analysed(gold, predicted)[0]]


# Numbers that differ by a constant.


def added(key, offset, share=0.8):
    def change(entries, rng):
        for one in entries:
            if rng.random() < share:
                one[key] = [value + offset for value in one[key]] if isinstance(one[key], list) else one[key] + offset

    return change


@pytest.mark.parametrize(
    ("key", "offset", "words"),
    [
        ("year", 1000, "1000 too large"),
        ("year", -1, "1 too small"),
        ("number", 1, "1 too large"),
        ("number", -1, "1 too small"),
        ("pages", 1, "1 too large"),
        ("pages", -100, "100 too small"),
    ],
)
def test_numbers_that_differ_by_a_constant_are_corrected(key, offset, words):
    cause, f1q = only(added(key, offset))
    path = "/*/pages/*" if key == "pages" else f"/*/{key}"
    assert (cause.kind, cause.paths, cause.detail) == ("ids-offset", (path,), {"offset": offset})
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert (
        cause.advice
        == f"State in the prompt where the numbers at {path} start: most of the wrong predictions are {words}."
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda value, rng: value + rng.choice((-2, -1, 1, 2)),
        lambda _, rng: rng.randrange(1890, 1935),
        lambda value, rng: {1900: 1901, 1901: 1902}.get(value, rng.randrange(1890, 1935)),
    ],
)
def test_numbers_with_different_errors_have_no_offset(wrong):
    def change(entries, rng):
        for one in entries:
            one["year"] = wrong(one["year"], rng)

    assert not any(cause.kind == "ids-offset" for cause in analysed(*corpus(change, documents=20))[0])


def test_two_labels_that_are_confused_have_no_offset():
    def change(entries, rng):
        for one in entries:
            one["year"] = 1 if rng.random() < 0.9 else 0

    gold, predicted = corpus(change)
    for one in (entry for document in gold for entry in document):
        one["year"] = 0
    assert not any(cause.kind == "ids-offset" for cause in analysed(gold, predicted)[0])


def test_an_offset_is_subtracted_in_lists_that_differ_in_length_and_from_texts_of_digits():
    def change(entries, rng):
        for one in entries:
            one["pages"] = [page + 1 for page in one["pages"] if rng.random() < 0.9]

    cause, _ = only(change, documents=30)
    gold, predicted = corpus(change, documents=30)
    back = [[one | {"pages": [page - 1 for page in one["pages"]]} for one in entries] for entries in predicted]
    assert (cause.kind, cause.detail) == ("ids-offset", {"offset": 1})
    assert cause.gain == pytest.approx(analysed(gold, back)[1] - analysed(gold, predicted)[1])
    schema = {"type": "array", "items": {"type": "object", "properties": {"shelf": TEXT, "summary": TEXT}}}
    gold = [
        [{"shelf": f"{number:04}", "summary": f"{NAMES[number % 10]} {number * 7919}"} for number in range(at, at + 4)]
        for at in range(8, 500, 40)
    ]
    predicted = [[one | {"shelf": f"{int(one['shelf']) - 1:04}"} for one in entries] for entries in gold]
    (cause,), f1q = analysed(gold, predicted, schema)
    assert (cause.kind, cause.paths, cause.detail) == ("ids-offset", ("/*/shelf",), {"offset": -1})
    assert cause.gain == pytest.approx(1.0 - f1q)


DAYS = [f"{1850 + 7 * number % 80}-{1 + number % 12:02}-{1 + 5 * number % 28:02}" for number in range(60)]


@pytest.mark.parametrize(
    ("schema", "offset", "unit", "words", "change"),
    [
        (DAY, 1, "year", "1 year too late", lambda day: f"{int(day[:4]) + 1}{day[4:]}"),
        (TEXT, -10, "year", "10 years too early", lambda day: f"{int(day[:4]) - 10}{day[4:]}"),
        (DAY, -1, "day", "1 day too early", lambda day: str(date.fromisoformat(day) - timedelta(1))),
        (TEXT, 12, "day", "12 days too late", lambda day: str(date.fromisoformat(day) + timedelta(12))),
    ],
)
def test_dates_that_differ_by_a_constant_are_corrected(schema, offset, unit, words, change):
    (cause,) = causes(schema, changed(DAYS, change))
    assert (cause.kind, cause.change, cause.detail) == ("date-offset", None, {"offset": offset, "unit": unit})
    assert (
        cause.advice
        == f"Check how the dates at /rows/*/value are read or converted: most of the wrong predictions are {words}."
    )
    assert cause.count > 35
    assert cause.gain > 0.0


def test_dates_are_read_after_the_normalizers():
    schema = DAY | {"x-arbitre": {"normalize": [{"date": {"formats": ["%d/%m/%Y"]}}]}}

    def change(day):
        return (date.fromisoformat(day) + timedelta(1)).strftime("%d/%m/%Y")

    (cause,) = causes(schema, changed(DAYS, change))
    assert (cause.kind, cause.detail) == ("date-offset", {"offset": 1, "unit": "day"})


def test_the_year_of_a_date_in_words_is_corrected():
    days = [f"{1 + number % 28} novembre {1850 + 7 * number % 80}" for number in range(60)]
    (cause,) = causes(TEXT, changed(days, lambda day: f"{day[:-4]}{int(day[-4:]) + 100}"))
    assert (cause.kind, cause.detail) == ("date-offset", {"offset": 100, "unit": "year"})


@pytest.mark.parametrize(
    "wrong",
    [
        lambda day, rng: str(date.fromisoformat(day) + timedelta(rng.choice((-2, -1, 1, 2)))),
        lambda day, rng: f"{int(day[:4]) + rng.choice((-10, -1, 1, 10, 100))}{day[4:]}",
        lambda _, rng: rng.choice(DAYS),
    ],
)
def test_dates_with_different_errors_have_no_offset(wrong):
    rng = random.Random(3)  # noqa: S311
    assert "date-offset" not in [cause.kind for cause in causes(DAY, changed(DAYS, lambda day: wrong(day, rng)))]


def test_items_without_the_key_by_which_entries_are_matched_have_no_offset():
    def change(entries, _):
        del entries[0]["number"]

    schema = LETTERS | {"x-arbitre": {"match": {"keyed": {"key": "number"}}}}
    assert not any(cause.kind == "ids-offset" for cause in analysed(*corpus(change), schema)[0])


@pytest.mark.parametrize("offset", [1, -1, 1000])
def test_an_offset_of_the_keys_by_which_entries_are_matched_is_one_cause(offset):
    gold, predicted = corpus(added("number", offset, share=1.0))
    schema = LETTERS | {"x-arbitre": {"match": {"keyed": {"key": "number"}}}}
    (cause,), f1q = analysed(gold, predicted, schema)
    assert (cause.kind, cause.paths, cause.detail) == ("ids-offset", ("/*/number",), {"offset": offset})
    assert cause.gain == pytest.approx(1.0 - f1q)


def test_a_shift_that_changes_the_matching_is_corrected_in_lists_of_equal_length():
    schema = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "year": INTEGER}}}

    def change(entries, rng):
        shifted("sender", 1)(entries, rng)
        return [{"name": one["sender"], "year": one["year"]} for one in entries]

    gold, predicted = corpus(change, documents=30)
    gold = [[{"name": one["sender"], "year": one["year"]} for one in entries] for entries in gold]
    causes, f1q = analysed(gold, predicted, schema)
    assert {cause.kind for cause in causes} == {"column-shifted"}
    assert causes[0].gain > 0.9 * (1.0 - f1q)


@pytest.mark.parametrize("key", ["year", "sender"])
def test_two_wrong_values_of_one_document_have_neither_an_offset_nor_a_shift(key):
    gold, predicted = corpus(lambda _, __: None, documents=1)
    predicted[0][1][key], predicted[0][2][key] = gold[0][0][key], gold[0][1][key]
    assert not analysed(gold, predicted)[0]
    predicted[0][1]["postage"], gold[0][1]["postage"] = 4.0, 4.1
    assert not analysed(gold, predicted)[0]
