"""`arbitre entities`: compare predicted entities with gold entities."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arbitre.cli.entity_options import EntityReading
from arbitre.cli.output import class_tables
from arbitre.cli.shared_options import Force, OutputOptions
from arbitre.cli.thresholds import GateOptions, close
from arbitre.corpus.results.gates import gate
from arbitre.entities.evaluation import Denominator, evaluate
from arbitre.entities.schemes import Scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.entities.evaluation import EntityEvaluation

Gold = Annotated[Path, typer.Argument(metavar="GOLD", help="Gold entities: a CoNLL, .json or .jsonl file.")]
Predicted = Annotated[Path, typer.Argument(metavar="PREDICTED", help="Predicted entities of the same sentences.")]
SchemeOption = Annotated[
    Scheme,
    typer.Option(
        help="When an entity is correct: same boundaries and label (strict), same boundaries (exact), same boundaries "
        "or in part if they overlap (partial), same label and overlapping (type).",
    ),
]
Level = Annotated[
    Literal["entity", "model"], typer.Option(help="Show the scores of each label (entity) or of all entities (model).")
]
Average = Annotated[
    Literal["micro", "macro", "weighted"] | None,
    typer.Option(help="Show only this average over the labels. Default: all three."),
]
ExactMatch = Annotated[
    Denominator,
    typer.Option(
        "--exact-match", help="Sentences that count in the rate of exact matches: all, or those with gold entities."
    ),
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for the files that `arbitre evaluate --out` writes.")
]


def entities(
    gold: Gold,
    predicted: Predicted,
    *,
    scheme: SchemeOption = "strict",
    level: Level = "entity",
    average: Average = None,
    exact_match: ExactMatch = "all",
    reading: EntityReading,
    out: Out = None,
    force: Force = False,
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
