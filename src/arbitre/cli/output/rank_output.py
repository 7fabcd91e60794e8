"""Output of `arbitre rank`: rankings of systems and comparisons of factor levels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, left_out, titled
from arbitre.cli.output.path_labels import escape_hidden, longest_word, nested_labels, wrapped
from arbitre.corpus.statistics import threshold
from arbitre.report.html.build_view import ranked
from arbitre.report.html.language import Language, Translator
from arbitre.report.html.wording import detectable, lead, sampled
from arbitre.report.tables import summaries
from arbitre.report.tables.ranking_files import FactorsResults, RankingResults
from arbitre.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.corpus.statistics import Interval
    from arbitre.report.tables.table import Table

MAX_SHOWN: Final = 10
"""Maximum number of paths to show on which the best system loses; the file has all of them."""

OPTIONAL_COLUMNS: Final = ("p (Holm)", "p", "detectable", "shared", "chance", "failed", "document quality")
"""Columns omitted on narrow terminals, in this order; files have all of them."""

LAST_COLUMNS: Final = ("documents", "low", "high")
"""Columns omitted, in this order, if a table is too wide without the optional ones and with names wrapped."""

_GAP: Final = 3
"""Number of characters between two columns."""

_DIFFERENCE: Final = (
    "The interval of a difference comes from the test: it excludes 0 if the difference is significant. "
    "detectable: smallest true difference that would be found with a probability of 80%."
)

_CHANCE: Final = (
    "chance: score of predictions compared with the gold of other documents; not subtracted from any score."
)


@dataclass(frozen=True, slots=True)
class RankingOutput(RankingResults):
    """A ranking and its terminal output."""

    def blocks(self, width: int) -> Iterator[RenderableType]:
        """Yield the blocks of the terminal output."""
        ranking, tables, say = self.ranking, self.tables, Translator(Language.EN)
        systems = asdict(ranked(ranking.to_dict()))
        yield Text.assemble(
            (f"{counted(len(ranking.systems), 'system')} on the same {sampled(systems['sampled'], say)}", "bold"),
            f"\n{summaries.AVERAGES[ranking.aggregate]} {ranking.score}; {100.0 * ranking.level:g}% intervals of the "
            "differences to the best system",
            f"\n{escape_hidden(ranking.provenance.headline())}",
        )
        board = tables.pop("systems")
        for name in summaries.OWN_INTERVAL if ranking.pairs else ("to best", "low", "high"):
            board = board.without(name)
        yield _rendered(board, width)
        for found in (lead(systems, say), detectable(systems, say)):
            if found:
                yield Text(found)
        legend = [_CHANCE]
        if ranking.pairs:
            letters = (
                "Systems that share a letter do not differ significantly "
                f"(p > {threshold(ranking.level):g}, adjusted by {ranking.pairs[0].correction})."
            )
            legend = [letters, *legend, _DIFFERENCE]
        yield Text("\n".join((*legend, *ranking.notes)), style="dim")
        for name in ("scores", "pairs", "winners"):
            table = tables.pop(name)
            if len(ranking.systems) > 1 and _defined(table) and (name != "scores" or len(table.columns) > 3):  # noqa: PLR2004
                yield _rendered(table, width)
        yield from (_rendered(table, width, MAX_SHOWN) for table in tables.values() if _defined(table))
        yield result_tables.signature(Signature.from_dict(ranking.signature))


@dataclass(frozen=True, slots=True)
class FactorsOutput(FactorsResults):
    """Comparisons of factor levels and their terminal output."""

    def blocks(self, width: int) -> Iterator[RenderableType]:
        """Yield the blocks of the terminal output."""
        first = self.factors[0]
        yield Text.assemble(
            (
                f"{counted(len(self.factors), 'factor')} of {counted(sum(first.documents.values()), 'prediction')}",
                "bold",
            ),
            f"\n{summaries.AVERAGES[first.aggregate]} {first.score}, {_interval(next(iter(first.levels.values())))}",
            f"\n{escape_hidden(self.provenance.headline())}",
        )
        yield from (_rendered(table, width) for table in self.tables.values() if _defined(table))
        if not _defined(self.tables["pairs"]) and self.tables["pairs"].rows:
            yield Text(Translator(Language.EN)("shared.none"))
        unbalanced = [
            f"{one.name} is unbalanced: its levels cover different documents. Only shared documents are compared."
            for one in self.factors
            if not one.balanced
        ]
        notes = dict.fromkeys(note for one in self.factors for note in one.notes)
        yield Text("\n".join((*unbalanced, *notes)), style="dim")
        yield result_tables.signature(self.signature)


def _interval(found: Interval) -> str:
    return f"{100.0 * found.level:g}% confidence intervals ({found.method}), seed {found.seed}"


def _rendered(found: Table, width: int, most: int | None = None) -> RenderableType:
    """Return a table for the terminal; tables of paths nest them, others omit columns on narrow terminals."""
    found, dropped = _fit_columns(found, width)
    grid = result_tables.table(*(column.name for column in found.columns))
    for place, column in zip(grid.columns, found.columns, strict=True):
        place.justify, place.no_wrap = ("left", False) if column.written is None else ("right", True)
    rows = [[escape_hidden(text) for text in row] for row in found.texts[:most]]
    widths = _widths(found)
    if found.columns[0].name == "path":
        taken = sum(_GAP + wide for wide in widths[1:])
        room = max(width - taken, width // 3)
        widths[0] = min(widths[0], room)
        for row, label in zip(rows, nested_labels([str(row[0]) for row in found.rows[:most]], room), strict=True):
            row[0] = label
    for at, room in _rooms(found, widths, width).items():
        for row in rows:
            row[at] = wrapped(row[at], room)
    for row in rows:
        grid.add_row(*row)
    more = len(found.rows) - len(rows)
    title = f"{found.title} (first {len(rows)} of {len(found.rows)})" if more else found.title
    return titled(title, Group(grid, *left_out(dropped)))


def _fit_columns(found: Table, width: int) -> tuple[Table, list[str]]:
    """Return the table without as many optional columns as needed to fit the width, and the names of those.

    If the words of names do not fit beside the other columns, further columns are omitted.
    """
    dropped: list[str] = []
    if found.columns[0].name == "path":
        return found, dropped
    for names, widths in ((OPTIONAL_COLUMNS, _widths), (LAST_COLUMNS, _least_widths)):
        for name in names:
            if sum(_GAP + wide for wide in widths(found)) - _GAP <= width:
                break
            if any(column.name == name for column in found.columns):
                found = found.without(name)
                dropped.append(name)
    return found, dropped


def _rooms(found: Table, widths: list[int], width: int) -> dict[int, int]:
    """Return the width of each column of names, by position; the widest are narrowed first, never below a word."""
    least = _least_widths(found)
    least[0] = widths[0] if found.columns[0].name == "path" else least[0]
    excess = sum(_GAP + wide for wide in widths) - _GAP - width
    texts = [at for at, column in enumerate(found.columns) if column.written is None and column.name != "path"]
    while excess > 0 and texts:
        at = max(texts, key=lambda at: (widths[at] > least[at], widths[at]))
        if widths[at] <= least[at]:
            break
        widths[at] -= 1
        excess -= 1
    return {at: widths[at] for at in texts}


def _least_widths(found: Table) -> list[int]:
    """Return the width of each column if names are wrapped between words."""
    return [
        wide if column.written is not None else max(longest_word(text) for text in (column.name, *texts))
        for column, wide, texts in zip(found.columns, _widths(found), zip(*found.texts, strict=True), strict=True)
    ]


def _defined(found: Table) -> bool:
    """Return whether a table has a number other than 0."""
    numbers = [at for at, column in enumerate(found.columns) if column.written is not None]
    return any(row[at] for row in found.rows for at in numbers)


def _widths(found: Table) -> list[int]:
    """Return the width of each column, including its header."""
    texts = [[column.name for column in found.columns], *found.texts]
    return [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
