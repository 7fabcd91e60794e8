"""Time arbitre beside other scorers and beside what an inner engine could cost, side by side in one run.

    python tests/bench/side_by_side.py                 # every row; peers that are not installed are left out
    python tests/bench/side_by_side.py --short         # small sizes, once: that everything runs
    python tests/bench/side_by_side.py --json out.json
    python tests/bench/side_by_side.py --page docs/benchmarks.md   # write the rows of the peers into the page

The workload, the peers and the floors are those of the folder `bench` beside the project, where there is one (or
`--peers DIR`). Ratios of medians are to be read; the times are this machine's, this minute's. What is timed is the
whole `Comparator.compare(...)` with `.scores` and `.alignment(...)`, or `Comparator.evaluate(...)` with all tallies
by path; the compiled schema is left out.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.table import Table as Screen

from arbitre.tables.table import Table, TableColumn

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "bench"
ENTRIES = "/listes_des_intervenants"


@dataclass
class Row:
    """One line of the table: what was timed against what, in seconds; the ratio says how many times faster we are."""

    work: str
    size: int
    ours: float
    against: str
    theirs: float | None
    wanted: float | None

    @property
    def ratio(self):
        return None if self.theirs is None else self.theirs / self.ours


TURNS = 5
PEERS = {
    "seed_difflib": "published script",
    "structured_eval": "structured-eval",
    "stickler_rapidfuzz": "Stickler",
    "anls_star": "ANLS*",
    "deepdiff_pairs": "DeepDiff",
}
"""The names of the peers on the page; the other rows compare arbitre with what an inner engine could cost."""


def timed(function, seconds):
    """The times of some calls: at least one, and as many as fit into so many seconds."""
    times = []
    while sum(times) < seconds or not times:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return times


def medians(*functions, seconds):
    """The median time of each after a first call, measured in turns: what slows the machine for a while slows all.

    What takes more than ten times as long as it is given has two turns.
    """
    times = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(TURNS):
        for function, found in zip(functions, times, strict=True):
            if len(found) < 2 or sum(found) < 10 * seconds:
                found.extend(timed(function, seconds / TURNS))
    return [statistics.median(found) for found in times]


def schema_of(workload, kind, distance):
    """The workload's schema with the reference semantics: texts stripped and lowered, flat pages as one text."""
    schema = copy.deepcopy(workload.SCHEMAS[kind])
    chosen = {"ratcliff-obershelp": {"autojunk": True}} if distance == "ratcliff" else distance
    item = schema["properties"]["listes_des_intervenants"]["items"]["properties"]
    text = {"normalize": ["strip", "lower"], "distance": chosen}
    if kind == "flat":
        item["nom"]["x-arbitre"] = text
        item["references_pages"]["x-arbitre"] = {"normalize": ["concat"], "distance": chosen}
    else:
        item["nom_de_famille"]["x-arbitre"] = item["prenom"]["x-arbitre"] = text
        action = item["actions_relatives_a_l_intervenant"]["items"]["properties"]
        action["description_action"]["x-arbitre"] = text
    return schema


class Bench:
    """The rows, one after the other; in each, arbitre and what it is compared with are timed in turns."""

    def __init__(self, folder, *, short):
        sys.path.insert(0, str(folder))
        import floor
        import peers
        import workload

        import arbitre

        self.arbitre, self.floor, self.peers, self.workload = arbitre, floor, peers.PEERS, workload
        self.folder, self.short = folder, short
        self.rows = []
        self.seconds = 0.1 if short else 1.0

    def comparator(self, kind, distance="levenshtein"):
        return self.arbitre.Comparator(schema_of(self.workload, kind, distance))

    def compare(self, kind, distance, size, *, noise=None, blank=False, **options):
        """The work, to be called again and again."""
        comparator = self.comparator(kind, distance)
        gold, predicted = self.workload.make_pair(kind, size, **({} if noise is None else {"noise": noise}))
        if blank:
            for document in (gold, predicted):
                for entry in document["listes_des_intervenants"]:
                    entry |= {"nom_de_famille": "", "prenom": "", "role": "sénateur"}

        def once():
            comparison = comparator.compare(gold=gold, predicted=predicted, **options)
            return comparison.scores, comparison.alignment(ENTRIES)

        return once

    def beside(self, ours, name, kind, size):
        """The times of our work and of a peer's on the same documents; None where that is not installed here."""
        peer = self.peers[name]
        if peer.python != "311":
            ours()
            before = timed(ours, self.seconds / 2)
            theirs = self._elsewhere(name, kind, size)
            return statistics.median(before + timed(ours, self.seconds / 2)), theirs
        try:
            score = peer.make(kind)
        except ImportError:
            return *medians(ours, seconds=self.seconds), None
        gold, predicted = self.workload.make_pair(kind, size)
        return tuple(medians(ours, lambda: score(gold, predicted), seconds=self.seconds))

    def _elsewhere(self, name, kind, size):
        """A peer that needs another interpreter, timed there by the peers' own script."""
        command = [sys.executable, str(self.folder / "bench.py"), "run", "--peers", name, "--kinds", kind]
        done = subprocess.run(
            [*command, "--sizes", str(size)],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path.cwd(),
            env={**os.environ, "BENCH_OUT": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return found[-1].get("t") if found else None

    def against(self, work, kind, distance, size, *, name, wanted):
        ours, theirs = self.beside(self.compare(kind, distance, size), name, kind, size)
        self.rows.append(Row(work, size, ours, name, theirs, wanted))
        print(self.rows[-1], file=sys.stderr, flush=True)

    def corpus(self, kind, size, documents):
        comparator = self.comparator(kind)
        pairs = [(str(n), *pair) for n, pair in enumerate(self.workload.make_corpus(kind, documents, size))]
        score = self.peers["floor_lazy_strings" if kind == "nested" else "floor_lev_w1"].make(kind)
        ours, theirs = medians(
            lambda: comparator.evaluate(pairs).by_path,
            lambda: [score(gold, predicted) for _, gold, predicted in pairs],
            seconds=5 * self.seconds,
        )
        name = f"corpus of {documents}, {kind.upper()}"
        self.rows.append(
            Row(name, size, ours, "floor, document by document", theirs, 1.5 if kind == "nested" else None)
        )

    def run(self):
        small = self.short
        sizes = (5,) if small else (20, 100, 300)
        for size, wanted in zip(sizes, (15, 120, 160), strict=False):
            self.against("FLAT, Ratcliff", "flat", "ratcliff", size, name="seed_difflib", wanted=wanted)
        for size, wanted in zip(sizes if small else (*sizes, 1000), (20, 60, 75, 90), strict=False):
            self.against("FLAT, Levenshtein", "flat", "levenshtein", size, name="structured_eval", wanted=wanted)
        for size, wanted in zip(sizes, (8, 18, 18), strict=False):
            self.against("NESTED", "nested", "levenshtein", size, name="structured_eval", wanted=wanted)
        if not small:
            self.against("NESTED", "nested", "levenshtein", 100, name="stickler_rapidfuzz", wanted=700)
            for name in ("anls_star", "deepdiff_pairs"):
                self.against("FLAT, Levenshtein", "flat", "levenshtein", 20, name=name, wanted=None)
                self.against("NESTED", "nested", "levenshtein", 20, name=name, wanted=None)
        for size in (5,) if small else (100, 300, 1000):
            self.against("FLAT, Ratcliff", "flat", "ratcliff", size, name="floor_ratcliff_lazy", wanted=0.5)
            self.against("NESTED", "nested", "levenshtein", size, name="floor_lazy_strings", wanted=0.5)
        self.corpus("nested", 20 if not small else 3, 1000 if not small else 5)
        self.corpus("flat", 20 if not small else 3, 1000 if not small else 5)
        heavy = self.workload.Noise(**{**asdict(self.workload.DEFAULT_NOISE), "dirty": 0.9, "char": 0.25})
        size = 5 if small else 300
        lazily, fully = medians(
            self.compare("nested", "levenshtein", size, noise=heavy, blank=True),
            self.compare("nested", "levenshtein", size, noise=heavy, blank=True, exhaustive=True),
            seconds=self.seconds,
        )
        self.rows.append(Row("NESTED, heavy noise, blanked names", size, lazily, "full batch", fully, 1 / 1.3))
        return self.rows

    def growth(self):
        """The exponent of the time from 100 to 1000 nested entries."""
        times = {row.size: row.ours for row in self.rows if row.work == "NESTED"}
        return math.log(times[1000] / times[100]) / math.log(10) if {100, 1000} <= times.keys() else None


def memory(folder, size):
    """How far the memory of a fresh process rises above its start, in MB, for one nested comparison."""
    code = (
        "import re, sys\n"
        "import arbitre\n"
        "sys.path[:0] = [sys.argv[1], sys.argv[2]]\n"
        "import side_by_side, workload\n"
        "def peak():\n"
        "    return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "c = arbitre.Comparator(side_by_side.schema_of(workload, 'nested', 'levenshtein'))\n"
        "def once(n):\n"
        "    gold, predicted = workload.make_pair('nested', n)\n"
        "    before = peak()\n"
        "    c.compare(gold=gold, predicted=predicted).scores\n"
        "    return peak() - before\n"
        "once(3); print(once(int(sys.argv[3])) / 1024)\n"
    )
    here = str(Path(__file__).resolve().parent)
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), here, str(size)], capture_output=True, text=True, check=False
    )
    return float(done.stdout) if done.returncode == 0 else None  # told on Linux only


def versions():
    """The versions of arbitre, Python and the packages that peers need, where they are installed."""
    found = {"Python": platform.python_version()}
    for name in ("arbitre", "numpy", "scipy", "rapidfuzz", "anls-star", "deepdiff", "stickler-eval"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def shown(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def with_peers(page, rows):
    """The page of the documentation with the table of the peers and the versions of this run."""
    heads = [TableColumn(name) for name in ("peer", "documents")]
    heads += [TableColumn(name, str) for name in ("entries", "arbitre", "peer", "ratio")]
    rows = sorted((row for row in rows if row.against in PEERS), key=lambda row: list(PEERS).index(row.against))
    cells = [
        (PEERS[row.against], row.work, str(row.size), shown(row.ours), shown(row.theirs), f"{row.ratio:.0f}")
        for row in rows
        if row.ratio is not None
    ]
    said = f"Versions: {', '.join(f'{name} {version}' for name, version in versions().items())}.\n"
    missing = dict.fromkeys(PEERS[row.against] for row in rows if row.ratio is None)
    said += f"Not installed, so not measured: {', '.join(missing)}.\n" if missing else ""
    made = f"{Table.of('', heads, cells).markdown()}\n{said}"
    return re.sub(
        r"(<!-- measured -->\n\n).*(\n<!-- end -->)", lambda marks: marks[1] + made + marks[2], page, flags=re.DOTALL
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="small sizes, once: that everything runs")
    parser.add_argument("--json", type=Path, help="write the rows here too")
    parser.add_argument("--page", type=Path, help="write the rows of the peers into this page")
    parser.add_argument("--peers", type=Path, default=BESIDE, help="the folder of workload.py, peers.py and floor.py")
    options = parser.parse_args()
    if not options.peers.is_dir():
        parser.exit(0, f"There is no workload at {options.peers}: nothing to time.\n")
    bench = Bench(options.peers, short=options.short)
    bench.run()
    table = Screen(title=f"arbitre on {platform.machine()}, Python {platform.python_version()}")
    for name in ("work", "n", "arbitre", "against", "its time", "times faster", "at least"):
        table.add_column(name, justify="left" if name in ("work", "against") else "right")
    for row in bench.rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        wanted = "" if row.wanted is None else f"{row.wanted:g}"
        table.add_row(row.work, str(row.size), shown(row.ours), row.against, shown(row.theirs), ratio, wanted)
    Console().print(table)
    extra = {"growth exponent, NESTED 100 to 1000": bench.growth()}
    for size in (20,) if options.short else (1000, 5000):
        extra[f"memory above the start, NESTED {size}, MB"] = memory(options.peers, size)
    for name, value in extra.items():
        Console().print(f"{name}: {'-' if value is None else f'{value:.2f}'}")
    if options.json is not None:
        rows = [asdict(row) | {"ratio": row.ratio} for row in bench.rows]
        options.json.write_text(json.dumps({"rows": rows, **extra}, indent=2) + "\n", encoding="utf-8")
    if options.page is not None:
        text = options.page.read_text(encoding="utf-8")
        options.page.write_text(with_peers(text, bench.rows), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
