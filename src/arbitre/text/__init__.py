"""Measures for generated text: ROUGE, BLEU, perplexity and measures of segmentation."""

from arbitre.distances.rouge import RougeScore
from arbitre.distances.translation import BleuScore
from arbitre.text.scores import (
    SegmentationScores,
    TextScores,
    bleu,
    bleu_details,
    generalized_hamming,
    pk,
    rouge,
    window_diff,
)
from arbitre.text.token_perplexity import (
    PerplexityWindow,
    TokenLogprob,
    corpus_perplexity,
    perplexity,
    read_logprobs,
    rolling_perplexity,
)

__all__ = [
    "BleuScore",
    "PerplexityWindow",
    "RougeScore",
    "SegmentationScores",
    "TextScores",
    "TokenLogprob",
    "bleu",
    "bleu_details",
    "corpus_perplexity",
    "generalized_hamming",
    "perplexity",
    "pk",
    "read_logprobs",
    "rolling_perplexity",
    "rouge",
    "window_diff",
]
