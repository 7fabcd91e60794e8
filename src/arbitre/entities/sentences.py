"""Sentences with their entities, from tags or spans in Python, or from CoNLL, JSON and files of annotation tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arbitre.engine.columns.ragged import starts_of
from arbitre.entities.spans import (
    AUTO,
    IRREGULAR_HINT,
    Span,
    Unit,
    check_notation,
    check_spans,
    check_texts,
    first_overlap,
    irregular_message,
    tagged_spans,
)
from arbitre.errors import DataError
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.inputs.open_files import open_source
from arbitre.normalizers import nfc
from arbitre.options import formerly
from arbitre.parsing.json_form import json_form
from arbitre.parsing.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.inputs.annotation_files import AnnotationFile
    from arbitre.options import AnnotationFormat
    from arbitre.values import Json

_LOOKS_TAGGED: Final = re.compile(r"O|[BIESLU]-\S+")
_SPAN_KEYS: Final = ("spans", "entities")
_NO_TOKENS: Final = "Remove the sentence from both files."
_LINES: Final = {".jsonl", ".ndjson"}
_SPACE: Final = re.compile(r"\s")
_KEYS: Final = ("start", "end", "label")
_SAME: Final = "Gold and predictions must have the same sentences, in the same order unless each has a unique id."
_SAME_FILES: Final = (
    "The files of all annotators must have the same sentences in the same order, or an `id` for each record."
)

_UNITS: Final = "Positions count characters in records with `text` and in files of annotation tools. Convert one file."
_TEXTS: Final = "Positions in different texts cannot be compared. Correct the text, or the order of the sentences."
_EXCERPT: Final = 10
"""Number of characters of a text in an error."""


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """Where sentences come from, as used in error messages and ids.

    Attributes:
        file: The file; None for Python objects.
        lines: First line of each sentence, from 1; None if unknown.
        ids: Id of each sentence; None to number the sentences from 1.
        tokens: Tokens of each sentence; None if unknown.
        texts: Text of each sentence; None if unknown.
        units: What the positions of the spans of each sentence count; None if unknown.
        token_per_line: Whether each token has a line of its own.
        sections: Position of the first sentence of each section that begins with a line `-DOCSTART-`.
    """

    file: str | None = None
    lines: Sequence[int] | None = None
    ids: Sequence[str] | None = None
    tokens: Sequence[Sequence[str]] | None = None
    texts: Sequence[str | None] | None = None
    units: Sequence[Unit | None] | None = None
    token_per_line: bool = False
    sections: Sequence[int] = ()

    def error(self, sentence: int, message: str, *, token: int = 0, at: str = "", hint: str = "") -> DataError:
        """Return an error for a sentence.

        Args:
            sentence: Position of the sentence.
            message: The message.
            token: Position of the token in the sentence.
            at: Pointer of the place in the sentence, unless each token has its own line.
            hint: How to solve the problem.
        """
        line = None if self.lines is None else self.lines[sentence]
        if line is not None and self.token_per_line:
            return DataError.of(message, file=self.file, line=line + token, hint=hint or None)
        pointer = at or None if line is not None else f"/{sentence}{at}"
        return DataError.of(message, file=self.file, line=line, pointer=pointer, hint=hint or None)


@dataclass(frozen=True, eq=False, slots=True)
class Sentences:
    """Sentences with their entities. Labels and tags are in Unicode normal form NFC.

    Attributes:
        spans: The entities of each sentence. Equal entities are one object.
        source: Origin of the sentences.
        tags: The tags of all tokens, one sentence after the other; None for spans.
        starts: Position in `tags` of the first token of each sentence, then their number.
        irregular: Number of tags that do not follow the notation, read as conlleval does.
        notation: The notation of the tags; None for spans.
        notes: What was left out of the file of an annotation tool.
    """

    spans: Sequence[Sequence[Span]]
    source: Source
    tags: Sequence[str] | None = None
    starts: Indices | None = None
    irregular: int = 0
    notation: str | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.spans)

    @classmethod
    def of(cls, sentences: Sequence[Any], *, notation: str = AUTO, lenient: bool = False) -> Self:
        """Return sentences given as Python objects: lists (or arrays) of tags, or lists of spans.

        Raises:
            DataError: A tag or a span is invalid, with its pointer.
        """
        values = json_form(list(sentences))
        if any(sentence and isinstance(sentence[0], str) for sentence in values if isinstance(sentence, (list, tuple))):
            for number, tags in enumerate(values):
                try:
                    check_texts(tags)
                except DataError as error:
                    raise Source().error(number, error.message, at=error.pointer or "", hint=error.hint or "") from None
            return cls.tagged(values, Source(), notation=notation, lenient=lenient)
        return cls.spanned(values, Source())

    @classmethod
    def tagged(
        cls, sentences: Sequence[Sequence[str]], source: Source, *, notation: str = AUTO, lenient: bool = False
    ) -> Self:
        """Return sentences given by the tags of their tokens. Raises DataError for an invalid tag."""
        check_notation(notation)
        lengths = np.fromiter(map(len, sentences), dtype=np.intp, count=len(sentences))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        tags = list(map(nfc, chain.from_iterable(sentences)))
        first = np.zeros(len(tags), dtype=np.bool_)
        first[starts[:-1][lengths > 0]] = True

        def refuse(position: int, message: str, hint: str) -> DataError:
            sentence = int(np.searchsorted(starts, position, side="right")) - 1
            token = position - int(starts[sentence])
            return source.error(sentence, message, token=token, at=f"/{token}", hint=hint)

        tagged = tagged_spans(tags, first, notation, refuse)
        if len(tagged.irregular) and not lenient:
            position = int(tagged.irregular[0])
            raise refuse(position, irregular_message(tags[position], tagged.notation), IRREGULAR_HINT)
        owner = np.searchsorted(starts, tagged.starts, side="right") - 1
        shared: dict[tuple[int, int, int], Span] = {}
        spans: list[list[Span]] = [[] for _ in sentences]
        columns = (owner, tagged.starts - starts[owner], tagged.ends - starts[owner], tagged.labels)
        for sentence, *key in zip(*(column.tolist() for column in columns), strict=True):
            span = shared.get(tuple(key))
            if span is None:
                start, end, label = key
                span = shared[start, end, label] = {"start": start, "end": end, "label": tagged.names[label]}
            spans[sentence].append(span)
        return cls(spans, source, tags, starts, len(tagged.irregular), tagged.notation)

    @classmethod
    def spanned(
        cls,
        sentences: Sequence[Any],
        source: Source,
        *,
        lengths: Sequence[int | None] | None = None,
    ) -> Self:
        """Return sentences given by spans. Raises DataError for an invalid span.

        Args:
            sentences: The spans of each sentence.
            source: Origin of the sentences.
            lengths: Number of tokens or characters of each sentence; None if unknown.
        """
        shared: dict[tuple[int, int, str], Span] = {}
        spans = []
        for number, values in enumerate(sentences):
            unit = None if source.units is None else source.units[number]
            try:
                check_spans(values, None if lengths is None else lengths[number], unit or "token")
            except DataError as error:
                raise source.error(number, error.message, at=error.pointer or "", hint=error.hint or "") from None
            keys = [(value["start"], value["end"], nfc(value["label"])) for value in values]
            spans.append([shared.setdefault(key, dict(zip(_KEYS, key, strict=True))) for key in keys])
        return cls(spans, source)

    def aligned(self, predicted: Sentences) -> Sentences:
        """Return predictions in the order of these sentences, if both sides have the same ids, each once.

        Otherwise, the predictions are returned as they are; `check_same` then refuses different ids.
        """
        ours, theirs = self.source.ids, predicted.source.ids
        if ours is None or theirs is None or len(ours) != len(theirs) or list(ours) == list(theirs):
            return predicted
        places = {identity: number for number, identity in enumerate(theirs)}
        if len(places) != len(theirs) or places.keys() != set(ours):
            return predicted
        return predicted._taken([places[identity] for identity in ours])

    def _taken(self, order: Sequence[int]) -> Sentences:
        """Return the sentences at these positions; they have no sections, because they have ids."""
        source: dict[str, Any] = {
            name: [values[number] for number in order]
            for name in ("lines", "ids", "tokens", "texts", "units")
            if (values := getattr(self.source, name)) is not None
        }
        moved = replace(self, spans=[self.spans[number] for number in order], source=replace(self.source, **source))
        if self.tags is None or self.starts is None:
            return moved
        parts = [self.tags[self.starts[number] : self.starts[number + 1]] for number in order]
        return replace(moved, tags=list(chain.from_iterable(parts)), starts=starts_of(np.diff(self.starts)[order]))

    @property
    def lengths(self) -> Sequence[int] | None:
        """Number of tokens of each sentence; None if unknown."""
        if self.starts is not None:
            lengths: list[int] = np.diff(self.starts).tolist()
            return lengths
        return None if self.source.tokens is None else list(map(len, self.source.tokens))

    @property
    def distinct(self) -> Sequence[Span]:
        """The distinct entities."""
        return list({id(span): span for spans in self.spans for span in spans}.values())

    def refuse_overlaps(self) -> None:
        """Raise DataError if two entities of a sentence overlap."""
        for number, spans in enumerate(self.spans):
            if overlap := first_overlap(spans):
                message = f"Expected spans that do not overlap, got {dict(overlap[0])} and {dict(overlap[1])}"
                raise self.source.error(
                    number, message, hint="Correct them, or omit `no_overlap` to allow nested entities."
                )

    def check_same(self, predicted: Sentences, name: str = "gold") -> None:
        """Check that predictions have the same sentences: the same ids, units, texts and tokens, where they are known.

        Args:
            predicted: The predictions, or the annotations of another annotator.
            name: Name of this side in errors.

        Raises:
            DataError: A sentence differs.
        """
        hint = _SAME if name == "gold" else _SAME_FILES
        self._check_ids(predicted, name, hint)
        if len(self) != len(predicted):
            raise DataError.of(
                f"Expected {len(self)} sentence{'s' * (len(self) != 1)}, as in {name}, got {len(predicted)}",
                file=predicted.source.file,
                line=_last_line(predicted) if len(predicted) < len(self) else _line(predicted, len(self)),
                hint=hint,
            )
        ours, theirs = self.source.ids, predicted.source.ids
        if ours is not None and theirs is not None and ours != theirs:
            number = next(at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            message = f"Expected the sentence {ours[number]!r}, as in {name}, got {theirs[number]!r}"
            raise predicted.source.error(number, message, hint=hint)
        if self.starts is not None and predicted.starts is not None:
            lengths = np.diff(self.starts), np.diff(predicted.starts)
            different = (lengths[0] != lengths[1]).nonzero()[0]
            if len(different):
                number = int(different[0])
                gold_length, length = (int(lengths_of[number]) for lengths_of in lengths)
                message = f"Expected {gold_length} tokens, as in {self._named(number, name)}, got {length}"
                raise predicted.source.error(number, message)
        for number in range(len(self)):
            self.check_sentence(number, predicted, number, name, hint)
        self._check_ends(predicted)
        predicted._check_ends(self)

    def _check_ids(self, predicted: Sentences, name: str, hint: str) -> None:
        """Check that no id is missing on one side, if both sides have ids; for the arguments, see `check_same`."""
        ours, theirs = self.source.ids, predicted.source.ids
        if ours is None or theirs is None:
            return
        known, found = set(ours), set(theirs)
        missing = next((number for number, identity in enumerate(ours) if identity not in found), None)
        extra = next((number for number, identity in enumerate(theirs) if identity not in known), None)
        if missing is None and extra is None:
            return
        place = "" if missing is None or (line := _line(self, missing)) is None else f" at line {line}"
        wanted = "only sentences that are" if missing is None else f"a sentence with the id {ours[missing]!r}, as"
        if extra is None:
            raise DataError.of(f"Expected {wanted} in {name}{place}, got none", file=predicted.source.file, hint=hint)
        raise predicted.source.error(extra, f"Expected {wanted} in {name}{place}, got {theirs[extra]!r}", hint=hint)

    def _check_ends(self, other: Sentences) -> None:
        """Check that spans of the other side end within the tokens of this side."""
        if self.starts is None or other.starts is not None:
            return
        for number, (length, spans) in enumerate(zip(np.diff(self.starts).tolist(), other.spans, strict=True)):
            try:
                check_spans(spans, length)
            except DataError as error:
                raise other.source.error(number, error.message, at=error.pointer or "") from None

    def check_sentence(self, number: int, other: Sentences, at: int, name: str, hint: str = _SAME_FILES) -> None:
        """Check that a sentence is the same on another side: its unit, its text and its tokens, where they are known.

        Args:
            number: Position of the sentence.
            other: The predictions, or the annotations of another annotator.
            at: Position of the sentence on this other side.
            name: Name of this side in errors.
            hint: Hint of the error if tokens differ.

        Raises:
            DataError: The positions are in different units, or the text or a token differs in NFC.
        """
        unit, other_unit = self._unit(number), other._unit(at)
        if None not in {unit, other_unit} and unit != other_unit:
            message = f"Expected positions in {unit}s, as in {self._named(number, name)}, got {other_unit}s"
            raise other.source.error(at, message, hint=_UNITS)
        text, other_text = (
            None if source.texts is None else source.texts[position]
            for source, position in ((self.source, number), (other.source, at))
        )
        if text is not None and other_text is not None and (place := _first_difference(text, other_text)) is not None:
            parts = [repr(each[place : place + _EXCERPT]) for each in (text, other_text)]
            message = f"Expected {parts[0]} at character {place}, as in {self._named(number, name)}, got {parts[1]}"
            raise other.source.error(at, message, hint=_TEXTS)
        if self.source.tokens is None or other.source.tokens is None:
            return
        tokens, other_tokens = self.source.tokens[number], other.source.tokens[at]
        if tokens == other_tokens:
            return
        pairs = enumerate(zip(tokens, other_tokens, strict=False))
        position = next((place for place, (a, b) in pairs if a != b and nfc(a) != nfc(b)), None)
        if position is not None:
            message = f"Expected the token {tokens[position]!r}, as in {name}, got {other_tokens[position]!r}"
            raise other.source.error(at, message, token=position, hint=hint)

    def _unit(self, number: int) -> Unit | None:
        """Return what the positions of a sentence count; None if unknown."""
        if self.tags is not None:
            return "token"
        return None if self.source.units is None else self.source.units[number]

    def _named(self, number: int, name: str) -> str:
        """Return a sentence for an error, with its line; for `name`, see `check_same`."""
        ids, line = self.source.ids, _line(self, number)
        sentence = f"sentence {number + 1}" if ids is None else f"sentence {ids[number]!r}"
        return f"{sentence} of {name}" + ("" if line is None else f", at line {line}")


def _line(sentences: Sentences, number: int) -> int | None:
    """Return the first line of a sentence; None if unknown."""
    return None if sentences.source.lines is None else sentences.source.lines[number]


def _first_difference(text: str, other: str) -> int | None:
    """Return the position of the first character that differs; None if both texts are the same.

    Texts of the same length that are equal in NFC are the same, as are texts that differ in the kinds of their spaces
    and line breaks, or in those at the end: files such as WebAnno TSV do not contain them.
    """
    if text == other:
        return None
    ours, theirs = (_SPACE.sub(" ", each).rstrip() for each in (text, other))
    if len(ours) == len(theirs) and nfc(ours) == nfc(theirs):
        return None
    places = enumerate(zip(ours, theirs, strict=False))
    return next((place for place, (a, b) in places if a != b), min(len(ours), len(theirs)))


def _last_line(sentences: Sentences) -> int | None:
    """Return the first line of the last sentence; None if unknown, or without sentences."""
    return _line(sentences, -1) if len(sentences) else None


def from_python(value: object, **options: Any) -> Sentences:  # noqa: ANN401
    """Return sentences as they are, or convert Python objects; see `Sentences.of`."""
    if isinstance(value, Sentences):
        return value
    if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
        raise DataError.of(
            f"Expected a list of sentences, got {type(value).__name__}", hint="Read files with `arbitre.entities.read`."
        )
    return Sentences.of(list(value), **options)


# Sentences from files.


@formerly(lenient="lenient_tags", flat="no_overlap")
def read(
    path: str | Path,
    *,
    tags: str = AUTO,
    lenient_tags: bool = False,
    column: int = -1,
    no_overlap: bool = False,
    annotations: AnnotationFormat = "auto",
    layer: str | None = None,
    annotator: str | None = None,
) -> Sentences:
    """Read sentences with their entities.

    Files of Label Studio, Prodigy, LangExtract, WebAnno (TSV 3) and UIMA (XMI) are recognised by their content; each of
    their documents is a sentence. Otherwise the file name determines the format: JSON for `.json`, JSON Lines for
    `.jsonl`, and CoNLL for any other name. A sentence in JSON is a list of tags, a list of spans, or an
    object with `tags` or `spans` (also called `entities`) and optionally `tokens`, `text` and `id`. Spans count tokens,
    or characters if there is a `text`.

    Args:
        path: The file; files ending in .gz or .zst are decompressed.
        tags: Notation of the tags: "bio", "iob1", "bioes", or "auto" to infer it from the file.
        lenient_tags: Accept tags that do not follow the notation, and read them as conlleval does.
        column: Column of the tag in CoNLL files, from 0; negative numbers count from the last column. The first column
            is the token.
        no_overlap: Refuse spans that overlap.
        annotations: Format of files of annotation tools, such as "label-studio"; "auto" recognises it, "documents"
            reads other JSON.
        layer: Layer of WebAnno TSV and XMI files that contains the spans, as LAYER or LAYER:FEATURE. By default,
            NamedEntity, or the only layer of spans; the label is the feature `value` or `label`, or the first one.
        annotator: Annotator of a file that names several.

    Returns:
        The sentences, with their location in the file for errors.

    Raises:
        DataError: The file cannot be read or contains no sentence, or a tag or span is invalid; with the line.
        OptionError: The notation is unknown.
    """
    path = Path(path)
    found = AnnotationOptions(annotations=annotations, layer=layer).read(path, annotator)
    if found is not None:
        sentences = _from_annotations(found, annotator)
        if no_overlap:
            sentences.refuse_overlaps()
        return sentences
    with open_source(path) as file:
        data = file.read()
    suffixes = {suffix.lower() for suffix in path.suffixes}
    if annotations != "conll" and suffixes & {".json", *_LINES}:
        sentences = _from_json(data, str(path), lines=bool(suffixes & _LINES)).sentences(tags, lenient=lenient_tags)
    else:
        sentences = _from_conll(data, str(path), column, tags, lenient=lenient_tags)
    if not len(sentences):
        raise DataError.of("Expected sentences, got an empty file", file=str(path))
    if no_overlap:
        sentences.refuse_overlaps()
    return sentences


def _from_annotations(file: AnnotationFile, annotator: str | None) -> Sentences:
    """Return the documents of an annotator as sentences, in the order of the file."""
    documents = file.of(annotator)
    lines = [one.line for one in documents if one.line is not None]
    source = Source(
        file.file,
        lines if len(lines) == len(documents) else None,
        [one.id for one in documents],
        texts=[one.text for one in documents],
        units=["character"] * len(documents),
    )
    lengths = [None if one.text is None else len(one.text) for one in documents]
    spanned = Sentences.spanned([one.spans for one in documents], source, lengths=lengths)
    return replace(spanned, notes=file.notes)


def _from_conll(data: bytes, file: str, column: int, notation: str, *, lenient: bool) -> Sentences:
    """Read lines with a token and its tag, and an empty line after each sentence."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad = data.count(b"\n", 0, error.start) + 1
        raise DataError.of("Expected UTF-8 text", file=file, line=bad, hint="Convert the file to UTF-8.") from None
    tokens: list[list[str]] = []
    tags: list[list[str]] = []
    lines: list[int] = []
    sections: list[int] = []
    columns, ended = 1, True
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.rstrip("\r").split("\t") if "\t" in line else line.split()
        if not cells or cells[0] == "-DOCSTART-" or not any(cells):
            ended = True
            if cells and cells[0] == "-DOCSTART-":
                sections.append(len(tokens))
            continue
        if ended:
            if cells[0].startswith("#") and not _LOOKS_TAGGED.fullmatch(cells[-1]):
                continue  # a comment, such as "# sent_id = 1"
            tokens.append([])
            tags.append([])
            lines.append(number)
            ended = False
        try:
            tags[-1].append(intern(cells[column].strip()))
        except IndexError:
            raise _no_column(file, number, column, len(cells)) from None
        tokens[-1].append(intern(cells[0]))
        columns = max(columns, len(cells))
    source = Source(file, lines, None, tokens if columns > 1 else None, token_per_line=True, sections=sections)
    return Sentences.tagged(tags, source, notation=notation, lenient=lenient)


def _no_column(file: str, line: int, column: int, columns: int) -> DataError:
    """Return the error for a line with too few columns."""
    return DataError.of(
        f"Expected a tag in column {column}, got {columns} column{'s' * (columns != 1)}",
        file=file,
        line=line,
        hint="Columns are separated by tabs or spaces and counted from 0.",
    )


@dataclass(slots=True)
class _Records:
    """The sentences of a JSON file, which `sentences` converts.

    Attributes:
        file: The file.
        lines: Line of each sentence; None if the file is one JSON list.
        values: The sentences as they are written.
        ids: The ids found so far; they count only if every sentence has one.
        tokens: The tokens found so far, of each sentence that has some.
        lengths: Number of tokens or characters of each sentence so far; None if unknown.
        texts: The text of each sentence so far; None if it has none, or has tags.
        units: What the positions of the spans of each sentence count; None if unknown.
    """

    file: str
    lines: list[int] | None
    values: list[Json]
    ids: list[str] = field(default_factory=list)
    tokens: list[list[str]] = field(default_factory=list)
    lengths: list[int | None] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    units: list[Unit | None] = field(default_factory=list)

    def sentences(self, notation: str, *, lenient: bool) -> Sentences:
        """Return the sentences. Raises DataError if a sentence is invalid."""
        place = Source(self.file, self.lines)
        parts, tagged = [], set[bool]()
        for number, value in enumerate(self.values):
            part, is_tagged = self._part(value, place, number)
            if part or isinstance(value, dict):
                tagged.add(is_tagged)
            if len(tagged) > 1:
                raise place.error(number, "Expected tags for every sentence or spans for every sentence, got both")
            parts.append(part)
        ids = self.ids if len(self.ids) == len(parts) else None
        tokens = self.tokens if len(self.tokens) == len(parts) else None
        source = Source(self.file, self.lines, ids, tokens, self.texts, self.units)
        if tagged == {True}:
            return self._tagged(parts, source, notation, lenient=lenient)
        return Sentences.spanned(parts, source, lengths=self.lengths)

    def _tagged(self, parts: list[list[str]], source: Source, notation: str, *, lenient: bool) -> Sentences:
        """Return the sentences with these tags; checks that there is one for each token."""
        for number, tags in enumerate(parts):
            if not tags:
                raise source.error(number, "Expected tags, got a sentence without tokens", hint=_NO_TOKENS)
            length = self.lengths[number]
            if length is not None and length != len(tags):
                raise source.error(number, f"Expected a tag for each of {length} tokens, got {len(tags)} tags")
        return Sentences.tagged(parts, source, notation=notation, lenient=lenient)

    def _part(self, value: Json, place: Source, number: int) -> tuple[Any, bool]:
        """Return the tags or spans of a sentence, and whether they are tags."""
        length: int | None = None
        text: str | None = None
        unit: Unit | None = None
        key: str | None = None
        if isinstance(value, dict):
            key = next((key for key in ("tags", *_SPAN_KEYS) if key in value), None)
            if key is None:
                raise place.error(number, f"Expected `tags` or `spans`, got the keys {', '.join(value) or '(none)'}")
            text = value["text"] if key != "tags" and isinstance(value.get("text"), str) else None
            length = self._tokens(value, place, number) if text is None else len(text)
            unit = "character" if text is not None else None if length is None else "token"
            if "id" in value:
                self.ids.append(str(value["id"]))
            value = value[key]
        if not isinstance(value, list):
            raise place.error(number, f"Expected a list of tags or spans, got {type(value).__name__}")
        self.lengths.append(length)
        self.texts.append(text)
        self.units.append(unit)
        texts = [isinstance(item, str) for item in value]
        if any(texts) and not all(texts):
            raise place.error(number, "Expected tags or spans, got both", at=f"/{texts.index(not texts[0])}")
        return value, any(texts) or (key == "tags" and not texts)

    def _tokens(self, value: dict[str, Json], place: Source, number: int) -> int | None:
        """Return the number of tokens of a sentence; None if unknown."""
        tokens = value.get("tokens")
        if tokens is None:
            return None
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise place.error(number, "Expected `tokens` to be a list of texts", at="/tokens")
        if not tokens:
            raise place.error(number, "Expected tokens, got a sentence without tokens", hint=_NO_TOKENS)
        self.tokens.append(tokens)
        return len(tokens)


def _from_json(data: bytes, file: str, *, lines: bool) -> _Records:
    """Read a JSON list of sentences, or, if `lines`, one sentence per line."""
    if lines:
        numbered = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        values = [parse(line, file=file, line=number) for number, line in numbered]
        return _Records(file, [number for number, _ in numbered], values)
    value = parse(data, file=file)
    if not isinstance(value, list):
        raise DataError.of("Expected a list of sentences", file=file, pointer="")
    return _Records(file, None, value)
