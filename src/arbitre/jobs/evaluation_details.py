"""The details of an evaluation, read from the folder that it was written to."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arbitre.corpus.evaluation import EVALUATION, unavailable
from arbitre.errors import DataError
from arbitre.jobs import result_files
from arbitre.language import Language
from arbitre.report.worst_documents import ALIGNMENTS, REPORT
from arbitre.storage.output_folder import output_folder
from arbitre.tables.row_file import read_rows, row_file

if TYPE_CHECKING:
    from pathlib import Path

    from arbitre.comparison.cause import CauseAnalysis
    from arbitre.comparison.coreference import CoreferenceCounts
    from arbitre.comparison.flat import FlatComparison
    from arbitre.comparison.leaf_pairs import LeafPair, Row
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.report.view import Subject
    from arbitre.tables.arrow import Frame

FILES: Final = (*result_files.FILES, ALIGNMENTS, REPORT)
"""Files of the results; files without content are not written."""


@dataclass(frozen=True, slots=True)
class SavedDetails:
    """Reads the details of an evaluation from its folder; see `arbitre.corpus.evaluation.DetailReader`."""

    streamed: bool = field(default=False, kw_only=True)
    """Whether the documents came from an iterator. Otherwise, the results were loaded or unpickled."""

    def matches(self, evaluation: Evaluation) -> Frame:
        """Return the table of entries."""
        if (file := self.row_file(evaluation, result_files.MATCHES)) is None:
            raise DataError.of(
                "The results have no table of entries", file=str(evaluation.folder), hint="Omit --no-matches."
            )
        return read_rows(file)

    def faults(self, evaluation: Evaluation) -> Frame:
        """Return the table of faults."""
        if (file := self.row_file(evaluation, result_files.FAULTS)) is None:
            raise unavailable(stored=not self.streamed)
        return read_rows(file)

    def row_file(self, evaluation: Evaluation, name: str) -> Path | None:
        """Return the file of the table of entries or of faults; None if there is none."""
        if name == result_files.FAULTS and evaluation.diagnosis is None:
            return None
        return row_file(_folder(evaluation) / name)

    def flat(self, evaluation: Evaluation) -> FlatComparison:  # noqa: ARG002  (those with documents need it)
        """Raise DataError: the documents are needed."""
        raise unavailable(stored=not self.streamed)

    def coreference(self, evaluation: Evaluation) -> dict[str, CoreferenceCounts]:  # noqa: ARG002
        """Raise DataError: the documents are needed."""
        raise unavailable(stored=not self.streamed)

    def causes(self) -> CauseAnalysis:
        """Raise DataError: the documents are needed."""
        raise unavailable(stored=not self.streamed)

    def values(self, path: str) -> tuple[list[Row], str | None]:  # noqa: ARG002
        """Raise DataError: the documents are needed."""
        raise unavailable(stored=not self.streamed)

    def leaf_pairs(self, path: str, *, normalized: bool = False) -> list[LeafPair]:  # noqa: ARG002
        """Raise DataError: the documents are needed."""
        raise unavailable(stored=not self.streamed)

    def report(self, evaluation: Evaluation, file: Path, language: str) -> None:
        """Write the report to a file."""
        from arbitre.report.report_files import view_of, write_page  # noqa: PLC0415  (loads the HTML report)

        chosen = Language.named(language)
        write_page(file, view_of([self.subject(evaluation)]), chosen, single=True)

    def subject(self, evaluation: Evaluation) -> Subject:
        """Return the evaluation as the subject of a report."""
        from arbitre.report.report_files import read_view  # noqa: PLC0415  (loads the HTML report)

        return read_view([_folder(evaluation) / EVALUATION]).subjects[0]

    def save(self, evaluation: Evaluation, folder: Path, *, lang: str | None, force: bool) -> tuple[str, ...]:
        """Write all files to a folder, unless it has them already, and return their names."""
        from arbitre.report.report_files import read_view, write_page  # noqa: PLC0415  (loads the HTML report)

        chosen = None if lang is None else Language.named(lang)
        held = evaluation.folder
        own = held is not None and folder.resolve() == held.resolve()
        if own and chosen is None and self.complete(evaluation):
            return tuple(name for name in FILES if (folder / name).exists())
        inputs = [] if held is None or own else [held]
        with output_folder(folder, FILES, "evaluation", inputs=inputs, force=force) as staging:
            names = self.write(evaluation, staging)
            if chosen is not None and REPORT in names:
                write_page(staging / REPORT, read_view([staging / EVALUATION]), chosen)
            return names

    def complete(self, evaluation: Evaluation) -> bool:
        """Return whether there is a folder, the only source of the details. Raises DataError if its results changed."""
        return evaluation.folder is not None and _folder(evaluation) == evaluation.folder

    def write(self, evaluation: Evaluation, folder: Path) -> tuple[str, ...]:
        """Write all files to a folder that is being written (see `output_folder`) and return their names."""
        saved = _folder(evaluation)
        names = tuple(name for name in FILES if (saved / name).exists())
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copyfile(saved / name, folder / name)
        return names


def details_of(evaluation: Evaluation) -> SavedDetails:
    """Return the details of an evaluation. Raises DataError if the documents are no longer available."""
    if not isinstance(evaluation.reader, SavedDetails):
        raise unavailable()
    return evaluation.reader


def is_saved(evaluation: Evaluation, *names: str) -> bool:
    """Return whether the folder of an evaluation contains these files of its results."""
    folder = evaluation.folder
    return (
        folder is not None
        and all((folder / name).exists() for name in names)
        and result_files.holds(folder, evaluation)
    )


def _folder(evaluation: Evaluation) -> Path:
    """Return the folder of the results. Raises DataError if it does not contain them any more."""
    if evaluation.folder is None:
        raise unavailable()
    if not is_saved(evaluation):
        raise DataError.of(
            "The folder no longer contains these results",
            file=str(evaluation.folder),
            hint="Load or evaluate again.",
        )
    return evaluation.folder
