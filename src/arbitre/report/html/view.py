"""The view model: all that a report shows, as plain JSON, valid against `schemas/view.schema.json`.

What is not known is None, and the page says so.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT: Final = "arbitre-view/1"


@dataclass(frozen=True, slots=True)
class IntervalView:
    """Between which values a score would lie over corpora of documents like these.

    Of one document by the method "ratio": over other entries like those it holds.
    """

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True)
class Sampled:
    """The units of intervals and tests: documents, or clusters of them; `runs`: those of one document are a cluster."""

    documents: int
    clusters: int | None = None
    runs: bool = False


@dataclass(frozen=True, slots=True)
class HeadlineScore:
    """One score of the entries: of all documents together, and the mean of the documents' scores.

    `kind` is "independent" (precision, recall and amq, of which all else is made), "follows" or "spread"; `biased`
    says that the matching forces it up. `pointer` says where in `evaluation.json` the score is. `chance` is the score
    of predictions held against another document's gold.
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
    """The scores of a wildcard path, and its worst pairs; `depth` is how many listed paths hold it."""

    path: str
    label: str
    depth: int
    scores: Mapping[str, float | None]
    missing: float
    spurious: float
    worst: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document: the quality of the whole, the scores of its entries; `kept` says that the explorer has it."""

    key: str
    failed: bool
    quality: float
    scores: Mapping[str, float | None]
    kept: bool
    interval: IntervalView | None = None


@dataclass(frozen=True, slots=True)
class CurveView:
    """The survival curve of the qualities of the pairs, step by step, and how many pairs there are in each tenth.

    `steps` are (quality, how many pairs are at least this good); the last tenth holds quality 1 too. `exact` are the
    pairs of quality 1, `close` those that are close, but not equal.
    """

    steps: Sequence[tuple[float, float]]
    bins: Sequence[float]
    exact: float
    close: float
    gold: float
    predicted: float
    thresholds: Sequence[Mapping[str, float | None]]


@dataclass(frozen=True, slots=True)
class GoldReliability:
    """What the gold is worth: how far those who made it agree (`agreement`, by the name of the coefficient)."""

    agreement: Mapping[str, float | None]
    note: str = ""


@dataclass(frozen=True, slots=True)
class TrustView:
    """What says how far the scores can be trusted; all of it may be unknown. Mappings go by the names of scores.

    `chance` are the scores of predictions held against other documents' gold.
    """

    intervals: Mapping[str, IntervalView] | None = None
    chance: Mapping[str, float | None] | None = None
    reference: GoldReliability | None = None
    sampled: Sampled | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> TrustView:
        """What `trust` in `evaluation.json` says of the scores of all documents together."""
        drawn, chance = found["intervals"], found["chance"]
        known = {name: one for name, one in drawn["micro"].items() if one["low"] is not None}
        return cls(
            {
                name: IntervalView(one["low"], one["high"], drawn["level"], drawn["method"])
                for name, one in known.items()
            },
            chance["floor"] if chance is not None else None,
            sampled=Sampled(drawn["documents"], drawn["clusters"], drawn["runs"]),
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrustView:
        """The inverse of `dataclasses.asdict`."""
        intervals, reference, sampled = data["intervals"], data["reference"], data["sampled"]
        return cls(
            None if intervals is None else {name: IntervalView(**one) for name, one in intervals.items()},
            data["chance"],
            None if reference is None else GoldReliability(**reference),
            None if sampled is None else Sampled(**sampled),
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """One system on a corpus: all that is said of it.

    `forced` and `moved` say how entries are matched: every one of the shorter list is given a partner; as mass that is
    moved between them. `published` are the figures of the first published script, means over the documents.
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
    forced: bool | None
    moved: bool | None
    headline: Sequence[HeadlineScore]
    leaves: Mapping[str, float | None]
    document_quality: Mapping[str, Any]
    """The mean and median quality of whole documents, and the shares that reach some qualities."""
    outside: Mapping[str, float | None]
    """The f1q of every path outside the entries, the worst first."""
    curve: CurveView
    paths: Sequence[PathRow]
    rows: Sequence[DocumentRow]
    certificate: Mapping[str, Any] | None
    failures: Sequence[Mapping[str, Any]]
    without_gold: Sequence[str]
    warnings: Sequence[str]
    explorer: Sequence[Mapping[str, Any]]
    reference: GoldReliability | None = None
    published: Mapping[str, float] | None = None
    sampled: Sampled | None = None
    """The units of its intervals, where these are known."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """The place of one system: its score, its interval, and the groups of systems it cannot be told from."""

    name: str
    score: float | None
    interval: IntervalView | None = None
    groups: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class PairwiseTest:
    """Two systems, or levels, on the documents they share: the difference of their scores, its interval and its p.

    `adjusted` is p by Holm, `significant` says that a difference is shown; the interval excludes 0 exactly there.
    `shared` is the number of documents, `clusters` that of the clusters, None where documents are the units;
    `differing` is the number of units on which the two differ, `swaps` that of the swaps of the test.
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


@dataclass(frozen=True, slots=True)
class DifferingDocument:
    """A document on which systems differ: the score of each, in the order of the leaderboard."""

    key: str
    scores: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class SystemsView:
    """Several systems on one corpus, the best first; `tests` is None where none were made."""

    score: str
    board: Sequence[LeaderboardRow]
    tests: Sequence[PairwiseTest] | None
    differing: Sequence[DifferingDocument]
    average: str = "micro"
    """Of all entries together, or the mean of the documents ("macro")."""
    level: float = 0.95
    """Confidence level of the intervals; a difference is shown where the adjusted p is at most 1 less it."""
    sampled: Sampled | None = None


@dataclass(frozen=True, slots=True)
class FactorLevel:
    """One level of a factor: how many documents have it, its score and the interval of that."""

    name: str
    documents: int
    score: float | None
    interval: IntervalView | None = None


@dataclass(frozen=True, slots=True)
class FactorPathRow:
    """A wildcard path as in `PathRow`, with its score over all entries at every level, in their order."""

    path: str
    label: str
    depth: int
    scores: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class FactorView:
    """What one factor (the OCR, the prompt) does: its levels, and every two of them on the documents that both have.

    Where it is not `balanced` the levels have other documents, so that the difference of two scores is not that of the
    levels. `notes` say what to be careful about.
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
class View:
    """A report: one subject or several, and what is said of several together, or of factors."""

    version: str
    subjects: Sequence[Subject]
    systems: SystemsView | None = None
    factors: Sequence[FactorView] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}
