"""The values that all systems give where gold has another one or none."""

import json
import random

import pytest

import arbitre
from arbitre.comparison.cause import CauseAnalysis
from arbitre.systems.cause_costs import AgreedValues, CauseCosts

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {
            "x-arbitre": {"entries": True},
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "born": {"type": "string"}, "town": {"type": "string"}},
            },
        }
    },
}
COMPARATOR = arbitre.Comparator(SCHEMA)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(chosen):
    return "".join(chosen.choices(LETTERS, k=9))


def corpus(seed, documents=30):
    """Return documents as they are written in the source: what a perfect system would extract."""
    chosen = random.Random(seed)  # noqa: S311
    return {
        f"d{at:02}": [
            {
                "name": word(chosen),
                "born": f"18{chosen.randint(10, 99)}-0{chosen.randint(1, 9)}-11",
                "town": word(chosen),
            }
            for _ in range(4)
        ]
        for at in range(documents)
    }


def copied(documents):
    return json.loads(json.dumps(documents))


def noisy(documents, seed, rate=0.15):
    """Return the documents of a system with errors of its own."""
    chosen, made = random.Random(seed), copied(documents)  # noqa: S311
    for people in made.values():
        for person in people:
            for name in person:
                if chosen.random() < rate:
                    person[name] = word(chosen)
    return made


def ranked(gold, **systems):
    evaluations = {
        name: COMPARATOR.evaluate([(key, {"people": gold[key]}, {"people": found[key]}) for key in gold])
        for name, found in systems.items()
    }
    return arbitre.rank(evaluations)


def with_errors(truth, seed, count):
    """Return gold with planted errors, and their places."""
    chosen, gold = random.Random(seed), copied(truth)  # noqa: S311
    places = chosen.sample([(key, at, name) for key in gold for at in range(4) for name in ("name", "town")], count)
    for key, at, name in places:
        gold[key][at][name] = word(chosen)
    return gold, {(key, f"/people/{at}/{name}") for key, at, name in places}


@pytest.mark.parametrize("systems", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_errors_of_gold_are_found_and_independent_errors_of_systems_are_not(seed, systems):
    truth = corpus(seed)
    gold, planted = with_errors(truth, seed + 50, 12)
    own = {f"s{at}": noisy(truth, 10 * seed + at, 0.1) for at in range(systems)}
    agreed = ranked(gold, **own).causes.agreed
    found = {(one.id, one.gold_pointer) for one in agreed.examples}
    assert found <= planted  # no false alarm
    reachable = {
        (key, pointer)
        for key, pointer in planted
        for at, name in [(int(pointer.split("/")[2]), pointer.split("/")[3])]
        if all(one[key][at][name] == truth[key][at][name] for one in own.values())
    }
    assert len(found) >= 0.8 * len(reachable)
    assert (agreed.count, agreed.documents) == (len(found), len({key for key, _ in found}))
    assert sum(agreed.paths.values()) == agreed.count
    assert set(agreed.paths) <= {"/people/*/name", "/people/*/town"}


def test_a_correct_gold_and_independent_errors_give_nothing():
    truth = corpus(7)
    agreed = ranked(truth, a=noisy(truth, 1), b=noisy(truth, 2)).causes.agreed
    assert (agreed.count, agreed.documents, agreed.examples) == (0, 0, ())


def test_a_notation_that_all_systems_use_does_not_count():
    truth = corpus(8)
    other = copied(truth)
    for people in other.values():
        for person in people:
            person["born"] = "/".join(reversed(person["born"].split("-")))
    gold = copied(truth)
    gold["d03"][1]["town"] = "elsewhere"
    ranking = ranked(gold, a=other, b=other)
    assert "date-format" in {row.kind for row in ranking.causes.rows}
    assert dict(ranking.causes.agreed.paths) == {"/people/*/town": 1}


def test_an_entry_that_gold_lacks_counts_and_an_omission_of_all_systems_does_not():
    truth = corpus(9)
    gold, found = copied(truth), copied(truth)
    gold["d05"].pop()
    found["d06"].pop(0)
    agreed = ranked(gold, a=found, b=found).causes.agreed
    (example,) = agreed.examples
    assert (example.id, example.gold_pointer, example.place) == ("d05", None, "/people/-")
    assert example.predicted == truth["d05"][3]


def test_the_values_are_in_the_json_of_a_ranking_and_its_table_says_so():
    truth = corpus(10)
    gold, _ = with_errors(truth, 60, 5)
    costs = ranked(gold, a=truth, b=truth).causes
    assert costs.agreed.count == 5
    assert str(costs.agreed) in "".join(costs.table().notes)
    plain = json.loads(json.dumps(costs.to_dict()))
    assert CauseCosts.from_dict(plain) == costs
    assert AgreedValues.from_dict(plain["agreed"]) == costs.agreed
    assert "agreed" not in CauseCosts.of({"a": CauseAnalysis()}).to_dict()
