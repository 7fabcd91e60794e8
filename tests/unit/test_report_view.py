"""The data of the report: computed from the results, and valid against its schema."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator
from tests.worst_documents import keeping

import arbitre
from arbitre import bundled
from arbitre.parsing.fast_json import json_text
from arbitre.report.build_view import build_factors, build_subject, build_systems
from arbitre.report.report_files import view_of
from arbitre.report.view import (
    FactorLevel,
    FactorPathRow,
    FactorView,
    IntervalView,
    LeaderboardRow,
    PairwiseTest,
    SystemsView,
    TrustView,
    View,
)
from arbitre.systems.factors import factor
from arbitre.tally import COUNTS, NAMES

SCHEMA = bundled.schema("view.schema.json")
PEOPLE = {
    "title": "People",
    "type": "object",
    "properties": {
        "page": {"type": "integer"},
        "people": {
            "x-arbitre": {"entries": True},
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "pages": {"type": "array", "items": {"type": "integer"}},
                },
            },
        },
    },
}
ADA = {"name": "Ada", "pages": [1, 2]}
BOB = {"name": "Bob", "pages": [3]}
PAIRS = [
    ("one", {"page": 1, "people": [ADA, BOB]}, {"page": 2, "people": [BOB, {"name": "Ida", "pages": [1]}]}),
    ("two", {"page": 3, "people": [ADA]}, {"page": 3, "people": [ADA, {"name": "Zed"}]}),
    ("three", {"people": [ADA]}, arbitre.ABSENT),
]


def observed(schema, pairs, *, trust=None, **options):
    """What is written of an evaluation: evaluation.json and alignments.json, as they are read."""
    plan = arbitre.Comparator(schema).plan
    kept, evaluation = keeping(plan, pairs, **options)
    text = json_text(evaluation.to_dict())
    return json.loads(text), json.loads(json.dumps(kept.to_dict(evaluation, text, trust)))


def errors(view):
    plain = json.loads(json.dumps(view.to_dict(), allow_nan=False))
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(SCHEMA).iter_errors(plain)]


def view(**options):
    return view_of([build_subject(*observed(PEOPLE, PAIRS), **options)])


def test_the_view_schema_is_a_valid_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize(
    ("schema", "pairs"),
    [
        (PEOPLE, PAIRS),
        (PEOPLE, []),
        (PEOPLE, [("a", {}, {}), ("b", {"people": []}, {"people": []})]),
        (PEOPLE, [("a", {"people": [ADA, ADA]}, {"people": "Ada"}), ("b", [ADA], {"people": [ADA]})]),
        ({"type": "array", "items": {"type": "string"}}, [("a", ["x", "y"], ["y"])]),
        ({"type": "string"}, [("a", "x", "y"), ("b", "x", 1)]),
        ({}, [("a", [1, {"b": None}], [True, "x"]), ("b", {"*": [[1], 2**70]}, {"a/b": [[1]]})]),
        ({"additionalProperties": {"type": "number"}}, [("a", {"x": 1, "y": 2}, {"x": 2, "z": 1})]),
        ({"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": {"hungarian": {"gate": 0.9}}}},
         [("a", ["quill", "ink"], ["quilt", "ink"])]),
    ],
    ids=["people", "nothing", "vacuous", "kinds", "texts", "root", "untyped", "map", "gate"],
)  # fmt: skip
def test_views_follow_their_schema(schema, pairs):
    made = view_of([build_subject(*observed(schema, pairs))])
    assert errors(made) == []
    evaluation, _ = observed(schema, pairs)
    assert errors(view_of([build_subject(evaluation)])) == []


def test_the_view_holds_the_numbers_of_the_evaluation():
    evaluation, alignments = observed(PEOPLE, PAIRS)
    made = build_subject(evaluation, alignments)
    assert {line.name: line.micro for line in made.headline} == {
        name: evaluation["micro"][name] for name in [line.name for line in made.headline]
    }
    assert {line.name: line.macro for line in made.headline}["f1q"] == evaluation["macro"]["f1q"]
    assert {row.path: row.scores for row in made.paths} == {
        path: {name: scores[name] for name in (*COUNTS, *NAMES)} for path, scores in evaluation["by_path"].items()
    }
    assert made.counts == {name: evaluation["micro"][name] for name in ("gold", "predicted", "matched", "quality_mass")}
    assert (made.documents, made.failed) == (3, 1)


def test_the_three_independent_scores_come_first_and_counts_are_biased_under_a_forced_matching():
    made = view().subjects[0]
    assert [line.name for line in made.headline[:3]] == ["precision", "recall", "amq"]
    assert {line.kind for line in made.headline[:3]} == {"independent"}
    assert {line.name for line in made.headline if line.biased} == {"precision", "recall", "f1"}
    gated = PEOPLE | {"properties": {"people": PEOPLE["properties"]["people"] | {
        "x-arbitre": {"match": {"hungarian": {"gate": 0.5}}}}}}  # fmt: skip
    assert not any(line.biased for line in build_subject(*observed(gated, PAIRS)).headline)


@pytest.mark.parametrize(
    ("match", "forced"),
    [
        ("hungarian", True),
        ({"hungarian": {"gate": 0.5}}, False),
        ("greedy", True),
        ("ordered", True),
        ("sequence", False),
        ("set", False),
        ({"keyed": {"key": "name"}}, False),
    ],
    ids=str,
)
def test_only_forced_matchings_are_marked_as_forced(match, forced):
    items = PEOPLE["properties"]["people"]["items"]
    schema = {"type": "array", "items": items, "x-arbitre": {"match": match}}
    assert build_subject(*observed(schema, [("a", [ADA], [ADA])])).forced is forced


def test_the_curve_counts_pairs_by_quality():
    curve = build_subject(*observed({"type": "array", "items": {"type": "string"}}, [
        ("a", ["ink", "quill", "paper"], ["ink", "quilt"])
    ])).curve  # fmt: skip
    (low, first), (high, second) = curve.steps
    assert (first, high, second) == (2.0, 1.0, 1.0)
    assert low == pytest.approx(9 / 11)
    assert (sum(curve.bins), curve.bins[9], curve.bins[8]) == (2.0, 1.0, 1.0)
    assert (curve.gold, curve.predicted) == (3.0, 2.0)


def test_paths_are_nested_with_their_worst_pairs():
    rows = {row.path: row for row in view().subjects[0].paths}
    assert [(row.label, row.depth) for row in rows.values()] == [
        ("/page", 0),
        ("/people/*", 0),
        ("/name", 1),
        ("/pages/*", 1),
    ]
    outcomes = rows["/people/*"].outcomes
    assert (outcomes["missing"], outcomes["spurious"]) == (1.0, 1.0)
    worst = rows["/people/*/name"].worst[0]
    assert (worst["document"], worst["entry"], worst["gold"], worst["predicted"]) == ("one", "0", "Ada", "Ida")
    assert rows["/page"].worst == [
        {"document": "one", "entry": None, "gold": 1, "predicted": 2, "quality": 0.0}
    ]  # fmt: skip


def test_warnings_name_unknown_quantities():
    assert list(view().subjects[0].warnings) == ["failed", "few", "no_interval", "no_chance", "no_agreement"]
    evaluation, _ = observed(PEOPLE, PAIRS)
    assert "no_alignments" in build_subject(evaluation).warnings


def filled():
    """A view with every optional part, made by hand."""
    interval = IntervalView(0.4, 0.6, 0.95, "percentile")
    trust = TrustView(
        {"f1q": interval, "amq": interval},
        {"f1q": 0.1},
        chance_error=0.0125,
    )
    one = build_subject(*observed(PEOPLE, PAIRS, trust=trust), name="careful")
    gold = [["2 annotators (a, b)", "alpha_d 0.930 on 9 documents"], ["single annotator, provenance unknown"]]
    one = replace(one, published={"imq": 0.9, "gold": 4.0}, provenance=gold)
    two = replace(one, name="hasty")
    systems = SystemsView(
        "f1q",
        [LeaderboardRow("careful", 0.5, interval, (0, 1)), LeaderboardRow("hasty", None, None, (1,))],
        [
            PairwiseTest("careful", "hasty", 0.1, -0.1, 0.3, 0.25, 0.5, 0.25, 3),
            PairwiseTest("a", "b", *[None] * 5, 1.0, 3),
        ],
        build_systems([one, two]).differing,
    )
    return View("0.1.0", [one, two], systems, [made_factor()])


def made_factor():
    """A factor with every optional part, made by hand; one level has no name, and no interval."""
    return FactorView(
        "ocr",
        "f1q",
        "macro",
        [FactorLevel("", 1, 0.25), FactorLevel("good", 2, 0.5, IntervalView(0.4, 0.6, 0.95, "bca"))],
        [PairwiseTest("", "good", -0.25, -0.5, 0.1, 0.5, 0.5, 0.5, 1)],
        balanced=False,
        notes=["Fewer than 10 documents (2): the interval is probably too narrow."],
        paths=[FactorPathRow("/*", "/*", 0, [0.3, None]), FactorPathRow("/*/name", "/name", 1, [0.2, 0.6])],
    )


def test_optional_parts_follow_the_schema():
    made = filled()
    assert errors(made) == []
    lines = {line["name"]: line for line in made.to_dict()["subjects"][0]["headline"]}
    assert (lines["f1q"]["chance"], lines["f1q"]["interval"]["low"], lines["imq"]["interval"]) == (0.1, 0.4, None)
    assert made.to_dict()["subjects"][0]["chance_error"] == 0.0125
    assert list(made.subjects[0].warnings) == ["failed", "few", "no_agreement"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": "arbitre-view/2"}, "$.format"),
        ({"extra": 1}, "$"),
        ({"subjects": []}, "$.subjects"),
        ({"systems": {}}, "$.systems"),
        ({"factors": None}, "$.factors"),
    ],
)
def test_the_view_schema_refuses_wrong_values(change, place):
    plain = json.loads(json.dumps(view().to_dict())) | change
    found = [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(plain)]
    assert found == [place]


def test_several_systems_are_ranked_and_their_differences_listed():
    better = [(name, gold, gold) for name, gold, _ in PAIRS]
    subjects = [
        build_subject(*observed(PEOPLE, PAIRS), name="worse"),
        build_subject(*observed(PEOPLE, better), name="better"),
    ]
    found = build_systems(subjects)
    assert [(one.name, one.score) for one in found.board] == [("better", 1.0), ("worse", subjects[0].headline[3].macro)]
    assert [one.key for one in found.differing] == ["three", "two", "one"]
    assert found.differing[0].scores == [1.0, 0.0]
    assert found.tests is None


def test_factors_equal_those_of_their_file():
    evaluation = arbitre.Comparator(PEOPLE).evaluate((f"{at % 2}", *pair[1:]) for at, pair in enumerate(PAIRS))
    plain = factor(evaluation, "ocr", {"ocr": ["x", "y", "x"]}, "irq").to_dict()
    (made,) = build_factors({"factors": [json.loads(json.dumps(plain))]})
    levels = {one.name: (one.documents, one.score) for one in made.levels}
    assert levels == {name: (plain["documents"][name], one["estimate"]) for name, one in plain["levels"].items()}
    assert (made.score, made.average, made.balanced, made.notes) == ("irq", "macro", False, list(plain["notes"]))
    assert (made.tests[0].a, made.tests[0].b, made.tests[0].shared) == ("x", "y", 0)
    assert made.tests[0].smallest_p is None
    assert {row.path: row.scores for row in made.paths} == {
        path: [scores["x"], scores["y"]] for path, scores in plain["by_path"].items()
    }
    assert [(row.label, row.depth) for row in made.paths][-2:] == [("/name", 1), ("/pages/*", 1)]
    assert errors(replace(view(), factors=[made])) == []
