"""`arbitre figures`: draw figures for publications."""

from __future__ import annotations

import warnings
from pathlib import Path

from arbitre.cli.output.console import OutputOptions
from arbitre.jobs.saved_results import write_figures
from arbitre.options import FigureWidth, LanguageName


def figures(
    *,
    evaluations: list[Path],
    out: Path,
    lang: LanguageName,
    width: FigureWidth,
    force: bool,
    output: OutputOptions,
) -> None:
    """Draw the figures of an evaluation or a ranking as SVG, PDF and PNG."""
    screen = output.terminal(lang)
    with warnings.catch_warnings(record=True, action="always", category=UserWarning) as notes:
        names = write_figures(evaluations, out, lang=lang, width=width, force=force)
    screen.wrote(names, out)
    for note in notes:
        screen.note(str(note.message))
