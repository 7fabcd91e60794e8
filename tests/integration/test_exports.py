"""The tables that `--table` writes: their names, formats and contents."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre import bundled
from arbitre.cli import app
from arbitre.corpus.tables import ROWS, ExportTable
from arbitre.errors import DataError, OptionError
from arbitre.jobs.ranking_job import FactorsResults, RankingResults
from arbitre.jobs.result_files import EXPORT_FORMS, Export, parse_exports, write_exports
from arbitre.tables.table import SCORE, Table, TableColumn, count
from arbitre.tally import ABSENCES, COUNTS, NAMES, OUTCOMES, RATES

SCHEMA = str(bundled.schemas() / "examples" / "speakers.schema.json")
GOLD, CAREFUL, HASTY = (str(bundled.demo() / f"{name}.jsonl") for name in ("gold", "careful", "hasty"))

TABLE = Table.of(
    "", (TableColumn("name"), TableColumn("f1q", SCORE), TableColumn("n", count)), (("a_b", 2 / 3, 1), ("c", None, 2))
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return " ".join(result.output.replace("│", " ").split())


def evaluate(*arguments, code=0):
    sources = ("--schema", SCHEMA, "--gold", GOLD, "--predicted", HASTY)
    return run("evaluate", *sources, "--no-report", *arguments, code=code)


def wanted(*names):
    return [part for name in names for part in ("--table", name)]


def read(name):
    with Path("out", name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parquet(name):
    return pytest.importorskip("pyarrow.parquet").read_table(Path("out", name))


def printed(command, form):
    """The tables of an output in CSV (with titles) or Markdown, as rows of cells; a missing value is an empty cell."""
    text = CliRunner().invoke(app, [*map(str, command), "--format", form]).stdout
    if form == "csv":
        return [list(csv.reader(block.splitlines())) for block in re.split(r"\n\n(?=.)", text.strip())]
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    rows = ([re.split(r" ?(?<!\\)\| ?", line.strip())[1:-1] for line in block.splitlines()] for block in blocks)
    return [[[cell.replace("–", "") for cell in row] for at, row in enumerate(block) if at != 1] for block in rows]


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", HASTY, "--diagnose"),
        ("rank", "--schema", SCHEMA, "--gold", GOLD, f"careful={CAREFUL}", f"hasty={HASTY}"),
    ],
)
def test_csv_output_has_every_value_of_markdown_output(command):
    found = {form: printed(command, form) for form in ("csv", "markdown")}
    assert len(found["csv"]) == len(found["markdown"]) > 0
    for in_csv, in_markdown in zip(found["csv"], found["markdown"], strict=True):
        for full, rounded in zip(in_csv[-len(in_markdown) :], in_markdown, strict=True):
            assert [bool(cell) for cell in full[: len(rounded)]] == list(map(bool, rounded)), (full, rounded)


class TestFiles:
    def test_a_table_is_written_in_every_format(self, tmp_path):
        names = [f"t.{form}" for form in EXPORT_FORMS]
        assert write_exports(tmp_path / "out", parse_exports(names, ["t"]), {"t": ExportTable.of(TABLE)}) == tuple(
            names
        )
        assert Path("out/t.md").read_text("utf-8").splitlines()[2:] == [r"| a\_b | 0.6667 | 1 |", "| c | – | 2 |"]
        assert Path("out/t.tex").read_text("utf-8").splitlines()[4:6] == [r"a\_b & 0.6667 & 1 \\", r"c & -- & 2 \\"]
        assert Path("out/t.csv").read_bytes() == b"name,f1q,n\na_b,0.6666666666666666,1\nc,,2\n"
        assert parquet("t.parquet").to_pydict() == {"name": ["a_b", "c"], "f1q": [2 / 3, None], "n": [1, 2]}
        assert sorted(path.name for path in Path("out").iterdir()) == sorted(names)

    def test_a_repeated_name_is_one_file(self):
        assert parse_exports(["t.md", "t.tex", "t.md"], ["t"]) == (Export("t", "md"), Export("t", "tex"))

    @pytest.mark.parametrize("name", ["t", "t.html", "u.md", ".md", "md", "", "t.md.tex", "../t.md", "T.md"])
    def test_an_unknown_table_is_refused_with_the_available_ones(self, name):
        with pytest.raises(OptionError) as caught:
            parse_exports(["t.md", name], ["t", "v"])
        assert caught.value.message == f"Expected the name of a table, got {name!r}"
        names = r"(Available: t, v\. |Did you mean \"t\"\? Also available: v\. )?"
        assert re.fullmatch(rf"{names}Extensions: \.md, \.tex, \.csv, \.parquet\.", caught.value.hint)
        assert ("vailable" in caught.value.hint) == (name != "t.html")

    def test_parquet_without_pyarrow_is_refused_before_comparing(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(DataError, match="needs pyarrow, which cannot be imported") as caught:
            parse_exports(["t.parquet"], ["t"])
        assert caught.value.file == "t.parquet"

    @pytest.mark.parametrize("form", EXPORT_FORMS)
    def test_a_failed_write_leaves_no_other_file(self, tmp_path, form):
        (tmp_path / f"t.{form}").mkdir()
        with pytest.raises(DataError, match="Cannot write the file"):
            write_exports(tmp_path, [Export("t", form)], {"t": ExportTable.of(TABLE)})
        assert [path.name for path in tmp_path.iterdir()] == [f"t.{form}"]


class TestEvaluate:
    def test_evaluate_writes_every_table_in_every_format(self):
        names = [f"{rows}.{form}" for rows in ROWS for form in EXPORT_FORMS if rows != "matches"]
        names.remove("faults.parquet")
        said = evaluate("--out", "out", "--diagnose", "--cluster-by", r"[0-9]$", *wanted(*names))
        always = [
            "evaluation.json",
            "documents.csv",
            "paths.csv",
            "matches.csv",
            "faults.csv",
            "failures.csv",
            "failures.jsonl",
            "results.npz",
        ]
        others = [name for name in names if name not in always]
        assert said.endswith(f"Wrote {', '.join((*always, *others))} to out")
        assert {path.name for path in Path("out").iterdir() if path.is_file()} == {".arbitre-output", *always, *others}

    def test_text_tables_show_the_named_scores_and_data_files_show_all(self):
        names = ("documents.md", "paths.md", "groups.md", "groups.csv", "paths.parquet", "documents.parquet")
        evaluate(
            "--out", "out", "--cluster-by", "page", *wanted(*names), "--table-score", "omq", "--table-score", "irq"
        )
        heads = {name: Path("out", name).read_text("utf-8").splitlines()[0] for name in names if name.endswith("md")}
        assert heads == {
            "documents.md": "| document | gold | predicted | matched | omq | irq |",
            "paths.md": "| path | gold | predicted | matched | omq | irq |",
            "groups.md": "| group | documents | omq | irq |",
        }
        assert list(read("groups.csv")[0]) == ["group", "documents", *NAMES, "signature"]
        assert parquet("paths.parquet").column_names == [
            *("path", *COUNTS, *NAMES), *OUTCOMES, *ABSENCES, *RATES, "signature"
        ]  # fmt: skip
        assert parquet("documents.parquet").column_names == [
            *("id", "run", "failed", "document_quality"), *COUNTS, *NAMES, "signature"
        ]  # fmt: skip

    def test_data_files_hold_the_numbers_of_the_evaluation(self):
        evaluate("--out", "out", *wanted("documents.parquet", "paths.parquet", "scores.csv"))
        plain = json.loads(Path("out/evaluation.json").read_text("utf-8"))
        rows = parquet("paths.parquet").to_pylist()
        assert {row.pop("signature") for row in rows} == {plain["signature"]["short"]}
        assert {row.pop("path"): row for row in rows} == plain["by_path"]
        *scores, quality = read("scores.csv")
        assert (quality["score"], float(quality["macro"])) == ("document_quality", plain["document_quality"]["mean"])
        for row in scores:
            name = row["score"]
            assert (float(row["micro"]), float(row["macro"])) == (plain["micro"][name], plain["macro"][name])
            assert int(row["documents"]) == plain["macro_documents"][name]
        failed = [row for row in parquet("documents.parquet").to_pylist() if row["failed"]]
        assert [(row["id"], row["run"], row["imq"], row["irq"]) for row in failed] == [("page_04", None, None, 0.0)]

    def test_groups_are_means_over_the_named_property(self):
        evaluate("--out", "out", "--cluster-by", "/page/volume", *wanted("groups.csv"))
        (row,) = read("groups.csv")
        documents = read("documents.csv")
        assert (row["group"], row["documents"]) == ("1927", "6")  # the text as it stands, not as JSON
        mean = math.fsum(float(one["irq"] or 0.0) for one in documents) / 6
        assert float(row["irq"]) == pytest.approx(mean, abs=1e-15)

    def test_requesting_a_table_changes_no_other_file(self):
        evaluate("--out", "out")
        before = {path.name: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
        evaluate("--out", "out", *wanted("documents.csv", "paths.csv", "paths.tex"))
        after = {path.name: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
        assert before.pop(".arbitre-output") != after.pop(".arbitre-output")  # lists the table
        assert after.pop("paths.tex").splitlines()[1].startswith(rb"\begin{tabular}")
        assert after == before

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--table", "paths.md"], "--table requires --out"),
            (
                ["--out", "out", "--table", "path.md"],
                "got 'path.md'. Did you mean \"paths\"? Also available: documents, scores, groups, matches, faults. Extensions",
            ),
            (["--out", "out", "--table", "groups.tex"], "--table groups.tex requires --cluster-by"),
            (["--out", "out", "--table-score", "irq"], "--table-score requires --table"),
            (["--out", "out", "--table", "paths.md", "--score", "f1qq"], "got 'f1qq'. Did you mean \"f1q\""),
        ],
    )
    def test_evaluate_refuses_wrong_options_before_comparing(self, arguments, message):
        assert message in evaluate(*arguments, code=2)
        assert list(Path().iterdir()) == []


class TestRank:
    @staticmethod
    def rank(*arguments, code=0):
        return run("rank", "--schema", SCHEMA, "--no-report", *arguments, code=code)

    def test_rank_exports_the_tables_of_its_result(self):
        systems = ("--gold", GOLD, f"careful={CAREFUL}", f"hasty={HASTY}")
        self.rank(*systems, "--out", "out", *wanted("systems.tex", "pairs.md", "pairs.parquet", "runs.csv"))
        assert Path("out/systems.tex").read_text("utf-8") in Path("out/ranking.tex").read_text("utf-8")
        assert Path("out/pairs.md").read_text("utf-8") in Path("out/ranking.md").read_text("utf-8")
        plain = json.loads(Path("out/ranking.json").read_text("utf-8"))["pairs"]
        assert parquet("pairs.parquet").column("a - b").to_pylist() == [one["difference"] for one in plain]
        assert [float(row["a - b"]) for row in read("pairs.csv")] == [one["difference"] for one in plain]
        assert read("runs.csv") == []  # no system has several
        assert "Variation between runs" not in Path("out/ranking.md").read_text("utf-8")

    def test_rank_exports_the_table_of_levels(self):
        Path("gold.json").write_text('{"speakers": []}', encoding="utf-8")
        Path("m.csv").write_text(
            "id,run,gold,predicted,ocr\na,1,gold.json,gold.json,x\na,2,gold.json,gold.json,y\n", encoding="utf-8"
        )
        self.rank("--manifest", "m.csv", "--factor", "ocr", "--out", "out", *wanted("levels.md"))
        assert [line.split(" | ")[1] for line in Path("out/levels.md").read_text("utf-8").splitlines()[2:4]] == [
            "x",
            "y",
        ]
        said = self.rank("--manifest", "m.csv", "--factor", "ocr", "--out", "o", *wanted("systems.md"), code=2)
        assert "Available: levels, pairs. Extensions" in said

    def test_the_table_in_the_help_is_available(self, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")
        for command, rows in (("evaluate", [ROWS]), ("rank", [RankingResults.rows, FactorsResults.rows])):
            said = re.findall(r"Additional tables to write to the --out folder, such as (\S+):", run(command, "--help"))
            assert len(said) == 1
            assert all([one.name for one in parse_exports(said, known)] == said for known in rows)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--table", "systems.md"], "--table requires --out"),
            (
                ["--out", "out", "--table", "levels.md"],
                "systems, scores, pairs, causes, winners, lacking, runs",
            ),
        ],
    )
    def test_rank_refuses_wrong_options_before_comparing(self, arguments, message):
        assert message in self.rank("--gold", GOLD, f"careful={CAREFUL}", *arguments, code=2)
        assert list(Path().iterdir()) == []
