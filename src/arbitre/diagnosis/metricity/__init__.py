"""Metric properties of distances and cost matrices."""

from arbitre.diagnosis.metricity.distortion import Distortion, distortion
from arbitre.diagnosis.metricity.metricity import Metricity, metricity

__all__ = ["Distortion", "Metricity", "distortion", "metricity"]
