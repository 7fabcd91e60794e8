"""BLEU of one candidate text, with weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.distances.text.nltk_measures import bleu_statistics
from arbitre.distances.text.translation import tokenizer
from arbitre.errors import OptionError, shown
from arbitre.text.references import as_references

if TYPE_CHECKING:
    from collections.abc import Sequence

WEIGHTS: Final = (0.25, 0.25, 0.25, 0.25)
SUM_TOLERANCE: Final = 1e-6
"""Maximum deviation of the sum of the weights from 1."""


class BleuScore(NamedTuple):
    """BLEU with its components.

    Attributes:
        bleu: The score, in [0, 1].
        precisions: Clipped precision of the n-grams of each length, from 1.
        brevity_penalty: exp(1 - r / c) if the candidate is shorter than the reference, else 1.
        length: Number of tokens of the candidate, c.
        reference_length: Number of tokens of the reference whose length is closest, r.
    """

    bleu: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    length: int
    reference_length: int


def bleu(
    candidate: str,
    references: str | Sequence[str],
    weights: Sequence[float] = WEIGHTS,
    *,
    tokenize: str = "13a",
) -> float:
    """Return BLEU, in [0, 1]: the brevity penalty times the weighted geometric mean of the clipped precisions.

    There is no smoothing: BLEU is 0 if a precision with a positive weight is 0. Without weights it equals sacrebleu's
    sentence BLEU with `smooth_method="none"`. sacrebleu splits the texts, nltk counts the n-grams (extra `text`).
    Source: Papineni et al., 2002.

    Args:
        candidate: The text under evaluation.
        references: One reference, or several. An n-gram counts at most as often as in the reference that contains it
            most often; the brevity penalty uses the reference whose length is closest.
        weights: Weight of the n-grams of length 1, 2, ...; not negative, with sum 1.
        tokenize: sacrebleu's tokenizer: "13a", "intl", "char", "zh", or "none" to split at spaces.

    Raises:
        OptionError: The weights or the tokenizer are invalid.
        DataError: There is no reference, or a value is not a text.
        SchemaError: sacrebleu or nltk is not installed.

    >>> bleu("Hello Hello Hello Hello Hello", "Hello world on this website", weights=[1])
    0.2
    """
    return bleu_details(candidate, references, weights, tokenize=tokenize).bleu


def bleu_details(
    candidate: str,
    references: str | Sequence[str],
    weights: Sequence[float] = WEIGHTS,
    *,
    tokenize: str = "13a",
) -> BleuScore:
    """Return BLEU with its precisions, brevity penalty and lengths; arguments and errors as for `bleu`.

    >>> score = bleu_details("a b c d", "a b c d e", weights=[0.5, 0.5])
    >>> score.precisions, round(score.brevity_penalty, 4), score.length, score.reference_length
    ((1.0, 1.0), 0.7788, 4, 5)
    """
    texts = as_references(candidate, references)
    _check_weights(weights)
    split = tokenizer(tokenize)
    tokens = split(candidate)
    precisions, brevity, reference_length = bleu_statistics([split(text) for text in texts], tokens, len(weights))
    terms = [(weight, value) for weight, value in zip(weights, precisions, strict=True) if weight > 0]
    if all(value > 0 for _, value in terms):
        score = brevity * math.exp(math.fsum(weight * math.log(value) for weight, value in terms))
    else:
        score = 0.0
    return BleuScore(score, precisions, brevity, len(tokens), reference_length)


def _check_weights(weights: Sequence[float]) -> None:
    if not weights or not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise OptionError.of(f"Expected `weights` to be numbers of at least 0, got {shown(list(weights))}")
    total = math.fsum(weights)
    if abs(total - 1) > SUM_TOLERANCE:
        hint = "For equal weights of n-grams up to length n, give 1 / n n times."
        raise OptionError.of(f"Expected `weights` to have the sum 1, got the sum {total:g}", hint=hint)
