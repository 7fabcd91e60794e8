"""Means of document scores, computed from columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbitre.corpus.statistics.sample import chunks, known_of
from arbitre.corpus.storage.exact_sum import ExactSum
from arbitre.tally import COUNTS, NAMES, MacroScores

if TYPE_CHECKING:
    from arbitre.arrays import Floats, Mask


def means(tallies: Floats, failed: Mask) -> MacroScores:
    """Compute the mean scores of documents. The results are identical to those of `MacroScores.of`.

    Args:
        tallies: Tallies, shape (documents, 5).
        failed: Which documents failed, shape (documents,).

    >>> means(np.array([[2, 2, 2, 1, 0.5], [1, 0, 0, 0, 0]]), np.array([False, True])).f1q
    0.25
    """
    names = (*COUNTS, *NAMES)
    sums, numbers, lost = ExactSum(len(names)), np.zeros(len(names), dtype=np.intp), int(np.count_nonzero(failed))
    for chunk in chunks(len(tallies)):
        present = tallies[chunk, :2].any(axis=1) | failed[chunk]
        values, known = known_of(tallies[chunk], failed[chunk])
        counts = np.where(present[:, None], tallies[chunk, : len(COUNTS)], 0.0)
        sums.add(np.hstack([counts, values]))
        numbers += [*[np.count_nonzero(present)] * len(COUNTS), *np.count_nonzero(known, axis=0)]
    documents = dict(zip(names, numbers.tolist(), strict=True))
    by_name = {
        name: total / documents[name] if documents[name] else None for name, total in zip(names, sums(), strict=True)
    }
    return MacroScores(by_name, documents, vacuous=len(tallies) - documents["gold"], failed=lost)
