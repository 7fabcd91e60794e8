"""The options `--fail-under` and `--fail-over`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import typer

from arbitre.cli.output.console import Terminal
from arbitre.corpus.results.gates import Gate, Missed
from arbitre.errors import DataError


def under(text: str) -> Gate:
    """Parse the value of `--fail-under`. Raises typer.BadParameter if it is invalid."""
    return _parsed(text, over=False)


def over(text: str) -> Gate:
    """Parse the value of `--fail-over`. Raises typer.BadParameter if it is invalid."""
    return _parsed(text, over=True)


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Bounds on scores."""

    fail_under: Annotated[
        list[Gate] | None,
        typer.Option(
            metavar="SCORE=VALUE",
            parser=under,
            help="Exit with code 1 if a score is below a value: f1q=0.9, macro.f1q=0.9, leaves.f1q=0.9, "
            "document_quality=0.9, fq(2)=0.8, /entries/*/name:irq=0.8. May be repeated.",
        ),
    ] = None
    fail_over: Annotated[
        list[Gate] | None,
        typer.Option(
            metavar="SCORE=VALUE",
            parser=over,
            help="Exit with code 1 if a value is exceeded: failed=0, variance=0.1. May be repeated.",
        ),
    ] = None

    @property
    def gates(self) -> tuple[Gate, ...]:
        return (*(self.fail_under or ()), *(self.fail_over or ()))


def close(screen: Terminal, missed: Iterable[Missed]) -> int:
    """Print the gates that were not met and return the exit code."""
    not_met = list(missed)
    for gate in not_met:
        screen.error(str(gate), "not met")
    return int(bool(not_met))


def _parsed(text: str, *, over: bool) -> Gate:
    try:
        return Gate.parse(text, over=over)
    except DataError as error:
        raise typer.BadParameter(" ".join(filter(None, (f"{error.message}.", error.problems[0].hint)))) from error
