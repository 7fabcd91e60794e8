"""Confidence: does a model know when it is wrong?"""

from arbitre.confidence.calibration import Calibration, CalibrationBin, RiskCoverage, calibrate
from arbitre.confidence.report import ConfidenceReport, report
from arbitre.confidence.sources import ConfidentDocument, from_explicit, from_logprobs

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
