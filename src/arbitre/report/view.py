"""View model of a report, serialisable to JSON that is valid against `schemas/view.schema.json`.

Unknown values are None; the page displays them as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from arbitre.parsing.fast_json import to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.report.entry_rows import EntryClass


FORMAT: Final = "arbitre-view/1"


@dataclass(frozen=True, slots=True)
class IntervalView:
    """Confidence interval of a score over similar corpora.

    For the score of one document (method "ratio"): over similar entries in that document.
    """

    low: float
    high: float
    level: float
    method: str
    resamples: int = 0
    """Number of bootstrap resamples; 0 for the methods without resampling."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """Sampling units of intervals and tests: documents or clusters; `runs` if a cluster is all runs of one document."""

    documents: int
    clusters: int | None = None
    runs: bool = False


@dataclass(frozen=True, slots=True)
class HeadlineScore:
    """One entry score: pooled (`micro`) and as the mean over documents (`macro`).

    Attributes:
        name: Name of the score.
        kind: "independent" (precision, recall, amq), "follows" (derived from these three) or "spread".
        biased: Whether the matching inflates the score.
        micro: Score of the summed tallies of all documents.
        macro: Mean of the scores of the documents.
        documents: Number of documents in the mean.
        interval: Confidence interval of the per-document mean.
        chance: Pooled score of predictions compared with the gold of other documents.
    """

    name: str
    kind: str
    biased: bool
    micro: float | None
    macro: float | None
    documents: int
    interval: IntervalView | None = None
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class PathRow:
    """Scores, outcomes and worst pairs of a wildcard path.

    `depth` is the number of its ancestors among the listed paths. `outcomes` are the numbers of values by outcome and
    their `exact_match_rate`, and how often gold and prediction lack the field; None in results of earlier versions.
    """

    path: str
    label: str
    depth: int
    scores: Mapping[str, float | None]
    outcomes: Mapping[str, float | None]
    worst: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """Document quality and entry scores of one document; `kept` if the explorer shows it."""

    key: str
    failed: bool
    quality: float
    scores: Mapping[str, float | None]
    kept: bool
    interval: IntervalView | None = None


@dataclass(frozen=True, slots=True)
class CurveView:
    """Survival curve and histogram of the qualities of the matched pairs.

    Attributes:
        steps: (quality, number of pairs with at least this quality), by ascending quality.
        bins: Number of pairs in each tenth of [0, 1]; the last bin includes quality 1.
        gold: Number of gold entries.
        predicted: Number of predicted entries.
        thresholds: Scores if only pairs with at least a given quality count.
    """

    steps: Sequence[tuple[float, float]]
    bins: Sequence[float]
    gold: float
    predicted: float
    thresholds: Sequence[Mapping[str, float | None]]


@dataclass(frozen=True, slots=True)
class TrustView:
    """Uncertainty of the scores; every part may be unknown.

    Attributes:
        intervals: Confidence intervals of the per-document means, by name of the score.
        chance: Scores of predictions compared with the gold of other documents, by name of the score.
        chance_error: Standard error of the f1q of `chance`: 0 if all pairs of documents were compared.
        sampled: Sampling units of the intervals.
        notes: Warnings about the intervals.
        never: Paths that the schema declares and gold never has.
    """

    intervals: Mapping[str, IntervalView] | None = None
    chance: Mapping[str, float | None] | None = None
    sampled: Sampled | None = None
    notes: Sequence[str] = ()
    never: Sequence[str] = ()
    chance_error: float | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> TrustView:
        """Build the view from `trust` in `evaluation.json`. The intervals are those of the per-document means."""
        drawn, chance = found["intervals"], found["chance"]
        known = {name: one for name, one in drawn["macro"].items() if one["low"] is not None}
        return cls(
            {
                name: IntervalView(one["low"], one["high"], drawn["level"], drawn["method"], drawn["resamples"])
                for name, one in known.items()
            },
            chance["floor"] if chance is not None else None,
            sampled=Sampled(drawn["documents"], drawn["clusters"], drawn["runs"]),
            notes=drawn["notes"],
            never=found["coverage"]["never"],
            chance_error=chance["standard_error"] if chance is not None else None,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrustView:
        """Build the view from the output of `dataclasses.asdict`."""
        intervals, sampled = data["intervals"], data["sampled"]
        ranges = None if intervals is None else {name: IntervalView(**one) for name, one in intervals.items()}
        units = None if sampled is None else Sampled(**sampled)
        return replace(cls(**data), intervals=ranges, sampled=units)


@dataclass(frozen=True, slots=True)
class FlatView:
    """The `solidarity` of the values and by `chance`, the `f1q` of the flat matching, and whether it is `exact`."""

    solidarity: float | None
    chance: float | None
    f1q: float | None
    exact: bool

    @classmethod
    def of(cls, evaluation: Mapping[str, Any]) -> FlatView | None:
        """Build the view from `evaluation.json`; None if there is no flat comparison."""
        if "flat" not in evaluation:
            return None
        chance = evaluation.get("solidarity_chance")
        return cls(evaluation["solidarity"], chance, evaluation["flat"]["f1q"], evaluation["flat_exact"])


@dataclass(frozen=True, slots=True)
class Subject:
    """Results of one system on a corpus.

    `classes` is the number of entries of each class (see `arbitre.report.entry_rows`), `close` the minimum quality
    of the class "close". `listed` is False if the root is the only entry, so that the scores count its fields.
    `forced` is True if every entry of the shorter list gets a partner, `moved` if entries are matched by optimal
    transport. `published` holds the scores of the first published script, averaged over documents.
    """

    name: str | None
    title: str | None
    signature: Mapping[str, Any]
    entries: str
    documents: int
    failed: int
    vacuous: int
    counts: Mapping[str, float]
    close: float
    classes: Mapping[EntryClass, float]
    listed: bool | None
    forced: bool | None
    moved: bool | None
    headline: Sequence[HeadlineScore]
    leaves: Mapping[str, float | None]
    document_quality: Mapping[str, Any]
    """Mean and median document quality, and the shares of documents that reach given qualities."""
    outside: Mapping[str, float | None]
    """f1q of every path outside the entries, worst first."""
    curve: CurveView
    paths: Sequence[PathRow]
    rows: Sequence[DocumentRow]
    certificate: Mapping[str, Any] | None
    failures: Sequence[Mapping[str, Any]]
    without_gold: Sequence[str]
    warnings: Sequence[str]
    explorer: Sequence[Mapping[str, Any]]
    provenance: Sequence[Sequence[str]] = ()
    """Provenance of the gold: the English parts of its headline, for each group of sources with the same provenance."""
    published: Mapping[str, float] | None = None
    sampled: Sampled | None = None
    """Sampling units of the intervals, if known."""
    notes: Sequence[str] = ()
    """Warnings about the intervals."""
    never: Sequence[str] = ()
    """Paths that the schema declares and gold never has."""
    chance_error: float | None = None
    """Standard error of the f1q of the chance score, if known."""
    noted: Mapping[str, int] = field(default_factory=dict)
    """Number of `repaired` predictions, of those that are JSON `in_text`, and of schema `violations`, if known."""
    faults: FaultsView | None = None
    """Faults of the predictions; None if they were not computed."""
    flat: FlatView | None = None
    """Solidarity and flat f1q; None if they were not computed."""
    causes: Mapping[str, Any] | None = None
    """Causes of the faults, as `CauseAnalysis` in JSON; None if they were not searched for.

    The causes are `rows`. Their examples name a document of `explorer` and have the excerpt of its source text.
    """
    schemas: Mapping[str, Any] = field(default_factory=dict)
    """Schemas of the values at the paths of faults, by path, as `value_schemas` returns them."""
    keep: int | None = None
    """The chosen number of documents in `explorer`; None for as many as fit."""
    confusions: Sequence[Mapping[str, Any]] = ()
    """Confusion matrices of fields with few values, most confusions first (see `ConfusionCounts.matrices`)."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """Score and interval of one system, and the groups within which no difference is significant."""

    name: str
    score: float | None
    interval: IntervalView | None = None
    groups: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """Paired test of two systems, or of two factor levels, on the documents that both have.

    Attributes:
        a: Name of the first system or level.
        b: Name of the second one.
        difference: Score of `a` minus score of `b`.
        level: Confidence level of the intervals of all differences together.
        low: Lower end of the interval of the difference.
        high: Upper end.
        p: Unadjusted p-value.
        adjusted: p-value, adjusted for all pairs.
        correction: How p was adjusted: "max-T" or "Holm".
        detectable: Smallest true difference that would be found significant with probability 0.8.
        smallest_p: Smallest p-value the test can give.
        shared: Number of documents that both have.
        significant: Whether the difference is significant; the interval excludes 0 exactly then.
        differing: Number of units on which the two differ.
        clusters: Number of clusters; None if the units are documents.
        exact: Whether all swaps were enumerated.
        swaps: Number of swaps.
    """

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None
    smallest_p: float | None
    shared: int
    significant: bool = False
    differing: int | None = None
    clusters: int | None = None
    exact: bool | None = None
    swaps: int | None = None
    level: float | None = None
    correction: str | None = None
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class DifferingDocument:
    """A document on which systems differ, with their scores in the order of the leaderboard."""

    key: str
    scores: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class SystemsView:
    """Comparison of several systems on one corpus, best first; `tests` is None if none were run."""

    score: str
    board: Sequence[LeaderboardRow]
    tests: Sequence[PairwiseTest] | None
    differing: Sequence[DifferingDocument]
    average: str = "micro"
    """"micro" (pooled) or "macro" (mean over documents)."""
    level: float = 0.95
    """Confidence level of the intervals; a difference is significant if the adjusted p <= 1 - level."""
    sampled: Sampled | None = None
    notes: Sequence[str] = ()
    """Warnings."""


@dataclass(frozen=True, slots=True)
class FactorLevel:
    """One level of a factor: number of documents, score and interval with its sampling units."""

    name: str
    documents: int
    score: float | None
    interval: IntervalView | None = None
    sampled: Sampled | None = None


@dataclass(frozen=True, slots=True)
class FactorPathRow:
    """A wildcard path as in `PathRow`, with its pooled score at each level, in the order of the levels."""

    path: str
    label: str
    depth: int
    scores: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class FactorView:
    """Effect of one factor, such as the OCR engine or the prompt: its levels and their pairwise tests.

    If the factor is not `balanced`, the levels have different documents, and score differences partly reflect the
    documents. `notes` are caveats.
    """

    name: str
    score: str
    average: str
    levels: Sequence[FactorLevel]
    tests: Sequence[PairwiseTest]
    balanced: bool
    notes: Sequence[str]
    paths: Sequence[FactorPathRow]


@dataclass(frozen=True, slots=True)
class CauseRow:
    """A cause of several subjects.

    `path` is the first path of a systematic cause. `members` are the positions in the causes of each subject; None for
    a subject without the cause.
    """

    kind: str
    path: str | None
    members: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class CausesView:
    """The causes of all subjects, largest gain first, and the values that all systems agree on against gold, if any."""

    rows: Sequence[CauseRow]
    agreed: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A report: one or several subjects, with their comparison and factors, if any.

    `causes` are those of all subjects side by side; None if they were not searched for. `calibration` compares the
    confidences of predicted values with their correctness (`Calibration` in JSON); None if they are unknown.
    """

    version: str
    subjects: Sequence[Subject]
    systems: SystemsView | None = None
    factors: Sequence[FactorView] = ()
    causes: CausesView | None = None
    calibration: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON. Its documents are JSON already, and are not copied: they are most of the page."""
        plain = to_plain(replace(self, subjects=[replace(subject, explorer=()) for subject in self.subjects]))
        for one, own in zip(plain["subjects"], self.subjects, strict=True):
            one["explorer"] = own.explorer
        return {"format": FORMAT, **plain}


@dataclass(frozen=True, slots=True)
class FaultsView:
    """Faults by path and class, the most costly first, and what their repair would gain.

    Attributes:
        groups: Path, class (`fault`), number (`count`), `cost` and `share` of the faults of one class at one path.
        classes: Gain in f1q if all faults of a class were repaired, greatest first; only classes with faults.
        paths: Gain in f1q if all faults at a path were repaired, greatest first.
        gathering: Tested groups of gold values, as in `evaluation.json`, with their position there (`at`).
        neighbours: Spurious values by path, and how many of them occur in the gold of a neighbouring document.
        source: Missing and spurious values that occur in the source texts; None if these were not searched.
        doubtful: The first doubtful alignments, with their documents.
        doubtful_count: Number of all doubtful alignments.
    """

    groups: Sequence[Mapping[str, Any]]
    classes: Mapping[str, float]
    paths: Mapping[str, float]
    gathering: Sequence[Mapping[str, Any]]
    neighbours: Sequence[Mapping[str, Any]]
    source: Mapping[str, Any] | None
    doubtful: Sequence[Mapping[str, Any]] = ()
    doubtful_count: int = 0

    @classmethod
    def of(cls, diagnosis: Mapping[str, Any]) -> FaultsView:
        """Build the view from `diagnosis` in `evaluation.json`."""
        groups = diagnosis["faults"]
        present = {group["fault"] for group in groups}
        classes = {name: gain for name, gain in diagnosis["repair_gain"].items() if name in present}
        gathering = [{**row, "at": at} for at, row in enumerate(diagnosis["gathering"]) if row["p"] is not None]
        return cls(
            groups,
            _greatest_first(classes),
            _greatest_first(diagnosis["repair_gain_by_path"]),
            gathering,
            diagnosis["neighbours"],
            diagnosis.get("source"),
            diagnosis.get("doubtful", ()),
            diagnosis.get("doubtful_count", 0),
        )


def _greatest_first(gains: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(gains.items(), key=lambda item: -item[1]))
