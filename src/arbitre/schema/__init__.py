"""Compilation of a JSON Schema to a plan."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from arbitre import matching
from arbitre.distances import catalogue
from arbitre.errors import OptionError, Problem, SchemaError
from arbitre.normalizers import catalogue as normalisers
from arbitre.schema.certificate import certify
from arbitre.schema.compiling.alias_annotations import with_aliases
from arbitre.schema.compiling.canonical_plan import canonical_sites
from arbitre.schema.compiling.compiler import Compiler
from arbitre.schema.compiling.forced_choices import Overrides
from arbitre.schema.compiling.readings import matching_problems
from arbitre.schema.describe import CLOSE, authorities_of, entries_of, rows_of, signature_of
from arbitre.schema.loading.overlay import Overlay
from arbitre.schema.loading.references import SchemaSource, Subschema, load
from arbitre.schema.plan import Plan
from arbitre.schema.plan_facts import PlanFacts
from arbitre.schema.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.catalogue import Catalogue
    from arbitre.distances import DistanceCatalogue
    from arbitre.normalizers import Normalizer
    from arbitre.values import Json

T = TypeVar("T")

__all__ = ["CLOSE", "Plan", "SchemaSource", "Subschema", "compile_plan", "load"]


def compile_plan(
    root: Subschema,
    *,
    overlay: Mapping[str, Json] | str | Path | Overlay | None = None,
    close: float = CLOSE,
    distances: DistanceCatalogue = catalogue,
    normalizers: Catalogue[Normalizer] = normalisers,
    match: Json = None,
    distance: Json = None,
    max_calls: int | None = None,
    format_assertion: bool = False,
) -> Plan:
    """Compile a schema to a plan.

    Args:
        root: The root of the schema.
        overlay: Annotations by wildcard path, or the path of a JSON file that contains them.
        close: Minimum quality of a value that counts as close, in (0, 1].
        distances: The distances that the schema may name.
        normalizers: The normalisers that the schema may name.
        match: A matching for every list; overrides the schema.
        distance: A distance for every leaf that it can compare; overrides the schema. See
            `arbitre.schema.compiling.forced_choices`.
        max_calls: Maximum number of calls to a custom distance per document; None for no limit.
        format_assertion: Whether validation checks `format`.

    Raises:
        SchemaError: The schema or the overlay is not valid. Lists every problem.
        OptionError: `close`, `match` or `distance` is not valid.
    """
    if isinstance(close, bool) or not isinstance(close, (int, float)) or not 0.0 < close <= 1.0:
        raise OptionError.of(f"Expected `close` to be a quality above 0 and at most 1, got {close!r}")
    laid = None if overlay is None else overlay if isinstance(overlay, Overlay) else Overlay.read(overlay)
    forced = Overrides(
        None if match is None else _chosen(matching.catalogue, match),
        None if distance is None else _chosen(distances, distance),
    )
    compiler = Compiler(distances, matching.catalogue, normalizers)
    plan = _compiled(root, laid, float(close), compiler, forced)
    inputs = (
        *root.shelf.files,
        *([str(overlay)] if isinstance(overlay, (str, Path)) else []),
        *(used.authority.path for used in authorities_of(plan.sites)),
    )
    return replace(plan, max_calls=max_calls, format_assertion=format_assertion, inputs=tuple(dict.fromkeys(inputs)))


def _chosen(catalogue: Catalogue[T], choice: Json) -> T:
    """Return what an option names. Raises OptionError."""
    try:
        return catalogue.build(choice)
    except SchemaError as error:
        raise OptionError(*(replace(one, pointer=one.pointer or None) for one in error.problems)) from error


def _compiled(root: Subschema, overlay: Overlay | None, close: float, compiler: Compiler, forced: Overrides) -> Plan:
    sites, wrong = with_aliases(compiler.compile(root, overlay), compiler.aliases)
    sites = forced.apply(sites)
    sites, marked, digest = canonical_sites(sites, compiler.marked)
    entries, claims = entries_of(sites, marked)
    rows = rows_of(sites)
    problems = [*compiler.problems, *wrong, *matching_problems(sites, root)]
    if claims:
        named = ", ".join(path or "the root" for path in claims)
        hint = 'Keep one `"entries": true`. An overlay can set the others to false.'
        problems.append(Problem(f"Expected only one list to be marked as entries, got {named}", root.file, hint=hint))
    if overlay is not None:
        problems += overlay.unused([row.path for row in rows])
    if problems:
        raise SchemaError(*dict.fromkeys(problems))
    signature = signature_of(sites, rows, digest, entries=entries, close=close, version=version("arbitre"))
    reached = [Reach.of(site) for site in sites]
    certificate, shortcuts = certify(sites, reached), PlanFacts.of(sites, reached)
    return Plan(tuple(sites), entries, signature, close, root, rows, certificate, shortcuts, compiler.expected)
