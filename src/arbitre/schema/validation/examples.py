"""Example values of a schema, and valid documents that hold a given value at a given path (best effort)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.paths import STAR
from arbitre.schema.compiling.alternatives import Expander
from arbitre.schema.validation.safe_validator import TooManyStepsError
from arbitre.schema.validation.validate import checker
from arbitre.values import Kind, canonical, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arbitre.paths import Path
    from arbitre.schema.compiling.alternative import Alternative, Subschemas
    from arbitre.schema.loading.references import Subschema
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
    """Creates example values and documents for one schema; tries the `telling` values first."""

    root: Subschema
    telling: Sequence[Json] = ()
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
        """Return at most `WIDTH` distinct values to which all these subschemas apply."""
        key = (subschemas, depth)
        if key not in self._known:
            self._known[key] = []  # stops the recursion of recursive schemas
            found: dict[object, Json] = {}
            for shape in self._expander.alternatives(subschemas):
                some = (value for value in self._of_shape(shape, depth) if self._valid(subschemas, value))
                for value in islice(some, WIDTH):
                    found.setdefault(canonical(value), value)
            self._known[key] = list(found.values())[:WIDTH]
        return self._known[key]

    def lists(self, inside: Subschemas, items: Iterable[Json], size: int) -> Iterator[Json]:
        """Yield every list of `size` of these items, after the schema's `prefixItems`."""
        for shape in self._expander.alternatives(inside):
            if shape.takes(Kind.ARRAY):
                head = self._head(shape, len(shape.prefix), 0)
                yield from ([*head, *some] for some in product(items, repeat=size))

    def repeated(self, inside: Subschemas, items: Iterable[Json], size: int) -> Iterator[Json]:
        """Yield for each item the list that holds it `size` times."""
        yield from (copies for item in items for copies in self.lists(inside, [item], size))

    def items(self, inside: Subschemas) -> list[Json]:
        """Return distinct items for the lists of a position."""
        found: list[Json] = []
        for shape in self._expander.alternatives(inside):
            if shape.takes(Kind.ARRAY):
                found += self.values(shape.items, 1)
        return found

    def _valid(self, subschemas: Subschemas, value: Json) -> bool:
        """Return whether a value is valid against at least one member of every group."""
        return all(any(self._fits(one, value) for one in group) for group in subschemas)

    def _fits(self, located: Subschema, value: Json) -> bool:
        if located not in self._checkers:
            self._checkers[located] = checker(located)
        try:
            return bool(self._checkers[located].is_valid(value))
        except (TooManyStepsError, RecursionError):  # not decidable in bounded time
            return False

    def _of_shape(self, shape: Alternative, depth: int) -> Iterator[Json]:
        if shape.enum is not None:
            yield from shape.enum
            return
        for kind in (Kind.STRING, Kind.NUMBER, Kind.BOOLEAN, Kind.NULL):
            if shape.takes(kind):
                yield from (value for value in self.telling if kind_of(value) is kind)
                yield from SCALARS[kind]
        if depth < DEPTH and shape.takes(Kind.ARRAY):
            yield from self._arrays(shape, depth)
        if depth < DEPTH and shape.takes(Kind.OBJECT):
            yield from self._objects(shape, depth)

    def _arrays(self, shape: Alternative, depth: int) -> Iterator[Json]:
        head = self._head(shape, len(shape.prefix), depth)
        items = self.values(shape.items, depth + 1)[:8]
        yield head
        for size in (1, 2):
            yield from ([*head, *some] for some in product(items[: 8 if size == 1 else 4], repeat=size))
        yield from ([*head, item, item, item] for item in items[:2])

    def _head(self, shape: Alternative, size: int, depth: int) -> list[Json]:
        return [next(iter(self.values(part, depth + 1)), None) for part in shape.prefix[:size]]

    def _objects(self, shape: Alternative, depth: int) -> Iterator[Json]:
        parts = {name: self.values(subschemas, depth + 1) for name, subschemas in shape.properties.items()}
        whole = {name: some[0] for name, some in parts.items() if some}
        yield whole
        most = max(8, WIDTH // max(len(parts), 1))
        for name, some in parts.items():
            yield from (whole | {name: value} for value in some[1:most])
        yield from (
            whole | {name: parts[name][1], other: parts[other][1]}
            for name, other in zip(parts, list(parts)[1:], strict=False)
            if len(parts[name]) > 1 and len(parts[other]) > 1
        )
        if shape.additional:
            yield from (whole | {"k": value} for value in self.values(shape.additional, depth + 1)[:4])
        for name in whole:
            yield {other: value for other, value in whole.items() if other != name}
        yield {}

    def _frames(self, subschemas: Subschemas, path: Path, depth: int) -> Iterator[Frame]:
        if not path:
            yield Frame(lambda value: value, subschemas)
            return
        token, rest = path[0], path[1:]
        for shape in self._expander.alternatives(subschemas):
            if shape.takes(Kind.OBJECT) and not isinstance(token, int):
                yield from self._in_object(subschemas, shape, path, depth)
            if not shape.takes(Kind.ARRAY) or isinstance(token, str):
                continue
            position = token if isinstance(token, int) else len(shape.prefix)
            within = shape.prefix[position] if position < len(shape.prefix) else shape.items
            head = self._head(shape, position, depth)
            for inner in self._frames(within, rest, depth + 1):
                for copies in (1, 2) if token is STAR else (1,):  # a schema may require several items
                    yield Frame(partial(_in_list, head, copies, inner.wrap), inner.inside)

    def _in_object(self, subschemas: Subschemas, shape: Alternative, path: Path, depth: int) -> Iterator[Frame]:
        token, rest = path[0], path[1:]
        keys: Iterable[tuple[str, Subschemas]]
        if isinstance(token, str):
            keys = [(token, shape.subschemas_for(token))]
        else:
            spare = next(name for name in ("k", "kk", "kkk", "any key") if name not in shape.properties)
            keys = [(spare, shape.additional), *((key, held) for held in shape.patterns.values() for key in _KEYS)]
        parts = {name: self.values(held, depth + 1)[:1] for name, held in shape.properties.items()}
        whole = {name: some[0] for name, some in parts.items() if some}
        required = _required(subschemas)
        least = {name: value for name, value in whole.items() if name in required}
        for (key, within), base in product(keys, [least, whole] if least != whole else [whole]):
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
    found: set[str] = set()
    pending = [located for group in subschemas for located in group]
    seen: set[Subschema] = set()
    while pending:
        located = pending.pop()
        if located in seen or not isinstance(located.schema, dict):
            continue
        seen.add(located)
        found.update(located.schema.get("required", ()))
        if "$ref" in located.schema:
            pending.append(located.follow("$ref"))
        for keyword in ("allOf", "anyOf", "oneOf"):
            pending += [located.below(keyword, index) for index in range(len(located.schema.get(keyword, ())))]
    return found
