"""The options of `arbitre entities` for reading files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from arbitre.entities.reading import read
from arbitre.entities.sentences import Sentences


@dataclass(frozen=True, kw_only=True)
class EntityReading:
    """Options for reading files of entities."""

    tags: Annotated[
        Literal["auto", "bio", "iob1", "bioes"], typer.Option(help="Notation of the tags; auto infers it from gold.")
    ] = "auto"
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient",
            help="Accept gold tags that do not follow the notation, and read them as conlleval does. Predicted "
            "tags are always read this way, and are counted.",
        ),
    ] = False
    flat: Annotated[bool, typer.Option("--flat", help="Refuse gold spans that overlap.")] = False
    gold_column: Annotated[
        int, typer.Option(metavar="N", help="Column of the tag in a CoNLL file of gold, from 0; -1 is the last.")
    ] = -1
    predicted_column: Annotated[
        int, typer.Option(metavar="N", help="Column of the tag in a CoNLL file of predictions.")
    ] = -1

    def sides(self, gold: Path, predicted: Path) -> tuple[Sentences, Sentences]:
        """Read both files. Raises DataError if a file cannot be read."""
        left = read(gold, tags=self.tags, lenient=self.lenient, column=self.gold_column, flat=self.flat)
        notation = left.notation or self.tags
        return left, read(predicted, tags=notation, lenient=True, column=self.predicted_column)
