"""`arbitre init`: write a config file for the files in a folder."""

from __future__ import annotations

from pathlib import Path

from arbitre.cli.output.console import Terminal
from arbitre.comparator.new_config import init_config
from arbitre.language import counted


def init(*, folder: Path, force: bool, no_color: bool, quiet: bool) -> None:
    """Write arbitre.toml for the files in a folder."""
    screen = Terminal.create(plain=no_color, quiet=quiet)
    new = init_config(folder, force=force)
    how = "inferred from gold" if new.inferred is not None else "found"
    systems = [f"system {name}: {path.as_posix()}" for name, path in new.systems.items()]
    options = [f"option {name}: {value}" for name, value in new.options.items()]
    screen.verbatim(f"Wrote {new.path.as_posix()}", f"gold: {new.gold.as_posix()}")
    screen.verbatim(f"schema: {new.schema.as_posix()} ({how})", *systems, *options)
    for note in new.notes:
        screen.note(note)
    if new.inferred is not None and new.inferred.advice:
        advice = counted(len(new.inferred.advice), "piece")
        screen.note(f"There is advice on the schema ({advice}): `arbitre schema check` prints it.")
    command = "evaluate" if len(new.systems) == 1 else "rank"
    screen.note(
        f"Next: arbitre {command}"
        if new.systems
        else "No predictions were found. Name them under [systems], then run `arbitre evaluate`."
    )
