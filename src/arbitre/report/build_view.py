"""Build the view model of a report from results.

All numbers come from `evaluation.json` and `alignments.json`, except counts of pairs by quality, which are summed from
the steps of the survival curve.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from arbitre.comparison.cause import KINDS as CAUSES
from arbitre.inputs.provenance import GoldProvenance
from arbitre.parsing.fast_json import compact
from arbitre.paths import nesting, order
from arbitre.report.document_tree import shown
from arbitre.report.entry_links import EntryLink
from arbitre.report.entry_rows import sum_by_class
from arbitre.report.example_sources import PLACE
from arbitre.report.view import (
    CauseRow,
    CausesView,
    CurveView,
    DifferingDocument,
    DocumentRow,
    FactorLevel,
    FactorPathRow,
    FactorView,
    FaultsView,
    FlatView,
    HeadlineScore,
    IntervalView,
    LeaderboardRow,
    PairwiseTest,
    PathRow,
    Sampled,
    Subject,
    SystemsView,
    TrustView,
)
from arbitre.report.worst_documents import digest
from arbitre.signature import Signature
from arbitre.statistics.intervals import FEW_UNITS
from arbitre.tally import ABSENCES, COUNTS, NAMES, OUTCOMES, RATES
from arbitre.values import SIDES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KINDS: Final = {
    "independent": ("precision", "recall", "amq"),
    "follows": ("f1q", "imq", "irq", "quality", "omq", "omq_imq", "f1"),
    "spread": ("variance",),
}
BINS: Final = 10


def build_subject(
    evaluation: Mapping[str, Any], alignments: Mapping[str, Any] | None = None, *, name: str | None = None
) -> Subject:
    """Build the view of one system.

    Args:
        evaluation: Contents of `evaluation.json`.
        alignments: Contents of the `alignments.json` next to it, if any.
        name: Name of the system; None for a single system.
    """
    held, gold = alignments or {}, GoldProvenance.from_dict(evaluation.get("provenance"))
    trust = TrustView.from_dict(held["trust"]) if held else TrustView()
    forced: bool | None = held.get("forced")
    close = float(held.get("close", evaluation["signature"]["entries"].get("close", 0.8)))
    kept = {one["key"] for one in held.get("kept", ())}
    rows = [_row(row, kept=row["key"] in kept) for row in held.get("documents", ())]
    signature, curve = Signature.from_dict(evaluation["signature"]), evaluation["curve"]
    return Subject(
        name=name,
        title=held.get("title"),
        signature=dict(evaluation["signature"]) | {"long": signature.long},
        entries=evaluation["entries"],
        documents=evaluation["documents"],
        failed=evaluation["failed"],
        vacuous=evaluation["vacuous"],
        counts={one: evaluation["micro"][one] for one in COUNTS},
        close=close,
        classes=sum_by_class(zip(curve["qualities"], curve["counts"], strict=True), evaluation["micro"], close),
        listed=held.get("listed"),
        forced=forced,
        moved=held.get("moved"),
        headline=list(_headline(evaluation, forced, trust)),
        leaves=evaluation["leaves"],
        document_quality=evaluation["document_quality"],
        outside=_worst_first(evaluation["outside"]),
        curve=_curve(evaluation),
        paths=list(_paths(evaluation["by_path"], held.get("worst", {}))),
        rows=rows,
        certificate=held.get("certificate"),
        failures=evaluation["failures"],
        without_gold=evaluation["without_gold"],
        warnings=list(_warnings(evaluation, held, trust, gold)),
        explorer=held.get("kept", []),
        provenance=gold.parts(),
        published=held.get("published"),
        sampled=trust.sampled,
        notes=[*held.get("notes", ()), *trust.notes],
        never=trust.never,
        chance_error=trust.chance_error,
        noted=held.get("noted", {}),
        faults=FaultsView.of(evaluation["diagnosis"]) if "diagnosis" in evaluation else None,
        flat=FlatView.of(evaluation),
        causes=_causes(evaluation, held) if "causes" in evaluation else None,
        schemas=held.get("schemas", {}),
        keep=held.get("keep"),
        confusions=held.get("confusions", []),
    )


def _causes(evaluation: Mapping[str, Any], alignments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the causes of a system. Examples whose document or entry is not shown are left out.

    `digest` is computed from all examples.
    """
    analysis, unplaced = evaluation["causes"], _has_projected_gold(evaluation)
    rows = [
        {
            **cause,
            "systematic": CAUSES[cause["kind"]].systematic,
            "examples": _examples(cause["examples"], alignments, unplaced=unplaced),
        }
        for cause in analysis["causes"]
    ]
    others = {name: value for name, value in analysis.items() if name != "causes"}
    return others | {"rows": rows, "digest": digest(compact(analysis))}


def _has_projected_gold(evaluation: Mapping[str, Any]) -> bool:
    """Return whether gold was transformed by a projection, so that places in the gold files are unknown."""
    return "project.gold" in evaluation["signature"]["entries"]


def agreed_view(
    agreed: Mapping[str, Any] | None, evaluation: Mapping[str, Any], alignments: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the values that all systems agree on and gold does not have; None if there are none.

    Args:
        agreed: The values, as in `ranking.json`; None if they are unknown.
        evaluation: `evaluation.json` of the first of their systems.
        alignments: `alignments.json` of this system.
    """
    if agreed is None or not agreed["count"]:
        return None
    found = _examples(agreed["examples"], alignments, unplaced=_has_projected_gold(evaluation))
    examples = [one | {"systems": agreed["systems"]} for one in found]
    return {"count": agreed["count"], "documents": agreed["documents"], "examples": examples}


def _examples(
    examples: Sequence[Mapping[str, Any]], alignments: Mapping[str, Any], *, unplaced: bool
) -> list[dict[str, Any]]:
    """Return the examples that are shown. If `unplaced` is true, their places in gold are removed."""
    documents = {one["key"]: one for one in alignments.get("kept", ())}
    sources = {tuple(one[name] for name in PLACE): one["source"] for one in alignments.get("sources", ())}
    kept = (one for one in examples if EntryLink.of(one).is_kept(documents))
    return [_example(_without_place(one) if unplaced else one, sources) for one in kept]


def _without_place(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name != "creates"} | {"place": None}


def _example(one: Mapping[str, Any], sources: Mapping[tuple[str | None, ...], Any]) -> dict[str, Any]:
    values = {side: shown(one[side]) for side in SIDES if side in one}
    rest = {name: value for name, value in one.items() if name not in {"gold", "predicted"}}
    found = {"document": EntryLink.of(one).document, **rest, **values}
    return found | {"source": sources.get(tuple(found[name] for name in PLACE))}


def align_causes(subjects: Sequence[Subject], agreed: Mapping[str, Any] | None = None) -> CausesView | None:
    """Return the causes of several systems side by side; None if causes were not searched for in any system.

    Args:
        subjects: The systems.
        agreed: The values that all systems agree on and gold does not have, if known.
    """
    if all(one.causes is None for one in subjects):
        return None
    members: dict[tuple[str, str | None, int], list[int | None]] = {}
    gains: dict[tuple[str, str | None, int], float] = {}
    for number, one in enumerate(subjects):
        seen: Counter[tuple[str, str | None]] = Counter()
        for place, cause in enumerate([] if one.causes is None else one.causes["rows"]):
            name = cause["kind"], cause["paths"][0] if cause["systematic"] and cause["paths"] else None
            which = *name, seen[name]
            seen[name] += 1
            members.setdefault(which, [None] * len(subjects))[number] = place
            gains[which] = max(gains.get(which, -1.0), cause["gain"])
    ordered = sorted(members, key=lambda which: (-gains[which], which[0], which[1] or "", which[2]))
    return CausesView([CauseRow(*which[:2], members[which]) for which in ordered], agreed)


def _worst_first(outside: Mapping[str, Mapping[str, float | None]]) -> dict[str, float | None]:
    found = {path: scores["f1q"] for path, scores in outside.items()}
    return dict(sorted(found.items(), key=lambda one: (-1.0 if one[1] is None else one[1], order(one[0]))))


def _row(row: Mapping[str, Any], *, kept: bool) -> DocumentRow:
    interval = None if row["interval"] is None else IntervalView(**row["interval"])
    return DocumentRow(row["key"], row["failed"], row["quality"], row["scores"], kept, interval)


def _headline(
    evaluation: Mapping[str, Any],
    forced: bool | None,  # noqa: FBT001
    trust: TrustView,
) -> Iterator[HeadlineScore]:
    for kind, names in KINDS.items():
        for name in names:
            yield HeadlineScore(
                name=name,
                kind=kind,
                biased=forced is not False and name in {"precision", "recall", "f1"},
                micro=evaluation["micro"][name],
                macro=evaluation["macro"][name],
                documents=evaluation["macro_documents"][name],
                interval=(trust.intervals or {}).get(name),
                chance=(trust.chance or {}).get(name),
            )


def _curve(evaluation: Mapping[str, Any]) -> CurveView:
    curve = evaluation["curve"]
    pairs = list(zip(curve["qualities"], curve["counts"], strict=True))
    surviving, steps = 0.0, []
    bins = [0.0] * BINS
    for quality, count in reversed(pairs):
        surviving += count
        steps.append((quality, surviving))
        bins[min(int(quality * BINS), BINS - 1)] += count
    return CurveView(steps[::-1], bins, curve["gold"], curve["predicted"], evaluation["thresholds"])


def _paths(
    by_path: Mapping[str, Mapping[str, float]], worst: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[PathRow]:
    for path, label, depth in nesting(by_path):
        scores = {name: by_path[path][name] for name in (*COUNTS, *NAMES)}
        outcomes = {name: by_path[path].get(name) for name in (*OUTCOMES, *ABSENCES, *RATES)}
        yield PathRow(path, label, depth, scores, outcomes, worst.get(path, ()))


def _warnings(
    evaluation: Mapping[str, Any], alignments: Mapping[str, Any], trust: TrustView, gold: GoldProvenance
) -> Iterator[str]:
    """Yield the names of the warnings that apply."""
    if evaluation["failed"]:
        yield "failed"
    if len(evaluation["failures"]) > evaluation["failed"]:
        yield "unscored"
    if evaluation["without_gold"]:
        yield "without_gold"
    if evaluation["vacuous"]:
        yield "vacuous"
    if not evaluation["micro"]["gold"]:
        yield "no_gold"
    if evaluation["documents"] - evaluation["vacuous"] < FEW_UNITS and not trust.notes:
        yield "few"
    yield from (name for name, count in alignments.get("noted", {}).items() if count)
    if trust.never:
        yield "never"
    if alignments.get("certificate", {"verdict": "metric"})["verdict"] != "metric":
        yield "certificate"
    if not alignments:
        yield "no_alignments"
    agreed = gold.agreed or None
    unknown = {"no_interval": trust.intervals, "no_chance": trust.chance, "no_agreement": agreed}
    yield from (name for name, known in unknown.items() if known is None)


def build_systems(subjects: Sequence[Subject], *, score: str = "f1q") -> SystemsView:
    """Build the comparison of several systems by a score, without intervals and tests.

    Args:
        subjects: Systems to compare.
        score: Name of the score.
    """
    ranked = sorted(subjects, key=lambda one: (-(_macro(one, score) or 0.0), one.name or ""))
    of_documents = [{row.key: 0.0 if row.failed else row.scores[score] for row in one.rows} for one in ranked]
    board = [LeaderboardRow(one.name or "", _macro(one, score)) for one in ranked]
    return SystemsView(score, board, None, differing_documents(of_documents), "macro")


def differing_documents(systems: Sequence[Mapping[str, float | None]], most: int = 10) -> list[DifferingDocument]:
    """Return the documents on which the scores of systems differ most.

    Args:
        systems: Scores of the documents of each system, by key.
        most: Maximum number of documents.
    """
    shared = [key for key in systems[0] if all(key in one for one in systems)] if systems else []
    found = [DifferingDocument(key, [one[key] for one in systems]) for key in shared]
    found = [one for one in found if len(set(one.scores)) > 1]
    found.sort(key=lambda one: (-_spread(one.scores), one.key))
    return found[:most]


def document_score(score: str) -> str:
    """Return the score by which documents are compared in the ranking by a score."""
    return score if score in NAMES else "f1q"


def with_ranking(subjects: Sequence[Subject], ranking: Mapping[str, Any]) -> SystemsView:
    """Build the comparison of several systems with the intervals, groups and tests of a ranking (see `ranked`)."""
    plain, found = build_systems(subjects, score=document_score(ranking["score"])), ranked(ranking)
    places = [[one.name for one in plain.board].index(one["name"]) for one in ranking["systems"]]
    differing = [DifferingDocument(one.key, [one.scores[place] for place in places]) for one in plain.differing]
    return replace(found, differing=differing)


def ranked(ranking: Mapping[str, Any]) -> SystemsView:
    """Build the comparison of the systems of a ranking, without their scores by document.

    `ranking` is the output of `Ranking.to_dict`, or the contents of `ranking.json`.
    """
    board = [
        LeaderboardRow(
            one["name"],
            one["score"]["estimate"],
            _drawn(one["score"]),
            [number for number, group in enumerate(ranking["groups"]) if one["name"] in group],
        )
        for one in ranking["systems"]
    ]
    documents = ranking["documents"]
    tests = [_contrast(one, documents, ranking["smallest_p"]) for one in ranking["pairs"]]
    sampled = Sampled(documents, ranking["clusters"], ranking["runs"])
    return SystemsView(
        ranking["score"], board, tests, [], ranking["aggregate"], ranking["level"], sampled, ranking["notes"]
    )


def build_factors(factors: Mapping[str, Any]) -> list[FactorView]:
    """Build the views of the factors from the contents of `factors.json`."""
    return [_factor(one) for one in factors["factors"]]


def _factor(one: Mapping[str, Any]) -> FactorView:
    levels = [
        FactorLevel(
            name,
            one["documents"][name],
            found["estimate"],
            _drawn(found),
            Sampled(found["documents"], found["clusters"], found["runs"]),
        )
        for name, found in one["levels"].items()
    ]
    tests = [_contrast(pair, shared) for pair, shared in zip(one["pairs"], one["shared"], strict=True)]
    paths = [
        FactorPathRow(*place, [one["by_path"][place[0]].get(level.name) for level in levels])
        for place in nesting(one["by_path"])
    ]
    return FactorView(one["name"], one["score"], one["aggregate"], levels, tests, one["balanced"], one["notes"], paths)


_TESTED: Final = (
    *("a", "b", "difference", "low", "high", "level", "p"),
    *("significant", "differing", "clusters", "exact", "swaps", "correction", "detectable"),
)


def _contrast(pair: Mapping[str, Any], shared: int, smallest: float | None = None) -> PairwiseTest:
    """Convert a `PairwiseResult` in JSON form; `smallest` replaces an unknown smallest p."""
    known = {name: pair[name] for name in _TESTED}
    least = smallest if pair["smallest_p"] is None else pair["smallest_p"]
    return PairwiseTest(**known, adjusted=pair["p_adjusted"], smallest_p=least, shared=shared)


def _drawn(found: Mapping[str, Any]) -> IntervalView | None:
    """Convert an `Interval` in JSON form; return None if it has no ends."""
    if found["low"] is None or found["high"] is None:
        return None
    return IntervalView(found["low"], found["high"], found["level"], found["method"], found["resamples"])


def _macro(one: Subject, score: str) -> float | None:
    return next(line.macro for line in one.headline if line.name == score)


def _spread(scores: Sequence[float | None]) -> float:
    known = [score for score in scores if score is not None]
    return max(known) - min(known) if known else 0.0
