"""Measure how many persons of planted graphs are paired with the right ones, beside simpler methods.

    python tests/bench/references.py             # 1,000 graphs
    python tests/bench/references.py --graphs 4  # 4 graphs a row

Each row has graphs of one size with one kind of noise. Right is the share of the persons that both documents have and
that are paired as planted. Agreeing is the number of references that agree with the found pairs, divided by that with
the planted pairs. The simpler methods use the same qualities of pairs of persons: an assignment of what persons contain
("attributes"); colours refined over the references, then one assignment ("colours"); fused Gromov-Wasserstein transport
with POT ("fused").
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import ot
from rich.console import Console
from rich.table import Table
from scipy.optimize import linear_sum_assignment

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.planted_references import ATTRIBUTES, SCHEMA, planted

from arbitre import Comparator

ROWS = (
    ("clean", {}, (5, 20, 50), 100),
    ("10 % of the references wrong", {"references": 0.1}, (5, 20, 50), 100),
    ("40 % of the attributes wrong, 10 % of the references", {"attributes": 0.4, "references": 0.1}, (20, 50), 100),
    ("half of the persons twins, 10 % of the references", {"twins": 0.5, "references": 0.1}, (20, 50), 50),
    ("half of the persons anonymous, 10 % of the references", {"anonymous": 0.5, "references": 0.1}, (20, 50), 25),
    ("all persons anonymous, 10 % of the references", {"anonymous": 1.0, "references": 0.1}, (20, 50, 100), 10),
    ("10 % missing and invented", {"missing": 0.1}, (20,), 50),
    ("20 % missing and invented, 20 % of the attributes wrong", {"missing": 0.2, "attributes": 0.2}, (20, 50), 25),
    ("20 % of the attributes wrong, 10 % of the references", {"attributes": 0.2, "references": 0.1}, (100, 200), 10),
)

COMPARATOR = Comparator(SCHEMA)


def agreeing(pair, pairs):
    """The number of gold references that agree if these gold ids stand for these predicted ids."""
    new = dict(pairs)
    people = {person["id"]: person for person in pair.predicted["people"]}
    number = sum(
        new.get(other) in people[new[person["id"]]]["knows"]
        for person in pair.gold["people"]
        if new.get(person["id"]) in people
        for other in person["knows"]
    )
    relations = [Counter(), Counter()]
    relations[0].update((new.get(one["from"]), new.get(one["to"])) for one in pair.gold["relations"])
    relations[1].update((one["from"], one["to"]) for one in pair.predicted["relations"])
    return number + 2 * (relations[0] & relations[1]).total()


def similarities(pair):
    """The quality of each pair of persons, from their attributes."""
    strings = {"type": "array", "items": SCHEMA["properties"]["people"]["items"]}
    sides = [
        [{key: one[key] for key in ATTRIBUTES if key in one} for one in side["people"]]
        for side in (pair.gold, pair.predicted)
    ]
    schema = strings | {
        "items": {"type": "object", "properties": {key: strings["items"]["properties"][key] for key in ATTRIBUTES}}
    }
    return 1.0 - Comparator(schema).compare(gold=sides[0], predicted=sides[1]).alignment("").costs


def neighbours(document):
    """The adjacency matrix of the persons of a document, in both directions."""
    at = {person["id"]: number for number, person in enumerate(document["people"])}
    matrix = np.zeros((len(at), len(at)))
    for person in document["people"]:
        for other in person["knows"]:
            matrix[at[person["id"]], at[other]] += 1
    for one in document["relations"]:
        matrix[at[one["from"]], at[one["to"]]] += 1
    return matrix


def by_attributes(pair):
    return linear_sum_assignment(similarities(pair), maximize=True)[1]


def by_colours(pair):
    """One assignment of persons, of which those with the same refined colour are preferred."""
    colours = []
    for side in (pair.gold, pair.predicted):
        matrix = neighbours(side)
        own = [str([person.get(key) for key in ATTRIBUTES]) for person in side["people"]]
        for _ in range(3):
            own = [
                str(
                    (
                        own[at],
                        sorted(own[to] for to in np.flatnonzero(row)),
                        sorted(own[to] for to in np.flatnonzero(column)),
                    )
                )
                for at, (row, column) in enumerate(zip(matrix, matrix.T, strict=True))
            ]
            own = [str(hash(colour)) for colour in own]
        colours.append(np.array(own))
    return linear_sum_assignment(similarities(pair) + 2.0 * np.equal.outer(*colours), maximize=True)[1]


def by_fused_transport(pair):
    costs = 1.0 - similarities(pair)
    size = len(costs)
    weights = np.full(size, 1.0 / size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = ot.gromov.fused_gromov_wasserstein(
            costs, neighbours(pair.gold), neighbours(pair.predicted), weights, weights, alpha=0.5, symmetric=False
        )
    return linear_sum_assignment(plan, maximize=True)[1]


def by_correspondence(pair):
    found = dict(COMPARATOR.compare(gold=pair.gold, predicted=pair.predicted).references["person"].pairs)
    at = {person["id"]: number for number, person in enumerate(pair.predicted["people"])}
    return [at[found[person["id"]]] for person in pair.gold["people"]]


METHODS = {
    "arbitre": by_correspondence,
    "attributes": by_attributes,
    "colours": by_colours,
    "fused": by_fused_transport,
}


def measured(noise, count, graphs, seed):
    """The share of the right persons and the milliseconds of each method, and the least share of agreeing references."""
    right, times, least, total = Counter(), Counter(), np.inf, 0
    for number in range(graphs):
        pair = planted(seed + number, count, **noise)
        total += len(pair.truth)
        gold, predicted = ([person["id"] for person in side["people"]] for side in (pair.gold, pair.predicted))
        for name, method in METHODS.items():
            start = time.perf_counter()
            partners = method(pair)
            times[name] += time.perf_counter() - start
            pairs = [(old, predicted[at]) for old, at in zip(gold, partners, strict=True)]
            right[name] += sum(pair.truth.get(old) == new for old, new in pairs)
            if name == "arbitre":
                least = min(least, agreeing(pair, pairs) / agreeing(pair, pair.truth.items()))
    return (
        {name: right[name] / total for name in METHODS},
        {name: 1000 * times[name] / graphs for name in METHODS},
        least,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, help="graphs of each row (default: as many as make 1,000)")
    parser.add_argument("--seed", type=int, default=1000)
    given = parser.parse_args()
    table = Table(
        "noise", "persons", "graphs", "agreeing", *(f"{name} {what}" for name in METHODS for what in ("right", "ms"))
    )
    for title, noise, sizes, graphs in ROWS:
        for count in sizes:
            number = given.graphs or graphs
            right, times, least = measured(noise, count, number, given.seed)
            cells = [text for name in METHODS for text in (f"{right[name]:.3f}", f"{times[name]:.1f}")]
            table.add_row(title, str(count), str(number), f"{least:.3f}", *cells)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
