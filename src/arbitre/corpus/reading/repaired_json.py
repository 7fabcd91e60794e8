"""Lenient JSON parser for the output of language models, based on json-repair."""

from __future__ import annotations

import json
import re
from importlib import metadata
from typing import TYPE_CHECKING, Final

from arbitre.corpus.reading import strict_json
from arbitre.errors import DataError

if TYPE_CHECKING:
    from types import ModuleType

    from arbitre.values import Json

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


def parse(
    text: str | bytes, *, file: str | None = None, line: int | None = None, max_depth: int = strict_json.MAX_DEPTH
) -> tuple[Json, str | None]:
    r"""Parse a text that contains JSON, and repair it if necessary.

    Valid JSON is parsed strictly. Otherwise `<think>` blocks are removed, and parsing starts at the first bracket of
    the only code fence, or of the text. json-repair repairs missing and extra brackets and quotes, commas, comments
    and truncated ends. Values that JSON does not define (NaN, duplicate keys) are not repaired: in a text that needs
    no repair they are rejected, as by `strict_json.parse`.

    Args:
        text: The text.
        file: File of the text, for errors.
        line: Line of the text in that file, for errors.
        max_depth: Maximum number of nested containers.

    Returns:
        The value and the kind of repair; None for valid JSON.

    Raises:
        DataError: A value is rejected, or the text contains no JSON object or array, or more than one.

    >>> parse('Here you are:\n```json\n{"name": "Ada"}\n```')
    ({'name': 'Ada'}, 'code fence')
    >>> parse('{"names": ["Ada", "Bo')
    ({'names': ['Ada', 'Bo']}, 'damage')
    """
    try:
        return strict_json.parse(text, file=file, line=line, max_depth=max_depth), None
    except DataError as error:
        if error.pointer is not None:  # valid syntax, but a rejected value
            raise
        refused = error
    try:
        plain = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise refused from None
    body, how = _body(plain, refused)
    end = _whole(body)
    if end is None:
        value, how = _repaired(body, refused, max_depth), DAMAGE
    elif _BRACKET.search(body, end):
        raise _several(refused)
    else:
        value = strict_json.parse(body[:end], file=file, line=line, max_depth=max_depth)
    return value, how


def _body(text: str, refused: DataError) -> tuple[str, str]:
    """Return the part of a text that starts with the JSON, and how it was found."""
    text = _THOUGHT.sub("", text)
    fenced = [(found[1], FENCE) for found in _FENCE.finditer(text)]
    parts = [
        (body[start.start() :], how) for body, how in fenced or [(text, AROUND)] if (start := _OPENING.search(body))
    ]
    if len(parts) > 1:
        raise _several(refused)
    if not parts:
        raise refused
    return parts[0]


def _whole(body: str) -> int | None:
    """Return the end of the JSON value at the start of a text; None if the value is damaged."""
    try:
        return _DECODER.raw_decode(body)[1]
    except (ValueError, RecursionError):
        return None


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
