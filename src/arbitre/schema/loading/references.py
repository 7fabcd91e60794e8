"""Loading of schemas from a dictionary, a file or a Python type. References are never fetched over a network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urljoin

from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from arbitre.errors import OptionError, Problem, SchemaError, did_you_mean
from arbitre.paths import escape, pointer
from arbitre.schema.loading.python_types import import_object, is_object_name, schema_of_type
from arbitre.schema.loading.schema_root import at_pointer, check_is_schema, has_own_references, split_fragment
from arbitre.schema.loading.schema_store import SchemaDocument, SchemaStore, UnavailableError
from arbitre.schema.loading.source_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from referencing._core import Resolved, Resolver

    from arbitre.values import Json

SchemaSource = Any
"""A schema: a dictionary (or boolean), the path of a JSON or YAML file, a Python type, or "MODULE:NAME" of one."""

_BESIDE: Final = frozenset(
    ("$schema", "$defs", "definitions", "$comment", "title", "description", "default", "examples", "deprecated")
)
"""Keywords that do not constrain a value; a `$ref` with only these beside it is a plain reference."""


@dataclass(frozen=True, eq=False, slots=True)
class Subschema:
    """A subschema with its location in a document and the context for resolving references.

    Two subschemas are equal if they are the same object of a document and have equal `conditional` and `scope`.

    Attributes:
        schema: Its JSON: an object or a boolean.
        document: The document that contains it.
        shelf: All documents of the schema.
        resolver: Resolves its references.
        pointer: Its JSON Pointer in the document.
        conditional: Whether it occurs in a condition, so that its types and constants are not declarations.
        scope: URIs with dynamic anchors on the way here; they determine the target of `$dynamicRef`.
    """

    schema: Json
    document: SchemaDocument
    shelf: SchemaStore
    resolver: Resolver[Any]
    pointer: str = ""
    conditional: bool = False
    scope: tuple[str, ...] = ()

    @property
    def file(self) -> str | None:
        return self.document.file

    @property
    def legacy(self) -> bool:
        return self.document.legacy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subschema) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __reduce__(self) -> tuple[Callable[..., Subschema], tuple[SchemaSource, Sequence[Path]]]:
        """Pickle the root of a schema as its source."""
        if self.document.file is None:
            return load, (self.document.contents, self.shelf.folders)
        fragment = f"#{quote(self.pointer)}" if self.pointer else ""
        return load, (f"{self.document.file}{fragment}", self.shelf.folders)

    @property
    def _identity(self) -> tuple[int, bool, tuple[str, ...]]:
        return id(self.schema), self.conditional, self.scope

    def below(self, *tokens: str | int) -> Subschema:
        """Return the subschema under these keys."""
        schema = self.schema
        for token in tokens:
            schema = schema[token]
        resolver = self.resolver
        if isinstance(schema, dict) and "$id" in schema:
            resolver = resolver.in_subresource(replace(self.document, contents=schema).resource)
        return replace(self, schema=schema, resolver=resolver, pointer=self.pointer + pointer(tokens))

    def follow(self, keyword: str) -> Subschema:
        """Return the target of `$ref`, `$dynamicRef` or `$recursiveRef`. Raises SchemaError if there is none."""
        reference = self.schema[keyword]
        try:
            resolved = self._resolved(keyword, reference)
        except (Unresolvable, ValueError, TypeError, AttributeError) as error:
            hint = self._reference_hint(reference, error)
            message = f'Expected `{keyword}` to name a subschema, got "{reference}"'
            raise SchemaError(self.problem(message, keyword, hint=hint)) from error
        schema = resolved.contents
        document, place = self.shelf.place(schema) or (self.document, "")
        if not isinstance(schema, (dict, bool)):
            message = f'Expected `{keyword}` to name a subschema, got "{reference}", which is not a subschema'
            raise SchemaError(self.problem(message, keyword))
        self.shelf.check(schema, document, place)
        seen = reversed([uri for uri, _ in resolved.resolver.dynamic_scope()])
        scope = tuple(dict.fromkeys(uri for uri in seen if uri in self.shelf.dynamic))
        return replace(self, schema=schema, document=document, resolver=resolved.resolver, pointer=place, scope=scope)

    def direct(self) -> Subschema:
        """Return the target of a plain reference, or the subschema itself if it is not one."""
        target, seen = self, {self}
        while target._plain:
            try:
                target = target.follow("$ref")
            except SchemaError:  # reported when the subschema is expanded
                return self
            if target in seen:
                return self
            seen.add(target)
        return target

    @property
    def _plain(self) -> bool:
        return isinstance(self.schema, dict) and self.schema.keys() - _BESIDE == {"$ref"}

    def _resolved(self, keyword: str, reference: str) -> Resolved[Any]:
        if keyword == "$recursiveRef":
            return lookup_recursive_ref(self.resolver)
        return self.resolver.lookup(reference)

    def _reference_hint(self, reference: str, error: BaseException | None) -> str:
        """Return a hint for a broken reference. Raises SchemaError if the referenced file is invalid."""
        while error is not None:
            if isinstance(error, SchemaError):
                raise error
            if isinstance(error, UnavailableError):
                return str(error)
            error = error.__cause__
        contents = self.document.contents
        keys = ("$defs", "definitions") if isinstance(contents, dict) else ()
        known = [escape(name) for key in keys for name in contents.get(key, ())]
        general = (
            "Write #/$defs/NAME for a definition in this schema, or FILE.json#/$defs/NAME for one in another file."
        )
        return did_you_mean(reference.rpartition("/")[2], known, general) or general

    def problem(self, message: str, *tokens: str | int, hint: str | None = None) -> Problem:
        """Return a problem at this subschema, or at one of its keys."""
        return Problem(message, file=self.file, pointer=self.pointer + pointer(tokens), hint=hint)


def load(source: SchemaSource, allow_refs: str | Path | Iterable[str | Path] = ()) -> Subschema:
    """Load a schema.

    References lead to regular files in the folder of the schema, or below it, and in those of `allow_refs`.

    Args:
        source: A dictionary or boolean, the path of a JSON or YAML file, a Python type (see
            `python_types.schema_of_type`), or "MODULE:NAME" of one. `FILE#/pointer` is the part of a file at a JSON
            Pointer, such as a definition, or a schema that is wrapped in another object.
        allow_refs: Further folders with files that the schema may reference.

    Returns:
        The root of the schema.

    Raises:
        SchemaError: The file cannot be read, the schema is not valid JSON Schema or has no keyword of it, or the source
            has another type. Lists every violation of the metaschema.
        OptionError: A folder of `allow_refs` does not exist.
    """
    if isinstance(source, str) and is_object_name(source):
        return load(import_object(source), allow_refs)
    shelf, place, own = SchemaStore(_folders(allow_refs)), "", True
    if isinstance(source, (str, Path)):
        path, place = split_fragment(source)
        try:
            contents = read_file(path, "schema")
            uri = path.resolve().as_uri()
            shelf.folders = (*shelf.folders, path.resolve().parent)
        except OSError as error:
            hint = "A schema is a dictionary, the path of a JSON or YAML file, a Python type, or MODULE:NAME of one."
            raise SchemaError.of(
                f"Cannot read the schema: {error.strerror}", file=str(path)[:200], hint=hint
            ) from error
        part = at_pointer(contents, place, str(path))
        check_is_schema(part, str(path), place)
        own = has_own_references(contents, part)
        document = shelf.add(part if own else contents, uri, str(path), part=part, place=place)
    elif isinstance(source, (dict, bool)):
        check_is_schema(source, None)
        document = shelf.add(source, "", None)
    else:
        document = shelf.add(schema_of_type(source), "", None)
    base = urljoin(document.uri, document.resource.id() or "")
    registry = shelf.registry.with_resource(base, document.resource)
    resolved = registry.resolver(base).lookup("" if own else f"#{quote(place)}")
    return Subschema(resolved.contents, document, shelf, resolved.resolver, place)


def _folders(allowed: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    """Return folders as absolute paths. Raises OptionError if one does not exist."""
    folders = [Path(folder) for folder in ([allowed] if isinstance(allowed, (str, Path)) else allowed)]
    for folder in folders:
        if not folder.is_dir():
            raise OptionError.of(f"Expected `allow_refs` to be a folder, got {str(folder)!r}.")
    return tuple(folder.resolve() for folder in folders)
