"""Distances of texts from edit distances, through RapidFuzz.

Edit distances are exact integers and become float64 here. RapidFuzz's own normalised scores are not used: its tables
hold float32 by default, and some of its scorers call two empty texts wholly different.

>>> YUJIAN_BO("ab", "ba"), LEVENSHTEIN("ab", "ba"), INDEL("ab", "ba")
(0.6666666666666666, 1.0, 0.5)
>>> TOKEN_SORT("Jean Dupont", "Dupont Jean")
0.0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Indel, JaroWinkler, Levenshtein

from arbitre.distances.base import Distance, Facts
from arbitre.distances.columns import share, trusted
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.distances.base import Blocks, Floats, Indices
    from arbitre.distances.columns import Integers

    Formula = Callable[[npt.NDArray[Any], Integers, Integers], Floats]


def _over_longer(edits: Integers, left: Integers, right: Integers) -> Floats:
    return share(edits, np.maximum(left, right))


def _over_sum(edits: Integers, left: Integers, right: Integers) -> Floats:
    return share(edits, left + right)


def _yujian_bo(edits: Integers, left: Integers, right: Integers) -> Floats:
    return share(2 * edits, left + right + edits)


def _unless_empty(distances: Floats, left: Integers, right: Integers) -> Floats:
    return np.where(left + right == 0, 0.0, distances)


DENSE: Final = 4096
"""A table with more cells than this is made of the distinct texts of either side."""

LARGE: Final = 1 << 16
"""In a table with more cells than this, long texts are told apart by their lengths alone."""

LONG: Final = 64
"""Edit distances of texts up to this length fit one machine word; those of longer ones are many times dearer."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """A scorer of RapidFuzz, the type of its results, and the formula of these and the lengths of the two texts."""

    scorer: Callable[..., Any]
    dtype: type[np.int64 | np.float64]
    formula: Formula


_MEASURES: Final = {
    "levenshtein": _Measure(Levenshtein.distance, np.int64, _over_longer),
    "indel": _Measure(Indel.distance, np.int64, _over_sum),
    "yujian-bo": _Measure(Levenshtein.distance, np.int64, _yujian_bo),
    "jaro-winkler": _Measure(JaroWinkler.normalized_distance, np.float64, _unless_empty),
}


@dataclass(frozen=True, slots=True)
class _Texts:
    texts: npt.NDArray[np.object_]
    lengths: Integers
    measure: _Measure

    def paired(self, left: Indices, right: Indices) -> Floats:
        raw = process.cpdist(
            self.texts[left].tolist(),
            self.texts[right].tolist(),
            scorer=self.measure.scorer,
            dtype=self.measure.dtype,
        )
        return self._distances(raw, left, right)

    def crossed(self, left: Indices, right: Indices) -> Floats:
        raw = process.cdist(
            self.texts[left].tolist(),
            self.texts[right].tolist(),
            scorer=self.measure.scorer,
            dtype=self.measure.dtype,
        )
        return self._distances(raw, left[:, None], right[None, :])

    def bounded(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Exact, but for edit distances of long texts: those are at least (indel + difference in length) / 2.

        An alignment keeps at most the longest common subsequence of the longer text, and edits the rest of it. In
        large tables the difference in length must do.
        """
        raw = np.empty(int(blocks.starts[-1]), dtype=self.measure.dtype)
        lengths_left, lengths_right = self.lengths[left], self.lengths[right]
        total = np.concatenate([[0], np.cumsum(lengths_left)])
        long = total[blocks.left_starts[1:]] - total[blocks.left_starts[:-1]] > LONG * blocks.heights
        for (rows, columns, cells), dear in zip(blocks, long.tolist(), strict=True):
            lefts, rights = left[rows], right[columns]
            if lefts.size * rights.size > DENSE:  # worth looking for texts that occur several times
                (lefts, place), (rights, other) = (np.unique(side, return_inverse=True) for side in (lefts, rights))
                raw[cells] = self._raw(lefts, rights, long=dear)[place[:, None], other].ravel()
            else:
                raw[cells] = self._raw(lefts, rights, long=dear).ravel()
        return self.measure.formula(raw, lengths_left[blocks.rows], lengths_right[blocks.columns])

    def _raw(self, left: Indices, right: Indices, *, long: bool) -> npt.NDArray[Any]:
        texts = self.texts[left].tolist(), self.texts[right].tolist()
        raw: npt.NDArray[Any]
        if not (long and self.measure.scorer is Levenshtein.distance):
            raw = process.cdist(*texts, scorer=self.measure.scorer, dtype=self.measure.dtype)
            return raw
        raw = np.abs(self.lengths[left][:, None] - self.lengths[right])
        if raw.size > LARGE:
            return raw
        raw += process.cdist(*texts, scorer=Indel.distance, dtype=self.measure.dtype)
        return raw // 2

    def _distances(self, raw: npt.NDArray[Any], left: Indices, right: Indices) -> Floats:
        shape = np.broadcast_shapes(left.shape, right.shape)
        if raw.shape == shape:  # another shape might broadcast: it is left to be refused
            raw = self.measure.formula(raw, self.lengths[left], self.lengths[right])
        return trusted(raw, shape, "rapidfuzz")


def _pool(measure: str, values: Sequence[str]) -> _Texts:
    texts = np.array(values, dtype=np.object_)
    lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    return _Texts(texts, lengths, _MEASURES[measure])


def _sorted_tokens(values: Sequence[str]) -> _Texts:
    return _pool("yujian-bo", [" ".join(sorted(text.split())) for text in values])


def _of_texts(name: str, facts: Facts) -> Distance:
    return Distance(name, frozenset({Kind.STRING}), facts, partial(_pool, name))


YUJIAN_BO: Final = _of_texts("yujian-bo", Facts())
"""2L / (a + b + L), for L edits between texts of a and b characters: a metric (Li Yujian and Liu Bo, 2007)."""

LEVENSHTEIN: Final = _of_texts("levenshtein", Facts(triangle=False, witness=("ab", "aba", "ba")))
"""Fewest insertions, deletions and substitutions, over the longer length (Levenshtein, 1966). Not a metric."""

INDEL: Final = _of_texts("indel", Facts(triangle=False, witness=("a", "ab", "b")))
"""Fewest insertions and deletions, over the sum of the lengths: 1 - Dice of the longest common subsequence."""

JARO_WINKLER: Final = _of_texts("jaro-winkler", Facts(triangle=False, witness=("aba", "abab", "bab")))
"""1 - the Jaro similarity, raised for a common start of up to 4 characters (Winkler, 1990). Not a metric."""

TOKEN_SORT: Final = Distance(
    "token-sort",
    frozenset({Kind.STRING}),
    Facts(separating=False, witness=("a b", "b a")),
    _sorted_tokens,
)
"""`yujian-bo` of the words, sorted and joined with one space: a pseudo-metric, blind to the order of words."""
