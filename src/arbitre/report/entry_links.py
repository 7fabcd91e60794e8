"""The entries that the page of a report links to."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from arbitre.inputs.records import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from arbitre.comparison.cause import CauseExample
    from arbitre.corpus.evaluation import Evaluation


class EntryLink(NamedTuple):
    """An entry of a document, or the document itself if both indices are None.

    Attributes:
        document: Key of the document.
        gold_index: Index of the entry in gold.
        predicted_index: Index of the entry in the prediction.
    """

    document: str
    gold_index: str | None = None
    predicted_index: str | None = None

    @classmethod
    def of(cls, example: Mapping[str, Any]) -> Self:
        """Return the link to the entry of an example of a cause, in JSON form."""
        return cls(key(example["id"], example["run"]), example["gold_index"], example["predicted_index"])

    @classmethod
    def to(cls, example: CauseExample) -> Self:
        """Return the link to the entry of an example of a cause."""
        return cls(key(example.id, example.run), example.gold_index, example.predicted_index)

    @property
    def elsewhere(self) -> Self:
        """The link to the same entry in the results of another system."""
        return self._replace(predicted_index=None)

    def leads_to(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row of the document shows the entry."""
        if self.gold_index is not None:
            return bool(row["gold_index"] == self.gold_index)
        return self.predicted_index is not None and bool(row["predicted_index"] == self.predicted_index)

    def is_kept(self, documents: Mapping[str, Mapping[str, Any]]) -> bool:
        """Return whether documents, by key, include the entry."""
        document = documents.get(self.document)
        if document is None or (self.gold_index is None and self.predicted_index is None):
            return document is not None
        return any(map(self.leads_to, document["rows"]))


def example_links(systems: Iterable[Evaluation], own: Evaluation) -> Iterator[EntryLink]:
    """Yield links to the examples of the causes of several systems, for the report of one of them.

    The first examples of all causes come first, in the order of their gains, then the second ones, and so on.

    Args:
        systems: The systems.
        own: The system of the report.
    """
    causes = [(one is own, cause) for one in systems if one.cause_factory is not None for cause in one.causes]
    causes.sort(key=lambda item: -item[1].gain)
    links = (
        [
            EntryLink(key(one.id, one.run), one.gold_index, one.predicted_index if mine else None)
            for one in cause.examples
        ]
        for mine, cause in causes
    )
    for places in zip_longest(*links):
        yield from filter(None, places)
