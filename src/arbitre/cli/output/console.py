"""Where things are printed: results on standard output, all that is said about them on standard error."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from arbitre.report.text_files import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from arbitre.values import Json


class _Console(Console):
    """A console whose reader may go away, as `head` does: the rest is dropped, the exit code stays what it is."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


@dataclass(frozen=True, slots=True)
class Terminal:
    """Standard output and standard error, as the options want them."""

    out: Console
    err: Console
    quiet: bool

    @classmethod
    def create(cls, *, plain: bool = False, quiet: bool = False) -> Terminal:
        """`plain` prints no escape codes; `quiet` leaves JSON and errors."""
        return cls(_console(plain=plain), _console(plain=plain, stderr=True), quiet)

    @property
    def width(self) -> int:
        return self.out.width

    def show(self, blocks: Iterable[RenderableType]) -> None:
        """Print one block under the other, an empty line between them."""
        if not self.quiet:
            for number, block in enumerate(blocks):
                if number:
                    self.out.print()
                self.out.print(block)

    def json(self, value: Json) -> None:
        """Print one JSON document, byte for byte as it would be written."""
        try:
            self.out.file.write(json_text(value))
            self.out.file.flush()
        except BrokenPipeError:
            self.out.on_broken_pipe()

    def verbatim(self, *lines: str) -> None:
        """Lines that are never broken, to be copied."""
        if not self.quiet:
            for line in lines:
                self.out.print(line, soft_wrap=True)

    def note(self, text: str) -> None:
        """Say something that is no result and no error."""
        if not self.quiet:
            self.err.print(Text(text, style="dim"), soft_wrap=True)

    def error(self, text: str, label: str = "error") -> None:
        self.err.print(Text.assemble((f"{label}: ", "bold red"), text), soft_wrap=True)


def titled(title: str, block: RenderableType) -> Group:
    """A block under its title."""
    return Group(Text(title, style="bold"), block)


def _console(*, plain: bool, stderr: bool = False) -> Console:
    """A console that takes text as it is."""
    return _Console(stderr=stderr, color_system=None if plain else "auto", markup=False, emoji=False, highlight=False)
