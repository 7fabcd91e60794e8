"""False alarms and recall of moved values, in random documents with a closed vocabulary.

`python -m tests.bench.moves` prints the share of unrelated documents with moved values, and the recall of swapped
values in documents of which some other values are wrong.
"""

from __future__ import annotations

import random

from arbitre import Comparator

FIELDS = ("name", "role", "town")
ROWS = Comparator(
    {"type": "array", "items": {"type": "object", "properties": {name: {"type": "string"} for name in FIELDS}}}
)
VOCABULARIES = (5, 10, 20, 50, 2000)
LETTERS = "abcdefghilmnoprstu"


def moved(gold, predicted):
    return {(value.source, value.target) for value in ROWS.compare(gold=gold, predicted=predicted).diagnosis.moved}


def words(draw, size):
    return ["".join(draw.choices(LETTERS, k=draw.randint(4, 12))) for _ in range(size)]


def unrelated(seed, size=None):
    """Two unrelated documents of 4 to 12 rows, with 5 to 50 different values of each field."""
    draw = random.Random(seed)  # noqa: S311
    values = {name: words(draw, size or draw.randint(5, 50)) for name in FIELDS}
    return [
        [{name: draw.choice(values[name]) for name in FIELDS} for _ in range(draw.randint(4, 12))] for _ in range(2)
    ]


def false_alarms(number, size=None):
    """The share of unrelated documents with a moved value."""
    return sum(bool(moved(*unrelated(seed, size))) for seed in range(number)) / number


def swapped(seed, size, noise):
    """A document with two swapped roles, and the share `noise` of its other roles drawn again; and the two rows."""
    draw = random.Random(seed)  # noqa: S311
    roles, rows = words(draw, size), draw.randint(4, 12)
    names = words(draw, 2 * rows)
    gold = [{"name": names[2 * at], "role": draw.choice(roles), "town": names[2 * at + 1]} for at in range(rows)]
    predicted = [dict(row) for row in gold]
    first, second = draw.sample(range(rows), 2)
    predicted[first]["role"], predicted[second]["role"] = gold[second]["role"], gold[first]["role"]
    for at in range(rows):
        if at not in (first, second) and draw.random() < noise:
            predicted[at]["role"] = draw.choice(roles)
    return gold, predicted, first, second


def recall(number, size, noise):
    """The share of the swapped values that are found."""
    found = planted = 0
    for seed in range(number):
        gold, predicted, first, second = swapped(seed, size, noise)
        if gold[first]["role"] != gold[second]["role"]:
            pointers = [f"/{first}/role", f"/{second}/role"]
            planted, found = (
                planted + 2,
                found + len(moved(gold, predicted) & set(zip(pointers, pointers[::-1], strict=True))),
            )
    return found / planted


if __name__ == "__main__":
    print(f"unrelated documents with moved values, 5 to 50 different values: {false_alarms(2000):.4f}")
    for words_ in VOCABULARIES:
        alarms, *rates = false_alarms(500, words_), *(recall(300, words_, noise) for noise in (0.0, 0.1, 0.3))
        shown = ", ".join(f"{rate:.3f}" for rate in rates)
        print(f"{words_:5} different values: false alarms {alarms:.3f}; recall with 0, 10, 30 % wrong roles: {shown}")
