"""The kinds of wrong references: dangling, swapped, or due to items that were predicted as one or as several.

The ids of the predictions are those of gold (see `arbitre.engine.with_gold_ids`): an id that only one side has is that
of an item without a partner.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from arbitre.causes.changes import site_at
from arbitre.engine.references.renaming import ids_in
from arbitre.paths import value_at
from arbitre.values import ABSENT, Json, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from arbitre.causes.sample import Sample, SampleFault
    from arbitre.schema.nodes import Reference

if TYPE_CHECKING:
    Ids = Mapping[str, AbstractSet[object]]


class WrongReferences:
    """Finds the kinds of wrong references of documents.

    Args:
        sample: The documents.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._references: dict[str, Reference | None] = {}
        self._ids: dict[int, tuple[Ids, Ids]] = {}

    def kind_of(self, fault: SampleFault) -> str | None:
        """Return the kind of a wrong reference; None for a fault of another kind."""
        reference = self._reference(fault.path) if self._has_references else None
        if reference is None or ABSENT in (fault.gold, fault.predicted) or fault.fault == "moved":
            return None
        gold_ids, predicted_ids = (ids.get(reference.scope, set()) for ids in self._of_document(fault.document))
        gold, predicted = (_key(value, reference) for value in (fault.gold, fault.predicted))
        if predicted not in predicted_ids:
            return "dangling-reference"
        if self._swapped(fault, reference):
            return "swapped-references"
        if gold not in predicted_ids:
            return "merged-targets"
        return "split-target" if predicted not in gold_ids else "other-target"

    @cached_property
    def _has_references(self) -> bool:
        return self._sample.plan.facts.has_references

    def _reference(self, path: str) -> Reference | None:
        if path not in self._references:
            site = site_at(self._sample.plan, path)
            self._references[path] = None if site is None else site.reference
        return self._references[path]

    def _of_document(self, document: int) -> tuple[Ids, Ids]:
        """Return the ids of gold and of the prediction, by scope."""
        if document not in self._ids:
            pair = self._sample.pairs[document]
            self._ids[document] = ids_in(self._sample.plan, pair.gold), ids_in(self._sample.plan, pair.predicted)
        return self._ids[document]

    def _swapped(self, fault: SampleFault, reference: Reference) -> bool:
        """Return whether another reference of the same object has the two values the other way round."""
        pair, path = self._sample.pairs[fault.document], fault.path.rpartition("/")[0]
        holders = []
        for document, pointer in ((pair.gold, fault.gold_pointer), (pair.predicted, fault.predicted_pointer)):
            holder = None if pointer is None else value_at(document, pointer.rpartition("/")[0])
            holders.append(holder if isinstance(holder, dict) else {})
        keys = holders[0].keys() & holders[1].keys()
        return any(
            canonical(holders[0][key]) == canonical(fault.predicted)
            and canonical(holders[1][key]) == canonical(fault.gold)
            and (other := self._reference(f"{path}/{key}")) is not None
            and other.scope == reference.scope
            for key in sorted(keys)
        )


def _key(value: Json, reference: Reference) -> object:
    """Return the id that a reference names."""
    if not reference.key:
        return value if isinstance(value, str | int) else None
    return tuple(value.get(name) for name in reference.key) if isinstance(value, dict) else None
