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
