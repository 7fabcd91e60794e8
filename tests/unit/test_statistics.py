"""Samples, intervals, paired comparisons, adjusted p-values and groups, on cases solved by hand."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from arbitre.errors import DataError, OptionError
from arbitre.statistics import swaps
from arbitre.statistics.intervals import _corrected, _left_out, interval, intervals, intervals_to_dict
from arbitre.statistics.paired_tests import contrasts, groups, holm, holm_of_pairs, paired_difference
from arbitre.statistics.sample import Sample, Statistic
from arbitre.tally import NAMES

PERFECT, HALF, MISSED, INVENTED, EMPTY = (2, 2, 2, 2, 2), (2, 2, 2, 1, 0.5), (2, 0, 0, 0, 0), (0, 2, 0, 0, 0), (0,) * 5


def sample(rows, failed=None, clusters=None):
    return Sample.of([f"{number:04}" for number in range(len(rows))], rows, failed, clusters)


def irq(*masses):
    """Documents of 4 entries each and these quality masses."""
    return sample([(4, 4, 4, mass, mass * mass / 4) for mass in masses])


def test_documents_are_ordered_by_cluster_and_key():
    found = Sample.of(
        ["d", "c", "b", "a"], [(n, n, 0, 0, 0) for n in (4, 3, 2, 1)], [True, False, False, False], [2, 1, 2, 10]
    )
    assert found.keys == ("c", "b", "d", "a")
    assert found.tallies[:, 0].tolist() == [3, 2, 4, 1]
    assert found.failed.tolist() == [False, False, True, False]
    assert found.starts.tolist() == [0, 1, 3]
    assert (found.units, found.clusters) == (3, 3)


def test_documents_are_ordered_within_large_clusters():
    keys = [f"{37 * number % 300:03}" for number in range(300)]
    found = Sample.of(keys, [HALF] * 300, None, [int(key) % 2 for key in keys])
    assert list(found.keys) == sorted(keys, key=lambda key: (int(key) % 2, key))
    assert found.starts.tolist() == [0, 150]


def test_documents_without_clusters_are_units():
    found = Sample.of(["b", "a"], [HALF, PERFECT])
    assert (found.keys, found.starts.tolist(), found.units, found.clusters) == (("a", "b"), [0, 1], 2, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "a"], [HALF, HALF]), "Expected keys of documents to be unique, got 'a' 2 times"),
        ((["a"], [HALF, HALF]), "Expected `tallies` to have shape (1, 5), one row per key, got (2, 5)"),
        ((["a"], [HALF[:4]]), "Expected `tallies` to have shape (1, 5), one row per key, got (1, 4)"),
        (([], [HALF]), "Expected `tallies` to have shape (0, 5)"),
        ((["a", "b"], [HALF, (2, -1, 0, 0, 0)]), "Expected masses to be finite and not negative, got -1.0 in 'b'"),
        ((["a"], [(2, 1, 1, math.nan, 0)]), "Expected masses to be finite and not negative, got nan in 'a'"),
        ((["a"], [(2, 1, 1, 1, math.inf)]), "Expected masses to be finite and not negative, got inf in 'a'"),
        ((["a"], [(1, 3, 3, 0, 0)]), "Expected `matched` to be at most `gold`, got 3 and 1 in 'a'"),
        ((["b", "a"], [HALF, (3, 1, 3, 0, 0)]), "Expected `matched` to be at most `predicted`, got 3 and 1 in 'a'"),
        ((["a"], [(1, 1, 1, 2, 1)]), "Expected `quality` to be at most `matched`, got 2 and 1 in 'a'"),
        ((["a"], [(1, 1, 1, 1, 2)]), "Expected `quality_sq` to be at most `matched`, got 2 and 1 in 'a'"),
        ((["a"], [HALF], [False, True]), "Expected `failed` to have one value per key (1), got 2"),
        ((["a"], [HALF], None, []), "Expected `clusters` to have one value per key (1), got 0"),
        ((["a"], [HALF], None, [None]), "Expected a cluster for every document, got None"),
    ],
)
def test_inconsistent_columns_are_refused(arguments, message):
    with pytest.raises(DataError, match="^" + re.escape(message)):
        Sample.of(*arguments)


def test_masses_may_exceed_others_by_rounding_errors():
    more = 1 + 1e-9
    assert sample([(0.3, 0.3, 0.3 * more, 0.3 * more**2, math.nan), (1, 1, 1, 1, more)]).units == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"score": "irqq"},
            "Expected `score` to be a known name, got 'irqq'\n  Did you mean \"irq\".* Also .*variance",
        ),
        (
            {"average": "marco"},
            'Expected `average` to be a known name, got \'marco\'\n  Did you mean "macro" or "micro"',
        ),
        ({"method": "bcs"}, "Expected `method` to be a known name, got 'bcs'\n  Did .*\"bca\".* Also .* percentile"),
        ({"level": 95}, "Expected `level` to be between 0 and 1, got 95"),
        ({"method": "bca", "resamples": 0}, "Expected `resamples` to be an integer of at least 1, got 0"),
    ],
)
def test_unknown_options_are_refused(options, message):
    one = irq(1, 2, 3)
    with pytest.raises(OptionError, match=message):
        interval(one, **({"score": "irq"} | options))
    with pytest.raises(OptionError, match=message):
        paired_difference(one, one, **({"score": "irq"} | options))


@pytest.mark.parametrize("method", ["t", "clopper-pearson"])
def test_a_difference_has_no_interval_in_closed_form(method):
    with pytest.raises(OptionError, match=f"Expected `method` to be a known name, got '{method}'"):
        paired_difference(irq(1, 2, 3), irq(3, 2, 1), "irq", method=method)


def test_failures_are_zero_and_vacuous_documents_are_in_no_mean():
    found = sample([PERFECT, HALF, EMPTY, EMPTY, INVENTED], failed=[False, False, False, True, False])
    estimates = {name: one.estimate for name, one in intervals(found, average="macro").items()}
    assert estimates["irq"] == (1 + 0.5 + 0) / 3  # the invention has none
    assert estimates["imq"] == (1 + 0.5 + 0 + 0) / 4
    assert estimates["quality"] == (1 + 0.5 + 0 + 0) / 4
    assert estimates["variance"] == 0.0


def test_the_interval_of_a_mean_lies_within_its_documents():
    found = interval(irq(1, 4), "irq", average="macro", level=0.9999, method="percentile")
    assert (found.low, found.estimate, found.high) == (0.25, 0.625, 1.0)


def test_a_cluster_is_drawn_with_all_its_documents():
    rows = [(4, 4, 4, mass, 1) for mass in (0, 2, 4, 4)]
    found = interval(sample(rows, clusters=["a", "a", "b", "b"]), "irq", level=0.9999, method="percentile")
    assert (found.low, found.estimate, found.high, found.clusters) == (0.25, 0.625, 1.0, 2)
    apart = interval(sample(rows), "irq", level=0.9999, method="percentile")
    assert (apart.low, apart.high, apart.clusters) == (0.0, 1.0, None)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_all_scores_share_the_same_resamples(average, method):
    documents = sample([PERFECT, HALF, MISSED, INVENTED, EMPTY] * 3, failed=[False, True, False] * 5)
    found = intervals(documents, average=average, method=method, seed=4)
    assert list(found) == list(NAMES)
    for name in NAMES:
        assert found[name] == interval(documents, name, average=average, method=method, seed=4)


def test_another_seed_gives_other_resamples():
    documents = irq(*np.linspace(0, 4, 30))
    first, second = (interval(documents, "irq", method="percentile", seed=seed) for seed in (0, 1))
    assert first.low != second.low
    assert first.estimate == second.estimate == 0.5


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_equal_documents_have_an_interval_of_width_zero(average, method):
    found = interval(sample([(3, 3, 3, 2.1, 1.5)] * 40), "irq", average=average, method=method)
    assert found.low == found.estimate == found.high == pytest.approx(0.7)
    assert found.notes == ("Every resample has the same score.",)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_perfect_documents_have_a_lower_limit_below_one(average):
    found = {size: interval(sample([PERFECT] * size), "irq", average=average) for size in (5, 20, 100)}
    assert [one.high for one in found.values()] == [1.0] * 3
    assert found[5].low < found[20].low < found[100].low < 1.0
    exact = {size: stats.binomtest(size, size).proportion_ci(0.95, "exact").low for size in found}
    assert {size: one.low for size, one in found.items()} == pytest.approx(exact)  # 0.832 for 20 documents
    assert (
        found[20].notes[-1]
        == "All documents have the same score: the interval is as wide as if all scores were 0 or 1."
    )
    plain = interval(sample([PERFECT] * 20), "irq", average=average, method="t")
    assert (plain.low, plain.high, plain.resamples) == (1.0, 1.0, 0)
    assert plain.notes[-1].endswith("the interval has no width.")


def test_a_score_of_one_document_alone_has_no_interval():
    found = interval(sample([HALF, INVENTED, INVENTED]), "irq")
    assert (found.low, found.estimate, found.high) == (None, 0.5, None)
    assert found.notes[-1] == "The score is defined for only one of the documents: there is no interval."


def test_an_interval_lies_in_the_range_of_its_score():
    documents = sample([PERFECT, (2, 2, 2, 1, 1), HALF, MISSED])
    for average in ("micro", "macro"):
        for name, one in intervals(documents, average=average).items():
            assert 0.0 <= one.low <= one.estimate <= one.high <= (0.25 if name == "variance" else 1.0)
    giant = sample([(10_000, 10_000, 10_000, 10_000, 10_000), *[(1, 1, 1, 1, 1)] * 20])
    found = interval(giant, "irq")
    assert found.low < 0.7 < found.estimate == found.high == 1.0


def test_documents_without_the_score_are_not_units():
    few, many = (interval(sample([PERFECT, HALF, MISSED] + [INVENTED] * more), "irq") for more in (0, 30))
    assert (many.low, many.high) == pytest.approx((few.low, few.high))


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("clusters", [None, ["a"]])
def test_a_single_unit_has_no_interval(clusters, method):
    found = interval(sample([HALF], clusters=clusters), "irq", method=method)
    assert (found.low, found.estimate, found.high) == (None, 0.5, None)
    assert found.notes == (
        f"A single {'cluster' if clusters else 'document'}: the uncertainty of the score cannot be estimated.",
    )


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_an_empty_corpus_has_no_interval(average):
    found = intervals(sample([]), average=average)
    assert {one.estimate for name, one in found.items() if name != "quality"} == {None}
    assert found["quality"].estimate == (1.0 if average == "micro" else None)  # a vacuous sum is right
    assert {(one.low, one.high) for one in found.values()} == {(None, None)}
    assert paired_difference(sample([]), sample([]), "irq").p is None


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_an_undefined_score_has_no_interval(average, method):
    found = interval(sample([INVENTED] * 30), "irq", average=average, method=method)
    assert (found.low, found.estimate, found.high, found.notes) == (None, None, None, ())


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_resamples_without_the_score_are_dropped_and_reported(average, method):
    found = interval(sample([PERFECT, HALF] + [INVENTED] * 8), "irq", average=average, method=method)
    assert 0.5 <= found.low < found.estimate < found.high <= 1.0
    _, note = found.notes
    undefined = int(re.fullmatch(r"The score is undefined in (\d+) of 2000 resamples; these are left out\.", note)[1])
    assert undefined / 2000 == pytest.approx(0.8**10, abs=0.03)


def test_an_unknown_sum_of_squares_leaves_only_the_variance_unknown():
    found = intervals(sample([PERFECT, HALF, (2, 2, 2, 1, None)] * 5))
    assert {name for name, one in found.items() if one.estimate is None} == {"variance"}
    assert intervals(sample([HALF, (2, 2, 2, 1, None)] * 5), average="macro")["variance"].estimate == 0.0


@pytest.mark.parametrize(("size", "noted"), [(29, True), (30, False)])
def test_few_units_raise_a_note(size, noted):
    rows = [(4, 4, 4, 4 * mass / size, 1) for mass in range(size)]
    for clusters, what in ((None, "documents"), (range(size), "clusters")):
        for method, said in (
            ("clopper-pearson", "take the interval as a rough guide"),
            ("bca", "the interval is probably too narrow"),
        ):
            found = interval(sample(rows, clusters=clusters and list(clusters)), "irq", method=method)
            expected = (f"Fewer than 30 {what} (29): {said}.",)
            assert found.notes == (expected if noted else ())


EMPTY = (0, 0, 0, 0, 0)
"""The tally of a document that is empty on both sides."""


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("method", ["clopper-pearson", "t", "percentile", "bca"])
def test_only_units_with_a_defined_score_are_counted(average, method):
    rows = [PERFECT, HALF, PERFECT, *[EMPTY] * 40]
    alone = interval(sample(rows[:3]), "irq", average=average, method=method)
    found = interval(sample(rows), "irq", average=average, method=method)
    assert (found.documents, found.clusters) == (alone.documents, alone.clusters) == (3, None)
    assert found.notes[0] == alone.notes[0]
    assert "Fewer than 30 documents (3)" in found.notes[0]
    clusters = [f"{at // 2}" for at in range(len(rows))]
    found = interval(sample(rows, clusters=clusters), "irq", average=average, method=method)
    assert (found.documents, found.clusters) == (3, 2)
    assert "Fewer than 30 clusters (2)" in found.notes[0]
    lone = interval(sample([HALF, *[EMPTY] * 40]), "irq", average=average, method=method)
    assert (lone.low, lone.high) == (None, None)
    assert lone.notes == ("The score is defined for only one of the documents: there is no interval.",)


def test_a_failed_document_without_entries_counts_in_means_only():
    rows, failed = [PERFECT, HALF, EMPTY], [False, False, True]
    counts = {average: interval(sample(rows, failed=failed), "f1q", average=average) for average in ("micro", "macro")}
    assert {average: one.documents for average, one in counts.items()} == {"micro": 2, "macro": 3}
    assert intervals_to_dict(sample(rows, failed=failed))["documents"] == 3


def test_an_undefined_bca_interval_stays_undefined():
    found = interval(irq(*[4] * 49, 0), "irq", method="bca", level=1 - 1e-10)
    plain = interval(irq(*[4] * 49, 0), "irq", method="percentile", level=1 - 1e-10)
    assert (found.low, found.high, found.method) == (plain.low, plain.high, "percentile")
    assert found.notes == ("The bca interval does not exist for these documents; this is the percentile interval.",)
    assert interval(irq(*[4] * 49, 0), "irq", method="bca").method == "bca"
    assert _corrected(np.array([0.025, 0.975]), 0.5, np.array([0.6, 0.7]), np.array([0.1, 0.2])) is None


def test_a_bca_interval_leans_to_the_side_of_the_outlier():
    documents = irq(*[4] * 29, 0)
    plain, corrected = (interval(documents, "irq", method=method) for method in ("percentile", "bca"))
    assert corrected.low < plain.low
    assert corrected.high <= plain.high


def test_a_left_out_unit_contributes_no_mass():
    rounded = 1.0 - 2**-53  # as 0.1 added up ten times: a unit may be rounded more often than the whole
    units = np.array([[rounded, 0.0], [0.0, 2.0]])
    statistic = Statistic(len(units), units.__getitem__, np.array([1.0, 2.0]), np.asarray, np.asarray, (0, 1))
    assert [_left_out(statistic, at).tolist() for at in (0, 1)] == [[0.0, 1.0], [2.0, 0.0]]


def test_five_documents_cannot_reach_significance():
    found = paired_difference(irq(2, 3, 4, 3, 2), irq(1, 1, 2, 1, 1), "irq")
    assert (found.estimate, found.p, found.smallest_p, found.exact) == (pytest.approx(0.4), 2 / 2**5, 0.0625, True)
    assert (found.low, found.high) == (-1.0, 1.0)
    assert (found.significant, found.detectable) == (False, None)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("apart", [0.1, 0.2, 0.3, 1.0])
@pytest.mark.parametrize("step", [0.0, 0.02])
def test_too_few_documents_exclude_no_difference(size, apart, step):
    """No results of so few documents are significant."""
    other = irq(*(4 * (1 - apart + step * at) for at in range(size)))
    for found in contrasts([[irq(*[4] * size), other, irq(*[4] * size)]], [[(0, 1), (1, 2)]], "irq", average="macro"):
        assert (found.significant, found.low, found.high) == (False, -1.0, 1.0)


def test_documents_with_equal_results_bound_the_difference():
    """By Hoeffding's inequality, the critical value is at most 2.72 for every number of documents."""
    few = paired_difference(irq(*[4] * 5, *[2] * 40), irq(*[2] * 45), "irq", average="macro")
    more = paired_difference(irq(*[4] * 6, *[2] * 39), irq(*[2] * 45), "irq", average="macro")
    assert (few.significant, more.significant) == (False, True)
    assert (few.low, few.high) == pytest.approx((-0.014, 0.125), abs=0.001)
    assert few.low < 0.0 < more.low


@pytest.mark.parametrize("seed", range(20))
def test_the_ends_of_an_interval_satisfy_the_inequality_of_the_documentation(seed):
    generator = np.random.default_rng(seed)
    units, weights = generator.normal(0.3 * (seed % 3), 0.5, 12) / 12, generator.dirichlet([1.0] * 12)
    spread = swaps.SwapSpread(units @ units, units @ weights, weights @ weights)
    difference, critical = units.sum(), 0.2 * (1 + seed)
    shifts = np.linspace(-1, 1, 20_001)
    sizes = ((units - shifts[:, None] * weights) ** 2).sum(axis=1) + (shifts * (weights @ weights)) ** 2 / 2
    kept = shifts[(difference - shifts) ** 2 <= critical**2 * sizes]
    assert spread.ends(difference, critical) == pytest.approx((kept.min(), kept.max()), abs=1e-4)


def test_an_exact_p_counts_swaps_at_least_as_extreme():
    found = paired_difference(
        irq(3, 3, 2), irq(1, 2, 3), "irq"
    )  # differences 2, 1, -1: sizes over the 8 swaps 4, 2, 2, 0 twice
    assert (found.estimate, found.p) == (pytest.approx(2 / 12), 6 / 8)


@pytest.mark.parametrize(("size", "exact"), [(16, True), (17, False)])
def test_up_to_sixteen_documents_all_swaps_are_enumerated(size, exact):
    found = paired_difference(irq(*[3] * size), irq(*[2] * size), "irq")
    assert (found.exact, found.swaps) == ((True, 2**15) if exact else (False, 10_000))
    assert found.smallest_p == (2 / 2**16 if exact else 1 / 10_001)
    assert found.p == pytest.approx(found.smallest_p, abs=1e-3)


def test_clusters_are_swapped_as_units():
    rows = {mass: [(4, 4, 4, mass, 1)] * 20 for mass in (2, 3)}
    better, worse = (sample(rows[mass], clusters=[number % 4 for number in range(20)]) for mass in (3, 2))
    found = paired_difference(better, worse, "irq", average="macro")
    assert (found.p, found.clusters, found.exact, found.low, found.high) == (2 / 2**4, 4, True, -1.0, 1.0)


def test_an_undefined_difference_has_no_p():
    found = paired_difference(sample([INVENTED] * 3), sample([HALF] * 3), "irq")
    assert (found.estimate, found.low, found.high, found.p) == (None, None, None, None)


def test_a_swap_that_leaves_the_difference_undefined_counts_against_it():
    first, second = sample([HALF, MISSED]), sample([MISSED, PERFECT])
    found = paired_difference(first, second, "imq")  # swapped on one document: one system predicts nothing at all
    assert (found.estimate, found.p) == (-0.5, 1.0)


@pytest.mark.parametrize(
    ("keys", "clusters", "message"),
    [
        (["a", "b", "x"], None, "Expected both systems .*, got 2 that only one system has, such as 'c'"),
        (
            ["a", "b", "c"],
            [0, 0, 1],
            "Expected both systems to have the same clusters of documents, got different ones",
        ),
    ],
)
def test_systems_are_compared_on_the_same_documents(keys, clusters, message):
    with pytest.raises(DataError, match=message):
        paired_difference(Sample.of(["a", "b", "c"], [HALF] * 3), Sample.of(keys, [HALF] * 3, None, clusters), "irq")


def test_holm_adjusts_p_step_by_step():
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert holm([0.6, None, 0.7]) == [1.0, None, 1.0]
    assert holm([None, 0.04]) == [None, 0.04]
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_holm_refuses_values_that_are_no_probabilities(wrong):
    with pytest.raises(DataError, match=r"Expected every p to be in \[0, 1\]"):
        holm([0.1, wrong])


def test_groups_hold_systems_without_significant_differences():
    assert groups(np.ones((3, 3))) == ((0, 1, 2),)
    assert groups(np.zeros((3, 3))) == ((0,), (1,), (2,))
    assert groups([[None, None], [0.05, None]]) == ((0,), (1,))  # one side of the diagonal is enough
    assert groups([[None, 0.06], [None, None]]) == ((0, 1),)
    assert groups([[None, 0.06], [None, None]], level=0.1) == ((0,), (1,))
    line = [[None, 1, 0, 0], [1, None, 1, 0], [0, 1, None, 1], [0, 0, 1, None]]
    assert groups(line) == ((0, 1), (1, 2), (2, 3))
    alike = np.zeros((9, 9))
    alike[1, 8] = alike[8, 1] = 1.0
    assert groups(alike) == ((0,), (1, 8), *((at,) for at in range(2, 8)))
    assert groups(np.empty((0, 0))) == ()
    with pytest.raises(DataError, match=re.escape("Expected a square matrix of p, got shape (1, 2)")):
        groups([[None, 0.1]])


def systems(count, size, seed=0, *, step=0.02):
    """The samples of systems on the same documents, each a little better than the one before."""
    generator = np.random.default_rng(seed)
    base = generator.beta(5, 2, size)
    qualities = [np.clip(base + generator.normal(0, 0.1, size) + step * at, 0, 1) for at in range(count)]
    return [irq(*(4 * quality)) for quality in qualities]


@pytest.mark.slow
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_fifteen_systems_can_be_distinguished(average):
    """With 10,000 swaps the smallest p adjusted for 105 pairs by Holm is 105 / 10,001 = 0.0105."""
    samples = systems(15, 60)
    pairs = list(combinations(range(15), 2))
    found = contrasts([samples], [pairs], "irq", average=average)
    assert {one.swaps for one in found} == {10_000}
    assert min(one.p_holm for one in found) == pytest.approx(105 / 10_001)
    assert found[13].significant
    assert found[13].p_holm <= 0.05
    assert sum(one.p_holm <= 0.05 for one in found) <= sum(one.significant for one in found) < 105
    assert all(one.significant is (one.p_adjusted <= 0.05) is (one.low > 0 or one.high < 0) for one in found)
    assert all(one.low <= one.estimate <= one.high for one in found)
    assert all(one.p <= one.p_adjusted for one in found)
    assert {(one.level, one.correction) for one in found} == {(0.95, "max-T")}
    alone = paired_difference(samples[0], samples[1], "irq", average=average)
    assert alone.p == alone.p_adjusted == found[0].p  # of the same swaps
    assert alone.high - alone.low < found[0].high - found[0].low


def test_only_documents_on_which_systems_differ_count():
    same = [3] * 40
    found = paired_difference(irq(4, 4, 4, 4, 4, *same), irq(3, 2, 1, 3, 2, *same), "irq", average="macro")
    assert (found.p, found.smallest_p, found.exact, found.differing, found.swaps) == (0.0625, 0.0625, True, 5, 16)
    spread = sample([(4, 4, 4, 3, 2.25)] * 4), sample([(4, 4, 4, 3, 3)] * 4)  # other squares, the same quality
    assert paired_difference(*spread, "irq").differing == 0
    assert paired_difference(*spread, "variance").differing == 4


def test_equal_systems_do_not_differ():
    found = paired_difference(irq(1, 2, 3), irq(1, 2, 3), "irq")
    assert (found.estimate, found.p, found.smallest_p, found.significant) == (0.0, 1.0, 1.0, False)
    assert found.notes == ("The systems have the same score on every document.",)


@pytest.mark.parametrize("size", [1, 2, 5, 6, 50])
def test_the_interval_of_equal_systems_allows_for_unseen_differences(size):
    """If a share `high` of all documents differs, no sample of this size has a difference with probability 0.025."""
    found = paired_difference(irq(*[3] * size), irq(*[3] * size), "irq")
    assert (1 - found.high) ** size == pytest.approx(0.025)
    assert found.low == -found.high


def test_equal_systems_have_the_same_interval_beside_other_systems():
    """The two pairs that differ are rejected first, so the equal pair is tested at the full level."""
    samples = [irq(*[3] * 10), irq(*[3] * 10), irq(*[1] * 10)]
    together = contrasts([samples], [[(0, 1), (0, 2), (1, 2)]], "irq")
    alone = paired_difference(samples[0], samples[1], "irq")
    assert (together[0].low, together[0].high) == (alone.low, alone.high)
    assert [one.significant for one in together] == [False, True, True]
    weighted = contrasts([[irq(3, 3), irq(3, 3), irq(3, 3)]], [[(0, 1), (0, 2), (1, 2)]], "irq")
    assert [(1 - one.high) ** 2 for one in weighted] == pytest.approx([0.025 / 3] * 3)


def test_documents_without_an_effect_on_the_score_count_as_equal():
    one, other = (sample([(4 * size, 4 * size, 4, 2 * size, size) for size in sizes]) for sizes in ([1] * 8, [2] * 8))
    found = paired_difference(one, other, "irq", average="macro")
    assert (found.estimate, found.p, found.low, found.high) == (0.0, 1.0, -found.high, pytest.approx(0.369, abs=0.001))


def test_pairs_share_swaps_but_not_results():
    samples = systems(4, 30, step=0.03)
    together = contrasts([samples], [list(combinations(range(4), 2))], "irq", average="macro")
    for (a, b), one in zip(combinations(range(4), 2), together, strict=True):
        alone = paired_difference(samples[a], samples[b], "irq", average="macro")
        assert (one.estimate, one.differing) == (alone.estimate, alone.differing)
        assert one.p == pytest.approx(alone.p)


def test_the_chunk_size_changes_no_p():
    statistics = [Statistic.scores(one, ["irq"], "micro") for one in systems(3, 30)]
    pairs = list(combinations(range(3), 2))
    whole, chunked = (
        swaps.swapped([statistics], [pairs], alpha=0.05, tests=3, seed=0, **options)[0]
        for options in ({}, {"chunk_cells": 700})
    )
    for one, other in zip(chunked, whole, strict=True):
        assert (one.p, one.exact) == (other.p, False)
        assert one.critical(0.05) == pytest.approx(other.critical(0.05), abs=1e-12)


def test_families_with_as_many_units_share_their_random_swaps_and_get_the_p_that_each_gets_alone(monkeypatch):
    drawn, random = [], swaps._random
    monkeypatch.setattr(swaps, "_random", lambda *args, **named: drawn.append(args[0]) or random(*args, **named))
    families = [
        [Statistic.scores(one, ["irq"], average) for one in systems(count, size)]
        for count, size, average in ((2, 30, "micro"), (3, 30, "macro"), (2, 40, "micro"), (2, 8, "micro"))
    ]
    pairs = [[(0, 1)], list(combinations(range(3), 2)), [(0, 1)], [(0, 1)]]
    together = swaps.swapped(families, pairs, alpha=0.05, tests=6, seed=0)
    assert drawn == [30, 40]
    for family, chosen, found in zip(families, pairs, together, strict=True):
        alone = swaps.swapped([family], [chosen], alpha=0.05, tests=6, seed=0)[0]
        assert [(one.p, one.p_max, one.critical_max) for one in found] == [
            (one.p, one.p_max, one.critical_max) for one in alone
        ]
        assert all(np.array_equal(one.largest, other.largest) for one, other in zip(found, alone, strict=True))


def test_the_p_of_many_pairs_after_holm_need_few_swaps(monkeypatch):
    generator, size = np.random.default_rng(0), 30
    pairs = []
    for at in range(90):
        gold = 4.0 * (at % 30 > 0) * np.ones(size)
        differ = generator.random(size) < (0.3 if at % 4 else 1.0)  # 16 or fewer units: all swaps
        qualities = [gold * generator.beta(5, 2, size) for _ in range(2)]
        other = np.where(differ, qualities[1] * (0.8 if at % 5 == 0 else 1.0), qualities[0])
        rows = [np.stack([gold, gold, gold, one, one], axis=1) for one in (qualities[0], other)]
        pairs.append([Sample.of([f"{key:02}" for key in range(size)], each) for each in rows])
    tried = []
    add = swaps._Test.add
    monkeypatch.setattr(swaps._Test, "add", lambda test, picked: tried.append(len(picked)) or add(test, picked))
    expected = [one.p_holm for one in contrasts(pairs, [[(0, 1)]] * len(pairs), "irq")]
    every = sum(tried)
    tried.clear()
    assert holm_of_pairs(pairs, "irq") == expected
    assert {None, 1.0} < set(expected)
    assert sum(p is not None and p < 1.0 for p in expected) >= 5
    assert sum(tried) < 0.6 * every


def test_only_columns_that_differ_are_summed_over_swaps():
    gold = np.array([4.0] * 20)
    samples = [
        Sample.of([f"{key:02}" for key in range(20)], np.stack([gold, gold, gold, gold * quality, gold], axis=1))
        for quality in np.random.default_rng(0).beta(5, 2, (3, 20))
    ]
    family = swaps._Family([Statistic.scores(one, ["f1q"], "micro") for one in samples], [(0, 1), (1, 2)])
    assert family.units.shape == (20, 2)


def test_the_number_of_swaps_grows_with_comparisons_and_level():
    assert swaps.number(1, 0.05) == 10_000
    assert swaps.number(105, 0.05) == 21_000
    assert swaps.number(105, 0.01) == 105_000


def test_a_significant_difference_of_many_systems_excludes_zero():
    """The critical value of 435 pairs can exceed all 10,000 swaps of one pair, but not its observed difference."""
    found = contrasts([systems(30, 60)], [list(combinations(range(30), 2))], "irq")
    assert all(one.significant is (one.low > 0 or one.high < 0) for one in found)


def test_more_swaps_are_drawn_only_for_tests_that_holm_decides():
    samples = systems(9, 20)
    pairs = list(combinations(range(9), 2))
    apart = contrasts([[samples[a], samples[b]] for a, b in pairs], [[(0, 1)]] * 36, "irq", level=0.97)
    assert {one.swaps for one in contrasts([samples], [pairs], "irq", level=0.97)} == {10_000}
    assert {one.swaps for one in apart} == {12_000}


def test_one_family_needs_fewer_documents_than_holm():
    """All three p are 2 / 2^7 at best: the joint distribution of the pairs does not raise them, Holm's correction does."""
    samples = [irq(*[4] * 7), irq(*[3] * 7), irq(*[1] * 7)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    together = contrasts([samples], [pairs], "irq")
    apart = contrasts([[samples[a], samples[b]] for a, b in pairs], [[(0, 1)]] * 3, "irq")
    assert [one.p for one in (*together, *apart)] == [1 / 64] * 6
    assert [(one.p_adjusted, one.correction) for one in together] == [(1 / 64, "max-T")] * 3
    assert [(one.p_adjusted, one.correction) for one in apart] == [(3 / 64, "Holm")] * 3
    assert [one.p_holm for one in together] == [3 / 64] * 3
    assert all(one.significant and one.low > 0 for one in (*together, *apart))


def test_a_difference_has_the_interval_of_a_t_test_if_the_swaps_are_normal():
    """With many documents, the critical value of the swaps is that of Student's t."""
    one, other = np.random.default_rng(3).normal((2.4, 1.6), 0.4, (200, 2)).T
    found = paired_difference(irq(*one), irq(*other), "irq", average="macro")
    expected = stats.ttest_rel(one / 4, other / 4).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.002)
    error = stats.sem((one - other) / 4)
    assert found.detectable == pytest.approx((1.96 + 0.84) * error, rel=0.05)  # at a power of 0.8


def test_a_bootstrap_interval_of_a_difference_is_named():
    one, other = systems(2, 20)
    for method in ("percentile", "bca"):
        found = paired_difference(one, other, "irq", method=method)
        assert found.method == method
        assert found.p == paired_difference(one, other, "irq").p
