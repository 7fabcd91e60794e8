"""Time a corpus of many short documents from JSON lines, and how much memory each process takes.

    python tests/bench/corpus.py                          # 10,000 and 100,000 documents, one worker and two
    python tests/bench/corpus.py --documents 2000 --workers 1
    python tests/bench/corpus.py --json out.json

Documents are flat lists of 20 entries made here, with a seed; `arbitre evaluate` runs as a user would run it, in a
process of its own. Memory is the peak of the process that was started, and of the greatest of its workers, as the
system counts it (Linux). The start of the interpreter is in the times. Of several sizes, it is told how much the
process that was started grows with every document.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ENTRIES = 20
SCHEMA = {
    "type": "object",
    "properties": {
        "entries": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "pages": {"type": "array", "items": {"type": "integer"}},
                },
            },
        }
    },
}


def documents(count: int, seed: int = 0):
    """Gold and prediction of every document: some letters of names are wrong, some pages, some entries."""
    rng = random.Random(seed)  # noqa: S311
    names = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(5, 18))) for _ in range(5000)]
    for number in range(count):
        gold = [
            {"name": rng.choice(names), "pages": [rng.randrange(1, 2000) for _ in range(rng.randint(1, 4))]}
            for _ in range(ENTRIES)
        ]
        predicted = []
        for entry in gold:
            name, pages = entry["name"], list(entry["pages"])
            if rng.random() < 0.2:
                at = rng.randrange(len(name))
                name = name[:at] + rng.choice(string.ascii_lowercase) + name[at + 1 :]
            if rng.random() < 0.1:
                pages[0] += 1
            if rng.random() > 0.03:
                predicted.append({"name": name, "pages": pages})
        yield f"d{number:07}", {"entries": gold}, {"entries": predicted}


def written(folder: Path, count: int) -> None:
    """The corpus as JSON lines."""
    with (folder / "gold.jsonl").open("w") as gold, (folder / "predicted.jsonl").open("w") as predicted:
        for identity, ours, theirs in documents(count):
            gold.write(json.dumps({"id": identity, **ours}) + "\n")
            predicted.write(json.dumps({"id": identity, **theirs}) + "\n")
    (folder / "schema.json").write_text(json.dumps(SCHEMA))


def peak(process: int) -> int:
    """The peak memory of a process in kB; 0 where it is gone."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def below(process: int) -> list[int]:
    """All processes that a process started, and those that these did."""
    found = [process]
    for one in found:
        try:
            found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue
    return found[1:]


def run(folder: Path, count: int, workers: int) -> dict[str, float]:
    """One evaluation: its time, and the peaks."""
    command = [sys.executable, "-m", "arbitre", "evaluate", "--quiet", "--no-report", "--workers", str(workers)]
    sources = ["--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl", "--out", "out"]
    peaks = {"parent": 0, "worker": 0}
    begin = time.perf_counter()
    process = subprocess.Popen([*command, *sources], cwd=folder, stdout=subprocess.DEVNULL)

    def watch() -> None:
        while process.poll() is None:
            peaks["parent"] = max(peaks["parent"], peak(process.pid))
            peaks["worker"] = max([peaks["worker"], *map(peak, below(process.pid))])
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    if process.wait():
        raise SystemExit("the evaluation failed")
    watcher.join()
    seconds = time.perf_counter() - begin
    return {
        "documents": count,
        "workers": workers,
        "seconds": seconds,
        "documents a second": count / seconds,
        "parent, MB": peaks["parent"] / 1024,
        "greatest worker, MB": peaks["worker"] / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for count in options.documents:
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), count)
            rows += [run(Path(folder), count, workers) for workers in options.workers]
    table = Table()
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(f"{value:,.0f}" if value >= 10 else f"{value:.2f}" for value in row.values()))
    Console().print(table)
    for workers in options.workers:
        same = sorted((row for row in rows if row["workers"] == workers), key=lambda row: row["documents"])
        first, last = same[0], same[-1]
        if last["documents"] > first["documents"]:
            grown = (last["parent, MB"] - first["parent, MB"]) * 2**20 / (last["documents"] - first["documents"])
            print(f"{workers} workers: {grown:,.0f} bytes of a document in the process that was started")
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
