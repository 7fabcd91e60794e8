"""What a language model wrote around or instead of JSON, read as the JSON it means, through json-repair."""

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
"""What json-repair says, where it is strict, of text after the JSON."""

_DECODER: Final = json.JSONDecoder()


def parse(
    text: str | bytes, *, file: str | None = None, line: int | None = None, max_depth: int = strict_json.MAX_DEPTH
) -> tuple[Json, str | None]:
    r"""The value of a text that should have been JSON, and what had to be overlooked; None where nothing had.

    Read as it is where that is possible; else what stands in its only code fence, or from its first bracket on, what
    a model thought aloud (`<think>`) left out. What is damaged there (brackets and quotes that are missing or too
    many, commas, comments, an end cut off) is repaired by json-repair. Values that JSON leaves open (NaN, a key given
    twice) are no damage: in a text without damage they are refused as by `strict.parse`.

    Raises DataError for these, and where there is no JSON object or array in the text, or more than one.

    >>> parse('Here you are:\n```json\n{"name": "Ada"}\n```')
    ({'name': 'Ada'}, 'code fence')
    >>> parse('{"names": ["Ada", "Bo')
    ({'names': ['Ada', 'Bo']}, 'damage')
    """
    try:
        return strict_json.parse(text, file=file, line=line, max_depth=max_depth), None
    except DataError as error:
        if error.pointer is not None:  # well written, but refused
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
    """The part of a text that begins with the JSON."""
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
    """Where the JSON value ends with which a text begins; None where that is damaged."""
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
        if _MORE in str(error):  # otherwise the last value would be taken for the only one
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
        hint="Keep the one that is the answer.",
    )


def version() -> str:
    """The version of json-repair. Raises DataError where it is not installed."""
    _library()
    return metadata.version("json-repair")


def _library() -> ModuleType:
    try:
        import json_repair  # noqa: PLC0415  (an extra)
    except ImportError:
        raise DataError.of(
            "Expected json-repair to be installed, to read damaged texts, got none",
            hint="pip install 'arbitre[corpus]'",
        ) from None
    return json_repair
