"""Declared properties of custom distances are checked on data."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre import Comparator, Facts
from arbitre.cli import app
from arbitre.distances import catalogue
from arbitre.metricity.claims import MAX_VALUES

TEXTS = {"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "judge"}}}
WORDS = ["", "a", "ab", "abc", "b"]


def by_claim(function, facts, gold=WORDS, predicted=(), **options):
    own = catalogue.with_distance("judge", function, facts)
    checks = Comparator(TEXTS, distances=own).check_claims(gold=[gold], predicted=predicted, **options)
    assert {(check.path, check.distance) for check in checks} <= {("/*", "judge")}
    return {check.claim: check for check in checks}


def length(gold, predicted):
    return abs(len(gold) - len(predicted)) / 10


def test_nothing_claimed_is_nothing_to_check():
    assert by_claim(length, None) == {}


def test_claims_that_hold_have_no_violations():
    checks = by_claim(length, Facts.only("identity", "symmetric", "triangle"))
    assert {claim: (check.checked, check.violations) for claim, check in checks.items()} == {
        "identity": (5, 0),
        "symmetric": (10, 0),
        "triangle": (60, 0),
    }
    assert all(check.holds and check.witness is None for check in checks.values())


@pytest.mark.parametrize(
    ("function", "claim", "violations", "witness", "largest"),
    [
        (lambda a, b: 0.25 if a == b == "ab" else length(a, b), "identity", 1, ("ab",), 0.25),
        (lambda a, b: 0.5 if (a, b) == ("ab", "b") else 0.1, "symmetric", 1, ("ab", "b"), 0.4),
        (length, "separating", 1, ("a", "b"), 1.0),
        (lambda a, b: length(a, b) ** 2, "triangle", 10, ("", "ab", "abc"), None),
    ],
)
def test_a_claim_that_does_not_hold_is_counted_and_shown(function, claim, violations, witness, largest):
    check = by_claim(function, Facts())[claim]
    assert not check.holds
    if claim == "triangle":
        x, y, z = check.witness
        assert function(x, z) > function(x, y) + function(y, z)
        assert check.largest == pytest.approx(function(x, z) - function(x, y) - function(y, z))
    else:
        assert (check.violations, check.witness, check.largest) == (violations, witness, pytest.approx(largest))


def test_claims_are_checked_with_calls_that_they_would_spare():
    asked = []

    def judge(gold, predicted):
        asked.append((gold, predicted))
        return 0.0

    by_claim(judge, Facts.only("identity", "symmetric"), gold=["a", "b"], predicted=[["b", "c"]])
    assert sorted(asked) == [(x, y) for x in "abc" for y in "abc"]


def test_many_values_are_sampled_by_the_seed():
    words = [str(number) for number in range(200)]
    first, again, other = (
        by_claim(lambda a, b: 0.0 if a < b else 0.5, Facts.only("symmetric"), words, seed=seed)["symmetric"]
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert first.values == MAX_VALUES
    assert by_claim(length, Facts.only("identity"), words, sample=7)["identity"].values == 7


def test_a_floor_does_not_hide_the_distance():
    floored = {"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "judge", "floor": 0.99}}}
    made = Comparator(floored, distances=catalogue.with_distance("judge", length, Facts.only("separating")))
    (check,) = made.check_claims(gold=[["a", "b"]])
    assert check.violations == 1


def test_the_command_reports_what_does_not_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "claiming", raising=False)
    Path("claiming.py").write_text(
        "from arbitre import Facts\nfrom arbitre.distances import catalogue\n"
        "own = catalogue.with_distance('judge', lambda a, b: abs(len(a) - len(b)) / 10, Facts())\n",
        encoding="utf-8",
    )
    for name, value in {"schema": TEXTS, "gold": ["a", "b"], "predicted": ["ab"]}.items():
        Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    call = ["metricity", "gold.json", "predicted.json", "--schema", "schema.json", "--functions", "claiming:own"]
    plain = json.loads(CliRunner().invoke(app, [*call, "--format", "json"]).stdout)
    assert {check["claim"]: check["violations"] for check in plain["claims"]} == {
        "identity": 0,
        "symmetric": 0,
        "separating": 1,
        "triangle": 0,
    }
    text = " ".join(CliRunner().invoke(app, call).output.split())
    assert "Claims about custom distances" in text
    assert '/* judge separating 3 1 1 "a", "b"' in text
