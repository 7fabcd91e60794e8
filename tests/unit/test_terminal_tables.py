"""Tables in the terminal: the width of columns, broken paths, and columns that are left out."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len
from rich.console import Console

import arbitre
from arbitre import Tally
from arbitre.cli.output.result_tables import by_path, quality
from arbitre.language import Language, Translator
from arbitre.tables.table import EARLY, SCORE, SHARE, Table, TableColumn, columns, count
from arbitre.tables.terminal import nested_labels, render, split
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
        ("", 20, "(whole document)"),
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


def printed(table, width, **options):
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(render(table, width, **options))
    return [line.rstrip() for line in captured.get().splitlines()]


HEADS = (
    TableColumn("path", kind="path"),
    TableColumn("share of loss", SHARE, drop=EARLY),
    *columns("low", "high", written=SCORE, drop=1),
    TableColumn("f1q", SCORE),
    TableColumn("spurious", count),
)
WIDE = Table.of(
    "By path",
    HEADS,
    [("/people/*/first_name", 0.5, 0.1234, 0.9, 0.625, 12), ("", None, None, None, 1.0, "")],
    notes=("n",),
)


@pytest.mark.parametrize("width", range(12, 90, 7))
def test_numbers_are_never_cut(width):
    text = "\n".join(printed(WIDE, width))
    shown = [column for column in WIDE.columns[1:] if column.name in re.split(r"Left|\n─", text)[0]]
    for column in shown:
        assert {"0.5": "50.0%"}.get(str(WIDE[column.name][0]), column.text(WIDE[column.name][0])) in text


def test_columns_are_left_out_in_their_order_and_named():
    left = {
        width: "".join(re.findall("Left out.*: (.*)[.] Use", " ".join(printed(WIDE, width)))) for width in range(30, 85)
    }
    assert list(dict.fromkeys(left.values())) == [
        "share of loss, low, high, spurious",
        "share of loss, low, high",
        "share of loss",
        "",
    ]


def test_a_table_shows_its_title_rows_rest_and_notes():
    assert printed(WIDE, 90, most=1, rest="more below") == [
        "By path",
        "path                   share of loss      low     high      f1q   spurious",
        "─" * 74,
        "/people/*/first_name           50.0%   0.1234   0.9000   0.6250         12",
        "... and 1 more below",
        "n",
    ]
    assert printed(WIDE, 90)[4].split() == ["(whole", "document)", "–", "–", "–", "1.0000"]  # "" stays empty


def test_a_table_is_split_into_tables_that_fit():
    names = [f"choice {at}" for at in range(5)]
    table = Table.of("", (TableColumn(""), *columns(*names, written=SCORE)), [("f1q", *[0.5] * 5)])
    parts = list(split(table, 40))
    assert [[column.name for column in part.columns] for part in parts] == [["", *names[:3]], ["", *names[3:]]]
    assert all(max(map(cell_len, printed(part, 40))) <= 40 for part in parts)


def test_a_repeated_path_is_shown_once():
    heads = (TableColumn("path", kind="tree"), TableColumn("reason"))
    rows = printed(Table.of("", heads, [("/a", "first"), ("/a", "second"), ("/a/b", "third")]), 40)
    assert [row.split() for row in rows[2:]] == [["/a", "first"], ["second"], ["/b", "third"]]


def test_shares_are_never_rounded_to_none_or_all():
    comparator = arbitre.Comparator({"type": "array", "items": {"type": "string"}})
    for right, said in ((2999, "99.9%"), (1, "0.1%")):
        found = comparator.evaluate((f"{at:04}", ["a"], ["a" if at < right else "b"]) for at in range(3000))
        assert quality(found.document_quality).endswith(f"0.9 or more in {said} of documents, exact in {said}")
        assert Translator(Language.EN).percent(right / 3000) == SHARE(right / 3000) == said
    assert SHARE(1.0) == "100.0%"
    assert quality(comparator.evaluate([("a", ["a"], ["a"])]).document_quality).endswith("exact in 100%")
