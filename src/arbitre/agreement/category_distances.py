"""Suggests distances between categories, from the categories that annotators exchange more often than by chance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from arbitre.agreement.agree import (
    AgreeKeywords,
    StructuralAgreement,
    annotation_sources,
    annotations_of,
    schema_of,
    structural,
)
from arbitre.agreement.ratings import label
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.jobs.keywords import ReadingKeywords, option_sets
from arbitre.options import COMPARATOR, Reading, spelled_out
from arbitre.statistics.intervals import LEVEL, RESAMPLES
from arbitre.storage.output_folder import destination, write_json
from arbitre.values import canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator
    from pathlib import Path

    from arbitre.agreement.agree import Annotators
    from arbitre.agreement.alpha_of_rows import Difference
    from arbitre.options import AnnotationFormat
    from arbitre.schema import SchemaSource
    from arbitre.values import Json

MIN_ITEMS: Final = 5
"""Minimum number of items in which two categories are exchanged, for a distance below 1."""

SIGNIFICANCE: Final = 0.05
"""Maximum p-value, multiplied by the number of pairs of categories, for a distance below 1."""

DIGITS: Final = 2
"""Number of decimals of a distance."""


@dataclass(frozen=True, slots=True)
class CategoryDistance:
    """A suggested distance between two categories.

    Attributes:
        path: Wildcard path of the values.
        values: The categories.
        distance: 1/2 + 1/2 of expected / items: at least 1/2, so that the distances form a metric.
        items: Number of items to which one annotator gave the first category and another the second.
        expected: Number of these items if the disagreements occurred by chance.
        p: Probability of at least this number by chance.
    """

    path: str
    values: tuple[Json, Json]
    distance: float
    items: int
    expected: float
    p: float


@dataclass(frozen=True, slots=True)
class CategoryDistances:
    """Suggested distances between categories. They are not applied.

    Attributes:
        suggestions: The distances below 1, by path.
        without: The agreement with the current schema.
        adjusted: The agreement with the overlay; None without suggestions.
        overlay: The distances, added to the settings of the overlay that was given. Pairs of categories that are not
            suggested have the distance 1.
    """

    suggestions: tuple[CategoryDistance, ...]
    without: StructuralAgreement
    adjusted: StructuralAgreement | None
    overlay: dict[str, Json]

    @property
    def alpha(self) -> dict[str, dict[str, float | None]]:
        """Alpha of the documents (path "") and of each path with suggestions, `without` and `with` the overlay."""
        paths = dict.fromkeys(["", *(each.path for each in self.suggestions)])
        return {
            path: {
                "without": self.without.by_path[path].value,
                "with": None if self.adjusted is None else self.adjusted.by_path[path].value,
            }
            for path in paths
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON."""
        suggestions = [asdict(each) for each in self.suggestions]
        return {"suggestions": suggestions, "alpha": self.alpha, "overlay": self.overlay}


@spelled_out(*COMPARATOR, Reading)
def suggest_category_distances(
    schema: SchemaSource | None,
    annotators: Annotators,
    *,
    difference: Difference = "d",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    annotations: AnnotationFormat = "auto",
    layer: str | None = None,
    **options: Unpack[AgreeKeywords],
) -> CategoryDistances:
    """Suggest distances between categories, as `arbitre agree --suggest-category-distances` does.

    The idea comes from Fort, François and Ghribi (2010). Two categories become closer if annotators exchange them in at
    least `MIN_ITEMS` items, and significantly more often than if all disagreements were spread over the categories in
    proportion to their frequency (binomial test, with Bonferroni's correction). Only paths with three or more
    categories that are compared with `exact` can have suggestions.

    With a suggested distance, a disagreement still counts at least half. Decide for each pair whether the categories
    are really close: annotators may also exchange them because the guidelines are not clear.

    Args:
        schema: Schema of the documents, or of a rating; see `agree`.
        annotators: See `agree`.
        difference: See `agree`.
        level: See `agree`.
        resamples: See `agree`.
        seed: See `agree`.
        out: File for the overlay; None writes none.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.
        annotations: See `agree`.
        layer: See `agree`.
        **options: See `agree`.

    Returns:
        The suggested distances, and the agreement with and without them.

    Raises:
        SchemaError: The schema is invalid.
        DataError: As for `agree`, or the file cannot be written.
        OptionError: An option is unknown.
    """
    target = destination(out, force=force)
    given: dict[str, Any] = dict(options)
    settings = {name: given.pop(name) for name in ComparatorKeywords.__annotations__.keys() & given.keys()}
    reading, _ = option_sets(given, ReadingKeywords)
    files = AnnotationOptions(annotations=annotations, layer=layer)
    sources = annotation_sources(annotators, files)
    source = schema_of(schema, sources, files)
    comparator = Comparator(source, **settings)
    documents = annotations_of(comparator, sources, reading, files).documents
    measured = partial(structural, difference=difference, level=level, resamples=resamples, seed=seed)
    without = measured(comparator, documents)
    suggestions = tuple(_suggestions(without, {row.path for row in comparator.plan.rows}))
    overlay = comparator.plan.overlay_with(_distances_of(suggestions))
    adjusted = measured(Comparator(source, **{**settings, "overlay": overlay}), documents) if suggestions else None
    write_json(overlay, target)
    return CategoryDistances(suggestions, without, adjusted, overlay)


def _suggestions(agreement: StructuralAgreement, paths: Collection[str]) -> Iterator[CategoryDistance]:
    """Yield the distances below 1 for the categories at these paths that are exchanged significantly often."""
    for path, compared in agreement.coefficients.items():
        used = sum(any(margins) for margins in (compared.kappa.margins or {}).values())
        if path not in paths or compared.alpha.name != "alpha_nominal":
            continue
        for each in compared.exchanges:
            if each.items >= MIN_ITEMS and each.p * (used * (used - 1) / 2) <= SIGNIFICANCE:
                distance = round(0.5 + 0.5 * each.expected / each.items, DIGITS)
                if distance < 1.0:
                    yield CategoryDistance(path, each.values, distance, each.items, each.expected, each.p)


def _distances_of(suggestions: Iterable[CategoryDistance]) -> dict[str, Json]:
    """Return settings with a table of the distances for each path."""
    tables: dict[str, dict[Hashable, dict[Hashable, float]]] = {}
    values: dict[Hashable, Json] = {}
    for each in suggestions:
        first, second = map(canonical, each.values)
        values |= {first: each.values[0], second: each.values[1]}
        table = tables.setdefault(each.path, {})
        table.setdefault(first, {first: 0.0})[second] = each.distance
        table.setdefault(second, {second: 0.0})[first] = each.distance
    overlay: dict[str, Json] = {}
    for path, table in tables.items():
        keys = sorted(table, key=lambda key: label(values[key]))
        costs = [[table[row].get(key, 1.0) for key in keys] for row in keys]
        overlay[path] = {"distance": {"table": {"values": [values[key] for key in keys], "costs": costs}}}
    return overlay
