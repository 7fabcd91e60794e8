r"""`Table`: named columns of texts and numbers, each with its format; written as Markdown, LaTeX, HTML, CSV and Arrow.

A capability builds the tables of its results in English. `arbitre.tables.terminal` prints them. Tables for people
(terminal, Markdown, LaTeX and HTML) are translated when they are written; CSV and Arrow are the same in every language.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias

import numpy as np
from markupsafe import Markup

from arbitre.errors import OptionError, did_you_mean, optional_library, show_hidden
from arbitre.language import Language, Translator, percentage
from arbitre.tables import arrow
from arbitre.tables.csv_text import STANDARD, CsvDialect, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.tables.arrow import Values

CellValue: TypeAlias = str | float | None

Emphasis: TypeAlias = Literal["", "strong", "weak"]

WHOLE: Final = "(whole document)"
"""Label of the path of a whole document."""

NONE: Final = "–"
"""Placeholder for a missing value."""

SCORE: Final = "{:z.4f}".format
SIGNED: Final = "{:+z.4f}".format
SHARE: Final = partial(percentage, digits=1)
PLACE: Final = "{:z.2f}".format
"""Number formats; a number that is rounded to zero has no minus sign."""

EARLY: Final = 10
"""Minimum `TableColumn.drop` of columns that are left out before any text is wrapped."""

_LEAST: Final = 5e-5

_MARKDOWN: Final = re.compile(r"([\\`*_\[\]<>|#~$&])")
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        NONE: "--",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)
_LIGATURE: Final = re.compile(r"(?<=[-–])(?=[-–])|(?<=')(?=')|(?<=,)(?=,)")
"""Place between two characters that LaTeX would set as one, such as two hyphens as a dash."""


def count(value: float) -> str:
    """Format a count, or a mass with two decimals."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def probability(value: float) -> str:
    """Format a p-value; never 0."""
    return SCORE(value) if value >= _LEAST else "<0.0001"


@dataclass(frozen=True, slots=True)
class TableColumn:
    r"""A column of a table.

    Attributes:
        name: Header; "\n" breaks it on terminals.
        written: Number format; None for a text column.
        key: Name in frames and CSV files, if different from `name`.
        right: Whether the column is right-aligned; by default, numbers are.
        kind: "path" for paths, "tree" for paths in document order, which terminals indent under their parents; "lines"
            for texts with line breaks.
        emphasis: Emphasis of the cells.
        drop: Order in which narrow terminals leave columns out, the highest first; 0 for never. See `EARLY`.
        least: Minimum width of a text on terminals; by default, that of its longest word.
        named: Whether the header is a name from the data, which is not translated.
        said: How cells are translated, such as `Translator.text`; None for texts from the data.
        whole: Label of the path of a whole document.
    """

    name: str
    written: Callable[[float], str] | None = None
    key: str | None = None
    right: bool | None = None
    kind: Literal["value", "path", "tree", "lines"] = "value"
    emphasis: Emphasis = ""
    drop: int = 0
    least: int | None = None
    named: bool = False
    said: Callable[[Translator, str], str] | None = None
    whole: str = WHOLE

    @property
    def number(self) -> bool:
        """Whether the cells are numbers."""
        return self.written is not None

    @property
    def aligned_right(self) -> bool:
        return self.number if self.right is None else self.right

    @property
    def heading(self) -> str:
        """Header on one line."""
        return self.name.replace("\n", " ")

    def text(self, value: CellValue) -> str:
        """Format a cell."""
        if value is None or value != value:  # noqa: PLR0124  (NaN)
            return NONE
        if self.kind in {"path", "tree"}:
            return str(value) or self.whole
        return str(value) if self.written is None or isinstance(value, str) else self.written(value)

    def translated(self, say: Translator) -> TableColumn:
        """Return the column with its header and its numbers translated; its name in data frames does not change."""
        written, name = self.written, self.name if self.named else say.text(self.heading)
        if "\n" in self.name and not self.named:
            name = _broken(name)
        return replace(
            self,
            name=name,
            key=self.key or self.heading,
            written=None if written is None else lambda value: say.localized(written(value)),
            whole=say.word(WHOLE),
        )

    def translated_cells(self, cells: Values, say: Translator) -> Values:
        """Return the cells with their words translated."""
        said = self.said
        if self.kind in {"path", "tree"}:
            cells = [say.word(WHOLE) if cell == WHOLE else cell for cell in cells]
        if said is None:
            return cells
        return [
            "\n".join(said(say, line) for line in cell.split("\n")) if isinstance(cell, str) else cell for cell in cells
        ]

    def values(self, cells: Values) -> Values:
        """Return the cells for a frame: texts and counts unchanged, other numbers as a float64 array."""
        if self.written is None or isinstance(cells, np.ndarray):
            return cells
        if len(cells) and all(isinstance(cell, int) for cell in cells):
            return cells
        return np.array([None if isinstance(cell, str) else cell for cell in cells], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Table(Mapping[str, "Values"]):
    """A table: a mapping from column names to columns of equal length, with a format for each.

    Columns of numbers are arrays, in which NaN is a missing value; other columns are sequences, in which None is.

    Attributes:
        title: Title.
        columns: The columns.
        cells: Cells of each column.
        signature: Written as a note in Markdown, a comment in LaTeX, and a column in CSV and frames.
        notes: Explanations, shown below the table on terminals.
        emphasis: Emphasis of rows, by position, and of single cells, by row and column.
        sections: Positions of the rows before which terminals leave space.
    """

    title: str
    columns: tuple[TableColumn, ...]
    cells: tuple[Values, ...]
    signature: str = ""
    notes: tuple[str, ...] = ()
    emphasis: Mapping[int | tuple[int, int], Emphasis] = field(default_factory=dict)
    sections: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[TableColumn],
        rows: Iterable[Sequence[CellValue]],
        signature: str = "",
        **more: Any,  # noqa: ANN401  (further attributes)
    ) -> Self:
        """Create a table from rows; None is a missing value. `more` are further attributes."""
        cells = tuple(zip(*rows, strict=True)) or ((),) * len(columns)
        if len(cells) != len(columns):
            message = f"Expected rows of {len(columns)} cells, got {len(cells)}"
            raise ValueError(message)
        return cls(title, tuple(columns), cells, signature, **more)

    @classmethod
    def of_frame(cls, frame: Mapping[str, Values]) -> Self:
        """Create a table from columns by name: arrays of numbers, and sequences of other values."""
        columns = (TableColumn(name, SCORE if _numeric(values) else None) for name, values in frame.items())
        return cls("", tuple(columns), tuple(frame.values()))

    def __getitem__(self, name: str) -> Values:
        return self._frame[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frame)

    def __len__(self) -> int:
        return len(self._frame)

    def __repr__(self) -> str:
        return f"Table({self.size} rows, {len(self)} columns)"

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.cells[0]) if self.cells else 0

    @property
    def rows(self) -> tuple[tuple[CellValue, ...], ...]:
        """Cells by row."""
        return tuple(zip(*self.cells, strict=True))

    def texts(self, most: int | None = None) -> list[list[str]]:
        """Return the formatted cells of the first `most` rows, by row."""
        formatted = (map(column.text, cells[:most]) for column, cells in zip(self.columns, self.cells, strict=True))
        return list(map(list, zip(*formatted, strict=True)))

    def without(self, *names: str) -> Self:
        """Return the table without the columns of these names."""
        return self.only(*(at for at, column in enumerate(self.columns) if column.name not in names))

    def only(self, *kept: int) -> Self:
        """Return the table with the columns at these positions."""
        places = {old: new for new, old in enumerate(kept)}
        emphasis = {
            key if isinstance(key, int) else (key[0], places[key[1]]): value
            for key, value in self.emphasis.items()
            if isinstance(key, int) or key[1] in places
        }
        columns = tuple(self.columns[at] for at in kept)
        return replace(self, columns=columns, cells=tuple(self.cells[at] for at in kept), emphasis=emphasis)

    def translated(self, say: Translator) -> Self:
        """Return the table in a language: title, headers, notes, numbers, and words in cells."""
        if say.language is Language.EN:
            return self
        return replace(
            self,
            title=say.text(self.title),
            columns=tuple(column.translated(say) for column in self.columns),
            cells=tuple(
                column.translated_cells(cells, say) for column, cells in zip(self.columns, self.cells, strict=True)
            ),
            notes=tuple(map(say.text, self.notes)),
        )

    @property
    def defined(self) -> bool:
        """Whether the table has a number other than 0."""
        numbers = (cells for column, cells in zip(self.columns, self.cells, strict=True) if column.number)
        return any(any(cells) for cells in numbers)

    def markdown(self, *, lang: str = "en") -> str:
        r"""Return the table as Markdown for GitHub and Pandoc, with special characters escaped.

        `lang` is the language of headers and numbers: "en" or "fr". Raises OptionError if it is unknown.

        >>> table = Table.of("", [TableColumn("path"), TableColumn("f1q", SCORE)], [("/names/*", 0.5)])
        >>> print(table.markdown(lang="fr"), end="")
        | chemin | f1q |
        |:---|---:|
        | /names/\* | 0,5000 |
        """
        say = Translator(Language.named(lang))
        made = self.translated(say)
        head = [_marked(column.heading) for column in made.columns]
        rule = ["---:" if column.aligned_right else ":---" for column in made.columns]
        rows = ([_marked(text) for text in row] for row in made.texts())
        lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
        lines += ["", f"Signature{say('colon')}`{self.signature}`"] if self.signature else []
        return "\n".join(lines) + "\n"

    def latex(self, *, lang: str = "en") -> str:
        r"""Return the table as a LaTeX `tabular` with `booktabs` rules, for use in a `table` environment.

        `lang` is the language of headers and numbers: "en" or "fr". Raises OptionError if it is unknown. Numbers are
        set in text mode, where a decimal comma needs no braces; their minus signs are set in mathematics mode.

        >>> print(Table.of("", [TableColumn("run"), TableColumn("f1q", SCORE)], [("page_02", 0.5)]).latex(), end="")
        \begin{tabular}{lr}
        \toprule
        run & f1q \\
        \midrule
        page\_02 & 0.5000 \\
        \bottomrule
        \end{tabular}
        """
        made = self.translated(Translator(Language.named(lang)))
        sides = "".join("r" if column.aligned_right else "l" for column in made.columns)
        head = " & ".join(_typeset(column.heading) for column in made.columns)
        rows = [
            " & ".join(
                _typeset_number(text) if column.number else _typeset(text)
                for column, text in zip(made.columns, row, strict=True)
            )
            + r" \\"
            for row in made.texts()
        ]
        lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", rf"{head} \\", r"\midrule", *rows]
        signed = [f"% Signature: {self.signature}"] if self.signature else []
        text = "\n".join([*signed, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
        return text if lang == Language.EN else text.replace("\xa0", "~").replace("\u202f", r"\,")

    def html(self, *, lang: str = "en") -> Markup:
        """Return the table as HTML; empty without rows. The first cell of a row is its head. Markup is kept.

        `lang` is the language of headers and numbers: "en" or "fr". Raises OptionError if it is unknown.
        """
        if lang != Language.EN:
            return self.translated(Translator(Language.named(lang))).html()
        if not self.size:
            return Markup()
        styles = [
            Markup('style="text-align:{}"').format("right" if column.aligned_right else "left")
            for column in self.columns
        ]
        head = Markup().join(
            Markup("<th {}>{}</th>").format(style, _shown(column.heading))
            for style, column in zip(styles, self.columns, strict=True)
        )
        body = Markup().join(
            Markup("<tr>{}</tr>").format(
                Markup().join(
                    (Markup("<td {}>{}</td>") if at else Markup("<th {}>{}</th>")).format(styles[at], _shown(cell))
                    for at, cell in enumerate(row)
                )
            )
            for row in self._markup()
        )
        return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)

    def _markup(self) -> Iterator[tuple[str, ...]]:
        """Yield the formatted cells of each row, with markup unchanged."""
        for row in self.rows:
            cells = zip(self.columns, row, strict=True)
            yield tuple(cell if isinstance(cell, Markup) else column.text(cell) for column, cell in cells)

    @cached_property
    def _frame(self) -> dict[str, Values]:
        """Columns by name, at full precision."""
        named = zip(self.columns, self.cells, strict=True)
        frame = {column.key or column.heading: column.values(cells) for column, cells in named}
        return frame | ({"signature": [self.signature] * self.size} if self.signature else {})

    def csv(self, dialect: CsvDialect = STANDARD) -> str:
        r"""Return the table as CSV at full precision, with an apostrophe before text that could run as a formula.

        >>> print(Table.of("", [TableColumn("run"), TableColumn("f1q", SCORE)], [("=1+1", 2 / 3)]).csv(), end="")
        run,f1q
        '=1+1,0.6666666666666666
        """
        file = io.StringIO()
        write_frame(file, self, dialect)
        return file.getvalue()

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow is optional)
        """Return a `pyarrow.Table`; missing values are null. Raises DataError if pyarrow is not installed."""
        return arrow.to_arrow_table(self)

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is optional)
        """Return a `pandas.DataFrame`. Raises DataError if pandas is not installed."""
        with optional_library("pandas", "frames", "`to_pandas`"):
            import pandas as pd  # noqa: PLC0415  (optional)
        return pd.DataFrame({name: _plain(column) for name, column in self.items()})

    def to_polars(self) -> Any:  # noqa: ANN401  (polars is optional)
        """Return a `polars.DataFrame`; missing values are null. Raises DataError if Polars is not installed."""
        with optional_library("polars", "frames", "`to_polars`"):
            import polars as pl  # noqa: PLC0415  (optional)
        columns = {
            name: pl.from_arrow(column.array) if isinstance(column, arrow.ArrowTexts) else _plain(column)
            for name, column in self.items()
        }
        texts = {name: pl.String for name, column in columns.items() if isinstance(column, list)}
        return pl.DataFrame(columns, schema_overrides=texts, nan_to_null=True)


def columns(*names: str, written: Callable[[float], str] | None = None, **more: Any) -> tuple[TableColumn, ...]:  # noqa: ANN401
    """Return columns of one format; `more` are further attributes of them."""
    return tuple(TableColumn(name, written, **more) for name in names)


def unknown_column(got: str, known: tuple[str, ...]) -> OptionError:
    """Return the error for an unknown column of a table."""
    return OptionError.of(f"Expected a column of a table, got {got!r}", hint=did_you_mean(got, known))


def _numeric(values: Values) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "f"


def _plain(column: Values) -> Any:  # noqa: ANN401  (an array or a list)
    return column if isinstance(column, np.ndarray) else list(column)


def _broken(text: str) -> str:
    r"""Break a text at the space nearest to its middle.

    >>> _broken("Global (micro)")
    'Global\n(micro)'
    """
    spaces = [at for at, char in enumerate(text) if char == " "]
    at = min(spaces, key=lambda at: abs(2 * at - len(text)), default=None)
    return text if at is None else f"{text[:at]}\n{text[at + 1 :]}"


def _marked(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", show_hidden(text))


def _typeset(text: str) -> str:
    """Escape LaTeX special characters and ligatures; protect a leading `*` or `[` from the preceding line break."""
    parts = _LIGATURE.split(show_hidden(text))
    return "{}" * text.startswith(("*", "[")) + "{}".join(part.translate(_LATEX) for part in parts)


def _typeset_number(text: str) -> str:
    """Escape the text of a number, and set its minus sign, which is a hyphen in text mode."""
    return f"$-${_typeset(text[1:])}" if text.startswith("-") else _typeset(text)


def _shown(text: str) -> str:
    return text if isinstance(text, Markup) else show_hidden(text)
