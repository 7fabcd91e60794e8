r"""Tables as Markdown, LaTeX and CSV.

The LaTeX output is a bare `tabular` for use in a `table` environment; it needs `\usepackage{booktabs}`.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from arbitre.errors import DataError, did_you_mean, show_hidden
from arbitre.report.csv_columns import write_frame
from arbitre.report.text_files import STANDARD, CsvDialect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from arbitre.corpus.storage.arrow import Frame
    from arbitre.values import Json

TableFormat: TypeAlias = Literal["markdown", "latex", "csv"]
CellValue: TypeAlias = str | float | None

NONE: Final = "–"
"""Placeholder for a missing value."""

SCORE: Final = "{:.4f}".format
SIGNED: Final = "{:+.4f}".format
SHARE: Final = "{:.1%}".format
PLACE: Final = "{:.2f}".format
"""Number formats."""

_LEAST: Final = 5e-5

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|#~])")
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        NONE: "--",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def count(value: float) -> str:
    """Format a count, or a mass with two decimals."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def probability(value: float) -> str:
    """Format a p-value; never 0."""
    return SCORE(value) if value >= _LEAST else "<0.0001"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """Column of a table.

    Attributes:
        name: Header.
        written: Number format; None for a text column.
        key: Name in frames and CSV files, if different from `name`.
    """

    name: str
    written: Callable[[float], str] | None = None
    key: str | None = None

    def text(self, value: CellValue) -> str:
        """Format a cell."""
        if value is None:
            return NONE
        return str(value) if self.written is None or isinstance(value, str) else self.written(value)

    def values(self, cells: Sequence[CellValue]) -> Sequence[Json] | npt.NDArray[np.float64]:
        """Return the cells for a frame: texts and counts unchanged, other numbers as a float64 array."""
        if self.written is None or (cells and all(isinstance(cell, int) for cell in cells)):
            return cells
        return np.array(cells, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts and numbers; None is a missing value.

    `signature` is written as a note in Markdown, a comment in LaTeX, and a column in CSV and frames.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    signature: str = ""

    @property
    def texts(self) -> list[list[str]]:
        """Formatted cells, by row."""
        return [[column.text(one) for column, one in zip(self.columns, row, strict=True)] for row in self.rows]

    def without(self, name: str) -> Table:
        """Return the table without the columns of this name."""
        kept = [at for at, column in enumerate(self.columns) if column.name != name]
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=rows)

    def text(self, kind: TableFormat) -> str:
        """Return the table in a format, with a final line break. Raises DataError for an unknown format."""
        if kind not in get_args(TableFormat):
            raise unknown("format", kind, get_args(TableFormat))
        return {"markdown": self.markdown, "latex": self.latex, "csv": self.csv}[kind]()

    def markdown(self) -> str:
        r"""Return the table as Markdown for GitHub and Pandoc, with special characters escaped.

        >>> print(Table("", (TableColumn("path"), TableColumn("f1q", SCORE)), (("/names/*", 0.5),)).markdown(), end="")
        | path | f1q |
        |:---|---:|
        | /names/\* | 0.5000 |
        """
        head = [_marked(column.name) for column in self.columns]
        rule = [":---" if column.written is None else "---:" for column in self.columns]
        rows = ([_marked(text) for text in row] for row in self.texts)
        lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
        lines += ["", f"Signature: `{self.signature}`"] if self.signature else []
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        r"""Return the table as a LaTeX `tabular` with `booktabs` rules.

        >>> print(Table("", (TableColumn("run"), TableColumn("f1q", SCORE)), (("page_02", 0.5),)).latex(), end="")
        \begin{tabular}{lr}
        \toprule
        run & f1q \\
        \midrule
        page\_02 & 0.5000 \\
        \bottomrule
        \end{tabular}
        """
        sides = "".join("l" if column.written is None else "r" for column in self.columns)
        head = " & ".join(_typeset(column.name) for column in self.columns)
        rows = [" & ".join(map(_typeset, row)) + r" \\" for row in self.texts]
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows]
        signed = [f"% Signature: {self.signature}"] if self.signature else []
        return "\n".join([*signed, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    @property
    def frame(self) -> Frame:
        """Columns by name, at full precision."""
        cells = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        named = zip(self.columns, cells, strict=True)
        frame = {column.key or column.name: column.values(list(some)) for column, some in named}
        return frame | ({"signature": [self.signature] * len(self.rows)} if self.signature else {})

    def csv(self, dialect: CsvDialect = STANDARD) -> str:
        r"""Return the table as CSV at full precision, with an apostrophe before text that could run as a formula.

        >>> print(Table("", (TableColumn("run"), TableColumn("f1q", SCORE)), (("=1+1", 2 / 3),)).csv(), end="")
        run,f1q
        '=1+1,0.6666666666666666
        """
        file = io.StringIO()
        write_frame(file, self.frame, dialect)
        return file.getvalue()


def unknown(what: str, got: str, known: tuple[str, ...]) -> DataError:
    """Return the error for an unknown format, row or column of a table."""
    hint = did_you_mean(got, known) or f"Available: {', '.join(known)}."
    return DataError.of(f"Expected a {what} of a table, got {got!r}", hint=hint)


def _marked(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", show_hidden(text))


def _typeset(text: str) -> str:
    """Escape LaTeX special characters; protect a leading `*` or `[` from the preceding line break."""
    return ("{}" if text.startswith(("*", "[")) else "") + show_hidden(text).translate(_LATEX)
