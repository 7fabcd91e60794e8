"""Published figures of entities and classes, reproduced in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre import Comparator, entities
from arbitre.classification import ClassScores, report
from arbitre.cli import app

FILE = Path(__file__).resolve().parents[2].parent / "shared" / "oracles" / "classification_and_text.json"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="the shared figures are not here")


@pytest.fixture(scope="module")
def figures():
    return json.loads(FILE.read_text(encoding="utf-8"))


def spans(labels):
    """Entities at the positions of their names."""
    starts = {name: 100 * number for number, name in enumerate(sorted(labels))}
    return [{"start": starts[name], "end": starts[name] + len(name), "label": label} for name, label in labels.items()]


def check(example, per_class, micro, macro_f1):
    """Compare counts and scores, given as JSON, with the published ones."""
    for label in ("Personne", "City"):
        assert {name: per_class[label][name] for name in ("tp", "fp", "fn")} == {
            name: example[label][name] for name in ("tp", "fp", "fn")
        }
        assert per_class[label]["f1"] == pytest.approx(example[label]["f1"], abs=1e-6)
    assert {name: micro[name] for name in ("tp", "fp", "fn", "f1")} == example["micro"]
    assert macro_f1 == pytest.approx(example["macro_f1"], abs=1e-6)


def test_the_example_as_lists_of_labels(figures):
    example = figures["entity_example"]
    plain = report([example["gold"][name] for name in example["predicted"]], example["predicted"].values()).to_dict()
    check(example, plain["per_class"], plain["micro"], plain["macro"]["f1"])


def test_the_example_as_entities_in_python_and_on_the_command_line(figures, tmp_path):
    example = figures["entity_example"]
    sides = {name: [spans(example[name])] for name in ("gold", "predicted")}
    plain = entities.evaluate(sides["gold"], sides["predicted"]).summary()
    check(example, plain["per_class"], plain["model"], plain["macro"]["f1"])
    for name, value in sides.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    files = [str(tmp_path / f"{name}.json") for name in sides]
    printed = json.loads(CliRunner().invoke(app, ["entities", *files, "--format", "json"]).stdout)
    assert printed == plain


def test_the_example_as_a_field_of_a_comparison(figures):
    example = figures["entity_example"]
    schema = {"type": "object", "additionalProperties": {"enum": ["City", "Personne"]}}
    plain = Comparator(schema).compare(gold=example["gold"], predicted=example["predicted"]).classification("/*")
    check(example, plain.to_dict()["per_class"], plain.to_dict()["micro"], plain.macro.f1)


def test_the_published_f1_follow_from_precision_and_recall(figures):
    for precision, recall, f1 in figures["f1"]:
        scores = ClassScores(precision * recall, recall * (1 - precision), precision * (1 - recall))
        assert (scores.precision, scores.recall) == pytest.approx((precision, recall))
        assert scores.f1 == pytest.approx(f1, abs=5e-6)
