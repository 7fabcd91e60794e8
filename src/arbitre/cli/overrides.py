"""The options `--match` and `--distance`, which override the schema."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, Final, Self

import typer

import arbitre
from arbitre import matching
from arbitre.catalogue import Catalogue
from arbitre.cli.shared_options import ComparatorOptions
from arbitre.corpus.reading import strict_json
from arbitre.distances import catalogue as distances
from arbitre.errors import ArbitreError, SchemaError
from arbitre.schema import SchemaSource
from arbitre.schema.describe import walk
from arbitre.schema.reach import Reach
from arbitre.signature import text_of
from arbitre.values import Json

AS_IN_SCHEMA: Final = "as the schema says"


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A matching or distance as written in a schema, with its label in tables."""

    name: str
    choice: Json
    label: str

    @classmethod
    def of(cls, text: str, catalogue: Catalogue[Any]) -> Self:
        """Parse a choice from a catalogue: a name, or JSON as in a schema.

        Raises:
            typer.BadParameter: The text is not valid JSON or not a choice of the catalogue.

        >>> NamedChoice.of('{"transport": {"solver": "dummy", "lambda": 0.2}}', matching.catalogue).label
        'transport(dummy, lambda=0.2)'
        """
        try:
            choice = strict_json.parse(text) if text.lstrip().startswith(("{", "[", '"')) else text
            name = catalogue.build(choice).name
        except ArbitreError as error:
            placed = (replace(one, line=None, pointer=one.pointer or None) for one in error.problems)
            raise typer.BadParameter("\n".join(map(str, placed))) from error
        given = choice[name] if isinstance(choice, dict) else {}
        options = (value if isinstance(value, str) else f"{key}={text_of(value)}" for key, value in given.items())
        return cls(name, choice, f"{name}({', '.join(options)})" if given else name)


def parse_matching(text: str) -> NamedChoice:
    """Parse the value of `--match`."""
    return NamedChoice.of(text, matching.catalogue)


def _parse_distance(text: str) -> NamedChoice:
    return NamedChoice.of(text, distances)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A comparator with one matching and one distance; None uses the setting from the schema."""

    match: NamedChoice | None
    distance: NamedChoice | None
    comparator: arbitre.Comparator

    @property
    def label(self) -> str:
        return ", ".join(one.label for one in (self.match, self.distance) if one is not None) or AS_IN_SCHEMA

    def to_dict(self) -> dict[str, Json]:
        """Return the choices as written in a schema; null uses the setting from the schema."""
        chosen = {"match": self.match, "distance": self.distance}
        return {key: None if one is None else one.choice for key, one in chosen.items()}


_SYNTAX: Final = "a name, or JSON as in a schema. Repeat it to compare several side by side."


@dataclass(frozen=True, kw_only=True)
class OverrideOptions:
    """Matchings and distances that override the schema."""

    match: Annotated[
        list[NamedChoice] | None,
        typer.Option(metavar="NAME", parser=parse_matching, help=f"Use this matching for all arrays: {_SYNTAX}"),
    ] = None
    distance: Annotated[
        list[NamedChoice] | None,
        typer.Option(
            metavar="NAME", parser=_parse_distance, help=f"Use this distance for all non-exact leaves: {_SYNTAX}"
        ),
    ] = None

    def configurations(
        self, schema: SchemaSource, options: ComparatorOptions, *, format_assertion: bool = False
    ) -> list[Configuration]:
        """Build a comparator for every combination of matching and distance.

        Raises:
            SchemaError: The schema is invalid, or a choice applies to no part of it.
        """
        configurations = []
        schemas_own: list[NamedChoice | None] = [None]
        for match, distance in product(self.match or schemas_own, self.distance or schemas_own):
            comparator = options.comparator(
                schema,
                match=match and match.choice,
                distance=distance and distance.choice,
                format_assertion=format_assertion,
            )
            _check_used(comparator, match, distance)
            configurations.append(Configuration(match, distance, comparator))
        return configurations


def _check_used(comparator: arbitre.Comparator, match: NamedChoice | None, distance: NamedChoice | None) -> None:
    if match is not None and not any(row.match for row in comparator.explain()):
        raise SchemaError.of(
            f"--match {match.label} has no effect: the schema has no array that is matched",
            hint="An array with its own distance is compared as one value.",
        )
    sites = comparator.plan.sites
    declared = {step.site for step in walk(sites)}
    used = {leaf.distance.name for index in declared for leaf in Reach.of(sites[index]).leaves}
    if distance is not None and distance.name not in used:
        raise SchemaError.of(
            f"--distance {distance.label} has no effect: it applies to no value of the schema",
            hint="`arbitre schema explain` shows the distance of each path; exact comparisons are not overridden.",
        )
