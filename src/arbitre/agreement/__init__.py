"""Agreement between annotators, and gold documents built from their annotations."""

from arbitre.agreement.agree import StructuralAgreement, agree, structural
from arbitre.agreement.agree_spans import SpanAgreement, agree_spans
from arbitre.agreement.alpha_of_ratings import krippendorff_alpha
from arbitre.agreement.by_document import interval
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
from arbitre.agreement.category_distances import CategoryDistances, suggest_category_distances
from arbitre.agreement.coefficient import Coefficient, CoefficientInterval, LocalChance
from arbitre.agreement.consensus.build import build_consensus, consensus
from arbitre.agreement.consensus.decisions import Decision, Decisions
from arbitre.agreement.consensus.disagreement import Consensus, Disagreement, Reading, RefusedDecision
from arbitre.agreement.consensus.leave_one_out import LeaveOneOut, agreement_with_others, leave_one_out
from arbitre.agreement.gamma import gamma
from arbitre.agreement.leaf_ratings import CategoricalCoefficients

__all__ = [
    "CategoricalCoefficients",
    "CategoryDistances",
    "Coefficient",
    "CoefficientInterval",
    "Consensus",
    "Decision",
    "Decisions",
    "Disagreement",
    "LeaveOneOut",
    "LocalChance",
    "Reading",
    "RefusedDecision",
    "SpanAgreement",
    "StructuralAgreement",
    "agree",
    "agree_spans",
    "agreement_with_others",
    "aickin_alpha",
    "bennett_s",
    "build_consensus",
    "cohen_kappa",
    "conger_kappa",
    "consensus",
    "fleiss_kappa",
    "gamma",
    "gwet_ac1",
    "gwet_ac2",
    "interval",
    "krippendorff_alpha",
    "leave_one_out",
    "observed",
    "scott_pi",
    "structural",
    "suggest_category_distances",
]
