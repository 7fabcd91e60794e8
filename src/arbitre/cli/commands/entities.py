"""`arbitre entities`: compare predicted entities with gold entities."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from arbitre.cli.output import class_tables
from arbitre.cli.shared_options import OutputOptions
from arbitre.cli.thresholds import GateOptions, close
from arbitre.corpus.results.gates import gate
from arbitre.entities.evaluation import Denominator, evaluate
from arbitre.entities.reading import read
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
Tags = Annotated[
    Literal["auto", "bio", "iob1", "bioes"], typer.Option(help="Notation of the tags; auto infers it from gold.")
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
GoldColumn = Annotated[
    int, typer.Option(metavar="N", help="Column of the tag in a CoNLL file of gold, from 0; -1 is the last.")
]
PredictedColumn = Annotated[int, typer.Option(metavar="N", help="Column of the tag in a CoNLL file of predictions.")]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Read gold tags that do not follow the notation as conlleval does. Predicted tags "
        "are always read so, and counted.",
    ),
]
Flat = Annotated[bool, typer.Option("--flat", help="Refuse gold spans that overlap.")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for the files that `arbitre evaluate --out` writes.")
]

LAST: Final = -1


def entities(
    gold: Gold,
    predicted: Predicted,
    *,
    scheme: SchemeOption = "strict",
    tags: Tags = "auto",
    level: Level = "entity",
    average: Average = None,
    exact_match: ExactMatch = "all",
    gold_column: GoldColumn = LAST,
    predicted_column: PredictedColumn = LAST,
    lenient: Lenient = False,
    flat: Flat = False,
    out: Out = None,
    gates: GateOptions,
    output: OutputOptions,
) -> None:
    """Compare predicted entities with gold entities, sentence by sentence."""
    screen = output.terminal()
    left = read(gold, tags=tags, lenient=lenient, column=gold_column, flat=flat)
    right = read(predicted, tags=left.notation or tags, lenient=True, column=predicted_column)
    found = evaluate(left, right, scheme, exact_match=exact_match, out=out)
    screen.result(found.summary, partial(_blocks, found, level, average))
    if found.irregular:
        screen.note(
            f"Predicted tags that do not follow {str(left.notation).upper()}, read as conlleval does: {found.irregular}"
        )
    if out is not None:
        screen.wrote(found.files, out)
    raise typer.Exit(close(screen, gate(found, fail_under=gates.gates)))


def _blocks(found: EntityEvaluation, level: str, average: str | None, width: int) -> Iterator[RenderableType]:
    yield class_tables.headline(found, width)
    if level == "entity":
        yield class_tables.by_class(found, average)
        yield class_tables.confusion(found.confusion, width)
        yield class_tables.readings(found.classes)
    elif average is not None:
        yield class_tables.averages(found.classes, average)
    yield class_tables.notes(found)
