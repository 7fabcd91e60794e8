"""The evaluation of entity recognition: `evaluate` and its results, and the metrics of a trainer (`trainer_metrics`).

Sentences are documents and entities are entries of the ordinary comparator; see `outcomes`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np

from arbitre.classification import AVERAGES, ClassAverages, Confusion
from arbitre.corpus.evaluation import Evaluation, extend
from arbitre.entities.outcomes import IN_CLASS, EntityCounts, EntityPairs, check_scheme, comparator
from arbitre.entities.sentences import from_python
from arbitre.entities.spans import AUTO, OUTSIDE
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.inputs.provenance import Provenance
from arbitre.jobs.evaluation_job import EvaluationJob
from arbitre.jobs.evaluation_options import EvaluationOptions
from arbitre.language import Language
from arbitre.normalizers import nfc
from arbitre.options import Denominator, Scheme, formerly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.entities.sentences import Sentences
    from arbitre.entities.spans import Span


FORMAT: Final = "arbitre-entities/1"
"""Name and version of the format of `EntityEvaluation.summary`."""

IGNORED: Final = -100
"""Label id of tokens that do not count: special tokens, and parts of words after the first."""

_LOGITS: Final = 3
"""Number of dimensions of logits: sentences, tokens, tags."""


@dataclass(frozen=True, slots=True)
class TokenAccuracy:
    """The share of tokens that have the correct tag. Most tokens are outside entities, so compare it with the baseline.

    Attributes:
        tokens: Number of tokens.
        correct: Number of tokens with the correct tag.
        outside: Number of tokens with the gold tag O.
    """

    tokens: int
    correct: int
    outside: int

    @property
    def accuracy(self) -> float | None:
        """Share of the tokens with the correct tag; None without tokens."""
        return self.correct / self.tokens if self.tokens else None

    @property
    def baseline(self) -> float | None:
        """Accuracy of the tag O for every token; None without tokens."""
        return self.outside / self.tokens if self.tokens else None

    def to_dict(self) -> dict[str, float | None]:
        """Return the accuracy with its baseline."""
        return {"accuracy": self.accuracy, "always_o": self.baseline, "tokens": self.tokens}


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """The number of sentences whose entities are all correct, with none missing and none spurious.

    Attributes:
        denominator: Sentences that count in `rate`: "all", or those with gold "entities".
        sentences: Number of sentences.
        exact: Number of sentences without errors. They include sentences without entities on both sides.
        sentences_with_entities: Number of sentences with gold entities.
        exact_with_entities: Number of these without errors.
    """

    denominator: Denominator
    sentences: int
    exact: int
    sentences_with_entities: int
    exact_with_entities: int

    @property
    def rate(self) -> float | None:
        """Share of the sentences of the denominator that have no errors; None if there are none."""
        if self.denominator == "all":
            return self.exact / self.sentences if self.sentences else None
        return self.exact_with_entities / self.sentences_with_entities if self.sentences_with_entities else None

    def to_dict(self) -> dict[str, Any]:
        """Return the rate with both denominators."""
        names = ("denominator", "sentences", "exact", "sentences_with_entities", "exact_with_entities")
        return {"rate": self.rate} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class EntityClasses(ClassAverages):
    """The scores of each label, computed by applying the scheme only to the entities with this label.

    Attributes:
        counts: Counts and scores of each label, sorted.
        confusion: The confusion matrix. It counts overlapping entities with different labels as confused.
    """

    counts: dict[str, EntityCounts]
    confusion: Confusion

    @property
    def per_class(self) -> dict[str, EntityCounts]:
        """Counts and scores of each label."""
        return self.counts


@dataclass(frozen=True, eq=False, repr=False)
class EntityEvaluation(Evaluation):
    """The results of evaluating entity recognition. Sentences are the documents, entities are the entries.

    `f1q`, `imq` and `irq` of `micro` are F1, precision and recall; for the scheme "partial", a partially correct pair
    counts 1/2 + intersection / union / 2 instead of 1/2.
    """

    scheme: Scheme = "strict"
    """When an entity is correct."""
    counts: EntityCounts = field(default_factory=lambda: EntityCounts.of(0, 0, 0, 0, 0))
    """Counts and scores of all entities."""
    classes: EntityClasses = field(default_factory=lambda: EntityClasses({}, Confusion((None,), np.zeros((1, 1)))))
    """Counts and scores of each label, their averages, and the confusion matrix."""
    exact_match: ExactMatches = field(default_factory=lambda: ExactMatches("all", 0, 0, 0, 0))
    """Sentences without errors."""
    token_accuracy: TokenAccuracy | None = None
    """Accuracy of the tags with its baseline; None if the entities were given as spans."""
    irregular: int = 0
    """Number of predicted tags that do not follow the notation; they are read as conlleval reads them."""

    @property
    def precision(self) -> float | None:
        """Precision of all entities according to the scheme; None if none are predicted."""
        return self.counts.precision

    @property
    def recall(self) -> float | None:
        """Recall of all entities according to the scheme; None if gold has none."""
        return self.counts.recall

    @property
    def f1(self) -> float | None:
        """F1 of all entities according to the scheme; None if there are none."""
        return self.counts.f1

    @property
    def per_class(self) -> dict[str, EntityCounts]:
        """Counts and scores of each label."""
        return self.classes.per_class

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix of the labels."""
        return self.classes.confusion

    def summary(self) -> dict[str, Any]:
        """Return the counts and scores as JSON, valid against `schemas/entities.schema.json`.

        `to_dict` returns the scores of the comparison instead, in the format of `arbitre evaluate`.
        """
        return {
            "format": FORMAT,
            "signature": self.signature.to_dict(),
            "scheme": self.scheme,
            "model": self.counts.to_dict(),
            "graded": {name: getattr(self.micro, name) for name in ("imq", "irq", "f1q")},
            "per_class": {label: scores.to_dict() for label, scores in self.per_class.items()},
            **{name: getattr(self.classes, name).to_dict() for name in AVERAGES},
            "confusion": self.confusion.to_dict(),
            "readings": list(self.classes.readings()),
            "exact_match": self.exact_match.to_dict(),
            "token_accuracy": None if self.token_accuracy is None else self.token_accuracy.to_dict(),
            "irregular_tags": self.irregular,
        }


@formerly(lenient="lenient_tags")
def evaluate(
    gold: Sentences | Iterable[Sequence[Span] | Sequence[str]],
    predicted: Sentences | Iterable[Sequence[Span] | Sequence[str]],
    scheme: Scheme = "strict",
    *,
    tags: str = AUTO,
    lenient_tags: bool = False,
    exact_match: Denominator = "all",
    out: str | Path | None = None,
    lang: str = "en",
    force: bool = False,
) -> EntityEvaluation:
    """Compare predicted entities with gold entities sentence by sentence, as `arbitre entities` does.

    Args:
        gold: The gold entities of each sentence: a list of spans with `start`, `end` and `label`, or a list of tags.
            Spans may overlap; equal spans count each time they occur.
        predicted: The predicted entities of the same sentences, in the same order. Sentences read from files in which
            each record has an `id` of its own may have any order.
        scheme: When an entity is correct: "strict", "exact", "partial" or "type".
        tags: Notation of the tags: "bio", "iob1", "bioes", or "auto" to infer it from gold.
        lenient_tags: Accept gold tags that do not follow the notation, and read them as conlleval does.
            Predicted tags are always read this way, if the notation has their prefix; `irregular` counts them.
        exact_match: Sentences included in the exact-match rate: "all", or those with gold "entities".
        out: Folder for the files that `arbitre evaluate --out` writes; None writes no files.
        lang: Language of the report: "en" or "fr".
        force: Whether to write to a folder that already contains other files, which are kept.

    Returns:
        The counts and scores of all entities and of each label.

    Raises:
        DataError: Gold and predictions have different sentences, or a tag or a span is invalid.
        OptionError: An option has an unknown value.

    >>> gold = [[{"start": 0, "end": 2, "label": "person"}, {"start": 3, "end": 4, "label": "city"}]]
    >>> predicted = [[{"start": 0, "end": 2, "label": "person"}, {"start": 3, "end": 4, "label": "person"}]]
    >>> strict = evaluate(gold, predicted)
    >>> strict.f1, strict.per_class["person"].precision, evaluate(gold, predicted, "exact").f1
    (0.5, 0.5, 1.0)
    """
    check_scheme(scheme)
    if exact_match not in get_args(Denominator):
        raise OptionError.of(
            f"Expected `exact_match` to be a known name, got {exact_match!r}",
            hint=did_you_mean(exact_match, get_args(Denominator)),
        )
    left = from_python(gold, notation=tags, lenient=lenient_tags)
    notation = tags if left.notation is None else left.notation
    right = from_python(predicted, notation=notation, lenient=True)
    right = left.aligned(right)
    left.check_same(right)
    evaluation, pairs = _compared(left, right, scheme, out, lang=Language.named(lang), force=force)
    labels = sorted({span["label"] for side in (left, right) for span in side.distinct})
    matched, own = pairs.columns(labels), IN_CLASS[scheme]
    in_class = matched if own == scheme else _compared(left, right, own, None)[1].columns(labels)
    if scheme == "partial":  # the highest sum of graded qualities may have a lower credit
        matched, in_class = matched.by_credit(), in_class.by_credit(same=True)
    counts = dict(zip(labels, in_class.by_class(), strict=True))
    return extend(
        EntityEvaluation,
        evaluation,
        scheme=scheme,
        counts=matched.totals(),
        classes=EntityClasses(counts, Confusion((*labels, None), in_class.confusion())),
        exact_match=_exact_matches(evaluation.document_table.tallies, exact_match),
        token_accuracy=_token_accuracy(left.tags, right.tags),
        irregular=right.irregular,
    )


def _compared(
    gold: Sentences,
    predicted: Sentences,
    scheme: str,
    out: Path | str | None,
    *,
    lang: Language = Language.EN,
    force: bool = False,
) -> tuple[Evaluation, EntityPairs]:
    """Compare the entities with the ordinary comparator.

    Args:
        gold: The gold sentences.
        predicted: The predicted sentences.
        scheme: A scheme of `outcomes`, one for entities of the same class included.
        out: See `evaluate`.
        lang: See `evaluate`.
        force: See `evaluate`.

    Returns:
        The evaluation, and the matching of the entities.
    """
    ids = gold.source.ids or [str(number) for number in range(1, len(gold) + 1)]
    pairs = EntityPairs()
    provenance = None if gold.source.file is None else Provenance.read(gold.source.file)
    options = EvaluationOptions(
        out=None if out is None else Path(out),
        workers=1,
        no_chance=True,
        provenance=provenance,
        lang=lang,
        force=force,
    )
    triples = list(zip(ids, gold.spans, predicted.spans, strict=True))
    inputs = [side.source.file for side in (gold, predicted) if side.source.file is not None]
    job = EvaluationJob(comparator(scheme).plan, triples, options, inputs=inputs, observers={"entities": pairs})
    evaluation, files = job()
    return extend(Evaluation, evaluation, files=files), pairs


def _exact_matches(tallies: Floats, denominator: Denominator) -> ExactMatches:
    """Count the sentences whose entities are all correct, from the tallies of the sentences; shape (sentences, 5)."""
    gold, predicted, _, quality, _ = tallies.T
    exact, has_entities = (gold == predicted) & (quality == gold), gold > 0.0
    sizes = (len(tallies), exact.sum(), has_entities.sum(), (exact & has_entities).sum())
    return ExactMatches(denominator, *map(int, sizes))


def _token_accuracy(gold: Sequence[str] | None, predicted: Sequence[str] | None) -> TokenAccuracy | None:
    """Return the accuracy of the tags of all tokens; None if a side has no tags."""
    if gold is None or predicted is None:
        return None
    correct = sum(map(str.__eq__, gold, predicted))
    return TokenAccuracy(len(gold), correct, gold.count(OUTSIDE))


def trainer_metrics(
    id2label: Mapping[int, str], *, scheme: Scheme = "strict", tags: str = AUTO
) -> Callable[[Any], dict[str, float]]:
    """Return a function for the argument `compute_metrics` of a trainer, such as that of transformers.

    The function takes the predictions and the label ids, as a pair or as an object with the attributes `predictions`
    and `label_ids`. Predictions are logits of shape (sentences, tokens, tags) or tag ids of shape (sentences, tokens).
    Tokens with the label id -100 do not count.

    It returns `precision`, `recall` and `f1` of all entities; `f1_macro`, the mean F1 of the labels; `exact_match`, the
    share of sentences whose entities are all correct; `accuracy` and `accuracy_always_o` of the tags; and
    `precision_LABEL`, `recall_LABEL` and `f1_LABEL` of each label in `id2label`. A trainer compares numbers, so a score
    without denominator is 0 here.

    Args:
        id2label: Tags by id.
        scheme: When an entity is correct, as in `evaluate`.
        tags: Notation of the tags, as in `evaluate`.

    >>> metrics = trainer_metrics({0: "O", 1: "B-city", 2: "I-city"})
    >>> scores = metrics((np.array([[1, 2, 0], [1, 0, 0]]), np.array([[1, 2, -100], [0, 1, 0]])))
    >>> scores["f1_macro"], scores["exact_match"], scores["accuracy_always_o"]
    (0.5, 0.5, 0.4)
    """
    names = {int(number): str(tag) for number, tag in id2label.items()}
    labels = sorted({tag.partition("-")[2] for tag in names.values() if "-" in tag})

    def compute_metrics(output: Any) -> dict[str, float]:  # noqa: ANN401  (of the trainer)
        predictions, ids = (
            (output.predictions, output.label_ids) if hasattr(output, "predictions") else (output[0], output[1])
        )
        predicted = np.asarray(predictions[0] if isinstance(predictions, tuple) else predictions)
        gold = np.asarray(ids)
        if predicted.ndim == _LOGITS:
            predicted = predicted.argmax(axis=-1)
        if predicted.shape != gold.shape:
            raise DataError.of(
                f"Expected a prediction for each label id (shape {gold.shape}), got the shape {predicted.shape}"
            )
        counted = gold != IGNORED
        left, right = (
            [_tags(row[mask], names) for row, mask in zip(rows, counted, strict=True)] for rows in (gold, predicted)
        )
        evaluation = evaluate(left, right, scheme=scheme, tags=tags, lenient_tags=True)
        scores: dict[str, float | None] = {
            "precision": evaluation.precision,
            "recall": evaluation.recall,
            "f1": evaluation.f1,
            "f1_macro": evaluation.classes.macro.f1,
            "exact_match": evaluation.exact_match.rate,
        }
        if evaluation.token_accuracy is not None:
            scores |= {
                "accuracy": evaluation.token_accuracy.accuracy,
                "accuracy_always_o": evaluation.token_accuracy.baseline,
            }
        for label in labels:
            of_label = evaluation.per_class.get(nfc(label))
            scores |= {f"{name}_{label}": getattr(of_label, name, None) for name in ("precision", "recall", "f1")}
        return {name: 0.0 if score is None else float(score) for name, score in scores.items()}

    return compute_metrics


def _tags(ids: Any, names: Mapping[int, str]) -> list[str]:  # noqa: ANN401  (an array)
    """Return the tags with these ids. Raises DataError for an id without a name."""
    unknown = next((number for number in ids.tolist() if number not in names), None)
    if unknown is not None:
        raise DataError.of(f"Expected ids of `id2label`, got {unknown}", hint="Ids are -100 or keys of `id2label`.")
    return [names[number] for number in ids.tolist()]
