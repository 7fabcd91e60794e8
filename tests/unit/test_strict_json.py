"""Strict JSON: exact values, and refused values with their pointer and line."""

import sys
import time

import pytest

from arbitre.errors import DataError
from arbitre.parsing.strict_json import load, parse


def refusal(text, **options):
    with pytest.raises(DataError) as caught:
        parse(text, **options)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        (b'{"a": [1, 2.5, -0.0, 1e3, true, "\xc3\xa9"]}', {"a": [1, 2.5, -0.0, 1000.0, True, "é"]}),
        (b"\xef\xbb\xbf[1]", [1]),
        ("\ufeff[1]", [1]),
        (" \r\n[ ]\t", []),
        ("12345678901234567890123", 12345678901234567890123),
        ("1e-999", 0.0),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\uD83D\uDE00 \ud83d\ude00"', "😀 😀"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\ud7ff"', "\ud7ff"),
        (r'{"": {"": 1}}', {"": {"": 1}}),
        ('"NaN"', "NaN"),
    ],
)
def test_valid_json_is_read_exactly(text, value):
    assert repr(parse(text)) == repr(value)


@pytest.mark.parametrize(
    ("text", "pointer", "words"),
    [
        ("NaN", "", "got NaN"),
        ('{"a": [1, Infinity]}', "/a/1", "got Infinity"),
        ('{"a/b": {"~": -Infinity}}', "/a~1b/~0", "got -Infinity"),
        ('{"a": 1e999}', "/a", "got 1e999"),
        ('{"a": [-1e400]}', "/a/0", "got -1e400"),
        ("[" + "9" * 400 + ".0]", "/0", "got 9999"),
        ('{"n": [0, ' + "1" * 5000 + "]}", "/n/1", "at most 4300 digits, got 5000 digits"),
        ("-" + "1" * 4301, "", "at most 4300 digits, got 4301 digits"),
        ('{"a": 1, "b": 2, "a": 1}', "", "got 'a' 2 times"),
        ('[0, {"x": {"b": 1, "c": 0, "b": 2, "b": 3}}]', "/1/x", "got 'b' 3 times"),
        (r'{"a": 1, "\u0061": 2}', "", "got 'a' 2 times"),
        (r'{"a": ["\ud800"]}', "/a/0", r"lone surrogate '\ud800'"),
        (r'{"a": "x\uDFFFy"}', "/a", r"lone surrogate '\udfff'"),
        (r'{"a": {"\udc00": 1}}', "/a", r"a key of whole Unicode characters, got the lone surrogate '\udc00'"),
        (r'"\ude00\ud83d"', "", r"lone surrogate '\ude00'"),
        (r'"\ud83d\ud83d\ude00"', "", r"lone surrogate '\ud83d'"),
        (r'"\ud83d\\\ude00"', "", r"lone surrogate '\ud83d'"),
        (r'"\\ud83d\ude00"', "", r"lone surrogate '\ude00'"),
    ],
)
def test_a_refused_value_is_reported_with_its_pointer(text, pointer, words):
    error = refusal(text, file="a.json")
    assert (error.pointer, error.file, error.line) == (pointer, "a.json", None)
    assert words in error.message


def test_every_refused_value_is_reported_in_document_order():
    error = refusal(r'{"a": NaN, "b": [{"k": 1, "k": NaN}, 1e999], "c": "\ud800", "d": ' + "1" * 5000 + "}")
    assert [problem.pointer for problem in error.problems] == ["/a", "/b/0", "/b/1", "/c", "/d"]


def test_a_refused_key_is_reported_once_with_its_value():
    error = refusal(r'{"\ud800": [NaN], "b": NaN}')
    assert [problem.pointer for problem in error.problems] == ["", "/b"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "got an empty text"),
        (" \n ", 1, "got an empty text"),
        (b"\xef\xbb\xbf", 1, "got an empty text"),
        ("[1]\n[2]", 2, "more text after it, column 1"),
        ("{} x", 1, "more text after it, column 4"),
        ('{"a":\n 1,,}', 2, "Expecting property name enclosed in double quotes, column 4"),
        ('[\n\n"abc', 3, "truncated text: Unterminated string starting at, column 1"),
        ('{"a": [1, 2', 1, "truncated text: Expecting ',' delimiter, column 12"),
        ("[1,", 1, "truncated text"),
        ("[1,,]", 1, "column 4"),
        ("{'a': 1}", 1, "column 2"),
        ("[01]", 1, "Expecting ',' delimiter, column 3"),
        ("nul", 1, "Expecting value, column 1"),
        ('["a\tb"]', 1, "Invalid control character"),
        (r'["\x"]', 1, "Invalid \\escape"),
        ("[NaN,\n1}", 2, "Expecting ',' delimiter, column 2"),
        ('{"a": ' + "1" * 5000 + ",\n", 2, "truncated text"),
        (b"[1,\n2,\xff]", 2, "got the byte 0xff at byte offset 6"),
        (b"\xef\xbb\xbf\xe9", 1, "got the byte 0xe9 at byte offset 3"),
        (b'{"a": "\xed\xa0\x80"}', 1, "got the byte 0xed at byte offset 7"),
        (b"\xff\xfe[\x00]\x00", 1, "got the byte 0xff at byte offset 0"),
        ('[\n"\ud800"]', 2, "lone surrogate '\\ud800' at position 3"),
    ],
)
def test_invalid_json_is_reported_with_its_line(text, line, words):
    error = refusal(text)
    assert (error.line, error.pointer) == (line, None)
    assert words in error.message


@pytest.mark.parametrize("text", ["[\n\nNaN]", "[\n1,\n]", b"[\n\xff]", "[\n" * 513, '{"a":1,\n"a":1}', ""])
def test_the_line_of_a_record_is_the_line_given(text):
    error = refusal(text, file="a.jsonl", line=7)
    assert (error.file, error.line) == ("a.jsonl", 7)


class TestDepth:
    def test_the_maximum_depth_is_allowed(self):
        value = parse("[" * 512 + "]" * 512)
        for _ in range(511):
            (value,) = value
        assert value == []

    @pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
    def test_a_deeper_container_is_refused_with_its_line(self, opening):
        text = "\n".join(opening * 513)
        error = refusal("\n" + text if opening == "[" else opening * 513)
        assert error.message == "Expected at most 512 nested containers, got more"
        assert error.line == (514 if opening == "[" else 1)

    def test_scalars_do_not_count_as_containers(self):
        assert parse("1", max_depth=0) == 1
        assert refusal("[]", max_depth=0).line == 1
        assert parse("[[], {}]", max_depth=2) == [[], {}]
        assert refusal("[[[]]]", max_depth=2).line == 1

    def test_siblings_do_not_increase_the_depth(self):
        assert len(parse("[" + ",".join(["[]"] * 5000) + "]", max_depth=2)) == 5000

    @pytest.mark.parametrize(
        "inside",
        ["[" * 2000, r"\"[{" * 1000, '\\\\\\"' + "[" * 2000, "é[" * 2000, r"]]\\"],
    )
    def test_brackets_in_strings_do_not_count(self, inside):
        text = f'[{{"{inside}": "{inside}"}}]'
        assert list(parse(text, max_depth=2)[0]) == [parse(f'"{inside}"')]
        assert refusal(text + "[" * 600, max_depth=1).message == "Expected at most 1 nested containers, got more"

    def test_a_string_may_end_in_a_backslash(self):
        assert refusal('["\\\\", [\n[]]]', max_depth=2).line == 2

    def test_an_unterminated_string_is_reported_as_invalid_json(self):
        assert "Unterminated string" in refusal('["' + "[" * 2000).message
        assert "Unterminated string" in refusal('["' + "[" * 2000 + "\\").message

    def test_lines_are_counted_after_strings_with_quotes(self):
        assert refusal('["\\"[[[",\n[\n[]]]', max_depth=2).line == 3

    def test_ten_thousand_levels_are_refused_with_their_line(self):
        assert refusal("[" * 10_000 + "]" * 10_000).line == 1
        assert refusal('{"a":\n' * 10_000 + "1" + "}" * 10_000).line == 513

    def test_a_million_brackets_are_refused_at_once(self):
        text = "[" * 1_000_000
        start = time.perf_counter()
        refusal(text)
        assert time.perf_counter() - start < 0.9

    def test_a_large_limit_raises_no_recursion_error(self):
        error = refusal("[" * 200_000 + "]" * 200_000, file="a.json", max_depth=1_000_000)
        assert (error.file, error.message) == (
            "a.json",
            "The containers are nested too deeply for Python's recursion limit",
        )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="C code has a limit of its own")
def test_a_deep_caller_gets_a_data_error():
    text = "[" * 100 + "]" * 100

    def descend(levels):
        return descend(levels - 1) if levels else parse(text)

    frame, used = sys._getframe(), 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    with pytest.raises(DataError, match="nested too deeply for Python"):
        descend(sys.getrecursionlimit() - used - 50)


class TestLoad:
    def test_an_error_in_a_file_names_the_file(self, tmp_path):
        path = tmp_path / "a.json"
        path.write_bytes(b'{"a": [\nNaN]}')
        with pytest.raises(DataError) as caught:
            load(path)
        assert (caught.value.file, caught.value.pointer) == (str(path), "/a/0")

    def test_a_byte_order_mark_is_skipped(self, tmp_path):
        path = tmp_path / "a.json"
        path.write_bytes(b'\xef\xbb\xbf"\xc3\xa9"')
        assert load(path) == "é"

    def test_load_applies_the_depth_limit(self, tmp_path):
        path = tmp_path / "a.json"
        path.write_text("[[\n[]]]")
        with pytest.raises(DataError) as caught:
            load(path, max_depth=2)
        assert caught.value.line == 2

    def test_a_missing_file_is_refused(self, tmp_path):
        with pytest.raises(DataError) as caught:
            load(tmp_path / "none.json")
        assert caught.value.message == "Cannot read the file: No such file or directory"
        assert caught.value.file == str(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("cp1252", "CP1252"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE")],
)
def test_a_text_in_another_encoding_names_the_remedy(encoding, name):
    with pytest.raises(DataError) as caught:
        parse('{"a": "é"}'.encode(encoding))
    assert caught.value.message.startswith("Expected UTF-8, got ")
    assert f"`iconv -f {name} -t UTF-8`" in caught.value.message
