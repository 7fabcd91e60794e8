"""All outputs for documents that lack fields in which null counts as a value."""

import json

import pytest
from typer.testing import CliRunner

from arbitre import Comparator
from arbitre.cli import app

pytestmark = pytest.mark.usefixtures("few_shuffles")

MAIL = {"type": ["string", "null"], "x-arbitre": {"null": "credit"}}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "mail": MAIL,
        "year": {"type": ["integer", "null"], "x-arbitre": {"null": "credit"}},
        "place": {"type": "object", "properties": {"town": MAIL}},
    },
}
PEOPLE = {"type": "array", "items": PERSON}
KEYED = PEOPLE | {"x-arbitre": {"match": {"keyed": {"key": "mail"}}}}
ADA = {"name": "Ada", "mail": "x", "year": 1, "place": {"town": "Rome"}}
PAIRS = [
    ({"name": "Ada"}, {"name": "Bob"}),
    ({"name": "Ada", "mail": None, "year": 1}, {"name": "Ada"}),
    ({"name": "Ada"}, {"name": "Ada", "mail": None, "year": None, "place": {}}),
    (ADA, {"name": "Bob", "place": {}}),
    ({"name": "Bob"}, ADA),
    ({"place": {"town": None}}, {"name": "Ada", "place": {}}),
]


def corpus(schema):
    """Pairs of documents; lists have the same person twice, and another one on one side."""
    if schema is PERSON:
        return PAIRS
    return [([gold, ADA, gold], [ADA | {"mail": None}, predicted, {"name": "Cyd"}]) for gold, predicted in PAIRS]


@pytest.fixture(params=[PERSON, PEOPLE, KEYED], ids=["object", "list", "keyed list"])
def schema(request):
    return request.param


def test_a_comparison_and_its_repair(schema):
    comparator = Comparator(schema)
    for gold, predicted in corpus(schema):
        comparison = comparator.compare(gold=gold, predicted=predicted)
        assert comparison.diagnosis.solidarity_chance is not None
        assert all([str(comparison), comparison.explain(), comparison.by_path, comparison._repr_html_()])
        assert type(comparison).from_dict(comparison.to_dict()).quality == comparison.quality
        repaired = comparison.patch().apply(predicted)
        assert comparator.compare(gold=gold, predicted=repaired).quality == 1.0


COMMANDS = [
    "compare --schema schema.json gold/3.json first/3.json",
    "metricity --schema schema.json gold/3.json first/3.json",
    "evaluate --schema schema.json --gold gold --predicted first --diagnose --out one",
    "evaluate --schema schema.json --gold gold --predicted second --diagnose --out two",
    "evaluate --schema schema.json --gold gold --predicted first --flat",
    "report one",
    "figures one --out figures",
    "diff one two",
    "fix schema.json --gold gold --predicted first",
    "rank --schema schema.json --gold gold first=first second=second --out ranking",
    "agree --schema schema.json ada=gold bob=first",
    "consensus --schema schema.json ada=gold bob=first cy=second --out consensus",
    "leave-one-out --schema schema.json ada=gold bob=first cy=second",
    "perturb gold --out perturbed.jsonl",
    "schema check schema.json --gold gold",
]


@pytest.mark.slow
def test_all_commands(schema, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gold", "first", "second"):
        (tmp_path / name).mkdir()
    for number, (gold, predicted) in enumerate(corpus(schema) * 4):
        for name, document in (("gold", gold), ("first", predicted), ("second", gold if number % 3 else predicted)):
            (tmp_path / name / f"{number}.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    for command in COMMANDS:
        result = CliRunner().invoke(app, command.split())
        assert result.exit_code == 0, (command, result.output)
