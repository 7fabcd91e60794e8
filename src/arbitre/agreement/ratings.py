"""Categories that annotators gave to the same items: as codes, what describes them, and how a table of them is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from arbitre.errors import DataError, OptionError
from arbitre.inputs.csv_table import CsvTable, typed_value
from arbitre.inputs.open_files import split_name
from arbitre.inputs.reader import CELLS
from arbitre.values import Json, Kind, canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices, Mask
    from arbitre.inputs.options import ReadOptions
    from arbitre.schema.plan import Plan


MISSING: Final = -1
"""Code of a missing rating."""

MOST_EXCHANGED: Final = 3
"""Number of most frequently exchanged pairs of categories to list."""


@dataclass(frozen=True, eq=False, slots=True)
class Ratings:
    """Ratings of n items by several annotators.

    Attributes:
        codes: Position of each rating in `categories`, or `MISSING`; shape (annotators, n).
        categories: The distinct categories: in the order given, or sorted if they are all numbers or all texts, else
            in the order of first use.
    """

    codes: Indices
    categories: tuple[Json, ...]

    @classmethod
    def of(cls, data: Sequence[Sequence[Json]], categories: Sequence[Json] | None = None) -> Ratings:
        """Encode one sequence of categories per annotator; None is a missing rating.

        Args:
            data: One sequence per annotator, all of the same length. A text is a sequence of one-letter categories.
            categories: The categories in order; None for those that occur.

        Raises:
            DataError: The sequences differ in length, there are fewer than two, or a category is not in `categories`.
        """
        sequences = [list(sequence) for sequence in data]
        sizes = [len(sequence) for sequence in sequences]
        if len(sequences) < 2:  # noqa: PLR2004
            raise DataError.of(f"Expected at least two annotators, got {len(sequences)}")
        if len(set(sizes)) > 1:
            raise DataError.of(
                f"Expected the same number of ratings from each annotator, got {', '.join(map(str, sizes))}",
                hint="Use None for an item that an annotator did not rate.",
            )
        ratings = [None if value is None else (canonical(value), value) for row in sequences for value in row]
        known: dict[Hashable, Json] = dict(rating for rating in ratings if rating is not None)
        ordered = _in_order(known) if categories is None else {canonical(value): value for value in categories}
        if unknown := [value for key, value in known.items() if key not in ordered]:
            raise DataError.of(f"The category {unknown[0]!r} is not one of `categories`")
        position = {key: at for at, key in enumerate(ordered)}
        codes = [MISSING if rating is None else position[rating[0]] for rating in ratings]
        return cls(np.array(codes, dtype=np.intp).reshape(len(sequences), sizes[0]), tuple(ordered.values()))

    @property
    def ordered(self) -> bool:
        """Whether the categories are all numbers or all texts, so that they could be sorted."""
        return any(_all_are(self.categories, kinds) for kinds in _SORTABLE)

    @property
    def rated(self) -> Mask:
        """Which ratings are not missing; shape (annotators, n)."""
        mask: Mask = self.codes != MISSING
        return mask

    def with_at_least(self, annotators: int) -> Ratings:
        """Return the ratings of the items that at least this many annotators rated."""
        return self.items(self.rated.sum(axis=0) >= annotators)

    def items(self, chosen: Mask | Indices) -> Ratings:
        """Return the ratings of the items selected by a mask or by positions."""
        return Ratings(self.codes[:, chosen], self.categories)

    def among(self, categories: Sequence[Json]) -> Ratings:
        """Return the same ratings with these categories; those that occur must be among them."""
        position = {canonical(value): at for at, value in enumerate(categories)}
        codes = np.array([*(position.get(canonical(value), MISSING) for value in self.categories), MISSING])
        return Ratings(codes[self.codes], tuple(categories))

    def pairs(self) -> Iterator[tuple[Indices, Indices, Indices]]:
        """Yield the items that each pair of annotators rated, with the codes of both; shapes (items,)."""
        for first, second in combinations(self.codes, 2):
            items = ((first != MISSING) & (second != MISSING)).nonzero()[0]
            yield items, first[items], second[items]

    def totals(self) -> Floats:
        """Return the number of ratings of each category; shape (categories,)."""
        return np.bincount(self.codes[self.rated], minlength=len(self.categories)).astype(np.float64)

    def margins(self) -> Floats:
        """Return the share of each category among the ratings of each annotator; shape (annotators, categories).

        The shares of an annotator without ratings are NaN.
        """
        size = len(self.categories)
        counts = np.array([np.bincount(row[row != MISSING], minlength=size) for row in self.codes], dtype=np.float64)
        with np.errstate(invalid="ignore"):
            shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares


_SORTABLE: Final = ((int, float), (str,))
"""Types of categories that can be sorted."""


def _all_are(categories: Iterable[Json], kinds: tuple[type, ...]) -> bool:
    """Return whether all categories are of these types, and none is a boolean."""
    return all(isinstance(value, kinds) and not isinstance(value, bool) for value in categories)


def _in_order(known: dict[Hashable, Json]) -> dict[Hashable, Json]:
    """Return the categories sorted, if they are all numbers or all texts."""
    if any(_all_are(known.values(), kinds) for kinds in _SORTABLE):
        return dict(sorted(known.items(), key=lambda item: item[1]))
    return known


def specific_agreement(ratings: Ratings) -> dict[str, float]:
    """Return the specific agreement of each category that two annotators could have shared, in [0, 1]."""
    size = len(ratings.categories)
    same, possible = np.zeros(size), np.zeros(size)
    for _, first, second in ratings.pairs():
        same += 2.0 * np.bincount(first[first == second], minlength=size)
        possible += np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    return {
        label(category): float(same[at] / possible[at])
        for at, category in enumerate(ratings.categories)
        if possible[at] > 0.0
    }


def exchanged(ratings: Ratings) -> tuple[tuple[str, str, int], ...]:
    """Return the `MOST_EXCHANGED` pairs of different categories that were given to the same items most often."""
    size = len(ratings.categories)
    cells = [np.minimum(first, second) * size + np.maximum(first, second) for _, first, second in ratings.pairs()]
    pairs, counts = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *cells]), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    often = [(*divmod(int(pairs[at]), size), int(counts[at])) for at in order]
    different = ((first, second, count) for first, second, count in often if first != second)
    return tuple(
        (label(ratings.categories[first]), label(ratings.categories[second]), count)
        for first, second, count in islice(different, MOST_EXCHANGED)
    )


def label(category: Json) -> str:
    """Return a category as text: a text as it is, any other value as JSON."""
    return category if isinstance(category, str) else json.dumps(category, ensure_ascii=False)


def facts(ratings: Ratings) -> dict[str, Any]:
    """Return the attributes of a coefficient that describe the ratings."""
    annotators, rated = ratings.codes.shape
    shares = [[None if np.isnan(share) else share for share in row] for row in ratings.margins().T.tolist() if rated]
    return {
        "items": int((ratings.rated.sum(axis=0) > 1).sum()),
        "annotators": annotators,
        "margins": dict(zip(map(label, ratings.categories), map(tuple, shares), strict=False)),
        "by_category": specific_agreement(ratings),
        "exchanged": exchanged(ratings),
    }


_Schema = TypeVar("_Schema")

RATINGS: Final[Mapping[str, Json]] = {"x-arbitre": {"distance": "exact"}}
"""Schema of a table of ratings if none is given: unordered categories."""


def schema_of_ratings(
    schema: _Schema | None, annotators: Mapping[str, object] | str | Path
) -> _Schema | dict[str, Json]:
    """Return the schema; by default, the schema of categories for a table of ratings.

    Raises:
        OptionError: No schema is given for documents.
    """
    if schema is not None:
        return schema
    if isinstance(annotators, Mapping):
        raise OptionError.of("`schema` is required, except for a table of ratings.")
    return dict(RATINGS)


def is_rating_table(path: str | Path) -> bool:
    """Return whether a file name is that of a table."""
    return split_name(Path(path))[1] in CELLS


def read_rating_table(path: str | Path, options: ReadOptions, plan: Plan) -> dict[str, dict[str, Json]]:
    """Read a table of ratings. An empty cell is a missing rating.

    Without a schema, the ratings are numbers if all of them are numbers such as `1`, `1.0` or `2.5`; otherwise texts.
    Digits such as `007` and `1.10` are texts.

    Args:
        path: A .csv or .tsv file. The column of the id, if there is one, is not an annotator; without it, the id of
            an item is its line number.
        options: Options for reading documents; only `id_key` and `max_depth` matter.
        plan: The compiled schema of a rating.

    Returns:
        The ratings of each annotator, by item.

    Raises:
        DataError: The file is not a table, or an item occurs twice.
    """
    if not is_rating_table(path):
        raise DataError.of(
            f"Expected NAME=PATH, or a .csv or .tsv table with a column for each annotator, got {str(path)!r}"
        )
    table, key = CsvTable(Path(path), (), ""), options.id_key
    kinds = plan.sites[0].declared
    ratings: dict[str, dict[str, Json]] = {name: {} for name in table.columns if name != key}
    items = set()
    for line, row in table.rows():
        if isinstance(row, str):
            raise DataError.of(row, file=str(path), line=line)
        item = row.get(key, str(line))
        if item in items:
            raise DataError.of(f"The item {item!r} occurs twice", file=str(path), line=line)
        items.add(item)
        for name, rated in ratings.items():
            if row[name]:
                rated[item] = typed_value(row[name], kinds, options.max_depth)
    return ratings if plan.root.schema != RATINGS else _as_numbers(ratings)


def _as_numbers(ratings: dict[str, dict[str, Json]]) -> dict[str, dict[str, Json]]:
    """Return the texts as numbers if each is a number as Python writes it; otherwise the same ratings."""
    texts = {str(text) for rated in ratings.values() for text in rated.values()}
    numbers = {text: typed_value(text, {Kind.NUMBER}, 1) for text in texts}
    if any(repr(number) != text for text, number in numbers.items()):
        return ratings
    whole = {text: int(float(text)) for text in texts if text.endswith(".0")}
    return {
        name: {item: (numbers | whole)[str(text)] for item, text in rated.items()} for name, rated in ratings.items()
    }
