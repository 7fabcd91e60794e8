"""Inference of a schema from gold documents, and annotation of an inferred schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arbitre import interpreter
from arbitre.errors import DataError
from arbitre.parsing.dates import is_date
from arbitre.parsing.json_form import json_form
from arbitre.paths import STAR, parse
from arbitre.schema.loading.load_schema import KEYWORD
from arbitre.values import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.paths import Token
    from arbitre.values import Json

NO_DOCUMENTS: Final = "Expected at least one gold document to infer a schema from, got none"
"""Message if there are no documents."""


def infer(documents: Iterable[Json], dates: Iterable[str] = ()) -> dict[str, Any]:
    """Infer a JSON Schema that all documents satisfy, with genson.

    Args:
        documents: Gold documents, at least one.
        dates: Fields that get the format `date`, if all their values are dates such as 1931-03-01.

    Returns:
        The schema.

    Raises:
        DataError: There are no documents, or one of them is not JSON.

    >>> infer([{"name": "Ada", "pages": [1]}])["properties"]["pages"]
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    from genson import SchemaBuilder  # noqa: PLC0415  (most schemas are given)

    known = list(documents)
    if not known:
        raise DataError.of(NO_DOCUMENTS)
    for position, document in enumerate(known):
        known[position] = json_form(document)
        check(known[position], "document")

    def build() -> dict[str, Any]:
        builder = SchemaBuilder(schema_uri="https://json-schema.org/draft/2020-12/schema")
        for document in known:
            builder.add_object(document)
        schema: dict[str, Any] = builder.to_schema()
        return schema

    schema = interpreter.call_with_deep_stack(build)
    fields = schema.get("properties", {}).keys() & set(dates) if schema.get("type") == "object" else ()
    for name in fields:
        if all(isinstance(value := one.get(name, ""), str) and (not value or is_date(value)) for one in known):
            schema["properties"][name]["format"] = "date"
    return schema


def annotate(schema: dict[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of an inferred schema in which the settings of an overlay are annotations.

    Args:
        schema: An inferred schema: of the keywords for nested values, it has `properties`, `items` and `anyOf` only.
        overlay: Settings by wildcard path, each of which the schema has.

    >>> annotate({"type": "array", "items": {"type": "string"}}, {"/*": {"distance": "exact"}})["items"]
    {'type': 'string', 'x-arbitre': {'distance': 'exact'}}
    """
    for path, settings in overlay.items():
        schema = _annotated(schema, parse(path), settings)
    return schema


def _annotated(schema: dict[str, Any], tokens: Sequence[Token], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with further settings at a path; the schema itself if it does not have the path."""
    if not tokens:
        return schema | {KEYWORD: schema.get(KEYWORD, {}) | settings}
    token, *rest = tokens
    fields = schema.get("properties", {})
    if token is STAR and "items" in schema:
        return schema | {"items": _annotated(schema["items"], rest, settings)}
    if token in fields:
        return schema | {"properties": fields | {token: _annotated(fields[token], rest, settings)}}
    if "anyOf" in schema:
        return schema | {"anyOf": [_annotated(branch, tokens, settings) for branch in schema["anyOf"]]}
    return schema
