"""Perplexity from the log-probabilities of tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arbitre.errors import DataError, OptionError, check_integer, shown
from arbitre.parsing.json_form import json_form
from arbitre.paths import value_at

if TYPE_CHECKING:
    from arbitre.values import Json


class TokenLogprob(NamedTuple):
    """A token with the natural logarithm of its probability; `token` is None if only the logarithm is known."""

    token: str | None
    logprob: float
    data: bytes | None = None
    """The bytes of the token: a token may contain a part of a character."""


class PerplexityWindow(NamedTuple):
    """Perplexity of the tokens from `start` up to, but not including, `stop`."""

    start: int
    stop: int
    perplexity: float


def logprobs_at(record: Json, pointer: str) -> Json:
    """Return the log-probabilities at a JSON Pointer of a record. Raises DataError if there are none."""
    try:
        found: Json = value_at(record, pointer)
    except (LookupError, TypeError, ValueError):
        hint = "Pass their JSON Pointer with --logprobs, such as /choices/0/logprobs."
        raise DataError.of("Expected log-probabilities, got none", pointer=pointer, hint=hint) from None
    return found


def read_logprobs(logprobs: Json, *, pointer: str | None = None) -> list[TokenLogprob]:
    """Return the tokens with their log-probabilities.

    Args:
        logprobs: Numbers, objects with `token` and `logprob`, or `{"content": [...]}` with such a list.
        pointer: JSON Pointer of `logprobs` in its file, for error messages.

    Raises:
        DataError: A value is not a number of at most 0.

    >>> read_logprobs({"content": [{"token": "Hi", "logprob": -0.5}]})
    [TokenLogprob(token='Hi', logprob=-0.5, data=b'Hi')]
    """
    place, logprobs = pointer or "", json_form(logprobs)
    if isinstance(logprobs, Mapping):
        inner = logprobs.get("content")
        if not isinstance(inner, Sequence):
            hint = 'Pass a list of numbers, or {"content": [{"token": ..., "logprob": ...}]}.'
            raise DataError.of("Expected an object with the list `content`", pointer=pointer, hint=hint)
        logprobs, place = inner, f"{place}/content"
    elif isinstance(logprobs, str) or not isinstance(logprobs, Sequence):
        raise DataError.of(f"Expected a list of log-probabilities, got {shown(logprobs)}", pointer=pointer)
    return [_token(item, f"{place}/{number}") for number, item in enumerate(logprobs)]


def _token(item: Json, pointer: str) -> TokenLogprob:
    """Return a token, given as a number or an object. Raises DataError, with the pointer, for any other value."""
    token = item.get("token") if isinstance(item, Mapping) else None
    value = item.get("logprob") if isinstance(item, Mapping) else item
    if isinstance(value, bool) or not isinstance(value, int | float) or not value <= 0:
        raise DataError.of(
            f"Expected a log-probability, a number of at most 0, got {shown(item)}",
            pointer=pointer,
            hint="Log-probabilities are natural logarithms of probabilities.",
        )
    text = token if isinstance(token, str) else None
    return TokenLogprob(text, float(value), _data(item, text, pointer))


def _data(item: Json, token: str | None, pointer: str) -> bytes | None:
    """Return the bytes of a token: those that the item states, or else those of its text; None without text."""
    given = item.get("bytes") if isinstance(item, Mapping) else None
    if given is None:
        return None if token is None else token.encode("utf-8", "surrogatepass")
    try:
        return bytes(given)
    except (TypeError, ValueError) as error:
        message = f"Expected the bytes of a token, numbers from 0 to 255, got {shown(given)}"
        raise DataError.of(message, pointer=f"{pointer}/bytes") from error


def perplexity(logprobs: Json) -> float:
    """Return the perplexity of a document, as `arbitre text perplexity` does.

    It is exp of the negative mean log-probability of the tokens; at least 1.

    A lower perplexity means a higher likelihood. It is infinite if a token has probability 0.

    Args:
        logprobs: Natural logarithms of the probabilities of the tokens: numbers, objects with `logprob`, or
            `{"content": [...]}`.

    Raises:
        DataError: There are no tokens, or a value is not a log-probability.

    >>> import math
    >>> round(perplexity([math.log(0.5), math.log(0.125)]), 12)
    4.0
    """
    return _perplexity([token.logprob for token in read_logprobs(logprobs)])


def _perplexity(values: Sequence[float]) -> float:
    """Return the perplexity of tokens with these log-probabilities. Raises DataError without tokens."""
    if not values:
        raise DataError.of("Expected the log-probability of at least one token, got none")
    mean = math.fsum(values) / len(values)
    try:
        return math.exp(-mean)
    except OverflowError:
        return math.inf


def corpus_perplexity(documents: Sequence[Json]) -> float:
    """Return the perplexity of all tokens of several documents: documents are weighted by their numbers of tokens.

    >>> import math
    >>> round(corpus_perplexity([[math.log(0.5)], [math.log(0.125)] * 3]), 4)
    5.6569
    """
    return _perplexity([token.logprob for logprobs in documents for token in read_logprobs(logprobs)])


def rolling_perplexity(logprobs: Json, window: int, stride: int | None = None) -> list[PerplexityWindow]:
    """Return the perplexity of each window of tokens, to locate the passages that surprised the model.

    The last window ends with the last token, so it may overlap its predecessor by more than the others do. A document
    with fewer tokens than `window` is one window.

    Args:
        logprobs: As for `perplexity`.
        window: Number of tokens of a window.
        stride: Number of tokens from the start of a window to the start of the next; `window` by default.

    Raises:
        OptionError: `window` or `stride` is less than 1, or `stride` is greater than `window`.
        DataError: There are no tokens, or a value is not a log-probability.

    >>> [(part.start, part.stop) for part in rolling_perplexity([-1.0] * 7, window=3, stride=2)]
    [(0, 3), (2, 5), (4, 7)]
    """
    step = window if stride is None else stride
    check_integer("window", window, least=1)
    check_integer("stride", step, least=1)
    if step > window:
        raise OptionError.of(f"Expected `stride` to be from 1 to `window`, got {step} and {window}")
    window, step = int(window), int(step)
    values = [token.logprob for token in read_logprobs(logprobs)]
    last = max(len(values) - window, 0)
    starts = [*range(0, last, step), last]
    return [
        PerplexityWindow(start, min(start + window, len(values)), _perplexity(values[start : start + window]))
        for start in starts
    ]
