"""Compares two evaluations of one system, before and after a change."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre.corpus.reading import strict_json
from arbitre.corpus.reading.records import key
from arbitre.corpus.results.evaluation import FORMAT
from arbitre.corpus.running.checkpoints import FOLDER, read_checkpoints
from arbitre.corpus.statistics.score_selection import HIGHER_IS_BETTER
from arbitre.errors import DataError, did_you_mean
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCORE_TOLERANCE: Final = 1e-9
"""Maximum difference of scores that count as equal."""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score before and after a change, of a path, a document or the corpus; None if undefined."""

    name: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float:
        """`after` minus `before`; an undefined score counts as 0."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclass(frozen=True, slots=True)
class EvaluationDiff:
    """Changes between two evaluations.

    Attributes:
        score: Name of the compared score.
        micro: Change of the pooled score.
        macro: Change of the per-document mean.
        leaves: Change of the pooled score of all leaves.
        document_quality: Change of the mean document quality.
        paths: Changes of paths that are in both evaluations, largest drop first.
        documents: Changes of documents that are in both evaluations, largest drop first.
        only_before: Documents that are only in the first evaluation.
        only_after: Documents that are only in the second evaluation.
        failed: Numbers of failed documents, before and after.
        settings: Entries of the signature that differ. If there are any, the scores are not comparable.
    """

    score: str
    micro: ScoreChange
    macro: ScoreChange
    leaves: ScoreChange
    document_quality: ScoreChange
    paths: tuple[ScoreChange, ...]
    documents: tuple[ScoreChange, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    failed: tuple[int, int]
    settings: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """Whether the micro or macro score or the mean document quality dropped, or more documents failed."""
        fell = min(change.difference for change in (self.micro, self.macro, self.document_quality)) < -SCORE_TOLERANCE
        return fell or self.failed[1] > self.failed[0]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        plain = asdict(self)
        wholes = (plain[name] for name in ("micro", "macro", "leaves", "document_quality"))
        for change in (*wholes, *plain["paths"], *plain["documents"]):
            change["difference"] = (change["after"] or 0.0) - (change["before"] or 0.0)
        return plain | {"worse": self.worse}


def diff_evaluations(before: Path, after: Path, score: str = "f1q") -> EvaluationDiff:
    """Compare two `evaluation.json` files.

    Documents are compared only if both files have a folder `documents` beside them.

    Args:
        before: The first `evaluation.json`.
        after: The second `evaluation.json`.
        score: One of `arbitre.corpus.statistics.score_selection.HIGHER_IS_BETTER`.

    Raises:
        DataError: A file is not an evaluation, or the score is unknown or not one where higher is better.
    """
    if score not in HIGHER_IS_BETTER:
        raise DataError.of(
            f"Expected a score where higher is better, got {score!r}",
            hint=did_you_mean(score, HIGHER_IS_BETTER) or f"Choose one of: {', '.join(HIGHER_IS_BETTER)}.",
        )
    plain = [read_evaluation(path) for path in (before, after)]
    documents = [_documents(path, score) for path in (before, after)]
    signatures = [
        evaluation["signature"]["entries"] | {"version": evaluation["signature"]["version"]} for evaluation in plain
    ]
    known = documents[0].keys() | documents[1].keys() if all(documents) else frozenset[str]()
    return EvaluationDiff(
        score,
        ScoreChange("micro", *(evaluation["micro"][score] for evaluation in plain)),
        ScoreChange("macro", *(evaluation["macro"][score] for evaluation in plain)),
        ScoreChange("leaves", *(evaluation["leaves"][score] for evaluation in plain)),
        ScoreChange("document_quality", *(evaluation["document_quality"]["mean"] for evaluation in plain)),
        _changed(*({path: scores[score] for path, scores in evaluation["by_path"].items()} for evaluation in plain)),
        _changed(*documents) if all(documents) else (),
        tuple(sorted(known - documents[1].keys())),
        tuple(sorted(known - documents[0].keys())),
        (plain[0]["failed"], plain[1]["failed"]),
        tuple(
            name
            for name in dict.fromkeys((*signatures[0], *signatures[1]))
            if signatures[0].get(name) != signatures[1].get(name)
        ),
    )


def _changed(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> tuple[ScoreChange, ...]:
    changes = [ScoreChange(name, before[name], after[name]) for name in before if name in after]
    moved = [
        change
        for change in changes
        if (change.before is None) != (change.after is None) or abs(change.difference) > SCORE_TOLERANCE
    ]
    return tuple(sorted(moved, key=lambda change: (change.difference, change.name)))


def read_evaluation(path: Path) -> dict[str, Any]:
    """Read an `evaluation.json`. Raises DataError if the file is not an evaluation."""
    evaluation = strict_json.load(path)
    earlier = isinstance(evaluation, dict) and evaluation.get("format") == FORMAT
    if earlier and "exact_match_rate" not in evaluation.get("document_quality", ()):
        raise DataError.of(
            "The evaluation is from an earlier version and has no exact-match rates",
            file=str(path),
            hint="Run the evaluation again.",
        )
    if not isinstance(evaluation, dict) or evaluation.get("format") != FORMAT:
        raise DataError.of(
            "The file is not an evaluation",
            file=str(path),
            hint="Pass the evaluation.json that `arbitre evaluate --out` writes.",
        )
    return evaluation


def _documents(path: Path, score: str) -> dict[str, float | None]:
    """Return the score of every document, from the files beside an evaluation; empty if there are no such files."""
    scores: dict[str, float | None] = {}
    for outcomes in read_checkpoints(path.parent / FOLDER):
        rows = zip(outcomes.ids, outcomes.runs, outcomes.tallies.tolist(), outcomes.failed.tolist(), strict=True)
        for identity, run, tally, failed in rows:
            scores[key(identity, run)] = 0.0 if failed else getattr(Scores(Tally(*tally)), score)
    return scores
