"""The result of evaluating a corpus: the tallies of all documents, and the scores computed from them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison import html_repr as html
from arbitre.corpus.joining.provenance import UNKNOWN_GOLD
from arbitre.corpus.results.document_quality import DocumentQuality
from arbitre.corpus.results.documents import Coverage, DocumentResult, DocumentTable
from arbitre.corpus.results.losses import loss_shares
from arbitre.corpus.results.uncertainty import uncertainty_to_json
from arbitre.corpus.statistics import Sample, interval, means
from arbitre.corpus.statistics.bootstrap import LEVEL, METHOD
from arbitre.corpus.statistics.clusters import assign_clusters
from arbitre.errors import DataError, did_you_mean
from arbitre.paths import outside
from arbitre.tally import MacroScores, PathScores, Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.comparison.flat import FlatComparison
    from arbitre.corpus.joining.provenance import GoldProvenance
    from arbitre.corpus.reading.records import Failure, Repair
    from arbitre.corpus.results.chance import Chance
    from arbitre.corpus.results.diagnosis import CorpusDiagnosis
    from arbitre.corpus.statistics import Average, Interval, Method
    from arbitre.corpus.statistics.clusters import Cluster
    from arbitre.curve import Curve
    from arbitre.signature import Signature

FORMAT: Final = "arbitre-evaluation/1"
EVALUATION: Final = "evaluation.json"
"""File of an evaluation."""
THRESHOLDS: Final = (0.5, 0.7, 0.9)
"""Qualities at which the survival curve is reported."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results of a corpus.

    A failed prediction counts as an empty prediction in pooled scores and as 0 in means.
    """

    signature: Signature
    """Every option that can change a score."""
    entries: str
    """Wildcard path of the list of entries; "" is the root."""
    document_table: DocumentTable
    """Results of the documents, in input order."""
    leaves: Scores
    """Scores over all leaves of all documents."""
    curve: Curve
    """Survival curve of the qualities of matched entries."""
    failures: tuple[Failure, ...] = ()
    """Predictions and gold documents that could not be used."""
    without_gold: tuple[str, ...] = ()
    """Names of predictions without a gold document."""
    clusters: tuple[str, ...] | None = None
    """Cluster of every document; None for the default clusters."""
    declared: tuple[str, ...] = ()
    """Paths that the schema declares."""
    repaired: tuple[Repair, ...] = ()
    """Predictions that were not valid JSON and were repaired."""
    violations: tuple[Mapping[str, Any], ...] | None = None
    """Schema violations of the predictions; None if they were not computed."""
    flat_comparison: FlatComparison | None = None
    """The best flat matching of the leaves, and the solidarity of the values; None if it was not computed."""
    diagnosis: CorpusDiagnosis | None = None
    """Faults by path and class, with their costs; None if they were not computed."""
    notes: tuple[str, ...] = ()
    """Possible mistakes in how the documents were joined, such as ids that differ only in case."""
    provenance: GoldProvenance = UNKNOWN_GOLD
    """Who annotated the gold, and how far the annotators agree."""
    chance_factory: Callable[[], Chance] | None = field(default=None, repr=False)
    """Computes the chance scores on first access."""

    @cached_property
    def chance(self) -> Chance | None:
        """Chance scores of the corpus; None if they were not wanted, or the documents are no longer available."""
        return None if self.chance_factory is None else self.chance_factory()

    @cached_property
    def trust(self) -> dict[str, Any]:
        """Intervals, chance scores and coverage, as JSON-serialisable values."""
        return uncertainty_to_json(self.sample(), self.chance, self.coverage)

    @property
    def chance_floor(self) -> Scores | None:
        """Scores of predictions compared with the gold of other documents; None if there is only one document."""
        return None if self.chance is None else self.chance.chance_score

    @property
    def gold_self_agreement(self) -> float | None:
        """Mean quality of two different entries of one gold document, in [0, 1]; None if no document has two."""
        return None if self.chance is None else self.chance.self_agreement

    @property
    def unscored(self) -> int:
        """Number of failures that affect no scored document: unreadable gold documents and duplicates."""
        return len(self.failures) - int(self.document_table.failed.sum())

    @property
    def not_scored(self) -> dict[str, int]:
        """Number of documents that are not scored, by reason."""
        gold = Counter(failure.reason.partition(":")[0] for failure in self.failures if failure.side == "gold")
        reasons = {f"gold document, {reason}": number for reason, number in gold.items()}
        reasons["duplicate prediction"] = self.unscored - gold.total()
        reasons["prediction without gold"] = len(self.without_gold)
        return {reason: number for reason, number in reasons.items() if number}

    @property
    def documents(self) -> Sequence[DocumentResult]:
        """Results of the documents, in input order."""
        return self.document_table

    @cached_property
    def micro(self) -> Scores:
        """Pooled scores of the entries of all documents."""
        return Scores(self.document_table.tally)

    @cached_property
    def macro(self) -> MacroScores:
        """Means of the documents' scores of their entries. A failed document counts as 0 in every mean."""
        return means(self.document_table.tallies, self.document_table.failed)

    @cached_property
    def by_path(self) -> dict[str, PathScores]:
        """Pooled scores and outcomes of every path with leaves and of the items of every list."""
        return self.document_table.by_path()

    @cached_property
    def outside(self) -> dict[str, PathScores]:
        """Pooled scores of the paths outside the entries, which `micro` and `macro` do not include.

        Empty if the entries are the root.
        """
        return {path: self.by_path[path] for path in outside(self.by_path, self.entries)}

    @property
    def document_quality(self) -> DocumentQuality:
        """Quality of whole documents: `.mean`, `.median`, and `.at_least(q)`, the share of documents with quality >= q.

        A failed document counts as 0.
        """
        return DocumentQuality(self.document_table.qualities)

    @cached_property
    def coverage(self) -> Coverage:
        """Paths of the schema that occur in gold, and paths that never do and are therefore not evaluated."""
        present = [path for path, scores in self.by_path.items() if scores.gold > 0.0]
        never = [
            path for path in self.declared if path and not any(f"{other}/".startswith(f"{path}/") for other in present)
        ]
        return Coverage(tuple(path for path in self.declared if path not in never), tuple(never))

    @property
    def by_document(self) -> dict[str, Scores]:
        """Scores of each document's entries, by name (its id, followed by the run if there is one)."""
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
        """Compute the confidence interval of a score, for corpora of similar documents.

        Args:
            score: The score, one of `arbitre.tally.NAMES`.
            level: Confidence level.
            method: `clopper-pearson`, `t`, `percentile` or `bca` (see `arbitre.corpus.statistics.Method`).
            cluster: Documents to resample together: a regular expression searched in their ids (the label is its first
                group or, without groups, the match), a label for every id, or a label for every document in order. By
                default `clusters`; if that is None, the runs of one document form a cluster.
            aggregate: macro or micro.
            seed: Random seed of the bootstrap.
            path: Path of the score; by default, the entries.

        Raises:
            DataError: An option has an invalid value, or a document has no cluster.
        """
        sample = self.sample(cluster=cluster, path=path)
        return interval(sample, score, average=aggregate, level=level, method=method, seed=seed)

    def sample(self, *, cluster: Cluster = None, path: str | None = None) -> Sample:
        """Return the documents as input for the statistics; see `interval` for the arguments. Raises DataError."""
        columns = self.document_table
        if path is not None and path not in columns.paths:
            raise DataError.of(
                f"Expected a path of this evaluation, got {path!r}", hint=did_you_mean(path, columns.paths)
            )
        tallies = columns.tallies if path is None else columns.path_tallies(path)
        clusters, runs = assign_clusters(columns.ids, self.clusters if cluster is None else cluster)
        return Sample.of(columns.keys, tallies, columns.failed, clusters, runs=runs)

    def worst(self, number: int = 10) -> tuple[DocumentResult, ...]:
        """Return the documents with the lowest quality, worst first. Failed documents come last: see `failures`."""
        return tuple(self.document_table.at(self.document_table.worst_first[:number]))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary that is valid against `schemas/evaluation.schema.json`.

        The same corpus always gives the same bytes.
        """
        macro = self.macro
        plain = {
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
            "thresholds": [asdict(self.curve.at(threshold)) for threshold in THRESHOLDS],
            "failures": [asdict(failure) for failure in self.failures],
            "without_gold": list(self.without_gold),
            "provenance": self.provenance.to_dict(),
            "trust": self.trust,
        }
        plain |= {} if self.flat_comparison is None else self.flat_comparison.to_dict()
        return plain if self.diagnosis is None else plain | {"diagnosis": self.diagnosis.to_dict()}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling. The chance scores are computed first, because they need the documents."""
        factory = self.chance_factory and partial(_known, self.chance)
        return vars(self) | {"chance_factory": factory}

    def _repr_html_(self) -> str:
        scores = {name: self.interval(name) for name in html.SHOWN[:4]}
        rows = [
            (name, html.bar(mean.estimate, mean.low, mean.high), html.number(getattr(self.micro, name)))
            for name, mean in scores.items()
        ]
        table = self.document_table
        worst = table.at(np.lexsort((np.arange(len(table)), table.qualities))[: html.WORST])
        worst_rows = [(one.key, one.scores.f1q, one.quality, "failed" if one.failed else "") for one in worst]
        losses = [
            (path or "(the whole)", share) for path, share in list(loss_shares(self.by_path).items())[: html.WORST]
        ]
        failed = f", {self.macro.failed} failed" * bool(self.macro.failed)
        return html.page(
            html.line(f"{_documents_text(len(table))}{failed}", strong=True),
            html.line(self.provenance.headline()),
            html.table(("", f"per-document mean ({LEVEL:.0%} interval)", "pooled"), rows),
            html.line(f"Document quality (mean): {html.number(self.document_quality.mean)}"),
            *(html.line(note) for note in scores["f1q"].notes),
            html.folded("Worst documents", html.table(("document", "f1q", "quality", ""), worst_rows)),
            html.folded("Where quality is lost", html.table(("path", "share of the loss"), losses)),
            html.paths_table(self.by_path),
            signature=self.signature,
        )

    def __repr__(self) -> str:
        f1q = self.macro.f1q
        score = "none" if f1q is None else f"{f1q:.4f}"
        return f"Evaluation({_documents_text(len(self.document_table))}, macro f1q={score})"


def _known(chance: Chance | None) -> Chance | None:
    return chance


def _documents_text(documents: int) -> str:
    return f"{documents} document" if documents == 1 else f"{documents} documents"
