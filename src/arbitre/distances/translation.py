"""Distances between texts from machine translation metrics, computed by sacrebleu and nltk (extra `text`).

They use sacrebleu's tokenisation and case handling, so they agree with its sentence scores; the gold text is the only
reference. Equal texts have distance 0 without calling sacrebleu, even if it has no score for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.distances.base import DeferredPool, Distance, Facts, check_distances
from arbitre.distances.ngrams import tokens
from arbitre.distances.sets import build_bags
from arbitre.errors import OptionError, SchemaError, did_you_mean, optional_library, shown
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Integers


_STRING = frozenset({Kind.STRING})

TOKENIZERS: Final = ("13a", "intl", "char", "zh", "none")
"""Tokenizers of sacrebleu that need no further package."""

BOUND_MARGIN: Final = 1e-12
"""Tolerance for rounding: equal texts score 100.00000000000004. Also subtracted from bounds."""


def _metrics(name: str) -> Any:  # noqa: ANN401  (a module that may not be installed)
    """Import and return `sacrebleu.metrics`, which loads slowly. Raises SchemaError if it is not installed."""
    with optional_library("sacrebleu", "text", f"The distance `{name}`", SchemaError):
        from sacrebleu import metrics  # noqa: PLC0415  (optional, loads slowly)
    return metrics


def tokenizer(name: str) -> Callable[[str], list[str]]:
    """Return a function that splits a text as sacrebleu does.

    Args:
        name: Name of a tokenizer of sacrebleu that needs no further package, or "none" to split at spaces.

    Raises:
        OptionError: The tokenizer is unknown.
        SchemaError: sacrebleu is not installed.
    """
    metrics = _metrics("bleu")
    if name not in TOKENIZERS:
        raise OptionError.of(
            f"Expected `tokenize` to be a known name, got {shown(name)}",
            hint=did_you_mean(name, TOKENIZERS),
        )
    split = metrics.BLEU(tokenize=name).tokenizer
    return lambda text: split(text.rstrip()).split()


class CorpusScore(NamedTuple):
    """A score of a corpus, in [0, 1], with the signature that sacrebleu reports for it."""

    score: float
    signature: str


def corpus_bleu(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> CorpusScore:
    """Return sacrebleu's corpus BLEU with its default options. Raises SchemaError if sacrebleu is not installed.

    Args:
        candidates: The texts under evaluation.
        references: The references of each text; their number may vary.
    """
    return _corpus(_metrics("bleu").BLEU(), candidates, references)


def corpus_chrf(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> CorpusScore:
    """Return sacrebleu's corpus chrF2 with its default options; arguments and errors as for `corpus_bleu`."""
    return _corpus(_metrics("chrf").CHRF(), candidates, references)


def _corpus(metric: Any, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> CorpusScore:  # noqa: ANN401
    streams = list(zip_longest(*references)) if references else []
    score = metric.corpus_score(list(candidates), streams).score / 100.0
    return CorpusScore(min(max(score, 0.0), 1.0), str(metric.get_signature()))


@dataclass(frozen=True, slots=True)
class _TranslationPool(DeferredPool):
    """A pool of texts that a sacrebleu metric scores. The bounds use the lengths and the number of common tokens."""

    metric: Any

    def distances(self, left: Indices, right: Indices) -> Floats:
        """Return 1 - score of each pair of texts, the score of the second against the first; 0 for equal texts."""
        distances = np.zeros(left.size)
        for pair, (reference, hypothesis) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if self.texts[reference] != self.texts[hypothesis]:
                score = self.metric.sentence_score(self.texts[hypothesis], [self.texts[reference]]).score
                distances[pair] = 1.0 - score / 100.0
        distances[np.abs(distances) < BOUND_MARGIN] = 0.0
        return check_distances(distances, left.shape, "sacrebleu")


def _signed(metric: Any) -> dict[str, str]:  # noqa: ANN401  (a metric of sacrebleu)
    """Return the option that contains sacrebleu's signature."""
    metric.corpus_score([""], [[""]])  # sets the number of references
    return {"sacrebleu": str(metric.get_signature())}


def bleu(n: int = 4, weights: Sequence[float] | None = None) -> Distance:
    """Return the distance 1 - BLEU, in [0, 1], from the precision of word n-grams of length 1 to `n`.

    Without weights, BLEU is sacrebleu's sentence score: tokenizer 13a, case-sensitive, exponential smoothing, effective
    order. With weights, it is BLEU without smoothing (see `arbitre.text.bleu`). Neither symmetric nor a metric; texts
    with the same tokens have distance 0 without weights. Source: Papineni et al., 2002; Post, 2018.

    Args:
        n: Maximum length of the n-grams.
        weights: Weight of the n-grams of each length from 1, with sum 1; replaces `n`.

    Raises:
        SchemaError: The weights are invalid, or sacrebleu or nltk is not installed.

    >>> bleu(n=2)("Hello everyone on Blent", "Welcome everyone on Blent website")  # doctest: +SKIP
    0.45227744249483404
    """
    if weights is None:
        signed = _signed(_metrics("bleu").BLEU(max_ngram_order=n, effective_order=True))
        facts = Facts(symmetric=False, separating=False, triangle=False, witness=("a b", "a b c"))
        return Distance("bleu", _STRING, facts, partial(_bleu, n), {"n": n} | signed, expensive_above=1)
    if problem := weights_problem(weights):
        raise SchemaError.of(problem, pointer="/bleu/weights")
    require_nltk("The distance `bleu` with weights")
    facts = Facts(symmetric=False, separating=False, triangle=False, witness=("a b", "a a b"))
    options = {"weights": list(weights), "tokenize": "13a"}
    return Distance("bleu", _STRING, facts, partial(_weighted_bleu, tuple(weights)), options, expensive_above=1)


def _bleu(n: int, values: Sequence[str]) -> _TranslationPool:
    metric = _metrics("bleu").BLEU(max_ngram_order=n, effective_order=True)
    words = tokens([metric.tokenizer(value.rstrip()).split() for value in values])
    bounds = build_bags(len(values), *words, partial(_bleu_bound, n), multiple=True)
    return _TranslationPool(tuple(values), bounds, BOUND_MARGIN, metric)


@dataclass(frozen=True, slots=True)
class _WeightedPool(DeferredPool):
    """A pool of texts that BLEU with weights scores."""

    words: Sequence[Sequence[str]]
    weights: Sequence[float]

    def distances(self, left: Indices, right: Indices) -> Floats:
        """Return 1 - score of each pair of texts, the score of the second against the first; 0 for equal texts."""
        distances = np.zeros(left.size)
        for pair, (gold, predicted) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if self.texts[gold] != self.texts[predicted]:
                distances[pair] = 1.0 - weighted_bleu([self.words[gold]], self.words[predicted], self.weights).bleu
        distances[np.abs(distances) < BOUND_MARGIN] = 0.0
        return check_distances(distances, left.shape, "nltk")


def _weighted_bleu(weights: tuple[float, ...], values: Sequence[str]) -> _WeightedPool:
    words = [*map(tokenizer("13a"), values)]
    bounds = build_bags(len(values), *tokens(words), partial(_weighted_bound, weights[0]), multiple=True)
    return _WeightedPool(tuple(values), bounds, BOUND_MARGIN, words, weights)


def _weighted_bound(weight: float, common: Integers, gold: Integers, predicted: Integers) -> Floats:
    """Return lower bounds of the distance: assumes that all n-grams of two or more words match."""
    length = np.maximum(predicted, 1)
    brevity = np.exp(np.minimum(1.0 - gold / length, 0.0))
    return np.where(gold + predicted == 0, 0.0, 1.0 - brevity * (common / length) ** weight)


def _bleu_bound(n: int, common: Integers, gold: Integers, predicted: Integers) -> Floats:
    """Return lower bounds of the distance: assumes that all n-grams of two or more words match."""
    length = np.maximum(predicted, 1)
    brevity = np.exp(np.minimum(1.0 - gold / length, 0.0))
    best = brevity * (common / length) ** (1.0 / np.clip(predicted, 1, n))
    return np.where(gold + predicted == 0, 0.0, 1.0 - best)


def chrf(words: int = 0) -> Distance:
    """Return the distance 1 - chrF2 / 100, in [0, 1].

    chrF2 is the F score, with recall weighted twice as much as precision, of the mean precision and recall of
    character n-grams of length 1 to 6 (without whitespace) and word n-grams of length 1 to `words`; `words=2` is
    chrF++. Neither symmetric nor a metric; texts that differ only in whitespace have distance 0.
    Source: Popović, 2015 and 2017.

    Raises:
        SchemaError: sacrebleu is not installed.

    >>> chrf()("abc", "abd")  # doctest: +SKIP
    0.6111111111111112
    """
    signed = _signed(_metrics("chrf").CHRF(word_order=words))
    facts = Facts(symmetric=False, separating=False, triangle=False, witness=("a", "ab"))
    return Distance("chrf", _STRING, facts, partial(_chrf, words), {"words": words} | signed, expensive_above=1)


def _chrf(words: int, values: Sequence[str]) -> _TranslationPool:
    metric = _metrics("chrf").CHRF(word_order=words)
    characters = tokens(["".join(value.split()) for value in values])
    bounds = build_bags(len(values), *characters, partial(_chrf_bound, metric), multiple=True)
    return _TranslationPool(tuple(values), bounds, BOUND_MARGIN, metric)


def _chrf_bound(metric: Any, common: Integers, gold: Integers, predicted: Integers) -> Floats:  # noqa: ANN401
    """Return lower bounds of the distance.

    Each common character n-gram starts with a common character, which limits their number; all word n-grams are
    assumed to match.
    """
    words, weight = metric.word_order, metric.beta**2
    precision, recall, number = (np.zeros(np.shape(common)) for _ in range(3))
    for shift in range(metric.char_order):  # n-grams of shift + 1 characters
        predicted_ngrams, gold_ngrams = np.maximum(predicted - shift, 0), np.maximum(gold - shift, 0)
        matched = np.minimum(np.minimum(predicted_ngrams, gold_ngrams), common)
        precision += matched / np.maximum(predicted_ngrams, 1)
        recall += matched / np.maximum(gold_ngrams, 1)
        number += (predicted_ngrams > 0) & (gold_ngrams > 0)
    number = np.maximum(number + words, 1)
    precision, recall = (precision + words) / number, (recall + words) / number
    total = weight * precision + recall
    best = (1 + weight) * precision * recall / np.where(total == 0, 1.0, total)
    return np.where(gold + predicted == 0, 0.0, 1.0 - best)


# BLEU with weights of the n-grams, which nltk counts (extra `text`).


SUM_TOLERANCE: Final = 1e-6
"""Maximum deviation of the sum of the weights of BLEU from 1."""


class BleuScore(NamedTuple):
    """A BLEU score with its components.

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
    with optional_library("nltk", "text", purpose, SchemaError):
        from nltk.translate import bleu_score  # noqa: PLC0415  (optional, loads slowly)
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
