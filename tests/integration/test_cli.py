"""The command line: exit codes, output streams and messages."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pytest
import typer
from jsonschema import Draft202012Validator
from rich.console import Console
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.cli.commands import evaluate as evaluate_command
from arbitre.cli.option_values import over, under
from arbitre.cli.output import progress
from arbitre.cli.output.console import Terminal
from arbitre.cli.output.progress import shown_progress
from arbitre.corpus.evaluate import Phase, ignore_progress
from arbitre.corpus.quality_bounds import QualityBound
from arbitre.jobs.evaluation_job import EvaluationJob
from arbitre.language import Language, Translator
from arbitre.systems.run_stability import run_stability
from arbitre.tables.terminal import nested_labels

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
DEMO = bundled.demo()
GOLD, CAREFUL, HASTY = (str(DEMO / f"{name}.jsonl") for name in ("gold", "careful", "hasty"))
ESCAPE = "\x1b"

PEOPLE = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def run(*arguments, code=0, **options):
    result = CliRunner().invoke(app, [str(one) for one in arguments], **options)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def write(name, value):
    Path(name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return name


@pytest.fixture
def pair():
    write("schema.json", PEOPLE)
    write("gold.json", [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 5}])
    write("predicted.json", [{"name": "Ada", "age": "36"}, {"name": "Bobby", "age": 5}, {"name": "Zeno"}])
    return "gold.json", "predicted.json", "--schema", "schema.json"


def evaluate(predicted=HASTY, *options, **others):
    return run("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", predicted, *options, **others)


def test_version_prints_the_version():
    assert run("--version").stdout == f"arbitre {arbitre.__version__}\n"


def test_python_m_arbitre_writes_utf_8_json():
    command = [sys.executable, "-m", "arbitre", "compare", "gold.json", "predicted.json", "--format", "json"]
    write("gold.json", ["é", "b"])
    write("predicted.json", ["é"])
    source = str(Path(arbitre.__file__).parents[1])
    done = subprocess.run(
        command, check=False, capture_output=True, env={**os.environ, "PYTHONPATH": source, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    data = json.loads(done.stdout.decode("utf-8"))
    assert (data["scores"]["irq"], data["gold_document"]) == (0.5, ["é", "b"])
    assert done.stderr.decode("utf-8").startswith("No --schema given: inferred one from gold.json")


def test_a_closed_pipe_is_not_an_error(pair):
    command = [sys.executable, "-m", "arbitre", "compare", *pair, "--format", "json", "--fail-under", "f1q=0.99"]
    write("gold.json", [{"name": "Ada" * 30}] * 2000)  # more than a pipe holds
    source = str(Path(arbitre.__file__).parents[1])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
    ) as process:
        assert process.stdout.read(2) == b"{\n"
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == 1
    assert said.startswith("not met: micro f1q is 0.0")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "stream", "code"),
    [
        (["--version"], "stdout", 0),
        (["evaluate", "--help"], "stdout", 0),
        (["perturb", "gold.jsonl"], "stdout", 0),
        (["evaluate", "--unknown"], "stderr", 2),
    ],
)
def test_a_pipe_that_is_closed_at_once_does_not_change_the_exit_code(options, stream, code):
    write("gold.jsonl", '{"id": "a", "name": "Ada"}\n')
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: writer}
    done = subprocess.run([sys.executable, "-m", "arbitre", *options], check=False, text=True, **streams)
    os.close(writer)
    assert done.returncode == code
    assert "Traceback" not in (done.stderr or "")


class TestCompare:
    def test_the_text_lists_scores_paths_and_differences(self, pair):
        result = run("compare", *pair)
        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["entries", "(whole", "document):", "2", "gold,", "3", "predicted,", "2", "matched"] in lines
        assert ["f1", "(biased)", "0.8000", "0.6667", "biased:", "every", "pair", "counts", "as", "correct"] in lines
        assert ["/*", "2", "3", "2", "0.4333", "0.6500", "0.5200", "0.6500"] in lines
        text = " ".join(result.stdout.split())
        assert 'age wrong type 0.0000 36 -> "36"' in text
        assert 'name wrong 0.6000 "Bob" -> "Bobby"' in text
        assert '[2] spurious {"name":"Zeno"}' in text
        assert result.stderr == ""

    def test_counts_of_pairs_are_biased_only_if_every_entry_of_the_shorter_list_is_paired(self, pair):
        for matching, biased in (
            ("hungarian", True),
            ("greedy", True),
            ('{"hungarian": {"gate": 0.5}}', False),
            ("set", False),
        ):
            text = " ".join(run("compare", *pair, "--match", matching).stdout.split())
            assert ("precision (biased)" in text, "every pair counts" in text) == (biased, biased)
            assert ("precision 0" in text, "matched / predicted" in text) == (not biased, not biased)
        write("gold.jsonl", {"id": "a", "gold": [{"name": "Ada"}, {"name": "Bob"}]})
        write("predicted.jsonl", {"id": "a", "predicted": [{"name": "Ada"}, {"name": "Zeno"}]})
        for matching, biased in (("hungarian", True), ({"hungarian": {"gate": 0.5}}, False)):
            schema = write("matched.json", PEOPLE | {"x-arbitre": {"match": matching}})
            text = run("evaluate", "--schema", schema, "--gold", "gold.jsonl", "--predicted", "predicted.jsonl").stdout
            assert ("precision (biased)" in text, "matched / predicted" in text) == (biased, not biased)

    def test_a_quality_just_below_the_threshold_is_shown_below_it(self):
        number = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}
        write("schema.json", {"type": "object", "properties": {"a": number, "b": number}})
        write("gold.json", {"a": 0, "b": 0})
        write("predicted.json", {"a": 0.1, "b": 0.10001})
        shown = run("compare", "gold.json", "predicted.json", "--schema", "schema.json", "--close", "0.9").stdout
        text = " ".join(shown.split())
        assert "a close 0.9000 0 -> 0.1" in text
        assert "b wrong 0.89999 0 -> 0.10001" in text
        assert "document wrong 0.89999" in text
        assert (
            "Close: quality 0.9 or more. An object or list has the worst verdict of its contents (at worst, wrong)."
            in text
        )

    def test_redirected_output_has_no_escape_codes(self, pair):
        plain = run("compare", *pair).stdout
        assert ESCAPE not in plain
        assert run("compare", *pair, "--no-color").stdout == plain

    def test_json_output_is_pure_and_follows_the_schema(self, pair):
        result = run("compare", *pair, "--format", "json", "--validate", "--published")
        data = json.loads(result.stdout)
        assert result.stderr == ""
        assert list(Draft202012Validator(bundled.schema("comparison.schema.json")).iter_errors(data)) == []
        assert [one["pointer"] for one in data["violations"]] == ["/0/age"]
        assert data["published"]["imq"] == pytest.approx(data["scores"]["irq"], abs=1e-3)
        assert arbitre.Comparison.from_dict(data).quality == data["quality"]

    @pytest.mark.parametrize(
        ("output", "row"), [("csv", "predicted,3.0\n"), ("markdown", "| predicted | 3 |\n"), ("text", "predicted 3\n")]
    )
    def test_the_published_scores_contain_the_numbers_of_entries(self, pair, output, row):
        text = run("compare", *pair, "--format", output, "--published").stdout
        assert row in re.sub(" +", " ", text[text.index("Scores with the formulas of the published script") :])

    def test_the_verdicts_are_a_table_in_csv_and_markdown(self, pair):
        text = run("compare", *pair, "--format", "csv").stdout
        assert (
            "Verdicts (values that are not correct)\n"
            "in gold,in the prediction,gold,predicted,verdict,quality\n"
            '/0/age,/0/age,36,"""36""",wrong type,0.0\n'
        ) in text
        assert ',/2/name,,"""Zeno""",spurious,0.0\n' in text
        text = run("compare", *pair, "--format", "markdown").stdout
        assert '| – | /2/name | – | "Zeno" | spurious | 0.0000 |\n' in text
        assert "values: gold -> predicted" not in text
        same = run("compare", "gold.json", *pair[:1], *pair[2:], "--format", "csv").stdout
        assert "Verdicts" not in same

    def test_the_table_of_verdicts_names_the_targets_of_references(self):
        person = {"type": "object", "properties": {"id": {"type": "string", "x-arbitre": {"id": "person"}}}}
        person["properties"] |= {"name": {"type": "string"}, "boss": {"type": "string", "x-arbitre": {"ref": "person"}}}
        write("schema.json", {"type": "array", "items": person})
        gold = [{"id": "a", "name": "Ada", "boss": "b"}, {"id": "b", "name": "Bob"}, {"id": "c", "name": "Cyd"}]
        write("gold.json", gold)
        write("predicted.json", [gold[0] | {"boss": "c"}, *gold[1:]])
        text = run("compare", "gold.json", "predicted.json", "--schema", "schema.json", "--format", "csv").stdout
        assert "in gold,in the prediction,gold,predicted,verdict,quality,reference\n" in text
        assert '"points to Cyd, should point to Bob"\n' in text

    def test_a_dash_reads_the_prediction_from_standard_input(self, pair):
        text = Path("predicted.json").read_text(encoding="utf-8")
        result = run("compare", "gold.json", "-", *pair[2:], input=text)
        assert result.stdout == run("compare", *pair).stdout

    def test_both_sides_from_standard_input_are_refused(self):
        assert "Expected one of GOLD and PREDICTED to be a file" in run("compare", "-", "-", code=2).stderr

    def test_without_a_schema_one_is_inferred_with_a_notice(self, pair):
        result = run("compare", *pair[:2], "--format", "json")
        assert result.stderr.startswith("No --schema given: inferred one from gold.json")
        assert json.loads(result.stdout)["entries"] == ""
        assert run("compare", *pair[:2], "--quiet").output == ""

    def test_overlay_and_close_change_the_comparison(self, pair):
        write("overlay.json", {"/*/age": {"ignore": True}})
        data = json.loads(run("compare", *pair, "--overlay", "overlay.json", "--format", "json").stdout)
        assert list(data["by_path"]) == ["/*", "/*/name"]
        assert json.loads(run("compare", *pair, "--close", "0.5", "--format", "json").stdout)["close"] == 0.5
        assert "Expected --close to be a quality" in run("compare", *pair, "--close", "2", code=2).stderr

    def test_escape_codes_in_documents_are_shown_escaped(self, pair):
        write("predicted.json", [{"name": f"Ada{ESCAPE}[2J", f"{ESCAPE}[31m": 1}])
        text = run("compare", *pair).stdout
        assert ESCAPE not in text
        assert "\\u001b[2J" in text

    def test_a_document_deeper_than_max_depth_is_refused(self, pair):
        write("predicted.json", [[[[1]]]])
        message = run("compare", *pair, "--max-depth", "3", code=2).stderr
        assert message.startswith("error: predicted.json:1: Expected at most 3 nested containers, got more")

    @pytest.mark.parametrize(
        ("threshold", "said"),
        [
            ("f1q=0.9", "not met: micro f1q is 0."),
            ("leaves.f1=0.9", "not met: leaves f1 is 0.6667, 0.2333 below 0.9\n"),
            ("/*/age:irq=0.8", "not met: /*/age:irq is 0.5000, 0.3000 below 0.8\n"),
            ("fq(2)=0.9", "not met: micro fq(2) is 0."),
        ],
    )
    def test_a_missed_threshold_is_reported_and_fails(self, pair, threshold, said):
        assert run("compare", *pair, "--quiet", "--fail-under", threshold, code=1).stderr.startswith(said)

    def test_met_thresholds_print_nothing(self, pair):
        result = run("compare", *pair, "--quiet", "--fail-under", "recall=1", "--fail-under", "/*/age:irq=0.5")
        assert result.output == ""

    def test_an_undefined_score_meets_no_threshold(self, pair):
        write("gold.json", [])
        write("predicted.json", [])
        said = run("compare", *pair, "-q", "--fail-under", "f1q=0", "--fail-under", "/*/age:f1q=0", code=1).stderr
        assert said == (
            "not met: micro f1q has no value (nothing to count), not 0\n"
            "not met: /*/age:f1q has no value (nothing to count), not 0\n"
        )


class TestThresholds:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("f1q=0.9", QualityBound("micro", "f1q", None, 0.9)),
            ("macro.omq_imq=1", QualityBound("macro", "omq_imq", None, 1.0)),
            ("leaves.fq(0.5)=.25", QualityBound("leaves", "fq(0.5)", 0.5, 0.25)),
            ("fq(2.5)=0", QualityBound("micro", "fq(2.5)", 2.5, 0.0)),
            ("/a=b/c.d:x/*:irq=0.8", QualityBound("/a=b/c.d:x/*", "irq", None, 0.8)),
            ("document_quality=0.9", QualityBound("document_quality", "mean", None, 0.9)),
            ("document_quality.median=0.9", QualityBound("document_quality", "median", None, 0.9)),
            ("document_quality.at_least(0.8)=0.9", QualityBound("document_quality", "at_least(0.8)", 0.8, 0.9)),
        ],
    )
    def test_a_threshold_names_a_scope_a_score_and_a_bound(self, text, expected):
        assert QualityBound.parse(text) == expected

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("f1q", "Expected SCORE=VALUE, as in f1q=0.9, got 'f1q'."),
            ("f1p=0.9", """Expected a score, got 'f1p'. Did you mean "f1" or "f1q"?"""),
            ("marco.f1=0.9", """Expected a scope, got 'marco'. Did you mean "macro" or "micro"?"""),
            ("variance=0.1", "Expected a score, got 'variance'. Available: precision, "),
            ("f1q=1.5", "Expected the value to be a number from 0 to 1, got '1.5' in 'f1q=1.5'."),
            ("f1q=nan", "Expected the value to be a number from 0 to 1, got 'nan' in 'f1q=nan'."),
            ("fq(0)=0.5", "Expected the beta of fq to be a positive number, got '0' in 'fq(0)=0.5'."),
            ("fq(inf)=0.5", "Expected the beta of fq to be a positive number, got 'inf' in 'fq(inf)=0.5'."),
            ("failed=0", "Expected a score, got 'failed=0'. The number of failed documents has an upper bound"),
            ("document_quality.mode=0.5", "Expected a measure, got 'mode'. Available: mean, "),
            (
                "document_quality.fq(2)=0.5",
                "Expected a measure, got 'fq(2)'. Available: mean, median, exact_match_rate, at_least(0.9).",
            ),
            ("document_quality.at_least(2)=0.5", "Expected the quality of at_least to be a number from 0 to 1"),
            ("/a/b=0.5", "Expected PATH:SCORE, as in /entries/*/name:irq, got '/a/b=0.5'."),
        ],
    )
    def test_a_malformed_threshold_is_refused(self, text, said):
        with pytest.raises(typer.BadParameter) as caught:
            under(text)
        assert caught.value.message.startswith(said)

    def test_fail_over_sets_an_upper_bound(self):
        assert over("failed=2") == QualityBound("failed", "failed", None, 2.0, over=True)
        assert over("variance=0.1") == QualityBound("micro", "variance", None, 0.1, over=True)
        with pytest.raises(typer.BadParameter, match="Expected a number of documents, got '0"):
            over("failed=0.5")

    def test_a_misspelt_score_in_a_threshold_gets_a_hint(self):
        text = " ".join(evaluate(HASTY, "--fail-under", "f1p=0.9", code=2).stderr.replace("│", " ").split())
        assert """Expected a score, got 'f1p'. Did you mean "f1" or "f1q"?""" in text

    def test_an_unknown_path_in_a_threshold_gets_a_hint(self):
        said = evaluate(HASTY, "-q", "--fail-under", "/speakers/*/nam:f1=0.5", code=2).stderr
        assert said.startswith("error: Expected --fail-under to name a path with scores, got '/speakers/*/nam'\n")
        assert 'Did you mean "/speakers/*/name"' in said

    def test_a_macro_threshold_requires_a_corpus(self, pair):
        said = run("compare", *pair, "-q", "--fail-under", "macro.f1=0.5", code=2).stderr
        assert said.startswith("error: Expected --fail-under to name a score of a single comparison, got 'macro f1'\n")

    def test_macro_counts_failures_as_zero(self):
        thresholds = (
            "--fail-under",
            "macro.f1q=0.9",
            "--fail-under",
            "macro.fq(1)=0.9",
            "--fail-under",
            "macro.f1q=0.7",
        )
        said = evaluate(HASTY, "-q", *thresholds, code=1).stderr
        assert said == (
            "not met: macro f1q is 0.7117, 0.1883 below 0.9\nnot met: macro fq(1) is 0.7117, 0.1883 below 0.9\n"
        )


class TestEvaluate:
    def test_the_text_shows_the_scores_and_the_files_hold_them(self):
        result = evaluate(HASTY, "--out", "out")
        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["f1q", "0.7117", "6", "0.7637", "0.7641"] in [line[:5] for line in lines]
        assert ["page_04", "predicted", "no", "prediction"] in lines
        assert result.stderr == (
            "Wrote evaluation.json, documents.csv, paths.csv, matches.csv, failures.csv, failures.jsonl, results.npz, alignments.json, report.html "
            "to out\nOpen the report in a browser: out/report.html\n"
        )
        data = json.loads(Path("out/evaluation.json").read_text(encoding="utf-8"))
        assert (data["documents"], data["failed"]) == (6, 1)
        with Path("out/matches.csv").open(encoding="utf-8", newline="") as file:
            statuses = [row["status"] for row in csv.DictReader(file)]
        assert (statuses.count("matched"), statuses.count("missing"), statuses.count("spurious")) == (42, 16, 0)

    def test_json_output_is_pure_and_equals_the_written_file(self):
        result = evaluate(HASTY, "--out", "out", "--format", "json")
        assert result.stderr == ""
        assert result.stdout == Path("out/evaluation.json").read_text(encoding="utf-8")
        schema = bundled.schema("evaluation.schema.json")
        assert list(Draft202012Validator(schema).iter_errors(json.loads(result.stdout))) == []

    def test_validate_lists_the_schema_violations(self):
        result = evaluate(HASTY, "--validate", "--out", "out", "--format", "json")
        data = json.loads(result.stdout)
        assert [(one["id"], one["pointer"]) for one in data["violations"]][-1] == (
            "page_06",
            "/speakers/5/interventions",
        )
        assert list(Draft202012Validator(bundled.schema("evaluation.schema.json")).iter_errors(data)) == []
        lines = Path("out/violations.csv").read_text(encoding="utf-8").splitlines()
        assert (lines[0], len(lines)) == ("id,run,pointer,keyword,message", 7)
        assert "No schema violations" in evaluate(GOLD, "--validate").stdout

    @pytest.mark.parametrize("validate", [False, True])
    def test_json_output_equals_the_result_in_python_and_in_a_folder(self, validate):
        result = evaluate(HASTY, *["--validate"] * validate, "--no-diagnose", "--out", "out", "--format", "json")
        found = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=HASTY, validate=validate, no_diagnose=True)
        assert ("violations" in found.to_dict()) == validate
        for text in (result.stdout, Path("out/evaluation.json").read_text(encoding="utf-8")):
            assert json.loads(text) == found.to_dict()
        assert arbitre.load("out").to_dict() == found.to_dict()

    def test_nothing_is_written_without_out(self, tmp_path):
        evaluate(CAREFUL)
        assert list(tmp_path.iterdir()) == []

    def test_a_quiet_evaluation_prints_nothing_and_writes_its_files(self):
        assert evaluate(HASTY, "--quiet", "--out", "out").output == ""
        assert Path("out/paths.csv").exists()

    def test_strict_stops_at_the_first_failure_and_writes_nothing(self):
        said = evaluate(HASTY, "--strict", "--out", "out", code=2).stderr
        assert said.startswith("error: predicted document page_04 failed: no prediction\n")
        assert not Path("out").exists()
        assert evaluate(CAREFUL, "--strict", "-q").output == ""

    def test_failed_documents_alone_do_not_change_the_exit_code(self):
        lines = Path(HASTY).read_text(encoding="utf-8").splitlines()
        write("damaged.jsonl", "\n".join([lines[0], lines[1][:-20], *lines[2:]]))
        text = evaluate("damaged.jsonl").stdout
        assert "6 documents, 2 failed" in text
        assert "page_02    predicted   damaged.jsonl:2   " in text
        assert evaluate("damaged.jsonl", "--strict", code=2).stderr.startswith("error: damaged.jsonl:2: ")

    def test_an_unscored_pair_is_not_counted_as_an_empty_prediction(self):
        write("schema.json", PEOPLE)
        document = [{"name": "Arnoult"}]
        rows = [{"id": "a", "gold": document, "predicted": document}] * 2 + [{"id": "b", "gold": document}]
        write("pairs.jsonl", "\n".join(map(json.dumps, rows)))
        shown = run("evaluate", "--schema", "schema.json", "--pairs", "pairs.jsonl", "--out", "out").stdout
        assert "2 documents, 1 failed" in shown
        assert "Failures (2), 1 counted as an empty prediction, 1 not scored" in shown
        page = Path("out/report.html").read_text(encoding="utf-8")
        assert "1 document is not scored" in page
        assert "1 prediction failed." in page

    def test_ten_failures_are_listed_and_the_rest_are_counted(self):
        write("schema.json", PEOPLE)
        write("gold.jsonl", "\n".join(json.dumps({"id": str(number)}) for number in range(13)))
        write("predicted.jsonl", '{"id": "0"}\n')
        text = run(
            "evaluate", "--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl"
        ).stdout
        assert "Failures (12), counted as empty predictions" in text
        assert text.count("no prediction") == 10
        assert "... and 2 more failures" in text

    def test_predictions_without_gold_are_listed_and_not_scored(self):
        record = json.loads(Path(HASTY).read_text(encoding="utf-8").splitlines()[0]) | {"id": "page_99"}
        write("more.jsonl", Path(HASTY).read_text(encoding="utf-8") + json.dumps(record))
        text = evaluate("more.jsonl").stdout
        assert "Predictions without gold (1), not scored\npage_99" in text

    def test_only_restricts_the_evaluation_to_the_named_documents(self):
        data = json.loads(evaluate(HASTY, "--only", "page_01", "--only", "page_03", "--format", "json").stdout)
        assert (data["documents"], data["failed"]) == (2, 0)
        said = evaluate(HASTY, "--only", "page_3", code=2).stderr
        assert 'Did you mean "page_03"' in said

    def test_a_file_of_pairs_scores_as_separate_files_do(self):
        gold, hasty = (
            {one.pop("id"): one for one in map(json.loads, Path(name).read_text(encoding="utf-8").splitlines())}
            for name in (GOLD, HASTY)
        )
        records = [
            {"id": name, "gold": one} | ({"predicted": hasty[name]} if name in hasty else {})
            for name, one in gold.items()
        ]
        write("pairs.jsonl", "\n".join(map(json.dumps, records)))
        joined = json.loads(evaluate(HASTY, "--format", "json").stdout)
        data = json.loads(run("evaluate", "--schema", SCHEMA, "--pairs", "pairs.jsonl", "--format", "json").stdout)
        assert data["failures"][0]["reason"] == joined["failures"][0]["reason"] == "no prediction"
        assert {name: data[name] for name in data.keys() - {"failures"}} == {
            name: joined[name] for name in joined.keys() - {"failures"}
        }
        only = run("evaluate", "--schema", SCHEMA, "--pairs", "pairs.jsonl", "--only", "page_02", "--format", "json")
        assert json.loads(only.stdout)["documents"] == 1
        unknown = run("evaluate", "--schema", SCHEMA, "--pairs", "pairs.jsonl", "--only", "page_2", code=2)
        assert unknown.stderr.startswith("error: pairs.jsonl: Expected --only to name documents, got 'page_2'\n")

    def test_an_id_pattern_joins_the_files_of_two_folders(self):
        write("schema.json", PEOPLE)
        for folder, prefix in (("gold", "page_"), ("predicted", "run7-page_")):
            Path(folder).mkdir()
            for number in (1, 2):
                write(f"{folder}/{prefix}{number}.json", [{"name": f"n{number}"}])
        sides = ("--gold", "gold", "--predicted", "predicted", "--schema", "schema.json")
        data = json.loads(run("evaluate", *sides, "--id-pattern", r"page_\d+", "--format", "json").stdout)
        assert (data["documents"], data["micro"]["f1q"]) == (2, 1.0)
        assert "Expected gold and predicted to share ids" in run("evaluate", *sides, code=2).stderr

    def test_runs_of_files_without_a_group_run_are_numbered(self):
        write("schema.json", PEOPLE)
        for folder, names in {"gold": ["gold"], "a": ["careful"], "b": ["hasty"], "both": ["x", "y"]}.items():
            Path(folder).mkdir()
            for number in (1, 2):
                for name in names:
                    write(f"{folder}/page_{number}_{name}.json", [{"name": name}])

        def evaluated(*predicted, id_pattern=r"page_\d"):
            return arbitre.evaluate("schema.json", gold="gold", predicted=predicted, id_pattern=id_pattern)

        def runs(*predicted, **options):
            documents = evaluated(*predicted, **options).documents
            return [(one.id, one.run) for one in documents]

        numbered = [("page_1", "1"), ("page_1", "2"), ("page_2", "1"), ("page_2", "2")]
        assert runs("a") == [("page_1", None), ("page_2", None)]
        assert runs("a", "b") == runs("both") == numbered
        assert runs("a", id_pattern=r"(page_\d)_(?P<run>.*)") == [("page_1", "careful"), ("page_2", "careful")]
        assert run_stability(evaluated("a", "b"), "f1q").documents == 2

    def test_standard_input_is_read_with_an_id_key(self):
        text = Path(GOLD).read_text(encoding="utf-8").replace('"id":', '"page_id":')
        predicted = Path(CAREFUL).read_text(encoding="utf-8").replace('"id":', '"page_id":')
        write("careful.jsonl", predicted)
        sides = ("--gold", "-", "--predicted", "careful.jsonl", "--schema", SCHEMA)
        data = json.loads(run("evaluate", *sides, "--id-key", "page_id", "--format", "json", input=text).stdout)
        assert round(data["micro"]["f1q"], 4) == 0.9741

    @pytest.mark.parametrize(
        "options",
        [
            ("--gold", GOLD),
            ("--predicted", HASTY),
            (),
            ("--pairs", GOLD, "--gold", GOLD),
            ("--gold", "-", "--predicted", "-"),
        ],
    )
    def test_incomplete_or_conflicting_sources_are_refused(self, options):
        assert "Expected " in run("evaluate", "--schema", SCHEMA, *options, code=2).stderr

    def test_an_unwritable_folder_is_reported(self):
        write("out", "")
        said = evaluate(HASTY, "--out", "out", code=2).stderr
        assert "out: Expected a folder for the results, got a file\n  Choose a folder, such as --out out-2." in said
        assert Path("out").read_text(encoding="utf-8") == ""


class TestSchema:
    def test_infer_prints_or_writes_the_schema_of_the_documents(self):
        schema = json.loads(run("schema", "infer", GOLD).stdout)
        assert list(schema["properties"]) == ["page", "speakers"]
        assert run("schema", "infer", GOLD, "--out", "made/schema.json").stdout == ""
        assert json.loads(Path("made/schema.json").read_text(encoding="utf-8")) == schema
        write("list.json", [{"name": "Ada"}, {"name": "Bob"}])
        assert json.loads(run("schema", "infer", "list.json").stdout)["type"] == "array"
        write("bad.jsonl", '{"id": "a"}\n{"id": "b", "x": NaN}')
        assert run("schema", "infer", "bad.jsonl", code=2).stderr.startswith("error: bad.jsonl:2: ")

    def test_check_reports_problems_of_schema_and_documents(self):
        assert run("schema", "check", SCHEMA).stdout == f"{SCHEMA}: no problems; 15 paths, entries /speakers\n"
        assert run("schema", "check", SCHEMA, GOLD).stdout.splitlines()[1:] == ["6 documents, 0 violations"]
        lines = run("schema", "check", SCHEMA, GOLD, HASTY, code=1).stdout.splitlines()
        assert lines[-1] == "11 documents, 6 violations"
        assert lines[-2] == f"{HASTY}:5: None is not of type 'array' (type) at /speakers/5/interventions"

    def test_check_lists_all_problems(self):
        properties = {"a": {"x-arbitre": {"wieght": 2}}, "b": {"type": "string", "x-arbitre": {"distance": "exakt"}}}
        write("schema.json", {"type": "object", "properties": properties})
        said = run("schema", "check", "schema.json", code=2).stderr
        assert said.count("error: schema.json: ") == 2
        assert 'Did you mean "weight"?' in said
        assert 'Did you mean "exact"?' in said
        assert "Traceback" not in said

    def test_explain_lists_every_path_with_its_settings(self):
        text = run("schema", "explain", SCHEMA).stdout
        rows = [line.split() for line in text.splitlines()]
        assert ["/speakers", "array", "1", "hungarian", "matching", "entries"] in rows
        assert ["/name", "string", "2", "yujian-bo", "after", "squash-space,", "casefold"] in rows
        data = json.loads(run("schema", "explain", SCHEMA, "--format", "json").stdout)
        assert data["entries"] == "/speakers"
        assert {"path": "/speakers/*/role", "kind": "string", "distance": "exact"}.items() <= data["paths"][7].items()

    def test_explain_shows_the_settings_of_an_overlay(self):
        write("overlay.json", {"/speakers/*/role": {"weight": 3}})
        data = json.loads(run("schema", "explain", SCHEMA, "--overlay", "overlay.json", "--format", "json").stdout)
        assert [row["weight"] for row in data["paths"] if row["path"] == "/speakers/*/role"] == [3.0]


@pytest.mark.parametrize("folder", ["my dir", "a & b"])
def test_suggested_commands_quote_paths(folder):
    Path(folder).mkdir()
    gold, schema, records = f"{folder}/gold.json", f"{folder}/schema.json", f"{folder}/gold.jsonl"
    write(gold, {"a": 1})
    write(records, '{"id": "1", "a": 1}\n{"id": "2", "a": 1}\n')
    write(schema, {"type": "object", "properties": {"a": {"x-eval-skip": True}}})
    inferred = run("compare", gold, gold).stderr.split(" (")[1].split(" prints it")[0]
    assert shlex.split(inferred) == ["arbitre", "schema", "infer", gold]
    refused = run("compare", records, gold, code=2).stderr.partition("use: arbitre evaluate ")[2]
    assert shlex.split(refused) == ["--schema", "SCHEMA", "--gold", records, "--predicted", gold]
    imported = run("compare", gold, gold, "--schema", schema).stderr.partition("`arbitre schema import ")[2]
    assert shlex.split(imported.partition(" --from")[0]) == [schema]


class TestDemo:
    def test_the_printed_commands_reproduce_the_demo(self):
        text = run("demo", "--out", "my demo").stdout
        commands = [line.strip() for line in text.splitlines() if line.startswith("  arbitre evaluate")]
        assert len(commands) == 2
        before = {path: path.read_bytes() for path in Path("my demo").rglob("*") if path.is_file()}
        assert len(before) == 5 + 8 + 8 + 3  # the corpus and the report of both, the results of each, and the lists
        for command in commands:
            words = next(csv.reader(io.StringIO(command), delimiter=" "))
            run(*words[1:])
        assert {path: path.read_bytes() for path in Path("my demo").rglob("*") if path.is_file()} == before
        assert Path("my demo/hasty/failures.csv").exists()
        rows = [line.split() for line in text.splitlines()]  # both systems side by side
        assert ["f1q", "0.97", "0.71"] in [row[:3] for row in rows]  # the means, which `rank` shows as well
        assert ["95%", "interval", "0.86", "to", "1.00", "0.26", "to", "0.97"] in rows

    def test_a_quiet_demo_prints_nothing(self):
        assert run("demo", "--quiet").output == ""
        assert Path("arbitre-demo/hasty/failures.csv").exists()


def test_colours_can_be_forced_and_disabled(monkeypatch, pair):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert f"{ESCAPE}[" in run("compare", *pair).stdout
    assert ESCAPE not in run("compare", *pair, "--no-color").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert f"{ESCAPE}[3" not in run("compare", *pair).stdout


@pytest.mark.parametrize(
    ("command", "width"),
    [*itertools.product(("compare", "explain"), (60, 80, 100)), ("evaluate", 80), ("demo", 80)],
)
def test_no_line_exceeds_the_terminal_width(command, width, pair):
    """The tests of golden files check the output of `evaluate` and `demo` at two other widths."""
    arguments = {
        "compare": ("compare", *pair, "--published"),
        "evaluate": ("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", HASTY, "--validate"),
        "demo": ("demo",),
        "explain": ("schema", "explain", SCHEMA),
    }[command]
    lines = run(*arguments, env={"COLUMNS": str(width)}).stdout.splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith("  arbitre evaluate")] == []


def test_long_paths_are_broken_before_a_slash():
    assert list(nested_labels(["/aaaa/bbbb/cccc", "/aaaa/bbbb/cccc/dddd/eeee"], 12)) == [
        "/aaaa/bbbb\n  /cccc",
        "  /dddd/eeee",
    ]


def test_document_text_is_not_read_as_markup(capsys):
    Terminal.create().show(["[bold]:smile:", "next"])
    assert capsys.readouterr().out == "[bold]:smile:\n\nnext\n"


def test_progress_without_a_terminal_is_a_line_every_few_seconds(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.02)

    def slowly(self):
        for step in (("comparing", 0, 6), ("comparing", 6, 6), ("computing intervals", 0, None), ("writing", 0, None)):
            self.on_progress(*step)
            time.sleep(0.1)
        self.on_progress = ignore_progress
        return EVALUATE(self)

    monkeypatch.setattr(EvaluationJob, "__call__", slowly)
    result = run("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", CAREFUL)
    lines = [re.sub(r", [\d,]+/s, 0:00:00 left$", " (rate)", line) for line in result.stderr.splitlines()]
    later = (line for line in lines if not line.startswith("reading"))  # it may end before the first line
    assert list(dict.fromkeys(later)) == [
        "comparing: 0 of 6 documents",
        "comparing: 6 of 6 documents (rate)",
        "computing intervals",
        "writing",
    ]
    assert (
        "comparing" not in run("evaluate", "--quiet", "--schema", SCHEMA, "--gold", GOLD, "--predicted", CAREFUL).stderr
    )


EVALUATE = EvaluationJob.__call__


def test_the_phases_are_reported_in_order(monkeypatch):
    phases = []

    @contextmanager
    def recorded(_screen):
        yield lambda *step: phases.append(step)

    monkeypatch.setattr(evaluate_command, "shown_progress", recorded)
    run("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", CAREFUL, "--out", "out")
    assert phases[0] == ("reading", 1, None)
    assert phases[-4:] == [
        ("comparing", 6, 6),
        ("computing intervals", 0, None),
        ("diagnosing", 0, None),
        ("writing", 0, None),
    ]
    assert list(dict.fromkeys(phase for phase, _, _ in phases)) == [
        *("reading", "comparing", "computing intervals", "diagnosing", "writing")
    ]


def test_the_bar_has_a_total_only_where_it_is_known():
    """Of a phase without a total, the number of documents is shown alone; the bar of the next one starts anew."""
    console = Console(file=io.StringIO(), force_terminal=True, force_interactive=True, width=120)
    screen = Terminal(console, console, quiet=False)
    with shown_progress(screen) as show:
        for step in (("reading", 18643, None), ("comparing", 200, 18643), ("computing intervals", 0, None)):
            show(*step)
            time.sleep(0.3)  # it is drawn ten times a second
    printed = console.file.getvalue()
    assert "18,643 documents" in printed
    assert "200 of 18,643 documents" in printed
    assert "100" not in printed


@pytest.mark.parametrize(
    ("is_terminal", "shown"),
    [(True, "3 documents sur 18 643"), (False, "comparaison : 3 documents sur 18 643, ")],
    ids=["terminal", "file"],
)
def test_progress_is_in_the_language_of_the_output(monkeypatch, is_terminal, shown):
    monkeypatch.setattr(progress, "SECONDS", 0.02)
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=160)
    screen = Terminal(console, console, quiet=False, say=Translator(Language.FR, plain=True))
    with shown_progress(screen) as show:
        for step in (("reading", 1, None), ("comparing", 2, 18643), ("comparing", 3, 18643)):
            show(*step)
            time.sleep(0.3)
        for phase in get_args(Phase):
            show(phase, 0, None)
            time.sleep(0.3)
    printed = console.file.getvalue()
    assert shown in printed
    assert "calcul des intervalles" in printed
    assert [phase for phase in get_args(Phase) if phase in printed] == []


def test_no_chance_computes_no_chance_scores():
    run("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", CAREFUL, "--out", "out", "--no-chance")
    assert json.loads(Path("out/evaluation.json").read_text(encoding="utf-8"))["trust"]["chance"] is None


def test_compare_notes_a_document_without_declared_keys_and_strict_refuses_it(tmp_path):
    files = {"gold": {"speakers": []}, "wrapped": {"answer": {"speakers": []}}, "schema": {"type": "object"}}
    files["schema"] |= {"properties": {"speakers": {"type": "array"}}}
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    gold, wrapped, schema = (str(tmp_path / f"{name}.json") for name in files)
    said = "The prediction has no key that the schema declares ('speakers'). Keys found: 'answer'."
    assert said in run("compare", gold, wrapped, "--schema", schema).stderr
    assert "The gold document has no key" in run("compare", wrapped, gold, "--schema", schema).stderr
    assert said in run("compare", gold, wrapped, "--schema", schema, "--strict", code=2).stderr
    assert "no key" not in run("compare", gold, gold, "--schema", schema, "--strict").stderr
    with pytest.raises(arbitre.DataError, match="has no key that the schema declares"):
        arbitre.compare(schema, gold=gold, predicted=wrapped, strict=True)


class TestGoldAndPredicted:
    """Paths as arguments, in place of --gold and --predicted."""

    @pytest.mark.parametrize("command", [("evaluate", "--schema", SCHEMA), ("fix", SCHEMA)])
    def test_arguments_are_the_options(self, command):
        options = run(*command, "--gold", GOLD, "--predicted", HASTY, "--format", "json").stdout
        assert run(*command, GOLD, HASTY, "--format", "json").stdout == options

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((GOLD,), "Expected the arguments GOLD PREDICTED, got"),
            ((GOLD, HASTY, CAREFUL), "Expected the arguments GOLD PREDICTED, got"),
            ((GOLD, HASTY, "--gold", GOLD), "Expected GOLD PREDICTED or --gold, got both"),
            ((), "Expected --gold and --predicted, or --pairs alone, or --manifest alone"),
            ((GOLD, HASTY, "--pairs", GOLD), "Expected --gold and --predicted, or --pairs alone, or --manifest alone"),
        ],
    )
    def test_other_numbers_and_both_forms_are_refused(self, arguments, message):
        said = " ".join(run("evaluate", "--schema", SCHEMA, *arguments, code=2).output.replace("│", " ").split())
        assert message in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", GOLD, HASTY, "--schema", SCHEMA, "--overlay", "a.json", "--overlay=b.json"),
        ("fix", SCHEMA, GOLD, HASTY, "--overlay", "a.json", "--overlay", "a.json"),
        ("schema", "check", SCHEMA, "--overlay", "a.json", "--overlay", "b.json"),
    ],
)
def test_two_overlays_are_refused(arguments):
    said = " ".join(run(*arguments, code=2).output.replace("│", " ").split())
    assert "Invalid value for '--overlay': This option can be given only once, but it was given 2 times." in said


def test_of_other_options_with_one_value_the_last_one_counts():
    flags = ("--close", "0.5", "--close", "0.7", "--format", "json")
    assert json.loads(evaluate(HASTY, *flags).stdout)["signature"]["entries"]["close"] == "0.7"


def test_lists_of_too_few_documents_have_a_gamma_without_interval():
    for name in ("ada", "bob", "cy"):
        Path(name).mkdir()
        write(f"{name}/1.json", [{"name": "Ada", "age": 1}, {"name": name, "age": 2}])
    write("schema.json", PEOPLE)
    text = run("agree", "--schema", "schema.json", *(f"{name}={name}" for name in ("ada", "bob", "cy"))).stdout
    assert "Alignment of lists (gamma)" in text
    assert re.search(r"value +interval +observed", text)
