"""The `Grader` scores single answers with the figures of `compare` and `evaluate`."""

import asyncio
import json
import pickle
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbitre
from arbitre import ABSENT, Comparator, DataError, FunctionError, Grader, OptionError, Tally, bundled
from arbitre.comparator import feedback as limits
from arbitre.comparator import grader as module
from arbitre.comparator.feedback import shown_pair

pytestmark = pytest.mark.slow

SCHEMA = bundled.schemas() / "examples" / "speakers.schema.json"
LETTER = {
    "type": "object",
    "properties": {
        "sender": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "born": {"type": ["integer", "null"]}},
            },
        },
    },
}
GOLD = {
    "sender": "Ada Lovelace",
    "date": "1843-07-10",
    "people": [{"name": "Charles Babbage", "born": 1791}, {"name": "Mary Somerville", "born": 1780}],
}


def corpus(system):
    """The bundled documents with their predictions, as JSON values."""
    sides = [
        {
            record["id"]: record
            for record in map(json.loads, (bundled.demo() / f"{name}.jsonl").read_text().splitlines())
        }
        for name in ("gold", system)
    ]
    without_id = [
        {key: {name: value for name, value in record.items() if name != "id"} for key, record in side.items()}
        for side in sides
    ]
    return [(key, gold, without_id[1].get(key, ABSENT)) for key, gold in without_id[0].items()]


@pytest.fixture(scope="module")
def letters():
    return Grader(LETTER)


@pytest.mark.parametrize("system", ["careful", "hasty"])
def test_the_mean_and_the_pooled_scores_are_those_of_evaluate(system):
    pairs = corpus(system)
    evaluation = Comparator(SCHEMA).evaluate(pairs)
    grader = Grader(SCHEMA, "f1q")
    grades = [grader(predicted, gold) for _, gold, predicted in pairs]
    assert sum(grade.score for grade in grades) / len(grades) == pytest.approx(evaluation.macro.f1q, abs=1e-12)
    assert Tally.sum(grade.tally for grade in grades).scores == evaluation.micro
    assert [grade.failure is not None for grade in grades] == evaluation.document_table.failed.tolist()


def test_the_score_is_that_of_a_comparison():
    answer = GOLD | {"sender": "Ada", "people": [*GOLD["people"][:1], {"name": "Bo"}]}
    comparison = Comparator(LETTER).compare(gold=GOLD, predicted=answer)
    for name, expected in {
        "quality": comparison.quality,
        "f1q": comparison.scores.f1q,
        "fq(2)": comparison.scores.fq(2),
        "micro.quality": comparison.scores.quality,
        "leaves.irq": comparison.leaves.irq,
        "/people/*/name:imq": comparison.by_path["/people/*/name"].imq,
        "/people/*/born:exact_match_rate": comparison.by_path["/people/*/born"].exact_match_rate,
    }.items():
        assert Grader(LETTER, name)(answer, GOLD).score == expected, name
    assert Grader(Comparator(LETTER))(answer, GOLD).tally == comparison.scores.tally


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("f1g", "Expected a score, got 'f1g'"),
        ("macro.f1q", "a score of a single document, got 'macro.f1q'"),
        ("document_quality.median", "a score of a single document"),
        ("/people/*/nam:f1q", "a path of the schema, got '/people/\\*/nam'"),
        ("/people", "Expected PATH:SCORE, as in .*, got '/people'$"),
        ("exact_match_rate", "got 'exact_match_rate'"),
    ],
)
def test_a_score_that_a_document_does_not_have_is_refused(score, message):
    with pytest.raises(OptionError) as raised:
        Grader(LETTER, score)
    assert re.search(message, raised.value.message)


def test_options_are_those_of_the_comparator(letters):
    assert Grader(LETTER, distance="exact")({"sender": "Ad"}, {"sender": "Ada"}).score == 0.0
    with pytest.raises(OptionError, match="`close` requires a schema"):
        Grader(letters.comparator, close=0.5)
    with pytest.raises(OptionError, match="Expected `strictness`"):
        Grader(LETTER, strictness="loose")


@dataclass
class Person:
    name: str
    born: int | None = None


@dataclass
class Letter:
    sender: str
    date: str
    people: list[Person]


@pytest.mark.parametrize(
    "answer",
    [
        GOLD,
        json.dumps(GOLD),
        json.dumps(GOLD).encode(),
        f"Here it is:\n```json\n{json.dumps(GOLD)}\n```\nAnything else?",
        json.dumps(json.dumps(GOLD)),
        json.dumps(GOLD)[:-2],
        Letter("Ada Lovelace", "1843-07-10", [Person("Charles Babbage", 1791), Person("Mary Somerville", 1780)]),
    ],
    ids=["value", "text", "bytes", "fenced", "text in a text", "cut off", "instance"],
)
def test_an_answer_is_a_text_a_value_or_an_instance(letters, answer):
    grade = letters(answer, GOLD)
    assert (grade.score, grade.failure, grade.predicted) == (1.0, None, GOLD)


def test_an_instance_of_a_pydantic_model_is_an_answer():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Speaker", name=str, pages=list[int])
    gold = model(name="Ada", pages=[1, 2])
    assert Grader(model)(model(name="Ada", pages=[2]), gold).score == 0.75
    assert Grader(model)('{"name": "Ada", "pages": [2]}', gold.model_dump_json()).score == 0.75


REFUSED = {
    "refusal": ("I cannot help with that.", "Expected valid JSON, got no JSON; the answer starts with: I cannot"),
    "nothing": (None, "no prediction"),
    "absent": (ABSENT, "no prediction"),
    "empty": ("", "Expected a JSON value, got an empty text"),
    "null": ("null", "Expected a prediction, got null"),
    "NaN": ('{"sender": NaN}', "Expected a finite number, got NaN at /sender"),
    "no JSON value": ({"sender": object()}, "/sender"),
    "surrogate": ({"sender": "\ud800"}, "lone surrogate"),
}


@pytest.mark.parametrize(("answer", "failure"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("score", ["quality", "f1q", "/people/*:irq"])
def test_an_answer_that_cannot_be_used_counts_as_a_missing_prediction(answer, failure, score):
    grade = Grader(LETTER, score)(answer, GOLD)
    missing = Comparator(LETTER).compare(gold=GOLD, predicted=ABSENT)
    assert grade.score == 0.0
    assert failure in grade.failure
    assert grade.reason == f"The answer counts as missing: {grade.failure}."
    assert grade.predicted is ABSENT
    assert grade.tally == missing.scores.tally
    assert grade.fields == {
        "/date": 0.0,
        "/people/*": 0.0,
        "/people/*/born": 0.0,
        "/people/*/name": 0.0,
        "/sender": 0.0,
    }


def test_an_answer_that_matches_no_list_of_its_gold_is_a_failure():
    """A matching refuses a prediction, but not gold."""
    keyed = {"type": "array", "x-arbitre": {"match": "ordered"}, "items": {"type": "string"}}
    limited = Grader(keyed, max_calls=1, distances={"own": lambda a, b: float(a != b)}, distance="own")
    assert limited(["a"], ["a"]).score == 1.0
    with pytest.raises(arbitre.SolverError, match="at most 1 calls"):
        limited(["a", "b"], ["a", "c"])


def test_a_failing_function_is_an_error_not_a_bad_answer():
    broken = Grader({"type": "string"}, distance="own", distances={"own": lambda *_: 1 / 0})
    with pytest.raises(FunctionError):
        broken("a", "b")


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("not JSON", "Expected valid JSON"),
        ("```json\n{}\n```", "Expected valid JSON"),
        (None, "Expected a gold document, got none"),
        (ABSENT, "Expected a gold document, got none"),
        ('"a text"', "Expected the gold document to be an object, got a text"),
        ({"sender": object()}, "/sender"),
    ],
)
def test_gold_that_cannot_be_read_is_an_error(letters, gold, message):
    with pytest.raises(DataError, match=message):
        letters(GOLD, gold)


def test_a_text_is_the_document_if_the_schema_allows_a_text():
    grader = Grader({"type": "string"})
    assert grader("Paris", "Paris").score == 1.0
    assert grader('{"a": 1}', '{"a": 1}').predicted == '{"a": 1}'


def test_gold_decides_whether_a_text_is_the_document_if_the_schema_allows_any():
    grader = Grader({})
    assert grader("Paris", "Paris").score == 1.0
    assert grader("12", "the 12").predicted == "12"
    assert grader('```json\n{"a": 1}\n```', {"a": 1}).score == 1.0
    assert grader('{"a": 1}', '{"a": 1}').predicted == {"a": 1}
    with pytest.raises(DataError, match="Expected valid JSON"):
        Grader({"type": "object"})("Paris", "Paris")


def test_an_undefined_score_is_one_if_there_was_nothing_to_find():
    names = {"type": "array", "items": {"type": "string"}}
    for score in ("quality", "f1q", "irq", "amq", "/*:f1q"):
        assert Grader(names, score)([], []).score == 1.0, score
        assert Grader(names, score)(["Ada"], []).score == 0.0, score
    assert Grader(names, "amq")([], ["Ada"]).score == 0.0
    assert Grader(names)([], []).reason == "The value matches gold."


def test_fields_list_every_declared_path_of_values_and_items(letters):
    answer = {"sender": "Ada Lovelace", "people": [], "place": "London"}
    assert letters(answer, {"sender": "Ada Lovelace", "people": []}).fields == {
        "/date": None,
        "/people": 1.0,
        "/people/*": None,
        "/people/*/born": None,
        "/people/*/name": None,
        "/place": 0.0,
        "/sender": 1.0,
    }


REASONS = {
    "perfect": (GOLD, "All 6 values match gold."),
    "wrong": (GOLD | {"sender": "Bo"}, '1 fault: /sender should be "Ada Lovelace", not "Bo".'),
    "wrong type": (GOLD | {"sender": 3}, '1 fault: /sender should be "Ada Lovelace", not 3, which has another type.'),
    "missing": (
        GOLD | {"people": GOLD["people"][:1]},
        '1 fault: /people/1 is missing: {"name": "Mary Somerville", "born": 1780}.',
    ),
    "spurious": (GOLD | {"place": "London"}, '1 fault: /place is spurious: "London".'),
    "worst first": (
        {"date": "1843-07-11", "people": [*GOLD["people"][:1], {"name": "Mary Somervile", "born": 1780}]},
        '3 faults, worst first: /sender is missing: "Ada Lovelace"; /people/1/name should be "Mary Somerville", not "Mary Somervile"; /date should be "1843-07-10", not "1843-07-11".',
    ),
}


@pytest.mark.parametrize(("answer", "reason"), REASONS.values(), ids=REASONS)
def test_the_reason_names_the_worst_faults_with_their_values(letters, answer, reason):
    assert letters(answer, GOLD).reason == reason


def test_the_reason_counts_the_faults_that_it_does_not_name(letters):
    assert letters({}, GOLD).reason.startswith("4 faults, the worst: ")
    assert letters({}, GOLD).reason.count("; ") == module.WORST - 1


def test_the_reason_for_a_single_value():
    assert Grader({"type": "string"})("Bo", "Ada").reason == '1 fault: the document should be "Ada", not "Bo".'
    assert Grader({"type": "string"})("Ada", "Ada").reason == "The value matches gold."


def test_null_is_a_document_if_the_schema_allows_it():
    for score in ("quality", "f1q"):
        grader = Grader({}, score)
        assert [grader(answer, None).score for answer in ("null", None, '["Ada"]', ABSENT)] == [1.0, 1.0, 0.0, 0.0]
        assert grader("null", "[1]").score == 0.0
    assert Grader({})("null", None).reason == "Gold and the answer are both empty."


@pytest.mark.parametrize("schema", [{}, {"type": ["object", "null"], "properties": {"sender": {"type": "string"}}}])
def test_none_is_null_if_the_schema_allows_it(schema):
    comparator = Comparator(schema)
    letter = {"sender": "Ada"}
    pairs = [
        ("both null", None, None),
        ("equal", letter, letter),
        ("gold only", letter, None),
        ("spurious", None, letter),
    ]
    evaluation = comparator.evaluate(pairs)
    grades = [Grader(comparator)(predicted, gold) for _, gold, predicted in pairs]
    assert [grade.score for grade in grades] == evaluation.document_quality.qualities.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert [grade.failure for grade in grades] == [None] * 4


def test_long_values_are_cut_around_their_first_difference():
    text = "a word " * 40
    gold, predicted = shown_pair(f"{text}and Ada", f"{text}and Bo")
    assert (gold[0], gold[-4:], predicted[-3:]) == ("…", 'Ada"', 'Bo"')
    assert shown_pair("short", ABSENT) == ('"short"', "")
    assert shown_pair("b" * 200, "c" * 200)[0] == f'"{"b" * 58}…'


def test_reason_and_fields_are_computed_when_they_are_read_and_once(letters, monkeypatch):
    calls = Counter()
    compare = Comparator.compare

    def counted(self, **documents):
        calls["compare"] += 1
        return compare(self, **documents)

    monkeypatch.setattr(Comparator, "compare", counted)
    grade = letters({"sender": "Bo"}, GOLD)
    assert grade.score > 0.0
    assert calls["compare"] == 0
    assert [grade.reason, grade.fields, grade.tally] == [grade.reason, grade.fields, grade.tally]
    assert calls["compare"] == 1


def test_a_grade_does_not_change_with_the_documents(letters):
    answer = json.loads(json.dumps(GOLD))
    grade = letters(answer, GOLD)
    answer["people"].clear()
    assert grade.reason == "All 6 values match gold."


def test_a_grade_is_json(letters):
    plain = json.loads(json.dumps(letters("I cannot", GOLD).to_dict()))
    assert plain["tally"] == [3.0, 0.0, 0.0, 0.0, 0.0]
    assert plain["failure"] in plain["reason"]


def test_a_grader_and_its_grades_can_be_pickled(letters):
    copy = pickle.loads(pickle.dumps(letters))  # noqa: S301
    grade = letters({"sender": "Bo"}, GOLD)
    assert copy({"sender": "Bo"}, GOLD).score == grade.score
    reason = grade.reason
    again = pickle.loads(pickle.dumps(grade))  # noqa: S301
    assert (again.score, again.reason, again.fields, again.tally) == (grade.score, reason, grade.fields, grade.tally)


ANSWERS = [
    json.dumps(GOLD | {"sender": "x" * (number % 7), "people": GOLD["people"][: number % 3]})[: 400 - number % 90]
    for number in range(40)
]


def test_threads_get_the_grades_of_a_single_thread(letters):
    expected = [letters(answer, GOLD) for answer in ANSWERS]
    fresh = Grader(LETTER, "f1q")
    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(lambda answer: fresh(answer, GOLD), ANSWERS * 9))
        reasons = list(
            threads.map(lambda grade: (grade.reason, dict(grade.fields), grade.tally), found[: len(ANSWERS)])
        )
    single = Grader(LETTER, "f1q")
    again = [single(answer, GOLD) for answer in ANSWERS]
    assert [grade.score for grade in found] == [grade.score for grade in again] * 9
    assert reasons == [(grade.reason, dict(grade.fields), grade.tally) for grade in expected]


def test_a_grade_may_be_read_by_several_threads_at_once(letters):
    for answer in ANSWERS[:5]:
        grade, alone = letters(answer, GOLD), letters(answer, GOLD)
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(lambda _, grade=grade: grade.reason, range(16))) == {alone.reason}


def test_coroutines_get_the_same_grades(letters):
    async def graded(answer):
        await asyncio.sleep(0)
        return letters(answer, GOLD).score, (await asyncio.to_thread(letters, answer, GOLD)).score

    async def every():
        return await asyncio.gather(*map(graded, ANSWERS))

    assert all(one == other for one, other in asyncio.run(every()))


def test_the_limits_of_a_reason_are_those_of_the_documentation():
    assert (limits.WORST, limits.ROOM) == (3, 60)


class TestFeedback:
    def test_compact_feedback_has_the_score_and_the_worst_faults(self, letters):
        grade = letters({"sender": "Ada Lovelace", "people": [{"name": "Charles Babage", "born": "1791"}]}, GOLD)
        assert grade.feedback().splitlines() == [
            f"Score: {grade.score:.2f}.",
            '- /date is missing: "1843-07-10".',
            '- /people/1 is missing: {"name": "Mary Somerville", "born": 1780}.',
            '- /people/0/born should be 1791, not "1791", which has another type.',
            "- Further faults: 1.",
        ]
        assert len(grade.feedback("full").splitlines()) >= 1 + len(grade.faults)
        assert all(fault in grade.feedback("full") for fault in grade.feedback().splitlines()[:-1])

    def test_failures_and_correct_answers_have_feedback(self, letters):
        assert letters(None, GOLD).feedback() == "Score: 0.00.\nThe answer counts as missing: no prediction."
        assert letters(GOLD, GOLD).feedback() == "Score: 1.00.\nAll 6 values match gold."

    def test_templates_replace_sentences_and_empty_ones_are_left_out(self, letters):
        grade = letters(GOLD | {"sender": "Bob"}, GOLD)
        templates = {"score": "", "wrong": "{path}: {predicted} -> {gold}"}
        assert grade.feedback(templates=templates) == '- /sender: "Bob" -> "Ada Lovelace".'
        assert grade.feedback(templates={"score": "", "wrong": ""}) == ""
        assert grade.feedback(templates=templates, reveal=False) == '- /sender: "Bob" -> (hidden).'

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"style": "long"}, "Expected `style` to be one of compact, full"),
            ({"templates": {"wrongs": "x"}}, "Unknown template 'wrongs'"),
            ({"templates": {"wrong": "{golden}"}}, "Unknown name {golden} in the template 'wrong'"),
            ({"templates": {"wrong": "{gold"}}, "Expected a template with names in braces"),
        ],
    )
    def test_what_is_unknown_is_refused(self, letters, arguments, message):
        with pytest.raises(OptionError) as caught:
            letters(GOLD | {"sender": "Bob"}, GOLD).feedback(**arguments)
        assert message in str(caught.value)

    @given(st.data())
    def test_nothing_of_gold_is_shown_unless_wanted(self, data):
        """Every value and key that only gold has contains a mark that must not occur in the feedback."""
        secret = st.text("abc", min_size=1, max_size=5).map("secret{}".format)
        known = st.sampled_from(["Ada", "Bob", "1815", ""])
        gold_value = secret | st.integers(777_000, 777_999)
        person = {"name": gold_value | known, "note": st.lists(gold_value, max_size=3)}
        people = st.lists(st.fixed_dictionaries({}, optional=person), max_size=4)
        keys = st.dictionaries(secret, gold_value | st.dictionaries(secret, gold_value, max_size=2), max_size=2)
        gold = data.draw(st.builds(lambda rows, more: {"people": rows, **more}, people, keys))
        other = {"name": known, "note": st.lists(known | st.integers(0, 9), max_size=3)}
        predicted = {"people": data.draw(st.lists(st.fixed_dictionaries({}, optional=other), max_size=4))}
        texts = {"type": "array", "items": {}}
        item = {"type": "object", "properties": {"name": {}, "note": texts}}
        grader = Grader({"properties": {"people": {"type": "array", "items": item}}})
        grade = grader(predicted, gold)
        for style in ("compact", "full"):
            hidden = grade.feedback(style, reveal=False)
            assert "secret" not in hidden
            assert "777" not in hidden
        assert grade.faults == () or grade.feedback("full") != hidden or "secret" not in grade.feedback("full")
