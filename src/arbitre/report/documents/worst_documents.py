"""What is kept of the documents of a corpus while they pass by, so that a report can show them: the worst, bounded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arbitre.corpus.running.worker import compare_pairs
from arbitre.corpus.statistics import document_intervals
from arbitre.corpus.statistics.bootstrap import LEVEL
from arbitre.corpus.storage.spill_array import SpillArray
from arbitre.errors import DataError
from arbitre.published_scores import figures, means
from arbitre.report.documents.document_tree import align_documents
from arbitre.report.documents.entry_rows import EntryLayout
from arbitre.report.documents.observers import PAIRS_PER_PATH, CurveAreaObserver, WorstPairObserver, rank
from arbitre.report.documents.quality_matrix import QualityMatrices, plan_of
from arbitre.report.html.view import IntervalView, TrustView
from arbitre.report.text_files import compact
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from arbitre.arrays import Floats, Indices
    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.results.documents import DocumentResult, DocumentTable
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.report.documents.document_tree import AlignedDocument
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

ALIGNMENTS: Final = "alignments.json"
FORMAT: Final = "arbitre-alignments/1"

MAX_ENTRIES: Final = 2000
"""Documents are kept whole, the worst first, as long as they have no more entries than this together."""

MAX_BYTES: Final = 3_000_000
"""Nor take more bytes than this. One document is always kept; of its entries the worst, where they are too many."""

NOTES: Final = "worst"
AREAS: Final = "published"
"""The names of what is noted, among all that is noted of documents."""

MAX_ROWS: Final = 2000
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


class ShownDocument(NamedTuple):
    """What is shown of a document; the entries of its rows as they were read and the plan, which its matrix needs."""

    plain: dict[str, Any]
    values: list[dict[str, Json]]
    plan: dict[str, Any] | None


@dataclass(slots=True)
class WorstDocuments:
    """Keeps what the report of a corpus shows: the worst pairs of every path, and the worst documents.

    Evaluate with its `observers`, `take` the outcomes in their order, then `fill` it. What is kept depends on the
    corpus alone, not on how it was divided on the way.
    """

    plan: Plan
    entries: int = MAX_ENTRIES
    room: int = MAX_BYTES
    seen: int = 0
    documents: list[ShownDocument] = field(default_factory=list)
    worst: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    areas: SpillArray = field(default_factory=lambda: SpillArray(np.float64))

    @property
    def observers(self) -> Observers:
        """What has to be noted of documents while they are compared."""
        return {NOTES: WorstPairObserver(self.plan), AREAS: CurveAreaObserver(self.plan)}

    def take(self, outcomes: DocumentResults) -> None:
        """Keep what was noted of documents that follow those taken before."""
        self.areas.extend(outcomes.seen.get(AREAS, ()))
        notes: Iterable[Any] = outcomes.seen.get(NOTES, ())
        for note in notes:
            for path, found in note["worst"].items():
                held = self.worst.setdefault(path, [])
                held += [one | {"at": self.seen + one["at"]} for one in found]
                held.sort(key=rank)
                del held[PAIRS_PER_PATH:]
            self.seen += note["size"]

    def fill(self, evaluation: Evaluation, joined: Join) -> None:
        """Keep the worst documents of an evaluation, read and compared once more; `joined` are all of its pairs.

        They are ranked as their rows are.
        """
        columns = evaluation.document_table
        places = np.arange(len(columns), dtype=np.int32)
        if len(joined) != len(columns):  # gold that could not be compared is no document
            known = set(columns.keys)
            places = np.array([place for place, one in enumerate(joined.keys) if one in known], dtype=np.int32)
        where = EntryLayout.of(self.plan)
        entries = room = 0
        areas = self.areas.view()
        for number in _ranked(columns).tolist():
            _, levels, _ = next(compare_pairs(self.plan, [joined.pairs[int(places[number])]]))
            found = columns[number]
            head = _head(found) | {"published": figures(found.tally, float(areas[number]))}
            shown = self._shown(where, head, align_documents(self.plan, levels, [0])[0])
            entries += shown.plain["entries"]
            room += len(compact(shown.plain).encode("utf-8", "surrogatepass"))
            if self.documents and (entries > self.entries or room > self.room):
                break
            self.documents.append(shown)

    def _shown(self, entries: EntryLayout, head: Mapping[str, Json], made: AlignedDocument) -> ShownDocument:
        """A document without its faint rows; of too many the worst."""
        strong = made.strong()
        worst = sorted(strong, key=lambda at: (made.rows[at]["entry"]["quality"], at))[: self.entries]
        places = sorted(worst)
        pairs = [zip(("gold", "predicted"), made.values[at], strict=True) for at in places]
        planned = entries.moved and entries.single and len(places) == len(strong)
        plain = {
            **head,
            "entries": len(strong),
            "faint": len(made.rows) - len(strong),
            "rows": [made.rows[at] for at in places],
            "rest": made.rest,
        }
        values = [{side: value for side, value in pair if value is not ABSENT} for pair in pairs]
        return ShownDocument(plain, values, plan_of(made.rows) if planned else None)

    def to_dict(self, evaluation: Evaluation, text: str, trust: TrustView | None = None) -> dict[str, Any]:
        """What `alignments.json` holds for an evaluation that has been observed, and whose JSON text is given."""
        entries, certificate, schema = EntryLayout.of(self.plan), self.plan.certificate, self.plan.root.schema
        columns, heat = evaluation.document_table, QualityMatrices(self.plan)
        rows = np.sort(_ranked(columns)[:MAX_ROWS])
        ends = document_intervals(columns.tallies[rows])
        title = schema.get("title") if isinstance(schema, dict) else None
        every = zip(columns, self.areas.view().tolist(), strict=True)
        return {
            "format": FORMAT,
            "evaluation": digest(text),
            "title": title if isinstance(title, str) else None,
            "close": self.plan.close,
            "forced": entries.full_matching,
            "moved": entries.moved,
            "certificate": {
                "verdict": certificate.verdict,
                "breaks": [
                    {"path": one.path, "reason": one.reason, "remedy": one.remedy} for one in certificate.breaks
                ],
            },
            "trust": asdict(trust or TrustView()),
            "published": means(figures(one.tally, area) for one, area in every if not one.tally.vacuous),
            "documents": [
                _row(one, own if entries.listed else None) for one, own in zip(columns.at(rows), ends, strict=True)
            ],
            "worst": {path: [{name: one[name] for name in _PAIR} for one in held] for path, held in self.worst.items()},
            "kept": [
                one.plain | {"matrix": heat.of(one.plain["rows"], one.values, one.plan)} for one in self.documents
            ],
        }


_PAIR: Final = ("document", "entry", "gold", "predicted", "quality")


def _ranked(columns: DocumentTable) -> Indices:
    """The documents from the worst to the best, those that failed last; those that are alike in their order."""
    ranked: Indices = np.lexsort((columns.qualities, columns.failed))
    return ranked


def _head(document: DocumentResult) -> dict[str, Json]:
    return {
        "key": document.key,
        "failed": document.failed,
        "quality": document.quality,
        "scores": document.scores.to_dict(),
    }


def _row(document: DocumentResult, ends: Floats | None) -> dict[str, Json]:
    """A document among all, and between which values its f1q would lie, where that is known."""
    interval = None
    if ends is not None and not document.failed and not np.isnan(ends).any():
        low, high = ends.tolist()
        interval = asdict(IntervalView(low, high, LEVEL, "ratio"))
    return _head(document) | {"interval": interval}
