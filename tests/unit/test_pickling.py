"""Results can be pickled, as joblib, multiprocessing and Dask do: the copy gives the same figures."""

import json
import pickle

import numpy as np
import pytest

import arbitre
from arbitre import ArbitreError, Comparator, DataError
from arbitre.comparison import Comparison
from arbitre.corpus.evaluation import TABLES
from arbitre.schema.compiling.leaves import _BY_FORMAT
from arbitre.storage.columns import GrowingArray

SCHEMA = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
PAIRS = [
    (str(number), [{"name": "Ada"}, {"name": "Bo"}], [{"name": "Ada"}, {"name": "Bob"}][: number % 3])
    for number in range(12)
]
OPTIONS = {
    "documents in memory": {},
    "several processes": {"workers": 2},
    "diagnosed": {"diagnose": True},
    "clusters": {"cluster_by": "^."},
    "progress": {"progress": lambda *_: None},
}


@pytest.fixture(scope="module")
def comparator():
    return Comparator(SCHEMA)


def copied(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def same_figures(one, other):
    assert other.to_dict() == one.to_dict()
    assert other.interval("f1q") == one.interval("f1q")
    assert other.by_document == one.by_document
    assert repr(other.chance) == repr(one.chance)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_pickled_evaluation_gives_the_same_figures(comparator, options):
    evaluation = comparator.evaluate(PAIRS, **options)
    copy = copied(evaluation)
    same_figures(evaluation, copy)
    for name in TABLES:
        assert repr(copy.table(name).columns) == repr(evaluation.table(name).columns), name
    assert copy.solidarity == evaluation.solidarity
    assert repr(copy.classification("/*/name").confusion) == repr(evaluation.classification("/*/name").confusion)
    same_figures(evaluation, copied(copy))


def test_a_pickled_evaluation_does_not_use_the_temporary_folder_of_its_original(comparator):
    evaluation = comparator.evaluate(PAIRS)
    folder = evaluation.details
    assert copied(evaluation).details != folder


@pytest.mark.parametrize("loaded", [False, True])
def test_a_pickled_evaluation_reads_its_results_folder(comparator, tmp_path, loaded):
    evaluation = comparator.evaluate(PAIRS, out=tmp_path)
    copy = copied(arbitre.load(tmp_path) if loaded else evaluation)
    same_figures(evaluation, copy)
    assert copy.details == tmp_path
    assert repr(copy.table("matches").columns) == repr(evaluation.table("matches").columns)


def test_documents_in_files_are_not_pickled(tmp_path):
    for side, at in (("gold", 1), ("predicted", 2)):
        records = [json.dumps({"id": pair[0], "people": pair[at]}) + "\n" for pair in PAIRS]
        (tmp_path / side).with_suffix(".jsonl").write_text("".join(records), encoding="utf-8")
    schema = {"type": "object", "properties": {"people": SCHEMA}}
    evaluation = arbitre.evaluate(schema, gold=tmp_path / "gold.jsonl", predicted=tmp_path / "predicted.jsonl")
    copy = copied(evaluation)
    same_figures(evaluation, copy)
    with pytest.raises(DataError, match="no longer available"):
        copy.table("matches")


def test_a_pickled_comparison_gives_the_same_result(comparator):
    comparison = comparator.compare(gold=PAIRS[2][1], predicted=PAIRS[2][2])
    for one in (comparison, Comparison.from_dict(comparison.to_dict())):
        copy = copied(one)
        assert copy.to_dict() == comparison.to_dict()
        assert copy.alignment("") == one.alignment("")


def test_a_pickled_alignment_keeps_the_costs(comparator):
    comparison = comparator.compare(gold=PAIRS[2][1], predicted=PAIRS[2][2])
    copy = copied(copied(comparison.alignment("")))
    original = comparison.alignment("")
    assert copy == original
    assert copy.costs.tolist() == original.costs.tolist()
    assert (copy.w1, copy.ospa) == (original.w1, original.ospa)
    read = copied(Comparison.from_dict(comparison.to_dict()).alignment(""))
    with pytest.raises(DataError, match="The distances between items are not available"):
        _ = read.costs


@pytest.mark.parametrize("name", [*_BY_FORMAT, "ipv4"])
def test_a_grader_of_strings_of_any_format_can_be_pickled(name):
    grader = arbitre.Grader({"type": "object", "properties": {"value": {"type": "string", "format": name}}})
    documents = {"value": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}, {"value": "6ba7b8109dad11d180b400c04fd430c8"}
    assert copied(grader)(*documents).score == grader(*documents).score


def test_a_pickled_entity_evaluation_gives_the_same_figures():
    gold = [[{"start": 0, "end": 2, "label": "person"}]] * 3
    evaluation = arbitre.entities.evaluate(gold, [[], *gold[1:]])
    assert copied(evaluation).summary() == evaluation.summary()


def test_an_array_can_be_pickled_and_extended():
    array = GrowingArray(np.float64)
    array.extend([1.0, 2.0])
    copy = copied(array)
    copy.extend([3.0])
    assert copy.view().tolist() == [1.0, 2.0, 3.0]


SHOUTED = [(str(number), [{"name": f"Ada {number}"}], [{"name": f"ADA {number}"}]) for number in range(12)]


def test_a_pickled_evaluation_finds_the_causes_of_its_original(comparator):
    evaluation = comparator.evaluate(SHOUTED, no_diagnose=True)
    copy = copied(evaluation)
    assert [cause.kind for cause in evaluation.causes] == ["case"]
    assert copy.causes == evaluation.causes


def differ(gold, predicted):
    return float(gold != predicted)


def test_a_pickled_evaluation_with_custom_functions_refuses_to_search_for_causes():
    schema = {**SCHEMA, "items": {"properties": {"name": {"type": "string", "x-arbitre": {"distance": "differ"}}}}}
    comparator = Comparator(schema, distances={"differ": differ})
    evaluation = comparator.evaluate(SHOUTED, no_diagnose=True)
    with pytest.raises(ArbitreError, match="cannot be changed after it was unpickled"):
        _ = copied(evaluation).causes
    assert evaluation.causes


def test_an_unpickled_comparator_with_custom_functions_evaluates_without_causes(tmp_path):
    schema = {**SCHEMA, "items": {"properties": {"name": {"type": "string", "x-arbitre": {"distance": "differ"}}}}}
    original = Comparator(schema, distances={"differ": differ})
    evaluation = copied(original).evaluate(SHOUTED, out=tmp_path)
    assert evaluation.micro == original.evaluate(SHOUTED).micro
    assert "causes" not in copied(evaluation).to_dict()
    with pytest.raises(ArbitreError, match="Create the Comparator in the process that uses it"):
        _ = copied(original).evaluate(SHOUTED).causes
    with pytest.raises(ArbitreError, match="Create the Comparator in the process that uses it"):
        arbitre.fix(copied(original), SHOUTED)
    assert arbitre.fix(original, SHOUTED).fixes


@pytest.mark.parametrize("schema", [True, False])
def test_a_schema_that_is_a_boolean_can_be_pickled(schema):
    comparator = Comparator(schema)
    assert copied(comparator).plan.root.digest() == comparator.plan.root.digest()
    assert comparator.plan.root.digest() != Comparator(not schema).plan.root.digest()
