"""Minimum risk: chooses the document with the best expected score over the annotators (minimum Bayes risk).

`Presence` estimates how often annotators omit items and add spurious ones, and so how probable it is that an item is
real; `kept_places` chooses the items and fields of a vote by it. `least_risk` compares the result of the vote with the
documents of the annotators, and `standing_of` compares a consensus with annotators who are left out.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import permutations
from math import comb, fsum
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.agreement.consensus.assemble import Assembly
from arbitre.agreement.consensus.disagreement import Standing
from arbitre.agreement.consensus.vote import vote
from arbitre.comparison.levels import of_nodes, root_qualities
from arbitre.engine.batch_comparison import compare_batch, release
from arbitre.inputs.provenance import ErrorRates
from arbitre.paths import wildcard
from arbitre.schema.validate import find_violations
from arbitre.tally import Scores, Tally
from arbitre.values import ABSENT, Json, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from arbitre.agreement.consensus.places import Place, Places
    from arbitre.agreement.consensus.vote import Vote
    from arbitre.arrays import Floats
    from arbitre.schema.plan import Plan


LEAST_ANNOTATORS: Final = 3
"""Minimum number of annotators for an estimate; with two, omitted and spurious items cannot be distinguished."""

LEAST_PROBABILITY: Final = 0.25
"""Minimum probability of an item that is kept because its list is expected to have more items."""

_OMITTED, _SHARED, _REAL = (1.0, 9.0), (0.5, 19.5), (2.0, 1.0)
"""Prior counts (Beta) of omissions, of spurious items that another annotator shares, and of items that are real."""

_STEPS: Final = 200
"""Maximum number of steps of the estimate of `Presence`."""

_CONVERGED: Final = 1e-9
"""Change of the probabilities at which their estimate ends."""

BATCH: Final = 256
"""Number of pairs of documents that are compared at once."""

MAX_HELD_OUT: Final = 50
"""Maximum number of documents on which the consensus is compared with annotators who are left out."""

LEAST_VOTERS: Final = 3
"""Minimum number of annotators of a document for a vote."""

_DIGITS: Final = 9
"""Number of decimals of the merits of documents, so that rounding errors do not decide between them."""

if TYPE_CHECKING:
    Annotations = Mapping[str, Mapping[str, Json]]
    """Documents of each annotator, by id."""

Votes = tuple[int, int]
"""Number of annotators who have an item, and number of annotators who could have it."""


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
            # Expected numbers, given the current estimate: of omissions of real items (those that everybody omits
            # included) and of chances for them; of spurious items that others share, and of others who could.
            missed = math.fsum(
                number * probability[k, n] * (n - k + n * _unseen(n, omitted)) for (k, n), number in usable.items()
            )
            chances = math.fsum(
                number * probability[k, n] * n * (1.0 + _unseen(n, omitted)) for (k, n), number in usable.items()
            )
            others = math.fsum(number * (1.0 - probability[k, n]) * (k - 1) for (k, n), number in usable.items())
            partners = math.fsum(number * (1.0 - probability[k, n]) * (n - 1) for (k, n), number in usable.items())
            total = math.fsum(number * probability[votes] for votes, number in usable.items())
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
        """Return the expected number of real items for an item with these votes, with items that everybody omits."""
        return self.probability(votes) * (1.0 + (_unseen(votes[1], self.omitted) if votes[1] > 1 else 0.0))

    def _half_of_best_f1(self, counts: Mapping[Votes, int]) -> float:
        """Return half of the greatest expected F1 (Lipton, Elkan and Narayanaswamy, 2014).

        The most probable items are kept. The expected F1 is 2 * real items among them / (items kept + real items).
        """
        ranked = sorted(((self.probability(votes), votes[1], number) for votes, number in counts.items()), reverse=True)
        every = math.fsum(number * p * (1.0 + _unseen(n, self.omitted)) for p, n, number in ranked)
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


def error_rates(places: Places, presence: Mapping[str, Presence]) -> dict[str, ErrorRates]:
    """Return how often each annotator omits list items and adds spurious ones, by name.

    Both are means over all items of documents with at least `LEAST_ANNOTATORS` annotators, given the probability that
    each item is real. Real items that all annotators omit count as well, with their expected number.
    Annotators without such documents are missing.
    """
    if not presence:
        return {}
    omitted, spurious, real, own = (defaultdict[int, list[float]](list) for _ in range(4))
    for place in places.every:
        votes = votes_on(place)
        if not (place.item and place.weight and votes[0] and votes[1] >= LEAST_ANNOTATORS):
            continue
        probability, expected = presence[place.path].probability(votes), presence[place.path].expected(votes)
        for at in place.voters():
            has = place.families[at] is not None
            real[at].append(expected)
            omitted[at].append(expected - probability * has)
            if has:
                own[at].append(1.0)
                spurious[at].append(1.0 - probability)
    return {
        name: ErrorRates(fsum(omitted[at]) / fsum(real[at]), fsum(spurious[at]) / max(1.0, fsum(own[at])))
        for name, at in sorted((name, at) for at, name in enumerate(places.annotators))
        if real[at]
    }


def kept_places(places: Iterable[Place], presence: Mapping[str, Presence]) -> set[Place]:
    """Return the items and fields that are kept.

    A field is kept if its probability is at least 0.5. The items of a list are ranked by probability; ties are broken
    by position if the items are matched by position, or else by JSON text. An item is kept if its probability reaches
    the threshold, or if its rank is at most the expected length of the list and its probability is at least
    `LEAST_PROBABILITY`.
    """
    kept: set[Place] = set()
    for container in places:
        items: list[tuple[float, str | int, Place]] = []
        expected = 0.0
        for place in container.children:
            votes = votes_on(place)
            if votes[0] == 0:
                continue
            own = presence[place.path]
            probability = own.probability(votes)
            if place.item:
                expected += own.expected(votes)
                items.append((-probability, place.token if container.by_position else place.text(), place))
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
    """Return the most probable share `own` / `of`, with prior counts of the events and of their opposites."""
    return (own + prior[0]) / (of + sum(prior))


# The choice of the documents.


class Merit(NamedTuple):
    """How good a document is as a consensus; greater is better.

    Attributes:
        valid: Whether the schema allows it.
        f1q: Mean f1q of its entries, over the annotators.
        quality: Mean quality of the whole document, over the annotators.
    """

    valid: bool
    f1q: float
    quality: float


class CandidateDocument(NamedTuple):
    """A document that may become the consensus.

    Attributes:
        root: The documents of the annotators.
        document: The document.
        source: The annotator that it comes from; None for a vote.
    """

    root: Place
    document: Json
    source: int | None = None


def least_risk(plan: Plan, places: Places, weak_margin: float) -> tuple[Assembly, dict[str, Presence]]:
    """Return the consensus with the best expected score over the annotators, and the errors of the annotators by path.

    First, the annotators vote on each document (see `vote`). The document of an annotator replaces the result if its
    expected score is better, or if the schema does not allow the result. The items and fields of this document are then
    also tried with the values of the vote. No document is compared with the annotator that it comes from. By the
    expected score, the consensus is therefore never worse than the best document of an annotator, the medoid.

    If more than half of the annotators have the same document, and the schema allows it, it is the consensus.

    With two annotators, no vote is decisive, and the document of one of them is kept. Both agree equally well with each
    other; of such documents, a hash decides, which favours neither short documents nor an annotator.
    """
    presence = estimate_presence(places.every)
    cast = partial(vote, strategy="minimum-risk", weak_margin=weak_margin)
    chosen = kept_places(places.every, presence)
    votes = {place: cast(place, kept=None if place.parent is None else place in chosen) for place in places.every}
    assembly = Assembly.of(places, votes, "minimum-risk")
    # The vote stands where no document of an annotator is better, and no document has an absolute majority.
    shared = {name: root for name, root in places.roots.items() if len(root.voters()) > 1}
    same = {root.document: at for root in shared.values() if (at := _majority(plan, root)) is not None}
    contested = [root for root in shared.values() if root.document not in same]
    own = [CandidateDocument(root, root.values[at], at) for root in contested for at in root.voters()]
    best: dict[int, Merit] = {}
    for candidate, merit in zip(own, merits(plan, own), strict=True):
        best[candidate.root.document] = max(best.get(candidate.root.document, merit), merit)
    voted = [CandidateDocument(root, assembly.values[root]) for root in contested if len(root.voters()) >= LEAST_VOTERS]
    kept = {
        candidate.root.document
        for candidate, merit in zip(voted, merits(plan, voted), strict=True)
        if merit >= best[candidate.root.document]
    }
    changed = {name: root for name, root in shared.items() if root.document not in kept}
    by_document: dict[int, list[Place]] = {root.document: [] for root in changed.values()}
    for place in places.every:
        if place.document in by_document:
            by_document[place.document].append(place)
    # Elsewhere, the best document of an annotator replaces it, as it is or with the values of the vote.
    pivots: dict[int, int] = {}
    for name, root in changed.items():
        part = places._replace(every=by_document[root.document], roots={name: root})
        tried: list[tuple[CandidateDocument, dict[Place, Vote]]] = []
        for at in [same[root.document]] if root.document in same else root.voters():
            trials = [{place: cast(place, pivot=at) for place in part.every}]
            if len(root.voters()) >= LEAST_VOTERS and root.document not in same:
                trials.append({place: cast(place, kept=place.families[at] is not None) for place in part.every})
            for trial in trials:
                document = Assembly.of(part, trial, "minimum-risk", pivots={root.document: at}).values[root]
                tried.append((CandidateDocument(root, document, at), trial))
        number = 0
        if len(tried) > 1:  # not the document of a majority
            scores = merits(plan, [candidate for candidate, _ in tried])
            number = max(range(len(tried)), key=lambda number: (scores[number], _lot(tried[number][0].document)))
        votes |= tried[number][1]
        pivots[root.document] = tried[number][0].source or 0
    return Assembly.of(places, votes, "minimum-risk", pivots=pivots) if pivots else assembly, presence


def merits(plan: Plan, candidates: Sequence[CandidateDocument]) -> list[Merit]:
    """Return the merit of documents: their mean scores over the annotators, without the one that each comes from."""
    pairs = [
        (number, own.root.values[at])
        for number, own in enumerate(candidates)
        for at in own.root.voters()
        if at != own.source
    ]
    tallies, quality = compared(plan, [gold for _, gold in pairs], [candidates[number].document for number, _ in pairs])
    owners = np.array([number for number, _ in pairs], dtype=np.intp)
    counts = np.bincount(owners, minlength=len(candidates))
    means = [
        np.bincount(owners, row, len(candidates)) / counts for row in (np.array([f1q(row) for row in tallies]), quality)
    ]
    return [
        Merit(_is_valid(plan, own.document), round(score, _DIGITS), round(whole, _DIGITS))
        for own, score, whole in zip(candidates, *(mean.tolist() for mean in means), strict=True)
    ]


def f1q(tally: Floats) -> float:
    """Return the f1q of a tally; 1 if there are no entries on either side."""
    score = Scores(Tally.of(tally)).f1q
    return 1.0 if score is None else score


def compared(plan: Plan, gold: Sequence[Json], predicted: Sequence[Json]) -> tuple[Floats, Floats]:
    """Return the tally of the entries and the quality of each pair of documents; shapes (pairs, 5) and (pairs,)."""
    tallies, quality = np.empty((len(gold), 5)), np.empty(len(gold))
    for start in range(0, len(gold), BATCH):
        batch = slice(start, start + BATCH)
        levels = compare_batch(plan, gold[batch], predicted[batch], lenient=True).levels(plan.entries)
        size = len(gold[batch])
        tallies[batch] = of_nodes(levels, wildcard(plan.entries), size)
        quality[batch] = root_qualities(levels, size)
        release(levels)
    return tallies, quality


def standing_of(
    plan: Plan, annotations: Mapping[str, Mapping[str, Json]], consensus: Callable[[Annotations], Mapping[str, Json]]
) -> Standing | None:
    """Compare the consensus with single annotators and the medoid, by leaving out each annotator in turn.

    Args:
        plan: The compiled schema.
        annotations: Documents of each annotator, by id.
        consensus: Function that builds the consensus of some of the annotators.

    Returns:
        The comparison, on at most `MAX_HELD_OUT` of the documents that all annotators have, evenly spaced; None if
        there are no such documents, or fewer than three annotators.
    """
    names = sorted(annotations)
    shared = sorted(set.intersection(*(set(documents) for documents in annotations.values())))
    keys = shared[:: max(1, -(-len(shared) // MAX_HELD_OUT))]
    if len(names) < LEAST_VOTERS or not keys:
        return None
    pairs = list(permutations(names, 2))  # the annotators of each comparison
    given = [(annotations[gold][key], annotations[own][key]) for own, gold in pairs for key in keys]
    rows, _ = compared(plan, [gold for gold, _ in given], [own for _, own in given])
    tallies = dict(zip(pairs, rows.reshape(len(pairs), len(keys), 5), strict=True))
    singles, voted, medoids = [], [], []
    for name in names:
        others = [other for other in names if other != name]
        gold = consensus({other: {key: annotations[other][key] for key in keys} for other in others})
        rows, _ = compared(plan, [annotations[name][key] for key in keys], [gold.get(key, ABSENT) for key in keys])
        voted.append(f1q(rows.sum(axis=0)))
        agreed = [
            [sum(f1q(tallies[own, other][at]) for other in others if other != own) for own in others]
            for at in range(len(keys))
        ]
        best = [others[max(range(len(others)), key=row.__getitem__)] for row in agreed]
        medoids.append(f1q(np.sum([tallies[own, name][at] for at, own in enumerate(best)], axis=0)))
        singles.append(fmean(f1q(tallies[name, other].sum(axis=0)) for other in others))
    return Standing(fmean(voted), fmean(medoids), dict(zip(names, singles, strict=True)), len(keys))


def _majority(plan: Plan, root: Place) -> int | None:
    """Return an annotator whose document more than half of the annotators have; None if the schema forbids it."""
    owners: dict[Hashable, list[int]] = {}
    for at in root.voters():
        owners.setdefault(canonical(root.values[at]), []).append(at)
    most = max(owners.values(), key=len)
    return most[0] if 2 * len(most) > len(root.voters()) and _is_valid(plan, root.values[most[0]]) else None


def _lot(document: Json) -> bytes:
    """Return a hash of a document, which decides between equally good documents regardless of their content."""
    return sha256(json.dumps(document, sort_keys=True, default=str).encode()).digest()


def _is_valid(plan: Plan, document: Json) -> bool:
    """Return whether there is a document, and the schema allows it."""
    return document is not ABSENT and not find_violations(plan.root, document, format_assertion=plan.format_assertion)
