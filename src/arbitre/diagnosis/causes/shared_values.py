"""Find the items that contain the values of other items, from the words and numbers they share.

The values of an item are the starts and the ends of the words of its texts, and its other scalars, each at its path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.engine.columns.column import Column, LeafColumn
from arbitre.engine.columns.ragged import (
    counts_of,
    expand_slices,
    first_of_equal,
    rank_among_equal,
    starts_of,
)
from arbitre.engine.columns.row_hashes import mix_bits
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.values import Json

DIGITS: Final = 9
"""Decimal places to which shares are rounded, so that they do not depend on the order of summation."""

MAX_COLUMNS: Final = 1 << 24
"""Columns with a greater number would be taken for keys that share a column."""

AFFIX: Final = 4
"""Number of characters at the start and at the end of a word."""

SPACE: Final = 0x20
"""Greatest code point of ASCII white space."""

NO_BREAK_SPACE: Final = 0xA0

NINE: Final = 0x39
"""Code point of the digit 9; that of letters is greater."""


@dataclass(frozen=True, eq=False, slots=True)
class SharedValues:
    """The values of items.

    Arrays of values have one element for each distinct value of each item, ordered by item and code.

    Attributes:
        rows: Rows of the items in their column, increasing; shape (items,).
        lists: The list of each item; shape (items,).
        starts: First value of each item, then the number of values; shape (items + 1,).
        code: Code of each value, the same for equal values at the same path of the same list.
        weight: Weight of each value in its item: 1 / number of values of the item at the same path.
        codes: Number of codes.
    """

    rows: Indices
    lists: Indices
    starts: Indices
    code: Indices
    weight: Floats
    codes: int

    @classmethod
    def of(cls, column: Column, rows: Indices, lists: Indices, words: TextWords) -> SharedValues:
        """Collect the values of these rows of a column; `lists` are the lists they belong to."""
        values = [np.empty((3, 0), dtype=np.intp), *_values(column, rows, words)]
        item, path, word = np.concatenate(values, axis=1)
        if path.max(initial=0) >= MAX_COLUMNS:
            _, path = np.unique(path, return_inverse=True)
        width, paths = int(word.max(initial=0)) + 1, int(path.max(initial=0)) + 1
        keys, code = np.unique((lists[item] * paths + path) * width + word, return_inverse=True)
        cells = np.sort(item * max(1, len(keys)) + code)
        item, code = np.divmod(cells[first_of_equal(cells)], max(1, len(keys)))
        group = first_of_equal(item * paths + keys[code] // width % paths).cumsum() - 1  # same item and path
        starts = starts_of(np.bincount(item, minlength=len(rows)))
        return cls(rows, lists, starts, code, 1.0 / np.bincount(group)[group], len(keys))

    def within(self, wholes: Mask) -> ValueSearch:
        """Return a search for values in some of the items, by a mask of shape (items,)."""
        item = np.arange(len(self.rows), dtype=np.intp).repeat(counts_of(self.starts))
        inside = wholes[item].nonzero()[0]
        order = inside[self.code[inside].argsort(kind="stable")]
        holders = np.bincount(self.code[inside], minlength=self.codes)
        sizes = np.bincount(self.lists[wholes], minlength=int(self.lists.max(initial=0)) + 1)
        weights = self.weight * np.log1p(sizes[self.lists[item]] / np.maximum(holders[self.code], 1))
        total = np.bincount(item, weights=weights, minlength=len(self.rows))[item]
        np.divide(weights, total, out=weights, where=total > 0.0)
        return ValueSearch(self, weights, starts_of(holders), item[order])


@dataclass(frozen=True, eq=False, slots=True)
class ValueSearch:
    """Searches for the values of items in some items of the same list, the wholes.

    The share of an item's values that a whole contains is a weighted mean: each path of the item has the same weight,
    and within a path, a value weighs log(1 + n / k) if k of the n wholes of the list contain it.

    Attributes:
        values: The values of all items.
        weights: The weight of each value in its item; the weights of an item add up to 1.
        starts: The wholes with code c are `holders[starts[c]:starts[c + 1]]`.
        holders: Items, as positions in `values.rows`.
    """

    values: SharedValues
    weights: Floats
    starts: Indices
    holders: Indices

    def containing(self, parts: Indices, share: float, nearest: int) -> tuple[Indices, Indices]:
        """Find the wholes that contain most of the values of each part.

        Args:
            parts: Rows of the items to search for.
            share: Minimum share of the part's values that the whole contains, in [0, 1].
            nearest: Maximum number of wholes for each part.

        Returns:
            The part and the whole of each result, as rows: parts in order, the wholes of a part from best to worst.
        """
        rows, width = self.values.rows, max(1, len(self.values.rows))
        part, value = expand_slices(self.values.starts, rows.searchsorted(parts))
        own, held = expand_slices(self.starts, self.values.code[value])
        pairs, which = np.unique(part[own] * width + self.holders[held], return_inverse=True)
        shares = np.round(np.bincount(which, weights=self.weights[value[own]], minlength=len(pairs)), DIGITS)
        part, whole = np.divmod(pairs, width)
        best = np.lexsort((whole, -shares, part))
        best = best[(shares[best] >= share) & (rank_among_equal(part[best]) < nearest)]
        return parts[part[best]], rows[whole[best]]

    def shares(self, part: Indices, whole: Indices) -> Floats:
        """Return the share of the values of each part that its whole contains; rows of items, shapes (pairs,)."""
        rows, starts, code = self.values.rows, self.values.starts, self.values.code
        pair, value = expand_slices(starts, rows.searchsorted(part))
        other, held = expand_slices(starts, rows.searchsorted(whole))
        shared = np.isin(pair * self.values.codes + code[value], other * self.values.codes + code[held])
        shares = np.bincount(pair, weights=self.weights[value] * shared, minlength=len(part))
        rounded: Floats = np.round(shares, DIGITS)
        return rounded


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
        if (column.kinds == Kind.NUMBER).all() and column.readings is None:
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
    character still has one of its two codes. Different characters can have the same code, with the probability of a
    32-bit collision.

    Returns:
        The position in `texts` of each code, and the codes, in order.
    """
    folded = [text.casefold() for text in texts]
    lengths = np.fromiter(map(len, folded), dtype=np.intp, count=len(folded))
    characters = np.frombuffer("".join(folded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    ends = lengths.cumsum()
    inside = (characters > SPACE) & (characters != NO_BREAK_SPACE)
    begins_text = np.zeros(len(characters) + 1, dtype=np.bool_)
    begins_text[ends - lengths] = True
    first = (inside & (begins_text[:-1] | ~np.concatenate([[False], inside[:-1]]))).nonzero()[0]
    last = (inside & (begins_text[1:] | ~np.concatenate([inside[1:], [False]]))).nonzero()[0]
    text = ends.searchsorted(first, side="right")
    long = (last - first >= AFFIX - 1) | (characters[first] <= NINE)
    only_short = np.bincount(text, weights=long, minlength=len(texts)) == 0.0
    first, last, text = (array[long | only_short[text]] for array in (first, last, text))
    codes = np.zeros((len(first), 2), dtype=np.uint64)
    for offset in range(AFFIX):
        for affix, at in enumerate((first + offset, last - offset)):
            in_word = (at <= last) if affix == 0 else (at >= first)
            here = np.where(in_word, characters[np.where(in_word, at, 0)], np.uint64(0))
            codes[:, affix] = mix_bits(codes[:, affix] ^ here, affix)
    return text.repeat(2), (codes.ravel() >> np.uint64(32)).astype(np.intp)
