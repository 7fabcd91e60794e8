"""What each cause costs each system of a ranking."""

import json
import math

import pytest

import arbitre
from arbitre.comparison.cause import Cause, CauseAnalysis
from arbitre.systems.cause_costs import CauseCosts

NAMES = [f"Person {number} of {number * 7} Street" for number in range(12)]
NOTES = arbitre.Comparator(
    {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "note": {"type": "string"}}},
    }
)


def cause(kind, cost, paths=("/a",)):
    return Cause(kind, "prediction", paths, 5, cost, cost, None, ())


def analysis(*causes):
    return CauseAnalysis(causes, 10, 10, 1.0 - sum(one.cost for one in causes), 1.0)


def test_causes_are_aligned_by_kind_and_systematic_ones_also_by_path():
    costs = CauseCosts.of(
        {
            "old": analysis(cause("date-format", 0.06), cause("near", 0.05), cause("date-format", 0.01, ("/b",))),
            "new": analysis(cause("near", 0.02, ("/other",))),
        }
    )
    assert [(row.kind, row.path, dict(row.costs)) for row in costs.rows] == [
        ("date-format", "/a", {"old": 0.06, "new": 0.0}),
        ("near", None, {"old": 0.05, "new": 0.02}),
        ("date-format", "/b", {"old": 0.01, "new": 0.0}),
    ]
    (difference,) = costs.differences
    assert (difference.better, difference.worse) == ("new", "old")
    assert list(difference.shares) == ["date-format", "near"]
    assert math.fsum(difference.shares.values()) == pytest.approx(difference.difference)
    assert str(difference) == "new - old: +0.10, of which date-format +0.07, near +0.03"
    assert CauseCosts.from_dict(json.loads(json.dumps(costs.to_dict()))) == costs


def test_equal_systems_have_no_difference():
    assert CauseCosts.of({"a": analysis(cause("near", 0.1)), "b": analysis(cause("near", 0.1))}).differences == ()


def test_a_ranking_has_the_costs_of_the_causes_of_its_systems(tmp_path):
    def system(wrong):
        return NOTES.evaluate(
            (f"d{at}", [{"name": name, "note": "x"}], [{"name": name, "note": "x" if at >= wrong else "other"}])
            for at, name in enumerate(NAMES)
        )

    systems = {"good": system(0), "bad": system(8)}
    assert arbitre.rank(systems).causes is None  # the documents of an iterator are gone
    pairs = {
        name: [(f"d{at}", [{"name": who}], [{"name": who if at >= wrong else "?"}]) for at, who in enumerate(NAMES)]
        for name, wrong in (("good", 0), ("bad", 8))
    }
    ranking = arbitre.rank({name: NOTES.evaluate(those) for name, those in pairs.items()}, out=tmp_path / "out")
    assert ranking.causes.f1q["good"] == 1.0
    assert math.fsum(row.costs["bad"] for row in ranking.causes.rows) == pytest.approx(1.0 - ranking.causes.f1q["bad"])
    assert arbitre.load(tmp_path / "out").causes == ranking.causes
    assert (tmp_path / "out" / "causes.csv").read_text(encoding="utf-8").startswith("cause,")
    quiet = {name: NOTES.evaluate(those, no_diagnose=True) for name, those in pairs.items()}
    assert arbitre.rank(quiet).causes is None
