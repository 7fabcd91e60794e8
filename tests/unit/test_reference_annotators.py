"""Agreement and consensus of annotators who give the same items different ids."""

from __future__ import annotations

import numpy as np
import pytest
from tests.planted_references import SCHEMA, damaged, graph, relabelled

from arbitre import Comparator
from arbitre.agreement import build_consensus, structural
from arbitre.engine import with_common_ids

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_shuffles", "without_gamma")]

COMPARATOR = Comparator(SCHEMA)
NAMES = ("ann", "ben", "cat")


def truth(document):
    return graph(7, np.random.default_rng(document))


def annotations(documents=10, *, rename=True, **noise):
    """The documents of three annotators, each with faults of its own; all but the first have other ids."""
    found = {name: {} for name in NAMES}
    for number, name in enumerate(NAMES):
        for document in range(documents):
            rng = np.random.default_rng(100 * number + document)
            own = relabelled(truth(document), rng)[0] if number and rename else truth(document)
            found[name][f"d{document}"] = damaged(own, rng, **noise)
    return found


def test_annotators_who_differ_only_in_ids_agree_completely():
    found = structural(COMPARATOR, annotations(4), resamples=2)
    assert found.alpha.value == 1.0
    assert {found.by_path[path].value for path in ("/relations/*/from", "/people/*/knows/*")} == {1.0}


def test_other_ids_do_not_change_the_agreement():
    same, other = (
        structural(COMPARATOR, annotations(5, rename=rename, references=0.2), resamples=2) for rename in (False, True)
    )
    assert 0.3 < same.by_path["/relations/*/from"].value < 0.95
    for path in ("", "/relations/*/from", "/people/*/knows/*"):
        assert other.by_path[path].value == pytest.approx(same.by_path[path].value, abs=0.1)


@pytest.mark.usefixtures("without_standing")
def test_the_consensus_of_three_is_better_than_each_of_them():
    given = annotations(6, attributes=0.15, references=0.1)
    built = build_consensus(COMPARATOR, given)
    qualities = {
        name: np.mean(
            [
                COMPARATOR.compare(gold=truth(document), predicted=documents[f"d{document}"]).quality
                for document in range(6)
            ]
        )
        for name, documents in (*given.items(), ("gold", built.documents))
    }
    assert qualities["gold"] > max(qualities[name] for name in NAMES) + 0.02
    assert all("id" in person for person in built.documents["d0"]["people"])


def test_common_ids_are_those_of_the_annotator_with_the_most_items():
    people = [{"id": "a", "name": "Ada"}, {"id": "b", "name": "Bob"}]
    given = {"ann": {"d": {"people": people[:1]}}, "ben": {"d": {"people": [people[1], people[0] | {"id": "x"}]}}}
    renamed = with_common_ids(COMPARATOR.plan, given)
    assert renamed["ben"] == given["ben"]
    assert renamed["ann"] == {"d": {"people": [{"id": "x", "name": "Ada"}]}}


def test_common_ids_are_also_written_into_references_by_integers():
    number = {"type": "integer"}
    person = {"id": number | {"x-arbitre": {"id": "person"}}, "name": {"type": "string"}}
    schema = {
        "type": "object",
        "properties": {
            "people": {"type": "array", "items": {"type": "object", "properties": person}},
            "author": number | {"x-arbitre": {"ref": "person"}},
        },
    }
    people = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}]
    swapped = [{"id": 2, "name": "Ada"}, {"id": 1, "name": "Bob"}]
    given = {"ann": {"d": {"people": people, "author": 1}}, "ben": {"d": {"people": swapped, "author": 2}}}
    renamed = with_common_ids(Comparator(schema).plan, given)
    assert renamed["ben"] == given["ann"] == renamed["ann"]
