"""Matrices of the quality of all possible pairs of entries of a document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.engine import compare_to_levels, pair_qualities, pairwise_qualities
from arbitre.errors import DataError
from arbitre.matching import catalogue
from arbitre.metricity.entry_pool import EntryColumn
from arbitre.metricity.metricity import metricity
from arbitre.paths import STAR
from arbitre.report.entry_rows import EntryLayout
from arbitre.values import SIDES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.arrays import Floats
    from arbitre.inputs.open_files import Workers
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Axis = dict[str, int]
    """Row or column of the matrix for each entry index of one side."""

MAX_CELLS: Final = 3_600
"""Maximum number of pairs of entries for computing the matrix of a document."""

MAX_TOTAL_CELLS: Final = 24_000
"""Maximum total number of pairs in the matrices of a report; worst documents come first."""

MAX_POOL: Final = 60
"""Maximum number of entries of both sides for computing their metricity, which needs all distances between them."""

_DIGITS: Final = 4
_SAME: Final = 1e-9


class MatrixInput(NamedTuple):
    """Rows of an aligned document, their gold and predicted entries by side, and its transport plan, if any."""

    rows: Sequence[Mapping[str, Any]]
    values: Sequence[Mapping[str, Json]]
    plan: Mapping[str, Any] | None = None


class _Task(NamedTuple):
    """Input of one matrix. If `pooled` is set, the distances within each side are computed too.

    `matched` contains the row, the column and the known quality of each matched pair.
    """

    gold: Sequence[Json]
    predicted: Sequence[Json]
    pooled: bool
    matched: Sequence[tuple[int, int, float]]
    plan: Mapping[str, Any] | None


@dataclass(eq=False, slots=True)
class QualityMatrices:
    """Computes the quality matrices of the documents of a report, within the size limits."""

    plan: Plan
    left: int = MAX_TOTAL_CELLS
    entries: EntryLayout = field(init=False)

    def __post_init__(self) -> None:
        self.entries = EntryLayout.of(self.plan)
        if self.entries.moved:  # a single pair must be matched to get its quality
            sites = list(self.plan.sites)
            site = sites[self.entries.site]
            sites[self.entries.site] = replace(site, list=replace(site.list, matcher=catalogue.build("hungarian")))
            self.plan = replace(self.plan, sites=tuple(sites))

    def of(self, documents: Iterable[MatrixInput], processes: Workers | None = None) -> list[dict[str, Any] | None]:
        """Compute the quality matrix and the metricity of each document, in order.

        Args:
            documents: The documents.
            processes: Worker processes that compute the matrices; None for this process.

        Returns:
            Rounded qualities of gold (rows) and predicted (columns) in list order, with None for pairs that cannot be
            matched; `plan`; and the metricity of the distances. None if there is no single list of entries, if there
            are too many, or if entries compare differently outside their document.
        """
        admitted = [self._admitted(document) if self.entries.single else None for document in documents]
        tasks = [task for task in admitted if task is not None]
        computed = iter(map(self._matrix, tasks) if processes is None else processes.map(self._matrix, tasks))
        return [None if task is None else next(computed) for task in admitted]

    def _admitted(self, document: MatrixInput) -> _Task | None:
        """Return the input of the matrix of a document and deduct its cells from the budget.

        Returns None if there are no cells or if they exceed the budget.
        """
        axes = axes_of(document.rows)
        held = [
            {row[f"{side}_index"]: value[side] for row, value in zip(*document[:2], strict=True) if side in value}
            for side in SIDES
        ]
        gold, predicted = ([found[name] for name in axis] for axis, found in zip(axes, held, strict=True))
        cells, pool = len(gold) * len(predicted), len(gold) + len(predicted)
        if not cells or cells > min(MAX_CELLS, self.left):
            return None
        has_aliases = any(site.object.aliases for site in self.plan.sites)  # aliases apply only to predictions
        pooled = pool <= MAX_POOL and pool**2 <= self.left and not has_aliases
        self.left -= pool**2 if pooled else cells
        return _Task(gold, predicted, pooled, _matched(document.rows, axes), document.plan)

    def _matrix(self, task: _Task) -> dict[str, Any] | None:
        gold, predicted, pooled = task[:3]
        pool = [*gold, *predicted]
        whole = self._qualities(pool, pool) if pooled else self._qualities(gold, predicted)
        block = whole[: len(gold), len(gold) :] if pooled else whole
        if not all(abs(block[row, column] - quality) <= _SAME for row, column, quality in task.matched):
            return None
        known = not np.isnan(whole).any()
        return {
            "quality": [[None if np.isnan(one) else round(one, _DIGITS) for one in row] for row in block.tolist()],
            "plan": task.plan,
            "metricity": metricity(1.0 - whole, pool=pooled).to_dict() if known else None,
        }

    def _qualities(self, gold: Sequence[Json], predicted: Sequence[Json]) -> Floats:
        """Compute the quality of every pair of entries, each in its own document; nan if not matched."""
        if self.entries.full_matching and (table := self._together(gold, predicted)) is not None:
            return table
        left = [self._document_of([entry]) for entry in gold for _ in predicted]
        right = [self._document_of([entry]) for _ in gold for entry in predicted]
        qualities = np.full(len(left), np.nan)
        for level in compare_to_levels(self.plan, left, right):
            if level.item and not level.inner and level.path == (*self.entries.path, STAR):
                qualities[level.document[level.paired]] = level.quality[level.paired]
        return qualities.reshape(len(gold), len(predicted))

    def _together(self, gold: Sequence[Json], predicted: Sequence[Json]) -> Floats | None:
        """Compute the qualities from a single pair of documents; None if that does not give every pair.

        If a pair of entries is matched whatever its quality, it needs no document of its own. Takes two thirds of the
        time (nested lists of 20 entries).
        """
        documents = [self._document_of(entries) for entries in (gold, predicted)]
        try:
            entries = EntryColumn.of(self.plan, documents[:1], documents[1:])
        except DataError:
            return None
        is_gold = entries.column.root_rows(entries.rows) == 0
        left, right = entries.rows[is_gold], entries.rows[~is_gold]
        if (len(left), len(right)) != (len(gold), len(predicted)):
            return None
        if gold is not predicted or not self.plan.certificate.symmetric:
            return pairwise_qualities(entries.column, left, right)
        upper = np.triu_indices(len(left))  # a symmetric distance needs only one direction
        table = np.empty((len(left), len(right)))
        table[upper] = pair_qualities(entries.column, left[upper[0]], right[upper[1]])
        table.T[upper] = table[upper]
        return table

    def _document_of(self, entries: Sequence[Json]) -> Json:
        """Return a document that contains only these entries, in the list where the schema has them."""
        made: Json = [*entries]
        for token in reversed(self.entries.path):
            made = {token: made}
        return made


def axes_of(rows: Sequence[Mapping[str, Any]]) -> tuple[Axis, Axis]:
    """Return the matrix rows of the gold entries and the columns of the predicted entries, in list order."""
    gold, predicted = ({row[f"{side}_index"] for row in rows} - {None} for side in SIDES)
    return _numbered(gold), _numbered(predicted)


def _numbered(names: set[str]) -> Axis:
    """Return the position of each entry in the matrix, given the indices of the entries in their list, as text."""
    return {name: number for number, name in enumerate(sorted(names, key=int))}


def _matched(rows: Sequence[Mapping[str, Any]], axes: tuple[Axis, Axis]) -> list[tuple[int, int, float]]:
    """Return the row, the column and the quality of the matched pairs."""
    return [
        (axes[0][row["gold_index"]], axes[1][row["predicted_index"]], row["entry"]["quality"])
        for row in rows
        if row["status"] == "matched"
    ]


def plan_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the rounded transport plan of a list of entries, or None if it is too large.

    `cells` are (row, column, mass) of the matrix; `gold` and `predicted` are the (total mass, unmatched mass) of each
    entry.
    """
    axes = axes_of(rows)
    if len(axes[0]) * len(axes[1]) > MAX_CELLS:
        return None
    cells = []
    sides = [[(0.0, 0.0)] * len(axis) for axis in axes]
    for row in rows:
        mass = round(row["mass"], _DIGITS)
        places = [axis.get(row[f"{side}_index"]) for side, axis in zip(SIDES, axes, strict=True)]
        for side, place, own in zip(sides, places, row["masses"], strict=True):
            if place is not None:
                spare = mass if row["status"] != "matched" else side[place][1]
                side[place] = round(own, _DIGITS), spare
        if row["status"] == "matched" and mass:
            cells.append((*places, mass))
    return {"cells": sorted(cells), "gold": sides[0], "predicted": sides[1]}


def shares_of(rows: Sequence[Mapping[str, Any]], plan: Mapping[str, Any] | None) -> dict[tuple[int, int], float]:
    """Return the share of a gold entry (row) matched to a predicted entry (column), in (0, 1]; 1 if one to one."""
    if plan is not None:
        return {(row, column): mass / plan["gold"][row][0] for row, column, mass in plan["cells"]}
    gold, predicted = axes_of(rows)
    matched = (one for one in rows if one["status"] == "matched")
    return {(gold[one["gold_index"]], predicted[one["predicted_index"]]): 1.0 for one in matched}
