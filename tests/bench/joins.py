"""Measure the detection of splits and merges: precision and recall on planted faults, and the time it takes.

    python tests/bench/joins.py                # all documents, 12 times with other faults
    python tests/bench/joins.py --seeds 4      # 4 times

Each gold document of the Senate and of extract-bench is perturbed with all kinds of faults at once. A detected join
counts as correct if its kind, its list and its positions on both sides are those of a planted one. With --noise, most
texts of the prediction are then misread. The time is the ratio of processor times to the comparison, on one document
of 100 nested entries of the folder `bench` beside the project (or `--workload DIR`).
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from arbitre import Comparator, bundled
from arbitre.diagnosis.joins import JoinResults, find_joins
from arbitre.engine import compare_batch
from arbitre.gold.perturb import perturb
from arbitre.paths import pointer

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
DATA = SHARED / "data"
RATES = dict.fromkeys(("split", "merge", "move", "swap", "duplicate", "drop", "invent", "noise"), 0.06)
MISREAD = {"noise": 0.6}
SENATE = {"pages as sets": "senat-iou", "pages as digits": "senat-published"}
EXTRACT_BENCH = ("swimming", "credit_agreement")


def corpora(data=DATA):
    """Yield the name of each corpus, its comparator and its gold documents."""
    flat = _documents(data / "senat-1931" / "gold")
    yield "Senate, inferred schema", Comparator.infer(flat), flat
    for title, name in SENATE.items():
        yield f"Senate, {title}", Comparator(bundled.schema(f"examples/{name}.schema.json")), flat
    nested = json.loads((data / "senat-1931" / "nested" / "gold.json").read_text(encoding="utf-8"))
    yield "Senate, nested", Comparator(bundled.schema("examples/senat-nested.schema.json")), [nested]
    for name in EXTRACT_BENCH:
        folder = data / "extract-bench" / name
        yield name, Comparator(folder / "schema.json"), _documents(folder / "gold")


def measured(name, comparator, gold, seeds, *, misread=False):
    """The numbers of correct, wrong and overlooked splits and merges, and of documents."""
    pairs, planted = [], []
    for seed in range(seeds):
        for number, document in enumerate(gold):
            perturbed = perturb(document, RATES, seed=seed, key=f"{name} {number}")
            predicted = perturbed.document
            if misread:
                predicted = perturb(predicted, MISREAD, seed=seed).document
            pairs.append((document, predicted))
            planted.append({_join(fault) for fault in perturbed.faults if fault.kind in {"split", "merge"}})
    detected = [set() for _ in pairs]
    gold_side, predicted_side = zip(*pairs, strict=True)
    for join in find_joins(comparator.plan, compare_batch(comparator.plan, gold_side, predicted_side).levels()):
        kind = "merge" if join.merge else "split"
        detected[join.document].add((kind, pointer(join.gold_list), join.gold, join.predicted))
    counts = Counter(documents=len(pairs))
    for expected, actual in zip(planted, detected, strict=True):
        for outcome, joins in (
            ("correct", expected & actual),
            ("wrong", actual - expected),
            ("overlooked", expected - actual),
        ):
            counts.update((join[0], outcome) for join in joins)
    return counts


def precision_and_recall(counts, kind):
    correct, wrong, overlooked = (counts[kind, outcome] for outcome in ("correct", "wrong", "overlooked"))
    return tuple(correct / total if (total := correct + other) else None for other in (wrong, overlooked))


def time_ratios(workload, turns):
    """The time of the search, and of the search and the score after joins, in units of one comparison."""
    comparator = Comparator(workload.SCHEMAS["nested"])
    gold, predicted = workload.make_pair("nested", 100, seed=0)
    times = []
    for _ in range(turns):
        begin = _time()
        levels = compare_batch(comparator.plan, [gold], [predicted]).levels()
        compared = _time()
        results = JoinResults.of(comparator.plan, [gold], [predicted], levels)
        searched = _time()
        results.parts_of(0)
        times.append((compared - begin, searched - compared, _time() - compared))
    compared, searched, scored = np.median(times, axis=0)
    return searched / compared, scored / compared


def _documents(folder):
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]


def _join(fault):
    gold, predicted = (
        tuple(sorted(int(place.rpartition("/")[2]) for place in side)) for side in (fault.gold, fault.predicted)
    )
    return fault.kind.value, fault.gold[0].rpartition("/")[0], gold, predicted


def _time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--workload", type=Path, default=SHARED / "bench")
    options = parser.parse_args()
    grid = Table("corpus", "documents", "kind", "correct", "wrong", "overlooked", "precision", "recall")
    total = Counter()
    for name, comparator, gold in corpora():
        counts = measured(name, comparator, gold, options.seeds, misread=options.noise)
        total += counts
        _add_rows(grid, name, counts)
    _add_rows(grid, "all", total)
    console = Console(width=100)
    console.print(grid)
    sys.path.insert(0, str(options.workload))
    import workload

    searched, scored = time_ratios(workload, options.turns)
    console.print(f"Search: {searched:.2f} of a comparison; with the score after joins: {scored:.2f}")


def _add_rows(grid, name, counts):
    for kind in ("split", "merge"):
        numbers = [str(counts[kind, outcome]) for outcome in ("correct", "wrong", "overlooked")]
        rates = ["-" if rate is None else f"{rate:.3f}" for rate in precision_and_recall(counts, kind)]
        grid.add_row(name, str(counts["documents"]), kind, *numbers, *rates)


if __name__ == "__main__":
    main()
