"""Where the quality of a corpus is lost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.tally import Scores


def loss_shares(by_path: Mapping[str, Scores]) -> dict[str, float]:
    """Return the share of the lost leaf quality by path, largest first.

    Lists and objects are left out: their leaves cover them.
    """
    lost = {
        path: scores.gold + scores.predicted - scores.matched - scores.quality_mass
        for path, scores in by_path.items()
        if not any(other.startswith(f"{path}/") for other in by_path)
    }
    total = math.fsum(lost.values())
    ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    return {path: share / total for path, share in ordered if share > 0.0}
