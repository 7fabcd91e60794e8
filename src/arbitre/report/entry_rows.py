"""Entries of a corpus, paired field by field, and their classes by quality."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from math import fsum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

import numpy as np

from arbitre.comparison.levels import NONE, single_paths
from arbitre.comparison.node_tree import NodeTree
from arbitre.paths import STAR, order, parse
from arbitre.schema.describe import forces_pairs, walk
from arbitre.values import ABSENT, Json, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.inputs.records import Pair
    from arbitre.paths import Path
    from arbitre.schema.plan import Plan


Status = Literal["matched", "missing", "spurious"]


@dataclass(frozen=True, slots=True)
class FieldPair:
    """Gold and predicted value of a field (ABSENT if missing), and their quality in [0, 1].

    `reading` is the accepted form of gold that was used; ABSENT if gold has only one.
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
        full_matching: Whether every entry of the shorter list gets a partner, however low its quality, so that counts
            of pairs are not informative.
        moved: Whether entries are matched by optimal transport, so that an entry may have several partners.
        site: Site of the list, or of the entry if there is no list.
        forms: Names of the fields of which gold may accept several forms; "" for the entry itself.
        chosen: Paths of which the schema lists the values (`enum`, `const`), which are shown whole.
    """

    path: Path
    listed: bool
    names: tuple[str, ...]
    scalar: bool
    full_matching: bool = False
    moved: bool = False
    site: int = 0
    forms: frozenset[str] = frozenset()
    chosen: frozenset[Path] = frozenset()

    @classmethod
    def of(cls, plan: Plan) -> EntryLayout:
        at = next(step.site for step in walk(plan.sites) if step.path == plan.entries)
        site = plan.sites[at]
        listed = Kind.ARRAY in site.declared and not site.atomic
        forced, moved = forces_pairs(plan.sites, plan.entries), False
        if listed:
            moved = site.list.matcher.transport is not None
            site = plan.sites[site.list.items]
        fields = {one.name: plan.sites[one.site] for one in site.object.fields} | {"": site}
        forms = frozenset(name for name, below in fields.items() if below.alternatives is not None)
        names = () if site.leaf else tuple(dict.fromkeys(one.name for one in site.object.fields))
        scalar = bool(site.leaf or site.declared != {Kind.OBJECT})
        chosen = frozenset(_listed_values(plan.root.schema, plan.root.schema))
        return cls(plan.entries, listed, names, scalar, forced, moved, at, forms, chosen)

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
        columns = self.columns(levels)
        whole = columns.whole
        fields: list[dict[str, FieldPair]] = [{} for _ in columns.documents]
        for part in columns.parts:
            for at, name, cell in zip(part.entries.tolist(), part.names, part.pairs(), strict=True):
                fields[at][name] = cell
        cells = zip(columns.documents.tolist(), *columns.indices, columns.statuses, whole.pairs(), fields, strict=True)
        for document, gold_index, predicted_index, status, pair, found in cells:
            yield EntryRow(pairs[document], gold_index, predicted_index, status, pair, found)

    def columns(self, levels: Sequence[Level]) -> EntryColumns:
        """Return the entries as columns, by document: in gold order, then the spurious ones."""
        node_tree = NodeTree.of(levels)
        nodes = len(node_tree)
        lists = np.zeros(nodes + 1, dtype=np.bool_)  # the last element is for NONE (no node)
        owner = np.full(nodes + 1, NONE, dtype=np.intp)
        wholes, parts = list[_Entries](), list[EntryFields]()
        for level in single_paths(levels):
            here = slice(level.first, level.first + len(level))
            own = lists[level.parent] if self.listed else level.parent == NONE
            if level.inner:
                owner[here] = owner[level.parent]
            elif len(held := np.flatnonzero(owner[level.parent] != NONE)):
                parts.append(EntryFields.of(level, held, owner[level.parent[held]]))
            elif own.any():
                numbers = np.flatnonzero(own)
                owner[level.first + numbers] = level.first + numbers
                wholes.append(_Entries.of(node_tree, level, numbers))
            if self.listed and level.path == self.path and not level.leaf:
                lists[here] = np.isin(level.gold_kind, _LIST) & np.isin(level.predicted_kind, _LIST)
        return _sorted(wholes, parts, nodes)


def _listed_values(schema: Json, root: Json, path: Path = (), within: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the wildcard paths of which a schema lists the values; a reference is followed once on each path."""
    if not isinstance(schema, dict):
        return
    if "enum" in schema or "const" in schema:
        yield path
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and reference not in within:
        target: Json = root
        for token in parse(reference[1:]):
            target = target.get(str(token)) if isinstance(target, dict) else None
        yield from _listed_values(target, root, path, (*within, reference))
    fields = schema.get("properties")
    for name, inner in fields.items() if isinstance(fields, dict) else ():
        yield from _listed_values(inner, root, (*path, name), within)
    yield from _listed_values(schema.get("items"), root, (*path, STAR), within)
    for name in ("anyOf", "oneOf", "allOf"):
        held = schema.get(name)
        for inner in held if isinstance(held, list) else ():
            yield from _listed_values(inner, root, path, within)


@dataclass(frozen=True, eq=False, slots=True)
class EntryFields:
    """Fields of some entries at one path, or the entries themselves. All columns have the same length.

    Attributes:
        entries: Position of each field's entry.
        names: Names of the fields.
        gold: Gold values; ABSENT if missing.
        predicted: Predicted values; ABSENT if missing.
        quality: Qualities, in [0, 1].
        forms: The accepted forms of gold that were used; ABSENT if gold has no choice.
    """

    entries: Indices
    names: list[str]
    gold: list[Json]
    predicted: list[Json]
    quality: Floats
    forms: list[Json]

    @classmethod
    def of(cls, level: Level, at: Indices, entries: Indices) -> EntryFields:
        """Return some nodes of a level as fields of these entries."""
        left, right = level.left[at], level.right[at]
        names = list(map(str, level.source.tokens_of(np.where(left >= 0, left, right))))
        forms = level.source.accepted_forms(left, right)
        return cls(entries, names, *values_of(level, at), level.quality[at], forms)

    def pairs(self) -> Iterator[FieldPair]:
        """Yield the fields one by one."""
        return map(FieldPair, self.gold, self.predicted, self.quality.tolist(), self.forms)


class EntryColumns(NamedTuple):
    """The entries of some documents as columns; see `EntryRow`.

    Attributes:
        documents: Document of each entry; shape (entries,).
        indices: Gold indices and predicted indices.
        statuses: Statuses.
        masses: Masses: 1, or what is moved or left unmatched if lists are matched by transport.
        whole: The entries themselves.
        parts: Fields of the entries. If an entry has a field twice, the last one counts.
    """

    documents: Indices
    indices: tuple[list[str | None], list[str | None]]
    statuses: list[Status]
    masses: Floats
    whole: EntryFields
    parts: list[EntryFields]


class _Entries(NamedTuple):
    """Entries of one level: their documents, indices, masses and values."""

    documents: Indices
    indices: tuple[list[str | None], list[str | None]]
    masses: Floats
    whole: EntryFields

    @classmethod
    def of(cls, node_tree: NodeTree, level: Level, at: Indices) -> _Entries:
        gold, predicted = (_indices(node_tree, level, at, gold=gold) for gold in (True, False))
        masses = np.ones(len(at)) if level.scale is None else level.scale[at]
        return cls(level.document[at], (gold, predicted), masses, EntryFields.of(level, at, level.first + at))


def _sorted(wholes: Sequence[_Entries], parts: Sequence[EntryFields], nodes: int) -> EntryColumns:
    """Return the entries of all levels in order, and their fields with the positions of their entries."""
    whole = EntryFields(
        np.concatenate([np.empty(0, dtype=np.intp), *(one.whole.entries for one in wholes)]),
        [name for one in wholes for name in one.whole.names],
        [value for one in wholes for value in one.whole.gold],
        [value for one in wholes for value in one.whole.predicted],
        np.concatenate([np.empty(0), *(one.whole.quality for one in wholes)]),
        [value for one in wholes for value in one.whole.forms],
    )
    documents = np.concatenate([np.empty(0, dtype=np.intp), *(one.documents for one in wholes)])
    masses = np.concatenate([np.empty(0), *(one.masses for one in wholes)])
    gold_indices, predicted_indices = ([index for one in wholes for index in one.indices[side]] for side in (0, 1))
    spurious = np.array([value is ABSENT for value in whole.gold], dtype=np.bool_)
    places = [
        (other if value is ABSENT else index) or ""
        for value, index, other in zip(whole.gold, gold_indices, predicted_indices, strict=True)
    ]
    ranks = {place: rank for rank, place in enumerate(sorted(set(places), key=lambda place: order(f"/{place}")))}
    order_of = np.lexsort((np.array([ranks[place] for place in places], dtype=np.intp), spurious, documents))
    position = np.zeros(nodes, dtype=np.intp)
    position[whole.entries[order_of]] = np.arange(len(order_of))

    def taken(values: Sequence[_Value]) -> list[_Value]:
        return [values[at] for at in order_of.tolist()]

    gold, predicted = taken(whole.gold), taken(whole.predicted)
    return EntryColumns(
        documents[order_of],
        (taken(gold_indices), taken(predicted_indices)),
        [
            "spurious" if left is ABSENT else "missing" if right is ABSENT else "matched"
            for left, right in zip(gold, predicted, strict=True)
        ],
        masses[order_of],
        EntryFields(
            np.arange(len(order_of)),
            taken(whole.names),
            gold,
            predicted,
            whole.quality[order_of],
            taken(whole.forms),
        ),
        [replace(part, entries=position[part.entries]) for part in parts],
    )


_Value = TypeVar("_Value")
_LIST = (NONE, Kind.ARRAY)


def values_of(level: Level, at: Indices) -> tuple[list[Json], list[Json]]:
    """Return the gold and the predicted values of some nodes; ABSENT where a side has none."""
    gold, predicted = (
        _spread(level.source.values_of(rows[rows >= 0]), rows >= 0, ABSENT)
        for rows in (level.left[at], level.right[at])
    )
    return gold, predicted


def tokens_of(level: Level, at: Indices) -> tuple[list[int | str], list[int | str]]:
    """Return the keys or positions of some nodes in gold and in the prediction; "" where a side has none."""
    gold, predicted = (
        _spread(level.source.tokens_of(rows[rows >= 0]), rows >= 0, "") for rows in (level.left[at], level.right[at])
    )
    return gold, predicted


def _spread(values: list[_Value], present: Mask, other: _Value) -> list[_Value]:
    """Return the values at the places of the mask, and another value elsewhere."""
    if len(values) == len(present):
        return values
    following = iter(values)
    return [next(following) if here else other for here in present.tolist()]


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
    tokens = level.source.tokens_of(rows[present])
    if all(isinstance(place, str) for place in level.path[:-1]) and not isinstance(level.path[-1], str):
        for number, token in zip(present.tolist(), tokens, strict=True):  # a single list: half the time of the table
            found[number] = str(token)
        return found
    parents = level.parent[at[present]].tolist()
    for number, parent, token in zip(present.tolist(), parents, tokens, strict=True):
        found[number] = "/".join((*above(parent), *_positions(level.path[-1:], (token,))))
    return found


def index_of(path: Path, tokens: tuple[int | str, ...] | None) -> str | None:
    """Join the tokens at the wildcards of a path; return None if there is no node, or at the root."""
    return None if tokens is None or not path else "/".join(_positions(path, tokens))


def _positions(path: Path, tokens: tuple[int | str, ...]) -> tuple[str, ...]:
    return tuple(str(token) for place, token in zip(path, tokens, strict=True) if not isinstance(place, str))


# Classes of entries by their quality, in all parts of the report.


EntryClass = Literal["exact", "close", "low", "missing", "spurious"]

GLYPHS: Final[dict[EntryClass, str]] = {"exact": "=", "close": "≈", "low": "≠", "missing": "−", "spurious": "+"}
"""Symbol of each class, so that colour alone carries no meaning. The order is that of every list of classes."""


def class_of_pair(quality: float, close: float) -> EntryClass:
    """Return the class of a matched pair of entries.

    Args:
        quality: Quality of the pair, in [0, 1].
        close: Minimum quality of the class "close".

    >>> [class_of_pair(quality, 0.8) for quality in (1.0, 0.8, 0.79)]
    ['exact', 'close', 'low']
    """
    if quality >= 1.0:
        return "exact"
    return "close" if quality >= close else "low"


def sum_by_class(
    pairs: Iterable[tuple[float, float]], counts: Mapping[str, Any], close: float
) -> dict[EntryClass, float]:
    """Return the number (or mass) of the entries of each class.

    Args:
        pairs: Quality and mass of the matched pairs.
        counts: Total mass of the `gold`, `predicted` and `matched` entries.
        close: Minimum quality of the class "close".

    >>> sum_by_class([(1.0, 2.0), (0.5, 1.0)], {"gold": 4.0, "predicted": 3.0, "matched": 3.0}, 0.8)
    {'exact': 2.0, 'close': 0.0, 'low': 1.0, 'missing': 1.0, 'spurious': 0.0}
    """
    masses: dict[EntryClass, list[float]] = {name: [] for name in GLYPHS}
    for quality, mass in pairs:
        masses[class_of_pair(quality, close)].append(mass)
    masses["missing"].append(max(0.0, counts["gold"] - counts["matched"]))
    masses["spurious"].append(max(0.0, counts["predicted"] - counts["matched"]))
    return {name: fsum(held) for name, held in masses.items()}
