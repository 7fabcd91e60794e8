"""Simulate how often intervals hold the truth, and how often tests find a difference where there is none.

    python tests/bench/simulated_coverage.py                # every population, 2,000 corpora each (some 15 minutes)
    python tests/bench/simulated_coverage.py --short        # few corpora and methods: a smoke test
    python tests/bench/simulated_coverage.py --json out.json --markdown table.md

A corpus has units (documents, or clusters of documents) drawn from a population. Coverage is the share of corpora whose
nominal 95 % interval holds the score of the population; the type-I error is the share of corpora in which two systems
with exchangeable results are found to differ at 5 %. An eighth of the corpora is used for the bootstrap methods, a fifth
for tests of two systems, a twentieth for tests of 15. The seed is fixed: the tables are the same every time.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from arbitre.corpus.statistics import Sample, contrasts, interval

SEED = 20_240_101
LEVEL = 0.95
SCORE = "irq"
METHODS = ("adjusted-t", "t", "percentile", "bca")
SIZES = (5, 10, 20, 30)
ENTRIES = 20
"""Documents have 1 to this many entries, each as likely."""

POPULATIONS = {
    "mild": ((8, 2), 0.0),
    "skewed": ((9, 1), 0.0),
    "10 % failures": ((8, 2), 0.1),
    "20 % failures": ((8, 2), 0.2),
}
"""Parameters of the beta distribution of qualities, and the share of documents that fail."""

DESIGNS = ("documents", "clusters of 3", "clusters of 1 to 8")
TRUTH = {name: a / (a + b) * (1 - failing) for name, ((a, b), failing) in POPULATIONS.items()}


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
    """Share of corpora with any difference found among systems that do not differ."""

    population: str
    design: str
    units: int
    systems: int
    error: float
    disagreeing: int
    """Pairs whose interval excludes 0 where the test finds nothing, or the reverse."""


def sizes(generator, design, units):
    """The number of documents in each unit."""
    if design == "documents":
        return np.ones(units, dtype=int)
    return np.full(units, 3) if design == "clusters of 3" else generator.integers(1, 9, units)


def qualities(generator, population, labels):
    """Documents of one cluster are alike: half of what they are is that of the cluster."""
    (a, b), failing = POPULATIONS[population]
    own = generator.beta(a, b, len(labels))
    if labels[-1] + 1 < len(labels):
        own = 0.5 * own + 0.5 * generator.beta(a, b, labels[-1] + 1)[labels]
    return np.where(generator.random(len(labels)) < failing, 0.0, own)


def sample(gold, quality, labels):
    tallies = np.stack([gold, gold, gold, gold * quality, gold * quality**2], axis=1)
    clusters = labels.tolist() if labels[-1] + 1 < len(labels) else None
    return Sample.of([f"{number:04}" for number in range(len(gold))], tallies, None, clusters)


def corpus(generator, population, design, units, systems=1):
    labels = np.repeat(np.arange(units), sizes(generator, design, units))
    gold = generator.integers(1, ENTRIES + 1, len(labels)).astype(float)
    return [sample(gold, qualities(generator, population, labels), labels) for _ in range(systems)]


def coverage(population, design, units, *, methods, corpora):
    """A row for each average and method, all from the same corpora."""
    generator = np.random.default_rng((SEED, units, sum(map(ord, population + design))))
    made = [corpus(generator, population, design, units)[0] for _ in range(corpora)]
    for average in ("macro", "micro"):
        for method in methods:
            some = made[: max(len(made) // 8, 1)] if method in {"percentile", "bca"} else made
            found = [interval(one, SCORE, average=average, level=LEVEL, method=method, resamples=499) for one in some]
            held = np.mean([one.low <= TRUTH[population] <= one.high for one in found])
            width = np.mean([one.high - one.low for one in found])
            yield Row(population, design, average, units, method, float(held), float(width))


def error(population, design, units, systems, corpora):
    """How often any of several systems from one population is found to differ from another."""
    generator = np.random.default_rng((SEED, units, systems, sum(map(ord, population + design))))
    pairs = list(combinations(range(systems), 2))
    wrong = disagreeing = 0
    for _ in range(corpora):
        samples = corpus(generator, population, design, units, systems)
        found = contrasts([samples], [pairs], SCORE, average="macro", level=LEVEL)
        wrong += any(one.significant for one in found)
        disagreeing += sum(one.significant is not (one.low > 0 or one.high < 0) for one in found)
    return Rate(population, design, units, systems, wrong / corpora, disagreeing)


def markdown(rows, rates):
    """Three tables: coverage, mean width and type-I error, each cell for every number of units."""
    units = " / ".join(map(str, dict.fromkeys(row.units for row in rows)))
    methods = list(dict.fromkeys(row.method for row in rows))
    tables = []
    for name in ("coverage", "width"):
        cells = defaultdict(list)
        for row in rows:
            if name == "coverage" or (row.design, row.average) == (DESIGNS[0], "macro"):
                cells[(row.population, row.design, row.average), row.method].append(getattr(row, name))
        settings = dict.fromkeys(setting for setting, _ in cells)
        tables.append(
            grid(
                ("population", "units", "score", *methods),
                [(*one, *(cell(cells[one, method]) for method in methods)) for one in settings],
                f"{name.capitalize()} with {units} units",
            )
        )
    errors = defaultdict(dict)
    for one in rates:
        errors[one.population, one.design, str(one.systems)][one.units] = one.error
    numbers = sorted({one.units for one in rates})
    found = [
        (*setting, *(f"{shares[number]:.3f}" if number in shares else "" for number in numbers))
        for setting, shares in errors.items()
    ]
    tables.append(
        grid(("population", "units", "systems", *map(str, numbers)), found, "Type-I error, by number of units")
    )
    return "\n".join(tables)


def cell(shares):
    return " / ".join(f"{share:.3f}".removeprefix("0") for share in shares)


def grid(head, rows, title):
    lines = [f"{title}:", "", f"| {' | '.join(head)} |", "|" + ":---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few corpora: that everything runs")
    parser.add_argument("--corpora", type=int, default=2000, help="number of simulated corpora for each row")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--markdown", type=Path, help="write the tables of the documentation here")
    options = parser.parse_args()
    short = options.short
    corpora, units = (60, SIZES[:2]) if short else (options.corpora, SIZES)
    populations = ("mild", "20 % failures") if short else tuple(POPULATIONS)
    designs = (DESIGNS[0], DESIGNS[2]) if short else DESIGNS
    settings = [(population, design) for population in populations for design in designs]
    rows = [
        row
        for population, design in settings
        for size in units
        for row in coverage(population, design, size, methods=METHODS, corpora=corpora)
    ]
    rates = [
        error(population, design, size, 2, corpora if short else max(corpora // 5, 1))
        for population, design in settings
        for size in units[:3]
    ]
    if not short:
        rates += [
            error(population, "documents", size, 15, max(corpora // 20, 1))
            for population in ("mild", "20 % failures")
            for size in (10, 20)
        ]
    table = Table(title="Coverage of nominal 95 % intervals, and their mean width")
    for name in ("population", "units", "score", "number", "method", "coverage", "width"):
        table.add_column(name)
    for row in rows:
        figures = (f"{row.coverage:.3f}", f"{row.width:.3f}")
        table.add_row(row.population, row.design, row.average, str(row.units), row.method, *figures)
    Console().print(table)
    print(markdown(rows, rates))
    if options.json is not None:
        plain = {"coverage": [asdict(row) for row in rows], "errors": [asdict(one) for one in rates]}
        options.json.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text(markdown(rows, rates), encoding="utf-8")


if __name__ == "__main__":
    main()
