"""Runs of tokens, counted; and the distance of texts by the runs of characters that they have.

>>> jaccard_ngrams()("table", "tables")
0.25
>>> jaccard_ngrams()("ab", "ba"), jaccard_ngrams()("ab", "ab")
(1.0, 0.0)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arbitre.distances.bags import build_bags, jaccard, pair_codes
from arbitre.distances.base import Distance, Facts
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from arbitre.arrays import Indices
    from arbitre.distances.bags import BagPool
    from arbitre.distances.pool_helpers import Integers


class TokenSequences(NamedTuple):
    """Sequences of tokens laid end to end: the code of each token, and which sequence it is in; shapes (k,)."""

    owner: Indices
    codes: Integers


def tokens(sequences: Sequence[Sequence[Hashable]], shortest: int = 0) -> TokenSequences:
    """The tokens of all sequences, coded from 1 up.

    One that is shorter than `shortest`, and not empty, is filled up with 0, so that it still has a run of that length:
    its own, as no token is 0.
    """
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.intp)
    filled = np.where(lengths == 0, 0, np.maximum(lengths, shortest))
    owner = np.repeat(np.arange(len(sequences)), filled)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(filled) - filled, filled)
    table: dict[Hashable, int] = {}
    coded = np.zeros(len(owner), dtype=np.int64)
    coded[place < lengths[owner]] = [table.setdefault(one, len(table) + 1) for some in sequences for one in some]
    return TokenSequences(owner, coded)


def ngrams(laid: TokenSequences, n: int) -> TokenSequences:
    """Every run of n tokens within a sequence."""
    grams = laid.codes
    for step in range(1, n):
        grams = pair_codes(grams[:-1], laid.codes[step:])
    first, last = laid.owner[: len(grams)], laid.owner[n - 1 :]
    return TokenSequences(first[first == last], grams[first == last])


def skipgrams(laid: TokenSequences, skip: int) -> TokenSequences:
    """Every pair of tokens of a sequence, in order, with at most `skip` tokens between."""
    size, width = len(laid.codes), laid.codes.max(initial=0) + 1
    owners, pairs = [], []
    for gap in range(1, min(skip + 2, size)):
        same = laid.owner[:-gap] == laid.owner[gap:]
        if not same.any():  # no sequence is that long
            break
        owners.append(laid.owner[gap:][same])
        pairs.append((laid.codes[:-gap] * width + laid.codes[gap:])[same])
    if not pairs:
        return TokenSequences(laid.owner[:0], laid.codes[:0])
    return TokenSequences(np.concatenate(owners), np.unique(np.concatenate(pairs), return_inverse=True)[1])


def jaccard_ngrams(n: int = 3) -> Distance:
    """1 - |A ∩ B| / |A ∪ B| for the sets A and B of runs of n characters of two texts; in [0, 1].

    A text shorter than n is its own only run, which no other text has; the empty one has none, and is at 1 from all
    others. A pseudo-metric: different texts may have the same runs. Source: Jaccard, 1901; Ukkonen, 1992.
    """
    facts = Facts(separating=False, witness=("a" * n, "a" * (n + 1)))
    return Distance("jaccard-ngrams", frozenset({Kind.STRING}), facts, partial(_pool, n), {"n": n})


def _pool(n: int, values: Sequence[str]) -> BagPool:
    return build_bags(len(values), *ngrams(tokens(values, n), n), jaccard)
