"""`arbitre figures`: draw figures for publications."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.commands.report import Evaluations, Lang  # noqa: TC001
from arbitre.cli.output.console import Terminal
from arbitre.cli.shared_options import NoColor, Quiet  # noqa: TC001  (typer reads annotations)
from arbitre.report.figures.specifications import write_figures
from arbitre.report.html.language import Language
from arbitre.report.report_files import read_view

Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures.")]


def figures(
    evaluations: Evaluations,
    *,
    out: Out,
    lang: Lang = Language.EN,
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Draw the figures of an evaluation as SVG, PDF and PNG.

    Each figure comes with its Vega-Lite specification, which you can edit and render yourself.
    """
    screen = Terminal.create(plain=no_color, quiet=quiet)
    files = write_figures(out, read_view(evaluations), lang)
    screen.note(f"Wrote {', '.join(files)} to {out.as_posix()}")
