"""Finds the causes of the faults of a corpus.

Detectors propose explanations. An explanation becomes a cause if chance does not explain it, it covers enough faults,
and the score rises when its change is made. The changes of one phase are made before the detectors of the next phase
run, because a wrong structure can hide wrong values.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.causes import (
    absent,
    columns,
    fields,
    items,
    keys,
    mappings,
    moved_items,
    notations,
    offsets,
    root,
    transformed_values,
    types,
)
from arbitre.causes.changes import OverlayChange
from arbitre.causes.examples import example_of, examples_of
from arbitre.causes.remainder import remaining_causes
from arbitre.causes.sample import MIN_DOCUMENTS, MIN_FAULTS, Sample
from arbitre.comparison.cause import KINDS, Cause, CauseAnalysis
from arbitre.engine import count_calls, with_gold_ids
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.causes.proposal import Detector, Proposal
    from arbitre.causes.sample import SampleFault, Trial
    from arbitre.inputs.records import Pair
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.schema.plan import Plan

SIGNIFICANCE: Final = 0.01
"""Maximum p-value of a cause, divided by the number of explanations that are tried."""

MIN_GAIN: Final = 1e-6
"""Minimum increase in f1q."""

ROUNDS: Final = 3
"""Maximum number of times that the detectors of a phase run, as changes can uncover further causes. A round that defers
an explanation to the next round does not count."""

WHOLE_DOCUMENT_KINDS: Final = frozenset({"wrapped-root", "unwrapped-root", "ids-as-keys"})
"""Kinds of causes for which one fault can affect a whole document. The minimum number of faults does not apply."""


def phases() -> tuple[tuple[Detector, ...], ...]:
    """Return the detectors in the order in which they run; each phase sees the changes of those before it."""
    return (
        root.DETECTORS,
        keys.DETECTORS,
        (
            *moved_items.DETECTORS,
            *items.DETECTORS,
            *types.DETECTORS,
            *fields.DETECTORS,
            *columns.DETECTORS,
            *offsets.DETECTORS,
        ),
        (*absent.DETECTORS, *notations.DETECTORS, *transformed_values.DETECTORS, *mappings.DETECTORS),
        (items.truncated,),
    )


class Found(NamedTuple):
    """An accepted explanation.

    Attributes:
        proposal: The explanation.
        gain: Increase in f1q when only its change is made, after those of earlier phases and rounds.
        cost: Increase in f1q when its change is made after all those found before.
        faults: The faults that no cause found before it explains.
        sample: The sample in which it was found.
    """

    proposal: Proposal
    gain: float
    cost: float
    faults: tuple[SampleFault, ...]
    sample: Sample


@dataclass(slots=True)
class Search:
    """Looks for causes in a sample, one phase after another.

    Attributes:
        sample: The documents, with all changes made so far.
        found: The accepted explanations.
        trials_left: Number of changes that may still be made; None for no limit.
        limited: Whether a change was not made because of this limit.
        postponed: Whether the last round left an explanation to the next one.
        start: The documents without any change.
    """

    sample: Sample
    found: list[Found] = field(default_factory=list)
    trials_left: int | None = None
    limited: bool = False
    postponed: bool = False
    start: Sample = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.sample

    @classmethod
    def of(cls, plan: Plan, pairs: Sequence[Pair]) -> Search:
        """Compare documents, and run all detectors.

        With custom distances, so many changes are made that each document needs at most `max_calls` calls in total.

        Raises:
            ArbitreError: The plan has custom functions and was unpickled, so changes to the schema cannot be tried.
        """
        plan.compiler()  # raises the error; otherwise, every change would count as one that cannot be made
        if plan.facts.has_ids:
            renamed = with_gold_ids(plan, [pair.gold for pair in pairs], [pair.predicted for pair in pairs])
            pairs = [replace(pair, predicted=own) for pair, own in zip(pairs, renamed, strict=True)]
        search, most = cls(Sample.of(plan, pairs)), plan.max_calls
        if most is not None and plan.has_custom_distances:
            needed = (sum(count_calls(plan, one.gold, one.predicted).values()) for one in search.sample.pairs)
            search.trials_left = max(0, most // max(1, max(needed, default=1)) - 2)  # two were made for the sample
        search.run(phases())
        return search

    def run(self, detectors: Sequence[Sequence[Detector]]) -> None:
        """Run the detectors of all phases."""
        for phase in detectors:
            rounds = 0
            while rounds < ROUNDS and self._round(phase):
                rounds += not self.postponed

    def _round(self, phase: Sequence[Detector]) -> bool:
        """Run some detectors once and accept what they find; return whether anything was accepted.

        The explanation with the largest gain is accepted first. As gains hardly ever rise when other changes are made,
        only those whose last known gain is the largest are tried again (lazy greedy; Minoux, 1978). An overlay replaces
        settings, so a change of a setting that was changed in this round would undo the earlier change. It is left to
        the next round, in which the detector adds to the new setting.
        """
        sample, self.postponed = self.sample, False
        changed: set[tuple[str, str]] = set()
        proposals = [proposal for detector in phase for proposal in detector(sample)]
        limit = SIGNIFICANCE / max(1, len(proposals))
        waiting: list[tuple[float, int, int]] = []
        trials: dict[int, Trial] = {}
        alone: dict[int, float] = {}
        for number, proposal in enumerate(proposals):
            if proposal.p <= limit and _suffices(sample, proposal, [sample.faults[fault] for fault in proposal.faults]):
                trial = self._trial(proposal)
                if trial is not None and (gain := trial.f1q - sample.f1q) > MIN_GAIN:
                    alone[number], trials[number] = gain, trial
                    heapq.heappush(waiting, (-gain, number, 0))
        explained: set[int] = set()
        accepted = 0
        while waiting:
            _, number, tried = heapq.heappop(waiting)
            proposal, before = proposals[number], self.sample.f1q
            if not changed.isdisjoint(settings := _settings(proposal)):
                self.postponed = True
                continue
            if tried < accepted:  # other changes have been made since
                again = self._trial(proposal)
                if again is not None and again.f1q - before > MIN_GAIN:
                    trials[number] = again
                    heapq.heappush(waiting, (before - again.f1q, number, accepted))
                continue
            faults = tuple(sample.faults[fault] for fault in proposal.faults if fault not in explained)
            if _suffices(sample, proposal, faults):
                trial = trials[number]
                self.found.append(Found(proposal, alone[number], trial.f1q - before, faults, sample))
                self.sample = self.sample.after(trial)
                explained.update(proposal.faults)
                changed |= settings
                accepted += 1
        return accepted > 0

    def _trial(self, proposal: Proposal) -> Trial | None:
        """Make a change; None if it cannot be made, or if custom distances may not be called again."""
        if self.trials_left is not None:
            if self.trials_left == 0:
                self.limited = True
                return None
            self.trials_left -= 1
        return self.sample.trial(proposal.change)


def _suffices(sample: Sample, proposal: Proposal, faults: Sequence[SampleFault]) -> bool:
    """Return whether these faults are enough to report the explanation as a cause."""
    return sample.suffices(faults, min_faults=1 if proposal.kind in WHOLE_DOCUMENT_KINDS else MIN_FAULTS)


def _settings(proposal: Proposal) -> set[tuple[str, str]]:
    """Return the settings that the change of an explanation replaces: wildcard path and name of each."""
    change = proposal.change
    overlay = change.overlay if isinstance(change, OverlayChange) else {}
    return {(path, name) for path, own in overlay.items() if isinstance(own, dict) for name in own}


def find_causes(
    plan: Plan,
    pairs: Sequence[Pair],
    total: int | None = None,
    texts: SourceTexts | None = None,
) -> CauseAnalysis:
    """Find the causes of the faults of documents.

    Args:
        plan: The compiled schema.
        pairs: The documents to examine.
        total: Number of documents of the corpus; by default, that of `pairs`.
        texts: The texts that were given to the model; None if there are none.

    Raises:
        ArbitreError: As for `Search.of`.
    """
    search = Search.of(plan, pairs)
    start = search.start
    not_added = _not_added(search)
    lost: defaultdict[int, float] = defaultdict(float)
    for number, at in not_added.items():
        lost[at] += search.sample.faults[number].lost / search.sample.mass
    causes = [cause_of(found._replace(cost=found.cost + lost[at])) for at, found in enumerate(search.found)]
    causes += remaining_causes(search.sample, texts, not_added)
    causes.sort(key=lambda cause: (-cause.gain, -cause.count, list(KINDS).index(cause.kind), cause.paths))
    whole = len(pairs) if total is None else total
    before, after = (sample.f1q if sample.mass else None for sample in (start, search.sample))
    given = (example_of(search.sample, fault) for fault in search.sample.faults if fault.predicted is not ABSENT)
    faults = tuple(fault for fault in given if fault.place is not None)
    return CauseAnalysis(tuple(causes), len(start), whole, before, after, tuple(_notes(search, whole, causes)), faults)


def _not_added(search: Search) -> Mapping[int, int]:
    """Return the remaining missing items of truncated lists, with the position of their cause in `found`.

    If other items are wrong, only some of the missing items are added; see `arbitre.causes.items.truncated`.
    """
    explained = {
        (fault.document, fault.gold_pointer): at
        for at, found in enumerate(search.found)
        if found.proposal.kind == "truncated"
        for fault in found.faults
    }
    places = ((fault, (fault.document, fault.gold_pointer)) for fault in search.sample.faults)
    return {fault.number: explained[at] for fault, at in places if fault.fault == "missing" and at in explained}


def _notes(search: Search, total: int, causes: Sequence[Cause]) -> Iterator[str]:
    """Yield what limits the analysis."""
    sample = search.sample
    if len(sample) < total:
        yield f"Causes were looked for in {len(sample)} of {total} documents; counts, costs and gains refer to these."
    if search.limited:
        yield "Not all changes were tried: custom distances would be called more often than --max-calls allows."
    if sample.size < MIN_DOCUMENTS and any(cause.systematic for cause in causes):
        yield f"The causes are based on {sample.size} document{'s' * (sample.size != 1)} only: treat them as hints."


def cause_of(found: Found) -> Cause:
    """Return an accepted explanation as a cause."""
    proposal, sample = found.proposal, found.sample
    chance_gain, forgiving = _by_chance(found)
    change = proposal.overlay
    if change is None and isinstance(proposal.change, OverlayChange):
        change = proposal.change.overlay
    return Cause(
        proposal.kind,
        proposal.side,
        proposal.paths,
        len(found.faults),
        found.cost,
        found.gain,
        None if change is None else dict(change),
        examples_of(sample, found.faults),
        sample.ids_of(found.faults),
        proposal.advice or KINDS[proposal.kind].advice,
        chance_gain,
        forgiving,
        proposal.detail,
    )


def _by_chance(found: Found) -> tuple[float | None, bool]:
    """Return what an overlay gains for unrelated documents, and whether it is forgiving (see `Cause.forgiving`).

    All unrelated documents are compared again: nearly all have faults, and to find those that the overlay concerns
    would take twice as long.
    """
    change, sample = found.proposal.change, found.sample
    if not isinstance(change, OverlayChange) or not len(sample.unrelated):
        return None, False
    trial = sample.unrelated.trial(change, everywhere=True)
    if trial is None:
        return None, False
    before, after = sample.unrelated.f1q, trial.f1q
    corrected = [
        (score - chance) / (1.0 - chance) if chance < 1.0 else 0.0
        for score, chance in ((sample.f1q, before), (sample.f1q + found.gain, after))
    ]
    return after - before, corrected[1] <= corrected[0]
