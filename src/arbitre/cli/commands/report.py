"""`arbitre report`: regenerate the report of saved evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.shared_options import Keep, TerminalOptions
from arbitre.report.documents.worst_documents import ALIGNMENTS
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
    keep: Keep = None,
    output: TerminalOptions,
) -> None:
    """Regenerate the HTML report of an evaluation, in English or French.

    The report is one self-contained HTML page.
    """
    if out is None and len(evaluations) > 1:
        raise typer.BadParameter("--out is required for the report of several evaluations.")
    file = evaluations[0].with_name(REPORT) if out is None else out
    view = read_view(evaluations, keep=keep)
    if not view.subjects:
        raise typer.BadParameter("factors.json needs its evaluation: add evaluation/evaluation.json.")
    write_page(file, view, lang)
    screen = output.terminal()
    screen.note(f"Wrote {file.as_posix()}")
    for one in view.subjects:
        if keep is not None and len(one.explorer) < min(keep, one.documents):
            screen.note(
                f"{one.name or file.name}: {ALIGNMENTS} has only {len(one.explorer)} of {one.documents} documents. "
                f"Evaluate again with --keep {keep} to show more."
            )
