"""Means of document scores, computed from columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.arrays import exact_sum
from arbitre.corpus.statistics.sample import contributions
from arbitre.tally import COUNTS, NAMES, MacroScores

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Mask


def means(tallies: Floats, failed: Mask) -> MacroScores:
    """Compute the mean scores of documents.

    Args:
        tallies: Tallies, shape (documents, 5).
        failed: Which documents failed, shape (documents,).

    >>> means(np.array([[2, 2, 2, 1, 0.5], [1, 0, 0, 0, 0]]), np.array([False, True])).f1q
    0.25
    """
    present = int(np.count_nonzero(tallies[:, :2].any(axis=1) | failed))
    columns = contributions(tallies, failed, range(len(NAMES)))
    sums = [exact_sum(column) for column in (*tallies[:, : len(COUNTS)].T, *columns.T)]
    numbers = [present] * len(COUNTS) + list(map(int, sums[-len(NAMES) :]))
    documents = dict(zip((*COUNTS, *NAMES), numbers, strict=True))
    scores = zip(documents.items(), sums, strict=False)  # without the numbers at the end of `sums`
    by_name = {name: total / number if number else None for (name, number), total in scores}
    return MacroScores(by_name, documents, len(tallies) - present, int(np.count_nonzero(failed)))
