"""Planted faults have correct pointers and change nothing else, in any document."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from arbitre.gold.entry_faults import FaultKind
from arbitre.gold.perturb import perturb
from arbitre.paths import parse, value_at
from arbitre.values import canonical

SCALARS = st.none() | st.booleans() | st.integers(-99, 9999) | st.floats(-1e3, 1e3) | st.text("abé 1~/*", max_size=4)
KEYS = st.sampled_from(["a", "b", "c/d", "*", "~"])
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=30
)
PEOPLE = st.lists(
    st.fixed_dictionaries({"name": st.text("abc ", max_size=6), "pages": st.lists(st.integers(0, 30), max_size=4)}),
    max_size=9,
)
RATES = st.dictionaries(st.sampled_from(list(FaultKind)), st.floats(0.0, 1.0), max_size=4)
SEEDS = st.integers(0, 2**32)


@given(DOCUMENTS | PEOPLE, RATES, SEEDS)
def test_pointers_lead_to_values_and_gold_is_not_modified(document, rates, seed):
    before = deepcopy(document)
    perturbed = perturb(document, rates, seed=seed)
    assert canonical(document) == canonical(before)
    assert perturbed == perturb(document, rates, seed=seed)
    if not perturbed.faults:
        assert canonical(perturbed.document) == canonical(document)
    for fault in perturbed.faults:
        assert rates[fault.kind] > 0.0
        if fault.kind is not FaultKind.RENAME:
            for pointer in fault.gold:
                value_at(document, pointer)
            for pointer in fault.predicted:
                value_at(perturbed.document, pointer)


@given(DOCUMENTS | PEOPLE, st.floats(0.0, 1.0), SEEDS)
def test_a_value_that_is_moved_or_swapped_is_where_its_pointer_says(document, rate, seed):
    perturbed = perturb(document, {"move": rate, "swap": rate / 2}, seed=seed)
    for fault in perturbed.faults:
        for gold, predicted in zip(fault.gold, fault.predicted, strict=True):
            assert canonical(value_at(document, gold)) == canonical(value_at(perturbed.document, predicted))


@given(PEOPLE, RATES, SEEDS)
def test_an_entry_has_at_most_one_fault(people, rates, seed):
    faults = [fault for fault in perturb(people, rates, at="", seed=seed).faults if fault.kind is not FaultKind.RENAME]
    entries = Counter(entry for fault in faults for entry in {parse(pointer)[0] for pointer in fault.gold})
    assert max(entries.values(), default=1) == 1


@given(PEOPLE, st.floats(0.0, 0.5), SEEDS)
def test_splits_and_merges_keep_every_page(people, rate, seed):
    copy = perturb(people, {"split": rate, "merge": rate}, seed=seed).document
    pages = [Counter(page for person in side for page in person["pages"]) for side in (people, copy)]
    assert pages[0] == pages[1]
