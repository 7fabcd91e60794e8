"""Each annotator, and each system, compared with the consensus of the other annotators."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from arbitre import Comparator, agreement
from arbitre.agreement.consensus.leave_one_out import TITLE, TWO, WARNING
from arbitre.cli import app
from arbitre.errors import DataError, OptionError

NAMES = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"entries": True}}
SCHEMA = {"type": "object", "properties": {"names": NAMES}}
COMPARATOR = Comparator(SCHEMA, distance="exact")


def corpus(**names):
    """One document per text, whose letters are its names."""
    return {
        annotator: {str(number): {"names": list(text)} for number, text in enumerate(texts, start=1)}
        for annotator, texts in names.items()
    }


def compared(annotations, systems=None, **options):
    predictions = {name: documents.items() for name, documents in (systems or {}).items()}
    return agreement.agreement_with_others(COMPARATOR, annotations, predictions, **options)


def scores(evaluations):
    return {name: evaluation.micro.f1q for name, evaluation in evaluations.items()}


def test_an_annotator_is_compared_with_the_consensus_of_the_others():
    found = compared(corpus(ada=["abc", "d"], bob=["abc", "d"], cy=["abx", "d"], di=["abc", "e"]))
    assert scores(found.annotators) == {
        "ada": 1.0,  # the others agree on abc by 2 to 1, and on d by 2 to 1
        "bob": 1.0,
        "cy": pytest.approx(6 / 8),
        "di": pytest.approx(6 / 8),
    }
    assert found.mean() == pytest.approx((1 + 1 + 0.75 + 0.75) / 4)


def test_a_system_is_compared_with_the_same_consensuses_on_the_same_documents():
    annotations = corpus(ada=["abc"], bob=["abc"], cy=["xyz"])
    system = corpus(system=["abc", "unused"])
    found = compared(annotations, system)
    assert list(found.systems["system"]) == ["ada", "bob", "cy"]
    for name in annotations:
        others = {other: given for other, given in annotations.items() if other != name}
        gold = agreement.build_consensus(COMPARATOR, others).documents
        expected = COMPARATOR.evaluate([(key, gold[key], system["system"][key]) for key in gold])
        assert found.systems["system"][name].micro == expected.micro
        assert found.systems["system"][name].document_table.ids == found.annotators[name].document_table.ids
    assert found.systems["system"]["cy"].micro.f1q == 1.0


def test_a_system_that_repeats_an_annotator_has_the_same_scores_as_that_annotator_where_it_is_left_out():
    annotations = corpus(ada=["abc", "de"], bob=["abd", "de"], cy=["xbc", "d"])
    found = compared(annotations, {"copy": annotations["ada"]})
    assert found.systems["copy"]["ada"].micro == found.annotators["ada"].micro


def test_two_annotators_are_compared_with_each_other():
    found = compared(corpus(ada=["abc"], bob=["ab"]))
    assert (found.annotators["ada"].micro.imq, found.annotators["ada"].micro.irq) == (pytest.approx(2 / 3), 1.0)
    assert (found.annotators["bob"].micro.imq, found.annotators["bob"].micro.irq) == (1.0, pytest.approx(2 / 3))
    assert found.annotators["ada"].micro.f1q == found.annotators["bob"].micro.f1q
    assert TWO in found.notes
    assert found.annotators["ada"].provenance.headline() == "Gold: single annotator (bob), unvalidated"
    assert found.flagged == {"ada": 0, "bob": 0}


def test_a_document_of_one_other_annotator_is_taken_as_it_is():
    annotations = corpus(ada=["abc", "de"], bob=["abc"], cy=["abc", "d"])
    found = compared(annotations)
    assert len(found.annotators["ada"].documents) == 2
    assert found.annotators["ada"].by_document["2"].f1q == pytest.approx(2 / 3)
    assert len(found.annotators["bob"].documents) == 1


def test_identical_annotators_agree_fully():
    found = compared(corpus(ada=["ab", "c"], bob=["ab", "c"], cy=["ab", "c"]))
    assert scores(found.annotators) == {"ada": 1.0, "bob": 1.0, "cy": 1.0}
    assert found.flagged == {"ada": 0, "bob": 0, "cy": 0}


def test_the_order_of_annotators_does_not_matter():
    annotations = corpus(ada=["abc", "de"], bob=["abd", "de"], cy=["xbc", "d"], di=["ab", "de"])
    forward, backward = compared(annotations), compared(dict(reversed(annotations.items())))
    assert scores(forward.annotators) == scores(backward.annotators)
    assert forward.flagged == backward.flagged


def test_ties_of_the_others_are_counted():
    found = compared(corpus(ada=["a"], bob=["ab"], cy=["ac"]))
    assert found.flagged["ada"] == 2
    assert found.flagged["bob"] == 1


def test_a_document_that_a_system_lacks_counts_as_an_empty_prediction():
    found = compared(corpus(ada=["ab", "c"], bob=["ab", "c"]), corpus(system=["ab"]))
    assert found.systems["system"]["ada"].micro.irq == pytest.approx(2 / 3)
    assert "system: 1 document without a prediction; counted as empty." in found.notes


def test_several_predictions_of_a_document_are_runs():
    annotations = corpus(ada=["ab"], bob=["ab"])
    runs = {"system": [("1", {"names": ["a", "b"]}), ("1", {"names": []})]}
    evaluation = agreement.agreement_with_others(COMPARATOR, annotations, runs).systems["system"]["ada"]
    assert (len(evaluation.documents), evaluation.micro.irq) == (2, 0.5)


def test_documents_that_unanimity_leaves_out_are_not_compared():
    comparator = Comparator({"type": "string"}, distance="exact")
    annotations = {name: {"1": "a", "2": text} for name, text in (("ada", "b"), ("bob", "b"), ("cy", "c"))}
    found = agreement.agreement_with_others(comparator, annotations, strategy="unanimity")
    assert [len(found.annotators[name].documents) for name in annotations] == [1, 1, 2]
    assert "ada: the others have no consensus on 1 document; not compared." in found.notes


@pytest.mark.parametrize(
    ("annotations", "predictions", "options", "message"),
    [
        ({"ada": {}}, {}, {}, "Expected at least two annotators, got 1"),
        (corpus(ada=["a"], bob=["a"]), corpus(ada=["a"]), {}, "'ada' twice"),
        (corpus(ada=["a"], bob=["a"]), {}, {"strategy": "mean"}, "Expected `strategy` to be a known name"),
        (
            corpus(ada=["a"], bob=["a"]),
            {},
            {"strategy": "collegial"},
            "minimum-risk, majority, unanimity or dawid-skene",
        ),
        (corpus(ada=["a"], bob=["a"], cy=["a"]), {}, {"weak_margin": 2.0}, "Expected `weak_margin`"),
    ],
    ids=["one", "same-name", "strategy", "collegial", "margin"],
)
def test_contradictions_are_refused(annotations, predictions, options, message):
    with pytest.raises(OptionError, match=message):
        compared(annotations, predictions, **options)


def test_annotators_without_common_documents_are_an_error():
    with pytest.raises(DataError, match="No document of 'ada' has a consensus of other annotators"):
        compared({"ada": {"1": {}}, "bob": {"2": {}}})


class TestTheCommand:
    @pytest.fixture
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
        annotations = corpus(ada=["abc", "de"], bob=["abc", "dx"], cy=["abc", "de"], model=["ab", "de"])
        for name, documents in annotations.items():
            lines = (json.dumps({"id": key} | document) + "\n" for key, document in documents.items())
            (tmp_path / f"{name}.jsonl").write_text("".join(lines))
        return {name: f"{name}.jsonl" for name in annotations}

    def run(self, files, *options):
        annotators = [f"{name}={path}" for name, path in files.items() if name != "model"]
        command = ["leave-one-out", "--schema", "schema.json", *annotators, "--system", "model=model.jsonl"]
        result = CliRunner().invoke(app, [*command, *options], env={"COLUMNS": "100"})
        assert result.exit_code == 0, result.output
        return result.stdout

    def test_it_prints_what_python_returns(self, files):
        annotators = {name: path for name, path in files.items() if name != "model"}
        expected = agreement.leave_one_out("schema.json", annotators, systems={"model": "model.jsonl"})
        assert json.loads(self.run(files, "--format", "json")) == json.loads(json.dumps(expected.to_dict()))

    def test_it_says_that_agreement_is_not_performance(self, files):
        shown = " ".join(self.run(files).split())
        assert shown.startswith(TITLE)
        assert WARNING in shown
        assert "Fewer than 30 documents (2)" in shown
        plain = json.loads(self.run(files, "--format", "json"))
        assert (plain["title"], plain["warning"]) == (TITLE, WARNING)
        assert plain["annotators"]["ada"]["consensus_of"] == ["bob", "cy"]

    @pytest.mark.usefixtures("files")
    def test_a_narrow_terminal_shows_names_and_f1q(self):
        result = CliRunner().invoke(
            app, ["leave-one-out", "--schema", "schema.json", "ada=ada.jsonl", "bob=bob.jsonl"], env={"COLUMNS": "60"}
        )
        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["annotator", "f1q", "documents", "flagged"] in lines
        assert [len(line) for line in lines if line[:1] == ["ada"]] == [4]

    def test_the_strategy_is_an_option(self, files):
        plain = json.loads(self.run(files, "--strategy", "unanimity", "--format", "json"))
        assert plain["strategy"] == "unanimity"

    def test_a_collegial_consensus_is_neither_offered_nor_accepted(self):
        assert "collegial" not in CliRunner().invoke(app, ["leave-one-out", "--help"]).stdout
        command = ["leave-one-out", "--schema", "schema.json", "ada=ada.jsonl", "bob=bob.jsonl"]
        result = CliRunner().invoke(app, [*command, "--strategy", "collegial"])
        assert result.exit_code == 2
        assert "collegial" in result.stderr
