"""Splits, merges and the order of items in the output of `arbitre compare`."""

from __future__ import annotations

import json

import pytest
from tests.oracle.senate import DATA, HERE
from typer.testing import CliRunner

from arbitre import Comparison, bundled
from arbitre.cli import app

SENATE = str(bundled.schemas() / "examples" / "senat-iou.schema.json")
SPEAKERS = str(bundled.schemas() / "examples" / "speakers.schema.json")


def run(*arguments):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.stderr
    return result.stdout


def speaker(name, *subjects):
    return {"name": name, "interventions": [{"subject": subject, "kind": "speech"} for subject in subjects]}


def documents(folder, gold, predicted):
    files = folder / "gold.json", folder / "predicted.json"
    for file, speakers in zip(files, (gold, predicted), strict=True):
        file.write_text(json.dumps({"speakers": speakers}))
    return files


@HERE
@pytest.mark.parametrize(
    ("predicted", "strict", "joined"),
    [("02_corpusense_boxes", "0.9427", "0.9679"), ("03_corpusense_raw", "0.9261", "0.9504")],
)
def test_compare_prints_the_merge_and_f1q_before_and_after_joining(predicted, strict, joined):
    page = DATA / "gold" / "page_02.json", DATA / "predicted" / f"page_02_{predicted}.json"
    lines = run(*page, "--schema", SENATE).splitlines()
    start = lines.index("Splits and merges")
    assert lines[start + 3].split() == ["/listes_des_intervenants", "merge", "2,", "3", "2", "0.0714"]
    assert lines[start + 4] == f"f1q of the entries: {strict}; {joined} if these items are joined."


def test_compare_prints_long_joins_as_ranges_and_lists_in_another_order(tmp_path):
    subjects = ["Salt tax", "Oyster beds", "School canteens", "Quarantine of cattle"]
    rest = [speaker("Barquenne, Solange", "Census"), speaker("Chantorel, Luc", "Felling")]
    gold = [speaker("Gaultrier, Maxime", *subjects), *rest]
    predicted = [*(speaker("Gaultrier, Maxime", subject) for subject in subjects), *reversed(rest)]
    lines = run(*documents(tmp_path, gold, predicted), "--schema", SPEAKERS).splitlines()
    start = lines.index("Splits and merges")
    assert lines[start + 3].split()[:4] == ["/speakers", "split", "0", "0-3"]
    start = lines.index("Items in another order than in gold")
    assert lines[start + 3].split() == ["/speakers", "0.3333"]


def test_compare_prints_nothing_about_joins_and_order_of_equal_documents(tmp_path):
    speakers = [speaker("Barquenne, Solange", "Census"), speaker("Chantorel, Luc", "Felling")]
    output = run(*documents(tmp_path, speakers, speakers), "--schema", SPEAKERS)
    assert "Splits and merges" not in output
    assert "another order" not in output


def test_the_json_output_holds_joins_and_order_and_can_be_read_back(tmp_path):
    gold = [speaker("Gaultrier, Maxime", "Salt tax", "Oyster beds"), speaker("Chantorel, Luc", "Felling")]
    predicted = [speaker("Gaultrier, Maxime", "Salt tax"), speaker("Gaultrier, Maxime", "Oyster beds"), gold[1]]
    plain = json.loads(run(*documents(tmp_path, gold, predicted), "--schema", SPEAKERS, "--format", "json"))
    diagnosis = plain["diagnosis"]
    assert diagnosis["merges"] == []
    assert [(split["list"], split["gold"], split["predicted"]) for split in diagnosis["splits"]] == [
        ("/speakers", [0], [0, 1])
    ]
    assert diagnosis["f1q_after_joins"] == 1.0
    assert diagnosis["order"] == {"/speakers": 1.0}
    read = Comparison.from_dict(plain).diagnosis
    assert read.splits[0].predicted == (0, 1)
    assert (read.f1q_after_joins, read.order) == (1.0, {"/speakers": 1.0})
