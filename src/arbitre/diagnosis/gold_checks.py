"""Checks of a single gold document for errors that make scores unreliable.

To add a check, write a function that yields the findings of one document and add it to `CHECKS`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import regex

from arbitre.engine.columns.aliases import aliased
from arbitre.errors import DataError
from arbitre.paths import order, pointer
from arbitre.schema.validation.validate import find_violations
from arbitre.values import PATTERN_SECONDS, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.schema.nodes import ObjectNode, Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Tokens = tuple[str | int, ...]

UNREADABLE: Final = "unreadable"
"""Name of the check that fails for a document that is not JSON; no other checks run in this case."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a gold document.

    Attributes:
        check: Name of the check: a key of `CHECKS`, or "unreadable".
        pointer: JSON Pointer of the value in the document.
        message: What is wrong.
        hint: How to fix it, if known.
    """

    check: str
    pointer: str | None
    message: str
    hint: str | None = None


def findings_of(plan: Plan, document: Json) -> tuple[Finding, ...]:
    """Run every check on one gold document.

    Args:
        plan: The compiled schema.
        document: The gold document.

    Returns:
        The findings, grouped by check, in document order.

    Raises:
        SchemaError: Schema validation takes too many steps.
    """
    try:
        check(document, "gold document")
    except DataError as error:
        return (Finding(UNREADABLE, error.pointer, error.message, error.hint),)
    return tuple(found for run in CHECKS.values() for found in run(plan, document))


def _violating(plan: Plan, document: Json) -> Iterator[Finding]:
    """Yield the values that violate the schema."""
    for violation in find_violations(plan.root, document):
        yield Finding("schema", violation.pointer, f"{violation.message} ({violation.keyword})")


def _aliased(plan: Plan, document: Json) -> Iterator[Finding]:
    """Yield the values under an alias. Aliases are read in predictions only."""
    reaching = _reaching(plan.sites)
    found: dict[Tokens, Tokens] = {}
    pending: deque[tuple[int, Json, Tokens]] = deque([(0, document, ())])
    while pending:
        index, value, above = pending.popleft()
        if index not in reaching or plan.sites[index].leaf is not None:
            continue
        if isinstance(value, dict):
            node = plan.sites[index].object
            for field, alias in aliased(value, node.aliases):
                found.setdefault((*above, *alias), (*above, *field))
        pending.extend((child, inner, (*above, token)) for child, inner, token in _children(plan.sites[index], value))
    for source, target in sorted(found.items(), key=lambda item: order(pointer(item[0]))):
        yield Finding(
            "alias",
            pointer(source),
            f"Gold has a value under an alias of {pointer(target)}",
            f"Move it to {pointer(target)}. Aliases are read in predictions only.",
        )


def _reaching(sites: Sequence[Site]) -> set[int]:
    """Return the sites that have aliases on an object, or contain such a site."""
    above: dict[int, list[int]] = {}
    for index, site in enumerate(sites):
        node = site.object
        children = [*(field.site for field in node.fields), *(below for _, below in node.patterns), node.additional]
        for child in (*children, *site.list.prefix, site.list.items):
            above.setdefault(child, []).append(index)
    pending = [index for index, site in enumerate(sites) if site.object.aliases]
    reached = set(pending)
    while pending:
        for index in above.get(pending.pop(), ()):
            if index not in reached:
                reached.add(index)
                pending.append(index)
    return reached


def _children(site: Site, value: Json) -> Iterator[tuple[int, Json, str | int]]:
    """Yield (site, value, token) for each child of an object or list, except ignored fields."""
    if isinstance(value, list):
        prefix = site.list.prefix
        for position, item in enumerate(value):
            yield prefix[position] if position < len(prefix) else site.list.items, item, position
    elif isinstance(value, dict):
        known = {field.name: field.site for field in site.object.fields}
        for key, inner in value.items():
            if key not in site.object.ignored:
                yield known[key] if key in known else _undeclared(site.object, key), inner, key


def _undeclared(node: ObjectNode, key: str) -> int:
    """Return the site of a key that is not in `properties`."""
    for pattern, site in node.patterns:
        try:
            if regex.compile(pattern).search(key, timeout=PATTERN_SECONDS) is not None:
                return site
        except TimeoutError:
            continue  # a comparison reports this key as an error
    return node.additional


CHECKS: Final[Mapping[str, Callable[[Plan, Json], Iterable[Finding]]]] = {"schema": _violating, "alias": _aliased}
"""The checks by name, in the order of execution."""
