"""Lists matched by transport in the report: entries split over rows, and the plan beside the matrix."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.unit.test_report_view import errors, observed
from tests.worst_documents import keeping

import arbitre
from arbitre import bundled
from arbitre.parsing.fast_json import json_text
from arbitre.report.build_view import build_subject
from arbitre.report.quality_matrix import shares_of
from arbitre.report.render import render_page
from arbitre.report.report_files import view_of

pytestmark = pytest.mark.slow

SENATE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"
SPEAKERS = "/listes_des_intervenants"


def words(match):
    return {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": {"transport": match}}}


WEIGHED = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "words": {"type": "integer"}}},
    "x-arbitre": {"match": {"transport": {"masses": "words"}}},
}
SPLIT = (
    [{"name": "Arnoult", "words": 3}, {"name": "Crewe", "words": 1}],
    [{"name": "Arnoult", "words": 2}, {"name": "Crewe", "words": 2}],
)
"""Half of what the first entry has beyond that of its partner goes to the second."""


def document(schema, gold, predicted):
    (found,) = observed(schema, [("d", gold, predicted)])[1]["kept"]
    return found


def parts(found):
    return [
        (row["gold_index"], row["predicted_index"], row["status"], row["mass"], row["masses"]) for row in found["rows"]
    ]


def test_a_split_entry_has_a_row_for_each_partner():
    found = document(WEIGHED, *SPLIT)
    assert parts(found) == [
        ("0", "0", "matched", pytest.approx(1.0), pytest.approx([1.5, 1.0])),
        ("0", "1", "matched", pytest.approx(0.5), pytest.approx([1.5, 1.0])),
        ("1", "1", "matched", pytest.approx(0.5), pytest.approx([0.5, 1.0])),
    ]
    assert found["matrix"]["plan"] == {
        "cells": [[0, 0, 1.0], [0, 1, 0.5], [1, 1, 0.5]],
        "gold": [[1.5, 0.0], [0.5, 0.0]],
        "predicted": [[1.0, 0.0], [1.0, 0.0]],
    }
    assert np.array(found["matrix"]["quality"]).shape == (2, 2)
    assert (found["entries"], found["faint"]) == (3, 0)


def test_unmatched_mass_has_a_row_after_the_partners():
    found = document(words({"solver": "partial", "mass": 0.75}), ["ab", "cd"], ["ab", "zz"])
    status = [row["status"] for row in found["rows"]]
    assert sorted(status) == ["matched", "matched", "missing", "spurious"]
    assert (status[0], status[-1]) == ("matched", "spurious")
    plan = found["matrix"]["plan"]
    assert plan["cells"][0] == [0, 0, 1.0]
    assert sum(mass for *_, mass in plan["cells"]) == pytest.approx(1.5)
    assert plan["gold"] == [[1.0, 0.0], [1.0, 0.5]]
    assert plan["predicted"] == [[1.0, 0.0], [1.0, 0.5]]


def test_a_pair_without_mass_has_its_quality():
    found = document(words({"solver": "dummy", "lambda": 0.25}), ["ab", "cd"], ["ab", "zz"])
    assert found["matrix"]["quality"] == [[1.0, 0.3333], [0.3333, 0.3333]]
    assert found["matrix"]["plan"]["cells"] == [[0, 0, 1.0]]


def test_negligible_parts_are_omitted_and_counted():
    found = document(words({"solver": "sinkhorn"}), ["aaaa", "bbbb"], ["aaaa", "bbbb"])
    assert [(row["gold_index"], row["predicted_index"]) for row in found["rows"]] == [("0", "0"), ("1", "1")]
    assert (found["entries"], found["faint"]) == (2, 2)
    assert found["matrix"]["plan"]["cells"] == [[0, 0, 1.0], [1, 1, 1.0]]


@pytest.mark.slow
def test_every_entry_has_a_row_even_if_all_parts_are_negligible():
    size = 120
    found = document(words({"solver": "sinkhorn", "epsilon": 50.0}), ["a"] * size, ["a"] * size)
    assert {row["gold_index"] for row in found["rows"]} == {str(number) for number in range(size)}
    assert {row["predicted_index"] for row in found["rows"]} == {str(number) for number in range(size)}
    assert found["entries"] + found["faint"] == size * size
    assert found["matrix"] is None


def test_a_one_to_one_matching_has_unit_masses_and_no_plan():
    found = document({"type": "array", "items": {"type": "string"}}, ["ink", "quill"], ["quilt"])
    assert [(row["mass"], row["masses"]) for row in found["rows"]] == [(1.0, [1.0, None]), (1.0, [1.0, 1.0])]
    assert found["matrix"]["plan"] is None


def test_items_of_a_split_entry_show_their_share():
    inner = {"type": "object", "properties": {"name": {"type": "string"}, "words": WEIGHED}}
    found = document(
        {"type": "array", "items": inner}, [{"name": "x", "words": SPLIT[0]}], [{"name": "x", "words": SPLIT[1]}]
    )
    items = found["rows"][0]["entry"]["below"][1]["below"]
    assert [(one["name"], one.get("to"), one.get("mass")) for one in items] == [
        (0, None, None),
        (0, 1, pytest.approx(0.5)),
        (1, None, pytest.approx(0.5)),
    ]
    assert found["matrix"]["plan"] is None


def test_the_worst_pairs_are_weighted_by_mass():
    alignments = observed(words({"solver": "sinkhorn"}), [("d", ["aaaa", "bbbc"], ["aaaa", "bbbb"])])[1]
    first = alignments["worst"]["/*"][0]
    assert (first["gold"], first["predicted"]) == ("bbbc", "bbbb")
    assert first.keys() == {"document", "entry", "gold", "predicted", "quality"}


@pytest.mark.parametrize(
    ("match", "forced", "said"),
    [
        ({}, True, "This matching distributes all mass, so no entry can be missing or spurious"),
        ({"solver": "partial", "mass": 0.5}, False, "Unmatched: 1 in gold (missing), 1 in the prediction (spurious)."),
    ],
    ids=["balanced", "partial"],
)
def test_the_result_in_words_speaks_of_mass(match, forced, said):
    made = build_subject(*observed(words(match), [("d", ["ab", "cd"], ["ab", "zz"])]))
    assert (made.moved, made.forced) == (True, forced)
    assert {line.name for line in made.headline if line.biased} == ({"precision", "recall", "f1"} if forced else set())
    text = render_page(view_of([made]))
    assert "One entry can match several others in part (optimal transport)." in text
    assert said in text.replace("<b>", "").replace("</b>", "")
    assert "No entry is missing" not in text


def test_views_with_a_plan_follow_the_schema():
    schemas = (WEIGHED, words({"solver": "unbalanced"}), words({"solver": "sinkhorn"}))
    pairs = ((SPLIT), (["ab", "cd"], ["ab", "zz"]), (["ab"], ["zz", "ab"]))
    for schema, (gold, predicted) in zip(schemas, pairs, strict=True):
        made = view_of([build_subject(*observed(schema, [("d", gold, predicted), ("e", gold, arbitre.ABSENT)]))])
        assert errors(made) == []


def test_the_shares_that_a_figure_marks_are_those_of_gold():
    (document,) = build_subject(*observed(WEIGHED, [("d", *SPLIT)])).explorer
    shares = shares_of(document["rows"], document["matrix"]["plan"])
    assert shares == {(0, 0): pytest.approx(2 / 3), (0, 1): pytest.approx(1 / 3), (1, 1): 1.0}


@pytest.mark.skipif(not SENATE.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize(
    ("match", "fed"),
    [({"masses": "size"}, 2), ({"solver": "unbalanced"}, 2), ({"solver": "partial", "mass": 0.8}, 0)],
)
def test_the_plan_of_a_page_is_that_of_its_alignment(match, fed):
    laid = json.loads(bundled.schemas().joinpath("examples", "senat-nested.overlay.json").read_text(encoding="utf-8"))
    laid[SPEAKERS] = {"match": {"transport": match}}
    judge = arbitre.Comparator(bundled.schema("examples/senat-nested.schema.json"), overlay=laid)
    gold, predicted = (
        json.loads(SENATE.joinpath("nested", f"{name}.json").read_text(encoding="utf-8"))
        for name in ("gold", "predicted_02_corpusense_boxes")
    )
    kept, evaluation = keeping(judge.plan, [("page_02", gold, predicted)])
    (found,) = kept.to_dict(evaluation, json_text(evaluation.to_dict()))["kept"]
    plan, expected = found["matrix"]["plan"], judge.compare(gold=gold, predicted=predicted).alignment(SPEAKERS).coupling
    table = np.zeros(expected.shape)
    for row, column, mass in plan["cells"]:
        table[row, column] = mass
    assert table == pytest.approx(expected.matrix, abs=5.1e-5)
    assert np.count_nonzero(table[:, 2]) == fed  # by both entries of the speaker whom gold has twice
    for number, side, spare in ((0, "gold", expected.unmatched_gold), (1, "predicted", expected.unmatched_predicted)):
        assert np.array(plan[side])[:, 0] == pytest.approx(expected.masses[number], abs=5.1e-5)
        assert np.array(plan[side])[:, 1] == pytest.approx(spare, abs=5.1e-5)
    quality = np.array(found["matrix"]["quality"])
    assert (table * quality).sum() == pytest.approx(evaluation.micro.quality_mass, abs=5e-3)
