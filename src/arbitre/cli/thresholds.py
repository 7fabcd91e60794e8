"""Gates on the command line: the parsers of `--fail-under` and `--fail-over`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from arbitre.corpus.results.gates import Gate
from arbitre.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.cli.output.console import Terminal
    from arbitre.corpus.results.gates import Missed


def under(text: str) -> Gate:
    """A lower bound. Raises typer.BadParameter."""
    return _parsed(text, over=False)


def over(text: str) -> Gate:
    """An upper bound. Raises typer.BadParameter."""
    return _parsed(text, over=True)


def close(screen: Terminal, missed: Iterable[Missed]) -> int:
    """Print the gates that are missed; the exit code."""
    found = list(missed)
    for one in found:
        screen.error(str(one), "not met")
    return int(bool(found))


def _parsed(text: str, *, over: bool) -> Gate:
    try:
        return Gate.parse(text, over=over)
    except DataError as error:
        raise typer.BadParameter(" ".join(filter(None, (f"{error.message}.", error.problems[0].hint)))) from error
