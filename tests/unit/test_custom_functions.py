"""Custom distances and normalisers: declared properties, failures, and loading by the commands."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from arbitre import ArbitreError, Comparator, Facts, FunctionError, SchemaError
from arbitre.cli import app
from arbitre.corpus.executors import ProcessPool
from arbitre.corpus.worker import Worker
from arbitre.distances import catalogue
from arbitre.inputs.records import Pair
from arbitre.normalizers import with_normalizer
from arbitre.values import Kind

NAME = {"type": "string", "x-arbitre": {"distance": "w1"}}
PEOPLE = {"type": "array", "items": {"type": "object", "properties": {"name": NAME}}}
NOTHING = (False, False, False, False)


def w1(gold, predicted):
    return abs(len(gold) - len(predicted)) / 10


def judged(function=w1, facts=None, **options):
    return Comparator(PEOPLE, distances=catalogue.with_distance("w1", function, facts, **options))


def people(*names):
    return [{"name": name} for name in names]


class TestClaims:
    def test_nothing_is_claimed_by_default(self):
        facts = catalogue.with_distance("w1", w1).build("w1").facts
        assert (facts.identity, facts.symmetric, facts.separating, facts.triangle) == NOTHING
        certificate = judged().certificate
        assert certificate.verdict == "not a metric"
        assert [(one.path, one.reason) for one in certificate.breaks] == [
            ("/*/name", "w1 is not claimed to be 0 for equal values")
        ]
        assert certificate.assumes == ()

    def test_a_claim_is_listed_as_assumed(self):
        claims = Facts.only("identity", "symmetric", "triangle")
        (assumed,) = judged(facts=claims).certificate.assumes
        assert assumed.path == "/*/name"
        assert assumed.condition == (
            "w1 is 0 for equal values, symmetric, within the triangle inequality (claimed by its author)"
        )
        (broken,) = judged(facts=claims).certificate.breaks
        assert broken.reason == "w1 is not claimed to be above 0 for different values"

    def test_the_verdict_metric_rests_on_the_claim(self):
        certificate = judged(facts=Facts()).certificate
        assert certificate.verdict == "metric"
        assert "claimed by its author" in certificate.assumes[0].condition

    def test_built_in_distances_assume_nothing(self):
        assert Comparator({"type": "string"}).certificate.assumes == ()

    def test_a_floor_keeps_the_claims_in_sight(self):
        floored = {"type": "string", "x-arbitre": {"distance": "w1", "floor": 0.5}}
        made = Comparator(floored, distances=catalogue.with_distance("w1", w1, Facts.only("identity", "symmetric")))
        assert made.certificate.assumes[0].condition == "w1 is 0 for equal values, symmetric (claimed by its author)"

    def test_an_unclaimed_identity_is_asked_for(self):
        assert judged(lambda *_: 0.25).compare(gold=people("a"), predicted=people("a")).quality == 0.75


def failing(gold, predicted):
    if "?" in (gold + predicted):
        raise ValueError("not a name")
    return w1(gold, predicted)


class TestErrors:
    def error(self, made, gold, predicted):
        with pytest.raises(FunctionError) as caught:
            made.compare(gold=gold, predicted=predicted)
        return caught.value

    @pytest.mark.parametrize("facts", [None, Facts()])
    def test_an_exception_has_the_path_the_pointers_and_both_values(self, facts):
        error = self.error(judged(failing, facts), people("Bob", "Ada"), people("Al", "Eve", "who?"))
        assert error.pointer in {"/0/name", "/1/name"}
        assert error.values in {("Bob", "who?"), ("Ada", "who?"), ("who?", "Bob"), ("who?", "Ada")}
        assert "`w1` raised ValueError: not a name, for" in error.message
        assert "(path /*/name; predicted: /2/name)" in error.message
        assert isinstance(error.__cause__, ValueError)

    @pytest.mark.parametrize("answer", [-0.1, 1.5, float("nan"), "0.5", None, True, [0.5]])
    def test_an_invalid_result_names_both_values_and_the_path(self, answer):
        error = self.error(judged(lambda *_: answer), people("Ada"), people("Eve"))
        assert "Expected `w1` to return" in error.message
        assert "(path /*/name" in error.message
        assert "for 'Ada' and 'Eve'" in error.message
        assert error.pointer == "/0/name"

    def test_a_batch_names_its_first_pair(self):
        def batch(*_):
            raise RuntimeError("down")

        error = self.error(judged(batch, batch=True), people("Ada"), people("Eve"))
        assert "`w1` raised RuntimeError: down, for ['Ada'] and ['Eve']" in error.message

    def test_a_function_that_exits_is_an_error(self):
        error = self.error(judged(lambda *_: sys.exit(1)), people("Ada"), people("Eve"))
        assert "`w1` raised SystemExit: 1, for 'Ada' and 'Eve'" in error.message

    def test_a_failing_bound_is_located_too(self):
        made = judged(w1, Facts(), bound=failing)
        error = self.error(made, people(*"abcdefghijkl"), people("a?", *"bcdefghijklm"))
        assert "The bound of `w1` raised ValueError: not a name" in error.message
        assert "(path /*/name" in error.message

    def test_an_exception_in_a_corpus_names_the_document(self):
        pairs = [("one", people("Ada"), people("Eve")), ("two", people("Ada?"), people("Eve"))]
        with pytest.raises(FunctionError, match=r"\(path /\*/name; predicted: /0/name\), in document 'two'") as caught:
            judged(failing).evaluate(pairs)
        assert caught.value.pointer == "/0/name"
        assert isinstance(caught.value.__cause__, ValueError)

    @pytest.mark.parametrize(("answer", "batch"), [(None, False), ([0.5] * 9, True), (None, True)])
    def test_a_result_that_is_not_a_number_names_the_document(self, answer, batch):
        made = judged(lambda *_: answer, batch=batch)
        with pytest.raises(FunctionError, match=r"'Ada' and 'Eve'.*, in document 'one'") as caught:
            made.evaluate([("one", people("Ada"), people("Eve"))])
        assert caught.value.pointer == "/0/name"

    def test_a_function_error_can_be_pickled(self):
        error = self.error(judged(failing), people("Ada"), people("?"))
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (str(copy), copy.values) == (str(error), error.values)


class TestPlainFunctions:
    def test_a_comparator_takes_functions_by_name(self):
        text = {"type": "string", "x-arbitre": {"distance": "w1", "normalize": ["fold", "strip"]}}
        made = Comparator(text, distances={"w1": w1}, normalizers={"fold": lambda value: value.replace("æ", "ae")})
        assert made.compare(gold="Cæsar ", predicted="Caesar").quality == 1.0
        assert made.explain()[0].normalize == "fold, strip"
        assert ("fold", "values for which it returns the same result") in [
            (one.by, one.values) for one in made.certificate.identifies
        ]

    def test_a_name_is_never_taken_twice(self):
        with pytest.raises(SchemaError, match='The name "exact" is already taken by a distance'):
            Comparator({}, distances={"exact": w1})
        with pytest.raises(SchemaError, match='The name "strip" is already taken by a normalize'):
            Comparator({}, normalizers={"strip": str.strip})


class TestNormalizers:
    def compared(self, function, gold, predicted, schema=None, **options):
        text = {"type": "string"} if schema is None else schema
        own = with_normalizer("own", function, **options)
        return Comparator(text | {"x-arbitre": {"normalize": "own"}}, normalizers=own).compare(
            gold=gold, predicted=predicted
        )

    def test_a_normalizer_applies_to_list_items_and_declared_kinds_only(self):
        own = with_normalizer("own", str.lower).build("own")
        assert own(["A", [1, "B"], None]) == ["a", [1, "b"], None]
        assert own(3) == 3

    def test_a_normalizer_can_declare_other_kinds(self):
        made = self.compared(len, "abc", "xyz", makes=[Kind.NUMBER])
        assert made.quality == 1.0
        numbers = self.compared(abs, -3, 3, {"type": "integer"}, kinds=[Kind.NUMBER])
        assert numbers.quality == 1.0

    def test_a_normalised_text_gets_the_distance_of_its_new_kind(self):
        made = self.compared(len, "a" * 10, "a" * 8, makes=[Kind.NUMBER])
        assert made.quality == pytest.approx(0.8)

    def test_an_exception_has_the_pointer_the_side_and_the_value(self):
        own = with_normalizer("own", lambda text: {"Ada": "A"}[text])
        schema = {"type": "array", "items": {"type": "string", "x-arbitre": {"normalize": "own"}}}
        made = Comparator(schema, normalizers=own)
        with pytest.raises(FunctionError) as caught:
            made.compare(gold=["Ada"], predicted=["Ada", "Eve"])
        assert caught.value.message == (
            "The normaliser `own` raised KeyError: 'Eve', for 'Eve' in the predicted document"
        )
        assert (caught.value.pointer, caught.value.values) == ("/1", ("Eve",))
        assert isinstance(caught.value.__cause__, KeyError)
        with pytest.raises(FunctionError, match="in the gold document, in document 'two'"):
            made.evaluate([("one", ["Ada"], ["Ada"]), ("two", ["Eve"], ["Ada"])])

    @pytest.mark.parametrize(
        ("result", "message"),
        [
            (3, "to return a string for 'a', got 3"),
            (None, "to return a string for 'a', got None"),
            (object, "to return JSON for 'a', got <class 'object'>"),
            (float("nan"), "to return JSON for 'a', got nan"),
        ],
    )
    def test_results_are_checked(self, result, message):
        with pytest.raises(FunctionError, match=message):
            self.compared(lambda _: result, "a", "b")

    def test_a_normalizer_of_lists_or_objects_is_refused(self):
        for kind in (Kind.ARRAY, "object"):
            with pytest.raises(SchemaError, match="a list of one or more of null, boolean, number, string, got"):
                with_normalizer("own", sorted, kinds=[kind])

    def test_kinds_are_named_as_in_json_schema(self):
        own = with_normalizer("own", abs, kinds=["number", Kind.STRING], makes=["number"]).build("own")
        assert own.makes == {kind: {Kind.NUMBER} for kind in (Kind.NUMBER, Kind.STRING)}
        assert catalogue.with_distance("own", w1, kinds=("string",)).build("own").kinds == {Kind.STRING}

    @pytest.mark.parametrize("kinds", ["number", [2], ["integer"], [], 3, [["string"]]])
    def test_unknown_kinds_are_refused(self, kinds):
        known = "to be a list of one or more of null, boolean, number, string"
        with pytest.raises(SchemaError, match=f"Expected `kinds` of the distance `own` {known}"):
            catalogue.with_distance("own", w1, kinds=kinds)
        with pytest.raises(SchemaError, match=f"Expected `kinds` of the normaliser `own` {known}"):
            with_normalizer("own", abs, kinds=kinds)
        with pytest.raises(SchemaError, match=f"Expected `makes` of the normaliser `own` {known}"):
            with_normalizer("own", abs, makes=kinds)


MODULE = '''
"""A distance and a normaliser for tests."""
from arbitre import Facts
from arbitre.distances import catalogue
from arbitre.normalizers import with_normalizer

def w1(gold, predicted):
    return abs(len(gold) - len(predicted)) / 10

def fold(text):
    return text.lower()

def three(a, b, c):
    return 0.0

number = 3
claimed = catalogue.with_distance("claimed", w1, Facts(separating=False))
folding = with_normalizer("folding", fold)
'''
ROWS = [{"id": "1", "name": "Ada"}, {"id": "2", "name": "EVE"}]


class TestCommands:
    @pytest.fixture(autouse=True)
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.delitem(sys.modules, "mydist", raising=False)
        Path("mydist.py").write_text(MODULE, encoding="utf-8")
        name = {"type": "string", "x-arbitre": {"distance": "w1", "normalize": "fold"}}
        schema = {"type": "object", "properties": {"name": name}}
        Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
        for side, rows in {"gold": ROWS, "predicted": [ROWS[0] | {"name": "ada"}, ROWS[1] | {"name": "e"}]}.items():
            Path(f"{side}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            Path(f"{side}.json").write_text(json.dumps(rows[1]), encoding="utf-8")

    @staticmethod
    def run(*arguments, functions=("mydist:w1", "mydist:fold"), code=0):
        options = [word for name in functions for word in ("--functions", name)]
        result = CliRunner().invoke(app, [*arguments, *options])
        assert result.exit_code == code, result.output
        return result.output

    CORPUS = ("--schema", "schema.json", "--gold", "gold.jsonl")

    def test_every_command_with_a_schema_takes_plain_functions(self):
        assert "0.8" in self.run("compare", "gold.json", "predicted.json", "--schema", "schema.json")
        evaluated = self.run("evaluate", *self.CORPUS, "--predicted", "predicted.jsonl", "--format", "json")
        assert json.loads(evaluated)["macro"]["f1q"] == pytest.approx(0.9)
        ranked = self.run("rank", *self.CORPUS, "a=predicted.jsonl", "b=gold.jsonl", "--format", "json")
        assert [one["name"] for one in json.loads(ranked)["systems"]] == ["b", "a"]
        self.run("metricity", "gold.jsonl", "predicted.jsonl", "--schema", "schema.json")
        assert "w1" in self.run("schema", "explain", "schema.json")
        assert "w1 is not claimed to be" in self.run("schema", "check", "schema.json", "--certificate")

    def test_diff_needs_no_function(self):
        for name in ("before", "after"):
            self.run("evaluate", *self.CORPUS, "--predicted", "predicted.jsonl", "--out", name)
        assert "no evidence of a change" in self.run(
            "diff", "before/evaluation.json", "after/evaluation.json", functions=()
        )

    def test_functions_and_catalogues_add_up(self):
        schema = json.loads(Path("schema.json").read_text(encoding="utf-8"))
        schema["properties"]["name"]["x-arbitre"] = {"distance": "claimed", "normalize": ["fold", "folding"]}
        Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
        names = ("mydist:w1", "mydist:fold", "mydist:claimed", "mydist:folding")
        output = self.run("schema", "check", "schema.json", "--certificate", functions=names)
        assert "claimed by its author" in " ".join(output.split())

    @pytest.mark.slow
    def test_worker_processes_find_the_module(self):
        for side in ("gold", "predicted"):
            rows = [{"id": str(number), "name": f"Ada {number}"} for number in range(3000)]
            Path(f"{side}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        call = ["evaluate", *self.CORPUS, "--predicted", "predicted.jsonl", "--format", "json", "--workers", "2"]
        call += ["--functions", "mydist:w1", "--functions", "mydist:fold"]
        python = [sys.executable, "-P", "-m", "arbitre"]  # -P: the folder is on the path by the option alone
        done = subprocess.run([*python, *call], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["macro"]["f1q"] == 1.0

    def test_a_function_that_cannot_be_sent_to_worker_processes_is_refused(self):
        made = Comparator(PEOPLE, distances={"w1": lambda *_: 0.0})
        parts = [[Pair(key, None, people("a"), people("a"))] for key in "abc"]
        with pytest.raises(ArbitreError, match="cannot be sent to worker processes") as caught:
            list(ProcessPool(2)(Worker(made.plan), parts))
        assert "--workers 1" in caught.value.hint

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("mydist:three", "got function for 'mydist:three'"),
            ("mydist:number", "got int for 'mydist:number'"),
            ("mydist:missing", "Expected 'mydist' to contain 'missing'"),
            ("mydist", "got 'mydist'"),
        ],
    )
    def test_an_unusable_function_is_refused(self, name, message):
        output = self.run("schema", "explain", "schema.json", functions=(name,), code=2)
        assert message in " ".join(output.replace("│", " ").split())

    def test_an_error_of_the_module_is_shown(self):
        wrong = MODULE.replace('("folding", fold)', '("folding", fold, kinds="string")')
        Path("mydist.py").write_text(wrong, encoding="utf-8")
        output = self.run("schema", "explain", "schema.json", functions=("mydist:w1",), code=2)
        said = " ".join(output.replace("│", " ").split())
        assert "Expected `kinds` of the normaliser `folding` to be a list of one or more of null, boolean" in said
        assert "to name a function" not in said

    def test_an_exception_ends_the_command_with_the_document_and_the_place(self):
        Path("mydist.py").write_text(MODULE.replace("return abs", "1 / 0\n    return abs"), encoding="utf-8")
        output = self.run("evaluate", *self.CORPUS, "--predicted", "predicted.jsonl", code=2)
        said = " ".join(output.split())
        assert "`w1` raised ZeroDivisionError: division by zero, for 'ada' and 'ada'" in said
        assert "in document '1' at /name" in said


class TestContext:
    """A distance that sees the parents and the documents of its values."""

    SCHEMA: ClassVar = {
        "type": "object",
        "properties": {
            "year": {"type": "integer"},
            "people": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "age": {"type": ["string", "null"], "x-arbitre": {"distance": "by-age"}},
                    },
                },
            },
        },
    }

    def compared(self, function, gold, predicted, **options):
        distances = catalogue.with_distance("by-age", function, context=True, **options)
        return Comparator(self.SCHEMA, distances=distances).compare(gold=gold, predicted=predicted)

    def test_a_function_sees_the_parent_and_the_document_of_both_values(self):
        seen = {}

        def born(gold, predicted, context):
            seen[gold, predicted] = context
            years = [
                side.root["year"] - int(value) for side, value in ((context.gold, gold), (context.predicted, predicted))
            ]
            return float(abs(years[0] - years[1]) > 1)

        gold = {"year": 1870, "people": [{"name": "Ada", "age": "30"}, {"name": "Bob", "age": "40"}]}
        predicted = {"year": 1871, "people": [{"name": "Bob", "age": "41"}, {"name": "Ada", "age": "35"}]}
        found = self.compared(born, gold, predicted)
        assert {leaf.pointer: leaf.quality for leaf in found.explain() if leaf.pointer.endswith("age")} == {
            "/people/0/age": 0.0,
            "/people/1/age": 1.0,
        }
        context = seen["40", "41"]
        assert context.gold.parent == gold["people"][1]
        assert context.predicted.parent == predicted["people"][0]
        assert (context.gold.root, context.predicted.root) == (gold, predicted)

    def test_equal_values_in_different_places_are_called_separately(self):
        def same_name(gold, predicted, context):  # noqa: ARG001
            return float(context.gold.parent["name"] != context.predicted.parent["name"])

        gold = {"people": [{"name": "Ada", "age": "30"}, {"name": "Bob", "age": "30"}]}
        predicted = {"people": [{"name": "Bobby", "age": "30"}, {"name": "Ada", "age": "30"}]}
        found = self.compared(same_name, gold, predicted)
        assert [leaf.quality for leaf in found.explain() if leaf.pointer.endswith("age")] == [1.0, 0.0]

    def test_a_symmetric_function_gets_gold_first(self):
        sides = []

        def record(gold, predicted, context):
            sides.append((gold == "b", context.gold.root["year"], predicted))
            return 0.5

        self.compared(
            record, {"year": 1, "people": [{"age": "b"}]}, {"year": 2, "people": [{"age": "a"}]}, facts=Facts()
        )
        assert sides == [(True, 1, "a")]

    def test_a_batch_function_gets_a_list_of_contexts(self):
        def batch(gold, predicted, context):
            assert len(gold) == len(predicted) == len(context)
            return [float(one.gold.parent != one.predicted.parent) for one in context]

        gold = {"people": [{"name": "Ada", "age": "30"}]}
        assert self.compared(batch, gold, gold, batch=True).quality == 1.0

    def test_items_of_lists_have_the_list_as_parent(self):
        def position(gold, predicted, context):
            return float(context.gold.parent.index(gold) != context.predicted.parent.index(predicted))

        words = {"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "position"}}}
        distances = catalogue.with_distance("position", position, context=True)
        found = Comparator(words, distances=distances).compare(gold=["a", "b"], predicted=["b", "x"])
        assert [(pair.gold, pair.predicted) for pair in found.alignment("").pairs] == [(0, 0), (1, 1)]

    def test_the_root_has_itself_as_document_and_no_parent(self):
        def root(gold, predicted, context):
            return float((context.gold.root, context.gold.parent, context.predicted.root) != (gold, None, predicted))

        word = {"type": "string", "x-arbitre": {"distance": "root"}}
        distances = catalogue.with_distance("root", root, context=True)
        assert Comparator(word, distances=distances).compare(gold="a", predicted="b").quality == 1.0

    def test_a_corpus_with_diagnosis_takes_it(self):
        def same(gold, predicted, context):
            assert context.gold.root is None or "people" in context.gold.root
            return float(gold != predicted)

        distances = catalogue.with_distance("by-age", same, context=True)
        own, plain = (
            Comparator(self.SCHEMA, distances=distances),
            Comparator(self.SCHEMA, distances={"by-age": lambda a, b: float(a != b)}),
        )
        gold = {"year": 1, "people": [{"name": "Ada", "age": "3"}, {"name": "Bob", "age": "4"}, {"name": "Cy"}]}
        wrong = {
            "year": 1,
            "people": [{"name": "Bob", "age": "3"}, {"name": "Ada", "age": "4"}, {"name": "Cy", "age": None}],
        }
        triples = [(str(number), gold, wrong) for number in range(6)]
        assert own.evaluate(triples, diagnose=True).micro.f1q == plain.evaluate(triples, diagnose=True).micro.f1q
        assert own.check_claims(gold=[gold]) == ()

    def test_accepted_forms_are_refused(self):
        word = {"type": "string", "x-arbitre": {"distance": "own", "alternatives": True}}
        with pytest.raises(SchemaError, match="which the distance `own` does not compare"):
            Comparator(
                word, distances=catalogue.with_distance("own", lambda *_, context: float(context is None), context=True)
            )
