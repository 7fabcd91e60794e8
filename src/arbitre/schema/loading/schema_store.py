"""The documents of a schema: its own file and those that it references, in JSON or YAML 1.2.

Nothing is fetched over a network.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urljoin, urlparse

from jsonschema import Draft201909Validator, Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import Draft3Validator, Draft4Validator, Draft6Validator, Draft7Validator, validator_for
from jsonschema_specifications import REGISTRY as METASCHEMAS  # type: ignore[import-untyped]
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012, specification_with

from arbitre import interpreter
from arbitre.errors import DataError, Problem, SchemaError, clipped, folder_problem, nearest, optional_library, shown
from arbitre.parsing import strict_json
from arbitre.parsing.fast_json import count_values
from arbitre.paths import escape, order, pointer
from arbitre.values import Json, canonical, check_depth, check_keys, check_number, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


MAX_DEPTH: Final = 2_000
"""Maximum nesting depth of lists and objects in a schema."""

MAX_SHARED_VALUES: Final = 10_000
"""Maximum number of values of a schema that contains the same Python list or object several times."""

_BRANCHES: Final = frozenset(("then", "else"))

_COMPILED: Final = frozenset(
    (
        *("$ref", "$dynamicRef", "$recursiveRef", "type", "enum", "const", "format", "properties", "patternProperties"),
        *("additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems"),
        *("prefixItems", "allOf", "anyOf", "oneOf", "not", "if", *_BRANCHES, "contains", "propertyNames"),
        "dependentSchemas",
    )
)
"""The keywords that are compiled, whatever the draft of the schema."""

_SHOWN: Final = 120
"""Maximum length of a value in the message of a violation, in characters."""

_LEGACY: Final = (Draft3Validator, Draft4Validator, Draft6Validator, Draft7Validator)


class UnavailableError(Exception):
    """No document can be read at a URI. The message is used as a hint."""


@cache
def metaschema(draft: type[Validator]) -> Validator:
    """Return a validator of the metaschema of a draft, with the vocabularies of the draft in a single schema.

    It accepts the same schemas as the metaschema, but takes a fifth of the time, because it resolves fewer references.
    """
    contents = dict(draft.META_SCHEMA)
    for vocabulary in contents.pop("allOf", ()):
        part = METASCHEMAS.contents(urljoin(contents["$id"], vocabulary["$ref"]))
        for keyword in ("properties", "$defs"):
            contents[keyword] = contents.get(keyword, {}) | part.get(keyword, {})
    text = json.dumps(contents)
    for to_itself in ('"$dynamicRef": "#meta"', '"$recursiveRef": "#"'):
        text = text.replace(to_itself, '"$ref": "#"')
    return draft(json.loads(text))


@dataclass(frozen=True, eq=False, slots=True)
class SchemaDocument:
    """A JSON document that contains schemas.

    Attributes:
        contents: The parsed JSON.
        uri: Base URI of its references.
        file: File name for messages; None if it is not a file.
        validator: The validator class of its draft.
    """

    contents: Json
    uri: str
    file: str | None
    validator: type[Validator]

    @property
    def legacy(self) -> bool:
        """Whether its draft ignores all keywords next to `$ref` (draft 7 and earlier)."""
        return self.validator in _LEGACY

    @property
    def resource(self) -> Resource[Any]:
        specification = specification_with(str(self.validator.META_SCHEMA["$schema"]), default=DRAFT202012)
        return Resource.from_contents(self.contents, default_specification=specification)


@dataclass(eq=False, slots=True)
class SchemaStore:
    """The documents read so far. Each is read once, so all references to a subschema return the same object.

    Attributes:
        folders: Folders with the files that may be referenced.
        registry: The documents, for resolving references.
        dynamic: URIs of resources with a dynamic anchor; the target of `$dynamicRef` depends only on these.
        patterns: The keywords `pattern`: file, JSON Pointer and value of each.
    """

    folders: Sequence[Path] = ()
    registry: Registry[Any] = field(init=False)
    dynamic: set[str] = field(default_factory=set)
    patterns: list[tuple[str | None, str, str]] = field(default_factory=list)
    _validator: type[Validator] = Draft202012Validator
    _resources: dict[str, Resource[Any]] = field(default_factory=dict)
    _documents: list[SchemaDocument] = field(default_factory=list)
    _places: dict[int, tuple[SchemaDocument, str]] = field(default_factory=dict)
    _checked: set[int] = field(default_factory=set)
    _values: int = 0

    def __post_init__(self) -> None:
        self.registry = Registry(retrieve=self.retrieve)  # type: ignore[call-arg]  # attrs names it so

    @property
    def size(self) -> int:
        """Number of lists and objects in all documents."""
        return len(self._places)

    @property
    def documents(self) -> tuple[SchemaDocument, ...]:
        """The documents, in the order in which they were added."""
        return tuple(self._documents)

    @property
    def files(self) -> tuple[str, ...]:
        """Files that the documents were read from."""
        return tuple(dict.fromkeys(document.file for document in self.documents if document.file is not None))

    def add(self, contents: Json, uri: str, file: str | None, *, part: Json = None, place: str = "") -> SchemaDocument:
        """Add a document. The first is the root; its draft is the default for the others.

        Args:
            contents: The parsed JSON.
            uri: Base URI of its references.
            file: File name for messages.
            part: The only part of the document that has to be a schema, if any.
            place: JSON Pointer of that part in the file. It may be all of `contents`.

        Raises:
            SchemaError: The document is not a schema.
        """
        part = contents if part is None else part
        places = dict(self._walk(contents, file, place if part is contents else ""))
        if not isinstance(contents, (dict, bool)):
            raise SchemaError.of(f"Expected a schema to be an object or true, got {shown(contents)}", file=file)
        draft = _validator_of(part, _validator_of(contents, self._validator))
        document = SchemaDocument(contents, uri, file, draft)
        if not self._documents:
            self._validator = document.validator
        self._places |= {key: (document, place) for key, place in places.items()}
        self.check(part, document, place)
        self._documents.append(document)
        self._resources[uri] = document.resource
        self.registry = self.registry.with_resource(uri, document.resource)
        return document

    def check(self, schema: Json, document: SchemaDocument, place: str) -> None:
        """Validate a subschema against its metaschema, once. Raises SchemaError listing all problems.

        Subschemas that declare another draft are validated against the metaschema of that draft.
        """
        if id(schema) in self._checked:
            return
        self._validate(schema, document.validator, document.file, place)
        specification = document.resource._specification  # noqa: SLF001  (no public name)
        pending = [(document.uri, specification.create_resource(schema))]
        while pending:
            uri, resource = pending.pop()
            contents = resource.contents
            if not isinstance(contents, dict):  # a boolean, or the list of a draft-7 `dependencies`
                continue
            draft = _validator_of(contents, document.validator)
            if draft is not document.validator and contents is not schema:
                self._validate(contents, draft, document.file, self._places[id(contents)][1])
            self._validate_newer(contents, draft, document.file)
            uri = urljoin(uri, resource.id() or "")
            self._checked.add(id(contents))
            if "pattern" in contents:
                self.patterns.append((document.file, f"{self._places[id(contents)][1]}/pattern", contents["pattern"]))
            if {"$dynamicAnchor", "$recursiveAnchor"} & contents.keys():
                self.dynamic.add(uri)
            pending.extend((uri, inner) for inner in resource.subresources())

    def _validate(self, schema: Json, draft: type[Validator], file: str | None, place: str) -> None:
        if interpreter.call_with_deep_stack(lambda: metaschema(draft).is_valid(schema)):
            return
        errors = interpreter.call_with_deep_stack(lambda: list(draft(draft.META_SCHEMA).iter_errors(schema)))
        problems = dict.fromkeys(_problem(error, draft, file, place) for error in errors)
        if problems:
            raise SchemaError(*sorted(problems, key=lambda problem: order(problem.pointer or "")))

    def _validate_newer(self, schema: Json, draft: type[Validator], file: str | None) -> None:
        """Validate the keywords that are newer than the draft of a schema, as its meta-schema does not."""
        rest = _COMPILED & schema.keys() - draft.VALIDATORS.keys()
        for newer in (Draft201909Validator, Draft202012Validator):
            known = {key: schema[key] for key in sorted(rest & newer.VALIDATORS.keys() | rest & _BRANCHES)}
            if known:
                self._validate(known, newer, file, self._places[id(schema)][1])
            rest -= known.keys()

    def place(self, schema: Json) -> tuple[SchemaDocument, str] | None:
        """Return the document that contains this list or object, and its JSON Pointer there."""
        return self._places.get(id(schema))

    def retrieve(self, uri: str) -> Resource[Any]:
        """Return the document at the URI of a file or a metaschema. Raises UnavailableError, SchemaError."""
        if uri not in self._resources:
            scheme = urlparse(uri).scheme
            if uri in METASCHEMAS:
                self.add(METASCHEMAS.contents(uri), uri, uri)
            elif scheme == "file":
                from urllib.request import url2pathname  # noqa: PLC0415  (loads http and ssl)

                self._add_file(uri, Path(url2pathname(urlparse(uri).path)))
            elif scheme:
                raise UnavailableError(
                    f"{uri} is not fetched over the network. Copy the subschema into $defs, or reference a local file."
                )
            else:
                raise UnavailableError(
                    "A relative reference needs a schema file. Pass the path of the file instead of its contents."
                )
        return self._resources[uri]

    def load_references(self) -> None:
        """Also read the referenced documents that only validation needs. Broken references are ignored."""
        documents = [*self.documents]
        for document in documents:  # grows during iteration
            pending = [(urljoin(document.uri, document.resource.id() or ""), document.contents)]
            while pending:
                uri, value = pending.pop()
                if isinstance(value, dict):
                    uri = urljoin(uri, value["$id"]) if isinstance(value.get("$id"), str) else uri
                    for reference in (value.get("$ref"), value.get("$dynamicRef")):
                        if isinstance(reference, str):
                            with suppress(UnavailableError, SchemaError, ValueError):
                                self.retrieve(urldefrag(urljoin(uri, reference)).url)
                    pending.extend((uri, part) for part in value.values())
                elif isinstance(value, list):
                    pending.extend((uri, part) for part in value)
            documents += [one for one in self.documents if one not in documents]

    def _add_file(self, uri: str, path: Path) -> None:
        """Add a referenced file. Raises UnavailableError, SchemaError."""
        try:
            resolved = path.resolve()
            if not any(resolved.is_relative_to(folder) for folder in self.folders):
                raise UnavailableError(
                    f"{resolved} is outside the folder of the schema. Allow its folder with `--allow-refs` (in Python, "
                    "`allow_refs`), or copy the file."
                )
            if resolved.exists() and not resolved.is_file():
                raise UnavailableError(f"{resolved} is not a regular file.")
            contents = read_file(path, "schema")
        except (OSError, ValueError) as error:  # ValueError: a null character
            raise UnavailableError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
        self.add(contents, uri, str(path))

    def _walk(self, contents: Json, file: str | None, root: str = "") -> Iterator[tuple[int, str]]:
        """Yield the id and pointer of every list and object. Counts all values.

        Raises SchemaError if it is not JSON, nested too deeply or too large.
        """
        place = None
        try:
            check_depth(contents, "schema", MAX_DEPTH, MAX_SHARED_VALUES)
            pending: list[tuple[Json, str]] = [(contents, root)]
            while pending:
                value, place = pending.pop()
                self._values += 1
                kind_of(value)
                check_number(value)
                if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
                    check_keys(value)
                if isinstance(value, (dict, list)):
                    if self._values + len(value) > MAX_VALUES:
                        raise too_many_values(
                            self._values + len(value), "schema with the files that it references", file
                        )
                    yield id(value), place
                    inner = value.items() if isinstance(value, dict) else enumerate(value)
                    pending.extend((part, f"{place}/{escape(token)}") for token, part in inner)
        except DataError as error:
            hint = error.hint if place is not None else "Move nested or repeated parts to $defs and use $ref."
            raise SchemaError(
                *(replace(problem, file=file, pointer=place, hint=hint) for problem in error.problems)
            ) from error


def _validator_of(contents: Json, default: type[Validator]) -> type[Validator]:
    """Return the validator class of the draft that a document declares."""
    declared = isinstance(contents, dict) and isinstance(contents.get("$schema"), str)
    return validator_for(contents, default=default) if declared else default


def _problem(error: ValidationError, draft: type[Validator], file: str | None, place: str) -> Problem:
    try:
        best = best_match([error]) or error
    except TypeError:  # jsonschema cannot rank the errors of types that draft 3 writes as schemas
        best = error
    best = next((inner for inner in best.context or () if inner.validator == "enum"), best)
    hint = None
    if best.validator == "enum" and isinstance(best.instance, str) and isinstance(best.validator_value, list):
        hint = nearest(best.instance, filter(_is_text, best.validator_value))
    elif list(best.absolute_path)[-1:] == ["items"] and isinstance(best.instance, list):
        hint = 'Write `prefixItems`, or declare "$schema": "http://json-schema.org/draft-07/schema#".'
    message = f"Not valid JSON Schema: {_enum_rule(best, draft) or _rule(best)}"
    return Problem(message, file=file, pointer=place + pointer(best.absolute_path), hint=hint)


def _enum_rule(error: ValidationError, draft: type[Validator]) -> str | None:
    """Return which rule of which draft an `enum` breaks; None for an error that is not about an `enum`."""
    *above, keyword = error.absolute_path or [""]
    rules = {"type": "a list", "minItems": "a list of at least one value", "uniqueItems": "a list of different values"}
    if keyword != "enum" or error.validator not in rules or above[-1:] in (["dependencies"], ["dependentRequired"]):
        return None
    if error.validator == "type" and error.validator_value != "array":  # a property of the name
        return None
    got = shown(error.instance)
    if error.validator == "uniqueItems" and isinstance(error.instance, list):
        counts = Counter(map(canonical, error.instance))
        twice = next(value for value in error.instance if counts[canonical(value)] > 1)
        got = f"{json.dumps(twice, ensure_ascii=False)} {counts[canonical(twice)]} times"
    name = str(draft.META_SCHEMA["$schema"]).rstrip("/#").removesuffix("/schema").rpartition("/")[2]
    return f"draft {name.removeprefix('draft-0')} requires `enum` to be {rules[str(error.validator)]}, got {got}"


def _rule(error: ValidationError) -> str:
    """Return the message of a violation, in which a long value is clipped and not the rule."""
    value = repr(error.instance)
    rule = error.message.removeprefix(value)
    return error.message if rule == error.message else clipped(value, _SHOWN) + rule


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


# One file: of a schema or of an overlay.


MAX_BYTES: Final = 1 << 25
"""Maximum size of a file, in bytes. The largest schemas in use, such as that of FHIR, have a few megabytes."""

MAX_VALUES: Final = 500_000
"""Maximum number of values in the files of a schema, after the aliases of YAML are replaced."""

YAML: Final = frozenset({".yaml", ".yml"})

_RESOLVERS: Final = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
)
"""Plain texts that are not texts in YAML 1.2 (core schema): tag, regular expression and first characters.

YAML 1.1, which PyYAML reads by default, converts `no`, `on`, `1:30`, `012` and dates to other types.
"""


def read_file(path: Path, what: str) -> Json:
    """Read a JSON file, or a YAML file if it has the suffix `.yaml` or `.yml`.

    Raises:
        OSError: The file cannot be read.
        SchemaError: It is a folder, is too large, is not valid, or has a duplicate key; or PyYAML is not installed.
    """
    if path.is_dir():
        raise SchemaError(folder_problem(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except ValueError as error:  # a null character in the name
        raise SchemaError.of(f"Cannot read the {what}: {error}", file=str(path)) from error
    if len(data) > MAX_BYTES:
        raise SchemaError.of(f"Expected the {what} to have at most {MAX_BYTES:,} bytes, got more", file=str(path))
    if path.suffix.lower() in YAML:
        return _parse_yaml(data, what, str(path))
    if (count := count_values(data, MAX_VALUES)) > MAX_VALUES:
        raise too_many_values(count, what, str(path))
    try:
        return strict_json.parse(data, file=str(path), max_depth=MAX_DEPTH)
    except DataError as error:
        known = (one if one.pointer is not None else replace(one, hint=None) for one in error.problems)
        raise SchemaError(*known) from error  # hints on syntax and nesting apply only to documents


def too_many_values(count: float, what: str, file: str | None) -> SchemaError:
    """Return the error for a schema or an overlay of too many values."""
    return SchemaError.of(f"Expected the {what} to have at most {MAX_VALUES:,} values, got {count:,}", file=file)


def _parse_yaml(data: bytes, what: str, file: str) -> Json:
    """Return the JSON value of a YAML text. Raises SchemaError."""
    with optional_library("PyYAML", "yaml", f"Reading the {what} in YAML", SchemaError, file):
        import yaml  # noqa: PLC0415  (an extra)

    try:
        loader = _loader_class(yaml, what, file)(data.decode("utf-8-sig"))
        node = loader.get_single_node()
        count, characters = _expanded_size(node)
        if count == math.inf:
            raise SchemaError.of(
                f"Circular reference in the {what}: an anchor contains its own alias",
                file=file,
                hint="Use $ref for recursion.",
            )
        if count > MAX_VALUES:
            raise too_many_values(count, what, file)
        if characters > MAX_BYTES:
            message = f"Expected the {what} to have at most {MAX_BYTES:,} characters, got {characters:,}"
            raise SchemaError.of(message, file=file, hint="Each alias is replaced by a copy.")
        value = None if node is None else loader.construct_document(node)
    except UnicodeDecodeError as error:
        raise SchemaError.of(f"The {what} is not valid UTF-8", file=file) from error
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = None if mark is None else mark.line + 1
        raise SchemaError.of(f"The {what} is not valid YAML: {problem or error}", file=file, line=line) from error
    except RecursionError as error:
        raise SchemaError.of(f"The {what} is nested too deeply", file=file) from error
    try:
        return json.loads(json.dumps(value, allow_nan=False))  # aliases become copies, and keys texts
    except (TypeError, ValueError) as error:
        raise SchemaError.of(f"Expected the {what} to contain only JSON values: {error}", file=file) from error


def _loader_class(yaml: Any, what: str, file: str) -> Any:  # noqa: ANN401  (PyYAML has no types)
    """Return a PyYAML loader of YAML 1.2 that refuses duplicate keys and too many values."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Reads YAML 1.2 and refuses duplicate keys."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (filled below, for this class alone)
        composed = 0

        def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401
            self.composed += 1
            if self.composed > MAX_VALUES:
                raise too_many_values(self.composed, what, file)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: ANN401, FBT001, FBT002
            seen = set()
            for key, _ in node.value:
                if isinstance(key.value, str) and key.value in seen:
                    message = f"an object has the key {shown(key.value)} twice"
                    raise yaml.constructor.ConstructorError(None, None, message, key.start_mark)
                seen.add(key.value if isinstance(key.value, str) else id(key))
            return dict(super().construct_mapping(node, deep=deep))

    Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))  # in YAML 1.1, 012 is 10
    for tag, pattern, first in _RESOLVERS:
        Loader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}",
            re.compile(f"(?:{pattern})\\Z"),
            ["" if sign == "\0" else sign for sign in first],
        )
    return Loader


def _expanded_size(root: Any) -> tuple[float, float]:  # noqa: ANN401  (a node of PyYAML)
    """Return the number of values and of characters of a YAML document whose aliases are replaced by copies.

    Each node is visited once, so this is linear in the size of the text. A node that contains itself has infinite size.
    """
    sizes: dict[int, tuple[float, float]] = {}
    pending = [] if root is None else [root]
    while pending:
        node = pending[-1]
        if id(node) not in sizes:
            sizes[id(node)] = math.inf, math.inf  # until its parts are known
            pending += (part for part in _parts(node) if id(part) not in sizes)
            continue
        pending.pop()
        below = [sizes[id(part)] for part in _parts(node)]
        own = len(node.value) if isinstance(node.value, str) else 0
        sizes[id(node)] = 1 + sum(count for count, _ in below), own + sum(length for _, length in below)
    return sizes[id(root)] if root is not None else (0, 0)


def _parts(node: Any) -> list[Any]:  # noqa: ANN401
    """Return the nodes directly in a node of PyYAML: items, or keys and values."""
    if isinstance(node.value, str):
        return []
    return [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
