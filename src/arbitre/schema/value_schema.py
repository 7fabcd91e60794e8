"""The schema of the values at a path, without references, so that a page can check what people type."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import regex

from arbitre.errors import SchemaError
from arbitre.paths import STAR, list_position, parse
from arbitre.schema.loading.load_schema import REFERENCES
from arbitre.values import PATTERN_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.paths import Token
    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.values import Json

MAX_SUBSCHEMAS: Final = 500
"""Maximum number of subschemas and values of `enum` in the schema of one path; others are left out."""

_COPIED: Final = ("type", "enum", "const", "pattern", "format", "minLength", "maxLength", "minItems", "maxItems")
_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


def value_schemas(root: Subschema, paths: Iterable[str]) -> dict[str, Json]:
    """Return what a schema states about the values at each of these wildcard paths.

    The schemas have no references and only the keywords type, enum, const, pattern, format, minimum, exclusiveMinimum,
    maximum, exclusiveMaximum, minLength, maxLength, minItems, maxItems, items, prefixItems, required, properties,
    additionalProperties, allOf and anyOf. They accept whatever the schema accepts, and more: other keywords are left
    out, `oneOf` becomes `anyOf`, and what lies deeper than `MAX_SUBSCHEMAS` allows is left open.

    Returns:
        Schemas by path, without those that accept any value.
    """
    found = {path: _Reduction().at(root, parse(path)) for path in dict.fromkeys(paths)}
    return {path: schema for path, schema in found.items() if schema is not True}


@dataclass(slots=True)
class _Reduction:
    """Reduces the subschemas of one path.

    Attributes:
        left: Number of subschemas and values that may still be visited.
        visited: Subschemas that contain the one that is visited, with the rest of the path there.
    """

    left: int = MAX_SUBSCHEMAS
    visited: set[tuple[Subschema, tuple[Token, ...]]] = field(default_factory=set)

    def at(self, part: Subschema, tokens: tuple[Token, ...]) -> Json:
        """Return the schema of the values at a path below a subschema; False if there can be none."""
        if isinstance(part.schema, bool):
            return part.schema
        self.left -= 1
        here = part, tokens
        if self.left < 0 or here in self.visited:
            return True
        self.visited.add(here)
        found = self._parts(part, tokens)
        self.visited.remove(here)
        return _all(found)

    def _parts(self, part: Subschema, tokens: tuple[Token, ...]) -> list[Json]:
        """Return schemas that all apply to the values at a path."""
        found = [self.at(target, tokens) for target in _targets(part)]
        if not (part.legacy and "$ref" in part.schema):  # up to draft 7, keywords next to `$ref` are ignored
            found += [self.at(inner, tokens) for inner in part.members("allOf")]
            for union in ("anyOf", "oneOf"):
                if union in part.schema:
                    found.append(_any([self.at(inner, tokens) for inner in part.members(union)]))
            found.append(self._inside(part, tokens) if tokens else self._own(part))
        return found

    def _inside(self, part: Subschema, tokens: tuple[Token, ...]) -> Json:
        """Return the schema of the values at a path, by the keywords of one subschema for objects and lists."""
        schema, types, token, rest = part.schema, _types(part.schema), tokens[0], tokens[1:]
        prefix, items = part.list_keywords
        if token is not STAR:
            found = [self._field(part, str(token), rest)] if "object" in types else []
            position = list_position(str(token)) if "array" in types else None
            if position is not None and position < len(part.members(prefix)):
                found.append(self.at(part.below(prefix, position), rest))
            return _any(found)
        within: list[Subschema] = []
        if "array" in types:
            within += [*part.members(prefix), *([part.below(items)] if items in schema else [])]
        if "object" in types:
            within += [part.below("patternProperties", name) for name in schema.get("patternProperties", ())]
            within += [part.below("additionalProperties")] if "additionalProperties" in schema else []
        if not within:
            return bool({"array", "object"} & types)
        return _any([self.at(inner, rest) for inner in within])

    def _field(self, part: Subschema, name: str, rest: tuple[Token, ...]) -> Json:
        """Return the schema of the values at a path that begins with a key."""
        schema = part.schema
        found = [part.below("properties", name)] if name in schema.get("properties", ()) else []
        found += [
            part.below("patternProperties", pattern)
            for pattern in schema.get("patternProperties", ())
            if _matches(pattern, name)
        ]
        if not found and "additionalProperties" in schema:
            found = [part.below("additionalProperties")]
        return _all([self.at(inner, rest) for inner in found])

    def _own(self, part: Subschema) -> Json:
        """Return the keywords of one subschema that do not combine it with others; True if there are none."""
        schema = part.schema
        own = {name: schema[name] for name in _COPIED if name in schema}
        if not _names(schema.get("type", ())) <= _TYPES:  # schemas as types, in draft 3
            del own["type"]
        self.left -= len(own.get("enum", ()))
        if self.left < 0:
            own.pop("enum", None)
        for bound, exclusive in _BOUNDS:
            strict = schema.get(exclusive)
            if strict is True:  # up to draft 4, the bound is exclusive
                own |= {exclusive: schema[bound]} if bound in schema else {}
            else:
                own |= {name: schema[name] for name in (bound, exclusive) if schema.get(name, False) is not False}
        if isinstance(schema.get("required"), list):
            own["required"] = schema["required"]
        if "properties" in schema:
            own["properties"] = {name: self.at(part.below("properties", name), ()) for name in schema["properties"]}
        if "additionalProperties" in schema and "patternProperties" not in schema:
            own["additionalProperties"] = self.at(part.below("additionalProperties"), ())
        prefix, items = part.list_keywords
        if prefix in schema:
            own["prefixItems"] = [self.at(inner, ()) for inner in part.members(prefix)]
        if items in schema:
            own["items"] = self.at(part.below(items), ())
        return own or True


def _targets(part: Subschema) -> Iterator[Subschema]:
    """Yield the targets of the references of a subschema, except for broken ones."""
    for keyword in REFERENCES:
        if keyword in part.schema:
            with suppress(SchemaError):
                yield part.follow(keyword)


def _types(schema: Mapping[str, Json]) -> frozenset[str]:
    return _names(schema["type"]) if "type" in schema else _TYPES


def _names(types: Json) -> frozenset[str]:
    """Return the names of types; a schema as a type counts as an unknown name."""
    return frozenset(name if isinstance(name, str) else "" for name in ([types] if isinstance(types, str) else types))


def _matches(pattern: str, key: str) -> bool:
    """Return whether a pattern matches a key; False if it takes too long or is not a regular expression."""
    try:
        return regex.search(pattern, key, timeout=PATTERN_SECONDS) is not None
    except (TimeoutError, regex.error):
        return False


def _all(found: Sequence[Json]) -> Json:
    """Return the schema of the values that all these schemas accept."""
    if False in found:
        return False
    parts = _distinct(schema for schema in found if schema is not True)
    return {"allOf": parts} if len(parts) > 1 else parts[0] if parts else True


def _any(found: Sequence[Json]) -> Json:
    """Return the schema of the values that one of these schemas accepts."""
    if True in found:
        return True
    parts = _distinct(schema for schema in found if schema is not False)
    return {"anyOf": parts} if len(parts) > 1 else parts[0] if parts else False


def _distinct(schemas: Iterable[Json]) -> list[Json]:
    return list({json.dumps(schema, sort_keys=True): schema for schema in schemas}.values())
