"""The output in French: terminal tables, Markdown, LaTeX and figures; files for programs do not change."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.bundled import demo, schemas
from arbitre.cli import app
from arbitre.corpus import tables
from arbitre.errors import OptionError
from arbitre.language import Language, Translator, catalogue
from arbitre.systems.tables import leaderboard
from arbitre.tables.table import SCORE, SHARE, Table, TableColumn, columns

FR = Translator(Language.FR)
SCHEMA = schemas() / "examples" / "speakers.schema.json"
GOLD = demo() / "gold.jsonl"
ENGLISH = re.compile(
    r"\b(the|and|of|gold|predicted|matched|missing|spurious|path|mean|failed|interval|entries|pooled)\b"
)


def run(*arguments):
    found = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "160"})
    assert found.exit_code == 0, found.output
    return found.stdout


def evaluation(name="hasty", **options):
    return arbitre.evaluate(SCHEMA, gold=GOLD, predicted=demo() / f"{name}.jsonl", **options)


def left_in_english(text):
    """Lines with an English word, except commands to copy and paths."""
    lines = [line for line in text.splitlines() if not line.startswith(("  arbitre ", "signature "))]
    plain = [re.sub(r"\S*/\S*", "", line) for line in lines]
    return [line for line in plain if ENGLISH.search(line)]


def test_the_demo_is_french_with_decimal_commas(tmp_path):
    text = run("demo", "--out", tmp_path / "d", "--lang", "fr", "--no-report")
    assert re.search(r"précision graduée \(imq\) +0,98 +0,76", text)
    assert "intervalle à 95 %" in text
    assert "aucune prédiction" in text
    assert left_in_english(text) == []
    assert not re.search(r"\d\.\d", text.partition("signature")[0])


def test_evaluate_writes_french_tables_and_the_same_data(tmp_path):
    shared = ("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", demo() / "hasty.jsonl", "--no-report")
    files = ("--table", "paths.tex", "--table", "scores.md", "--table", "documents.csv")
    english = run(*shared, *files, "--out", tmp_path / "en")
    french = run(*shared, *files, "--out", tmp_path / "fr", "--lang", "fr")
    assert "By path" in english
    assert "Par chemin" in french
    assert left_in_english(french) == []
    one, other = tmp_path / "en", tmp_path / "fr"
    for name in ("evaluation.json", "documents.csv", "paths.csv"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    tex = (other / "paths.tex").read_text(encoding="utf-8")
    assert "chemin & référence & prédit & apparié & f1q" in tex
    assert r"/speakers/*/name & 58 & 42 & 42 & 0,7909 & " in tex
    assert "| rappel gradué (irq) | 0,6584 | 0,6746 | 6 |" in (other / "scores.md").read_text(encoding="utf-8")


def test_json_and_csv_output_do_not_depend_on_the_language():
    shared = ("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", demo() / "careful.jsonl")
    for form in ("json", "csv"):
        assert run(*shared, "--format", form) == run(*shared, "--format", form, "--lang", "fr")


def test_rank_writes_french_tables_from_the_command_line_and_from_python(tmp_path):
    systems = {name: demo() / f"{name}.jsonl" for name in ("careful", "hasty")}
    named = [f"{name}={path}" for name, path in systems.items()]
    text = run(
        "rank", "--schema", SCHEMA, "--gold", GOLD, *named, "--out", tmp_path / "a", "--lang", "fr", "--no-report"
    )
    assert "écart au meilleur" in text
    assert left_in_english(text) == []
    ranking = arbitre.rank(systems, schema=SCHEMA, gold=GOLD, out=tmp_path / "b", lang="fr", no_report=True)
    for name in ("ranking.md", "ranking.tex", "ranking.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "% Classement\u00a0: Moyenne par document (macro)" in (tmp_path / "b" / "ranking.tex").read_text(
        encoding="utf-8"
    )
    assert "| careful | 0,9712 |" in leaderboard(ranking).markdown(lang="fr")


def test_compare_diff_and_entities_print_french(tmp_path):
    sides = []
    for name in ("gold", "hasty"):
        sides.append(tmp_path / f"{name}.json")
        sides[-1].write_text((demo() / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    text = run("compare", *sides, "--schema", SCHEMA, "--lang", "fr")
    assert "├── speakers  faux 0,7232  8 appariés, 2 manquants" in text
    assert left_in_english(re.sub(r'".*|[├└│].*', "", text)) == []
    for name in ("careful", "hasty"):
        evaluation(name, out=tmp_path / name, no_report=True)
    before, after = tmp_path / "careful", tmp_path / "hasty"
    assert "/speakers/*/role                      0,9913   0,8200   -0,1713" in run(
        "diff", before, after, "--lang", "fr"
    )
    markdown = run("diff", before, after, "--format", "markdown", "--lang", "fr")
    assert markdown == arbitre.diff(before, after).to_markdown(lang="fr")
    assert "Documents en échec\u00a0: 0 -> 1" in markdown
    tags = tmp_path / "tags.conll"
    tags.write_text("Ada B-PER\nParis B-LOC\n", encoding="utf-8")
    text = run("entities", tags, tags, "--lang", "fr")
    assert "moyenne micro" in text
    assert left_in_english(text) == []


def test_tables_take_the_language_as_the_command_line_does():
    table = tables.paths(evaluation(), ("f1q", "irq"))
    assert table.latex(lang="fr").splitlines()[3] == r"chemin & référence & prédit & apparié & f1q & irq \\"
    assert "| 0,7909 |" in table.markdown(lang="fr")
    assert ">0,7909<" in table.html(lang="fr")
    assert table.markdown(lang="en") == table.markdown()
    assert table.translated(FR).csv() == table.csv()
    with pytest.raises(OptionError, match="Expected a known language, got 'de'"):
        table.latex(lang="de")


def test_percentages_have_a_no_break_space_except_on_terminals():
    table = Table.of("", (TableColumn("path", kind="path"), TableColumn("share", SHARE)), [("", 0.125)])
    assert r"(tout le document) & 12,5~\%" in table.latex(lang="fr")
    assert "| (tout le document) | 12,5\u00a0% |" in table.markdown(lang="fr")
    assert table.translated(Translator(Language.FR, plain=True)).texts() == [["(tout le document)", "12,5 %"]]


def test_names_of_the_data_are_not_translated():
    heads = (TableColumn("system"), *columns("gold", written=SCORE, named=True), *columns("gold", written=SCORE))
    made = Table.of("", heads, [("missing", 0.5, 0.25)]).translated(FR)
    assert [column.name for column in made.columns] == ["système", "gold", "référence"]
    assert made.texts() == [["missing", "0,5000", "0,2500"]]


def test_every_text_of_a_table_is_recognised():
    for name, texts in catalogue().items():
        if name.startswith(("table.", "word.")):
            text = re.sub(r"{\w+!\w}", "x 0.5", re.sub(r"{\w+}", "3", texts["en"]))
            assert FR.sentence(text) != text or texts["en"] == texts["fr"], name
