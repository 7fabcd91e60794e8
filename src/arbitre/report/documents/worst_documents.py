"""Collect the worst documents and pairs of a corpus for the report, within size limits."""

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
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from arbitre.arrays import Floats, Indices
    from arbitre.corpus.joining.join import Join, Pair
    from arbitre.corpus.results.documents import DocumentResult, DocumentTable
    from arbitre.corpus.results.evaluation import Evaluation
    from arbitre.corpus.running.document_results import DocumentResults, Observers
    from arbitre.report.documents.document_tree import AlignedDocument
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

ALIGNMENTS: Final = "alignments.json"
FORMAT: Final = "arbitre-alignments/1"

MAX_ENTRIES: Final = 2000
"""Maximum total number of entries of the documents kept, worst documents first."""

MAX_BYTES: Final = 3_000_000
"""Maximum total size of the documents kept, in bytes of JSON. At least one is kept, reduced to its worst entries."""

NOTES: Final = "worst"
AREAS: Final = "published"
"""Names of the observers."""

MAX_ROWS: Final = 2000
"""Maximum number of documents in the table of documents; the worst are kept."""


BATCH: Final = 8
"""Number of kept documents compared at once: half the time of one by one (nested lists of 20 entries)."""


def digest(text: str) -> str:
    """Return the SHA-256 of the text of an evaluation, which identifies the evaluation of the alignments."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def read(path: Path, evaluation: str) -> dict[str, Any] | None:
    """Read the alignments of an evaluation.

    Args:
        path: File of the alignments.
        evaluation: Text of the evaluation.

    Returns:
        The alignments, or None if there is no such file.

    Raises:
        DataError: If they have an unknown format or belong to another evaluation.
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
        raise refused(path, "a file that is not a JSON object") from error
    if of != FORMAT:
        raise refused(path, f"the format {of!r}")
    if made_for != digest(evaluation):
        raise refused(path, "the alignments of another evaluation")
    return found


def refused(path: Path, found: str) -> DataError:
    """Return the error for a file that does not hold the alignments of the evaluation."""
    return DataError.of(
        f"Expected the alignments of this evaluation, in the format {FORMAT!r}, got {found}",
        file=str(path),
        hint="Evaluate again, or remove the file to make the report without documents.",
    )


class ShownDocument(NamedTuple):
    """JSON of a document for the report (`plain`), and the entries and transport plan for its matrix."""

    plain: dict[str, Any]
    values: list[dict[str, Json]]
    plan: dict[str, Any] | None


@dataclass(slots=True)
class WorstDocuments:
    """Collects the worst pairs of every path and the worst documents of a corpus.

    Evaluate with its `observers`, pass the results to `take` in order, then call `fill`. The result depends only on the
    corpus, not on its division into work units.
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
        """Observers for the evaluation."""
        return {NOTES: WorstPairObserver(self.plan), AREAS: CurveAreaObserver(self.plan)}

    def take(self, outcomes: DocumentResults) -> None:
        """Collect the notes of the next documents."""
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
        """Read and compare the worst documents again, and keep them.

        Args:
            evaluation: Evaluation of the corpus.
            joined: All of its pairs.
        """
        columns = evaluation.document_table
        places = np.arange(len(columns), dtype=np.int32)
        if len(joined) != len(columns):  # pairs whose gold failed are not in the table
            known = set(columns.keys)
            places = np.array([place for place, one in enumerate(joined.keys) if one in known], dtype=np.int32)
        where = EntryLayout.of(self.plan)
        entries = room = 0
        areas = self.areas.view()
        for number, aligned in self._aligned(_ranked(columns), joined.pairs, places):
            found = columns[number]
            head = _head(found) | {"published": figures(found.tally, float(areas[number]))}
            shown = self._shown(where, head, aligned)
            entries += shown.plain["entries"]
            room += len(compact(shown.plain).encode("utf-8", "surrogatepass"))
            if self.documents and (entries > self.entries or room > self.room):
                break
            self.documents.append(shown)

    def _aligned(
        self, ranked: Indices, pairs: Sequence[Pair], places: npt.NDArray[np.int32]
    ) -> Iterator[tuple[int, AlignedDocument]]:
        """Yield the number and the alignment of each document in this order. Compares `BATCH` documents at once."""
        for begin in range(0, len(ranked), BATCH):
            numbers = ranked[begin : begin + BATCH].tolist()
            read = [pairs[int(places[number])] for number in numbers]
            done = 0
            for members, levels, _ in compare_pairs(self.plan, read):
                aligned = align_documents(self.plan, levels, range(len(members)))
                yield from zip(numbers[done : done + len(members)], aligned.values(), strict=True)
                done += len(members)

    def _shown(self, entries: EntryLayout, head: Mapping[str, Json], made: AlignedDocument) -> ShownDocument:
        """Return a document without negligible partial matches, reduced to its worst rows if there are too many."""
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
        """Return the contents of `alignments.json` for an evaluation with the JSON `text`."""
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
    """Return document numbers from worst to best, failed documents last; ties stay in order."""
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
    """Return the row of a document, with the interval of its f1q if known."""
    interval = None
    if ends is not None and not document.failed and not np.isnan(ends).any():
        low, high = ends.tolist()
        interval = asdict(IntervalView(low, high, LEVEL, "ratio"))
    return _head(document) | {"interval": interval}
