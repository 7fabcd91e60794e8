"""Schemas from wherever they come: a dictionary, a file, a Pydantic model; references resolved without a network."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

from jsonschema.validators import (
    Draft3Validator,
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft202012Validator,
    validator_for,
)
from referencing import Registry, Resource
from referencing.exceptions import NoSuchResource, Unresolvable
from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

from arbitre import deep
from arbitre.errors import ArbitreError, Problem, SchemaError
from arbitre.paths import pointer
from arbitre.values import Json

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from referencing._core import Resolver

Source = Any
"""A schema: a dictionary (or true), the path of a file that holds one, or a Pydantic model class."""


@dataclass(frozen=True, eq=False, slots=True)
class Located:
    """A subschema, the resolver of its references, and where it stands.

    `legacy` says that it is read by the rules of draft 7 and before, where nothing counts beside `$ref`; `soft`, that
    it only adds to what is declared elsewhere (its own types and constants are conditions, not declarations).
    `registry` and `base` (the URI of the document) are those of the root.
    """

    schema: Json
    resolver: Resolver[Any]
    pointer: str = ""
    file: str | None = None
    legacy: bool = False
    soft: bool = False
    registry: Registry[Any] = EMPTY_REGISTRY
    base: str = ""

    def below(self, *tokens: str | int) -> Located:
        """The subschema under these keys."""
        schema = self.schema
        for token in tokens:
            schema = schema[token]
        resolver = self.resolver
        if isinstance(schema, dict) and "$id" in schema:
            resolver = resolver.in_subresource(Resource.from_contents(schema, default_specification=DRAFT202012))
        return replace(self, schema=schema, resolver=resolver, pointer=self.pointer + pointer(tokens))

    def follow(self, reference: str) -> Located:
        """What a `$ref` names. Raises SchemaError."""
        try:
            found = self.resolver.lookup(reference)
        except (Unresolvable, NoSuchResource, ValueError) as error:
            raise SchemaError.of(
                f'Expected `$ref` to name a subschema, got "{reference}"',
                file=self.file,
                pointer=f"{self.pointer}/$ref",
                hint=_why_unresolved(reference, error),
            ) from error
        base, _, fragment = reference.partition("#")
        file = self.file if not base else _file_of(found.resolver._base_uri) or base  # noqa: SLF001  (no public name)
        place = unquote(fragment) if fragment.startswith("/") else ""
        return replace(self, schema=found.contents, resolver=found.resolver, pointer=place, file=file)

    def problem(self, message: str, *tokens: str | int, hint: str | None = None) -> Problem:
        """A problem at this subschema, or at a key of it."""
        return Problem(message, file=self.file, pointer=self.pointer + pointer(tokens), hint=hint)


def load(source: Source) -> Located:
    """The root of a schema.

    Raises SchemaError where the file cannot be read, the schema is not valid JSON Schema (draft 7, 2019-09 or
    2020-12), or the source is none of the three; every problem the metaschema finds is listed.
    """
    if isinstance(source, (str, Path)):
        contents, file = _read(Path(source)), str(source)
        uri = Path(source).resolve().as_uri()
    elif hasattr(source, "model_json_schema"):
        contents, file, uri = source.model_json_schema(), None, ""
    elif isinstance(source, (dict, bool)):
        contents, file, uri = source, None, ""
    else:
        raise SchemaError.of(
            f"Expected a schema as a dictionary, a file or a Pydantic model class, got {type(source).__name__}"
        )
    _check(contents, file)
    resource = Resource.from_contents(contents, default_specification=DRAFT202012)
    registry: Registry[Any] = EMPTY_REGISTRY.combine(Registry(retrieve=cast("Any", _retrieve)))
    registry = registry.with_resource(uri, resource)
    base = resource.id() or uri
    registry = registry.with_resource(base, resource)
    resolver = registry.resolver(base)
    legacy = validator_class(contents) in _LEGACY
    return Located(contents, resolver, file=file, legacy=legacy, registry=registry, base=base)


def validator_class(contents: Json) -> type[Validator]:
    """The validator of the draft that a schema declares; of 2020-12 where it declares none."""
    return validator_for(contents, default=Draft202012Validator)


_LEGACY: Final = (Draft3Validator, Draft4Validator, Draft6Validator, Draft7Validator)


def _read(path: Path) -> Json:
    try:
        return deep.call(lambda: json.loads(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise SchemaError.of(f"Cannot read the schema: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise SchemaError.of("The schema is not valid UTF-8", file=str(path)) from error
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise SchemaError.of(f"The schema is not valid JSON: {error}", file=str(path), line=line) from error


def _check(contents: Json, file: str | None) -> None:
    """Hold a schema against the metaschema of its draft."""
    kind = validator_class(contents)
    errors = deep.call(lambda: list(kind(kind.META_SCHEMA).iter_errors(contents)))
    if errors:
        raise SchemaError(
            *(
                Problem(
                    f"Not valid JSON Schema: {error.message}",
                    file=file,
                    pointer=pointer(error.absolute_path),
                )
                for error in errors
            )
        )


def _file_of(uri: str) -> str | None:
    parsed = urlparse(uri)
    return url2pathname(parsed.path) if parsed.scheme == "file" else None


def _retrieve(uri: str) -> Resource[Any]:
    """A referenced file. Nothing else is ever fetched."""
    file = _file_of(uri)
    if file is None:
        raise NoSuchResource(ref=uri)
    contents = _read(Path(file))
    return Resource.from_contents(contents, default_specification=DRAFT202012)


def _why_unresolved(reference: str, error: Exception) -> str:
    if urlparse(reference).scheme in ("http", "https") or "http" in str(error):
        return "References are never fetched from a network: put the subschema under $defs, or refer to a file."
    if isinstance(error.__cause__, ArbitreError):
        return str(error.__cause__)
    return "Look for a misspelt name: #/$defs/NAME for a definition of this schema, FILE.json#/$defs/NAME for another."
