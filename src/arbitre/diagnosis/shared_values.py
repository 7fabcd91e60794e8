"""Find the items that contain the values of other items, from the words and numbers they share.

The values of an item are the starts and the ends of the words of its texts, and its other scalars, each at its path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from arbitre.engine.columns.column import Column, LeafColumn
from arbitre.engine.columns.ragged import expand_slices, rank_among_equal, starts_of
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json

DIGITS: Final = 9
"""Decimal places to which shares are rounded, so that they do not depend on the order of summation."""

MAX_COLUMNS: Final = 1 << 24
"""Upper limit of column numbers; greater ones would be mistaken for keys that share a column."""

AFFIX: Final = 4
"""Number of characters at the start and at the end of a word."""


@dataclass(frozen=True, eq=False, slots=True)
class SharedValues:
    """The values of items.

    Attributes:
        rows: Rows of the items in their column, increasing; shape (items,).
        lists: The list of each item; shape (items,).
        item: The item of each value, by position in `rows`; shape (values,).
        key: Integer that is equal for equal values at the same path of the same list, and increases with the list;
            shape (values,). An item can have several equal values.
        paths: Number of paths.
        width: Number of codes of values; `key` is (list * paths + path) * width + code.
    """

    rows: Indices
    lists: Indices
    item: Indices
    key: Indices
    paths: int
    width: int

    @classmethod
    def of(cls, column: Column, rows: Indices, lists: Indices, words: TextWords) -> SharedValues:
        """Collect the values of these rows of a column; `lists` are the lists they belong to."""
        values = [*_values(column, rows, words)]
        if not values:
            none = np.empty(0, dtype=np.intp)
            return cls(rows, lists, none, none, 1, 1)
        paths = np.unique(np.concatenate([np.unique(path) for _, path, _ in values]))
        width = max(int(code.max(initial=0)) for _, _, code in values) + 1
        keys = [(lists[item] * len(paths) + paths.searchsorted(path)) * width + code for item, path, code in values]
        item = np.concatenate([item for item, _, _ in values])
        return cls(rows, lists, item, np.concatenate(keys), len(paths), width)

    def within(self, wholes: Mask) -> ValueSearch:
        """Return a search for values in some of the items, by a mask of shape (items,)."""
        return ValueSearch(self, wholes, wholes[self.item].nonzero()[0])

    def list_of(self, key: Indices) -> Indices:
        """Return the lists of keys."""
        return key // (self.paths * self.width)

    def path_of(self, key: Indices) -> Indices:
        """Return the numbers of the paths of keys."""
        return key // self.width % self.paths


@dataclass(frozen=True, eq=False, slots=True)
class ValueSearch:
    """Searches for the values of items in some items of the same list, the wholes.

    The share of an item's values that a whole contains is a weighted mean: each path of the item has the same weight,
    and within a path, a value weighs log(1 + n / k) if k of the n wholes of the list contain it.

    Attributes:
        values: The values of all items.
        wholes: Mask of the items that may contain the values of others (wholes); shape (items,).
        own: Positions of the values of the wholes; shape (n,).
    """

    values: SharedValues
    wholes: Mask
    own: Indices

    def containing(self, parts: Indices, share: float, nearest: int) -> tuple[Indices, Indices, Floats]:
        """Find the wholes that contain most of the values of each part.

        Args:
            parts: Rows of the items to search for, increasing.
            share: Minimum share of the part's values that the whole contains, in [0, 1].
            nearest: Maximum number of wholes for each part.

        Returns:
            The part and the whole of each result, as rows, and the share, sorted by part, then from the best whole to
            the worst.
        """
        rows = self.values.rows
        weights, held = self._weights(rows.searchsorted(parts))
        found = (weights @ held.T).tocoo()
        part, whole = found.coords
        shares = np.round(found.data, DIGITS)
        best = np.lexsort((whole, -shares, part))
        best = best[shares[best] >= share]
        best = best[rank_among_equal(part[best]) < nearest]
        return parts[part[best]], rows[whole[best]], shares[best]

    def shares(self, part: Indices, whole: Indices) -> Floats:
        """Return the share of the values of each part that its whole contains; rows of items, shapes (pairs,)."""
        rows = self.values.rows
        items, place = np.unique(rows.searchsorted(part), return_inverse=True)
        weights, held = self._weights(items)
        shares: Floats = weights[place].multiply(held[rows.searchsorted(whole)]).sum(axis=1)
        return np.round(shares, DIGITS)

    def _weights(self, items: Indices) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
        """Return two sparse matrices: weights of the values of some items, and which of these values each whole has.

        Only the values of these items are sorted, which takes a third of the time of sorting those of all items.

        Returns:
            First, the weight of each value in its item, shape (positions, codes); the weights of an item add up to 1.
            Second, 1 for each of these values in a whole, shape (items, codes).
        """
        values, size = self.values, len(self.values.rows)
        place = np.full(size, -1, dtype=np.intp)
        place[items] = np.arange(len(items), dtype=np.intp)
        at = (place[values.item] >= 0).nonzero()[0]
        keys, code = np.unique(values.key[at], return_inverse=True)
        item, code = _distinct(place[values.item[at]], code, len(keys))
        whole, shared = self._shared(keys)
        held = scipy.sparse.csr_array((np.ones(len(whole)), (whole, shared)), shape=(size, len(keys)))
        sizes = np.bincount(values.lists[self.wholes], minlength=int(values.lists.max(initial=0)) + 1)
        rarity = np.log1p(sizes[values.list_of(keys)] / np.maximum(np.bincount(shared, minlength=len(keys)), 1.0))
        group = item * values.paths + values.path_of(keys[code])
        data = 1.0 / np.bincount(group)[group] * rarity[code]
        weights = scipy.sparse.csr_array((data, (item, code)), shape=(len(items), len(keys)))
        total = weights.sum(axis=1)[item]
        np.divide(weights.data, total, out=weights.data, where=total > 0.0)
        return weights, held

    def _shared(self, keys: Indices) -> tuple[Indices, Indices]:
        """Return the pairs of a whole and the position of a key that it has, without duplicates."""
        if not len(keys):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        key = self.values.key[self.own]
        place = np.minimum(keys.searchsorted(key), len(keys) - 1)
        found = keys[place] == key
        return _distinct(self.values.item[self.own[found]], place[found], len(keys))


def _distinct(item: Indices, code: Indices, codes: int) -> tuple[Indices, Indices]:
    """Return pairs of item and code without duplicates, in order."""
    distinct = np.unique(item * max(1, codes) + code)
    item, code = np.divmod(distinct, max(1, codes))
    return item, code


def _values(column: Column, rows: Indices, words: TextWords) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Yield the values of rows: position in `rows`, number of the path, of shape (1,) if it is the same, and code."""
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
            owner, codes = words.of_leaves(here, held[present])
            path = np.array([here.number], dtype=np.intp)
            if here.key_ranks is not None:
                path = path + (here.key_ranks[held[present]][owner] + 1) * MAX_COLUMNS
            yield position[present][owner], path, codes


class TextWords:
    """The codes of the words of the values of columns, computed once for each column."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Indices, Indices, bool]] = {}

    def of_leaves(self, column: LeafColumn, rows: Indices) -> tuple[Indices, Indices]:
        """Return the position in `rows` and the code of the values of leaves; rows must not be absent."""
        if (column.kinds == Kind.NUMBER).all() and column.forms is None:
            return np.arange(len(rows), dtype=np.intp), column.codes[rows]
        if column.number not in self.known:
            self.known[column.number] = self._codes(column)
        starts, codes, by_row = self.known[column.number]
        position, slots = expand_slices(starts, rows if by_row else column.codes[rows])
        return position, codes[slots]

    @staticmethod
    def _codes(column: LeafColumn) -> tuple[Indices, Indices, bool]:
        """Return the first code of each row or of each distinct value, the codes, and whether they are those of rows.

        Lists and objects that are compared as one value are read as they are, before they are normalised.
        """
        by_row = not {list, dict}.isdisjoint(map(type, column.raw))
        values: Sequence[Json] = column.values
        if by_row:
            pairs = zip(column.raw, column.codes.tolist(), strict=True)
            values = [raw if isinstance(raw, (list, dict)) or code < 0 else values[code] for raw, code in pairs]
        text, codes = word_codes(list(map(_text, values)))
        return starts_of(np.bincount(text, minlength=len(values))), codes, by_row


def _text(value: Json) -> str:
    """Return a text, or the scalars in any other value, separated by spaces."""
    if isinstance(value, (list, dict)):
        return " ".join(map(_text, value.values() if isinstance(value, dict) else value))
    return value if isinstance(value, str) else str(value)


def word_codes(texts: Sequence[str]) -> tuple[Indices, Indices]:
    """Return a code of the first and of the last `AFFIX` characters of each word, regardless of case.

    Shorter words that do not start with a digit have codes only in texts without longer ones. A word with one misread
    character still has one of its two codes.

    Returns:
        The position in `texts` of each code, and the codes, in order.
    """
    known: dict[tuple[str, bool], int] = {}
    of_word: dict[str, tuple[int, int]] = {}
    positions, codes = list[int](), list[int]()
    for position, text in enumerate(texts):
        words = text.casefold().split()
        for word in [word for word in words if len(word) >= AFFIX or word[0] <= "9"] or words:
            if word not in of_word:
                of_word[word] = (
                    known.setdefault((word[:AFFIX], False), len(known)),
                    known.setdefault((word[-AFFIX:], True), len(known)),
                )
            positions += position, position
            codes += of_word[word]
    return np.array(positions, dtype=np.intp), np.array(codes, dtype=np.intp)
