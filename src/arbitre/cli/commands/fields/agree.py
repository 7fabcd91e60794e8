"""`arbitre agree`: measure the agreement of annotators, before a gold standard exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from arbitre.agreement.agree import agree_on
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.shared_options import ComparatorOptions, OutputOptions, ReadingOptions, Schema
from arbitre.cli.sources import named_sources
from arbitre.report.tables.table import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from arbitre.agreement import CategoricalCoefficients, Coefficient, StructuralAgreement

Annotators = Annotated[
    list[str],
    typer.Argument(metavar="NAME=PATH...", help="Documents of each annotator. Repeat a name for several files."),
]
Squared = Annotated[
    Literal["d", "d2"],
    typer.Option(
        help="Difference of two values in alpha: their distance (d), or its square (d2) as for interval data."
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of the samples for expected disagreement.")]


def agree(
    annotators: Annotators,
    *,
    schema: Schema,
    options: ComparatorOptions,
    reading: ReadingOptions,
    difference: Squared = "d",
    seed: Seed = 0,
    output: OutputOptions,
) -> None:
    """Measure how far annotators agree beyond chance, on whole documents and by path.

    The annotators are people, or several runs of models. Their documents are joined by id and aligned at every level.
    """
    screen = output.terminal()
    agreement = agree_on(
        options.comparator(schema), named_sources(annotators), reading, difference=difference, seed=seed
    )
    screen.result(agreement.to_dict, lambda width: _blocks(agreement, width))


def _blocks(agreement: StructuralAgreement, width: int) -> Iterator[RenderableType]:
    documents = counted(agreement.documents, "document")
    yield Text.assemble(
        ("Agreement of ", "bold"),
        (", ".join(map(escape_hidden, agreement.annotators)), "bold"),
        f"\n{documents}, joined by id",
    )
    yield titled("Agreement by path", _table(agreement.by_path, width))
    if agreement.coefficients:
        yield titled("Coefficients of categories", _side_by_side(agreement.coefficients, width))
        yield titled("Share of the categories, and agreement on each", _categories(agreement, width))
    if agreement.gamma:
        yield titled("Alignment of lists (gamma)", _table(agreement.gamma, width))
    if agreement.notes:
        yield titled("Caveats", Text("\n".join(f"- {escape_hidden(note)}" for note in agreement.notes)))


def _table(coefficients: Mapping[str, Coefficient], width: int) -> RenderableType:
    grid = result_tables.table("path", "coefficient", "value", "observed", "expected", "items", left=2)
    grid.columns[0].max_width = max(20, width - 62)
    for path, coefficient in coefficients.items():
        grid.add_row(
            escape_hidden(path or "(the whole)"),
            coefficient.name,
            Text(result_tables.number(coefficient.value), style="bold"),
            result_tables.number(coefficient.observed),
            result_tables.number(coefficient.expected),
            str(coefficient.items),
        )
    return grid


def _side_by_side(coefficients: Mapping[str, CategoricalCoefficients], width: int) -> RenderableType:
    grid = result_tables.table("path", "alpha", "pi", "kappa", "kappa - pi", "S", "AC1")
    grid.columns[0].max_width = max(20, width - 62)
    for path, each in coefficients.items():
        values = (each.alpha.value, each.pi.value, each.kappa.value, each.kappa_minus_pi, each.s.value, each.ac1.value)
        grid.add_row(escape_hidden(path or "(the whole)"), *map(result_tables.number, values))
    return grid


def _categories(agreement: StructuralAgreement, width: int) -> RenderableType:
    names = [escape_hidden(name) for name in agreement.annotators]
    grid = result_tables.table("category", *names, "agreement")
    grid.columns[0].max_width = max(20, width - 13 - sum(max(4, len(name)) + 3 for name in names))
    for path, each in agreement.coefficients.items():
        grid.add_row(Text(escape_hidden(path or "(the whole)"), style="bold"))
        agreed = each.alpha.by_category or {}
        for category, shares in sorted(
            (each.kappa.margins or {}).items(), key=lambda item: -sum(filter(None, item[1]))
        ):
            if any(shares):
                cells = [NONE if share is None else f"{share:.0%}" for share in shares]
                grid.add_row(f"  {escape_hidden(category)}", *cells, result_tables.number(agreed.get(category)))
    return grid
