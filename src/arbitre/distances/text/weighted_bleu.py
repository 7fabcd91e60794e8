"""BLEU with weights; nltk counts the n-grams (extra `text`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import SchemaError, missing_library

if TYPE_CHECKING:
    from collections.abc import Sequence

SUM_TOLERANCE: Final = 1e-6
"""Maximum deviation of the sum of the weights of BLEU from 1."""


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


def require_nltk(purpose: str) -> Any:  # noqa: ANN401  (a module that may not be installed)
    """Import nltk, which loads slowly; return its module for BLEU.

    Args:
        purpose: Subject of the error message, which needs nltk.

    Raises:
        SchemaError: nltk is not installed.
    """
    try:
        from nltk.translate import bleu_score  # noqa: PLC0415  (optional, loads slowly)
    except ImportError as error:
        raise missing_library("nltk", "text", purpose, error, SchemaError) from error
    return bleu_score


def weights_problem(weights: Sequence[float]) -> str | None:
    """Return what is wrong with the weights of BLEU; None if they are not negative and their sum is 1."""
    if not weights or not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        return f"Expected `weights` to be numbers of at least 0, got {list(weights)}"
    total = math.fsum(weights)
    return None if abs(total - 1) <= SUM_TOLERANCE else f"Expected `weights` to have the sum 1, got the sum {total:g}"


def weighted_bleu(references: Sequence[Sequence[str]], candidate: Sequence[str], weights: Sequence[float]) -> BleuScore:
    """Return BLEU of a candidate without smoothing, from tokens.

    Args:
        references: Tokens of each reference.
        candidate: Tokens of the candidate.
        weights: Weight of the n-grams of length 1, 2, ...; not negative, with sum 1.

    Raises:
        SchemaError: nltk is not installed.
    """
    library = require_nltk("BLEU with weights")
    orders = range(1, len(weights) + 1)
    precisions = tuple(float(library.modified_precision(references, candidate, n)) for n in orders)
    closest = int(library.closest_ref_length(references, len(candidate)))
    brevity = float(library.brevity_penalty(closest, len(candidate)))
    terms = [(weight, value) for weight, value in zip(weights, precisions, strict=True) if weight > 0]
    if all(value > 0 for _, value in terms):
        score = brevity * math.exp(math.fsum(weight * math.log(value) for weight, value in terms))
    else:
        score = 0.0
    return BleuScore(score, precisions, brevity, len(candidate), closest)
