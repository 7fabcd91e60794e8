"""Measures that nltk computes (extra `text`): statistics of BLEU, and differences between segmentations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbitre.errors import SchemaError, missing_library

if TYPE_CHECKING:
    from collections.abc import Sequence


def _library(name: str, purpose: str) -> Any:  # noqa: ANN401  (a module that may not be installed)
    """Import and return a module of nltk, which loads slowly. Raises SchemaError if it is not installed."""
    try:
        from nltk.metrics import segmentation  # noqa: PLC0415  (optional, loads slowly)
        from nltk.translate import bleu_score  # noqa: PLC0415  (optional, loads slowly)
    except ImportError as error:
        raise missing_library("nltk", "text", purpose, error, SchemaError) from error
    return {"segmentation": segmentation, "bleu": bleu_score}[name]


def bleu_statistics(
    references: Sequence[Sequence[str]], candidate: Sequence[str], orders: int
) -> tuple[tuple[float, ...], float, int]:
    """Return the clipped precisions of the n-grams of length 1 to `orders`, the brevity penalty and a length.

    The length is that of the reference whose length is closest to the candidate's, the shorter of two.

    Raises:
        SchemaError: nltk is not installed.
    """
    library = _library("bleu", "BLEU with weights")
    precisions = tuple(float(library.modified_precision(references, candidate, n)) for n in range(1, orders + 1))
    closest = library.closest_ref_length(references, len(candidate))
    return precisions, float(library.brevity_penalty(closest, len(candidate))), int(closest)
