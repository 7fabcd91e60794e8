"""The agreement of annotators on spans of a text, measured with gamma.

`agree_spans` reads the files of the annotators, joins their documents, and computes gamma. `agree` is the counterpart
for nested documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, get_args

from arbitre.agreement.gamma import (
    CHANCE_MODELS,
    NORMAL,
    PRECISION,
    SAMPLES,
    Continua,
    Expected,
    check_options,
    gamma_of,
)
from arbitre.agreement.notes import LOW
from arbitre.agreement.ratings import label
from arbitre.agreement.span_files import annotators_in, read_spans
from arbitre.entities.spans import AUTO
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.options import formerly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.agreement.coefficient import Coefficient
    from arbitre.inputs.corpus_sources import Paths
    from arbitre.options import AnnotationFormat


FORMAT: Final = "arbitre-gamma/1"

DIVERGENT: Final = 0.05
"""Difference of local and global gamma above which the documents are reported as heterogeneous."""

FEW: Final = 2.0
"""Mean number of spans per annotator and document below which gamma is unreliable."""


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Agreement among several annotators on the positions and labels of spans.

    Attributes:
        gamma: Gamma with random annotations drawn from the same document ("local") and from all documents ("global").
        annotators: Names of the annotators, sorted.
        documents: Number of documents with at least two annotators.
        annotations: Number of documents of each annotator, summed over the annotators.
        spans: Number of spans of each label by each annotator.
        exchanged: Number of aligned pairs of spans with two different labels, most frequent first.
        pairs: Number of aligned pairs of spans.
        exact: Whether every alignment is known to be optimal.
        parameters: Weights and options with which gamma was computed.
        notes: Warnings about coefficients that are easily misread.
    """

    gamma: Mapping[Expected, Coefficient]
    annotators: tuple[str, ...]
    documents: int
    annotations: int
    spans: Mapping[str, Mapping[str, int]]
    exchanged: Mapping[tuple[str, str], int]
    pairs: int
    exact: bool
    parameters: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def error(self, expected: Expected) -> float | None:
        """Return half the width of the 95% interval of gamma that results from random sampling.

        It does not describe how gamma would vary on other documents.
        """
        return _error(self.gamma[expected])

    def disorder(self) -> dict[str, float | None]:
        """Return the observed disorder, and the disorder expected by chance ("local" and "global")."""
        agreed = {"observed": self.gamma["local"].observed}
        agreed |= {name: coefficient.expected for name, coefficient in self.gamma.items()}
        scale = self.parameters["unmatched"]
        return {name: None if value is None else scale * (1.0 - value) for name, value in agreed.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON, valid against `schemas/agreement.schema.json`."""
        return {
            "format": FORMAT,
            "annotators": list(self.annotators),
            "documents": self.documents,
            "exact": self.exact,
            "parameters": dict(self.parameters),
            "gamma": {name: coefficient.to_dict() for name, coefficient in self.gamma.items()},
            "error": {name: self.error(name) for name in self.gamma},
            "disorder": self.disorder(),
            "spans": {name: dict(counts) for name, counts in self.spans.items()},
            "pairs": self.pairs,
            "exchanged": [{"labels": list(labels), "pairs": pairs} for labels, pairs in self.exchanged.items()],
            "notes": list(self.notes),
        }


@formerly(lenient="lenient_tags")
def agree_spans(
    annotators: Mapping[str, Paths] | Paths,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    unmatched: float = 1.0,
    precision: float = PRECISION,
    samples: int = SAMPLES,
    seed: int = 0,
    tags: str = AUTO,
    lenient_tags: bool = False,
    column: int | Mapping[str, int] = -1,
    annotations: AnnotationFormat = "auto",
    layer: str | None = None,
) -> SpanAgreement:
    """Measure the agreement of annotators on spans with gamma, as `arbitre gamma` does.

    Records with an `id` are documents, and are joined by it. Without ids, sentences are joined by position. If their
    numbers of tokens are known, as in CoNLL files, the sentences of a file (or of a section that begins with
    `-DOCSTART-`) are put one after the other and form one document.

    Args:
        annotators: Files of each annotator, in the formats of `arbitre.entities.read`; or files of an annotation tool
            that name their annotators.
        alpha: Weight of the positional dissimilarity; see `gamma`.
        beta: Weight of the categorical dissimilarity.
        unmatched: Dissimilarity of a missing span.
        precision: Maximum relative error of the expected disorder at 95% confidence, above 0.
        samples: Minimum number of random annotations per document.
        seed: Random seed.
        tags: Notation of the tags; see `arbitre.entities.read`.
        lenient_tags: Accept tags that do not follow the notation, and read them as conlleval does.
        column: Column of the tag in CoNLL files, from 0, or the column of each annotator; -1 is the last.
        annotations: Format of files of annotation tools; see `arbitre.entities.read`.
        layer: Layer of WebAnno TSV and XMI files; see `arbitre.entities.read`.

    Returns:
        Local and global gamma, and the counts and disorders they were computed from.

    Raises:
        DataError: A file cannot be read, the files do not have the same sentences, or no document has two annotators.
        OptionError: An option is out of range.
    """
    check_options(alpha=alpha, beta=beta, unmatched=unmatched, precision=precision, samples=samples, seed=seed)
    files = AnnotationOptions(annotations=annotations, layer=layer)
    sources = annotators if isinstance(annotators, Mapping) else annotators_in(annotators, files)
    documents, notes = read_spans(sources, files, tags=tags, lenient_tags=lenient_tags, column=column)
    continua = Continua.of(list(documents.values()), alpha, beta, unmatched)
    alignments = continua.alignments()
    local = gamma_of(continua, alignments, "local", precision=precision, samples=samples, seed=seed)
    over_all = (
        gamma_of(continua, alignments, "global", precision=precision, samples=samples, seed=seed)
        if len(continua.documents) > 1
        else replace(local, name="gamma_global", chance_model=CHANCE_MODELS["global"])
    )
    pairs, exchanged = continua.exchanged(alignments)
    counts = continua.counts()
    agreement = SpanAgreement(
        gamma={"local": local, "global": over_all},
        annotators=continua.annotators,
        documents=len(continua.documents),
        annotations=sum(map(len, continua.present)),
        spans={
            name: dict(zip(map(label, continua.labels), row, strict=True))
            for name, row in zip(continua.annotators, counts.tolist(), strict=True)
        },
        exchanged=exchanged,
        pairs=pairs,
        exact=all(alignment.exact for alignment in alignments),
        parameters={
            "alpha": alpha,
            "beta": beta,
            "unmatched": unmatched,
            "precision": precision,
            "samples": samples,
            "seed": seed,
        },
    )
    if continua.left_out:
        notes.append(f"Documents left out because they have only one annotator: {continua.left_out}.")
    return replace(agreement, notes=(*notes, *_notes(agreement)))


def _notes(agreement: SpanAgreement) -> Iterator[str]:
    """Yield warnings about values that are easily misread."""
    local, over_all = (agreement.gamma[expected] for expected in get_args(Expected))
    if local.value is None or over_all.value is None:
        yield f"gamma is undefined. {local.reason or over_all.reason}"
        return
    if min(local.value, over_all.value) < 0.0:
        if over_all.value >= 0.0:
            negative = "gamma is negative with local chance"
        elif local.value >= 0.0:
            negative = "gamma is negative with global chance"
        else:
            negative = "gamma is negative with local and global chance"
        values = ", ".join(f"{coefficient.value:.2f} {name}" for name, coefficient in agreement.gamma.items())
        yield f"{negative} ({values}). {local.reason or over_all.reason}"
    if 0.0 <= min(local.value, over_all.value) < LOW:
        yield (
            f"Low agreement ({min(local.value, over_all.value):.2f}). Random annotations are built from the annotations"
            f" themselves, so the expected disorder is less reliable too."
        )
    if not agreement.exact:
        yield "Some alignments may not be optimal, so the observed disorder may be too high."
    errors = [_error(coefficient) or 0.0 for coefficient in (local, over_all)]
    if abs(local.value - over_all.value) > max(DIVERGENT, sum(errors)):
        yield (
            f"The documents are heterogeneous: gamma is {local.value:.2f} with random annotations of the same document"
            f" and {over_all.value:.2f} with those of all documents. The documents differ in their labels, or in the "
            "number or length of their spans. Report both values."
        )
    spans = local.items / agreement.annotations
    if spans < FEW:
        yield (
            f"The documents have {spans:.1f} spans per annotator on average. Random annotations of so few spans "
            "resemble each other, which lowers gamma. Join the sentences of a text into one document."
        )


def _error(coefficient: Coefficient) -> float | None:
    """Return the sampling error of gamma at 95% confidence: that of the expected disorder, carried over to gamma."""
    if coefficient.value is None or coefficient.expected is None or coefficient.standard_error is None:
        return None
    return NORMAL * (1.0 - coefficient.value) * coefficient.standard_error / (1.0 - coefficient.expected)
