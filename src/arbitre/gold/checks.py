"""Checks gold documents before they are used as a reference.

`CHECKS` are problems that make scores unreliable, `WARNINGS` possible mistakes. Most of them are found in one document;
`CoverageCounter` finds the parts of the schema that no document uses, so that their scores mean little.

To add a check of a document, write a function that yields its findings, and add it to `CHECKS` or `WARNINGS`. The
reference lists both.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.engine import pair_qualities, reference_problems
from arbitre.engine.columns.fields import aliased
from arbitre.errors import ArbitreError, DataError, Problem, clipped
from arbitre.inputs.document_sources import gold_records
from arbitre.inputs.records import Failure, Record
from arbitre.metricity.entry_pool import EntryColumn, sampled
from arbitre.paths import STAR, order, pointer, wildcard
from arbitre.schema.compiling.branches import Expander, declared_children
from arbitre.schema.describe import walk
from arbitre.schema.nodes import below, first_of_pattern, with_ancestors
from arbitre.schema.validate import find_violations
from arbitre.values import Kind, canonical, check, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from arbitre.inputs.document_sources import Gold
    from arbitre.paths import Path, Token
    from arbitre.schema.compiling.branches import Branch, Subschemas
    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Tokens = tuple[str | int, ...]
    Position = tuple[Path, Subschemas]
    """A path of the schema, and the subschemas that apply there."""

UNREADABLE: Final = "unreadable"
"""Name of the check that fails for a document that is not JSON; no other checks run in this case."""


class GoldCheckKind(NamedTuple):
    """A kind of problem or of possible mistake in gold.

    Attributes:
        reports: What it reports.
        find: Yields the findings in one document; None if the problem is detected while documents are read, or only
            across documents.
    """

    reports: str
    find: Callable[[Plan, Json], Iterable[GoldFinding]] | None = None


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """One problem in a gold document.

    Attributes:
        check: Name of the check that found it: a key of `CHECKS` or of `WARNINGS`.
        id: Id of the document; None if it could not be read.
        file: File of the document; None for documents that were passed as values.
        line: Line in that file, from 1, if each line contains a document.
        pointer: JSON Pointer of the value in the document, or a wildcard path of the schema for "unused" and "few";
            None if unknown.
        message: Description of the problem.
        hint: How to fix it, if known.
    """

    check: str
    pointer: str | None
    message: str
    hint: str | None = None
    id: str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.file is not None else self.id
        text = self.message if self.file is None or self.id is None else f"{self.message} in document {self.id!r}"
        return str(Problem(text, place, self.line, self.pointer, self.hint))

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {name: getattr(self, name) for name in ("check", "id", "file", "line", "pointer", "message", "hint")}


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """The result of checking gold documents.

    Attributes:
        documents: Number of gold documents, including those that could not be read.
        findings: The problems, document by document.
        warnings: Possible mistakes, document by document, then the parts of the schema that gold does not use or rarely
            uses.
    """

    documents: int
    findings: tuple[GoldFinding, ...] = ()
    warnings: tuple[GoldFinding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no findings; warnings are allowed."""
        return not self.findings

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {
            "documents": self.documents,
            "findings": [finding.to_dict() for finding in self.findings],
            "warnings": [warning.to_dict() for warning in self.warnings],
        }


def check_gold(plan: Plan, gold: Gold, *, id_key: str = "id") -> GoldCheck:
    """Check gold documents; see `arbitre.Comparator.check_gold`."""
    return check_gold_records(plan, gold_records(gold, id_key, plan))


def check_gold_records(
    plan: Plan, records: Iterable[Record | Failure], observe: Callable[[Json], None] | None = None
) -> GoldCheck:
    """Check gold documents that have been read; `observe` is called with each of them that is JSON."""
    count, findings, warnings, coverage = 0, list[GoldFinding](), list[GoldFinding](), CoverageCounter(plan)
    for record in records:
        count += 1
        if isinstance(record, Failure):
            own: tuple[GoldFinding, ...] = (GoldFinding(UNREADABLE, record.pointer, record.reason),)
        else:
            own = findings_of(plan, record.value)
        findings += _located(own, record)
        if isinstance(record, Record) and all(finding.check != UNREADABLE for finding in own):
            warnings += _located(warnings_of(plan, record.value), record)
            coverage.add(record.value)
            if observe is not None:
                observe(record.value)
    return GoldCheck(count, tuple(findings), (*warnings, *(coverage.findings() if coverage.documents else ())))


def _located(findings: Iterable[GoldFinding], record: Record | Failure) -> Iterator[GoldFinding]:
    for finding in findings:
        yield replace(finding, id=record.id, file=record.file or None, line=record.line)


# Errors.


def findings_of(plan: Plan, document: Json) -> tuple[GoldFinding, ...]:
    """Run every check on one gold document.

    Args:
        plan: The compiled schema.
        document: The gold document.

    Returns:
        The findings, grouped by check, in document order.

    Raises:
        SchemaError: Schema validation takes too many steps.
    """
    try:
        check(document, "gold document")
    except DataError as error:
        return (GoldFinding(UNREADABLE, error.pointer, error.message, error.hint),)
    return _found(CHECKS, plan, document)


def _found(kinds: Mapping[str, GoldCheckKind], plan: Plan, document: Json) -> tuple[GoldFinding, ...]:
    """Return what the checks of one document find, in their order."""
    return tuple(finding for kind in kinds.values() if kind.find for finding in kind.find(plan, document))


def _violating(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the values that violate the schema.

    A list of accepted forms is valid if the schema accepts the list, or each of its forms in its place.
    """
    violations = find_violations(plan.root, document, format_assertion=plan.format_assertion)
    lists = dict(_lists_of_forms(plan, document)) if violations else {}
    if lists:
        violations = tuple(
            dict.fromkeys(
                replace(violation, pointer=_of_form(violation.pointer, lists, position))
                for position in range(max(map(len, lists.values())))
                for violation in find_violations(
                    plan.root, _with_form(document, lists, position), format_assertion=plan.format_assertion
                )
            )
        )
    for violation in violations:
        yield GoldFinding("schema", violation.pointer, f"{violation.message} ({violation.keyword})")


def _lists_of_forms(plan: Plan, document: Json) -> Iterator[tuple[Tokens, list[Json]]]:
    """Yield the place and the forms of each value of which gold lists several."""
    for site, value, tokens in positions(plan, document, _reaching(plan.sites, lambda site: site.alternatives is True)):
        if site.alternatives is True and isinstance(value, list) and value:
            yield tokens, value


def _with_form(document: Json, lists: Mapping[Tokens, list[Json]], position: int) -> Json:
    """Return a copy in which each list of forms is replaced by one of them: the last if it has too few."""
    holder = [document]
    copied: set[Tokens] = set()
    for tokens, forms in lists.items():
        above: Any = holder
        key: int | str = 0
        for depth, token in enumerate(tokens):
            if tokens[:depth] not in copied:
                copied.add(tokens[:depth])
                above[key] = copy(above[key])
            above, key = above[key], token
        above[key] = forms[min(position, len(forms) - 1)]
    return holder[0]


def _of_form(place: str, lists: Mapping[Tokens, list[Json]], position: int) -> str:
    """Return the pointer of a violation in the document as it is."""
    for tokens, forms in lists.items():
        above = pointer(tokens)
        if place == above or place.startswith(f"{above}/"):
            return f"{above}/{min(position, len(forms) - 1)}{place.removeprefix(above)}"
    return place


def _without_field(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the sibling fields with accepted forms of a field that gold does not have."""
    reaching = _reaching(plan.sites, lambda site: bool(_siblings(plan.sites, site)))
    for site, value, tokens in positions(plan, document, reaching):
        for name, sibling in _siblings(plan.sites, site) if isinstance(value, dict) else ():
            if value.get(name) is None and value.get(sibling) not in (None, []):
                yield GoldFinding(
                    "alternatives",
                    pointer((*tokens, sibling)),
                    f"Gold has accepted forms for {pointer((*tokens, name))}, but not the field itself",
                    f"Put one of them into {pointer((*tokens, name))}. Without it, the field is absent.",
                )


def _siblings(sites: Sequence[Site], site: Site) -> list[tuple[str, str]]:
    """Return the fields of an object whose alternatives are in a sibling field, with the key of that field."""
    below = ((child.name, sites[child.site].alternatives) for child in site.object.fields)
    return [(name, sibling) for name, sibling in below if isinstance(sibling, str)]


def _aliased(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the values under an alias. Aliases are read in predictions only."""
    targets: dict[Tokens, Tokens] = {}
    for site, value, above in positions(plan, document, _reaching(plan.sites, lambda site: bool(site.object.aliases))):
        if isinstance(value, dict):
            for field, alias in aliased(value, site.object.aliases):
                targets.setdefault((*above, *alias), (*above, *field))
    for source, target in sorted(targets.items(), key=lambda item: order(pointer(item[0]))):
        yield GoldFinding(
            "alias",
            pointer(source),
            f"Gold has a value under an alias of {pointer(target)}",
            f"Move it to {pointer(target)}. Aliases are read in predictions only.",
        )


def positions(plan: Plan, document: Json, reaching: set[int] | None = None) -> Iterator[tuple[Site, Json, Tokens]]:
    """Yield the site, the value and the tokens of every position of a document, or of those at some sites."""
    pending: deque[tuple[int, Json, Tokens]] = deque([(0, document, ())])
    while pending:
        index, value, above = pending.popleft()
        if reaching is not None and index not in reaching:
            continue
        site = plan.sites[index]
        yield site, value, above
        if not site.atomic:
            pending.extend((child, inner, (*above, token)) for child, inner, token in _children(site, value))


def _reaching(sites: Sequence[Site], wanted: Callable[[Site], bool]) -> set[int]:
    """Return the sites that satisfy a condition, or contain such a site."""
    children = [[child.site for child in below(site)] for site in sites]
    return with_ancestors((index for index, site in enumerate(sites) if wanted(site)), children)


def _children(site: Site, value: Json) -> Iterator[tuple[int, Json, str | int]]:
    """Yield (site, value, token) for each child of an object or list, except ignored fields."""
    if isinstance(value, list):
        yield from ((site.list.child(position), item, position) for position, item in enumerate(value))
    elif isinstance(value, dict):
        yield from ((site.child(key), inner, key) for key, inner in value.items() if key not in site.object.ignored)


def _wrong_references(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the ids that two entries have, and the references to an id that no entry has."""
    for problem in reference_problems(plan, document):
        yield GoldFinding("references", problem.pointer, problem.message, problem.hint)


CHECKS: Final[Mapping[str, GoldCheckKind]] = {
    UNREADABLE: GoldCheckKind("documents that cannot be read as JSON; no other check runs on them"),
    "schema": GoldCheckKind("values that violate the schema", _violating),
    "alias": GoldCheckKind(
        "values under an alias, which only predictions may use; if gold with such a value is compared with itself, the "
        "quality is below 1",
        _aliased,
    ),
    "alternatives": GoldCheckKind(
        "accepted forms of a field that is missing in gold; see [alternatives](reference/keyword.md#alternatives)",
        _without_field,
    ),
    "references": GoldCheckKind(
        "ids that several items share, and references to ids that no item has; see [references](references.md)",
        _wrong_references,
    ),
}
"""The problems by name, in the order of the checks. They make scores unreliable."""


# Possible mistakes.


NEAR: Final = 0.95
"""Minimum quality of two entries that are nearly identical."""

MAX_ENTRIES: Final = 500
"""Maximum number of entries of a document that are compared with each other; more are sampled."""

FEW: Final = 15
"""Number of gold values of a path below which its scores are uncertain."""

_SORTED: Final = ("date", "time")
"""Distances of texts that have an order."""


def warnings_of(plan: Plan, document: Json) -> tuple[GoldFinding, ...]:
    """Run every check on one gold document.

    Args:
        plan: The compiled schema.
        document: The gold document.

    Returns:
        The findings, grouped by check, in document order.
    """
    return _found(WARNINGS, plan, document)


def _duplicates(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the entries that are identical or nearly identical to an earlier one."""
    if not plan.entries and isinstance(document, dict) and not plan.sites[0].normalizers:
        return  # the document is the only entry
    try:
        entries = EntryColumn.of(plan, [document], [])
        rows = sampled(entries.rows, MAX_ENTRIES)
        if len(rows) < 2:  # noqa: PLR2004  (a pair)
            return
        earlier, later = np.triu_indices(len(rows), 1)
        distances = 1.0 - pair_qualities(entries.column, rows[earlier], rows[later])
    except ArbitreError:  # values that cannot be compared
        return
    alike = np.flatnonzero(distances <= 1.0 - NEAR)
    # for each later entry, only its pair with the first entry that it duplicates
    for pair in alike[np.unique(later[alike], return_index=True)[1]].tolist():
        first = entries.column.pointer(int(rows[earlier[pair]]))
        degree = "Identical" if distances[pair] == 0.0 else "Nearly identical"
        yield GoldFinding(
            "duplicate",
            entries.column.pointer(int(rows[later[pair]])),
            f"{degree} to the entry at {first}",
            "Remove it if it is not in the source twice.",
        )


def _repeated(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the values that occur earlier in the same list, except for entries."""
    for _, value, tokens in positions(plan, document):
        if not isinstance(value, list) or _wildcard(tokens) == plan.entries:
            continue
        first: dict[Hashable, int] = {}
        for place, item in enumerate(value):
            earlier = first.setdefault(canonical(item), place)
            if earlier != place:
                yield GoldFinding(
                    "repeated",
                    pointer((*tokens, place)),
                    f"The same value as at {pointer((*tokens, earlier))}",
                    "Remove it if it is not in the source twice.",
                )


def _unsorted(plan: Plan, document: Json) -> Iterator[GoldFinding]:
    """Yield the lists of numbers, dates or times that are compared in order, but neither ascending nor descending."""
    for site, value, tokens in positions(plan, document):
        if not isinstance(value, list) or not site.list.matcher.in_order:
            continue
        if _numbers(value) or _dates(plan.sites[site.list.items], value):
            steps = list(pairwise(value))
            if any(before > after for before, after in steps) and any(before < after for before, after in steps):
                yield GoldFinding(
                    "unsorted",
                    pointer(tokens),
                    f"The list is compared in order ({site.list.matcher.name}), but it is not sorted",
                    "Sort it, or match it by hungarian if its order has no meaning.",
                )


def _numbers(items: list[Json]) -> bool:
    return all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items)


def _dates(site: Site, items: list[Json]) -> bool:
    leaves = (
        [branch.leaf for branches in site.scalars.values() for branch in branches] if site.leaf is None else [site.leaf]
    )
    ordered = any(leaf.distance.name in _SORTED for leaf in leaves)
    return ordered and all(isinstance(item, str) for item in items)


def _wildcard(tokens: tuple[str | int, ...]) -> tuple[object, ...]:
    return tuple(STAR if isinstance(token, int) else token for token in tokens)


WARNINGS: Final[Mapping[str, GoldCheckKind]] = {
    "duplicate": GoldCheckKind(
        f"entries that match an earlier entry of the document with a quality of {NEAR} or more; if there are more than "
        f"{MAX_ENTRIES} entries, only a sample of {MAX_ENTRIES} is compared",
        _duplicates,
    ),
    "repeated": GoldCheckKind("values that occur more than once in a list, except in the list of entries", _repeated),
    "unsorted": GoldCheckKind(
        "lists of numbers, dates or times that are matched by `ordered` or `sequence`, but are in neither ascending "
        "nor descending order",
        _unsorted,
    ),
    "unused": GoldCheckKind(
        "paths, types, branches and `enum` values of the schema that never occur in gold; the scores do not show how "
        "well they are predicted"
    ),
    "few": GoldCheckKind(f"paths with fewer than {FEW} gold values; their scores are uncertain"),
}
"""The warnings by name, in the order of the checks. They report possible mistakes, and parts of the schema for which
scores are unreliable or undefined."""


# Parts of the schema that gold does not use, or rarely uses.


MAX_POSITIONS: Final = 5_000
"""Maximum number of positions of a schema that are checked."""


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
    _values_of_branch: dict[int, frozenset[Hashable]] = field(default_factory=dict)
    """The enumerated values of branches, by the `id` of the branch."""

    def __post_init__(self) -> None:
        sites = self.plan.sites
        self._whole = frozenset(step.path for step in walk(sites) if sites[step.site].atomic)

    def add(self, document: Json) -> None:
        """Count the values of a gold document."""
        self.documents += 1
        pending: list[tuple[Json, Path, Subschemas]] = [(document, (), ((self.plan.root,),))]
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
            pending += (
                (inner, (*path, token), below) for inner, token, below in _branch_children(branches[number], value)
            )

    def _branch(self, branches: list[Branch], value: Json, kind: Kind) -> int | None:
        """Return the number of the branch of a value: one that enumerates it, or the first with the most known keys."""
        taking = [number for number, branch in enumerate(branches) if branch.takes(kind)]
        if kind is not Kind.OBJECT:
            listing = (
                n
                for n in taking
                if (values := self._enumerated(branches[n])) is not None and canonical(value) in values
            )
            return next(listing, next((n for n in taking if branches[n].enum is None), None))
        if len(taking) == 1:
            return taking[0]
        return max(taking, key=lambda number: self._fit(branches[number], value), default=None)

    def _enumerated(self, branch: Branch) -> frozenset[Hashable] | None:
        """Return the `values` of a branch, which are computed once.

        The expander keeps the branch alive, so its `id` is not reused.
        """
        if branch.enum is None:
            return None
        if id(branch) not in self._values_of_branch:
            self._values_of_branch[id(branch)] = branch.values or frozenset()
        return self._values_of_branch[id(branch)]

    def _fit(self, branch: Branch, value: dict[str, Json]) -> tuple[int, int]:
        """Return whether the constants of a branch hold (1), contradict (-1) or are absent (0), and its known keys."""
        holds = 0
        for name in branch.properties.keys() & value.keys():
            below = self._expander.branches(branch.properties[name])
            listed = [values for inner in below if (values := self._enumerated(inner)) is not None]
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
        declared = {wildcard(path) for path, _ in declared_positions(self.plan, self._expander)}
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
        for path, subschemas in declared_positions(self.plan, self._expander):
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


def declared_positions(plan: Plan, expander: Expander) -> Iterator[Position]:
    """Yield the positions that a schema declares; recursive parts are visited once."""
    pending: list[tuple[Path, Subschemas, frozenset[Subschemas]]] = [((), ((plan.root,),), frozenset())]
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
                for branch in expander.branches(subschemas)
                for token, below in declared_children(branch)
            )


def _branch_children(branch: Branch, value: Json) -> Iterator[tuple[Json, Token, Subschemas]]:
    """Yield each child of a value that a branch declares, with its token and its subschemas."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in branch.properties:
                yield inner, key, branch.properties[key]
            elif below := first_of_pattern(branch.patterns.items(), key) or branch.additional:
                yield inner, STAR, below
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if place < len(branch.prefix):
                yield item, place, branch.prefix[place]
            elif branch.items:
                yield item, STAR, branch.items


def _kinds(branch: Branch) -> list[Kind]:
    """Return the kinds that a branch names, without null; none if it lists its values."""
    return [] if branch.enum is not None else sorted((branch.kinds or frozenset()) - {Kind.NULL})


def _name(branch: Branch, kind: Kind) -> str:
    if kind is Kind.OBJECT and branch.properties:
        return f"an object with {clipped(', '.join(branch.properties))}"
    return f"of type {kind.json_type}"
