"""`arbitre schema suggest-aliases` and `suggest-gate`: print overlays to accept or edit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arbitre.cli.option_sets import with_option_sets
from arbitre.cli.output.console import Terminal, counted
from arbitre.cli.shared_options import (
    Force,
    OutputOptions,
    ReadingOptions,
    SchemaArgument,
    SchemaOptions,
    SourceOptions,
)
from arbitre.corpus.results.suggested_gate import suggest_gate as gate_for
from arbitre.corpus.running.suggested_aliases import suggest_aliases as aliases_for
from arbitre.corpus.storage.output_folder import paths_among
from arbitre.report.text_files import json_text, output_text_file

if TYPE_CHECKING:
    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.results.suggested_gate import SuggestedGate
    from arbitre.diagnosis.renamed_fields import AliasSuggestion, AliasSuggestions
    from arbitre.schema import Plan

Out = Annotated[Path | None, typer.Option(metavar="FILE", help="File for the overlay. Default: standard output.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of the sample of chance pairs.")]


@with_option_sets
def suggest_aliases(
    schema: SchemaArgument,
    *,
    options: SchemaOptions,
    sources: SourceOptions,
    reading: ReadingOptions,
    out: Out = None,
    force: Force = False,
    output: OutputOptions,
) -> None:
    """Suggest aliases for fields that predictions store under keys that the schema does not declare.

    Prints an overlay with the aliases; their evidence goes to standard error. Values are compared, not names.
    """
    screen = output.terminal()
    inputs = [str(schema).partition("#")[0], *paths_among(options.overlay), *sources.files(reading)]
    out = screen.destination(out, inputs=inputs, force=force)
    plan = options.comparator(schema).plan
    suggested = aliases_for(plan, _pairs(screen, plan, sources, reading))
    _print(screen, suggested, out)
    if not screen.as_json:
        number = counted(len(suggested.suggestions), "alias", "aliases")
        lines = [f"{number} suggested from {counted(suggested.documents, 'pair')} of documents"]
        screen.note("\n".join([*lines, *map(_evidence, suggested.suggestions)]))


@with_option_sets
def suggest_gate(
    schema: SchemaArgument,
    *,
    options: SchemaOptions,
    sources: SourceOptions,
    reading: ReadingOptions,
    seed: Seed = 0,
    out: Out = None,
    force: Force = False,
    output: OutputOptions,
) -> None:
    """Suggest a gate for the matching of the entries.

    Prints an overlay with the quality that 95 % of the entries do not reach if they are matched with another document's
    gold.
    """
    screen = output.terminal()
    inputs = [str(schema).partition("#")[0], *paths_among(options.overlay), *sources.files(reading)]
    out = screen.destination(out, inputs=inputs, force=force)
    plan = options.comparator(schema).plan
    suggested = gate_for(plan, _pairs(screen, plan, sources, reading), seed=seed)
    _print(screen, suggested, out)
    if not screen.as_json:
        sample = "a sample of " if suggested.sampled else ""
        screen.note(
            f"95 % of {sample}{counted(suggested.chance_pairs, 'pair')} with another document's gold have a quality "
            f"below {suggested.gate:g}\n{suggested.below} of {counted(suggested.pairs, 'matched pair')} of this corpus "
            f"{'is' if suggested.below == 1 else 'are'} below it"
        )


def _pairs(screen: Terminal, plan: Plan, sources: SourceOptions, reading: ReadingOptions) -> Join:
    joined = sources.joined(reading.for_plan(plan))
    for note in joined.notes:
        screen.note(note)
    return joined


def _print(screen: Terminal, suggested: AliasSuggestions | SuggestedGate, out: Path | None) -> None:
    """Write or print the overlay; with `--format json`, print the evidence, too."""
    if out is not None:
        with output_text_file(out) as file:
            file.write(json_text(suggested.overlay))
    if screen.as_json:
        screen.json(suggested.to_dict())
    elif out is None:
        screen.json(suggested.overlay)


def _evidence(suggestion: AliasSuggestion) -> str:
    where = f"the same {suggestion.scope}" if suggestion.scope else "the same document"
    return (
        f"  {suggestion.path}: {suggestion.alias}\n    {suggestion.equal:g} of {suggestion.unknown:g} values are equal "
        f"to one of {suggestion.missing:g} missing values in {where}; {suggestion.chance:g} by chance"
    )
