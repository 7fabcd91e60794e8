"""Planted faults: each does what it says to the entries that are struck, and to no other."""

from __future__ import annotations

import json

import pytest

from arbitre import ArbitreError, Comparator
from arbitre.diagnosis.planted_faults import FAULTS, plant_faults, score_faults

LISTS = [
    [{"name": f"speaker number {number}", "pages": [number, 10 + number]} for number in range(10)],
    [{"name": "the only one", "pages": [1]}],
    [],
]
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
    },
}


@pytest.fixture(scope="module")
def found():
    return plant_faults(LISTS, share=0.2, seed=3)


def struck(found):
    """The positions of the first list that are left out."""
    return [at for at, entry in enumerate(LISTS[0]) if entry not in found["omission"][0]]


def test_every_fault_changes_the_same_entries(found):
    at = struck(found)
    assert len(at) == 2
    assert at[1] - at[0] >= 2
    doubled = [entry for entry in LISTS[0] if found["duplicate"][0].count(entry) == 2]
    assert doubled == [LISTS[0][one] for one in at]
    noisy = [
        number for number, (one, other) in enumerate(zip(LISTS[0], found["noise"][0], strict=True)) if one != other
    ]
    assert noisy == at


def test_no_fault_is_planted_under_none_or_into_short_lists(found):
    assert found["none"] == LISTS
    assert list(found) == ["none", *FAULTS]
    for lists in found.values():
        assert lists[1:] == LISTS[1:]


def test_a_merge_keeps_the_first_and_the_lists_of_both(found):
    first = struck(found)[0]
    entries = found["merge"][0]
    assert len(entries) == 8
    assert entries[first] == {
        "name": LISTS[0][first]["name"],
        "pages": LISTS[0][first]["pages"] + LISTS[0][first + 1]["pages"],
    }


def test_a_swap_exchanges_one_value_with_the_neighbour(found):
    first = struck(found)[0]
    pair, swapped = LISTS[0][first : first + 2], found["swap"][0][first : first + 2]
    keys = [key for key in ("name", "pages") if pair[0][key] != swapped[0][key]]
    assert len(keys) == 1
    assert [one[keys[0]] for one in swapped] == [one[keys[0]] for one in reversed(pair)]
    same = [{"name": "Ada"}, {"name": "Ada"}]
    assert plant_faults([same])["swap"] == [same]


def test_noise_replaces_letters_alone(found):
    at = struck(found)[0]
    one, other = LISTS[0][at], found["noise"][0][at]
    assert other["pages"] == one["pages"]
    assert len(other["name"]) == len(one["name"])
    assert [char for char in other["name"] if not char.isalpha()] == [
        char for char in one["name"] if not char.isalpha()
    ]


def test_the_seed_determines_the_faults():
    assert plant_faults(LISTS, seed=1) == plant_faults(LISTS, seed=1)
    assert plant_faults(LISTS, seed=1)["omission"] != plant_faults(LISTS, seed=2)["omission"]


def test_planting_faults_does_not_change_gold(found):
    before = json.dumps(LISTS)
    plant_faults(LISTS, seed=5)
    assert json.dumps(LISTS) == before
    assert found["none"][0] is not LISTS[0]


@pytest.mark.parametrize("share", [0.0, -0.1, 0.6, float("nan")])
def test_an_invalid_share_is_refused(share):
    with pytest.raises(ArbitreError, match=r"Expected `share` to be above 0 and at most 0\.5"):
        plant_faults(LISTS, share=share)


def test_one_to_one_scores_distinguish_omissions_from_duplicates(found):
    scores = score_faults(Comparator(SCHEMA).plan, LISTS, found)
    assert {name: (one.gold, one.predicted) for name, one in scores.items()} == {
        "none": (11, 11),
        "omission": (11, 9),
        "duplicate": (11, 13),
        "merge": (11, 9),
        "swap": (11, 11),
        "noise": (11, 11),
    }
    assert scores["none"].f1q == 1.0
    assert (scores["omission"].imq, scores["omission"].irq) == (1.0, pytest.approx(9 / 11))
    assert (scores["duplicate"].imq, scores["duplicate"].irq) == (pytest.approx(11 / 13), 1.0)
    assert scores["merge"].imq < 1.0
    assert scores["swap"].imq == scores["swap"].irq < 1.0
    assert scores["noise"].imq == scores["noise"].irq < 1.0
