"""Two evaluations of one system: changes between them, in Python and on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.corpus.archive import RESULTS, write_archive
from arbitre.corpus.evaluate import evaluate
from arbitre.errors import DataError, OptionError
from arbitre.inputs.records import Pair
from arbitre.systems.diff import HEADLINES, ScoreChange

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string", "x-arbitre": {"distance": "exact"}}, "age": {"type": "integer"}},
    },
}
GOLD = [{"name": "Ada", "age": 36}, {"name": "Bo", "age": 5}]
HALF = [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 6}]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def written(name, predictions, *, archive=True, close=0.8, gold=None):
    """The results of an evaluation, by id."""
    plan = arbitre.Comparator(SCHEMA, close=close).plan
    folder = Path(name)
    folder.mkdir()
    pairs = [(one, (gold or {}).get(one, GOLD), predicted) for one, predicted in predictions.items()]
    evaluation = evaluate(plan, pairs)
    if archive:
        write_archive(folder / RESULTS, evaluation)
    path = folder / "evaluation.json"
    path.write_text(json.dumps(evaluation.to_dict()), encoding="utf-8")
    return path


def test_changes_are_listed_worst_first():
    before = written("before", {"a": GOLD, "b": GOLD, "c": HALF, "d": []})
    after = written("after", {"a": HALF, "b": [], "c": GOLD, "d": []})
    difference = arbitre.diff(before, after)
    assert [(change.name, change.difference) for change in difference.documents] == [
        ("b", -1.0),
        ("a", -0.5),
        ("c", 0.5),
    ]
    assert (difference.macro.before, difference.macro.after) == (0.625, 0.375)
    assert [change.name for change in difference.paths] == ["/*", "/*/age", "/*/name"]
    assert (difference.verdict, difference.worse) == ("no evidence of a change", False)
    assert (difference.only_before, difference.only_after, difference.settings) == ((), (), ())


def test_a_corpus_is_not_worse_than_itself():
    before = written("before", {"a": HALF, "b": GOLD})
    difference = arbitre.diff(before, before)
    assert not difference.worse
    assert (difference.documents, difference.paths) == ((), ())


def test_a_failed_document_is_named_and_does_not_turn_a_rise_into_worse():
    before = written("before", dict.fromkeys("abcdefghij", HALF))
    after = written("after", dict.fromkeys("abcdefghi", GOLD) | {"j": arbitre.ABSENT})
    difference = arbitre.diff(before, after, fail_if_worse=True)
    assert (difference.failed, difference.newly_failed) == ((0, 1), ("j",))
    assert (difference.verdict, difference.worse) == ("improved", False)
    assert "(only after: j)" in run(before, after, "--fail-if-worse").stdout


def test_the_scores_of_shared_documents_are_compared_with_the_test_of_rank():
    names = "abcdefghijkl"
    better = {name: GOLD if at % 4 else HALF for at, name in enumerate(names)}
    worse = {name: HALF if at % 3 else GOLD for at, name in enumerate(names)}
    before, after = (written(name, one) for name, one in (("before", better | {"x": []}), ("after", worse | {"y": []})))
    found = arbitre.diff(before, after)
    comparator = arbitre.Comparator(SCHEMA)
    systems = {
        name: comparator.evaluate((key, GOLD, predicted) for key, predicted in one.items())
        for name, one in (("before", better), ("after", worse))
    }
    tests = {aggregate: arbitre.rank(systems, "f1q", aggregate=aggregate).pairs[0] for aggregate in ("micro", "macro")}
    assert found.micro.before == systems["before"].micro.f1q
    assert found.micro.after == systems["after"].micro.f1q
    for change, test in ((found.micro, tests["micro"]), (found.macro, tests["macro"])):
        assert test.p <= change.p <= len(HEADLINES) * test.p
    assert (found.only_before, found.only_after) == (("x",), ("y",))
    assert "cover the documents that both evaluations have (12)" in "".join(found.notes)
    own = arbitre.diff(systems["before"], systems["after"])
    assert [own.micro.p, own.macro.p, own.document_quality.p] == [
        found.micro.p,
        found.macro.p,
        found.document_quality.p,
    ]


def test_a_path_is_tested_with_p_adjusted_for_all_differing_paths():
    older = [{"name": "Ada", "age": 37}, {"name": "Bo", "age": 5}]
    names = [f"d{at}" for at in range(10)]
    before = written("before", dict.fromkeys(names, GOLD))
    after = written("after", dict.fromkeys(names, older) | {"d0": HALF})
    paths = {change.name: change for change in arbitre.diff(before, after).paths}
    exact = 2 * 0.5**10
    assert (paths["/*/age"].p, paths["/*/age"].verdict) == (3 * exact, "worse")
    assert (paths["/*/name"].p, paths["/*/name"].verdict) == (1.0, "no evidence")


def test_a_failure_scores_zero_where_a_wrong_prediction_has_no_score():
    before, after = written("before", {"a": [], "b": GOLD}), written("after", {"a": arbitre.ABSENT, "b": GOLD})
    assert arbitre.diff(before, after, "imq").documents == (ScoreChange("a", None, 0.0),)


def test_evaluations_with_different_clusters_are_refused_in_both_orders():
    comparator = arbitre.Comparator(SCHEMA)
    plain = comparator.evaluate((f"v{at % 2}_{at}", GOLD, GOLD) for at in range(8))
    labelled = replace(plain, clusters=tuple(identity[:2] for identity in plain.document_table.ids))
    renamed = replace(plain, clusters=tuple(f"volume {label}" for label in labelled.clusters))
    for pair in ((plain, labelled), (labelled, plain)):
        with pytest.raises(DataError, match="Expected both evaluations to have the same clusters") as caught:
            arbitre.diff(*pair)
        assert "with the same --cluster-by" in str(caught.value)
    assert arbitre.diff(labelled, renamed).micro.p == 1.0
    with pytest.raises(DataError, match="Expected both systems to have the same clusters") as caught:
        arbitre.rank({"a": plain, "b": labelled})
    assert "failures" not in str(caught.value)


def test_a_document_with_an_undefined_score_on_one_side_is_neither_lower_nor_higher():
    before = written("before", {"x": [], "y": GOLD, "z": HALF}, gold={"x": []})
    after = written("after", {"x": HALF, "y": HALF, "z": GOLD}, gold={"x": []})
    for sides, score, order in (((before, after), (None, 0.0), "yxz"), ((after, before), (0.0, None), "zxy")):
        found = arbitre.diff(*sides)
        assert [change.name for change in found.documents] == list(order)
        assert found.documents[1] == ScoreChange("x", *score)
        assert found.documents[1].difference is found.to_dict()["documents"][1]["difference"] is None
        title = "Documents: 1 lower, 1 higher, 1 with an undefined score before or after"
        assert found.documents_table().title == title
        assert title in run(*sides).stdout
        french = " ".join(run(*sides, "--lang", "fr").stdout.split())
        assert "1 dont le score n’est pas défini avant ou après" in french


def test_a_score_that_becomes_undefined_falls_by_more_than_the_tolerance():
    before, after = written("before", {"a": GOLD}), written("after", {"a": []})
    with pytest.raises(arbitre.QualityBoundError, match=r"imq fell by 1\.0000, from 1\.0000 to 0\.0000"):
        arbitre.diff(before, after, "imq", fail_if_worse=True, tolerance=0.1)


def test_an_undefined_score_is_not_tested_and_neither_hides_nor_passes_a_regression():
    names = [f"d{at}" for at in range(6)]
    found, none = written("found", dict.fromkeys(names, GOLD)), written("none", {name: [] for name in names})
    lost = arbitre.diff(found, none, "imq")
    assert (lost.verdict, lost.worse, lost.document_quality.p) == ("worse", True, 2 / 2**6)
    assert [change.verdict for change in lost.headlines.values()] == [None, None, "worse"]
    assert lost.to_dict()["micro"]["verdict"] is lost.paths[0].verdict is None
    assert lost.notes == ("Scores of the whole corpus that are undefined before or after were not tested",)
    suite = ET.fromstring(lost.to_junit())  # noqa: S314
    assert [suite.get(name) for name in ("failures", "skipped")] == ["1", "2"]
    shown = run(found, none, "--score", "imq", "--fail-if-worse", code=1)
    assert shown.stdout.startswith("imq: worse\n")
    assert "fell by 1.0000, from 1.0000 to 0.0000 (p = 0.0312, Holm)" in shown.stderr
    assert "changed, not tested" in shown.stdout

    one, other = written("one", {"a": GOLD}), written("other", {"a": []})
    assert arbitre.diff(one, other, "imq").verdict == "not tested"
    message = "Expected imq to be defined after the change, got an undefined score: Pooled"
    assert message in run(one, other, "--score", "imq", "--fail-if-worse", code=2).stderr
    assert run(other, one, "--score", "imq", "--fail-if-worse").stdout.startswith("imq: not tested\n")
    assert "undefined before or after" in run(other, other, "--score", "imq", "--fail-if-worse").stderr


def test_the_paths_that_were_not_tested_are_counted():
    before = written("before", {"a": [{"name": "Ada", "age": 36}]}, gold={"a": [{"name": "Bo", "age": 36}]})
    after = written("after", {"a": [{"name": "Bo"}]}, gold={"a": [{"name": "Bo", "age": 36}]})
    title = "Paths, pooled (micro): 0 worse, 0 improved, 1 no evidence, 1 not tested"
    assert title in run(before, after, "--score", "imq").stdout
    french = " ".join(run(before, after, "--score", "imq", "--lang", "fr").stdout.split())
    assert "1 sans changement établi, 1 non testé" in french


def test_documents_present_in_one_evaluation_only_are_named():
    difference = arbitre.diff(written("before", {"a": GOLD, "b": GOLD}), written("after", {"b": GOLD, "c": GOLD}))
    assert (difference.only_before, difference.only_after, difference.documents) == (("a",), ("c",), ())


def test_documents_are_not_compared_where_one_side_did_not_keep_them():
    before, after = written("before", {"a": GOLD}), written("after", {"a": []}, archive=False)
    difference = arbitre.diff(before, after)
    assert (difference.documents, difference.only_before, difference.micro.after) == ((), (), 0.0)
    assert (difference.verdict, difference.micro.p, difference.worse) == ("not tested", None, False)
    assert "not tested" in run(before, after, "--fail-if-worse", code=2).stderr
    assert "fell by 1.0000, from 1.0000 to 0.0000 (not tested)" in (
        run(before, after, "--fail-if-worse", "--tolerance", "0.1", code=1).stderr
    )


def test_evaluations_without_common_documents_are_refused():
    before, after = written("before", {"a": GOLD}), written("after", {"b": GOLD})
    with pytest.raises(DataError, match="no document in common: the first has 'a', the second 'b'"):
        arbitre.diff(before, after)
    assert "no document in common" in run(before, after, "--fail-if-worse", "--tolerance", "0.1", code=2).stderr


def test_several_runs_are_not_compared_with_one_run():
    comparator = arbitre.Comparator(SCHEMA)
    gold, one = [{"id": "a", "gold": GOLD}], [{"id": "a", "predicted": GOLD}]
    several = [one[0] | {"run": run} for run in "12"]
    evaluations = [arbitre.evaluate(comparator, gold=gold, predicted=predicted) for predicted in (several, one)]
    for pair in (evaluations, evaluations[::-1]):
        with pytest.raises(
            DataError, match=r"the same documents, but no run in common: .*\s+One evaluation has several runs"
        ):
            arbitre.diff(*pair)


def test_evaluations_with_one_run_of_each_document_are_joined_by_id():
    comparator, gold = arbitre.Comparator(SCHEMA), [{"id": name, "gold": GOLD} for name in "ab"]
    before, after = (
        arbitre.evaluate(
            comparator, gold=gold, predicted=[{"id": name, "run": run, "predicted": found} for name in "ab"]
        )
        for run, found in (("old", {}), ("new", GOLD))
    )
    difference = arbitre.diff(before, after)
    assert (len(difference.documents), difference.only_before, difference.only_after) == (2, (), ())


def test_changed_settings_are_named():
    difference = arbitre.diff(written("before", {"a": GOLD}), written("after", {"a": GOLD}, close=0.9))
    assert difference.settings == ("close",)


def test_a_rounding_difference_is_not_a_change():
    before, after = written("before", {"a": HALF}), written("after", {"a": HALF})
    plain = json.loads(after.read_text("utf-8"))
    for one in (plain["micro"], plain["macro"], *plain["by_path"].values()):
        one["f1q"] -= 1e-12
    after.write_text(json.dumps(plain), encoding="utf-8")
    difference = arbitre.diff(before, after)
    assert (difference.worse, difference.paths) == (False, ())


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("f1qq", "Expected a score where higher is better, got 'f1qq'"),
        ("variance", "got 'variance'"),
        ("gold", "'gold'"),
    ],
)
def test_a_score_where_higher_is_not_better_is_refused(score, message):
    path = written("before", {"a": GOLD})
    with pytest.raises(OptionError, match=message):
        arbitre.diff(path, path, score)


def test_the_score_can_be_fq():
    after = [{"name": "Ada", "age": 36}]
    evaluations = written("before", {"a": GOLD, "b": GOLD}), written("after", {"a": after, "b": arbitre.ABSENT})
    found = arbitre.diff(*evaluations, "fq(2)")
    half = 5 / 9  # of 2 gold entries and 1 predicted entry with quality 1
    assert found.macro.before == 1.0
    assert (found.micro.after, found.macro.after) == (pytest.approx(5 / 17), pytest.approx(half / 2))
    assert [(change.name, change.after) for change in found.documents] == [("b", 0.0), ("a", pytest.approx(half))]
    assert found.paths[0].p is not None
    f1q = arbitre.diff(*evaluations)
    assert arbitre.diff(*evaluations, "fq(1)").headlines == f1q.headlines
    assert run(*evaluations, "--score", "fq(2)").stdout.startswith("fq(2): ")


def test_fq_requires_results_of_documents():
    before, after = written("before", {"a": GOLD}), written("after", {"a": HALF}, archive=False)
    with pytest.raises(DataError, match=r"results of single documents for the mean of fq\(2\)"):
        arbitre.diff(before, after, "fq(2)")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["diff", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_the_exit_code_reports_a_regression_only_on_evidence_and_on_request():
    names = [f"d{at}" for at in range(9)]
    good, bad = written("good", dict.fromkeys(names, GOLD)), written("bad", dict.fromkeys(names, HALF))
    letter = written("letter", dict.fromkeys(names, GOLD) | {"d0": HALF})
    assert run(good, bad).stdout.startswith("f1q: worse\n")
    assert run(good, bad, "--fail-if-worse", code=1).stderr.splitlines() == [
        "worse: Pooled (micro) f1q fell by 0.5000, from 1.0000 to 0.5000 (p = 0.0117, Holm)",
        "worse: Per-document mean (macro) f1q fell by 0.5000, from 1.0000 to 0.5000 (p = 0.0117, Holm)",
        "worse: Document quality (mean) fell by 0.5000, from 1.0000 to 0.5000 (p = 0.0117, Holm)",
    ]
    assert run(bad, good, "--fail-if-worse").stdout.startswith("f1q: improved\n")
    fell = run(good, letter, "--fail-if-worse")
    assert fell.stdout.startswith("f1q: no evidence of a change\n")
    assert "Too few documents differ for a test to be significant (1)" in fell.stderr
    assert run(good, letter, "--fail-if-worse", "--tolerance", "0.1").stdout
    strict = run(good, letter, "--fail-if-worse", "--tolerance", "0.01", code=1).stderr
    assert "Pooled (micro) f1q fell by 0.0556, from 1.0000 to 0.9444 (p = 1.0000, Holm)" in strict
    assert "requires" in run(good, bad, "--tolerance", "0.1", code=2).stderr
    assert "at least 0" in run(good, bad, "--fail-if-worse", "--tolerance", "2", code=2).stderr
    with pytest.raises(arbitre.QualityBoundError) as refused:
        arbitre.diff(good, bad, fail_if_worse=True)
    assert len(refused.value.problems) == 3


def test_markdown_and_junit_show_the_same_changes():
    names = ["a|b", "c\u202e", *(f"d{at}" for at in range(8))]
    before = written("before", dict.fromkeys(names, GOLD))
    after = written("after", dict.fromkeys(names, HALF) | {"c\u202e": arbitre.ABSENT})
    found = arbitre.diff(before, after)
    markdown = run(before, after, "--format", "markdown").stdout
    assert markdown == found.to_markdown()
    assert markdown.startswith("**f1q: worse**\n\nFailed documents: 0 -> 1\n\nFailed only after: `c⟨U+202E⟩`\n")
    assert "| Pooled (micro) | 1.0000 | 0.4737 | -0.5263 | 0.0059 | worse |" in markdown
    assert "| /\\*/name |" in markdown
    text = run(before, after, "--format", "junit", "--fail-if-worse", code=1).stdout
    assert text == found.to_junit()
    suite = ET.fromstring(text)  # noqa: S314
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["6", "3", "0"]
    cases = {case.get("name"): case for case in suite}
    assert cases["Pooled (micro)"].find("failure").get("message") == found.regressions[0]
    assert cases["/*/name"].find("failure") is None
    assert "p 0.0059: worse" in cases["/*/name"].find("system-out").text
    assert arbitre.diff(before, before).to_junit().count("<testcase") == 3


def test_json_and_text_agree():
    before, after = written("before", {"a": GOLD, "b": GOLD}), written("after", {"a": HALF, "c": HALF}, close=0.9)
    plain = json.loads(run(before, after, "--score", "irq", "--format", "json").stdout)
    assert plain["documents"] == [{"name": "a", "before": 1.0, "after": 0.5, "difference": -0.5}]
    assert (plain["score"], plain["worse"], plain["only_after"], plain["settings"]) == ("irq", False, ["c"], ["close"])
    result = run(before, after, "--score", "irq")
    assert "a          1.0000   0.5000   -0.5000" in result.stdout
    assert "Documents only before (1)" in result.stdout
    assert "The evaluations differ in close" in result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_only_the_first_ten_changes_are_shown():
    before = written("before", {f"d{at:02}": GOLD for at in range(12)})
    after = written("after", {f"d{at:02}": HALF for at in range(12)})
    text = run(before, after).stdout
    assert "Documents: 12 lower, 0 higher\n" in text
    assert "... and 2 more with --format json" in text
    assert "d09" in text
    assert "d10" not in text


def test_a_file_that_is_not_an_evaluation_is_refused():
    Path("other.json").write_text("[]", encoding="utf-8")
    assert "other.json: Invalid evaluation: [] is not of type" in run("other.json", "other.json", code=2).output
    assert "none.json" in run("none.json", "other.json", code=2).output


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (lambda plain: plain["macro"].update(f1q="x"), "/macro/f1q"),
        (lambda plain: plain["micro"].update(matched=None), "/micro/matched"),
        (lambda plain: plain.update(signature=[]), "/signature"),
        (lambda plain: plain.pop("by_path"), ""),
    ],
)
def test_an_evaluation_that_was_edited_is_refused_with_its_place(change, pointer):
    path = written("before", {"a": HALF}, archive=False)
    plain = json.loads(path.read_text(encoding="utf-8"))
    change(plain)
    Path("after").mkdir()
    Path("after/evaluation.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(DataError, match="Invalid evaluation: ") as caught:
        arbitre.diff(path, "after")
    assert (caught.value.file, caught.value.pointer) == (str(Path("after/evaluation.json")), pointer)


def test_a_folder_without_an_evaluation_says_which_file_is_missing():
    path = written("before", {"a": HALF})
    path.unlink()
    with pytest.raises(DataError, match=r"before: Expected evaluation\.json in the folder, got none"):
        arbitre.diff("before", "before")


def test_results_of_documents_of_another_evaluation_are_refused():
    comparator, results = arbitre.Comparator(SCHEMA), Path("results")
    written, kept = results / "evaluation.json", results / "before.json"
    comparator.evaluate([("a", GOLD, GOLD), ("b", GOLD, GOLD)], out=results)
    before = written.read_bytes()
    comparator.evaluate([("a", GOLD, HALF), ("b", GOLD, HALF)], out=results)
    kept.write_bytes(before)
    with pytest.raises(DataError, match=r"npz does not belong to before\.json") as caught:
        arbitre.diff(kept, written)
    assert caught.value.file == str(results / RESULTS)
    assert "results.npz does not belong to before.json, which was edited or comes from another evaluation" in str(
        caught.value
    )
    assert "Keep each evaluation in its own folder" in str(caught.value)
    assert "results.npz" in run(kept, written, "--fail-if-worse", code=2).stderr
    after = written.read_bytes()
    written.write_bytes(before)
    with pytest.raises(DataError, match=r"npz does not belong to evaluation\.json"):
        arbitre.load(results)
    written.write_bytes(b"\xef\xbb\xbf" + json.dumps(json.loads(after), sort_keys=True).encode())
    assert arbitre.diff(written, results).paths == ()  # formatting does not matter
    written.unlink()
    assert len(arbitre.load(results).documents) == 2
    moved = Path("moved.json")
    moved.write_bytes(before)
    written.write_bytes(after)
    assert arbitre.diff(moved, results, fail_if_worse=False).micro.difference == -0.5
    with pytest.raises(arbitre.QualityBoundError):
        arbitre.diff(moved, results, fail_if_worse=True, tolerance=0.01)


def test_too_few_clusters_are_not_called_documents():
    comparator = arbitre.Comparator(SCHEMA)
    for name, predicted in (("good", GOLD), ("bad", HALF)):
        pairs = [(f"v{at % 3}-{at}", GOLD, predicted) for at in range(30)]
        comparator.evaluate(pairs, out=name, no_report=True, cluster_by=r"v\d")
    found = arbitre.diff("good", "bad")
    assert found.to_dict()["clusters"] == found.clusters == 3
    assert found.notes[0] == "Units of the tests: clusters of documents (3)"
    assert found.notes[1].startswith("Too few clusters differ for a test to be significant (3): p would be above 0.05")
    assert "Trop peu de grappes diffèrent pour qu’un test soit significatif (3)" in found.to_markdown(lang="fr")
    assert "Unités des tests\u00a0: grappes de documents (3)." in found.to_markdown(lang="fr")
    runs = arbitre.diff(
        *(
            evaluate(comparator.plan, [Pair(f"d{at % 4}", str(at // 4), GOLD, predicted) for at in range(8)])
            for predicted in (GOLD, HALF)
        )
    )
    assert runs.clusters == 4
    assert runs.notes[0] == "Units of the tests: documents, each with all its runs (4)"
    assert runs.notes[1].startswith("Too few documents differ for a test to be significant (4)")


@pytest.mark.parametrize("value", [None, 0.5, [], "high"])
def test_a_document_quality_that_is_no_object_is_refused(value):
    path = written("one", {"a": GOLD})
    path.write_text(json.dumps(json.loads(path.read_text()) | {"document_quality": value}))
    with pytest.raises(DataError, match="Invalid evaluation: ") as caught:
        arbitre.diff(path, path)
    assert caught.value.pointer == "/document_quality"


def test_bounds_and_tables_use_the_same_scores_of_an_edited_evaluation():
    path = written("one", {"a": GOLD, "b": HALF}, archive=False)
    plain = json.loads(path.read_text())
    for scores in (plain["micro"], plain["leaves"], plain["by_path"]["/*/age"]):
        scores["f1q"] = 0.99
    path.write_text(json.dumps(plain))
    assert arbitre.diff(path, path).micro.before == 0.75
    for measure in ("f1q", "leaves.f1q", "/*/age:f1q"):
        with pytest.raises(arbitre.QualityBoundError, match=r"below 0\.95"):
            arbitre.diff(path, path, fail_under=[f"{measure}=0.95"])


def test_a_name_that_is_too_long_has_no_results():
    with pytest.raises(DataError, match=r"Expected a folder with results\.npz or ranking\.json"):
        arbitre.load("x" * 300)
