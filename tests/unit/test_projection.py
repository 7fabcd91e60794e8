"""Expressions that select what is compared: their errors, and their place in the signature."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arbitre import Comparator, bundled
from arbitre.cli import app
from arbitre.errors import DataError
from arbitre.inputs.corpus_sources import read_pairs
from arbitre.inputs.join import join, paired
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.projection import Projection
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure
from arbitre.report.build_view import agreed_view, build_subject

SENAT = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"
PEOPLE = {"predicted": "{names: people[].name}"}
FLAT = (
    "{listes_des_intervenants: listes_des_intervenants[].{"
    "nom: prenom && join('', [nom_de_famille, ' (', prenom, ')']) || nom_de_famille,"
    "references_pages: actions_relatives_a_l_intervenant[].references_pages[]}}"
)


def write(path, *lines):
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_lenient_reading_reaches_the_text_that_an_expression_returns(tmp_path):
    answer = {"id": "a", "provider": "x", "response_text": '```json\n{"names": ["Ada"]}\n```'}
    path = write(tmp_path / "a.jsonl", answer, answer | {"id": "b", "response_text": "Sorry."})
    projection = Projection.from_expressions({"predicted": "response_text"})
    first, second = Reader.of("predicted", ReadOptions(lenient=True, project=projection)).records(path)
    assert (first.value, first.repair, first.place) == ({"names": ["Ada"]}, "code fence", None)
    assert (second.id, second.line, type(second)) == ("b", 2, Failure)
    (strict, _) = Reader.of("predicted", ReadOptions(project=projection)).records(path)
    assert strict.value == answer["response_text"]


def test_texts_are_kept_where_the_schema_allows_them(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "a", "year": "1931"})
    projection = Projection.from_expressions({"predicted": "year"})
    plan = Comparator({"type": ["string", "object"]}).plan
    (record,) = Reader.of("predicted", ReadOptions(lenient=True, project=projection).for_plan(plan)).records(path)
    assert (record.value, record.repair) == ("1931", None)


def test_each_side_is_projected_by_its_own_expression(tmp_path):
    gold = write(tmp_path / "gold.jsonl", {"id": "a", "truth": {"names": ["Ada"]}})
    predicted = write(tmp_path / "predicted.jsonl", {"id": "a", "people": [{"name": "Ada"}, {"name": "Bo"}]})
    reading = ReadOptions(project=Projection.from_expressions({"gold": "truth", **PEOPLE}))
    (pair,) = join(Reader.of("gold", reading).records(gold), Reader.of("predicted", reading).records(predicted))
    assert (pair.gold, pair.predicted) == ({"names": ["Ada"]}, {"names": ["Ada", "Bo"]})
    assert pair.origins == ((str(gold), 1), (str(predicted), 1))
    plan = Comparator({"type": "object"}, close=0.9).plan
    assert dict(reading.signed(plan).signature.entries) == {
        **dict(plan.signature.entries),
        "project.gold": "truth",
        "project.predicted": "{names: people[].name}",
    }
    assert "close" in dict(plan.signature.entries)


def test_a_side_without_expression_is_not_changed(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "a", "people": []})
    reading = ReadOptions(project=Projection.from_expressions(PEOPLE))
    assert [one.value for one in Reader.of("gold", reading).records(path)] == [{"people": []}]
    assert [one.value for one in Reader.of("predicted", reading).records(path)] == [{"names": []}]


def test_an_error_names_the_record_and_the_expression(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "a", "x": 5}, {"id": "b", "x": ["p", "q"]}, {"id": "c", "run": "r"})
    reading = ReadOptions(project=Projection.from_expressions({"predicted": "join('-', x)"}))
    first, good, third = Reader.of("predicted", reading).records(path)
    assert good.value == "p-q"
    assert (first.id, first.file, first.line) == ("a", str(path), 1)
    assert first.reason.startswith("""The predicted expression "join('-', x)" failed: """)
    assert (third.id, third.run, third.line, type(third)) == ("c", "r", 3, Failure)


def test_an_expression_without_result_is_a_failure(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "a", "x": 1})
    (failure,) = Reader.of("gold", ReadOptions(project=Projection.from_expressions({"gold": "y.z"}))).records(path)
    assert failure.reason == "Expected the gold expression 'y.z' to return a value, got null"


def test_rows_with_both_sides_are_projected(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "a", "gold": [1], "predicted": {"x": [1]}})
    (pair,) = paired(read_pairs(path, ReadOptions(project=Projection.from_expressions({"predicted": "x"}))))
    assert (pair.gold, pair.predicted) == ([1], [1])


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        ([], "", "Expected an object of expressions"),
        ({}, "", "Expected an expression for gold or predicted, got none"),
        ({"predicted": "a["}, "/predicted", "Expected a JMESPath expression, got 'a['"),
        ({"predicted": ""}, "/predicted", "Expected a JMESPath expression, got ''"),
        ({"gold": 5}, "/gold", "Expected an expression to be a string"),
        ({"predictd": "a"}, "/predictd", "Expected gold or predicted, got 'predictd'"),
    ],
)
def test_a_file_that_is_not_a_projection_is_refused(tmp_path, value, pointer, words):
    path = write(tmp_path / "p.json", value)
    with pytest.raises(DataError) as caught:
        Projection.load(path)
    assert (caught.value.file, caught.value.pointer) == (str(path), pointer)
    assert words in caught.value.message
    assert caught.value.hint


def test_every_problem_is_listed():
    with pytest.raises(DataError) as caught:
        Projection.from_expressions({"gold": "a[", "predicted": 1, "more": "a"})
    assert [one.pointer for one in caught.value.problems] == ["/gold", "/predicted", "/more"]


def test_a_projection_without_jmespath_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jmespath", None)
    with pytest.raises(DataError) as caught:
        Projection.from_expressions({"gold": "a"})
    assert caught.value.hint == "Install it: pip install 'arbitre[corpus]'"


@pytest.mark.skipif(not SENAT.is_dir(), reason="the shared data are not here")
def test_a_projection_flattens_nested_predictions_to_match_flat_gold(tmp_path):
    schema = str(bundled.schemas() / "examples" / "senat-published.schema.json")
    project = write(tmp_path / "project.json", {"predicted": FLAT})
    sides = ("--gold", str(SENAT / "gold" / "page_02.json"), "--schema", schema, "--format", "json")

    def evaluated(*options):
        result = CliRunner().invoke(app, ["evaluate", *sides, *map(str, options)])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    nested = SENAT / "nested" / "predicted_01_vt.json"
    built = evaluated("--predicted", nested, "--project", project)
    assert evaluated("--predicted", nested)["micro"]["f1q"] < 0.5
    assert built["micro"]["f1q"] > 0.8
    assert built["signature"]["entries"]["project.predicted"] == FLAT
    flat = evaluated("--predicted", SENAT / "predicted" / "page_02_01_vt.json")
    assert flat["signature"]["short"] != built["signature"]["short"]


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": ["object", "string"]}, {"type": "string"}])
def test_an_expression_is_applied_to_what_lenient_reading_yields(schema):
    gold = "Ada" if schema["type"] == "string" else {"name": "Ada"}
    predicted = {"a": f"Sure: {json.dumps({'answer': gold})}", "b": json.dumps({"answer": gold})}
    found = Comparator(schema).evaluate(
        gold={"a": gold, "b": gold}, predicted=predicted, lenient=True, project={"predicted": "answer"}
    )
    assert [scores.irq for scores in found.by_document.values()] == [1.0, 1.0]
    assert not found.failures


def test_a_report_has_no_places_in_projected_gold(tmp_path):
    gold = write(tmp_path / "gold.jsonl", *({"id": f"d{at}", "truth": {"name": f"Name {at}"}} for at in range(6)))
    predicted = write(tmp_path / "predicted.jsonl", *({"id": f"d{at}", "name": "X"} for at in range(6)))
    for project, place in (({"gold": "truth"}, None), ({"gold": "truth | @", "predicted": "@"}, None), ({}, "/name")):
        comparator = Comparator({"type": "object", "properties": {"name": {"type": "string"}}})
        key = {} if project else {"gold_key": "truth"}
        out = tmp_path / str(len(project))
        comparator.evaluate(gold=gold, predicted=predicted, project=project or None, out=out, **key)
        evaluation, alignments = (
            json.loads((out / name).read_text(encoding="utf-8")) for name in ("evaluation.json", "alignments.json")
        )
        (cause,) = build_subject(evaluation, alignments).causes["rows"]
        assert {one["place"] for one in cause["examples"]} == {place}
        agreed = {
            "count": 1,
            "documents": 1,
            "systems": ["a"],
            "examples": evaluation["causes"]["causes"][0]["examples"],
        }
        assert {one["place"] for one in agreed_view(agreed, evaluation, alignments)["examples"]} == {place}
