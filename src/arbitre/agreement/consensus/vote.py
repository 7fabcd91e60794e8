"""Vote of the annotators on one place: whether it is kept, and with which value."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Final

from arbitre.agreement.consensus.places import SCALAR, tie_text
from arbitre.distances.dates import interval
from arbitre.values import ABSENT, Json, Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from arbitre.agreement.consensus.disagreement import Flag
    from arbitre.agreement.consensus.places import Place
    from arbitre.options import Strategy


DEFAULT_STRATEGY: Final = "minimum-risk"
"""Default strategy."""

WEAK_MARGIN: Final = 0.25
"""Default margin below which a majority is weak: 3 votes against 2 are weak, 2 votes against 1 are not."""

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Vote:
    """Result of a vote.

    Attributes:
        family: Family of the winning value; None if the place is left out.
        value: The winning single value, or the most frequent notation of absence (null or ABSENT) if that wins; else
            ABSENT.
        winners: The annotators who have the winning value, or a list or object if that has won.
        support: Share of the votes for it.
        margin: `support` minus the share of the most frequent other reading.
        flag: How far the voters are from agreeing; None if all agree.
        by: The strategy that decided.
        similarity: Mean similarity of the readings, over pairs of voters. Two lists or two objects count as equal: what
            is in them is voted on separately.
    """

    family: Kind | None
    value: Json
    winners: tuple[int, ...]
    support: float
    margin: float
    flag: Flag | None
    by: Strategy
    similarity: float


class _Ballot:
    """The votes on a place, by reading.

    Attributes:
        voters: The annotators who vote.
        absent: Those who have no value.
        families: Those who have a value, by family.
        equal: For each voter with a single value, those who have a value at distance 0 from it.
    """

    def __init__(self, place: Place) -> None:
        """Sort the annotators who vote on a place by what they have there."""
        self.place, self.voters = place, place.voters()
        self.absent = tuple(at for at in self.voters if place.families[at] is None)
        self.families = {
            family: tuple(members) for family in (SCALAR, Kind.ARRAY, Kind.OBJECT) if (members := place.members(family))
        }
        single = self.families.get(SCALAR, ())
        self.equal = {at: tuple(other for other in single if place.distance(at, other) == 0.0) for at in single}

    def readings(self) -> set[tuple[int, ...]]:
        """Return the voters with each reading: those with equal single values, with a list, with an object, or none."""
        containers = {members for family, members in self.families.items() if family is not SCALAR}
        return {*containers, *self.equal.values(), self.absent} - {()}

    def usual(self, members: Sequence[int]) -> Json:
        """Return the most frequent notation of some values; if tied, a missing key, then the first as JSON text."""
        counts, values = Counter(map(self.notation, members)), self.place.values
        rank = {at: (-counts[self.notation(at)], values[at] is not ABSENT, self.text(at)) for at in members}
        return values[min(members, key=rank.__getitem__)]

    def notation(self, voter: int) -> Hashable:
        """Return a key that is equal for equal JSON values."""
        value = self.place.values[voter]
        return ABSENT if value is ABSENT else canonical(value)

    def text(self, voter: int) -> str:
        """Return the value as JSON text, which decides ties. A missing key has the text of null."""
        value = self.place.values[voter]
        return tie_text(None if value is ABSENT else value)

    def majority(self) -> bool:
        """Return whether more than half of the voters have a value."""
        return 2 * len(self.absent) < len(self.voters)

    def family(self) -> Kind:
        """Return the most frequent family; of equally frequent ones, single values come first, then lists."""
        return max(self.families, key=lambda family: len(self.families[family]))

    def result(
        self,
        winners: tuple[int, ...],
        weak_margin: float,
        readings: set[tuple[int, ...]],
        *,
        tied: bool,
        flagged: bool,
    ) -> tuple[float, float, Flag | None]:
        """Return the share of the votes for the winners, their lead over the next reading, and the flag.

        Args:
            winners: The voters with the winning reading.
            weak_margin: Margin below which a majority is weak.
            readings: The voters with each reading.
            tied: Whether the winning value was chosen among several with equally many votes.
            flagged: Whether ties and weak majorities are flagged.
        """
        size, sizes = len(self.voters), sorted(map(len, readings), reverse=True)
        margin = (len(winners) - max((len(own) for own in readings if own != winners), default=0)) / size
        flag: Flag | None = "not unanimous"
        if len(readings) == 1 and len(winners) == size:
            flag = None
        elif flagged and (tied or sizes[:1] == sizes[1:2]):
            flag = "tie"
        elif flagged and (2 * len(winners) <= size or margin < weak_margin - _ROUNDING):
            flag = "weak majority"
        return len(winners) / size, margin, flag

    def most_frequent(self, candidates: Collection[int]) -> list[int]:
        """Return the candidates whose single values have the most votes."""
        most = max(len(self.equal[at]) for at in candidates)
        return [at for at in candidates if len(self.equal[at]) == most]

    def elected(self, candidates: Collection[int], *, medoid: bool) -> tuple[int, ...]:
        """Return the voters with the single value that wins among those of the candidates.

        This is the medoid, or else the value of more than half of the voters, or the median or the medoid. The
        candidate nearest to the median wins if the median is not a candidate.
        """
        if medoid:
            return self.medoid(candidates)
        ahead = self.most_frequent(candidates)
        if 2 * len(self.equal[ahead[0]]) > len(self.equal):
            counts = Counter(map(self.notation, ahead))
            return self.equal[min(ahead, key=lambda at: (-counts[self.notation(at)], self.text(at)))]
        keys = _positions(self.place, list(self.equal))
        if keys is not None:
            middle = (len(self.equal) - 1) // 2
            steps = {at: rank - middle for rank, at in enumerate(sorted(self.equal, key=lambda at: keys[at]))}
            return self.equal[min(candidates, key=lambda at: (abs(steps[at]), steps[at]))]
        return self.medoid(candidates)

    def medoid(self, candidates: Collection[int]) -> tuple[int, ...]:
        """Return the voters with the candidate that has the smallest total distance to all single values."""
        costs = {at: math.fsum(self.place.distance(at, other) for other in self.equal) for at in candidates}
        return self.equal[min(costs, key=lambda at: (round(costs[at], 9), -len(self.equal[at]), self.text(at)))]

    def similarity(self) -> float:
        """Return the mean similarity of the readings of two voters; 1 if there is only one."""
        return fmean([self._similarity(*pair) for pair in combinations(self.voters, 2)] or [1.0])

    def _similarity(self, first: int, second: int) -> float:
        """Return the similarity of the readings of two voters."""
        place = self.place
        if place.families[first] is not place.families[second]:
            return 0.0
        return 1.0 - place.distance(first, second)


def vote(
    place: Place,
    strategy: Strategy,
    weak_margin: float,
    *,
    candidates: Sequence[int] | None = None,
    kept: bool | None = None,
    pivot: int | None = None,
) -> Vote:
    """Return the vote on a place.

    Minimum risk: A place is kept if `kept` says so. The most frequent family wins, and the medoid of single values.

    Majority: A place is kept if more than half of the voters have a value. The most frequent family wins. A
    single value with more than half of the votes wins; if there is none, the median of numbers and dates, and the
    medoid of other values.

    Unanimity: A place is kept if all voters have equal values.

    Dawid-Skene: As majority, but a single value of the candidates wins: the one with the most votes and, of several
    with equally many votes, the one that majority chooses.

    The value is written in its most frequent notation. If two values are equally good, the first as JSON text wins.

    Args:
        place: The place.
        strategy: The strategy; "collegial" is "majority", and so is "dawid-skene" without `candidates`.
        weak_margin: Margin below which a majority is weak.
        candidates: The annotators with the most probable single values, if these were estimated.
        kept: Whether to keep the place; None for more than half of the votes.
        pivot: An annotator whose document takes the place of the vote.
    """
    ballot = _Ballot(place)
    readings = ballot.readings()
    agreed = len(readings) == 1
    if kept is None:
        kept = ballot.majority() and (agreed or strategy != "unanimity")
    if pivot is not None:
        kept = pivot in ballot.voters and place.families[pivot] is not None
        candidates = (pivot,)
    family, winners, value, tied = None, ballot.absent, ABSENT, False
    if kept:
        family = ballot.family() if pivot is None else place.families[pivot]
        winners = ballot.families[family or SCALAR]
    if family is SCALAR:
        leading: Collection[int] = ballot.equal
        if candidates is not None:
            leading = ballot.most_frequent(candidates)
            tied = len({ballot.equal[at] for at in leading}) > 1
        winners = ballot.elected(leading, medoid=strategy == "minimum-risk")
        value = ballot.usual(winners)
    elif family is None and winners and (agreed or strategy != "unanimity"):
        value = ballot.usual(winners)
    if pivot is not None and family in {None, SCALAR}:
        value = place.values[pivot]
    support, margin, flag = ballot.result(winners, weak_margin, readings, tied=tied, flagged=strategy != "unanimity")
    estimated = family is SCALAR and candidates is not None
    by: Strategy = "majority" if strategy == "dawid-skene" and not estimated else strategy
    return Vote(family, value, winners, support, margin, flag, by, ballot.similarity())


def _positions(place: Place, members: Sequence[int]) -> dict[int, float] | None:
    """Return the position of each value on a scale; None unless all values are numbers, or all are dates."""
    if place.leaf is None:
        return None
    values = [place.leaf.values[place.codes[at]] for at in members]
    if {leaf.distance.name for leaf in place.leaf.leaves} == {"date"}:
        spans = [interval(value) for value in values]
        return None if None in spans else {at: span[0] for at, span in zip(members, spans, strict=True) if span}
    if any(kind_of(value) is not Kind.NUMBER for value in values):
        return None
    return dict(zip(members, values, strict=True))
