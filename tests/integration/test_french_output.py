"""The output in French: terminal tables, Markdown, LaTeX and figures; files for programs do not change."""

from __future__ import annotations

import ast
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.bench.cause_corpora import WRITTEN, seeded
from tests.bench.cause_planters import KINDS, plant
from typer.testing import CliRunner

import arbitre
from arbitre.bundled import demo, schemas
from arbitre.causes.search import find_causes
from arbitre.cli import app
from arbitre.corpus import tables
from arbitre.errors import OptionError
from arbitre.inputs.records import Failure, Pair
from arbitre.language import ENGLISH as ENGLISH_TEXTS
from arbitre.language import Language, Translator, catalogue
from arbitre.systems.tables import leaderboard
from arbitre.tables.table import SCORE, SHARE, WHOLE, Table, TableColumn, columns
from arbitre.tables.terminal import render

pytestmark = pytest.mark.usefixtures("few_shuffles")

FR = Translator(Language.FR)
SCHEMA = schemas() / "examples" / "speakers.schema.json"
GOLD = demo() / "gold.jsonl"
ENGLISH = re.compile(
    r"\b(the|and|of|is|are|was|with|by|from|has|have|at|to|for|not|gold|predictions?|predicted|matched|missing|spurious|"
    r"path|mean|failed|interval|entries|pooled|values?|agreement|expected|observed|annotators?|confidence|training)\b"
)
QUOTED = re.compile(r"\"[^\"…]*[\"…]|'[^']*'|`[^`]*`|--\S+|\S*/\S*")
"""Values and names of the data, paths, and options."""


def run(*arguments):
    return printed(*arguments)[0]


def printed(*arguments):
    """Standard output and standard error."""
    found = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "160"})
    assert found.exit_code == 0, found.output
    return found.stdout, found.stderr


def evaluation(name="hasty", **options):
    return arbitre.evaluate(SCHEMA, gold=GOLD, predicted=demo() / f"{name}.jsonl", **options)


def left_in_english(text):
    """Lines with an English word or a decimal point, except commands to copy, signatures, and names of the data."""
    unquoted = re.sub(r"`[^`]*`", "", text)  # may be wrapped
    lines = [line for line in unquoted.splitlines() if not line.startswith(("  arbitre ", "signature "))]
    plain = [QUOTED.sub("", line) for line in lines]
    return [line for line in plain if ENGLISH.search(line) or re.search(r"(?<![\w.|:])\d+\.\d+(?![\w.])", line)]


def test_the_demo_is_french_with_decimal_commas(tmp_path):
    text = run("demo", "--out", tmp_path / "d", "--lang", "fr", "--no-report")
    assert re.search(r"précision graduée \(imq\) +0,98 +0,76", text)
    assert "intervalle à 95 %" in text
    assert "aucune prédiction" in text
    assert left_in_english(text) == []
    assert not re.search(r"\d\.\d", text.partition("signature")[0])


@pytest.mark.parametrize(
    ("english", "french"),
    [
        (
            "Gold: majority of 2 annotators (a, b), from a; single annotator, provenance unknown, from 2 other sources",
            (
                "Référence : majorité de 2 annotateurs (a, b), dans a ; "
                "un seul annotateur, provenance inconnue, dans 2 autres sources"
            ),
        ),
        (
            "Gold: 2 annotators (ada, bo), from a.jsonl; 3 annotators (cy, dee, eva)",
            "Référence : 2 annotateurs (ada, bo), dans a.jsonl ; 3 annotateurs (cy, dee, eva)",
        ),
        (
            "Gold: single annotator, provenance unknown, 2 values corrected (dee)",
            "Référence : un seul annotateur, provenance inconnue, 2 valeurs corrigées (dee)",
        ),
    ],
)
def test_the_provenance_is_french(english, french):
    assert Translator(Language.FR, plain=True).text(english) == french


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


def test_the_path_of_a_whole_document_has_one_name(tmp_path):
    for name, key in (("gold", "abc"), ("predicted", "abd")):
        rows = [json.dumps({"id": f"d{at}", name: key}) for at in range(4)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "schema.json").write_text('{"type": "string"}', encoding="utf-8")
    sources = (f"--{name}={tmp_path / name}.jsonl" for name in ("gold", "predicted"))
    names = [part for name in ("paths.tex", "faults.md") for part in ("--table", name)]
    out = tmp_path / "out"
    shared = ("evaluate", "--schema", tmp_path / "schema.json", *sources, "--diagnose", "--lang", "fr")
    text = run(*shared, "--out", out, *names)
    written = [(out / name).read_text(encoding="utf-8") for name in ("paths.tex", "faults.md", "report.html")]
    for found in (text, *written):
        assert "(tout le document)" in found
        shown = found.partition('<script type="application/json"')[0]
        assert WHOLE not in shown
        assert "(racine)" not in shown
    for say in (FR, ENGLISH_TEXTS):
        assert say("whole") == say.word(WHOLE)


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
    rows = GOLD.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "few.jsonl").write_text("".join(rows[:3]), encoding="utf-8")
    arbitre.evaluate(
        SCHEMA, gold=tmp_path / "few.jsonl", predicted=demo() / "hasty.jsonl", out=tmp_path / "few", no_report=True
    )
    assert "portent sur 3 documents" in run("diff", before, tmp_path / "few", "--format", "markdown", "--lang", "fr")
    (after / "results.npz").unlink()
    assert "Le changement n’a pas été testé" in printed("diff", before, after, "--lang", "fr")[1]
    tags = tmp_path / "tags.conll"
    tags.write_text("Ada B-PER\nParis B-LOC\n", encoding="utf-8")
    text = run("entities", tags, tags, "--lang", "fr")
    assert "moyenne micro" in text
    assert "Ligne (aucune) : en trop. Colonne (aucune) : manquants." in text
    assert "(none)" not in text
    assert left_in_english(text) == []


def without_tags(html):
    return re.sub(r"\s*<[^>]+>\s*", "\n", html)


def test_results_in_a_notebook_have_the_language_of_the_evaluation():
    french, english = (without_tags(evaluation(lang=lang)._repr_html_()) for lang in ("fr", "en"))
    assert "moyenne par document (intervalle à 95\u00a0%)" in french
    assert "0,71 (0,26 à 0,97)" in french
    assert "page_04\n0,00\n0,00\nen échec" in re.sub("\n+", "\n", french)
    assert left_in_english(french) == []
    assert "0.71 (0.26 to 0.97)" in english
    evaluations = {name: evaluation(name) for name in ("careful", "hasty")}
    ranking = arbitre.rank(evaluations, lang="fr")
    assert "écart au meilleur" in ranking._repr_html_()
    assert left_in_english(without_tags(ranking._repr_html_())) == []
    assert ranking.to_dict() == arbitre.rank(evaluations).to_dict()


def test_saved_reports_have_the_language_of_the_evaluation_or_another_one(tmp_path):
    def language(name):
        return re.search(r'<html lang="(\w+)">', (tmp_path / name).read_text(encoding="utf-8"))[1]

    french = evaluation(lang="fr")
    french.save(tmp_path / "a")
    french.save(tmp_path / "b", lang="en")
    french.report(tmp_path / "own.html")
    assert [language(name) for name in ("a/report.html", "b/report.html", "own.html")] == ["fr", "en", "fr"]
    loaded = arbitre.load(tmp_path / "a")
    loaded.save(tmp_path / "c")
    loaded.save(tmp_path / "a", lang="en")
    assert [language(name) for name in ("c/report.html", "a/report.html")] == ["fr", "en"]
    assert arbitre.load(tmp_path / "a").to_dict() == french.to_dict()
    with pytest.raises(OptionError, match="Expected a known language, got 'de'"):
        french.save(tmp_path / "d", lang="de")


def test_reasons_of_failures_in_the_report_are_french(tmp_path):
    french, english = (
        evaluation(lang=lang, out=tmp_path / lang) and (tmp_path / lang / "report.html").read_text(encoding="utf-8")
        for lang in ("fr", "en")
    )
    assert "<td>aucune prédiction</td>" in french
    assert "<td>no prediction</td>" not in french
    assert "<td>no prediction</td>" in english


@pytest.mark.parametrize(
    ("name", "values", "english", "french"),
    [
        (
            "said.pairs",
            {"exact": "9", "close": "2", "low": "1", "threshold": "0,80"},
            "Pairs: 9 exact, 2 close (quality 0,80 or more) and 1 low.",
            "Paires : 9 exactes, 2 proches (qualité d’au moins 0,80) et 1 faible.",
        ),
        (
            "said.counts",
            {"gold": 2, "predicted": 1, "matched": 1.5},
            "Entries: 2 in gold, 1 predicted, 1.50 matched.",
            "Entrées : 2 dans la référence, 1 prédite, 1,50 appariée.",
        ),
        (
            "causes.cell",
            {"n": "13", "documents": "1", "gain": "0.5"},
            "Faults: 13, in 1 document. Gain after repair: 0.5",
            "Erreurs : 13, dans 1 document. Gain après correction : 0.5",
        ),
    ],
)
def test_sentences_have_the_singular_and_the_plural_of_their_numbers(name, values, english, french):
    assert Translator(Language.EN)(name, **values) == english
    assert FR(name, **values).replace("\u00a0", " ") == french


@pytest.mark.parametrize(
    ("scored", "unscored", "english", "french"),
    [
        (1, 0, "Failures (1), counted as an empty prediction", "Échec (1), compté comme une prédiction vide"),
        (2, 0, "Failures (2), counted as empty predictions", "Échecs (2), comptés comme des prédictions vides"),
        (0, 1, "Failures (1), not scored", "Échec (1), non noté"),
        (0, 2, "Failures (2), not scored", "Échecs (2), non notés"),
        (
            *(1, 1, "Failures (2), 1 counted as an empty prediction, 1 not scored"),
            "Échecs (2) : 1 compté comme une prédiction vide, 1 non noté",
        ),
        (
            *(2, 3, "Failures (5), 2 counted as empty predictions, 3 not scored"),
            "Échecs (5) : 2 comptés comme des prédictions vides, 3 non notés",
        ),
    ],
)
def test_the_title_of_the_failures_has_the_singular(scored, unscored, english, french):
    failures = [Failure("predicted", str(at), reason="no prediction") for at in range(scored + unscored)]
    title = tables.failures(failures, unscored).title
    assert title == english
    assert Translator(Language.FR, plain=True).text(title) == french


def test_the_number_of_rows_left_out_has_the_singular():
    for more, english, french in (
        (1, "... and 1 more failure", "1 autre échec"),
        (2, "2 more failures", "2 autres échecs"),
    ):
        failures = [Failure("predicted", str(at), reason="no prediction") for at in range(3 + more)]
        shown = render(tables.failures(failures, 0), 100, most=3, rest="more failure(s)")
        for say, expected in ((ENGLISH_TEXTS, english), (FR, french)):
            console = Console(file=io.StringIO(), width=100)
            console.print(replace(shown, say=say))
            assert f"{expected}\n" in console.file.getvalue()


def test_the_root_has_the_same_name_in_violations_as_in_paths():
    found = [{"pointer": "", "message": "[] is not an object"}, {"pointer": "/a", "message": "1 is not a text"}]
    table = tables.violations(found)
    assert [cells[0] for cells in table.texts()] == ["(whole document)", "/a"]
    assert [cells[0] for cells in table.translated(FR).texts()] == ["(tout le document)", "/a"]


def test_the_report_on_entities_is_french(tmp_path):
    tags = tmp_path / "tags.conll"
    tags.write_text("Ada B-PER\nParis B-LOC\n", encoding="utf-8")
    run("entities", tags, tags, "--out", tmp_path / "out", "--lang", "fr")
    assert '<html lang="fr">' in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


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
            text = re.sub(r"{\w+!w}", "x", re.sub(r"{\w+}", "3", texts["en"])).replace("(s)", "s")
            text = re.sub(r"{\w+!\w}", "x 0.5", text)
            assert FR.sentence(text) != text or texts["en"] == texts["fr"], name


def jsonl(name, *records):
    Path(name).write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Annotations, tagged sentences, ratings, and predictions with confidences and log-probabilities."""
    monkeypatch.chdir(tmp_path)
    Path("a.conll").write_text("Ada B-PER\nParis B-LOC\n\nBob B-PER\nRome O\n", encoding="utf-8")
    Path("b.conll").write_text("Ada B-PER\nParis B-ORG\n\nBob O\nRome B-LOC\n", encoding="utf-8")
    ratings = [("yes", "no") if at % 3 else ("yes", "yes") for at in range(12)] + [("no", "yes")]
    Path("r.csv").write_text("id,ada,bob\n" + "".join(f"{n},{a},{b}\n" for n, (a, b) in enumerate(ratings)), "utf-8")
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "kind": {"enum": ["x", "y", "z"]}}}
    Path("s.json").write_text(json.dumps(schema), encoding="utf-8")
    gold = [{"id": str(at), "name": f"Ada {at}", "kind": "xyz"[at % 3]} for at in range(40)]
    jsonl("g.jsonl", *gold)
    answers = [one | ({"name": "Bob"} if at % 4 == 0 else {}) for at, one in enumerate(gold)]
    jsonl("p.jsonl", *(one | {"name_confidence": 1 / (1 + at % 4)} for at, one in enumerate(answers)), {"id": "z"})
    jsonl("k.jsonl", *(one | {"kind": "y" if at % 2 else "z"} for at, one in enumerate(gold)))
    for name, system in (("ada", "gold"), ("bob", "careful"), ("cy", "hasty")):
        records = (demo() / f"{system}.jsonl").read_text(encoding="utf-8").splitlines()
        jsonl(f"{name}.jsonl", *map(json.loads, records[:2]))
    Path("l.json").write_text("[-1, -2, -0.5]", encoding="utf-8")


ANNOTATED = ("--schema", SCHEMA, "ada=ada.jsonl", "bob=bob.jsonl", "cy=cy.jsonl")
CORPUS = ("g.jsonl", "p.jsonl", "--schema", "s.json")
RATED = ("--train", "k.jsonl", "--test", "g.jsonl", "--predicted", "k.jsonl", "--path", "/kind", "--schema", "s.json")
COMMANDS = {
    "agree": (*ANNOTATED, "accord dû au hasard"),
    "agree r.csv": ("Accord observé et accord attendu",),
    "agree --suggest-category-distances": (*ANNOTATED, "Aucune distance proposée"),
    "gamma": ("a=a.conll", "b=b.conll", "Étiquettes échangées parmi 2 paires de segments alignés"),
    "consensus": (*ANNOTATED, "--system=s=cy.jsonl", "Erreurs estimées dans les éléments de listes"),
    "consensus --strategy dawid-skene": (*ANNOTATED, "peu fiable avec 3 annotateurs"),
    "consensus --strategy unanimity --out c.jsonl": (*ANNOTATED, "documents écrits dans c.jsonl"),
    "leave-one-out": (*ANNOTATED, "--system=s=cy.jsonl", "s comparé aux mêmes consensus"),
    "metricity": ("--schema", SCHEMA, "ada.jsonl", "cy.jsonl", "masse de réparation"),
    "metricity --sample 5": ("--schema", SCHEMA, "ada.jsonl", "cy.jsonl", "relâchée est donc une borne inférieure"),
    "confidence --confidence-from explicit": (*CORPUS, "1 prédiction sans référence, non comptée"),
    "text rouge": ("le chat dort", "un chien", "le chat dort bien", "rouge1 par rapport à la référence 2 sur 2"),
    "text bleu": ("le chat dort", "le chat dort bien", "pénalité de brièveté"),
    "text perplexity --window 2": ("l.json", "Perplexité\u202f: 3,2113".replace("\u202f", " ")),
    "text corpus --path /name": (*CORPUS, "40 textes sous /name"),
    "advise": ("--train", "a.conll", "--test", "b.conll", "LOC a 1 exemple d’entraînement, moins de 15"),
    "advise --min-examples 1": (*RATED, "souvent confondues"),
    "fix": (SCHEMA, GOLD, demo() / "hasty.jsonl", "Ignorer les accents avec"),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_prints_french_and_the_same_data(words):
    if words.startswith("text"):
        pytest.importorskip("rouge_score")
        pytest.importorskip("sacrebleu")
    *given, expected = COMMANDS[words]
    command = (*words.split(), *given)
    text, notes = printed(*command, "--lang", "fr")
    assert expected in " ".join(f"{text}\n{notes}".split())
    assert left_in_english(text) + left_in_english(notes) == []
    if "--out" not in command:
        assert printed(*command, "--format", "json")[0] == run(*command, "--format", "json", "--lang", "fr")
    if "--suggest-category-distances" not in command:
        assert left_in_english(run(*command, "--format", "markdown", "--lang", "fr")) == []


@pytest.mark.usefixtures("files")
def test_notes_on_written_files_are_french():
    evaluation(out="saved", no_report=True)
    command = ("report", "saved", "--out", "report.html", "--keep", "9", "--lang", "fr")
    written = printed(*command)[1]
    assert "Écrit : report.html" in written.splitlines()
    assert left_in_english(written) == []
    figures = printed("figures", "saved", "--out", "figures", "--lang", "fr")[1]
    assert figures.startswith("Écrit dans figures : ")


def test_a_name_at_the_end_of_a_sentence_does_not_include_the_next_sentence():
    few = "2 of 4 documents have fewer than 2 annotators and are left out: 'a' (bob), 'b' (bob)"
    french = "2 documents sur 4 ont moins de 2 annotateurs et sont écartés\u00a0: 'a' (bob), 'b' (bob)"
    keep = "L’option --min-annotators permet de les conserver."
    assert FR.text(f"{few}. Use --min-annotators to keep them.") == f"{french}. {keep}"
    assert FR.text(f"{few}, …. Use --min-annotators to keep them.") == f"{french}, …. {keep}"
    odd = "1 of 4 documents has fewer than 2 annotators and is left out: 'a (b). Use c' (bob)."
    assert FR.text(odd).endswith("est écarté\u00a0: 'a (b). Use c' (bob).")


@pytest.mark.parametrize("kind", KINDS)
def test_the_advice_on_each_kind_of_cause_is_french(kind):
    found = []
    for make in reversed(WRITTEN):  # the smallest documents first
        planted = plant(kind, make(seeded("french", make.__name__)), 1)
        if planted is not None:
            pairs = zip(planted.gold[:8], planted.predicted[:8], strict=True)
            given = [Pair(f"p{at:02}", None, *pair) for at, pair in enumerate(pairs)]
            found = find_causes(arbitre.Comparator(planted.corpus.schema).plan, given).causes
            if planted.plantings[0].kind in {cause.kind for cause in found}:
                break
    else:
        pytest.fail(f"no corpus in which {kind} is found")
    for cause in found:
        assert FR.text(cause.advice) != cause.advice
        assert left_in_english(FR.text(cause.advice)) == []


def test_lists_plurals_and_sentences_are_translated_part_by_part():
    assert FR.text("1 disagreement, 2 flagged") == "1 désaccord, dont 2 incertains"
    advice = 'List the allowed values in the prompt; predictions have "this and that" for "x", "a" and 2 more.'
    assert FR.text(advice).endswith('les prédictions ont "this and that" pour "x", "a" et 2 de plus.')
    dates = FR.text('Ask for dates as DD/MM/YYYY; predictions have words, such as "3 May 1931".')
    said = "celles des prédictions sont en toutes lettres, comme «\u00a03 May 1931\u00a0»."
    assert dates == f"Demander des dates au format JJ/MM/AAAA\u202f; {said}"
    assert FR.text("Report both values. Report alpha or pi.") == "Indiquer les deux valeurs. Indiquer alpha ou pi."
    assert FR.text("Gold: majority of 2 annotators (a, b), alpha_d 0.5 on 9 documents") == (
        "Référence\u00a0: majorité de 2 annotateurs (a, b), alpha_d = 0,5 sur 9 documents"
    )


COMPOSED = {
    *("note.gold.undefined", "note.gold.undefined.one", "table.solidarity.unknown", "table.text.rouge"),
    *("table.text.perplexity.infinite", "table.todo.hallucination.model"),
}
"""Texts that the source composes of single words."""
BETWEEN = re.compile(
    r"{\w+(?:!\w)?}|\d+|[.,:;()\"]|\(s\)|\b(?:documents?|clusters?|predictions?|predicted|gold|values?|items?|training|an?|"
    r"the|all|one|of|in|at|by|as|or|if|is|are|were|has|have|do|differ|it|them|not|only|under|for)\b"
)
"""What is between the parts of a text that are constants of the source."""


def test_the_english_of_every_recognised_text_is_in_the_source():
    """A text that changes without its catalogue entry would no longer be translated."""
    constants = {
        re.sub(r"\s+", " ", node.value)
        for file in Path(arbitre.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    source, unknown = "\0".join(constants), []
    for name, texts in catalogue().items():
        if name.startswith(("note.", "table.")) and name not in COMPOSED:
            parts = [part.strip() for part in BETWEEN.split(texts["en"])]
            unknown += [(name, part) for part in parts if part.count(" ") and part not in source]
    assert unknown == []
