"""`arbitre report`: regenerate the report of saved evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.shared_options import TerminalOptions
from arbitre.report.html.language import Language
from arbitre.report.report_files import REPORT, read_view, write_page

Evaluations = Annotated[
    list[Path],
    typer.Argument(
        metavar="EVALUATION.json",
        help="evaluation.json files from `arbitre evaluate --out` (several are compared, named by folder), and "
        "factors.json from `arbitre rank`.",
    ),
]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File for the report. Default: report.html beside the evaluation.")
]
Lang = Annotated[Language, typer.Option("--lang", help="Language of the report.")]


def report(
    evaluations: Evaluations,
    *,
    out: Out = None,
    lang: Lang = Language.EN,
    output: TerminalOptions,
) -> None:
    """Regenerate the HTML report of an evaluation, in English or French.

    The report is one self-contained HTML page.
    """
    if out is None and len(evaluations) > 1:
        raise typer.BadParameter("--out is required for the report of several evaluations.")
    file = evaluations[0].with_name(REPORT) if out is None else out
    view = read_view(evaluations)
    if not view.subjects:
        raise typer.BadParameter("factors.json needs its evaluation: add evaluation/evaluation.json.")
    write_page(file, view, lang)
    output.terminal().note(f"Wrote {file.as_posix()}")
