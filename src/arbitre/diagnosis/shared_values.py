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
        weights: Weight of each value in its item: 1 / number of values of the item at the same path. Shape (items,
            codes); the code of a value is the same for equal values at the same path of the same list.
    """

    rows: Indices
    lists: Indices
    weights: scipy.sparse.csr_array

    @classmethod
    def of(cls, column: Column, rows: Indices, lists: Indices, words: TextWords) -> SharedValues:
        """Collect the values of these rows of a column; `lists` are the lists they belong to."""
        values = [np.empty((3, 0), dtype=np.intp), *_values(column, rows, words)]
        item, path, word = np.concatenate(values, axis=1)
        _, path = np.unique(path, return_inverse=True)
        paths, width = int(path.max(initial=0)) + 1, int(word.max(initial=0)) + 1
        keys, code = np.unique((lists[item] * paths + path) * width + word, return_inverse=True)
        _, first = np.unique(item * max(1, len(keys)) + code, return_index=True)
        item, path, code = item[first], path[first], code[first]
        _, group = np.unique(item * paths + path, return_inverse=True)
        weights = 1.0 / np.bincount(group)[group]
        return cls(rows, lists, scipy.sparse.csr_array((weights, (item, code)), shape=(len(rows), len(keys))))

    def within(self, wholes: Mask) -> ValueSearch:
        """Return a search for values in some of the items, by a mask of shape (items,)."""
        item, code = self.weights.nonzero()
        held = scipy.sparse.csr_array((wholes[item].astype(np.float64), (item, code)), shape=self.weights.shape)
        sizes = np.bincount(self.lists[wholes], minlength=int(self.lists.max(initial=0)) + 1)
        rarity = np.log1p(sizes[self.lists[item]] / np.maximum(held.sum(axis=0)[code], 1.0))
        weights = self.weights.copy()
        weights.data = weights.data * rarity
        total = weights.sum(axis=1)[item]
        np.divide(weights.data, total, out=weights.data, where=total > 0.0)
        return ValueSearch(self.rows, weights, held)


@dataclass(frozen=True, eq=False, slots=True)
class ValueSearch:
    """Searches for the values of items in some items of the same list, the wholes.

    The share of an item's values that a whole contains is a weighted mean: each path of the item has the same weight,
    and within a path, a value weighs log(1 + n / k) if k of the n wholes of the list contain it.

    Attributes:
        rows: Rows of the items in their column, increasing; shape (items,).
        weights: The weight of each value in its item; the weights of an item add up to 1. Shape (items, codes).
        held: 1 for each value of a whole; shape (items, codes).
    """

    rows: Indices
    weights: scipy.sparse.csr_array
    held: scipy.sparse.csr_array

    def containing(self, parts: Indices, share: float, nearest: int) -> tuple[Indices, Indices]:
        """Find the wholes that contain most of the values of each part.

        Args:
            parts: Rows of the items to search for.
            share: Minimum share of the part's values that the whole contains, in [0, 1].
            nearest: Maximum number of wholes for each part.

        Returns:
            The part and the whole of each result, as rows: parts in order, the wholes of a part from best to worst.
        """
        found = (self.weights[self.rows.searchsorted(parts)] @ self.held.T).tocoo()
        part, whole = found.coords
        shares = np.round(found.data, DIGITS)
        best = np.lexsort((whole, -shares, part))
        best = best[shares[best] >= share]
        best = best[rank_among_equal(part[best]) < nearest]
        return parts[part[best]], self.rows[whole[best]]

    def shares(self, part: Indices, whole: Indices) -> Floats:
        """Return the share of the values of each part that its whole contains; rows of items, shapes (pairs,)."""
        part, whole = self.rows.searchsorted(part), self.rows.searchsorted(whole)
        shares: Floats = self.weights[part].multiply(self.held[whole]).sum(axis=1)
        return np.round(shares, DIGITS)


def _values(column: Column, rows: Indices, words: TextWords) -> Iterator[Indices]:
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
            owner, codes = words.of_leaves(here, held[present])
            paths = np.full(len(owner), here.number, dtype=np.intp)
            if here.key_ranks is not None:
                paths += (here.key_ranks[held[present]][owner] + 1) * MAX_COLUMNS
            yield np.stack([position[present][owner], paths, codes])


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
