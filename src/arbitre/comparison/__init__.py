"""The result of comparing one pair of documents."""

from arbitre.comparison.comparison import Comparison
from arbitre.comparison.node_results import Alignment, LeafVerdict, Match, Node

__all__ = ["Alignment", "Comparison", "LeafVerdict", "Match", "Node"]
