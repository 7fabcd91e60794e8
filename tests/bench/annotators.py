"""Time the agreement of annotators on nested documents, and measure its memory.

    python tests/bench/annotators.py                  # 3 annotators, 200 documents of 20 entries, nested and flat
    python tests/bench/annotators.py --all            # also 5 annotators, 2,000 documents, and lists of 200 entries
    python tests/bench/annotators.py --long           # 4 annotators, two documents with 100 to 800 entries each
    python tests/bench/annotators.py --short          # a few documents
    python tests/bench/annotators.py --json out.json

The gold documents are those of the folder `bench` beside the project (or `--workload DIR`). Each annotator has a copy
with other faults: entries left out, invented and moved, and noise in texts. Each row runs in a process of its own. Time
is processor time, without reading documents; memory is the peak of the process, with the documents.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from arbitre import Comparator, agreement
from arbitre.gold.perturb import perturb

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "bench"
RATES = {"drop": 0.08, "invent": 0.06, "move": 0.02, "noise": 0.3}
SHORT = ("nested/3/4/5", "flat/3/4/5")
USUAL = ("nested/3/200/20", "flat/3/200/20")
LARGE = ("nested/5/200/20", "nested/3/2000/20", "nested/3/5/200")
LONG = tuple(f"flat/4/2/{entries}" for entries in (100, 200, 400, 800))
"""Kind of document, number of annotators, of documents and of entries."""


@dataclass
class Row:
    """One corpus: processor time in seconds, memory in MB before the agreement and at its peak, and alpha."""

    corpus: str
    seconds: float
    before: float
    peak: float
    alpha: float
    standard_error: float | None
    exact: bool


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measured(corpus, workload):
    """Measure one corpus in this process."""
    kind, annotators, documents, entries = corpus.split("/")
    spec = importlib.util.spec_from_file_location("workload", workload / "workload.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["workload"] = module
    spec.loader.exec_module(module)
    gold = [pair[0] for pair in module.make_corpus(kind, int(documents), int(entries))]
    annotations = {
        f"annotator {seed}": {
            str(number): perturb(document, RATES, seed=seed, key=str(number)).document
            for number, document in enumerate(gold)
        }
        for seed in range(int(annotators))
    }
    comparator = Comparator(module.SCHEMAS[kind])
    before, usage = peak(), resource.getrusage(resource.RUSAGE_SELF)
    result = agreement.structural(comparator, annotations)
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return Row(corpus, seconds, before, peak(), result.alpha.value, result.alpha.standard_error, result.exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--short", action="store_true", help="a few documents: that everything runs")
    sizes.add_argument("--all", action="store_true", help="large corpora too, which takes several minutes")
    sizes.add_argument("--long", action="store_true", help="long lists, to see how the time grows with their length")
    sizes.add_argument("--corpus", help="measure one corpus in this process, and print it as JSON")
    parser.add_argument("--json", type=Path, help="write the rows here too")
    parser.add_argument("--workload", type=Path, default=BESIDE, help="the folder of workload.py")
    options = parser.parse_args()
    if not (options.workload / "workload.py").is_file():
        parser.exit(0, f"There is no workload.py at {options.workload}: nothing to time.\n")
    if options.corpus is not None:
        sys.stdout.write(json.dumps(asdict(measured(options.corpus, options.workload))))
        return
    rows = []
    corpora = SHORT if options.short else LONG if options.long else USUAL + LARGE if options.all else USUAL
    for corpus in corpora:
        command = [sys.executable, __file__, "--corpus", corpus, "--workload", str(options.workload)]
        rows.append(Row(**json.loads(subprocess.run(command, check=True, capture_output=True).stdout)))
    table = Table(title="Kind/annotators/documents/entries")
    for name in ("corpus", "processor time", "memory before", "peak", "alpha"):
        table.add_column(name, justify="right")
    for row in rows:
        cells = f"{row.seconds:.1f} s", f"{row.before:.0f} MB", f"{row.peak:.0f} MB", f"{row.alpha:.4f}"
        table.add_row(row.corpus, *cells)
    Console().print(table)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
