"""`arbitre leave-one-out`: compare each annotator with the consensus of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from arbitre.agreement.consensus.leave_one_out import SCORES, TITLE, WARNING, leave_one_out_on
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, counted, left_out, titled
from arbitre.cli.sources import named_sources
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.corpus.reading.options import ReadOptions
from arbitre.options import Strategy
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from arbitre.agreement import LeaveOneOut
    from arbitre.corpus.results.evaluation import Evaluation

OPTIONAL_COLUMNS: Final = ("95% interval", "imq", "irq")
"""Columns omitted on narrow terminals."""

_ROOM: Final = 68
"""Width of all columns but the first, in characters."""


def leave_one_out(
    *,
    annotators: list[str],
    schema: str,
    options: ComparatorKeywords,
    reading: ReadOptions,
    systems: list[str],
    strategy: Strategy,
    weak_margin: float,
    output: OutputOptions,
) -> None:
    """Compare each annotator, and systems, with the consensus of the other annotators.

    The results are agreement with an unvalidated consensus, not performance.
    """
    screen = output.terminal()
    result = leave_one_out_on(
        Comparator(schema, **options),
        named_sources(annotators),
        reading,
        systems=named_sources(systems),
        strategy=strategy,
        weak_margin=weak_margin,
    )
    screen.result(result.to_dict, lambda width: _blocks(result, width))


def _blocks(result: LeaveOneOut, width: int) -> Iterator[RenderableType]:
    yield Text.assemble(
        (TITLE, "bold"), f"\n{counted(len(result.annotators), 'annotator')}, {result.strategy} of the others"
    )
    yield titled(
        "Each annotator against the consensus of the others",
        _table("annotator", result.annotators, result.mean(), result.flagged, width),
    )
    for system, evaluations in result.systems.items():
        title = f"{escape_hidden(system)} against the same consensuses"
        yield titled(title, _table("left out", evaluations, result.mean(system=system), result.flagged, width))
    yield titled("Caveats", Text("\n".join(f"- {escape_hidden(note)}" for note in (WARNING, *result.notes))))
    first = next(iter(result.annotators.values()))
    yield result_tables.signature(first.signature)


def _table(
    first: str, evaluations: Mapping[str, Evaluation], mean: float | None, flagged: Mapping[str, int], width: int
) -> RenderableType:
    names = {name: escape_hidden(name) for name in evaluations}
    narrow = width < max(len(first), *map(cell_len, names.values())) + _ROOM
    dropped = OPTIONAL_COLUMNS if narrow else ()
    columns = [column for column in ("f1q", *OPTIONAL_COLUMNS, "documents", "flagged") if column not in dropped]
    grid = result_tables.table(first, *columns)
    for name, evaluation in evaluations.items():
        interval = evaluation.interval("f1q", aggregate="micro")
        low, high = map(result_tables.number, (interval.low, interval.high))
        cells = {
            **{score: result_tables.number(getattr(evaluation.micro, score)) for score in SCORES},
            "95% interval": f"{low} to {high}",
            "documents": str(len(evaluation.documents)),
            "flagged": str(flagged[name]),
        }
        grid.add_row(names[name], Text(cells["f1q"], style="bold"), *(cells[column] for column in columns[1:]))
    grid.add_row("mean", Text(result_tables.number(mean), style="bold"))
    return Group(grid, *left_out(dropped))
