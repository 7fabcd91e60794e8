"""Tallies add up in any order, scores and outcome counts satisfy their identities, curves integrate to scores."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle.strategies import SMOOTH, SOLVERS, cases, transports

from arbitre import Comparator, Curve, Scores, Tally
from arbitre.curve import CurveAccumulator
from arbitre.tally import OUTCOMES

QUALITIES = st.lists(st.floats(0, 1), max_size=30)


@st.composite
def tallies(draw):
    """The tally of a matching: k pairs, and some items without partner on either side."""
    qualities = draw(QUALITIES)
    matched = len(qualities)
    gold, predicted = (matched + draw(st.integers(0, 20)) for _ in range(2))
    return Tally(gold, predicted, matched, math.fsum(qualities), math.fsum(q * q for q in qualities))


@st.composite
def matchings(draw):
    """(qualities, gold, predicted)."""
    qualities = draw(QUALITIES)
    return qualities, *(len(qualities) + draw(st.integers(0, 20)) for _ in range(2))


def masses(tally):
    return (tally.gold, tally.predicted, tally.matched, tally.quality, tally.quality_sq)


def near(value):
    """Equal to within rounding; None is equal to None only."""
    if isinstance(value, dict):
        return {name: near(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(near, value))
    return None if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)


@given(tallies())
def test_adding_the_empty_tally_changes_nothing(tally):
    assert tally + Tally() == Tally() + tally == Tally.sum([tally]) == tally


@given(tallies(), tallies(), tallies())
def test_addition_is_commutative_and_associative(one, two, three):
    assert one + two == two + one
    assert masses((one + two) + three) == near(masses(one + (two + three)))


@given(st.lists(tallies(), max_size=8), st.randoms(use_true_random=False))
def test_a_sum_is_exact_in_any_order(parts, random):
    shuffled = parts[:]
    random.shuffle(shuffled)
    assert Tally.sum(shuffled) == Tally.sum(parts)
    assert Tally.sum(parts).quality == math.fsum(part.quality for part in parts)
    assert masses(Tally.sum(parts)) == near(masses(sum(parts, Tally())))


@given(st.lists(tallies(), max_size=8), st.integers(0, 8))
def test_merged_tallies_have_the_scores_of_the_whole(parts, cut):
    merged = Tally.sum(parts[:cut]) + Tally.sum(parts[cut:])
    assert Scores(merged).to_dict() == near(Scores(Tally.sum(parts)).to_dict())


def known(*scores):
    return all(score is not None for score in scores)


@given(tallies())
def test_the_scores_satisfy_their_identities(tally):
    one = Scores(tally)
    assert 0 <= one.quality <= 1 + 1e-12
    if tally.vacuous:
        assert (one.f1q, one.f1, one.omq) == (None, None, None)
        return
    assert -1e-12 <= one.f1q <= one.f1 + 1e-12 <= 1 + 2e-12
    if tally.matched:
        assert one.f1q == near(one.amq * one.f1)
        assert one.irq == near(one.amq * one.recall)
        assert one.imq == near(one.amq * one.precision)
    if known(one.imq, one.irq):
        assert min(one.imq, one.irq) - 1e-12 <= one.f1q <= max(one.imq, one.irq) + 1e-12
        if one.imq > 1e-9 and one.irq > 1e-9:
            assert one.f1q == near(2 / (1 / one.imq + 1 / one.irq))
    if known(one.omq):
        assert one.omq >= one.f1q - 1e-12
    assert one.fq(1) == one.f1q
    soft = tally.quality / (tally.gold + tally.predicted - tally.quality)  # the soft Jaccard index
    assert soft == near(one.f1q / (2 - one.f1q))
    assert one.quality >= soft - 1e-12
    assert one.variance is None or 0 <= one.variance <= 0.25 + 1e-12


@given(tallies())
def test_exchanging_the_sides_exchanges_precision_and_recall(tally):
    one, other = Scores(tally), Scores(Tally(tally.predicted, tally.gold, *masses(tally)[2:]))
    assert (one.imq, one.irq, one.precision, one.recall) == (other.irq, other.imq, other.recall, other.precision)
    assert (one.f1q, one.f1, one.amq, one.quality, one.variance) == near(
        (other.f1q, other.f1, other.amq, other.quality, other.variance)
    )


@given(tallies())
def test_doubling_a_tally_changes_no_score(tally):
    one, twice = Scores(tally).to_dict(), Scores(tally + tally).to_dict()
    for name in ("precision", "recall", "f1", "imq", "irq", "f1q", "amq", "omq", "omq_imq", "quality", "variance"):
        assert twice[name] == near(one[name])


@given(tallies())
def test_a_spurious_or_missing_item_never_raises_a_score(tally):
    one = Scores(tally)
    for worse in (Scores(tally + Tally(0, 1)), Scores(tally + Tally(1, 0))):
        assert worse.f1q <= (1.0 if one.f1q is None else one.f1q)
        assert worse.quality <= one.quality
    assert Scores(tally + Tally(0, 1)).irq == one.irq
    assert Scores(tally + Tally(1, 0)).imq == one.imq


@given(matchings())
def test_the_area_under_a_curve_is_the_closed_form(matching):
    qualities, gold, predicted = matching
    curve = Curve.of(qualities, gold, predicted)
    one = Scores(Tally(gold, predicted, len(qualities), math.fsum(qualities)))
    assert curve.area == near(one.quality_mass)
    for score, normaliser in ((one.irq, gold), (one.imq, predicted), (one.f1q, (gold + predicted) / 2)):
        if normaliser:
            assert curve.area / normaliser == near(score)


@given(matchings(), st.floats(0, 1))
def test_a_point_of_the_curve_counts_pairs_of_at_least_its_quality(matching, threshold):
    qualities, gold, predicted = matching
    found = [quality for quality in qualities if quality >= threshold]
    point = Curve.of(qualities, gold, predicted).at(threshold)
    expected = Scores(Tally(gold, predicted, len(found), math.fsum(found)))
    assert (point.precision, point.recall, point.f1) == (expected.precision, expected.recall, expected.f1)
    assert point.pq == near(expected.f1q)


@given(matchings())
def test_a_curve_never_rises(matching):
    curve = Curve.of(*matching)
    surviving = [curve.surviving(threshold) for threshold in np.linspace(0, 1, 21)]
    assert surviving == sorted(surviving, reverse=True)
    assert surviving[0] == len(matching[0])


@given(st.lists(matchings(), max_size=5), st.randoms(use_true_random=False))
def test_curves_of_parts_add_up_to_the_curve_of_all_pairs(parts, random):
    gold, predicted = (float(sum(part[side] for part in parts)) for side in (1, 2))
    whole = Curve.of([quality for qualities, _, _ in parts for quality in qualities], gold, predicted)
    accumulator = CurveAccumulator()
    for qualities, _, _ in random.sample(parts, len(parts)):
        accumulator.add(np.array(qualities, dtype=np.float64), np.ones(len(qualities)))
    assert accumulator.curve(gold, predicted).to_dict() == whole.to_dict()


@given(matchings())
def test_the_published_quadrature_is_off_by_less_than_a_step(matching):
    qualities, gold, _ = matching
    if not gold:
        return
    thresholds = np.linspace(0, 1, 1000)
    published = sum(int((quality >= thresholds).sum()) for quality in qualities) / 1000 / gold
    assert abs(published - math.fsum(qualities) / gold) <= len(qualities) / (1000 * gold) + 1e-12


ROUNDING = 1e-9
slow = settings(suppress_health_check=list(HealthCheck))


def counted(comparison):
    """The outcomes by path and name, from the nodes of the comparison as JSON, one after the other."""
    nodes, counts = comparison.to_dict()["nodes"], Counter()
    scales, inside = [], []
    for node in nodes:
        parent = node["parent"]
        scales.append(node.get("mass", 1.0) * (1.0 if parent is None else scales[parent]))
        mismatch = node["gold_kind"] and node["predicted_kind"] and node["gold_kind"] != node["predicted_kind"]
        inside.append(bool(mismatch and not node["leaf"]) or (parent is not None and inside[parent]))
        container = not node["leaf"] and not node["item"]
        empty = {side: container and not node["tally"][side] and not mismatch for side in ("gold", "predicted")}
        gold, predicted = (node[side] is not None and (not container or empty[side]) for side in ("gold", "predicted"))
        if node["item"] and node["inner"]:
            continue
        if gold and predicted:
            quality = node["quality"]
            name = "exact" if quality >= 1 else "close" if quality >= comparison.close else "wrong"
            names = ("wrong_type", "wrong_type_predicted") if mismatch else (name,)
        elif gold:
            names = ("wrong_type",) if inside[-1] else ("missing",)
        else:
            names = (("wrong_type_predicted",) if inside[-1] else ("spurious",)) if predicted else ()
        counts.update({(node["path"], name): scales[-1] for name in names})
    return {key: mass for key, mass in counts.items() if mass}


@slow
@given(case=cases() | cases(ties=False) | transports(solvers=SOLVERS + SMOOTH))
def test_the_outcomes_are_those_of_the_nodes_and_add_up(case):
    schema, gold, predicted = case
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    paths = comparison.by_path()
    found = {(path, name): getattr(scores, name) for path, scores in paths.items() for name in OUTCOMES}
    expected = counted(comparison)
    assert {key: mass for key, mass in found.items() if mass} == pytest.approx(expected, abs=ROUNDING)
    for scores in paths.values():
        paired = scores.exact + scores.close + scores.wrong
        assert paired + scores.wrong_type + scores.missing == pytest.approx(scores.gold, abs=ROUNDING)
        assert paired + scores.wrong_type_predicted + scores.spurious == pytest.approx(scores.predicted, abs=ROUNDING)
