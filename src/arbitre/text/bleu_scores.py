"""BLEU of one candidate text, with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arbitre.distances.text.translation import tokenizer
from arbitre.distances.text.weighted_bleu import BleuScore, weighted_bleu, weights_problem
from arbitre.errors import OptionError
from arbitre.text.references import as_references

if TYPE_CHECKING:
    from collections.abc import Sequence

WEIGHTS: Final = (0.25, 0.25, 0.25, 0.25)


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
    if problem := weights_problem(weights):
        raise OptionError.of(problem, hint="For equal weights of n-grams up to length n, pass [1 / n] * n.")
    split = tokenizer(tokenize)
    return weighted_bleu([split(text) for text in texts], split(candidate), weights)
