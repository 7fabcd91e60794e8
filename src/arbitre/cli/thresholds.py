"""The options `--fail-under` and `--fail-over`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import typer

from arbitre.cli.output.console import Terminal
from arbitre.corpus.results.gates import Gate, Missed
from arbitre.errors import OptionError


def under(text: str) -> Gate:
    """Parse the value of `--fail-under`. Raises typer.BadParameter if it is invalid."""
    return _parsed(text, over=False)


def over(text: str) -> Gate:
    """Parse the value of `--fail-over`. Raises typer.BadParameter if it is invalid."""
    return _parsed(text, over=True)


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Bounds on scores."""

    fail_under: Sequence[Gate]
    fail_over: Sequence[Gate]

    @property
    def gates(self) -> tuple[Gate, ...]:
        return (*self.fail_under, *self.fail_over)


def close(screen: Terminal, missed: Iterable[Missed]) -> int:
    """Print the gates that were not met and return the exit code."""
    not_met = list(missed)
    for gate in not_met:
        screen.error(str(gate), "not met")
    return int(bool(not_met))


def _parsed(text: str, *, over: bool) -> Gate:
    try:
        return Gate.parse(text, over=over)
    except OptionError as error:
        raise typer.BadParameter(" ".join(filter(None, (f"{error.message}.", error.problems[0].hint)))) from error
