"""Custom distances and normalisers, given as functions or by the names of functions in Python modules."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from arbitre import normalizers as normalisers
from arbitre.catalogue import Catalogue
from arbitre.distances import DistanceCatalogue
from arbitre.distances import catalogue as builtin
from arbitre.errors import OptionError, SchemaError
from arbitre.schema.loading.python_types import import_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from arbitre.normalizers import Normalizer

    Distances = DistanceCatalogue | Mapping[str, Callable[[Any, Any], Any]]
    Normalizers = Catalogue[Normalizer] | Mapping[str, Callable[[Any], Any]]


def load_functions(
    names: Iterable[str] = (), distances: Distances = builtin, normalizers: Normalizers = normalisers.catalogue
) -> tuple[DistanceCatalogue, Catalogue[Normalizer]]:
    """Return the distances and normalisers that a schema may name.

    Args:
        names: `MODULE:NAME` of functions and catalogues in the installed modules or the current folder. A function of
            two values is a distance, for which no properties are claimed; a function of one text is a normaliser.
        distances: A catalogue, or functions by name in addition to the built-in distances.
        normalizers: A catalogue, or functions by name in addition to the built-in normalisers.

    Raises:
        OptionError: A module or a name does not exist, or is neither a function nor a catalogue.
        SchemaError: A name is already in use.
    """
    known = distances if isinstance(distances, DistanceCatalogue) else _with_distances(distances)
    normal = normalizers if isinstance(normalizers, Catalogue) else _with_normalizers(normalizers)
    for name in names:
        loaded, own = _imported(name), name.partition(":")[2]
        if isinstance(loaded, DistanceCatalogue):
            for added in sorted(loaded.entries.keys() - builtin.entries.keys()):
                known = known.with_factory(added, loaded.entries[added])
        elif isinstance(loaded, Catalogue):
            for added in sorted(loaded.entries.keys() - normalisers.catalogue.entries.keys()):
                normal = normal.with_factory(added, loaded.entries[added])
        elif _arity(loaded) == 2:  # noqa: PLR2004  (gold and predicted)
            known = known.with_distance(own, loaded)
        elif _arity(loaded) == 1:
            normal = normalisers.with_normalizer(own, loaded, known=normal)
        else:
            raise OptionError.of(
                "Expected `functions` to name a function of two values (a distance) or of one value (a normaliser), "
                f"or a catalogue of such functions, got {type(loaded).__name__} for {name!r}."
            )
    return known, normal


def module_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the files of the modules in these names, which have been imported; see `load_functions`."""
    modules = (sys.modules.get(name.partition(":")[0]) for name in names)
    return tuple(dict.fromkeys(file for module in modules if (file := getattr(module, "__file__", None)) is not None))


def _with_distances(functions: Mapping[str, Callable[[Any, Any], Any]]) -> DistanceCatalogue:
    """Return the built-in distances and these functions, for which no properties are claimed."""
    extended = builtin
    for name, function in functions.items():
        extended = extended.with_distance(name, function)
    return extended


def _with_normalizers(functions: Mapping[str, Callable[[Any], Any]]) -> Catalogue[Normalizer]:
    """Return the built-in normalisers and these functions of texts."""
    extended = normalisers.catalogue
    for name, function in functions.items():
        extended = normalisers.with_normalizer(name, function, known=extended)
    return extended


def _imported(name: str) -> Any:  # noqa: ANN401  (anything that a module may contain)
    """Return the object at `MODULE:NAME`."""
    try:
        return import_object(name)
    except SchemaError as error:
        raise OptionError.of(
            f"Expected `functions` to name a function or a catalogue as MODULE:NAME, got {name!r}: {error.message}"
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
