"""Count the functions of arbitre that a call runs, and the files in which they are.

    python tests/bench/calls.py             # the counts of each scenario
    python tests/bench/calls.py --files     # also the number of functions in each file

Each scenario runs in a new process with the bundled corpus. Bodies of modules and classes, comprehensions and generated
functions do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import sys
import tempfile
import threading
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import arbitre
from arbitre import bundled

PACKAGE = Path(arbitre.__file__).parent
SCHEMA = bundled.schemas() / "examples" / "speakers.schema.json"
GOLD, PREDICTED = (bundled.demo() / f"{name}.jsonl" for name in ("gold", "hasty"))


def traced(call):
    """The names of the functions of arbitre that a call runs, by file."""
    found = defaultdict(set)

    def profile(frame, event, _):
        code = frame.f_code
        name = code.co_qualname
        ours = event == "call" and code.co_filename.startswith(str(PACKAGE)) and code.co_flags & _FUNCTION
        if ours and (not name.endswith(">") or name.endswith("<lambda>")):
            found[str(Path(code.co_filename).relative_to(PACKAGE))].add((name, code.co_firstlineno))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {file: sorted(name for name, _ in names) for file, names in sorted(found.items())}


_FUNCTION = 2
"""Flag of code that has its own local variables: a function, not a module or a class."""


def compare():
    """`Comparator.compare` to the scores, with a comparator that exists."""
    comparator, documents = arbitre.Comparator(SCHEMA), _documents()
    return traced(lambda: comparator.compare(gold=documents[0][1], predicted=documents[0][2]).scores.f1q)


def evaluate():
    """`Comparator.evaluate` of documents in memory to the pooled and mean scores and those by path."""
    comparator, documents = arbitre.Comparator(SCHEMA), _documents()

    def numbers():
        evaluation = comparator.evaluate(documents)
        return evaluation.micro.f1q, evaluation.macro.f1q, evaluation.by_path, evaluation.document_quality.mean

    return traced(numbers)


def matches():
    """The table of matches of an evaluation in memory."""
    evaluation = arbitre.Comparator(SCHEMA).evaluate(_documents())
    return traced(lambda: evaluation.table("matches"))


def command_compare():
    """`arbitre compare`."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{name}.json") for name in ("gold", "predicted")]
        for file, document in zip(files, _documents()[0][1:], strict=True):
            file.write_text(json.dumps(document), encoding="utf-8")
        return _command("compare", *files, "--schema", SCHEMA)


def command_evaluate():
    """`arbitre evaluate` without files."""
    return _command("evaluate", "--schema", SCHEMA, "--gold", GOLD, "--predicted", PREDICTED, "--workers=1")


def command_evaluate_out():
    """`arbitre evaluate --out`, with the report."""
    with tempfile.TemporaryDirectory() as folder:
        sources = "--schema", SCHEMA, "--gold", GOLD, "--predicted", PREDICTED
        return _command("evaluate", *sources, "--workers=1", "--out", Path(folder, "out"))


SCENARIOS = {
    "Comparator.compare": compare,
    "Comparator.evaluate in memory": evaluate,
    'evaluation.table("matches")': matches,
    "arbitre compare": command_compare,
    "arbitre evaluate": command_evaluate,
    "arbitre evaluate --out": command_evaluate_out,
}


def _documents():
    """The pairs of the bundled corpus, as (id, gold, predicted)."""
    gold, predicted = ([*map(json.loads, file.read_text("utf-8").splitlines())] for file in (GOLD, PREDICTED))
    by_id = {record["id"]: record for record in predicted}
    return [(record["id"], record, by_id[record["id"]]) for record in gold if record["id"] in by_id]


def _command(*arguments):
    from arbitre.cli import app

    def run():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app([str(argument) for argument in arguments], standalone_mode=False)

    return traced(run)


def run(name):
    return SCENARIOS[name]()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="list the files and their number of functions")
    chosen = parser.parse_args()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as processes:
        for name, files in zip(SCENARIOS, processes.map(run, SCENARIOS), strict=True):
            print(f"{name}: {sum(map(len, files.values()))} functions in {len(files)} files")
            for file, functions in files.items() if chosen.files else ():
                print(f"    {len(functions):4} {file}")


if __name__ == "__main__":
    main()
