"""Which branch of a union of objects a value takes: that depends on the value alone."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from arbitre.errors import DataError
from arbitre.values import Json, canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.engine.columns import Indices
    from arbitre.schema.nodes import Variant


def choose(variants: tuple[Variant, ...], values: Sequence[dict[str, Json]], tags: Indices | None) -> Indices:
    """The branch of each object: the first whose const and enum fields all hold, else the one sharing most keys.

    Where the branch of the parent matters (`tags`), only those that belong to it; the first wins a draw. Keys whose
    value counts as absent are not shared: values that are the same to the comparison take the same branch.
    """
    taken = np.zeros(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        numbers: Sequence[int] = range(len(variants))
        if tags is not None:
            tag = int(tags[row])
            numbers = [n for n in numbers if (own := variants[n].tags) is None or tag in own] or numbers
        holding = next((n for n in numbers if variants[n].tests and _holds(variants[n], value)), None)
        taken[row] = max(numbers, key=lambda n: _shared(variants[n], value)) if holding is None else holding
    return taken


def _holds(variant: Variant, value: dict[str, Json]) -> bool:
    with suppress(DataError):  # what is not JSON is reported where it stands
        return all(name in value and canonical(value[name]) in allowed for name, allowed in variant.tests)
    return False


def _shared(variant: Variant, value: dict[str, Json]) -> int:
    return sum(not variant.absent.covers(value[name]) for name in value.keys() & variant.names)
