"""The option `--functions`: custom distances and normalisers from Python modules."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import typer

from arbitre import normalizers
from arbitre.catalogue import Catalogue
from arbitre.distances import DistanceCatalogue
from arbitre.distances import catalogue as distances
from arbitre.errors import SchemaError
from arbitre.schema.loading.python_types import import_object

if TYPE_CHECKING:
    from collections.abc import Sequence


def load_functions(names: Sequence[str] | None) -> dict[str, Any]:
    """Import custom functions from the installed modules or the current folder.

    Args:
        names: `MODULE:NAME` of functions and catalogues; None for none. A function of two values is a distance, about
            which nothing is claimed; a function of one text is a normaliser.

    Returns:
        The arguments `distances` and `normalizers` of `Comparator`.

    Raises:
        typer.BadParameter: A module or a name does not exist, or is neither a function nor a catalogue.
        SchemaError: A name is already in use.
    """
    known: dict[str, Catalogue[Any]] = {"distances": distances, "normalizers": normalizers.catalogue}
    functions: dict[str, Any] = dict(known)
    for name in names or ():
        loaded = _imported(name)
        if isinstance(loaded, Catalogue):
            key = "distances" if isinstance(loaded, DistanceCatalogue) else "normalizers"
            for own in sorted(loaded.entries.keys() - known[key].entries.keys()):
                functions[key] = functions[key].with_factory(own, loaded.entries[own])
        elif _arity(loaded) == 2:  # noqa: PLR2004  (gold and predicted)
            functions["distances"] = functions["distances"].with_distance(name.partition(":")[2], loaded)
        elif _arity(loaded) == 1:
            functions["normalizers"] = normalizers.with_normalizer(
                name.partition(":")[2], loaded, known=functions["normalizers"]
            )
        else:
            raise typer.BadParameter(
                "Expected --functions to name a function of two values (a distance) or of one value (a normaliser), "
                f"or a catalogue of such functions, got {type(loaded).__name__} for {name!r}."
            )
    return functions


def _imported(name: str) -> Any:  # noqa: ANN401  (anything that a module may contain)
    """Return the object at `MODULE:NAME`."""
    try:
        return import_object(name)
    except SchemaError as error:
        raise typer.BadParameter(
            f"Expected --functions to name a function or a catalogue as MODULE:NAME, got {name!r}: {error.message}"
        ) from error


def _arity(loaded: Any) -> int | None:  # noqa: ANN401
    """Return the number of arguments that a function requires; None for anything else."""
    if not callable(loaded) or isinstance(loaded, type):
        return None
    try:
        parameters = inspect.signature(loaded).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is inspect.Parameter.empty for each in parameters)
