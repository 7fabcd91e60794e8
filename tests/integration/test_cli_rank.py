"""Rankings of systems and comparisons of factors, in Python and on the command line."""

from __future__ import annotations

import csv
import html
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.builders import PEOPLE
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.errors import DataError, OptionError
from arbitre.language import Language, Translator
from arbitre.statistics.sample import Sample, estimate, weigh_for_beta
from arbitre.systems import tables as system_tables
from arbitre.systems.factors import factor
from arbitre.systems.ranking import PairwiseResult, StatisticsOptions, pairwise_tests, rank, underpowered_note

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
GOLD, CAREFUL, HASTY = (str(bundled.demo() / f"{name}.jsonl") for name in ("gold", "careful", "hasty"))

NAMES = arbitre.Comparator({"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "exact"}}})


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def right(*counts):
    """The evaluation of a system that finds so many of the four names on each page."""
    gold = ["Ada", "Bo", "Cy", "Di"]
    return NAMES.evaluate((f"page_{at:02}", gold, gold[:count]) for at, count in enumerate(counts))


def test_systems_are_ranked_best_first():
    found = rank({"c": right(1, 1), "a": right(2, 2), "b": right(4, 4), "d": right(2, 2)}, "irq")
    assert [one.name for one in found.systems] == ["b", "a", "d", "c"]
    assert [one.score.estimate for one in found.systems] == [1.0, 0.5, 0.5, 0.25]
    assert [(one.a, one.b, one.difference) for one in found.pairs[:3]] == [
        ("b", "a", 0.5),
        ("b", "d", 0.5),
        ("b", "c", 0.75),
    ]


def test_tied_systems_share_a_rank():
    found = rank({"a": right(2, 2), "b": right(4, 4), "c": right(2, 2)}, "irq", beside=("imq", "irq"))
    assert [one.name for one in found.systems] == ["b", "a", "c"]
    assert found.systems[0].scores == {"irq": 1.0, "imq": 1.0}
    assert [one.ranks for one in found.systems] == [
        {"irq": 1.0, "imq": 2.0},
        {"irq": 2.5, "imq": 2.0},
        {"irq": 2.5, "imq": 2.0},
    ]
    assert [one.mean_rank for one in found.systems] == [1.5, 2.25, 2.25]


def test_p_is_adjusted_and_the_smallest_possible_p_is_reported():
    found = rank({"a": right(*[4] * 5), "b": right(*[3] * 5), "c": right(*[2] * 5)}, "irq")
    assert [(one.p, one.p_holm) for one in found.pairs] == [(0.0625, 0.1875)] * 3  # 2 of the 32 ways to swap
    assert found.smallest_p == 0.0625
    assert found.groups == (("a", "b", "c"),)
    assert found.to_best("a") is None
    assert (found.to_best("c").a, found.to_best("c").difference) == ("c", -0.5)
    with pytest.raises(OptionError, match=r"(?s)Unknown system 'd'.*Available: a, b, c\."):
        found.to_best("d")
    assert [one.p_adjusted for one in found.pairs] == [0.0625] * 3  # all pairs share the swaps
    assert "No p can be below 0.0625 here: more documents are needed" in found.notes[-1]


def test_enough_documents_separate_systems_into_groups():
    found = rank({"a": right(*[4] * 8), "b": right(*[3] * 8), "c": right(*[3] * 7, 4)}, "irq")
    assert found.groups == (("a",), ("c", "b"))
    assert not any("No p can be" in note for note in found.notes)
    assert [(one.a, one.b, one.p, one.p_holm) for one in found.pairs[:2]] == [
        ("a", "c", 1 / 64, 1 / 32),  # they are alike on one document: twice as many swaps change nothing
        ("a", "b", 1 / 128, 3 / 128),
    ]


@pytest.mark.parametrize(
    ("smallest", "noted"),
    [
        ([0.03], ""),
        ([0.02, 0.04], ""),
        ([0.03, 0.04], "No p can be below 0.06 here, adjusted for 2 pairs:"),
        ([0.6, 0.7], "No p can be below 1 here, adjusted for 2 pairs:"),
        ([], ""),
    ],
)
def test_the_smallest_possible_p_is_adjusted_for_pairs_with_different_documents(smallest, noted):
    pairs = [PairwiseResult("a", "b", smallest_p=p, correction="Holm") for p in smallest]
    notes = underpowered_note([*pairs, PairwiseResult("a", "c")], 0.95)
    assert (notes[0] if notes else "").partition(" more")[0] == noted


def test_systems_without_a_common_document_do_not_differ_significantly():
    (alone,) = pairwise_tests([("a", "b", None, None)], "f1q", average="macro", level=0.95, seed=0)
    assert (alone.difference, alone.p_adjusted, alone.significant) == (None, None, False)


def test_the_confidence_level_decides_the_groups():
    systems = {"a": right(*[4] * 5), "b": right(*[3] * 5)}
    assert rank(systems, "irq", options=StatisticsOptions(level=0.9)).groups == (("a",), ("b",))
    assert rank(systems, "irq").groups == (("a", "b"),)


def test_clusters_are_resampled_as_units():
    systems = {"a": right(4, 4, 4, 4), "b": right(3, 3, 3, 3)}
    ranking = rank(
        systems,
        "irq",
        options=StatisticsOptions(cluster={f"page_{at:02}": "odd" if at % 2 else "even" for at in range(4)}),
    )
    assert (ranking.documents, ranking.clusters, ranking.smallest_p) == (4, 2, 0.5)
    assert ranking.pairs[0].p == 0.5


def test_runs_of_a_document_are_one_cluster():
    gold = ["Ada", "Bo"]
    runs = [("a", gold, gold), ("a", gold, gold[:1]), ("b", gold, gold), ("b", gold, gold)]
    found = rank({"one": NAMES.evaluate(runs), "other": NAMES.evaluate((one, own, []) for one, own, _ in runs)}, "irq")
    assert (found.documents, found.clusters) == (4, 2)
    assert found.systems[0].score.estimate == 0.875


def test_fq_weighs_recall_by_beta():
    evaluation = NAMES.evaluate([("a", list("abcd"), ["a"]), ("b", ["x"], ["x", "y"])])
    sample = Sample.of(evaluation.document_table.ids, evaluation.document_table.tallies)
    assert estimate(sample, "fq(2)", "micro") == pytest.approx(evaluation.micro.fq(2))
    assert estimate(sample, "fq(0.5)", "macro") == pytest.approx(
        sum(one.scores.fq(0.5) for one in evaluation.documents) / 2
    )
    assert weigh_for_beta(sample, "fq(1)")[0].tallies.tolist() == sample.tallies.tolist()


def test_beta_can_reverse_the_ranking():
    short = NAMES.evaluate((page, ["a", "b"], ["a"]) for page in "pq")
    long = NAMES.evaluate((page, ["a", "b"], ["a", "b", "x", "y"]) for page in "pq")
    assert [one.name for one in rank({"short": short, "long": long}, "fq(2)").systems] == ["long", "short"]
    assert [one.name for one in rank({"short": short, "long": long}, "fq(0.5)").systems] == ["short", "long"]


def test_a_system_without_a_score_ranks_last():
    found = rank({"none": NAMES.evaluate([("p", [], ["x"])]), "some": NAMES.evaluate([("p", ["x"], [])])}, "irq")
    assert [(one.name, one.score.estimate) for one in found.systems] == [("some", 0.0), ("none", None)]
    assert found.pairs[0].p is None


def people(*pairs):
    gold = [{"name": "Ada", "age": 36}, {"name": "Bo", "age": 5}]
    return PEOPLE.evaluate((f"p{at}", gold, predicted) for at, predicted in enumerate(pairs))


def test_the_best_system_and_the_lost_mass_are_listed_by_path():
    old = people([{"name": "Ada", "age": 30}, {"name": "Bo", "age": 5}])
    young = people([{"name": "Ada", "age": 36}, {"name": "Bob", "age": 5}])
    found = rank({"old": old, "young": young})
    assert found.winners == {"/*": ("old", "young"), "/*/age": ("young",), "/*/name": ("old",)}
    assert found.by_path["/*/age"] == {"old": 0.5, "young": 1.0}
    assert {one.name: one.lacking for one in found.systems} == {"old": {"/*/age": 1.0}, "young": {"/*/name": 1.0}}


def test_the_table_of_losses_says_that_weights_are_ignored():
    table = system_tables.lacking(rank({"a": people([{"name": "Ada", "age": 30}, {"name": "Bo", "age": 5}])}))
    assert table.title == "Leaf quality lost by a, by path (unweighted)"
    assert "their costs in f1q, which `arbitre evaluate --diagnose` shows" in table.notes[0]
    french = Translator(Language.FR)
    assert french.text(table.title) == "Qualité des feuilles perdue par a, par chemin (sans pondération)"
    assert "leurs coûts en f1q, qu’affiche `arbitre evaluate --diagnose`" in french.text(table.notes[0])


def test_a_perfect_system_loses_no_mass():
    found = rank({"a": right(4)})
    assert (found.systems[0].lacking, found.pairs, found.groups, found.smallest_p) == ({}, (), (("a",),), 1.0)


def test_the_chance_score_is_shown_beside_the_score():
    evaluation = NAMES.evaluate([("a", ["x", "y"], ["x", "y"]), ("b", ["x", "z"], ["x", "z"])])
    found = rank({"s": evaluation}, "f1q").systems[0]
    assert (found.score.estimate, found.floor) == (1.0, 0.5)
    assert rank({"s": NAMES.evaluate([("a", ["x"], ["x"])])}).systems[0].floor is None


def test_failures_count_as_zero_and_are_reported():
    found = rank({"a": NAMES.evaluate([("a", ["x"], ["x"]), ("b", ["y"], arbitre.ABSENT)])}, "imq")
    assert (found.systems[0].failed, found.systems[0].score.estimate) == (1, 0.5)


def test_differing_signatures_are_reported():
    loose = arbitre.Comparator({"type": "array", "items": {"type": "string"}})
    found = rank({"a": right(4), "b": loose.evaluate([("page_00", list("wxyz"), list("wxyz"))])})
    assert any(note.startswith("The scores are not comparable: the signatures differ in ") for note in found.notes)
    assert not any("measured" in note for note in rank({"a": right(4), "b": right(3)}).notes)


@pytest.mark.parametrize(
    ("systems", "score", "message"),
    [
        ({}, "f1q", "Expected systems to rank, got none"),
        ({"a": [4]}, "f1", None),
        ({"a": [4]}, "f1qq", "Expected a score where higher is better, got 'f1qq'\n  Did you mean \"f1q\""),
        ({"a": [4]}, "variance", "Expected a score where higher is better, got 'variance'"),
        ({"a": [4]}, "fq(0)", "Expected a score where higher is better, got 'fq(0)'"),
        ({"a": [4, 4], "b": [4]}, "f1q", "Expected both systems to have the same documents"),
    ],
)
def test_invalid_rankings_are_refused(systems, score, message):
    found = {name: right(*counts) for name, counts in systems.items()}
    if message is None:
        assert rank(found, score).score == score
        return
    with pytest.raises(OptionError if score != "f1q" else DataError) as error:
        rank(found, score)
    assert str(error.value).startswith(message)


LEVELS = {"ocr": ["good", "good", "bad", "bad"], "prompt": ["long", "short", "long", "short"]}


def design(*counts):
    gold = ["Ada", "Bo", "Cy", "Di"]
    return NAMES.evaluate(("page", gold, gold[:count]) for count in counts)


def test_factor_levels_are_compared_on_shared_documents():
    found = factor(design(4, 3, 2, 2), "ocr", LEVELS, "irq")
    assert {name: one.estimate for name, one in found.levels.items()} == {"bad": 0.5, "good": 0.875}
    assert (found.pairs[0].a, found.pairs[0].b, found.pairs[0].difference) == ("bad", "good", -0.375)
    assert (found.documents, found.shared, found.balanced) == ({"bad": 2, "good": 2}, (2,), True)
    assert found.levels["bad"].clusters == 1  # one page


def test_an_unbalanced_factor_is_flagged_and_compares_what_is_shared():
    levels = {"ocr": ["good", "good", "bad"], "prompt": ["long", "short", "long"]}
    found = factor(design(4, 1, 2), "ocr", levels, "irq")
    assert not found.balanced
    assert found.levels["good"].estimate == 0.625
    assert (found.pairs[0].difference, found.shared) == (-0.5, (1,))


def test_levels_without_a_common_document_are_not_compared():
    found = factor(design(4, 2), "ocr", {"ocr": ["good", "bad"], "prompt": ["long", "short"]})
    assert (found.pairs[0].difference, found.pairs[0].p, found.shared, found.balanced) == (None, None, (0,), False)


def test_repeated_predictions_of_a_level_are_paired_in_order():
    found = factor(design(4, 3, 2, 1), "ocr", {"ocr": ["good", "good", "bad", "bad"]}, "irq")
    assert (found.shared, found.pairs[0].difference, found.balanced) == ((2,), -0.5, True)


def test_holm_adjusts_for_all_levels():
    evaluation = NAMES.evaluate(
        (f"page_{page}", list("abcd"), list("abcd")[:count]) for page in range(6) for count in (4, 3, 2)
    )
    found = factor(evaluation, "ocr", {"ocr": ["x", "y", "z"] * 6}, "irq")
    assert [(one.p, one.p_holm) for one in found.pairs] == [(1 / 32, 3 / 32)] * 3
    assert found.to_dict()["levels"]["x"]["clusters"] == 6


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("orc", LEVELS, "Expected a factor, got 'orc'\n  Did you mean \"ocr\"?"),
        ("x", LEVELS, "Expected a factor, got 'x'\n  Available: ocr, prompt. The columns of a manifest are factors."),
        ("x", {}, "Expected a factor, got 'x'\n  The columns of a manifest are factors."),
        ("ocr", {"ocr": ["good"]}, "Expected a level of 'ocr' for each of 4 documents, got 1"),
    ],
)
def test_an_invalid_factor_is_refused(name, values, message):
    with pytest.raises(DataError) as error:
        factor(design(4, 3, 2, 1), name, values)
    assert str(error.value).startswith(message)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["rank", "--schema", SCHEMA, *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_the_json_has_the_keys_of_the_python_result():
    found = json.loads(run("--gold", GOLD, f"hasty={HASTY}", f"careful={CAREFUL}", "--format", "json").stdout)
    assert [one["name"] for one in found["systems"]] == ["careful", "hasty"]
    assert found["pairs"][0].keys() >= {
        "a",
        "b",
        "difference",
        "low",
        "high",
        "p",
        "p_adjusted",
        "p_holm",
        "detectable",
    }
    assert found["smallest_p"] == found["pairs"][0]["p"] == 1 / 32
    assert found["winners"]["/speakers/*/name"] == ["careful"]
    assert found["stability"] == {}
    assert found["signature"] == arbitre.Comparator(SCHEMA).signature.to_dict()


def test_the_leaderboard_fits_narrow_terminals():
    lines = run("--gold", GOLD, f"hasty={HASTY}", f"careful={CAREFUL}").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "2 systems on the same 6 documents"
    assert [line.split()[0] for line in lines[lines.index("Leaderboard: Per-document mean (macro)") + 3 :][:2]] == [
        "careful",
        "hasty",
    ]
    text = " ".join(" ".join(lines).split())
    assert "Scores: careful (0.97), hasty (0.71). careful is better than hasty (p = 0.0312)." in text
    assert "ahead" not in text


def test_statistics_options_are_applied():
    options = ["--aggregate", "micro", "--score", "irq", "--score", "fq(2)", "--seed", "5", "--level", "0.9"]
    found = json.loads(run("--gold", GOLD, f"a={CAREFUL}", "--cluster-by", r"\d$", *options, "--format", "json").stdout)
    assert (found["score"], found["aggregate"], found["level"], found["clusters"]) == ("irq", "micro", 0.9, 6)
    assert found["systems"][0]["scores"].keys() == {"irq", "fq(2)"}
    assert (found["systems"][0]["score"]["seed"], found["systems"][0]["score"]["level"]) == (5, 0.9)


def test_the_same_seed_gives_the_same_bytes():
    arguments = ["--gold", GOLD, f"a={CAREFUL}", f"b={HASTY}", "--format", "json"]
    assert run(*arguments).stdout == run(*arguments).stdout
    assert run(*arguments, "--seed", "1").stdout != run(*arguments).stdout


def test_a_repeated_system_name_is_another_run():
    found = json.loads(run("--gold", GOLD, f"a={CAREFUL}", f"a={HASTY}", "--format", "json").stdout)
    assert found["stability"]["a"]["runs"].keys() == {"1", "2"}
    assert found["clusters"] == 6
    assert "Variation between runs" in run("--gold", GOLD, f"a={CAREFUL}", f"a={HASTY}").stdout


def test_every_table_is_written():
    run("--gold", GOLD, f"=1+1={HASTY}", code=2)
    run("--gold", GOLD, f"@a|b={CAREFUL}", f"hasty={HASTY}", "--out", "out")
    files = {"ranking.json", "ranking.md", "ranking.tex", "systems.csv", "scores.csv", "pairs.csv", "winners.csv"}
    assert {path.name for path in Path("out").iterdir()} == files | {
        ".arbitre-output",
        "causes.csv",
        "lacking.csv",
        "runs.csv",
        "report.html",
        "@a|b",
        "hasty",
    }
    with Path("out/systems.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["system"] for row in rows] == ["'@a|b", "hasty"]
    assert (
        float(rows[0]["f1q"])
        == json.loads(Path("out/ranking.json").read_text("utf-8"))["systems"][0]["score"]["estimate"]
    )
    assert r"| @a\|b | 0.9712 |" in Path("out/ranking.md").read_text("utf-8")


@pytest.fixture
def manifest():
    lines = ["id,run,gold,predicted,system"]
    for name in ("gold", "careful", "hasty"):
        Path(name).mkdir()
        for line in (bundled.demo() / f"{name}.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            page = record.pop("id")
            Path(name, f"{page}.json").write_text(json.dumps(record), encoding="utf-8")
            lines += [] if name == "gold" else [f"{page},{name},gold/{page}.json,{name}/{page}.json,{name}"]
    Path("manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "--manifest", "manifest.csv"


def test_a_manifest_column_can_be_a_factor(manifest):
    found = json.loads(run(*manifest, "--factor", "system", "--format", "json").stdout)["factors"][0]
    systems = json.loads(run("--gold", GOLD, f"a={CAREFUL}", "--format", "json").stdout)["systems"]
    assert found["levels"]["careful"]["estimate"] == systems[0]["score"]["estimate"]
    assert (found["documents"], found["shared"]) == ({"careful": 6, "hasty": 5}, [5])
    assert not found["balanced"]  # the manifest has no line for the page that hasty lacks
    text = run(*manifest, "--factor", "system").stdout
    assert "system is unbalanced" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_single_system_gets_a_report():
    run("--gold", GOLD, f"only={CAREFUL}", "--out", "alone")
    assert "<title>" in Path("alone/report.html").read_text(encoding="utf-8")
    assert json.loads(Path("alone/ranking.json").read_text(encoding="utf-8"))["pairs"] == []


@pytest.mark.parametrize("name", ["..", ".", "a/b", ""])
def test_system_names_that_are_no_folder_names_are_refused(name):
    run("--gold", GOLD, f"{name}={CAREFUL}", "--out", "out", code=2)


def test_columns_are_dropped_before_level_names_wrap(manifest, monkeypatch):
    def head(width):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = run(*manifest, "--factor", "system").stdout.splitlines()
        at = lines.index("Pairwise differences of levels, on shared documents")
        assert lines[at + 3].split()[:3] == ["system", "careful", "hasty"]
        return lines[at + 1].split("   ")[-2:]

    assert [text.strip() for text in head(100)] == ["p (adjusted)", "detectable"]
    assert [text.strip() for text in head(76)] == ["high", "p (adjusted)"]


def test_factors_without_documents_are_refused():
    with pytest.raises(DataError, match="Expected documents to compare, got none"):
        factor(design(), "ocr", {"ocr": []})


def test_path_scores_of_a_level_use_its_documents_alone():
    pages = [(f"p{at}", list("abcd"), list("abcd")[: 1 + at]) for at in range(4)]
    found = factor(NAMES.evaluate(pages), "ocr", {"ocr": ["x", "x", "y", "x"]}, "fq(2)")
    alone = NAMES.evaluate(pages[:2] + pages[3:])
    assert list(found.by_path) == list(alone.by_path)
    assert {path: scores["x"] for path, scores in found.by_path.items()} == {
        path: scores.fq(2.0) for path, scores in alone.by_path.items()
    }
    assert found.by_path["/*"] == {"x": 2.5 * 7 / (2.0 * 12 + 0.5 * 7), "y": 2.5 * 3 / (2.0 * 4 + 0.5 * 3)}


def test_the_report_of_factors_can_be_regenerated(manifest):
    options = (*manifest, "--factor", "system", "--out", "out")
    said = run(*options).stderr
    files = "factors.json, factors.md, factors.tex, levels.csv, pairs.csv, report.html"
    assert said.endswith(f"Wrote {files} to out\nOpen the report in a browser: out/report.html\n")
    page = Path("out/report.html").read_bytes()
    found = json.loads(Path("out/factors.json").read_text("utf-8"))
    assert not list(Draft202012Validator(bundled.schema("factors.schema.json")).iter_errors(found))
    text = page.decode()
    assert text.index('<section id="verdict"') < text.index('<section id="factors"') < text.index('<div id="paths">')
    for one in found["factors"][0]["levels"].values():
        assert all(f'<data value="{one[name]!r}">' in text for name in ("estimate", "low", "high"))
    for scores in found["factors"][0]["by_path"].values():
        assert all(f'<data value="{json.dumps(score)}">' in text for score in scores.values() if score is not None)
    run(*options)
    assert Path("out/report.html").read_bytes() == page
    files = ("out/evaluation/evaluation.json", "out/factors.json")
    assert CliRunner().invoke(app, ["report", *files, "--out", "again.html"]).exit_code == 0
    assert Path("again.html").read_bytes() == page
    assert CliRunner().invoke(app, ["report", files[0]]).exit_code == 0
    assert b'id="factors"' not in Path("out/evaluation/report.html").read_bytes()


def test_factors_evaluate_the_corpus_as_evaluate_does(manifest):
    run(*manifest, "--factor", "system", "--out", "out", "--workers", "2")
    arguments = ["evaluate", *manifest, "--schema", SCHEMA, "--out", "alone"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    kept = {path.name: path.read_bytes() for path in Path("alone").iterdir() if path.is_file()}
    assert {path.name: path.read_bytes() for path in Path("out/evaluation").iterdir() if path.is_file()} == kept


def test_no_report_removes_the_report_of_an_earlier_ranking(manifest):
    run(*manifest, "--factor", "system", "--out", "out")
    run(*manifest, "--factor", "system", "--out", "out", "--no-report")
    assert not Path("out/report.html").exists()
    run(*manifest, "--factor", "system", "--out", "bare", "--no-report")
    assert {path.name for path in Path("bare").iterdir()} == {
        *(".arbitre-output", "factors.json", "factors.md", "factors.tex", "levels.csv", "pairs.csv")
    }


def test_only_named_factors_distinguish_documents():
    Path("manifest.csv").write_text(
        "id,run,gold,predicted,ocr,note\np,1,g.json,p.json,good,first\np,2,g.json,q.json,bad,second\n",
        encoding="utf-8",
    )
    Path("schema.json").write_text('{"type": "array", "items": {"type": "string"}}', encoding="utf-8")
    for name, value in (("g", ["a"]), ("p", ["a"]), ("q", [])):
        Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    arguments = ["rank", "--schema", "schema.json", "--manifest", "manifest.csv", "--format", "json", "--factor", "ocr"]
    alone = json.loads(CliRunner().invoke(app, arguments).stdout)["factors"]
    assert (alone[0]["shared"], alone[0]["pairs"][0]["difference"]) == ([1], -1.0)
    both = json.loads(CliRunner().invoke(app, [*arguments, "--factor", "note"]).stdout)["factors"]
    assert [one["shared"] for one in both] == [[0], [0]]  # one factor goes with the other


def test_runs_without_common_names_have_no_spread():
    for at, name in enumerate(("page_01_x", "page_01_y", "page_02_z")):
        Path("predicted").mkdir(exist_ok=True)
        Path("predicted", f"{name}.json").write_text(json.dumps(["a"] * at), encoding="utf-8")
    Path("gold.jsonl").write_text('{"id": "page_01", "n": []}\n{"id": "page_02", "n": []}\n', encoding="utf-8")
    options = ["--gold", "gold.jsonl", "--id-pattern", r"(page_\d\d)_(?P<run>.)", "--format", "json"]
    result = run(*options, "a=predicted")
    assert json.loads(result.stdout)["stability"] == {}
    (note,) = [note for note in json.loads(result.stdout)["notes"] if "stability" in note]
    assert note.startswith("a: stability over runs not computed. Expected documents that have all of the 3 runs")
    text = run(*options[:-2], "a=predicted", "--out", "out")
    assert "stability over runs not computed" in text.stdout
    assert note in html.unescape(Path("out/report.html").read_text(encoding="utf-8"))
    french = Translator(Language.FR).sentence(note)
    assert french.startswith("a\u00a0: la variation d’une exécution à l’autre n’a pas été calculée")


def test_a_column_of_the_manifest_can_be_the_cluster(manifest):
    found = json.loads(run(*manifest, "--factor", "system", "--cluster-by", "system", "--format", "json").stdout)
    assert found["factors"][0]["levels"]["hasty"]["clusters"] == 1


def test_a_pointer_into_gold_can_be_the_cluster():
    arguments = ["--gold", GOLD, f"a={CAREFUL}", f"b={HASTY}", "--cluster-by", "/page/volume", "--format", "json"]
    volumes = {json.loads(line)["page"]["volume"] for line in Path(GOLD).read_text("utf-8").splitlines()}
    assert json.loads(run(*arguments).stdout)["clusters"] == len(volumes) < 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Expected --gold and systems as NAME=PATH, or --manifest and --factor."),
        (("--gold", GOLD), "Expected --gold and systems"),
        (("--manifest", "m.csv"), "Expected --gold and systems"),
        (("--gold", GOLD, f"a={CAREFUL}", "--factor", "ocr"), "Expected --gold and systems"),
        (("--gold", GOLD, CAREFUL), "Expected NAME=PATH"),
        (("--gold", "-", f"a={CAREFUL}"), "got standard input (-)"),
        (("--gold", GOLD, f"a={CAREFUL}", "--score", "f2q"), "Expected a score where higher is better"),
        (
            ("--gold", GOLD, f"a={CAREFUL}", "--cluster-by", "("),
            "Expected the cluster pattern to be a regular expression",
        ),
        (("--gold", GOLD, f"a={CAREFUL}", "--project", "none.json"), "none.json"),
        (("--gold", GOLD, f"a={CAREFUL}", "--level", "95"), "Expected --level to be between 0 and 1"),
        (("--gold", GOLD, f"a={CAREFUL}", "--engine", "dask"), "Expected --engine dask and --scheduler together"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    output = " ".join(run(*arguments, code=2).output.replace("│", " ").split())
    assert message in output


def test_the_report_agrees_with_the_ranking(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["demo", "--out", "d", "--no-report"])
    systems = [f"{name}=d/{name}.jsonl" for name in ("careful", "hasty")]
    made = CliRunner().invoke(
        app, ["rank", *systems, "--gold", "d/gold.jsonl", "--schema", "d/speakers.schema.json", "--out", "r"]
    )
    assert made.exit_code == 0, made.output
    page = Path("r/report.html").read_text(encoding="utf-8")
    found = json.loads(Path("r/ranking.json").read_text(encoding="utf-8"))
    assert "Systems by per-document mean (macro) of graded F1 (f1q)" in page
    for system in found["systems"]:
        assert f"{system['score']['estimate']:.4f}" in page
        assert all(f'<data value="{system["score"][end]!r}">' in page for end in ("low", "high"))
    assert sorted(path.name for path in Path("r").iterdir() if path.is_dir()) == ["careful", "hasty"]
    again = CliRunner().invoke(
        app,
        ["rank", *systems, "--gold", "d/gold.jsonl", "--schema", "d/speakers.schema.json", "--out", "n", "--no-report"],
    )
    assert again.exit_code == 0
    assert not [path for path in Path("n").iterdir() if path.is_dir() or path.suffix == ".html"]
