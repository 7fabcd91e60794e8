"""Estimates how often annotators omit items and add spurious ones, and how many votes an item or a field needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.agreement.consensus.places import Place

LEAST_ANNOTATORS: Final = 3
"""Minimum number of annotators for an estimate; with two, omitted and spurious items cannot be distinguished."""

LEAST_PROBABILITY: Final = 0.25
"""Minimum probability of an item that is kept because its list is expected to have more items."""

_OMITTED, _SHARED, _REAL = (1.0, 9.0), (0.5, 19.5), (2.0, 1.0)
"""Prior counts (Beta) of omissions, of spurious items that another annotator shares, and of items that are real."""

_STEPS: Final = 200
_CONVERGED: Final = 1e-9

Votes = tuple[int, int]
"""Number of annotators who have an item, and number of those who could have it."""


@dataclass(frozen=True, slots=True)
class Presence:
    """Errors of the annotators at one path, and what they say about the items.

    An annotator omits a real item with probability `omitted`. If an annotator has a spurious item, each other annotator
    has the same one with probability `shared`. Both are the most probable values (expectation maximisation,
    zero-truncated, with prior counts).

    Attributes:
        omitted: Probability that an annotator omits a real item.
        shared: Probability that an annotator has a spurious item that another one has.
        real: Share of the items that are real.
        threshold: Minimum probability at which every item is kept: half of the greatest expected F1.
    """

    omitted: float
    shared: float
    real: float
    threshold: float

    @classmethod
    def estimate(cls, counts: Mapping[Votes, int]) -> Presence:
        """Estimate the errors from the number of items with each number of votes."""
        usable = {votes: number for votes, number in counts.items() if votes[1] >= LEAST_ANNOTATORS}
        omitted, shared, real = (own / (own + other) for own, other in (_OMITTED, _SHARED, _REAL))
        for _ in range(_STEPS):
            before = omitted, shared, real
            probability = {votes: _probability(votes, *before) for votes in usable}
            missed = sum(
                number * probability[k, n] * (n - k + n * _unseen(n, omitted)) for (k, n), number in usable.items()
            )
            chances = sum(
                number * probability[k, n] * n * (1.0 + _unseen(n, omitted)) for (k, n), number in usable.items()
            )
            others = sum(number * (1.0 - probability[k, n]) * (k - 1) for (k, n), number in usable.items())
            partners = sum(number * (1.0 - probability[k, n]) * (n - 1) for (k, n), number in usable.items())
            total = sum(number * probability[votes] for votes, number in usable.items())
            omitted = _rate(missed, chances, _OMITTED)
            shared = _rate(others, partners, _SHARED)
            real = _rate(total, sum(usable.values()), _REAL)
            if max(abs(new - old) for new, old in zip((omitted, shared, real), before, strict=True)) < _CONVERGED:
                break
        estimated = cls(omitted, shared, real, 0.0)
        return cls(omitted, shared, real, estimated._half_of_best_f1(usable))

    def probability(self, votes: Votes) -> float:
        """Return the probability that an item with these votes is real."""
        return _probability(votes, self.omitted, self.shared, self.real)

    def expected(self, votes: Votes) -> float:
        """Return the expected number of real items for an item with these votes, with those that everybody omits."""
        return self.probability(votes) * (1.0 + (_unseen(votes[1], self.omitted) if votes[1] > 1 else 0.0))

    def _half_of_best_f1(self, counts: Mapping[Votes, int]) -> float:
        """Return half of the greatest expected F1 (Lipton, Elkan and Narayanaswamy, 2014).

        The most probable items are kept. The expected F1 is 2 * real items among them / (items kept + real items).
        """
        ranked = sorted(((self.probability(votes), votes[1], number) for votes, number in counts.items()), reverse=True)
        every = sum(number * p * (1.0 + _unseen(n, self.omitted)) for p, n, number in ranked)
        best = kept = hits = 0.0
        for p, _, number in ranked:
            kept, hits = kept + number, hits + number * p
            best = max(best, 2.0 * hits / (kept + every))
        return best / 2.0


def estimate_presence(places: Iterable[Place]) -> dict[str, Presence]:
    """Estimate the errors of the annotators at each wildcard path, from all items and fields there."""
    counts: dict[str, Counter[Votes]] = defaultdict(Counter)
    for place in places:
        if place.parent is not None and (votes := votes_on(place))[0] > 0:
            counts[place.path][votes] += 1
    return {path: Presence.estimate(own) for path, own in counts.items()}


def kept_places(places: Iterable[Place], presence: Mapping[str, Presence]) -> set[Place]:
    """Return the items and fields that are kept.

    A field is kept if it is at least as probable as not. The items of a list are taken in order of their probability,
    equally probable ones in the order of their JSON text: those whose probability reaches the threshold, and as many
    others as the list is expected to have, if their probability is at least `LEAST_PROBABILITY`.
    """
    kept: set[Place] = set()
    for container in places:
        items: list[tuple[float, str, Place]] = []
        expected = 0.0
        for place in container.children:
            votes = votes_on(place)
            if votes[0] == 0:
                continue
            own = presence[place.path]
            probability = own.probability(votes)
            if place.item:
                expected += own.expected(votes)
                items.append((-probability, place.text(), place))
            elif probability >= 0.5:  # noqa: PLR2004
                kept.add(place)
        items.sort(key=lambda item: item[:2])
        for number, (negative, _, place) in enumerate(items, start=1):
            expects_more = number <= expected + 0.5 and -negative >= LEAST_PROBABILITY
            if expects_more or -negative >= presence[place.path].threshold:
                kept.add(place)
    return kept


def votes_on(place: Place) -> Votes:
    """Return the number of annotators who have a value at a place, and the number of those who vote on it."""
    voters = place.voters()
    return sum(place.families[at] is not None for at in voters), len(voters)


def _probability(votes: Votes, omitted: float, shared: float, real: float) -> float:
    """Return the probability that an item that k of n annotators have is real, by Bayes' rule; 1 for the only one."""
    k, n = votes
    if n == 1:
        return 1.0
    genuine = real * comb(n, k) * (1.0 - omitted) ** k * omitted ** (n - k) / (1.0 - omitted**n)
    invented = (1.0 - real) * comb(n - 1, k - 1) * shared ** (k - 1) * (1.0 - shared) ** (n - k)
    return genuine / (genuine + invented) if genuine + invented else real


def _unseen(n: int, omitted: float) -> float:
    """Return the expected number of real items that all n annotators omit, for each one that some annotator has."""
    return omitted**n / (1.0 - omitted**n)


def _rate(own: float, of: float, prior: tuple[float, float]) -> float:
    return (own + prior[0]) / (of + sum(prior))
