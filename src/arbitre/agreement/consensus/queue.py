"""The queue of disagreements on which people decide: as JSON lines, as a table, and as a page in a browser."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from arbitre.agreement.consensus.decisions import fingerprint
from arbitre.errors import OptionError
from arbitre.inputs.csv_table import cell_text
from arbitre.inputs.source_excerpts import SearchableText
from arbitre.language import Language
from arbitre.parsing.fast_json import compact
from arbitre.paths import parse
from arbitre.report.document_tree import shown, shown_schema
from arbitre.report.standalone import render_queue
from arbitre.schema.value_schema import value_schemas
from arbitre.storage.files import atomic_text_file
from arbitre.storage.output_folder import output_folder, output_text_file
from arbitre.tables.csv_text import cell, csv_writer
from arbitre.values import ABSENT, equal_or_absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from arbitre.agreement.consensus.decisions import Decision
    from arbitre.agreement.consensus.disagreement import Disagreement
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.paths import Token
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

SUFFIXES: Final = (".jsonl", ".csv", ".html")
"""Suffixes of the files of a queue, in the order in which they are written."""


class Queue(NamedTuple):
    """The disagreements of annotators, and the decisions on them so far.

    Attributes:
        annotators: Names of the annotators.
        disagreements: The disagreements, in the order in which people should decide.
        decisions: Decisions by the id of their disagreement.
        version: Version of arbitre.
        plan: The compiled schema, by which the page checks decisions; None to check none.
        sources: The sources of the documents, of which the page shows the parts around the disagreements.
    """

    annotators: Sequence[str]
    disagreements: Sequence[Disagreement]
    decisions: Mapping[str, Decision]
    version: str
    plan: Plan | None = None
    sources: SourceTexts | None = None

    def write(
        self,
        path: Path,
        language: Language = Language.EN,
        *,
        inputs: Iterable[str | Path] = (),
        force: bool = False,
    ) -> None:
        """Write the queue to a file in the format of its suffix, or to a folder in all formats.

        Raises DataError if a file cannot be written or is not one that arbitre wrote.
        """
        files = queue_files(path)
        if files == [path]:
            with output_text_file(path) as file:
                self._write(file, path, language)
            return
        with output_folder(path, [each.name for each in files], "queue", inputs=inputs, force=force) as staging:
            for each in files:
                with atomic_text_file(staging / each.name) as file:
                    self._write(file, each, language)

    def _write(self, file: TextIO, path: Path, language: Language) -> None:
        """Write the queue in the format of the suffix of a path, at which it will be."""
        if path.suffix == ".html":
            file.write(self._page(path, language))
        elif path.suffix == ".csv":
            self._table(file)
        else:
            file.writelines(f"{compact(record)}\n" for record in map(_record, self.disagreements))

    def _page(self, path: Path, language: Language) -> str:
        """Return the page on which people decide, as HTML. Links to pictures are relative to its path."""
        view = queue_view(self.annotators, self.disagreements, self.decisions.values(), self.plan)
        if self.sources is not None:
            add_sources(view, self.disagreements, self.sources, path)
        return render_queue(view, self.version, language)

    def _table(self, file: TextIO) -> None:
        """Write the table: a row for each disagreement, two columns for each annotator, and those of the decision."""
        writer = csv_writer(file)
        readings = [f"{name}: {part}" for name in self.annotators for part in ("value", "pointer")]
        described = ("id", "document", "pointer", "path", "kind", "flag", "weight", "proposal")
        writer.writerow([*described, *map(cell, readings), "context", "value", "absent", "by", "note", "fingerprint"])
        for own in self.disagreements:
            by_name = {reading.annotator: reading for reading in own.readings}
            cells: list[str] = []
            for name in self.annotators:
                reading = by_name.get(name)
                cells += ["", ""] if reading is None else [cell_text(reading.value), reading.pointer or ""]
            decision = self.decisions.get(own.id)
            decided = ["", "", "", ""]
            if decision is not None:
                absent = "true" if decision.value is ABSENT else ""
                decided = [cell_text(decision.value), absent, cell(decision.by), cell(decision.note)]
            texts = map(cell, (own.id, own.document, own.pointer, own.path, own.kind, own.flag))
            context = cell_text(own.context)
            writer.writerow(
                [*texts, compact(own.weight), cell_text(own.proposal), *cells, context, *decided, fingerprint(own)]
            )


def queue_files(path: str | Path) -> list[Path]:
    """Return the files of a queue: the file itself, or all three formats in a folder.

    Raises:
        OptionError: The path is neither a folder nor a file with one of `SUFFIXES`.

    >>> [each.name for each in queue_files("queue")], [each.name for each in queue_files("decide.html")]
    (['queue.jsonl', 'queue.csv', 'queue.html'], ['decide.html'])
    """
    path = Path(path)
    if path.is_dir() or not path.suffix:
        return [path / f"queue{suffix}" for suffix in SUFFIXES]
    if path.suffix not in SUFFIXES:
        raise OptionError.of(
            f"Expected `queue` to be a folder or a file that ends in {', '.join(SUFFIXES)}, got {path.name!r}."
        )
    return [path]


def _record(disagreement: Disagreement) -> dict[str, object]:
    """Return a disagreement as a line of the queue."""
    return disagreement.to_dict() | {"fingerprint": fingerprint(disagreement)}


def queue_view(
    annotators: Sequence[str],
    disagreements: Sequence[Disagreement],
    decisions: Iterable[Decision] = (),
    plan: Plan | None = None,
) -> dict[str, Any]:
    """Return the queue as JSON for `render_queue`.

    Returns:
        `disagreements`, each with its `choices`: the values to choose from, the proposal first, as JSON text (`raw`)
        and for display (`value`), with the annotators who have them. `absent` are those who have none, or no vote;
        `required` is true if the schema does not allow to leave the value out. `entry` is the position of its context
        in `entries`, which contain each annotator's version of an entry. `schemas` are those of the paths,
        and `formats` is true if a `format` is asserted. `decisions` are earlier decisions as JSON lines, with their
        digest under `made`; `key` identifies the queue.
    """
    paths = sorted({each.path for each in disagreements})
    above = {path: path.rpartition("/")[0] for path in paths if path}
    schemas = {} if plan is None else value_schemas(plan.root, [*paths, *above.values()])
    required = {path for path in above if _requires(schemas.get(above[path], True), parse(path)[-1])}
    entries: dict[tuple[str, str], int] = {}
    plain_entries: list[Json] = []
    plain: list[Json] = []
    for each in disagreements:
        at = entries.setdefault((each.document, each.entry), len(entries))
        if at == len(plain_entries):
            plain_entries.append(_entry(each))
        plain.append(_disagreement(each) | {"entry": at} | ({"required": True} if each.path in required else {}))
    made = "".join(compact(decision.to_dict()) + "\n" for decision in decisions)
    return {
        "key": _digest(json.dumps([each["fingerprint"] for each in plain])),
        "annotators": list(annotators),
        "entries": plain_entries,
        "disagreements": plain,
        "schemas": {path: shown_schema(schemas[path]) for path in paths if path in schemas},
        "formats": plan is not None and plan.format_assertion,
        "decisions": made,
        "made": _digest(made),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _requires(schema: Json, key: Token) -> bool:
    """Return whether a schema of `value_schemas` requires a key in each object that it accepts."""
    if not isinstance(schema, dict):
        return False
    union = schema.get("anyOf", ())
    return (
        key in schema.get("required", ())
        or any(_requires(part, key) for part in schema.get("allOf", ()))
        or (bool(union) and all(_requires(part, key) for part in union))
    )


MAX_GAP: Final = 200
"""Maximum number of UTF-16 code units between two parts of a text that are shown as one."""

_MARKS: Final = {"gold": "proposal", "predicted": "other", "entry": "entry"}


def add_sources(view: dict[str, Any], disagreements: Sequence[Disagreement], texts: SourceTexts, page: Path) -> None:
    """Add the sources of documents to the result of `queue_view`.

    `sources` are parts of texts, with the file, the offset (`start`) and whether it reaches the end of the text; or
    only the file, if the document has a picture and no text. `image` is the link to the picture. Each disagreement gets
    its `source`, and `marks` where its values occur there: the first and the last offset, and "proposal" or "other" for
    a reading, or "entry" for another value of the entry. Offsets are in UTF-16 code units.

    Args:
        view: The result of `queue_view` for these disagreements.
        disagreements: The disagreements.
        texts: The sources.
        page: Path of the page.
    """
    view["sources"] = []
    by_document: dict[str, list[tuple[dict[str, Any], Disagreement]]] = defaultdict(list)
    for plain, each in zip(view["disagreements"], disagreements, strict=True):
        by_document[each.document].append((plain, each))
    for name, own in by_document.items():
        text, file, image = texts.read(name, None), texts.text_file(name, None), texts.image(name, None)
        link = {} if image is None else {"image": _link(image, page)}
        if text is not None:
            view["sources"] += _parts(text, own, len(view["sources"]), {"file": Path(file or "").name, **link})
        elif image is not None:
            for plain, _ in own:
                plain |= {"source": len(view["sources"]), "marks": []}
            view["sources"].append({"file": Path(image).name, **link})


def _parts(
    text: str, own: Sequence[tuple[dict[str, Any], Disagreement]], first: int, described: Mapping[str, Json]
) -> list[dict[str, Any]]:
    """Return the parts of a text around the disagreements of a document, and add their marks to these.

    Args:
        text: The text.
        own: The disagreements of the document, in the page and in Python.
        first: Number of the first part in the page.
        described: The file and the link that every part has.
    """
    searched, whole = SearchableText(text), text.encode("utf-16-le")
    found = [(plain, searched.excerpt(*_searched(each))) for plain, each in own]
    spans: list[list[int]] = []
    for start, end in sorted((one.start, one.start + len(one.text.encode("utf-16-le")) // 2) for _, one in found):
        if spans and start <= spans[-1][1] + MAX_GAP:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    for plain, excerpt in found:
        at = max(number for number, (start, _) in enumerate(spans) if start <= excerpt.start)
        by = excerpt.start - spans[at][0]
        marks = [[left + by, right + by, _MARKS[kind]] for left, right, kind in excerpt.marks]
        plain |= {"source": first + at, "marks": marks}
    return [
        {
            **described,
            "text": whole[2 * start : 2 * end].decode("utf-16-le"),
            "start": start,
            "end": 2 * end >= len(whole),
        }
        for start, end in spans
    ]


def _searched(disagreement: Disagreement) -> tuple[Json, list[Json], list[Json]]:
    """Return what is searched in a source: the proposal, the other readings, and the entries of the annotators."""
    others = [each.value for each in disagreement.readings if not equal_or_absent(each.value, disagreement.proposal)]
    return disagreement.proposal, others, [each.value for each in disagreement.versions]


def _link(file: str, page: Path) -> str:
    """Return the link from a page to a file: relative if that is possible."""
    try:
        return quote(Path(os.path.relpath(Path(file).resolve(), page.resolve().parent)).as_posix())
    except ValueError:  # on another drive
        return Path(file).resolve().as_uri()


def _entry(disagreement: Disagreement) -> dict[str, Json]:
    """Return the entry around a disagreement: each annotator's version of it."""
    versions = {each.annotator: shown(each.value) for each in disagreement.versions if each.value is not ABSENT}
    return {"pointer": disagreement.entry, "versions": versions}


def _disagreement(disagreement: Disagreement) -> dict[str, Json]:
    """Return a disagreement with its choices, as `queue_view` describes them."""
    readings = [reading for reading in disagreement.readings if reading.value is not ABSENT]
    left_out = disagreement.proposal is ABSENT
    values: list[Json] = [] if left_out else [disagreement.proposal]
    for reading in readings:
        if not any(equal_or_absent(reading.value, value) for value in values):
            values.append(reading.value)
    choices = [
        _choice(value, [each.annotator for each in readings if equal_or_absent(each.value, value)]) for value in values
    ]
    if not left_out:
        choices[0]["proposed"] = True
    choices[not left_out :] = sorted(choices[not left_out :], key=lambda choice: -len(choice["annotators"]))
    return {
        "id": disagreement.id,
        "fingerprint": fingerprint(disagreement),
        "document": disagreement.document,
        "pointer": disagreement.pointer,
        "path": disagreement.path,
        "within": list(disagreement.within),
        "kind": disagreement.kind,
        "flag": disagreement.flag,
        "weight": disagreement.weight,
        "choices": choices,
        "absent": {
            "annotators": [each.annotator for each in disagreement.readings if each.value is ABSENT and each.votes],
            "without_vote": [each.annotator for each in disagreement.readings if not each.votes],
            "proposed": left_out,
        },
    }


def _choice(value: Json, annotators: list[str]) -> dict[str, Any]:
    """Return a value to choose, with the annotators who have it."""
    return {"raw": compact(value), "value": shown(value), "annotators": annotators, "proposed": False}
