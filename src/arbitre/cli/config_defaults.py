"""Options from the config file as defaults of a command."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from arbitre.cli.declarations import DECLARATIONS
from arbitre.config import TOP, Config
from arbitre.errors import OptionError, did_you_mean
from arbitre.options import Sources, options_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from arbitre.options import Option

REPLACED_BY: Final = {
    "paths": {"gold", "predicted", "pairs", "manifest"},
    "pairs": {"gold", "predicted", "manifest"},
    "manifest": {"gold", "predicted", "pairs", "systems"},
    "gold": {"pairs", "manifest"},
    "predicted": {"pairs", "manifest"},
    "systems": {"manifest"},
}
"""Options of the config that have no effect if this option is given on the command line."""


def config_defaults(words: str, config: Config) -> dict[str, Any]:
    """Return the options that a config sets for a command, as on the command line. Raises OptionError."""
    return {option.name: _as_given(config, option, value) for option, value in _options_set(words, config)}


def config_settings(words: str, config: Config) -> dict[str, Any]:
    """Return the options that a config sets for a command, by their names in `Config.rows`. Raises OptionError."""
    settings: dict[str, Any] = {}
    for option, value in _options_set(words, config):
        _as_given(config, option, value)  # checks the type
        systems = value.items() if isinstance(value, dict) else ()
        settings |= {f"systems.{name}": paths for name, paths in systems} or {option.spellings[0]: value}
    return settings


def _options_set(words: str, config: Config) -> list[tuple[Option, Any]]:
    """Return the options that a config sets for a command, with their values in the file.

    The gold of the project applies to options only, not to arguments, and the predictions of its systems to the
    commands that compare a whole corpus.

    Raises:
        OptionError: The command does not exist, or the config contains an unknown option or a value of the wrong type.
    """
    _check_command(words)
    _check_names(config)
    declared = {option.name: option for option in options_of(DECLARATIONS[words])}
    own_only = {name for name in ("gold",) if name in declared and not _is_corpus(declared[name])}
    own_only |= {"predicted"} if not issubclass(DECLARATIONS[words], Sources) else set()
    own_only |= {"systems"} if words != "rank" else set()
    found = config.values(words, _by_spelling(option for option in declared.values() if not option.fills), own_only)
    return [(declared[name], value) for name, value in found.items()]


def spelled(words: str, name: str) -> str:
    """Return the name in a config file of an option of a command."""
    return next(option.spellings[0] for option in options_of(DECLARATIONS[words]) if option.name == name)


def superseded(given: Collection[str]) -> set[str]:
    """Return the options of the config that have no effect if these are given on the command line."""
    return set().union(*(REPLACED_BY.get(name, set()) for name in given)) - set(given)


def several_systems(config: Config | None) -> OptionError | None:
    """Return the error if a command needs the predictions of one system, and the config names several."""
    if config is None or len(config.systems) <= 1:
        return None
    names = ", ".join(config.systems)
    return OptionError.of(
        f"{config.path.name} names several systems: {names}. Choose the predictions of one with --predicted, "
        "or compare all with `arbitre rank`."
    )


@cache
def _all_options() -> dict[str, str]:
    """Return the options of all commands by each of their names in a config file."""
    return _by_spelling(option for declared in DECLARATIONS.values() for option in options_of(declared))


def _by_spelling(options: Iterable[Option]) -> dict[str, str]:
    """Return the names of options in Python by each of their names in a config file."""
    return dict(sorted((spelling, option.name) for option in options for spelling in option.spellings))


def _check_names(config: Config) -> None:
    """Raise OptionError if the config contains a command or an option that does not exist, or stands at the top."""
    place, file = "/options/", str(config.path)
    for name in config.common:
        if (option := _all_options().get(name)) in (*TOP, "systems"):
            raise OptionError.of(
                f"Expected {option!r} at the top, not under [options]", file=file, pointer=place + name
            )
        if option is None:
            hint = did_you_mean(name, _all_options())
            raise OptionError.of(f"Unknown option {name!r}", file=file, pointer=place + name, hint=hint)
    for command in config.own:
        _check_command(command, file=file, pointer=place + command)


def _check_command(command: str, *, file: str | None = None, pointer: str | None = None) -> None:
    """Raise OptionError if a command does not exist."""
    if command not in DECLARATIONS:
        hint = did_you_mean(command, DECLARATIONS)
        raise OptionError.of(f"Unknown command {command!r}", file=file, pointer=pointer, hint=hint)


def _is_corpus(option: Option) -> bool:
    """Return whether an option is that of a corpus: a list of sources, not an argument."""
    return not option.positional and option.type is not str


def _as_given(config: Config, option: Option, value: Any) -> Any:  # noqa: ANN401  (the value of any option)
    """Return a value as Typer expects it: texts, which it parses, booleans, and lists of texts."""
    several = list in {get_origin(one) for one in (option.type, *get_args(option.type))}
    if isinstance(value, dict) and option.name == "systems":
        return [f"{name}={path}" for name, paths in value.items() for path in paths]
    if option.type is bool:
        if not isinstance(value, bool):
            raise _wrong(config, option, "true or false", value)
        return value
    items = value if isinstance(value, list) else [value]
    if not (several or len(items) == 1) or any(isinstance(one, (bool, list, dict)) for one in items):
        raise _wrong(config, option, "a list of texts or numbers" if several else "a text or a number", value)
    texts = [str(one) for one in items]
    return texts if several else texts[0]


def _wrong(config: Config, option: Option, expected: str, value: object) -> OptionError:
    pointer = f"/{option.name}" if option.name in TOP else f"/options/{option.spellings[0]}"
    return OptionError.of(f"Expected {expected}, got {value!r}", file=str(config.path), pointer=pointer)
