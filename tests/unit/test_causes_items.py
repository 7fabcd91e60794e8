"""Causes in the items of lists: items on another level, repeated items, and truncated lists."""

from __future__ import annotations

import copy
import random

import pytest

from arbitre import Comparator

pytestmark = pytest.mark.slow

WORK = {"title": {"type": "string"}, "year": {"type": "integer"}}
AUTHOR = {
    "name": {"type": "string"},
    "birth": {"type": "object", "properties": {"place": {"type": "string"}, "year": {"type": "integer"}}},
    "works": {"type": "array", "items": {"type": "object", "properties": WORK}},
    "pages": {"type": "array", "items": {"type": "integer"}},
}
AUTHORS = Comparator({"type": "array", "items": {"type": "object", "properties": AUTHOR}})
KINDS = {"promoted", "demoted", "duplicated", "truncated"}


def word(rng):
    return "".join(rng.choices("abcdefghilmnoprstu", k=9)).title()


def author(rng):
    works = [{"title": f"{word(rng)} {word(rng)}", "year": rng.randrange(1800, 1940)} for _ in range(rng.randint(1, 5))]
    birth = {"place": word(rng), "year": rng.randrange(1700, 1900)}
    return {"name": word(rng), "birth": birth, "works": works, "pages": rng.sample(range(1, 900), rng.randint(3, 8))}


def corpus(change, size=12, seed=0):
    """Documents, some of which are changed, as triples."""
    rng = random.Random(seed)  # noqa: S311
    triples = []
    for number in range(size):
        gold = [author(rng) for _ in range(rng.randint(4, 8))]
        predicted = copy.deepcopy(gold)
        if number % 3 or size < 3:
            change(predicted, rng)
        triples.append((f"d{number:02}", gold, predicted))
    return triples


def promote(people, rng):
    for person in rng.sample(people, 2):
        people += person.pop("works")


def write_rows(people, _):
    """Each author is repeated for each work."""
    people[:] = [
        {key: value for key, value in person.items() if key != "works"} | work
        for person in people
        for work in person["works"]
    ]


def promote_object(people, rng):
    for person in rng.sample(people, 2):
        person["works"][0]["birth"] = person.pop("birth")


def demote(people, rng):
    for _ in range(2):
        moved = people.pop(rng.randrange(1, len(people)))
        people[0]["works"].append(moved)


def demote_with_works(people, _):
    """An author becomes a work of the author before, and the works of both follow each other."""
    for at in (3, 1):
        inner = people.pop(at)
        works = inner.pop("works")
        people[at - 1]["works"] += [inner, *works]


def repeat(people, rng):
    people.insert(0, copy.deepcopy(rng.choice(people)))


def repeat_nearly(people, rng):
    again = copy.deepcopy(rng.choice(people))
    again["birth"]["year"] += 7
    people.append(again)


def repeat_pages(people, rng):
    for person in people:
        person["pages"].append(rng.choice(person["pages"]))


def truncate(people, rng):
    del people[-rng.randint(1, 2) :]


def truncate_pages(people, _):
    for person in people:
        del person["pages"][-2:]


@pytest.mark.parametrize(
    ("change", "kind", "path", "where"),
    [
        (promote, "promoted", "/*/works/*", "belong at /*/works/*; predictions have them at /*."),
        (
            write_rows,
            "promoted",
            "/*/works/*",
            "each item of /* only once, with its list at /*/works: predictions repeat it",
        ),
        (promote_object, "demoted", "/*/birth", "belong at /*/birth; predictions have them at /*/works/*/birth."),
        (demote, "demoted", "/*", "belong at /*; predictions have them at /*/works/*."),
        (demote_with_works, "demoted", "/*", "belong at /*; predictions have them at /*/works/*."),
        (repeat, "duplicated", "/*", "each item of the list"),
        (repeat_nearly, "duplicated", "/*", "each item of the list"),
        (repeat_pages, "duplicated", "/*/pages/*", "each item of /*/pages once"),
        (truncate, "truncated", "/*", "the last items of the list"),
        (truncate_pages, "truncated", "/*/pages/*", "the last items of /*/pages are"),
    ],
)
def test_a_systematic_change_of_items_is_one_cause_that_repairs_everything(change, kind, path, where):
    evaluation = AUTHORS.evaluate(corpus(change), diagnose=True)
    cause = evaluation.causes[0]
    assert (cause.kind, cause.side, cause.paths, cause.change) == (kind, "prediction", (path,), None)
    assert cause.gain == pytest.approx(1.0 - evaluation.micro.f1q, abs=0.005)
    assert where in cause.advice
    assert not [one.kind for one in evaluation.causes[1:] if one.systematic]


def test_rows_that_differ_from_the_inner_list_are_not_joined():
    def with_other_works(people, rng):
        write_rows(people, rng)
        for row in people:
            row |= {"title": word(rng), "year": rng.randrange(1, 99)}

    causes = AUTHORS.evaluate(corpus(with_other_works), diagnose=True).causes
    assert "promoted" not in [one.kind for one in causes]


def test_objects_and_lists_that_are_empty_after_a_move_are_no_faults():
    comparator = Comparator({"type": "object", "properties": {"year": {"type": "integer"}, "authors": AUTHORS.schema}})
    triples = [
        (name, {"year": at, "authors": gold}, {"year": at, "data": {"authors": gold}})
        for at, (name, gold, _) in enumerate(corpus(truncate))
    ]
    evaluation = comparator.evaluate(triples, diagnose=True)
    (cause,) = evaluation.causes
    assert (cause.kind, cause.paths) == ("demoted", ("/authors/*",))
    assert cause.cost == pytest.approx(1.0 - evaluation.micro.f1q)


def misread(people, rng):
    for person in people:
        person["name"] = word(rng)


def shout(people, _):
    for person in people:
        person["name"] = person["name"].upper()


@pytest.mark.parametrize(("change", "other"), [(misread, "unrelated"), (shout, "case")])
def test_the_missing_items_of_truncated_lists_belong_to_no_other_cause(change, other):
    def both(people, rng):
        change(people, rng)
        truncate(people, rng)

    triples = corpus(both)
    evaluation = AUTHORS.evaluate(triples, diagnose=True)
    counts = {cause.kind: cause.count for cause in evaluation.causes}
    missing = sum(len(gold) - len(predicted) for _, gold, predicted in triples)
    assert counts.keys() == {"truncated", other}
    assert counts["truncated"] == missing
    assert sum(cause.cost for cause in evaluation.causes) == pytest.approx(1.0 - evaluation.micro.f1q)
    assert (evaluation.cause_analysis.f1q_after == pytest.approx(1.0)) == (other == "case")


def test_one_document_is_enough_for_a_hint():
    evaluation = AUTHORS.evaluate(corpus(promote, size=1), diagnose=True)
    assert [cause.kind for cause in evaluation.causes] == ["promoted"]
    assert evaluation.causes[0].gain == pytest.approx(1.0 - evaluation.micro.f1q)


def move_to_another_entry(people, rng):
    source, target = rng.sample(people, 2)
    target["works"].append(source["works"].pop())


def test_objects_in_other_entries_are_no_systematic_cause():
    evaluation = AUTHORS.evaluate(corpus(move_to_another_entry), diagnose=True)
    assert [(cause.kind, cause.systematic) for cause in evaluation.causes] == [("moved-object", False)]


def drop_any(people, rng):
    people[:] = [person for person in people if rng.random() > 0.3]
    for person in people:
        person["pages"] = [page for page in person["pages"] if rng.random() > 0.3]


def invent(people, rng):
    people += [author(rng) for _ in range(2)]
    for person in people:
        person["pages"].append(rng.randrange(1, 900))


def small_pages(people, rng):
    for person in people:
        person["pages"] = [rng.randrange(1, 5) for _ in range(4)]


@pytest.mark.parametrize("change", [drop_any, invent, small_pages])
@pytest.mark.parametrize("seed", range(3))
def test_missing_and_invented_items_are_no_systematic_cause(change, seed):
    evaluation = AUTHORS.evaluate(corpus(change, seed=seed), diagnose=True)
    assert not [cause.kind for cause in evaluation.causes if cause.kind in KINDS]


def test_repeated_items_below_a_position_are_found():
    place = {"type": "array", "prefixItems": [{"type": "string"}, AUTHORS.schema]}
    triples = [
        (number, ["page", gold], ["page", predicted])
        for number, gold, predicted in corpus(lambda people, _: people.append(copy.deepcopy(people[0])))
    ]
    (cause,) = Comparator(place).evaluate(triples).causes
    assert (cause.kind, cause.paths) == ("duplicated", ("/1/*",))
