"""The published figures of the index of the French Senate of 1931 to their last digit, and its nested pages."""

from __future__ import annotations

import json

import pytest
from tests.oracle.senate import COUNTS, HERE, SCORES, published, read

import arbitre
from arbitre import Comparator, bundled

pytestmark = HERE

COLUMNS = SCORES | COUNTS
TABLES = {"published": "senat-published", "published_name_only": "senat-name-only", "published_iou": "senat-iou"}
RUNS = [f"page_02_{run}" for run in ("01_vt", "02_corpusense_boxes", "03_corpusense_raw")]
RUNS += [f"page_{page}_{run}" for page in ("03", "04") for run in ("01", "02", "03")]


def comparator(name, **options):
    return Comparator(bundled.schema(f"examples/{name}.schema.json"), **options)


def compared(judge, run):
    return judge.compare(gold=read("gold", f"{run[:7]}.json"), predicted=read("predicted", f"{run}.json"))


@pytest.mark.parametrize("table", TABLES)
def test_the_published_tables_have_known_rows_and_columns(table):
    assert list(published(table)) == RUNS
    assert all(list(row) == list(COLUMNS) for row in published(table).values())


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("table", TABLES)
def test_a_published_row_is_reproduced(table, run):
    figures = arbitre.published(compared(comparator(TABLES[table]), run))
    expected = published(table)[run]
    found = {title: figures[name] for title, name in COLUMNS.items()}
    counts = {title: str(int(found[title])) for title in found if title.startswith("Nombre")}
    assert {title: f"{value:.4f}" for title, value in found.items()} | counts == expected


def test_published_figures_differ_from_scores_where_documented():
    comparison = compared(comparator("senat-published"), "page_02_02_corpusense_boxes")
    figures, scores = arbitre.published(comparison), comparison.scores
    assert figures["imq"] == pytest.approx(scores.irq, abs=1e-3)  # divided by gold, on 1000 thresholds
    assert scores.imq == pytest.approx(scores.amq) == pytest.approx(0.9928, abs=5e-5)  # divided by the predictions
    assert figures["wasserstein_1d"] == 1 - scores.amq
    assert figures["concordance"] == 1 - abs(figures["imq"] - figures["irq"])
    assert 0.999 < figures["concordance_expressive"] < 1


def test_the_mean_over_nine_runs_equals_the_published_mean():
    judge = comparator("senat-published")
    pairs = [(run, read("gold", f"{run[:7]}.json"), read("predicted", f"{run}.json")) for run in RUNS]
    evaluation = judge.evaluate(pairs)
    assert (evaluation.micro.gold, evaluation.micro.predicted) == (201, 198)
    assert evaluation.macro.irq == pytest.approx(
        sum(float(row["Integrated Recall Quality"]) for row in published().values()) / 9, abs=5e-5
    )
    assert evaluation.failures == ()


PAGES = "/listes_des_intervenants/*/actions_relatives_a_l_intervenant/*/action/references_page/*"
STRAY = "/listes_des_intervenants/*/actions_relatives_a_l_intervenant/*/references_pages/*"


def overlay():
    return json.loads(bundled.schemas().joinpath("examples", "senat-nested.overlay.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("run", "f1q", "found", "asserted"),
    [
        ("predicted_01_vt", 0.941, 164, 175),
        ("predicted_02_corpusense_boxes", 0.953, 163, 166),
        ("predicted_03_corpusense_raw", 0.796, 48, 171),  # many actions run together into one
    ],
)
def test_an_overlay_reads_fields_under_their_aliases(run, f1q, found, asserted):
    gold, predicted = read("nested", "gold.json"), read("nested", f"{run}.json")
    bridged, plain = (
        judge.compare(gold=gold, predicted=predicted)
        for judge in (comparator("senat-nested", overlay=overlay()), comparator("senat-nested"))
    )
    assert bridged.entries == "/listes_des_intervenants"
    assert bridged.scores.f1q == pytest.approx(f1q, abs=5e-4)
    assert plain.scores.f1q == pytest.approx(0.735, abs=6e-3)

    def counts(comparison, path):
        scores = comparison.by_path().get(path)
        return scores and (scores.gold, scores.predicted, scores.matched)

    assert (counts(bridged, PAGES), counts(bridged, STRAY)) == ((167, asserted, found), None)
    assert (counts(plain, PAGES), counts(plain, STRAY)) == ((167, 0, 0), (0, asserted, 0))


def test_the_nested_page_equals_itself():
    gold = read("nested", "gold.json")
    comparison = comparator("senat-nested").compare(gold=gold, predicted=gold)
    assert comparison.quality == comparison.scores.f1q == comparison.leaves.f1q == 1.0
    assert {row.verdict for row in comparison.explain()} == {"correct"}
