"""The distances of prose that judge machine translation, through sacrebleu (of the extra `text`).

They keep sacrebleu's own tokens and case, so that their figures are those of its sentence scores: a text is scored
against gold as its only reference. Equal texts are at 0 without a call, also where sacrebleu has no score for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.distances.bags import build_bags
from arbitre.distances.base import Distance, Facts
from arbitre.distances.pool_helpers import check_distances
from arbitre.distances.text.ngrams import tokens
from arbitre.errors import SchemaError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks, Pool
    from arbitre.distances.pool_helpers import Integers

_STRING = frozenset({Kind.STRING})

BOUND_MARGIN: Final = 1e-12
"""More than the rounding of a score: equal texts score 100.00000000000004, and bounds stay below the distance."""


def _metrics(name: str) -> Any:  # noqa: ANN401  (a module that may not be installed)
    """The metrics of sacrebleu, which takes a while to load. Raises SchemaError where it is not installed."""
    try:
        return import_module("sacrebleu.metrics")
    except ImportError as error:
        message = f"Expected sacrebleu to be installed for the distance `{name}`, got {error}"
        raise SchemaError.of(message, hint="Install it: pip install 'arbitre[text]'") from error


@dataclass(frozen=True, slots=True)
class _TranslationPool:
    """Texts, the metric of sacrebleu that scores them, and a pool of bounds."""

    texts: Sequence[str]
    metric: Any
    bounds: Pool

    @property
    def exactly_bounded(self) -> Mask:
        return np.zeros(len(self.texts), dtype=np.bool_)

    def distances(self, left: Indices, right: Indices) -> Floats:
        distances = np.zeros(left.size)
        for pair, (reference, hypothesis) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if self.texts[reference] != self.texts[hypothesis]:
                score = self.metric.sentence_score(self.texts[hypothesis], [self.texts[reference]]).score
                distances[pair] = 1.0 - score / 100.0
        distances[np.abs(distances) < BOUND_MARGIN] = 0.0
        return check_distances(distances, left.shape, "sacrebleu")

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask]:
        """As `lower_bounds_blockwise`, which is exact for equal texts, and for texts that share nothing."""
        distances = self.bounds.distances(left, right)
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        equal = np.array([self.texts[one] == self.texts[other] for one, other in pairs], dtype=np.bool_)
        apart = distances == 1.0
        return np.where(apart, 1.0, np.maximum(distances - BOUND_MARGIN, 0.0)), equal | apart

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """From the lengths, and the words or characters in common."""
        return np.maximum(self.bounds.lower_bounds_blockwise(blocks, left, right) - BOUND_MARGIN, 0.0)


def bleu(n: int = 4) -> Distance:
    """1 - BLEU / 100 of the prediction against gold, in [0, 1], from the precisions of runs of 1 to n words.

    As sacrebleu has it for one sentence: tokens 13a, case kept, exponential smoothing, effective order. Neither
    symmetric nor a metric; texts with the same tokens are at 0. Raises SchemaError without sacrebleu.
    Source: Papineni et al., 2002; Post, 2018.

    >>> bleu(n=2)("Hello everyone on Blent", "Welcome everyone on Blent website")  # doctest: +SKIP
    0.45227744249483404
    """
    _metrics("bleu")
    facts = Facts(symmetric=False, separating=False, triangle=False, witness=("a b", "a b c"))
    return Distance("bleu", _STRING, facts, partial(_bleu, n), {"n": n}, expensive_above=1)


def _bleu(n: int, values: Sequence[str]) -> _TranslationPool:
    metric = _metrics("bleu").BLEU(max_ngram_order=n, effective_order=True)
    laid = tokens([metric.tokenizer(value.rstrip()).split() for value in values])
    return _TranslationPool(
        tuple(values), metric, build_bags(len(values), *laid, partial(_bleu_bound, n), multiple=True)
    )


def _bleu_bound(n: int, common: Integers, gold: Integers, predicted: Integers) -> Floats:
    """The best BLEU: as if all runs of two words and more were found."""
    length = np.maximum(predicted, 1)
    brevity = np.exp(np.minimum(1.0 - gold / length, 0.0))
    best = brevity * (common / length) ** (1.0 / np.clip(predicted, 1, n))
    return np.where(gold + predicted == 0, 0.0, 1.0 - best)


def chrf(words: int = 0) -> Distance:
    """1 - chrF2 / 100 of the prediction against gold, in [0, 1]: F of the mean precision and recall of runs.

    Runs of 1 to 6 characters without white space, and of up to `words` words (2 is chrF++); recall counts twice.
    Neither symmetric nor a metric; texts that differ in white space are at 0. Raises SchemaError without sacrebleu.
    Source: Popović, 2015 and 2017.

    >>> chrf()("abc", "abd")  # doctest: +SKIP
    0.6111111111111112
    """
    _metrics("chrf")
    facts = Facts(symmetric=False, separating=False, triangle=False, witness=("a", "ab"))
    return Distance("chrf", _STRING, facts, partial(_chrf, words), {"words": words}, expensive_above=1)


def _chrf(words: int, values: Sequence[str]) -> _TranslationPool:
    metric = _metrics("chrf").CHRF(word_order=words)
    laid = tokens(["".join(value.split()) for value in values])
    return _TranslationPool(
        tuple(values), metric, build_bags(len(values), *laid, partial(_chrf_bound, metric), multiple=True)
    )


def _chrf_bound(metric: Any, common: Integers, gold: Integers, predicted: Integers) -> Floats:  # noqa: ANN401
    """The best chrF: each run in common starts with a character in common, and all runs of words are found."""
    words, weight = metric.word_order, metric.beta**2
    precision, recall, number = (np.zeros(np.shape(common)) for _ in range(3))
    for less in range(metric.char_order):  # runs of less + 1 characters
        ours, theirs = np.maximum(predicted - less, 0), np.maximum(gold - less, 0)
        found = np.minimum(np.minimum(ours, theirs), common)
        precision += found / np.maximum(ours, 1)
        recall += found / np.maximum(theirs, 1)
        number += (ours > 0) & (theirs > 0)
    number = np.maximum(number + words, 1)
    precision, recall = (precision + words) / number, (recall + words) / number
    total = weight * precision + recall
    best = (1 + weight) * precision * recall / np.where(total == 0, 1.0, total)
    return np.where(gold + predicted == 0, 0.0, 1.0 - best)
