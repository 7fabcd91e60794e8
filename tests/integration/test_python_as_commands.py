"""Every command has a Python function that returns the same figures and writes the same files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.builders import read_records
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app

pytestmark = pytest.mark.usefixtures("few_shuffles")

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
GOLD, CAREFUL, HASTY = (str(bundled.demo() / f"{name}.jsonl") for name in ("gold", "careful", "hasty"))
OVERLAY = {"/speakers/*/name": {"weight": 2}}
FUNCTIONS = """
def initial(gold, predicted):
    return float(gold[:1] != predicted[:1])

def untitled(text):
    return text.removeprefix("Mr ")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("overlay.json").write_text(json.dumps(OVERLAY))
    for name, file in (("gold", GOLD), ("hasty", HASTY)):
        first = next(iter(read_records(file, "gold")))
        Path(f"{name}.json").write_text(json.dumps(first.value))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def printed(*arguments, code=0):
    return json.loads(run(*arguments, "--format", "json", code=code).stdout)


def same(left, right):
    """Compare JSON data, as written to a file and read again."""
    assert json.loads(json.dumps(left)) == json.loads(json.dumps(right))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def manifest(*rows):
    """A manifest of the demo, with a file for each document, and its factors."""
    with Path("runs.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "run", "gold", "predicted", "ocr", "prompt"])
        for record in read_records(GOLD, "gold"):
            Path(f"{record.id}.json").write_text(json.dumps(record.value))
            for ocr, prompt, source in rows:
                known = {record.id: record for record in read_records(source, "predicted") if hasattr(record, "value")}
                if record.id in known:
                    run = f"{ocr}-{prompt}"
                    Path(f"{record.id}-{run}.json").write_text(json.dumps(known[record.id].value))
                    table.writerow([record.id, run, f"{record.id}.json", f"{record.id}-{run}.json", ocr, prompt])
    return Path("runs.csv")


SIDES = "--schema", SCHEMA, "--gold", GOLD, "--predicted", HASTY


def test_an_evaluation_writes_the_further_tables():
    tables = ["--table", "paths.tex", "--table", "documents.parquet", "--table", "groups.md", "--table-score", "irq"]
    options = ["--overlay", "overlay.json", "--close", "0.9", "--cluster-by", "page_0[1-3]|page", "--validate"]
    run("evaluate", *SIDES, *options, *tables, "--out", "command", "--workers", "1")
    evaluation = arbitre.evaluate(
        SCHEMA,
        gold=GOLD,
        predicted=HASTY,
        overlay=OVERLAY,
        close=0.9,
        cluster_by="page_0[1-3]|page",
        validate=True,
        table=["paths.tex", "documents.parquet", "groups.md"],
        table_score="irq",
        out="python",
    )
    assert contents("python") == contents("command")
    assert {"paths.tex", "documents.parquet", "groups.md"} <= set(evaluation.files) <= contents("python").keys()
    assert "irq" in Path("python/paths.tex").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "paths.tex"}, "`table` requires `out`"),
        ({"table_score": "irq"}, "`table_score` requires `table`"),
        ({"table": "groups.md", "out": "out"}, "`table` groups.md requires `cluster_by`"),
    ],
    ids=["no folder", "no table", "no clusters"],
)
def test_tables_that_cannot_be_written_are_refused_before_the_evaluation(options, message):
    with pytest.raises(arbitre.OptionError, match=message):
        arbitre.evaluate(SCHEMA, gold="none.jsonl", predicted="none.jsonl", **options)


def test_an_option_of_the_comparator_is_refused_with_a_comparator():
    with pytest.raises(arbitre.OptionError, match="`close` requires a schema"):
        arbitre.evaluate(arbitre.Comparator(SCHEMA), gold=GOLD, predicted=HASTY, close=0.9)


def test_a_missed_bound_raises_after_the_files_are_written():
    with pytest.raises(arbitre.QualityBoundError, match=r"micro f1q is 0\.7637, 0\.1363 below 0\.9") as caught:
        arbitre.evaluate(
            SCHEMA, gold=GOLD, predicted=HASTY, out="out", fail_under={"f1q": 0.9}, fail_over={"failed": 0}
        )
    assert len(caught.value.problems) == 2
    assert arbitre.load("out").macro.failed == 1
    assert run("evaluate", *SIDES, "--fail-under", "f1q=0.9", code=1)


def test_notes_on_the_join_are_on_the_evaluation():
    swapped = arbitre.evaluate(SCHEMA, gold=HASTY, predicted=GOLD, out="out")
    (note,) = swapped.notes
    assert note in run("evaluate", "--schema", SCHEMA, "--gold", HASTY, "--predicted", GOLD).stderr
    assert arbitre.load("out").notes == swapped.notes
    assert arbitre.evaluate(SCHEMA, gold=GOLD, predicted=HASTY).notes == ()


def test_functions_are_named_as_on_the_command_line():
    Path("own_functions.py").write_text(FUNCTIONS)
    Path("names.json").write_text(
        '{"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "initial", "normalize": "untitled"}}}'
    )
    for name, names in (("a", ["Mr Bo", "Cy"]), ("b", ["Ben", "Cy"])):
        Path(f"{name}.json").write_text(json.dumps(names))
    functions = ["own_functions:initial", "own_functions:untitled"]
    comparison = arbitre.compare("names.json", gold="a.json", predicted="b.json", functions=functions)
    assert comparison.scores.f1q == 1.0
    given = [word for name in functions for word in ("--functions", name)]
    same(comparison.to_dict(), printed("compare", "a.json", "b.json", "--schema", "names.json", *given))
    with pytest.raises(arbitre.OptionError, match="Expected `functions` to name a function or a catalogue"):
        arbitre.Comparator("names.json", functions=["own_functions:none"])


def test_two_files_are_compared():
    comparison = arbitre.compare(SCHEMA, gold="gold.json", predicted=Path("hasty.json"), close=0.9)
    same(comparison.to_dict(), printed("compare", "gold.json", "hasty.json", "--schema", SCHEMA, "--close", "0.9"))
    inferred = arbitre.compare(gold="gold.json", predicted="hasty.json")
    same(inferred.to_dict(), printed("compare", "gold.json", "hasty.json"))
    with pytest.raises(arbitre.QualityBoundError, match="micro f1q"):
        arbitre.compare(SCHEMA, gold="gold.json", predicted="hasty.json", fail_under={"f1q": 1.0})


def test_two_files_are_compared_side_by_side():
    rows = arbitre.side_by_side(SCHEMA, gold="gold.json", predicted="hasty.json", match=["hungarian", "ordered"])
    arguments = ["compare", "gold.json", "hasty.json", "--schema", SCHEMA, "--match", "hungarian", "--match", "ordered"]
    same([row.to_dict() for row in rows], printed(*arguments)["choices"])


def test_systems_are_ranked_with_further_tables_and_several_scores():
    names = f"careful={CAREFUL}", f"hasty={HASTY}"
    options = ["--score", "irq", "--score", "amq", "--level", "0.9", "--aggregate", "micro", "--no-chance"]
    run("rank", *names, *SIDES[:4], *options, "--table", "pairs.tex", "--out", "command", "--workers", "1")
    ranking = arbitre.rank(
        {"careful": CAREFUL, "hasty": HASTY},
        ["irq", "amq"],
        schema=SCHEMA,
        gold=GOLD,
        level=0.9,
        aggregate="micro",
        no_chance=True,
        table="pairs.tex",
        out="python",
    )
    assert contents("python") == contents("command")
    assert [*ranking.systems[0].scores] == ["irq", "amq"]


def test_systems_that_miss_a_bound_are_named():
    systems = {"careful": CAREFUL, "hasty": HASTY}
    with pytest.raises(arbitre.QualityBoundError, match=r"^hasty: micro f1q is 0\.7637"):
        arbitre.rank(systems, schema=SCHEMA, gold=GOLD, fail_under={"f1q": 0.9})
    evaluations = {name: arbitre.evaluate(SCHEMA, gold=GOLD, predicted=path) for name, path in systems.items()}
    with pytest.raises(arbitre.QualityBoundError, match=r"^hasty: micro f1q is 0\.7637"):
        arbitre.rank(evaluations, fail_under={"f1q": 0.9})


def test_the_levels_of_factors_are_compared():
    runs = manifest(("good", "long", CAREFUL), ("bad", "long", HASTY), ("good", "short", CAREFUL))
    factors = ["--factor", "ocr", "--factor", "prompt", "--score", "irq"]
    run("rank", "--schema", SCHEMA, "--manifest", runs, *factors, "--table", "levels.md", "--out", "command")
    results = arbitre.rank(
        schema=SCHEMA, manifest=runs, factor=["ocr", "prompt"], score="irq", table="levels.md", out="python"
    )
    assert [factor.name for factor in results.factors] == ["ocr", "prompt"]
    assert results.factors[0].levels["good"].estimate > results.factors[0].levels["bad"].estimate
    assert contents("python") == contents("command")


@pytest.mark.parametrize(
    "given",
    [
        {"manifest": "runs.csv"},
        {"manifest": "runs.csv", "factor": "ocr"},
        {"schema": SCHEMA, "manifest": "runs.csv"},
        {"schema": SCHEMA, "factor": "ocr"},
        {"schema": SCHEMA, "manifest": "runs.csv", "factor": "ocr", "gold": GOLD},
    ],
    ids=["manifest", "no schema", "no factor", "no manifest", "gold and manifest"],
)
def test_factors_require_a_schema_and_a_manifest_alone(given):
    with pytest.raises(arbitre.OptionError, match="`manifest` and `factor` with `schema`"):
        arbitre.rank(**given)


def test_the_stability_over_runs_is_on_the_ranking():
    pairs = [("a", ["Ada"], ["Ada"]), ("a", ["Ada"], []), ("b", ["Bo"], ["Bo"]), ("b", ["Bo"], ["Bo"])]
    several = arbitre.evaluate({"type": "array", "items": {"type": "string"}}, pairs)
    ranking = arbitre.rank({"one": several}, out="out")
    assert ranking.stability["one"].overall.mean == 0.75
    assert arbitre.load("out") == ranking


def test_evaluations_are_compared_with_an_earlier_version():
    before = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=CAREFUL, out="before")
    after = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=HASTY, out="after")
    changes = arbitre.diff(before, after, "irq")
    assert changes.documents
    assert changes == arbitre.diff("before", Path("after/evaluation.json"), "irq")
    same(changes.to_dict(), printed("diff", "before/evaluation.json", "after", "--score", "irq"))
    with pytest.raises(arbitre.QualityBoundError, match=r"Pooled \(micro\) irq fell by"):
        arbitre.diff(before, after, "irq", fail_if_worse=True, tolerance=0.01)
    for side in (after, "after"):
        with pytest.raises(arbitre.QualityBoundError, match=r"micro f1q is 0\.7637"):
            arbitre.diff(before, side, fail_under={"f1q": 0.9})


def test_saved_evaluations_are_compared_document_by_document():
    after = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=HASTY)
    before = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=CAREFUL)
    before.save("saved")  # without the folder `documents`
    assert arbitre.diff("saved", after) == arbitre.diff(before, after)


def test_the_metricity_of_entries_is_measured():
    options = ["--distance", "levenshtein", "--distance", "yujian-bo", "--sample", "12", "--seed", "3"]
    arguments = [GOLD, HASTY, "--schema", SCHEMA, "--overlay", "overlay.json", *options]
    same(
        arbitre.entry_metricity(
            SCHEMA,
            gold=GOLD,
            predicted=HASTY,
            overlay=OVERLAY,
            distance=["levenshtein", "yujian-bo"],
            sample=12,
            seed=3,
            out="python",
            csv_dialect="excel-fr",
        ).to_dict(),
        printed("metricity", *arguments),
    )
    run("metricity", *arguments, "--out", "command", "--csv-dialect", "excel-fr")
    assert contents("python") == contents("command")


def test_a_schema_is_inferred_from_a_folder():
    Path("notes.txt").write_text("")
    inferred = arbitre.infer_schema(".", out="python/schema.json")
    result = run("schema", "infer", ".", "--out", "command/schema.json")
    assert contents("python") == contents("command")
    assert (inferred.documents, inferred.skipped) == (3, ("notes.txt: not a .json file",))
    assert "notes.txt: not a .json file" in result.stderr
    assert arbitre.Comparator.infer("gold.json").schema == arbitre.infer_schema(["gold.json"]).schema


def test_a_schema_and_documents_are_checked():
    check = arbitre.check_schema(SCHEMA, CAREFUL, gold=[GOLD, HASTY], overlay="overlay.json")
    arguments = ["schema", "check", SCHEMA, CAREFUL, "--gold", GOLD, "--gold", HASTY, "--overlay", "overlay.json"]
    same(
        {"schema": SCHEMA} | check.to_dict(certificate=True),
        printed(*arguments, "--certificate", code=2),
    )
    assert (check.ok, len(check.violations)) == (False, 32)
    assert arbitre.check_schema(SCHEMA, gold=GOLD).ok


def test_reports_and_figures_are_written_from_results_and_evaluations():
    evaluation = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=HASTY)
    evaluation.save("one")
    run("report", "one", "--lang", "fr", "--keep", "2", "--out", "command.html")
    for results in (evaluation, "one", [Path("one/evaluation.json")]):
        written = arbitre.write_report(results, "python.html", lang="fr", keep=2)
        assert written.file.read_bytes() == Path("command.html").read_bytes()
    assert arbitre.write_report("one").file == Path("one/report.html")
    several = arbitre.write_report([evaluation, "one"], "both.html").file.read_text(encoding="utf-8")
    assert "evaluation 1" in several
    files = arbitre.write_figures(evaluation, "figures", lang="fr")
    run("figures", "one", "--out", "command", "--lang", "fr")
    assert {*files, ".arbitre-output"} == contents("command").keys()
    assert contents("figures") == contents("command")
    with pytest.raises(arbitre.OptionError, match="`out` is required"):
        arbitre.write_report(evaluation)


def test_aliases_and_a_gate_are_suggested():
    for name, function in (("suggest-aliases", arbitre.suggest_aliases), ("suggest-gate", arbitre.suggest_gate)):
        suggested = function(SCHEMA, gold=GOLD, predicted=HASTY, overlay="overlay.json", out="python.json")
        arguments = [name, SCHEMA, "--gold", GOLD, "--predicted", HASTY, "--overlay", "overlay.json"]
        same(suggested.to_dict(), printed("schema", *arguments, "--out", "command.json"))
        assert Path("python.json").read_bytes() == Path("command.json").read_bytes()


def test_faults_are_planted_into_documents():
    copies = arbitre.perturb_gold(GOLD, {"move": 0.1, "drop": 0.1}, at="/speakers", seed=5, out="python.jsonl")
    rates = ["--rate", "move=0.1", "--rate", "drop=0.1"]
    printed_lines = run("perturb", GOLD, *rates, "--at", "/speakers", "--seed", "5").stdout
    run("perturb", GOLD, *rates, "--at", "/speakers", "--seed", "5", "--out", "command.jsonl")
    assert Path("python.jsonl").read_text() == Path("command.jsonl").read_text() == printed_lines
    assert [json.loads(line) for line in printed_lines.splitlines()] == [copy.to_dict() for copy in copies]
