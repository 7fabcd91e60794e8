"""Simulate the accuracy of a class of list items, where the matching of the items could decide about the accuracy.

    python tests/bench/classes_in_lists.py                 # 200 corpora each (about five minutes)
    python tests/bench/classes_in_lists.py --short         # few corpora: a smoke test
    python tests/bench/classes_in_lists.py --json out.json --markdown table.md

The corpora are those of `agreement_in_lists.py`: 30 documents of 4 items with a class and, beside it, something that
identifies the items or does not. The first annotator is gold, the second one the system. The accuracy of `classification`
is compared with that of the true pairs, and with the imq of the path, whose matching looks at the classes.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from agreement_in_lists import POPULATIONS, comparator, corpus, run

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


def rows(besides, corpora):
    """The rows of these ways to identify items; few corpora with the least probability of the true class for None."""
    probabilities = sorted({knows for knows, annotators in POPULATIONS if annotators == 2})
    return [
        simulated(beside, knows, corpora or 2)
        for knows in (probabilities if corpora else probabilities[:1])
        for beside in besides
    ]


if __name__ == "__main__":
    run(__doc__.splitlines()[0], NAMES, rows)
