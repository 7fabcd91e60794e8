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

    # from arbitre.options: Annotations, Comparison, Formats, Functions, Overrides
    overlay: Mapping[str, Json] | str | Path | None
    """Extra x-arbitre annotations by path, for a schema that you cannot edit."""
    functions: Iterable[str]
    """Custom distance, normaliser or catalogue in a Python module."""
    allow_refs: str | Path | Iterable[str | Path]
    """Folder with files that the schema may reference with $ref, besides its own folder."""
    close: float
    """Minimum quality for the verdict "close"."""
    max_calls: int | None
    """Maximum number of calls to a custom distance per document."""
    format_assertion: bool
    """Also report values that do not have the `format` of the schema."""
    distances: Distances
    """Custom distances by name."""
    normalizers: Normalizers
    """Custom normalisers by name."""
    match: Json
    """Use this matching for all arrays: a name, or JSON as in a schema. Repeat it to compare several side by side."""
    distance: Json
    """Use this distance for all non-exact leaves: a name, or JSON as in a schema. Repeat it to compare several side
    by side."""
    # end of the options


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
