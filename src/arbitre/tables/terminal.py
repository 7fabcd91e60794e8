"""Tables for terminals of any width: columns that do not fit are left out, and long paths and texts are wrapped.

Colours carry no information of their own. Invisible characters are written as escapes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, chop_cells
from rich.text import Text

from arbitre.language import ENGLISH, Translator
from arbitre.paths import nesting
from arbitre.tables.table import EARLY, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions

    from arbitre.tables.table import Table, TableColumn

MAX_SHOWN: Final = 10
"""Maximum number of rows of a long table."""

WAYS: Final = "Use a wider terminal or --format json."
"""How to see the columns that are left out."""

STYLES: Final = {"": "", "strong": "bold", "weak": "dim"}

_GAP: Final = 3
"""Number of characters between two columns."""
_ROOM: Final = 20
"""Width above which a path or a word is broken, instead of leaving a column out."""
_NARROW: Final = 6
"""Minimum width of a text column; below the length of a word, words are broken."""
_FEWEST: Final = 2
"""Minimum number of columns."""

_INDENT: Final = "  "
_BREAKS: Final = tuple(map(re.compile, (r"/[^/]*(?:/\*(?![^/]))*|^[^/]+", r"/[^/]*|^[^/]+", r"[^_.-]*[_.-]+|[^_.-]+")))
"""Break patterns in order of preference: before a `/` (but not before `/*`), before any `/`, after `_`, `-` or `.`."""

_SPACED: Final = re.compile(r"\S*\s+|\S+")
"""Texts between spaces, each with the spaces after it."""

_WORDS: Final = re.compile(r"(?:[^\s/_.-]|\.(?=\d))*(?:[\s/_-]|\.(?!\d))+|(?:[^\s/_.-]|\.(?=\d))+")
"""Words, each with the separators after it; a decimal point is part of a word."""


@dataclass(frozen=True, eq=False)
class ShownTable:
    """A table for a terminal, with its title, its notes, and a line on the rows and columns that are not shown.

    Attributes:
        table: The whole table.
        width: Width of the terminal.
        most: Maximum number of rows.
        rest: Description of the rows that are not shown, and how to see them. `(s)` is a plural ending.
        ways: How to see the columns that are left out.
        say: Translator of the texts, with plain instead of no-break spaces.
    """

    table: Table
    width: int
    most: int | None = None
    rest: str = "more with --format json"
    ways: str = WAYS
    say: Translator = ENGLISH

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> Iterator[Text]:
        """Yield the lines of the table."""
        table, dropped = _fit_columns(self.table.translated(self.say), self.width)
        texts = _Texts(table, self.most)
        cells = texts.wrapped(texts.rooms(self.width))
        more = table.size - len(cells[0]) + 1 if cells else 0
        rest = self.rest.replace("(s)", "s" * (more > 1))
        below = [self.say.text(f"... and {more} {rest}")] * (more > 0)
        left_out = self.say.text(f"Left out at this width: {', '.join(dropped)}. {self.ways}")
        below += [left_out] * bool(dropped)
        below += table.notes
        if table.title:
            yield Text(escape_hidden(table.title), style="bold")
        yield _grid(table, cells)
        yield from (Text(escape_hidden(line), style="dim") for line in below)


def render(
    table: Table, width: int, *, most: int | None = None, rest: str = "more with --format json", ways: str = WAYS
) -> ShownTable:
    """Return a table for a terminal of this width; for the other arguments, see `ShownTable`.

    Columns are left out in the order of `TableColumn.drop` until the table fits, then texts are wrapped.
    """
    return ShownTable(table, width, most, rest, ways)


def _grid(table: Table, cells: Sequence[Sequence[str]]) -> Text:
    """Return the lines of a table, given the wrapped cells of each column; headers that are all empty are left out."""
    widths = [max(cell_len(line) for text in lines for line in text.split("\n")) for lines in cells]
    lines: list[Text] = []
    headless = not any(column.name for column in table.columns)
    for at, row in list(enumerate(zip(*cells, strict=True), -1))[headless:]:
        parts = [text.split("\n") for text in row]
        height = max(map(len, parts))
        if at < 0:  # headers end on the same line
            parts = [[""] * (height - len(part)) + part for part in parts]
        if at in table.sections:
            lines.append(Text())
        style = "bold" if at < 0 else STYLES[table.emphasis.get(at, "")]
        for number in range(height):
            line = Text(style=style)
            for place, (part, width, column) in enumerate(zip(parts, widths, table.columns, strict=True)):
                text = part[number] if number < len(part) else ""
                blank = " " * (width - cell_len(text))
                line.append(" " * _GAP * bool(place) + blank * column.aligned_right)
                line.append(text, style="" if at < 0 else _style(table, at, place))
                line.append(blank * (not column.aligned_right))
            line.rstrip()
            lines.append(line)
        if at < 0:
            lines.append(Text("─" * _total(widths)))
    return Text("\n", no_wrap=True, overflow="ignore").join(lines)


def table_width(table: Table) -> int:
    """Return the width at which a table is shown as a whole, without wrapped texts."""
    return _total(_Texts(table).natural)


def split(table: Table, width: int) -> Iterator[Table]:
    """Yield tables that fit a width: each has the first column, and as many of the others as fit, but at least one."""
    first, *others = _Texts(table).natural
    begin, used = 1, first
    for at, wide in enumerate(others, 1):
        used += _GAP + wide
        if used > width and at > begin:
            yield table.only(0, *range(begin, at))
            begin, used = at, first + _GAP + wide
    yield table.only(0, *range(begin, len(table.columns)))


def escape_hidden(text: str) -> str:
    r"""Return the text with invisible characters, such as escape codes, written as escapes.

    >>> escape_hidden("Zoé\x1b[2J")
    'Zoé\\x1b[2J'
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def nested_labels(paths: Iterable[str], room: int, whole: str = WHOLE) -> Iterator[str]:
    r"""Yield a label per path, indented under its nearest parent; long labels are broken before a `/`.

    A name longer than `room` is broken after `_`, `-` or `.`, or else anywhere. `whole` is the label of the path of a
    whole document.

    >>> list(nested_labels(["/pages/*", "/pages/*/name", "/year"], 40))
    ['/pages/*', '  /name', '/year']
    >>> list(nested_labels(["/pages/*/first_name"], 12))
    ['/pages/*\n  /first_\n  name']
    """
    for label, indent in _below(paths, whole):
        yield _broken(label, indent, room)


def wrapped(text: str, room: int) -> str:
    r"""Break a text between words into lines that fit `room`; only a word that is longer is broken.

    >>> wrapped("gemini-2.5-pro-preview", 12)
    'gemini-2.5-\npro-preview'
    """
    lines = [""]
    for piece in _pieces(text, room, (_SPACED, _WORDS)):
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


class _Texts:
    """The formatted cells of a table by column, headers first, and their widths."""

    def __init__(self, table: Table, most: int | None = None) -> None:
        self.columns = table.columns
        rows = table.texts(most)
        self.cells = [
            [column.name, *(_escaped(column, row[at]) for row in rows)] for at, column in enumerate(table.columns)
        ]
        self.paths = {
            at: [str(path) for path in cells[:most]]
            for at, (column, cells) in enumerate(zip(table.columns, table.cells, strict=True))
            if column.kind == "tree"
        }
        for at in self.paths:
            self.cells[at][1:] = [f"{indent}{escape_hidden(label)}" for label, indent in self._labels(at)]
        self.natural = [max(cell_len(line) for text in cells for line in text.split("\n")) for cells in self.cells]
        self.least = [self._least(at, column) for at, column in enumerate(table.columns)]
        self.last = [
            least if column.number else min(least, _ROOM)
            for column, least in zip(self.columns, self.least, strict=True)
        ]
        self.early = [
            min(natural, max(least, _ROOM)) if column.kind in {"path", "tree"} else natural
            for column, natural, least in zip(self.columns, self.natural, self.last, strict=True)
        ]

    def _labels(self, at: int) -> Iterator[tuple[str, str]]:
        """Yield the label and the indent of each path of a column."""
        return _below(self.paths[at], self.columns[at].whole)

    def _least(self, at: int, column: TableColumn) -> int:
        """Return the least width of a column: that of the longest number, name of a path, or word."""
        if column.number:
            return self.natural[at]
        if column.kind in {"value", "lines"}:
            least = max(map(_longest_word, self.cells[at])) if column.least is None else column.least
        elif column.kind == "tree":
            least = max((_longest_name(label, indent) for label, indent in self._labels(at)), default=0)
        else:
            least = max(_longest_name(text, "") for text in self.cells[at])
        return min(least, self.natural[at])

    def rooms(self, width: int) -> list[int]:
        """Return the width of each column; the widest texts are narrowed first, below a word only if they must."""
        rooms = list(self.natural)
        excess = _total(rooms) - width
        for floors in (self.least, [_NARROW] * len(rooms), [1] * len(rooms)):
            while excess > 0:
                texts = [at for at, column in enumerate(self.columns) if not column.number and rooms[at] > floors[at]]
                if not texts:
                    break
                rooms[max(texts, key=lambda at: rooms[at])] -= 1
                excess -= 1
        return rooms

    def wrapped(self, rooms: Sequence[int]) -> list[list[str]]:
        """Return the cells, wrapped to fit these widths."""
        return [self._wrapped(at, room) if room < self.natural[at] else self.cells[at] for at, room in enumerate(rooms)]

    def _wrapped(self, at: int, room: int) -> list[str]:
        head, *cells = self.cells[at]
        if at in self.paths:
            cells = list(nested_labels(self.paths[at], room, self.columns[at].whole))
        elif self.columns[at].kind == "path":
            cells = [_broken(text, "", room) for text in cells]
        else:
            cells = ["\n".join(wrapped(line, room) for line in text.split("\n")) for text in cells]
        return [wrapped(head, room), *cells]


def _fit_columns(table: Table, width: int) -> tuple[Table, list[str]]:
    """Return the table without the columns that do not fit, and their names.

    If the table without all columns that have a `drop` is still too wide, the last columns are left out.
    """
    made = table
    for level in sorted({column.drop for column in table.columns if column.drop}, reverse=True):
        texts = _Texts(made)
        widths = texts.early if level >= EARLY else texts.least
        if _total(widths) > width:
            made = made.only(*(at for at, column in enumerate(made.columns) if column.drop != level))
    while len(made.columns) > _FEWEST and _total(_Texts(made).last) > width:
        made = made.only(*range(len(made.columns) - 1))
    kept = {id(column) for column in made.columns}
    return made, [column.heading for column in table.columns if id(column) not in kept]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _style(table: Table, row: int, at: int) -> str:
    return STYLES[table.emphasis.get((row, at), table.columns[at].emphasis)]


def _escaped(column: TableColumn, text: str) -> str:
    return "\n".join(map(escape_hidden, text.split("\n"))) if column.kind == "lines" else escape_hidden(text)


def _longest_word(text: str) -> int:
    """Return the width of the longest part that `wrapped` does not break."""
    return max((cell_len(piece.rstrip()) for piece in _WORDS.findall(text)), default=0)


def _longest_name(label: str, indent: str) -> int:
    """Return the width at which a path is broken only before a `/`."""
    names = escape_hidden(label).split("/")
    return max(cell_len(indent + names[0]), *(cell_len(f"{indent}{_INDENT}/{name}") for name in names[1:]), 0)


def _below(paths: Iterable[str], whole: str = WHOLE) -> Iterator[tuple[str, str]]:
    """Yield each path relative to its nearest parent, and its indent; a path that is repeated has no label.

    `whole` is the label of the path of a whole document.
    """
    last = None
    for path, part, depth in nesting(paths):
        yield ("", "") if path == last else (part or whole, _INDENT * depth)
        last = path


def _broken(label: str, indent: str, room: int) -> str:
    lines = [indent]
    for piece in _pieces(escape_hidden(label), max(room - cell_len(indent + _INDENT), 1), _BREAKS):
        if lines[-1].strip() and cell_len(lines[-1] + piece) > room:
            lines.append(indent + _INDENT)
        lines[-1] += piece
    return "\n".join(lines)


def _pieces(text: str, room: int, breaks: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Split a text into pieces that fit `room`, with the first pattern that succeeds, or else anywhere."""
    if cell_len(text) <= room:
        yield text
    elif not breaks:
        yield from chop_cells(text, room)
    else:
        for part in breaks[0].findall(text):
            yield from _pieces(part, room, breaks[1:])
