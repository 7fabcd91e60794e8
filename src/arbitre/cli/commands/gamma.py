"""`arbitre gamma`: measure the agreement of annotators on spans that they located themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.text import Text

from arbitre.agreement import tables
from arbitre.agreement.agree_spans import SpanAgreement, agree_spans
from arbitre.cli.option_values import annotator_sources
from arbitre.cli.output.console import OutputOptions, caveats
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.language import counted
from arbitre.options import Notation
from arbitre.tables.terminal import escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType


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
    lenient_tags: bool,
    column: list[str],
    files: AnnotationOptions,
    output: OutputOptions,
) -> None:
    """Measure how well annotators agree beyond chance on spans that they located themselves."""
    screen = output.terminal()
    sources = annotator_sources(annotators, files)
    agreement = agree_spans(
        sources,
        alpha=alpha,
        beta=beta,
        unmatched=unmatched,
        precision=precision,
        samples=samples,
        seed=seed,
        tags=tags,
        lenient_tags=lenient_tags,
        column=_columns(column, list(sources)),
        annotations=files.annotations,
        layer=files.layer,
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
    given = agreement.parameters
    yield Text.assemble(
        (f"Agreement of {', '.join(map(escape_hidden, agreement.annotators))} on spans", "bold"),
        f"\n{counted(agreement.documents, 'document')}, {counted(total, 'span')}"
        f"\nalpha {given['alpha']:g} (position), beta {given['beta']:g} (label), unmatched {given['unmatched']:g}",
    )
    yield render(tables.gamma(agreement), width)
    for table in (tables.spans(agreement), tables.exchanged_labels(agreement)):
        if table.size:
            yield render(table, width)
    yield from caveats(agreement.notes)
