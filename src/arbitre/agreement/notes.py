"""Warnings about coefficients that are easily misread (Mathet and Widlöcher, 2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.agreement.advice.side_by_side import DIVERGENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.agreement.advice.side_by_side import CategoricalCoefficients
    from arbitre.agreement.coefficient import Coefficient

DOMINANT: Final = 0.8
"""Share of one category above which agreement on the other categories determines the coefficient."""

LOW: Final = 2 / 3
"""Value below which conclusions from the annotations are not supported (Krippendorff, 2018)."""


def notes_of(
    by_path: Mapping[str, Coefficient], coefficients: Mapping[str, CategoricalCoefficients] | None = None
) -> Iterator[str]:
    """Yield warnings about the coefficients, by path."""
    for path, coefficient in by_path.items():
        place, value = path or "(the whole)", coefficient.value
        if value is None:
            continue
        shares = {name: float(np.mean(_known(margins))) for name, margins in (coefficient.margins or {}).items()}
        if shares and coefficient.by_category:
            dominant, share = max(shares.items(), key=lambda item: item[1])
            others = [agreed for name, agreed in coefficient.by_category.items() if name != dominant]
            if share > DOMINANT and others:
                yield (
                    f"{place}: {share:.0%} of the values are {dominant!r}. Agreement on this category hardly raises "
                    f"{coefficient.name}; agreement on the others is {min(others):.2f} to {max(others):.2f}."
                )
        if value < 0.0:
            yield f"{place}: the annotators agree less often than expected by chance."
        elif value < LOW:
            yield f"{place}: low agreement ({value:.2f}), which also makes the chance estimate unreliable."
        if coefficients and path in coefficients:
            yield from _diverging(place, coefficients[path])
        if coefficient.name == "alpha_nominal" and _are_numbers(coefficient.margins or {}):
            yield (
                f"{place}: the values are numbers, but any two different numbers count as full disagreement."
                " Set a distance such as `absolute` if close numbers should count as partial agreement."
            )


def _known(shares: Sequence[float | None]) -> list[float]:
    """Return the shares of the annotators who rated something."""
    return [share for share in shares if share is not None]


def _diverging(place: str, compared: CategoricalCoefficients) -> Iterator[str]:
    """Yield a warning if kappa is higher than pi because the annotators prefer different categories."""
    difference, margins = compared.kappa_minus_pi, compared.kappa.margins
    if difference is None or not margins or difference <= DIVERGENCE:
        return
    name, shares = max(((name, _known(each)) for name, each in margins.items()), key=lambda item: np.ptp(item[1]))
    kappa, pi = float(compared.kappa), float(compared.pi)
    yield (
        f"{place}: kappa ({kappa:.2f}) is {difference:.2f} higher than pi ({pi:.2f}), only "
        f"because the annotators use the categories with different frequencies: {name!r} makes up {min(shares):.0%} to "
        f"{max(shares):.0%} of their values. Report alpha or pi."
    )


def _are_numbers(categories: Mapping[str, object]) -> bool:
    """Return whether there are more than two categories, all of them numbers."""
    return len(categories) > 2 and all(name.lstrip("-").replace(".", "", 1).isdigit() for name in categories)  # noqa: PLR2004
