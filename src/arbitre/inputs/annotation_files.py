"""Files of annotation tools: Label Studio, Prodigy, LangExtract, WebAnno TSV and UIMA XMI.

Label Studio, WebAnno and UIMA count UTF-16 code units, of which most emoji have two; the spans read from them
count characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.errors import DataError, nearest, shown
from arbitre.inputs.annotated_text import AnnotatedText, Found, Utf16Offsets
from arbitre.inputs.open_files import open_source, split_name
from arbitre.inputs.uima import WEBANNO, XMI, check_within, read_webanno, read_xmi
from arbitre.options import AnnotationFormat  # noqa: TC001  (a type of an option is read at run time)
from arbitre.parsing.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from arbitre.inputs.annotated_text import Span
    from arbitre.values import Json

_HEAD: Final = 1 << 16
"""Number of bytes in which the format of a file is recognised."""
_LINES: Final = frozenset((".jsonl", ".ndjson"))
_HASHES: Final = ("_task_hash", "_input_hash")
_UNNAMED: Final = "predictions"
"""Name of the model of predictions without a version."""
_ANNOTATIONS: Final = ("annotations", "completions", "predictions")
"""Keys of the lists of annotations in a task of Label Studio."""
_LABELS: Final = ("labels", "hypertextlabels")
"""Types of the results of Label Studio that give characters of a text labels."""
_UNPLACED: Final = (None, {"start_pos": None, "end_pos": None})
"""Intervals of LangExtract extractions without a place in the text."""


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """The documents of annotators in a file of an annotation tool.

    Attributes:
        file: The file.
        format: The tool.
        documents: The documents of all annotators.
        notes: What was left out.
    """

    file: str
    format: str
    documents: tuple[AnnotatedText, ...]
    notes: tuple[str, ...] = ()

    @property
    def annotators(self) -> tuple[str, ...]:
        """Names of the people who annotated documents, sorted."""
        people = {one.annotator for one in self.documents if one.annotator is not None and not one.predicted}
        return tuple(sorted(people))

    def of(self, annotator: str | None = None) -> tuple[AnnotatedText, ...]:
        """Return the documents of an annotator.

        If the file names nobody or only one annotator, all documents are that annotator's, whatever the name.

        Raises:
            DataError: The file has several annotators, and none has this name; or one annotated a document twice.
        """
        own = tuple(one for one in self.documents if annotator is not None and one.annotator == annotator)
        if not own and len(self.annotators) > 1:
            names = sorted({str(one.annotator) for one in self.documents})
            wanted = "one annotator" if annotator is None else f"the annotator {annotator!r}"
            hint = nearest(annotator, names) if annotator else None
            message = f"Expected {wanted}, got {', '.join(names)}"
            raise DataError.of(message, file=self.file, hint=hint or "Name one of them.")
        own = own or tuple(one for one in self.documents if not one.predicted) or self.documents
        known: set[str] = set()
        for one in own:
            if one.id in known:
                message = f"The document {one.id!r} is annotated twice by the same annotator"
                raise DataError.of(message, file=self.file, line=one.line, pointer=one.pointer)
            known.add(one.id)
        return own


@dataclass(frozen=True, kw_only=True)
class AnnotationOptions:
    """How files of annotation tools are read."""

    annotations: AnnotationFormat = "auto"
    """Format of files of annotation tools; auto recognises it, documents reads all JSON as documents."""
    layer: str | None = None
    """Layer of WebAnno TSV and XMI files that contains the spans, as LAYER or LAYER:FEATURE."""

    def format_of(self, path: str | Path) -> str | None:
        """Return the annotation tool that wrote a file; None for another file, or a folder."""
        if self.annotations in {"documents", "conll"} or not Path(path).is_file():
            return None
        return annotation_format(path) if self.annotations == "auto" else self.annotations

    def read(self, path: str | Path, annotator: str | None = None) -> AnnotationFile | None:
        """Read a file of an annotation tool; None if it is another file.

        Args:
            path: The file; files ending in .gz or .zst are decompressed.
            annotator: Name that the file is read for, see `uima.read_webanno`.

        Raises:
            DataError: The file cannot be read, or its content does not follow its format.
        """
        file, name = Path(path), self.format_of(path)
        if name is None:
            return None
        with open_source(file) as opened:
            data = opened.read()
        found = Found()
        if name == "xmi":
            read_xmi(data, str(path), self.layer, found)
        elif name == "webanno":
            read_webanno(data, str(path), self.layer, found, annotator)
        else:
            records = list(_records(data, str(path), lines=split_name(file)[1] in _LINES))
            reader = _JSON_READERS[name]
            if name == "label-studio":
                several = chain.from_iterable(own for value, *_ in records if len(own := _text_objects(value)) > 1)
                reader = partial(_label_studio, several=tuple(dict.fromkeys(several)))
            for value, line, pointer in records:
                reader(value, found, _Place(str(path), line, pointer))
        if not found.documents:
            raise DataError.of("Expected documents with annotations, got none", file=str(path))
        left = (f"{path}: {what}: {number}." for what, number in sorted(found.left_out.items()))
        return AnnotationFile(str(path), name, tuple(found.documents), tuple(left))


def annotation_format(path: str | Path) -> str | None:
    """Return the annotation tool that wrote a file, by its content; None for other files.

    Raises:
        DataError: The file cannot be opened.
    """
    file = Path(path)
    with open_source(file) as opened:
        head = opened.read(_HEAD)
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin.startswith(WEBANNO):
        return "webanno"
    if begin.startswith(b"<"):
        return "xmi" if XMI.encode() in head else None
    if split_name(file)[1] in _LINES:
        with_line = begin.partition(b"\n")[0]
        return _tool_of(with_line) if any(word in with_line for word in _WORDS) else None
    if not begin.startswith((b"[", b"{")) or not any(word in head for word in _WORDS):
        return None
    with open_source(file) as opened:
        return _tool_of(opened.read())


_WORDS: Final = (b'"annotations"', b'"completions"', b'"extractions"', b'_hash"')


def _tool_of(data: bytes) -> str | None:
    """Return the tool that wrote a JSON value, or the first item of a list."""
    try:
        value = parse(data)
    except DataError:  # reported by the reader of the documents
        return None
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return None
    if "data" in value and any(_is_list_of_results(value.get(key)) for key in ("annotations", "completions")):
        return "label-studio"
    if _has_extractions(value) and value.keys() & {"text", "document_id"}:
        return "langextract"
    return "prodigy" if value.keys() & set(_HASHES) and "text" in value else None


def _is_list_of_results(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "result" in one for one in value)


def _has_extractions(value: Mapping[str, Json]) -> bool:
    """Return whether an object has `extractions`: a list, or null if nothing was extracted."""
    return "extractions" in value and isinstance(value["extractions"], list | None)


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a record in a file, for errors."""

    file: str
    line: int | None
    pointer: str | None

    def error(self, message: str, at: str = "", hint: str | None = None) -> DataError:
        pointer = f"{self.pointer or ''}{at}"
        return DataError.of(message, file=self.file, line=self.line, pointer=pointer or None, hint=hint)


def _records(data: bytes, file: str, *, lines: bool) -> Iterator[tuple[Json, int | None, str | None]]:
    """Yield the records of a JSON list or of JSON Lines, with their line or pointer."""
    if lines:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                yield parse(line, file=file, line=number), number, None
        return
    value = parse(data, file=file)
    for number, one in enumerate(value if isinstance(value, list) else [value]):
        yield one, None, f"/{number}" if isinstance(value, list) else ""


def _label_studio(task: Json, found: Found, place: _Place, several: Sequence[str] = ()) -> None:
    """Read a task of Label Studio: its annotations by people, and its predictions by models.

    Args:
        task: The task.
        found: Gets the documents.
        place: Place of the task in the file.
        several: Names of the texts, if tasks of the file have several; each is then a document.
    """
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise place.error("Expected a task with `data`")
    identity = task.get("id", task["data"].get("id"))
    if identity is None:
        raise place.error("Expected a task with an `id`", hint="Export the project as JSON, not as JSON-MIN.")
    timed = _timed(task)
    rendered = any("globalOffsets" in value for _, value in _results(task))  # positions in HTML without its tags
    for key in _ANNOTATIONS:
        for number, annotation in enumerate(task.get(key) or ()):
            at = f"/{key}/{number}"
            if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
                if key == "predictions":
                    continue  # only their ids are exported
                raise place.error("Expected an annotation with a list `result`", at)
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                found.left_out["cancelled annotations left out"] += 1
                continue
            regions = list(_regions(annotation["result"], timed, found, place, at))
            predicted = key == "predictions"
            author = (
                annotation.get("model_version") or _UNNAMED if predicted else _person(annotation.get("completed_by"))
            )
            pointer = f"{place.pointer or ''}{at}"
            for name in several or (None,):
                own = [region for region in regions if name in {None, region.name}]
                text = _text_of(task["data"], own, name)
                spans = _in_characters(own, text, found, place)
                document = str(identity) if name is None else f"{identity}/{name}"
                plain = None if rendered else text
                found.documents.append(
                    AnnotatedText(document, author, spans, plain, place.line, pointer, predicted=predicted)
                )
            if several and (stray := next((region for region in regions if region.name not in several), None)):
                raise place.error(f"Expected `to_name` to be one of {', '.join(several)}", stray.pointer)


def _person(value: Json) -> str | None:
    """Return the person in `completed_by`: an id, or an object with the email address, the user name or the id."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("email", "username", "id") if value.get(key) is not None), None)
    return None if value is None else str(value)


class _Region(NamedTuple):
    """A labelled region of a text; `name` is its object (`to_name`), and `marked` the marked text."""

    start: int
    end: int
    labels: list[str]
    pointer: str
    name: str
    marked: str | None


def _results(task: Mapping[str, Json]) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """Yield the regions in all annotations of a task that have a value, with their value."""
    lists = (task.get(key) for key in _ANNOTATIONS)
    for annotation in chain.from_iterable(each for each in lists if isinstance(each, list)):
        result = annotation.get("result") if isinstance(annotation, dict) else None
        for region in result if isinstance(result, list) else ():
            value = region.get("value") if isinstance(region, dict) else None
            if isinstance(value, dict):
                yield region, value


def _timed(task: Mapping[str, Json]) -> set[str]:
    """Return the names of the audio and video in a task: the objects with a region whose limits are times."""
    return {
        str(region.get("to_name"))
        for region, value in _results(task)
        if "original_length" in region
        or "channel" in value
        or any(isinstance(value.get(key), float) for key in ("start", "end"))
    }


def _text_objects(task: Json) -> list[str]:
    """Return the names of the objects with labelled regions of a text in a task, sorted."""
    if not isinstance(task, dict):
        return []
    named = (region.get("to_name") for region, _ in _results(task) if region.get("type") in _LABELS)
    return sorted({str(name) for name in named if name is not None} - _timed(task))


def _regions(result: list[Json], timed: set[str], found: Found, place: _Place, at: str) -> Iterator[_Region]:
    """Yield the labelled regions of a text; counts what else a result contains."""
    for number, region in enumerate(result):
        here = f"{at}/result/{number}"
        if not isinstance(region, dict):
            raise place.error(f"Expected a region, got {shown(region)}", here)
        kind, value = region.get("type"), region.get("value")
        if kind not in _LABELS or not isinstance(value, dict):
            found.left_out[f"{'relations' if kind == 'relation' else f'results of type {kind}'} left out"] += 1
            continue
        if str(region.get("to_name")) in timed:
            found.left_out["regions of audio or video left out"] += 1
            continue
        limits = value.get("globalOffsets", value)
        labels = value.get(kind) or value.get("labels") or []
        start, end = (limits.get(key) for key in ("start", "end"))
        if type(start) is not int or type(end) is not int or not isinstance(labels, list):
            found.left_out[f"results of type {kind} left out"] += 1
            continue
        if not labels:
            found.left_out["regions without a label left out"] += 1
            continue
        marked = value.get("text")
        name, marked = str(region.get("to_name")), marked if isinstance(marked, str) else None
        yield _Region(start, end, list(map(str, labels)), here, name, marked)


def _text_of(data: Mapping[str, Json], regions: list[_Region], name: str | None) -> str | None:
    """Return the text that contains all marked texts of some regions; None if none does.

    If several do, it is the one with the name of the object, or None if there is no such text. The only text of a task
    with one object is always returned.

    Args:
        data: The data of the task.
        regions: The regions.
        name: The object (`to_name`) of the regions; None if the task has only one.
    """
    texts = {key: value for key, value in data.items() if isinstance(value, str)}
    if len(texts) == 1 and name is None:
        return next(iter(texts.values()))
    marked = [region.marked for region in regions if region.marked is not None]
    fitting = {key: text for key, text in texts.items() if all(part in text for part in marked)}
    same = {name} if name is not None else {region.name for region in regions}
    if len(same) == 1 and (key := next(iter(same))) in fitting:
        return fitting[key]
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _in_characters(regions: list[_Region], text: str | None, found: Found, place: _Place) -> list[Span]:
    """Return the spans of regions, which count UTF-16 code units; old exports count characters.

    The marked text of a region decides. If it fits neither, the region is counted as such, and its offsets are taken to
    be in UTF-16 code units.
    """
    offsets = Utf16Offsets.of(text or "")
    spans = []
    for start, end, labels, here, _, marked in regions:
        limits = start, end
        if text is not None:
            as_they_are = marked is not None and text[start:end] == marked
            try:
                units = offsets.character(start), offsets.character(end)
            except DataError as error:
                if not as_they_are:
                    raise place.error(error.message, here) from None
                units = limits
            limits = limits if as_they_are and text[slice(*units)] != marked else units
            if marked is not None and text[slice(*limits)] != marked:
                found.left_out["marked texts that differ from the text at their offsets"] += 1
        new = [{"start": limits[0], "end": limits[1], "label": label} for label in labels]
        if text is not None:
            check_within(new, text, place.file, line=place.line, pointer=f"{place.pointer or ''}{here}")
        spans += new
    return spans


def _array(record: Mapping[str, Json], key: str, place: _Place) -> list[Json]:
    """Return the array at a key of a record; empty if it is missing or null."""
    value = record.get(key)
    if value is not None and not isinstance(value, list):
        raise place.error(f"Expected an array, got {shown(value)}", f"/{key}")
    return value or []


def _prodigy(task: Json, found: Found, place: _Place) -> None:
    """Read a task of Prodigy. Its id is its `id`, or the hash of its input."""
    text = task.get("text") if isinstance(task, dict) else None
    if not isinstance(task, dict) or not isinstance(text, str):
        raise place.error("Expected a task with a `text`")
    if task.get("answer", "accept") != "accept":
        found.left_out[f"tasks with the answer {task['answer']} left out"] += 1
        return
    for key, what in (("relations", "relations left out"), ("accept", "choices left out")):
        if task.get(key):
            found.left_out[what] += len(_array(task, key, place))
    if task.get("label") is not None:
        found.left_out["labels of texts left out"] += 1
    spans = []
    for number, span in enumerate(_array(task, "spans", place)):
        start, end, label = (span.get(key) if isinstance(span, dict) else None for key in ("start", "end", "label"))
        if type(start) is not int or type(end) is not int or not isinstance(label, str):
            raise place.error(f"Expected a span with `start`, `end` and `label`, got {shown(span)}", f"/spans/{number}")
        spans.append({"start": start, "end": end, "label": label})
        check_within(spans[-1:], text, place.file, line=place.line, pointer=f"{place.pointer or ''}/spans/{number}")
    identity = next((task[key] for key in ("id", *reversed(_HASHES)) if task.get(key) is not None), None)
    if identity is None:
        raise place.error("Expected a task with an `id` or an `_input_hash`")
    author = task.get("_annotator_id") or task.get("_session_id")
    name = None if author is None else str(author)
    found.documents.append(AnnotatedText(str(identity), name, spans, text, place.line, place.pointer))


def _langextract(document: Json, found: Found, place: _Place) -> None:
    """Read a document of LangExtract. Extractions without a place in the text are left out."""
    if not isinstance(document, dict) or not _has_extractions(document):
        raise place.error("Expected a document with `extractions`")
    text = document.get("text")
    spans = []
    for number, one in enumerate(_array(document, "extractions", place)):
        at = f"/extractions/{number}"
        limits = one.get("char_interval") if isinstance(one, dict) else None
        if limits in _UNPLACED:
            found.left_out["extractions without a place in the text left out"] += 1
            continue
        start, end = (limits.get(key) if isinstance(limits, dict) else None for key in ("start_pos", "end_pos"))
        label = one.get("extraction_class")
        if type(start) is not int or type(end) is not int or not isinstance(label, str):
            raise place.error("Expected `start_pos`, `end_pos` and `extraction_class`", at)
        spans.append({"start": start, "end": end, "label": label})
        if isinstance(text, str):
            check_within(spans[-1:], text, place.file, line=place.line, pointer=f"{place.pointer or ''}{at}")
    if document.get("document_id") is None:
        raise place.error("Expected a document with a `document_id`")
    identity = str(document["document_id"])
    text = text if isinstance(text, str) else None
    found.documents.append(AnnotatedText(identity, None, spans, text, place.line, place.pointer))


_JSON_READERS: Final[Mapping[str, Callable[[Json, Found, _Place], None]]] = {
    "label-studio": _label_studio,
    "prodigy": _prodigy,
    "langextract": _langextract,
}
