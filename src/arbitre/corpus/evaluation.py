"""`Evaluation`: the results of a corpus, with the scores and tables computed from them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np

from arbitre.comparison import html_repr as html
from arbitre.corpus.documents import (
    Coverage,
    DocumentQuality,
    DocumentResult,
    DocumentTable,
    document_frame,
    path_frame,
)
from arbitre.corpus.quality_bounds import check_bounds, require, with_paths
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.inputs.join import DUPLICATES
from arbitre.inputs.provenance import UNKNOWN_GOLD
from arbitre.inputs.records import key
from arbitre.language import Language, Translator, counted
from arbitre.paths import outside
from arbitre.statistics.intervals import LEVEL, METHOD, interval, intervals_to_dict
from arbitre.statistics.sample import Sample, assign_clusters, means
from arbitre.storage.temporary import TemporaryFolder
from arbitre.tables.arrow import dataset
from arbitre.tables.table import WHOLE, Table
from arbitre.tally import MacroScores, PathScores, Scores, ScoresByPath
from arbitre.text.scores import KINDS, ValuePair, score_segmentations, score_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.classification import Classification
    from arbitre.comparison.cause import Cause, CauseAnalysis
    from arbitre.comparison.coreference import CoreferenceCounts, CoreferenceScores
    from arbitre.comparison.flat import FlatComparison
    from arbitre.comparison.leaf_pairs import LeafPair, Row
    from arbitre.corpus.chance import Chance
    from arbitre.curve import Curve
    from arbitre.diagnosis.corpus_diagnosis import CorpusDiagnosis
    from arbitre.inputs.provenance import GoldProvenance
    from arbitre.inputs.records import Failure, RepairedPrediction
    from arbitre.options import Average
    from arbitre.signature import Signature
    from arbitre.statistics.intervals import Interval, Method
    from arbitre.statistics.sample import Cluster
    from arbitre.tables.arrow import Frame
    from arbitre.text.scores import SegmentationScores, TextScores
    from arbitre.values import Json


def loss_shares(by_path: Mapping[str, Scores]) -> dict[str, float]:
    """Return the share of the lost leaf quality by path, largest first.

    All leaves have the same weight here, so these shares can differ from the shares of the loss in the entry scores.
    Lists and objects are left out: their leaves cover them.
    """
    lost = {
        path: scores.gold + scores.predicted - scores.matched - scores.quality_mass
        for path, scores in by_path.items()
        if not any(other.startswith(f"{path}/") for other in by_path)
    }
    total = math.fsum(lost.values())
    ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    return {path: share / total for path, share in ordered if share > 0.0}


FORMAT: Final = "arbitre-evaluation/1"
EVALUATION: Final = "evaluation.json"
"""File of an evaluation."""
THRESHOLDS: Final = (0.5, 0.7, 0.9)
"""Qualities at which the survival curve is reported."""
TABLES: Final = ("documents", "paths", "matches", "faults")
"""Names of the tables of an evaluation."""


class DetailReader(Protocol):
    """Details that an evaluation does not hold itself: its entries, faults and values, and its files.

    They are read from the folder of the results or, if there is none, computed from the documents. All methods raise
    DataError if neither contains these results any more.
    """

    def matches(self, evaluation: Evaluation) -> Frame:
        """Return the table of entries."""

    def faults(self, evaluation: Evaluation) -> Frame:
        """Return the table of faults."""

    def row_file(self, evaluation: Evaluation, name: str) -> Path | None:
        """Return the file of the table of entries or of faults; None if there is none."""

    def flat(self, evaluation: Evaluation) -> FlatComparison:
        """Return the best flat matching of the leaves."""

    def coreference(self, evaluation: Evaluation) -> dict[str, CoreferenceCounts]:
        """Return the coreference counts of all documents, by scope."""

    def causes(self) -> CauseAnalysis:
        """Return the causes of the faults."""

    def values(self, path: str) -> tuple[list[Row], str | None]:
        """Return the single values at a path with their partners, and what list items are matched by."""

    def leaf_pairs(self, path: str, *, normalized: bool = False) -> list[LeafPair]:
        """Return the pairs of leaves at a path, with their original or normalised values."""

    def report(self, evaluation: Evaluation, file: Path, language: str) -> None:
        """Write the report."""

    def save(self, evaluation: Evaluation, folder: Path, *, lang: str | None, force: bool) -> tuple[str, ...]:
        """Write all files to a folder of results and return their names."""

    def write(self, evaluation: Evaluation, folder: Path) -> tuple[str, ...]:
        """Write all files to a folder that is being written (see `output_folder`) and return their names."""

    def complete(self, evaluation: Evaluation) -> bool:
        """Return whether the folder of the evaluation has all files, or is the only source of the details."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The results of comparing a corpus, available as scores, tables, files and a report.

    A failed prediction counts as an empty prediction in pooled scores and as 0 in means.

    The results of individual entries (the table of matches, the report) come from a folder of results. If the
    evaluation was not written to a folder, the documents are compared again when these results are first used. Do not
    modify the documents until then.

    You can pickle an evaluation. Documents in memory are pickled with it, but documents in files are not: the results
    of individual entries are then available only if `folder` contains them.
    """

    signature: Signature
    """The options that can change a score. Scores are comparable only if their signatures are equal."""
    entries: str
    """Wildcard path of the list of entries; "" is the root."""
    document_table: DocumentTable
    """Results of the documents, in input order."""
    leaves: Scores
    """Scores over all leaves of all documents."""
    curve: Curve
    """Survival curve of the qualities of the matched entries."""
    failures: tuple[Failure, ...] = ()
    """Predictions and gold documents that could not be read or compared."""
    without_gold: tuple[str, ...] = ()
    """Names of predictions without a gold document."""
    clusters: tuple[str, ...] | None = None
    """Cluster of each document; None by default, in which case the runs of one document form a cluster."""
    declared: tuple[str, ...] = ()
    """Paths that the schema declares."""
    repaired: tuple[RepairedPrediction, ...] = ()
    """Predictions that were repaired because they were not valid JSON, or that are texts containing JSON."""
    violations: tuple[Mapping[str, Any], ...] | None = None
    """Schema violations of the predictions; None unless `validate` is set."""
    flat_comparison: FlatComparison | None = None
    """The best flat matching of the leaves, and the solidarity; None unless `flat` or `diagnose` is set."""
    diagnosis: CorpusDiagnosis | None = None
    """Faults by path and class, with their costs (see [diagnosis](diagnosis.md)); None unless `diagnose` is set."""
    notes: tuple[str, ...] = ()
    """Possible mistakes in how gold and predictions were joined, such as ids that differ only in case."""
    provenance: GoldProvenance = UNKNOWN_GOLD
    """Who annotated the gold, and how well the annotators agree; see [provenance](corpora.md#provenance-of-gold)."""
    chance_factory: Callable[[], Chance] | None = field(default=None, repr=False)
    """Computes the chance scores on first access."""
    cause_factory: Callable[[], CauseAnalysis] | None = field(default=None, repr=False)
    """Finds the causes of the faults on first access; None if they are not part of the results."""
    files: tuple[str, ...] = ()
    """Names of the files written to `folder`."""
    folder: Path | None = field(default=None, repr=False)
    """Folder that the results were written to; None if they were not written."""
    lang: Language = field(default=Language.EN, repr=False)
    """Language of the report and of the notebook display."""
    reader: DetailReader | None = field(default=None, repr=False)
    """Reads or computes what the evaluation does not hold; None if the documents are no longer available."""

    @cached_property
    def chance(self) -> Chance | None:
        """Chance scores of the corpus; None if they were not computed, or if the documents are no longer available."""
        return None if self.chance_factory is None else self.chance_factory()

    @cached_property
    def trust(self) -> dict[str, Any]:
        """Confidence intervals, chance scores and coverage, as JSON-serialisable data."""
        return {
            "intervals": self.intervals,
            "chance": None if self.chance is None else self.chance.to_dict(),
            "coverage": self.coverage.to_dict(),
        }

    @cached_property
    def intervals(self) -> dict[str, Any]:
        """The confidence intervals of all scores with the default options, as JSON-serialisable data."""
        return intervals_to_dict(self.sample())

    @cached_property
    def cause_analysis(self) -> CauseAnalysis:
        """The causes of the faults, and the number of documents that were searched for causes.

        If the evaluation has not searched for causes, the documents are compared again. Raises DataError if they are no
        longer available.
        """
        return self._reader.causes() if self.cause_factory is None else self.cause_factory()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The [causes](diagnosis.md#causes) of the faults, largest gain first; see `cause_analysis`."""
        return self.cause_analysis.causes

    @property
    def chance_floor(self) -> Scores | None:
        """Scores of predictions compared with the gold of other documents; None if it was not computed."""
        return None if self.chance is None else self.chance.chance_score

    @property
    def gold_self_agreement(self) -> float | None:
        """Mean quality between two entries of the same gold document, in [0, 1]; None if undefined."""
        return None if self.chance is None else self.chance.self_agreement

    @property
    def unscored(self) -> int:
        """Number of failures that affect no scored document.

        These are unusable or duplicate gold documents, duplicate predictions, and unusable predictions that belong to
        no gold document.
        """
        return len(self.failures) - int(self.document_table.failed.sum())

    @property
    def not_scored(self) -> dict[str, int]:
        """Number of documents that were not scored, by reason."""
        failed = np.flatnonzero(self.document_table.failed)
        listed = {one.key for one in self.document_table.at(failed)} | set(self.without_gold)
        reasons = Counter[str]()
        for one in self.failures:
            what = "gold document" if one.side == "gold" else "prediction"
            if one.reason in DUPLICATES:
                reasons[f"duplicate {what}"] += 1
            elif one.side == "gold" or one.id is None or key(one.id, one.run) not in listed:
                reasons[f"unusable {what}"] += 1
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
        """Per-document means of the entry scores. A failed document counts as 0 in every mean."""
        return means(self.document_table.tallies, self.document_table.failed)

    @cached_property
    def by_path(self) -> ScoresByPath:
        """Pooled scores and outcomes by wildcard path, for leaves and list items.

        `by_path()` is equivalent.
        """
        return self.document_table.by_path()

    @cached_property
    def outside(self) -> dict[str, PathScores]:
        """Pooled scores of the paths outside the entries, which `micro` and `macro` do not include.

        Empty if the root is the only entry.
        """
        return {path: self.by_path[path] for path in outside(self.by_path, self.entries)}

    @property
    def document_quality(self) -> DocumentQuality:
        """Quality of whole documents, in [0, 1]: mean, median, and share of documents with at least a given quality.

        A failed document counts as 0, and a vacuous document (empty on both sides) as 1.
        """
        return DocumentQuality(self.document_table.qualities)

    @cached_property
    def coverage(self) -> Coverage:
        """The schema paths that occur in gold, and those that do not occur and are therefore not evaluated."""
        present = [path for path, scores in self.by_path.items() if scores.gold > 0.0]
        never = [
            path for path in self.declared if path and not any(f"{other}/".startswith(f"{path}/") for other in present)
        ]
        return Coverage(tuple(path for path in self.declared if path not in never), tuple(never))

    @property
    def by_document(self) -> dict[str, Scores]:
        """Entry scores by document name (the id, followed by the run if there is one)."""
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
        """Compute a confidence interval for a score, treating the corpus as a random sample of similar documents.

        Args:
            score: The score, one of `arbitre.tally.NAMES`.
            level: Confidence level.
            method: `clopper-pearson`, `t`, `percentile` or `bca` (see `arbitre.statistics.Method`).
            cluster: Documents to resample together: a regular expression searched in their ids (the label is its first
                group or, without groups, the match), a label for every id, or a label for every document in order. By
                default `clusters`; if that is None, the runs of one document form a cluster.
            aggregate: macro or micro.
            seed: Random seed of the bootstrap.
            path: Path of the score; by default, the entries.

        Raises:
            OptionError: An option has an invalid value.
            DataError: The path is unknown, or a document has no cluster.
        """
        sample = self.sample(cluster=cluster, path=path)
        return interval(sample, score, average=aggregate, level=level, method=method, seed=seed)

    def sample(self, *, cluster: Cluster = None, path: str | None = None) -> Sample:
        """Return the documents as input for `arbitre.statistics`; see `interval` for the arguments and errors."""
        columns = self.document_table
        if path is not None and path not in columns.paths:
            raise DataError.of(
                f"Expected a path of this evaluation, got {path!r}", hint=did_you_mean(path, columns.paths)
            )
        tallies = columns.tallies if path is None else columns.path_tallies(path)
        clusters, runs = assign_clusters(columns.ids, self.clusters if cluster is None else cluster)
        named = columns.ids if set(columns.runs.names) <= {None} else columns.keys
        return Sample.of(named, tallies, columns.failed, clusters, runs=runs)

    def worst(self, number: int = 10) -> tuple[DocumentResult, ...]:
        """Return the documents with the lowest quality, worst first. Failed documents come last; see `failures`."""
        return tuple(self.document_table.at(self.document_table.worst_first[:number]))

    def table(self, name: str = "documents") -> Table:
        """Return one of the result tables: "documents", "paths", "matches" or "faults".

        In "matches" and "faults", the compared values are given as texts, as in the files of these tables.

        Args:
            name: "documents" (one row per document), "paths" (one row per path), "matches" (one row per entry, with
                the values of gold and prediction) or "faults" (see `faults`).

        Raises:
            OptionError: There is no such table.
            DataError: The documents are no longer available for the table of matches or of faults.
        """
        if name == "documents":
            return Table.of_frame(document_frame(self.document_table, self.signature))
        if name == "paths":
            return Table.of_frame(path_frame(self.by_path, self.signature))
        if name == "matches":
            return Table.of_frame(self._reader.matches(self))
        if name == "faults":
            return self.faults()
        raise OptionError.of(f"Expected a table, got {name!r}", hint=did_you_mean(name, TABLES))

    def faults(self) -> Table:
        """Return the table of [faults](diagnosis.md#faults-of-a-corpus).

        If `diagnose` was not set, the documents are compared again.

        Raises:
            DataError: The documents are no longer available.
        """
        return Table.of_frame(self._reader.faults(self))

    def scan(self, table: str = "documents") -> Any:  # noqa: ANN401  (pyarrow is optional)
        """Return a table as a `pyarrow.dataset.Dataset`, which reads rows and columns only when they are needed.

        Use this for the matches and faults of a [large corpus](corpora.md#large-corpora). `polars.scan_pyarrow_dataset`
        turns the result into a lazy frame.

        Args:
            table: As for `table`.

        Raises:
            OptionError: There is no such table.
            DataError: As for `table`, or pyarrow is not installed.
        """
        file = self._reader.row_file(self, table) if table in {"matches", "faults"} else None
        return dataset(file if file is not None and file.suffix == ".parquet" else self.to_arrow(table))

    @property
    def solidarity(self) -> float | None:
        """Leaf quality within the matched entries, divided by leaf quality in the best flat matching.

        In [0, 1]; None if undefined, or if lists are matched by transport. See [solidarity](diagnosis.md#solidarity).
        If neither `diagnose` nor `flat` was set, the documents are compared again.

        Raises:
            DataError: The documents are no longer available.
        """
        return self._flat.solidarity

    @property
    def flat(self) -> Scores:
        """Pooled scores over all leaves in the best flat matching, which ignores entry boundaries; see `solidarity`."""
        return self._flat.flat

    @property
    def flat_by_path(self) -> Mapping[str, Scores]:
        """Pooled scores in the best flat matching, by wildcard path; see `solidarity`."""
        return self._flat.flat_by_path

    @cached_property
    def coreference(self) -> Mapping[str, CoreferenceScores]:
        """Coreference scores of the [references](references.md#what-is-wrong) in all documents, by scope.

        The documents are compared again on first access.

        Raises:
            DataError: The documents are no longer available.
        """
        return {scope: counts.scores for scope, counts in self._reader.coreference(self).items()}

    @cached_property
    def _flat(self) -> FlatComparison:
        return self._reader.flat(self) if self.flat_comparison is None else self.flat_comparison

    def to_arrow(self, table: str = "documents") -> Any:  # noqa: ANN401  (pyarrow is optional)
        """Return a table as a `pyarrow.Table`; see `table`. Raises DataError if pyarrow is not installed."""
        return self.table(table).to_arrow()

    def to_pandas(self, table: str = "documents") -> Any:  # noqa: ANN401  (pandas is optional)
        """Return a table as a `pandas.DataFrame`; see `table`. Raises DataError if pandas is not installed."""
        return self.table(table).to_pandas()

    def to_polars(self, table: str = "documents") -> Any:  # noqa: ANN401  (polars is optional)
        """Return a table as a `polars.DataFrame`; see `table`. Raises DataError if Polars is not installed."""
        return self.table(table).to_polars()

    def classification(self, path: str, labels: Json | Sequence[Json] = None) -> Classification:
        """Return the [confusion matrix](classification.md) of the values at a path of all documents.

        The documents are compared again. See `Comparison.classification`.

        Args:
            path: Wildcard path of single values, such as "/people/*/role".
            labels: The labels to report, in order; by default, all that occur, sorted.

        Raises:
            DataError: No single value was compared at the path, or the documents are no longer available.
        """
        from arbitre.comparison.leaf_pairs import classify  # noqa: PLC0415  (most evaluations do not need it)

        rows, matched_by = self._reader.values(path)
        return classify(rows, path, self.by_path, labels, matched_by)

    def text(self, path: str, kinds: str | Sequence[str] = KINDS) -> TextScores:
        """Return ROUGE, BLEU and chrF of the texts at a path, as `arbitre text corpus` does.

        The documents are compared again. BLEU and chrF are computed over the whole corpus; ROUGE is averaged over the
        gold texts, and is 0 for a pair of empty texts. A missing text counts as empty. The normalisers of the path
        apply. If gold lists several accepted forms of a text, all of them serve as references.

        Args:
            path: Wildcard path of texts, such as "/summary" or "/pages/*/abstract".
            kinds: Kinds of ROUGE, as for `arbitre.text.rouge`.

        Raises:
            DataError: There are no gold texts at the path, the documents are no longer available, or rouge-score is
                not installed.
            SchemaError: sacrebleu is not installed.
        """
        return score_texts(self._value_pairs(path), kinds)

    def segmentation(self, path: str, k: int | None = None) -> SegmentationScores:
        """Return WindowDiff, Pk and the generalised Hamming distance of all segmentations at a path.

        The documents are compared again. The normalisers of the path apply.

        Args:
            path: Wildcard path of segmentations, which must be compared as single values: give them a distance such as
                `window-diff`.
            k: Number of positions of a window; by default half of the mean segment of each gold segmentation.

        Raises:
            DataError: There are no gold segmentations at the path, or the documents are no longer available.
        """
        return score_segmentations(self._value_pairs(path), k)

    def leaf_pairs(self, path: str) -> list[LeafPair]:
        """Return the pairs of gold and predicted leaves at a wildcard path. The documents are compared again.

        Raises:
            DataError: The documents are no longer available.
        """
        return self._reader.leaf_pairs(path)

    def _value_pairs(self, path: str) -> list[ValuePair]:
        return [ValuePair(pair.gold, pair.predicted) for pair in self._reader.leaf_pairs(path, normalized=True)]

    @property
    def _reader(self) -> DetailReader:
        if self.reader is None:
            raise unavailable()
        return self.reader

    def report(self, path: str | Path, *, lang: str | None = None, language: str | None = None) -> None:
        """Write the [report](report.md) as a single HTML page.

        Args:
            path: File of the page. An existing file is replaced only if arbitre wrote it.
            lang: "en" or "fr"; by default the language of the evaluation.
            language: Former name of `lang`.

        Raises:
            OptionError: The language is unknown.
            DataError: The documents are no longer available, or the file cannot be written.
        """
        self._reader.report(self, Path(path), language or lang or self.lang)

    def save(self, folder: str | Path, *, lang: str | None = None, force: bool = False) -> tuple[str, ...]:
        """Write the [files](reference/files.md) of `arbitre evaluate --out`; `arbitre.load` reads them back.

        Args:
            folder: Folder of the results: new, empty, or with earlier results.
            lang: Language of the report, "en" or "fr"; by default that of the evaluation or, if it was loaded, that of
                its report.
            force: Whether to write to a folder that already contains other files, which are kept.

        Returns:
            The names of the files.

        Raises:
            OptionError: The language is unknown.
            DataError: The documents are no longer available, a file cannot be written, or the folder contains files
                that arbitre did not write.
        """
        return self._reader.save(self, Path(folder), lang=lang, force=force)

    @property
    def details(self) -> Path:
        """Folder with all result files. If there is none yet, the files are written to a temporary folder."""
        if self.folder is not None and self._reader.complete(self):
            return self.folder
        return self._written.path

    @cached_property
    def _written(self) -> TemporaryFolder:
        """Temporary folder with all files of these results, deleted with this object."""
        folder = TemporaryFolder()
        self._reader.write(self, folder.path)
        return folder

    def assert_at_least(
        self, *, paths: Mapping[str, float | Mapping[str, float]] | None = None, **scores: float
    ) -> None:
        """Raise an error if a score is below its minimum, for use in tests.

        Args:
            paths: Minimum f1q by path, or minimum scores by path: `{"/people/*/name": {"irq": 0.8}}`.
            **scores: Minimum of each measure, as in `check_bounds`: `f1q=0.9`, `document_quality=0.9`,
                `**{"macro.f1q": 0.9}`.

        Raises:
            QualityBoundError: A score is below its minimum. The error is also an AssertionError and names each one.
            OptionError: A score is unknown, or a bound is out of range.
            DataError: A path is unknown.

        >>> import arbitre
        >>> evaluation = arbitre.Comparator({"type": "string"}).evaluate([("a", "yes", "yes"), ("b", "yes", "no")])
        >>> evaluation.assert_at_least(f1q=0.2)
        >>> evaluation.assert_at_least(f1q=0.9, document_quality=0.5)
        Traceback (most recent call last):
        arbitre.errors.QualityBoundError: micro f1q is 0.6250, 0.2750 below 0.9
        """
        require(check_bounds(self, fail_under=with_paths(scores, paths)))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary that is valid against `schemas/evaluation.schema.json`.

        Evaluating the same corpus again gives an identical dictionary.
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
        plain |= {} if self.violations is None else {"violations": [dict(violation) for violation in self.violations]}
        plain |= {} if self.cause_factory is None else {"causes": self.cause_analysis.to_dict()}
        plain |= {} if self.flat_comparison is None else self.flat_comparison.to_dict()
        return plain if self.diagnosis is None else plain | {"diagnosis": self.diagnosis.to_dict()}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling. What needs the documents, such as the chance scores, is computed first."""
        factory = self.chance_factory and partial(known, self.chance)
        causes = self.cause_factory and partial(known, self.cause_analysis)
        state = vars(self) | {"chance_factory": factory, "cause_factory": causes}
        state.pop("_written", None)  # is only valid in this process
        return state

    def _repr_html_(self) -> str:
        say = Translator(self.lang)
        line, listed, folded = (partial(part, say=say) for part in (html.line, html.table, html.folded))
        ends, macro = self.intervals["macro"], self.macro
        rows = [
            (
                say.score(name),
                html.bar(getattr(macro, name), ends[name]["low"], ends[name]["high"], say=say),
                say.localized(html.number(getattr(self.micro, name))),
            )
            for name in html.SHOWN[:4]
        ]
        table = self.document_table
        worst = table.at(np.lexsort((np.arange(len(table)), table.qualities))[: html.WORST])
        worst_rows = [(one.key, one.scores.f1q, one.quality, say("failed") * one.failed) for one in worst]
        losses = [
            (path or say.word(WHOLE), share) for path, share in list(loss_shares(self.by_path).items())[: html.WORST]
        ]
        failed = f", {self.macro.failed} failed" * bool(self.macro.failed)
        return html.page(
            line(f"{counted(len(table), 'document')}{failed}", strong=True),
            line(self.provenance.headline()),
            listed(("", f"per-document mean ({LEVEL:.0%} interval)", "pooled"), rows),
            line(f"Document quality (mean): {html.number(self.document_quality.mean)}"),
            *map(line, self.intervals["notes"]),
            folded("Worst documents", listed(("document", "f1q", "quality", ""), worst_rows)),
            folded("Where leaf quality is lost (unweighted)", listed(("path", "share of the loss"), losses)),
            html.paths_table(self.by_path, say=say),
            signature=self.signature,
        )

    def __repr__(self) -> str:
        f1q = self.macro.f1q
        score = "none" if f1q is None else f"{f1q:.4f}"
        return f"Evaluation({counted(len(self.document_table), 'document')}, macro f1q={score})"


_COMPUTED: Final = {
    name for name, value in vars(Evaluation).items() if isinstance(value, cached_property) and name != "_written"
}
"""Names of the attributes that are computed on first access."""

E = TypeVar("E", bound=Evaluation)
_Value = TypeVar("_Value")


def extend(kind: type[E], results: Evaluation, **more: Any) -> E:  # noqa: ANN401  (the values of any fields)
    """Return the results as an object of this class with other values of some fields; what is computed is kept."""
    made = kind(**{attribute.name: getattr(results, attribute.name) for attribute in fields(results)} | more)
    vars(made).update({name: value for name, value in vars(results).items() if name in _COMPUTED})
    return made


def unavailable(*, stored: bool = False) -> DataError:
    """Return the error for documents that are no longer available; `stored` if the results were loaded or unpickled."""
    return DataError.of(
        "The documents of this evaluation are no longer available",
        hint="Loaded results do not contain the documents. Evaluate the documents again to compute this."
        if stored
        else "Pass them as a list instead of an iterator, or write the results with `out`. To get the faults, also "
        "set `diagnose`.",
    )


def known(value: _Value) -> _Value:
    """Return the value unchanged. `partial(known, value)` returns a known result and can be pickled."""
    return value
