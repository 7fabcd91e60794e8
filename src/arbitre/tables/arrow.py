"""Arrow and Parquet tables, and zstd files, with pyarrow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arbitre.values import Json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy.typing as npt

from arbitre.values import Json


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
    arrays = {
        name: pa.array(values, from_pandas=True)
        if isinstance(values, np.ndarray)
        else pa.array(values, None if any(value is not None for value in values) else pa.string())
        for name, values in frame.items()
    }
    return pa.table(arrays)


def import_pyarrow(path: Path | None = None) -> Any:  # noqa: ANN401
    """Import pyarrow. Raises DataError if it is not installed; `path` is the file that requires it, if any."""
    try:
        import pyarrow as pa  # noqa: PLC0415  (an extra)
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise DataError.of(
            "pyarrow is not installed; Arrow tables, .parquet and .zst files require it",
            file=None if path is None else str(path),
            hint="pip install 'arbitre[corpus]'",
        ) from None
    return pa


Values: TypeAlias = Sequence[Json] | npt.NDArray[Any]
"""Values of a column. In numeric arrays, NaN is a missing value."""

Frame: TypeAlias = Mapping[str, Values]
"""Columns of equal length by name."""
