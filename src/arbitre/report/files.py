"""The report beside the results: written with them, and made again from them, with the same bytes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from arbitre import bundled
from arbitre.corpus import strict
from arbitre.errors import DataError
from arbitre.paths import pointer
from arbitre.report import kept
from arbitre.report.html import embedded, page
from arbitre.report.kept import ALIGNMENTS, Kept
from arbitre.report.language import Language
from arbitre.report.subjects import several, subject
from arbitre.report.tables import fresh, json_text, portable
from arbitre.report.view import Subject, Trust, View

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from arbitre.corpus.evaluation import Evaluation

REPORT: Final = "report.html"
FILES: Final = (ALIGNMENTS, REPORT)


def write_report(
    folder: Path, evaluation: Evaluation, observed: Kept, trust: Trust | None = None
) -> tuple[Subject, tuple[str, ...]]:
    """Write `report.html`, and `alignments.json` from which it can be made again, beside the results of an evaluation.

    `observed` has seen its documents; `trust` is what is known of its intervals and floors. Returns the subject of the
    report, and the names of the files. Raises DataError.
    """
    plain = portable(evaluation)
    alignments = observed.to_dict(evaluation, json_text(plain), trust or Trust.of(plain["trust"]))
    made = subject(plain, alignments)
    with ExitStack() as stack:
        stack.enter_context(fresh(folder / ALIGNMENTS)).write(embedded(alignments) + "\n")
        stack.enter_context(fresh(folder / REPORT)).write(page(view_of([made])))
    return made, FILES


def remove_report(folder: Path) -> None:
    """Remove the report of an earlier evaluation, which would speak of other numbers than the results beside it."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def view_of(subjects: Sequence[Subject]) -> View:
    """The view of one system or of several."""
    return View(subjects[0].signature["version"], subjects, several(subjects) if len(subjects) > 1 else None)


def read_view(paths: Sequence[Path]) -> View:
    """The view of one evaluation, or of several, each named after its folder. Raises DataError."""
    named = len(paths) > 1
    return view_of([_read(path, path.resolve().parent.name if named else None) for path in paths])


def write_page(file: Path, view: View, language: Language = Language.EN) -> None:
    """Write the page of a view. Raises DataError."""
    with fresh(file) as opened:
        opened.write(page(view, language))


def _read(path: Path, name: str | None) -> Subject:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise strict.unreadable(path, error) from error
    evaluation = strict.parse(data, file=str(path))
    _check(evaluation, path)
    beside = path.with_name(ALIGNMENTS)
    alignments = kept.read(beside, data.decode("utf-8-sig"))
    try:
        return subject(evaluation, alignments, name=name)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise kept.refused(beside, f"{type(error).__name__}: {error}") from error


def _check(evaluation: Any, path: Path) -> None:  # noqa: ANN401
    """Raises DataError where a file is no evaluation."""
    schema: Mapping[str, Any] = bundled.schema("evaluation.schema.json")
    for error in Draft202012Validator(schema).iter_errors(evaluation):
        raise DataError.of(
            f"Expected an evaluation: {error.message[:200]}",
            file=str(path),
            pointer=pointer(error.absolute_path),
            hint="Give it what `arbitre evaluate --out` writes as evaluation.json.",
        )
