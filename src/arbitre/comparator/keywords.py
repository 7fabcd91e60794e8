"""The options of a comparator as keyword arguments of the functions that build one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from arbitre.comparator.comparator import Comparator
from arbitre.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from arbitre.comparator.functions import Distances, Normalizers
    from arbitre.schema import SchemaSource
    from arbitre.values import Json


class ComparatorKeywords(TypedDict, total=False):
    """Options of a comparator, as described at `Comparator`."""

    overlay: Mapping[str, Json] | str | Path | None
    close: float
    distances: Distances
    normalizers: Normalizers
    functions: Iterable[str]
    match: Json
    distance: Json
    max_calls: int | None
    format_assertion: bool
    allow_refs: str | Path | Iterable[str | Path]


def take_comparator(schema: SchemaSource | Comparator, options: dict[str, Any]) -> Comparator:
    """Return the comparator of a schema, and remove its options from keyword arguments.

    Raises:
        OptionError: A comparator is given together with one of its options.
        SchemaError: The schema is invalid.
    """
    names = ComparatorKeywords.__annotations__.keys() & options.keys()
    given = {name: options.pop(name) for name in sorted(names)}
    if not isinstance(schema, Comparator):
        return Comparator(schema, **given)
    if given:
        raise OptionError.of(f"`{next(iter(given))}` requires a schema. Pass it to the Comparator instead.")
    return schema
