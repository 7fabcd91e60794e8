"""The kinds of wrong references: dangling, swapped, or due to items that were predicted as one or as several.

The ids of the predictions are those of gold (see `arbitre.engine.with_gold_ids`): an id that only one side has is that
of an item without a partner.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from arbitre.causes.changes import site_at
from arbitre.engine.columns.references import referred_id
from arbitre.engine.references.renaming import ids_in
from arbitre.paths import value_at
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.comparison.references import Id
    from arbitre.schema.nodes import Site

    Ids = Mapping[str, AbstractSet[object]]


class WrongReferences:
    """Finds the kinds of wrong references of documents.

    Args:
        sample: The documents.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._sites: dict[str, Site | None] = {}
        self._ids: dict[int, tuple[Ids, Ids]] = {}

    def kind_of(self, fault: SampleFault) -> str | None:
        """Return the kind of a wrong reference; None for a fault of another kind."""
        site = self._site(fault.path) if self._has_references else None
        if site is None or site.reference is None or ABSENT in (fault.gold, fault.predicted) or fault.fault == "moved":
            return None
        gold_ids, predicted_ids = (ids.get(site.reference.scope, set()) for ids in self._of_document(fault.document))
        gold, predicted = (referred_id(site, value) for value in (fault.gold, fault.predicted))
        if predicted not in predicted_ids:
            return "dangling-reference"
        if self._swapped(fault, site.reference.scope, (predicted, gold)):
            return "swapped-references"
        if gold not in predicted_ids:
            return "merged-targets"
        return "split-target" if predicted not in gold_ids else "other-target"

    @cached_property
    def _has_references(self) -> bool:
        return self._sample.plan.facts.has_references

    def _site(self, path: str) -> Site | None:
        """Return the position of a wildcard path in the schema; None if the schema does not declare the path."""
        if path not in self._sites:
            self._sites[path] = site_at(self._sample.plan, path)
        return self._sites[path]

    def _of_document(self, document: int) -> tuple[Ids, Ids]:
        """Return the ids of gold and of the prediction, by scope."""
        if document not in self._ids:
            pair = self._sample.pairs[document]
            self._ids[document] = ids_in(self._sample.plan, pair.gold), ids_in(self._sample.plan, pair.predicted)
        return self._ids[document]

    def _swapped(self, fault: SampleFault, scope: str, swapped: tuple[Id | None, Id | None]) -> bool:
        """Return whether another reference of the same object has these ids in gold and in the prediction."""
        pair, path = self._sample.pairs[fault.document], fault.path.rpartition("/")[0]
        holders = []
        for document, pointer in ((pair.gold, fault.gold_pointer), (pair.predicted, fault.predicted_pointer)):
            holder = None if pointer is None else value_at(document, pointer.rpartition("/")[0])
            holders.append(holder if isinstance(holder, dict) else {})
        return any(
            (site := self._site(f"{path}/{key}")) is not None
            and site.reference is not None
            and site.reference.scope == scope
            and tuple(referred_id(site, holder[key]) for holder in holders) == swapped
            for key in sorted(holders[0].keys() & holders[1].keys())
        )
