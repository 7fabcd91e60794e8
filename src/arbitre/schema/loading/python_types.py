"""JSON Schemas of Python types, written by Pydantic or msgspec."""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_origin

from arbitre.errors import SchemaError, clipped, did_you_mean
from arbitre.parsing.fast_json import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbitre.values import Json

_OBJECT_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_object_name(source: str) -> bool:
    """Return whether a text is MODULE:NAME, and not the path of a file.

    >>> is_object_name("invoices.models:Invoice"), is_object_name("schema.json")
    (True, False)
    """
    return bool(_OBJECT_NAME.fullmatch(source)) and not Path(source).drive and not Path(source).exists()


def import_object(name: str) -> Any:  # noqa: ANN401  (anything that a module may contain)
    """Return the object at MODULE:NAME, of an installed module or one in the current folder.

    The current folder stays importable, for worker processes.

    Raises:
        SchemaError: There is no such module or name.
    """
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")
    try:
        loaded = importlib.import_module(module)
    except (ImportError, ValueError) as error:
        raise SchemaError.of(
            f"Cannot import {name!r}: {error}",
            hint="Change to the folder of the module, or install its package.",
        ) from error
    if not hasattr(loaded, attribute):
        raise SchemaError.of(
            f"Expected {module!r} to contain {attribute!r}, got no such name",
            hint=did_you_mean(attribute, (one for one in vars(loaded) if not one.startswith("_"))),
        )
    return getattr(loaded, attribute)


def schema_of_type(source: Any) -> Json:  # noqa: ANN401  (any type)
    """Return the JSON Schema of a Python type.

    msgspec writes the schemas of its structs and of classes of attrs. Pydantic writes those of its models, of data
    classes, and of all other types that its `TypeAdapter` takes. If one library does not know a type, the other is
    tried. Fields of type `Decimal` have the format "decimal".

    Raises:
        SchemaError: The source is not a type, no library can write its schema, or none is installed.
    """
    if isinstance(source, type) and hasattr(source, "model_json_schema") and not _is_pydantic(source):
        return source.model_json_schema()
    adapter = callable(getattr(source, "json_schema", None)) and hasattr(source, "core_schema")
    if not (adapter or isinstance(source, type) or get_origin(source) is not None or source is Any):
        raise SchemaError.of(
            f"Expected a schema as a dictionary, a file or a Python type, got {type(source).__name__}",
            hint="Pass the class, not an instance of it." if hasattr(type(source), "__annotations__") else None,
        )
    libraries: list[Callable[[Any], Json]] = [_by_pydantic, _by_msgspec]
    if hasattr(source, "__struct_fields__") or hasattr(source, "__attrs_attrs__"):
        libraries.reverse()
    refusals = []
    for library in libraries:
        try:
            return library(source)
        except ImportError as error:
            refusals.append(f"{error.name} is not installed")
        except Exception as error:  # noqa: BLE001  (each library has errors of its own, on types of the user)
            refusals.append(f"{library.__name__.removeprefix('_by_')}: {clipped(str(error).partition(chr(10))[0])}")
    raise SchemaError.of(
        f"Cannot write the JSON Schema of {getattr(source, '__name__', source)}: {'; '.join(refusals)}",
        hint="pip install 'arbitre[pydantic]', or pass the JSON Schema.",
    )


def _is_pydantic(source: Any) -> bool:  # noqa: ANN401
    """Return whether a type is a Pydantic model that does not write its own schema."""
    base = getattr(sys.modules.get("pydantic"), "BaseModel", None)
    own = isinstance(source, type) and base is not None and issubclass(source, base)
    return own and source.model_json_schema.__func__ is base.model_json_schema.__func__  # type: ignore[union-attr]


def _by_pydantic(source: Any) -> Json:  # noqa: ANN401
    import pydantic  # noqa: PLC0415  (an extra)

    adapter = source if isinstance(source, pydantic.TypeAdapter) else pydantic.TypeAdapter(source)
    return adapter.json_schema(schema_generator=_generator())


@cache
def _generator() -> Any:  # noqa: ANN401  (a class of an extra)
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415  (an extra)

    class Generator(GenerateJsonSchema):
        """Marks the texts of decimals, which since Pydantic 2.14 have no pattern."""

        def decimal_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401
            made = super().decimal_schema(schema)
            for member in made.get("anyOf", [made]):
                if member.get("type") == "string":
                    member["format"] = "decimal"
            return made

    return Generator


def _by_msgspec(source: Any) -> Json:  # noqa: ANN401
    return schema_of(source)
