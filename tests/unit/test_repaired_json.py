"""Text around JSON and damaged JSON in the answers of language models: what is read, and how repairs are reported."""

import json

import pytest
from tests.builders import read_records

import arbitre
from arbitre import Comparator
from arbitre.errors import DataError
from arbitre.inputs.corpus_sources import read_pairs
from arbitre.inputs.join import join, paired
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import Reader
from arbitre.inputs.records import Failure
from arbitre.parsing import damaged_json, repaired_json, strict_json

CODE = {"code": "```python\nprint([1])\n```", "b": 2}


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [
        ('{"a": [1, 2]}', {"a": [1, 2]}, None),
        (" null ", None, None),
        ('```json\n{"a": 1}\n```', {"a": 1}, "code fence"),
        ("Here is the list:\n```\n[1, 2]\n```\nAnything else?", [1, 2], "code fence"),
        ('```json\n{"a": 1}', {"a": 1}, "code fence"),
        ('The answer is {"a": "x [y]"}. Good luck!', {"a": "x [y]"}, "text around the JSON"),
        ('<think>[1] or {"so": 2}</think>\n[{"a": 1}]', [{"a": 1}], "text around the JSON"),
        ('{"a": 1,} trailing', {"a": 1}, "trailing comma"),
        ('I think [maybe] it is {"a": 1}', {"a": 1}, "text around the JSON"),
        ('{"a": [1, 2', {"a": [1, 2]}, "truncated"),
        ('{"a": "x", "b": "y', {"a": "x", "b": "y"}, "truncated"),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "trailing comma"),
        ("{'a': True, 'b': None}", {"a": True, "b": None}, "damage"),
        ('{"a": 1, // one\n "b": 2}', {"a": 1, "b": 2}, "damage"),
        ('{"a": "he said "hi" to me"}', {"a": 'he said "hi" to me'}, "quotes"),
        ('Sure:\n```json\n{"a": 1,}\n```', {"a": 1}, "trailing comma"),
        ('[{"é": 1}, {"é": 2}', [{"é": 1}, {"é": 2}], "truncated"),
        # valid JSON comes first: the longest value, or the last one of this length
        ('Here is the JSON: {"code":"```python\\nprint([1])\\n```","b":2}', CODE, "text around the JSON"),
        ('```json\n{"code":"```python\\nprint([1])\\n```","b":2}\n```', CODE, "code fence"),
        ('```json\n{"code":"```python\nprint([1])\n```","b":2,}\n```', CODE, "damage"),
        ('The set {x} is: {"a":1}', {"a": 1}, "text around the JSON"),
        ("The set {x} is: {'a':1}", {"a": 1}, "quotes"),
        ('[hm] or {so} [{"a": 1}]', [{"a": 1}], "text around the JSON"),
        ('{"a": 1} or else {"a": 2}', {"a": 2}, "text around the JSON"),
        ('{"a": 1, "b": 0} or {"a": 2}', {"a": 1, "b": 0}, "text around the JSON"),
        ('```\n{"a": 1}\n```\nor\n```\n{"a": 2}\n```', {"a": 2}, "code fence"),
        ("{'a': 1} is wrong: {\"a\": 12}", {"a": 12}, "text around the JSON"),
        # a draft in a closed <think> block is not the answer
        ('<think>{"draft": [1, 2, 3, 4]}</think>{"a": 1}', {"a": 1}, "text around the JSON"),
        ('{"draft": [1, 2, 3, 4</think>{"a": 1}', {"a": 1}, "text around the JSON"),
        ('<think>{"draft": 1}</think>{"a": 1,}', {"a": 1}, "trailing comma"),
        ('<think>{"a": 1}</think>I am done.', {"a": 1}, "text around the JSON"),
        ('So: {"a": "<think>[1]</think>"}', {"a": "<think>[1]</think>"}, "text around the JSON"),
        # damage of every kind
        ('{"a": 1, "b":', {"a": 1, "b": None}, "truncated"),
        ('{"a": 1, "b', {"a": 1}, "truncated"),
        ('{"a": ["x\\u00', {"a": ["x"]}, "truncated"),
        ('{"a": ["x\\ud83d', {"a": ["x"]}, "truncated"),
        ('{"a": ["x\\ud83d\\ude', {"a": ["x"]}, "truncated"),
        ('{"a": ["x\\\\', {"a": ["x\\"]}, "truncated"),
        ('{"a": ["x\\\\u00', {"a": ["x\\u00"]}, "truncated"),
        ('{"a": [{"b": 1}, {"c"', {"a": [{"b": 1}, {}]}, "truncated"),
        ("{'a': [{'b': 1}, {'c' ", {"a": [{"b": 1}, {}]}, "truncated"),
        ('{"a": [1, tr', {"a": [1, True]}, "truncated"),
        ('```json\n{"a": [1, 2\n```\nHope this helps [me].', {"a": [1, 2]}, "truncated"),
        ('{"size": "5" wide", "b": 1}', {"size": '5" wide', "b": 1}, "quotes"),
        ("{'a': 'it's me', b: 1}", {"a": "it's me", "b": 1}, "quotes"),
        ('{"a": 1 "b": ["x" "y"]}', {"a": 1, "b": ["x", "y"]}, "damage"),
        ('{"a": "x" "b": "y", "c": }', {"a": "x", "b": "y", "c": None}, "damage"),
        ('{"a": "two\nlines", "b": "\\d+"}', {"a": "two\nlines", "b": "\\d+"}, "damage"),
        ('{"a": ["x", "y"}', {"a": ["x", "y"]}, "damage"),
        ('{"a": Ada Lovelace, "b": 1}', {"a": "Ada Lovelace", "b": 1}, "damage"),
    ],
)
def test_damaged_json_is_repaired(text, value, how):
    assert repaired_json.parse(text) == (value, how)
    assert repaired_json.parse(text.encode()) == (value, how)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got an empty text"),
        ("I could not find any speaker.", "Expected valid JSON, got no JSON; the answer starts with: I could not find"),
        ("<html><body><h1>502 Bad Gateway</h1></body></html>", "Expected valid JSON"),
        (b'{"a": "\xff"', "Expected UTF-8"),
        ('{"a": 1,} or else {"a": 2}', "got more than one"),
        ('{"a": NaN}', "got NaN"),
        ('{"a": 1, "a": 2}', "got 'a' 2 times"),
        ('{"a": 1e999,}', "got 1e999"),
        ('{"a": 1, "a": 2,}', "got 'a' 2 times"),
        ("{'a': 1} or {'a': 2}", "got more than one"),
        ('{"a": ' + "[" * 600, "at most 512 nested"),
        ("{", "truncated text"),
    ],
)
def test_text_without_a_recoverable_document_is_refused(text, words):
    with pytest.raises(DataError) as caught:
        repaired_json.parse(text, file="a.json", line=3)
    assert words in caught.value.message
    assert (caught.value.file, caught.value.line) == ("a.json", 3)
    assert caught.value.hint


def test_valid_json_is_read_strictly():
    text = '{"a": [1, 2.5, null, "é"]}'
    assert repaired_json.parse(text) == (strict_json.parse(text), None)


class TestCorpus:
    @pytest.fixture
    def lines(self, tmp_path):
        (tmp_path / "gold.jsonl").write_text("".join(f'{{"id": "{name}", "x": 1}}\n' for name in "abcd"))
        (tmp_path / "predicted.jsonl").write_text(
            '{"id": "a", "x": 1}\n{"id": "b", "x": [1, 2\n<p>nothing</p>\n{"id": "d", "x": 1,}\n{"id": "z", "x": 1,}\n'
        )
        return tmp_path

    def joined(self, folder, **options):
        reading = ReadOptions(**options)
        sides = (Reader.of(side, reading).records(folder / f"{side}.jsonl") for side in ("gold", "predicted"))
        return join(*sides)

    def test_every_repair_is_listed(self, lines):
        joined = self.joined(lines, lenient=True)
        assert [pair.predicted for pair in joined][:2] == [{"x": 1}, {"x": [1, 2]}]
        assert [(one.id, one.line, one.how) for one in joined.repaired] == [
            ("b", 2, "truncated"),
            ("d", 4, "trailing comma"),
            ("z", 5, "trailing comma"),
        ]
        assert {one.file for one in joined.repaired} == {str(lines / "predicted.jsonl")}
        assert [(one.id, one.line) for one in joined.failures] == [(None, 3), ("c", None)]
        assert joined.failures[0].reason == ("Expected valid JSON, got no JSON; the answer starts with: <p>nothing</p>")
        assert joined.pairs[1].origins[1] == (str(lines / "predicted.jsonl"), 2)

    def test_nothing_is_repaired_by_default(self, lines):
        joined = self.joined(lines)
        assert joined.repaired == ()
        assert [one.line for one in joined.failures if one.line] == [3, 5, 2, 4]

    def test_gold_is_never_repaired(self, lines):
        found = list(Reader.of("gold", ReadOptions(lenient=True)).records(lines / "predicted.jsonl"))
        assert [isinstance(one, Failure) for one in found] == [False, True, True, True, True]

    def test_text_files_of_a_folder_are_read(self, tmp_path):
        (tmp_path / "a.txt").write_text('Here:\n```json\n{"x": 1}\n```')
        (tmp_path / "b.json").write_text('{"x": 2')
        (tmp_path / "c.md").write_text("nothing")
        found = list(Reader.of("predicted", ReadOptions(lenient=True)).records(tmp_path))
        assert [(one.id, getattr(one, "value", None)) for one in found] == [
            ("a", {"x": 1}),
            ("b", {"x": 2}),
            ("c", None),
        ]
        assert [one.id for one in read_records(tmp_path, "predicted")] == ["b"]
        (one,) = Reader.of("predicted", ReadOptions(lenient=True)).records(tmp_path / "a.txt")
        assert (one.id, one.repair) == ("a", "code fence")

    def test_json_within_a_text_value_is_read(self, tmp_path):
        path = tmp_path / "pairs.jsonl"
        answers = ['{"x": 1}', '```json\n{"x": 1}\n```', "none", {"x": 1}]
        lines = [{"id": at, "gold": {"x": 1}, "predicted": answer} for at, answer in enumerate(answers)]
        path.write_text("\n".join(map(json.dumps, lines)))
        joined = paired(read_pairs(path, ReadOptions(lenient=True)))
        assert [pair.predicted == {"x": 1} for pair in joined] == [True, True, False, True]
        assert [(one.id, one.how) for one in joined.repaired] == [("0", "JSON in a text"), ("1", "code fence")]
        assert [one.in_text for one in joined.repaired] == [True, False]
        assert [(one.side, one.id, one.line) for one in joined.failures] == [("predicted", "2", 3)]

    def test_lenient_reading_is_part_of_the_signature(self):
        plan = Comparator({"type": "object"}).plan
        assert ReadOptions().signed(plan).signature == plan.signature
        signed = ReadOptions(lenient=True).signed(plan).signature
        structural = ReadOptions(lenient=True, repair_structure=True).signed(plan).signature
        assert dict(structural.entries)["lenient"] == dict(signed.entries)["lenient"] + ", structure"
        assert dict(signed.entries)["lenient"].startswith("json-repair 0.")
        assert signed.version == plan.signature.version


class TestReadAnswer:
    @pytest.mark.parametrize(
        ("text", "value", "kinds"),
        [
            ('{"a": 1}', {"a": 1}, []),
            ("null", None, []),
            ('<think>[1]</think>Here: {"a": 1} Good luck!', {"a": 1}, ["text around the JSON"] * 3),
            ('Here:\n```json\n{"a": 1,}\n```', {"a": 1}, ["code fence", "trailing comma"]),
            ('{"a": 1,}', {"a": 1}, ["trailing comma"]),
            ("{'a': True, 'b': None, 'c': (1, 2)}", {"a": True, "b": None, "c": [1, 2]}, ["quotes", "damage"]),
            ('{"a": [1, {"b": "x', {"a": [1, {"b": "x"}]}, ["truncated"]),
            ("{'a': [1,], // one\n 'b", {"a": [1]}, ["trailing comma", "quotes", "damage", "truncated"]),
        ],
    )
    def test_an_answer_comes_with_the_list_of_its_repairs(self, text, value, kinds):
        answer = arbitre.read_answer(text)
        assert (answer.value, [repair.kind for repair in answer.repairs]) == (value, kinds)
        assert all(repair.detail for repair in answer.repairs)
        assert repaired_json.parse(text) == (value, kinds[-1] if kinds else None)

    def test_each_strictness_refuses_what_the_next_one_reads(self):
        fenced, damaged = '```\n{"a": 1}\n```', '{"a": 1'
        assert arbitre.read_answer(fenced, strictness="embedded").value == {"a": 1}
        with pytest.raises(DataError, match="Expected valid JSON"):
            arbitre.read_answer(fenced, strictness="strict")
        with pytest.raises(DataError, match=r"line 1, column 8.*\n.*lenient"):
            arbitre.read_answer(damaged, strictness="embedded")
        with pytest.raises(arbitre.OptionError, match='Did you mean "strict"'):
            arbitre.read_answer(damaged, strictness="strikt")

    def test_an_answer_without_json_is_an_error(self):
        with pytest.raises(DataError, match="Expected valid JSON"):
            arbitre.read_answer("I cannot read this page.")

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ('{"persons": ["Luther", "Papa" (Pope)], "places": ["W"], "topic": "x"}', "line 1, column 29"),
            ('{"a": [1, 2, "b": 3}', "line 1, column 14"),
            ('{"a": [{"x": 1}, {"x": 2], "b": 3}', "line 1, column 28"),
            ('So: {"a": {"x": 1}}, "b": 2}', "line 1, column 20"),
            ('"a": {"x": 1}, "b": 2}', "line 1, column 14"),
            ('{"a": [1, 2 ... wait, again:\n{"a": [1, 2], "b": 3}', "line 1, column 13"),
        ],
    )
    def test_a_repair_that_moves_keys_is_refused_unless_asked_for(self, text, place):
        with pytest.raises(DataError) as caught:
            arbitre.read_answer(text)
        assert f"would move or drop keys ({place})" in caught.value.message
        assert "--repair-structure" in caught.value.hint
        answer = arbitre.read_answer(text, strictness="structural")
        assert answer.repairs[-1] == ("structural", place)
        with pytest.raises(DataError, match="would move"):
            repaired_json.parse(text)
        assert repaired_json.parse(text, strictness="structural") == (answer.value, "structural")

    def test_a_failure_quotes_the_start_of_the_answer(self):
        with pytest.raises(DataError) as caught:
            arbitre.read_answer("I cannot read this page. " * 10)
        reason, _, quoted = caught.value.message.partition("; the answer starts with: ")
        assert reason == "Expected valid JSON, got no JSON"
        assert quoted == ("I cannot read this page. " * 10)[:80] + "…"


class TestLimits:
    """Beyond the limits in docs/data.md, an answer is a failure. They are limits of work, not of time."""

    def test_json_repair_reads_a_limited_number_of_characters(self, monkeypatch):
        text = '{"a": ' + '["x" y, ' * 50
        monkeypatch.setattr(damaged_json, "FREE_READS", 0)
        monkeypatch.setattr(damaged_json, "READS", 1)
        with pytest.raises(DataError, match="line 1, column 1 takes too long: json-repair is limited to 200000 char"):
            arbitre.read_answer(text)

    def test_json_repair_reads_a_limited_text(self):
        text = '{"a": Ada Lovelace, "b": ["' + "x" * damaged_json.LONGEST
        assert arbitre.read_answer(text[:1000]).value["a"] == "Ada Lovelace"
        with pytest.raises(DataError, match="takes too long"):
            arbitre.read_answer(text)

    def test_many_damaged_values_are_refused(self):
        with pytest.raises(DataError, match="at most 100 damaged JSON values"):
            arbitre.read_answer('{"a": 1,}\n' * 101)

    def test_a_long_answer_with_usual_damage_is_read(self):
        items = [{"name": f"Person {number}", "note": 'a "b" \\ \n'} for number in range(5_000)]
        text = json.dumps({"items": items, "topic": "x"}, indent=1)
        assert len(text) > damaged_json.LONGEST
        for damaged in (text[:-3], text[:-2] + ",}", repr({"items": items, "topic": "x"})):
            value = arbitre.read_answer(damaged).value
            assert (value["items"], value["topic"]) == (items, "x")
