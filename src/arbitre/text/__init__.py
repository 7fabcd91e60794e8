"""Measures of generated text: ROUGE, BLEU, segmentation and perplexity."""

from arbitre.distances.text.rouge_scorer import RougeScore
from arbitre.distances.text.weighted_bleu import BleuScore
from arbitre.text.bleu_scores import bleu, bleu_details
from arbitre.text.corpus_scores import SegmentationScores, TextScores
from arbitre.text.rouge_scores import rouge
from arbitre.text.segmentation_scores import generalized_hamming, pk, window_diff
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
