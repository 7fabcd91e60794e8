"""`arbitre gamma`: measure the agreement of annotators on spans that they located themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from arbitre.agreement.spans.agree_spans import SpanAgreement, agree_spans
from arbitre.agreement.spans.gamma import PRECISION, SAMPLES
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, left_out, titled
from arbitre.cli.shared_options import OutputOptions
from arbitre.cli.sources import named_sources
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

MAX_SHOWN = 5
"""Maximum number of pairs of exchanged labels to show."""

WIDE = 68
"""Minimum width of a terminal for all columns."""

Annotators = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=PATH...",
        help="Spans of each annotator: a CoNLL, .json or .jsonl file. Repeat a name for several files.",
    ),
]
Alpha = Annotated[float, typer.Option(metavar="WEIGHT", help="Weight of the difference in position.")]
Beta = Annotated[float, typer.Option(metavar="WEIGHT", help="Weight of the difference in label.")]
Unmatched = Annotated[
    float,
    typer.Option(
        metavar="DELTA",
        help="Dissimilarity of a missing span, called delta empty in publications. It scales the disorders; gamma does "
        "not depend on it.",
    ),
]
Precision = Annotated[
    float, typer.Option(metavar="SHARE", help="Relative error of the expected disorder at 95 % confidence.")
]
Samples = Annotated[int, typer.Option(metavar="N", help="Minimum number of random annotations of each document.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of the random annotations.")]
Tags = Annotated[
    Literal["auto", "bio", "iob1", "bioes"], typer.Option(help="Notation of the tags; auto infers it from each file.")
]
Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="Accept tags that do not follow the notation, and read them as conlleval does."),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]N",
        help="Column of the tag in CoNLL files, from 0; -1 is the last. NAME=N is the column of one annotator. May be "
        "repeated.",
    ),
]


def gamma(
    annotators: Annotators,
    *,
    alpha: Alpha = 1.0,
    beta: Beta = 1.0,
    unmatched: Unmatched = 1.0,
    precision: Precision = PRECISION,
    samples: Samples = SAMPLES,
    seed: Seed = 0,
    tags: Tags = "auto",
    lenient: Lenient = False,
    column: Column = None,
    output: OutputOptions,
) -> None:
    """Measure how well annotators agree beyond chance on spans that they located themselves.

    Records with an id are documents, and are joined by it. Without ids, sentences are joined by position, and those of
    a CoNLL file form one document.
    """
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
        column=_columns(column or [], list(sources)),
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
