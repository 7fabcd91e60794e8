"""False alarms and recall of moved values and moved objects, in random documents with a closed vocabulary.

`python -m tests.bench.moves` prints the share of documents with moved values among unrelated documents (in the same
field, and in two fields with the same values), and among documents of which 30 % of the roles are drawn again; and the
recall of swapped values in documents of which some other values are wrong. The same for objects in lists: the share of
documents with moved objects among unrelated documents, and among documents of which 30 % of the objects are missing and
as many are invented, with values drawn one by one or with objects drawn from a closed set; and the recall of objects
that moved to another entry, or out of their entry. Each pair is diagnosed alone, then as part of a corpus of 30
documents with the same vocabulary.
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
WORK = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "role": {"type": "string"}, "page": {"type": "integer"}},
}
AUTHOR = {"name": {"type": "string"}, "works": {"type": "array", "items": WORK}}
AUTHORS = Comparator({"type": "array", "items": {"type": "object", "properties": AUTHOR}})


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


class Objects:
    """Draws authors with works. The values of a work are drawn one by one, or whole works from a closed set."""

    def __init__(self, seed, size, *, closed=False):
        self.draw = random.Random(seed)  # noqa: S311
        self.titles, self.roles = words(self.draw, size), words(self.draw, min(size, 5))
        self.closed = [self.drawn() for _ in range(size)] if closed else ()

    def drawn(self):
        draw = self.draw
        return {"title": draw.choice(self.titles), "role": draw.choice(self.roles), "page": draw.randint(1, 200)}

    def work(self):
        return dict(self.draw.choice(self.closed)) if self.closed else self.drawn()

    def document(self):
        draw = self.draw
        return [
            {"name": name, "works": [self.work() for _ in range(draw.randint(1, 5))]}
            for name in words(draw, draw.randint(4, 12))
        ]

    def unrelated(self):
        return [(self.document(), self.document()) for _ in range(CORPUS)]

    def damaged(self, rate=0.3):
        """Documents of which some works are missing, and in which as many works are invented."""
        corpus = []
        for _ in range(CORPUS):
            gold = self.document()
            kept = [[work for work in author["works"] if self.draw.random() >= rate] for author in gold]
            for author, works in zip(gold, kept, strict=True):
                for _ in range(len(author["works"]) - len(works)):
                    self.draw.choice(kept).append(self.work())
            corpus.append((gold, [author | {"works": works} for author, works in zip(gold, kept, strict=True)]))
        return corpus

    def moved(self, *, out):
        """Documents with a work in another entry, or in the list of entries, and the places of these works."""
        corpus, places = [], []
        for _ in range(CORPUS):
            gold = self.document()
            predicted = [author | {"works": list(author["works"])} for author in gold]
            source, target = self.draw.sample(range(len(gold)), 2)
            at = self.draw.randrange(len(gold[source]["works"]))
            other = predicted if out else predicted[target]["works"]
            places.append({(f"/{source}/works/{at}", f"/{len(other)}" if out else f"/{target}/works/{len(other)}")})
            other.append(predicted[source]["works"].pop(at))
            corpus.append((gold, predicted))
        return corpus, places


def objects_moved(corpus, *, alone):
    """The places between which objects of each document moved; they end with a position."""
    return [
        {pair for pair in found if all(pointer.rpartition("/")[2].isdecimal() for pointer in pair)}
        for found in moved(AUTHORS, corpus, alone=alone)
    ]


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


def false_objects(number, size, *, alone, closed=False, errors=False):
    """The share of documents with a moved object, although none moved."""
    corpora = (Objects(seed, size, closed=closed) for seed in range(number))
    noise = (drawn.damaged() if errors else drawn.unrelated() for drawn in corpora)
    return share([found for corpus in noise for found in objects_moved(corpus, alone=alone)])


def object_recall(number, size, *, alone, out, closed=False):
    """The share of the moved objects that are found."""
    found = planted = 0
    for seed in range(number):
        corpus, places = Objects(seed, size, closed=closed).moved(out=out)
        for values, expected in zip(objects_moved(corpus, alone=alone), places, strict=True):
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
        print("objects: unrelated, 30 % errors, both from a closed set; found in another entry, out of the entry")
        for words_ in VOCABULARIES:
            rates = (
                *(false_objects(10, words_, alone=alone_, errors=errors_) for errors_ in (False, True)),
                *(false_objects(10, words_, alone=alone_, errors=errors_, closed=True) for errors_ in (False, True)),
                *(object_recall(5, words_, alone=alone_, out=out_) for out_ in (False, True)),
            )
            print(f"{words_:5}: " + " ".join(f"{rate:6.1%}" for rate in rates))
