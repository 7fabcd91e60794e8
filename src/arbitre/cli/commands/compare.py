"""`arbitre compare`: compare one prediction with its gold document."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import arbitre
from arbitre.cli.custom_distances import load_functions, warn_call_count
from arbitre.cli.options import (
    Close,
    FailOver,
    FailUnder,
    FormatAssertion,
    Functions,
    MaxCalls,
    MaxDepth,
    MaybeSchema,
    NoColor,
    Output,
    OutputFormat,
    Overlay,
    Quiet,
    Validate,
    check_format_assertion,
)
from arbitre.cli.output import result_tables, side_by_side
from arbitre.cli.output.console import Terminal, titled
from arbitre.cli.output.verdict_tree import verdict_tree
from arbitre.cli.overrides import Distances, Matches, configurations
from arbitre.cli.thresholds import close as closed
from arbitre.comparator import MAX_CALLS
from arbitre.corpus.reading import strict_json
from arbitre.corpus.reading.options import STDIN
from arbitre.corpus.results.gates import gate
from arbitre.schema import CLOSE
from arbitre.schema.loading.infer import infer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.values import Json

Gold = Annotated[str, typer.Argument(metavar="GOLD", help="A JSON file, or - for standard input.")]
Predicted = Annotated[str, typer.Argument(metavar="PREDICTED", help="A JSON file, or - for standard input.")]
Published = Annotated[
    bool, typer.Option("--published", help="Add the scores computed with the formulas of the published script.")
]


def compare(
    gold: Gold,
    predicted: Predicted,
    schema: MaybeSchema = None,
    overlay: Overlay = None,
    output: Output = OutputFormat.TEXT,
    *,
    match: Matches = None,
    distance: Distances = None,
    functions: Functions = None,
    max_calls: MaxCalls = MAX_CALLS,
    validate: Validate = False,
    format_assertion: FormatAssertion = False,
    fail_under: FailUnder = None,
    fail_over: FailOver = None,
    max_depth: MaxDepth = strict_json.MAX_DEPTH,
    close: Close = CLOSE,
    published: Published = False,
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Compare one prediction with its gold document: scores, and the verdict on every node that differs.

    With several --match or --distance, print one table with the results of every combination.
    """
    if gold == predicted == STDIN:
        raise typer.BadParameter("Expected one of GOLD and PREDICTED to be a file, got - for both.")
    check_format_assertion(format_assertion=format_assertion, validate=validate)
    screen = Terminal.create(plain=no_color, quiet=quiet)
    documents = [read(source, max_depth) for source in (gold, predicted)]
    if schema is None:
        screen.note(f"No --schema given: inferred one from {gold} (arbitre schema infer {gold} prints it).")
    chosen = configurations(
        schema or infer(documents[:1]),
        match,
        distance,
        overlay=overlay,
        close=close,
        functions=load_functions(functions),
        max_calls=max_calls,
        format_assertion=format_assertion,
    )
    for one in chosen:
        warn_call_count(one.comparator, documents[0], documents[1], screen)
    if len(chosen) > 1:
        if fail_under or fail_over or validate or published:
            raise typer.BadParameter(
                "--fail-under, --fail-over, --validate and --published need a single --match and --distance."
            )
        rows = side_by_side.rows(chosen, *documents)
        if output is OutputFormat.JSON:
            screen.json(side_by_side.to_json(rows))
        else:
            screen.show(side_by_side.blocks(rows, screen.width))
        return
    comparator = chosen[0].comparator
    comparison = comparator.compare(gold=documents[0], predicted=documents[1])
    declared = {row.path for row in comparator.explain()}
    missed = gate(comparison, fail_under=fail_under or (), fail_over=fail_over or (), declared=declared)
    if output is OutputFormat.JSON:
        screen.json(_plain(comparison, validate=validate, published=published))
    else:
        screen.show(_blocks(comparison, screen.width, validate=validate, published=published))
    raise typer.Exit(closed(screen, missed))


def read(source: str, max_depth: int) -> Json:
    """Read a document from a file or from standard input (`-`). Raises DataError if it cannot be read."""
    if source == STDIN:
        return strict_json.parse(sys.stdin.buffer.read(), file="<stdin>", max_depth=max_depth)
    return strict_json.load(Path(source), max_depth=max_depth)


def _plain(comparison: arbitre.Comparison, *, validate: bool, published: bool) -> dict[str, Any]:
    plain = comparison.to_dict()
    if published:
        plain["published"] = arbitre.published(comparison)
    if validate:
        plain["violations"] = [
            {"pointer": one.pointer, "keyword": one.keyword, "message": one.message} for one in comparison.violations
        ]
    return plain


def _blocks(comparison: arbitre.Comparison, width: int, *, validate: bool, published: bool) -> Iterator[RenderableType]:
    whole = f"Document quality {comparison.quality:.4f}"
    yield result_tables.headline(comparison.scores, comparison.entries, whole)
    yield result_tables.scores({"entries": comparison.scores, "leaves": comparison.leaves}, width)
    if comparison.outside:
        yield result_tables.outside(comparison.outside)
    if published:
        yield result_tables.published(arbitre.published(comparison))
    yield result_tables.by_path(comparison.by_path(), width)
    yield titled("Verdicts (items: gold = predicted; values: gold -> predicted)", verdict_tree(comparison, width))
    yield result_tables.survival(comparison.curve)
    if validate:
        yield result_tables.violations([("", one) for one in comparison.violations])
    yield result_tables.signature(comparison.signature)
