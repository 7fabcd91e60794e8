"""Each OCR run of the index of the French Senate compared with the consensus of the two others."""

from __future__ import annotations

import json

import pytest
from tests.oracle.senate import HERE, published, read
from typer.testing import CliRunner

from arbitre import Comparator, agreement, bundled
from arbitre.cli import app

pytestmark = HERE

PAGES = ("page_02", "page_03", "page_04")
RUNS = {"corrected": "01", "zones": "02", "raw": "03"}
EXPECTED = {
    "senat-published": {
        "corrected": (0.9658, 0.9514, 0.9806),
        "zones": (0.9654, 0.9802, 0.9510),
        "raw": (0.9463, 0.9534, 0.9392),
    },
    "senat-name-only": {
        "corrected": (0.9652, 0.9508, 0.9801),
        "zones": (0.9649, 0.9798, 0.9505),
        "raw": (0.9676, 0.9749, 0.9604),
    },
}
"""f1q, imq and irq by schema and run."""
GOLD = {"senat-published": 0.9533, "senat-name-only": 0.9235}
"""Mean f1q of the hand-made gold against the same consensuses."""
AGAINST_GOLD = {"corrected": 0.9580, "zones": 0.9533, "raw": 0.9286}
"""f1q of each run against the hand-made gold, with both fields."""


def annotations():
    return {
        name: {run[:7]: read("predicted", f"{run}.json") for run in published() if run[8:10] == kind}
        for name, kind in RUNS.items()
    }


def gold():
    return {page: read("gold", f"{page}.json") for page in PAGES}


@pytest.mark.parametrize("schema", EXPECTED)
def test_each_run_is_compared_with_the_consensus_of_the_two_others(schema):
    comparator = Comparator(bundled.schema(f"examples/{schema}.schema.json"))
    found = agreement.agreement_with_others(comparator, annotations(), {"gold": gold().items()})
    scores = {name: one.micro for name, one in found.annotators.items()}
    shown = {
        name: tuple(round(getattr(one, score), 4) for score in ("f1q", "imq", "irq")) for name, one in scores.items()
    }
    assert shown == EXPECTED[schema]
    assert round(found.mean(system="gold"), 4) == GOLD[schema]


def test_agreement_with_the_consensus_is_not_performance():
    """The runs share errors: by the consensus, the correct documents look worse than the runs."""
    comparator = Comparator(bundled.schema("examples/senat-published.schema.json"))
    found = agreement.agreement_with_others(comparator, annotations(), {"gold": gold().items()})
    assert found.mean(system="gold") < found.mean()
    correct = gold()
    scores = {
        name: comparator.evaluate([(page, correct[page], documents[page]) for page in PAGES]).micro.f1q
        for name, documents in annotations().items()
    }
    assert {name: round(score, 4) for name, score in scores.items()} == AGAINST_GOLD
    assert max(scores.values()) < found.mean()


def test_the_command_line_gives_the_same_figures(tmp_path):
    sources = []
    for name, documents in annotations().items():
        (tmp_path / name).mkdir()
        for page, document in documents.items():
            (tmp_path / name / f"{page}.json").write_text(json.dumps(document), encoding="utf-8")
        sources.append(f"{name}={tmp_path / name}")
    schema = bundled.schemas() / "examples" / "senat-published.schema.json"
    command = ["leave-one-out", "--schema", str(schema), *sources, "--format", "json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.stderr
    plain = json.loads(result.stdout)["annotators"]
    shown = {name: tuple(round(one[score], 4) for score in ("f1q", "imq", "irq")) for name, one in plain.items()}
    assert shown == EXPECTED["senat-published"]
    assert {name: one["flagged"] for name, one in plain.items()} == {"corrected": 17, "zones": 18, "raw": 14}
