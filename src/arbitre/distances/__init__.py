"""Distances between leaf values: functions d(gold, predicted) into [0, 1], where 0 is equal."""

from arbitre.distances.base import Distance, Facts, Pool
from arbitre.distances.builtin import DistanceCatalogue, catalogue

__all__ = ["Distance", "DistanceCatalogue", "Facts", "Pool", "catalogue"]
