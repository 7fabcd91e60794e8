"""Diagnostics of scores and distances: metric properties and distortion."""

from arbitre.diagnosis.distortion import Distortion, distortion
from arbitre.diagnosis.metricity import Metricity, metricity

__all__ = ["Distortion", "Metricity", "distortion", "metricity"]
