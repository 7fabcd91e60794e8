"""Gamma of lists: the disorder of their alignments, compared with that of lists of different documents."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.agreement.alignment import NONE
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.list_alignment import align_lists
from arbitre.agreement.sums import ListSums

if TYPE_CHECKING:
    from arbitre.agreement.aligned_rows import AlignedRows
    from arbitre.agreement.by_document import ByDocument
    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import ListColumn

MAX_LISTS: Final = 100
"""Number of alignments of unrelated lists above which the expected disorder is estimated from a sample."""

MAX_SAMPLE: Final = 1_000
"""Maximum number of alignments in the sample."""

MIN_SAMPLE: Final = 16
"""Minimum number of alignments in the sample."""

PRECISION: Final = 0.005
"""Relative standard error of the expected disorder below which the sample is large enough."""


@dataclass(frozen=True, eq=False, slots=True)
class GammaParts:
    """Sums from which gamma of lists is computed, by document, so that documents can be resampled.

    Attributes:
        disorders: Sum of the disorders of the lists with at least two annotators, times the number of annotators, per
            document; shape (documents,).
        items: Number of their items per document.
        drawn: Documents of combinations of lists of different documents; shape (combinations, annotators).
        disorders_drawn: Disorder of each combination, times the number of annotators; shape (combinations,).
        items_drawn: Number of items of each combination.
        sampled: Whether the combinations are a sample.
    """

    disorders: Floats
    items: Floats
    drawn: Indices
    disorders_drawn: Floats
    items_drawn: Floats
    sampled: bool

    @property
    def expected(self) -> float | None:
        """Disorder expected by chance, per item; None without items."""
        items = float(self.items_drawn.sum())
        return float(self.disorders_drawn.sum()) / items if items else None

    @property
    def standard_error(self) -> float | None:
        """Standard error of `expected`; None if it is exact."""
        if not self.sampled or self.expected is None:
            return None
        residuals = self.disorders_drawn - self.expected * self.items_drawn
        return float(residuals.std(ddof=1)) / math.sqrt(len(residuals)) / float(self.items_drawn.mean())


def gamma_of_lists(part: AlignedRows, column: ListColumn, by_document: ByDocument, *, seed: int) -> Coefficient:
    """Return gamma of aligned lists, with its interval; for the other arguments, see `gamma_parts`."""
    annotators = part.rows.shape[1]
    parts = gamma_parts(part, column, seed=seed)
    items = float(parts.items.sum())
    facts: dict[str, Any] = {
        "name": "gamma",
        "chance_model": "lists of different documents",
        "items": int(items),
        "annotators": annotators,
    }
    observed = 1.0 - float(parts.disorders.sum()) / items if items else None
    if observed is not None and _documents(part) < annotators:
        reason = f"Lists of at least {annotators} documents are needed to measure the disorder expected by chance."
        return Coefficient(value=None, observed=observed, expected=None, reason=reason, **facts)
    if observed is None or parts.expected is None:
        return Coefficient.corrected(None, None, **facts)
    coefficient = Coefficient.corrected(observed, 1.0 - parts.expected, standard_error=parts.standard_error, **facts)
    used = parts.items.nonzero()[0]
    position = np.full(len(parts.items), len(used))
    position[used] = np.arange(len(used))
    drawn = position[parts.drawn]
    sums = ListSums(parts.disorders[used], parts.items[used], drawn, parts.disorders_drawn, parts.items_drawn)
    return by_document.with_interval(coefficient, sums, len(used))


def gamma_parts(part: AlignedRows, column: ListColumn, *, seed: int) -> GammaParts:
    """Sum the disorders of lists, and align lists of different documents: all combinations, or a sample of them.

    Args:
        part: The lists, with their alignments.
        column: The column of the lists.
        seed: Random seed of the sample.
    """
    held = part.rows != NONE
    annotators, documents = part.rows.shape[1], int(part.document.max(initial=-1)) + 1
    counts = np.append(column.lengths, 0)[part.rows].sum(axis=1)
    shared = (held.sum(axis=1) > 1) & (counts > 0)
    disorders = np.array([alignment.disorder for alignment in part.alignments]) * annotators
    sums, items = (
        np.bincount(part.document[shared], each[shared].astype(np.float64), minlength=documents).astype(np.float64)
        for each in (disorders, counts)
    )
    none = np.empty(0)
    parts = GammaParts(sums, items, np.empty((0, annotators), dtype=np.intp), none, none, sampled=False)
    if not shared.any() or _documents(part) < annotators:
        return parts
    pool, documents_of = part.rows[held], np.broadcast_to(part.document[:, None], held.shape)[held]
    if comb(len(pool), annotators) <= MAX_LISTS:
        places = np.array(list(combinations(range(len(pool)), annotators)), dtype=np.intp)
        owners = np.sort(documents_of[places], axis=1)
        places = places[(owners[:, 1:] != owners[:, :-1]).all(axis=1)]
        return _extended(parts, column, pool[places], documents_of[places], sampled=False)
    random = np.random.default_rng(seed)
    order = documents_of.argsort(kind="stable")
    _, begin, number = np.unique(documents_of[order], return_index=True, return_counts=True)
    needed = MIN_SAMPLE
    while (more := min(needed, MAX_SAMPLE) - len(parts.drawn)) > 0:
        chosen = np.array([random.choice(len(begin), annotators, replace=False) for _ in range(more)])
        places = order[begin[chosen] + random.integers(number[chosen])]
        parts = _extended(parts, column, pool[places], documents_of[places], sampled=True)
        size, error, expected = len(parts.drawn), parts.standard_error, parts.expected
        needed = math.ceil(size * (error / expected / PRECISION) ** 2) if error and expected else MAX_SAMPLE
        needed = min(needed, 2 * size)
    return parts


def _documents(part: AlignedRows) -> int:
    """Return the number of documents with lists."""
    return len(np.unique(part.document[(part.rows != NONE).any(axis=1)]))


def _extended(parts: GammaParts, column: ListColumn, lists: Indices, drawn: Indices, *, sampled: bool) -> GammaParts:
    """Align more combinations of lists."""
    disorders = np.array([alignment.disorder for alignment in align_lists(column, lists, search=False)])
    return replace(
        parts,
        drawn=np.concatenate([parts.drawn, drawn]),
        disorders_drawn=np.concatenate([parts.disorders_drawn, disorders * lists.shape[1]]),
        items_drawn=np.concatenate([parts.items_drawn, column.lengths[lists].sum(axis=1)]),
        sampled=sampled,
    )
