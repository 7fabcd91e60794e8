"""The result of comparing one pair of documents."""

from arbitre.comparison.comparison import Comparison
from arbitre.comparison.nodes import Alignment, LeafVerdict, Match, Node

__all__ = ["Alignment", "Comparison", "LeafVerdict", "Match", "Node"]
