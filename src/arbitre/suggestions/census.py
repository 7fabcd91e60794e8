"""Counts what documents contain at each declared path: values, texts, keys; and what the schema declares there."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from arbitre.engine.columns.fields import apply_aliases
from arbitre.errors import Problem
from arbitre.gold.checks import declared_positions
from arbitre.normalizers import normalize
from arbitre.paths import DEPTH, STAR, parse, pointer, wildcard
from arbitre.schema.compiling.branches import Expander
from arbitre.schema.describe import walk
from arbitre.suggestions.reference_census import ReferenceCensus
from arbitre.values import Kind, canonical, is_placeholder, kind_of, single_values

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from arbitre.paths import Path
    from arbitre.schema.nodes import Site
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


MAX_TEXTS: Final = 2_000
"""Maximum number of different texts of a path that are counted."""

MAX_KEYS: Final = 10_000
"""Maximum number of different keys of a path that are counted."""


@dataclass(slots=True)
class PathCounts:
    """What the documents of one side have at a path.

    Attributes:
        values: Number of values, without those that count as absent.
        nulls: Number of values that are null.
        scalars: Number of values that are compared as one leaf.
        items: Number of items of its lists.
        objects: Number of objects.
        distinct: Up to two different ones of these.
        texts: The texts with their number, without those that count as absent.
        empty: Empty lists and objects, and lists of nothing but placeholders, as JSON with their number.
        keys: The keys of its objects with their number, without ignored ones.
        together: The number of objects that have several spellings of a key, by the folded key.
        members: The keys of each object below, or the kind of each other value, by key.
    """

    values: int = 0
    nulls: int = 0
    scalars: int = 0
    items: int = 0
    objects: int = 0
    distinct: dict[Hashable, Json] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    together: Counter[str] = field(default_factory=Counter)
    members: dict[str, frozenset[str] | Kind] = field(default_factory=dict)

    def add(self, site: Site, value: Json) -> None:
        """Count a value."""
        if value is None:
            self.nulls += 1
        if value is None or _is_absent(site, value):
            return
        self.values += 1
        if site.atomic or not isinstance(value, (list, dict)):
            self.scalars += 1
            if len(self.distinct) <= 1:
                self.distinct.setdefault(canonical(value), value)
        if isinstance(value, str):
            if value in self.texts or len(self.texts) < MAX_TEXTS:
                self.texts[value] += 1
        elif is_empty(value):
            self.empty[json.dumps(value, ensure_ascii=False)] += 1


_FEW: Final = 3
"""Maximum length of a list of placeholders."""


def is_blank(value: Json) -> bool:
    """Return whether a single value is null, or a text that stands for no value."""
    return value is None or (isinstance(value, str) and is_placeholder(value))


def is_empty(value: Json) -> bool:
    """Return whether a value is an empty list or object, or a short list of placeholders."""
    return value == {} or (isinstance(value, list) and len(value) <= _FEW and all(map(is_blank, value)))


def _is_absent(site: Site, value: Json) -> bool:
    """Return whether a value counts as absent; a list, without its items that do."""
    if isinstance(value, list):
        return site.absent.array and all(map(site.absent.covers, value))
    if isinstance(value, str) and site.absent.normal_texts:
        normalizers = (*site.normalizers, *site.scalars[Kind.STRING][0].leaf.normalizers)
        value = normalize(normalizers if site.leaf is None else site.leaf.normalizers, value)
    return site.absent.covers(value)


class Census:
    """Counts of the values of the documents of one side, by declared path. Recursive parts are counted once.

    Attributes:
        plan: The compiled schema.
        documents: Number of documents.
        undeclared: Number of single values under keys that the schema does not declare.
        sites: The declared paths with their sites, the shallowest first. Paths of several sites, such as the values of
            several patterns of keys, are left out.
        references: Which fields are ids, and what refers to them; empty for predictions.
    """

    def __init__(self, plan: Plan, *, predicted: bool = False) -> None:
        self.plan = plan
        steps = list(walk(plan.sites))
        places = Counter(step.path for step in steps)
        self.sites = {
            step.path: plan.sites[step.site]
            for step in steps
            if step.repeats is None and places[step.path] == 1 and len(step.path) <= DEPTH
        }
        self.documents = 0
        self.undeclared = 0
        self.references = ReferenceCensus()
        self._predicted = predicted
        self._counts: defaultdict[Path, PathCounts] = defaultdict(PathCounts)

    def add(self, document: Json) -> None:
        """Count the values of a document."""
        self.documents += 1
        if not self._predicted:
            self.references.add(document)
        pending: deque[tuple[int, Path, Json]] = deque([(0, (), document)])
        while pending:  # in document order, so that the examples are the first values
            index, path, value = pending.popleft()
            if path in self.sites:
                site, counts = self.plan.sites[index], self._counts[path]
                counts.add(site, value)
                if not site.atomic and not (isinstance(value, list) and is_empty(value)):
                    pending += self._inside(site, counts, path, value)

    def at(self, path: Path) -> PathCounts:
        """Return the counts of a path."""
        return self._counts[path]

    def below(self, path: Path) -> int:
        """Return the number of single values at this path and inside of it."""
        return sum(counts.scalars for place, counts in self._counts.items() if place[: len(path)] == path)

    def missing(self, path: Path) -> int:
        """Return the number of objects in which a field is missing or null; of other positions, that of nulls."""
        above, name = self._counts[path[:-1]], path[-1] if path else STAR
        return self._counts[path].nulls + (above.objects - above.keys[name] if isinstance(name, str) else 0)

    def _inside(self, site: Site, counts: PathCounts, path: Path, value: Json) -> Iterator[tuple[int, Path, Json]]:
        """Yield the declared values in a value, and count its items or keys."""
        if isinstance(value, list):
            counts.items += len(value)
            for at, item in enumerate(value):
                yield site.list.child(at), (*path, at if at < len(site.list.prefix) else STAR), item
        elif isinstance(value, dict):
            node, folded = site.object, Counter[str]()
            counts.objects += 1
            for key, inner in (apply_aliases(value, node.aliases) if self._predicted else value).items():
                if key in node.ignored:
                    continue
                if key in counts.keys or len(counts.keys) < MAX_KEYS:
                    counts.keys[key] += 1
                    counts.members[key] = frozenset(inner) if isinstance(inner, dict) else kind_of(inner)
                    folded[fold(key)] += 1
                if key in node.field_sites:
                    yield node.field_sites[key], (*path, key), inner
                elif (child := node.declared(key)) is not None:
                    yield child, (*path, STAR), inner
                else:
                    self.undeclared += sum(value is not None for value in single_values(inner))
            counts.together.update(key for key, number in folded.items() if number > 1)


@lru_cache(maxsize=MAX_KEYS)
def fold(key: str) -> str:
    """Return a key without case, accents and separators.

    >>> fold("Container-Title"), fold("containerTitle"), fold("_")
    ('containertitle', 'containertitle', '_')
    """
    plain = unicodedata.normalize("NFKD", key.casefold())
    return "".join(sign for sign in plain if sign.isalnum()) or key


# What the schema declares.


@dataclass(slots=True)
class Declaration:
    """What a schema and an overlay declare at a path: settings, and the values that the schema lists."""

    settings: dict[str, Any] = field(default_factory=dict)
    listed: set[Hashable] = field(default_factory=set)


def declarations(plan: Plan, overlay: Mapping[str, Any]) -> defaultdict[str, Declaration]:
    """Return what the schema and the overlay declare, by wildcard path."""
    found: defaultdict[str, Declaration] = defaultdict(Declaration)
    expander = Expander(list[Problem]())
    for path, subschemas in declared_positions(plan, expander):
        here = found[wildcard(path)]
        for branch in expander.branches(subschemas):
            here.settings |= {key: setting.value for key, setting in branch.settings.items()}
            here.listed |= branch.values or frozenset()
    for place, settings in overlay.items():
        found[pointer(parse(place))].settings |= settings
    return found
