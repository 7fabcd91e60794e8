"""Statistics compared with SciPy, enumeration, known corpora, and the index of the French Senate of 1931."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from arbitre import Comparator, bundled
from arbitre.statistics.intervals import _resampled, interval
from arbitre.statistics.paired_tests import paired_difference
from arbitre.statistics.sample import Sample, Statistic, scored
from arbitre.statistics.swaps import swapped
from arbitre.tally import NAMES

METHODS = ["percentile", "bca"]


def sample(rows, failed=None, clusters=None):
    return Sample.of([f"{number:04}" for number in range(len(rows))], rows, failed, clusters)


def corpus(seed, size=25, effect=None):
    """Documents of 2 to 9 entries of skewed quality, some of them missed: their tallies, shape (size, 5)."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(2, 10, size).astype(float)
    matched = gold - (generator.random(size) < 0.3)
    quality = generator.beta(4, 1, size) if effect is None else effect
    return np.stack(
        [gold, gold + generator.integers(0, 2, size), matched, matched * quality, matched * quality**2], axis=1
    )


def score(tallies, name):
    return scored(tallies)[..., NAMES.index(name)]


def by_scipy(units, statistic, method, seed):
    """The interval of a statistic of rows, which scipy draws by their number."""
    found = stats.bootstrap(
        (np.arange(len(units)),),
        lambda drawn, axis: statistic(units[drawn]),  # noqa: ARG005
        n_resamples=2000,
        batch=100,
        vectorized=True,
        method=method,
        random_state=np.random.default_rng(seed),
    )
    return found.confidence_interval


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["irq", "f1q", "omq", "variance"])
def test_the_same_resamples_give_the_interval_of_scipy(method, seed, name):
    rows = corpus(seed)
    micro = by_scipy(rows, lambda drawn: score(drawn.sum(axis=-2), name), method, seed)
    found = interval(sample(rows), name, method=method, seed=seed)
    assert (found.low, found.high) == pytest.approx(tuple(micro), abs=1e-10)
    macro = by_scipy(score(rows, name), lambda drawn: drawn.mean(axis=-1), method, seed)
    found = interval(sample(rows), name, average="macro", method=method, seed=seed)
    assert (found.low, found.high) == pytest.approx(tuple(macro), abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_are_the_rows_that_scipy_draws(method):
    rows = corpus(3, size=60)
    found = interval(sample(rows, clusters=np.repeat(np.arange(20), 3)), "f1q", method=method)
    expected = by_scipy(rows.reshape(20, 3, 5).sum(axis=1), lambda drawn: score(drawn.sum(axis=-2), "f1q"), method, 0)
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_difference_has_the_interval_of_scipy(method):
    both = np.hstack([corpus(5), corpus(6)])

    def difference(drawn):
        sums = drawn.sum(axis=-2)
        return score(sums[..., :5], "f1q") - score(sums[..., 5:], "f1q")

    found = paired_difference(sample(both[:, :5]), sample(both[:, 5:]), "f1q", method=method)
    assert (found.low, found.high) == pytest.approx(tuple(by_scipy(both, difference, method, 0)), abs=1e-10)


@pytest.mark.parametrize("size", [3, 8, 11])
def test_an_exact_p_equals_scipy(size):
    one, other = corpus(7, size), corpus(8, size)

    def difference(*drawn, axis):  # noqa: ARG001
        a, b = (np.where((picked < size)[..., None], one[picked % size], other[picked % size]) for picked in drawn)
        return score(a.sum(axis=-2), "f1q") - score(b.sum(axis=-2), "f1q")

    expected = stats.permutation_test(
        (np.arange(size), np.arange(size) + size),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    found = paired_difference(sample(one), sample(other), "f1q")
    assert (found.estimate, found.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)


def test_a_sampled_p_is_close_to_the_exact_p():
    statistics = [Statistic.scores(sample(corpus(seed, 14)), ["f1q"], "micro") for seed in (9, 10)]
    exact, drawn = (
        swapped([statistics], [[(0, 1)]], alpha=5e-4, tests=1, seed=0, enumerated=most)[0][0] for most in (16, 0)
    )
    assert (exact.tried, drawn.tried) == (2**13, 20_000)
    assert (exact.exact, drawn.exact) == (True, False)
    assert 0.02 < exact.p < 0.98
    assert drawn.p == pytest.approx(exact.p, abs=0.015)


def test_the_chunk_size_changes_no_resample():
    units = np.random.default_rng(11).random((30, 5))
    whole = _resampled(units, 500, seed=1)
    for cells in (1, 70, 30 * 499):
        assert _resampled(units, 500, seed=1, cells=cells) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("size", [2, 5, 25])
def test_the_t_interval_of_a_mean_equals_scipy(size):
    rows = corpus(12, size)
    found = interval(sample(rows), "imq", average="macro", method="t")
    expected = stats.ttest_1samp(score(rows, "imq"), 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((max(expected.low, 0), min(expected.high, 1)), abs=1e-12)


def test_the_t_interval_of_a_ratio_equals_the_jackknife():
    rows = corpus(13, 12)
    without = np.array([score(np.delete(rows, at, axis=0).sum(axis=0), "f1q") for at in range(12)])
    pseudo = 12 * score(rows.sum(axis=0), "f1q") - 11 * without
    found = interval(sample(rows), "f1q", method="t")
    center = score(rows.sum(axis=0), "f1q")
    half = stats.t(11).ppf(0.975) * np.sqrt(((pseudo - center) ** 2).sum() / 11 / 12)
    assert (found.low, found.high) == pytest.approx((center - half, min(center + half, 1)), abs=1e-12)


@pytest.mark.parametrize(("right", "size"), [(0, 3), (3, 5), (19, 20), (170, 200)])
def test_the_interval_of_scores_0_and_1_equals_scipy(right, size):
    """Whether each document is one unit or three equal ones."""
    rows = np.array([[4, 4, 4, 4 * (at < right), 4 * (at < right)] for at in range(size)], dtype=float)
    expected = stats.binomtest(right, size).proportion_ci(0.95, "exact")
    for average in ("micro", "macro"):
        for found in (sample(rows), sample(np.repeat(rows, 3, axis=0), clusters=np.repeat(np.arange(size), 3))):
            one = interval(found, "irq", average=average)
            assert (one.low, one.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_interval_of_graded_scores_is_that_of_an_effective_number_of_units():
    """The variance ratio, raised by (t / z)², averaged with 0.6 units of ratio 1."""
    rows = np.vstack([corpus(14, 9), [[3, 3, 3, 3, 3]] * 2])
    values = score(rows, "imq")
    between = np.count_nonzero((values > 0) & (values < 1))
    mean = values.mean()
    ratio = values.var(ddof=1) / (mean * (1 - mean)) * (stats.t(10).ppf(0.975) / stats.norm.ppf(0.975)) ** 2
    size = 11 * (between + 0.6) / (between * ratio + 0.6)
    found = interval(sample(rows), "imq", average="macro")
    ends = (
        stats.beta(mean * size, (1 - mean) * size + 1).ppf(0.025),
        stats.beta(mean * size + 1, (1 - mean) * size).ppf(0.975),
    )
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_intervals_of_few_documents_have_their_nominal_coverage(average):
    """BCa covers .86 of the means of 10 such documents."""
    for size, least in ((5, 0.90), (10, 0.92), (20, 0.93)):
        assert coverage(lambda seed, size=size: documents(seed, size), truth=0.8, average=average) >= least


def test_the_interval_of_a_difference_excludes_0_where_the_test_does():
    for seed in range(200):
        both = [sample(corpus(3 * seed + at, 5 + seed % 20)) for at in (0, 1)]
        for average in ("micro", "macro"):
            found = paired_difference(*both, "irq", average=average)
            assert found.significant is (found.p <= 0.05) is (found.low > 0 or found.high < 0)
            assert found.low <= found.estimate <= found.high


SIMULATIONS = 500


def coverage(make, *, truth, **options):
    """The share of simulated corpora whose interval holds the truth."""
    found = [interval(make(seed), "irq", resamples=400, **options) for seed in range(SIMULATIONS)]
    return sum(one.low <= truth <= one.high for one in found) / SIMULATIONS


def documents(seed, size=40, *, groups=None, clustered=False):
    """Documents of 1 to 9 entries whose mean qualities are .8 on average, alike within a group."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(1, 10, size).astype(float)
    quality = generator.beta(4, 1, size) if groups is None else np.repeat(generator.beta(4, 1, groups), size // groups)
    rows = np.stack([gold, gold, gold, gold * quality, gold * quality**2], axis=1)
    return sample(rows, clusters=np.repeat(np.arange(groups), size // groups) if clustered else None)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_intervals_have_their_nominal_coverage(average, method):
    assert 0.90 <= coverage(documents, truth=0.8, average=average, method=method) <= 0.98


def test_clustered_documents_need_cluster_resampling_for_coverage():
    naive = coverage(lambda seed: documents(seed, 120, groups=40), truth=0.8)
    honest = coverage(lambda seed: documents(seed, 120, groups=40, clustered=True), truth=0.8)
    assert naive < 0.80
    assert 0.90 <= honest <= 0.98


def test_the_test_has_its_nominal_error_rate():
    """Two systems that are alike: p <= .1 in about a tenth of the corpora, exact or sampled."""
    for size in (12, 30):
        ps = [
            paired_difference(sample(corpus(2 * n, size)), sample(corpus(2 * n + 1, size)), "irq", resamples=199).p
            for n in range(300)
        ]
        assert 0.05 <= np.mean(np.array(ps) <= 0.1) <= 0.15


DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"
PAGES = {
    "02": ("01_vt", "02_corpusense_boxes", "03_corpusense_raw"),
    "03": ("01", "02", "03"),
    "04": ("01", "02", "03"),
}
RUNS = [(page, run) for page, runs in PAGES.items() for run in runs]


@pytest.fixture(scope="module")
def senate():
    """The tallies of nine runs: three pages, each read by hand, by zones and raw; shape (pages, readings, 5)."""
    if not DATA.is_dir():
        pytest.skip("the shared data are not here")
    judge = Comparator(bundled.schema("examples/senat-published.schema.json"))

    def read(*parts):
        return json.loads(DATA.joinpath(*parts).read_text(encoding="utf-8"))

    pairs = [
        (f"{page} {run}", read("gold", f"page_{page}.json"), read("predicted", f"page_{page}_{run}.json"))
        for page, run in RUNS
    ]
    tallies = [document.tally for document in judge.evaluate(pairs).documents]
    return np.array([[one.gold, one.predicted, one.matched, one.quality, one.quality_sq] for one in tallies]).reshape(
        3, 3, 5
    )


def test_the_runs_of_one_page_are_one_cluster(senate):
    rows, pages = senate.reshape(9, 5), np.repeat([2, 3, 4], 3)
    apart = interval(sample(rows), "irq", average="macro", method="percentile")
    page_wise = interval(sample(rows, clusters=pages), "irq", average="macro", method="percentile")
    assert apart.estimate == page_wise.estimate == pytest.approx(0.941826, abs=5e-7)
    means = score(senate, "irq").mean(axis=1)
    every = sorted(means[list(drawn)].mean() for drawn in product(range(3), repeat=3))  # 27 draws, each as probable
    assert (page_wise.low, page_wise.high) == pytest.approx((every[0], every[-1]), abs=1e-12)
    assert page_wise.clusters == 3
    assert "Fewer than 30 clusters (3)" in page_wise.notes[0]


def test_three_pages_show_no_significant_difference(senate):
    by_hand, raw = (sample(senate[:, reading], clusters=[2, 3, 4]) for reading in (0, 2))
    found = paired_difference(by_hand, raw, "irq", average="macro")
    assert found.estimate == pytest.approx(np.diff(score(senate[:, [2, 0]], "irq")).mean())
    assert (found.low, found.high) == (-1.0, 1.0)  # better on every page, and yet three pages cannot show it
    assert (found.p, found.smallest_p, found.exact) == (0.25, 0.25, True)
