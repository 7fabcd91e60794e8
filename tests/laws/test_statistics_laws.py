"""Scores of samples equal those of tallies; intervals and p-values have their symmetries."""

from __future__ import annotations

import math
from dataclasses import astuple
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arbitre import Scores, Tally
from arbitre.statistics.intervals import interval, intervals
from arbitre.statistics.paired_tests import groups, holm, paired_difference
from arbitre.statistics.sample import Sample, means, scored
from arbitre.tally import NAMES

FEW = 50
"""So many resamples: laws hold for any number of them."""
METHODS = ["clopper-pearson", "t", "percentile", "bca"]
CONTRASTS = ["swaps", "percentile", "bca"]
AVERAGES = ["micro", "macro"]


@st.composite
def tallies(draw, *, squares=True):
    """The tally of a document: pairs of some quality and mass, and masses without partner."""
    qualities = draw(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), max_size=6))
    mass = draw(st.sampled_from([1.0, 1.0, 0.1, 1 / 3]))
    gold, predicted = (mass * (len(qualities) + draw(st.integers(0, 3))) for _ in range(2))
    known = not squares or draw(st.integers(0, 9)) > 0
    return Tally(
        gold,
        predicted,
        mass * len(qualities),
        mass * math.fsum(qualities),
        mass * math.fsum(q * q for q in qualities) if known else None,
    )


@st.composite
def documents(draw, systems=1, sizes=(1, 12)):
    """The tallies and failures of some systems on the same documents, and perhaps clusters."""
    size = draw(st.integers(*sizes))
    clusters = draw(st.none() | st.lists(st.integers(0, 3), min_size=size, max_size=size))
    columns = []
    for _ in range(systems):
        failed = draw(st.lists(st.integers(0, 5).map(lambda number: number == 0), min_size=size, max_size=size))
        rows = draw(st.lists(tallies(squares=False), min_size=size, max_size=size))
        columns.append(([Tally(row.gold) if bad else row for row, bad in zip(rows, failed, strict=True)], failed))
    return columns, clusters


def sample(rows, failed=None, clusters=None):
    return Sample.of([f"{number:03}" for number in range(len(rows))], [*map(astuple, rows)], failed, clusters)


def near(value, tolerance=1e-9):
    return None if value is None else pytest.approx(value, rel=tolerance, abs=tolerance)


def undefined(value):
    return None if math.isnan(value) else value


@given(st.lists(tallies(), min_size=1, max_size=8))
@example([Tally()])
@example([Tally(1, 0), Tally(0, 1), Tally(1, 1, 1, 0.0, 0.0), Tally(1, 1, 0)])
def test_scores_of_columns_are_the_scores_of_tallies(parts):
    found = scored(np.array([astuple(part) for part in parts], dtype=np.float64))
    assert found.shape == (len(parts), len(NAMES))
    for row, part in zip(found.tolist(), parts, strict=True):
        for name, value in zip(NAMES, row, strict=True):
            expected = getattr(Scores(part), name)
            assert (name, undefined(value)) == (name, expected)


@given(documents())
def test_estimates_are_the_scores_of_the_corpus(corpus):
    ((rows, failed),), clusters = corpus
    made = sample(rows, failed, clusters)
    micro, macro = (intervals(made, average=average, resamples=1) for average in AVERAGES)
    averages = means(made.tallies, made.failed)
    for name in NAMES:
        for found, expected in (
            (micro[name].estimate, getattr(Scores(Tally.sum(rows)), name)),
            (macro[name].estimate, getattr(averages, name)),
        ):
            assert (name, found) == (name, expected)


@given(documents(), st.sampled_from(METHODS), st.sampled_from(AVERAGES), st.randoms(use_true_random=False))
def test_the_order_of_the_documents_does_not_matter(corpus, method, average, random):
    ((rows, failed),), clusters = corpus
    keys = [f"{number:03}" for number in range(len(rows))]
    shuffled = random.sample(range(len(rows)), len(rows))
    again = Sample.of(
        [keys[place] for place in shuffled],
        [astuple(rows[place]) for place in shuffled],
        [failed[place] for place in shuffled],
        clusters and [clusters[place] for place in shuffled],
    )
    first, second = (
        intervals(one, average=average, method=method, resamples=FEW) for one in (sample(rows, failed, clusters), again)
    )
    assert first == second


@given(documents(), st.sampled_from(AVERAGES))
def test_an_interval_lies_within_the_documents_and_grows_with_its_level(corpus, average):
    ((rows, failed),), clusters = corpus
    made = sample(rows, failed, clusters)
    found = interval(made, "irq", average=average, method="percentile", resamples=FEW, level=0.9)
    if found.low is None:
        assert found.estimate is None or made.units == 1
        return
    values = [0.0 if bad else Scores(row).irq for row, bad in zip(rows, failed, strict=True)]
    known = [value for value in values if value is not None]
    assert min(known) - 1e-12 <= found.low <= found.high <= max(known) + 1e-12
    wider = interval(made, "irq", average=average, method="percentile", resamples=FEW, level=0.99)
    assert wider.low <= found.low <= found.high <= wider.high


@given(documents(), st.sampled_from(METHODS[:2]), st.sampled_from(AVERAGES))
def test_a_t_interval_holds_its_estimate_and_grows_with_its_level(corpus, method, average):
    ((rows, failed),), clusters = corpus
    made = sample(rows, failed, clusters)
    narrow, wide = (intervals(made, average=average, method=method, level=level) for level in (0.5, 0.99))
    for name in NAMES:
        found, wider = narrow[name], wide[name]
        assert (found.low is None) is (found.high is None)
        if found.low is not None:
            tops = 0.25 if name == "variance" else 1.0
            assert 0.0 <= found.low <= found.estimate + 1e-12
            assert found.estimate - 1e-12 <= found.high <= tops + 1e-12
            assert wider.low <= found.low + 1e-12
            assert wider.high >= found.high - 1e-12


@given(documents(), st.integers(2, 3), st.sampled_from(METHODS), st.sampled_from(AVERAGES))
def test_duplicates_within_a_cluster_do_not_narrow_the_interval(corpus, copies, method, average):
    ((rows, failed),), _ = corpus
    once = intervals(sample(rows, failed), average=average, method=method, resamples=FEW)
    often = intervals(
        sample(rows * copies, failed * copies, [f"{number:03}" for number in range(len(rows))] * copies),
        average=average,
        method=method,
        resamples=FEW,
    )
    for name in ("precision", "irq", "f1q", "quality"):
        assert (once[name].estimate is None) is (often[name].estimate is None)
        assert often[name].estimate == near(once[name].estimate)
        assert often[name].low == near(once[name].low)
        assert often[name].high == near(once[name].high)


@given(
    documents(systems=2, sizes=(1, 8)) | documents(systems=2, sizes=(17, 19)),
    st.sampled_from(CONTRASTS),
    st.sampled_from(AVERAGES),
)
def test_exchanging_the_systems_negates_the_difference_and_keeps_p(corpus, method, average):
    columns, clusters = corpus
    one, other = (sample(rows, failed, clusters) for rows, failed in columns)
    there = paired_difference(one, other, "f1q", average=average, method=method, resamples=FEW)
    back = paired_difference(other, one, "f1q", average=average, method=method, resamples=FEW)
    assert (there.p, there.smallest_p, there.exact) == (back.p, back.smallest_p, back.exact)
    if there.estimate is None:
        assert back.estimate is there.p is None
        return
    assert there.smallest_p <= there.p <= 1
    assert there.significant is (there.p <= 0.05 + 1e-12)
    if method == "swaps":
        assert there.significant is (there.low > 0 or there.high < 0)
        assert there.low <= there.estimate <= there.high
    assert there.estimate == -back.estimate
    if there.low is not None:
        assert (there.low, there.high) == (near(-back.high), near(-back.low))


@given(documents(sizes=(1, 8)) | documents(sizes=(17, 19)), st.sampled_from(AVERAGES))
def test_a_system_does_not_differ_from_itself(corpus, average):
    ((rows, failed),), clusters = corpus
    one = sample(rows, failed, clusters)
    found = paired_difference(one, one, "irq", average=average, resamples=FEW)
    assert (found.estimate, found.p) in {(0.0, 1.0), (None, None)}
    if found.estimate is not None:
        assert -1 < found.low == -found.high < 0


PS = st.lists(st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=8)


@given(PS)
def test_holm_rejects_as_the_step_down_definition(pvalues):
    """By the definition: the smallest p at level / m, the next at level / (m - 1), until one fails."""
    adjusted = holm(pvalues)
    assert [p is None for p in adjusted] == [p is None for p in pvalues]
    known = sorted((p, place) for place, p in enumerate(pvalues) if p is not None)
    for level in (0.013, 0.0517, 0.3011):
        rejected = set()
        for step, (p, place) in enumerate(known):
            if p * (len(known) - step) > level:
                break
            rejected.add(place)
        assert {place for place, p in enumerate(adjusted) if p is not None and p <= level} == rejected


@given(PS, st.randoms(use_true_random=False))
def test_holm_follows_the_order_given(pvalues, random):
    shuffled = random.sample(range(len(pvalues)), len(pvalues))
    adjusted = holm(pvalues)
    assert holm([pvalues[place] for place in shuffled]) == [adjusted[place] for place in shuffled]
    assert all(p is None or p <= raised <= 1 for p, raised in zip(pvalues, adjusted, strict=True))


@given(st.integers(1, 6).flatmap(lambda size: st.lists(st.booleans(), min_size=size * size, max_size=size * size)))
def test_groups_are_the_maximal_cliques(cells):
    size = math.isqrt(len(cells))
    differ = np.triu(np.array(cells).reshape(size, size), 1)
    subsets = chain.from_iterable(combinations(range(size), length) for length in range(1, size + 1))
    alike = [set(part) for part in subsets if not differ[np.ix_(part, part)].any()]
    expected = sorted(tuple(sorted(part)) for part in alike if not any(part < other for other in alike))
    assert list(groups(np.where(differ, 0.01, 1.0))) == expected
