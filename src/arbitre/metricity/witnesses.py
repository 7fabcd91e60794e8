"""Witnesses: documents that show why a schema's distance is not a metric, searched on request."""

from __future__ import annotations

import random
from copy import deepcopy
from functools import lru_cache
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.distances.custom import MemoPool
from arbitre.engine.batch_comparison import inner_pools, pairwise_qualities
from arbitre.engine.columns.build import build_columns
from arbitre.engine.columns.column import LeafColumn
from arbitre.engine.columns.row_keys import row_codes
from arbitre.errors import ArbitreError
from arbitre.paths import STAR
from arbitre.schema.certificate import Witness
from arbitre.schema.examples import Examples
from arbitre.schema.nodes import Reach
from arbitre.values import canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.paths import Path
    from arbitre.schema import Plan
    from arbitre.schema.certificate import Fact, MetricViolation
    from arbitre.schema.examples import Frame
    from arbitre.values import Json

NEAR: Final = 1e-9
"""Tolerance for comparing distances."""

DRAWS: Final = 12
"""Number of item triples whose lists are compared to find a violation by a matching."""

DOCUMENTS: Final = 48
"""Maximum number of documents compared with each other at once."""

LENGTH: Final = 100
"""Length of the texts that are tried for distances with a floor."""

MOST_FORMS: Final = 6
"""Maximum number of values that are combined to documents with several forms."""

POOLS: Final = 40
"""Maximum number of sets of documents compared for one violation."""

_ORDER: Final[dict[Fact, tuple[Fact, ...]]] = {"metric": ("identity", "symmetric", "triangle")}


@lru_cache(maxsize=64)
def find(plan: Plan, broken: MetricViolation) -> Witness | None:
    """Search for valid documents that show a violation listed in a certificate.

    The search is deterministic and bounded, and never calls custom distances.

    Args:
        plan: The compiled schema.
        broken: The violation.

    Returns:
        Documents whose distances, as computed by `Comparator.compare`, violate the property: (x,) if d(x, x) is not 0,
        (x, y) if d is not symmetric or is 0 for different documents, (x, y, z) if d(x, z) exceeds d(x, y) + d(y, z).
        None if none were found.
    """
    examples = Examples(plan.root, _scalar_values(plan))
    if broken.alternatives is not None:
        return _with_forms(plan, examples, broken)
    transported = any(site.list.matcher.transport is not None for site in plan.sites)  # many times slower
    max_pools = POOLS // 4 if transported else POOLS
    pools = (
        (frame, values)
        for place in broken.places
        for frame in examples.frames(place)
        for values in _pools(examples, frame, broken)
    )
    witnesses = (
        _strongest_witness(plan, examples, frame, values, broken.fact) for frame, values in islice(pools, max_pools)
    )
    return next((witness for witness in witnesses if witness is not None), None)


def _scalar_values(plan: Plan) -> list[Json]:
    """Return scalar values from the options and the known violations of a plan's distances."""
    scalars: list[Json] = []
    for site in plan.sites:
        for leaf in Reach.of(site).every:
            distance = leaf.distance
            for values in (distance.facts.witness, *map(distance.options.get, ("values", "order", "parents"))):
                scalars += [value for value in values or () if kind_of(value).scalar]
            if distance.name == "tolerance" and "relative" in distance.options:
                step = 1.0 - 0.7 * distance.options["relative"]
                scalars += [1.0, step, step * step]
            if distance.without_floor is not None:
                scalars += _around_floor(distance.options["floor"])
    return list({canonical(value): value for value in scalars}.values())


def _around_floor(floor: float) -> Iterator[Json]:
    """Yield texts and numbers of which two steps, but not one, lead to a quality below a floor."""
    share = 1.0 - floor
    for most in (share * LENGTH, 2.0 * share / (2.0 - share) * LENGTH):  # `levenshtein` and `yujian-bo`
        changed = min(LENGTH, int(most) + 1)
        for count in (0, changed // 2, changed):
            yield "a" * (LENGTH - count) + "b" * count
            yield LENGTH - count


def _pools(examples: Examples, frame: Frame, broken: MetricViolation) -> Iterator[Sequence[Json]]:
    """Yield sets of values to try at the path of a violation: known violating values first, then examples."""
    if broken.known:
        yield broken.known
    if not broken.listed:
        yield examples.values(frame.inside)
        return
    items = examples.items(frame.inside)
    yield [several for size in range(4) for several in examples.lists(frame.inside, items[:2], size)]
    repeated = [list(examples.repeated(frame.inside, items, size)) for size in (1, 2, 3)]
    singles = next(
        (
            chosen_items
            for chosen_items in repeated
            if any(examples.valid(frame.wrap(copies)) for copies in chosen_items)
        ),
        [],
    )
    yield singles
    for chosen_items in _triples(items):
        yield [several for size in range(4) for several in examples.lists(frame.inside, chosen_items, size)]


def _triples(items: Sequence[Json]) -> Iterator[Sequence[Json]]:
    """Yield triples of items: the first three, then random ones."""
    if len(items) <= 3:  # noqa: PLR2004
        yield items
        return
    yield items[:3]
    chance = random.Random(0)  # noqa: S311  (not for cryptography; fixed seed for reproducibility)
    for _ in range(DRAWS):
        yield chance.sample(items, 3)


def _strongest_witness(
    plan: Plan, examples: Examples, frame: Frame, values: Sequence[Json], fact: Fact
) -> Witness | None:
    """Return the documents with these values that violate a property most; None if none do."""
    pairs = ((value, frame.wrap(value)) for value in values)
    return _strongest(plan, islice((pair for pair in pairs if examples.valid(pair[1])), DOCUMENTS), fact)


def _with_forms(plan: Plan, examples: Examples, broken: MetricViolation) -> Witness | None:
    """Search for documents with several accepted forms of a value.

    The schema need not accept a list of forms in place of the value, but it accepts each form.
    """
    for place in broken.places:
        for frame in examples.frames(place):
            pairs = ((value, frame.wrap(value)) for value in examples.values(frame.inside))
            single = list(islice((pair for pair in pairs if examples.valid(pair[1])), MOST_FORMS))
            several: list[tuple[Json, Json]] = []
            for (first, document), (second, _) in permutations(single, 2):
                if broken.alternatives is True:
                    several.append(([first, second], frame.wrap([first, second])))
                else:
                    holders = (
                        _beside(document, place, str(broken.alternatives), added) for added in ([second], second)
                    )
                    held = next((pair for pair in holders if examples.valid(pair[1])), None)
                    several += [] if held is None else [held]
            witness = _strongest(plan, [*single, *several], broken.fact)
            if witness is not None:
                return witness
    return None


def _beside(document: Json, path: Path, sibling: str, value: Json) -> tuple[Json, Json]:
    """Return a copy of a document with a sibling of the field at a path added: the object around both, and the copy."""
    whole = deepcopy(document)
    holder: Any = whole
    for token in path[:-1]:
        holder = next(iter(holder.values() if isinstance(holder, dict) else holder)) if token is STAR else holder[token]
    holder[sibling] = value
    return holder, whole


def _strongest(plan: Plan, pairs: Iterable[tuple[Json, Json]], fact: Fact) -> Witness | None:
    """Return the (value, document) pairs that violate a property most; None if none do."""
    valid_pairs = list(pairs)
    measured = _pairwise_distances(plan, [document for _, document in valid_pairs]) if valid_pairs else None
    if measured is None:  # possibly only some of them cannot be compared
        valid_pairs = [pair for pair in valid_pairs if _pairwise_distances(plan, [pair[1]]) is not None]
        measured = _pairwise_distances(plan, [document for _, document in valid_pairs]) if valid_pairs else None
    if measured is None:
        return None
    for violated in _ORDER.get(fact, (fact,)):
        at = _most_violating(*measured, violated)
        if at is not None:
            return Witness(tuple(valid_pairs[index][1] for index in at), tuple(valid_pairs[index][0] for index in at))
    return None


def _pairwise_distances(plan: Plan, documents: Sequence[Json]) -> tuple[Floats, Indices] | None:
    """Return the pairwise distances, shape (n, n), and a code per document, shape (n,), equal for equal documents.

    Return None if custom distances would be called, or the documents cannot be compared.
    """
    size = len(documents)
    try:
        columns = build_columns(plan, documents, documents)
        if any(
            isinstance(pool, MemoPool)
            for column in columns
            if isinstance(column, LeafColumn)
            for pool in inner_pools(column)
        ):
            return None
        root = columns[0]
        present = np.ones(size, dtype=np.bool_) if root.present is None else root.present[:size]
        rows = present.nonzero()[0]
        qualities = pairwise_qualities(root, rows, rows + size)
    except ArbitreError:
        return None
    table = np.not_equal.outer(present, present).astype(np.float64)
    table[np.ix_(rows, rows)] = 1.0 - qualities
    return table, np.where(present, row_codes(root)[:size], -1)


def _most_violating(table: Floats, codes: Indices, fact: Fact) -> tuple[int, ...] | None:
    """Return the indices of the documents that violate a property most; None if none do."""
    excess: Floats
    if fact == "identity":
        excess = table.diagonal()
    elif fact == "symmetric":
        excess = np.abs(table - table.T)
    elif fact == "separating":
        excess = ((codes[:, None] != codes) & (table <= NEAR)).astype(np.float64)
    else:
        excess = table[:, None, :] - table[:, :, None] - table[None, :, :]
    worst = int(excess.argmax())
    if excess.flat[worst] <= NEAR:
        return None
    return tuple(int(index) for index in np.unravel_index(worst, excess.shape))
