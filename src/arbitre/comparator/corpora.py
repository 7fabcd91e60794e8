"""Functions that evaluate and rank corpora, as the commands `arbitre evaluate` and `arbitre rank` do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from arbitre.comparator.comparator import Comparator
from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD
from arbitre.corpus.systems.ranking import SCORES
from arbitre.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.statistics import Average, Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.corpus.systems.ranking import Ranking
    from arbitre.report.evaluation import Evaluation
    from arbitre.report.keywords import CorpusKeywords, Pairs, Progress, SharedKeywords
    from arbitre.schema import SchemaSource


def evaluate(
    schema: SchemaSource | Comparator,
    pairs: Pairs | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[CorpusKeywords],
) -> Evaluation:
    """Compare all documents of a corpus: `Comparator(schema).evaluate(...)`.

    Args:
        schema: Schema of the documents, or a comparator.
        pairs: The documents; see `Comparator.evaluate`.
        progress: Called with the number of documents compared.
        **options: The options of `arbitre evaluate`, such as `gold` and `predicted`.

    Raises:
        SchemaError: The schema is invalid.
        DataError: A source cannot be read, or a file cannot be written.
        OptionError: An option is unknown, or options contradict each other.
    """
    comparator = schema if isinstance(schema, Comparator) else Comparator(schema)
    return comparator.evaluate(pairs, progress=progress, **options)


def rank(
    systems: Mapping[str, Evaluation | Paths],
    score: str = "f1q",
    *,
    schema: SchemaSource | Comparator | None = None,
    gold: Paths | None = None,
    out: str | Path | None = None,
    beside: Sequence[str] = SCORES,
    aggregate: Average = "macro",
    level: float = LEVEL,
    method: Method = METHOD,
    cluster: Cluster = None,
    seed: int = 0,
    **options: Unpack[SharedKeywords],
) -> Ranking:
    """Rank systems on the same documents, as `arbitre rank` does.

    Every two systems are compared by paired approximate randomisation (see `arbitre.corpus.statistics.contrasts`).

    Args:
        systems: By the names of the systems, their evaluations, or the paths of their predictions.
        score: Score to rank by, one of `arbitre.corpus.statistics.score_selection.HIGHER_IS_BETTER` or `fq(beta)`.
        schema: Schema or comparator, if predictions are given as paths.
        gold: Paths of the gold documents, if predictions are given as paths.
        out: Folder for the ranking, its tables and its report, with a folder for each system; None writes no files.
        beside: Other scores to show, each ranked separately.
        aggregate: micro or macro.
        level: Confidence level.
        method: Method of the intervals (see `arbitre.corpus.statistics.Method`).
        cluster: Documents to resample together (see `Evaluation.interval`). By default the runs of one document form a
            cluster.
        seed: Random seed.
        **options: Further options of `arbitre rank`, if predictions are given as paths: how documents are read and
            evaluated, as for `evaluate`.

    Raises:
        DataError: There are no systems, the systems have different documents, or a score is invalid.
        OptionError: An option is unknown, or options contradict each other.

    >>> comparator = Comparator({"type": "array", "items": {"type": "string"}})
    >>> gold = [(page, ["Ada", "Bo"]) for page in "abcde"]
    >>> ranking = rank({
    ...     "hasty": comparator.evaluate((page, names, names[:1]) for page, names in gold),
    ...     "careful": comparator.evaluate((page, names, names) for page, names in gold),
    ... })
    >>> [system.name for system in ranking.systems], ranking.pairs[0].p, ranking.groups
    (['careful', 'hasty'], 0.0625, (('careful', 'hasty'),))
    """
    from arbitre.report.rank_systems import rank_evaluations, rank_paths  # noqa: PLC0415  (loads the report)

    scores = tuple(dict.fromkeys((score, *beside)))
    statistics: dict[str, Any] = {"aggregate": aggregate, "level": level, "method": method, "seed": seed}
    statistics["cluster"] = cluster
    if schema is None or gold is None:
        if schema is not None or gold is not None:
            raise OptionError.of("Expected evaluations alone, or paths with `schema` and `gold`.")
        return rank_evaluations(systems, scores, statistics=statistics, out=out, **options)
    plan = (schema if isinstance(schema, Comparator) else Comparator(schema)).plan
    return rank_paths(plan, gold, systems, scores, statistics=statistics, out=out, **options)
