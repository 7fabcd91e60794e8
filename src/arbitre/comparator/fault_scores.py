"""Scores of planted faults on the bundled corpus, as the command `arbitre faults` shows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from arbitre import bundled, matching
from arbitre.comparator.comparator import Comparator
from arbitre.comparator.configurations import NamedChoice
from arbitre.diagnosis.perturbation.score_reactions import plant_each, score_faults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arbitre.tally import Scores
    from arbitre.values import Json

SCHEMA: Final = "examples/speakers.schema.json"
ENTRIES: Final = "/speakers"
MATCHINGS: Final[tuple[Json, ...]] = (
    "hungarian",
    {"hungarian": {"gate": 0.7}},
    "greedy",
    "ordered",
    "sequence",
    {"keyed": {"key": "name"}},
    "set",
    {"transport": {"solver": "exact"}},
    {"transport": {"solver": "exact", "masses": "size"}},
    {"transport": {"solver": "sinkhorn"}},
    {"transport": {"solver": "partial", "mass": 0.8}},
    {"transport": {"solver": "unbalanced"}},
    {"transport": {"solver": "dummy"}},
)


@dataclass(frozen=True, slots=True)
class FaultRow:
    """Scores of one matching.

    Attributes:
        match: The matching, as in a schema.
        label: The matching as a text.
        faults: Pooled scores of the entries by kind of fault; "none" is gold compared with itself.
    """

    match: Json
    label: str
    faults: Mapping[str, Scores]


@dataclass(frozen=True, slots=True)
class FaultScores:
    """Scores of planted faults.

    Attributes:
        share: Share of the entries that received a fault.
        seed: Random seed of the choice of entries.
        documents: Number of documents.
        matchings: One row for each matching.
    """

    share: float
    seed: int
    documents: int
    matchings: tuple[FaultRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        rows = [
            {"match": row.match, "faults": {name: scores.to_dict() for name, scores in row.faults.items()}}
            for row in self.matchings
        ]
        return {"share": self.share, "seed": self.seed, "matchings": rows}


def faults(match: Sequence[Json] = (), *, share: float = 0.2, seed: int = 0) -> FaultScores:
    """Plant faults in the bundled corpus and return how each score reacts, as `arbitre faults` does.

    Args:
        match: Matchings of the speakers, each a name or an object as in a schema; by default, 13 of them.
        share: Share of the entries that receive a fault, in (0, 0.5].
        seed: Random seed for the choice of entries.

    Returns:
        The scores of each matching, by kind of fault.

    Raises:
        SchemaError: A matching is unknown.
        ArbitreError: `share` is out of range.

    >>> row = faults(["hungarian"]).matchings[0]
    >>> {name: round(scores.f1q, 3) for name, scores in row.faults.items()}["drop"]
    0.895
    """
    lines = (bundled.demo() / "gold.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {line.pop("id"): line for line in map(json.loads, lines)}
    faulty = plant_each(gold, at=ENTRIES, share=share, seed=seed)
    schema = bundled.schema(SCHEMA)  # nested lists are matched as the schema says
    rows = []
    for choice in match or MATCHINGS:
        label = NamedChoice.of(choice, matching.catalogue).label
        plan = Comparator(schema, overlay={ENTRIES: {"match": choice}}).plan
        rows.append(FaultRow(choice, label, score_faults(plan, gold, faulty)))
    return FaultScores(share, seed, len(gold), tuple(rows))
