"""The result of comparing one pair of documents."""

from arbitre.comparison.comparison import Alignment, Comparison, LeafVerdict, Match, Node

__all__ = ["Alignment", "Comparison", "LeafVerdict", "Match", "Node"]
