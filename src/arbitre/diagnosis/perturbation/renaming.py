"""Renamed fields: every value of a field gets another key, or another place in its entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

from arbitre.paths import STAR, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.diagnosis.perturbation.entry_faults import Tokens
    from arbitre.paths import Path
    from arbitre.values import Json

WRAPPER: Final = "details"
"""Key of the object that a field may be moved into."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """A field with another key or place.

    Attributes:
        source: Wildcard path of the field in gold.
        target: Wildcard path of the field in the copy; it begins with the path of the same entry.
        entry: Number of tokens of the path of the entry.
    """

    source: Path
    target: Path
    entry: int

    def apply(self, document: Json) -> Json:
        """Return a copy of a document with the field renamed in every entry."""
        return self._in(document, 0)

    def place(self, tokens: Tokens) -> Tokens:
        """Return the place of a value in the copy, by its place before."""
        size = len(self.source)
        if len(tokens) < size or not all(map(_fits, tokens, self.source)):
            return tokens
        inner = tuple(token for token in self.target[self.entry :] if isinstance(token, str))
        return (*tokens[: self.entry], *inner, *tokens[size:])

    def _in(self, value: Any, depth: int) -> Json:  # noqa: ANN401  (indexed)
        if depth == self.entry:
            return self._entry(value) if isinstance(value, dict) else value
        token = self.source[depth]
        if token is STAR:
            return [self._in(item, depth + 1) for item in value] if isinstance(value, list) else value
        if isinstance(value, dict) and token in value:
            return value | {token: self._in(value[token], depth + 1)}
        return value

    def _entry(self, entry: dict[str, Json]) -> Json:
        inner = [str(token) for token in self.source[self.entry :]]
        holder: Any = entry
        for key in inner:
            if not isinstance(holder, dict) or key not in holder:
                return entry
            holder = holder[key]
        return _put(_without(entry, inner), [str(token) for token in self.target[self.entry :]], holder)


def renamings(document: Json, rate: float, at: Path | None, seed: int) -> list[Renaming]:
    """Choose the fields of a document to rename.

    The choice for a field depends on its path and the seed alone, so that all documents of a corpus agree. A third of
    the fields get another key, a third are moved into an object of their own, and a third are moved up into the entry;
    fields that already are in the entry get another key.

    Args:
        document: The gold document.
        rate: Share of the fields to rename, in [0, 1].
        at: Wildcard path of the list of entries; None for all fields.
        seed: Random seed.
    """
    keys: dict[Path, set[str]] = {}
    fields = dict.fromkeys(_fields(document, (), keys)) if rate > 0.0 else {}
    chosen = []
    for path in fields:
        if at is not None and path[: len(at) + 1] != (*at, STAR):
            continue
        rng = np.random.default_rng([seed, crc32(pointer(path).encode("utf-8", "surrogatepass")), 2])
        if rng.random() >= rate:
            continue
        entry = max((depth for depth, token in enumerate(path, 1) if token is STAR), default=0)
        parent, name = path[:-1], str(path[-1])
        taken = keys[path[:entry]]
        target: Path = (*parent, _free(f"{name}_value", keys[parent]))
        form = int(rng.integers(3))
        if form == 1:
            target = (*parent, _free(WRAPPER, keys[parent]), name)
        elif form == 2 and len(parent) > entry:  # noqa: PLR2004  (the third of three)
            target = (*path[:entry], _free(name, taken))
        keys[target[:-1]] = keys.get(target[:-1], set()) | {str(target[-1])}
        chosen.append(Renaming(path, target, entry))
    return chosen


def _fields(value: Json, path: Path, keys: dict[Path, set[str]]) -> Iterator[Path]:
    """Yield the wildcard path of each field whose value is a scalar or a list of scalars; collect all keys."""
    if isinstance(value, list):
        for item in value:
            yield from _fields(item, (*path, STAR), keys)
    elif isinstance(value, dict):
        keys.setdefault(path, set()).update(value)
        for key, inner in value.items():
            items = inner if isinstance(inner, list) else [inner]
            if not any(isinstance(item, (list, dict)) for item in items):
                yield (*path, key)
            yield from _fields(inner, (*path, key), keys)


def _free(name: str, taken: set[str]) -> str:
    """Return the name, with underscores if it is taken."""
    while name in taken:
        name += "_"
    return name


def _fits(token: object, pattern: object) -> bool:
    return isinstance(token, int) if pattern is STAR else token == pattern


def _without(value: dict[str, Json], keys: list[str]) -> dict[str, Json]:
    """Return a copy without a field, and without objects that become empty."""
    key, *rest = keys
    copy = dict(value)
    if rest and (inner := _without(copy[key], rest)):
        copy[key] = inner
    else:
        del copy[key]
    return copy


def _put(value: dict[str, Json], keys: list[str], new: Json) -> dict[str, Json]:
    key, *rest = keys
    return value | {key: _put(value.get(key, {}), rest, new) if rest else new}
