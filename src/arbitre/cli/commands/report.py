"""`arbitre report`: the report of evaluations that were written before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.options import NoColor, Quiet  # noqa: TC001  (typer reads annotations)
from arbitre.cli.output.console import Terminal
from arbitre.report.html.language import Language
from arbitre.report.report_files import REPORT, read_view, write_page

Evaluations = Annotated[
    list[Path],
    typer.Argument(
        metavar="EVALUATION.json",
        help="What `arbitre evaluate --out` wrote, several compared, named by folder; and factors.json of `rank`.",
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="The page; report.html beside the evaluation.")]
Lang = Annotated[Language, typer.Option("--lang", help="The language of the page.")]


def report(
    evaluations: Evaluations,
    *,
    out: Out = None,
    lang: Lang = Language.EN,
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Write the HTML report of an evaluation again, in English or French.

    The report is one self-contained HTML page.
    """
    screen = Terminal.create(plain=no_color, quiet=quiet)
    if out is None and len(evaluations) > 1:
        raise typer.BadParameter("Expected --out to say where the page of several evaluations goes.")
    file = evaluations[0].with_name(REPORT) if out is None else out
    view = read_view(evaluations)
    if not view.subjects:
        raise typer.BadParameter(
            "Expected an evaluation, got factors alone: give evaluation/evaluation.json with them."
        )
    write_page(file, view, lang)
    screen.note(f"wrote {file.as_posix()}")
