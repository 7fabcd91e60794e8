"""View model of the faults of a corpus in the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class FaultsView:
    """Faults by path and class, the most costly first, and what their repair would gain.

    Attributes:
        groups: Path, class (`fault`), number (`count`), `cost` and `share` of the faults of one class at one path.
        classes: Gain in f1q if all faults of a class were repaired, greatest first; only classes with faults.
        paths: Gain in f1q if all faults at a path were repaired, greatest first.
        gathering: Tested groups of gold values, as in `evaluation.json`, with their position there (`at`).
        neighbours: Spurious values by path, and how many of them occur in the gold of a neighbouring document.
        source: Missing and spurious values that occur in the source texts; None if these were not searched.
        doubtful: The first doubtful alignments, with their documents.
        doubtful_count: Number of all doubtful alignments.
    """

    groups: Sequence[Mapping[str, Any]]
    classes: Mapping[str, float]
    paths: Mapping[str, float]
    gathering: Sequence[Mapping[str, Any]]
    neighbours: Sequence[Mapping[str, Any]]
    source: Mapping[str, Any] | None
    doubtful: Sequence[Mapping[str, Any]] = ()
    doubtful_count: int = 0

    @classmethod
    def of(cls, diagnosis: Mapping[str, Any]) -> FaultsView:
        """Build the view from `diagnosis` in `evaluation.json`."""
        groups = diagnosis["faults"]
        present = {group["fault"] for group in groups}
        classes = {name: gain for name, gain in diagnosis["repair_gain"].items() if name in present}
        gathering = [{**row, "at": at} for at, row in enumerate(diagnosis["gathering"]) if row["p"] is not None]
        return cls(
            groups,
            _greatest_first(classes),
            _greatest_first(diagnosis["repair_gain_by_path"]),
            gathering,
            diagnosis["neighbours"],
            diagnosis.get("source"),
            diagnosis.get("doubtful", ()),
            diagnosis.get("doubtful_count", 0),
        )


def _greatest_first(gains: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(gains.items(), key=lambda item: -item[1]))
