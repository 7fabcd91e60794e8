"""Several runs of one model: the spread of their scores, and the documents on which they differ."""

from __future__ import annotations

import json
import math

import pytest
from tests.builders import PEOPLE

import arbitre
from arbitre.errors import DataError
from arbitre.systems.run_stability import Spread, run_stability

ADA, BO, OLD, OLDER = ({"name": name, "age": age} for name, age in (("Ada", 1), ("Bo", 2), ("Ada", 3), ("Ada", 4)))


def evaluation(*documents):
    """Documents with a gold of Ada, each with its runs."""
    return PEOPLE.evaluate((f"p{at}", [ADA], predicted) for at, runs in enumerate(documents) for predicted in runs)


def test_three_runs_have_their_mean_and_standard_deviation():
    found = run_stability(evaluation([[ADA], [OLD], []], [[ADA], [ADA], [ADA]]), "irq")
    assert found.runs == {"1": 1.0, "2": 0.75, "3": 0.5}
    assert found.overall == Spread(0.75, 0.25)  # the sum of the squares, 0.125, divided by 2
    assert found.paths["/*/name"] == Spread(pytest.approx(5 / 6), pytest.approx(math.sqrt(1 / 12)))
    assert (found.documents, found.changed, found.share_changed, found.left_out) == (2, 1, 0.5, 0)


def test_equal_runs_have_no_spread():
    found = run_stability(evaluation([[OLD], [OLD]], [[ADA], [ADA]]))
    assert (found.overall.sd, found.changed) == (0.0, 0)
    assert {one.sd for one in found.paths.values()} == {0.0}


def test_a_change_in_one_path_is_a_change():
    swapped = PEOPLE.evaluate([("p", [ADA], [{"name": "Ada", "age": 9}]), ("p", [ADA], [{"name": "Bo", "age": 1}])])
    found = run_stability(swapped)
    assert (found.overall.sd, found.changed) == (0.0, 1)
    assert found.paths["/*/age"].sd == pytest.approx(math.sqrt(0.5))


def test_different_answers_of_equal_quality_count_as_unchanged():
    assert run_stability(evaluation([[OLD], [OLDER]])).changed == 0


def test_a_failed_run_is_a_change_and_scores_zero():
    found = run_stability(evaluation([[], arbitre.ABSENT]), "imq")
    assert (found.runs, found.changed) == ({"1": None, "2": 0.0}, 1)
    assert found.overall == Spread(None, None)


def test_only_documents_with_every_run_count():
    found = run_stability(evaluation([[ADA], [ADA]], [[]]), "irq")
    assert (found.documents, found.left_out, found.overall.mean) == (1, 1, 1.0)


def test_micro_and_macro_spreads_differ():
    runs = PEOPLE.evaluate(
        [("p", [ADA], [ADA]), ("p", [ADA], [ADA]), ("q", [ADA, BO, OLD], []), ("q", [ADA, BO, OLD], [ADA])]
    )
    assert run_stability(runs, "irq").runs == {"1": 0.5, "2": pytest.approx(2 / 3)}
    assert run_stability(runs, "irq", aggregate="micro").runs == {"1": 0.25, "2": 0.5}


def test_fq_is_available_by_path():
    found = run_stability(evaluation([[ADA], [ADA, BO]]), "fq(2)")
    assert found.runs["2"] == pytest.approx(5 / 6)
    assert found.paths["/*/name"].mean == pytest.approx((1 + 5 / 6) / 2)


def test_the_result_is_plain_json():
    plain = run_stability(evaluation([[ADA], []])).to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["share_changed"] == 1.0


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([[[ADA]], [[ADA]]], "Expected several runs of the same documents, got 1"),
        ([], "Expected several runs of the same documents, got 0"),
    ],
)
def test_a_single_run_has_no_spread(documents, message):
    with pytest.raises(DataError, match=message):
        run_stability(evaluation(*documents))
