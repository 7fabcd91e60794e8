"""Simulate agreement on a field of list items, where the alignment of the items could decide about the agreement.

    python tests/bench/agreement_in_lists.py                 # 200 corpora each, both sides (about 20 minutes)
    python tests/bench/agreement_in_lists.py --short         # few corpora: a smoke test
    python tests/bench/agreement_in_lists.py --json out.json --markdown table.md

A corpus has 30 documents of 4 items with a class, in the order of each annotator. An annotator gives the true class
with a given probability, and otherwise a random class. The other fields of an item decide whether it can be identified:

- nothing: an item is its class alone;
- constant: a second field, the same in all items;
- noise: a random text from each annotator;
- names: a text that differs between items, and is the same for all annotators;
- misread names: two of six letters of each name are other letters;
- kinds: one of two values, the same for all annotators, which identifies an item only in part;
- key: names, which the schema declares as the key; two in ten are missing;
- position: nothing, but the schema declares that items are matched by position, which is that of the truth.

The truth is known: alpha of the classes of the true pairs, computed here by its definition. Coverage is the share of
corpora whose interval at 95 % contains the true alpha of the population (0 for noise).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections import Counter
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arbitre import Comparator, agreement

CLASSES = ("left", "centre", "right")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
DOCUMENTS, ITEMS = 30, 4
BESIDE = ("nothing", "constant", "noise", "names", "misread names", "kinds", "key", "position")
MATCHINGS = {"key": {"keyed": {"key": "name"}}, "position": "ordered"}
POPULATIONS = ((0.0, 2), (0.0, 3), (0.6, 2), (0.9, 2))
"""Probability of the true class, and number of annotators."""
NAMES = (
    "what identifies items",
    "aligned by",
    "truth known",
    "annotators",
    "true alpha",
    "alpha",
    "sd",
    "coverage",
)


@dataclass
class Row:
    """Alpha of one design: what identifies items, probability of the true class, annotators, and results."""

    beside: str
    knows: float
    annotators: int
    aligned_by: str
    true: float
    value: float
    deviation: float
    coverage: float
    largest: float
    """Largest difference of the value from alpha of the true pairs."""

    def cells(self):
        numbers = (self.true, self.value, self.deviation, self.coverage)
        cells = (self.beside, self.aligned_by, f"{self.knows:g}", str(self.annotators))
        return *cells, *(f"{number:.3f}" for number in numbers)


def comparator(beside):
    fields = {"class": {"enum": list(CLASSES)}, "name": {"type": "string"}}
    items = {"type": "object", "properties": fields}
    keyword = {"x-arbitre": {"match": MATCHINGS[beside]}} if beside in MATCHINGS else {}
    return Comparator({"type": "object", "properties": {"items": {"type": "array", "items": items} | keyword}})


def corpus(beside, knows, annotators, seed):
    """Documents of each annotator, and the classes that they gave to each true item."""
    source = random.Random(f"{beside}/{knows}/{annotators}/{seed}")  # noqa: S311
    given, documents = [], [{} for _ in range(annotators)]
    for document in range(DOCUMENTS):
        truth = [source.choice(CLASSES) for _ in range(ITEMS)]
        names = ["".join(source.choices(LETTERS, k=6)) for _ in range(ITEMS)]
        kinds = [source.choice(("person", "place")) for _ in range(ITEMS)]
        rows = [
            [right if source.random() < knows else source.choice(CLASSES) for right in truth] for _ in range(annotators)
        ]
        for own, row in zip(documents, rows, strict=True):
            items = []
            for name, kind, value in zip(names, kinds, row, strict=True):
                misread = list(name)
                for at in source.sample(range(6), 2):
                    misread[at] = source.choice(LETTERS)
                made_up = "".join(source.choices(LETTERS, k=6))
                missing = source.random() < 0.2
                text = {
                    "constant": "same",
                    "noise": made_up,
                    "names": name,
                    "misread names": "".join(misread),
                    "kinds": kind,
                    "key": None if missing else name,
                }.get(beside)
                items.append({"class": value} | ({} if text is None else {"name": text}))
            if beside != "position":
                source.shuffle(items)
            own[f"{document:02}"] = {"items": items}
        given += zip(*rows, strict=True)
    return {f"annotator {at}": each for at, each in enumerate(documents)}, given


def alpha(given):
    """Krippendorff's alpha of complete nominal ratings, by its definition."""
    totals = Counter(value for item in given for value in item)
    number = sum(totals.values())
    pairs = [pair for item in given for pair in combinations(item, 2)]
    observed = sum(first != second for first, second in pairs) / len(pairs)
    expected = 1.0 - sum(count * (count - 1) for count in totals.values()) / (number * (number - 1))
    return 1.0 - observed / expected


def simulated(beside, knows, annotators, corpora, resamples):
    compare, values, truths, covered, largest = comparator(beside), [], [], 0, 0.0
    population = knows * knows
    aligned_by = Counter()
    for seed in range(corpora):
        documents, given = corpus(beside, knows, annotators, seed)
        found = agreement.structural(compare, documents, resamples=resamples).by_path["/items/*/class"]
        values.append(found.value)
        truths.append(alpha(given))
        aligned_by[found.aligned_by] += 1
        covered += found.interval.low <= population <= found.interval.high
        largest = max(largest, abs(values[-1] - truths[-1]))
    return Row(
        beside,
        knows,
        annotators,
        aligned_by.most_common(1)[0][0],
        statistics.fmean(truths),
        statistics.fmean(values),
        statistics.stdev(values),
        covered / corpora,
        largest,
    )


def run(description, names, simulate):
    """Simulate the designs that the command line chooses; print a table of them, and write it if that is asked for.

    Args:
        description: The help of the command line.
        names: Names of the columns.
        simulate: Takes the ways to identify items, and the number of corpora or None for a smoke test; returns the rows.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--short", action="store_true", help="few corpora: that everything runs")
    parser.add_argument("--beside", nargs="+", choices=BESIDE, default=BESIDE)
    parser.add_argument("--corpora", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    rows = simulate(options.beside, None if options.short else options.corpora)
    table, lines = Table(*names), [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in rows:
        table.add_row(*row.cells())
        lines.append(f"| {' | '.join(row.cells())} |")
    Console(width=140).print(table)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows(besides, corpora):
    """The rows of these ways to identify items; few corpora of the first population for None."""
    return [
        simulated(beside, knows, annotators, corpora or 2, 500 if corpora else 20)
        for beside in besides
        for knows, annotators in (POPULATIONS if corpora else POPULATIONS[:1])
    ]


if __name__ == "__main__":
    run(__doc__.splitlines()[0], NAMES, rows)
