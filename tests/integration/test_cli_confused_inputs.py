"""Messages about inputs that are easily confused name the cause and the command or option to use."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import DataError, rank
from arbitre.cli import app
from arbitre.jobs.evaluation_job import EvaluationJob
from arbitre.systems import ranking

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "pages": {"type": "integer"}}}
ROWS = [{"id": "Page_é1", "name": "Ada", "pages": 3}, {"id": "Page_é2", "name": "Bo", "pages": 7}]
SIDES = ("--schema", "schema.json", "--gold", "gold.jsonl", "--predicted")


def lines(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("schema.json").write_text(json.dumps(SCHEMA))
    lines("gold.jsonl", ROWS)
    lines("system.jsonl", ROWS)
    for folder in "gs":
        Path(folder).mkdir()
        for row in ROWS:
            Path(folder, f"{row['id']}.json").write_text(json.dumps({"name": row["name"], "pages": row["pages"]}))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def changed(name, change):
    lines(name, [row | {"id": change(row["id"])} for row in ROWS])
    return name


CHANGES = {
    "case": str.upper,
    "Unicode form": lambda text: text.replace("é", "e\u0301"),
    "file extension": lambda text: f"{text}.tar.gz",
    "case and file extension": lambda text: f"{text.lower()}.jpg",
}


@pytest.mark.parametrize("aspect", CHANGES)
def test_ids_that_nearly_agree_are_named_with_the_option_that_joins_them(aspect):
    predicted = changed("system.jsonl", CHANGES[aspect])
    error = run("evaluate", *SIDES, predicted, code=2).stderr
    assert f"2 predicted ids differ from gold ids only in {aspect}: " in error
    assert "Use --normalize-ids to join them." in error
    result = run("evaluate", *SIDES, predicted, "--normalize-ids", "--format", "json")
    data = json.loads(result.stdout)
    assert (data["documents"], data["failed"], data["micro"]["f1q"]) == (2, 0, 1.0)
    assert result.stderr == ""


def test_a_note_names_the_ids_that_nearly_agree_if_others_agree():
    predicted = changed("system.jsonl", lambda text: text.replace("Page_é1", "page_é1"))
    result = run("evaluate", *SIDES, predicted)
    assert "1 predicted id differs from a gold id only in case: 'page_\\xe91' and 'Page_\\xe91'." in result.stderr
    result = run("rank", f"x={predicted}", "--gold", "gold.jsonl", "--schema", "schema.json")
    assert "only in case: 'page_\\xe91' and 'Page_\\xe91'." in result.stderr


def test_notes_on_joining_are_on_the_page():
    predicted = changed("predictions.jsonl", lambda text: text.replace("Page_é1", "page_é1"))
    note = "1 predicted id differs from a gold id only in case"
    run("evaluate", *SIDES, predicted, "--out", "out")
    assert note in Path("out/report.html").read_text(encoding="utf-8")
    run("report", "out/evaluation.json", "--out", "again.html")
    assert note in Path("again.html").read_text(encoding="utf-8")
    run("report", "out/evaluation.json", "--out", "fr.html", "--lang", "fr")
    assert "Un identifiant prédit ne diffère" in Path("fr.html").read_text(encoding="utf-8")
    run("rank", f"x={predicted}", "--gold", "gold.jsonl", "--schema", "schema.json", "--out", "ranking")
    assert note in Path("ranking/report.html").read_text(encoding="utf-8")
    lines("gold.jsonl", [row | {"id": row["id"].lower()} for row in ROWS])
    swapped = ("--schema", "schema.json", "--gold", predicted, "--predicted", "gold.jsonl", "--out", "swapped")
    run("evaluate", *swapped)
    assert "If the two are swapped" in Path("swapped/report.html").read_text(encoding="utf-8")


def test_ids_that_differ_are_not_joined_by_normalising_them():
    predicted = changed("system.jsonl", lambda text: f"{text}_raw")
    assert "--id-key" in run("evaluate", *SIDES, predicted, "--normalize-ids", code=2).stderr


def test_requested_ids_are_normalised_like_those_of_documents():
    lines("predicted.jsonl", [{"id": row["id"].lower(), "predicted": {}} for row in ROWS])
    lines("pairs.jsonl", [{"id": row["id"], "gold": {}, "predicted": {}} for row in ROWS])
    Path("document.json").write_text("{}", encoding="utf-8")
    table = "".join(f"{row['id']},document.json,document.json\n" for row in ROWS)
    Path("manifest.csv").write_text(f"id,gold,predicted\n{table}", encoding="utf-8")
    shared = ("--schema", "schema.json", "--normalize-ids", "--only", f"{ROWS[0]['id']}.JSON", "--format", "json")
    for sources in (
        ("--gold", "gold.jsonl", "--predicted", "predicted.jsonl"),
        ("--pairs", "pairs.jsonl"),
        ("--manifest", "manifest.csv"),
    ):
        assert json.loads(run("evaluate", *sources, *shared).stdout)["documents"] == 1


def test_ids_that_become_equal_are_duplicates():
    lines("gold.jsonl", [ROWS[0], ROWS[0] | {"id": "page_é1"}])
    data = json.loads(run("evaluate", *SIDES, "system.jsonl", "--normalize-ids", "--format", "json").stdout)
    assert [(one["side"], one["id"], one["reason"]) for one in data["failures"]] == [
        ("gold", "page_é1", "duplicate id: ignored, the first gold document with this id is compared")
    ]


def test_swapped_sides_are_suspected_from_their_names():
    lines("predictions.jsonl", ROWS)
    swapped = ("--schema", "schema.json", "--gold", "predictions.jsonl", "--predicted", "gold.jsonl")
    assert "If the two are swapped, exchange --gold and --predicted." in run("evaluate", *swapped).stderr
    assert "swapped" not in run("evaluate", *SIDES, "predictions.jsonl").stderr
    Path("predictions.json").write_text("{}")
    Path("gold.json").write_text("{}")
    note = run("compare", "predictions.json", "gold.json", "--schema", "schema.json").stderr
    assert "exchange the two arguments" in note


def test_swapped_sides_are_suspected_from_repeated_gold():
    lines("two.jsonl", [row | {"run": run} for row in ROWS for run in "ab"])
    swapped = ("--schema", "schema.json", "--gold", "two.jsonl", "--predicted", "system.jsonl")
    note = run("evaluate", *swapped).stderr
    assert "2 gold documents have the id of an earlier one" in note
    assert "exchange --gold and --predicted" in note
    assert "earlier one" not in run("evaluate", *SIDES, "two.jsonl").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "--schema", "g", "--gold", "g", "--predicted", "s"),
        ("evaluate", "--schema", "schema.json", "--gold", "g", "--predicted", "s", "--overlay", "g"),
        ("evaluate", "--schema", "schema.json", "--gold", "g", "--predicted", "s", "--project", "g"),
        ("evaluate", "--schema", "schema.json", "--manifest", "g"),
        ("schema", "check", "g"),
        ("diff", "g", "s"),
    ],
    ids=" ".join,
)
def test_a_folder_where_a_file_is_expected_is_named(arguments):
    stated = "evaluation.json in the folder, got none" if arguments[0] == "diff" else "a file, got a folder"
    assert f"g: Expected {stated}" in run(*arguments, code=2).stderr


def test_a_results_folder_stands_for_its_evaluation():
    run("evaluate", *SIDES, "system.jsonl", "--out", "results")
    file = str(Path("results", "evaluation.json"))
    assert run("diff", "results", "results").stdout == run("diff", file, file).stdout


def test_a_report_of_a_folder_without_results_names_the_files():
    assert "g: Expected one of ranking.json, factors.json and evaluation.json" in run("report", "g", code=2).stderr


@pytest.mark.parametrize(
    ("gold", "predicted"), [("g", "s"), ("gold.jsonl", "system.jsonl"), ("g/Page_é1.json", "s")], ids=str
)
def test_compare_of_corpora_names_evaluate(gold, predicted):
    error = run("compare", gold, predicted, "--schema", "schema.json", code=2).stderr
    assert f"arbitre evaluate --schema schema.json --gold {gold} --predicted {predicted}" in error


def test_compare_still_reads_a_file_with_one_line():
    lines("one.jsonl", ROWS[:1])
    assert run("compare", "one.jsonl", "one.jsonl", "--schema", "schema.json").exit_code == 0


def test_pairs_without_both_documents_name_the_options():
    error = run("evaluate", "--schema", "schema.json", "--pairs", "gold.jsonl", code=2).stderr
    assert "No record contains both documents" in error
    assert "--gold-key" in error


def test_rank_names_the_runs_of_systems_with_different_ones():
    lines("two.jsonl", [row | {"run": run} for row in ROWS for run in "ab"])
    error = run(
        "rank", "x=two.jsonl", "y=system.jsonl", "--gold", "gold.jsonl", "--schema", "schema.json", code=2
    ).stderr
    assert "x has the runs 'a', 'b'; y has one run" in error
    assert "Rank each run as a system of its own" in error


def test_rank_names_a_document_of_which_a_system_lacks_a_run():
    lines("two.jsonl", [row | {"run": run} for row in ROWS for run in "ab"])
    lines("some.jsonl", [row | {"run": run} for row in ROWS for run in "ab" if run == "a" or row != ROWS[1]])
    error = run("rank", "x=two.jsonl", "y=some.jsonl", "--gold", "gold.jsonl", "--schema", "schema.json", code=2).stderr
    assert f"different ones for '{ROWS[1]['id']}': x has the runs 'a', 'b'; y has the run 'a'" in error
    assert f'for example {{"id": "{ROWS[1]["id"]}", "run": "b", "predicted": null}}' in error


def test_rank_refuses_different_runs_before_it_compares(monkeypatch):
    compared, compare = [], EvaluationJob.compare
    monkeypatch.setattr(EvaluationJob, "compare", lambda job: compared.append(job) or compare(job))
    lines("two.jsonl", [row | {"run": run} for row in ROWS for run in "ab"])
    systems = {"x": "two.jsonl", "y": "system.jsonl"}
    with pytest.raises(DataError, match="same runs of each document"):
        rank(systems, schema="schema.json", gold="gold.jsonl")
    assert compared == []


def test_evaluations_with_different_runs_are_not_ranked():
    lines("two.jsonl", [row | {"run": run} for row in ROWS for run in "ab"])
    systems = {
        name: arbitre.evaluate("schema.json", gold="gold.jsonl", predicted=f"{name}.jsonl")
        for name in ("two", "system")
    }
    with pytest.raises(DataError, match="same runs of each document"):
        ranking.rank(systems)


def test_a_manifest_in_windows_1252_names_the_encoding_and_the_command():
    Path("m.csv").write_text("id;gold;predicted;modèle\nx;g/Page_é1.json;s/Page_é1.json;é\n", encoding="cp1252")
    error = run("evaluate", "--schema", "schema.json", "--manifest", "m.csv", code=2).stderr
    assert "m.csv: Expected CSV in UTF-8, got another encoding, probably Windows-1252" in error
    assert "iconv -f CP1252 -t UTF-8 m.csv > utf8.csv" in error


def test_factors_are_read_from_a_manifest_with_semicolons():
    rows = [f"{row['id']};g/{row['id']}.json;s/{row['id']}.json;{model};{model}" for row in ROWS for model in "ab"]
    Path("m.csv").write_text("\n".join(["\ufeffid;gold;predicted;run;model", *rows]), encoding="utf-8")
    result = run("rank", "--manifest", "m.csv", "--factor", "model", "--schema", "schema.json", "--format", "json")
    assert list(json.loads(result.stdout)["factors"][0]["levels"]) == ["a", "b"]


def test_predictions_in_csv_are_evaluated():
    Path("system.csv").write_text("\ufeffid;name;pages\nPage_é1;Ada;3\nPage_é2;Bo;\n", encoding="utf-8")
    data = json.loads(run("evaluate", *SIDES, "system.csv", "--format", "json").stdout)
    assert (data["by_path"]["/pages"]["irq"], data["by_path"]["/name"]["f1q"]) == (0.5, 1.0)


def test_every_csv_table_is_written_for_spreadsheets():
    changed("system.jsonl", lambda text: text.replace("é", "e"))
    Path("bad.jsonl").write_text('{"id": "Page_é1", "name": "Alan", "pages": 1.5}\n{"id": "Page_é2", "na\n')
    options = ("--csv-dialect", "excel-fr", "--validate", "--table", "scores.csv", "--out", "out")
    run("evaluate", *SIDES, "bad.jsonl", *options)
    run("rank", "x=bad.jsonl", "y=gold.jsonl", *SIDES[:4], "--csv-dialect", "excel-fr", "--out", "ranks", "--no-report")
    run("metricity", "gold.jsonl", "bad.jsonl", "--schema", "schema.json", "--csv-dialect", "excel-fr", "--out", "m")
    files = [path for folder in ("out", "ranks", "m") for path in Path(folder).glob("*.csv")]
    assert {"matches.csv", "documents.csv", "paths.csv", "failures.csv", "violations.csv"} < {one.name for one in files}
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("\ufeff"), path
        assert ";" in text.splitlines()[0], path
        assert "0.5" not in text, path
    head, row, *_ = Path("out/matches.csv").read_text(encoding="utf-8-sig").splitlines()
    cells = dict(zip(head.split(";"), row.split(";"), strict=True))
    assert (cells["pages.gold"], cells["pages.predicted"]) == ("3", "1,5")
    assert float(cells["name.quality"].replace(",", ".")) + float(cells["name.distance"].replace(",", ".")) == 1.0


def test_a_resumed_evaluation_does_not_mix_dialects():
    run("evaluate", *SIDES, "system.jsonl", "--out", "out", "--csv-dialect", "excel-fr")
    run("evaluate", *SIDES, "system.jsonl", "--out", "out", "--resume")
    resumed = Path("out/matches.csv").read_bytes()
    run("evaluate", *SIDES, "system.jsonl", "--out", "fresh")
    assert resumed == Path("fresh/matches.csv").read_bytes()


def test_the_dialects_are_those_of_python():
    assert "standard" in run("evaluate", *SIDES, "system.jsonl", "--csv-dialect", "excel-de", code=2).stderr
