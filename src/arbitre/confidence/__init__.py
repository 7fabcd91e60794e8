"""Calibration: how well the confidence of predicted values agrees with their correctness."""

from arbitre.confidence.calibration import (
    Calibration,
    CalibrationBin,
    ConfidenceReport,
    RiskCoverage,
    calibrate,
    report,
)
from arbitre.confidence.confidences import ConfidentDocument, from_explicit, from_logprobs

__all__ = [
    "Calibration",
    "CalibrationBin",
    "ConfidenceReport",
    "ConfidentDocument",
    "RiskCoverage",
    "calibrate",
    "from_explicit",
    "from_logprobs",
    "report",
]
