"""JSON in the answers of language models is read unchanged, repairs change no value, and reading takes linear time."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbitre
from arbitre.errors import DataError
from arbitre.parsing import damaged_json, repaired_json

KEYS = st.sampled_from(["a", "b", "name", "pages", "é", "x y", "", "it's", "```", "<think>"])
TEXTS = st.text(alphabet="abé ,:[]{}\"'\\\n`</think>#/", max_size=12)
LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | TEXTS


def documents(leaves, keys):
    values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
    return st.dictionaries(keys, values, min_size=1, max_size=4) | st.lists(values, min_size=1, max_size=4)


DOCUMENTS = documents(LEAVES, KEYS)
PLAIN = documents(
    st.none() | st.integers(-99, 99) | st.text(alphabet="abé '", max_size=8), st.sampled_from(["a", "b", "né"])
)
PROSE = st.text(alphabet="abc é\n.,:;'\"()`#/", max_size=30).filter(lambda text: "```" not in text)
"""Text without brackets and code fences."""


@given(DOCUMENTS, PROSE, PROSE, st.sampled_from(["{}", "```json\n{}\n```", "<think>\n[1, x {{</think>\n{}"]))
def test_the_json_in_an_answer_is_read_unchanged(value, before, after, form):
    text = json.dumps(value, ensure_ascii=False)
    if re.match(r'[]}\s]*,\s*"', after):  # it would continue the JSON
        after = "." + after
    answer = arbitre.read_answer("So " + before + form.format("\0").replace("\0", text) + after, strictness="embedded")
    assert answer.value == value


def keys(value):
    """Every key of a value with its depth, in order."""
    return [(depth, key) for depth, key in damaged_json.structure(value) if isinstance(key, str)]


@given(DOCUMENTS, st.data())
def test_a_repair_neither_moves_nor_drops_keys(value, data):
    text = json.dumps(value, ensure_ascii=False)
    damaged = {
        "trailing comma": re.sub(r"([^[{])\}$", r"\1,}", text),
        "truncated": text[: -len(re.search(r"[]}]+$", text)[0])],
        "quotes": repr(value),
    }[data.draw(st.sampled_from(["trailing comma", "truncated", "quotes"]))]
    assert arbitre.read_answer(damaged).value == value


def is_start(part, whole):
    """Whether a value is another value that was cut off. A field that is cut off after its colon is None.

    A number that is cut off can be any number.
    """
    if part is None or isinstance(part, bool) or isinstance(whole, bool):
        return part is None or part is whole
    if isinstance(part, dict) and isinstance(whole, dict):
        return [*part] == [*whole][: len(part)] and all(is_start(part[key], whole[key]) for key in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(is_start, part, whole))
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    return isinstance(part, (int, float)) and isinstance(whole, (int, float))


ESCAPED = documents(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(alphabet="abé '`<>#/\\\"\n😀𐤀\u0101", max_size=9),
    KEYS | st.just("😀"),
)


@given(ESCAPED, st.booleans(), st.data())
def test_an_answer_that_is_cut_off_keeps_its_values(value, ascii_only, data):
    text = json.dumps(value, ensure_ascii=ascii_only)
    cut = text[: data.draw(st.integers(2, len(text)))]
    with suppress(DataError):
        assert is_start(arbitre.read_answer(cut).value, value)


@given(PLAIN, st.data())
def test_any_damage_is_repaired_in_its_place_or_refused(value, data):
    text = json.dumps(value, ensure_ascii=False)
    plain = re.sub(r'(?<=")[^"]*(?=")', lambda inner: "x" * len(inner[0]), text)
    insert = data.draw(st.sampled_from(["", ",", "]", "}", "(x)", " x", '"']))
    marks = r'[]{}[,:"]' if insert else r'[,:"]'  # without one of its brackets, the text has another structure
    at = data.draw(st.sampled_from([mark.start() for mark in re.finditer(marks, plain)] or [0]))
    damaged = text[:at] + insert + text[at + (not insert) :]
    try:
        answer = arbitre.read_answer(damaged)
    except DataError:
        return
    if answer.repairs and answer.repairs[-1].kind not in {"text around the JSON", "code fence"}:
        assert keys(answer.value) == keys(value)


class Counting:
    """A compiled pattern, or the JSON decoder, that counts the characters that it scans."""

    def __init__(self, scanner, total):
        self.scanner, self.total = scanner, total

    def search(self, text, start=0, end=None):
        return self.counted(self.scanner.search, text, start, end)

    def match(self, text, start=0, end=None):
        return self.counted(self.scanner.match, text, start, end)

    def counted(self, scan, text, start, end):
        end = len(text) if end is None else end
        found = scan(text, start, end)
        self.total[0] += (found.end() if found else end) - start + 1
        return found

    def finditer(self, text, start=0, end=None):
        end = len(text) if end is None else end
        self.total[0] += end - start
        return self.scanner.finditer(text, start, end)

    def raw_decode(self, text, start):
        try:
            value, end = self.scanner.raw_decode(text, start)
        except json.JSONDecodeError as error:
            self.total[0] += error.pos - start + 1
            raise
        self.total[0] += end - start
        return value, end


HOSTILE = (
    '["', "[", "{", '{"', '{"a":', "<think>", "<think></think>", '<think>["', '```\n{"a": [1,\n```\n', "```json\n", '"', "\\",
    '{"a": "x "y "z ', '{"a" "b"', "{'a':", "['", "[1,", "(", "{a:", "/*", "{//", "#", '\\"', '["a" ', '{"a": b "c" d',
    '{"a": 1}, ', "“", '{"a": 1,}\n', "[x {", "[1] ", '{"a": "b" c, ', '"a": ', "[(",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_work_grows_linearly_with_the_answer(unit, monkeypatch):
    total = [0]
    for module in (repaired_json, damaged_json):
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and name not in {
                "_CHANGED",
                "_PLAIN",
                "_MARKS",
                "_SWALLOWED",
                "_CUT_ESCAPE",
                "_NUMBER",
            }:
                monkeypatch.setattr(module, name, Counting(value, total))
    until = {quote: Counting(pattern, total) for quote, pattern in damaged_json._UNTIL.items()}
    monkeypatch.setattr(damaged_json, "_UNTIL", until)
    monkeypatch.setattr(repaired_json, "_DECODER", Counting(repaired_json._DECODER, total))
    for prefix in ("", '{"k": x '):
        work = []
        for size in (2_000, 8_000):
            total[0] = 0
            with suppress(DataError):  # json-repair has a budget of its own
                arbitre.read_answer(prefix + unit * (size // len(unit)), strictness="structural")
            work.append(total[0])
        assert work[1] <= 5 * work[0] + 2_000
