"""The faults of a corpus: their table, their place in the results, and the option of the command line."""

import csv
import json
import math
import random
from collections import Counter

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.diagnosis.taxonomy import FAULTS
from arbitre.inputs.join import UNIT_SIZE
from arbitre.jobs.result_files import COLUMNS

PEOPLE = {
    "type": "object",
    "properties": {
        "year": {"type": "integer"},
        "people": {
            "type": "array",
            "x-arbitre": {"entries": True},
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
            },
        },
    },
}
MERGED = '{"name":"Barthou","pages":[2,394,811,1020,1100,1200,1237]}'
BARTHOU = [394, 811, 1020, 1100, 1200, 1237]
GOLD = {
    "year": 1931,
    "people": [
        {"name": "Barthe", "pages": [2]},
        {"name": "Barthou", "pages": BARTHOU},
        {"name": "Caillaux", "pages": [5, 6]},
        {"name": "Doumer", "pages": [31]},
    ],
}
PREDICTED = {
    "year": 1930,
    "people": [{"name": "Barthou", "pages": [2, *BARTHOU]}, {"name": "Cailaux", "pages": [5, "6", 7]}],
}
SCHEMA = bundled.schemas() / "examples" / "speakers.schema.json"
DEMO = ["--gold", str(bundled.demo() / "gold.jsonl"), "--predicted", str(bundled.demo() / "hasty.jsonl")]
MANY = 2 * UNIT_SIZE + 40


@pytest.fixture(scope="module")
def comparator():
    return arbitre.Comparator(PEOPLE)


def run(*arguments):
    result = CliRunner().invoke(app, ["evaluate", "--schema", str(SCHEMA), *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def test_each_fault_has_one_row_with_pointers_values_and_cost(comparator):
    table = comparator.evaluate([("d", GOLD, PREDICTED)], diagnose=True).faults()
    assert tuple(table) == COLUMNS
    rows = list(zip(*(table[name] for name in COLUMNS[2:9]), strict=True))
    assert rows == [
        ("/people/0", "/people/0", "/people/0", "/people/*", "merged", '{"name":"Barthe","pages":[2]}', MERGED),
        ("/people/2", "/people/2/name", "/people/1/name", "/people/*/name", "close", "Caillaux", "Cailaux"),
        ("/people/2", "/people/2/pages/1", "/people/1/pages/1", "/people/*/pages/*", "wrong type", "6", "6"),
        ("/people/3", "/people/3", None, "/people/*", "missing", '{"name":"Doumer","pages":[31]}', None),
        (None, "/year", "/year", "/year", "wrong", "1931", "1930"),
        ("/people/2", None, "/people/1/pages/2", "/people/*/pages/*", "spurious", None, "7"),
    ]
    costs = dict(zip(zip(table["path"], table["fault"], strict=True), table["cost"].tolist(), strict=True))
    assert costs["/year", "wrong"] == 0.0  # outside the entries
    assert costs["/people/*", "missing"] == pytest.approx(1 / 6)


def test_the_costs_of_a_document_add_up_to_its_lost_f1q(comparator):
    evaluation = comparator.evaluate([("d", GOLD, PREDICTED), ("e", GOLD, GOLD)], diagnose=True)
    table = evaluation.faults()
    lost = 1.0 - evaluation.by_document["d"].f1q
    assert set(table["id"]) == {"d"}
    assert math.fsum(table["cost"].tolist()) == pytest.approx(lost)


def test_the_costs_of_a_corpus_add_up_to_its_lost_f1q(comparator):
    pairs = [("d", GOLD, PREDICTED), ("e", GOLD, GOLD), ("f", GOLD, arbitre.ABSENT), ("g", {"people": []}, PREDICTED)]
    evaluation = comparator.evaluate(pairs, diagnose=True)
    groups = evaluation.diagnosis.faults
    assert math.fsum(group.cost for group in groups) == pytest.approx(1.0 - evaluation.micro.f1q)
    assert math.fsum(group.share for group in groups) == pytest.approx(1.0)
    table = evaluation.faults()
    assert Counter(zip(table["path"], table["fault"], strict=True)) == {
        (group.path, group.fault): group.count for group in groups
    }


def test_the_diagnosis_of_one_document_is_that_of_its_comparison(comparator):
    corpus = comparator.evaluate([("d", GOLD, PREDICTED)], diagnose=True).diagnosis
    single = comparator.compare(gold=GOLD, predicted=PREDICTED).diagnosis
    assert corpus.repair_gain == pytest.approx(single.repair_gain)
    assert corpus.repair_gain_by_path == pytest.approx(single.repair_gain_by_path)
    assert corpus.verdicts == single.verdicts
    assert corpus.repair_gain.keys() == set(FAULTS)


def test_a_corpus_gains_what_the_repaired_tallies_score(comparator):
    pairs = [("d", GOLD, PREDICTED), ("e", GOLD, {"year": 1931, "people": [*GOLD["people"], {"name": "X"}]})]
    evaluation = comparator.evaluate(pairs, diagnose=True)
    without = [{"name": "Cailaux", "pages": [5, "6"]}]
    repaired = comparator.evaluate(
        [("d", GOLD, PREDICTED | {"people": [PREDICTED["people"][0], *without]}), ("e", GOLD, GOLD)]
    )
    assert evaluation.diagnosis.repair_gain["spurious"] == pytest.approx(repaired.micro.f1q - evaluation.micro.f1q)


def test_undamaged_documents_have_no_faults(comparator):
    shuffled = {"year": 1931, "people": GOLD["people"][::-1]}
    evaluation = comparator.evaluate([("d", GOLD, GOLD), ("e", GOLD, shuffled)], diagnose=True)
    assert evaluation.diagnosis.faults == ()
    assert not any(evaluation.diagnosis.repair_gain.values())
    assert len(evaluation.faults()["id"]) == 0


def test_without_the_option_nothing_is_diagnosed_until_the_table_is_requested(comparator, tmp_path):
    evaluation = comparator.evaluate([("d", GOLD, PREDICTED)], out=tmp_path)
    assert evaluation.diagnosis is None
    assert "diagnosis" not in json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert not (tmp_path / "faults.csv").exists()
    diagnosed = comparator.evaluate([("d", GOLD, PREDICTED)], diagnose=True)
    assert list(evaluation.faults()["fault"]) == list(diagnosed.faults()["fault"])


def test_an_evaluation_that_cannot_be_repeated_has_no_table_of_faults(comparator, tmp_path):
    comparator.evaluate([("d", GOLD, PREDICTED)], out=tmp_path)
    with pytest.raises(arbitre.DataError, match="no longer available"):
        arbitre.load(tmp_path).faults()


def test_saved_results_keep_the_faults(comparator, tmp_path):
    evaluation = comparator.evaluate([("d", GOLD, PREDICTED)], diagnose=True)
    assert "faults.csv" in evaluation.save(tmp_path)
    loaded = arbitre.load(tmp_path)
    assert loaded.diagnosis == evaluation.diagnosis
    numbers = {"cost": None, "in_source": None}
    assert dict(loaded.faults()) | numbers == dict(evaluation.faults()) | numbers
    plain = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    Draft202012Validator(bundled.schema("evaluation.schema.json")).validate(plain)


def test_faults_are_a_data_frame(comparator):
    evaluation = comparator.evaluate([("d", GOLD, PREDICTED)], diagnose=True)
    frame = evaluation.to_pandas("faults")
    assert frame.groupby("fault")["cost"].sum()["missing"] == pytest.approx(1 / 6)


def documents(size):
    rng = random.Random(11)  # noqa: S311
    for number in range(size):
        gold = [{"name": "".join(rng.choices("abcdef", k=6)), "pages": rng.sample(range(99), 3)} for _ in range(3)]
        predicted = [dict(person, name=person["name"][rng.randrange(2) :]) for person in gold[rng.randrange(2) :]]
        yield f"d{number:04}", {"people": gold}, {"people": predicted}


def test_workers_batches_and_interruptions_do_not_change_the_table_of_faults(comparator, tmp_path):
    sources = {}
    for side, at in (("gold", 1), ("predicted", 2)):
        sources[side] = tmp_path / f"{side}.jsonl"
        records = (json.dumps({"id": row[0], **row[at]}) + "\n" for row in documents(MANY))
        sources[side].write_text("".join(records), encoding="utf-8")
    options = dict(sources, diagnose=True, no_report=True, no_chance=True)
    written = {}
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        comparator.evaluate(**options, out=out, workers=workers, keep_checkpoints=True)
        written[workers] = {name: (out / name).read_bytes() for name in ("faults.csv", "evaluation.json")}
    assert written[1] == written[2]
    assert written[1]["faults.csv"].count(b"\n") > MANY
    out = tmp_path / "out1"
    (out / "documents" / f"{UNIT_SIZE:09}.jsonl").unlink()
    (out / "faults.csv").unlink()
    comparator.evaluate(**options, out=out, resume=True)
    assert {name: (out / name).read_bytes() for name in written[1]} == written[1]
    alone = comparator.evaluate(list(documents(UNIT_SIZE // 8)), diagnose=True, out=tmp_path / "alone")
    lines = (tmp_path / "alone" / "faults.csv").read_text(encoding="utf-8").splitlines()
    assert written[1]["faults.csv"].decode().splitlines()[: len(lines)] == lines
    assert len(alone.document_table) == UNIT_SIZE // 8


def test_the_command_writes_and_shows_the_faults(tmp_path):
    text = run(*DEMO, "--diagnose", "--out", tmp_path, "--workers", 1)
    assert "Faults by path and class" in text
    assert "Gain in f1q if all faults of one class were repaired: missing 0.1" in text
    assert "faults.csv" in text
    with (tmp_path / "faults.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert tuple(head) == COLUMNS
    plain = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert len(rows) == sum(group["count"] for group in plain["diagnosis"]["faults"])
    assert "Faults" not in run(*DEMO, "--workers", 1)


def test_a_later_evaluation_without_the_option_removes_the_table(tmp_path):
    run(*DEMO, "--diagnose", "--out", tmp_path, "--workers", 1)
    run(*DEMO, "--out", tmp_path, "--workers", 1)
    assert not (tmp_path / "faults.csv").exists()


def test_the_faults_are_exported_as_parquet_and_markdown(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    tables = ("--table", "faults.parquet", "--table", "faults.md")
    run(*DEMO, "--diagnose", "--out", tmp_path / "a", "--workers", 1)
    run(*DEMO, "--diagnose", "--out", tmp_path / "b", "--workers", 1, *tables)
    table = parquet.read_table(tmp_path / "b" / "faults.parquet")
    assert tuple(table.column_names) == COLUMNS
    assert str(table.schema.field("cost").type) == "double"
    assert (
        (tmp_path / "b" / "faults.md")
        .read_text(encoding="utf-8")
        .startswith("| path | fault | number | cost | share |")
    )
    found = (arbitre.load(tmp_path / name) for name in "ab")
    assert len({str(one.faults().to_arrow().to_pydict()) for one in found}) == 1
    assert not (tmp_path / "b" / "faults.csv").exists()


def test_a_table_of_faults_requires_the_option(tmp_path):
    arguments = ["evaluate", "--schema", str(SCHEMA), *DEMO, "--out", str(tmp_path), "--table", "faults.md"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "requires --diagnose" in result.output


def test_rematch_compares_repaired_documents_again(tmp_path):
    files = []
    for name, document in (("gold", GOLD), ("predicted", PREDICTED)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(document), encoding="utf-8")
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(PEOPLE), encoding="utf-8")
    gains = []
    for more in ([], ["--rematch"]):
        arguments = ["compare", *files, "--schema", schema, "--format", "json", *more]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
        gains.append(json.loads(result.stdout)["diagnosis"]["repair_gain"])
    repaired = arbitre.Comparator(PEOPLE).compare(
        gold=GOLD, predicted=PREDICTED | {"people": [*PREDICTED["people"], GOLD["people"][3]]}
    )
    missing = repaired.scores.f1q - arbitre.Comparator(PEOPLE).compare(gold=GOLD, predicted=PREDICTED).scores.f1q
    assert gains[1]["missing"] == pytest.approx(missing)
    assert gains[0].keys() == gains[1].keys()


def test_rematch_refuses_transport():
    schema = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": "transport"}}
    comparison = arbitre.Comparator(schema).compare(gold=["a", "b"], predicted=["a", "c", "d"], rematch=True)
    with pytest.raises(arbitre.DataError, match="transport"):
        comparison.to_dict()
