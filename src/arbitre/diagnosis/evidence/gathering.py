"""Count missing values by kind of value and by position in the list, and test where they gather."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.comparison.levels import NONE
from arbitre.comparison.node_tree import Verdict
from arbitre.engine.columns.column import Column, below_transport
from arbitre.paths import order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.arrays import Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.causes.taxonomy import Taxonomy
    from arbitre.values import Json

    Cell = tuple[str, str, str]
    """Path, property and group of some values."""

DIGITS: Final = "digits"
LENGTH: Final = "length"
POSITION: Final = "position"
PROPERTIES: Final = (DIGITS, LENGTH, POSITION)
LENGTHS: Final = ("0", "1-9", "10-19", "20-49", "50-99", "100+")
_STARTS: Final = np.array([1, 10, 20, 50, 100])
POSITIONS: Final = ("only", "first", "middle", "last")
MAX_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Gathering:
    """The gold values of one group at a path, and how many of them are missing.

    Attributes:
        path: Wildcard path.
        property: What the values are grouped by: "digits" (of the integer part of numbers), "length" (of texts, in
            characters) or "position" (of items in their list).
        group: The group: a number of digits, a range of lengths, or "only", "first", "middle" or "last".
        gold: Number of gold values.
        gold_share: Share of the gold values of all groups.
        missing: Number of missing values.
        missing_share: Share of the missing values of all groups; None if none is missing.
        quality: Mean quality of the gold values; a missing value counts 0.
        p: Fisher's exact test: whether the values of this group are missing as often as those of the other groups. None
            if there is no other group, or if none or all of the values of all groups are missing.
        p_adjusted: `p`, adjusted for the number of tests in the corpus (Benjamini and Hochberg, 1995).
    """

    path: str
    property: str
    group: str
    gold: int
    gold_share: float
    missing: int
    missing_share: float | None
    quality: float
    p: float | None
    p_adjusted: float | None


def count_groups(taxonomy: Taxonomy, documents: int) -> list[dict[Cell, tuple[int, int, float]]]:
    """Count the gold values of each group, the missing ones, and the sum of their qualities, for each document.

    Values inside missing, split or merged items, and inside values of the wrong type, are left out: they are missing
    with what contains them. Lists that are matched by transport are left out, too.
    """
    counted: list[defaultdict[Cell, list[tuple[bool, float]]]] = [defaultdict(list) for _ in range(documents)]
    longest = _longest(taxonomy)
    for level in taxonomy.levels:
        gold = _gold_values(taxonomy, level)
        at = gold.nonzero()[0]
        if not len(at):
            continue
        missing = taxonomy.verdict[level.first + at] == Verdict.MISSING
        texts = level.texts()
        groups: list[tuple[str, list[str | None]]] = []
        if level.leaf:
            kinds = [_kind_of(value) for value in level.source.values_of(level.left[at])]
            groups += [
                (name, [kind[1] if kind is not None and kind[0] == name else None for kind in kinds])
                for name in (DIGITS, LENGTH)
            ]
        if level.item:
            groups.append((POSITION, _positions(level, at, longest)))
        columns = level.document[at].tolist(), missing.tolist(), level.quality[at].tolist(), at.tolist()
        for name, names in groups:
            for group, document, absent, quality, node in zip(names, *columns, strict=True):
                if group is not None:
                    counted[document][texts[node], name, group].append((absent, quality))
    return [
        {
            cell: (len(values), sum(absent for absent, _ in values), math.fsum(quality for _, quality in values))
            for cell, values in cells.items()
        }
        for cells in counted
    ]


def gatherings(counts: Mapping[Cell, tuple[int, int, float]]) -> tuple[Gathering, ...]:
    """Compare each group with the other groups of the same path and property.

    Args:
        counts: Numbers of gold values and of missing values, and sums of qualities, over all documents.
    """
    from scipy.stats import false_discovery_control, fisher_exact  # noqa: PLC0415  (takes 0.4 s to import)

    totals: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for (path, name, _), (gold, missing, _) in counts.items():
        totals[path, name][0] += gold
        totals[path, name][1] += missing
    cells = sorted(counts, key=lambda cell: (order(cell[0]), PROPERTIES.index(cell[1]), _rank(cell[2])))
    tests: dict[Cell, float] = {}
    for cell in cells:
        (gold, missing, _), (all_gold, all_missing) = counts[cell], totals[cell[:2]]
        if gold < all_gold and 0 < all_missing < all_gold:
            others = all_missing - missing, all_gold - gold - all_missing + missing
            tests[cell] = min(float(fisher_exact(np.array([[missing, gold - missing], others]))[1]), 1.0)
    adjusted = dict(zip(tests, false_discovery_control([*tests.values()]).tolist(), strict=True)) if tests else {}
    rows = []
    for cell in cells:
        (gold, missing, quality), (all_gold, all_missing) = counts[cell], totals[cell[:2]]
        share = missing / all_missing if all_missing else None
        p_values = tests.get(cell), adjusted.get(cell)
        rows.append(Gathering(*cell, gold, gold / all_gold, missing, share, quality / gold, *p_values))
    return tuple(rows)


def _gold_values(taxonomy: Taxonomy, level: Level) -> Mask:
    """Return which nodes are gold values that count: items and leaves that are not inside a fault."""
    column = level.source
    if level.inner or not (level.leaf or level.item) or (isinstance(column, Column) and below_transport(column)):
        return np.zeros(len(level), dtype=np.bool_)
    ids = np.arange(level.first, level.first + len(level))
    owner = taxonomy.owner[ids]
    counting: Mask = (level.left >= 0) & ((owner == NONE) | (owner == ids))
    return counting


def _longest(taxonomy: Taxonomy) -> Indices:
    """Return the number of gold items below each node; shape (nodes,)."""
    sizes = np.zeros(sum(map(len, taxonomy.levels)), dtype=np.intp)
    for level in taxonomy.levels:
        if level.item and not level.inner:
            at = (level.left >= 0).nonzero()[0]
            positions = np.array(level.source.tokens_of(level.left[at]), dtype=np.intp)
            np.maximum.at(sizes, level.parent[at], positions + 1)
    return sizes


def _positions(level: Level, at: Indices, longest: Indices) -> list[str | None]:
    positions = np.array(level.source.tokens_of(level.left[at]), dtype=np.intp)
    sizes = longest[level.parent[at]]
    codes = np.where(sizes == 1, 0, np.where(positions == 0, 1, np.where(positions == sizes - 1, 3, 2)))
    return [POSITIONS[code] for code in codes.tolist()]


def _kind_of(value: Json) -> tuple[str, str] | None:
    """Return the property and the group of a single value; None for truth values, null and containers."""
    if isinstance(value, str):
        return LENGTH, LENGTHS[int(_STARTS.searchsorted(len(value), side="right"))]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        digits = len(str(abs(int(value))))
        return DIGITS, str(digits) if digits <= MAX_DIGITS else f"{MAX_DIGITS + 1}+"
    return None


def _rank(group: str) -> int:
    if group in POSITIONS:
        return POSITIONS.index(group)
    return int(group.rstrip("+").partition("-")[0])
