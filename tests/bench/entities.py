"""Time the evaluation of entities in CoNLL files, compared with nervaluate and seqeval.

    python tests/bench/entities.py                  # 10,000 sentences, three runs of each
    python tests/bench/entities.py --short          # 50 sentences, once, to check that everything runs
    python tests/bench/entities.py --json out.json

Every tool runs in a process of its own, in turn, and reads both files. Time is CPU time after a run on five
sentences, which loads all modules; memory is the peak beyond that of this run. seqeval computes the strict scores,
nervaluate those of the four schemes. Ratios are those of arbitre to each tool: below 1, arbitre needs less.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

LABELS = ("LOC", "MISC", "ORG", "PER")
TOOLS = ("arbitre strict", "arbitre exact", "arbitre partial", "arbitre type", "seqeval", "nervaluate")


def sentence(chance: random.Random) -> list[str]:
    """The tags of about 15 tokens, of which a quarter starts an entity."""
    tags: list[str] = []
    while len(tags) < 15:
        if chance.random() < 0.25:
            label, more = chance.choice(LABELS), chance.randint(0, 2)
            tags += [f"B-{label}", *[f"I-{label}"] * more]
        else:
            tags.append("O")
    return tags


def disturbed(tags: list[str], chance: random.Random) -> list[str]:
    """The tags with some of them changed."""
    return [chance.choice(("O", "B-PER", "B-LOC")) if chance.random() < 0.04 else tag for tag in tags]


def write(folder: Path, sentences: int) -> tuple[Path, Path]:
    """Write gold and predictions."""
    chance = random.Random(0)  # noqa: S311  (a benchmark)
    gold = [sentence(chance) for _ in range(sentences)]
    predicted = [disturbed(tags, chance) for tags in gold]
    paths = folder / "gold.conll", folder / "predicted.conll"
    for path, side in zip(paths, (gold, predicted), strict=True):
        blocks = ("\n".join(f"word{at}\t{tag}" for at, tag in enumerate(tags)) for tags in side)
        path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return paths


def tags_of(path: str) -> list[list[str]]:
    """Read the tags with the shortest code that does."""
    text = Path(path).read_text(encoding="utf-8")
    return [[line.split("\t")[1] for line in block.split("\n")] for block in text.strip().split("\n\n")]


def measure(tool: str, gold: str, predicted: str) -> dict[str, float]:
    """Evaluate with a tool in this process: F1, CPU seconds, megabytes; after a run on a few sentences."""
    warnings.simplefilter("ignore")
    name, _, scheme = tool.partition(" ")
    if name == "arbitre":
        from arbitre import entities

        def run(gold: str, predicted: str) -> float:
            sides = entities.read(gold), entities.read(predicted, lenient=True)
            return entities.evaluate(*sides, scheme).f1
    elif name == "seqeval":
        from seqeval.metrics import classification_report

        def run(gold: str, predicted: str) -> float:
            report = classification_report(tags_of(gold), tags_of(predicted), output_dict=True)
            return report["micro avg"]["f1-score"]
    else:
        from nervaluate import Evaluator

        def run(gold: str, predicted: str) -> float:
            results = Evaluator(tags_of(gold), tags_of(predicted), tags=list(LABELS), loader="list").evaluate()
            return results["overall"]["strict"].f1

    with tempfile.TemporaryDirectory() as folder:
        run(*map(str, write(Path(folder), 5)))
    before, start = peak(), time.process_time()
    f1 = run(gold, predicted)
    return {"f1": f1, "seconds": time.process_time() - start, "megabytes": peak() - before}


def peak() -> float:
    """The most memory that this process needed so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compare(sentences: int, runs: int) -> list[dict[str, object]]:
    """Run every tool in turn; return medians and the ratios of arbitre (strict) to the other tools."""
    with tempfile.TemporaryDirectory() as folder:
        files = list(map(str, write(Path(folder), sentences)))
        measured: dict[str, list[dict[str, float]]] = {tool: [] for tool in TOOLS}
        for _ in range(runs):
            for tool, results in measured.items():
                command = [sys.executable, __file__, "--tool", tool, *files]
                results.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    ours = measured["arbitre strict"]
    rows: list[dict[str, object]] = []
    for tool, results in measured.items():
        row: dict[str, object] = {"tool": tool, "sentences": sentences}
        row |= {name: statistics.median(result[name] for result in results) for name in ("f1", "seconds", "megabytes")}
        row |= {
            f"{name}_ratio": statistics.median(a[name] / max(b[name], 1e-9) for a, b in zip(ours, results, strict=True))
            for name in ("seconds", "megabytes")
        }
        rows.append(row)
    return rows


def main() -> None:
    """Run as a script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tool", nargs=3, metavar=("TOOL", "GOLD", "PREDICTED"))
    options = parser.parse_args()
    if options.tool:
        print(json.dumps(measure(*options.tool)))
        return
    rows = compare(50, 1) if options.short else compare(10_000, 3)
    for row in rows:
        print(
            f"{row['tool']:<16} f1 {row['f1']:.4f} {row['seconds']:7.2f} s {row['megabytes']:7.1f} MB   "
            f"arbitre strict takes {row['seconds_ratio']:.2f} of the time, {row['megabytes_ratio']:.2f} of the memory"
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
