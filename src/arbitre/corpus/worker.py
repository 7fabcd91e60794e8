"""Compares the documents of a work unit within one process."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, islice
from types import NoneType
from typing import TYPE_CHECKING, Final

from arbitre.corpus.document_results import DocumentResults
from arbitre.engine import compare_to_levels, release
from arbitre.errors import DataError, FunctionError, SolverError
from arbitre.inputs.records import Failure, Pair
from arbitre.values import ABSENT, NotJsonError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arbitre.comparison.levels import Level
    from arbitre.corpus.document_results import Observers
    from arbitre.schema.plan import Plan
    from arbitre.values import Json

COUNTED: Final = 8
"""Number of documents whose values are counted to choose the size of the first batch."""

NODES_PER_BATCH: Final = 1 << 16
"""Target number of nodes per batch, which determines the number of documents."""


@dataclass(slots=True)
class Worker:
    """Compares work units. The results of a work unit and its batches do not depend on other work units.

    Attributes:
        plan: The compiled schema.
        observers: Collect additional values about documents.
        size: Number of documents in the first batch of a work unit; None to choose it from their number of values.
        nodes: Target number of nodes per batch.
    """

    plan: Plan
    observers: Observers = field(default_factory=dict)
    size: int | None = None
    nodes: int = NODES_PER_BATCH

    def __call__(self, part: Iterable[Pair]) -> DocumentResults:
        """Return the results of a work unit. Raises DataError if a document changed on disk."""
        return DocumentResults.joined(self._outcomes(iter(part)))

    def _outcomes(self, pairs: Iterator[Pair]) -> Iterator[DocumentResults]:
        size = self.size
        if size is None:
            counted = list(islice(pairs, COUNTED))
            values = sum(max(_values(pair.gold, self.nodes), _values(pair.predicted, self.nodes)) for pair in counted)
            size, pairs = max(1, self.nodes * len(counted) // max(1, values)), chain(counted, pairs)
        while chunk := list(islice(pairs, size)):
            records = 1
            for members, levels, lost in compare_pairs(self.plan, chunk):
                records += sum(map(len, levels))
                outcomes = DocumentResults.of(self.plan, members, levels, self.observers)
                outcomes.failures += lost
                release(levels)
                yield outcomes
            size = max(1, self.nodes * len(chunk) // records)


def _values(document: Json, most: int) -> int:
    """Count the values in a document, containers included, up to `most`. Return `most` if it is not JSON."""
    pending, count = [document], 0
    while pending and count < most:
        value = pending.pop()
        count += 1
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif not isinstance(value, (str, int, float, NoneType)) and value is not ABSENT:
            return most
    return count


def compare_pairs(plan: Plan, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Sequence[Level], list[Failure]]]:
    """Compare pairs together, or one by one if any of them cannot be compared or matched.

    Python objects in documents are converted to JSON. Plain JSON is not searched for them, which would cost 2 %.

    Yields:
        Pairs, their levels, and failures.
    """
    try:
        try:
            levels = _levels(plan, pairs)
        except NotJsonError:
            pairs = [pair.as_json() for pair in pairs]
            levels = _levels(plan, pairs)
        yield pairs, levels, []
    except FunctionError as error:
        raise (error if error.document is None else _of_document(error, pairs[error.document])) from error.__cause__
    except (DataError, SolverError) as error:
        if not _concerns_document(error):
            raise
        for pair in pairs:
            try:
                yield _compare_alone(plan, pair.as_json())
            except FunctionError as error:
                raise _of_document(error, pair) from error.__cause__


def _concerns_document(error: DataError | SolverError) -> bool:
    """Return whether an error is about one document. Solver errors without a pointer are not."""
    return isinstance(error, DataError) or (error.pointer is not None and not isinstance(error, FunctionError))


def _of_document(error: FunctionError, pair: Pair) -> FunctionError:
    """Return an error of a custom function with the id, the file and the line of its gold document."""
    file, line = pair.origins[0]
    return error.placed(f", in document {pair.key!r}", file=file, line=line)


def _levels(plan: Plan, pairs: Sequence[Pair]) -> Sequence[Level]:
    """Return the levels of pairs. Raises DataError or SolverError if a document cannot be compared."""
    for pair in pairs:
        plan.check_pair(pair.gold, pair.predicted)
    return compare_to_levels(plan, [pair.gold for pair in pairs], [pair.predicted for pair in pairs])


def _compare_alone(plan: Plan, pair: Pair) -> tuple[Sequence[Pair], Sequence[Level], list[Failure]]:
    """Compare one pair. A prediction that cannot be compared becomes ABSENT; if gold cannot, the pair is skipped.

    If a list cannot be matched, the failure is that of gold if gold cannot be matched with itself either.
    """
    try:
        return [pair], _levels(plan, [pair]), []
    except (DataError, SolverError) as refused:
        if not _concerns_document(refused):
            raise
        alone = replace(pair, predicted=ABSENT)
        try:
            if isinstance(refused, SolverError):
                _levels(plan, [replace(pair, predicted=pair.gold)])
            levels = _levels(plan, [alone])
        except (DataError, SolverError) as error:
            if not _concerns_document(error):
                raise
            reason, pointer = error.message, error.pointer
            return [], (), [Failure("gold", pair.id, pair.run, *pair.origins[0], pointer=pointer, reason=reason)]
        reason, pointer = refused.message, refused.pointer
        failure = Failure("predicted", pair.id, pair.run, *pair.origins[1], pointer=pointer, reason=reason)
        return [replace(alone, failure=failure)], levels, [failure]
