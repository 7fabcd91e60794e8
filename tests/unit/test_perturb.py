"""Planted faults: each changes the entries that it names as described, and no others."""

from __future__ import annotations

import json
import time
from collections import Counter
from copy import deepcopy

import pytest

from arbitre import ArbitreError, OptionError, bundled, perturb_gold
from arbitre.gold.entry_faults import LOOK_ALIKES, FaultKind, add_noise
from arbitre.gold.perturb import perturb
from arbitre.paths import parse, value_at

LINES = (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines()
GOLD = {line.pop("id"): line for line in map(json.loads, LINES)}
SPEAKERS = "/speakers"
PEOPLE = [{"name": f"speaker number {number}", "pages": [number, 10 + number]} for number in range(20)]
KINDS = [kind.value for kind in FaultKind]
EVERY = dict.fromkeys(KINDS, 0.1)


def position(pointer):
    return int(parse(pointer)[-1])


def planted(kind, document=PEOPLE, rate=0.2, **options):
    """The copy, the faults, and the original entries and those of the copy that no fault names."""
    perturbed = perturb(document, {kind: rate}, **options)
    faults = perturbed.faults
    assert {fault.kind.value for fault in faults} == {kind}
    return perturbed.document, faults


def of_gold(fault):
    return fault.gold


def of_predicted(fault):
    return fault.predicted


def untouched(document, pointers):
    named = {int(parse(pointer)[0]) for pointer in pointers}
    return [entry for at, entry in enumerate(document) if at not in named]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "rename"])
def test_entries_without_a_fault_stay_as_they_are(kind):
    document, faults = planted(kind)
    assert len(faults) == 4
    gold, predicted = ([pointer for fault in faults for pointer in side(fault)] for side in (of_gold, of_predicted))
    if kind == "move":  # the receiving entry has no gold pointer
        gold = predicted = gold + predicted
    assert untouched(document, predicted) == untouched(PEOPLE, gold)
    affected = [parse(pointer)[0] for fault in faults for pointer in fault.gold]
    assert max(Counter(affected).values(), default=1) == 1


def test_dropped_entries_are_left_out():
    document, faults = planted("drop")
    assert [fault.predicted for fault in faults] == [()] * 4
    assert len(document) == 16


def test_duplicated_entries_occur_twice():
    document, faults = planted("duplicate")
    for fault in faults:
        first, second = (value_at(document, pointer) for pointer in fault.predicted)
        assert first == second == value_at(PEOPLE, fault.gold[0])


def test_invented_entries_have_the_shape_of_an_entry_and_other_values():
    document, faults = planted("invent")
    assert len(document) == 24
    for fault in faults:
        entry = value_at(document, fault.predicted[0])
        assert fault.gold == ()
        assert entry not in PEOPLE
        assert list(entry) == ["name", "pages"]
        assert len(entry["pages"]) == 2


def test_a_split_entry_becomes_parts_with_all_its_items():
    document, faults = planted("split", [person | {"pages": [*person["pages"], 30, 40, 50]} for person in PEOPLE])
    sizes = set()
    for fault in faults:
        parts = [value_at(document, pointer) for pointer in fault.predicted]
        at = [position(pointer) for pointer in fault.predicted]
        sizes.add(len(parts))
        assert at == list(range(at[0], at[0] + len(parts)))
        whole = PEOPLE[position(fault.gold[0])]
        assert {part["name"] for part in parts} == {whole["name"]}
        assert [page for part in parts for page in part["pages"]] == [*whole["pages"], 30, 40, 50]
    assert sizes <= {2, 3}


def test_a_merged_entry_has_the_lists_of_both_and_the_name_of_the_first():
    document, faults = planted("merge")
    for fault in faults:
        first, second = (value_at(PEOPLE, pointer) for pointer in fault.gold)
        assert position(fault.gold[1]) == position(fault.gold[0]) + 1
        assert value_at(document, fault.predicted[0]) == first | {"pages": first["pages"] + second["pages"]}


@pytest.mark.parametrize("kind", ["move", "swap"])
def test_a_moved_or_swapped_value_is_at_the_predicted_pointer(kind):
    document, faults = planted(kind)
    for fault in faults:
        for gold, predicted in zip(fault.gold, fault.predicted, strict=True):
            value = value_at(PEOPLE, gold)
            assert value_at(document, predicted) == value
            assert parse(predicted)[1] == parse(gold)[1]
            assert parse(predicted)[0] != parse(gold)[0]
            if kind == "move":
                assert value not in document[int(parse(gold)[0])]["pages"]


def test_a_value_moves_into_an_empty_field_of_its_entry():
    people = [{"name": f"Ada {number}", "first": None} for number in range(10)]
    document, faults = planted("move", people, rate=0.3)
    assert {(parse(fault.gold[0])[1], parse(fault.predicted[0])[1]) for fault in faults} == {("name", "first")}
    for fault in faults:
        assert document[int(parse(fault.gold[0])[0])] == {"first": value_at(people, fault.gold[0])}


def test_noise_replaces_a_tenth_of_the_characters():
    document, faults = planted("noise")
    for fault in faults:
        before, after = value_at(PEOPLE, fault.gold[0]), value_at(document, fault.predicted[0])
        assert before != after
        assert fault.gold[0].endswith("/name")
    assert add_noise("", None) == ""
    assert all(char != other for char, other in LOOK_ALIKES.items())


def test_a_renamed_field_is_renamed_in_every_entry_of_every_document():
    renamed = {perturb(document, {"rename": 0.3}, seed=30, key=key).faults for key, document in GOLD.items()}
    assert len(renamed) == 1
    (faults,) = renamed
    assert [(*fault.gold, *fault.predicted) for fault in faults] == [
        ("/speakers/*/elected", "/speakers/*/elected_value"),
        ("/speakers/*/interventions/*/pages", "/speakers/*/interventions/*/details/pages"),
    ]
    for document in GOLD.values():
        copy = perturb(document, {"rename": 0.3}, seed=30).document
        elected = [speaker.get("elected_value") for speaker in copy["speakers"]]
        assert elected == [speaker.get("elected") for speaker in document["speakers"]]
        pages = [said["details"]["pages"] for speaker in copy["speakers"] for said in speaker["interventions"]]
        assert pages == [said["pages"] for speaker in document["speakers"] for said in speaker["interventions"]]
        assert not any("elected" in speaker for speaker in copy["speakers"])


@pytest.mark.parametrize("other", [[], None, "none"])
def test_a_field_that_has_objects_in_a_document_is_renamed_in_none(other):
    gold = [("1", {"items": [{"n": "a"}], "t": "x"}), ("2", {"items": other, "t": "y", "u": 1})]
    for documents in (gold, gold[::-1]):
        faults = {
            copy.id: {fault.gold[0] for fault in copy.perturbed.faults}
            for copy in perturb_gold(documents, {"rename": 1.0})
        }
        assert faults == {"1": {"/items/*/n", "/t"}, "2": {"/t", "/u"}}


def test_a_field_has_the_same_new_name_in_all_documents():
    gold = [("1", {"t": "x"}), ("2", {"t": "y", "t_value": 1, "details": 2})]
    for seed in range(5):
        copies = perturb_gold(gold, {"rename": 1.0}, seed=seed)
        first, second = (dict((*fault.gold, *fault.predicted) for fault in copy.perturbed.faults) for copy in copies)
        assert first["/t"] == second["/t"]


def test_a_nested_field_can_move_up_into_its_entry():
    people = [{"action": {"pages": [number]}} for number in range(3)]
    copies = [perturb(people, {"rename": 1.0}, seed=seed).document for seed in range(20)]
    assert [{"pages": [number]} for number in range(3)] in copies
    assert [{"action": {"pages_value": [number]}} for number in range(3)] in copies
    assert [{"action": {"details": {"pages": [number]}}} for number in range(3)] in copies


@pytest.mark.parametrize("seed", range(20))
def test_pointers_are_correct_when_all_kinds_are_planted_at_once(seed):
    for key, document in GOLD.items():
        perturbed = perturb(document, EVERY, seed=seed, key=key)
        for fault in perturbed.faults:
            if fault.kind is FaultKind.RENAME:
                continue
            gold = [value_at(document, pointer) for pointer in fault.gold]
            predicted = [value_at(perturbed.document, pointer) for pointer in fault.predicted]
            if fault.kind in {FaultKind.MOVE, FaultKind.SWAP} and not any(
                isinstance(item, dict) for value in gold if isinstance(value, list) for item in value
            ):
                assert gold == predicted
            assert len(predicted) == {"drop": 0, "invent": 1, "merge": 1}.get(fault.kind.value, len(predicted))


def test_without_faults_the_copy_is_equal_and_gold_is_never_modified():
    before = deepcopy(GOLD)
    for key, document in GOLD.items():
        assert perturb(document, {}).document == document
        assert perturb(document, {}).faults == ()
        assert perturb(document, EVERY, key=key).document != document
    assert before == GOLD


def test_the_seed_and_the_id_determine_the_faults():
    once = perturb(PEOPLE, EVERY, seed=1, key="a")
    assert once == perturb(PEOPLE, EVERY, seed=1, key="a")
    assert once != perturb(PEOPLE, EVERY, seed=2, key="a")
    assert once != perturb(PEOPLE, EVERY, seed=1, key="b")
    assert once == perturb(PEOPLE, dict(reversed(EVERY.items())), seed=1, key="a")


def test_a_long_list_is_handled_quickly():
    words = [f"word {number}" for number in range(10_000)]
    start = time.process_time()
    faults = perturb(words, {"swap": 1.0, "drop": 0.9, "duplicate": 0.1}).faults  # two texts exchange no field
    assert time.process_time() - start < 2
    assert len(faults) == 10_000


def test_the_faults_of_two_entries_affect_the_next_free_one():
    faults = perturb(PEOPLE, {"swap": 0.4, "drop": 0.3}, seed=2).faults
    dropped = {int(parse(fault.gold[0])[0]) for fault in faults if fault.kind is FaultKind.DROP}
    swaps = [{int(parse(at)[0]) for at in fault.gold} for fault in faults if fault.kind is FaultKind.SWAP]
    assert len(swaps) == 8
    assert not dropped.intersection(*swaps)
    for first, second in map(sorted, swaps):
        assert {*range(first + 1, second)} <= set().union(*swaps)


def test_the_mean_number_of_faults_is_the_rate():
    counts = [len(perturb(PEOPLE[:7], {"drop": 0.2}, seed=seed).faults) for seed in range(400)]
    assert sum(counts) / 400 == pytest.approx(1.4, abs=0.1)
    assert set(counts) == {1, 2}


def test_different_kinds_affect_the_same_entries():
    dropped, duplicated, swapped = (
        [fault.gold[0] for fault in perturb(PEOPLE, {kind: 0.2}, seed=5).faults]
        for kind in ("drop", "duplicate", "noise")
    )
    assert dropped == duplicated == [pointer.removesuffix("/name") for pointer in swapped]


def test_only_the_list_at_the_given_path_has_faults():
    for key, document in GOLD.items():
        faults = perturb(document, {"drop": 0.5}, at="/speakers/*/interventions", key=key).faults
        assert {len(parse(fault.gold[0])) for fault in faults} <= {4}
    with pytest.raises(ArbitreError, match="Expected a JSON Pointer"):
        perturb(PEOPLE, {"drop": 0.5}, at="speakers")
    message = r'Expected `at` to be the path of a list in gold, got "/speaker"\.?\n.*Did you mean "/speakers"\?'
    with pytest.raises(OptionError, match=message):
        perturb(next(iter(GOLD.values())), {"drop": 0.5}, at="/speaker")


def test_a_document_without_entries_is_an_entry():
    invoice = {"number": "A-1", "buyer": "", "lines": ["ink", "paper"]}
    kinds = {fault.kind.value for seed in range(40) for fault in perturb(invoice, EVERY, seed=seed).faults}
    assert kinds >= {"drop", "move", "noise", "rename"}
    (fault,) = perturb({"number": "A-1", "buyer": ""}, {"move": 1}).faults
    assert (fault.gold, fault.predicted) == (("/number",), ("/buyer",))


def test_impossible_faults_are_not_planted():
    assert perturb([], EVERY).faults == ()
    assert perturb("a text", EVERY).faults == ()
    assert perturb(["a", "b"], {"swap": 1.0, "split": 1.0, "merge": 1.0, "move": 1.0}).faults == ()
    assert perturb([{"name": "Ada"}], {"merge": 1.0}).document == [{"name": "Ada"}]


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"drops": 0.1}, 'Expected a kind of fault, got "drops"\n  Did you mean "drop"?'),
        ({"drop": 1.1}, 'Expected a rate from 0 to 1 for "drop", got 1.1'),
        ({"drop": float("nan")}, 'Expected a rate from 0 to 1 for "drop", got nan'),
    ],
)
def test_invalid_rates_are_refused(rates, message):
    with pytest.raises(OptionError) as caught:
        perturb(PEOPLE, rates)
    assert str(caught.value).startswith(message)
