"""The flat comparison, which matches all leaves of a path regardless of entries."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arbitre.arrays import exact_parts
from arbitre.paths import order
from arbitre.tally import COUNTS, Scores, Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class FlatComparison:
    """The best flat matching, and the solidarity: leaf quality within entries divided by leaf quality in this matching.

    Attributes:
        solidarity: Sum of the leaf qualities within the matched entries, divided by the sum of the leaf qualities in
            the best flat matching; in [0, 1]. None if the divisor is 0, or if lists are matched by transport. The flat
            matching of a path matches all its gold leaves with all its predicted leaves, regardless of entries.
        solidarity_by_path: Solidarity by wildcard path of the leaves.
        flat: Scores over all leaves in the best flat matching; their `variance` is None.
        flat_by_path: Scores of the best flat matching by wildcard path.
        flat_exact: Whether every flat matching is optimal. Very large ones are approximated: their scores are lower
            bounds.
        solidarity_chance: Solidarity if the predicted values of each path are shuffled and the documents are compared
            again; None if it is undefined, if custom distances are used, or if the documents are very large.
        solidarity_chance_by_path: `solidarity_chance` by wildcard path.
    """

    solidarity: float | None
    solidarity_by_path: Mapping[str, float | None]
    flat: Scores
    flat_by_path: Mapping[str, Scores]
    flat_exact: bool
    solidarity_chance: float | None = None
    solidarity_chance_by_path: Mapping[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, sums: Mapping[str, Sequence[float]], *, transported: Collection[str] = (), exact: bool = True
    ) -> FlatComparison:
        """Return the comparison of one or more documents.

        Args:
            sums: By wildcard path, the sum of the leaf qualities in their own entries, then the gold, predicted and
                matched numbers and the quality mass of the flat matching.
            transported: Paths whose leaves are matched by transport.
            exact: Whether every flat matching is optimal.
        """
        paths = sorted((path for path, (_, gold, predicted, *_) in sums.items() if gold or predicted), key=order)
        flat = {path: _scores(*sums[path][1:]) for path in paths}
        undefined = {path for path in paths if path in transported}
        whole = _share((sums[path][0] for path in paths), (scores.quality_mass for scores in flat.values()))
        return cls(
            None if undefined else whole,
            {
                path: None if path in undefined else _share(sums[path][:1], [scores.quality_mass])
                for path, scores in flat.items()
            },
            Scores(Tally.sum(scores.tally for scores in flat.values()) if flat else Tally(quality_sq=None)),
            flat,
            exact,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON. `from_dict` is the inverse."""
        return {
            "solidarity": self.solidarity,
            "solidarity_by_path": dict(self.solidarity_by_path),
            "flat": self.flat.to_dict(),
            "flat_by_path": {path: scores.to_dict() for path, scores in self.flat_by_path.items()},
            "flat_exact": self.flat_exact,
            "solidarity_chance": self.solidarity_chance,
            "solidarity_chance_by_path": dict(self.solidarity_chance_by_path),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FlatComparison:
        """Create a flat comparison from the result of `to_dict`; other keys are ignored."""
        return cls(**flat_fields(data))


@dataclass(slots=True)
class FlatTotals:
    """Sums over documents; the order of the documents does not matter."""

    _sums: defaultdict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Summands by path and component, compressed without changing their sum."""
    _transported: set[str] = field(default_factory=set)
    _exact: bool = True

    def add(self, documents: Iterable[Any]) -> None:
        """Add what `FlatObserver` has recorded."""
        touched = set()
        for document in documents:
            self._transported.update(document["transported"])
            self._exact &= document["exact"]
            for path, masses in document["sums"].items():
                for component, mass in enumerate(masses):
                    self._sums[path, component].append(mass)
                    touched.add((path, component))
        for key in touched:
            self._sums[key] = exact_parts(self._sums[key])

    def comparison(self) -> FlatComparison:
        """Return the flat comparison of all documents."""
        components = 1 + max((component for _, component in self._sums), default=0)
        sums = {
            path: [math.fsum(self._sums[path, component]) for component in range(components)]
            for path in {path for path, _ in self._sums}
        }
        return FlatComparison.of(sums, transported=self._transported, exact=self._exact)


def flat_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a flat comparison from the result of `to_dict`."""
    return {
        "solidarity": data["solidarity"],
        "solidarity_by_path": data["solidarity_by_path"],
        "flat": _read(data["flat"]),
        "flat_by_path": {path: _read(scores) for path, scores in data["flat_by_path"].items()},
        "flat_exact": data["flat_exact"],
        "solidarity_chance": data.get("solidarity_chance"),
        "solidarity_chance_by_path": data.get("solidarity_chance_by_path", {}),
    }


def _read(data: Mapping[str, Any]) -> Scores:
    return _scores(**{name: data[name] for name in COUNTS})


def _scores(gold: float, predicted: float, matched: float, quality_mass: float) -> Scores:
    """Return scores without a variance: equally good matchings differ in the sum of the squared qualities."""
    return Scores(Tally(gold, predicted, matched, quality_mass, None))


def _share(reached: Iterable[float], reachable: Iterable[float]) -> float | None:
    """Return the quality that is reached, divided by the quality that can be reached; None if none can be reached."""
    whole = math.fsum(reachable)
    return min(1.0, math.fsum(reached) / whole) if whole > 0.0 else None
