"""Sources named on the command line as NAME=PATH."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence


def named_sources(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths by name. Raises typer.BadParameter for anything but NAME=PATH."""
    sources: dict[str, list[str]] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not path or Path(name).name != name or name in {"", ".", ".."}:
            raise typer.BadParameter(f"Expected NAME=PATH, such as careful=careful.jsonl, got {text!r}.")
        sources.setdefault(name, []).append(path)
    return sources
