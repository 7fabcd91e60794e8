"""Fast JSON with msgspec: parsing of what certainly is strict JSON, and writing.

The values are those of the standard library: msgspec rounds decimal numbers correctly and reads integers of any length.
"""

from __future__ import annotations

import json
import re
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

_encoder: Final = msgspec.json.Encoder()
encode: Final = _encoder.encode
"""Writes JSON as bytes, with another exponent than `json` for floats, and null for NaN. Refuses lone surrogates."""

schema_of: Final = msgspec.json.schema
"""Writes the JSON Schema of a type."""

to_plain: Final = msgspec.to_builtins
"""Converts dataclasses, at any depth, to dictionaries, in a tenth of the time of `dataclasses.asdict`."""

_pack: Final = msgspec.msgpack.Encoder().encode
_NOT_FINITE: Final = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
"""Matches NaN and infinities in MessagePack; in JSON they are null. UTF-8 text never contains these bytes."""

_DIGITS: Final = 10
_SHORT: Final = 4096
_LONGEST: Final = 32
_SMALL: Final = re.compile(rb"0\.0000")
_NOTATION: Final = re.compile(rb"[0-9]e[-0-9]|0\.0000")
_NUMBER: Final = re.compile(rb"-?[0-9.]+(?:e-?[0-9]+)?")
_HEAD: Final = re.compile(rb"(?:^|[\n\[,:\"])(-?[0-9.]+)\Z")
"""Matches the beginning of a number, up to the digit before its exponent. Most digits in strings do not match."""

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


def encode_each(values: Sequence[Json]) -> list[str | None]:
    """Return the JSON text of each value without whitespace, as `json` writes it; None where `json` may differ.

    Takes an eighth of the time of `json` for lists of page numbers.
    """
    try:
        data = _encoder.encode_lines(values)
    except _REFUSED:
        return [None] * len(values)
    texts: list[str | None] = [*data.decode().split("\n")[:-1]]
    if numbers := _exponents(data):
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
        for line in np.searchsorted(ends, [number.start() for number in numbers]).tolist():
            texts[line] = None
    return texts


def encode_like_json(value: Json) -> str | None:
    """Return the text that `json` writes for a JSON value, without whitespace; None if it may differ.

    Does not check that the value is JSON. For the data of a report, it is 2.5 times as fast as `json`.
    """
    try:
        data = encode(value)
        if _NOT_FINITE.search(_pack(value)):
            return None
    except _REFUSED:
        return None
    parts, end, quotes = list[bytes](), 0, 0
    for number in _exponents(data):
        if data[number.start() - 1] == ord('"'):
            return None  # may be a number that is a key
        before = data[end : number.start()]
        quotes, end = quotes + _quotes(before), number.end()
        parts += before, number[0] if quotes % 2 else repr(float(number[0])).encode()  # an odd number: inside a string
    return b"".join((*parts, data[end:])).decode()


def _exponents(data: bytes) -> list[re.Match[bytes]]:
    """Return the floats of a JSON text that `json` may write differently, and similar digits in strings."""
    if len(data) < _SHORT:
        places = [match.start() for match in _NOTATION.finditer(data)]
    else:  # a sixth of the time for the data of a report
        codes = np.frombuffer(data, dtype=np.uint8)
        digits = codes - np.uint8(ord("0")) < _DIGITS  # wraps around below "0"
        at = np.flatnonzero(digits[:-1] & (codes[1:] == ord("e")))
        places = at[digits[at + 2] | (codes[at + 2] == ord("-"))].tolist()
        places += [match.start() for match in _SMALL.finditer(data)] if b"0.0000" in data else []
    heads = (_HEAD.search(data, max(place - _LONGEST, 0), place + 1) for place in places)
    numbers = (_NUMBER.match(data, begin) for begin in sorted({head.start(1) for head in heads if head}))
    return [number for number in numbers if number]


def _quotes(data: bytes) -> int:
    """Return the number of quotes around texts; a text with a duplicate key has more of them than its value."""
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data.count(b'"')
