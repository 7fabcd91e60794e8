"""`arbitre figures`: figures for publications."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.options import Plain, Quiet  # noqa: TC001  (typer reads annotations)
from arbitre.cli.report import Evaluations, Lang  # noqa: TC001
from arbitre.cli.screen import Screen
from arbitre.report.figures import write_figures
from arbitre.report.files import read_view
from arbitre.report.language import Language

Out = Annotated[Path, typer.Option(metavar="DIR", help="Where the figures go.")]


def figures(
    evaluations: Evaluations,
    *,
    out: Out,
    lang: Lang = Language.EN,
    no_color: Plain = False,
    quiet: Quiet = False,
) -> None:
    """Draw the figures of an evaluation as SVG, PDF and PNG.

    Each figure comes with its Vega-Lite specification, which you can edit and draw again.
    """
    screen = Screen.of(plain=no_color, quiet=quiet)
    files = write_figures(out, read_view(evaluations), lang)
    screen.note(f"wrote {', '.join(files)} into {out.as_posix()}")
