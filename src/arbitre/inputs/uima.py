"""Files of WebAnno and INCEpTION: WebAnno TSV 3, and the XMI of UIMA.

Both contain layers of annotations with features, and count UTF-16 code units.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.parsers import expat

from arbitre.errors import DataError, did_you_mean
from arbitre.inputs.annotated_text import AnnotatedText, Found, Utf16Offsets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.inputs.annotated_text import Span

WEBANNO: Final = b"#FORMAT=WebAnno TSV 3"
"""Start of a WebAnno TSV file."""
XMI: Final = "http://www.omg.org/XMI"
"""XML namespace of XMI."""
NAMED_ENTITY: Final = "NamedEntity"
"""Layer that is read if a file has several and none is chosen."""
_STRUCTURE: Final = frozenset(
    (
        *("Token", "Sentence", "Paragraph", "Div", "Heading", "POS", "Lemma", "Stem", "MorphologicalFeatures"),
        *(
            "SurfaceForm",
            "DocumentAnnotation",
            "DocumentMetaData",
            "CASMetadata",
            "TagsetDescription",
            "TagDescription",
        ),
        *("LayerDefinition", "FeatureDefinition"),
    )
)
"""Layers that divide or describe the text."""
_LIMITS: Final = frozenset(("begin", "end", "sofa"))
"""Attributes of an annotation that are not features."""
_FEATURES: Final = ("value", "label")
"""Features that are the label, if none is chosen; otherwise the first one is."""


@dataclass(slots=True)
class _Mark:
    """An annotation: its layer, its offsets in UTF-16 code units, its features, and its line."""

    layer: str
    start: int
    end: int
    features: dict[str, str]
    line: int


@dataclass(slots=True)
class _Marks:
    """The annotations of a document, and what is not a span."""

    file: str
    marks: list[_Mark] = field(default_factory=list)
    relations: Counter[str] = field(default_factory=Counter)
    declared: list[str] = field(default_factory=list)
    """The layers of the file, if it lists them."""

    def spans(self, layer: str | None, offsets: Utf16Offsets, found: Found) -> list[Span]:
        """Return the spans of a layer. Raises DataError if an offset is invalid or no layer can be chosen."""
        chosen, _, feature = (layer or "").partition(":")
        name = self._layer(chosen)
        spans = []
        for mark in self.marks:
            if mark.layer != name:
                continue
            label = _label(mark, feature)
            try:
                start, end = offsets.character(mark.start), offsets.character(mark.end)
            except DataError as error:
                raise error.located(file=self.file, line=mark.line) from None
            spans.append({"start": start, "end": end, "label": label})
        others = (mark.layer for mark in self.marks if mark.layer != name and _short(mark.layer) not in _STRUCTURE)
        found.left_out.update(f"annotations of the layer {_short(other)} left out" for other in others)
        found.left_out.update(self.relations)
        return spans

    def _layer(self, chosen: str) -> str | None:
        """Return the full name of a layer; None if the file has none."""
        layers = dict.fromkeys(mark.layer for mark in self.marks)
        if chosen:
            named = [layer for layer in (*layers, *self.declared) if chosen in {layer, _short(layer)}]
            if not named and self.declared:
                hint = did_you_mean(chosen, [_short(layer) for layer in self.declared])
                raise DataError.of(f"Expected a layer {chosen!r}, got no such layer", file=self.file, hint=hint)
            return named[0] if named else None
        candidates = [layer for layer in layers if _short(layer) not in _STRUCTURE]
        preferred = [layer for layer in candidates if _short(layer) == NAMED_ENTITY]
        if len(candidates) > 1 and not preferred:
            names = ", ".join(sorted(map(_short, candidates)))
            raise DataError.of(
                f"Expected one layer of spans, got {names}",
                file=self.file,
                hint="Choose one with `layer`, LAYER or LAYER:FEATURE.",
            )
        return next(iter(preferred or candidates), None)


def _label(mark: _Mark, feature: str) -> str:
    """Return the value of a feature; without one, the name of the layer."""
    names = [feature] if feature else [*_FEATURES, *mark.features]
    return next((mark.features[name] for name in names if mark.features.get(name)), _short(mark.layer))


def _short(layer: str) -> str:
    return layer.rpartition(".")[2]


# XMI.


@dataclass(slots=True)
class _Xmi:
    """Handlers of the XML parser; `parser.CurrentLineNumber` is the line of an element."""

    parser: Any
    file: str
    marks: _Marks
    texts: dict[str, str] = field(default_factory=dict)
    """Text of each sofa, by its XMI id."""
    of_sofa: list[tuple[str, _Mark]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Features of the metadata of the document."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Read an element: a sofa, the metadata, or an annotation."""
        uri, _, local = name.rpartition(" ")
        if local == "Sofa":
            self.texts[attributes.get(f"{XMI} id", "")] = attributes.get("sofaString", "")
        if local == "DocumentMetaData":
            self.names = dict(attributes)
        if "begin" not in attributes or "end" not in attributes:
            return
        layer = ".".join([*uri.removeprefix("http:///").removesuffix(".ecore").split("/"), local])
        if "Governor" in attributes or "Dependent" in attributes:
            self.marks.relations[f"relations of the layer {local} left out"] += 1
            return
        try:
            start, end = int(attributes["begin"]), int(attributes["end"])
        except ValueError:
            message = (
                f"Expected `begin` and `end` to be integers, got {attributes['begin']!r} and {attributes['end']!r}"
            )
            raise DataError.of(message, file=self.file, line=self.parser.CurrentLineNumber) from None
        features = {key: value for key, value in attributes.items() if key not in _LIMITS and " " not in key}
        mark = _Mark(layer, start, end, features, self.parser.CurrentLineNumber)
        self.of_sofa.append((attributes.get("sofa", ""), mark))


def read_xmi(data: bytes, file: str, layer: str | None, found: Found) -> None:
    """Read an XMI file: one document. Its id is its title in the metadata, or the name of the file.

    Raises:
        DataError: The file is not valid XML or declares entities, has no text, or an offset is invalid.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    xmi = _Xmi(parser, file, _Marks(file))
    parser.StartElementHandler = xmi.start

    def refuse(*_: object) -> None:
        raise DataError.of("Expected XML without entity declarations", file=file, line=parser.CurrentLineNumber)

    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)  # noqa: FBT003  (expat's signature)
    except expat.ExpatError as error:
        message = f"Expected XML, got {expat.errors.messages[error.code]}"
        raise DataError.of(message, file=file, line=error.lineno) from error
    if not xmi.texts:
        raise DataError.of("Expected the text of the document (a Sofa), got none", file=file)
    first = min(xmi.texts, key=lambda number: int(number or 0))
    text = xmi.texts[first]
    xmi.marks.marks = [mark for sofa, mark in xmi.of_sofa if sofa in {first, ""}]
    others = len(xmi.of_sofa) - len(xmi.marks.marks)
    found.left_out.update({"annotations of other views left out": others} if others else {})
    spans = xmi.marks.spans(layer, Utf16Offsets.of(text), found)
    identity = xmi.names.get("documentTitle") or xmi.names.get("documentId") or Path(file).stem
    check_within(spans, text, file)
    found.documents.append(AnnotatedText(identity, None, spans, text))


def check_within(spans: Sequence[Span], text: str, file: str | None, **place: Any) -> None:  # noqa: ANN401
    """Raise DataError if a span does not lie within a text."""
    for span in spans:
        if not 0 <= span["start"] < span["end"] <= len(text):
            message = f"Expected a span within {len(text)} characters, got {span['start']} to {span['end']}"
            raise DataError.of(message, file=file, **place)


# WebAnno TSV.


_UNIT: Final = re.compile(r"(\d+)-(\d+)(?:\.(\d+))?")
_OFFSETS: Final = re.compile(r"(\d+)-(\d+)")
_ESCAPED: Final = re.compile(r"\\(.)")
_NUMBERED: Final = re.compile(r"(?P<value>.*?)(?<!\\)\[(?P<number>\d+)\]", re.DOTALL)
_CONTROL: Final = {"t": "\t", "n": "\n", "r": "\r"}


@dataclass(slots=True)
class _Columns:
    """The columns of a layer: its name, its features, and whether its annotations are spans."""

    layer: str
    kind: str
    features: tuple[str, ...]
    first: int

    @property
    def width(self) -> int:
        return 2 if self.kind == "CH" else max(len(self.features), 1)


def read_webanno(data: bytes, file: str, layer: str | None, found: Found, annotator: str | None = None) -> None:
    """Read a WebAnno TSV file: one document. Its id is the name of the file without its suffix.

    INCEpTION names the file after the annotator, in a folder with the name of the document: if `annotator` is the name
    of the file, the id is the name of the folder.

    Raises:
        DataError: A line has too few columns or invalid offsets, or a span divides a surrogate pair.
    """
    columns: list[_Columns] = []
    marks, texts = _Marks(file), list[tuple[int, str]]()
    pending: list[str] = []
    by_number: dict[tuple[str, str], _Mark] = {}
    for number, line in enumerate(_decoded(data, file).split("\n"), 1):
        line = line.removesuffix("\r")  # noqa: PLW2901
        if line.startswith("#T_"):
            columns.append(_layer_columns(line, columns))
            marks.declared.append(columns[-1].layer)
        elif line.startswith("#Text="):
            pending.append(_unescaped(line.removeprefix("#Text=")))
        elif line and not line.startswith("#"):
            cells = line.split("\t")
            start, end = _offsets(cells, file, number)
            if pending:
                texts.append((start, "\n".join(pending)))
                pending = []
            for each in columns:
                _add(marks, by_number, each, cells, (start, end, number))
    path = Path(file)
    identity = path.parent.name if annotator == path.stem else path.stem
    offsets = Utf16Offsets(texts)
    spans = marks.spans(layer, offsets, found)
    whole = "".join(_joined(texts))
    check_within(spans, whole, file)
    found.documents.append(AnnotatedText(identity, None, spans, whole))


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError.of("Expected UTF-8", file=file, line=line) from error


def _layer_columns(line: str, before: Sequence[_Columns]) -> _Columns:
    kind, _, rest = line.removeprefix("#T_").partition("=")
    layer, *features = rest.split("|")
    first = before[-1].first + before[-1].width if before else 3
    return _Columns(layer, kind, tuple(feature for feature in features if feature), first)


def _offsets(cells: Sequence[str], file: str, line: int) -> tuple[int, int]:
    """Return the offsets of a token. Raises DataError."""
    form = _OFFSETS.fullmatch(cells[1]) if len(cells) > 2 and _UNIT.fullmatch(cells[0]) else None  # noqa: PLR2004
    if form is None:
        message = "Expected a token such as 1-2, its offsets such as 4-7 and its text, separated by tabs"
        raise DataError.of(f"{message}, got {'	'.join(cells)[:60]!r}", file=file, line=line)
    return int(form[1]), int(form[2])


def _add(
    marks: _Marks,
    by_number: dict[tuple[str, str], _Mark],
    columns: _Columns,
    cells: Sequence[str],
    token: tuple[int, int, int],
) -> None:
    """Add the annotations that a token has in the columns of a layer. Those with a number continue over tokens."""
    own = cells[columns.first : columns.first + columns.width]
    if len(own) < columns.width:
        expected = columns.first + columns.width
        raise DataError.of(f"Expected {expected} columns, got {len(cells)}", file=marks.file, line=token[2])
    if own[0] == "_":
        return
    several = [_split(cell) for cell in own]
    if columns.kind != "SP":
        what = "relations" if columns.kind == "RL" else "chain links"
        marks.relations[f"{what} of the layer {_short(columns.layer)} left out"] += len(several[0])
        return
    for place, first in enumerate(several[0]):
        form = _NUMBERED.fullmatch(first)
        values = (cell[place] if place < len(cell) else "_" for cell in several)
        features = {
            name: _unescaped(_NUMBERED.sub(r"\g<value>", value))
            for name, value in zip(columns.features, values, strict=False)
            if _NUMBERED.sub(r"\g<value>", value) not in {"*", "_"} and not name.startswith("ROLE_")
        }
        key = columns.layer, form["number"] if form else ""
        if form and key in by_number:
            by_number[key].end = max(by_number[key].end, token[1])
            continue
        mark = _Mark(columns.layer, token[0], token[1], features, token[2])
        marks.marks.append(mark)
        if form:
            by_number[key] = mark


def _split(cell: str) -> list[str]:
    """Split a cell at each | that is not escaped."""
    parts, current, escaped = [], "", False
    for sign in cell:
        if sign == "|" and not escaped:
            parts.append(current)
            current = ""
        else:
            current += sign
        escaped = sign == "\\" and not escaped
    return [*parts, current]


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda form: _CONTROL.get(form[1], form[1]), text)


def _joined(texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Yield the sentences, with spaces between them so that each begins at its offset."""
    at = 0
    for start, text in texts:
        yield " " * (start - at)
        yield text
        at = start + len(text.encode("utf-16-le")) // 2
