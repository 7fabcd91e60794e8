"""The matchings on small quality matrices, and their catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from arbitre.errors import SchemaError
from arbitre.matching import Candidates, Coupling, catalogue
from arbitre.matching.assignment import greedy, hungarian, keyed, ordered, sequence

CROSSED = np.array([[0.95, 0.69], [0.69, 0.3]])
TIED = np.array([[1.0, 0.5], [0.5, 0.0]])  # one pair of quality 1, or two of 1/2


def pairs(coupling):
    return [*zip(coupling.gold.tolist(), coupling.predicted.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("matcher", "quality", "expected"),
    [
        (hungarian, CROSSED, [(0, 1), (1, 0)]),
        (greedy, CROSSED, [(0, 0), (1, 1)]),
        (ordered, CROSSED, [(0, 0), (1, 1)]),
        (sequence, CROSSED, [(0, 0), (1, 1)]),
        (keyed, CROSSED, [(0, 1), (1, 0)]),
        (sequence, CROSSED[:, ::-1], [(0, 0), (1, 1)]),
        (sequence, np.array([[0.1, 0.9], [0.8, 0.2]]), [(0, 1)]),
        (sequence, np.zeros((2, 3)), [(0, 0), (1, 1)]),  # worth nothing, but most pairs
        (greedy, np.array([[0.5, 0.5], [0.5, 0.5]]), [(0, 0), (1, 1)]),  # the first of equals
        (hungarian, np.ones((1, 3)), [(0, 0)]),
        (ordered, np.zeros((3, 2)), [(0, 0), (1, 1)]),
    ],
)
def test_each_matcher_makes_its_known_pairs(matcher, quality, expected):
    assert pairs(matcher(quality)) == expected


@pytest.mark.parametrize(
    ("matcher", "gate", "expected"),
    [
        (hungarian, 0.0, [(0, 1), (1, 0)]),
        (hungarian, 0.69, [(0, 1), (1, 0)]),  # a gate lets through what is at it
        (hungarian, 0.7, [(0, 0)]),
        (hungarian, 0.95, [(0, 0)]),
        (hungarian, 0.96, []),
        (greedy, 0.3, [(0, 0), (1, 1)]),
        (greedy, 0.31, [(0, 0)]),
        (greedy, 1.0, []),
    ],
)
def test_pairs_below_the_gate_are_not_made(matcher, gate, expected):
    assert pairs(matcher(CROSSED, gate=gate)) == expected


def test_among_equal_sums_the_matching_with_most_pairs_wins():
    assert pairs(hungarian(TIED, gate=0.4)) == [(0, 1), (1, 0)]
    assert pairs(hungarian(TIED, np.array([[True, True], [True, False]]))) == [(0, 1), (1, 0)]
    assert pairs(sequence(np.array([[0.0, 1.0], [0.0, 0.0]]))) == [(0, 1)]


ALLOWED = np.array([[False, True], [True, True]])


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        (hungarian, [(0, 1), (1, 0)]),
        (greedy, [(0, 1), (1, 0)]),
        (keyed, [(0, 1), (1, 0)]),
        (ordered, [(1, 1)]),
        (sequence, [(0, 1)]),
    ],
)
def test_forbidden_pairs_are_never_made(matcher, expected):
    assert pairs(matcher(CROSSED, ALLOWED)) == expected
    assert pairs(matcher(CROSSED, np.zeros((2, 2), dtype=bool))) == []


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("matcher", [hungarian, greedy, ordered, sequence, keyed])
def test_an_empty_side_leaves_the_other_unmatched(matcher, shape):
    coupling = matcher(np.zeros(shape))
    assert (pairs(coupling), coupling.missing.tolist(), coupling.spurious.tolist()) == (
        [],
        [*range(shape[0])],
        [*range(shape[1])],
    )


@pytest.mark.parametrize("matcher", [hungarian, greedy, ordered, sequence, keyed])
def test_the_matrix_is_not_changed(matcher):
    quality, allowed = CROSSED.copy(), ALLOWED.copy()
    matcher(quality, allowed)
    assert (quality == CROSSED).all()
    assert (allowed == ALLOWED).all()


def test_a_coupling_is_in_gold_order_and_lists_unmatched_items():
    coupling = Coupling.of([2, 0], [1, 3], (4, 5))
    assert pairs(coupling) == [(0, 3), (2, 1)]
    assert (coupling.missing.tolist(), coupling.spurious.tolist()) == ([1, 3], [0, 2, 4])


@pytest.mark.parametrize(
    ("choice", "candidates", "metric", "forced"),
    [
        ("hungarian", Candidates.ALL, True, True),
        ({"hungarian": {"gate": 0.5}}, Candidates.ALL, False, False),
        ("greedy", Candidates.ALL, False, False),
        ({"greedy": {"gate": 0.5}}, Candidates.ALL, False, False),
        ("ordered", Candidates.DIAGONAL, True, False),
        ("sequence", Candidates.ALL, False, False),
        ({"keyed": {"key": "id"}}, Candidates.SAME_KEY, True, False),
        ("set", Candidates.SAME_VALUE, True, False),
    ],
)
def test_matchers_declare_their_properties(choice, candidates, metric, forced):
    matcher = catalogue.build(choice)
    assert (matcher.candidates, matcher.metric, matcher.full_matching) == (candidates, metric, forced)
    assert matcher.name in str(choice)


def test_every_matching_of_the_catalogue_is_tested_here():
    assert catalogue.names == ("greedy", "hungarian", "keyed", "ordered", "sequence", "set", "transport")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("id", (("id",),)),
        ("/id", (("id",),)),
        ("a/b", (("a/b",),)),
        ("/a~1b", (("a/b",),)),
        (["a", "/b/c"], (("a",), ("b", "c"))),
    ],
)
def test_a_key_is_a_pointer_below_the_item(key, expected):
    assert catalogue.build({"keyed": {"key": key}}).key == expected


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("hungarain", 'Did you mean "hungarian"'),
        ({"hungarian": {"gate": 1.5}}, "Expected `gate` to be at most 1, got 1.5"),
        ({"hungarian": {"gate": "high"}}, "Expected `gate` to be of type number"),
        ({"hungarian": {"gaet": 0.5}}, 'Did you mean "gate"'),
        ({"ordered": {"gate": 0.5}}, 'got "gate"'),
        ("keyed", "`key`"),
        ({"keyed": {"key": []}}, "`key`"),
    ],
)
def test_an_invalid_choice_is_refused(choice, message):
    with pytest.raises(SchemaError, match=message):
        catalogue.build(choice)
