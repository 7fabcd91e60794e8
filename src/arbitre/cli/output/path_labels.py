"""Format paths and texts from data for terminals: escape invisible characters, wrap long paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, chop_cells

from arbitre.paths import nesting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_INDENT: Final = "  "
_BREAKS: Final = tuple(map(re.compile, (r"/[^/]*(?:/\*(?![^/]))*|^[^/]+", r"/[^/]*|^[^/]+", r"[^_.-]*[_.-]+|[^_.-]+")))
"""Break patterns in order of preference: before a `/` (but not before `/*`), before any `/`, after `_`, `-` or `.`."""

_WORDS: Final = re.compile(r"(?:[^\s/_.-]|\.(?=\d))*(?:[\s/_-]|\.(?!\d))+|(?:[^\s/_.-]|\.(?=\d))+")
"""Words, each with the separators after it; a decimal point is part of a word."""


def escape_hidden(text: str) -> str:
    r"""Return the text with invisible characters, such as escape codes, written as escapes.

    >>> escape_hidden("Zoé\x1b[2J")
    'Zoé\\x1b[2J'
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def nested_labels(paths: Iterable[str], room: int) -> Iterator[str]:
    r"""Yield a label per path, indented under its nearest parent; long labels are broken before a `/`.

    A name longer than `room` is broken after `_`, `-` or `.`, or else anywhere.

    >>> list(nested_labels(["/pages/*", "/pages/*/name", "/year"], 40))
    ['/pages/*', '  /name', '/year']
    >>> list(nested_labels(["/pages/*/first_name"], 12))
    ['/pages/*\n  /first_\n  name']
    """
    for label, indent in _below(paths):
        yield _broken(label, indent, room)


def wrapped(text: str, room: int) -> str:
    r"""Break a text between words into lines that fit `room`; only a word that is longer is broken.

    >>> wrapped("gemini-2.5-pro-preview", 12)
    'gemini-2.5-\npro-preview'
    """
    lines = [""]
    for piece in _pieces(text, room, (_WORDS,)):
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def longest_word(text: str) -> int:
    """Return the width of the longest part that `wrapped` does not break."""
    return max((cell_len(piece.rstrip()) for piece in _WORDS.findall(text)), default=0)


def fits_unbroken(paths: Iterable[str], room: int) -> bool:
    """Return whether `nested_labels` leaves every name unbroken."""
    names = ((name, indent) for label, indent in _below(paths) for name in escape_hidden(label).split("/")[1:])
    return all(cell_len(f"{indent}{_INDENT}/{name}") <= room for name, indent in names)


def _below(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each path relative to its nearest parent, and its indent."""
    return ((part or "(the whole)", _INDENT * depth) for _, part, depth in nesting(paths))


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
