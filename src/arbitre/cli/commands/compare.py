"""`arbitre compare`: compare one prediction with its gold document."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import typer
from rich.text import Text

import arbitre
from arbitre.cli.option_values import BoundOptions, OverrideOptions, check_format_assertion, close
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, titled
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.comparator.configurations import compare_choices, differing, entry_counts, table
from arbitre.comparison import tables
from arbitre.comparison.verdict_tree import verdict_tree
from arbitre.corpus.evaluation import THRESHOLDS
from arbitre.corpus.quality_bounds import check_bounds
from arbitre.errors import DataError, shell_quoted
from arbitre.inputs.document_sources import is_corpus, read_document
from arbitre.inputs.join import check_keys, swapped_names
from arbitre.inputs.open_files import STDIN
from arbitre.language import counted
from arbitre.schema.describe import forces_pairs
from arbitre.schema.loading.infer import infer
from arbitre.tables.table import WHOLE
from arbitre.tables.terminal import MAX_SHOWN, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.cli.output.console import Terminal
    from arbitre.comparator.configurations import SideBySideRow
    from arbitre.language import Translator
    from arbitre.values import Json


MAX_PAIRS: Final = 5
"""Maximum number of differing pairs to show per choice."""


def compare(
    *,
    gold: str,
    predicted: str,
    schema: str | None,
    overrides: OverrideOptions,
    options: ComparatorKeywords,
    max_depth: int,
    validate: bool,
    published: bool,
    rematch: bool,
    flat: bool,
    patch: bool,
    no_gains: bool,
    strict: bool,
    bounds: BoundOptions,
    output: OutputOptions,
) -> None:
    """Compare one prediction with its gold document."""
    if gold == predicted == STDIN:
        raise typer.BadParameter("Expected one of GOLD and PREDICTED to be a file, got - for both.")
    _check_patch(patch=patch, no_gains=no_gains, others=validate or published or rematch)
    check_format_assertion(options, validate=validate)
    screen = output.terminal()
    if note := swapped_names([gold], [predicted], "exchange the two arguments"):
        screen.note(note)
    documents = _documents(gold, predicted, schema, max_depth)
    if schema is None:
        infers = f"arbitre schema infer {shell_quoted(gold)}"
        screen.note(f"No --schema given: inferred one from {gold} ({infers} prints it).")
    chosen = overrides.configurations(schema or infer(documents[:1]), options)
    for choice in chosen:
        for path, most in choice.comparator.most_calls(gold=documents[0], predicted=documents[1]).items():
            screen.note(f"The function at {path or WHOLE} may be called up to {screen.say.value(most)} times.")
    plan = chosen[0].comparator.plan
    for note in (*plan.notes, *check_keys(plan.document_keys, *documents, strict=strict)):
        screen.note(note)
    others = bool(bounds.bounds) or validate or published or rematch
    if len(chosen) > 1:
        _refuse(others or flat or patch, "need a single --match and --distance.", "--patch", "--flat")
        rows = compare_choices(chosen, *documents)
        screen.result(
            lambda: {"entries": rows[0].comparison.entries, "choices": [row.to_dict() for row in rows]},
            partial(_side_by_side, rows),
        )
        return
    comparator = chosen[0].comparator
    if flat:
        _refuse(others or patch, "cannot be combined with --flat.", "--patch")
        flat_comparison = comparator.compare_flat(gold=documents[0], predicted=documents[1])
        screen.result(
            lambda: {"signature": comparator.signature.to_dict(), **flat_comparison.to_dict()},
            lambda width: (*result_tables.flat(flat_comparison, width), result_tables.signature(comparator.signature)),
        )
        return
    comparison = comparator.compare(gold=documents[0], predicted=documents[1], rematch=rematch)
    declared = {row.path for row in comparator.explain()}
    forced = forces_pairs(comparator.plan.sites, comparator.plan.entries)
    missed = check_bounds(comparison, fail_under=bounds.bounds, declared=declared)
    if patch:
        _print_patch(screen, comparison, no_gains=no_gains)
        raise typer.Exit(close(screen, missed))
    screen.result(
        lambda: _plain(comparison, validate=validate, published=published),
        lambda width: _blocks(
            comparison,
            width,
            screen.say,
            as_tables=screen.as_tables,
            forced=forced,
            validate=validate,
            published=published,
            rematch=rematch,
        ),
    )
    raise typer.Exit(close(screen, missed))


def _documents(gold: str, predicted: str, schema: str | None, max_depth: int) -> list[Json]:
    """Read both documents. Raises DataError, with the command for a corpus if a source is one."""
    try:
        return [read_document(source, max_depth) for source in (gold, predicted)]
    except DataError as error:
        if not any(is_corpus(source) for source in (gold, predicted)):
            raise
        words = map(shell_quoted, (schema or "SCHEMA", gold, predicted))
        raise DataError.of(
            "Expected two files with one document each, got a folder or a file of records",
            file=error.file,
            hint="To compare all documents, use: arbitre evaluate --schema {} --gold {} --predicted {}".format(*words),
        ) from error


def _side_by_side(found: Sequence[SideBySideRow], width: int) -> Iterator[RenderableType]:
    """Yield the table of several choices, then the differing pairs of each."""
    first = found[0].comparison
    gold, predicted = map(result_tables.count, entry_counts(first))
    yield Text.assemble(
        (f"{len(found)} choices side by side", "bold"),
        f"\nentries {first.entries or WHOLE}: {gold} gold, {predicted} predicted",
    )
    yield render(table(found), width)
    for row in found:
        if row.more or row.fewer:
            yield render(differing(row), width, most=MAX_PAIRS, rest="more pair(s) with --format json")


def _refuse(given: bool, reason: str, *more: str) -> None:  # noqa: FBT001
    """Raise typer.BadParameter if one of the options is given that need a single comparison."""
    if given:
        *first, last = "--fail-under", "--fail-over", "--validate", "--published", "--rematch", *more
        raise typer.BadParameter(f"{', '.join(first)} and {last} {reason}")


def _check_patch(*, patch: bool, no_gains: bool, others: bool) -> None:
    """Raise typer.BadParameter if options contradict --patch, or need it."""
    if patch and others:
        raise typer.BadParameter("--validate, --published and --rematch cannot be combined with --patch.")
    if no_gains and not patch:
        raise typer.BadParameter("--no-gains requires --patch.")


def _print_patch(screen: Terminal, comparison: arbitre.Comparison, *, no_gains: bool) -> None:
    """Print the JSON Patch with one operation per line, and a note if it has no gains."""
    patch = comparison.patch(gains=False if no_gains else None)
    if not no_gains and any(operation.gain is None for operation in patch):
        screen.note(
            f"The gains of {counted(len(patch), 'operation')} were not computed, because this would take more than "
            "about a minute or call a custom distance; in Python, comparison.patch(gains=True) computes them."
        )
    lines = ",\n".join(
        f"  {json.dumps(operation, ensure_ascii=False, allow_nan=False)}" for operation in patch.to_list()
    )
    screen.raw(f"[\n{lines}\n]\n" if lines else "[]\n")


def _plain(comparison: arbitre.Comparison, *, validate: bool, published: bool) -> dict[str, Any]:
    plain = comparison.to_dict()
    if published:
        plain["published"] = arbitre.published(comparison)
    if validate:
        plain["violations"] = list(map(asdict, comparison.violations))
    return plain


def _blocks(
    comparison: arbitre.Comparison,
    width: int,
    say: Translator,
    *,
    as_tables: bool,
    forced: bool,
    validate: bool,
    published: bool,
    rematch: bool,
) -> Iterator[RenderableType]:
    whole, solidarity = f"Document quality {comparison.quality:.4f}", result_tables.solidarity(comparison.diagnosis)
    yield result_tables.headline(comparison.scores, comparison.entries, whole).append(f"\n{solidarity}")
    yield result_tables.scores({"entries": comparison.scores, "leaves": comparison.leaves}, width, forced=forced)
    if comparison.outside:
        yield result_tables.outside(comparison.outside)
    if published:
        yield render(tables.published(arbitre.published(comparison)), width)
    yield from result_tables.by_path(comparison.by_path, width)
    if not as_tables:
        yield titled(
            "Verdicts (items: gold = predicted; values: gold -> predicted)",
            verdict_tree(comparison.levels, comparison.entries, comparison.close, width, say),
        )
    diagnosis = comparison.diagnosis
    for made in (
        *([tables.verdicts(comparison)] if as_tables else []),
        tables.references(comparison.references),
        tables.joins(comparison),
        tables.order(comparison),
        tables.moved(diagnosis.moved),
        tables.doubtful(diagnosis.doubtful),
        tables.faults_of(diagnosis, rematch=rematch),
    ):
        if made.size:
            yield render(made, width, most=MAX_SHOWN)
    yield render(tables.survival(comparison.curve, THRESHOLDS), width)
    if validate:
        yield result_tables.violations(list(map(asdict, comparison.violations)), width)
    yield result_tables.signature(comparison.signature)
