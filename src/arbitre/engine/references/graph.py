"""The graphs of pairs of documents: their items, how alike they are, and the references between them.

An *item* here is a list item, or a value of a map, that belongs to a scope of ids; other list items with references
are *holders*. A reference in an item is an edge from this item to the one that it refers to. A holder, such as a
relation or a letter, joins the items that it refers to: each two of them have an edge, and so has the item around the
holder with each of them. The label of an edge states where its references are in the schema. A reference that is in no
item and that no other reference is joined with is an edge of weight 0 from its target to itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.engine.columns.column import Column, LeafColumn, ListColumn, MixedColumn, folded
from arbitre.engine.columns.ragged import cross_slices, find_sorted, first_of_equal, starts_of, take_or
from arbitre.engine.columns.references import shares
from arbitre.engine.columns.row_keys import Digests, mix_bits
from arbitre.engine.solve.reached import reached_matches
from arbitre.engine.solve.solver import QualitySolver
from arbitre.paths import wildcard
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.references import ReferenceIndex
    from arbitre.engine.solve.batches import Batch

MAX_JOINED: Final = 30
"""Maximum number of references of one item that are joined with each other."""

MAX_CELLS: Final = 1 << 18
"""Approximate number of pairs of items that are compared at once."""


class Edges(NamedTuple):
    """Edges between items; all arrays have shape (edges,).

    Attributes:
        source: The item with the reference.
        target: The item that it refers to. By position, it is -1 for an id without an item; so is the source.
        label: Hash of where its references are in the schema.
        detail: Hash of the label, of what the holder contains, and of the position in an ordered list.
        weight: Weight of its references, as a fraction of the document.
    """

    source: Indices
    target: Indices
    label: Digests
    detail: Digests
    weight: Floats


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceGraph:
    """The items of a pair of documents and the references between them.

    Attributes:
        gold: Number of each gold item; shape (n,).
        predicted: Number of each predicted item; shape (m,).
        alike: Quality of each pair of items with all references counted as wrong, times its weight, plus the weight of
            the references to the pair in matched holders that have no other reference; shape (n, m).
        allowed: Mask of the pairs of items of the same scope; shape (n, m).
        mentioned: Weight of the references to each pair of items in matched holders, which are matched by what else
            they contain; shape (n, m).
        colours: Hash of what each item contains, without references; shapes (n,) and (m,).
        details: Hash of the colour, and of what the list item around each item contains if it has no id.
        edges: The edges of gold and of the prediction, by the positions of the items.
    """

    gold: Indices
    predicted: Indices
    alike: Floats
    allowed: Mask
    mentioned: Floats
    colours: tuple[Digests, Digests]
    details: tuple[Digests, Digests]
    edges: tuple[Edges, Edges]


class References(NamedTuple):
    """References with their owners; all arrays have shape (references,).

    Attributes:
        root: Row of the document.
        place: Row of the reference, numbered over all columns.
        item: Number of the item that is the nearest list item around the reference, or -1.
        holder: Number of the row of the nearest list item around the reference, if it is a holder; -1 otherwise.
        holder_weight: Weight of the holder, as a fraction of the document; 0 if there is none.
        around: Number of the item around the holder, or -1.
        target: Number of the item that it refers to, or of the id without an item.
        label: Hash of its place in the schema.
        detail: Hash of the label, of what the holder contains, and of the position in an ordered list.
        weight: Its weight, as a fraction of the document.
    """

    root: Indices
    place: Indices
    item: Indices
    holder: Indices
    holder_weight: Floats
    around: Indices
    target: Indices
    label: Digests
    detail: Digests
    weight: Floats

    def chosen(self, at: Indices) -> References:
        """Return the references at these positions."""
        parts: list[Any] = [part[at] for part in self]
        return References(*parts)


@dataclass(eq=False, slots=True)
class DocumentGraphs:
    """The items and the references of all documents of a batch.

    Attributes:
        index: The items and references of the documents.
        columns: Linked columns of the documents.
        matched: The closed batch of the documents in these columns.
        references: All references.
        edges: The edges of all documents, by the numbers of the items.
        edge_roots: Row of the document of each edge.
        item_weight: Share of its document that each item is.
        position: Position of each item in its document; -1 for ids without an item.
        partner: Row of the predicted list item that each gold one is matched with, or -1; rows are numbered over all
            columns.
    """

    index: ReferenceIndex
    columns: Sequence[Column]
    matched: Batch
    references: References = field(init=False)
    edges: Edges = field(init=False)
    edge_roots: Indices = field(init=False)
    item_weight: Floats = field(init=False)
    position: Indices = field(init=False)
    partner: Indices = field(init=False)
    _by_root: Indices = field(init=False)
    _starts: Indices = field(init=False)

    def __post_init__(self) -> None:
        index, weights = self.index, shares(self.columns)
        every = np.arange(self.columns[0].size + 1, dtype=np.intp)
        self._by_root = index.roots.argsort(kind="stable")
        self._starts = index.roots[self._by_root].searchsorted(every)
        self.position = np.full(index.size, -1, dtype=np.intp)
        self.position[self._by_root] = np.arange(len(index.roots)) - self._starts[index.roots[self._by_root]]
        self.item_weight = np.concatenate([np.empty(0), *(weights[one.items.number] for one in index.lists)])
        self.partner = self._partners()
        self.references = self._all_references(weights)
        edges = [*_direct(self.references), *_joined(self.references), _alone(self.references), *self._nested(weights)]
        self.edges = Edges(*(np.concatenate(parts) for parts in zip(*edges, strict=True)))
        roots = index.documents_of(self.edges.source)
        order = roots.argsort(kind="stable")
        self.edges = Edges(*(part[order] for part in self.edges))  # type: ignore[arg-type]
        self.edge_roots = roots[order]

    def items_of(self, rows: Indices) -> list[Indices]:
        """Return the numbers of the items of each of these documents."""
        return [self._by_root[self._starts[row] : self._starts[row + 1]] for row in rows.tolist()]

    def edges_of(self, rows: Indices) -> list[Edges]:
        """Return the edges of each of these documents, by the positions of the items."""
        start, stop = (self.edge_roots.searchsorted(rows, side=side) for side in ("left", "right"))
        source, target = self.position[self.edges.source], self.position[self.edges.target]
        parts = (source, target, *self.edges[2:])
        return [
            Edges(*(part[begin:end] for part in parts))  # type: ignore[arg-type]
            for begin, end in zip(start.tolist(), stop.tolist(), strict=True)
        ]

    def graphs(self, left: Indices, right: Indices) -> Iterator[ReferenceGraph]:
        """Yield the graph of each pair of root rows; all references must be equal in the columns."""
        index = self.index
        colour, detail = np.empty((2, len(index.roots)), dtype=np.uint64)
        identified = {listed.items.number for listed in index.lists}
        for listed in index.lists:
            own = slice(listed.first, listed.first + listed.items.size)
            scope = np.full(listed.items.size, text_hash(listed.identity.scope), dtype=np.uint64)
            items = self.columns[listed.items.number]
            colour[own] = detail[own] = mix_bits(content_hashes(items) + scope)
            owner, at = _list_item(self.columns[listed.column.number], items.origin)
            if owner.number not in identified and owner.parent is not None:
                detail[own] += mix_bits(content_hashes(owner)[at])
        scopes = np.unique(np.array(index.scopes, dtype=np.str_), return_inverse=True)[1]
        wrong = index.recoded(np.arange(index.size, dtype=np.intp), paired=False)
        golds, predictions = self.items_of(left), self.items_of(right)
        worths = self.worths(wrong, golds, predictions)
        edges, mentioned = (self.edges_of(left), self.edges_of(right)), self._mentioned(left, golds, predictions)
        sides = zip(golds, predictions, worths, mentioned, *edges, strict=True)
        for gold, predicted, worth, (every, single), own, other in sides:
            yield ReferenceGraph(
                gold,
                predicted,
                np.minimum.outer(self.item_weight[gold], self.item_weight[predicted]) * worth + single,
                np.equal.outer(scopes[gold], scopes[predicted]),
                every,
                (colour[gold], colour[predicted]),
                (detail[gold], detail[predicted]),
                (own, other),
            )

    def worths(
        self, columns: Sequence[Column], golds: Sequence[Indices], predictions: Sequence[Indices]
    ) -> list[Floats]:
        """Return the quality of each pair of items of each pair of documents, in these linked columns.

        Items of different lists have quality 0.
        """
        tables = [np.zeros((len(gold), len(other))) for gold, other in zip(golds, predictions, strict=True)]
        for listed in self.index.lists:
            stop = listed.first + listed.items.size
            gold_places, places = (
                [((side >= listed.first) & (side < stop)).nonzero()[0] for side in sides]
                for sides in (golds, predictions)
            )
            cells = np.array([len(rows) * len(own) for rows, own in zip(gold_places, places, strict=True)])
            for part in np.split(np.arange(len(tables)), _chunk_ends(cells)):
                rows = [
                    (golds[one][gold_places[one]] - listed.first, predictions[one][places[one]] - listed.first)
                    for one in part.tolist()
                ]
                left = np.concatenate([gold.repeat(len(other)) for gold, other in rows])
                right = np.concatenate([np.tile(other, len(gold)) for gold, other in rows])
                quality = QualitySolver().evaluate(columns[listed.items.number], left, right).quality
                for one, own in zip(part.tolist(), np.split(quality, cells[part].cumsum()[:-1]), strict=True):
                    shape = len(gold_places[one]), len(places[one])
                    tables[one][np.ix_(gold_places[one], places[one])] = own.reshape(shape)
        return tables

    def _all_references(self, weights: dict[int, Floats]) -> References:
        """Return all references of the documents, with their owners."""
        first = starts_of(np.array([column.size for column in self.columns], dtype=np.intp))
        identified = {listed.items.number: listed.first for listed in self.index.lists}
        contents: dict[int, Digests] = {}
        none = np.empty(0, dtype=np.intp)
        floats, digests = none.astype(np.float64), none.astype(np.uint64)
        parts = [References(none, none, none, none, floats, none, none, digests, digests, floats)]
        for number, targets in self.index.targets.items():
            column = self.columns[number]
            if isinstance(column, ListColumn) and column.items is not None:  # the keys of maps
                column = column.items
            rows = (targets >= 0).nonzero()[0]
            owner, at = _list_item(column, rows)
            none = np.full(len(rows), -1, dtype=np.intp)
            item, holder, holder_weight, around = none, none, np.zeros(len(rows)), none
            if owner.number in identified:
                item = identified[owner.number] + at
            elif owner.parent is not None:
                holder, holder_weight = first[owner.number] + at, weights[owner.number][at]
                around = _item_around(owner, at, identified)
            label = np.full(len(rows), text_hash(wildcard(column.path)), dtype=np.uint64)
            detail = label ^ _position_hashes(column, rows)
            if owner.number not in identified and owner.parent is not None:
                if owner.number not in contents:
                    contents[owner.number] = content_hashes(owner)
                detail = mix_bits(detail) + mix_bits(contents[owner.number][at] ^ _position_hashes(owner, at))
            root, place, weight = column.root_rows(rows), first[column.number] + rows, weights[column.number][rows]
            owners = item, holder, holder_weight, around
            parts.append(References(root, place, *owners, targets[rows], label, detail, weight))
        return References(*(np.concatenate(several) for several in zip(*parts, strict=True)))

    def _partners(self) -> Indices:
        first = starts_of(np.array([column.size for column in self.columns], dtype=np.intp))
        partners = np.full(int(first[-1]) + 1, -1, dtype=np.intp)  # the last element is for references in no item
        for _, below, at in reached_matches(self.matched):
            offset = first[below.column.number]
            partners[below.left[at] + offset] = below.right[at] + offset
        return partners

    def _nested(self, weights: dict[int, Floats]) -> Iterator[Edges]:
        """Yield the edges from items to the items that they contain."""
        identified = {listed.items.number: listed.first for listed in self.index.lists}
        for listed in self.index.lists:
            items = self.columns[listed.items.number]
            around = _item_around(items, np.arange(items.size, dtype=np.intp), identified)
            rows = (around >= 0).nonzero()[0]
            label = np.full(len(rows), text_hash(wildcard(items.path)), dtype=np.uint64)
            yield Edges(around[rows], listed.first + rows, label, label, weights[items.number][rows])

    def _mentioned(
        self, left: Indices, golds: Sequence[Indices], predictions: Sequence[Indices]
    ) -> Iterator[tuple[Floats, Floats]]:
        """Yield the weight of the references in matched holders, by the pair of items that they refer to.

        Yields:
            For each pair of documents, a table of all these references, and one of the references in holders that have
            no other reference and are in no item.
        """
        references, size = self.references, len(self.index.roots)
        labels = np.unique(references.label, return_inverse=True)[1]
        width = int(labels.max(initial=0)) + 1
        own = references.holder >= 0
        order = (references.holder * width + labels).argsort(kind="stable")
        order = order[own[order]]
        keys = (references.holder * width + labels)[order]
        sources = (own & (self.partner[references.holder] >= 0)).nonzero()[0]
        found = find_sorted(keys, self.partner[references.holder[sources]] * width + labels[sources])
        sources, others = sources[found >= 0], order[found[found >= 0]]
        both = (references.target[sources] < size) & (references.target[others] < size)
        sources, others = sources[both], others[both]
        sizes = np.bincount(references.holder[own], minlength=len(self.partner))
        single = (sizes[references.holder[sources]] == 1) & (references.around[sources] < 0)
        weight = np.minimum(references.weight[sources], references.weight[others])
        by_root = references.root[sources].argsort(kind="stable")
        roots = references.root[sources][by_root]
        start, stop = (roots.searchsorted(left, side=side) for side in ("left", "right"))
        for begin, end, gold, predicted in zip(start.tolist(), stop.tolist(), golds, predictions, strict=True):
            tables = np.zeros((2, len(gold), len(predicted)))
            at = by_root[begin:end]
            rows, columns = (self.position[references.target[one[at]]] for one in (sources, others))
            np.add.at(tables[0], (rows, columns), weight[at])
            np.add.at(tables[1], (rows, columns), weight[at] * single[at])
            yield tables[0], tables[1]


def _chunk_ends(cells: Indices) -> Indices:
    """Return where to split documents with these numbers of cells, into chunks of about `MAX_CELLS`."""
    ends: Indices = (np.diff(cells.cumsum() // MAX_CELLS) > 0).nonzero()[0] + 1
    return ends


def _list_item(column: Column, rows: Indices) -> tuple[Column, Indices]:
    """Return the nearest list items, or map items, that contain some rows; the root rows if there are none.

    The rows may be items of lists of references themselves; these are no owners.
    """
    while isinstance(column.parent, MixedColumn):
        column, rows = column.parent, column.origin[rows]
    parent = column.parent
    if isinstance(parent, ListColumn) and not parent.of_map and isinstance(column, LeafColumn | MixedColumn):
        column, rows = parent, column.origin[rows]
    while column.parent is not None and not (isinstance(column.parent, ListColumn) and column.parent.items is column):
        column, rows = column.parent, column.origin[rows]
    return column, rows


def _item_around(column: Column, rows: Indices, identified: dict[int, int]) -> Indices:
    """Return the number of the nearest item above each row, or -1."""
    while column.parent is not None:
        column, rows = column.parent, column.origin[rows]
        if column.number in identified:
            return identified[column.number] + rows
    return np.full(len(rows), -1, dtype=np.intp)


def _direct(references: References) -> Iterator[Edges]:
    """Yield the edges of the references in items."""
    own = references.chosen((references.item >= 0).nonzero()[0])
    yield Edges(own.item, own.target, own.label, own.detail, own.weight)


def _alone(references: References) -> Edges:
    """Return the references that are in no item and not joined with others, as edges of weight 0."""
    sizes = np.bincount(references.holder[references.holder >= 0], minlength=int(references.holder.max(initial=0)) + 1)
    single = (references.holder < 0) | (sizes[references.holder] == 1) | (sizes[references.holder] > MAX_JOINED)
    own = references.chosen((single & (references.item < 0) & (references.around < 0)).nonzero()[0])
    return Edges(own.target, own.target, own.label, own.detail, np.zeros(len(own.target)))


def _joined(references: References) -> Iterator[Edges]:
    """Yield the edges between the items that one item refers to, and from the item around it.

    The weight of a reference is divided among its edges. Two references of the same label have an edge in both
    directions.
    """
    held = (references.holder >= 0).nonzero()[0]
    own = references.chosen(held[np.lexsort((references.label[held], references.holder[held]))])
    first = first_of_equal(own.holder).nonzero()[0]
    sizes = np.diff(np.append(first, len(own.holder)))
    joined = np.where(sizes <= MAX_JOINED, sizes, 0)
    number = np.maximum(np.maximum(joined - 1, 0) + (own.around[first] >= 0), 1).repeat(sizes)
    weight = own.weight / number
    inside = (own.around >= 0).nonzero()[0]
    yield Edges(own.around[inside], own.target[inside], own.label[inside], own.detail[inside], weight[inside])
    owner, row, column = cross_slices(joined, joined)
    left, right = (first[owner] + place for place in (row, column))
    same = own.label[left] == own.label[right]
    kept = (row < column) | (same & (row > column))
    left, right, same = left[kept], right[kept], same[kept]
    label, detail = (mix_bits(mix_bits(hashes[left]) + hashes[right]) for hashes in (own.label, own.detail))
    both = (weight[left] + weight[right]) * np.where(same, 0.5, 1.0)
    yield Edges(own.target[left], own.target[right], label, detail, both)


# Hashes that depend on the values only, not on the order of the documents or of their items.


def _position_hashes(column: Column, rows: Indices) -> Digests:
    """Return a hash of the position of each row in a list whose order matters; 0 for all other rows."""
    while isinstance(column.parent, MixedColumn):
        column, rows = column.parent, column.origin[rows]
    parent = column.parent
    hashes = np.zeros(len(rows), dtype=np.uint64)
    if isinstance(parent, ListColumn) and not parent.of_map and parent.matcher.in_order:
        hashes = mix_bits(np.array(column.tokens_of(rows), dtype=np.uint64), 13)
    return hashes


def text_hash(text: str) -> int:
    """Return a 64-bit hash of a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def content_hashes(column: Column) -> Digests:
    """Return a hash of each row, the same for equal normalised values in any batch; shape (size,).

    All references have the same hash. The order of a list matters only if its matching depends on it.
    """
    return folded(column, _of_leaves, _of_containers)


def _of_leaves(column: LeafColumn) -> Digests:
    if column.site.reference is not None:
        return np.full(column.size, text_hash("reference"), dtype=np.uint64)
    hashes = np.array([text_hash(repr(canonical(value))) for value in column.values] or [0], dtype=np.uint64)
    return take_or(hashes, column.codes, 0)


def _of_containers(column: Column, below: dict[int, Digests]) -> Digests:
    rows = np.arange(column.size, dtype=np.intp)
    total = np.full(column.size, text_hash(type(column).__name__), dtype=np.uint64)
    for link in column.links:
        salt = np.uint64(text_hash(str(link.column.token)))
        total += mix_bits(mix_bits(take_or(below[link.column.number], link.rows(rows), 0)) ^ salt)
    for entries in column.slices:
        at = entries.rows(np.arange(entries.starts[-1], dtype=np.intp))
        values = mix_bits(below[entries.column.number][at], 1)
        if entries.keys() is not None:  # the key or the position of an item matters
            tokens = [text_hash(str(token)) for token in entries.column.tokens_of(at)]
            values = mix_bits(values ^ np.array(tokens, dtype=np.uint64))
        running = np.zeros(len(values) + 1, dtype=np.uint64)
        np.cumsum(values, out=running[1:])
        total += mix_bits(running[entries.starts[1:]] - running[entries.starts[:-1]], 2)
    return mix_bits(total)
