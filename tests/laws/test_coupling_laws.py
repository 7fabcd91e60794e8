"""Properties of comparisons whose lists are matched by transport: tallies, curves, JSON round trips, and batches."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle.strategies import SMOOTH, SOLVERS, documents, leaf_count, moved, pairs, schemas, transports

from arbitre import ABSENT, Comparator
from arbitre.comparison import Comparison
from arbitre.comparison.levels import by_path, leaves, of_nodes
from arbitre.engine import compare_to_levels
from arbitre.paths import pointer
from arbitre.schema import CLOSE

NEAR = 1e-9
slow = settings(suppress_health_check=list(HealthCheck))
EVERY = SOLVERS + SMOOTH
CASES = transports(solvers=EVERY) | transports(solvers=EVERY, ties=False)


def compared(case):
    schema, gold, predicted = case
    return Comparator(schema).compare(gold=gold, predicted=predicted)


def tally(scores):
    return [scores.gold, scores.predicted, scores.matched, scores.quality_mass]


def lists(value, path=()):
    """The pointers of the lists in a document."""
    if isinstance(value, list):
        yield pointer(path)
    for token, part in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield from lists(part, (*path, token))


def transported(comparison):
    """Every list of gold whose partner is a list too, and both have items: its node, its alignment."""
    known = {leaf.pointer for leaf in comparison.explain() if leaf.pointer is not None}
    for text in lists(comparison.gold):
        if any(leaf.startswith(text) for leaf in known):
            node = comparison.at(text)
            if node.gold and node.predicted and isinstance(node.predicted, list):
                yield node, comparison.alignment(text)


@slow
@given(case=CASES)
def test_the_quality_is_the_weighted_sum_of_its_leaves(case):
    comparison = compared(case)
    rows = comparison.explain()
    assert sum(row.share * row.quality for row in rows) == pytest.approx(comparison.quality if rows else 0.0, abs=NEAR)
    assert sum(row.share for row in rows) == pytest.approx(1.0 if rows else 0.0, abs=NEAR)


@slow
@given(case=CASES)
def test_the_area_under_the_curve_is_the_quality_mass(case):
    comparison = compared(case)
    assert comparison.curve.area == pytest.approx(comparison.scores.quality_mass, abs=NEAR)
    assert comparison.curve.surviving(0.0) == pytest.approx(comparison.scores.matched, abs=NEAR)


@slow
@given(case=CASES.filter(lambda case: "prefixItems" not in str(case[0])))
def test_the_mass_of_a_plan_is_the_tally_of_its_list(case):
    for node, alignment in transported(compared(case)):
        plan, counted = alignment.coupling, node.tally
        ours, theirs = plan.masses
        assert [ours.sum(), theirs.sum(), plan.mass.sum()] == pytest.approx(
            [counted.gold, counted.predicted, counted.matched], abs=1e-8
        )
        qualities = np.array([pair.quality for pair in alignment.pairs])
        assert plan.mass @ qualities == pytest.approx(counted.quality, abs=NEAR)
        assert plan.mass @ qualities**2 == pytest.approx(counted.quality_sq, abs=NEAR)
        coupling = alignment.plan
        assert coupling.shape == (len(node.gold), len(node.predicted))
        assert (coupling.sum(axis=1) <= ours + NEAR).all()
        assert (coupling.sum(axis=0) <= theirs + NEAR).all()
        assert node.quality == pytest.approx(node.scores.quality, abs=NEAR)
        assert set(alignment.missing) == set(np.flatnonzero((ours > 0) & (coupling.sum(axis=1) == 0)))
        assert set(alignment.spurious) == set(np.flatnonzero((theirs > 0) & (coupling.sum(axis=0) == 0)))


BALANCED = [SOLVERS[0], SMOOTH[0]]


@slow
@given(case=transports(solvers=BALANCED, ties=False).filter(lambda case: "hungarian" not in str(case[0])))
def test_a_balanced_plan_leaves_nothing_out(case):
    comparison = compared(case)
    for level in comparison.levels:
        if level.scale is not None:
            assert (level.scale >= 0.0).all()
    for node, alignment in transported(comparison):
        if node.tally.gold == node.tally.predicted == node.tally.matched:
            assert alignment.coupling.unmatched_gold.sum() == pytest.approx(0.0, abs=1e-8)
            assert alignment.coupling.unmatched_predicted.sum() == pytest.approx(0.0, abs=1e-8)


FREE = [solver for solver in EVERY if solver not in BALANCED]


@slow
@given(case=transports(solvers=FREE, uniform=True))
def test_the_counts_of_a_side_do_not_depend_on_the_other_side(case):
    """Where an item weighs 1 and is left out as it is; where all mass moves, only for the gold side."""
    schema, gold, predicted = case
    comparator = Comparator(schema)
    both = comparator.compare(gold=gold, predicted=predicted)
    missing = comparator.compare(gold=gold, predicted=ABSENT)
    spurious = comparator.compare(gold=ABSENT, predicted=predicted)
    assert both.leaves.gold == pytest.approx(missing.leaves.gold, abs=NEAR)
    assert both.leaves.predicted == pytest.approx(spurious.leaves.predicted, abs=NEAR)
    whole = both.by_path()
    for path, scores in missing.by_path().items():
        assert whole[path].gold == pytest.approx(scores.gold, abs=NEAR), path
    for path, scores in spurious.by_path().items():
        assert whole[path].predicted == pytest.approx(scores.predicted, abs=NEAR), path


@slow
@given(case=CASES)
def test_a_comparison_survives_a_json_round_trip(case):
    comparison = compared(case)
    text = json.dumps(comparison.to_dict())
    back = Comparison.from_dict(json.loads(text))
    assert json.dumps(back.to_dict()) == text
    assert back.quality == comparison.quality
    assert tally(back.scores) == tally(comparison.scores)
    assert tally(back.leaves) == tally(comparison.leaves)
    assert {path: tally(scores) for path, scores in back.by_path().items()} == {
        path: tally(scores) for path, scores in comparison.by_path().items()
    }
    assert back.curve.to_dict() == comparison.curve.to_dict()
    assert [row.share for row in back.explain()] == [row.share for row in comparison.explain()]
    for (node, alignment), (same, other) in zip(transported(comparison), transported(back), strict=True):
        assert (node.path, node.tally, node.verdict) == (same.path, same.tally, same.verdict)
        assert alignment == other
        assert alignment.plan.tolist() == other.plan.tolist()
        for side in (0, 1):
            assert alignment.coupling.masses[side].tolist() == other.coupling.masses[side].tolist()


@slow
@given(data=st.data())
def test_a_document_counts_the_same_alone_and_among_others(data):
    schema = data.draw(schemas(depth=2))
    few = pairs(schema).filter(lambda pair: leaf_count(pair[0]) * leaf_count(pair[1]) <= 100)
    many = data.draw(st.lists(few, min_size=2, max_size=4))
    comparator = Comparator(data.draw(moved(schema, solvers=EVERY)))
    golds, predictions = zip(*many, strict=True)
    levels = compare_to_levels(comparator.plan, golds, predictions)
    together = by_path(levels, len(many), CLOSE)
    evaluation = comparator.evaluate((str(number), *pair) for number, pair in enumerate(many))
    for number, (gold, predicted) in enumerate(many):
        alone = compare_to_levels(comparator.plan, [gold], [predicted])
        for path, sums in by_path(alone, 1, CLOSE).items():
            assert sums[0].tolist() == together[path][number].tolist(), path
        assert leaves(alone, 1)[0].tolist() == leaves(levels, len(many))[number].tolist()
        assert of_nodes(alone, "", 1)[0].tolist() == of_nodes(levels, "", len(many))[number].tolist()
        single = comparator.evaluate([(str(number), gold, predicted)])
        assert single.documents[0] == evaluation.documents[number]
        assert single.documents[0].quality == comparator.compare(gold=gold, predicted=predicted).quality


@slow
@given(data=st.data(), solver=st.sampled_from([{"solver": "exact"}, {"solver": "partial"}, {"solver": "dummy"}]))
def test_a_document_equals_itself(data, solver):
    schema = data.draw(schemas())
    document = data.draw(documents(schema).filter(lambda value: leaf_count(value) <= 20))
    schema = data.draw(moved(schema, solvers=[solver]))
    if "keyed" not in str(schema):
        comparison = Comparator(schema).compare(gold=document, predicted=document)
        assert comparison.quality == pytest.approx(1.0, abs=NEAR)
        assert comparison.leaves.quality_mass == pytest.approx(comparison.leaves.gold, abs=1e-8)


# square lists


@st.composite
def squares(draw, depth=3):
    """A schema, and two documents of it in which all lists at one place are of one length."""
    kinds = ["number", "string"] + (["list"] * 3 + ["object"] if depth else [])
    kind = draw(st.sampled_from(kinds[2:] if depth == 3 else kinds))
    if kind == "list":
        items, one = draw(squares(depth=depth - 1))
        size = draw(st.integers(1, 4))
        return {"type": "array", "items": items}, st.lists(one, min_size=size, max_size=size)
    if kind == "object":
        parts = {name: draw(squares(depth=depth - 1)) for name in draw(st.sampled_from(["a", "ab", "abc"]))}
        schema = {"type": "object", "properties": {name: part for name, (part, _) in parts.items()}}
        return schema, st.fixed_dictionaries({name: one for name, (_, one) in parts.items()})
    values = [0, 1, 2, 3, 5.5] if kind == "number" else ["", "a", "b", "ab", "ba", "abc"]
    return {"type": kind}, st.sampled_from(values)


def levels_of(schema, gold, predicted):
    """The two documents, and every two values in them that stand at one place."""
    yield schema, gold, predicted
    if schema["type"] == "array":
        below = [(schema["items"], ours, theirs) for ours in gold for theirs in predicted]
    else:
        below = [(part, gold[name], predicted[name]) for name, part in schema.get("properties", {}).items()]
    for one in below[:4]:
        yield from levels_of(*one)


@slow
@given(data=st.data())
def test_exact_transport_between_square_lists_is_hungarian_at_every_level(data):
    schema, values = data.draw(squares())
    gold, predicted = data.draw(values), data.draw(values)
    for part, ours, theirs in levels_of(schema, gold, predicted):
        one, other = (
            Comparator(part, match=match).compare(gold=ours, predicted=theirs)
            for match in ("hungarian", {"transport": {}})
        )
        assert other.quality == pytest.approx(one.quality, abs=NEAR)
        assert tally(other.scores) == pytest.approx(tally(one.scores), abs=NEAR)
