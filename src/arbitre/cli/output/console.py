"""Printing: results to standard output, notes and errors to standard error."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.text import Text

from arbitre.language import ENGLISH, Language, Translator
from arbitre.parsing.fast_json import json_text
from arbitre.storage.output_folder import output_path, renamed
from arbitre.tables.terminal import ShownTable, escape_hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from arbitre.values import Json


PIPE_WIDTH: Final = 240
"""Width of output that goes to a file or a pipe; no table of arbitre is wider."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Standard output and standard error, configured by the command-line options."""

    out: Console
    err: Console
    quiet: bool
    output: str = "text"
    say: Translator = ENGLISH

    @classmethod
    def create(
        cls, *, plain: bool = False, quiet: bool = False, output: str = "text", lang: str = Language.EN
    ) -> Terminal:
        """Create a terminal.

        Args:
            plain: Print no escape codes.
            quiet: Print only JSON and errors.
            output: Format of the results: text, json, csv or markdown.
            lang: Language of the results.
        """
        say = Translator(Language.named(lang), plain=output == "text")
        return cls(_console(plain=plain), _console(plain=plain, stderr=True), quiet, output, say)

    @property
    def as_json(self) -> bool:
        """Whether results are printed as JSON."""
        return self.output == "json"

    @property
    def as_tables(self) -> bool:
        """Whether results are printed as tables for other programs: CSV or Markdown."""
        return self.output in {"csv", "markdown"}

    @property
    def width(self) -> int:
        return self.out.width

    def result(self, plain: Callable[[], Json], blocks: Callable[[int], Iterable[RenderableType]]) -> None:
        """Print a result in the chosen format.

        Args:
            plain: Returns the result as JSON.
            blocks: Returns the result as text for a width.
        """
        if self.as_json:
            self.json(plain())
        else:
            self.show(blocks(self.width))

    def destination(self, out: Path | None, *, inputs: Iterable[str | Path] = (), force: bool) -> Path | None:
        """Return the path that a single file is written to, and say so if it is not `out`; see `output_path`."""
        path = out if out is None else output_path(out, inputs=inputs, force=force)
        if out is not None and path is not None and path != out:
            self.error(renamed(out, path), "note")
        return path

    def wrote(self, files: Iterable[str], folder: Path) -> None:
        """Print a note with the names of the files written to a folder, and the path of the report among them."""
        names = list(files)
        self.note(f"Wrote {', '.join(names)} to {folder.as_posix()}")
        for name in names:
            if name.endswith(".html"):
                self.note(f"Open the report in a browser: {(folder / name).as_posix()}")

    def show(self, blocks: Iterable[RenderableType]) -> None:
        """Print the blocks, separated by empty lines; as CSV, only their tables, with all rows and columns."""
        if self.as_tables:
            self.raw("\n".join(_as_csv(blocks) if self.output == "csv" else _as_markdown(blocks, self.say)))
        elif not self.quiet:
            for number, block in enumerate(blocks):
                if number:
                    self.out.print()
                self.out.print(_translated(block, self.say))

    def json(self, value: Json) -> None:
        """Print one JSON document, with the same bytes as in a file."""
        self.raw(json_text(value))

    def raw(self, text: str) -> None:
        """Print a text unchanged, even if `quiet`."""
        self.out.file.write(text)
        self.out.file.flush()

    def verbatim(self, *lines: str) -> None:
        """Print lines without wrapping, so that they can be copied."""
        if not self.quiet and self.output != "csv":
            for line in lines:
                self.out.print(self.say.text(line), soft_wrap=True)

    def note(self, text: str) -> None:
        """Print a note to standard error."""
        if not self.quiet:
            self.err.print(Text(self.say.text(text), style="dim"), soft_wrap=True)

    def error(self, text: str, label: str = "error") -> None:
        """Print a message to standard error, even if `quiet`."""
        self.err.print(Text.assemble((f"{label}: ", "bold red"), text), soft_wrap=True)


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options for the output and its format."""

    output: str = "text"
    no_color: bool = False
    quiet: bool = False
    lang: str = Language.EN

    def terminal(self, lang: str | None = None) -> Terminal:
        """Return standard output and standard error, for results in the language `lang` (default: the option)."""
        chosen = self.lang if lang is None else lang
        return Terminal.create(plain=self.no_color, quiet=self.quiet, output=self.output, lang=chosen)


def _as_csv(blocks: Iterable[RenderableType]) -> Iterator[str]:
    """Yield the tables among the blocks as CSV; if there are several, each after its title."""
    tables = [block.table for block in _leaves(blocks) if isinstance(block, ShownTable)]
    yield from (f"{table.title}\n{table.csv()}" if len(tables) > 1 and table.title else table.csv() for table in tables)


def _as_markdown(blocks: Iterable[RenderableType], say: Translator) -> Iterator[str]:
    """Yield the tables and the texts among the blocks as Markdown, in a language."""
    for block in _leaves(blocks):
        if isinstance(block, ShownTable):
            title, *notes = map(say.text, (block.table.title, *block.table.notes))
            head = f"**{title}**\n\n" if title else ""
            yield head + block.table.markdown(lang=say.language) + "".join(f"\n{note}\n" for note in notes)
        elif isinstance(block, Text):
            yield f"{_translated_text(block, say).plain.strip()}\n"


def _translated(block: RenderableType, say: Translator) -> RenderableType:
    """Return a block with its tables and texts translated."""
    if isinstance(block, ShownTable):
        return replace(block, say=say)
    if say.language is Language.EN:
        return block
    if isinstance(block, Group):
        return Group(*(_translated(part, say) for part in block.renderables))
    return _translated_text(block, say) if isinstance(block, Text) else block


def _translated_text(text: Text, say: Translator) -> Text:
    """Return a text in a language: each part of a line that has one style is translated by itself."""
    if say.language is Language.EN:
        return text
    lines = []
    for line in text.split("\n", allow_blank=True):
        ends = {end for span in line.spans for end in (span.start, span.end)}
        parts = line.divide(sorted(ends - {0, len(line)}))
        said = ((say.text(part.plain), part.spans[0].style if part.spans else "") for part in parts)
        lines.append(Text.assemble(*said, style=text.style))
    return Text("\n").join(lines)


def _leaves(blocks: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """Yield the blocks, with groups replaced by their parts."""
    for block in blocks:
        if isinstance(block, Group):
            yield from _leaves(block.renderables)
        else:
            yield block


def titled(title: str, block: RenderableType) -> Group:
    """Return a block with a title above it."""
    return Group(Text(title, style="bold"), block)


def caveats(notes: Sequence[str]) -> Iterator[Group]:
    """Yield the block of the caveats, if there are any."""
    if notes:
        yield titled("Caveats", Text("\n".join(f"- {escape_hidden(note)}" for note in notes)))


def _console(*, plain: bool, stderr: bool = False) -> Console:
    """Create a console that prints text without markup, emoji codes or highlighting.

    Files and pipes have no width: nothing is left out of a table, unless COLUMNS says how wide they are.
    """
    console = Console(stderr=stderr, color_system=None if plain else "auto", markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = shutil.get_terminal_size((PIPE_WIDTH, 0)).columns
    return console
