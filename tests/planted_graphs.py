"""Generate pairs of documents whose correspondence of ids is known.

A document is a directed graph. Its nodes are people; its edges are entries of `knows`, values of `father` and entries
of `relations`. The module does not use the package under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from string import ascii_lowercase, digits
from typing import NamedTuple

import numpy as np

TEXT = {"type": "string"}
REFERENCE = TEXT | {"x-arbitre": {"ref": "person"}}
PERSON = {
    "id": TEXT | {"x-arbitre": {"id": "person"}},
    "name": TEXT,
    "born": {"type": "integer"},
    "role": TEXT,
    "knows": {"type": "array", "items": TEXT, "x-arbitre": {"ref": "person"}},
    "father": REFERENCE,
}
RELATION = {"from": REFERENCE, "to": REFERENCE, "type": TEXT}
PEOPLE, RELATIONS = ({"type": "array", "items": {"type": "object", "properties": of}} for of in (PERSON, RELATION))
SCHEMA = {"type": "object", "properties": {"people": PEOPLE, "relations": RELATIONS}}
"""The JSON Schema of the documents."""

SYMMETRIC = ("cycle", "triangles", "petersen", "grid", "stars")
SHAPES = ("random", "tree", *SYMMETRIC)
"""The shapes that `planted` accepts. In the symmetric ones, people have no attributes and know each other mutually."""

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
        right: Number of gold reference values that are right in `predicted` if ids correspond as in `truth` and each
            relation is compared with its copy. References to people who are missing from `predicted` are not right.
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
    type: str = ""  # of a relation

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
        nodes: Number of people in gold. Symmetric shapes round it; see `symmetric`.
        attribute_noise: Probability of replacing an attribute of a predicted person by the value of another person
            (half of the time) or by a misspelling.
        missing_edges: Share of edges to drop from the prediction.
        spurious_edges: Share of edges to add to the prediction, none of them a gold edge.
        twins: Share of people who get all attributes of another person, in gold.
        missing_nodes: Share of people to drop from the prediction. Half of the edges to them stay, dangling.
        spurious_nodes: Share of people to add to the prediction. Only spurious edges lead to or from them.
        anonymous: Share of people without attributes, the same people in both documents.
        degree: Mean number of outgoing edges of a person, for the shape "random".
        shape: One of `SHAPES`. In "tree", all gold edges are values of `father`.
    """
    generation, damage, naming = np.random.default_rng(seed).spawn(3)
    anonymous = 1.0 if shape in SYMMETRIC else anonymous
    nodes, edges = _edges(shape, nodes, degree, generation)
    profiles, bare = _profiles(nodes, generation, twins), set(_drawn(nodes, anonymous, generation))
    profiles = [{} if node in bare else profile for node, profile in enumerate(profiles)]
    missing = set(_drawn(nodes, missing_nodes, damage))
    people = {node: _noisy(profiles, node, attribute_noise, damage) for node in range(nodes) if node not in missing}
    spurious = _profiles(round(spurious_nodes * nodes), damage, taken={one["name"] for one in profiles if one})
    people |= {node: {} if damage.random() < anonymous else one for node, one in enumerate(spurious, start=nodes)}
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
    """Build a document of people without attributes who know each other, in one of the shapes `SYMMETRIC`.

    The number of people is rounded down to one that the shape allows, or up to its minimum: "triangles", "petersen"
    and "stars" are disjoint copies of graphs of 3, 10 and 4 nodes, and "grid" has about as many rows as columns.
    """
    count, edges = _symmetric_edges(shape, nodes)
    return _document({node: {} for node in range(count)}, edges)


def relabelled(document: dict, seed: int) -> dict:
    """Copy a document with fresh ids, also of dangling references, and another order of people, `knows`, relations."""
    return _renamed(document, np.random.default_rng(seed))[0]


def _document(people, edges):
    entries = {node: {"id": f"p{node}", **profile, "knows": []} for node, profile in people.items()}
    for place, source, target, _ in edges:
        if place == "father":
            entries[source]["father"] = f"p{target}"
        elif place == "knows":
            entries[source]["knows"].append(f"p{target}")
    related = [edge for edge in edges if edge.place == "relations"]
    relations = [{"from": f"p{edge.source}", "to": f"p{edge.target}", "type": edge.type} for edge in related]
    return {"people": list(entries.values()), "relations": relations}


def _renamed(document, rng):
    """Return a shuffled copy of the document with fresh ids, and the new id of each old one."""
    old = dict.fromkeys(person["id"] for person in document["people"])
    for item in (*document["people"], *document["relations"]):
        single = [item[field] for field in ("father", "from", "to") if field in item]
        old |= dict.fromkeys(single + item.get("knows", []))
    fresh = [f"q{number}" for number in rng.choice(10**6, size=2 * len(old), replace=False)]
    new = dict(zip(old, [one for one in fresh if one not in old], strict=False))

    def renamed(item):
        copy = item | {field: new[item[field]] for field in ("id", "father", "from", "to") if field in item}
        knows = [new[one] for one in rng.permutation(item.get("knows", [])).tolist()]
        return copy | ({"knows": knows} if "knows" in item else {})

    return {name: [renamed(item) for item in rng.permutation(items).tolist()] for name, items in document.items()}, new


def _drawn(count, share, rng):
    return rng.permutation(count)[: round(share * count)].tolist()


def _edges(shape, nodes, degree, rng):
    """Return the number of people and the edges: random ones, or families with one root per eight people."""
    if shape == "tree":
        return nodes, [Edge("father", node, int(rng.integers(node))) for node in range(max(1, nodes // 8), nodes)]
    if shape != "random":
        return _symmetric_edges(shape, nodes)
    pairs = nodes * (nodes - 1)
    edges, fathers = [], set()
    for pair in rng.choice(pairs, size=min(round(degree * nodes), pairs), replace=False).tolist():
        source, target = divmod(pair, nodes - 1)
        place = str(rng.choice(["knows", "relations", "father"], p=[0.5, 0.35, 0.15]))
        place = "knows" if place == "father" and source in fathers else place
        fathers |= {source} if place == "father" else set()
        edges.append(Edge(place, source, target + (target >= source), str(rng.choice(TYPES))))
    return nodes, edges


def _symmetric_edges(shape, nodes):
    if shape not in SYMMETRIC:
        raise ValueError(f"{shape!r} is not a symmetric shape. Use one of {SYMMETRIC}; `planted` accepts {SHAPES}.")
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
    profiles, copies = list(made.values()), _drawn(count, twins, rng)
    models = sorted(set(range(count)) - set(copies)) or copies[:1]
    for node in copies:
        profiles[node] = profiles[int(rng.choice(models))]
    return profiles


def _noisy(profiles, node, noise, rng):
    """Copy a profile, and replace each attribute with probability `noise` by a different value."""
    changed = dict(profiles[node])
    for name, value in profiles[node].items():
        others = [one[name] for one in profiles if one and one[name] != value]
        chance = rng.random()
        if chance < noise / 2 and others:
            changed[name] = others[int(rng.integers(len(others)))]
        elif chance < noise:
            letters = list(str(value))  # one or two letters change, or one or both of the last two digits of the year
            first, alphabet = (2, digits) if name == "born" else (0, ascii_lowercase)
            for at in first + rng.permutation(len(letters) - first)[: rng.integers(1, 3)]:
                letters[at] = str(rng.choice([one for one in alphabet if one != letters[at].lower()]))
            changed[name] = type(value)("".join(letters))
    return changed


def _kept(edges, share, missing, rng):
    """Drop a share of the edges, all edges stored in a missing person, and half of the dangling ones."""
    drawn = (edges[at] for at in _drawn(len(edges), 1 - share, rng))
    kept = [edge for edge in drawn if edge.place == "relations" or edge.source not in missing]
    return [edge for edge in kept if edge.values(missing) == edge.values() or rng.random() < 0.5]


def _added(edges, kept, wanted, nodes, rng):
    """Draw spurious edges in the places of random gold edges, or in `knows` if a person has a father already."""
    added, taken = [], {edge[:3] for edge in edges}
    fathers = {edge.source for edge in kept if edge.place == "father"}
    for _ in range(20 * wanted if len(nodes) > 1 else 0):  # a small graph may have no free pair left
        source, target = rng.choice(nodes, size=2, replace=False).tolist()
        place, *_, kind = edges[int(rng.integers(len(edges)))]
        place = "knows" if place == "father" and source in fathers else place
        if len(added) < wanted and (place, source, target) not in taken:
            added.append(Edge(place, source, target, kind))
            taken.add((place, source, target))
            fathers |= {source} if place == "father" else set()
    return added
