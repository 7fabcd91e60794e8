"""Gamma of lists: the disorder of their alignments, compared with that of lists of different documents."""

from __future__ import annotations

from itertools import combinations
from math import ceil, comb
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.aligned_rows import align_lists
from arbitre.agreement.alignment import NONE
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.sums.pair_sums import ListSums, summed

if TYPE_CHECKING:
    from arbitre.agreement.advice.by_document import ByDocument
    from arbitre.agreement.aligned_rows import AlignedRows
    from arbitre.arrays import Floats, Indices
    from arbitre.engine.columns.column import ListColumn

MAX_LISTS: Final = 100
"""Maximum number of alignments of unrelated lists for the expected disorder; of more, a sample is drawn."""

MAX_SAMPLE: Final = 1_000
"""Maximum number of alignments in the sample."""

MIN_SAMPLE: Final = 32
"""Minimum number of alignments in the sample."""

PRECISION: Final = 0.005
"""Standard error of the expected disorder at which the sample is large enough, relative to the disorder."""


def gamma_of_lists(part: AlignedRows, column: ListColumn, by_document: ByDocument, *, seed: int) -> Coefficient:
    """Return gamma of aligned lists.

    Args:
        part: The lists, with their alignments.
        column: The column of the lists.
        by_document: Adds the interval.
        seed: Random seed of the sample for the expected disorder.
    """
    (items,) = column.slices
    held = part.rows != NONE
    annotators = part.rows.shape[1]
    counts = np.where(held, items.counts()[part.rows], 0).sum(axis=1)
    shared = (held.sum(axis=1) > 1) & (counts > 0)
    facts = {
        "name": "gamma",
        "chance_model": "lists of different documents",
        "items": int(counts[shared].sum()),
        "annotators": annotators,
    }
    if not shared.any():
        return Coefficient.corrected(None, None, **facts)
    totals = np.array([alignment.disorder for alignment in part.alignments])[shared] * annotators
    observed = 1.0 - float(totals.sum()) / float(counts[shared].sum())
    pool = part.rows[held]
    documents = np.broadcast_to(part.document[:, None], held.shape)[held]
    if len(np.unique(documents)) < annotators:
        reason = f"Lists of at least {annotators} documents are needed to measure the disorder expected by chance."
        return Coefficient(value=None, observed=observed, expected=None, reason=reason, **facts)
    owners, disorders, sizes = _unrelated(column, pool, documents, annotators, seed)
    if not sizes.any():
        return Coefficient.corrected(None, None, **facts)
    ratio = float(disorders.sum() / sizes.sum())
    error = None if comb(len(pool), annotators) <= MAX_LISTS else _error(disorders, sizes)
    coefficient = Coefficient.corrected(observed, 1.0 - ratio, standard_error=error, **facts)
    used, at = np.unique(part.document[shared], return_inverse=True)
    position = np.full(len(by_document.ids), len(used))
    position[used] = np.arange(len(used))
    items_of = summed(at, counts[shared], len(used))
    sums = ListSums(summed(at, totals, len(used)), items_of, position[owners], disorders, sizes)
    return by_document.with_interval(coefficient, sums, len(used))


def _unrelated(
    column: ListColumn, pool: Indices, documents: Indices, annotators: int, seed: int
) -> tuple[Indices, Floats, Floats]:
    """Align lists of different documents: all combinations, or a sample of them.

    Returns:
        The documents of the lists of each alignment, shape (alignments, annotators); and for each alignment, its
        disorder times the number of annotators, and the number of items.
    """
    if comb(len(pool), annotators) <= MAX_LISTS:
        places = np.array(list(combinations(range(len(pool)), annotators)), dtype=np.intp)
        owners = documents[places]
        ordered = np.sort(owners, axis=1)
        different = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        return owners[different], *_disorders(column, pool[places[different]])
    random = np.random.default_rng(seed)
    order = documents.argsort(kind="stable")
    every, begin, number = np.unique(documents[order], return_index=True, return_counts=True)
    chosen, disorders, sizes, needed = np.empty((0, annotators), dtype=np.intp), np.empty(0), np.empty(0), MIN_SAMPLE
    while (more := min(needed, MAX_SAMPLE) - len(sizes)) > 0:
        fresh = np.array([random.choice(len(begin), annotators, replace=False) for _ in range(more)])
        lists = pool[order[begin[fresh] + random.integers(number[fresh])]]
        drawn = _disorders(column, lists)
        chosen = np.concatenate([chosen, fresh])
        disorders, sizes = (np.concatenate(sides) for sides in zip((disorders, sizes), drawn, strict=True))
        if not sizes.any():
            break
        ratio = float(disorders.sum() / sizes.sum())
        needed = MAX_SAMPLE
        if ratio:
            needed = ceil(len(sizes) * (_error(disorders, sizes) / ratio / PRECISION) ** 2)
    return every[chosen], disorders, sizes


def _error(disorders: Floats, sizes: Floats) -> float:
    """Return the standard error of the disorder per item."""
    residuals = disorders - disorders.sum() / sizes.sum() * sizes
    return float(residuals.std(ddof=1) / np.sqrt(len(sizes)) / sizes.mean())


def _disorders(column: ListColumn, lists: Indices) -> tuple[Floats, Floats]:
    """Return the disorder of the alignment of lists, times the number of annotators, and the number of items."""
    aligned = [
        (alignment.disorder * lists.shape[1], sum(map(len, rows)))
        for rows, alignment in align_lists(column, lists, search=False)
    ]
    disorders, sizes = np.array(aligned, dtype=np.float64).reshape(-1, 2).T
    return disorders, sizes
