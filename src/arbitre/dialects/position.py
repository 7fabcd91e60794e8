"""The positions of a schema that is annotated for another tool."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from arbitre.paths import STAR, escape
from arbitre.schema.compiling.branches import declared_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.paths import Token
    from arbitre.schema import Subschema

_OF_VALUES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


@dataclass(frozen=True)
class Position:
    """A place of a schema: the subschema there, with its references and unions resolved.

    Attributes:
        path: Its wildcard path.
        role: The root, a field of an object, an item of a list, or a value of a map.
        node: The subschema that is written there.
        parent: The enclosing position; None for the root.
    """

    path: str
    role: Literal["root", "field", "item", "value"]
    node: Subschema
    parent: Position | None = None

    @cached_property
    def parts(self) -> tuple[Subschema, ...]:
        """The subschema, and those that its references, `allOf`, `anyOf` and `oneOf` lead to."""
        return self.node.reached(("allOf", "anyOf", "oneOf"))

    @cached_property
    def common(self) -> tuple[Subschema, ...]:
        """The subschema, and those that its references and `allOf` lead to: what applies to every value."""
        return self.node.reached(("allOf",))

    @cached_property
    def types(self) -> frozenset[str]:
        """The types of values other than null; without `type`, those of the constants or of the structure."""
        types: set[str] = set()
        for part in self.parts:
            declared = part.schema.get("type", ())
            types.update([declared] if isinstance(declared, str) else declared)
            if not declared:
                types.update(_types_of_constants(part))
                types.update(kind for kind, key in (("object", "properties"), ("array", "items")) if key in part.schema)
        return frozenset(types - {"null"})

    @cached_property
    def written_types(self) -> frozenset[str]:
        """The types, and those of the constants: 1 is an integer even if the type is number."""
        return self.types.union(*map(_types_of_constants, self.parts))

    @cached_property
    def constant(self) -> bool:
        """Whether the schema lists the values."""
        return any("const" in part.schema or "enum" in part.schema for part in self.parts)

    @property
    def union(self) -> bool:
        """Whether the values have several types, or one of several subschemas."""
        return any("anyOf" in part.schema or "oneOf" in part.schema for part in self.common) or any(
            isinstance(part.schema.get("type"), list) for part in self.common
        )

    @cached_property
    def format(self) -> str | None:
        return next((str(part.schema["format"]) for part in self.parts if "format" in part.schema), None)

    @cached_property
    def formats(self) -> frozenset[str]:
        """The formats of texts; "" stands for texts without a format."""
        texts = (part.schema for part in self.parts if "string" in part.schema.get("type", ()))
        return frozenset(str(schema.get("format", "")) for schema in texts)

    @property
    def decimal(self) -> bool:
        """Whether texts may be decimal numbers, which arbitre compares as numbers unless `normalize` is set."""
        return any(declared_format(part.schema) == "decimal" for part in self.parts)

    @property
    def open(self) -> bool:
        """Whether the keys that an object may have besides its properties are not declared."""
        return all(part.schema.get("additionalProperties", False) is False for part in self.parts) and not any(
            "patternProperties" in part.schema for part in self.parts
        )

    @property
    def structured(self) -> bool:
        """Whether the schema declares the fields of an object or the items of a list."""
        return any(True for _ in self.children())

    @property
    def in_list(self) -> bool:
        """Whether it is an item of a list, or inside one."""
        return self.role == "item" or (self.parent is not None and self.parent.in_list)

    @property
    def recursive(self) -> bool:
        """Whether an enclosing position has the same subschema."""
        own, above = self.node.direct(), self.parent
        while above is not None:
            if above.node.direct() == own:
                return True
            above = above.parent
        return False

    def children(self) -> Iterator[Position]:
        """Yield the positions of the fields, items and values."""
        for part in self.parts:
            schema = part.schema
            for name in schema.get("properties", ()):
                yield self._child(name, "field", part.below("properties", name))
            for name in schema.get("patternProperties", ()):
                yield self._child(STAR, "value", part.below("patternProperties", name))
            if isinstance(schema.get("additionalProperties"), dict):
                yield self._child(STAR, "value", part.below("additionalProperties"))
            for index, member in enumerate(part.members(part.list_keywords[0])):
                yield self._child(str(index), "item", member)
            if isinstance(schema.get("items"), dict):
                yield self._child(STAR, "item", part.below("items"))

    def _child(self, token: Token, role: Literal["field", "item", "value"], node: Subschema) -> Position:
        return Position(f"{self.path}/{escape(token)}", role, node, self)

    def keyword(self, key: str) -> tuple[Any, Subschema] | None:
        """Return the value of a keyword, and the subschema that has it; None if there is none."""
        return next(((part.schema[key], part) for part in self.common if key in part.schema), None)


def _types_of_constants(part: Subschema) -> set[str]:
    """Return the types of the values other than null that a subschema lists."""
    constants = [part.schema["const"]] if "const" in part.schema else part.schema.get("enum", ())
    return {_OF_VALUES[type(value)] for value in constants if value is not None}
