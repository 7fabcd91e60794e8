"""`Field`: the `x-arbitre` settings of a field of a Python type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbitre.schema.loading.schema_root import KEYWORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.values import Json


class Field:
    """The `x-arbitre` settings of a field, for `Annotated[TYPE, Field(...)]` in a type that Pydantic takes.

    In a struct of msgspec or a class of attrs, write
    `Annotated[TYPE, msgspec.Meta(extra_json_schema=Field(...).json_schema)]`. The settings are those of the keyword
    `x-arbitre`, and are checked when the schema is compiled.

    Args:
        distance: How two values are compared.
        normalize: Normalisers, applied in order before comparison.
        floor: Quality below which two values count as completely different.
        weight: Weight of the field in its object.
        match: How the items of two lists are matched.
        entries: Whether the items of this list are the entries.
        absent: Which of null, texts such as "" or "n/a", [] and {} count as absent.
        aliases: Relative JSON Pointers to other places where a prediction may store this field.
        alternatives: Where gold lists the accepted readings of the value.
        ignore: Whether the field is excluded from the comparison.
        undeclared: Whether keys that the schema does not declare count.

    >>> Field(distance="levenshtein", weight=2).json_schema
    {'x-arbitre': {'distance': 'levenshtein', 'weight': 2}}
    """

    def __init__(
        self,
        *,
        distance: Json = None,
        normalize: Json = None,
        floor: float | None = None,
        weight: float | None = None,
        match: Json = None,
        entries: bool | None = None,
        absent: Sequence[Json] | None = None,
        aliases: Sequence[str] | None = None,
        alternatives: str | bool | None = None,
        ignore: bool | None = None,
        undeclared: str | None = None,
    ) -> None:
        settings = {name: value for name, value in locals().items() if name != "self" and value is not None}
        self.json_schema: dict[str, Json] = {KEYWORD: settings}

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Json]:  # noqa: ANN401
        """Add the settings to the JSON Schema of the field; called by Pydantic."""
        schema = dict(handler(core_schema))
        return schema | {KEYWORD: schema.get(KEYWORD, {}) | self.json_schema[KEYWORD]}

    def __repr__(self) -> str:
        return f"Field({', '.join(f'{name}={value!r}' for name, value in self.json_schema[KEYWORD].items())})"
