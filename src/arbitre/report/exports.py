"""Export tables to files; a name such as `paths.tex` selects the rows and the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import OptionError, did_you_mean
from arbitre.storage.files import atomic_file, atomic_text_file
from arbitre.tables import arrow
from arbitre.tables.csv_text import STANDARD, CsvDialect, write_frame
from arbitre.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from arbitre.corpus.tables import ExportTable

CSV: Final = "csv"
PARQUET: Final = "parquet"
_TYPESET: Final = {"md": Table.markdown, "tex": Table.latex}
FORMS: Final = (*_TYPESET, CSV, PARQUET)


class Export(NamedTuple):
    """A table file: its rows, and its format (the file extension)."""

    rows: str
    form: str

    @property
    def name(self) -> str:
        """File name."""
        return f"{self.rows}.{self.form}"


def parse_exports(names: Iterable[str] | None, rows: Collection[str], out: Path | None = Path()) -> tuple[Export, ...]:
    """Parse file names, without duplicates.

    Args:
        names: The file names.
        rows: The rows that a table may have.
        out: Folder of the tables.

    Raises:
        OptionError: There are names, but no folder, or the rows or the format of a table are unknown.
    """
    if names and out is None:
        raise OptionError.of("`table` requires `out`: the folder for the tables.")
    found = []
    for name in dict.fromkeys(names or ()):
        stem, _, form = name.rpartition(".")
        if stem not in rows or form not in FORMS:
            similar = "" if stem in rows else f"{did_you_mean(stem or name, rows)} "
            raise OptionError.of(
                f"Expected the name of a table, got {name!r}", hint=f"{similar}Extensions: .{', .'.join(FORMS)}."
            )
        if form == PARQUET:
            arrow.import_pyarrow(Path(name))
        found.append(Export(stem, form))
    return tuple(found)


def write(
    folder: Path, exports: Iterable[Export], sheets: Mapping[str, ExportTable], dialect: CsvDialect = STANDARD
) -> tuple[str, ...]:
    """Write files atomically and return their names. Raises DataError if one cannot be written."""
    names = []
    for one in exports:
        sheet, path = sheets[one.rows], folder / one.name
        if one.form == PARQUET:
            write_parquet(path, arrow.to_arrow_table(sheet.frame()))
        else:
            with atomic_text_file(path) as file:
                if one.form == CSV:
                    write_frame(file, sheet.frame(), dialect)
                else:
                    file.write(_TYPESET[one.form](sheet.table()))
        names.append(one.name)
    return tuple(names)


def write_parquet(path: Path, table: Any) -> None:  # noqa: ANN401
    """Write a `pyarrow.Table` to a Parquet file, atomically. Raises DataError if the file cannot be written."""
    pa = arrow.import_pyarrow(path)
    with atomic_file(path) as part:
        pa.parquet.write_table(table, part)
