"""Diagnostics: how far a number, or the distance behind it, can be trusted."""

from arbitre.diagnosis.distortion import Distortion, distortion
from arbitre.diagnosis.metricity import Metricity, metricity

__all__ = ["Distortion", "Metricity", "distortion", "metricity"]
