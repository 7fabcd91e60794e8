"""Confidences of predicted values: their sources, and how well they predict correctness."""

import json
import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import bundled, confidence
from arbitre.cli import app
from arbitre.confidence.confidences import locate
from arbitre.errors import DataError, OptionError
from arbitre.language import Language, Translator
from arbitre.report.figures import figures
from arbitre.report.report_files import read_view

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-999, 999)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}


def resolve(document, pointer):
    for part in pointer.split("/")[1:]:
        token = part.replace("~2", "*").replace("~1", "/").replace("~0", "~") if part != "~2" else "*"
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


def split(text, logprobs):
    """Tokens of about equal length, as bytes, so that characters are divided."""
    data = text.encode()
    size = math.ceil(len(data) / len(logprobs))
    parts = [data[at * size : (at + 1) * size] for at in range(len(logprobs))]
    return [{"token": "?", "bytes": list(part), "logprob": value} for part, value in zip(parts, logprobs, strict=True)]


class TestSpans:
    @pytest.mark.slow
    @given(DOCUMENTS, st.booleans(), st.sampled_from([None, 2]))
    def test_every_value_is_found_in_the_text(self, document, ascii_only, indent):
        text = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode()
        located = locate(text)
        assert located.document == document
        for pointer, (start, stop) in located.spans.items():
            value = resolve(document, pointer)
            inside = text[start:stop]
            assert json.loads(b'"' + inside + b'"' if isinstance(value, str) and value else inside) == value

        def count(value):
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            return 1 + sum(map(count, inner))

        assert len(located.spans) == count(document)

    @pytest.mark.parametrize("answer", ['```json\n{"a": [1]}\n```', 'Here it is: {"a": [1]} Done.'])
    def test_text_around_the_document_is_skipped(self, answer):
        located = locate(answer.encode())
        assert located.document == {"a": [1]}
        start, stop = located.spans["/a/0"]
        assert answer[start:stop] == "1"

    @pytest.mark.parametrize("answer", ["", "no document", '{"a": 1', '{"a": 1} {"a": 2}', '{"a": 1, "a": 2}'])
    def test_an_answer_without_exactly_one_document_is_refused(self, answer):
        with pytest.raises(DataError):
            locate(answer.encode())


class TestLogprobs:
    def test_the_confidence_is_the_geometric_mean_of_the_tokens_of_a_value(self):
        tokens = [('{"name": "', -0.1), ("Lon", -0.2), ("don", -0.4), ('", "age": ', -0.8), ("3", -1.0), ("6}", -2.0)]
        answer = confidence.from_logprobs({"content": [{"token": token, "logprob": value} for token, value in tokens]})
        assert answer.document == {"name": "London", "age": 36}
        assert answer.confidences["/name"] == pytest.approx(math.exp(-0.3), abs=1e-12)
        assert answer.confidences["/age"] == pytest.approx(math.exp(-1.5), abs=1e-12)
        assert answer.confidences[""] == pytest.approx(math.exp(-4.5 / 6), abs=1e-12)

    def test_tokens_may_divide_characters(self):
        answer = confidence.from_logprobs(split('["né", "🙂"]', [-0.1 * at for at in range(8)]))
        assert answer.document == ["né", "🙂"]
        # 2 bytes per token: the second text has bytes 9 to 13, in the tokens 4 to 6
        assert answer.confidences["/1"] == pytest.approx(math.exp(-0.5), abs=1e-12)

    def test_a_token_of_probability_zero_gives_confidence_zero(self):
        assert confidence.from_logprobs([{"token": "7", "logprob": -math.inf}]).confidences == {"": 0.0}

    def test_log_probabilities_without_tokens_are_refused(self):
        with pytest.raises(DataError, match="Expected the text of token 0"):
            confidence.from_logprobs([-0.5])
        with pytest.raises(DataError, match="Expected the bytes of a token") as caught:
            confidence.from_logprobs([{"token": "a", "logprob": -1, "bytes": [256]}])
        assert caught.value.pointer == "/0/bytes"


class TestExplicit:
    def test_both_forms_are_removed_from_the_document(self):
        stated = {
            "name": {"value": "Ada", "confidence": 0.9},
            "pages": {"value": [{"value": 3, "confidence": 0.2}, 4], "confidence": 1},
            "born": [{"year": 1815, "year_confidence": 0.5}],
            "odd": {"value": 1, "confidence": 0.5, "unit": "m"},
            "a/b": 1,
            "a/b_confidence": 0,
        }
        answer = confidence.from_explicit(stated)
        assert answer.document == {
            "name": "Ada",
            "pages": [3, 4],
            "born": [{"year": 1815}],
            "odd": {"value": 1, "confidence": 0.5, "unit": "m"},
            "a/b": 1,
        }
        assert answer.confidences == {
            "/name": 0.9,
            "/pages": 1,
            "/pages/0": 0.2,
            "/pages/1": 1,  # the second page has that of the list
            "/born/0/year": 0.5,
            "/a~1b": 0,
        }

    @pytest.mark.parametrize("value", [1.5, -0.1, "high", True, None, math.nan], ids=str)
    def test_a_confidence_that_is_not_a_number_from_0_to_1_is_refused(self, value):
        with pytest.raises(DataError, match="Expected a confidence") as caught:
            confidence.from_explicit({"a": [{"value": 1, "confidence": value}]})
        assert caught.value.pointer == "/a/0/confidence"

    def test_a_confidence_without_its_field_is_refused(self):
        with pytest.raises(DataError, match='Expected the field "nam" of a confidence') as caught:
            confidence.from_explicit({"name": "Ada", "nam_confidence": 0.5})
        assert caught.value.pointer == "/nam_confidence"


class TestCalibration:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("sklearn")

    @given(
        st.lists(st.tuples(st.integers(0, 20).map(lambda part: part / 20), st.booleans()), min_size=1, max_size=30),
        st.integers(1, 12),
    )
    def test_the_measures_equal_their_definitions(self, leaves, bins):
        confidences, correct = zip(*leaves, strict=True)
        calibration = confidence.calibrate(confidences, correct, bins)
        right = [score for score, is_right in leaves if is_right]
        wrong = [score for score, is_right in leaves if not is_right]
        wins = sum((a > b) + (a == b) / 2 for a in right for b in wrong)
        assert calibration.auroc == (pytest.approx(wins / len(right) / len(wrong)) if right and wrong else None)
        assert calibration.brier == pytest.approx(
            sum((score - is_right) ** 2 for score, is_right in leaves) / len(leaves)
        )
        rows = [
            [leaf for leaf in leaves if (row.lower < leaf[0] or row.lower == leaf[0] == 0) and leaf[0] <= row.upper]
            for row in calibration.bins
        ]
        assert [row.leaves for row in calibration.bins] == [len(inside) for inside in rows]
        gaps = [abs(sum(score for score, _ in inside) - sum(is_right for _, is_right in inside)) for inside in rows]
        assert calibration.ece == pytest.approx(sum(gaps) / len(leaves))
        for point in calibration.curve:
            covered = [is_right for score, is_right in leaves if score >= point.threshold]
            assert point.coverage == pytest.approx(len(covered) / len(leaves))
            assert point.risk == pytest.approx(1 - sum(covered) / len(covered))
        risks = {point.threshold: point.risk for point in calibration.curve}
        assert calibration.aurc == pytest.approx(sum(risks[score] for score in confidences) / len(leaves))

    def test_without_leaves_there_is_no_calibration(self):
        assert confidence.calibrate([], []) is None
        with pytest.raises(OptionError, match="Expected `bins`"):
            confidence.calibrate([0.5], [True], bins=0)

    def test_the_error_for_a_missing_library_names_its_extra(self, monkeypatch):
        for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(DataError, match="Calibration needs scikit-learn") as caught:
            confidence.calibrate([0.5], [True])
        assert caught.value.hint == "Install it: pip install 'arbitre[calibration]'"


class TestReport:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("sklearn")

    def test_leaves_are_matched_before_their_confidences_are_used(self):
        comparator = arbitre.Comparator({"type": "array", "items": SCHEMA})
        gold = [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 20}]
        answer = confidence.from_explicit(
            [
                {"name": "Bob", "name_confidence": 0.7, "age": 20, "age_confidence": 0.6},
                {"name": "Ada", "name_confidence": 0.9, "age": 63, "age_confidence": 0.3},
                {"name": "Cy", "name_confidence": 0.2, "age": 1},
            ]
        )
        report = confidence.report(comparator, [(gold, answer)])
        assert (report.missing, report.without_confidence, report.overall.leaves) == (0, 1, 5)
        name = report.by_path["/*/name"]
        assert (name.leaves, name.correct, name.auroc) == (3, pytest.approx(2 / 3), 1)  # the spurious entry is wrong
        assert report.by_path["/*/age"].auroc == 1
        assert report.signature == comparator.signature

    def test_fields_under_an_alias_keep_their_confidences(self):
        text, number = {"type": "string"}, {"type": "integer"}
        fields = {
            "name": {**text, "x-arbitre": {"aliases": ["nom"]}},
            "pages": {**number, "x-arbitre": {"aliases": ["details/pages"]}},
            "place": {
                "type": "object",
                "properties": {"city": {**text, "x-arbitre": {"aliases": ["ville"]}}, "tags": {"type": "array"}},
                "x-arbitre": {"aliases": ["details/lieu"]},
            },
        }
        gold = {"name": "A", "pages": 3, "place": {"city": "Pau", "tags": ["x", "y"]}}
        place = {"ville": "Pau", "ville_confidence": 0.7, "tags": {"value": ["y", "x"], "confidence": 0.6}}
        predicted = {
            "nom": "A",
            "nom_confidence": 0.9,
            "details": {"pages": 3, "pages_confidence": 0.8, "lieu": place},
        }
        comparator = arbitre.Comparator({"type": "array", "items": {"type": "object", "properties": fields}})
        other = {"name": "B", "name_confidence": 0.1}
        answer = confidence.from_explicit([other, predicted])
        report = confidence.report(comparator, [([gold, {"name": "B"}], answer)])
        assert report.without_confidence == 0
        means = {path: one.confidence for path, one in report.by_path.items()}
        assert means == pytest.approx({"/*/name": 0.5, "/*/pages": 0.8, "/*/place/city": 0.7, "/*/place/tags/*": 0.6})

    def test_a_missing_prediction_is_counted_and_has_no_confidence(self):
        comparator = arbitre.Comparator(SCHEMA)
        gold = {"name": "Ada", "age": 36}
        answers = [
            (gold, confidence.from_explicit({"name": "Ada", "name_confidence": 1})),
            (gold, confidence.ConfidentDocument(arbitre.ABSENT, {})),
        ]
        report = confidence.report(comparator, answers)
        assert (report.documents, report.missing, report.overall.leaves) == (2, 3, 1)
        assert report.overall.auroc is None

    def test_the_minimum_quality_of_a_correct_leaf_can_be_lowered(self):
        comparator = arbitre.Comparator(SCHEMA)
        answers = [({"name": "Lorimond"}, confidence.from_explicit({"name": {"value": "Lorimand", "confidence": 0.5}}))]
        assert confidence.report(comparator, answers).overall.correct == 0
        assert confidence.report(comparator, answers, correct_at=0.7).overall.correct == 1
        with pytest.raises(OptionError, match="Expected `correct_at`"):
            confidence.report(comparator, answers, correct_at=0)

    def test_predictions_without_confidences_are_refused(self):
        with pytest.raises(DataError, match="Expected predicted values with a confidence"):
            confidence.report(arbitre.Comparator(SCHEMA), [({"age": 1}, confidence.ConfidentDocument({"age": 1}, {}))])


class TestCommand:
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path, monkeypatch):
        pytest.importorskip("sklearn")
        monkeypatch.chdir(tmp_path)
        (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), "utf-8")
        self.gold = {"a": {"name": "Ada", "age": 36}, "b": {"name": "Bob", "age": 20}, "c": {"name": "Cy", "age": 9}}
        texts = {"a": '{"name": "Ada", "age": 63}', "b": '{"name": "Bob", "age": 20}', "c": "I cannot read it."}
        self.answers = {
            name: split(text, [-0.1, -0.2, -0.3, -0.8 if name == "a" else 0]) for name, text in texts.items()
        }
        self.write("gold", [{"id": name} | document for name, document in self.gold.items()])
        self.write("answers", [{"id": name, "logprobs": {"content": tokens}} for name, tokens in self.answers.items()])

    def write(self, name, records):
        with open(f"{name}.jsonl", "w", encoding="utf-8") as file:  # noqa: PTH123  (in the current folder)
            file.writelines(json.dumps(record) + "\n" for record in records)

    def run(self, *arguments, code=0):
        result = CliRunner().invoke(
            app, ["confidence", "gold.jsonl", "answers.jsonl", "--schema", "schema.json", *arguments]
        )
        assert result.exit_code == code, result.output
        return result

    def test_the_command_prints_the_report_of_the_python_function(self):
        plain = json.loads(self.run("--format", "json").stdout)
        answers = [(self.gold[name], confidence.from_logprobs(self.answers[name])) for name in "ab"]
        answers.append((self.gold["c"], confidence.ConfidentDocument(arbitre.ABSENT, {})))
        expected = confidence.report(arbitre.Comparator(SCHEMA), answers).to_dict()
        assert {name: plain[name] for name in expected} == json.loads(json.dumps(expected))
        assert [failure["id"] for failure in plain["failures"]] == ["c"]
        assert plain["by_path"]["/age"]["auroc"] == 1
        Draft202012Validator(bundled.schema("confidence.schema.json")).validate(plain)
        result = self.run()
        assert "4 predicted values in 3 documents" in result.stdout
        assert "Prediction c failed; its values count as missing" in result.output

    def test_its_calibration_curve_is_drawn_in_a_report_and_to_files(self, tmp_path):
        Path("confidence.json").write_text(self.run("--format", "json").stdout, encoding="utf-8")
        bins = json.loads(Path("confidence.json").read_text(encoding="utf-8"))["overall"]["bins"]
        self.write("predicted", [self.gold["a"] | {"id": "a"}])
        arbitre.evaluate("schema.json", gold="gold.jsonl", predicted="predicted.jsonl", out=tmp_path / "out")
        view = read_view([tmp_path / "out" / "evaluation.json", Path("confidence.json")])
        chart = next(one.chart for one in figures(view.to_dict(), Translator(Language.EN)) if one.name == "calibration")
        assert chart.values == (tuple((one["confidence"], one["correct"]) for one in bins),)
        page = arbitre.write_report([tmp_path / "out", "confidence.json"], tmp_path / "page.html").file
        assert "Calibration of confidences" in page.read_text(encoding="utf-8")
        assert "Calibration of confidences" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        pytest.importorskip("vl_convert", reason="vl-convert is not installed: pip install 'arbitre[report]'")
        assert "calibration-page.svg" in arbitre.write_figures("confidence.json", tmp_path / "figures")
        with pytest.raises(DataError, match="at most one result of `arbitre confidence`"):
            read_view([Path("confidence.json")] * 2)

    def test_the_pointer_of_the_log_probabilities_can_be_named(self):
        self.write(
            "answers",
            [{"id": name, "choices": [{"logprobs": {"content": tokens}}]} for name, tokens in self.answers.items()],
        )
        plain = json.loads(self.run("--logprobs", "/choices/0/logprobs", "--format", "json").stdout)
        assert plain["overall"]["leaves"] == 4
        assert "Expected predicted values with a confidence" in self.run(code=2).output

    def test_stated_confidences_are_read(self):
        self.write(
            "answers",
            [
                {"id": "a", "name": "Ada", "name_sure": 0.9, "age": {"value": 63, "confidence": 0.1}},
                {"id": "z", "age": 1},
            ],
        )
        plain = json.loads(self.run("--source", "explicit", "--suffix", "_sure", "--format", "json").stdout)
        assert (plain["overall"]["leaves"], plain["overall"]["auroc"]) == (2, 1)
        assert (
            "1 prediction without gold, not counted: z" in self.run("--source", "explicit", "--suffix", "_sure").output
        )

    def test_notes_say_where_a_prediction_fails_and_how_many_they_leave_out(self):
        ids = [f"d{number}" for number in range(12)]
        self.write("gold", [{"id": "a", "name": "Ada"}, *({"id": name, "name": "Ada"} for name in ids)])
        stated = {"id": "a", "name": {"value": "Ada", "confidence": 0.9}}
        unsure = {"name": {"value": "Ada", "confidence": 1.2}}
        self.write("answers", [stated, *({"id": name, **unsure} for name in ids)])
        output = self.run("--confidence-from", "explicit").output
        reason = "its values count as missing: Expected a confidence, a number from 0 to 1, got 1.2 at /name/confidence"
        assert f"Prediction d0 failed; {reason}" in " ".join(output.split())
        assert output.count("failed") == 10
        assert "... and 2 more with --format json" in output
        assert len(self.read("gold.jsonl", "answers.jsonl")["failures"]) == 12

        self.write("gold", [{"id": "a", "name": "Ada"}])
        output = " ".join(self.run("--confidence-from", "explicit").output.split())
        assert f"12 predictions without gold, not counted: {', '.join(ids[:10])} and 2 more" in output
        french = " ".join(self.run("--confidence-from", "explicit", "--lang", "fr").output.split())
        assert "12 prédictions sans référence, non comptées : " + ", ".join(ids[:10]) + " et 2 de plus" in french

    def test_cells_of_csv_files_are_values_of_the_schema(self):
        schema = {"properties": {"name": {"type": "string"}, "ok": {"type": "boolean"}, "sum": {"type": "number"}}}
        Path("schema.json").write_text(json.dumps({"type": "object", **schema}), encoding="utf-8")
        Path("gold.csv").write_text("id,name,ok,sum\n1,A,true,1.50\n2,B,false,2\n", encoding="utf-8")
        Path("stated.csv").write_text(
            "id,name,name_confidence,ok,ok_confidence,sum,note,note_confidence\n1,A,0.9,TRUE,1,1.5,x,0.5\n",
            encoding="utf-8",
        )
        self.write("stated", [{"id": 1, "name": "A", "ok": True, "ok_confidence": 1, "sum": 1.5, "sum_confidence": 1}])
        for predicted, leaves in (("stated.csv", 3), ("stated.jsonl", 2)):
            plain = self.read("gold.csv", predicted)
            assert (plain["overall"]["leaves"], plain["failures"]) == (leaves, [])
            assert all(one["correct"] == (path != "/note") for path, one in plain["by_path"].items())  # spurious

    def read(self, *arguments):
        """Return the result for predictions that state their confidences."""
        options = ["--schema", "schema.json", "--confidence-from", "explicit", "--format", "json"]
        result = CliRunner().invoke(app, ["confidence", *arguments, *options])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def test_a_record_may_contain_the_document_under_the_key_of_its_side(self):
        wrapped = {"predicted": {"name": "Ada", "name_confidence": 0.9}}
        self.write("answers", [{"id": "a", **wrapped}])
        self.write("gold", [{"id": "a", "gold": self.gold["a"]}])
        assert self.read("gold.jsonl", "answers.jsonl")["by_path"]["/name"]["correct"] == 1
        self.write("answers", [{"id": "a", "predicted": {"logprobs": self.answers["a"]}}])
        plain = json.loads(self.run("--logprobs", "/predicted/logprobs", "--format", "json").stdout)
        assert plain["overall"]["leaves"] == 2

    def test_a_field_of_the_schema_may_be_named_like_a_side(self):
        fields = {"gold": {"type": "string"}, "predicted": {"type": "string"}}
        Path("schema.json").write_text(json.dumps({"type": "object", "properties": fields}), encoding="utf-8")
        self.write("gold", [{"id": "a", "gold": "x", "predicted": "y"}])
        self.write("answers", [{"id": "a", "predicted": {"value": "y", "confidence": 0.9}}])
        plain = self.read("gold.jsonl", "answers.jsonl")
        assert (plain["missing"], plain["by_path"]["/predicted"]["correct"]) == (1, 1)

    def test_single_documents_are_paired_by_their_ids(self):
        Path("gold.json").write_text(json.dumps({"id": "a", "name": "Ada"}), encoding="utf-8")
        Path("answer.json").write_text(json.dumps({"id": "a", "name": "Ada", "name_confidence": 1}), encoding="utf-8")
        assert self.read("gold.json", "answer.json")["by_path"]["/name"]["correct"] == 1

    def test_a_note_names_the_first_confidence_that_is_not_read(self):
        name = {"value": "Ada", "confidence": 0.9}
        odd = {"id": "b", "name": [name | {"page": 3}], "age": 20, "age_confidence": 1}
        self.write("answers", [{"id": "a", "name": name}, odd, odd | {"id": "c"}])
        stated = ("--confidence-from", "explicit")
        said = 'in addition to "value" and "confidence"; the first is at /name/0/confidence in prediction b'
        assert said in self.run(*stated).stderr
        assert "clés que « value » et « confidence »" in self.run(*stated, "--lang", "fr").stderr
        fields = {"confidence": {"type": "number"}, "age": {"type": "integer"}}
        Path("schema.json").write_text(json.dumps({"type": "object", "properties": fields}), encoding="utf-8")
        assert "are not read" not in self.run(*stated).stderr

    def test_repeated_gold_is_refused(self):
        self.write("gold", [{"id": "a"}, {"id": "a"}])
        assert "Gold contains document 'a' twice" in self.run(code=2).output
