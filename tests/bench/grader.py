"""Measure the processor time of a grade of a small letter, and how much of it is the comparison alone.

    python tests/bench/grader.py              # 15 turns of 100 grades
    python tests/bench/grader.py --turns 3 --json out.json

All rows are measured in turns; each figure is the fastest turn.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from arbitre import Comparator, Grader
from arbitre.engine import compare_batch

LETTER = {
    "type": "object",
    "properties": {
        "sender": {"type": "string"},
        "recipient": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "place": {"type": "string"},
        "topics": {"type": "array", "items": {"type": "string"}},
    },
}
GOLD = {
    "sender": "Ada Lovelace",
    "recipient": "Charles Babbage",
    "date": "1843-07-10",
    "place": "London",
    "topics": ["engine", "notes", "translation"],
}
ANSWER = GOLD | {"recipient": "Charles Babage", "topics": ["engine", "note"]}


def measured(turns, grades):
    """The milliseconds of processor time of each row."""
    text = json.dumps(ANSWER)
    fenced, damaged = f"Here it is:\n```json\n{text}\n```", f"```json\n{text[:-2]}"
    comparator = Comparator(LETTER)
    quality, f1q = Grader(comparator), Grader(comparator, "f1q")
    rows = {
        "comparison alone": lambda: compare_batch(comparator.plan, [GOLD], [ANSWER]),
        "quality of a value": lambda: quality(ANSWER, GOLD).score,
        "quality of a text": lambda: quality(text, GOLD).score,
        "quality of a fenced text": lambda: quality(fenced, GOLD).score,
        "quality of a damaged text": lambda: quality(damaged, GOLD).score,
        "quality of a refusal": lambda: quality("I cannot help with that.", GOLD).score,
        "f1q of a value": lambda: f1q(ANSWER, GOLD).score,
        "with tally": lambda: quality(ANSWER, GOLD).tally,
        "with fields": lambda: quality(ANSWER, GOLD).fields,
        "with reason": lambda: quality(ANSWER, GOLD).reason,
    }
    times = {name: [] for name in rows}
    for _ in range(turns):
        for name, row in rows.items():
            start = time.process_time()
            for _ in range(grades):
                row()
            times[name].append(1000.0 * (time.process_time() - start) / grades)
    return {name: min(found) for name, found in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--grades", type=int, default=100)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = measured(arguments.turns, arguments.grades)
    for name, milliseconds in rows.items():
        print(f"{name:28}{milliseconds:8.3f} ms{milliseconds / rows['comparison alone']:8.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
