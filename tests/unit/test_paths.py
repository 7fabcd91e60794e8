"""JSON Pointers, wildcard paths and their order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbitre.paths import DEPTH, STAR, order, parse, pointer, wildcard


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("",), "/"),
        (("", ""), "//"),
        (("a", 0, "b"), "/a/0/b"),
        (("a", STAR), "/a/*"),
        (("*",), "/~2"),
        (("a/b", "~", "~1", "~2", "**"), "/a~1b/~0/~01/~02/**"),
    ],
)
def test_a_path_is_written_as_a_pointer(path, text):
    assert pointer(path) == text
    assert parse(text) == tuple(str(token) if isinstance(token, int) else token for token in path)


@given(st.lists(st.text("ab/~*012") | st.just(STAR)))
def test_a_pointer_survives_a_round_trip(path):
    assert parse(pointer(path)) == tuple(path)


@pytest.mark.parametrize("text", ["a", "a/b", "*", " /a"])
def test_a_text_that_is_not_a_pointer_is_refused(text):
    with pytest.raises(ValueError, match="Expected a JSON Pointer"):
        parse(text)


def test_paths_beyond_the_depth_limit_share_one_wildcard():
    assert wildcard(("a",) * DEPTH) == "/a" * DEPTH
    assert wildcard(("a",) * (DEPTH + 1)) == wildcard(("a",) * (DEPTH + 9)) == "/a" * DEPTH + "/**"


def test_paths_are_sorted_in_document_order():
    paths = ["", "/*", "/2", "/10", "/a", "/a/*", "/a/9", "/a/10", "/a/b", "/a/b/c", "/ab", "/b"]
    assert sorted(sorted(paths, reverse=True), key=order) == paths


def test_distinct_paths_have_distinct_sort_keys():
    paths = ["/7", "/07", "/" + "7" * 5000, "/seven"]
    assert len({order(path) for path in paths}) == len(paths)
    assert min(paths, key=order) == "/7"
