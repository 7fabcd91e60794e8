"""Advice on the labels of training and test data."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app
from arbitre.errors import DataError, OptionError
from arbitre.suggestions.label_advice import CHECKS, Thresholds, advise, compare_distributions, labels_at

BALANCED = {"city": 60, "person": 60}


def checks_and_labels(*data, **options):
    return [(finding.check, *finding.labels) for finding in advise(*data, **options).findings]


def test_balanced_data_lead_to_no_findings():
    assert checks_and_labels(BALANCED, {"city": 20, "person": 20}) == []
    assert checks_and_labels(BALANCED) == []


@pytest.mark.parametrize(("count", "few"), [(14, True), (15, False), (0, True)])
def test_a_class_with_fewer_than_fifteen_training_examples_has_too_few(count, few):
    findings = advise({"city": 60, "person": count}).findings
    assert ("few-examples" in [finding.check for finding in findings]) == few
    if few:
        assert findings[0].action == f"Add at least {15 - count} training examples of person."
        assert findings[0].numbers == {"training": count, "min_examples": 15}
    assert checks_and_labels({"city": 60, "person": count}, thresholds=Thresholds(min_examples=0)) == []


def test_a_class_that_only_the_test_data_contain_has_too_few_training_examples():
    assert ("few-examples", "river") in checks_and_labels(BALANCED, {"city": 20, "person": 20, "river": 1})


def test_a_class_absent_from_the_test_data_is_reported():
    assert checks_and_labels(
        {"a": 20, "b": 20, "c": 20}, {"a": 9, "b": 9}, thresholds=Thresholds(significance=1e-9)
    ) == [("absent-from-test", "c")]


def test_a_class_is_rare_if_the_largest_has_more_than_ten_times_as_many():
    assert checks_and_labels({"a": 200, "b": 20}) == []
    assert checks_and_labels({"a": 201, "b": 20}) == [("imbalance", "b")]
    assert checks_and_labels({"a": 201, "b": 20}, thresholds=Thresholds(imbalance=11)) == []
    assert checks_and_labels({"a": 50, "b": 50}, {"a": 55, "b": 5}, thresholds=Thresholds(significance=1e-9)) == [
        ("imbalance", "b")
    ]


def test_different_distributions_are_reported_with_p_and_the_class_that_differs_most():
    finding = advise({"a": 300, "b": 100, "c": 100}, {"a": 30, "b": 50, "c": 20}).findings[-1]
    assert (finding.check, finding.labels) == ("different-distribution", ("a",))
    assert finding.numbers["p"] < 0.001
    assert (finding.numbers["training"], finding.numbers["test"]) == (0.6, 0.3)


@given(st.lists(st.tuples(st.integers(20, 90), st.integers(20, 90)), min_size=2, max_size=5))
def test_the_chi_square_test_is_that_of_scipy(rows):
    from scipy.stats import chi2_contingency

    sides = [{f"class {at}": row[side] for at, row in enumerate(rows)} for side in (0, 1)]
    peer = chi2_contingency(np.array(rows).T, correction=False)
    test = compare_distributions(*sides)
    assert test.method == "chi-square"
    assert (test.statistic, test.p) == (pytest.approx(peer.statistic, abs=1e-9), pytest.approx(peer.pvalue, abs=1e-9))
    assert test.degrees == peer.dof


def test_rare_classes_are_tested_with_permutations():
    from scipy.stats import fisher_exact

    training, test = {"a": 9, "b": 1}, {"a": 2, "b": 6}
    result = compare_distributions(training, test)
    exact = fisher_exact([[9, 1], [2, 6]]).pvalue
    assert result.method == "permutation"
    assert result.p == pytest.approx(exact, abs=0.01)
    assert result == compare_distributions(training, test)
    assert compare_distributions(training, test, seed=1).p != result.p


def test_one_class_or_an_empty_side_has_no_test():
    assert compare_distributions({"a": 5}, {"a": 3}) is None
    assert compare_distributions({"a": 5, "b": 2}, {}) is None


def test_often_confused_classes_are_counted_in_both_directions():
    pairs = [("a", "a")] * 7 + [("a", "b")] * 2 + [("b", "a")] + [("b", "b")] * 9 + [("c", "a")] + [("c", "c")] * 80
    counts = {"a": 100, "b": 100, "c": 100}
    (finding,) = advise(counts, confusion=pairs).findings
    assert (finding.check, finding.labels) == ("often-confused", ("a", "b"))
    assert finding.numbers == {"confused": 3, "gold": 19, "share": 3 / 19, "first_as_second": 2, "second_as_first": 1}
    assert finding.action.startswith("Merge a and b")
    assert checks_and_labels(counts, confusion=pairs, thresholds=Thresholds(confused=0.2)) == []
    assert checks_and_labels(counts, confusion=pairs, thresholds=Thresholds(min_confused=4)) == []


def test_missing_and_spurious_values_are_not_confused():
    pairs = [("a", arbitre.ABSENT)] * 5 + [(arbitre.ABSENT, "b")] * 5 + [("a", None), ("a", "a")]
    assert checks_and_labels({"a": 20}, confusion=pairs) == []


def test_a_confusion_matrix_gives_the_same_findings_as_its_pairs():
    matrix = SimpleNamespace(labels=("a", "b", None), matrix=np.array([[5, 3, 2], [1, 6, 0], [4, 0, 0]]))
    pairs = (
        [("a", "a")] * 5 + [("a", "b")] * 3 + [("a", None)] * 2 + [("b", "a")] + [("b", "b")] * 6 + [(None, "a")] * 4
    )
    counts = {"a": 20, "b": 20}
    assert advise(counts, confusion=matrix) == advise(counts, confusion=pairs)
    assert advise(counts, confusion=matrix).findings[0].numbers["share"] == 4 / 17


@pytest.mark.parametrize("labels", [{}, [], {"a": 0}, {"a": -1}, {1: 2}, [1], {"a": 1.5}], ids=str)
def test_missing_labels_and_labels_that_are_not_texts_are_refused(labels):
    with pytest.raises(DataError, match="labels of the training data"):
        advise(labels)


@pytest.mark.parametrize(
    "options",
    [{"imbalance": 0.5}, {"significance": 0}, {"confused": 0}, {"min_confused": 0}, {"min_examples": -1}],
    ids=str,
)
def test_thresholds_out_of_range_are_refused(options):
    with pytest.raises(OptionError, match=f"Expected `{next(iter(options))}`"):
        Thresholds(**options)


def test_labels_are_read_at_a_wildcard_path():
    document = {"a": [{"b": "x"}, {"b": None}, {}, 3, {"b": "y"}], "c": {"p": "u", "q": "v"}, "d": "w"}
    assert (labels_at(document, "/a/*/b"), labels_at(document, "/c/*"), labels_at(document, "/d")) == (
        ["x", "y"],
        ["u", "v"],
        ["w"],
    )
    assert (labels_at(document, "/a/4/b"), labels_at(document, "/e/*")) == (["y"], [])
    with pytest.raises(DataError, match="Expected labels to be texts, got a value of kind array") as caught:
        labels_at(document, "/a")
    assert caught.value.pointer == "/a"


def test_the_command_prints_the_advice_of_the_python_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object", "properties": {"role": {"enum": ["clerk", "mayor"]}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema), "utf-8")
    roles = {
        "train": ["mayor"] * 40 + ["clerk"] * 3,
        "test": ["mayor"] * 5 + ["clerk"] * 5,
        "predicted": ["mayor"] * 7 + ["clerk"] * 3,
    }
    for name, labels in roles.items():
        lines = [json.dumps({"id": str(at), "role": role}) for at, role in enumerate(labels)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")

    def run(*arguments, code=0):
        sources = (
            "--train",
            "train.jsonl",
            "--test",
            "test.jsonl",
            "--predicted",
            "predicted.jsonl",
            "--path",
            "/role",
        )
        result = CliRunner().invoke(app, ["advise", *sources, *arguments])
        assert result.exit_code == code, result.output
        return result.output

    expected = advise(roles["train"], roles["test"], confusion=zip(roles["test"], roles["predicted"], strict=True))
    assert json.loads(run("--schema", "schema.json", "--format", "json")) == {"path": "/role"} | expected.to_dict()
    assert [finding.check for finding in expected.findings] == [name for name in CHECKS if name != "absent-from-test"]
    text = " ".join(run("--schema", "schema.json").split())
    assert "2 classes at /role" in text
    assert "few-examples clerk has 3 training" in text
    assert "few-examples" not in run("--schema", "schema.json", "--min-examples", "3")
    assert "--predicted with --path requires --schema" in " ".join(run(code=2).split())


def test_the_command_reads_files_of_entities_without_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cities, rivers = ("\n\n".join([f"x B-{label}\ny O"] * 20) for label in ("city", "river"))
    (tmp_path / "train.conll").write_text(f"{cities}\n\n{rivers}\n")
    (tmp_path / "test.json").write_text(json.dumps([["B-city", "O"]] * 4 + [["O", "B-river"]] * 4))
    (tmp_path / "predicted.conll").write_text("x B-city\ny O\n\n" * 4 + "x O\ny I-city\n\n" * 4)
    arguments = ["advise", "--train", "train.conll", "--test", "test.json", "--predicted", "predicted.conll"]
    result = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    pairs = [("city", "city")] * 4 + [("river", "city")] * 4
    advice = advise(Counter(city=20, river=20), Counter(city=4, river=4), confusion=pairs)
    assert json.loads(result.stdout) == json.loads(json.dumps({"path": None} | advice.to_dict()))
    assert "2 classes of entities" in CliRunner().invoke(app, arguments).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--schema", "s.json"], "--schema requires --path"),
        (["--predicted", "a.conll"], "--predicted requires --test"),
        (["--test", "a.conll", "--predicted", "a.conll", "--predicted", "a.conll"], "got 2 for 1"),
        (["--path", "/x", "--test", "a.conll", "--predicted", "a.conll"], "--predicted with --path requires"),
    ],
    ids=["schema", "no test", "number of files", "no schema"],
)
def test_options_of_the_command_that_contradict_each_other_are_refused(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "a.conll").write_text("x B-city\n")
    result = CliRunner().invoke(app, ["advise", "--train", "a.conll", *options])
    assert result.exit_code == 2
    assert message in result.stderr
