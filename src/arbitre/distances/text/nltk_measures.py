"""Measures that nltk computes (extra `text`): BLEU with weights, and differences between segmentations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import DataError, SchemaError, missing_library

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


def require_nltk(purpose: str) -> tuple[Any, Any]:
    """Import nltk, which loads slowly; return its modules for segmentations and BLEU.

    Args:
        purpose: What needs nltk, at the start of a sentence.

    Raises:
        SchemaError: nltk is not installed.
    """
    try:
        from nltk.metrics import segmentation  # noqa: PLC0415  (optional, loads slowly)
        from nltk.translate import bleu_score  # noqa: PLC0415  (optional, loads slowly)
    except ImportError as error:
        raise missing_library("nltk", "text", purpose, error, SchemaError) from error
    return segmentation, bleu_score


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
    _, library = require_nltk("BLEU with weights")
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


def window_diff(gold: str, predicted: str, k: int) -> float:
    """Return the share of windows of k positions with different numbers of boundaries (Pevzner and Hearst, 2002).

    Args:
        gold: The positions between the units of a text: "1" for a boundary, else "0".
        predicted: The same, of the same length.
        k: Number of positions of a window, at most the length.
    """
    return float(require_nltk("`window-diff`")[0].windowdiff(gold, predicted, k))


def pk(gold: str, predicted: str, k: int) -> float:
    """Return the share of windows of k positions of which only one side has a boundary (Beeferman et al., 1999).

    Arguments as for `window_diff`.
    """
    return float(require_nltk("`pk`")[0].pk(gold, predicted, k))


def generalized_hamming(gold: str, predicted: str, insertion: float, deletion: float, shift: float) -> float:
    """Return the least cost of changing the predicted boundaries into those of gold (Bookstein et al., 2002).

    Args:
        gold: The positions between the units of a text: "1" for a boundary, else "0".
        predicted: The same, of the same length.
        insertion: Cost of a boundary that is inserted.
        deletion: Cost of a boundary that is deleted.
        shift: Cost of moving a boundary by one position.

    Raises:
        DataError: The text is too long.
    """
    library, _ = require_nltk("`generalized-hamming`")
    try:
        return float(library.ghd(gold, predicted, insertion, deletion, shift))
    except ValueError as error:
        hint = "Count sentences or words instead of characters, or use `window-diff`."
        raise DataError.of(f"nltk refuses these segmentations: {error}", hint=hint) from error
