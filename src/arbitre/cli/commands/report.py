"""`arbitre report`: regenerate the report of saved evaluations."""

from __future__ import annotations

from pathlib import Path

from arbitre.cli.output.console import OutputOptions
from arbitre.jobs.saved_results import report_file, write_report
from arbitre.options import LanguageName


def report(
    *,
    evaluations: list[Path],
    out: Path | None,
    lang: LanguageName,
    keep: int | None,
    force: bool,
    output: OutputOptions,
) -> None:
    """Regenerate the HTML report of an evaluation or a ranking, in English or French."""
    screen = output.terminal(lang)
    file = screen.destination(out or report_file(evaluations), force=force)
    written = write_report(evaluations, file, lang=lang, keep=keep)
    screen.note(f"Wrote {written.file.as_posix()}")
    for note in written.notes:
        screen.note(note.replace("`keep`", "--keep"))
