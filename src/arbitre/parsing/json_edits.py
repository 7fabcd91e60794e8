"""Changes single values in a JSON text and leaves every other character as it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
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
    r"""Return a valid JSON text after some changes.

    Positions in paths are those in the original text. Values that earlier edits add can be changed as well.

    A new value is written like its surroundings: with or without spaces, line breaks and escapes for non-ASCII letters.

    Raises:
        LookupError: The text has no value at a path, or the path of a new field is taken.

    >>> edited('{"a": 1.50,  "b": [1,2]}', [Edit("replace", ("b", "0"), 7), Edit("add", ("b", "-"), "x")])
    '{"a": 1.50,  "b": [7,2,"x"]}'
    >>> edited('{\n  "a": 1,\n  "b": 2\n}', [Edit("remove", ("a",))])
    '{\n  "b": 2\n}'
    """
    style, start = _Style.of(text), _skip(text, 0)
    end = _DECODER.raw_decode(text, start)[1]
    indentation = _indentation(text[:start])
    whole = _EditedPart("", "", text[start:end], indentation, indentation)
    for edit in edits:
        if not edit.tokens and edit.op != "replace":
            raise LookupError("")
        part = whole
        for token in edit.tokens[: -1 if edit.op == "add" else None]:
            part = part.opened().part(token)
        if edit.op == "add":
            part.opened().add(edit.tokens[-1], edit.value, style)
        else:
            part.value = None if edit.op == "remove" else style.written(edit.value, part.indentation)
    texts, pending = list[str](), [text[end:], whole.value, text[:start]]
    while pending:
        if isinstance(piece := pending.pop(), _EditedContainer):
            pending += reversed(piece.pieces())
        else:
            texts.append(str(piece))
    return "".join(texts)


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


@dataclass(slots=True)
class _EditedPart:
    """A part of a container that is edited.

    Attributes:
        lead: Text between the previous part, or the opening bracket, and this part.
        name: Its key with the colon; "" for an item.
        value: Its value: a text, or a container in which something is edited; None if it is removed.
        indentation: That of the line where the value begins.
        end_indentation: That of the line where the value ends.
    """

    lead: str
    name: str
    value: str | _EditedContainer | None
    indentation: str
    end_indentation: str

    def opened(self) -> _EditedContainer:
        """Return the value as a container. Raises LookupError if it is a scalar."""
        if not isinstance(self.value, _EditedContainer):
            self.value = _EditedContainer.of(str(self.value), self.indentation)
        return self.value


@dataclass(slots=True)
class _EditedContainer:
    """A list or an object in which something is edited.

    Attributes:
        brackets: Its opening and its closing bracket.
        indentation: That of the line of the opening bracket.
        parts: All parts, also removed ones.
        tokens: The parts by position or key; the first of repeated keys.
        tail: White space before the closing bracket.
    """

    brackets: str
    indentation: str
    parts: list[_EditedPart]
    tokens: dict[str, _EditedPart]
    tail: str

    @classmethod
    def of(cls, text: str, indentation: str) -> _EditedContainer:
        """Return the container in a text."""
        within, end = container(text), 1
        edited = cls(text[0] + text[within.close], indentation, [], {}, "")
        for token, begin, start, close in within.parts:
            before = _indentation(text[end:start], indentation)
            indentation = _indentation(text[start:close], before)
            part = _EditedPart(text[end:begin], text[begin:start], text[start:close], before, indentation)
            edited.parts.append(part)
            edited.tokens.setdefault(token, part)
            end = close
        edited.tail = text[end : within.close]
        return edited

    def part(self, token: str) -> _EditedPart:
        """Return the part with a token. Raises LookupError if there is none."""
        part = self.tokens[token]
        if part.value is None:
            raise LookupError(token)
        return part

    def add(self, token: str, value: Json, style: _Style) -> None:
        """Add a part at the end. Raises LookupError if the key is taken, or the token is not that of the end."""
        keyed, parts = self.brackets == "{}", self.parts
        if token in self.tokens if keyed else token != "-":  # noqa: S105
            raise LookupError(token)
        if len(parts) > 1:
            lead = parts[-1].lead
        elif parts:
            lead = "," + (parts[0].lead or " " * style.spaced)
        else:
            self.tail = style.newline + self.indentation if style.unit else ""
            lead = self.tail + style.unit
        indentation = _indentation(lead, parts[-1].end_indentation if parts else self.indentation)
        name = f"{style.written(token)}:{' ' * style.spaced}" if keyed else ""
        part = _EditedPart(lead, name, style.written(value, indentation), indentation, indentation)
        self.tokens[token if keyed else str(len(parts))] = part
        parts.append(part)

    def pieces(self) -> list[str | _EditedContainer]:
        """Return the text in pieces. The part after removed parts takes the place of the first of these."""
        pieces: list[str | _EditedContainer] = [self.brackets[0]]
        lead = None
        for part in self.parts:
            lead = part.lead if lead is None else lead
            if part.value is not None:
                pieces += (lead, part.name, part.value)
                lead = None
        tail = self.tail if len(pieces) > 1 or not self.parts else ""
        return [*pieces, tail + self.brackets[1]]


def _indentation(text: str, before: str | None = None) -> str:
    """Return the white space at the beginning of the last line of a text that follows a line with `before`."""
    at = text.rfind("\n") + 1
    if not at and before is not None:
        return before
    line = text[at:]
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
