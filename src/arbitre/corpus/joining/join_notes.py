"""Notes on possible mistakes in the ids and sources of gold documents and predictions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arbitre.corpus.reading.document_ids import ID_FORMS, MAX_NAMES, normalized_id, quote_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from arbitre.corpus.reading.records import Pair, Side
    from arbitre.values import Json

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


def undeclared_keys(pairs: Iterable[Pair], declared: Collection[str]) -> Iterator[str]:
    """Yield a note for each side of which no document has a key that the schema declares.

    Reads the pairs only until each side has such a document.

    Args:
        pairs: The pairs.
        declared: Keys that the schema declares; if empty, there are no notes.
    """
    others: dict[Side, dict[str, None]] = {"gold": {}, "predicted": {}}
    for pair in pairs if declared else ():
        documents: tuple[tuple[Side, Json], ...] = ("gold", pair.gold), ("predicted", pair.predicted)
        for side, document in documents:
            if side in others and isinstance(document, dict):
                if document.keys() & declared:
                    del others[side]
                elif len(others[side]) <= MAX_NAMES:
                    others[side] |= dict.fromkeys(document)
        if not others:
            return
    for side, names in others.items():
        if names:
            what = "gold document" if side == "gold" else "prediction"
            yield (
                f"No {what} has a key that the schema declares ({quote_names(sorted(declared))}). "
                f"Keys found: {quote_names(names)}. If one of them contains the document, set --{side}-key; otherwise, "
                "use --project."
            )


def repeated_gold(repeated: int, predictions: int, documents: int) -> str | None:
    """Return a note if gold has several documents with one id, but there are no more predictions than gold ids."""
    if not repeated or predictions > documents:
        return None
    times = "1 gold document has" if repeated == 1 else f"{repeated} gold documents have"
    return (
        f"{times} the id of an earlier one, as with several runs of a prediction. "
        "If gold and predictions are swapped, exchange --gold and --predicted."
    )
