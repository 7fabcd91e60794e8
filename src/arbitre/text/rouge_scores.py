"""ROUGE of one candidate text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.distances.text.rouge_scorer import SKIP, RougeScore, RougeScorer
from arbitre.text.references import as_references

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.options import Tokenizer


def rouge(
    candidate: str,
    references: str | Sequence[str],
    kind: str = "rouge1",
    *,
    tokenizer: Tokenizer = "words",
    stem: bool = False,
    skip: int = SKIP,
) -> RougeScore:
    """Return the ROUGE score of a candidate against the best of its references (Lin, 2004).

    rouge-score computes it (extra `text`). A score with a zero denominator is 0, as in rouge-score.

    Args:
        candidate: The text under evaluation.
        references: One reference, or several. The one with the greatest F1 counts.
        kind: "rouge1" to "rouge9" (n-grams of words), "rougeL" (longest common subsequence), "rougeLsum" (the same
            sentence by sentence, one sentence per line) or "rougeS" (skip-bigrams).
        tokenizer: "words" (maximal runs of Unicode word characters, case-folded, as for the `rouge-1` distance) or
            "rouge-score" (ASCII letters and digits in lower case). The results are the same for ASCII texts without
            underscores.
        stem: Whether to reduce English words to their stems, with the Porter stemmer. Requires the tokenizer
            "rouge-score".
        skip: Maximum number of words between the two words of a skip-bigram; for "rougeS".

    Raises:
        OptionError: An option is unknown, or options contradict each other.
        DataError: There is no reference, a value is not a text, or rouge-score is not installed.

    >>> score = rouge("Welcome everyone on Blent website", ["Hello world on this website", "Hello everyone on Blent"])
    >>> score.precision, score.recall, round(score.f1, 4), score.reference
    (0.6, 0.75, 0.6667, 1)
    """
    texts = as_references(candidate, references)
    return RougeScorer(kind, tokenizer=tokenizer, stem=stem, skip=skip).score(candidate, texts)
