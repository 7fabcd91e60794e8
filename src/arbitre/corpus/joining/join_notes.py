"""Notes on possible mistakes in the ids and sources of gold documents and predictions."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

from arbitre.corpus.reading.document_ids import ID_FORMS, MAX_NAMES, normalized_id, quote_names
from arbitre.errors import DataError
from arbitre.parsing.json_form import json_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arbitre.corpus.reading.records import Pair, Side
    from arbitre.schema.plan import DocumentKeys

_Read = TypeVar("_Read")

_GOLD: Final = re.compile("gold|reference|truth", re.IGNORECASE)
_PREDICTED: Final = re.compile("predict|pred|answer|output", re.IGNORECASE)


def close_ids(gold: Iterable[str], predicted: Iterable[str]) -> str | None:
    """Return a note if ids of both sides differ only in what `--normalize-ids` ignores.

    Args:
        gold: Ids of gold documents without a prediction.
        predicted: Ids of predictions without a gold document.

    >>> print(close_ids(["Page_01", "Page_02"], ["page_01.json", "x"]))
    1 predicted id differs from a gold id only in case and file extension: 'page_01.json' and 'Page_01'. Use
    --normalize-ids to join them.
    """
    known = {normalized_id(identity): identity for identity in gold}
    close = [(identity, known[form]) for identity in predicted if (form := normalized_id(identity)) in known]
    if not close:
        return None
    aspects = " and ".join(name for name in ID_FORMS if any(_differ(name, *ids) for ids in close))
    count = (
        "1 predicted id differs from a gold id"
        if len(close) == 1
        else f"{len(close)} predicted ids differ from gold ids"
    )
    return "{} only in {}: {!a} and {!a}. Use --normalize-ids to join them.".format(count, aspects, *close[0])


def _differ(aspect: str, left: str, right: str) -> bool:
    """Return whether two ids still differ if only this aspect is not normalised."""
    for name, form in ID_FORMS.items():
        if name != aspect:
            left, right = form(left), form(right)
    return left != right


def swapped_names(gold: Iterable[str | Path], predicted: Iterable[str | Path], remedy: str) -> str | None:
    """Return a note if the names of the sources suggest that gold and predictions are swapped.

    >>> swapped_names(["predictions.jsonl"], ["gold.jsonl"], "exchange them")
    'Gold is read from predictions.jsonl, and predictions from gold.jsonl. If the two are swapped, exchange them.'
    """
    left, right = ([Path(source).name for source in sources] for sources in (gold, predicted))
    gold_in_predicted = any(map(_GOLD.search, right)) and not any(map(_GOLD.search, left))
    predicted_in_gold = any(map(_PREDICTED.search, left)) and not any(map(_PREDICTED.search, right))
    if not gold_in_predicted and not predicted_in_gold:
        return None
    return (
        f"Gold is read from {', '.join(left)}, and predictions from {', '.join(right)}. "
        f"If the two are swapped, {remedy}."
    )


class KeyCheck:
    """Looks for a document on each side that has a key that the schema declares.

    Documents are added until each side has one.

    Args:
        declared: The keys.
    """

    def __init__(self, declared: DocumentKeys) -> None:
        self._declared = declared
        self._others: dict[Side, dict[str, None]] = {"gold": {}, "predicted": {}} if declared.names else {}

    def read(self, pairs: Iterable[Pair | object]) -> Self:
        """Add pairs, or triples, only as long as there is a side without such a document."""
        for pair in pairs if self._others else ():
            self._add(pair)
            if not self._others:
                break
        return self

    def watched(self, triples: Iterable[_Read]) -> Iterator[_Read]:
        """Yield triples, and add them."""
        for triple in triples:
            if self._others:
                self._add(triple)
            yield triple

    @property
    def notes(self) -> dict[Side, str]:
        """A note for each side of which no document has such a key."""
        notes: dict[Side, str] = {}
        for side, names in self._others.items():
            if names:
                what = "gold document" if side == "gold" else "prediction"
                notes[side] = (
                    f"No {what} has a key that the schema declares ({quote_names(sorted(self._declared.names))}). "
                    f"Keys found: {quote_names(names)}. If one of them contains the document, set --{side}-key; "
                    "otherwise, use --project."
                )
        return notes

    def _add(self, pair: Pair | object) -> None:
        sides = getattr(pair, "gold", None), getattr(pair, "predicted", None)
        if isinstance(pair, (tuple, list)) and len(pair) == len(("id", *sides)):
            sides = pair[1], pair[2]
        for side, document in zip(("gold", "predicted"), sides, strict=True):
            if side in self._others:
                self._look(side, document)

    def _look(self, side: Side, document: object) -> None:
        with suppress(DataError):  # reported when the document is compared
            document = json_form(document)
        if self._declared.lists and isinstance(document, list):
            del self._others[side]
        if not isinstance(document, dict):
            return
        values = [value for value in document.values() if isinstance(value, dict)] if self._declared.of_values else []
        found = list(chain.from_iterable(values)) if values else list(document)
        if not self._declared.names.isdisjoint(found) and (values or not self._declared.of_values):
            del self._others[side]
        elif len(self._others[side]) <= MAX_NAMES:
            self._others[side] |= dict.fromkeys(map(str, found))


def repeated_gold(repeated: int, predictions: int, documents: int) -> str | None:
    """Return a note if gold has several documents with one id, but there are no more predictions than gold ids."""
    if not repeated or predictions > documents:
        return None
    times = "1 gold document has" if repeated == 1 else f"{repeated} gold documents have"
    return (
        f"{times} the id of an earlier one, as with several runs of a prediction. "
        "If gold and predictions are swapped, exchange --gold and --predicted."
    )
