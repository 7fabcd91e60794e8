"""Plants causes in the predictions of a corpus.

`plant("date-format", corpus, seed)` returns the predictions with the cause and without it, and what should be reported.
A planter changes 60 to 100 % of the places of one path, or of the documents, in predictions that already have
independent errors. Nothing is imported from the package: planters and detectors share no code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from tests.bench import structure_planters, value_planters  # noqa: F401  (each adds its planters)
from tests.bench.cause_corpora import Corpus, makers, predictions, seeded

PLANTERS = value_planters.PLANTERS
"""All planters, by kind."""
FEWEST = 12
"""Minimum number of changed places; a corpus with fewer is not used for the kind."""


@dataclass
class Planting:
    """A cause in the predictions of a corpus.

    Attributes:
        kind: Kind of the cause.
        variant: Notation or form in which it was planted.
        paths: Wildcard paths that it changed; the cause should be reported at one of them, or below.
        count: Number of places that it changed.
        side: "prediction" or "gold".
    """

    kind: str
    variant: str
    paths: tuple
    count: int
    side: str = "prediction"


@dataclass
class Planted:
    """A corpus with planted causes.

    Attributes:
        corpus: The corpus.
        gold: Its gold documents; with the cause if it is planted in gold.
        predicted: The predictions with background noise and the causes.
        without: For each cause, the gold and the predictions without it.
        plantings: The causes.
    """

    corpus: Corpus
    gold: list
    predicted: list
    without: list
    plantings: list


IN_GOLD = {"key-spelling in gold": "key-spelling"}
"""Causes that are planted in gold, and their kind."""
KINDS = (*PLANTERS, *IN_GOLD)
"""What can be planted."""
MIXED = (*value_planters.NOTATIONS, "columns-swapped", "other-field", "column-shifted",
         "ids-offset", "list-or-value", "serialised-list", "duplicated", "truncated", "promoted", "demoted",
         "key-spelling", "renamed-key")  # fmt: skip
"""The kinds that can be planted together, in the order in which they are planted."""


def copied(documents):
    """Deep copies of JSON documents; `copy.deepcopy` takes ten times longer."""
    return json.loads(json.dumps(documents))


@lru_cache(maxsize=16)
def noisy(corpus, seed):
    """Predictions with background noise and no cause, the same for every cause that is planted; not to be changed."""
    return predictions(seeded("noise", corpus.name, seed), corpus)


def planted_once(kind, corpus, documents, taken, seed):
    """Plant one cause in documents, which are changed; None if the corpus has no place for it."""
    rng, unchanged = seeded("planter", kind, corpus.name, seed), copied(documents)
    for function in rng.sample(PLANTERS[kind], len(PLANTERS[kind])):
        for variant, paths, count in function(rng, corpus, documents, taken):
            if count >= FEWEST:
                return Planting(kind, variant, paths, count)
            documents[:] = copied(unchanged)
    return None


def plant(kinds, corpus, seed):
    """Plant causes in noisy predictions of a corpus.

    Args:
        kinds: One of `KINDS`, or several of `MIXED`.
        corpus: The corpus; see `corpora`.
        seed: Random seed.

    Returns:
        The corpus with its causes, or None if it has no place for one of them.
    """
    gold, clean = list(corpus.gold), noisy(corpus, seed)
    if isinstance(kinds, str) and kinds in IN_GOLD:
        changed = copied(gold)
        planting = planted_once(IN_GOLD[kinds], corpus, changed, [], seed)
        if planting is None:
            return None
        planting.side = "gold"
        return Planted(corpus, changed, clean, [(gold, clean)], [planting])
    kinds = [kinds] if isinstance(kinds, str) else sorted(kinds, key=MIXED.index)

    def made(left_out=None):
        predicted, taken, plantings = copied(clean), [], []
        for kind in kinds:
            attempt = copied(predicted)
            planting = planted_once(kind, corpus, attempt, taken, seed)
            if planting is None:
                return None
            taken += planting.paths
            plantings.append(planting)
            predicted = predicted if kind == left_out else attempt
        return predicted, plantings

    whole = made()
    if whole is None:
        return None
    without = [made(kind) for kind in kinds] if len(kinds) > 1 else [(clean, whole[1])]
    if None in without:  # a cause finds no place if another is left out
        return None
    return Planted(corpus, gold, whole[0], [(gold, predicted) for predicted, _ in without], whole[1])


def corpora(seed):
    """A corpus of every schema."""
    return [make(seeded("corpus", make.__name__, seed)) for make in makers()]


def mixtures(number, seed=0):
    """Corpora with two to four causes; schemas and kinds are drawn."""
    made, attempt = 0, 0
    while made < number:
        rng = seeded("mixture", seed, attempt)
        attempt += 1
        make = rng.choice(makers())
        corpus = make(seeded("corpus", make.__name__, rng.random()))
        planted = plant(rng.sample(MIXED, rng.randint(2, 4)), corpus, attempt)
        if planted is not None:
            made += 1
            yield planted
