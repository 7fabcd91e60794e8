"""The sources of the examples of causes: excerpts of the texts that were given to the model, and links to pictures."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from arbitre.inputs.source_excerpts import SearchableText
from arbitre.report.entry_links import EntryLink
from arbitre.storage.output_folder import final_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.comparison.cause import CauseExample
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.report.document_tree import ShownDocument
    from arbitre.values import Json

PLACE = ("document", "path", "gold_pointer", "predicted_pointer")
"""Keys that identify an example."""


@dataclass(frozen=True, slots=True)
class ExampleSources:
    """Finds the sources of examples.

    Attributes:
        texts: The texts and pictures.
        folder: Folder of the results, relative to which pictures are linked; None for absolute links.
    """

    texts: SourceTexts
    folder: Path | None

    def of(self, examples: Iterable[CauseExample], documents: Mapping[str, ShownDocument]) -> list[dict[str, Any]]:
        """Return the source of each example whose document is kept and has a source.

        Args:
            examples: The examples.
            documents: The documents that the report keeps, by key.

        Returns:
            The place of each example (see `PLACE`) and its `source`, by document.

        Raises:
            DataError: A text cannot be read.
        """
        known = ((EntryLink.to(example), example) for example in examples)
        ordered = sorted((one for one in known if one[0].document in documents), key=lambda one: one[0].document)
        found: dict[tuple[str | None, ...], dict[str, Any]] = {}
        for document, several in groupby(ordered, key=lambda one: one[0].document):
            text, base = None, dict[str, Any]()
            for link, example in several:
                if not base:
                    text, base = self._source(example)
                place = (document, example.path, example.gold_pointer, example.predicted_pointer)
                if base and place not in found:
                    excerpt = {}
                    if text is not None:
                        entry = _entry(link, documents[document])
                        excerpt = text.excerpt(example.gold, example.predicted, entry).to_dict()
                    found[place] = dict(zip(PLACE, place, strict=True)) | {"source": base | excerpt}
        return list(found.values())

    def _source(self, example: CauseExample) -> tuple[SearchableText | None, dict[str, Any]]:
        """Return the text of a document, and its file name and the link to its picture; nothing if it has neither."""
        file, image = (find(example.id, example.run) for find in (self.texts.text_file, self.texts.image))
        text = self.texts.read(example.id, example.run)
        named = {} if (name := file or image) is None else {"file": Path(name).name}
        link = {} if image is None else {"image": _link(Path(image), self.folder and final_folder(self.folder))}
        return None if text is None else SearchableText(text), named | link


def _entry(link: EntryLink, document: ShownDocument) -> list[Json]:
    """Return the gold and the predicted entry of an example."""
    rows = zip(document.plain["rows"], document.values, strict=True)
    return next(([*values.values()] for row, values in rows if link.leads_to(row)), [])


def _link(file: Path, folder: Path | None) -> str:
    """Return the link to a file from a page in a folder: relative, or absolute if it is on another drive."""
    if folder is not None:
        with suppress(ValueError):
            return quote(Path(os.path.relpath(file, folder)).as_posix())
    return file.absolute().as_uri()


def moved_link(link: str, folder: Path, page: Path) -> str:
    """Return a link that was made for a page in `folder` as a link from a page in another folder."""
    return link if link.startswith("file:") else _link(folder / unquote(link), page)
