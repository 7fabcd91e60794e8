"""Reads the JSON in the answer of a language model; json-repair repairs what is not valid JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from arbitre.corpus.reading import strict_json
from arbitre.errors import DataError, OptionError, did_you_mean, shown

if TYPE_CHECKING:
    from types import ModuleType

    from arbitre.values import Json

Strictness = Literal["strict", "embedded", "lenient"]
STRICTNESSES: Final[tuple[str, ...]] = get_args(Strictness)

FENCE: Final = "code fence"
AROUND: Final = "text around the JSON"
TEXT: Final = "JSON in a text"
DAMAGE: Final = "damage"

_FENCE: Final = re.compile(r"```[\w-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING: Final = re.compile(r"""\{(?=\s*(?:["'}\w]|\Z))|\[(?=\s*(?:[\[{"'\]\d-]|true\b|false\b|null\b|\Z))""")
_BRACKET: Final = re.compile(r"[\[\]{}]")
_THOUGHT: Final = re.compile(r"<think(ing)?>.*?</think(ing)?>", re.DOTALL)
_MORE: Final = "Multiple top-level"
"""Start of json-repair's strict-mode error for text after the JSON."""

_DECODER: Final = json.JSONDecoder()


class Repair(NamedTuple):
    """One thing that was done to read an answer that is not valid JSON.

    Attributes:
        kind: "code fence" or "text around the JSON" (removed), or "damage" (invalid JSON was repaired).
        detail: What was removed, or where the JSON is invalid.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON value in the answer of a language model.

    Attributes:
        value: The value.
        repairs: What was done to read it, in order; empty if the answer is valid JSON.
    """

    value: Json
    repairs: tuple[Repair, ...] = ()


def read_answer(text: str | bytes, *, strictness: Strictness = "lenient") -> Answer:
    r"""Read the JSON value in the answer of a language model, as `--lenient` does.

    Valid JSON is parsed strictly. Otherwise `<think>` blocks are removed, and parsing starts at the first bracket of
    the only code fence, or of the text. json-repair then repairs missing and extra brackets and quotes, commas,
    comments, Python literals and truncated ends. Values that JSON does not define (NaN, duplicate keys) are not
    repaired: in a text that needs no repair they are rejected.

    Args:
        text: The answer.
        strictness: "lenient" reads any answer; "embedded" accepts a code fence and text around the JSON, but no invalid
            JSON; "strict" accepts valid JSON only.

    Returns:
        The value and the list of repairs.

    Raises:
        DataError: The answer contains no JSON object or array, or more than one, or needs a repair that `strictness`
            does not allow.
        OptionError: `strictness` has another value.

    >>> read_answer('Here you are:\n```json\n{"name": "Ada"}\n```').value
    {'name': 'Ada'}
    >>> read_answer("{'names': ['Ada', 'Bo").repairs
    (Repair(kind='damage', detail='line 1, column 2: Expecting property name enclosed in double quotes'),)
    """
    return _read(text, strictness=strictness)


def parse(
    text: str | bytes, *, file: str | None = None, line: int | None = None, max_depth: int = strict_json.MAX_DEPTH
) -> tuple[Json, str | None]:
    """Read the answer in a source, as `read_answer` does.

    Args:
        text: The answer.
        file: File of the text, for errors.
        line: Line of the text in that file, for errors.
        max_depth: Maximum number of nested containers.

    Returns:
        The value and the kind of the last repair; None for valid JSON.

    Raises:
        DataError: As for `read_answer`.
    """
    answer = _read(text, file=file, line=line, max_depth=max_depth)
    return answer.value, answer.repairs[-1].kind if answer.repairs else None


def _read(
    text: str | bytes,
    *,
    strictness: Strictness = "lenient",
    file: str | None = None,
    line: int | None = None,
    max_depth: int = strict_json.MAX_DEPTH,
) -> Answer:
    if strictness not in STRICTNESSES:
        raise OptionError.of(
            f"Expected `strictness` to be {', '.join(STRICTNESSES)}, got {strictness!r}",
            hint=did_you_mean(str(strictness), STRICTNESSES),
        )
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
    body, repairs = _body(plain, refused)
    end = _whole(body)
    if isinstance(end, str):
        damage = Repair(DAMAGE, end)
        if strictness == "embedded":
            raise DataError.of(
                f"Expected valid JSON in the text, got an error in {damage.detail}",
                file=file,
                line=line,
                hint='Use strictness="lenient" to repair it.',
            )
        return Answer(_repaired(body, refused, max_depth), (*repairs, damage))
    if _BRACKET.search(body, end):
        raise _several(refused)
    if body[end:].strip() and (not repairs or repairs[-1].kind == AROUND):
        repairs.append(_removed(AROUND, body[end:]))
    return Answer(strict_json.parse(body[:end], file=file, line=line, max_depth=max_depth), tuple(repairs))


def _body(text: str, refused: DataError) -> tuple[str, list[Repair]]:
    """Return the part of a text that starts with the JSON, and what was removed before it."""
    repairs = [_removed(AROUND, thought[0]) for thought in _THOUGHT.finditer(text)]
    text = _THOUGHT.sub("", text)
    fenced = [(fence[1], FENCE) for fence in _FENCE.finditer(text)]
    parts = [
        (body, start.start(), kind) for body, kind in fenced or [(text, AROUND)] if (start := _OPENING.search(body))
    ]
    if len(parts) > 1:
        raise _several(refused)
    if not parts:
        raise refused
    body, offset, kind = parts[0]
    if kind == FENCE or body[:offset].strip():
        repairs.append(_removed(kind, text if kind == FENCE else body[:offset]))
    return body[offset:], repairs


def _removed(kind: str, text: str) -> Repair:
    return Repair(kind, shown(text.strip()))


def _whole(body: str) -> int | str:
    """Return the end of the JSON value at the start of a text, or where and why it is not valid."""
    try:
        return _DECODER.raw_decode(body)[1]
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return str(error)


def _repaired(body: str, refused: DataError, max_depth: int) -> Json:
    json_repair = _library()
    closed = body[: max(body.rfind("}"), body.rfind("]")) + 1]
    try:
        json_repair.loads(closed, skip_json_loads=True, strict=True)
    except (ValueError, RecursionError) as error:
        if _MORE in str(error):  # otherwise json-repair would return only the last value
            raise _several(refused) from None
    try:
        value = json_repair.loads(body, skip_json_loads=True)
    except (ValueError, RecursionError):
        raise refused from None
    if isinstance(value, list) and body.startswith("{"):
        raise _several(refused)
    if not isinstance(value, (dict, list)) or not value:
        raise refused
    try:
        return strict_json.parse(json.dumps(value), max_depth=max_depth)
    except DataError as error:
        raise error.located(file=refused.file, line=refused.line) from None


def _several(refused: DataError) -> DataError:
    return DataError.of(
        "Expected one JSON value in the text, got more than one",
        file=refused.file,
        line=refused.line,
        hint="Keep only the value that is the answer.",
    )


def version() -> str:
    """Return the version of json-repair. Raises DataError if it is not installed."""
    _library()
    return metadata.version("json-repair")


def _library() -> ModuleType:
    try:
        import json_repair  # noqa: PLC0415  (an extra)
    except ImportError:
        raise DataError.of(
            "json-repair is not installed; lenient reading requires it",
            hint="pip install 'arbitre[corpus]'",
        ) from None
    return json_repair
