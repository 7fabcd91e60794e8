"""The files with spans of several annotators: how they are recognised and read, and how their documents are joined."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arbitre.entities.sentences import read
from arbitre.entities.spans import AUTO
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.inputs.corpus_sources import are_documents, paths_in
from arbitre.inputs.open_files import expand_globs, split_name
from arbitre.language import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.entities.sentences import Sentences
    from arbitre.entities.spans import Span
    from arbitre.inputs.annotation_files import AnnotationOptions
    from arbitre.inputs.corpus_sources import Documents as JsonDocuments
    from arbitre.inputs.corpus_sources import Paths
    from arbitre.values import Json

    Documents = Mapping[str, Mapping[str, Sequence[Span]]]
    """Spans of each annotator, by document."""

CONLL: Final = frozenset((".conll", ".bio", ".iob", ".iob2", ".bioes"))
"""Suffixes of CoNLL files."""

SPANS: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "spans": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}, "label": {"type": "string"}},
                "x-arbitre": {"distance": {"span": {"label": "label"}}},
            },
        }
    },
}
"""Schema of a document with a list of spans."""


def has_spans(path: str, files: AnnotationOptions) -> bool:
    """Return whether a file is that of an annotation tool, or a CoNLL file."""
    if not Path(path).is_file():
        return False
    named = files.annotations == "conll" or (files.annotations == "auto" and split_name(Path(path))[1] in CONLL)
    return named or files.format_of(path) is not None


def annotators_in(paths: Paths, files: AnnotationOptions) -> dict[str, list[str]]:
    """Return the files of each annotator that files of annotation tools name.

    Raises:
        DataError: A file is not that of an annotation tool, or does not name its annotators.
    """
    sources: dict[str, list[str]] = {}
    for path in expand_globs(paths):
        file = files.read(path)
        if file is None or not file.annotators:
            raise DataError.of(
                "Expected a file of an annotation tool that names its annotators", file=path, hint="Write NAME=PATH."
            )
        for name in file.annotators:
            sources.setdefault(name, []).append(path)
    return sources


def span_documents(
    annotators: Mapping[str, Paths | JsonDocuments], files: AnnotationOptions
) -> tuple[dict[str, dict[str, Json]], list[str]] | None:
    """Read the spans of each annotator as documents with a list `spans`, by id, and notes.

    Returns None if the first file is not one of an annotation tool, nor a CoNLL file.

    For the errors, see `read_spans`.
    """
    paths = [path for sources in annotators.values() for path in expand_globs(paths_in(sources))]
    if not paths or not has_spans(paths[0], files):
        return None
    joined, notes = read_spans(annotators, files)
    documents: dict[str, dict[str, Json]] = {name: {} for name in annotators}
    for identity, by_name in joined.items():
        for name, spans in by_name.items():
            documents[name][identity] = {"spans": [dict(span) for span in spans]}
    return documents, notes


def read_spans(
    annotators: Mapping[str, Paths | JsonDocuments],
    files: AnnotationOptions,
    *,
    tags: str = AUTO,
    lenient_tags: bool = False,
    column: int | Mapping[str, int] = -1,
) -> tuple[Documents, list[str]]:
    """Read the spans of annotators and join their documents.

    Records with an `id` are documents, and are joined by it. Without ids, sentences are joined by position. If their
    numbers of tokens are known, the sentences of a file, or of a section that begins with `-DOCSTART-`, are put one
    after the other and form one document; otherwise each sentence is a document.

    Args:
        annotators: Files of each annotator. A file that names several annotators contains those of all.
        files: How files of annotation tools are read.
        tags: Notation of the tags; see `arbitre.entities.read`.
        lenient_tags: Whether to read tags that do not follow the notation; see `arbitre.entities.read`.
        column: Column of the tags in CoNLL files, or the column of each annotator.

    Returns:
        The documents by id, or by number from 1, and notes on what was left out and on tags that do not follow the
        notation.

    Raises:
        DataError: A file cannot be read, an id occurs twice, or the files do not have the same sentences or texts.
        OptionError: `column` names an unknown annotator.
    """
    if given := [name for name, sources in annotators.items() if are_documents(sources)]:
        raise DataError.of(
            f"Expected files with the spans of {given[0]!r}, got documents",
            hint="For spans in memory, use `arbitre.agreement.gamma`.",
        )
    columns = dict.fromkeys(annotators, column) if isinstance(column, int) else dict(column)
    if unknown := columns.keys() - annotators.keys():
        name = min(unknown)
        raise OptionError.of(f"Unknown annotator {name!r} in `column`", hint=did_you_mean(name, annotators))
    files_of = {
        name: [
            read(
                file,
                tags=tags,
                lenient_tags=lenient_tags,
                column=columns.get(name, -1),
                annotations=files.annotations,
                layer=files.layer,
                annotator=name,
            )
            for file in expand_globs(paths_in(annotators[name]))
        ]
        for name in sorted(annotators)
    }
    notes = [note for each in files_of.values() for sentences in each for note in sentences.notes]
    notes += [
        f"{sentences.source.file}: tags that do not follow {str(sentences.notation).upper()}, read as conlleval does: "
        f"{sentences.irregular}."
        for each in files_of.values()
        for sentences in each
        if sentences.irregular
    ]
    notes = list(dict.fromkeys(notes))  # several annotators may share a file
    if all(sentences.source.ids is not None for each in files_of.values() for sentences in each):
        return _by_id(files_of), notes
    return {str(number): spans for number, spans in enumerate(_by_position(files_of), 1)}, notes


def _by_id(files: Mapping[str, Sequence[Sentences]]) -> Mapping[str, dict[str, Sequence[Span]]]:
    """Return the spans of each annotator in each document, by the id of the document.

    Args:
        files: Sentences of each file of each annotator; all have ids.
    """
    documents: dict[str, dict[str, Sequence[Span]]] = {}
    first: dict[str, tuple[Sentences, int, str]] = {}
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
                reference, position, whose = first.setdefault(identity, (sentences, number, repr(name)))
                reference.check_sentence(position, sentences, number, whose)
    return dict(sorted(documents.items()))


def _by_position(files: Mapping[str, Sequence[Sentences]]) -> Iterator[dict[str, Sequence[Span]]]:
    """Yield the spans of each annotator in each document; documents are joined by position, see `read_spans`.

    Args:
        files: Sentences of each file of each annotator, with as many files for each.
    """
    first, *others = files.values()
    for name, each in files.items():
        if len(each) != len(first):
            raise DataError.of(
                f"Expected {counted(len(first), 'file')} from {name!r}, as from {min(files)!r}, got {len(each)}",
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
