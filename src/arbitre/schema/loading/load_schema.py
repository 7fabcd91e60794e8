"""Loading of schemas from a dictionary, a file or a Python type. References are never fetched over a network."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import sys
from collections import deque
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_origin
from urllib.parse import quote, unquote, urljoin

from jsonschema import Draft3Validator, Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from referencing.exceptions import Unresolvable
from referencing.jsonschema import lookup_recursive_ref

from arbitre.errors import ArbitreError, OptionError, Problem, SchemaError, clipped, did_you_mean, shell_quoted, shown
from arbitre.interpreter import call_with_deep_stack
from arbitre.parsing.fast_json import schema_of
from arbitre.paths import escape, pointer, unescape
from arbitre.schema.loading.schema_store import SchemaDocument, SchemaStore, UnavailableError, read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from referencing._core import Resolved, Resolver

    from arbitre.values import Json


KEYWORD: Final = "x-arbitre"


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

    def __reduce__(self) -> tuple[Callable[..., Subschema], tuple[Any, ...]]:
        """Pickle the root of a schema with the contents of all its files, which other machines may not have."""
        documents = self.shelf.documents
        contents = [(one.contents, one.uri, one.file) for one in documents]
        own = self.document.contents is self.schema
        return _loaded_again, (contents, documents.index(self.document), self.pointer, own, self.shelf.folders)

    @property
    def _identity(self) -> tuple[int, bool, tuple[str, ...]]:
        return id(self.schema), self.conditional, self.scope

    def digest(self) -> str:
        """Return a digest of the subschema and of all documents that it refers to, including the order of keys."""
        self.shelf.load_references()

        def text() -> str:
            contents = sorted(json.dumps([one.uri, one.contents], default=repr) for one in self.shelf.documents)
            return json.dumps([self.document.uri, self.pointer, contents])

        return hashlib.sha256(call_with_deep_stack(text).encode()).hexdigest()

    def below(self, *tokens: str | int) -> Subschema:
        """Return the subschema under these keys."""
        schema = self.schema
        for token in tokens:
            schema = schema[token]
        resolver = self.resolver
        if isinstance(schema, dict) and "$id" in schema:
            resolver = resolver.in_subresource(replace(self.document, contents=schema).resource)
        return replace(self, schema=schema, resolver=resolver, pointer=self.pointer + pointer(tokens))

    def members(self, keyword: str) -> tuple[Subschema, ...]:
        """Return the subschemas in the list of a keyword, such as `allOf`; () if there is none."""
        return tuple(self.below(keyword, index) for index in range(len(self.schema.get(keyword, ()))))

    @property
    def list_keywords(self) -> tuple[str, str]:
        """The keywords for the first items of a list by position, and for all others."""
        return ("items", "additionalItems") if isinstance(self.schema.get("items"), list) else ("prefixItems", "items")

    def reached(self, combiners: Sequence[str]) -> tuple[Subschema, ...]:
        """Return this subschema and those that its references and these keywords lead to, nearest first."""
        found, pending = dict[Subschema, None](), [self]
        for part in pending:  # grows during iteration
            if isinstance(part.schema, dict) and part not in found:
                found[part] = None
                pending += [part.follow(keyword) for keyword in REFERENCES if keyword in part.schema]
                pending += [member for key in combiners for member in part.members(key)]
        return tuple(found)

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
    return _subschema_at(place, document, shelf, own=own)


def _subschema_at(place: str, document: SchemaDocument, shelf: SchemaStore, *, own: bool) -> Subschema:
    """Return the subschema at a pointer in a file; `own` states that the document consists of it alone."""
    base = urljoin(document.uri, document.resource.id() or "")
    registry = shelf.registry.with_resource(base, document.resource)
    resolved = registry.resolver(base).lookup("" if own else f"#{quote(place)}")
    return Subschema(resolved.contents, document, shelf, resolved.resolver, place)


def _loaded_again(
    documents: Sequence[tuple[Json, str, str | None]],
    root: int,
    place: str,
    own: bool,  # noqa: FBT001
    folders: Sequence[Path],
) -> Subschema:
    """Return a subschema from the contents, URIs and names of all files of its schema; `root` is its own file."""
    shelf, added = SchemaStore(folders), []
    for number, (contents, uri, file) in enumerate(documents):
        if number != root:
            added.append(shelf.add(contents, uri, file))
        else:
            part = contents if own else at_pointer(contents, place, file)
            added.append(shelf.add(contents, uri, file, part=part, place=place))
    return _subschema_at(place, added[root], shelf, own=own)


def _folders(allowed: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    """Return folders as absolute paths. Raises OptionError if one does not exist."""
    folders = [Path(folder) for folder in ([allowed] if isinstance(allowed, (str, Path)) else allowed)]
    for folder in folders:
        if not folder.is_dir():
            raise OptionError.of(f"Expected `allow_refs` to be a folder, got {str(folder)!r}.")
    return tuple(folder.resolve() for folder in folders)


# The schema in a source: at the pointer of `FILE#/pointer`, or the place of a schema that is wrapped.


MAX_VALUES: Final = 10_000
"""Maximum number of values that are searched for a wrapped schema."""

MAX_SHOWN: Final = 3
"""Maximum number of keys or pointers in a message."""

_TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object", "any"))
_DRAFTS: Final = (Draft3Validator, Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator)
_BESIDE_ROOT: Final = (
    "then",
    "else",
    "minContains",
    "maxContains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
)
"""Keywords that validators read with another keyword, or do not check."""
_ASSERTIONS: Final = frozenset(keyword for draft in _DRAFTS for keyword in draft.VALIDATORS).union(_BESIDE_ROOT)
_EMPTY: Final = frozenset(("$schema", "$id", "$comment"))
"""Keywords that an empty schema, which accepts any document, may contain."""
_ANNOTATIONS: Final = _EMPTY | {"title", "description", "default", "examples", "$anchor", "$defs", "definitions"}
_SUBSCHEMA: Final = ("items", "additionalProperties", "unevaluatedProperties", "not", "if")
_SUBSCHEMAS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_BY_NAME: Final = ("properties", "patternProperties")
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that refer to another schema."""


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
    for token in map(unescape, tokens[1:]):
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
        or any(isinstance(value.get(key), str) for key in REFERENCES)
        or any(_is_schema(value.get(key)) for key in _SUBSCHEMA)
        or any(_all_schemas(value.get(key), list) for key in _SUBSCHEMAS)
        or any(_all_schemas(value.get(key), dict) for key in _BY_NAME)
        or isinstance(value.get("enum"), list)
    )


def wrapped_schemas(contents: Json) -> list[str]:
    """Return the JSON Pointers of the outermost schemas in a value, as in the envelope that an API expects.

    >>> wrapped_schemas({"name": "letter", "strict": True, "schema": {"type": "object"}})
    ['/schema']
    """
    return [place for place, value in _values(contents, until=is_schema_like) if is_schema_like(value)]


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
    places = [pointer + place for place in wrapped_schemas(contents)]
    if places:
        listed = ", ".join(places[:MAX_SHOWN]) + ", ..." * (len(places) > MAX_SHOWN)
        message = (
            f"Expected a JSON Schema, got an object that contains {'one' if len(places) == 1 else 'some'} at {listed}"
        )
        hint = f"Pass {shell_quoted(f'{file}#{places[0]}')}." if file else f"Pass the value at {places[0]}."
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


# JSON Schemas of Python types, written by Pydantic or msgspec.


_OBJECT_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_object_name(source: str) -> bool:
    """Return whether a text is MODULE:NAME, and not the path of a file.

    >>> is_object_name("invoices.models:Invoice"), is_object_name("schema.json")
    (True, False)
    """
    return bool(_OBJECT_NAME.fullmatch(source)) and not Path(source).drive and not Path(source).exists()


class NotFoundError(SchemaError):
    """There is no such module, its import fails, or it does not contain the name."""


def import_object(name: str) -> Any:  # noqa: ANN401  (anything that a module may contain)
    """Return the object at MODULE:NAME, of an installed module or one in the current folder.

    The current folder stays importable, for worker processes.

    Raises:
        NotFoundError: There is no such module or name, or the module raises another error or calls `sys.exit`.
        ArbitreError: The module raises it.
    """
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        raise NotFoundError.of(
            f"Cannot import {name!r}: {error}",
            hint="Change to the folder of the module, or install its package.",
        ) from error
    except ArbitreError:
        raise
    except (Exception, SystemExit) as error:
        raise NotFoundError.of(
            f"Cannot import {name!r}: {type(error).__name__}: {error}",
            hint=f'Correct the module. To see the traceback, run `python -c "import {module}"`.',
        ) from error
    if not hasattr(loaded, attribute):
        raise NotFoundError.of(
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
            hint="Pass the class, not an instance of it." if type(source).__module__ != "builtins" else None,
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
        """Marks the texts of decimals, which since Pydantic 2.14 have no pattern, and ignores excluded fields."""

        def decimal_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401
            made = super().decimal_schema(schema)
            for member in made.get("anyOf", [made]):
                if member.get("type") == "string":
                    member["format"] = "decimal"
            return made

        def model_field_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401
            return _ignored_if_excluded(schema, super().model_field_schema(schema))

        def dataclass_field_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401
            return _ignored_if_excluded(schema, super().dataclass_field_schema(schema))

    return Generator


def _ignored_if_excluded(field: Mapping[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a field, ignored if Pydantic leaves the field out of what it writes."""
    return {**made, KEYWORD: {"ignore": True} | made.get(KEYWORD, {})} if field.get("serialization_exclude") else made


def _by_msgspec(source: Any) -> Json:  # noqa: ANN401
    return schema_of(source)


# `Field`: the `x-arbitre` settings of a field of a Python type.


class Field:
    """The `x-arbitre` settings of a field: `Annotated[TYPE, Field(...)]` in a type that Pydantic supports.

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
        alternatives: Where gold lists the accepted forms of the value.
        id: The scope whose items the field identifies.
        ref: The scope that the field refers to.
        compare: Whether the values of an id are compared as well.
        scope: Whether the ids of a scope are those of a document or of the corpus, on the root.
        null: "credit": null and a missing key count as a value, which earns credit if it is correct.
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
        id: Json = None,  # noqa: A002  (the name in schemas)
        ref: Json = None,
        compare: bool | None = None,
        scope: Mapping[str, str] | None = None,
        null: str | None = None,
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
