"""False advice on random schemas, and recall of planted advice.

`python -m tests.bench.schema_advice` prints the advice given on random corpora that need none, and for each kind the
share of the corpora with a planted reason in which it is given, with its path.

A corpus without a reason has free texts, names, small integers and closed vocabularies, at random depths and with
random gaps. Its vocabularies contain "none", "NA" and "-" as categories.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import date

from arbitre import Comparator
from arbitre.schema.loading.infer import infer
from arbitre.suggestions.census import Census
from arbitre.suggestions.schema_advice import find_schema_advice

CORPORA = 200
FIRST = """
    Ada Benoît Carla Dmitri Élodie Farid Greta Hugo Inès Jonas Kenji Léa Marta Nils Olga Paul Rosa Sven Théo
""".split()  # noqa: SIM905
LAST = """
    Abbott Bazile Costa Dumas Eriksen Ferrand Gauthier Haas Ito Jensen Klein Larcher Moreau Novak Okafor
""".split()  # noqa: SIM905
WORDS = """
    harvest port wool salt tax road bridge school pension light house flood river vote order duty grain mill
    tariff night class motion debate reply note letter market price war peace family ship coal none null march may
""".split()  # noqa: SIM905
KEYS = """
    title author subject place sender role status count age rank kind topic region note summary page chapter owner
    title2 street_1 street_2 q1 q2 q3 sub-title line address1 address2 colour level group unit stage
""".split()  # noqa: SIM905
VOCABULARIES = (
    ["none", "mild", "severe"],
    ["NA", "EU", "AS", "AF", "OC"],
    ["+", "-", "±"],
    ["speech", "question", "report", "motion"],
    ["A", "B", "C", "D", "E", "F"],
    ["S", "M", "L", "XL"],
    ["1st", "2nd", "3rd", "4th"],
    ["unknown", "male", "female"],
    ["2019", "2020", "2021", "2022"],
    ["50m", "100m", "200m"],
)
SCALARS = ("text", "name", "number", "category")


def structure(draw, depth=0):
    """A random object: the kind of value of each field, and the share of the objects that have it."""
    fields = {}
    for name in draw.sample(KEYS, draw.randint(3, 8)):
        kind = draw.choice([*SCALARS, *SCALARS, "texts", "numbers", "object", "objects"])
        if kind in {"object", "objects"} and depth > 1:
            kind = draw.choice(SCALARS)
        detail = structure(draw, depth + 1) if kind in {"object", "objects"} else draw.choice(VOCABULARIES)
        fields[name] = kind, draw.choice([1.0, 1.0, 0.9, 0.7, 0.5]), draw.choice([True, False]), detail
    return fields


def instance(draw, fields):
    """A random object of this structure. A missing value is always null or always left out."""
    made = {}
    for name, (kind, present, null, detail) in fields.items():
        if draw.random() < present:
            made[name] = value(draw, kind, detail)
        elif null:
            made[name] = None
    return made


def value(draw, kind, detail):
    if kind in {"texts", "numbers"}:
        return [value(draw, kind.removesuffix("s"), detail) for _ in range(draw.randint(1, 4))]
    if kind == "objects":  # too few for entries
        return [instance(draw, detail) for _ in range(draw.randint(1, 2))]
    return {
        "text": lambda: " ".join(draw.choices(WORDS, k=draw.randint(2, 12))).capitalize(),
        "name": lambda: draw.choice(["{0}, {1}", "{1} {0}"]).format(draw.choice(LAST), draw.choice(FIRST)),
        "number": lambda: draw.randint(0, 60),
        "category": lambda: draw.choice(detail),
        "object": lambda: instance(draw, detail),
    }[kind]()


def neutral(seed):
    """Gold documents and predictions with nothing to advise on."""
    draw = random.Random(seed)  # noqa: S311
    fields, number = structure(draw), draw.choice([3, 6, 12, 25, 40])
    return [instance(draw, fields) for _ in range(number)], [instance(draw, fields) for _ in range(number)]


def advice(gold, predicted=(), schema=None):
    """The advice on a schema, by default the inferred one."""
    plan = Comparator(schema or infer(gold)).plan
    sides = Census(plan), Census(plan, predicted=True)
    for census, documents in zip(sides, (gold, predicted), strict=True):
        for document in documents:
            census.add(document)
    return find_schema_advice(*sides)


def false_advice(corpora=CORPORA):
    """The advice on corpora that need none."""
    return [(seed, str(one)) for seed in range(corpora) for one in advice(*neutral(seed))]


# Planted reasons: each function changes the field or key "planted" of neutral documents.


def texts(make):
    """Put texts into a new field of every document."""

    def plant(draw, gold, _):
        for document in gold:
            document["planted"] = make(draw)

    return plant


def day(draw):
    return date(draw.randint(1850, 2020), draw.randint(1, 12), draw.randint(1, 28))


def absent(draw, gold, _):
    word = draw.choice(["", "n/a", "null", "NOT_FOUND"])
    for document in gold:
        document["planted"] = word if draw.random() < 0.4 else value(draw, "text", None)


def spelling(draw, gold, predicted):
    for document in gold:
        document["planted_key"] = value(draw, "name", None)
    for document in predicted:
        document["planted-key"] = value(draw, "name", None)


def two_spellings(draw, gold, _):
    for number, document in enumerate(gold):
        document["planted_key" if number % 2 else "plantedKey"] = value(draw, "name", None)


def id_keys(draw, gold, _):
    for document in gold:
        rows = [{"name": value(draw, "name", None), "age": value(draw, "number", None)} for _ in range(4)]
        document["planted"] = {f"p{draw.randint(100, 999)}": row for row in rows}


def entries(draw, gold, _):
    for document in gold:
        fields = {"a": ("name", 1.0, True, None), "b": ("text", 1.0, True, None), "c": ("number", 1.0, True, None)}
        document["planted"] = [instance(draw, fields) for _ in range(draw.randint(150, 250))]


def constant(draw, gold, _):
    word = draw.choice(WORDS)
    for document in gold:
        document["planted"] = word


PLANTED = {
    "date-format": texts(lambda draw: f"{day(draw):%Y-%m-%d}"),
    "date-format day first": texts(lambda draw: f"{day(draw):%d/%m/%Y}"),
    "amount": texts(lambda draw: f"{draw.randint(1, 9)}.{draw.randint(100, 999)},{draw.randint(10, 99)} €"),
    "number-format": texts(lambda draw: str(draw.randint(1, 2000))),
    "identifier": texts(lambda draw: f"{draw.choice('ABC')}{draw.choice('XYZ')}-{draw.randint(1000, 9999)}"),
    "absent-value": absent,
    "key-spelling": spelling,
    "key-spelling in gold": two_spellings,
    "id-keys": id_keys,
    "entries": entries,
    "constant": constant,
}
"""Functions that give a reason for advice to neutral documents, by the kind of the advice."""


def planted(name, seed):
    """The kinds of advice on a corpus with a planted reason, and whether each concerns the planted field."""
    draw, (gold, predicted) = random.Random(f"{name} {seed}"), neutral(seed)  # noqa: S311
    PLANTED[name](draw, gold, predicted)
    return [(one.kind, "planted" in str(one)) for one in advice(gold, predicted)]


def recall(name, corpora=CORPORA):
    """The share of the corpora of at least 12 documents in which the planted reason, and nothing else, is found."""
    found = Counter()
    for seed in range(corpora):
        if len(neutral(seed)[0]) >= 12:
            given = planted(name, seed)
            found[given == [(name.split()[0], True)]] += 1
    return found[True] / found.total()


if __name__ == "__main__":
    wrong = false_advice()
    print(f"{len(wrong)} pieces of false advice in {CORPORA} corpora", *wrong, sep="\n")
    for planted_kind in PLANTED:
        print(f"{planted_kind}: recall {recall(planted_kind):.2f}")
