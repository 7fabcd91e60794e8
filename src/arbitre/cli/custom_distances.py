"""The option `--functions`: a catalogue with custom distances from a Python module."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import typer

from arbitre.distances import DistanceCatalogue, catalogue

if TYPE_CHECKING:
    from arbitre.cli.output.console import Terminal
    from arbitre.comparator import Comparator
    from arbitre.values import Json


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


def warn_call_count(comparator: Comparator, gold: Json, predicted: Json, screen: Terminal) -> None:
    """Print the maximum number of calls to each custom distance, before the comparison."""
    for path, bound in comparator.most_calls(gold=gold, predicted=predicted).items():
        screen.note(f"The function at {path or '(the whole)'} may be called up to {bound:,} times.")
