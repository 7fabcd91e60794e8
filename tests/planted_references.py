"""Pairs of documents with a planted correspondence of ids: a gold graph, and a prediction made from it.

Nothing here uses the package that is tested.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

REFERENCE = {"type": "string", "x-arbitre": {"ref": "person"}}

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "x-arbitre": {"id": "person"}},
                    "name": {"type": "string"},
                    "role": {"type": "string"},
                    "born": {"type": "integer"},
                    "knows": {"type": "array", "items": {"type": "string"}, "x-arbitre": {"ref": "person"}},
                },
            },
        },
        "relations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"from": REFERENCE, "to": REFERENCE, "type": {"type": "string"}},
            },
        },
    },
}
"""The schema of the documents."""

SYLLABLES = ["an", "be", "cor", "dal", "el", "fi", "gar", "hu", "is", "jo", "kar", "lo", "mi", "nu", "os", "pe"]
ATTRIBUTES = ("name", "role", "born")


@dataclass
class Planted:
    """Two documents and the predicted id of each gold person."""

    gold: dict
    predicted: dict
    truth: dict


def people(count, rng, *, twins=0.0, anonymous=0.0):
    """Persons with attributes; some have those of another person, and some have none."""
    made = [
        {
            "id": f"p{number}",
            "name": "".join(rng.choice(SYLLABLES, 3)).title(),
            "role": str(rng.choice(["clerk", "judge", "monk", "smith"])),
            "born": int(rng.integers(1800, 1900)),
            "knows": [],
        }
        for number in range(count)
    ]
    for person in made:
        if rng.random() < twins:
            other = made[int(rng.integers(count))]
            person.update({name: other[name] for name in ATTRIBUTES})
    for person in made:
        if rng.random() < anonymous:
            for name in ATTRIBUTES:
                del person[name]
    return made


def graph(count, rng, *, degree=3.0, **kinds):
    """A document with random references: `degree` is the mean number of references of a person, of both kinds."""
    made, relations = people(count, rng, **kinds), []
    for _ in range(int(degree * count / 2)):
        source, target = rng.integers(count, size=2)
        if f"p{target}" not in made[source]["knows"]:
            made[source]["knows"].append(f"p{target}")
        source, target = rng.integers(count, size=2)
        kind = str(rng.choice(["ally", "kin", "foe"]))
        relations.append({"from": f"p{source}", "to": f"p{target}", "type": kind})
    return {"people": made, "relations": relations}


SHAPES = {
    "cycle": lambda n: [(at, (at + 1) % n) for at in range(n)],
    "triangles": lambda n: [(at + a, at + b) for at in range(0, n, 3) for a, b in ((0, 1), (1, 2), (2, 0))],
    "petersen": lambda _: [
        pair for at in range(5) for pair in ((at, (at + 1) % 5), (at, at + 5), (5 + at, 5 + (at + 2) % 5))
    ],
    "grid": lambda _: (
        [(4 * row + at, 4 * row + at + 1) for row in range(4) for at in range(3)]
        + [(4 * row + at, 4 * row + at + 4) for row in range(3) for at in range(4)]
    ),
}
SIZES = {"petersen": 10, "grid": 16}


def symmetric(shape, count=12):
    """A document of persons without attributes, who know each other in a symmetric shape."""
    count = SIZES.get(shape, count)
    knows = [[] for _ in range(count)]
    for one, other in SHAPES[shape](count):
        knows[one].append(f"p{other}")
        knows[other].append(f"p{one}")
    return {"people": [{"id": f"p{at}", "knows": own} for at, own in enumerate(knows)], "relations": []}


def relabelled(document, rng):
    """The same document with other ids and in another order, and the new id of each person."""
    ids = [person["id"] for person in document["people"]]
    new = {old: f"q{number}" for old, number in zip(ids, rng.permutation(10 * len(ids))[: len(ids)], strict=True)}
    made = [
        person | {"id": new[person["id"]], "knows": [new[str(other)] for other in rng.permutation(person["knows"])]}
        for person in document["people"]
    ]
    relations = [one | {"from": new[one["from"]], "to": new[one["to"]]} for one in document["relations"]]
    shuffled = {
        "people": [made[at] for at in rng.permutation(len(made))],
        "relations": [relations[at] for at in rng.permutation(len(relations))],
    }
    return shuffled, new


def incomplete(document, rng, share):
    """A copy without a share of the persons, of their references and of the others, and with as many invented ones."""
    kept = [person for person in document["people"] if rng.random() >= share]
    ids = {person["id"] for person in kept}

    def held(references):
        return [one for one in references if one in ids and rng.random() >= share]

    invented = people(len(document["people"]) - len(kept), rng)
    made = [person | {"knows": held(person["knows"])} for person in kept]
    made += [person | {"id": f"x{number}"} for number, person in enumerate(invented)]
    every = [person["id"] for person in made]
    for person in made:
        if rng.random() < share:
            person["knows"] = [*person["knows"], str(rng.choice(every))]
    relations = [one for one in document["relations"] if {one["from"], one["to"]} <= ids and rng.random() >= share]
    lost = len(document["relations"]) - len(relations)
    relations += [
        {"from": str(rng.choice(every)), "to": str(rng.choice(every)), "type": "foe"} for _ in range(lost // 2)
    ]
    return {"people": [made[at] for at in rng.permutation(len(made))], "relations": relations}


def damaged(document, rng, *, attributes=0.0, references=0.0):
    """A copy with wrong attributes and wrong references, each with a probability."""
    ids = [person["id"] for person in document["people"]]

    def wrong(reference):
        return str(rng.choice(ids)) if rng.random() < references else reference

    made = []
    for person in document["people"]:
        changed = person | {"knows": list(map(wrong, person["knows"]))}
        for name in ("name", "role"):
            if name in person and rng.random() < attributes:
                if rng.random() < 0.5:
                    changed[name] = str(rng.choice([one[name] for one in document["people"] if name in one]))
                else:
                    at = int(rng.integers(len(person[name])))
                    changed[name] = person[name][:at] + "x" + person[name][at + 1 :]
        if "born" in person and rng.random() < attributes:
            changed["born"] = person["born"] + int(rng.integers(-9, 10))
        made.append(changed)
    relations = [one | {"from": wrong(one["from"]), "to": wrong(one["to"])} for one in document["relations"]]
    return {"people": made, "relations": relations}


def planted(seed, count, *, attributes=0.0, references=0.0, missing=0.0, **kinds):
    """Gold and a prediction with other ids, another order, and faults; the truth leaves out persons that are missing."""
    rng = np.random.default_rng(seed)
    gold = graph(count, rng, **kinds)
    predicted, truth = relabelled(gold, rng)
    predicted = damaged(predicted, rng, attributes=attributes, references=references)
    if missing:
        predicted = incomplete(predicted, rng, missing)
    ids = {person["id"] for person in predicted["people"]}
    return Planted(gold, predicted, {old: new for old, new in truth.items() if new in ids})
