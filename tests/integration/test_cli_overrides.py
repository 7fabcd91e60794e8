"""`arbitre compare` with options that replace settings of the schema, alone or several side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre.cli import app

PEOPLE = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
}
GOLD = [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 5}, {"name": "Cleo", "age": 7}]
PREDICTED = [{"name": "Bob", "age": 5}, {"name": "Adam", "age": 36}]
DUMMY = '{"transport": {"solver": "dummy", "lambda": 0.3}}'


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, value in (("schema", PEOPLE), ("gold", GOLD), ("predicted", PREDICTED)):
        Path(f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


def run(*options, code=0):
    result = CliRunner().invoke(app, ["compare", "gold.json", "predicted.json", "--schema", "schema.json", *options])
    assert result.exit_code == code, result.output
    return result


def both(option, *names):
    return [part for name in names for part in (option, name)]


def compared(**choice):
    return arbitre.Comparator(PEOPLE, **choice).compare(gold=GOLD, predicted=PREDICTED)


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        (["--match", "ordered"], {"match": "ordered"}),
        (["--distance", "levenshtein"], {"distance": "levenshtein"}),
        (["--match", DUMMY, "--distance", "jaro"], {"match": json.loads(DUMMY), "distance": "jaro"}),
        (["--match", '"ordered"'], {"match": "ordered"}),
    ],
)
def test_one_override_prints_the_usual_comparison(options, choice):
    data = json.loads(run(*options, "--format", "json").stdout)
    assert data["scores"] == compared(**choice).scores.to_dict()
    assert data["quality"] == compared(**choice).quality
    assert "By path" in run(*options).stdout


def test_several_overrides_print_one_table():
    lines = run(*both("--match", "hungarian", "ordered", "transport", DUMMY)).stdout.splitlines()
    assert lines[0] == "4 choices side by side"
    assert lines[1] == "entries (whole document): 3 gold, 2 predicted"
    rows = {line.split("  ")[0]: line.split()[-6:] for line in lines[5:9]}
    assert list(rows) == ["hungarian", "ordered", "transport", "transport(dummy, lambda=0.3)"]
    assert rows["hungarian"] == ["1.8750", "0.7500", "0.6250", "0.3245", "0.0505", "0"]
    assert rows["ordered"] == ["0.3030", "0.1212", "0.1010", "0.3245", "0.0505", "4"]
    assert rows["transport"] == ["2.0265", "0.6755", "0.6755", "0.3245", "0.0505", "2"]
    assert rows["transport(dummy, lambda=0.3)"] == rows["hungarian"]
    text = run(*both("--match", "hungarian", "ordered")).stdout
    _, table = text.split("ordered: pairs made only here (+) or only by the first choice (-)\n")
    head, _, *pairs = (line.split() for line in table.splitlines())
    assert head == ["gold", "predicted"]
    assert pairs[:2] == [["+", "/0", "/0"], ["-", "/0", "/1"]]


def test_the_numbers_of_entries_do_not_depend_on_the_first_choice():
    for first in ("transport", "hungarian", DUMMY):
        lines = run(*both("--match", first, "ordered")).stdout.splitlines()
        assert (
            lines[1] == "entries (whole document): 3 gold, 2 predicted"
        )  # a balanced transport counts 3 on both sides


def test_a_narrow_table_has_fewer_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    head = run(*both("--match", "hungarian", "ordered")).stdout.splitlines()[3]
    assert head.split() == ["choice", "f1q", "W1", "OSPA-W1", "differ"]


def test_the_table_as_json_has_the_same_keys():
    data = json.loads(run(*both("--match", "hungarian", "ordered", "transport"), "--format", "json").stdout)
    assert data["entries"] == ""
    first, second, third = data["choices"]
    assert list(first) == [
        *("match", "distance", "S", "f1q", "quality", "W1", "OSPA-W1", "differ"),
        *("more", "fewer", "signature"),
    ]
    assert (first["match"], first["distance"], first["differ"]) == ("hungarian", None, 0)
    one = compared(match="hungarian")
    assert (first["S"], first["f1q"]) == (one.scores.quality_mass, one.scores.f1q)
    assert first["W1"] == pytest.approx(1.0 - compared(match="transport").scores.irq)
    assert first["W1"] + first["OSPA-W1"] == pytest.approx(1.0 - first["quality"])
    assert (second["W1"], second["OSPA-W1"]) == (first["W1"], first["OSPA-W1"])
    assert second["more"] == [{"gold": "/0", "predicted": "/0"}, {"gold": "/1", "predicted": "/1"}]
    assert second["fewer"] == [{"gold": "/0", "predicted": "/1"}, {"gold": "/1", "predicted": "/0"}]
    assert second["differ"] == 4
    assert third["signature"] == compared(match="transport").signature.short


def test_one_python_call_gives_the_same_table():
    options = both("--match", "hungarian", DUMMY) + both("--distance", "levenshtein", "jaro")
    data = json.loads(run(*options, "--format", "json").stdout)
    rows = arbitre.side_by_side(
        PEOPLE,
        gold=GOLD,
        predicted=PREDICTED,
        match=["hungarian", json.loads(DUMMY)],
        distance=["levenshtein", "jaro"],
    )
    assert [row.to_dict() for row in rows] == data["choices"]
    inferred = arbitre.side_by_side(gold=GOLD, predicted=PREDICTED, match=["ordered"], close=0.9)
    assert inferred[0].comparison.close == 0.9
    with pytest.raises(arbitre.SchemaError, match='Did you mean "hungarian"'):
        arbitre.side_by_side(PEOPLE, gold=GOLD, predicted=PREDICTED, match=["hungarain"])
    with pytest.raises(arbitre.SchemaError, match="The distance dice has no effect"):
        arbitre.side_by_side(PEOPLE, gold=GOLD, predicted=PREDICTED, distance=["dice"])


def test_every_matching_is_combined_with_every_distance():
    options = both("--match", "hungarian", "greedy") + both("--distance", "levenshtein", "jaro", "exact")
    data = json.loads(run(*options, "--format", "json").stdout)
    assert [(one["match"], one["distance"]) for one in data["choices"]] == [
        (match, distance) for match in ("hungarian", "greedy") for distance in ("levenshtein", "jaro", "exact")
    ]
    assert "greedy, exact" in run(*options).stdout


def test_long_lists_of_pairs_are_truncated():
    Path("gold.json").write_text(json.dumps([{"name": f"{number}"} for number in range(8)]), encoding="utf-8")
    Path("predicted.json").write_text(
        json.dumps([{"name": f"{number}"} for number in reversed(range(8))]), encoding="utf-8"
    )
    assert "... and 11 more pairs" in run(*both("--match", "hungarian", "ordered")).stdout


def test_a_document_without_list_entries_has_no_transport_figures():
    Path("schema.json").write_text(
        json.dumps({"type": "object", "properties": {"name": {"type": "string"}}}), encoding="utf-8"
    )
    Path("gold.json").write_text('{"name": "Ada"}', encoding="utf-8")
    Path("predicted.json").write_text('{"name": "Adam"}', encoding="utf-8")
    data = json.loads(run(*both("--distance", "jaro", "levenshtein"), "--format", "json").stdout)
    assert [(one["W1"], one["OSPA-W1"], one["differ"]) for one in data["choices"]] == [(None, None, 0)] * 2
    assert data["choices"][1]["quality"] == 0.75


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--match", "hungarain"],
            ["Expected `match` to be a known name", 'Did you mean "hungarian"? Also available: '],
        ),
        (["--match", '{"transport": {"solver": "x"}}'], ["Expected `solver` to be one of", "at /transport/solver"]),
        (["--distance", '{"absolute": {}}'], ["The required option `scale` of `absolute` is missing"]),
        (["--match", '{"transport":'], ["Expected valid JSON"]),
        (["--distance", "dice"], ["The distance dice has no effect: it applies to no value of the schema"]),
        (
            [*both("--match", "greedy", "set"), "--fail-under", "f1q=0.5"],
            ["--flat need a single --match and --distance"],
        ),
        ([*both("--match", "greedy", "set"), "--validate"], ["--flat need a single --match and --distance"]),
        ([*both("--match", "greedy", "set"), "--published"], ["--flat need a single --match and --distance"]),
    ],
)
def test_wrong_overrides_are_refused(options, said):
    text = " ".join(run(*options, code=2).stderr.replace("│", " ").split())
    for part in said:
        assert part in text


def test_a_match_without_an_array_is_refused():
    Path("schema.json").write_text('{"type": "object", "properties": {"a": {"type": "string"}}}', encoding="utf-8")
    assert (
        "The matching greedy has no effect: the schema has no array that is matched"
        in run("--match", "greedy", code=2).stderr
    )


def test_overrides_apply_to_an_inferred_schema():
    command = ["compare", "gold.json", "predicted.json", "--match", "ordered", "--format", "json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["scores"]["f1q"] == compared(match="ordered").scores.f1q


def test_an_override_may_name_a_custom_distance():
    module = "def initials(gold, predicted):\n    return float(gold[:1] != predicted[:1])\n"
    Path("own_initials.py").write_text(module, encoding="utf-8")
    options = ["--functions", "own_initials:initials", "--distance"]
    data = json.loads(run(*options, "initials", "--format", "json").stdout)
    assert data["by_path"]["/*/name"]["imq"] == 1.0
    table = json.loads(run(*options, "initials", "--distance", "exact", "--format", "json").stdout)
    assert [row["distance"] for row in table["choices"]] == ["initials", "exact"]
    assert "Did you mean" in run(*options, "initails", code=2).stderr
    assert "Expected `distance` to be a known name" in run("--distance", "initials", code=2).stderr
    command = ["metricity", "gold.json", "predicted.json", "--schema", "schema.json", *options, "initials"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
