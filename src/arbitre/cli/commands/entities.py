"""`arbitre entities`: compare predicted entities with gold entities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import typer
from rich.console import Group
from rich.text import Text

from arbitre.classification import class_table
from arbitre.cli.option_values import BoundOptions, close
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions
from arbitre.cli.output.result_tables import number
from arbitre.corpus.quality_bounds import check_bounds
from arbitre.entities.entity_evaluation import evaluate
from arbitre.entities.sentences import Sentences, read
from arbitre.language import ENGLISH, counted
from arbitre.options import AnnotationFormat, Denominator, Notation, Scheme
from arbitre.tables.table import SCORE, Table, TableColumn, columns, count
from arbitre.tables.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.entities.entity_evaluation import EntityEvaluation

_OUTCOMES: Final = ("correct", "incorrect", "partial", "missing", "spurious")
_SCORES: Final = ("precision", "recall", "f1")
_MEANINGS: Final = {
    "strict": "same boundaries and same label",
    "exact": "same boundaries, any label",
    "partial": "same boundaries, any label; overlapping entities count half",
    "type": "same label, and the entities overlap",
}
_WIDE: Final = 81
"""Terminal width from which outcomes and scores are one table."""


@dataclass(frozen=True, kw_only=True)
class EntityReading:
    """Options for reading files of entities."""

    tags: Notation
    lenient_tags: bool
    no_overlap: bool
    gold_column: int
    predicted_column: int
    gold_annotator: str | None
    predicted_annotator: str | None
    annotations: AnnotationFormat
    layer: str | None

    def sides(self, gold: Path, predicted: Path) -> tuple[Sentences, Sentences]:
        """Read both files. Raises DataError if a file cannot be read."""
        both = partial(read, annotations=self.annotations, layer=self.layer)
        left = both(
            gold,
            tags=self.tags,
            lenient_tags=self.lenient_tags,
            no_overlap=self.no_overlap,
            column=self.gold_column,
            annotator=self.gold_annotator,
        )
        right = both(
            predicted,
            tags=left.notation or self.tags,
            lenient_tags=True,
            column=self.predicted_column,
            annotator=self.predicted_annotator,
        )
        return left, right


def entities(
    *,
    gold: Path,
    predicted: Path,
    scheme: Scheme,
    detail: Literal["entity", "model"],
    aggregate: Literal["micro", "macro", "weighted"] | None,
    exact_match: Denominator,
    reading: EntityReading,
    out: Path | None,
    force: bool,
    bounds: BoundOptions,
    output: OutputOptions,
) -> None:
    """Compare predicted entities with gold entities, sentence by sentence."""
    screen = output.terminal()
    left, right = reading.sides(gold, predicted)
    for note in dict.fromkeys((*left.notes, *right.notes)):
        screen.note(note)
    evaluation = evaluate(left, right, scheme, exact_match=exact_match, out=out, lang=output.lang, force=force)
    screen.result(evaluation.summary, partial(_blocks, evaluation, detail, aggregate))
    if evaluation.irregular:
        notation = str(left.notation).upper()
        screen.note(f"Predicted tags that do not follow {notation}, read as conlleval does: {evaluation.irregular}")
    if out is not None:
        screen.wrote(evaluation.files, out)
    raise typer.Exit(close(screen, check_bounds(evaluation, fail_under=bounds.bounds)))


def _blocks(evaluation: EntityEvaluation, detail: str, aggregate: str | None, width: int) -> Iterator[RenderableType]:
    yield _headline(evaluation, width)
    classes = evaluation.classes
    if detail == "entity":
        yield render(class_table(classes, "By label", "label", aggregate), width)
        yield result_tables.confusion(evaluation.confusion, width)
        yield result_tables.readings(classes)
    elif aggregate is not None:
        scores = getattr(classes, aggregate)
        heads = (TableColumn("average"), *columns(*_SCORES, written=SCORE))
        yield render(Table.of("", heads, [(aggregate, *(getattr(scores, name) for name in _SCORES))]), width)
    yield _notes(evaluation)


def _headline(evaluation: EntityEvaluation, width: int) -> RenderableType:
    """Return the scheme, the number of entities, and the outcomes and scores of all entities."""
    counts, micro = evaluation.counts, evaluation.micro
    heads = (*columns(*_OUTCOMES, written=count), *columns(*_SCORES, written=SCORE))
    table = Table.of("", heads, [tuple(getattr(counts, column.name) for column in heads)])
    whole = range(len(heads))
    parts = [whole] if width >= _WIDE else [whole[: len(_OUTCOMES)], whole[len(_OUTCOMES) :]]
    return Group(
        Text(f"{counted(evaluation.exact_match.sentences, 'sentence')}, scheme {evaluation.scheme}", style="bold"),
        Text(
            f"correct: {_MEANINGS[evaluation.scheme]}\nentities: {count(micro.gold)} gold, {count(micro.predicted)} "
            "predicted\n"
        ),
        *(render(table.only(*part), width) for part in parts),
    )


def _notes(evaluation: EntityEvaluation) -> RenderableType:
    """Return the exact matches, the accuracy of the tags, and the confidence interval."""
    match, tokens = evaluation.exact_match, evaluation.token_accuracy
    which = "all sentences" if match.denominator == "all" else "sentences with gold entities"
    every = f"{match.exact} of {match.sentences}"
    with_entities = f"{match.exact_with_entities} of {match.sentences_with_entities}"
    lines = [f"exact match: {number(match.rate)} of {which} ({every}; with gold entities: {with_entities})"]
    if tokens is not None:
        lines.append(f"token accuracy: {number(tokens.accuracy)} (O for every token: {number(tokens.baseline)})")
    interval = evaluation.interval("f1q", aggregate="micro")
    if interval.low is not None:
        name = "f1q, with overlaps graded by intersection / union," if evaluation.scheme == "partial" else "f1"
        lines.append(
            f"{name} {number(interval.estimate)}, {ENGLISH.level(interval.level)} interval {number(interval.low)} to "
            f"{number(interval.high)}"
        )
    lines += interval.notes
    return Group(Text("\n".join(lines)), result_tables.signature(evaluation.signature))
