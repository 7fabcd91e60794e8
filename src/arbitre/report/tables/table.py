r"""Tables as text: Markdown, LaTeX and CSV.

The LaTeX is a bare `tabular`, to be put into a `table` with a caption; it needs `\usepackage{booktabs}`.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from arbitre.errors import DataError, did_you_mean
from arbitre.report.text_files import write_frame
from arbitre.report.visible_text import show_hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from arbitre.corpus.storage.arrow import Frame
    from arbitre.values import Json

TableFormat: TypeAlias = Literal["markdown", "latex", "csv"]
CellValue: TypeAlias = str | float | None

NONE: Final = "–"
"""What stands where there is no value."""

SCORE: Final = "{:.4f}".format
SIGNED: Final = "{:+.4f}".format
SHARE: Final = "{:.1%}".format
PLACE: Final = "{:.2f}".format
"""How numbers are written for people to read."""

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
    """A count, or a mass that need not be whole."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def probability(value: float) -> str:
    """A p, which is never 0."""
    return SCORE(value) if value >= _LEAST else "<0.0001"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """What a column is called, and how its numbers are written; one without that holds texts.

    `key` is its name in frames and CSV files, where that is another one.
    """

    name: str
    written: Callable[[float], str] | None = None
    key: str | None = None

    def text(self, value: CellValue) -> str:
        """A cell as people read it."""
        if value is None:
            return NONE
        return str(value) if self.written is None or isinstance(value, str) else self.written(value)

    def values(self, cells: Sequence[CellValue]) -> Sequence[Json] | npt.NDArray[np.float64]:
        """The cells of this column in a frame: texts or counts as they are, other numbers as an array."""
        if self.written is None or (cells and all(isinstance(cell, int) for cell in cells)):
            return cells
        return np.array(cells, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, each cell a text or a number, None where there is no value.

    `signature` identifies the measurement: a note in Markdown, a comment in LaTeX, a column in CSV and frames.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    signature: str = ""

    @property
    def texts(self) -> list[list[str]]:
        """The cells as people read them."""
        return [[column.text(one) for column, one in zip(self.columns, row, strict=True)] for row in self.rows]

    def without(self, name: str) -> Table:
        """The table without the columns of a name."""
        kept = [at for at, column in enumerate(self.columns) if column.name != name]
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=rows)

    def text(self, kind: TableFormat) -> str:
        """The table in one of the forms, ending in a line break. Raises DataError where there is no such form."""
        if kind not in get_args(TableFormat):
            raise unknown("form", kind, get_args(TableFormat))
        return {"markdown": self.markdown, "latex": self.latex, "csv": self.csv}[kind]()

    def markdown(self) -> str:
        r"""The table as GitHub and Pandoc read it, marks in texts escaped.

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
        r"""The table as a `tabular` with the rules of `booktabs`.

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
        """The columns for programs, with all digits."""
        cells = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        named = zip(self.columns, cells, strict=True)
        frame = {column.key or column.name: column.values(list(some)) for column, some in named}
        return frame | ({"signature": [self.signature] * len(self.rows)} if self.signature else {})

    def csv(self) -> str:
        r"""The table with all digits; text that a spreadsheet would run as a formula is preceded by an apostrophe.

        >>> print(Table("", (TableColumn("run"), TableColumn("f1q", SCORE)), (("=1+1", 2 / 3),)).csv(), end="")
        run,f1q
        '=1+1,0.6666666666666666
        """
        file = io.StringIO()
        write_frame(file, self.frame)
        return file.getvalue()


def unknown(what: str, got: str, known: tuple[str, ...]) -> DataError:
    """What to raise where a table has no such form, row or column."""
    hint = did_you_mean(got, known) or f"There are: {', '.join(known)}."
    return DataError.of(f"Expected a {what} of a table, got {got!r}", hint=hint)


def _marked(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", show_hidden(text))


def _typeset(text: str) -> str:
    """The text with its signs escaped; a `*` or `[` after a line break would belong to that."""
    return ("{}" if text.startswith(("*", "[")) else "") + show_hidden(text).translate(_LATEX)
