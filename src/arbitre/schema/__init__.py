"""From a JSON Schema to a plan."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbitre import distances, matching, normalizers
from arbitre.errors import Problem, SchemaError
from arbitre.schema.compile import Compiler, with_aliases
from arbitre.schema.describe import CLOSE, entries_of, rows_of, signature_of
from arbitre.schema.load import Located, Source, load
from arbitre.schema.nodes import Plan
from arbitre.schema.vocabulary import Overlay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.values import Json

__all__ = ["CLOSE", "Located", "Plan", "Source", "compile_plan", "load", "read_overlay"]


def compile_plan(
    root: Located, *, overlay: Mapping[str, Json] | str | Path | None = None, close: float = CLOSE
) -> Plan:
    """The plan of a schema. Raises SchemaError listing every problem found."""
    if not 0.0 < close <= 1.0:
        raise SchemaError.of(f"Expected `close` to be a quality above 0 and at most 1, got {close}")
    laid = None if overlay is None else read_overlay(overlay)
    compiler = Compiler(distances.catalogue, matching.catalogue, normalizers.catalogue)
    sites = with_aliases(compiler.compile(root, laid), compiler.aliases)
    entries, claims = entries_of(sites, compiler.marked)
    if claims:
        message = f"Expected one list to be marked as entries, got {', '.join(claims)}"
        raise SchemaError(Problem(message, root.file, hint='Keep one `"entries": true`.'))
    rows = rows_of(sites)
    signature = signature_of(sites, rows, entries, close, version("arbitre"))
    return Plan(sites, entries, signature, close, root, rows)


def read_overlay(source: Mapping[str, Json] | str | Path) -> Overlay:
    """An overlay from a dictionary or a file. Raises SchemaError."""
    if not isinstance(source, (str, Path)):
        return Overlay.of(source)
    file = str(source)
    try:
        data: Any = json.loads(Path(source).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SchemaError.of(f"Cannot read the overlay: {error.strerror}", file=file) from error
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise SchemaError.of(f"The overlay is not valid JSON: {error}", file=file, line=line) from error
    if not isinstance(data, dict):
        raise SchemaError.of(f"Expected an overlay to be an object of paths, got {type(data).__name__}", file=file)
    return Overlay.of(data, file)
