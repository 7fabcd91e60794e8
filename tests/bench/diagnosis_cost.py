"""CPU time of the diagnosis of a document, as a multiple of the comparison itself.

    python tests/bench/diagnosis_cost.py            # 100 nested entries
    python tests/bench/diagnosis_cost.py --short    # a small document, once

The workload is that of the folder `bench` beside the project. The comparison and the diagnosis are timed in turn, as
user and system time of this process; the smallest of several times counts. The parts are timed on the same levels; the
diagnosis also builds the levels and, for `f1q_after_joins`, compares the joined document again.
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

from arbitre import Comparator
from arbitre.diagnosis.causes.faults import FaultResults
from arbitre.diagnosis.causes.joins import JoinResults
from arbitre.diagnosis.causes.solidarity import LeafSums
from arbitre.diagnosis.moves.moved import MovedResults
from arbitre.engine import compare_to_levels

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "bench"
TURNS = 9


def cpu():
    """CPU time of this process so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(function):
    start = cpu()
    function()
    return cpu() - start


def measure(entries=100, seeds=(0, 1, 2), turns=TURNS):
    """Return the CPU time of each part in seconds, by name, as the mean over the documents."""
    sys.path.append(str(BESIDE))
    from workload import NESTED_SCHEMA, make_pair

    comparator = Comparator(NESTED_SCHEMA)
    plan, totals = comparator.plan, {}
    for seed in seeds:
        gold, predicted = make_pair("nested", n=entries, seed=seed)
        levels = compare_to_levels(plan, [gold], [predicted])
        joins, moved = JoinResults.of(plan, [gold], [predicted], levels), MovedResults.of(plan, levels, 1)
        parts = {
            "comparison": lambda: comparator.compare(gold=gold, predicted=predicted).scores,  # noqa: B023
            "flat comparison": lambda: LeafSums.of(levels, 1, plan.close),  # noqa: B023
            "moved values": lambda: MovedResults.of(plan, levels, 1),  # noqa: B023
            "splits and merges": lambda: JoinResults.of(plan, [gold], [predicted], levels),  # noqa: B023
            "faults": lambda: FaultResults.of(plan, [gold], levels, joins.joins, moved.nodes).parts_of(0),  # noqa: B023
            "diagnosis": None,
        }
        best = dict.fromkeys(parts, float("inf"))
        for _ in range(turns):
            comparison = comparator.compare(gold=gold, predicted=predicted)
            parts["diagnosis"] = lambda: comparison.diagnosis  # noqa: B023
            best = {name: min(best[name], timed(function)) for name, function in parts.items()}
        for name, seconds in best.items():
            totals[name] = totals.get(name, 0.0) + seconds / len(seeds)
    return totals


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    found = measure(10, (0,), 1) if short else measure()
    for part, seconds in found.items():
        print(f"{part:18} {seconds * 1e3:7.1f} ms  {seconds / found['comparison']:5.2f} x comparison")
