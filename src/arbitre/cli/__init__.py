"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arbitre.cli.compare import compare
from arbitre.cli.demo import demo
from arbitre.cli.diff import diff
from arbitre.cli.evaluate import evaluate
from arbitre.cli.faults import faults
from arbitre.cli.figures import figures
from arbitre.cli.metricity import metricity
from arbitre.cli.rank import rank
from arbitre.cli.report import report
from arbitre.cli.schema import app as schema
from arbitre.cli.screen import Screen
from arbitre.errors import ArbitreError

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    """Commands whose expected errors are messages, never tracebacks."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  (typed so by typer)
        try:
            return super().invoke(ctx)
        except ArbitreError as error:
            screen = Screen.of()
            for problem in error.problems:
                screen.error(str(problem))
            raise typer.Exit(2) from error


app = typer.Typer(cls=_Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(compare)
app.command()(evaluate)
app.command()(rank)
app.command()(diff)
app.add_typer(schema, name="schema")
app.command()(demo)
app.command()(report)
app.command()(figures)
app.command()(metricity)
app.command()(faults)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"arbitre {version('arbitre')}\n")
        raise typer.Exit


@app.callback()
def options(
    *,
    show: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare nested documents with their gold, as a JSON Schema says."""


def main() -> None:
    """Run the command line on the arguments of the process, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what is read as UTF-8 is written as UTF-8, whatever the locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app()
