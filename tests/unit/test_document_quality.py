"""Invoices whose header fields are wrong: document quality shows what the scores of the line items leave out."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.errors import DataError, OptionError
from arbitre.language import Language
from arbitre.report.render import render_page
from arbitre.report.report_files import read_view

pytestmark = pytest.mark.slow

pydantic = pytest.importorskip("pydantic")

HEADER = ("number", "date", "customer", "currency", "total")
LINES = [
    {"description": "Paper", "quantity": 2, "unit_price": 4.5},
    {"description": "Ink", "quantity": 1, "unit_price": 54.0},
]
MARKED = {"/line_items": {"entries": True}}


Exact = Annotated[str, pydantic.Field(json_schema_extra={"x-arbitre": {"distance": "exact"}})]


class LineItem(pydantic.BaseModel):
    """One line of an invoice."""

    description: str
    quantity: int
    unit_price: float


class Invoice(pydantic.BaseModel):
    """An invoice."""

    number: Exact
    date: Exact
    customer: Exact
    currency: Exact
    total: float
    line_items: list[LineItem]


def invoice(number, *, wrong=False):
    if wrong:
        header = {"number": "######", "date": "??????????", "customer": "!!!!", "currency": "___", "total": -1.0}
    else:
        header = {"number": f"INV-{number}", "date": f"2024-03-{number}", "customer": "Acme", "currency": "EUR"}
        header["total"] = 63.0
    return header | {"line_items": LINES}


def pairs():
    return [(str(number), invoice(number), invoice(number, wrong=True)) for number in range(10, 22)]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    Path("schema.json").write_text(json.dumps(Invoice.model_json_schema()), encoding="utf-8")
    Path("marked.json").write_text(json.dumps(MARKED), encoding="utf-8")
    for name, wrong in (("gold", False), ("wrong", True)):
        lines = (json.dumps({"id": key} | invoice(int(key), wrong=wrong)) for key, *_ in pairs())
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def evaluate(predicted, *arguments, code=0):
    sources = ("--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", f"{predicted}.jsonl")
    return run("evaluate", *sources, "--workers", 1, *arguments, code=code)


def test_the_headline_covers_the_header():
    comparator = arbitre.Comparator(Invoice)
    assert comparator.entries == ""
    evaluation = comparator.evaluate(pairs())
    assert evaluation.micro.f1q == pytest.approx(1 / 6)  # of six fields, the lines alone are right
    assert evaluation.macro.f1q == pytest.approx(1 / 6)
    assert evaluation.leaves.f1q == pytest.approx(6 / 11)
    assert evaluation.by_path["/line_items/*"].f1q == 1.0
    assert evaluation.outside == {}
    quality = evaluation.document_quality
    assert (quality.mean, quality.median) == (pytest.approx(1 / 6), pytest.approx(1 / 6))
    assert (quality.at_least(0.1), quality.at_least(0.5)) == (1.0, 0.0)


def test_paths_outside_the_marked_entries_are_listed():
    comparator = arbitre.Comparator(Invoice, overlay=MARKED)
    evaluation = comparator.evaluate(pairs())
    assert (evaluation.entries, evaluation.micro.f1q) == ("/line_items", 1.0)
    assert {path: scores.f1q for path, scores in evaluation.outside.items()} == {f"/{name}": 0.0 for name in HEADER}
    assert evaluation.document_quality.mean == pytest.approx(1 / 6)
    comparison = comparator.compare(gold=invoice(10), predicted=invoice(10, wrong=True))
    assert set(comparison.outside) == {f"/{name}" for name in HEADER}
    for plain, name in ((evaluation.to_dict(), "evaluation"), (comparison.to_dict(), "comparison")):
        Draft202012Validator(bundled.schema(f"{name}.schema.json")).validate(plain)
        assert {path: scores["f1q"] for path, scores in plain["outside"].items()} == {
            f"/{name}": 0.0 for name in HEADER
        }


def test_undeclared_keys_outside_the_entries_are_listed():
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": {"type": "object"}}}}
    evaluation = arbitre.Comparator(schema).evaluate([("a", {"lines": [{}]}, {"lines": [{}], "note": "spurious"})])
    assert (evaluation.entries, evaluation.micro.f1q) == ("/lines", 1.0)
    assert {path: scores.f1q for path, scores in evaluation.outside.items()} == {"/note": 0.0}


def test_document_quality_counts_failures_as_0_and_empty_documents_as_1():
    comparator = arbitre.Comparator({"type": ["object", "null"], "properties": {"a": {"type": "string"}}})
    found = comparator.evaluate(
        [("right", {"a": "x"}, {"a": "x"}), ("failed", {"a": "x"}, arbitre.ABSENT), ("vacuous", None, None)]
    ).document_quality
    assert (found.mean, found.median, found.documents) == (2 / 3, 1.0, 3)
    assert found.at_least(1.0) == 2 / 3
    assert found.to_dict()["at_least"][-1] == {"quality": 1.0, "share": 2 / 3}
    empty = comparator.evaluate([]).document_quality
    assert (empty.mean, empty.median, empty.at_least(0.5)) == (None, None, None)
    with pytest.raises(OptionError, match="Expected `quality` to be a number"):
        found.at_least(float("nan"))


def test_quality_bounds_are_checked_in_python():
    evaluation = arbitre.Comparator(Invoice, overlay=MARKED).evaluate([*pairs(), ("lost", invoice(1), arbitre.ABSENT)])
    under = {"micro.f1q": 0.9, "document_quality": 0.9, "leaves.f1q": 0.9, "/total:f1q": 0.9}
    assert [str(one) for one in arbitre.check_bounds(evaluation, fail_under=under, fail_over=["failed=0"])] == [
        "document_quality is 0.1538, 0.7462 below 0.9",
        "leaves f1q is 0.5236, 0.3764 below 0.9",
        "/total:f1q is 0.0000, 0.9000 below 0.9",
        "failed is 1, 1 above 0",
    ]
    (missed,) = arbitre.check_bounds({"a": evaluation}, fail_under={"document_quality.at_least(0.1)": 0.95})
    assert (missed.system, missed.value) == ("a", 12 / 13)
    assert str(missed) == "a: document_quality.at_least(0.1) is 0.9231, 0.0269 below 0.95"
    over = {"failed": 1, "variance": 0.1}
    assert arbitre.check_bounds(evaluation, fail_over=over, fail_under="document_quality.median=0") == ()
    assert missed.gate is missed.quality_bound  # the former names still work
    assert (arbitre.gate, arbitre.Gate, arbitre.Missed) == (arbitre.check_bounds, arbitre.QualityBound, type(missed))
    assert arbitre.QualityGateError is arbitre.QualityBoundError


@pytest.mark.parametrize(
    ("bound", "said"), [("/totle:f1q=1", "Expected --fail-under to name a path"), ("f1p=1", "Expected a score")]
)
def test_bounds_that_name_nothing_are_refused(bound, said):
    evaluation = arbitre.Comparator(Invoice).evaluate(pairs())
    with pytest.raises(OptionError if bound == "f1p=1" else DataError, match=said):
        arbitre.check_bounds(evaluation, fail_under=[bound])


def test_one_comparison_has_a_document_quality_and_no_failures():
    comparison = arbitre.Comparator(Invoice).compare(gold=invoice(10), predicted=invoice(10, wrong=True))
    (missed,) = arbitre.check_bounds(comparison, fail_under={"document_quality": 0.9})
    assert missed.value == comparison.quality
    with pytest.raises(DataError, match="Expected --fail-over to name a score of a single comparison, got 'failed'"):
        arbitre.check_bounds(comparison, fail_over=["failed=0"])


@pytest.mark.usefixtures("elsewhere")
class TestCommandLine:
    def test_evaluate_applies_bounds_to_document_quality(self):
        found = evaluate("wrong", "--fail-under", "document_quality=0.9", "--fail-under", "f1q=0.9", code=1)
        assert "entries (whole document): 72 gold, 72 predicted, 72 matched" in found.stdout
        assert "document quality: mean 0.1667, median 0.1667, 0.9 or more in 0% of documents" in found.stdout
        assert "Outside the entries" not in found.stdout
        assert found.stderr.splitlines() == [
            "not met: document_quality is 0.1667, 0.7333 below 0.9",
            "not met: micro f1q is 0.1667, 0.7333 below 0.9",
        ]
        assert "(micro)" in found.stdout
        assert "mean (macro)" in found.stdout

    def test_evaluate_lists_the_paths_outside_the_entries(self):
        said = " ".join(evaluate("wrong", "--overlay", "marked.json", "--out", "out").stdout.split())
        paths = ", ".join(f"/{name} 0.0000" for name in sorted(HEADER))
        assert f"Outside the entries, not counted in the entry scores (f1q, pooled (micro)): {paths}" in said
        view = read_view([Path("out/evaluation.json")])
        assert view.subjects[0].outside == {f"/{name}": 0.0 for name in HEADER}
        assert "Outside the entries, and not in their scores" in render_page(view)
        assert "Hors des entrées, donc hors de leurs scores" in render_page(view, Language.FR)
        assert "Qualité des documents" in render_page(view, Language.FR)

    def test_compare_lists_the_paths_outside_the_entries(self):
        Path("g.json").write_text(json.dumps(invoice(10)), encoding="utf-8")
        Path("p.json").write_text(json.dumps(invoice(10, wrong=True)), encoding="utf-8")
        one = run("compare", "g.json", "p.json", "--schema", "schema.json", "--overlay", "marked.json").stdout
        assert "Outside the entries, not counted in the entry scores (f1q): /currency 0.0000" in " ".join(one.split())

    def test_diff_shows_and_bounds_the_document_quality(self):
        evaluate("gold", "--out", "before", "--no-report")
        evaluate("wrong", "--out", "after", "--no-report")
        files = ("before/evaluation.json", "after/evaluation.json")
        bounds = ("--fail-under", "document_quality=0.9", "--fail-under", "/total:irq=0.5", "--fail-over", "failed=0")
        found = run("diff", *files, *bounds, code=1)
        lines = [line.split() for line in found.stdout.splitlines()]
        starts = [line[:6] for line in lines]
        assert ["Document", "quality", "(mean)", "1.0000", "0.1667", "-0.8333"] in starts
        assert ["Per-document", "mean", "(macro)", "1.0000", "0.1667", "-0.8333"] in starts
        assert found.stderr.splitlines() == [
            "not met: document_quality is 0.1667, 0.7333 below 0.9",
            "not met: /total:irq is 0.0000, 0.5000 below 0.5",
        ]
        run("diff", *files, "--fail-over", "failed=0", "--fail-under", "macro.f1q=0.1", "--fail-under", "fq(2)=0.1")
        for bound in ("document_quality.at_least(0.3)=1", "macro.fq(2)=1"):
            refused = run("diff", *files, "--fail-under", bound, code=2).stderr
            assert "Expected --fail-under to name a value in evaluation.json" in refused
        plain = json.loads(run("diff", *files, "--format", "json").stdout)
        assert plain["document_quality"]["after"] == pytest.approx(1 / 6)

    def test_document_quality_alone_can_be_worse(self):
        for name in ("gold", "wrong"):
            evaluate(name, "--out", name, "--overlay", "marked.json", "--no-report")
        found = run("diff", "gold/evaluation.json", "wrong/evaluation.json", "--fail-if-worse", code=1)
        assert "worse: Document quality (mean) fell by 0.8333, from 1.0000 to 0.1667" in found.stderr

    def test_rank_shows_and_bounds_the_document_quality(self):
        systems = ("right=gold.jsonl", "wrong=wrong.jsonl")
        sources = ("--schema", "schema.json", "--gold", "gold.jsonl", "--workers", 1, "--no-report", "--out", "out")
        found = run("rank", *systems, *sources, "--fail-under", "document_quality=0.9", code=1)
        assert "not met: wrong: document_quality is 0.1667, 0.7333 below 0.9\n" in found.stderr
        assert "right: document_quality" not in found.stderr
        with Path("out/systems.csv").open(encoding="utf-8", newline="") as file:
            rows = {row["system"]: row for row in csv.DictReader(file)}
        assert float(rows["wrong"]["document_quality"]) == pytest.approx(1 / 6)
        signature = json.loads(Path("out/ranking.json").read_text("utf-8"))["signature"]["short"]
        assert {row["signature"] for row in rows.values()} == {signature}
        tables = Path("out/ranking.md").read_text("utf-8").count("\n## ") + 1
        assert Path("out/ranking.md").read_text("utf-8").count(f"Signature: `{signature}`") == tables
        assert Path("out/ranking.tex").read_text("utf-8").count(f"% Signature: {signature}") == tables
