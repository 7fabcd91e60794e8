"""`arbitre entities`: compare predicted entities with gold entities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from arbitre.cli.output import class_tables
from arbitre.cli.output.console import OutputOptions
from arbitre.cli.thresholds import GateOptions, close
from arbitre.corpus.results.gates import gate
from arbitre.entities.evaluation import evaluate
from arbitre.entities.reading import read
from arbitre.entities.sentences import Sentences
from arbitre.options import Denominator, Notation, Scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.entities.evaluation import EntityEvaluation


@dataclass(frozen=True, kw_only=True)
class EntityReading:
    """Options for reading files of entities."""

    tags: Notation
    lenient: bool
    flat: bool
    gold_column: int
    predicted_column: int

    def sides(self, gold: Path, predicted: Path) -> tuple[Sentences, Sentences]:
        """Read both files. Raises DataError if a file cannot be read."""
        left = read(gold, tags=self.tags, lenient=self.lenient, column=self.gold_column, flat=self.flat)
        notation = left.notation or self.tags
        return left, read(predicted, tags=notation, lenient=True, column=self.predicted_column)


def entities(
    *,
    gold: Path,
    predicted: Path,
    scheme: Scheme,
    level: Literal["entity", "model"],
    average: Literal["micro", "macro", "weighted"] | None,
    exact_match: Denominator,
    reading: EntityReading,
    out: Path | None,
    force: bool,
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Compare predicted entities with gold entities, sentence by sentence."""
    screen = output.terminal()
    left, right = reading.sides(gold, predicted)
    evaluation = evaluate(left, right, scheme, exact_match=exact_match, out=out, force=force)
    screen.result(evaluation.summary, partial(_blocks, evaluation, level, average))
    if evaluation.irregular:
        notation = str(left.notation).upper()
        screen.note(f"Predicted tags that do not follow {notation}, read as conlleval does: {evaluation.irregular}")
    if out is not None:
        screen.wrote(evaluation.files, out)
    raise typer.Exit(close(screen, gate(evaluation, fail_under=gates.gates)))


def _blocks(evaluation: EntityEvaluation, level: str, average: str | None, width: int) -> Iterator[RenderableType]:
    yield class_tables.headline(evaluation, width)
    if level == "entity":
        yield class_tables.by_class(evaluation, average)
        yield class_tables.confusion(evaluation.confusion, width)
        yield class_tables.readings(evaluation.classes)
    elif average is not None:
        yield class_tables.averages(evaluation.classes, average)
    yield class_tables.notes(evaluation)
