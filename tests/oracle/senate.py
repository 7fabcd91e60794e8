"""The index of the French Senate of 1931: the path of the data, and the names of scores in its published tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"
HERE = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")

SCORES = {
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "Average Matching Quality": "amq",
    "Overall Matching Quality": "omq",
    "Integrated Matching Quality": "imq",
    "Overall Matching Quality (IMQ-based)": "omq_imq",
    "Integrated Recall Quality": "irq",
    "F1Q": "f1q",
    "Distance de Wasserstein 1D": "wasserstein_1d",
}
COUNTS = {
    "Nombre d'entrées vérité terrain": "gold",
    "Nombre d'entrées prédites": "predicted",
    "Nombre d'appariements": "matched",
}


def read(*parts):
    return json.loads(DATA.joinpath(*parts).read_text(encoding="utf-8"))


def published(table="published"):
    """The rows of a published table by the run each is of."""
    with (DATA / f"{table}.tsv").open(encoding="utf-8", newline="") as file:
        return {row.pop("Source"): row for row in csv.DictReader(file, delimiter="\t")}
