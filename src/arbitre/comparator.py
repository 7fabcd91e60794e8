"""The `Comparator`: compiles a schema once and compares any number of documents with it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from arbitre.comparison import Comparison
from arbitre.corpus.running.check_gold import check_gold
from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD
from arbitre.corpus.systems.ranking import SCORES
from arbitre.diagnosis import witnesses
from arbitre.distances import catalogue
from arbitre.engine import compare_batch, count_calls
from arbitre.errors import OptionError
from arbitre.paths import wildcard
from arbitre.schema import CLOSE, SchemaSource, compile_plan, load
from arbitre.schema.describe import authorities_of
from arbitre.schema.loading.infer import infer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from arbitre.corpus.joining.sources import Paths
    from arbitre.corpus.running.check_gold import Gold, GoldCheck
    from arbitre.corpus.statistics import Average, Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.corpus.systems.ranking import Ranking
    from arbitre.distances import DistanceCatalogue
    from arbitre.report.evaluation import Evaluation
    from arbitre.report.keywords import CorpusKeywords, Pairs, Progress, SharedKeywords
    from arbitre.schema import Plan
    from arbitre.schema.certificate import Certificate
    from arbitre.schema.describe import ResolvedPath, UsedAuthority
    from arbitre.signature import Signature
    from arbitre.values import Json


MAX_CALLS: Final = 100_000
"""Default maximum number of calls to a custom distance per document."""


class Comparator:
    """Compares documents according to a schema and its `x-arbitre` annotations.

    Args:
        schema: JSON Schema as a dictionary, path of a JSON file, or Pydantic model class.
        overlay: Additional annotations by wildcard path, as a dictionary or the path of a JSON file.
        close: Minimum quality, in [0, 1], at which a value that is not equal gets the verdict "close".
        distances: Distances that the schema may name. Add your own with
            `arbitre.distances.catalogue.with_distance`.
        match: Matching for every array, instead of the one in the schema.
        distance: Distance for all non-exact leaves of the kinds that it accepts, instead of the one in the schema.
        max_calls: Maximum number of calls to a custom distance per document; None for no limit. Documents that may
            need more calls are refused before the first call (see `most_calls`).

    Raises:
        SchemaError: The schema is invalid. The error lists every problem.

    >>> comparator = Comparator({"type": "array", "items": {"type": "string"}})
    >>> comparator.compare(gold=["Ada", "Bob"], predicted=["Bob"]).scores.irq
    0.5
    """

    def __init__(
        self,
        schema: SchemaSource,
        *,
        overlay: Mapping[str, Json] | str | Path | None = None,
        close: float = CLOSE,
        distances: DistanceCatalogue = catalogue,
        match: Json = None,
        distance: Json = None,
        max_calls: int | None = MAX_CALLS,
    ) -> None:
        self.plan: Plan = compile_plan(
            load(schema),
            overlay=overlay,
            close=close,
            distances=distances,
            match=match,
            distance=distance,
            max_calls=max_calls,
        )

    @classmethod
    def infer(
        cls,
        documents: Iterable[Json],
        *,
        overlay: Mapping[str, Json] | str | Path | None = None,
        close: float = CLOSE,
    ) -> Comparator:
        """Create a comparator with a schema inferred from gold documents.

        Args:
            documents: The gold documents.
            overlay: Additional annotations by wildcard path, as a dictionary or the path of a JSON file.
            close: Minimum quality, in [0, 1], at which a value that is not equal gets the verdict "close".

        Raises:
            DataError: There are no documents.
        """
        return cls(infer(documents), overlay=overlay, close=close)

    @property
    def schema(self) -> Json:
        """The JSON Schema, as passed in or inferred."""
        return self.plan.root.schema

    @property
    def signature(self) -> Signature:
        """Every option that can change a score. Scores are comparable only if their signatures are equal."""
        return self.plan.signature

    @property
    def certificate(self) -> Certificate:
        """Whether the distance between documents (1 - quality) is a metric, and if not, where and why."""
        return self.plan.certificate.with_witness_search(partial(witnesses.find, self.plan))

    @property
    def entries(self) -> str:
        """Wildcard path of the list of entries; "" is the root."""
        return wildcard(self.plan.entries)

    @property
    def authorities(self) -> tuple[UsedAuthority, ...]:
        """The authority files of the schema: the path of each, its names and variants, and the ambiguous variants."""
        return authorities_of(self.plan.sites)

    def explain(self) -> tuple[ResolvedPath, ...]:
        """Return the resolved distance, weight, matching and normalisation of every path of the schema."""
        return self.plan.rows

    def compare(self, *, gold: Json, predicted: Json, exhaustive: bool = False) -> Comparison:
        """Compare one predicted document with its gold document.

        The documents do not have to be valid against the schema and are not modified. Do not modify them while you
        use the comparison: it computes details from them on demand.

        Args:
            gold: The gold document, or `arbitre.ABSENT`.
            predicted: The predicted document, or `arbitre.ABSENT`.
            exhaustive: Compute the quality of every possible pair of list items. The scores stay the same; use this
                for diagnosis.

        Raises:
            DataError: A document is not JSON, has more than 512 nested lists and objects, or is a text although the
                schema expects an object or a list.
        """
        self.plan.check_gold(gold)
        self.plan.check_predicted(predicted)
        traced = compare_batch(self.plan, [gold], [predicted], exhaustive=exhaustive)
        return Comparison(
            level_source=traced.levels,
            entry_levels=traced.levels(self.plan.entries),
            gold=gold,
            predicted=predicted,
            entries=self.entries,
            signature=self.signature,
            close=self.plan.close,
            schema=self.plan.root,
        )

    def most_calls(self, *, gold: Json, predicted: Json) -> dict[str, int]:
        """Return the maximum number of calls to custom distances for this pair of documents, by path.

        No custom distance is called. If a custom distance has a lower bound, or another field identifies the list
        items, the actual number of calls is close to the number of items.
        """
        return count_calls(self.plan, gold, predicted)

    def evaluate(
        self, pairs: Pairs | None = None, *, progress: Progress | None = None, **options: Unpack[CorpusKeywords]
    ) -> Evaluation:
        """Compare all documents of a corpus, as `arbitre evaluate` does.

        Args:
            pairs: (id, gold, predicted) triples; a data frame (pandas, Polars or Arrow) with the columns `id`, `gold`
                and `predicted`, and optionally `run`; or paths of records that contain both documents.
            progress: Called with the number of documents compared, and their total number if it is known.
            **options: The options of `arbitre evaluate`, see `arbitre.report.keywords.CorpusKeywords`. Without `pairs`,
                `gold` and `predicted`, or `manifest`, name the documents. One process compares by default
                (`workers=1`).

        Returns:
            The evaluation. With `out`, its files are written to this folder.

        Raises:
            DataError: A source cannot be read, a file cannot be written, or a document fails and `strict` is set.
            OptionError: An option is unknown, or options contradict each other.
        """
        from arbitre.report.keywords import evaluate_corpus  # noqa: PLC0415  (loads the report)

        return evaluate_corpus(self.plan, pairs, progress, **options)

    def check_gold(self, gold: Gold, *, id_key: str = "id") -> GoldCheck:
        """Check gold documents before predictions are compared with them.

        Three checks run on every document: "schema" reports violations of the schema, "alias" reports values under an
        alias, "alternatives" reports accepted readings of a field that is absent. Aliases are only read in predictions:
        a gold document that uses one does not equal itself, and the certificate does not hold for it. A document that
        cannot be read is reported as "unreadable".

        Args:
            gold: A path (a folder, a `.json`, `.jsonl` or `.parquet` file, or a glob), or an iterable of paths, of
                documents, or of (id, document) pairs. A string is always a path; pass a document that is a string as
                a pair. A document without an id gets its position in the iterable as id.
            id_key: Key of the id of a record in a file.

        Returns:
            The number of documents and the findings.

        Raises:
            DataError: A whole source cannot be read.

        >>> sent = {"type": "string", "x-arbitre": {"aliases": ["date"]}}
        >>> found = Comparator({"type": "object", "properties": {"sent": sent}}).check_gold([{"date": "1918-11-03"}])
        >>> [(one.check, one.pointer) for one in found.findings]
        [('alias', '/date')]
        """
        return check_gold(self.plan, gold, id_key=id_key)


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
