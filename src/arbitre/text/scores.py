"""Scores of generated texts: of one text, with BLEU, ROUGE and measures of segmentations, and of the texts of a corpus.

The functions for one text (`bleu`, `rouge`, `window_diff`, ...) take a candidate and its references. `score_texts` and
`score_segmentations` take the gold and predicted values at one path of a corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.distances import segmentations
from arbitre.distances.rouge import SKIP, RougeScore, RougeScorer
from arbitre.distances.segmentations import Segmentation, read_segmentation
from arbitre.distances.translation import (
    BleuScore,
    CorpusScore,
    corpus_bleu,
    corpus_chrf,
    tokenizer,
    weighted_bleu,
    weights_problem,
)
from arbitre.errors import DataError, OptionError, check_integer, shown
from arbitre.parsing.json_form import json_form
from arbitre.values import ABSENT, as_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.options import Tokenizer
    from arbitre.values import Json

    Measure = Callable[[Segmentation, Segmentation], tuple[float, float]]
    """Returns the number of errors between two segmentations, and the largest number possible."""

WEIGHTS: Final = (0.25, 0.25, 0.25, 0.25)
"""Default weights of the precisions of BLEU: those of n-grams of length 1 to 4."""

KINDS: Final = ("rouge1", "rouge2", "rougeL", "rougeLsum")
"""Default kinds of ROUGE."""


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
    """Return BLEU with its components, as `arbitre text bleu` does; arguments and errors as for `bleu`.

    >>> score = bleu_details("a b c d", "a b c d e", weights=[0.5, 0.5])
    >>> score.precisions, round(score.brevity_penalty, 4), score.length, score.reference_length
    ((1.0, 1.0), 0.7788, 4, 5)
    """
    texts, weights = as_references(candidate, references), json_form(weights)
    if problem := weights_problem(weights):
        raise OptionError.of(problem, hint="For equal weights of n-grams up to length n, pass [1 / n] * n.")
    split = tokenizer(tokenize)
    return weighted_bleu([split(text) for text in texts], split(candidate), weights)


def rouge(
    candidate: str,
    references: str | Sequence[str],
    kind: str = "rouge1",
    *,
    tokenizer: Tokenizer = "words",
    stem: bool = False,
    skip: int = SKIP,
) -> RougeScore:
    """Return the ROUGE score of a candidate against its best reference, as `arbitre text rouge` does.

    Source: Lin, 2004. rouge-score computes it (extra `text`). A score with a zero denominator is 0, as in rouge-score.

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


def window_diff(gold: Json, predicted: Json, k: int | None = None) -> float:
    """Return WindowDiff: the share of windows in which the two sides have different numbers of boundaries.

    In [0, 1]; 0 for equal segmentations. Source: Pevzner and Hearst, 2002.

    Args:
        gold: A list of spans, `[start, end]` or `{"start": ..., "end": ...}`; a list of the positions where segments
            end; or a text of 0 and 1, with 1 for a boundary between two units.
        predicted: The same for the prediction.
        k: Number of positions of a window; by default half of the mean length of the gold segments, at least 2.

    Raises:
        DataError: A value is not a segmentation.
        OptionError: `k` is less than 1.

    >>> window_diff("000100000010", "000010000100", k=3)
    0.3
    """
    _check(k)
    return segmentations.share_of_windows(segmentations.counts_differ, k, *_both(gold, predicted))


def pk(gold: Json, predicted: Json, k: int | None = None) -> float:
    """Return Pk: the share of windows with a boundary on one side only. Source: Beeferman et al., 1999.

    Arguments and errors as for `window_diff`.
    """
    _check(k)
    return segmentations.share_of_windows(segmentations.one_side_only, k, *_both(gold, predicted))


def generalized_hamming(
    gold: Json, predicted: Json, insertion: float = 2.0, deletion: float = 2.0, shift: float = 1.0
) -> float:
    """Return the least cost of changing the predicted boundaries into those of gold. Source: Bookstein et al., 2002.

    The distance `generalized-hamming` is this cost divided by the cost of deleting and inserting all boundaries.

    Args:
        gold: As for `window_diff`.
        predicted: As for `window_diff`.
        insertion: Cost of a boundary that is inserted.
        deletion: Cost of a boundary that is deleted.
        shift: Cost of moving a boundary by one position.

    Raises:
        DataError: A value is not a segmentation, or there are too many boundaries.

    >>> generalized_hamming("1100100000", "1100010000", insertion=1, deletion=1, shift=0.5)
    0.5
    """
    sides = _both(gold, predicted)
    return segmentations.costs(insertion, deletion, shift, *sides)[0]


def _check(k: int | None) -> None:
    """Raise OptionError if the size of the windows is less than 1."""
    if k is not None:
        check_integer("k", k, least=1)


def _both(gold: Json, predicted: Json) -> tuple[Segmentation, Segmentation]:
    """Return the segmentations of both sides. Raises DataError if a value is not a segmentation."""
    return _read("gold", gold), _read("the prediction", predicted)


def _read(side: str, value: Json) -> Segmentation:
    """Return the segmentation that a value describes; `side` names it in the DataError for any other value."""
    segmentation = read_segmentation(json_form(value))
    if segmentation is None:
        hint = "Pass spans in the order of the text, increasing positions where segments end, or a text of 0 and 1."
        raise DataError.of(f"Expected {side} to be a segmentation, got {shown(value)}", hint=hint)
    return segmentation


def as_references(candidate: str, references: str | Sequence[str]) -> list[str]:
    """Return the references as a list.

    Args:
        candidate: The text under evaluation.
        references: One reference, or several.

    Raises:
        DataError: There is no reference, or a value is not a text.
    """
    given = json_form(references)
    texts = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not texts:
        raise DataError.of("Expected at least one reference, got none")
    for name, text in (("the candidate", candidate), *((f"reference {at}", text) for at, text in enumerate(texts, 1))):
        if not isinstance(text, str):
            raise DataError.of(f"Expected {name} to be a text, got {shown(text)}")
    return texts


# The texts, or the segmentations, at one path of a corpus.


class ValuePair(NamedTuple):
    """A normalised gold value, or a list of accepted forms, and the predicted value; ABSENT where there is none."""

    gold: Json
    predicted: Json


@dataclass(frozen=True, slots=True)
class TextScores:
    """Scores of the texts at one path of a corpus, in [0, 1].

    Every gold text counts; a missing prediction counts as an empty text.

    Attributes:
        texts: Number of gold texts.
        missing: Number of gold texts without a predicted text.
        spurious: Number of predicted texts without gold, which are not scored.
        rouge: By kind, the means of the precision, recall and F1 of the texts, each against its best reference.
        bleu: Corpus BLEU with the signature of sacrebleu.
        chrf: Corpus chrF2 with the signature of sacrebleu.
    """

    texts: int
    missing: int
    spurious: int
    rouge: Mapping[str, RougeScore]
    bleu: CorpusScore
    chrf: CorpusScore

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as JSON."""
        rouge = {
            kind: dict(zip(("precision", "recall", "f1"), score, strict=False)) for kind, score in self.rouge.items()
        }
        counts = {name: getattr(self, name) for name in ("texts", "missing", "spurious")}
        return counts | {"rouge": rouge, "bleu": self.bleu._asdict(), "chrf": self.chrf._asdict()}


@dataclass(frozen=True, slots=True)
class SegmentationScores:
    """Differences between gold and predicted segmentations at one path of a corpus, in [0, 1]; 0 is best.

    Attributes:
        segmentations: Number of gold segmentations.
        missing: Number of those without a predicted segmentation: all of their windows count as different, and all of
            their boundaries as missing.
        spurious: Number of predicted segmentations without gold, which are not scored.
        window_diff: Share of all windows with different numbers of boundaries.
        pk: Share of all windows with a boundary on one side only.
        generalized_hamming: Cost of changing all predicted boundaries into those of gold, divided by the cost of
            deleting and inserting all of them.
    """

    segmentations: int
    missing: int
    spurious: int
    window_diff: float | None
    pk: float | None
    generalized_hamming: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def score_texts(pairs: Iterable[ValuePair], kinds: str | Sequence[str] = KINDS) -> TextScores:
    """Return the scores of the texts of a corpus.

    Args:
        pairs: Gold texts, or lists of references, with the predicted texts.
        kinds: Kinds of ROUGE, as for `arbitre.text.rouge`.

    Raises:
        DataError: There are no gold texts, or rouge-score is not installed.
        SchemaError: sacrebleu is not installed.
        OptionError: A kind is unknown.
    """
    references, candidates, missing, spurious = list[list[str]](), list[str](), 0, 0
    for pair in pairs:
        texts = _texts(pair.gold)
        answers = isinstance(pair.predicted, str)
        if texts:
            references.append(texts)
            candidates.append(pair.predicted if answers else "")
            missing += not answers
        elif pair.gold is ABSENT:
            spurious += answers
    if not references:
        raise DataError.of("Expected texts in gold, got none", hint="Name a path of texts, such as /summary.")
    rouge = {kind: _mean_rouge(RougeScorer(kind), candidates, references) for kind in as_tuple(kinds)}
    scores = corpus_bleu(candidates, references), corpus_chrf(candidates, references)
    return TextScores(len(references), missing, spurious, rouge, *scores)


def _texts(value: Json) -> list[str]:
    """Return a text, or the texts of a list of references, as a list."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _mean_rouge(scorer: RougeScorer, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> RougeScore:
    """Return the means of the precision, recall and F1 of the candidates, each against its references."""
    scores = [scorer.score(*pair) for pair in zip(candidates, references, strict=True)]
    precision, recall, f1 = (math.fsum(score[at] for score in scores) / len(scores) for at in range(3))
    return RougeScore(precision, recall, f1)


def score_segmentations(pairs: Iterable[ValuePair], k: int | None = None) -> SegmentationScores:
    """Return the pooled differences between the segmentations of a corpus.

    Args:
        pairs: Gold segmentations with the predicted ones (see `arbitre.text.window_diff`).
        k: Number of positions of a window; None for half of the mean segment of each gold segmentation.

    Raises:
        DataError: There are no gold segmentations.
    """
    gold, predicted, spurious = list[Segmentation](), list[Segmentation | None](), 0
    for pair in pairs:
        reference, answer = (None if value is ABSENT else read_segmentation(value) for value in pair)
        if reference is not None:
            gold.append(reference)
            predicted.append(answer)
        elif pair.gold is ABSENT:
            spurious += answer is not None
    if not gold:
        hint = "Name a path of spans, of positions where segments end, or of texts of 0 and 1."
        raise DataError.of("Expected segmentations in gold, got none", hint=hint)
    sides = list(zip(gold, predicted, strict=True))
    measures = (
        partial(segmentations.count_windows, segmentations.counts_differ, k),
        partial(segmentations.count_windows, segmentations.one_side_only, k),
        partial(segmentations.costs, 2.0, 2.0, 1.0),
    )
    shares = (_pooled([_parts(measure, *pair) for pair in sides]) for measure in measures)
    return SegmentationScores(len(gold), predicted.count(None), spurious, *shares)


def _parts(measure: Measure, gold: Segmentation, predicted: Segmentation | None) -> tuple[float, float]:
    """Return the errors of a prediction and their largest number; a missing prediction has as many."""
    if predicted is not None:
        return measure(gold, predicted)
    _, whole = measure(gold, Segmentation((gold.length,), gold.length))
    return whole, whole


def _pooled(parts: Sequence[tuple[float, float]]) -> float | None:
    """Return all errors divided by their largest number; None if this is 0."""
    total = math.fsum(whole for _, whole in parts)
    return math.fsum(part for part, _ in parts) / total if total else None
