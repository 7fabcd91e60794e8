"""Metric properties of distances and cost matrices."""

from arbitre.metricity.metricity import Distortion, Metricity, distortion, metricity

__all__ = ["Distortion", "Metricity", "distortion", "metricity"]
