"""Compare the F1 of triples with Smatch, the official score of Abstract Meaning Representations.

    pip install smatch==1.0.4 && python tests/bench/triples.py

200 random graphs of 6 to 20 concepts, in which a quarter of the concepts and an eighth of the roles are replaced. The
first figure is `comparison.leaves.f1q`, the share of equal concepts and relations with the correspondence of arbitre.
Smatch looks for the correspondence with the most equal triples, by hill climbing.
"""

from __future__ import annotations

import json
import random
import time

import smatch

from arbitre import Comparator

CONCEPTS = ["want-01", "go-02", "boy", "girl", "city", "see-01", "person", "say-01", "name", "dog"]
ROLES = ("ARG0", "ARG1", "ARG2", "mod", "time")
TARGETS = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"ref": "variable"}}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "x-arbitre": {"id": "variable"}},
            "concept": {"type": "string", "x-arbitre": {"distance": "exact"}},
            **dict.fromkeys(ROLES, TARGETS),
        },
    },
}
GRAPHS = 200


def graph(count, rng):
    """A connected graph of concepts: a tree, and a third as many further roles."""
    nodes = [{"id": f"a{at}", "concept": rng.choice(CONCEPTS)} for at in range(count)]
    edges = [(rng.randrange(at), at) for at in range(1, count)]
    edges += [(rng.randrange(count), rng.randrange(count)) for _ in range(count // 3)]
    for source, target in edges:
        if source != target:
            nodes[source].setdefault(rng.choice(ROLES), []).append(f"a{target}")
    return nodes


def damaged(nodes, rng):
    """A copy with other variables, and other concepts and roles here and there."""
    new = {node["id"]: f"z{number}" for node, number in zip(nodes, rng.sample(range(99), len(nodes)), strict=True)}
    made = []
    for node in nodes:
        concept = rng.choice(CONCEPTS) if rng.random() < 0.25 else node["concept"]
        changed = {"id": new[node["id"]], "concept": concept}
        for role in ROLES:
            if role in node:
                name = rng.choice(ROLES) if rng.random() < 0.125 else role
                changed.setdefault(name, []).extend(new[target] for target in node[role])
        made.append(changed)
    return made


def notation(nodes):
    """The graph in the notation of AMR; the first node is the root."""
    by_id, seen = {node["id"]: node for node in nodes}, set()

    def written(name):
        if name in seen:
            return name
        seen.add(name)
        node = by_id[name]
        roles = "".join(f" :{role} {written(target)}" for role in ROLES for target in node.get(role, ()))
        return f"({name} / {node['concept']}{roles})"

    return written(nodes[0]["id"])


def official(gold, predicted):
    """Smatch F1 without the triple that marks the root."""
    random.seed(1)
    smatch.match_triple_dict.clear()
    matched, test, reference = smatch.get_amr_match(notation(predicted), notation(gold))
    return 2 * (matched - 1) / (test + reference - 2)


def main():
    comparator = Comparator(SCHEMA)
    sums, times = [0.0, 0.0], [0.0, 0.0]
    for seed in range(GRAPHS):
        rng = random.Random(seed)  # noqa: S311  (a reproducible sample)
        gold = graph(rng.randint(6, 20), rng)
        predicted = damaged(gold, rng)
        for at, score in enumerate(
            (lambda *sides: comparator.compare(gold=sides[0], predicted=sides[1]).leaves.f1q, official)
        ):
            start = time.perf_counter()
            sums[at] += score(gold, predicted)
            times[at] += time.perf_counter() - start
    figures = [f"{total / GRAPHS:.3f}" for total in sums] + [f"{1000 * one / GRAPHS:.1f} ms" for one in times]
    print(json.dumps(dict(zip(("arbitre", "smatch", "time of arbitre", "time of smatch"), figures, strict=True))))


if __name__ == "__main__":
    main()
