"""What came of the documents of a part of a corpus: columns, one row a document, as JSON lines and back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import by_path, leaves, of_nodes, pair_qualities, root_qualities
from arbitre.corpus.reading.records import Failure
from arbitre.paths import wildcard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Mask
    from arbitre.comparison.levels import Level, TallyArrays
    from arbitre.corpus.reading.records import Pair
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Observers = Mapping[str, Callable[[Sequence[Pair], Sequence[Level]], list[Json]]]
    """What else is noted of documents while they are compared, by name: a list of JSON values each time."""

TALLY_WIDTH: Final = 5
"""A tally is gold, predicted, matched, quality and quality_sq."""


@dataclass(eq=False, slots=True)
class DocumentResults:
    """The outcomes of some documents, in order.

    `tallies` (documents, 5) are those of the entries, `leaves` (documents, 5) of the leaves, `paths` (documents, 5) of
    each wildcard path; `qualities` (documents,) are those of the roots, 0 of those that `failed`. `steps` are the
    qualities of matched entries and their masses, `failures` what could not be compared, `seen` what observers noted.
    """

    ids: list[str] = field(default_factory=list)
    runs: list[str | None] = field(default_factory=list)
    tallies: Floats = field(default_factory=lambda: np.empty((0, TALLY_WIDTH)))
    leaves: Floats = field(default_factory=lambda: np.empty((0, TALLY_WIDTH)))
    qualities: Floats = field(default_factory=lambda: np.empty(0))
    failed: Mask = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    paths: dict[str, Floats] = field(default_factory=dict)
    steps: tuple[Floats, Floats] = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    failures: list[Failure] = field(default_factory=list)
    seen: dict[str, list[Json]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, plan: Plan, pairs: Sequence[Pair], levels: Sequence[Level], observers: Observers) -> DocumentResults:
        """The outcomes of pairs that were compared together."""
        size, entries = len(pairs), wildcard(plan.entries)
        failed = np.array([pair.failure is not None for pair in pairs], dtype=np.bool_)
        steps, weights, documents = pair_qualities(levels, entries)
        order = documents.argsort(kind="stable")  # as they come, however many are compared together
        return cls(
            [pair.id for pair in pairs],
            [pair.run for pair in pairs],
            rows_of(of_nodes(levels, entries, size)),
            rows_of(leaves(levels, size)),
            np.where(failed, 0.0, root_qualities(levels, size)),
            failed,
            {path: rows_of(sums) for path, sums in by_path(levels, size).items()},
            (steps[order], weights[order]),
            [],
            {name: observer(pairs, levels) for name, observer in observers.items()},
        )

    @classmethod
    def joined(cls, parts: Iterable[DocumentResults]) -> DocumentResults:
        """The outcomes of consecutive documents, given in portions."""
        found = list(parts)
        if len(found) < 2:  # noqa: PLR2004
            return found[0] if found else cls()
        paths = dict.fromkeys(path for part in found for path in part.paths)
        observed = dict.fromkeys(name for part in found for name in part.seen)
        return cls(
            [one for part in found for one in part.ids],
            [one for part in found for one in part.runs],
            np.concatenate([part.tallies for part in found]),
            np.concatenate([part.leaves for part in found]),
            np.concatenate([part.qualities for part in found]),
            np.concatenate([part.failed for part in found]),
            {
                path: np.concatenate([part.paths.get(path, np.zeros((len(part), TALLY_WIDTH))) for part in found])
                for path in paths
            },
            (np.concatenate([part.steps[0] for part in found]), np.concatenate([part.steps[1] for part in found])),
            [one for part in found for one in part.failures],
            {name: [one for part in found for one in part.seen.get(name, [])] for name in observed},
        )

    def lines(self) -> Iterator[str]:
        """A JSON object for every document, then one for all of them together."""
        for at, (identity, run) in enumerate(zip(self.ids, self.runs, strict=True)):
            paths = {path: rows[at].tolist() for path, rows in self.paths.items() if rows[at].any()}
            yield _text(
                {
                    "id": identity,
                    "run": run,
                    "failed": bool(self.failed[at]),
                    "quality": float(self.qualities[at]),
                    "entries": self.tallies[at].tolist(),
                    "leaves": self.leaves[at].tolist(),
                    "paths": paths,
                }
            )
        steps = {"qualities": self.steps[0].tolist(), "masses": self.steps[1].tolist()}
        yield _text({"steps": steps, "failures": [asdict(one) for one in self.failures], "seen": self.seen})

    @classmethod
    def read(cls, lines: Iterable[str]) -> DocumentResults:
        """The outcomes that were written so. Raises ValueError or KeyError where they are damaged."""
        *rows, rest = (json.loads(line) for line in lines)
        names = dict.fromkeys(path for row in rows for path in row["paths"])
        paths = {path: np.zeros((len(rows), TALLY_WIDTH)) for path in names}
        for at, row in enumerate(rows):
            for path, tally in row["paths"].items():
                paths[path][at] = tally
        return cls(
            [row["id"] for row in rows],
            [row["run"] for row in rows],
            _table([row["entries"] for row in rows]),
            _table([row["leaves"] for row in rows]),
            np.array([row["quality"] for row in rows], dtype=np.float64),
            np.array([row["failed"] for row in rows], dtype=np.bool_),
            paths,
            (_floats(rest["steps"]["qualities"]), _floats(rest["steps"]["masses"])),
            [Failure(**one) for one in rest["failures"]],
            rest["seen"],
        )


def rows_of(sums: TallyArrays) -> Floats:
    """Tallies of several documents as a table (documents, 5)."""
    return np.stack([sums.gold, sums.predicted, sums.matched, sums.quality, sums.quality_sq], axis=1)


def _table(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, TALLY_WIDTH)


def _floats(values: list[float]) -> Floats:
    return np.array(values, dtype=np.float64)


def _text(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
