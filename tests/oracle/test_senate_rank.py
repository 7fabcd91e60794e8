"""Three OCR systems on the index of the French Senate of 1931: published tables, and their ranking."""

from __future__ import annotations

import csv
import json
from statistics import fmean

import pytest
from tests.oracle.senate import COUNTS, DATA, HERE, SCORES, published, read
from typer.testing import CliRunner

import arbitre
from arbitre import Comparator, bundled
from arbitre.cli import app
from arbitre.corpus import tables
from arbitre.systems.factors import factor
from arbitre.systems.ranking import rank

pytestmark = HERE

PAGE, OCR = r"page_\d\d", r"page_\d\d_(\d\d)"
KINDS = {"01": "corrected", "02": "zones", "03": "raw"}
COLUMNS = {title: name for title, name in SCORES.items() if name in {"precision", "recall", "f1", "amq", "omq", "irq"}}
"""Those that the published script computes as they are defined."""


@pytest.fixture(scope="module")
def comparator():
    return Comparator(bundled.schema("examples/senat-published.schema.json"))


@pytest.fixture(scope="module")
def triples():
    return [(run, read("gold", f"{run[:7]}.json"), read("predicted", f"{run}.json")) for run in published()]


@pytest.fixture(scope="module")
def runs(comparator, triples):
    """The nine runs as one corpus."""
    return comparator.evaluate(triples)


@pytest.fixture(scope="module")
def systems(comparator, triples):
    """The three OCRs as systems on the same pages."""
    return {
        name: comparator.evaluate((run[:7], gold, predicted) for run, gold, predicted in triples if run[8:10] == kind)
        for kind, name in KINDS.items()
    }


def test_the_table_per_page_equals_the_published_one(runs):
    lines = tables.documents(runs, tuple(COLUMNS.values())).texts()
    expected = [
        [run, *(row[title] for title in COUNTS), *(row[title] for title in COLUMNS)] for run, row in published().items()
    ]
    assert lines == expected


def test_the_table_of_the_script_equals_the_published_one(comparator, triples):
    figures = {
        run: arbitre.published(comparator.compare(gold=gold, predicted=predicted)) for run, gold, predicted in triples
    }
    found = tables.figures(figures, tuple(SCORES.values()), name="Source", counts=tuple(COUNTS.values()))
    expected = [
        [run, *(row[title] for title in COUNTS), *(row[title] for title in SCORES)] for run, row in published().items()
    ]
    assert found.texts() == expected
    assert found.latex().splitlines()[4].startswith(r"page\_02\_01\_vt & 23 & 23 & 23 & 1.0000 & ")


@pytest.mark.parametrize(("by", "part"), [(OCR, slice(8, 10)), (PAGE, slice(0, 7))], ids=["ocr", "page"])
def test_the_means_per_ocr_and_per_page_equal_those_of_the_published_rows(runs, by, part):
    found = tables.by_cluster(runs, by, tuple(COLUMNS.values()))
    groups = {}
    for run, row in published().items():
        groups.setdefault(run[part], []).append(row)
    assert [row[:2] for row in found.rows] == [(name, 3) for name in sorted(groups)]
    for name, _, *values in found.rows:
        expected = [fmean(float(row[title]) for row in groups[name]) for title in COLUMNS]
        assert values == pytest.approx(expected, abs=5.1e-5)  # of numbers with four decimals


@pytest.mark.parametrize(("column", "part"), [("ocr", slice(8, 10)), ("page", slice(0, 7))])
def test_the_command_writes_the_published_tables(tmp_path, column, part):
    manifest, schema = tmp_path / "runs.csv", tmp_path / "schema.json"
    schema.write_text(json.dumps(bundled.schema("examples/senat-published.schema.json")), encoding="utf-8")
    with manifest.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "gold", "predicted", column])
        for run in published():
            rows.writerow([run, DATA / "gold" / f"{run[:7]}.json", DATA / "predicted" / f"{run}.json", run[part]])
    scores = [option for name in COLUMNS.values() for option in ("--score", name)]
    tables = [option for name in ("documents.tex", "groups.csv") for option in ("--table", name)]
    sources = ["--schema", schema, "--manifest", manifest, "--cluster-by", column, "--out", tmp_path / "out"]
    result = CliRunner().invoke(app, ["evaluate", *map(str, sources), "--no-report", *tables, *scores])
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "out" / "documents.tex").read_text(encoding="utf-8").splitlines()[5:-2]
    assert lines == [
        " & ".join([run.replace("_", r"\_"), *(row[title] for title in (*COUNTS, *COLUMNS))]) + r" \\"
        for run, row in published().items()
    ]
    with (tmp_path / "out" / "groups.csv").open(encoding="utf-8", newline="") as file:
        groups = {row["group"]: row for row in csv.DictReader(file)}
    assert list(groups) == sorted({run[part] for run in published()})
    for name, found in groups.items():
        runs = [row for run, row in published().items() if run[part] == name]
        expected = {score: fmean(float(row[title]) for row in runs) for title, score in COLUMNS.items()}
        assert {score: float(found[score]) for score in expected} == pytest.approx(expected, abs=5.1e-5)


def test_intervals_by_page_are_wider_than_by_run(runs):
    alone, clustered = (runs.interval("irq", method="percentile", cluster=by) for by in (None, PAGE))
    assert (alone.clusters, clustered.clusters) == (None, 3)
    assert alone.estimate == clustered.estimate
    assert clustered.high - clustered.low > 1.2 * (alone.high - alone.low)
    assert "Fewer than 30 clusters (3): the interval is probably too narrow." in clustered.notes


def test_three_pages_do_not_separate_the_ocr_variants(systems):
    found = rank(systems, "irq")
    means = {
        name: fmean(float(row["Integrated Recall Quality"]) for run, row in published().items() if run[8:10] == kind)
        for kind, name in KINDS.items()
    }
    assert [one.name for one in found.systems] == ["corrected", "zones", "raw"]
    for one in found.systems:
        assert one.score.estimate == pytest.approx(means[one.name], abs=5.1e-5)
    for pair in found.pairs:
        assert pair.difference == pytest.approx(means[pair.a] - means[pair.b], abs=1.1e-4)
        assert pair.low <= pair.difference <= pair.high
    assert found.smallest_p == 0.25  # 2 of the 8 ways to swap
    assert {pair.p for pair in found.pairs} <= {0.25, 0.5, 0.75, 1.0}
    assert found.groups == (("corrected", "zones", "raw"),)
    assert all(one.floor < 0.5 < one.score.estimate for one in found.systems)
    assert not any(pair.significant or pair.low > 0 or pair.high < 0 for pair in found.pairs)


def test_the_best_system_loses_most_on_names(systems):
    best = rank(systems).systems[0]
    assert best.name == "corrected"
    (path, share), *_ = best.lacking.items()
    assert path == "/listes_des_intervenants/*/nom"
    assert share > 0.9
    assert sum(best.lacking.values()) == pytest.approx(1.0)


def test_ocr_as_a_factor_agrees_with_ocr_as_systems(runs, comparator, triples, systems):
    pages = comparator.evaluate((run[:7], gold, predicted) for run, gold, predicted in triples)
    found = factor(pages, "ocr", {"ocr": [KINDS[run[8:10]] for run in runs.document_table.ids]}, "irq")
    ranking = rank(systems, "irq")
    assert found.balanced
    assert found.shared == (3, 3, 3)
    estimates = {name: one.estimate for name, one in found.levels.items()}
    assert estimates == pytest.approx({one.name: one.score.estimate for one in ranking.systems})
    differences = {frozenset((one.a, one.b)): (abs(one.difference), one.p, one.p_holm) for one in found.pairs}
    for pair in ranking.pairs:
        assert differences[frozenset((pair.a, pair.b))] == pytest.approx((abs(pair.difference), pair.p, pair.p_holm))
