"""Choose the branch of a union of objects for each value, based on the value alone."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from arbitre.errors import DataError
from arbitre.normalizers import nfc
from arbitre.values import Json, canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.arrays import Indices
    from arbitre.schema.nodes import ObjectBranch


def choose_branch(
    branches: tuple[ObjectBranch, ...], values: Sequence[dict[str, Json]], tags: Indices | None
) -> Indices:
    """Return the index of the branch of each object; shape (values,).

    This is the first branch whose `const` and `enum` fields all match, otherwise the branch with the most keys in
    common; ties go to the first. Keys with absent values are ignored, so that equal values take the same branch.

    Args:
        branches: The branches.
        values: The objects.
        tags: The parent's branch for each object, if branches depend on it.
    """
    chosen = np.zeros(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        numbers: Sequence[int] = range(len(branches))
        if tags is not None:
            tag = int(tags[row])
            numbers = [n for n in numbers if (own_tags := branches[n].tags) is None or tag in own_tags] or numbers
        holding = next((n for n in numbers if branches[n].tests and _all_tests_hold(branches[n], value)), None)
        chosen[row] = max(numbers, key=lambda n: _shared_key_count(branches[n], value)) if holding is None else holding
    return chosen


def _all_tests_hold(branch: ObjectBranch, value: dict[str, Json]) -> bool:
    with suppress(DataError):  # a value that is not JSON is reported when its own column is built
        return all(name in value and canonical(nfc(value[name])) in allowed for name, allowed in branch.tests)
    return False


def _shared_key_count(branch: ObjectBranch, value: dict[str, Json]) -> int:
    return sum(not branch.absent.covers(value[name]) for name in value.keys() & branch.names)
