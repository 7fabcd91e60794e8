"""Causes in wrong values that a rule turns into gold: another unit, and day and month swapped."""

from __future__ import annotations

import itertools
import random

import pytest
from tests.unit.test_causes_notations import AMOUNTS, DAY, NUMBER, TEXT, causes, changed, comparator

from arbitre import Comparator
from arbitre.causes.search import find_causes
from arbitre.inputs.records import Pair

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("factor", "shown"),
    [(1000, "wrong predictions are often 1000 times"), (1 / 12, "the gold value is often 12 times")],
)
def test_numbers_with_a_constant_factor_have_another_unit(factor, shown):
    (cause,) = causes(NUMBER, changed(AMOUNTS * 3 + [1.5 * one for one in AMOUNTS], lambda number: number * factor))
    assert (cause.kind, cause.change) == ("units", None)
    assert shown in cause.advice


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("units", lambda number: round(number / 1000, 5)),
        ("units", lambda number: number / 3.6),
        ("ids-offset", lambda number: round(number + 0.1, 2)),
    ],
)
def test_corrected_numbers_have_no_rounding_errors(kind, change):
    rng = random.Random(0)  # noqa: S311
    gold = [[{"id": at, "value": round(rng.uniform(1, 500), 2)} for at in range(5)] for _ in range(40)]
    made = [
        Pair(str(at), None, {"rows": rows}, {"rows": [row | {"value": change(row["value"])} for row in rows]})
        for at, rows in enumerate(gold)
    ]
    analysis = find_causes(comparator(NUMBER).plan, made)
    assert [(cause.kind, cause.count) for cause in analysis.causes] == [(kind, 200)]
    assert analysis.f1q_after == 1.0


@pytest.mark.parametrize("form", ["{:.2f} m", "{:.2f}m"])
def test_texts_with_another_unit_are_one_cause(form):
    heights = list(range(150, 199))
    (cause,) = causes(NUMBER, changed(heights, lambda height: form.format(height / 100)))
    assert (cause.kind, cause.change) == ("units", None)
    assert (
        cause.advice
        == "Ask for the unit used in gold; if a prediction is wrong, the gold value is often 100 times as large."
    )


NAMES = [
    f"{first} {last}" for first in ("Ada", "Léon", "Jean", "Zoé", "Marc") for last in ("Briand", "Barthou", "Héry")
]


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("M. {}", '"M. …"'),
        ("{} (1)", '"… (1)"'),
        ("{}¹", '"…¹"'),
        ("Nom : {}", '"Nom : …"'),
    ],
)
def test_a_constant_addition_is_one_cause_on_each_side(form, shown):
    (cause,) = causes(TEXT, changed(NAMES, form.format))
    assert (cause.kind, cause.change) == ("affix", None)
    assert cause.count > 35
    assert cause.detail == {"affixes": [form.split("{}")]}
    assert cause.advice.endswith(f"alone: predictions add text to it, as in {shown}.")
    (cause,) = causes(TEXT, ((long, short) for short, long in changed(NAMES, form.format)))
    assert cause.kind == "affix"
    assert cause.count > 35
    assert cause.advice.startswith("Ask for the full value of ")
    assert cause.advice.endswith(f"gold has additional text, as in {shown}.")


def test_several_titles_are_one_cause():
    titles = itertools.cycle(("M.", "Mme"))
    (cause,) = causes(TEXT, changed(NAMES, lambda name: f"{next(titles)} {name}"))
    assert (cause.kind, len(cause.detail["affixes"])) == ("affix", 2)


def test_different_additions_are_no_affix():
    rng = random.Random(0)  # noqa: S311
    for change in (lambda name: f"{name} {rng.randrange(1000)}", lambda name: f"{name}s"):
        assert "affix" not in [cause.kind for cause in causes(TEXT, changed(NAMES, change))]


@pytest.mark.parametrize(("own", "expected"), [(True, []), (False, ["affix"])])
def test_the_value_of_another_field_is_no_affix(own, expected):
    fields = {"name": {"type": "string"}, "first": {"type": "string"}}
    schema = {"type": "array", "items": {"type": "object", "properties": fields}}
    gold = [{"name": name, "first": ("Louis", "Paul")[number % 2]} for number, name in enumerate(NAMES)]
    added = itertools.cycle(("Louis", "Paul") if own else ("M.",))
    predicted = [one | {"name": f"{one['name']} {next(added)}"} for one in gold]
    documents = [(f"d{at}", gold[at::8], predicted[at::8]) for at in range(8)]
    found = Comparator(schema).evaluate(documents, diagnose=True).causes
    assert [cause.kind for cause in found if cause.kind == "affix"] == expected


DAMAGE = {
    "once": lambda text: text.encode().decode("cp1252"),
    "twice": lambda text: text.encode().decode("cp1252").encode().decode("latin-1"),
    "replaced": lambda text: text.replace("é", "\ufffd"),
    "two bytes": lambda text: text.encode().decode("ascii", "replace"),
    "question mark": lambda text: text.encode("ascii", "replace").decode(),
}


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE)
def test_a_wrong_encoding_is_one_cause_on_each_side(change):
    names = [name for name in NAMES if "é" in name] * 2 + NAMES
    damaged = [(name, one) for name, one in itertools.islice(changed(names, change), 60) if name != one]
    rows = list(itertools.islice(itertools.cycle([*damaged, ("Ada Briand", "Ada Briand")]), 60))
    for side, word in (("prediction", "predictions have"), ("gold", "gold has")):
        (cause,) = causes(TEXT, rows if side == "prediction" else [pair[::-1] for pair in rows])
        assert (cause.kind, cause.side, cause.change) == ("encoding", side, None)
        assert cause.count > 25
        assert cause.advice.startswith(f"Read and write all texts as UTF-8; {word} ")
        assert cause.gain > 0.0


def test_unreadable_characters_are_no_wrong_encoding():
    draw = random.Random(1)  # noqa: S311

    def unreadable(name):
        at = draw.randrange(len(name))
        return f"{name[:at]}{draw.choice('?' + chr(0xFFFD))}{name[at + 1 :]}"

    assert "encoding" not in [cause.kind for cause in causes(TEXT, changed(NAMES, unreadable))]


def swapped(day):
    return "-".join((day[:4], day[8:], day[5:7]))


def random_days(first=1):
    draw = random.Random(5)  # noqa: S311
    return [f"{draw.randint(1890, 1930)}-{draw.randint(1, 12):02}-{draw.randint(first, 28):02}" for _ in range(60)]


@pytest.mark.parametrize("schema", [DAY, TEXT])
@pytest.mark.parametrize("valid", [True, False])
def test_day_and_month_swapped_is_a_cause_without_an_overlay(schema, valid):
    days = random_days()
    pairs = list(zip(*(next(changed(days, swapped, seed)) for seed in range(60)), strict=True))
    rows = [(gold, one if not valid or int(one[5:7]) <= 12 else gold) for gold, one in zip(*pairs, strict=True)]
    (cause,) = causes(schema, rows)
    assert (cause.kind, cause.side, cause.change) == ("day-month-swapped", "prediction", None)
    planted = sum(gold != one and one == swapped(gold) for gold, one in rows)
    assert cause.count == planted
    assert cause.gain > 0


def test_random_wrong_dates_are_not_swapped():
    days = random_days()
    draw = random.Random(6)  # noqa: S311
    found = causes(TEXT, ((day, draw.choice(days) if draw.random() < 0.7 else day) for day in days))
    assert [cause.kind for cause in found] == []


@pytest.mark.parametrize("text", ["1 3 2", "03/11/1918", "12.5.7"])
def test_the_order_of_numbers_is_not_a_notation(text):
    def turned(value):
        return " ".join(reversed(value.replace("/", " ").replace(".", " ").split()))

    values = [text, text.replace("1", "4"), text.replace("3", "8"), text.replace("2", "6")]
    assert "name-order" not in {cause.kind for cause in causes(TEXT, changed(values, turned))}
