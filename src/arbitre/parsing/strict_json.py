"""Strict JSON parser: rejects everything that RFC 8259 leaves undefined, and reports its location."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from arbitre import values
from arbitre.errors import DataError, Problem, clipped, unreadable
from arbitre.parsing.fast_json import count_values, json_size, outside_strings, parse_strictly
from arbitre.parsing.json_form import json_form
from arbitre.paths import pointer
from arbitre.values import MAX_BYTES, MAX_VALUES, check_depth, check_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from arbitre.paths import Path as Tokens
    from arbitre.values import Json

MAX_DEPTH: Final = values.MAX_DEPTH
"""Default maximum number of nested containers: the maximum that comparisons accept."""

_BOM: Final = "\ufeff"
_BLANK: Final = " \t\r\n"
_SHOWN: Final = 40

_LONE: Final = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")

_STEP: Final = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")] = 1
_STEP[list(b"]}")] = -1


def parse(text: str | bytes, *, file: str | None = None, line: int | None = None, max_depth: int = MAX_DEPTH) -> Json:
    r"""Parse a JSON text. A byte order mark is ignored.

    Args:
        text: The JSON text.
        file: File of the text, for errors.
        line: Line of the text in that file, for errors.
        max_depth: Maximum number of nested containers (`[]` is one).

    Raises:
        DataError: The text is empty, is not valid UTF-8 or JSON, or continues after the value; it has more than
            `max_depth` nested containers, duplicate keys in an object, NaN, an infinity, a number beyond the largest
            double, an integer with more digits than Python converts, or a lone surrogate escape.

    >>> parse('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse('{"a": [{"b": 1, "b": 2}]}')
    Traceback (most recent call last):
    arbitre.errors.DataError: Expected each key once in an object, got 'b' 2 times at /a/0
      Keep one of the values, or rename the other keys.
    """
    try:
        return _parse(text, max_depth)
    except DataError as error:
        raise DataError(
            *(Problem(p.message, file, line or p.line, p.pointer, p.hint) for p in error.problems)
        ) from None
    except RecursionError:
        raise DataError.of(
            "The containers are nested too deeply for Python's recursion limit",
            file=file,
            line=line,
            hint=f"Lower `max_depth` (now {max_depth}), or flatten the document.",
        ) from None


def load(path: Path, *, max_depth: int = MAX_DEPTH, max_bytes: int | None = None) -> Json:
    """Parse a JSON file.

    Args:
        path: The file.
        max_depth: Maximum number of nested containers.
        max_bytes: Maximum size of a document in the file, see `check_size`; None for a file that is not a document.

    Raises:
        DataError: As for `parse`, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            text = file.read() if max_bytes is None else file.read(max_bytes + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if max_bytes is not None:
        check_size(text, file=str(path), max_bytes=max_bytes)
    return parse(text, file=str(path), max_depth=max_depth)


def check_size(
    text: str | bytes,
    *,
    file: str | None = None,
    line: int | None = None,
    max_bytes: int = MAX_BYTES,
    max_values: int = MAX_VALUES,
) -> None:
    """Check that the JSON text of a document is not too large, before it is parsed.

    Args:
        text: The text.
        file: File of the text, for errors.
        line: Line of the text in that file, for errors.
        max_bytes: Maximum size of the text, in bytes.
        max_values: Maximum number of values, lists and objects included.

    Raises:
        DataError: The text is too long, or contains too many values.

    >>> check_size('{"a": [1, 2]}', max_values=4)
    >>> check_size('{"a": [1, 2]}', max_values=3)
    Traceback (most recent call last):
    arbitre.errors.DataError: Expected at most 3 values in the document, got 4 at the root
      Split it into several documents.
    """
    if len(text) > max_bytes:
        raise _too_long(max_bytes).located(file=file, line=line)
    if len(text) <= max_values:
        return
    count = count_values(text.encode(errors="surrogatepass") if isinstance(text, str) else text, max_values)
    if count > max_values:
        raise values.too_many_values(count, "document", max_values).located(file=file, line=line)


def check_value(value: Json, what: str = "document", *, is_small: bool = False) -> None:
    """Check that a document in memory is one that a file could contain.

    Values that are not JSON are not an error here: the comparison converts or refuses them.

    Args:
        value: The document, or ABSENT.
        what: Name of the document in messages.
        is_small: Whether `values.are_small` has accepted the document; its depth is then not checked again.

    Raises:
        DataError: A text or a key has a lone surrogate, or the document is too large or nested too deeply.
    """
    if value is values.ABSENT:
        return
    if not is_small:
        check_depth(value, what)
    size = json_size(value)
    if size is None:  # look for the reason
        value = json_form(value)
        check_depth(value, what)
        if problems := list(_problems(value)):
            raise DataError(*problems)
    elif size > MAX_BYTES:
        raise _too_long(MAX_BYTES)


def _too_long(most: int) -> DataError:
    return DataError.of(
        f"Expected a document of at most {most:,} bytes, got more", pointer="", hint="Split it into several documents."
    )


def _parse(text: str | bytes, max_depth: int) -> Json:
    data = _encoded(text)
    line = _too_deep(data, max_depth)  # before decoding, which recurses
    if line is None and (value := parse_strictly(data)) is not values.ABSENT:
        return value
    text = _decoded(data)
    if line is not None:
        raise DataError.of(
            f"Expected at most {max_depth} nested containers, got more",
            line=line,
            hint="Flatten the document." if max_depth >= MAX_DEPTH else "Flatten the document, or raise `max_depth`.",
        )
    try:
        value = _decode(_STRICT, text)
    except ValueError:  # at least one value is rejected: parse again and collect all rejected values
        value = _decode(_LOCATING, text)
        raise DataError(*_problems(value)) from None
    if (r"\ud" in text or r"\uD" in text) and _LONE.search(text.replace(r"\\", "  ")):
        raise DataError(*_problems(value))
    return value


def _encoded(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError.of(
            f"Expected Unicode text, got the lone surrogate {text[error.start]!r} at position {error.start}",
            line=text.count("\n", 0, error.start) + 1,
            hint="Read the file as UTF-8, without an error handler that accepts invalid bytes.",
        ) from None


def _decoded(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        found = f"the byte 0x{data[error.start]:02x} at byte offset {error.start}"
        raise _other_encoding(data, found, error.start) from None
    if "\0" in text[:_WIDE]:
        raise _other_encoding(data, "a null character", 0)
    text = text.removeprefix(_BOM)
    if not text.strip(_BLANK):
        raise DataError.of(
            "Expected a JSON value, got an empty text", line=1, hint="Write null for a document without content."
        )
    return text


_WIDE: Final = 4
"""Number of bytes at the start of a JSON text in UTF-16 of which at least one is null."""


def _other_encoding(data: bytes, found: str, offset: int) -> DataError:
    """Return the error for a text that is not UTF-8. Failures have no hint, so the message contains the remedy."""
    name, code = "Windows-1252", "CP1252"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = code = "UTF-16"
    elif b"\0" in data[:_WIDE]:
        name, code = "UTF-16", "UTF-16BE" if data[0] == 0 else "UTF-16LE"
    return DataError.of(
        f"Expected UTF-8, got {found}: probably {name}; convert it with `iconv -f {code} -t UTF-8`",
        line=data.count(b"\n", 0, offset) + 1,
        hint="Save the text as UTF-8.",
    )


def _too_deep(data: bytes, limit: int) -> int | None:
    """Return the line of the first bracket that exceeds `limit` nested containers, or None. Linear time."""
    if data.count(b"[") + data.count(b"{") <= limit:
        return None
    plain, outside = outside_strings(data)
    step = _STEP[plain]
    step[~outside] = 0
    brackets = np.flatnonzero(step)
    deep = brackets[np.cumsum(step[brackets], dtype=np.int64) > limit]
    return 1 + int(np.count_nonzero(plain[: deep[0]] == ord("\n"))) if deep.size else None


def _decode(decoder: json.JSONDecoder, text: str) -> Json:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax(error) from None


def _syntax(error: json.JSONDecodeError) -> DataError:
    if error.msg == "Extra data":
        message = f"Expected one JSON value, got more text after it, column {error.colno}"
        hint = "Give a file with one value per line the suffix .jsonl."
    elif error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip(_BLANK)):
        message = f"Expected valid JSON, got truncated text: {error.msg}, column {error.colno}"
        hint = "The text may have been cut off, for example by a model's output limit."
    else:
        message = f"Expected valid JSON, got: {error.msg}, column {error.colno}"
        hint = "JSON requires double quotes and allows no trailing commas or comments."
    return DataError.of(message, line=error.lineno, hint=hint)


class _RefusedError(ValueError):
    """A syntactically valid value that is rejected, with the message and the hint."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        key, times = Counter(key for key, _ in pairs).most_common(1)[0]
        message = f"Expected each key once in an object, got {key!r} {times} times"
        raise _RefusedError(message, "Keep one of the values, or rename the other keys.")
    return value


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        message = f"Expected a number within ±{sys.float_info.max:.4g}, got {clipped(text, _SHOWN)}"
        raise _RefusedError(message, "Check the exponent, or write the number as text.")
    return value


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        digits = len(text.lstrip("-"))
        message = f"Expected an integer of at most {sys.get_int_max_str_digits()} digits, got {digits} digits"
        raise _RefusedError(message, "Write it as text.") from None


def _constant(text: str) -> Json:
    message = f"Expected a finite number, got {text}"
    raise _RefusedError(message, "JSON has no NaN and no Infinity: write null, or leave the key out.")


_Raw = TypeVar("_Raw")


def _kept(hook: Callable[[_Raw], Json]) -> Callable[[_Raw], Json]:
    """Wrap a decoder hook so that it returns its error instead of raising it."""

    def keep(raw: _Raw) -> Json:
        try:
            return hook(raw)
        except _RefusedError as refused:
            return refused

    return keep


# The fast decoder has no hook for integers: `int` already raises ValueError if there are too many digits.
_STRICT: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
_LOCATING: Final = json.JSONDecoder(
    object_pairs_hook=_kept(_object),
    parse_float=_kept(_float),
    parse_int=_kept(_integer),
    parse_constant=_kept(_constant),
)


def _problems(value: Json) -> Iterator[Problem]:
    """Yield every rejected value and every lone surrogate of a document, in document order."""
    pending: list[tuple[Tokens, Json]] = [((), value)]
    while pending:
        at, item = pending.pop()
        if isinstance(item, _RefusedError):
            yield Problem(item.message, pointer=pointer(at), hint=item.hint)
        elif isinstance(item, str):
            yield from _halves("text", item, at)
        elif isinstance(item, list):
            pending.extend(((*at, index), item[index]) for index in reversed(range(len(item))))
        elif isinstance(item, dict):
            halves = {key: found for key in item if isinstance(key, str) and (found := [*_halves("a key", key, at)])}
            yield from chain.from_iterable(halves.values())
            pending.extend(((*at, key), item[key]) for key in reversed(item) if key not in halves)


def _halves(what: str, text: str, at: Tokens) -> tuple[Problem, ...]:
    try:
        check_text(text, at, what)
    except DataError as error:
        return error.problems
    return ()
