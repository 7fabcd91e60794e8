"""Estimates categories from annotators with different error rates (Dawid and Skene, 1979), with crowd-kit."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.agreement.consensus.places import SCALAR
from arbitre.errors import OptionError, optional_library
from arbitre.tables.table import Table
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.agreement.consensus.places import Place, Places
    from arbitre.engine.columns.column import LeafColumn

LEAST_ANNOTATORS: Final = 3
"""Minimum number of annotators; the error rates of two cannot be distinguished."""

LEAST_VALUES: Final = 10
"""Number of values per category below which the estimated error rates are unreliable."""

STEPS: Final = 20
"""Number of steps of expectation maximisation. In simulations, 100 steps take five times as long, and the categories
are not correct more often."""

_CATEGORICAL: Final = frozenset({"ordinal", "table", "taxonomy"})
"""Distances of categories, besides `exact` for values that are not numbers."""

_DIGITS: Final = 9
"""Number of decimals of the probabilities, so that rounding errors do not decide between categories."""


class Estimates(NamedTuple):
    """The most probable categories.

    Attributes:
        candidates: For each place, the annotators who have the most probable of the categories given there. Several
            categories can be equally probable.
        sizes: Number of values and of categories at each path.
    """

    candidates: Mapping[Place, tuple[int, ...]]
    sizes: Mapping[str, tuple[int, int]]


def estimate(places: Places) -> Estimates:
    """Estimate the error rates of the annotators and the categories of single values, separately for each path.

    Only categories that an annotator gave at a place are candidates there.

    Raises:
        OptionError: There are fewer than three annotators.
        DataError: crowd-kit is not installed.
    """
    if len(places.annotators) < LEAST_ANNOTATORS:
        raise OptionError.of(
            f"`strategy` dawid-skene requires at least {LEAST_ANNOTATORS} annotators, got {len(places.annotators)}.",
            hint="With two annotators, the data do not show which one is wrong. Use majority and decide on the ties.",
        )
    columns: dict[LeafColumn, list[Place]] = defaultdict(list)
    for place in places.every:
        if place.leaf is not None and _is_categorical(place.leaf):
            columns[place.leaf].append(place)
    candidates: dict[Place, tuple[int, ...]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for same in columns.values():
        labels = {place.codes[at] for place in same for at in place.members(SCALAR)}
        if len(labels) > 1:
            candidates |= _most_probable(same)
            sizes[same[0].path] = len(same), len(labels)
    return Estimates(candidates, sizes)


def _is_categorical(column: LeafColumn) -> bool:
    """Return whether the values of a column are categories, by their distances."""
    names = {leaf.distance.name for leaf in column.leaves}
    numeric = any(kind == Kind.NUMBER for kind in column.kinds.tolist())
    return bool(names) and names <= (_CATEGORICAL if numeric else _CATEGORICAL | {"exact"})


def _most_probable(places: Sequence[Place]) -> dict[Place, tuple[int, ...]]:
    """Return the annotators who have the most probable of the categories given at each place.

    Args:
        places: The places of single values of one column, each with a code of the category of each annotator.
    """
    model = _model()
    votes = np.array(
        [(task, at, place.codes[at]) for task, place in enumerate(places) for at in place.members(SCALAR)],
        dtype=np.intp,
    )
    frame = Table.of_frame(dict(zip(("task", "worker", "label"), votes.T, strict=True))).to_pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pandas, about how crowd-kit calls it
        table = model.fit_predict_proba(frame).round(_DIGITS)
    position = {label: at for at, label in enumerate(table.columns)}
    candidates = {}
    for task, probabilities in zip(table.index.tolist(), table.to_numpy().tolist(), strict=True):
        place = places[task]
        given = {at: probabilities[position[place.codes[at]]] for at in place.members(SCALAR)}
        highest = max(given.values())
        candidates[place] = tuple(at for at, probability in given.items() if probability == highest)
    return candidates


def _model() -> Any:  # noqa: ANN401  (of a library that may not be installed)
    """Return an untrained model. Raises DataError if crowd-kit is not installed."""
    with optional_library("crowd-kit", "consensus", "The strategy dawid-skene"):
        from crowdkit.aggregation import DawidSkene  # noqa: PLC0415  (optional, loads slowly)
    # The stopping rule of crowd-kit 1.4.2 adds the log prior once per vote instead of once per task. It can stop after
    # two steps, while the likelihood still rises. With -inf, it never stops before the last step.
    return DawidSkene(n_iter=STEPS, tol=-np.inf)
