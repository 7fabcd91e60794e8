"""Confidences of the values of a prediction: from the log-probabilities of its tokens, or stated in it.

Tokens are assigned to values by the location of each value in the source text (`locate`).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.errors import DataError, shown
from arbitre.parsing import strict_json
from arbitre.paths import escape
from arbitre.text.token_perplexity import read_logprobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.values import Json

VALUE: Final = "value"
CONFIDENCE: Final = "confidence"
"""Keys of a value and its confidence, stated as an object."""

_LEXEME: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')
"""A text, a bracket, a comma, a colon, or a number or literal of a JSON document."""
_OPENING: Final = re.compile(rb"[{\[]")
_CLOSING: Final = re.compile(rb"[}\]]")


class ConfidentDocument(NamedTuple):
    """A prediction with the confidence of each value.

    Attributes:
        document: The prediction as it is compared.
        confidences: Confidence of each value, in [0, 1], by JSON Pointer.
    """

    document: Json
    confidences: Mapping[str, float]


def from_logprobs(logprobs: Json) -> ConfidentDocument:
    r"""Return the JSON document that tokens spell, with the confidence of each value.

    The confidence of a value is the exponential of the mean log-probability of the tokens that contain a part of it:
    the geometric mean of their probabilities. The quotes of a text are not part of it, but a token that contains both a
    quote and a part of the text is.

    Args:
        logprobs: A list of objects with `token` and `logprob`, or `{"content": [...]}` with such a list, as in answers
            of OpenAI's API. If a token has `bytes`, they are used instead of its text.

    Raises:
        DataError: A token has no text or no log-probability, or the tokens do not spell exactly one JSON document.

    >>> tokens = [("{\"a\": \"", 0.0), ("Lon", -0.25), ("don", -0.75), ("\"}", 0.0)]
    >>> answer = from_logprobs([{"token": token, "logprob": logprob} for token, logprob in tokens])
    >>> answer.document, round(answer.confidences["/a"], 4)  # exp(-0.5)
    ({'a': 'London'}, 0.6065)
    """
    tokens = read_logprobs(logprobs)
    for number, token in enumerate(tokens):
        if token.data is None:
            hint = "Log-probabilities without tokens have a perplexity, but no confidence of single values."
            raise DataError.of(f"Expected the text of token {number}, got none", hint=hint)
    pieces = [token.data or b"" for token in tokens]
    located = locate(b"".join(pieces))
    ends = [*accumulate(map(len, pieces))]
    values = [token.logprob for token in tokens]
    means = {pointer: _mean(span, ends, values) for pointer, span in located.spans.items()}
    return ConfidentDocument(located.document, {pointer: math.exp(mean) for pointer, mean in means.items()})


def _mean(span: ByteSpan, ends: Sequence[int], values: Sequence[float]) -> float:
    """Return the mean log-probability of the tokens that overlap a span. Tokens without bytes are left out."""
    first, last = bisect_right(ends, span.start), bisect_left(ends, span.stop)
    chosen = [values[at] for at in range(first, last + 1) if ends[at] > (ends[at - 1] if at else 0)]
    return math.fsum(chosen) / len(chosen)


def from_explicit(document: Json, suffix: str = f"_{CONFIDENCE}") -> ConfidentDocument:
    """Return a prediction without the confidences that it states, and these confidences.

    A confidence is stated in one of two forms:

    * `{"value": ..., "confidence": 0.9}` in place of the value, without other keys
    * a field of the same object whose key is that of the value with a suffix: `"name_confidence": 0.9` for `name`

    An object with the keys `value` and `confidence` and further keys is an ordinary object; see `unread_confidences`. A
    value that is nested in a value with a confidence, and has none of its own, has the same confidence.

    Args:
        document: The prediction.
        suffix: Suffix of the keys of confidences.

    Raises:
        DataError: A confidence is not a number in [0, 1], or belongs to a field that does not exist.

    >>> from_explicit({"name": {"value": "Ada", "confidence": 0.9}, "age": 36, "age_confidence": 0.5})
    ConfidentDocument(document={'name': 'Ada', 'age': 36}, confidences={'/name': 0.9, '/age': 0.5})
    """
    confidences: dict[str, float] = {}
    return ConfidentDocument(_Reader(suffix, confidences).plain(document, "", "", None), confidences)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Removes the confidences from a document and collects them.

    Attributes:
        suffix: Suffix of the keys of confidences.
        confidences: The confidences by pointer.
    """

    suffix: str
    confidences: dict[str, float]

    def plain(self, value: Json, pointer: str, written: str, inherited: float | None) -> Json:
        """Return a value without confidences.

        Args:
            value: The value as it is written.
            pointer: Its pointer in the result.
            written: Its pointer in the source, for errors.
            inherited: Confidence of a value that contains it, if any.
        """
        if isinstance(value, dict) and value.keys() == {VALUE, CONFIDENCE}:
            stated = _checked(value[CONFIDENCE], f"{written}/{CONFIDENCE}")
            return self.plain(value[VALUE], pointer, f"{written}/{VALUE}", stated)
        if inherited is not None:
            self.confidences[pointer] = inherited
        if isinstance(value, list):
            rows = enumerate(value)
            return [self.plain(item, f"{pointer}/{at}", f"{written}/{at}", inherited) for at, item in rows]
        if isinstance(value, dict):
            return self._object(value, pointer, written, inherited)
        return value

    def _object(self, value: dict[str, Json], pointer: str, written: str, inherited: float | None) -> dict[str, Json]:
        """Return an object without the confidences of its fields; for the arguments, see `plain`."""
        stated: dict[str, float] = {}
        for name, item in value.items():
            field = name.removesuffix(self.suffix)
            if field != name:
                if field not in value:
                    message = f"Expected the field {shown(field)} of a confidence, got none"
                    raise DataError.of(message, pointer=f"{written}/{escape(name)}")
                stated[field] = _checked(item, f"{written}/{escape(name)}")
        return {
            name: self.plain(
                item, f"{pointer}/{escape(name)}", f"{written}/{escape(name)}", stated.get(name, inherited)
            )
            for name, item in value.items()
            if name.removesuffix(self.suffix) == name
        }


def unread_confidences(value: Json, pointer: str = "") -> Iterator[str]:
    """Yield the pointers of confidences that are not read, because their object also has keys other than `value`.

    >>> list(unread_confidences([{"value": "Ada", "confidence": 0.9}, {"value": "Bo", "confidence": 0.9, "page": 3}]))
    ['/1/confidence']
    """
    if isinstance(value, dict):
        if value.keys() > {VALUE, CONFIDENCE}:
            yield f"{pointer}/{CONFIDENCE}"
        for name, item in value.items():
            yield from unread_confidences(item, f"{pointer}/{escape(name)}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from unread_confidences(item, f"{pointer}/{at}")


def _checked(value: Json, pointer: str) -> float:
    """Return a confidence. Raises DataError, with the pointer, if it is not a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise DataError.of(f"Expected a confidence, a number from 0 to 1, got {shown(value)}", pointer=pointer)
    return float(value)


class ByteSpan(NamedTuple):
    """A half-open range of bytes."""

    start: int
    stop: int


class LocatedDocument(NamedTuple):
    """A document with the location of each of its values in a text.

    Attributes:
        document: The parsed document.
        spans: Byte range of each value in the text, by JSON Pointer; that of a text excludes its quotes.
    """

    document: Json
    spans: dict[str, ByteSpan]


def locate(text: bytes) -> LocatedDocument:
    """Parse the JSON document in an answer, which may be surrounded by other text such as a Markdown fence.

    Returns:
        The document, with the byte range of each value.

    Raises:
        DataError: The text does not contain exactly one JSON document.

    >>> located = locate(b'The answer is: {"name": "Ada", "age": 36}')
    >>> located.document, located.spans["/name"], located.spans["/age"]
    ({'name': 'Ada', 'age': 36}, ByteSpan(start=25, stop=28), ByteSpan(start=38, stop=40))
    """
    start, stop = 0, len(text)
    try:
        document = strict_json.parse(text)
    except DataError:
        opening = _OPENING.search(text)
        closings = [match.end() for match in _CLOSING.finditer(text)]
        if opening is None or not closings:
            raise
        start, stop = opening.start(), closings[-1]
        document = strict_json.parse(text[start:stop])
    return LocatedDocument(document, dict(_spans(text, start, stop)))


def _spans(text: bytes, start: int, stop: int) -> Iterator[tuple[str, ByteSpan]]:
    """Yield the pointer and the range of each value of a valid JSON text."""
    pointer, key = "", False
    above: list[tuple[str, int, int | None]] = []  # pointer, start and next position of each open list or object
    for match in _LEXEME.finditer(text, start, stop):
        lexeme = match[0]
        if lexeme in (b"{", b"["):
            above.append((pointer, match.start(), 0 if lexeme == b"[" else None))
            key = lexeme == b"{"
            pointer = f"{pointer}/0" if lexeme == b"[" else pointer
        elif lexeme in (b"}", b"]"):
            (pointer, opened, _), key = above.pop(), False
            yield pointer, ByteSpan(opened, match.end())
        elif lexeme == b",":
            parent, opened, position = above[-1]
            if position is None:
                key = True
            else:
                above[-1] = parent, opened, position + 1
                pointer = f"{parent}/{position + 1}"
        elif lexeme == b":":
            key = False
        elif key:
            pointer = f"{above[-1][0]}/{escape(str(strict_json.parse(lexeme)))}"
        else:
            quoted = lexeme.startswith(b'"') and len(lexeme) > 2  # noqa: PLR2004  (an empty text has its quotes)
            yield pointer, ByteSpan(match.start() + quoted, match.end() - quoted)
