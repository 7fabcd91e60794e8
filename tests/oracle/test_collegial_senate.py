"""Decisions on the three OCR runs of the index of the French Senate, all for one of the runs."""

from __future__ import annotations

import csv
import json

import pytest
from tests.oracle.senate import HERE, read

from arbitre import Comparator, bundled
from arbitre.agreement import build_consensus
from arbitre.agreement.consensus.build import consensus
from arbitre.agreement.consensus.decisions import Decision, Decisions
from arbitre.inputs.provenance import Provenance

pytestmark = [HERE, pytest.mark.usefixtures("without_standing")]

RUNS = {
    "page_02": ("01_vt", "02_corpusense_boxes", "03_corpusense_raw"),
    "page_03": ("01", "02", "03"),
    "page_04": ("01", "02", "03"),
}
NAMES = ("first", "second", "third")


@pytest.fixture(scope="module")
def annotations():
    """The documents of each annotator: one run of each page."""
    return {
        name: {page: read("predicted", f"{page}_{runs[at]}.json") for page, runs in RUNS.items()}
        for at, name in enumerate(NAMES)
    }


@pytest.fixture(scope="module")
def folder(annotations, tmp_path_factory):
    """A folder with the documents of each annotator, and the queue."""
    folder = tmp_path_factory.mktemp("senate")
    for name, documents in annotations.items():
        lines = (json.dumps({"id": page, **document}) for page, document in documents.items())
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    schema = bundled.schemas() / "examples" / "senat-published.schema.json"
    consensus(schema, sources(folder), strategy="collegial", queue=folder / "queue")
    return folder


def sources(folder):
    return {name: folder / f"{name}.jsonl" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_table_filled_in_with_one_run_gives_the_pages_of_that_run(folder, annotations, name):
    with (folder / "queue" / "queue.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    for row in rows:
        row |= {"value": row[f"{name}: value"], "by": "Zoé"}
        row["absent"] = "" if row["value"] else "true"
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    schema = bundled.schemas() / "examples" / "senat-published.schema.json"
    out = folder / f"{name}-gold.jsonl"
    consensus(schema, sources(folder), strategy="collegial", decisions=folder / f"{name}.csv", out=out)
    judge = Comparator(schema)
    gold = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for document in gold:
        theirs = annotations[name][document.pop("id")]
        assert judge.compare(gold=theirs, predicted=document).quality == 1.0
    assert len(gold) == 3
    assert Provenance.read(out).disagreements.decided == 24


@pytest.mark.parametrize("run", RUNS["page_02"])
def test_the_nested_page_decided_for_one_run_is_the_page_of_that_run(run):
    judge = Comparator(bundled.schema("examples/senat-nested.schema.json"))
    pages = {name: {"page": read("nested", f"predicted_{name}.json")} for name in RUNS["page_02"]}
    before = build_consensus(judge, pages, strategy="collegial")
    assert len(before.disagreements) > 100
    chosen = {
        each.id: Decision(each.id, next(one.value for one in each.readings if one.annotator == run), "Zoé")
        for each in before.disagreements
    }
    final = build_consensus(judge, pages, strategy="collegial", decisions=Decisions("all.jsonl", chosen))
    assert judge.compare(gold=pages[run]["page"], predicted=final.documents["page"]).quality == 1.0
    assert final.provenance.disagreements.decided == len(before.disagreements)
