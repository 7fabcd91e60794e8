"""The scores of a tally: formulas, edge cases and means, compared with published figures."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arbitre import Scores, Tally
from arbitre.errors import OptionError
from arbitre.statistics.sample import means
from arbitre.tally import ABSENCES, COUNTS, NAMES, OUTCOMES, RATES, PathScores


def scores(*masses):
    return Scores(Tally(*masses))


def of_pairs(qualities, gold, predicted):
    return scores(gold, predicted, len(qualities), sum(qualities), sum(q * q for q in qualities))


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # qualities .7 .6 .93 .8 of 4 gold and 5 predicted entries
        ("precision", 4 / 5),
        ("recall", 1),
        ("f1", 8 / 9),
        ("imq", 3.03 / 5),
        ("irq", 3.03 / 4),
        ("f1q", 6.06 / 9),
        ("amq", 0.7575),
        ("omq", 3 / (5 / 4 + 1 + 1 / 0.7575)),
        ("omq_imq", 3 / (5 / 3.03 + 1 + 1 / 0.7575)),
        ("quality", 3.03 / 5),
        ("variance", (0.49 + 0.36 + 0.8649 + 0.64) / 4 - 0.7575**2),
        ("quality_mass", 3.03),
    ],
)
def test_each_score_has_its_known_value(name, expected):
    assert getattr(of_pairs([0.7, 0.6, 0.93, 0.8], 4, 5), name) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("masses", "expected"),
    [  # gold, predicted, matched, quality; then imq, irq, f1q, amq, omq, omq_imq, quality
        ((0, 0, 0, 0), (None, None, None, None, None, None, 1)),
        ((0, 3, 0, 0), (0, None, 0, None, 0, 0, 0)),
        ((3, 0, 0, 0), (None, 0, 0, None, 0, 0, 0)),
        ((3, 3, 0, 0), (0, 0, 0, None, 0, 0, 0)),
        ((3, 3, 3, 0), (0, 0, 0, 0, 0, 0, 0)),
        ((3, 3, 3, 3), (1, 1, 1, 1, 1, 1, 1)),
        ((2, 4, 2, 1), (1 / 4, 1 / 2, 1 / 3, 1 / 2, 3 / 5, 3 / 7, 1 / 4)),
        ((0.5, 0.25, 0.25, 0.25), (1, 0.5, 2 / 3, 1, 3 / 4, 3 / 4, 1 / 2)),
    ],
)
def test_a_score_without_denominator_is_none_never_zero(masses, expected):
    found = scores(*masses)
    names = ("imq", "irq", "f1q", "amq", "omq", "omq_imq", "quality")
    assert tuple(getattr(found, name) for name in names) == pytest.approx(expected)
    assert found.vacuous is (masses[:2] == (0, 0))


def test_beta_weighs_missing_against_spurious_items():
    omits, invents = scores(4, 2, 2, 2), scores(2, 4, 2, 2)
    assert omits.fq(1) == invents.fq(1) == pytest.approx(2 / 3)
    assert omits.fq(2) == invents.fq(0.5) == pytest.approx(5 * 2 / (4 * 4 + 2))
    assert omits.fq(2) < omits.fq(1) < omits.fq(0.5)
    for beta in (0, -1, float("nan")):
        with pytest.raises(OptionError, match="Expected `beta` to be a positive number"):
            omits.fq(beta)


def test_variance_is_none_if_the_squares_are_unknown():
    assert of_pairs([1, 0], 2, 2).variance == 0.25
    assert of_pairs([0.5, 0.5, 0.5], 3, 3).variance == 0.0
    assert 0.0 <= of_pairs([0.3, 0.3, 0.3], 3, 3).variance < 1e-15
    assert scores(2, 2, 2, 1, None).variance is None
    assert scores(2, 2, 0, 0).variance is None


def test_tallies_add_up():
    assert Tally(1, 2, 1, 0.5, 0.25) + Tally(2, 1, 1, 0.25, 0.0625) == Tally(3, 3, 2, 0.75, 0.3125)
    assert (Tally(1, 1, 1, 1, None) + Tally(1, 1, 1, 1, 1)).quality_sq is None
    assert Tally.sum([Tally(1, 1, 1, 1, None), Tally()]).quality_sq is None
    assert Tally.sum([]) == Tally() == Tally(0, 0, 0, 0, 0)
    assert Tally().vacuous
    assert not Tally(0, 1).vacuous


def test_a_sum_is_rounded_once():
    parts = [Tally(1, 1, 1, 0.1, 0.01)] * 10
    assert Tally.sum(parts).quality == 1.0
    assert sum(parts, Tally()).quality == 0.9999999999999999


def test_tallies_are_immutable_and_compare_by_value():
    assert len({Tally(1, 2), Tally(1, 2), Tally(2, 1)}) == 2
    assert Tally(1, 2).scores == Scores(Tally(1, 2))
    with pytest.raises(AttributeError):
        Tally().gold = 1


def test_plain_json_has_every_score():
    plain = scores(2, 0, 0, 0).to_dict()
    assert list(plain) == ["gold", "predicted", "matched", "quality_mass", *NAMES]
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["irq"], plain["imq"]) == (0, None)


def mean(*tallies, failed=0):
    """The mean scores of documents, the last of which failed."""
    rows = np.array([(*tally, np.nan) for tally in tallies])
    return means(rows, np.arange(len(rows)) >= len(rows) - failed)


def test_without_values_every_outcome_of_a_path_is_zero():
    plain = PathScores(Tally()).to_dict()
    assert {plain[name] for name in (*COUNTS, *OUTCOMES, *ABSENCES)} == {0.0}
    assert {plain[name] for name in RATES} == {None}


def test_macro_is_the_mean_of_the_documents():
    macro = mean((2, 2, 2, 2), (4, 2, 2, 1), (0, 0, 0, 0), (0, 2, 0, 0))
    assert macro.f1q == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert macro.irq == pytest.approx((1 + 1 / 4) / 2)
    assert macro.imq == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert (macro.documents["f1q"], macro.documents["irq"], macro.documents["imq"]) == (3, 2, 3)
    assert (macro.gold, macro.predicted) == (2, 2)
    assert (macro.vacuous, macro.failed) == (1, 0)


def test_a_failure_is_zero_in_every_mean_even_with_empty_gold():
    for lost in ((3, 0, 0, 0), (0, 0, 0, 0)):
        macro = mean((2, 2, 2, 2), lost, failed=1)
        assert {name: getattr(macro, name) for name in NAMES if name != "variance"} == dict.fromkeys(
            [name for name in NAMES if name != "variance"], 0.5
        )
        assert macro.documents["imq"] == macro.documents["f1q"] == 2
        assert (macro.vacuous, macro.failed) == (0, 1)


def test_a_mean_of_no_documents_is_none():
    macro = mean((0, 0, 0, 0))
    assert set(macro.to_dict().values()) == {None}
    assert set(macro.documents.values()) == {0}
    with pytest.raises(AttributeError, match="has no score 'accuracy'"):
        _ = macro.accuracy
