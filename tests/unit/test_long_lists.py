"""Long lists are matched exactly, within a stated amount of memory and work."""

import os
import random
import signal
import threading
import tracemalloc

import numpy as np
import pytest
import scipy
from scipy.optimize import linear_sum_assignment

from arbitre import Comparator
from arbitre.distances import edit
from arbitre.engine import compare_to_levels
from arbitre.engine.solve import sparse_matching
from arbitre.engine.solve.batches import CellLimits
from arbitre.errors import SolverError
from arbitre.interpreter import call_interruptibly
from arbitre.matching import assignment
from arbitre.matching.assignment import SparsePairs

TEXT = {"type": "string"}
NUMBER = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 100}}}}
OBJECT = {"type": "object", "properties": {"id": {"type": "integer"}, "name": TEXT, "unit": TEXT}}


def lists_of(items, match="hungarian"):
    return Comparator({"type": "array", "items": items, "x-arbitre": {"match": match}}).plan


def near_duplicates(count, *, junk=0, dropped=0, seed=0):
    """Objects of about 50 bytes with one different character on either side, in another order."""
    rng = random.Random(seed)  # noqa: S311
    gold = [{"id": i, "name": f"item number {i:06d}", "unit": "piece"} for i in range(count)]
    predicted = [dict(item) for item in gold]
    for item in predicted:
        at = rng.randrange(len(item["name"]))
        item["name"] = item["name"][:at] + rng.choice("abcdef") + item["name"][at + 1 :]
    for at in rng.sample(range(count), junk):
        predicted[at] = {"id": -at, "name": "".join(rng.choices("uvwxyz", k=20)), "unit": "box"}
    rng.shuffle(predicted)
    return gold, predicted[dropped:]


def numbers(count, seed=0):
    rng = random.Random(seed)  # noqa: S311
    return [[rng.random() * 100 for _ in range(count)] for _ in range(2)]


def mass(plan, gold, predicted, **limits):
    limits = CellLimits(lazy=1, plain_lazy=0, **limits)
    return compare_to_levels(plan, [gold], [predicted], limits=limits)[0].quality[0]


@pytest.mark.parametrize(
    ("plan", "gold", "predicted"),
    [
        (lists_of(OBJECT), *near_duplicates(120)),
        (lists_of(OBJECT), *near_duplicates(120, junk=20)),
        (lists_of(OBJECT), *near_duplicates(120, dropped=30)),
        (lists_of(OBJECT), *near_duplicates(120, dropped=30)[::-1]),
        (lists_of(OBJECT, {"hungarian": {"gate": 0.7}}), *near_duplicates(120, junk=20, dropped=10)),
        (lists_of(TEXT), ["abc"] * 60 + ["abd"] * 60, ["abe"] * 100),
        (lists_of(NUMBER), *numbers(150)),
        (
            lists_of({"type": "array", "items": TEXT}),
            [[c, "x"] for c in "abcdefghij"] * 4,
            [["x", c] for c in "klmnopq"] * 4,
        ),
    ],
    ids=["near", "with junk", "short gold", "long gold", "gate", "ties", "numbers", "nested"],
)
def test_a_matching_without_a_table_is_as_good_as_with_one(plan, gold, predicted):
    whole = mass(plan, gold, predicted)
    assert mass(plan, gold, predicted, sparse=1, tile=1 << 10) == pytest.approx(whole, abs=1e-11)


def test_the_prices_prove_the_optimum_of_some_of_the_pairs():
    rng = np.random.default_rng(7)
    for size, levels in ((6, 3), (40, 2), (40, 1 << 40)):
        worth = rng.integers(0, levels, (size, size + 2)) / levels
        allowed = rng.random(worth.shape) < 0.4
        allowed[np.arange(size), np.arange(size)] = True
        rows, columns = allowed.nonzero()
        pairs = SparsePairs(worth.shape, rows, columns, worth[rows, columns])
        selected, row_prices, column_prices = pairs.solve(1e-13)
        best = linear_sum_assignment(np.where(allowed, worth, -100.0), maximize=True)
        assert pairs.worth[selected].sum() == pytest.approx(worth[best].sum(), abs=1e-11)
        assert row_prices.sum() + column_prices.sum() == pytest.approx(worth[best].sum(), abs=1e-11)
        assert (pairs.worth <= row_prices[rows] + column_prices[columns] + 1e-12).all()


@pytest.mark.parametrize("columns", [[0, 1], [1, 0]])
def test_a_matching_that_is_best_only_with_rounded_costs_is_improved(columns):
    worth = 0.5 + 2.0**-24 * np.array([[0.51, 0.0], [1.2, 0.51]])[:, columns]
    pairs = SparsePairs((2, 2), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), worth.ravel())
    assert pairs.solve(1e-13)[0].tolist() == ([1, 2] if columns == [0, 1] else [0, 3])


def test_near_duplicates_are_scanned_once_in_little_memory(monkeypatch):
    """20,000 objects on each side took 6 GB and two minutes."""
    count, scanned = 1500, []
    plan, (gold, predicted) = lists_of(OBJECT), near_duplicates(count)
    bounds = sparse_matching.upper_bounds
    monkeypatch.setattr(
        sparse_matching, "upper_bounds", lambda *a, **k: scanned.append(len(a[1].rows)) or bounds(*a, **k)
    )
    tracemalloc.start()
    mass(plan, gold, predicted, sparse=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(scanned) <= count**2
    assert peak < 8 * count**2, "less than one table of floats"


@pytest.mark.parametrize("match", [{"keyed": {"key": "id"}}, "ordered", "set"], ids=str)
def test_few_candidates_need_no_table(match):
    count = 1000
    plan, (gold, predicted) = lists_of(OBJECT, match), near_duplicates(count)
    tracemalloc.start()
    mass(plan, gold, predicted, stored=count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * count**2


def test_too_many_items_with_the_same_key_are_refused():
    plan, item = lists_of(OBJECT, {"keyed": {"key": "id"}}), {"id": 1, "name": "a"}
    with pytest.raises(
        SolverError, match=r"^Expected at most 11 pairs of items for `keyed`, got 3 x 4 at the root\n  Choose a `key`"
    ):
        mass(plan, [item] * 3 + [{"id": 2}], [{"id": 3}] + [item] * 4, stored=11)


@pytest.mark.parametrize("match", ["greedy", "sequence", "transport"])
def test_lists_beyond_the_limit_are_refused_before_anything_is_allocated(match):
    plan = Comparator(
        {"type": "object", "properties": {"a": {"type": "array", "items": TEXT, "x-arbitre": {"match": match}}}}
    ).plan
    message = f"^Expected at most 50 pairs of items for `{match}`, got 11 x 10 at /a\n  Match such lists with `keyed`"
    with pytest.raises(SolverError, match=message):
        mass(plan, {"a": list("abcdefghijk")}, {"a": list("abcdefghij")}, stored=50)


def test_a_matching_that_needs_too_many_comparisons_is_refused():
    gold, predicted = near_duplicates(40, junk=10)
    message = "^Matching 39 with 39 items needs more than 1700 comparisons of two items at the root"
    for most in (1700, 1500):
        with pytest.raises(SolverError, match=message.replace("1700", str(most))):
            mass(lists_of(OBJECT), gold, predicted, sparse=1, most=most)


def interrupted(call, running):
    """Send SIGINT when `running` is set; return whether `call` ended with KeyboardInterrupt."""
    sender = threading.Thread(target=lambda: running.wait() and os.kill(os.getpid(), signal.SIGINT))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # the processes of pytest-xdist ignore it
    sender.start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        running.set()
        sender.join()
        signal.signal(signal.SIGINT, handler)
    return False


@pytest.mark.parametrize("library", ["scipy", "rapidfuzz"])
def test_native_calls_are_interrupted_before_they_return(library, monkeypatch):
    running, never = threading.Event(), threading.Event()

    def endless(*_, **__):
        running.set()
        never.wait(60)

    if library == "scipy":
        monkeypatch.setattr(assignment, "INTERRUPTIBLE_CELLS", 4)
        monkeypatch.setattr(scipy.optimize, "linear_sum_assignment", endless)
        assert interrupted(lambda: assignment.hungarian(np.eye(2)), running)
    else:
        monkeypatch.setattr(edit, "INTERRUPTIBLE_CHARACTERS", 8)
        monkeypatch.setattr(edit.process, "cpdist", endless)
        assert interrupted(lambda: edit.YUJIAN_BO("abc", "abd"), running)
    never.set()


def test_an_interruptible_call_returns_its_result_and_raises_its_exception():
    assert call_interruptibly(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        call_interruptibly(lambda: 1 // 0)
