"""`arbitre consensus`: build gold documents from the documents of several annotators."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from arbitre.agreement.consensus.build import consensus_on
from arbitre.agreement.consensus.queue_files import queue_files
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, counted, titled
from arbitre.cli.sources import named_sources
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.corpus.reading.options import ReadOptions
from arbitre.errors import shown
from arbitre.options import LanguageName, Strategy
from arbitre.tables.terminal import escape_hidden, nested_labels
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.agreement import Consensus, Disagreement
    from arbitre.agreement.consensus.disagreement import Standing

MAX_SHOWN: Final = 10
"""Maximum number of disagreements to show."""

_ROOM: Final = 40
"""Maximum number of characters of a reading that are shown."""


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """How the annotations are combined."""

    strategy: Strategy
    weak_margin: float
    min_annotators: int


def consensus(
    *,
    annotators: list[str],
    schema: str,
    options: ComparatorKeywords,
    reading: ReadOptions,
    vote: VoteOptions,
    systems: list[str],
    out: Path | None,
    queue: Path | None,
    decisions: Path | None,
    lang: LanguageName,
    force: bool,
    output: OutputOptions,
) -> None:
    """Build gold documents from the documents of several annotators."""
    screen = output.terminal()
    out, queue = (
        screen.destination(path, force=force) if path is not None and path.suffix and not path.is_dir() else path
        for path in (out, queue)
    )
    built = consensus_on(
        Comparator(schema, **options),
        named_sources(annotators),
        reading,
        **asdict(vote),
        systems=named_sources(systems),
        out=out,
        queue=queue,
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
    yield titled("Values and list items by path" + " in the proposal" * collegial, _counts(built, width))
    if built.disagreements:
        title = f"{counted(len(built.disagreements), 'disagreement')}, {flagged} flagged"
        if collegial:
            title += f", {len(listed)} undecided"
        yield titled(title, _disagreements(listed[:MAX_SHOWN])) if listed else Text(title, style="bold")
        more = len(listed) - MAX_SHOWN
        if more > 0:
            yield Text(f"{more} more with lower weight: use --queue or --format json to see them.", style="dim")
    if built.standing is not None:
        yield titled("Agreement with an annotator who is left out", _standing(built.standing))
    if built.systems:
        yield titled("Systems on unanimous and on contested values", _systems(built))
    if built.notes:
        yield titled("Caveats", Text("\n".join(f"- {escape_hidden(note)}" for note in built.notes)))


def _counts(built: Consensus, width: int) -> RenderableType:
    grid = result_tables.table("path", "total", "unanimous", "majority", "uncertain", "left out")
    labels = nested_labels(built.by_path, max(20, width - 50))
    for label, own in zip(labels, built.by_path.values(), strict=True):
        grid.add_row(label, *map(str, (own.total, own.unanimous, own.majority, own.flagged, own.left_out)))
    return grid


def _standing(standing: Standing) -> RenderableType:
    grid = result_tables.table("compared with that annotator", "mean f1q")
    grid.add_row("consensus of the others", Text(result_tables.number(standing.consensus), style="bold"))
    grid.add_row("medoid of the others", result_tables.number(standing.medoid))
    best = standing.annotators[standing.best]
    grid.add_row(f"best single annotator ({escape_hidden(standing.best)})", result_tables.number(best))
    return grid


def _disagreements(disagreements: tuple[Disagreement, ...]) -> RenderableType:
    grid = result_tables.table("place", "flag", "readings", "weight", left=3)
    for own in disagreements:
        grid.add_row(escape_hidden(own.id), own.flag, escape_hidden(_readings(own)), f"{own.weight:.4f}")
    return grid


def _readings(disagreement: Disagreement) -> str:
    """Return the readings with their annotators."""
    names = defaultdict(list)
    for reading in disagreement.readings:
        value = "absent" if reading.value is ABSENT else shown(reading.value, _ROOM)
        names[value if reading.votes else "no vote"].append(reading.annotator)
    return "; ".join(f"{value} ({', '.join(annotators)})" for value, annotators in names.items())


def _systems(built: Consensus) -> RenderableType:
    grid = result_tables.table("system", "values", "number", "exact", "quality", left=2)
    for name, scores in built.systems.items():
        for label, part in (("unanimous", scores.unanimous), ("contested", scores.contested)):
            exact, quality = (result_tables.number(value) for value in (part.exact, part.quality))
            grid.add_row(escape_hidden(name), label, str(part.values), exact, quality)
    return grid
