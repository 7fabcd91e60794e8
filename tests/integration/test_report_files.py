"""The reports of `arbitre evaluate`, `demo`, `report` and `figures`, and their reproduction from results."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.errors import DataError, OptionError
from arbitre.inputs.records import Pair
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.jobs.result_files import evaluate_into
from arbitre.language import Language
from arbitre.report.report_files import read_view
from arbitre.tables.csv_text import cell

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
SIDES = ("--gold", bundled.demo() / "gold.jsonl", "--predicted", bundled.demo() / "hasty.jsonl")
OPTIONS = ("evaluate", "--schema", SCHEMA, *SIDES, "--out")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(part) for part in arguments], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A folder of results, which no test changes."""
    folder = tmp_path_factory.mktemp("evaluated") / "out"
    run(*OPTIONS, folder)
    return folder


@pytest.fixture
def results(evaluated, tmp_path):
    """A copy of a folder of results, and the options that make them."""
    out = shutil.copytree(evaluated, tmp_path / "out")
    return out, (*OPTIONS, out)


def test_evaluate_leaves_a_report_beside_its_results(results):
    out, options = results
    first = {name: (out / name).read_bytes() for name in ("report.html", "alignments.json")}
    said = run(*options).stderr
    assert "alignments.json, report.html to" in said
    assert {name: (out / name).read_bytes() for name in first} == first
    assert first["report.html"].startswith(b'<!doctype html>\n<html lang="en">')


def test_no_report_leaves_it_out_and_removes_an_earlier_one(results):
    out, options = results
    run(*options, "--no-report")
    assert not {"report.html", "alignments.json"} & {path.name for path in out.iterdir()}
    assert (out / "evaluation.json").exists()


def test_report_reproduces_the_same_page(results, tmp_path):
    out, _ = results
    before = (out / "report.html").read_bytes()
    run("report", out / "evaluation.json", "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == before
    (out / "report.html").unlink()
    run("report", out / "evaluation.json", "--lang", "fr")
    french = (out / "report.html").read_text(encoding="utf-8")
    assert '<html lang="fr">' in french
    assert "<b>58</b> dans la référence" in french


def test_report_without_alignments_is_shorter(results):
    out, _ = results
    (out / "alignments.json").unlink()
    run("report", out / "evaluation.json")
    assert "The documents are not stored next to this evaluation." in (out / "report.html").read_text(encoding="utf-8")


def test_evaluations_in_folders_of_the_same_name_are_distinguished(results, tmp_path):
    out, _ = results
    paths = []
    for name in ("first", "second"):
        copied = tmp_path / name / "run"
        shutil.copytree(out, copied)
        paths.append(copied / "evaluation.json")
    assert [one.name for one in read_view(paths).subjects] == ["first/run", "second/run"]
    with pytest.raises(DataError, match="got the same folder twice"):
        read_view([paths[0], paths[0]])


@pytest.mark.slow
def test_demo_ends_with_the_report_of_both_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("demo").stdout
    assert said.rstrip().endswith("Open the report in a browser: arbitre-demo/report.html")
    made = (tmp_path / "arbitre-demo" / "report.html").read_bytes()
    demo = tmp_path / "arbitre-demo"
    systems = [f"{name}={demo / name}.jsonl" for name in ("careful", "hasty")]
    run("rank", "--schema", demo / "speakers.schema.json", "--gold", demo / "gold.jsonl", *systems, "--out", "both")
    assert (tmp_path / "both" / "report.html").read_bytes() == made
    assert "2 systems compared" in made.decode()
    run("report", *(demo / name / "evaluation.json" for name in ("careful", "hasty")), "--out", "both.html")
    assert "2 systems compared" in (tmp_path / "both.html").read_text(encoding="utf-8")
    said = run("demo", "--no-report").stdout
    assert "Open the report" not in said
    assert list((tmp_path / "arbitre-demo").rglob("report.html")) == []


def figure_files(*names):
    """The files of figures: of each width, and their data."""
    widths = [f"-{width}.{end}" for width in ("column", "page") for end in ("pdf", "png", "svg")]
    return sorted(f"{name}{end}" for name in names for end in (*widths, ".json"))


@pytest.mark.slow
def test_figures_are_drawn_from_an_evaluation(results, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    run("figures", results[0] / "evaluation.json", "--out", tmp_path / "figures")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        ".arbitre-output",
        *figure_files("causes", "confusion-1", "confusion-2", "heat", "paths", "survival"),
    ]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A folder with what `arbitre rank --factor` reads, and its results, which no test changes."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "a.json").write_text('{"speakers": [{"first_name": "Ada", "surname": "Lang"}]}', encoding="utf-8")
    (folder / "b.json").write_text('{"speakers": []}', encoding="utf-8")
    lines = ["id,run,gold,predicted,ocr", "p,1,a.json,a.json,x", "p,2,a.json,b.json,y", "q,1,b.json,b.json,x"]
    (folder / "m.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = ("--manifest", folder / "m.csv", "--factor", "ocr")
    run("rank", "--schema", SCHEMA, *manifest, "--out", folder / "levels")
    return folder


@pytest.fixture
def factors(compared, tmp_path):
    """A copy of what `arbitre rank --factor` leaves."""
    return shutil.copytree(compared / "levels", tmp_path / "levels") / "factors.json"


@pytest.mark.slow
def test_figures_of_factors_need_no_evaluation(factors, results, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    run("figures", factors, "--out", tmp_path / "figures")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        ".arbitre-output",
        *figure_files("levels", "paths-ocr"),
    ]
    run("figures", factors, results[0] / "evaluation.json", "--out", tmp_path / "both")
    assert {path.name for path in (tmp_path / "both").glob("*.json")} == {
        f"{name}.json"
        for name in ("causes", "confusion-1", "confusion-2", "heat", "levels", "paths", "paths-ocr", "survival")
    }
    run("figures", factors, "--out", tmp_path / "column", "--width", "column")
    names = {path.name for path in (tmp_path / "column").glob("*.pdf")}
    assert names == {"levels-column.pdf", "paths-ocr-column.pdf"}


def test_factors_alone_make_no_report(factors):
    assert "factors.json needs its evaluation" in run("report", factors, code=2).stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "arbitre-factors/9"}, "at /format"),
        ({"factors": []}, "at /factors"),
        ({"factors": [{}]}, "at /factors/0"),
        ({"signature": {"entries": {}, "version": "0", "short": "x"}}, "Expected factors with the signature of one"),
    ],
)
def test_factors_of_another_evaluation_are_refused(factors, change, said):
    plain = json.loads(factors.read_text(encoding="utf-8"))
    factors.write_text(json.dumps(plain | change), encoding="utf-8")
    evaluation = factors.parent / "evaluation" / "evaluation.json"
    found = run("report", evaluation, factors, "--out", factors.with_name("made"), code=2).stderr
    assert said in found
    assert "factors.json" in found
    assert not factors.with_name("made").exists()


def test_two_files_of_factors_are_refused(factors, tmp_path):
    found = run("figures", factors, factors, "--out", tmp_path / "figures", code=2).stderr
    assert "Expected at most one factors.json, got 2" in found
    assert not (tmp_path / "figures").exists()


def changed(out, **changes):
    file = out / "evaluation.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes), encoding="utf-8")
    return file


def test_alignments_of_another_evaluation_are_refused(results):
    out, _ = results
    said = run("report", changed(out), code=2).stderr
    assert "got the alignments of another evaluation" in said
    assert "alignments.json" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"documents": -1}, "at /documents"), ({"format": "x"}, "at /format"), ({"extra": 1}, "extra")],
    ids=["number", "format", "key"],
)
def test_a_malformed_evaluation_is_refused(results, changes, said):
    out, _ = results
    found = run("report", changed(out, **changes), code=2).stderr
    assert "Invalid evaluation: " in found
    assert said in found


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"'])
@pytest.mark.parametrize("command", ["report", "figures"])
def test_other_files_are_refused(tmp_path, command, text):
    (tmp_path / "evaluation.json").write_text(text, encoding="utf-8")
    found = run(command, tmp_path / "evaluation.json", "--out", tmp_path / "made", code=2).stderr
    assert "evaluation.json" in found
    assert not (tmp_path / "made").exists()


def test_a_missing_file_is_refused(tmp_path):
    assert "missing.json" in run("report", tmp_path / "missing.json", code=2).stderr


def test_damaged_alignments_are_refused(results):
    out, _ = results
    file = out / "alignments.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(found | {"kept": [{}]}), encoding="utf-8")
    assert "KeyError" in run("report", out / "evaluation.json", code=2).stderr


@pytest.mark.parametrize(
    ("text", "kept"),
    [("=1+1", "'=1+1"), ("@x", "'@x"), ("-5", "'-5"), ("+3", "'+3"), ("\tx", "'\tx"), ("a=b", "a=b"), ("'x", "'x")],
)
def test_no_cell_starts_a_formula(tmp_path, text, kept):
    schema = {"type": "array", "items": {"type": "object", "properties": {text: {"type": "string"}}}}
    plan = arbitre.Comparator(schema).plan
    evaluate_into(tmp_path, plan, [Pair(text, text, [{text: text}], [{text: text}])])
    with (tmp_path / "matches.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["id"], row["run"]) == (kept, kept)
    heads = [name for name in row if name.endswith(".gold")]
    assert [row[name] for name in heads] == [kept]
    assert heads[0] == (f"{text}.gold" if kept == text else f"'{text}.gold")


def test_negative_numbers_are_not_escaped_as_formulas():
    assert cell(-0.5) == "-0.5"


def test_several_evaluations_require_out(results):
    out, _ = results
    run("report", out / "evaluation.json", out / "evaluation.json", code=2)


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """The folder of a ranking, which no test changes."""
    folder = tmp_path_factory.mktemp("ranked") / "r"
    sides = {name: bundled.demo() / f"{name}.jsonl" for name in ("gold", "careful", "hasty")}
    systems = [f"{name}={sides[name]}" for name in ("careful", "hasty")]
    run("rank", *systems, "--gold", sides["gold"], "--schema", SCHEMA, "--out", folder, "--workers", "1")
    return folder


@pytest.fixture
def ranking(ranked, tmp_path):
    """A copy of the folder of a ranking."""
    return shutil.copytree(ranked, tmp_path / "r")


def test_the_report_of_a_ranking_is_made_again_byte_for_byte(ranking, tmp_path):
    plain = json.loads((ranking / "ranking.json").read_text(encoding="utf-8"))
    assert not list(Draft202012Validator(bundled.schema("ranking.schema.json")).iter_errors(plain))
    page = (ranking / "report.html").read_bytes()
    (ranking / "report.html").unlink()
    run("report", ranking)
    assert (ranking / "report.html").read_bytes() == page
    run("report", ranking / "ranking.json", "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page
    run("report", ranking, "--keep", "2", "--out", tmp_path / "fewer.html")
    assert len((tmp_path / "fewer.html").read_bytes()) < len(page)


def test_the_folder_of_an_evaluation_or_of_factors_has_a_report(results, factors):
    for folder in (results[0], factors.parent):
        page = (folder / "report.html").read_bytes()
        (folder / "report.html").unlink()
        run("report", folder)
        assert (folder / "report.html").read_bytes() == page


@pytest.mark.slow
def test_figures_of_a_ranking_have_its_intervals_and_tests(ranking, tmp_path):
    pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
    run("figures", ranking, "--out", tmp_path / "figures")
    plain = json.loads((ranking / "ranking.json").read_text(encoding="utf-8"))
    made = {
        name: json.loads((tmp_path / "figures" / f"{name}.json").read_text("utf-8"))["chart"]["groups"][0][1]
        for name in ("leaderboard", "differences")
    }
    assert [(row["value"], row["low"], row["high"]) for row in made["leaderboard"]] == [
        tuple(one["score"][end] for end in ("estimate", "low", "high")) for one in plain["systems"]
    ]
    (row,), (pair,) = made["differences"], plain["pairs"]
    assert (row["label"], row["minus"], row["filled"]) == ("careful", "hasty", pair["significant"])
    assert (row["value"], row["low"], row["high"]) == tuple(pair[name] for name in ("difference", "low", "high"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "arbitre-ranking/9"}, "at /format"),
        ({"documents": 7}, "Expected the evaluation of 'careful' in this ranking, got another one"),
        ({"systems": []}, "at /systems"),
    ],
)
def test_a_ranking_of_other_evaluations_is_refused(ranking, change, said):
    file = ranking / "ranking.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | change), encoding="utf-8")
    assert said in run("report", file, code=2).stderr


def test_a_ranking_needs_its_evaluations(ranking):
    shutil.rmtree(ranking / "hasty")
    said = run("report", ranking, code=2).stderr
    assert "Expected the evaluation of each system" in said
    assert "Rank again without --no-report." in said


def test_a_ranking_is_the_only_file(ranking):
    said = run("report", ranking, ranking / "hasty" / "evaluation.json", "--out", ranking / "x.html", code=2).stderr
    assert "Expected ranking.json as the only file, got 2 files" in said


def test_a_folder_without_results_is_refused(tmp_path):
    assert "got none" in run("report", tmp_path, code=2).stderr
    for name in ("ranking.json", "factors.json"):
        (tmp_path / name).touch()
    assert "got ranking.json and factors.json" in run("report", tmp_path, code=2).stderr


@pytest.mark.parametrize("command", ["evaluate", "rank", "demo", "report"])
def test_every_command_that_writes_a_report_knows_languages(evaluated, compared, tmp_path, command):
    folder = tmp_path / "french"
    manifest = ("--schema", SCHEMA, "--manifest", compared / "m.csv", "--factor", "ocr")
    given = {
        "evaluate": (*OPTIONS, folder),
        "rank": ("rank", *manifest, "--out", folder),
        "demo": ("demo", "--out", folder),
        "report": ("report", evaluated, "--out", folder / "report.html"),
    }[command]
    run(*given, "--lang", "fr")
    pages = list(folder.rglob("report.html"))
    assert len(pages) == {"evaluate": 1, "rank": 2, "demo": 3, "report": 1}[command]
    assert all('<html lang="fr">' in page.read_text(encoding="utf-8") for page in pages)
    assert Language.FR is EvaluationOptions(lang=Language.FR).lang
    with pytest.raises(OptionError, match="Expected a known language, got 'de'\n  Available: en, fr"):
        EvaluationOptions(lang="de")
