"""N-grams of token sequences, and the distance between texts by their character n-grams.

>>> jaccard_ngrams()("table", "tables")
0.25
>>> jaccard_ngrams()("ab", "ba"), jaccard_ngrams()("ab", "ab")
(1.0, 0.0)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from arbitre.distances.base import Distance, Facts
from arbitre.distances.sets import build_bags, jaccard, pair_codes
from arbitre.errors import DataError
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from arbitre.arrays import Indices
    from arbitre.distances.base import Integers
    from arbitre.distances.sets import BagPool


MAX_SKIPGRAMS: Final = 1 << 22
"""Maximum number of skip-bigrams of a text."""


class TokenSequences(NamedTuple):
    """Concatenated sequences of tokens: the sequence and the code of each token; shapes (tokens,)."""

    owner: Indices
    codes: Integers


def tokens(sequences: Sequence[Sequence[Hashable]], shortest: int = 0) -> TokenSequences:
    """Code the tokens of all sequences from 1 up.

    A non-empty sequence shorter than `shortest` is padded with zeros to that length. Its only n-gram of that length
    then differs from all n-grams of longer sequences.
    """
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.intp)
    padded = np.where(lengths == 0, 0, np.maximum(lengths, shortest))
    owner = np.repeat(np.arange(len(sequences)), padded)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(padded) - padded, padded)
    table: dict[Hashable, int] = {}
    codes = np.zeros(len(owner), dtype=np.int64)
    codes[place < lengths[owner]] = [
        table.setdefault(token, len(table) + 1) for sequence in sequences for token in sequence
    ]
    return TokenSequences(owner, codes)


def ngrams(sequences: TokenSequences, n: int) -> TokenSequences:
    """Return all n-grams of each sequence, as codes."""
    grams = sequences.codes
    for step in range(1, n):
        grams = pair_codes(grams[:-1], sequences.codes[step:])
    first, last = sequences.owner[: len(grams)], sequences.owner[n - 1 :]
    return TokenSequences(first[first == last], grams[first == last])


def skipgrams(sequences: TokenSequences, skip: int) -> TokenSequences:
    """Return all ordered pairs of tokens of each sequence with at most `skip` tokens between them, as codes."""
    owner, codes = sequences
    size, width = len(codes), codes.max(initial=0) + 1
    longest = int(np.bincount(owner).max(initial=0))
    if longest * min(skip + 1, longest) > MAX_SKIPGRAMS:
        raise DataError.of(
            f"Expected a text with fewer words for skip-bigrams, got {longest} words with `skip` {skip}",
            hint=f"The number of words times the number of positions looked ahead is at most {MAX_SKIPGRAMS}.",
        )
    owners, pairs = [], []
    for gap in range(1, min(skip + 2, size)):
        same = owner[:-gap] == owner[gap:]
        if not same.any():  # no sequence is that long
            break
        owners.append(owner[gap:][same])
        pairs.append((codes[:-gap] * width + codes[gap:])[same])
    if not pairs:
        return TokenSequences(owner[:0], codes[:0])
    return TokenSequences(np.concatenate(owners), np.unique(np.concatenate(pairs), return_inverse=True)[1])


def jaccard_ngrams(n: int = 3) -> Distance:
    """Return the distance 1 - |A ∩ B| / |A ∪ B| of the sets A and B of character n-grams, in [0, 1].

    A text shorter than `n` counts as a single n-gram. An empty text has no n-grams, and distance 1 to every other text.
    A pseudo-metric: different texts may have the same n-grams. Source: Jaccard, 1901; Ukkonen, 1992.
    """
    facts = Facts(separating=False, witness=("a" * n, "a" * (n + 1)))
    return Distance("jaccard-ngrams", frozenset({Kind.STRING}), facts, partial(_pool, n), {"n": n})


def _pool(n: int, values: Sequence[str]) -> BagPool:
    return build_bags(len(values), *ngrams(tokens(values, n), n), jaccard)
