"""Consensus of annotators whose errors are planted: how close it comes to the truth, compared with the medoid.

A document is a page of an index: a date, and speakers with a role, pages, and interventions that have pages of their
own. Each annotator copies the truth, with errors at the rate `error`:

- each field is changed with this probability: names get a typing error or become another name, the others become
  another value;
- each speaker, intervention and page is left out with probability `error` x `omitted`;
- a spurious one is added for each true one with probability `error` x `invented`.

With `--careless 2.5`, the rate of the first annotator is 2.5 times as high.

    python -m tests.bench.planted_consensus            # all tables; docs/consensus.md shows a part
    python -m tests.bench.planted_consensus --short    # a few documents

The generator shares no code with the consensus. Each row has the mean quality of the documents and the pooled f1q of
the speakers, both against the truth, and the number of speakers divided by that of the truth; all are means over the
seeds. The medoid is, for each document, that of the annotator who agrees best with the others; of two annotators, both
are, and the row has their mean.
"""

from __future__ import annotations

import argparse
import random
from statistics import fmean
from typing import NamedTuple

from arbitre import Comparator
from arbitre.agreement.consensus.build import build_gold

ROLES = ["member", "chair", "minister", "rapporteur", "secretary", "vice-chair"]
KINDS = ["question", "speech", "report", "amendment", "interruption"]
FIRST = [
    "Anna",
    "Bert",
    "Carl",
    "Dora",
    "Emil",
    "Fanny",
    "Georg",
    "Hugo",
    "Ida",
    "Jean",
    "Karl",
    "Louise",
    "Max",
    "Nora",
]
PARTS = [
    "ber",
    "mar",
    "ton",
    "lan",
    "vil",
    "dou",
    "chev",
    "rou",
    "pel",
    "gran",
    "mor",
    "tes",
    "bou",
    "ler",
    "sau",
    "net",
]
LETTERS = "abcdefghilmnoprstuv"
PAGES = {"type": "array", "items": {"type": "integer"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "date": {"type": "string"},
        "speakers": {
            "type": "array",
            "x-arbitre": {"entries": True},
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "role": {"enum": ROLES},
                    "pages": PAGES,
                    "interventions": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"kind": {"enum": KINDS}, "about": {"type": "string"}, "pages": PAGES},
                        },
                    },
                },
            },
        },
    },
}


class Faults(NamedTuple):
    """How often annotators leave out and add list items, as shares of the rate of error."""

    omitted: float = 0.25
    invented: float = 0.25


REGIMES = {"balanced": Faults(), "omissions": Faults(1.0, 0.1), "inventions": Faults(0.1, 1.0)}


def name(rng):
    return f"{rng.choice(FIRST)} {''.join(rng.sample(PARTS, rng.randint(2, 3))).capitalize()}"


def topic(rng):
    return " ".join("".join(rng.sample(PARTS, 2)) for _ in range(rng.randint(2, 4)))


def intervention(rng):
    pages = sorted(rng.sample(range(1, 400), rng.randint(1, 3)))
    return {"kind": rng.choice(KINDS), "about": topic(rng), "pages": pages}


def speaker(rng):
    return {
        "name": name(rng),
        "role": rng.choice(ROLES),
        "pages": sorted(rng.sample(range(1, 400), rng.randint(1, 4))),
        "interventions": [intervention(rng) for _ in range(rng.randint(0, 3))],
    }


def page(rng, size):
    return {
        "date": f"19{rng.randint(10, 39)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "speakers": [speaker(rng) for _ in range(size)],
    }


class Annotator:
    """Copies documents with errors."""

    def __init__(self, rng, error, faults):
        self.rng, self.error, self.faults = rng, error, faults

    def copy(self, document):
        return {
            "date": self.date(document["date"]),
            "speakers": self.items(document["speakers"], self.speaker, speaker),
        }

    def items(self, items, copied, new):
        rng, found = self.rng, []
        for item in items:
            if rng.random() >= self.error * self.faults.omitted:
                found.append(copied(item))
            if rng.random() < self.error * self.faults.invented:
                found.insert(rng.randint(0, len(found)), new(rng))
        return found

    def speaker(self, item):
        return {
            "name": self.text(item["name"], name),
            "role": self.choice(item["role"], ROLES),
            "pages": self.pages(item["pages"]),
            "interventions": self.items(item["interventions"], self.intervention, intervention),
        }

    def intervention(self, item):
        return {
            "kind": self.choice(item["kind"], KINDS),
            "about": self.text(item["about"], topic),
            "pages": self.pages(item["pages"]),
        }

    def pages(self, pages):
        return self.items(pages, lambda page: self.choice(page, range(1, 400)), lambda rng: rng.randint(1, 399))

    def date(self, value):
        return self.text(value, lambda rng: page(rng, 0)["date"])

    def choice(self, value, values):
        return self.rng.choice([each for each in values if each != value]) if self.rng.random() < self.error else value

    def text(self, value, new):
        """Two in three errors are typing errors, the others replace the text."""
        if self.rng.random() >= self.error:
            return value
        if self.rng.random() < 1 / 3:
            return new(self.rng)
        at = self.rng.randrange(len(value))
        return value[:at] + self.rng.choice(LETTERS) + value[at + self.rng.randint(0, 1) :]


class Result(NamedTuple):
    """Scores against the truth.

    Attributes:
        quality: Mean quality of the documents.
        f1q: Pooled f1q of the entries.
        kept: Number of entries, divided by that of the truth.
    """

    quality: float
    f1q: float
    kept: float


def planted(annotators, error, faults, *, documents, size, seed=0, careless=1.0):
    """Return the truth, and the documents of each annotator."""
    rng = random.Random(f"{seed} {annotators} {error} {faults}")  # noqa: S311
    truth = {f"{at:03}": page(rng, size) for at in range(documents)}
    copies = [Annotator(rng, error if at else error * careless, faults) for at in range(annotators)]
    return truth, {
        f"annotator {at}": {key: each.copy(own) for key, own in truth.items()} for at, each in enumerate(copies)
    }


def against(comparator, truth, documents):
    evaluation = comparator.evaluate([(key, own, documents.get(key)) for key, own in truth.items()], no_chance=True)
    micro = evaluation.micro
    return Result(evaluation.document_quality.mean, micro.f1q, micro.predicted / micro.gold)


def medoids(comparator, annotations):
    """Return the documents of the annotators who agree best with the others; for two annotators, those of each."""
    names, found = list(annotations), {}
    if len(names) == 2:
        return list(annotations.values())
    for key in annotations[names[0]]:
        agreed = {
            name: fmean(
                comparator.compare(gold=annotations[other][key], predicted=annotations[name][key]).scores.f1q or 0.0
                for other in names
                if other != name
            )
            for name in names
        }
        found[key] = annotations[max(names, key=agreed.__getitem__)][key]
    return [found]


def simulate(annotators, error, faults, *, strategies=("majority", "minimum-risk"), **corpus):
    """Return the result of the medoid and of each strategy."""
    comparator = Comparator(SCHEMA)
    truth, annotations = planted(annotators, error, faults, **corpus)
    each = [against(comparator, truth, own) for own in medoids(comparator, annotations)]
    results = {"medoid": Result(*map(fmean, zip(*each, strict=True)))}
    for strategy in strategies:
        built = build_gold(comparator, annotations, strategy=strategy)
        results[strategy] = against(comparator, truth, built.documents)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=12)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--errors", nargs="*", type=float, default=(0.1, 0.25, 0.4))
    parser.add_argument("--annotators", nargs="*", type=int, default=(2, 3, 5, 7))
    parser.add_argument("--careless", type=float, default=1.0)
    parser.add_argument("--regimes", nargs="*", default=list(REGIMES), choices=list(REGIMES))
    parser.add_argument("--short", action="store_true")
    given = parser.parse_args()
    documents, size, seeds = (2, 3, 1) if given.short else (given.documents, given.size, given.seeds)
    corpus = {"documents": documents, "size": size, "careless": given.careless}
    for regime in given.regimes:
        print(f"\n| {regime}: error | annotators | medoid | majority | minimum-risk |\n|---|---|---|---|---|")
        for error in (0.1,) if given.short else given.errors:
            for annotators in (2, 3) if given.short else given.annotators:
                every = [
                    simulate(annotators, error, REGIMES[regime], **corpus, seed=seed).values() for seed in range(seeds)
                ]
                results = [Result(*map(fmean, zip(*each, strict=True))) for each in zip(*every, strict=True)]
                cells = [f"{own.quality:.3f}, {own.f1q:.3f}, {own.kept:.2f}" for own in results]
                print(f"| {error:.2f} | {annotators} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
