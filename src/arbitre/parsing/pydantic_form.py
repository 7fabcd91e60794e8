"""Writes instances of Pydantic types with the keys of the JSON Schema for validation, which is the schema of the type.

Pydantic itself writes serialization aliases and computed fields, which that schema does not declare.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES: Final = 1024
"""Maximum number of types whose keys are remembered."""

_DEEPEST: Final = 255
"""Number of nested values in a value of type `Any` beyond which Pydantic refuses it."""


def pydantic_form(value: Any, fallback: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return an instance of a Pydantic type as Pydantic writes it, with the keys of its JSON Schema.

    Args:
        value: The instance.
        fallback: Writes values that Pydantic cannot write.

    Raises:
        ValueError: Pydantic cannot write a value.
        TypeError: The version of Pydantic is too old to write these keys.
    """
    kind: Any = type(value)
    serializer = _serializer(kind, kind.__pydantic_serializer__, fallback)
    if serializer is None:
        return sys.modules["pydantic_core"].to_jsonable_python(value, by_alias=True, fallback=fallback)
    return serializer.to_python(value, mode="json", by_alias=True, warnings=False, fallback=fallback)


def keys_of_data_class(kind: type) -> dict[str, str]:
    """Return the keys of the fields of a standard data class, by attribute, in the JSON Schema that Pydantic generates.

    Empty if Pydantic is not imported or generates no schema for the class.
    """
    pydantic = sys.modules.get("pydantic")
    return {} if pydantic is None else _keys(kind, pydantic.TypeAdapter)


@lru_cache(maxsize=_TYPES)
def _keys(kind: type, adapter: Any) -> dict[str, str]:  # noqa: ANN401
    try:
        core_schema = adapter(kind).core_schema
    except Exception:  # noqa: BLE001  (Pydantic does not support a type in the class)
        return {}
    pending = [core_schema] if isinstance(core_schema, dict) else []  # not if a type in the class is undefined
    while pending:
        part = pending.pop()
        if part["type"] == "dataclass" and part["cls"] is kind:
            arguments = part["schema"]
            while "fields" not in arguments:  # within a validator
                arguments = arguments["schema"]
            fields = _CoreSchema(kind, str).fields(arguments["fields"], by_alias=_by_alias(part))
            return {field["name"]: field["serialization_alias"] for field in fields}
        pending += part.get("definitions", ())
        pending += [part["schema"]] if isinstance(part.get("schema"), dict) else []
    return {}


@lru_cache(maxsize=_TYPES)
def _serializer(kind: type, own: Any, fallback: Callable[[Any], Any]) -> Any:  # noqa: ANN401, ARG001  (of one build)
    """Return a serializer that writes the keys of the JSON Schema, or None if Pydantic's own does so."""
    core_schema = getattr(kind, "__pydantic_core_schema__", None)
    if not isinstance(core_schema, dict):
        return None
    rewriter = _CoreSchema(kind, partial(_with_models_written, fallback=fallback))
    schema = rewriter.rewritten(core_schema)
    if not (rewriter.other_keys or rewriter.open):
        return None
    try:  # without the serializers of nested models, which write other keys
        return sys.modules["pydantic_core"].SchemaSerializer(schema, rewriter.config, _use_prebuilt=False)
    except TypeError as error:
        if not rewriter.other_keys:
            return None
        raise TypeError("this version of Pydantic cannot write the keys of the JSON Schema: update it") from error


_VALUES: Final = frozenset({"config", "default", "expected", "members", "metadata"})
"""Keys of core schemas whose values are not schemas."""

_FIELDS: Final = frozenset({"model-fields", "dataclass-args", "typed-dict"})
"""Core schemas with named fields."""


def _by_alias(part: dict[str, Any]) -> bool:
    """Return whether the JSON Schema of a model or a data class has aliases as keys."""
    return (part.get("config") or {}).get("validate_by_alias") is not False


class _CoreSchema:
    """Rewrites the core schema of a type, so that its serializer writes the keys of the JSON Schema.

    Attributes:
        kind: The type.
        write_any: Writes a value whose type the core schema does not contain.
        config: The configuration of the type, once rewritten.
        other_keys: Whether Pydantic itself writes other keys for the type, or for a type in it.
        open: Whether a value can have a type that the core schema does not contain, such as a value of type `Any`.
    """

    def __init__(self, kind: type, write_any: Callable[[Any], Any]) -> None:
        self.kind = kind
        self.write_any = write_any
        self.config: Any = None
        self.other_keys = False
        self.open = False

    def rewritten(self, part: Any, *, by_alias: bool = True) -> Any:  # noqa: ANN401
        """Return a part of the core schema, with new keys; they are aliases if `by_alias` is set."""
        if type(part) is list or type(part) is tuple:
            return type(part)(self.rewritten(item, by_alias=by_alias) for item in part)
        if type(part) is not dict:
            return part
        kind = part["type"] if isinstance(part.get("type"), str) else None
        if kind in {"model", "dataclass", "typed-dict"}:
            by_alias = _by_alias(part)
            part = self._without_polymorphism(part)
        if kind == "any" and "serialization" not in part:
            part = part | {"serialization": {"type": "any"}}
        return {key: self._value(kind, key, item, by_alias=by_alias) for key, item in part.items()}

    def _value(self, kind: str | None, key: str, item: Any, *, by_alias: bool) -> Any:  # noqa: ANN401
        """Return the new value of a key of a core schema of this kind."""
        if key == "fields" and kind in _FIELDS:
            return self.fields(item, by_alias=by_alias)
        if key == "choices" and type(item) is dict:  # by tag
            return {tag: self.rewritten(choice, by_alias=by_alias) for tag, choice in item.items()}
        if key == "computed_fields":
            self.other_keys |= bool(item)
            return []
        if key == "serialization":
            return self._serialization(item, by_alias=by_alias)
        return item if key in _VALUES else self.rewritten(item, by_alias=by_alias)

    def _without_polymorphism(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return a model whose subclasses are written by `write_any`, and not by Pydantic, if it is polymorphic."""
        config = part.get("config") or {}
        if config.get("polymorphic_serialization") and part["type"] != "typed-dict" and "serialization" not in part:
            write = {"type": "function-wrap", "function": partial(self._polymorphic, part["cls"])}
            self.open = True
            part = part | {"serialization": write, "config": config | {"polymorphic_serialization": False}}
        if part.get("cls") is self.kind:
            self.config = part.get("config")
        return part

    def fields(self, fields: Any, *, by_alias: bool) -> Any:  # noqa: ANN401
        """Return fields, by name or in a list, with their keys in the JSON Schema as serialization aliases."""
        if isinstance(fields, dict):
            return {name: self._field(name, field, by_alias=by_alias) for name, field in fields.items()}
        return [self._field(field["name"], field, by_alias=by_alias) for field in fields]

    def _field(self, name: str, field: dict[str, Any], *, by_alias: bool) -> dict[str, Any]:
        aliases = field.get("validation_alias", name) if by_alias else name
        if not isinstance(aliases, str):  # paths of keys; the first path with one key is in the JSON Schema
            paths = [path for path in aliases if isinstance(path, list)]
            aliases = next((path[0] for path in paths if len(path) == 1 and isinstance(path[0], str)), name)
        self.other_keys |= field.get("serialization_alias", name) != aliases
        return {**self.rewritten(field, by_alias=by_alias), "serialization_alias": aliases}

    def _serialization(self, part: dict[str, Any], *, by_alias: bool) -> dict[str, Any]:
        """Return how a part is serialized. Values that a function returns are written by their types."""
        if part["type"] == "any":
            return self._by_type()
        made = {key: self.rewritten(item, by_alias=by_alias) for key, item in part.items()}
        if part["type"] in {"function-plain", "function-wrap"} and "return_schema" not in part:
            made["return_schema"] = self.rewritten({"type": "any"})
        return made

    def _by_type(self) -> dict[str, Any]:
        self.open = True
        return {"type": "function-plain", "function": self.write_any}

    def _polymorphic(self, declared: type, value: Any, handler: Any) -> Any:  # noqa: ANN401
        """Return an instance of a model with the fields of its own class, which can be a subclass."""
        below = isinstance(value, declared) and type(value) is not declared
        return self.write_any(value) if below else handler(value)


def _with_models_written(value: Any, above: tuple[int, ...] = (), *, fallback: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Return a value whose Pydantic instances are written with the keys of their JSON Schemas.

    All other values, and circular references, are left to Pydantic.
    """
    kind = type(value)
    if hasattr(kind, "__pydantic_serializer__"):
        return pydantic_form(value, fallback)
    if id(value) in above or len(above) > _DEEPEST:
        return value
    above = (*above, id(value))
    if isinstance(value, Mapping):
        return {key: _with_models_written(item, above, fallback=fallback) for key, item in value.items()}
    if kind in {list, tuple, set, frozenset}:
        return [_with_models_written(item, above, fallback=fallback) for item in value]
    return value
