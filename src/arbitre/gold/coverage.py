"""Finds the parts of a schema that gold documents do not use or rarely use, so that their scores mean little."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import regex

from arbitre.errors import Problem, clipped
from arbitre.gold.checks import GoldFinding
from arbitre.paths import STAR, order, wildcard
from arbitre.schema.compiling.branches import Expander
from arbitre.schema.describe import KIND_NAMES, walk
from arbitre.values import PATTERN_SECONDS, Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from arbitre.paths import Path, Token
    from arbitre.schema.compiling.branches import Branch, Subschemas
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

FEW: Final = 15
"""Number of gold values of a path below which its scores are uncertain."""

MAX_POSITIONS: Final = 5_000
"""Maximum number of positions of a schema that are checked."""

Position = tuple["Path", "Subschemas"]


@dataclass(slots=True)
class CoverageCounter:
    """Counts how often gold documents use each part of a schema. Call `add` for each document, then `findings`."""

    plan: Plan
    documents: int = 0
    _values: Counter[Path] = field(default_factory=Counter)
    _listed: dict[Path, set[Hashable]] = field(default_factory=lambda: defaultdict(set))
    _used: dict[Position, set[tuple[int | None, Kind]]] = field(default_factory=lambda: defaultdict(set))
    """The kinds of the values of each position, for objects with the number of their branch."""
    _whole: frozenset[Path] = field(init=False)
    """The paths whose values are compared as a whole, regardless of kind."""
    _expander: Expander = field(default_factory=lambda: Expander(list[Problem]()))

    def __post_init__(self) -> None:
        sites = self.plan.sites
        self._whole = frozenset(step.path for step in walk(sites) if sites[step.site].atomic)

    @property
    def _root(self) -> Subschemas:
        return ((self.plan.root,),)

    def add(self, document: Json) -> None:
        """Count the values of a gold document."""
        self.documents += 1
        pending: list[tuple[Json, Path, Subschemas]] = [(document, (), self._root)]
        while pending:
            value, path, subschemas = pending.pop()
            kind = kind_of(value)
            if kind is Kind.NULL:
                continue
            whole = path in self._whole
            if kind.scalar or whole:
                self._values[path] += 1
                self._listed[path].add(canonical(value))
            branches = self._expander.branches(subschemas)
            number = self._branch(branches, value, kind)
            if number is None or whole:
                continue
            self._used[path, subschemas].add((number if kind is Kind.OBJECT else None, kind))
            pending += ((inner, (*path, token), below) for inner, token, below in _children(branches[number], value))

    def _branch(self, branches: list[Branch], value: Json, kind: Kind) -> int | None:
        """Return the number of the branch of a value: one that enumerates it, or the first with the most known keys."""
        taking = [number for number, branch in enumerate(branches) if branch.takes(kind)]
        if kind is not Kind.OBJECT:
            listing = (n for n in taking if (values := branches[n].values) is not None and canonical(value) in values)
            return next(listing, next((n for n in taking if branches[n].enum is None), None))
        return max(taking, key=lambda number: self._fit(branches[number], value), default=None)

    def _fit(self, branch: Branch, value: dict[str, Json]) -> tuple[int, int]:
        """Return whether the constants of a branch hold (1), contradict (-1) or are absent (0), and its known keys."""
        holds = 0
        for name in branch.properties.keys() & value.keys():
            below = self._expander.branches(branch.properties[name])
            listed = [inner.values for inner in below if inner.values is not None]
            if listed and len(listed) == len(below):
                if not any(canonical(value[name]) in values for values in listed):
                    return -1, 0
                holds = 1
        return holds, len(branch.properties.keys() & value.keys())

    def findings(self) -> Iterator[GoldFinding]:
        """Yield the unused paths, enum values and branches, then the paths with few values; in schema order."""
        counts = Counter[str]()
        for path, number in self._values.items():
            counts[wildcard(path)] += number
        declared = {wildcard(path) for path, _ in self._positions()}
        leaves = [row.path for row in self.plan.rows if row.distance and not row.notes and row.path in declared]
        unused = [
            GoldFinding("unused", leaf, "Not evaluated: no gold document has a value")
            for leaf in leaves
            if not counts[leaf]
        ]
        unused += self._unused_branches()
        yield from sorted(unused, key=lambda finding: order(finding.pointer or ""))
        for leaf in leaves:
            if 0 < counts[leaf] < FEW:
                yield GoldFinding("few", leaf, f"Fewer than {FEW} gold values ({counts[leaf]})")

    def _unused_branches(self) -> Iterator[GoldFinding]:
        """Yield the branches and the enum values that no gold value takes, of paths that have gold values."""
        compared = {row.path for row in self.plan.rows if row.notes != "ignored"}
        listed: dict[Path, dict[Hashable, Json]] = defaultdict(dict)
        for path, subschemas in self._positions():
            used = self._used.get((path, subschemas))
            if used is None or wildcard(path) not in compared:
                continue
            branches = self._expander.branches(subschemas)
            for branch in branches:
                listed[path] |= {canonical(value): value for value in branch.enum or () if value is not None}
            declared = ((number, branch, kind) for number, branch in enumerate(branches) for kind in _kinds(branch))
            names = dict.fromkeys(
                _name(branch, kind)
                for number, branch, kind in declared
                if (number if kind is Kind.OBJECT else None, kind) not in used
            )
            yield from (
                GoldFinding("unused", wildcard(path), f"Not evaluated: no gold value is {name}") for name in names
            )
        for path, values in listed.items():
            absent = [value for key, value in values.items() if key not in self._listed[path]]
            if absent:
                shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in absent)
                yield GoldFinding("unused", wildcard(path), f"Not evaluated: no gold value is {clipped(shown)}")

    def _positions(self) -> Iterator[Position]:
        """Yield the positions of the schema; recursive parts are visited once."""
        pending: list[tuple[Path, Subschemas, frozenset[Subschemas]]] = [((), self._root, frozenset())]
        seen: set[Position] = set()
        while pending and len(seen) < MAX_POSITIONS:
            path, subschemas, above = pending.pop(0)
            if (path, subschemas) in seen:
                continue
            seen.add((path, subschemas))
            yield path, subschemas
            if subschemas not in above:
                pending += (
                    ((*path, token), below, above | {subschemas})
                    for branch in self._expander.branches(subschemas)
                    for token, below in declared_children(branch)
                )


def declared_children(branch: Branch) -> Iterator[tuple[Token, Subschemas]]:
    """Yield the token and the subschemas of every child that a branch declares."""
    yield from branch.properties.items()
    yield from ((STAR, below) for below in (*branch.patterns.values(), branch.additional, branch.items) if below)
    yield from enumerate(branch.prefix)


def _children(branch: Branch, value: Json) -> Iterator[tuple[Json, Token, Subschemas]]:
    """Yield each child of a value that a branch declares, with its token and its subschemas."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in branch.properties:
                yield inner, key, branch.properties[key]
            elif below := _of_pattern(branch, key) or branch.additional:
                yield inner, STAR, below
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if place < len(branch.prefix):
                yield item, place, branch.prefix[place]
            elif branch.items:
                yield item, STAR, branch.items


def _of_pattern(branch: Branch, key: str) -> Subschemas:
    for pattern, below in branch.patterns.items():
        try:
            if regex.compile(pattern).search(key, timeout=PATTERN_SECONDS) is not None:
                return below
        except TimeoutError:
            continue
    return ()


def _kinds(branch: Branch) -> list[Kind]:
    """Return the kinds that a branch names, without null; none if it lists its values."""
    return [] if branch.enum is not None else sorted((branch.kinds or frozenset()) - {Kind.NULL})


def _name(branch: Branch, kind: Kind) -> str:
    if kind is Kind.OBJECT and branch.properties:
        return f"an object with {clipped(', '.join(branch.properties))}"
    return f"of type {KIND_NAMES[kind]}"
