"""The option `--functions`: a catalogue with custom distances from a Python module."""

from __future__ import annotations

import importlib
import sys

import typer

from arbitre.distances import DistanceCatalogue, catalogue


def load_catalogue(name: str | None) -> DistanceCatalogue:
    """Import the catalogue at `MODULE:NAME`, from the installed modules or the current folder.

    Args:
        name: `MODULE:NAME`, or None for the default catalogue.

    Raises:
        typer.BadParameter: The module or the name does not exist, or is not a catalogue.
    """
    if name is None:
        return catalogue
    module, _, attribute = name.partition(":")
    sys.path.append("")
    try:
        loaded = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise typer.BadParameter(
            f"Expected --functions to name a catalogue as MODULE:NAME, got {name!r}: {error}"
        ) from error
    finally:
        sys.path.remove("")
    if not isinstance(loaded, DistanceCatalogue):
        raise typer.BadParameter(
            f"Expected --functions to name a DistanceCatalogue (see catalogue.with_distance), "
            f"got {type(loaded).__name__} for {name!r}."
        )
    return loaded
