"""`arbitre agree`: measure the agreement of annotators, before a gold standard exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from arbitre.agreement.agree import agree_on
from arbitre.agreement.rating_table import is_rating_table, schema_of
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import counted, titled
from arbitre.cli.output.path_labels import escape_hidden
from arbitre.cli.shared_options import ComparatorOptions, OutputOptions, ReadingOptions
from arbitre.cli.sources import named_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from arbitre.agreement import Coefficient, StructuralAgreement

Annotators = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=PATH...",
        help="Documents of each annotator. Repeat a name for several files. Or a table of ratings: a .csv or .tsv file "
        "with a row for each item and a column for each annotator.",
    ),
]
OptionalSchema = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="JSON Schema of the documents, with x-arbitre annotations, as JSON or YAML, or MODULE:NAME of a Python "
        "type. For a table of ratings, that of a rating. Without it, ratings are categories that are equal or not.",
    ),
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
    schema: OptionalSchema = None,
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
    sources = _sources(annotators)
    comparator = options.comparator(schema_of(schema, sources))
    agreement = agree_on(comparator, sources, reading, difference=difference, seed=seed)
    screen.result(agreement.to_dict, lambda width: _blocks(agreement, width))


def _sources(texts: list[str]) -> dict[str, list[str]] | str:
    """Return the paths of each annotator, or the path of a table of ratings."""
    return texts[0] if len(texts) == 1 and "=" not in texts[0] and is_rating_table(texts[0]) else named_sources(texts)


def _blocks(agreement: StructuralAgreement, width: int) -> Iterator[RenderableType]:
    documents = counted(agreement.documents, "document")
    yield Text.assemble(
        ("Agreement of ", "bold"),
        (", ".join(map(escape_hidden, agreement.annotators)), "bold"),
        f"\n{documents}, joined by id",
    )
    yield titled("Agreement by path", _table(agreement.by_path, width))
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
