"""The generator of causes changes what it says and nothing else, and the diagnosis finds what it plants."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from tests.bench.cause_corpora import REAL, WRITTEN, leaves, noise_corpus, places, pool, seeded, words
from tests.bench.cause_planters import KINDS, MIXED, PLANTERS, mixtures, plant
from tests.bench.planted_causes import CLOSE, Outcome, is_same, measure, noise, summary

CORPORA = [make(seeded("test", make.__name__)) for make in WRITTEN]
PINNED = set(
    words(
        "case accents unicode spaces punctuation encoding markup amount number-format date-format day-month-swapped date-offset affix name-order abbreviation singular-plural "
        "absent-value default-value value-mapping key-spelling renamed-key wrapped-root unwrapped-root promoted demoted list-or-value "
        "serialised-list other-field columns-swapped column-shifted ditto ids-offset page-shifted duplicated truncated moved-object "
        "moved-value split merged near part-of unrelated omission hallucination"
    )
)


def below(path, paths):
    return any(path == other or path.startswith(f"{other}/") for other in paths)


def differing(before, after):
    """The wildcard paths whose values differ, or are in another order."""
    if json.dumps(before) == json.dumps(after):
        return set()
    before, after = pool([before]), pool([after])
    return {path for path in before.keys() | after.keys() if json.dumps(before[path]) != json.dumps(after[path])}


def test_every_kind_has_a_planter():
    assert set(KINDS) >= PINNED


@pytest.mark.parametrize("kind", KINDS)
def test_a_planter_changes_only_the_paths_that_it_names(kind):
    found = [(corpus, planted) for corpus in CORPORA if (planted := plant(kind, corpus, 1)) is not None]
    assert len(found) >= 2
    for corpus, planted in found:
        (planting,), ((gold, without),) = planted.plantings, planted.without
        assert gold == list(corpus.gold)
        in_gold = planting.side == "gold"
        pairs = zip(*((gold, planted.gold) if in_gold else (without, planted.predicted)), strict=True)
        changed = {path for before, after in pairs for path in differing(before, after)}
        assert changed
        assert all(below(path, planting.paths) for path in changed)
        if in_gold:
            assert planted.predicted == without
        else:
            assert planted.gold == list(corpus.gold)
        assert planting.count >= 1


def test_an_attempt_that_changes_too_little_is_undone(monkeypatch):
    def attempts(_rng, _corpus, predicted, _taken):
        for key, count in (("kind", 3), ("place", 20)):
            predicted[0]["letters"][0][key] = "changed"
            yield key, (f"/letters/*/{key}",), count

    monkeypatch.setitem(PLANTERS, "case", [attempts])
    planted = plant("case", CORPORA[1], 1)
    assert [planting.variant for planting in planted.plantings] == ["place"]
    ((_, without),) = planted.without
    assert differing(without[0], planted.predicted[0]) == {"/letters/*/place"}


@pytest.mark.parametrize("kind", ["case", "column-shifted", "renamed-key", "duplicated"])
def test_the_same_seed_gives_the_same_corpus(kind):
    make = WRITTEN[1]
    first, second, other = (plant(kind, make(seeded("same", seed)), seed) for seed in (4, 4, 5))
    assert (first.gold, first.predicted, first.plantings) == (second.gold, second.predicted, second.plantings)
    assert first.predicted != other.predicted


def test_mixtures_have_two_to_four_causes_at_different_paths():
    for planted in mixtures(4, seed=2):
        kinds = [planting.kind for planting in planted.plantings]
        assert 2 <= len(kinds) <= 4
        assert kinds == sorted(kinds, key=MIXED.index)
        paths = [path for planting in planted.plantings for path in planting.paths]
        assert len(paths) == len(set(paths))
        assert all(predicted != planted.predicted for _, predicted in planted.without)


def test_noise_does_not_depend_on_the_gold_value():
    schema, gold, predicted, settings = noise_corpus(seeded("noise corpus", 3))
    assert noise_corpus(seeded("noise corpus", 3)) == (schema, gold, predicted, settings)
    assert len(gold) == len(predicted) == settings["documents"]
    known = set(schema["properties"]["entries"]["items"]["properties"])
    assert {key for document in predicted for entry in document["entries"] for key in entry} <= known


@pytest.mark.parametrize("make", [*WRITTEN, *REAL])
def test_every_path_of_a_corpus_has_values(make):
    try:
        corpus = make(seeded("paths", make.__name__))
    except (FileNotFoundError, IndexError):
        pytest.skip("the shared data are not here")
    assert len(corpus.gold) == 30
    paths = {path for document in corpus.gold for path, _ in leaves(document)}
    assert set(corpus.roles) | set(corpus.empty) <= paths | {path.removesuffix("/*") for path in paths}
    assert len({json.dumps(document) for document in corpus.gold}) == 30


def test_planters_say_how_many_places_they_change():
    corpus = CORPORA[2]
    planted = plant("amount", corpus, 7)
    (planting,) = planted.plantings
    texts = [
        row[key]
        for document in planted.predicted
        for row, key in places(document, planting.paths[0])
        if isinstance(row[key], str)
    ]
    assert len(texts) == planting.count
    assert len(PLANTERS["promoted"]) == 3


def cause(kind, *paths, systematic=True, side="prediction"):
    return SimpleNamespace(kind=kind, paths=paths, systematic=systematic, side=side)


def test_a_reported_cause_is_the_planted_one_by_kind_and_path():
    planted = plant("number-format", CORPORA[1], 1).plantings[0]
    planted.paths = ("/letters/*/number",)
    assert is_same(planted, cause("number-format", "/letters/*/number"))
    assert is_same(planted, cause("amount", "/letters/*/place", "/letters/*/number"))
    assert not is_same(planted, cause("number-format", "/letters/*/postage"))
    assert not is_same(planted, cause("number-format", "/letters"))
    assert not is_same(planted, cause("case", "/letters/*/number"))
    assert not is_same(planted, cause("number-format", "/letters/*/number", systematic=False))


def test_the_summary_counts_found_and_false_causes():
    right, wrong = cause("case", "/a"), cause("spaces", "/b")
    outcome = Outcome(
        "letters", 0.8, [object()], [0.5], [right, wrong], [wrong], [("case", 0.1, 0.105), ("spaces", 0.1, 0.2)]
    )
    rows = summary([("case", outcome)])
    assert rows["case"] == {
        "planted": 1,
        "found": 1,
        "covered": 0.5,
        "beside": 2,
        "beside false": 1,
        "reported": 1,
        "gains": 1,
        "realised": 1,
    }
    assert rows["spaces"] == {"reported": 1, "false": 1, "gains": 1, "realised": 0}


@pytest.mark.parametrize("kind", ["case", "renamed-key", "columns-swapped", "truncated"])
def test_a_planted_cause_is_found_alone_and_its_gain_is_realised(kind):
    outcome = measure(plant(kind, CORPORA[1], 1))
    assert outcome.covered[0] >= 0.75
    assert outcome.false == []
    assert outcome.gains
    assert all(abs(predicted - realised) <= CLOSE for _, predicted, realised in outcome.gains)


def test_noise_has_no_causes():
    assert [causes for _, causes in noise(3)] == [[], [], []]
