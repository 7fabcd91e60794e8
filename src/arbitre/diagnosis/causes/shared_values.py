"""Find the items that contain the values of other items, from the words and numbers they share."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.engine.columns.column import Column, LeafColumn
from arbitre.engine.columns.ragged import expand_slices, rank_among_equal, starts_of
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json

DIGITS: Final = 9
"""Decimal places to which shares are rounded, so that they do not depend on the order of summation."""


@dataclass(frozen=True, eq=False, slots=True)
class SharedValues:
    """The values of items: the words of their texts and their other scalars, each at its path.

    Arrays of values have one element for each distinct value of each item.

    Attributes:
        rows: Rows of the items in their column; shape (items,).
        lists: The list of each item; shape (items,).
        item: The item of each value, as an index into `rows`.
        code: Code of each value, the same for equal values at the same path of the same list.
        weight: Weight of each value in its item: 1 / number of values of the item at the same path.
        list_of_code: The list of each code.
    """

    rows: Indices
    lists: Indices
    item: Indices
    code: Indices
    weight: Floats
    list_of_code: Indices

    @classmethod
    def of(cls, column: Column, rows: Indices, lists: Indices, words: WordCodes) -> SharedValues:
        """Collect the values of these rows of a column; `lists` are the lists they belong to."""
        values = [np.empty((3, 0), dtype=np.intp), *_values(column, rows, words)]
        item, path, word = np.concatenate(values, axis=1)
        width = int(word.max(initial=0)) + 1
        paths = int(path.max(initial=0)) + 1
        keys, code = np.unique((lists[item] * paths + path) * width + word, return_inverse=True)
        _, first = np.unique(item * max(1, len(keys)) + code, return_index=True)
        item, path, code = item[first], path[first], code[first]
        _, group = np.unique(item * paths + path, return_inverse=True)
        list_of_code = np.zeros(len(keys), dtype=np.intp)
        list_of_code[code] = lists[item]
        return cls(rows, lists, item, code, 1.0 / np.bincount(group)[group], list_of_code)

    def within(self, wholes: Mask) -> ValueSearch:
        """Return a search for values in some of the items, by a mask of shape (items,)."""
        shape = len(self.rows), len(self.list_of_code)
        inside = wholes[self.item]
        holders = np.bincount(self.code[inside], minlength=shape[1])
        sizes = np.bincount(self.lists[wholes], minlength=int(self.lists.max(initial=0)) + 1)
        rarity = np.log1p(sizes[self.list_of_code] / np.maximum(holders, 1))
        weights = self.weight * rarity[self.code]
        total = np.bincount(self.item, weights=weights, minlength=shape[0])[self.item]
        of_items = np.divide(weights, total, out=weights, where=total > 0.0), (self.item, self.code)
        of_wholes = np.ones(int(np.count_nonzero(inside))), (self.item[inside], self.code[inside])
        return ValueSearch(self.rows, *(scipy.sparse.csr_array(cells, shape=shape) for cells in (of_items, of_wholes)))


@dataclass(frozen=True, eq=False, slots=True)
class ValueSearch:
    """Searches for the values of items in some items of the same list, the wholes.

    The share of an item's values that a whole contains is a weighted mean: each path of the item has the same weight,
    and within a path, a value weighs log(1 + n / k) if k of the n wholes of the list contain it.

    Attributes:
        rows: Rows of all items in their column, increasing; shape (items,).
        weights: The weight of each value in each item; the weights of an item add up to 1.
        contained: 1 for each value in each whole.
    """

    rows: Indices
    weights: scipy.sparse.csr_array
    contained: scipy.sparse.csr_array

    def containing(self, parts: Indices, share: float, nearest: int) -> tuple[Indices, Indices]:
        """Find the wholes that contain most of the values of each part.

        Args:
            parts: Rows of the items to search for.
            share: Minimum share of the part's values that the whole contains, in [0, 1].
            nearest: Maximum number of wholes for each part.

        Returns:
            The part and the whole of each result, as rows: parts in order, the wholes of a part from best to worst.
        """
        table = (self.weights[self.rows.searchsorted(parts)] @ self.contained.T).tocoo()
        shares = np.round(table.data, DIGITS)
        best = np.lexsort((table.col, -shares, table.row))
        part, whole = table.row[best].astype(np.intp), table.col[best].astype(np.intp)
        near = (shares[best] >= share) & (rank_among_equal(part) < nearest)
        return parts[part[near]], self.rows[whole[near]]

    def shares(self, part: Indices, whole: Indices) -> Floats:
        """Return the share of the values of each part that its whole contains; rows of items, shapes (pairs,)."""
        weights, contained = self.weights[self.rows.searchsorted(part)], self.contained[self.rows.searchsorted(whole)]
        shares: Floats = np.round(weights.multiply(contained).sum(axis=1), DIGITS)
        return shares


@dataclass(slots=True)
class WordCodes:
    """Gives the words of values codes; words of all columns share them."""

    codes: defaultdict[Json, int] = field(default_factory=lambda: defaultdict(count().__next__))
    texts: dict[str, list[int]] = field(default_factory=dict)
    """The codes of the words of each text so far."""

    def of(self, value: Json) -> list[int]:
        """Return the codes of the words of a text, or of the scalars in any other value."""
        if isinstance(value, str):
            known = self.texts.get(value)
            if known is None:
                known = self.texts[value] = [self.codes[word] for word in value.casefold().split()]
            return known
        if isinstance(value, (list, dict)):
            parts = value.values() if isinstance(value, dict) else value
            return [code for part in parts for code in self.of(part)]
        return [self.codes[value]]


def _values(column: Column, rows: Indices, words: WordCodes) -> Iterator[Indices]:
    """Yield the values of rows as arrays of position in `rows`, number of the path and code; shapes (3, values)."""
    pending = [(column, np.arange(len(rows), dtype=np.intp), rows)]
    while pending:
        here, position, held = pending.pop()
        for link in here.links:
            below = link.rows(held)
            present = below >= 0
            pending.append((link.column, position[present], below[present]))
        for entries in here.slices:
            owner, below = entries.below(held)
            pending.append((entries.column, position[owner], below))
        if isinstance(here, LeafColumn):
            present = here.codes[held] >= 0
            owner, codes = _words_of(here, held[present], words)
            yield np.stack([position[present][owner], np.full(len(owner), here.number, dtype=np.intp), codes])


def _words_of(column: LeafColumn, rows: Indices, words: WordCodes) -> tuple[Indices, Indices]:
    """Return the position in `rows` and the code of the words of single values.

    A list or an object that is compared as one value has the words of its parts.
    """
    own = column.codes[rows]
    if (column.kinds == Kind.NUMBER).all() and column.readings is None:
        return np.arange(len(rows), dtype=np.intp), own
    raw = [column.raw[row] for row in rows.tolist()]
    whole = np.zeros(len(rows), dtype=np.bool_)
    if not {list, dict}.isdisjoint(map(type, raw)):
        whole[:] = [isinstance(value, (list, dict)) for value in raw]
    distinct, which = np.unique(own[~whole], return_inverse=True)
    values = [column.values[code] for code in distinct.tolist()]
    values += [raw[position] for position in whole.nonzero()[0].tolist()]
    index = np.empty(len(rows), dtype=np.intp)
    index[~whole], index[whole] = which, len(distinct) + np.arange(int(whole.sum()))
    codes = list(map(words.of, values))
    starts = starts_of(np.fromiter(map(len, codes), dtype=np.intp, count=len(codes)))
    position, slots = expand_slices(starts, index)
    return position, np.fromiter(chain.from_iterable(codes), dtype=np.intp, count=int(starts[-1]))[slots]
