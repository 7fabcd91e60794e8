"""Reads the JSON in the answer of a language model, and repairs it if it is damaged."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from arbitre.errors import ROOM, DataError, OptionError, clipped, did_you_mean, shown
from arbitre.parsing import damaged_json, strict_json
from arbitre.parsing.damaged_json import (
    DAMAGE,
    LONGEST,
    READS,
    SEVERITY,
    STRUCTURAL,
    TRUNCATED,
    BudgetError,
    DamagedValue,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.values import Json

Strictness = Literal["strict", "embedded", "lenient", "structural"]
STRICTNESSES: Final[tuple[str, ...]] = get_args(Strictness)

FENCE: Final = "code fence"
AROUND: Final = "text around the JSON"

_OPENING: Final = re.compile(
    r"""
    \{(?=\s*+(?:["'“}]|//|/\*|\#|[^\W\d]\w*+\s*+:|\Z))
  | \[(?=\s*+(?:["'“\]{[]|//|/\*|(?:-?\d[\w.+-]*+|true|false|null|True|False|None)\s*+(?:[],]|\Z)|\Z))
    """,
    re.VERBOSE,
)
"""Matches a bracket that may open JSON, unlike `{x}` and `[maybe]`."""

_THOUGHT: Final = re.compile(r"<(/?)think(?:ing)?>")
_FENCE_BEFORE: Final = re.compile(r"```[\w-]*+\s*+\Z")
_FENCE_AFTER: Final = re.compile(r"\s*+```")
_FENCE_LINE: Final = re.compile(r"\n[ \t]*+```[ \t]*+(?:\r?\n|\Z)")
_ROOM: Final = 40
"""Number of characters before a value that are searched."""
_MORE_KEYS: Final = re.compile(r"""\s*+[]}\s]*+,\s*+"(?:[^"\\]|\\.)*+"\s*+:""", re.DOTALL)
"""Matches further fields after the end of a value: one of its brackets is too many, or one is missing before it."""

MAX_DAMAGED: Final = 100
"""Maximum number of damaged values in a text; for each one, the lines before it are counted."""

_KEY_BEFORE: Final = re.compile(r'(?:"\s*+:|,)\s*+\Z')
_CLOSING: Final = re.compile(r"\s*+[]}]")
_CLOSED_LATER: Final = re.compile(r"\s*+:|[^][{}]*+[]}]")

_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)
"""Finds the end of a JSON value. Numbers are checked when the value is parsed strictly."""


class Repair(NamedTuple):
    """A change made to an answer in order to read it as JSON.

    Attributes:
        kind: "code fence" or "text around the JSON" (removed), or the kind of damage: "trailing comma", "quotes"
            (missing, single, or without backslash), "truncated" (the end is missing), "structural" (keys have moved or
            vanished) or "damage" (any other, such as comments, Python literals and missing commas).
        detail: What was removed, or where the JSON is invalid.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON value extracted from a language model's answer, with the repairs made.

    Attributes:
        value: The value.
        repairs: The repairs, in order; empty if the answer is valid JSON.
    """

    value: Json
    repairs: tuple[Repair, ...] = ()


def read_answer(text: str | bytes, *, strictness: Strictness = "lenient") -> Answer:
    r"""Extract the JSON value from a language model's answer, as `--lenient` does.

    Valid JSON is parsed strictly. Otherwise the answer is the longest valid JSON object or list in the text, or the
    last one of this length; values outside closed `<think>` blocks take precedence. If there is none, damaged JSON is
    repaired. Values that JSON does not define (NaN, duplicate keys) are rejected.

    Args:
        text: The answer.
        strictness: "structural" accepts any repair; "lenient" accepts no repair that moves or drops keys;
            "embedded" accepts a code fence and text around the JSON, but no invalid JSON; "strict" accepts valid JSON
            only.

    Returns:
        The value and the list of repairs.

    Raises:
        DataError: The answer is not a text, such as None if a model refused to answer, or contains no JSON object or
            array, or a damaged one beside others, or needs a repair that `strictness` does not allow or that exceeds a
            limit.
        OptionError: `strictness` has another value.

    >>> read_answer('Here you are:\n```json\n{"name": "Ada"}\n```').value
    {'name': 'Ada'}
    >>> read_answer("{'names': ['Ada', 'Bo").repairs
    (Repair(kind='quotes', detail='line 1, column 2'), Repair(kind='truncated', detail='line 1, column 22'))
    """
    check_strictness(strictness)
    if not isinstance(text, (str, bytes)):
        raise DataError.of(
            f"Expected the text of an answer, got {'none' if text is None else type(text).__name__}",
            hint="A model may return no text if it refuses to answer. Treat this as a missing prediction."
            if text is None
            else "If the value is already parsed, use it without read_answer.",
        )
    return _read(text, strictness)


def check_strictness(strictness: str) -> None:
    """Raise OptionError if a strictness is unknown."""
    if strictness not in STRICTNESSES:
        raise OptionError.of(
            f"Expected `strictness` to be a known name, got {strictness!r}",
            hint=did_you_mean(str(strictness), STRICTNESSES),
        )


def parse(
    text: str | bytes,
    *,
    file: str | None = None,
    line: int | None = None,
    max_depth: int = strict_json.MAX_DEPTH,
    strictness: Strictness = "lenient",
) -> tuple[Json, str | None]:
    """Read the answer in a source, as `read_answer` does.

    Args:
        text: The answer.
        file: File of the text, for errors.
        line: Line of the text in that file, for errors.
        max_depth: Maximum number of nested containers.
        strictness: Which repairs are accepted.

    Returns:
        The value and the kind of the last repair; None for valid JSON.

    Raises:
        DataError: As for `read_answer`.
    """
    answer = _read(text, strictness, file, line, max_depth)
    return answer.value, answer.repairs[-1].kind if answer.repairs else None


def _read(
    text: str | bytes,
    strictness: Strictness,
    file: str | None = None,
    line: int | None = None,
    max_depth: int = strict_json.MAX_DEPTH,
) -> Answer:
    try:
        return Answer(strict_json.parse(text, file=file, line=line, max_depth=max_depth))
    except DataError as error:
        if error.pointer is not None or strictness == "strict":  # valid syntax with a rejected value
            raise
        refused = error
    try:
        plain = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise refused from None
    if not plain.strip():
        raise refused
    return _AnswerText(plain, strictness, refused, max_depth).read()


class _Found(NamedTuple):
    """A JSON object or list in a text: its positions, whether it is in a closed `<think>` block, and its damage."""

    start: int
    end: int
    thought: bool
    damaged: DamagedValue | None
    error: str = ""


class _AnswerText:
    """A text that is not valid JSON as a whole."""

    def __init__(self, text: str, strictness: Strictness, refused: DataError, max_depth: int) -> None:
        self.text, self.strictness, self.refused, self.max_depth = text, strictness, refused, max_depth
        self.thoughts = list(_thoughts(text))
        self.unclosed = False

    def read(self) -> Answer:
        """Return the answer. Raises DataError."""
        found = self.choose(list(self.values()))
        if self.continues(found):
            return self.continued(found)
        repairs = self.removed(found)
        if found.damaged is not None:
            return self.repaired(found, found.damaged, repairs)
        value = self.parsed(self.text[found.start : found.end])
        return Answer(value, tuple(repairs))

    def values(self) -> Iterator[_Found]:
        """Yield the values in the text, but not those within other values. Takes linear time."""
        position = count = 0
        for first, end, thought in self.parts():
            position = max(position, first)
            while position < end and (bracket := _OPENING.search(self.text, position, end)):
                start, error, damaged = bracket.start(), "", None
                try:
                    position = _DECODER.raw_decode(self.text, start)[1]
                except (json.JSONDecodeError, RecursionError) as failed:
                    error = (
                        f"line {failed.lineno}, column {failed.colno}: {failed.msg}"
                        if isinstance(failed, json.JSONDecodeError)
                        else str(failed)
                    )
                    count += 1
                    if count > MAX_DAMAGED:
                        raise self.refusal(
                            f"Expected at most {MAX_DAMAGED} damaged JSON values in the text, got more",
                            "Keep only the value that is the answer.",
                        ) from None
                    damaged = self.damaged(start, end)
                    position = damaged.end
                yield _Found(start, position, thought and position <= end, damaged, error)

    def parts(self) -> Iterator[tuple[int, int, bool]]:
        """Yield the parts of the text with their positions, and whether they are closed `<think>` blocks."""
        position = 0
        for start, end in self.thoughts:
            yield position, start, False
            yield start, end, True
            position = end
        yield position, len(self.text), False

    def damaged(self, start: int, end: int) -> DamagedValue:
        """Return the damaged value at a bracket. If it is not closed, it ends with its code fence."""
        fence = _FENCE_LINE.search(self.text, start, end) if self.fenced(start) else None
        if fence is None or not self.unclosed:
            whole = DamagedValue(self.text, start, end, self.max_depth)
            if fence is None or whole.closed:
                return whole
            self.unclosed = True  # read each part of the text to its end once only
        return DamagedValue(self.text, start, fence.start(), self.max_depth)

    def fenced(self, start: int) -> bool:
        """Return whether a value begins a code fence."""
        return _FENCE_BEFORE.search(self.text, max(0, start - _ROOM), start) is not None

    def choose(self, values: list[_Found]) -> _Found:
        """Return the value that is the answer. Raises DataError if there is none, or if it is not clear which."""
        outside = [value for value in values if not value.thought]
        values = outside or [value for value in values if value.damaged is None]
        valid = [value for value in values if value.damaged is None]
        damaged = [value for value in values if value.damaged is not None]
        best = max(reversed(valid), key=lambda value: value.end - value.start, default=None)
        if best is not None and all(value.end - value.start <= best.end - best.start for value in damaged):
            return best
        if len(values) > 1:
            raise self.refusal(
                "Expected one JSON value in the text, got more than one, and the longest is damaged",
                "Keep only the value that is the answer.",
            )
        if not values:
            raise self.refusal("Expected valid JSON, got no JSON", "The model may have refused, or answered in prose.")
        return damaged[0]

    def removed(self, found: _Found) -> list[Repair]:
        """Return what is removed around a value."""
        outer = [thought for thought in self.thoughts if thought[1] <= found.start or thought[0] >= found.end]
        repairs = [Repair(AROUND, _start(self.text, *thought)) for thought in outer]
        before, after = self.outside(0, found.start, outer), self.outside(found.end, len(self.text), outer)
        if self.fenced(found.start) and (not after or _FENCE_AFTER.match(after)):
            return [*repairs, Repair(FENCE, shown(before + after))]
        return [*repairs, *(Repair(AROUND, shown(text)) for text in (before, after) if text)]

    def outside(self, start: int, end: int, thoughts: list[tuple[int, int]]) -> str:
        """Return the text between two positions without these `<think>` blocks."""
        parts = []
        for first, last in thoughts:
            if start <= first and last <= end:
                parts.append(self.text[start:first])
                start = last
        return "".join([*parts, self.text[start:end]]).strip()

    def repaired(self, found: _Found, damaged: DamagedValue, repairs: list[Repair]) -> Answer:
        """Repair a damaged value."""
        if self.strictness == "embedded":
            raise self.refusal(
                f"Expected valid JSON in the text, got an error in {found.error}",
                'Use strictness="lenient" to repair it.',
            )
        if damaged.deep:
            raise self.refusal(
                f"Expected at most {self.max_depth} nested containers, got more", "Flatten the document."
            )
        kinds = dict(damaged.damage)
        if damaged.clear:
            text = damaged.json
        else:
            value = self.guessed(damaged.start, damaged.end)
            text = json.dumps(value)
            first = min(kinds.values(), default=damaged.start)
            kinds.setdefault(DAMAGE, first)
            if not damaged_json.keeps_structure(damaged, value):
                kinds[STRUCTURAL] = first
        if STRUCTURAL in kinds and self.strictness != "structural":
            raise self.moved(kinds[STRUCTURAL])
        value = self.parsed(text)
        if not value and (TRUNCATED in kinds or not damaged.clear):
            raise self.refusal(self.refused.message, self.refused.hint)
        damage = (Repair(kind, self.place(kinds[kind])) for kind in SEVERITY if kind in kinds)
        return Answer(value, (*repairs, *damage))

    def continues(self, found: _Found) -> bool:
        """Return whether JSON continues after the end of a value: a bracket in it or before it is wrong."""
        if found.damaged is not None:
            return _CLOSED_LATER.match(self.text, found.end) is not None
        if _CLOSING.match(self.text, found.end) and _KEY_BEFORE.search(self.text[: found.start].rstrip()[-_ROOM:]):
            return True
        return _MORE_KEYS.match(self.text, found.end) is not None

    def continued(self, found: _Found) -> Answer:
        """Repair a value that is followed by further fields."""
        if self.strictness != "structural":
            raise self.moved(found.end)
        value = self.parsed(json.dumps(self.guessed(found.start, len(self.text))))
        removed = self.removed(found._replace(end=len(self.text)))
        return Answer(value, (*removed, Repair(STRUCTURAL, self.place(found.end))))

    def guessed(self, start: int, end: int) -> Json:
        """Repair a part of the text with json-repair."""
        try:
            value = damaged_json.guess(self.text[start:end])
        except BudgetError:
            raise self.refusal(
                f"Repairing the JSON at {self.place(start)} takes too long: json-repair is limited to {LONGEST} "
                f"characters, and to reading each {READS} times on average",
                "Correct the answer, or repair it before the evaluation.",
            ) from None
        except (ValueError, RecursionError):
            raise self.refusal(self.refused.message, self.refused.hint) from None
        if not isinstance(value, (dict, list)):
            raise self.refusal(self.refused.message, self.refused.hint)
        return value

    def moved(self, position: int) -> DataError:
        return self.refusal(
            f"Repairing the JSON would move or drop keys ({self.place(position)})",
            'Correct the answer, or accept such repairs with --repair-structure, or strictness="structural" in Python.',
        )

    def parsed(self, text: str) -> Json:
        return strict_json.parse(text, file=self.refused.file, line=self.refused.line, max_depth=self.max_depth)

    def place(self, position: int) -> str:
        line = self.text.count("\n", 0, position) + 1
        return f"line {line}, column {position - self.text.rfind(chr(10), 0, position)}"

    def refusal(self, message: str, hint: str | None) -> DataError:
        """Return an error that quotes the start of the answer."""
        start = " ".join(self.text[: 10 * ROOM].split())
        message = f"{message}; the answer starts with: {clipped(start, ROOM + 1)}"
        return DataError.of(message, file=self.refused.file, line=self.refused.line, hint=hint)


def _start(text: str, start: int, end: int) -> str:
    """Return the start of a part of a text, in quotes."""
    return shown(text[start:end].lstrip()[: 2 * ROOM].rstrip())


def _thoughts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of the closed `<think>` blocks. If the first tag ends a block, the prompt opened it."""
    opened: int | None = 0
    for number, tag in enumerate(_THOUGHT.finditer(text)):
        if tag[1] and opened is not None:
            yield opened, tag.end()
            opened = None
        elif not tag[1] and (opened is None or number == 0):
            opened = tag.start()
