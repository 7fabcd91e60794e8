"""Transport plans on small tables: their values, their errors, and their options in a schema."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import ot
import pytest

from arbitre import Comparator
from arbitre.errors import ArbitreError, SchemaError, SolverError
from arbitre.matching import Coupling, catalogue
from arbitre.matching.coupling import transport_1d
from arbitre.matching.transport import gromov, import_pot, solver_errors, transport, transport_all
from arbitre.matching.transport_options import (
    DummySolver,
    ExactSolver,
    MarginalPenalty,
    MassScheme,
    PartialSolver,
    SinkhornSolver,
    TransportOptions,
    UnbalancedSolver,
)

MERGED = 1.0 - np.array([[3 / 7, 1.0], [1 / 14, 1.0], [1.0, 0.0]])
"""Gold A, B and C; predicted AB, which merges two, and C."""
EVERY = [
    ExactSolver(),
    SinkhornSolver(),
    SinkhornSolver(debiased=True),
    PartialSolver(),
    PartialSolver(mass=0.5),
    UnbalancedSolver(),
    DummySolver(),
]
EVERY += [UnbalancedSolver(penalty=MarginalPenalty.TV)]
SQUARE = np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.1], [0.2, 0.3, 0.4]])


def solve(tables, how, masses=None, within=None):
    """`transport_all` on tables, with uniform masses where none are given; problem p stands at /p."""
    heights = np.array([table.shape[0] for table in tables])
    widths = np.array([table.shape[1] for table in tables])
    flat = np.concatenate([np.ravel(table) for table in tables]).astype(float)
    gold, predicted = masses or (np.ones(heights.sum()), np.ones(widths.sum()))
    if within is None and how.debiased:
        within = [np.concatenate([np.eye(side).ravel() for side in sides]) for sides in (heights, widths)]
    return transport_all(flat, heights, widths, gold, predicted, how, name="/{}".format, within=within)


def one(quality, solver, gold=None, predicted=None):
    n, m = quality.shape
    masses = (np.ones(n) if gold is None else np.array(gold), np.ones(m) if predicted is None else np.array(predicted))
    return transport(quality, how=TransportOptions(solver), masses=masses)


# what the plans are


def test_balanced_plans_spread_a_missing_item_over_all():
    coupling = one(MERGED, ExactSolver())
    assert coupling.matrix == pytest.approx(np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]), abs=1e-12)
    assert solve([MERGED], TransportOptions()).cost == pytest.approx([0.262], abs=5e-4)


def test_size_masses_show_a_merge_in_the_plan():
    coupling = one(MERGED, ExactSolver(), [1.0, 6.0, 2.0], [7.0, 2.0])
    assert coupling.matrix * 3 == pytest.approx(np.array([[1.0, 0.0], [6.0, 0.0], [0.0, 2.0]]), abs=1e-12)
    assert list(zip(coupling.gold.tolist(), coupling.predicted.tolist(), strict=True)) == [(0, 0), (1, 0), (2, 1)]
    assert coupling.unmatched_gold == pytest.approx([0, 0, 0], abs=1e-12)
    assert coupling.unmatched_predicted == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize(("reg_m", "first", "second"), [(0.05, 0.00, 0.49), (0.2, 0.13, 0.77), (1.0, 0.52, 0.74)])
def test_a_higher_price_of_mass_turns_an_omission_into_a_merge(reg_m, first, second):
    matrix = one(MERGED, UnbalancedSolver(reg_m=reg_m, tolerance=1e-9)).matrix
    merged = max(first + second, 1.0)  # of AB no more than there is
    assert matrix[:2, 0] == pytest.approx([first / merged, second / merged], abs=6e-3)


@pytest.mark.parametrize(
    ("solver", "expected"),
    [
        (PartialSolver(), [[0, 0], [1, 0], [0, 1]]),
        (PartialSolver(mass=0.5), [[0, 0], [0, 0], [0, 1]]),
        (PartialSolver(mass=0.75), [[0, 0], [0.5, 0], [0, 1]]),
        (DummySolver(), [[0, 0], [1, 0], [0, 1]]),
        (DummySolver(lambda_=1 / 29), [[0, 0], [0, 0], [0, 1]]),
        (DummySolver(lambda_=1 / 27), [[0, 0], [1, 0], [0, 1]]),
        (UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=1 / 29), [[0, 0], [0, 0], [0, 1]]),
    ],
)
def test_mass_is_left_out_where_it_costs_least(solver, expected):
    assert one(MERGED, solver).matrix == pytest.approx(np.array(expected, dtype=float), abs=1e-12)


@pytest.mark.parametrize(
    "solver", [DummySolver(lambda_=0.125), UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=0.125)]
)
def test_a_pair_that_costs_as_much_as_leaving_it_out_is_not_made(solver):
    plans = solve([np.array([[0.75]]), np.array([[0.7500001]])], TransportOptions(solver))
    assert plans.problems.tolist() == [1]


@pytest.mark.parametrize(
    "solver", [DummySolver, lambda price: UnbalancedSolver(penalty=MarginalPenalty.TV, reg_m=price)]
)
def test_an_integer_price_does_not_round_the_costs(solver):
    quality = np.array([[0.6, 0.3], [0.4, 0.5], [0.1, 0.2]])
    matrices = [one(quality, solver(price)).matrix for price in (1, 1.0)]
    assert np.array_equal(*matrices)


def test_an_integer_option_is_the_number_that_it_equals():
    schemas = [
        {"type": "array", "x-arbitre": {"match": {"transport": {"solver": "dummy", "lambda": at}}}} for at in (1, 1.0)
    ]
    first, second = map(Comparator, schemas)
    assert first.plan.signature == second.plan.signature


def test_among_equal_costs_the_plan_with_most_mass_wins():
    plans = solve([np.array([[0.75, 1.0], [0.0, 0.75]])], TransportOptions(DummySolver(lambda_=0.25)))
    assert (plans.matched.tolist(), plans.total.tolist()) == ([2.0], [1.5])


def test_no_item_is_coupled_beyond_its_mass():
    plans = solve([np.ones((1, 3))], TransportOptions(UnbalancedSolver()))
    assert plans.mass == pytest.approx([1 / 3] * 3)
    assert plans.matched == pytest.approx([1.0])
    assert plans.excess == pytest.approx([np.sqrt(3.0) - 1.0], abs=1e-4)


@pytest.mark.parametrize("solver", EVERY, ids=str)
def test_an_empty_side_has_no_pairs(solver):
    plans = solve([np.zeros((0, 2)), np.ones((1, 1)), np.zeros((3, 0)), np.zeros((0, 0))], TransportOptions(solver))
    assert set(plans.problems.tolist()) == {1}
    assert plans.cells.tolist() == [0]
    assert (plans.total[[0, 2, 3]].tolist(), plans.matched[[0, 2, 3]].tolist()) == ([0.0] * 3, [0.0] * 3)
    assert np.isnan(plans.cost[[0, 2, 3]]).all()


def test_a_single_row_or_column_needs_no_solver(monkeypatch):
    monkeypatch.delattr(ot, "emd")
    plans = solve(
        [np.array([[0.2, 0.6]]), np.array([[0.2], [0.6], [1.0]])],
        TransportOptions(),
        (np.array([5.0, 1.0, 2.0, 1.0]), np.array([1.0, 3.0, 7.0])),
    )
    assert plans.cells.tolist() == [0, 1, 2, 3, 4]
    assert plans.mass == pytest.approx([0.25, 0.75, 0.75, 1.5, 0.75])
    assert plans.total == pytest.approx([0.25 * 0.2 + 0.75 * 0.6, 0.75 * 0.2 + 1.5 * 0.6 + 0.75])


def test_equal_problems_are_solved_once(monkeypatch):
    seen = []
    emd = ot.emd
    monkeypatch.setattr(ot, "emd", lambda *given, **more: seen.append(1) or emd(*given, **more))
    plans = solve([MERGED, MERGED, MERGED.T, MERGED], TransportOptions(DummySolver()))
    assert len(seen) == 2
    assert plans.total[0] == plans.total[1] == plans.total[3]


def test_equal_masses_in_any_unit_are_uniform(monkeypatch):
    monkeypatch.delattr(ot, "emd")
    plans = solve([SQUARE], TransportOptions(), (np.full(3, 0.1), np.full(3, 49.0)))
    assert (plans.cells.tolist(), plans.mass.tolist(), plans.total) == ([0, 4, 8], [1.0] * 3, pytest.approx([2.1]))


def test_negligible_masses_are_dropped():
    plans = solve([np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])], TransportOptions(SinkhornSolver(epsilon=0.03)))
    kernel = np.exp(-1.0 / 0.03)
    assert kernel < 1e-12
    assert plans.cells.tolist() == [0, 1, 2, 4, 5]  # of the first column, all but the mass of the second row
    assert plans.matched.tolist() == [2.0]


def test_the_entropic_plan_converges_for_equal_lists():
    plans = solve(
        [np.eye(2)], TransportOptions(SinkhornSolver(epsilon=0.02)), (np.array([1.0, 2.0]), np.array([2.0, 1.0]))
    )
    assert plans.cost == pytest.approx([1 / 3])


def test_equal_lists_have_debiased_distance_zero():
    table = np.array([[1.0, 0.6, 0.2], [0.6, 1.0, 0.5], [0.2, 0.5, 1.0]])
    plain = solve([table], TransportOptions(SinkhornSolver(epsilon=0.2)))
    debiased = solve(
        [table], TransportOptions(SinkhornSolver(epsilon=0.2, debiased=True)), within=(table.ravel(), table.ravel())
    )
    assert plain.cost[0] > 0.05
    assert debiased.cost.tolist() == [0.0]
    assert debiased.mass.tolist() == plain.mass.tolist()


def test_numbers_on_a_line_are_coupled_in_order():
    coupling = transport_1d(np.array([3.0, 1.0]), np.array([2.0, 9.0, 1.0]), np.ones(2), np.array([1.0, 2.0, 1.0]))
    assert coupling.matrix == pytest.approx(np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]))
    assert coupling.unmatched_predicted == pytest.approx([0, 0, 0], abs=1e-12)
    empty = transport_1d(np.zeros(0), np.ones(2), np.zeros(0), np.ones(2))
    assert (len(empty.mass), empty.spurious.tolist()) == (0, [0, 1])


def test_a_coupling_exposes_its_plan():
    coupling = Coupling.of([1, 0, 1], [2, 0, 0], (3, 3), np.array([0.5, 0.25, 0.5]))
    assert coupling.gold.tolist() == [0, 1, 1]
    assert coupling.predicted.tolist() == [0, 0, 2]
    assert coupling.matrix.tolist() == [[0.25, 0, 0], [0.5, 0, 0.5], [0, 0, 0]]
    assert coupling.row_shares.tolist() == [[1, 0, 0], [0.5, 0, 0.5], [0, 0, 0]]
    assert coupling.column_shares == pytest.approx(np.array([[1 / 3, 0, 0], [2 / 3, 0, 1], [0, 0, 0]]))
    gold, predicted = coupling.partners
    assert gold == pytest.approx([1.0, 2.0, 0.0])
    assert predicted == pytest.approx([3.0 / 2.0 ** (2 / 3), 0.0, 1.0])
    assert (coupling.missing.tolist(), coupling.spurious.tolist()) == ([2], [1])
    assert coupling.unmatched_gold.tolist() == [0.75, 0.0, 1.0]
    assert coupling.unmatched_predicted.tolist() == [0.25, 1.0, 0.5]


def test_without_masses_every_pair_of_a_coupling_has_mass_one():
    coupling = Coupling.of([2, 0], [1, 3], (3, 4))
    assert (coupling.gold.tolist(), coupling.mass.tolist()) == ([0, 2], [1.0, 1.0])
    assert coupling.unmatched_gold.tolist() == [0.0, 1.0, 0.0]


def test_pot_is_loaded_on_first_use():
    code = "import arbitre, sys; from arbitre.matching import catalogue; catalogue.build('transport'); print('ot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"


def test_a_warning_about_the_source_of_pot_is_not_shown(tmp_path, monkeypatch):
    (tmp_path / "ot.py").write_text(r'"\d"', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ot")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_pot().__file__ == str(tmp_path / "ot.py")


@pytest.mark.parametrize("masses", ["w", "/size/words"])
def test_an_ignored_field_can_be_the_mass_of_an_item(masses):
    def made(annotation):
        return Comparator(
            {
                "type": "array",
                "x-arbitre": {"match": {"transport": {"masses": masses}}},
                "items": {
                    "type": "object",
                    "properties": {"n": {"type": "string"}, "w": annotation, "size": annotation},
                },
            }
        )

    gold = [{"n": "a", "w": 3, "size": {"words": 3}}, {"n": "b", "w": 1, "size": {"words": 1}}]
    predicted = [{"n": "a", "w": 1, "size": {"words": 1}}, {"n": "b", "w": 3, "size": {"words": 3}}]
    ignored, compared = made({"x-arbitre": {"ignore": True}}), made({"x-arbitre": {"weight": 1e-9}})
    pairs = [(gold, predicted), (gold, gold), (gold, predicted[:1]), ([gold[0] | {"w": 2**53}], gold)]
    for pair in pairs:
        scores = [one.compare(gold=pair[0], predicted=pair[1]).scores for one in (ignored, compared)]
        assert scores[0].f1q == pytest.approx(scores[1].f1q, abs=1e-6)
    assert ignored.compare(gold=gold, predicted=predicted).scores.f1q == pytest.approx(
        0.5 + 0.5 / 3
    )  # half moves from "a" to "b"
    for wrong in (None, "3", True, [3], 0.0):
        broken = [gold[0], {"n": "b", "w": wrong, "size": {"words": wrong}}]
        for side, lists in {"gold": (broken, gold), "predicted": (gold, broken)}.items():
            with pytest.raises(SolverError) as caught:
                ignored.compare(gold=lists[0], predicted=lists[1])
            field = "/" + masses.removeprefix("/")
            stated = f"Expected the mass {field} of a {side} item to be a positive number, got {json.dumps(wrong)}"
            assert (caught.value.message, caught.value.pointer) == (stated, "/1")


@pytest.mark.parametrize(("value", "shown"), [(10**309, "inf"), (-(10**309), "-inf")], ids=["positive", "negative"])
@pytest.mark.parametrize("ignore", [True, False])
def test_a_mass_beyond_the_range_of_floats_is_a_failure_of_its_document(value, shown, ignore):
    fields = {"n": {"type": "string"}, "w": {"type": "integer", "x-arbitre": {"ignore": ignore}}}
    schema = {
        "type": "array",
        "x-arbitre": {"match": {"transport": {"masses": "w"}}},
        "items": {"type": "object", "properties": fields},
    }
    gold = [{"n": "a", "w": 1}, {"n": "b", "w": 2}]
    huge = [{"n": "a", "w": value}, {"n": "b", "w": 2}]
    failures = Comparator(schema).evaluate([("good", gold, gold), ("bad", gold, huge)]).failures
    assert [(one.side, one.id, one.pointer) for one in failures] == [("predicted", "bad", "/0")]
    assert failures[0].reason.endswith(f"positive number, got {shown}")


def test_a_text_that_is_normalised_to_a_number_can_be_a_mass():
    weight = {"type": ["number", "string"], "x-arbitre": {"normalize": ["number"], "weight": 1e-9}}
    schema = {
        "type": "array",
        "x-arbitre": {"match": {"transport": {"masses": "w"}}},
        "items": {"type": "object", "properties": {"n": {"type": "string"}, "w": weight}},
    }
    predicted = [{"n": "a", "w": 1}, {"n": "b", "w": 1}]
    qualities = [
        Comparator(schema).compare(gold=[{"n": "a", "w": 400}, {"n": "b", "w": wide}], predicted=predicted).quality
        for wide in (1200, "1 200")
    ]
    assert qualities == pytest.approx([5 / 6, 5 / 6])  # a quarter of the mass moves at the cost 2/3


# what they refuse


@pytest.mark.parametrize("solver", EVERY, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.1, 1.1])
def test_an_invalid_quality_is_refused(solver, value):
    broken = MERGED.copy()
    broken[2, 1] = value
    with pytest.raises(SolverError, match="Expected the quality of a pair to be in") as caught:
        solve([MERGED, np.zeros((0, 3)), broken], TransportOptions(solver))
    assert caught.value.pointer == "/2"


@pytest.mark.parametrize("solver", EVERY, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0])
def test_an_invalid_mass_is_refused(solver, value):
    with pytest.raises(
        SolverError, match=f"Expected the mass of an item to be a positive number, got {value}"
    ) as caught:
        solve([MERGED, MERGED], TransportOptions(solver), (np.array([1.0, 1.0, 1.0, 1.0, value, 1.0]), np.ones(4)))
    assert (caught.value.pointer, caught.value.hint is None) == ("/1", False)
    with pytest.raises(SolverError) as caught:
        solve([MERGED, MERGED], TransportOptions(solver), (np.ones(6), np.array([1.0, value, 1.0, 1.0])))
    assert caught.value.pointer == "/0"


def test_arrays_of_the_wrong_size_are_refused():
    how, two = TransportOptions(), np.array([2])
    with pytest.raises(SolverError, match="Expected an array of 4 qualities"):
        transport_all(np.ones(3), two, two, np.ones(2), np.ones(2), how, name=str)
    with pytest.raises(SolverError, match="Expected 2 masses"):
        transport_all(np.ones(4), two, two, np.ones(3), np.ones(2), how, name=str)
    with pytest.raises(SolverError, match="requires `within`"):
        transport_all(
            np.ones(4), two, two, np.ones(2), np.ones(2), TransportOptions(SinkhornSolver(debiased=True)), name=str
        )
    with pytest.raises(SolverError, match="requires that every pair is allowed"):
        transport(np.ones((1, 2)), np.array([[True, False]]), how=how)
    with pytest.raises(SolverError, match="requires `masses`"):
        transport(np.ones((1, 2)), how=TransportOptions(masses=MassScheme.SIZE))
    with pytest.raises(SolverError, match="Expected all values to be finite"):
        transport_1d(np.array([np.nan]), np.ones(1), np.ones(1), np.ones(1))


@pytest.mark.parametrize(
    "solver",
    [
        ExactSolver(max_iterations=1),
        PartialSolver(max_iterations=1),
        DummySolver(max_iterations=1),
        SinkhornSolver(epsilon=0.01, max_iterations=3),
        UnbalancedSolver(max_iterations=1, tolerance=1e-12),
        UnbalancedSolver(penalty=MarginalPenalty.TV, max_iterations=1),
    ],
    ids=str,
)
def test_a_solver_that_does_not_converge_is_an_error(solver):
    table = np.random.default_rng(0).random((12, 9))
    with pytest.raises(
        SolverError, match=f"The {type(solver).__name__.removesuffix('Solver').lower()} transport did not reach"
    ) as caught:
        solve([np.ones((1, 1)), table], TransportOptions(solver))
    assert caught.value.pointer == "/1"
    assert "max_iterations" in caught.value.hint


NOTHING = {"warning": None, "u": np.zeros(3), "v": np.zeros(2)}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((np.full((3, 2), np.nan), NOTHING), "the plan contains negative or non-finite masses"),
        ((np.zeros((3, 2)), NOTHING), "a marginal has an error of 1.5"),
        ((np.array([[4.0, -2.0], [0, 2], [0, 2]]), NOTHING), "the plan contains negative or non-finite masses"),
        ((np.ones((3, 2)), NOTHING | {"warning": "it is infeasible"}), "it is infeasible"),
    ],
)
def test_an_impossible_solver_result_is_an_error(monkeypatch, answer, message):
    monkeypatch.setattr(ot, "emd", lambda *_, **__: answer)
    with pytest.raises(SolverError, match=message):
        solve([MERGED], TransportOptions())


# what a schema may say


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, TransportOptions()),
        ({"masses": "size"}, TransportOptions(ExactSolver(), MassScheme.SIZE)),
        ({"masses": "pages"}, TransportOptions(ExactSolver(), ("pages",))),
        ({"masses": "/meta/page~1s"}, TransportOptions(ExactSolver(), ("meta", "page/s"))),
        ({"masses": "/size"}, TransportOptions(ExactSolver(), ("size",))),
        (
            {"solver": "sinkhorn", "epsilon": 0.2, "debiased": True},
            TransportOptions(SinkhornSolver(0.2, debiased=True)),
        ),
        ({"solver": "partial", "mass": 0.5}, TransportOptions(PartialSolver(mass=0.5))),
        (
            {"solver": "unbalanced", "penalty": "tv", "reg_m": 2},
            TransportOptions(UnbalancedSolver(MarginalPenalty.TV, 2.0)),
        ),
        ({"solver": "dummy", "lambda": 0.25, "max_iterations": 1e6}, TransportOptions(DummySolver(0.25))),
        ({"solver": "exact", "tolerance": 1e-6}, TransportOptions(ExactSolver(tolerance=1e-6))),
    ],
)
def test_transport_options_are_resolved_with_their_defaults(options, expected):
    matcher = catalogue.build({"transport": options})
    assert matcher.transport == expected
    assert (matcher.metric, matcher.separating, matcher.full_matching) == (
        expected.solver == ExactSolver() or "tolerance" in options,
        False,
        False,
    )


def test_the_signature_holds_all_options_as_plain_values():
    options = catalogue.build({"transport": {"solver": "unbalanced"}}).options
    assert (
        json.loads(json.dumps(options))
        == options
        == {
            "solver": "unbalanced",
            "masses": "uniform",
            "penalty": "kl",
            "reg_m": 0.5,
            "max_iterations": 100_000,
            "tolerance": 1e-9,
        }
    )
    assert type(options["penalty"]) is str


@pytest.mark.parametrize("name", ["hungarian", "greedy", "ordered", "sequence", "set"])
def test_the_other_matchings_separate_and_move_no_mass(name):
    matcher = catalogue.build(name)
    assert (matcher.separating, matcher.transport) == (True, None)


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (
            {"epsilon": 0.1},
            [
                "Expected `epsilon` to be absent with the solver exact, got 0.1 at /transport/epsilon\n  It is an option of the solver sinkhorn."
            ],
        ),
        (
            {"solver": "dummy", "reg_m": 1, "mass": 1},
            [
                "Expected `mass` to be absent with the solver dummy",
                "Expected `reg_m` to be absent with the solver dummy",
            ],
        ),
        ({"solver": "sinkhorn", "epsilon": 0}, ["Expected `epsilon` to be greater than 0, got 0"]),
        ({"solver": "partial", "mass": 1.5}, ["Expected `mass` to be at most 1, got 1.5"]),
        ({"solver": "simplex"}, ["Expected `solver` to be one of exact or sinkhorn or partial or unbalanced or dummy"]),
        ({"solver": "unbalanced", "penalty": "l2"}, ["Expected `penalty` to be one of kl or tv"]),
        ({"masses": ""}, ["Expected `masses`"]),
        ({"lamda": 1}, ['Did you mean "lambda"?']),
    ],
)
def test_invalid_options_are_refused(options, messages):
    with pytest.raises(SchemaError) as caught:
        catalogue.build({"transport": options})
    assert len(caught.value.problems) == len(messages)
    for problem, message in zip(caught.value.problems, messages, strict=True):
        assert message in str(problem)


NAMED = {"type": "object", "properties": {"name": {"type": "string"}, "words": {"x-arbitre": {"ignore": True}}}}


@pytest.mark.parametrize(
    ("items", "masses", "hint"),
    [
        (NAMED, "wrds", 'Did you mean "words"? Also available: name.'),
        (NAMED, "/meta/words", 'Did you mean "/words"? Also available: /name.'),
        (
            NAMED,
            "size of it",
            'Available: name, words. Declare the field. If it is used only for masses, also set `"ignore": true` on it.',
        ),
        (
            {"type": "object", "properties": {"meta": NAMED, "id": {"type": "integer"}}},
            "/meta/wrds",
            'Did you mean "/meta/words"? Also available: /meta/name.',
        ),
        (
            {"patternProperties": {"^n": {"type": "number"}}},
            "w",
            'Declare the field. If it is used only for masses, also set `"ignore": true` on it.',
        ),
        (
            {"type": ["string", "null"]},
            "w",
            'Declare the field. If it is used only for masses, also set `"ignore": true` on it.',
        ),
    ],
)
def test_a_mass_field_that_the_items_do_not_declare_is_an_error_of_the_schema(items, masses, hint):
    match = {"match": {"transport": {"masses": masses}}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": items}}}
    with pytest.raises(SchemaError) as caught:
        Comparator(schema | {"properties": {"rows": schema["properties"]["rows"] | {"x-arbitre": match}}})
    (problem,) = caught.value.problems
    assert problem.message == f'Expected `masses` to name a field that the items declare, got "{masses}"'
    assert (problem.pointer, problem.hint) == ("/properties/rows/x-arbitre/match/transport/masses", hint)
    with pytest.raises(SchemaError) as caught:
        Comparator(schema, overlay={"/rows": match})
    assert [problem.pointer for problem in caught.value.problems] == ["/~1rows/match/transport/masses"]


def test_the_coupling_of_a_matching_is_its_transport_plan():
    assert catalogue.build("transport").couple(MERGED).matrix.tolist() == one(MERGED, ExactSolver()).matrix.tolist()
    debiased = catalogue.build({"transport": {"solver": "sinkhorn", "debiased": True}})
    assert debiased.couple(MERGED).matrix.tolist() == one(MERGED, SinkhornSolver()).matrix.tolist()


# distances within either list


def rings(count, seed):
    """Distances between points of the plane, at most 1, and a permuted copy."""
    random = np.random.default_rng(seed)
    points = random.random((count, 2)) / np.sqrt(2.0)
    costs = np.linalg.norm(points[:, None] - points, axis=2)
    order = random.permutation(count)
    return costs, costs[np.ix_(order, order)], order


@pytest.mark.parametrize("count", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(4))
def test_a_permuted_copy_has_distance_zero(count, seed):
    costs, permuted, order = rings(count, seed)
    found = gromov(costs, permuted)
    assert found.objective == pytest.approx(0.0, abs=1e-12)
    assert (found.alpha, found.converged) == (1.0, True)
    if count == 12:
        assert found.coupling[order, np.arange(count)] == pytest.approx(np.full(count, 1 / count))


def test_the_objective_is_the_cost_of_the_coupling_and_the_distance_its_root():
    costs, _, _ = rings(5, 0)
    other, _, _ = rings(4, 1)
    between = np.random.default_rng(2).random((5, 4))
    masses = np.array([1.0, 2.0, 3.0, 4.0])
    found = gromov(costs, other, cost=between, alpha=0.3, predicted_masses=masses)
    plan = found.coupling
    assert plan.sum(axis=1) == pytest.approx(np.full(5, 0.2))
    assert plan.sum(axis=0) == pytest.approx(masses / 10.0)
    stretch = np.einsum("ij,kl,ijkl", plan, plan, (costs[:, None, :, None] - other[None, :, None, :]) ** 2)
    assert found.objective == pytest.approx(0.7 * (between * plan).sum() + 0.3 * stretch)
    assert found.distance == pytest.approx(found.objective**0.5)
    assert found.distance > 0.0


def test_fused_without_structure_is_plain_transport():
    costs, other = rings(5, 0)[0], rings(4, 1)[0]
    quality = np.random.default_rng(2).random((5, 4))
    assert gromov(costs, other, cost=1.0 - quality, alpha=0.0).objective == pytest.approx(
        solve([quality], TransportOptions()).cost[0]
    )


def test_more_starts_never_increase_the_distance_and_a_seed_repeats_it():
    costs, other = rings(7, 3)[0], rings(6, 4)[0]
    found = [gromov(costs, other, starts=starts).distance for starts in (1, 2, 4, 16)]
    assert found == sorted(found, reverse=True)
    first, again = gromov(costs, other, seed=5), gromov(costs, other, seed=5)
    assert (first.coupling == again.coupling).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold_costs": np.ones((2, 3))}, "Expected `gold_costs` to be a non-empty square matrix"),
        ({"predicted_costs": np.full((3, 3), np.nan)}, "Expected `predicted_costs` to have finite numbers"),
        ({"predicted_costs": [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]]}, "`predicted_costs` to be a non-empty square matrix"),
        ({"gold_costs": [[0.0, 1.0], [1.0]]}, "Expected `gold_costs` to be an array of numbers, got list"),
        ({"gold_costs": np.ones((0, 0))}, "Expected `gold_costs` to be a non-empty square matrix"),
        ({"cost": np.ones((3, 2))}, r"Expected `cost` to have shape \(2, 3\), got \(3, 2\)"),
        ({"cost": np.ones((2, 3)), "alpha": 1.5}, "Expected `alpha`"),
        ({"starts": 0}, "Expected `starts` to be an integer of at least 1, got 0"),
        ({"seed": -1}, "Expected `seed` to be an integer of at least 0, got -1"),
        ({"gold_masses": np.array([1.0, 0.0])}, "Expected the mass of an item"),
        ({"gold_masses": np.ones(3)}, "Expected 2 masses"),
    ],
)
def test_tables_of_the_wrong_shape_are_refused(change, message):
    good = {"gold_costs": np.ones((2, 2)), "predicted_costs": np.ones((3, 3))}
    with pytest.raises(ArbitreError, match=message):
        gromov(**(good | change))


def test_nested_lists_are_costs():
    ring = [[0, 0.2, 0.9], [0.2, 0, 0.5], [0.9, 0.5, 0]]
    other = {"cost": [[0.5, 0.2, 0.1]] * 3, "gold_masses": [1, 2, 3], "predicted_masses": [3, 2, 1]}
    arrays = {name: np.array(values, dtype=np.float64) for name, values in other.items()}
    assert gromov(ring, ring, **other).objective == gromov(np.array(ring), np.array(ring), **arrays).objective


NAMES = ("a1", "a2", "b1", "b2", "b3")
COSTS = [[0.0 if one == other else 1.0 if one[0] == other[0] else 0.5 for other in NAMES] for one in NAMES]
"""A metric: 1 within {a1, a2} and {b1, b2, b3}, 1/2 across. Their Sinkhorn divergence is -0.07 at epsilon 10."""


class TestKernels:
    """The Sinkhorn divergence is one only where the kernel exp(-cost / epsilon) is positive semi-definite."""

    def judge(self, epsilon, *, debiased=True):
        table = {"table": {"values": list(NAMES), "costs": COSTS}}
        return Comparator(
            {
                "type": "array",
                "items": {"enum": list(NAMES), "x-arbitre": {"distance": table}},
                "x-arbitre": {"match": {"transport": {"solver": "sinkhorn", "epsilon": epsilon, "debiased": debiased}}},
            }
        )

    @pytest.mark.parametrize("epsilon", [2.0, 10.0, 100.0])
    def test_an_indefinite_kernel_is_refused(self, epsilon):
        """Each came out at quality 1, as equal, although no item of one list is an item of the other."""
        with pytest.raises(SolverError) as caught:
            self.judge(epsilon).compare(gold=["a1", "a2"], predicted=["b1", "b2", "b3"])
        assert "positive semi-definite" in caught.value.message
        assert f"exp(-cost / {epsilon:g})" in caught.value.message
        assert caught.value.pointer == ""
        assert "Lower `epsilon`" in caught.value.hint

    @pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0])
    def test_a_semi_definite_kernel_separates_the_lists(self, epsilon):
        judge = self.judge(epsilon)
        assert judge.compare(gold=["a1", "a2"], predicted=["b1", "b2", "b3"]).quality < 0.97
        assert judge.compare(gold=["a1", "b1"], predicted=["b1", "a1"]).quality == pytest.approx(1.0, abs=1e-8)

    def test_without_debiasing_an_indefinite_kernel_is_accepted(self):
        assert self.judge(10.0, debiased=False).compare(gold=["a1", "a2"], predicted=["b1", "b2", "b3"]).quality < 0.6

    def test_an_indefinite_kernel_is_reported_with_the_pointer_of_its_list(self):
        schema = {"type": "object", "properties": {"found": self.judge(10.0).schema}}
        with pytest.raises(SolverError) as caught:
            Comparator(schema).compare(gold={"found": ["a1", "a2"]}, predicted={"found": ["b1", "b2", "b3"]})
        assert caught.value.pointer == "/found"

    def test_a_distance_that_is_not_symmetric_is_refused(self):
        schema = {
            "type": "array",
            "items": {"type": "string", "x-arbitre": {"distance": "ratcliff-obershelp"}},
            "x-arbitre": {"match": {"transport": {"solver": "sinkhorn", "debiased": True}}},
        }
        with pytest.raises(SolverError, match="requires a symmetric distance"):
            Comparator(schema).compare(gold=["tide", "diet"], predicted=["tide", "diet"])

    def test_the_curve_and_the_shares_use_the_masses_of_the_plan(self):
        """As docs/transport.md says: they do not add up to the tally, which is that of the divergence."""
        lists = {"gold": ["a1", "a2", "b1"], "predicted": ["b1", "b2"]}
        for debiased in (False, True):
            found = self.judge(0.2, debiased=debiased).compare(**lists)
            told = sum(leaf.share * leaf.quality for leaf in found.explain())
            assert found.curve.area / found.scores.gold == pytest.approx(told)
            assert (told == pytest.approx(found.quality)) is not debiased
            assert sum(leaf.share for leaf in found.explain()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "solver",
    [
        {},
        {"solver": "sinkhorn"},
        {"solver": "sinkhorn", "debiased": True},
        {"solver": "partial"},
        {"solver": "unbalanced"},
        {"solver": "dummy"},
    ],
)
def test_masses_of_very_different_size_are_refused(solver):
    """An item with less than 1e-12 of the largest mass was reported missing, or gave a debiased quality of 1."""
    items = {"type": "object", "properties": {"text": {"type": "string"}, "words": {"type": "number"}}}
    judge = Comparator(
        {"type": "array", "items": items, "x-arbitre": {"match": {"transport": {"masses": "words"} | solver}}}
    )

    def listed(*sizes):
        return [{"text": f"alpha {number}", "words": size} for number, size in enumerate(sizes)]

    for gold, predicted in ((listed(1, 1e13), listed(1, 1)), (listed(1), listed(2, 1e300, 1e-5))):
        with pytest.raises(SolverError) as caught:
            judge.compare(gold=gold, predicted=predicted)
        assert caught.value.message.startswith("Expected the masses of the items of a list to differ by a factor of at")
        assert caught.value.pointer == ""
    assert 0.0 < judge.compare(gold=listed(1e-3, 1e6), predicted=listed(1e5, 1)).quality <= 1.0


def test_without_pot_only_transport_fails_and_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    words = {"type": "array", "items": {"type": "string"}}
    assert Comparator(words).compare(gold=["a", "b"], predicted=["b"]).quality == 0.5
    with pytest.raises(SolverError, match="Transport needs POT, which cannot be imported") as caught:
        Comparator(words, match="transport").compare(gold=["ab", "cb", "d"], predicted=["bb", "ba"])
    assert caught.value.hint == "Install it: pip install pot"


@pytest.mark.parametrize("solver", [ExactSolver(), PartialSolver(), SinkhornSolver(), DummySolver()])
def test_a_solver_does_not_change_how_warnings_are_handled(monkeypatch, solver):
    """Warning filters are shared by all threads, so a change would affect other threads."""
    solved, during, before = ot.emd, [], list(warnings.filters)
    monkeypatch.setattr(
        ot, "emd", lambda *args, **options: during.append(list(warnings.filters)) or solved(*args, **options)
    )
    one(MERGED, solver)
    assert during == [before]


def test_a_floating_point_error_of_a_solver_is_an_error():
    message = "The exact transport did not reach its optimum: divide by zero"
    with pytest.raises(SolverError, match=message), solver_errors(ExactSolver(), "/{}".format, 0):
        np.ones(1) / np.zeros(1)


def test_a_descent_whose_last_step_is_not_optimal_is_an_error(monkeypatch):
    descend = ot.gromov.fused_gromov_wasserstein

    def stopped(*args, **options):
        plan, log = descend(*args, **options)
        return plan, log | {"warning": "numItermax reached before optimality"}

    monkeypatch.setattr(ot.gromov, "fused_gromov_wasserstein", stopped)
    with pytest.raises(SolverError, match="The gromov transport did not reach its optimum: numItermax"):
        gromov(np.ones((2, 2)), np.ones((3, 3)))
