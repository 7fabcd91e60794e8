"""Distances by a judge: asked about matched texts only, with answers on disk, limits, retries and checks."""

import pickle
import threading
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbitre
from arbitre import Comparator, FunctionError, OptionError, SchemaError
from arbitre.corpus.evaluate import ExecutionOptions, evaluate, pair_up
from arbitre.distances import judge

TOPIC = {"type": "string", "x-arbitre": {"distance": "same"}}
TOPICS = {"type": "array", "items": TOPIC}
PEOPLE = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "role": TOPIC, "topics": TOPICS},
    },
}
GOLD = [
    {"name": "Ada", "role": "doctor", "topics": ["alpha", "beta"]},
    {"name": "Bob", "role": "lawyer"},
    {"name": "Cy", "role": "baker"},
]
PREDICTED = [
    {"name": "Bob", "role": "legal advisor"},
    {"name": "Ada", "role": "physician", "topics": ["bet", "alphas"]},
    {"name": "Zoltan Kovacs"},
]


class Asked:
    """A judge's function, which records what it is asked: the quality is that of the first letters."""

    def __init__(self):
        self.pairs = []

    def __call__(self, gold, predicted):
        self.pairs.append((gold, predicted))
        return gold[:1] == predicted[:1]


@pytest.fixture
def asked():
    return Asked()


@pytest.fixture
def same(asked, tmp_path):
    """Returns a judge that asks `asked`."""

    def build(ask=asked, **options):
        return judge(ask, tmp_path / "answers.db", **{"wait": 0, "announce": None} | options)

    return build


def comparator(judged, schema=PEOPLE, **options):
    return Comparator(schema, distances={"same": judged}, **options)


class TestMatchedTexts:
    def test_only_matched_texts_are_asked_about_and_their_answers_count(self, asked, same):
        found = comparator(same()).compare(gold=GOLD, predicted=PREDICTED)
        assert sorted(asked.pairs) == [
            ("alpha", "alphas"),
            ("beta", "bet"),
            ("doctor", "physician"),
            ("lawyer", "legal advisor"),
        ]
        qualities = {leaf.pointer: leaf.quality for leaf in found.explain()}
        assert (qualities["/0/role"], qualities["/1/role"], qualities["/0/topics/0"]) == (0.0, 1.0, 1.0)
        ada, bob = (1 + 0 + 1) / 3, (1 + 1) / 2
        assert found.scores.tally.quality == pytest.approx(ada + bob + found.at("/2").quality)
        assert found.leaves.f1q > 0.0
        assert found.diagnosis.solidarity <= 1.0

    def test_thirty_texts_need_thirty_calls(self, asked, same):
        gold = [f"{number:02} gold" for number in range(30)]
        own = comparator(same(), TOPICS)
        assert own.most_calls(gold=gold, predicted=[f"{text}en" for text in gold]) == {"/*": 30}
        own.compare(gold=gold, predicted=[f"{text}en" for text in gold])
        assert len(asked.pairs) == 30

    def test_equal_texts_are_not_asked_about(self, asked, same):
        assert comparator(same()).compare(gold=GOLD, predicted=GOLD).quality == 1.0
        assert asked.pairs == []

    @given(
        st.lists(st.text("abc", min_size=1, max_size=3), max_size=4), st.lists(st.text("abc", max_size=3), max_size=4)
    )
    def test_the_quality_is_that_of_the_matching_by_the_other_distance(self, tmp_path_factory, gold, predicted):
        """Against a recursion of its own: the assignment by edit distance, its pairs valued by the judge."""
        answers = tmp_path_factory.mktemp("answers") / "a.db"
        judged = judge(lambda a, b: a[:1] == b[:1], answers, match_by="levenshtein", announce=None)
        own = comparator(judged, TOPICS).compare(gold=gold, predicted=predicted)
        cheap = Comparator({"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "levenshtein"}}})
        pairs = [(one.gold, one.predicted) for one in cheap.compare(gold=gold, predicted=predicted).alignment("").pairs]
        assert [(one.gold, one.predicted) for one in own.alignment("").pairs] == pairs
        mass = sum(gold[i][:1] == predicted[j][:1] for i, j in pairs)
        union = len(gold) + len(predicted) - len(pairs)
        assert own.quality == pytest.approx(mass / union if union else 1.0)

    @pytest.mark.parametrize("match", ["ordered", "greedy", "sequence", "set", {"keyed": {"key": "name"}}])
    def test_every_matching_takes_a_judge(self, same, match):
        own = comparator(same(), {"type": "array", "items": PEOPLE["items"]}, match=match)
        assert 0.0 <= own.compare(gold=GOLD, predicted=PREDICTED).quality <= 1.0

    def test_transported_masses_take_the_answers(self, same):
        own = comparator(same(), TOPICS, match="transport")
        found = own.compare(gold=["aaa", "abc"], predicted=["aab", "xbc"])
        assert found.quality == pytest.approx(0.5)  # aaa - aab has quality 1, abc - xbc has 0

    def test_long_lists_of_objects_are_judged_where_they_are_matched(self, asked, same):
        gold = [{"name": f"{number:03}", "role": f"a{number}"} for number in range(60)]
        predicted = [{"name": f"{number:03}", "role": f"b{number}"} for number in range(60)]
        found = comparator(same()).compare(gold=gold, predicted=predicted)
        assert len(asked.pairs) == 60
        assert found.quality == pytest.approx(0.5)

    def test_a_floor_applies_to_answers(self, same):
        floored = {"type": "string", "x-arbitre": {"distance": "same", "floor": 0.5}}
        own = comparator(same(lambda *_: 0.4), floored)
        assert own.compare(gold="a", predicted="b").quality == 0.0
        assert comparator(same(lambda *_: 0.6, version="2"), floored).compare(gold="a", predicted="b").quality == 0.6

    def test_accepted_forms_are_refused(self, same):
        schema = {"type": "string", "x-arbitre": {"distance": "same", "alternatives": True}}
        with pytest.raises(SchemaError, match="which the distance `same` does not compare"):
            comparator(same(), schema)


class TestAnswers:
    def test_answers_outlive_the_judge(self, asked, same):
        first = comparator(same()).compare(gold=GOLD, predicted=PREDICTED)
        count = len(asked.pairs)
        again = comparator(same()).compare(gold=GOLD, predicted=PREDICTED)
        assert len(asked.pairs) == count
        assert again.quality == first.quality
        assert comparator(same()).most_calls(gold=GOLD, predicted=PREDICTED) == {"/*/role": 0, "/*/topics/*": 0}

    def test_another_version_asks_again_and_has_another_signature(self, asked, same):
        old, new = comparator(same()), comparator(same(version="prompt 2"))
        old.compare(gold=GOLD, predicted=PREDICTED)
        new.compare(gold=GOLD, predicted=PREDICTED)
        assert len(asked.pairs) == 8
        assert old.signature != new.signature

    def test_two_judges_do_not_use_each_others_answers(self, asked, same):
        other = {"type": "string", "x-arbitre": {"distance": "other"}}
        schema = {"type": "object", "properties": {"same": TOPIC, "other": other}}
        own = same()
        with pytest.raises(SchemaError, match="The judges `other` and `same` have different functions"):
            Comparator(schema, distances={"same": own, "other": same(lambda *_: 0.25)})
        Comparator(schema, distances={"same": own, "other": same(match_by="levenshtein")})  # the same function
        found = Comparator(schema, distances={"same": own, "other": same(lambda *_: 0.25, version="other")}).compare(
            gold={"same": "a", "other": "a"}, predicted={"same": "b", "other": "b"}
        )
        assert (found.at("/same").quality, found.at("/other").quality) == (0.0, 0.25)
        assert asked.pairs == [("a", "b")]

    def test_a_file_of_something_else_is_not_touched(self, same, tmp_path):
        (tmp_path / "answers.db").write_text("mine", encoding="utf-8")
        with pytest.raises(FunctionError, match="Cannot use the file of answers of `same`"):
            comparator(same()).compare(gold=GOLD, predicted=PREDICTED)
        assert (tmp_path / "answers.db").read_text("utf-8") == "mine"

    def test_a_failure_loses_no_answer(self, same):
        started, begun = threading.Barrier(3), set()

        def ask(gold, _):
            if threads == 3 and gold not in begun:  # no call fails, which cancels the others, before all have begun
                begun.add(gold)
                started.wait(30)
            if gold == "lawyer":
                raise ValueError("no")
            return True

        for threads in (1, 3):
            with pytest.raises(FunctionError, match="`same` raised ValueError: no") as caught:
                comparator(same(ask, threads=threads)).compare(gold=GOLD, predicted=PREDICTED)
            assert "run again to go on" in caught.value.hint
            assert isinstance(caught.value.__cause__, ValueError)
        left = comparator(same()).most_calls(gold=GOLD, predicted=PREDICTED)
        assert sum(left.values()) == 1

    def test_a_failure_among_many_calls_ends_the_others(self, same):
        def ask(gold, _):
            if gold.endswith("7"):
                raise ValueError("no")
            return True

        gold = [f"{number:03}" for number in range(60)]
        own = comparator(same(ask, threads=4, retries=0), TOPICS)
        for _ in range(20):
            with pytest.raises(FunctionError, match="raised ValueError"):
                own.compare(gold=gold, predicted=[f"{text}x" for text in gold])
        assert own.most_calls(gold=gold, predicted=[f"{text}x" for text in gold])["/*"] < 60

    def test_a_judge_can_be_pickled(self, same):
        judged = pickle.loads(pickle.dumps(same(len)))  # noqa: S301
        assert (judged.ask, judged.match_by, judged.known) == (len, "yujian-bo", {})


class TestCalls:
    def test_the_price_is_announced_before_the_first_call(self, same):
        said = []
        comparator(same(lambda *_: said.append("call") or True, announce=said.append)).compare(
            gold=GOLD, predicted=PREDICTED
        )
        assert said == ["4 calls to `same`; 0 of 4 answers are known\n", *["call"] * 4]

    def test_beyond_the_limit_nothing_is_asked(self, asked, same):
        with pytest.raises(
            FunctionError, match="Expected at most 3 calls to `same`, got 4 calls to `same` for 4 pairs"
        ):
            comparator(same(limit=3)).compare(gold=GOLD, predicted=PREDICTED)
        assert asked.pairs == []

    def test_beyond_the_limit_of_one_judge_no_judge_is_asked(self, asked, same):
        role = {"type": "string", "x-arbitre": {"distance": "other"}}
        schema = {**PEOPLE, "items": {**PEOPLE["items"], "properties": {"role": role, "topics": TOPICS}}}
        both = {"same": same(), "other": same(limit=1)}
        own = Comparator(schema, distances=both)
        for run in (
            lambda: own.compare(gold=GOLD, predicted=PREDICTED),
            lambda: own.evaluate([("a", GOLD, PREDICTED)]),
        ):
            with pytest.raises(FunctionError, match="Expected at most 1 calls to `other`") as caught:
                run()
            assert asked.pairs == []
        assert caught.value.hint.startswith("No further calls were made.")

    def test_a_corpus_has_one_price_for_all_documents(self, asked, same):
        said = []
        own = comparator(same(announce=said.append))
        triples = [(str(number), GOLD, PREDICTED) for number in range(40)] + [("x", PREDICTED, GOLD), ("y", GOLD, 3)]
        found = own.evaluate(triples, diagnose=True)
        assert said == ["8 calls to `same`; 0 of 8 answers are known\n"]
        assert len(asked.pairs) == 8
        single = own.compare(gold=GOLD, predicted=PREDICTED)
        assert found.documents[0].quality == single.quality
        assert found.causes is not None
        assert found.chance is not None
        assert len(asked.pairs) == 8  # causes, chance and solidarity ask nothing

    def test_documents_in_memory_have_one_price_too(self, same):
        said = []
        triples = [(str(number), GOLD, PREDICTED) for number in range(299)] + [("last", PREDICTED, GOLD)]
        comparator(same(announce=said.append)).evaluate(iter(triples))
        assert said == ["8 calls to `same`; 0 of 8 answers are known\n"]

    def test_the_order_of_the_documents_does_not_matter(self, same):
        plan = comparator(same()).plan
        triples = [("a", GOLD, PREDICTED), ("b", PREDICTED, GOLD), ("c", GOLD, GOLD)]
        scores = {
            evaluate(plan, pair_up(order), ExecutionOptions(batch_nodes=1, first_batch=1)).micro.f1q
            for order in permutations(triples)
        }
        assert len(scores) == 1

    @pytest.mark.parametrize("answer", [np.True_, np.float32(1), np.int64(1)])
    def test_numpy_scalars_are_answers(self, same, answer):
        assert comparator(same(lambda *_: answer, retries=0), TOPIC).compare(gold="a", predicted="b").quality == 1.0

    def test_an_invalid_answer_is_retried(self, same):
        answers = iter(["yes", None, float("nan"), 0.25])
        assert (
            comparator(same(lambda *_: next(answers), retries=3), TOPIC).compare(gold="a", predicted="b").quality
            == 0.25
        )

    @pytest.mark.parametrize("answer", ["yes", None, 1.5, -1, float("inf"), np.array([1.0])])
    def test_after_the_last_attempt_it_is_an_error(self, same, answer):
        calls = []
        own = comparator(same(lambda *_: calls.append(1) or answer, retries=1), TOPIC)
        with pytest.raises(FunctionError, match=r"not True, False or a number from 0 to 1, for .* in 2 attempts"):
            own.compare(gold="a", predicted="b")
        assert len(calls) == 2

    def test_calls_run_at_the_same_time(self, same):
        barrier = threading.Barrier(4, timeout=10)

        def ask(*_):
            barrier.wait()
            return True

        found = comparator(same(ask, threads=4)).compare(gold=GOLD, predicted=PREDICTED)
        assert found.at("/0/role").quality == 1.0

    @pytest.mark.parametrize("wrong", [{"limit": -1}, {"retries": -1}, {"threads": 0}, {"wait": float("nan")}])
    def test_options_out_of_range_are_errors(self, same, wrong):
        with pytest.raises(OptionError, match=f"Expected `{next(iter(wrong))}`"):
            same(**wrong)

    def test_the_matching_needs_a_distance_of_texts(self, same):
        with pytest.raises(SchemaError, match="distance of texts"):
            comparator(same(match_by="relative"))

    def test_the_judge_is_a_function_of_two_texts(self, same):
        assert same()("abc", "abd") == 0.0
        assert same()("abc", "xbd") == 1.0


def test_a_grader_asks_the_judge(asked, same):
    grade = arbitre.Grader(PEOPLE, distances={"same": same()})(PREDICTED, GOLD)
    assert len(asked.pairs) == 4
    assert grade.score == comparator(same()).compare(gold=GOLD, predicted=PREDICTED).quality


def test_the_distance_is_not_certified(same):
    assert comparator(same()).certificate.verdict == "not a metric"
