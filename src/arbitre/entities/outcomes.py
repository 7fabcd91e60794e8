"""Outcomes of entities: correct, incorrect, partial, missing and spurious, from the matching of the comparator.

`comparator` compares the lists of spans of a sentence by a scheme of SemEval-2013. `EntityPairs` collects the matching
of all sentences during an evaluation, and `EntityColumns` counts the outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from arbitre.classification import ClassScores
from arbitre.comparator import Comparator
from arbitre.engine.columns.ragged import cross_slices, rank_among_equal
from arbitre.errors import OptionError, did_you_mean
from arbitre.matching.assignment import assign_all
from arbitre.options import Scheme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.entities.spans import Span
    from arbitre.inputs.records import Pair
    from arbitre.values import Json

SCHEMES: Final = get_args(Scheme)
"""Names of the schemes."""

_DISTANCES: Final[dict[str, Json]] = {
    "strict": "exact",
    "exact": {"span": {"overlap": "equal"}},
    "partial": {"span": {"overlap": "half"}},
    "type": {"span": {"overlap": "any", "label": "label"}},
    "partial in class": {"span": {"overlap": "half", "label": "label"}},
}
"""Distance of two spans, for each scheme."""

IN_CLASS: Final = {"strict": "strict", "exact": "strict", "partial": "partial in class", "type": "type"}
"""For each scheme, the scheme that applies it to entities of the same class only."""

_GATE: Final = 1e-9
"""Minimum quality of a match; entities without overlap stay unmatched."""


@dataclass(frozen=True, slots=True)
class EntityCounts(ClassScores):
    """The number of entities for each SemEval-2013 outcome, and the scores computed from these numbers.

    A partially correct entity counts as half a true positive.

    Attributes:
        correct: Matched entities that are correct according to the scheme.
        incorrect: Entities that overlap but are not correct.
        partial: Matched entities with other boundaries, for the scheme "partial".
        missing: Gold entities without a counterpart.
        spurious: Predicted entities without a counterpart.
    """

    correct: int
    incorrect: int
    partial: int
    missing: int
    spurious: int

    @classmethod
    def of(cls, gold: int, predicted: int, correct: int, partial: int, incorrect: int) -> EntityCounts:
        """Return the counts from the number of gold and predicted entities and of the pairs with each outcome."""
        pairs, tp = correct + partial + incorrect, correct + partial / 2 if partial else correct
        return cls(
            tp=tp,
            fp=predicted - tp,
            fn=gold - tp,
            correct=correct,
            incorrect=incorrect,
            partial=partial,
            missing=gold - pairs,
            spurious=predicted - pairs,
        )

    def to_dict(self) -> dict[str, float | None]:
        """Return the outcomes, counts and scores."""
        names = ("correct", "incorrect", "partial", "missing", "spurious")
        return {name: getattr(self, name) for name in names} | ClassScores.to_dict(self)


@dataclass(eq=False, slots=True)
class EntityPairs:
    """Observer that collects the entities of all sentences, with their matching.

    After the evaluation, `columns` holds an entity or a pair of entities per row.
    """

    codes: dict[int, int] = field(default_factory=dict)
    """Code of each span by the identity of its object; equal spans are one object."""
    spans: list[Span] = field(default_factory=list)
    """The span of each code."""
    parts: list[tuple[Indices, Indices, Indices, Floats]] = field(default_factory=list)
    """The collected rows: sentence, code of the gold span or -1, code of the predicted span or -1, and quality."""
    sentences: int = 0
    """Number of sentences collected."""

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Collect the entities of sentences that were compared together; keeps no value for each of them.

        Args:
            pairs: The sentences, of which only the number matters.
            levels: The nodes of their comparison. A sentence is a list of spans, so its items are its entities.
        """
        for level in levels:
            if level.item:
                gold, predicted = (self._codes_of(level, rows) for rows in (level.left, level.right))
                self.parts.append((level.document + self.sentences, gold, predicted, level.quality))
        self.sentences += len(pairs)
        return []

    def _codes_of(self, level: Level, rows: Indices) -> Indices:
        """Return the code of the span in each row of a level; -1 for a row of -1, which has none."""
        codes = np.full(len(rows), -1, dtype=np.intp)
        present = rows >= 0
        codes[present] = [self._code(span) for span in level.source.values_of(rows[present])]
        return codes

    def _code(self, span: Span) -> int:
        """Return the code of a span; a new span gets the next one."""
        code = self.codes.get(id(span))
        if code is None:
            code = self.codes[id(span)] = len(self.spans)
            self.spans.append(span)
        return code

    def columns(self, labels: Sequence[str]) -> EntityColumns:
        """Return the collected rows.

        Args:
            labels: The labels, in the order of their positions in the result.
        """
        place = {label: number for number, label in enumerate(labels)}
        table = [(span["start"], span["end"], place[span["label"]]) for span in self.spans]
        empty = np.empty(0, dtype=np.intp)
        parts = [(empty, empty, empty, np.empty(0)), *self.parts]
        sentence, gold, predicted, quality = (np.concatenate(column) for column in zip(*parts, strict=True))
        places = np.array(table, dtype=np.intp).reshape(-1, 3)
        return EntityColumns(sentence, gold, predicted, quality, places, len(labels))


@dataclass(frozen=True, eq=False, slots=True)
class EntityColumns:
    """Entities of a corpus, one row for each pair and each unmatched entity.

    Attributes:
        sentence: Sentence of each row; shape (rows,).
        gold: Code of the gold span, or -1.
        predicted: Code of the predicted span, or -1.
        quality: Quality of the pair.
        places: Start, end and position of the label of each code; shape (codes, 3).
        classes: Number of labels.
    """

    sentence: Indices
    gold: Indices
    predicted: Indices
    quality: Floats
    places: Indices
    classes: int

    @property
    def matched(self) -> Mask:
        """Which rows are pairs."""
        mask: Mask = (self.gold >= 0) & (self.predicted >= 0)
        return mask

    def labels(self, codes: Indices) -> Indices:
        """Return the position of the label of each span."""
        labels: Indices = self.places[codes, 2]
        return labels

    def totals(self) -> EntityCounts:
        """Return the counts of all entities."""
        matched = self.matched
        partial = int((self.quality[matched] < 1.0).sum())
        correct = int(matched.sum()) - partial
        gold, predicted = (int((codes >= 0).sum()) for codes in (self.gold, self.predicted))
        return EntityCounts.of(gold, predicted, correct, partial, len(self.overlapping()[0]))

    def by_class(self) -> list[EntityCounts]:
        """Return the counts of each class, if only entities with the same label were matched."""
        matched = self.matched
        exact = matched & (self.quality >= 1.0)
        gold, predicted = self.gold[self.gold >= 0], self.predicted[self.predicted >= 0]
        columns = (gold, predicted, self.gold[exact], self.gold[matched & ~exact], self.overlapping(same=True)[0])
        counts = (np.bincount(self.labels(codes), minlength=self.classes).tolist() for codes in columns)
        return [EntityCounts.of(*numbers) for numbers in zip(*counts, strict=True)]

    def confusion(self) -> Indices:
        """Return the confusion matrix; shape (classes + 1, classes + 1).

        The diagonal counts matched entities of the same label. Entities of different labels that overlap are counted
        as confused; all others are missing or spurious.
        """
        matched = self.matched
        confused = self.overlapping(same=False)
        gold, predicted = (
            np.concatenate([self.labels(codes[matched]), self.labels(pairs)])
            for codes, pairs in zip((self.gold, self.predicted), confused, strict=True)
        )
        size = self.classes + 1
        matrix = np.bincount(gold * size + predicted, minlength=size * size).reshape(size, size)
        for axis, codes in ((1, self.gold), (0, self.predicted)):
            totals = np.bincount(self.labels(codes[codes >= 0]), minlength=size)
            rest = totals - matrix.sum(axis=axis)
            if axis:
                matrix[:-1, -1] += rest[:-1]
            else:
                matrix[-1, :-1] += rest[:-1]
        return matrix

    def overlapping(self, *, same: bool | None = None) -> tuple[Indices, Indices]:
        """Return a matching of the unmatched entities that overlap: most pairs, then the greatest overlaps.

        Args:
            same: Whether the labels of a pair must be the same (True) or different (False); None for any.

        Returns:
            The codes of the gold and of the predicted spans; shapes (pairs,).
        """
        ours, theirs = ((codes >= 0) & ~self.matched for codes in (self.gold, self.predicted))
        rows, others, _ = self._best(ours.nonzero()[0], theirs.nonzero()[0], same=same)
        return self.gold[rows], self.predicted[others]

    def by_credit(self, *, same: bool | None = None) -> EntityColumns:
        """Return the same entities, matched for the highest credit: 1 for the same boundaries, 1/2 for an overlap.

        Among matchings of equal credit, the one with the greatest overlaps is chosen.

        Args:
            same: As for `overlapping`.
        """
        ours, theirs = ((codes >= 0).nonzero()[0] for codes in (self.gold, self.predicted))
        rows, others, exact = self._best(ours, theirs, same=same, credit=True)
        alone = np.setdiff1d(ours, rows), np.setdiff1d(theirs, others)
        none = [np.full(len(side), -1, dtype=np.intp) for side in alone]
        return replace(
            self,
            sentence=self.sentence[np.concatenate([rows, *alone])],
            gold=np.concatenate([self.gold[rows], self.gold[alone[0]], none[1]]),
            predicted=np.concatenate([self.predicted[others], none[0], self.predicted[alone[1]]]),
            quality=np.concatenate([np.where(exact, 1.0, 0.5), np.zeros(len(alone[0]) + len(alone[1]))]),
        )

    def _best(
        self, ours: Indices, theirs: Indices, *, same: bool | None, credit: bool = False
    ) -> tuple[Indices, Indices, Mask]:
        """Match entities that overlap: most pairs, or the highest credit, then the greatest overlaps.

        Args:
            ours: Rows with gold entities.
            theirs: Rows with predicted entities.
            same: As for `overlapping`.
            credit: Whether a pair with the same boundaries counts twice.

        Returns:
            The rows of the gold and of the predicted entities, and which pairs have the same boundaries.
        """
        gold, predicted = self._overlaps(ours, theirs)
        places = self.places[self.gold[gold]], self.places[self.predicted[predicted]]
        if same is not None:
            allowed = (places[0][:, 2] == places[1][:, 2]) == same
            gold, predicted = gold[allowed], predicted[allowed]
            places = places[0][allowed], places[1][allowed]
        (start, end, _), (other_start, other_end, _) = (side.T for side in places)
        exact: Mask = (start == other_start) & (end == other_end)
        common = np.minimum(end, other_end) - np.maximum(start, other_start)
        union = (end - start) + (other_end - other_start) - common
        # Each component of overlapping entities is a problem of its own, with its entities in the order of their rows.
        row, column = (np.unique(side, return_inverse=True)[1] for side in (gold, predicted))
        height, width = (int(side.max(initial=-1)) + 1 for side in (row, column))
        graph = csr_array((np.ones(len(row)), (row, height + column)), shape=(height + width, height + width))
        count, labels = connected_components(graph, directed=False)
        component: Indices = labels.astype(np.intp)
        components = component[:height], component[height:]
        heights, widths = (np.bincount(side, minlength=count) for side in components)
        ranks = [_ranks(side) for side in components]
        sizes = heights * widths
        owner = components[0][row]
        cells = (sizes.cumsum() - sizes)[owner] + ranks[0][row] * widths[owner] + ranks[1][column]
        # The overlaps of a component add up to less than 1: they only decide between otherwise equal matchings.
        pairs = 1.0 + exact if credit else np.ones(len(exact))
        quality = np.zeros(sizes.sum())
        quality[cells] = (pairs + common / union / (heights + widths)[owner]) / 3.0
        pair_of = np.full(len(quality), -1, dtype=np.intp)
        pair_of[cells] = np.arange(len(cells))
        chosen = pair_of[assign_all(quality, heights, widths)[0]]
        chosen = chosen[chosen >= 0]
        return gold[chosen], predicted[chosen], exact[chosen]

    def _overlaps(self, ours: Indices, theirs: Indices) -> tuple[Indices, Indices]:
        """Return the rows of all pairs of a gold and a predicted entity of a sentence that overlap; shapes (pairs,).

        For the arguments, see `_best`. Time and memory are proportional to the entities and pairs.
        """
        # Limits as ranks: those of a sentence are above those of the sentences before it.
        rows = np.concatenate([ours, theirs])
        codes = np.concatenate([self.gold[ours], self.predicted[theirs]])
        limits = np.stack([self.sentence[rows].repeat(2), self.places[codes, :2].reshape(-1)], axis=1)
        starts, ends = np.unique(limits, axis=0, return_inverse=True)[1].reshape(-1, 2).T
        cut = len(ours)
        # Of two entities that overlap, the second one begins within the first one; at the same start, gold is first.
        gold, predicted = _beginning_within(starts[:cut], ends[:cut], starts[cut:], "left")
        later_predicted, later_gold = _beginning_within(starts[cut:], ends[cut:], starts[:cut], "right")
        return ours[np.concatenate([gold, later_gold])], theirs[np.concatenate([predicted, later_predicted])]


def _beginning_within(
    starts: Indices, ends: Indices, others: Indices, side: Literal["left", "right"]
) -> tuple[Indices, Indices]:
    """Return the pairs of a span and a start within it.

    Args:
        starts: Starts of the spans; shape (spans,).
        ends: Their ends, greater than their starts.
        others: The other starts; shape (others,).
        side: Whether a start equal to that of the span counts ("left") or not ("right").

    Returns:
        The spans and the other starts, by position; shapes (pairs,).
    """
    order = others.argsort(kind="stable")
    low = np.searchsorted(others, starts, side=side, sorter=order)
    high = np.searchsorted(others, ends, side="left", sorter=order)
    owner, _, step = cross_slices(np.ones(len(low), dtype=np.intp), high - low)
    return owner, order[low[owner] + step]


def _ranks(groups: Indices) -> Indices:
    """Return the position of each element among those of its group."""
    order = groups.argsort(kind="stable")
    ranks = np.empty(len(groups), dtype=np.intp)
    ranks[order] = rank_among_equal(groups[order])
    return ranks


def check_scheme(scheme: str) -> None:
    """Raise OptionError if there is no such scheme."""
    if scheme not in SCHEMES:
        raise OptionError.of(
            f"Expected a scheme, got {scheme!r}",
            hint=did_you_mean(scheme, SCHEMES),
        )


@lru_cache
def comparator(scheme: str) -> Comparator:
    """Return the comparator of the entities of a sentence."""
    integer = {"type": "integer", "minimum": 0}
    span = {
        "type": "object",
        "properties": {"start": integer, "end": integer, "label": {"type": "string"}},
        "required": ["start", "end", "label"],
        "x-arbitre": {"distance": _DISTANCES[scheme]},
    }
    return Comparator({"type": "array", "items": span, "x-arbitre": {"match": {"hungarian": {"gate": _GATE}}}})
