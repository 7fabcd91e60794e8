"""CEAF-e, a score of coreference, computed as the scores of a list of mention lists with the distance `dice`."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre import Comparator

CLUSTERS = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "x-arbitre": {"distance": "dice"}},
}


def phi4(entity, other):
    """The similarity of two entities (Luo, 2005): twice the common mentions over all mentions."""
    return 2 * len(set(entity) & set(other)) / (len(set(entity)) + len(set(other)))


def ceaf_e(gold, predicted):
    """Precision, recall and F of CEAF-e: the similarity of the best one-to-one alignment, found by trying all."""
    short, long = sorted((gold, predicted), key=len)
    best = max((sum(map(phi4, short, chosen)) for chosen in permutations(long, len(short))), default=0.0)
    return best / len(predicted), best / len(gold), 2 * best / (len(gold) + len(predicted))


@st.composite
def partitions(draw):
    """Some mentions in disjoint, nonempty clusters."""
    mentions = draw(st.sets(st.sampled_from("abcdefgh"), min_size=1))
    owners = {mention: draw(st.integers(0, 3)) for mention in sorted(mentions)}
    return [[m for m in owners if owners[m] == owner] for owner in sorted(set(owners.values()))]


@given(partitions(), partitions())
def test_dice_on_mention_lists_gives_ceaf_e(gold, predicted):
    scores = Comparator(CLUSTERS).compare(gold=gold, predicted=predicted).scores
    assert (scores.imq, scores.irq, scores.f1q) == pytest.approx(ceaf_e(gold, predicted), abs=1e-9)


def test_the_example_of_luo_is_reproduced():
    gold = [list("12345"), list("67"), list("89ABC")]
    predicted = [list("12345"), list("6789ABC")]
    scores = Comparator(CLUSTERS).compare(gold=gold, predicted=predicted).scores
    best = 1 + 2 * 5 / 12
    assert (scores.imq, scores.irq) == pytest.approx((best / 2, best / 3))
