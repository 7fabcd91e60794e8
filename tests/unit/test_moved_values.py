"""Moved values: which are reported, and how many are expected by chance."""

from __future__ import annotations

import copy
import random

import pytest

import arbitre
from arbitre import Comparator, Diagnosis, Moved
from arbitre.diagnosis.moved import MovedResults
from arbitre.engine import compare_to_levels

PERSON = {
    "type": "object",
    "properties": {
        "first": {"type": "string"},
        "last": {"type": "string"},
        "present": {"type": "boolean"},
        "pages": {"type": "array", "items": {"type": "integer"}},
    },
}
PEOPLE = Comparator({"type": "array", "items": PERSON})
GOLD = [
    {"first": "Marie", "last": "Curie", "present": True, "pages": [3, 117, 1204]},
    {"first": "Irène", "last": "Joliot", "present": False, "pages": [8, 3421]},
    {"first": "Henri", "last": "Becquerel", "present": True, "pages": [54, 872, 990]},
    {"first": "Pierre", "last": "Langevin", "present": False, "pages": [7]},
]


def moved(gold, predicted, comparator=PEOPLE):
    return comparator.compare(gold=gold, predicted=predicted).diagnosis.moved


def edited(change, gold=GOLD):
    predicted = copy.deepcopy(gold)
    change(predicted)
    return predicted


def test_undamaged_documents_have_no_moved_values():
    assert moved(GOLD, copy.deepcopy(GOLD)) == ()
    assert moved(GOLD, GOLD[::-1]) == ()


def test_a_value_in_another_entry_is_one_moved_value():
    predicted = edited(lambda people: people[2]["pages"].append(people[1]["pages"].pop(1)))
    assert moved(GOLD, predicted) == (Moved("/*/pages/*", 3421, "/1/pages/1", "/2/pages/3"),)


def test_swapped_values_are_two_moved_values():
    def swap(people):
        people[0]["last"], people[3]["last"] = people[3]["last"], people[0]["last"]

    assert moved(GOLD, edited(swap)) == (
        Moved("/*/last", "Curie", "/0/last", "/3/last"),
        Moved("/*/last", "Langevin", "/3/last", "/0/last"),
    )


def test_a_nearly_equal_value_in_another_entry_is_moved():
    def move(people):
        people[0]["last"], people[3]["last"] = "Langevim", "Curie"

    values = moved(GOLD, edited(move))
    assert {(value.value, value.target) for value in values} == {("Langevin", "/0/last"), ("Curie", "/3/last")}


def test_a_value_in_a_sibling_field_is_moved():
    def swap(people):
        people[2]["first"], people[2]["last"] = people[2]["last"], people[2]["first"]

    assert moved(GOLD, edited(swap)) == (
        Moved("/*/first", "Henri", "/2/first", "/2/last"),
        Moved("/*/last", "Becquerel", "/2/last", "/2/first"),
    )


def test_a_sibling_field_is_compared_with_the_distance_of_the_gold_field():
    def move(person):
        person["last"], person["first"] = None, "BECQUEREL"

    plain = {"type": "object", "properties": {"first": {"type": "string"}, "last": {"type": "string"}}}
    folded = copy.deepcopy(plain)
    folded["properties"]["last"]["x-arbitre"] = {"normalize": ["casefold"]}
    gold = {"first": "Henri", "last": "Becquerel"}
    assert moved(gold, edited(move, gold), Comparator(plain)) == ()
    assert [value.target for value in moved(gold, edited(move, gold), Comparator(folded))] == ["/first"]


def test_a_small_number_in_another_entry_may_be_chance():
    predicted = edited(lambda people: people[1]["pages"].append(people[3]["pages"].pop()))
    assert moved(GOLD, predicted) == ()


def test_several_small_numbers_that_moved_together_are_evidence():
    gold = [
        {"last": name, "pages": pages}
        for name, pages in [("Curie", [4, 5, 6, 7, 9]), ("Joliot", [30]), ("Perrin", [41])]
    ]

    def move(people):
        people[1]["pages"] += people[0]["pages"][1:]
        del people[0]["pages"][1:]

    values = moved(gold, edited(move, gold))
    assert [(value.value, value.target.split("/")[1]) for value in values] == [(value, "1") for value in (5, 6, 7, 9)]


@pytest.mark.parametrize("predicted_counts", [(2, 3, 1), (7, 8, 9)])
@pytest.mark.parametrize("match", ["hungarian", {"keyed": {"key": "count"}}])
def test_a_value_does_not_move_from_its_own_index_to_itself(match, predicted_counts):
    """Only the counts are wrong, but they may decide which rows are matched."""
    texts = [
        "The deputy asks for the floor on the budget of the navy",
        "The minister answers that the credits are voted already",
        "The chamber adjourns the discussion to the next session",
    ]
    properties = {"text": {"type": "string"}, "count": {"type": "integer"}}
    rows = {"type": "array", "items": {"type": "object", "properties": properties}, "x-arbitre": {"match": match}}
    gold, predicted = (
        [{"text": text, "count": count} for text, count in zip(texts, counts, strict=True)]
        for counts in ((1, 2, 3), predicted_counts)
    )
    assert moved(gold, predicted, Comparator(rows)) == ()


def test_wrong_booleans_are_not_moved():
    def flip(people):
        for person in people:
            person["present"] = not person["present"]

    assert moved(GOLD, edited(flip)) == ()


def test_an_undeclared_key_is_not_a_sibling_field():
    def rename(people):
        people[0]["surname"] = people[0].pop("last")

    assert moved(GOLD, edited(rename)) == ()


def test_values_moved_below_transport_are_left_out():
    comparator = Comparator({"type": "array", "items": PERSON}, match="transport")
    predicted = edited(lambda people: people[2]["pages"].append(people[1]["pages"].pop(1)))
    assert moved(GOLD, predicted, comparator) == ()


def test_a_custom_distance_is_not_called_again_for_moved_values():
    calls = []

    def same(gold, predicted):
        calls.append((gold, predicted))
        return float(gold != predicted)

    schema = copy.deepcopy(PERSON)
    schema["properties"]["last"]["x-arbitre"] = {"distance": "same"}
    comparator = Comparator({"type": "array", "items": schema}, distances={"same": same})

    def swap(people):
        people[0]["last"], people[3]["last"] = people[3]["last"], people[0]["last"]

    levels = compare_to_levels(comparator.plan, [GOLD], [edited(swap)])
    calls.clear()
    values = MovedResults.of(comparator.plan, levels, 1).values[0]
    assert [value.value for value in values] == ["Curie", "Langevin"]
    assert calls == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 20, 60])
def test_random_faults_are_rarely_reported_as_moved(size):
    """Wrong page numbers and misread names of independent entries, as in a poor transcription."""
    reported = wrong = 0
    for seed in range(10):
        draw = random.Random(seed)  # noqa: S311
        gold = [
            {"last": "".join(draw.choices("abcdefghilmnoprstu", k=8)), "pages": draw.sample(range(1, 1500), 4)}
            for _ in range(size)
        ]
        predicted = copy.deepcopy(gold)
        for person in predicted:
            for at in range(4):
                if draw.random() < 0.3:
                    person["pages"][at] = draw.randrange(1, 1500)
                    wrong += 1
            if draw.random() < 0.3:
                person["last"] = "".join(draw.choices("abcdefghilmnoprstu", k=8))
                wrong += 1
        reported += len(moved(gold, predicted))
    assert reported <= 0.01 * wrong


def roles_of(corpus, **options):
    comparator = Comparator({"type": "array", "items": {"properties": {key: {"type": "string"} for key in ("n", "r")}}})
    table = comparator.evaluate(corpus, diagnose=True, **options).faults()
    return sorted(zip(*(list(table[name]) for name in ("id", "gold_pointer", "fault")), strict=True))


def a_corpus(roles, others):
    """A document with two swapped roles, and 20 correct ones."""
    names = ["Aurelie Vauquelin", "Bertrand Chomsky", "Celestine Oudinot", "Dieudonne Martin"]
    gold = [{"n": name, "r": role} for name, role in zip(names, [*roles, "x1", "x2"], strict=True)]
    predicted = [dict(row) for row in gold]
    predicted[0]["r"], predicted[1]["r"] = gold[1]["r"], gold[0]["r"]
    others = [(f"d{at}", *[[{"n": name, "r": role} for name in names]] * 2) for at, role in enumerate(others)]
    return [("swapped", gold, predicted), *others]


def test_a_value_that_is_common_in_the_corpus_is_not_moved():
    rare = a_corpus(("deputy", "senator"), ["mayor"] * 20)
    common = a_corpus(("deputy", "senator"), ["deputy", "senator"] * 10)
    assert {fault for *_, fault in roles_of(rare)} == {"moved"}
    assert {fault for *_, fault in roles_of(common)} == {"wrong"}
    alone = {fault for *_, fault in roles_of(common[:1])}
    assert alone == {"moved"}  # the own document is not evidence for chance


def test_moved_values_do_not_depend_on_the_order_of_the_documents(monkeypatch):
    monkeypatch.setattr("arbitre.jobs.evaluation_job.MAX_COUNTED", 5)
    corpus = [
        (f"{at}{identity}", gold, predicted)
        for at, roles in enumerate([("deputy", "senator"), ("mayor", "clerk"), ("bishop", "deputy")])
        for identity, gold, predicted in a_corpus(roles, ["deputy", "clerk", "senator", "senator"])
    ]
    assert roles_of(corpus) == roles_of(corpus[::-1])
    assert len({fault for *_, fault in roles_of(corpus)}) == 2


def test_values_of_two_fields_that_are_equal_by_chance_are_not_moved():
    comparator = Comparator(
        {"type": "array", "items": {"properties": {key: {"type": "string"} for key in ("id", "from", "to")}}}
    )
    towns = ["Bordeaux", "Marseille", "Toulouse", "Strasbourg", "Besançon", "Perpignan"]
    gold = [{"id": f"trip-{at}{at}{at}", "from": town, "to": f"{at}{at}{at} km"} for at, town in enumerate(towns)]
    predicted = [{"id": row["id"], "from": "?", "to": towns[at * 5 % 6]} for at, row in enumerate(gold)]
    assert comparator.compare(gold=gold, predicted=predicted).diagnosis.moved == ()
    exchanged = [{"id": "trip-000", "from": "Metz la Ville", "to": "Bordeaux"}]
    reverse = [{"id": "trip-000", "from": "Bordeaux", "to": "Metz la Ville"}]
    assert len(comparator.compare(gold=exchanged, predicted=reverse).diagnosis.moved) == 2


TEXTS = [
    "The cat sat on the mat in the hall",
    "A storm broke over the old harbour",
    "Three ships left the port at dawn",
]
COUNTED = {"type": "object", "properties": {"count": {"type": "integer"}, "text": {"type": "string"}}}
ROWS = [{"count": at, "text": text} for at, text in enumerate(TEXTS, 1)]


@pytest.mark.parametrize("match", ["hungarian", {"keyed": {"key": "count"}}])
@pytest.mark.parametrize("step", [1, -1])
def test_a_count_that_decides_against_equal_texts_is_a_doubtful_alignment(match, step):
    comparator = Comparator({"type": "array", "items": COUNTED, "x-arbitre": {"match": match}})
    predicted = [row | {"count": row["count"] % 3 + 1} for row in ROWS][::step]
    diagnosis = comparator.compare(gold=ROWS, predicted=predicted).diagnosis
    assert diagnosis.moved == ()
    assert [(one.gold, one.alternative) for one in diagnosis.doubtful] == [
        (f"/{at}", f"/{at if step == 1 else 2 - at}") for at in range(3)
    ]
    assert {(one.path, one.decided_by, one.texts) for one in diagnosis.doubtful} == {
        ("/*", ("/*/count",), ("/*/text",))
    }
    assert Diagnosis.from_dict(diagnosis.to_dict()).doubtful == diagnosis.doubtful


def test_a_key_without_partner_is_a_doubtful_alignment_if_another_item_has_its_text():
    keyed = Comparator({"type": "array", "items": COUNTED, "x-arbitre": {"match": {"keyed": {"key": "count"}}}})
    diagnosis = keyed.compare(gold=ROWS[:1], predicted=[{"count": 11, "text": TEXTS[0]}]).diagnosis
    assert [(one.predicted, one.alternative, one.decided_by) for one in diagnosis.doubtful] == [(None, "/0", ())]
    names = Comparator({"type": "array", "items": {"properties": {"name": {"type": "string"}, "role": {}}}})
    gold = [{"name": "Aurelie Vauquelin", "role": "deputy"}, {"name": "Bertrand Chomsky", "role": "senator"}]
    swapped = [gold[0] | {"role": "senator"}, gold[1] | {"role": "deputy"}]
    diagnosis = names.compare(gold=gold, predicted=swapped).diagnosis
    assert (diagnosis.doubtful, len(diagnosis.moved)) == ((), 2)


def test_doubtful_alignments_of_a_corpus_are_listed_with_their_documents(tmp_path):
    comparator = Comparator({"type": "array", "items": COUNTED})
    corpus = []
    for name in ("page_1", "page_2"):
        gold = [row | {"text": f"{row['text']}, {name * 2}"} for row in ROWS]
        corpus.append((name, gold, [row | {"count": row["count"] % 3 + 1} for row in gold]))
    evaluation = comparator.evaluate(corpus, diagnose=True, out=tmp_path / "out")
    diagnosis = evaluation.diagnosis
    assert (diagnosis.doubtful_count, [one.id for one in diagnosis.doubtful]) == (6, ["page_1"] * 3 + ["page_2"] * 3)
    assert evaluation.notes[0].startswith("6 alignments are doubtful. In page_1, gold item /0 is matched with /2")
    assert arbitre.load(tmp_path / "out").diagnosis == diagnosis
    assert "Doubtful alignments (6)" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_very_long_texts_can_move():
    long = "".join(chr(97 + (at * 7) % 26) for at in range(2000))
    schema = {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}}
    gold = [{"text": long}, {"text": long[::-1]}]
    comparison = Comparator(schema).compare(
        gold=gold, predicted=[{"text": "a"}, {"text": "b", "other": [{"text": long}]}]
    )
    assert comparison.diagnosis.faults
