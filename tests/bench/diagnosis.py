"""Measure what each diagnosis costs, as a ratio of processor times to the comparison, on one document of nested entries.

    python tests/bench/diagnosis.py                # 100 entries, 15 turns
    python tests/bench/diagnosis.py --entries 20 --turns 3

The document is that of the folder `bench` beside the project (or `--workload DIR`). All parts are measured in turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from arbitre import Comparator
from arbitre.diagnosis.faults import FaultResults, diagnose, find_links
from arbitre.diagnosis.joins import JoinResults
from arbitre.diagnosis.moved import MovedResults
from arbitre.diagnosis.solidarity import LeafSums
from arbitre.engine import compare_batch

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "bench"


def ratios(workload, entries, turns):
    """The median processor time of each diagnosis, divided by that of the comparison."""
    sys.path.insert(0, str(workload))
    try:
        from workload import NESTED_SCHEMA, make_pair
    finally:
        sys.path.remove(str(workload))
    plan = Comparator(NESTED_SCHEMA).plan
    gold, predicted = ([document] for document in make_pair("nested", entries, seed=0))

    def compared():
        return compare_batch(plan, gold, predicted).levels()

    levels = compared()
    joins, moved = JoinResults.of(plan, gold, predicted, levels), MovedResults.of(plan, levels, 1)
    parts = {
        "comparison": compared,
        "solidarity": lambda: LeafSums.of(levels, 1, plan.close),
        "splits and merges": lambda: JoinResults.of(plan, gold, predicted, levels),
        "moved values": lambda: MovedResults.of(plan, levels, 1),
        "faults": lambda: FaultResults.of(plan, gold, levels, find_links(levels, joins.joins, moved.nodes)).parts_of(0),
        "all": lambda: diagnose(plan, gold, predicted, levels),
    }
    times = {name: [] for name in parts}
    for _ in range(turns):
        for name, part in parts.items():
            start = time.process_time()
            part()
            times[name].append(time.process_time() - start)
    base = float(np.median(times["comparison"]))
    return {name: float(np.median(measured)) / base for name, measured in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workload", type=Path, default=BESIDE)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--turns", type=int, default=15)
    options = parser.parse_args()
    table = Table("diagnosis", "times the comparison")
    for name, ratio in ratios(options.workload, options.entries, options.turns).items():
        table.add_row(name, f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
