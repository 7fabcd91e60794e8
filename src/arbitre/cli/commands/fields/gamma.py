"""`arbitre gamma`: measure the agreement of annotators on spans that they located themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from arbitre.agreement.spans.agree_spans import SpanAgreement, agree_spans
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, counted, left_out, titled
from arbitre.cli.sources import named_sources
from arbitre.options import Notation
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

MAX_SHOWN = 5
"""Maximum number of pairs of exchanged labels to show."""

WIDE = 68
"""Minimum width of a terminal for all columns."""


def gamma(
    *,
    annotators: list[str],
    alpha: float,
    beta: float,
    unmatched: float,
    precision: float,
    samples: int,
    seed: int,
    tags: Notation,
    lenient: bool,
    column: list[str],
    output: OutputOptions,
) -> None:
    """Measure how well annotators agree beyond chance on spans that they located themselves."""
    screen = output.terminal()
    sources = named_sources(annotators)
    agreement = agree_spans(
        sources,
        alpha=alpha,
        beta=beta,
        unmatched=unmatched,
        precision=precision,
        samples=samples,
        seed=seed,
        tags=tags,
        lenient=lenient,
        column=_columns(column, list(sources)),
    )
    screen.result(agreement.to_dict, lambda width: _blocks(agreement, width))


def _columns(texts: list[str], names: list[str]) -> dict[str, int]:
    """Return the column of each annotator. Raises typer.BadParameter for anything but N or NAME=N."""
    columns: dict[str, int] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            columns |= dict.fromkeys([name] if name else names, int(number))
        except ValueError:
            raise typer.BadParameter(f"Expected N or NAME=N, such as ada=2, got {text!r}.") from None
    return columns


def _blocks(agreement: SpanAgreement, width: int) -> Iterator[RenderableType]:
    total = sum(sum(counts.values()) for counts in agreement.spans.values())
    given, number = agreement.parameters, result_tables.number
    yield Text.assemble(
        (f"Agreement of {', '.join(map(escape_hidden, agreement.annotators))} on spans", "bold"),
        f"\n{counted(agreement.documents, 'document')}, {counted(total, 'span')}"
        f"\nalpha {given['alpha']:g} (position), beta {given['beta']:g} (label), unmatched {given['unmatched']:g}",
    )
    wide = width >= WIDE
    disorder, columns = agreement.disorder(), ("observed", "expected", "disorder", "by chance")
    grid = result_tables.table("chance", "gamma", "±", *(columns if wide else columns[:2]))
    for name, coefficient in agreement.gamma.items():
        disorders = map(number, (disorder["observed"], disorder[name])) if wide else ()
        grid.add_row(
            name,
            Text(number(coefficient.value), style="bold"),
            number(agreement.error(name)),
            number(coefficient.observed),
            number(coefficient.expected),
            *disorders,
        )
    yield titled("Agreement (gamma)", grid)
    yield from left_out(() if wide else columns[2:])
    yield Text(
        "local: random annotations drawn from the same document. global: from all documents.\n"
        "±: 95 % sampling error of the random annotations only, not of the documents.",
        style="dim",
    )
    labels = sorted({label for counts in agreement.spans.values() for label in counts})
    spans = result_tables.table("label", *map(escape_hidden, agreement.annotators))
    for label in labels:
        spans.add_row(escape_hidden(label), *(str(counts[label]) for counts in agreement.spans.values()))
    if labels:
        yield titled("Spans", spans)
    if agreement.exchanged:
        pairs = result_tables.table("labels", "pairs", "share")
        for (first, second), count in list(agreement.exchanged.items())[:MAX_SHOWN]:
            pairs.add_row(escape_hidden(f"{first} / {second}"), str(count), f"{count / agreement.pairs:.1%}")
        yield titled(f"Exchanged labels among {counted(agreement.pairs, 'aligned pair')} of spans", pairs)
    if agreement.notes:
        yield titled("Caveats", Text("\n".join(f"- {escape_hidden(note)}" for note in agreement.notes)))
