"""ROUGE scores of texts, and distances: 1 - F1 of their common words, n-grams or subsequences.

`words` splits the texts. All distances are symmetric, and none is a metric; texts with the same words have distance 0.

>>> ROUGE_1("Hello everyone on Blent", "Welcome everyone on Blent website")  # 1 - 2 * 3 / (4 + 5)
0.3333333333333333
>>> ROUGE_L("police killed the gunman", "the gunman killed police")
0.5
>>> ROUGE_2("yes", "yes"), ROUGE_2("yes", "no")
(0.0, 1.0)
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import regex

from arbitre.distances.base import DeferredPool, Distance, Facts, check_distances
from arbitre.distances.edit import INDEL
from arbitre.distances.ngrams import ngrams, skipgrams, tokens
from arbitre.distances.sets import build_bags, dice
from arbitre.errors import DataError, OptionError, SchemaError, did_you_mean, optional_library, shown
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.distances.base import Pool
    from arbitre.distances.ngrams import TokenSequences
    from arbitre.distances.sets import BagPool


_WORD = regex.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the case-folded words of a text: maximal runs of Unicode word characters (letters, marks, digits, _).

    There is no stemming and no stop word list. Scripts without spaces are not segmented.

    >>> words("L'Été 2024, à Paris-Nord !")
    ['l', 'été', '2024', 'à', 'paris', 'nord']
    """
    return _WORD.findall(text.casefold())


def _counted(grams: Callable[[TokenSequences], TokenSequences], shortest: int, values: Sequence[str]) -> BagPool:
    sequences = tokens([words(value) for value in values], shortest)
    return build_bags(len(values), *grams(sequences), dice, multiple=True)


def _subsequences(values: Sequence[str]) -> Pool:
    """Return the pool of `indel` over words, which equals 1 - F1 of the longest common subsequence."""
    sequences = tokens([words(value) for value in values])
    starts = np.searchsorted(sequences.owner, np.arange(len(values) + 1))
    return INDEL.pool([sequences.codes[start:end].tolist() for start, end in pairwise(starts)])


def _rouge(name: str, pool: Callable[[Sequence[str]], Pool], options: Mapping[str, Any]) -> Distance:
    facts = Facts(separating=False, triangle=False, witness=("Hello", "hello"))
    return Distance(name, frozenset({Kind.STRING}), facts, pool, options)


def _runs(n: int) -> Callable[[Sequence[str]], Pool]:
    return partial(_counted, partial(ngrams, n=n), n)


def rouge_n(n: int = 1) -> Distance:
    """Return the distance 1 - 2c / (a + b) of texts with a and b word n-grams, c of them in common; in [0, 1].

    Repeated n-grams count. A text of 1 to n - 1 words counts as a single n-gram, so different short texts have a
    distance above 0. Two texts without words have distance 0. Source: Lin, 2004.

    >>> rouge_n(2)("Hello everyone on Blent", "Welcome everyone on Blent website")  # 1 - 2 * 2 / (3 + 4)
    0.42857142857142855
    """
    return _rouge("rouge-n", _runs(n), {"n": n})


ROUGE_1: Final = _rouge("rouge-1", _runs(1), {})
"""`rouge-n` of single words (Lin, 2004)."""

ROUGE_2: Final = _rouge("rouge-2", _runs(2), {})
"""`rouge-n` of word bigrams (Lin, 2004)."""

ROUGE_L: Final = _rouge("rouge-l", _subsequences, {})
"""1 - 2c / (a + b) for texts of a and b words with a longest common subsequence of c words (Lin, 2004)."""


def rouge_s(skip: int = 4) -> Distance:
    """Return the distance 1 - 2c / (a + b) of texts with a and b skip-bigrams, c of them in common; in [0, 1].

    A skip-bigram is an ordered pair of words with at most `skip` words between them; `skip=0` gives `rouge-2`. A text
    of one word has this word as its only skip-bigram. Source: Lin, 2004.

    >>> rouge_s()("police killed the gunman", "police kill the gunman")
    0.5
    """
    return _rouge("rouge-s", partial(_counted, partial(skipgrams, skip=skip), 2), {"skip": skip})


# Precision, recall and F1 of texts, computed by rouge-score (extra `text`); skip-bigrams are counted here.
#
# The tokenizer `words` is that of the distances. The tokenizer `rouge-score` is that of the package: ASCII letters and
# digits only, so that accented letters split words.


TOKENIZERS: Final = ("words", "rouge-score")
KINDS: Final = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum", "rougeS")
SKIP: Final = 4
"""Default maximum number of words between the words of a skip-bigram."""
BOUND_MARGIN: Final = 1e-12
"""Tolerance for rounding. Also subtracted from bounds."""
_ASCII: Final = re.compile(r"[a-z0-9]+")


class RougeScore(NamedTuple):
    """The ROUGE score of a candidate against its best reference, in [0, 1].

    Attributes:
        precision: Share of the candidate's n-grams that the reference contains; 0 if the candidate has none.
        recall: Share of the reference's n-grams that the candidate contains; 0 if the reference has none.
        f1: Harmonic mean of precision and recall; 0 if both are 0.
        reference: Index of the reference with the greatest F1; of several, the first.
    """

    precision: float
    recall: float
    f1: float
    reference: int = 0


def _library(purpose: str) -> tuple[Any, Any]:
    """Import rouge-score, which loads slowly; return its scorer module and the Porter stemmer that it uses."""
    with optional_library("rouge-score", "text", purpose):
        from rouge_score import rouge_scorer, tokenizers  # noqa: PLC0415  (optional, loads slowly)
    return rouge_scorer, tokenizers


class _Tokens(NamedTuple):
    """A tokenizer with the method that rouge-score calls."""

    tokenize: Callable[[str], list[str]]


class RougeScorer:
    """Computes one kind of ROUGE.

    Args:
        kind: "rouge1" to "rouge9" (n-grams of words), "rougeL" (longest common subsequence), "rougeLsum" (the same
            sentence by sentence, one sentence per line) or "rougeS" (skip-bigrams).
        tokenizer: "words" (maximal runs of Unicode word characters, case-folded) or "rouge-score" (runs of ASCII
            letters and digits in lower case).
        stem: Whether to reduce English words of more than 3 letters to their stems, with the Porter stemmer. Requires
            the tokenizer "rouge-score".
        skip: Maximum number of words between the words of a skip-bigram.

    Raises:
        OptionError: An option is unknown, or `stem` is set with the tokenizer "words".
        DataError: rouge-score is not installed.
    """

    def __init__(self, kind: str, *, tokenizer: str = "words", stem: bool = False, skip: int = SKIP) -> None:
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS)
            raise OptionError.of(f"Expected `kind` to be a kind of ROUGE, got {shown(kind)}", hint=hint)
        if tokenizer not in TOKENIZERS:
            raise OptionError.of(f"Expected `tokenizer` to be words or rouge-score, got {shown(tokenizer)}")
        if stem and tokenizer == "words":
            raise OptionError.of("`stem` requires `tokenizer` rouge-score: the stemmer reads English words only.")
        if skip < 0:
            raise OptionError.of(f"Expected `skip` to be at least 0, got {skip}")
        self.kind, self.skip = kind, skip
        self.tokenize: Callable[[str], list[str]] = words if tokenizer == "words" else _ascii_words
        if kind == "rougeS" and not stem:
            return  # needs no library
        scorer, tokenizers = _library(f"`{kind}`")
        if tokenizer == "rouge-score":
            self.tokenize = tokenizers.DefaultTokenizer(stem).tokenize
        if kind != "rougeS":
            self._scorer: Any = scorer.RougeScorer([kind], tokenizer=_Tokens(self.tokenize))

    def score(self, candidate: str, references: Sequence[str]) -> RougeScore:
        """Return the score against the reference with the greatest F1. Raises DataError if there is no reference."""
        if not references:
            raise DataError.of("Expected at least one reference, got none")
        scores = [self._single(candidate, reference)._replace(reference=at) for at, reference in enumerate(references)]
        return max(scores, key=lambda score: score.f1)

    def _single(self, candidate: str, reference: str) -> RougeScore:
        if self.kind == "rougeS":
            return self._skip_bigrams(candidate, reference)
        score = self._scorer.score(reference, candidate)[self.kind]
        return RougeScore(float(score.precision), float(score.recall), float(score.fmeasure))

    def _skip_bigrams(self, candidate: str, reference: str) -> RougeScore:
        owner, codes = skipgrams(tokens([self.tokenize(candidate), self.tokenize(reference)]), self.skip)
        ours, theirs = (Counter(codes[owner == side].tolist()) for side in (0, 1))
        common = (ours & theirs).total()
        precision, recall = (common / max(side.total(), 1) for side in (ours, theirs))
        return RougeScore(precision, recall, 2 * common / max(ours.total() + theirs.total(), 1))


def _ascii_words(text: str) -> list[str]:
    return _ASCII.findall(text.lower())


def rouge_lsum(tokenizer: str = "words") -> Distance:
    r"""Return the distance 1 - F1 of the longest common subsequences of sentences, in [0, 1]; one sentence per line.

    For each gold sentence, the words are counted that are in its longest common subsequence with any predicted
    sentence, each word at most as often as on the other side. Neither symmetric nor a metric. Source: Lin, 2004.

    Args:
        tokenizer: As for `RougeScorer`.

    Raises:
        SchemaError: rouge-score is not installed.

    >>> rouge_lsum()("d e f\na b c", "a b c\nd e f")  # doctest: +SKIP
    0.0
    """
    try:
        _library("The distance `rouge-lsum`")
    except DataError as error:
        raise SchemaError(*error.problems) from error
    facts = Facts(symmetric=False, separating=False, triangle=False, witness=("a b", "a\nb a"))
    pool = partial(_summary_pool, tokenizer)
    return Distance("rouge-lsum", frozenset({Kind.STRING}), facts, pool, {"tokenizer": tokenizer}, expensive_above=1)


@dataclass(frozen=True, slots=True)
class _SummaryPool(DeferredPool):
    """A pool of texts that `rougeLsum` scores. The bounds use the number of common words."""

    lengths: Indices
    scorer: RougeScorer

    def distances(self, left: Indices, right: Indices) -> Floats:
        distances = np.zeros(left.size)
        for pair, (gold, predicted) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if self.texts[gold] != self.texts[predicted] and self.lengths[gold] + self.lengths[predicted]:
                distances[pair] = 1.0 - self.scorer.score(self.texts[predicted], [self.texts[gold]]).f1
        distances[np.abs(distances) < BOUND_MARGIN] = 0.0
        return check_distances(distances, left.shape, "rouge-score")


def _summary_pool(tokenizer: str, values: Sequence[str]) -> _SummaryPool:
    scorer = RougeScorer("rougeLsum", tokenizer=tokenizer)
    sequences = [scorer.tokenize(value) for value in values]
    bounds = build_bags(len(values), *tokens(sequences), dice, multiple=True)
    return _SummaryPool(tuple(values), bounds, BOUND_MARGIN, np.array([*map(len, sequences)], dtype=np.intp), scorer)
