"""Agreement between annotators, before a gold standard exists."""

from arbitre.agreement.advice.category_distances import CategoryDistances, suggest_category_distances
from arbitre.agreement.advice.interval import interval
from arbitre.agreement.advice.side_by_side import CategoricalCoefficients
from arbitre.agreement.agree import agree
from arbitre.agreement.categorical import (
    aickin_alpha,
    bennett_s,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    observed,
    scott_pi,
)
from arbitre.agreement.coefficient import Coefficient, CoefficientInterval, LocalChance
from arbitre.agreement.krippendorff import krippendorff_alpha
from arbitre.agreement.spans.agree_spans import SpanAgreement, agree_spans
from arbitre.agreement.spans.gamma import gamma
from arbitre.agreement.structural import StructuralAgreement, structural

__all__ = [
    "CategoricalCoefficients",
    "CategoryDistances",
    "Coefficient",
    "CoefficientInterval",
    "LocalChance",
    "SpanAgreement",
    "StructuralAgreement",
    "agree",
    "agree_spans",
    "aickin_alpha",
    "bennett_s",
    "cohen_kappa",
    "conger_kappa",
    "fleiss_kappa",
    "gamma",
    "gwet_ac1",
    "gwet_ac2",
    "interval",
    "krippendorff_alpha",
    "observed",
    "scott_pi",
    "structural",
    "suggest_category_distances",
]
