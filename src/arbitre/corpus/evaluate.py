"""A corpus evaluated: every document compared, every tally kept, every score a function of their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from arbitre.comparison.levels import Sums, by_path, leaves, of_nodes, pair_qualities, total
from arbitre.corpus.join import Join, Pair
from arbitre.corpus.read import Failure
from arbitre.curve import Curve
from arbitre.engine import run
from arbitre.errors import DataError
from arbitre.paths import order, wildcard
from arbitre.tally import MacroScores, Scores, Tally
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.comparison.levels import Floats, Level
    from arbitre.schema.nodes import Plan
    from arbitre.signature import Signature
    from arbitre.values import Json

CHUNK: Final = 8
"""So many documents are compared at once to begin with."""

RECORDS: Final = 1 << 17
"""Later so many that this many nodes are: short documents go together by the hundred, long ones alone."""

FORMAT: Final = "arbitre-evaluation/1"
THRESHOLDS: Final = (0.5, 0.7, 0.9)
"""The survival curve is printed at these qualities."""

Observer: TypeAlias = "Callable[[Sequence[Pair], Sequence[Level]], None]"


@dataclass(frozen=True, slots=True)
class Document:
    """What came of one document: the tally of its entries, the quality of its root (0 where it failed)."""

    id: str
    run: str | None
    key: str
    tally: Tally
    quality: float
    failed: bool

    @property
    def scores(self) -> Scores:
        return Scores(self.tally)


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """The results of a corpus.

    `documents` are in the order they came in; `failures` lists every prediction (or gold) that could not be used, and
    counts as an empty prediction in the sums and as 0 in the means; `without_gold` names predictions nobody asked for.
    """

    signature: Signature
    entries: str
    documents: tuple[Document, ...]
    tallies: Mapping[str, Tally]
    leaf_tally: Tally
    curve: Curve
    failures: tuple[Failure, ...] = ()
    without_gold: tuple[str, ...] = ()

    @property
    def micro(self) -> Scores:
        """The scores of the entries of all documents together."""
        return Scores(Tally.sum(document.tally for document in self.documents))

    @property
    def macro(self) -> MacroScores:
        """The means of the documents' scores of their entries; a failed document is 0 in each."""
        good = [document.scores for document in self.documents if not document.failed]
        return MacroScores.of(good, [document.scores for document in self.documents if document.failed])

    @property
    def leaves(self) -> Scores:
        """The scores over all leaves of all documents."""
        return Scores(self.leaf_tally)

    @property
    def by_path(self) -> dict[str, Scores]:
        """The scores of every path with leaves and of the items of every list, over all documents."""
        return {path: Scores(tally) for path, tally in self.tallies.items()}

    @property
    def by_document(self) -> dict[str, Scores]:
        """The scores of every document's entries, by id (and run, where there are several)."""
        return {document.key: document.scores for document in self.documents}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, valid against `schemas/evaluation.schema.json`; the same corpus gives the same bytes."""
        macro = self.macro
        return {
            "format": FORMAT,
            "signature": self.signature.to_dict(),
            "entries": self.entries,
            "documents": len(self.documents),
            "failed": macro.failed,
            "vacuous": macro.vacuous,
            "micro": self.micro.to_dict(),
            "macro": macro.to_dict(),
            "macro_documents": dict(macro.documents),
            "leaves": self.leaves.to_dict(),
            "by_path": {path: scores.to_dict() for path, scores in self.by_path.items()},
            "curve": self.curve.to_dict(),
            "thresholds": [_point(self.curve, threshold) for threshold in THRESHOLDS],
            "failures": [_plain(failure) for failure in self.failures],
            "without_gold": list(self.without_gold),
        }

    def __repr__(self) -> str:
        f1q = self.micro.f1q
        return f"Evaluation({len(self.documents)} documents, micro f1q={'none' if f1q is None else f'{f1q:.4f}'})"


def _point(curve: Curve, threshold: float) -> dict[str, float | None]:
    point = curve.at(threshold)
    return {name: getattr(point, name) for name in ("threshold", "precision", "recall", "f1", "pq")}


def _plain(failure: Failure) -> dict[str, Any]:
    names = ("side", "id", "run", "file", "line", "pointer", "reason")
    return {name: getattr(failure, name) for name in names}


@dataclass(slots=True)
class _Totals:
    """What is kept of the documents while they pass by: one row per document, and per document and path."""

    plan: Plan
    documents: list[Document] = field(default_factory=list)
    paths: dict[str, list[Sums]] = field(default_factory=dict)
    leaves: list[Sums] = field(default_factory=list)
    qualities: list[Floats] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def add(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> None:
        size, entries = len(pairs), wildcard(self.plan.entries)
        nodes, all_leaves = of_nodes(levels, entries, size), leaves(levels, size)
        quality = np.ones(size)
        for level in levels:
            roots = (level.parent < 0) & (not level.inner)
            quality[level.document[roots]] = level.quality[roots]
        for pair, tally, root in zip(pairs, nodes.tallies(), quality.tolist(), strict=True):
            failed = pair.failure is not None
            self.documents.append(Document(pair.id, pair.run, pair.key, tally, 0.0 if failed else root, failed))
        self.leaves.append(all_leaves)
        for path, sums in by_path(levels, size).items():
            self.paths.setdefault(path, []).append(sums)
        qualities, weights = pair_qualities(levels, entries)
        self.qualities.append(qualities)
        self.weights.append(weights)


def evaluate(
    plan: Plan, pairs: Iterable[Pair | tuple[Any, Json, Json]], *, observe: Observer | None = None
) -> Evaluation:
    """Evaluate a corpus: pairs as `join` makes them, or (id, gold, predicted) triples.

    A prediction that is ABSENT is a failure. So is one that is not JSON (NaN, for instance); a gold document that is
    not is listed among the failures and not scored. Several triples with one id are kept apart as runs. `observe` is
    called with each chunk of pairs and the levels that came of it.
    """
    totals = _Totals(plan)
    listed = list(pairs.failures) if isinstance(pairs, Join) else []
    stream = _paired(pairs)
    size = CHUNK
    while chunk := list(islice(stream, size)):
        records = 1
        for members, levels in _compared(plan, chunk, totals.failures):
            records += sum(map(len, levels))
            totals.add(members, levels)
            if observe is not None:
                observe(members, levels)
        size = max(1, RECORDS * len(chunk) // records)
    known = {id(failure) for failure in listed}
    listed += [failure for failure in totals.failures if id(failure) not in known]
    entry_tally = Tally.sum(document.tally for document in totals.documents)
    qualities, weights = (
        np.concatenate([np.empty(0), *totals.qualities]),
        np.concatenate([np.empty(0), *totals.weights]),
    )
    return Evaluation(
        signature=plan.signature,
        entries=wildcard(plan.entries),
        documents=tuple(totals.documents),
        tallies={path: total(totals.paths[path]) for path in sorted(totals.paths, key=order)},
        leaf_tally=total(totals.leaves),
        curve=Curve.of(qualities, entry_tally.gold, entry_tally.predicted, weights),
        failures=tuple(listed),
        without_gold=pairs.without_gold if isinstance(pairs, Join) else (),
    )


def _paired(pairs: Iterable[Pair | tuple[Any, Json, Json]]) -> Iterator[Pair]:
    """Triples as pairs; an absent prediction gets its failure, a repeated id its run; no two have one key."""
    runs: dict[str, int] = {}
    taken: set[str] = set()
    for entry in pairs:
        if isinstance(entry, Pair):
            yield entry
            continue
        name, (gold, predicted) = str(entry[0]), entry[1:]
        for number in count(runs.get(name, 0) + 1):
            run_name = None if number == 1 else str(number)
            failure = Failure("predicted", name, run_name, reason="no prediction") if predicted is ABSENT else None
            pair = Pair(name, run_name, gold, predicted, failure)
            if pair.key not in taken:
                break
        runs[name] = number
        taken.add(pair.key)
        yield pair


def _compared(
    plan: Plan, pairs: Sequence[Pair], failures: list[Failure]
) -> Iterator[tuple[Sequence[Pair], Sequence[Level]]]:
    """The levels of a chunk; where something in it cannot be compared, document by document."""
    failures.extend(pair.failure for pair in pairs if pair.failure is not None)
    try:
        yield pairs, run(plan, [pair.gold for pair in pairs], [pair.predicted for pair in pairs])
    except DataError:
        for pair in pairs:
            yield from _alone(plan, pair, failures)


def _alone(plan: Plan, pair: Pair, failures: list[Failure]) -> Iterator[tuple[Sequence[Pair], Sequence[Level]]]:
    try:
        yield [pair], run(plan, [pair.gold], [pair.predicted])
    except DataError as refused:
        try:
            levels = run(plan, [pair.gold], [ABSENT])
        except DataError as error:
            failures.append(Failure("gold", pair.id, pair.run, pointer=error.pointer, reason=error.message))
            return
        reason, pointer = refused.message, refused.pointer
        failure = Failure("predicted", pair.id, pair.run, pointer=pointer, reason=reason)
        failures.append(failure)
        yield [Pair(pair.id, pair.run, pair.gold, ABSENT, failure)], levels
