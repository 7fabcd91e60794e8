"""Changes single values in a JSON text and leaves every other character as it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.values import Json

Operation = Literal["add", "replace", "remove"]

_DECODER: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
"""Finds the end of a value; numbers are not converted."""

_SPACE: Final = re.compile(r"[ \t\n\r\ufeff]*")
_INDENTED: Final = re.compile(r"[\[{](\r?\n)([ \t]+)")
_SPACED: Final = re.compile(r'"\s*: ')


class Edit(NamedTuple):
    """One change of a JSON text, as an operation of a JSON Patch (RFC 6902).

    Attributes:
        op: What is done.
        tokens: Path of the value: keys and positions. For "add", the last token is a new key, or "-" for the end of a
            list.
        value: The new value; not used by "remove".
    """

    op: Operation
    tokens: tuple[str, ...]
    value: Json = None


class Part(NamedTuple):
    """Where an item of a list, or a field of an object with its key, is in a text.

    Attributes:
        token: Its position or key.
        begin: First character.
        start: First character of the value; the same as `begin` for an item.
        end: End of the value.
    """

    token: str
    begin: int
    start: int
    end: int


class Container(NamedTuple):
    """Where a list or an object is in a text: its brackets, and its parts."""

    start: int
    close: int
    parts: tuple[Part, ...]


def edited(text: str, edits: Iterable[Edit]) -> str:
    r"""Return a valid JSON text after some changes, which are made one after the other.

    A new value is written like its surroundings: with or without spaces, line breaks and escapes for non-ASCII letters.

    Raises:
        LookupError: The text has no value at a path, or the path of a new field is taken.

    >>> edited('{"a": 1.50,  "b": [1,2]}', [Edit("replace", ("b", "0"), 7), Edit("add", ("b", "-"), "x")])
    '{"a": 1.50,  "b": [7,2,"x"]}'
    >>> edited('{\n  "a": 1,\n  "b": 2\n}', [Edit("remove", ("a",))])
    '{\n  "b": 2\n}'
    """
    for edit in edits:
        text = _changed(text, edit)
    return text


def container(text: str, at: int = 0) -> Container:
    """Return the parts of the list or the object at a position of a text. Raises LookupError if it is a scalar."""
    at = _skip(text, at)
    if text[at] not in "[{":
        raise LookupError(text[at])
    keyed, parts = text[at] == "{", list[Part]()
    place = _skip(text, at + 1)
    while text[place] not in "]}":
        begin, token = place, str(len(parts))
        if keyed:
            token, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        end = _DECODER.raw_decode(text, place)[1]
        parts.append(Part(token, begin, place, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return Container(at, place, tuple(parts))


def _skip(text: str, at: int) -> int:
    """Return the position of the next character that is not white space."""
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _changed(text: str, edit: Edit) -> str:
    """Return a text with one change."""
    if not edit.tokens:
        if edit.op != "replace":
            raise LookupError("")
        start = _skip(text, 0)
        return text[:start] + _Style.of(text).written(edit.value) + text[_DECODER.raw_decode(text, start)[1] :]
    *above, last = edit.tokens
    within = container(text)
    for token in above:
        within = container(text, _part(within, token).start)
    if edit.op == "add":
        return _added(text, within, last, edit.value)
    part = _part(within, last)
    if edit.op == "remove":
        return _removed(text, within, part)
    new = _Style.of(text).written(edit.value, _indentation(text[: part.start]))
    return text[: part.start] + new + text[part.end :]


def _part(within: Container, token: str) -> Part:
    """Return the part with a token. Raises LookupError if there is none."""
    found = next((part for part in within.parts if part.token == token), None)
    if found is None:
        raise LookupError(token)
    return found


def _removed(text: str, within: Container, part: Part) -> str:
    """Return a text without a part and the comma beside it."""
    at = within.parts.index(part)
    if at + 1 < len(within.parts):
        return text[: part.begin] + text[within.parts[at + 1].begin :]
    if at:
        return text[: within.parts[at - 1].end] + text[part.end :]
    return text[: within.start + 1] + text[within.close :]


def _added(text: str, within: Container, token: str, value: Json) -> str:
    """Return a text with a new part at the end of a container."""
    style, parts, keyed = _Style.of(text), within.parts, text[within.start] == "{"
    if token in {part.token for part in parts} if keyed else token != "-":  # noqa: S105
        raise LookupError(token)
    tail, end = "", within.close
    if len(parts) > 1:
        lead = text[parts[-2].end : parts[-1].begin]
    elif parts:
        lead = "," + (text[within.start + 1 : parts[0].begin] or " " * style.spaced)
    else:
        tail = style.newline + _indentation(text[: within.start]) if style.unit else ""
        lead = tail + style.unit
    begin = parts[-1].end if parts else within.start + 1
    name = f"{style.written(token)}:{' ' * style.spaced}" if keyed else ""
    new = style.written(value, _indentation(text[:begin] + lead))
    return text[:begin] + lead + name + new + (tail + text[end:] if not parts else text[begin:])


def _indentation(text: str) -> str:
    """Return the white space at the beginning of the last line of a text."""
    line = text[text.rfind("\n") + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


class _Style(NamedTuple):
    """How a JSON text is written.

    Attributes:
        unit: Indentation of one level; "" if the text is not indented.
        newline: Line break.
        spaced: Whether a space follows colons, and commas in a line.
        ascii: Whether other characters are escaped.
    """

    unit: str
    newline: str
    spaced: bool
    ascii: bool

    @classmethod
    def of(cls, text: str) -> _Style:
        """Return the style of a text."""
        indented = _INDENTED.search(text)
        newline, unit = indented.groups() if indented else ("\n", "")
        return cls(unit, newline, _SPACED.search(text) is not None, text.isascii() and "\\u" in text)

    def written(self, value: Json, indentation: str = "") -> str:
        """Return a value as text; `indentation` is that of its line."""
        comma = "," if self.unit or not self.spaced else ", "
        whole = json.dumps(
            value,
            ensure_ascii=self.ascii,
            allow_nan=False,
            indent=self.unit or None,
            separators=(comma, ": " if self.spaced else ":"),
        )
        return whole.replace("\n", self.newline + indentation)
