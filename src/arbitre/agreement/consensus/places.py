"""The places of aligned documents, as trees: each place holds what every annotator has at one location."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.agreement.aligned_rows import AlignedRows, align_documents
from arbitre.agreement.alignment import NONE
from arbitre.engine.batch_comparison import pair_qualities
from arbitre.engine.columns.column import LeafColumn, ListColumn, MixedColumn
from arbitre.matching import Candidates
from arbitre.paths import Token, escape, pointer
from arbitre.values import ABSENT, Json, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from arbitre.engine.columns.column import Column
    from arbitre.matching.builtin_matchers import Matcher
    from arbitre.schema.plan import Plan

SCALAR: Final = Kind.STRING
"""Family of the values that are compared as one value. Lists and objects are the other two families."""


@dataclass(eq=False, slots=True)
class Place:
    """A location in the documents of several annotators.

    Attributes:
        document: Index of the document.
        values: The value of each annotator, as it was read; ABSENT for none.
        tokens: Key or list position of each annotator's value in its container; None for none.
        families: Family of each annotator's value; None if it counts as absent. With `"null": "credit"`, a missing key
            has a family, because it counts as a value.
        path: Wildcard path.
        parent: The place of the container; None for a document.
        token: Key, or list position of the first annotator who has a value; empty for a document.
        item: Whether the values are list items that were matched, whatever their positions.
        weight: Weight in the container; 0 if the schema does not compare the values.
        codes: Code of each annotator's single value, the same for equal values.
        distances: Distance between the single values of annotators i < j, where it is not 0.
        leaf: The column of the single values.
        prefix: Number of items of the lists that are compared as fields.
        matcher: Matching of the lists.
        children: The places inside the lists and objects.
    """

    document: int
    values: list[Json]
    tokens: list[str | int | None]
    families: list[Kind | None]
    path: str
    parent: Place | None = None
    token: str | int = ""
    item: bool = False
    weight: float = 1.0
    codes: list[Any] = field(default_factory=list)
    distances: dict[tuple[int, int], float] = field(default_factory=dict)
    leaf: LeafColumn | None = None
    prefix: int = 0
    matcher: Matcher | None = None
    children: list[Place] = field(default_factory=list)

    @property
    def by_position(self) -> bool:
        """Whether the items of the lists are matched by position."""
        return self.matcher is not None and self.matcher.candidates is Candidates.DIAGONAL

    @property
    def container(self) -> Kind:
        """Family of the container."""
        return Kind.ARRAY if isinstance(self.token, int) else Kind.OBJECT

    def members(self, family: Kind | None) -> list[int]:
        """Return the annotators whose values belong to a family."""
        return [at for at, own in enumerate(self.families) if own is family]

    def voters(self) -> list[int]:
        """Return the annotators who have the container; for a document, those who annotated it."""
        if self.parent is None:
            return [at for at, value in enumerate(self.values) if value is not ABSENT]
        return self.parent.members(self.container)

    def inside(self, family: Kind | None) -> list[Place]:
        """Return the places inside the lists, or those inside the objects."""
        return [child for child in self.children if child.container is family]

    def distance(self, first: int, second: int) -> float:
        """Return the distance between the single values of two annotators."""
        return self.distances.get((min(first, second), max(first, second)), 0.0)

    def text(self) -> str:
        """Return the first value as JSON text; its order does not depend on that of the annotators."""
        return min(tie_text(value) for at, value in enumerate(self.values) if self.families[at] is not None)

    def as_whole(self) -> Place:
        """Compare the values as a whole, by equality. Null counts as absent, except as an item."""
        for at, value in enumerate(self.values):
            if value is not ABSENT and (value is not None or self.item):
                self.families[at] = SCALAR
        self.codes = [canonical(value) if own else None for value, own in zip(self.values, self.families, strict=True)]
        pairs = combinations(self.members(SCALAR), 2)
        self.distances = {(i, j): 1.0 for i, j in pairs if self.codes[i] != self.codes[j]}
        return self

    def address(self, annotator: int) -> str:
        """Return the JSON Pointer of an annotator's value."""
        tokens: list[Token] = []
        place: Place = self
        while place.parent is not None:
            token = place.tokens[annotator]
            tokens.append("" if token is None else token)
            place = place.parent
        return pointer(reversed(tokens))


class Places(NamedTuple):
    """The places of all documents.

    Attributes:
        every: All places, containers before what is in them.
        roots: The place of each document, by id.
        annotators: Names of the annotators; their positions are the indices in a place. They are sorted by their
            documents, so that no tie depends on names.
        aligned: The aligned documents.
        exact: Whether every alignment of lists is known to be the best one.
    """

    every: Sequence[Place]
    roots: Mapping[str, Place]
    annotators: tuple[str, ...]
    aligned: AlignedRows
    exact: bool


def find_places(plan: Plan, annotations: Mapping[str, Mapping[str, Json]]) -> Places:
    """Align documents, and return every place where an annotator has a value.

    Args:
        plan: The compiled schema.
        annotations: Documents of each annotator, by id. An annotator may lack documents.

    Raises:
        DataError: A value is not JSON.
    """
    ids = sorted({name for documents in annotations.values() for name in documents})
    names = sorted(
        annotations, key=lambda name: ([tie_text(annotations[name].get(each, ABSENT)) for each in ids], name)
    )
    parts = align_documents(plan, annotations, names=names, identify=True)
    none = [None] * len(names)
    every = [
        Place(number, [annotations[name].get(each, ABSENT) for name in names], [*none], [*none], "")
        for number, each in enumerate(ids)
    ]
    roots = dict(zip(ids, every, strict=True))
    by_row: dict[tuple[int, int], Place] = {}
    symmetric = plan.certificate.symmetric
    for part in parts:
        places = _places_of(part, by_row, every)
        if part.column.parent is not None and not isinstance(part.column.parent, MixedColumn):
            every += places
        if isinstance(part.column, LeafColumn):
            _measure(part, part.column, places, symmetric=symmetric)
    for place in every:  # grows during iteration
        every += [*_other_keys(place), *_other_items(place)]
    exact = all(alignment.exact for part in parts for alignment in part.alignments)
    return Places(every, roots, tuple(names), parts[0], exact)


def _places_of(part: AlignedRows, by_row: dict[tuple[int, int], Place], documents: list[Place]) -> list[Place]:
    """Return the place of each unit, with the values of the column in it. The kinds of a mixed column share a place."""
    column, above = part.column, part.column.parent
    tokens = column.tokens_of(np.arange(column.size))
    weight = 1.0 if above is None else next((link.weight for link in above.links if link.column is column), 1.0)
    family = _family(column)
    places = []
    for unit, rows in enumerate(part.rows.tolist()):
        if above is None:
            place = documents[unit]
        else:
            held = next(row for row in rows if row != NONE)
            place = by_row[above.number, int(column.origin[held])]
            if not isinstance(above, MixedColumn):
                place = _below(place, tokens[held], part.path, weight, item=column.item)
        for at, row in enumerate(rows):
            if row != NONE:
                by_row[column.number, row] = place
                place.families[at] = family
                if place.item:
                    place.values[at], place.tokens[at] = column.raw[row], tokens[row]
        if isinstance(column, ListColumn):
            place.prefix, place.matcher = len(column.site.list.prefix), column.matcher
        places.append(place)
    return places


def tie_text(value: Json) -> str:
    """Return a value as JSON text, which decides ties: the order of annotators must not. Empty for ABSENT."""
    return "" if value is ABSENT else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _family(column: Column) -> Kind | None:
    """Return the family of the values of a column; None if they are mixed."""
    if isinstance(column, MixedColumn):
        return None
    if isinstance(column, LeafColumn):
        return SCALAR
    return Kind.ARRAY if isinstance(column, ListColumn) else Kind.OBJECT


def _below(container: Place, token: str | int, path: str, weight: float, *, item: bool) -> Place:
    """Add a place to a container. Unless it is an item, it holds each annotator's value at the key or position."""
    size = len(container.values)
    place = Place(
        container.document, [ABSENT] * size, [None] * size, [None] * size, path, container, token, item, weight
    )
    container.children.append(place)
    if not item:
        for at in container.members(Kind.ARRAY if isinstance(token, int) else Kind.OBJECT):
            value = container.values[at]
            if token in value if isinstance(token, str) else token < len(value):
                place.values[at], place.tokens[at] = value[token], token
    return place


def _measure(part: AlignedRows, column: LeafColumn, places: Sequence[Place], *, symmetric: bool) -> None:
    """Add the codes and distances of single values to their places."""
    codes = np.where(part.rows == NONE, -1, column.codes[part.rows])
    for place, own in zip(places, codes.tolist(), strict=True):
        place.leaf, place.codes = column, own
    for i, j in combinations(range(codes.shape[1]), 2):
        both = ((part.rows[:, i] != NONE) & (part.rows[:, j] != NONE) & (codes[:, i] != codes[:, j])).nonzero()[0]
        if len(both) == 0:
            continue
        left, right = part.rows[both, i], part.rows[both, j]
        quality = pair_qualities(column, left, right)
        if not symmetric:
            quality = (quality + pair_qualities(column, right, left)) / 2.0
        for unit, distance in zip(both.tolist(), (1.0 - quality).tolist(), strict=True):
            places[unit].distances[i, j] = distance


def _other_keys(place: Place) -> Iterator[Place]:
    """Add the keys that the schema does not compare, or whose values all count as absent."""
    known = {child.token for child in place.children}
    keys = (key for at in place.members(Kind.OBJECT) for key in place.values[at])
    for key in dict.fromkeys(key for key in keys if key not in known):
        yield _below(place, key, f"{place.path}/{escape(key)}", 0.0, item=False).as_whole()


def _other_items(place: Place) -> Iterator[Place]:
    """Add the items that the schema does not compare: null items, and repeated items of a set.

    The n-th of these items with some value of one annotator stands for the n-th item with this value of the others.
    """
    covered = {(at, token) for child in place.inside(Kind.ARRAY) for at, token in enumerate(child.tokens)}
    alike: dict[tuple[Hashable, int], Place] = {}
    for at in place.members(Kind.ARRAY):
        seen: Counter[Hashable] = Counter()
        for position, value in enumerate(place.values[at]):
            if (at, position) in covered:
                continue
            item = position >= place.prefix
            key = item, canonical(value) if item else position
            seen[key] += 1
            child = alike.get((key, seen[key]))
            if child is None:
                path = f"{place.path}/{'*' if item else position}"
                child = alike[key, seen[key]] = _below(place, position, path, 0.0, item=item)
            child.values[at], child.tokens[at] = value, position
    for child in alike.values():
        yield child.as_whole()
