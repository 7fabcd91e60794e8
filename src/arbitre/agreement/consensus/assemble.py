"""Assembles the consensus documents from the votes, and lists the disagreements.

`Assembly` computes the value of each place, those in a list or an object before the list or the object, whose items and
keys have the order that most annotators use (`in_order`). Its `draft` contains the documents and the disagreements.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.agreement.consensus.disagreement import FLAGGED, Disagreement, PathCounts, Reading
from arbitre.agreement.consensus.places import SCALAR
from arbitre.agreement.list_alignment import keeps_order
from arbitre.inputs.provenance import ValueOrigin
from arbitre.paths import order, pointer
from arbitre.report.document_tree import first_text
from arbitre.values import ABSENT, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.agreement.consensus.places import Place, Places
    from arbitre.agreement.consensus.vote import Vote
    from arbitre.paths import Token

SINGLE: Final = "single annotator"
"""Origin of a document that only one annotator has."""

_OUTCOMES: Final = ("unanimous", "majority", "flagged", "left_out")
"""The fields of `PathCounts`, from the safest to the least safe."""

NEIGHBOURS: Final = 5
"""Number of items on each side of a disagreement that its context contains. Near an end of the list, there are fewer on
one side and more on the other."""

MAX_RANKED: Final = 2_000
"""Maximum number of elements whose pairs are compared; more are sorted by their median relative position."""


class Draft(NamedTuple):
    """Consensus documents with their disagreements.

    Attributes:
        documents: The documents by id. Documents that are left out are missing.
        disagreements: The disagreements, those with the greatest weight first.
        by_path: Number of single values and list items at each path.
        values: Number of single values at all paths.
        origins: Origin of the values that not all annotators have, by document and pointer.
        located: Place of each disagreement, by its id.
    """

    documents: dict[str, Json]
    disagreements: tuple[Disagreement, ...]
    by_path: dict[str, PathCounts]
    values: PathCounts
    origins: dict[str, dict[str, ValueOrigin]]
    located: dict[str, Place]


class _PlacedNode(NamedTuple):
    """A place, with its path in the consensus document.

    Attributes:
        place: The place.
        tokens: The path.
        share: Share of the document's quality that depends on it.
        above: The document, then the list items that contain the place, with their paths.
        outcome: The field of `PathCounts` for values that all annotators of the container share.
    """

    place: Place
    tokens: tuple[Token, ...]
    share: float
    above: tuple[tuple[Place, tuple[Token, ...]], ...]
    outcome: str = "unanimous"


@dataclass(eq=False, slots=True)
class Assembly:
    """The votes on all places, and the values that result from them.

    Attributes:
        places: The places.
        votes: The vote on each place.
        values: The value of each place in the consensus; ABSENT if it is left out.
        strategy: Name of the strategy.
        decided: Values that replace those of the vote; ABSENT to leave a place out.
        pivots: By document, an annotator whose order of items and keys is kept, instead of that of most annotators.
    """

    places: Places
    votes: dict[Place, Vote]
    values: dict[Place, Json]
    strategy: str
    decided: Mapping[Place, Json]
    pivots: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        places: Places,
        votes: Mapping[Place, Vote],
        strategy: str,
        decided: Mapping[Place, Json] = MappingProxyType({}),
        pivots: Mapping[int, int] = MappingProxyType({}),
    ) -> Assembly:
        """Compute the values, those in a container before the container."""
        assembly = cls(places, dict(votes), {}, strategy, decided, pivots)
        for place in reversed(places.every):
            assembly.values[place] = decided[place] if place in decided else assembly._value(place)
        return assembly

    def documents(self) -> dict[str, Json]:
        """Return the documents by id, without those that are left out."""
        return {name: self.values[root] for name, root in self.places.roots.items() if self.values[root] is not ABSENT}

    def pointers(self) -> dict[Place, str]:
        """Return the pointer of each place that is kept, without those inside a decided value."""
        pointers = {}
        pending: list[tuple[Place, tuple[Token, ...]]] = [(root, ()) for root in self.places.roots.values()]
        while pending:
            place, tokens = pending.pop()
            if self.values[place] is ABSENT:
                continue
            pointers[place] = pointer(tokens)
            family = self.votes[place].family
            if place not in self.decided and family not in {None, SCALAR}:
                pending += [(child, (*tokens, token)) for token, child in self._arranged(place, family)]
        return pointers

    def draft(self) -> Draft:
        """Return the documents and the disagreements."""
        disagreements: list[Disagreement] = []
        located: dict[str, Place] = {}
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        origins: dict[str, dict[str, ValueOrigin]] = defaultdict(dict)
        for name, root in self.places.roots.items():
            single = len(root.voters()) == 1
            pending = [_PlacedNode(root, (), 1.0, ((root, ()),), "flagged" if single else "unanimous")]
            if single:
                origins[name][""] = ValueOrigin((self.places.annotators[root.voters()[0]],), SINGLE)
            while pending:
                node = pending.pop()
                place, vote = node.place, self.votes[node.place]
                kept = vote.family is not None
                if vote.flag is not None:
                    disagreement = self._disagreement(name, root, node)
                    disagreements.append(disagreement)
                    located[disagreement.id] = place
                    if kept:
                        names = tuple(sorted(self.places.annotators[at] for at in vote.winners))
                        origins[name][disagreement.pointer] = ValueOrigin(names, vote.by, tie=vote.flag == "tie")
                outcome = max(_outcome(vote), node.outcome, key=_OUTCOMES.index) if kept else _OUTCOMES[-1]
                for own in [place] if kept else _with_descendants(place):
                    if own.weight and (own.item or SCALAR in own.families):
                        counts[own.path][outcome] += 1
                        total[outcome] += SCALAR in own.families
                if vote.family not in {None, SCALAR}:
                    pending += self._below(node._replace(outcome=outcome), vote.family)
        disagreements.sort(key=lambda own: (-own.weight, own.document, order(own.pointer)))
        return Draft(
            self.documents(),
            tuple(disagreements),
            {path: PathCounts(**counts[path]) for path in sorted(counts, key=order)},
            PathCounts(**total),
            dict(origins),
            located,
        )

    def _value(self, place: Place) -> Json:
        """Return the value of a place. A container in which unanimity keeps nothing is left out."""
        vote = self.votes[place]
        if vote.family is None or vote.family is SCALAR:
            return vote.value
        children = place.inside(vote.family)
        if vote.family is Kind.ARRAY:
            self._cut(place, children)
        empty = not any(self.votes[child].family for child in children)
        if (
            self.strategy == "unanimity"
            and place.parent is not None
            and empty
            and any(self.votes[child].flag for child in children)
        ):
            self.votes[place] = replace(
                vote, family=None, winners=(), support=0.0, margin=-1.0, flag="not unanimous", similarity=0.0
            )
            return ABSENT
        arranged = self._arranged(place, vote.family)
        kept = {token: self.values[child] for token, child in arranged if self.values[child] is not ABSENT}
        if vote.family is Kind.OBJECT:
            return kept
        size = max(kept, default=-1) + 1
        for token, child in arranged:
            if not child.item and token < size and self.values[child] is ABSENT:
                self.values[child] = None  # the items after it keep their positions
        return [kept.get(position) for position in range(size)]

    def _cut(self, place: Place, children: Sequence[Place]) -> None:
        """End a list before the first item that is left out, if the items after it depend on their positions."""
        if not any(self._ends(place, child) for child in children):
            return
        fixed = sorted((child for child in children if not child.item), key=lambda child: child.token)
        items = [*fixed, *self._in_order(place, [child for child in children if child.item])]
        end = next((at for at, child in enumerate(items) if self._ends(place, child)), len(items))
        for child in items[end:]:
            if child not in self.decided:
                self.values[child], self.votes[child] = ABSENT, replace(self.votes[child], family=None)

    def _ends(self, place: Place, item: Place) -> bool:
        """Return whether a list must end before an item because the item is left out.

        With unanimity, this holds for `prefixItems` positions, and for compared items that are matched by position.
        With other strategies, it holds only for `prefixItems` positions where no annotator has null. It never holds for
        an item that a person decided on.
        """
        if self.values[item] is not ABSENT or item in self.decided:
            return False
        if self.strategy == "unanimity":
            return not item.item or (place.by_position and item.weight > 0.0)
        return not item.item and None not in item.values

    def _arranged(self, place: Place, family: Kind | None) -> list[tuple[Any, Place]]:
        """Return the places in a list or an object, with their positions or keys in the consensus.

        Items that are left out have positions after the last item.
        """
        children = place.inside(family)
        movable = [child for child in children if child.item or family is Kind.OBJECT]
        kept, left_out = (
            self._in_order(place, [child for child in movable if (self.values[child] is not ABSENT) is side])
            for side in (True, False)
        )
        if family is Kind.OBJECT:
            return [(child.token, child) for child in kept + left_out]
        fixed = [(child.token, child) for child in children if not child.item]
        return fixed + list(enumerate(kept + left_out, start=place.prefix))

    def _in_order(self, place: Place, children: list[Place]) -> list[Place]:
        """Return items, or fields, in the order that most annotators use, or that of the pivot of the document.

        Items whose order the matching keeps are already in order; only items that are not compared are inserted.

        Args:
            place: The list or the object.
            children: The places in it.
        """
        if len(children) < 2:  # noqa: PLR2004
            return children
        containers = {at: place.values[at] for at in place.members(children[0].container)}
        keys: dict[int, dict[Any, int]] = {
            at: {key: number for number, key in enumerate(value)}
            for at, value in containers.items()
            if isinstance(value, dict)
        }
        pivot = self.pivots.get(place.document)
        # Position of each child for each annotator who has it: that of its key in an object, or in the list.
        positions = [
            {at: keys[at][token] if at in keys else token for at, token in enumerate(child.tokens) if token is not None}
            for child in children
        ]
        if pivot is not None and all(pivot in own for own in positions):
            return [children[at] for at in sorted(range(len(children)), key=lambda at: positions[at][pivot])]
        if place.matcher is not None and keeps_order(place.matcher) and children[0].container is Kind.ARRAY:
            return _inserted(children)
        return [children[at] for at in in_order(positions, {at: len(value) for at, value in containers.items()})]

    def _below(self, node: _PlacedNode, family: Kind | None) -> Iterator[_PlacedNode]:
        """Yield the places in a list or an object, the last one first."""
        place = node.place
        arranged = self._arranged(place, family)
        total = math.fsum(child.weight for _, child in arranged)
        above = (*node.above, (place, node.tokens)) if place.item else node.above
        for token, child in reversed(arranged):
            share, tokens = node.share * child.weight / total if total else 0.0, (*node.tokens, token)
            yield _PlacedNode(child, tokens, share, above, node.outcome)

    def _disagreement(self, document: str, root: Place, node: _PlacedNode) -> Disagreement:
        """Return the disagreement on a place.

        Args:
            document: Id of the document.
            root: Its place.
            node: The place, with its path in the consensus document.
        """
        place, vote, at = node.place, self.votes[node.place], pointer(node.tokens)
        around, leading = node.above[-1]
        itself = ((place, node.tokens),) if place.item and Kind.OBJECT in place.families else ()
        entries = (*node.above, *itself)
        versions = tuple(self._readings(root, each) for each, _ in entries)
        return Disagreement(
            id=f"{document}#{at}",
            document=document,
            pointer=at,
            path=place.path,
            kind="presence" if any(place.families[voter] is None for voter in place.voters()) else "value",
            readings=self._readings(root, place),
            proposal=self.values[place],
            support=vote.support,
            margin=vote.margin,
            flag=vote.flag or "not unanimous",
            weight=node.share * (1.0 - vote.similarity),
            context=_nearby(self.values[around], node.tokens[len(leading) :]),
            entry=pointer(entries[-1][1]),
            versions=versions[-1],
            within=tuple(filter(None, (first_text(self.values[each]) for each, _ in entries[1:]))),
            items=versions[1:],
        )

    def _readings(self, root: Place, place: Place) -> tuple[Reading, ...]:
        """Return what each annotator of the document has at a place."""
        voters = place.voters()
        return tuple(
            Reading(
                name,
                place.values[annotator],
                None if place.values[annotator] is ABSENT else place.address(annotator),
                annotator in voters,
            )
            for name, annotator in sorted(zip(self.places.annotators, range(len(root.values)), strict=True))
            if root.values[annotator] is not ABSENT
        )


def _nearby(context: Json, path: Sequence[Token]) -> Json:
    """Return the context of a place, with long lists shortened: omitted items are replaced with "…".

    Lists along the path keep the items near the place; other lists keep their first items.

    Args:
        context: The context.
        path: Path of the place in the context. The context may lack the end of it.
    """
    holders: list[tuple[Json, Token]] = []
    for token in path:
        holders.append((context, token))
        inside = token in context if isinstance(context, dict) else isinstance(token, int) and token < len(context)
        context = context[token] if inside else ABSENT
        if not isinstance(context, (dict, list)):
            break
    for holder, token in reversed(holders):
        if isinstance(holder, dict):
            context = {key: context if key == token else _near(each, 0)[0] for key, each in holder.items()}
        else:
            items, at = _near(holder, int(str(token)))
            if context is not ABSENT:
                items = [*items[:at], context, *items[at + 1 :]]
            context = items
    return context


def _near(value: Json, at: int) -> tuple[Json, int]:
    """Return a value and a position in it; of a long list, only the items around the position, and its new index."""
    size = 2 * NEIGHBOURS + 1
    if not isinstance(value, list) or len(value) <= size:
        return value, at
    start = max(min(at - NEIGHBOURS, len(value) - size), 0)
    before, after = ["…"] * (start > 0), ["…"] * (start + size < len(value))
    return [*before, *value[start : start + size], *after], at - start + len(before)


def _inserted(items: Sequence[Place]) -> list[Place]:
    """Insert the items that are not compared into the others, which are in order.

    Each of them follows the items that precede it in the list of the first annotator who has it.
    """
    compared = [item for item in items if item.weight]
    keys = {item: (at, -1) for at, item in enumerate(compared, start=1)}
    for item in items:
        if item not in keys:
            at, position = next((at, token) for at, token in enumerate(item.tokens) if isinstance(token, int))
            before = [own for own, other in enumerate(compared, start=1) if _precedes(other.tokens[at], position)]
            keys[item] = max(before, default=0), position
    return sorted(items, key=keys.__getitem__)


def _precedes(token: Token | None, position: int) -> bool:
    """Return whether an item is before a position; False for an item that the annotator lacks."""
    return isinstance(token, int) and token < position


def _outcome(vote: Vote) -> str:
    """Return the field of `PathCounts` that counts a value that is kept."""
    if vote.flag is None:
        return "unanimous"
    return "flagged" if vote.flag in FLAGGED else "majority"


def _with_descendants(place: Place) -> Iterator[Place]:
    """Yield a place and all places inside it."""
    pending = [place]
    while pending:
        place = pending.pop()
        yield place
        pending += place.children


def in_order(positions: Sequence[Mapping[int, Any]], lengths: Mapping[int, int]) -> list[int]:
    """Return the elements in the order that most annotators use.

    An element precedes another if more annotators place it before the other than after it. Elements are sorted by the
    number of elements that they precede, minus the number of those that precede them (Copeland, 1951), then by their
    median relative position. Elements that nobody has come last.

    Args:
        positions: Position of each element in the list of each annotator who has it.
        lengths: Length of the list of each annotator.

    >>> in_order([{0: 0, 1: 1}, {0: 1, 1: 2}, {1: 0}], {0: 2, 1: 3})
    [2, 0, 1]
    """
    middles = [median([(at + 0.5) / lengths[annotator] for annotator, at in own.items()] or [1.0]) for own in positions]
    ranked = sorted(range(len(positions)), key=middles.__getitem__)
    if len(positions) > MAX_RANKED or all(
        _increasing([positions[at][annotator] for at in ranked if annotator in positions[at]]) for annotator in lengths
    ):
        return ranked  # avoids the table of pairs
    # In row i and column j: how many annotators place element i before j, minus how many place it after j.
    before = np.zeros((len(positions), len(positions)), dtype=np.int64)
    for annotator in lengths:
        places = np.array([own.get(annotator, np.nan) for own in positions])
        before += (places[:, None] < places).astype(np.int64) - (places[:, None] > places)
    wins = np.sign(before).sum(axis=1)
    return sorted(ranked, key=lambda at: -wins[at])


def _increasing(numbers: Sequence[int]) -> bool:
    """Return whether each number is greater than the one before it."""
    return all(first < second for first, second in pairwise(numbers))
