"""Coreference scores, against the figures that come with the reference scorers and against the definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.comparison.coreference import CoreferenceCounts
from arbitre.errors import DataError

THREE = ["a", "bc", "def"]
ONE, SIX = ["abcdef"], list("abcdef")

PUBLISHED = [
    # CoNLL reference scorers 8.01, test/TestCases.README and CorefMetricTestConfig.pm; LEA: CoVal, unittests.py.
    (THREE, THREE, {"muc": (1, 1), "b_cubed": (1, 1), "ceaf_e": (1, 1), "blanc": (1, 1), "lea": (1, 1)}),
    (
        THREE,
        ["a", "de"],
        {
            "muc": (1 / 3, 1),
            "b_cubed": (7 / 18, 1),
            "ceaf_e": (0.6, 0.9),
            "blanc": (0.21591, 1),
            "lea": (2 / 6, 1),
        },
    ),
    (
        THREE,
        ["a", "bcx", "defy", "z"],
        {
            "muc": (1, 0.6),
            "b_cubed": (1, (4 + 7 / 12) / 9),
            "ceaf_e": (0.88571, 0.66429),
            "blanc": (1, 0.42593),
            "lea": (1, 4 / 9),
        },
    ),
    (
        THREE,
        ["a", "bcx", "dy", "z"],
        {
            "muc": (1 / 3, 1 / 3),
            "b_cubed": (5 / 9, 17 / 42),
            "ceaf_e": (0.73333, 0.55),
            "blanc": (0.35227, 0.27206),
            "lea": (0.5, 2 / 7),
        },
    ),
    (THREE, SIX, {"muc": (0, 0), "b_cubed": (0.5, 1), "blanc": (0.5, 0.36667), "lea": (1 / 6, 1 / 6)}),
    (THREE, ONE, {"muc": (1, 0.6), "b_cubed": (1, 14 / 36), "blanc": (0.5, 0.13333), "lea": (5 / 6, 4 / 15)}),
    (ONE, ONE, {"muc": (1, 1), "b_cubed": (1, 1), "ceaf_e": (1, 1), "blanc": (1, 1), "lea": (1, 1)}),
    (ONE, SIX, {"muc": (0, 0), "blanc": (0, 0), "lea": (0, 0)}),
    (ONE, ["ab", "cde", "f"], {"blanc": (0.26667, 1), "lea": (4 / 15, 5 / 6)}),
    (ONE, ["abcxyz"], {"blanc": (0.2, 0.2), "lea": (0.2, 0.2)}),
    (ONE, ["ab", "cxy", "z"], {"blanc": (0.06667, 0.25), "lea": (1 / 15, 2 / 6)}),
    (SIX, SIX, {"muc": (0, 0), "blanc": (1, 1), "lea": (1, 1)}),
    (SIX, ONE, {"muc": (0, 0), "blanc": (0, 0), "lea": (0, 0)}),
    (SIX, ["ab", "cde", "f"], {"blanc": (0.73333, 1), "lea": (1 / 6, 1 / 6)}),
    (SIX, list("abcxyz"), {"muc": (0, 0), "blanc": (0.2, 0.2), "lea": (0.5, 0.5)}),
    (SIX, ["abcxyz"], {"blanc": (0, 0), "lea": (0, 0)}),
    (SIX, ["ab", "cxy", "z"], {"blanc": (0.13333, 0.18182), "lea": (0, 0)}),
]


@pytest.mark.parametrize(("gold", "predicted", "expected"), PUBLISHED)
def test_the_published_figures_are_reproduced(gold, predicted, expected):
    found = CoreferenceCounts.of(gold, predicted).scores._asdict()
    assert {name: found[name][:2] for name in expected} == {
        name: pytest.approx(values, abs=1e-4) for name, values in expected.items()
    }


def partitions():
    """Partitions of some of eight mentions, some of them only on one side."""
    return st.lists(st.integers(0, 3), min_size=8, max_size=8).map(
        lambda owners: [
            {mention for mention, own in enumerate(owners) if own == number} for number in sorted({*owners} - {3})
        ]
    )


def ratio(part, whole):
    return Fraction(part) / whole if whole else Fraction(0)


def links(entity):
    """The links of an entity; an entity with one mention has one to itself."""
    (first, *_) = entity
    return {(first, first)} if len(entity) == 1 else set(combinations(sorted(entity), 2))


def textbook(gold, predicted, reference):
    """Recall of each score, from its definition; `reference` is the side that decides which pairs BLANC counts."""
    mentions = {mention for entity in gold for mention in entity}
    of = {mention: entity for entity in predicted for mention in entity}

    def pieces(entity):
        together = {frozenset(of[mention] & entity) for mention in entity if mention in of}
        return len(together) + sum(mention not in of for mention in entity)

    def similarity(pairs):
        return sum((ratio(2 * len(one & other), len(one) + len(other)) for one, other in pairs), Fraction(0))

    few, many = sorted((gold, predicted), key=len)
    best = max(similarity(zip(few, chosen, strict=True)) for chosen in permutations(many, len(few)))
    kinds = [[], []]
    for side in (gold, predicted, reference):
        every = set(combinations(sorted(mention for entity in side for mention in entity), 2))
        kinds[0].append({pair for entity in side for pair in combinations(sorted(entity), 2)})
        kinds[1].append(every - kinds[0][-1])
    kinds = [kind for kind in kinds if kind[2]]
    resolved = (
        len(entity) * ratio(sum(len(links(entity) & links(other)) for other in predicted), len(links(entity)))
        for entity in gold
    )
    return {
        "muc": ratio(sum(len(e) - pieces(e) for e in gold), sum(len(e) - 1 for e in gold)),
        "b_cubed": ratio(
            sum((ratio(len(e & of.get(m, set())), len(e)) for e in gold for m in e), Fraction(0)), len(mentions)
        ),
        "ceaf_e": ratio(best, len(gold)),
        "blanc": ratio(sum(ratio(len(kind[0] & kind[1]), len(kind[0])) for kind in kinds), len(kinds))
        if kinds
        else ratio(int(bool(mentions & of.keys())), len(mentions)),
        "lea": ratio(sum(resolved, Fraction(0)), len(mentions)),
    }


@given(partitions(), partitions())
def test_all_scores_agree_with_their_definitions(gold, predicted):
    scores = CoreferenceCounts.of(gold, predicted).scores
    assert {name: one.recall for name, one in scores._asdict().items()} == {
        name: pytest.approx(float(value), abs=1e-12) for name, value in textbook(gold, predicted, gold).items()
    }
    assert {name: one.precision for name, one in scores._asdict().items()} == {
        name: pytest.approx(float(value), abs=1e-12) for name, value in textbook(predicted, gold, gold).items()
    }
    assert scores.conll == pytest.approx((scores.muc.f1 + scores.b_cubed.f1 + scores.ceaf_e.f1) / 3)


@given(partitions(), partitions(), st.permutations(range(8)))
def test_names_of_mentions_and_the_order_of_entities_do_not_matter(gold, predicted, names):
    renamed = [[{names[mention] for mention in entity} for entity in reversed(side)] for side in (gold, predicted)]
    for one, other in zip(
        CoreferenceCounts.of(gold, predicted).scores, CoreferenceCounts.of(*renamed).scores, strict=True
    ):
        assert one == pytest.approx(other, abs=1e-12)


@given(st.lists(st.tuples(partitions(), partitions()), max_size=3))
def test_the_counts_of_documents_add_up_to_those_of_the_corpus(pairs):
    gold, predicted = (
        [[(number, mention) for mention in entity] for number, pair in enumerate(pairs) for entity in pair[side]]
        for side in (0, 1)
    )
    together = CoreferenceCounts.sum(CoreferenceCounts.of(*pair) for pair in pairs)
    whole = CoreferenceCounts.of(gold, predicted)
    for name in ("muc", "b_cubed", "ceaf_e", "lea"):
        assert getattr(together.scores, name) == pytest.approx(getattr(whole.scores, name), abs=1e-12)


def test_no_entities():
    assert {one.f1 for one in CoreferenceCounts.of([], []).scores} == {0.0}
    assert {one.f1 for one in CoreferenceCounts.of([["a"]], []).scores} == {0.0}


def test_a_mention_in_two_entities_is_an_error():
    with pytest.raises(DataError, match="one entity, got 'a' in two"):
        CoreferenceCounts.of([["a"], ["a", "b"]], [])
