"""List items are aligned for agreement and classification without looking at the values that are compared."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest

from arbitre import Comparator, agreement
from arbitre.distances.edit import _EditPool
from arbitre.engine.columns.column import KnownQualities

pytestmark = pytest.mark.slow

PARTIES = ("left", "centre", "right")


def schema(match=None, **fields):
    items = {"type": "object", "properties": {"party": {"enum": list(PARTIES)}} | fields}
    keyword = {} if match is None else {"x-arbitre": {"match": match}}
    return {"type": "object", "properties": {"people": {"type": "array", "items": items} | keyword}}


def annotated(annotators, seed, beside=lambda name: {"name": name}, documents=12, *, size=4, shuffled=True):
    """Random parties of the same people, in the order of each annotator; and the parties of each person."""
    source = random.Random(seed)  # noqa: S311
    pages, truth = [{} for _ in range(annotators)], []
    for number in range(documents):
        names = ["".join(source.choices("abcdefghijklm", k=6)) for _ in range(size)]
        rows = [[source.choice(PARTIES) for _ in names] for _ in pages]
        for own, row in zip(pages, rows, strict=True):
            people = [{"party": party} | beside(name) for name, party in zip(names, row, strict=True)]
            own[f"{number:02}"] = {"people": source.sample(people, size) if shuffled else people}
        truth += zip(*rows, strict=True)
    return dict(zip("abcd", pages, strict=False)), [list(row) for row in zip(*truth, strict=True)]


NAME = {"name": {"type": "string"}}


@pytest.mark.parametrize("annotators", [2, 3])
def test_random_values_under_exact_names_have_the_agreement_of_the_true_pairs(annotators):
    documents, parties = annotated(annotators, 1)
    found = agreement.structural(Comparator(schema(**NAME)), documents, resamples=50)
    party = found.by_path["/people/*/party"]
    assert party.value == pytest.approx(agreement.krippendorff_alpha(parties).value, abs=1e-12)
    assert party.aligned_by == "other fields"
    assert party.interval.low < 0.0 < party.interval.high
    assert found.coefficients["/people/*/party"].alpha is party
    assert found.by_path["/people"].aligned_by is None


def test_items_of_an_inner_list_are_aligned_within_outer_items_that_other_fields_identify():
    inner, parties = annotated(2, 2, documents=20)
    documents = {
        name: {page: {"groups": [{"title": f"title {page}", "people": pages[page]["people"]}]} for page in pages}
        for name, pages in inner.items()
    }
    groups = {"type": "array", "items": {"properties": {"title": {"type": "string"}} | schema(**NAME)["properties"]}}
    found = agreement.structural(Comparator({"properties": {"groups": groups}}), documents, resamples=50)
    party = found.by_path["/groups/*/people/*/party"]
    assert party.value == pytest.approx(agreement.krippendorff_alpha(parties).value, abs=1e-12)
    assert found.by_path["/groups/*/people/*"].aligned_by == "all fields"


@pytest.mark.slow
@pytest.mark.usefixtures("without_gamma")
@pytest.mark.parametrize("beside", [lambda _: {}, lambda _: {"name": "same"}])
def test_random_values_that_nothing_identifies_agree_as_often_as_exchanged_values(beside):
    compare, values = Comparator(schema(**NAME)), []
    for seed in range(4):  # the mean of four varies by 0.05
        documents, _ = annotated(2, seed, beside, documents=15)
        found = agreement.structural(compare, documents, resamples=5)
        party = found.by_path["/people/*/party"]
        values.append(party.value)
        assert party.aligned_by == "all fields"
        assert party.standard_error > 0.0
        assert "/people/*/party" not in found.coefficients
        assert any("/people/*/party" in note and "lower bounds" in note for note in found.notes)
    assert abs(statistics.fmean(values)) < 0.15  # 0.44 and 1 if the values decided about the alignment alone


def test_equal_documents_agree_fully_whatever_the_items_are_aligned_by():
    documents, _ = annotated(2, 3, lambda _: {})
    found = agreement.structural(Comparator(schema()), dict.fromkeys("ab", documents["a"]), resamples=50)
    assert found.by_path["/people/*/party"].value == 1.0


def test_a_declared_key_decides_which_items_are_aligned():
    documents, parties = annotated(2, 4, lambda name: {"name": name, "note": "x" * ord(name[0])})
    fields = NAME | {"note": {"type": "string"}}
    for pages in documents.values():  # without the key, the notes would exchange two people
        for page in pages.values():
            first, second = page["people"][:2]
            first["note"], second["note"] = second["note"], first["note"]
    found = agreement.structural(Comparator(schema({"keyed": {"key": "name"}}, **fields)), documents, resamples=50)
    party, name = (found.by_path[f"/people/*/{field}"] for field in ("party", "name"))
    assert party.value == pytest.approx(agreement.krippendorff_alpha(parties).value, abs=1e-12)
    assert party.aligned_by == "key"
    assert (name.value, name.aligned_by) == (None, "these values")
    assert name.reason == "The items are aligned by these values, so the values always agree."


def test_items_without_the_key_are_not_aligned():
    documents, _ = annotated(2, 5)
    for pages in documents.values():
        for page in pages.values():
            del page["people"][0]["name"]
    found = agreement.structural(Comparator(schema({"keyed": {"key": "name"}}, **NAME)), documents, resamples=50)
    common = sum(
        len({person.get("name") for person in pages["people"]} & names - {None})
        for page, pages in documents["a"].items()
        for names in [{person.get("name") for person in documents["b"][page]["people"]}]
    )
    assert found.by_path["/people/*/party"].items == common


def test_lists_that_are_matched_by_position_are_aligned_by_position():
    documents, parties = annotated(2, 6, lambda _: {}, shuffled=False)
    party = agreement.structural(Comparator(schema("ordered")), documents, resamples=50).by_path["/people/*/party"]
    assert party.value == pytest.approx(agreement.krippendorff_alpha(parties).value, abs=1e-12)
    assert (party.aligned_by, party.items) == ("position", 48)


def test_a_sequence_is_aligned_in_order():
    people = [{"name": "Astor"}, {"name": "Berg"}, {"name": "Cohen"}]
    documents = {"a": {"1": {"people": people}}, "b": {"1": {"people": [people[2], people[0], people[1]]}}}
    for match, items in (("sequence", 2), ("hungarian", 3)):
        found = agreement.structural(Comparator(schema(match, **NAME)), documents, resamples=50)
        assert found.by_path["/people/*/name"].items == items


class TestClasses:
    def pairs(self, beside=lambda name: {"name": name}):
        documents, parties = annotated(2, 7, beside, documents=40)
        right = sum(gold == predicted for gold, predicted in zip(*parties, strict=True)) / len(parties[0])
        return [(page, documents["a"][page], documents["b"][page]) for page in documents["a"]], right

    def test_random_classes_under_exact_names_have_the_accuracy_of_the_true_pairs(self):
        pairs, right = self.pairs()
        comparator = Comparator(schema(**NAME))
        classes = comparator.evaluate(pairs).classification("/people/*/party")
        assert classes.accuracy == pytest.approx(right)
        assert (classes.matched_by, classes.to_dict()["matched_by"]) == ("other fields", "other fields")
        _, gold, predicted = pairs[0]
        partners = {person["name"]: person["party"] for person in predicted["people"]}
        same = sum(partners[person["name"]] == person["party"] for person in gold["people"])
        single = comparator.compare(gold=gold, predicted=predicted).classification("/people/*/party")
        assert single.accuracy == pytest.approx(same / 4)

    @pytest.mark.parametrize(
        ("match", "beside", "by"),
        [({"keyed": {"key": "name"}}, lambda name: {"name": name}, "key"), (None, lambda _: {}, "all fields")],
    )
    def test_the_matching_is_stated(self, match, beside, by):
        pairs, right = self.pairs(beside)
        classes = Comparator(schema(match, **NAME)).evaluate(pairs).classification("/people/*/party")
        assert classes.matched_by == by
        assert classes.accuracy == pytest.approx(right) if by == "key" else classes.accuracy > right + 0.1

    @pytest.mark.parametrize(("documents", "by"), [(40, "all fields"), (5, "other fields")])
    def test_random_texts_identify_items_only_where_lists_are_too_few_to_tell(self, documents, by):
        source = random.Random(8)  # noqa: S311
        gold = annotated(2, 8, documents=documents)[0]["a"]

        def misread(people):
            made_up = [{**person, "name": "".join(source.choices("abcdefghijklm", k=6))} for person in people]
            return {"people": source.sample(made_up, len(made_up))}

        pairs = [(page, gold[page], misread(gold[page]["people"])) for page in gold]
        classes = Comparator(schema(**NAME)).evaluate(pairs).classification("/people/*/party")
        assert classes.matched_by == by
        assert (classes.accuracy == 1.0) == (by == "all fields")

    def test_the_same_names_in_all_documents_identify_the_items(self):
        names = iter(["Astor", "Berg", "Cohen", "Dahl"] * 80)
        pairs, right = self.pairs(lambda _: {"name": next(names)})
        classes = Comparator(schema(**NAME)).evaluate(pairs).classification("/people/*/party")
        assert (classes.matched_by, classes.accuracy) == ("other fields", pytest.approx(right))

    def test_a_document_without_lists_has_no_matching(self):
        comparison = Comparator({"properties": {"party": {"enum": list(PARTIES)}}}).compare(
            gold={"party": "left"}, predicted={"party": "right"}
        )
        assert comparison.classification("/party").matched_by is None


class _Forgetful:
    """Knows no quality of any pair."""

    def __init__(self, rows):
        pass

    def find(self, left, right):
        return np.zeros(len(left)), np.zeros(len(right), dtype=bool)

    def add(self, left, right, qualities):
        pass


def test_what_stays_the_same_is_compared_once_although_the_items_are_aligned_again_for_each_path(monkeypatch):
    compared, distances = [], _EditPool.distances

    def counted(pool, left, right):
        compared.extend([len(left)] * bool(pool.exactly_bounded is not None))
        return distances(pool, left, right)

    monkeypatch.setattr(_EditPool, "distances", counted)
    texts = {key: {"type": "string"} for key in ("name", "place", "role")}
    steps = {"type": "array", "items": {"properties": {"text": {"type": "string"}, "page": {"type": "integer"}}}}
    item = {"type": "object", "properties": texts | {"steps": steps}}
    comparator = Comparator({"properties": {"people": {"type": "array", "items": item}}})
    source = random.Random(4)  # noqa: S311

    def text(size):
        return "".join(source.choices("abcde", k=size))

    people = [
        [{key: text(6) for key in texts} | {"steps": [{"text": text(80), "page": 1}] * 2} for _ in range(4)]
        for _ in range(4)
    ]
    documents = {
        name: {
            str(page): {"people": [each | {"role": text(6)} for each in source.sample(rows, 4)]}
            for page, rows in enumerate(people)
        }
        for name in ("a", "b")
    }
    known = agreement.structural(comparator, documents, resamples=20)
    pairs = sum(compared)
    compared.clear()
    monkeypatch.setattr("arbitre.engine.independent_matching.KnownQualities", _Forgetful)
    assert agreement.structural(comparator, documents, resamples=20).to_dict() == known.to_dict()
    assert pairs < 0.6 * sum(compared), (pairs, sum(compared))


def test_a_pair_replaces_another_in_its_cell_and_no_quality_is_that_of_another_pair():
    known, rows = KnownQualities(3), np.arange(3000, dtype=np.intp)
    assert not known.find(rows, rows)[1].any()
    known.add(rows, rows + 1, rows / 3000.0)
    qualities, found = known.find(rows, rows + 1)
    assert 0 < np.count_nonzero(found) < 3000
    np.testing.assert_array_equal(qualities[found], (rows / 3000.0)[found])
    assert not known.find(rows + 1, rows)[1].any()


def test_ordinal_agreement_of_shuffled_values_does_not_depend_on_how_many_are_drawn():
    """Three quarters of the values are copied. Only 100 values are aligned again in each shuffle."""
    source, ordinal = random.Random(3), {"distance": {"ordinal": {"order": list(PARTIES)}}}  # noqa: S311
    parties = {"party": {"enum": list(PARTIES), "x-arbitre": ordinal}}
    ada = [[source.choice(PARTIES) for _ in range(6)] for _ in range(80)]
    bob = [[own if source.random() < 0.75 else source.choice(PARTIES) for own in page] for page in ada]
    documents = {
        name: {f"{at:02}": {"people": [{"party": own} for own in page]} for at, page in enumerate(pages)}
        for name, pages in (("ada", ada), ("bob", bob))
    }
    party = agreement.structural(Comparator(schema(**parties)), documents, resamples=50).by_path["/people/*/party"]
    assert party.aligned_by == "all fields"
    assert 0.2 < party.interval.low < party.value < party.interval.high < 0.8
