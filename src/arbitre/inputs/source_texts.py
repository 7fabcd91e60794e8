"""The texts that were given to the model, by document id."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from arbitre.errors import DataError
from arbitre.inputs.document_ids import FileNamePattern, normalized_id, quote_names
from arbitre.inputs.open_files import open_source, split_name
from arbitre.inputs.records import key
from arbitre.storage.files import unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.inputs.options import ReadOptions


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """Text files by the key of the document: its id, followed by the run if the file name has one.

    Attributes:
        files: Paths of the files.
        folder: The folder.
    """

    files: Mapping[str, str]
    folder: str

    @classmethod
    def of(cls, folder: str | Path, reading: ReadOptions, keys: Iterable[tuple[str, str | None]]) -> Self:
        """List the texts in a folder: `.txt` files, compressed or not.

        Args:
            folder: The folder.
            reading: How to find the id and the run in a file name.
            keys: Ids and runs of the documents.

        Raises:
            DataError: The folder cannot be read or contains no texts, a file name does not match the id pattern, two
                files have the same id and run, or no document has a text.
        """
        pattern = FileNamePattern.of(reading.id_pattern)
        try:
            names = sorted(path for path in Path(folder).iterdir() if split_name(path)[1] == ".txt")
        except OSError as error:
            raise unreadable(Path(folder), error) from error
        if not names:
            raise DataError.of(
                "Expected a folder of .txt files, got none", file=str(folder), hint="Pass one file for each document."
            )
        files: dict[str, str] = {}
        for path in names:
            try:
                identity, run = pattern.labels(split_name(path)[0])
            except DataError as error:
                raise error.located(file=str(path)) from None
            name = key(normalized_id(identity) if reading.normalize_ids else identity, run)
            if name in files:
                raise DataError.of(
                    f"Expected one text for {name!r}, got {Path(files[name]).name!r} and {path.name!r}",
                    file=str(folder),
                    hint="Distinguish the runs by a group named run in --id-pattern, or remove one of the files.",
                )
            files[name] = str(path)
        texts = cls(files, str(folder))
        texts._check(keys)
        return texts

    def _check(self, keys: Iterable[tuple[str, str | None]]) -> None:
        """Raise DataError if no document has a text."""
        names = []
        for identity, run in keys:
            if self._file(identity, run) is not None:
                return
            names.append(key(identity, run))
        raise DataError.of(
            f"No document has a source text: the documents are {quote_names(names)}, "
            f"the texts {quote_names(self.files)}",
            file=self.folder,
            hint="Name the files <id>.txt, or extract the id from the file name with --id-pattern.",
        )

    def read(self, identity: str, run: str | None) -> str | None:
        """Return the text of a document: that of the run, else that of the id; None if there is none.

        Raises:
            DataError: The file cannot be read or is not UTF-8.
        """
        file = self._file(identity, run)
        if file is None:
            return None
        with open_source(Path(file)) as content:
            data = content.read()
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise DataError.of("Expected a text in UTF-8", file=file, hint="Save the file as UTF-8.") from None

    def _file(self, identity: str, run: str | None) -> str | None:
        return self.files.get(key(identity, run)) or self.files.get(identity)
