"""The distances of prose: 1 - F1 of what the words of two texts share, known as ROUGE.

Words are those of `words`. All are symmetric, as F1 is; none is a metric, and texts with the same words are at 0.

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
    """The words of a text: its longest runs of word characters (Unicode: letters, marks, digits, _), case folded.

    No stemming, no list of stop words; scripts written without spaces are not cut into words.

    >>> words("L'Été 2024, à Paris-Nord !")
    ['l', 'été', '2024', 'à', 'paris', 'nord']
    """
    return _WORD.findall(text.casefold())


def _counted(grams: Callable[[TokenSequences], TokenSequences], shortest: int, values: Sequence[str]) -> BagPool:
    laid = tokens([words(value) for value in values], shortest)
    return build_bags(len(values), *grams(laid), dice, multiple=True)


def _subsequences(values: Sequence[str]) -> Pool:
    """`indel` over words: insertions and deletions over the sum of the lengths are 1 - F1 of the subsequence."""
    laid = tokens([words(value) for value in values])
    starts = np.searchsorted(laid.owner, np.arange(len(values) + 1))
    return INDEL.pool([laid.codes[start:end].tolist() for start, end in pairwise(starts)])


def _rouge(name: str, pool: Callable[[Sequence[str]], Pool], options: Mapping[str, Any]) -> Distance:
    facts = Facts(separating=False, triangle=False, witness=("Hello", "hello"))
    return Distance(name, frozenset({Kind.STRING}), facts, pool, options)


def _runs(n: int) -> Callable[[Sequence[str]], Pool]:
    return partial(_counted, partial(ngrams, n=n), n)


def rouge_n(n: int = 1) -> Distance:
    """1 - 2c / (a + b): texts of a and b runs of n words share c, a run counting as often as both have it.

    In [0, 1]. A text of fewer than n words, and at least one, is its own only run, so that equal texts are at 0 and
    different short ones are not. Two texts without words are at 0. Source: Lin, 2004.

    >>> rouge_n(2)("Hello everyone on Blent", "Welcome everyone on Blent website")  # 1 - 2 * 2 / (3 + 4)
    0.42857142857142855
    """
    return _rouge("rouge-n", _runs(n), {"n": n})


ROUGE_1: Final = _rouge("rouge-1", _runs(1), {})
"""`rouge-n` of single words (Lin, 2004)."""

ROUGE_2: Final = _rouge("rouge-2", _runs(2), {})
"""`rouge-n` of pairs of neighbours (Lin, 2004)."""

ROUGE_L: Final = _rouge("rouge-l", _subsequences, {})
"""1 - 2c / (a + b): texts of a and b words have a longest common subsequence of c; in [0, 1] (Lin, 2004)."""


def rouge_s(skip: int = 4) -> Distance:
    """1 - 2c / (a + b): texts of a and b pairs of words, in order and at most `skip` words between, share c.

    In [0, 1]; with `skip` 0 it is `rouge-2`. A text of one word is its own only pair. Source: Lin, 2004.

    >>> rouge_s()("police killed the gunman", "police kill the gunman")
    0.5
    """
    return _rouge("rouge-s", partial(_counted, partial(skipgrams, skip=skip), 2), {"skip": skip})
