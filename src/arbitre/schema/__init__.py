"""Compilation of a JSON Schema to a plan, with one matching or one distance for the whole schema on request."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from arbitre import matching
from arbitre.distances import catalogue
from arbitre.distances.base import with_floor
from arbitre.errors import OptionError, Problem, SchemaError, did_you_mean, shell_quoted
from arbitre.normalizers import catalogue as normalisers
from arbitre.paths import STAR, order, wildcard
from arbitre.schema.certificate import certify
from arbitre.schema.compiling.annotation_checks import mass_problems, matching_problems
from arbitre.schema.compiling.compiler import Compiler, with_aliases
from arbitre.schema.compiling.reference_checks import reference_problems
from arbitre.schema.describe import CLOSE, authorities_of, entries_of, rows_of, signature_of, walk
from arbitre.schema.loading.annotations import Overlay, foreign_keywords
from arbitre.schema.loading.load_schema import SchemaSource, Subschema, load
from arbitre.schema.nodes import PlanFacts, Reach, pattern_error
from arbitre.schema.plan import Plan, canonical_sites
from arbitre.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.catalogue import Catalogue
    from arbitre.distances import Distance, DistanceCatalogue
    from arbitre.matching import Matcher
    from arbitre.normalizers import Normalizer
    from arbitre.schema.nodes import Leaf, Site
    from arbitre.values import Json


T = TypeVar("T")

FEW_KEYWORDS: Final = 3
"""Maximum number of keywords in a note."""

__all__ = ["CLOSE", "Plan", "SchemaSource", "Subschema", "compile_plan", "load"]


def compile_plan(
    root: Subschema,
    *,
    overlay: Mapping[str, Json] | str | Path | Overlay | None = None,
    close: float = CLOSE,
    distances: DistanceCatalogue = catalogue,
    normalizers: Catalogue[Normalizer] = normalisers,
    matchings: Catalogue[Matcher] = matching.catalogue,
    match: Json = None,
    distance: Json = None,
    max_calls: int | None = None,
    format_assertion: bool = False,
    fields: Iterable[str] = (),
) -> Plan:
    """Compile a schema to a plan.

    Args:
        root: The root of the schema.
        overlay: Annotations by wildcard path, or the path of a JSON file that contains them.
        close: Minimum quality of a value that counts as close, in (0, 1].
        distances: The distances that the schema may name.
        normalizers: The normalisers that the schema may name.
        matchings: The matchings that the schema may name.
        match: A matching for every list; overrides the schema.
        distance: A distance for every leaf that it can compare; overrides the schema. See
            `arbitre.schema`.
        max_calls: Maximum number of calls to a custom distance per document; None for no limit.
        format_assertion: Whether validation checks `format`.
        fields: Wildcard paths; only the values there and below are compared. Empty for all.

    Raises:
        SchemaError: The schema or the overlay is not valid. Lists every problem.
        OptionError: `close`, `match`, `distance` or `fields` is not valid.
    """
    if isinstance(close, bool) or not isinstance(close, (int, float)) or not 0.0 < close <= 1.0:
        raise OptionError.of(f"Expected `close` to be a quality above 0 and at most 1, got {close!r}")
    laid = None if overlay is None else overlay if isinstance(overlay, Overlay) else Overlay.read(overlay)
    settings = {} if laid is None else laid.to_dict()
    if fields := tuple(fields):
        whole = _compiled(root, deepcopy(laid), float(close), Compiler(distances, matchings, normalizers))
        laid = (Overlay() if laid is None else laid).extended(_without_other_fields(whole, fields))
    forced = Overrides(
        None if match is None else _chosen(matchings, match),
        None if distance is None else _chosen(distances, distance),
    )
    catalogues: dict[str, tuple[Catalogue[Any], Catalogue[Any]]] = {
        "distances": (distances, catalogue),
        "normalizers": (normalizers, normalisers),
        "matchings": (matchings, matching.catalogue),
    }
    custom = {name: used for name, (used, builtin) in catalogues.items() if used is not builtin}
    again = partial(
        _compiled_with,
        root,
        deepcopy(laid),
        custom,
        close=close,
        match=match,
        distance=distance,
        max_calls=max_calls,
        format_assertion=format_assertion,
    )
    compiler = Compiler(distances, matchings, normalizers)
    plan = replace(_compiled(root, laid, float(close), compiler, forced), compile_with=again, custom=custom)
    inputs = (
        *root.shelf.files,
        *([str(overlay)] if isinstance(overlay, (str, Path)) else []),
        *(str(used.authority.declared["file"]) for used in authorities_of(plan.sites) if used.authority.file),
    )
    return replace(
        plan,
        max_calls=max_calls,
        format_assertion=format_assertion,
        inputs=tuple(dict.fromkeys(inputs)),
        overlay=settings,
        notes=(*_invalid_patterns(root), *(() if overlay is not None else _ignored_keywords(root))),
    )


def _invalid_patterns(root: Subschema) -> Iterator[str]:
    """Yield a note for each `pattern` that is not a regular expression. Only validation uses these keywords."""
    hint = "Correct the pattern. When documents are validated, every text violates it."
    for file, place, pattern in sorted(root.shelf.patterns, key=lambda found: (found[0] or "", order(found[1]))):
        if (message := pattern_error(pattern)) is not None:
            yield str(Problem(message, file, pointer=place, hint=hint))


def _ignored_keywords(root: Subschema) -> Iterator[str]:
    """Yield a note for each other tool whose keywords the schema has."""
    for tool, keywords in foreign_keywords(root.document.contents).items():
        listed = ", ".join(keywords[:FEW_KEYWORDS]) + ", ..." * (len(keywords) > FEW_KEYWORDS)
        file = shell_quoted(root.file or "SCHEMA")
        yield (
            f"The schema has keywords of another tool, which have no effect here: {listed}. "
            f"`arbitre schema import {file} --from {tool} -o OVERLAY` translates them for --overlay."
        )


def _compiled_with(
    root: Subschema,
    overlay: Overlay | None,
    custom: Mapping[str, Any],
    settings: Mapping[str, Json],
    **options: Any,  # noqa: ANN401  (see `compile_plan`)
) -> Plan:
    """Compile a schema with an overlay and further settings, which replace those of the overlay.

    `custom` contains the catalogues that are not built-in.
    """
    laid = (Overlay() if overlay is None else deepcopy(overlay)).extended(settings)
    return compile_plan(root, overlay=laid, **custom, **options)


def _without_other_fields(plan: Plan, fields: Sequence[str]) -> dict[str, Json]:
    """Return the settings by which only the values at these paths and below are compared, and the keys of their lists.

    Raises:
        OptionError: The schema has no such path.
    """
    declared = {row.path for row in plan.rows}
    for path in fields:
        if path not in declared:
            message = f"Expected `fields` to contain wildcard paths of the schema, got {path!r}"
            raise OptionError.of(message, hint=did_you_mean(path, sorted(declared - {""})))
    above = _above(fields, declared)
    keys = [
        wildcard((*step.path, STAR, *key))
        for step in walk(plan.sites)
        if step.repeats is None and wildcard(step.path) in above
        for key in plan.sites[step.site].list.matcher.key
    ]
    chosen = [*fields, *keys]
    above = _above(chosen, declared)
    kept = above | {path for path in declared if any(f"{path}/".startswith(f"{field}/") for field in chosen)}
    settings: dict[str, Json] = {
        path: {"ignore": True}
        for path in sorted(declared - kept)
        if path.rpartition("/")[0] in above and not path.endswith("/*")
    }
    objects = (row.path for row in plan.rows if row.path in above and "object" in row.kind)
    return settings | {path: {"undeclared": "ignore"} for path in objects}


def _above(paths: Iterable[str], declared: Iterable[str]) -> set[str]:
    """Return the declared paths that one of these paths is below."""
    return {above for above in declared for path in paths if path.startswith(f"{above}/")}


def _chosen(catalogue: Catalogue[T], choice: Json) -> T:
    """Return what an option names. Raises OptionError."""
    try:
        return catalogue.build(choice)
    except SchemaError as error:
        raise OptionError(*(replace(one, pointer=one.pointer or None) for one in error.problems)) from error


def _compiled(
    root: Subschema, overlay: Overlay | None, close: float, compiler: Compiler, forced: Overrides | None = None
) -> Plan:
    """Compile a schema; raise SchemaError with all its problems."""
    sites, wrong = with_aliases(compiler.compile(root, overlay), compiler.aliases)
    wrong += mass_problems(sites, compiler.masses)
    sites = sites if forced is None else forced.apply(sites)
    sites, marked, digest = canonical_sites(sites, compiler.marked)
    entries, claims = entries_of(sites, marked)
    rows = rows_of(sites)
    problems = [*compiler.problems, *wrong, *matching_problems(sites, root)]
    problems += reference_problems(sites, root, compiler.corpus_scopes)
    if claims:
        named = ", ".join(path or "the root" for path in claims)
        hint = 'Keep one `"entries": true`. An overlay can set the others to false.'
        problems.append(Problem(f"Expected only one list to be marked as entries, got {named}", root.file, hint=hint))
    if overlay is not None:
        problems += overlay.unused([row.path for row in rows])
    if problems:
        raise SchemaError(*dict.fromkeys(problems))
    signature = signature_of(
        sites, rows, digest, entries=entries, close=close, version=__version__, shared=compiler.corpus_scopes
    )
    reached = [Reach.of(site) for site in sites]
    certificate, shortcuts = certify(sites, reached), PlanFacts.of(sites, reached)
    return Plan(
        tuple(sites),
        entries,
        signature,
        close,
        root,
        rows,
        certificate,
        shortcuts,
        compiler.expected,
        corpus_scopes=compiler.corpus_scopes,
    )


# A matching or a distance for the whole schema, to measure the effect of these choices.


@dataclass(frozen=True, slots=True)
class Overrides:
    """A matching and a distance that replace those of the schema.

    Attributes:
        matcher: Matching for every list that is compared item by item.
        distance: Distance for every leaf whose own distance supports the same kinds of values. Leaves with `exact`
            (enums, constants, booleans, integers) keep it.

    Normalisers, floors, weights and all other options are unchanged.
    """

    matcher: Matcher | None = None
    distance: Distance | None = None

    def apply(self, sites: Sequence[Site]) -> list[Site]:
        """Return the sites with the overrides applied."""
        return [self._site(site, sites[site.list.items]) for site in sites]

    def _site(self, site: Site, items: Site) -> Site:
        """Return a site with the overrides; items with ids keep their matching, which is the correspondence."""
        if self.matcher is not None and items.identity is None and site.object.keys is None:
            site = replace(site, list=replace(site.list, matcher=self.matcher))
        if self.distance is None:
            return site
        scalars = {
            kind: tuple(replace(choice, leaf=self._leaf(choice.leaf)) for choice in choices)
            for kind, choices in site.scalars.items()
        }
        return replace(site, scalars=scalars, leaf=None if site.leaf is None else self._leaf(site.leaf))

    def _leaf(self, leaf: Leaf) -> Leaf:
        distance = self.distance
        if distance is None or leaf.distance.name == "exact" or not leaf.distance.kinds <= distance.kinds:
            return leaf
        return replace(leaf, distance=with_floor(distance, leaf.distance.options.get("floor")), metric_if=None)
