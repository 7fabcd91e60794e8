"""Gamma of lists: the disorder of their alignments, compared with that of lists of different documents."""

from __future__ import annotations

from itertools import combinations
from math import ceil, comb
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.aligning.lists import align_lists
from arbitre.agreement.alignment import NONE
from arbitre.agreement.coefficient import Coefficient

if TYPE_CHECKING:
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


def gamma_of_lists(part: AlignedRows, column: ListColumn, *, seed: int) -> Coefficient:
    """Return gamma of aligned lists.

    Args:
        part: The lists, with their alignments.
        column: The column of the lists.
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
    total = np.array([alignment.disorder for alignment in part.alignments])[shared].sum()
    observed = 1.0 - float(total) * annotators / float(counts[shared].sum())
    pool = part.rows[held]
    documents = np.broadcast_to(part.document[:, None], held.shape)[held]
    if len(np.unique(documents)) < annotators:
        reason = f"Lists of at least {annotators} documents are needed to measure the disorder expected by chance."
        return Coefficient(value=None, observed=observed, expected=None, reason=reason, **facts)
    ratio, error = _expected(column, pool, documents, annotators, seed)
    if ratio is None:
        return Coefficient.corrected(None, None, **facts)
    return Coefficient.corrected(observed, 1.0 - ratio, standard_error=error, **facts)


def _expected(
    column: ListColumn, pool: Indices, documents: Indices, annotators: int, seed: int
) -> tuple[float | None, float | None]:
    """Return the disorder of lists of different documents, per item, and its standard error if it is an estimate."""
    if comb(len(pool), annotators) <= MAX_LISTS:
        places = np.array(list(combinations(range(len(pool)), annotators)), dtype=np.intp)
        owners = np.sort(documents[places], axis=1)
        different = (owners[:, 1:] != owners[:, :-1]).all(axis=1)
        disorders, sizes = _disorders(column, pool[places[different]])
        return (float(disorders.sum() / sizes.sum()) if sizes.any() else None), None
    random = np.random.default_rng(seed)
    order = documents.argsort(kind="stable")
    _, begin, number = np.unique(documents[order], return_index=True, return_counts=True)
    disorders, sizes, needed, ratio, error = np.empty(0), np.empty(0), MIN_SAMPLE, 0.0, 0.0
    while (more := min(needed, MAX_SAMPLE) - len(sizes)) > 0:
        chosen = np.array([random.choice(len(begin), annotators, replace=False) for _ in range(more)])
        lists = pool[order[begin[chosen] + random.integers(number[chosen])]]
        drawn = _disorders(column, lists)
        disorders, sizes = (np.concatenate(sides) for sides in zip((disorders, sizes), drawn, strict=True))
        if not sizes.any():
            return None, None
        ratio = float(disorders.sum() / sizes.sum())
        residuals = disorders - ratio * sizes
        error = float(residuals.std(ddof=1)) / len(sizes) ** 0.5 / float(sizes.mean())
        needed = ceil(len(sizes) * (error / ratio / PRECISION) ** 2) if ratio else MAX_SAMPLE
    return ratio, error


def _disorders(column: ListColumn, lists: Indices) -> tuple[Floats, Floats]:
    """Return the disorder of the alignment of lists, times the number of annotators, and the number of items."""
    disorders = np.array([alignment.disorder for alignment in align_lists(column, lists, search=False)])
    return disorders * lists.shape[1], column.lengths[lists].sum(axis=1).astype(np.float64)
