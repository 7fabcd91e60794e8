"""`arbitre advise`: check the classes of training and test data."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import typer
from rich.text import Text

import arbitre
from arbitre import entities
from arbitre.cli.output.console import OutputOptions
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.errors import DataError
from arbitre.inputs.document_sources import readable_records
from arbitre.inputs.open_files import expand_globs
from arbitre.language import counted, percentage
from arbitre.suggestions.label_advice import Thresholds, findings_table, labels_at, shares_table
from arbitre.tables.terminal import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre import Advice
    from arbitre.values import Json


def advise(
    *,
    train: list[str],
    path: str | None,
    test: list[str] | None,
    predicted: list[str] | None,
    schema: str | None,
    options: ComparatorKeywords,
    thresholds: Thresholds,
    seed: int,
    id_key: str,
    output: OutputOptions,
) -> None:
    """Check the classes of training and test data: what to add, balance or merge."""
    if predicted and not test:
        raise typer.BadParameter("--predicted requires --test: predictions are compared with gold.")
    if path is None:
        if schema:
            raise typer.BadParameter("--schema requires --path: files of entities have no schema.")
        labels = _entity_labels
        confusion = _exchanged_entities(test or [], predicted) if predicted else []
    else:
        if predicted and not schema:
            raise typer.BadParameter("--predicted with --path requires --schema: predictions are compared with gold.")
        labels = partial(_labels, path=path, id_key=id_key)
        confusion = []
        if predicted and schema:
            comparator = Comparator(schema, **options)
            evaluation = comparator.evaluate(gold=test or [], predicted=predicted, id_key=id_key, no_chance=True)
            confusion = [(pair.gold, pair.predicted) for pair in evaluation.leaf_pairs(path)]
    advice = arbitre.advise(
        labels(train),
        labels(test) if test else None,
        confusion=confusion,
        thresholds=thresholds,
        seed=seed,
    )
    output.terminal().result(lambda: {"path": path} | advice.to_dict(), lambda width: _blocks(advice, path, width))


def _labels(sources: list[str], path: str, id_key: str) -> Counter[str]:
    counts = Counter[str]()
    for source in sources:
        for record in readable_records(source, id_key):
            try:
                counts.update(labels_at(record.value, path))
            except DataError as error:
                raise error.located(file=record.file, line=record.line) from error
    return counts


def _entity_labels(sources: list[str]) -> Counter[str]:
    return Counter(
        span["label"] for source in expand_globs(sources) for spans in entities.read(source).spans for span in spans
    )


def _exchanged_entities(gold: list[str], predicted: list[str]) -> list[tuple[Json, Json]]:
    """Return the gold and the predicted label of each entity. Files are paired in order."""
    files = list(expand_globs(gold)), list(expand_globs(predicted))
    if len(files[0]) != len(files[1]):
        raise typer.BadParameter(
            f"Expected a --predicted file for each --test file, got {len(files[1])} for {len(files[0])}."
        )
    pairs: list[tuple[Json, Json]] = []
    for sides in zip(*files, strict=True):
        left = entities.read(sides[0])
        right = entities.read(sides[1], tags=left.notation or "auto", lenient_tags=True)
        confusion = entities.evaluate(left, right).confusion
        for at, label in enumerate(confusion.labels):
            for other, count in zip(confusion.labels, confusion.matrix[at].tolist(), strict=True):
                pairs += [(label, other)] * int(count)
    return pairs


def _blocks(advice: Advice, path: str | None, width: int) -> Iterator[RenderableType]:
    classes = sorted({*advice.training, *(advice.test or {})})
    yield Text.assemble(
        (f"{counted(len(classes), 'class', 'classes')} {f'at {path}' if path else 'of entities'}", "bold")
    )
    yield render(shares_table(advice), width)
    if advice.distribution is not None:
        distribution = advice.distribution
        differ = "differ" if distribution.p < advice.thresholds.significance else "do not differ significantly"
        yield Text(
            f"Training and test data {differ}: {distribution.method} test, p = {distribution.p:.4f}; "
            f"{percentage(distribution.difference, 1)} of the test examples would have to change class."
        )
    yield render(findings_table(advice), width) if advice.findings else Text("No findings.")
