"""Paths in tables of any width: broken at slashes, never inside a word where there is another way."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.console import Console

from arbitre import Tally
from arbitre.cli.output.result_tables import by_path
from arbitre.tables.terminal import nested_labels
from arbitre.tally import PathScores

PATHS = ("/page/printed_page", "/speakers/*", "/speakers/*/interventions/*", "/speakers/*/interventions/*/pages/*")
LONG = (*PATHS, "/speakers/*/actions_relatives_a_l_intervenant", "/speakers/*/actions_relatives_a_l_intervenant/*")


def shown(paths, width):
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for table in by_path(dict.fromkeys(paths, PathScores(Tally(4, 5, 4, 3.03, 2.4), exact=4, spurious=1)), width):
            console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


@pytest.mark.parametrize(
    ("paths", "width", "columns"),
    [
        (PATHS, 120, ["gold", "predicted", "matched", "imq", "irq", "f1q", "amq"]),
        (PATHS[:2], 90, ["gold", "predicted", "matched", "imq", "irq", "f1q", "amq"]),
        (PATHS, 80, ["gold", "predicted", "imq", "irq", "f1q"]),
        (LONG, 80, ["gold", "imq", "irq", "f1q"]),
        (LONG, 60, ["gold", "imq", "irq", "f1q"]),
    ],
)
def test_a_table_drops_columns_before_it_breaks_names(paths, width, columns):
    head = next(line for line in shown(paths, width) if line.startswith("path"))
    assert head.split() == ["path", *columns]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_exceeds_the_terminal_and_names_are_not_broken(width):
    lines = shown(PATHS, width)
    assert max(map(cell_len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert {"/speakers/*", "/interventions/*", "/pages/*"} <= words


@pytest.mark.parametrize(
    ("path", "room", "expected"),
    [
        ("/speakers/*/name", 40, "/speakers/*/name"),
        ("/speakers/*/name", 14, "/speakers/*\n  /name"),
        ("/speakers/*/name", 10, "/speakers\n  /*/name"),
        ("/first_name", 9, "/first_\n  name"),
        ("/a-b.c", 5, "/a-b.\n  c"),
        ("/abcdefgh", 6, "/abc\n  defg\n  h"),
        ("/日本語日本", 6, "/日\n  本語\n  日本"),
        ("/x\x1by", 9, "/x\\x1by"),
        ("", 20, "(the whole)"),
        ("//*", 9, "//*"),
    ],
)
def test_long_paths_are_broken_before_a_slash(path, room, expected):
    assert list(nested_labels([path], room)) == [expected]


def test_nested_labels_show_a_common_prefix_once():
    assert list(nested_labels(LONG, 40)) == [
        "/page/printed_page",
        "/speakers/*",
        "  /interventions/*",
        "    /pages/*",
        "  /actions_relatives_a_l_intervenant",
        "    /*",
    ]
