"""Transport on pages of the French Senate: a speaker listed twice in gold and once in the prediction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from arbitre import Comparator, bundled

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not here")

SPEAKERS = "/listes_des_intervenants"
TWICE, ONCE = (2, 3), 2
"""The entries of the speaker who is listed twice in gold, and the one entry of the prediction."""

SOLVERS = ("exact", "sinkhorn", "partial", "unbalanced", "dummy")


def read(*parts):
    return json.loads(DATA.joinpath(*parts).read_text(encoding="utf-8"))


def flat():
    run = "page_02_02_corpusense_boxes.json"
    return read("senat-1931", "gold", "page_02.json"), read("senat-1931", "predicted", run)


def nested(run="predicted_02_corpusense_boxes"):
    return read("senat-1931", "nested", "gold.json"), read("senat-1931", "nested", f"{run}.json")


def overlay():
    return json.loads(bundled.schemas().joinpath("examples", "senat-nested.overlay.json").read_text(encoding="utf-8"))


def plan(name, documents, match):
    """The plan between the speakers, matched so; all below is matched as the schema says."""
    laid = (overlay() if name == "senat-nested" else {}) | {SPEAKERS: {"match": match}}
    judge = Comparator(bundled.schema(f"examples/{name}.schema.json"), overlay=laid)
    return judge.compare(gold=documents[0], predicted=documents[1]).alignment(SPEAKERS)


def names(documents, field):
    return [[entry[field] for entry in document[SPEAKERS[1:]]] for document in documents]


def test_one_speaker_is_listed_twice_in_gold():
    for documents, field, name in ((flat(), "nom", "Barthou (Louis)"), (nested(), "nom_de_famille", "Barthou")):
        gold, predicted = names(documents, field)
        assert tuple(at for at, found in enumerate(gold) if found == name) == TWICE
        assert [at for at, found in enumerate(predicted) if found == name] == [ONCE]


@pytest.mark.parametrize("name", ["senat-published", "senat-nested"])
def test_hungarian_leaves_the_second_entry_unmatched(name):
    alignment = plan(name, flat() if name == "senat-published" else nested(), "hungarian")
    assert TWICE[0] in alignment.missing
    assert np.flatnonzero(alignment.plan[:, ONCE]).tolist() == [TWICE[1]]


def test_size_masses_couple_both_entries_with_the_merged_one():
    alignment = plan("senat-nested", nested(), {"transport": {"masses": "size"}})
    fed = alignment.plan[:, ONCE]
    assert np.flatnonzero(fed).tolist() == [*TWICE]
    assert fed[[*TWICE]] == pytest.approx([0.1540, 0.7833], abs=5e-5)
    gold, predicted = alignment.coupling.masses
    assert fed.sum() == pytest.approx(predicted[ONCE])  # nothing else goes into it
    assert fed[TWICE[1]] == pytest.approx(gold[TWICE[1]])  # all of the larger entry goes there
    assert alignment.coupling.partners[1][ONCE] == pytest.approx(1.563, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "match", "masses"),
    [
        ("senat-published", {"solver": "unbalanced"}, (0.2922, 0.7078)),
        ("senat-nested", {"solver": "unbalanced"}, (0.4382, 0.5618)),
        ("senat-nested", {"solver": "unbalanced", "masses": "size"}, (0.1970, 0.6943)),
    ],
)
def test_unbalanced_transport_couples_only_the_two_entries(name, match, masses):
    alignment = plan(name, flat() if name == "senat-published" else nested(), {"transport": match})
    fed = alignment.plan
    assert np.flatnonzero(fed[:, ONCE]).tolist() == [*TWICE]
    assert fed[[*TWICE], ONCE] == pytest.approx(masses, abs=5e-3)  # to the square root of what the solver proves
    for entry in TWICE:
        assert np.flatnonzero(fed[entry]).tolist() == [ONCE]
        assert alignment.coupling.unmatched_gold[entry] == pytest.approx(
            alignment.coupling.masses[0][entry] - fed[entry, ONCE], abs=1e-12
        )


def corpora():
    for run in ("predicted_01_vt", "predicted_02_corpusense_boxes", "predicted_03_corpusense_raw"):
        yield bundled.schema("examples/senat-nested.schema.json"), *nested(run)
    for name in ("swimming", "credit_agreement"):
        files = sorted(DATA.joinpath("extract-bench", name, "gold").glob("*.json"))
        for file, other in zip(files, files[1:] + files[:1], strict=True):
            yield read("extract-bench", name, "schema.json"), read(file), read(other)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_document_of_every_corpus_has_a_transport_plan(solver):
    found = []
    for schema, gold, predicted in corpora():
        judge = Comparator(schema, match={"transport": {"solver": solver}})
        found.append(judge.compare(gold=gold, predicted=predicted).quality)
        if solver not in {"sinkhorn", "unbalanced"}:
            assert judge.compare(gold=gold, predicted=gold).quality == pytest.approx(1.0)
    assert len(found) == 3 + 5 + 10
    assert all(0.0 < quality < 1.0 for quality in found)
