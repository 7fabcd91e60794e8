"""Compares two evaluations of one system, before and after a change."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from arbitre.corpus.reading import strict_json
from arbitre.corpus.reading.records import key
from arbitre.corpus.results.evaluation import EVALUATION, FORMAT, Evaluation
from arbitre.corpus.results.gates import gate, gate_plain, parse_gates, require
from arbitre.corpus.running.checkpoints import FOLDER, read_checkpoints
from arbitre.corpus.statistics.score_selection import HIGHER_IS_BETTER
from arbitre.errors import DataError, QualityGateError, did_you_mean
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.corpus.results.gates import Bounds, Gate, Missed

WHOLES: Final = ("micro", "macro", "leaves", "document_quality")
"""Names of the scores of a whole corpus."""

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
        wholes = (plain[name] for name in WHOLES)
        for change in (*wholes, *plain["paths"], *plain["documents"]):
            change["difference"] = (change["after"] or 0.0) - (change["before"] or 0.0)
        return plain | {"worse": self.worse}


def diff(
    before: Evaluation | str | Path,
    after: Evaluation | str | Path,
    score: str = "f1q",
    *,
    fail_if_worse: bool = False,
    fail_under: Bounds = (),
    fail_over: Bounds = (),
) -> EvaluationDiff:
    """Compare two evaluations of one system, before and after a change, as `arbitre diff` does.

    Documents are compared only if both sides have them; a file has them in a folder `documents` beside it.

    Args:
        before: The first evaluation, its `evaluation.json`, or the folder of this file.
        after: The second evaluation, in the same forms.
        score: One of `arbitre.corpus.statistics.score_selection.HIGHER_IS_BETTER`.
        fail_if_worse: Whether to raise an error if the second evaluation is worse (see `EvaluationDiff.worse`).
        fail_under: Minimum scores of the second evaluation, as for `arbitre.gate`.
        fail_over: Maximum scores of the second evaluation.

    Raises:
        DataError: A file is not an evaluation, or the score is unknown or not one where higher is better.
        QualityGateError: The second evaluation is worse and `fail_if_worse` is set, or it misses a bound.
    """
    if score not in HIGHER_IS_BETTER:
        raise DataError.of(
            f"Expected a score where higher is better, got {score!r}",
            hint=did_you_mean(score, HIGHER_IS_BETTER) or f"Choose one of: {', '.join(HIGHER_IS_BETTER)}.",
        )
    gates = parse_gates(fail_under, fail_over)
    sides = [
        _Side.of(side, score) if isinstance(side, Evaluation) else _Side.read(side, score) for side in (before, after)
    ]
    first, second = sides
    known = [side.documents for side in sides if side.documents is not None]
    documents = known if len(known) == len(sides) else [{}, {}]
    changes = EvaluationDiff(
        score,
        **{name: ScoreChange(name, first.scores[name], second.scores[name]) for name in WHOLES},
        paths=_changed(first.by_path, second.by_path),
        documents=_changed(*documents),
        only_before=tuple(sorted(documents[0].keys() - documents[1].keys())),
        only_after=tuple(sorted(documents[1].keys() - documents[0].keys())),
        failed=(first.failed, second.failed),
        settings=tuple(
            name
            for name in dict.fromkeys((*first.settings, *second.settings))
            if first.settings.get(name) != second.settings.get(name)
        ),
    )
    if fail_if_worse and changes.worse:
        raise QualityGateError.of(f"{score} or document quality fell, or more documents failed")
    require(gate(after, fail_under=gates) if isinstance(after, Evaluation) else check_file(after, gates))
    return changes


def check_file(path: str | Path, gates: Sequence[Gate]) -> tuple[Missed, ...]:
    """Check an `evaluation.json` against gates. Raises DataError."""
    return gate_plain(read_evaluation(path), gates) if gates else ()


@dataclass(frozen=True, slots=True)
class _Side:
    """What is compared of an evaluation.

    Attributes:
        scores: The scores of the whole corpus, by the names in `WHOLES`.
        by_path: The score of every path.
        documents: The score of every document; None if unknown.
        failed: Number of failed documents.
        settings: The entries of the signature and its version.
    """

    scores: Mapping[str, float | None]
    by_path: Mapping[str, float | None]
    documents: Mapping[str, float | None] | None
    failed: int
    settings: Mapping[str, str]

    @classmethod
    def of(cls, evaluation: Evaluation, score: str) -> Self:
        """Take the scores of an evaluation."""
        wholes = (evaluation.micro, evaluation.macro, evaluation.leaves)
        values = (*(getattr(scores, score) for scores in wholes), evaluation.document_quality.mean)
        return cls(
            dict(zip(WHOLES, values, strict=True)),
            {path: getattr(scores, score) for path, scores in evaluation.by_path.items()},
            {
                document.key: 0.0 if document.failed else getattr(document.scores, score)
                for document in evaluation.documents
            },
            evaluation.macro.failed,
            dict(evaluation.signature.entries) | {"version": evaluation.signature.version},
        )

    @classmethod
    def read(cls, path: str | Path, score: str) -> Self:
        """Read the scores from an `evaluation.json`. Raises DataError if it is not an evaluation."""
        plain = read_evaluation(path)
        values = (*(plain[name][score] for name in WHOLES[:3]), plain["document_quality"]["mean"])
        return cls(
            dict(zip(WHOLES, values, strict=True)),
            {path: scores[score] for path, scores in plain["by_path"].items()},
            _documents(_file(path), score) or None,
            plain["failed"],
            plain["signature"]["entries"] | {"version": plain["signature"]["version"]},
        )


def _changed(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> tuple[ScoreChange, ...]:
    changes = [ScoreChange(name, before[name], after[name]) for name in before if name in after]
    moved = [
        change
        for change in changes
        if (change.before is None) != (change.after is None) or abs(change.difference) > SCORE_TOLERANCE
    ]
    return tuple(sorted(moved, key=lambda change: (change.difference, change.name)))


def _file(path: str | Path) -> Path:
    """Return the `evaluation.json` in a folder, or the path itself."""
    inside = Path(path) / EVALUATION
    return inside if inside.is_file() else Path(path)


def read_evaluation(path: str | Path) -> dict[str, Any]:
    """Read an `evaluation.json`. Raises DataError if the file is not an evaluation."""
    path = _file(path)
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
