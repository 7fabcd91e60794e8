"""Causes in the fields of objects: values in another field, and fields of which the values are exchanged."""

import random

import pytest
from tests.letters import LETTER, NAMES, analysed, corpus, only

from arbitre.causes import fields


def moved(entries, rng):
    """The summary is in the note of most entries without a note."""
    for one in entries:
        if one["note"] is None and rng.random() < 0.7:
            one["summary"], one["note"] = None, one["summary"]


def exchanged(entries, rng):
    """Sender and recipient are exchanged in most documents."""
    if rng.random() < 0.7:
        for one in entries:
            one["sender"], one["recipient"] = one["recipient"], one["sender"]


def exchanged_in_single_entries(entries, rng):
    for one in entries:
        if rng.random() < 0.4:
            one["sender"], one["recipient"] = one["recipient"], one["sender"]


def test_values_in_another_field_are_moved_back():
    cause, f1q = only(moved)
    assert (cause.kind, cause.paths) == ("other-field", ("/*/summary", "/*/note"))
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert (
        cause.advice
        == 'Describe "summary" and "note" of /* in the prompt: predictions have the values of "summary" in "note".'
    )


@pytest.mark.parametrize("change", [exchanged, exchanged_in_single_entries])
def test_exchanged_fields_are_exchanged_again(change):
    cause, f1q = only(change)
    assert (cause.kind, cause.paths) == ("columns-swapped", ("/*/recipient", "/*/sender"))
    assert cause.gain == pytest.approx(1.0 - f1q)
    assert cause.advice == 'Describe "recipient" and "sender" of /* in the prompt: predictions swap their values.'


def test_entries_without_a_partner_are_exchanged_too():
    def change(entries, rng):
        exchanged(entries, rng)
        entries.append({"sender": "X. Briand", "recipient": "Y. Laval", "summary": "Unknown", "year": 1799})

    gold, predicted = corpus(change)
    (cause,), f1q = analysed(gold, predicted)
    assert cause.kind == "columns-swapped"
    right = corpus(lambda entries, _: change(entries, random.Random(1)) and None)[1]  # noqa: S311
    restored = [[*entries, other[-1]] for entries, other in zip(gold, right, strict=True)]
    assert cause.gain == pytest.approx(analysed(gold, restored)[1] - f1q, abs=1e-3)


def test_objects_outside_lists_have_fields_too():
    gold, predicted = corpus(exchanged, entries=1, documents=30)
    (cause,), f1q = analysed([one[0] for one in gold], [one[0] for one in predicted], LETTER)
    assert (cause.kind, cause.paths) == ("columns-swapped", ("/recipient", "/sender"))
    assert cause.gain == pytest.approx(1.0 - f1q)


def test_values_in_a_key_that_is_unknown_are_not_in_another_field():
    def change(entries, _):
        return [{"topic" if key == "summary" else key: value for key, value in one.items()} for one in entries]

    assert not any(cause.kind == "other-field" for cause in analysed(*corpus(change))[0])


def test_values_that_agree_by_chance_are_not_in_another_field():
    def change(entries, rng):
        for one in entries:
            one["sender"], one["recipient"] = rng.choice(NAMES), rng.choice(NAMES)

    gold, predicted = corpus(change, documents=30)
    for one in (entry for document in gold for entry in document):
        one["sender"], one["recipient"] = one["sender"][3:], one["recipient"][3:]
    assert not analysed(gold, predicted)[0]


def test_fields_that_are_missing_can_be_exchanged():
    def change(entries, _):
        for one in entries:
            one["sender"] = one.pop("recipient")

    cause, f1q = only(change)
    assert cause.kind == "other-field"
    assert cause.paths == ("/*/recipient", "/*/sender")
    assert 0.0 < cause.gain < 1.0 - f1q


def test_only_pairs_of_fields_with_equal_values_are_listed():
    gold = {f"k{number}": f"{number} left" for number in range(1_600)}
    predicted = {key: value[:-1] for key, value in gold.items()} | {"k7": gold["k3"]}
    row = fields.Row(0, ("", ""), gold, predicted, (dict.fromkeys(gold), dict.fromkeys(gold)))
    tests, number = fields._tests([row], frozenset(gold))
    assert list(tests) == [("k3", "k7")]
    assert number == 1_600 * 1_599
