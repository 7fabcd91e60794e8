"""Gamma of lists: the disorder of their alignments, compared with that of lists of different documents."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.agreement.alignment import NONE
from arbitre.agreement.by_document import summed
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.list_alignment import align_lists, list_disorders
from arbitre.arrays import weighted_sums

if TYPE_CHECKING:
    from arbitre.agreement.aligned_rows import AlignedRows
    from arbitre.agreement.by_document import ByDocument
    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.engine.columns.column import ListColumn

MAX_LISTS: Final = 100
"""Number of alignments of unrelated lists above which the expected disorder is estimated from a sample."""

MAX_SAMPLE: Final = 1_000
"""Maximum number of alignments in the sample."""

MIN_SAMPLE: Final = 16
"""Minimum number of alignments in the sample."""

PRECISION: Final = 0.005
"""Relative standard error of the expected disorder below which the sample is large enough."""


@dataclass(frozen=True, eq=False, slots=True)
class GammaParts:
    """Gamma of lists by document, from the disorders of their alignments. See `by_document.Resampled`.

    The observed disorder is that of the lists of the same document, and the expected one that of combinations of lists
    of different documents, as many as a document has: annotators without a list do not count. A disorder is multiplied
    by the number of lists, so that it can be divided by the number of all items.

    Attributes:
        disorders: Sum of the disorders of the lists of each document that at least two annotators have; shape
            (documents,).
        items: Number of items of these lists; shape (documents,).
        drawn: Documents of the lists of each combination, then the number of all documents if it has fewer lists than
            there are annotators; shape (combinations, annotators).
        disorders_drawn: Disorder of the alignment of each combination; shape (combinations,).
        items_drawn: Number of items of each combination; shape (combinations,).
        weights_drawn: Weight of each combination; shape (combinations,). Combinations of each number of lists have the
            same share of the weights as documents with this number of lists.
        sampled: Whether the combinations are a sample.
    """

    disorders: Floats
    items: Floats
    drawn: Indices
    disorders_drawn: Floats
    items_drawn: Floats
    weights_drawn: Floats
    sampled: bool

    @property
    def expected(self) -> float | None:
        """Disorder expected by chance, per item; None without items."""
        items = float((self.weights_drawn * self.items_drawn).sum())
        return float((self.weights_drawn * self.disorders_drawn).sum()) / items if items else None

    @property
    def used(self) -> Indices:
        """The documents with lists of at least two annotators, which are resampled."""
        return self.items.nonzero()[0]

    @property
    def width(self) -> int:
        """Number of cells that a resample needs besides its weights."""
        return self.drawn.size

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement in each resample; shapes (resamples,).

        A combination counts as often as its documents together: the product of their weights.

        Args:
            weights: How often each document of `used` was drawn; shape (resamples, documents used). Other documents
                count once.
        """
        used = self.used
        every = np.ones((len(weights), len(self.items) + 1))
        every[:, used] = weights
        drawn = every[:, self.drawn].prod(axis=-1) * self.weights_drawn
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = weighted_sums(weights, self.disorders[used]) / weighted_sums(weights, self.items[used])
            expected = weighted_sums(drawn, self.disorders_drawn) / weighted_sums(drawn, self.items_drawn)
            return 1.0 - observed, 1.0 - expected

    @property
    def standard_error(self) -> float | None:
        """Standard error of `expected`; None if it is exact."""
        if not self.sampled or self.expected is None:
            return None
        residuals = self.disorders_drawn - self.expected * self.items_drawn
        return float(residuals.std(ddof=1)) / math.sqrt(len(residuals)) / float(self.items_drawn.mean())


def gamma_of_lists(part: AlignedRows, column: ListColumn, by_document: ByDocument, *, seed: int) -> Coefficient:
    """Return gamma of aligned lists, with its interval; for the other arguments, see `gamma_parts`."""
    annotators = part.rows.shape[1]
    parts = gamma_parts(part, column, seed=seed)
    items = float(parts.items.sum())
    facts: dict[str, Any] = {
        "name": "gamma",
        "chance_model": "lists of different documents",
        "items": int(items),
        "annotators": annotators,
    }
    observed = 1.0 - float(parts.disorders.sum()) / items if items else None
    if observed is not None and not len(parts.drawn):
        _, counts = list_disorders(column, part.rows, part.alignments)
        needed = int(_shared(part)[counts > 0].sum(axis=1).max())
        reason = f"Lists of at least {needed} documents are needed to measure the disorder expected by chance."
        return Coefficient(value=None, observed=observed, expected=None, reason=reason, **facts)
    if observed is None or parts.expected is None:
        return Coefficient.corrected(None, None, **facts)
    coefficient = Coefficient.corrected(observed, 1.0 - parts.expected, standard_error=parts.standard_error, **facts)
    return by_document.with_interval(coefficient, parts, len(parts.used))


def gamma_parts(part: AlignedRows, column: ListColumn, *, seed: int) -> GammaParts:
    """Sum the disorders of lists, and align lists of different documents: all combinations, or a sample of them.

    Args:
        part: The lists, with their alignments.
        column: The column of the lists.
        seed: Random seed of the sample.
    """
    held, annotators, documents = _shared(part), part.rows.shape[1], int(part.document.max(initial=-1)) + 1
    disorders, counts = list_disorders(column, part.rows, part.alignments)
    sums, items = (summed(part.document, each, documents) for each in (disorders, counts))
    none = np.empty(0)
    parts = GammaParts(sums, items, np.empty((0, annotators), dtype=np.intp), none, none, none, sampled=False)
    numbers = np.sort(held.sum(axis=1)[counts > 0])  # of lists of each unit with items
    if not len(numbers) or len(np.unique(part.document[held.any(axis=1)])) < numbers[-1]:  # documents with lists
        return parts
    # All shared lists, whoever made them, and the document of each, then no list; shapes (lists + 1,).
    pool = np.append(part.rows[held], NONE)
    documents_of = np.append(np.broadcast_to(part.document[:, None], held.shape)[held], documents)
    sizes, units = (each.tolist() for each in np.unique(numbers, return_counts=True))
    if sum(comb(len(pool) - 1, size) for size in sizes) <= MAX_LISTS:
        weights: list[float] = []
        for size, unit in zip(sizes, units, strict=True):
            places = np.array(list(combinations(range(len(pool) - 1), size)), dtype=np.intp)
            owners = np.sort(documents_of[places], axis=1)
            places = places[(owners[:, 1:] != owners[:, :-1]).all(axis=1)]
            weights.append(unit / len(places))
            places = np.pad(places, ((0, 0), (0, annotators - size)), constant_values=-1)
            parts = _extended(parts, column, pool[places], documents_of[places], weights[-1] / weights[0])
        return parts
    random = np.random.default_rng(seed)
    order = documents_of[:-1].argsort(kind="stable")
    _, begin, number = np.unique(documents_of[order], return_index=True, return_counts=True)
    needed = MIN_SAMPLE
    while (more := min(needed, MAX_SAMPLE) - len(parts.drawn)) > 0:
        size = numbers[np.arange(more) * len(numbers) // more]  # each number of lists as often as in the units
        chosen = np.concatenate([random.choice(len(begin), each, replace=False) for each in size.tolist()])
        places = np.full((more, annotators), -1, dtype=np.intp)
        places[np.arange(annotators) < size[:, None]] = order[begin[chosen] + random.integers(number[chosen])]
        parts = _extended(replace(parts, sampled=True), column, pool[places], documents_of[places], 1.0)
        drawn, error, expected = len(parts.drawn), parts.standard_error, parts.expected
        needed = math.ceil(drawn * (error / expected / PRECISION) ** 2) if error and expected else MAX_SAMPLE
        needed = min(needed, 2 * drawn)
    return parts


def _shared(part: AlignedRows) -> Mask:
    """Return the lists of units that at least two annotators have; shape (units, annotators)."""
    held = part.rows != NONE
    shared: Mask = held & (held.sum(axis=1, keepdims=True) > 1)
    return shared


def _extended(parts: GammaParts, column: ListColumn, lists: Indices, drawn: Indices, weight: float) -> GammaParts:
    """Return the parts with more combinations of lists.

    Args:
        parts: The parts.
        column: The column of the lists.
        lists: Rows of the lists of each combination, or `NONE`; shape (combinations, annotators).
        drawn: Documents of these lists; the same shape.
        weight: Weight of each combination.
    """
    disorders, items = list_disorders(column, lists, align_lists(column, lists, search=False))
    return replace(
        parts,
        drawn=np.concatenate([parts.drawn, drawn]),
        disorders_drawn=np.concatenate([parts.disorders_drawn, disorders]),
        items_drawn=np.concatenate([parts.items_drawn, items]),
        weights_drawn=np.concatenate([parts.weights_drawn, np.full(len(lists), weight)]),
    )
