"""The config file of a project: `arbitre.toml`, or the table `[tool.arbitre]` of `pyproject.toml`.

    schema = "schema.json"
    gold = "gold"

    [systems]
    careful = "predictions/careful"

    [options]
    close = 0.9

    [options.rank]
    score = ["f1q", "imq"]

Paths are relative to the folder of the file. The names of options are those of Python (`id_key`) or of the command line
(`id-key`).
"""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arbitre.errors import OptionError, did_you_mean
from arbitre.options import Output, options_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

NAME: Final = "arbitre.toml"
"""Name of the config file."""
PROJECT: Final = "pyproject.toml"
"""File that may contain the config as the table `[tool.arbitre]`."""
TOP: Final = ("schema", "overlay", "functions", "gold")
"""Options that are set at the top of the file, not under `[options]`, because they describe the project."""
PATHS: Final = frozenset(
    {
        "allow_refs",
        "decisions",
        "gold",
        "manifest",
        "out",
        "overlay",
        "pairs",
        "predicted",
        "project",
        "provenance",
        "queue",
        "schema",
        "source",
        "systems",
        "test",
        "train",
    }
)
"""Options whose values are paths."""
ONLY_COMMAND: Final[Mapping[str, tuple[str, ...]]] = {
    "agree": ("lang", "suggest_category_distances"),
    "compare": ("flat", "lang", "no_gains", "patch", "published", "validate"),
    "diff": ("lang",),
    "evaluate": ("classification", "classified"),
    "fix": ("lang",),
}
"""Options of each command that the function of the same name does not have, besides those of the terminal."""


@dataclass(frozen=True, slots=True)
class Config:
    """The contents of a config file.

    Attributes:
        path: The file.
        project: Schema, overlay, functions and gold, if they are set.
        systems: The predictions of each system.
        common: Options of all commands, by name.
        own: Options of single commands, by the name of the command.
    """

    path: Path
    project: Mapping[str, Any] = field(default_factory=dict)
    systems: Mapping[str, list[str]] = field(default_factory=dict)
    common: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def find(cls, folder: str | Path = ".") -> Config | None:
        """Return the config of a folder, as `arbitre config show` does; None if there is none.

        If the folder has no config, its parent folders are searched from the nearest to the farthest. In each folder,
        `arbitre.toml` takes precedence over `pyproject.toml`, which is used only if it contains `[tool.arbitre]`.

        Raises:
            OptionError: A file is not valid TOML, or does not have the form of a config.
        """
        start = Path(folder).absolute()
        for above in (start, *start.parents):
            for name in (NAME, PROJECT):
                if (above / name).is_file() and (config := cls._read(above / name)) is not None:
                    return config
        return None

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """Return the config in a file. Raises OptionError if it cannot be read or does not have the form of a config.

        >>> Config.load("missing.toml")
        Traceback (most recent call last):
        arbitre.errors.OptionError: missing.toml: Cannot read the config file: No such file or directory
        """
        config = cls._read(Path(path))
        if config is None:
            raise OptionError.of("Expected the table [tool.arbitre], got none", file=str(path))
        return config

    @classmethod
    def _read(cls, path: Path) -> Config | None:
        try:
            text = path.read_text(encoding="utf-8")
            if path.name == PROJECT and "arbitre" not in text:  # of another project, and perhaps not valid
                return None
            contents: Any = tomllib.loads(text)
        except OSError as error:
            raise OptionError.of(f"Cannot read the config file: {error.strerror}", file=str(path)) from error
        except ValueError as error:  # TOML or UTF-8
            raise OptionError.of(f"Expected TOML: {error}", file=str(path)) from error
        if path.name == PROJECT:
            tools = contents.get("tool")
            contents = tools.get("arbitre") if isinstance(tools, dict) else None
        return None if contents is None else cls._of(path, contents)

    @classmethod
    def _of(cls, path: Path, contents: Any) -> Config:  # noqa: ANN401  (the values of TOML)
        given = _table(contents, path, "")
        if unknown := sorted(given.keys() - {*TOP, "systems", "options"}):
            hint = did_you_mean(unknown[0], (*TOP, "systems", "options"))
            raise OptionError.of(
                f"Unknown setting {unknown[0]!r}",
                file=str(path),
                hint=f"{hint} Other options belong under [options].",
            )
        options = _table(given.get("options", {}), path, "/options")
        systems = _table(given.get("systems", {}), path, "/systems")
        return cls(
            path,
            {name: given[name] for name in TOP if name in given},
            {name: _texts(value, path, f"/systems/{name}") for name, value in systems.items()},
            _renamed(
                {name: value for name, value in options.items() if not isinstance(value, dict)},
                {name: name.replace("-", "_") for name in options},
                path,
                "/options",
            ),
            {
                command: _renamed(own, {name: name.replace("-", "_") for name in own}, path, f"/options/{command}")
                for command, own in options.items()
                if isinstance(own, dict)
            },
        )

    @property
    def folder(self) -> Path:
        """Folder of the file, relative to the current folder if it is in it."""
        here = self.path.parent
        return here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here

    def values(
        self, command: str, names: Mapping[str, str], own_only: Collection[str] = (), left_out: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the options that the config sets for a command, with resolved paths.

        Args:
            command: Name of the command, such as `schema check`.
            names: Option of the command that each name in the file sets. Of the settings for all commands, others are
                left out.
            own_only: Options that only the table of the command sets.
            left_out: Names in the table of the command that are left out if they are not in `names`.

        Raises:
            OptionError: The table of the command contains a name that is not in `names` or `left_out`, or a table
                contains two names of the same option.
        """
        own = self.own.get(command, {})
        own = {name: value for name, value in own.items() if name in names or name not in left_out}
        if unknown := sorted(own.keys() - {*names}):
            raise OptionError.of(
                f"Unknown option {unknown[0]!r} of `arbitre {command}`",
                file=str(self.path),
                pointer=f"/options/{command}/{unknown[0]}",
                hint=did_you_mean(unknown[0], sorted(names)),
            )
        project = {**self.project, **({"systems": self.systems} if self.systems else {})}
        if len(self.systems) == 1:
            project["predicted"] = next(iter(self.systems.values()))
        common = {name: value for name, value in self.common.items() if name in names}
        found = {name: value for name, value in project.items() if name in names}
        found |= _renamed(common, names, self.path, "/options")
        found = {name: value for name, value in found.items() if name not in own_only}
        found |= _renamed(own, names, self.path, f"/options/{command}")
        return {name: self._resolved(name, value) for name, value in found.items()}

    def options(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Return the arguments that the config sets for a function of arbitre, as for the command of the same name.

        The only system is also the option `predicted`. Options that only the command has, such as `format`, are left
        out.

        >>> import arbitre
        >>> Config(Path("arbitre.toml").absolute(), {"schema": "s.json"}, common={"level": 0.9}).options(arbitre.rank)
        {'schema': 's.json', 'level': 0.9}
        """
        names = inspect.signature(function).parameters
        command = function.__name__.replace("_", " ")
        terminal = (name for option in options_of(Output) for name in option.spellings)
        left_out = {*terminal, *ONLY_COMMAND.get(command, ())}
        return self.values(command, {name: name for name in names}, left_out=left_out)

    def _resolved(self, name: str, value: Any) -> Any:  # noqa: ANN401  (the values of TOML)
        """Return a value with its paths relative to the current folder."""
        if name not in PATHS:
            return value
        if isinstance(value, dict):
            return {key: self._resolved("predicted", one) for key, one in value.items()}
        if isinstance(value, list):
            return [self._resolved(name, one) for one in value]
        if not isinstance(value, str) or value == "-" or (name == "schema" and self._is_type(value)):
            return value
        if name == "systems" and "=" in value:  # NAME=PATH
            label, _, path = value.partition("=")
            return f"{label}={self._resolved('predicted', path)}"
        return (self.folder / value).as_posix()

    def _is_type(self, schema: str) -> bool:
        """Return whether a schema is MODULE:NAME of a Python type, not a file."""
        return ":" in schema and not (self.folder / schema.partition("#")[0]).exists()

    def rows(self) -> Iterator[tuple[str, Any]]:
        """Yield the settings as they are in the file, with the names of their tables."""
        yield from self.project.items()
        yield from ((f"systems.{name}", value) for name, value in self.systems.items())
        yield from ((f"options.{name}", value) for name, value in self.common.items())
        yield from (
            (f"options.{command}.{name}", one) for command, own in self.own.items() for name, one in own.items()
        )


def _renamed(table: Mapping[str, Any], names: Mapping[str, str], path: Path, pointer: str) -> dict[str, Any]:
    """Return the options in a table by their new names. Raises OptionError if two of them get the same name."""
    old: dict[str, str] = {}
    for name in table:
        first = old.setdefault(names[name], name)
        if first != name:
            raise OptionError.of(
                f"Expected one of {first!r} and {name!r}, two names of the same option, got both",
                file=str(path),
                pointer=pointer,
            )
    return {new: table[name] for new, name in old.items()}


def _table(value: Any, path: Path, pointer: str) -> dict[str, Any]:  # noqa: ANN401  (the values of TOML)
    if not isinstance(value, dict):
        raise OptionError.of(f"Expected a table, got {value!r}", file=str(path), pointer=pointer)
    return value


def _texts(value: Any, path: Path, pointer: str) -> list[str]:  # noqa: ANN401  (the values of TOML)
    texts = [value] if isinstance(value, str) else value
    if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
        raise OptionError.of(f"Expected a path or a list of paths, got {value!r}", file=str(path), pointer=pointer)
    return texts
