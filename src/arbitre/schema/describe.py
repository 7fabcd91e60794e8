"""What a plan comes to: the resolved choices path by path, the path of the entries, the signature."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from arbitre.paths import STAR, Path, wildcard
from arbitre.schema.nodes import Choice, Leaf, List, Object, Resolved, Site
from arbitre.signature import Signature, text_of
from arbitre.values import Absence, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KIND_NAMES: Final = {
    Kind.NULL: "null",
    Kind.BOOLEAN: "boolean",
    Kind.NUMBER: "number",
    Kind.STRING: "string",
    Kind.ARRAY: "array",
    Kind.OBJECT: "object",
}


def walk(sites: Sequence[Site]) -> Iterator[tuple[Path, int, float, str]]:
    """Every declared path with its site, its weight, and a note; a recursive schema is walked once around."""
    pending: deque[tuple[Path, int, float, tuple[tuple[int, Path], ...]]] = deque([((), 0, 1.0, ())])
    while pending:
        path, index, weight, above = pending.popleft()
        loop = next((back for site, back in above if site == index), None)
        if loop is not None:
            yield path, index, weight, f"as {wildcard(loop) or 'the root'}"
            continue
        yield path, index, weight, ""
        site, trail = sites[index], (*above, (index, path))
        if site.leaf is not None:
            continue
        pending.extend(((*path, child.name), child.site, child.weight, trail) for child in site.object.fields)
        pending.extend(((*path, STAR), child, 1.0, trail) for _, child in site.object.patterns)
        if site.object.declared_map:
            pending.append(((*path, STAR), site.object.additional, 1.0, trail))
        if Kind.ARRAY in site.declared:
            pending.extend(((*path, n), child, 1.0, trail) for n, child in enumerate(site.list.prefix))
            pending.append(((*path, STAR), site.list.items, 1.0, trail))


def rows_of(sites: Sequence[Site]) -> tuple[Resolved, ...]:
    """One row for every path, in document order."""
    return tuple(_row(sites[index], path, weight, note) for path, index, weight, note in walk(sites))


def _row(site: Site, path: Path, weight: float, note: str) -> Resolved:
    scalar = [kind for kind in site.declared if kind.scalar and kind is not Kind.NULL]
    distance, normalize = "", ""
    if site.leaf is not None:
        distance, normalize = _choice(site.leaf.distance), _choices(site.leaf.normalizers)
    elif scalar or not site.declared:
        leaves = [choice.leaf for kind in sorted(scalar) for choice in site.scalars[kind]]
        distance = ", ".join(dict.fromkeys(_choice(leaf.distance) for leaf in leaves)) or "by kind"
        normalize = ", ".join(dict.fromkeys(filter(None, (_choices(leaf.normalizers) for leaf in leaves))))
        normalize = ", ".join(filter(None, (_choices(site.normalizers), normalize)))
    listed = site.leaf is None and Kind.ARRAY in site.declared
    return Resolved(
        path=wildcard(path),
        kind=" or ".join(KIND_NAMES[kind] for kind in sorted(site.declared)) or "any",
        weight=weight,
        distance=distance,
        match=_choice(site.list.matcher) if listed else "",
        normalize=normalize,
        notes=note,
    )


def _choice(made: Any) -> str:  # noqa: ANN401  (a distance, a matcher or a normaliser)
    options = ", ".join(f"{name}={text_of(value)}" for name, value in made.options.items() if value is not None)
    return f"{made.name}({options})" if options else str(made.name)


def _choices(made: Sequence[Any]) -> str:
    return ", ".join(map(_choice, made))


def entries_of(sites: Sequence[Site], marked: Mapping[int, bool]) -> tuple[Path, list[str]]:
    """The path of the list of entries, or () for the root, and the paths that claim to be it where several do.

    The list that is marked; else the only shallowest list of objects that is not marked `"entries": false`.
    """
    lists = [(path, index) for path, index, _, note in walk(sites) if not note and _is_list(sites[index])]
    chosen = [path for path, index in lists if marked.get(index)]
    if chosen:
        return chosen[0], [wildcard(path) for path in chosen] if len(chosen) > 1 else []
    of_objects = [
        path
        for path, index in lists
        if marked.get(index) is None
        and STAR not in path
        and Kind.OBJECT in sites[sites[index].list.items].declared
        and sites[sites[index].list.items].leaf is None
    ]
    shallowest = [path for path in of_objects if len(path) == min(map(len, of_objects))]
    return (shallowest[0] if len(shallowest) == 1 else ()), []


def _is_list(site: Site) -> bool:
    return Kind.ARRAY in site.declared and site.leaf is None


def signature_of(
    sites: Sequence[Site], rows: Sequence[Resolved], entries: Path, close: float, version: str
) -> Signature:
    """The signature of a plan: what was chosen on every path, and a digest of all that can move a number."""
    found = {row.path or "/": text for row in rows if (text := _entry(row))}
    digest = hashlib.sha256(json.dumps([_plain(site) for site in sites], sort_keys=True).encode()).hexdigest()
    found |= {"entries": wildcard(entries) or "/", "plan": digest[:16]}
    if close != CLOSE:
        found["close"] = repr(close)
    return Signature.of(found, version)


CLOSE: Final = 0.8
"""From this quality on, a value that is not equal is close."""


def _entry(row: Resolved) -> str:
    parts = [row.distance, f"normalize {row.normalize}" if row.normalize else ""]
    parts += [row.match if row.match != "hungarian" else "", f"weight {row.weight:g}" if row.weight != 1.0 else ""]
    return "; ".join(filter(None, parts))


def _plain(site: Site) -> dict[str, Any]:
    """A site as plain JSON that is equal exactly where the sites compare alike."""
    return {
        "absent": _absence(site.absent),
        "leaf": None if site.leaf is None else _leaf(site.leaf),
        "normalize": [_named(one) for one in site.normalizers],
        "scalars": {kind.name: [_scalar(choice) for choice in choices] for kind, choices in site.scalars.items()},
        "object": _object(site.object),
        "list": _list(site.list),
    }


def _absence(absent: Absence) -> list[bool]:
    return [absent.null, absent.text, absent.array, absent.object]


def _named(made: Any) -> list[Any]:  # noqa: ANN401  (a distance, a matcher or a normaliser)
    return [made.name, dict(made.options)]


def _leaf(leaf: Leaf) -> list[Any]:
    return [_named(leaf.distance), [_named(one) for one in leaf.normalizers]]


def _scalar(choice: Choice) -> list[Any]:
    return [_leaf(choice.leaf), _keys(choice.values), sorted(choice.tags) if choice.tags is not None else None]


def _keys(values: frozenset[Any] | None) -> list[str] | None:
    return None if values is None else sorted(map(repr, values))


def _object(node: Object) -> dict[str, Any]:
    return {
        "fields": [[child.name, child.site, child.weight, child.tagged] for child in node.fields],
        "variants": [
            [sorted(one.names), [[name, _keys(keys)] for name, keys in one.tests], sorted(one.tags or ())]
            for one in node.variants
        ],
        "patterns": [list(pattern) for pattern in node.patterns],
        "additional": [node.additional, node.declared_map],
        "ignored": sorted(node.ignored),
        "aliases": [[list(alias.target), [list(source) for source in alias.sources]] for alias in node.aliases],
    }


def _list(node: List) -> list[Any]:
    return [node.items, list(node.prefix), _named(node.matcher), node.tagged]
