"""Loads results from the folder that they were written to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from arbitre.corpus.archive import RESULTS, read_archive
from arbitre.corpus.evaluation import EVALUATION, Evaluation, extend
from arbitre.errors import DataError, OptionError, did_you_mean
from arbitre.jobs.evaluation_details import FILES, SavedDetails, details_of, is_saved
from arbitre.language import Language
from arbitre.options import FigureWidth
from arbitre.report import figures
from arbitre.report.report_files import RANKING, read_view, write_page
from arbitre.report.worst_documents import ALIGNMENTS, REPORT
from arbitre.schema.validate import read_valid
from arbitre.storage.output_folder import check_output_folder, destination
from arbitre.systems.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arbitre.report.view import Subject


Results = str | Path | Evaluation | Sequence[str | Path | Evaluation] | Mapping[str, str | Path | Evaluation]
"""Folders or files of results, as `arbitre report` takes them, or evaluations; in a dictionary, by name."""


def load(folder: str | Path) -> Evaluation | Ranking:
    """Load results from a folder written by `Evaluation.save`, `arbitre evaluate` or `arbitre rank`.

    All numbers are identical to the original ones. Intervals and tests can be computed from the loaded results.

    Args:
        folder: Folder of the results.

    Returns:
        An evaluation or, if the folder contains a ranking, the ranking.

    Raises:
        DataError: The folder contains no results, they cannot be read, or its `results.npz` and `evaluation.json` do
            not belong together.
    """
    folder = Path(folder)
    if os.path.exists(folder / RESULTS):  # noqa: PTH110  (before Python 3.14, Path.exists raises if the name is too long)
        found = read_archive(folder / RESULTS, folder / EVALUATION)
        files = tuple(name for name in FILES if (folder / name).exists())
        return extend(Evaluation, found, folder=folder, files=files, reader=SavedDetails())
    if not os.path.exists(file := folder / RANKING):  # noqa: PTH110
        raise DataError.of(
            f"Expected a folder with {RESULTS} or {RANKING}",
            file=str(folder),
            hint="Write the results with `save`, or with the option --out.",
        )
    try:
        return Ranking.from_dict(read_valid(file, "ranking"))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError.of(
            f"Expected a ranking, got {type(error).__name__}: {error}",
            file=str(file),
            hint="Rank again with this version of arbitre.",
        ) from error


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The file of a report, with notes on the documents that it could not show."""

    file: Path
    notes: tuple[str, ...] = ()


def write_report(
    results: Results,
    out: str | Path | None = None,
    *,
    lang: str = "en",
    keep: int | None = None,
    force: bool = False,
) -> WrittenReport:
    """Write an HTML report of results, as `arbitre report` does.

    Args:
        results: An evaluation or several; or folders of `evaluate --out` or `rank --out`, or their `evaluation.json`,
            `ranking.json` and `factors.json`. Several evaluations are compared. They are named after their folders
            or, in a dictionary, by its keys.
        out: File of the report; by default `report.html` beside the results.
        lang: "en" or "fr".
        keep: Maximum number of documents to show entry by entry, for each system; None for all that were kept.
        force: If `out` is a file that arbitre did not write, write to a new file beside it.

    Returns:
        The file, with notes if fewer documents than `keep` are available.

    Raises:
        OptionError: There are no results, `out` is missing, or the language is unknown.
        DataError: Results cannot be read or do not belong together, or the file cannot be written or is not one that
            arbitre wrote.
    """
    language, (sources, names) = Language.named(lang), _sources(results)
    out = report_file(sources) if out is None else Path(out)
    target = destination(out, inputs=_folders(sources), force=force) or out
    view = read_view(_subjects(sources), names, keep=keep, folder=target.parent)
    if not view.subjects:
        raise OptionError.of("factors.json needs its evaluation: add evaluation/evaluation.json.")
    write_page(target, view, language, single=True)
    short = (
        ()
        if keep is None
        else [subject for subject in view.subjects if len(subject.explorer) < min(keep, subject.documents)]
    )
    notes = (
        f"{subject.name or target.name}: {ALIGNMENTS} has only {len(subject.explorer)} of {subject.documents} "
        f"document{'s' * (subject.documents > 1)}. Evaluate again with `keep` {keep} to show more."
        for subject in short
    )
    return WrittenReport(target, tuple(notes))


def report_file(sources: Sequence[str | Path | Evaluation]) -> Path:
    """Return the file of a report beside its results. Raises OptionError if there are several evaluations."""
    if len(sources) > 1 or isinstance(sources[0], Evaluation):
        raise OptionError.of("`out` is required for the report of several evaluations, or of one in memory.")
    first = Path(sources[0])
    return first / REPORT if first.is_dir() else first.with_name(REPORT)


def write_figures(
    results: Results, out: str | Path, *, lang: str = "en", width: FigureWidth = "both", force: bool = False
) -> tuple[str, ...]:
    """Draw figures of results as SVG, PDF and PNG files, as `arbitre figures` does. Requires the extra `report`.

    Warns if figures contain characters that are in no font: PDF and PNG files show boxes instead.

    Args:
        results: As for `write_report`; also a `factors.json` alone.
        out: Folder of the figures: new, empty, or with earlier figures.
        lang: "en" or "fr".
        width: "column" (85 mm), "page" (178 mm) or "both".
        force: Whether to write to a folder that already contains other files, which are kept.

    Returns:
        The names of the files.

    Raises:
        OptionError: There are no results, or the language or the width is unknown.
        DataError: Results cannot be read or do not belong together, a file cannot be written, or the folder contains
            files that arbitre did not write.
        ArbitreError: The extra `report` is not installed.
    """
    language = Language.named(lang)
    if width not in get_args(FigureWidth):
        raise OptionError.of(f"Expected a width, got {width!r}", hint=did_you_mean(str(width), get_args(FigureWidth)))
    sources, names = _sources(results)
    folders = _folders(sources)
    check_output_folder(Path(out), "figures", inputs=folders, force=force)
    view = read_view(_subjects(sources), names).to_dict()
    return figures.write_figures(Path(out), view, language, width=width, inputs=folders, force=force)


def _sources(results: Results) -> tuple[Sequence[str | Path | Evaluation], Sequence[str]]:
    """Return the results, and their names if they are in a dictionary. Raises OptionError if there are none."""
    names = list(results) if isinstance(results, Mapping) else []
    if isinstance(results, (str, Path, Evaluation)):
        return [results], names
    sources = list(results.values() if isinstance(results, Mapping) else results)
    if not sources:
        raise OptionError.of("Expected results, got none.", hint="Pass an evaluation, or the folder of one.")
    return sources, names


def _folders(sources: Iterable[str | Path | Evaluation]) -> list[Path]:
    """Return the folders and files of the results that are in some."""
    folders = (source.folder if isinstance(source, Evaluation) else Path(source) for source in sources)
    return [folder for folder in folders if folder is not None]


def _subjects(sources: Iterable[str | Path | Evaluation]) -> list[Path | Subject]:
    """Return the folder or file of saved results, and the subject of the report of evaluations in memory."""
    return [_subject(source) if isinstance(source, Evaluation) else Path(source) for source in sources]


def _subject(evaluation: Evaluation) -> Path | Subject:
    if evaluation.folder is not None and is_saved(evaluation, ALIGNMENTS):
        return evaluation.folder
    return details_of(evaluation).subject(evaluation)
