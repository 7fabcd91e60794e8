"""`arbitre report`: regenerate the report of saved evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.output.console import counted
from arbitre.cli.shared_options import Keep, Lang, TerminalOptions
from arbitre.report.documents.worst_documents import ALIGNMENTS
from arbitre.report.html.language import Language
from arbitre.report.report_files import REPORT, read_view, write_page

Evaluations = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESULTS",
        help="A folder written by `arbitre rank --out` or `arbitre evaluate --out`, or its ranking.json, factors.json "
        "or evaluation.json. Several evaluations are compared, named by folder.",
    ),
]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File for the report. Default: report.html beside the results.")
]


def report(
    evaluations: Evaluations,
    *,
    out: Out = None,
    lang: Lang = Language.EN,
    keep: Keep = None,
    output: TerminalOptions,
) -> None:
    """Regenerate the HTML report of an evaluation or a ranking, in English or French.

    The report is one self-contained HTML page.
    """
    if out is None and len(evaluations) > 1:
        raise typer.BadParameter("--out is required for the report of several evaluations.")
    first = evaluations[0]
    file = out or (first / REPORT if first.is_dir() else first.with_name(REPORT))
    view = read_view(evaluations, keep=keep)
    if not view.subjects:
        raise typer.BadParameter("factors.json needs its evaluation: add evaluation/evaluation.json.")
    write_page(file, view, lang)
    screen = output.terminal()
    screen.note(f"Wrote {file.as_posix()}")
    for one in view.subjects:
        if keep is not None and len(one.explorer) < min(keep, one.documents):
            screen.note(
                f"{one.name or file.name}: {ALIGNMENTS} has only {len(one.explorer)} of "
                f"{counted(one.documents, 'document')}. "
                f"Evaluate again with --keep {keep} to show more."
            )
