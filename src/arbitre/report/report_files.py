"""The report beside the results: written with them, and made again from them, with the same bytes."""

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
from arbitre.report.html.build_view import build_factors, build_subject, build_systems, with_ranking
from arbitre.report.html.language import Language
from arbitre.report.html.render import embedded, render_page
from arbitre.report.html.view import Subject, TrustView, View
from arbitre.report.tables.result_files import EVALUATION, without_folders
from arbitre.report.text_files import atomic_text_file, json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.systems.ranking import Ranking

REPORT: Final = "report.html"
FILES: Final = (ALIGNMENTS, REPORT)


def write_report(
    folder: Path, evaluation: Evaluation, observed: WorstDocuments, trust: TrustView | None = None
) -> tuple[Subject, tuple[str, ...]]:
    """Write `report.html`, and `alignments.json` from which it can be made again, beside the results of an evaluation.

    `observed` has seen its documents; `trust` is what is known of its intervals and floors. Returns the subject of the
    report, and the names of the files. Raises DataError.
    """
    plain = without_folders(evaluation)
    alignments = observed.to_dict(evaluation, json_text(plain), trust or TrustView.of(plain["trust"]))
    made = build_subject(plain, alignments)
    with ExitStack() as stack:
        stack.enter_context(atomic_text_file(folder / ALIGNMENTS)).write(embedded(alignments) + "\n")
        stack.enter_context(atomic_text_file(folder / REPORT)).write(render_page(view_of([made])))
    return made, FILES


def remove_report(folder: Path) -> None:
    """Remove the report of an earlier evaluation, which would speak of other numbers than the results beside it."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def view_of(subjects: Sequence[Subject]) -> View:
    """The view of one system or of several."""
    return View(subjects[0].signature["version"], subjects, build_systems(subjects) if len(subjects) > 1 else None)


def read_view(paths: Sequence[Path]) -> View:
    """The view of one evaluation, or of several, each named after its folder, and of factors, from `factors.json`.

    Raises DataError where a file is neither, or factors go by another measure than every evaluation given with them.
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
            f"Expected one file of factors, got {len(factors)}", file=str(factors[1][0]), hint="Give them one by one."
        )
    if not factors:
        return view_of(subjects)
    ((path, plain, _),) = factors
    _check(plain, path, "factors")
    signature = plain["signature"]
    if subjects and signature["short"] not in {one.signature["short"] for one in subjects}:
        raise DataError.of(
            f"Expected factors that go by the measure of an evaluation given with them, got {signature['short']}",
            file=str(path),
            hint="Give them with the evaluation that the same `arbitre rank --factor` wrote.",
        )
    view = view_of(subjects) if subjects else View(signature["version"], ())
    return replace(view, factors=build_factors(plain))


def write_ranking(folder: Path, ranking: Ranking) -> None:
    """Write the page of a ranking, the best system first; each has left its evaluation in a folder of its name there.

    Raises DataError where these cannot be read, or the page cannot be written.
    """
    paths = {one.name: folder / one.name / EVALUATION for one in ranking.systems}
    subjects = [_subject(path, *_read(path), name) for name, path in paths.items()]
    write_page(folder / REPORT, View(subjects[0].signature["version"], subjects, with_ranking(subjects, ranking)))


def write_page(file: Path, view: View, language: Language = Language.EN) -> None:
    """Write the page of a view. Raises DataError."""
    with atomic_text_file(file) as opened:
        opened.write(render_page(view, language))


def _names(paths: Sequence[Path]) -> Sequence[str | None]:
    """The folders of several evaluations, told apart by those above them; a single one needs no name.

    Raises DataError where one is given twice.
    """
    if len(paths) < 2:  # noqa: PLR2004
        return [None] * len(paths)
    folders = [path.resolve().parent.parts for path in paths]
    for depth in range(1, max(map(len, folders)) + 1):
        names = ["/".join(folder[-depth:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    raise DataError.of("Expected evaluations of different folders, got one of them twice", hint="Name each one once.")


def _read(path: Path) -> tuple[Any, str]:
    """The JSON of a file, and its text."""
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
    "evaluation": ("an evaluation", "Give it what `arbitre evaluate --out` writes as evaluation.json."),
    "factors": ("factors", "Give it what `arbitre rank --factor` writes as factors.json."),
}


def _check(plain: Any, path: Path, kind: str) -> None:  # noqa: ANN401
    """Raises DataError where a file is not of this kind."""
    schema: Mapping[str, Any] = bundled.schema(f"{kind}.schema.json")
    what, hint = _WRITTEN[kind]
    for error in Draft202012Validator(schema).iter_errors(plain):
        raise DataError.of(
            f"Expected {what}: {error.message[:200]}",
            file=str(path),
            pointer=pointer(error.absolute_path),
            hint=hint,
        )
