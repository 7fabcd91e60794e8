"""The documents kept for the report are the worst ones, whatever the order of reading and the number of processes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.worst_documents import keeping

import arbitre
from arbitre.corpus.evaluate import ExecutionOptions, evaluate
from arbitre.corpus.worker import DocumentResults, Worker
from arbitre.errors import DataError
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Pair
from arbitre.parsing.fast_json import json_text
from arbitre.report import worst_documents
from arbitre.report.build_view import build_subject
from arbitre.report.entry_links import EntryLink
from arbitre.report.quality_matrix import MAX_CELLS, QualityMatrices
from arbitre.report.worst_documents import ALIGNMENTS, WorstDocuments, digest, read
from arbitre.statistics.intervals import document_intervals

pytestmark = pytest.mark.slow

WORDS = {"type": "array", "items": {"type": "string"}}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
}
PEOPLE = {
    "type": "object",
    "properties": {
        "year": {"type": "integer"},
        "people": {"type": "array", "items": PERSON, "x-arbitre": {"entries": True}},
    },
}


def kept(schema, pairs, **options):
    plan = arbitre.Comparator(schema).plan
    made, evaluation = keeping(plan, pairs, **options)
    return made.to_dict(evaluation, json_text(evaluation.to_dict()))


def document(schema, gold, predicted):
    """The one document, entry by entry."""
    (found,) = kept(schema, [("d", gold, predicted)])["kept"]
    return found


def test_rows_are_in_gold_order_with_spurious_entries_last():
    gold = {"year": 1931, "people": [{"name": "Ada", "pages": [1, 2]}, {"name": "Bob"}, {"name": "Cyd"}]}
    predicted = {"year": 1913, "people": [{"name": "Cyd"}, {"name": "Ada", "pages": [2, 3]}]}
    found = document(PEOPLE, gold, predicted)
    head = [(row["gold_index"], row["predicted_index"], row["status"]) for row in found["rows"]]
    assert head == [("0", "1", "matched"), ("1", None, "missing"), ("2", "0", "matched")]
    ada, bob, cyd = (row["entry"] for row in found["rows"])
    assert (bob["verdict"], bob["gold"], "predicted" in bob) == ("missing", {"name": "Bob"}, False)
    assert (cyd["verdict"], cyd["quality"], cyd["gold"], "below" in cyd) == ("correct", 1.0, {"name": "Cyd"}, False)
    name, pages = ada["below"]
    assert (name["verdict"], name["gold"]) == ("correct", "Ada")
    assert [(one["verdict"], one.get("gold"), one.get("predicted")) for one in pages["below"]] == [
        ("wrong", 1, 3),
        ("correct", 2, None),
    ]
    assert found["rows"][0]["faults"] == ["/people/*/pages/*"]
    (year,) = found["rest"]["below"]
    assert (year["name"], year["gold"], year["predicted"], year["verdict"]) == ("year", 1931, 1913, "wrong")
    assert found["rest_faults"] == ["/year"]
    assert found["entries"] == 3


def test_a_document_that_is_its_own_entry_has_one_row_without_position():
    found = document(PERSON, {"name": "Ada"}, {"name": "Adam"})
    (row,) = found["rows"]
    assert (row["gold_index"], row["predicted_index"], row["status"]) == ("name", "name", "matched")
    assert (row["class"], found["classes"]["close"], found["rest"], found["matrix"]) == ("low", 0.0, None, None)


def test_the_rows_of_a_document_that_is_its_own_entry_are_its_fields_with_their_weights():
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "x-arbitre": {"weight": 3}},
            "of": PERSON,
            "born": {"type": "integer"},
        },
    }
    found = document(schema, {"name": "Ada", "of": {"name": "Bob"}, "born": 1}, {"name": "Ada", "of": {"name": "Rob"}})
    rows = [(row["gold_index"], row["predicted_index"], row["class"], row["mass"]) for row in found["rows"]]
    assert rows == [("name", "name", "exact", 3.0), ("of", "of", "low", 1.0), ("born", None, "missing", 1.0)]
    assert [row["wrong_field"] for row in found["rows"]] == [False, True, False]
    assert found["classes"] == {"exact": 3.0, "close": 0.0, "low": 1.0, "missing": 1.0, "spurious": 0.0}


@pytest.mark.parametrize("close", [0.5, 0.8, 0.9])
def test_classes_of_all_documents_add_up_to_those_of_the_corpus(close):
    pairs = [
        ("a", ["abc", "quill", "x"], ["abc", "quilt"]),
        ("b", ["ink"], ["oak", "y"]),
        ("kinds", ["ink", "oak"], "ink"),
        ("failed", ["ink"], arbitre.ABSENT),
    ]
    plan = arbitre.Comparator(WORDS, close=close).plan
    made, evaluation = keeping(plan, pairs)
    plain = evaluation.to_dict()
    alignments = made.to_dict(evaluation, json_text(plain))
    whole = build_subject(plain, alignments).classes
    found = [one["classes"] for one in alignments["kept"]]
    assert {name: sum(one[name] for one in found) for name in whole} == whole
    assert (whole["exact"], whole["close"]) == (1.0, {0.5: 2.0, 0.8: 1.0, 0.9: 0.0}[close])


def test_documents_that_are_linked_are_kept_before_worse_ones():
    pairs = [(f"d{number}", ["ink", "oak"], ["ink" * (number % 7 > 0), "a" * number]) for number in range(1, 40)]
    pairs += [("better", ["quill"] * 9 + ["ink"], ["quill"] * 9 + ["oak"])]
    plan = arbitre.Comparator(WORDS).plan
    made, evaluation = keeping(plan, pairs, room=1)
    linked = {one["at"] for held in made.worst.values() for one in held}
    made.keep = len(linked) + 1
    made.fill(
        evaluation, JoinedCorpus(tuple(Pair(name, None, *sides) for name, *sides in pairs)), [EntryLink("better")]
    )
    assert set(made.documents) == linked | {39}
    qualities = [one.plain["quality"] for one in made.documents.values()]
    assert qualities == sorted(qualities)
    listed = made.to_dict(evaluation, json_text(evaluation.to_dict()))
    assert "better" in {one["key"] for one in listed["documents"]}


def test_a_large_linked_document_is_reduced_to_its_linked_and_its_worst_entries():
    gold = [f"{number:04}" for number in range(50)]
    pairs = [(name, gold, [*gold[:place], "x", *gold[place + 1 :]]) for name, place in (("a", 7), ("b", 30))]
    found = kept(WORDS, pairs, room=8_000)
    assert [one["key"] for one in found["kept"]] == ["a", "b"]
    for one, place in zip(found["kept"], ("7", "30"), strict=True):
        assert place in {row["gold_index"] for row in one["rows"]}
        assert (len(one["rows"]) < 25, one["entries"], one["classes"]["exact"]) == (True, 50, 49.0)


def test_keep_sets_the_number_of_documents_regardless_of_their_size():
    pairs = [(f"d{number}", ["x" * 900], ["y" * 900]) for number in range(20)]
    assert len(kept(WORDS, pairs, room=5_000)["kept"]) < 5
    assert len(kept(WORDS, pairs, room=5_000, keep=17)["kept"]) == 17


def test_values_of_different_kinds_are_shown_side_by_side():
    (row,) = document(PEOPLE, {"people": [{"name": "Ada", "pages": [1]}]}, {"people": [{"name": "Ada", "pages": "1"}]})[
        "rows"
    ]
    pages = row["entry"]["below"][1]
    assert (pages["verdict"], pages["gold"], pages["predicted"]) == ("wrong type", [1], "1")
    assert row["faults"] == ["/people/*/pages"]


def test_a_failed_document_shows_all_of_gold_as_missing():
    found = document(PEOPLE, {"year": 1, "people": [{"name": "Ada"}]}, arbitre.ABSENT)
    assert [row["status"] for row in found["rows"]] == ["missing"]
    assert (found["failed"], found["quality"], found["rest"]["below"][0]["verdict"]) == (True, 0.0, "missing")


def test_a_deep_document_is_shown_as_text_below_a_limit():
    value = "end"
    for _ in range(60):
        value = {"in": [value]}
    (row,) = document({}, [value], [value])["rows"]
    text = json.dumps(row["entry"])
    assert "end" in text
    assert text.count('{"in"') < 15


def test_the_worst_documents_are_kept_within_bounds_and_failures_count_as_zero():
    pairs = [(f"d{number}", ["ab", "cd"], ["ab", "c" * number]) for number in range(1, 8)]
    pairs.append(("failed", ["ab"], arbitre.ABSENT))
    found = kept(WORDS, pairs, keep=3)
    assert [one["key"] for one in found["kept"]] == ["d7", "d6", "d5"]  # those of the worst pairs
    assert len(kept(WORDS, pairs)["kept"]) == 8
    assert kept(WORDS, pairs)["kept"][0]["key"] == "failed"
    assert len(kept(WORDS, pairs, room=1)["kept"]) == 1
    assert len(found["documents"]) == 8


def test_the_documents_with_the_lowest_f1q_are_listed_worst_first_wherever_they_are(monkeypatch):
    monkeypatch.setattr(worst_documents, "MAX_ROWS", 6)
    schema = PEOPLE | {"properties": PEOPLE["properties"] | {"year": {"type": "integer", "x-arbitre": {"weight": 9}}}}
    right, wrong = {"name": "Ada"}, {"name": "zzzzz"}
    wrongs = {33: 4, 87: 3, 12: 2, 60: 2, 99: 1}  # planted anywhere, among documents that are right
    pairs = []
    for at in range(100):
        people = [wrong] * wrongs.get(at, 0) + [right] * (4 - wrongs.get(at, 0))
        year = 1 + (at not in wrongs)  # lowers the document quality, but not f1q, of all others
        pairs.append((f"d{at:03}", {"year": 1, "people": [right] * 4}, {"year": year, "people": people}))
    pairs.append(("failed", {"year": 1, "people": [right]}, arbitre.ABSENT))
    found = kept(schema, pairs, keep=20)
    worst, linked = ["failed", "d033", "d087", "d012", "d060", "d099"], ["d000", "d001", "d002"]
    assert [one["key"] for one in found["documents"]][:9] == [*worst, *linked]
    assert [one["key"] for one in found["kept"]][:9] == [*worst, *linked]


def test_many_failed_documents_do_not_take_the_room_of_the_others():
    pairs = [(f"failed{at}", ["ab"], arbitre.ABSENT) for at in range(worst_documents.MAX_FAILED + 5)]
    pairs += [(f"d{at}", ["ab"], ["zz"]) for at in range(3)]
    names = {one["key"] for one in kept(WORDS, pairs, keep=worst_documents.MAX_FAILED + 3)["kept"]}
    assert {"d0", "d1", "d2"} < names


def test_the_size_limit_counts_bytes():
    def number(letter):
        pairs = [(f"d{at}", [letter * 900], [letter * 900]) for at in range(8)]
        return len(kept(WORDS, pairs, room=10_000)["kept"])

    assert number("a") > number("ア") >= 1


def test_the_worst_entries_of_a_large_document_are_kept():
    gold = [f"{number:04}" for number in range(50)]
    predicted = [*gold[:40], *("x" * 9 for _ in range(10))]
    (found,) = kept(WORDS, [("d", gold, predicted)], entries=20)["kept"]
    assert (len(found["rows"]), found["entries"]) == (20, 50)
    indices = [int(row["gold_index"]) for row in found["rows"]]
    assert indices == [*range(10), *range(40, 50)]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_kept_documents_do_not_depend_on_the_batches(size):
    pairs = [
        (f"d{number}", ["ab", "ink", "x"], ["ab"[: number % 3], "ink" * (number % 2), "y"]) for number in range(30)
    ]
    expected = kept(WORDS, pairs, entries=20)
    assert kept(WORDS, pairs, batches={"first_batch": size, "batch_nodes": 8}, entries=20) == expected


MIXED = {
    "type": "object",
    "properties": {
        "year": {"type": ["integer", "string"]},
        "people": {
            "type": "array",
            "items": {"anyOf": [PERSON, {"type": "string"}]},
            "x-arbitre": {"entries": True},
        },
    },
    "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
}


def mixed(number):
    """Gold and prediction of several types, with undeclared keys, missing and spurious entries."""
    people = [{"name": "Ada", "pages": [number, 2], "town": "Brest"}, "Bob", {"name": "Cyd"}, {"name": "Dan", "x": [1]}]
    gold = {"year": 1900 + number, "people": people[: number % 4 + 1], f"note {number % 3}": {"b": "x", "a": "y"}}
    changed = [{"name": "Adam", "pages": [2], "town": 3}, {"name": "Bob"}, "Eve", {"name": "Dan", "y": "z", "x": [2]}]
    predicted = {
        "year": str(1900 + number),
        "people": changed[number % 3 :],
        f"note {number % 2}": {"a": "z", "c": "x"},
    }
    return f"d{number}", gold, predicted


TRANSPORT = {"type": "array", "items": PERSON, "x-arbitre": {"match": "transport", "entries": True}}


@pytest.mark.parametrize("schema", [MIXED, PEOPLE, MIXED | {"properties": {"people": TRANSPORT}}])
@pytest.mark.parametrize("size", [1, 4])
def test_the_kept_documents_do_not_depend_on_how_many_are_read_at_once(monkeypatch, schema, size):
    pairs = [mixed(number) for number in range(20)]
    expected = kept(schema, pairs)
    monkeypatch.setattr(worst_documents, "READ_AT_ONCE", size)
    assert kept(schema, pairs) == expected
    assert len(expected["kept"]) == len(pairs)


@pytest.mark.parametrize("schema", [MIXED, PEOPLE, WORDS])
def test_a_matrix_is_that_of_entries_in_documents_of_their_own(monkeypatch, schema):
    words = [(f"d{number}", ["ab", "ink", "x"], ["ink"[number:], "abc"]) for number in range(3)]
    pairs = words if schema is WORDS else [mixed(number) for number in range(12)]
    expected = [document["matrix"] for document in kept(schema, pairs)["kept"]]
    monkeypatch.setattr(QualityMatrices, "_together", lambda *_: None)
    assert [document["matrix"] for document in kept(schema, pairs)["kept"]] == expected
    assert any(expected)


def test_observers_of_several_processes_merge_to_the_same_result():
    pairs = [
        (f"d{number}", ["ab", "ink", "x"], ["ab"[: number % 3], "ink" * (number % 2), "y"]) for number in range(24)
    ]
    plan = arbitre.Comparator(WORDS).plan
    together, notes = WorstDocuments(plan, entries=9), []

    def either(worker, parts):
        workers = [worker, Worker(plan, together.observers)]
        return (workers[number % 2](part) for number, part in enumerate(parts))

    def taken(outcomes):
        read = DocumentResults.read(outcomes.lines())  # as it comes from elsewhere
        notes.extend(read.seen["worst"])
        together.take(read)

    joined = [Pair(name, None, gold, predicted) for name, gold, predicted in pairs]
    evaluation = evaluate(plan, joined, ExecutionOptions(together.observers, taken, executor=either, unit_size=4))
    together.fill(evaluation, JoinedCorpus(tuple(joined)))
    text = json_text(evaluation.to_dict())
    assert len(notes) > 4
    assert together.to_dict(evaluation, text) == kept(WORDS, pairs, entries=9)


def test_the_worst_pairs_of_a_path_have_the_lowest_quality():
    pairs = [("a", ["abc", "quill"], ["abc", "quilt"]), ("b", ["ink"], ["oak"]), ("c", ["paper"], ["papyr"])]
    (found,) = kept(WORDS, pairs)["worst"].values()
    assert [(one["document"], one["gold"], one["predicted"]) for one in found] == [
        ("b", "ink", "oak"),
        ("a", "quill", "quilt"),
        ("c", "paper", "papyr"),
    ]


def test_the_matrix_holds_every_pair_and_agrees_with_the_matching():
    found = document(WORDS, ["ink", "quill", "paper"], ["quilt", "ink"])
    assert [(row["gold_index"], row["predicted_index"]) for row in found["rows"]] == [
        ("0", "1"),
        ("1", "0"),
        ("2", None),
    ]
    matrix = found["matrix"]["quality"]
    judge = arbitre.Comparator({"type": "string"})
    expected = [
        [round(judge.compare(gold=gold, predicted=predicted).quality, 4) for predicted in ("quilt", "ink")]
        for gold in ("ink", "quill", "paper")
    ]
    assert matrix == expected
    assert (found["matrix"]["metricity"]["pool"], found["matrix"]["metricity"]["metricity"]) == (True, 1.0)


def test_forbidden_pairs_have_no_quality():
    schema = WORDS | {"x-arbitre": {"match": {"hungarian": {"gate": 0.7}}}}
    found = document(schema, ["quill", "ink"], ["quilt", "ink"])
    assert found["matrix"]["quality"] == [[0.8182, None], [None, 1.0]]
    assert found["matrix"]["metricity"] is None


def test_large_matrices_are_omitted():
    words = [f"{number}" for number in range(MAX_CELLS // 60 + 1)]
    assert document(WORDS, words, words[:60])["matrix"] is None
    assert document(WORDS, words[:-1], words[:60])["matrix"] is not None


def test_a_folder_without_alignments_has_none(tmp_path):
    assert read(tmp_path / ALIGNMENTS, "{}") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "a file that is not a JSON object"),
        ("[]", "a file that is not a JSON object"),
        ('{"format": "arbitre-alignments/9"}', "the format 'arbitre-alignments/9'"),
        ('{"format": "arbitre-alignments/1", "evaluation": "00"}', "the alignments of another evaluation"),
    ],
)
def test_alignments_of_another_format_are_refused(tmp_path, text, said):
    (tmp_path / ALIGNMENTS).write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read(tmp_path / ALIGNMENTS, "{}")
    assert caught.value.message.endswith(f"got {said}")
    assert caught.value.file == str(tmp_path / ALIGNMENTS)


def test_alignments_are_tied_to_the_text_of_their_evaluation(tmp_path):
    found = {"format": "arbitre-alignments/1", "evaluation": digest("{}")}
    (tmp_path / ALIGNMENTS).write_text(json.dumps(found), encoding="utf-8")
    assert read(tmp_path / ALIGNMENTS, "{}") == found


def test_published_figures_are_kept_for_each_document_and_averaged():
    pairs = [
        ("a", ["ink", "quill", "paper"], ["ink", "quilt"]),
        ("b", ["ink"], ["oak", "x"]),
        ("failed", ["ink"], arbitre.ABSENT),
        ("vacuous", [], []),
    ]
    found = kept(WORDS, pairs)
    judge = arbitre.Comparator(WORDS)
    expected = {
        name: arbitre.published(judge.compare(gold=gold, predicted=predicted)) for name, gold, predicted in pairs
    }
    assert {one["key"]: one["published"] for one in found["kept"]} == {
        name: pytest.approx(figures, abs=1e-12) for name, figures in expected.items()
    }
    assert found["published"]["imq"] == pytest.approx(sum(expected[name]["imq"] for name in ("a", "b", "failed")) / 3)
    assert found["published"]["gold"] == pytest.approx(5 / 3)
    assert [one["key"] for one in found["kept"]] == ["failed", "b", "a", "vacuous"]
    assert found["kept"][1]["scores"]["imq"] == 0.25
    assert kept(WORDS, [("vacuous", [], [])])["published"] is None


def test_a_document_has_an_interval_if_it_has_enough_entries():
    pairs = [
        ("a", ["ink", "quill", "paper"], ["ink", "quilt"]),
        ("right", ["ink", "oak"], ["ink", "oak"]),
        ("single", ["ink"], ["ink"]),
        ("failed", ["ink", "oak"], arbitre.ABSENT),
        ("vacuous", [], []),
    ]
    found = {one["key"]: one["interval"] for one in kept(WORDS, pairs)["documents"]}
    (low, high), *_ = document_intervals(np.array([[3, 2, 2, 1 + 9 / 11, 1 + (9 / 11) ** 2]]))
    assert found["a"] == {
        "low": pytest.approx(low),
        "high": pytest.approx(high),
        "level": 0.95,
        "method": "ratio",
        "resamples": 0,
    }
    assert (found["right"]["low"], found["right"]["high"]) == (1.0, 1.0)
    assert (found["single"], found["failed"], found["vacuous"]) == (None, None, None)
    (alone,) = kept(PERSON, [("d", {"name": "Ada", "pages": [1]}, {"name": "Adam", "pages": [1]})])["documents"]
    assert alone["interval"] is None  # its fields are no sample of anything
