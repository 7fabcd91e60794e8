"""Warnings about coefficients that are easily misread (Mathet and Widlöcher, 2016)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.by_document import MIN_UNITS
from arbitre.agreement.leaf_ratings import DIVERGENCE, level_of
from arbitre.engine.columns.column import LeafColumn
from arbitre.language import percentage
from arbitre.statistics.intervals import FEW_UNITS
from arbitre.tables.table import WHOLE
from arbitre.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.agreement.aligned_rows import AlignedRows
    from arbitre.agreement.coefficient import Coefficient
    from arbitre.agreement.leaf_ratings import CategoricalCoefficients
    from arbitre.values import Json

DOMINANT: Final = 0.8
"""Share of one category above which agreement on the other categories determines the coefficient."""

LOW: Final = 2 / 3
"""Value below which conclusions from the annotations are not supported (Krippendorff, 2018)."""

HETEROGENEOUS: Final = 0.1
"""Minimum relative reduction of the disagreement expected within documents, compared with documents that are alike."""

SIGNIFICANCE: Final = 0.05
"""Maximum p-value of a difference between documents."""

MAX_LISTED: Final = 5
"""Maximum number of categories whose agreement is listed."""


_OUTSIDE: Final = {
    "interval": "not all values are numbers, so the coefficient is alpha_d instead of alpha_interval.",
    "ordinal": "not all values are in the order of the distance, "
    "so the coefficient is alpha_d instead of alpha_ordinal.",
}
"""Consequence of values outside a level of measurement."""

_TAG: Final = re.compile(r"[BIESLU]-\S+")
"""Tag of a token within a span."""

OUTSIDE: Final = "O"
"""Tag of a token outside spans."""


def notes_of(by_path: Mapping[str, Coefficient], coefficients: Mapping[str, CategoricalCoefficients]) -> Iterator[str]:
    """Yield warnings about the coefficients, by path."""
    yield from _intervals(by_path)
    yield from _undefined(by_path)
    yield from _alignments(by_path)
    for path, coefficient in by_path.items():
        place, value = path or WHOLE, coefficient.value
        if value is None:
            continue
        yield from _dominated(place, coefficient)
        if value < 0.0:
            yield f"{place}: {coefficient.name} is negative ({value:.2f}). {coefficient.reason or ''}".rstrip()
        elif value < LOW:
            yield (
                f"{place}: low agreement ({value:.2f}). The agreement expected by chance is then less reliable too, "
                "because it is estimated from ratings that are partly wrong."
            )
        yield from _heterogeneous(place, coefficient)
        if path in coefficients:
            yield from _diverging(place, coefficients[path])
        if coefficient.name == "alpha_nominal" and _are_numbers(coefficient.margins or {}):
            yield (
                f"{place}: the values are numbers, but any two different numbers count as full disagreement."
                " Set a distance such as `absolute` if close numbers should count as partial agreement."
            )


def token_notes(values: Mapping[str, Sequence[Json]]) -> Iterator[str]:
    """Yield a warning for each path whose values look like the tags of tokens, such as B-city and O."""
    for path, each in values.items():
        tags = [value for value in each if isinstance(value, str)]
        labelled = [tag for tag in tags if tag != OUTSIDE]
        if len(tags) == len(each) and labelled and all(_TAG.fullmatch(tag) for tag in labelled):
            yield (
                f"{path or WHOLE}: the values are tags of tokens, such as {min(labelled)!r}. Agreement on "
                "tokens rewards long spans and does not show whether the annotators marked the same spans, and items "
                "of lists are aligned regardless of their positions. Measure the agreement on spans: arbitre gamma."
            )


def level_notes(parts: Iterable[AlignedRows]) -> Iterator[str]:
    """Yield a warning for each path whose coefficient is `alpha_d` only because of values that the schema forbids."""
    for part in parts:
        level, outside = level_of(part.column) if isinstance(part.column, LeafColumn) else (None, [])
        if level == "interval":
            outside = [value for value in outside if kind_of(value) not in part.column.site.declared]
        if level is not None and outside:
            listed = ", ".join(map(repr, outside[:MAX_LISTED])) + (", ..." if len(outside) > MAX_LISTED else "")
            yield f"{part.path or WHOLE}: {_OUTSIDE[level]} Correct these values: {listed}."


def _intervals(by_path: Mapping[str, Coefficient]) -> Iterator[str]:
    """Yield a note on missing intervals, or on intervals that are probably too narrow."""
    intervals = [each.interval for each in by_path.values() if each.interval is not None]
    few = [interval.units for interval in intervals if interval.low is not None and interval.units < FEW_UNITS]
    if few:
        yield f"Fewer than {FEW_UNITS} documents ({min(few)}): the intervals are probably too narrow."
    missing = [interval for interval in intervals if interval.reason and interval.units < MIN_UNITS]
    if missing:
        some = "" if len(missing) == len(intervals) else f" for {len(missing)} of {len(intervals)} paths"
        yield f"No intervals{some}. {missing[0].reason}"


def _undefined(by_path: Mapping[str, Coefficient]) -> Iterator[str]:
    """Yield one note for each reason why paths have no coefficient."""
    paths: dict[str, list[str]] = {}
    for path, each in by_path.items():
        if each.value is None and each.reason:
            paths.setdefault(each.reason, []).append(path)
    for reason, undefined in paths.items():
        yield f"{_listed(undefined)}: no coefficient. {reason}"


def _listed(paths: Sequence[str]) -> str:
    """Join the first `MAX_LISTED` paths; if there are more, "..." follows."""
    return ", ".join(path or WHOLE for path in paths[:MAX_LISTED]) + (", ..." if len(paths) > MAX_LISTED else "")


def _alignments(by_path: Mapping[str, Coefficient]) -> Iterator[str]:
    """Yield a note on the paths whose values decide which items are aligned."""
    paths = [path for path, each in by_path.items() if each.aligned_by == "all fields" and each.value is not None]
    if paths:
        yield (
            f"{_listed(paths)}: without these values, nothing identifies the items of the list. The items are "
            "therefore aligned by all fields, and the agreement expected by chance is measured after shuffling the "
            "values and aligning the items again. The coefficients are lower bounds. If a field identifies the items, "
            "match the list by it (`keyed`)."
        )


def _dominated(place: str, coefficient: Coefficient) -> Iterator[str]:
    """Yield a warning if one category is so frequent that the coefficient depends on the others."""
    shares = {name: float(np.mean(_known(margins))) for name, margins in (coefficient.margins or {}).items()}
    agreed = coefficient.by_category or {}
    name, share = max(shares.items(), key=lambda item: item[1], default=("", 0.0))
    if share <= DOMINANT or len(agreed) < 2 or coefficient.name != "alpha_nominal":  # noqa: PLR2004
        return
    listed = sorted(agreed, key=lambda each: -shares[each])[:MAX_LISTED]
    expected, observed = (percentage(part or 0.0) for part in (coefficient.expected, coefficient.observed))
    yield (
        f"{place}: {percentage(share)} of the values are {name!r}, so annotators agree on {expected} by chance alone, "
        f"and an observed agreement of {observed} says little. {coefficient.name} depends on the rare categories. "
        f"Agreement by category: {', '.join(f'{each!r} {agreed[each]:.2f}' for each in listed)}."
    )


def _heterogeneous(place: str, coefficient: Coefficient) -> Iterator[str]:
    """Yield a warning if the values are distributed differently in the documents."""
    local = coefficient.local
    if local is None or local.homogeneous is None or local.p is None or local.p > SIGNIFICANCE:
        return
    if 1.0 - local.expected > (1.0 - HETEROGENEOUS) * (1.0 - local.homogeneous):
        return
    ends = (local.lowest, local.highest)
    chances = ", ".join(f"{each.expected:.2f} in {each.document}" for each in ends)
    values = ", ".join(f"{each.value:.2f} in {each.document}" for each in ends if each.value is not None)
    yield (
        f"{place}: the categories are not equally frequent in all documents. The agreement expected by chance is "
        f"{coefficient.expected:.2f} over all documents (global), but {local.expected:.2f} on average within a "
        f"document (local; {chances}). {coefficient.name} is {float(coefficient):.2f} with global chance and "
        f"{float(local):.2f} with local chance{f' ({values})' if values else ''}. Report both values."
    )


def _diverging(place: str, compared: CategoricalCoefficients) -> Iterator[str]:
    """Yield a warning if kappa is higher than pi because the annotators prefer different categories."""
    difference, margins = compared.kappa_minus_pi, compared.kappa.margins
    if difference is None or not margins or difference <= DIVERGENCE:
        return
    name, shares = max(((name, _known(each)) for name, each in margins.items()), key=lambda item: np.ptp(item[1]))
    yield (
        f"{place}: kappa ({float(compared.kappa):.2f}) is {difference:.2f} higher than pi ({float(compared.pi):.2f}), "
        f"only because the annotators use the categories with different frequencies: {name!r} makes up "
        f"{percentage(min(shares))} to {percentage(max(shares))} of their values. Report alpha or pi."
    )


def _known(shares: Sequence[float | None]) -> list[float]:
    """Return the shares of the annotators who rated something."""
    return [share for share in shares if share is not None]


def _are_numbers(categories: Mapping[str, object]) -> bool:
    """Return whether there are more than two categories, and the names of all of them are numbers."""
    return len(categories) > 2 and all(name.lstrip("-").replace(".", "", 1).isdigit() for name in categories)  # noqa: PLR2004
