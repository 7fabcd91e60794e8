"""Causes in values that mean nothing or stand for others: what is found, the change, and that noise has none."""

# ruff: noqa: ARG001, ARG005  (all functions that edit a work have one signature)

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.strategies import pairs, schemas

from arbitre import Comparator
from arbitre.causes import absent, mappings, search
from arbitre.causes.search import find_causes
from arbitre.inputs.records import Pair

pytestmark = pytest.mark.slow

TYPES = ["journal-article", "book", "thesis", "book-chapter"]
NAMES = ["Louis Barthou", "Jean-Pierre Roux", "Anne Élie", "Paul Doumer", "Marie Curie", "Albert Lebrun"]
WORK = {
    "title": {"type": "string"},
    "type": {"type": "string"},
    "author": {"type": "string"},
    "year": {"type": "integer"},
    "open": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "publisher": {"type": "object", "properties": {"name": {"type": "string"}, "place": {"type": "string"}}},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "works": {
            "type": "array",
            "items": {"type": "object", "properties": WORK},
            "x-arbitre": {"entries": True},
        }
    },
}


@pytest.fixture(autouse=True, scope="module")
def _only_these_detectors():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "phases", lambda: ((*absent.DETECTORS, *mappings.DETECTORS),))
        yield


def corpus(spoil, *, documents=12, works=3, gold=None):
    """Documents with works, and predictions of them: `spoil` and `gold` edit a copy of each work."""
    rng = random.Random(7)  # noqa: S311
    found = []
    for document in range(documents):
        sides = [], []
        for number in range(works):
            work = {
                "title": f"{rng.choice(['On', 'About', 'Against'])} the {rng.random():.9f} of {document}.{number}",
                "type": rng.choice(TYPES),
                "author": rng.choice(NAMES),
                "year": rng.randint(1900, 1930),
                "open": rng.random() < 0.5,
            }
            predicted = dict(work)
            if gold:
                gold(work, rng)
            spoil(predicted, rng)
            sides[0].append(work)
            sides[1].append(predicted)
        found.append(Pair(f"d{document:02}", None, {"works": sides[0]}, {"works": sides[1]}))
    return found


def systematic(documents, schema=SCHEMA, **options):
    """The systematic causes; the change of each raises f1q by its gain."""
    plan = Comparator(schema, **options).plan
    analysis = find_causes(plan, documents)
    assert sum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - analysis.f1q)
    found = [cause for cause in analysis.causes if cause.systematic]
    triples = [(pair.id, pair.gold, pair.predicted) for pair in documents]
    for cause in found:
        if cause.change is not None:
            changed = Comparator(schema, overlay=cause.change).evaluate(triples, diagnose=False)
            assert changed.micro.f1q - analysis.f1q == pytest.approx(cause.gain)
    return found


def test_empty_values_at_many_paths_are_one_cause_with_one_setting():
    def spoil(work, rng):
        work |= {"tags": [], "publisher": {"name": "", "place": ""}}
        work |= {"subtitle": ""} if rng.random() < 0.5 else {}

    (cause,) = systematic(corpus(spoil))
    assert (cause.kind, cause.side) == ("absent-value", "schema")
    places = {f"/works/*/{name}" for name in ("tags", "publisher/name", "publisher/place", "subtitle")}
    assert set(cause.paths) == places
    assert cause.change == {"/works/*": {"absent": [None, "", {}, []]}}
    assert cause.gain == pytest.approx(cause.cost)
    assert cause.advice == (
        'Declare "", {} and [] as absent, or ask to omit fields without a value: predictions have them where gold has '
        "nothing."
    )


@pytest.mark.parametrize(
    ("key", "value", "change"),
    [
        ("author", "", {"/works/*/author": {"absent": [None, ""]}}),
        ("author", "N/A", {"/works/*/author": {"absent": [None, "N/A"]}}),
        ("year", "null", {"/works/*/year": {"absent": [None, "null"]}}),
        ("tags", ["null"], {"/works/*/tags": {"absent": [None, "null", []]}}),
        ("tags", [None, ""], {"/works/*/tags": {"absent": [None, "", []]}}),
        ("publisher", {}, {"/works/*/publisher": {"absent": [None, {}]}}),
        ("note", " ", {"/works/*": {"absent": [None, " "]}}),
    ],
)
def test_a_value_that_means_nothing_is_an_absent_value(key, value, change):
    def gold(work, rng):
        for name in ("author", "year"):
            del work[name]

    def spoil(work, rng):
        gold(work, rng)
        work[key] = value

    documents = corpus(spoil, gold=gold)
    (cause,) = systematic(documents)
    assert (cause.kind, cause.side, cause.count, cause.change) == ("absent-value", "schema", 36, change)
    reverse = [Pair(pair.id, None, pair.predicted, pair.gold) for pair in documents]
    (cause,) = systematic(reverse)
    assert (cause.kind, cause.side, cause.change) == ("absent-value", "schema", change)
    assert "gold has" in cause.advice


def test_a_value_that_gold_uses_is_not_declared_elsewhere():
    def spoil(work, rng):
        work |= {"tags": [], "note": "", "subtitle": ""}

    def gold(work, rng):
        work["language"] = rng.choice(["", "fr"])

    documents = corpus(spoil, gold=gold)
    for pair in documents:
        for work, predicted in zip(pair.gold["works"], pair.predicted["works"], strict=True):
            predicted["language"] = work["language"]
    schema = {"type": "object", "properties": {"works": {"type": "array", "items": {"type": "object"}}}}
    for name in ("language", "note", "subtitle"):
        schema["properties"]["works"]["items"].setdefault("properties", {})[name] = {"type": "string"}
    (cause,) = systematic(documents, schema)
    assert cause.kind == "absent-value"
    assert "/works/*/language" not in cause.change


def test_a_real_value_where_gold_has_nothing_is_not_an_absent_value():
    assert systematic(corpus(lambda work, rng: work.update(note=rng.choice(["ok", "x", "0"])))) == []


def without_year(work, rng):
    if rng.random() < 0.5:
        work["year"] = None


@pytest.mark.parametrize("value", [0, 1, -1, 9999, "1900-01-01", False])
def test_a_constant_where_gold_has_nothing_is_a_default_value(value):
    documents = corpus(lambda *_: None, gold=without_year)
    for pair in documents:
        for work, predicted in zip(pair.gold["works"], pair.predicted["works"], strict=True):
            predicted["year"] = value if work["year"] is None else work["year"]
    places = sum(work["year"] is None for pair in documents for work in pair.gold["works"])
    (cause,) = systematic(documents)
    assert (cause.kind, cause.side, cause.paths) == ("default-value", "prediction", ("/works/*/year",))
    assert (cause.count, cause.change, cause.detail) == (places, None, {"value": value})
    assert cause.advice == (
        f"Ask to omit /works/*/year if it has no value: predictions have {json.dumps(value)} where gold has nothing."
    )
    assert cause.gain == pytest.approx(cause.cost)


@pytest.mark.parametrize("frequent", [0.7, 1.0])
def test_a_frequent_value_where_gold_has_nothing_is_no_default_value(frequent):
    rng = random.Random(4)  # noqa: S311
    documents = corpus(lambda *_: None, gold=without_year)
    for pair in documents:
        for work, predicted in zip(pair.gold["works"], pair.predicted["works"], strict=True):
            found = 1900 if rng.random() < frequent else rng.randint(1901, 1930)
            predicted["year"] = found
            work["year"] = None if work["year"] is None else found
    assert systematic(documents) == []


def test_one_value_that_stands_for_another_is_a_mapping():
    def spoil(work, rng):
        work["type"] = {"journal-article": "article-journal"}.get(work["type"], work["type"])

    (cause,) = systematic(corpus(spoil, documents=4, works=12))
    assert (cause.kind, cause.side, cause.paths) == ("value-mapping", "prediction", ("/works/*/type",))
    assert cause.change == {
        "/works/*/type": {"normalize": [{"authority": {"names": {"journal-article": ["article-journal"]}}}]}
    }
    assert cause.detail == {"pairs": [["journal-article", "article-journal", cause.count]]}
    assert 'predictions have "article-journal" for "journal-article"' in cause.advice


def test_the_number_of_mappings_of_hundreds_of_values_exceeds_no_float():
    assert mappings.chosen_from(400, 300, 0.5) == 1.0
    assert mappings.chosen_from(10, 2, 1e-6) == pytest.approx(1e-4)
    assert mappings.chosen_from(10, 2, 0.0) == 0.0


def test_a_similar_label_is_a_mapping_if_gold_is_never_misspelt_otherwise():
    def spoil(work, rng):
        if work["type"] == "book" and rng.random() < 0.6:
            work["type"] = "ebook"

    (cause,) = systematic(corpus(spoil, documents=24))
    assert cause.detail["pairs"] == [["book", "ebook", cause.count]]

    def misspell(work, rng):
        at = rng.randrange(len(work["type"]))
        work["type"] = work["type"][:at] + rng.choice("aeiou") + work["type"][at + 1 :]

    assert systematic(corpus(misspell, documents=24)) == []


def test_runs_of_one_document_count_once():
    documents = corpus(lambda work, rng: work.update(author=f"{work['author']}, minister"), documents=4)
    runs = [replace(pair, run=str(run)) for pair in documents for run in range(5)]
    assert systematic(runs) == []


def test_labels_in_another_language_and_codes_are_one_mapping():
    french = dict(zip(TYPES, ["article", "livre", "thèse", "chapitre"], strict=True))
    (cause,) = systematic(corpus(lambda work, rng: work.update(type=french[work["type"]])))
    assert cause.kind == "value-mapping"
    assert {tuple(pair[:2]) for pair in cause.detail["pairs"]} >= {("book", "livre"), ("book-chapter", "chapitre")}
    (cause,) = systematic(corpus(lambda work, rng: work.update(type=TYPES.index(work["type"]))))
    assert cause.kind == "value-mapping"
    assert cause.change["/works/*/type"]["normalize"][0] == "text"


@pytest.mark.parametrize(
    "codes",
    [
        {"male": "m", "female": "f"},
        {"yes": "y", "no": "n"},
        {"French": "fr", "German": "de", "English": "en", "Latin": "la"},
        {"EUR": "€", "USD": "$"},
    ],
)
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_codes_of_labels_are_one_mapping_although_many_labels_are_right(codes, share):
    draw = random.Random(11)  # noqa: S311
    labels = [draw.choice(list(codes)) for _ in range(120)]
    gold, predicted = iter(labels), (codes[one] if draw.random() < share else one for one in labels)
    found = systematic(
        corpus(
            lambda work, rng: work.update(type=next(predicted)),
            documents=40,
            gold=lambda w, r: w.update(type=next(gold)),
        )
    )
    assert [cause.kind for cause in found] == ["value-mapping"]
    names = found[0].change["/works/*/type"]["normalize"][0]["authority"]["names"]
    assert names == {label: [code] for label, code in codes.items()}


def test_exchanged_labels_are_a_mapping_without_an_overlay():
    (cause,) = systematic(corpus(lambda work, rng: work.update(open=not work["open"])))
    assert (cause.kind, cause.change, cause.count) == ("value-mapping", None, 36)


def test_initials_and_abbreviations_are_mapped():
    def initials(work, rng):
        first, last = work["author"].rsplit(" ", 1)
        work["author"] = f"{'-'.join(f'{part[0]}.' for part in first.split('-'))} {last}"

    (cause,) = systematic(corpus(initials))
    assert (cause.kind, cause.side) == ("abbreviation", "prediction")
    names = cause.change["/works/*/author"]["normalize"][0]["authority"]["names"]
    assert names["Louis Barthou"] == ["L. Barthou"]
    assert names["Jean-Pierre Roux"] == ["J.-P. Roux"]
    assert cause.advice.startswith("Ask for full texts without initials and abbreviations; predictions have ")
    reverse = [Pair(pair.id, None, pair.predicted, pair.gold) for pair in corpus(initials)]
    (cause,) = systematic(reverse)
    assert cause.change["/works/*/author"]["normalize"][0]["authority"]["names"] == names
    assert cause.advice.startswith("Ask for the short forms of gold; predictions have ")


def test_initials_without_a_whole_word_are_abbreviations_if_they_have_a_point():
    def gold(work, rng):
        work["author"] = rng.choice(["Louis", "Jean-Pierre", "Anne", "Paul", "Marie", "Gaston"])

    documents = corpus(lambda work, rng: None, gold=gold)
    for pair in documents:
        for work, predicted in zip(pair.gold["works"], pair.predicted["works"], strict=True):
            predicted["author"] = "J.-P." if work["author"] == "Jean-Pierre" else f"{work['author'][0]}."
    (cause,) = systematic(documents)
    assert (cause.kind, cause.count) == ("abbreviation", 36)
    assert cause.change["/works/*/author"]["normalize"][0]["authority"]["names"]["Louis"] == ["L."]


def test_plurals_are_mapped():
    terms = ["letters", "maps", "speeches", "cities", "journaux", "lignes aériennes"]
    single = ["letter", "map", "speech", "city", "journal", "ligne aérienne"]

    def gold(work, rng):
        work["type"] = rng.choice(terms)

    documents = corpus(lambda work, rng: None, gold=gold)
    for pair in documents:
        for work, predicted in zip(pair.gold["works"], pair.predicted["works"], strict=True):
            predicted["type"] = single[terms.index(work["type"])]
    (cause,) = systematic(documents)
    assert cause.kind == "singular-plural"
    assert cause.change["/works/*/type"]["normalize"][0]["authority"]["names"]["map"] == ["maps"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda work, rng: work.update(author=work["author"][: rng.randint(1, 12)]),  # cut off
        lambda work, rng: work.update(author=rng.choice(NAMES)),  # another author
        lambda work, rng: work.update(author=work["author"].split()[-1]) if rng.random() < 0.1 else None,
        lambda work, rng: work.update(year=work["year"] + rng.choice([-1, 1])),
        lambda work, rng: work.update(type=rng.choice(TYPES)),
        lambda work, rng: work.update(
            type=work["type"][:-1] if rng.random() < 0.5 else work["type"] + rng.choice("xyz")
        ),
    ],
)
def test_other_faults_are_not_a_mapping(spoil):
    assert systematic(corpus(spoil)) == []


VOCABULARIES = [
    ["article", "book", "thesis", "letter", "map", "report", "speech", "film"],
    [*"abcdefgh"],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [*range(1900, 1930)],
    [True, False],
    ["article", "articles", "book", "books", "map", "maps"],
    ["prof.", "professeur", "dr.", "docteur", "mme", "madame"],
    ["journal-article", "article-journal", "book-chapter", "chapter", "article", "journal"],
    [f"{first} {last}" for first in ("Louis", "Jean", "L.", "J.") for last in ("Barthou", "Dupont", "Roux")],
    ["null", "x", "y", "z", "-", "w"],
]


def noise(rng):
    """Documents of items with labels that are confused at random: with skewed frequencies and skewed confusions."""
    columns = []
    for name in "abc":
        labels = list(rng.choice(VOCABULARIES))
        rng.shuffle(labels)
        labels = labels[: rng.randint(2, min(8, len(labels)))]
        skew, rate = rng.choice([0, 1, 2]), rng.uniform(0.05, 0.6)
        confused = [[rng.choice([1, 1, 2]) for _ in labels] for _ in labels]
        columns.append((name, labels, [1 / (rank + 1) ** skew for rank in range(len(labels))], rate, confused))
    documents = []
    for document in range(rng.choice([4, 10, 30])):
        sides = [], []
        for item in range(rng.choice([1, 3, 6])):
            gold = {"id": f"{document}k{item}m{document * 31 + item}"}
            predicted = dict(gold)
            for name, labels, weights, rate, confused in columns:
                at = rng.choices(range(len(labels)), weights)[0]
                gold[name] = predicted[name] = labels[at]
                if rng.random() < rate:
                    weights_of_others = [0 if other == at else weight for other, weight in enumerate(confused[at])]
                    predicted[name] = rng.choices(labels, weights_of_others)[0]
            sides[0].append(gold)
            sides[1].append(predicted)
        documents.append(Pair(str(document), None, *sides))
    return documents


def test_confused_labels_are_no_mapping():
    labels = {name: {} for name in "abc"}
    schema = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}} | labels}}
    plan = Comparator(schema).plan
    found = [find_causes(plan, noise(random.Random(seed))) for seed in range(60)]  # noqa: S311
    assert sum(any(cause.systematic for cause in one.causes) for one in found) <= 1


@given(st.data())
def test_any_documents_can_be_searched(data):
    schema = data.draw(schemas())
    several = data.draw(st.lists(pairs(schema), min_size=1, max_size=5))
    plan = Comparator(schema).plan
    documents = [Pair(str(number), None, *both) for number, both in enumerate(several)]
    analysis = find_causes(plan, documents)
    if analysis.f1q is not None:
        assert sum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - analysis.f1q)
