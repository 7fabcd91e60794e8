"""Where the faults of a corpus come from.

* Source texts: whether a missing or spurious value occurs in the text that was given to the model (`SourceText`).
* Neighbours: whether a spurious value is in the gold of the document before or after (`NeighbourCounts`).
* Groups: whether some gold values, such as long numbers or last items, are missing more often (`MissingGroup`).

`evidence_of` returns the contribution of some documents; `EvidenceTotals` adds them up.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.arrays import exact_parts
from arbitre.comparison.levels import NONE
from arbitre.comparison.node_tree import Verdict
from arbitre.engine.columns.column import Column, below_transport
from arbitre.inputs.source_search import SourceText, words
from arbitre.paths import STAR, escape, order
from arbitre.storage.columns import digest
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeGuard

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.comparison.levels import Level
    from arbitre.diagnosis.faults import FaultResults, FaultRows
    from arbitre.diagnosis.taxonomy import Taxonomy
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.records import Pair
    from arbitre.inputs.source_texts import SourceTexts
    from arbitre.values import Json


# Source texts: whether a value occurs in the text that was given to the model.


def search_key(value: str | float) -> str:
    """Return a text that is equal for values that the search does not distinguish.

    >>> search_key("Barthou  (Louis)") == search_key("barthou, louis"), search_key(2), search_key(2.0)
    (True, '#2', '#2')
    """
    return words(value) if isinstance(value, str) else f"#{int(value) if value == int(value) else value}"


def searchable_values(path: str, value: Json) -> Iterator[tuple[str, str | float]]:
    """Yield the texts and numbers in a value with their wildcard paths.

    Booleans, null, texts without letters and digits, and empty objects and lists cannot be searched.

    Args:
        path: Wildcard path of the value.
        value: The value.

    >>> list(searchable_values("/people/*", {"name": "Barthe", "pages": [2, None]}))
    [('/people/*/name', 'Barthe'), ('/people/*/pages/*', 2)]
    """
    stack: list[tuple[str, Json]] = [(path, value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            stack += [(f"{path}/{escape(key)}", child) for key, child in reversed(value.items())]
        elif isinstance(value, list):
            stack += [(f"{path}/{escape(STAR)}", child) for child in reversed(value)]
        elif _is_searchable(value):
            yield path, value


def _is_searchable(value: Json) -> TypeGuard[str | float]:
    return bool(words(value)) if isinstance(value, str) else type(value) in {int, float}


def keys_by_path(value: Json, paths: Collection[str]) -> dict[str, set[str]]:
    """Return the search keys of the texts and numbers at some wildcard paths of a document.

    Values with the same path are visited together: each path is built once, not once for each value.

    >>> document = {"people": [{"name": "Jean", "pages": [2]}, {"name": "Marie", "pages": [3, 2.0]}]}
    >>> {path: sorted(keys) for path, keys in keys_by_path(document, {"/people/*/pages/*", "/date"}).items()}
    {'/people/*/pages/*': ['#2', '#3']}
    """
    found: dict[str, set[str]] = {}
    pending: list[tuple[str, list[Json]]] = [("", [value])]
    while pending:
        path, values = pending.pop()
        if path in paths and (keys := {search_key(one) for one in values if _is_searchable(one)}):
            found[path] = keys
        fields: defaultdict[str, list[Json]] = defaultdict(list)
        for one in values:
            for key, child in one.items() if isinstance(one, dict) else ():
                fields[key].append(child)
        if items := [item for one in values if isinstance(one, list) for item in one]:
            pending.append((f"{path}/{escape(STAR)}", items))
        pending += [(f"{path}/{escape(key)}", children) for key, children in fields.items()]
    return found


# Groups of gold values, by kind and by position in the list: whether some are missing more often than others.


if TYPE_CHECKING:
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
_DIGIT_GROUPS: Final = (*map(str, range(1, MAX_DIGITS + 1)), f"{MAX_DIGITS + 1}+")
_GROUPS: Final = sorted(
    [(DIGITS, group) for group in _DIGIT_GROUPS]
    + [(LENGTH, group) for group in LENGTHS]
    + [(POSITION, group) for group in POSITIONS]
)
"""Property and group of all groups, in alphabetical order."""
_NUMBERS: Final = {group: number for number, group in enumerate(_GROUPS)}
_LENGTH_NUMBERS: Final = np.array([_NUMBERS[LENGTH, group] for group in LENGTHS], dtype=np.intp)
_POSITION_NUMBERS: Final = np.array([_NUMBERS[POSITION, group] for group in POSITIONS], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class MissingGroup:
    """A group of gold values at a path, such as those with three digits, and how many of them are missing.

    Attributes:
        path: Wildcard path.
        property: What the values are grouped by: "digits" (of the integer part of numbers), "length" (of texts, in
            characters) or "position" (of items in their list).
        group: The group: a number of digits, a range of lengths, or "only", "first", "middle" or "last".
        gold: Number of gold values.
        gold_share: Share of the gold values of all groups.
        missing: Number of missing values.
        missing_share: Share of the missing values of all groups; None if none is missing.
        quality: Mean quality of the gold values; a missing value counts as 0.
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


def count_groups(taxonomy: Taxonomy) -> list[list[Json]]:
    """Count the gold values and the missing values of each group over all documents, and sum their qualities.

    Values inside missing, split or merged items, and inside values of the wrong type, are left out: they are missing
    because of the value that contains them. Lists that are matched by transport are left out as well.

    Returns:
        Rows of (path, property, group, gold count, missing count, exact sum of qualities; see `exact_parts`), sorted by
        path, property and group.
    """
    cells, missing, quality = _grouped_values(taxonomy)
    if not len(cells):
        return []
    at = cells.argsort(kind="stable")
    cells, qualities = cells[at], quality[at].tolist()
    present, starts = np.unique(cells, return_index=True)
    lost = np.add.reduceat(missing[at].astype(np.intp), starts)
    ends = np.append(starts[1:], len(cells))
    path, group = np.divmod(present, len(_GROUPS))
    columns = (column.tolist() for column in (path, group, starts, ends, lost))
    paths = sorted(taxonomy.paths)
    return [
        [paths[place], *_GROUPS[kind], end - start, absent, [*exact_parts(qualities[start:end])]]
        for place, kind, start, end, absent in zip(*columns, strict=True)
    ]


def _grouped_values(taxonomy: Taxonomy) -> tuple[Indices, Mask, Floats]:
    """Return the gold values that count, once for each of their groups.

    Returns:
        The cell of each value, whether it is missing, and its quality; all of shape (values,). Cells are numbered by
        path and by group, each in alphabetical order.
    """
    rank = np.argsort(np.argsort(np.array(taxonomy.paths, dtype=object)))  # of each path among the sorted paths
    longest = _longest(taxonomy)
    parts = [(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.bool_), np.zeros(0))]
    for level in taxonomy.levels:
        at = _gold_values(taxonomy, level).nonzero()[0]
        if not len(at):
            continue
        nodes = level.first + at
        firsts = rank[taxonomy.path[nodes]] * len(_GROUPS)
        missing, quality = taxonomy.verdict[nodes] == Verdict.MISSING, level.quality[at]
        groups = [_kinds_of(level.source.values_of(level.left[at]))] if level.leaf else []
        groups += [_positions(level, at, longest)] if level.item else []
        for group in groups:
            known = group != NONE
            parts.append((firsts[known] + group[known], missing[known], quality[known]))
    cells, absent, qualities = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return cells, absent, qualities


def compare_groups(counts: Mapping[Cell, tuple[int, int, float]]) -> tuple[MissingGroup, ...]:
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
        rows.append(MissingGroup(*cell, gold, gold / all_gold, missing, share, quality / gold, *p_values))
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


def _positions(level: Level, at: Indices, longest: Indices) -> Indices:
    """Return the number of the group of each gold item in `_GROUPS`."""
    positions = np.array(level.source.tokens_of(level.left[at]), dtype=np.intp)
    sizes = longest[level.parent[at]]
    codes = np.where(sizes == 1, 0, np.where(positions == 0, 1, np.where(positions == sizes - 1, 3, 2)))
    return _POSITION_NUMBERS[codes]


def _kinds_of(values: Sequence[Json]) -> Indices:
    """Return the number of the group of each single value in `_GROUPS`; NONE for those without a group.

    Each distinct value is classified once. Columns of only texts or only numbers are classified without this step, in a
    third of the time (20,000 documents of 20 entries).
    """
    types = set(map(type, values))
    if types == {str}:
        lengths = np.fromiter(map(len, values), dtype=np.intp, count=len(values))
        return _LENGTH_NUMBERS[_STARTS.searchsorted(lengths, side="right")]
    if types <= {int, float}:
        groups = {value: _NUMBERS[kind] for value in set(values) if (kind := _kind_of(value)) is not None}
        return np.fromiter(map(groups.__getitem__, values), dtype=np.intp, count=len(values))
    keys = [(type(value), None if isinstance(value, (list, dict)) else value) for value in values]
    kinds = {key: _kind_of(key[1]) for key in set(keys)}
    numbers = {key: NONE if kind is None else _NUMBERS[kind] for key, kind in kinds.items()}
    return np.array([numbers[key] for key in keys], dtype=np.intp)


def _kind_of(value: Json) -> tuple[str, str] | None:
    """Return the property and the group of a single value; None for Booleans, null and containers."""
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


# Sums over the documents of a corpus.


MISSING: Final = "missing"
SPURIOUS: Final = "spurious"


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """Counts of the missing or spurious values at a path, by whether they occur in the source text.

    Attributes:
        path: Wildcard path of the values.
        fault: "missing" or "spurious".
        in_source: Number of values that occur in the text: missing values that the model left out, spurious values that
            it put in the wrong place.
        not_in_source: Number of values that do not: missing values that the OCR lost, spurious values that the model
            generated without a basis in the text.
    """

    path: str
    fault: str
    in_source: int
    not_in_source: int


@dataclass(frozen=True, slots=True)
class SourceEvidence:
    """Whether missing and spurious values occur in the texts that were given to the model.

    Attributes:
        with_text: Number of documents that have a text.
        without_text: Number of documents without a text; their values are not counted.
        counts: The values by path and fault.
    """

    with_text: int
    without_text: int
    counts: tuple[SourceCounts, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SourceEvidence:
        """Create the result from plain JSON."""
        return cls(**{**data, "counts": tuple(SourceCounts(**row) for row in data["counts"])})


@dataclass(frozen=True, slots=True)
class NeighbourCounts:
    """Counts of the spurious values at a path, and of those that a neighbouring gold document has at this path.

    Up to `MAX_SEARCHED` documents, all are searched. Larger corpora are sampled: the expected size of the sample is
    between `MAX_SEARCHED / 2` and `MAX_SEARCHED` (see `is_searched`).

    Attributes:
        path: Wildcard path of the values.
        spurious: Number of spurious values in the documents that are searched.
        in_neighbours: Number of those that occur in the gold of the previous or next document, in the order of the ids.
    """

    path: str
    spurious: int
    in_neighbours: int


MAX_SEARCHED: Final = 1000
"""Maximum expected number of documents whose spurious values are searched for in neighbouring documents."""


def search_halvings(documents: int) -> int:
    """Return the number of halvings that reduce the expected sample of a corpus to at most `MAX_SEARCHED` documents.

    >>> search_halvings(1000), search_halvings(1001), search_halvings(3000)
    (0, 1, 2)
    """
    return max(0, math.ceil(math.log2(max(1, documents) / MAX_SEARCHED)))


def is_searched(identity: str, halvings: int) -> bool:
    """Return whether a document belongs to the sample. Depends only on its id; each halving keeps half of the ids."""
    return halvings == 0 or digest(identity) >> (64 - halvings) == 0


def shares_in_source(
    pairs: Sequence[Pair], rows: FaultRows, texts: SourceTexts | None
) -> tuple[list[float | None], dict[str, Json]]:
    """Search for missing and spurious values in the source texts.

    Args:
        pairs: The documents.
        rows: Their faults.
        texts: The texts; None if there are none.

    Returns:
        First, the share of the values of each fault that occur in the text, None if it was not searched. Second, totals
        of all documents: the numbers of documents with and without a text, and rows of (path, fault, whether the values
        are in the text, number of values).
    """
    shares: list[float | None] = [None] * len(rows)
    sources = [None if texts is None else texts.read(pair.id, pair.run) for pair in pairs]
    searched = [None if source is None else SourceText(source) for source in sources]
    counts: Counter[tuple[str, str, bool]] = Counter()
    for at, (document, path, fault, value) in enumerate(_values(rows)):
        text = searched[document]
        if text is None:
            continue
        outcomes = [(inner, leaf in text) for inner, leaf in searchable_values(path, value)]
        if outcomes and fault in {MISSING, SPURIOUS}:
            shares[at] = sum(present for _, present in outcomes) / len(outcomes)
            counts.update((inner, fault, present) for inner, present in outcomes)
    missing = searched.count(None)
    return shares, {
        "texts": [len(searched) - missing, missing],
        "source": [[*key, number] for key, number in sorted(counts.items())],
    }


def evidence_of(pairs: Sequence[Pair], results: FaultResults, halvings: int) -> dict[str, Json]:
    """Return the partial sums of documents for `EvidenceTotals`, as JSON; for `halvings`, see `search_halvings`."""
    searched = [is_searched(pair.id, halvings) for pair in pairs]
    spurious: list[Json] = [
        [pairs[document].id, inner, search_key(leaf)]
        for document, path, fault, value in _values(results.rows)
        if fault == SPURIOUS and searched[document]
        for inner, leaf in searchable_values(path, value)
    ]
    return {"spurious": spurious, "groups": [*count_groups(results.taxonomy)]}


def _values(rows: FaultRows) -> Iterable[tuple[int, str, str, Json]]:
    """Yield document, path, class and value of each fault: the gold value, or the predicted one if gold has none."""
    for row in zip(rows.documents, rows.paths, rows.faults, rows.gold, rows.predicted, strict=True):
        yield *row[:3], row[4] if row[3] is ABSENT else row[3]


@dataclass(slots=True)
class EvidenceTotals:
    """Sums over documents, from which the evidence of a corpus follows. Their order does not matter."""

    _texts: Counter[bool] = field(default_factory=Counter)
    _sources: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    _counts: defaultdict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    _qualities: defaultdict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    _spurious: defaultdict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, note: Mapping[str, Any]) -> None:
        """Add the summands of some documents (see `evidence_of` and `shares_in_source`)."""
        self._texts.update(dict(zip((True, False), note["texts"], strict=True)))
        for path, fault, present, number in note["source"]:
            self._sources[path, fault, present] += number
        for path, name, group, gold, missing, qualities in note["groups"]:
            cell = path, name, group
            self._counts[cell][0] += gold
            self._counts[cell][1] += missing
            self._qualities[cell] = exact_parts([*self._qualities[cell], *qualities])
        for identity, path, value in note["spurious"]:
            self._spurious[identity][path, value] += 1

    def source(self) -> SourceEvidence:
        """Return whether the values occur in the source texts."""
        keys = sorted({key[:2] for key in self._sources}, key=lambda key: (order(key[0]), key[1]))
        counts = (SourceCounts(*key, self._sources[*key, True], self._sources[*key, False]) for key in keys)
        return SourceEvidence(self._texts[True], self._texts[False], tuple(counts))

    def missing_groups(self) -> tuple[MissingGroup, ...]:
        """Return the groups of values that are tested for missing values."""
        return compare_groups(
            {cell: (gold, missing, math.fsum(self._qualities[cell])) for cell, (gold, missing) in self._counts.items()}
        )

    def neighbours(self, documents: JoinedCorpus) -> tuple[NeighbourCounts, ...]:
        """Search for the spurious values in the gold of neighbouring documents.

        Args:
            documents: All documents of the corpus. Only neighbours of documents with spurious values are read.
        """
        neighbours: defaultdict[str, list[str]] = defaultdict(list)
        places = dict[str, int]()
        for identity, found in adjacent_ids(self._spurious, (one for one, _ in documents.labels)).items():
            for neighbour, place in found:
                neighbours[neighbour].append(identity)
                places[neighbour] = place
        present: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for pair in documents.at(sorted(places.values())):
            paths = {path for identity in neighbours[pair.id] for path, _ in self._spurious[identity]}
            held = keys_by_path(pair.gold, paths)
            for identity in neighbours[pair.id]:
                present[identity].update(
                    value for value in self._spurious[identity] if value[1] in held.get(value[0], ())
                )
        totals: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for identity, values in self._spurious.items() if neighbours else ():
            for value, number in values.items():
                totals[value[0]][0] += number
                totals[value[0]][1] += number * (value in present[identity])
        return tuple(NeighbourCounts(path, *totals[path]) for path in sorted(totals, key=order))


def adjacent_ids(some: Collection[str], ids: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Return the neighbours of the given ids in natural order, each with its first position in `ids`.

    Only the neighbours are kept in memory, not all ids.

    >>> adjacent_ids({"page_2"}, ["page_10", "page_2", "page_1", "page_11"])
    {'page_2': [('page_1', 2), ('page_10', 0)]}
    """
    sought = sorted(some, key=natural_order)
    keys = [*map(natural_order, sought)]
    before: list[tuple[Any, int] | None] = [None] * len(keys)
    after: list[tuple[Any, int] | None] = [None] * len(keys)
    for place, identity in enumerate(ids if keys else ()):
        here = natural_order(identity)
        first, last = bisect_left(keys, here), bisect_right(keys, here)
        if last < len(keys) and ((known := before[last]) is None or here > known[0]):
            before[last] = here, place
        if first > 0 and ((known := after[first - 1]) is None or here < known[0]):
            after[first - 1] = here, place
    return {
        identity: [(found[0][1], found[1]) for found in pair if found is not None]
        for identity, *pair in zip(sought, before, after, strict=True)
    }


def natural_order(identity: str) -> tuple[list[tuple[str, int]], str]:
    """Return a sort key that compares numbers in ids by value.

    >>> sorted(["page_10", "page_2", "page_1b"], key=natural_order)
    ['page_1b', 'page_2', 'page_10']
    """
    parts = re.split(r"(\d+)", identity)
    return [(text, int(number or 0)) for text, number in zip(parts[::2], [*parts[1::2], ""], strict=True)], identity
