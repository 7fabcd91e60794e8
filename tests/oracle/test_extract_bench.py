"""Two schemas of the benchmark extract-bench compile unchanged, and their gold documents equal themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arbitre import Comparator

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "extract-bench"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")
GOLD = sorted(DATA.glob("*/gold/*.json"))


def judge(name):
    return Comparator(DATA / name / "schema.json")


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


def test_both_schemas_have_gold_documents():
    assert {name: sum(file.parts[-3] == name for file in GOLD) for name in ("swimming", "credit_agreement")} == {
        "swimming": 5,
        "credit_agreement": 10,
    }


@pytest.mark.parametrize("file", GOLD, ids=lambda file: file.stem)
def test_gold_equals_itself(file):
    gold = read(file)
    comparison = judge(file.parts[-3]).compare(gold=gold, predicted=gold)
    assert comparison.quality == comparison.leaves.f1q == 1.0
    assert comparison.leaves.gold > 0
    assert {
        path: one for path, one in comparison.by_path().items() if not one.gold == one.predicted == one.matched
    } == {}
    assert {row.verdict for row in comparison.explain()} == {"correct"}


@pytest.mark.parametrize("name", ["swimming", "credit_agreement"])
def test_another_document_scores_below_gold_itself(name):
    first, second = [read(file) for file in GOLD if file.parts[-3] == name][:2]
    there, back = (judge(name).compare(gold=g, predicted=p) for g, p in ((first, second), (second, first)))
    assert there.quality == pytest.approx(back.quality)
    assert there.quality < 0.9
    assert (there.leaves.gold, there.leaves.predicted) == (back.leaves.predicted, back.leaves.gold)


@pytest.mark.parametrize("name", ["swimming", "credit_agreement"])
def test_an_omitted_field_is_missing_at_its_path(name):
    gold = read(next(file for file in GOLD if file.parts[-3] == name))
    key = next(key for key, value in gold.items() if value is not None)
    comparison = judge(name).compare(gold=gold, predicted={other: gold[other] for other in gold if other != key})
    lost = {path.split("/")[1] for path, one in comparison.by_path().items() if one.matched < one.gold}
    assert lost == {key}
    assert comparison.leaves.matched == comparison.leaves.predicted
