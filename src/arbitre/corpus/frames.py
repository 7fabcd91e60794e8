"""Results as columns of equal length, all figures of them: what CSV, Parquet and data frames are made of alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arbitre.corpus.statistics import scored
from arbitre.tally import COUNTS, NAMES
from arbitre.values import Json

if TYPE_CHECKING:
    from arbitre.corpus.evaluation import Evaluation

SIGNATURE: Final = "signature"
"""The column that identifies the measurement: the same in every row."""

Frame: TypeAlias = Mapping[str, Sequence[Json] | npt.NDArray[Any]]
"""Columns by name; in an array of numbers, nan stands where there is none."""


def documents(evaluation: Evaluation) -> Frame:
    """The documents of a corpus, a row each, in their order.

    The columns are `id`, `run`, `failed`, `document_quality`, then `COUNTS` and `NAMES` of `arbitre.tally`: masses and
    scores of the entries, then `signature`.
    """
    columns = evaluation.columns
    return {
        "id": columns.ids,
        "run": columns.runs,
        "failed": columns.failed,
        "document_quality": columns.qualities,
        **dict(zip(COUNTS, columns.tallies.T, strict=False)),  # all but the squares
        **dict(zip(NAMES, scored(columns.tallies).T, strict=True)),
        SIGNATURE: [evaluation.signature.short] * len(columns),
    }


def paths(evaluation: Evaluation) -> Frame:
    """The wildcard paths of a corpus, a row each: `path`, masses and scores over all documents, `signature`."""
    rows = [scores.to_dict() for scores in evaluation.by_path.values()]
    figures = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in (*COUNTS, *NAMES)}
    return {"path": list(evaluation.by_path), **figures, SIGNATURE: [evaluation.signature.short] * len(rows)}
