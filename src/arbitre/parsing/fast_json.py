"""Fast JSON with msgspec: parsing of what certainly is strict JSON.

The values are those of the standard library: msgspec rounds decimal numbers correctly and reads integers of any length.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from arbitre.values import Json

_decode: Final = msgspec.json.Decoder().decode
"""Parses JSON. Refuses NaN, infinities, numbers beyond the largest double, lone surrogates and invalid UTF-8; keeps the
last value of a duplicate key."""

encode: Final = msgspec.json.Encoder().encode
"""Writes JSON as bytes, with another exponent than `json` for floats, and null for NaN. Refuses lone surrogates."""

schema_of: Final = msgspec.json.schema
"""Writes the JSON Schema of a type."""

to_plain: Final = msgspec.to_builtins
"""Converts dataclasses, at any depth, to dictionaries, in a tenth of the time of `dataclasses.asdict`."""

_REFUSED: Final = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


def parse_strictly(data: bytes) -> Json:
    """Return the value of a JSON text, or ABSENT if it may not be strict JSON.

    Takes 0.65 (flat lists of 20 entries) to 0.86 (nested lists) of the time of the standard library with a hook that
    finds duplicate keys.
    """
    try:
        value = _decode(data)
        written = encode(value)
    except _REFUSED:
        return ABSENT
    return value if _quotes(data) == _quotes(written) else ABSENT


def parse_again(data: bytes) -> Json:
    """Return the value of a JSON text that was parsed strictly before. Raises ValueError if it is not JSON.

    Takes 0.62 (flat lists of 20 entries) to 0.92 (nested lists) of the time of `json.loads`.
    """
    try:
        return _decode(data)
    except _REFUSED:  # such as a byte order mark
        return json.loads(data)


def count_values(data: bytes, enough: int) -> int:
    """Return the number of values in a JSON text, or any number up to `enough` if there are not more. Linear time.

    >>> count_values(b'{"a": [1, "[,"], "b": {}}', 3)
    5
    """
    most = sum(map(data.count, (b",", b"[", b"{")))
    if most < enough:
        return most
    plain, outside = outside_strings(data)
    marks = plain[outside & ~_SPACE[plain]]
    empty = _OPENING[marks[:-1]] & _CLOSING[marks[1:]]
    return 1 + int(np.count_nonzero(marks == ord(",")) + np.count_nonzero(_OPENING[marks]) - np.count_nonzero(empty))


def outside_strings(data: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Return the bytes of a JSON text without escaped characters, and which of them are outside of strings."""
    plain = np.frombuffer(data.replace(rb"\\", b"").replace(rb"\"", b""), dtype=np.uint8)
    return plain, ~np.logical_xor.accumulate(plain == ord('"'))  # after an even number of quotes


_OPENING, _CLOSING, _SPACE = (np.isin(np.arange(256), list(marks)) for marks in (b"[{", b"]}", b" \t\r\n"))


def json_size(value: Json) -> int | None:
    """Return the length of the JSON text of a value in bytes; None if msgspec refuses it, as it does surrogates."""
    try:
        return len(encode(value))
    except _REFUSED:
        return None


def is_json(value: object) -> bool:
    """Return whether serializing and parsing a value yields an equal value, which proves that it is JSON.

    Takes a seventh of the time of `values.check`. False does not prove the opposite: `values.check` also accepts
    subclasses of texts and numbers.

    >>> is_json({"a": [1, 2.5, None]}), is_json({"a": float("nan")}), is_json({1: "a"}), is_json((1, 2))
    (True, False, False, False)
    """
    try:
        return bool(_decode(encode(value)) == value)
    except _REFUSED:
        return False


def _quotes(data: bytes) -> int:
    """Return the number of quotes around texts; a text with a duplicate key has more of them than its value."""
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data.count(b'"')


_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)


def compact(value: Json) -> str:
    """Serialise a value as JSON without whitespace, as the standard library does.

    Lists and objects are written by msgspec in a third of the time, unless its output could differ: it writes small
    numbers and exponents in a different form, and NaN as null.
    """
    if type(value) is int or (type(value) is float and math.isfinite(value)):  # fast path for most cells
        return repr(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is list or type(value) is dict:
        try:
            written = encode(value)
        except _REFUSED:
            return _COMPACT.encode(value)
        if not (b"." in written or b"e" in written or b"n" in written):  # such as a list of integers
            return written.decode()
        if not (
            b"0e" in written.translate(_ZEROS)  # an exponent
            or b"0.0000" in written
            or b"null" in written  # possibly NaN
            or b'nan":' in written
            or b'inf":' in written
        ):
            return written.decode()
    return _COMPACT.encode(value)


def compact_lists(lists: Sequence[list[Json]]) -> list[str]:
    """Serialise lists, each as `compact` does. Lists of integers are written together, in a fifth of the time.

    >>> compact_lists([[1, 2], [], [-3]])
    ['[1,2]', '[]', '[-3]']
    """
    try:
        written = encode(lists)
    except _REFUSED:
        written = b""
    if lists and written.count(b"[") == len(lists) + 1 and not any(mark in written for mark in _NOT_INTEGERS):
        return [f"[{integers}]" for integers in written[2:-2].decode().split("],[")]
    return list(map(compact, lists))


_NOT_INTEGERS: Final = (b'"', b"{", b".", b"e", b"n")
"""Characters absent from the JSON of lists of integers; any text, object, float, boolean or null has one."""


def json_text(value: Json) -> str:
    r"""Serialise a JSON document, indented, with a final line break.

    >>> json_text({"page": "XII, é"})
    '{\n  "page": "XII, é"\n}\n'
    """
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
