"""The engine compared with the reference recursion, in every mode, alone and in a batch."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.oracle import textbook
from tests.oracle.strategies import alternatives, cases, documents, floored, pairs, schemas

from arbitre import Comparator
from arbitre.comparison.levels import by_path, leaves, of_nodes, single_paths
from arbitre.distances import edit
from arbitre.engine import compare_to_levels
from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.row_keys import row_hashes
from arbitre.engine.solve.batches import CellLimits
from arbitre.matching import assignment
from arbitre.schema import CLOSE, nodes

NEAR = 1e-12
LAZY = {"lazy": 1, "plain_lazy": 0}
LIMITS = {
    "whole": {"lazy": 1, "table": 0, "keys": 1},
    "lazy": LAZY,
    "lazy and sparing": LAZY | {"keys": 2},
    "lazy, one by one": LAZY | {"large": 1, "chunk": 1, "deep_chunk": 1},
}
slow = settings(suppress_health_check=list(HealthCheck))


def spare(patch, dear=2):
    """Texts are compared as if all of them were long, and so few pairs of them were many."""
    patch.setattr(nodes, "_expensive_above", lambda sites, _: dict.fromkeys(range(len(sites)), dear))
    for name, known in edit._MEASURES.items():
        patch.setitem(edit._MEASURES, name, replace(known, cheap=min(known.cheap, 0)))


MODES = ("default", "whole", "sparing", "lazy", "lazy, one by one", "lazy and sparing", "exhaustive")


@contextmanager
def working(mode):
    """How the engine goes about it: as it would, or not at all lazily, or as lazily as it can.

    That is with bounds of pairs of texts, of pairs of items, of these in chunks of one row, or of both; or with whole
    tables where these cost no more than bounds.
    """
    note(f"mode: {mode}")
    with pytest.MonkeyPatch.context() as patch:
        if mode == "whole":
            patch.setattr(assignment, "SOLVER_MIN_CELLS", 4)
        if mode.endswith("sparing"):
            spare(patch, dear=1 if mode.startswith("lazy") else 2)
        yield {"exhaustive": mode == "exhaustive", "limits": CellLimits(**LIMITS.get(mode, {}))}


def numbers(tally):
    return [tally.gold, tally.predicted, tally.matched, tally.quality, tally.quality_sq]


def in_order(levels, document):
    """By path, what is said of the nodes of a document, in the order in which it is said."""
    found = {}
    for level in single_paths(levels):
        for at in (level.document == document).nonzero()[0]:
            said = bool(level.left[at] >= 0), bool(level.right[at] >= 0), float(level.quality[at])
            found.setdefault(level.text, []).append(said)
    return found


def check(case, **options):
    schema, gold, predicted = case
    expected = textbook.compare(textbook.spec(schema), gold, predicted)
    check_levels(compare_to_levels(Comparator(schema).plan, [gold], [predicted], **options), expected)


def check_in_every_mode(case):
    schema, gold, predicted = case
    expected = textbook.compare(textbook.spec(schema), gold, predicted)
    for mode in MODES:
        with working(mode) as options:
            check_levels(compare_to_levels(Comparator(schema).plan, [gold], [predicted], **options), expected)


def check_levels(levels, expected):
    quality = float(levels[0].quality[0]) if levels else 1.0
    assert quality == pytest.approx(expected.quality, abs=NEAR)
    tally = of_nodes(levels, "", 1)[0].tolist()
    assert tally[:4] == pytest.approx(numbers(expected.tally)[:4], abs=NEAR)
    if expected.unique:  # else another matching may be as good: the squares of its qualities may add up otherwise
        assert tally == pytest.approx(numbers(expected.tally), abs=NEAR)
        found = {path: sums[0, :5].tolist() for path, sums in by_path(levels, 1, CLOSE).items()}
        assert found.keys() == expected.by_path.keys()
        for path, tally in expected.by_path.items():
            assert found[path] == pytest.approx(numbers(tally), abs=NEAR), path
        assert leaves(levels, 1)[0].tolist() == pytest.approx(numbers(expected.leaves), abs=NEAR)


@slow
@given(case=cases())
def test_documents_with_ties_equal_the_textbook(case):
    check_in_every_mode(case)


@settings(slow, max_examples=40)
@given(case=cases())
def test_lists_matched_on_a_few_candidates_equal_the_textbook(case):
    check(case, limits=CellLimits(**LAZY, large=1, sparse=0, tile=2))


@slow
@given(data=st.data())
def test_floors_and_ignored_undeclared_keys_equal_the_textbook(data):
    schema, gold, predicted = data.draw(cases(ties=data.draw(st.booleans())))
    check_in_every_mode((data.draw(floored(schema)), gold, predicted))


@slow
@given(case=cases(ties=False))
def test_documents_without_ties_equal_the_textbook(case):
    check_in_every_mode(case)


@slow
@given(case=alternatives())
def test_documents_with_alternatives_equal_the_textbook(case):
    check_in_every_mode(case)


@slow
@given(case=alternatives(ties=False))
def test_documents_with_alternatives_without_ties_equal_the_textbook(case):
    check_in_every_mode(case)


@slow
@given(case=alternatives())
def test_a_document_with_alternatives_is_compared_with_itself_as_the_textbook_does(case):
    schema, gold, _ = case
    levels = compare_to_levels(Comparator(schema).plan, [gold], [gold])
    alike = textbook.compare(textbook.spec(schema), gold, gold).quality
    assert (float(levels[0].quality[0]) if levels else 1.0) == pytest.approx(alike, abs=NEAR)


@slow
@given(data=st.data())
def test_the_tallies_of_a_document_do_not_depend_on_the_others(data):
    schema = data.draw(schemas())
    several = data.draw(st.lists(pairs(schema), min_size=2, max_size=4))
    for mode in MODES:
        with working(mode) as options:
            check_alone_and_together(Comparator(schema).plan, several, options)


def check_alone_and_together(plan, several, options):
    together = compare_to_levels(plan, *map(list, zip(*several, strict=True)), **options)
    for number, (gold, predicted) in enumerate(several):
        alone = compare_to_levels(plan, [gold], [predicted], **options)
        one, other = by_path(alone, 1, CLOSE), by_path(together, len(several), CLOSE)
        for path, sums in one.items():
            assert sums[0].tolist() == other[path][number].tolist(), path
        assert of_nodes(alone, "", 1)[0].tolist() == of_nodes(together, "", len(several))[number].tolist()
        assert in_order(alone, 0) == in_order(together, number)


@slow
@given(data=st.data())
def test_a_document_equals_itself(data):
    schema = data.draw(schemas(ties=False))
    document = data.draw(documents(schema, ties=False))
    expected = textbook.compare(textbook.spec(schema), document, document)
    for mode in MODES:
        with working(mode) as options:
            levels = compare_to_levels(Comparator(schema).plan, [document], [document], **options)
            quality = float(levels[0].quality[0]) if levels else 1.0
            assert quality == pytest.approx(expected.quality, abs=NEAR)


def test_a_tie_is_broken_the_same_way_in_every_batch():
    lists = {"type": ["array", "null"], "items": {"type": "object", "properties": {"a": {"type": ["boolean", "null"]}}}}
    plan = Comparator(
        {"type": "object", "properties": {"a": lists, "c": {"properties": {"a": {"type": "string"}}}}}
    ).plan
    gold = {"a": [{}, {"a": False}, {"a": {"a": {"a": None}, "b": 0}}, {}], "c": {"a": ""}}
    predicted = {"a": [{"a": False}, {"a": {"a": {"a": None, "stray": []}, "b": -1}}, {}], "c": {"a": ""}}
    other = (
        {"a": [{}, {}, {"a": False}, {"a": False}], "c": {"a": ""}},
        {"a": [{}, {"a": False}, {"a": False}], "c": {}},
    )
    sides = [{"a": []}, other[0], gold], [{"a": []}, other[1], predicted]
    alone = by_path(compare_to_levels(plan, [gold], [predicted], limits=CellLimits(lazy=1)), 1, CLOSE)
    together = by_path(compare_to_levels(plan, *sides, limits=CellLimits(lazy=1)), 3, CLOSE)
    assert {path: sums[0].tolist() for path, sums in alone.items()} == {
        path: together[path][2].tolist() for path in alone
    }


def nested(depth, leaf):
    return leaf if depth == 0 else {"a": nested(depth - 1, leaf)}


OPTIONAL = {"type": ["string", "null"], "x-arbitre": {"absent": [None]}}
COUNTED = {"type": "integer", "x-arbitre": {"distance": "exact"}}
LONG = [("ab" * 40)[:66], ("abb" * 30)[:67], ("aab" * 30)[:66]]
TIED = {
    "undeclared keys that share a column": (
        {"type": "object"},
        [{"a": 0, "b": 2, "c": 1}, {"c": 2}, {"b": 1, "c": 2}],
        [{"c": 2, "d": 0}, {"d": 2}, {"a": 1, "b": 0}],
        ({"b": {}}, {"b": [{}]}),
        {"lazy": 1, "keys": 1},
    ),
    "long texts in fields that may be absent": (
        {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        [{"a": "a"}, {"a": "a"}, {"b": "b"}, {"a": LONG[0]}, {"a": "b"}, {"a": "a", "b": "ab"}],
        [{"a": "ab"}, {}, {"a": LONG[1]}, {}, {}, {"b": "a"}],
        ({"a": "a" * 2000, "b": "b" * 2000}, {"a": "a" * 2000, "b": "a" * 2000}),
        LAZY,
    ),
    "long texts beside numbers": (
        {"properties": {"a": {"type": ["string", "number"]}}},
        [{"a": a, "b": b} for a, b in ((3, 3), (3, 2), (LONG[0], 3), ("ab", 3), (3, 3), (LONG[2], 3))],
        [{"a": a, "b": b} for a, b in (("ab", 1), ("ab", 1), (LONG[1], 2), (3, 2), (1, 1), (2, 3))],
        ({"a": "a" * 2000}, {"a": "b" * 2000}),
        LAZY,
    ),
    "positions that are all absent": (
        {"properties": {"p": {"type": "array", "prefixItems": [OPTIONAL], "items": COUNTED}, "q": {"type": "number"}}},
        [{"p": [None, 3], "q": 2}, {"p": [None, 1], "q": 1}, {"p": [None, 1], "q": 2}],
        [{"p": [None, 1, 3], "q": 2}, {"p": [None, 0], "q": 2}, {"p": [None, 1], "q": 0}],
        ({"p": ["a"]}, {"p": ["b"]}),
        LAZY | {"large": 1},
    ),
    "deep values of one kind": (
        {},
        [{"a": nested(13, {"z": z, "w": w}), "b": 0} for z, w in ((1, 1), (0, 0), (0, 0))],
        [{"a": nested(13, {"z": z, "w": w}), "b": 1} for z, w in ((1, 0), (1, 1), (1, 0))],
        ({"a": []}, {"a": {"a": []}}),
        LAZY,
    ),
}


@pytest.mark.parametrize("case", TIED)
def test_values_of_other_documents_do_not_break_ties(case):
    items, gold, predicted, other, limits = TIED[case]
    plan = Comparator({"type": "array", "items": items}).plan
    alone = in_order(compare_to_levels(plan, [gold], [predicted], limits=CellLimits(**limits)), 0)
    for number in (0, 1):
        sides = [[[value]] for value in other]
        for side, document in zip(sides, (gold, predicted), strict=True):
            side.insert(number, document)
        assert in_order(compare_to_levels(plan, *sides, limits=CellLimits(**limits)), number) == alone


def test_the_text_that_is_nearest_in_length_need_not_be_the_nearest():
    texts = {"type": "array", "items": {"type": "string"}}
    entries = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}
    with pytest.MonkeyPatch.context() as patch:
        spare(patch)
        for gold, predicted in ((["ab", "c"], ["cd", "ab", "c"]), (["ab", "cd", "c"], ["efg", "c", "ab"])):
            check((texts, gold, predicted))
            check((texts, predicted, gold))
            check((entries, [{"a": text} for text in gold], [{"a": text} for text in predicted]))


@slow
@given(data=st.data())
def test_skipping_comparisons_changes_no_result(data):
    """Not even where matchings tie."""
    schema = data.draw(schemas())
    several = data.draw(st.lists(pairs(schema), min_size=1, max_size=3))
    sides = [gold for gold, _ in several], [predicted for _, predicted in several]
    plain = by_path(compare_to_levels(Comparator(schema).plan, *sides), len(several), CLOSE)
    with pytest.MonkeyPatch.context() as patch:
        spare(patch)
        spared = by_path(compare_to_levels(Comparator(schema).plan, *sides), len(several), CLOSE)
    assert {path: sums.tolist() for path, sums in plain.items()} == {
        path: sums.tolist() for path, sums in spared.items()
    }


def test_the_batch_size_changes_no_result():
    """Not in the last digit."""
    draw = np.random.default_rng(3)
    text = {"type": "string", "x-arbitre": {"distance": "levenshtein"}}
    plan = Comparator({"type": "array", "items": {"type": "object", "properties": {"a": text, "b": text}}}).plan

    def some():
        return [{name: "".join(draw.choice([*"ab"], draw.integers(66, 90))) for name in "ab"} for _ in range(9)]

    gold, predicted = [some() for _ in range(40)], [some() for _ in range(40)]
    assert edit.BOUND_MIN_PAIRS < 40 * 9 * 9
    together = by_path(compare_to_levels(plan, gold, predicted), 40, CLOSE)
    for number in range(40):
        alone = by_path(compare_to_levels(plan, [gold[number]], [predicted[number]]), 1, CLOSE)
        for path, sums in alone.items():
            assert sums[0].tolist() == together[path][number].tolist()


def test_matchings_of_nested_lists_do_not_depend_on_other_documents():
    draw = np.random.default_rng(1)
    text = {"type": "string"}
    inner = {"type": "array", "items": {"type": "object", "properties": {"a": text, "b": text}}}
    entry = {"type": "object", "properties": {"a": text, "b": inner}}
    plan = Comparator(
        {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "array", "items": entry}}}}
    ).plan

    def word():
        return "".join(draw.choice([*"abc"], draw.integers(1, 5)))

    def items():
        return [
            {"a": word(), "b": word()} if draw.random() < 0.8 else {"a": word()} for _ in range(draw.integers(2, 6))
        ]

    def document():
        return [{"c": [{"a": word(), "b": items()} for _ in range(draw.integers(1, 5))]} for _ in range(3)]

    gold, predicted = [document() for _ in range(9)], [document() for _ in range(9)]
    together = compare_to_levels(plan, gold, predicted)
    for number in range(9):
        assert in_order(compare_to_levels(plan, [gold[number]], [predicted[number]]), 0) == in_order(together, number)


def test_equal_items_are_matched_first_in_every_document():
    plan = Comparator({"type": "array", "items": {"type": ["string", "null"]}}).plan
    first, second = (["", "A", ""], ["", "", ""]), (["", "A", "AAa"], ["", "a", "AAA"])
    limits, sides = CellLimits(**LAZY), zip(first, second, strict=True)
    alone = of_nodes(compare_to_levels(plan, [second[0]], [second[1]], limits=limits), "", 1)[0].tolist()
    together = of_nodes(compare_to_levels(plan, *map(list, sides), limits=limits), "", 2)[1].tolist()
    assert alone == together


def test_digests_depend_on_value_and_position():
    strings = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": "sequence"}}
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    for schema, values in (
        (strings, (["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"])),
        (names, ({"a": "x", "b": "y"}, {"a": "y"}, {"b": "x"})),
    ):
        root = build_columns(Comparator(schema).plan, values, values)[0]
        found = row_hashes(root)
        assert len(set(found.tolist())) == len(values)
        assert (found[: len(values)] == found[len(values) :]).all()


def test_lists_of_integers_that_hold_other_things_are_matched_as_the_textbook_does():
    schema = {"type": "array", "items": {"type": "integer"}}
    for gold, predicted in (
        ([1, 1, "ab", 2], ["abc", 1, 3, 1]),
        (["a", {"b": 1}, 1], [1, {"b": 2}, "a"]),
        ([[1], 2, 2], [2, [1, 2]]),
    ):
        check((schema, gold, predicted))


def test_an_undeclared_key_can_identify_items():
    fields = {"type": "object", "properties": {"b": {"type": "number"}}, "additionalProperties": {"type": "string"}}
    plan = Comparator({"type": "array", "items": fields, "x-arbitre": {"match": {"keyed": {"key": "a"}}}}).plan
    gold, predicted = [{"a": "x", "b": 1}, {"a": "y", "b": 2}], [{"a": "y", "b": 2}, {"a": "z", "b": 1}]
    assert of_nodes(compare_to_levels(plan, [gold], [predicted]), "", 1)[0].tolist() == [2, 2, 1, 1.0, 1.0]
