"""Classes of entries by their quality. The whole report uses this classification."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EntryClass = Literal["exact", "close", "low", "missing", "spurious"]

GLYPHS: Final[dict[EntryClass, str]] = {"exact": "=", "close": "≈", "low": "≠", "missing": "−", "spurious": "+"}
"""Symbol of each class, so that colour alone carries no meaning. The order is that of every list of classes."""


def class_of_pair(quality: float, close: float) -> EntryClass:
    """Return the class of a matched pair of entries.

    Args:
        quality: Quality of the pair, in [0, 1].
        close: Minimum quality of the class "close".

    >>> [class_of_pair(quality, 0.8) for quality in (1.0, 0.8, 0.79)]
    ['exact', 'close', 'low']
    """
    if quality >= 1.0:
        return "exact"
    return "close" if quality >= close else "low"


def sum_by_class(
    pairs: Iterable[tuple[float, float]], counts: Mapping[str, Any], close: float
) -> dict[EntryClass, float]:
    """Return the number (or mass) of the entries of each class.

    Args:
        pairs: Quality and mass of the matched pairs.
        counts: Total mass of the `gold`, `predicted` and `matched` entries.
        close: Minimum quality of the class "close".

    >>> sum_by_class([(1.0, 2.0), (0.5, 1.0)], {"gold": 4.0, "predicted": 3.0, "matched": 3.0}, 0.8)
    {'exact': 2.0, 'close': 0.0, 'low': 1.0, 'missing': 1.0, 'spurious': 0.0}
    """
    masses: dict[EntryClass, list[float]] = {name: [] for name in GLYPHS}
    for quality, mass in pairs:
        masses[class_of_pair(quality, close)].append(mass)
    masses["missing"].append(max(0.0, counts["gold"] - counts["matched"]))
    masses["spurious"].append(max(0.0, counts["predicted"] - counts["matched"]))
    return {name: fsum(held) for name, held in masses.items()}
