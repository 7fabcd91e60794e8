"""Converts the uncertainty of the scores of a corpus to JSON: intervals, chance scores and coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from arbitre.corpus.statistics import intervals
from arbitre.corpus.statistics.bootstrap import METHOD
from arbitre.options import Average

if TYPE_CHECKING:
    from arbitre.corpus.results.chance import Chance
    from arbitre.corpus.results.documents import Coverage
    from arbitre.corpus.statistics import Sample

HEADLINE: Final = "f1q"
"""Score whose interval notes are reported."""


def uncertainty_to_json(sample: Sample, chance: Chance | None, coverage: Coverage) -> dict[str, Any]:
    """Return the value of `trust` in `evaluation.json`. The same corpus always gives the same value."""
    by_average = {average: intervals(sample, average=average) for average in get_args(Average)}
    first = next(iter(by_average["micro"].values()))
    return {
        "intervals": {
            "method": METHOD,
            "level": first.level,
            "resamples": first.resamples,
            "seed": first.seed,
            "units": sample.units,
            "documents": first.documents,
            "clusters": first.clusters,
            "runs": first.runs,
            "notes": list(dict.fromkeys(note for by_score in by_average.values() for note in by_score[HEADLINE].notes)),
            **{
                average: {name: {"low": interval.low, "high": interval.high} for name, interval in by_score.items()}
                for average, by_score in by_average.items()
            },
        },
        "chance": None
        if chance is None
        else {
            "floor": None if chance.chance_score is None else chance.chance_score.to_dict(),
            "comparisons": chance.comparisons,
            "standard_error": chance.standard_error,
            "self_agreement": chance.self_agreement,
            "seed": chance.seed,
            "sampled": chance.sampled,
        },
        "coverage": {"share": coverage.share, "never": list(coverage.never)},
    }
