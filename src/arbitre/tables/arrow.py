"""Arrow and Parquet tables, and zstd files, with pyarrow."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from arbitre.errors import optional_library, unreadable
from arbitre.storage.columns import LazySequence
from arbitre.values import Json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


Rows: TypeAlias = bytes | bytearray
"""Rows of CSV."""

READ_ROWS: Final = 1 << 16
"""Number of texts that are converted to Python strings at once."""


def open_zstd(path: Path) -> BinaryIO:
    """Open a zstd file for reading.

    Raises:
        DataError: pyarrow is not installed.
        OSError: The file is damaged or truncated, possibly raised while reading.
    """
    pa = import_pyarrow(path)
    return cast("BinaryIO", io.BufferedReader(pa.input_stream(str(path), compression="zstd")))


def to_arrow_table(frame: Frame) -> Any:  # noqa: ANN401
    """Convert a frame to a `pyarrow.Table`. NaN becomes null; empty and all-null columns get the type string.

    Raises:
        DataError: pyarrow is not installed.
    """
    pa = import_pyarrow()
    return pa.table({name: _array(pa, values) for name, values in frame.items()})


def _array(pa: Any, values: Values) -> Any:  # noqa: ANN401
    if isinstance(values, ArrowTexts):
        return values.array
    if isinstance(values, np.ndarray):
        return pa.array(values, from_pandas=True)
    return pa.array(values, None if any(value is not None for value in values) else pa.string())


class ArrowTexts(LazySequence[str | None]):
    """A column of an Arrow table of texts. Its values become Python strings on access; null is None."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:  # noqa: ANN401
        """Wrap a `pyarrow.ChunkedArray`."""
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[str | None]:
        """Yield all texts, in a quarter of the time of access by row index."""
        for begin in range(0, len(self), READ_ROWS):
            yield from self.array.slice(begin, READ_ROWS).to_pylist()

    def at(self, rows: npt.ArrayLike) -> Iterator[str | None]:
        """Yield the texts at these row indices, shape (n,)."""
        return iter(self.array.take(np.asarray(rows, dtype=np.int64)).to_pylist())


def read_parquet(path: Path) -> Frame:
    """Read a Parquet file as columns: numbers as arrays, in which NaN is null; texts as `ArrowTexts`.

    Raises:
        DataError: pyarrow is not installed, or the file cannot be read.
    """
    pa = import_pyarrow(path)
    try:
        table = pa.parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from error
    return {
        name: column.to_numpy() if pa.types.is_floating(column.type) else ArrowTexts(column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def dataset(source: Path | Any) -> Any:  # noqa: ANN401
    """Return a `pyarrow.dataset.Dataset` of a Parquet file, which is read on demand, or of a `pyarrow.Table`.

    Raises:
        DataError: pyarrow is not installed.
    """
    import_pyarrow()
    from pyarrow.dataset import dataset as of  # noqa: PLC0415  (an extra)

    return of(source)


def parquet_writer(path: Path, kinds: Mapping[str, type]) -> Any:  # noqa: ANN401
    """Return a `pyarrow.parquet.ParquetWriter` of columns of texts (`str`) and numbers (`float`)."""
    pa = import_pyarrow(path)
    return pa.parquet.ParquetWriter(path, _schema(pa, kinds), compression="zstd")


def read_csv_rows(rows: Rows, kinds: Mapping[str, type], *, delimiter: str, escaped: str) -> Any:  # noqa: ANN401
    """Read rows of CSV with decimal points, without a header, as a `pyarrow.Table`; empty cells are null.

    Args:
        rows: The text.
        kinds: The type of each column: `str` or `float`.
        delimiter: The delimiter.
        escaped: Regular expression of the start of escaped texts, which is replaced with its first group.
    """
    pa = import_pyarrow()
    from pyarrow import compute  # noqa: PLC0415  (an extra)
    from pyarrow import csv as reader  # noqa: PLC0415  (an extra)

    schema = _schema(pa, kinds)
    table = reader.read_csv(
        pa.BufferReader(rows),
        reader.ReadOptions(column_names=schema.names, block_size=max(len(rows), 1)),
        reader.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        reader.ConvertOptions(column_types=schema, null_values=[""], strings_can_be_null=True),
    )
    for at, (name, kind) in enumerate(kinds.items()):
        if kind is str and compute.any(compute.starts_with(table.column(at), "'")).as_py():
            plain = compute.replace_substring_regex(table.column(at), escaped, r"\1")
            table = table.set_column(at, name, plain)
    return table


def release_memory() -> None:
    """Release pyarrow's unused memory to the operating system: 80 MB after a row group of 16 MiB."""
    import_pyarrow().default_memory_pool().release_unused()


def _schema(pa: Any, kinds: Mapping[str, type]) -> Any:  # noqa: ANN401
    return pa.schema([(name, pa.float64() if kind is float else pa.string()) for name, kind in kinds.items()])


def is_installed() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def import_pyarrow(path: Path | None = None) -> Any:  # noqa: ANN401
    """Import pyarrow. Raises DataError if it is not installed; `path` is the file that requires it, if any."""
    file = None if path is None else str(path)
    with optional_library(
        "pyarrow", "corpus", "Reading or writing an Arrow table, a .parquet file or a .zst file", file=file
    ):
        import pyarrow as pa  # noqa: PLC0415  (an extra)
        import pyarrow.parquet  # noqa: PLC0415
    return pa


Values: TypeAlias = Sequence[Json] | npt.NDArray[Any]
"""Values of a column. In numeric arrays, NaN is a missing value."""

Frame: TypeAlias = Mapping[str, Values]
"""Columns of equal length by name."""
