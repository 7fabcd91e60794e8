"""Tables in files of their own: `paths.tex` says which rows, and in what form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from arbitre.corpus.storage import arrow
from arbitre.errors import DataError
from arbitre.report.tables.table import Table
from arbitre.report.text_files import atomic_text_file, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from arbitre.corpus.storage.arrow import Frame

CSV: Final = "csv"
PARQUET: Final = "parquet"
_TYPESET: Final = {"md": Table.markdown, "tex": Table.latex}
FORMS: Final = (*_TYPESET, CSV, PARQUET)


class Export(NamedTuple):
    """A file for a table: which rows, and the ending that says how they are written."""

    rows: str
    form: str

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{self.rows}.{self.form}"


@dataclass(frozen=True, slots=True)
class ExportTable:
    """The rows of a result as people read them, and with all figures for programs; made when they are asked for."""

    table: Callable[[], Table]
    frame: Callable[[], Frame]

    @classmethod
    def of(cls, table: Table) -> Self:
        """A table of which people see all that there is."""
        return cls(lambda: table, lambda: table.frame)


def parse_exports(names: Iterable[str], rows: Collection[str]) -> tuple[Export, ...]:
    """The files of these names, each once. Raises DataError where there are no such rows, or no such form."""
    found = []
    for name in dict.fromkeys(names):
        stem, _, form = name.rpartition(".")
        if stem not in rows or form not in FORMS:
            raise DataError.of(
                f"Expected the name of a table, got {name!r}",
                hint=f"There are {', '.join(rows)}, each with .{', .'.join(FORMS)}.",
            )
        if form == PARQUET:
            arrow.import_pyarrow(Path(name))
        found.append(Export(stem, form))
    return tuple(found)


def write(folder: Path, exports: Iterable[Export], sheets: Mapping[str, ExportTable]) -> tuple[str, ...]:
    """Write files, each whole or not at all; their names. Raises DataError where one cannot be written."""
    names = []
    for one in exports:
        sheet, path = sheets[one.rows], folder / one.name
        if one.form == PARQUET:
            arrow.write_parquet(path, arrow.to_arrow_table(sheet.frame()))
        else:
            with atomic_text_file(path) as file:
                if one.form == CSV:
                    write_frame(file, sheet.frame())
                else:
                    file.write(_TYPESET[one.form](sheet.table()))
        names.append(one.name)
    return tuple(names)
