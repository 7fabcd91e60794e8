"""Read and write report files.

A report is written with the results and can be rebuilt from them, with identical bytes.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.archive import without_folders
from arbitre.corpus.evaluation import EVALUATION
from arbitre.errors import DataError
from arbitre.language import Language
from arbitre.parsing import strict_json
from arbitre.parsing.fast_json import json_text
from arbitre.report import worst_documents
from arbitre.report.build_view import (
    agreed_view,
    align_causes,
    build_factors,
    build_subject,
    build_systems,
    differing_documents,
    document_score,
    with_ranking,
)
from arbitre.report.example_sources import moved_link
from arbitre.report.page_room import fitted, reduced
from arbitre.report.render import render_page
from arbitre.report.standalone import embedded
from arbitre.report.view import Subject, TrustView, View
from arbitre.report.worst_documents import ALIGNMENTS, REPORT, REPORT_FILES, WorstDocuments
from arbitre.schema.validate import check_valid
from arbitre.storage.files import atomic_text_file
from arbitre.storage.output_folder import output_text_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from arbitre.corpus.documents import DocumentResult
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.systems.ranking import Ranking

RANKING: Final = "ranking.json"
FACTORS: Final = "factors.json"

WHOLE_CORPUS: Final = "evaluation"
"""Folder name for the evaluation of the whole corpus when factors are compared."""


def subject_of(
    evaluation: Evaluation,
    observed: WorstDocuments,
    *,
    trust: TrustView | None = None,
    noted: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
) -> tuple[Subject, dict[str, Any]]:
    """Build the subject of a report from an evaluation.

    Args:
        evaluation: Evaluation to report.
        observed: Worst documents and pairs, collected during the evaluation.
        trust: Intervals and chance scores; by default those of the evaluation.
        noted: Number of `repaired` predictions, of those that are JSON `in_text`, and of schema
            `violations`, for the warnings.
        notes: What may have gone wrong when the documents were joined (see `Join.notes`).

    Returns:
        The subject, and the contents of `alignments.json`, from which it can be built again.
    """
    plain = without_folders(evaluation)
    alignments = observed.to_dict(evaluation, json_text(plain), trust or TrustView.of(plain["trust"]), noted, notes)
    return build_subject(plain, alignments), alignments


def write_report(
    folder: Path,
    evaluation: Evaluation,
    observed: WorstDocuments,
    *,
    trust: TrustView | None = None,
    noted: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
    lang: Language = Language.EN,
) -> tuple[Subject, tuple[str, ...]]:
    """Write `report.html`, and `alignments.json` for rebuilding it, next to the results of an evaluation.

    Args:
        folder: Folder of the results.
        evaluation: Evaluation to report.
        observed: As for `subject_of`, like the other options.
        trust: Intervals and chance scores.
        noted: Numbers for the warnings.
        notes: Notes on how the documents were joined.
        lang: Language of the report.

    Returns:
        The subject of the report and the names of the files.

    Raises:
        DataError: If a file cannot be written.
    """
    made, alignments = subject_of(evaluation, observed, trust=trust, noted=noted, notes=notes)
    with ExitStack() as stack:
        stack.enter_context(atomic_text_file(folder / ALIGNMENTS)).write(embedded(alignments) + "\n")
        stack.enter_context(atomic_text_file(folder / REPORT)).write(render_page(view_of([made]), lang))
    return made, REPORT_FILES


def view_of(subjects: Sequence[Subject]) -> View:
    """Build the view of one or several systems."""
    systems = build_systems(subjects) if len(subjects) > 1 else None
    return View(subjects[0].signature["version"], subjects, systems, causes=align_causes(subjects))


def read_view(
    paths: Sequence[Path | Subject], given: Sequence[str] = (), *, keep: int | None = None, folder: Path | None = None
) -> View:
    """Build the view of a ranking, or of one or several evaluations and at most one comparison of factors.

    Several evaluations have the given names. By default, they are named after their folders, and those in memory after
    their position. Those in memory come last.

    Args:
        paths: `ranking.json`, `factors.json` and `evaluation.json` files, or folders with one of these; and at most one
            file with the output of `arbitre confidence --format json`. The evaluations
            of a ranking are in subfolders, as `arbitre rank --out` writes them; `alignments.json` is beside each.
            Evaluations in memory are given as subjects.
        given: Names of the evaluations, in the order of `paths`.
        keep: Maximum number of documents to include for each system; None for all in `alignments.json`.
        folder: Folder of the page, for its links to pictures; by default, that of the results.

    Raises:
        DataError: If a file is none of these, if files do not belong together, or if a ranking is not the only path.
    """
    by_kind: defaultdict[str, list[tuple[Path, Any]]] = defaultdict(list)
    held = [
        replace(path, name=(name or f"evaluation {number}") if len(paths) > 1 else None)
        for number, (path, name) in enumerate(zip_longest(paths, given), 1)
        if isinstance(path, Subject)
    ]
    named: dict[Path, str] = {}
    for path, name in zip_longest(paths, given):
        for file in () if isinstance(path, Subject) else _files(path):
            plain = strict_json.load(file)
            named |= {} if name is None else {file: name}
            by_kind[_kind(plain)].append((file, plain))
    factors, rankings, evaluations = by_kind["factors"], by_kind["ranking"], by_kind["evaluation"]
    answers = by_kind["confidence"]
    if rankings and len(paths) > 1 + len(answers):
        raise DataError.of(
            f"Expected {RANKING} as the only file, got {len(paths)} files",
            file=str(rankings[0][0]),
            hint="It names its evaluations. Make a report for each ranking.",
        )
    for what, several in ((FACTORS, factors), ("result of `arbitre confidence`", answers)):
        if len(several) > 1:
            raise DataError.of(
                f"Expected at most one {what}, got {len(several)}",
                file=str(several[1][0]),
                hint="Make one report for each.",
            )
    if rankings:
        path, plain = rankings[0]
        check_valid(plain, "ranking", path)
        view = _ranking_view(path.parent, plain, folder)
        _check_ranked(path, plain, view.subjects)
    else:
        names = _names([path for path, _ in evaluations], alone=not held)
        subjects = [
            _subject(path, plain, _alignments(path, plain, folder), name and named.get(path, name))
            for (path, plain), name in zip(evaluations, names, strict=True)
        ]
        subjects += held
        view = view_of(subjects) if subjects else View("", ())
    view = fitted(view) if keep is None else reduced(view, keep)
    if answers:
        path, plain = answers[0]
        check_valid(plain, "confidence", path)
        view = replace(view, calibration=plain["overall"])
    return _with_factors(view, *factors[0]) if factors else view


def _files(path: Path) -> Sequence[Path]:
    """Return the file, or the results in a folder. Raises DataError if there are none or several kinds."""
    if not path.is_dir():
        return (path,)
    present = [name for name in (RANKING, FACTORS, EVALUATION) if (path / name).is_file()]
    if len(present) != 1:
        raise DataError.of(
            f"Expected one of {RANKING}, {FACTORS} and {EVALUATION} here, got {' and '.join(present) or 'none'}",
            file=str(path),
            hint="Pass one of these files, or a folder written by `evaluate --out` or `rank --out`.",
        )
    corpus = path / WHOLE_CORPUS / EVALUATION
    return [path / present[0], *([corpus] if present == [FACTORS] and corpus.is_file() else [])]


def _kind(plain: Any) -> str:  # noqa: ANN401
    keys = plain if isinstance(plain, dict) else ()
    named = {"factors": "factors", "systems": "ranking", "without_confidence": "confidence"}
    return next((kind for key, kind in named.items() if key in keys), "evaluation")


def _with_factors(view: View, path: Path, plain: Any) -> View:  # noqa: ANN401
    """Add the factors to a view. Raises DataError if no evaluation has their signature."""
    check_valid(plain, "factors", path)
    signature = plain["signature"]
    if view.subjects and signature["short"] not in {one.signature["short"] for one in view.subjects}:
        raise DataError.of(
            f"Expected factors with the signature of one of the evaluations, got {signature['short']}",
            file=str(path),
            hint="Pass the evaluations written by the same `arbitre rank --factor`.",
        )
    return replace(view, version=view.version or signature["version"], factors=build_factors(plain))


def _check_ranked(path: Path, ranking: Mapping[str, Any], subjects: Sequence[Subject]) -> None:
    """Raise DataError if the evaluations are not those of the ranking."""
    for number, (system, subject) in enumerate(zip(ranking["systems"], subjects, strict=True)):
        same = (
            number > 0 or ranking["signature"]["short"] == subject.signature["short"],
            ranking["documents"] == subject.documents,
            system["failed"] == subject.failed,
            system["document_quality"] == subject.document_quality["mean"],
        )
        if not all(same):
            raise DataError.of(
                f"Expected the evaluation of {system['name']!r} in this ranking, got another one",
                file=str(path.parent / system["name"] / EVALUATION),
                hint="Rank again, or pass the evaluations without the ranking.",
            )


def write_ranking(folder: Path, ranking: Ranking, lang: Language = Language.EN) -> None:
    """Write the page of a ranking, best system first.

    Args:
        folder: Folder of the page, with the evaluation of each system in a subfolder named after the system.
        ranking: Ranking of the systems.
        lang: Language of the page.

    Raises:
        DataError: If an evaluation cannot be read or the page cannot be written.
    """
    write_page(folder / REPORT, fitted(_ranking_view(folder, ranking.to_dict())), lang)


def _ranking_view(folder: Path, ranking: Mapping[str, Any], page: Path | None = None) -> View:
    paths = {one["name"]: folder / one["name"] / EVALUATION for one in ranking["systems"]}
    for path in paths.values():
        if not path.is_file():
            raise DataError.of(
                "Expected the evaluation of each system in a folder beside the ranking, got none",
                file=str(path),
                hint="Rank again without --no-report.",
            )
    agreed, subjects = (ranking.get("causes") or {}).get("agreed"), list[Subject]()
    shown = None
    for name, path in paths.items():
        plain = strict_json.load(path)
        alignments = _alignments(path, plain, page or folder)
        subjects.append(_subject(path, plain, alignments, name))
        if agreed is not None and name == agreed["systems"][0]:
            with _checked(path):
                shown = agreed_view(agreed, plain, alignments or {})
    systems = with_ranking(subjects, ranking)
    return View(subjects[0].signature["version"], subjects, systems, causes=align_causes(subjects, shown))


def most_differing(systems: Mapping[str, Evaluation], score: str) -> list[str]:
    """Return the keys of the documents on which systems differ most, which the page of their ranking links to."""
    name = document_score(score)
    scores = [{row.key: _score(row, name) for row in one.documents} for one in systems.values()]
    return [one.key for one in differing_documents(scores)]


def _score(row: DocumentResult, name: str) -> float | None:
    score: float | None = 0.0 if row.failed else getattr(row.scores, name)
    return score


def write_page(file: Path, view: View, lang: Language = Language.EN, *, single: bool = False) -> None:
    """Write the page of a view; `single` if it is not part of an `output_folder`.

    Raises DataError if it cannot be written.
    """
    with (output_text_file if single else atomic_text_file)(file) as opened:
        opened.write(render_page(view, lang))


def _names(paths: Sequence[Path], *, alone: bool = True) -> Sequence[str | None]:
    """Name evaluations after their folders, with as many parent folders as needed; a single one `alone` has no name.

    Raises DataError if an evaluation is given twice.
    """
    if not paths or (alone and len(paths) == 1):
        return [None] * len(paths)
    folders = [path.resolve().parent.parts for path in paths]
    for depth in range(1, max(map(len, folders)) + 1):
        names = ["/".join(folder[-depth:]) for folder in folders]
        if len(set(names)) == len(names):
            return names
    raise DataError.of(
        "Expected evaluations in different folders, got the same folder twice", hint="Pass each one once."
    )


def _subject(path: Path, evaluation: Any, alignments: Mapping[str, Any] | None, name: str | None) -> Subject:  # noqa: ANN401
    """Return the view of an evaluation."""
    with _checked(path):
        return build_subject(evaluation, alignments, name=name)


def _alignments(path: Path, evaluation: Any, page: Path | None) -> dict[str, Any] | None:  # noqa: ANN401
    """Return `alignments.json` beside an evaluation.

    Links to pictures are from the folder of the page; None for that of the evaluation.
    """
    check_valid(evaluation, "evaluation", path)
    alignments = worst_documents.read(path.with_name(ALIGNMENTS), path.read_bytes().decode("utf-8-sig"))
    with _checked(path):
        for one in (alignments or {}).get("sources", ()):
            if page is not None and "image" in one["source"]:
                one["source"]["image"] = moved_link(one["source"]["image"], path.parent, page)
    return alignments


@contextmanager
def _checked(path: Path) -> Iterator[None]:
    """Raise DataError if `alignments.json` beside an evaluation has unexpected contents."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise worst_documents.refused(path.with_name(ALIGNMENTS), f"{type(error).__name__}: {error}") from error
