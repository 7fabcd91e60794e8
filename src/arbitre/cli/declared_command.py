"""A command built from its declaration: takes options by their former names and from a config file, and all help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer
from typer.core import TyperCommand

from arbitre.cli.config_defaults import config_defaults, several_systems, spelled, superseded
from arbitre.cli.declarations import DECLARATIONS
from arbitre.config import Config
from arbitre.options import Sources, options_of

if TYPE_CHECKING:
    from collections.abc import Sequence

HELP_ALL: Final = "--help-all"
"""Option of every command that prints all its options, also the rare ones."""
WITHOUT_CONFIG: Final = frozenset({"init", "config show"})
"""Commands that take no options from a config file."""
NOT_COMBINED: Final = frozenset({"--overlay"})
"""Options that take one file, and that users might repeat to combine several files."""


class DeclaredCommand(TyperCommand):
    """A command; see `command_class`."""

    words: ClassVar[str]
    present: ClassVar[dict[str, str]]
    """Present name of each former name of an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  (typer's signature)
        """Parse the arguments; the config sets those that are not given."""
        end = args.index("--") if "--" in args else len(args)
        if HELP_ALL in args[:end]:
            self._show_all(ctx)
        given = [(self.present.get(flag, flag), rest) for flag, *rest in (arg.split("=", 1) for arg in args[:end])]
        present = ["=".join([flag, *rest]) for flag, rest in given] + args[end:]
        if "--help" not in args[:end]:
            _check_repeated(ctx, [flag for flag, _ in given])
        if self.words == "config show":
            ctx.default_map = {"file": ctx.obj}  # the file that --config names
        if "--help" in args[:end] or self.words in WITHOUT_CONFIG:
            return super().parse_args(ctx, present)
        config = Config.load(ctx.obj) if ctx.obj else Config.find()
        if config is None:
            return super().parse_args(ctx, present)
        return self._parse_with(config, ctx, present)

    def _show_all(self, ctx: Any) -> None:  # noqa: ANN401  (typer's)
        """Print the help with the rare options, and exit."""
        for parameter in self.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        self.epilog = None
        typer.echo(self.get_help(ctx), nl=False)
        ctx.exit()

    def _parse_with(self, config: Config, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  (typer's)
        """Parse the arguments with the options of a config as defaults, and print a note on those that are used."""
        ctx.default_map = config_defaults(self.words, config)
        try:
            rest = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if error.param is not None and _source(ctx, error.param.name) == "DEFAULT_MAP":
                error.message = f"{config.path.name}: {error.message}"
            raise
        sources = {name: _source(ctx, name) for name in ctx.params}
        unused = superseded([name for name, source in sources.items() if source == "COMMANDLINE"])
        configured = [name for name, source in sources.items() if source == "DEFAULT_MAP" and name not in unused]
        for parameter in self.params:
            if parameter.name in unused and sources.get(parameter.name) == "DEFAULT_MAP":
                ctx.params[parameter.name] = [] if parameter.multiple or parameter.nargs == -1 else None
        self._check_system(config, ctx.params)
        _note(config, [spelled(self.words, name) for name in configured], ctx.params)
        return rest

    def _check_system(self, config: Config, given: dict[str, Any]) -> None:
        """Raise BadParameter if the command needs the predictions of one system, and the config names several."""
        missing = issubclass(DECLARATIONS[self.words], Sources) and not any(
            given.get(name) for name in ("predicted", "pairs", "manifest", "paths")
        )
        if missing and (error := several_systems(config)) is not None:
            raise typer.BadParameter(error.message)


def _check_repeated(ctx: Any, flags: Sequence[str]) -> None:  # noqa: ANN401  (typer's)
    """Raise BadParameter if an option of `NOT_COMBINED` is given more than once."""
    for flag in NOT_COMBINED.intersection(flags):
        if (times := flags.count(flag)) > 1:
            message = f"This option can be given only once, but it was given {times} times."
            raise typer.BadParameter(message, ctx, param_hint=f"'{flag}'")


def command_class(words: str) -> type[DeclaredCommand]:
    """Return the class of a command, given its name."""
    present = {old: option.names[0] for option in options_of(DECLARATIONS[words]) for old in option.former}
    return type("Command", (DeclaredCommand,), {"words": words, "present": present})


def _source(ctx: Any, name: str | None) -> str:  # noqa: ANN401  (typer's)
    """Return where the value of a parameter comes from: COMMANDLINE, DEFAULT_MAP (the config), or DEFAULT."""
    source = None if name is None else ctx.get_parameter_source(name)
    return "" if source is None else str(source.name)


def _note(config: Config, names: Sequence[str], given: dict[str, Any]) -> None:
    """Print a note on the options that come from the config."""
    from arbitre.cli.output.console import Terminal  # noqa: PLC0415  (`--help` does not need it)

    if names:
        screen = Terminal.create(plain=bool(given.get("no_color")), quiet=bool(given.get("quiet")))
        screen.note(f"Options from {(config.folder / config.path.name).as_posix()}: {', '.join(names)}")
