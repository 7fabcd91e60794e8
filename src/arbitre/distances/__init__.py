"""Distances between leaf values: functions d(gold, predicted) with results in [0, 1]; 0 for equal values."""

from arbitre.distances.base import Distance, Facts, Pool
from arbitre.distances.builtin_distances import DistanceCatalogue, catalogue
from arbitre.distances.custom import Context
from arbitre.distances.embeddings import embedding, minilm
from arbitre.distances.judges import judge

__all__ = ["Context", "Distance", "DistanceCatalogue", "Facts", "Pool", "catalogue", "embedding", "judge", "minilm"]
