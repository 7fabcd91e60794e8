"""Reads sentences with entities from files: CoNLL, JSON and JSON Lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, Final

from arbitre.entities.sentences import Sentences, Source
from arbitre.entities.spans import AUTO
from arbitre.errors import DataError
from arbitre.inputs.open_files import open_source
from arbitre.inputs.strict_json import parse

if TYPE_CHECKING:
    from arbitre.entities.spans import Unit
    from arbitre.values import Json

_LOOKS_TAGGED: Final = re.compile(r"O|[BIESLU]-\S+")
_SPAN_KEYS: Final = ("spans", "entities")
_NO_TOKENS: Final = "Remove the sentence from both files."
_LINES: Final = {".jsonl", ".ndjson"}


def read(
    path: str | Path, *, tags: str = AUTO, lenient: bool = False, column: int = -1, flat: bool = False
) -> Sentences:
    """Read sentences with their entities.

    The file name determines the format: JSON for `.json`, JSON Lines for `.jsonl`, and CoNLL for any other name. A
    sentence in JSON is a list of tags, a list of spans, or an object with `tags` or `spans` (also called `entities`)
    and optionally `tokens`, `text` and `id`. Spans count tokens, or characters if there is a `text`.

    Args:
        path: The file; files ending in .gz or .zst are decompressed.
        tags: Notation of the tags: "bio", "iob1", "bioes", or "auto" to infer it from the file.
        lenient: Accept tags that do not follow the notation, and read them as conlleval does.
        column: Column of the tag in CoNLL files, from 0; negative numbers count from the last column. The first column
            is the token.
        flat: Refuse spans that overlap.

    Returns:
        The sentences, with their location in the file for errors.

    Raises:
        DataError: The file cannot be read or contains no sentence, or a tag or span is invalid; with the line.
        OptionError: The notation is unknown.
    """
    path = Path(path)
    with open_source(path) as file:
        data = file.read()
    suffixes = {suffix.lower() for suffix in path.suffixes}
    if suffixes & {".json", *_LINES}:
        sentences = _from_json(data, str(path), lines=bool(suffixes & _LINES)).sentences(tags, lenient=lenient)
    else:
        sentences = _from_conll(data, str(path), column, tags, lenient=lenient)
    if not len(sentences):
        raise DataError.of("Expected sentences, got an empty file", file=str(path))
    if flat:
        sentences.refuse_overlaps()
    return sentences


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
    return DataError.of(
        f"Expected a tag in column {column}, got {columns} column{'s' * (columns != 1)}",
        file=file,
        line=line,
        hint="Columns are separated by tabs or spaces and counted from 0.",
    )


@dataclass(slots=True)
class _Records:
    """The sentences of a JSON file."""

    file: str
    lines: list[int] | None
    values: list[Json]
    ids: list[str] = field(default_factory=list)
    tokens: list[list[str]] = field(default_factory=list)
    lengths: list[int | None] = field(default_factory=list)
    unit: Unit = "token"

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
        source = Source(self.file, self.lines, ids, tokens)
        if tagged == {True}:
            return self._tagged(parts, source, notation, lenient=lenient)
        return Sentences.spanned(parts, source, lengths=self.lengths, unit=self.unit)

    def _tagged(self, parts: list[list[str]], source: Source, notation: str, *, lenient: bool) -> Sentences:
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
        if isinstance(value, dict):
            key = next((key for key in ("tags", *_SPAN_KEYS) if key in value), None)
            if key is None:
                raise place.error(number, f"Expected `tags` or `spans`, got the keys {', '.join(value) or '(none)'}")
            length = self._length(value, place, number, tagged=key == "tags")
            if "id" in value:
                self.ids.append(str(value["id"]))
            value = value[key]
        if not isinstance(value, list):
            raise place.error(number, f"Expected a list of tags or spans, got {type(value).__name__}")
        self.lengths.append(length)
        texts = [isinstance(item, str) for item in value]
        if any(texts) and not all(texts):
            raise place.error(number, "Expected tags or spans, got both", at=f"/{texts.index(not texts[0])}")
        return value, any(texts)

    def _length(self, value: dict[str, Json], place: Source, number: int, *, tagged: bool) -> int | None:
        """Return the number of tokens or characters of a sentence; None if unknown."""
        text, tokens = value.get("text"), value.get("tokens")
        if isinstance(text, str) and not tagged:
            self.unit = "character"
            return len(text)
        if tokens is None:
            return None
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise place.error(number, "Expected `tokens` to be a list of texts", at="/tokens")
        if not tokens:
            raise place.error(number, "Expected tokens, got a sentence without tokens", hint=_NO_TOKENS)
        self.tokens.append(tokens)
        return len(tokens)


def _from_json(data: bytes, file: str, *, lines: bool) -> _Records:
    if lines:
        numbered = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        values = [parse(line, file=file, line=number) for number, line in numbered]
        return _Records(file, [number for number, _ in numbered], values)
    value = parse(data, file=file)
    if not isinstance(value, list):
        raise DataError.of("Expected a list of sentences", file=file, pointer="")
    return _Records(file, None, value)
