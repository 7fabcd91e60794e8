"""Gold and predictions are joined by id and run, from records, files and folders."""

import json
from pathlib import Path

import pytest
from tests.builders import read_records

from arbitre.errors import DataError
from arbitre.inputs import join as join_module
from arbitre.inputs.corpus_sources import read_pairs
from arbitre.inputs.document_index import index_row
from arbitre.inputs.join import UNIT_SIZE, JoinedCorpus, close_ids, join, paired, swapped_names
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.records import ByteRange, Failure, Pair, Record
from arbitre.values import ABSENT

SENAT = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "senat-1931"


def doc(id_, value, run=None, **options):
    return Record(id_, run, value, "file", **options)


def broken(id_, run=None, side="predicted"):
    return Failure(side, id_, run, "file", 3, reason="broken")


def rows(joined):
    return [(pair.key, pair.gold, pair.predicted) for pair in joined]


def reasons(joined):
    return [(failure.side, failure.id, failure.run, failure.reason) for failure in joined.failures]


def test_documents_are_joined_by_id_and_not_by_position():
    joined = join([doc("a", 1), doc("b", 2), doc("c", 3)], [doc("c", 30), doc("a", 10), doc("b", 20)])
    assert rows(joined) == [("a", 1, 10), ("b", 2, 20), ("c", 3, 30)]
    assert (joined.failures, joined.without_gold, len(joined)) == ((), (), 3)


def test_a_gold_document_without_prediction_is_a_pair():
    joined = join([doc("a", 1), doc("b", 2)], [doc("b", None)])
    assert rows(joined) == [("a", 1, ABSENT), ("b", 2, None)]
    assert joined.pairs[0].failure == Failure("predicted", "a", reason="no prediction")
    assert joined.failures == (joined.pairs[0].failure,)


def test_a_damaged_prediction_is_one_failure():
    joined = join([doc("a", 1)], [broken("a")])
    assert joined.pairs == (Pair("a", None, 1, ABSENT, broken("a")),)
    assert joined.failures == (broken("a"),)


def test_a_failure_without_id_is_listed_only():
    joined = join([doc("a", 1)], [broken(None), doc("a", 10)])
    assert rows(joined) == [("a", 1, 10)]
    assert joined.failures == (broken(None),)
    assert joined.without_gold == ()


def test_a_prediction_without_gold_is_not_scored():
    joined = join([doc("a", 1)], [doc("x", 5), doc("a", 10), doc("y", 6, run="r"), broken("z")])
    assert rows(joined) == [("a", 1, 10)]
    assert joined.without_gold == ("x", "y/r", "z")
    assert joined.failures == (broken("z"),)


def test_unreadable_gold_leaves_its_predictions_without_gold():
    joined = join([broken("a", side="gold"), doc("b", 2)], [doc("a", 10), doc("b", 20)])
    assert rows(joined) == [("b", 2, 20)]
    assert joined.failures == (broken("a", side="gold"),)
    assert joined.without_gold == ("a",)


def test_the_first_of_equal_gold_ids_is_kept():
    joined = join([doc("a", 1), doc("a", 2)], [doc("a", 10)])
    assert rows(joined) == [("a", 1, 10)]
    assert reasons(joined) == [
        ("gold", "a", None, "duplicate id: ignored, the first gold document with this id is compared")
    ]


class TestRuns:
    def test_runs_are_separate_pairs_in_gold_order(self):
        joined = join(
            [doc("b", 2), doc("a", 1)], [doc("a", 10, "y"), doc("b", 20, "x"), doc("a", 11, "x"), doc("b", 21, "z")]
        )
        assert rows(joined) == [("b/x", 2, 20), ("b/z", 2, 21), ("a/y", 1, 10), ("a/x", 1, 11)]

    def test_unnamed_runs_are_numbered(self):
        joined = join([doc("a", 1), doc("b", 2)], [doc("a", 10), doc("b", 20), doc("a", 11), broken("a")])
        assert rows(joined) == [("a/1", 1, 10), ("a/2", 1, 11), ("a/3", 1, ABSENT), ("b", 2, 20)]
        assert reasons(joined) == [("predicted", "a", "3", "broken")]

    def test_numbers_of_unnamed_runs_skip_existing_names(self):
        joined = join([doc("a", 1)], [doc("a", 10), doc("a", 11, "2"), doc("a", 12), doc("a", 13)])
        assert rows(joined) == [("a/1", 1, 10), ("a/2", 1, 11), ("a/3", 1, 12), ("a/4", 1, 13)]

    @pytest.mark.parametrize("names", [(None, None), ("x", "y")])
    def test_a_note_counts_documents_with_fewer_runs_but_not_those_without_any(self, names):
        gold = [doc("a", 1), doc("b", 1), doc("c", 1)]
        joined = join(gold, [doc("a", 1, names[0]), doc("a", 2, names[1]), doc("b", 1, names[0])])
        missing = "1 of 2 documents has fewer than 2 predictions. Missing runs are not counted as failures."
        assert joined.notes == (missing,)
        assert join(gold, [doc("a", 1, names[0]), doc("b", 1, names[1])]).notes == ()

    def test_a_single_unnamed_run_stays_unnamed(self):
        assert rows(join([doc("a", 1)], [doc("a", 10), doc("a", 11, "x")])) == [("a", 1, 10), ("a/x", 1, 11)]

    def test_a_run_and_a_document_of_the_same_name_are_refused(self):
        with pytest.raises(DataError, match="2 documents would have the same name in the results: 'a/1'"):
            join([doc("a", 1), doc("a/1", 1)], [doc("a", 1, "1"), doc("a", 1, "2"), doc("a/1", 1)])

    def test_the_first_of_equal_runs_is_kept(self):
        joined = join([doc("a", 1)], [doc("a", 10, "x"), doc("a", 11, "x")])
        assert rows(joined) == [("a/x", 1, 10)]
        assert reasons(joined) == [
            ("predicted", "a", "x", "duplicate id and run: ignored, the first prediction with both is compared")
        ]


class TestOneDocumentEach:
    def test_one_document_on_each_side_joins_despite_different_names(self):
        joined = join([doc("gold", 1, named=False)], [doc("answer", 2, named=False)])
        assert rows(joined) == [("gold", 1, 2)]

    @pytest.mark.parametrize(("gold", "predicted"), [(True, False), (False, True), (True, True)])
    def test_explicit_ids_must_agree(self, gold, predicted):
        with pytest.raises(DataError):
            join([doc("gold", 1, named=gold)], [doc("answer", 2, named=predicted)])

    def test_two_unnamed_documents_on_one_side_are_refused(self):
        with pytest.raises(DataError):
            join([doc("gold", 1, named=False)], [doc("x", 2, named=False), doc("y", 2, named=False)])

    def test_two_files_of_one_document_are_joined(self, tmp_path):
        (tmp_path / "gold.json").write_text('{"x": 1}')
        (tmp_path / "answer.json").write_text('{"x": 2}')
        joined = join(read_records(tmp_path / "gold.json", "gold"), read_records(tmp_path / "answer.json", "predicted"))
        assert rows(joined) == [("gold", {"x": 1}, {"x": 2})]


class TestOnly:
    def test_only_the_requested_ids_are_joined(self):
        joined = join(
            [doc("a", 1), doc("b", 2), broken("c", side="gold")],
            [doc("b", 20), doc("c", 30), doc("x", 9), broken(None)],
            only=["a"],
        )
        assert rows(joined) == [("a", 1, ABSENT)]
        assert [failure.reason for failure in joined.failures] == ["broken", "no prediction"]
        assert joined.without_gold == ()

    def test_a_requested_id_without_gold_is_refused(self):
        with pytest.raises(DataError) as caught:
            join([doc("page_1", 1)], [doc("page_1", 1)], only=["pge_1"])
        assert caught.value.message == "Expected `only` to name gold documents, got 'pge_1'"
        assert caught.value.hint == 'Did you mean "page_1"?'


class TestNothing:
    def test_without_common_ids_the_error_names_ids_of_both_sides(self):
        with pytest.raises(DataError) as caught:
            join([doc(name, 1) for name in "abcdef"], [doc("x", 1), doc("y", 1)])
        assert caught.value.message == (
            "Expected gold and predicted to share ids, got 'a', 'b', 'c', 'd', ... and 'x', 'y'"
        )
        assert "--id-key" in caught.value.hint
        assert "--id-pattern" in caught.value.hint

    def test_without_common_ids_the_error_shows_unreadable_records(self):
        with pytest.raises(DataError) as caught:
            join([doc("a", 1)], [broken(None)])
        assert caught.value.message.endswith("got 'a' and none")
        assert (caught.value.problems[1].message, caught.value.problems[1].line) == ("broken", 3)

    def test_a_damaged_prediction_with_a_known_id_joins(self):
        assert len(join([doc("a", 1), doc("b", 1)], [broken("a")])) == 2


def test_a_note_names_all_that_normalising_ids_ignores():
    note = close_ids(["Ab", "cd"], ["ab", "cd.json"])
    assert note.startswith("2 predicted ids differ from gold ids only in case and file extension: 'ab' and 'Ab'.")
    assert close_ids(["Ab"], ["cd"]) is None


@pytest.mark.parametrize(
    ("gold", "predicted", "noted"),
    [
        ("a.jsonl", "b.jsonl", False),
        ("gold.jsonl", "predictions.jsonl", False),
        ("gold.jsonl", "gold-pred.jsonl", False),
        ("pred-gold.jsonl", "predictions.jsonl", False),
        ("a.jsonl", "gold.jsonl", True),
        ("predictions.jsonl", "b.jsonl", True),
    ],
)
def test_only_names_of_the_other_side_suggest_that_the_sides_are_swapped(gold, predicted, noted):
    assert (swapped_names([gold], [predicted], "exchange them") is not None) == noted


class TestPaired:
    def read(self, tmp_path, *lines, only=(), **options):
        path = tmp_path / "both.jsonl"
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return paired(read_pairs(path, ReadOptions(**options)), only=only)

    def test_rows_with_both_sides_become_pairs(self, tmp_path):
        joined = self.read(
            tmp_path,
            {"id": 1, "gold": {"x": 1}, "predicted": {"x": 2}},
            {"id": 1, "run": "r", "gold": {"x": 1}, "predicted": None, "model": "m"},
            {"id": "b", "gold": []},
        )
        first, second, third = joined.pairs
        assert first == Pair("1", None, {"x": 1}, {"x": 2})
        assert (second.key, second.predicted, second.failure) == ("1/r", None, None)
        assert (third.key, third.gold, third.predicted) == ("b", [], ABSENT)
        assert (third.failure.side, third.failure.line, third.failure.reason) == ("predicted", 3, "no prediction")
        assert joined.failures == (third.failure,)

    def test_damaged_and_repeated_rows_are_failures(self, tmp_path):
        joined = self.read(
            tmp_path,
            {"id": 1, "gold": 1, "predicted": 1},
            {"id": 1, "gold": 2, "predicted": 2},
            {"id": 2, "predicted": 2},
            {"id": 5, "gold": 5},
            '{"id": 3, "gold": [',
        )
        assert joined.pairs == (Pair("1", None, 1, 1), Pair("5", None, 5, ABSENT, joined.failures[2]))
        assert [(failure.id, failure.line) for failure in joined.failures] == [("1", 2), ("2", 3), ("5", 4), ("3", 5)]
        assert joined.failures[0].reason == "duplicate id and run: rows with the same id need different values of `run`"
        assert joined.failures[1].reason == "Expected a record to contain 'gold' and 'predicted', got no 'gold'"

    def test_other_keys_can_name_the_sides(self, tmp_path):
        joined = self.read(
            tmp_path, {"doc": "a", "right": 1, "answer": 2}, id_key="doc", gold_key="right", predicted_key="answer"
        )
        assert joined.pairs == (Pair("a", None, 1, 2),)

    def test_an_array_of_rows_becomes_pairs(self, tmp_path):
        path = tmp_path / "both.json"
        path.write_text('[{"id": "a", "gold": 1, "predicted": 2}, {"id": "b", "gold": 3}]')
        assert rows(paired(read_pairs(path, ReadOptions()))) == [("a", 1, 2), ("b", 3, ABSENT)]

    def test_only_the_requested_rows_are_paired(self, tmp_path):
        lines = ({"id": 1, "gold": 1, "predicted": 1}, {"id": 2, "gold": 2}, {"id": 2, "gold": 3}, {"id": 1})
        joined = self.read(tmp_path, *lines, only=["2"])
        assert rows(joined) == [("2", 2, ABSENT)]
        assert reasons(joined) == [
            ("predicted", "2", None, "no prediction"),
            ("gold", "2", None, "duplicate id and run: rows with the same id need different values of `run`"),
        ]
        with pytest.raises(DataError, match="got '3'"):
            self.read(tmp_path, *lines, only=["3"])


@pytest.mark.skipif(not SENAT.is_dir(), reason="the shared data are not here")
def test_nine_predictions_of_three_pages_are_nine_runs():
    joined = join(
        read_records(SENAT / "gold", "gold", id_pattern=r"page_\d+"),
        read_records(SENAT / "predicted", "predicted", id_pattern=r"page_\d+"),
    )
    assert (joined.failures, joined.without_gold) == ((), ())
    assert [pair.id for pair in joined] == ["page_02"] * 3 + ["page_03"] * 3 + ["page_04"] * 3
    assert [pair.run for pair in joined] == ["1", "2", "3"] * 3
    assert [Path(pair.origins[1].file).stem for pair in joined] == sorted(
        path.stem for path in (SENAT / "predicted").glob("*.json")
    )
    assert joined.pairs[0].key == "page_02/1"
    assert {type(pair.predicted["listes_des_intervenants"]) for pair in joined} == {list}


@pytest.mark.parametrize(
    ("length", "pairs", "size"),
    [
        (10, 256, 4),  # 64 units
        (10, 320, 5),
        (10, 1200, 16),
        (100, 1200, 5),  # a thousand bytes
        (1000, 1200, 4),
        (-1, 1200, 4),  # whole files
    ],
)
def test_many_small_documents_have_larger_work_units(monkeypatch, length, pairs, size):
    for name, value in {"UNIT_SIZE": 4, "LARGE_UNIT_SIZE": 16, "LARGE_UNIT_BYTES": 1000}.items():
        monkeypatch.setattr(join_module, name, value)
    place = ByteRange("file", 0, length)
    documents = [index_row(doc(str(number), 1), place, "") for number in range(pairs)]
    joined = join(documents, documents)
    assert joined.unit_size == size
    assert [len(unit) for unit in joined.parts(joined.unit_size)][:-1] == [size] * ((pairs - 1) // size)


def test_documents_in_memory_have_work_units_of_the_default_size():
    assert JoinedCorpus((Pair("a", None, 1, 1),) * 70_000).unit_size == UNIT_SIZE
