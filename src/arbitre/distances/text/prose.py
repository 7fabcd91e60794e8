"""ROUGE distances between texts: 1 - F1 of their common words, n-grams or subsequences.

`words` splits the texts. All distances are symmetric, and none is a metric; texts with the same words have distance 0.

>>> ROUGE_1("Hello everyone on Blent", "Welcome everyone on Blent website")  # 1 - 2 * 3 / (4 + 5)
0.3333333333333333
>>> ROUGE_L("police killed the gunman", "the gunman killed police")
0.5
>>> ROUGE_2("yes", "yes"), ROUGE_2("yes", "no")
(0.0, 1.0)
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import regex

from arbitre.distances.bags import build_bags, dice
from arbitre.distances.base import Distance, Facts
from arbitre.distances.text.edit import INDEL
from arbitre.distances.text.ngrams import ngrams, skipgrams, tokens
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arbitre.distances.bags import BagPool
    from arbitre.distances.base import Pool
    from arbitre.distances.text.ngrams import TokenSequences

_WORD = regex.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the case-folded words of a text: maximal runs of Unicode word characters (letters, marks, digits, _).

    There is no stemming and no stop word list. Scripts without spaces are not segmented.

    >>> words("L'Été 2024, à Paris-Nord !")
    ['l', 'été', '2024', 'à', 'paris', 'nord']
    """
    return _WORD.findall(text.casefold())


def _counted(grams: Callable[[TokenSequences], TokenSequences], shortest: int, values: Sequence[str]) -> BagPool:
    sequences = tokens([words(value) for value in values], shortest)
    return build_bags(len(values), *grams(sequences), dice, multiple=True)


def _subsequences(values: Sequence[str]) -> Pool:
    """Return the pool of `indel` over words, which equals 1 - F1 of the longest common subsequence."""
    sequences = tokens([words(value) for value in values])
    starts = np.searchsorted(sequences.owner, np.arange(len(values) + 1))
    return INDEL.pool([sequences.codes[start:end].tolist() for start, end in pairwise(starts)])


def _rouge(name: str, pool: Callable[[Sequence[str]], Pool], options: Mapping[str, Any]) -> Distance:
    facts = Facts(separating=False, triangle=False, witness=("Hello", "hello"))
    return Distance(name, frozenset({Kind.STRING}), facts, pool, options)


def _runs(n: int) -> Callable[[Sequence[str]], Pool]:
    return partial(_counted, partial(ngrams, n=n), n)


def rouge_n(n: int = 1) -> Distance:
    """Return the distance 1 - 2c / (a + b) of texts with a and b word n-grams, c of them in common; in [0, 1].

    Repeated n-grams count. A text of 1 to n - 1 words has all its words as its only n-gram, so different short texts
    have a distance above 0. Two texts without words have distance 0. Source: Lin, 2004.

    >>> rouge_n(2)("Hello everyone on Blent", "Welcome everyone on Blent website")  # 1 - 2 * 2 / (3 + 4)
    0.42857142857142855
    """
    return _rouge("rouge-n", _runs(n), {"n": n})


ROUGE_1: Final = _rouge("rouge-1", _runs(1), {})
"""`rouge-n` of single words (Lin, 2004)."""

ROUGE_2: Final = _rouge("rouge-2", _runs(2), {})
"""`rouge-n` of word bigrams (Lin, 2004)."""

ROUGE_L: Final = _rouge("rouge-l", _subsequences, {})
"""1 - 2c / (a + b) for texts of a and b words with a longest common subsequence of c words (Lin, 2004)."""


def rouge_s(skip: int = 4) -> Distance:
    """Return the distance 1 - 2c / (a + b) of texts with a and b skip-bigrams, c of them in common; in [0, 1].

    A skip-bigram is an ordered pair of words with at most `skip` words between them; `skip=0` gives `rouge-2`. A text
    of one word has this word as its only skip-bigram. Source: Lin, 2004.

    >>> rouge_s()("police killed the gunman", "police kill the gunman")
    0.5
    """
    return _rouge("rouge-s", partial(_counted, partial(skipgrams, skip=skip), 2), {"skip": skip})
