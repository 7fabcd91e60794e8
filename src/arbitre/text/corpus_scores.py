"""Scores of the texts, or of the segmentations, of a corpus."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.distances import segmentations
from arbitre.distances.rouge import RougeScore, RougeScorer
from arbitre.distances.segmentations import Segmentation, read_segmentation
from arbitre.distances.translation import CorpusScore, corpus_bleu, corpus_chrf
from arbitre.errors import DataError
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.values import Json

    Measure = Callable[[Segmentation, Segmentation], tuple[float, float]]

KINDS: Final = ("rouge1", "rouge2", "rougeL", "rougeLsum")
"""Default kinds of ROUGE."""


class ValuePair(NamedTuple):
    """A gold value, or a list of accepted readings, and the predicted value; ABSENT where there is none."""

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
    """Differences between the segmentations at one path of a corpus, in [0, 1]; 0 is best.

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


def score_texts(pairs: Iterable[ValuePair], kinds: Sequence[str] = KINDS) -> TextScores:
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
    rouge = {kind: _mean_rouge(RougeScorer(kind), candidates, references) for kind in kinds}
    scores = corpus_bleu(candidates, references), corpus_chrf(candidates, references)
    return TextScores(len(references), missing, spurious, rouge, *scores)


def _texts(value: Json) -> list[str]:
    """Return a text, or the texts of a list of references, as a list."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _mean_rouge(scorer: RougeScorer, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> RougeScore:
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
    if predicted is not None:
        return measure(gold, predicted)
    _, whole = measure(gold, Segmentation((gold.length,), gold.length))
    return whole, whole


def _pooled(parts: Sequence[tuple[float, float]]) -> float | None:
    total = math.fsum(whole for _, whole in parts)
    return math.fsum(part for part, _ in parts) / total if total else None
