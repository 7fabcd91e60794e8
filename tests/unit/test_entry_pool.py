"""Distances between all entries of a corpus equal those of the entries compared alone."""

from __future__ import annotations

import numpy as np
import pytest

from arbitre import ABSENT, Comparator, DataError
from arbitre.engine import pairwise_qualities
from arbitre.metricity.entry_pool import EntryColumn, build_entry_pool

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "x-arbitre": {"distance": "ratcliff-obershelp", "weight": 2}},
        "pages": {"type": "array", "items": {"type": "integer"}},
        "note": {"type": "string"},
    },
}
INDEX = {
    "type": "object",
    "properties": {
        "people": {"type": "array", "items": PERSON, "x-arbitre": {"entries": True}},
        "year": {"type": "integer"},
    },
}
PEOPLE = [
    {"name": "tide", "pages": [1, 2]},
    {"name": "diet", "pages": [2, 1], "note": "x"},
    {"name": "edit", "pages": [], "note": None},
    {"name": "tide", "pages": [3]},
    {"name": "tied"},
]


def plan(schema, **options):
    return Comparator(schema, **options).plan


def document(*people):
    return {"people": list(people), "year": 1931}


def alone(one, other):
    return 1.0 - Comparator(PERSON).compare(gold=one, predicted=other).quality


def test_every_distance_equals_that_of_the_two_entries_alone():
    found = build_entry_pool(plan(INDEX), [document(*PEOPLE[:2]), document()], [document(*PEOPLE[2:])])
    expected = [[alone(one, other) for other in PEOPLE] for one in PEOPLE]
    assert found.distances == pytest.approx(np.array(expected))
    assert found.distances[0, 1] != found.distances[1, 0]  # as they are computed, both ways
    assert (found.gold, found.whole, len(found)) == (2, 5, 5)
    assert found.pointers == ("/people/0", "/people/1", "/people/0", "/people/1", "/people/2")
    assert found.documents.tolist() == [0, 0, 0, 0, 0]


def test_entries_hold_the_number_of_their_document():
    found = build_entry_pool(
        plan(INDEX), [document(PEOPLE[0]), document(*PEOPLE[1:3])], [ABSENT, document(PEOPLE[3])][1:]
    )
    assert found.documents.tolist() == [0, 1, 1, 0]
    assert found.pointers == ("/people/0", "/people/0", "/people/1", "/people/0")


def test_absent_items_are_not_entries():
    schema = {"type": "array", "items": {"type": "string"}}
    found = build_entry_pool(plan(schema), [["a", None, "b"]], [[None]])
    assert found.pointers == ("/0", "/2")
    assert found.gold == 2


def test_entries_of_lists_in_lists_are_pooled_together():
    schema = {
        "type": "array",
        "items": {"type": "object", "properties": {"people": {"type": "array", "items": PERSON}}},
    }
    schema["items"]["properties"]["people"]["x-arbitre"] = {"entries": True}
    found = build_entry_pool(
        plan(schema), [[{"people": PEOPLE[:1]}, {"people": PEOPLE[1:2]}]], [[{"people": PEOPLE[2:3]}]]
    )
    assert found.pointers == ("/0/people/0", "/1/people/0", "/0/people/0")
    assert found.distances[0, 2] == pytest.approx(alone(PEOPLE[0], PEOPLE[2]))


def test_documents_without_a_list_are_the_entries():
    found = build_entry_pool(plan(PERSON), PEOPLE[:1], PEOPLE[1:2])
    assert found.pointers == ("", "")
    assert found.distances[0, 1] == pytest.approx(alone(PEOPLE[0], PEOPLE[1]))


@pytest.mark.parametrize("other", [{"error": "none"}, "none", 3, True])
def test_a_document_that_is_not_a_list_has_no_entries_if_others_are_lists(other):
    words = {"type": "array", "items": {"type": "string"}}
    found = build_entry_pool(plan(words), [["a", "b"], ["c"]], [["a"], other])
    assert found.pointers == ("/0", "/1", "/0", "/0")
    assert found.documents.tolist() == [0, 0, 1, 0]
    assert found.distances[0, 3] == 0.0


def test_the_chunk_size_changes_no_quality():
    entries = EntryColumn.of(plan(INDEX), [document(*PEOPLE)], [document(*PEOPLE)])
    whole, chunked = (pairwise_qualities(entries.column, entries.rows, entries.rows, cells) for cells in (1 << 18, 3))
    assert (chunked == whole).all()


def test_a_sample_is_a_subset_of_the_pool():
    documents = [document(*PEOPLE)], [document(*PEOPLE[::-1])]
    whole, part = build_entry_pool(plan(INDEX), *documents), build_entry_pool(plan(INDEX), *documents, sample=4, seed=1)
    again = build_entry_pool(plan(INDEX), *documents, sample=4, seed=1)
    assert (len(part), part.whole) == (4, 10)
    assert part.pointers == again.pointers
    assert (part.distances == again.distances).all()
    kept = [
        list(zip(whole.pointers, range(10), strict=True)).index(one)
        for one in zip(part.pointers, _at(part), strict=True)
    ]
    assert (part.distances == whole.distances[np.ix_(kept, kept)]).all()
    assert len(build_entry_pool(plan(INDEX), *documents, sample=99)) == 10


def _at(part):
    """The position of each entry in the whole pool: first five of gold, then five of the prediction."""
    return [int(one.rsplit("/", 1)[1]) + 5 * (number >= part.gold) for number, one in enumerate(part.pointers)]


def test_a_pool_without_entries_is_refused():
    with pytest.raises(
        DataError, match="Expected at least one entry in gold or in the predictions, got none at /people"
    ):
        build_entry_pool(plan(INDEX), [document()], [document()])


def test_a_pool_that_is_too_large_is_refused():
    words = {"type": "array", "items": {"type": "string"}}
    with pytest.raises(DataError, match="got 4001") as raised:
        build_entry_pool(plan(words), [["a"] * 4000], [["b"]])
    assert "sample" in raised.value.hint
