"""Artificial faults in lists of entries, to test which score reacts to which fault under a matching."""

from __future__ import annotations

from itertools import islice
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import of_nodes
from arbitre.engine import compare_to_levels
from arbitre.errors import ArbitreError
from arbitre.paths import wildcard
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from arbitre.schema import Plan
    from arbitre.values import Json

EntryJson = dict[str, Any]

_NOISE: Final = 0.1
"""Share of letters that are replaced in a noisy text."""


def omission(entries: Sequence[EntryJson], at: Collection[int], _: np.random.Generator) -> list[EntryJson]:
    """Return the entries without those at these positions."""
    return [entry for position, entry in enumerate(entries) if position not in at]


def duplicate(entries: Sequence[EntryJson], at: Collection[int], _: np.random.Generator) -> list[EntryJson]:
    """Return the entries with those at these positions repeated immediately after the original."""
    return [entry for position, entry in enumerate(entries) for _ in range(1 + (position in at))]


def merge(entries: Sequence[EntryJson], at: Collection[int], _: np.random.Generator) -> list[EntryJson]:
    """Return the entries with each at these positions merged with the next: joins lists, keeps other fields."""
    merged: list[EntryJson] = []
    for position, entry in enumerate(entries):
        if position - 1 in at:
            lists = {key: value for key, value in entry.items() if isinstance(value, list)}
            merged[-1] = merged[-1] | {key: [*merged[-1].get(key, []), *value] for key, value in lists.items()}
        else:
            merged.append(entry)
    return merged


def swap(entries: Sequence[EntryJson], at: Collection[int], rng: np.random.Generator) -> list[EntryJson]:
    """Return the entries with one random differing value swapped between each at these positions and the next."""
    swapped = list(entries)
    for position in sorted(at):
        entry, next_entry = swapped[position : position + 2]
        differ = [key for key in entry if key in next_entry and entry[key] != next_entry[key]]
        if differ:
            key = differ[int(rng.integers(len(differ)))]
            swapped[position : position + 2] = entry | {key: next_entry[key]}, next_entry | {key: entry[key]}
    return swapped


def noise(entries: Sequence[EntryJson], at: Collection[int], rng: np.random.Generator) -> list[EntryJson]:
    """Return the entries with one letter in ten, at least one, replaced in each text at these positions."""
    return [_replace_letters(entry, rng) if position in at else entry for position, entry in enumerate(entries)]


def _replace_letters(value: Json, rng: np.random.Generator) -> Json:
    if isinstance(value, str):
        characters, letters = list(value), [at for at, char in enumerate(value) if char.isalpha()]
        for at in rng.permutation(letters)[: max(1, round(_NOISE * len(letters)))].tolist():
            others = ascii_lowercase.replace(characters[at], "")
            characters[at] = others[int(rng.integers(len(others)))]
        return "".join(characters)
    if isinstance(value, list):
        return [_replace_letters(item, rng) for item in value]
    return {key: _replace_letters(item, rng) for key, item in value.items()} if isinstance(value, dict) else value


FAULTS: Final[Mapping[str, Callable[[Sequence[EntryJson], Collection[int], np.random.Generator], list[EntryJson]]]] = {
    "omission": omission,
    "duplicate": duplicate,
    "merge": merge,
    "swap": swap,
    "noise": noise,
}
"""The fault functions by name; each takes entries, positions and a random generator, and returns faulty entries."""


def plant_faults(
    lists: Sequence[Sequence[EntryJson]], *, share: float = 0.2, seed: int = 0
) -> dict[str, list[list[EntryJson]]]:
    """Plant each kind of fault into lists of entries.

    All faults affect the same entries. Affected entries are never adjacent, and a list of two or more entries has at
    least one.

    Args:
        lists: Lists of entries.
        share: Approximate share of affected entries, in (0, 0.5].
        seed: Random seed.

    Returns:
        The faulty lists by name of the fault; the original lists under "none".

    Raises:
        ArbitreError: `share` is out of range.

    >>> plant_faults([[{"name": "Ada"}, {"name": "Bob"}]])["duplicate"]
    [[{'name': 'Ada'}, {'name': 'Ada'}, {'name': 'Bob'}]]
    """
    if not 0.0 < share <= 0.5:  # noqa: PLR2004
        raise ArbitreError.of(
            f"Expected `share` to be above 0 and at most 0.5, got {share}", hint="Affected entries are never adjacent."
        )
    faulty = {"none": [list(entries) for entries in lists]}
    for name, fault in FAULTS.items():
        rng, others = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        faulty[name] = [fault(entries, _affected_positions(len(entries), share, rng), others) for entries in lists]
    return faulty


def _affected_positions(size: int, share: float, rng: np.random.Generator) -> frozenset[int]:
    """Draw the affected positions of a list of this size; the position after each one is not affected."""
    free = np.arange(0, size - 1, 2)
    return frozenset(rng.choice(free, min(len(free), max(1, round(share * size))), replace=False).tolist())


def score_faults(plan: Plan, gold: Sequence[Json], faulty: Mapping[str, Sequence[Json]]) -> dict[str, Scores]:
    """Return the pooled scores of the entries by name of the fault. Raises DataError and SolverError."""
    every = [document for documents in faulty.values() for document in documents]
    levels = compare_to_levels(plan, [*gold] * len(faulty), every)
    tallies = map(Tally.of, of_nodes(levels, wildcard(plan.entries), len(every)))
    return {name: Scores(Tally.sum(islice(tallies, len(documents)))) for name, documents in faulty.items()}
