"""Finds the schema in a source: at the pointer of `FILE#/pointer`, or the place of a schema that is wrapped."""

from __future__ import annotations

import shlex
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from jsonschema import Draft3Validator, Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator

from arbitre.errors import SchemaError, did_you_mean, shown
from arbitre.paths import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arbitre.values import Json

KEYWORD: Final = "x-arbitre"

MAX_VALUES: Final = 10_000
"""Maximum number of values that are searched for a wrapped schema."""

MAX_SHOWN: Final = 3
"""Maximum number of keys or pointers in a message."""

_TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object", "any"))
_DRAFTS: Final = (Draft3Validator, Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator)
_BESIDE: Final = ("then", "else", "minContains", "maxContains", "contentEncoding", "contentMediaType", "contentSchema")
"""Keywords that validators read with another keyword, or do not check."""
_ASSERTIONS: Final = frozenset(keyword for draft in _DRAFTS for keyword in draft.VALIDATORS).union(_BESIDE)
_EMPTY: Final = frozenset(("$schema", "$id", "$comment"))
"""Keywords that an empty schema, which accepts any document, may contain."""
_ANNOTATIONS: Final = _EMPTY | {"title", "description", "default", "examples", "$anchor", "$defs", "definitions"}
_SUBSCHEMA: Final = ("items", "additionalProperties", "unevaluatedProperties", "not", "if")
_SUBSCHEMAS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_BY_NAME: Final = ("properties", "patternProperties")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def split_fragment(source: str | Path) -> tuple[Path, str]:
    """Split `FILE#/pointer` into the file and the JSON Pointer, which is "" if there is none.

    A file whose own name contains `#` takes precedence.
    """
    text = str(source)
    if "#" not in text or Path(text).exists():
        return Path(source), ""
    splits = [(Path(text[:at]), unquote(text[at + 1 :])) for at, sign in enumerate(text) if sign == "#"]
    return next((split for split in splits if split[0].is_file()), splits[0])


def at_pointer(contents: Json, pointer: str, file: str | None) -> Json:
    """Return the value at a JSON Pointer. Raises SchemaError if there is none."""
    value, *tokens = contents, *pointer.split("/")
    if tokens[0]:
        raise SchemaError.of(
            f"Expected a JSON Pointer after #, got {pointer!r}", file=file, hint=f"Did you mean {file}#/{pointer}?"
        )
    place = ""
    for token in (token.replace("~1", "/").replace("~0", "~") for token in tokens[1:]):
        try:
            value = value[int(token) if isinstance(value, list) and token.isdecimal() else token]
        except (KeyError, IndexError, TypeError, ValueError):
            keys = list(map(str, value)) if isinstance(value, dict) else []
            message = f"Expected a schema at {pointer}, got no {token!r}"
            hint = did_you_mean(token, keys)
            raise SchemaError.of(message, file=file, pointer=place, hint=hint) from None
        place += "/" + escape(token)
    return value


def has_own_references(contents: Json, part: Json) -> bool:
    """Return whether references in a part of a document are relative to the part.

    They are, if the document itself is not a schema and all of them lead to a value of the part. Otherwise they are
    relative to the document, as in a file of definitions.
    """
    if is_schema_like(contents):
        return False
    for _, value in _values(part):
        reference = value.get("$ref") if isinstance(value, dict) else None
        if isinstance(reference, str) and reference.startswith("#/"):
            try:
                at_pointer(part, unquote(reference[1:]), None)
            except SchemaError:
                return False
    return True


def is_schema_like(value: Json) -> bool:
    """Return whether a value is an object with a valid keyword that declares a structure."""
    if not isinstance(value, dict):
        return False
    types = value.get("type")
    names = [name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str)]
    return (
        KEYWORD in value
        or (bool(names) and _TYPES.issuperset(names))
        or any(isinstance(value.get(key), str) for key in _REFERENCES)
        or any(_is_schema(value.get(key)) for key in _SUBSCHEMA)
        or any(_all_schemas(value.get(key), list) for key in _SUBSCHEMAS)
        or any(_all_schemas(value.get(key), dict) for key in _BY_NAME)
        or isinstance(value.get("enum"), list)
    )


def check_is_schema(contents: Json, file: str | None, pointer: str = "") -> None:
    """Check that a JSON object is a schema and not, say, a document or the envelope of a schema.

    The empty schema accepts any document. It may have a `$schema`, an `$id` and a `$comment`.

    Raises:
        SchemaError: No keyword of JSON Schema was found. The error names the places of wrapped schemas.
    """
    if pointer and not isinstance(contents, (dict, bool)):
        message = f"Expected a schema to be an object or true, got {shown(contents)}"
        raise SchemaError.of(message, file=file, pointer=pointer)
    keys = contents.keys() if isinstance(contents, dict) else _EMPTY
    own = keys <= _EMPTY or is_schema_like(contents)
    if own or (keys <= _ASSERTIONS | _ANNOTATIONS and keys & _ASSERTIONS):
        return
    places = [pointer + place for place, value in _values(contents, until=is_schema_like) if is_schema_like(value)]
    if places:
        listed = ", ".join(places[:MAX_SHOWN]) + ", ..." * (len(places) > MAX_SHOWN)
        message = (
            f"Expected a JSON Schema, got an object that contains {'one' if len(places) == 1 else 'some'} at {listed}"
        )
        hint = f"Pass {shlex.quote(f'{file}#{places[0]}')}." if file else f"Pass the value at {places[0]}."
    else:
        listed = ", ".join(map(str, list(contents)[:MAX_SHOWN])) + ", ..." * (len(contents) > MAX_SHOWN)
        message = f"Expected a JSON Schema, got an object without its keywords; the keys are {listed}"
        hint = "If it is a document, infer a schema from it with `arbitre schema infer`."
    raise SchemaError.of(message, file=file, hint=hint)


def _is_schema(value: Json) -> bool:
    return isinstance(value, (dict, bool))


def _all_schemas(value: Json, container: type) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, container) and all(map(_is_schema, inner))


def _values(contents: Json, until: Callable[[Json], bool] = lambda _: False) -> Iterator[tuple[str, Json]]:
    """Yield the pointers and values in a JSON value, level by level. Does not enter values for which `until` holds."""
    pending = deque([("", contents)])
    for _ in range(MAX_VALUES):
        if not pending:
            return
        place, value = pending.popleft()
        yield place, value
        if until(value):
            continue
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        pending.extend((f"{place}/{escape(token)}", part) for token, part in inner)
