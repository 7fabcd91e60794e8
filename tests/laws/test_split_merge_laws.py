"""Laws of splits and merges: undamaged documents have none, and results depend on the document alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import parts

from arbitre import Comparator
from arbitre.diagnosis.joins import JoinResults
from arbitre.engine import compare_batch

WORDS = ["Ada", "Bob", "Cyd", "oyster", "beds", "salt", "tax", "votes"]
ENTRY = st.fixed_dictionaries(
    {"name": st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)},
    optional={"pages": st.lists(st.integers(0, 30), max_size=6), "year": st.integers(1900, 1905)},
)
ENTRIES = st.lists(ENTRY, max_size=8)
COMPARATOR = Comparator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "pages": {"type": "array", "items": {"type": "integer"}},
                "year": {"type": "integer"},
            },
        },
    }
)
PLAN = COMPARATOR.plan


def results(plan, gold, predicted):
    return JoinResults.of(plan, gold, predicted, compare_batch(plan, gold, predicted).levels())


@pytest.mark.slow
@given(st.data())
def test_a_document_compared_with_itself_has_no_joins(data):
    part = data.draw(parts())
    document = data.draw(part.documents)
    joined = results(Comparator(part.schema).plan, [document], [document]).parts_of(0)
    assert (joined["merges"], joined["splits"]) == ((), ())


@given(ENTRIES.flatmap(lambda entries: st.tuples(st.just(entries), st.permutations(entries))))
def test_permuted_entries_have_no_joins(pair):
    joined = results(PLAN, [pair[0]], [list(pair[1])]).parts_of(0)
    assert (joined["merges"], joined["splits"]) == ((), ())


@given(st.lists(st.tuples(ENTRIES, ENTRIES), min_size=1, max_size=4))
def test_joins_and_their_score_do_not_depend_on_the_batch(pairs):
    gold, predicted = (list(side) for side in zip(*pairs, strict=True))
    together = results(PLAN, gold, predicted)
    for document, (gold_document, predicted_document) in enumerate(pairs):
        assert results(PLAN, [gold_document], [predicted_document]).parts_of(0) == together.parts_of(document)


@given(ENTRIES, ENTRIES)
def test_every_join_gains_and_uses_an_item_once(gold, predicted):
    joined = results(PLAN, [gold], [predicted]).parts_of(0)
    joins = (*joined["merges"], *joined["splits"])
    assert all(join.gain > 0.02 for join in joins)
    for side in ("gold", "predicted"):
        used = [position for join in joins for position in getattr(join, side)]
        assert len(used) == len(set(used))


@given(ENTRIES, ENTRIES)
def test_without_joins_the_score_after_joins_is_the_strict_score(gold, predicted):
    comparison = COMPARATOR.compare(gold=gold, predicted=predicted)
    diagnosis = comparison.diagnosis
    if not (diagnosis.merges or diagnosis.splits):
        assert diagnosis.f1q_after_joins == comparison.scores.f1q


@given(st.lists(ENTRY, min_size=2, max_size=8, unique_by=lambda entry: entry["name"]), st.integers(0, 6))
def test_joining_two_entries_of_gold_restores_a_planted_merge(gold, position):
    position %= len(gold) - 1
    first, second = (
        entry | {"pages": [*entry.get("pages", []), 100 + number]}
        for number, entry in enumerate(gold[position : position + 2])
    )
    gold = [*gold[:position], first, second, *gold[position + 2 :]]
    merged = first | {"pages": [*first["pages"], *second["pages"]]}
    diagnosis = COMPARATOR.compare(gold=gold, predicted=[*gold[:position], merged, *gold[position + 2 :]]).diagnosis
    if [join.gold for join in diagnosis.merges] == [(position, position + 1)]:
        assert diagnosis.f1q_after_joins == pytest.approx(1.0)
