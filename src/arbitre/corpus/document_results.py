"""Results of the documents of a work unit as columns, and their conversion to and from JSON lines."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import by_path, leaves, of_nodes, pair_qualities, root_qualities
from arbitre.inputs.records import Failure
from arbitre.parsing.fast_json import encode
from arbitre.paths import wildcard
from arbitre.tally import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.arrays import Floats, Mask
    from arbitre.comparison.levels import Level
    from arbitre.inputs.records import Pair
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

    Observers = Mapping[str, Callable[[Sequence[Pair], Sequence[Level]], list[Json] | bytes]]
    """Functions by name that are called with compared pairs and their levels, and return JSON values to keep, or the
    encoded rows of a table."""

TALLY_WIDTH: Final = 5
"""Number of columns of a tally: gold, predicted, matched, quality and quality_sq."""

PATH_WIDTH: Final = TALLY_WIDTH + len(OUTCOMES)
"""Number of columns of a path: its tally, then its outcomes."""


@dataclass(eq=False, slots=True)
class DocumentResults:
    """Results of some documents, in order.

    Attributes:
        ids: Ids of the documents.
        runs: Runs of the documents.
        tallies: Tallies of the entries, shape (documents, 5).
        leaves: Tallies of the leaves, shape (documents, 5).
        qualities: Qualities of the roots, shape (documents,), in [0, 1]; 0 for failed documents.
        failed: Which documents failed, shape (documents,).
        paths: Tallies and outcomes of each wildcard path, each of shape (documents, 12).
        steps: Qualities of matched entries and their masses, each of shape (pairs,).
        failures: Documents that could not be compared.
        seen: JSON values from observers, by their names.
        tables: Encoded rows of tables from observers, by their names.
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
    tables: dict[str, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, plan: Plan, pairs: Sequence[Pair], levels: Sequence[Level], observers: Observers) -> DocumentResults:
        """Collect the results of pairs that were compared together."""
        size, entries = len(pairs), wildcard(plan.entries)
        failed = np.array([pair.failure is not None for pair in pairs], dtype=np.bool_)
        steps, weights, documents = pair_qualities(levels, entries)
        order = documents.argsort(kind="stable")  # input order, independent of the batch size
        observed = {name: observer(pairs, levels) for name, observer in observers.items()}
        return cls(
            [pair.id for pair in pairs],
            [pair.run for pair in pairs],
            of_nodes(levels, entries, size),
            leaves(levels, size),
            np.where(failed, 0.0, root_qualities(levels, size)),
            failed,
            by_path(levels, size, plan.close),
            (steps[order], weights[order]),
            [],
            {name: values for name, values in observed.items() if not isinstance(values, bytes)},
            {name: rows for name, rows in observed.items() if isinstance(rows, bytes)},
        )

    @classmethod
    def joined(cls, parts: Iterable[DocumentResults]) -> DocumentResults:
        """Concatenate the results of consecutive batches of documents."""
        batches = list(parts)
        if len(batches) < 2:  # noqa: PLR2004
            return batches[0] if batches else cls()
        paths = dict.fromkeys(path for part in batches for path in part.paths)
        observed = dict.fromkeys(name for part in batches for name in part.seen)
        tables = dict.fromkeys(name for part in batches for name in part.tables)
        return cls(
            [identity for part in batches for identity in part.ids],
            [run for part in batches for run in part.runs],
            np.concatenate([part.tallies for part in batches]),
            np.concatenate([part.leaves for part in batches]),
            np.concatenate([part.qualities for part in batches]),
            np.concatenate([part.failed for part in batches]),
            {
                path: np.concatenate([part.paths.get(path, np.zeros((len(part), PATH_WIDTH))) for part in batches])
                for path in paths
            },
            (np.concatenate([part.steps[0] for part in batches]), np.concatenate([part.steps[1] for part in batches])),
            [failure for part in batches for failure in part.failures],
            {name: [value for part in batches for value in part.seen.get(name, [])] for name in observed},
            {name: b"".join(part.tables.get(name, b"") for part in batches) for name in tables},
        )

    def lines(self) -> Iterator[bytes]:
        """Yield one JSON object per document, then one for all documents together, each as a line.

        Only the names of the tables are included, not their rows.
        """
        paths: list[tuple[str, Any, Any]]
        paths = [(path, rows.any(axis=1).tolist(), rows.tolist()) for path, rows in self.paths.items()]
        columns = (self.failed, self.qualities, self.tallies, self.leaves)
        rows = zip(self.ids, self.runs, *(column.tolist() for column in columns), strict=True)
        for at, (identity, run, failed, quality, entries, values) in enumerate(rows):
            yield _line(
                {
                    "id": identity,
                    "run": run,
                    "failed": failed,
                    "quality": quality,
                    "entries": entries,
                    "leaves": values,
                    "paths": {path: tallies[at] for path, occurs, tallies in paths if occurs[at]},
                }
            )
        steps = {"qualities": self.steps[0].tolist(), "masses": self.steps[1].tolist()}
        failures = [asdict(failure) for failure in self.failures]
        yield _line({"steps": steps, "failures": failures, "seen": self.seen, "tables": list(self.tables)})

    @classmethod
    def read(cls, lines: Iterable[str]) -> DocumentResults:
        """Read results that were written by `lines`, with empty tables.

        Raises ValueError or KeyError if they are damaged.
        """
        *rows, rest = (json.loads(line) for line in lines)
        names = dict.fromkeys(path for row in rows for path in row["paths"])
        paths = {path: np.zeros((len(rows), PATH_WIDTH)) for path in names}
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
            [Failure(**failure) for failure in rest["failures"]],
            rest["seen"],
            dict.fromkeys(rest.get("tables", ()), b""),  # earlier versions wrote no tables
        )


def _table(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, TALLY_WIDTH)


def _floats(values: list[float]) -> Floats:
    return np.array(values, dtype=np.float64)


def _line(value: Any) -> bytes:  # noqa: ANN401  (any JSON value)
    try:
        return encode(value) + b"\n"  # 4 times as fast as `json`
    except (ValueError, OverflowError):  # lone surrogates, long integers
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass") + b"\n"
