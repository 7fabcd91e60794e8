"""Example values of a schema, and valid documents that hold a given value at a given path (best effort)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.paths import STAR
from arbitre.schema.compiling.branches import Expander
from arbitre.schema.validate import TooManyStepsError, checker
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.paths import Path
    from arbitre.schema.compiling.branches import Branch, Subschemas
    from arbitre.schema.loading.load_schema import Subschema
    from arbitre.values import Json

    Wrap = Callable[[Json], Json]

SCALARS: Final[dict[Kind, tuple[Json, ...]]] = {
    Kind.STRING: (
        *("ab", "aba", "ba", "a", "b", "aaba", "a" * 12, "", "abc", "bc", "bab", "abab", "baaa", "tide", "diet"),
        *("a b", "b a", "a b c", "b c", "a b c d", "b c d", "a a b", "a b b a", "b b a"),
        *("1", "2", "12", "21", "121", "1.5", "x 1", "x 2", "2024-01-31", "2024-02-01", "2024-01-31T00:00:00Z"),
        *("a" * 12 + "b" * more for more in (1, 3, 6)),
        *("a" * 40, "http://a.example", "a@b.example", "12:00:00"),
    ),
    Kind.NUMBER: (
        *(0, 1, 2, 3, 12, 21, 121, 0.5, 0.25, 0.75, 0.1, 0.2, 0.3, 1.5, 10, 15, -1),
        *(100, 101, 102, 104, 108, 120, 150, 200, 1000, 2024),
    ),
    Kind.BOOLEAN: (False, True),
    Kind.NULL: (None,),
}
"""Values to try if a schema has no enum; values that violate the most distances come first."""

DEPTH: Final = 5
"""Maximum nesting depth of lists and objects in examples."""

WIDTH: Final = 48
"""Maximum number of examples per position."""

FRAMES: Final = 12
"""Maximum number of ways to put a value into a document."""


class Frame(NamedTuple):
    """A document template: `wrap` inserts a value, and `inside` are the subschemas that apply to the value."""

    wrap: Wrap
    inside: Subschemas


@dataclass(slots=True)
class Examples:
    """Creates example values and documents for one schema; tries the `preferred` values first."""

    root: Subschema
    preferred: Sequence[Json] = ()
    _expander: Expander = field(default_factory=lambda: Expander([]))
    _known: dict[tuple[Subschemas, int], list[Json]] = field(default_factory=dict)
    _checkers: dict[Subschema, Any] = field(default_factory=dict)

    def valid(self, document: Json) -> bool:
        """Return whether a document is valid against the whole schema."""
        return self._valid(((self.root,),), document)

    def frames(self, path: Path) -> list[Frame]:
        """Return templates of documents with a value at a wildcard path, smallest first."""
        return list(islice(self._frames(((self.root,),), path, 0), FRAMES))

    def values(self, subschemas: Subschemas, depth: int = 0) -> list[Json]:
        """Return at most `WIDTH` distinct values that are valid at a position of the schema.

        Args:
            subschemas: The subschemas of the position: groups of alternatives, of which a value satisfies one each.
            depth: Number of lists and objects around the position; deeper than `DEPTH`, only single values are tried.
        """
        key = (subschemas, depth)
        if key not in self._known:
            self._known[key] = []  # stops the recursion of recursive schemas
            distinct: dict[object, Json] = {}
            for branch in self._expander.branches(subschemas):
                candidates = (value for value in self._of_branch(branch, depth) if self._valid(subschemas, value))
                for value in islice(candidates, WIDTH):
                    distinct.setdefault(canonical(value), value)
            self._known[key] = list(distinct.values())[:WIDTH]
        return self._known[key]

    def lists(self, inside: Subschemas, items: Iterable[Json], size: int) -> Iterator[Json]:
        """Yield every list of `size` of these items, after the schema's `prefixItems`."""
        for branch in self._expander.branches(inside):
            if branch.takes(Kind.ARRAY):
                head = self._head(branch, len(branch.prefix), 0)
                yield from ([*head, *chosen_items] for chosen_items in product(items, repeat=size))

    def repeated(self, inside: Subschemas, items: Iterable[Json], size: int) -> Iterator[Json]:
        """Yield for each item the list that holds it `size` times."""
        yield from (copies for item in items for copies in self.lists(inside, [item], size))

    def items(self, inside: Subschemas) -> list[Json]:
        """Return distinct items for the lists of a position."""
        distinct: list[Json] = []
        for branch in self._expander.branches(inside):
            if branch.takes(Kind.ARRAY):
                distinct += self.values(branch.items, 1)
        return distinct

    def _valid(self, subschemas: Subschemas, value: Json) -> bool:
        """Return whether a value is valid against at least one member of every union."""
        return all(any(self._is_valid(member, value) for member in members) for members in subschemas)

    def _is_valid(self, subschema: Subschema, value: Json) -> bool:
        if subschema not in self._checkers:
            self._checkers[subschema] = checker(subschema)
        try:
            return bool(self._checkers[subschema].is_valid(value))
        except (TooManyStepsError, RecursionError):  # not decidable in bounded time
            return False

    def _of_branch(self, branch: Branch, depth: int) -> Iterator[Json]:
        """Yield example values of a branch: its enum, or single values, lists and objects."""
        if branch.enum is not None:
            yield from branch.enum
            return
        for kind in (Kind.STRING, Kind.NUMBER, Kind.BOOLEAN, Kind.NULL):
            if branch.takes(kind):
                yield from (value for value in self.preferred if kind_of(value) is kind)
                yield from SCALARS[kind]
        if depth < DEPTH and branch.takes(Kind.ARRAY):
            yield from self._arrays(branch, depth)
        if depth < DEPTH and branch.takes(Kind.OBJECT):
            yield from self._objects(branch, depth)

    def _arrays(self, branch: Branch, depth: int) -> Iterator[Json]:
        head = self._head(branch, len(branch.prefix), depth)
        items = self.values(branch.items, depth + 1)[:8]
        yield head
        for size in (1, 2):
            yield from ([*head, *chosen_items] for chosen_items in product(items[: 8 if size == 1 else 4], repeat=size))
        yield from ([*head, item, item, item] for item in items[:2])

    def _head(self, branch: Branch, size: int, depth: int) -> list[Json]:
        return [next(iter(self.values(part, depth + 1)), None) for part in branch.prefix[:size]]

    def _objects(self, branch: Branch, depth: int) -> Iterator[Json]:
        """Yield example objects of a branch: complete, with one or two changed fields, without a field, empty."""
        parts = {name: self.values(subschemas, depth + 1) for name, subschemas in branch.properties.items()}
        complete = {name: candidates[0] for name, candidates in parts.items() if candidates}
        yield complete
        max_candidates = max(8, WIDTH // max(len(parts), 1))
        for name, candidates in parts.items():
            yield from (complete | {name: value} for value in candidates[1:max_candidates])
        yield from (
            complete | {name: parts[name][1], other: parts[other][1]}
            for name, other in zip(parts, list(parts)[1:], strict=False)
            if len(parts[name]) > 1 and len(parts[other]) > 1
        )
        if branch.additional:
            yield from (complete | {"k": value} for value in self.values(branch.additional, depth + 1)[:4])
        for name in complete:
            yield {other: value for other, value in complete.items() if other != name}
        yield {}

    def _frames(self, subschemas: Subschemas, path: Path, depth: int) -> Iterator[Frame]:
        """Yield the documents around a path, each as a function that wraps a value at this path."""
        if not path:
            yield Frame(lambda value: value, subschemas)
            return
        token, rest = path[0], path[1:]
        for branch in self._expander.branches(subschemas):
            if branch.takes(Kind.OBJECT) and not isinstance(token, int):
                yield from self._in_object(subschemas, branch, path, depth)
            if not branch.takes(Kind.ARRAY) or isinstance(token, str):
                continue
            position = token if isinstance(token, int) else len(branch.prefix)
            within = branch.prefix[position] if position < len(branch.prefix) else branch.items
            head = self._head(branch, position, depth)
            for inner in self._frames(within, rest, depth + 1):
                for copies in (1, 2) if token is STAR else (1,):  # a schema may require several items
                    yield Frame(partial(_in_list, head, copies, inner.wrap), inner.inside)

    def _in_object(self, subschemas: Subschemas, branch: Branch, path: Path, depth: int) -> Iterator[Frame]:
        """Yield the frames whose first step is a key of an object."""
        token, rest = path[0], path[1:]
        keys: Iterable[tuple[str, Subschemas]]
        if isinstance(token, str):
            keys = [(token, branch.subschemas_for(token))]
        else:
            other_key = next(name for name in ("k", "kk", "kkk", "any key") if name not in branch.properties)
            keys = [
                (other_key, branch.additional),
                *((key, key_subschemas) for key_subschemas in branch.patterns.values() for key in _KEYS),
            ]
        parts = {name: self.values(key_subschemas, depth + 1)[:1] for name, key_subschemas in branch.properties.items()}
        complete = {name: candidates[0] for name, candidates in parts.items() if candidates}
        required = _required(subschemas)
        minimal = {name: value for name, value in complete.items() if name in required}
        for (key, within), base in product(keys, [minimal, complete] if minimal != complete else [complete]):
            for inner in self._frames(within, rest, depth + 1):
                yield Frame(partial(_under_key, base, key, inner.wrap), inner.inside)


def _in_list(head: list[Json], copies: int, wrap: Wrap, value: Json) -> Json:
    return [*head, *[wrap(value)] * copies]


def _under_key(base: dict[str, Json], key: str, wrap: Wrap, value: Json) -> Json:
    return base | {key: wrap(value)}


_KEYS: Final = ("k", "a", "1", "x1", "x_1", "A", "2024")
"""Keys to try for `patternProperties`."""


def _required(subschemas: Subschemas) -> set[str]:
    """Return the keys that these subschemas require, including references and combinations."""
    reached = (part for members in subschemas for one in members for part in one.reached(("allOf", "anyOf", "oneOf")))
    return {key for part in reached for key in part.schema.get("required", ())}
