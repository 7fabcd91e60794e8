"""The options `--match` and `--distance`, which override the schema."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final

import typer

from arbitre import matching
from arbitre.catalogue import Catalogue
from arbitre.cli.shared_options import ComparatorOptions
from arbitre.comparator.configurations import Configuration, NamedChoice, configurations
from arbitre.comparator.functions import load_functions
from arbitre.corpus.reading import strict_json
from arbitre.errors import ArbitreError
from arbitre.schema import SchemaSource
from arbitre.values import Json


def _parse(text: str, catalogue: Catalogue[Any], option: str | None = None) -> NamedChoice:
    """Parse a choice from a catalogue: a name, or JSON as in a schema.

    Raises:
        typer.BadParameter: The text is not valid JSON or not a choice of the catalogue.
    """
    try:
        choice = strict_json.parse(text) if text.lstrip().startswith(("{", "[", '"')) else text
        return NamedChoice.of(choice, catalogue)
    except ArbitreError as error:
        placed = (replace(one, line=None, pointer=one.pointer or None) for one in error.problems)
        raise typer.BadParameter("\n".join(map(str, placed)), param_hint=option and f"'{option}'") from error


def parse_matching(text: str) -> NamedChoice:
    """Parse the value of `--match`."""
    return _parse(text, matching.catalogue)


_SYNTAX: Final = "a name, or JSON as in a schema. Repeat it to compare several side by side."


@dataclass(frozen=True, kw_only=True)
class OverrideOptions:
    """Matchings and distances that override the schema."""

    match: Annotated[
        list[NamedChoice] | None,
        typer.Option(metavar="NAME", parser=parse_matching, help=f"Use this matching for all arrays: {_SYNTAX}"),
    ] = None
    distance: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Use this distance for all non-exact leaves: {_SYNTAX}"),
    ] = None

    def configurations(
        self, schema: SchemaSource, options: ComparatorOptions, *, format_assertion: bool = False
    ) -> list[Configuration]:
        """Build a comparator for every combination of matching and distance.

        The names of distances include those of `--functions`.

        Raises:
            SchemaError: The schema is invalid, or a choice applies to no part of it.
            typer.BadParameter: A distance is unknown.
        """
        build = partial(options.comparator, format_assertion=format_assertion)
        distance = self._distances(options.functions)
        return configurations(schema, match=self.match or (), distance=distance, build=build)

    def distances(self, functions: Sequence[str] | None) -> list[Json]:
        """Return the distances as in a schema. Raises typer.BadParameter if one is unknown."""
        return [named.choice for named in self._distances(functions)]

    def _distances(self, functions: Sequence[str] | None) -> list[NamedChoice]:
        known, _ = load_functions(functions or ())
        return [_parse(text, known, "--distance") for text in self.distance or ()]
