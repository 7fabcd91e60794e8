"""`arbitre leave-one-out`: compare each annotator with the consensus of the others."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from arbitre import agreement
from arbitre.agreement import tables
from arbitre.agreement.agree import AgreeKeywords
from arbitre.agreement.consensus.leave_one_out import TITLE, WARNING
from arbitre.cli.option_values import annotator_sources, named_sources
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, caveats
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.language import counted
from arbitre.options import AutomaticStrategy
from arbitre.tables.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.agreement import LeaveOneOut


def leave_one_out(
    *,
    annotators: list[str],
    schema: str | None,
    options: AgreeKeywords,
    files: AnnotationOptions,
    systems: list[str],
    strategy: AutomaticStrategy,
    weak_margin: float,
    output: OutputOptions,
) -> None:
    """Compare each annotator, and systems, with the consensus of the other annotators.

    The results are agreement with an unvalidated consensus, not performance.
    """
    screen = output.terminal()
    sources = annotator_sources(annotators, files)
    result = agreement.leave_one_out(
        schema,
        sources,
        systems=named_sources(systems),
        strategy=strategy,
        weak_margin=weak_margin,
        **asdict(files),
        **options,
    )
    screen.result(result.to_dict, lambda width: _blocks(result, width))


def _blocks(result: LeaveOneOut, width: int) -> Iterator[RenderableType]:
    yield Text.assemble(
        (TITLE, "bold"), f"\n{counted(len(result.annotators), 'annotator')}, {result.strategy} of the others"
    )
    yield render(tables.against_others(result), width)
    for system in result.systems:
        yield render(tables.against_others(result, system), width)
    yield from caveats((WARNING, *result.notes))
    first = next(iter(result.annotators.values()))
    yield result_tables.signature(first.signature)
