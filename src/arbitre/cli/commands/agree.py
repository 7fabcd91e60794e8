"""`arbitre agree`: measure the agreement of annotators, before a gold standard exists."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from arbitre import agreement
from arbitre.agreement import tables
from arbitre.agreement.agree import AgreeKeywords
from arbitre.agreement.ratings import label
from arbitre.cli.option_values import annotator_sources
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, Terminal, caveats
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.language import counted
from arbitre.tables.table import WHOLE
from arbitre.tables.terminal import escape_hidden, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from arbitre.agreement import CategoryDistances, StructuralAgreement


def agree(
    *,
    annotators: list[str],
    schema: str | None,
    options: AgreeKeywords,
    files: AnnotationOptions,
    difference: Literal["d", "d2"],
    level: float,
    seed: int,
    suggest_category_distances: bool,
    output: OutputOptions,
) -> None:
    """Measure how well annotators agree beyond chance, on whole documents and by path."""
    screen = output.terminal()
    sources = annotator_sources(annotators, files)
    given: dict[str, Any] = {"difference": difference, "level": level, "seed": seed, **asdict(files), **options}
    if suggest_category_distances:
        _suggest(screen, agreement.suggest_category_distances(schema, sources, **given))
        return
    found = agreement.agree(schema, sources, **given)
    screen.result(found.to_dict, lambda width: _blocks(found, width))


def _suggest(screen: Terminal, suggested: CategoryDistances) -> None:
    """Print the overlay, and its evidence to standard error; with `--format json`, print one object."""
    if screen.as_json:
        screen.json(suggested.to_dict())
        return
    screen.json(suggested.overlay)
    number = counted(len(suggested.suggestions), "distance")
    lines = [
        f"{number} suggested. The overlay has no effect until you pass it with --overlay."
        if suggested.suggestions
        else "No distances suggested: no categories are exchanged significantly more often than by chance."
    ]
    for each in suggested.suggestions:
        values = " and ".join(escape_hidden(label(value)) for value in each.values)
        lines.append(f"  {_label(each.path)}: {values}: {each.distance:g}")
        lines.append(f"    exchanged in {counted(each.items, 'item')}; {each.expected:.1f} expected by chance")
    lines += [
        f"  alpha of {_label(path)}: {result_tables.number(values['without'])} without, "
        f"{result_tables.number(values['with'])} with these distances"
        for path, values in suggested.alpha.items()
        if suggested.suggestions
    ]
    for line in lines:
        screen.note(line)


def _blocks(agreement: StructuralAgreement, width: int) -> Iterator[RenderableType]:
    documents = counted(agreement.documents, "document")
    yield Text.assemble(
        ("Agreement of ", "bold"),
        (", ".join(map(escape_hidden, agreement.annotators)), "bold"),
        f"\n{documents}, joined by id",
    )
    yield render(tables.by_path(agreement.by_path), width)
    yield render(tables.chance(agreement.by_path), width)
    if agreement.coefficients:
        yield render(tables.coefficients(agreement.coefficients), width)
        yield render(tables.categories(agreement), width)
    if agreement.gamma:
        yield render(tables.list_gamma(agreement.gamma), width)
    yield from caveats(agreement.notes)


def _label(path: str) -> str:
    return escape_hidden(path or WHOLE)
