"""Agreement on nested documents compared with plain computations over all pairs."""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from arbitre import Comparator
from arbitre.agreement.aligned_rows import align_documents
from arbitre.agreement.alignment import NONE, AlignmentProblem, align
from arbitre.agreement.alpha_of_rows import PRECISION, Differences, alpha_parts
from arbitre.agreement.list_alignment import UNMATCHED, align_lists
from arbitre.agreement.list_gamma import gamma_parts
from arbitre.engine import compare_to_levels
from arbitre.engine.solve.batches import CellLimits
from arbitre.matching.assignment import greedy

SCHEMA = {
    "type": "object",
    "properties": {
        "speakers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "acts": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string"},
                                "pages": {"type": "array", "items": {"type": "integer"}},
                            },
                        },
                    },
                },
            },
        }
    },
}
LAZY, DENSE = CellLimits(lazy=1), CellLimits(lazy=1 << 40)


def document(source):
    def text(size):
        return "".join(source.choices("abcde ", k=size))

    def act():
        return {"text": text(source.randint(2, 30)), "pages": source.sample(range(9), source.randint(0, 4))}

    return [
        {"name": text(8), "acts": [act() for _ in range(source.randint(0, 3))]} for _ in range(source.randint(3, 7))
    ]


def misread(source, value):
    """A copy with other letters, and with items left out, added and in another order."""
    if isinstance(value, str):
        return "".join(source.choice("abcde ") if source.random() < 0.2 else letter for letter in value)
    if isinstance(value, dict):
        return {key: misread(source, each) for key, each in value.items()}
    if isinstance(value, list):
        kept = [misread(source, each) for each in value if source.random() < 0.85]
        return source.sample(kept, len(kept))
    return value


def annotations(annotators, documents, seed):
    source = random.Random(seed)  # noqa: S311
    pages = {str(number): {"speakers": document(source)} for number in range(documents)}
    return {
        f"annotator {name}": {number: misread(source, page) for number, page in pages.items() if source.random() < 0.95}
        for name in range(annotators)
    }


def lists_of(comparator, documents):
    return [part for part in align_documents(comparator.plan, documents) if part.alignments]


def distances(comparator, left, right):
    """The distances of all pairs of documents; shape (left, right)."""
    if not (left and right):
        return np.zeros((len(left), len(right)))
    first, second = zip(*product(left, right), strict=True)
    quality = compare_to_levels(comparator.plan, [*first], [*second])[0].quality
    return 1.0 - quality.reshape(len(left), len(right))


@pytest.mark.parametrize("annotators", [2, 3, 5])
def test_the_alignments_of_lists_have_the_disorder_of_all_pairs_of_items(annotators):
    comparator = Comparator(SCHEMA)
    for part in lists_of(comparator, annotations(annotators, 6, annotators)):
        column = part.column
        held = part.rows != NONE  # annotators without a list do not count
        values = [[column.raw[row] for row in unit[own]] for unit, own in zip(part.rows, held, strict=True)]
        items = Comparator(items_schema(column.path))
        lazy, dense = (align_lists(column, part.rows, limits=limits) for limits in (LAZY, DENSE))
        for unit, (first, second) in enumerate(zip(lazy, dense, strict=True)):
            assert (first.unitary[:, ~held[unit]] == NONE).all()
            if len(values[unit]) < 2:
                assert (first.disorder, second.disorder) == (0.0, 0.0)
                continue
            tables = {
                (i, j): distances(items, values[unit][i], values[unit][j])
                for i, j in combinations(range(len(values[unit])), 2)
            }
            plain = align(tables, [len(each) for each in values[unit]], UNMATCHED)
            assert second.disorder == pytest.approx(plain.disorder, abs=1e-9)
            assert second.exact == plain.exact
            if first.exact and plain.exact:
                assert first.disorder == pytest.approx(plain.disorder, abs=1e-9)
            total = (
                AlignmentProblem.of(tables, [len(each) for each in values[unit]], UNMATCHED)
                .disorders(first.unitary[:, held[unit]])
                .sum()
            )
            assert first.disorder == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("annotators", [2, 3, 5])
def test_long_lists_of_plain_items_are_aligned_like_short_ones(annotators, monkeypatch):
    def never(*_, **__):
        raise AssertionError("the bounds of plain items are exact")

    monkeypatch.setattr("arbitre.agreement.list_alignment.solve_lazily", never)
    people = {"type": "object", "properties": {"name": {"type": "string"}, "year": {"type": "number"}}}
    random = np.random.default_rng(annotators)

    def entry():
        return {"name": "".join(random.choice(list("abcd"), 4)), "year": int(random.integers(1, 9))}

    everyone = [entry() for _ in range(14)]
    documents = {
        f"annotator {number}": {"page": [entry() if random.random() < 0.3 else each for each in everyone]}
        for number in range(annotators)
    }
    (part,) = lists_of(Comparator({"type": "array", "items": people}), documents)
    (lazy,), (dense,) = (align_lists(part.column, part.rows, limits=limits) for limits in (LAZY, DENSE))
    assert lazy.unitary.tolist() == dense.unitary.tolist()
    assert (lazy.disorder, lazy.exact) == (dense.disorder, dense.exact)


@pytest.mark.parametrize("sizes", [(5, 7, 6), (4, 0, 5, 3)])
def test_the_size_of_the_blocks_of_distances_does_not_change_an_alignment(sizes, monkeypatch):
    random = np.random.default_rng(len(sizes))
    tables = {(i, j): random.random((sizes[i], sizes[j])) for i, j in combinations(range(len(sizes)), 2)}
    whole = align(tables, sizes, UNMATCHED, search=False)
    monkeypatch.setattr("arbitre.agreement.alignment.BLOCK_CELLS", 1)
    blocks = align(tables, sizes, UNMATCHED, search=False)
    assert whole.disorder < align(tables, sizes, UNMATCHED, search=False, couple=greedy).disorder  # it was improved
    assert blocks.unitary.tolist() == whole.unitary.tolist()
    assert blocks.disorder == whole.disorder


def items_schema(path):
    """The schema of the items of a list."""
    schema = SCHEMA
    for token in path:
        schema = schema["properties"][token] if isinstance(token, str) else schema["items"]
    return schema["items"]


@given(st.lists(st.integers(0, 5), min_size=3, max_size=4), st.sampled_from([0.2, 0.5, 1.0]), st.integers(0, 2**32 - 1))
def test_no_alignment_of_any_candidates_has_less_disorder(sizes, unmatched, seed):
    if not any(sizes) or np.prod([size + 1 for size in sizes]) > 300:
        sizes = [2] * len(sizes)
    generator = np.random.default_rng(seed)
    tables = {
        (i, j): np.round(generator.random((sizes[i], sizes[j])), int(generator.integers(1, 9)))
        for i, j in combinations(range(len(sizes)), 2)
    }
    candidates = np.array([*product(*([*range(size), NONE] for size in sizes))])
    candidates = candidates[(candidates != NONE).any(axis=1)]
    costs = AlignmentProblem.of(tables, sizes, unmatched).disorders(candidates)
    holds = [candidates[:, annotator] == unit for annotator, size in enumerate(sizes) for unit in range(size)]
    best = milp(
        costs,
        constraints=LinearConstraint(np.array(holds, dtype=float), 1.0, 1.0),
        integrality=np.ones(len(costs)),
        bounds=Bounds(0.0, 1.0),
        options={"mip_rel_gap": 0.0},
    )
    alignment = align(tables, sizes, unmatched)
    assert alignment.exact
    assert alignment.disorder == pytest.approx(best.fun, abs=1e-6)


@given(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.3, 0.5, 2.0]), st.integers(0, 2**32 - 1))
def test_the_prices_of_units_sum_to_the_cost_of_the_best_matching(height, width, unmatched, seed):
    table = np.random.default_rng(seed).random((height, width)).round(1)
    problem = AlignmentProblem.of({(0, 1): table}, (height, width), unmatched)
    matched = problem.match((0, 1), np.arange(height), np.arange(width))
    first, second = problem.prices((0, 1), matched)
    assert first.sum() + second.sum() == pytest.approx(matched.cost)
    assert (table - first[:, None] - second >= -1e-9).all()
    assert (first <= unmatched + 1e-9).all()
    assert (second <= unmatched + 1e-9).all()


@pytest.mark.parametrize("difference", ["d", "d2"])
def test_differences_do_not_depend_on_blocks_or_on_what_was_compared_before(difference):
    parts = align_documents(Comparator(SCHEMA).plan, annotations(3, 6, 1))
    whole, blocks = Differences(difference, symmetric=True), Differences(difference, symmetric=False, block_cells=1)
    generator = np.random.default_rng(0)
    for part in parts:
        size = part.column.size
        left, right = generator.integers(size, size=(2, 50))
        alone = Differences(difference, symmetric=True).between(part.column, left, right)
        for each in (whole, blocks):
            assert each.between(part.column, left, right) == pytest.approx(alone, abs=1e-12)
            assert each.between(part.column, right, left) == pytest.approx(alone, abs=1e-12)


def test_the_parts_of_alpha_are_those_of_all_pairs():
    comparator, documents = Comparator(SCHEMA), annotations(3, 5, 2)
    root = align_documents(comparator.plan, documents)[0]
    parts = alpha_parts(Differences("d", symmetric=True), root, seed=0)

    def distance(first, second):
        return 1.0 - comparator.compare(gold=first, predicted=second).quality

    units = [[each[number] for each in documents.values() if number in each] for number in "01234"]
    assert all(len(unit) > 1 for unit in units)
    pooled = [page for unit in units for page in unit]
    assert parts.standard_error is None
    assert parts.ratings.tolist() == [len(unit) for unit in units]
    disagreement = [sum(distance(a, b) for a in unit for b in unit if a is not b) / (len(unit) - 1) for unit in units]
    assert parts.disagreement == pytest.approx(disagreement)
    expected = np.mean([distance(a, b) for a, b in combinations(pooled, 2)])
    assert parts.weights @ parts.differences / parts.weights.sum() == pytest.approx(expected)
    assert len(parts.differences) == len(pooled) * (len(pooled) - 1) // 2
    within = parts.first == parts.second
    assert parts.differences[within].sum() == pytest.approx(
        sum(distance(a, b) for unit in units for a, b in combinations(unit, 2))
    )


def test_a_sample_estimates_the_expected_disagreement_and_disorder_within_its_standard_error():
    parts = align_documents(Comparator(SCHEMA).plan, annotations(3, 14, 3))
    tested = 0
    for part in parts:
        every, sample = (
            alpha_parts(Differences("d", symmetric=True), part, seed=0, most=most) for most in (1 << 40, 0)
        )
        exact, estimate = (each.weights @ each.differences / each.weights.sum() for each in (every, sample))
        assert every.standard_error is None
        assert sample.weights.sum() == pytest.approx(len(every.differences))
        assert 0.0 < sample.standard_error <= 1.1 * PRECISION * exact or exact == 0.0
        assert abs(estimate - exact) <= 4.0 * sample.standard_error
        tested += 1
        if part.alignments:
            chance = gamma_parts(part, part.column, seed=0)
            other = gamma_parts(part, part.column, seed=1)
            assert chance.sampled
            assert abs(chance.expected - other.expected) <= 4.0 * (chance.standard_error + other.standard_error)
            lists = (part.rows != NONE).sum(axis=1)
            disorders = [each.disorder * own for each, own in zip(part.alignments, lists, strict=True) if own > 1]
            assert chance.disorders.sum() == pytest.approx(sum(disorders))
    assert tested >= 6
