"""Where the faults of a corpus come from: the source texts, the neighbouring documents, and the values themselves."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from arbitre.arrays import exact_parts
from arbitre.diagnosis.evidence.gathering import Gathering, count_groups, gatherings
from arbitre.diagnosis.evidence.source_text import SourceText, search_key, searchable_values
from arbitre.paths import order
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arbitre.corpus.joining.join import Join
    from arbitre.corpus.reading.records import Pair
    from arbitre.corpus.reading.source_texts import SourceTexts
    from arbitre.diagnosis.causes.fault_rows import FaultRows
    from arbitre.diagnosis.causes.faults import FaultResults
    from arbitre.values import Json

MISSING: Final = "missing"
SPURIOUS: Final = "spurious"


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """Missing and spurious values at a path, by whether they occur in the source text.

    Attributes:
        path: Wildcard path of the values.
        fault: "missing" or "spurious".
        in_source: Number of values that occur in the text: missing values that the model left out, spurious values that
            it put in the wrong place.
        not_in_source: Number of values that do not: missing values that the OCR lost, spurious values that the model
            generated without a basis in the text.
    """

    path: str
    fault: str
    in_source: int
    not_in_source: int


@dataclass(frozen=True, slots=True)
class SourceEvidence:
    """Whether missing and spurious values occur in the texts that were given to the model.

    Attributes:
        with_text: Number of documents that have a text.
        without_text: Number of documents without a text; their values are not counted.
        counts: The values by path and fault.
    """

    with_text: int
    without_text: int
    counts: tuple[SourceCounts, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SourceEvidence:
        """Create the result from plain JSON."""
        return cls(**{**data, "counts": tuple(SourceCounts(**row) for row in data["counts"])})


@dataclass(frozen=True, slots=True)
class NeighbourCounts:
    """Spurious values at a path, by whether the gold of a neighbouring document has them at this path.

    Attributes:
        path: Wildcard path of the values.
        spurious: Number of spurious values.
        in_neighbours: Number of those that occur in the gold of the previous or next document, in the order of the ids.
    """

    path: str
    spurious: int
    in_neighbours: int


def shares_in_source(
    pairs: Sequence[Pair], rows: FaultRows, texts: SourceTexts | None
) -> tuple[list[float | None], list[Any]]:
    """Search for missing and spurious values in the source texts.

    Args:
        pairs: The documents.
        rows: Their faults.
        texts: The texts; None if there are none.

    Returns:
        The share of the values of each fault that occur in the text, None if it was not searched; and a note for each
        document: None without text, otherwise rows of path, fault, and numbers of values in the text and not in it.
    """
    shares: list[float | None] = [None] * len(rows)
    sources = [None if texts is None else texts.read(pair.id, pair.run) for pair in pairs]
    searched = [None if source is None else SourceText(source) for source in sources]
    counts: list[Counter[tuple[str, str, bool]]] = [Counter() for _ in pairs]
    for at, (document, path, fault, value) in enumerate(_values(rows)):
        text = searched[document]
        if text is None:
            continue
        outcomes = [(inner, leaf in text) for inner, leaf in searchable_values(path, value)]
        if outcomes and fault in {MISSING, SPURIOUS}:
            shares[at] = sum(present for _, present in outcomes) / len(outcomes)
            counts[document].update((inner, fault, present) for inner, present in outcomes)
    return shares, [
        None if text is None else [[*key, number] for key, number in sorted(counted.items())]
        for text, counted in zip(searched, counts, strict=True)
    ]


def evidence_of(pairs: Sequence[Pair], results: FaultResults, sources: Sequence[Any]) -> list[dict[str, Json]]:
    """Return the summands of each document for `EvidenceTotals`, as JSON."""
    spurious: list[list[Json]] = [[] for _ in pairs]
    for document, path, fault, value in _values(results.rows):
        if fault == SPURIOUS:
            spurious[document] += [[inner, search_key(leaf)] for inner, leaf in searchable_values(path, value)]
    groups = count_groups(results.taxonomy, len(pairs))
    return [
        {
            "id": pair.id,
            "doubtful": [alignment.to_dict() | {"id": pair.id, "run": pair.run} for alignment in doubtful],
            "source": source,
            "spurious": values,
            "groups": [[*cell, *numbers] for cell, numbers in sorted(cells.items())],
        }
        for pair, source, values, cells, doubtful in zip(
            pairs, sources, spurious, groups, results.doubtful, strict=True
        )
    ]


def _values(rows: FaultRows) -> Iterable[tuple[int, str, str, Json]]:
    """Yield document, path, class and value of each fault: the gold value, or the predicted one if gold has none."""
    for row in zip(rows.documents, rows.paths, rows.faults, rows.gold, rows.predicted, strict=True):
        yield *row[:3], row[4] if row[3] is ABSENT else row[3]


@dataclass(slots=True)
class EvidenceTotals:
    """Sums over documents, from which the evidence of a corpus follows. Their order does not matter."""

    _texts: Counter[bool] = field(default_factory=Counter)
    _sources: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    _counts: defaultdict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    _qualities: defaultdict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    _ids: set[str] = field(default_factory=set)
    _spurious: defaultdict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, documents: Iterable[Any]) -> None:
        """Add the notes of documents (see `evidence_of`)."""
        for document in documents:
            self._texts[document["source"] is not None] += 1
            for path, fault, present, number in document["source"] or ():
                self._sources[path, fault, present] += number
            for path, name, group, gold, missing, quality in document["groups"]:
                cell = path, name, group
                self._counts[cell][0] += gold
                self._counts[cell][1] += missing
                self._qualities[cell] = exact_parts([*self._qualities[cell], quality])
            self._ids.add(document["id"])
            if document["spurious"]:
                self._spurious[document["id"]].update((path, value) for path, value in document["spurious"])

    def source(self) -> SourceEvidence:
        """Return whether the values occur in the source texts."""
        keys = sorted({key[:2] for key in self._sources}, key=lambda key: (order(key[0]), key[1]))
        counts = (SourceCounts(*key, self._sources[*key, True], self._sources[*key, False]) for key in keys)
        return SourceEvidence(self._texts[True], self._texts[False], tuple(counts))

    def gathering(self) -> tuple[Gathering, ...]:
        """Return the groups of values that are tested for missing values."""
        return gatherings(
            {cell: (gold, missing, math.fsum(self._qualities[cell])) for cell, (gold, missing) in self._counts.items()}
        )

    def neighbours(self, documents: Join) -> tuple[NeighbourCounts, ...]:
        """Search for the spurious values in the gold of neighbouring documents.

        Args:
            documents: All documents of the corpus. Only those beside a document with spurious values are read.
        """
        wanted: defaultdict[str, list[str]] = defaultdict(list)
        for earlier, later in pairwise(sorted(self._ids, key=_natural)):
            if earlier in self._spurious:
                wanted[later].append(earlier)
            if later in self._spurious:
                wanted[earlier].append(later)
        places: dict[str, int] = {}
        for place, (identity, _) in enumerate(documents.labels if wanted else ()):
            if identity in wanted:
                places.setdefault(identity, place)
        present: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for pair in documents.at([*places.values()]):
            values = {(path, search_key(leaf)) for path, leaf in searchable_values("", pair.gold)}
            for identity in wanted[pair.id]:
                present[identity] |= values & self._spurious[identity].keys()
        totals: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for identity, values_of in self._spurious.items() if len(self._ids) > 1 else ():
            for value, number in values_of.items():
                totals[value[0]][0] += number
                totals[value[0]][1] += number * (value in present[identity])
        return tuple(NeighbourCounts(path, *totals[path]) for path in sorted(totals, key=order))


def _natural(identity: str) -> tuple[list[tuple[str, int]], str]:
    """Return a sort key that compares numbers in ids by value.

    >>> sorted(["page_10", "page_2", "page_1b"], key=_natural)
    ['page_1b', 'page_2', 'page_10']
    """
    parts = re.split(r"(\d+)", identity)
    return [(text, int(number or 0)) for text, number in zip(parts[::2], [*parts[1::2], ""], strict=True)], identity
