"""Write what is declared in the code into the reference and the Python interface.

python docs/make_reference.py

Writes the tables of options in `reference/commands.md` from `arbitre.options`, the table of the kinds of causes in
`reference/causes.md`, and the attributes between `# from arbitre.options: GROUPS` and `# end of the options` in the modules of
`MODULES`.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args, get_origin

from arbitre import options
from arbitre.cli.commands import DECLARATIONS
from arbitre.comparison.cause import KINDS
from arbitre.options import REQUIRED, options_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.options import Option

ROOT: Final = Path(__file__).resolve().parents[1]
REFERENCE: Final = Path(__file__).with_name("reference")
COMMANDS: Final = REFERENCE / "commands.md"
CAUSES: Final = REFERENCE / "causes.md"
SOURCE: Final = ROOT / "src" / "arbitre"
BLOCK: Final = re.compile(r"( +)# from arbitre\.options: (.+)\n(?:.*\n)*?\1# end of the options\n")
WIDTH: Final = 120
INTRODUCTION: Final = "demo"
"""Command whose options are described again at the next command, because others refer to that one."""
SHARED_AFTER: Final = 2
"""Minimum number of options of an earlier command that are listed in one row, with a reference to that command."""


def commands(page: str) -> str:
    """Return the page of the commands with its tables of options regenerated."""
    sections = re.split(r"(?m)^(?=## )", page)
    earlier: dict[Option, str] = {}
    for at, section in enumerate(sections):
        words = re.match(r"## arbitre (.+)\n", section)
        if words and words[1] in DECLARATIONS:
            table = "\n".join(["| option | meaning |", "|---|---|", *_rows(words[1], earlier)]) + "\n"
            sections[at] = re.sub(r"\| option \| meaning \|\n(\|.*\n)*", lambda _, made=table: made, section)
    return "".join(sections)


def _rows(words: str, earlier: dict[Option, str]) -> Iterator[str]:
    """Yield the rows of a command. Options that an earlier command also has are in one row with its name."""
    same: dict[str, list[Option]] = defaultdict(list)
    for option in options_of(DECLARATIONS[words]):
        if not option.positional:
            shared = replace(option, group="")
            same[earlier.get(shared, words)].append(option)
            if words != INTRODUCTION:
                earlier.setdefault(shared, words)
    for other, shared in same.items():
        if other == words or len(shared) < SHARED_AFTER:
            yield from (f"| {_names(option)} | {_meaning(option)} |" for option in shared)
    for other, shared in same.items():
        if other != words and len(shared) >= SHARED_AFTER:
            link = f"[`{other}`](#arbitre-{other.replace(' ', '-')})"
            yield f"| {', '.join(map(_names, shared))} | as for {link} |"


def _names(option: Option) -> str:
    return ", ".join(f"`{name}`" for name in option.names)


def _meaning(option: Option) -> str:
    """Return the help of an option as Markdown, with its values, its default and what the reference adds."""
    text = "".join(
        part if part.startswith("`") else re.sub(r"([*|]|<(?=\w))", r"\\\1", re.sub(r"(--[a-z][a-z-]*)", r"`\1`", part))
        for part in re.split(r"(`[^`]*`)", option.help)
    )
    values = [str(value) for value in get_args(option.type)] if get_origin(option.type) is Literal else []
    if values:
        text += f" Values: {', '.join(f'`{value}`' + ' (default)' * (value == option.default) for value in values)}."
    elif option.default is REQUIRED:
        text += " Required."
    elif option.default not in {None, ()} and option.type is not bool:
        default = f"{option.default:,}" if isinstance(option.default, int) else f"{option.default}"
        text += f" Default: `{default}`."
    return _linked(f"{text} {option.more}".rstrip())


def _linked(text: str) -> str:
    """Return Markdown with its links, which are relative to `docs/` in the code, relative to `docs/reference/`."""
    return re.sub(r"\]\((reference/)?(?=[\w/-]+\.md)", lambda found: "](" if found[1] else "](../", text)


def kinds_of_causes(page: str) -> str:
    """Return the page with the table of the kinds of causes regenerated."""
    head = ("kind", "what is seen", "how it is found", "gain of", "what to do")
    rows = ((f"`{name}`", kind.seen, kind.found, kind.gain, kind.todo) for name, kind in KINDS.items())
    table = "".join(f"| {' | '.join(map(_linked, cells))} |\n" for cells in (head, ["---"] * len(head), *rows))
    above = r"(## Kinds of causes\n(?:(?:[^|#\n].*)?\n)*)"
    return re.sub(rf"{above}(?:\|.*\n)+", lambda found: found[1] + table, page)


def module(text: str) -> str:
    """Return the source of a module with its blocks of options regenerated."""
    return BLOCK.sub(lambda found: _block(text, found), text)


def _block(text: str, found: re.Match[str]) -> str:
    indent, groups = found[1], found[2]
    names, _, left_out = groups.partition(" without ")
    declared = options_of(*(getattr(options, name) for name in names.split(", ")))
    head = text[: found.start()].rpartition("\nclass ")[2].partition(":\n")[0]
    values = "Keywords" not in head
    lines = [f"{indent}# from arbitre.options: {groups}"]
    for option in declared:
        if option.name not in left_out.split(", "):
            lines += [indent + _attribute(option, values=values), *_docstring(option, indent)]
    return "\n".join([*lines, f"{indent}# end of the options\n"])


def _attribute(option: Option, *, values: bool) -> str:
    """Return an attribute; with `values`, with its default."""
    kind = option.annotation
    if not values:
        return f"{option.name}: {kind}"
    return f"{option.name}: {option.field or f'{kind} = {_value(option.default)}'}"


def _value(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _docstring(option: Option, indent: str) -> list[str]:
    """Return the help of an option as a docstring, with the names of options as in Python."""
    text = re.sub(r"(?<![`\w])--([a-z][a-z-]*)", lambda name: f"`{name[1].replace('-', '_')}`", option.help)
    text = text.removesuffix(" May be repeated.")
    text = text.replace("Default:", "None:") if option.default is None else text
    lines = textwrap.wrap(f'"""{text}', WIDTH - len(indent) - 3, break_on_hyphens=False)
    return [indent + line for line in [*lines[:-1], lines[-1] + '"""']]


def modules() -> Iterator[Path]:
    """Yield the modules that contain options."""
    return (file for file in sorted(SOURCE.rglob("*.py")) if BLOCK.search(file.read_text(encoding="utf-8")))


PAGES: Final = {COMMANDS: commands, CAUSES: kinds_of_causes}
"""The pages with generated parts, with the functions that return them regenerated."""

if __name__ == "__main__":
    for page, change in PAGES.items():
        page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")
    for file in modules():
        file.write_text(module(file.read_text(encoding="utf-8")), encoding="utf-8")
