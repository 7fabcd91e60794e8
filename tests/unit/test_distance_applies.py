"""A distance that cannot apply to the values left by the normalisers is refused."""

from __future__ import annotations

import pytest

from arbitre import Comparator
from arbitre.errors import SchemaError


def said(schema, **settings):
    return schema | {"x-arbitre": settings}


STRING, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}
TOLERANCE = {"tolerance": {"within": 1}}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            said(STRING, normalize=["numbers"], distance="jaccard"),
            "`distance` jaccard cannot compare the lists that normalisers return for single values",
        ),
        (
            said(STRING, normalize=["numbers"], distance="levenshtein"),
            "Expected a `distance` for lists, got levenshtein, which compares strings",
        ),
        (
            said(NUMBER, normalize=["text"], distance={"absolute": {"scale": 1}}),
            "Expected a `distance` for strings, got absolute, which compares numbers",
        ),
        (
            said({"enum": ["a", "b"]}, normalize=["number"], distance=TOLERANCE),
            "Expected a `distance` for strings, got tolerance, which compares numbers",
        ),
        (
            {"anyOf": [said(NUMBER, normalize=["text"], distance=TOLERANCE), STRING]},
            "Expected a `distance` for strings, got tolerance, which compares numbers",
        ),
        (
            said({"type": "array"}, normalize=["concat"], distance="jaccard"),
            "Expected a `distance` for strings, got jaccard, which compares lists",
        ),
        (
            said({"type": ["array", "number"]}, normalize=["numbers"], distance=TOLERANCE),
            "Expected a `distance` for lists, got tolerance, which compares numbers",
        ),
    ],
)
def test_a_distance_that_cannot_apply_is_refused(schema, message):
    for nested in (schema, {"type": "object", "properties": {"a": schema}}):
        with pytest.raises(SchemaError) as raised:
            Comparator(nested)
        (problem,) = raised.value.problems
        assert problem.message == message
        assert problem.hint
        assert problem.pointer.endswith("/x-arbitre/distance")


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "quality"),
    [
        (said({"type": ["string", "array"]}, normalize=["numbers"], distance="jaccard"), "p. 1, 2", "pp. 2-3", 1 / 3),
        (said({"type": "array"}, normalize=["concat"], distance="levenshtein"), ["a", "b"], ["ac"], 0.5),
        (said({"enum": ["1", "2", "b"]}, normalize=["number"], distance=TOLERANCE), "1", "2", 1.0),
        (said(STRING, normalize=["number"], distance=TOLERANCE), "1", "2", 1.0),
        (said(INTEGER, normalize=["text"], distance="levenshtein"), 12, 13, 0.5),
        ({"anyOf": [said(STRING, normalize=["number"], distance="levenshtein"), NUMBER]}, "ab", "ac", 0.5),
        (said({}, normalize=["numbers"], distance="jaccard"), "1 and 2", [2], 0.5),
    ],
)
def test_a_distance_that_applies_after_normalisation_is_used(schema, gold, predicted, quality):
    assert Comparator(schema).compare(gold=gold, predicted=predicted).quality == pytest.approx(quality)


SEASONS = {"taxonomy": {"parents": {"Été": "Saison", "Hiver": "Saison"}}}
COLOURS = {"table": {"values": ["Red", "Pink"], "costs": [[0, 0.2], [0.2, 0]]}}


@pytest.mark.parametrize(
    ("normalize", "distance", "gold", "predicted", "quality"),
    [
        (["casefold"], {"ordinal": {"order": ["Low", "Medium", "High"]}}, "Low", "MEDIUM", 0.5),
        (["decimal"], {"ordinal": {"order": ["1", "2", "3"]}}, "1", "2.0", 0.5),
        (["casefold"], COLOURS, "red", "Pink", 0.8),
        (["casefold"], SEASONS, "Été", "saison", 0.5),
        (["unaccent"], SEASONS, "Ete", "Saison", 0.5),
    ],
)
def test_values_in_options_are_normalised_like_the_values_of_documents(normalize, distance, gold, predicted, quality):
    comparator = Comparator(said(STRING, normalize=normalize, distance=distance))
    assert comparator.compare(gold=gold, predicted=predicted).quality == quality


@pytest.mark.parametrize(
    ("normalize", "distance", "message"),
    [
        (["casefold"], {"ordinal": {"order": ["Low", "low"]}}, 'a list without duplicates, got ["low", "low"]'),
        (["lower"], {"table": {"values": ["A", "a"], "costs": [[0, 1], [1, 0]]}}, "a list without duplicates"),
        (["casefold"], {"taxonomy": {"parents": {"A": "b", "a": "b"}}}, 'to be different, got ["a", "a"]'),
        (["roman"], {"taxonomy": {"parents": {"XI": "a", "b": "a"}}}, 'to be texts, got [11, "b"]'),
        (["roman"], {"taxonomy": {"parents": {"a": "XI", "b": "XI"}}}, "to be of type string, got 11"),
        (["numbers"], {"ordinal": {"order": ["1", "2"]}}, "to be of type string or number or boolean or null"),
    ],
)
def test_options_are_refused_if_their_values_are_invalid_after_normalisation(normalize, distance, message):
    with pytest.raises(SchemaError) as caught:
        Comparator(said(STRING, normalize=normalize, distance=distance))
    assert message in str(caught.value)
    assert "as the normalisers of this field return them" in str(caught.value)
