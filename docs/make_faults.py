"""Make the tables of `faults.md`: the scores of planted faults, and f1q with each matching, on the bundled corpus.

python docs/make_faults.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import arbitre
from arbitre import bundled

PAGE: Final = Path(__file__).with_name("faults.md")
BEGIN, END = "<!-- made by docs/make_faults.py -->\n\n", "\n<!-- end of what docs/make_faults.py made -->"

LIST: Final = "/speakers"
KINDS: Final = ("drop", "duplicate", "merge", "swap", "noise")
SCORES: Final = ("f1q", "imq", "irq", "amq")
DIGITS: Final = 3
SHARE, SEED = 0.2, 0

MATCHINGS: Final[dict[str, Any]] = {
    "hungarian": "hungarian",
    "hungarian(gate=0.7)": {"hungarian": {"gate": 0.7}},
    "greedy": "greedy",
    "ordered": "ordered",
    "sequence": "sequence",
    "keyed(name)": {"keyed": {"key": "name"}},
    "set": "set",
    "transport(exact)": {"transport": {"solver": "exact"}},
    "transport(exact, size)": {"transport": {"solver": "exact", "masses": "size"}},
    "transport(sinkhorn)": {"transport": {"solver": "sinkhorn"}},
    "transport(partial, mass=0.8)": {"transport": {"solver": "partial", "mass": 0.8}},
    "transport(unbalanced)": {"transport": {"solver": "unbalanced"}},
    "transport(dummy)": {"transport": {"solver": "dummy"}},
}
"""Matchings of the speakers, as in a schema; nested lists are matched as the schema says."""


def planted() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the gold documents by id, and the copies for each kind of fault; `none` is gold itself."""
    lines = (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {line.pop("id"): line for line in map(json.loads, lines)}
    copies = {
        kind: {
            key: arbitre.perturb(document, {kind: SHARE}, at=LIST, seed=SEED, key=key).document
            for key, document in gold.items()
        }
        for kind in KINDS
    }
    return gold, {"none": gold} | copies


def measured() -> dict[str, dict[str, arbitre.Scores]]:
    """Return the pooled scores of the speakers by matching and kind of fault."""
    gold, copies = planted()
    schema = bundled.schema("examples/speakers.schema.json")
    found = {}
    for label, match in MATCHINGS.items():
        comparator = arbitre.Comparator(schema, overlay={LIST: {"match": match}})
        found[label] = {
            kind: comparator.evaluate([(key, gold[key], faulty[key]) for key in gold]).micro
            for kind, faulty in copies.items()
        }
    return found


def tables(scores: dict[str, dict[str, arbitre.Scores]]) -> str:
    """Return the scores with the default matching, and f1q with each matching."""
    default = next(iter(scores.values()))
    by_score = {name: {kind: getattr(one, name) for kind, one in default.items()} for name in SCORES}
    by_matching = {label: {kind: one.f1q for kind, one in row.items()} for label, row in scores.items()}
    return f"{table('score', by_score)}\n**f1q** with each matching:\n\n{table('matching', by_matching)}"


def table(head: str, rows: dict[str, dict[str, Any]]) -> str:
    """Return a table with a column for each kind of fault."""
    kinds = next(iter(rows.values()))
    lines = [f"| {head} | {' | '.join(kinds)} |", f"|---|{'---:|' * len(kinds)}"]
    lines += [f"| `{name}` | {' | '.join(f'{one:.{DIGITS}f}' for one in row.values())} |" for name, row in rows.items()]
    return "".join(f"{line}\n" for line in lines)


def made(page: str) -> str:
    """Return the page with the tables computed again."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{tables(measured())}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
