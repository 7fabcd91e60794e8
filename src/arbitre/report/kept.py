"""What is kept of the documents of a corpus while they pass by, so that a report can show them: the worst, bounded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

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
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.join import Pair
    from arbitre.corpus.outcomes import Observers, Outcomes
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

NOTES: Final = "worst"
"""The name of what is noted, among all that is noted of documents."""

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


@dataclass(frozen=True, slots=True)
class Blaming:
    """Notes the worst pairs of every path while documents are compared: an observer of `arbitre.corpus`.

    A note is plain JSON: how many documents it is of (`size`), and the worst pairs by path (`worst`).
    """

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """One note."""
        return [{"size": len(pairs), "worst": dict(_blamed(self.plan, pairs, levels))}]


@dataclass(slots=True)
class Kept:
    """Keeps what the report of a corpus shows: the worst pairs of every path, and the worst documents.

    Evaluate with its `observers`, `take` the outcomes in their order, then `fill` it. What is kept depends on the
    corpus alone, not on how it was divided on the way.
    """

    plan: Plan
    entries: int = ENTRIES
    characters: int = CHARACTERS
    seen: int = 0
    documents: list[dict[str, Any]] = field(default_factory=list)
    worst: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = field(default_factory=dict)

    @property
    def observers(self) -> Observers:
        """What has to be noted of documents while they are compared."""
        return {NOTES: Blaming(self.plan)}

    def take(self, outcomes: Outcomes) -> None:
        """Keep the worst pairs of documents that follow those taken before."""
        notes: Iterable[Any] = outcomes.seen.get(NOTES, ())
        for note in notes:
            for path, found in note["worst"].items():
                held = self.worst.setdefault(path, [])
                held += [((one["quality"], self.seen + one["at"], order(one["pointer"])), one) for one in found]
                held.sort(key=lambda pair: pair[0])
                del held[WORST:]
            self.seen += note["size"]

    def fill(self, evaluation: Evaluation, pairs: Sequence[Pair]) -> None:
        """Keep the worst documents of an evaluation, read and compared once more; `pairs` are all of its pairs.

        Those that failed come last, those that are alike in their order.
        """
        columns = evaluation.columns
        places = np.arange(len(columns))
        if len(pairs) != len(columns):  # gold that could not be compared is no document
            known = {name: number for number, name in enumerate(columns.keys)}
            places = np.array([place for place, pair in enumerate(pairs) if pair.key in known], dtype=np.intp)
        sizes: list[tuple[int, int]] = []
        for number in np.lexsort((columns.qualities, columns.failed)).tolist():
            (pair,), levels, _ = next(compared(self.plan, [pairs[int(places[number])]]))
            document = self._document(aligned(self.plan, levels, [0])[0])
            sizes.append((document["entries"], len(compact(document["rows"])) + len(compact(document["rest"]))))
            if within(sizes, self.entries, self.characters) < len(sizes):
                break
            failed, quality = bool(columns.failed[number]), float(columns.qualities[number])
            self.documents.append(document | {"key": pair.key, "failed": failed, "quality": quality})

    def _document(self, made: Aligned) -> dict[str, Any]:
        """What is shown of a document; of too many entries the worst."""
        entries = len(made.rows)
        places = sorted(range(entries), key=lambda at: (made.rows[at]["entry"]["quality"], at))[: self.entries]
        rows = [made.rows[at] for at in sorted(places)]
        pairs = [zip(("gold", "predicted"), made.values[at], strict=True) for at in sorted(places)]
        values = [{side: value for side, value in pair if value is not ABSENT} for pair in pairs]
        return {"entries": entries, "rows": rows, "rest": made.rest, "values": values}

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
                    "quality": one["quality"],
                    "entries": one["entries"],
                    "rows": one["rows"],
                    "rest": one["rest"],
                    "matrix": heat.of(one["rows"], one["values"]),
                }
                for one in self.documents
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
