"""Selects scores by name, for tallies and samples. Only scores where higher is better can be selected."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from arbitre.errors import OptionError, did_you_mean
from arbitre.refused_coefficients import check_not_agreement
from arbitre.statistics.sample import Statistic
from arbitre.tally import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.options import Average
    from arbitre.statistics.sample import Sample
    from arbitre.tally import Scores

HIGHER_IS_BETTER: Final = tuple(name for name in NAMES if name != "variance")
"""Names of scores where higher is better, except `fq(beta)`."""

_GRADED: Final = re.compile(r"fq\((\d+(?:\.\d+)?)\)")


def weigh_for_beta(sample: Sample, score: str) -> tuple[Sample, str]:
    """Express a score by one of `arbitre.tally.NAMES`.

    fq(beta) is the f1q of tallies in which gold has beta² times the weight of predicted.

    Returns:
        The sample, reweighted for fq(beta), and the name of the score.

    Raises:
        OptionError: The score is unknown or not one where higher is better.
    """
    beta = _beta(score)
    if beta is None:
        return sample, score
    weights = np.array([2.0 * beta * beta, 2.0, 1.0, 1.0, 1.0])
    weights[:2] /= 1.0 + beta * beta
    return replace(sample, tallies=sample.tallies * weights), "f1q"


def estimate(sample: Sample, score: str, average: Average) -> float | None:
    """Return one score of a sample; None if it is undefined."""
    chosen, name = weigh_for_beta(sample, score)
    statistic = Statistic.scores(chosen, [name], average)
    result = float(statistic.of(statistic.total)[0])
    return None if math.isnan(result) else result


def value(scores: Scores, score: str) -> float | None:
    """Return one of `scores` by its name; None if it is undefined."""
    beta = _beta(score)
    result: float | None = getattr(scores, score) if beta is None else scores.fq(beta)
    return result


def side_by_side(scores_by_name: Mapping[str, Mapping[str, Scores]], score: str) -> dict[str, dict[str, float | None]]:
    """Return one score by path and then by system or factor level.

    Args:
        scores_by_name: Scores by system or factor level, then by path.
        score: Name of the score.
    """
    paths = dict.fromkeys(path for scores in scores_by_name.values() for path in scores)
    return {
        path: {name: value(scores[path], score) for name, scores in scores_by_name.items() if path in scores}
        for path in paths
    }


def _beta(score: str) -> float | None:
    """Return the beta of `fq(beta)`; None for other scores where higher is better. Raises OptionError for others."""
    graded = _GRADED.fullmatch(score)
    if graded and (beta := float(graded[1])) > 0.0:
        return beta
    if score not in HIGHER_IS_BETTER:
        check_not_agreement(score, OptionError)
        raise OptionError.of(
            f"Expected a score where higher is better, got {score!r}",
            hint=did_you_mean(score, (*HIGHER_IS_BETTER, "fq(2)")),
        )
    return None
