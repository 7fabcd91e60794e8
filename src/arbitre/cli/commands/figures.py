"""`arbitre figures`: draw figures for publications."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.commands.report import Evaluations
from arbitre.cli.shared_options import Force, Lang, TerminalOptions
from arbitre.report.html.language import Language
from arbitre.report.saved_results import write_figures

Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures.")]


def figures(
    evaluations: Evaluations,
    *,
    out: Out,
    lang: Lang = Language.EN,
    force: Force = False,
    output: TerminalOptions,
) -> None:
    """Draw the figures of an evaluation or a ranking as SVG, PDF and PNG.

    Each figure comes with its Vega-Lite specification, which you can edit and render yourself.
    """
    output.terminal().wrote(write_figures(evaluations, out, lang=lang, force=force), out)
