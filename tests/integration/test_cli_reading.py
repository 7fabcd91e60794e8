"""The options of `arbitre evaluate` for locating and reading documents."""

import csv
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app

NAMES = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
FILES = {
    "schema.json": json.dumps(NAMES),
    "gold/a.jsonl": '{"id": "a", "names": ["Ada"]}\n',
    "gold/b.jsonl": '{"id": "b", "names": ["Bo"]}\n',
    "one.jsonl": '{"id": "a", "names": ["Ada"]}\n',
    "two.jsonl": '{"id": "b", "names": ["Bo"]\n',
    "doc.json": '{"names": ["Bo"]}',
    "raw.txt": 'Here:\n```\n{"names": ["Bo"]}\n```',
    "project.json": json.dumps({"predicted": "{names: reverse(names)}"}),
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def run(*options, code=0, **others):
    result = CliRunner().invoke(app, ["evaluate", "--schema", "schema.json", *options], **others)
    assert result.exit_code == code, result.output
    return result


def evaluated(*options, **others):
    data = json.loads(run(*options, "--format", "json", **others).stdout)
    Draft202012Validator(bundled.schema("evaluation.schema.json")).validate(data)
    return data


SEVERAL = ("--gold", "gold/*.jsonl", "--predicted", "one.jsonl", "--predicted", "two.jsonl")


def test_several_sources_and_globs_are_joined():
    data = evaluated(*SEVERAL)
    assert (data["documents"], data["failed"], data["micro"]["irq"]) == (2, 1, 0.5)
    assert [(one["id"], one["file"], one["line"]) for one in data["failures"]] == [("b", "two.jsonl", 1)]
    assert "repaired" not in data


def test_lenient_lists_its_repairs():
    data = evaluated(*SEVERAL, "--lenient")
    assert (data["failed"], data["micro"]["irq"]) == (0, 1.0)
    expected = {"id": "b", "run": None, "file": "two.jsonl", "line": 1, "how": "truncated"}
    assert data["repaired"] == [expected]
    assert data["signature"]["entries"]["lenient"].startswith("json-repair ")
    result = run(*SEVERAL, "--lenient", "--out", "out")
    assert "Invalid JSON, repaired (1): b (truncated)" in result.stderr
    assert "repaired.csv" in result.stderr
    rows = list(csv.DictReader(io.StringIO(Path("out/repaired.csv").read_text())))
    assert rows == [{**expected, "run": "", "line": "1"}]
    run(*SEVERAL, "--out", "out")
    assert not Path("out/repaired.csv").exists()


def test_lenient_reports_no_repairs_of_valid_json():
    assert evaluated("--gold", "gold/*", "--predicted", "one.jsonl", "--lenient")["repaired"] == []


def test_a_manifest_names_the_pairs():
    Path("manifest.csv").write_text("id,gold,predicted,ocr\na,doc.json,raw.txt,vt\nb,doc.json,doc.json,raw\n")
    assert evaluated("--manifest", "manifest.csv")["failed"] == 1
    data = evaluated("--manifest", "manifest.csv", "--lenient")
    assert (data["documents"], data["failed"], data["micro"]["irq"]) == (2, 0, 1.0)
    assert evaluated("--manifest", "manifest.csv", "--only", "b")["documents"] == 1
    assert "Expected --only to name documents" in run("--manifest", "manifest.csv", "--only", "z", code=2).stderr


def test_a_projection_is_part_of_the_signature():
    data = evaluated("--gold", "gold/a.jsonl", "--predicted", "one.jsonl", "--project", "project.json")
    assert data["micro"]["irq"] == 1.0
    assert data["signature"]["entries"]["project.predicted"] == "{names: reverse(names)}"
    said = run("--gold", "gold/a.jsonl", "--predicted", "one.jsonl", "--project", "schema.json", code=2).stderr
    assert "schema.json: Expected gold or predicted, got 'type' at /type" in said


def envelope(names):
    return {"provider": "x", "response_text": f"Here:\n```json\n{json.dumps({'names': names})}\n```"}


def sources():
    """The options for the same two answers in envelopes: a folder, records of both sides, a table, a manifest."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    Path("answers").mkdir()
    rows, golds = [], {"a": ["Ada"], "b": ["Bo"]}
    for name, names in golds.items():
        Path(f"gold/{name}.json").write_text(json.dumps({"names": names}))
        Path(f"answers/{name}.json").write_text(json.dumps(envelope(names)))
        rows.append({"id": name, "gold": {"names": names}, "answer": envelope(names)})
    Path("pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("plain.jsonl").write_text(
        "\n".join(json.dumps(row | {"answer": row["answer"]["response_text"]}) for row in rows)
    )
    pa.parquet.write_table(pa.Table.from_pylist(rows), "pairs.parquet")
    Path("manifest.csv").write_text("id,gold,predicted\na,gold/a.json,answers/a.json\nb,gold/b.json,answers/b.json\n")
    Path("project.json").write_text('{"predicted": "response_text"}')
    project, key = ("--project", "project.json"), ("--predicted-key", "answer")
    return [
        ("--gold", "gold", "--predicted", "answers", *project),
        ("--pairs", "pairs.jsonl", *key, *project),
        ("--pairs", "plain.jsonl", *key),
        ("--pairs", "pairs.parquet", *key, *project),
        ("--manifest", "manifest.csv", *project),
    ]


def test_answers_as_text_in_envelopes_are_read_in_one_command():
    for options in sources():
        data = evaluated(*options, "--lenient")
        assert (data["documents"], data["failed"], data["micro"]["f1q"]) == (2, 0, 1.0), options
        assert [(one["id"], one["how"]) for one in data["repaired"]] == [("a", "code fence"), ("b", "code fence")]
        strict = evaluated(*options)
        assert (strict["failed"], strict["micro"]["f1q"]) == (2, 0.0), options
        assert {"use --lenient" in one["reason"] for one in strict["failures"]} == {True}


def test_the_schema_can_be_at_a_pointer_in_a_file():
    Path("format.json").write_text(json.dumps({"type": "json_schema", "json_schema": {"name": "n", "schema": NAMES}}))
    options = ("--gold", "gold/*.jsonl", "--predicted", "one.jsonl", "--workers", "2")
    schema = ("--schema", "format.json#/json_schema/schema")
    result = CliRunner().invoke(app, ["evaluate", *schema, *options, "--format", "json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["micro"] == evaluated(*options)["micro"]
    refused = CliRunner().invoke(app, ["schema", "check", "format.json"])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "contains one at /json_schema/schema" in refused.stderr
    assert 'Pass "format.json#/json_schema/schema".' in refused.stderr


def test_a_schema_is_inferred_from_the_documents_of_a_folder():
    Path("mixed").mkdir()
    files = {"a.json": '{"names": ["Ada"]}', "b.json": '{"names": [', "c.txt": "c", "d.jsonl": "{}", ".hidden": ""}
    files["schema.json"] = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema"} | NAMES)
    for name, text in files.items():
        Path("mixed", name).write_text(text)
    result = CliRunner().invoke(app, ["schema", "infer", "mixed"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["properties"].keys() == {"names"}
    title, *skipped = result.stderr.splitlines()
    assert title == "Skipped 4 files:"
    assert [line.replace("\\", "/").partition(": ")[0] for line in skipped] == [
        "mixed/c.txt",
        "mixed/d.jsonl",
        "mixed/b.json:1",
        "mixed/schema.json",
    ]
    Path("mixed/a.json").unlink()
    result = CliRunner().invoke(app, ["schema", "infer", "mixed"])
    assert result.exit_code == 2
    assert "Expected at least one gold document to infer a schema from, got none" in result.stderr


def test_pairs_are_read_under_other_keys_and_from_standard_input():
    line = {"id": "a", "truth": {"names": ["Ada"]}, "answer": {"names": ["Ada"]}}
    options = ("--pairs", "-", "--gold-key", "truth", "--predicted-key", "answer")
    assert evaluated(*options, input=json.dumps(line) + "\n")["micro"]["irq"] == 1.0
    assert evaluated(*options, input=json.dumps([line, line | {"id": "b"}]))["micro"]["irq"] == 1.0
    Path("p.jsonl.gz").write_bytes(gzip.compress(json.dumps(line).encode()))
    assert evaluated("--pairs", "p.jsonl.gz", *options[2:])["micro"]["irq"] == 1.0


@pytest.mark.parametrize(
    "options",
    [
        ("--manifest", "m.csv", "--pairs", "p.jsonl"),
        ("--manifest", "m.csv", "--gold", "gold"),
        ("--gold", "gold", "--predicted", "one.jsonl", "--pairs", "p.jsonl"),
        ("--gold", "-", "--predicted", "one.jsonl", "--predicted", "-"),
        ("--pairs", "-", "--pairs", "-"),
    ],
)
def test_conflicting_sources_are_refused(options):
    assert "Expected " in run(*options, code=2).stderr


def test_repairs_that_move_keys_and_refusals_are_failures_that_quote_the_answer():
    moved = '{"names": ["Ada", "Bo" (Miller)], "topic": "x"}'
    answers = {"a": moved, "b": "I cannot read this page.", "c": '{"names": ["Ada"]}', "d": '{"names": ["Ada",]}'}
    lines = [{"id": name, "gold": {"names": ["Ada"]}, "predicted": answer} for name, answer in answers.items()]
    Path("pairs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    data = evaluated("--pairs", "pairs.jsonl", "--lenient")
    assert [(one["id"], one["reason"].partition("; ")[2]) for one in data["failures"]] == [
        ("a", f"the answer starts with: {moved}"),
        ("b", "the answer starts with: I cannot read this page."),
    ]
    assert "got no JSON" in data["failures"][1]["reason"]
    structural = run("--pairs", "pairs.jsonl", "--lenient", "--repair-structure", "--out", "out")
    assert "Invalid JSON, repaired (2): a (structural), d (trailing comma)" in structural.stderr
    assert "JSON in a text, read (1): c\n" in structural.stderr
    noted = json.loads(Path("out/alignments.json").read_text())["noted"]
    assert (noted["repaired"], noted["in_text"]) == (2, 1)
    refused = run("--pairs", "pairs.jsonl", "--repair-structure", code=2)
    assert "--repair-structure requires --lenient" in refused.stderr


def wrapped(key, name):
    return {"id": name, key: json.loads(FILES[f"gold/{name}.jsonl"]) | {"id": 1}}


def write_wrapped(key, stem=None):
    """Write records that contain the document under a key, in every format, and return the sources."""
    stem = stem or key
    records = [wrapped(key, name) for name in "ab"]
    Path(f"{stem}.jsonl").write_text("\n".join(map(json.dumps, records)))
    Path(f"{stem}.json").write_text(json.dumps(records))
    Path(f"{stem}-folder").mkdir()
    for record in records:
        Path(f"{stem}-folder", f"{record['id']}.json").write_text(json.dumps(record))
    with Path(f"{stem}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", key], *([one["id"], json.dumps(one[key])] for one in records)])
    pq.write_table(pa.Table.from_pylist(records), f"{stem}.parquet")
    names = (f"{stem}.jsonl", f"{stem}.json", f"{stem}-folder", f"{stem}-folder/*.json", f"{stem}.csv")
    return (*names, f"{stem}.parquet")


def test_records_that_contain_the_document_are_unwrapped_in_every_format():
    predicted = write_wrapped("predicted")
    for gold, prediction in zip(write_wrapped("gold"), predicted, strict=True):
        data = evaluated("--gold", gold, "--predicted", prediction)
        assert (data["documents"], data["failed"], data["micro"]["f1q"]) == (2, 0, 1.0), gold
        assert data["by_path"].keys() == {"/id", "/names/*"}, gold
    for answer in write_wrapped("answer"):
        data = evaluated("--gold", "gold.jsonl", "--predicted", answer, "--predicted-key", "answer")
        assert (data["failed"], data["micro"]["f1q"]) == (0, 1.0), answer
    data = evaluated("--gold", "gold.jsonl", "--predicted", "answer.jsonl", "--predicted-key", "answr")
    assert {one["reason"] for one in data["failures"]} == {
        "Expected a record with the key 'answr', got the keys 'answer'"
    }


def test_a_key_that_the_schema_declares_contains_a_value_of_the_document():
    Path("schema.json").write_text(json.dumps({"type": "object", "properties": {"gold": {"type": "object"}}}))
    write_wrapped("gold")
    data = evaluated("--gold", "gold.jsonl", "--predicted", "gold.jsonl")
    assert data["by_path"].keys() == {"/gold/id", "/gold/names/*"}


def test_a_glob_of_json_files_reads_the_documents_of_the_folder():
    Path("plain").mkdir()
    Path("plain/a.json").write_text('{"id": 7, "names": ["Ada"]}')
    Path("plain/b.json").write_text('[{"names": ["Bo"]}]')
    Path("plain/a.provenance.json").write_text("{}")
    data = [evaluated("--gold", "gold/*.jsonl", "--predicted", name) for name in ("plain", "plain/*.json")]
    assert data[0] == data[1]
    assert data[0]["documents"] == 2


def test_documents_of_another_shape_are_reported_first():
    answers = [{"id": name, "meta": 1, "result": {"names": ["Ada"]}} for name in "ab"]
    Path("envelopes.jsonl").write_text("\n".join(map(json.dumps, answers)))
    sources = ("--gold", "gold/*.jsonl", "--predicted", "envelopes.jsonl")
    said = " ".join(run(*sources).stderr.splitlines()[:2])
    assert "No prediction has a key that the schema declares ('names'). Keys found: 'meta', 'result'" in said
    assert "No prediction has" in run(*sources, "--strict", code=2).stderr
    assert "No gold document has" in run("--gold", "envelopes.jsonl", "--predicted", "gold/*.jsonl").stderr
    assert "No prediction" not in run(*sources, "--predicted-key", "result").stderr
    Path("other.jsonl").write_text('{"id": "a", "names": [5]}\n{"id": "b", "names": [5]}\n')
    sources = ("--gold", "gold/*.jsonl", "--predicted", "other.jsonl")
    assert "No prediction matches any part of its gold document" in run(*sources).stderr
    assert "No prediction matches any part of its gold document" in run(*sources, "--strict", code=2).stderr


OBJECT = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
OTHER = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "found"),
    [
        (OBJECT, {"name": "Ada"}, {"result": {"name": "Ada"}}, "'result'"),
        ({"anyOf": [OBJECT, OTHER]}, {"title": "Ada"}, {"result": {"title": "Ada"}}, "'result'"),
        (
            {"type": "object", "additionalProperties": OBJECT},
            {"page": {"name": "Ada"}},
            {"page": {"result": {"name": "Ada"}}},
            "'result'",
        ),
        ({"type": "object", "additionalProperties": OBJECT}, {"page": {"name": "Ada"}}, {"name": "Ada"}, "'name'"),
        ({"type": "object", "patternProperties": {"^p": OBJECT}}, {"p": {"name": "Ada"}}, {"p": {"x": 1}}, "'x'"),
    ],
    ids=["object", "union", "map", "no map", "patterns"],
)
def test_a_wrapper_is_reported_for_every_kind_of_schema_and_for_triples(schema, gold, predicted, found):
    triples = [("a", gold, predicted), ("b", gold, arbitre.ABSENT)]
    for pairs in (triples, iter(triples), [("a", gold, predicted)]):
        (note, *_) = arbitre.evaluate(schema, pairs).notes
        assert note.startswith("No prediction has a key that the schema declares (")
        assert f"Keys found: {found}." in note
    with pytest.raises(arbitre.DataError, match="No prediction has a key"):
        arbitre.evaluate(schema, iter(triples[:1]), strict=True)
    with pytest.raises(arbitre.DataError, match="No prediction has a key"):
        arbitre.evaluate(schema, gold={"a": gold}, predicted={"a": predicted}, strict=True)
    right = ("c", gold, gold)
    for pairs in ([*triples, right], iter([*triples, right])):
        assert not any("has a key" in note for note in arbitre.evaluate(schema, pairs).notes)


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [OBJECT, {"type": "object"}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {**OBJECT, "additionalProperties": OTHER},
        {"anyOf": [OBJECT, {"type": "array", "items": {"type": "string"}}]},
    ],
    ids=["any object", "map of texts", "fields and others", "or a list"],
)
def test_documents_without_declared_keys_that_the_schema_allows_are_not_reported(schema):
    other = ["x"] if "array" in str(schema) else {"k": "x"}
    assert not any("has a key" in note for note in arbitre.evaluate(schema, [("a", other, other)]).notes)


def test_rank_names_the_systems_whose_documents_have_another_shape():
    answers = [{"id": name, "meta": 1, "result": {"names": ["Ada"]}} for name in "ab"]
    Path("envelopes.jsonl").write_text("\n".join(map(json.dumps, answers)))
    arguments = ["rank", "--schema", "schema.json", "--gold", "gold/*.jsonl", "right=gold/*.jsonl", "a=envelopes.jsonl"]
    said = CliRunner().invoke(app, arguments)
    text = " ".join(said.output.split())
    assert "a: No prediction has a key that the schema declares ('names'). Keys found: 'meta', 'result'" in text
    assert "right: No" not in text
    strict = CliRunner().invoke(app, [*arguments, "--strict"])
    assert strict.exit_code == 2
    assert "envelopes.jsonl: No prediction has a key that the schema declares" in " ".join(strict.stderr.split())
    with pytest.raises(arbitre.DataError, match="No prediction has a key"):
        arbitre.rank({"a": "envelopes.jsonl"}, schema="schema.json", gold="gold/*.jsonl", strict=True)


def test_documents_that_are_not_scored_are_counted_by_reason_in_the_first_lines(tmp_path):
    gold = [{"id": "a", "names": []}, {"id": "a", "names": ["x"]}, {"id": "b", "names": []}]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in gold))
    predicted = [{"id": "a", "names": []}, {"id": "b", "names": []}, {"id": "d", "names": []}]
    (tmp_path / "predicted.jsonl").write_text("".join(json.dumps(line) + "\n" for line in predicted))
    shown = run("--gold", "gold.jsonl", "--predicted", "predicted.jsonl").stdout
    head = shown.partition("\nscore")[0]
    assert "2 documents, 0 failed" in head
    assert "not scored: 1 duplicate gold document; 1 prediction without gold" in head
    assert "duplicate id: ignored, the first gold document with this id is compared" in " ".join(shown.split())
    lines = (tmp_path / "predicted.jsonl").read_text()
    (tmp_path / "broken.jsonl").write_text(f'{lines}{{bad\n[1,\n{{"id": "e", "names": \n')
    (tmp_path / "cut.jsonl").write_text('{"id": "a", "names": []}\n{"id": "b", "names": \n{bad\n')
    reasons = "2 unusable predictions; 2 predictions without gold"
    for name, expected in (("broken", reasons), ("cut", "1 unusable prediction")):
        found = run("--gold", "gold.jsonl", "--predicted", f"{name}.jsonl").stdout
        assert f"not scored: 1 duplicate gold document; {expected}\n" in found
    systems = ["a=broken.jsonl", "b=predicted.jsonl"]
    ranked = CliRunner().invoke(app, ["rank", "--schema", "schema.json", "--gold", "gold.jsonl", *systems])
    assert f"a, not scored: 1 duplicate gold document; {reasons}" in " ".join(ranked.stderr.split())
    french = run("--gold", "gold.jsonl", "--predicted", "broken.jsonl", "--lang", "fr").stdout
    expected = "1 document de référence en double ; 2 prédictions inutilisables ; 2 prédictions sans référence"
    assert f"documents non notés : {expected}\n" in french
