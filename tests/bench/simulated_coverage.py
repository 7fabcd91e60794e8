"""Simulate how often intervals contain the true value, and how often tests find a difference.

    python tests/bench/simulated_coverage.py                # every population (some ten minutes)
    python tests/bench/simulated_coverage.py --short        # few corpora and methods: a smoke test
    python tests/bench/simulated_coverage.py --json out.json --markdown table.md

A corpus has units (documents, or clusters of documents) drawn from a population. Coverage is the share of corpora whose
nominal 95% interval contains the score of the population. For several systems, some of which differ, the error is the
share of corpora in which any two equal systems are found to differ at 5%, and the power is the share of the pairs that
differ that are found. The seed is fixed: the tables are the same every time.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from arbitre.statistics.intervals import interval
from arbitre.statistics.paired_tests import contrasts, paired_difference
from arbitre.statistics.sample import Sample

SEED = 20_240_101
LEVEL = 0.95
SCORE = "irq"
CLOSED = ("clopper-pearson", "t")
BOOTSTRAP = ("percentile", "bca")
SIZES = (5, 10, 20, 50, 100, 200)
ENTRIES = 20
"""Documents have 1 to this many entries, each as likely."""
MOST_UNITS = 50
"""Maximum number of units of the corpora in the tables of the documentation."""

POPULATIONS = {
    "mild": ((8, 2), 0.0),
    "skewed": ((2, 1), 0.0),
    "5% failures": ((8, 2), 0.05),
    "10% failures": ((8, 2), 0.1),
    "0/1, p = .5": (None, 0.5),
    "0/1, p = .8": (None, 0.2),
    "0/1, p = .9": (None, 0.1),
    "0/1, p = .95": (None, 0.05),
}
"""Parameters of the beta distribution of qualities (None: all are 1), and the share of documents that fail."""

COMPARED = ("mild", "10% failures", "0/1, p = .9")
"""Populations of the differences, and of the clusters in the tables of the documentation."""

DESIGNS = ("documents", "clusters of 3", "clusters of 1 to 8")


@dataclass
class Row:
    """Coverage of a method, mean width of its intervals."""

    population: str
    design: str
    average: str
    units: int
    method: str
    coverage: float
    width: float


@dataclass
class Rate:
    """Errors and power of a correction for several systems."""

    population: str
    units: int
    systems: int
    better: int
    """Number of systems with a higher quality; 0 if all are equal."""
    correction: str
    error: float
    power: float | None
    disagreeing: int
    """Pairs whose interval excludes 0 where the test finds nothing, or the reverse."""


def truth(population):
    shape, failing = POPULATIONS[population]
    return (1.0 if shape is None else shape[0] / sum(shape)) * (1 - failing)


def sizes(generator, design, units):
    """The number of documents in each unit."""
    if design == "documents":
        return np.ones(units, dtype=int)
    return np.full(units, 3) if design == "clusters of 3" else generator.integers(1, 9, units)


def qualities(generator, population, labels):
    """Documents of one cluster are alike: half of their quality, or half of their outcomes, come from the cluster."""
    shape, failing = POPULATIONS[population]
    clustered = labels[-1] + 1 < len(labels)
    own = np.ones(len(labels)) if shape is None else generator.beta(*shape, len(labels))
    fails = generator.random(len(labels)) < failing
    if clustered and shape is None:
        fails = np.where(
            generator.random(len(labels)) < 0.5, (generator.random(labels[-1] + 1) < failing)[labels], fails
        )
    elif clustered:
        own = 0.5 * own + 0.5 * generator.beta(*shape, labels[-1] + 1)[labels]
    return np.where(fails, 0.0, own)


def sample(gold, quality, labels):
    tallies = np.stack([gold, gold, gold, gold * quality, gold * quality**2], axis=1)
    clustered = bool(labels[-1] + 1 < len(labels))
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    return Sample(range(len(gold)), tallies, np.zeros(len(gold), dtype=bool), starts, clustered)


def corpus(generator, population, design, units, systems=1):
    labels = np.repeat(np.arange(units), sizes(generator, design, units))
    gold = generator.integers(1, ENTRIES + 1, len(labels)).astype(float)
    return [sample(gold, qualities(generator, population, labels), labels) for _ in range(systems)]


def coverage(population, design, units, *, methods, corpora, averages=("macro", "micro")):
    """A row for each average and method, all from the same corpora."""
    generator = np.random.default_rng((SEED, units, sum(map(ord, population + design))))
    made = [corpus(generator, population, design, units)[0] for _ in range(corpora)]
    true = truth(population)
    for average in averages:
        for method in methods:
            found = [interval(one, SCORE, average=average, level=LEVEL, method=method, resamples=499) for one in made]
            held = np.mean([one.low - 1e-9 <= true <= one.high + 1e-9 for one in found])
            width = np.mean([one.high - one.low for one in found])
            yield Row(population, design, average, units, method, float(held), float(width))


@dataclass
class Contrast:
    """Coverage and mean width of the intervals of the difference of two systems, and the power of the test."""

    population: str
    gain: float
    """Share of what the second system misses that the first one has right."""
    units: int
    method: str
    coverage: float
    width: float
    power: float


def family(generator, population, units, systems, better, gain):  # noqa: PLR0917
    """Qualities of systems on the same documents, half of each that of the document; the first ones are better.

    Returns the qualities, shape (units, systems), and the true mean of each system.
    """
    shape, failing = POPULATIONS[population]
    if shape is None:
        own = (generator.random((units, systems)) >= failing).astype(float)
    else:
        own = 0.5 * generator.beta(*shape, (units, 1)) + 0.5 * generator.beta(*shape, (units, systems))
        own[generator.random((units, systems)) < failing] = 0.0
    if shape is None:
        own[:, :better] = np.maximum(own[:, :better], generator.random((units, better)) < gain)
    else:
        own[:, :better] += gain * (1.0 - own[:, :better])
    mean = truth(population)
    return own, np.where(np.arange(systems) < better, mean + gain * (1.0 - mean), mean)


def samples_of(values):
    gold, labels = np.full(len(values), 4.0), np.arange(len(values))
    return [sample(gold, column, labels) for column in values.T]


def difference(population, gain, units, corpora):
    """A row for the interval of the test, Student's t of the differences (with SciPy), and the bootstrap."""
    generator = np.random.default_rng((SEED, units, int(100 * gain), sum(map(ord, population))))
    found = defaultdict(list)
    for _ in range(corpora):
        values, means = family(generator, population, units, 2, 1, gain)
        true, pair = means[0] - means[1], samples_of(values)
        apart = values[:, 0] - values[:, 1]
        by_t = stats.ttest_1samp(apart, 0.0).confidence_interval(LEVEL) if np.ptp(apart) > 0 else (apart[0], apart[0])
        found["Student’s t"].append((*by_t, true))
        for method in ("swaps", "percentile"):
            one = paired_difference(*pair, SCORE, average="macro", level=LEVEL, method=method, resamples=499)
            found[method].append((one.low, one.high, true))
    for method, ends in found.items():
        low, high, true = np.array(ends).T
        held = np.mean((low - 1e-9 <= true) & (true <= high + 1e-9))
        width = np.mean(np.minimum(high, 1.0) - np.maximum(low, -1.0))
        yield Contrast(
            population, gain, units, method, float(held), float(width), float(np.mean((low > 0) | (high < 0)))
        )


def rates(population, units, systems, better, corpora, *, gain=0.3, permutations=999):
    """Errors and power of Holm's correction, the step-down max-T and the randomised Tukey HSD, on the same corpora."""
    generator = np.random.default_rng((SEED, units, systems, better, sum(map(ord, population))))
    pairs = list(combinations(range(systems), 2))
    equal = np.array([(a < better) is (b < better) for a, b in pairs])
    wrong, right, disagreeing = np.zeros(3), np.zeros(3), 0
    for _ in range(corpora):
        values, _ = family(generator, population, units, systems, better, gain)
        found = contrasts([samples_of(values)], [pairs], SCORE, average="macro", level=LEVEL)
        disagreeing += sum(one.significant is not (one.low > 0 or one.high < 0) for one in found)
        shuffled = np.argsort(generator.random((permutations, units, systems)), axis=2)
        ranges = np.ptp(np.take_along_axis(values[None], shuffled, axis=2).mean(axis=1), axis=1)
        least = np.quantile(ranges, LEVEL, method="higher") + 1e-9
        significant = np.array(
            [(one.p_holm <= 0.05, one.p_adjusted <= 0.05, abs(one.estimate) > least) for one in found]
        )
        wrong += significant[equal].any(axis=0)
        right += significant[~equal].mean(axis=0) if better else 0.0
    for at, correction in enumerate(("Holm", "max-T", "Tukey HSD")):
        power = float(right[at] / corpora) if better else None
        error = float(wrong[at] / corpora)
        yield Rate(
            population, units, systems, better, correction, error, power, disagreeing if correction == "max-T" else 0
        )


def markdown(rows, differences, errors):
    """Return the tables of the documentation, which contain a selection of the rows."""
    closed = [row for row in rows if row.method in CLOSED and row.units <= MOST_UNITS]
    independent = [row for row in closed if (row.design, row.average) == (DESIGNS[0], "macro")]
    clustered = [row for row in closed if (row.design, row.average) == (DESIGNS[2], "micro")]
    bootstrap = [row for row in rows if row.method in BOOTSTRAP]
    tables = [
        by_size(
            independent + [row for row in clustered if row.population in COMPARED],
            "coverage",
            ("population", "design", "average"),
            ("population", "units", "score"),
            CLOSED,
        ),
        by_size(independent, "width", ("population",), ("population",), CLOSED),
        by_size(bootstrap, "coverage", ("population",), ("population",), BOOTSTRAP, "of bootstrap intervals"),
    ]
    methods = tuple(dict.fromkeys(row.method for row in differences))
    tables += [
        by_size(
            [row for row in differences if row.method in shown],
            name,
            ("population", "gain"),
            ("population", "gain"),
            shown,
            "of differences",
        )
        for name, shown in (("coverage", methods), ("power", ("swaps",)))
    ]
    settings = defaultdict(dict)
    for one in errors:
        settings[one.population, str(one.units), str(one.systems), str(one.better)][one.correction] = one
    corrections = ("Holm", "max-T")
    lines = [
        (
            *setting,
            *(cell([found[one].error]) for one in corrections),
            *("–" if found[one].power is None else cell([found[one].power]) for one in corrections),
        )
        for setting, found in settings.items()
    ]
    head = ("population", "documents", "systems", "better", *(f"error, {one}" for one in corrections))
    tables.append(grid((*head, *(f"power, {one}" for one in corrections)), lines, "Errors and power"))
    return "\n".join(tables)


def by_size(rows, name, keys, head, methods, what=""):  # noqa: PLR0917
    cells, sizes_of = defaultdict(list), dict.fromkeys(row.units for row in rows)
    for row in rows:
        cells[tuple(str(getattr(row, key)) for key in keys), row.method].append(getattr(row, name))
    settings = dict.fromkeys(setting for setting, _ in cells)
    lines = [(*one, *(cell(cells[one, method]) for method in methods)) for one in settings]
    return grid(
        (*head, *methods),
        lines,
        f"{name.capitalize()} {what} for {' / '.join(map(str, sizes_of))} units".replace("  ", " "),
    )


def cell(shares):
    return " / ".join(f"{share:.3f}".removeprefix("0") for share in shares)


def grid(head, rows, title):
    lines = [f"{title}:", "", f"| {' | '.join(head)} |", "|" + ":---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few corpora: that everything runs")
    parser.add_argument("--corpora", type=int, default=1000, help="number of simulated corpora for each row")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--markdown", type=Path, help="write the tables of the documentation here")
    options = parser.parse_args()
    short = options.short
    corpora, units = (100, (5, 10, 50)) if short else (options.corpora, SIZES)
    populations = ("mild", "10% failures", "0/1, p = .95") if short else tuple(POPULATIONS)
    designs = (DESIGNS[0], DESIGNS[2]) if short else DESIGNS
    rows = [
        row
        for population in populations
        for design in designs
        for size in units
        for row in coverage(population, design, size, methods=CLOSED, corpora=corpora)
    ]
    rows += [
        row
        for population in (populations[:2] if short else populations)
        for size in (units[:1] if short else SIZES[:4])
        for row in coverage(
            population, DESIGNS[0], size, methods=BOOTSTRAP, corpora=max(corpora // 8, 20), averages=("macro",)
        )
    ]
    differences = [
        row
        for population in COMPARED
        for gain in ((0.3,) if short else (0.0, 0.3, 0.7))
        for size in ((20,) if short else (6, 10, 20, 50))
        for row in difference(population, gain, size, max(corpora // 4, 50))
    ]
    settings = [("mild", 10, 4, 2)]
    if not short:
        settings = [
            (population, size, 6, better)
            for population in ("mild", "10% failures")
            for size in (10, 20, 50)
            for better in (0, 3)
        ] + [("mild", 30, 15, 0), ("mild", 30, 15, 5)]
    errors = [
        row
        for population, size, systems, better in settings
        for row in rates(population, size, systems, better, max(corpora // (10 if systems < 10 else 40), 20))
    ]
    text = markdown(rows, differences, errors)
    print(text)
    if options.json is not None:
        plain = {"coverage": rows, "differences": differences, "errors": errors}
        plain = {name: [asdict(one) for one in found] for name, found in plain.items()}
        options.json.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
