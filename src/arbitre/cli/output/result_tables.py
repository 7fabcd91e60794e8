"""Results as tables for a terminal of any width; all meaning is in the words, colours only repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from arbitre.cli.output.console import titled
from arbitre.cli.output.path_labels import escape_hidden, fits_unbroken, nested_labels
from arbitre.corpus.results.evaluation import THRESHOLDS
from arbitre.paths import order, wildcard
from arbitre.report.html.language import Language, Translator
from arbitre.report.html.wording import sampled
from arbitre.report.tables.summaries import AVERAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.corpus.reading.options import Failure
    from arbitre.corpus.results.document_quality import DocumentQuality
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.curve import Curve
    from arbitre.schema.plan import Plan
    from arbitre.schema.validation.validate import Violation
    from arbitre.signature import Signature
    from arbitre.tally import MacroScores, Scores

    ScoreColumn = Scores | MacroScores | Mapping[str, int]

READINGS: Final = {
    "f1q": "the headline: imq and irq in one",
    "imq": "graded precision: spurious costs",
    "irq": "graded recall: missing costs",
    "amq": "mean quality of the matched pairs",
    "omq": "harmonic mean of P, R and amq",
    "omq_imq": "harmonic mean of imq, R and amq",
    "quality": "right, over all that is asserted",
    "variance": "how uneven the pairs are; 0 is even",
    "precision": "biased: every pair counts as found",
    "recall": "biased: every pair counts as found",
    "f1": "biased: every pair counts as found",
}
BIASED: Final = frozenset({"precision", "recall", "f1"})
SECONDARY: Final = BIASED | {"omq", "omq_imq", "variance"}

MAX_SHOWN: Final = 10
"""So many failures, or violations, are shown; the others are counted."""

WIDE_TERMINAL: Final = 80
_MEDIUM_TERMINAL: Final = 70
_READING: Final = 100
_DIGITS: Final = 6

_COLUMNS: Final = (
    (("gold",), ("imq", "irq", "f1q")),
    (("gold", "predicted"), ("imq", "irq", "f1q")),
    (("gold", "predicted", "matched"), ("imq", "irq", "f1q", "amq")),
)
"""Counts and scores of a path on narrow, medium and wide terminals."""


def number(value: float | None) -> str:
    """Four decimals; a dash where a score has no value."""
    return "–" if value is None else f"{value:.4f}"


def count(value: float | None) -> str:
    """A count, or a mass that need not be whole."""
    return "–" if value is None else f"{value:g}" if float(value).is_integer() else f"{value:.2f}"


def table(*columns: str, left: int = 1) -> Table:
    """An empty table: the first columns hold text, the others numbers."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for position, name in enumerate(columns):
        text = position < left
        made.add_column(name, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return made


def scores(columns: Mapping[str, ScoreColumn], width: int) -> RenderableType:
    """Every score, a column for each tally, or for the numbers of documents in each mean."""
    reading = width >= _READING
    made = table("score", *columns)
    if reading:
        made.add_column("what it says", style="dim")
    for name, text in READINGS.items():
        label = f"{name} (biased)" if name in BIASED else name
        cells = [
            Text(str(column[name]), style="dim") if isinstance(column, Mapping) else number(getattr(column, name))
            for column in columns.values()
        ]
        style = "dim" if name in SECONDARY else "bold" if name == "f1q" else ""
        made.add_row(label, *cells, *[text] * reading, style=style)
    return made


def intervals(found: Mapping[str, Any]) -> RenderableType:
    """Intervals of the scores, and what chance alone scores, as `Evaluation.trust` has them."""
    drawn, chance = found["intervals"], found["chance"]
    level = f"{drawn['level']:.0%}"
    made = table("score", f"Pooled\n(micro), {level}", f"Per-document mean\n(macro), {level}", "by chance,\npooled")
    floor = (chance or {}).get("floor") or {}
    for name in TRUSTED:
        made.add_row(
            name,
            *(_bounds(drawn[average][name]) for average in ("micro", "macro")),
            Text(number(floor.get(name)), style="dim"),
            style="bold" if name == "f1q" else "",
        )
    told = [f"Intervals ({drawn['method']}) over {sampled(drawn, Translator(Language.EN))}."]
    told += drawn["notes"]
    if chance is not None and chance["floor"] is not None:
        told.append(
            f"By chance: predictions matched with other documents' gold ({chance['comparisons']}"
            f"{' drawn' if chance['sampled'] else ''}); never subtracted."
        )
    if chance is not None and chance["self_agreement"] is not None:
        told.append(f"Two different entries of one gold document are {chance['self_agreement']:.2f} alike on average.")
    never = found["coverage"]["never"]
    if never:
        told.append(f"Never in gold, so nothing is said of them: {', '.join(map(escape_hidden, never[:MAX_SHOWN]))}.")
    return titled("How far to trust it", Group(made, Text("\n".join(told), style="dim")))


TRUSTED: Final = ("f1q", "imq", "irq", "amq", "quality")


def _bounds(one: Mapping[str, float | None]) -> str:
    return "–" if one["low"] is None else f"{number(one['low'])} to {number(one['high'])}"


def by_path(paths: Mapping[str, Scores], width: int, average: str = "") -> RenderableType:
    """The scores of every path; a path below one that is listed is shown without what they share.

    There are as many columns as leave names whole.
    """
    fitting = _COLUMNS[: 1 + sum(width >= least for least in (_MEDIUM_TERMINAL, WIDE_TERMINAL))]
    rooms = [width - sum(len(name) + 3 for name in counts) - len(graded) * (_DIGITS + 3) for counts, graded in fitting]
    shown = max((number for number, room in enumerate(rooms) if fits_unbroken(paths, room)), default=0)
    counts, graded = fitting[shown]
    made = table("path", *counts, *graded)
    labels = _labels(made, paths, rooms[shown])
    for row, label in zip(paths.values(), labels, strict=True):
        masses = (Text(count(getattr(row, name)), style="dim") for name in counts)
        values = (Text(number(getattr(row, name)), style="bold" if name == "f1q" else "") for name in graded)
        made.add_row(label, *masses, *values)
    return titled(f"By path{average}", made)


def _labels(made: Table, paths: Iterable[str], room: int) -> list[str]:
    """The labels of the first column, which is made as wide as they are."""
    labels = list(nested_labels(paths, room))
    lines = [line for label in labels for line in label.split("\n")]
    made.columns[0].width = min(max(room, _DIGITS), max(map(cell_len, lines), default=1))
    return labels


def survival(curve: Curve) -> RenderableType:
    """What is found when only pairs of at least some quality count."""
    made = table("quality from", "precision", "recall", "f1", "pq")
    for threshold in THRESHOLDS:
        point = curve.at(threshold)
        values = (point.precision, point.recall, point.f1, point.pq)
        made.add_row(f"{threshold:.1f}", *map(number, values))
    return titled("Survival curve: what is found, if pairs must be this good", made)


def published(figures: Mapping[str, float]) -> RenderableType:
    """The published figures, which go by other formulas."""
    made = table("published as", "value")
    for name, value in figures.items():
        made.add_row(name, count(value) if name in {"gold", "predicted", "matched"} else number(value))
    return titled("As the published script computes them (imq over gold)", made)


def signature(found: Signature) -> Text:
    """The identity of the measurement, in short."""
    return Text(f"signature {found.short}", style="dim")


def shortened(rows: Sequence[Sequence[str]], noun: str) -> RenderableType:
    """The first few rows, the last column wrapped, and how many more there are."""
    made = Table.grid(padding=(0, 2))
    for row in rows[:MAX_SHOWN]:
        made.add_row(*map(escape_hidden, row))
    more = len(rows) - MAX_SHOWN
    return Group(made, *[Text(f"... and {more} more {noun}", style="dim")] * (more > 0))


def failures(found: Sequence[Failure], unscored: int) -> RenderableType:
    """Which documents failed, where, and why; `unscored` are so many of them."""
    rows = [(failure.id or "?", failure.side, _place(failure), failure.reason) for failure in found]
    empty, what = len(found) - unscored, "counted as empty predictions"
    if unscored:
        what = f"{empty} {what}, {unscored} not scored" if empty else "not scored"
    return titled(f"Failures ({len(found)}), {what}", shortened(rows, "failures"))


def _place(failure: Failure) -> str:
    line = f":{failure.line}" if failure.line is not None else ""
    pointer = f" {failure.pointer}" if failure.pointer else ""
    return f"{failure.file or ''}{line}{pointer}".strip()


def violations(found: Sequence[tuple[str, Violation]]) -> RenderableType:
    """What predictions violate of the schema; each with the name of its document, or with none."""
    rows = [[*[name] * bool(name), one.pointer or "(the root)", one.message] for name, one in found]
    if not rows:
        return Text("No violation of the schema")
    return titled(f"Violations of the schema ({len(rows)}), compared as they stand", shortened(rows, "violations"))


def explained(plan: Plan, width: int) -> RenderableType:
    """What was resolved for every path of the schema, in the order of the schema; the list of entries is marked."""
    wide = width >= _READING
    made = table("path", *["kind"] * wide, "weight", "compared by", left=3 + wide)
    made.columns[-2].justify = "right"
    first = {row.path: number for number, row in reversed(list(enumerate(plan.rows)))}
    rows = sorted(plan.rows, key=lambda row: [first.get(above, -1) for above in _prefixes(row.path)])
    labels = _labels(made, [row.path for row in rows], width - (60 if wide else 40))
    for row, label in zip(rows, labels, strict=True):
        compared = [row.distance, row.match and f"{row.match} matching", row.notes and f"compared {row.notes}"]
        text = ", ".join(filter(None, compared)) + (f" after {row.normalize}" if row.normalize else "")
        text = text if wide else ": ".join(filter(None, (row.kind, text)))
        entries = (" entries", "bold green") if row.path == wildcard(plan.entries) else ""
        weight = Text(f"{row.weight:g}", style="dim" if row.weight == 1.0 else "bold")
        made.add_row(label, *[row.kind] * wide, weight, Text.assemble(text, entries))
    return made


def _prefixes(path: str) -> Iterator[str]:
    """The paths from the root to this one."""
    parts = path.split("/")
    return ("/".join(parts[:stop]) for stop in range(1, len(parts) + 1))


def headline(tally: Scores, entries: str, before: str) -> Text:
    """What was counted, in one sentence."""
    sizes = f"{count(tally.gold)} gold, {count(tally.predicted)} predicted, {count(tally.matched)} matched"
    return Text.assemble((before, "bold"), f"\nentries {entries or '(the whole)'}: {sizes}")


def outside(paths: Mapping[str, Scores], average: str = "") -> RenderableType:
    """The paths outside the entries, the worst first, each with its f1q."""
    ranked = sorted(paths.items(), key=lambda one: (-1.0 if one[1].f1q is None else one[1].f1q, order(one[0])))
    named = [f"{escape_hidden(path or '(the whole)')} {number(scores.f1q)}" for path, scores in ranked[:MAX_SHOWN]]
    more = [f"and {len(ranked) - MAX_SHOWN} more"] * (len(ranked) > MAX_SHOWN)
    return Text.assemble(
        ("Outside the entries", "bold"), f", not in their scores (f1q{average}): {', '.join((*named, *more))}"
    )


def quality(found: DocumentQuality) -> str:
    """The quality of whole documents, in one line."""
    if not found.documents:
        return "document quality: –"
    share = found.at_least(LEAST_SHOWN) or 0.0
    return (
        f"document quality: mean {number(found.mean)}, median {number(found.median)}, "
        f"{LEAST_SHOWN:g} or more in {share:.0%} of documents"
    )


LEAST_SHOWN: Final = 0.9
"""The share of documents of at least this quality is shown."""


def evaluation(
    found: Evaluation, width: int, violated: Sequence[tuple[str, Violation]] | None = None
) -> Iterator[RenderableType]:
    """A whole evaluation, block by block; with the violations of the schema, where these are known."""
    macro = found.macro
    vacuous = f", {macro.vacuous} vacuous" if macro.vacuous else ""
    documents = f"{len(found.documents)} documents, {macro.failed} failed{vacuous}"
    yield headline(found.micro, found.entries, documents).append(f"\n{quality(found.document_quality)}")
    columns: dict[str, ScoreColumn] = {"Pooled\n(micro)": found.micro, "Per-document\nmean (macro)": macro}
    yield scores(columns | {"in the\nmean": macro.documents, "leaves,\npooled": found.leaves}, width)
    if found.outside:
        yield outside(found.outside, ", pooled (micro)")
    yield intervals(found.trust)
    yield by_path(found.by_path, width, f": {AVERAGES['micro']}")
    yield survival(found.curve)
    if found.failures:
        yield failures(found.failures, found.unscored)
    if found.without_gold:
        rows = [(name,) for name in found.without_gold]
        yield titled(f"Predictions without gold ({len(rows)}), not scored", shortened(rows, "predictions"))
    if violated is not None:
        yield violations(violated)
    yield signature(found.signature)
