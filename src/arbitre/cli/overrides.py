"""Choices of the command line in place of those of the schema: `--match` and `--distance`, one or several."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Annotated, Final

import typer

import arbitre
from arbitre import matching
from arbitre.comparator import MAX_CALLS
from arbitre.corpus.reading import strict_json
from arbitre.distances import catalogue as distances
from arbitre.errors import ArbitreError, SchemaError
from arbitre.schema import CLOSE
from arbitre.schema.describe import walk
from arbitre.schema.reach import Reach
from arbitre.signature import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from arbitre.catalogue import Catalogue
    from arbitre.distances import DistanceCatalogue
    from arbitre.values import Json

AS_IN_SCHEMA: Final = "as the schema says"


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A choice as a schema would write it, and how it is called in tables."""

    name: str
    choice: Json
    label: str

    @classmethod
    def of(cls, text: str, catalogue: Catalogue[Any]) -> NamedChoice:
        """The choice of a catalogue that is written so: a name, or JSON. Raises typer.BadParameter.

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
    """The matching that is written so."""
    return NamedChoice.of(text, matching.catalogue)


def _parse_distance(text: str) -> NamedChoice:
    return NamedChoice.of(text, distances)


_WRITTEN: Final = "a name, or JSON as in a schema. May be repeated, to see them side by side."
Matches = Annotated[
    list[NamedChoice] | None,
    typer.Option("--match", metavar="NAME", parser=parse_matching, help=f"Match every array so: {_WRITTEN}"),
]
Distances = Annotated[
    list[NamedChoice] | None,
    typer.Option("--distance", metavar="NAME", parser=_parse_distance, help=f"Measure what is graded so: {_WRITTEN}"),
]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A comparator under one matching and one distance; None leaves that to the schema."""

    match: NamedChoice | None
    distance: NamedChoice | None
    comparator: arbitre.Comparator

    @property
    def label(self) -> str:
        return ", ".join(one.label for one in (self.match, self.distance) if one is not None) or AS_IN_SCHEMA

    def to_dict(self) -> dict[str, Json]:
        """What was chosen, as a schema would write it; null is what the schema says."""
        chosen = {"match": self.match, "distance": self.distance}
        return {key: None if one is None else one.choice for key, one in chosen.items()}


def configurations(
    schema: Json,
    matches: Sequence[NamedChoice] | None,
    measures: Sequence[NamedChoice] | None,
    *,
    overlay: str | None = None,
    close: float = CLOSE,
    own: DistanceCatalogue = distances,
    max_calls: int = MAX_CALLS,
) -> list[Configuration]:
    """Every matching with every distance. Raises SchemaError, also where a choice would change nothing at all."""
    found = []
    alone: list[NamedChoice | None] = [None]
    for match, distance in product(matches or alone, measures or alone):
        comparator = arbitre.Comparator(
            schema,
            overlay=overlay,
            close=close,
            distances=own,
            max_calls=max_calls,
            match=None if match is None else match.choice,
            distance=None if distance is None else distance.choice,
        )
        _check_used(comparator, match, distance)
        found.append(Configuration(match, distance, comparator))
    return found


def _check_used(comparator: arbitre.Comparator, match: NamedChoice | None, distance: NamedChoice | None) -> None:
    if match is not None and not any(row.match for row in comparator.explain()):
        raise SchemaError.of(
            f"Expected --match to match an array of the schema, got {match.label}: there is none",
            hint="Arrays that have a distance of their own are compared as one value.",
        )
    sites = comparator.plan.sites
    declared = {step.site for step in walk(sites)}
    used = {leaf.distance.name for index in declared for leaf in Reach.of(sites[index]).leaves}
    if distance is not None and distance.name not in used:
        raise SchemaError.of(
            f"Expected --distance to measure a value of the schema, got {distance.label}: it is for none of them",
            hint="`arbitre schema explain` shows what is compared by what; what is exact stays so.",
        )
