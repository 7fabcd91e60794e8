"""Tables of classes: scores, confusion matrix, and the counts of entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rich.console import Group
from rich.text import Text

from arbitre.classification import AVERAGES, label_text
from arbitre.cli.output.console import counted, titled
from arbitre.cli.output.result_tables import count, number, signature, table
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from arbitre.classification import ClassAverages, Classification, Confusion
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.entities.evaluation import EntityEvaluation

_OUTCOMES: Final = ("correct", "incorrect", "partial", "missing", "spurious")
_SCORES: Final = ("precision", "recall", "f1")
_NOTHING: Final = "(none)"
_MEANINGS: Final = {
    "strict": "same boundaries and same label",
    "exact": "same boundaries, any label",
    "partial": "same boundaries, any label; overlapping entities count half",
    "type": "same label, and the entities overlap",
}
_MATCHED: Final = {
    "key": "items matched by their key",
    "position": "items matched by their position",
    "other fields": "items matched by their other fields, without looking at these values",
    "all fields": "items matched by all fields, because the others do not identify them: upper bounds",
    "these values": "items matched by these values: upper bounds",
}
_SHOWN_CLASSES: Final = 12
"""Maximum number of classes of a confusion matrix in a terminal."""
_WIDE: Final = 81
"""Terminal width from which outcomes and scores are one table."""


def headline(evaluation: EntityEvaluation, width: int) -> RenderableType:
    """Return the scheme, the number of entities, and the outcomes and scores of all entities."""
    sizes = f"{count(evaluation.micro.gold)} gold, {count(evaluation.micro.predicted)} predicted"
    cells = {name: count(getattr(evaluation.counts, name)) for name in _OUTCOMES}
    cells |= {name: number(getattr(evaluation.counts, name)) for name in _SCORES}
    grids = []
    for names in [(*_OUTCOMES, *_SCORES)] if width >= _WIDE else [_OUTCOMES, _SCORES]:
        grid = table(*names, left=0)
        grid.add_row(*(cells[name] for name in names))
        grids.append(grid)
    return Group(
        Text(f"{counted(evaluation.exact_match.sentences, 'sentence')}, scheme {evaluation.scheme}", style="bold"),
        Text(f"correct: {_MEANINGS[evaluation.scheme]}\nentities: {sizes}\n"),
        *grids,
    )


def by_class(evaluation: EntityEvaluation, average: str | None) -> RenderableType:
    """Return the counts and scores of each label, and the averages over the labels."""
    grid = table("label", "tp", "fp", "fn", "support", *_SCORES)
    _add_classes(grid, evaluation.classes, average)
    return titled("By label", grid)


def classification(path: str, classes: Classification, evaluation: Evaluation, width: int) -> Iterator[RenderableType]:
    """Yield the scores of the classes of the values at a path, their confusion matrix and their meaning.

    Args:
        path: The path.
        classes: The classes.
        evaluation: The results of the corpus, for its exact matches.
        width: Width of the terminal.
    """
    grid = table("class", "tp", "fp", "fn", "support", *_SCORES)
    _add_classes(grid, classes, None)
    yield titled(f"Classes at {escape_hidden(path or '(the whole)')}: accuracy {number(classes.accuracy)}", grid)
    if classes.matched_by is not None:
        yield Text(_MATCHED[classes.matched_by], style="dim")
    yield confusion(classes.confusion, width)
    yield readings(classes)
    entries = evaluation.by_path.get(f"{evaluation.entries}/*")
    rates = {"documents": evaluation.document_quality.exact_match_rate}
    rates |= {} if entries is None else {"entries": entries.exact_match_rate}
    shown = ", ".join(f"{number(rate)} of the {name}" for name, rate in rates.items())
    yield Text(f"exact match, all compared fields right: {shown}")


def _add_classes(grid: Table, classes: ClassAverages, average: str | None) -> None:
    for label, scores in classes.per_class.items():
        _add(grid, escape_hidden(label_text(label)), scores)
    grid.add_section()
    for name in AVERAGES if average is None else (average,):
        _add(grid, f"{name} average", getattr(classes, name), style="dim" if name != "micro" else "")


def averages(classes: ClassAverages, average: str) -> RenderableType:
    """Return one average over the labels."""
    grid = table("average", *_SCORES)
    grid.add_row(average, *(number(getattr(getattr(classes, average), name)) for name in _SCORES))
    return grid


def _add(grid: Table, label: str, scores: Any, style: str = "") -> None:  # noqa: ANN401  (a class or an average)
    cells = [count(getattr(scores, name, None)) for name in ("tp", "fp", "fn", "support")]
    cells = ["" if not hasattr(scores, "tp") else cell for cell in cells]
    grid.add_row(label, *cells, *(number(getattr(scores, name)) for name in _SCORES), style=style)


def confusion(matrix: Confusion, width: int) -> RenderableType:
    """Return the confusion matrix, or how to get it if it is too large for the terminal."""
    names = [escape_hidden(label_text(label)) for label in matrix.labels[:-1]] + [_NOTHING]
    title = "Confusion matrix: rows are gold, columns are predicted"
    room = sum(len(name) + 2 for name in names) + max(map(len, names)) + len("gold \\ predicted")
    if len(names) - 1 > _SHOWN_CLASSES or room > width:
        return Text(f"{title}: too wide for this terminal, see --format json.", style="dim")
    grid = table("gold \\ predicted", *names)
    for label, name, row in zip(matrix.labels, names, matrix.matrix.tolist(), strict=True):
        cells = [
            Text(count(value), style="bold" if other == label and label is not None else "dim" if not value else "")
            for other, value in zip(matrix.labels, row, strict=True)
        ]
        grid.add_row(name, *cells)
    legend = f"Row {_NOTHING}: spurious. Column {_NOTHING}: missing."
    return titled(title, Group(grid, Text(legend, style="dim")))


def readings(classes: ClassAverages) -> RenderableType:
    """Return the sentences that interpret the scores of the classes."""
    return Text("\n".join(map(escape_hidden, classes.readings())))


def notes(evaluation: EntityEvaluation) -> RenderableType:
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
            f"{name} {number(interval.estimate)}, {interval.level:.0%} interval {number(interval.low)} to "
            f"{number(interval.high)}"
        )
    lines += interval.notes
    return Group(Text("\n".join(lines)), signature(evaluation.signature))
