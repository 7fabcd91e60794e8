"""The files of the report of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from arbitre.report.documents.worst_documents import ALIGNMENTS

if TYPE_CHECKING:
    from pathlib import Path

REPORT: Final = "report.html"
FILES: Final = (ALIGNMENTS, REPORT)


def remove_report(folder: Path) -> None:
    """Remove the report of an earlier evaluation, which would not match the results in the folder."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
