"""`arbitre schema`: infer, check and explain schemas, and print overlays with suggestions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer
from rich.text import Text

from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, Terminal
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.comparator.schemas import check_schema, infer_schema
from arbitre.dialects.translation import import_schema
from arbitre.gold.checks import FEW
from arbitre.inputs.corpus_sources import Sources
from arbitre.inputs.options import ReadOptions
from arbitre.language import counted
from arbitre.options import DialectName
from arbitre.parsing.fast_json import compact
from arbitre.schema.certificate import tables as certificate_tables
from arbitre.schema.describe import settings
from arbitre.storage.output_folder import write_json
from arbitre.suggestions.aliases import suggest_corpus_aliases
from arbitre.suggestions.suggested_gate import suggest_gate as gate_for
from arbitre.tables.table import WHOLE
from arbitre.tables.terminal import escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparator.schemas import SchemaCheck
    from arbitre.dialects.translation import ImportedSchema
    from arbitre.gold.checks import GoldFinding
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.schema import Plan
    from arbitre.schema.certificate import Certificate
    from arbitre.suggestions.aliases import AliasSuggestion, AliasSuggestions
    from arbitre.suggestions.schema_advice import SchemaAdvice
    from arbitre.suggestions.suggested_gate import SuggestedGate


WIDE: Final = 100
"""Width of a terminal from which kinds have a column of their own."""

MAX_AMBIGUOUS: Final = 20
"""Maximum number of ambiguous variants in the output, for each authority file."""


def infer(*, gold: list[str], out: Path | None, id_key: str, apply: bool, force: bool, output: OutputOptions) -> None:
    """Infer a schema that all the given documents satisfy. Files of a folder that are not documents are listed."""
    screen = output.terminal()
    out = screen.destination(out, force=force)
    inferred = infer_schema(gold, out=out, id_key=id_key, apply=apply)
    if inferred.skipped:
        screen.note("\n".join([f"Skipped {counted(len(inferred.skipped), 'file')}:", *inferred.skipped]))
    if inferred.notes:
        typed = any(": read as " in note for note in inferred.notes)
        hint = "Declare another type for columns of codes, such as postcodes."
        screen.note("\n".join([*inferred.notes, *([hint] if typed else [])]))
    if inferred.advice:
        screen.note(
            "\n".join(
                [*_advice_lines(inferred.advice), _applied(inferred.advice, apply=apply, where="into the schema")]
            )
        )
    if out is None:
        screen.json(inferred.schema)


def check(
    *,
    schema: str,
    documents: list[str],
    gold: list[str] | None,
    predicted: list[str] | None,
    options: ComparatorKeywords,
    certificate: bool,
    id_key: str,
    apply: bool,
    out: Path | None,
    force: bool,
    output: OutputOptions,
) -> None:
    """Check a schema, and optionally documents against it."""
    screen = output.terminal()
    target = screen.destination(out, force=force)
    checked = check_schema(
        schema, documents, gold=gold, predicted=predicted, apply=apply, out=target, id_key=id_key, **options
    )
    _note_ignored(screen, checked.comparator.plan)
    if screen.as_json:
        screen.json(checked.to_dict(certificate=certificate))
    else:
        printing = apply and out is None
        _show(replace(screen, out=screen.err) if printing else screen, schema, checked, certificate=certificate)
        if checked.advice:
            screen.note(_applied(checked.advice, apply=apply, where="as an overlay"))
        if printing:
            screen.json(dict(checked.overlay))
    raise typer.Exit(2 if checked.gold is not None and not checked.gold.ok else int(bool(checked.violations)))


def _note_ignored(screen: Terminal, plan: Plan) -> None:
    """Print a note on keywords of other tools, which have no effect."""
    for note in plan.notes:
        screen.note(note)


def _show(screen: Terminal, schema: str, checked: SchemaCheck, *, certificate: bool) -> None:
    """Print the result of a check: the schema, the documents, gold and the advice."""
    comparator = checked.comparator
    fine = "no errors" if comparator.plan.notes else "no problems"
    found = f"no errors; {_pieces(checked.advice)}" if checked.advice else fine
    paths, entries = counted(len(comparator.explain()), "path"), comparator.entries or WHOLE
    screen.verbatim(f"{schema}: {found}; {paths}, entries {entries}", *_authority_lines(comparator))
    if certificate:
        screen.verbatim("")
        screen.show(_certificate_blocks(comparator.certificate, screen.width))
    screen.verbatim(*map(str, checked.violations))
    if checked.documents:
        counts = counted(checked.documents, "document"), counted(len(checked.violations), "violation")
        screen.verbatim(", ".join(counts))
    if checked.gold is not None:
        unused = [path for one in checked.advice if one.kind == "unused" for path in one.evidence["paths"]]
        warnings = [one for one in checked.gold.warnings if not _is_advised(one, unused)]
        findings = checked.gold.findings
        screen.verbatim(*map(str, findings), *_warning_lines(warnings), *_advice_lines(checked.advice))
        screen.verbatim(*(f"not read: {reason}" for reason in checked.unreadable))
        screen.verbatim(
            f"{counted(checked.gold.documents, 'gold document')}, {counted(len(findings), 'problem')}, "
            f"{counted(len(warnings), 'warning')}" + f", {_pieces(checked.advice)}" * bool(checked.advice)
        )


def _is_advised(warning: GoldFinding, unused: Sequence[str]) -> bool:
    """Return whether the advice already says that gold has no value at a path."""
    place = warning.pointer or ""
    return warning.check == "unused" and any(place == path or place.startswith(f"{path}/") for path in unused)


def _pieces(advice: Sequence[SchemaAdvice]) -> str:
    return f"{counted(len(advice), 'piece')} of advice"


def _advice_lines(advice: Sequence[SchemaAdvice]) -> Iterator[str]:
    """Yield the advice, each piece with its settings below it."""
    yield from (escape_hidden(line) for one in advice for line in f"advice: {one}".split("\n"))


def _applied(advice: Sequence[SchemaAdvice], *, apply: bool, where: str) -> str:
    """Return a note on how much of the advice has settings, and whether they were applied."""
    number = sum(one.change is not None for one in advice)
    if not number:
        return "No settings follow from this advice."
    which = "the advice" if number == len(advice) else f"{number} of {_pieces(advice)}"
    return f"Applied the settings of {which}." if apply else f"--apply writes the settings of {which} {where}."


def _warning_lines(warnings: Sequence[GoldFinding]) -> Iterator[str]:
    """Yield the warnings about gold; the paths with few values are on one line."""
    yield from (f"warning: {warning}" for warning in warnings if warning.check != "few")
    if few := [warning.pointer or "" for warning in warnings if warning.check == "few"]:
        yield f"warning: Fewer than {FEW} gold values at {', '.join(few)}"


def _authority_lines(comparator: Comparator) -> Iterator[str]:
    """Yield the sources of names with variants, and the variants of several names."""
    for used in comparator.authorities:
        authority = used.authority
        counts = f"{counted(authority.names, 'name')}, {counted(authority.variants, 'variant')}"
        yield f"{used.path or WHOLE}: {escape_hidden(authority.source)}, {counts}"
        if authority.ambiguous:
            yield f"  {counted(len(authority.ambiguous), 'variant')} of several names, not replaced:"
        for text, names in list(authority.ambiguous.items())[:MAX_AMBIGUOUS]:
            yield escape_hidden(f"    {text}: {'; '.join(names)}")
        if len(authority.ambiguous) > MAX_AMBIGUOUS:
            yield f"    and {len(authority.ambiguous) - MAX_AMBIGUOUS} more; --format json lists all"


def _certificate_blocks(found: Certificate, width: int) -> Iterator[RenderableType]:
    """Yield the verdict, the violations of the metric axioms, the assumptions and the values treated as equal."""
    yield Text.assemble("certificate of the distance 1 - quality between documents: ", (found.verdict, "bold"))
    for table in certificate_tables(found):
        yield render(table, width)


def explain(*, schema: str, options: ComparatorKeywords, output: OutputOptions) -> None:
    """Show how each path is compared: kind, weight, distance, matching, normalisation."""
    screen = output.terminal()
    comparator = Comparator(schema, **options)
    signature, rows = comparator.signature, [row.to_dict() for row in comparator.explain()]
    _note_ignored(screen, comparator.plan)
    screen.result(
        lambda: {"entries": comparator.entries, "signature": signature.to_dict(), "paths": rows},
        lambda width: [
            render(settings(comparator.explain(), comparator.entries, wide=width >= WIDE), width),
            result_tables.signature(signature),
        ],
    )


def import_(
    *,
    schema: str,
    dialect: DialectName,
    nearest: bool,
    out: Path | None,
    allow_refs: list[str],
    force: bool,
    output: OutputOptions,
) -> None:
    """Translate a schema that is annotated for another tool into an overlay."""
    screen = output.terminal()
    out = screen.destination(out, force=force)
    imported = import_schema(schema, dialect, nearest=nearest, out=out, allow_refs=allow_refs)
    if screen.as_json:
        screen.json(imported.to_dict())
        return
    if out is None:
        screen.json(dict(imported.overlay))
    screen.note("\n".join(_untranslated(imported, nearest=nearest)))


def _untranslated(imported: ImportedSchema, *, nearest: bool) -> Iterator[str]:
    """Yield the number of paths with settings, then the keywords without an equivalent, by reason."""
    paths, number = counted(len(imported.overlay), "path"), len(imported.untranslated)
    missing = counted(number, "keyword or default", "keywords or defaults")
    yield f"{paths} with settings; {missing} of {imported.dialect} without an equivalent"
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in imported.untranslated:
        settings = "; ".join(compact(value) for value in one.nearest.values())
        groups.setdefault((one.keyword, one.reason, settings), []).append(one.pointer or WHOLE)
    for (keyword, reason, settings), pointers in groups.items():
        yield escape_hidden(f"  {keyword}: {reason}")
        if settings:
            yield f"    {'written' if nearest else 'nearest'}: {settings}"
        yield from (escape_hidden(f"    at {pointer}") for pointer in pointers)
    if not nearest and any(one.nearest for one in imported.untranslated):
        yield "--nearest also writes the nearest settings."


def suggest_aliases(
    *,
    schema: str,
    options: ComparatorKeywords,
    sources: Sources,
    reading: ReadOptions,
    out: Path | None,
    force: bool,
    output: OutputOptions,
) -> None:
    """Suggest aliases for fields that predictions store under keys that the schema does not declare.

    Prints an overlay with the aliases; their evidence goes to standard error. Values are compared, not names.
    """
    screen = output.terminal()
    plan = Comparator(schema, **options).plan
    out = screen.destination(out, inputs=[*plan.inputs, *sources.files(reading)], force=force)
    suggested = suggest_corpus_aliases(plan, _pairs(screen, plan, sources, reading))
    _print(screen, suggested, out)
    if not screen.as_json:
        number = counted(len(suggested.suggestions), "alias", "aliases")
        lines = [f"{number} suggested from {counted(suggested.documents, 'pair')} of documents"]
        screen.note("\n".join([*lines, *map(_evidence, suggested.suggestions)]))


def suggest_gate(
    *,
    schema: str,
    options: ComparatorKeywords,
    sources: Sources,
    reading: ReadOptions,
    seed: int,
    out: Path | None,
    force: bool,
    output: OutputOptions,
) -> None:
    """Suggest a gate for the matching of the entries.

    Prints an overlay with the quality that 95% of the entries do not reach if they are matched with another document's
    gold.
    """
    screen = output.terminal()
    plan = Comparator(schema, **options).plan
    out = screen.destination(out, inputs=[*plan.inputs, *sources.files(reading)], force=force)
    suggested = gate_for(plan, _pairs(screen, plan, sources, reading), seed=seed)
    _print(screen, suggested, out)
    if not screen.as_json:
        sample = "a sample of " if suggested.sampled else ""
        screen.note(
            f"95% of {sample}{counted(suggested.chance_pairs, 'pair')} with another document's gold have a quality "
            f"below {suggested.gate:g}\n{suggested.below} of {counted(suggested.pairs, 'matched pair')} of this corpus "
            f"{'is' if suggested.below == 1 else 'are'} below it"
        )


def _pairs(screen: Terminal, plan: Plan, sources: Sources, reading: ReadOptions) -> JoinedCorpus:
    joined = sources.joined(reading.for_plan(plan))
    for note in joined.notes:
        screen.note(note)
    return joined


def _print(screen: Terminal, suggested: AliasSuggestions | SuggestedGate, out: Path | None) -> None:
    """Write or print the overlay; with `--format json`, print the evidence, too."""
    write_json(suggested.overlay, out)
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
