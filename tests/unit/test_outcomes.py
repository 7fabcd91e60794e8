"""The numbers of exact, close, wrong, missing, spurious and wrongly typed values of each path."""

import json
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre import ABSENT, Comparator, Comparison, OptionError, QualityBound, check_bounds
from arbitre.corpus.checkpoints import Checkpoints
from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.quality_bounds import check_plain
from arbitre.tally import OUTCOMES

TEXT = {"type": "string"}
LETTER = Comparator(
    {
        "type": "object",
        "properties": {
            "name": TEXT,
            "page": {"type": "integer"},
            "people": {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}},
        },
    }
)


def outcomes(gold, predicted, comparator=LETTER):
    """The outcomes by path that are not 0."""
    paths = comparator.compare(gold=gold, predicted=predicted).by_path()
    counts = {path: {name: getattr(scores, name) for name in OUTCOMES} for path, scores in paths.items()}
    return {path: {name: count for name, count in row.items() if count} for path, row in counts.items()}


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ("Marguerite", {"exact": 1.0}),
        ("Margueritte", {"close": 1.0}),
        ("Bob", {"wrong": 1.0}),
        (7, {"wrong_type": 1.0, "wrong_type_predicted": 1.0}),
        (ABSENT, {"missing": 1.0}),
    ],
)
def test_a_value_has_one_outcome(predicted, expected):
    prediction = {} if predicted is ABSENT else {"name": predicted}
    found = outcomes({"name": "Marguerite", "page": 1}, prediction | {"page": 1})
    assert found == {"/name": expected, "/page": {"exact": 1.0}}


def test_a_value_without_gold_is_spurious():
    assert outcomes({"name": "Ada"}, {"name": "Ada", "page": 3})["/page"] == {"spurious": 1.0}


def test_the_threshold_of_close_is_an_option():
    strict = Comparator(TEXT, close=0.99)
    assert outcomes("Marguerite", "Margueritte", strict) == {"": {"wrong": 1.0}}


def test_the_leaves_of_an_object_opposite_a_leaf_are_of_a_wrong_type_at_their_own_paths():
    gold, predicted = {"name": "Ada", "page": 1}, {"name": {"first": "Ada", "last": "King"}, "page": 1}
    assert outcomes(gold, predicted) == {
        "/name": {"wrong_type": 1.0},
        "/name/first": {"wrong_type_predicted": 1.0},
        "/name/last": {"wrong_type_predicted": 1.0},
        "/page": {"exact": 1.0},
    }


def test_the_items_of_a_list_opposite_a_leaf_are_of_a_wrong_type():
    assert outcomes({"people": [{"name": "Ada"}, {"name": "Bob"}]}, {"people": "Ada, Bob"}) == {
        "/people": {"wrong_type_predicted": 1.0},
        "/people/*": {"wrong_type": 2.0},
        "/people/*/name": {"wrong_type": 2.0},
    }


def test_an_item_of_another_type_is_one_value_on_both_sides():
    gold = {"people": [{"name": "Ada"}, {"name": "Bob"}, {"name": "Cy"}]}
    assert outcomes(gold, {"people": [{"name": "Ada"}, "Bob"]}) == {
        "/people/*": {"exact": 1.0, "wrong_type": 1.0, "wrong_type_predicted": 1.0, "missing": 1.0},
        "/people/*/name": {"exact": 1.0, "wrong_type": 1.0, "missing": 1.0},
    }


def test_an_item_has_the_outcome_of_its_quality():
    person = {"type": "object", "properties": dict.fromkeys("abcde", TEXT)}
    gold = dict.fromkeys("abcde", "same")
    comparator = Comparator({"type": "array", "items": person})
    assert outcomes([gold], [gold | {"a": "xyz"}], comparator)["/*"] == {"close": 1.0}
    assert outcomes([gold], [gold | {"a": "xyz", "b": "xyz"}], comparator)["/*"] == {"wrong": 1.0}


def test_an_empty_list_opposite_items_is_missing():
    assert outcomes({"people": []}, {"people": [{"name": "Ada"}]}) == {
        "/people": {"missing": 1.0},
        "/people/*": {"spurious": 1.0},
        "/people/*/name": {"spurious": 1.0},
    }
    assert outcomes({"people": []}, {"people": []}) == {"/people": {"exact": 1.0}}


def test_transport_counts_masses():
    """Two gold items share one predicted item: half of its mass stays spurious only if it is not needed."""
    items = {"type": "array", "items": TEXT, "x-arbitre": {"match": {"transport": {"solver": "exact"}}}}
    assert outcomes(["aa", "bb"], ["aa"], Comparator(items)) == {"/*": {"exact": 1.0, "wrong": 1.0}}
    scores = Comparator(items).compare(gold=["aa"], predicted=["aa", "bb"]).by_path()["/*"]
    assert (scores.gold, scores.predicted, scores.exact, scores.wrong) == (1.0, 1.0, 0.5, 0.5)
    assert scores.exact_match_rate == 0.5


def test_the_exact_match_rate_is_the_share_of_gold_and_none_without_gold():
    rates = LETTER.compare(
        gold={"people": [{"name": "Ada"}, {"name": "Bob"}]}, predicted={"people": [{"name": "Ada"}], "page": 1}
    ).by_path()
    assert {path: scores.exact_match_rate for path, scores in rates.items()} == {
        "/page": None,
        "/people/*": 0.5,
        "/people/*/name": 0.5,
    }


GOLD = {"name": "Ada", "page": 1, "people": [{"name": "Ada"}]}
CORPUS = [
    ("a", GOLD, GOLD),
    ("b", GOLD, {"name": "Adda", "people": "Ada"}),
    ("c", GOLD, {"name": ["Ada"], "page": "1", "people": [{"name": "Ada"}, {}]}),
    ("d", GOLD, ABSENT),
    ("e", {}, {}),
]


def test_a_corpus_sums_the_outcomes_of_its_documents():
    evaluation = LETTER.evaluate(CORPUS)
    alone = [LETTER.compare(gold=gold, predicted=predicted).by_path() for _, gold, predicted in CORPUS]
    for path, scores in evaluation.by_path.items():
        parts = [paths[path] for paths in alone if path in paths]
        assert {name: getattr(scores, name) for name in OUTCOMES} == {
            name: sum(getattr(part, name) for part in parts) for name in OUTCOMES
        }
    name = evaluation.by_path["/name"]
    assert (name.exact, name.close, name.wrong, name.wrong_type, name.missing) == (1.0, 0.0, 1.0, 1.0, 1.0)
    assert name.exact_match_rate == 0.25


def test_the_exact_match_rate_of_documents_counts_failures_as_not_exact():
    assert LETTER.evaluate(CORPUS).document_quality.exact_match_rate == 2 / 5
    assert LETTER.evaluate([]).document_quality.exact_match_rate is None


def test_quality_bounds_limit_the_exact_match_rate_of_paths_and_of_documents():
    evaluation = LETTER.evaluate(CORPUS)
    bounds = {"/name:exact_match_rate": 0.3, "/page:exact_match_rate": 0.1, "document_quality.exact_match_rate": 0.5}
    missed = ["/name:exact_match_rate is 0.2500, 0.0500 below 0.3"]
    missed += ["document_quality.exact_match_rate is 0.4000, 0.1000 below 0.5"]
    assert list(map(str, check_bounds(evaluation, fail_under=bounds))) == missed
    plain = evaluation.to_dict()
    assert [str(each) for each in check_plain(plain, [QualityBound.of(*each) for each in bounds.items()])] == missed
    comparison = LETTER.compare(gold=GOLD, predicted=GOLD | {"page": 2})
    assert check_bounds(comparison, fail_under={"/name:exact_match_rate": 1.0}) == ()
    (alone,) = check_bounds(comparison, fail_under={"/page:exact_match_rate": 0.5})
    assert alone.value == 0.0
    (over,) = check_bounds(evaluation, fail_over={"/page:exact_match_rate": 0.1})
    assert over.value == 0.25


@pytest.mark.parametrize("measure", ["exact_match_rate", "macro.exact_match_rate", "leaves.exact_match_rate"])
def test_the_pooled_entries_have_no_exact_match_rate_to_bound(measure):
    with pytest.raises(OptionError, match="exact_match_rate of a path or of whole documents"):
        QualityBound.of(measure, 0.9)


def test_a_bound_on_a_path_without_its_slash_names_the_path():
    with pytest.raises(OptionError, match="Did you mean"):
        QualityBound.of("name:exact_match_rate", 0.9)


def test_a_comparison_read_from_json_has_the_same_outcomes():
    for _, gold, predicted in CORPUS:
        comparison = LETTER.compare(gold=gold, predicted=predicted)
        read = Comparison.from_dict(json.loads(json.dumps(comparison.to_dict())))
        assert read.by_path() == comparison.by_path()


def test_a_resumed_evaluation_reads_the_outcomes_from_its_checkpoints(tmp_path):
    once, again = (
        evaluate(
            LETTER.plan,
            CORPUS,
            ExecutionOptions(checkpoints=Checkpoints(tmp_path, LETTER.plan.signature, resume=resume)),
        )
        for resume in (False, True)
    )
    assert again.by_path == once.by_path == LETTER.evaluate(CORPUS).by_path


class TestTrueNegatives:
    SCHEMA: ClassVar = {
        "type": "object",
        "properties": {
            "date": TEXT,
            "people": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": TEXT, "age": {"type": ["integer", "null"]}, "place": {"type": "object"}},
                },
            },
        },
    }
    GOLD: ClassVar = {"people": [{"name": "Ada"}, {"name": "Bob", "age": 3}, {"name": "Cy"}, {"name": "Di"}]}
    PREDICTED: ClassVar = {
        "date": "1867",
        "people": [{"name": "Ada", "age": 4}, {"name": "Bob"}, {"name": "Cy", "age": None}, {"name": "Zoltan Kovacs"}],
    }

    def comparator(self):
        return Comparator(self.SCHEMA, match={"hungarian": {"gate": 0.4}})

    def test_fields_that_gold_lacks_are_counted_in_matched_objects(self):
        paths = self.comparator().compare(gold=self.GOLD, predicted=self.PREDICTED).by_path
        age, date, name = (paths[path] for path in ("/people/*/age", "/date", "/people/*/name"))
        assert (age.absent, age.true_negatives, age.specificity) == (2.0, 1.0, 0.5)  # of Ada and Cy; Di has no partner
        assert (date.absent, date.specificity) == (1.0, 0.0)
        assert (name.absent, name.specificity) == (0.0, None)

    def test_a_corpus_adds_up_its_documents_also_those_without_any_value_at_the_path(self):
        comparator = self.comparator()
        documents = {
            "a": (self.GOLD, self.PREDICTED),
            "b": ({"people": [{"name": "Ada"}]}, {"people": [{"name": "Ada"}]}),
            "c": ({"date": "1867", "people": []}, ABSENT),
        }
        triples = [(name, *pair) for name, pair in documents.items()]
        paths = comparator.evaluate(triples).by_path
        assert (paths["/people/*/age"].absent, paths["/people/*/age"].true_negatives) == (3.0, 2.0)
        assert (paths["/date"].absent, paths["/date"].true_negatives) == (2.0, 1.0)
        single = evaluate(comparator.plan, triples, options=ExecutionOptions(first_batch=1, batch_nodes=1)).by_path
        assert single == paths

    def test_a_value_of_another_kind_is_a_value(self):
        paths = Comparator(self.SCHEMA).compare(
            gold={"people": [{"name": "Ada", "age": {"years": 3}}, {"name": "Bob", "age": "3"}]},
            predicted={"people": [{"name": "Ada", "age": 3}, {"name": "Bob", "age": 3}]},
        )
        assert paths.by_path["/people/*/age"].absent == 0.0

    def test_values_of_a_map_are_not_fields(self):
        numbers = {"type": "object", "additionalProperties": {"type": "integer"}}
        comparator = Comparator({"type": "object", "properties": {"counts": numbers}})
        documents = comparator.evaluate([("a", {"counts": {"x": 1, "y": 2}}, {"counts": {"x": 1, "z": 2}})]).documents
        assert "/counts/*" in documents.paths
        assert list(documents.fields) == ["", "/counts"]

    @given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)), max_size=4), st.data())
    def test_the_counts_are_those_of_the_documents(self, gold, data):
        """Objects at the same position are compared; the counts are taken from the documents themselves."""
        keys = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))
        predicted = data.draw(st.lists(keys, min_size=len(gold), max_size=len(gold)))
        number = {"type": "integer"}
        schema = {
            "type": "array",
            "items": {"type": "object", "properties": dict.fromkeys("abc", number)},
            "x-arbitre": {"match": "ordered"},
        }
        paths = Comparator(schema).compare(gold=gold, predicted=predicted).by_path
        for key in "abc":
            if f"/*/{key}" in paths:
                lacking = [right for left, right in zip(gold, predicted, strict=True) if key not in left]
                expected = len(lacking), sum(key not in right for right in lacking)
                assert (paths[f"/*/{key}"].absent, paths[f"/*/{key}"].true_negatives) == expected
