"""The texts that were given to the model, and pictures of them, by document id."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from arbitre.errors import DataError, unreadable
from arbitre.inputs.document_ids import FileNamePattern, normalized_id, quote_names
from arbitre.inputs.open_files import open_source, split_name
from arbitre.inputs.records import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.inputs.options import ReadOptions


TEXT: Final = ".txt"
IMAGES: Final = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif", ".tif", ".tiff", ".pdf"})
"""Suffixes of pictures of a source, which a browser opens in a window of their own."""


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """Files by the key of the document: its id, followed by the run if the file name has one.

    Attributes:
        files: Paths of the texts.
        folder: The folder.
        images: Paths of the pictures.
        home: The current folder, from which the paths start; that of another machine may differ.
    """

    files: Mapping[str, str]
    folder: str
    images: Mapping[str, str] = field(default_factory=dict)
    home: str = field(default_factory=os.getcwd)

    @classmethod
    def of(
        cls,
        folder: str | Path,
        reading: ReadOptions,
        keys: Iterable[tuple[str, str | None]],
        *,
        pictures: bool = False,
    ) -> Self:
        """List the texts in a folder: `.txt` files, compressed or not.

        Args:
            folder: The folder.
            reading: How to find the id and the run in a file name.
            keys: Ids and runs of the documents.
            pictures: Whether to list pictures too, such as .png, .jpg and .pdf files; there may be no texts then.

        Raises:
            DataError: The folder cannot be read or contains no texts, a file name does not match the id pattern, two
                texts or two pictures have the same id and run, or no document has a text.
        """
        pattern = FileNamePattern.of(reading.id_pattern)
        wanted = IMAGES | {TEXT} if pictures else {TEXT}
        try:
            names = sorted(path for path in Path(folder).iterdir() if split_name(path)[1] in wanted)
        except OSError as error:
            raise unreadable(Path(folder), error) from error
        if not names:
            expected = ".txt files or pictures" if pictures else ".txt files"
            raise DataError.of(
                f"Expected a folder of {expected}, got none", file=str(folder), hint="Pass one file for each document."
            )
        texts, images = dict[str, str](), dict[str, str]()
        for path in names:
            try:
                identity, run = pattern.labels(split_name(path)[0])
            except DataError as error:
                raise error.located(file=str(path)) from None
            name = key(normalized_id(identity) if reading.normalize_ids else identity, run)
            kind, files = ("text", texts) if split_name(path)[1] == TEXT else ("picture", images)
            if name in files:
                raise DataError.of(
                    f"Expected one {kind} for {name!r}, got {Path(files[name]).name!r} and {path.name!r}",
                    file=str(folder),
                    hint="Distinguish the runs by a group named run in --id-pattern, or remove one of the files.",
                )
            files[name] = str(path)
        found = cls(texts, str(folder), images)
        found._check(keys)
        return found

    def _check(self, keys: Iterable[tuple[str, str | None]]) -> None:
        """Raise DataError if no document has a text."""
        names = []
        for identity, run in keys:
            if self.text_file(identity, run) is not None or self.image(identity, run) is not None:
                return
            names.append(key(identity, run))
        raise DataError.of(
            f"No document has a source text: the documents are {quote_names(names)}, "
            f"the texts {quote_names([*self.files, *self.images])}",
            file=self.folder,
            hint="Name the files <id>.txt, or extract the id from the file name with --id-pattern.",
        )

    def read(self, identity: str, run: str | None) -> str | None:
        """Return the text of a document: that of the run, else that of the id; None if there is none.

        Raises:
            DataError: The file cannot be read or is not UTF-8.
        """
        file = self.text_file(identity, run)
        if file is None:
            return None
        with open_source(Path(self.home, file)) as content:
            data = content.read()
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise DataError.of("Expected a text in UTF-8", file=file, hint="Save the file as UTF-8.") from None

    def text_file(self, identity: str, run: str | None) -> str | None:
        """Return the path of the text of a document; None if there is none."""
        return self.files.get(key(identity, run)) or self.files.get(identity)

    def image(self, identity: str, run: str | None) -> str | None:
        """Return the path of the picture of a document; None if there is none."""
        return self.images.get(key(identity, run)) or self.images.get(identity)
