"""Read and write report files.

A report is written with the results and can be rebuilt from them, with identical bytes.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from arbitre import bundled
from arbitre.corpus.reading import strict_json
from arbitre.corpus.storage.files import unreadable
from arbitre.errors import DataError
from arbitre.paths import pointer
from arbitre.report.documents import worst_documents
from arbitre.report.documents.worst_documents import ALIGNMENTS, WorstDocuments
from arbitre.report.html.build_view import (
    build_factors,
    build_subject,
    build_systems,
    differing_documents,
    document_score,
    reduced,
    with_ranking,
)
from arbitre.report.html.language import Language
from arbitre.report.html.render import embedded, render_page
from arbitre.report.html.view import Subject, TrustView, View
from arbitre.report.tables.result_files import EVALUATION, without_folders
from arbitre.report.text_files import atomic_text_file, json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from arbitre.corpus.results.documents import DocumentResult
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.systems.ranking import Ranking

REPORT: Final = "report.html"
FILES: Final = (ALIGNMENTS, REPORT)


def write_report(
    folder: Path,
    evaluation: Evaluation,
    observed: WorstDocuments,
    trust: TrustView | None = None,
    *,
    noted: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
) -> tuple[Subject, tuple[str, ...]]:
    """Write `report.html`, and `alignments.json` for rebuilding it, next to the results of an evaluation.

    Args:
        folder: Folder of the results.
        evaluation: Evaluation to report.
        observed: Worst documents and pairs, collected during the evaluation.
        trust: Intervals and chance scores; by default those of the evaluation.
        noted: Number of `repaired` predictions and of schema `violations`, for the warnings.
        notes: What may have gone wrong when the documents were joined (see `Join.notes`).

    Returns:
        The subject of the report and the names of the files.

    Raises:
        DataError: If a file cannot be written.
    """
    plain = without_folders(evaluation)
    alignments = observed.to_dict(evaluation, json_text(plain), trust or TrustView.of(plain["trust"]), noted, notes)
    made = build_subject(plain, alignments)
    with ExitStack() as stack:
        stack.enter_context(atomic_text_file(folder / ALIGNMENTS)).write(embedded(alignments) + "\n")
        stack.enter_context(atomic_text_file(folder / REPORT)).write(render_page(view_of([made])))
    return made, FILES


def remove_report(folder: Path) -> None:
    """Remove the report of an earlier evaluation, which would not match the results in the folder."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def view_of(subjects: Sequence[Subject]) -> View:
    """Build the view of one or several systems."""
    return View(subjects[0].signature["version"], subjects, build_systems(subjects) if len(subjects) > 1 else None)


def read_view(paths: Sequence[Path], *, keep: int | None = None) -> View:
    """Build the view of one or several evaluations and of at most one `factors.json`.

    Several evaluations are named after their folders.

    Args:
        paths: Files to read, each with its `alignments.json` beside it.
        keep: Maximum number of documents to hold for each system; None for all in `alignments.json`.

    Raises:
        DataError: If a file is neither, or if the signature of the factors differs from that of every evaluation.
    """
    evaluations: list[tuple[Path, Any, str]] = []
    factors: list[tuple[Path, Any, str]] = []
    for path in paths:
        plain, text = _read(path)
        (factors if isinstance(plain, dict) and "factors" in plain else evaluations).append((path, plain, text))
    names = _names([path for path, _, _ in evaluations])
    subjects = [_subject(*one, name) for one, name in zip(evaluations, names, strict=True)]
    if len(factors) > 1:
        raise DataError.of(
            f"Expected at most one factors.json, got {len(factors)}",
            file=str(factors[1][0]),
            hint="Make one report for each.",
        )
    view = view_of(subjects) if subjects else None
    if view is not None and keep is not None:
        view = reduced(view, keep)
    if not factors and view is not None:
        return view
    ((path, plain, _),) = factors
    _check(plain, path, "factors")
    signature = plain["signature"]
    if subjects and signature["short"] not in {one.signature["short"] for one in subjects}:
        raise DataError.of(
            f"Expected factors with the signature of one of the evaluations, got {signature['short']}",
            file=str(path),
            hint="Pass the evaluations written by the same `arbitre rank --factor`.",
        )
    return replace(view or View(signature["version"], ()), factors=build_factors(plain))


def write_ranking(folder: Path, ranking: Ranking) -> None:
    """Write the page of a ranking, best system first.

    Args:
        folder: Folder of the page, with the evaluation of each system in a subfolder named after the system.
        ranking: Ranking of the systems.

    Raises:
        DataError: If an evaluation cannot be read or the page cannot be written.
    """
    paths = {one.name: folder / one.name / EVALUATION for one in ranking.systems}
    subjects = [_subject(path, *_read(path), name) for name, path in paths.items()]
    write_page(folder / REPORT, View(subjects[0].signature["version"], subjects, with_ranking(subjects, ranking)))


def most_differing(systems: Mapping[str, Evaluation], score: str) -> list[str]:
    """Return the keys of the documents on which systems differ most, which the page of their ranking links to."""
    name = document_score(score)
    scores = [{row.key: _score(row, name) for row in one.documents} for one in systems.values()]
    return [one.key for one in differing_documents(scores)]


def _score(row: DocumentResult, name: str) -> float | None:
    score: float | None = 0.0 if row.failed else getattr(row.scores, name)
    return score


def write_page(file: Path, view: View, language: Language = Language.EN) -> None:
    """Write the page of a view. Raises DataError if it cannot be written."""
    with atomic_text_file(file) as opened:
        opened.write(render_page(view, language))


def _names(paths: Sequence[Path]) -> Sequence[str | None]:
    """Name evaluations after their folders, with as many parent folders as needed; a single one has no name.

    Raises DataError if an evaluation is given twice.
    """
    if len(paths) < 2:  # noqa: PLR2004
        return [None] * len(paths)
    folders = [path.resolve().parent.parts for path in paths]
    for depth in range(1, max(map(len, folders)) + 1):
        names = ["/".join(folder[-depth:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    raise DataError.of(
        "Expected evaluations in different folders, got the same folder twice", hint="Pass each one once."
    )


def _read(path: Path) -> tuple[Any, str]:
    """Return the parsed JSON of a file, and its text."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    return strict_json.parse(data, file=str(path)), data.decode("utf-8-sig")


def _subject(path: Path, evaluation: Any, text: str, name: str | None) -> Subject:  # noqa: ANN401
    _check(evaluation, path, "evaluation")
    beside = path.with_name(ALIGNMENTS)
    alignments = worst_documents.read(beside, text)
    try:
        return build_subject(evaluation, alignments, name=name)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise worst_documents.refused(beside, f"{type(error).__name__}: {error}") from error


_WRITTEN: Final = {
    "evaluation": ("an evaluation", "Pass the evaluation.json written by `arbitre evaluate --out`."),
    "factors": ("factors", "Pass the factors.json written by `arbitre rank --factor`."),
}


def _check(plain: Any, path: Path, kind: str) -> None:  # noqa: ANN401
    """Raise DataError if a file is not of this kind."""
    schema: Mapping[str, Any] = bundled.schema(f"{kind}.schema.json")
    what, hint = _WRITTEN[kind]
    for error in Draft202012Validator(schema).iter_errors(plain):
        raise DataError.of(
            f"Expected {what}: {error.message[:200]}",
            file=str(path),
            pointer=pointer(error.absolute_path),
            hint=hint,
        )
