"""The command-line interface."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from contextlib import suppress
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from arbitre.errors import ArbitreError, OptionError
from arbitre.refused_coefficients import check_not_agreement

__all__ = ["app", "main"]

COMMANDS: Final = {
    "compare": "Compare one prediction with its gold document: scores, and the verdict on every node that differs.",
    "evaluate": "Evaluate a corpus: compare each prediction with the gold document of the same id.",
    "rank": "Rank systems on the same gold documents, with confidence intervals and paired tests.",
    "agree": "Measure how well annotators agree beyond chance, on whole documents and by path.",
    "gamma": "Measure how well annotators agree beyond chance on spans that they located themselves.",
    "consensus": "Build gold documents from the documents of several annotators.",
    "leave-one-out": "Compare each annotator, and systems, with the consensus of the other annotators.",
    "entities": "Compare predicted entities with gold entities, sentence by sentence.",
    "diff": "Show what changed between two evaluations: overall, by path and by document.",
    "schema": "Infer, check or explain a schema; suggest aliases or a gate.",
    "demo": "Evaluate two systems on a small bundled corpus: speakers on six pages of an index.",
    "report": "Regenerate the HTML report of an evaluation or a ranking, in English or French.",
    "figures": "Draw the figures of an evaluation or a ranking as SVG, PDF and PNG.",
    "metricity": "Measure how far the distances between entries deviate from a metric.",
    "perturb": "Plant faults in copies of gold documents, to see how the scores react.",
    "text": "Measure generated text: ROUGE, BLEU and perplexity.",
    "confidence": "Compare the confidence of predicted values with their correctness.",
    "advise": "Check the classes of training and test data: what to add, balance or merge.",
}
"""Summary of each command. The module of the same name (see `module_of`), with underscores, defines a function of
that name, or `app` for a group of subcommands."""

REMOVED: Final = {
    "faults": "Its tables are in docs/faults.md. To plant faults in your own gold, use `arbitre perturb`."
}
"""Commands of earlier versions, with a hint where their results are now."""
SCORING: Final = frozenset({"compare", "diff", "entities", "evaluate", "rank"})
"""Commands that compare a system with gold, and refuse agreement coefficients."""
PARALLEL: Final = frozenset({"evaluate", "rank"})
"""Commands that compare large corpora in several processes."""
FIELDS: Final = frozenset({"advise", "agree", "confidence", "consensus", "entities", "gamma", "leave-one-out", "text"})
"""Commands for a single area of application, such as entity recognition."""


class LazyGroup(TyperGroup):
    """Command group that imports a command on first use and prints expected errors as messages."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  (typer's signature)
        """List the commands in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  (typer's signature)
        """Return the command if it is imported, else a stub with its name and summary for the command list."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name])
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  (typer's signature)
        """Import the requested command, then resolve it."""
        name = args[0]
        if name in REMOVED:
            raise OptionError.of(f"The command `arbitre {name}` was removed", hint=REMOVED[name])
        if name in SCORING:
            for option in [arg.partition("=")[0] for arg in args[1:] if arg.startswith("--")]:
                check_not_agreement(option.removeprefix("--"), OptionError, option)
        if name in PARALLEL:
            from arbitre.cli.early_start import prepare_processes  # noqa: PLC0415  (`--help` does not need it)

            prepare_processes(args[1:])
        if name in COMMANDS and name not in self.commands:
            self.add_command(_load(name), name)
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


def module_of(name: str) -> str:
    """Return the dotted name of the module of a command."""
    return f"{__name__}.commands.{'fields.' if name in FIELDS else ''}{name.replace('-', '_')}"


def _load(name: str) -> Any:  # noqa: ANN401  (click's classes, which typer may vendor)
    """Import a command, or a group of commands, by name."""
    from arbitre.cli.option_sets import with_option_sets  # noqa: PLC0415  (`--help` does not need it)

    module = importlib.import_module(module_of(name))
    if not hasattr(module, "app"):
        single = typer.Typer(add_completion=False)
        single.command(name)(with_option_sets(getattr(module, name.replace("-", "_"))))
        return typer.main.get_command(single)
    return typer.main.get_command(module.app)


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  (only this option needs it)

        sys.stdout.write(f"arbitre {version('arbitre')}\n")
        raise typer.Exit


@app.callback()
def version_option(
    *,
    show: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare nested structured outputs with gold documents, field by field, as defined by a JSON Schema."""


GC_THRESHOLD: Final = 50_000, 20, 50
"""Documents have no reference cycles: collecting less often takes 6 % off the time of `arbitre evaluate`."""


class _Output(io.TextIOWrapper):
    """Standard output that records the error that made it fail."""

    failure: OSError | None = None

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.failure = error
            raise

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.failure = error
            raise


def main() -> int:
    """Run the command-line interface with the arguments of the process, and return the exit code."""
    closed = open(os.devnull, "wb") if sys.stdout is None else None  # noqa: PTH123, SIM115  (by the shell)
    out = sys.stdout = _Output(closed or sys.stdout.buffer, "utf-8", "backslashreplace", write_through=True)
    if isinstance(sys.stderr, io.TextIOWrapper):  # output is UTF-8 in every locale, like the input
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(*GC_THRESHOLD)
    try:
        code: int = _exit_code()
        out.flush()
    except OSError as error:
        if error is not out.failure:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        code = 2
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
