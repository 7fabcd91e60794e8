"""The files of the report of an evaluation."""

from __future__ import annotations

from typing import Final

from arbitre.report.documents.worst_documents import ALIGNMENTS

REPORT: Final = "report.html"
FILES: Final = (ALIGNMENTS, REPORT)
