"""Files bundled with the package: schemas of the file formats, examples and the demo corpus."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def schemas() -> Traversable:
    """Return the folder `schemas/`: inside an installed package, or beside `src` in a source tree."""
    package = files("arbitre")
    installed = package / "schemas"
    return installed if installed.is_dir() else package / ".." / ".." / "schemas"


def schema(name: str) -> dict[str, Any]:
    """Load a bundled JSON Schema by its path in `schemas/`, such as `vocabulary.schema.json`."""
    loaded: dict[str, Any] = json.loads((schemas() / name).read_text(encoding="utf-8"))
    return loaded


def demo() -> Traversable:
    """Return the folder of the demo corpus: gold and the predictions of two systems."""
    return files("arbitre") / "demo"
