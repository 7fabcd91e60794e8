"""False alarms and recall of moved values, in random documents with a closed vocabulary.

`python -m tests.bench.moves` prints the share of documents with moved values among unrelated documents (in the same
field, and in two fields with the same values), and among documents of which 30 % of the roles are drawn again; and the
recall of swapped values in documents of which some other values are wrong. Each pair is diagnosed alone, then as part
of a corpus of 30 documents with the same vocabulary.
"""

from __future__ import annotations

import random

from arbitre import Comparator
from arbitre.diagnosis.moved import MovedResults
from arbitre.diagnosis.moved_chance import ValueFrequencies
from arbitre.engine import compare_to_levels

FIELDS, TOWNS = ("name", "role", "town"), ("from", "to")
VOCABULARIES = (3, 5, 10, 20, 50, 200, 2000)
LETTERS = "abcdefghilmnoprstu"
CORPUS = 30


def comparator(fields):
    names = {name: {"type": "string"} for name in fields}
    return Comparator({"type": "array", "items": {"type": "object", "properties": names}})


ROWS, TRIPS = comparator(FIELDS), comparator(TOWNS)


def moved(compared, corpus, *, alone):
    """The places between which values of each document moved."""
    gold, predicted = zip(*corpus, strict=True)
    ids = [str(number) for number in range(len(gold))]
    values = ValueFrequencies.of(compared.plan, dict(zip(ids, gold, strict=True)))
    levels = compare_to_levels(compared.plan, gold, predicted)
    found = MovedResults.of(compared.plan, levels, len(gold), None if alone else values.for_documents(ids)).values
    return [{(value.source, value.target) for value in of_document} for of_document in found]


def words(draw, size):
    return ["".join(draw.choices(LETTERS, k=draw.randint(4, 12))) for _ in range(size)]


def unrelated(seed, size, fields=FIELDS):
    """Pairs of unrelated documents of 4 to 12 rows; trips draw both towns from the same values."""
    draw = random.Random(seed)  # noqa: S311
    shared = words(draw, size)
    values = {name: shared if fields is TOWNS else words(draw, size) for name in fields}

    def document():
        return [{name: draw.choice(values[name]) for name in fields} for _ in range(draw.randint(4, 12))]

    return [(document(), document()) for _ in range(CORPUS)]


def swapped(seed, size, noise, *, swap=True):
    """Documents with two swapped roles, and the share `noise` of the other roles drawn again; and the swapped places."""
    draw = random.Random(seed)  # noqa: S311
    roles, corpus, places = words(draw, size), [], []
    for _ in range(CORPUS):
        rows = draw.randint(4, 12)
        names = words(draw, 2 * rows)
        gold = [{"name": names[2 * at], "role": draw.choice(roles), "town": names[2 * at + 1]} for at in range(rows)]
        predicted = [dict(row) for row in gold]
        first, second = draw.sample(range(rows), 2) if swap else (-1, -1)
        if swap:
            predicted[first]["role"], predicted[second]["role"] = gold[second]["role"], gold[first]["role"]
        for at in range(rows):
            if at not in (first, second) and draw.random() < noise:
                predicted[at]["role"] = draw.choice(roles)
        corpus.append((gold, predicted))
        differ = gold[first]["role"] != gold[second]["role"]
        pointers = [f"/{first}/role", f"/{second}/role"]
        places.append(set(zip(pointers, pointers[::-1], strict=True)) if differ and swap else set())
    return corpus, places


def share(results):
    return sum(map(bool, results)) / len(results)


def false_alarms(number, size, *, alone, fields=FIELDS):
    """The share of unrelated documents with a moved value, in `number` corpora."""
    compared = ROWS if fields is FIELDS else TRIPS
    return share(
        [found for seed in range(number) for found in moved(compared, unrelated(seed, size, fields), alone=alone)]
    )


def false_alarms_among_errors(number, size, *, alone):
    """The share of documents with a moved value if 30 % of the roles are drawn again."""
    corpora = (swapped(seed, size, 0.3, swap=False)[0] for seed in range(number))
    return share([found for corpus in corpora for found in moved(ROWS, corpus, alone=alone)])


def recall(number, size, noise, *, alone):
    """The share of the swapped values that are found."""
    found = planted = 0
    for seed in range(number):
        corpus, places = swapped(seed, size, noise)
        for values, expected in zip(moved(ROWS, corpus, alone=alone), places, strict=True):
            found, planted = found + len(values & expected), planted + len(expected)
    return found / planted


if __name__ == "__main__":
    for alone_ in (True, False):
        print("alone" if alone_ else f"in a corpus of {CORPUS} documents")
        print("values: unrelated, two fields, 30 % errors; found with 0, 10, 30 % other wrong roles")
        for words_ in VOCABULARIES:
            rates = (
                false_alarms(30, words_, alone=alone_),
                false_alarms(30, words_, alone=alone_, fields=TOWNS),
                false_alarms_among_errors(30, words_, alone=alone_),
                *(recall(10, words_, noise_, alone=alone_) for noise_ in (0.0, 0.1, 0.3)),
            )
            print(f"{words_:5}: " + " ".join(f"{rate:6.1%}" for rate in rates))
