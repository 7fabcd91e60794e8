"""The options `--match` and `--distance`, which override the schema."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import typer

from arbitre import matching
from arbitre.catalogue import Catalogue
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords, load_functions
from arbitre.comparator.configurations import Configuration, NamedChoice, configurations
from arbitre.corpus.reading import strict_json
from arbitre.errors import ArbitreError, OptionError
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


def check_format_assertion(options: ComparatorKeywords, *, validate: bool) -> None:
    """Raise OptionError if `--format-assertion` is given without `--validate`."""
    if options.get("format_assertion") and not validate:
        raise OptionError.of("`format_assertion` requires `validate`: formats are checked while validating.")


@dataclass(frozen=True, kw_only=True)
class OverrideOptions:
    """Matchings and distances that override the schema."""

    match: Sequence[NamedChoice] | None
    distance: Sequence[str] | None

    def configurations(self, schema: SchemaSource, options: ComparatorKeywords) -> list[Configuration]:
        """Build a comparator for every combination of matching and distance.

        The names of distances include those of `--functions`.

        Raises:
            SchemaError: The schema is invalid, or a choice applies to no part of it.
            typer.BadParameter: A distance is unknown.
        """
        distance = self._distances(options.get("functions", ()))
        return configurations(schema, match=self.match or (), distance=distance, build=partial(Comparator, **options))

    def distances(self, functions: Iterable[str]) -> list[Json]:
        """Return the distances as in a schema. Raises typer.BadParameter if one is unknown."""
        return [named.choice for named in self._distances(functions)]

    def _distances(self, functions: Iterable[str]) -> list[NamedChoice]:
        known, _ = load_functions(functions)
        return [_parse(text, known, "--distance") for text in self.distance or ()]
