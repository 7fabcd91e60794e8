"""Results as tables for terminals of any width; colours carry no information of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from arbitre.cli.output.console import counted, left_out, titled
from arbitre.cli.output.path_labels import escape_hidden, fits_unbroken, nested_labels
from arbitre.corpus.reading.records import key
from arbitre.corpus.results.evaluation import THRESHOLDS
from arbitre.paths import order, wildcard
from arbitre.report.html.language import Language, Translator
from arbitre.report.html.wording import sampled
from arbitre.report.tables.summaries import AVERAGES
from arbitre.report.tables.table import NONE
from arbitre.tally import COUNTS, OUTCOMES, PathScores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.comparison.flat import FlatComparison
    from arbitre.corpus.reading.options import Failure
    from arbitre.corpus.results.document_quality import DocumentQuality
    from arbitre.corpus.results.documents import DocumentTable
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.curve import Curve
    from arbitre.schema.plan import Plan
    from arbitre.signature import Signature
    from arbitre.tally import MacroScores, Scores

    ScoreColumn = Scores | MacroScores | Mapping[str, int]

READINGS: Final = {
    "f1q": "headline: harmonic mean of imq and irq",
    "imq": "graded precision; lowered by spurious",
    "irq": "graded recall; lowered by missing",
    "amq": "mean quality of the matched pairs",
    "omq": "harmonic mean of P, R and amq",
    "omq_imq": "harmonic mean of imq, R and amq",
    "quality": "mean quality, unmatched counted as 0",
    "variance": "variance of the pair qualities",
    "precision": "matched / predicted",
    "recall": "matched / gold",
    "f1": "harmonic mean of precision and recall",
}
BIASED: Final = frozenset({"precision", "recall", "f1"})
"""Scores that are biased if the matching pairs every entry of the shorter list."""
SECONDARY: Final = BIASED | {"omq", "omq_imq", "variance"}

MAX_SHOWN: Final = 10
"""Maximum number of failures, or of violations, to show."""

WIDE_TERMINAL: Final = 80
_MEDIUM_TERMINAL: Final = 70
_READING: Final = 100
_DIGITS: Final = 6

_COLUMNS: Final = (
    ("gold", "imq", "irq", "f1q"),
    ("gold", "predicted", "imq", "irq", "f1q"),
    ("gold", "predicted", "matched", "imq", "irq", "f1q", "amq"),
)
"""Columns of the scores by path on narrow, medium and wide terminals."""

_OUTCOMES: Final = (
    ("exact_match_rate", "wrong_type", "missing", "spurious"),
    ("exact_match_rate", "exact", "close", "wrong", "wrong_type", "missing", "spurious"),
)
"""Columns of the outcomes by path on narrow and wide terminals."""

_HEADINGS: Final = {"exact_match_rate": "exact\nrate", "wrong_type": "wrong\ntype"}
_WHOLE: Final = frozenset({*COUNTS, *OUTCOMES})
"""Columns of counts."""


def number(value: float | None, digits: int = 4) -> str:
    """Format a score with four decimals, or fewer on a first screen, or None as a dash."""
    return NONE if value is None else f"{value:.{digits}f}"


def count(value: float | None) -> str:
    """Format a count, or a fractional mass with two decimals, or None as a dash."""
    return NONE if value is None else f"{value:g}" if float(value).is_integer() else f"{value:.2f}"


def table(*columns: str, left: int = 1) -> Table:
    """Create an empty table; the first `left` columns hold text, the others numbers."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for position, name in enumerate(columns):
        text = position < left
        grid.add_column(name, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return grid


def scores(columns: Mapping[str, ScoreColumn], width: int, *, forced: bool) -> RenderableType:
    """Return a table of all scores, with one column per tally or per document count of the means.

    `forced` is whether every entry of the shorter list gets a partner (see `EntryLayout.full_matching`).
    """
    tallies = [column for column in columns.values() if not isinstance(column, Mapping)]
    if all(getattr(column, name) is None for column in tallies for name in READINGS):
        return Text("No scores: neither gold nor the predictions have entries.")
    reading = width >= _READING
    grid = table("score", *columns)
    if reading:
        grid.add_column("meaning", style="dim")
    for name, text in READINGS.items():
        biased = forced and name in BIASED
        label = f"{name} (biased)" if biased else name
        meaning = "biased: every pair counts as correct" if biased else text
        cells = [
            Text(str(column[name]), style="dim") if isinstance(column, Mapping) else number(getattr(column, name))
            for column in columns.values()
        ]
        style = "dim" if name in SECONDARY else "bold" if name == "f1q" else ""
        grid.add_row(label, *cells, *[meaning] * reading, style=style)
    return Group(grid, *left_out(["meaning"] * (not reading), f"Use a terminal of {_READING} columns."))


def intervals(found: Mapping[str, Any]) -> RenderableType:
    """Return a table of confidence intervals and chance scores from `Evaluation.trust`."""
    drawn, chance = found["intervals"], found["chance"]
    level = f"{drawn['level']:.0%}"
    floor = (chance or {}).get("floor") or {}
    columns = {
        f"Per-document mean\n(macro), {level}": [_bounds(drawn["macro"][name]) for name in TRUSTED],
        f"Pooled\n(micro), {level}": [_bounds(drawn["micro"][name]) for name in TRUSTED],
        "chance score,\npooled": [number(floor.get(name)) for name in TRUSTED],
    }
    columns = {title: cells for title, cells in columns.items() if set(cells) != {NONE}}
    grid = table("score", *columns)
    for name, *cells in zip(TRUSTED, *columns.values(), strict=True):
        grid.add_row(name, *cells, style="bold" if name == "f1q" else "")
    legend = [f"Intervals: {drawn['method']} over {sampled(drawn, Translator(Language.EN))}."]
    legend += drawn["notes"]
    if chance is not None and chance["floor"] is not None:
        comparisons = counted(chance["comparisons"], "comparison")
        if chance["sampled"]:
            error = chance["standard_error"]
            comparisons += ", sampled" + (f"; standard error of f1q: {error:.4f}" if error is not None else "")
        legend.append(
            f"Chance score: predictions compared with the gold of other documents ({comparisons}); "
            "not subtracted from any score."
        )
    if chance is not None and chance["self_agreement"] is not None:
        legend.append(f"Mean quality of two different entries of one gold document: {chance['self_agreement']:.2f}.")
    never = found["coverage"]["never"]
    if never:
        legend.append(f"Never in gold, so not evaluated: {', '.join(map(escape_hidden, never[:MAX_SHOWN]))}.")
    return titled("Confidence intervals", Group(*[grid] * bool(columns), Text("\n".join(legend), style="dim")))


TRUSTED: Final = ("f1q", "imq", "irq", "amq", "quality")


def _bounds(one: Mapping[str, float | None]) -> str:
    return NONE if one["low"] is None else f"{number(one['low'])} to {number(one['high'])}"


def by_path(paths: Mapping[str, PathScores], width: int, average: str = "") -> Iterator[RenderableType]:
    """Yield tables of the scores and the outcomes of every path, nested under parent paths.

    Each table has as many columns as fit without breaking names, and says which are left out.
    """
    most = 1 + sum(width >= least for least in (_MEDIUM_TERMINAL, WIDE_TERMINAL))
    yield titled(f"By path{average}", path_table(paths, width, _COLUMNS, most))
    outcomes = path_table(paths, width, _OUTCOMES, 1 + (width >= WIDE_TERMINAL))
    yield titled(f"Outcomes by path, number of values{average}", outcomes)


def path_table(
    paths: Mapping[str, Scores], width: int, selections: Sequence[Sequence[str]], most: int
) -> RenderableType:
    """Return a table with one row per path, and the last of the first `most` selections of columns that fits."""
    fitting = selections[:most]
    rooms = [width - sum(_room(name) + 3 for name in columns) for columns in fitting]
    shown = max((number for number, room in enumerate(rooms) if fits_unbroken(paths, room)), default=0)
    grid = table("path", *(_HEADINGS.get(name, name) for name in fitting[shown]))
    labels = _labels(grid, paths, rooms[shown])
    for row, label in zip(paths.values(), labels, strict=True):
        grid.add_row(label, *(_path_cell(row, name) for name in fitting[shown]))
    missing = [_HEADINGS.get(name, name).replace("\n", " ") for name in selections[-1] if name not in fitting[shown]]
    return Group(grid, *left_out(missing))


def _room(name: str) -> int:
    """Return the width of a column."""
    heading = max(map(len, _HEADINGS.get(name, name).split("\n")))
    return heading if name in _WHOLE else max(heading, _DIGITS)


def _path_cell(row: Scores, name: str) -> Text:
    if name not in _WHOLE:
        return Text(number(getattr(row, name)), style="bold" if name == "f1q" else "")
    shown = count(getattr(row, name))
    if name == "wrong_type" and isinstance(row, PathScores) and count(row.wrong_type_predicted) != shown:
        shown = f"{shown}/{count(row.wrong_type_predicted)}"
    return Text(shown, style="dim")


def _labels(grid: Table, paths: Iterable[str], room: int) -> list[str]:
    """Return the labels of the first column, and set its width to fit them."""
    labels = list(nested_labels(paths, room))
    lines = [line for label in labels for line in label.split("\n")]
    grid.columns[0].width = min(max(room, _DIGITS), max(map(cell_len, lines), default=1))
    return labels


def survival(curve: Curve) -> RenderableType:
    """Return a table of precision, recall, f1 and pq when only pairs of a minimum quality count."""
    grid = table("quality >=", "precision", "recall", "f1", "pq")
    for threshold in THRESHOLDS:
        point = curve.at(threshold)
        values = (point.precision, point.recall, point.f1, point.pq)
        grid.add_row(f"{threshold:.1f}", *map(number, values))
    return titled("Survival curve: scores at a minimum pair quality", grid)


def published(figures: Mapping[str, float]) -> RenderableType:
    """Return a table of the published scores, which use different formulas."""
    grid = table("published name", "value")
    for name, value in figures.items():
        grid.add_row(name, count(value) if name in {"gold", "predicted", "matched"} else number(value))
    return titled("Scores with the formulas of the published script (imq over gold)", grid)


def signature(found: Signature) -> Text:
    """Return a line with the short signature."""
    return Text(f"signature {found.short}", style="dim")


def shortened(rows: Sequence[Sequence[str]], noun: str) -> RenderableType:
    """Return the first rows and the number of the others; the last column wraps."""
    grid = Table.grid(padding=(0, 2))
    for row in rows[:MAX_SHOWN]:
        grid.add_row(*map(escape_hidden, row))
    more = len(rows) - MAX_SHOWN
    return Group(grid, *[Text(f"... and {more} more {noun}", style="dim")] * (more > 0))


def failures(found: Sequence[Failure], unscored: int) -> RenderableType:
    """Return a table of failed documents with place and reason; `unscored` of them were not scored."""
    rows = [(failure.id or "?", failure.side, _place(failure), failure.reason) for failure in found]
    empty, treatment = len(found) - unscored, "counted as empty predictions"
    if unscored:
        treatment = f"{empty} {treatment}, {unscored} not scored" if empty else "not scored"
    return titled(f"Failures ({len(found)}), {treatment}", shortened(rows, "failures"))


def _place(failure: Failure) -> str:
    line = f":{failure.line}" if failure.line is not None else ""
    pointer = f" {failure.pointer}" if failure.pointer else ""
    return f"{failure.file or ''}{line}{pointer}".strip()


def violations(found: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return a table of schema violations, each with the name of its document if it has an id."""
    named = [[key(one["id"], one["run"])] if "id" in one else [] for one in found]
    rows = [[*name, one["pointer"] or "(the root)", one["message"]] for name, one in zip(named, found, strict=True)]
    if not rows:
        return Text("No schema violations")
    return titled(f"Schema violations ({len(rows)}); the values are compared unchanged", shortened(rows, "violations"))


def explained(plan: Plan, width: int) -> RenderableType:
    """Return a table of how each path is compared, in schema order; marks the list of entries."""
    wide = width >= _READING
    grid = table("path", *["kind"] * wide, "weight", "compared by", left=3 + wide)
    grid.columns[-2].justify = "right"
    first = {row.path: number for number, row in reversed(list(enumerate(plan.rows)))}
    rows = sorted(plan.rows, key=lambda row: [first.get(above, -1) for above in _prefixes(row.path)])
    labels = _labels(grid, [row.path for row in rows], width - (60 if wide else 40))
    for row, label in zip(rows, labels, strict=True):
        compared = [row.distance, row.match and f"{row.match} matching", row.notes and f"compared {row.notes}"]
        compared += [row.alternatives and f"alternatives: {row.alternatives}"]
        text = ", ".join(filter(None, compared)) + (f" after {row.normalize}" if row.normalize else "")
        text = text if wide else ": ".join(filter(None, (row.kind, text)))
        entries = (" entries", "bold green") if row.path == wildcard(plan.entries) else ""
        weight = Text(f"{row.weight:g}", style="dim" if row.weight == 1.0 else "bold")
        grid.add_row(label, *[row.kind] * wide, weight, Text.assemble(text, entries))
    return grid


def _prefixes(path: str) -> Iterator[str]:
    """Yield the paths from the root to this path."""
    parts = path.split("/")
    return ("/".join(parts[:stop]) for stop in range(1, len(parts) + 1))


def headline(tally: Scores, entries: str, before: str) -> Text:
    """Return the first lines of the output: `before`, then the counts of entries."""
    sizes = f"{count(tally.gold)} gold, {count(tally.predicted)} predicted, {count(tally.matched)} matched"
    return Text.assemble((before, "bold"), f"\nentries {entries or '(the whole)'}: {sizes}")


def average(results: Evaluation) -> str:
    """Return the headline score, the per-document mean of f1q, with its interval."""
    drawn = results.trust["intervals"]
    found = drawn["macro"]["f1q"]
    text = f"f1q {number(results.macro.f1q, 2)}, per-document mean (macro)"
    if found["low"] is None:
        return text
    return f"{text}, {drawn['level']:.0%} interval {number(found['low'], 2)} to {number(found['high'], 2)}"


def outside(paths: Mapping[str, Scores], average: str = "") -> RenderableType:
    """Return the f1q of each path outside the entries, worst first."""
    ranked = sorted(paths.items(), key=lambda one: (-1.0 if one[1].f1q is None else one[1].f1q, order(one[0])))
    named = [f"{escape_hidden(path or '(the whole)')} {number(scores.f1q)}" for path, scores in ranked[:MAX_SHOWN]]
    more = [f"and {len(ranked) - MAX_SHOWN} more"] * (len(ranked) > MAX_SHOWN)
    return Text.assemble(
        ("Outside the entries", "bold"),
        f", not counted in the entry scores (f1q{average}): {', '.join((*named, *more))}",
    )


def quality(found: DocumentQuality) -> str:
    """Return a line that summarises document quality."""
    if not found.documents:
        return "document quality: –"
    share = found.at_least(LEAST_SHOWN) or 0.0
    return (
        f"document quality: mean {number(found.mean)}, median {number(found.median)}, "
        f"{LEAST_SHOWN:g} or more in {share:.0%} of documents, exact in {found.exact_match_rate or 0.0:.0%}"
    )


def solidarity(comparison: FlatComparison) -> str:
    """Return a line with the solidarity and the f1q of the flat matching."""
    share = "undefined" if comparison.solidarity is None else number(comparison.solidarity)
    return f"solidarity: {share} (f1q of the leaves without entries: {number(comparison.flat.f1q)})"


def not_scored(reasons: Mapping[str, int]) -> str:
    """Return a line with the number of documents that are not scored, by reason; empty if there are none."""
    listed = "; ".join(f"{number} {escape_hidden(reason)}" for reason, number in reasons.items())
    return f"not scored: {listed}" if listed else ""


def worst(found: DocumentTable) -> str:
    """Return a line that names the worst documents, or an empty text; failed documents are listed elsewhere."""
    ranked = np.argsort(np.where(found.failed, np.inf, found.qualities), kind="stable")[:WORST].tolist()
    named = [
        f"{escape_hidden(one.key)} {number(one.quality)}"
        for one in found.at(ranked)
        if len(found) > 1 and not one.failed and one.quality < 1.0
    ]
    return f"worst {'document' if len(named) == 1 else 'documents'}: {', '.join(named)}" if named else ""


WORST: Final = 3
"""Number of documents to name."""

LEAST_SHOWN: Final = 0.9
"""Quality threshold for the share of good documents."""


def evaluation(
    results: Evaluation,
    width: int,
    violated: Sequence[Mapping[str, Any]] | None = None,
    more: Iterable[RenderableType] = (),
    *,
    forced: bool,
) -> Iterator[RenderableType]:
    """Yield the blocks of an evaluation, with the schema violations if they were computed, and further blocks.

    `forced` as in `scores`.
    """
    macro = results.macro
    vacuous = f", {macro.vacuous} vacuous" if macro.vacuous else ""
    documents = f"{counted(len(results.documents), 'document')}, {macro.failed} failed{vacuous}"
    flat = results.flat_comparison
    gold = escape_hidden(results.provenance.headline())
    lines = (
        not_scored(results.not_scored),
        *(gold, quality(results.document_quality), worst(results.document_table)),
        "" if flat is None else solidarity(flat),
    )
    summary = "".join(f"\n{line}" for line in lines if line)
    documents += f"\n{average(results)}"
    yield headline(results.micro, results.entries, documents).append(summary)
    columns: dict[str, ScoreColumn] = {"Per-document\nmean (macro)": macro, "docs in\nmean": macro.documents}
    yield scores(columns | {"Pooled\n(micro)": results.micro, "leaves,\npooled": results.leaves}, width, forced=forced)
    if results.outside:
        yield outside(results.outside, ", pooled (micro)")
    yield intervals(results.trust)
    yield from by_path(results.by_path, width, f": {AVERAGES['micro']}")
    if results.curve.qualities.size:
        yield survival(results.curve)
    if results.failures:
        yield failures(results.failures, results.unscored)
    if results.without_gold:
        rows = [(name,) for name in results.without_gold]
        yield titled(f"Predictions without gold ({len(rows)}), not scored", shortened(rows, "predictions"))
    if violated is not None:
        yield violations(violated)
    yield from more
    yield signature(results.signature)
