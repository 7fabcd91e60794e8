"""The consensus of annotators: votes on values, items and presence, flags, weights, and the written files."""

from __future__ import annotations

import itertools
import json
import random
import sys

import numpy as np
import pytest

import arbitre
from arbitre import Comparator, DataError, OptionError, agreement
from arbitre.agreement import build_consensus, item_evidence
from arbitre.agreement.consensus import dawid_skene
from arbitre.agreement.consensus.decisions import Decision, Decisions
from arbitre.agreement.consensus.disagreement import PathCounts
from arbitre.inputs.provenance import Provenance, ValueOrigin
from arbitre.values import ABSENT

pytestmark = pytest.mark.slow

NAMES = "abcdefg"
TAGS = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
SPEAKERS = {
    "type": "object",
    "properties": {
        "speakers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "party": {"enum": ["left", "right"]},
                    "page": {"type": "integer"},
                },
            },
        }
    },
}


def ordered(items, match="ordered"):
    return {"type": "array", "items": items, "x-arbitre": {"match": match}}


BOX = ordered({"type": ["integer", "null"]})


def build(schema, *documents, **options):
    """The consensus of one document p, by annotators a, b, c, ...; by majority, unless another strategy is given."""
    annotations = {name: {"p": document} for name, document in zip(NAMES, documents, strict=False)}
    return build_consensus(Comparator(schema), annotations, **{"strategy": "majority"} | options)


def agreed(schema, *documents, **options):
    return build(schema, *documents, **options).documents["p"]


def field(schema, *values, **options):
    """The consensus of one field, its flag (None if unanimous), and its votes as (support, margin)."""
    result = build(
        {"type": "object", "properties": {"x": schema}},
        *({} if value is ABSENT else {"x": value} for value in values),
        **options,
    )
    value = result.documents["p"].get("x", ABSENT)
    if not result.disagreements:
        return value, None
    (disagreement,) = result.disagreements
    return value, disagreement.flag, (round(disagreement.support, 3), round(disagreement.margin, 3))


class TestPresence:
    def test_an_item_of_more_than_half_of_the_annotators_is_kept(self):
        assert agreed(TAGS, {"tags": ["red", "blue"]}, {"tags": ["blue"]}, {"tags": ["red", "green"]}) == {
            "tags": ["red", "blue"]
        }

    def test_an_item_of_exactly_half_is_left_out_and_flagged_as_a_tie(self):
        result = build(TAGS, {"tags": ["red"]}, {"tags": []})
        assert result.documents["p"] == {"tags": []}
        (tie,) = result.disagreements
        assert (tie.pointer, tie.path, tie.kind, tie.flag) == ("/tags/0", "/tags/*", "presence", "tie")
        assert (tie.proposal, tie.support, tie.margin) == (ABSENT, 0.5, 0.0)
        assert [(own.annotator, own.value, own.pointer) for own in tie.readings] == [
            ("a", "red", "/tags/0"),
            ("b", ABSENT, None),
        ]

    def test_left_out_items_have_the_positions_after_the_last(self):
        result = build(TAGS, {"tags": ["a", "x"]}, {"tags": ["y", "a"]}, {"tags": ["a"]})
        assert result.documents["p"] == {"tags": ["a"]}
        assert sorted(own.id for own in result.disagreements) == ["p#/tags/1", "p#/tags/2"]

    def test_a_field_of_most_annotators_is_kept(self):
        assert field({"type": "string"}, "u", "u", ABSENT) == ("u", "not unanimous", (0.667, 0.333))
        assert field({"type": "string"}, "u", ABSENT, ABSENT) == (ABSENT, "not unanimous", (0.667, 0.333))
        assert field({"type": "string"}, "u", "v", ABSENT, ABSENT, ABSENT)[:2] == (ABSENT, "not unanimous")

    def test_only_annotators_who_have_an_entry_vote_on_its_fields(self):
        entries = {"type": "array", "items": SPEAKERS["properties"]["speakers"]["items"]}
        full, short = [{"name": "Berg", "party": "left"}], [{"name": "Berg"}]
        result = build(entries, full, full, short, [], [])
        assert result.documents["p"] == full
        party = next(own for own in result.disagreements if own.path == "/*/party")
        assert (party.support, party.flag) == (pytest.approx(2 / 3), "not unanimous")
        assert [own.value for own in party.readings] == ["left", "left", ABSENT, ABSENT, ABSENT]
        assert [own.votes for own in party.readings] == [True, True, True, False, False]

    def test_null_and_a_missing_key_are_the_same_and_written_as_most_annotators_write_it(self):
        assert field({"type": ["string", "null"]}, None, None, ABSENT) == (None, None)
        assert field({"type": ["string", "null"]}, None, ABSENT, ABSENT) == (ABSENT, None)
        assert field({"type": ["string", "null"]}, None, None, "u")[:2] == (None, "not unanimous")

    def test_null_is_a_value_where_the_schema_says_so(self):
        schema = {"type": ["string", "null"], "x-arbitre": {"absent": []}}
        assert field(schema, None, None, ABSENT) == (None, "not unanimous", (0.667, 0.333))

    @pytest.mark.parametrize("strategy", ["minimum-risk", "majority", "unanimity", "collegial"])
    def test_a_missing_key_may_count_as_the_same_value_as_null(self, strategy):
        schema = {"type": ["number", "null"], "x-arbitre": {"null": "credit"}}
        assert field(schema, ABSENT, ABSENT, strategy=strategy) == (ABSENT, None)
        assert field(schema, ABSENT, None, strategy=strategy) == (ABSENT, None)
        assert field(schema, ABSENT, None, None, strategy=strategy) == (None, None)
        assert field(schema, ABSENT, ABSENT, 1, strategy=strategy)[:2] == (ABSENT, "not unanimous")
        assert field(schema, ABSENT, 1, 1, strategy="majority")[:2] == (1, "not unanimous")
        assert field(schema, ABSENT, 1) == field(schema, None, 1)

    def test_several_missing_keys_that_count_as_null_are_left_out(self):
        number = {"type": ["number", "null"], "x-arbitre": {"null": "credit"}}
        result = build({"type": "object", "properties": {"x": number, "y": number}}, {}, {})
        assert (result.documents["p"], result.disagreements) == ({}, ())
        assert result.values == build({"properties": {"x": number, "y": number}}, *[{"x": None, "y": None}] * 2).values

    def test_an_empty_list_is_a_value(self):
        assert agreed(TAGS, {"tags": []}, {"tags": []}, {}) == {"tags": []}
        assert agreed(TAGS, {"tags": ["a"]}, {"tags": ["b"]}, {"tags": ["c"]}) == {"tags": []}

    def test_an_annotator_without_a_document_has_no_vote_on_it(self):
        annotations = {"a": {"p": {"tags": ["x"]}}, "b": {"p": {"tags": ["x"]}, "q": {"tags": ["y"]}}, "c": {}}
        result = build_consensus(Comparator(TAGS), annotations, min_annotators=1)
        assert result.documents == {"p": {"tags": ["x"]}, "q": {"tags": ["y"]}}
        assert result.disagreements == ()
        assert result.notes[0] == "1 document was annotated by only one annotator and copied unchanged."
        assert result.values == PathCounts(unanimous=1, flagged=1)
        assert result.provenance.values == {"q": {"": ValueOrigin(("b",), "single annotator")}}

    def test_a_document_of_one_annotator_is_left_out_and_close_ids_are_named(self):
        annotations = {"a": {"p": {"tags": []}, "Q": {"tags": []}}, "b": {"p": {"tags": []}, "q.json": {"tags": []}}}
        result = build_consensus(Comparator(TAGS), annotations)
        assert list(result.documents) == ["p"]
        assert result.notes[0] == (
            "2 of 3 documents have fewer than 2 annotators and are left out: 'Q' (a), 'q.json' (b). "
            "Use --min-annotators to keep them."
        )
        assert result.notes[1].endswith("such as 'Q', 'q.json'. Use --normalize-ids to join them.")
        with pytest.raises(DataError, match="No document was annotated by at least 3 annotators"):
            build_consensus(Comparator(TAGS), annotations, min_annotators=3)


class TestSingleValues:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (["u", "u", "v"], ("u", "not unanimous", (0.667, 0.333))),
            (["u", "v"], ("u", "tie", (0.5, 0.0))),
            (["u", "u", "v", "v"], ("u", "tie", (0.5, 0.0))),
            (["u", "u", "u", "v", "v"], ("u", "weak majority", (0.6, 0.2))),
            (["u", "u", "u", "v", "w"], ("u", "not unanimous", (0.6, 0.4))),
            (["u", "u", "v", "w"], ("u", "weak majority", (0.5, 0.25))),
        ],
    )
    def test_an_absolute_majority_wins(self, values, expected):
        assert field({"enum": ["u", "v", "w"]}, *values) == expected

    @pytest.mark.parametrize(
        ("margin", "flag"), [(0.0, "not unanimous"), (0.33, "not unanimous"), (0.34, "weak majority")]
    )
    def test_a_lead_below_the_margin_is_weak(self, margin, flag):
        assert field({"enum": ["u", "v"]}, "u", "u", "v", weak_margin=margin)[1] == flag

    def test_a_lead_equal_to_the_margin_is_not_weak(self):
        assert field({"enum": ["u", "v"]}, "u", "u", "u", "v", "v", weak_margin=0.2)[1] == "not unanimous"

    @pytest.mark.parametrize(
        ("values", "expected"), [([10, 12, 99], 12), ([10, 99, 12, 11], 11), ([1, 1, 5, 9, 9], 5), ([2.5, 7, 3], 3)]
    )
    def test_without_a_majority_numbers_have_their_lower_median(self, values, expected):
        value, flag, _ = field({"type": "number"}, *values)
        assert value == expected
        assert flag == "tie"

    def test_without_a_majority_dates_have_their_median(self):
        dates = ["1931-12-01", "1930", "1931-03-01", "1931-06-01", "1999-01-01"]
        assert field({"type": "string", "x-arbitre": {"distance": "date"}}, *dates)[:2] == ("1931-06-01", "tie")

    def test_without_a_majority_texts_have_their_medoid(self):
        assert field({"type": "string"}, "Aster", "Astor", "Castor")[:2] == ("Astor", "tie")

    def test_values_that_normalise_to_the_same_are_equal_and_the_most_frequent_notation_is_written(self):
        schema = {"type": "string", "x-arbitre": {"normalize": ["casefold"]}}
        assert field(schema, "ASTOR", "Astor", "Astor") == ("Astor", None)
        assert field(schema, "ASTOR", "astor", "Berg")[:2] == ("ASTOR", "not unanimous")

    def test_values_at_distance_0_are_equal(self):
        schema = {"type": "number", "x-arbitre": {"distance": {"tolerance": {"within": 0.5}}}}
        value, flag, votes = field(schema, 1.0, 1.4, 9.0)
        assert (value, flag, votes) == (1.0, "not unanimous", (0.667, 0.333))

    def test_values_of_different_kinds_are_a_disagreement(self):
        schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}
        assert field(schema, [1, 2], "see below", [1, 2]) == ([1, 2], "not unanimous", (0.667, 0.333))
        assert field(schema, "see below", "see below", [1, 2])[0] == "see below"
        assert field(schema, "see", [1])[:2] == ("see", "tie")

    def test_the_items_of_the_lists_among_values_of_different_kinds_are_put_to_the_vote(self):
        schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}
        result = build(
            {"type": "object", "properties": {"x": schema}}, {"x": [1, 2]}, {"x": [2, 3]}, {"x": [2]}, {"x": "s"}
        )
        assert result.documents["p"] == {"x": [2]}


class TestContainers:
    def test_items_with_less_than_half_the_quality_are_different_items(self):
        assert agreed(TAGS, {"tags": ["Astor"]}, {"tags": ["Aster"]}, {"tags": []}) == {"tags": ["Aster"]}
        assert agreed(TAGS, {"tags": ["Astor"]}, {"tags": ["Berg"]}, {"tags": []}) == {"tags": []}

    def test_a_gate_of_the_schema_says_which_items_are_the_same(self):
        gated = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"match": {"hungarian": {"gate": 0.9}}}}
        assert agreed(gated, ["Astor"], ["Aster"], []) == []

    def test_a_key_of_the_schema_says_which_items_are_the_same(self):
        names = {name: {"type": "string"} for name in ("code", "u", "v")}
        keyed = {
            "type": "array",
            "items": {"type": "object", "properties": names},
            "x-arbitre": {"match": {"keyed": {"key": "code"}}},
        }
        first, second = {"code": "k1", "u": "left", "v": "north"}, {"code": "k1", "u": "right", "v": "south"}
        assert agreed(keyed, [first], [second]) == [first]
        assert agreed(keyed, [first], [first | {"code": "k2"}]) == []
        unkeyed = {"u": "left", "v": "north"}
        assert agreed(keyed, [unkeyed, first], [second, unkeyed]) == [first, unkeyed]

    def test_maps_are_put_to_the_vote_key_by_key(self):
        schema = {"type": "object", "additionalProperties": {"type": "integer"}}
        assert agreed(schema, {"u": 1, "v": 2}, {"u": 1, "w": 3}, {"v": 2, "u": 5}) == {"u": 1, "v": 2}

    def test_positions_are_put_to_the_vote_one_by_one(self):
        schema = {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": {"type": "string"},
        }
        assert agreed(schema, ["u", 1, "s"], ["u", 2, "s"], ["v", 2]) == ["u", 2, "s"]
        assert agreed(schema, [None, 1], [None, 1], ["v", 1]) == [None, 1]

    def test_undeclared_keys_are_put_to_the_vote(self):
        assert agreed(TAGS, {"more": {"k": 1}}, {"more": {"k": 1, "l": 2}}, {}) == {"more": {"k": 1}}

    def test_keys_that_are_not_compared_are_put_to_the_vote_with_weight_0(self):
        schema = TAGS | {"x-arbitre": {"undeclared": "ignore"}}
        result = build(schema, {"note": [1, "x"]}, {"note": [1, "x"]}, {"note": [2]})
        assert result.documents["p"] == {"note": [1, "x"]}
        (disagreement,) = result.disagreements
        assert (disagreement.pointer, disagreement.weight) == ("/note", 0.0)

    def test_the_root_may_be_a_list_or_a_single_value(self):
        assert agreed({"type": "array", "items": {"type": "integer"}}, [1, 2], [2, 3], [2]) == [2]
        assert agreed({"type": "string"}, "u", "u", "v") == "u"

    def test_null_items_are_kept_like_others(self):
        schema = {"type": "array", "items": {"type": ["string", "null"]}}
        assert agreed(schema, ["u", None, "v"], ["u", None, "v"], ["u", "v"]) == ["u", None, "v"]

    def test_items_are_matched_whatever_their_order_and_kept_in_that_of_most_annotators(self):
        assert agreed(TAGS, {"tags": ["a", "b", "c"]}, {"tags": ["c", "b", "a"]}, {"tags": ["a", "b", "c"]}) == {
            "tags": ["a", "b", "c"]
        }
        assert agreed(TAGS, {"tags": ["b", "c"]}, {"tags": ["a", "c"]}, {"tags": ["a", "b"]}) == {
            "tags": ["a", "b", "c"]
        }

    def test_keys_are_in_the_order_of_most_annotators(self):
        first, last = {"u": 1, "v": 2}, {"v": 2, "u": 1}
        assert list(agreed({"type": "object"}, last, first, first)) == ["u", "v"]

    def test_items_that_are_matched_by_position_keep_their_positions(self):
        assert agreed(BOX, [10, 20, 30, 40], [10, 21, 30, 40], [10, 22, 30, 40]) == [10, 21, 30, 40]
        assert agreed(BOX, [1, 2], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]) == [1, 2, 3, 4, 5]
        assert agreed(BOX, [5, 5], [5, 5, 1, 5, 5], [5, 5, 1, 5, 5], strategy="minimum-risk") == [5, 5, 1, 5, 5]
        assert agreed(ordered({"type": "string"}), list("ab"), list("ba"), list("ba")) == list("ba")
        objects = ordered({"type": "object", "properties": {"k": {"type": "integer"}, "v": {"type": "integer"}}})
        first, second = {"k": 1, "v": 1}, {"k": 2, "v": 2}
        assert agreed(objects, [first, second], [second, first], [first, first]) == [first, first]

    def test_items_that_are_matched_in_sequence_keep_their_order(self):
        texts = ordered({"type": "string"}, "sequence")
        assert agreed(texts, list("ab"), list("ba"), strategy="unanimity") in (["a"], ["b"])
        assert agreed(texts, list("abcd"), list("acd"), list("xabd")) == list("abcd")
        assert agreed(texts, list("ab"), list("bcd"), list("abcd")) == list("abcd")

    def test_null_items_stay_between_the_items_that_are_matched_by_position(self):
        assert agreed(BOX, [1, None, 2], [1, None, 3], [1, None, 3]) == [1, None, 3]

    def test_equal_items_of_one_annotator_stay_apart(self):
        result = build(TAGS, {"tags": ["a", "a"]}, {"tags": ["a", "a"]}, {"tags": ["a"]})
        assert result.documents["p"] == {"tags": ["a", "a"]}
        assert [(own.path, own.support) for own in result.disagreements] == [("/tags/*", pytest.approx(2 / 3))]


ASTOR, BERG = {"name": "Astor", "party": "left", "page": 3}, {"name": "Berg", "party": "left", "page": 4}
ADA = {"speakers": [ASTOR, BERG], "note": "x"}
BOB = {"speakers": [BERG, ASTOR | {"party": "right"}, {"name": "Cohen"}]}
CY = {"speakers": [ASTOR | {"name": "Aster"}, BERG]}


class TestTheResult:
    def test_disagreements_are_sorted_by_the_share_of_the_quality_at_stake(self):
        result = build(SPEAKERS, ADA, BOB, CY)
        expected = [
            ("/note", 1 / 2 * 2 / 3),  # one of two fields; two of three pairs of annotators differ
            ("/speakers/2", 1 / 2 * 1 / 3 * 2 / 3),  # one of three items
            ("/speakers/0/party", 1 / 2 * 1 / 3 * 1 / 3 * 2 / 3),  # one of three fields
            ("/speakers/0/name", 1 / 2 * 1 / 3 * 1 / 3 * 2 / 3 * 2 / 11),  # distance of Astor and Aster
        ]
        assert [(own.pointer, own.weight) for own in result.disagreements] == [
            (pointer, pytest.approx(weight)) for pointer, weight in expected
        ]

    def test_weights_of_the_schema_count(self):
        schema = {
            "type": "object",
            "properties": {"u": {"enum": [1, 2], "x-arbitre": {"weight": 3}}, "v": {"enum": [1, 2]}},
        }
        result = build(schema, {"u": 1, "v": 1}, {"u": 2, "v": 2})
        assert [(own.pointer, own.weight) for own in result.disagreements] == [("/u", 0.75), ("/v", 0.25)]

    def test_the_context_is_the_entry_or_else_the_document(self):
        result = build(SPEAKERS, ADA, BOB, CY)
        contexts = {own.pointer: own.context for own in result.disagreements}
        assert contexts["/speakers/0/party"] == ASTOR
        assert contexts["/note"] == contexts["/speakers/2"] == result.documents["p"]

    def test_the_context_in_a_long_list_is_the_items_nearby(self):
        every = [{"name": f"{name}{name}{name}{name}"} for name in "abcdefghijklmnopqrstuvwxyz"]
        ends = {"speakers": every[1:-1], "note": "x"}
        result = build(SPEAKERS, {"speakers": every, "note": "x"}, ends, {"speakers": every, "note": "y"})
        assert result.documents["p"] == {"speakers": every, "note": "x"}
        contexts = {own.pointer: own.context for own in result.disagreements}
        assert contexts["/speakers/0"] == {"speakers": [*every[:11], "…"], "note": "x"}
        assert contexts["/speakers/25"] == {"speakers": ["…", *every[-11:]], "note": "x"}
        assert contexts["/note"] == {"speakers": [*every[:11], "…"], "note": "x"}

    def test_the_context_of_an_item_in_a_nested_list_is_the_items_nearby(self):
        rows = [[number * 100 + at for at in range(30)] for number in range(30)]
        fewer = [*rows[:20], [*rows[20][:15], *rows[20][16:]], *rows[21:]]
        schema = {"properties": {"rows": {"items": {"items": {"type": "integer"}}}}}
        (own,) = build(schema, {"rows": rows}, {"rows": fewer}, {"rows": rows}).disagreements
        assert own.pointer == "/rows/20/15"
        assert own.context == ["…", *rows[20][10:21], "…"]

    def test_the_evidence_is_estimated_from_the_different_rows_of_qualities(self, monkeypatch):
        sizes, frequencies = [], item_evidence._frequencies

        def counted(levels, weights=None):
            if weights is not None:
                sizes.append((len(weights), weights.sum()))
            return frequencies(levels, weights)

        monkeypatch.setattr(item_evidence, "_frequencies", counted)
        every = [{"name": f"{at * 7919 % 1000:03}" * 3, "party": "left", "page": at} for at in range(60)]
        result = build(SPEAKERS, *({"speakers": every[start : start + 50]} for start in (0, 5, 10)))
        assert len(result.documents["p"]["speakers"]) >= 50
        assert max(size for size, _ in sizes) < 100  # of 2,500 pairs of items
        assert sizes[-1][1] == pytest.approx(45, abs=0.1)  # items that the first two annotators share

    def test_values_are_counted_by_path(self):
        result = build(SPEAKERS, ADA, BOB, CY)
        assert result.by_path["/speakers/*"] == PathCounts(unanimous=2, left_out=1)
        assert result.by_path["/speakers/*/name"] == PathCounts(unanimous=1, majority=1, left_out=1)
        assert result.values == PathCounts(unanimous=4, majority=2, left_out=2)

    def test_the_provenance_names_who_has_a_value_that_not_all_have(self):
        provenance = build(SPEAKERS, ADA, BOB, CY).provenance
        assert provenance.values == {
            "p": {
                "/speakers/0/name": ValueOrigin(("a", "b"), "majority"),
                "/speakers/0/party": ValueOrigin(("a", "c"), "majority"),
            }
        }
        assert (provenance.disagreements.total, provenance.disagreements.flagged) == (4, 0)
        assert provenance.annotators == ("a", "b", "c")
        assert provenance.agreement.coefficient == "alpha_d"

    def test_the_agreement_is_that_of_agree(self):
        annotations = {"a": {"p": ADA, "q": BOB}, "b": {"p": BOB, "q": CY}, "c": {"p": CY, "q": CY}}
        comparator = Comparator(SPEAKERS)
        alpha = agreement.structural(comparator, annotations).alpha
        assert build_consensus(comparator, annotations).provenance.agreement.value == alpha.value

    def test_to_dict_is_json_and_marks_absent_values(self):
        plain = json.loads(json.dumps(build(SPEAKERS, ADA, BOB, CY).to_dict()))
        note = plain["disagreements"][0]
        assert note["absent"] is True
        assert "proposal" not in note
        assert note["readings"] == [
            {"annotator": "a", "pointer": "/note", "value": "x"},
            {"annotator": "b", "pointer": None, "absent": True},
            {"annotator": "c", "pointer": None, "absent": True},
        ]

    @pytest.mark.parametrize("given", [{"strategy": "majorty"}, {"weak_margin": 1.5}], ids=["strategy", "margin"])
    def test_options_out_of_range_are_refused(self, given):
        with pytest.raises(OptionError, match="Expected"):
            build(TAGS, {}, {}, **given)

    def test_a_single_annotator_is_refused(self):
        with pytest.raises(DataError, match="at least two annotators"):
            build(TAGS, {})

    def test_two_annotators_are_warned_about(self):
        assert build(TAGS, {}, {}).notes == ("With two annotators, there is no majority: every disagreement is a tie.",)


PEOPLE = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "x-arbitre": {"id": "person"}},
                    "name": {"type": "string"},
                    "born": {"type": "integer"},
                },
            },
        },
        "letters": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "date": {"type": "string"},
                    "to": {"type": "array", "items": {"type": "string"}, "x-arbitre": {"ref": "person"}},
                },
            },
        },
    },
}


class TestErrorsInTheGold:
    @pytest.fixture
    def letters(self):
        """Two of five annotators have the person z; two of the three who have the second letter refer to z."""
        known = [{"id": "h", "name": "Hugo Keller", "born": 1861}, {"id": "m", "name": "Max Brandt", "born": 1884}]
        first = {"date": "1914-08-02", "to": ["h"]}
        second = {"date": "1920-01-01", "to": ["h"]}
        everything = {
            "people": [*known, {"id": "z", "name": "Zoe Quist", "born": 1900}],
            "letters": [first, second | {"to": ["h", "z"]}],
        }
        nobody = {"people": known, "letters": [first]}
        return [everything, everything, {"people": known, "letters": [first, second]}, nobody, nobody]

    def test_a_reference_to_an_item_that_is_left_out_is_reported(self, letters):
        result = build(PEOPLE, *letters)
        assert [one["id"] for one in result.documents["p"]["people"]] == ["h", "m"]
        assert result.documents["p"]["letters"][1]["to"] == ["h", "z"]
        assert result.notes[-1] == (
            "In 1 document, the gold has ids or references that `arbitre evaluate` refuses, for example in 'p' at "
            "/letters/1/to/1. Annotators vote separately on items and on references to them, so the gold can keep a "
            "reference to an item that was left out. Correct these ids and references in the gold."
        )
        with pytest.raises(DataError, match="The reference 'z' in gold is dangling"):
            Comparator(PEOPLE).compare(gold=result.documents["p"], predicted=letters[2])

    def test_decisions_can_leave_out_an_item_with_references(self, letters):
        everything, _, without, *_ = letters
        annotations = {"a": {"p": everything}, "b": {"p": everything}, "c": {"p": everything | without}}
        annotations["c"]["p"]["letters"] = everything["letters"]
        made = Decisions("d.jsonl", {"p#/people/2": Decision("p#/people/2", ABSENT, "Zoé")})
        for decisions, wrong in ((None, False), (made, True)):
            notes = build_consensus(Comparator(PEOPLE), annotations, strategy="collegial", decisions=decisions).notes
            assert (
                any("`arbitre evaluate` refuses, for example in 'p' at /letters/1/to/1." in n for n in notes) is wrong
            )

    def test_a_required_field_that_is_left_out_is_reported(self):
        schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
        documents = {"p": {"x": "a"}, "q": {"x": "a"}, "r": {"x": "a"}}
        annotations = {"a": documents, "b": documents | {"q": {}, "r": {}}, "c": documents | {"q": {}, "r": {}}}
        (note,) = build_consensus(Comparator(schema), annotations, strategy="majority").notes
        assert note == (
            "In 2 documents, the gold violates the schema, for example in 'q' at /: `'x' is a required property "
            "(required)`."
        )

    def test_an_empty_list_can_violate_the_schema_though_no_annotator_did(self):
        tags = {"type": "object", "properties": {"tags": {"type": "array", "minItems": 1}}}
        notes = build(tags, {"tags": ["abc"]}, {"tags": ["xyz"]}, {"tags": ["mno"]}).notes
        assert notes[-1].startswith("In 1 document, the gold violates the schema, for example in 'p' at /tags: ")

    def test_a_value_that_is_valid_after_normalisation_is_no_violation(self):
        amount = {"type": "number", "x-arbitre": {"normalize": [{"number": {"decimal": ","}}]}}
        schema = {"type": "object", "properties": {"amounts": {"type": "array", "items": amount}}}
        assert not build(schema, *[{"amounts": ["87,5", 2]}] * 3).notes
        (note,) = build(schema, *[{"amounts": ["87,5", "many"]}] * 3).notes
        assert "at /amounts/1: `'many' is not of type 'number' (type)`." in note


class TestUnanimity:
    def test_only_what_all_annotators_share_is_kept(self):
        result = build(SPEAKERS, ADA, BOB, CY, strategy="unanimity")
        assert result.documents["p"] == {"speakers": [{"page": 3}, BERG]}

    def test_it_reports_what_it_left_out(self):
        result = build(SPEAKERS, ADA, BOB, CY, strategy="unanimity")
        assert result.values == PathCounts(unanimous=4, left_out=4)
        assert result.by_path["/speakers/*"] == PathCounts(unanimous=2, left_out=1)
        assert result.notes[0].startswith("Unanimity left out 4 of 8 values (50.0%). The remaining values are the easy")
        assert {own.flag for own in result.disagreements} == {"not unanimous"}

    def test_an_entry_of_which_nothing_is_shared_is_left_out_as_a_whole(self):
        result = build(
            SPEAKERS,
            {"speakers": [{"party": "left"}]},
            {"speakers": [{"party": "left", "name": "Berg"}]},
            strategy="unanimity",
        )
        assert result.documents["p"] == {"speakers": [{"party": "left"}]}
        apart = build(
            SPEAKERS, {"speakers": [{"name": "Berg"}]}, {"speakers": [{"name": "Bert"}]}, strategy="unanimity"
        )
        assert apart.documents["p"] == {}
        assert [own.pointer for own in apart.disagreements] == ["/speakers"]

    def test_a_list_that_is_matched_by_position_ends_before_the_first_item_that_is_not_shared(self):
        assert agreed(BOX, [10, 20, 30], [10, 21, 30], strategy="unanimity") == [10]
        result = build(
            {"type": "object", "properties": {"box": BOX}}, {"box": [10, 20]}, {"box": [20, 10]}, strategy="unanimity"
        )
        assert result.documents["p"] == {}
        assert result.values == PathCounts(left_out=2)

    @pytest.mark.parametrize("match", ["hungarian", "ordered"])
    def test_a_list_ends_before_the_first_position_that_is_not_shared(self, match):
        schema = ordered({"type": "string"}, match) | {"prefixItems": [{"type": "boolean"}, {"type": "integer"}]}
        result = build(schema, [True, 1, "b"], [True, 2, "b"], strategy="unanimity")
        assert result.documents["p"] == [True]
        assert result.values == PathCounts(unanimous=1, left_out=2)
        assert agreed(schema, [None, 1, "b"], [None, 1, "b"], strategy="unanimity") == [None, 1, "b"]
        boxed = {"type": "object", "properties": {"x": schema}}
        assert agreed(boxed, {"x": [True, 1]}, {"x": [False, 1]}, strategy="unanimity") == {}

    def test_a_document_without_a_shared_value_is_left_out_if_it_is_a_single_value(self):
        assert build({"type": "string"}, "u", "v", strategy="unanimity").documents == {}


def votes(experts, others, size=40):
    """Experts who are right, and annotators who always say left."""
    truth = ["right" if at % 2 else "left" for at in range(size)]
    said = dict.fromkeys(experts, truth) | {name: ["left"] * size for name in others}
    return truth, {name: {f"{at:02}": {"party": value} for at, value in enumerate(own)} for name, own in said.items()}


PARTY = {"type": "object", "properties": {"party": {"enum": ["left", "right"]}}}
CATEGORY = {"type": "object", "properties": {"c": {"enum": ["A", "B", "C"]}}}
LEVEL = {"enum": [1, 2, 3, 4, 5], "x-arbitre": {"distance": {"ordinal": {"order": [1, 2, 3, 4, 5]}}}}


def random_categories(seed, names="abc", size=40):
    """Annotators who choose at random."""
    rng = random.Random(seed)  # noqa: S311
    return {name: {f"{at:02}": {"c": rng.choice("ABC")} for at in range(size)} for name in names}


def most_probable(votes, categories, steps=100):
    """The category of each document by Dawid and Skene (1979), from votes of shape (documents, annotators)."""
    said = votes[:, :, None] == np.arange(categories)  # all False if an annotator has no vote (-1)
    posterior = said.sum(axis=1) / said.sum(axis=(1, 2))[:, None]
    for _ in range(steps):
        errors = np.einsum("dt,das->ats", posterior, said) + 1e-10
        errors /= errors.sum(axis=2, keepdims=True)
        odds = np.log(posterior.mean(axis=0)) + np.einsum("das,ats->dt", said, np.log(errors))
        posterior = np.exp(odds - odds.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior.argmax(axis=1)


@pytest.mark.usefixtures("without_standing")
class TestDawidSkene:
    @pytest.fixture(autouse=True)
    def few_steps(self, monkeypatch, request):
        """Each step of crowd-kit takes 25 ms, and only one test needs convergence."""
        if "converged" not in request.node.name:
            monkeypatch.setattr(dawid_skene, "STEPS", 4)

    def test_the_estimate_is_that_of_converged_expectation_maximisation(self):
        """Two careful annotators, and three who often choose the most frequent category; each has 75% of documents."""
        pytest.importorskip("crowdkit")
        rng = np.random.default_rng(0)
        truth = rng.choice(3, 400, p=[0.6, 0.2, 0.2])
        careful = rng.random((400, 5)) < [0.9, 0.85, 0.4, 0.4, 0.4]
        wrong = np.where(np.arange(5) < 2, rng.integers(3, size=(400, 5)), 0)
        votes = np.where(careful, truth[:, None], wrong)
        votes[rng.random((400, 5)) > 0.75] = -1
        several = (votes >= 0).sum(axis=1) > 1
        votes, truth = votes[several], truth[several]
        annotations = {
            name: {f"{at:03}": {"c": "ABC"[vote]} for at, vote in enumerate(own) if vote >= 0}
            for name, own in zip("abcde", votes.T.tolist(), strict=True)
        }
        documents = build_consensus(Comparator(CATEGORY), annotations, strategy="dawid-skene").documents
        found = np.array(["ABC".index(documents[f"{at:03}"]["c"]) for at in range(len(votes))])
        expected = most_probable(votes, 3)
        given = (votes == expected[:, None]).any(axis=1)
        assert (found == expected)[given].all()
        assert (found == truth).mean() > 0.9

    def test_annotators_who_always_say_the_same_do_not_outvote_two_who_agree(self):
        pytest.importorskip("crowdkit")
        truth, annotations = votes("ab", "xyz")
        results = {
            strategy: build_consensus(Comparator(PARTY), annotations, strategy=strategy)
            for strategy in ("majority", "dawid-skene")
        }
        parties = {name: [own["party"] for own in result.documents.values()] for name, result in results.items()}
        assert parties == {"majority": ["left"] * 40, "dawid-skene": truth}
        estimated = results["dawid-skene"]
        assert estimated.provenance.values["01"]["/party"] == ValueOrigin(("a", "b"), "dawid-skene")
        assert {own.flag for own in estimated.disagreements} == {"weak majority"}
        assert "err independently" in estimated.notes[0]

    @pytest.mark.slow
    def test_the_same_votes_give_the_same_bytes(self):
        pytest.importorskip("crowdkit")
        _, annotations = votes("ab", "xyz")
        texts = {
            json.dumps(build_consensus(Comparator(PARTY), own, strategy="dawid-skene").to_dict())
            for own in (annotations, dict(reversed(annotations.items())))
        }
        assert len(texts) == 1

    def test_the_votes_decide_if_the_most_probable_category_was_not_given(self):
        pytest.importorskip("crowdkit")
        annotations = random_categories(16)
        assert [own["13"]["c"] for own in annotations.values()] == ["C", "B", "C"]
        result = build_consensus(Comparator(CATEGORY), annotations, strategy="dawid-skene")
        assert result.documents["13"] == {"c": "C"}
        assert {own.flag for own in result.disagreements if own.document == "13"} == {"not unanimous"}

    @pytest.mark.parametrize(
        ("schema", "values", "expected"),
        [
            (CATEGORY["properties"]["c"], "CBA", "A"),
            (CATEGORY["properties"]["c"], "CCAA", "A"),
            (LEVEL, (4, 1, 3), 3),
            (LEVEL, (4, 4, 2, 2), 2),
        ],
    )
    def test_equally_probable_categories_with_equally_many_votes_are_decided_as_with_majority(
        self, schema, values, expected
    ):
        pytest.importorskip("crowdkit")
        found = field(schema, *values, strategy="dawid-skene")
        assert found[:2] == (expected, "tie")
        assert found == field(schema, *values)

    def test_of_two_tied_levels_the_one_nearest_to_the_median_wins(self):
        pytest.importorskip("crowdkit")
        assert field(LEVEL, 4, 4, 3, 1, 1, strategy="dawid-skene") == (1, "tie", (0.4, 0.0))
        assert field(LEVEL, 1, 1, 2, 3, 4, 4, 5, strategy="dawid-skene") == (4, "tie", (0.286, 0.0))

    def test_tied_categories_are_a_tie_even_if_more_annotators_have_none(self):
        pytest.importorskip("crowdkit")
        votes = "B", "B", "A", "A", ABSENT, ABSENT, ABSENT
        assert field(CATEGORY["properties"]["c"], *votes, strategy="dawid-skene") == ("A", "tie", (0.286, -0.143))

    @pytest.mark.parametrize("seed", [16, 17])
    def test_the_order_and_the_names_of_annotators_do_not_matter(self, seed):
        pytest.importorskip("crowdkit")
        pages = random_categories(seed, size=12).values()
        results = [
            build_consensus(Comparator(CATEGORY), dict(zip(names, pages, strict=True)), strategy="dawid-skene")
            for names in itertools.permutations("abc")
        ]
        assert len({json.dumps(result.documents, sort_keys=True) for result in results}) == 1
        assert len({tuple((own.id, own.flag, own.margin) for own in result.disagreements) for result in results}) == 1

    def test_texts_numbers_and_presence_are_decided_by_majority(self):
        pytest.importorskip("crowdkit")
        documents = [{"speakers": [{"name": name}]} for name in ("Astor", "Astor", "Aster")]
        result = build(SPEAKERS, *documents, strategy="dawid-skene")
        assert result.documents["p"] == {"speakers": [{"name": "Astor"}]}
        assert result.notes == ("No path has more than one category. The result is the same as with majority.",)
        assert result.provenance.values["p"]["/speakers/0/name"].by == "majority"

    def test_three_annotators_and_few_values_are_warned_about(self):
        pytest.importorskip("crowdkit")
        _, annotations = votes("ab", "x", size=6)
        notes = build_consensus(Comparator(PARTY), annotations, strategy="dawid-skene").notes
        assert notes[1].startswith("Dawid-Skene is unreliable with 3 annotators")
        assert notes[2] == "/party: 6 values in 2 categories are too few for reliable error rates."

    def test_two_annotators_are_refused(self):
        with pytest.raises(OptionError, match="requires at least 3 annotators, got 2"):
            build(PARTY, {"party": "left"}, {"party": "right"}, strategy="dawid-skene")

    def test_a_missing_library_is_named_with_its_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
        _, annotations = votes("ab", "x", size=4)
        with pytest.raises(DataError, match=r"crowd-kit[\s\S]*arbitre\[consensus\]"):
            build_consensus(Comparator(PARTY), annotations, strategy="dawid-skene")


class TestFiles:
    def test_evaluate_reads_the_documents_and_their_provenance(self, tmp_path):
        result = build(SPEAKERS, ADA, BOB, CY)
        written, sidecar = result.save(tmp_path / "gold.jsonl")
        assert Provenance.read(written) == result.provenance
        assert sidecar.name == "gold.jsonl.provenance.json"
        evaluation = arbitre.evaluate(SPEAKERS, gold=written, predicted=written, no_chance=True)
        assert evaluation.micro.f1q == 1.0

    def test_the_id_has_the_key_that_was_asked_for(self, tmp_path):
        build(TAGS, {"tags": []}, {"tags": []}).save(tmp_path / "gold.jsonl", id_key="page")
        assert (tmp_path / "gold.jsonl").read_text(encoding="utf-8") == '{"page": "p", "tags": []}\n'

    def test_a_folder_takes_documents_of_any_kind(self, tmp_path):
        result = build({"type": "array", "items": {"type": "integer"}}, [1], [1])
        for _ in range(2):  # its own documents are replaced
            result.save(tmp_path / "gold")
        assert json.loads((tmp_path / "gold" / "p.json").read_text(encoding="utf-8")) == [1]
        assert (tmp_path / "gold.provenance.json").is_file()

    @pytest.mark.parametrize(
        ("document", "name", "message"),
        [
            ([1], "gold.jsonl", "it is not an object"),
            ({"id": 1}, "gold.jsonl", "it has a field 'id'"),
            ({"run": 1}, "gold.jsonl", "it has a field 'run'"),
            ({}, "gold.json", "a .jsonl file or a folder"),
        ],
        ids=["list", "id", "run", "json"],
    )
    def test_what_cannot_be_read_back_is_refused(self, tmp_path, document, name, message):
        with pytest.raises(DataError, match=message):
            build({}, document, document).save(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_with_other_documents_is_refused(self, tmp_path):
        (tmp_path / "other.json").write_text("{}", encoding="utf-8")
        with pytest.raises(DataError, match=r"files that arbitre did not write, such as other\.json"):
            build({}, {}, {}).save(tmp_path)

    @pytest.mark.parametrize("identity", ["a/b", "CON", "aux.1", "lpt9"])
    def test_an_id_that_is_no_file_name_is_refused_in_a_folder(self, tmp_path, identity):
        result = build_consensus(Comparator({}), {name: {identity: {}} for name in "ab"})
        with pytest.raises(DataError, match="cannot be used as a file name"):
            result.save(tmp_path / "gold")


class TestSystems:
    def test_unanimous_and_contested_values_are_scored_apart(self):
        predicted = {"speakers": [ASTOR | {"party": "right"}, BERG, {"name": "X"}]}
        result = build(SPEAKERS, ADA, BOB, CY, predictions={"system": [("p", predicted), ("elsewhere", {})]})
        scores = result.systems["system"]
        assert (scores.unanimous.values, scores.unanimous.exact, scores.unanimous.quality) == (4, 1.0, 1.0)
        assert (scores.contested.values, scores.contested.exact, scores.contested.quality) == (2, 0.5, 0.5)

    def test_the_gold_for_unanimity_is_the_majority(self):
        predictions = {"system": [("p", ADA)]}
        results = [
            build(SPEAKERS, ADA, BOB, CY, strategy=own, predictions=predictions) for own in ("majority", "unanimity")
        ]
        assert results[0].systems == results[1].systems

    def test_a_missing_prediction_has_quality_0(self):
        scores = build(SPEAKERS, ADA, BOB, CY, predictions={"system": []}).systems["system"]
        assert (scores.unanimous.quality, scores.contested.quality) == (0.0, 0.0)

    def test_without_contested_values_their_scores_are_undefined(self):
        scores = build(SPEAKERS, ADA, ADA, predictions={"system": [("p", ADA)]}).systems["system"]
        assert (scores.contested.values, scores.contested.exact, scores.contested.quality) == (0, None, None)
