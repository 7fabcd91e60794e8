"""Colour refinement of two graphs together, with individualisation of items that it cannot tell apart.

Items start with the colour of what they contain. Each round gives two items different colours if the colours of
the items that they refer to, or that refer to them, differ (Weisfeiler and Leman, 1968). If several items of both
graphs keep the same colour, one of each is paired, and the colours are refined again.

Colours are hashes that depend on contents and references only, so the result depends neither on the ids nor on the
order of the items, except among items that this procedure cannot tell apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.engine.columns.row_keys import Digests, mix_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.engine.references.graph import Edges, ReferenceGraph

MAX_TRIED: Final = 16
"""Maximum number of gold items of one colour that are individualised to see which comes first."""

_DANGLING: Final = np.uint64(0x5851F42D4C957F2D)
"""Colour of an id without an item."""

_INDIVIDUAL: Final = np.uint64(0x14057B7EF767814F)
"""Is added to the colours of two items that are paired."""


class RefinedColours(NamedTuple):
    """Stable colours of the items of two graphs.

    Attributes:
        gold: Colour of each gold item; shape (n,).
        predicted: Colour of each predicted item; shape (m,).
    """

    gold: Digests
    predicted: Digests

    @property
    def partners(self) -> Indices:
        """Position of the predicted item with the colour of each gold item; -1 unless it is one of each."""
        partners = np.full(len(self.gold), -1, dtype=np.intp)
        gold, predicted = (_single_places(side) for side in self)
        _, rows, columns = np.intersect1d(self.gold[gold], self.predicted[predicted], return_indices=True)
        partners[gold[rows]] = predicted[columns]
        return partners


def _single_places(colours: Digests) -> Indices:
    """Return the positions of the colours that occur once."""
    _, first, counts = np.unique(colours, return_index=True, return_counts=True)
    places: Indices = first[counts == 1]
    return places


def isomorphism(graph: ReferenceGraph) -> Indices | None:
    """Return the position of the partner of each gold item if both graphs are the same; None if none is found.

    What the list items without ids around references and items contain must also be the same.
    """
    n, m = graph.alike.shape
    gold, predicted = (_Ends.of(size, edges, edges.detail) for size, edges in zip((n, m), graph.edges, strict=True))
    both = gold.joined(predicted)
    colours = both.refined(np.concatenate(graph.details))
    if _histogram(colours[:n]) != _histogram(colours[n:]):
        return None
    found = _separated(both, gold, colours)
    partners = found.partners
    return partners if _histogram(found.gold) == _histogram(found.predicted) and (partners >= 0).all() else None


def refined_colours(graph: ReferenceGraph) -> RefinedColours:
    """Return stable colours of two graphs in which as few items as possible have the same colour."""
    n, m = graph.alike.shape
    gold, predicted = (_Ends.of(size, edges, edges.label) for size, edges in zip((n, m), graph.edges, strict=True))
    both = gold.joined(predicted)
    return _separated(both, gold, both.refined(np.concatenate(graph.colours)))


def exchangeable(graph: ReferenceGraph) -> list[tuple[int, ...]]:
    """Return groups of gold items, by position, of which each can take the place of each other.

    For every two of them, the graph of gold has an automorphism that maps one to the other.

    Args:
        graph: The graph of gold and of gold itself.
    """
    n, _ = graph.alike.shape
    gold = _Ends.of(n, graph.edges[0], graph.edges[0].detail)
    both = gold.joined(gold)
    colours = both.refined(np.concatenate([graph.details[0], graph.details[0]]))
    groups = []
    for cell in np.unique(colours[:n]):
        left = (colours[:n] == cell).nonzero()[0].tolist()
        while len(left) > 1:
            first, *others = left
            images = [other for other in others if _maps(both, gold, colours, first, other)]
            if images:
                groups.append((first, *images))
            left = [other for other in others if other not in images]
    return sorted(groups)


def _maps(both: _Ends, gold: _Ends, colours: Digests, first: int, other: int) -> bool:
    """Return whether an automorphism of gold that maps one item to another is found."""
    pinned = both.refined(_individualised(colours, [first, gold.size + other]))
    found = _separated(both, gold, pinned)
    return bool((found.partners >= 0).all())


def _separated(both: _Ends, gold: _Ends, colours: Digests) -> RefinedColours:
    """Pair one item of each graph after the other until no two items that have partners have the same colour."""
    n = gold.size
    while (cell := _smallest_cell(colours[:n], colours[n:])) is not None:
        rows, columns = (colours[:n] == cell).nonzero()[0], (colours[n:] == cell).nonzero()[0]
        row = rows[0]
        if len(rows) <= MAX_TRIED:
            row = min(rows, key=lambda one: _histogram(gold.refined(_individualised(colours[:n], [one]))))
        tried = columns if _histogram(colours[:n]) == _histogram(colours[n:]) else columns[:1]
        finer = [both.refined(_individualised(colours, [row, n + tried[0]]))]
        for column in tried[1:].tolist():
            if _histogram(finer[-1][:n]) == _histogram(finer[-1][n:]):
                break
            finer.append(both.refined(_individualised(colours, [row, n + column])))
        fits = _histogram(finer[-1][:n]) == _histogram(finer[-1][n:])
        colours = finer[-1 if fits else 0]
    return RefinedColours(colours[:n], colours[n:])


def _smallest_cell(gold: Digests, predicted: Digests) -> np.uint64 | None:
    """Return the colour of the fewest items that equally many items of both graphs have, but not only one."""
    values, counts = np.unique(gold, return_counts=True)
    others = dict(zip(*(part.tolist() for part in np.unique(predicted, return_counts=True)), strict=True))
    cells = [
        (count, value)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
        if count > 1 and others.get(value) == count
    ]
    return np.uint64(min(cells)[1]) if cells else None


def _individualised(colours: Digests, chosen: Sequence[int]) -> Digests:
    changed = colours.copy()
    changed[chosen] = mix_bits(changed[chosen] + _INDIVIDUAL)
    return changed


def _histogram(colours: Digests) -> tuple[int, ...]:
    return tuple(sorted(colours.tolist()))


class _Ends(NamedTuple):
    """The ends of the edges of a graph.

    Attributes:
        size: Number of items.
        at: The item at this end.
        other: The item at the other end, or -1.
        salt: Hash of the label and of the direction.
    """

    size: int
    at: Indices
    other: Indices
    salt: Digests

    @classmethod
    def of(cls, size: int, edges: Edges, labels: Digests) -> _Ends:
        at, other = np.concatenate([edges.source, edges.target]), np.concatenate([edges.target, edges.source])
        salt = np.concatenate([mix_bits(labels, 3), mix_bits(labels, 5)])
        own = at >= 0
        return cls(size, at[own], other[own], salt[own])

    def joined(self, second: _Ends) -> _Ends:
        """Return the graph of both, with the items of the second after those of the first."""
        shifted = np.where(second.other >= 0, second.other + self.size, -1)
        return _Ends(
            self.size + second.size,
            np.concatenate([self.at, second.at + self.size]),
            np.concatenate([self.other, shifted]),
            np.concatenate([self.salt, second.salt]),
        )

    def refined(self, colours: Digests) -> Digests:
        """Refine colours until their number stays the same."""
        count = 0
        while (number := len(np.unique(colours))) > count:
            count = number
            ends = np.append(colours, _DANGLING)[self.other]
            sums = np.zeros(self.size, dtype=np.uint64)
            np.add.at(sums, self.at, mix_bits(mix_bits(ends) ^ self.salt))
            colours = mix_bits(colours, 7) + mix_bits(sums, 11)
        return colours
