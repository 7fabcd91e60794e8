"""Ids that all documents of a corpus share: one correspondence for the whole corpus."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from arbitre import Comparator
from arbitre.corpus.evaluate import pair_up, with_corpus_ids
from arbitre.errors import SchemaError

REF = {"type": "string", "x-arbitre": {"ref": "person"}}
ITEMS = {
    "type": "object",
    "properties": {
        "persons": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "x-arbitre": {"id": "person"}},
                    "name": {"type": "string"},
                },
            },
        },
        "letters": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"date": {"type": "string", "x-arbitre": {"distance": "exact"}}, "sender": REF},
            },
        },
    },
}
SHARED = ITEMS | {"x-arbitre": {"scope": {"person": "corpus"}}}
NAMES = [f"{first} {last}" for first in ("Ada", "Bert", "Clara", "Dirk") for last in ("Moser", "Vogel", "Zeller")]


def corpus(documents=20, *, confused=0.0, seed=0):
    """Documents that name three of twelve persons each; a confused sender is another person of the same document."""
    rng = np.random.default_rng(seed)
    new = {f"g{at}": f"p{number}" for at, number in enumerate(rng.permutation(12))}
    for number in range(documents):
        chosen = [f"g{at}" for at in rng.permutation(12)[:3]]
        persons = [{"id": one, "name": NAMES[int(one[1:])]} for one in chosen]
        letters = [{"date": f"1914-08-{at + 1:02}", "sender": str(rng.choice(chosen))} for at in range(3)]
        gold = {"persons": persons, "letters": letters}
        predicted = {
            "persons": [one | {"id": new[one["id"]]} for one in persons],
            "letters": [
                letter | {"sender": new[str(rng.choice(chosen)) if rng.random() < confused else letter["sender"]]}
                for letter in letters
            ],
        }
        yield f"d{number}", gold, predicted


def f1q(schema, pairs, **options):
    return Comparator(schema).evaluate(pairs, **options).micro.f1q


def test_ids_that_are_renamed_throughout_are_right():
    assert f1q(SHARED, corpus()) == 1.0


def test_integers_that_are_renamed_throughout_are_right():
    schema = re.sub(r'"string"(, "x-arbitre": {"(?:id|ref)")', r'"integer"\1', json.dumps(SHARED))
    pairs = json.loads(re.sub(r'"[gp](\d+)"', r"\1", json.dumps(list(corpus()))))
    assert f1q(json.loads(schema), pairs) == 1.0


def test_the_correspondence_is_that_of_the_corpus():
    pairs = list(corpus(confused=0.3))
    plan = with_corpus_ids(Comparator(SHARED).plan, pair_up(pairs))
    names = {one["name"]: one["id"] for _, gold, _ in pairs for one in gold["persons"]}
    expected = {one["id"]: names[one["name"]] for _, _, predicted in pairs for one in predicted["persons"]}
    assert {key: gold for (_, key), gold in plan.corpus_ids.items()} == expected


def test_an_id_that_means_another_person_in_one_document_is_wrong_there():
    """Compared alone, the document is right; in the corpus, its persons have the ids of each other."""
    pairs = list(corpus())
    name, gold, predicted = pairs[0]
    ids = [one["id"] for one in predicted["persons"]]
    swapped = json.dumps(predicted).replace(f'"{ids[0]}"', '"?"').replace(f'"{ids[1]}"', f'"{ids[0]}"')
    pairs[0] = name, gold, json.loads(swapped.replace('"?"', f'"{ids[1]}"'))
    assert f1q(ITEMS, pairs) == 1.0
    assert f1q(SHARED, pairs) < 1.0


def test_references_need_no_item_in_their_document():
    """The items are in the first document only; references at the same places tell which ids are the same."""
    new = {"a": "x", "b": "y", "c": "z"}
    first = {"persons": [{"id": "a", "name": "Ada Moser"}]}
    pairs = [("first", first, {"persons": [{"id": "x", "name": "Ada Moser"}]})]
    for number, sender in enumerate("abcabcab"):
        letter = {"date": f"1914-08-{number + 1:02}", "sender": sender}
        pairs.append((f"d{number}", {"letters": [letter]}, {"letters": [letter | {"sender": new[sender]}]}))
    assert f1q(SHARED, pairs) == 1.0
    pairs[-1][2]["letters"][0]["sender"] = "x"
    assert f1q(SHARED, pairs) < 1.0


def test_processes_and_files_have_the_same_result(tmp_path):
    pairs = list(corpus(30, confused=0.3))
    for name, gold, predicted in pairs:
        for side, document in (("gold", gold), ("predicted", predicted)):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{name}.json").write_text(json.dumps(document))
    sides = {"gold": tmp_path / "gold", "predicted": tmp_path / "predicted"}
    expected = f1q(SHARED, pairs)
    assert f1q(SHARED, None, **sides, workers=2) == pytest.approx(expected, abs=1e-12)
    assert Comparator(SHARED).evaluate(**sides, out=tmp_path / "out", diagnose=True).micro.f1q == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (ITEMS | {"x-arbitre": {"scope": {"place": "corpus"}}}, 'names an unknown scope, "place"'),
        ({"type": "array", "items": SHARED}, "`scope` has no effect here"),
        (ITEMS | {"x-arbitre": {"scope": {"person": "folder"}}}, "Expected `scope` to be"),
    ],
)
def test_refused(schema, message):
    with pytest.raises(SchemaError, match=message):
        Comparator(schema)


def test_the_signature_says_that_ids_are_shared():
    assert Comparator(SHARED).signature.to_dict()["entries"]["shared ids"] == "person"
    assert Comparator(SHARED).signature != Comparator(ITEMS).signature
