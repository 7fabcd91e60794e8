"""A corpus of letters in which tests plant one cause of faults."""

import random

from arbitre import Comparator
from arbitre.causes.search import find_causes
from arbitre.inputs.records import Pair

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
LETTER = {
    "type": "object",
    "properties": {
        "number": INTEGER,
        "sender": TEXT,
        "recipient": TEXT,
        "summary": TEXT,
        "note": {"type": ["string", "null"]},
        "year": INTEGER,
        "place": {"type": "object", "properties": {"town": TEXT}},
        "pages": {"type": "array", "items": INTEGER},
    },
}
LETTERS = {"type": "array", "items": LETTER}
NAMES = ("Barthou", "Briand", "Caillaux", "Herriot", "Poincaré", "Tardieu", "Laval", "Flandin", "Doumergue", "Sarraut")
TOWNS = ("Pau", "Rouen", "Dijon", "Troyes", "Nîmes", "Évreux", "Orléans", "Besançon")


def letter(rng, number):
    return {
        "number": number,
        "sender": f"{rng.choice('ABCDEFGH')}. {rng.choice(NAMES)}",
        "recipient": f"{rng.choice('ABCDEFGH')}. {rng.choice(NAMES)}",
        "summary": f"On matter {rng.randrange(10**6)}",
        "note": None if rng.random() < 0.7 else f"Note {rng.randrange(10**4)}",
        "year": rng.randrange(1890, 1935),
        "place": {"town": rng.choice(TOWNS)},
        "pages": sorted(rng.sample(range(1, 400), rng.randint(1, 3))),
    }


def corpus(change, documents=12, entries=5):
    """Gold documents, and predictions: `change(entries, rng)` changes copies of the entries of a document."""
    rng = random.Random(0)  # noqa: S311
    gold, predicted = [], []
    for at in range(documents):
        gold.append([letter(rng, 100 + 40 * at + number) for number in range(entries)])
        predicted.append([one | {"place": dict(one["place"])} for one in gold[-1]])
        predicted[-1] = change(predicted[-1], rng) or predicted[-1]
    return gold, predicted


def analysed(gold, predicted, schema=LETTERS):
    """The causes that one explanation covers, and f1q."""
    pairs = [Pair(f"d{at:02}", None, *pair) for at, pair in enumerate(zip(gold, predicted, strict=True))]
    analysis = find_causes(Comparator(schema).plan, pairs)
    return [cause for cause in analysis.causes if cause.systematic], analysis.f1q


def only(change, **sizes):
    """The only cause of a corpus, and f1q."""
    (cause,), f1q = analysed(*corpus(change, **sizes))
    assert (cause.side, cause.change) == ("prediction", None)
    return cause, f1q
