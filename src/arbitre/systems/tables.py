"""Tables of systems and of factors, for papers and terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arbitre.corpus.tables import AVERAGES, DOCUMENT_QUALITY
from arbitre.signature import Signature
from arbitre.tables.table import (
    EARLY,
    PLACE,
    SCORE,
    SHARE,
    SIGNED,
    WHOLE,
    Table,
    TableColumn,
    columns,
    count,
    probability,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.language import Translator
    from arbitre.systems.factors import Factor
    from arbitre.systems.ranking import PairwiseResult, Ranking
    from arbitre.systems.run_stability import RunStability

OWN_INTERVAL: Final = ("score low", "score high")
"""Columns of the interval of a system's own score, which only files have."""

_LOW, _HIGH, _DOCUMENTS = 2, 1, 3
_DETECTABLE, _SHARED, _CHANCE, _FAILED, _QUALITY = (EARLY + order for order in (5, 4, 3, 2, 1))
"""Order in which narrow terminals leave columns out."""


def leaderboard(ranking: Ranking) -> Table:
    """Return systems by descending score, with the differences to the best one and their intervals.

    Differences between systems with a common letter are not significant. The interval of the score itself is in the
    columns `OWN_INTERVAL`.
    """
    head = (
        TableColumn("system"),
        *columns(ranking.score, *OWN_INTERVAL, written=SCORE),
        TableColumn("to best", SIGNED),
        *_bounds(signed=True),
        TableColumn("alike"),
        TableColumn("chance", SCORE, drop=_CHANCE),
        TableColumn("failed", count, drop=_FAILED),
        TableColumn(*DOCUMENT_QUALITY, drop=_QUALITY),
    )
    rows = []
    for one in ranking.systems:
        letters = "".join(_letter(at) for at, group in enumerate(ranking.groups) if one.name in group)
        own, apart = one.score, ranking.to_best(one.name)
        difference = (None,) * 3 if apart is None else (apart.difference, apart.low, apart.high)
        scores = (own.estimate, own.low, own.high, *difference)
        rows.append((one.name, *scores, letters, one.floor, one.failed, one.document_quality))
    return Table.of(f"Leaderboard: {AVERAGES[ranking.aggregate]}", head, rows, _short_signature(ranking))


def side_by_side(ranking: Ranking) -> Table:
    """Return several scores of every system, and its mean rank over these."""
    names = tuple(ranking.systems[0].scores)
    head = (TableColumn("system"), *columns(*names, written=SCORE), TableColumn("mean rank", PLACE))
    rows = ((one.name, *one.scores.values(), one.mean_rank) for one in ranking.systems)
    return Table.of(f"Several scores: {AVERAGES[ranking.aggregate]}", head, rows, _short_signature(ranking))


def pairs(found: Iterable[PairwiseResult]) -> Table:
    """Return the difference of every pair of systems, with its interval and p."""
    rows = ((one.a, one.b, *_difference_cells(one)) for one in found)
    return Table.of("Pairwise differences", (*columns("a", "b"), *_versus()), rows)


def winners(ranking: Ranking) -> Table:
    """Return the highest and second-highest score of every path, and the systems with the highest."""
    head = (
        TableColumn("path", kind="tree"),
        TableColumn(ranking.score, SCORE),
        TableColumn("second", SCORE, key="next"),
        TableColumn("system", said=_winners),
    )
    rows = []
    for path, names in ranking.winners.items():
        known = ranking.by_path[path]
        others = [one for name, one in known.items() if name not in names and one is not None]
        named = "all" if len(names) == len(ranking.systems) > 1 else ", ".join(names)
        rows.append((path or WHOLE, known[names[0]] if names else None, max(others, default=None), named))
    return Table.of(f"Highest score by path (not tested): {AVERAGES['micro']}", head, rows, _short_signature(ranking))


def _winners(say: Translator, names: str) -> str:
    """Return the winners of a path in a language; names of systems stay."""
    return say.word(names) if names == "all" else names


def lacking(ranking: Ranking) -> Table:
    """Return the share of the best system's loss of leaf quality at each path; weights are ignored."""
    best = ranking.systems[0]
    head = (TableColumn("path", kind="tree"), TableColumn("share of loss", SHARE), TableColumn(ranking.score, SCORE))
    rows = ((path or WHOLE, share, ranking.by_path[path].get(best.name)) for path, share in best.lacking.items())
    note = (
        f"Share of loss: share of the lost leaf quality of {best.name}. All values have the same weight, so the order "
        "of the paths can differ from the order of their costs in f1q, which `arbitre evaluate --diagnose` shows."
    )
    return Table.of(
        f"Leaf quality lost by {best.name}, by path (unweighted)",
        head,
        rows,
        _short_signature(ranking),
        notes=(note,),
    )


def levels(factors: Sequence[Factor]) -> Table:
    """Return the levels of factors with their scores and intervals."""
    head = (
        *columns("factor", "level"),
        TableColumn("documents", count, drop=_DOCUMENTS),
        TableColumn(factors[0].score, SCORE),
        *_bounds(),
    )
    rows = (
        (factor.name, level or "(empty)", factor.documents[level], one.estimate, one.low, one.high)
        for factor in factors
        for level, one in factor.levels.items()
    )
    return Table.of(f"Levels: {AVERAGES[factors[0].aggregate]}", head, rows)


def contrasts(factors: Sequence[Factor]) -> Table:
    """Return the difference of every pair of levels of a factor, on the documents that both have."""
    rows = (
        (factor.name, one.a or "(empty)", one.b or "(empty)", shared, *_difference_cells(one))
        for factor in factors
        for one, shared in zip(factor.pairs, factor.shared, strict=True)
    )
    head = (*columns("factor", "a", "b"), TableColumn("shared", count, drop=_SHARED), *_versus())
    return Table.of("Pairwise differences of levels, on shared documents", head, rows)


def runs(found: Mapping[str, RunStability]) -> Table:
    """Return the variation of every system between runs."""
    head = (
        TableColumn("system"),
        TableColumn("runs", count),
        TableColumn("documents", count, drop=_DOCUMENTS),
        *columns("mean", "sd", written=SCORE),
        TableColumn("changed", SHARE),
    )
    rows = (
        (name, len(one.runs), one.documents, one.overall.mean, one.overall.sd, one.share_changed)
        for name, one in found.items()
    )
    return Table.of("Variation between runs", head, rows)


def _bounds(*, signed: bool = False) -> tuple[TableColumn, TableColumn]:
    """Return the columns of an interval."""
    written = SIGNED if signed else SCORE
    return TableColumn("low", written, drop=_LOW), TableColumn("high", written, drop=_HIGH)


def _versus() -> tuple[TableColumn, ...]:
    """Return the columns of a paired test."""
    return (
        TableColumn("a - b", SIGNED),
        *_bounds(signed=True),
        TableColumn("p", probability, drop=_DETECTABLE + 1),
        TableColumn("p (adjusted)", probability),
        TableColumn("p (Holm)", probability, drop=_DETECTABLE + 2),
        TableColumn("detectable", SCORE, drop=_DETECTABLE),
    )


def _difference_cells(one: PairwiseResult) -> tuple[float | None, ...]:
    return one.difference, one.low, one.high, one.p, one.p_adjusted, one.p_holm, one.detectable


def _short_signature(ranking: Ranking) -> str:
    return Signature.from_dict(ranking.signature).short


def _letter(number: int) -> str:
    """a, b, ..., z, a1, b1, ..."""
    return chr(ord("a") + number % 26) + str(number // 26 or "")
