"""Collect the worst documents and pairs of a corpus for the report, within size limits."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.comparison.levels import pair_qualities, single_paths
from arbitre.comparison.node_tree import NodeTree
from arbitre.comparison.published_scores import figures, means, quadrature
from arbitre.errors import DataError
from arbitre.inputs.join import DUPLICATE_RUN
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.raw_answers import raw_answers
from arbitre.inputs.records import NO_PREDICTION, key
from arbitre.parsing.fast_json import to_plain
from arbitre.paths import order, pointer, wildcard
from arbitre.report.confusion_counts import ConfusionCounts, ConfusionObserver
from arbitre.report.document_tree import DocumentsToShow, ShownDocument, show_documents, shown
from arbitre.report.entry_links import EntryLink
from arbitre.report.entry_rows import EntryLayout, values_of
from arbitre.report.page_room import MAX_BYTES
from arbitre.report.quality_matrix import QualityMatrices
from arbitre.schema.value_schema import value_schemas
from arbitre.statistics.intervals import LEVEL, document_intervals
from arbitre.storage.columns import GrowingArray
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from arbitre.arrays import Floats, Indices
    from arbitre.comparison.levels import Level
    from arbitre.corpus.documents import DocumentResult, DocumentTable
    from arbitre.corpus.evaluation import Evaluation
    from arbitre.corpus.worker import DocumentResults, Observers
    from arbitre.inputs.join import JoinedCorpus
    from arbitre.inputs.open_files import Workers
    from arbitre.inputs.raw_answers import RawAnswer
    from arbitre.inputs.records import Failure, Pair
    from arbitre.report.view import TrustView
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


ALIGNMENTS: Final = "alignments.json"
REPORT: Final = "report.html"
REPORT_FILES: Final = (ALIGNMENTS, REPORT)
"""Files of the report of an evaluation."""
FORMAT: Final = "arbitre-alignments/1"

MAX_ENTRIES: Final = 2000
"""Maximum number of entries kept of one document; the worst are kept."""

NOTES: Final = "worst"
AREAS: Final = "published"
CONFUSIONS: Final = "confusions"
"""Names of the observers."""

READ_AT_ONCE: Final = 32
"""Number of documents that are compared again at once; halves the time of one by one (lists of 20 entries)."""

READ_IN_PROCESS: Final = 8
"""Number of documents in the first task for worker processes. Smaller than `READ_AT_ONCE`, because tasks are submitted
before it is known whether their documents fit. Each task has twice as many documents as the one before, up to
`MAX_IN_PROCESS`: if more tasks are needed, the documents are small."""

MAX_IN_PROCESS: Final = 64
"""Maximum number of documents per task for worker processes. For 2,000 documents on a cluster, the client needs about
0.5 s less CPU time than with `READ_IN_PROCESS` documents in every task."""

MAX_ROWS: Final = 2000
"""Maximum number of documents in the table of documents, besides those that are kept; the worst are listed."""

MAX_FAILED: Final = 20
"""Number of failed documents that are kept before other documents, with the texts of their predictions; further ones
only fill the room that is left."""

USUAL_READING: Final = ReadOptions()


def digest(text: str) -> str:
    """Return the SHA-256 of a text. That of `evaluation.json` identifies the evaluation of the alignments."""
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


@dataclass(slots=True)
class WorstDocuments:
    """Collects the worst pairs of every path and the documents for the report of a corpus.

    Evaluate with its `observers`, pass the results to `take` in order, then call `fill`. The result depends only on the
    corpus, not on its division into work units.

    Attributes:
        plan: The compiled schema.
        keep: Number of documents to keep; None for as many as fit in `room`.
        entries: Maximum number of entries kept of one document.
        room: Maximum total size of the documents, in bytes of JSON.
    """

    plan: Plan
    keep: int | None = None
    entries: int = MAX_ENTRIES
    room: int = MAX_BYTES
    seen: int = 0
    documents: dict[int, ShownDocument] = field(default_factory=dict)
    """Documents kept, by number, worst first."""
    matrices: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    """The quality matrices of these documents."""
    failures: dict[str, Failure] = field(default_factory=dict)
    """Why the failed ones among these documents have no prediction, by document key."""
    answers: dict[Failure, RawAnswer] = field(default_factory=dict)
    """The texts of the first of these predictions, if they can be read."""
    sources: list[dict[str, Any]] = field(default_factory=list)
    """The sources of the examples of causes (see `ExampleSources`)."""
    worst: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    areas: GrowingArray = field(default_factory=lambda: GrowingArray(np.float64))
    confusions: ConfusionCounts = field(default_factory=ConfusionCounts)

    @property
    def observers(self) -> Observers:
        """Observers for the evaluation."""
        return {
            NOTES: WorstPairObserver(self.plan),
            AREAS: CurveAreaObserver(self.plan),
            CONFUSIONS: ConfusionObserver(),
        }

    def take(self, outcomes: DocumentResults) -> None:
        """Collect the notes of the next documents."""
        self.areas.extend(outcomes.seen.get(AREAS, ()))
        self.confusions.take(outcomes.seen.get(CONFUSIONS, ()))
        notes: Iterable[Any] = outcomes.seen.get(NOTES, ())
        for note in notes:
            for path, found in note["worst"].items():
                held = self.worst.setdefault(path, [])
                held += [one | {"at": self.seen + one["at"]} for one in found]
                held.sort(key=rank)
                del held[PAIRS_PER_PATH:]
            self.seen += note["size"]

    def fill(
        self,
        evaluation: Evaluation,
        joined: JoinedCorpus,
        links: Iterable[EntryLink] = (),
        processes: Workers | None = None,
        reading: ReadOptions = USUAL_READING,
    ) -> None:
        """Read and compare the documents of the report again, and keep them.

        The documents that the report links to come first: those of `links`, then those of the worst pairs. If they
        exceed the room, each is reduced to its linked and its worst entries. The worst other documents fill the rest.

        Args:
            evaluation: Evaluation of the corpus.
            joined: All of its pairs.
            links: Entries and documents that the report links to, the most important first.
            processes: Worker processes that read and compare the documents; None for this process.
            reading: How the documents were read.
        """
        columns = evaluation.document_table
        most = len(columns) if self.keep is None else self.keep
        linked = self._linked(columns, links)
        wanted, ranked, entries = list(linked)[:most], worst_first(columns), self.entries
        failed = ranked[columns.failed[ranked]]
        late = failed[MAX_FAILED:]  # many failed documents must not take the room of all others
        others = ranked[~np.isin(ranked, np.concatenate([late, np.array(wanted, dtype=np.intp)]))]
        others = np.concatenate([others, late[~np.isin(late, wanted)]])
        numbers = np.concatenate([np.array(wanted, dtype=np.intp), others])[:most]
        documents = self._shown(numbers, evaluation, joined, linked, processes)
        made = dict(islice(documents, len(wanted)))
        while self.keep is None and entries > 1 and sum(one.size for one in made.values()) > self.room:
            entries //= 2
            made = {number: one.reduced(linked[number], entries) for number, one in made.items()}
        room = float("inf") if self.keep is not None else self.room
        kept: dict[int, ShownDocument] = {}
        for number, document in chain(made.items(), documents):
            room -= document.size
            if kept and room < 0:
                break
            kept[number] = document
        del documents  # stops the comparison of further documents
        self.documents = {number: kept[number] for number in ranked[np.isin(ranked, list(kept))].tolist()}
        keys = {columns[number].key for number in failed[np.isin(failed, list(kept))].tolist()}
        self.failures = _failures_of(keys, evaluation)
        self.answers = raw_answers(islice(self.failures.values(), MAX_FAILED), reading)
        matrices = QualityMatrices(self.plan).of([one.matrix_input for one in self.documents.values()], processes)
        self.matrices = dict(zip(self.documents, matrices, strict=True))

    def _linked(self, columns: DocumentTable, links: Iterable[EntryLink]) -> dict[int, list[EntryLink]]:
        """Return the numbers of the documents that the report links to, with the links to their entries."""
        by_key: dict[str, dict[EntryLink, None]] = {}
        for link in links:
            by_key.setdefault(link.document, {})[link] = None
        numbers = {key: number for number, key in enumerate(columns.keys) if key in by_key}
        found = {numbers[key]: list(own) for key, own in by_key.items() if key in numbers}
        for held in self.worst.values():
            for one in held:
                found.setdefault(one["at"], []).append(EntryLink(one["document"], one["entry"]))
        return found

    def _shown(
        self,
        numbers: Indices,
        evaluation: Evaluation,
        joined: JoinedCorpus,
        linked: Mapping[int, Sequence[EntryLink]],
        processes: Workers | None,
    ) -> Iterator[tuple[int, ShownDocument]]:
        """Read and compare documents, given their numbers, several at a time, and yield each with its number."""
        columns, areas = evaluation.document_table, self.areas.view()
        places = np.arange(len(columns), dtype=np.int32)
        if len(joined) != len(columns):  # pairs whose gold failed are not in the table
            known = set(columns.keys)
            places = np.array([place for place, one in enumerate(joined.keys) if one in known], dtype=np.int32)
        show = partial(show_documents, self.plan, self.entries)

        def heads(chunk: Indices) -> Iterator[dict[str, Json]]:
            published = figures(columns.entries.floats(rows=chunk), areas[chunk])
            for result, own in zip(columns.at(chunk), published, strict=True):
                yield _head(result) | {"published": own}

        def tasks() -> Iterator[DocumentsToShow]:
            size, end = READ_AT_ONCE if processes is None else READ_IN_PROCESS, 0
            while end < len(numbers):
                chunk = numbers[end : end + size]
                end += size
                if processes is not None:
                    size = min(2 * size, MAX_IN_PROCESS)
                entries = [linked.get(number, ()) for number in chunk.tolist()]
                yield DocumentsToShow(joined.unit(places[chunk]), list(heads(chunk)), entries)

        together = map(show, tasks()) if processes is None else processes.map(show, tasks())
        return zip(map(int, numbers), chain.from_iterable(together), strict=True)

    def to_dict(
        self,
        evaluation: Evaluation,
        text: str,
        trust: TrustView | None = None,
        noted: Mapping[str, int] | None = None,
        notes: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the contents of `alignments.json` for an evaluation with the JSON `text`.

        `noted` is the number of `repaired` predictions, of those that are JSON `in_text`, and of schema `violations`,
        for the warnings; `notes` are those on how the documents were joined.
        """
        from arbitre.report.view import TrustView  # noqa: PLC0415  (slow to import, and only the report needs it)

        entries, certificate, schema = EntryLayout.of(self.plan), self.plan.certificate, self.plan.root.schema
        columns = evaluation.document_table
        ranked = worst_first(columns)
        rows = np.concatenate([ranked[:MAX_ROWS], ranked[MAX_ROWS:][np.isin(ranked[MAX_ROWS:], list(self.documents))]])
        ends = document_intervals(columns.entries.floats(rows=rows)).tolist()
        title = schema.get("title") if isinstance(schema, dict) else None
        causes = () if evaluation.cause_factory is None else evaluation.causes
        return {
            "format": FORMAT,
            "evaluation": digest(text),
            "title": title if isinstance(title, str) else None,
            "close": self.plan.close,
            "listed": entries.listed,
            "forced": entries.full_matching,
            "moved": entries.moved,
            "certificate": {
                "verdict": certificate.verdict,
                "breaks": [
                    {"path": one.path, "reason": one.reason, "remedy": one.remedy} for one in certificate.breaks
                ],
            },
            "trust": asdict(trust or TrustView()),
            "noted": dict(noted or {}),
            "notes": list(notes),
            "published": means(columns.tally_parts(), self.areas.view()),
            "documents": [
                _row(one, own if entries.listed else None) for one, own in zip(columns.at(rows), ends, strict=True)
            ],
            "schemas": value_schemas(self.plan.root, sorted({path for cause in causes for path in cause.paths})),
            "worst": {path: [{name: one[name] for name in _PAIR} for one in held] for path, held in self.worst.items()},
            "keep": self.keep,
            "confusions": self.confusions.matrices(self.plan),
            "sources": self.sources,
            "kept": [
                one.plain | self._explained(one.plain["key"]) | {"matrix": self.matrices[number]}
                for number, one in self.documents.items()
            ],
        }

    def _explained(self, key: str) -> dict[str, Any]:
        """Return why a document has no prediction, and the beginning of the text that could not be read."""
        failure = self.failures.get(key)
        answer = None if failure is None else self.answers.get(failure)
        reason = None if failure is None or failure.reason == NO_PREDICTION else failure.reason
        return {"reason": reason, "raw": answer and answer.to_dict()}


def worst_first(columns: DocumentTable) -> Indices:
    """Return the row indices by increasing f1q, then document quality; ties stay in the order of the corpus.

    A failed document counts as 0, as in the mean over documents. One without entries has no f1q and comes last.
    """
    gold, predicted, _, quality, _ = columns.entries.columns()
    sizes = np.add(gold, predicted, dtype=np.float64)
    f1q = np.full(len(columns), np.inf)
    np.divide(np.multiply(2.0, quality, dtype=np.float64), sizes, out=f1q, where=sizes > 0.0)
    f1q[columns.failed] = 0.0
    ranked: Indices = np.lexsort((columns.qualities, f1q))
    return ranked


def _failures_of(keys: Collection[str], evaluation: Evaluation) -> dict[str, Failure]:
    """Return the failures of some predictions, by document key."""
    return {
        key(failure.id, failure.run): failure
        for failure in evaluation.failures
        if failure.side == "predicted"
        and failure.id is not None
        and failure.reason != DUPLICATE_RUN
        and key(failure.id, failure.run) in keys
    }


_PAIR: Final = ("document", "entry", "gold", "predicted", "quality")


def _head(document: DocumentResult) -> dict[str, Json]:
    return {
        "key": document.key,
        "failed": document.failed,
        "quality": document.quality,
        "scores": document.scores.to_dict(),
    }


def _row(document: DocumentResult, ends: Sequence[float] | None) -> dict[str, Json]:
    """Return the row of a document, with the interval of its f1q if known."""
    from arbitre.report.view import IntervalView  # noqa: PLC0415  (as in `to_dict`)

    interval = None
    if ends is not None and not document.failed and not any(map(math.isnan, ends)):
        low, high = ends
        interval = to_plain(IntervalView(low, high, LEVEL, "ratio"))
    return _head(document) | {"interval": interval}


# Observers, which collect data for the report during an evaluation.

PAIRS_PER_PATH: Final = 3
"""Number of worst pairs kept per path."""


@dataclass(frozen=True, slots=True)
class WorstPairObserver:
    """Observer that records the worst pairs of every path, by cost: mass * (1 - quality).

    A note is JSON: the number of documents (`size`) and the worst pairs by path (`worst`).
    """

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return a single note for all pairs."""
        return [{"size": len(pairs), "worst": dict(_blamed(self.plan, pairs, levels))}]


@dataclass(frozen=True, slots=True)
class CurveAreaObserver:
    """Observer that records the area under the quality curve of every document, as the published script computes it."""

    plan: Plan

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return the area for each document."""
        qualities, weights, documents = pair_qualities(levels, wildcard(self.plan.entries))
        areas: list[Json] = np.bincount(documents, weights * quadrature(qualities), minlength=len(pairs)).tolist()
        return areas


def _blamed(plan: Plan, pairs: Sequence[Pair], levels: Sequence[Level]) -> Iterator[tuple[str, list[Json]]]:
    """Yield the worst matched pairs of every path, without equal ones."""
    node_tree = NodeTree.of(levels)
    entries = EntryLayout.of(plan)
    found: dict[str, list[dict[str, Any]]] = {}
    for level in single_paths(levels):
        if level.inner or not (level.leaf or level.item):
            continue
        at = _dearest(level)
        costs = _costs(level, at).tolist()
        gold, predicted = values_of(level, at)
        forms = level.source.accepted_forms(level.left[at], level.right[at])
        for number, place in enumerate(at.tolist()):
            tokens = node_tree.tokens(level.first + place, gold=True) or ()
            document = int(level.document[place])
            one = {
                "at": document,
                "pointer": pointer(tokens),
                "document": pairs[document].key,
                "entry": entries.index(level.path, tokens),
                "gold": shown(gold[number] if forms[number] is ABSENT else forms[number]),
                "predicted": shown(predicted[number]),
                "quality": float(level.quality[place]),
                "cost": costs[number],
            }
            found.setdefault(level.text, []).append(one)
    for path, held in found.items():
        held.sort(key=rank)
        yield path, held[:PAIRS_PER_PATH]


def rank(one: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a recorded pair: worst first, then by document."""
    return -one["cost"], one["at"], order(one["pointer"])


def _costs(level: Level, at: Indices) -> Floats:
    """Return the costs of pairs, as an array of floats."""
    lost: Floats = 1.0 - level.quality[at]
    return lost if level.scale is None else lost * level.scale[at]


def _dearest(level: Level) -> Indices:
    """Return the rows of the worst pairs of a level, by cost, then by document, including ties."""
    at: Indices = np.flatnonzero(level.paired & (level.quality < 1.0))
    if len(at) <= PAIRS_PER_PATH:
        return at
    costs, document = _costs(level, at), level.document[at]
    ranked = np.lexsort((document, -costs))
    third = ranked[PAIRS_PER_PATH - 1]
    taken: Indices = at[(costs > costs[third]) | ((costs == costs[third]) & (document <= document[third]))]
    return taken
