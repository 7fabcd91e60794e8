"""The result of comparing one pair of documents."""

from arbitre.comparison.comparison import Comparison
from arbitre.comparison.diagnosis import Diagnosis, Fault, Join, Moved
from arbitre.comparison.flat import FlatComparison
from arbitre.comparison.node_results import Alignment, LeafVerdict, Match, Node

__all__ = [
    "Alignment",
    "Comparison",
    "Diagnosis",
    "Fault",
    "FlatComparison",
    "Join",
    "LeafVerdict",
    "Match",
    "Moved",
    "Node",
]
