"""Values of options that need more than a type: matchings, distances, bounds on scores, and sources as NAME=PATH."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from arbitre.catalogue import Catalogue
from arbitre.cli.output.console import Terminal
from arbitre.comparator import Comparator
from arbitre.comparator.comparator import ComparatorKeywords, load_functions
from arbitre.comparator.configurations import Configuration, NamedChoice, configurations
from arbitre.corpus.quality_bounds import MissedBound, QualityBound
from arbitre.errors import ArbitreError, OptionError
from arbitre.inputs.annotation_files import AnnotationOptions
from arbitre.parsing import strict_json
from arbitre.schema import SchemaSource
from arbitre.values import Json


def _choice(text: str, catalogue: Catalogue[Any], option: str | None = None) -> NamedChoice:
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


def check_format_assertion(options: ComparatorKeywords, *, validate: bool) -> None:
    """Raise OptionError if `--format-assertion` is given without `--validate`."""
    if options.get("format_assertion") and not validate:
        raise OptionError.of("`format_assertion` requires `validate`: formats are checked while validating.")


@dataclass(frozen=True, kw_only=True)
class OverrideOptions:
    """Matchings and distances that override the schema."""

    match: Sequence[str] | None
    distance: Sequence[str] | None

    def configurations(self, schema: SchemaSource, options: ComparatorKeywords) -> list[Configuration]:
        """Build a comparator for every combination of matching and distance.

        The names include those of `--functions`.

        Raises:
            SchemaError: The schema is invalid, or a choice applies to no part of it.
            typer.BadParameter: A distance is unknown.
        """
        match, distance = self._named(options.get("functions", ()))
        return configurations(schema, match=match, distance=distance, build=partial(Comparator, **options))

    def choices(self, functions: Iterable[str]) -> tuple[list[Json], list[Json]]:
        """Return the matchings and the distances as in a schema. Raises typer.BadParameter if one is unknown."""
        match, distance = self._named(functions)
        return [named.choice for named in match], [named.choice for named in distance]

    def _named(self, functions: Iterable[str]) -> tuple[list[NamedChoice], list[NamedChoice]]:
        known = load_functions(functions)
        return (
            [_choice(text, known.matchings, "--match") for text in self.match or ()],
            [_choice(text, known.distances, "--distance") for text in self.distance or ()],
        )


def named_sources(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths by name. Raises typer.BadParameter for anything but NAME=PATH."""
    sources: dict[str, list[str]] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not path or Path(name).name != name or name in {"", ".", ".."}:
            raise typer.BadParameter(f"Expected NAME=PATH, such as careful=careful.jsonl, got {text!r}.")
        sources.setdefault(name, []).append(path)
    return sources


def annotator_sources(texts: Sequence[str], files: AnnotationOptions) -> dict[str, list[str]] | str:
    """Return the paths by annotator: NAME=PATH, or files that name their annotators; or the path of a table of ratings.

    Raises:
        typer.BadParameter: A text is neither NAME=PATH nor a file of an annotation tool, nor the only text and a table.
    """
    from arbitre.agreement.ratings import is_rating_table  # noqa: PLC0415  (most commands do not need it)
    from arbitre.agreement.span_files import annotators_in, has_spans  # noqa: PLC0415  (as above)

    if not any("=" in text for text in texts):
        if all(has_spans(text, files) for text in texts):
            return annotators_in(texts, files)
        if len(texts) == 1 and is_rating_table(texts[0]):
            return texts[0]
    return named_sources(texts)


def under(text: str) -> QualityBound:
    """Parse the value of `--fail-under`. Raises typer.BadParameter if it is invalid."""
    return _bound(text, over=False)


def over(text: str) -> QualityBound:
    """Parse the value of `--fail-over`. Raises typer.BadParameter if it is invalid."""
    return _bound(text, over=True)


@dataclass(frozen=True, kw_only=True)
class BoundOptions:
    """Bounds on scores."""

    fail_under: Sequence[QualityBound]
    fail_over: Sequence[QualityBound]

    @property
    def bounds(self) -> tuple[QualityBound, ...]:
        return (*self.fail_under, *self.fail_over)


def close(screen: Terminal, missed: Iterable[MissedBound]) -> int:
    """Print the bounds that were not met and return the exit code."""
    not_met = list(missed)
    for each in not_met:
        screen.error(str(each), "not met")
    return int(bool(not_met))


def _bound(text: str, *, over: bool) -> QualityBound:
    try:
        return QualityBound.parse(text, over=over)
    except OptionError as error:
        raise typer.BadParameter(" ".join(filter(None, (f"{error.message}.", error.problems[0].hint)))) from error
