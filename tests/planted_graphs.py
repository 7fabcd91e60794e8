"""Generate pairs of documents whose correspondence of ids is known.

A document describes a directed graph: its nodes are people, and its edges are entries of `knows`, values of `father`,
and entries of `relations`. `planted` generates a gold document and a prediction made from it: with other ids, in
another order, and damaged as you ask.

The module does not use the package under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from string import ascii_lowercase, digits
from typing import Any, NamedTuple

import numpy as np

Document = dict[str, Any]
Profile = dict[str, str | int]

REFERENCE = {"type": "string", "x-arbitre": {"ref": "person"}}
"""The schema of a single reference."""

SCHEMA: Document = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "x-arbitre": {"id": "person"}},
                    "name": {"type": "string"},
                    "born": {"type": "integer"},
                    "role": {"type": "string"},
                    "knows": {"type": "array", "items": {"type": "string"}, "x-arbitre": {"ref": "person"}},
                    "father": REFERENCE,
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

    gold: Document
    predicted: Document
    truth: dict[str, str]
    references: int
    right: int


class Edge(NamedTuple):
    """An edge between two nodes, stored in `place`: "knows", "father" or "relations"."""

    place: str
    source: int
    target: int
    type: str = ""

    def values(self, missing=frozenset()) -> int:
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

    Shares are of the number in gold, rounded to whole people or edges. An edge is an entry of `knows`, a `father` or a
    relation. The gold document does not depend on the damage, that is on noise and on missing and spurious items.

    Args:
        seed: Seed of the random generator.
        nodes: Number of people in gold. Symmetric shapes round it, see `symmetric`.
        attribute_noise: Probability with which an attribute of a predicted person is replaced, in one half of the cases
            by the value of another person, in the other half by a misspelling.
        missing_edges: Share of edges to drop from the prediction.
        spurious_edges: Share of edges to add to the prediction. They never repeat a gold edge.
        twins: Share of people who get all attributes of another person, in both documents.
        missing_nodes: Share of people to drop from the prediction. An edge to one of them is kept as a dangling
            reference with probability 0.5 and dropped otherwise.
        spurious_nodes: Share of people to add to the prediction. Only spurious edges lead to or from them.
        anonymous: Share of people without attributes, the same ones in both documents.
        degree: Mean number of outgoing edges of a person. Only the shape "random" uses it.
        shape: One of `SHAPES`. In "tree", all edges are values of `father`.

    Raises:
        ValueError: If the shape is unknown.
    """
    if shape not in SHAPES:
        raise ValueError(f"Unknown shape {shape!r}. Use one of {', '.join(SHAPES)}.")
    generation, damage, naming = np.random.default_rng(seed).spawn(3)
    if shape in SYMMETRIC:
        count, edges = _symmetric_edges(shape, nodes)
        profiles: list[Profile] = [{} for _ in range(count)]
    else:
        count, edges = nodes, _family_edges(nodes, generation) if shape == "tree" else _edges(nodes, degree, generation)
        profiles = _with_twins(_profiles(count, generation), twins, generation)
        for node in _drawn(count, anonymous, generation):
            profiles[node] = {}

    missing = set(_drawn(count, missing_nodes, damage))
    values = {name: [one[name] for one in profiles if name in one] for name in ("name", "born", "role")}
    predicted_people = {
        node: _noisy(profile, values, attribute_noise, damage)
        for node, profile in enumerate(profiles)
        if node not in missing
    }
    taken = {str(name) for name in values["name"]}
    for node, profile in enumerate(_profiles(round(spurious_nodes * count), damage, taken), start=count):
        predicted_people[node] = {} if shape in SYMMETRIC or damage.random() < anonymous else profile
    kept = _kept(edges, missing_edges, missing, damage)
    added = _added(edges, kept, round(spurious_edges * len(edges)), list(predicted_people), damage)

    predicted, ids = _renamed(_document(predicted_people, kept + added), naming)
    return Planted(
        gold=_document(dict(enumerate(profiles)), edges),
        predicted=predicted,
        truth={f"p{node}": ids[f"p{node}"] for node in range(count) if node not in missing},
        references=sum(edge.values() for edge in edges),
        right=sum(edge.values(missing) for edge in kept),
    )


def symmetric(shape: str, nodes: int) -> Document:
    """Build a document of people without attributes who know each other mutually.

    The number of people is rounded down to one that the shape allows, but is at least that of the smallest graph.
    "triangles", "petersen" and "stars" are disjoint copies of a graph of 3, 10 and 4 nodes. "grid" has about as many
    rows as columns.

    Raises:
        ValueError: If the shape is not one of `SYMMETRIC`.
    """
    count, edges = _symmetric_edges(shape, nodes)
    return _document({node: {} for node in range(count)}, edges)


def relabelled(document: Document, seed: int) -> Document:
    """Copy a document with other ids and another order of people, `knows` and relations.

    Dangling references get other ids too. No new id occurs in the given document.
    """
    return _renamed(document, np.random.default_rng(seed))[0]


def _document(people: dict[int, Profile], edges: list[Edge]) -> Document:
    entries: dict[int, Document] = {
        node: {"id": f"p{node}", **profile, "knows": []} for node, profile in people.items()
    }
    relations = []
    for edge in edges:
        source, target = f"p{edge.source}", f"p{edge.target}"
        if edge.place == "relations":
            relations.append({"from": source, "to": target, "type": edge.type})
        elif edge.place == "father":
            entries[edge.source]["father"] = target
        else:
            entries[edge.source]["knows"].append(target)
    return {"people": list(entries.values()), "relations": relations}


def _renamed(document: Document, rng: np.random.Generator) -> tuple[Document, dict[str, str]]:
    """Return a shuffled copy of the document with random ids, and the new id of each old one."""
    people, relations = document["people"], document["relations"]
    old = [person["id"] for person in people]
    old += [reference for person in people for reference in [*person["knows"], *_father(person).values()]]
    old += [relation[end] for relation in relations for end in ("from", "to")]
    new: dict[str, str] = {}
    used = set(old)
    for one in dict.fromkeys(old):
        while (fresh := f"q{rng.integers(10**6)}") in used:
            pass
        new[one] = fresh
        used.add(fresh)

    def renamed(person):
        knows = [new[other] for other in _shuffled(person["knows"], rng)]
        father = {field: new[other] for field, other in _father(person).items()}
        return person | {"id": new[person["id"]], "knows": knows} | father

    shuffled = {
        "people": [renamed(person) for person in _shuffled(people, rng)],
        "relations": [one | {"from": new[one["from"]], "to": new[one["to"]]} for one in _shuffled(relations, rng)],
    }
    return shuffled, new


def _father(person: Document) -> Document:
    return {"father": person["father"]} if "father" in person else {}


def _shuffled(items: list, rng: np.random.Generator) -> list:
    return [items[at] for at in rng.permutation(len(items))]


def _drawn(count: int, share: float, rng: np.random.Generator) -> list[int]:
    """Draw a share of the numbers below `count`, without repetition."""
    return rng.permutation(count)[: round(share * count)].tolist()


def _edges(nodes: int, degree: float, rng: np.random.Generator) -> list[Edge]:
    """Draw edges between distinct ordered pairs of nodes: about half in `knows`, the others relations and fathers."""
    pairs = nodes * max(nodes - 1, 0)
    edges, with_father = [], set()
    for pair in rng.choice(pairs, size=min(round(degree * nodes), pairs), replace=False).tolist():
        source, target = divmod(pair, nodes - 1)
        target += target >= source
        place = str(rng.choice(["knows", "relations", "father"], p=[0.5, 0.35, 0.15]))
        if place == "father" and source in with_father:
            place = "knows"
        if place == "father":
            with_father.add(source)
        edges.append(Edge(place, source, target, str(rng.choice(TYPES)) if place == "relations" else ""))
    return edges


def _family_edges(nodes: int, rng: np.random.Generator) -> list[Edge]:
    """Draw a father for each node but the first of each family; a family has about eight nodes."""
    families = max(1, nodes // 8)
    return [Edge("father", node, int(rng.integers(node))) for node in range(families, nodes)]


def _symmetric_edges(shape: str, nodes: int) -> tuple[int, list[Edge]]:
    """Return the number of nodes of a symmetric graph and its edges, in both directions."""
    columns = max(1, isqrt(nodes))
    rows = max(1, nodes // columns)
    if shape == "cycle":
        count = max(3, nodes)
        pairs = [(at, (at + 1) % count) for at in range(count)]
    elif shape == "grid":
        count = rows * columns
        pairs = [(at, at + 1) for at in range(count) if (at + 1) % columns]
        pairs += [(at, at + columns) for at in range(count - columns)]
    elif shape in SYMMETRIC:
        size, part = {
            "triangles": (3, [(0, 1), (1, 2), (2, 0)]),
            "stars": (4, [(0, 1), (0, 2), (0, 3)]),
            "petersen": (
                10,
                [pair for at in range(5) for pair in ((at, (at + 1) % 5), (at, at + 5), (at + 5, (at + 2) % 5 + 5))],
            ),
        }[shape]
        count = max(1, nodes // size) * size
        pairs = [(start + one, start + other) for start in range(0, count, size) for one, other in part]
    else:
        raise ValueError(f"The shape {shape!r} is not symmetric. Use one of {', '.join(SYMMETRIC)}.")
    return count, [Edge("knows", *ends) for one, other in pairs for ends in ((one, other), (other, one))]


def _profiles(count: int, rng: np.random.Generator, taken: set[str] = frozenset()) -> list[Profile]:
    """Draw the attributes of people; their names are distinct and not among those taken."""
    made: dict[str, Profile] = {}
    while len(made) < count:
        first, last = ("".join(rng.choice(SYLLABLES, size).tolist()).title() for size in (2, 3))
        name = f"{first} {last}"
        if name not in taken:
            made[name] = {"name": name, "born": int(rng.integers(1780, 1920)), "role": str(rng.choice(ROLES))}
    return list(made.values())


def _with_twins(profiles: list[Profile], share: float, rng: np.random.Generator) -> list[Profile]:
    """Give a share of the people the attributes of one of the others."""
    twins = _drawn(len(profiles), share, rng)
    models = sorted(set(range(len(profiles))) - set(twins)) or twins[:1]
    return profiles and [
        profiles[int(rng.choice(models))] if node in set(twins) else profile for node, profile in enumerate(profiles)
    ]


def _noisy(profile: Profile, values: dict[str, list], noise: float, rng: np.random.Generator) -> Profile:
    """Replace each attribute with probability `noise`, always by a different value."""
    changed = dict(profile)
    for name, value in profile.items():
        if rng.random() < noise:
            others = [other for other in values[name] if other != value]
            swap = rng.random() < 0.5 and others
            changed[name] = others[int(rng.integers(len(others)))] if swap else _misspelled(value, rng)
    return changed


def _misspelled(value: str | int, rng: np.random.Generator) -> str | int:
    """Change one or two letters of a string, or one or both of the last two digits of a year."""
    year = isinstance(value, int)
    letters = list(str(value))
    for at in (
        rng.permutation(len(letters))[: rng.integers(1, 3)]
        if not year
        else 2 + rng.permutation(2)[: rng.integers(1, 3)]
    ):
        letters[at] = str(
            rng.choice([one for one in (digits if year else ascii_lowercase) if one != letters[at].lower()])
        )
    return int("".join(letters)) if year else "".join(letters)


def _kept(edges: list[Edge], share: float, missing: set[int], rng: np.random.Generator) -> list[Edge]:
    """Drop a share of the edges, those that people who are missing hold, and half of the dangling ones."""
    dropped = set(_drawn(len(edges), share, rng))
    kept = []
    for at, edge in enumerate(edges):
        held_by_missing = edge.place != "relations" and edge.source in missing
        dangling = not missing.isdisjoint((edge.source, edge.target))
        if at not in dropped and not held_by_missing and not (dangling and rng.random() < 0.5):
            kept.append(edge)
    return kept


def _added(edges: list[Edge], kept: list[Edge], wanted: int, nodes: list[int], rng: np.random.Generator) -> list[Edge]:
    """Draw spurious edges in the places of random gold edges, or in `knows` if a person has a father already."""
    added: list[Edge] = []
    taken = {edge[:3] for edge in edges}
    with_father = {edge.source for edge in kept if edge.place == "father"}
    attempts = 20 * wanted if len(nodes) > 1 else 0  # a small graph may have no free pair left
    while len(added) < wanted and attempts:
        attempts -= 1
        source, target = rng.choice(nodes, size=2, replace=False).tolist()
        model = edges[int(rng.integers(len(edges)))]
        place = "knows" if model.place == "father" and source in with_father else model.place
        if (place, source, target) not in taken:
            added.append(Edge(place, source, target, model.type if place == "relations" else ""))
            taken.add((place, source, target))
            with_father |= {source} if place == "father" else set()
    return added
