"""Causes in the types of values: lists for values, values for lists, and lists that are written as one text."""

import json
import random

import pytest
from tests.letters import analysed

from arbitre.causes.changes import jmespath_key, replacement, with_projected
from arbitre.inputs.projection import Projection
from arbitre.paths import parse
from arbitre.values import ABSENT

pytestmark = pytest.mark.slow

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
PERSON = {"type": "object", "properties": {"name": TEXT, "born": {"type": "integer"}}}
ENTRY = {
    "type": "object",
    "properties": {
        "title": TEXT,
        "price": NUMBER,
        "lent": FLAG,
        "author": PERSON,
        "the pages": {"type": "array", "items": {"type": "integer"}},
        "tags": {"type": "array", "items": TEXT},
        "people": {"type": "array", "items": PERSON},
        "subjects": TEXT,
    },
}
BOOKS = {"type": "object", "properties": {"books": {"type": "array", "items": ENTRY}}}
TAGS = ["finance", "education", "navy", "posts", "railways", "justice", "health", "colonies", "pensions", "customs"]


def person(rng):
    return {"name": f"Name {rng.randrange(10**6)}", "born": rng.randrange(1800, 1900)}


def book(rng):
    return {
        "title": f"Title {rng.randrange(10**6)}",
        "price": rng.randrange(100, 90000) / 4,
        "lent": rng.random() < 0.5,
        "author": person(rng),
        "the pages": rng.sample(range(1, 999), rng.randint(1, 3)),
        "tags": rng.sample(TAGS, rng.randint(1, 3)),
        "people": [person(rng) for _ in range(rng.randint(1, 2))],
        "subjects": "; ".join(rng.sample(TAGS, 3)),
    }


def corpus(change, documents=12):
    """Gold documents, and predictions in which `change(value, rng)` replaces the values of a key."""
    rng = random.Random(0)  # noqa: S311
    key, new = change
    gold = [{"books": [book(rng) for _ in range(3)]} for _ in range(documents)]
    predicted = [{"books": [one | {key: new(one[key], rng)} for one in document["books"]]} for document in gold]
    return gold, predicted


def projected(cause, documents):
    """The documents after the projection that the advice names."""
    projection = Projection.from_expressions(json.loads(cause.advice[cause.advice.index("{") :].removesuffix(".")))
    return [projection.predicted.apply(document) for document in documents]


def first_of(value):
    return value[0] if len(value) == 1 else value


@pytest.mark.parametrize(
    ("path", "new", "words"),
    [
        ("/books/*/title", lambda value, _: [value], "Ask for one value at"),
        ("/books/*/title", lambda value, _: [value, "another"], "Ask for only the first value at"),
        ("/books/*/title", lambda value, rng: [value] if rng.random() < 0.5 else value, "Ask for one value at"),
        ("/books/*/price", lambda value, _: [value], "Ask for one value at"),
        ("/books/*/lent", lambda value, _: [value], "Ask for one value at"),
        ("/books/*/author", lambda value, _: [value], "Ask for one value at"),
        ("/books/*/the pages", lambda value, _: first_of(value), "Ask for a list at"),
        ("/books/*/tags", lambda value, _: first_of(value), "Ask for a list at"),
        ("/books/*/people", lambda value, _: first_of(value), "Ask for a list at"),
    ],
)
def test_lists_and_values_are_corrected_by_the_projection_of_the_advice(path, new, words):
    gold, predicted = corpus((path.rpartition("/")[2], new))
    (cause,), f1q = analysed(gold, predicted, BOOKS)
    changed = sum(
        one != two for pair in zip(gold, predicted, strict=True) for one, two in zip(*map(entries, pair), strict=True)
    )
    assert (cause.kind, cause.side, cause.paths, cause.count) == ("list-or-value", "prediction", (path,), changed)
    assert cause.change is None
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert cause.advice.startswith(f"{words} {path}")
    assert projected(cause, predicted) == gold


def entries(document):
    return document["books"]


def test_the_other_items_of_a_list_that_was_reduced_to_its_first_are_not_truncated():
    gold, predicted = corpus(("the pages", lambda pages, rng: pages[0] if rng.random() < 0.4 else pages))
    (cause,), f1q = analysed(gold, predicted, BOOKS)
    assert (cause.kind, cause.gain) == ("list-or-value", pytest.approx(1.0 - f1q))


@pytest.mark.parametrize("key", ["tags", "the pages"])
@pytest.mark.parametrize(
    ("write", "words"),
    [
        ("; ".join, 'separated by "; "'),
        (", ".join, 'separated by ", "'),
        (" and ".join, 'separated by " and "'),
        ("-".join, 'separated by "-"'),
        ("\n".join, r'separated by "\n"'),
        (json.dumps, "as JSON in a text"),
    ],
)
def test_a_list_that_is_written_as_one_text_is_split(key, write, words):
    gold, predicted = corpus((key, lambda value, _: write(list(map(str, value)))))
    (cause,), f1q = analysed(gold, predicted, BOOKS)
    assert (cause.kind, cause.paths, cause.count) == ("serialised-list", (f"/books/*/{key}",), 36)
    assert words in cause.advice
    assert cause.gain == pytest.approx(1.0 - f1q)


@pytest.mark.parametrize("mark", ["-", "–", " - "])
def test_a_range_of_integers_is_a_list_with_all_integers_between(mark):
    gold, _ = corpus(("the pages", lambda value, _: value))
    for number, book in enumerate(book for one in gold for book in one["books"]):
        book["the pages"] = list(range(7 * number, 7 * number + 2 + number % 5))
    predicted = [
        {
            "books": [
                book | {"the pages": f"{book['the pages'][0]}{mark}{book['the pages'][-1]}"} for book in one["books"]
            ]
        }
        for one in gold
    ]
    (cause,), f1q = analysed(gold, predicted, BOOKS)
    assert (cause.kind, cause.count, cause.gain) == ("serialised-list", 36, pytest.approx(1.0 - f1q))
    assert cause.advice.endswith("predictions write it as one text with ranges, such as 12-15.")


def test_a_range_can_be_an_item_of_a_list_that_is_written_as_one_text():
    gold, _ = corpus(("the pages", lambda value, _: value))
    for number, book in enumerate(book for one in gold for book in one["books"]):
        book["the pages"] = [9 * number, *range(9 * number + 2, 9 * number + 6)]
    predicted = [
        {"books": [book | {"the pages": "{0}, {1}-{4}".format(*book["the pages"])} for book in one["books"]]}
        for one in gold
    ]
    (cause,), f1q = analysed(gold, predicted, BOOKS)
    assert (cause.kind, cause.count, cause.gain) == ("serialised-list", 36, pytest.approx(1.0 - f1q))


def test_a_text_that_is_written_as_a_list_is_joined_by_the_projection_of_the_advice():
    gold, predicted = corpus(("subjects", lambda value, _: value.split("; ")))
    (cause,), f1q = analysed(gold, predicted, BOOKS)
    assert (cause.kind, cause.paths, cause.count) == ("serialised-list", ("/books/*/subjects",), 36)
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert projected(cause, predicted) == gold


@pytest.mark.parametrize(
    ("key", "new"),
    [
        ("title", lambda _, rng: [f"Title {rng.randrange(10**6)}"]),
        ("lent", lambda _, rng: [rng.random() < 0.5]),
        ("tags", lambda _, rng: ", ".join(rng.sample(TAGS, 2))),
        ("tags", lambda _, rng: rng.choice(TAGS)),
        ("the pages", lambda _, rng: f"{rng.randrange(999)}-{rng.randrange(999)}"),
        ("title", lambda value, rng: [value] if rng.random() < 0.05 else value),
    ],
)
def test_unrelated_values_and_few_values_of_another_type_are_no_cause(key, new):
    gold, predicted = corpus((key, new))
    assert not any(cause.kind in {"list-or-value", "serialised-list"} for cause in analysed(gold, predicted, BOOKS)[0])


def test_the_advice_names_no_projection_where_none_can_reach_the_values():
    schema = {"type": "object", "additionalProperties": PERSON}
    gold = [
        {f"p{document}{at}": {"name": f"Name {document} {at}", "born": 1800} for at in range(3)}
        for document in range(6)
    ]
    predicted = [{key: one | {"name": [one["name"]]} for key, one in document.items()} for document in gold]
    (cause,), _ = analysed(gold, predicted, schema)
    assert (cause.kind, cause.advice) == ("list-or-value", "Ask for one value at /*/name, not a list.")


def test_a_replacement_copies_what_it_changes_and_leaves_values_that_have_changed():
    document = {"people": [{"name": "Ada"}, {"name": "Bo"}], "year": 1900}
    change = replacement(
        {
            0: {
                "/people/1/name": ("Bo", "Bob"),
                "/people/0/name": ("Eve", "Eva"),
                "/year": (1900, ABSENT),
                "/place": (ABSENT, "Pau"),
            }
        }
    )
    changed = change.correct(0, document)
    assert changed == {"people": [{"name": "Ada"}, {"name": "Bob"}], "place": "Pau"}
    assert changed["people"][0] is document["people"][0]
    assert document == {"people": [{"name": "Ada"}, {"name": "Bo"}], "year": 1900}
    assert change.correct(0, [1]) == [1]


def test_an_expression_quotes_keys_and_keeps_missing_objects():
    expression = with_projected(parse("/the people/*/name/first"), lambda old: f"to_array({old})[0]")
    projection = Projection.from_expressions({"predicted": expression})
    document = {"the people": [{"name": {"first": ["Ada"], "last": "L"}}, {"name": None}], "year": 1}
    corrected = {"the people": [{"name": {"first": "Ada", "last": "L"}}, {"name": None}], "year": 1}
    assert projection.predicted.apply(document) == corrected
    assert jmespath_key("a-b") == '"a-b"'
