"""Properties of verdicts, faults, costs and repair gains in documents with splits, merges and moved values."""

import math
import random

import pytest
from hypothesis import HealthCheck, given, settings
from tests.oracle.strategies import cases

from arbitre import Comparator
from arbitre.diagnosis.taxonomy import FAULTS

NEAR = 1e-9
slow = settings(deadline=None, suppress_health_check=list(HealthCheck))
PERSON = {
    "name": {"type": "string"},
    "born": {"type": "integer"},
    "pages": {"type": "array", "items": {"type": "integer"}},
}
GATED = {"match": {"hungarian": {"gate": 0.5}}}
PEOPLE = Comparator({"type": "array", "items": {"type": "object", "properties": PERSON}, "x-arbitre": GATED})


def people(rng, size=8):
    return [
        {
            "name": "".join(rng.choices("abcdefghij", k=9)),
            "born": rng.randrange(1800, 1900),
            "pages": rng.sample(range(1, 2000), rng.randrange(4, 9)),
        }
        for _ in range(size)
    ]


def damaged(gold, rng):
    """A prediction with a merge, a split, moved pages, missing and spurious entries, and a wrong value."""
    merged = {**gold[0], "pages": [*gold[0]["pages"], *gold[1]["pages"]]}
    merged["name"] = f"{gold[0]['name']} {gold[1]['name']}"
    half = len(gold[2]["pages"]) // 2
    split = [{**gold[2], "pages": gold[2]["pages"][:half]}, {**gold[2], "pages": gold[2]["pages"][half:]}]
    giver = {**gold[3], "pages": gold[3]["pages"][2:]}
    taker = {**gold[4], "pages": [*gold[4]["pages"], *gold[3]["pages"][:2]]}
    wrong = {**gold[5], "born": 1900 + rng.randrange(50)}
    return [merged, *split, giver, taker, wrong, *people(rng, 1)]


def lawful(comparison):
    diagnosis, by_path = comparison.diagnosis, comparison.by_path()
    for path, sides in diagnosis.verdicts.items():
        for side, counts in sides.items():
            assert math.fsum(counts.values()) == pytest.approx(getattr(by_path[path], side), abs=NEAR)
    f1q = comparison.scores.f1q
    assert math.fsum(fault.cost for fault in diagnosis.faults) == pytest.approx(0.0 if f1q is None else 1 - f1q)
    assert diagnosis.repair_gain.keys() == set(FAULTS)
    present = {fault.fault for fault in diagnosis.faults}
    assert not any(gain for name, gain in diagnosis.repair_gain.items() if name not in present)
    return present


@slow
@given(case=cases() | cases(ties=False))
def test_verdicts_add_up_to_the_tallies_and_costs_to_the_lost_f1q(case):
    schema, gold, predicted = case
    lawful(Comparator(schema).compare(gold=gold, predicted=predicted))


@pytest.mark.parametrize("seed", range(10))
def test_the_laws_hold_with_splits_merges_and_moved_values(seed):
    rng = random.Random(seed)  # noqa: S311
    gold = people(rng)
    comparison = PEOPLE.compare(gold=gold, predicted=damaged(gold, rng))
    present = lawful(comparison)
    assert {"merged", "split", "moved", "missing", "spurious"} <= present
    diagnosis = comparison.diagnosis
    items = diagnosis.verdicts["/*"]
    assert (items["gold"]["merged"], items["predicted"]["merged"]) == (2.0, 1.0)
    assert (items["gold"]["split"], items["predicted"]["split"]) == (1.0, 2.0)
    assert items["gold"]["missing"] == 2.0
    pages = diagnosis.verdicts["/*/pages/*"]
    assert pages["gold"]["moved"] == pages["predicted"]["moved"] >= 2.0  # those of merged and split items as well
    by_class = {name: [fault for fault in diagnosis.faults if fault.fault == name] for name in present}
    (merged,) = by_class["merged"]
    assert (merged.gold, merged.predicted_pointer) == (gold[1], "/0")
    assert [fault.gold for fault in by_class["split"]] == [gold[2]]
    assert sorted(fault.gold for fault in by_class["moved"]) == sorted(gold[3]["pages"][:2])
    assert all(fault.predicted == fault.gold for fault in by_class["moved"])
    assert all(fault.predicted_pointer.startswith("/4/pages/") for fault in by_class["moved"])
    assert all(diagnosis.repair_gain[name] > 0.0 for name in ("merged", "split", "moved", "missing", "spurious"))


@pytest.mark.parametrize("seed", range(10))
def test_gold_in_any_order_has_no_faults(seed):
    rng = random.Random(seed)  # noqa: S311
    gold = people(rng)
    shuffled = rng.sample(gold, len(gold))
    for predicted in (gold, shuffled):
        diagnosis = PEOPLE.compare(gold=gold, predicted=predicted).diagnosis
        assert diagnosis.faults == ()
        assert set(diagnosis.verdicts["/*"]["gold"]) == {"matched"}
        assert not any(diagnosis.repair_gain.values())


@pytest.mark.parametrize("seed", range(5))
def test_the_repair_of_a_single_pair_gains_its_cost(seed):
    rng = random.Random(seed)  # noqa: S311
    gold = people(rng)
    predicted = [dict(person) for person in gold]
    predicted[3]["born"] += 1
    comparison = PEOPLE.compare(gold=gold, predicted=predicted)
    (fault,) = comparison.diagnosis.faults
    assert comparison.diagnosis.repair_gain["wrong" if fault.fault == "wrong" else "close"] == pytest.approx(fault.cost)
    assert comparison.diagnosis.repair_gain_by_path == {"/*/born": pytest.approx(fault.cost)}
