"""Entries of a corpus, paired field by field."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from arbitre.comparison.levels import NONE, single_paths
from arbitre.comparison.node_tree import NodeTree
from arbitre.matching import Candidates
from arbitre.paths import order
from arbitre.schema.describe import walk
from arbitre.values import ABSENT, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Indices
    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Pair
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan

Status = Literal["matched", "missing", "spurious"]


@dataclass(frozen=True, slots=True)
class FieldPair:
    """Gold and predicted value of a field (ABSENT if missing), and their quality in [0, 1].

    `reading` is the accepted reading of gold that was used; ABSENT if gold has no choice.
    """

    gold: Json
    predicted: Json
    quality: float
    reading: Json = ABSENT


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A matched pair of entries, or an unmatched entry, with the fields that either side has.

    An index is the position in the list of entries. If that list is inside another list or a map, the position or key
    there comes first, as in `0/3`. It is None if there is no entry, or if the entry is the whole document.
    """

    pair: Pair
    gold_index: str | None
    predicted_index: str | None
    status: Status
    whole: FieldPair
    fields: dict[str, FieldPair] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EntryLayout:
    """Location and declared structure of the entries of a plan.

    Attributes:
        path: Path of the list of entries, or of the entry if there is no list.
        listed: Whether the entries are in a list.
        names: Names of the declared fields.
        scalar: Whether an entry may be something other than an object.
        full_matching: Whether every entry of the shorter list gets a partner, however bad, so that counts of pairs
            are not informative.
        moved: Whether entries are matched by optimal transport, so that an entry may have several partners.
        site: Site of the list, or of the entry if there is no list.
        readings: Names of the fields of which gold may accept several readings; "" for the entry itself.
    """

    path: Path
    listed: bool
    names: tuple[str, ...]
    scalar: bool
    full_matching: bool = False
    moved: bool = False
    site: int = 0
    readings: frozenset[str] = frozenset()

    @classmethod
    def of(cls, plan: Plan) -> EntryLayout:
        at = next(step.site for step in walk(plan.sites) if step.path == plan.entries)
        site = plan.sites[at]
        listed = Kind.ARRAY in site.declared and not site.atomic
        forced = moved = False
        if listed:
            matcher = site.list.matcher
            free = matcher.name == "sequence" or bool(matcher.options.get("gate"))
            moved = matcher.transport is not None
            free |= matcher.transport is not None and not matcher.transport.balanced
            forced = matcher.candidates in (Candidates.ALL, Candidates.DIAGONAL) and not free
            site = plan.sites[site.list.items]
        fields = {one.name: plan.sites[one.site] for one in site.object.fields} | {"": site}
        readings = frozenset(name for name, below in fields.items() if below.alternatives is not None)
        names = () if site.leaf else tuple(dict.fromkeys(one.name for one in site.object.fields))
        scalar = bool(site.leaf or site.declared != {Kind.OBJECT})
        return cls(plan.entries, listed, names, scalar, forced, moved, at, readings)

    @property
    def single(self) -> bool:
        """Whether each document has a single list of entries."""
        return self.listed and all(isinstance(token, str) for token in self.path)

    def index(self, path: Path, tokens: tuple[int | str, ...]) -> str | None:
        """Return the index of the entry (or field of the only entry) around a node; None outside the entries."""
        stop = len(self.path) + 1
        if len(tokens) < stop:
            return None
        return index_of(path[:stop], tokens[:stop]) if self.listed else str(tokens[stop - 1])

    def rows(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> Iterator[EntryRow]:
        """Yield the entries by document: in gold order, then the spurious ones."""
        node_tree = NodeTree.of(levels)
        lists = np.zeros(len(node_tree) + 1, dtype=np.bool_)  # the last element is for NONE (no node)
        owner = np.full(len(node_tree) + 1, NONE, dtype=np.intp)
        found: dict[int, tuple[tuple[object, ...], EntryRow]] = {}
        for level in single_paths(levels):
            here = slice(level.first, level.first + len(level))
            held = np.flatnonzero(owner[level.parent] != NONE)
            own = lists[level.parent] if self.listed else level.parent == NONE
            if level.inner:
                owner[here] = owner[level.parent]
            elif len(held):
                for at, name, cell in _cells(level, held):
                    found[int(owner[level.parent[at]])][1].fields[name] = cell
            elif own.any():
                numbers = np.flatnonzero(own)
                owner[level.first + numbers] = level.first + numbers
                indices = [_indices(node_tree, level, numbers, gold=gold) for gold in (True, False)]
                for (at, _, cell), *pair in zip(_cells(level, numbers), *indices, strict=True):
                    found[level.first + at] = _entry(pairs, int(level.document[at]), cell, *pair)
            if self.listed and level.path == self.path and not level.leaf:
                lists[here] = np.isin(level.gold_kind, _LIST) & np.isin(level.predicted_kind, _LIST)
        yield from (entry for _, entry in sorted(found.values(), key=lambda item: item[0]))


_LIST = (NONE, Kind.ARRAY)


def sides(level: Level, at: Indices) -> list[tuple[list[Json], list[int | str]]]:
    """Return the values (or ABSENT) of some nodes and their keys or positions, for gold and for predicted."""
    found = []
    for rows in (level.left[at], level.right[at]):
        present = np.flatnonzero(rows >= 0)
        values: list[Json] = [ABSENT] * len(at)
        names: list[int | str] = [""] * len(at)
        for number, value, name in zip(
            present.tolist(),
            level.source.values_of(rows[present]),
            level.source.tokens_of(rows[present]),
            strict=True,
        ):
            values[number], names[number] = value, name
        found.append((values, names))
    return found


def _cells(level: Level, at: Indices) -> Iterator[tuple[int, str, FieldPair]]:
    """Yield the row, the key or position and the values of some nodes of a level."""
    (gold, gold_names), (predicted, predicted_names) = sides(level, at)
    readings = level.source.readings_of(level.left[at], level.right[at])
    for number, position in enumerate(at.tolist()):
        name = gold_names[number] if gold[number] is not ABSENT else predicted_names[number]
        yield (
            position,
            str(name),
            FieldPair(gold[number], predicted[number], float(level.quality[position]), readings[number]),
        )


def _entry(
    pairs: Sequence[Pair], document: int, whole: FieldPair, gold_index: str | None, predicted_index: str | None
) -> tuple[tuple[object, ...], EntryRow]:
    """Return a sort key and the row of an entry."""
    gold, predicted = whole.gold is not ABSENT, whole.predicted is not ABSENT
    status: Status = "matched" if gold and predicted else "missing" if gold else "spurious"
    place = (document, not gold, order("/" + ((gold_index if gold else predicted_index) or "")))
    return place, EntryRow(pairs[document], gold_index, predicted_index, status, whole)


def _indices(node_tree: NodeTree, level: Level, at: Indices, *, gold: bool) -> list[str | None]:
    """Return the indices of some nodes of a level on one side (see `index_of`)."""
    found: list[str | None] = [None] * len(at)
    if not level.path:
        return found

    @cache
    def above(node_id: int) -> tuple[str, ...]:
        return _positions(level.path[:-1], node_tree.tokens(node_id, gold=gold) or ())

    rows = (level.left if gold else level.right)[at]
    present = np.flatnonzero(rows >= 0)
    parents = level.parent[at[present]].tolist()
    for number, parent, token in zip(present.tolist(), parents, level.source.tokens_of(rows[present]), strict=True):
        found[number] = "/".join((*above(parent), *_positions(level.path[-1:], (token,))))
    return found


def index_of(path: Path, tokens: tuple[int | str, ...] | None) -> str | None:
    """Join the tokens at the wildcards of a path; return None if there is no node, or at the root."""
    return None if tokens is None or not path else "/".join(_positions(path, tokens))


def _positions(path: Path, tokens: tuple[int | str, ...]) -> tuple[str, ...]:
    return tuple(str(token) for place, token in zip(path, tokens, strict=True) if not isinstance(place, str))
