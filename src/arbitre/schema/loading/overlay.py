"""Overlays: annotations by wildcard path, for schemas that you cannot edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbitre.errors import DataError, Problem, SchemaError, did_you_mean
from arbitre.paths import Token, escape, parse
from arbitre.schema.loading.source_file import read_file
from arbitre.schema.loading.vocabulary import Annotations, check_annotation
from arbitre.values import Json, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(eq=False, slots=True)
class Overlay:
    """A tree of settings by path token; `used` states whether the schema has the path."""

    settings: Annotations = field(default_factory=dict)
    below: dict[Token, Overlay] = field(default_factory=dict)
    path: str = ""
    used: bool = False

    @classmethod
    def read(cls, source: Mapping[str, Json] | str | Path) -> Overlay:
        """Read an overlay from a dictionary or a JSON file. Raises SchemaError listing every problem."""
        file = str(source) if isinstance(source, (str, Path)) else None
        data: Any = source
        if isinstance(source, (str, Path)):
            try:
                data = read_file(Path(source), "overlay")
            except OSError as error:
                raise SchemaError.of(f"Cannot read the overlay: {error.strerror}", file=str(file)[:200]) from error
        if not isinstance(data, Mapping):
            raise SchemaError.of(
                f"Expected an overlay to be an object with paths as keys, got {type(data).__name__}",
                file=file,
                hint='For example {"/entries/*/name": {"distance": "exact"}}.',
            )
        return cls._of(dict(data), file)

    @classmethod
    def _of(cls, data: dict[str, Json], file: str | None) -> Overlay:
        try:
            canonical(data)
        except DataError as error:
            raise SchemaError(*error.located(file=file).problems) from error
        root, problems = cls(), list[Problem]()
        for path, value in data.items():
            place = f"/{escape(path)}"
            try:
                tokens = parse(path)
            except ValueError as error:
                problems.append(Problem(str(error), file=file, pointer=place))
                continue
            node = root
            for token in tokens:
                node = node.below.setdefault(token, cls(path=f"{node.path}/{escape(token)}"))
            node.settings = check_annotation(value, place, file, problems)
        if problems:
            raise SchemaError(*problems)
        return root

    def extended(self, settings: Mapping[str, Json]) -> Overlay:
        """Return the overlay with further settings by path, which replace its own. Raises SchemaError."""
        pending = [(self, self._of(dict(settings), None))]
        for own, other in pending:  # grows during iteration
            own.settings = own.settings | other.settings
            pending += (
                (own.below.setdefault(token, Overlay(path=below.path)), below) for token, below in other.below.items()
            )
        return self

    def at(self, token: Token) -> Overlay | None:
        return self.below.get(token)

    def unused(self, known: Iterable[str]) -> Iterator[Problem]:
        """Yield a problem for each path of the overlay that is not in the schema; `known` are the schema's paths."""
        pending = [self]
        while pending:
            node = pending.pop()
            pending.extend(reversed(node.below.values()))
            if node.settings and not node.used:
                setting = next(iter(node.settings.values()))
                general = "`arbitre schema explain` lists the paths. Write * for list items and map keys."
                yield Problem(
                    f'The schema has no path "{node.path}"',
                    file=setting.file,
                    pointer=setting.pointer.rpartition("/")[0],
                    hint=did_you_mean(node.path, known, general),
                )
