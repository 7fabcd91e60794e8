"""The functions of the Python library: reading, evaluating, tables, files and reports."""

import json
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pydantic import BaseModel
from tests.builders import read_records
from typer.testing import CliRunner

import arbitre
from arbitre import agreement, bundled
from arbitre.cli import app
from arbitre.corpus.archive import _digest
from arbitre.errors import DataError, OptionError
from arbitre.jobs.evaluation_job import EvaluationJob

SCHEMA = bundled.schemas() / "examples" / "speakers.schema.json"
GOLD, HASTY = (bundled.demo() / f"{name}.jsonl" for name in ("gold", "hasty"))
WORDS = {"type": "array", "items": {"type": "string"}}
TRIPLES = [("a", ["Ada", "Bo"], ["Ada", "Bob"]), ("b", ["Cy"], ["Cy"]), ("c", ["Di"], arbitre.ABSENT)]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def evaluation(**options):
    return arbitre.evaluate(SCHEMA, gold=GOLD, predicted=HASTY, **options)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name[0] != "."}


class Line(BaseModel):
    n: int


def test_an_option_that_takes_several_values_takes_one():
    documents = {"12": {"kind": "xyz", "text": "a b"}, "1": {"kind": "x", "text": "a"}, "2": {"kind": "y", "text": "b"}}
    schema = {"type": "object", "properties": {"kind": {"enum": ["xyz", "x", "y"]}, "text": {"type": "string"}}}
    for only in ("12", 12, ["12"]):
        found = arbitre.evaluate(schema, gold=documents, predicted=documents, only=only, no_chance=True)
        assert list(found.by_document) == ["12"]
    assert list(found.text("/text", kinds="rouge1").rouge) == ["rouge1"]
    assert found.classification("/kind", labels="xyz").reported == ("xyz",)
    systems = {"a": found, "b": found}
    assert arbitre.rank(systems, beside="imq").systems == arbitre.rank(systems, beside=["imq"]).systems
    sides = {"gold": ["a", "bb"], "predicted": ["bb"]}
    rows = arbitre.side_by_side(**sides, match="ordered", distance={"levenshtein": {}})
    assert [row.choice.label for row in rows] == ["ordered, levenshtein"]
    measured = arbitre.entry_metricity(WORDS, **sides, distance="levenshtein")
    assert [row.choice.label for row in measured.rows] == ["levenshtein"]
    assert arbitre.Grader(schema).check_paths("/kind") == ("/kind",)
    with pytest.raises(OptionError, match="Expected a kind of cause, got 'alias'"):
        arbitre.fix(schema, gold=documents, predicted=documents, accept="alias")
    with pytest.raises(OptionError, match="as MODULE:NAME, got 'no_module:name'"):
        arbitre.Comparator(schema, functions="no_module:name")
    bounds = {"fail_under": {"/other:f1q": 0.5}}
    assert arbitre.check_bounds(found, declared="/other", **bounds) == arbitre.check_bounds(
        found, declared=["/other"], **bounds
    )


class TestSources:
    def test_documents_are_read_from_paths(self):
        gold, predicted = ({one.id: one.value for one in read_records(path, "gold")} for path in (GOLD, HASTY))
        expected = arbitre.evaluate(SCHEMA, [(name, gold[name], predicted.get(name, arbitre.ABSENT)) for name in gold])
        assert evaluation().by_document == expected.by_document

    def test_documents_in_memory_are_joined_by_id_or_by_position(self):
        class Words(BaseModel):
            words: list[str]

        schema = {"properties": {"words": WORDS}}
        documents = [{"words": ["Ada", "Bo"]}, {"words": ["Cy"]}]
        answers = [{"words": ["Ada"]}, {"words": ["Cy"]}]
        forms = [
            (lambda known: known, "01"),
            (tuple, "01"),
            (iter, "01"),
            (lambda known: [Words(**one) for one in known], "01"),
            (lambda known: dict(zip("ab", known, strict=True)), "ab"),
            (lambda known: {name: Words(**one) for name, one in zip((7, "8"), known, strict=True)}, "78"),
            (lambda known: [{"id": name, **one} for name, one in zip("ab", known, strict=True)], "ab"),
            (lambda known: list(zip("ab", known, strict=True)), "ab"),
            (lambda known: zip((7, np.int64(8)), known, strict=True), "78"),
        ]
        for form, ids in forms:
            found = arbitre.evaluate(schema, gold=form(documents), predicted=form(answers), no_chance=True)
            assert {name: scores.irq for name, scores in found.by_document.items()} == dict(
                zip(ids, (0.5, 1.0), strict=True)
            )
        keyed = arbitre.evaluate(
            schema, gold=[{"key": 1, **documents[0]}], predicted=[{"key": 1, **answers[0]}], id_key="key"
        )
        assert list(keyed.by_document) == ["1"]

    @pytest.mark.parametrize("form", [list, dict])
    def test_pairs_of_ids_and_documents_are_joined_by_id(self, form):
        known = [("a", ["Ada"]), ("b", ["Bo"]), ("c", "no list")]
        found = arbitre.evaluate(WORDS, gold=known[:2], predicted=form(known[::-1]), no_chance=True)
        assert {name: scores.irq for name, scores in found.by_document.items()} == {"a": 1.0, "b": 1.0}
        assert found.without_gold == ("c",)

    @pytest.mark.parametrize("empty", [{}, [], iter(())], ids=["dict", "list", "iterator"])
    def test_an_empty_side_is_refused_as_an_empty_file_is(self, empty, tmp_path):
        gold, nothing = {"a": ["Ada"], "b": ["Bo"]}, tmp_path / "none.jsonl"
        nothing.touch()
        for form in (empty, nothing):
            with pytest.raises(arbitre.DataError, match="to share ids, got 'a', 'b' and none"):
                arbitre.evaluate(WORDS, gold=gold, predicted=form)
        with pytest.raises(arbitre.DataError, match="to share ids, got none and 'a', 'b'"):
            arbitre.evaluate(WORDS, gold=empty, predicted=gold)
        with pytest.raises(arbitre.DataError, match="to share ids, got 'a', 'b' and none"):
            arbitre.rank({"full": gold, "empty": []}, schema=WORDS, gold=gold)

    @pytest.mark.parametrize("form", [dict, iter, lambda pairs: [one for _, one in pairs]])
    def test_annotators_and_ranked_systems_are_documents_in_memory_too(self, form, tmp_path):
        schema = {"type": "object", "properties": {"names": WORDS}}
        answers = {"ada": ["Ada", "Bo"], "bob": ["Ada", "B"], "cy": ["Ada", "Bo"], "system": ["Ada", "Cy"]}
        pairs = {name: [(at, {"names": [one]}) for at, one in enumerate(names)] for name, names in answers.items()}

        def in_file(name):
            file = tmp_path / f"{name}.jsonl"
            file.write_text("\n".join(json.dumps({"id": at, **one}) for at, one in pairs[name]))
            return file

        def results(source):
            def of(*names):
                return {name: source(name) for name in names}

            three = "ada", "bob", "cy"
            yield agreement.agree(schema, of(*three))
            yield agreement.suggest_category_distances(schema, of(*three))
            yield agreement.consensus(schema, of(*three), systems=of("system"))
            yield agreement.leave_one_out(schema, of(*three), systems=of("system"))
            yield arbitre.rank(of(*three), schema=schema, gold=source("ada"))

        found, expected = results(lambda name: form(pairs[name])), results(in_file)
        assert [one.to_dict() for one in found] == [one.to_dict() for one in expected]

    def test_documents_of_annotators_that_cannot_be_read_are_refused(self):
        schema = {"type": "object", "properties": {"n": {"type": "string"}}}
        one = {"a": {"n": "x"}}
        for sources, message in (
            ({"A": one, "B": [("a", {"n": object()})]}, "<B>:1: Expected a JSON value"),
            ({"A": one, "B": [*one.items()] * 2}, "'B' annotated the document 'a' twice"),
            ({"A": [one["a"]], "B": []}, "as many documents without ids in `B` as in `A`, got 0 and 1"),
            ({"A": one, "B": pd.DataFrame(one)}, "Expected `B` to be paths or documents, got a data frame"),
            ([one, one], "Expected `annotators` to be a dictionary or a file, got list"),
        ):
            with pytest.raises(arbitre.ArbitreError, match=re.escape(message)):
                agreement.agree(schema, sources)
        with pytest.raises(DataError, match="Expected files with the spans of 'A', got documents"):
            agreement.agree_spans({"A": one, "B": one})

    def test_pairs_with_the_same_id_are_failures_as_records_are(self):
        pairs, records = [("a", {"n": 1}), ("a", {"n": 2})], [{"id": "a", "n": 1}, {"id": "a", "n": 2}]
        found, expected = (
            arbitre.evaluate({}, gold=known, predicted=known[:1], no_chance=True).failures for known in (pairs, records)
        )
        assert found == expected
        assert [(one.id, one.side, one.line) for one in found] == [("a", "gold", 2)]

    def test_documents_in_memory_fail_one_by_one_and_are_read_with_the_reading_options(self):
        predicted = {"a": {"n": object()}, "b": {"n": "\ud800"}, "c": 'Sure: {"n": "x"}'}
        found = arbitre.evaluate({}, gold={name: {"n": "x"} for name in "abc"}, predicted=predicted, lenient=True)
        assert [(one.id, one.side, one.file, one.line, one.pointer) for one in found.failures] == [
            ("a", "predicted", "<predicted>", 1, "/n"),
            ("b", "predicted", "<predicted>", 2, "/n"),
        ]
        assert [(one.id, one.how) for one in found.repaired] == [("c", "text around the JSON")]
        assert found.by_document["c"].irq == 1.0

    @pytest.mark.parametrize("schema", [{}, True, {"minLength": 1}])
    @pytest.mark.parametrize("form", ["records", "sides", "memory"])
    def test_gold_decides_whether_a_prediction_is_a_text_if_the_schema_allows_any_document(
        self, tmp_path, form, schema
    ):
        gold = ["12", "hello", '{"a":1}', {"a": 1}, {"a": 1}, {"a": 1}]
        answers = ["12", "hello", '{"a":1}', '```json\n{"a":1}\n```', {"a": 1}, "none"]
        sides = {"gold": gold, "predicted": answers}
        sources = {}
        if form == "memory":
            sources = {side: dict(zip("abcdef", documents, strict=True)) for side, documents in sides.items()}
        elif form == "sides":
            for side, documents in sides.items():
                lines = (json.dumps({"id": name, side: one}) for name, one in zip("abcdef", documents, strict=True))
                sources[side] = tmp_path / f"{side}.jsonl"
                sources[side].write_text("\n".join(lines))
        else:
            records = zip("abcdef", gold, answers, strict=True)
            lines = (json.dumps({"id": name, "gold": one, "predicted": other}) for name, one, other in records)
            sources["pairs"] = tmp_path / "pairs.jsonl"
            sources["pairs"].write_text("\n".join(lines))
        found = arbitre.evaluate(schema, **sources, lenient=True)
        assert [document.quality for document in found.documents] == [1.0] * 5 + [0.0]
        assert [(one.id, one.how) for one in found.repaired] == [("d", "code fence")]
        assert [(one.id, one.side) for one in found.failures] == [("f", "predicted")]

    @pytest.mark.parametrize(
        ("gold", "predicted", "words"),
        [
            (
                [{"n": 1}, {"n": 2}],
                [{"n": 1}],
                "as many documents without ids in `predicted` as in `gold`, got 1 and 2",
            ),
            ([{"n": 1}], [], "as many documents without ids in `predicted` as in `gold`, got 0 and 1"),
            ([{"id": 1, "n": 1}], [{"n": 1}], "share ids"),
            ([("a", 1, 2)], [("a", 1)], "Expected (id, document) pairs, got a tuple of length 3"),
            (pd.DataFrame({"id": [1]}), [{"n": 1}], "Expected `gold` to be paths or documents, got a data frame"),
            (5, [{"n": 1}], "Expected `gold` to be paths, a list of documents or a dictionary"),
            ([{"n": 1}], Line(n=1), "Expected `predicted` to be paths, a list of documents or a dictionary"),
            ('{"n": "' + "a" * 5000, [{"n": 1}], "Expected the name of a file or a folder"),
            (["{" * 5000], ["["], "Expected the name of a file or a folder"),
            ("a\0b", "c", "Expected a folder"),
        ],
    )
    def test_what_is_neither_documents_nor_a_file_is_a_typed_error(self, gold, predicted, words):
        with pytest.raises(arbitre.ArbitreError) as caught:
            arbitre.evaluate({}, gold=gold, predicted=predicted)
        assert words in caught.value.message

    def test_json_instead_of_a_path_is_the_same_error_on_all_versions_of_python(self, monkeypatch):
        monkeypatch.setattr(Path, "exists", lambda _: False)  # Python 3.14 raises no error for a long name
        with pytest.raises(arbitre.DataError, match="Expected the name of a file or a folder") as caught:
            arbitre.evaluate({}, gold='[{"n": "' + "a" * 5000 + '"}]', predicted=[{"n": 1}])
        assert len(str(caught.value)) < 500
        assert "pass documents as a list" in caught.value.hint

    def test_documents_are_read_from_records_with_both_sides(self, tmp_path):
        file = tmp_path / "pairs.jsonl"
        file.write_text("".join(json.dumps({"id": k, "g": g, "p": p}) + "\n" for k, g, p in TRIPLES[:2]))
        expected = arbitre.evaluate(WORDS, TRIPLES[:2]).by_document
        assert arbitre.evaluate(WORDS, file, gold_key="g", predicted_key="p").by_document == expected
        assert arbitre.evaluate(WORDS, [str(file)], gold_key="g", predicted_key="p").by_document == expected

    @pytest.mark.parametrize("kind", FRAMES)
    def test_documents_are_read_from_a_data_frame(self, kind):
        rows = TRIPLES[:2]
        frame = FRAMES[kind](
            {
                "page": [k for k, _, _ in rows],
                "g": [g for _, g, _ in rows],
                "answer": [json.dumps(p) for _, _, p in rows],
            }
        )
        found = arbitre.evaluate(WORDS, frame, id_key="page", gold_key="g", predicted_key="answer")
        assert found.by_document == arbitre.evaluate(WORDS, rows).by_document

    def test_a_missing_value_of_a_data_frame_is_no_prediction(self):
        frame = pd.DataFrame({"id": [1, 2], "gold": [["Ada"], ["Bo"]], "predicted": [["Ada"], None]})
        found = arbitre.evaluate(WORDS, frame)
        assert [(one.id, one.reason) for one in found.failures] == [("2", "no prediction")]

    @pytest.mark.parametrize("source", ["frame", "file"])
    def test_integers_that_pandas_stores_as_floats_are_ids_and_runs(self, tmp_path, source):
        frame = pd.DataFrame(
            {"id": [1.0, 1.0, 2.0], "run": [1, 2, None], "gold": ["[1]"] * 3, "predicted": ["[1]"] * 3}
        )
        frame.to_parquet(path := tmp_path / "pairs.parquet")
        found = arbitre.evaluate(WORDS, pairs=frame if source == "frame" else path)
        assert [(one.id, one.run) for one in found.documents] == [("1", "1"), ("1", "2"), ("2", None)]

    @pytest.mark.parametrize("label", [1.5, 2.0**53])
    def test_a_float_that_is_not_an_exact_integer_is_no_id(self, tmp_path, label):
        path = tmp_path / "pairs.parquet"
        pd.DataFrame({"id": [label], "gold": ["[1]"], "predicted": ["[1]"]}).to_parquet(path)
        with pytest.raises(arbitre.DataError, match="Expected 'id' to be text or an integer") as caught:
            arbitre.evaluate(WORDS, pairs=path)
        assert caught.value.hint is None

    def test_answers_in_a_data_frame_are_repaired_if_asked(self):
        frame = pl.DataFrame({"id": ["a"], "gold": ['["Ada"]'], "predicted": ['Here: ["Ada"]']})
        assert arbitre.evaluate(WORDS, frame).macro.failed == 1
        found = arbitre.evaluate(WORDS, frame, lenient=True)
        assert (found.macro.failed, [one.how for one in found.repaired]) == (0, ["text around the JSON"])

    def test_an_unknown_column_is_named(self):
        with pytest.raises(arbitre.DataError, match="'predicted'"):
            arbitre.evaluate(WORDS, pd.DataFrame({"id": [1], "gold": [[]], "predictd": [[]]}))

    @pytest.mark.parametrize(
        ("pairs", "message", "hint"),
        [
            (pd.DataFrame([["a", "[]", "[]"]]), "Expected one column 'id', got none", "must be texts, got 0"),
            (
                pd.DataFrame([[1]], columns=[["q"], ["id"]]),
                "Expected one column 'id', got none",
                r"must be texts, got \('q', 'id'\)",
            ),
            (pl.Series(["a"]), "Expected a data frame with columns, got Series", "`gold_key`"),
            (pl.LazyFrame({"id": ["a"]}), "Expected .*triples, a data frame or paths, got LazyFrame", r"`collect\(\)`"),
            (7, "Expected .*triples, a data frame or paths, got int", "`gold=` and `predicted=`"),
        ],
    )
    def test_what_is_no_table_of_documents_is_refused(self, pairs, message, hint):
        with pytest.raises((arbitre.DataError, OptionError), match=message) as caught:
            arbitre.evaluate(WORDS, pairs)
        assert re.search(hint, caught.value.hint)

    def test_a_value_without_json_is_refused(self):
        frame = pd.DataFrame({"id": [1], "gold": [[object()]], "predicted": [[]]})
        with pytest.raises(arbitre.DataError, match="column 'gold'"):
            arbitre.evaluate(WORDS, frame)

    def test_expressions_are_given_in_place(self):
        triples = pd.DataFrame({"id": ["a"], "gold": ['["Ada"]'], "predicted": ['{"names": ["Ada"]}']})
        found = arbitre.evaluate(WORDS, triples, project={"predicted": "names"})
        assert found.micro.f1q == 1.0
        assert dict(found.signature.entries)["project.predicted"] == "names"

    def test_only_some_documents_are_evaluated(self):
        assert [*evaluation(only=["page_02"]).by_document] == ["page_02"]

    @pytest.mark.parametrize(
        ("pairs", "options", "message"),
        [
            (None, {}, "Expected `gold` and `predicted`"),
            (TRIPLES, {"lenient": True}, "`lenient` requires paths or a data frame"),
            (TRIPLES, {"gold": GOLD}, "`gold` requires paths"),
            (TRIPLES, {"clusters": "x"}, "Unknown option `clusters`"),
            (TRIPLES, {"cluster": "a", "cluster_by": "b"}, "one of `cluster` and `cluster_by`"),
            (TRIPLES, {"resume": True}, "`resume` requires `out`"),
        ],
    )
    def test_options_that_do_not_fit_are_refused(self, pairs, options, message):
        with pytest.raises(OptionError, match=message):
            arbitre.evaluate(WORDS, pairs, **options)


class TestRunning:
    def test_progress_counts_documents(self):
        seen = []
        evaluation(progress=lambda compared, total: seen.append((compared, total)))
        assert seen == [(6, 6)]

    def test_the_total_of_an_iterator_is_unknown(self):
        seen = []
        arbitre.evaluate(WORDS, iter(TRIPLES), progress=lambda compared, total: seen.append((compared, total)))
        assert seen == [(3, None)]

    def test_strict_refuses_a_missing_prediction(self):
        with pytest.raises(arbitre.DataError, match="no prediction"):
            arbitre.evaluate(WORDS, TRIPLES, strict=True)

    def test_violations_are_listed_if_asked(self):
        triples = [("a", ["Ada"], ["Ada", 1])]
        assert arbitre.evaluate(WORDS, triples).violations is None
        assert [one["pointer"] for one in arbitre.evaluate(WORDS, triples, validate=True).violations] == ["/1"]

    def test_clusters_come_from_a_pointer(self):
        triples = [("a", [{"v": 1}], [{"v": 1}]), ("b", [{"v": 2}], [{"v": 2}]), ("c", [{"v": 1}], [])]
        for name in ("cluster_by", "cluster"):
            assert arbitre.evaluate({}, triples, **{name: "/0/v"}).clusters == ("1", "2", "1")

    def test_resuming_compares_triples_that_have_changed(self, tmp_path):
        first = arbitre.evaluate(WORDS, TRIPLES, out=tmp_path)
        changed = [("a", ["Ada", "Bo"], []), *TRIPLES[1:]]
        again = arbitre.evaluate(WORDS, changed, out=tmp_path, resume=True)
        assert again.micro.f1q < first.micro.f1q

    @pytest.mark.slow
    def test_workers_change_no_byte(self, tmp_path):
        triples = [(str(number), ["Ada"], ["Ada", "x" * (number % 7)]) for number in range(800)]
        for workers in (1, 2):
            arbitre.evaluate(WORDS, triples, workers=workers, out=tmp_path / str(workers))
        assert contents(tmp_path / "1") == contents(tmp_path / "2")


class TestTables:
    def test_matches_have_a_row_for_each_entry(self):
        matches = arbitre.evaluate(WORDS, TRIPLES).table("matches")
        assert list(matches["id"]) == ["a", "a", "b", "c"]
        assert list(matches["status"]) == ["matched", "matched", "matched", "missing"]
        assert list(matches["value.predicted"]) == ["Ada", "Bob", "Cy", None]
        assert np.array_equal(matches["quality"][:3], 1.0 - matches["distance"][:3])
        assert matches["quality"][3] == 0.0

    @pytest.mark.parametrize("name", ["documents", "paths", "matches"])
    def test_data_frames_have_the_same_cells(self, name):
        found = evaluation()
        arrow = found.to_arrow(name)
        assert found.to_polars(name).equals(pl.from_arrow(arrow))
        pandas = found.to_pandas(name)
        assert list(pandas.columns) == arrow.column_names
        for column in arrow.column_names:
            values = pandas[column]
            assert values.astype(object).where(values.notna(), None).tolist() == arrow[column].to_pylist()

    @pytest.mark.parametrize("name", ["pandas", "polars"])
    def test_a_missing_library_is_named(self, name, monkeypatch):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(arbitre.DataError, match=f"needs {name}, which cannot be imported") as caught:
            getattr(arbitre.evaluate(WORDS, TRIPLES), f"to_{name}")()
        assert caught.value.hint == "Install it: pip install 'arbitre[frames]'"

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    def test_values_are_the_same_in_every_dialect(self, tmp_path, form):
        schema = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": ["number", "string"]}}}}
        gold = [{"n": value} for value in (2.5, "2,5", "2.5", -1.5e-07, "-1,5e-07", "a;2,5", [2.5])]
        triples = [("2,5", gold, gold[1:]), ("b", gold, [{"n": 7.25}, {"n": 'x"'}])]
        options = {"diagnose": True, "table": [f"matches.{form}", f"faults.{form}"], "no_report": True}
        expected = arbitre.evaluate(schema, triples, diagnose=True)
        for dialect in ("standard", "excel-fr"):
            found = arbitre.evaluate(schema, triples, out=tmp_path / dialect, csv_dialect=dialect, **options)
            for evaluation in (found, arbitre.load(tmp_path / dialect)):
                for table in ("matches", "faults"):
                    assert evaluation.to_arrow(table).equals(expected.to_arrow(table))
                    assert evaluation.scan(table).to_table().equals(expected.to_arrow(table))
        assert expected.to_arrow("matches").column("n.gold").to_pylist()[:2] == ["2.5", "2,5"]

    def test_details_in_memory_need_no_files_and_equal_the_saved_ones(self, tmp_path, monkeypatch):
        properties = {"text": {"type": "string"}, "born": {"type": "number"}, "tags": WORDS}
        schema = {"type": "array", "items": {"type": "object", "properties": properties}}
        odd = [{"text": "=1+1", "born": 1.5}, {"text": '\'tis\n, "x"', "tags": ["a", "é"]}, {"text": "", "born": None}]
        triples = [
            ("=a", odd, [*odd[1:], {"text": "1+1", "new": {"k": [1]}}]),
            ("b", odd, []),
            ("c", [], odd),
            *TRIPLES,
        ]
        for options in ({}, {"diagnose": True}):
            found = arbitre.evaluate(schema, triples, **options)
            found.save(saved := tmp_path / f"saved{len(options)}")
            arbitre.evaluate(schema, triples, diagnose=True, out=(diagnosed := tmp_path / f"diagnosed{len(options)}"))
            page = (saved / "report.html").read_bytes()
            with monkeypatch.context() as patched:
                patched.setattr("tempfile.mkdtemp", None)
                matches, faults = found.to_arrow("matches"), found.to_arrow("faults")
                found.report(tmp_path / f"report{len(options)}.html")
            assert matches.equals(arbitre.load(saved).to_arrow("matches"))
            assert faults.equals(arbitre.load(diagnosed).to_arrow("faults"))
            assert (tmp_path / f"report{len(options)}.html").read_bytes() == page
        empty = arbitre.evaluate(schema, [])
        empty.save(tmp_path / "empty")
        assert empty.to_arrow("matches").equals(arbitre.load(tmp_path / "empty").to_arrow("matches"))

    def test_an_unknown_table_is_refused(self):
        with pytest.raises(arbitre.OptionError, match='Did you mean "matches"'):
            evaluation().table("matchs")

    def test_the_worst_documents_come_first_and_failed_ones_last(self):
        found = arbitre.evaluate(WORDS, TRIPLES)
        assert [one.id for one in found.worst()] == ["a", "b", "c"]
        assert [one.id for one in found.worst(1)] == ["a"]

    def test_rows_of_documents_that_are_gone_are_refused(self):
        found = arbitre.evaluate(WORDS, iter(TRIPLES))
        with pytest.raises(arbitre.DataError, match="no longer available"):
            found.table("matches")

    def test_rows_of_documents_that_changed_are_refused(self):
        triples = [list(triple) for triple in TRIPLES]
        found = arbitre.evaluate(WORDS, triples)
        triples[0][2] = []
        with pytest.raises(arbitre.DataError, match="changed after the evaluation"):
            found.table("matches")


class TestFiles:
    @pytest.fixture
    def options(self):
        return {"cluster_by": "/page/volume", "validate": True}

    def test_saving_writes_the_files_of_an_evaluation_with_out(self, tmp_path, options):
        files = evaluation(out=tmp_path / "out", **options).files
        assert set(evaluation(**options).save(tmp_path / "saved")) == set(files)
        assert contents(tmp_path / "saved") == contents(tmp_path / "out")

    @pytest.mark.parametrize("options", [{}, {"cluster_by": "/page/volume", "validate": True}])
    def test_a_loaded_evaluation_has_the_same_figures(self, tmp_path, options):
        saved = evaluation(**options)
        saved.save(tmp_path)
        loaded = arbitre.load(tmp_path)
        assert json.dumps(loaded.to_dict()) == json.dumps(saved.to_dict())
        assert loaded.by_document == saved.by_document
        assert (loaded.micro.tally, loaded.leaves.tally) == (saved.micro.tally, saved.leaves.tally)
        for method in ("clopper-pearson", "bca", "percentile"):
            for path in (None, "/speakers/*/name"):
                assert loaded.interval("irq", method=method, path=path) == saved.interval(
                    "irq", method=method, path=path
                )
        assert (loaded.chance, loaded.coverage, loaded.clusters) == (saved.chance, saved.coverage, saved.clusters)
        assert (loaded.failures, loaded.violations) == (saved.failures, saved.violations)
        assert loaded.to_arrow("matches").equals(saved.to_arrow("matches"))

    def test_a_report_names_evaluations_by_the_keys_of_a_dictionary(self, tmp_path):
        saved, memory = evaluation(out=tmp_path / "saved"), arbitre.evaluate(WORDS, TRIPLES)
        again = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=GOLD)
        written = arbitre.write_report({"first one": saved, "second one": again}, out=tmp_path / "both.html")
        page = written.file.read_text("utf-8")
        assert "first one" in page
        assert "second one" in page
        alone = [
            arbitre.write_report(results, out=tmp_path / name).file.read_bytes()
            for name, results in (("keyed.html", {"a key": memory}), ("alone.html", memory))
        ]
        assert alone[0] == alone[1]
        with pytest.raises(OptionError, match="Expected results, got none"):
            arbitre.write_report({}, out=tmp_path / "none.html")

    def test_loaded_evaluations_are_ranked_as_before(self, tmp_path):
        careful = arbitre.evaluate(SCHEMA, gold=GOLD, predicted=bundled.demo() / "careful.jsonl")
        hasty = evaluation(out=tmp_path)
        expected = arbitre.rank({"careful": careful, "hasty": hasty})
        assert arbitre.rank({"careful": careful, "hasty": arbitre.load(tmp_path)}) == expected

    def test_runs_repairs_and_odd_ids_are_loaded(self, tmp_path):
        answers = pl.DataFrame(
            {"id": ["é|", "é|"], "run": ["1", "x"], "gold": ['["A"]'] * 2, "predicted": ['["A"]', '```["B"]```']}
        )
        saved = arbitre.evaluate(WORDS, answers, lenient=True)
        saved.save(tmp_path)
        loaded = arbitre.load(tmp_path)
        assert [*loaded.by_document] == ["é|/1", "é|/x"]
        assert loaded.repaired == saved.repaired != ()

    def test_a_loaded_evaluation_is_saved_and_reported_again(self, tmp_path):
        evaluation(out=tmp_path / "out")
        loaded = arbitre.load(tmp_path / "out")
        loaded.save(tmp_path / "copy")
        assert contents(tmp_path / "copy") == contents(tmp_path / "out")
        loaded.report(tmp_path / "report.html")
        assert (tmp_path / "report.html").read_bytes() == (tmp_path / "out" / "report.html").read_bytes()

    def test_saving_removes_files_of_an_earlier_evaluation(self, tmp_path):
        evaluation().save(tmp_path)
        assert (tmp_path / "failures.csv").exists()
        arbitre.evaluate(WORDS, TRIPLES[:1]).save(tmp_path)
        assert not (tmp_path / "failures.csv").exists()

    def test_a_folder_with_other_results_is_refused(self, tmp_path):
        evaluation(out=tmp_path)
        loaded = arbitre.load(tmp_path)
        arbitre.evaluate(WORDS, TRIPLES, out=tmp_path)
        with pytest.raises(arbitre.DataError, match="no longer contains these results"):
            loaded.table("matches")

    def test_a_report_is_written_in_french(self, tmp_path):
        evaluation().report(tmp_path / "rapport.html", language="fr")
        page = (tmp_path / "rapport.html").read_text(encoding="utf-8")
        assert '<html lang="fr">' in page
        assert "Oakenshaw, John" in page  # the documents are shown, not only the figures

    def test_results_are_written_with_a_report_in_french(self, tmp_path):
        one = evaluation(out=tmp_path / "one", lang="fr")
        arbitre.rank({"one": one}, out=tmp_path / "ranking", lang="fr")
        pages = [tmp_path / "one" / "report.html", *(tmp_path / "ranking").rglob("report.html")]
        assert len(pages) == 3
        assert all('<html lang="fr">' in page.read_text(encoding="utf-8") for page in pages)

    def test_an_unknown_language_is_refused(self, tmp_path):
        with pytest.raises(arbitre.OptionError, match="Available: en, fr"):
            evaluation().report(tmp_path / "r.html", lang="de")

    @pytest.mark.parametrize("damage", [lambda data: b"no" + data, lambda data: data[: len(data) // 2]])
    def test_damaged_results_are_refused(self, tmp_path, damage):
        evaluation(out=tmp_path, no_report=True)
        file = tmp_path / "results.npz"
        file.write_bytes(damage(file.read_bytes()))
        with pytest.raises(arbitre.DataError, match="Expected results in the format") as caught:
            arbitre.load(tmp_path)
        assert caught.value.file == str(file)

    def test_edited_results_are_refused(self, tmp_path):
        written = evaluation(out=tmp_path, no_report=True)
        file, copy = tmp_path / "results.npz", tmp_path / "copy.npz"
        with np.load(file) as arrays:
            known = {name: arrays[name] for name in arrays}
        digest, text = known.pop("digest"), known["text"]

        def load(digest=None, **changed):
            with copy.open("wb") as out:
                np.savez(out, **{name: array for name, array in (known | changed).items() if array is not None})
            with ZipFile(copy, "a") as archive:
                archive.writestr("digest", _digest(archive) if digest is None else digest)
            copy.replace(file)
            return arbitre.load(tmp_path)

        assert load().to_dict() == written.to_dict()
        np.savez(file, **known)  # NumPy drops the digest
        with pytest.raises(arbitre.DataError, match="got a file that was edited"):
            arbitre.load(tmp_path)
        higher = known["tally_0_3"] + 1
        for changed in ({"tally_0_3": higher}, {"text": np.append(text, np.uint8(32))}):
            with pytest.raises(arbitre.DataError, match="got a file that was edited") as caught:
                load(digest, **changed)
            assert caught.value.file == str(file)
        entry = known["path_0_0"]
        for changed, words in (
            ({"tally_0_3": None}, "tally_0_3"),
            ({"more": entry}, "unknown array 'more'"),
            ({"tally_0_3": known["tally_0_3"][1:]}, r"expected `tally_0_3` of shape \(\d,\), got"),
            ({"qualities": known["qualities"].astype("<f2") > 0}, "expected `qualities` of shape"),
            ({"path_0_0": entry[1:]}, "expected `path_0_0` of shape"),
            ({"path_0_0": entry.astype(np.float32)}, "expected `path_0_0` of shape"),
            ({"curve": known["curve"][0]}, "expected `curve` of shape"),
            ({"runs": known["runs"] + 7}, "expected positions of runs"),
            ({"ids": known["ids"][:-1]}, "damaged file"),
            ({"text": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}, "damaged file"),
            ({"text": np.frombuffer(b'{"format": "arbitre-results/2"}', dtype=np.uint8)}, "runs"),
            ({"tally_0_3": np.array([{}, None])}, "damaged file"),
        ):
            with pytest.raises(arbitre.DataError, match=words) as caught:
                load(**changed)
            assert caught.value.file == str(file)

    def test_an_edited_ranking_is_refused(self, tmp_path):
        ranking = arbitre.rank({"one": evaluation(), "two": evaluation()}, out=tmp_path)
        assert arbitre.load(tmp_path) == ranking
        file = tmp_path / "ranking.json"
        plain = json.loads(file.read_text())
        for change in ({"systems": 5}, {"pairs": [{}]}, {"groups": [[1]]}, {"documents": "many"}):
            file.write_text(json.dumps(plain | change))
            with pytest.raises(arbitre.DataError, match="Invalid ranking: ") as caught:
                arbitre.load(tmp_path)
            assert caught.value.pointer.startswith(f"/{next(iter(change))}")

    @pytest.mark.parametrize(
        ("names", "words"),
        [
            (["one", "One"], "differ in more than case, got 'one' and 'One'"),
            (["caf\u00e9", "cafe\u0301"], "differ in more than case"),
            (["ranking.json", "two"], "'ranking.json' has the name of a file in `out`"),
            (["one", "Report.html"], "'Report.html' has the name of a file in `out`"),
            (["pairs.csv", "two"], "'pairs.csv' has the name of a file in `out`"),
            (["../one", "two"], "can be used as folder names, got '../one'"),
            (["NUL", "two"], "can be used as folder names, got 'NUL'"),
            (["one", "com1.5"], "can be used as folder names, got 'com1.5'"),
        ],
    )
    def test_names_of_systems_that_cannot_be_folders_are_refused_before_anything_is_compared(
        self, tmp_path, monkeypatch, names, words
    ):
        monkeypatch.setattr(EvaluationJob, "compare", lambda *_: pytest.fail("documents were compared"))
        out = tmp_path / "out"
        paths = dict.fromkeys(names, HASTY)
        for systems, options in ((paths, {"schema": SCHEMA, "gold": GOLD}), (dict.fromkeys(names), {})):
            with pytest.raises(OptionError) as caught:
                arbitre.rank(systems, out=out, **options)
            assert words in caught.value.message
        if "/" not in names[0]:
            arguments = [
                "rank",
                "--schema",
                SCHEMA,
                "--gold",
                GOLD,
                "--out",
                out,
                *(f"{name}={HASTY}" for name in names),
            ]
            refused = CliRunner().invoke(app, list(map(str, arguments)))
            assert refused.exit_code == 2
            assert names[0] in refused.stderr or names[1] in refused.stderr
        assert not out.exists()

    def test_a_folder_without_results_is_refused(self, tmp_path):
        with pytest.raises(arbitre.DataError, match=r"results\.npz or ranking\.json"):
            arbitre.load(tmp_path)


class TestMinimumScores:
    def test_scores_that_are_reached_pass(self):
        evaluation().assert_at_least(
            f1q=0.7, document_quality=0.6, paths={"/speakers/*/name": 0.7}, **{"macro.f1q": 0.7}
        )

    def test_every_score_below_its_minimum_is_named(self):
        with pytest.raises(arbitre.QualityBoundError) as caught:
            evaluation().assert_at_least(f1q=0.9, paths={"/speakers/*/name": {"irq": 0.99, "imq": 0.5}})
        assert isinstance(caught.value, AssertionError)
        assert [problem.message for problem in caught.value.problems] == [
            "micro f1q is 0.7637, 0.1363 below 0.9",
            "/speakers/*/name:irq is 0.6818, 0.3082 below 0.99",
        ]

    def test_an_unknown_path_is_an_error_and_no_failed_assertion(self):
        with pytest.raises(arbitre.DataError, match="/speakers"):
            evaluation().assert_at_least(paths={"/speaker/*/name": 0.5})


PATHS = {name: bundled.demo() / f"{name}.jsonl" for name in ("careful", "hasty")}


class TestRanking:
    def test_python_writes_the_same_files_as_the_command(self, tmp_path):
        sources = [f"{name}={path}" for name, path in PATHS.items()]
        options = ["--score", "imq", "--score", "irq", "--seed", "3", "--cluster-by", "page_0[1-3]|page"]
        command = ["rank", "--schema", str(SCHEMA), "--gold", str(GOLD), *sources, *options, "--workers", "1"]
        result = CliRunner().invoke(app, [*command, "--quiet", "--out", str(tmp_path / "command")])
        assert result.exit_code == 0, result.stderr
        ranking = arbitre.rank(
            PATHS,
            "imq",
            beside=["irq"],
            schema=SCHEMA,
            gold=GOLD,
            seed=3,
            cluster_by="page_0[1-3]|page",
            out=tmp_path / "python",
        )
        assert ranking.clusters == 4
        assert contents(tmp_path / "python") == contents(tmp_path / "command")
        assert contents(tmp_path / "python" / "hasty") == contents(tmp_path / "command" / "hasty")

    def test_a_ranking_from_paths_is_that_of_the_evaluations(self):
        evaluations = {name: arbitre.evaluate(SCHEMA, gold=GOLD, predicted=path) for name, path in PATHS.items()}
        assert arbitre.rank(PATHS, schema=SCHEMA, gold=GOLD) == arbitre.rank(evaluations)

    @pytest.mark.parametrize("no_report", [False, True])
    def test_a_loaded_ranking_is_equal(self, tmp_path, no_report):
        ranking = arbitre.rank(PATHS, schema=SCHEMA, gold=GOLD, out=tmp_path, no_report=no_report)
        loaded = arbitre.load(tmp_path)
        assert loaded == ranking
        assert repr(loaded) == repr(ranking)

    def test_a_ranking_of_evaluations_is_written_with_their_results(self, tmp_path):
        evaluations = {"one": evaluation(), "two": evaluation()}
        ranking = arbitre.rank(evaluations, out=tmp_path)
        assert arbitre.load(tmp_path) == ranking
        assert arbitre.load(tmp_path / "two").to_dict() == evaluations["two"].to_dict()
        assert (tmp_path / "report.html").exists()

    def test_a_file_that_is_no_ranking_is_refused(self, tmp_path):
        (tmp_path / "ranking.json").write_text("{}")
        with pytest.raises(arbitre.DataError, match="Invalid ranking: "):
            arbitre.load(tmp_path)

    @pytest.mark.parametrize(
        ("systems", "options"),
        [
            (PATHS, {}),
            (PATHS, {"gold": GOLD}),
            (PATHS, {"schema": SCHEMA}),
            ({"a": arbitre.evaluate(WORDS, TRIPLES)}, {"gold": GOLD, "schema": SCHEMA}),
            ({"a": arbitre.evaluate(WORDS, TRIPLES)}, {"lenient": True}),
            ({"a": arbitre.evaluate(WORDS, TRIPLES), "b": "b.jsonl"}, {"gold": GOLD, "schema": SCHEMA}),
        ],
    )
    def test_evaluations_and_paths_are_not_mixed(self, systems, options):
        with pytest.raises(OptionError, match="Expected evaluations alone, or paths with `schema` and `gold`"):
            arbitre.rank(systems, **options)

    def test_an_unknown_option_is_named(self):
        with pytest.raises(OptionError, match="Unknown option `id_ky`") as caught:
            arbitre.rank(PATHS, schema=SCHEMA, gold=GOLD, id_ky="id")
        assert caught.value.hint.startswith('Did you mean "id_key"? Also available: ')
