"""Repairs damaged JSON: in one pass where the tokens are clear, with json-repair where they are not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Final

from arbitre.errors import optional_library

if TYPE_CHECKING:
    from types import ModuleType
    from typing import SupportsIndex

    from arbitre.values import Json

TRAILING: Final = "trailing comma"
QUOTES: Final = "quotes"
DAMAGE: Final = "damage"
TRUNCATED: Final = "truncated"
STRUCTURAL: Final = "structural"
SEVERITY: Final = (TRAILING, QUOTES, DAMAGE, TRUNCATED, STRUCTURAL)
"""Kinds of damage, in the order in which repairs are listed."""

LONGEST: Final = 200_000
"""Maximum number of characters that are passed to json-repair: it copies long texts once per character."""

READS: Final = 10
"""Maximum number of characters that json-repair may read, per character of its text; with usual damage, it reads 2."""

FREE_READS: Final = 10_000
"""Characters that json-repair may read in addition, in a text of any length."""

_TOKEN: Final = re.compile(
    r"""\s*+(?:
        (?P<text>"(?:[^"\\]|\\.)*+(?P<end>")?(?:\\\Z)?)
      | (?P<mark>[]{}[(),:])
      | (?P<word>[\w.+-]++)
      | (?P<comment>//[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
      | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_KEY_END: Final = re.compile(r"""(?<!\\)["'”]\s*+:""")
_NEXT: Final = re.compile(r"\s*+(.?)", re.DOTALL)
_UNTIL: Final = {
    '"': re.compile(r'(?:[^"\\]|\\.)*+(")?(?:\\\Z)?', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]|\\.)*+(')?(?:\\\Z)?", re.DOTALL),
    "“": re.compile(r"(?:[^”\\]|\\.)*+(”)?(?:\\\Z)?", re.DOTALL),
}
"""The rest of a text, by its opening quote."""

_MARKS: Final = re.compile(r"[]{}[:,]")
_SWALLOWED: Final = re.compile(r"""\A\s*+[]}[{:,]|(?<!\\)"\s*+[]}:,]""")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*+')
_CHANGED: Final = re.compile(r'\\u[0-9a-fA-F]{4}|\\.|["\x00-\x1f]', re.DOTALL)
_CUT_ESCAPE: Final = re.compile(
    r"((?:\A|[^\\])(?:\\\\)*+)(?:\\u[dD][89abAB][0-9a-fA-F]{2})?+(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z"
)
"""Incomplete escape at the end of a text that is cut off, including the first half of a surrogate pair."""
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_LITERALS: Final = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_CONSTANTS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_OPENER: Final = {"}": "{", "]": "[", ")": "("}
_CLOSER: Final = {"{": "}", "[": "]", "(": "]"}

Structure = list[tuple[int, str | bool]]
"""Keys, objects (True) and lists (False) in their order, each with its depth."""


@dataclass(slots=True)
class DamagedValue:
    """A JSON object or list in a text that is not valid JSON.

    Attributes:
        text: The whole text.
        start: Position of the opening bracket.
        limit: Position before which the value ends.
        max_depth: Maximum number of nested containers.
        end: Position after the value.
        closed: Whether the opening bracket is closed.
        deep: Whether there are more than `max_depth` nested containers; the rest was not read.
        clear: Whether `json` is the only plausible interpretation. If not, json-repair has to guess.
        damage: Position of the first damage of each kind.
        structure: Keys and containers in the text.
    """

    text: str
    start: int
    limit: int
    max_depth: int
    end: int = 0
    closed: bool = False
    deep: bool = False
    clear: bool = True
    damage: dict[str, int] = field(default_factory=dict)
    structure: Structure = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _state: str = "value"
    _comma: bool = False
    _reclosed: bool = False

    def __post_init__(self) -> None:
        """Read the tokens up to the bracket that closes the first one, in linear time."""
        self.end = self.start
        while self.end < self.limit and not self.closed and not self.deep:
            token = _TOKEN.match(self.text, self.end, self.limit)
            if token is None:  # only white space is left
                break
            kind, self.end = str(token.lastgroup), token.end()
            if kind in {"text", "end"}:
                self._quoted('"', token.start("text"), ended=token["end"] is not None)
            elif kind == "mark":
                self._mark(token["mark"], token.end() - 1)
            elif kind == "word":
                self._word(token["word"], token.start("word"))
            elif kind == "comment":
                self._note(DAMAGE, token.start("comment"))
            elif token["other"] in _UNTIL and self._state in {"key", "value"}:
                rest = _UNTIL[token["other"]].match(self.text, self.end, self.limit)
                self.end = rest.end() if rest else self.end
                self._note(QUOTES, token.start("other"))
                self._quoted(token["other"], token.start("other"), ended=rest is not None and rest[1] is not None)
            else:
                self._unclear(token.start("other"))
        if not self.closed:
            self.end = self.limit
            self._note(TRUNCATED, self.limit)

    @property
    def json(self) -> str:
        """The repaired text; see `clear`."""
        missing = ["null"] if self._state == "value" and self._open[-1:] == ["{"] else []
        return "".join((*self._pieces, *missing, *(_CLOSER[bracket] for bracket in reversed(self._open))))

    def _note(self, kind: str, position: int) -> None:
        self.damage.setdefault(kind, position)

    def _unclear(self, position: int, kind: str = DAMAGE) -> None:
        self.clear = False
        self._note(kind, position)

    def _emit(self, piece: str, state: str) -> None:
        self._pieces.append("," + piece if self._comma else piece)
        self._comma, self._state = False, state

    def _value(self, piece: str, position: int, state: str = "comma") -> None:
        """Write a value, or the bracket that opens one."""
        if self._state == "comma" and self._open[-1] != "{":  # a comma is missing between two items
            self._comma = True
            self._note(DAMAGE, position)
        elif self._state != "value":
            self._unclear(position)
        self._emit(piece, state)

    def _key(self, key: str, position: int) -> None:
        """Write a key; the colon follows it."""
        self.structure.append((len(self._open), key))
        if self._reclosed:  # the bracket may be missing in another place: above or below this key
            self._note(STRUCTURAL, position)
        if self._open[-1] != "{":
            self._unclear(position)
        elif self._state == "comma":  # a comma is missing between two fields
            self._comma = True
            self._note(DAMAGE, position)
        elif self._state != "key":
            self._unclear(position)
        self._emit(json.dumps(key, ensure_ascii=False) + ":", "value")

    def _after(self, position: int) -> tuple[str, int]:
        """Return the next character that is not white space, or "" at the end, and the position after it."""
        found = _NEXT.match(self.text, position, self.limit)
        return (found[1], found.end()) if found else ("", position)

    def _colon(self) -> bool:
        """Skip a colon, if it is next."""
        after, end = self._after(self.end)
        if after == ":":
            self.end = end
        return after == ":"

    def _quoted(self, quote: str, start: int, *, ended: bool) -> None:
        """Read a text that starts with a quote. Quotes within it may lack their backslash."""
        if ended and self.clear:
            ended = self._find_end(quote, start)
        content = self.text[start + 1 : self.end - ended]
        if not ended:
            content = _CUT_ESCAPE.sub(r"\1", content)
            if _SWALLOWED.search(content):  # its quote may be an apostrophe, or the end of another text
                self._unclear(start, QUOTES)
        text = self._escaped(content, quote, start)
        if ended and self._colon():
            self._key(_decoded(text), start)
        elif self._state != "key" or _MARKS.search(content) or (ended and self._after(self.end)[0]):
            self._value(text, start)
        # otherwise, the text is cut off within or after a key, which has no value

    def _find_end(self, quote: str, start: int) -> bool:
        """Move the end of a text to the quote that ends it, if an earlier one does not. Returns True."""
        closing = {",", "]", "}", ")", "", "/", "#"}
        after = self._after(self.end)[0]
        if after in closing or after == ":" or after in _UNTIL:
            return True
        end = self.end
        while rest := _UNTIL[quote].match(self.text, end, self.limit):
            if rest[1] is None:
                break
            before = self.text[end : rest.end() - 1].rstrip()[-1:]
            end = rest.end()
            after = self._after(end)[0]
            if before in {",", ":", "[", "{", "("} or after == ":":  # the quote opens another text, or ends a key
                break
            if after in closing and self._state == "value":
                self._note(QUOTES, self.end - 1)
                self.end = end
                return True
        self._unclear(self.end - 1, QUOTES)
        self._note(QUOTES, start)
        return True

    def _escaped(self, content: str, quote: str, position: int) -> str:
        """Return the JSON text of the content between two quotes."""
        if _PLAIN.fullmatch(content):
            return f'"{content}"'

        def escaped(found: re.Match[str]) -> str:
            part = found[0]
            if part in {"\\" + quote, "\\'"} and part != '\\"':
                return part[1:]
            if len(part) > 2 or (len(part) == 2 and part[1] in '"\\/bfnrt'):  # noqa: PLR2004
                return part
            if part != '"':
                self._note(DAMAGE, position)  # a control character, or a backslash that escapes nothing
            return json.dumps(part)[1:-1] if len(part) == 1 else "\\\\" + part[1:]

        return f'"{_CHANGED.sub(escaped, content)}"'

    def _word(self, word: str, position: int) -> None:
        """Read a literal, a number or a key without quotes."""
        if self._state == "key" and self._open[-1] == "{" and self._colon():
            self._note(QUOTES, position)
            self._key(word, position)
        elif word in _LITERALS or word in _CONSTANTS or _NUMBER.fullmatch(word):
            if _LITERALS.get(word, word) != word:
                self._note(DAMAGE, position)
            self._value(_LITERALS.get(word, word), position)
        elif self.end < self.limit or self._state == "comma":
            self._unclear(position)
        elif self._state == "value":  # the last word, cut off: a number that is not complete is left out
            whole = [literal for literal in _LITERALS if literal.startswith(word)]
            if whole:
                self._value(_LITERALS[whole[0]], position)
            elif not word.strip("0123456789.+-eE"):
                self._note(TRUNCATED, position)
            else:
                self._unclear(position)

    def _mark(self, mark: str, position: int) -> None:
        if mark in _CLOSER and (mark != "(" or self._state == "value"):
            if mark == "(":
                self._note(DAMAGE, position)
            self._value("[" if mark == "(" else mark, position, "key" if mark == "{" else "value")
            self._open.append(mark)
            self.structure.append((len(self._open), mark == "{"))
            self.deep = len(self._open) > self.max_depth
        elif mark in _OPENER:
            self._close(mark, position)
        elif mark == "," and self._state == "comma":
            self._comma, self._state = True, "key" if self._open[-1] == "{" else "value"
        else:
            self._unclear(position)
            if mark == ":":  # of a key that is not recognised
                self._note(STRUCTURAL, position)

    def _close(self, mark: str, position: int) -> None:
        if _OPENER[mark] not in self._open:
            self._unclear(position)
            return
        if self._comma:
            self._note(TRAILING, position)
        elif self._state == "value" and self._open[-1] == "{":
            self._note(DAMAGE, position)
            self._emit("null", "comma")  # a key without a value
        while self._open[-1] != _OPENER[mark]:  # a bracket is missing
            self._note(DAMAGE, position)
            self._reclosed = True
            self._pieces.append(_CLOSER[self._open.pop()])
        self._pieces.append(_CLOSER[self._open.pop()])
        self._comma, self._state, self.closed = False, "comma", not self._open


class BudgetError(Exception):
    """json-repair exceeded the limit of characters to read."""


class _CountedText(str):
    """A text of which json-repair can read a limited number of characters."""

    __slots__ = ("reads",)
    reads: list[int]

    def __new__(cls, text: str, reads: list[int]) -> _CountedText:  # noqa: PYI034
        counted = super().__new__(cls, text)
        counted.reads = reads
        return counted

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        part = super().__getitem__(at)
        self.reads[0] -= len(part)
        if self.reads[0] < 0:
            raise BudgetError
        return part if isinstance(at, int) else _CountedText(part, self.reads)

    def __add__(self, other: str) -> str:
        return _CountedText(super().__add__(other), self.reads)


def guess(text: str) -> Json:
    """Repair a text with json-repair.

    Raises:
        BudgetError: The text is too long, or its repair takes too long.
        ValueError: json-repair found no value.
    """
    if len(text) > LONGEST:
        raise BudgetError
    counted = _CountedText(text, [READS * len(text) + FREE_READS])
    value: Json = _library().loads(counted, skip_json_loads=True)
    return value


def structure(value: Json) -> Structure:
    """Return the keys and containers of a value.

    >>> structure({"a": [{"b": 1}]})
    [(1, True), (1, 'a'), (2, False), (3, True), (3, 'b')]
    """
    found: Structure = []
    pending: list[tuple[int, Json, str | None]] = [(1, value, None)]
    while pending:
        depth, item, key = pending.pop()
        if key is not None:
            found.append((depth - 1, key))
        if isinstance(item, dict):
            found.append((depth, True))
            pending.extend((depth + 1, item[key], key) for key in reversed(item))
        elif isinstance(item, list):
            found.append((depth, False))
            pending.extend((depth + 1, part, None) for part in reversed(item))
    return found


def keeps_structure(damaged: DamagedValue, value: Json) -> bool:
    """Return whether a repaired value has every key of a damaged one at its depth.

    Brackets at the end of a truncated text may be missing. Keys that lack a quote may be hidden in the damaged text, so
    there must not be more quotes before colons than keys.
    """
    repaired = structure(value)
    keys = sum(isinstance(name, str) for _, name in repaired)
    hidden = sum(1 for _ in _KEY_END.finditer(damaged.text, damaged.start, damaged.end))
    if damaged.closed:
        return keys >= hidden and repaired == damaged.structure
    size = max(map(_size_without_end, (repaired, damaged.structure)))
    same_end = all(one == other for one, other in zip(repaired[size:], damaged.structure[size:], strict=False))
    return keys >= hidden and repaired[:size] == damaged.structure[:size] and same_end


def _size_without_end(structure: Structure) -> int:
    size = len(structure)
    while size and isinstance(structure[size - 1][1], bool):
        size -= 1
    return size


def _decoded(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]


def version() -> str:
    """Return the version of json-repair. Raises DataError if it is not installed."""
    _library()
    return metadata.version("json-repair")


def _library() -> ModuleType:
    with optional_library("json-repair", "corpus", "Lenient reading"):
        import json_repair  # noqa: PLC0415  (an extra)
    return json_repair
