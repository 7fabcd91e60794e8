"""`arbitre report`: regenerate the report of saved evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbitre.cli.shared_options import Force, Keep, Lang, TerminalOptions
from arbitre.report.html.language import Language
from arbitre.report.saved_results import report_file, write_report

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
    force: Force = False,
    output: TerminalOptions,
) -> None:
    """Regenerate the HTML report of an evaluation or a ranking, in English or French.

    The report is one self-contained HTML page.
    """
    screen = output.terminal()
    file = screen.destination(out or report_file(evaluations), force=force)
    written = write_report(evaluations, file, lang=lang, keep=keep)
    screen.note(f"Wrote {written.file.as_posix()}")
    for note in written.notes:
        screen.note(note.replace("`keep`", "--keep"))
