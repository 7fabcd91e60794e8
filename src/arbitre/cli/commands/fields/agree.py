"""`arbitre agree`: measure the agreement of annotators, before a gold standard exists."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from arbitre.agreement.advice.category_distances import Measured, suggest_distances_on
from arbitre.agreement.agree import annotations_of
from arbitre.agreement.categorical import label
from arbitre.agreement.rating_table import is_rating_table, schema_of
from arbitre.agreement.structural import structural
from arbitre.cli.output import result_tables
from arbitre.cli.output.console import OutputOptions, Terminal, counted, left_out, titled
from arbitre.cli.sources import named_sources
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.corpus.reading.options import ReadOptions
from arbitre.tables.table import NONE
from arbitre.tables.terminal import escape_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from arbitre.agreement import CategoricalCoefficients, CategoryDistances, Coefficient, StructuralAgreement


PATH_WIDTH: Final = 20
"""Minimum width of a column of long paths."""

_ALIGNED: Final = {
    None: NONE,
    "key": "key",
    "position": "position",
    "other fields": "others",
    "all fields": "all fields",
    "these values": "values",
}
"""What items are aligned by, in a few letters."""

GAP: Final = 3
"""Number of spaces between two columns."""


def agree(
    *,
    annotators: list[str],
    schema: str | None,
    options: ComparatorKeywords,
    reading: ReadOptions,
    difference: Literal["d", "d2"],
    level: float,
    seed: int,
    suggest_category_distances: bool,
    output: OutputOptions,
) -> None:
    """Measure how well annotators agree beyond chance, on whole documents and by path."""
    screen = output.terminal()
    sources = _sources(annotators)
    source = schema_of(schema, sources)
    if suggest_category_distances:
        measured = Measured(difference=difference, level=level, seed=seed)
        _suggest(screen, suggest_distances_on(source, options, sources, reading, measured))
        return
    comparator = Comparator(source, **options)
    annotations = annotations_of(comparator, sources, reading)
    agreement = structural(comparator, annotations, difference=difference, level=level, seed=seed)
    screen.result(agreement.to_dict, lambda width: _blocks(agreement, width))


def _sources(texts: list[str]) -> dict[str, list[str]] | str:
    """Return the paths of each annotator, or the path of a table of ratings."""
    return texts[0] if len(texts) == 1 and "=" not in texts[0] and is_rating_table(texts[0]) else named_sources(texts)


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
    screen.note("\n".join(lines))


def _blocks(agreement: StructuralAgreement, width: int) -> Iterator[RenderableType]:
    documents = counted(agreement.documents, "document")
    yield Text.assemble(
        ("Agreement of ", "bold"),
        (", ".join(map(escape_hidden, agreement.annotators)), "bold"),
        f"\n{documents}, joined by id",
    )
    yield titled("Agreement by path", _values(agreement.by_path, width))
    yield titled("Observed and expected agreement", _chance(agreement.by_path, width))
    if agreement.coefficients:
        yield titled("Coefficients for categories", _side_by_side(agreement.coefficients, width))
        yield titled("Share and agreement by category", _categories(agreement, width))
    if agreement.gamma:
        yield titled("Alignment of lists (gamma)", _gamma(agreement.gamma, width))
    if agreement.notes:
        yield titled("Caveats", Text("\n".join(f"- {escape_hidden(note)}" for note in agreement.notes)))


def _values(coefficients: Mapping[str, Coefficient], width: int) -> RenderableType:
    names: tuple[str, ...] = ("coefficient", "value", _heading(coefficients), "items")
    if any(each.aligned_by is not None for each in coefficients.values()):
        names += ("aligned by",)
    rows = []
    for path, each in coefficients.items():
        value, items = result_tables.number(each.value), str(each.items)
        rows.append((path, (each.name, value, _interval(each), items, _ALIGNED[each.aligned_by])[: len(names)]))
    return _table(names, rows, width, left=2)


def _chance(coefficients: Mapping[str, Coefficient], width: int) -> RenderableType:
    names = ("observed", "expected\n(global)", "expected\n(local)", "value\n(local)", "documents\n(local)")
    rows = []
    for path, each in coefficients.items():
        numbers = [each.observed, each.expected, None, None]
        if (local := each.local) is not None:
            numbers[2:] = [local.expected, local.value]
        documents = NONE if local is None else str(local.documents)
        rows.append((path, (*map(result_tables.number, numbers), documents)))
    return _table(names, rows, width)


def _gamma(coefficients: Mapping[str, Coefficient], width: int) -> RenderableType:
    rows = []
    for path, each in coefficients.items():
        value, *agreed = map(result_tables.number, (each.value, each.observed, each.expected))
        rows.append((path, (value, _interval(each), *agreed, str(each.items))))
    return _table(("value", _heading(coefficients), "observed", "expected", "items"), rows, width)


def _side_by_side(coefficients: Mapping[str, CategoricalCoefficients], width: int) -> RenderableType:
    rows = []
    for path, each in coefficients.items():
        values = (each.alpha.value, each.pi.value, each.kappa.value, each.kappa_minus_pi, each.s.value, each.ac1.value)
        rows.append((path, tuple(map(result_tables.number, values))))
    return _table(("alpha", "pi", "kappa", "kappa - pi", "S", "AC1"), rows, width)


def _table(
    names: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], width: int, *, left: int = 1
) -> RenderableType:
    """Return a table by path, without the last columns if they do not fit beside the paths."""
    lines = [(path, cells) for path, cells in rows]
    columns = zip(*([name.split("\n") for name in names], *(cells for _, cells in lines)), strict=True)
    widths = [max(map(cell_len, (*heading, *cells))) + GAP for heading, *cells in columns]
    longest = min(PATH_WIDTH, max(cell_len(_label(path)) for path, _ in lines))
    shown = max(left, sum(longest + total <= width for total in accumulate(widths)))
    grid = result_tables.table("path", *names[:shown], left=left)
    grid.columns[0].max_width = max(PATH_WIDTH, width - sum(widths[:shown]))
    for path, cells in lines:
        grid.add_row(_label(path), *cells[:shown])
    return Group(grid, *left_out([" ".join(name.split()) for name in names[shown:]]))


def _heading(coefficients: Mapping[str, Coefficient]) -> str:
    level = next(each.interval.level for each in coefficients.values() if each.interval is not None)
    return f"{100 * level:g} % interval"


def _interval(coefficient: Coefficient) -> str:
    interval = coefficient.interval
    return NONE if interval is None or interval.low is None else f"{interval.low:.2f} to {interval.high:.2f}"


def _label(path: str) -> str:
    return escape_hidden(path or "(the whole)")


def _categories(agreement: StructuralAgreement, width: int) -> RenderableType:
    names = [escape_hidden(name) for name in agreement.annotators]
    grid = result_tables.table("category", *names, "agreement")
    grid.columns[0].max_width = max(20, width - 13 - sum(max(4, len(name)) + 3 for name in names))
    for path, each in agreement.coefficients.items():
        grid.add_row(Text(_label(path), style="bold"))
        agreed = each.alpha.by_category or {}
        for category, shares in sorted(
            (each.kappa.margins or {}).items(), key=lambda item: -sum(filter(None, item[1]))
        ):
            if any(shares):
                cells = [NONE if share is None else f"{share:.0%}" for share in shares]
                grid.add_row(f"  {escape_hidden(category)}", *cells, result_tables.number(agreed.get(category)))
    return grid
