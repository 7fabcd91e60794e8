"""The reference recursion itself, checked against values worked out by hand and exhaustive search."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.oracle.strategies import cases, documents, schemas
from tests.oracle.textbook import DISTANCES, FORBIDDEN, Node, Tally, align, assign, compare, greedy, spec

TEXT = {"type": "string", "x-arbitre": {"distance": "exact"}}
WHOLE = {"type": "integer"}
SHARE = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}  # quality 1 - |a - b|


def listed(items, match="hungarian", **options):
    return {"type": "array", "items": items, "x-arbitre": {"match": match, **options}}


def record(**properties):
    return {"type": "object", "properties": properties}


def tally(*masses):
    return pytest.approx(masses)


def masses(counted):
    return (counted.gold, counted.predicted, counted.matched, counted.quality, counted.quality_sq)


def judge(schema, gold, predicted):
    return compare(spec(schema), gold, predicted)


def paths(result):
    return {path: masses(counted) for path, counted in result.by_path.items()}


@pytest.mark.parametrize(
    ("name", "gold", "predicted", "expected"),
    [
        ("yujian-bo", "ab", "ba", 2 / 3),
        ("yujian-bo", "", "", 0),
        ("yujian-bo", "", "a", 1),
        ("yujian-bo", "kitten", "sitting", 6 / 16),
        ("levenshtein", "kitten", "sitting", 3 / 7),
        ("levenshtein", "ab", "aba", 1 / 3),
        ("levenshtein", "", "", 0),
        ("relative", 1000, 9000, 8 / 9),
        ("relative", -1, 1, 1),
        ("relative", 0, 0.0, 0),
        ("exact", "a", "a ", 1),
        ("exact", 1, 1.0, 0),
    ],
)
def test_distances_have_the_values_worked_by_hand(name, gold, predicted, expected):
    assert DISTANCES[name](gold, predicted) == pytest.approx(expected)


def test_absolute_reaches_1_at_the_scale():
    assert DISTANCES["absolute"](3, 10, scale=10) == pytest.approx(0.7)
    assert DISTANCES["absolute"](3, 33, scale=10) == 1


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "quality"),
    [
        ({"type": "string"}, "ab", "ba", 1 / 3),
        ({"type": "number"}, 1000, 9000, 1 / 9),
        ({"type": "integer"}, 1000, 9000, 0),
        ({"type": "boolean"}, True, False, 0),
        ({"type": ["string", "null"], "x-arbitre": {"normalize": ["strip", "lower"]}}, " Ab", "aB ", 1),
        ({}, "ab", "ba", 1 / 3),
        ({}, 1, 2, 0.5),
        ({"type": "integer"}, "ab", "ba", 1 / 3),
        ({"type": "string"}, 1, 2, 0.5),
    ],
)
def test_a_leaf_is_compared_as_declared_or_by_kind(schema, gold, predicted, quality):
    result = judge(schema, gold, predicted)
    assert masses(result.tally) == tally(1, 1, 1, quality, quality**2)
    assert result.quality == pytest.approx(quality)
    assert result.leaves == result.tally == result.by_path[""]


def test_an_object_counts_the_weights_of_fields_present_on_either_side():
    schema = record(a=TEXT | {"x-arbitre": {"distance": "exact", "weight": 2}}, b=TEXT, d=TEXT)
    result = judge(schema, {"a": "x", "b": "y"}, {"a": "x", "extra": 1})
    assert masses(result.tally) == (3, 3, 2, 2, 2)
    assert result.quality == 0.5
    assert masses(result.leaves) == (2, 2, 1, 1, 1)
    assert paths(result) == {"/a": (1, 1, 1, 1, 1), "/b": (1, 0, 0, 0, 0), "/extra": (0, 1, 0, 0, 0)}


def test_the_square_of_a_field_quality_takes_its_weight_once():
    schema = record(a=SHARE | {"x-arbitre": {"distance": {"absolute": {"scale": 1}}, "weight": 3}})
    assert masses(judge(schema, {"a": 0}, {"a": 0.5}).tally) == (3, 3, 3, 1.5, 0.75)


def test_undeclared_keys_are_compared_by_kind_under_their_escaped_name():
    result = judge(record(), {"x/y": [1, 2], "*": "ab"}, {"*": "ba", "x/y": [2, 1]})
    assert masses(result.tally) == tally(2, 2, 2, 4 / 3, 1 + 1 / 9)
    assert paths(result) == {"/x~1y/*": (2, 2, 2, 2, 2), "/~2": tally(1, 1, 1, 1 / 3, 1 / 9)}
    assert result.pairs == {"/x~1y": ((0, 1, 1.0), (1, 0, 1.0))}


@pytest.mark.parametrize(
    ("gold", "predicted", "gold_leaves", "predicted_leaves"),
    [
        (1, True, 1, 1),
        ("1", 1, 1, 1),
        ([1, 2], {"b": 1}, 2, 1),
        ([], {}, 1, 1),
        ({"b": [], "c": [[], 1]}, "text", 3, 1),
    ],
)
def test_values_of_different_kinds_have_quality_zero(gold, predicted, gold_leaves, predicted_leaves):
    result = judge(record(a={}), {"a": gold}, {"a": predicted})
    assert masses(result.tally) == (1, 1, 1, 0, 0)
    assert result.quality == 0
    assert masses(result.leaves) == (gold_leaves, predicted_leaves, 0, 0, 0)


def test_documents_of_different_kinds_count_each_side_as_unmatched():
    result = judge({}, [1, 2], {"a": 1})
    assert masses(result.tally) == (2, 1, 0, 0, 0)
    assert judge({}, [], {}).quality == 0


def test_two_empty_containers_are_one_leaf():
    result = judge(record(a=listed(WHOLE), b=record()), {"a": [], "b": {}}, {"a": [], "b": {}})
    assert masses(result.tally) == masses(result.leaves) == (2, 2, 2, 2, 2)
    assert paths(result) == {"/a": (1, 1, 1, 1, 1), "/b": (1, 1, 1, 1, 1)}
    assert masses(judge(listed(WHOLE), [], []).tally) == (0, 0, 0, 0, 0)
    assert judge(listed(WHOLE), [], []).quality == 1


def test_an_empty_side_is_one_unmatched_leaf():
    result = judge(record(a=listed(WHOLE)), {"a": []}, {"a": [1, 2]})
    assert masses(result.tally) == (1, 1, 1, 0, 0)
    assert masses(result.leaves) == (1, 2, 0, 0, 0)
    assert paths(result) == {"/a": (1, 0, 0, 0, 0), "/a/*": (0, 2, 0, 0, 0)}
    assert masses(judge(listed(WHOLE), [], [1, 2]).tally) == (0, 2, 0, 0, 0)


@pytest.mark.parametrize(
    ("policy", "present"),
    [
        ([], {"null", "text", "list", "object", "nested"}),
        ([None], {"text", "list", "object", "nested"}),
        ([None, ""], {"list", "object", "nested"}),
        ([None, []], {"text", "object"}),
        ([None, [], {}], {"text"}),
        (["", [], {}], {"null", "nested"}),
    ],
)
def test_absence_is_decided_from_the_bottom_up_after_normalisation(policy, present):
    schema = record(text={"type": "string", "x-arbitre": {"normalize": ["strip"]}}) | {"x-arbitre": {"absent": policy}}
    gold = {"null": None, "text": " ", "list": [], "object": {}, "nested": [None]}
    result = judge(schema, gold, {"other": 1})
    assert {path.split("/")[1] for path in result.by_path} == present | {"other"}
    assert masses(result.tally) == (len(present), 1, 0, 0, 0)


def test_absence_is_inherited_until_redefined():
    inner = record(a=TEXT, b=TEXT | {"x-arbitre": {"absent": [""], "distance": "exact"}})
    schema = record(inner=inner) | {"x-arbitre": {"absent": []}}
    result = judge(schema, {"inner": {"a": None, "b": ""}}, {"inner": {"a": None, "b": None}})
    assert paths(result) == {"/inner/a": (1, 1, 1, 1, 1), "/inner/b": (0, 1, 0, 0, 0)}


def test_null_items_are_dropped_before_matching_and_keep_their_positions():
    result = judge(listed(WHOLE, "ordered"), [None, 1, 2], [1, None, 3])
    assert masses(result.tally) == (2, 2, 2, 1, 1)
    assert result.pairs == {"": ((1, 0, 1.0), (2, 2, 0.0))}


def test_an_absent_document_is_missing_or_spurious_as_a_whole():
    schema = listed(record(a=TEXT, b=TEXT))
    result = judge(schema, [{"a": "x", "b": "y"}], None)
    assert (result.quality, masses(result.tally), masses(result.leaves)) == (0, (1, 0, 0, 0, 0), (2, 0, 0, 0, 0))
    assert masses(judge(schema, None, [{"a": "x", "b": "y"}]).tally) == (0, 1, 0, 0, 0)
    assert judge(schema, None, None).quality == 1
    assert judge(schema, None, None).tally == Tally()


# The qualities of these are .95 .69 in the first row, .69 .33 in the second.
NEAR, FAR = [0, 0.36], [0.05, -0.31]


@pytest.mark.parametrize(
    ("match", "pairs", "total"),
    [
        ("hungarian", [(0, 1), (1, 0)], 1.38),
        ({"hungarian": {"gate": 0.7}}, [(0, 0)], 0.95),
        ({"hungarian": {"gate": 0.96}}, [], 0),
        ("greedy", [(0, 0), (1, 1)], 1.28),
        ({"greedy": {"gate": 0.5}}, [(0, 0)], 0.95),
        ("ordered", [(0, 0), (1, 1)], 1.28),
        ("sequence", [(0, 0), (1, 1)], 1.28),
        ("set", [], 0),
    ],
)
def test_every_matcher_makes_its_known_pairs(match, pairs, total):
    result = judge(listed(SHARE, match), NEAR, FAR)
    assert [(i, j) for i, j, _ in result.pairs.get("", ())] == pairs
    assert (result.tally.gold, result.tally.predicted, result.tally.matched) == (2, 2, len(pairs))
    assert result.tally.quality == pytest.approx(total)
    assert result.quality == pytest.approx(total / (4 - len(pairs)))
    assert paths(result) == {"/*": masses(result.tally)}


def test_among_equal_sums_the_matching_with_most_pairs_wins():
    # one pair of quality 1, or two of .5
    result = judge(listed(SHARE, {"hungarian": {"gate": 0.4}}), [0, 0.5], [0, -0.5])
    assert masses(result.tally) == (2, 2, 2, 1, 0.5)


def test_greedy_takes_the_nearest_pair_and_the_first_of_ties():
    assert judge(listed(SHARE, "greedy"), [0], [0.5, 0.25]).pairs == {"": ((0, 1, 0.75),)}
    assert judge(listed(WHOLE, "greedy"), [7, 1], [1, 7, 7]).pairs == {"": ((0, 1, 1.0), (1, 0, 1.0))}


def test_sequence_pairs_keep_the_order_of_both_lists():
    result = judge(listed(WHOLE, "sequence"), [1, 2, 3], [2, 3, 1])
    assert result.pairs == {"": ((1, 0, 1.0), (2, 1, 1.0))}
    assert result.quality == 0.5


def test_sequence_breaks_the_triangle_inequality_on_the_known_witness():
    table = {frozenset({0}): 0, frozenset({0, 1}): 0.29, frozenset({0, 2}): 0.78, frozenset({1, 2}): 1}
    item = Node("number", distance=lambda a, b: table[frozenset({a, b})])
    node = Node("array", item=item, match="sequence")
    x, y, z = [0, 0, 1], [0, 0, 0], [0, 2, 0]
    assert 1 - compare(node, x, z).quality == pytest.approx(0.5)
    assert 1 - compare(node, x, y).quality == pytest.approx(0.29 / 3)
    assert 1 - compare(node, y, z).quality == pytest.approx(0.78 / 3)


def test_keyed_items_are_paired_by_their_normalised_key():
    items = record(id=TEXT | {"x-arbitre": {"normalize": ["lower"], "distance": "exact"}}, v=SHARE)
    gold = [{"id": "A", "v": 0}, {"id": "A", "v": 1}, {"id": "b", "v": 0}, {"v": 0}, "a"]
    predicted = [{"v": 0}, {"id": "a", "v": 1}, {"id": "a", "v": 0.5}, {"id": "c", "v": 0}, "a"]
    result = judge(listed(items, {"keyed": {"key": "id"}}), gold, predicted)
    assert result.pairs == {"": ((0, 2, 0.75), (1, 1, 1.0))}
    assert masses(result.tally) == (5, 5, 2, 1.75, 1.5625)
    assert masses(result.leaves) == (8, 8, 4, 3.5, 3.25)


def test_a_composite_key_must_hold_in_all_its_fields():
    items = record(a=WHOLE, b=WHOLE)
    gold, predicted = [{"a": 1, "b": 2}, {"a": 1}, {"a": 3, "b": 4}], [{"a": 1, "b": 3}, {"a": 1}, {"b": 4.0, "a": 3}]
    result = judge(listed(items, {"keyed": {"key": ["a", "b"]}}), gold, predicted)
    assert result.pairs == {"": ((2, 2, 1.0),)}


def test_a_set_counts_its_distinct_items():
    result = judge(listed({}, "set"), [1, "a", 1.0, True, {"a": 1, "b": 2}], [{"b": 2, "a": 1}, 0, 1, "b", "b"])
    assert masses(result.tally) == (4, 4, 2, 2, 2)
    assert result.pairs == {"": ((0, 2, 1.0), (4, 0, 1.0))}
    assert result.quality == pytest.approx(1 / 3)
    assert masses(result.leaves) == (5, 5, 3, 3, 3)


def test_paths_count_what_lies_below_missing_and_spurious_items():
    schema = record(entries=listed(record(name=TEXT, tags=listed(TEXT))))
    gold = {"entries": [{"name": "a", "tags": ["x", "y"]}, {"name": "b", "tags": ["z"]}]}
    predicted = {"entries": [{"name": "b", "tags": ["w", "z"]}]}
    result = judge(schema, gold, predicted)
    assert paths(result) == {
        "/entries/*": (2, 1, 1, 0.75, 0.5625),
        "/entries/*/name": (2, 1, 1, 1, 1),
        "/entries/*/tags/*": (3, 2, 1, 1, 1),
    }
    assert masses(result.leaves) == (5, 3, 2, 2, 2)
    assert masses(result.tally) == (1, 1, 1, 0.375, 0.140625)
    assert result.pairs == {"/entries": ((1, 0, 0.75),), "/entries/1/tags": ((0, 1, 1.0),)}


def test_items_that_are_leaves_are_counted_once_as_items():
    result = judge(record(a=listed({})), {"a": [1, [], "x"]}, {"a": [1, [], 5]})
    assert paths(result) == {"/a/*": (3, 3, 3, 2, 2)}
    assert masses(result.leaves) == (3, 3, 2, 2, 2)


@pytest.mark.parametrize(
    ("match", "gold", "predicted", "unique"),
    [
        ("hungarian", [1, 2], [2, 1], True),
        ("hungarian", [1, 2], [3, 4], False),
        ("hungarian", [1, 1], [1], False),
        ("hungarian", [1], [2], True),
        ({"hungarian": {"gate": 0.5}}, [1, 2], [3, 4], True),
        ("ordered", [1, 2], [3, 4], True),
        ("set", [1, 1, 2], [2, 1], True),
        ("greedy", [1, 1], [1], True),
        ("sequence", [1, 2], [2, 1], False),
        ("sequence", [1, 2], [1, 2], True),
        ("sequence", [1, 1], [1], False),
    ],
)
def test_unique_is_false_if_another_matching_is_as_good(match, gold, predicted, unique):
    assert judge(listed(WHOLE, match), gold, predicted).unique is unique


def test_unique_considers_nested_matchings():
    schema = listed(record(id=WHOLE, v=listed(WHOLE)))
    assert not judge(schema, [{"id": 1, "v": [1, 1]}], [{"id": 1, "v": [1]}]).unique
    gold, predicted = [{"id": 1, "v": [1]}, {"id": 2, "v": [3, 3]}], [{"id": 1, "v": [1]}, {"id": 2, "v": [3]}]
    assert not judge(schema, gold, predicted).unique
    assert judge(schema, gold[:1], predicted).unique


WEIGHTS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([FORBIDDEN, 0.1, 0.25, 0.5, 0.6, 1.0]), min_size=width, max_size=width),
        min_size=1,
        max_size=4,
    )
)


def exhaustive(weights, arrangements):
    """The greatest weight of all one-to-one pairings, rows in order, columns as arranged."""
    shorter = min(len(weights), len(weights[0]))
    return max(
        sum(weights[i][j] for i, j in zip(rows, columns, strict=True))
        for count in range(shorter + 1)
        for rows in combinations(range(len(weights)), count)
        for columns in arrangements(range(len(weights[0])), count)
    )


@given(WEIGHTS)
def test_assign_and_align_find_the_greatest_weight(weights):
    for solve, arrangements in ((assign, permutations), (align, combinations)):
        pairs = solve(weights)
        assert sum(weights[i][j] for i, j in pairs) == pytest.approx(exhaustive(weights, arrangements))
        assert all(weights[i][j] > 0 for i, j in pairs)
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert sorted(align(weights), key=lambda pair: pair[1]) == align(weights)


@given(WEIGHTS)
def test_greedy_is_never_better_than_assign(weights):
    pairs = greedy(weights)
    assert all(weights[i][j] > 0 for i, j in pairs)
    assert len({j for _, j in pairs}) == len(pairs)
    assert sum(weights[i][j] for i, j in pairs) <= sum(weights[i][j] for i, j in assign(weights)) + 1e-9


@given(st.data(), schemas())
def test_a_document_equals_itself(data, schema):
    assume("keyed" not in str(schema))  # an item without its key is unmatched even with itself
    document = data.draw(documents(schema))
    result = judge(schema, document, document)
    assert result.quality == pytest.approx(1)
    assert (
        result.leaves.gold == result.leaves.predicted == result.leaves.matched == pytest.approx(result.leaves.quality)
    )


@given(cases())
def test_exchanging_the_sides_exchanges_gold_and_predicted(case):
    schema, gold, predicted = case
    assume("greedy" not in str(schema))
    there, back = judge(schema, gold, predicted), judge(schema, predicted, gold)
    assert 0 <= there.quality <= 1 + 1e-12
    assert there.quality == pytest.approx(back.quality)
    assert there.unique is back.unique
    assert masses(there.tally)[:4] == tally(back.tally.predicted, back.tally.gold, *masses(back.tally)[2:4])
    assert (there.leaves.gold, there.leaves.predicted) == (back.leaves.predicted, back.leaves.gold)


@given(cases(ties=False))
def test_the_counts_of_a_side_do_not_depend_on_the_other_side(case):
    schema, gold, predicted = case
    result, missing, spurious = (
        judge(schema, *sides) for sides in ((gold, predicted), (gold, None), (None, predicted))
    )
    assert (result.leaves.gold, result.leaves.predicted) == (missing.leaves.gold, spurious.leaves.predicted)
    ours, theirs = ({path: counted.gold for path, counted in each.by_path.items()} for each in (result, missing))
    assert {path: mass for path, mass in ours.items() if mass} == {path: mass for path, mass in theirs.items() if mass}


def test_a_schema_with_two_types_is_refused():
    with pytest.raises(ValueError, match="too many values"):
        spec({"type": ["string", "number"]})
