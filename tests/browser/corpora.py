"""Corpora of people for the browser tests, of any size, with two systems that make different mistakes."""

from __future__ import annotations

import copy
import json
import random

COMPOSED = """box => box.dispatchEvent(
    new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }))"""
"""Presses the Enter that ends the composition of a character in a box."""
SYSTEMS = {"careful": 0.1, "hasty": 0.4}
"""Share of faults of each system."""

SCHEMA = {
    "title": "Index of people",
    "type": "object",
    "properties": {
        "page": {"type": "integer"},
        "people": {
            "x-arbitre": {"entries": True},
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "code": {"type": "integer"},
                    "town": {"type": "string"},
                    "role": {"type": "string"},
                    "born": {"type": "integer"},
                    "never": {"type": "string"},
                },
            },
        },
    },
}
FIRST = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gus", "Hal")
LAST = ("Crewe", "Arnoult", "Vaudreine", "Castelnoir", "Westonbirt", "Quill")


def write(folder, documents):
    """Write a schema, gold and the predictions of every system."""
    chosen = random.Random(documents)  # noqa: S311
    gold = [
        {"id": f"d{at:04}", "page": at, "people": [person(chosen) for _ in range(chosen.randint(2, 5))]}
        for at in range(documents)
    ]
    (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    lines(folder / "gold.jsonl", gold)
    for name, rate in SYSTEMS.items():
        lines(folder / f"{name}.jsonl", [spoilt(chosen, one, rate) for one in gold if chosen.random() > 0.01])


def lines(file, documents):
    file.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")


def person(chosen):
    return {
        "name": f"{chosen.choice(FIRST)} {chosen.choice(LAST)}",
        "code": chosen.randint(400, 409),
        "town": chosen.choice(("Paris", "Lyon", "Tours")),
        "role": chosen.choice(("deputy", "senator")),
        "born": chosen.randint(1860, 1899),
    }


def spoilt(chosen, document, rate):
    """Return a document with mistakes: wrong texts, numbers as text, missing and spurious people."""
    made = copy.deepcopy(document)
    for one in made["people"]:
        if chosen.random() < rate:
            one["name"] = one["name"][:-2] + "xx"
        if chosen.random() < rate / 2:
            one["code"] = str(one["code"])
        if chosen.random() < rate / 2:
            one["town"] = "Rome"
    if chosen.random() < rate / 2:
        made["people"].pop()
    if chosen.random() < rate / 2:
        made["people"].append(person(chosen))
    return made


def write_sources(folder):
    """Write the source text of every gold document: a line for each person."""
    texts = folder / "source"
    texts.mkdir()
    for text in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        document = json.loads(text)
        people = [f"{one['name']} ({one['code']}), {one['role']} of {one['town']}." for one in document["people"]]
        (texts / f"{document['id']}.txt").write_text("\n".join(people), encoding="utf-8")
