"""Opens sources: globs, compressed files and standard input; splits large files for several processes."""

from __future__ import annotations

import errno
import glob
import gzip
import os
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

from arbitre.errors import DataError, clipped, unreadable
from arbitre.storage.files import check_is_local
from arbitre.values import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader
    from types import ModuleType

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
GZIP: Final = ".gz"
ZSTD: Final = ".zst"
PACKED: Final = frozenset({GZIP, ZSTD})
SIDECAR: Final = ".provenance.json"
"""Suffix of the names of sidecars, which state the provenance of documents."""

_KINDS: Final = "a folder, a .json, .jsonl, .ndjson, .csv, .tsv (plain, .gz or .zst), .parquet or .xlsx file"

BLOCK_SIZE: Final = 1 << 20
"""Approximate size of a block of lines, in bytes."""

LARGE_FILE: Final = 4 << 20
"""Size in bytes above which worker processes parse an uncompressed JSON Lines file."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@runtime_checkable
class Workers(Protocol):
    """Worker processes, on this machine or on a cluster, that apply a function to items."""

    @property
    def is_ready(self) -> bool:
        """Whether the processes are running, or the cluster is connected."""

    def prepare(self) -> None:
        """Start the processes in the background. Does nothing if they are already starting or running."""

    def close(self) -> None:
        """Release the processes."""

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], *, wait: bool = True
    ) -> Iterator[_Result]:
        """Yield the results, in order. If `wait` is false, this process handles items until the workers are ready."""

    def run(self, function: Callable[[], _Result]) -> _Result:
        """Call a function in a worker process, or in this process if none is running. Raises the errors of `map`."""
        return next(self.map(_call, [function])) if self.is_ready else function()

    def run_both(self, function: Callable[[], _Result], here: Callable[[], _Item]) -> tuple[_Result, _Item]:
        """Call a function in a worker process, and meanwhile another one in this process, and return both results.

        If no worker process is running, or if the function cannot be sent to one, this process calls both. Raises the
        errors of `map`.
        """
        if not self.is_ready:
            value = here()
            return function(), value
        found: list[_Item] = []

        def functions() -> Iterator[Callable[[], _Result]]:
            yield function
            found.append(here())

        (result,) = self.map(_call, functions())
        return result, found[0]


def _call(function: Callable[[], _Result]) -> _Result:
    return function()


class LineBlock(NamedTuple):
    """Consecutive lines of a file.

    Attributes:
        file: Path of the file.
        offset: Position of the first line, in bytes.
        length: Number of bytes.
        line: Number of the first line, from 1.
    """

    file: str
    offset: int
    length: int
    line: int


def expand_globs(sources: str | Path | Iterable[str | Path]) -> Iterator[str]:
    """Yield each source, with globs replaced by the files that match them, sorted by name.

    `**` matches folders at any depth. Globs do not match sidecars. The name of an existing file is not a glob.

    Raises:
        DataError: A glob matches no files, or the name of a file is not Unicode.
    """
    for source in [sources] if isinstance(sources, (str, Path)) else sources:
        name = str(source)
        try:
            exists = _exists(name)
        except OSError as error:
            raise DataError.of(
                f"Expected the name of a file or a folder: {error.strerror}",
                file=clipped(name, 200),
                hint="In Python, pass documents as a list of dictionaries or models, or as a dictionary by id.",
            ) from error
        if not exists:
            check_is_local(name)
        if exists or not glob.has_magic(name):
            if not Path(name).is_dir():
                check_is_unicode(Path(name))
            yield name
            continue
        matching = glob.glob(name, recursive=True)  # noqa: PTH207  (Path.glob takes no absolute pattern)
        found = sorted(path for path in matching if not path.endswith(SIDECAR))
        if not found:
            raise DataError.of(
                f"Expected {name!r} to match files, got none",
                hint="Put the pattern in quotes; ** matches folders at any depth.",
            )
        for path in found:
            check_is_unicode(Path(path))
        yield from found


_INCONCLUSIVE_ERRORS: Final = frozenset({errno.ENAMETOOLONG, errno.EACCES})
"""Errors of the file system that do not say whether a file exists."""


def _exists(name: str) -> bool:
    """Return whether a file or a folder has this name.

    Unlike `Path.exists` from Python 3.14 on, it raises OSError if the name is too long or its folder is inaccessible.
    """
    try:
        Path(name).stat()
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in _INCONCLUSIVE_ERRORS:
            raise
        return False
    return True


def check_is_unicode(path: Path) -> None:
    """Raise DataError if the name of a file, without its folder, is not valid UTF-8.

    Results contain the names of files, so they cannot be written with such a name.
    """
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise DataError.of(
            "The name of the file is not valid UTF-8",
            file=os.fsencode(path).decode(errors="backslashreplace"),
            hint="Rename the file.",
        ) from None


def source_names(sources: str | Path | Iterable[str | Path]) -> list[tuple[str, bool]]:
    """Return the names of sources, with globs expanded, and whether each name matches a glob. Raises DataError."""
    given = [sources] if isinstance(sources, (str, Path)) else list(sources)
    return [(name, name != str(source)) for source in given for name in expand_globs(source)]


def split_name(path: Path) -> tuple[str, str]:
    """Return the stem and the lower-case suffix of a file, ignoring a compression suffix.

    >>> split_name(Path("corpus/gold.jsonl.gz")), split_name(Path("page_02.json"))
    (('gold', '.jsonl'), ('page_02', '.json'))
    """
    inner = path.with_suffix("") if is_compressed(path) else path
    return inner.stem, inner.suffix.lower()


def is_compressed(path: Path) -> bool:
    """Return whether a file name ends with a compression suffix."""
    return path.suffix.lower() in PACKED


def is_dangling(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder is a symbolic link to a missing file, as in git-annex before `get`."""
    return entry.is_symlink() and not Path(entry).exists()


def unknown_format(name: str) -> DataError:
    """Return the error for a source with an unknown suffix."""
    path, hint = Path(name), "Give the file the suffix of its format."
    if not path.exists():
        hint = "Check the name."
    elif split_name(path)[1].startswith(".conll"):
        hint = "CoNLL files are read by `arbitre entities`, `agree`, `gamma`, `consensus` and `advise`."
    return DataError.of(f"Expected {_KINDS}, or - for standard input, got {name!r}", file=name, hint=hint)


def require_decompressor(path: Path) -> ModuleType:
    """Return the module that decompresses .zst files.

    Raises:
        DataError: pyarrow is not installed. Call this first, so that this is not reported as a failed document.
    """
    from arbitre.tables import arrow  # noqa: PLC0415  (an extra)

    arrow.import_pyarrow(path)
    return arrow


@contextmanager
def open_source(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading and decompress it; `-` is standard input.

    Raises:
        DataError: The file cannot be opened, read or decompressed, including while the block reads it.
    """
    try:
        if str(path) == STDIN:
            yield sys.stdin.buffer
        elif path.suffix.lower() == GZIP:
            with gzip.open(path) as file:
                yield cast("BinaryIO", file)
        elif path.suffix.lower() == ZSTD:
            with require_decompressor(path).open_zstd(path) as file:
                yield file
        else:
            with path.open("rb") as file:
                yield file
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from error


def split_lines(name: str, size: int = BLOCK_SIZE) -> Iterator[LineBlock]:
    """Split a file after the first line end that follows each `size` bytes. Raises DataError if it cannot be read."""
    offset, line, data = 0, 1, bytearray(size)
    with open_source(Path(name)) as file:
        while begin := cast("BufferedReader", file).readinto(data):
            _, rest = next(read_lines(file, 0), (b"", 0))
            yield LineBlock(name, offset, begin + rest, line)
            offset += begin + rest
            line += data.count(b"\n", 0, begin) + (rest > 0)


def read_lines(file: BinaryIO, most: int = MAX_BYTES) -> Iterator[tuple[bytes, int]]:
    r"""Yield the lines of a file, each with its length in bytes. A line of more than `most` bytes is truncated.

    >>> import io
    >>> list(read_lines(io.BytesIO(b"abc\n" + b"d" * 100_000 + b"\ne"), 4))
    [(b'abc\n', 4), (b'ddddd', 100001), (b'e', 1)]
    """
    while line := file.readline(most + 1):
        length, more = len(line), line if len(line) > most else b"\n"
        while more and not more.endswith(b"\n"):
            more = file.readline(BLOCK_SIZE)
            length += len(more)
        yield line, length
