"""Documents with spans of several annotators, joined from files of entities."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from arbitre.corpus.reading.sources import expand_globs
from arbitre.entities.reading import read
from arbitre.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.corpus.joining.sources import Paths
    from arbitre.entities.sentences import Sentences
    from arbitre.entities.spans import Span

    Documents = list[dict[str, Sequence[Span]]]
    """Spans of each annotator, one mapping per document."""


def read_spans(
    annotators: Mapping[str, Paths], *, tags: str, lenient: bool, column: int | Mapping[str, int]
) -> tuple[Documents, list[str]]:
    """Read the spans of annotators and join their documents.

    Records with an `id` are documents, and are joined by it. Without ids, sentences are joined by position. If their
    numbers of tokens are known, the sentences of a file, or of a section that begins with `-DOCSTART-`, are put one
    after the other and form one document; otherwise each sentence is a document.

    Args:
        annotators: Files of each annotator.
        tags: Notation of the tags; see `arbitre.entities.read`.
        lenient: Whether to read tags that do not follow the notation; see `arbitre.entities.read`.
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
            read(file, tags=tags, lenient=lenient, column=columns.get(name, -1))
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
    return {"start": span["start"] + offset, "end": span["end"] + offset, "label": span["label"]}
