"""Generate pairs of documents whose correspondence of ids is known.

A document describes a directed graph: its nodes are people; its edges are entries of `knows`, values of `father` and
entries of `relations`. The module does not use the package under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from string import ascii_lowercase, digits
from typing import NamedTuple

import numpy as np

TEXT = {"type": "string"}
REFERENCE = {"type": "string", "x-arbitre": {"ref": "person"}}
PERSON = {
    "id": {"type": "string", "x-arbitre": {"id": "person"}},
    "name": TEXT,
    "born": {"type": "integer"},
    "role": TEXT,
    "knows": {"type": "array", "items": TEXT, "x-arbitre": {"ref": "person"}},
    "father": REFERENCE,
}
RELATION = {"from": REFERENCE, "to": REFERENCE, "type": TEXT}

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {"type": "array", "items": {"type": "object", "properties": PERSON}},
        "relations": {"type": "array", "items": {"type": "object", "properties": RELATION}},
    },
}
"""The JSON Schema of the documents."""

SYMMETRIC = ("cycle", "triangles", "petersen", "grid", "stars")
"""Shapes whose people have no attributes and know each other mutually."""

SHAPES = ("random", "tree", *SYMMETRIC)
"""All shapes that `planted` accepts."""

SYLLABLES = ("an", "be", "cor", "dal", "el", "fi", "gar", "hu", "is", "jo", "kar", "lo", "mi", "nu", "os", "pe")
ROLES = ("baker", "clerk", "judge", "monk", "notary", "painter", "smith", "weaver")
TYPES = ("ally", "debtor", "kin", "neighbour", "rival")


@dataclass(frozen=True)
class Planted:
    """A pair of documents and the correspondence of their ids.

    Attributes:
        gold: The gold document.
        predicted: The relabelled, shuffled and damaged copy of `gold`.
        truth: The predicted id of each gold id, for the people that both documents have.
        references: Number of reference values in `gold`. A relation has two.
        right: Number of gold reference values that are right in `predicted` if ids correspond as in `truth`. A relation
            is compared with its own copy. References to people who are missing from `predicted` are never right.
    """

    gold: dict
    predicted: dict
    truth: dict
    references: int
    right: int


class Edge(NamedTuple):
    """An edge between two nodes, stored in `place`: "knows", "father" or "relations"."""

    place: str
    source: int
    target: int
    type: str = ""

    def values(self, missing=()) -> int:
        """Count the reference values of the edge that point to a node that is not missing."""
        ends = (self.source, self.target) if self.place == "relations" else (self.target,)
        return sum(end not in missing for end in ends)


def planted(
    seed: int,
    *,
    nodes: int,
    attribute_noise: float = 0.0,
    missing_edges: float = 0.0,
    spurious_edges: float = 0.0,
    twins: float = 0.0,
    missing_nodes: float = 0.0,
    spurious_nodes: float = 0.0,
    anonymous: float = 0.0,
    degree: float = 3.0,
    shape: str = "random",
) -> Planted:
    """Generate a gold document and a prediction whose ids correspond in a known way.

    Shares refer to gold and are rounded to whole people or edges. The gold document depends only on the seed, `nodes`,
    `twins`, `anonymous`, `degree` and `shape`.

    Args:
        seed: Random seed.
        nodes: Number of people in gold. Symmetric shapes round it; see `symmetric`.
        attribute_noise: Probability of replacing an attribute of a predicted person, half of the time by the value of
            another person and otherwise by a misspelling.
        missing_edges: Share of edges to drop from the prediction.
        spurious_edges: Share of edges to add to the prediction. They never repeat a gold edge.
        twins: Share of people who get all attributes of another person, in gold.
        missing_nodes: Share of people to drop from the prediction. An edge to one of them stays as a dangling reference
            half of the time and is dropped otherwise.
        spurious_nodes: Share of people to add to the prediction. Only spurious edges lead to or from them.
        anonymous: Share of people without attributes, the same people in both documents.
        degree: Mean number of outgoing edges of a person, for the shape "random".
        shape: One of `SHAPES`. In "tree", all gold edges are values of `father`.

    Raises:
        ValueError: If the shape is unknown.
    """
    generation, damage, naming = np.random.default_rng(seed).spawn(3)
    if shape in ("random", "tree"):
        edges = _random_edges(nodes, degree, generation) if shape == "random" else _family_edges(nodes, generation)
        profiles = _profiles(nodes, generation, twins)
        for node in _drawn(nodes, anonymous, generation):
            profiles[node] = {}
    else:
        nodes, edges = _symmetric_edges(shape, nodes)
        profiles = [{} for _ in range(nodes)]

    missing = set(_drawn(nodes, missing_nodes, damage))
    people = {node: _noisy(profiles, node, attribute_noise, damage) for node in range(nodes) if node not in missing}
    taken = {one["name"] for one in profiles if one}
    for node, profile in enumerate(_profiles(round(spurious_nodes * nodes), damage, taken=taken), start=nodes):
        people[node] = {} if shape in SYMMETRIC or damage.random() < anonymous else profile
    kept = _kept(edges, missing_edges, missing, damage)
    added = _added(edges, kept, round(spurious_edges * len(edges)), list(people), damage)

    predicted, ids = _renamed(_document(people, kept + added), naming)
    return Planted(
        gold=_document(dict(enumerate(profiles)), edges),
        predicted=predicted,
        truth={f"p{node}": ids[f"p{node}"] for node in range(nodes) if node not in missing},
        references=sum(edge.values() for edge in edges),
        right=sum(edge.values(missing) for edge in kept),
    )


def symmetric(shape: str, nodes: int) -> dict:
    """Build a document of people without attributes who know each other mutually.

    The number of people is rounded down to one that the shape allows, or up to its minimum: "triangles", "petersen"
    and "stars" are disjoint copies of graphs of 3, 10 and 4 nodes, and "grid" has about as many rows as columns.

    Raises:
        ValueError: If the shape is not one of `SYMMETRIC`.
    """
    count, edges = _symmetric_edges(shape, nodes)
    return _document({node: {} for node in range(count)}, edges)


def relabelled(document: dict, seed: int) -> dict:
    """Copy a document with other ids and another order of people, `knows` and relations.

    Dangling references get other ids too. No new id occurs in the given document.
    """
    return _renamed(document, np.random.default_rng(seed))[0]


def _document(people, edges):
    entries = {node: {"id": f"p{node}", **profile, "knows": []} for node, profile in people.items()}
    relations = []
    for place, source, target, kind in edges:
        if place == "relations":
            relations.append({"from": f"p{source}", "to": f"p{target}", "type": kind})
        elif place == "father":
            entries[source]["father"] = f"p{target}"
        else:
            entries[source]["knows"].append(f"p{target}")
    return {"people": list(entries.values()), "relations": relations}


def _renamed(document, rng):
    """Return a shuffled copy of the document with random ids, and the new id of each old one."""
    items = [*document["people"], *document["relations"]]
    single = [{field: item[field] for field in ("id", "father", "from", "to") if field in item} for item in items]
    old = dict.fromkeys(
        one for item, own in zip(items, single, strict=True) for one in (*own.values(), *item.get("knows", ()))
    )
    fresh = [f"q{number}" for number in rng.choice(10**6, size=2 * len(old), replace=False)]
    new = dict(zip(old, [one for one in fresh if one not in old], strict=False))
    copies = [item | {field: new[one] for field, one in own.items()} for item, own in zip(items, single, strict=True)]
    people, relations = copies[: len(document["people"])], copies[len(document["people"]) :]
    for person in people:
        person["knows"] = [new[other] for other in _shuffled(person["knows"], rng)]
    return {"people": _shuffled(people, rng), "relations": _shuffled(relations, rng)}, new


def _shuffled(items, rng):
    return [items[at] for at in rng.permutation(len(items))]


def _drawn(count, share, rng):
    """Draw a share of the numbers below `count`, without repetition."""
    return rng.permutation(count)[: round(share * count)].tolist()


def _random_edges(nodes, degree, rng):
    """Draw edges between distinct ordered pairs of nodes: about half in `knows`, the others in relations and fathers."""
    pairs = nodes * (nodes - 1)
    edges, fathers = [], set()
    for pair in rng.choice(pairs, size=min(round(degree * nodes), pairs), replace=False).tolist():
        source, target = divmod(pair, nodes - 1)
        place = str(rng.choice(["knows", "relations", "father"], p=[0.5, 0.35, 0.15]))
        if place == "father":
            place = "knows" if source in fathers else "father"
            fathers.add(source)
        kind = str(rng.choice(TYPES)) if place == "relations" else ""
        edges.append(Edge(place, source, target + (target >= source), kind))
    return edges


def _family_edges(nodes, rng):
    """Draw an earlier node as the father of each node except the roots; there is one root per eight nodes."""
    return [Edge("father", node, int(rng.integers(node))) for node in range(max(1, nodes // 8), nodes)]


def _symmetric_edges(shape, nodes):
    """Return the number of nodes of a symmetric graph and its edges, in both directions."""
    if shape not in SYMMETRIC:
        raise ValueError(f"Unknown shape {shape!r}. Symmetric shapes: {', '.join(SYMMETRIC)}.")
    columns = max(1, isqrt(nodes))
    size = {"cycle": max(3, nodes), "triangles": 3, "petersen": 10, "grid": columns, "stars": 4}[shape]
    count = max(1, nodes // size) * size
    if shape == "grid":
        pairs = [(at, at + 1) for at in range(count) if (at + 1) % columns]
        pairs += [(at, at + columns) for at in range(count - columns)]
    else:
        part = [(0, 1), (0, 2), (0, 3)] if shape == "stars" else [(at, (at + 1) % size) for at in range(size)]
        if shape == "petersen":
            part = [pair for at in range(5) for pair in ((at, (at + 1) % 5), (at, at + 5), (at + 5, (at + 2) % 5 + 5))]
        pairs = [(start + one, start + other) for start in range(0, count, size) for one, other in part]
    return count, [Edge("knows", *ends) for pair in pairs for ends in (pair, pair[::-1])]


def _profiles(count, rng, twins=0.0, taken=()):
    """Draw the attributes of people. Names are distinct and not in `taken`, except that twins copy another person."""
    made = {}
    while len(made) < count:
        name = " ".join("".join(rng.choice(SYLLABLES, size)).title() for size in (2, 3))
        if name not in taken:
            made[name] = {"name": name, "born": int(rng.integers(1780, 1920)), "role": str(rng.choice(ROLES))}
    profiles = list(made.values())
    copies = _drawn(count, twins, rng)
    models = sorted(set(range(count)) - set(copies)) or copies[:1]
    for node in copies:
        profiles[node] = profiles[int(rng.choice(models))]
    return profiles


def _noisy(profiles, node, noise, rng):
    """Copy the attributes of a person, and replace each with probability `noise` by a different value."""
    changed = dict(profiles[node])
    for name, value in profiles[node].items():
        if rng.random() < noise:
            others = [one[name] for one in profiles if one and one[name] != value]
            swap = rng.random() < 0.5 and others
            changed[name] = others[int(rng.integers(len(others)))] if swap else _misspelled(value, rng)
    return changed


def _misspelled(value, rng):
    """Change one or two letters of a string, or one or both of the last two digits of a year."""
    letters = list(str(value))
    first, alphabet = (2, digits) if isinstance(value, int) else (0, ascii_lowercase)
    for at in first + rng.permutation(len(letters) - first)[: rng.integers(1, 3)]:
        letters[at] = str(rng.choice([one for one in alphabet if one != letters[at].lower()]))
    return type(value)("".join(letters))


def _kept(edges, share, missing, rng):
    """Drop a share of the edges, all edges stored in a missing person, and half of the dangling ones."""
    dropped = set(_drawn(len(edges), share, rng))
    kept = [edge for at, edge in enumerate(edges) if at not in dropped]
    kept = [edge for edge in kept if edge.place == "relations" or edge.source not in missing]
    return [edge for edge in kept if edge.values(missing) == edge.values() or rng.random() < 0.5]


def _added(edges, kept, wanted, nodes, rng):
    """Draw spurious edges in the places of random gold edges, or in `knows` if a person has a father already."""
    added, taken = [], {edge[:3] for edge in edges}
    fathers = {edge.source for edge in kept if edge.place == "father"}
    for at, other in rng.integers(max(1, len(nodes)), size=(20 * wanted, 2)):  # up to 20 attempts per edge
        model = edges[int(rng.integers(len(edges)))]
        place = "knows" if model.place == "father" and nodes[at] in fathers else model.place
        if at != other and len(added) < wanted and (place, nodes[at], nodes[other]) not in taken:
            added.append(Edge(place, nodes[at], nodes[other], model.type if place == "relations" else ""))
            taken.add(added[-1][:3])
            fathers |= {nodes[at]} if place == "father" else set()
    return added
