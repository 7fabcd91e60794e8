"""Results as tables for terminals of any width; colours carry no information of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.text import Text

from arbitre.cli.output.console import titled
from arbitre.comparison import tables
from arbitre.corpus import tables as corpus_tables
from arbitre.corpus.evaluation import THRESHOLDS
from arbitre.corpus.tables import AVERAGES
from arbitre.language import ENGLISH, counted, percentage
from arbitre.paths import order
from arbitre.tables.table import NONE, WHOLE
from arbitre.tables.table import count as written_count
from arbitre.tables.terminal import MAX_SHOWN, escape_hidden, render, table_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from arbitre.classification import ClassAverages, Classification, Confusion
    from arbitre.comparison.flat import FlatComparison
    from arbitre.corpus.documents import DocumentQuality, DocumentTable
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.diagnosis.corpus_diagnosis import CorpusDiagnosis
    from arbitre.signature import Signature
    from arbitre.tally import PathScores, Scores


def number(value: float | None, digits: int = 4) -> str:
    """Format a score with four decimals, or fewer on a first screen, or None as a dash."""
    return NONE if value is None else f"{value:z.{digits}f}"


def count(value: float | None) -> str:
    """Format a count, or a fractional mass with two decimals, or None as a dash."""
    return NONE if value is None else written_count(value)


def scores(found: Mapping[str, tables.ScoreColumn], width: int, *, forced: bool) -> RenderableType:
    """Return a table of all scores, or a sentence if there are none. `forced` as in `arbitre.comparison.tables`."""
    tallies = [column for column in found.values() if not isinstance(column, Mapping)]
    if all(getattr(column, name) is None for column in tallies for name in tables.MEANINGS):
        return Text("No scores: neither gold nor the predictions have entries.")
    return render(tables.scores(found, forced=forced), width, ways="Use a wider terminal.")


def intervals(found: Mapping[str, Any], width: int) -> RenderableType:
    """Return a table of confidence intervals and chance scores from `Evaluation.trust`, with an explanation."""
    from arbitre.report.statistics_text import sampled  # noqa: PLC0415  (single comparisons do not need it)

    drawn, chance = found["intervals"], found["chance"]
    legend = [f"Intervals: {drawn['method']} over {sampled(drawn, ENGLISH)}."]
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
        legend.append(f"Never in gold, so not evaluated: {', '.join(never[:MAX_SHOWN])}.")
    table = corpus_tables.intervals(found)
    if len(table.columns) == 1:
        return titled(table.title, Text("\n".join(map(escape_hidden, legend)), style="dim"))
    return render(replace(table, notes=tuple(legend)), width)


def by_path(paths: Mapping[str, PathScores], width: int, average: str = "") -> Iterator[RenderableType]:
    """Yield tables of the scores and the outcomes of every path, nested under parent paths."""
    yield render(tables.paths(paths, average), width)
    yield render(tables.outcomes(paths, average), width)
    if any(row.absent for row in paths.values()):
        yield render(tables.absent_fields(paths), width, most=MAX_SHOWN)


def faults(diagnosis: CorpusDiagnosis, signature: Signature, width: int) -> Iterator[RenderableType]:
    """Yield tables of the most costly faults of a corpus and of the evidence for them."""
    if not diagnosis.faults:
        yield Text("No faults")
        return
    yield render(corpus_tables.faults(diagnosis, signature), width, most=MAX_SHOWN)
    if diagnosis.doubtful:
        keys = [one.key for one in diagnosis.doubtful]
        yield render(tables.doubtful(diagnosis.doubtful, keys, diagnosis.doubtful_count), width, most=MAX_SHOWN)
    if diagnosis.source is not None:
        yield render(corpus_tables.in_source(diagnosis.source), width, most=MAX_SHOWN)
    missing = corpus_tables.missing_groups(diagnosis.missing_groups)
    if missing.size:
        yield render(missing, width, most=MAX_SHOWN)
    lines = [
        f"{escape_hidden(row.path)}: {row.in_neighbours} of {counted(row.spurious, 'spurious value')}"
        for row in diagnosis.neighbours
        if row.in_neighbours
    ]
    if lines:
        yield titled("Found in the gold of the previous or next document", Text("\n".join(lines)))


def diagnosis(results: Evaluation, width: int) -> Iterator[RenderableType]:
    """Yield the causes of the faults with the largest gains, and the tables of faults if they were listed."""
    if results.cause_factory is not None:
        yield from causes(results, width)
    if results.diagnosis is not None:
        yield from faults(results.diagnosis, results.signature, width)


def causes(results: Evaluation, width: int) -> Iterator[RenderableType]:
    """Yield the causes of the faults with the largest gains."""
    if results.causes:
        table = corpus_tables.causes(results.cause_analysis, results.entries, results.signature)
        yield render(table, width, most=MAX_SHOWN, rest="more cause(s)")


def flat(comparison: FlatComparison, width: int) -> Iterator[RenderableType]:
    """Yield the flat scores and a table of the flat scores and the solidarity of each path."""
    total = comparison.flat
    counts = f"{count(total.gold)} gold, {count(total.predicted)} predicted, {count(total.matched)} matched"
    scores = ", ".join(f"{name} {number(getattr(total, name))}" for name in ("f1q", "imq", "irq"))
    yield Text.assemble(
        (f"Flat f1q {number(total.f1q)}, solidarity {number(comparison.solidarity)}", "bold"),
        f" (by chance {number(comparison.solidarity_chance)})",
        f"\nleaves: {counts}; {scores}",
    )
    yield render(tables.flat(comparison), width)


def signature(found: Signature) -> Text:
    """Return a line with the short signature."""
    return Text(f"signature {found.short}", style="dim")


def violations(found: Sequence[Mapping[str, Any]], width: int) -> RenderableType:
    """Return a table of schema violations, each with the name of its document if it has an id."""
    if not found:
        return Text("No schema violations")
    return render(corpus_tables.violations(found), width, most=MAX_SHOWN, rest="more violation(s)")


def headline(tally: Scores, entries: str, before: str) -> Text:
    """Return the first lines of the output: `before`, then the counts of entries, and what both mean."""
    sizes = f"{count(tally.gold)} gold, {count(tally.predicted)} predicted, {count(tally.matched)} matched"
    what = f"the items of {entries}" if entries else "the items or fields of the document"
    meaning = f"Scores range from 0 to 1. f1q measures how correct and complete the entries are, here {what}."
    return Text.assemble((before, "bold"), f"\nentries {entries or WHOLE}: {sizes}\n", (meaning, "dim"))


def average(results: Evaluation) -> str:
    """Return the headline score, the per-document mean of f1q, with its interval."""
    drawn = results.trust["intervals"]
    found = drawn["macro"]["f1q"]
    text = f"f1q {number(results.macro.f1q, 2)}, per-document mean (macro)"
    if found["low"] is None:
        return text
    return f"{text}, {ENGLISH.level(drawn['level'])} interval {number(found['low'], 2)} to {number(found['high'], 2)}"


def outside(paths: Mapping[str, Scores], average: str = "") -> RenderableType:
    """Return the f1q of each path outside the entries, worst first."""
    ranked = sorted(paths.items(), key=lambda one: (-1.0 if one[1].f1q is None else one[1].f1q, order(one[0])))
    named = [f"{escape_hidden(path or WHOLE)} {number(scores.f1q)}" for path, scores in ranked[:MAX_SHOWN]]
    more = [f"and {len(ranked) - MAX_SHOWN} more"] * (len(ranked) > MAX_SHOWN)
    return Text.assemble(
        ("Outside the entries", "bold"),
        f", not counted in the entry scores (f1q{average}): {', '.join((*named, *more))}",
    )


def quality(found: DocumentQuality) -> str:
    """Return a line that summarises document quality."""
    if not found.documents:
        return "document quality: –"
    share, exact = found.at_least(LEAST_SHOWN) or 0.0, found.exact_match_rate or 0.0
    return (
        f"document quality: mean {number(found.mean)}, median {number(found.median)}, "
        f"{LEAST_SHOWN:g} or more in {percentage(share)} of documents, exact in {percentage(exact)}"
    )


def solidarity(comparison: FlatComparison) -> str:
    """Return a line with the solidarity and the f1q of the flat matching."""
    share = "undefined" if comparison.solidarity is None else number(comparison.solidarity)
    chance = "unknown" if comparison.solidarity_chance is None else number(comparison.solidarity_chance)
    flat_f1q = number(comparison.flat.f1q)
    return f"solidarity (values in right entry): {share}, by chance {chance}; f1q ignoring entries {flat_f1q}"


def not_scored(reasons: Mapping[str, int]) -> str:
    """Return a line with the number of documents that are not scored, by reason; empty if there are none."""
    parts = [(number, *reason.partition(" without ")) for reason, number in reasons.items()]
    listed = "; ".join(f"{counted(number, noun)}{without}{what}" for number, noun, without, what in parts)
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
    columns: dict[str, tables.ScoreColumn] = {"Per-document\nmean (macro)": macro, "docs in\nmean": macro.documents}
    yield scores(columns | {"Pooled\n(micro)": results.micro, "leaves,\npooled": results.leaves}, width, forced=forced)
    if results.outside:
        yield outside(results.outside, ", pooled (micro)")
    yield intervals(results.trust, width)
    yield from by_path(results.by_path, width, f": {AVERAGES['micro']}")
    if results.curve.qualities.size:
        yield render(tables.survival(results.curve, THRESHOLDS), width)
    if results.failures:
        yield render(
            corpus_tables.failures(results.failures, results.unscored), width, most=MAX_SHOWN, rest="more failure(s)"
        )
    if results.without_gold:
        table = corpus_tables.names(results.without_gold, "Predictions without gold ({}), not scored")
        yield render(table, width, most=MAX_SHOWN, rest="more prediction(s)")
    if violated is not None:
        yield violations(violated, width)
    yield from more
    yield signature(results.signature)


_MATCHED: Final = {
    "key": "items matched by their key",
    "position": "items matched by their position",
    "other fields": "items matched by their other fields, without looking at these values",
    "all fields": "items matched by all fields, because the others do not identify them: upper bounds",
    "these values": "items matched by these values: upper bounds",
}

_SHOWN_CLASSES: Final = 12
"""Maximum number of classes of a confusion matrix in a terminal."""


def classification(path: str, classes: Classification, evaluation: Evaluation, width: int) -> Iterator[RenderableType]:
    """Yield the scores of the classes of the values at a path, their confusion matrix and their meaning.

    Args:
        path: The path.
        classes: The classes.
        evaluation: The results of the corpus, for its exact matches.
        width: Width of the terminal.
    """
    from arbitre.classification import class_table  # noqa: PLC0415  (only `--classification` needs it)

    yield render(class_table(classes, f"Classes at {path or WHOLE}: accuracy {number(classes.accuracy)}"), width)
    if classes.matched_by is not None:
        yield Text(_MATCHED[classes.matched_by], style="dim")
    yield confusion(classes.confusion, width)
    yield readings(classes)
    entries = evaluation.by_path.get(f"{evaluation.entries}/*")
    rates = {"documents": evaluation.document_quality.exact_match_rate}
    rates |= {} if entries is None else {"entries": entries.exact_match_rate}
    shown = ", ".join(f"{number(rate)} of the {name}" for name, rate in rates.items())
    yield Text(f"exact match, all compared fields right: {shown}")


def confusion(matrix: Confusion, width: int) -> RenderableType:
    """Return the confusion matrix, or how to get it if it is too large for the terminal."""
    from arbitre.classification import confusion_table  # noqa: PLC0415  (only `--classification` needs it)

    table = confusion_table(matrix)
    if table.size - 1 > _SHOWN_CLASSES or table_width(table) > width:
        return Text(f"{table.title}: too wide for this terminal, see --format json.", style="dim")
    return render(table, width)


def readings(classes: ClassAverages) -> RenderableType:
    """Return the sentences that interpret the scores of the classes."""
    return Text("\n".join(map(escape_hidden, classes.readings())))
