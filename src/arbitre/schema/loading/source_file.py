"""Reads the file of a schema or an overlay: JSON, or YAML 1.2."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import SchemaError, folder_problem, shown
from arbitre.parsing.fast_json import count_values

if TYPE_CHECKING:
    from pathlib import Path

    from arbitre.values import Json

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
        if len(data) > MAX_BYTES:
            raise SchemaError.of(f"Expected the {what} to have at most {MAX_BYTES:,} bytes, got more", file=str(path))
        if path.suffix.lower() not in YAML and (count := count_values(data, MAX_VALUES)) > MAX_VALUES:
            raise too_many_values(count, what, str(path))
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaError.of(f"The {what} is not valid UTF-8", file=str(path)) from error
    except ValueError as error:
        raise SchemaError.of(f"Cannot read the {what}: {error}", file=str(path)) from error
    try:
        if path.suffix.lower() in YAML:
            return _parse_yaml(text, what, str(path))
        return json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise SchemaError.of(f"The {what} is not valid JSON: {error}", file=str(path), line=line) from error
    except RecursionError as error:
        raise SchemaError.of(f"The {what} is nested too deeply", file=str(path)) from error


def too_many_values(count: float, what: str, file: str | None) -> SchemaError:
    """Return the error for a schema or an overlay of too many values."""
    return SchemaError.of(f"Expected the {what} to have at most {MAX_VALUES:,} values, got {count:,}", file=file)


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        message = f"an object has the key {shown(key)} twice"
        raise ValueError(message)
    return unique


def _parse_yaml(text: str, what: str, file: str) -> Json:
    """Return the JSON value of a YAML text. Raises SchemaError."""
    try:
        import yaml  # noqa: PLC0415  (an extra)
    except ImportError:
        raise SchemaError.of(
            f"PyYAML is not installed; a {what} in YAML requires it", file=file, hint="pip install 'arbitre[yaml]'"
        ) from None

    try:
        loader = _loader_class(yaml, what, file)(text)
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
