"""Compare one pair of documents with several matchings or distances, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from arbitre.comparator.comparator import Comparator, as_document, functions_in
from arbitre.comparison.node_tree import NodeTree
from arbitre.errors import DataError, SchemaError
from arbitre.parsing.strict_json import MAX_DEPTH
from arbitre.paths import STAR, order
from arbitre.schema.describe import walk
from arbitre.schema.loading.infer import infer
from arbitre.schema.nodes import Reach
from arbitre.signature import text_of
from arbitre.tables.table import SCORE, Table, TableColumn, columns, count
from arbitre.values import as_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from arbitre.catalogue import Catalogue
    from arbitre.comparison import Comparison
    from arbitre.comparison.levels import Level
    from arbitre.schema import SchemaSource
    from arbitre.values import Json

Pair = tuple[str, str]

AS_IN_SCHEMA: Final = "as the schema says"
NUMBERS: Final = ("S", "f1q", "quality", "W1", "OSPA-W1")
"""Names of the numbers of a row."""


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A matching or distance as written in a schema, with its label in tables."""

    name: str
    choice: Json
    label: str

    @classmethod
    def of(cls, choice: Json, catalogue: Catalogue[Any]) -> Self:
        """Name a choice from a catalogue. Raises SchemaError if the catalogue has no such choice.

        >>> from arbitre import matching
        >>> NamedChoice.of({"transport": {"solver": "dummy", "lambda": 0.2}}, matching.catalogue).label
        'transport(dummy, lambda=0.2)'
        """
        name = catalogue.build(choice).name
        given = choice[name] if isinstance(choice, dict) else {}
        options = (value if isinstance(value, str) else f"{key}={text_of(value)}" for key, value in given.items())
        return cls(name, choice, f"{name}({', '.join(options)})" if given else name)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A comparator with one matching and one distance, each of which is None if the schema determines it."""

    match: NamedChoice | None
    distance: NamedChoice | None
    comparator: Comparator

    @property
    def label(self) -> str:
        return ", ".join(one.label for one in (self.match, self.distance) if one is not None) or AS_IN_SCHEMA

    def to_dict(self) -> dict[str, Json]:
        """Return the choices as written in a schema; null uses the setting from the schema."""
        chosen = {"match": self.match, "distance": self.distance}
        return {key: None if one is None else one.choice for key, one in chosen.items()}


@dataclass(frozen=True, slots=True)
class SideBySideRow:
    """The comparison under one combination of matching and distance.

    Attributes:
        choice: The matching and the distance, with their comparator.
        comparison: The comparison with this choice.
        numbers: By name: S, the sum of the qualities of the matched entries; f1q and quality of the entries; W1, the
            Wasserstein distance between the entries; OSPA-W1, the cost of their different number.
        more: Pairs of entries that this choice matches and the first does not, as pointers into gold and prediction.
        fewer: Pairs of entries that only the first choice matches.
    """

    choice: Configuration
    comparison: Comparison
    numbers: dict[str, float | None]
    more: tuple[Pair, ...]
    fewer: tuple[Pair, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the choice, the table columns and the pairs, as JSON Pointers into gold and prediction."""
        pairs = {
            name: [{"gold": gold, "predicted": predicted} for gold, predicted in pairs]
            for name, pairs in (("more", self.more), ("fewer", self.fewer))
        }
        counts = {"differ": len(self.more) + len(self.fewer)}
        return self.choice.to_dict() | self.numbers | counts | pairs | {"signature": self.comparison.signature.short}


def side_by_side(
    schema: SchemaSource | None = None,
    *,
    gold: Json | Path,
    predicted: Json | Path,
    match: Json | Sequence[Json] = (),
    distance: Json | Sequence[Json] = (),
    max_depth: int = MAX_DEPTH,
    **options: Any,  # noqa: ANN401  (arguments of different types)
) -> tuple[SideBySideRow, ...]:
    """Compare one pair of documents under several matchings and distances, as `arbitre compare` does.

    Args:
        schema: The schema, as in `Comparator`; inferred from gold by default.
        gold: The gold document, or its path. A string is always a path.
        predicted: The predicted document, or its path.
        match: Matchings for every array, each a name or an object as in a schema. If empty, those of the schema.
        distance: Distances for all non-exact leaves of their kinds, in the same form. If empty, those of the schema.
        max_depth: Maximum number of nested containers in a file.
        **options: Further arguments of `Comparator`.

    Returns:
        One row per combination.

    Raises:
        SchemaError: The schema is invalid, or a choice is unknown or applies to no part of the schema.
        DataError: The documents cannot be compared.

    >>> rows = side_by_side(gold=["a", "bb"], predicted=["bb"], match=["hungarian", "ordered"])
    >>> [(row.choice.label, row.numbers["S"], row.numbers["W1"], row.more) for row in rows]
    [('hungarian', 1.0, 0.4, ()), ('ordered', 0.19999999999999996, 0.4, (('/0', '/0'),))]
    """
    known = functions_in(options)
    gold, predicted = as_document(gold, max_depth), as_document(predicted, max_depth)
    choices = configurations(
        infer([gold]) if schema is None else schema,
        match=[NamedChoice.of(choice, known.matchings) for choice in as_tuple(match)],
        distance=[NamedChoice.of(choice, known.distances) for choice in as_tuple(distance)],
        build=partial(Comparator, **options),
    )
    return compare_choices(choices, gold, predicted)


def configurations(
    schema: SchemaSource,
    *,
    match: Sequence[NamedChoice] = (),
    distance: Sequence[NamedChoice] = (),
    build: Callable[..., Comparator] = Comparator,
) -> list[Configuration]:
    """Build a comparator for every combination of matching and distance.

    Args:
        schema: The schema.
        match: Matchings; if empty, as the schema says.
        distance: Distances; if empty, as the schema says.
        build: Builds a comparator from the schema and the arguments `match` and `distance`.

    Raises:
        SchemaError: The schema is invalid, or a choice applies to no part of it.
    """
    combinations = []
    schemas_own: list[NamedChoice | None] = [None]
    for matched, measured in product(match or schemas_own, distance or schemas_own):
        comparator = build(schema, match=matched and matched.choice, distance=measured and measured.choice)
        _check_used(comparator, matched, measured)
        combinations.append(Configuration(matched, measured, comparator))
    return combinations


def compare_choices(choices: Sequence[Configuration], gold: Json, predicted: Json) -> tuple[SideBySideRow, ...]:
    """Compare the documents with each choice; differing pairs are relative to the first choice.

    Raises:
        DataError: The documents cannot be compared.
    """
    rows: list[SideBySideRow] = []
    first: dict[Pair, None] = {}
    for choice in choices:
        comparison = choice.comparator.compare(gold=gold, predicted=predicted)
        scores = comparison.scores
        values = (scores.quality_mass, scores.f1q, scores.quality, *_transport_costs(choice.comparator, comparison))
        pairs = dict.fromkeys(_pairs(comparison))
        first = first if rows else pairs
        more, fewer = (
            tuple(pair for pair in ours if pair not in theirs) for ours, theirs in ((pairs, first), (first, pairs))
        )
        rows.append(SideBySideRow(choice, comparison, dict(zip(NUMBERS, values, strict=True)), more, fewer))
    return tuple(rows)


def _transport_costs(comparator: Comparator, comparison: Comparison) -> tuple[float | None, float | None]:
    """Return W1 and OSPA-W1 of the entries; None if they are not one list with items on both sides."""
    if STAR in comparator.plan.entries:
        return None, None
    try:
        alignment = comparison.alignment(comparison.entries)
    except DataError:  # gold has no list of entries
        return None, None
    w1, ospa = alignment.w1, alignment.ospa
    return w1, None if w1 is None or ospa is None else max(0.0, ospa - w1)


def _pairs(comparison: Comparison) -> Iterator[Pair]:
    """Yield the pairs of entries as pointers into gold and prediction."""
    node_tree = NodeTree.of(comparison.entry_levels)
    for level in _item_levels(comparison):
        for node_id in (np.flatnonzero(level.paired) + level.first).tolist():
            yield node_tree.pointer(node_id, gold=True) or "", node_tree.pointer(node_id, gold=False) or ""


def _item_levels(comparison: Comparison) -> list[Level]:
    """Return the levels of the entries; empty if the entries are not items of a list."""
    path = f"{comparison.entries}/*"
    return [level for level in comparison.entry_levels if level.text == path and level.item and not level.inner]


def entry_counts(comparison: Comparison) -> tuple[float, float]:
    """Return the numbers of gold and predicted entries. A tally has only the gold number for balanced transport."""
    levels = _item_levels(comparison)
    if not levels:
        return comparison.scores.gold, comparison.scores.predicted
    gold, predicted = (
        sum(len(np.unique(rows[rows >= 0])) for rows in sides)
        for sides in ([level.left for level in levels], [level.right for level in levels])
    )
    return gold, predicted


def _check_used(comparator: Comparator, match: NamedChoice | None, distance: NamedChoice | None) -> None:
    if match is not None and not any(row.match for row in comparator.explain()):
        raise SchemaError.of(
            f"The matching {match.label} has no effect: the schema has no array that is matched",
            hint="An array with its own distance is compared as one value.",
        )
    sites = comparator.plan.sites
    declared = {step.site for step in walk(sites)}
    used = {leaf.distance.name for index in declared for leaf in Reach.of(sites[index]).leaves}
    if distance is not None and distance.name not in used:
        raise SchemaError.of(
            f"The distance {distance.label} has no effect: it applies to no value of the schema",
            hint="`arbitre schema explain` shows the distance of each path; exact comparisons are not overridden.",
        )


def table(found: Sequence[SideBySideRow]) -> Table:
    """Return the numbers of each choice, side by side."""
    heads = (
        TableColumn("choice"),
        TableColumn("S", SCORE, drop=1),
        TableColumn("f1q", SCORE, emphasis="strong"),
        TableColumn("quality", SCORE, drop=1),
        *columns("W1", "OSPA-W1", written=SCORE),
        TableColumn("differ", count),
    )
    rows = [
        (row.choice.label, *(row.numbers[name] for name in NUMBERS), len(row.more) + len(row.fewer)) for row in found
    ]
    return Table.of("", heads, rows, notes=(_LEGEND,))


def differing(row: SideBySideRow) -> Table:
    """Return the pairs made only by a choice (+) or only by the first one (-)."""
    signed = [("+", *pair) for pair in row.more] + [("-", *pair) for pair in row.fewer]
    signed.sort(key=lambda one: (order(one[1]), order(one[2])))
    heads = (TableColumn(""), *(TableColumn(side, kind="path") for side in ("gold", "predicted")))
    return Table.of(f"{row.choice.label}: pairs made only here (+) or only by the first choice (-)", heads, signed)


_LEGEND: Final = (
    "S: sum of the pair qualities. W1: minimum transport cost between the entries, all of equal mass. OSPA-W1: cost of "
    "the difference in number of entries. Both use the entry distances of the choice. differ: pairs made only by "
    "this choice or only by the first."
)
