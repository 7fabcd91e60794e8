"""Distances of your own on the command line: a catalogue that a Python module holds."""

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
    """The catalogue that `MODULE:NAME` holds, looked for beside the installed modules in the folder one stands in.

    Raises typer.BadParameter where there is none.
    """
    if name is None:
        return catalogue
    module, _, attribute = name.partition(":")
    sys.path.append("")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise typer.BadParameter(
            f"Expected --functions to name a catalogue as MODULE:NAME, got {name!r}: {error}"
        ) from error
    finally:
        sys.path.remove("")
    if not isinstance(found, DistanceCatalogue):
        raise typer.BadParameter(
            f"Expected --functions to name what catalogue.with_distance makes, got {type(found).__name__} for {name!r}."
        )
    return found


def warn_call_count(comparator: Comparator, gold: Json, predicted: Json, screen: Terminal) -> None:
    """Say how often functions may be called, before any of them is."""
    for path, most in comparator.most_calls(gold=gold, predicted=predicted).items():
        screen.note(f"The function at {path or '(the whole)'} may be called up to {most:,} times.")
