"""What is kept of the documents of a corpus while they pass by, so that a report can show them: the worst, bounded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from arbitre.comparison.records import Records
from arbitre.corpus.work import compared
from arbitre.errors import DataError
from arbitre.paths import order, pointer
from arbitre.report.alignments import aligned, shown
from arbitre.report.entries import Entries, index_of, sides
from arbitre.report.heat import Heat
from arbitre.report.tables import compact
from arbitre.report.view import Trust
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from arbitre.comparison.levels import Floats, Indices, Level
    from arbitre.corpus.evaluate import Evaluation
    from arbitre.corpus.join import Pair
    from arbitre.report.alignments import Aligned
    from arbitre.schema.nodes import Plan
    from arbitre.values import Json

ALIGNMENTS: Final = "alignments.json"
FORMAT: Final = "arbitre-alignments/1"

ENTRIES: Final = 2000
"""Documents are kept whole, the worst first, as long as they have no more entries than this together."""

CHARACTERS: Final = 3_000_000
"""Nor more characters than this. One document is always kept; of its entries the worst, where they are too many."""

WORST: Final = 3
"""So many pairs of each path are kept."""

PORTION: Final = 50
"""So many documents are worked out at a time, until there are enough."""

ROWS: Final = 2000
"""So many documents have a row, the worst where there are more."""


def digest(text: str) -> str:
    """The SHA-256 of the text of an evaluation, which ties the alignments to it."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def read(path: Path, evaluation: str) -> dict[str, Any] | None:
    """The alignments beside an evaluation, whose text is given; None where there are none.

    Raises DataError where they are of another format, or of another evaluation.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError.of(f"Expected a readable file, got: {error}", file=str(path), hint="Evaluate again.") from error
    try:
        found: dict[str, Any] = json.loads(text)
        of, made_for = found.get("format"), found.get("evaluation")
    except (ValueError, AttributeError, RecursionError) as error:
        raise refused(path, "other text") from error
    if of != FORMAT:
        raise refused(path, f"the format {of!r}")
    if made_for != digest(evaluation):
        raise refused(path, "those of another evaluation")
    return found


def refused(path: Path, found: str) -> DataError:
    """What is said of a file that is not the alignments of an evaluation."""
    return DataError.of(
        f"Expected the alignments of this evaluation, in the format {FORMAT!r}, got {found}",
        file=str(path),
        hint="Evaluate again, or remove the file: the report is then made without the documents.",
    )


Rank: TypeAlias = tuple[bool, float, int]
"""The order of need: whether a document failed, its quality, its number. The worst first, those that failed last."""


@dataclass(slots=True)
class Noting:
    """Notes what a report may show of documents, while these are compared: an observer of `arbitre.corpus`.

    A note is plain JSON: how many documents it is of (`size`), those that may be among the worst, and the worst pairs
    of every path. It leaves out what cannot be among the worst given the documents noted before, in their order.
    """

    plan: Plan
    entries: int = ENTRIES
    characters: int = CHARACTERS
    seen: int = 0
    best: list[tuple[Rank, int, int]] = field(default_factory=list)
    full: bool = False

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """One note."""
        qualities = np.ones(len(pairs))
        for level in levels:
            roots = (level.parent < 0) & (not level.inner)
            qualities[level.document[roots]] = level.quality[roots]
        ranked = sorted(
            (pair.failure is not None, quality, self.seen + at)
            for at, (pair, quality) in enumerate(zip(pairs, qualities.tolist(), strict=True))
        )
        documents: list[Json] = []
        for start in range(0, len(ranked), PORTION):
            part = [rank for rank in ranked[start : start + PORTION] if not self.full or rank < self.best[-1][0]]
            if not part:
                break
            made = aligned(self.plan, levels, [number - self.seen for _, _, number in part])
            for rank in part:
                at = rank[2] - self.seen
                document = self._document(made[at]) | {"at": at, "key": pairs[at].key}
                documents.append(document | {"failed": rank[0], "quality": rank[1]})
                self.best.append((rank, document["entries"], document["size"]))
            self.best.sort()
            stop = within([one[1:] for one in self.best], self.entries, self.characters)
            self.full = self.full or stop < len(self.best)
            del self.best[stop:]
        self.seen += len(pairs)
        return [{"size": len(pairs), "documents": documents, "worst": dict(_blamed(self.plan, pairs, levels))}]

    def _document(self, made: Aligned) -> dict[str, Any]:
        """A document; of too many entries the worst. `values` are the entries as they were read."""
        entries = len(made.rows)
        places = sorted(range(entries), key=lambda at: (made.rows[at]["entry"]["quality"], at))[: self.entries]
        rows = [made.rows[at] for at in sorted(places)]
        pairs = [zip(("gold", "predicted"), made.values[at], strict=True) for at in sorted(places)]
        return {
            "entries": entries,
            "size": len(compact(rows)) + len(compact(made.rest)),
            "rows": rows,
            "rest": made.rest,
            "values": [{side: value for side, value in pair if value is not ABSENT} for pair in pairs],
        }


@dataclass(frozen=True, slots=True)
class Blaming:
    """Notes the worst pairs of every path, and nothing else: an observer of `arbitre.corpus`, see `Noting`."""

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """One note."""
        return [{"size": len(pairs), "documents": [], "worst": dict(_blamed(self.plan, pairs, levels))}]


@dataclass(slots=True)
class Kept:
    """Keeps what the report of a corpus shows, of the notes on its documents, taken in their order.

    What is kept depends on the corpus alone, not on how it was divided on the way. Where one process compares, it is
    the `observe` of `arbitre.corpus.evaluate` itself.
    """

    plan: Plan
    entries: int = ENTRIES
    characters: int = CHARACTERS
    seen: int = 0
    documents: list[tuple[Rank, dict[str, Any]]] = field(default_factory=list)
    worst: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = field(default_factory=dict)
    noting: Noting = field(init=False)

    def __post_init__(self) -> None:
        self.noting = Noting(self.plan, self.entries, self.characters)

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> None:
        self.take(self.noting(pairs, levels))

    def take(self, notes: Iterable[Mapping[str, Any]]) -> None:
        """Take the notes on documents that follow those of the notes before."""
        for note in notes:
            for one in note["documents"]:
                self.documents.append(((one["failed"], one["quality"], self.seen + one["at"]), one))
            self.documents.sort(key=lambda document: document[0])
            sizes = [(one["entries"], one["size"]) for _, one in self.documents]
            del self.documents[within(sizes, self.entries, self.characters) :]
            for path, found in note["worst"].items():
                held = self.worst.setdefault(path, [])
                held += [((one["quality"], self.seen + one["at"], order(one["pointer"])), one) for one in found]
                held.sort(key=lambda pair: pair[0])
                del held[WORST:]
            self.seen += note["size"]

    def fill(self, evaluation: Evaluation, pairs: Sequence[Pair]) -> None:
        """Keep the worst documents of an evaluation, read and compared once more; `pairs` are all of its pairs."""
        columns = evaluation.columns
        places = np.arange(len(columns))
        if len(pairs) != len(columns):  # gold that could not be compared is no document
            known = {name: number for number, name in enumerate(columns.keys)}
            places = np.array([place for place, pair in enumerate(pairs) if pair.key in known], dtype=np.intp)
        order_of_need = np.lexsort((columns.qualities, columns.failed))
        noting = Noting(self.plan, self.entries, self.characters)
        for number in order_of_need.tolist():
            for members, levels, _ in compared(self.plan, [pairs[int(places[number])]]):
                noted = noting(members, levels)[0]["documents"]
                rank = bool(columns.failed[number]), float(columns.qualities[number]), number
                self.documents += [(rank, one | {"failed": rank[0], "quality": rank[1]}) for one in noted]
            sizes = [(one["entries"], one["size"]) for _, one in self.documents]
            kept = within(sizes, self.entries, self.characters)
            if kept < len(self.documents):
                del self.documents[kept:]
                break

    def to_dict(self, evaluation: Evaluation, text: str, trust: Trust | None = None) -> dict[str, Any]:
        """What `alignments.json` holds for an evaluation that has been observed, and whose JSON text is given."""
        heat = Heat(self.plan)
        ranked = sorted(enumerate(evaluation.documents), key=lambda one: (one[1].failed, one[1].quality, one[0]))
        rows = sorted(number for number, _ in ranked[:ROWS])
        certificate = self.plan.certificate
        schema = self.plan.root.schema
        title = schema.get("title") if isinstance(schema, dict) else None
        return {
            "format": FORMAT,
            "evaluation": digest(text),
            "title": title if isinstance(title, str) else None,
            "close": self.plan.close,
            "forced": Entries.of(self.plan).forced,
            "certificate": {
                "verdict": certificate.verdict,
                "breaks": [
                    {"path": one.path, "reason": one.reason, "remedy": one.remedy} for one in certificate.breaks
                ],
            },
            "trust": asdict(trust or Trust()),
            "documents": [_row(evaluation, number) for number in rows],
            "worst": {
                path: [{name: one[name] for name in _PAIR} for _, one in held] for path, held in self.worst.items()
            },
            "kept": [
                {
                    "key": one["key"],
                    "failed": one["failed"],
                    "quality": 0.0 if one["failed"] else one["quality"],
                    "entries": one["entries"],
                    "rows": one["rows"],
                    "rest": one["rest"],
                    "matrix": heat.of(one["rows"], one["values"]),
                }
                for _, one in self.documents
            ],
        }


_PAIR: Final = ("document", "entry", "gold", "predicted", "quality")


def within(sizes: Iterable[tuple[int, int]], entries: int, characters: int) -> int:
    """How many of these, from the first on, have no more entries and characters together; one at least.

    >>> within([(3, 10), (3, 10), (3, 10)], 7, 100)
    2
    """
    sums = [0, 0]
    count = 0
    for size in sizes:
        sums = [total + more for total, more in zip(sums, size, strict=True)]
        if count and (sums[0] > entries or sums[1] > characters):
            break
        count += 1
    return count


def _blamed(plan: Plan, pairs: Sequence[Pair], levels: Sequence[Level]) -> Iterator[tuple[str, list[Json]]]:
    """The worst matched pairs of every path, of those that are not equal."""
    records = Records.of(levels)
    stop = len(plan.entries) + Entries.of(plan).listed
    found: dict[str, list[dict[str, Any]]] = {}
    for level in levels:
        if level.inner or not (level.leaf or level.item):
            continue
        at = _lowest(level)
        gold, predicted = (values for values, _ in sides(level, at))
        for number, place in enumerate(at.tolist()):
            tokens = records.tokens(level.first + place, gold=True) or ()
            document = int(level.document[place])
            one = {
                "at": document,
                "pointer": pointer(tokens),
                "document": pairs[document].key,
                "entry": index_of(level.path[:stop], tokens[:stop]) if len(tokens) >= stop else None,
                "gold": shown(gold[number]),
                "predicted": shown(predicted[number]),
                "quality": float(level.quality[place]),
            }
            found.setdefault(level.text, []).append(one)
    for path, held in found.items():
        held.sort(key=lambda one: (one["quality"], one["at"], order(one["pointer"])))
        yield path, held[:WORST]


def _row(evaluation: Evaluation, number: int) -> Mapping[str, Json]:
    document = evaluation.documents[number]
    return {
        "key": document.key,
        "failed": document.failed,
        "quality": document.quality,
        "scores": document.scores.to_dict(),
    }


def _lowest(level: Level) -> Indices:
    """Where the worst pairs of a level are: by quality, then by document; all that are alike in both are taken."""
    at: Indices = np.flatnonzero(level.paired & (level.quality < 1.0))
    if len(at) <= WORST:
        return at
    quality: Floats = level.quality[at]
    document = level.document[at]
    ranked = np.lexsort((document, quality))
    third = ranked[WORST - 1]
    least = quality[third]
    taken: Indices = at[(quality < least) | ((quality == least) & (document <= document[third]))]
    return taken
