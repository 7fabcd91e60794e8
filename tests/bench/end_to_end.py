"""Time `arbitre evaluate` against its kernel: json.loads of both files and one comparison of the parsed documents.

    python tests/bench/end_to_end.py                    # 2,000 and 10,000 documents of 20 entries, nested and flat
    python tests/bench/end_to_end.py --short            # a few documents, once: that everything runs
    python tests/bench/end_to_end.py --turns 3 --json out.json

Every row is the ratio of two times of the same run, measured in turns. The command runs as a user would run it, in a
process of its own, start of the interpreter included; the kernel is timed in a process of its own without its start.
Times are those of the processor, except for the row of two workers, which needs two idle processors. The workload is
that of the folder `bench` beside the project (or `--workload DIR`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "bench"
ENTRIES = 20

KERNEL = """
import json, os, sys
from arbitre import Comparator
comparator = Comparator(json.load(open("schema.json")))
comparator.evaluate([])
begin = os.times()
gold, predicted = ([json.loads(line) for line in open(f"{side}.jsonl")] for side in ("gold", "predicted"))
triples = [(one.pop("id"), one, (other.pop("id"), other)[1]) for one, other in zip(gold, predicted, strict=True)]
comparator.evaluate(triples)
end = os.times()
print(end.user - begin.user + end.system - begin.system)
"""

WORK = {
    "all files": ["--workers", "1"],
    "without report": ["--workers", "1", "--no-report"],
    "without report, no chance scores": ["--workers", "1", "--no-report", "--no-chance"],
}
WORKERS = {"two workers against one": [], "two workers against one, without report": ["--no-report"]}
COMMAND = {("nested", 2000), ("flat", 10_000)}
PARALLEL = {("nested", 10_000), ("flat", 10_000)}
MOST = {"all files": 2.0, "without report": 1.6}
LEAST = 1.7
"""How many times faster two workers are to be than one."""


def written(folder, workload, kind, count):
    """The corpus as JSON lines, and its schema."""
    with (folder / "gold.jsonl").open("w") as gold, (folder / "predicted.jsonl").open("w") as predicted:
        for number, pair in enumerate(workload.make_corpus(kind, count, ENTRIES)):
            for file, document in zip((gold, predicted), pair, strict=True):
                file.write(json.dumps({"id": f"d{number:06}", **document}, ensure_ascii=False) + "\n")
    (folder / "schema.json").write_text(json.dumps(workload.SCHEMAS[kind]))


def kernel(folder):
    """Processor time of the kernel in seconds."""
    done = subprocess.run([sys.executable, "-c", KERNEL], cwd=folder, check=True, capture_output=True, text=True)
    return float(done.stdout)


def command(folder, *options):
    """Processor time and wall time of the command in seconds."""
    sources = ["--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl", "--out", "out"]
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "arbitre", "evaluate", "--quiet", *sources, *options], cwd=folder, check=True)
    after, end = os.times(), time.perf_counter()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return used, end - begin


def measured(folder, turns, kind, count):
    """The ratios of each turn, by row."""
    ratios = {name: [] for name in (WORK if (kind, count) in COMMAND else {})}
    ratios |= {name: [] for name in (WORKERS if (kind, count) in PARALLEL else {})}
    for _ in range(turns):
        base = kernel(folder) if (kind, count) in COMMAND else None
        for name, values in ratios.items():
            if name in WORK:
                values.append(command(folder, *WORK[name])[0] / base)
            else:
                one, two = (command(folder, "--workers", workers, *WORKERS[name])[1] for workers in ("1", "2"))
                values.append(one / two)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", choices=["nested", "flat"], default=["nested", "flat"])
    parser.add_argument("--workload", type=Path, default=BESIDE)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(options.workload))
    import workload

    rows = []
    for kind, count in sorted(COMMAND | PARALLEL, reverse=True):
        if kind not in options.kinds:
            continue
        with tempfile.TemporaryDirectory() as folder:
            size = 600 if options.short else count
            written(Path(folder), workload, kind, size)
            for name, ratios in measured(Path(folder), 1 if options.short else options.turns, kind, count).items():
                wanted = f"at most {MOST[name]}" if name in MOST else f"at least {LEAST}" * name.startswith("two")
                rows.append({"kind": kind, "documents": size, "work": name, "ratios": ratios, "wanted": wanted})
    table = Table("documents", "work", "median ratio", "turns", "wanted")
    for row in rows:
        turns = ", ".join(f"{ratio:.2f}" for ratio in row["ratios"])
        median = f"{statistics.median(row['ratios']):.2f}"
        table.add_row(f"{row['documents']:,} {row['kind']}", row["work"], median, turns, row["wanted"])
    Console().print(table)
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
