"""The suggested gate: a quantile of the pairs that are matched by chance."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.oracle.senate import DATA, HERE
from typer.testing import CliRunner

from arbitre import Comparator, DataError, bundled
from arbitre.cli import app

SCHEMA = bundled.schema("examples/speakers.schema.json")
LINES = [json.loads(line) for line in (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
GOLD = {line.pop("id"): line for line in LINES}
NAMES = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}


def test_the_gate_is_the_quantile_of_the_pairs_with_the_gold_of_other_documents():
    comparator = Comparator(SCHEMA)
    suggested = comparator.suggest_gate((key, document, document) for key, document in GOLD.items())
    chance = [
        pair.quality
        for key, gold in GOLD.items()
        for other, predicted in GOLD.items()
        if key != other
        for pair in comparator.compare(gold=gold, predicted=predicted).alignment("/speakers").pairs
    ]
    assert suggested.chance_pairs == len(chance)
    assert suggested.gate - 0.001 < np.quantile(chance, 0.95) <= suggested.gate
    assert not suggested.sampled
    assert (suggested.pairs, suggested.below) == (58, 0)


def test_the_pairs_below_the_gate_are_those_that_the_overlay_excludes():
    paths = {"gold": bundled.demo() / "gold.jsonl", "predicted": bundled.demo() / "hasty.jsonl"}
    comparator = Comparator(SCHEMA)
    suggested = comparator.suggest_gate(**paths)
    before = comparator.evaluate(**paths).micro.matched
    after = Comparator(SCHEMA, overlay=suggested.overlay).evaluate(**paths).micro.matched
    assert suggested.pairs == before
    assert suggested.below > 0
    assert after >= before - suggested.below  # other pairs may be matched instead
    assert comparator.plan.signature == Comparator(SCHEMA).plan.signature


def test_runs_of_one_document_are_not_compared_by_chance():
    with pytest.raises(DataError, match="at least two documents"):
        Comparator(NAMES).suggest_gate([("a", [{"name": "Ada"}], [{"name": "Ada"}])] * 3)


@pytest.mark.parametrize(
    "match", ["ordered", {"hungarian": {"gate": 0.5}}, {"keyed": {"key": "name"}}], ids=["ordered", "gated", "keyed"]
)
def test_another_matching_is_refused(match):
    with pytest.raises(DataError, match="hungarian without a gate"):
        Comparator(NAMES, overlay={"": {"match": match}}).suggest_gate([])


def test_a_schema_without_entries_is_refused():
    letter = {"type": "object", "properties": {"to": {"type": "string"}}}
    with pytest.raises(DataError, match="at least two documents"):
        Comparator(letter).suggest_gate([("a", {"to": "x"}, {"to": "x"}), ("b", {"to": "y"}, {"to": "y"})])


@HERE
def test_the_command_prints_the_gate_of_the_senate():
    schema = str(bundled.schemas() / "examples" / "senat-published.schema.json")
    sources = ["--gold", str(DATA / "gold"), "--predicted", str(DATA / "predicted"), "--id-pattern", r"(page_\d+)"]
    result = CliRunner().invoke(app, ["schema", "suggest-gate", schema, *sources])
    assert result.exit_code == 0, result.output
    suggested = Comparator(schema).suggest_gate(
        gold=DATA / "gold", predicted=DATA / "predicted", id_pattern=r"(page_\d+)"
    )
    assert json.loads(result.stdout) == suggested.overlay
    assert f"have a quality below {suggested.gate:g}" in result.stderr
    assert f"{suggested.below} of {suggested.pairs} matched pairs of this corpus are below it" in result.stderr
    assert (suggested.pairs, suggested.below, suggested.gate) == (198, 2, 0.541)
