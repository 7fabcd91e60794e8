"""Suggests a gate for the matching of the entries, from pairs of entries that are matched by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from arbitre.corpus.chance import BATCH, MAX_DOCUMENTS, Reservoir, chance_comparisons
from arbitre.engine import compare_batch
from arbitre.errors import DataError, check_integer
from arbitre.paths import STAR, wildcard
from arbitre.schema.describe import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.arrays import Floats
    from arbitre.inputs.records import Pair
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

T = TypeVar("T")

QUANTILE: Final = 0.95
"""Share of the chance pairs that are below the suggested gate."""

MAX_COMPARISONS: Final = 128
"""Maximum number of comparisons of a prediction with another document's gold."""

DIGITS: Final = 3
"""Number of decimals of a gate; it is rounded up."""


@dataclass(frozen=True, slots=True)
class SuggestedGate:
    """A suggested gate (minimum quality) for matching entries. It is not applied.

    Attributes:
        path: Wildcard path of the list of entries.
        gate: Quality that 95% of the chance pairs do not reach: entries of a prediction matched with those of another
            document's gold.
        chance_pairs: Number of chance pairs.
        pairs: Number of matched pairs in the evaluation, each prediction with its own gold.
        below: Number of these that are below the gate. With the gate, they would not be matched.
        seed: Random seed.
        sampled: Whether the chance pairs are a sample.
        overlay: The gate, added to the settings of the overlay that was given.
    """

    path: str
    gate: float
    chance_pairs: int
    pairs: int
    below: int
    seed: int
    sampled: bool
    overlay: dict[str, Json]

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {name: getattr(self, name) for name in self.__slots__}


def suggest_gate(plan: Plan, pairs: Iterable[Pair], *, seed: int = 0) -> SuggestedGate:
    """Suggest a gate for the matching of the entries.

    Args:
        plan: The compiled schema. It matches the entries by `hungarian`, without a gate.
        pairs: The documents of the corpus.
        seed: Random seed of the sample of chance pairs.

    Returns:
        The gate, and the number of matched pairs below it.

    Raises:
        DataError: The entries are not matched by `hungarian` without a gate, there is only one document, or nothing is
            matched.
        OptionError: The seed is negative.
    """
    check_integer("seed", seed)
    path = wildcard(plan.entries)
    matchers = [plan.sites[step.site].list.matcher for step in walk(plan.sites) if step.path == plan.entries]
    if any(matcher.name != "hungarian" or not matcher.full_matching for matcher in matchers):
        raise DataError.of(
            "Expected the entries to be matched by hungarian without a gate",
            pointer=path,
            hint="Remove `match` from the list of entries, or choose the list with an overlay.",
        )
    sample, documents = Reservoir(seed), 0
    own: list[Floats] = []
    for batch in _batches(_comparable(plan, pairs)):
        own.append(_qualities(plan, [(pair.gold, pair.predicted) for pair in batch]))
        documents += len(batch)
        for pair in batch:
            sample.add(pair)
    drawn = chance_comparisons(sorted(sample(), key=lambda pair: pair.key), seed)
    compared = drawn[:MAX_COMPARISONS]
    chance = [_qualities(plan, [(one.gold, one.predicted) for one in batch]) for batch in _batches(compared)]
    by_chance, matched = (np.concatenate([np.empty(0), *qualities]) for qualities in (chance, own))
    if not len(by_chance):
        raise DataError.of(
            "Expected entries of at least two documents, got none to match",
            pointer=path,
            hint="A gate is derived from predictions compared with the gold of other documents. If the schema has no "
            "list of entries, mark it with `entries`.",
        )
    scale = 10**DIGITS
    gate = math.ceil(float(np.quantile(by_chance, QUANTILE)) * scale - 1e-9) / scale
    below = int(np.count_nonzero(matched < gate))
    sampled = documents > MAX_DOCUMENTS or len(compared) < len(drawn)
    overlay = plan.overlay_with({path: {"match": {"hungarian": {"gate": gate}}}})
    return SuggestedGate(path, gate, len(by_chance), len(matched), below, seed, sampled, overlay)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _comparable(plan: Plan, pairs: Iterable[Pair]) -> Iterable[Pair]:
    """Yield the pairs that can be compared."""
    for pair in pairs:
        try:
            plan.check_pair(pair.gold, pair.predicted)
        except DataError:
            continue
        yield pair


def _qualities(plan: Plan, documents: Sequence[tuple[Json, Json]]) -> Floats:
    """Return the qualities of the matched pairs of entries of some pairs of documents."""
    result = compare_batch(plan, [gold for gold, _ in documents], [predicted for _, predicted in documents])
    path = (*plan.entries, STAR)
    levels = [level for level in result.levels(plan.entries) if level.item and level.path == path and not level.inner]
    return np.concatenate([np.empty(0), *(level.quality[level.paired] for level in levels)])
