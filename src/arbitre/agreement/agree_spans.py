"""The agreement of annotators on spans of a text, measured with gamma.

`agree_spans` reads the files of the annotators, joins their documents, and computes gamma. `agree` is the counterpart
for nested documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
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
from arbitre.entities.sentences import read
from arbitre.entities.spans import AUTO
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.inputs.open_files import expand_globs
from arbitre.options import formerly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.agreement.coefficient import Coefficient
    from arbitre.entities.sentences import Sentences
    from arbitre.entities.spans import Span
    from arbitre.inputs.corpus_sources import Paths

    Documents = list[dict[str, Sequence[Span]]]
    """Spans of each annotator, one mapping per document."""


FORMAT: Final = "arbitre-gamma/1"

DIVERGENT: Final = 0.05
"""Difference of local and global gamma above which the documents are reported as heterogeneous."""

FEW: Final = 2.0
"""Mean number of spans per annotator and document below which gamma is unreliable."""


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """Agreement of several annotators on spans that they located themselves.

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
        """Return half the width of the 95 % interval of gamma that results from random sampling.

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
    annotators: Mapping[str, Paths],
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
) -> SpanAgreement:
    """Measure the agreement of annotators on spans with gamma, as `arbitre gamma` does.

    Records with an `id` are documents, and are joined by it. Without ids, sentences are joined by position. If their
    numbers of tokens are known, as in CoNLL files, the sentences of a file (or of a section that begins with
    `-DOCSTART-`) are put one after the other and form one document.

    Args:
        annotators: Files of each annotator, in the formats of `arbitre.entities.read`.
        alpha: Weight of the positional dissimilarity; see `gamma`.
        beta: Weight of the categorical dissimilarity.
        unmatched: Dissimilarity of a missing span.
        precision: Relative error of the expected disorder at 95 % confidence, above 0.
        samples: Minimum number of random annotations per document.
        seed: Random seed.
        tags: Notation of the tags; see `arbitre.entities.read`.
        lenient_tags: Accept tags that do not follow the notation, and read them as conlleval does.
        column: Column of the tag in CoNLL files, from 0, or the column of each annotator; -1 is the last.

    Returns:
        Local and global gamma, and the counts and disorders they were computed from.

    Raises:
        DataError: A file cannot be read, the files do not have the same sentences, or no document has two annotators.
        OptionError: An option is out of range.
    """
    check_options(alpha=alpha, beta=beta, unmatched=unmatched, precision=precision, samples=samples)
    documents, notes = read_spans(annotators, tags=tags, lenient_tags=lenient_tags, column=column)
    continua = Continua.of(documents, alpha, beta, unmatched)
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
        negative = local if local.value < 0.0 else over_all
        values = ", ".join(f"{coefficient.value:.2f} {name}" for name, coefficient in agreement.gamma.items())
        yield f"gamma is negative ({values}). {negative.reason}"
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
    """Return the sampling error of gamma at 95 % confidence: that of the expected disorder, carried over to gamma."""
    if coefficient.value is None or coefficient.expected is None or coefficient.standard_error is None:
        return None
    return NORMAL * (1.0 - coefficient.value) * coefficient.standard_error / (1.0 - coefficient.expected)


def read_spans(
    annotators: Mapping[str, Paths], *, tags: str, lenient_tags: bool, column: int | Mapping[str, int]
) -> tuple[Documents, list[str]]:
    """Read the spans of annotators and join their documents.

    Records with an `id` are documents, and are joined by it. Without ids, sentences are joined by position. If their
    numbers of tokens are known, the sentences of a file, or of a section that begins with `-DOCSTART-`, are put one
    after the other and form one document; otherwise each sentence is a document.

    Args:
        annotators: Files of each annotator.
        tags: Notation of the tags; see `arbitre.entities.read`.
        lenient_tags: Whether to read tags that do not follow the notation; see `arbitre.entities.read`.
        column: Column of the tags in CoNLL files, or the column of each annotator.

    Returns:
        The documents, and notes on tags that do not follow the notation.

    Raises:
        DataError: A file cannot be read, an id occurs twice, or the files do not have the same sentences.
        OptionError: `column` names an unknown annotator.
    """
    columns = dict.fromkeys(annotators, column) if isinstance(column, int) else dict(column)
    if unknown := columns.keys() - annotators.keys():
        name = min(unknown)
        raise OptionError.of(f"Unknown annotator {name!r} in `column`", hint=did_you_mean(name, annotators))
    files = {
        name: [
            read(file, tags=tags, lenient_tags=lenient_tags, column=columns.get(name, -1))
            for file in expand_globs(annotators[name])
        ]
        for name in sorted(annotators)
    }
    notes = [
        f"{sentences.source.file}: tags that do not follow {str(sentences.notation).upper()}, read as conlleval does: "
        f"{sentences.irregular}."
        for each in files.values()
        for sentences in each
        if sentences.irregular
    ]
    if all(sentences.source.ids is not None for each in files.values() for sentences in each):
        return list(_by_id(files).values()), notes
    return list(_by_position(files)), notes


def _by_id(files: Mapping[str, Sequence[Sentences]]) -> Mapping[str, dict[str, Sequence[Span]]]:
    """Return the spans of each annotator in each document, by the id of the document.

    Args:
        files: Sentences of each file of each annotator; all have ids.
    """
    documents: dict[str, dict[str, Sequence[Span]]] = {}
    for name, each in files.items():
        for sentences in each:
            for number, (identity, spans) in enumerate(zip(sentences.source.ids or (), sentences.spans, strict=True)):
                document = documents.setdefault(identity, {})
                if name in document:
                    raise sentences.source.error(
                        number,
                        f"{name!r} annotated the document {identity!r} twice",
                        hint="Give each annotator, or each run, its own name.",
                    )
                document[name] = spans
    return dict(sorted(documents.items()))


def _by_position(files: Mapping[str, Sequence[Sentences]]) -> Iterator[dict[str, Sequence[Span]]]:
    """Yield the spans of each annotator in each document; documents are joined by position, see `read_spans`.

    Args:
        files: Sentences of each file of each annotator, with as many files for each.
    """
    first, *others = files.values()
    for name, each in files.items():
        if len(each) != len(first):
            plural = "s" * (len(first) != 1)
            raise DataError.of(
                f"Expected {len(first)} file{plural} from {name!r}, as from {min(files)!r}, got {len(each)}",
                hint="Documents without ids are joined by position.",
            )
    for number, reference in enumerate(first):
        parallel = [reference, *(each[number] for each in others)]
        for sentences in parallel[1:]:
            reference.check_same(sentences, str(reference.source.file))
        lengths = next((sentences.lengths for sentences in parallel if sentences.lengths is not None), None)
        sections = next((sentences.source.sections for sentences in parallel if sentences.source.sections), ())
        # A document is a range of sentences; the spans of a sentence move by its offset within the document.
        if lengths is None:
            bounds, offsets = list(range(len(reference) + 1)), [0] * len(reference)
        else:
            bounds = sorted({0, *sections, len(reference)})
            offsets = [
                offset for start, end in pairwise(bounds) for offset in accumulate(lengths[start : end - 1], initial=0)
            ]
        for start, end in pairwise(bounds):
            yield {
                name: [_moved(span, offsets[at]) for at in range(start, end) for span in each[number].spans[at]]
                for name, each in files.items()
            }


def _moved(span: Span, offset: int) -> dict[str, Any]:
    """Return a span moved by an offset."""
    return {"start": span["start"] + offset, "end": span["end"] + offset, "label": span["label"]}
