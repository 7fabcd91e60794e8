"""Ranks systems on the same documents, with paired tests of their differences."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import scipy

from arbitre.comparison import html_repr as html
from arbitre.corpus.evaluation import loss_shares
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.inputs.document_ids import quote_names
from arbitre.inputs.provenance import UNKNOWN_GOLD, GoldProvenance
from arbitre.language import ENGLISH, Language, Translator
from arbitre.statistics.intervals import METHOD, Interval, interval
from arbitre.statistics.paired_tests import contrasts, groups, threshold
from arbitre.statistics.sample import (
    Sample,
    assign_clusters,
    estimate,
    sample_sizes,
    side_by_side,
    value,
    weigh_for_beta,
)
from arbitre.systems.cause_costs import CauseCosts
from arbitre.systems.run_stability import RunStability
from arbitre.tables.table import WHOLE, probability

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from arbitre.corpus.evaluation import Evaluation
    from arbitre.options import Average
    from arbitre.statistics.intervals import Method
    from arbitre.statistics.paired_tests import Correction, Difference
    from arbitre.statistics.sample import Cluster, SampleSize


def sample_documents(evaluation: Evaluation, cluster: Cluster) -> Sample:
    """Return the documents as a sample.

    Keys are ids if each document has one prediction. Otherwise keys are ids with runs, and by default the runs of one
    document form a cluster.
    """
    columns = evaluation.document_table
    clusters, runs = assign_clusters(columns.ids, evaluation.clusters if cluster is None else cluster)
    keys = columns.ids if len(set(columns.ids)) == len(columns.ids) else columns.keys
    return Sample.of(keys, columns.tallies, columns.failed, clusters, runs=runs)


def check_runs(systems: Mapping[str, Iterable[tuple[str, str | None]]]) -> None:
    """Check that systems with the same documents have the same runs of them.

    Args:
        systems: Ids and runs of the predictions of each system.

    Raises:
        DataError: The documents are the same, but not their runs.
    """
    known = {name: list(labels) for name, labels in systems.items()}
    ids = {name: frozenset(identity for identity, _ in labels) for name, labels in known.items()}
    if len(set(ids.values())) > 1:
        return  # the paired tests refuse different documents
    several = {name: len(ids[name]) < len(labels) for name, labels in known.items()}
    if len({frozenset(labels) if several[name] else ids[name] for name, labels in known.items()}) == 1:
        return
    runs = {name: sorted({run for _, run in labels if run is not None}) for name, labels in known.items()}
    if len({tuple(names) for names in runs.values()}) == 1:
        raise _missing_runs(known)
    named = (
        f"{name} has {f'the runs {quote_names(names)}' if names[1:] else 'one run'}" for name, names in runs.items()
    )
    raise DataError.of(
        f"Expected all systems to have the same runs of each document, got different ones: {'; '.join(named)}",
        hint="Rank each run as a system of its own, with one file per run (NAME-1=FILE NAME-2=FILE), or give every "
        "system the same runs under `run`.",
    )


def _missing_runs(systems: Mapping[str, Sequence[tuple[str, str | None]]]) -> DataError:
    """Return the error about a document whose runs differ between systems, given the ids and runs of each system."""
    runs: dict[str, defaultdict[str, set[str | None]]] = {name: defaultdict(set) for name in systems}
    for name, labels in systems.items():
        for identity, run in labels:
            runs[name][identity].add(run)
    first = next(iter(runs.values()))
    identity = next(one for one, own in first.items() if any(own != others[one] for others in runs.values()))
    every = set().union(*(own[identity] for own in runs.values()))
    missing = next(gone for own in runs.values() if (gone := sorted(filter(None, every - own[identity]))))
    named = "; ".join(f"{name} has {_runs_of_document(own[identity])}" for name, own in runs.items())
    example = json.dumps({"id": identity, "run": missing[0], "predicted": None}, ensure_ascii=False)
    return DataError.of(
        f"Expected all systems to have the same runs of each document, got different ones for {identity!r}: {named}",
        hint=f"Give every prediction its `run`, and add a record for each missing prediction, for example {example}.",
    )


def _runs_of_document(runs: Collection[str | None]) -> str:
    names = sorted(filter(None, runs))
    if not names:
        return "one run without a name" if runs else "none"
    return f"the run{'s' * (len(names) > 1)} {quote_names(names)}"


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions:
    """Statistical options for comparing systems or factor levels.

    `method` is the method of the intervals (see `arbitre.statistics.Method`). `cluster` defines the documents to
    resample together (see `Evaluation.interval`); by default the predictions of one document form a cluster.
    """

    # from arbitre.options: Statistics
    aggregate: Average = "macro"
    """How to average scores: per document (macro) or pooled over entries (micro)."""
    level: float = 0.95
    """Confidence level; a difference is significant if p <= 1 - level."""
    seed: int = 0
    """Random seed of the bootstrap and the permutation tests."""
    # end of the options
    method: Method = METHOD
    cluster: Cluster = None


SCORES: Final = ("f1q", "imq", "irq", "amq")
"""Scores that are shown side by side. Each is ranked separately; there is no composite score."""
_DEFAULTS: Final = StatisticsOptions()


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """A system in a ranking, with its scores and ranks.

    Attributes:
        name: Name of the system.
        score: The score, with its interval.
        floor: Chance score (see `Evaluation.chance_floor`); None if undefined.
        failed: Number of failed documents.
        document_quality: Mean document quality.
        scores: The scores shown side by side.
        ranks: Rank of the system in each of these scores, from 1 (best).
        mean_rank: Mean of the ranks.
        lacking: Share of the quality lost in all leaves, by path; weights are ignored.
    """

    name: str
    score: Interval
    floor: float | None
    failed: int
    document_quality: float | None
    scores: Mapping[str, float | None]
    ranks: Mapping[str, float]
    mean_rank: float
    lacking: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PairwiseResult:
    """The result of a paired test of two systems. Unknown values are None.

    Attributes:
        a: Name of the first system.
        b: Name of the second system.
        difference: Score of `a` minus score of `b`.
        low: Lower end of the interval of the difference.
        high: Upper end of the interval of the difference.
        level: Confidence level of the intervals of all pairs together.
        p: Two-sided p.
        p_adjusted: p adjusted for all pairs, by `correction`.
        p_holm: p adjusted for all pairs by Holm (1979).
        correction: "max-T" or "Holm" (see `arbitre.statistics.paired_tests.Correction`).
        significant: Whether `p_adjusted` is at most 1 minus the level of the ranking. The interval then excludes 0.
        detectable: Smallest true difference that would be found significant with probability 0.8.
        smallest_p: Smallest p that is possible with `differing` units.
        differing: Number of documents (or clusters) on which the systems differ.
        clusters: Number of clusters in which the score is defined for at least one of the two systems; None if each
            document is a unit.
        exact: Whether all swaps were enumerated.
        swaps: Number of swaps.
    """

    a: str
    b: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    p_holm: float | None = None
    correction: Correction | None = None
    significant: bool = False
    detectable: float | None = None
    smallest_p: float | None = None
    differing: int | None = None
    clusters: int | None = None
    exact: bool | None = None
    swaps: int | None = None

    def facing(self, name: str) -> PairwiseResult:
        """Return the result with the named system, one of the two, as `a`."""
        if name == self.a:
            return self
        difference, low, high = (
            None if value is None else 0.0 - value for value in (self.difference, self.high, self.low)
        )
        return replace(self, a=self.b, b=self.a, difference=difference, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking of systems, with paired tests of their differences.

    Attributes:
        score: Name of the score.
        aggregate: micro or macro.
        level: Confidence level. A difference is significant if p, adjusted for all pairs, is at most 1 - `level`.
        systems: The systems by descending score.
        pairs: Paired tests of every two systems.
        groups: Largest sets of systems without significant differences.
        by_path: Pooled score of every system at every path.
        winners: Systems with the highest score at every path.
        smallest_p: Smallest p that is possible for any pair.
        documents: Number of documents in which the score is defined for at least one system.
        clusters: Number of clusters with such a document; None if each document is a unit.
        runs: Whether the clusters are the runs of one document.
        signature: Signature of the first system.
        notes: Warnings.
        stability: Variation between runs, by the names of the systems that have several runs.
        provenance: Provenance of the gold of the first system.
        causes: What each cause costs each system; None if the evaluations did not search for causes.
        lang: Language of the display in a notebook.
    """

    score: str
    aggregate: str
    level: float
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairwiseResult, ...]
    groups: tuple[tuple[str, ...], ...]
    by_path: Mapping[str, Mapping[str, float | None]]
    winners: Mapping[str, tuple[str, ...]]
    smallest_p: float
    documents: int
    clusters: int | None
    runs: bool
    signature: Mapping[str, Any]
    notes: tuple[str, ...]
    stability: Mapping[str, RunStability] = field(default_factory=dict)
    provenance: GoldProvenance = UNKNOWN_GOLD
    causes: CauseCosts | None = None
    lang: Language = Language.EN

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        stability = {name: runs.to_dict() for name, runs in self.stability.items()}
        plain = asdict(self) | {"stability": stability, "provenance": self.provenance.to_dict()}
        del plain["causes"], plain["lang"]
        return plain if self.causes is None else plain | {"causes": self.causes.to_dict()}

    def to_best(self, name: str) -> PairwiseResult | None:
        """Return the test of a system against the best one, as the system minus the best; None for the best one.

        Raises:
            OptionError: No system has this name.
        """
        names = [system.name for system in self.systems]
        if name not in names:
            raise OptionError.of(f"Unknown system {name!r}", hint=did_you_mean(str(name), names))
        best = names[0]
        if name == best:
            return None
        return next((one.facing(name) for one in self.pairs if {one.a, one.b} == {name, best}), None)

    def _repr_html_(self) -> str:
        say = Translator(self.lang)
        line, listed = (partial(part, say=say) for part in (html.line, html.table))
        rows = []
        for one in self.systems:
            found = self.to_best(one.name)
            ends = (None, None, None) if found is None else (found.difference, found.low, found.high)
            rows.append((one.name, one.score.estimate, *ends, one.failed))
        tests = [
            (
                f"{pair.a} - {pair.b}",
                *(pair.difference, pair.low, pair.high),
                "–" if pair.p_adjusted is None else say.localized(probability(pair.p_adjusted)),
                say.word("yes" if pair.significant else "no"),
            )
            for pair in self.pairs
        ]
        worst = [
            (system.name, path or say.word(WHOLE), share)
            for system in self.systems
            for path, share in list(system.lacking.items())[: html.WORST]
        ]
        groups = [", ".join(group) for group in self.groups if len(group) > 1]
        return html.page(
            line(f"{self.score}, {self.aggregate}; documents: {self.documents}", strong=True),
            line(self.provenance.headline()),
            listed(("system", self.score, "to the best", f"low ({ENGLISH.level(self.level)})", "high", "failed"), rows),
            *(line(f"No significant difference: {group}") for group in groups),
            *map(line, self.notes),
            listed(("difference", self.score, "low", "high", "p (adjusted)", "significant"), tests),
            html.folded(
                "Where leaf quality is lost (unweighted)",
                listed(("system", "path", "share of the loss"), worst),
                say=say,
            ),
            line(f"signature of {self.systems[0].name}: {self.signature.get('short', '')}"),
        )

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Create a ranking from the result of `to_dict`. Raises KeyError or TypeError if it is not one."""
        values = {one.name: plain[one.name] for one in fields(cls) if one.name not in {"provenance", "causes", "lang"}}
        values["systems"] = tuple(
            RankedSystem(**one | {"score": Interval(**one["score"] | {"notes": tuple(one["score"]["notes"])})})
            for one in plain["systems"]
        )
        values["pairs"] = tuple(PairwiseResult(**one) for one in plain["pairs"])
        values["groups"] = tuple(map(tuple, plain["groups"]))
        values["winners"] = {path: tuple(names) for path, names in plain["winners"].items()}
        values["notes"] = tuple(plain["notes"])
        values["stability"] = {name: RunStability.from_dict(runs) for name, runs in plain["stability"].items()}
        causes = plain.get("causes")
        values["causes"] = None if causes is None else CauseCosts.from_dict(causes)
        return cls(**values, provenance=GoldProvenance.from_dict(plain.get("provenance")))


def rank(
    systems: Mapping[str, Evaluation],
    score: str = "f1q",
    *,
    beside: Sequence[str] = SCORES,
    options: StatisticsOptions = _DEFAULTS,
) -> Ranking:
    """Rank systems that were evaluated on the same documents.

    Every two systems are compared by paired approximate randomisation (see `arbitre.statistics.contrasts`).

    Args:
        systems: Evaluations by the names of their systems.
        score: Score to rank by, one of `arbitre.statistics.sample.HIGHER_IS_BETTER` or `fq(beta)`.
        beside: Other scores to show, each ranked separately.
        options: Statistical options.

    Raises:
        DataError: There are no systems, or the systems have different documents or runs.
        OptionError: A score or an option is invalid.

    >>> import arbitre
    >>> comparator = arbitre.Comparator({"type": "array", "items": {"type": "string"}})
    >>> gold = [(page, ["Ada", "Bo"]) for page in "abcde"]
    >>> ranking = rank({
    ...     "hasty": comparator.evaluate((page, names, names[:1]) for page, names in gold),
    ...     "careful": comparator.evaluate((page, names, names) for page, names in gold),
    ... })
    >>> [system.name for system in ranking.systems], ranking.pairs[0].p, ranking.groups
    (['careful', 'hasty'], 0.0625, (('careful', 'hasty'),))
    """
    if not systems:
        raise DataError.of("Expected systems to rank, got none", hint="Pass at least one evaluation.")
    names = tuple(dict.fromkeys((score, *beside)))
    aggregate, level, seed = options.aggregate, options.level, options.seed
    tables = {name: evaluation.document_table for name, evaluation in systems.items()}
    check_runs({name: zip(table.ids, table.runs, strict=True) for name, table in tables.items()})
    samples = {name: sample_documents(evaluation, options.cluster) for name, evaluation in systems.items()}
    scores = {
        name: {score_name: estimate(sample, score_name, aggregate) for score_name in names}
        for name, sample in samples.items()
    }
    ordered = sorted(systems, key=lambda name: (scores[name][score] is None, -(scores[name][score] or 0.0), name))
    estimates = {
        name: interval(
            *weigh_for_beta(samples[name], score), average=aggregate, level=level, method=options.method, seed=seed
        )
        for name in ordered
    }
    measurable = [weigh_for_beta(samples[name], score) for name in ordered]
    places_of = list(combinations(range(len(ordered)), 2))
    tests = contrasts(
        [[sample for sample, _ in measurable]], [places_of], measurable[0][1], average=aggregate, level=level, seed=seed
    )
    pairs = tuple(_versus(ordered[a], ordered[b], test) for (a, b), test in zip(places_of, tests, strict=True))
    places = {
        score_name: dict(zip(ordered, _ranks([scores[name][score_name] for name in ordered]), strict=True))
        for score_name in names
    }
    by_path = side_by_side({name: systems[name].by_path for name in ordered}, score)
    ranked = tuple(
        RankedSystem(
            name,
            estimates[name],
            None if (floor := systems[name].chance_floor) is None else value(floor, score),
            int(systems[name].document_table.failed.sum()),
            systems[name].document_quality.mean,
            scores[name],
            {score_name: places[score_name][name] for score_name in names},
            fmean(places[score_name][name] for score_name in names),
            loss_shares(systems[name].by_path),
        )
        for name in ordered
    )
    first, size = systems[ordered[0]], compared_size(list(samples.values()), score, aggregate)
    notes = (
        *_measures(systems),
        *_undefined(score, size.documents, len(samples[ordered[0]].keys)),
        *(note for name in ordered for note in estimates[name].notes),
        *underpowered_note(pairs, level),
    )
    return Ranking(
        score=score,
        aggregate=aggregate,
        level=level,
        systems=ranked,
        pairs=pairs,
        groups=_indistinguishable_groups(ordered, pairs, level),
        by_path=by_path,
        winners={path: _best(known) for path, known in by_path.items()},
        smallest_p=min((pair.smallest_p for pair in pairs if pair.smallest_p is not None), default=1.0),
        documents=size.documents,
        clusters=size.clusters,
        runs=size.runs,
        signature=first.signature.to_dict(),
        notes=tuple(dict.fromkeys(notes)),
        provenance=first.provenance,
    )


def compared_size(samples: Sequence[Sample], score: str, average: Average) -> SampleSize:
    """Return the number of documents and clusters that a comparison of systems is based on."""
    weighed = [weigh_for_beta(sample, score) for sample in samples]
    return sample_sizes([sample for sample, _ in weighed], [weighed[0][1]], average)[0]


def _undefined(score: str, known: int, documents: int) -> tuple[str, ...]:
    """Return a note if the score is defined in only `known` of the documents."""
    if known == documents:
        return ()
    uncounted = f"{documents - known} of {documents}"
    return (f"Documents not counted because {score} is undefined for every system: {uncounted}.",)


def pairwise_tests(
    compared: Sequence[tuple[str, str, Sample | None, Sample | None]],
    score: str,
    *,
    average: Average,
    level: float,
    seed: int,
) -> tuple[PairwiseResult, ...]:
    """Test pairs of systems and adjust p for all pairs.

    Args:
        compared: Names of two systems and their samples; both samples are None if the systems share no document.
        score: Name of the score.
        average: micro or macro.
        level: Confidence level.
        seed: Random seed.
    """
    known = [
        ([weigh_for_beta(first, score)[0], weigh_for_beta(second, score)[0]], weigh_for_beta(first, score)[1])
        for _, _, first, second in compared
        if first is not None and second is not None
    ]
    if not known:
        return tuple(PairwiseResult(a, b) for a, b, _, _ in compared)
    tests = iter(
        contrasts(
            [samples for samples, _ in known],
            [[(0, 1)]] * len(known),
            known[0][1],
            average=average,
            level=level,
            seed=seed,
        )
    )
    return tuple(
        PairwiseResult(a, b) if first is None or second is None else _versus(a, b, next(tests))
        for a, b, first, second in compared
    )


def _versus(a: str, b: str, test: Difference) -> PairwiseResult:
    same = {field.name for field in fields(PairwiseResult)} & {field.name for field in fields(test)}
    return PairwiseResult(a, b, test.estimate, **{name: getattr(test, name) for name in same})


def underpowered_note(pairs: Sequence[PairwiseResult], level: float) -> tuple[str, ...]:
    """Return a warning if no pair could have a significant difference."""
    known = [pair.smallest_p for pair in pairs if pair.smallest_p is not None]
    by_holm = len(known) > 1 and any(pair.correction == "Holm" for pair in pairs)
    smallest = min(1.0, (len(known) if by_holm else 1) * min(known, default=0.0))
    if smallest <= threshold(level):
        return ()
    adjusted = f", adjusted for {len(known)} pairs" * by_holm
    return (f"No p can be below {smallest:.4g} here{adjusted}: more documents are needed to show a difference.",)


def _ranks(scores: Sequence[float | None]) -> list[float]:
    """Return the ranks of scores, from 1 (highest). Equal scores share their mean rank; undefined scores come last."""
    places: list[float] = scipy.stats.rankdata([np.inf if score is None else -score for score in scores]).tolist()
    return places


def _indistinguishable_groups(
    ordered: Sequence[str], pairs: Sequence[PairwiseResult], level: float
) -> tuple[tuple[str, ...], ...]:
    adjusted = np.full((len(ordered), len(ordered)), np.nan)
    for (a, b), pair in zip(combinations(range(len(ordered)), 2), pairs, strict=True):
        adjusted[a, b] = np.nan if pair.p_adjusted is None else pair.p_adjusted
    return tuple(tuple(ordered[at] for at in group) for group in groups(adjusted, level=threshold(level)))


def _best(scores: Mapping[str, float | None]) -> tuple[str, ...]:
    best = max((score for score in scores.values() if score is not None), default=None)
    return tuple(name for name, score in scores.items() if score is not None and score == best)


def _measures(systems: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """Return a warning if the signatures of the systems differ."""
    entries = [
        dict(evaluation.signature.entries) | {"version": evaluation.signature.version}
        for evaluation in systems.values()
    ]
    names = dict.fromkeys(name for entry in entries for name in entry)
    apart = [name for name in names if len({entry.get(name) for entry in entries}) > 1]
    return (f"The scores are not comparable: the signatures differ in {', '.join(apart)}.",) if apart else ()
