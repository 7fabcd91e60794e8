"""Results as columns of equal length, for CSV, Parquet and data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.statistics.sample import scored
from arbitre.tally import COUNTS, NAMES, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.corpus.documents import DocumentTable
    from arbitre.signature import Signature
    from arbitre.tables.arrow import Frame
    from arbitre.tally import PathScores

SIGNATURE: Final = "signature"
"""Column of the signature, which is the same in every row."""


def document_frame(columns: DocumentTable, signature: Signature) -> Frame:
    """Return the documents of a corpus as columns, with one row per document.

    The columns are `id`, `run`, `failed`, `document_quality`, the masses and scores of the entries (`COUNTS` and
    `NAMES` of `arbitre.tally`), and `signature`.
    """
    return {
        "id": columns.ids,
        "run": columns.runs,
        "failed": columns.failed,
        "document_quality": columns.qualities,
        **dict(zip(COUNTS, columns.tallies.T, strict=False)),  # without the sum of squares
        **dict(zip(NAMES, scored(columns.tallies).T, strict=True)),
        SIGNATURE: [signature.short] * len(columns),
    }


def path_frame(by_path: Mapping[str, PathScores], signature: Signature) -> Frame:
    """Return the wildcard paths of a corpus as columns, with one row per path.

    The columns are `path`, the masses, scores and outcomes over all documents, the exact-match rate, and `signature`.
    """
    rows = [scores.to_dict() for scores in by_path.values()]
    names = (*COUNTS, *NAMES, *OUTCOMES, "exact_match_rate")
    figures = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in names}
    return {"path": list(by_path), **figures, SIGNATURE: [signature.short] * len(rows)}
