"""Summaries of a plan: the resolved options of each path, the path of the entries, and the signature."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.matching import Candidates
from arbitre.normalizers import NFC
from arbitre.paths import STAR, Path, escape, parse, wildcard
from arbitre.schema.nodes import Identity, leaves_of
from arbitre.signature import Signature, text_of
from arbitre.tables.table import Table, TableColumn
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arbitre.authority import Authority
    from arbitre.paths import Token
    from arbitre.schema.nodes import Site
    from arbitre.tables.table import CellValue, Emphasis

CLOSE: Final = 0.8
"""Minimum quality of a value that counts as close."""

MAX_ROWS: Final = 5_000
"""Number of rows above which repeated positions are referred to instead of expanded again."""


class SchemaStep(NamedTuple):
    """A declared path: its site, its weight, and the path of the same site that it repeats, if any.

    `equal` states whether it lies inside a list that compares only equal items.
    """

    path: Path
    site: int
    weight: float = 1.0
    repeats: Path | None = None
    equal: bool = False


def walk(sites: Sequence[Site]) -> Iterator[SchemaStep]:
    """Yield every declared path, shortest first; recursive parts are visited once."""
    pending: deque[tuple[SchemaStep, tuple[tuple[int, Path], ...]]] = deque([(SchemaStep((), 0), ())])
    first: dict[int, Path] = {}
    count = 0
    while pending:
        step, above = pending.popleft()
        count += 1
        path, index = step.path, step.site
        repeated = next((place for number, place in above if number == index), None)
        if repeated is None and count > MAX_ROWS:
            repeated = first.get(index)
        first.setdefault(index, path)
        yield step._replace(repeats=repeated)
        site, trail = sites[index], (*above, (index, path))
        if repeated is None and not site.atomic:
            equal = step.equal
            pending.extend((below._replace(equal=equal or below.equal), trail) for below in _below(site, path))


def steps_to(sites: Sequence[Site], path: Path) -> list[SchemaStep]:
    """Return the steps along a path, from the root to the last part that the schema declares."""
    steps = [SchemaStep((), 0)]
    for token in path:
        site, above = sites[steps[-1].site], steps[-1].path
        found = None if site.atomic else _step_to(site, above, token)
        if found is None:
            break
        steps.append(found)
    return steps


def schema_path(sites: Sequence[Site], text: str) -> Path:
    """Return the tokens of a wildcard path, with numbers for the positions of `prefixItems`."""
    tokens = parse(text)
    steps = steps_to(sites, tokens)
    return (*steps[-1].path, *tokens[len(steps) - 1 :])


def _step_to(site: Site, path: Path, token: Token) -> SchemaStep | None:
    """Return the step from a site to the part below it with this token; None if the schema declares none."""
    key = None if token is STAR else str(token)
    member = next((one for one in site.object.fields if one.name == key), None)  # an object can have many fields
    if member is not None:
        return SchemaStep((*path, member.name), member.site, member.weight)
    return next((step for step in _below_fields(site, path) if escape(step.path[-1]) == escape(token)), None)


def _below(site: Site, path: Path) -> Iterator[SchemaStep]:
    """Yield the steps from a site to those below it: fields, maps, positions and items."""
    for member in site.object.fields:
        yield SchemaStep((*path, member.name), member.site, member.weight)
    yield from _below_fields(site, path)


def _below_fields(site: Site, path: Path) -> Iterator[SchemaStep]:
    """Yield the steps from a site to the parts below it that are not fields: maps, positions and items."""
    for _, child in site.object.patterns:
        yield SchemaStep((*path, STAR), child)
    if site.object.declared_map:
        yield SchemaStep((*path, STAR), site.object.additional)
    if Kind.ARRAY in site.declared:
        for position, child in enumerate(site.list.prefix):
            yield SchemaStep((*path, position), child)
        yield SchemaStep((*path, STAR), site.list.items, equal=site.list.matcher.candidates is Candidates.SAME_VALUE)


def rows_of(sites: Sequence[Site]) -> tuple[ResolvedPath, ...]:
    """Return one row for every path, shortest first, including ignored fields."""
    rows = []
    for step in walk(sites):
        rows.append(_row(sites[step.site], step))
        if step.repeats is None:
            identity = sites[step.site].identity
            rows += [
                ResolvedPath(
                    wildcard((*step.path, name)),
                    kind="",
                    weight=1.0,
                    distance=f"id of {identity.scope}" if identity is not None and name in identity.key else "",
                    match="",
                    notes="" if identity is not None and name in identity.key else "ignored",
                )
                for name in sorted(sites[step.site].object.ignored)
            ]
    return tuple(rows)


def _row(site: Site, step: SchemaStep) -> ResolvedPath:
    """Return the options of a site as texts, for a table."""
    scalar = [kind for kind in site.declared if kind.scalar and kind is not Kind.NULL]
    distance, normalize = "", ""
    if site.leaf is not None:
        distance, normalize = _choice(site.leaf.distance), _choices(site.leaf.normalizers)
    elif scalar or not site.declared:
        leaves = [choice.leaf for kind in sorted(scalar) for choice in site.scalars[kind]]
        used = leaves_of(site, scalar)  # normalisers may change the kind of a value
        distance = ", ".join(dict.fromkeys(_choice(leaf.distance) for leaf in used)) or "by kind"
        own = dict.fromkeys(filter(None, (_choices(leaf.normalizers) for leaf in leaves)))
        normalize = ", ".join(filter(None, (_choices(site.normalizers), *own)))
    if site.reference is not None:
        distance = f"reference to {site.reference.scope}" + " (graded)" * site.reference.graded
    elif site.object.keys is not None:
        distance = (
            f"keys: {'ids of' if isinstance(site.object.keys, Identity) else 'references to'} {site.object.keys.scope}"
        )
    listed = not site.atomic and Kind.ARRAY in site.declared
    return ResolvedPath(
        path=wildcard(step.path),
        kind=" or ".join(kind.json_type for kind in sorted(site.declared)) or "any",
        weight=step.weight,
        distance=distance,
        match=_choice(site.list.matcher) if listed else "",
        normalize=normalize,
        notes=_notes(site, step),
        alternatives=_alternatives(site),
    )


def _notes(site: Site, step: SchemaStep) -> str:
    if step.repeats is not None:
        return f"same as {wildcard(step.repeats) or 'the root'}"
    return "undeclared keys ignored" if site.object.closed and not site.atomic else ""


def _alternatives(site: Site) -> str:
    if site.alternatives is None:
        return ""
    return "a list in gold" if site.alternatives is True else wildcard((str(site.alternatives),))


class UsedAuthority(NamedTuple):
    """The authority file or inline names used to normalise the values at a path."""

    path: str
    authority: Authority

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON with the path, the file or None, the counts and the ambiguous variants."""
        authority = self.authority
        ambiguous = {text: list(names) for text, names in authority.ambiguous.items()}
        counts = {"file": authority.file, "names": authority.names, "variants": authority.variants}
        return {"path": self.path} | counts | {"ambiguous": ambiguous}


def authorities_of(sites: Sequence[Site]) -> tuple[UsedAuthority, ...]:
    """Return the names with variants of a plan, by path, shortest first."""
    uses: dict[tuple[str, int], UsedAuthority] = {}
    for step in walk(sites):
        site, path = sites[step.site], wildcard(step.path)
        leaves = [choice.leaf for choices in site.scalars.values() for choice in choices]
        leaves = leaves if site.leaf is None else [site.leaf]
        for normalizer in chain(site.normalizers, *(leaf.normalizers for leaf in leaves)):
            if normalizer.authority is not None:
                key = path, id(normalizer.authority)
                uses.setdefault(key, UsedAuthority(path, normalizer.authority))
    return tuple(uses.values())


def _choice(component: Any) -> str:  # noqa: ANN401  (a distance, a matcher or a normaliser)
    options = ", ".join(f"{name}={text_of(value)}" for name, value in component.options.items() if value is not None)
    return f"{component.name}({options})" if options else str(component.name)


def _choices(components: Sequence[Any]) -> str:
    return ", ".join(_choice(component) for component in components if not getattr(component, "implied", False))


def entries_of(sites: Sequence[Site], marked: Mapping[int, bool]) -> tuple[Path, list[str]]:
    """Return the path of the entries, () for the root, and all marked paths if there is more than one.

    The entries are the marked list, or the root if the root is marked. Without a mark, they are the shallowest list of
    objects if there is exactly one at that depth and no values outside it are compared; otherwise the root. A list
    marked `"entries": false` is never chosen.
    """
    steps = tuple(walk(sites))
    first = [(step.path, step.site) for step in steps if step.repeats is None]
    chosen = [path for path, index in first if marked.get(index) and (not path or _is_list(sites[index]))]
    if chosen:
        return chosen[0], [wildcard(path) for path in chosen] if len(chosen) > 1 else []
    of_objects = [
        path
        for path, index in first
        if marked.get(index) is None
        and STAR not in path
        and _is_list(sites[index])
        and Kind.OBJECT in sites[sites[index].list.items].declared
        and not sites[sites[index].list.items].atomic
    ]
    least = min(map(len, of_objects), default=0)
    shallowest = [path for path in of_objects if len(path) == least]
    if len(shallowest) != 1 or any(_outside(step, shallowest[0], sites[step.site]) for step in steps):
        return (), []
    return shallowest[0], []


def _outside(step: SchemaStep, entries: Path, site: Site) -> bool:
    """Return whether the schema declares values at this path that are compared outside the entries.

    Objects on the way to the entries do not count as values.
    """
    path = step.path
    if path[: len(entries)] == entries:
        return False
    if entries[: len(path)] == path:
        return any(kind.scalar and kind is not Kind.NULL for kind in site.declared)
    return path[-1] is not STAR or bool(site.declared) or site.atomic


def _is_list(site: Site) -> bool:
    return Kind.ARRAY in site.declared and not site.atomic


def forces_pairs(sites: Sequence[Site], entries: Path) -> bool:
    """Return whether every entry of the shorter list gets a partner, however bad, so that counts say little."""
    site = next(sites[step.site] for step in walk(sites) if step.path == entries)
    if not _is_list(site):
        return False
    matcher = site.list.matcher
    free = matcher.custom or matcher.name == "sequence" or bool(matcher.options.get("gate"))
    free |= matcher.transport is not None and not matcher.transport.balanced
    return matcher.candidates in (Candidates.ALL, Candidates.DIAGONAL) and not free


def settings(rows: Sequence[ResolvedPath], entries: str, *, wide: bool = True) -> Table:
    """Return how each path is compared, in schema order; marks the list of entries.

    Args:
        rows: The resolved options.
        entries: Wildcard path of the entries.
        wide: Whether kinds have a column of their own.
    """
    heads = (
        TableColumn("path", kind="tree"),
        *[TableColumn("kind")] * wide,
        TableColumn("weight", "{:g}".format),
        TableColumn("compared by", least=30),
    )
    first = {row.path: number for number, row in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: [first.get(above, -1) for above in _prefixes(row.path)])
    cells: list[tuple[CellValue, ...]] = []
    emphasis: dict[int | tuple[int, int], Emphasis] = {}
    for at, row in enumerate(ordered):
        compared = [row.distance, row.match and f"{row.match} matching", row.notes and f"compared {row.notes}"]
        compared += [row.alternatives and f"alternatives: {row.alternatives}"]
        text = ", ".join(filter(None, compared)) + (f" after {row.normalize}" if row.normalize else "")
        text = text if wide else ": ".join(filter(None, (row.kind, text)))
        cells.append((row.path, *[row.kind] * wide, row.weight, text + " entries" * (row.path == entries)))
        emphasis[at, 1 + wide] = "weak" if row.weight == 1.0 else "strong"
        emphasis[at, 2 + wide] = "strong" if row.path == entries else ""
    return Table.of("", heads, cells, emphasis=emphasis)


def _prefixes(path: str) -> Iterator[str]:
    """Yield the paths from the root to this path."""
    parts = path.split("/")
    return ("/".join(parts[:stop]) for stop in range(1, len(parts) + 1))


def signature_of(
    sites: Sequence[Site],
    rows: Sequence[ResolvedPath],
    digest: str,
    *,
    entries: Path,
    close: float,
    version: str,
    shared: frozenset[str] = frozenset(),
) -> Signature:
    """Return the signature of a plan: the options of every path, and a digest of everything that can change a score.

    `shared` are the scopes whose ids all documents of a corpus share.
    """
    options = {row.path or "/": text for row in rows if (text := _entry(row))}
    options |= {"entries": wildcard(entries) or "/", "plan": digest}
    if any(normalizer.implied for site in sites for normalizer in site.normalizers):
        options["unicode"] = NFC.name
    if shared:
        options["shared ids"] = ", ".join(sorted(shared))
    if close != CLOSE:
        options["close"] = repr(close)
    return Signature.of(options, version)


def _entry(row: ResolvedPath) -> str:
    parts = [row.distance, f"normalize {row.normalize}" if row.normalize else ""]
    parts += [f"alternatives {row.alternatives}" if row.alternatives else ""]
    parts += [row.match if row.match != "hungarian" else "", f"weight {row.weight:g}" if row.weight != 1.0 else ""]
    return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """One row of `Comparator.explain`: the resolved settings for a path in the schema.

    Attributes:
        path: Wildcard path.
        kind: Declared types, joined by "or"; "any" if none is declared.
        weight: Weight of the field in its object.
        distance: Distance of the values with its options; "" if they are not leaves.
        match: Matching of the items with its options; "" if the path is not a list.
        normalize: Normalisers, in the order in which they are applied.
        notes: What else applies: "ignored", or the path that the settings are the same as.
        alternatives: Where gold lists accepted forms of the value; "" if it does not.
    """

    path: str
    kind: str
    weight: float
    distance: str
    match: str
    normalize: str = ""
    notes: str = ""
    alternatives: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        return {name: getattr(self, name) for name in self.__slots__}
