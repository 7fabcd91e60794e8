"""`arbitre config`: print the config file that commands use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from arbitre.cli.config_defaults import config_settings
from arbitre.cli.output.console import OutputOptions
from arbitre.config import NAME, Config
from arbitre.parsing.fast_json import compact
from arbitre.tables.table import Table, columns
from arbitre.tables.terminal import render

if TYPE_CHECKING:
    from arbitre.values import Json


def show(*, file: str | None, command: str | None, output: OutputOptions) -> None:
    """Print the config file that commands use from this folder, or the options of one command."""
    screen = output.terminal()
    config = Config.find() if file is None else Config.load(file)
    if config is None:
        screen.error(f"No {NAME} in this folder or above it. `arbitre init` writes one.", "note")
        raise typer.Exit(1)
    settings: dict[str, Json] = dict(config.rows() if command is None else config_settings(command, config))
    if screen.as_json:
        screen.json({"file": str(config.path), "settings": settings})
        return
    if screen.as_tables:
        rows = ((name, compact(value)) for name, value in settings.items())
        screen.show([render(Table.of("Settings", columns("setting", "value"), rows), screen.width)])
        return
    screen.verbatim(f"# {config.path}", *(f"{name} = {compact(value)}" for name, value in settings.items()))
