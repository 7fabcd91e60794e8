"""The JSON of a document for the report, with all of its entries or only the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from arbitre.comparison.levels import pair_qualities
from arbitre.corpus.running.worker import compare_pairs
from arbitre.parsing.fast_json import compact
from arbitre.paths import wildcard
from arbitre.report.documents.document_tree import align_documents
from arbitre.report.documents.entry_rows import EntryLayout
from arbitre.report.documents.quality_matrix import MatrixInput, plan_of
from arbitre.report.entry_classes import sum_by_class
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from arbitre.corpus.joining.work_units import WorkUnit
    from arbitre.report.documents.document_tree import AlignedDocument
    from arbitre.schema.plan import Plan
    from arbitre.values import Json


class ShownDocument(NamedTuple):
    """JSON of a document for the report (`plain`), its size, and the entries and transport plan for its matrix."""

    plain: dict[str, Any]
    size: int
    values: list[dict[str, Json]]
    plan: dict[str, Any] | None

    @property
    def matrix_input(self) -> MatrixInput:
        """Input for the quality matrix of the document."""
        return MatrixInput(self.plain["rows"], self.values, self.plan)

    def reduced(self, linked: Collection[str], most: int) -> ShownDocument:
        """Return the document with the entries in `linked` (gold indices) and the worst of the others.

        Keeps at most `most` entries, unless more are linked.
        """
        rows = self.plain["rows"]
        worst = sorted(
            range(len(rows)),
            key=lambda at: (rows[at]["gold_index"] not in linked, rows[at]["entry"]["quality"], at),
        )
        needed = sum(row["gold_index"] in linked for row in rows)
        places = sorted(worst[: max(most, needed, 1)])
        plain = self.plain | {"rows": [rows[at] for at in places]}
        size = len(compact(plain).encode("utf-8", "surrogatepass"))
        plan = self.plan if len(places) == len(rows) else None
        return ShownDocument(plain, size, [self.values[at] for at in places], plan)


class DocumentsToShow(NamedTuple):
    """Documents to read and compare again, with the first fields of the JSON and the linked entries of each."""

    unit: WorkUnit
    heads: Sequence[dict[str, Any]]
    linked: Sequence[Collection[str]]


def show_documents(plan: Plan, most: int, documents: DocumentsToShow) -> list[ShownDocument]:
    """Compare documents and return each with at most `most` entries: the linked ones (even if more), then the worst."""
    heads = zip(documents.heads, documents.linked, strict=True)
    return [
        _whole(EntryLayout.of(plan), head | classes, aligned).reduced(linked, most)
        for (head, linked), (aligned, classes) in zip(heads, _aligned(plan, documents), strict=True)
    ]


def _aligned(plan: Plan, documents: DocumentsToShow) -> Iterator[tuple[AlignedDocument, dict[str, Json]]]:
    """Yield the alignment of each document, and the masses of its entries by class."""
    scores = (head["scores"] for head in documents.heads)
    for members, levels, _ in compare_pairs(plan, list(documents.unit)):
        aligned = align_documents(plan, levels, range(len(members)))
        qualities, masses, places = pair_qualities(levels, wildcard(plan.entries))
        for at in range(len(members)):
            own = places == at
            pairs = zip(qualities[own].tolist(), masses[own].tolist(), strict=True)
            yield aligned[at], {"classes": sum_by_class(pairs, next(scores), plan.close)}


def _whole(layout: EntryLayout, head: Mapping[str, Json], aligned: AlignedDocument) -> ShownDocument:
    """Return a document with all entries except negligible partial matches. Its size is 0; `reduced` computes it."""
    strong = aligned.strong()
    rows = [aligned.rows[at] for at in strong]
    pairs = [zip(("gold", "predicted"), aligned.values[at], strict=True) for at in strong]
    plain = {
        **head,
        "entries": len(strong),
        "wrong_fields": sum(row["wrong_field"] for row in rows),
        "faint": len(aligned.rows) - len(strong),
        "rows": rows,
        "rest": aligned.rest,
    }
    values = [{side: value for side, value in pair if value is not ABSENT} for pair in pairs]
    planned = layout.moved and layout.single
    return ShownDocument(plain, 0, values, plan_of(aligned.rows) if planned else None)
