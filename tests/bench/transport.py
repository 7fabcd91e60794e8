"""Time transport beside one-to-one matching on the same documents, in one run.

    python tests/bench/transport.py                 # every solver on every corpus
    python tests/bench/transport.py --short         # one document of each corpus, once: that everything runs
    python tests/bench/transport.py --json out.json

The corpora are those of the folder `data` beside the project, where there is one (or `--data DIR`): the nested page
of the Senate with its three predictions, and the gold documents of two extraction schemas, which have none: those are
made by leaving out, doubling and moving items and by noise in texts. All arrays of a document are matched so, at every
level. Ratios are to be read, which say how many times the time of `hungarian` is taken; the times are this machine's,
this minute's.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import arbitre
from arbitre import bundled

BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "data"
MATCHINGS = {
    "hungarian": "hungarian",
    "exact, uniform": "transport",
    "exact, size": {"transport": {"masses": "size"}},
    "sinkhorn": {"transport": {"solver": "sinkhorn"}},
    "sinkhorn, debiased": {"transport": {"solver": "sinkhorn", "debiased": True}},
    "partial": {"transport": {"solver": "partial"}},
    "unbalanced, kl": {"transport": {"solver": "unbalanced"}},
    "unbalanced, tv": {"transport": {"solver": "unbalanced", "penalty": "tv"}},
    "dummy": {"transport": {"solver": "dummy"}},
}


@dataclass
class Row:
    """One matching on one corpus: the median time of the whole corpus in seconds, and the f1q of its leaves."""

    corpus: str
    documents: int
    matching: str
    seconds: float
    ratio: float
    f1q: float


def median_time(function, *, seconds):
    """Of several calls after a first one; with no seconds to spend, of that one."""
    times = []
    while len(times) < 4 or (sum(times[1:]) < seconds and len(times) < 100):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
        if sum(times) > 20 * seconds:
            break
    return statistics.median(times[1:] or times)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def perturbed(value, rng):
    """The value with one item in ten of every list left out, one listed twice, and one letter in twenty replaced."""
    if isinstance(value, str):
        return "".join("x" if char.isalpha() and rng.random() < 0.05 else char for char in value)
    if isinstance(value, list):
        copies = rng.choices((0, 1, 2), (0.1, 0.8, 0.1), k=len(value))
        items = [perturbed(item, rng) for item, times in zip(value, copies, strict=True) for _ in range(times)]
        return rng.sample(items, len(items))
    return {key: perturbed(item, rng) for key, item in value.items()} if isinstance(value, dict) else value


def corpora(data):
    """The corpora by name: schema, overlay, pairs of gold and prediction."""
    nested = data / "senat-1931" / "nested"
    if nested.is_dir():
        examples = bundled.schemas() / "examples"
        predictions = [read(path) for path in sorted(nested.glob("predicted_*.json"))]
        overlay = json.loads(examples.joinpath("senat-nested.overlay.json").read_text(encoding="utf-8"))
        pairs = [(read(nested / "gold.json"), predicted) for predicted in predictions]
        yield "Senate, nested", bundled.schema("examples/senat-nested.schema.json"), overlay, pairs
    for name in ("swimming", "credit_agreement"):
        folder = data / "extract-bench" / name
        if folder.is_dir():
            gold = [read(path) for path in sorted(folder.glob("gold/*.json"))]
            rng = random.Random(0)  # noqa: S311  (nothing is secret)
            yield name, read(folder / "schema.json"), None, [(document, perturbed(document, rng)) for document in gold]


def timed(data, *, short):
    for name, schema, overlay, pairs in corpora(data):
        triples = [(str(number), *pair) for number, pair in enumerate(pairs[:1] if short else pairs)]
        first = None
        for matching, choice in MATCHINGS.items():
            comparator = arbitre.Comparator(schema, overlay=overlay, match=choice)
            seconds = median_time(lambda c=comparator, t=triples: c.evaluate(t).by_path, seconds=0.0 if short else 1.0)
            first = seconds if first is None else first
            yield Row(name, len(triples), matching, seconds, seconds / first, comparator.evaluate(triples).leaves.f1q)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="one document of each corpus, once: that everything runs")
    parser.add_argument("--json", type=Path, help="write the rows here too")
    parser.add_argument("--data", type=Path, default=BESIDE, help="the folder of the corpora")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.exit(0, f"There is no data at {options.data}: nothing to time.\n")
    rows = list(timed(options.data, short=options.short))
    table = Table(title=f"Transport beside Hungarian on {platform.machine()}, Python {platform.python_version()}")
    for name in ("corpus", "documents", "matching", "time", "ratio", "f1q of leaves"):
        table.add_column(name, justify="left" if name in ("corpus", "matching") else "right")
    for row in rows:
        time_taken, ratio, f1q = f"{row.seconds * 1e3:.1f} ms", f"{row.ratio:.2f}", f"{row.f1q:.4f}"
        table.add_row(row.corpus, str(row.documents), row.matching, time_taken, ratio, f1q)
    Console().print(table)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
