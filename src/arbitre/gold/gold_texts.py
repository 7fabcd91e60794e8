"""Gold as it is written: the text of each document and what lies between documents, to write it again with changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arbitre.errors import DataError, OptionError
from arbitre.inputs.document_ids import RUN
from arbitre.inputs.open_files import is_compressed, open_source
from arbitre.inputs.reader import DOCUMENT, LINES
from arbitre.inputs.records import Record
from arbitre.parsing import strict_json
from arbitre.parsing.json_edits import container
from arbitre.storage.files import atomic_file
from arbitre.storage.output_folder import check_output_folder, destination, output_file, output_folder
from arbitre.values import equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.inputs.reader import Reader
    from arbitre.inputs.records import Failure
    from arbitre.values import Json


class GoldText(NamedTuple):
    """A part of a gold file: one record, or what lies between records.

    Attributes:
        data: The text, in UTF-8.
        record: The record; None for what lies between records, and for one that cannot be read.
    """

    data: bytes
    record: Record | None = None


class DocumentText(NamedTuple):
    """The text of a record, and where the document is in it.

    Attributes:
        text: The JSON text of the record.
        above: Keys that lead to the document.
        labels: Keys of the record that do not belong to the document: those of the id and the run.
    """

    text: str
    above: tuple[str, ...]
    labels: frozenset[str]

    def value(self, text: str) -> Json:
        """Return the document in a text of the record, which may have been changed."""
        value = strict_json.parse(text)
        for key in self.above:
            value = value[key]
        return {key: field for key, field in value.items() if key not in self.labels} if self.labels else value


class GoldSource(NamedTuple):
    """A source of gold documents: a folder, or a file of JSON or JSON lines."""

    path: Path
    reader: Reader

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    def check(self) -> None:
        """Raise DataError if the source is not JSON, or is compressed."""
        if not self.is_folder and self.path.suffix.lower() not in {DOCUMENT, *LINES}:
            raise DataError.of(
                "Expected gold as a folder of .json files, a .json or a .jsonl file",
                file=str(self.path),
                hint="Decompress or convert it. The decisions stay valid." if self.path.exists() else "Check the name.",
            )

    def files(self) -> Iterator[tuple[str, Iterable[GoldText]]]:
        """Yield the name of each file with its parts. Raises DataError if a file cannot be read as a whole."""
        if self.is_folder:
            for item in self.reader.folder(self.path):
                file = Path(str(item.file))
                if is_compressed(file):
                    raise DataError.of("Expected gold that is not compressed", file=str(file), hint="Decompress it.")
                yield file.name, [_part(_data(file), item)]
        elif self.path.suffix.lower() in LINES:
            yield self.path.name, self._lines()
        else:
            yield self.path.name, self._items()

    def _lines(self) -> Iterator[GoldText]:
        """Yield the lines of a file."""
        with open_source(self.path) as file:
            for number, line in enumerate(file, 1):
                found = list(self.reader.lines([(line, len(line))], str(self.path), start=number))
                yield _part(line, found[0]) if found else GoldText(line)

    def _items(self) -> Iterator[GoldText]:
        """Yield a document, or the items of a list and what lies between them."""
        data = _data(self.path)
        found = list(self.reader.json_file(self.path, str(self.path), alone=True, matched=False))
        text = data.decode("utf-8")
        try:
            parts = container(text).parts if text.lstrip("\ufeff \t\r\n").startswith("[") else ()
        except LookupError:
            parts = ()
        if len(parts) != len(found):
            yield from (_part(data, item) for item in found)
            return
        end = 0
        for item, part in zip(found, parts, strict=True):
            yield GoldText(text[end : part.begin].encode())
            yield _part(text[part.begin : part.end].encode(), item)
            end = part.end
        yield GoldText(text[end:].encode())

    def located(self, text: str, record: Record) -> DocumentText:
        """Return where the document of a record is in its text."""
        whole, labels = strict_json.parse(text), frozenset({self.reader.options.id_key, RUN})
        if equal(whole, record.value):
            return DocumentText(text, (), frozenset())
        if isinstance(whole, dict) and equal({k: v for k, v in whole.items() if k not in labels}, record.value):
            return DocumentText(text, (), labels)
        return DocumentText(text, (self.reader.column,), frozenset())

    def destination(self, out: Path, inputs: Iterable[str | Path], *, force: bool) -> Path:
        """Return the path that a copy is written to.

        Raises:
            OptionError: The path does not have the form of the source.
            DataError: The path must not be written to.
        """
        suffix = "" if self.is_folder else self.path.suffix
        if (self.is_folder == bool(out.suffix) and not out.is_dir()) or (
            suffix and out.suffix.lower() != suffix.lower()
        ):
            kind = "a folder" if self.is_folder else f"a {suffix} file"
            raise OptionError.of(f"Expected `out` to be {kind}, as `gold` is, got {out.name!r}.")
        if self.is_folder:
            check_output_folder(out, "gold", inputs=inputs, force=force)
            return out
        return destination(out, inputs=inputs, force=force) or out

    def write(
        self, out: Path, changed: Callable[[GoldText], bytes], inputs: Iterable[str | Path], *, force: bool
    ) -> None:
        """Write a copy in which `changed` replaces the text of each part. Raises DataError."""
        if not self.is_folder:
            with output_file(out) as path, path.open("wb") as file:
                file.writelines(changed(part) for _, parts in self.files() for part in parts)
            return
        names = [name for name, _ in self.files()]
        with output_folder(out, names, "gold", inputs=inputs, force=force) as staging:
            for name, parts in self.files():
                with atomic_file(staging / name) as path:
                    path.write_bytes(b"".join(map(changed, parts)))


def _data(path: Path) -> bytes:
    with open_source(path) as file:
        return file.read()


def _part(data: bytes, item: Record | Failure) -> GoldText:
    return GoldText(data, item if isinstance(item, Record) else None)
