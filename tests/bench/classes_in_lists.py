"""Simulate the accuracy of a class of list items, where the matching of the items could decide about the accuracy.

    python tests/bench/classes_in_lists.py                 # 200 corpora each (about five minutes)
    python tests/bench/classes_in_lists.py --short         # few corpora: a smoke test
    python tests/bench/classes_in_lists.py --json out.json --markdown table.md

The corpora are those of `agreement_in_lists.py`: 30 documents of 4 items with a class and, beside it, something that
identifies the items or does not. The first annotator is gold, the second one the system. The accuracy of `classification`
is compared with that of the true pairs, and with the imq of the path, whose matching looks at the classes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from agreement_in_lists import BESIDE, POPULATIONS, comparator, corpus

NAMES = (
    "what identifies items",
    "matched by",
    "truth known",
    "true accuracy",
    "accuracy",
    "largest error",
    "all fields",
)


@dataclass
class Row:
    """Mean accuracy of one design: what identifies items, probability of the true class, and results."""

    beside: str
    knows: float
    matched_by: str
    true: float
    value: float
    largest: float
    """Largest difference of the accuracy from that of the true pairs."""
    all_fields: float
    """The imq of the path, whose items are matched by all fields."""

    def cells(self):
        numbers = (self.true, self.value, self.largest, self.all_fields)
        return self.beside, self.matched_by, f"{self.knows:g}", *(f"{number:.3f}" for number in numbers)


def simulated(beside, knows, corpora):
    compare, matched_by, found = comparator(beside), Counter(), []
    for seed in range(corpora):
        documents, given = corpus(beside, knows, 2, seed)
        gold, predicted = documents.values()
        pairs = [(name, gold[name], predicted[name]) for name in gold]
        evaluation = compare.evaluate(pairs)
        classes = evaluation.classification("/items/*/class")
        matched_by[classes.matched_by] += 1
        true = sum(first == second for first, second in given) / len(given)
        found.append((true, classes.accuracy, evaluation.by_path["/items/*/class"].imq))
    true, value, all_fields = map(statistics.fmean, zip(*found, strict=True))
    largest = max(abs(one[0] - one[1]) for one in found)
    return Row(beside, knows, matched_by.most_common(1)[0][0], true, value, largest, all_fields)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few corpora: that everything runs")
    parser.add_argument("--beside", nargs="+", choices=BESIDE, default=BESIDE)
    parser.add_argument("--corpora", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    probabilities = sorted({knows for knows, annotators in POPULATIONS if annotators == 2})
    rows = [
        simulated(beside, knows, 2 if options.short else options.corpora)
        for knows in (probabilities[:1] if options.short else probabilities)
        for beside in options.beside
    ]
    table, lines = Table(*NAMES), [f"| {' | '.join(NAMES)} |", "|---" * len(NAMES) + "|"]
    for row in rows:
        table.add_row(*row.cells())
        lines.append(f"| {' | '.join(row.cells())} |")
    Console(width=140).print(table)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
