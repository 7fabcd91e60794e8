"""Examples of a cause: some of its faults, with their places in the documents before any change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.cause import CauseExample
from arbitre.parsing.fast_json import compact
from arbitre.paths import STAR, parse, value_at
from arbitre.values import ABSENT, equal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.paths import Path
    from arbitre.values import Json

EXAMPLES: Final = 20
"""Maximum number of examples of a cause."""

COSTLIEST: Final = 10
"""Number of the most costly faults among them. The others are drawn at random."""

ALWAYS: Final = 3
"""Number of examples that are kept whatever their size."""

IN_PARTS: Final = frozenset({"split", "merged"})
"""Classes of faults that involve several items of a list, so that no single value of gold can be corrected."""

MAX_CHARACTERS: Final = 20_000
"""Maximum number of characters of the values of all examples of a cause, as JSON; further examples are left out."""

SEED: Final = 0
"""Random seed of the examples that are drawn."""


def examples_of(sample: Sample, faults: Sequence[SampleFault]) -> tuple[CauseExample, ...]:
    """Return examples of a cause: the most costly faults, then a random sample of the others.

    Args:
        sample: The documents in which the cause was found, with the changes of the causes found before.
        faults: The faults of the cause; of equally costly ones, the first come first.
    """
    ranked = sorted(faults, key=lambda fault: -fault.lost)
    first = {fault.document: fault.number for fault in reversed(ranked)}  # the most costly of each document
    ranked.sort(key=lambda fault: first[fault.document] != fault.number)
    costliest, others = ranked[:COSTLIEST], ranked[COSTLIEST:]
    drawn = np.random.default_rng(SEED).permutation(len(others))[: EXAMPLES - COSTLIEST].tolist()
    kept, left = list[CauseExample](), MAX_CHARACTERS
    for number, fault in enumerate((*costliest, *(others[at] for at in drawn))):
        left -= (size := sum(len(compact(value)) for value in (fault.gold, fault.predicted) if value is not ABSENT))
        if number < ALWAYS or left >= 0:
            kept.append(example_of(sample, fault, costliest=number < len(costliest)))
        else:
            left += size
    return tuple(kept)


def example_of(sample: Sample, fault: SampleFault, *, costliest: bool = True) -> CauseExample:
    """Return a fault as an example, with its places in the documents before any change.

    A value that the prediction has only after a change has no place there.
    """
    original = sample.before or sample
    pair = original.pairs[fault.document]
    predicted_pointer = fault.predicted_pointer
    if predicted_pointer is not None:
        value = _part(pair.predicted, predicted_pointer)
        if value is ABSENT or not equal(value, fault.predicted):
            predicted_pointer = None
    place, creates = (fault.gold_pointer, ()) if fault.gold is not ABSENT else _addition(sample, fault, pair.gold)
    gold = fault.gold
    if gold is ABSENT and place is not None and not creates:
        gold = _part(pair.gold, place)  # null, or another value that counts as absent
    predicted, path = fault.predicted, sample.schema_path(fault.path)
    if predicted is ABSENT and path and isinstance(path[-1], int):
        predicted = None  # without a value at a position, the values after it would be at other positions
    return CauseExample(
        pair.id,
        pair.run,
        fault.path,
        fault.gold_pointer,
        predicted_pointer,
        gold,
        predicted,
        *_entry_indices(original, fault.document, place, predicted_pointer),
        None if fault.fault in IN_PARTS else place,
        costliest,
        () if fault.fault in IN_PARTS else creates,
    )


def _addition(sample: Sample, fault: SampleFault, gold: Json) -> tuple[str | None, tuple[str, ...]]:
    """Return the place at which a predicted value would be added to the original gold; see `Sample.addition`."""
    place, creates = sample.addition(fault) or (None, ())
    if place is None:
        return None, ()
    tokens = place.split("/")
    around, within = ("/".join(tokens[: len(tokens) - size]) for size in (len(creates) + 1, len(creates)))
    holder = _part(gold, around)
    if holder is ABSENT or (creates and (not isinstance(holder, dict) or _part(gold, within) is not ABSENT)):
        return None, ()
    return place, creates


def _entry_indices(
    original: Sample, document: int, place: str | None, predicted_pointer: str | None
) -> tuple[str | None, str | None]:
    """Return the indices, in gold and in the prediction, of the entry around a place; None outside the entries.

    If the root is the only entry, its fields count as entries.
    """
    path, known = original.plan.entries, original.entry_pointers
    for end, gold in ((place, True), (predicted_pointer, False)):
        around = "/".join((end or "").split("/")[: len(path) + 2])
        if (document, gold, around) in known:
            ends = known[document, gold, around]
            return _index(path, ends[0]), _index(path, ends[1])
    return None, None


def _index(entries: Path, pointer: str | None) -> str | None:
    """Return the position or key of an entry in its list, after those of the lists and maps around it.

    >>> _index(("pages", STAR, "people"), "/pages/0/people/3"), _index((), "/3")
    ('0/3', '3')
    """
    tokens, path = parse(pointer or ""), (*entries, STAR)
    if len(tokens) < len(path):  # the list is not a list in one of the documents
        return None
    return "/".join(str(token) for place, token in zip(path, tokens, strict=True) if place is STAR)


def _part(value: Json, pointer: str) -> Json:
    """Return the part of a value at a JSON Pointer; ABSENT if there is none."""
    try:
        found: Json = value_at(value, pointer)
    except (LookupError, TypeError, ValueError):
        return ABSENT
    return found
