"""Tables of a corpus, for papers and terminals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from arbitre import statistics
from arbitre.comparison.tables import faults as fault_table
from arbitre.comparison.tables import gains
from arbitre.corpus.documents import document_frame, path_frame
from arbitre.corpus.quality_bounds import QUALITY
from arbitre.inputs.records import key
from arbitre.language import ENGLISH, Translator, counted
from arbitre.statistics.sample import cluster_labels
from arbitre.tables.table import SCORE, SHARE, WHOLE, Table, TableColumn, columns, count, probability, unknown_column
from arbitre.tally import COUNTS, NAMES, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.comparison.cause import CauseAnalysis
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.diagnosis.corpus_diagnosis import CorpusDiagnosis
    from arbitre.diagnosis.evidence import MissingGroup, SourceEvidence
    from arbitre.inputs.records import Failure
    from arbitre.signature import Signature
    from arbitre.statistics.sample import Cluster
    from arbitre.tables.arrow import Frame
    from arbitre.tables.table import Emphasis

ROWS: Final = ("documents", "paths", "scores", "groups", "matches", "faults")
MAX_PATHS: Final = 2
"""Number of paths of a cause to name."""
CAUSE_FIGURES: Final = (
    "Gain: increase in pooled f1q if the change is made or the faults are corrected; gains do not add up. Cost: "
    "decrease in f1q due to the cause, after the changes of the causes found before it; all costs add up to 1 - f1q."
)
"""Explanation of the figures of a cause."""
SHOWN: Final = ("f1q", "imq", "irq", "amq")
PATHS_SHOWN: Final = (*SHOWN, "exact_match_rate", "exact", "close", "wrong", "wrong_type", "missing", "spurious")
DOCUMENT_QUALITY: Final = ("document quality", SCORE, QUALITY)
"""Header, format and key of the column of document quality."""
AVERAGES: Final = {"micro": "Pooled (micro)", "macro": "Per-document mean (macro)"}
"""Labels of the two averages of a corpus."""


class ExportTable(NamedTuple):
    """Rows of a result as a formatted table, and as columns with all figures, both built on demand."""

    table: Callable[[], Table]
    frame: Callable[[], Frame]

    @classmethod
    def of(cls, table: Table) -> Self:
        """Wrap a table that already shows all figures."""
        return cls(lambda: table, lambda: table)


def export_tables(evaluation: Evaluation, scores: Sequence[str] = ()) -> dict[str, ExportTable]:
    """Return the tables of a corpus by name.

    Formatted tables show `scores`; frames contain all scores. There is a table `groups` if the evaluation has clusters,
    and a table `faults`, the faults by path and class, if it has a diagnosis.
    """
    found = {
        "documents": ExportTable(
            lambda: documents(evaluation, scores),
            lambda: document_frame(evaluation.document_table, evaluation.signature),
        ),
        "paths": ExportTable(
            lambda: paths(evaluation, scores or PATHS_SHOWN),
            lambda: path_frame(evaluation.by_path, evaluation.signature),
        ),
        "scores": ExportTable.of(means(evaluation)),
    }
    if (by := evaluation.clusters) is not None:
        found["groups"] = ExportTable(
            lambda: by_cluster(evaluation, by, scores or SHOWN), lambda: by_cluster(evaluation, by, NAMES)
        )
    if evaluation.diagnosis is not None:
        found["faults"] = ExportTable.of(faults(evaluation.diagnosis, evaluation.signature))
    return found


def faults(diagnosis: CorpusDiagnosis, signature: Signature) -> Table:
    """Return the faults by path and class, the most costly first, and what their repair would gain."""
    rows = [(group.path, group.fault, group.count, group.cost, group.share) for group in diagnosis.faults]
    note = "Cost: decrease in pooled f1q; all costs add up to 1 - f1q."
    gained = gains(diagnosis.repair_gain, diagnosis.repair_gain_by_path)
    return fault_table(rows, (note, *gained), signature.short)


def causes(analysis: CauseAnalysis, entries: str, signature: Signature) -> Table:
    """Return the causes of the faults, largest gain first. Paths below the path `entries` are relative to an entry."""
    head = (
        TableColumn("cause", said=Translator.cause),
        TableColumn("path", kind="lines", said=Translator.text),
        *columns("faults", written=count),
        *columns("cost", "gain", written=SCORE),
        TableColumn("what to do", least=24, said=Translator.text),
    )
    rows = [
        (cause.kind, some_paths(cause.paths, entries), cause.count, cause.cost, cause.gain, cause.advice)
        for cause in analysis.causes
    ]
    marks: dict[int, Emphasis] = {at: "weak" for at, cause in enumerate(analysis.causes) if not cause.systematic}
    notes = [*analysis.notes, CAUSE_FIGURES, *entry_note([row[1] for row in rows], entries)]
    title = f"Causes in {counted(analysis.documents, 'document')}, f1q {SCORE(analysis.f1q or 0.0)}"
    return Table.of(title, head, rows, signature=signature.short, notes=tuple(notes), emphasis=marks)


def entry_note(shown: Iterable[str], entries: str) -> tuple[str, ...]:
    """Return the explanation of "…" as a tuple; empty if no path that `some_paths` returned begins with it."""
    return (f"…: {entries}/*",) * any(line.startswith("…/") for paths in shown for line in paths.splitlines())


def some_paths(paths: Sequence[str], entries: str) -> str:
    """Return the first paths of a cause, one per line; "…" stands for the path of an entry.

    >>> print(some_paths(["/people/*/name", "/people/*", "/date"], "/people"))
    …/name
    /people/*
    and 1 more
    """
    entry = f"{entries}/*/"
    shown = [f"…/{path.removeprefix(entry)}" if path.startswith(entry) else path or WHOLE for path in paths[:MAX_PATHS]]
    return "\n".join([*shown, *([f"and {len(paths) - MAX_PATHS} more"] if len(paths) > MAX_PATHS else [])])


def in_source(evidence: SourceEvidence) -> Table:
    """Return the number of missing and spurious values that occur in the source texts."""
    head = (
        *(TableColumn("path", kind="path"), TableColumn("fault", said=Translator.verdict)),
        *columns("number", "in source", "not in source", written=count),
    )
    rows = [
        (row.path, row.fault, row.in_source + row.not_in_source, row.in_source, row.not_in_source)
        for row in evidence.counts
    ]
    notes = [
        "Missing and in the source: the model left the value out. Not in the source: its text did not contain it.",
        "Spurious and in the source: the model misplaced the value. Not in the source: the value has no basis in it.",
    ]
    if evidence.without_text:
        notes.append(f"{counted(evidence.without_text, 'document')} without a source text, not counted.")
    return Table.of("Missing and spurious values in the source texts", head, rows, notes=tuple(notes))


def missing_groups(rows: Iterable[MissingGroup]) -> Table:
    """Return the tested groups of values, first those whose share of missing values differs most from the others'."""
    tested = sorted((row for row in rows if row.p is not None), key=lambda row: row.p or 0.0)
    head = (
        *(TableColumn("path", kind="path"), TableColumn("group", said=Translator.text)),
        *columns("gold", "missing", written=count),
        *columns("of gold", "of missing", written=SHARE),
        *columns("p", "p (adjusted)", written=probability),
    )
    cells = [
        (
            *(row.path, f"{row.property} {row.group}", row.gold, row.missing),
            *(row.gold_share, row.missing_share, row.p, row.p_adjusted),
        )
        for row in tested
    ]
    note = "p: Fisher's exact test of the group against the other values of the path; adjusted for the number of tests."
    return Table.of("Where values are missing", head, cells, notes=(note,))


def intervals(trust: Mapping[str, Any]) -> Table:
    """Return the intervals and the chance scores of `Evaluation.trust`, without columns of missing values."""
    drawn, floor = trust["intervals"], (trust["chance"] or {}).get("floor") or {}
    found = {
        TableColumn(f"{average}\n{end}", SCORE): [drawn[average][name][end] for name in TRUSTED]
        for average in ("macro", "micro")
        for end in ("low", "high")
    }
    found[TableColumn("chance score,\npooled", SCORE, drop=1)] = [floor.get(name) for name in TRUSTED]
    kept = {column: cells for column, cells in found.items() if set(cells) != {None}}
    rows = zip(TRUSTED, *kept.values(), strict=True)
    head = (TableColumn("score", said=Translator.score), *kept)
    title = f"Confidence intervals, {ENGLISH.level(drawn['level'])}"
    return Table.of(title, head, rows, emphasis={TRUSTED.index("f1q"): "strong"})


TRUSTED: Final = ("f1q", "imq", "irq", "amq", "quality")
"""Scores that have an interval."""


def documents(evaluation: Evaluation, scores: Sequence[str] = ()) -> Table:
    """Return the entry scores of every document; by default document quality and the usual scores."""
    rows: dict[str, dict[str, float | None]] = {
        one.key: {QUALITY: one.quality, **one.scores.to_dict()} for one in evaluation.documents
    }
    made = figures(rows, scores or (QUALITY, *SHOWN), name="document", counts=COUNTS[:3])
    head = tuple(TableColumn(*DOCUMENT_QUALITY) if one.name == QUALITY else one for one in made.columns)
    return replace(made, columns=head, signature=evaluation.signature.short)


def paths(evaluation: Evaluation, scores: Sequence[str] = PATHS_SHOWN) -> Table:
    """Return the pooled scores and outcomes of every wildcard path."""
    rows = {path or WHOLE: one.to_dict() for path, one in evaluation.by_path.items()}
    made = figures(rows, scores, name="path", counts=COUNTS[:3])
    return replace(made, title=f"By path: {AVERAGES['micro']}", signature=evaluation.signature.short)


def means(evaluation: Evaluation) -> Table:
    """Return every score, pooled and averaged over documents, with the number of documents in the mean."""
    micro, macro = evaluation.micro, evaluation.macro
    head = (
        TableColumn("score", said=Translator.score),
        TableColumn(AVERAGES["micro"], SCORE, "micro"),
        TableColumn(AVERAGES["macro"], SCORE, "macro"),
        TableColumn("documents", count),
    )
    rows = [(name, getattr(micro, name), getattr(macro, name), macro.documents[name]) for name in NAMES]
    quality = evaluation.document_quality
    rows.append((QUALITY, None, quality.mean, quality.documents))
    return Table.of("Scores", head, rows, evaluation.signature.short)


def by_cluster(evaluation: Evaluation, by: Cluster, scores: Sequence[str] = SHOWN, *, name: str = "group") -> Table:
    """Return mean scores of clusters of documents; `by` is the same as `cluster` of `Evaluation.interval`."""
    found = evaluation.document_table
    marks = cluster_labels(found.ids, by) or ["all"] * len(found)
    of = np.array(marks, dtype=np.object_)
    rows = {}
    for mark in sorted(set(marks)):
        here = of == mark
        averages = statistics.means(found.entries.floats(rows=here), found.failed[here])
        rows[mark] = averages.to_dict() | {"documents": int(here.sum())}
    made = figures(rows, scores, name=name, counts=("documents",))
    return replace(made, title=f"By {name}: {AVERAGES['macro']}", signature=evaluation.signature.short)


def figures(
    rows: Mapping[str, Mapping[str, float | None]],
    scores: Sequence[str],
    *,
    name: str = "document",
    counts: Sequence[str] = (),
) -> Table:
    """Return a table of named rows of scores. Raises OptionError if a row lacks a score."""
    names = (*counts, *scores)
    for one in rows.values():
        for missing in (each for each in names if each not in one):
            raise unknown_column(missing, tuple(one))
    cells = (TableColumn(one, count if one in OUTCOMES else SCORE) for one in scores)
    first = TableColumn(name, kind="path" if name == "path" else "value")
    head = (first, *columns(*counts, written=count), *cells)
    return Table.of(f"By {name}", head, ((key, *(one[each] for each in names)) for key, one in rows.items()))


def failures(found: Sequence[Failure], unscored: int) -> Table:
    """Return the failed documents with place and reason; `unscored` of them were not scored."""
    empty = len(found) - unscored
    treatment = "counted as an empty prediction" if empty == 1 else "counted as empty predictions"
    if unscored:
        treatment = f"{empty} {treatment}, {unscored} not scored" if empty else "not scored"
    rows = [(failure.id or "?", failure.side, _place(failure), failure.reason) for failure in found]
    head = (
        *(TableColumn("document"), TableColumn("side", said=Translator.side)),
        *(TableColumn("place"), TableColumn("reason", said=Translator.text)),
    )
    return Table.of(f"Failures ({len(found)}), {treatment}", head, rows)


def _place(failure: Failure) -> str:
    line = f":{failure.line}" if failure.line is not None else ""
    pointer = f" {failure.pointer}" if failure.pointer else ""
    return f"{failure.file or ''}{line}{pointer}".strip()


def violations(found: Sequence[Mapping[str, Any]]) -> Table:
    """Return the schema violations, each with the name of its document if it has an id."""
    named = [[key(one["id"], one["run"])] if "id" in one else [] for one in found]
    head = (*columns(*["document"] * any(named)), TableColumn("pointer", kind="path"), TableColumn("message"))
    rows = [[*name, one["pointer"] or WHOLE, one["message"]] for name, one in zip(named, found, strict=True)]
    return Table.of(f"Schema violations ({len(rows)}); the values are compared unchanged", head, rows)


def names(found: Sequence[str], title: str) -> Table:
    """Return a table of names without a header; `title` has a place for their number."""
    return Table.of(title.format(len(found)), (TableColumn(""),), [(name,) for name in found])
