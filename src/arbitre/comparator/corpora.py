"""Functions that evaluate and rank corpora, as the commands `arbitre evaluate` and `arbitre rank` do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

from arbitre.comparator.keywords import ComparatorKeywords, take_comparator
from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD
from arbitre.corpus.systems.options import StatisticsOptions
from arbitre.corpus.systems.ranking import SCORES
from arbitre.errors import OptionError
from arbitre.report.keywords import CorpusKeywords, SharedKeywords, as_names
from arbitre.report.rank_systems import EITHER, rank_evaluations, rank_paths
from arbitre.report.tables.ranking_files import check_system_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from arbitre.comparator.comparator import Comparator
    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.results.gates import Bounds
    from arbitre.corpus.statistics import Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.corpus.systems.ranking import Ranking
    from arbitre.options import Average
    from arbitre.report.keywords import Pairs, Progress
    from arbitre.report.tables.ranking_files import FactorsResults
    from arbitre.schema import SchemaSource


class EvaluateKeywords(ComparatorKeywords, CorpusKeywords, total=False):
    """Options of `arbitre.evaluate`."""


class RankKeywords(ComparatorKeywords, SharedKeywords, total=False):
    """Further options of `arbitre.rank`."""

    out: str | Path | None
    table: str | Sequence[str]
    fail_under: Bounds
    fail_over: Bounds


def evaluate(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Compare all documents of a corpus: `Comparator(schema).evaluate(...)`.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        progress: Called with the number of documents compared.
        **options: The options of `arbitre evaluate`, such as `gold` and `predicted`, and those of `Comparator`, such as
            `overlay`.

    Returns:
        The evaluation. With `out`, its files are written to this folder.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, or a file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
        QualityGateError: A score misses a bound of `fail_under` or `fail_over`. The files of `out` are written first.
    """
    given: dict[str, Any] = {**options}
    return take_comparator(schema, given).evaluate(pairs, progress=progress, **given)


@overload
def rank(
    systems: Mapping[str, Evaluation | Paths],
    score: str | Sequence[str] = ...,
    *,
    schema: SchemaSource | Comparator | None = ...,
    gold: Paths | None = ...,
    beside: Sequence[str] = ...,
    aggregate: Average = ...,
    level: float = ...,
    method: Method = ...,
    cluster: Cluster = ...,
    seed: int = ...,
    **options: Unpack[RankKeywords],
) -> Ranking: ...


@overload
def rank(
    *,
    score: str | Sequence[str] = ...,
    schema: SchemaSource | Comparator,
    manifest: str | Path,
    factor: str | Sequence[str],
    aggregate: Average = ...,
    level: float = ...,
    method: Method = ...,
    cluster: Cluster = ...,
    seed: int = ...,
    **options: Unpack[RankKeywords],
) -> FactorsResults: ...


def rank(
    systems: Mapping[str, Evaluation | Paths] | None = None,
    score: str | Sequence[str] = "f1q",
    *,
    schema: SchemaSource | Comparator | None = None,
    gold: Paths | None = None,
    manifest: str | Path | None = None,
    factor: str | Sequence[str] = (),
    beside: Sequence[str] = SCORES,
    aggregate: Average = "macro",
    level: float = LEVEL,
    method: Method = METHOD,
    cluster: Cluster = None,
    seed: int = 0,
    **options: Unpack[RankKeywords],
) -> Ranking | FactorsResults:
    """Rank systems on the same documents, or compare the levels of factors, as `arbitre rank` does.

    Every two systems are compared by paired approximate randomisation (see `arbitre.corpus.statistics.contrasts`).

    Args:
        systems: By the names of the systems, their evaluations, or the paths of their predictions.
        score: Score to rank by, one of `arbitre.corpus.statistics.score_selection.HIGHER_IS_BETTER` or `fq(beta)`. With
            several scores, the first determines the ranking and the others replace `beside`.
        schema: Schema or comparator, if predictions are given as paths.
        gold: Paths of the gold documents, if predictions are given as paths.
        manifest: CSV file with the columns id, gold and predicted and a column for each factor, instead of `systems`
            and `gold`.
        factor: Columns of the manifest whose values are compared.
        beside: Other scores to show, each ranked separately.
        aggregate: micro or macro.
        level: Confidence level.
        method: Method of the intervals (see `arbitre.corpus.statistics.Method`).
        cluster: Documents to resample together (see `Evaluation.interval`). By default the runs of one document form a
            cluster.
        seed: Random seed.
        **options: `out`, the folder for the ranking, its tables and its report, with a folder for each system; `table`,
            further tables to write there; `fail_under` and `fail_over`, bounds on the scores of each system; `lang`.
            For paths, also the options for reading and evaluating documents, as for `evaluate`.

    Returns:
        The ranking, or the comparison of each factor.

    Raises:
        DataError: There are no systems, or the systems have different documents or runs.
        OptionError: An option or a score is unknown or invalid, or options contradict each other.
        QualityGateError: A system misses a bound of `fail_under` or `fail_over`.

    >>> from arbitre import Comparator
    >>> comparator = Comparator({"type": "array", "items": {"type": "string"}})
    >>> gold = [(page, ["Ada", "Bo"]) for page in "abcde"]
    >>> ranking = rank({
    ...     "hasty": comparator.evaluate((page, names, names[:1]) for page, names in gold),
    ...     "careful": comparator.evaluate((page, names, names) for page, names in gold),
    ... })
    >>> [system.name for system in ranking.systems], ranking.pairs[0].p, ranking.groups
    (['careful', 'hasty'], 0.0625, (('careful', 'hasty'),))
    """
    scores = (score, *beside) if isinstance(score, str) else tuple(score) or SCORES
    scores, factors, known = tuple(dict.fromkeys(scores)), as_names(factor), systems or {}
    statistics = StatisticsOptions(aggregate=aggregate, level=level, method=method, cluster=cluster, seed=seed)
    given: dict[str, Any] = {**options}
    given["table"] = as_names(given.get("table"))
    if given.get("out") is not None:
        check_system_names(known)
    if schema is None:
        if gold or manifest or factors:
            raise OptionError.of(EITHER)
        return rank_evaluations(known, scores, statistics, given)
    plan = take_comparator(schema, given).plan
    return rank_paths(
        plan, scores, statistics, gold=gold, systems=known, manifest=manifest, factors=factors, options=given
    )
