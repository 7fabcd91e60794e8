"""Conditions under which a distance that is not a metric in general is a metric on the values that a schema allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.values import canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances.base import Distance
    from arbitre.values import Json

MOST: Final = 32
"""Maximum number of enum values for checking the triangle inequality on all triples."""

ROUNDING: Final = 1e-12
"""Tolerance for rounding errors in the triangle inequality."""

LISTED: Final = "every value is in the enum"
WHOLE: Final = "every number is an integer"


def condition(distance: Distance, values: Sequence[Json] | None, *, integer: bool) -> str | None:
    """Return the condition under which a distance is a metric on the values of a position; None if there is none.

    A custom distance is not called; its declared facts decide.

    Args:
        distance: The distance.
        values: All normalised values that the schema allows; None for any value.
        integer: Whether the schema allows only integers.
    """
    facts = distance.facts
    if facts.metric:
        return None
    if values is not None:
        own = list({canonical(value): value for value in values if kind_of(value) in distance.kinds}.values())
        if distance.custom:
            two = len(own) <= 2 and facts.identity and facts.symmetric and facts.separating  # noqa: PLR2004
            return LISTED if two else None
        return LISTED if len(own) <= MOST and _metric(distance, own) else None
    if integer and (distance.name, True) in (
        ("tolerance", distance.options.get("within", 1) < 1 and "relative" not in distance.options),
        ("rounded", distance.options.get("grid", 2) <= 1),
    ):
        return WHOLE
    return None


def _metric(distance: Distance, values: Sequence[Json]) -> bool:
    """Return whether a distance is a metric on these distinct values."""
    count = len(values)
    table = distance.pool(values).distances(*np.divmod(np.arange(count * count), count)).reshape(count, count)
    apart = table[~np.eye(count, dtype=np.bool_)]
    return bool(
        (table == table.T).all()
        and (table.diagonal() == 0.0).all()
        and (apart > 0.0).all()
        and (table[:, None, :] <= table[:, :, None] + table[None, :, :] + ROUNDING).all()
    )
