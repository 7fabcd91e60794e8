"""What came of a corpus: tallies of every document in columns, and every score a function of their sums."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from arbitre.comparison.html_repr import scores_html
from arbitre.corpus.results import dataframe
from arbitre.corpus.results.document_quality import DocumentQuality
from arbitre.corpus.results.documents import Coverage, DocumentResult, DocumentTable
from arbitre.corpus.results.uncertainty import uncertainty_to_json
from arbitre.corpus.statistics import Sample, interval, means
from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD
from arbitre.corpus.statistics.clusters import grouped
from arbitre.corpus.storage import arrow
from arbitre.errors import DataError, did_you_mean
from arbitre.paths import outside
from arbitre.tally import MacroScores, Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.corpus.reading.records import Failure
    from arbitre.corpus.results.chance import Chance
    from arbitre.corpus.statistics import Average, Interval, Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.curve import Curve
    from arbitre.signature import Signature

FORMAT: Final = "arbitre-evaluation/1"
THRESHOLDS: Final = (0.5, 0.7, 0.9)
"""The survival curve is printed at these qualities."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of a corpus.

    `document_table` hold its documents in the order they came in; `failures` lists every prediction (or gold) that
    could not be used, and counts as an empty prediction in the sums and as 0 in the means; `without_gold` names
    predictions nobody asked for.
    """

    signature: Signature
    entries: str
    document_table: DocumentTable
    leaves: Scores
    """The scores over all leaves of all documents."""
    curve: Curve
    failures: tuple[Failure, ...] = ()
    without_gold: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None
    """The cluster of every document, where intervals draw these together."""
    declared: tuple[str, ...] = ()
    """The paths that the schema names."""
    chance_factory: Callable[[], Chance] | None = field(default=None, repr=False)
    """What chance alone scores, worked out when it is asked for."""

    @cached_property
    def chance(self) -> Chance | None:
        """What chance alone scores on these documents; None where they are no longer known."""
        return None if self.chance_factory is None else self.chance_factory()

    @cached_property
    def trust(self) -> dict[str, Any]:
        """How far the scores can be trusted, as plain JSON: intervals, chance, coverage."""
        return uncertainty_to_json(self.sample(), self.chance, self.coverage)

    @property
    def chance_floor(self) -> Scores | None:
        """The scores of predictions matched with other documents' gold; None where there is no other document."""
        return None if self.chance is None else self.chance.chance_score

    @property
    def gold_self_agreement(self) -> float | None:
        """The mean quality of two different entries of one gold document, in [0, 1]; None if none has two."""
        return None if self.chance is None else self.chance.self_agreement

    @property
    def unscored(self) -> int:
        """How many failures are of no document: gold that cannot be had, and what stands there twice."""
        return len(self.failures) - int(self.document_table.failed.sum())

    @property
    def documents(self) -> Sequence[DocumentResult]:
        """What came of every document, made of `document_table` when it is asked for."""
        return self.document_table

    @cached_property
    def micro(self) -> Scores:
        """The scores of the entries of all documents together."""
        return Scores(self.document_table.tally)

    @cached_property
    def macro(self) -> MacroScores:
        """The means of the documents' scores of their entries; a failed document is 0 in each."""
        return means(self.document_table.tallies, self.document_table.failed)

    @cached_property
    def by_path(self) -> dict[str, Scores]:
        """The scores of every path with leaves and of the items of every list, over all documents."""
        return self.document_table.by_path()

    @cached_property
    def outside(self) -> dict[str, Scores]:
        """The scores of the paths outside the entries, which `micro` and `macro` leave out.

        Empty where the root is the entries.
        """
        return {path: self.by_path[path] for path in outside(self.by_path, self.entries)}

    @property
    def document_quality(self) -> DocumentQuality:
        """The quality of whole documents: `.mean`, `.median`, and `.at_least(q)`, the share of documents that reach q.

        A failed document counts as 0.
        """
        return DocumentQuality(self.document_table.qualities)

    @cached_property
    def coverage(self) -> Coverage:
        """What of the schema the gold documents exercise, and what they never do: of that, no score says anything."""
        held = [path for path, scores in self.by_path.items() if scores.gold > 0.0]
        never = [path for path in self.declared if path and not any(f"{one}/".startswith(f"{path}/") for one in held)]
        return Coverage(tuple(path for path in self.declared if path not in never), tuple(never))

    @property
    def by_document(self) -> dict[str, Scores]:
        """The scores of every document's entries, by id (and run, where there are several)."""
        return {document.key: document.scores for document in self.document_table}

    def interval(
        self,
        score: str,
        *,
        level: float = LEVEL,
        method: Method = METHOD,
        cluster: Cluster = None,
        aggregate: Average = "macro",
        seed: int = 0,
        path: str | None = None,
    ) -> Interval:
        """The confidence interval of a score, for corpora of documents like these.

        Args:
            score: The score, one of `arbitre.tally.NAMES`.
            level: Confidence level.
            method: `adjusted-t`, `t`, `percentile` or `bca` (see `arbitre.corpus.statistics.Method`).
            cluster: Which documents belong together: a regular expression found in their ids (its first group, or all
                of it), a label for every id, or one for every document in order. By default `clusters`; without these,
                the runs of one document are one cluster.
            aggregate: macro or micro.
            seed: Random seed of the bootstrap.
            path: The path of the score; the entries by default.

        Raises:
            DataError: An option is not one of its values, or a document has no cluster.
        """
        sample = self.sample(cluster=cluster, path=path)
        return interval(sample, score, average=aggregate, level=level, method=method, seed=seed)

    def sample(self, *, cluster: Cluster = None, path: str | None = None) -> Sample:
        """The documents as the statistics take them (see `interval`). Raises DataError."""
        columns = self.document_table
        if path is not None and path not in columns.paths:
            raise DataError.of(
                f"Expected a path of this evaluation, got {path!r}", hint=did_you_mean(path, columns.paths)
            )
        tallies = columns.tallies if path is None else columns.paths[path]
        clusters, runs = grouped(columns.ids, self.clusters if cluster is None else cluster)
        return Sample.of(columns.keys, tallies, columns.failed, clusters, runs=runs)

    def to_arrow(self) -> Any:  # noqa: ANN401  (pyarrow is not always there)
        """The documents as a `pyarrow.Table`: labels, quality, counts and scores of the entries, a row each.

        `.to_pandas()` makes a data frame of it, `polars.from_arrow` another. Raises ArbitreError without pyarrow.
        """
        return arrow.to_arrow_table(dataframe.document_frame(self.document_table, self.signature))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, valid against `schemas/evaluation.schema.json`; the same corpus gives the same bytes."""
        macro = self.macro
        return {
            "format": FORMAT,
            "signature": self.signature.to_dict(),
            "entries": self.entries,
            "documents": len(self.document_table),
            "failed": macro.failed,
            "vacuous": macro.vacuous,
            "micro": self.micro.to_dict(),
            "macro": macro.to_dict(),
            "macro_documents": dict(macro.documents),
            "document_quality": self.document_quality.to_dict(),
            "leaves": self.leaves.to_dict(),
            "outside": {path: scores.to_dict() for path, scores in self.outside.items()},
            "by_path": {path: scores.to_dict() for path, scores in self.by_path.items()},
            "curve": self.curve.to_dict(),
            "thresholds": [_point(self.curve, threshold) for threshold in THRESHOLDS],
            "failures": [asdict(failure) for failure in self.failures],
            "without_gold": list(self.without_gold),
            "trust": self.trust,
        }

    def _repr_html_(self) -> str:
        columns: dict[str, Scores | MacroScores] = {
            "Pooled (micro)": self.micro,
            "Per-document mean (macro)": self.macro,
            "Leaves, pooled (micro)": self.leaves,
        }
        mean = self.document_quality.mean
        quality = "" if mean is None else f", document quality {mean:.4f} (mean)"
        title = f"{len(self.document_table)} documents, {self.macro.failed} failed{quality}"
        return scores_html(title, columns, self.by_path, self.signature)

    def __repr__(self) -> str:
        f1q = self.micro.f1q
        return f"Evaluation({len(self.document_table)} documents, micro f1q={'none' if f1q is None else f'{f1q:.4f}'})"


def _point(curve: Curve, threshold: float) -> dict[str, float | None]:
    point = curve.at(threshold)
    return {name: getattr(point, name) for name in ("threshold", "precision", "recall", "f1", "pq")}
