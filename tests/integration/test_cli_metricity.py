"""`arbitre metricity`: the table, the files, and the figures of pages of the French Senate."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.distances import catalogue
from arbitre.metricity.entry_pool import build_entry_pool

SCHEMA = {"type": "array", "items": {"type": "string"}}
GOLD, PREDICTED = ["ab", "tide"], ["aba", "ba", "diet"]
LOWER_BOUND = "Only a sample of the triples of entries was checked, so the relaxed triangle is a lower bound."
SENATE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, value in (("schema", SCHEMA), ("gold", GOLD), ("predicted", PREDICTED)):
        Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


def run(*options, sources=("gold.json", "predicted.json"), schema="schema.json", code=0):
    result = CliRunner().invoke(app, ["metricity", *map(str, sources), "--schema", str(schema), *options])
    assert result.exit_code == code, result.output
    return result


def distances(*names):
    return [part for name in names for part in ("--distance", name)]


def cells(text, distance=0):
    """The figures of one column, by what stands before them."""
    rows = [line.split("   ") for line in text.splitlines()]
    found = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows if row[0]}
    return {name: values[distance] for name, values in found.items() if len(values) > distance}


def test_the_table_has_a_column_for_each_distance():
    text = run(*distances("levenshtein", "ratcliff-obershelp", "yujian-bo")).stdout
    lines = text.splitlines()
    assert lines[:2] == ["All pairs of 5 entries", "entries (whole document): 2 gold, 3 predicted"]
    assert lines[3].split() == ["levenshtein", "ratcliff-obershelp", "yujian-bo"]
    first, second, third = (cells(text, column) for column in range(3))
    assert list(first) == [
        "metricity",
        "symmetry defect",
        "asymmetry, mean",
        "asymmetry, max",
        "identity defect",
        "triangle rate",
        "relaxed triangle",
        "repair mass",
        "mean quality",
        "f1q",
        "certificate",
    ]
    assert (first["triangle rate"], first["relaxed triangle"]) == ("0.03333", "1.5")  # 2 of the 60 triples
    assert (first["symmetry defect"], first["certificate"]) == ("0", "not a metric")
    assert float(second["symmetry defect"]) > 0.0
    assert second["asymmetry, max"] == "0.25"  # tide and diet: 1/4 one way, 1/2 the other
    assert (third["metricity"], third["certificate"]) == ("1.000000", "metric")


def test_the_files_hold_the_analysed_matrix():
    said = run(*distances("levenshtein", '{"jaccard-ngrams": {"n": 2}}'), "--out", "out").stderr
    assert (
        "Wrote levenshtein.npy, levenshtein.csv, jaccard-ngrams_n=2.npy, jaccard-ngrams_n=2.csv, metricity.json" in said
    )
    matrix = np.load("out/levenshtein.npy")
    plan = arbitre.Comparator(SCHEMA, distance="levenshtein").plan
    assert (matrix == build_entry_pool(plan, [GOLD], [PREDICTED]).distances).all()
    values = [*GOLD, *PREDICTED]
    one = catalogue.build("levenshtein")
    assert matrix == pytest.approx(np.array([[one(left, right) for right in values] for left in values]))
    with Path("out/levenshtein.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["", "gold /0", "gold /1", "predicted /0", "predicted /1", "predicted /2"]
    assert [row[0] for row in rows] == head[1:]
    assert [[float(cell) for cell in row[1:]] for row in rows] == matrix.tolist()
    report = json.loads(Path("out/metricity.json").read_text(encoding="utf-8"))
    assert [one["matrix"] for one in report["choices"]] == ["levenshtein.npy", "jaccard-ngrams_n=2.npy"]
    found = report["choices"][0]
    assert found["metricity"] == arbitre.metricity(matrix).to_dict()
    assert found["metricity"]["witness"] == [0, 2, 3]  # ab, aba, ba


def test_choices_with_the_same_name_get_separate_files():
    run(*distances("jaro", "jaro"), "--out", "out")
    assert sorted(path.name for path in Path("out").glob("*.npy")) == ["jaro-2.npy", "jaro.npy"]


def test_the_json_holds_every_figure():
    data = json.loads(run("--match", "hungarian", *distances("levenshtein"), "--format", "json").stdout)
    assert (data["entries"], data["gold"], data["predicted"], data["drawn_from"]) == ("", 2, 3, 5)
    (one,) = data["choices"]
    assert (one["match"], one["distance"]) == ("hungarian", "levenshtein")
    comparison = arbitre.Comparator(SCHEMA, distance="levenshtein").compare(gold=GOLD, predicted=PREDICTED)
    assert (one["mean_quality"], one["f1q"]) == (comparison.scores.amq, comparison.scores.f1q)
    assert one["certificate"]["verdict"] == "not a metric"
    assert one["certificate"]["breaks"][0]["values"] == ["ab", "aba", "ba"]
    assert one["metricity"]["triangle_rate"] == pytest.approx(2 / 60)


def test_without_a_distance_option_the_schema_decides():
    text = run().stdout
    assert "as the schema says" in text
    assert cells(text)["metricity"] == "1.000000"


def test_columns_that_do_not_fit_move_below(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(*distances("levenshtein", "ratcliff-obershelp", "yujian-bo")).stdout.splitlines()
    heads = [line.split() for line in lines if "levenshtein" in line or "yujian-bo" in line]
    assert heads == [["levenshtein", "ratcliff-obershelp"], ["yujian-bo"]]
    assert max(map(len, lines)) <= 60


def test_documents_of_a_corpus_are_pooled():
    speakers = bundled.schemas() / "examples" / "speakers.schema.json"
    sources = [bundled.demo() / f"{name}.jsonl" for name in ("gold", "hasty")]
    run("--out", "out", sources=sources, schema=speakers)
    data = json.loads(run("--format", "json", sources=sources, schema=speakers).stdout)
    assert (data["entries"], data["gold"], data["predicted"]) == ("/speakers", 58, 42)  # one page failed
    with Path("out/as_the_schema_says.csv").open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file))
    assert (head[1], head[59]) == ("gold page_01 /speakers/0", "predicted page_01 /speakers/0")
    assert len(head) == 101


def test_a_sample_is_drawn_with_the_seed():
    found = [json.loads(run("--sample", "3", "--seed", seed, "--format", "json").stdout) for seed in ("1", "1", "2")]
    assert found[0] == found[1]
    assert found[0]["gold"] + found[0]["predicted"] == 3
    assert found[0]["drawn_from"] == 5
    text = run("--sample", "3").stdout
    assert "All pairs of 3 entries, sampled from 5" in text
    assert LOWER_BOUND in text
    assert LOWER_BOUND in run("--sample", "3", "--format", "markdown").stdout
    assert LOWER_BOUND not in run().stdout


def test_sampled_rates_have_an_interval(monkeypatch):
    monkeypatch.setattr(
        "arbitre.comparator.entry_metricity.metricity",
        lambda matrix, seed: arbitre.metricity(matrix, seed=seed, exact_up_to=10),
    )
    text = run(*distances("levenshtein")).stdout
    low, high = (float(part) for part in cells(text)["  95% interval"].split(" to "))
    assert low < 2 / 60 < high
    assert LOWER_BOUND in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sample", "0"], "or equal to 1"),
        (["--distance", "levenstein"], 'Did you mean "levenshtein"?'),
        (["--distance", "relative"], "The distance relative has no effect: it applies to no value of the schema"),
    ],
)
def test_invalid_options_are_refused(options, said):
    assert said in " ".join(run(*options, code=2).stderr.replace("│", " ").split())


def test_lists_without_entries_are_refused():
    Path("gold.json").write_text("[]", encoding="utf-8")
    Path("predicted.json").write_text("[]", encoding="utf-8")
    assert "Expected at least one entry in gold or in the predictions, got none at the root" in run(code=2).stderr


@pytest.mark.skipif(not SENATE.is_dir(), reason="the shared data are not here")
def test_a_real_page_reproduces_its_known_metricity():
    schema = bundled.schemas() / "examples" / "senat-published.schema.json"
    sources = SENATE / "gold" / "page_02.json", SENATE / "predicted" / "page_02_02_corpusense_boxes.json"
    names = "ratcliff-obershelp", "levenshtein", "yujian-bo"
    data = json.loads(run(*distances(*names), "--format", "json", sources=sources, schema=schema).stdout)
    ratcliff, levenshtein, yujian_bo = data["choices"]
    assert data["gold"] + data["predicted"] == 44
    found = ratcliff["metricity"]
    assert ratcliff["asymmetry"] == pytest.approx(0.0188, abs=5e-5)
    assert found["symmetry_max"] == pytest.approx(0.1496, abs=5e-5)
    assert found["triangle_rate"] == pytest.approx(3.5e-4, abs=5e-6)
    assert found["relaxed_triangle"] == pytest.approx(1.133, abs=5e-4)
    assert found["repair_mass"] == pytest.approx(5.3e-4, abs=5e-6)
    assert (levenshtein["metricity"]["metricity"], levenshtein["metricity"]["triangle_rate"]) == (1.0, 0.0)
    broken = levenshtein["certificate"]["breaks"][0]
    assert (levenshtein["certificate"]["verdict"], broken["values"]) == ("not a metric", ["ab", "aba", "ba"])
    assert (yujian_bo["metricity"]["metricity"], yujian_bo["certificate"]["verdict"]) == (1.0, "metric")
