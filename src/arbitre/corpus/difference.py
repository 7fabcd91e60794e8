"""Two evaluations of one system, before and after a change: what got better, what got worse, and where."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from arbitre.corpus import strict
from arbitre.corpus.records import key
from arbitre.corpus.shards import FOLDER, read_shards
from arbitre.errors import DataError
from arbitre.tally import Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Change:
    """A score before and after: of a path, of a document, or of the whole. None where it is undefined."""

    name: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float:
        """After less before; what is undefined counts as 0."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two evaluations in one score.

    `paths` and `documents` list what is in both and differs, the worst first; `only_before` and `only_after` name the
    documents of one alone; `settings` the entries of the signature that differ, which make scores of two measures.
    """

    score: str
    micro: Change
    macro: Change
    paths: tuple[Change, ...]
    documents: tuple[Change, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    failed: tuple[int, int]
    settings: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """Whether the micro or the macro score fell, or more documents failed."""
        fell = min(self.micro.difference, self.macro.difference) < 0.0
        return fell or self.failed[1] > self.failed[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        plain = asdict(self)
        for one in (plain["micro"], plain["macro"], *plain["paths"], *plain["documents"]):
            one["difference"] = (one["after"] or 0.0) - (one["before"] or 0.0)
        return plain | {"worse": self.worse}


def changes(before: Path, after: Path, score: str = "f1q") -> Changes:
    """What changed from one `evaluation.json` to another.

    The documents are those of the folders `documents` beside them, where both are there. Raises DataError where a file
    is no evaluation, or has no such score.
    """
    plain = [_evaluation(path, score) for path in (before, after)]
    documents = [_documents(path, score) for path in (before, after)]
    signatures = [one["signature"]["entries"] | {"version": one["signature"]["version"]} for one in plain]
    known = documents[0].keys() | documents[1].keys() if all(documents) else frozenset[str]()
    return Changes(
        score,
        Change("micro", *(one["micro"][score] for one in plain)),
        Change("macro", *(one["macro"][score] for one in plain)),
        _changed(*({path: scores[score] for path, scores in one["by_path"].items()} for one in plain)),
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


def _changed(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> tuple[Change, ...]:
    found = [Change(name, before[name], after[name]) for name in before if name in after]
    return tuple(sorted((one for one in found if one.before != one.after), key=lambda one: (one.difference, one.name)))


def _evaluation(path: Path, score: str) -> dict[str, Any]:
    found = strict.load(path)
    if not isinstance(found, dict) or found.get("format") != "arbitre-evaluation/1":
        raise DataError.of(
            "Expected an evaluation, got something else",
            file=str(path),
            hint="Give it the evaluation.json that `arbitre evaluate --out` writes.",
        )
    if score not in found["micro"]:
        raise DataError.of(f"Expected a score, got {score!r}", hint=f"The scores are {', '.join(found['micro'])}.")
    return found


def _documents(path: Path, score: str) -> dict[str, float | None]:
    """The score of every document, from the files beside an evaluation; none where there are none."""
    found: dict[str, float | None] = {}
    for outcomes in read_shards(path.parent / FOLDER):
        for at, (identity, run) in enumerate(zip(outcomes.ids, outcomes.runs, strict=True)):
            found[key(identity, run)] = getattr(Scores(Tally(*outcomes.tallies[at].tolist())), score)
    return found
