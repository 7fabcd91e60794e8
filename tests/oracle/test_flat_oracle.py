"""The best flat matching compared with an assignment over all leaves of both documents."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from tests.oracle import textbook
from tests.oracle.strategies import alternatives, cases, floored, pairs, schemas

from arbitre import Comparator
from arbitre.diagnosis import solidarity
from arbitre.diagnosis.faults import diagnose
from arbitre.engine import compare_to_levels

slow = settings(suppress_health_check=list(HealthCheck))


def leaves(tree, path=()):
    """Yield the wildcard path and the tree of each leaf."""
    if tree is None:
        return
    for token, part in tree.parts.items():
        yield from leaves(part, (*path, token))
    if not tree.parts:
        yield textbook.wild(path), tree


def flat_by_path(schema, gold, predicted):
    """Gold, predicted, matched and quality of the best flat matching of each path."""
    node = textbook.spec(schema)
    sides = [defaultdict(list), defaultdict(list)]
    for side, tree in zip(sides, (textbook.read(node, gold, {}), textbook.read(node, predicted)), strict=True):
        for path, leaf in leaves(tree):
            side[path].append(leaf)
    results = {}
    for path in sides[0].keys() | sides[1].keys():
        ours, theirs = (side[path] for side in sides)
        table = np.array([[textbook.visit(g, p, ()).quality for p in theirs] for g in ours]).reshape(
            len(ours), len(theirs)
        )
        kinds = [Counter(leaf.node.kind for leaf in side) for side in (ours, theirs)]
        quality = table[linear_sum_assignment(table, maximize=True)].sum()
        results[path] = len(ours), len(theirs), sum((kinds[0] & kinds[1]).values()), quality
    return results


def masses(scores):
    return scores.gold, scores.predicted, scores.matched, scores.quality_mass


def check(schema, gold, predicted):
    diagnosis = Comparator(schema).compare(gold=gold, predicted=predicted).diagnosis
    assert diagnosis.flat_exact
    expected = flat_by_path(schema, gold, predicted)
    assert diagnosis.flat_by_path.keys() == expected.keys()
    for path, scores in diagnosis.flat_by_path.items():
        assert masses(scores) == pytest.approx(expected[path], abs=1e-9), path
    assert diagnosis.flat.quality_mass == pytest.approx(sum(quality for *_, quality in expected.values()), abs=1e-9)


@slow
@given(cases())
def test_the_flat_matching_equals_an_assignment_over_textbook_leaves(case):
    check(*case)


@slow
@given(st.data())
def test_the_flat_matching_with_floors_equals_an_assignment_over_textbook_leaves(data):
    schema = data.draw(floored(data.draw(schemas())))
    check(schema, *data.draw(pairs(schema)))


@slow
@given(alternatives())
def test_the_flat_matching_with_alternatives_has_the_quality_of_an_assignment_over_textbook_leaves(case):
    schema, gold, predicted = case
    diagnosis = Comparator(schema).compare(gold=gold, predicted=predicted).diagnosis
    expected = flat_by_path(schema, gold, predicted)
    for path, (_, _, _, quality) in expected.items():
        assert diagnosis.flat_by_path[path].quality_mass == pytest.approx(quality, abs=1e-9), path


@slow
@given(st.data())
def test_documents_of_a_batch_have_the_diagnosis_of_single_documents(data):
    schema = data.draw(schemas())
    documents = data.draw(st.lists(pairs(schema), min_size=2, max_size=5))
    comparator = Comparator(schema)
    gold, predicted = (list(side) for side in zip(*documents, strict=True))
    together = diagnose(comparator.plan, gold, predicted, compare_to_levels(comparator.plan, gold, predicted))
    for result, ours, theirs in zip(together, gold, predicted, strict=True):
        assert result.to_dict() == comparator.compare(gold=ours, predicted=theirs).diagnosis.to_dict()


@slow
@given(case=cases(), cells=st.integers(1, 6))
def test_a_flat_matching_beyond_the_size_limit_is_marked_as_a_lower_bound(case, cells):
    schema, gold, predicted = case
    exact = Comparator(schema).compare(gold=gold, predicted=predicted).diagnosis
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solidarity, "MAX_CELLS", cells)
        limited = Comparator(schema).compare(gold=gold, predicted=predicted).diagnosis
    for path, scores in limited.flat_by_path.items():
        assert masses(scores)[:3] == masses(exact.flat_by_path[path])[:3]
        assert scores.quality_mass <= exact.flat_by_path[path].quality_mass + 1e-9
    if limited.flat_exact:
        assert limited.flat.quality_mass == pytest.approx(exact.flat.quality_mass, abs=1e-9)
    if limited.flat.quality_mass:
        assert 0.0 <= limited.solidarity <= 1.0
    else:
        assert limited.solidarity is None
