"""Coreference scores: how well two partitions of mentions into entities agree.

A mention is a reference; the mentions of an entity are all references to it. The scores differ in what they count:
links between the mentions of an entity (MUC, LEA), mentions (B-cubed), entities (CEAF-e), or pairs of mentions (BLANC).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass
from math import comb, fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    Entities = Sequence[Collection[Hashable]]


class CoreferenceScore(NamedTuple):
    """Recall, precision and F1 of one coreference score, in [0, 1]; higher is better.

    A ratio whose denominator is 0 is 0.
    """

    recall: float
    precision: float
    f1: float

    @classmethod
    def of(cls, recall: tuple[float, float], precision: tuple[float, float]) -> CoreferenceScore:
        """Return the score of two ratios, each a part and a whole."""
        r, p = (part / whole if whole else 0.0 for part, whole in (recall, precision))
        return cls(r, p, 2.0 * r * p / (r + p) if r + p else 0.0)


class CoreferenceScores(NamedTuple):
    """Scores that compare how gold and the prediction group mentions into entities.

    Attributes:
        muc: Links that are missing or spurious (Vilain et al., 1995). 0 if all entities have one mention.
        b_cubed: Mean over mentions of the share of the mention's entity that both sides have in common (Bagga and
            Baldwin, 1998).
        ceaf_e: Total similarity in the best assignment of entities (Luo, 2005). The similarity is twice the number of
            common mentions divided by the sum of both sizes.
        blanc: Mean of the scores for coreferent and for non-coreferent links (Luo et al., 2014). Gold and prediction
            may have different mentions.
        lea: Share of each entity's links that the other side has, weighted by the size of the entity (Moosavi and
            Strube, 2016).
    """

    muc: CoreferenceScore
    b_cubed: CoreferenceScore
    ceaf_e: CoreferenceScore
    blanc: CoreferenceScore
    lea: CoreferenceScore

    @property
    def conll(self) -> float:
        """Mean F1 of MUC, B-cubed and CEAF-e, as in the CoNLL shared tasks (Pradhan et al., 2012)."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return plain JSON: recall, precision and F1 by score."""
        return {name: score._asdict() for name, score in self._asdict().items()}


@dataclass(frozen=True, slots=True)
class CoreferenceCounts:
    """The sums from which coreference scores are computed; for a corpus, they are totals over its documents.

    A pair of numbers belongs to gold and to the prediction, unless it says otherwise.

    Attributes:
        muc_common: Links of each side that the other side has.
        muc_links: Links of each side: mentions minus entities.
        b_cubed_common: For each side, the sum over its mentions of the share of the entity that both sides have.
        mentions: Mentions of each side.
        ceaf_common: Total similarity of the best assignment of entities.
        entities: Entities of each side.
        pairs_common: Pairs of mentions that are coreferent on both sides; pairs that are coreferent on neither.
        pairs_gold: Pairs of mentions that are coreferent in gold; pairs that are not.
        pairs_predicted: The same in the prediction.
        lea_common: For each side, the sum over its entities of size times the share of links that both sides have.
    """

    muc_common: tuple[float, float] = (0.0, 0.0)
    muc_links: tuple[float, float] = (0.0, 0.0)
    b_cubed_common: tuple[float, float] = (0.0, 0.0)
    mentions: tuple[float, float] = (0.0, 0.0)
    ceaf_common: float = 0.0
    entities: tuple[float, float] = (0.0, 0.0)
    pairs_common: tuple[float, float] = (0.0, 0.0)
    pairs_gold: tuple[float, float] = (0.0, 0.0)
    pairs_predicted: tuple[float, float] = (0.0, 0.0)
    lea_common: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, gold: Entities, predicted: Entities) -> CoreferenceCounts:
        """Count what two partitions have in common.

        Args:
            gold: The entities of gold, each with its mentions.
            predicted: The entities of the prediction; its mentions may be others.

        Raises:
            DataError: A mention is in two entities of one side.

        >>> scores = CoreferenceCounts.of([["a"], ["b", "c"], ["d", "e", "f"]], [["a"], ["d", "e"]]).scores
        >>> scores.muc, round(scores.ceaf_e.f1, 2)
        (CoreferenceScore(recall=0.3333333333333333, precision=1.0, f1=0.5), 0.72)
        """
        own = [_entity_of(side) for side in (gold, predicted)]
        sides = [[set(entity) for entity in side if entity] for side in (gold, predicted)]
        common = own[0].keys() & own[1].keys()
        shared = Counter((own[0][mention], own[1][mention]) for mention in common)
        links = [fsum(comb(len(entity), 2) for entity in side) for side in sides]
        every = [comb(len(side), 2) for side in own]
        both = fsum(comb(number, 2) for number in shared.values())
        inside = [fsum(comb(number, 2) for number in _totals(shared, at).values()) for at in (0, 1)]
        neither = comb(len(common), 2) - inside[0] - inside[1] + both
        return cls(
            muc_common=(_muc(sides[0], own[1]), _muc(sides[1], own[0])),
            muc_links=(fsum(len(entity) - 1 for entity in sides[0]), fsum(len(entity) - 1 for entity in sides[1])),
            b_cubed_common=(_b_cubed(shared, gold, 0), _b_cubed(shared, predicted, 1)),
            mentions=(float(len(own[0])), float(len(own[1]))),
            ceaf_common=_ceaf(shared, gold, predicted),
            entities=(float(len(sides[0])), float(len(sides[1]))),
            pairs_common=(both, neither),
            pairs_gold=(links[0], every[0] - links[0]),
            pairs_predicted=(links[1], every[1] - links[1]),
            lea_common=(_lea(shared, gold, predicted, 0), _lea(shared, predicted, gold, 1)),
        )

    @classmethod
    def sum(cls, parts: Iterable[CoreferenceCounts]) -> CoreferenceCounts:
        """Return the counts of several documents. Mentions of different documents are never coreferent."""
        columns = zip(*(astuple(part) for part in parts), strict=True)
        sums: list[Any] = [
            tuple(map(fsum, zip(*column, strict=True))) if isinstance(column[0], tuple) else fsum(column)
            for column in columns
        ]
        return cls(*sums)

    def to_list(self) -> list[list[float]]:
        """Return plain JSON; `from_list` is the inverse."""
        return [list(part) if isinstance(part, tuple) else [part] for part in astuple(self)]

    @classmethod
    def from_list(cls, data: Sequence[Sequence[float]]) -> CoreferenceCounts:
        """Create counts from the result of `to_list`."""
        parts: list[Any] = [tuple(part) if len(part) > 1 else part[0] for part in data]
        return cls(*parts)

    @property
    def scores(self) -> CoreferenceScores:
        """The scores.

        A ratio whose denominator is 0 is 0. BLANC averages only the types of links that gold has. If gold has at most
        one mention, BLANC states whether that mention was found.
        """
        return CoreferenceScores(
            muc=_score(self.muc_common, self.muc_links),
            b_cubed=_score(self.b_cubed_common, self.mentions),
            ceaf_e=_score((self.ceaf_common, self.ceaf_common), self.entities),
            blanc=self._blanc(),
            lea=_score(self.lea_common, self.mentions),
        )

    def _blanc(self) -> CoreferenceScore:
        kinds = [
            CoreferenceScore.of((common, gold), (common, predicted))
            for common, gold, predicted in zip(self.pairs_common, self.pairs_gold, self.pairs_predicted, strict=True)
            if gold
        ]
        if not kinds:  # gold has one mention at most
            return _score((float(self.b_cubed_common[0] > 0.0),) * 2, self.mentions)
        return CoreferenceScore(*(fsum(values) / len(kinds) for values in zip(*kinds, strict=True)))


def _score(common: tuple[float, float], whole: tuple[float, float]) -> CoreferenceScore:
    return CoreferenceScore.of((common[0], whole[0]), (common[1], whole[1]))


def _entity_of(entities: Entities) -> dict[Hashable, int]:
    """Return the position of the entity of each mention."""
    found: dict[Hashable, int] = {}
    for number, entity in enumerate(entities):
        for mention in set(entity):
            if found.setdefault(mention, number) != number:
                raise DataError.of(f"Expected each mention to be in one entity, got {mention!r} in two")
    return found


def _totals(shared: Mapping[tuple[int, int], int], at: int) -> Counter[int]:
    totals: Counter[int] = Counter()
    for pair, number in shared.items():
        totals[pair[at]] += number
    return totals


def _muc(entities: Sequence[set[Hashable]], other: Mapping[Hashable, int]) -> float:
    """Return the number of links that remain if each entity is split as the other side splits it."""
    parts = (len({other.get(mention, mention) for mention in entity}) for entity in _marked(entities, other))
    return fsum(len(entity) - number for entity, number in zip(entities, parts, strict=True))


def _marked(entities: Sequence[set[Hashable]], other: Mapping[Hashable, int]) -> Iterable[set[Hashable]]:
    """Yield the entities. A mention that the other side lacks is in a tuple, which no position of an entity equals."""
    return ({mention if mention in other else ("", mention) for mention in entity} for entity in entities)


def _b_cubed(shared: Mapping[tuple[int, int], int], entities: Entities, at: int) -> float:
    return fsum(number * number / len(set(entities[pair[at]])) for pair, number in shared.items())


def _ceaf(shared: Mapping[tuple[int, int], int], gold: Entities, predicted: Entities) -> float:
    """Return the similarity of the best assignment of entities."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (most comparisons do not need it)

    table = np.zeros((len(gold), len(predicted)))
    for (row, column), number in shared.items():
        table[row, column] = 2.0 * number / (len(set(gold[row])) + len(set(predicted[column])))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return fsum(table[rows, columns].tolist())


def _lea(shared: Mapping[tuple[int, int], int], own: Entities, other: Entities, at: int) -> float:
    """Return the share of the links of each entity that the other side has, weighted by its mentions.

    An entity with one mention has one link, to itself, which only an entity with this mention alone has.
    """
    resolved: list[float] = []
    for pair, number in shared.items():
        size, size_of_other = len(set(own[pair[at]])), len(set(other[pair[1 - at]]))
        if size == 1:
            resolved.append(float(size_of_other == 1))
        else:
            resolved.append(size * comb(number, 2) / comb(size, 2))
    return fsum(resolved)
