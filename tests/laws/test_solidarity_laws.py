"""Properties of solidarity: its range, its value for undamaged documents, and the changes that affect it."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_invariance_laws import cases, shuffled
from tests.oracle.strategies import SOLVERS, documents, moved, schemas
from tests.oracle.strategies import cases as schema_cases

from arbitre import ABSENT, Comparator

slow = settings(suppress_health_check=list(HealthCheck))

PEOPLE = Comparator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "x-arbitre": {"weight": 100}},
                "name": {"type": "string"},
                "pages": {"type": "array", "items": {"type": "integer"}},
            },
        },
    }
)
NAMES = st.text("abcdef", min_size=1, max_size=6)


@st.composite
def people(draw):
    """A list of people with distinct ids."""
    names, pages = st.lists(NAMES, min_size=2, max_size=6), st.lists(st.integers(0, 30), max_size=4)
    return [{"id": f"{at}" * 9, "name": name, "pages": draw(pages)} for at, name in enumerate(draw(names))]


def diagnosis(schema, gold, predicted):
    return Comparator(schema).compare(gold=gold, predicted=predicted).diagnosis


@slow
@given(schema_cases())
def test_solidarity_is_a_share(case):
    schema, gold, predicted = case
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    diagnosed = comparison.diagnosis
    shares = [diagnosed.solidarity, *diagnosed.solidarity_by_path.values()]
    assert all(0.0 <= share <= 1.0 for share in shares if share is not None)
    assert (diagnosed.solidarity is None) == (diagnosed.flat.quality_mass == 0.0)
    assert comparison.leaves.quality_mass <= diagnosed.flat.quality_mass + 1e-9
    if diagnosed.flat.quality_mass:
        share = comparison.leaves.quality_mass / diagnosed.flat.quality_mass
        assert diagnosed.solidarity == pytest.approx(share, abs=1e-9)


@slow
@given(st.data())
def test_undamaged_documents_have_solidarity_1_and_no_moved_values(data):
    schema = data.draw(schemas())
    assume("greedy" not in str(schema))
    gold = data.draw(documents(schema))
    comparison = Comparator(schema).compare(gold=gold, predicted=copy.deepcopy(gold))
    assume(comparison.quality == 1.0)  # items without a key have no partner
    diagnosed = comparison.diagnosis
    assert diagnosed.solidarity == (pytest.approx(1.0, abs=1e-12) if diagnosed.flat.matched else None)
    assert diagnosed.moved == ()


@slow
@given(data=st.data(), case=cases().filter(lambda case: not {"greedy", "transport"} & {*str(case[0]).split("'")}))
def test_the_order_of_the_items_does_not_change_the_flat_matching(data, case):
    part, gold, predicted = case
    others = [data.draw(shuffled(part, side)) for side in (gold, predicted)]
    before, after = diagnosis(part.schema, gold, predicted), diagnosis(part.schema, *others)
    assert after.flat.quality_mass == pytest.approx(before.flat.quality_mass, abs=1e-9)


@slow
@given(data=st.data(), gold=people())
def test_the_order_of_the_entries_does_not_change_solidarity(data, gold):
    predicted = data.draw(st.permutations(data.draw(people())[: len(gold)]))
    before = PEOPLE.compare(gold=gold, predicted=predicted).diagnosis
    after = PEOPLE.compare(gold=data.draw(st.permutations(gold)), predicted=predicted).diagnosis
    assert after.solidarity == pytest.approx(before.solidarity, abs=1e-9)
    assert after.flat.to_dict() == pytest.approx(before.flat.to_dict(), abs=1e-9)


@slow
@given(data=st.data(), gold=people(), field=st.sampled_from(["name", "pages"]))
def test_swapping_the_values_of_two_entries_lowers_solidarity_and_keeps_the_flat_scores(data, gold, field):
    first, second = data.draw(st.permutations(range(len(gold))))[:2]
    values = [gold[at][field] for at in (first, second)]
    assume(sorted(values[0]) != sorted(values[1]) if field == "pages" else values[0] != values[1])
    predicted = copy.deepcopy(gold)
    predicted[first][field], predicted[second][field] = values[1], values[0]
    before = PEOPLE.compare(gold=gold, predicted=gold).diagnosis
    after = PEOPLE.compare(gold=gold, predicted=predicted).diagnosis
    assert after.flat.to_dict() == pytest.approx(before.flat.to_dict(), abs=1e-9)
    assert after.solidarity < before.solidarity == 1.0


@slow
@given(data=st.data())
def test_solidarity_is_undefined_below_transport(data):
    schema = data.draw(moved(data.draw(schemas()), solvers=SOLVERS))
    gold, predicted = (data.draw(documents(schema)) for _ in range(2))
    comparator = Comparator(schema)
    diagnosed = comparator.compare(gold=gold, predicted=predicted).diagnosis
    lists = [row.path for row in comparator.explain() if row.match.startswith("transport")]
    undefined = {
        path for path in diagnosed.solidarity_by_path if any(f"{path}/".startswith(f"{name}/*/") for name in lists)
    }
    unmatched = {path for path, scores in diagnosed.flat_by_path.items() if scores.quality_mass == 0.0}
    assert {path for path, value in diagnosed.solidarity_by_path.items() if value is None} == undefined | unmatched
    assert (diagnosed.solidarity is None) == bool(undefined or diagnosed.flat.quality_mass == 0.0)


@slow
@given(schema_cases())
def test_a_document_without_counterpart_has_no_leaf_quality(case):
    schema, gold, _ = case
    for sides in ((gold, ABSENT), (ABSENT, gold)):
        diagnosed = diagnosis(schema, *sides)
        assert (diagnosed.solidarity, diagnosed.flat.quality_mass, diagnosed.moved) == (None, 0.0, ())
