"""Finds fields of gold that look like ids, and values that refer to them: unique values of a list, found elsewhere."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Final, NamedTuple

from arbitre.paths import DEPTH, STAR, Path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.values import Json

MIN_IDS: Final = 5
"""Minimum number of ids in all documents."""

MIN_REFERENCES: Final = 5
"""Minimum number of references to the ids of a list."""

MIN_FOUND: Final = 0.95
"""Minimum share of the values of a path that are ids of the same document, if the path refers to them."""

_NAMED_AS_ID: Final = re.compile(r"(?i:(^|[^a-z])(id|key|code|nr|no|num)$)|[a-z](Id|ID)$")
"""Matches field names that suggest ids, such as `id`, `personId` or `no`; not `paid`."""

_CODE: Final = re.compile(r"(?=.*\d)[^\s]{1,40}")
"""Ids that are recognised whatever the name of their field: short, without spaces, with a digit."""


class IdField(NamedTuple):
    """A field of list items whose values are ids.

    Attributes:
        path: Path of the field.
        ids: Number of ids.
        references: Paths of the values that refer to them, with the number of values.
        examples: The first ids.
    """

    path: Path
    ids: int
    references: dict[Path, int]
    examples: list[Json]


@dataclass(slots=True)
class _Field:
    """What is known about the values of a field of list items."""

    ids: int = 0
    codes: int = 0
    first: list[Json] = field(default_factory=list)
    found: defaultdict[Path, int] = field(default_factory=lambda: defaultdict(int))


class ReferenceCensus:
    """Counts the ids and the references of documents.

    A field is rejected for good if, in a list in which all items have it, a value is repeated, or is neither a text nor
    an integer.
    """

    def __init__(self) -> None:
        self._fields: dict[Path, _Field] = {}
        self._refused: set[Path] = set()
        self._values: defaultdict[Path, int] = defaultdict(int)

    def add(self, document: Json) -> None:
        """Count the values of a document."""
        lists: defaultdict[Path, list[Json]] = defaultdict(list)
        texts: defaultdict[Path, list[str | int]] = defaultdict(list)
        pending: list[tuple[Path, Json]] = [((), document)]
        for path, value in pending:  # grows during iteration
            if len(path) > DEPTH:
                continue
            if isinstance(value, dict):
                pending += (((*path, key), inner) for key, inner in value.items())
            elif isinstance(value, list):
                lists[path] += value
                pending += (((*path, STAR), inner) for inner in value)
            elif isinstance(value, str | int) and not isinstance(value, bool):
                texts[path].append(value)
        for path, values in texts.items():
            self._values[path] += len(values)
        for path, items in lists.items():
            for name in _common_keys(items):
                self._add_field((*path, STAR, name), [item[name] for item in items], texts)

    def _add_field(self, path: Path, values: list[Json], texts: dict[Path, list[str | int]]) -> None:
        """Count a field that all items of a list have, and the values elsewhere that are among its values."""
        if path in self._refused:
            return
        plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        if not plain or len(set(values)) < len(values):
            self._refused.add(path)
            self._fields.pop(path, None)
            return
        known = self._fields.setdefault(path, _Field())
        known.ids += len(values)
        known.codes += sum(_CODE.fullmatch(value) is not None for value in values if isinstance(value, str))
        known.first += values[: 3 - len(known.first)]
        own = set(values)
        for place, others in texts.items():
            if place != path:
                known.found[place] += sum(other in own for other in others)

    def id_fields(self) -> Iterator[IdField]:
        """Yield the fields whose values are ids, and what refers to them; fields named as ids come first.

        References can also be unique within a list, so a field that refers to other ids is not proposed as an id.
        """
        taken: set[Path] = set()
        for path, known in sorted(self._fields.items(), key=lambda item: (not _is_named_as_id(item[0]), -item[1].ids)):
            if path in taken or known.ids < MIN_IDS or not (_is_named_as_id(path) or known.codes == known.ids):
                continue
            references = {
                place: number
                for place, number in known.found.items()
                if number >= MIN_REFERENCES and number >= MIN_FOUND * self._values[place] and place not in taken
            }
            if references:
                taken |= {path, *references}
                yield IdField(path, known.ids, references, known.first)


def _is_named_as_id(path: Path) -> bool:
    return isinstance(path[-1], str) and _NAMED_AS_ID.search(path[-1]) is not None


def _common_keys(items: list[Json]) -> list[str]:
    """Return the keys that all items have; none if an item is no object, or if there is only one."""
    if len(items) < 2 or not all(isinstance(item, dict) for item in items):  # noqa: PLR2004
        return []
    return [key for key in items[0] if all(key in item for item in items)]


def scope_name(path: Path, taken: set[str]) -> str:
    """Return a scope name derived from the key of a list: "person" for "persons".

    >>> scope_name(("persons", STAR, "id"), set()), scope_name(("persons", STAR, "id"), {"person"})
    ('person', 'person2')
    """
    named = next((token for token in reversed(path[:-1]) if isinstance(token, str)), "entry")
    single = named[:-1] if named.endswith("s") and not named.endswith("ss") and len(named) > 3 else named  # noqa: PLR2004
    return next(name for name in chain([single], (f"{single}{at}" for at in count(2))) if name not in taken)
