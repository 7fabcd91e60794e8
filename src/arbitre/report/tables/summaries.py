"""Tables of a corpus, of systems and of factors, for papers and terminals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from arbitre.corpus import statistics
from arbitre.corpus.results import dataframe
from arbitre.corpus.statistics.clusters import cluster_labels
from arbitre.report.tables.exports import ExportTable
from arbitre.report.tables.table import PLACE, SCORE, SHARE, SIGNED, Table, TableColumn, count, probability, unknown
from arbitre.signature import Signature
from arbitre.tally import COUNTS, NAMES, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from arbitre.corpus.results.diagnosis import CorpusDiagnosis
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.corpus.storage.arrow import Frame
    from arbitre.corpus.systems.factors import Factor
    from arbitre.corpus.systems.ranking import PairwiseResult, Ranking
    from arbitre.corpus.systems.run_stability import RunStability
    from arbitre.report.tables.table import CellValue, TableFormat

Rows: TypeAlias = Literal["documents", "paths", "scores"]

ROWS: Final = ("documents", "paths", "scores", "groups", "faults")
SHOWN: Final = ("f1q", "imq", "irq", "amq")
PATHS_SHOWN: Final = (*SHOWN, "exact_match_rate", "exact", "close", "wrong", "wrong_type", "missing", "spurious")
WHOLE: Final = "(the whole)"
QUALITY: Final = "document_quality"
OWN_INTERVAL: Final = ("score low", "score high")
"""Columns of the interval of a system's own score, which only files have."""
AVERAGES: Final = {"micro": "Pooled (micro)", "macro": "Per-document mean (macro)"}
"""Labels of the two averages of a corpus."""


def table(evaluation: Evaluation, kind: TableFormat, rows: Rows = "documents", scores: Sequence[str] = ()) -> str:
    """Format the results of a corpus as Markdown, LaTeX or CSV.

    Args:
        evaluation: Evaluation of the corpus.
        kind: Output format.
        rows: Unit of a row: documents, paths or scores.
        scores: Score columns, besides the counts of entries.

    Raises:
        DataError: If the format, the rows or a score is unknown.
    """
    if rows not in get_args(Rows):
        raise unknown("row", rows, get_args(Rows))
    if rows == "scores":
        return means(evaluation).text(kind)
    made = documents(evaluation, scores) if rows == "documents" else paths(evaluation, scores or PATHS_SHOWN)
    return made.text(kind)


def export_tables(
    evaluation: Evaluation, scores: Sequence[str] = (), faults: Callable[[], Frame] | None = None
) -> dict[str, ExportTable]:
    """Return the tables of a corpus by name.

    Formatted tables show `scores`; frames contain all scores. There is a table `groups` if the evaluation has clusters,
    and a table `faults` if it has a diagnosis: formatted, the faults by path and class; as a frame, all `faults`.
    """
    found = {
        "documents": ExportTable(
            lambda: documents(evaluation, scores),
            lambda: dataframe.document_frame(evaluation.document_table, evaluation.signature),
        ),
        "paths": ExportTable(
            lambda: paths(evaluation, scores or PATHS_SHOWN),
            lambda: dataframe.path_frame(evaluation.by_path, evaluation.signature),
        ),
        "scores": ExportTable.of(means(evaluation)),
    }
    if (by := evaluation.clusters) is not None:
        found["groups"] = ExportTable(
            lambda: by_cluster(evaluation, by, scores or SHOWN), lambda: by_cluster(evaluation, by, NAMES).frame
        )
    if (diagnosis := evaluation.diagnosis) is not None and faults is not None:
        found["faults"] = ExportTable(lambda: fault_groups(diagnosis, evaluation.signature), faults)
    return found


def fault_groups(diagnosis: CorpusDiagnosis, signature: Signature) -> Table:
    """Return the faults by path and class, the most costly first."""
    columns = (
        *(TableColumn("path"), TableColumn("fault"), TableColumn("number", count)),
        *(TableColumn("cost", SCORE), TableColumn("share", SHARE)),
    )
    rows = [(group.path or WHOLE, group.fault, group.count, group.cost, group.share) for group in diagnosis.faults]
    return Table("Faults by path and class", columns, tuple(rows), signature.short)


def documents(evaluation: Evaluation, scores: Sequence[str] = ()) -> Table:
    """Return the entry scores of every document; by default document quality and the usual scores."""
    rows: dict[str, dict[str, float | None]] = {
        one.key: {QUALITY: one.quality, **one.scores.to_dict()} for one in evaluation.documents
    }
    made = figures(rows, scores or (QUALITY, *SHOWN), name="document", counts=COUNTS[:3])
    columns = tuple(_QUALITY if one.name == QUALITY else one for one in made.columns)
    return replace(made, columns=columns, signature=evaluation.signature.short)


def paths(evaluation: Evaluation, scores: Sequence[str] = PATHS_SHOWN) -> Table:
    """Return the pooled scores and outcomes of every wildcard path."""
    rows = {path or WHOLE: one.to_dict() for path, one in evaluation.by_path.items()}
    made = figures(rows, scores, name="path", counts=COUNTS[:3])
    return replace(made, title=f"By path: {AVERAGES['micro']}", signature=evaluation.signature.short)


def means(evaluation: Evaluation) -> Table:
    """Return every score, pooled and averaged over documents, with the number of documents in the mean."""
    micro, macro = evaluation.micro, evaluation.macro
    columns = (
        TableColumn("score"),
        TableColumn(AVERAGES["micro"], SCORE, "micro"),
        TableColumn(AVERAGES["macro"], SCORE, "macro"),
        TableColumn("documents", count),
    )
    rows = [(name, getattr(micro, name), getattr(macro, name), macro.documents[name]) for name in NAMES]
    quality = evaluation.document_quality
    rows.append(("document_quality", None, quality.mean, quality.documents))
    return Table("Scores", columns, tuple(rows), evaluation.signature.short)


def by_cluster(evaluation: Evaluation, by: Cluster, scores: Sequence[str] = SHOWN, *, name: str = "group") -> Table:
    """Return mean scores of clusters of documents; `by` is the same as `cluster` of `Evaluation.interval`."""
    columns = evaluation.document_table
    marks = cluster_labels(columns.ids, by) or ["all"] * len(columns)
    of = np.array(marks, dtype=np.object_)
    rows = {}
    for mark in sorted(set(marks)):
        here = of == mark
        averages = statistics.means(columns.tallies[here], columns.failed[here])
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
    """Return a table of named rows of scores. Raises DataError if a row lacks a score."""
    names = (*counts, *scores)
    for one in rows.values():
        for missing in (each for each in names if each not in one):
            raise unknown("column", missing, tuple(one))
    cells = (TableColumn(one, count if one in OUTCOMES else SCORE) for one in scores)
    columns = (TableColumn(name), *_columns(*counts, written=count), *cells)
    return Table(f"By {name}", columns, tuple((key, *(one[each] for each in names)) for key, one in rows.items()))


def leaderboard(ranking: Ranking) -> Table:
    """Return systems by descending score, with the differences to the best one and their intervals.

    Differences between systems with a common letter are not significant. The interval of the score itself is in the
    columns `OWN_INTERVAL`.
    """
    head = (TableColumn("system"), *_columns(ranking.score, *OWN_INTERVAL, written=SCORE))
    columns = (*head, *_columns("to best", "low", "high", written=SIGNED), TableColumn("alike"))
    columns = (*columns, TableColumn("chance", SCORE), TableColumn("failed", count), _QUALITY)
    rows = []
    for one in ranking.systems:
        letters = "".join(_letter(at) for at, group in enumerate(ranking.groups) if one.name in group)
        own, apart = one.score, ranking.to_best(one.name)
        difference = (None,) * 3 if apart is None else (apart.difference, apart.low, apart.high)
        scores = (own.estimate, own.low, own.high, *difference)
        rows.append((one.name, *scores, letters, one.floor, one.failed, one.document_quality))
    return Table(f"Leaderboard: {AVERAGES[ranking.aggregate]}", columns, tuple(rows), _short_signature(ranking))


def side_by_side(ranking: Ranking) -> Table:
    """Return several scores of every system, and its mean rank over these."""
    names = tuple(ranking.systems[0].scores)
    columns = (TableColumn("system"), *_columns(*names, written=SCORE), TableColumn("mean rank", PLACE))
    rows = ((one.name, *one.scores.values(), one.mean_rank) for one in ranking.systems)
    return Table(f"Several scores: {AVERAGES[ranking.aggregate]}", columns, tuple(rows), _short_signature(ranking))


def pairs(found: Iterable[PairwiseResult]) -> Table:
    """Return the difference of every pair of systems, with its interval and p."""
    return Table(
        "Pairwise differences",
        (*_columns("a", "b"), *_VERSUS),
        tuple((one.a, one.b, *_difference_cells(one)) for one in found),
    )


def winners(ranking: Ranking) -> Table:
    """Return the highest and second-highest score of every path, and the systems with the highest."""
    columns = (TableColumn("path"), *_columns(ranking.score, "next", written=SCORE), TableColumn("system"))
    rows: list[tuple[CellValue, ...]] = []
    for path, names in ranking.winners.items():
        known = ranking.by_path[path]
        others = [one for name, one in known.items() if name not in names and one is not None]
        named = "all" if len(names) == len(ranking.systems) > 1 else ", ".join(names)
        rows.append((path or WHOLE, known[names[0]] if names else None, max(others, default=None), named))
    return Table(
        f"Highest score by path (not tested): {AVERAGES['micro']}", columns, tuple(rows), _short_signature(ranking)
    )


def lacking(ranking: Ranking) -> Table:
    """Return the share of the best system's loss at each path."""
    best = ranking.systems[0]
    columns = (TableColumn("path"), TableColumn("share of loss", SHARE), TableColumn(ranking.score, SCORE))
    rows = ((path or WHOLE, share, ranking.by_path[path].get(best.name)) for path, share in best.lacking.items())
    return Table(f"Loss of {best.name} by path", columns, tuple(rows), _short_signature(ranking))


def levels(factors: Sequence[Factor]) -> Table:
    """Return the levels of factors with their scores and intervals."""
    columns = (*_columns("factor", "level"), *_columns("documents", written=count), *_interval(factors[0].score))
    rows = (
        (factor.name, level or "(empty)", factor.documents[level], one.estimate, one.low, one.high)
        for factor in factors
        for level, one in factor.levels.items()
    )
    return Table(f"Levels: {AVERAGES[factors[0].aggregate]}", columns, tuple(rows))


def contrasts(factors: Sequence[Factor]) -> Table:
    """Return the difference of every pair of levels of a factor, on the documents that both have."""
    rows = (
        (factor.name, one.a or "(empty)", one.b or "(empty)", shared, *_difference_cells(one))
        for factor in factors
        for one, shared in zip(factor.pairs, factor.shared, strict=True)
    )
    columns = (*_columns("factor", "a", "b"), TableColumn("shared", count), *_VERSUS)
    return Table("Pairwise differences of levels, on shared documents", columns, tuple(rows))


def runs(found: Mapping[str, RunStability]) -> Table:
    """Return the variation of every system between runs."""
    numbers = (*_columns("runs", "documents", written=count), *_columns("mean", "sd", written=SCORE))
    columns = (TableColumn("system"), *numbers, TableColumn("changed", SHARE))
    rows = (
        (name, len(one.runs), one.documents, one.overall.mean, one.overall.sd, one.share_changed)
        for name, one in found.items()
    )
    return Table("Variation between runs", columns, tuple(rows))


_QUALITY: Final = TableColumn("document quality", SCORE, QUALITY)


def _columns(*names: str, written: Callable[[float], str] | None = None) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, written) for name in names)


def _interval(score: str) -> tuple[TableColumn, ...]:
    return _columns(score, "low", "high", written=SCORE)


_VERSUS: Final = (
    *_columns("a - b", "low", "high", written=SIGNED),
    *_columns("p", "p (adjusted)", "p (Holm)", written=probability),
    TableColumn("detectable", SCORE),
)


def _difference_cells(one: PairwiseResult) -> tuple[float | None, ...]:
    return one.difference, one.low, one.high, one.p, one.p_adjusted, one.p_holm, one.detectable


def _short_signature(ranking: Ranking) -> str:
    return Signature.from_dict(ranking.signature).short


def _letter(number: int) -> str:
    """a, b, ..., z, a1, b1, ..."""
    return chr(ord("a") + number % 26) + str(number // 26 or "")
