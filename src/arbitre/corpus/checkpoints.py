"""Writes results to disk after each work unit, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import sys
from collections import deque
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from arbitre import distances, matching, normalizers
from arbitre.corpus.worker import DocumentResults
from arbitre.errors import DataError
from arbitre.inputs.records import Failure
from arbitre.inputs.work_units import Checkpoint, DocumentFiles, PairLocation, is_temporary, read_pairs
from arbitre.storage.files import atomic_file, unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arbitre.catalogue import Catalogue
    from arbitre.inputs.records import ByteRange, Pair
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.inputs.work_units import WorkUnit
    from arbitre.schema.plan import Plan
    from arbitre.signature import Signature

FOLDER: Final = "documents"
FORMAT: Final = "arbitre-documents/4"
_NAME: Final = re.compile(r"\d{9}\..+")


class Checkpoints:
    """Checkpoint files of a corpus: for each work unit, one file of results and one file per table.

    A file is named after the position of its first document, such as `documents/000000000.jsonl`. The first line
    identifies the work unit, the following lines contain one document each, and the last line contains the results of
    all documents together (see `DocumentResults.lines`). The rows of a table are in a separate file, such as
    `documents/000000000.matches`. Files are written atomically, the tables first.
    """

    def __init__(
        self,
        folder: Path,
        signature: Signature,
        asked: Iterable[str | None] = (),
        *,
        texts: SourceTexts | None = None,
        resume: bool = False,
    ) -> None:
        """Prepare the folder.

        Args:
            folder: The folder that results are written to, before they are complete (see `output_folder`).
            signature: Signature of the plan.
            asked: Other settings that affect the results, besides the signature and the documents.
            texts: Source texts that affect the results.
            resume: Whether to use existing checkpoints. By default they are written again.

        Raises:
            DataError: The folder cannot be written.
        """
        self._folder = folder.absolute() / FOLDER
        self._settings = json.dumps([FORMAT, signature.long, *asked]).encode()
        self._texts, self._resume = texts, resume
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self._folder, error) from error

    def completed(
        self, parts: Iterable[WorkUnit], compare: Callable[[Iterable[WorkUnit]], Iterator[DocumentResults]]
    ) -> Iterator[DocumentResults]:
        """Yield the results of all work units, in order. Existing results are read from disk.

        At the end, other checkpoint files in the folder are removed, such as those of work units that no longer exist.

        Args:
            parts: The work units.
            compare: Computes the results of work units without a valid checkpoint, and writes their checkpoints.

        Raises:
            DataError: A file cannot be written or read.
        """
        waiting: deque[tuple[Path, bool]] = deque()
        used, folder = set[Path](), str(Path.cwd())

        def missing() -> Iterator[WorkUnit]:
            for part in parts:
                checkpoint = Checkpoint(
                    self._folder / f"{part.start:09}.jsonl", self._settings, folder, self._texts_of(part)
                )
                part = replace(part, checkpoint=checkpoint)  # noqa: PLW2901
                known = self._resume and checkpoint.file.exists() and _header(checkpoint.file) == _header_of(part)
                waiting.append((checkpoint.file, known))
                if not known:
                    yield part

        def noted(path: Path, outcomes: DocumentResults) -> DocumentResults:
            """Mark the files of a checkpoint as used, and return its results."""
            used.update((path, *(_table(path, name) for name in outcomes.tables)))
            return outcomes

        for outcomes in compare(missing()):
            while waiting[0][1]:
                path = waiting.popleft()[0]
                yield noted(path, _read_all(path))
            yield noted(waiting.popleft()[0], outcomes)
        for path, _ in waiting:
            yield noted(path, _read_all(path))
        for path in [*self._folder.iterdir()]:
            if _NAME.fullmatch(path.name) and path not in used:
                path.unlink()

    def _texts_of(self, part: WorkUnit) -> tuple[str | None, ...]:
        """Return the files of the source texts of the documents of a work unit."""
        return () if self._texts is None else tuple(self._texts.text_file(item.id, item.run) for item in part.items)


def _digest_of(unit: WorkUnit, checkpoint: Checkpoint) -> str:
    """Return a digest of everything that affects the results of a work unit: settings, documents and source texts.

    A document in an input file is identified by its text, all others by their values.
    """
    digest = hashlib.sha256(checkpoint.settings)
    with DocumentFiles(checkpoint.folder) as files:
        for item in unit.items:
            documents = _documents(item, files)
            digest.update(json.dumps([item.id, item.run, item.origins, documents], default=repr).encode())
    texts = [text and content_of(Path(checkpoint.folder, text)) for text in checkpoint.texts]
    digest.update(json.dumps(texts).encode())
    return digest.hexdigest()


def _documents(item: PairLocation | Pair, files: DocumentFiles) -> list[object]:
    """Return what identifies the documents of a pair."""
    if isinstance(item, PairLocation) and not is_temporary(item):
        return [_document(place, files) for place in (item.gold, item.predicted)]
    pair = next(read_pairs([item])).as_json()
    return [pair.gold, pair.predicted, pair.failure]


def _document(place: ByteRange | Failure, files: DocumentFiles) -> object:
    """Return what identifies a document; None if it cannot be read."""
    if isinstance(place, Failure):
        return place
    try:
        text = hashlib.sha256(files.read(place)).hexdigest()
    except OSError:
        return None
    return [text, place.without, place.member]


def content_of(file: Path) -> str:
    """Return the digest of the content of a file; "" if it cannot be read. Cached until the file changes."""
    try:
        state = file.stat()
    except OSError:
        return ""
    return _content_of(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _content_of(file: Path, _size: int, _changed: int) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def _header(path: Path) -> object:
    try:
        with path.open(encoding="utf-8") as file:
            return json.loads(file.readline())
    except (OSError, ValueError):
        return None


def _read(path: Path) -> DocumentResults:
    try:
        with path.open(encoding="utf-8", errors="surrogatepass") as file:
            next(file)
            return DocumentResults.read(file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise _damaged(path, error) from error


def _read_all(path: Path) -> DocumentResults:
    """Read the results of a work unit and the rows of its tables."""
    results = _read(path)
    try:
        results.tables = {
            name: rows._replace(text=_table(path, name).read_bytes()) for name, rows in results.tables.items()
        }
    except OSError as error:
        raise _damaged(path, error) from error
    return results


def _table(checkpoint: Path, name: str) -> Path:
    return checkpoint.with_suffix(f".{name}")


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError.of(f"The checkpoint is damaged: {error}", file=str(path), hint="Delete the file and use --resume.")


def write_checkpoint(unit: WorkUnit, results: DocumentResults) -> DocumentResults:
    """Write the results of a work unit to its checkpoint, if it has one, and return them.

    The process that compares the documents calls this: with two processes and 10,000 nested documents, writing in the
    main process took a quarter of the time.

    Raises:
        DataError: The file cannot be written.
    """
    if unit.checkpoint is not None:
        for name, rows in results.tables.items():
            with atomic_file(_table(unit.checkpoint.file, name)) as part:
                part.write_bytes(rows.text)
        with atomic_file(unit.checkpoint.file) as part, part.open("wb") as file:
            file.write(json.dumps(_header_of(unit)).encode() + b"\n")
            file.writelines(results.lines())
    return results


def _header_of(unit: WorkUnit) -> dict[str, str]:
    """Return the first line of the checkpoint of a work unit."""
    return {"format": FORMAT, "digest": "" if unit.checkpoint is None else _digest_of(unit, unit.checkpoint)}


# What affects the results but is not part of the signature.


def digest_of_plan(plan: Plan) -> str:
    """Return a digest of what affects the results of a work unit besides the signature and the custom functions.

    It covers the text of the schema, which determines the violations and the order of the columns of the table of
    entries, and the correspondence of the ids that all documents share.
    """
    shared = sorted(map(repr, (plan.corpus_ids or {}).items()))
    settings = [plan.root.digest(), plan.format_assertion, plan.max_calls, shared]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


MAX_STATE: Final = 1 << 24
"""Maximum number of bytes of the pickled objects that custom functions consist of."""


def digest_of_functions(plan: Plan) -> str | None:
    """Return a digest of the custom functions of a plan.

    It covers the source files of the modules that define the functions, and the values that they are bound to, such as
    the arguments of a `partial`; not the modules that these files import. None if a function has no source file, for
    example if it was defined in a notebook, or if it is bound to values that cannot be pickled, or are large.
    """
    if plan.compile_with is None:  # the plan was unpickled without its catalogues
        return None
    builtin: dict[str, Catalogue[Any]] = {
        "distances": distances.catalogue,
        "normalizers": normalizers.catalogue,
        "matchings": matching.catalogue,
    }
    entries = {
        (family, name): factory.build
        for family, used in (plan.custom or {}).items()
        for name, factory in used.entries.items()
        if name not in builtin[family].entries
    }
    digest = hashlib.sha256()
    try:
        _FunctionPickler(digest).dump(entries)
    except Exception:  # noqa: BLE001  (pickling runs code of users)
        return None
    return digest.hexdigest()


class _FunctionPickler(pickle.Pickler):
    """Adds objects to a digest: functions by their source files and what they are bound to, all others as pickled."""

    def __init__(self, digest: hashlib._Hash) -> None:
        super().__init__(self)
        self._digest, self._size = digest, 0

    def write(self, data: bytes) -> None:
        """Add a part of the pickled objects. Raises PicklingError if they are too large."""
        self._digest.update(data)
        self._size += len(data)
        if self._size > MAX_STATE:
            message = f"More than {MAX_STATE} bytes"
            raise pickle.PicklingError(message)

    def reducer_override(self, value: object) -> Any:  # noqa: ANN401  (see `pickle`)
        """Replace a function by what it is bound to, and add the source file of a function or a class."""
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)) and value.__module__ is not None:
            self._add_module(value.__module__)
        if not isinstance(value, FunctionType):
            return NotImplemented
        if not value.__module__.startswith("arbitre."):
            self._add_file(value.__code__.co_filename)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        bound = value.__defaults__, value.__kwdefaults__, cells, value.__dict__
        return object, (), [value.__module__, value.__qualname__, *bound]

    def _add_module(self, name: str) -> None:
        """Add the source file of a module, unless it belongs to arbitre or to the interpreter."""
        module = sys.modules[name]
        origin = None if module.__spec__ is None else module.__spec__.origin
        if name.partition(".")[0] != "arbitre" and origin not in {"built-in", "frozen"}:
            self._add_file(str(module.__file__))

    def _add_file(self, name: str) -> None:
        """Add a source file. Raises PicklingError if it cannot be read."""
        content = content_of(Path(name))
        if not content:
            message = f"No source file {name!r}"
            raise pickle.PicklingError(message)
        self._digest.update(content.encode())
