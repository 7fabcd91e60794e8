"""`arbitre consensus`: build gold documents from the documents of several annotators."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from arbitre import agreement
from arbitre.agreement import tables
from arbitre.agreement.agree import AgreeKeywords
from arbitre.agreement.consensus.queue import queue_files
from arbitre.cli.option_values import annotator_sources, named_sources
from arbitre.cli.output.console import OutputOptions, caveats
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.language import counted
from arbitre.options import LanguageName, Strategy
from arbitre.tables.terminal import MAX_SHOWN, escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.agreement import Consensus


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """How the annotations are combined."""

    strategy: Strategy
    weak_margin: float
    min_annotators: int


def consensus(
    *,
    annotators: list[str],
    schema: str | None,
    options: AgreeKeywords,
    files: AnnotationOptions,
    vote: VoteOptions,
    systems: list[str],
    out: Path | None,
    queue: Path | None,
    source: Path | None,
    decisions: Path | None,
    lang: LanguageName,
    force: bool,
    output: OutputOptions,
) -> None:
    """Build gold documents from the documents of several annotators."""
    screen = output.terminal(lang)
    out, queue = (
        screen.destination(path, force=force) if path is not None and path.suffix and not path.is_dir() else path
        for path in (out, queue)
    )
    sources = annotator_sources(annotators, files)
    built = agreement.consensus(
        schema,
        sources,
        **asdict(vote),
        **asdict(files),
        **options,
        systems=named_sources(systems),
        out=out,
        queue=queue,
        source=source,
        decisions=decisions,
        lang=lang,
        force=force,
    )
    screen.result(built.to_dict, lambda width: _blocks(built, width))
    if out is not None:
        screen.note(f"Wrote {counted(len(built.documents), 'document')} to {out.as_posix()}, with their sidecar")
    if queue is not None:
        names = ", ".join(file.as_posix() for file in queue_files(queue))
        screen.note(f"Wrote {counted(len(built.disagreements), 'disagreement')} to {names}")
    if built.refused:
        for each in built.refused:
            screen.error(str(each.problem))
        number = counted(len(built.refused), "decision")
        where = "" if built.refused_file is None else f" Refused lines: {built.refused_file.as_posix()}"
        screen.error(f"{number} refused; all others were applied.{where}", "note")
        raise typer.Exit(1)


def _blocks(built: Consensus, width: int) -> Iterator[RenderableType]:
    values, flagged = built.values, sum(disagreement.flagged for disagreement in built.disagreements)
    collegial, listed = built.provenance.strategy == "collegial", built.disagreements
    if collegial:
        listed = tuple(disagreement for disagreement in listed if disagreement.id in built.undecided)
    yield Text.assemble(
        (escape_hidden(built.provenance.headline()), "bold"),
        f"\n{counted(len(built.documents), 'document')}, {counted(values.total, 'value')}"
        f"{' proposed' * collegial}: "
        f"{values.total - values.left_out} kept ({values.unanimous} unanimous, {values.majority} by majority, "
        f"{values.flagged} uncertain), {values.left_out} left out",
    )
    yield render(tables.values(built, proposed=collegial), width)
    if built.disagreements:
        title = f"{counted(len(built.disagreements), 'disagreement')}, {flagged} flagged"
        if collegial:
            title += f", {len(listed)} undecided"
        table = tables.disagreements(listed, title)
        rest = "more with lower weight: use --queue or --format json to see them."
        yield render(table, width, most=MAX_SHOWN, rest=rest) if listed else Text(title, style="bold")
    if built.standing is not None:
        yield render(tables.standing(built.standing), width)
    if built.provenance.errors:
        yield render(tables.errors(built), width)
    if built.systems:
        yield render(tables.systems(built), width)
    yield from caveats(built.notes)
