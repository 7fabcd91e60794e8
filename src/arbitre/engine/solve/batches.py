"""Pairs of rows to compare, the results of comparing them, and the limits of their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.errors import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks
    from arbitre.engine.columns.column import Column, Link, ListColumn


if TYPE_CHECKING:
    Evaluate = Callable[[Column, Indices, Indices], "Batch"]


@dataclass(eq=False, slots=True)
class CellLayout:
    """The pairs of a batch as cells of tables, which are cheaper to compare than single pairs."""

    blocks: Blocks
    left: Indices
    """Gold rows of the blocks; -1 for none."""
    right: Indices
    """Predicted rows of the blocks; -1 for none."""
    cells: Indices | None = None
    """Cell of each pair; None if pair t is cell t."""

    def below(self, link: Link, pairs: Indices | None) -> CellLayout:
        """Return the layout of a field; `pairs` are the pairs with this field on both sides, None for all."""
        cells = self.cells if pairs is None else pairs if self.cells is None else self.cells[pairs]
        return CellLayout(self.blocks, link.rows(self.left), link.rows(self.right), cells)


@dataclass(eq=False, slots=True)
class FieldPairs:
    """Pairs of fields: pair s of `batch` belongs to pair `owner[s]` of the batch above.

    `owner` is None if pair s belongs to pair s.
    """

    batch: Batch
    owner: Indices | None
    weight: float = 1.0


@dataclass(eq=False, slots=True)
class MatchedPairs:
    """Matched items of lists or entries of maps: pair `at[t]` of `batch` belongs to pair `owner[t]` of the batch above.

    Shapes (matched pairs,).
    """

    batch: Batch
    at: Indices
    owner: Indices


@dataclass(eq=False, slots=True)
class Unmatched:
    """Unmatched mass of items: `mass[t]` of row `rows[t]`, in the pair of lists `owner[t]`."""

    rows: Indices
    mass: Floats
    owner: Indices


@dataclass(eq=False, slots=True)
class TransportMatches:
    """Items matched by transport: pair `at[t]` of `batch` has the mass `mass[t]`, in the pair of lists `owner[t]`.

    `matched`, `total` and `shift` have one element for each of the pairs of lists `which`.
    """

    batch: Batch
    at: Indices
    owner: Indices
    mass: Floats
    which: Indices
    matched: Floats
    """Matched mass."""
    total: Floats
    """Quality mass."""
    shift: Floats
    """Number of gold items minus number of predicted items if all mass moves, otherwise 0."""
    gold: Unmatched
    predicted: Unmatched


@dataclass(eq=False, slots=True)
class Batch:
    """Pairs of rows of one column: pair t compares gold row `left[t]` with predicted row `right[t]`.

    The solver first sets the pairs below (`fields`, `matches`, `transports`, `multiset_pairs`), then the results.
    All results have shape (pairs,).
    """

    column: Column
    left: Indices
    right: Indices
    allow_bounds: bool = False
    """Whether `quality` may contain upper bounds if they are cheaper."""
    layout: CellLayout | None = None
    """The same pairs as cells of tables; None if they are not laid out so."""
    fields: list[FieldPairs] = field(default_factory=list)
    """The links of the column, in the same order."""
    matches: list[MatchedPairs] = field(default_factory=list)
    transports: list[TransportMatches] = field(default_factory=list)
    multiset_pairs: Indices | None = None
    """Pairs of lists that are matched by counting equal items; `match_equal` returns the matched items."""
    quality: Floats = field(default_factory=lambda: np.empty(0))
    """Quality of each pair, in [0, 1]; 1 for equal values."""
    gold: Floats | None = None
    """Gold mass of each pair; None for leaves, as are the next three."""
    predicted: Floats | None = None
    """Predicted mass of each pair."""
    matched: Floats | None = None
    """Matched mass of each pair."""
    mass: Floats | None = None
    """Quality mass of each pair."""
    exact: Mask | None = None
    """Mask of the exact qualities; None for all."""

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, slots=True)
class CellLimits:
    """Sizes at which the engine changes its method, in cells (pairs of items) except `keys`.

    They do not change the results. Lists beyond `most` or `stored` cannot be matched.

    Attributes:
        lazy: Minimum for lazy matching of two lists.
        plain_lazy: Minimum for lazy matching of plain items (see `exactly_bounded_rows`).
        table: Mean number from which tables are compared as tables, not as single pairs.
        large: Number from which a problem is solved alone, with bounds that count the common items of nested lists.
            Counting them halves the time on lists of 300 objects that contain lists of integers.
        chunk: Number for which bounds are computed at a time; limits memory.
        sparse: Number above which the bounds of two lists are not kept (see `LongLists`); limits memory to 1 GB.
        tile: Number for which bounds are computed at a time if they are not kept.
        most: Maximum number of bounds of two lists that are computed if they are not kept.
        stored: Maximum number for methods that need the qualities of all pairs of two lists at once.
        deep_chunk: Number for which tighter bounds, from all pairs of nested items, are computed at a time.
        keys: Number of consecutive undeclared keys with single values from which they share one column. 100,000 such
            keys take 3 s instead of 19 s. Fewer keys are compared faster as columns of their own if the objects are
            items of lists.
    """

    lazy: int = 100
    plain_lazy: int = 1 << 12
    table: int = 64
    large: int = 1 << 14
    chunk: int = 1 << 18
    sparse: int = 1 << 24
    tile: int = 1 << 17
    most: int = 1 << 31
    stored: int = 1 << 24
    deep_chunk: int = 1 << 14
    keys: int = 256


DEFAULT_LIMITS: Final = CellLimits()

REMEDY: Final = "Match such lists with `keyed` or `ordered`, or split the documents."
"""Hint of the errors for lists that are too long."""

_KEYED_REMEDY: Final = "Choose a `key` that fewer items share, or split the documents."


def require_short(column: ListColumn, left: Indices, heights: Indices, widths: Indices, most: int) -> None:
    """Check that tables of pairs of the items of two lists fit into memory.

    Args:
        column: The column of the lists.
        left: Gold list of each table.
        heights: Number of gold items of each table.
        widths: Number of predicted items of each table.
        most: Maximum number of pairs of items of a table.

    Raises:
        SolverError: A table has more pairs of items.
    """
    long = (heights * widths > most).nonzero()[0]
    if len(long):
        raise SolverError.of(
            f"Expected at most {most} pairs of items for `{column.matcher.name}`, got {heights[long[0]]} x "
            f"{widths[long[0]]}",
            pointer=column.pointer(int(left[long[0]])),
            hint=_KEYED_REMEDY if column.matcher.name == "keyed" else REMEDY,
        )
