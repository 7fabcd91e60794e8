"""The command-line interface, built from the declarations of the commands in `arbitre.cli.declarations`.

`--help` prints a declaration. The module of a command is imported when the command runs.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import io
import os
import pkgutil
import re
import sys
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from inspect import Parameter
from itertools import islice, pairwise
from keyword import iskeyword
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints, is_typeddict

import typer
from typer.core import TyperCommand, TyperGroup

from arbitre.cli.declarations import DECLARATIONS, GROUPS, REPLACED
from arbitre.cli.declared_command import HELP_ALL, command_class
from arbitre.errors import ArbitreError, OptionError, did_you_mean
from arbitre.interpreter import RARELY
from arbitre.options import REQUIRED, options_of
from arbitre.refused_coefficients import check_not_agreement
from arbitre.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from arbitre.errors import Problem
    from arbitre.options import Option

__all__ = ["app", "main"]

COMMANDS: Final = {
    name: GROUPS.get(name) or str(DECLARATIONS[name].__doc__).partition("\n")[0]
    for name in dict.fromkeys(words.partition(" ")[0] for words in DECLARATIONS)
}
"""Summary of each command, and of each group of commands."""

REMOVED: Final = {
    "faults": "Its tables are in docs/faults.md. To plant faults in your own gold, use `arbitre perturb`."
}
"""Commands of earlier versions, with a hint where their results are now."""
SCORING: Final = frozenset({"compare", "diff", "entities", "evaluate", "rank"})
"""Commands that compare a system with gold, and refuse agreement coefficients."""
PARALLEL: Final = frozenset({"evaluate", "rank"})
"""Commands that compare large corpora in several processes."""
LARGE_FOLDER: Final = 1000
"""Minimum number of files in a large folder."""

_WORKERS: Final = "--workers"
_ELSEWHERE: Final = {"--help", "dask", "--engine=dask"}
"""Arguments of commands that use no processes of this machine."""


class CommandGroup(TyperGroup):
    """Command group that answers an unknown command with the most similar ones, then the others."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  (typer's signature)
        """Return the requested command."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            ctx.fail(f"No such command {name!r}. {did_you_mean(name, known)}")
        return super().resolve_command(ctx, args)


class LazyGroup(CommandGroup):
    """Command group that builds a command on first use and prints expected errors as messages."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  (typer's signature)
        """List the commands in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  (typer's signature)
        """Return the command if it is built, else a stub with its name and summary for the command list."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name])
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  (typer's signature)
        """Build the requested command, then resolve it."""
        name = args[0]
        if name in REMOVED:
            raise OptionError.of(f"The command `arbitre {name}` was removed", hint=REMOVED[name])
        if name in SCORING:
            for option in [arg.partition("=")[0] for arg in args[1:] if arg.startswith("--")]:
                check_not_agreement(option.removeprefix("--"), OptionError, option)
        if name in PARALLEL:
            prepare_processes(args[1:])
        if name in COMMANDS and name not in self.commands:
            self.add_command(_build(name), name)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  (typer's signature)
        """Run the command. Print expected errors without a traceback and exit with code 2."""
        try:
            return super().invoke(ctx)
        except ArbitreError as error:
            from arbitre.cli.output.console import Terminal  # noqa: PLC0415  (`--help` does not need it)

            screen = Terminal.create()
            for problem in error.problems:
                screen.error(str(problem))
            raise typer.Exit(2) from error
        except (EOFError, BrokenPipeError) as error:  # typer would print no traceback and exit with code 1
            raise RuntimeError(repr(error)) from error


def _build(name: str) -> Any:  # noqa: ANN401  (click's classes, which typer may vendor)
    """Build a command, or a group of commands, from its declaration."""
    built = typer.Typer(cls=CommandGroup, add_completion=False, no_args_is_help=name in GROUPS, help=GROUPS.get(name))
    if name in GROUPS:
        built.callback()(lambda: None)  # otherwise, a group with a single command becomes that command
    for words in DECLARATIONS:
        first, _, subcommand = words.partition(" ")
        if first == name:
            rare = any(option.rare for option in options_of(DECLARATIONS[words]))
            built.command(
                subcommand or name,
                cls=command_class(words),
                hidden=words in REPLACED,
                epilog=f"{HELP_ALL} also lists the options that are rarely needed." if rare else None,
            )(typer_command(words))
    return typer.main.get_command(built)


def module_of(name: str) -> str:
    """Return the dotted name of the module of a command, or of a group of commands."""
    return f"{__name__}.commands.{name.replace('-', '_')}"


def function_of(words: str) -> Callable[..., None]:
    """Import the function of a command."""
    name, _, subcommand = words.partition(" ")
    own = (subcommand or name).replace("-", "_")
    module = importlib.import_module(module_of(name))
    function: Callable[..., None] = getattr(module, f"{own}_" if iskeyword(own) else own)
    return function


def typer_command(words: str) -> Callable[..., None]:
    """Return a function with a parameter for each option of a command, which imports the command and runs it.

    An `OptionError` is reported as an invalid value, with the names that the options have on the command line.
    """
    declared = DECLARATIONS[words]

    def command(**given: Any) -> None:  # noqa: ANN401  (the values of any options)
        function = function_of(words)
        try:
            function(**arguments(function, filled(declared, given)))
        except OptionError as error:
            raise typer.BadParameter(" ".join(map(_in_one_line, error.problems))) from error

    command.__doc__ = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(declared) or "")
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter(option) for option in options_of(declared)]
    )
    return command


def filled(declared: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of options, with those of arguments that take the place of options.

    Raises:
        OptionError: An argument has too few or too many values, or the option is given as well.
    """
    found = dict(given)
    for option in options_of(declared):
        values = found.pop(option.name) if option.fills else ()
        if not values:
            continue
        if len(values) != len(option.fills):
            raise OptionError.of(f"Expected the arguments {option.metavar}, got {' '.join(values)}")
        for name, value in zip(option.fills, values, strict=True):
            if found[name]:
                raise OptionError.of(f"Expected {option.metavar} or `{name}`, got both")
            found[name] = [value]
    return found


def _in_one_line(problem: Problem) -> str:
    """Return the message and the hint of a problem. Options are written as on the command line.

    In a problem with a pointer, the option is a JSON value, and the message quotes one of its keys.
    """
    text = str(replace(problem, hint=None))
    text = f"{text.removesuffix('.')}. {problem.hint}" if problem.hint else text
    if problem.pointer is not None:
        return text
    return re.sub(r"`(\w+)`", lambda quoted: f"--{quoted[1].replace('_', '-')}", text)


def arguments(function: Callable[..., None], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the function of a command: options by name, and sets of further options.

    A parameter whose type is a dataclass or a typed dictionary receives the options that are named like its fields,
    unless another parameter has taken them. If an option has no value, the default of the dataclass applies.
    """
    kinds = {name: kind for name, kind in get_type_hints(function).items() if name != "return"}
    sets = {name: kind for name, kind in kinds.items() if is_dataclass(kind) or is_typeddict(kind)}
    found: dict[str, Any] = {name: given[name] for name in kinds.keys() - sets.keys()}
    remaining = {name: value for name, value in given.items() if name not in found}
    for name, kind in sets.items():
        own = {} if is_typeddict(kind) else {one.name: one.default for one in fields(kind)}
        taken = {key: remaining.pop(key) for key in own or kind.__annotations__ if key in remaining}
        absent = {key for key, value in taken.items() if value in ([], ()) and own.get(key, MISSING) is not MISSING}
        found[name] = kind(**{key: value for key, value in taken.items() if key not in absent})
    return found


def _parameter(option: Option) -> Parameter:
    """Return an option as a parameter that Typer reads."""
    details: dict[str, Any] = {
        "help": option.help,
        "metavar": option.metavar,
        "min": option.least,
        "max": option.most,
        "parser": None if option.parser is None else _imported_on_use(option.parser),
    }
    if option.positional:
        described = typer.Argument(**details)
    else:
        names = option.names if option.flags or option.type is bool else ()
        described = typer.Option(*names, rich_help_panel=option.group, hidden=option.rare, **details)
    default = Parameter.empty if option.default is REQUIRED else option.default
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[option.type, described])


def _imported_on_use(name: str) -> Callable[[str], Any]:
    """Return the function MODULE:NAME, which is imported when it is first called."""

    def parse(text: str) -> Any:  # noqa: ANN401  (the value of any option)
        return pkgutil.resolve_name(name)(text)

    return parse


def prepare_processes(arguments: Sequence[str]) -> None:
    """Start the fork server before the command is imported, so that both import the library at the same time.

    It is started if an argument names a large file or folder, because workers will probably be needed. The options are
    not parsed yet; a wrong guess costs time but does not change results. With two processes, this saves 0.6 s of 7.5 s
    for 10,000 flat documents.
    """
    from arbitre.inputs.open_files import LARGE_FILE  # noqa: PLC0415  (`--help` does not need it)

    single = (_WORKERS, "1") in pairwise(arguments) or f"{_WORKERS}=1" in arguments or (os.cpu_count() or 1) == 1
    if not single and _ELSEWHERE.isdisjoint(arguments) and any(_is_large(each, LARGE_FILE) for each in arguments):
        from arbitre.corpus.fork_server import start_server  # noqa: PLC0415  (small corpora do not need it)

        start_server()


def _is_large(argument: str, bytes_of_large: int) -> bool:
    """Return whether an argument, or the value in `--option=value`, names a large file or folder."""
    name = argument.partition("=")[2] if argument.startswith("--") else argument
    with suppress(OSError, ValueError):
        if os.path.isdir(name):  # noqa: PTH112  (pathlib is not imported yet)
            with os.scandir(name) as entries:
                return len(list(islice(entries, LARGE_FOLDER))) == LARGE_FOLDER
        return os.path.getsize(name) > bytes_of_large  # noqa: PTH202
    return False


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"arbitre {__version__}\n")
        raise typer.Exit


@app.callback()
def root_options(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001  (its callback prints it)
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Config file with the schema, gold, systems and options. Default: arbitre.toml, or pyproject.toml "
            "with a table tool.arbitre, in the current folder or the nearest folder above it.",
        ),
    ] = None,
) -> None:
    """Compare nested structured outputs with gold documents, field by field, as defined by a JSON Schema."""
    context.obj = config


class _Output(io.TextIOWrapper):
    """Standard output or standard error, which records the error that made it fail.

    If its reader closes the pipe (as `head` does), further output is discarded. This is not an error.
    """

    failure: OSError | None = None

    def write(self, text: str, /) -> int:
        with self._checked():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with self._checked():
            super().flush()

    def discard(self) -> None:
        """Discard further output."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())

    @contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.discard()
        except OSError as error:
            self.failure = error
            raise


def main() -> int:
    """Run the command-line interface with the arguments of the process, and return the exit code."""
    closed = open(os.devnull, "wb") if sys.stdout is None else None  # noqa: PTH123, SIM115  (by the shell)
    out = sys.stdout = _Output(closed or sys.stdout.buffer, "utf-8", "backslashreplace", write_through=True)
    if isinstance(sys.stderr, io.TextIOWrapper):  # output is UTF-8 in every locale, like the input
        sys.stderr = _Output(sys.stderr.buffer, "utf-8", "backslashreplace", line_buffering=True)
    gc.set_threshold(*RARELY)
    try:
        code: int = _exit_code()
        out.flush()
    except Exception as error:  # noqa: BLE001  (Python would exit with code 1, which means that a bound was not met)
        code = 2
        if error is not out.failure:
            sys.excepthook(type(error), error, error.__traceback__)
            return code
        out.discard()
        with suppress(OSError):
            sys.stderr.write(f"error: Cannot write to standard output: {error.strerror}\n")
            sys.stderr.write("  Free some space, or redirect the output to another disk.\n")
    gc.freeze()  # skips the garbage collection at exit, which takes 0.15 s
    return code


def _exit_code() -> Any:  # noqa: ANN401  (typer's)
    try:
        return app()
    except SystemExit as end:
        return end.code
