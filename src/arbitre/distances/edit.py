"""Distances between texts from edit distances, computed by RapidFuzz, and from matching blocks, as in difflib.

RapidFuzz returns exact integer edit distances, which are normalised here to float64. Its own normalised scores are not
used: they are float32 by default, and some treat two empty texts as completely different.

>>> YUJIAN_BO("ab", "ba"), LEVENSHTEIN("ab", "ba"), INDEL("ab", "ba")
(0.6666666666666666, 1.0, 0.5)
>>> TOKEN_SORT("Jean Dupont", "Dupont Jean")
0.0
>>> OSA_LONGER("CA", "ABC"), DAMERAU_LEVENSHTEIN("CA", "ABC"), LCS("ab", "aba")
(1.0, 0.6666666666666666, 0.3333333333333333)
>>> TOKEN_SET("jean", "jean dupont"), TOKEN_SET("jean", "dupont")
(0.0, 0.8)

>>> ratcliff_obershelp()("tide", "diet"), ratcliff_obershelp()("diet", "tide")
(0.75, 0.5)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import scipy
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, DamerauLevenshtein, Indel, Jaro, JaroWinkler, LCSseq, Levenshtein

from arbitre.distances.base import DeferredPool, Distance, Facts, Pool, check_distances, ratio_or_zero
from arbitre.interpreter import call_interruptibly
from arbitre.values import Kind

try:
    from cydifflib import SequenceMatcher
except ImportError:  # no wheel for this Python: the same results, in five times the time
    from difflib import SequenceMatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.distances.base import Blocks, Integers


if TYPE_CHECKING:
    Raw = npt.NDArray[Any]
    Scorer = Callable[..., Any]
    Formula = Callable[[Raw, Integers, Integers], Floats]


def _over_longer(edits: Integers, left: Integers, right: Integers) -> Floats:
    return ratio_or_zero(edits, np.maximum(left, right))


def _over_sum(edits: Integers, left: Integers, right: Integers) -> Floats:
    return ratio_or_zero(edits, left + right)


def _yujian_bo(edits: Integers, left: Integers, right: Integers) -> Floats:
    return ratio_or_zero(2 * edits, left + right + edits)


def _per_cent(similarities: Floats, left: Integers, right: Integers) -> Floats:
    return _unless_empty(1.0 - similarities / 100.0, left, right)


def _unless_empty(distances: Floats, left: Integers, right: Integers) -> Floats:
    return np.where(left + right == 0, 0.0, distances)


BOUND_MIN_CELLS: Final = 1 << 16
"""Number of cells above which the bound of long texts uses their lengths only; saves 25% on 300 nested entries."""

COUNTED_MIN_TEXTS: Final = 1 << 10
"""Minimum number of texts on one side of such a table for bounds that also use character counts.

1,500 texts of 200 characters against noisy copies take a twentieth of the time.
"""

BUCKETS: Final = 32
"""Number of groups in which characters are counted."""

MAX_COUNTED: Final = 1 << 22
"""Maximum number of characters of the texts whose characters are counted; limits memory."""

WORD_BITS: Final = 64
"""Maximum length, in characters, for the fast algorithm in one machine word; longer texts are many times slower."""

BOUND_MIN_PAIRS: Final = 2048
"""Number of pairs of items from which the comparison of long texts is deferred (see `Distance.expensive_above`)."""

HINTED_CHARACTERS: Final = 1 << 24
"""Mean product of the lengths of two texts above which RapidFuzz expects a small Levenshtein distance (`score_hint`).

For two texts of 240,000 characters, this reduces the time from 2.1 s to 0.07 s if 1% of the characters differ, and does
not increase it if half of them differ. For many different texts of 300 characters, it would double the time.
"""

INTERRUPTIBLE_CHARACTERS: Final = 1 << 30
"""Number of pairs of characters from which a comparison can be interrupted with Ctrl-C before it ends."""


@dataclass(frozen=True, slots=True)
class _EditScorer:
    """A RapidFuzz scorer with the conversion of its results to distances.

    Attributes:
        scorer: The RapidFuzz function.
        dtype: Type of its results.
        formula: Computes distances from its results and the lengths of both texts.
        cheap: Length, in characters, above which the scorer is slow and texts are compared by bounds first.
    """

    scorer: Scorer
    dtype: type[np.int64 | np.float64]
    formula: Formula
    cheap: float = math.inf


_MEASURES: Final = {
    "levenshtein": _EditScorer(Levenshtein.distance, np.int64, _over_longer, WORD_BITS),
    "yujian-bo": _EditScorer(Levenshtein.distance, np.int64, _yujian_bo, WORD_BITS),
    "indel": _EditScorer(Indel.distance, np.int64, _over_sum),
    "indel-yujian-bo": _EditScorer(Indel.distance, np.int64, _yujian_bo),
    "osa": _EditScorer(OSA.distance, np.int64, _over_longer, WORD_BITS),
    "damerau-levenshtein": _EditScorer(DamerauLevenshtein.distance, np.int64, _over_longer, 0),
    "lcs": _EditScorer(LCSseq.distance, np.int64, _over_longer),
    "jaro": _EditScorer(Jaro.normalized_distance, np.float64, _unless_empty),
    "jaro-winkler": _EditScorer(JaroWinkler.normalized_distance, np.float64, _unless_empty),
    "token-set": _EditScorer(fuzz.token_set_ratio, np.float64, _per_cent),
}


@dataclass(frozen=True, slots=True)
class _EditPool(Pool):
    texts: npt.NDArray[np.object_]
    lengths: Integers
    measure: _EditScorer
    exactly_bounded: Mask | None

    def distances(self, left: Indices, right: Indices) -> Floats:
        raw = self._raw(process.cpdist, self.measure.scorer, left, right)
        return self._distances(raw, self.lengths[left], self.lengths[right], left.shape)

    def lower_bounds_pairwise(self, left: Indices, right: Indices) -> tuple[Floats, Mask | None]:
        """Return bounds for pairs of long texts, from the difference in length; all others are exact."""
        if (
            self.exactly_bounded is None
            or not (long := ~(self.exactly_bounded[left] | self.exactly_bounded[right])).any()
        ):
            return self.distances(left, right), None
        lengths_left, lengths_right = self.lengths[left], self.lengths[right]
        long &= left != right
        exact = ~long
        raw = np.abs(lengths_left - lengths_right)
        short = exact.nonzero()[0]
        raw[short] = self._raw(process.cpdist, self.measure.scorer, left[short], right[short])
        return self._distances(raw, lengths_left, lengths_right, left.shape), exact

    def lower_bounds_blockwise(self, blocks: Blocks, left: Indices, right: Indices) -> Floats:
        """Return bounds for long texts: length of the longer text - length of the longest common subsequence.

        This equals (indel + difference in length) / 2, which one edit increases by at most 1: an insertion or deletion
        changes both terms by at most 1, a substitution or transposition changes indel by at most 2. Large tables use
        the difference in length alone, or the characters that one text has more often than the other, whatever their
        order. The distances of short texts are exact.
        """
        raw = np.empty(int(blocks.starts[-1]), dtype=self.measure.dtype)
        lengths_left, lengths_right = self.lengths[left], self.lengths[right]
        mean = np.zeros(len(blocks))
        if self.exactly_bounded is not None:
            total = np.zeros(len(lengths_left) + 1)
            lengths_left.cumsum(out=total[1:])
            mean = (total[blocks.left_starts[1:]] - total[blocks.left_starts[:-1]]) / np.maximum(blocks.heights, 1)
        for (rows, columns, cells), length in zip(blocks, mean.tolist(), strict=True):
            raw[cells] = self._bounds(left[rows], right[columns], length).ravel()
        return self._distances(raw, lengths_left[blocks.rows], lengths_right[blocks.columns], raw.shape)

    def _bounds(self, left: Indices, right: Indices, length: float) -> Raw:
        """Return a lower bound of the edits between each pair of texts; shape (left, right).

        Texts with a short mean `length` are compared exactly. Long texts are bounded by their longest common
        subsequences or, in large tables, by their lengths and perhaps the number of each character.
        """
        if length <= self.measure.cheap:
            return self._raw(process.cdist, self.measure.scorer, left, right)
        if length > WORD_BITS and left.size * right.size > BOUND_MIN_CELLS:
            gap: Raw = np.abs(self.lengths[left][:, None] - self.lengths[right])
            characters = int(self.lengths[left].sum() + self.lengths[right].sum())
            if max(left.size, right.size) < COUNTED_MIN_TEXTS or characters > MAX_COUNTED:
                return gap
            gold, predicted = (
                _character_counts(self.texts[side].tolist(), self.lengths[side]) for side in (left, right)
            )
            different: Raw = scipy.spatial.distance.cdist(gold, predicted, "cityblock").astype(np.int64)
            return (different + gap) // 2
        return self._raw(process.cdist, LCSseq.distance, left, right)

    def _raw(self, compare: Scorer, scorer: Scorer, left: Indices, right: Indices) -> Raw:
        """Compare pairs (`process.cpdist`) or all combinations (`process.cdist`) of texts."""
        texts = self.texts[left].tolist(), self.texts[right].tolist()
        sizes = self.lengths[left], self.lengths[right]
        pairs = sizes[0].sum() * sizes[1].sum() if compare is process.cdist else np.dot(*sizes)
        count = left.size * right.size if compare is process.cdist else left.size
        hint = WORD_BITS if scorer is Levenshtein.distance and pairs > HINTED_CHARACTERS * count else None
        compared = partial(compare, *texts, scorer=scorer, dtype=self.measure.dtype, score_hint=hint)
        raw: Raw = call_interruptibly(compared) if pairs > INTERRUPTIBLE_CHARACTERS else compared()
        return raw

    def _distances(self, raw: Raw, left: Integers, right: Integers, shape: tuple[int, ...]) -> Floats:
        if raw.shape == shape:  # a wrong shape might broadcast; `check_distances` rejects it
            raw = self.measure.formula(raw, left, right)
        return check_distances(raw, shape, "rapidfuzz")


def _character_counts(texts: Sequence[str], lengths: Integers) -> Floats:
    """Return how often each text has the characters of each bucket; shape (texts, BUCKETS)."""
    characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32) % BUCKETS
    buckets = np.arange(len(texts), dtype=np.int64).repeat(lengths) * BUCKETS + characters
    return np.bincount(buckets, minlength=len(texts) * BUCKETS).reshape(-1, BUCKETS).astype(np.float64)


def _pool(measure: str, values: Sequence[str]) -> _EditPool:
    """Prepare texts for a measure; only pairs of short texts have exact bounds."""
    texts = np.fromiter(values, dtype=np.object_, count=len(values))  # np.array would split lists of words
    lengths = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    short = lengths <= _MEASURES[measure].cheap
    return _EditPool(texts, lengths, _MEASURES[measure], None if short.all() else short)


def _sorted_tokens(values: Sequence[str]) -> _EditPool:
    return _pool("yujian-bo", [" ".join(sorted(text.split())) for text in values])


def _sets_of_tokens(values: Sequence[str]) -> _EditPool:
    return _pool("token-set", [" ".join(sorted(set(text.split()))) for text in values])


def _of_texts(name: str, facts: Facts) -> Distance:
    """Return the distance of texts that `_MEASURES` names."""
    return Distance(
        name,
        frozenset({Kind.STRING}),
        facts,
        partial(_pool, name),
        expensive_above=BOUND_MIN_PAIRS if _MEASURES[name].cheap < math.inf else math.inf,
    )


YUJIAN_BO: Final = _of_texts("yujian-bo", Facts())
"""2L / (a + b + L) for texts of a and b characters with Levenshtein distance L: a metric (Li Yujian and Liu Bo, 2007).
"""

LEVENSHTEIN: Final = _of_texts("levenshtein", Facts(triangle=False, witness=("ab", "aba", "ba")))
"""Minimum number of insertions, deletions and substitutions / length of the longer text (Levenshtein, 1966).

Not a metric.
"""

INDEL: Final = _of_texts("indel", Facts(triangle=False, witness=("a", "ab", "b")))
"""Minimum number of insertions and deletions / sum of the lengths: 1 - Dice of the longest common subsequence."""

INDEL_YUJIAN_BO: Final = _of_texts("indel-yujian-bo", Facts())
"""2D / (a + b + D) for texts of a and b characters and D insertions and deletions: a metric.

Source: Li Yujian and Liu Bo, 2007.
"""

OSA_LONGER: Final = _of_texts("osa", Facts(triangle=False, witness=("ab", "abc", "bc")))
"""Optimal string alignment distance / length of the longer text (Damerau, 1964).

Edits are those of `levenshtein` and swaps of adjacent characters; no character is edited twice. Not a metric.
"""

DAMERAU_LEVENSHTEIN: Final = _of_texts("damerau-levenshtein", Facts(triangle=False, witness=("ab", "abc", "bc")))
"""As `osa`, but swapped characters may be edited again (Lowrance and Wagner, 1975). Not a metric."""

LCS: Final = _of_texts("lcs", Facts())
"""1 - length of the longest common subsequence / length of the longer text: a metric (Bakkelund, 2009)."""

JARO: Final = _of_texts("jaro", Facts(triangle=False, witness=("aba", "abab", "bab")))
"""1 - (c / a + c / b + (c - t) / c) / 3 for c common characters, 2t of them out of order.

Equal characters are common if they are less than half of the longer length apart. Not a metric. Source: Jaro, 1989.
"""

JARO_WINKLER: Final = _of_texts("jaro-winkler", Facts(triangle=False, witness=("aba", "abab", "bab")))
"""1 - the Jaro similarity with a bonus for a common prefix of up to 4 characters (Winkler, 1990). Not a metric."""

TOKEN_SORT: Final = Distance(
    "token-sort",
    frozenset({Kind.STRING}),
    Facts(separating=False, witness=("a b", "b a")),
    _sorted_tokens,
)
"""`yujian-bo` of the words, sorted and joined with one space: a pseudo-metric that ignores word order."""

TOKEN_SET: Final = Distance(
    "token-set",
    frozenset({Kind.STRING}),
    Facts(separating=False, triangle=False, witness=("jean", "jean dupont")),
    _sets_of_tokens,
)
"""The smallest `indel` between any two of three texts: the common words, and these followed by the rest of each text.

Words are sorted and count once. Without common words, it is the `indel` of the two texts. It is 0 if one text contains
all words of the other, so it is not separating and violates the triangle inequality. Source: FuzzyWuzzy (Cohen, 2011).
"""


def contains_nearly(part: str, text: str, similarity: float) -> bool:
    """Return whether the Indel similarity of a text and the most similar part of another is at least `similarity`.

    >>> contains_nearly("exploitation", "the exploilation of", 0.9), contains_nearly("exploitation", "the export", 0.9)
    (True, False)
    """
    return fuzz.partial_ratio(part, text, score_cutoff=100.0 * similarity) > 0.0


def find_nearly(part: str, text: str, similarity: float) -> tuple[int, int] | None:
    """Return where the part of a text begins and ends that is most similar to another text (Indel similarity).

    None if its similarity is below `similarity`, or if the text is shorter than the other one.

    >>> find_nearly("exploitation", "the exploilation of", 0.9)
    (4, 16)
    """
    if len(part) > len(text):
        return None
    found = fuzz.partial_ratio_alignment(part, text, score_cutoff=100.0 * similarity)
    return None if found is None else (found.dest_start, found.dest_end)


def changed_characters(gold: str, predicted: str) -> list[tuple[str, str]]:
    """Return the characters that differ in an alignment of two texts with the fewest edits; "" for none.

    >>> changed_characters("modern", "rnodem"), changed_characters("Élie", "Elies")
    ([('m', 'rn'), ('rn', 'm')], [('É', 'E'), ('', 's')])
    """
    changes: list[tuple[str, str]] = []
    equal = True
    for edit in Levenshtein.opcodes(gold, predicted):
        sides = gold[edit.src_start : edit.src_end], predicted[edit.dest_start : edit.dest_end]
        if edit.tag == "equal":
            equal = True
        elif equal:
            changes.append(sides)
            equal = False
        else:  # edits without an equal character between them
            changes[-1] = changes[-1][0] + sides[0], changes[-1][1] + sides[1]
    return changes


# Matching blocks, computed by cydifflib or difflib.


BOUND_MARGIN: Final = 1e-15
"""Amount subtracted from bounds; greater than the rounding error of either formula."""


@dataclass(frozen=True, slots=True)
class _MatchingBlocksPool(DeferredPool):
    """The bound is `indel`: matching blocks form a common subsequence, so they are at most as long as the longest."""

    autojunk: bool

    def distances(self, left: Indices, right: Indices) -> Floats:
        distances = np.zeros(left.size)
        matcher = SequenceMatcher(None, "", "", autojunk=self.autojunk)
        for pair in np.argsort(right, kind="stable"):  # SequenceMatcher indexes each distinct second text only once
            gold, predicted = self.texts[left[pair]], self.texts[right[pair]]
            if gold != predicted:
                matcher.set_seq2(predicted)
                matcher.set_seq1(gold)
                distances[pair] = 1 - matcher.ratio()
        return check_distances(distances, left.shape, "cydifflib")


def _ratcliff_pool(autojunk: bool, values: Sequence[str]) -> _MatchingBlocksPool:  # noqa: FBT001
    return _MatchingBlocksPool(tuple(values), INDEL.pool(values), BOUND_MARGIN, autojunk)


def ratcliff_obershelp(*, autojunk: bool = False) -> Distance:
    """Return the distance 1 - SequenceMatcher(None, gold, predicted, autojunk).ratio(), in [0, 1].

    Two empty texts have distance 0. Not symmetric, not a metric. Source: Ratcliff and Metzener, 1988.

    Args:
        autojunk: Whether to ignore characters that make up more than 1% of the predicted text when searching for
            blocks. Applies to predicted texts of 200 or more characters.
    """
    facts = Facts(symmetric=False, triangle=False, witness=("tide", "diet"))
    return Distance(
        "ratcliff-obershelp",
        frozenset({Kind.STRING}),
        facts,
        partial(_ratcliff_pool, autojunk),
        {"autojunk": autojunk},
        expensive_above=1,
    )
