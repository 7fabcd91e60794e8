"""Reads the file of a schema or an overlay: JSON, or YAML 1.2."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import SchemaError, folder_problem, shown

if TYPE_CHECKING:
    from pathlib import Path

    from arbitre.values import Json

YAML: Final = frozenset({".yaml", ".yml"})

_RESOLVERS: Final = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
)
"""Plain texts that are not texts in YAML 1.2 (core schema): tag, regular expression and first characters.

YAML 1.1, which PyYAML reads by default, also makes `no`, `on`, `1:30`, `012` and dates something else than texts.
"""


def read_file(path: Path, what: str) -> Json:
    """Read a JSON file, or a YAML file if it has the suffix `.yaml` or `.yml`.

    Raises:
        OSError: The file cannot be read.
        SchemaError: It is a folder, is not valid, or has a duplicate key; or PyYAML is not installed.
    """
    if path.is_dir():
        raise SchemaError(folder_problem(path))
    try:
        text = path.read_text(encoding="utf-8-sig")
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

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        """Reads YAML 1.2 and refuses duplicate keys."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (filled below, for this class alone)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: ANN401, FBT001, FBT002
            seen = []
            for key, _ in node.value:
                if key.value in seen:
                    message = f"an object has the key {shown(key.value)} twice"
                    raise yaml.constructor.ConstructorError(None, None, message, key.start_mark)
                seen.append(key.value)
            return dict(super().construct_mapping(node, deep=deep))

    Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))  # in YAML 1.1, 012 is 10
    for tag, pattern, first in _RESOLVERS:
        Loader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}",
            re.compile(f"(?:{pattern})\\Z"),
            ["" if sign == "\0" else sign for sign in first],
        )
    try:
        value = yaml.load(text, Loader)  # noqa: S506  (derived from SafeLoader)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = None if mark is None else mark.line + 1
        raise SchemaError.of(f"The {what} is not valid YAML: {problem or error}", file=file, line=line) from error
    try:
        return json.loads(json.dumps(value, allow_nan=False))  # aliases become copies, and keys texts
    except (TypeError, ValueError) as error:
        raise SchemaError.of(f"Expected the {what} to hold JSON values only: {error}", file=file) from error
