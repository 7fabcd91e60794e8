"""The page of the documentation that walks through the causes of the nested index of the Senate."""

import json
import re
from pathlib import Path

import pytest

import arbitre

ROOT = Path(__file__).resolve().parents[2]
NESTED = ROOT.parent / "shared" / "data" / "senat-1931" / "nested"
PAGE = ROOT / "docs" / "walkthrough.md"

pytestmark = pytest.mark.skipif(not NESTED.is_dir(), reason="needs ../shared/data")


@pytest.fixture(scope="module")
def corpus():
    gold = json.loads((NESTED / "gold.json").read_text(encoding="utf-8"))
    predicted = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(NESTED.glob("predicted_*.json"))]
    return arbitre.Comparator.infer([gold]), [("page_02", gold, one) for one in predicted]


def cells(title):
    """The rows of the table below a heading of the page, as lists of cells."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def test_the_causes_and_their_figures_are_those_of_the_page(corpus):
    comparator, triples = corpus
    evaluation = comparator.evaluate(triples, diagnose=True)
    assert f"{evaluation.macro.f1q:.2f}" == "0.60"
    shown = {(cause.kind, str(cause.count), f"{cause.cost:.4f}", f"{cause.gain:.4f}") for cause in evaluation.causes}
    rows = cells("The first score")
    assert len(rows) == 4
    assert {(row[0].strip("`"), *row[2:5]) for row in rows} <= shown
    assert sum(cause.cost for cause in evaluation.causes) == pytest.approx(1.0 - evaluation.micro.f1q)


def test_the_changes_and_the_repaired_score_are_those_of_the_page(corpus):
    comparator, triples = corpus
    fixes = arbitre.fix(comparator, triples)
    assert [(fix.cause.kind, f"{fix.gain:+.4f}") for fix in fixes.fixes] == [
        (row[0].strip("`"), row[2]) for row in cells("The list of changes")
    ]
    assert f"f1q {fixes.f1q:.4f}, {fixes.f1q_after:.4f} with the overlay of 5 changes" in PAGE.read_text(
        encoding="utf-8"
    )
    after = arbitre.Comparator(comparator.schema, overlay=fixes.overlay).evaluate(triples)
    assert after.micro.f1q == pytest.approx(fixes.f1q_after)
    assert f"{after.macro.f1q:.2f}" == "0.87"
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for path, settings in json.loads(shown).items():
        assert fixes.overlay[path] == settings
