"""Laws of references: what they are called and where they stand does not matter, and the best correspondence is found."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from tests.planted_references import SCHEMA, SHAPES, damaged, graph, planted, relabelled, symmetric

from arbitre import Comparator

pytestmark = pytest.mark.slow

COMPARATOR = Comparator(SCHEMA)
SEEDS = range(12)


def quality(gold, predicted):
    return COMPARATOR.compare(gold=gold, predicted=predicted).quality


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_relabelled_symmetric_graphs_are_equal(shape, seed):
    gold = symmetric(shape)
    assert quality(gold, relabelled(gold, np.random.default_rng(seed))[0]) == 1.0


def test_a_cycle_differs_from_two_triangles():
    """In the best correspondence, two persons know the right others, and four know one of two."""
    found = COMPARATOR.compare(gold=symmetric("cycle", 6), predicted=symmetric("triangles", 6))
    assert found.quality == pytest.approx((1 + (2 * 1 + 4 / 2) / 6) / 2)
    assert found.references["person"].bound == 1.0
    assert not found.references["person"].proven


@pytest.mark.parametrize("kinds", [{}, {"twins": 0.5}, {"anonymous": 1.0}, {"anonymous": 0.5, "twins": 0.5}])
@pytest.mark.parametrize("seed", SEEDS)
def test_relabelled_graphs_are_equal(seed, kinds):
    rng = np.random.default_rng(seed)
    gold = graph(10, rng, **kinds)
    assert quality(gold, relabelled(gold, rng)[0]) == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_other_ids_and_another_order_change_no_score(seed):
    rng = np.random.default_rng(seed)
    pair = planted(seed, 9, attributes=0.3, references=0.2, twins=0.3, anonymous=0.2)
    expected = quality(pair.gold, pair.predicted)
    for _ in range(3):
        sides = relabelled(pair.gold, rng)[0], relabelled(pair.predicted, rng)[0]
        assert quality(*sides) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_quality_is_symmetric(seed):
    pair = planted(seed, 8, attributes=0.3, references=0.3)
    assert quality(pair.gold, pair.predicted) == pytest.approx(quality(pair.predicted, pair.gold), abs=1e-12)


KEYED = {
    "type": "object",
    "properties": {
        "people": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "role": {"type": "string"},
                    "born": {"type": "integer"},
                    "knows": {"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "exact"}}},
                },
            },
        },
        "relations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "from": {"type": "string", "x-arbitre": {"distance": "exact"}},
                    "to": {"type": "string", "x-arbitre": {"distance": "exact"}},
                    "type": {"type": "string"},
                },
            },
        },
    },
}
"""The same documents without references: persons by name, which are compared if the names are equal."""


def named(document, names):
    """A document with the persons in an object, by new names."""
    return {
        "people": {
            names[one["id"]]: {key: value for key, value in one.items() if key != "id"}
            | {"knows": [names[other] for other in one["knows"]]}
            for one in document["people"]
        },
        "relations": [one | {end: names[one[end]] for end in ("from", "to")} for one in document["relations"]],
    }


def best_by_enumeration(gold, predicted):
    """The greatest quality over all correspondences of the persons."""
    ids = [[person["id"] for person in side["people"]] for side in (gold, predicted)]
    size = max(map(len, ids))
    spare = [f"only gold {at}" for at in range(size)]
    names = dict(zip(ids[0], (f"n{at}" for at in range(size)), strict=False))
    whole = named(gold, names)
    targets = [*names.values(), *spare[: size - len(names)]]
    every = (named(predicted, dict(zip(ids[1], chosen, strict=False))) for chosen in permutations(targets))
    evaluation = Comparator(KEYED).evaluate((f"{at}", whole, one) for at, one in enumerate(every))
    return max(document.quality for document in evaluation.documents)


@pytest.mark.parametrize("count", [3, 4, 6])
@pytest.mark.parametrize("seed", range(6))
def test_no_other_correspondence_has_a_greater_quality(seed, count):
    """Six persons have 720 correspondences, of which only some are compared by `Comparator`."""
    pair = planted(seed, count, attributes=0.4, references=0.3, twins=0.3, anonymous=0.3)
    found = COMPARATOR.compare(gold=pair.gold, predicted=pair.predicted)
    assert found.quality == pytest.approx(best_by_enumeration(pair.gold, pair.predicted), abs=1e-12)
    assert found.references["person"].bound >= found.quality
    assert found.references["person"].proven or count == 6


def test_the_distance_of_small_graphs_satisfies_the_triangle_inequality():
    """The distance is the least over all correspondences of a metric that these do not change."""
    rng = np.random.default_rng(5)
    graphs = [graph(int(rng.integers(2, 5)), rng, degree=2.0, anonymous=0.6) for _ in range(9)]
    graphs += [damaged(one, rng, attributes=0.3, references=0.3) for one in graphs[:5]]
    evaluation = COMPARATOR.evaluate((f"{at}", *pair) for at, pair in enumerate(product(graphs, graphs)))
    distances = np.array([1.0 - document.quality for document in evaluation.documents]).reshape(2 * [len(graphs)])
    assert (distances.diagonal() == 0.0).all()
    assert distances == pytest.approx(distances.T, abs=1e-12)
    assert (distances[:, None, :] <= distances[:, :, None] + distances[None, :, :] + 1e-12).all()


@pytest.mark.parametrize("seed", range(8))
def test_the_result_does_not_depend_on_other_documents(seed):
    pairs = [planted(10 * seed + at, 7, attributes=0.3, references=0.2, anonymous=0.3) for at in range(4)]
    together = COMPARATOR.evaluate([(f"{at}", one.gold, one.predicted) for at, one in enumerate(pairs)])
    for at, one in enumerate(pairs):
        alone = COMPARATOR.compare(gold=one.gold, predicted=one.predicted)
        assert together.documents[at].scores.f1q == alone.scores.f1q


@pytest.mark.parametrize(
    "noise",
    [
        {"references": 0.1},
        {"attributes": 0.4, "references": 0.1},
        {"anonymous": 1.0},
        {"missing": 0.2, "attributes": 0.2, "references": 0.1},
        {"missing": 0.1, "anonymous": 0.3},
    ],
)
def test_the_planted_correspondence_is_recovered(noise):
    right = total = 0
    for seed in range(10):
        pair = planted(seed, 20, **noise)
        found = dict(COMPARATOR.compare(gold=pair.gold, predicted=pair.predicted).references["person"].pairs)
        right += sum(found.get(old) == new for old, new in pair.truth.items())
        total += len(pair.truth)
    assert right >= 0.95 * total
